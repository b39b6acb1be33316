//! What a source of intents is: a format in which a team already keeps what it asked for, as files
//! in the work tree.

use std::borrow::Cow;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Intent, Spanned, Status};
use super::files::{SourceFiles, folders_in};
use super::hints::{split_at_colon, words_of};
use super::markdown::{BoxCount, Markdown, MarkdownBlock, plain_text, title};
use ground::RelativePath;
use ground::policy::SourceFormat;

/// More bytes than this are not read at once, of all files together.
pub(super) const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// More intents than this are not read.
pub(super) const MAX_INTENTS: usize = 10_000;

/// An intent that was read where a team keeps it. Its scope is always empty: what its tasks name
/// is only a hint, and may never deny anything until a person adopts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedIntent {
    pub intent: Intent,
    pub format: SourceFormat,
    pub unit: RelativePath,
    /// The file to which the spans of the intent belong. A value that is not in it has an empty
    /// span at 0.
    pub main: RelativePath,
    /// Why it was asked for, in a sentence or a paragraph.
    pub reason: Option<String>,
    /// What the status alone does not say: `all tasks done`, or why a file could not be read.
    pub note: Option<String>,
    /// The paths that the intent names, those that say what was changed first. They need not exist.
    pub scope_hints: Vec<String>,
    pub requirements: Vec<Requirement>,
    pub tasks_done: usize,
    pub tasks: usize,
    /// True if another intent has the same id, and this is not the one that the id means.
    pub ambiguous: bool,
}

/// A condition with a name of its own: `FR-003`, a scenario, a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// Its name, such as `FR-003`.
    pub id: String,
    /// What must be true.
    pub text: String,
    /// The file that has it.
    pub path: RelativePath,
    /// The line there, counted from 1.
    pub line: u32,
    /// Whether it is ticked, if it has a box.
    pub done: Option<bool>,
}

impl Requirement {
    /// Returns it as one text: `FR-003: The page loads within a second.`
    pub fn as_criterion(&self) -> String {
        format!("{}: {}", self.id, self.text)
    }
}

impl ImportedIntent {
    pub(super) fn new(format: SourceFormat, name: &str, unit: &RelativePath) -> Self {
        let id = format!("{}:{name}", format.prefix());
        Self {
            intent: Intent { id: spanned(id, 0..0), ..Intent::default() },
            format,
            unit: unit.clone(),
            main: unit.clone(),
            reason: None,
            note: None,
            scope_hints: Vec::new(),
            requirements: Vec::new(),
            tasks_done: 0,
            tasks: 0,
            ambiguous: false,
        }
    }

    /// Returns true if a file is the intent, or lies in the folder that the intent is.
    pub fn has_file(&self, path: &RelativePath) -> bool {
        is_at_or_below(path, self.unit.as_str())
    }

    pub fn is_closed(&self) -> bool {
        self.intent.is_closed()
    }

    pub fn other_requirements(&self) -> impl Iterator<Item = &Requirement> {
        let criteria = &self.intent.acceptance_criteria;
        self.requirements.iter().filter(|one| {
            let as_criterion = one.as_criterion();
            !criteria.iter().any(|criterion| criterion.value == as_criterion)
        })
    }

    pub fn is_open(&self) -> bool {
        use Status::{Draft, InProgress, Pending};
        let is_open = matches!(self.intent.known_status(), Some(Draft | Pending | InProgress));
        self.format.is_work() && is_open
    }

    /// Returns true if a file belongs to the intent itself, or is one that it names or in a folder
    /// that it names.
    pub fn names(&self, path: &RelativePath) -> bool {
        let mut named = self.scope_hints.iter().map(String::as_str).chain([self.unit.as_str()]);
        named.any(|named| is_at_or_below(path, named.trim_end_matches('/')))
    }

    pub(super) fn set_name(&mut self, name: String, span: Range<usize>) {
        self.intent.name = spanned(name, span);
    }

    pub(super) fn set_name_in(&mut self, block: &MarkdownBlock<'_>, part: &str) {
        self.set_name(plain_text(part), block.span_of(part));
    }

