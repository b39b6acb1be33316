//! The registry: the intents of the list, and of the files that hold one intent each.

use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

use super::file::{self, FOLDER, IntentFile, MAX_BYTES, single_id};
use super::{Intent, Scope, Status};
use crate::workspace::git::{GitError, Target};
use crate::workspace::{Finding, Git, RelativePath, Root};

/// Where a registry is written, and looked for first.
pub(crate) const CANONICAL_PATH: &str = ".orchestration/active_intents.yaml";

/// Where registries have been found, in the order in which they are looked for.
const PLACES: [&str; 16] = [
    CANONICAL_PATH,
    ".orchestration/active_intents.yml",
    ".orchestration/active_intents.json",
    ".orchestration/intents.yaml",
    ".orchestration/intents.yml",
    ".orchestration/intents.json",
    ".orchestration/Artifacts/active_intents.yaml",
    ".orchestration/Artifacts/active_intents.yml",
    ".orchestration/Artifacts/active_intents.json",
    ".orchestration/Artifacts/intents.yaml",
    ".orchestration/Artifacts/intents.json",
    "active_intents.yaml",
    "active_intents.yml",
    "active_intents.json",
    ".orchestration/intent_specs.json",
    "intent_specs.json",
];

/// All intents of a workspace: those of `.orchestration/active_intents.yaml`, and those of `.orchestration/intents/<ID>.yaml`.
#[derive(Debug)]
pub struct Registry {
    /// The list first, then the files of one intent each, by path.
    files: Vec<Arc<IntentFile>>,
    /// Whether new intents get a file each.
    folder: bool,
    /// Of all files, where there are several.
    intents: OnceLock<Vec<Intent>>,
}

impl Registry {
    /// Finds and reads a workspace's registry: `.orchestration/active_intents.yaml`, else `.yml`, `.json`, and the other places of the wild; a missing file is an empty list at the canonical path. Beside it every file of `.orchestration/intents/`.
    ///
    /// A file that is there but cannot be read is one with a [`Registry::syntax_error`]: nothing else takes its place.
    pub fn load(root: &Root) -> Self {
        let places = PLACES.iter().filter_map(|place| RelativePath::new(place).ok());
        let standing = { places }.find(|path| fs::symlink_metadata(root.absolute(path)).is_ok());
        let list = match standing {
            Some(path) => IntentFile::standing(root, path),
            None => Self::no_list(),
        };
        let mut files = vec![list];
        let folder = read_folder(root, &mut files);
        Self { folder, ..Self::of(files) }
    }

    /// Reads a text that is a registry by itself. Never fails: a text that does not parse has no intents and a [`Registry::syntax_error`].
    pub fn parse(path: RelativePath, text: &str) -> Self {
        Self::of(vec![IntentFile::parse(path, text)])
    }

