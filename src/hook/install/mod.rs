//! Adds our hook and our MCP server to the settings of a host, and removes them.
//!
//! All changes are planned before the first file is written: if one file cannot be understood, no
//! file is changed. What others wrote stays as it is. Settings of a project are committed, so they
//! contain no path of this machine, unless the user asks for one.

pub mod found;
mod json;
mod recipes;
pub(crate) mod recognise;
pub mod toml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

pub use recipes::HostProgram;

use super::host::Host;
use ground::store::{self, StoreError};
use ground::{Environment, Hint, Root};
use recipes::{FileContent, MakeContent, Recipe};

/// A line near the top of every file that contains nothing but our content.
const MARK: &str = "Written by `intent init`, which writes it anew: change nothing here.";
/// The largest settings file, in bytes, that is changed.
pub const MAX_SETTINGS: u64 = 4 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallLevel {
    /// The settings in the project. They are committed and hold for everybody.
    Project,
    /// The settings in the person's home folder. They hold for all of the person's projects.
    User,
}

/// Whether to add our entries to the settings, or to remove them and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallAct {
    Put,
    Take,
}

#[derive(Clone, Debug)]
pub struct Folders {
    pub project: PathBuf,
    pub home: PathBuf,
    /// The folder of Claude Code's managed settings, which an organisation sets and people cannot
    /// change.
    pub managed: PathBuf,
    /// The surroundings of the command, because some variables move a host's folder.
    pub environment: Environment,
}

impl Folders {
    /// Returns the folders for this process and this root, or `None` if the home folder is unknown.
    pub fn of_process(root: &Root) -> Option<Self> {
        let environment = root.environment().clone();
        let home = environment.home()?.to_owned();
        let managed = PathBuf::from(MANAGED);
        Some(Self { project: root.path().to_owned(), home, managed, environment })
    }
}

const MANAGED: &str = if cfg!(windows) {
    "C:\\Program Files\\ClaudeCode"
} else if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};

fn folder_named(environment: &Environment, variable: &str) -> Option<PathBuf> {
    environment.variable(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("{path} was left as it is: {why}. No file was changed")]
    Conflict { path: PathBuf, why: Conflict },
    #[error("{path} is a symbolic link; refusing to write through it. No file was changed")]
    Link { path: PathBuf },
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    #[error("it does not parse ({0})")]
    Syntax(String),
    #[error("it holds something else than an object")]
    NoObject,
    #[error("`{0}` in it is not what this host expects there")]
    Shape(String),
    #[error("an entry `{0}` that is not ours stands in it")]
    Taken(String),
    #[error("it is somebody else's file and cannot be shared")]
    Foreign,
    #[error("it is not UTF-8 text")]
    NoText,
}

impl Conflict {
    fn remedy(&self) -> &'static str {
        match self {
            Self::Syntax(_) | Self::NoObject | Self::Shape(_) | Self::NoText => "mend it",
            Self::Taken(_) => "rename that",
            Self::Foreign => "call `intent agent hook` from it, or move it away",
        }
    }
}

impl Hint for Conflict {
    fn hint(&self) -> Option<String> {
        Some(format!("{}, then run this again", self.remedy()))
    }
}

impl InstallError {
    pub fn remedy(&self) -> String {
        match self {
            Self::Conflict { why, .. } => why.remedy().to_owned(),
            Self::Store(error) => error.hint().unwrap_or_else(|| "mend it".to_owned()),
            Self::Link { .. } => "mend it".to_owned(),
        }
    }
}

impl Hint for InstallError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Conflict { why, .. } => why.hint(),
            Self::Store(error) => error.hint(),
            Self::Link { .. } => None,
        }
    }
}

/// What was done to the settings of the named hosts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InstallAnswer {
    /// The hosts, in the order in which they were named.
    pub agents: Vec<WiredAnswer>,
}

/// What was done to the settings of one host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WiredAnswer {
    /// The name of the host, as in `intent agent hook NAME`.
    pub agent: String,
    /// `proven` if our tests drive the real program, else `by protocol only`.
    pub standing: String,
    /// The files, each with what was done to it.
    pub files: Vec<FileAnswer>,
    /// What this host cannot enforce.
    pub cannot: Vec<String>,
    /// What a person has to do next.
    pub next: Vec<String>,
}

