//! Decides which blocks of a file a record names: those that changed, except those that are
//! recorded or committed already.

use std::collections::{HashMap, HashSet};

use super::{Before, RecordExtent, SkippedFile, block_record, recorded_before};
use code::{Block, ContentHash, Document, FileBlocks, LineRange};
use ground::{CommitId, RelativePath};
use ledger::{BlockRecord, Claim, ClaimRef, OutlineChange};
use provenance::classify::{self, ChangedBlock, Classification, Parsed};
use provenance::difference::{Difference, lines_added_by_all};
use provenance::matching::{self, SharedTrail};
use provenance::outline::{Against, Outline};
use provenance::{Placement, Provenance, Verdict, is_unnamed};
use why::baseline::{Baseline, Edits};
use why::{Workspace, answers};

/// The blocks that a record names.
pub(super) struct Changes {
    /// Blocks that changed but are not recorded, each with the reason.
    pub(super) left: Vec<SkippedFile>,
    /// The number of blocks that differ from the last record but not from the last commit. Somebody
    /// committed them without a record, for example on a branch that was pulled, so their author is
    /// not known.
    pub(super) committed_since: usize,
    pub(super) edits: Edits,
    /// The records of the changed blocks, followed by those of the deleted ones.
    pub(super) ranges: Vec<BlockRecord>,
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
            provenance: answers::file(ws, path, document).provenance,
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
        let (then, head) = (self.ws.ledger.based_on(last.entry), self.ws.head());
        let held = |commit: &CommitId| self.ws.git()?.file_at(commit, self.path).ok();
        let is_as_then = || {
            let then = held(&CommitId(then?.to_owned()))?;
            Some(held(head?)? == then)
        };
        self.differences.is_empty()
            || then == head.map(|head| head.0.as_str())
            || is_as_then() == Some(true)
    }

    /// Returns the committed text if the change began with it and the two texts can be compared node
    /// by node. `None` if a record that is not committed yet is newer than the commit.
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
        let rows = Outline::from_blocks(&self.now).rows;
        let mut edits = match &self.last {
            Some((last, _)) if self.differences.is_empty() => {
                Baseline::Outline(last.clone()).edits(self.document)
            }
            _ => Edits::from_differences(&self.differences),
        };
        if let Some((last, origins)) = &self.last {
            let is_as_recorded =
                |at: usize| origins[at].is_some_and(|old| last.rows[old].text == rows[at].text);
            edits.now.retain(|(at, _)| !is_as_recorded(*at));
        }
        edits
    }

    /// Returns the outline before this change, and for each present block its row in that outline.
    fn outline_before(&self) -> (Outline, Vec<Option<usize>>) {
        let committed = || {
            let first = self.differences.first()?;
            Some((Outline::from_blocks(&first.old), first.origins.clone()))
        };
        let last = self.last.clone().filter(|_| self.is_ahead());
        last.or_else(committed).or_else(|| self.last.clone()).unwrap_or_default()
    }
}

