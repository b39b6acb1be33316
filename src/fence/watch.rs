//! Whether files that the fence keeps as they are stayed as they were.
//!
//! A read-only file in a folder that may be written loses its protection when somebody outside puts another file in its
//! place. That cannot be prevented, but it is seen afterwards.

use std::path::PathBuf;
use std::time::SystemTime;

/// What tells one state of a file from another.
type State = Option<(u64, Option<SystemTime>, [u64; 3])>;

/// Files, and how they stood.
#[derive(Debug, Default)]
pub(crate) struct Watched(Vec<(PathBuf, State)>);

impl Watched {
    /// How the files stand now.
    pub(crate) fn now(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let with_state = |path: PathBuf| {
            let state = state(&path);
            (path, state)
        };
        Self(paths.into_iter().map(with_state).collect())
    }

    /// The files that were replaced, removed or made since.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().filter(|(path, before)| state(path) != *before).map(|(path, _)| path)
    }
}

#[cfg(unix)]
fn state(path: &PathBuf) -> State {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(path).ok()?;
    let changed =
        found.ctime().cast_unsigned() ^ found.ctime_nsec().cast_unsigned().rotate_left(32);
    Some((found.len(), found.modified().ok(), [found.dev(), found.ino(), changed]))
}

#[cfg(not(unix))]
fn state(path: &PathBuf) -> State {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.len(), found.modified().ok(), [0; 3]))
}