/// A file, and what was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileAnswer {
    /// The path: relative to the workspace, or absolute if the file is in the home folder.
    pub path: String,
    /// What was done to the file.
    pub done: Done,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Done {
    /// The file did not exist and was created.
    Created,
    /// Our entries were added to the file, or removed from it.
    Changed,
    /// The file was already as it should be.
    Kept,
    /// The file held nothing but our entries and was deleted.
    Removed,
}

pub fn install(
    folders: &Folders,
    hosts: &[Host],
    level: InstallLevel,
    program: &HostProgram,
    act: InstallAct,
) -> Result<InstallAnswer, InstallError> {
    let mut plan = InstallPlan { folders, level, program, act, files: BTreeMap::new() };
    let answer = plan.answer(hosts)?;
    plan.write()?;
    Ok(answer)
}

pub fn is_settings_file(path: &str) -> bool {
    let mut files = recipes::RECIPES.iter().flat_map(|recipe| recipe.files);
    files.any(|file| file.project.split(' ').any(|name| name == path))
}

/// Returns true if a settings file in the project differs from its former text only in what
/// [`install`] writes, for hosts that it names.
pub fn is_as_installed(path: &str, before: Option<&str>, now: &str) -> bool {
    let mut text = before.map(str::to_owned);
    let program = HostProgram::Found;
    for recipe in recipes::RECIPES {
        let Some(host) = crate::host::host_named(recipe.host) else { continue };
        let files =
            recipe.files.iter().filter(|file| file.project.split(' ').any(|name| name == path));
        for file in files {
            let content = || (file.content)(&program, &host);
            if state_of_settings(now, content, &program) != SettingsState::Ours {
                continue;
            }
            match content_after(text.as_deref(), content(), &program, InstallAct::Put) {
                Ok(after) => text = after,
                Err(_) => return false,
            }
        }
    }
    text.as_deref() == Some(now) && before != Some(now)
}

