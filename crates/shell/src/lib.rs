//! Predicts what a shell command would do, without running it.
//!
//! `parse` turns the text into a tree. `walk` and `expand` follow the tree as a shell would: they
//! track variables and the current folder as far as the text itself determines them. `judge` looks
//! up every program that would be started. What cannot be known stays unknown, and nothing unknown
//! is ever [`Class::Read`].
//!
//! The result depends on the text and the [`CommandContext`] alone. No file is read, so symbolic
//! links, the content of scripts and aliases from start-up files are not seen; `docs/shell.md`
//! describes the consequences.
//!
//! | text                                | class and rule              | touches                 |
//! | ----------------------------------- | --------------------------- | ----------------------- |
//! | `x=$(echo src); rm "$x/a.rs"`       | write, `rm.file`            | deletes `src/a.rs`      |
//! | `x=$(cat list); rm "$x"`            | destructive, `rm.unknown`   | more than is known      |
//! | `cat a > b`                         | write, `redirect`           | reads `a`, writes `b`   |
//! | `cat a 2> /dev/null`                | read, `program.reads`       | reads `a`               |
//! | `sudo nice -n 10 rm -rf src`        | destructive, `rm.recursive` | deletes `src` and below |
//! | `for d in a b; do rm "$d.rs"; done` | write, `rm.file`            | deletes `a.rs`, `b.rs`  |
//! | `make`                              | opaque, `program.make`      | not known               |
//! | `sh -c "$x"`                        | unreadable, `code.unknown`  | not known               |
//! | `curl -s URL \| sh`                 | destructive, `download.run` | not known               |
//!
//! - `argument`: a word after expansion.
//! - `bombs`: commands that start processes or fill the disk without end.
//! - `branches`: walking conditions and loops, and merging the states of their branches.
//! - `checks`: commands that test or lint code.
//! - `evaluation`: values that the shell would evaluate as code.
//! - `expand`: expanding words as far as the text determines the result.
//! - `finding`: the judgement of a program, and the data that flows between programs.
//! - `folders`: the folders in which commands act.
//! - `git_settings`: what the settings of git decide.
//! - `invisible`: characters that make a command look like a different one.
//! - `judge`: what each program does.
//! - `mentions`: paths in text that is not followed.
//! - `own_commands`: the spellings of our own commands.
//! - `parse`: the text as a tree of commands and words.
//! - `paths`: paths as text.
//! - `pattern`: glob patterns, and patterns for commands in rules.
//! - `places`: the path that a word names, and where it lies.
//! - `redirect`: redirections.
//! - `restore`: commands that bring earlier contents of files back.
//! - `simulation`: the simulated shell.
//! - `state`: the state of a shell during the walk.
//! - `table`: the table of known programs, `programs.tsv`.
//! - `variables`: the values of variables and arguments.
//! - `walk`: walking a parsed text as a shell would.
//! - `windows`: simplified judgement of PowerShell and `cmd.exe`.

mod argument;
mod bombs;
mod branches;
mod checks;
mod evaluation;
mod expand;
mod finding;
mod folders;
mod git_settings;
mod invisible;
mod judge;
mod mentions;
mod own_commands;
mod parse;
mod paths;
mod pattern;
mod places;
mod redirect;
mod restore;
mod simulation;
mod state;
mod table;
mod variables;
mod walk;
mod windows;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use checks::check_of;
pub use git_settings::decides_what_git_does;
pub use own_commands::{GROUPS, OUR_NAMES, short, verb};
pub use pattern::{matches_rule, wild};
pub use restore::{Restoration, new_work_trees, restorations, restored_by};

/// The language that a command is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `sh`, `bash`, `zsh` and similar shells.
    #[default]
    Posix,
    /// Windows PowerShell and PowerShell 7.
    PowerShell,
    /// The command language of `cmd.exe`.
    Cmd,
}

/// Where a command would run. This decides what relative paths and `~` mean, and which paths belong
/// to the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandContext {
    /// The absolute path of the folder that the command would start in.
    pub cwd: PathBuf,
    /// The root of the workspace. Without one, `cwd` is used.
    pub root: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Folders for temporary files. Files below them may be deleted freely.
    pub temp: Vec<PathBuf>,
}

/// How the gate treats a command, from least to most severe. Of several classes, the most severe one
/// is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Only reads: it certainly changes nothing.
    #[default]
    Read,
    /// Changes files, and names every file that it changes.
    Write,
    /// May change anything: it runs a program or a script whose effects cannot be determined.
    Opaque,
    /// Cannot be parsed, so it cannot be judged.
    Unreadable,
    /// Loses work or data, or has an effect outside that cannot be undone.
    Destructive,
}

impl Class {
    /// Returns the name of the class as it is written in answers.
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

/// What a command would do to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathEffect {
    /// Creates or changes the file.
    Write,
    /// Creates the folder, and changes nothing in it.
    MakeFolder,
    /// Deletes the file or folder.
    Delete,
    /// Moves the file to another place.
    MoveFrom,
    /// Reads the file without changing it.
    Read,
}

