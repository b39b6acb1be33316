//! Intents that a team keeps as files of its own, read where they are. Nothing is copied, and
//! nothing is written into the work tree.
//!
//! - `adr`, `backlog`, `bmad`, `conductor`, `kiro`, `openspec`, `spec_kit`, `taskmaster`: the
//!   formats.
//! - `current_work`: which of the intents is being worked on.
//! - `files`: what the formats may see of a workspace.
//! - `hints`: names of files in prose.
//! - `markdown`: headings, items with boxes, and paragraphs.
//! - `source`: what a format has to answer, and what an imported intent is.
//!
//! The formats match by structure and by the names of files, never by the words of a heading alone,
//! because people translate those.

mod adr;
mod backlog;
mod bmad;
mod conductor;
mod current_work;
mod files;
mod hints;
mod kiro;
mod markdown;
mod openspec;
mod source;
mod spec_kit;
mod taskmaster;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use files::{FilesAtTarget, MAX_FILE, SourceFiles, WorkTreeFiles, shared_text};
use ground::git::Target;
use ground::parallel::in_parallel;
use ground::policy::SourceFormat;
use ground::{Git, Policy, RelativePath, Root};
use source::{MAX_BYTES, MAX_INTENTS, Source, SourceUnit};

pub use source::{ImportedIntent, Requirement};

const SOURCES: [(SourceFormat, &dyn Source); 8] = [
    (SourceFormat::Openspec, &openspec::OpenSpec),
    (SourceFormat::Speckit, &spec_kit::SpecKit),
    (SourceFormat::Kiro, &kiro::Kiro),
    (SourceFormat::Backlog, &backlog::Backlog),
    (SourceFormat::Bmad, &bmad::Bmad),
    (SourceFormat::Taskmaster, &taskmaster::Taskmaster),
    (SourceFormat::Conductor, &conductor::Conductor),
    (SourceFormat::Adr, &adr::Adr),
];

/// The folders of a workspace in which intents of other formats lie, each with a glob for the files
/// below it that matter. Decisions are not among them, since other intents only cite them.
pub const FOLDERS: [(&str, &str); 9] = [
    ("openspec/changes", "**"),
    ("specs", "*/*.md"),
    (".specify", "feature.json"),
    (".kiro/specs", "**"),
    ("backlog", "**/*.md"),
    (".taskmaster", "**/*.json"),
    ("docs/stories", "**"),
    ("_bmad-output", "**"),
    ("conductor", "**"),
];

/// Returns the id of the intent that a file at this path is a part of, such as
/// `openspec:add-login`. Nothing is read, so the path may be one of an earlier commit. `None` for
/// other files, and for a file of several intents.
pub fn unit_of_path(path: &str) -> Option<String> {
    SOURCES.iter().find_map(|(format, source)| {
        Some(format!("{}:{}", format.prefix(), source.name_of_path(path)?))
    })
}

#[derive(Debug)]
pub(super) enum Workplace {
    WorkTree(Root),
    /// A commit or the index, with the policy there.
    Version(Arc<Git>, Target, Box<Policy>),
}

impl Workplace {
    fn files(&self) -> Box<dyn SourceFiles + '_> {
        match self {
            Self::WorkTree(root) => Box::new(WorkTreeFiles::new(root)),
            Self::Version(git, target, _) => Box::new(FilesAtTarget::new(git, target)),
        }
    }

    /// Reads all intents of the formats that the policy reads.
    pub fn read_all(&self) -> Vec<ImportedIntent> {
        match self {
            Self::WorkTree(root) => read_all(&*self.files(), &Policy::load(root).0),
            Self::Version(_, _, policy) => read_all(&*self.files(), policy),
        }
    }

    /// Reads the one intent with this id. `None` if there is none, or if several have the id.
    pub(crate) fn read_one(&self, id: &str) -> Option<ImportedIntent> {
        read_one_of(&*self.files(), id)
    }

    /// Returns the present text of the main file of an intent. Empty if it cannot be read.
    pub(crate) fn main_text(&self, imported: &ImportedIntent) -> String {
        shared_text(&*self.files(), imported.main.as_str())
    }

    /// Returns the ids of the intents that are being worked on, the plainest sign first. Nothing
    /// is worked on at a commit.
    pub fn current_work(&self, intents: &[ImportedIntent]) -> Vec<String> {
        match self {
            Self::WorkTree(root) => {
                current_work::ids_of_work(&*self.files(), root.branch().as_deref(), intents)
            }
            Self::Version(..) => Vec::new(),
        }
    }
}

