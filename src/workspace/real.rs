//! Where a path really leads, for files that exist and for those that do not yet.
//!
//! The standard library resolves links only of files that exist. An agent is about to
//! create its file, and a dangling link decides where; so the walk is done here.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// As many as Linux follows before it answers `ELOOP`.
const MAX_LINKS: usize = 40;

/// A path after every link that exists on it was followed.
#[derive(Debug)]
pub(super) struct Real {
    /// Absolute, without `.`, `..` and links.
    pub path: PathBuf,
    /// A file stands where the path needs a folder.
    pub through_file: bool,
    /// The folders in which links that were followed stand, in the order of the walk.
    pub link_folders: Vec<PathBuf>,
}

/// Follows the absolute `path` as the operating system would, and keeps what does not exist as it is written.
///
/// Fails where a folder on the way cannot be read, or links turn in a circle.
pub(super) fn real(path: &Path) -> std::io::Result<Real> {
    let mut rest: Vec<PathStep> = steps(path);
    let mut out = Real { path: PathBuf::new(), through_file: false, link_folders: Vec::new() };
    while let Some(step) = rest.pop() {
        let name = match step {
            PathStep::Start(start) => {
                out.path = start;
                continue;
            }
            PathStep::Up => {
                out.path.pop();
                continue;
            }
            PathStep::Into(name) => name,
        };
        let next = out.path.join(&name);
        match std::fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                if out.link_folders.len() == MAX_LINKS {
                    return Err(std::io::Error::other("too many symbolic links, or a circle"));
                }
                let target = std::fs::read_link(&next)?;
                out.link_folders.push(out.path.clone());
                rest.extend(steps(&target));
            }
            Ok(_) => out.path = next,
            Err(error) if error.kind() == ErrorKind::NotFound => out.path = next,
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                out.through_file = true;
                out.path = next;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(out)
}

enum PathStep {
    Start(PathBuf),
    Up,
    Into(OsString),
}

/// The steps of a path, the first one last.
fn steps(path: &Path) -> Vec<PathStep> {
    let mut start = PathBuf::new();
    let mut steps = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => start.push(component),
            Component::CurDir => {}
            Component::ParentDir => steps.push(PathStep::Up),
            Component::Normal(name) => steps.push(PathStep::Into(name.to_owned())),
        }
    }
    if !start.as_os_str().is_empty() {
        steps.insert(0, PathStep::Start(start));
    }
    steps.reverse();
    steps
}

/// The absolute `path` with `.` and `..` resolved by its text alone.
pub(super) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
