//! The workspaces inside a workspace, which its policy lists under `nested_roots`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::{Policy, RelativePath, Root};

pub(super) fn is_nested_root(root: &Root, folder: &Path) -> bool {
    let Some(path) = folder.strip_prefix(root.path()).ok().and_then(Path::to_str) else {
        return false;
    };
    let path = path.replace(std::path::MAIN_SEPARATOR, "/");
    names_folder(&Policy::load(root).0.nested_roots, &path)
}

pub(super) struct NestedRoots {
    root: PathBuf,
    entries: Vec<String>,
    known: HashMap<String, bool>,
}

impl NestedRoots {
    pub(super) fn from_policy_of(root: &Root) -> Self {
        let entries = Policy::load(root).0.nested_roots;
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
    let glob = GlobBuilder::new(glob).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
}
