//! Finds lost blocks: recorded blocks that are no longer in the tree, although no record says that
//! they were deleted.
//!
//! A block is not lost if one of these steps finds what became of it. Cheap steps come first, and
//! each step looks only at the blocks that are left:
//!
//! 1. A later record of another file is about the block.
//! 2. A file that no record names yet contains the block.
//! 3. The recorded change was undone.
//! 4. The block was recorded again, by a record that does not say what it was before.
//! 5. The block has no name of its own, and its text is in a file to which other blocks of its file
//!    were moved.
//! 6. The text is still in its file, but the file is divided into other blocks now.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::LostBlock;
use code::fingerprint::content_hash;
use code::{Block, ContentHash, Document, language};
use ground::git::{ChangeKind, Target};
use ground::{CommitId, RelativePath, ignores};
use ledger::{BlockName, BlockRecord, ClaimRef, journal};
use provenance::matching::{self, row_of_record};
use provenance::{Provenance, Verdict};
use why::workspace::AT_ONCE;
use why::{Workspace, answers};

/// If the records are based on more commits than this, all files of the tree are searched instead
/// of those that changed since.
const MAX_COMMITS: usize = 32;
/// The maximum number of commits since a record was made that are searched for its text.
const MAX_HISTORY: usize = 1_000;
/// The maximum number of records for which step 4 is done.
const MAX_RERECORDED: usize = 20_000;
/// The maximum amount of text that is compared to find recorded texts in their files, in bytes.
const MAX_COMPARED: usize = 256 * 1024 * 1024;
/// The maximum number of claims on one file whose new files are looked up.
const MAX_CLAIMS: usize = 1_024;

/// The last record of a block, with the path of the file.
pub(super) type Head<'a> = (&'a RelativePath, ClaimRef);

/// The recorded blocks that were found again, in any file.
#[derive(Default)]
pub(super) struct FoundAgain {
    claims: HashSet<ClaimRef>,
    /// Those claims whose block is in another file now than when it was recorded.
    away: HashSet<ClaimRef>,
    /// The names of the found blocks. Two records may be about one block of a file: both sides of a
    /// merge recorded `login`, for example. If the block was found for one of them, it is not lost
    /// for the other.
    names: HashSet<(RelativePath, BlockName)>,
    /// For each file, the other files to which its blocks were moved.
    moved_to: BTreeMap<RelativePath, BTreeSet<RelativePath>>,
}

impl FoundAgain {
    pub(super) fn add_matches(&mut self, ws: &Workspace, path: &RelativePath, found: &Provenance) {
        for at in found.claim.into_iter().chain(found.candidates.iter().copied()) {
            self.add_claim(ws, path, at);
            if let Some(name) = ws.ledger.claim(at).full_block().block.clone() {
                self.names.insert((path.clone(), name));
            }
        }
    }

    pub(super) fn holds(&self, at: ClaimRef) -> bool {
        self.claims.contains(&at)
    }

    fn add_claim(&mut self, ws: &Workspace, path: &RelativePath, at: ClaimRef) {
        self.claims.insert(at);
        let from = &ws.ledger.claim(at).file.relative_path;
        if from != path {
            self.away.insert(at);
        }
        self.note_move(from, path);
    }

    fn note_move(&mut self, from: &RelativePath, to: &RelativePath) {
        if from != to {
            self.moved_to.entry(from.clone()).or_default().insert(to.clone());
        }
    }

    fn covers(&self, ws: &Workspace, (path, at): Head<'_>) -> bool {
        let name = ws.ledger.claim(at).full_block().block.clone();
        name.is_none_or(|name| self.names.contains(&(path.clone(), name)))
    }
}

