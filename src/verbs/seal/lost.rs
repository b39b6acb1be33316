//! Evidence of commits that were made again with other texts: amended, squashed, or rebased onto an edit of the same
//! block. The text that it names is in no commit, so nobody can tell any more which lines it means. As long as the
//! journal holds what such evidence was made from, it is made again, for the commit that has taken the place.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::ledger::journal::Sources;
use crate::ledger::{Digest, Entry, Ledger};
use crate::provenance;
use crate::verbs::Workspace;
use crate::verbs::derive::Texts;
use crate::workspace::{CommitId, store};

/// A file larger than this, in bytes, was not written by us.
const MAX_KNOWN: u64 = 16 * 1024 * 1024;
/// More answers than this are not kept in mind.
const MAX_ANSWERS: usize = 10_000;

/// Whether sections of evidence stand in the texts of their commits, as far as that was asked before.
struct Known {
    path: Option<PathBuf>,
    stands: BTreeMap<String, bool>,
    is_changed: bool,
}

impl Known {
    fn load(ws: &Workspace) -> Self {
        let path = ws.root.common_dir().map(|common| common.join("intent/cache/standing.json"));
        let bytes = path.as_ref().and_then(|path| store::read_capped(path, MAX_KNOWN).ok()?);
        let known = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { path, stands: known.unwrap_or_default(), is_changed: false }
    }

    fn save(mut self) {
        if !self.is_changed {
            return;
        }
        if self.stands.len() > MAX_ANSWERS {
            self.stands.clear();
        }
        if let (Some(path), Ok(bytes)) = (self.path, serde_json::to_vec(&self.stands))
            && let Err(error) = store::write_scratch(&path, &bytes)
        {
            tracing::debug!(%error, "which evidence stands is not kept");
        }
    }
}

/// The sections that were sealed here, can be made again, and are about a commit of which one of them names a text that
/// is not there. What else is said of such a commit goes with it: it was sealed on top of the text that is gone.
pub(super) fn sections(ws: &Workspace, ledger: &Ledger, sources: &Sources) -> HashSet<Digest> {
    let texts = Texts::new(ws);
    let mut commits: BTreeMap<CommitId, BTreeMap<Digest, Vec<&Entry>>> = BTreeMap::new();
    let ours = ledger.entries_in(&|section| sources.can_make(section));
    for entry in ours.into_iter().filter(|entry| !entry.record.files.is_empty()) {
        if let Some((section, commit)) = entry.section.zip(texts.commit_of(entry)) {
            commits.entry(commit).or_default().entry(section).or_default().push(entry);
        }
    }
    let mut known = Known::load(ws);
    let mut stands = |(section, entries): (&Digest, &Vec<&Entry>)| {
        let files: Vec<_> = entries.iter().map(|one| texts.bytes_after(one)).collect();
        *known.stands.entry(key_of(section, &files)).or_insert_with(|| {
            known.is_changed = true;
            entries.iter().all(|entry| stands_in_commit(&texts, entry))
        })
    };
    commits.retain(|_, sections| !sections.iter().all(&mut stands));
    known.save();
    commits.into_values().flat_map(BTreeMap::into_keys).collect()
}

fn key_of(section: &Digest, files: &[Option<Vec<u8>>]) -> String {
    let mut hash = Sha256::new();
    hash.update(section.to_string());
    files.iter().for_each(|file| hash.update(Sha256::digest(file.as_deref().unwrap_or_default())));
    Digest::of(&hash.finalize()).to_string()
}

fn stands_in_commit(texts: &Texts, entry: &Entry) -> bool {
    let conversations = entry.record.files.iter().flat_map(|file| &file.conversations);
    let mut said = conversations.flat_map(|one| &one.ranges);
    // What cannot be read is not known to be lost.
    texts
        .of_entry(entry)
        .is_none_or(|(_, after)| said.all(|one| provenance::stands_in(one, &after)))
}
