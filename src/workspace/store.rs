//! Files that must not be half written: atomic replacement, locks, clocks.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

/// Why a file could not be written or locked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system said no.
    #[error("{path} could not be {doing}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: "read", "written", "locked".
        doing: &'static str,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// Somebody else held the lock for too long.
    #[error("{path} is locked by another process for over {} s; if none is running, remove nothing: the lock frees itself when its holder ends", .waited.as_secs())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// For how long it was asked for.
        waited: Duration,
    },
    /// The path, or a folder above it inside the workspace, is a symbolic link.
    #[error("{path} is a symbolic link; refusing to write through it")]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// The file is larger than anything we would have written.
    #[error("{path} is larger than {max} bytes and was not read; make it smaller")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        max: u64,
    },
}

/// Replaces a file as a whole: temporary file beside it, fsync, rename, fsync of the folder. Keeps the permissions of an existing file. Creates missing folders.
///
/// Refuses to write through a link: the file itself, and the folders above it up to `.orchestration`
/// or up to below `.git`. A folder swapped for a link between this check and the rename is not noticed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let existing = no_link(path)?;
    let (file, folder) = temporary(path, bytes, existing.as_ref())?;
    sync(&file, path)?;
    file.persist(path).map_err(|error| io(path, "written", error.error))?;
    sync_folder(folder);
    Ok(())
}

/// Replaces a file as a whole without waiting for the disk: for what may be lost at any time, and is never half written.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let existing = no_link(path)?;
    let (file, _) = temporary(path, bytes, existing.as_ref())?;
    file.persist(path).map_err(|error| io(path, "written", error.error))?;
    Ok(())
}

/// Replaces a file as a whole if it holds exactly `before`; whether it did. One that takes no lock can still write between
/// the last look and the rename.
pub fn replace_if_same(path: &Path, before: &[u8], after: &[u8]) -> Result<bool, StoreError> {
    let existing = no_link(path)?;
    if existing.as_ref().is_some_and(|existing| existing.permissions().readonly()) {
        return Err(io(path, "written", ErrorKind::PermissionDenied.into()));
    }
    let (file, folder) = temporary(path, after, existing.as_ref())?;
    sync(&file, path)?;
    match read_capped(path, before.len() as u64) {
        Ok(Some(now)) if now == before => {}
        Ok(_) | Err(StoreError::TooLarge { .. }) => return Ok(false),
        Err(error) => return Err(error),
    }
    file.persist(path).map_err(|error| io(path, "written", error.error))?;
    sync_folder(folder);
    Ok(true)
}

/// Creates a file only when it does not exist; whether it was created.
pub fn create_new(path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
    if no_link(path)?.is_some() {
        return Ok(false);
    }
    let (file, folder) = temporary(path, bytes, None)?;
    sync(&file, path)?;
    match file.persist_noclobber(path) {
        Ok(_) => {
            sync_folder(folder);
            Ok(true)
        }
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(io(path, "created", error.error)),
    }
}

/// A file's bytes; `None` where there is none, an error where it is no regular file or holds more than `max` bytes.
pub fn read_capped(path: &Path, max: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(io(path, "read", error)),
    };
    if !found.is_file() {
        // Opening a pipe or a device could wait for ever.
        let error = std::io::Error::other("it is not a regular file");
        return Err(io(path, "read", error));
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(io(path, "read", error)),
    };
    let mut bytes = Vec::with_capacity(usize::try_from(found.len().min(max)).unwrap_or(0) + 1);
    file.take(max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| io(path, "read", error))?;
    if bytes.len() as u64 > max {
        return Err(StoreError::TooLarge { path: path.to_path_buf(), max });
    }
    Ok(Some(bytes))
}

/// Removes a file; whether there was one. A link is removed itself, never what it points to.
pub fn remove(path: &Path) -> Result<bool, StoreError> {
    no_link_above(path)?;
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(io(path, "removed", error)),
    }
}

/// An exclusive lock, freed on drop.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Locks the file at `path` (created if missing), waiting up to `patience`.
pub fn lock(path: &Path, patience: Duration) -> Result<Lock, StoreError> {
    no_link(path)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| io(path, "created", error))?;
    }
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|error| io(path, "opened for locking", error))?;
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::Error(error)) => return Err(io(path, "locked", error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let waited = started.elapsed();
        if waited >= patience {
            return Err(StoreError::Locked { path: path.to_path_buf(), waited });
        }
        std::thread::sleep(pause.min(patience - waited));
        // Who sleeps long is passed by all who come meanwhile.
        pause = (pause * 2).min(Duration::from_millis(8));
    }
}