pub fn preview(
    folders: &Folders,
    hosts: &[Host],
    level: InstallLevel,
    program: &HostProgram,
    act: InstallAct,
) -> Result<InstallAnswer, InstallError> {
    InstallPlan { folders, level, program, act, files: BTreeMap::new() }.answer(hosts)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingsState {
    /// The file has no entry of ours, or does not exist.
    Absent,
    /// The file has our entries as this version writes them.
    Ours,
    Different,
    Unreadable(String),
}

pub(super) struct ExaminedFile {
    pub(super) path: PathBuf,
    pub(super) level: InstallLevel,
    pub(super) standing: SettingsState,
    /// True if our entries in this file are hooks, false if they are a server.
    pub(super) hooks: bool,
    pub(super) program: Option<HostProgram>,
}

pub(super) fn examine(folders: &Folders, host: &Host, level: InstallLevel) -> Vec<ExaminedFile> {
    let Some(recipe) = recipes::recipe_of_host(host) else { return Vec::new() };
    let files = files(folders, recipe, level);
    let by_hooks = files.iter().find_map(|(path, _)| program_in(&text_of(path)?));
    let started =
        by_hooks.or_else(|| files.iter().find_map(|(path, _)| program_of_server(&settings(path)?)));
    let program = started.clone().unwrap_or(HostProgram::Found);
    let examined = files.into_iter().map(|(path, make)| {
        let content = || make(&program, host);
        let hooks = matches!(content(), FileContent::Whole { .. }) || holds_hooks(&content());
        let there = text_of(&path).filter(|text| !text.trim().is_empty());
        let standing = match there {
            None => SettingsState::Absent,
            Some(text) => state_of_settings(&text, content, &program),
        };
        ExaminedFile { path, level, standing, hooks, program: started.clone() }
    });
    examined.collect()
}

fn state_of_settings(
    text: &str,
    content: impl Fn() -> FileContent,
    program: &HostProgram,
) -> SettingsState {
    let taken = content_after(Some(text), content(), program, InstallAct::Take);
    match (taken, content_after(Some(text), content(), program, InstallAct::Put)) {
        (Err(why), _) => SettingsState::Unreadable(why.with_hint()),
        (Ok(left), _) if left.as_deref() == Some(text) => SettingsState::Absent,
        (_, Ok(put)) if put.as_deref() == Some(text) => SettingsState::Ours,
        _ => SettingsState::Different,
    }
}

fn holds_hooks(content: &FileContent) -> bool {
    let FileContent::Json(parts) = content else { return false };
    parts.iter().any(|part| match part {
        json::JsonPart::Lists { .. } => true,
        json::JsonPart::Member { value, .. } => recognise::starts_us(value, &["hook"]),
        json::JsonPart::Offer { .. } | json::JsonPart::Base { .. } => false,
    })
}

/// Returns the program that our settings start: the one that a plugin declares, else the word before
/// the first `hook` that is this program. Hooks of others may also have that word.
fn program_in(text: &str) -> Option<HostProgram> {
    let program = match text.split_once(recipes::DECLARED) {
        Some((_, declared)) => {
            let mut values = serde_json::Deserializer::from_str(declared).into_iter::<String>();
            values.next()?.ok()?
        }
        None => {
            let mut places = text.match_indices(" hook ");
            places.find_map(|(at, _)| {
                // `agent hook` is the other spelling of `hook`.
                let before = text[..at].strip_suffix(" agent").unwrap_or(&text[..at]);
                let is_quoted = before.ends_with('"');
                let before = before.trim_end_matches(['\\', '"']);
                // Only a path in quotation marks contains blanks.
                let is_start = |c: char| c == '"' || c == '\n' || (c == ' ' && !is_quoted);
                let program = &before[before.rfind(is_start)? + 1..];
                recognise::is_us(program).then(|| program.to_owned())
            })?
        }
    };
    Some(as_host_program(program))
}

fn as_host_program(program: String) -> HostProgram {
    if program == crate::binary::PROGRAM { HostProgram::Found } else { HostProgram::At(program) }
}

/// Returns the program that is our MCP server in the settings of a host without hooks.
fn program_of_server(settings: &serde_json::Value) -> Option<HostProgram> {
    let command = settings.pointer("/mcpServers/intent/command")?.as_str()?;
    recognise::is_us(command).then(|| as_host_program(command.to_owned()))
}

/// Reads settings as data, without comments. Returns `None` if the file does not exist or cannot be
/// read.
pub(super) fn settings(path: &Path) -> Option<serde_json::Value> {
    json::data(&text_of(path)?)
}

/// Returns the text of a settings file. `None` if it does not exist or cannot be read.
pub(super) fn text_of(path: &Path) -> Option<String> {
    String::from_utf8(store::read_capped(path, MAX_SETTINGS).ok()??).ok()
}

pub(super) fn home_of(folders: &Folders, host: &Host) -> Option<PathBuf> {
    recipes::recipe_of_host(host).map(|recipe| settings_home(folders, recipe))
}

fn sentences(cannot: &str) -> Vec<String> {
    cannot.split("; ").filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

struct PlannedFile {
    before: Option<String>,
    after: Option<String>,
    starts: bool,
}

struct InstallPlan<'a> {
    folders: &'a Folders,
    level: InstallLevel,
    program: &'a HostProgram,
    act: InstallAct,
    files: BTreeMap<PathBuf, PlannedFile>,
}

impl InstallPlan<'_> {
    fn answer(&mut self, hosts: &[Host]) -> Result<InstallAnswer, InstallError> {
        let mut agents = Vec::new();
        for host in hosts {
            let Some(recipe) = recipes::recipe_of_host(host) else { continue };
            let (cannot, next) = match self.act {
                InstallAct::Put => (sentences(host.cannot), recipe.next),
                InstallAct::Take => (Vec::new(), &[][..]),
            };
            agents.push(WiredAnswer {
                agent: host.name.to_owned(),
                standing: host.evidence_level.as_str().to_owned(),
                files: self.host(host, recipe)?,
                cannot,
                next: next.iter().map(|text| (*text).to_owned()).collect(),
            });
        }
        Ok(InstallAnswer { agents })
    }

    fn host(&mut self, host: &Host, recipe: &Recipe) -> Result<Vec<FileAnswer>, InstallError> {
        let mut answers = Vec::new();
        for (path, make) in files(self.folders, recipe, self.level) {
            let done = self.file(&path, make(self.program, host))?;
            // If nothing was removed, the file is not mentioned.
            if self.act == InstallAct::Take && done == Done::Kept {
                continue;
            }
            let shown = path.strip_prefix(&self.folders.project).unwrap_or(&path);
            answers.push(FileAnswer { path: shown.display().to_string(), done });
        }
        Ok(answers)
    }

    fn file(&mut self, path: &Path, content: FileContent) -> Result<Done, InstallError> {
        let planned = match self.files.remove(path) {
            Some(planned) => planned,
            None => {
                let before = read(self.base(), path)?;
                PlannedFile { after: before.clone(), before, starts: false }
            }
        };
        let starts = matches!(content, FileContent::Whole { starts: true, .. });
        let made = content_after(planned.after.as_deref(), content, self.program, self.act);
        let after = made.map_err(|why| InstallError::Conflict { path: path.to_owned(), why })?;
        let done = match (&planned.after, &after) {
            (before, after) if before == after => Done::Kept,
            (None, _) => Done::Created,
            (_, None) => Done::Removed,
            _ => Done::Changed,
        };
        self.files.insert(path.to_owned(), PlannedFile { after, starts, ..planned });
        Ok(done)
    }

    /// Returns the folder that limits our work: it is never removed, and nothing above it is
    /// examined.
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
                        make_executable(&path)?;
                    }
                }
                None => {
                    store::remove(&path)?;
                    store::remove_empty_folders(&base, &path);
                }
            }
        }
        Ok(())
    }
}

