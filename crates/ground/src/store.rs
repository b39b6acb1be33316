//! Reads and writes files so that they are never half written: atomic replacement and locks.

use std::ffi::{OsStr, OsString};
use std::fs::{DirEntry, File, Permissions, TryLockError};
use std::io::{Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::Hint;
use super::folder::{self, Access, Folder, is_missing};
use code::hex;

/// A file of any kind that is larger than this, in bytes, is not read.
pub const MAX_CONTENT: u64 = 256 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path} could not be {doing}: {source}")]
    Io {
        path: PathBuf,
        /// What was tried: "read", "written", "locked".
        doing: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is locked by another process for over {} s", .waited.as_secs())]
    Locked { path: PathBuf, waited: Duration },
    /// The path, or a folder above it inside the workspace, is a symbolic link.
    #[error("{path} is a symbolic link, or is reached through one, and none is followed here")]
    Symlink { path: PathBuf },
    #[error("{path} is larger than {max} bytes and was not read")]
    TooLarge { path: PathBuf, max: u64 },
}

impl Hint for StoreError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Io { path, source, .. } => return hint_about(path, source),
            Self::Locked { .. } => {
                "if none is running, remove nothing: the lock frees itself when its holder ends"
            }
            Self::Symlink { .. } => "replace the link by the file",
            Self::TooLarge { .. } => "make it smaller",
        };
        Some(hint.to_owned())
    }
}

pub fn hint_about(path: &Path, error: &std::io::Error) -> Option<String> {
    let path = crate::text::shell_word(&path.display().to_string());
    let hint = match error.kind() {
        std::io::ErrorKind::PermissionDenied => format!(
            "you may not do that to {path}: `ls -ld {path}` shows whose it is, and `chmod u+rw {path}` gives you the right if it is yours"
        ),
        std::io::ErrorKind::ReadOnlyFilesystem => {
            format!("{path} is on a disk that is mounted read-only")
        }
        std::io::ErrorKind::StorageFull => format!("the disk of {path} is full"),
        _ => return None,
    };
    Some(hint)
}

/// Replaces the content of a file atomically: it writes a temporary file in the same folder, syncs
/// it, renames it, and syncs the folder. The permissions of an existing file are kept. Missing
/// folders are created.
///
/// Never writes through a symbolic link, neither at the file itself nor at the folders above it (up
/// to `.orchestration`, or up to the folder below `.git`). Everything happens in one folder that is
/// held open, so it is safe even if somebody replaces that folder by a link in the meantime.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let new = NewFile::write(path, bytes)?;
    new.sync()?;
    new.replace()?;
    new.sync_folder();
    Ok(())
}

/// Replaces the content of a file atomically, without syncing it to disk. For data that may be lost
/// at any time but must never be half written.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    NewFile::write(path, bytes)?.replace()
}

/// Like [`write_scratch`], for content that nobody else may read: only the owner can enter the folder
/// and read the file afterwards, if the system has such rights.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let written = failed(path, "written");
    let (folder, _) = folder_holding(path, true).map_err(&written)?;
    folder.handle.close_to_others().map_err(&written)?;
    let new = NewFile::write(path, bytes)?;
    new.folder.handle.close_file_to_others(&new.temporary).map_err(&written)?;
    new.replace()
}

/// Replaces the content of a file if it is exactly `before`. Returns true if it did. A program that
/// ignores locks can still write between the comparison and the rename.
pub fn replace_if_same(path: &Path, before: &[u8], after: &[u8]) -> Result<bool, StoreError> {
    let new = NewFile::write(path, after)?;
    if new.replaces.as_ref().is_some_and(Permissions::readonly) {
        return Err(failed(path, "written")(ErrorKind::PermissionDenied.into()));
    }
    new.sync()?;
    let max = before.len() as u64;
    let now = new.folder.open(&new.name, Access::Read);
    match now.and_then(|mut file| folder::read_to_end(&mut file, max)) {
        Ok(now) if now == before => {}
        Ok(_) => return Ok(false),
        Err(error) if is_missing(&error) || error.kind() == ErrorKind::FileTooLarge => {
            return Ok(false);
        }
        Err(error) => return Err(failed(path, "read")(error)),
    }
    new.replace()?;
    new.sync_folder();
    Ok(true)
}