impl Changes {
    /// Returns the blocks of an extent, except those whose last record has the same text. If the
    /// extent is not only what changed, such a record must also satisfy `accepts`.
    pub(super) fn of_extent(
        subject: &FileToRecord<'_>,
        extent: RecordExtent,
        accepts: impl Fn(&Claim<'_>) -> bool,
    ) -> Self {
        let only_changes = extent == RecordExtent::Changes;
        let mut edits = subject.edits();
        if !only_changes {
            every_block(&mut edits, &subject.now);
        }
        if let RecordExtent::Lines(lines) = extent {
            let wanted = subject.blocks_within(lines);
            edits.now.retain(|(at, _)| wanted.contains(at));
        }
        // Another process may have recorded a change already, or it was recorded on a branch whose
        // outline is not the last.
        let accepts = |claim: &Claim<'_>| only_changes || accepts(claim);
        edits.now.retain(|(at, _)| !subject.recorded_alike(*at, accepts));
        let committed_since = if only_changes { subject.committed_since(&edits) } else { 0 };
        let mut left = if only_changes { subject.leave_moved(&mut edits) } else { Vec::new() };
        left.extend(subject.leave_conflicts(&mut edits));
        let (before, rows) = subject.outline_before();
        let block = |at: usize| {
            let known = Before {
                replaces: subject.replaces(at),
                brought: subject.brought(at, extent),
                row: Some(at),
                was: rows.get(at).copied().flatten(),
            };
            block_record(subject.document, &subject.now.blocks[at], known)
        };
        let mut ranges: Vec<BlockRecord> = edits.now.iter().map(|(at, _)| block(*at)).collect();
        if !matches!(extent, RecordExtent::Lines(_)) {
            ranges.extend(subject.deletions(&edits.gone, extent));
        }
        let outlines = Outline::from_blocks(&subject.now).changed_from(&before);
        Self { left, committed_since, edits, ranges, outlines }
    }

    /// Determines the class of the change from the hashes of the blocks. `had_error` says whether
    /// the text before the change has a syntax error.
    pub(super) fn provisional_class(&self, now: &FileBlocks, had_error: bool) -> Classification {
        let standing = self.edits.now.iter();
        let standing = standing.map(|(at, against)| ChangedBlock::Now(&now.blocks[*at], *against));
        let deleted = self.ranges.iter().filter(|range| range.deleted);
        let gone = deleted
            .filter_map(|range| range.block.as_ref())
            .map(|name| ChangedBlock::Gone(&name.kind, &name.path));
        let changed: Vec<ChangedBlock<'_>> = standing.chain(gone).collect();
        let has_error = now.has_error || had_error;
        let parsed = if has_error { Parsed::WithErrors } else { Parsed::Cleanly };
        classify::provisional(&changed, parsed)
    }
}

fn every_block(edits: &mut Edits, now: &FileBlocks) {
    let known: HashSet<usize> = edits.now.iter().map(|(at, _)| *at).collect();
    let others = (0..now.blocks.len()).filter(|at| !known.contains(at));
    edits.now.extend(others.map(|at| (at, Against::Same)));
    edits.now.sort_by_key(|(at, _)| *at);
}

impl FileToRecord<'_> {
    /// Returns the indices of the blocks that lie completely in these lines. If there is none,
    /// returns the innermost block at the first of the lines.
    fn blocks_within(&self, lines: LineRange) -> Vec<usize> {
        let within = |at: &usize| {
            let block = self.now.blocks[*at].lines;
            lines.start() <= block.start() && block.end() <= lines.end()
        };
        let inside: Vec<usize> = (0..self.now.blocks.len()).filter(within).collect();
        match inside.is_empty() {
            true => self.now.at_line(lines.start()).into_iter().collect(),
            false => inside,
        }
    }

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
            let claim = self.provenance[at].claim?;
            Some(self.ws.ledger.claim(claim).full_block().content_hash.clone())
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
        let before = |claim| recorded_before(self.ws, claim, self.document, block);
        let since = recorded.and_then(|claim| before(claim).brought);
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
        let rows = Outline::from_blocks(&self.now).rows;
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
    fn leave_moved(&self, edits: &mut Edits) -> Vec<SkippedFile> {
        self.leave(edits, |at| {
            let found = &self.provenance[at];
            let claim = found.claim.filter(|_| found.verdict == Verdict::Moved)?;
            let from = &self.ws.ledger.claim(claim).file.relative_path;
            (from != self.path).then(|| {
                format!("came unchanged from {from}, and its record still says who asked for it")
            })
        })
    }

    /// Removes blocks with conflict markers. Such a block contains two texts, and the merge decides
    /// which one stays.
    fn leave_conflicts(&self, edits: &mut Edits) -> Vec<SkippedFile> {
        let conflicts = code::conflicts(&self.text);
        self.leave(edits, |at| {
            let lines = self.now.blocks[at].lines;
            let conflict = conflicts.iter().find(|it| it.overlaps(lines))?;
            let (start, end) = (conflict.start(), conflict.end());
            Some(format!("holds a merge conflict in lines {start}-{end}; resolve that first"))
        })
    }

