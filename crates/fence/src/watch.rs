//! Detects whether files that the fence protects were changed.
//!
//! A read-only file in a writable folder loses its protection when somebody outside replaces it.
//! This cannot be prevented, but it is detected afterwards.

use std::path::PathBuf;
use std::time::SystemTime;

/// The state of a file. Two states differ if the file was replaced or changed in between.
type WatchedState = Option<(u64, Option<SystemTime>, [u64; 3])>;

#[derive(Debug, Default)]
pub struct Watched(Vec<(PathBuf, WatchedState)>);

impl Watched {
    pub fn now(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let with_state = |path: PathBuf| {
            let state = state(&path);
            (path, state)
        };
        Self(paths.into_iter().map(with_state).collect())
    }

    pub fn changed(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().filter(|(path, before)| state(path) != *before).map(|(path, _)| path)
    }
}

#[cfg(unix)]
fn state(path: &PathBuf) -> WatchedState {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(path).ok()?;
    let changed =
        found.ctime().cast_unsigned() ^ found.ctime_nsec().cast_unsigned().rotate_left(32);
    Some((found.len(), found.modified().ok(), [found.dev(), found.ino(), changed]))
}

#[cfg(not(unix))]
fn state(path: &PathBuf) -> WatchedState {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.len(), found.modified().ok(), [0; 3]))
}
