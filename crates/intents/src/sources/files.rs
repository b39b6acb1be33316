//! What the sources of intents may see of a workspace: folders are listed, and files are read up to
//! a limit. No symbolic link is followed, and nothing is written.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::{Arc, Mutex};

use ground::git::{ObjectId, Target};
use ground::parallel::locked_value;
use ground::{Git, RelativePath, Root};

/// A file that is larger than this, in bytes, is not read.
pub(super) const MAX_FILE: u64 = 4 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedEntry {
    pub path: RelativePath,
    pub is_folder: bool,
}

pub(super) trait SourceFiles: Sync {
    /// Returns the files and folders directly in a folder, ordered by name. There are none if it
    /// does not exist. The folder `""` is the workspace.
    fn list(&self, folder: &str) -> Vec<ListedEntry>;

    fn has_folder(&self, folder: &str) -> bool;

    /// Returns the text of a file, `None` if there is none, or why it cannot be read.
    fn read(&self, path: &RelativePath, max: u64) -> Result<Option<String>, String>;
}

pub(super) fn folders_in(files: &dyn SourceFiles, folder: &str) -> Vec<RelativePath> {
    let listed = files.list(folder).into_iter().filter(|entry| entry.is_folder);
    listed.map(|entry| entry.path).collect()
}

pub(super) fn markdown_in(files: &dyn SourceFiles, folder: &str) -> Vec<RelativePath> {
    let is_markdown =
        |entry: &ListedEntry| !entry.is_folder && entry.path.as_str().ends_with(".md");
    files.list(folder).into_iter().filter(is_markdown).map(|entry| entry.path).collect()
}

/// Reads a file that belongs to several intents, such as the constitution of a project. Returns an
/// empty text if it is missing or cannot be read.
pub(super) fn shared_text(files: &dyn SourceFiles, path: &str) -> String {
    let path = RelativePath::new(path).ok();
    path.and_then(|path| files.read(&path, MAX_FILE).ok()?).unwrap_or_default()
}

pub(super) struct WorkTreeFiles<'r> {
    root: &'r Root,
    /// Folders that are no links, and in no linked folder.
    folders: Mutex<HashSet<String>>,
}

impl<'r> WorkTreeFiles<'r> {
    pub fn new(root: &'r Root) -> Self {
        Self { root, folders: Mutex::default() }
    }
}

impl SourceFiles for WorkTreeFiles<'_> {
    fn list(&self, folder: &str) -> Vec<ListedEntry> {
        if !folder.is_empty() && !self.has_folder(folder) {
            return Vec::new();
        }
        let entries = fs::read_dir(self.root.path().join(folder)).into_iter().flatten().flatten();
        let listed = entries.filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let path = RelativePath::new(
                format!("{folder}/{}", entry.file_name().to_str()?).trim_start_matches('/'),
            );
            let entry = ListedEntry { path: path.ok()?, is_folder: kind.is_dir() };
            (kind.is_dir() || kind.is_file()).then_some(entry)
        });
        let mut listed: Vec<ListedEntry> = listed.collect();
        listed.sort_by(|a, b| a.path.cmp(&b.path));
        listed
    }

    fn has_folder(&self, folder: &str) -> bool {
        let known = || locked_value(&self.folders);
        if known().contains(folder) {
            return true;
        }
        let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let found = fs::symlink_metadata(self.root.path().join(folder));
        let is_folder =
            found.is_ok_and(|found| found.is_dir()) && (above.is_empty() || self.has_folder(above));
        is_folder && {
            known().insert(folder.to_owned());
            true
        }
    }

    fn read(&self, path: &RelativePath, max: u64) -> Result<Option<String>, String> {
        let bytes = self.root.read_rules(path, max).map_err(|error| match error {
            ground::store::StoreError::TooLarge { .. } => format!("it has more than {max} bytes"),
            ground::store::StoreError::Symlink { .. } => "it is a symbolic link".to_owned(),
            _ => "the system does not let us".to_owned(),
        })?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| "it is not UTF-8".to_owned())
    }
}

type SortedBlobs = Arc<[(RelativePath, ObjectId)]>;

/// The files of a commit or of the index. A folder at the top is listed once, with all below it.
pub(super) struct FilesAtTarget<'g> {
    git: &'g Git,
    target: &'g Target,
    listed: Mutex<HashMap<String, SortedBlobs>>,
}

impl<'g> FilesAtTarget<'g> {
    pub fn new(git: &'g Git, target: &'g Target) -> Self {
        Self { git, target, listed: Mutex::default() }
    }

    fn top_folder(&self, path: &str) -> SortedBlobs {
        let top = path.split('/').next().unwrap_or(path);
        let mut listed = locked_value(&self.listed);
        let files = listed.entry(top.to_owned()).or_insert_with(|| {
            let files = self.git.list_below(top, self.target, &|_| true);
            let mut files = files.unwrap_or_default();
            files.sort_by(|(a, _), (b, _)| a.cmp(b));
            files.into()
        });
        Arc::clone(files)
    }
}

impl SourceFiles for FilesAtTarget<'_> {
    fn list(&self, folder: &str) -> Vec<ListedEntry> {
        // Only one source looks at the whole work tree, for packages that have their own.
        if folder.is_empty() {
            return Vec::new();
        }
        let (files, prefix) = (self.top_folder(folder), format!("{folder}/"));
        let start = files.partition_point(|(path, _)| path.as_str() < prefix.as_str());
        let mut listed: Vec<ListedEntry> = Vec::new();
        for (path, _) in &files[start..] {
            let Some(rest) = path.as_str().strip_prefix(&prefix) else { break };
            let (name, is_folder) =
                rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
            let path = RelativePath::new(&format!("{prefix}{name}"));
            let entry = path.ok().map(|path| ListedEntry { path, is_folder });
            listed.extend(entry.filter(|entry| listed.last() != Some(entry)));
        }
        listed.sort_by(|a, b| a.path.cmp(&b.path));
        listed
    }

    fn has_folder(&self, folder: &str) -> bool {
        !self.list(folder).is_empty()
    }

    fn read(&self, path: &RelativePath, max: u64) -> Result<Option<String>, String> {
        let files = self.top_folder(path.as_str());
        let Ok(at) = files.binary_search_by(|(other, _)| other.cmp(path)) else { return Ok(None) };
        let bytes = self.git.blob_of(files[at].1).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > max {
            return Err(format!("it has more than {max} bytes"));
        }
        String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
    }
}
