//! Decides which blocks of a file a record names: those that changed, except those that are
//! recorded or committed already.

use std::collections::{HashMap, HashSet};

use super::{Before, LeftOut, RecordExtent, block_record, brought_since};
use crate::code::{self, Block, ContentHash, Document, FileBlocks, LineRange};
use crate::ledger::{BlockRecord, Claim, ClaimRef, OutlineChange};
use crate::provenance::classify::ChangedBlock;
use crate::provenance::difference::{Difference, lines_added_by_all};
use crate::provenance::matching::{self, SharedTrail};
use crate::provenance::outline::{Against, Outline};
use crate::provenance::{self, Placement, Provenance, Verdict, is_unnamed};
use crate::verbs::baseline::{Baseline, Edits};
use crate::verbs::{Workspace, why};
use crate::workspace::{CommitId, RelativePath};

/// The blocks that a record names.
pub(super) struct Changes {
    /// Blocks that changed but are not recorded, each with the reason.
    pub(super) left: Vec<LeftOut>,
    /// How many blocks changed since the last record and are committed as they are now.
    pub(super) committed_since: usize,
    edits: Edits,
    pub(super) ranges: Vec<BlockRecord>,
    gone: Vec<(String, String)>,
    /// The blocks of the file, before the change and now.
    pub(super) outlines: OutlineChange,
}

/// A file that is to be recorded, with its earlier states.
pub(super) struct FileToRecord<'a> {
    pub(super) ws: &'a Workspace,
    pub(super) path: &'a RelativePath,
    pub(super) document: &'a Document,
    text: String,
    now: std::sync::Arc<FileBlocks>,
    /// The committed version of the file.
    committed: &'a Baseline,
    differences: Vec<Difference>,
    trail: SharedTrail,
    /// The last recorded version, and for each present block its row in that version.
    last: Option<(Outline, Vec<Option<usize>>)>,
    provenance: Vec<Provenance>,
    heads: Vec<ClaimRef>,
}

impl<'a> FileToRecord<'a> {
    pub(super) fn new(
        ws: &'a Workspace,
        path: &'a RelativePath,
        document: &'a Document,
        committed: &'a Baseline,
    ) -> Self {
        let now = document.blocks();
        let trail = ws.trail(path);
        let last = trail.last_outline().map(|last| {
            let rows = matching::rows_in(&last, &now);
            (last, rows)
        });
        Self {
            ws,
            path,
            document,
            text: document.text(),
            committed,
            differences: committed.differences(document),
            last,
            provenance: why::file(ws, path, document).provenance,
            heads: trail.heads(),
            trail,
            now,
        }
    }

    /// Returns true if an earlier state of the file is known.
    pub(super) fn knows_before(&self) -> bool {
        self.last.is_some() || !matches!(self.committed, Baseline::Unknown)
    }

    /// Returns true if the file was not committed since its last record. In that case the recorded
    /// state may be newer than the committed one.
    fn is_ahead(&self) -> bool {
        let Some(last) = self.trail.newest().and_then(|version| version.last) else { return false };
        let (then, head) = (based_on(self.ws, last), self.ws.head());
        let held = |commit: &CommitId| self.ws.git()?.file_at(commit, self.path).ok();
        let is_as_then = || {
            let then = held(&CommitId(then?.to_owned()))?;
            Some(held(head?)? == then)
        };
        self.differences.is_empty()
            || then == head.map(|head| head.0.as_str())
            || is_as_then() == Some(true)
    }

    /// Returns the text before the change, if that is the committed one and the two texts can be
    /// compared node by node.
    pub(super) fn text_before(&self) -> Option<&Document> {
        match self.committed {
            Baseline::Texts(versions) if versions.len() == 1 => {
                versions.first().filter(|_| !self.is_ahead() && !self.document.is_prose())
            }
            _ => None,
        }
    }

    /// Returns the blocks that differ both from the commit and from the last record.
    fn edits(&self) -> Edits {
        let rows = Outline::of(&self.now).rows;
        let mut edits = match &self.last {
            Some((last, _)) if self.differences.is_empty() => {
                Baseline::Outline(last.clone()).edits(self.document)
            }
            _ => Edits::of(&self.differences),
        };
        if let Some((last, origins)) = &self.last {
            let is_as_recorded =
                |at: usize| origins[at].is_some_and(|old| last.rows[old].text == rows[at].text);
            edits.now.retain(|(at, _)| !is_as_recorded(*at));
        }
        edits
    }

    /// Returns the outline before this change, and for each present block its row in that outline.
    fn before(&self) -> (Outline, Vec<Option<usize>>) {
        let committed = || {
            let first = self.differences.first()?;
            Some((Outline::of(&first.old), first.origins.clone()))
        };
        let last = self.last.clone().filter(|_| self.is_ahead());
        last.or_else(committed).or_else(|| self.last.clone()).unwrap_or_default()
    }
}

