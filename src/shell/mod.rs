//! What a shell command would do, read without running it.
//!
//! A text becomes a tree (`parse`), the tree is walked as a shell would walk it
//! (`walk`, `expand`): what words mean is followed as far as the text itself
//! says, and every program that would be started is looked up (`judge`). What
//! is not known stays unknown, and nothing unknown is ever [`Class::Read`].
//!
//! Pure: no file is looked at, so a symbolic link, a script's content or an
//! alias from a start-up file is not seen. `docs/shell.md` says what that means.

mod acting;
mod bombs;
mod checks;
mod disguise;
mod expand;
mod found;
mod judge;
mod mentions;
mod parse;
mod paths;
mod pattern;
mod proof;
mod redirect;
mod state;
mod table;
mod variables;
mod walk;
mod windows;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use checks::check_of;
pub(crate) use pattern::matches_rule;

/// The language of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `sh`, `bash`, `zsh` and their like.
    #[default]
    Posix,
    /// Windows PowerShell and PowerShell 7.
    PowerShell,
    /// `cmd.exe`.
    Cmd,
}

/// Where a command would run: what relative paths and `~` mean, and what is whose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandContext {
    /// The folder the command would start in; absolute.
    pub cwd: PathBuf,
    /// The workspace's root; without one, `cwd` is taken for it.
    pub root: Option<PathBuf>,
    /// The home folder of the account.
    pub home: Option<PathBuf>,
    /// Folders for temporary files; what lies below them is nobody's work.
    pub temp: Vec<PathBuf>,
}

/// What a command is to the gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Surely changes nothing.
    #[default]
    Read,
    /// Changes files, and all that it changes is named.
    Write,
    /// May change anything: a program or script that cannot be looked into.
    Opaque,
    /// Loses work or data, or reaches outside in a way that is not taken back.
    Destructive,
    /// Cannot be read, so it cannot be judged.
    Unreadable,
}

impl Class {
    /// How much stands against it: of several classes the one that weighs most counts.
    pub(crate) fn weight(self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Opaque => 2,
            Self::Unreadable => 3,
            Self::Destructive => 4,
        }
    }

    /// The word that stands for it in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Opaque => "opaque",
            Self::Destructive => "destructive",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What would happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathDeed {
    /// It is created or changed.
    Write,
    /// It is deleted.
    Delete,
    /// It is moved away from here.
    MoveFrom,
    /// It is read.
    Read,
}

/// A path that a command names, and what would happen to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TouchedPath {
    /// Absolute, `/`-separated, without `.` and `..`; globs as written. Where `known` is false, the longest part that is sure.
    pub path: String,
    /// What would happen.
    pub deed: PathDeed,
    /// False where a variable or a glob decides which path it is.
    pub known: bool,
    /// It holds for everything below as well.
    pub recursive: bool,
}

/// One program that would be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invocation {
    /// Its name without the folder; none where it is not known.
    pub program: Option<String>,
    /// The program and its arguments, as far as known; unknown words as written.
    pub words: Vec<String>,
    /// The programs that start it, outermost first: `sudo`, `xargs`, `bash`.
    pub via: Vec<String>,
    /// What this one is.
    pub class: Class,
    /// The rule that says so.
    pub rule: String,
    /// Whether its output is redirected to a file or discarded, so that nobody sees it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

/// What a text would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// The class that weighs most: destructive, unreadable, opaque, write, read.
    pub class: Class,
    /// Every path that some command would touch, whatever the class.
    pub targets: Vec<TouchedPath>,
    /// The rule that decided: a stable dotted name such as `git.reset-hard`.
    pub rule: String,
    /// The exact word or words that made it so.
    pub word: Option<String>,
    /// Why: one sentence.
    pub reason: String,
    /// What to do instead: one sentence.
    pub safer: Option<String>,
    /// Every program that would be started, outermost first.
    pub commands: Vec<Invocation>,
    /// Something would go on after the command has returned.
    pub background: bool,
    /// Exactly one simple command without redirection or expansion.
    pub lone: bool,
    /// Paths that stand in a text which is not followed: code of another language, a patch, an option of ours. Absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    /// Paths among the words of programs of which nobody knows what they do with them. Absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<String>,
    /// Files that hold a patch which is applied; absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<String>,
    /// It is opaque, but only because what is made for looking may keep something of its own: a cache, a log, what it fetched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub looks: bool,
    /// The folders in which programs are started that may change something; absolute. Those that are not known are left
    /// out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}

impl Reading {
    /// A text that could not be read.
    pub(crate) fn unreadable(rule: &str, reason: String) -> Self {
        Self {
            class: Class::Unreadable,
            rule: rule.to_owned(),
            reason,
            safer: Some("Write it as plain commands, one at a time.".to_owned()),
            ..Self::default()
        }
    }
}

/// What a text would do, in one reading: pure, without a look at any file.
pub fn read(text: &str, dialect: Dialect, at: &CommandContext) -> Reading {
    match dialect {
        Dialect::Posix => walk::read(text, at),
        Dialect::PowerShell | Dialect::Cmd => windows::read(text, dialect, at),
    }
}

/// The files that a patch changes; those that it deletes too.
pub(crate) fn patched(patch: &str) -> Vec<&str> {
    match mentions::is_patch(patch) {
        true => mentions::patched(patch),
        false => Vec::new(),
    }
}

/// The names of this program.
pub(crate) const OUR_NAMES: [&str; 2] = ["intent", "intent-lsp"];

/// The words behind `intent`, when a text is one command of ours and nothing else.
pub(crate) fn own_command(reading: &Reading) -> Option<&[String]> {
    let mut outer = reading.commands.iter().filter(|command| command.via.is_empty());
    let (Some(only), None) = (outer.next(), outer.next()) else { return None };
    let own = only.program.as_deref().is_some_and(|program| OUR_NAMES.contains(&program));
    if reading.lone && own { only.words.get(1..) } else { None }
}

/// The intent that `intent` selects with these arguments, if they do nothing else.
pub(crate) fn selects(arguments: &[String]) -> Option<&str> {
    match past_folder(arguments).0 {
        [select, id] if select == "select" && !id.starts_with('-') => Some(id),
        _ => None,
    }
}

/// The arguments of `intent` behind `-C DIR`, and that folder. `None` if they name none.
pub(crate) fn past_folder(arguments: &[String]) -> (&[String], Option<&str>) {
    match arguments {
        [option, folder, rest @ ..] if option == "-C" => (rest, Some(folder)),
        _ => (arguments, None),
    }
}

/// The arguments with which `intent` selects an intent.
pub(crate) fn selecting(id: &str) -> Vec<String> {
    vec!["select".to_owned(), id.to_owned()]
}

#[cfg(test)]
mod tests;
