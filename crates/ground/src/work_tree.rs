//! The work trees of git: where one begins, where its git directory is, and which others belong to it.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::resolved_links::resolve_links;
use super::{folder, store};

/// A `.git` file, `commondir` or `.gitmodules` that is larger than this, in bytes, is ignored.
const MAX_POINTER: u64 = 256 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkTree {
    pub(super) top: PathBuf,
    pub(super) git_dir: PathBuf,
    /// The git directory of the main work tree, which is the same one unless this is a linked tree.
    pub(super) common_dir: PathBuf,
}

impl WorkTree {
    /// Returns the work tree whose top is `folder`. `None` if there is no `.git`, or if it is not a
    /// git directory, so that an empty `.git` does not hide an outer repository.
    pub(super) fn at_top(folder: &Path) -> Option<Self> {
        let dot_git = folder.join(".git");
        let kind = std::fs::metadata(&dot_git).ok()?;
        let git_dir = if kind.is_dir() { dot_git } else { pointed_at(&dot_git, "gitdir: ")? };
        let git_dir = resolve_links(&git_dir).ok()?.path;
        let head = git_dir.join("HEAD");
        // In repositories made by very old versions of git, HEAD may be a (dangling) symbolic link.
        std::fs::symlink_metadata(head).ok()?;
        let common_dir = pointed_at(&git_dir.join("commondir"), "")
            .and_then(|dir| resolve_links(&dir).ok())
            .map_or_else(|| git_dir.clone(), |dir| dir.path);
        Some(Self { top: folder.to_path_buf(), git_dir, common_dir })
    }
    /// Returns true if `git worktree add` made this work tree from the outer repository. The work
    /// tree and its git directory must refer to each other, and the git directory must be inside
    /// the outer repository. Otherwise anybody could fake it.
    pub(super) fn is_linked_to(&self, outer: &WorkTree) -> bool {
        let back =
            pointed_at(&self.git_dir.join("gitdir"), "").and_then(|dot| resolve_links(&dot).ok());
        self.git_dir.starts_with(outer.common_dir.join("worktrees"))
            && back.is_some_and(|back| back.path == self.top.join(".git"))
    }
    pub(super) fn is_submodule_of(&self, outer: &WorkTree) -> bool {
        self.git_dir.starts_with(outer.common_dir.join("modules"))
            || self
                .top
                .strip_prefix(&outer.top)
                .is_ok_and(|path| submodules(&outer.top).iter().any(|listed| path == listed))
    }
}

pub(super) fn bare_repository_above(start: &Path) -> Option<PathBuf> {
    let looks_bare = |folder: &&Path| {
        let has = |name: &str| folder.join(name).is_dir();
        folder.join("HEAD").is_file() && has("objects") && has("refs")
    };
    start.ancestors().find(looks_bare).map(Path::to_path_buf)
}

/// Returns the path that a pointer file (`.git`, `commondir`, `gitdir`) contains. A relative path
/// is relative to the folder of the file.
pub(super) fn pointed_at(file: &Path, label: &str) -> Option<PathBuf> {
    let bytes = store::read_capped(file, MAX_POINTER).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    let named = text.strip_prefix(label)?.trim_end_matches(['\n', '\r']);
    if named.is_empty() {
        return None;
    }
    Some(file.parent()?.join(named))
}

fn submodules(top: &Path) -> Vec<PathBuf> {
    let bytes = folder::read_below(top, ".gitmodules".as_ref(), MAX_POINTER).unwrap_or_default();
    let Ok(file) = gix::config::File::try_from(bytes.as_bstr()) else { return Vec::new() };
    let sections = file.sections_by_name("submodule").into_iter().flatten();
    sections.filter_map(|section| Some(section.value("path")?.to_string().into())).collect()
}