/// Now, RFC 3339 in UTC with milliseconds: `2026-02-18T12:00:00.000Z`.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Under how many names (hard links) a file stands; 1 where the platform does not say.
pub fn names(path: &Path) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::symlink_metadata(path).ok().filter(Metadata::is_file);
        found.map_or(1, |found| found.nlink())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        1
    }
}

/// The time so long from now, as [`now`] writes it.
pub fn from_now(wait: Duration) -> String {
    let now = jiff::Timestamp::now();
    now.checked_add(wait).unwrap_or(now).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The SHA-256 of bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(bytes))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// So many hours before now, in the form of [`now`].
pub fn hours_ago(hours: i64) -> String {
    let now = jiff::Timestamp::now();
    let then = now.checked_sub(jiff::SignedDuration::from_hours(hours)).unwrap_or(now);
    then.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A time as [`now`] writes it, in milliseconds since 1970.
pub fn milliseconds(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(|time| time.as_millisecond())
}

fn io(path: &Path, doing: &'static str, source: std::io::Error) -> StoreError {
    StoreError::Io { path: path.to_path_buf(), doing, source }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The file's metadata, if it exists; an error where it, or a folder of ours above it, is a link.
fn no_link(path: &Path) -> Result<Option<Metadata>, StoreError> {
    no_link_above(path)?;
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(StoreError::Symlink { path: path.to_path_buf() }),
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(io(path, "read", error)),
    }
}

/// Looks at the folders that we own: up to and including `.orchestration`, or below `.git` (which people do link).
fn no_link_above(path: &Path) -> Result<(), StoreError> {
    let named = |folder: &Path, name: &str| folder.file_name().is_some_and(|found| found == name);
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    let ours = if let Some(at) = above.iter().position(|folder| named(folder, ".orchestration")) {
        &above[..=at]
    } else if let Some(at) = above.iter().position(|folder| named(folder, ".git")) {
        &above[..at]
    } else {
        &[]
    };
    match ours.iter().find(|folder| folder.is_symlink()) {
        Some(link) => Err(StoreError::Symlink { path: link.to_path_buf() }),
        None => Ok(()),
    }
}

/// A written temporary file beside `path`, and the folder both are in.
fn temporary<'a>(
    path: &'a Path,
    bytes: &[u8],
    existing: Option<&Metadata>,
) -> Result<(NamedTempFile, &'a Path), StoreError> {
    let written = |error| io(path, "written", error);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(written)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".intent-").suffix(".tmp");
    let permissions = new_file_permissions();
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder).map_err(written)?;
    file.write_all(bytes).map_err(written)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions()).map_err(written)?;
    }
    Ok((file, folder))
}

fn sync(file: &NamedTempFile, path: &Path) -> Result<(), StoreError> {
    file.as_file().sync_all().map_err(|error| io(path, "written", error))
}

/// What other programs would give a new file; the umask takes its share.
#[cfg(unix)]
fn new_file_permissions() -> Option<std::fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(std::fs::Permissions::from_mode(0o666))
}
#[cfg(not(unix))]
fn new_file_permissions() -> Option<std::fs::Permissions> {
    None
}

/// Makes the rename itself durable where the platform can; the file is whole either way.
fn sync_folder(folder: &Path) {
    if cfg!(unix)
        && let Err(error) = File::open(folder).and_then(|folder| folder.sync_all())
    {
        tracing::debug!(folder = %folder.display(), %error, "folder not synced");
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
    fn a_file_is_replaced_only_while_it_is_what_it_was() {
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
    fn reading_knows_its_limit() {
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
    fn permissions_stay() {
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
    fn nothing_is_written_through_a_link() {
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
    fn a_lock_is_exclusive_and_patience_ends() {
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
    fn a_lock_counts_every_holder() {
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

    #[test]
    fn the_time_is_written_in_one_form() {
        let now = now();
        assert_eq!(now.len(), "2026-02-18T12:00:00.000Z".len(), "{now}");
        assert!(now.parse::<jiff::Timestamp>().is_ok(), "{now}");
        assert_eq!(&now[19..20], ".");
        assert!(now.ends_with('Z'));
    }
}