    /// Sets the name to what follows the colon of the title: `Login` of `# Change: Login`.
    pub(super) fn set_name_behind_colon(&mut self, blocks: &[MarkdownBlock<'_>]) {
        if let Some(title) = title(blocks)
            && let Some((_, name)) = split_at_colon(title.text)
        {
            self.set_name_in(title, name);
        }
    }

    pub(super) fn set_status(&mut self, status: impl Into<Option<Status>>, span: Range<usize>) {
        self.intent.status = status.into().map(|value| Spanned { value, span });
    }

    pub(super) fn count_tasks(&mut self, count: BoxCount) {
        (self.tasks_done, self.tasks) = (count.done, count.all);
    }

    pub(super) fn add_note(&mut self, note: impl Into<String>) {
        let before = self.note.take().map(|before| format!("{before}; ")).unwrap_or_default();
        self.note = Some(before + &note.into());
    }

    /// Adds a requirement that is also a criterion under which the intent is done.
    pub(super) fn add_criterion(&mut self, id: String, block: &MarkdownBlock<'_>) {
        self.add_requirement(id, block.text, block);
        let criterion = self.requirements.last().map(Requirement::as_criterion);
        self.intent.acceptance_criteria.extend(criterion.map(|text| spanned(text, 0..0)));
    }

    pub(super) fn add_requirement(&mut self, id: String, text: &str, block: &MarkdownBlock<'_>) {
        let done = block.mark().map(|mark| matches!(mark, 'x' | 'X'));
        let (path, line) = (self.main.clone(), block.line);
        self.requirements.push(Requirement { id, text: plain_text(text), path, line, done });
    }

    pub(super) fn add_constraint(&mut self, text: impl Into<String>) {
        self.intent.constraints.push(spanned(text.into(), 0..0));
    }

    pub(super) fn add_related(&mut self, text: impl Into<String>) {
        self.intent.related_specs.push(spanned(text.into(), 0..0));
    }
}

fn is_at_or_below(path: &RelativePath, place: &str) -> bool {
    let below = path.as_str().strip_prefix(place);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

pub(super) fn spanned(value: String, span: Range<usize>) -> Spanned<String> {
    Spanned { value, span }
}

/// The folder or file of an intent, or a file of several, as it is found without reading it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceUnit {
    pub place: RelativePath,
    /// What follows the prefix in the id, as far as the path says. Empty if the unit has several
    /// intents.
    pub name: String,
    /// The files that are read for it. A file may be missing.
    pub files: Vec<RelativePath>,
    /// What files that are shared by all units of the source say about this one.
    pub context: Vec<String>,
}

impl SourceUnit {
    pub fn new(place: RelativePath, name: impl Into<String>) -> Self {
        Self { place, name: name.into(), files: Vec::new(), context: Vec::new() }
    }

    pub fn of_file(place: RelativePath, name: impl Into<String>) -> Self {
        Self { files: vec![place.clone()], ..Self::new(place, name) }
    }

    /// Returns the unit of a folder from which those of these files are read that exist.
    pub fn of_folder(files: &dyn SourceFiles, place: RelativePath, wanted: &[&str]) -> Self {
        let name = place.file_name().to_owned();
        let mut unit = Self::new(place, name);
        let listed = files.list(unit.place.as_str()).into_iter().filter(|entry| !entry.is_folder);
        let rank = |path: &RelativePath| wanted.iter().position(|name| *name == path.file_name());
        unit.files = listed.map(|entry| entry.path).filter(|path| rank(path).is_some()).collect();
        unit.files.sort_by_key(rank);
        unit
    }

    /// Returns the units of the folders in these places that have at least one of these files.
    pub(crate) fn of_folders(
        files: &dyn SourceFiles,
        places: &[&str],
        wanted: &[&str],
    ) -> Vec<Self> {
        let folders =
            places.iter().flat_map(|place| folders_in(files, place.trim_end_matches('/')));
        let units = folders.map(|folder| Self::of_folder(files, folder, wanted));
        units.filter(|unit| !unit.files.is_empty()).collect()
    }

    /// Makes the intent of the unit, named after its place. Its main file is the first of these that
    /// is there, or else any.
    pub fn intent(&self, format: SourceFormat, main: &[&str]) -> ImportedIntent {
        let mut imported = ImportedIntent::new(format, &self.name, &self.place);
        imported.set_name(words_of(&self.name), 0..0);
        let main = main.iter().find_map(|name| self.file(name));
        imported.main = main.or(self.files.first()).unwrap_or(&self.place).clone();
        imported
    }

    /// Reads the Markdown of a file of the unit's folder. Returns `None` if it is missing or cannot
    /// be read.
    pub fn with_blocks<T>(
        &self,
        name: &str,
        text: ReadText<'_>,
        read: impl FnOnce(&[MarkdownBlock<'_>]) -> T,
    ) -> Option<T> {
        let text = text(self.file(name)?)?;
        Some(read(&Markdown::parse(&text).blocks()))
    }

    pub fn file(&self, name: &str) -> Option<&RelativePath> {
        let inside = |path: &&RelativePath| {
            let below = path.as_str().strip_prefix(self.place.as_str());
            below.and_then(|below| below.strip_prefix('/')) == Some(name)
        };
        self.files.iter().find(inside)
    }
}

/// Reads the text of a file. `None` if it is missing or cannot be read; the reader notes which.
pub(super) type ReadText<'r> = &'r dyn Fn(&RelativePath) -> Option<String>;

/// A format in which intents are kept. Its methods read files only through what they are given.
pub(super) trait Source: Sync {
    /// Finds the units in a work tree. Folders are listed, and files are read only if all units
    /// share them.
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit>;

    /// Returns the name of the intent that a file at this path is a part of, as [`SourceUnit`] has
    /// it. Nothing is read, because the path may be one of an earlier commit.
    fn name_of_path<'p>(&self, _path: &'p str) -> Option<Cow<'p, str>> {
        None
    }

    /// Returns the intents of a unit, which are one or, for a list of tasks, many. `text` reads the unit's files.
    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent>;
}

/// Returns the first segment below a folder that a path begins with, if the path goes further:
/// `x` of `specs/x/spec.md` for `specs/`.
pub(super) fn folder_below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let (name, rest) = path.strip_prefix(folder)?.split_once('/')?;
    (!name.is_empty() && !rest.is_empty()).then_some(name)
}

/// Returns the status that boxes say by themselves. `untouched` is that of a list without a tick.
pub(super) fn status_of_boxes(count: BoxCount, untouched: Status) -> Status {
    match count {
        _ if count.is_done() => Status::Completed,
        _ if count.is_begun() => Status::InProgress,
        BoxCount { all: 0, .. } => Status::Draft,
        _ => untouched,
    }
}