/// Returns the content of the file after the change, or `None` if it is to be deleted.
fn content_after(
    before: Option<&str>,
    content: FileContent,
    program: &HostProgram,
    act: InstallAct,
) -> Result<Option<String>, Conflict> {
    let text = before.unwrap_or_default();
    match (content, act) {
        (FileContent::Json(parts), InstallAct::Put) => {
            let empty = text.trim().is_empty();
            json::with_entries(if empty { "{}\n" } else { text }, &parts).map(Some)
        }
        (FileContent::Toml, InstallAct::Put) => toml::with_server(text, program).map(Some),
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

fn files(folders: &Folders, recipe: &Recipe, level: InstallLevel) -> Vec<(PathBuf, MakeContent)> {
    let folder = match level {
        InstallLevel::Project => folders.project.clone(),
        InstallLevel::User => settings_home(folders, recipe),
    };
    let file = |file: &recipes::SettingsFile| {
        let names = if level == InstallLevel::Project { file.project } else { file.user };
        let paths = || names.split_whitespace().map(|name| folder.join(name));
        let there = paths().find(|path| path.symlink_metadata().is_ok());
        Some((there.or_else(|| paths().next())?, file.content))
    };
    recipe.files.iter().filter_map(file).collect()
}

fn settings_home(folders: &Folders, recipe: &Recipe) -> PathBuf {
    let (variable, folder) = recipe.home;
    let moved = variable.and_then(|variable| folder_named(&folders.environment, variable));
    moved.unwrap_or_else(|| folders.home.join(folder))
}

/// Returns the text of a file, or `None` if it does not exist. Fails if the file, or a folder
/// between it and `base`, is a symbolic link.
fn read(base: &Path, path: &Path) -> Result<Option<String>, InstallError> {
    let is_below = |above: &Path| above.starts_with(base) && above != base;
    let checked = path.ancestors().take_while(|above| *above == path || is_below(above));
    if let Some(link) = checked.filter(|above| above.is_symlink()).last() {
        return Err(InstallError::Link { path: link.to_owned() });
    }
    let Some(bytes) = store::read_capped(path, MAX_SETTINGS)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|_| InstallError::Conflict { path: path.to_owned(), why: Conflict::NoText })
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, all).map_err(|source| StoreError::Io {
        path: path.to_owned(),
        doing: "made executable",
        source,
    })
}
#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(test)]
mod tests;
