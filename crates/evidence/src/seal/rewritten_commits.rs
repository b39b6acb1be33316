//! Finds evidence whose commit was rewritten with a different text, by an amend, a squash, or a
//! rebase onto an edit of the same block. The text that such evidence names is in no commit any
//! more, so its lines cannot be identified. If the journal still has the records from which the
//! evidence was made, it is sealed again for the new commit.
//!
//! For example, INT-001 adds a function and commits it. It edits the function once more and amends
//! the commit. The first evidence names the text before that edit, which no commit has now, so it
//! is made again from the records of both edits.

use std::collections::{BTreeMap, HashSet};

use sha2::{Digest as _, Sha256};

use ledger::journal::SectionSources;
use ledger::{Digest, Entry, FileRecord, Ledger};

use ground::CommitId;
use ground::cache::SharedAnswers;
use why::Workspace;
use why::evidence_texts::TextCache;

/// The maximum number of cached answers.
const MAX_ANSWERS: usize = 10_000;

/// Returns the sections that have to be sealed again. They were sealed in this clone, the journal
/// still has their records, and at least one section of their commit names a text that the commit
/// does not have. All sections of such a commit are returned, since they were sealed on top of that
/// text.
pub(super) fn sections(
    ws: &Workspace,
    ledger: &Ledger,
    sources: &SectionSources,
) -> HashSet<Digest> {
    let texts = TextCache::new(ws);
    let mut commits: BTreeMap<CommitId, BTreeMap<Digest, Vec<&Entry>>> = BTreeMap::new();
    let ours = ledger.entries_in(&|section| sources.can_make(section));
    for entry in ours.into_iter().filter(|entry| !entry.record.files.is_empty()) {
        if let Some((section, commit)) = entry.section.zip(texts.commit_of(entry)) {
            commits.entry(commit).or_default().entry(section).or_default().push(entry);
        }
    }
    // The answers to the question: does the commit have the texts that the section names?
    let mut answers: SharedAnswers<bool> = SharedAnswers::load(&ws.root, "standing.json");
    let mut is_changed = false;
    let mut stands = |(section, entries): (&Digest, &Vec<&Entry>)| {
        let files: Vec<_> = entries.iter().map(|one| texts.bytes_after(one)).collect();
        *answers.known.entry(key_of(section, &files)).or_insert_with(|| {
            is_changed = true;
            entries.iter().all(|entry| stands_in_commit(&texts, entry))
        })
    };
    commits.retain(|_, sections| !sections.iter().all(&mut stands));
    if is_changed {
        if answers.known.len() > MAX_ANSWERS {
            answers.known.clear();
        }
        answers.save();
    }
    commits.into_values().flat_map(BTreeMap::into_keys).collect()
}

fn key_of(section: &Digest, files: &[Option<Vec<u8>>]) -> String {
    let mut hash = Sha256::new();
    hash.update(section.to_string());
    for file in files {
        match file {
            Some(bytes) => hash.update(Sha256::digest(bytes)),
            // A text that cannot be read is not an empty one.
            None => hash.update([0_u8]),
        }
    }
    Digest::compute(&hash.finalize()).to_string()
}

fn stands_in_commit(texts: &TextCache, entry: &Entry) -> bool {
    let mut said = entry.record.files.iter().flat_map(FileRecord::ranges);
    // If the texts cannot be read, the section is assumed to be intact.
    texts
        .text_after(entry)
        .is_none_or(|after| said.all(|one| provenance::is_claim_true(one, &after)))
}