    /// The registry that files with these texts make, the list first.
    pub(crate) fn of_texts<'a>(texts: impl Iterator<Item = (RelativePath, &'a str)>) -> Self {
        let mut files: Vec<_> = texts.map(|(path, text)| IntentFile::parse(path, text)).collect();
        if files.first().is_none_or(|first| single_id(first.path()).is_some()) {
            files.insert(0, Self::no_list());
        }
        Self::of(files)
    }

    /// The registry as a commit or the index has it, its list found as in a work tree.
    pub fn at(git: &Git, target: &Target) -> Result<Self, GitError> {
        let read = |(path, blob)| {
            let Some(blob) = blob else { return Ok(IntentFile::conflicting(path)) };
            let text = git.blob_of(blob)?;
            Ok(IntentFile::parse(path, &String::from_utf8_lossy(&text)))
        };
        let found = git.blobs(target, &[&PLACES[..], &[FOLDER]].concat())?;
        let (singles, rest): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(path, _)| single_id(path).is_some());
        let list = rest.into_iter().find(|(path, _)| PLACES.contains(&path.as_str()));
        let mut files = vec![list.map(read).transpose()?.unwrap_or_else(Self::no_list)];
        for single in singles {
            files.push(read(single)?);
        }
        Ok(Self::of(files))
    }

    fn no_list() -> IntentFile {
        IntentFile::unread(constant(CANONICAL_PATH), "")
    }

    /// Of these files, the list first.
    pub(crate) fn of(files: Vec<IntentFile>) -> Self {
        let files = files.into_iter().map(Arc::new).collect();
        Self { files, folder: false, intents: OnceLock::new() }
    }

    /// The same registry with another text of one of its files, or with a file more.
    pub fn with(&self, path: &RelativePath, text: &str) -> Self {
        let file = Arc::new(IntentFile::parse(path.clone(), text));
        let mut files = self.files.clone();
        match files.iter().position(|known| known.path() == path) {
            Some(at) => files[at] = file,
            None => files.push(file),
        }
        Self { files, folder: self.folder, intents: OnceLock::new() }
    }

    /// The files that were read, the list first; it may not exist.
    pub fn files(&self) -> &[Arc<IntentFile>] {
        &self.files
    }
    /// The list.
    pub fn list(&self) -> &Arc<IntentFile> {
        &self.files[0]
    }
    /// One of the files.
    pub fn file(&self, path: &RelativePath) -> Option<&Arc<IntentFile>> {
        self.files.iter().find(|file| file.path() == path)
    }
    /// Whether intents are read from a file at this path.
    pub fn holds(&self, path: &RelativePath) -> bool {
        path == self.path() || single_id(path).is_some()
    }
    /// Whether a file at this path may be a registry, or a part of one.
    pub fn is_place(path: &RelativePath) -> bool {
        PLACES.contains(&path.as_str()) || single_id(path).is_some()
    }
    /// The same registry once more, to stand for another moment.
    pub fn again(&self) -> Self {
        Self { files: self.files.clone(), folder: self.folder, intents: OnceLock::new() }
    }
    /// The same registry, where new intents are written into the list.
    pub(crate) fn without_folder(&self) -> Self {
        Self { files: self.files.clone(), folder: false, intents: OnceLock::new() }
    }
    /// Whether new intents get a file each, for the folder of such files is there.
    pub(crate) fn has_folder(&self) -> bool {
        self.folder
    }
    /// Where the list stands.
    pub fn path(&self) -> &RelativePath {
        self.list().path()
    }
    /// The text of the list.
    pub fn text(&self) -> &Arc<str> {
        self.list().text()
    }
    /// Whether any of its files exists.
    pub fn exists(&self) -> bool {
        self.files.iter().any(|file| file.exists())
    }
    /// Whether both are written in the same files with the same texts.
    pub fn same_text(&self, other: &Self) -> bool {
        let texts = |registry: &Self| {
            let files = registry.files.iter().filter(|file| file.exists());
            files.map(|file| (file.path().clone(), Arc::clone(file.text()))).collect::<Vec<_>>()
        };
        texts(self) == texts(other)
    }
    /// Why it does not parse: what is wrong with the first of its files that does not.
    pub fn syntax_error(&self) -> Option<&Finding> {
        self.files.iter().find_map(|file| file.syntax_error())
    }
    /// An `active_intent_id` that a dialect keeps in the registry itself.
    pub fn selected_in_file(&self) -> Option<&str> {
        self.list().selected_in_file()
    }

    /// In the order of the files.
    pub fn intents(&self) -> &[Intent] {
        match &self.files[..] {
            [list] => list.intents(),
            files => self
                .intents
                .get_or_init(|| files.iter().flat_map(|file| file.intents()).cloned().collect()),
        }
    }
    /// The intent with this id; else the one that had it before it was renamed. `None` where several have it.
    pub fn get(&self, id: &str) -> Option<&Intent> {
        self.place(id).map(|(_, intent)| intent)
    }
    /// What an intent says, as a hash, and its status. `None` if there is no such intent.
    pub fn version(&self, id: &str) -> Option<(String, Option<Status>)> {
        let intent = self.get(id)?;
        Some((intent.hash(), intent.status.as_ref().map(|status| status.value)))
    }
    /// The same with the file in which it stands.
    pub fn place(&self, id: &str) -> Option<(&Arc<IntentFile>, &Intent)> {
        let (file, at) = self.source(self.position(id)?);
        Some((file, file.one(at)))
    }
    /// The id that an intent goes by now, for any that it had; an id that nobody has or had is itself.
    pub fn present_id<'a>(&'a self, id: &'a str) -> &'a str {
        self.get(id).map_or(id, |intent| &intent.id.value)
    }
    /// Every id under which an intent may have been recorded, for any of them, the present one first; an id that
    /// nobody has or had is alone.
    pub fn ids<'a>(&'a self, id: &'a str) -> Vec<&'a str> {
        let Some(at) = self.position(id) else { return vec![id] };
        let (file, index) = self.source(at);
        let intent = file.one(index);
        let mut ids = vec![intent.id.value.as_str()];
        for former in intent.formerly.iter().map(|former| former.value.as_str()) {
            if !ids.contains(&former) && self.position(former) == Some(at) {
                ids.push(former);
            }
        }
        ids
    }
    /// Where an id that two intents have, or had, is nobody's: which of them a record means cannot be known.
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        match self.positions(id)[..] {
            [only] => Some(only),
            [] => match self.formerly(id)[..] {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        }
    }
    /// The indices of the intents with this id.
    pub(crate) fn positions(&self, id: &str) -> Vec<usize> {
        self.indices(|file| file.positions(id))
    }
    /// The indices of the intents that had this id before.
    pub(crate) fn formerly(&self, id: &str) -> Vec<usize> {
        self.indices(|file| file.formerly(id))
    }
    fn indices(&self, of: impl Fn(&IntentFile) -> Vec<usize>) -> Vec<usize> {
        let (mut found, mut before) = (Vec::new(), 0);
        for file in &self.files {
            found.extend(of(file).into_iter().map(|at| before + at));
            before += file.len();
        }
        found
    }
    /// Where an id is defined more than once, as `path:line`; empty for any other id.
    pub fn rivals(&self, id: &str) -> Vec<String> {
        let found = self.positions(id);
        let place = |at: usize| {
            let (file, index) = self.source(at);
            let lines = file.line_range(&file.one(index).id.span);
            lines.map_or(file.path().to_string(), |lines| {
                format!("{}:{}", file.path(), lines.start())
            })
        };
        if found.len() < 2 { Vec::new() } else { found.into_iter().map(place).collect() }
    }
    /// The file that holds the intent at this index, and its index there.
    pub(crate) fn source(&self, mut index: usize) -> (&Arc<IntentFile>, usize) {
        for file in &self.files {
            if index < file.len() {
                return (file, index);
            }
            index -= file.len();
        }
        (self.list(), index)
    }
    /// The compiled scope of the intent that [`Registry::get`] finds.
    pub fn scope(&self, id: &str) -> Option<&Scope> {
        self.position(id).map(|at| self.scope_at(at))
    }
    /// The compiled scope of the intent at this index.
    pub(crate) fn scope_at(&self, index: usize) -> &Scope {
        let (file, at) = self.source(index);
        file.scope_at(at)
    }
    /// Intents in progress whose scope owns the path.
    pub fn owners(&self, path: &RelativePath) -> Vec<&Intent> {
        self.owners_among(path, Intent::in_progress)
    }
    /// Of the intents that are wanted, those whose scope owns the path.
    pub fn owners_among(
        &self,
        path: &RelativePath,
        wanted: impl Fn(&Intent) -> bool,
    ) -> Vec<&Intent> {
        let all = self.files.iter().flat_map(|file| (0..file.len()).map(move |at| (file, at)));
        all.zip(self.intents())
            .filter(|((file, at), intent)| wanted(intent) && file.scope_at(*at).owns(path))
            .map(|(_, intent)| intent)
            .collect()
    }
}

fn constant(place: &str) -> RelativePath {
    RelativePath::new(place).expect("a constant path inside the workspace")
}

/// Reads the files of one intent each behind the list; whether their folder is there.
fn read_folder(root: &Root, files: &mut Vec<IntentFile>) -> bool {
    let folder = constant(FOLDER);
    let entries = match fs::read_dir(root.absolute(&folder)) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return false;
        }
        Err(error) => {
            files.push(IntentFile::unreadable(folder, file::unreadable(error)));
            return true;
        }
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let paths = names.filter_map(|name| RelativePath::new(&format!("{FOLDER}/{name}")).ok());
    let mut paths: Vec<RelativePath> = paths.filter(|path| single_id(path).is_some()).collect();
    paths.sort();
    let mut bytes = 0;
    for path in paths {
        let file = IntentFile::standing(root, path);
        bytes += file.text().len();
        if bytes > MAX_BYTES {
            files.push(IntentFile::beyond_limit(file.path().clone()));
            break;
        }
        files.push(file);
    }
    true
}
