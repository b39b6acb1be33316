//! The registry of a workspace: the intents of the list, and of the files that hold one intent
//! each.

use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

use super::file::{self, FOLDER, IntentFile, MAX_BYTES, single_name};
use super::imports::Imports;
use super::sources::{self, Workplace};
use super::{ImportedIntent, Intent, Scope, Status};
use code::lists::words;
use ground::git::{GitError, Target};
use ground::text::shell_word;
use ground::{Finding, Git, Policy, RelativePath, Root};

/// The canonical path of the list. It is the first place to be searched, and the place where a new
/// list is written.
pub(crate) const CANONICAL_PATH: &str = PLACES[0];

/// The paths at which registries have been found, in the order of the search.
pub const PLACES: &[&str] = words!(
    ".orchestration/active_intents.yaml
    .orchestration/active_intents.yml
    .orchestration/active_intents.json
    .orchestration/intents.yaml .orchestration/intents.yml .orchestration/intents.json
    .orchestration/Artifacts/active_intents.yaml
    .orchestration/Artifacts/active_intents.yml
    .orchestration/Artifacts/active_intents.json
    .orchestration/Artifacts/intents.yaml .orchestration/Artifacts/intents.json
    active_intents.yaml active_intents.yml active_intents.json
    .orchestration/intent_specs.json intent_specs.json"
);

/// All intents of a workspace: those of `.orchestration/active_intents.yaml` and of
/// `.orchestration/intents/<ID>.yaml`.
#[derive(Debug)]
pub struct Registry {
    /// The list first, then the files with a single intent, ordered by path.
    files: Vec<Arc<IntentFile>>,
    /// True if each new intent gets a file of its own: always but where intents are kept in a list.
    pub(super) folder: bool,
    /// The intents of all files. Only filled if there are several files.
    intents: OnceLock<Vec<Intent>>,
    /// The intents that the work tree keeps in other formats. `None` if this is no registry of a
    /// work tree.
    imports: Option<Arc<Imports>>,
}

impl Registry {
    /// Finds and reads the registry of a workspace: the first existing path of those at which
    /// registries are known to be written, and every file in `.orchestration/intents/`. If there is
    /// no list, it is an empty one at the canonical path.
    ///
    /// A file that exists but cannot be read yields a [`Registry::syntax_error`]. No other path is
    /// used in its place.
    pub fn load(root: &Root) -> Self {
        let places = PLACES.iter().filter_map(|place| RelativePath::new(place).ok());
        let standing = { places }.find(|path| fs::symlink_metadata(root.absolute(path)).is_ok());
        let list = standing.map_or_else(Self::no_list, |path| IntentFile::load(root, path));
        let mut files = vec![list];
        let listed = !read_folder(root, &mut files) && files[0].len() > 0;
        let imports = Arc::new(Imports::new(Workplace::WorkTree(root.clone())));
        Self { folder: !listed, ..Self::from_files(files).with_imports(imports) }
    }

    /// Parses a text that is a whole registry. Never fails: if the text does not parse, the
    /// registry has no intents and a [`Registry::syntax_error`].
    pub fn parse(path: RelativePath, text: &str) -> Self {
        Self::from_files(vec![IntentFile::parse(path, text)])
    }

