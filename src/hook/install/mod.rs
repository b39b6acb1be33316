//! Wiring: our hook and our server in the settings of a host, put in and taken out.
//!
//! Everything is decided before anything is written: where one file cannot be understood, none is touched. What others
//! wrote stays as it is. Settings of a project are committed, so they name no file of this machine unless asked to.

pub(crate) mod found;
mod json;
pub(crate) mod ours;
mod recipes;
pub(crate) mod toml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use recipes::HostProgram;

use super::host::Host;
use crate::workspace::store::{self, StoreError};
use recipes::{FileContent, FilePiece, Recipe};

/// In the first lines of every file that is ours alone.
const MARK: &str = "Written by `intent init`, which writes it anew: change nothing here.";
/// Settings larger than this, in bytes, are not touched.
const MAX_SETTINGS: u64 = 4 * 1024 * 1024;

/// Where settings are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallLevel {
    /// In the project: committed, for everybody.
    Project,
    /// In the person's home folder: for all of their projects.
    User,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallAct {
    /// Our entries are put in.
    Put,
    /// Our entries are taken out, and nothing else.
    Take,
}

/// The folders that settings are in.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// The workspace's root.
    pub project: PathBuf,
    /// The person's home.
    pub home: PathBuf,
    /// Where an organisation keeps settings of Claude Code that people cannot change.
    pub managed: PathBuf,
    /// How a variable of the environment that moves a host's folder stands.
    pub variable: fn(&str) -> Option<PathBuf>,
}

impl Folders {
    /// Those of this process, for this root. `None` where nobody is at home.
    pub(crate) fn here(root: &Path) -> Option<Self> {
        let home = std::env::home_dir()?;
        let managed = PathBuf::from(MANAGED);
        Some(Self { project: root.to_owned(), home, managed, variable: folder_named })
    }
}

const MANAGED: &str = if cfg!(windows) {
    "C:\\Program Files\\ClaudeCode"
} else if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};

fn folder_named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Why settings were left alone. Nothing was changed in any file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    /// A file could not be understood, or holds something of somebody else where ours belongs.
    #[error("{path} was left as it is: {why}. No file was changed")]
    Conflict {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        why: Conflict,
    },
    /// A folder on the way is a link.
    #[error("{path} is a symbolic link; refusing to write through it. No file was changed")]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is in the way in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Conflict {
    /// It does not parse.
    #[error("it does not parse ({0}); mend it, then run this again")]
    Syntax(String),
    /// It holds no object.
    #[error("it holds something else than an object; mend it, then run this again")]
    NoObject,
    /// A key holds something else than it does for this host.
    #[error("`{0}` in it is not what this host expects there; mend it, then run this again")]
    Shape(String),
    /// The name of our entry is somebody else's.
    #[error("an entry `{0}` that is not ours stands in it; rename that, then run this again")]
    Taken(String),
    /// A file of somebody else has the name of ours.
    #[error(
        "it is somebody else's file and cannot be shared; call `intent hook` from it, or move it away, then run this again"
    )]
    Foreign,
    /// It is no text.
    #[error("it is not UTF-8 text; mend it, then run this again")]
    NoText,
}

/// What was done to the settings of some hosts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct InstallAnswer {
    /// The hosts, in the order asked for.
    pub agents: Vec<WiredAnswer>,
}

