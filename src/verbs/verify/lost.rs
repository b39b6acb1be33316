//! Which recorded blocks are lost: they were recorded, nobody recorded that they were taken out, and no block of the
//! tree goes on from them.
//!
//! Cheapest first, each step for what the one before left: a later record of another file speaks of the block; a file
//! that no record names yet holds it; a block holds it that was recorded again and does not say what it was before; of
//! what has no name of its own, the text stands where its file went; the text stands in the file, cut otherwise.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::LostBlock;
use crate::code::fingerprint::content_hash;
use crate::code::{Block, ContentHash, Document, language};
use crate::ledger::{BlockName, BlockRecord, ClaimRef, journal};
use crate::provenance::matching::{self, row_of_record};
use crate::provenance::{self, Provenance, Verdict};
use crate::verbs::elsewhere::Around;
use crate::verbs::workspace::AT_ONCE;
use crate::verbs::{Workspace, why};
use crate::workspace::git::{ChangeKind, Target};
use crate::workspace::{CommitId, RelativePath, ignores};

/// The changes since more commits than this are not asked for one by one.
const MAX_COMMITS: usize = 32;
/// More commits than this since a record was made are not searched for its text.
const MAX_HISTORY: usize = 1_000;
/// Of more records than this it is not asked who recorded them again.
const MAX_ASKED: usize = 20_000;
/// No more text than this is compared to find recorded blocks in their files, in bytes.
const MAX_COMPARED: usize = 256 * 1024 * 1024;
/// Where more claims than this went is not asked for one file.
const MAX_CLAIMS: usize = 1_024;

/// A record that is the last word on a block of a path.
pub(super) type Head<'a> = (&'a RelativePath, ClaimRef);

/// What was found again, in whatever file.
#[derive(Default)]
pub(super) struct FoundAgain {
    claims: HashSet<ClaimRef>,
    /// Those of them that stand in another file than they were recorded in.
    away: HashSet<ClaimRef>,
    /// Blocks that have another record: of two sides of a merge, only one can stand.
    names: HashSet<(RelativePath, BlockName)>,
    /// The other files that blocks of a file went to.
    went: BTreeMap<RelativePath, BTreeSet<RelativePath>>,
}

