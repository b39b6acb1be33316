//! Folders that are held open, so that a file is opened, made or replaced in the folder that was looked at, whoever
//! exchanges a name on the way meanwhile. Below the folder that a path is trusted from, no link is followed.

#[cfg(unix)]
mod by_handle;
#[cfg(not(unix))]
mod by_path;

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Component, Path};
use std::time::{Duration, Instant};

#[cfg(unix)]
use by_handle::{FolderHandle as Handle, open_anywhere as opened};
#[cfg(not(unix))]
use by_path::{FolderPath as Handle, open_anywhere as opened};

/// Reading one file may take so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many bytes are read before the time is looked at.
const PIECE: u64 = 256 * 1024;

/// A folder that is held open.
pub(crate) struct Folder(Handle);

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It must exist.
    Read,
    /// It is made if it does not exist. What is written goes to its end.
    Append,
    /// It must not exist.
    Create,
}

/// What stands at a name in a folder, links not followed.
pub(crate) struct FolderEntry {
    /// Whether it is a link.
    pub is_link: bool,
    /// Its permissions.
    pub permissions: Permissions,
}

impl Folder {
    /// Opens a folder that is trusted to be where its path leads.
    pub(crate) fn trusted(path: &Path) -> Result<Self> {
        let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Handle::open(here).map(Self)
    }

    /// The folder in which the last part of `path` stands, and that part. No link is followed on the way from this
    /// folder, and missing folders are made if `make` says so.
    pub(crate) fn holding(self, path: &Path, make: bool) -> Result<(Self, &OsStr)> {
        let mut steps = path.components().peekable();
        let mut folder = self;
        while let Some(step) = steps.next() {
            let Component::Normal(name) = step else { break };
            if steps.peek().is_none() {
                return Ok((folder, name));
            }
            folder = folder.enter(name, make)?;
        }
        Err(Error::new(
            ErrorKind::InvalidInput,
            "the path does not lead to a file below its folder",
        ))
    }

    fn enter(&self, name: &OsStr, make: bool) -> Result<Self> {
        let entered = match self.0.enter(name) {
            Err(error) if make && error.kind() == ErrorKind::NotFound => {
                match self.0.make(name) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                    _ => {}
                }
                self.0.enter(name)
            }
            entered => entered,
        };
        entered.map(Self).map_err(|error| self.link_or(name, error))
    }

    /// Opens a regular file. Anything else is an error, and nothing is waited for.
    pub(crate) fn open(&self, name: &OsStr, access: Access) -> Result<File> {
        let file = self.0.file(name, access).map_err(|error| self.link_or(name, error))?;
        regular(file)
    }

    /// The error of a step that failed, which is told as such where a link is the cause.
    fn link_or(&self, name: &OsStr, error: Error) -> Error {
        let is_link = || self.look(name).is_ok_and(|found| found.is_some_and(|it| it.is_link));
        match error.kind() == ErrorKind::NotFound || !is_link() {
            true => error,
            false => Error::other(FoundLink),
        }
    }

    /// What stands at a name. `None` if nothing does.
    pub(crate) fn look(&self, name: &OsStr) -> Result<Option<FolderEntry>> {
        match self.0.look(name) {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives a file another name in this folder. Whatever had the name goes.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        self.0.rename(from, to)
    }

    /// Gives a file another name in this folder if nothing has that name.
    pub(crate) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        self.0.rename_to_new(from, to)
    }

    /// Gives a file a second name, in a folder of the same file system.
    pub(crate) fn link(&self, name: &OsStr, other: &Self, second: &OsStr) -> Result<()> {
        self.0.link(name, &other.0, second)
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, name: &OsStr) -> Result<()> {
        self.0.remove(name)
    }

    /// Makes names durable that were made or changed.
    pub(crate) fn sync(&self) -> Result<()> {
        self.0.sync()
    }
}

/// A link stands where none is followed.
#[derive(Debug, thiserror::Error)]
#[error("it is a symbolic link, or is reached through one")]
struct FoundLink;

/// Whether an error says that a link was met.
pub(crate) fn is_link(error: &Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<FoundLink>())
}

/// Whether an error says that nothing stands there.
pub(crate) fn is_missing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Opens a regular file below a folder. No link is followed on the way from that folder.
pub(crate) fn open_below(base: &Path, path: &Path) -> Result<File> {
    let (folder, name) = Folder::trusted(base)?.holding(path, false)?;
    folder.open(name, Access::Read)
}

/// Opens a regular file outside all workspaces, where people may have links.
pub(crate) fn open_anywhere(path: &Path) -> Result<File> {
    regular(opened(path)?)
}

fn regular(file: File) -> Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Error::other("it is not a regular file")),
    }
}

/// Reads what is left of a file. Fails if that is more than `max` bytes, or if it takes long.
pub(crate) fn read_to_end(file: &mut File, max: u64) -> Result<Vec<u8>> {
    let began = Instant::now();
    let known = file.metadata()?.len().min(max).min(PIECE);
    let mut bytes = Vec::with_capacity(usize::try_from(known).unwrap_or(0) + 1);
    loop {
        let left = max.saturating_add(1) - bytes.len() as u64;
        if file.by_ref().take(left.min(PIECE)).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
        if bytes.len() as u64 > max {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if began.elapsed() > PATIENCE {
            let reason = format!("it took over {} s", PATIENCE.as_secs());
            return Err(Error::new(ErrorKind::TimedOut, reason));
        }
    }
}