/// Returns the lost blocks among those that were found neither in a recorded file nor in a new one.
pub(super) fn lost(
    ws: &Workspace,
    mut heads: Vec<Head<'_>>,
    mut standing: FoundAgain,
) -> Vec<LostBlock> {
    let mut committed = CommittedTexts::default();
    remove_settled(ws, &mut heads, |ws, head| {
        was_undone(ws, head) || committed.never_had(ws, head)
    });
    let mut files = PresentFiles::default();
    files.find_recorded_again(ws, &heads, &mut standing);
    heads.retain(|(_, at)| !standing.holds(*at));
    files.open = heads.iter().map(|(_, at)| *at).collect();
    remove_settled(ws, &mut heads, |ws, head| {
        files.was_moved_with_its_file(ws, head, &standing) || files.is_in_another_block(ws, head)
    });
    let mut lost = Vec::with_capacity(heads.len());
    for (ws, heads) in ws.in_parts(&heads) {
        lost.extend(heads.iter().filter_map(|(path, at)| lost_block(&ws, path, *at)));
    }
    lost
}

/// Removes the blocks that are settled. What is read of the ledger for that is not kept in memory.
fn remove_settled(
    ws: &Workspace,
    heads: &mut Vec<Head<'_>>,
    mut is_settled: impl FnMut(&Workspace, Head<'_>) -> bool,
) {
    let mut open = Vec::new();
    for (ws, heads) in ws.in_parts(heads) {
        open.extend(heads.iter().copied().filter(|head| !is_settled(&ws, *head)));
    }
    *heads = open;
}

/// Returns true if the block has the text that it had before the recorded change, or if the
/// evidence of the change is not part of this history: `git revert` removes both, and another
/// branch may have the evidence.
fn was_undone(ws: &Workspace, (path, at): Head<'_>) -> bool {
    let claim = ws.ledger.claim(at);
    if ws.ledger.is_taken_back(claim.entry) {
        return true;
    }
    let range = claim.full_block();
    let (Some(before), Some(name)) = (&range.replaces, &range.block) else { return false };
    let is_as_before = |block: &Block| {
        let identity = &block.identity;
        block.fingerprint.content == *before
            && identity.kind.as_str() == name.kind
            && identity.path == name.path
    };
    ws.standing_blocks(path).is_ok_and(|blocks| blocks.blocks.iter().any(is_as_before))
}

/// The texts that files had in the commits since a record was made.
#[derive(Default)]
struct CommittedTexts {
    /// The key is the path and the commit that the record is based on. `None` if there are too many
    /// commits, or if git cannot tell.
    texts: HashMap<(RelativePath, String), Option<Vec<Document>>>,
}

impl CommittedTexts {
    /// Returns true if a block is only in the journal, and no commit since its record was made has
    /// the recorded text. Then the change was undone before it was committed (`git checkout --
    /// FILE`, `git reset --hard`, `git stash`), and the block is not lost. Those commits may still
    /// have a block of the same name: the one that the change was made to.
    fn never_had(&mut self, ws: &Workspace, (path, at): Head<'_>) -> bool {
        let claim = ws.ledger.claim(at);
        if !journal::is_open(&claim.entry.origin.path) {
            return false;
        }
        let Some(base) = ws.ledger.based_on(at.entry) else { return false };
        let key = (path.clone(), base.to_owned());
        let texts = self
            .texts
            .entry(key)
            .or_insert_with_key(|(path, base)| texts_since(ws, path, &CommitId(base.clone())));
        let range = claim.full_block();
        let is_it = |block: &Block| {
            let (text, tokens) = (&block.fingerprint.content, &block.fingerprint.tokens);
            *text == range.content_hash || Some(tokens) == range.token_hash.as_ref()
        };
        let hold = |text: &Document| text.blocks().blocks.iter().any(is_it);
        texts.as_ref().is_some_and(|texts| !texts.iter().any(hold))
    }
}

/// Returns the texts of a file in the commits of this history that are not older than `base`, each
/// text once. `None` if there are too many commits, or if git cannot tell.
fn texts_since(ws: &Workspace, path: &RelativePath, base: &CommitId) -> Option<Vec<Document>> {
    let git = ws.git()?;
    let time = git.commit_info(base).ok()?.time;
    let commits = git.commits_since(ws.head()?, time, MAX_HISTORY).ok()?;
    if commits.len() == MAX_HISTORY {
        return None;
    }
    let (mut seen, mut texts) = (HashSet::new(), Vec::new());
    for commit in commits {
        let blobs = git.blobs_at(&commit, &[path.as_str()]).ok()?;
        if blobs.first().is_some_and(|(_, blob)| seen.insert(*blob)) {
            let text = ws.read_at(&commit, path).ok()?;
            texts.extend(text.map(|text| ws.outlined(path, &text)));
        }
    }
    Some(texts)
}

/// Returns true if a later record of another file is about this block. A record does not count if
/// that file already had a block with this name or text before, since that is a different block.
fn is_recorded_elsewhere(ws: &Workspace, (path, at): Head<'_>, standing: &mut FoundAgain) -> bool {
    let is_new_there = |later: &ClaimRef| {
        let later = ws.ledger.claim(*later);
        let Some(row) = row_of_record(later.full_block()) else { return false };
        ws.stood_as(at, &later.file.relative_path, &row) != Some(true)
    };
    let later = matching::recorded_elsewhere(&ws.ledger, at).find(is_new_there);
    if let Some(later) = later {
        standing.note_move(path, &ws.ledger.claim(later).file.relative_path);
    }
    later.is_some()
}

/// Searches files that no record names yet for blocks that were not found in a recorded file.
/// Removes those that are found, and those that a later record of another file is about. Calls
/// `visit` for each file that contains recorded blocks.
pub(super) fn find_in_new_files(
    ws: &Workspace,
    heads: &mut Vec<Head<'_>>,
    standing: &mut FoundAgain,
    mut visit: impl FnMut(&Workspace, &RelativePath, &answers::FileProvenance),
) {
    remove_settled(ws, heads, |ws, head| {
        standing.covers(ws, head) || is_recorded_elsewhere(ws, head, standing)
    });
    for (ws, paths) in ws.in_parts(&new_files(ws, heads)) {
        let ws = &ws;
        for path in paths {
            let Some(file) = answers::standing(ws, path) else { continue };
            let is_recorded = |found: &&Provenance| found.verdict != Verdict::Unrecorded;
            let recorded: Vec<_> = file.provenance.iter().filter(is_recorded).collect();
            recorded.iter().for_each(|found| standing.add_matches(ws, path, found));
            if !recorded.is_empty() {
                visit(ws, path, &file);
            }
        }
    }
    heads.retain(|(_, at)| !standing.holds(*at));
}

/// Returns the files without records that were added or changed since these records were made, if
/// their language is that of one of the blocks or is unknown.
fn new_files(ws: &Workspace, heads: &[Head<'_>]) -> Vec<RelativePath> {
    if heads.is_empty() {
        return Vec::new();
    }
    let languages = languages(ws, heads);
    let recorded: HashSet<&RelativePath> = ws.ledger.paths().iter().collect();
    let mut files = changed_since(ws, heads).unwrap_or_else(|| match ws.files() {
        Target::WorkTree => ignores::walk(&ws.root),
        Target::Index | Target::Commit(_) => ws.tracked().unwrap_or_default(),
    });
    files.retain(|path| {
        let language = language::of_file(path.as_str(), "").map(|language| language.id);
        let is_like = language.is_none_or(|id| languages.contains(id));
        is_like && !path.is_orchestration() && !recorded.contains(path)
    });
    files
}

fn languages(ws: &Workspace, heads: &[Head<'_>]) -> HashSet<String> {
    let mut languages = HashSet::new();
    for (ws, heads) in ws.in_parts(heads) {
        let name = |at| ws.ledger.claim(at).full_block().block.clone();
        let names = heads.iter().filter_map(|(_, at)| name(*at));
        languages.extend(names.filter_map(|name| name.language));
    }
    languages
}

/// Returns the files that were added or changed since the commits that the records are based on.
/// `None` if there are too many commits, or if git cannot tell.
fn changed_since(ws: &Workspace, heads: &[Head<'_>]) -> Option<Vec<RelativePath>> {
    let mut commits = BTreeSet::new();
    for (ws, heads) in ws.in_parts(heads) {
        for (_, at) in heads {
            commits.insert(ws.ledger.based_on(at.entry)?.to_owned());
        }
        if commits.len() > MAX_COMMITS {
            return None;
        }
    }
    let mut changed = BTreeSet::new();
    for commit in commits {
        let changes = ws.changed_files_since(&CommitId(commit)).ok()?;
        let there = changes.into_iter().filter(|change| change.kind != ChangeKind::Deleted);
        changed.extend(there.map(|change| change.path));
    }
    Some(changed.into_iter().collect())
}

fn is_unnamed(range: &BlockRecord) -> bool {
    range.block.as_ref().is_some_and(|name| provenance::is_unnamed(&name.kind))
}

/// The files as they are now, and what was found out about their blocks.
#[derive(Default)]
struct PresentFiles {
    read: HashMap<RelativePath, Option<answers::FileProvenance>>,
    /// For each file, the files to which its blocks were moved.
    destinations: HashMap<RelativePath, Arc<BTreeSet<RelativePath>>>,
    /// The claims that are not settled so far.
    open: HashSet<ClaimRef>,
    /// The number of blocks that may still be the block of an open record, by the file and the text
    /// of that record. For example, the imports of `a.rs` were recorded twice with the same text,
    /// and the blocks of `a.rs` were moved to `b.rs` and `c.rs`. If both of these have the imports,
    /// the number is 2 at first, and it goes down with each record that is settled by one.
    unclaimed: HashMap<(RelativePath, ContentHash), usize>,
    /// How many bytes of text were compared so far, to find recorded texts.
    compared: usize,
}

impl PresentFiles {
    fn provenance_of(
        &mut self,
        ws: &Workspace,
        path: &RelativePath,
    ) -> Option<&answers::FileProvenance> {
        if self.read.len() >= AT_ONCE && !self.read.contains_key(path) {
            self.read.clear();
        }
        self.read.entry(path.clone()).or_insert_with(|| answers::standing(ws, path)).as_ref()
    }

    /// Finds blocks that were recorded again in another file, by a record that does not say what
    /// they were before.
    fn find_recorded_again(
        &mut self,
        ws: &Workspace,
        heads: &[Head<'_>],
        standing: &mut FoundAgain,
    ) {
        let mut paths = BTreeSet::new();
        for (ws, heads) in ws.in_parts(&heads[..heads.len().min(MAX_RERECORDED)]) {
            let ledger = &ws.ledger;
            let named = heads.iter().filter(|(_, at)| !is_unnamed(ledger.claim(*at).full_block()));
            paths.extend(named.flat_map(|(_, at)| matching::later_paths(ledger, *at)));
        }
        for (ws, paths) in ws.in_parts(&Vec::from_iter(paths)) {
            let ws = &ws;
            for path in paths {
                let Some(file) = self.provenance_of(ws, path) else { continue };
                let (now, found) = (&file.document, &file.provenance);
                let before = matching::before_own_records(&ws.ledger, path, now, found, ws);
                before.into_iter().for_each(|at| standing.add_claim(ws, path, at));
            }
        }
    }

    /// Returns true if a block without a name of its own was moved with its file: a file to which
    /// other blocks were moved contains its text.
    fn was_moved_with_its_file(
        &mut self,
        ws: &Workspace,
        (path, at): Head<'_>,
        standing: &FoundAgain,
    ) -> bool {
        let range = ws.ledger.claim(at).full_block();
        if !is_unnamed(range) {
            return false;
        }
        let files = self.destinations(ws, path, standing);
        let key = (path.clone(), range.content_hash.clone());
        let mut unclaimed = self.unclaimed.get(&key).copied();
        let unclaimed = unclaimed.get_or_insert_with(|| {
            let there: usize = files.iter().map(|file| count(ws, file, &range.content_hash)).sum();
            there.saturating_sub(self.count_moved(ws, path, &range.content_hash, standing))
        });
        let found = *unclaimed > 0;
        self.unclaimed.insert(key, unclaimed.saturating_sub(1));
        found
    }

    /// Returns the files to which blocks of a file were moved, including blocks whose deletion is
    /// recorded.
    fn destinations(
        &mut self,
        ws: &Workspace,
        path: &RelativePath,
        standing: &FoundAgain,
    ) -> Arc<BTreeSet<RelativePath>> {
        let find = || {
            let mut destinations = standing.moved_to.get(path).cloned().unwrap_or_default();
            for at in ws.ledger.of_path(path).iter().rev().take(MAX_CLAIMS) {
                let later = matching::recorded_elsewhere(&ws.ledger, *at).next();
                destinations.extend(later.map(|at| ws.ledger.claim(at).file.relative_path.clone()));
            }
            Arc::new(destinations)
        };
        Arc::clone(self.destinations.entry(path.clone()).or_insert_with(find))
    }

    /// Returns the line at which a recorded text begins, counted from 1. `None` if the text is not
    /// there as whole lines.
    fn line_of(&mut self, text: &str, range: &BlockRecord) -> Option<u32> {
        if self.compared > MAX_COMPARED {
            return None;
        }
        let count = range.end_line.checked_sub(range.start_line)? as usize + 1;
        let lines: Vec<&str> = text.lines().collect();
        let reads = |lines: &[&str]| {
            let text = lines.join("\n");
            self.compared += text.len();
            content_hash(text.trim()) == range.content_hash
        };
        let at = lines.windows(count).position(reads)?;
        u32::try_from(at + 1).ok()
    }

    /// Returns how many recorded blocks of a file with this text are known to have been moved to
    /// other files.
    fn count_moved(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        text: &ContentHash,
        standing: &FoundAgain,
    ) -> usize {
        let went = |at: &ClaimRef| {
            let is_away = standing.away.contains(at) || !standing.holds(*at);
            is_away
                && !self.open.contains(at)
                && ws.ledger.claim(*at).full_block().content_hash == *text
        };
        ws.trail(path).heads().iter().filter(|at| went(at)).count()
    }

    /// Returns true if the recorded text is still in the file, inside a block without a record.
    /// This happens if a newer version of `intent` divides the file into other blocks.
    fn is_in_another_block(&mut self, ws: &Workspace, (path, at): Head<'_>) -> bool {
        let range = ws.ledger.claim(at).full_block();
        let Ok(document) = ws.read(path) else { return false };
        let Some(line) = self.line_of(&document.text(), range) else { return false };
        let Some(file) = self.provenance_of(ws, path) else { return false };
        let block = file.blocks.at_line(line).and_then(|at| file.provenance.get(at));
        block.is_some_and(|found| found.verdict == Verdict::Unrecorded)
    }
}

/// Returns the number of blocks in a file that have this text.
fn count(ws: &Workspace, path: &RelativePath, text: &ContentHash) -> usize {
    let Ok(blocks) = ws.standing_blocks(path) else { return 0 };
    blocks.blocks.iter().filter(|block| block.fingerprint.content == *text).count()
}

fn lost_block(ws: &Workspace, path: &RelativePath, at: ClaimRef) -> Option<LostBlock> {
    let claim = ws.ledger.claim(at);
    let name = claim.full_block().block.as_ref()?;
    Some(LostBlock {
        path: path.clone(),
        kind: name.kind.clone(),
        name: name.path.clone(),
        intent: ws.intent_of(&claim),
        record: claim.entry.record.id.clone(),
    })
}
