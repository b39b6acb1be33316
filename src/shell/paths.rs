//! Which path a word names, and whose it is: the workspace's, the system's, nobody's.

use std::path::Path;

use super::expand::{Arg, WordPiece};
use super::table::{self, list};
use super::walk::Shell;

/// Whose a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// `/dev/null`, a descriptor: writing there writes nothing.
    Nothing,
    /// A disk, or another device.
    Device,
    /// Below the folder for temporary files.
    Temp,
    /// The whole folder for temporary files.
    TempRoot,
    /// `/`, or a whole drive.
    Root,
    /// The home folder or one that holds it.
    Home,
    /// What the machine needs to run.
    System,
    /// Of this account or another, but not of this workspace.
    Outside,
    /// The workspace as a whole, or a folder that holds it.
    Whole,
    /// What git or this program keeps its own state in.
    Control,
    /// Made by a build, and made again by the next one.
    Made,
    /// Any other file of the workspace.
    Inside,
    /// Not known.
    Unknown,
}

/// A path and whose it is.
#[derive(Clone, Debug)]
pub(super) struct OwnedPath {
    pub(super) path: String,
    pub(super) known: bool,
    pub(super) spot: Spot,
}

/// The same on Windows, below any drive.
const SYSTEM_WINDOWS: &[&str] = &["windows", "program files", "program files (x86)", "programdata"];

/// A path with `/` between its parts.
pub(super) fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    normal(text.strip_prefix("//?/").unwrap_or(&text))
}