    /// Removes the blocks for which `reason` returns a reason.
    fn leave(
        &self,
        edits: &mut Edits,
        reason: impl Fn(usize) -> Option<String>,
    ) -> Vec<SkippedFile> {
        let mut left = Vec::new();
        edits.now.retain(|(at, _)| {
            let reason = reason(*at);
            let block = &self.now.blocks[*at];
            left.extend(reason.as_deref().map(|it| SkippedFile::block(self.path, block, it)));
            reason.is_none()
        });
        left
    }

    /// Returns the blocks that were deleted: recorded ones, and the committed blocks in
    /// `unrecorded`. A recorded block that a commit has deleted since may have been deleted by
    /// anyone, so it is returned only if the whole file is claimed.
    fn deletions(&self, unrecorded: &[Block], extent: RecordExtent) -> Vec<BlockRecord> {
        let (ws, now) = (self.ws, &self.now);
        let matched: HashSet<ClaimRef> = self
            .provenance
            .iter()
            .flat_map(|found| found.claim.into_iter().chain(found.candidates.iter().copied()))
            .collect();
        let identities = now.blocks.iter().map(|block| &block.identity);
        let names: HashSet<(&str, &str)> =
            identities.map(|it| (it.kind.as_str(), it.path.as_str())).collect();
        let texts: HashSet<&ContentHash> =
            now.blocks.iter().map(|block| &block.fingerprint.content).collect();
        let mut ranges = Vec::new();
        // Several blocks can have the same name. For each name, counts those with a record.
        let mut recorded: HashMap<(&str, &str), usize> = HashMap::new();
        for head in self.heads.iter().filter(|head| !matched.contains(head)) {
            let range = ws.ledger.claim(*head).full_block();
            let Some(name) = &range.block else { continue };
            let stands = names.contains(&(name.kind.as_str(), name.path.as_str()))
                || texts.contains(&range.content_hash)
                || self.may_stand(&name.kind, &name.path);
            // The author of a deletion by a commit since the record is unknown.
            let by_commit = || {
                ws.ledger.based_on(head.entry) != ws.head().map(|head| head.0.as_str())
                    && self.committed.lacks(name, &range.content_hash)
            };
            if stands || (extent == RecordExtent::Changes && by_commit()) {
                continue;
            }
            *recorded.entry((&name.kind, &name.path)).or_default() += 1;
            ranges.push(BlockRecord {
                deleted: true,
                replaces: Some(range.content_hash.clone()),
                brought: None,
                ..range.clone()
            });
        }
        let recorded_gone =
            if unrecorded.is_empty() { HashSet::new() } else { self.recorded_gone() };
        for block in unrecorded.iter().filter(|block| !block.identity.kind.is_unnamed()) {
            let (kind, path) = (block.identity.kind.as_str(), block.identity.path.as_str());
            // Deleted blocks with a record were handled above. Here, as many blocks with the same
            // name are skipped.
            if let Some(left @ 1..) = recorded.get_mut(&(kind, path)) {
                *left -= 1;
                continue;
            }
            let text = &block.fingerprint.content;
            if self.may_stand(kind, path) || recorded_gone.contains(&(kind, path, text)) {
                continue;
            }
            ranges.push(BlockRecord {
                deleted: true,
                replaces: Some(text.clone()),
                ..provenance::textless(block, now.language)
            });
        }
        ranges
    }

    /// Returns the committed blocks whose deletion was already recorded on top of this commit:
    /// kind, name, and text.
    fn recorded_gone(&self) -> HashSet<(&str, &str, &ContentHash)> {
        let head = self.ws.head().map(|head| head.0.as_str());
        let claims = self.ws.ledger.of_path(self.path).into_iter();
        let deleted = claims.filter(|at| self.ws.ledger.claim(*at).full_block().deleted);
        let on_this_commit = deleted.filter(|at| self.ws.ledger.based_on(at.entry) == head);
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