/// Creates a file only if it does not exist. Returns true if it was created.
pub fn create_new(path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
    let (folder, name) = folder_holding(path, true).map_err(failed(path, "created"))?;
    if permissions_of(&folder, name, path)?.is_some() {
        return Ok(false);
    }
    let new = NewFile::write(path, bytes)?;
    new.sync()?;
    match new.folder.handle.rename_to_new(&new.temporary, &new.name) {
        Ok(()) => {
            new.sync_folder();
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(path, "created")(error)),
    }
}

/// Opens a file for appending, and returns whether it is new. Creates the file and missing folders.
pub fn append_to(path: &Path) -> Result<(File, bool), StoreError> {
    let (folder, name) = folder_holding(path, true).map_err(failed(path, "opened"))?;
    let is_new = permissions_of(&folder, name, path)?.is_none();
    Ok((folder.open(name, Access::Append).map_err(failed(path, "opened"))?, is_new))
}

/// Returns the bytes of a file. `None` if there is none, and an error if it is not a regular file
/// or is larger than `max` bytes.
pub fn read_capped(path: &Path, max: u64) -> Result<Option<Vec<u8>>, StoreError> {
    read_from(open(path), path, max)
}

pub(super) fn read_from(
    file: std::io::Result<File>,
    path: &Path,
    max: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    match file.and_then(|mut file| folder::read_to_end(&mut file, max)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            Err(StoreError::TooLarge { path: path.to_path_buf(), max })
        }
        Err(error) => Err(failed(path, "read")(error)),
    }
}

/// Opens a regular file for reading. For files of this program no symbolic link is followed,
/// because there are none unless somebody planted them. Files of git and of people may be links.
pub fn open(path: &Path) -> std::io::Result<File> {
    let is_ours = |base: &Path| match path.strip_prefix(base) {
        Ok(below) if base.ends_with(".git") => below.iter().any(|name| name == "intent"),
        _ => true,
    };
    match trusted_folder_of(path) {
        Some(base) if is_ours(base) => {
            let (folder, name) = folder_holding(path, false)?;
            folder.open(name, Access::Read)
        }
        _ => folder::open_anywhere(path),
    }
}

/// Removes a file. Returns true if there was one. If it is a symbolic link, the link itself is
/// removed.
pub fn remove(path: &Path) -> Result<bool, StoreError> {
    match folder_holding(path, false).and_then(|(folder, name)| folder.handle.remove(name)) {
        Ok(()) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(failed(path, "removed")(error)),
    }
}

pub fn rename(from: &Path, to: &Path) -> std::io::Result<()> {
    let (folder, name) = folder_holding(from, false)?;
    folder.handle.rename(name, to.file_name().unwrap_or_default())
}

pub fn hard_link(file: &Path, second: &Path) -> std::io::Result<()> {
    let (folder, name) = folder_holding(file, false)?;
    let (other, second) = folder_holding(second, false)?;
    folder.handle.link(name, &other.handle, second)
}

#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Locks the file at `path`, which is created if it is missing. Waits for at most `patience`.
pub fn lock(path: &Path, patience: Duration) -> Result<Lock, StoreError> {
    let (file, _) = append_to(path)?;
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::Error(error)) => return Err(failed(path, "locked")(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let waited = started.elapsed();
        if waited >= patience {
            return Err(StoreError::Locked { path: path.to_path_buf(), waited });
        }
        std::thread::sleep(pause.min(patience - waited));
        // Pauses stay short, because a process that sleeps long is overtaken by those that arrive
        // later.
        pause = (pause * 2).min(Duration::from_millis(8));
    }
}

/// Returns how many names (hard links) a file has. 1 if the platform does not tell.
#[cfg(unix)]
pub fn names(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
    found.map_or(1, |found| found.nlink())
}

/// Returns 1, because the platform does not tell how many names a file has.
#[cfg(not(unix))]
pub fn names(_path: &Path) -> u64 {
    1
}

/// Reads a file as JSON. `None` if it is missing, larger than `max` bytes, or not what is expected.
pub fn read_json<T: DeserializeOwned>(path: &Path, max: u64) -> Option<T> {
    serde_json::from_slice(&read_capped(path, max).ok()??).ok()
}

pub fn write_json_scratch(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    write_scratch(path, &serde_json::to_vec(value).expect("notes always become JSON"))
}

pub fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}

