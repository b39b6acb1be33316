//! A folder as a file descriptor, for Unix.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::Result;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};

use super::{Access, FolderEntry};

/// The mode for new files and folders, which is the one that other programs use. The umask is
/// applied to it.
const FILE: Mode = Mode::from_raw_mode(0o666);
const FOLDER: Mode = Mode::from_raw_mode(0o777);

/// The flags for opening a folder on the way to a file. On Linux this needs no permission to list
/// the folder.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlags = OFlags::RDONLY;

pub struct FolderHandle(OwnedFd);

impl FolderHandle {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = PASS | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::openat(CWD, path, flags, Mode::empty())?))
    }

    pub(super) fn enter(&self, name: &OsStr) -> Result<Self> {
        let flags = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    pub(super) fn make(&self, name: &OsStr) -> Result<()> {
        Ok(fs::mkdirat(&self.0, name, FOLDER)?)
    }

    pub(super) fn file(&self, name: &OsStr, access: Access) -> Result<File> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Append => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
            Access::Create => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        Ok(fs::openat(&self.0, name, flags | OFlags::NOFOLLOW | never_waiting(), FILE)?.into())
    }

    #[allow(clippy::useless_conversion, reason = "a mode has fewer bits on some systems")]
    pub(super) fn look(&self, name: &OsStr) -> Result<FolderEntry> {
        let found = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let mode = found.st_mode;
        let permissions = Permissions::from_mode(u32::from(mode) & 0o7777);
        Ok(FolderEntry { is_link: FileType::from_raw_mode(mode).is_symlink(), permissions })
    }

    pub(crate) fn close_to_others(&self) -> Result<()> {
        Ok(fs::chmodat(&self.0, ".", Mode::RWXU, AtFlags::empty())?)
    }

    pub(crate) fn close_file_to_others(&self, name: &OsStr) -> Result<()> {
        Ok(fs::chmodat(&self.0, name, Mode::RUSR | Mode::WUSR, AtFlags::empty())?)
    }

    /// Renames a file in this folder. An existing file with the new name is replaced.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Renames a file in this folder. An error if the new name exists.
    pub(crate) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::io::Errno;
            let flags = fs::RenameFlags::NOREPLACE;
            match fs::renameat_with(&self.0, from, &self.0, to, flags) {
                // Some file systems do not support this.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                done => return Ok(done?),
            }
        }
        self.link(from, self, to)?;
        self.remove(from)
    }

    pub fn link(&self, name: &OsStr, other: &Self, second: &OsStr) -> Result<()> {
        Ok(fs::linkat(&self.0, name, &other.0, second, AtFlags::empty())?)
    }

    pub fn remove(&self, name: &OsStr) -> Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Syncs the folder, so that new and changed names survive a crash.
    pub fn sync(&self) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(fs::fsync(fs::openat(&self.0, ".", flags, Mode::empty())?)?)
    }
}

pub(super) fn open_anywhere(path: &Path) -> Result<File> {
    Ok(fs::openat(CWD, path, OFlags::RDONLY | never_waiting(), Mode::empty())?.into())
}

/// Opening a pipe would wait for its other end, and opening a terminal could make it our
/// controlling terminal. These flags prevent both.
fn never_waiting() -> OFlags {
    OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC
}