impl Changes {
    /// Returns what changed since the baseline, except blocks that are recorded or committed
    /// already.
    pub(super) fn since(subject: &FileToRecord<'_>) -> Self {
        let mut edits = subject.edits();
        // Another process has recorded these, or they were recorded on a branch whose outline is
        // not the last.
        edits.now.retain(|(at, _)| !subject.recorded_alike(*at, |_| true));
        let committed_since = subject.committed_since(&edits);
        let left = subject.leave_moved(&mut edits);
        let changes = Self::of(subject, edits, left, RecordExtent::Changes);
        Self { committed_since, ..changes }
    }

    /// Returns every block of the file, except those whose last record has the same text and
    /// satisfies `accepts`.
    pub(super) fn all_but(
        subject: &FileToRecord<'_>,
        accepts: impl Fn(&Claim<'_>) -> bool,
    ) -> Self {
        let mut edits = subject.edits();
        every_block(&mut edits, &subject.now);
        edits.now.retain(|(at, _)| !subject.recorded_alike(*at, &accepts));
        Self::of(subject, edits, Vec::new(), RecordExtent::WholeFile)
    }

    /// Returns every block of these lines, except those whose last record has the same text and
    /// satisfies `accepts`.
    pub(super) fn of_lines(
        subject: &FileToRecord<'_>,
        lines: LineRange,
        accepts: impl Fn(&Claim<'_>) -> bool,
    ) -> Self {
        let mut edits = subject.edits();
        every_block(&mut edits, &subject.now);
        let within = |at: usize| {
            let block = subject.now.blocks[at].lines;
            lines.start() <= block.start() && block.end() <= lines.end()
        };
        let around = subject.now.at_line(lines.start());
        let any_within = (0..subject.now.blocks.len()).any(within);
        edits.now.retain(|(at, _)| {
            let wanted = if any_within { within(*at) } else { around == Some(*at) };
            wanted && !subject.recorded_alike(*at, &accepts)
        });
        Self::of(subject, edits, Vec::new(), RecordExtent::Lines(lines))
    }

    fn of(
        subject: &FileToRecord<'_>,
        mut edits: Edits,
        mut left: Vec<LeftOut>,
        extent: RecordExtent,
    ) -> Self {
        left.extend(subject.leave_conflicts(&mut edits));
        let (before, rows) = subject.before();
        let mut ranges: Vec<BlockRecord> = edits
            .now
            .iter()
            .map(|(at, _)| {
                let known = Before {
                    replaces: subject.replaces(*at),
                    brought: subject.brought(*at, extent),
                    row: Some(*at),
                    was: rows.get(*at).copied().flatten(),
                };
                block_record(subject.document, &subject.now.blocks[*at], known)
            })
            .collect();
        let (deleted, gone) = match extent {
            RecordExtent::Lines(_) => Default::default(),
            RecordExtent::Changes | RecordExtent::WholeFile => {
                subject.deletions(&edits.gone, extent)
            }
        };
        ranges.extend(deleted);
        let outlines = Outline::of(&subject.now).changed_from(&before);
        Self { left, committed_since: 0, edits, ranges, gone, outlines }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn classified<'a>(&'a self, now: &'a FileBlocks) -> Vec<ChangedBlock<'a>> {
        let standing = self
            .edits
            .now
            .iter()
            .map(|(at, against)| ChangedBlock::Now(&now.blocks[*at], *against));
        let gone = self.gone.iter().map(|(kind, path)| ChangedBlock::Gone(kind, path));
        standing.chain(gone).collect()
    }
}

fn every_block(edits: &mut Edits, now: &FileBlocks) {
    let known: HashSet<usize> = edits.now.iter().map(|(at, _)| *at).collect();
    let others = (0..now.blocks.len()).filter(|at| !known.contains(at));
    edits.now.extend(others.map(|at| (at, Against::Same)));
    edits.now.sort_by_key(|(at, _)| *at);
}

impl FileToRecord<'_> {
    /// Returns the content hash that a block had before: the last recorded one if that may not be
    /// committed yet, otherwise the committed one. `None` if the block has not changed, since a
    /// block that is claimed as it is does not replace itself.
    fn replaces(&self, at: usize) -> Option<ContentHash> {
        let other = |content: &ContentHash| *content != self.now.blocks[at].fingerprint.content;
        let recorded = || {
            let state = self.state_of(at)?;
            let claim = self.trail.claim(state)?;
            let range = self.ws.ledger.claim(claim).full_block();
            let made = self.trail.state(self.trail.made_by(claim)?);
            let is_as_recorded = made.row.text == self.trail.state(state).row.text;
            is_as_recorded.then(|| range.content_hash.clone())
        };
        let committed = || {
            let mut origins = self.differences.iter().filter_map(|one| one.origin(at));
            origins.next().map(|origin| origin.fingerprint.content.clone())
        };
        let found = || {
            self.provenance[at]
                .claim
                .map(|claim| self.ws.ledger.claim(claim).full_block().content_hash.clone())
        };
        let first = if self.is_ahead() { recorded() } else { None };
        let known = first.or_else(committed).or_else(recorded).or_else(found);
        known.filter(other)
    }

    /// Returns the last recorded state of a block.
    fn state_of(&self, at: usize) -> Option<provenance::file_history::StateId> {
        let (_, origins) = self.last.as_ref()?;
        let version = self.trail.versions_known().next()?;
        version.states.get(origins[at]?).copied()
    }

    /// Returns for each line of a block whether it is new compared with all known earlier texts. If
    /// the file is claimed as it is, every line that no record has counts as new.
    fn brought(&self, at: usize, extent: RecordExtent) -> Option<Vec<bool>> {
        let block = &self.now.blocks[at];
        let recorded = self.provenance[at].claim.or_else(|| self.trail.claim(self.state_of(at)?));
        let since = recorded.and_then(|claim| brought_since(self.ws, claim, self.document, block));
        match extent {
            RecordExtent::WholeFile | RecordExtent::Lines(_) => since,
            RecordExtent::Changes => match (lines_added_by_all(&self.differences, at), since) {
                (Some(all), Some(since)) => {
                    Some(all.into_iter().zip(since).map(|(a, b)| a && b).collect())
                }
                (all, since) => all.or(since),
            },
        }
    }

    /// Returns true if the last record of a block has exactly its present text and place, and also
    /// satisfies `accepts`.
    fn recorded_alike(&self, at: usize, accepts: impl Fn(&Claim<'_>) -> bool) -> bool {
        let found = &self.provenance[at];
        let exact = found.verdict == Verdict::Exact && found.place == Some(Placement::Same);
        let claim = |at: ClaimRef| self.ws.ledger.claim(at);
        let last = |at: &ClaimRef| {
            self.heads.binary_search(at).is_ok() || claim(*at).full_block().block.is_none()
        };
        exact && found.claim.is_some_and(|at| last(&at) && accepts(&claim(at)))
    }

    /// Counts the blocks that changed since the last record but are committed as they are now.
    /// Their author is unknown; most likely they were pulled.
    fn committed_since(&self, edits: &Edits) -> usize {
        let (Some((last, origins)), false) = (&self.last, self.differences.is_empty()) else {
            return 0;
        };
        let rows = Outline::of(&self.now).rows;
        let edited: HashSet<usize> = edits.now.iter().map(|(at, _)| *at).collect();
        let changed = |at: &usize| {
            origins[*at].is_none_or(|old| last.rows[old].text != rows[*at].text)
                && !edited.contains(at)
                && !self.provenance[*at].covered()
        };
        (0..rows.len()).filter(changed).count()
    }

    /// Removes blocks that were moved unchanged from another file, since their record there still
    /// names their intent.
    fn leave_moved(&self, edits: &mut Edits) -> Vec<LeftOut> {
        let from = |at: usize| {
            let found = &self.provenance[at];
            let claim = found.claim.filter(|_| found.verdict == Verdict::Moved)?;
            let path = &self.ws.ledger.claim(claim).file.relative_path;
            (path != self.path).then_some(path)
        };
        let all = std::mem::take(&mut edits.now);
        let (moved, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(at, _)| from(*at).is_some());
        edits.now = kept;
        moved
            .iter()
            .filter_map(|(at, _)| Some(moved_here(&self.now.blocks[*at], from(*at)?)))
            .collect()
    }

    /// Removes blocks with conflict markers. Such a block contains two texts, and the merge decides
    /// which one stays.
    fn leave_conflicts(&self, edits: &mut Edits) -> Vec<LeftOut> {
        let conflicts = code::conflicts(&self.text);
        let conflict_in = |at: usize| {
            let lines = self.now.blocks[at].lines;
            conflicts.iter().find(|it| it.overlaps(lines))
        };
        let mut left = Vec::new();
        edits.now.retain(|(at, _)| {
            let conflict = conflict_in(*at);
            left.extend(conflict.map(|it| in_conflict(&self.now.blocks[*at], *it)));
            conflict.is_none()
        });
        left
    }
}

fn in_conflict(block: &Block, conflict: LineRange) -> LeftOut {
    let (start, end) = (conflict.start(), conflict.end());
    let reason = format!("holds a merge conflict in lines {start}-{end}; resolve that first");
    LeftOut::block(block, &reason)
}

fn moved_here(block: &Block, from: &RelativePath) -> LeftOut {
    let reason = format!("came unchanged from {from}, and its record still says who asked for it");
    LeftOut::block(block, &reason)
}

/// Returns the commit that the work tree was based on when the record was made.
fn based_on(ws: &Workspace, at: ClaimRef) -> Option<&str> {
    ws.ledger.based_on(at.entry)
}

impl FileToRecord<'_> {
    /// Returns the blocks that were deleted: recorded ones, and the committed blocks in
    /// `unrecorded`. A recorded block that a commit has deleted since may have been deleted by
    /// anyone, so it is returned only if the whole file is claimed.
    fn deletions(
        &self,
        unrecorded: &[Block],
        extent: RecordExtent,
    ) -> (Vec<BlockRecord>, Vec<(String, String)>) {
        let (ws, now) = (self.ws, &self.now);
        let matched: HashSet<ClaimRef> = self
            .provenance
            .iter()
            .flat_map(|found| found.claim.into_iter().chain(found.candidates.iter().copied()))
            .collect();
        let names: HashSet<(&str, &str)> = now
            .blocks
            .iter()
            .map(|block| (block.identity.kind.as_str(), block.identity.path.as_str()))
            .collect();
        let texts: HashSet<&ContentHash> =
            now.blocks.iter().map(|block| &block.fingerprint.content).collect();
        let mut ranges = Vec::new();
        let mut gone = Vec::new();
        for head in self.heads.iter().filter(|head| !matched.contains(head)) {
            let range = ws.ledger.claim(*head).full_block();
            let Some(name) = &range.block else { continue };
            let stands = names.contains(&(name.kind.as_str(), name.path.as_str()))
                || texts.contains(&range.content_hash)
                || self.may_stand(&name.kind, &name.path);
            let by_commit = || gone_by_commit(ws, *head, self.committed);
            if stands || (extent == RecordExtent::Changes && by_commit()) {
                continue;
            }
            gone.push((name.kind.clone(), name.path.clone()));
            ranges.push(BlockRecord {
                deleted: true,
                replaces: Some(range.content_hash.clone()),
                brought: None,
                ..range.clone()
            });
        }
        // Several blocks can have the same name. Those with a record were handled above, so skip as
        // many here.
        let mut recorded: HashMap<(String, String), usize> = HashMap::new();
        for name in &gone {
            *recorded.entry(name.clone()).or_default() += 1;
        }
        let recorded_gone =
            if unrecorded.is_empty() { HashSet::new() } else { self.recorded_gone() };
        for block in unrecorded.iter().filter(|block| !block.identity.kind.is_unnamed()) {
            let (kind, path) = (block.identity.kind.as_str(), &block.identity.path);
            if let Some(left @ 1..) = recorded.get_mut(&(kind.to_owned(), path.clone())) {
                *left -= 1;
                continue;
            }
            let text = &block.fingerprint.content;
            if self.may_stand(kind, path) || recorded_gone.contains(&(kind, path.as_str(), text)) {
                continue;
            }
            gone.push((block.identity.kind.as_str().to_owned(), block.identity.path.clone()));
            let content = block.fingerprint.content.clone();
            ranges.push(BlockRecord {
                deleted: true,
                replaces: Some(content),
                ..provenance::textless(block, now.language)
            });
        }
        (ranges, gone)
    }

    /// Returns the committed blocks whose deletion was already recorded on top of this commit:
    /// kind, name, and text.
    fn recorded_gone(&self) -> HashSet<(&str, &str, &ContentHash)> {
        let head = self.ws.head().map(|head| head.0.as_str());
        let claims = self.ws.ledger.of_path(self.path).into_iter();
        let deleted = claims.filter(|at| self.ws.ledger.claim(*at).full_block().deleted);
        let on_this_commit = deleted.filter(|at| based_on(self.ws, *at) == head);
        let named = on_this_commit.filter_map(|at| {
            let range = self.ws.ledger.claim(at).full_block();
            let name = range.block.as_ref()?;
            Some((name.kind.as_str(), name.path.as_str(), range.replaces.as_ref()?))
        });
        named.collect()
    }

    /// Returns true if a block may still exist in a file with a syntax error, which can hide it. A
    /// block without a name always may; a block with a name may if the text contains all words of
    /// its name.
    fn may_stand(&self, kind: &str, path: &str) -> bool {
        let name = path.rsplit('.').next().unwrap_or(path);
        let mut words = name.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.now.has_error && (is_unnamed(kind) || words.all(|word| self.text.contains(word)))
    }
}

/// Returns true if a commit since the record deleted the block. The author of such a deletion is
/// unknown.
fn gone_by_commit(ws: &Workspace, head: ClaimRef, committed: &Baseline) -> bool {
    let range = ws.ledger.claim(head).full_block();
    let is_lacking =
        range.block.as_ref().is_some_and(|name| committed.lacks(name, &range.content_hash));
    based_on(ws, head) != ws.head().map(|head| head.0.as_str()) && is_lacking
}
