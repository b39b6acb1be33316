//! What the sources of intents may see of a workspace: folders are listed, and files are read up to
//! a limit. No symbolic link is followed, and nothing is written.

use std::fs;

use ground::cache::FileState;
use ground::git::Target;
use ground::{Git, RelativePath, Root};

/// An entry of a folder that is a regular file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedEntry {
    pub path: RelativePath,
    pub is_folder: bool,
}

pub(super) trait SourceFiles {
    /// Returns the files and folders directly in a folder, ordered by name. There are none if it
    /// does not exist. The folder `""` is the workspace.
    fn list(&self, folder: &str) -> Vec<ListedEntry>;

    /// Returns true if a folder exists.
    fn has_folder(&self, folder: &str) -> bool;

    /// Returns the text of a file, `None` if there is none, or why it cannot be read.
    fn read(&self, path: &RelativePath, max: u64) -> Result<Option<String>, String>;

    /// Returns the state of a file, to know whether it must be read again.
    fn state(&self, path: &RelativePath) -> FileState;
}

/// Returns the folders directly in a folder.
pub(super) fn folders_in(files: &dyn SourceFiles, folder: &str) -> Vec<RelativePath> {
    let listed = files.list(folder).into_iter().filter(|entry| entry.is_folder);
    listed.map(|entry| entry.path).collect()
}

/// Returns the Markdown files directly in a folder.
pub(super) fn markdown_in(files: &dyn SourceFiles, folder: &str) -> Vec<RelativePath> {
    let is_markdown =
        |entry: &ListedEntry| !entry.is_folder && entry.path.as_str().ends_with(".md");
    files.list(folder).into_iter().filter(is_markdown).map(|entry| entry.path).collect()
}

/// Returns the text of a file that many units share, or an empty one.
pub(super) fn shared_text(files: &dyn SourceFiles, path: &str, max: u64) -> String {
    let path = RelativePath::new(path).ok();
    path.and_then(|path| files.read(&path, max).ok()?).unwrap_or_default()
}

impl SourceFiles for Root {
    fn list(&self, folder: &str) -> Vec<ListedEntry> {
        if !folder.is_empty() && !self.has_folder(folder) {
            return Vec::new();
        }
        let entries = fs::read_dir(self.path().join(folder)).into_iter().flatten().flatten();
        let listed = entries.filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let path = RelativePath::new(
                &format!("{folder}/{}", entry.file_name().to_str()?).trim_start_matches('/'),
            );
            let entry = ListedEntry { path: path.ok()?, is_folder: kind.is_dir() };
            (kind.is_dir() || kind.is_file()).then_some(entry)
        });
        let mut listed: Vec<ListedEntry> = listed.collect();
        listed.sort_by(|a, b| a.path.cmp(&b.path));
        listed
    }

    fn has_folder(&self, folder: &str) -> bool {
        let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
        let is_folder = |end: usize| {
            fs::symlink_metadata(self.path().join(&folder[..end])).is_ok_and(|found| found.is_dir())
        };
        { ends }.all(is_folder)
    }

    fn read(&self, path: &RelativePath, max: u64) -> Result<Option<String>, String> {
        let bytes = self.read_rules(path, max).map_err(|error| match error {
            ground::store::StoreError::TooLarge { .. } => format!("it has more than {max} bytes"),
            ground::store::StoreError::Symlink { .. } => "it is a symbolic link".to_owned(),
            _ => "the system does not let us".to_owned(),
        })?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| "it is not UTF-8".to_owned())
    }

    fn state(&self, path: &RelativePath) -> FileState {
        FileState::of_file(&self.absolute(path))
    }
}

/// The files of a commit or of the index.
pub(super) struct FilesAtTarget<'g> {
    pub git: &'g Git,
    pub target: &'g Target,
}

impl SourceFiles for FilesAtTarget<'_> {
    fn list(&self, folder: &str) -> Vec<ListedEntry> {
        // Only one source looks at the whole work tree, for packages that have their own.
        if folder.is_empty() {
            return Vec::new();
        }
        let below = self.git.list_below(folder, self.target, &|path| {
            path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        });
        let mut listed: Vec<ListedEntry> = Vec::new();
        for (path, _) in below.unwrap_or_default() {
            let rest = &path.as_str()[folder.len() + 1..];
            let (name, is_folder) =
                rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
            let entry = RelativePath::new(&format!("{folder}/{name}"));
            listed.extend(entry.map(|path| ListedEntry { path, is_folder }));
        }
        listed.sort_by(|a, b| a.path.cmp(&b.path));
        listed.dedup();
        listed
    }

    fn has_folder(&self, folder: &str) -> bool {
        !self.list(folder).is_empty()
    }

    fn read(&self, path: &RelativePath, max: u64) -> Result<Option<String>, String> {
        let text = self.git.text(self.target, path).map_err(|error| error.to_string())?;
        match text {
            Some(text) if text.len() as u64 > max => Err(format!("it has more than {max} bytes")),
            text => Ok(text),
        }
    }

    fn state(&self, _: &RelativePath) -> FileState {
        FileState::Unsettled
    }
}