/// Whether a path begins at a root: `/`, `C:/`, `\\server`.
pub(super) fn absolute(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.starts_with('/') || bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

/// A path as it reads from a folder; nothing where it depends on a folder that is not known.
pub(super) fn from(folder: Option<&str>, path: &str) -> Option<String> {
    match absolute(path) {
        true => Some(normal(path)),
        false => folder.map(|folder| normal(&format!("{folder}/{path}"))),
    }
}

/// Without `.`, `..` and doubled separators, as text alone.
pub(super) fn normal(path: &str) -> String {
    let (drive, rest) = match path.as_bytes() {
        [letter, b':', ..] if letter.is_ascii_alphabetic() => path.split_at(2),
        _ => ("", path),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("{drive}/{}", parts.join("/"))
}

/// Whether `path` is `folder` or lies below it.
pub(super) fn below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path that a word names.
pub(super) fn place(shell: &Shell<'_>, arg: &Arg) -> OwnedPath {
    if arg.temp {
        return temporary(shell, arg);
    }
    if shell.remembered(arg).is_some() || arg.text == "-" {
        return OwnedPath { path: arg.text.clone(), known: false, spot: Spot::Nothing };
    }
    let written = if arg.origin.is_some() { &arg.lead } else { &arg.text };
    let file_url = written.strip_prefix("file://").unwrap_or(written);
    if written.is_empty() && !arg.sure {
        return OwnedPath { path: "/".to_owned(), known: false, spot: unknown(arg) };
    }
    let joined = match (absolute(file_url), shell.cwd()) {
        (true, _) => file_url.to_owned(),
        (false, Some(cwd)) if !shell.elsewhere => format!("{cwd}/{file_url}"),
        _ => {
            let spot = if shell.elsewhere { Spot::Outside } else { unknown(arg) };
            return OwnedPath { path: "/".to_owned(), known: false, spot };
        }
    };
    let path = normal(&joined);
    if arg.origin.is_some() {
        return partly(shell, &path, file_url);
    }
    let spot = spot(shell, &path);
    OwnedPath { path, known: arg.sure, spot }
}

fn temporary(shell: &Shell<'_>, arg: &Arg) -> OwnedPath {
    let path = shell.at.temp.first().map_or_else(|| "/tmp".to_owned(), |path| slashed(path));
    let climbs = arg.text.split('/').any(|part| part == "..");
    OwnedPath { path, known: false, spot: if climbs { Spot::Unknown } else { Spot::Temp } }
}

/// Nothing sure at the beginning: what the last name says.
fn unknown(arg: &Arg) -> Spot {
    let Some(WordPiece::Text(end)) = arg.pieces.last() else { return Spot::Unknown };
    let climbs = end.split('/').any(|part| part == "..");
    let Some((_, name)) = end.trim_end_matches('/').rsplit_once('/') else {
        return Spot::Unknown;
    };
    if !climbs && made(name) { Spot::Made } else { Spot::Unknown }
}

/// A path whose end is not known: something below the last folder that is sure.
fn partly(shell: &Shell<'_>, path: &str, written: &str) -> OwnedPath {
    let folder = if written.ends_with('/') {
        path.to_owned()
    } else {
        path.rsplit_once('/').map_or("/", |(folder, _)| folder).to_owned()
    };
    let inside = spot(shell, &format!("{}/\u{1}", folder.trim_end_matches('/')));
    let spot = if inside == Spot::Inside { Spot::Unknown } else { inside };
    let path = if folder.is_empty() { "/".to_owned() } else { folder };
    OwnedPath { path, known: false, spot }
}

/// Whether a name is one that tools make again; globs of such names are.
pub(super) fn made(name: &str) -> bool {
    list("madefolders").contains(&name)
        || list("madeendings").iter().any(|end| name.ends_with(end) && name.len() > end.len())
        || name.starts_with("cmake-build-")
        || name.starts_with("bazel-")
}

/// Whether a pattern leaves nothing out: `*`, `.*`, `*.*`, `.[!.]*`.
fn everything(pattern: &str) -> bool {
    pattern.contains('*') && pattern.chars().all(|c| "*.?[]!^".contains(c))
}

fn spot(shell: &Shell<'_>, path: &str) -> Spot {
    // `folder/*` is the folder's whole content.
    if let Some((folder, last)) = path.rsplit_once('/')
        && everything(last)
    {
        return spot(shell, if folder.is_empty() { "/" } else { folder });
    }
    if let Some(device) = path.strip_prefix("/dev/") {
        return device_spot(device);
    }
    if matches!(path.to_ascii_lowercase().rsplit('/').next(), Some("nul")) {
        return Spot::Nothing;
    }
    if path == "/" || path.len() == 3 && path.as_bytes()[1] == b':' {
        return Spot::Root;
    }
    if shell.elsewhere {
        return elsewhere(path);
    }
    let root = shell.at.root.as_deref().map_or_else(|| slashed(&shell.at.cwd), slashed);
    if below(&root, path) {
        return Spot::Whole;
    }
    if let Some(inside) = path.strip_prefix(root.as_str()).filter(|rest| rest.starts_with('/')) {
        return of_workspace(inside);
    }
    let temp = shell.at.temp.iter().map(|folder| slashed(folder));
    for folder in temp.chain(list("temporary").into_iter().map(str::to_owned)) {
        if path == folder {
            return Spot::TempRoot;
        }
        if below(path, &folder) {
            return Spot::Temp;
        }
    }
    if let Some(home) = shell.at.home.as_deref().map(slashed) {
        if below(&home, path) {
            return Spot::Home;
        }
        if let Some(inside) = path.strip_prefix(home.as_str()) {
            let inside = inside.trim_start_matches('/').to_ascii_lowercase();
            let cache = list("caches").iter().any(|cache| below(&inside, cache));
            return if cache { Spot::Made } else { Spot::Outside };
        }
    }
    outside(path)
}

fn device_spot(name: &str) -> Spot {
    if table::holds("harmlessdevices", name) {
        Spot::Nothing
    } else if name.starts_with("shm/") {
        Spot::Temp
    } else if name.starts_with("tcp/") || name.starts_with("udp/") {
        Spot::Outside
    } else {
        Spot::Device
    }
}

fn elsewhere(path: &str) -> Spot {
    let temp = list("temporary").iter().any(|folder| below(path, folder) && path != *folder);
    if temp { Spot::Temp } else { outside(path) }
}

fn outside(path: &str) -> Spot {
    let lower = path.to_ascii_lowercase();
    let on_drive = lower.get(3..).filter(|_| lower.as_bytes().get(1) == Some(&b':'));
    let windows = on_drive.is_some_and(|rest| SYSTEM_WINDOWS.iter().any(|name| below(rest, name)));
    if windows || list("system").iter().any(|folder| below(&lower, folder)) {
        Spot::System
    } else if lower == "/home" || lower == "/users" || on_drive == Some("users") {
        Spot::Home
    } else {
        Spot::Outside
    }
}

fn of_workspace(inside: &str) -> Spot {
    let parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).collect();
    let last = parts.last().copied().unwrap_or_default();
    let control = parts.iter().any(|part| {
        part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case(".orchestration")
    });
    if control {
        // A lock that a killed git left behind.
        return if last.ends_with(".lock") { Spot::Inside } else { Spot::Control };
    }
    let folder_made = parts.iter().any(|part| table::holds("madefolders", part));
    if folder_made || made(last) { Spot::Made } else { Spot::Inside }
}