/// What was done to the settings of a host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct WiredAnswer {
    /// The host, as `intent hook` names it.
    pub agent: String,
    /// `proven` where our tests drive the real program, else `by protocol only`.
    pub standing: String,
    /// The files, with what became of them.
    pub files: Vec<FileAnswer>,
    /// What this host cannot enforce.
    pub cannot: Vec<String>,
    /// What a person does next.
    pub next: Vec<String>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FileAnswer {
    /// Relative to the workspace, or absolute in a person's home.
    pub path: String,
    /// In one word.
    pub done: Done,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Done {
    /// It was not there.
    Created,
    /// Our entries were put in, or taken out.
    Changed,
    /// It was as it should be.
    Kept,
    /// Nothing but ours was in it.
    Removed,
}

/// Wires hosts, or takes our entries out again.
pub(crate) fn install(
    folders: &Folders,
    hosts: &[Host],
    level: InstallLevel,
    program: &HostProgram,
    act: InstallAct,
) -> Result<InstallAnswer, InstallError> {
    let (plan, answer) = planned(folders, hosts, level, program, act)?;
    plan.write()?;
    Ok(answer)
}

/// What [`install`] would do; nothing is written.
pub(crate) fn preview(
    folders: &Folders,
    hosts: &[Host],
    level: InstallLevel,
    program: &HostProgram,
    act: InstallAct,
) -> Result<InstallAnswer, InstallError> {
    Ok(planned(folders, hosts, level, program, act)?.1)
}

fn planned<'a>(
    folders: &'a Folders,
    hosts: &[Host],
    level: InstallLevel,
    program: &HostProgram,
    act: InstallAct,
) -> Result<(InstallPlan<'a>, InstallAnswer), InstallError> {
    let mut plan = InstallPlan { folders, level, files: BTreeMap::new() };
    let mut agents = Vec::new();
    for host in hosts {
        let Some(recipe) = recipes::of(host) else { continue };
        let files = plan.host(host, recipe, program, act)?;
        let (cannot, next) = match act {
            InstallAct::Put => (sentences(host.cannot), recipe.next.to_vec()),
            InstallAct::Take => (Vec::new(), Vec::new()),
        };
        agents.push(WiredAnswer {
            agent: host.name.to_owned(),
            standing: host.standing.as_str().to_owned(),
            files,
            cannot,
            next: next.into_iter().map(str::to_owned).collect(),
        });
    }
    Ok((plan, InstallAnswer { agents }))
}

/// How a file of a host's settings stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingsState {
    /// Nothing of ours is in it.
    Absent,
    /// Ours is in it as we write it.
    Ours,
    /// Ours is in it, and not as we write it.
    Different,
    /// It cannot be understood.
    Unreadable(String),
}

/// A file of a host's settings, examined.
pub(super) struct ExaminedFile {
    pub(super) path: PathBuf,
    pub(super) standing: SettingsState,
    /// Whether a hook is what it holds of ours, rather than a server.
    pub(super) hooks: bool,
    /// The program that its hooks start.
    pub(super) program: Option<HostProgram>,
}

/// How the files of a host stand.
pub(super) fn examine(folders: &Folders, host: &Host, level: InstallLevel) -> Vec<ExaminedFile> {
    let Some(recipe) = recipes::of(host) else { return Vec::new() };
    let (folder, pieces) = place(folders, recipe, level);
    let paths: Vec<PathBuf> = pieces.iter().map(|piece| existing(&folder, piece)).collect();
    let text = |path: &Path| store::read_capped(path, MAX_SETTINGS).ok().flatten();
    let text = |path: &Path| text(path).and_then(|bytes| String::from_utf8(bytes).ok());
    let started = paths.iter().find_map(|path| program_in(&text(path)?));
    let program = started.clone().unwrap_or(HostProgram::Found);
    let examined = pieces.iter().zip(paths).map(|(piece, path)| {
        let content = || (piece.content)(&program, host);
        let hooks = matches!(content(), FileContent::Whole { .. }) || holds_hooks(&content());
        let there = text(&path).filter(|text| !text.trim().is_empty());
        let standing = match there {
            None => SettingsState::Absent,
            Some(text) => standing(&text, content, &program),
        };
        ExaminedFile { path, standing, hooks, program: started.clone() }
    });
    examined.collect()
}