    pub fn of_texts<'a>(texts: impl Iterator<Item = (RelativePath, &'a str)>) -> Self {
        let mut files: Vec<_> = texts.map(|(path, text)| IntentFile::parse(path, text)).collect();
        if files.first().is_none_or(|first| single_name(first.path()).is_some()) {
            files.insert(0, Self::no_list());
        }
        Self::from_files(files)
    }

    /// Reads the registry of a commit or of the index. The list is searched at the same paths as in
    /// a work tree.
    pub fn at_target(git: &Git, target: &Target) -> Result<Self, GitError> {
        let read = |(path, blob)| {
            let Some(blob) = blob else { return Ok(IntentFile::conflicting(path)) };
            let text = git.blob_of(blob)?;
            let mut file = IntentFile::parse(path, &String::from_utf8_lossy(&text));
            file.complete_from(|id| sources::read_one_at(git, target, id));
            Ok(file)
        };
        let found = git.blobs(target, &[PLACES, &[FOLDER]].concat())?;
        let (singles, rest): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(path, _)| single_name(path).is_some());
        let list = rest.into_iter().find(|(path, _)| PLACES.contains(&path.as_str()));
        let mut files = vec![list.map(read).transpose()?.unwrap_or_else(Self::no_list)];
        for single in singles {
            files.push(read(single)?);
        }
        Ok(Self::from_files(files))
    }

    fn no_list() -> IntentFile {
        IntentFile::unread(constant(CANONICAL_PATH), "")
    }

    pub fn from_files(files: Vec<IntentFile>) -> Self {
        let files = files.into_iter().map(Arc::new).collect();
        Self { files, folder: false, intents: OnceLock::new(), imports: None }
    }

    fn with_imports(mut self, imports: Arc<Imports>) -> Self {
        // No file is shared yet.
        for file in self.files.iter_mut().filter_map(Arc::get_mut) {
            imports.complete(file);
        }
        self.imports = Some(imports);
        self
    }

    /// Returns the registry of a commit or of the index with the intents that are kept in other
    /// formats there.
    pub fn importing(self, git: &Arc<Git>, target: &Target, policy: &Policy) -> Self {
        let place = Workplace::Version(Arc::clone(git), target.clone(), Box::new(policy.clone()));
        self.with_imports(Arc::new(Imports::new(place)))
    }

    pub fn importing_as(self, other: &Self) -> Self {
        let Some(imports) = &other.imports else { return self };
        self.with_imports(Arc::clone(imports))
    }

    /// Returns this registry with another text for one of its files, or with an additional file.
    pub fn with_file(&self, path: &RelativePath, text: &str) -> Self {
        let mut file = IntentFile::parse(path.clone(), text);
        if let Some(imports) = &self.imports {
            imports.complete(&mut file);
        }
        let file = Arc::new(file);
        let mut files = self.files.clone();
        match files.iter().position(|known| known.path() == path) {
            Some(at) => files[at] = file,
            None => files.push(file),
        }
        Self { files, ..self.copy() }
    }

    /// Returns the files of the registry. The first one is the list, which may not exist.
    pub fn files(&self) -> &[Arc<IntentFile>] {
        &self.files
    }
    pub fn list(&self) -> &Arc<IntentFile> {
        &self.files[0]
    }
    pub fn file(&self, path: &RelativePath) -> Option<&Arc<IntentFile>> {
        self.files.iter().find(|file| file.path() == path)
    }
    pub fn holds(&self, path: &RelativePath) -> bool {
        path == self.path() || single_name(path).is_some()
    }
    /// Returns true if a file at this path could be a registry or a part of one.
    pub fn is_place(path: &RelativePath) -> bool {
        PLACES.contains(&path.as_str()) || single_name(path).is_some()
    }
    pub fn copy(&self) -> Self {
        let (files, imports) = (self.files.clone(), self.imports.clone());
        Self { files, folder: self.folder, intents: OnceLock::new(), imports }
    }
    /// Returns a copy of the registry in which new intents are written into the list.
    pub fn without_folder(&self) -> Self {
        Self { folder: false, ..self.copy() }
    }
    pub fn path(&self) -> &RelativePath {
        self.list().path()
    }
    pub fn text(&self) -> &Arc<str> {
        self.list().text()
    }
    pub fn exists(&self) -> bool {
        self.files.iter().any(|file| file.exists())
    }
    pub fn same_text(&self, other: &Self) -> bool {
        let texts = |registry: &Self| {
            let files = registry.files.iter().filter(|file| file.exists());
            files.map(|file| (file.path().clone(), Arc::clone(file.text()))).collect::<Vec<_>>()
        };
        texts(self) == texts(other)
    }
    pub fn syntax_error(&self) -> Option<&Finding> {
        self.files.iter().find_map(|file| file.syntax_error())
    }

    /// Returns the file that does not parse.
    pub fn broken_file(&self) -> Option<&RelativePath> {
        self.files.iter().find(|file| file.syntax_error().is_some()).map(|file| file.path())
    }

    pub fn intents(&self) -> &[Intent] {
        match &self.files[..] {
            [list] => list.intents(),
            files => self
                .intents
                .get_or_init(|| files.iter().flat_map(|file| file.intents()).cloned().collect()),
        }
    }
    /// Returns the intents that the work tree keeps in other formats. They are read when somebody
    /// first asks for one.
    pub fn imported(&self) -> &[ImportedIntent] {
        self.imports.as_ref().map_or(&[], |imports| imports.intents())
    }
    /// Returns what is known of an intent in another format, also if a file of the registry points
    /// to it. Returns `None` if several have the id.
    pub fn imported_intent(&self, id: &str) -> Option<&ImportedIntent> {
        self.imports.as_ref()?.get(id)
    }
    /// Returns what is known of an intent in another format to which no file of the registry points.
    /// It has no scope: work under it may change what no other intent in progress owns.
    pub fn unadopted(&self, id: &str) -> Option<&ImportedIntent> {
        self.imports_with(id)?.get(id)
    }
    /// Returns true if work may be done under an intent of this registry: it is in progress or, if it
    /// is not adopted, open. In most formats nobody says that work has begun.
    pub fn allows_work(&self, intent: &Intent) -> bool {
        intent.in_progress()
            || self.unadopted(&intent.id.value).is_some_and(ImportedIntent::is_open)
    }
    /// Returns the intents in other formats that are being worked on, as their tools and the name
    /// of the branch say. The plainest sign comes first.
    pub fn current_work(&self) -> Vec<&ImportedIntent> {
        self.imports.as_ref().map_or_else(Vec::new, |imports| imports.current_work())
    }
    pub fn not_adopted(&self) -> impl Iterator<Item = &ImportedIntent> {
        self.imports.iter().flat_map(|imports| imports.not_adopted(self.intents()))
    }
    /// Returns the intents of the registry, and then those in other formats that no file of the
    /// registry points to.
    pub fn all_intents(&self) -> impl Iterator<Item = &Intent> {
        self.intents().iter().chain(self.not_adopted().map(|imported| &imported.intent))
    }
    /// Returns the intents in other formats that a file is a part of, as far as its name allows
    /// that.
    pub fn imported_in<'a>(
        &'a self,
        path: &'a RelativePath,
    ) -> impl Iterator<Item = &'a ImportedIntent> {
        // All formats are kept in such files, so that nothing is read for a file of code.
        let may_be_one = path.as_str().ends_with(".md") || path.as_str().ends_with(".json");
        let imported = if may_be_one { self.imported() } else { &[] };
        imported.iter().filter(move |imported| imported.has_file(path))
    }
    /// Returns the intent with this id, or else the one that had it before a rename. Returns `None`
    /// if several intents have the id. An id with a prefix also means an intent in another format.
    pub fn get(&self, id: &str) -> Option<&Intent> {
        match self.own_with_file(id) {
            Some((_, intent)) => Some(intent),
            None => Some(&self.imports_with(id)?.get(id)?.intent),
        }
    }
    fn own_with_file(&self, id: &str) -> Option<(&Arc<IntentFile>, &Intent)> {
        let (file, at) = self.source(self.position(id)?);
        Some((file, &file.intents()[at]))
    }
    fn imports_with(&self, id: &str) -> Option<&Imports> {
        let imports = self.imports.as_deref().filter(|_| id.contains(':'))?;
        (self.positions(id).is_empty() && self.formerly(id).is_empty()).then_some(imports)
    }
    /// Returns the hash of an intent's content, and its status. Returns `None` if there is no such
    /// intent.
    pub fn version(&self, id: &str) -> Option<(String, Option<Status>)> {
        let intent = self.get(id)?;
        Some((intent.hash(), intent.known_status()))
    }
    /// Returns the same intent as [`Registry::get`], with the file that contains it. That of an
    /// intent in another format is its main file, in which nothing is edited.
    pub fn intent_with_file(&self, id: &str) -> Option<(&Arc<IntentFile>, &Intent)> {
        self.own_with_file(id).or_else(|| {
            let file = self.imports_with(id)?.file(id)?;
            Some((file, &file.intents()[0]))
        })
    }
    /// Returns the present id of the intent that has or had this id. An unknown id is returned
    /// unchanged.
    pub fn present_id<'a>(&'a self, id: &'a str) -> &'a str {
        self.get(id).map_or(id, |intent| &intent.id.value)
    }
    /// Returns every id under which the intent with this present or former id may have been
    /// recorded, the present id first. An unknown id is returned alone.
    pub fn ids<'a>(&'a self, id: &'a str) -> Vec<&'a str> {
        let Some(at) = self.position(id) else { return vec![id] };
        let (file, index) = self.source(at);
        let intent = &file.intents()[index];
        let mut ids = vec![intent.id.value.as_str()];
        for former in intent.formerly.iter().map(|former| former.value.as_str()) {
            if !ids.contains(&former) && self.position(former) == Some(at) {
                ids.push(former);
            }
        }
        ids
    }
    /// Returns the index of the intent that has or had an id. Returns `None` if two intents have
    /// it, or had it, because then it is not known which of them a record means.
    pub fn position(&self, id: &str) -> Option<usize> {
        let mut found = self.positions(id);
        if found.is_empty() {
            found = self.formerly(id);
        }
        match found[..] {
            [only] => Some(only),
            _ => None,
        }
    }
    pub fn positions(&self, id: &str) -> Vec<usize> {
        self.indices(|file| file.positions(id))
    }
    pub fn formerly(&self, id: &str) -> Vec<usize> {
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
    /// Returns the places at which an id is defined more than once, as `path:line`. Returns nothing
    /// for any other id.
    pub fn definitions_of(&self, id: &str) -> Vec<String> {
        let found = self.positions(id);
        let place = |at: usize| {
            let (file, index) = self.source(at);
            let lines = file.line_range(&file.intents()[index].id.span);
            lines.map_or(file.path().to_string(), |lines| {
                format!("{}:{}", file.path(), lines.start())
            })
        };
        if found.len() < 2 { Vec::new() } else { found.into_iter().map(place).collect() }
    }

    /// Returns the command that gives one of several intents with this id another one.
    pub fn renumbering(&self, id: &str) -> Option<String> {
        let [_, .., last] = self.positions(id)[..] else { return None };
        let file = self.source(last).0.path().for_shell();
        Some(format!("intent setup renumber {} --file {file}", shell_word(id)))
    }

    /// Says why an id means no intent, and what a person does about it, if several intents have it.
    pub fn why_ambiguous(&self, id: &str) -> Option<String> {
        let renumbering = self.renumbering(id)?;
        Some(format!(
            "The id {id} is defined at {}, so nobody can tell which intent is meant. A person removes all but one of them, or gives one an id of its own: `{renumbering}`.",
            self.definitions_of(id).join(" and at ")
        ))
    }

    pub fn source(&self, mut index: usize) -> (&Arc<IntentFile>, usize) {
        for file in &self.files {
            if index < file.len() {
                return (file, index);
            }
            index -= file.len();
        }
        (self.list(), index)
    }
    pub fn scope(&self, id: &str) -> Option<&Scope> {
        self.position(id).map(|at| self.scope_at(at))
    }
    pub(crate) fn scope_at(&self, index: usize) -> &Scope {
        let (file, at) = self.source(index);
        file.scope_at(at)
    }
    pub fn owners(&self, path: &RelativePath) -> Vec<&Intent> {
        self.owners_among(path, Intent::in_progress)
    }
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

/// Reads the files with a single intent and adds them after the list. Returns true if their folder
/// exists.
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
    let mut paths: Vec<RelativePath> = paths.filter(|path| single_name(path).is_some()).collect();
    paths.sort();
    let mut bytes = 0;
    for path in paths {
        let file = IntentFile::load(root, path);
        bytes += file.text().len();
        if bytes > MAX_BYTES {
            files.push(IntentFile::beyond_limit(file.path().clone()));
            break;
        }
        files.push(file);
    }
    true
}
