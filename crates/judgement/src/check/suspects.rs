//! Finds recorded blocks, in all files, whose intent or specification has changed since they were
//! written.

use std::sync::Arc;

use ground::parallel::in_parallel;
use ground::{Code, Finding, RelativePath};
use ledger::{Entry, sorted};
use why::suspect::{self, Suspicion};
use why::{Workspace, answers};

/// Returns a finding for each such block. Files that cannot be read are skipped.
///
/// All records are read, but only those files are looked at that have a record whose intent has
/// another text now, or one that names a specification.
pub(super) fn suspect_findings(ws: &Workspace) -> Vec<Finding> {
    let may_be_suspect = |entry: &&Arc<Entry>| {
        let record = &entry.record;
        let mut related = record.files.iter().flat_map(|file| file.relations());
        let present = record.intent_id.as_deref().and_then(|id| ws.registry.get(id));
        present
            .zip(record.intent_hash.as_deref())
            .is_some_and(|(now, then)| !ws.reads_as(now, then))
            || related.any(|one| one.is_specification())
    };
    let entries = ws.ledger.entries().iter().filter(may_be_suspect);
    let files = entries.flat_map(|entry| &entry.record.files);
    let paths = sorted(files.map(|file| file.relative_path.clone()));
    in_parallel(&paths, |path| suspects_in_file(ws, path)).into_iter().flatten().collect()
}

fn suspects_in_file(ws: &Workspace, path: &RelativePath) -> Vec<Finding> {
    let Some(file) = answers::standing_owners(ws, path) else { return Vec::new() };
    let suspects = suspect::of_file(ws, &file.provenance).into_iter();
    let finding = |(at, suspicion): (usize, Suspicion)| {
        let block = &file.blocks.blocks[at];
        let message = format!("{}: {}.", block.identity, suspicion.message);
        let place = format!("{}:{}", path.for_shell(), block.lines.start());
        let help = format!("Read it again; where it still holds, `intent accept {place}`.");
        let finding = Finding::new(Code::Suspect, message, help).at_block(path, block);
        Finding { intent: Some(suspicion.intent), ..finding }
    };
    suspects.map(finding).collect()
}