fn standing(text: &str, content: impl Fn() -> FileContent, program: &HostProgram) -> SettingsState {
    let taken = made(Some(text), content(), program, InstallAct::Take);
    match (taken, made(Some(text), content(), program, InstallAct::Put)) {
        (Err(why), _) => SettingsState::Unreadable(why.to_string()),
        (Ok(left), _) if left.as_deref() == Some(text) => SettingsState::Absent,
        (_, Ok(put)) if put.as_deref() == Some(text) => SettingsState::Ours,
        _ => SettingsState::Different,
    }
}

fn holds_hooks(content: &FileContent) -> bool {
    let FileContent::Json(parts) = content else { return false };
    parts.iter().any(|part| match part {
        json::JsonPart::Lists { .. } => true,
        json::JsonPart::Member { value, .. } => ours::starts_us(value, &["hook"]),
        json::JsonPart::Offer { .. } | json::JsonPart::Base { .. } => false,
    })
}

/// The program that settings of ours start: what a plugin declares, else the word before `hook`.
fn program_in(text: &str) -> Option<HostProgram> {
    let program = match text.split_once(recipes::DECLARED) {
        Some((_, declared)) => {
            let mut values = serde_json::Deserializer::from_str(declared).into_iter::<String>();
            values.next()?.ok()?
        }
        None => {
            let (before, _) = text.split_once(" hook ")?;
            let before = before.trim_end_matches(['\\', '"']);
            before[before.rfind(['"', '\n'])? + 1..].to_owned()
        }
    };
    Some(if program == ours::PROGRAM { HostProgram::Found } else { HostProgram::At(program) })
}

/// Settings as data, comments left out; `None` where there are none that can be read.
pub(super) fn settings(path: &Path) -> Option<serde_json::Value> {
    let bytes = store::read_capped(path, MAX_SETTINGS).ok()??;
    json::data(&String::from_utf8(bytes).ok()?)
}

/// The folder of a host in a person's home.
pub(super) fn home_of(folders: &Folders, host: &Host) -> Option<PathBuf> {
    recipes::of(host).map(|recipe| place(folders, recipe, InstallLevel::User).0)
}

/// What a host cannot enforce, one thing each.
pub(super) fn sentences(cannot: &str) -> Vec<String> {
    cannot.split("; ").filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// A file as it is, and as it will be.
struct Planned {
    before: Option<String>,
    after: Option<String>,
    starts: bool,
}

struct InstallPlan<'a> {
    folders: &'a Folders,
    level: InstallLevel,
    files: BTreeMap<PathBuf, Planned>,
}

impl InstallPlan<'_> {
    fn host(
        &mut self,
        host: &Host,
        recipe: &Recipe,
        program: &HostProgram,
        act: InstallAct,
    ) -> Result<Vec<FileAnswer>, InstallError> {
        let (folder, pieces) = place(self.folders, recipe, self.level);
        let mut answers = Vec::new();
        for piece in pieces {
            let path = existing(&folder, piece);
            let content = (piece.content)(program, host);
            let done = self.file(&path, content, program, act)?;
            // Where nothing is taken out, nothing is said.
            if act == InstallAct::Take && done == Done::Kept {
                continue;
            }
            let shown = path.strip_prefix(&self.folders.project).unwrap_or(&path);
            answers.push(FileAnswer { path: shown.display().to_string(), done });
        }
        Ok(answers)
    }

    fn file(
        &mut self,
        path: &Path,
        content: FileContent,
        program: &HostProgram,
        act: InstallAct,
    ) -> Result<Done, InstallError> {
        let planned = match self.files.remove(path) {
            Some(planned) => planned,
            None => {
                let before = read(self.base(), path)?;
                Planned { after: before.clone(), before, starts: false }
            }
        };
        let starts = matches!(content, FileContent::Whole { starts: true, .. });
        let made = made(planned.after.as_deref(), content, program, act);
        let after = made.map_err(|why| InstallError::Conflict { path: path.to_owned(), why })?;
        let done = match (&planned.after, &after) {
            (before, after) if before == after => Done::Kept,
            (None, _) => Done::Created,
            (_, None) => Done::Removed,
            _ => Done::Changed,
        };
        self.files.insert(path.to_owned(), Planned { after, starts, ..planned });
        Ok(done)
    }

    /// The folder that we do not make, and above which nothing is ours to look at.
    fn base(&self) -> &Path {
        match self.level {
            InstallLevel::Project => &self.folders.project,
            InstallLevel::User => &self.folders.home,
        }
    }

    fn write(self) -> Result<(), InstallError> {
        let base = self.base().to_owned();
        for (path, planned) in self.files {
            if planned.before == planned.after {
                continue;
            }
            match &planned.after {
                Some(text) => {
                    store::write_atomic(&path, text.as_bytes())?;
                    if planned.starts {
                        executable(&path)?;
                    }
                }
                None => {
                    store::remove(&path)?;
                    leave_no_empty_folder(&base, &path);
                }
            }
        }
        Ok(())
    }
}

