//! What every command gets: where it runs and where it prints.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::CliError;
use super::print::{Page, Printer};
use super::target::Target;
use crate::verbs::Workspace;
use crate::workspace::RelativePath;

/// Where a command runs and where it prints.
pub(crate) struct Context {
    /// Absolute; what paths are relative to.
    pub(crate) cwd: PathBuf,
    /// It was named with `-C`.
    pub(crate) named: bool,
    /// The only way to stdout and stderr.
    pub(crate) printer: Printer,
}

impl Context {
    /// The folder of the process, or the one named with `-C`.
    pub(crate) fn new(directory: Option<&Path>, printer: Printer) -> Result<Self, CliError> {
        let here = std::env::current_dir()
            .map_err(|source| CliError::io(PathBuf::from("the current folder"), "read", source))?;
        let cwd = directory.map_or_else(|| here.clone(), |directory| here.join(directory));
        if !cwd.is_dir() {
            return Err(CliError::usage(
                format!("{} is not a folder", cwd.display()),
                "name an existing folder with -C",
            ));
        }
        Ok(Self { cwd, named: directory.is_some(), printer })
    }

    /// The workspace that governs the folder we are in.
    pub(crate) fn here(&self) -> Result<Workspace, CliError> {
        Ok(Workspace::open(&self.cwd)?)
    }

    /// A file that was named, with the workspace that governs it.
    pub(crate) fn file(&self, target: &Target) -> Result<(Workspace, RelativePath), CliError> {
        if target.path.is_dir() {
            return Err(CliError::usage(
                format!("{} is a folder", target.named),
                "name a file, as PATH or PATH:LINE",
            ));
        }
        let workspace = Workspace::open(&target.path)?;
        let path = workspace.path(&self.cwd, &target.path)?;
        Ok((workspace, path))
    }

    /// The same for a file that must be there.
    pub(crate) fn existing_file(
        &self,
        target: &Target,
    ) -> Result<(Workspace, RelativePath), CliError> {
        if target.path.symlink_metadata().is_err() {
            return Err(CliError::missing(&target.named));
        }
        self.file(target)
    }

    /// Prints an answer: as it is for programs, laid out for people.
    pub(crate) fn answer<T: Serialize>(
        &self,
        answer: &T,
        human: impl FnOnce(&mut Page),
    ) -> Result<(), CliError> {
        if self.printer.json_asked() {
            return self.printer.json(answer);
        }
        let mut page = Page::default();
        human(&mut page);
        self.printer.page(&page)
    }
}
