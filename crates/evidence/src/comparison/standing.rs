//! What removed evidence is about and still exists.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::EvidenceChanges;
use code::saying_lines::says_something;
use ground::{CommitId, RelativePath};
use history::LineText;
use ledger::{Digest, Entry, Ledger, RecordKind};
use why::{ReadError, VerbError, Workspace, answers};

/// Finds the files of evidence of the commit `then` that have a section which is not in `stands`,
/// although code that the section is about still exists in `ws`. That is a line that says something
/// and that [`why`](why::answers) attributed to the section with the evidence of `then`. If a file
/// has only decisions, they are about intents, which exist as long as their text is the same. A
/// decision without an intent always counts.
///
/// So evidence may be removed together with its code, as `git revert` does, but not if the code was
/// only renamed, moved or edited.
pub(crate) fn still_named(
    ws: &Workspace,
    then: &CommitId,
    stands: &HashSet<Digest>,
) -> Result<StillNamed, VerbError> {
    let Some(git) = ws.git() else { return Ok(StillNamed::default()) };
    StillNamed::find(ws, &EvidenceChanges::find(ws, git, then)?, stands)
}

/// For each ledger file, how many blocks or intents that its records name still exist, and the
/// name of the first.
#[derive(Default)]
pub(crate) struct StillNamed(BTreeMap<RelativePath, (usize, String)>);

impl StillNamed {
    pub(crate) fn find(
        ws: &Workspace,
        changes: &EvidenceChanges,
        stands: &HashSet<Digest>,
    ) -> Result<Self, VerbError> {
        let registry = Arc::clone(&ws.registry);
        let ws = &ws.as_of(changes.base.clone())?;
        let before = Ledger::from_files(&changes.before);
        let is_gone =
            |entry: &Entry| entry.section.is_some_and(|section| !stands.contains(&section));
        let gone: Vec<&Arc<Entry>> =
            before.entries().iter().filter(|entry| is_gone(entry)).collect();
        let mut named = Self::default();
        let about: BTreeSet<&RelativePath> =
            gone.iter().flat_map(|entry| entry.record.paths()).collect();
        // The code may have gone on in a file that was changed since.
        let changed = changes.all.iter().filter(|change| !change.path.is_orchestration());
        let changed: BTreeSet<&RelativePath> = changed.map(|change| &change.path).collect();
        for path in about.union(&changed) {
            match named.add_file(ws, path, about.contains(path), &is_gone) {
                Err(VerbError::Read(ReadError::Missing { .. })) => {}
                // A file that exists but cannot be read may still have the code.
                Err(VerbError::Read(ReadError::Unread { .. })) => {
                    let about =
                        gone.iter().filter(|entry| entry.record.paths().any(|one| one == *path));
                    about.for_each(|entry| named.add_name(&entry.origin.path, path.as_str()));
                }
                added => added?,
            }
        }
        let is_decision = |entry: &Entry| {
            use RecordKind::{Approval, Registry, Test};
            matches!(entry.record.kind, Approval | Registry | Test)
        };
        let with_code = gone.iter().filter(|entry| !is_decision(entry));
        let with_code: HashSet<&RelativePath> = with_code.map(|entry| &entry.origin.path).collect();
        for entry in gone.iter().filter(|entry| !with_code.contains(&entry.origin.path)) {
            match &entry.record.intent_id {
                None => named.add_name(&entry.origin.path, "a decision"),
                Some(id) if registry.version(id) == ws.registry.version(id) => {
                    named.add_name(&entry.origin.path, id);
                }
                Some(_) => {}
            }
        }
        Ok(named)
    }

    /// Adds each block of a source file with a line that an entry brought for which `is_sought` is
    /// true. It is an error if `is_named` and the history that says it is missing.
    fn add_file(
        &mut self,
        ws: &Workspace,
        path: &RelativePath,
        is_named: bool,
        is_sought: &dyn Fn(&Entry) -> bool,
    ) -> Result<(), VerbError> {
        let document = ws.read(path)?;
        let file = answers::file(ws, path, &document);
        let missing = file.lines.lines.iter().find(|line| line.is_missing && is_named);
        if let (Some(missing), Some(git)) = (missing, ws.git()) {
            let version = missing.version.and_then(|at| file.lines.versions.get(at));
            let id = version.map_or_else(|| path.to_string(), |one| one.commit.to_string());
            return Err(git.missing_object(id).into());
        }
        let text = LineText::new(document.text().into_bytes());
        let mut found: HashSet<(&RelativePath, &str)> = HashSet::new();
        for (line, source) in file.lines.lines.iter().enumerate() {
            let Some(claim) = source.claim.map(|at| &file.lines.claims[at]) else { continue };
            if !says_something(text.line(line), file.blocks.language) {
                continue;
            }
            let block = u32::try_from(line + 1).ok().and_then(|line| file.blocks.at_line(line));
            let name = block.map_or(path.as_str(), |at| &file.blocks.blocks[at].identity.path);
            let entries = claim.reassigned.iter().chain([&claim.entry]);
            for entry in entries.filter(|entry| is_sought(entry)) {
                if found.insert((&entry.origin.path, name)) {
                    self.add_name(&entry.origin.path, name);
                }
            }
        }
        Ok(())
    }

    pub(super) fn add_name(&mut self, file: &RelativePath, name: &str) {
        self.0.entry(file.clone()).or_insert_with(|| (0, name.to_owned())).0 += 1;
    }

    pub fn has_file(&self, file: &RelativePath) -> bool {
        self.0.contains_key(file)
    }

    /// Names the first thing that a record in this file is about and counts the others: `login and
    /// 2 more`. `None` if there is nothing.
    pub(super) fn first_name(&self, file: &RelativePath) -> Option<String> {
        let (count, name) = self.0.get(file)?;
        Some(match count {
            1 => name.clone(),
            _ => format!("{name} and {} more", count - 1),
        })
    }
}