impl FoundAgain {
    pub(super) fn add(&mut self, ws: &Workspace, path: &RelativePath, found: &Provenance) {
        for at in found.claim.into_iter().chain(found.candidates.iter().copied()) {
            self.add_claim(ws, path, at);
            if let Some(name) = ws.ledger.claim(at).range().block.clone() {
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
        self.note_way(from, path);
    }

    fn note_way(&mut self, from: &RelativePath, to: &RelativePath) {
        if from != to {
            self.went.entry(from.clone()).or_default().insert(to.clone());
        }
    }

    fn covers(&self, ws: &Workspace, (path, at): Head<'_>) -> bool {
        let name = ws.ledger.claim(at).range().block.clone();
        name.is_none_or(|name| self.names.contains(&(path.clone(), name)))
    }
}

/// The blocks that are lost, of those that nothing stands for, neither in a recorded file nor in a new one.
pub(super) fn lost(
    ws: &Workspace,
    mut heads: Vec<Head<'_>>,
    mut standing: FoundAgain,
) -> Vec<LostBlock> {
    let mut committed = Committed::default();
    without(ws, &mut heads, |ws, head| was_undone(ws, head) || committed.lack(ws, head));
    let mut files = FileCache::default();
    files.find_recorded_again(ws, &heads, &mut standing);
    heads.retain(|(_, at)| !standing.holds(*at));
    files.open = heads.iter().map(|(_, at)| *at).collect();
    without(ws, &mut heads, |ws, head| {
        files.hold_where_its_file_went(ws, head, &standing) || files.hold_in_its_place(ws, head)
    });
    let mut lost = Vec::with_capacity(heads.len());
    for heads in heads.chunks(AT_ONCE) {
        let ws = &ws.forgetful();
        lost.extend(heads.iter().filter_map(|(path, at)| lost_block(ws, path, *at)));
    }
    lost
}

/// Takes out what is settled, without keeping in memory what was read for it.
fn without(
    ws: &Workspace,
    heads: &mut Vec<Head<'_>>,
    mut is_settled: impl FnMut(&Workspace, Head<'_>) -> bool,
) {
    let mut open = Vec::new();
    for heads in heads.chunks(AT_ONCE) {
        let ws = &ws.forgetful();
        open.extend(heads.iter().copied().filter(|head| !is_settled(ws, *head)));
    }
    *heads = open;
}

/// Returns true if the block reads as it did before the recorded change, or if the evidence of the change is not part of
/// this history: `git revert` takes both out, and another branch may have it.
fn was_undone(ws: &Workspace, (path, at): Head<'_>) -> bool {
    let claim = ws.ledger.claim(at);
    if ws.ledger.is_taken_back(claim.entry) {
        return true;
    }
    let range = claim.range();
    let (Some(before), Some(name)) = (&range.replaces, &range.block) else { return false };
    let is_as_before = |block: &Block| {
        let identity = &block.identity;
        block.fingerprint.content == *before
            && identity.kind.as_str() == name.kind
            && identity.path == name.path
    };
    Around(ws).blocks(path).is_ok_and(|blocks| blocks.blocks.iter().any(is_as_before))
}

/// The texts that files had in the commits since a record was made.
#[derive(Default)]
struct Committed {
    /// By path and the commit that the record is based on. `None` if there are too many commits, or if git cannot tell.
    texts: HashMap<(RelativePath, String), Option<Vec<Document>>>,
}

impl Committed {
    /// Returns true if a block is only in the journal, and no commit since its record was made has the recorded text.
    /// Then somebody undid the change (`git checkout -- FILE`, `git reset --hard`, `git stash`) before it was
    /// committed, and the block is not lost. A block of the same name may well be in those commits: it is what the
    /// change was made to.
    fn lack(&mut self, ws: &Workspace, (path, at): Head<'_>) -> bool {
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
        let range = claim.range();
        let is_it = |block: &Block| {
            let (text, tokens) = (&block.fingerprint.content, &block.fingerprint.tokens);
            *text == range.content_hash || Some(tokens) == range.token_hash.as_ref()
        };
        let hold = |text: &Document| text.blocks().blocks.iter().any(is_it);
        texts.as_ref().is_some_and(|texts| !texts.iter().any(hold))
    }
}

/// The texts of a file in the commits of this history that are not older than `base`, each once.
fn texts_since(ws: &Workspace, path: &RelativePath, base: &CommitId) -> Option<Vec<Document>> {
    let git = ws.git()?;
    let time = git.about(base).ok()?.time;
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

/// A block of the same name or text that stood there before is another one, whatever was recorded of it since.
fn is_recorded_elsewhere(ws: &Workspace, (path, at): Head<'_>, standing: &mut FoundAgain) -> bool {
    let is_new_there = |later: &ClaimRef| {
        let later = ws.ledger.claim(*later);
        let Some(row) = row_of_record(later.range()) else { return false };
        Around(ws).stood_as(at, &later.file.relative_path, &row) != Some(true)
    };
    let later = matching::recorded_elsewhere(&ws.ledger, at).find(is_new_there);
    if let Some(later) = later {
        standing.note_way(path, &ws.ledger.claim(later).file.relative_path);
    }
    later.is_some()
}

/// Searches files that no record names yet for the blocks that nothing stands for in a recorded file, and takes out what
/// is found or speaks of another file. `told` hears of the files that hold recorded blocks.
pub(super) fn find_in_new_files(
    ws: &Workspace,
    heads: &mut Vec<Head<'_>>,
    standing: &mut FoundAgain,
    mut told: impl FnMut(&Workspace, &RelativePath, &why::FileProvenance),
) {
    without(ws, heads, |ws, head| {
        standing.covers(ws, head) || is_recorded_elsewhere(ws, head, standing)
    });
    for paths in new_files(ws, heads).chunks(AT_ONCE) {
        let ws = &ws.forgetful();
        for path in paths {
            let Ok(document) = Around(ws).standing(path) else { continue };
            let file = why::file(ws, path, &document);
            let is_recorded = |found: &&Provenance| found.verdict != Verdict::Unrecorded;
            let recorded: Vec<_> = file.provenance.iter().filter(is_recorded).collect();
            recorded.iter().for_each(|found| standing.add(ws, path, found));
            if !recorded.is_empty() {
                told(ws, path, &file);
            }
        }
    }
    heads.retain(|(_, at)| !standing.holds(*at));
}

/// The files without records that came or changed since those records were made, in their languages.
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
    for heads in heads.chunks(AT_ONCE) {
        let ledger = ws.ledger.forgetful();
        let names = heads.iter().filter_map(|(_, at)| ledger.claim(*at).range().block.clone());
        languages.extend(names.filter_map(|name| name.language));
    }
    languages
}

/// What is new or changed since the commits that the records were based on; `None` where git cannot tell.
fn changed_since(ws: &Workspace, heads: &[Head<'_>]) -> Option<Vec<RelativePath>> {
    let git = ws.git()?;
    let mut commits = BTreeSet::new();
    for heads in heads.chunks(AT_ONCE) {
        let ledger = ws.ledger.forgetful();
        for (_, at) in heads {
            commits.insert(ledger.based_on(at.entry)?.to_owned());
        }
        if commits.len() > MAX_COMMITS {
            return None;
        }
    }
    let mut changed = BTreeSet::new();
    for commit in commits {
        let changes = git.changes(Some(&CommitId(commit)), ws.files()).ok()?;
        let there = changes.into_iter().filter(|change| change.kind != ChangeKind::Deleted);
        changed.extend(there.map(|change| change.path));
    }
    Some(changed.into_iter().collect())
}

fn is_unnamed(range: &BlockRecord) -> bool {
    range.block.as_ref().is_some_and(|name| provenance::is_unnamed(&name.kind))
}

/// Files as they stand, and what is known of their blocks.
#[derive(Default)]
struct FileCache {
    read: HashMap<RelativePath, Option<why::FileProvenance>>,
    /// Where the blocks of a file went.
    ways: HashMap<RelativePath, Arc<BTreeSet<RelativePath>>>,
    /// What nothing was found for so far.
    open: HashSet<ClaimRef>,
    /// How often a text stands where the blocks of a file went, and no record of the file is known to be of it.
    left: HashMap<(RelativePath, ContentHash), usize>,
    /// Bytes of text, in search of a recorded one.
    compared: usize,
}

impl FileCache {
    fn of(&mut self, ws: &Workspace, path: &RelativePath) -> Option<&why::FileProvenance> {
        let read = || {
            let document = Around(ws).standing(path).ok()?;
            Some(why::file(ws, path, &document))
        };
        if self.read.len() >= AT_ONCE && !self.read.contains_key(path) {
            self.read.clear();
        }
        self.read.entry(path.clone()).or_insert_with(read).as_ref()
    }

    /// Blocks may have been recorded again in another file by somebody who did not know what they were before.
    fn find_recorded_again(
        &mut self,
        ws: &Workspace,
        heads: &[Head<'_>],
        standing: &mut FoundAgain,
    ) {
        let mut paths = BTreeSet::new();
        for heads in heads[..heads.len().min(MAX_ASKED)].chunks(AT_ONCE) {
            let ledger = ws.ledger.forgetful();
            let named = heads.iter().filter(|(_, at)| !is_unnamed(ledger.claim(*at).range()));
            paths.extend(named.flat_map(|(_, at)| matching::may_speak_of(&ledger, *at)));
        }
        for paths in Vec::from_iter(paths).chunks(AT_ONCE) {
            let ws = &ws.forgetful();
            for path in paths {
                let around = Around(ws);
                let Ok(document) = around.standing(path) else { continue };
                let Some(file) = self.of(ws, path) else { continue };
                let (now, found) = (&document, &file.provenance);
                let before = matching::before_own_records(&ws.ledger, path, now, found, &around);
                before.into_iter().for_each(|at| standing.add_claim(ws, path, at));
            }
        }
    }

    /// What has no name of its own goes with its file, and is known by its text.
    fn hold_where_its_file_went(
        &mut self,
        ws: &Workspace,
        (path, at): Head<'_>,
        standing: &FoundAgain,
    ) -> bool {
        let range = ws.ledger.claim(at).range();
        if !is_unnamed(range) {
            return false;
        }
        let files = self.ways(ws, path, standing);
        let key = (path.clone(), range.content_hash.clone());
        let mut left = self.left.get(&key).copied();
        let left = left.get_or_insert_with(|| {
            let there: usize = files.iter().map(|file| count(ws, file, &range.content_hash)).sum();
            there.saturating_sub(self.went_there(ws, path, &range.content_hash, standing))
        });
        let found = *left > 0;
        self.left.insert(key, left.saturating_sub(1));
        found
    }

    /// The files that blocks of a file went to, those whose deletion is recorded included.
    fn ways(
        &mut self,
        ws: &Workspace,
        path: &RelativePath,
        standing: &FoundAgain,
    ) -> Arc<BTreeSet<RelativePath>> {
        let find = || {
            let mut ways = standing.went.get(path).cloned().unwrap_or_default();
            for at in ws.ledger.of_path(path).iter().rev().take(MAX_CLAIMS) {
                let later = matching::recorded_elsewhere(&ws.ledger, *at).next();
                ways.extend(later.map(|at| ws.ledger.claim(at).file.relative_path.clone()));
            }
            Arc::new(ways)
        };
        Arc::clone(self.ways.entry(path.clone()).or_insert_with(find))
    }

    /// The line on which a recorded text begins, where it stands on whole lines; counted from 1.
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

    /// How many blocks of a file that read so are known to have gone to others.
    fn went_there(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        text: &ContentHash,
        standing: &FoundAgain,
    ) -> usize {
        let went = |at: &ClaimRef| {
            let is_away = standing.away.contains(at) || !standing.holds(*at);
            is_away && !self.open.contains(at) && ws.ledger.claim(*at).range().content_hash == *text
        };
        ws.trail(path).heads().iter().filter(|at| went(at)).count()
    }

    /// A later version of this program may cut a file into other blocks, of which no record speaks.
    fn hold_in_its_place(&mut self, ws: &Workspace, (path, at): Head<'_>) -> bool {
        let range = ws.ledger.claim(at).range();
        let Ok(document) = ws.read(path) else { return false };
        let Some(line) = self.line_of(&document.text(), range) else { return false };
        let Some(file) = self.of(ws, path) else { return false };
        let block = file.blocks.at_line(line).and_then(|at| file.provenance.get(at));
        block.is_some_and(|found| found.verdict == Verdict::Unrecorded)
    }
}

/// How many blocks of a file read so.
fn count(ws: &Workspace, path: &RelativePath, text: &ContentHash) -> usize {
    let Ok(blocks) = Around(ws).blocks(path) else { return 0 };
    blocks.blocks.iter().filter(|block| block.fingerprint.content == *text).count()
}

fn lost_block(ws: &Workspace, path: &RelativePath, at: ClaimRef) -> Option<LostBlock> {
    let claim = ws.ledger.claim(at);
    let name = claim.range().block.as_ref()?;
    Some(LostBlock {
        path: path.clone(),
        kind: name.kind.clone(),
        name: name.path.clone(),
        intent: ws.intent_of(&claim),
        record: claim.entry.record.id.clone(),
    })
}