fn read_all(files: &dyn SourceFiles, policy: &Policy) -> Vec<ImportedIntent> {
    let mut found: Vec<(&dyn Source, SourceUnit)> = Vec::new();
    for (_, source) in SOURCES.into_iter().filter(|(format, _)| policy.reads(*format)) {
        found.extend(source.units(files).into_iter().map(|unit| (source, unit)));
    }
    if found.len() > MAX_INTENTS {
        tracing::warn!("{} intents are kept in other formats; {MAX_INTENTS} are read", found.len());
        found.truncate(MAX_INTENTS);
    }
    let budget = AtomicU64::new(MAX_BYTES);
    let read = in_parallel(&found, |(source, unit)| read_unit(*source, unit, files, &budget));
    let mut intents: Vec<_> = read.into_iter().flatten().collect();
    intents.truncate(MAX_INTENTS);
    mark_ambiguous(&mut intents);
    intents
}

pub fn read_one_at(git: &Git, target: &Target, id: &str) -> Option<ImportedIntent> {
    read_one_of(&FilesAtTarget::new(git, target), id)
}

fn read_one_of(files: &dyn SourceFiles, id: &str) -> Option<ImportedIntent> {
    let (format, name) = SourceFormat::of_id(id)?;
    let (_, source) = SOURCES.into_iter().find(|(other, _)| *other == format)?;
    let (units, budget) = (source.units(files).into_iter(), AtomicU64::new(MAX_BYTES));
    let units = units.filter(|unit| unit.name == name || unit.name.is_empty()).take(MAX_INTENTS);
    let mut intents: Vec<_> =
        units.flat_map(|unit| read_unit(source, &unit, files, &budget)).collect();
    intents.retain(|one| one.intent.id.value == id);
    mark_ambiguous(&mut intents);
    intents.into_iter().find(|one| !one.ambiguous)
}

/// Reads a unit. Why a file cannot be read becomes a note of its intents. `budget` is how many bytes
/// may still be read.
fn read_unit(
    source: &dyn Source,
    unit: &SourceUnit,
    files: &dyn SourceFiles,
    budget: &AtomicU64,
) -> Vec<ImportedIntent> {
    let unreadable = RefCell::new(Vec::new());
    let text = |path: &RelativePath| {
        let max = MAX_FILE.min(budget.load(Ordering::Relaxed));
        let read = files.read(path, max).unwrap_or_else(|why| {
            unreadable.borrow_mut().push(format!("{path} cannot be read: {why}"));
            None
        });
        let bytes = read.as_ref().map_or(0, |text| text.len() as u64);
        let less = |left: u64| Some(left.saturating_sub(bytes));
        let _ = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        read
    };
    let mut intents = source.read(unit, &text);
    for note in unreadable.into_inner() {
        intents.iter_mut().for_each(|imported| imported.add_note(note.clone()));
    }
    intents
}

/// Of several intents with one id, the id means the one that is not in an archive. If that is not
/// one, it means none.
fn mark_ambiguous(intents: &mut [ImportedIntent]) {
    let mut by_id: HashMap<String, Vec<usize>> = HashMap::with_capacity(intents.len());
    for (at, imported) in intents.iter().enumerate() {
        by_id.entry(imported.intent.id.value.clone()).or_default().push(at);
    }
    for same in by_id.into_values().filter(|same| same.len() > 1) {
        let is_live =
            |at: &&usize| !intents[**at].unit.folders().any(|one| one.ends_with("/archive"));
        let live: Vec<usize> = same.iter().filter(is_live).copied().collect();
        for at in same {
            intents[at].ambiguous = live != [at];
        }
    }
}