/// Removes the folders above `path` that are empty now, up to `top`. A folder that is not empty
/// cannot be removed, and ends the search.
pub fn remove_empty_folders(top: &Path, path: &Path) {
    for folder in path.ancestors().skip(1) {
        if folder == top || !folder.starts_with(top) || std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Removes files from a folder: those that were last changed longer ago than `max_age`. If there are
/// more than `max_files`, any of the others are removed, too; which ones does not matter, since a
/// folder only gets so full by an error.
pub(crate) fn remove_old_files(folder: &Path, max_age: Duration, max_files: usize) {
    let is_old = |at: SystemTime| at.elapsed().is_ok_and(|age| age > max_age);
    for (nth, entry) in entries(folder).enumerate() {
        let changed = entry.metadata().and_then(|found| found.modified());
        if nth >= max_files || changed.is_ok_and(is_old) {
            // The file may be gone already, because another process may be removing old files too.
            let _ = remove(&entry.path());
        }
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the SHA-256 of a file without keeping its content in memory. `None` if it cannot be read.
pub fn sha256_of_file(mut file: File) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Returns a function that adds a path, and what was tried ("read"), to an error of the operating
/// system.
pub fn failed(path: &Path, doing: &'static str) -> impl Fn(Error) -> StoreError {
    move |source| {
        let path = path.to_path_buf();
        match folder::is_link(&source) {
            true => StoreError::Symlink { path },
            false => StoreError::Io { path, doing, source },
        }
    }
}

fn permissions_of(
    folder: &Folder,
    name: &OsStr,
    path: &Path,
) -> Result<Option<Permissions>, StoreError> {
    match folder.look(name).map_err(failed(path, "read"))? {
        Some(found) if found.is_link => Err(StoreError::Symlink { path: path.to_path_buf() }),
        found => Ok(found.map(|found| found.permissions)),
    }
}

/// Returns the folder below which every path belongs to this program, so that no symbolic link is
/// expected there. This is the folder that contains `.orchestration`, or `.git` itself, which may
/// be a link.
fn trusted_folder_of(path: &Path) -> Option<&Path> {
    let mut above = path.ancestors().skip(1);
    above.find_map(|folder| match folder.file_name()?.to_str()? {
        ".orchestration" => folder.parent(),
        ".git" => Some(folder),
        _ => None,
    })
}

/// Opens the folder of a path, and returns it with the last segment of the path. Creates missing
/// folders if `make` is true.
fn folder_holding(path: &Path, make: bool) -> std::io::Result<(Folder, &OsStr)> {
    let base = trusted_folder_of(path).or(path.parent()).unwrap_or(Path::new(""));
    if make && !base.as_os_str().is_empty() {
        std::fs::create_dir_all(base)?;
    }
    Folder::trusted(base)?.holding(path.strip_prefix(base).unwrap_or(path), make)
}

/// A temporary file with the new content, in the same folder as the file that it will replace. It
/// is removed when this is dropped.
struct NewFile<'a> {
    path: &'a Path,
    folder: Folder,
    name: OsString,
    temporary: OsString,
    file: File,
    replaces: Option<Permissions>,
}

impl<'a> NewFile<'a> {
    fn write(path: &'a Path, bytes: &[u8]) -> Result<Self, StoreError> {
        let written = failed(path, "written");
        let (folder, name) = folder_holding(path, true).map_err(&written)?;
        let replaces = permissions_of(&folder, name, path)?;
        let temporary = OsString::from(format!(".intent-{}.tmp", uuid::Uuid::new_v4().simple()));
        let file = folder.open(&temporary, Access::Create).map_err(&written)?;
        let mut new = Self { path, folder, name: name.to_owned(), temporary, file, replaces };
        new.file.write_all(bytes).map_err(&written)?;
        if let Some(permissions) = &new.replaces {
            new.file.set_permissions(permissions.clone()).map_err(&written)?;
        }
        Ok(new)
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_all().map_err(failed(self.path, "written"))
    }

    fn replace(&self) -> Result<(), StoreError> {
        let renamed = self.folder.handle.rename(&self.temporary, &self.name);
        renamed.map_err(failed(self.path, "written"))
    }

    /// Makes the rename durable, if the platform can do that. The file is complete either way.
    fn sync_folder(&self) {
        if let Err(error) = self.folder.handle.sync() {
            tracing::debug!(path = %self.path.display(), %error, "folder not synced");
        }
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        // After a successful rename there is no temporary file any more.
        let _ = self.folder.handle.remove(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c.txt");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "no temporary file stays");
    }

    #[test]
    fn a_file_is_created_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        assert!(create_new(&path, b"one").unwrap());
        assert!(!create_new(&path, b"two").unwrap());
        assert_eq!(read_capped(&path, 9).unwrap().unwrap(), b"one");
    }

    #[test]
    fn a_file_is_replaced_only_if_it_has_not_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        assert!(!replace_if_same(&path, b"", b"new").unwrap(), "there is none");
        std::fs::write(&path, "one").unwrap();
        for other in [&b"onE"[..], b"on", b"one "] {
            assert!(!replace_if_same(&path, other, b"new").unwrap());
        }
        assert!(replace_if_same(&path, b"one", b"new").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
        let mut permissions = path.metadata().unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        assert!(matches!(replace_if_same(&path, b"new", b"x"), Err(StoreError::Io { .. })));
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        assert_eq!(read_capped(&path, 3).unwrap(), None);
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(read_capped(&path, 3).unwrap().unwrap(), b"abc");
        assert!(matches!(read_capped(&path, 2), Err(StoreError::TooLarge { max: 2, .. })));
        assert_eq!(read_capped(&path.join("y"), 3).unwrap(), None, "below a file there is none");
        assert!(matches!(read_capped(dir.path(), 3), Err(StoreError::Io { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        write_atomic(&path, b"").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        std::fs::write(dir.path().join("plain"), "").unwrap();
        assert_eq!(mode(&path), mode(&dir.path().join("plain")));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_atomic(&path, b"2").unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_closed_to_others_even_in_a_folder_that_was_open() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("texts/x");
        write_atomic(&path, b"open").unwrap();
        write_private(&path, b"private").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        assert_eq!(std::fs::read(&path).unwrap(), b"private");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_not_written_through_a_link() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir_all(elsewhere.join("local")).unwrap();
        std::fs::write(elsewhere.join("file"), "old").unwrap();
        let workspaces = ["folder", "below", "leaf", "dangling"].map(|name| dir.path().join(name));
        for workspace in &workspaces {
            std::fs::create_dir_all(workspace).unwrap();
        }
        symlink(&elsewhere, workspaces[0].join(".orchestration")).unwrap();
        std::fs::create_dir_all(workspaces[1].join(".orchestration")).unwrap();
        symlink(elsewhere.join("local"), workspaces[1].join(".orchestration/local")).unwrap();
        symlink(elsewhere.join("file"), workspaces[2].join("file")).unwrap();
        symlink(elsewhere.join("new"), workspaces[3].join("file")).unwrap();
        let paths = [
            workspaces[0].join(".orchestration/file"),
            workspaces[1].join(".orchestration/local/a/file"),
            workspaces[2].join("file"),
            workspaces[3].join("file"),
        ];
        for path in &paths {
            let refused = |error| matches!(error, StoreError::Symlink { .. });
            assert!(refused(write_atomic(path, b"new").unwrap_err()), "{path:?}");
            assert!(refused(create_new(path, b"new").unwrap_err()), "{path:?}");
            assert!(refused(lock(path, Duration::ZERO).unwrap_err()), "{path:?}");
        }
        assert_eq!(std::fs::read(elsewhere.join("file")).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 2);
        assert_eq!(std::fs::read_dir(elsewhere.join("local")).unwrap().count(), 0);
    }

    #[test]
    fn a_lock_is_exclusive_and_waiting_has_a_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("intent/lock");
        let held = lock(&path, Duration::ZERO).unwrap();
        let started = Instant::now();
        let error = lock(&path, Duration::from_millis(30)).unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }), "{error}");
        assert!(started.elapsed() >= Duration::from_millis(30));
        drop(held);
        lock(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_lock_is_held_until_every_holder_releases_it() {
        let dir = tempfile::tempdir().unwrap();
        let (lock_path, counter) = (dir.path().join("lock"), dir.path().join("n"));
        std::fs::write(&counter, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let _held = lock(&lock_path, Duration::from_secs(20)).unwrap();
                        let n: u32 = std::fs::read_to_string(&counter).unwrap().parse().unwrap();
                        std::fs::write(&counter, (n + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(&counter).unwrap(), "40");
    }
}
