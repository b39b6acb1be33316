//! Resolves the symbolic links in a path, also if the file does not exist yet.
//!
//! The standard library resolves links only for files that exist. The gate has to know where an
//! agent's new file will be, which a dangling link can decide, so this module resolves links by
//! itself.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The limit that Linux has before it returns `ELOOP`.
const MAX_LINKS: usize = 40;

#[derive(Debug)]
pub(super) struct ResolvedPath {
    /// The absolute path, without `.`, `..` and symbolic links.
    pub path: PathBuf,
    pub through_file: bool,
    /// The folders that contain the links that were followed, in the order in which they were
    /// found.
    pub link_folders: Vec<PathBuf>,
}

/// Follows the symbolic links in the absolute `path` as the operating system would. Parts that do
/// not exist are kept as written.
///
/// Returns an error if a folder on the way cannot be read, or if the links form a circle.
pub(super) fn resolve_links(path: &Path) -> std::io::Result<ResolvedPath> {
    resolve_links_below(PathBuf::new(), path)
}

/// Like [`resolve_links`], for a `path` relative to a folder that is resolved already.
pub(super) fn resolve_links_below(folder: PathBuf, path: &Path) -> std::io::Result<ResolvedPath> {
    let mut rest = steps(path);
    let mut out = ResolvedPath { path: folder, through_file: false, link_folders: Vec::new() };
    while let Some(step) = rest.pop() {
        let next = out.path.join(&step);
        match Path::new(&step).components().next() {
            Some(Component::Normal(_)) => {}
            Some(Component::ParentDir) => {
                out.path.pop();
                continue;
            }
            // The step is the root, or a drive.
            _ => {
                out.path = next;
                continue;
            }
        }
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

fn steps(path: &Path) -> Vec<OsString> {
    let steps = path.components().rev().filter(|step| *step != Component::CurDir);
    steps.map(|step| step.as_os_str().to_owned()).collect()
}

/// Resolves `.` and `..` in the absolute `path` without looking at the disk.
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