/// A path that a command names, together with what the command would do to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TouchedPath {
    /// The absolute path, separated by `/`, without `.` and `..`, with globs as written. If `known`
    /// is false, the longest leading part that is certain.
    pub path: String,
    /// What the command would do to the path.
    #[serde(rename = "deed")]
    pub effect: PathEffect,
    /// False if a variable or a glob decides which path is meant.
    pub known: bool,
    /// True if everything below the path is affected as well.
    pub recursive: bool,
}

/// A program that the command would start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Invocation {
    /// The name of the program without its folder; absent if it is not known.
    pub program: Option<String>,
    /// The program and its arguments. Words that are not known are given as written.
    pub words: Vec<String>,
    /// The programs that start this one, outermost first: `sudo`, `xargs`, `bash`.
    pub via: Vec<String>,
    /// The class of this program's call.
    pub class: Class,
    /// The rule that decided the class.
    pub rule: String,
    /// True if the output is redirected to a file or discarded, so that nobody sees it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

/// What a command would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Reading")]
pub struct Prediction {
    /// The most severe class that was found. From most to least severe: destructive, unreadable,
    /// opaque, write, read.
    pub class: Class,
    /// Every path that a command in the text would touch, whatever its class.
    pub targets: Vec<TouchedPath>,
    /// The rule that decided the class: a stable dotted name such as `git.reset-hard`.
    pub rule: String,
    /// The exact word or words that the rule applied to.
    pub word: Option<String>,
    /// The reason for the class, as one sentence.
    pub reason: String,
    /// A safer alternative, as one sentence.
    pub safer: Option<String>,
    /// Every program that would be started, outermost first.
    pub commands: Vec<Invocation>,
    /// True if a process would continue to run after the command has returned.
    pub background: bool,
    /// True if the text is exactly one simple command without redirection or expansion.
    pub lone: bool,
    /// Absolute paths found in text that is not followed: code of another language, a patch, an
    /// option of `intent` itself.
    #[serde(rename = "mentions", default, skip_serializing_if = "Vec::is_empty")]
    pub paths_in_text: Vec<String>,
    /// Absolute paths among the arguments of programs whose effects are not known.
    #[serde(rename = "named", default, skip_serializing_if = "Vec::is_empty")]
    pub paths_in_arguments: Vec<String>,
    /// Absolute paths of files that hold a patch which the command applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<String>,
    /// True if the class is opaque only because a program for inspection may write a cache, a log
    /// or downloaded data of its own.
    #[serde(rename = "looks", default, skip_serializing_if = "std::ops::Not::not")]
    pub inspects: bool,
    /// Absolute paths of the folders in which programs that may change something are started.
    /// Folders that are not known are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}

impl Prediction {
    /// Returns the prediction for a text that cannot be parsed.
    pub fn unreadable(rule: &str, reason: String) -> Self {
        Self {
            class: Class::Unreadable,
            rule: rule.to_owned(),
            reason,
            safer: Some("Write it as plain commands, one at a time.".to_owned()),
            ..Self::default()
        }
    }
}

/// Returns what a text would do. Reads no file.
pub fn read(text: &str, dialect: Dialect, at: &CommandContext) -> Prediction {
    match dialect {
        Dialect::Posix => walk::read(text, at),
        Dialect::PowerShell | Dialect::Cmd => windows::read(text, dialect, at),
    }
}

/// Returns the files that a patch changes or deletes; nothing if the text is not a patch.
pub fn patched(patch: &str) -> Vec<String> {
    match mentions::is_patch(patch) {
        true => mentions::files_of_patch_in(patch),
        false => Vec::new(),
    }
}

/// Returns the arguments of `intent` if the text is exactly one call of this program.
pub fn own_command(reading: &Prediction) -> Option<&[String]> {
    let mut outer = reading.commands.iter().filter(|command| command.via.is_empty());
    let (Some(only), None) = (outer.next(), outer.next()) else { return None };
    let own = only.program.as_deref().is_some_and(|program| OUR_NAMES.contains(&program));
    if reading.lone && own { only.words.get(1..) } else { None }
}

/// Returns the intent that `intent` selects with these arguments, if they do nothing else.
pub fn selects(arguments: &[String]) -> Option<&str> {
    match past_folder(arguments).0 {
        [select, id] if select == "select" && !id.starts_with('-') => Some(id),
        _ => None,
    }
}

/// Splits a leading `-C DIR` off the arguments of `intent`. Returns the remaining arguments and the
/// folder, if one is named.
pub fn past_folder(arguments: &[String]) -> (&[String], Option<&str>) {
    match arguments {
        [option, folder, rest @ ..] if option == "-C" => (rest, Some(folder)),
        _ => (arguments, None),
    }
}

/// Returns the arguments with which `intent` selects an intent.
pub fn selecting(id: &str) -> Vec<String> {
    vec!["select".to_owned(), id.to_owned()]
}

#[cfg(test)]
mod tests;
