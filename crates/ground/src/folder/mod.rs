//! Folders that are held open. Files are opened, created and replaced in exactly the folder that
//! was checked, even if somebody replaces a folder on the path in the meantime. Below a trusted
//! folder, no symbolic link is followed.

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

const PATIENCE: Duration = Duration::from_secs(5);
const PIECE: u64 = 256 * 1024;

pub struct Folder {
    pub handle: Handle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Append,
    /// For writing. The file must not exist.
    Create,
}

/// An entry of a folder. Symbolic links are not followed.
pub struct FolderEntry {
    pub is_link: bool,
    pub permissions: Permissions,
}

impl Folder {
    /// Opens a folder. Symbolic links in its own path are followed, so the caller must trust the
    /// path.
    pub fn trusted(path: &Path) -> Result<Self> {
        let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self { handle: Handle::open(here)? })
    }

    /// Opens the folder that contains the last segment of `path`, and returns it with that segment.
    /// No symbolic link is followed below this folder. Missing folders are created if `make` is
    /// true.
    pub fn holding(self, path: &Path, make: bool) -> Result<(Self, &OsStr)> {
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
        let entered = match self.handle.enter(name) {
            Err(error) if make && error.kind() == ErrorKind::NotFound => {
                match self.handle.make(name) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                    _ => {}
                }
                self.handle.enter(name)
            }
            entered => entered,
        };
        let handle = entered.map_err(|error| self.link_or(name, error))?;
        Ok(Self { handle })
    }

    /// Opens a regular file. Anything else is an error. Never blocks, not even for a pipe.
    pub fn open(&self, name: &OsStr, access: Access) -> Result<File> {
        let file = self.handle.file(name, access).map_err(|error| self.link_or(name, error))?;
        regular(file)
    }

    /// Returns the error of a failed step, or [`FoundLink`] if a symbolic link caused it.
    fn link_or(&self, name: &OsStr, error: Error) -> Error {
        let is_link = || self.look(name).is_ok_and(|found| found.is_some_and(|it| it.is_link));
        match error.kind() == ErrorKind::NotFound || !is_link() {
            true => error,
            false => Error::other(FoundLink),
        }
    }

    /// Returns the entry with this name. `None` if there is none.
    pub fn look(&self, name: &OsStr) -> Result<Option<FolderEntry>> {
        match self.handle.look(name) {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("it is a symbolic link, or is reached through one")]
struct FoundLink;

pub(crate) fn is_link(error: &Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<FoundLink>())
}

pub fn is_missing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Opens a regular file below a folder. No symbolic link is followed below that folder.
pub(crate) fn open_below(base: &Path, path: &Path) -> Result<File> {
    let (folder, name) = Folder::trusted(base)?.holding(path, false)?;
    folder.open(name, Access::Read)
}

pub(crate) fn read_below(base: &Path, path: &Path, max: u64) -> Result<Vec<u8>> {
    read_to_end(&mut open_below(base, path)?, max)
}

pub(crate) fn open_anywhere(path: &Path) -> Result<File> {
    regular(opened(path)?)
}

fn regular(file: File) -> Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Error::other("it is not a regular file")),
    }
}

/// Reads the rest of a file. Returns an error if it is longer than `max` bytes, or if reading takes
/// too long.
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