/// The file as it will be.
fn made(
    before: Option<&str>,
    content: FileContent,
    program: &HostProgram,
    act: InstallAct,
) -> Result<Option<String>, Conflict> {
    let text = before.unwrap_or_default();
    match (content, act) {
        (FileContent::Json(parts), InstallAct::Put) => {
            let empty = text.trim().is_empty();
            json::put(if empty { "{}\n" } else { text }, &parts).map(Some)
        }
        (FileContent::Toml, InstallAct::Put) => toml::put(text, program).map(Some),
        (FileContent::Whole { text: ours, .. }, InstallAct::Put) => match before {
            Some(there) if !there.contains(MARK) => Err(Conflict::Foreign),
            _ => Ok(Some(ours)),
        },
        (_, InstallAct::Take) if before.is_none() => Ok(None),
        (FileContent::Json(parts), InstallAct::Take) => json::take(text, &parts),
        (FileContent::Toml, InstallAct::Take) => toml::take(text),
        (FileContent::Whole { .. }, InstallAct::Take) => {
            Ok((!text.contains(MARK)).then(|| text.to_owned()))
        }
    }
}

/// The folder that a recipe's files are in, and the files.
fn place(
    folders: &Folders,
    recipe: &Recipe,
    level: InstallLevel,
) -> (PathBuf, &'static [FilePiece]) {
    match level {
        InstallLevel::Project => (folders.project.clone(), recipe.project),
        InstallLevel::User => {
            let moved = recipe.home.variable.and_then(folders.variable);
            (recipes::folder(&recipe.home, moved, &folders.home), recipe.user)
        }
    }
}

/// Of several names, the one that exists, or the first.
fn existing(folder: &Path, piece: &FilePiece) -> PathBuf {
    let paths = || piece.names.iter().map(|name| folder.join(name));
    let there = paths().find(|path| path.symlink_metadata().is_ok());
    there.or_else(|| paths().next()).unwrap_or_else(|| folder.to_owned())
}

/// A file's text; `None` where there is none. Nothing on the way may be a link.
fn read(base: &Path, path: &Path) -> Result<Option<String>, InstallError> {
    let below = path.ancestors().take_while(|above| above.starts_with(base) && *above != base);
    if let Some(link) = below.filter(|above| above.is_symlink()).last() {
        return Err(InstallError::Link { path: link.to_owned() });
    }
    if path.is_symlink() {
        return Err(InstallError::Link { path: path.to_owned() });
    }
    let Some(bytes) = store::read_capped(path, MAX_SETTINGS)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|_| InstallError::Conflict { path: path.to_owned(), why: Conflict::NoText })
}

#[cfg(unix)]
fn executable(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, all).map_err(|source| StoreError::Io {
        path: path.to_owned(),
        doing: "made executable",
        source,
    })
}
#[cfg(not(unix))]
fn executable(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Folders that hold nothing any more; one that is not empty is not removed by this.
fn leave_no_empty_folder(base: &Path, path: &Path) {
    for folder in path.ancestors().skip(1) {
        if folder == base || !folder.starts_with(base) || std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
