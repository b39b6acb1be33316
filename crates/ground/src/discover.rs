//! Finds the git work tree that a folder belongs to, with a few reads from disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::resolved_links::resolve_links;
use super::{Environment, Policy, RelativePath, Root, folder, store};

/// A `.git` file, `commondir` or `.gitmodules` that is larger than this, in bytes, is ignored.
const MAX_POINTER: u64 = 256 * 1024;

/// A git work tree: its top folder and its git directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkTree {
    pub(super) top: PathBuf,
    pub(super) git_dir: PathBuf,
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
        Some(Self { top: folder.to_path_buf(), git_dir })
    }
    /// Returns the git directory that linked work trees share.
    pub(super) fn common_dir(&self) -> PathBuf {
        pointed_at(&self.git_dir.join("commondir"), "")
            .and_then(|dir| resolve_links(&dir).ok())
            .map_or_else(|| self.git_dir.clone(), |dir| dir.path)
    }
    /// Returns true if `git worktree add` made this work tree from the outer repository. The work
    /// tree and its git directory must refer to each other, and the git directory must be inside
    /// the outer repository. Otherwise anybody could fake it.
    fn is_linked_to(&self, outer: &WorkTree) -> bool {
        let back =
            pointed_at(&self.git_dir.join("gitdir"), "").and_then(|dot| resolve_links(&dot).ok());
        self.git_dir.starts_with(outer.common_dir().join("worktrees"))
            && back.is_some_and(|back| back.path == self.top.join(".git"))
    }
    fn is_submodule_of(&self, outer: &WorkTree) -> bool {
        self.git_dir.starts_with(outer.common_dir().join("modules"))
            || self
                .top
                .strip_prefix(&outer.top)
                .is_ok_and(|path| submodules(&outer.top).iter().any(|listed| path == listed))
    }
}

/// Returns the work tree that governs `start`. This is the nearest one, unless a governed work tree
/// around it still governs it. A work tree is released from an outer one if it is a linked work
/// tree or a submodule of it, or if the outer policy lists it under `nested_roots`.
pub(super) fn governing_work_tree(start: &Path, environment: &Environment) -> Option<WorkTree> {
    let mut tops = start.ancestors().filter_map(WorkTree::at_top);
    let mut chosen = tops.next()?;
    for outer in tops {
        let Some(root) = governing_folder(&outer, &chosen.top) else {
            continue;
        };
        let released = chosen.is_linked_to(&outer)
            || chosen.is_submodule_of(&outer)
            || is_nested_root(&Root::governed_at(root, environment), &chosen.top);
        if released {
            break;
        }
        chosen = outer;
    }
    Some(chosen)
}

/// Returns the outermost folder above `inner` in a work tree that contains `.orchestration/`.
fn governing_folder(outer: &WorkTree, inner: &Path) -> Option<PathBuf> {
    inner
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(&outer.top))
        .filter(|folder| folder.join(".orchestration").is_dir())
        .last()
        .map(Path::to_path_buf)
}

/// Returns true if the policy of `root` lists `folder` under `nested_roots`.
pub(super) fn is_nested_root(root: &Root, folder: &Path) -> bool {
    let Some(path) = folder.strip_prefix(root.path()).ok().and_then(Path::to_str) else {
        return false;
    };
    let path = path.replace(std::path::MAIN_SEPARATOR, "/");
    names_folder(&Policy::read(root).0.nested_roots, &path)
}

/// The folders of a workspace that are the roots of nested workspaces.
pub(super) struct NestedRoots {
    root: PathBuf,
    entries: Vec<String>,
    known: HashMap<String, bool>,
}

impl NestedRoots {
    /// Reads them from the policy of `root`. A broken policy lists none.
    pub(super) fn from_policy_of(root: &Root) -> Self {
        let entries = Policy::read(root).0.nested_roots;
        Self { root: root.path().to_path_buf(), entries, known: HashMap::new() }
    }
    pub(super) fn hold(&mut self, path: &RelativePath) -> bool {
        !self.entries.is_empty() && path.folders().any(|folder| self.starts_at(folder))
    }
    fn starts_at(&mut self, folder: &str) -> bool {
        if let Some(known) = self.known.get(folder) {
            return *known;
        }
        let starts = names_folder(&self.entries, folder)
            && self.root.join(folder).join(".orchestration").is_dir();
        self.known.insert(folder.to_owned(), starts);
        starts
    }
}

/// Returns true if the entries of `nested_roots` list a folder. The last entry that matches
/// decides. An entry with `!` excludes folders, and a trailing `/` means the folder and everything
/// below it.
fn names_folder(entries: &[String], folder: &str) -> bool {
    let last = entries.iter().rev().find(|entry| entry_matches(entry, folder));
    last.is_some_and(|entry| !entry.starts_with('!'))
}

fn entry_matches(entry: &str, folder: &str) -> bool {
    let entry = entry.strip_prefix('!').unwrap_or(entry);
    let bare = entry.strip_suffix('/').unwrap_or(entry);
    if bare == folder || glob_matches(bare, folder) {
        return true;
    }
    entry.ends_with('/') && glob_matches(&format!("{bare}/**"), folder)
}

fn glob_matches(glob: &str, path: &str) -> bool {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
        .is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

pub(super) fn bare_repository_above(start: &Path) -> Option<PathBuf> {
    let looks_bare = |folder: &&Path| {
        folder.join("HEAD").is_file()
            && folder.join("objects").is_dir()
            && folder.join("refs").is_dir()
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

/// Returns the paths that `.gitmodules` lists.
fn submodules(top: &Path) -> Vec<PathBuf> {
    let file = folder::open_below(top, ".gitmodules".as_ref());
    let Ok(bytes) = file.and_then(|mut file| folder::read_to_end(&mut file, MAX_POINTER)) else {
        return Vec::new();
    };
    String::from_utf8_lossy(&bytes)
        .lines()
        .filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            key.trim().eq_ignore_ascii_case("path").then(|| value.trim().trim_matches('"').into())
        })
        .collect()
}
