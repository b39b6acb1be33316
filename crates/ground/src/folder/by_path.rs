//! A folder as a path, for systems without folder descriptors. Each step is checked for symbolic
//! links before it is taken.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use super::{Access, FolderEntry, FoundLink};

pub struct FolderPath(PathBuf);

impl FolderPath {
    pub fn open(path: &Path) -> Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self(path.to_path_buf())),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    pub fn enter(&self, name: &OsStr) -> Result<Self> {
        let path = self.0.join(name);
        let found = fs::symlink_metadata(&path)?;
        if found.is_symlink() {
            return Err(Error::other(FoundLink));
        }
        Self::open(&path)
    }

    pub fn make(&self, name: &OsStr) -> Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub fn file(&self, name: &OsStr, access: Access) -> Result<File> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => return Err(Error::other(FoundLink)),
            Ok(found) if !found.is_file() => return Err(Error::other("it is not a regular file")),
            _ => {}
        }
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Append => options.read(true).append(true).create(true),
            Access::Create => options.read(true).write(true).create_new(true),
        };
        options.open(path)
    }

    pub fn look(&self, name: &OsStr) -> Result<FolderEntry> {
        let found = fs::symlink_metadata(self.0.join(name))?;
        Ok(FolderEntry { is_link: found.is_symlink(), permissions: found.permissions() })
    }

    /// Does nothing: on these systems a folder has the rights of the one that holds it.
    pub(crate) fn close_to_others(&self) -> Result<()> {
        Ok(())
    }

    pub(crate) fn close_file_to_others(&self, _: &OsStr) -> Result<()> {
        Ok(())
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(crate) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        self.link(from, self, to)?;
        self.remove(from)
    }

    pub fn link(&self, name: &OsStr, other: &Self, second: &OsStr) -> Result<()> {
        fs::hard_link(self.0.join(name), other.0.join(second))
    }

    pub fn remove(&self, name: &OsStr) -> Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Does nothing on these systems. The file is complete either way.
    pub fn sync(&self) -> Result<()> {
        Ok(())
    }
}

pub(super) fn open_anywhere(path: &Path) -> Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(Error::other("it is not a regular file")),
    }
}
