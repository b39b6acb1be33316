//! Which blocks of a file a record speaks of: what changed, less what others have recorded or committed.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::{Extent, Replaced, block_record, renamed_from};
use crate::code::{self, Block, ContentHash, Document, FileBlocks, LineRange, lines};
use crate::ledger::{BlockName, BlockRecord, Claim, ClaimRef};
use crate::provenance::classify::ChangedBlock;
use crate::provenance::outline::Against;
use crate::provenance::{self, Place, Provenance, Verdict};
use crate::verbs::edited::{Baseline, Edits, commits_of_work};
use crate::verbs::{Workspace, why};
use crate::workspace::{CommitId, RelativePath};

/// The blocks that a record speaks of.
pub(super) struct Changes {
    /// What changed and is not recorded all the same, each with its reason.
    pub(super) left: Vec<String>,
    edits: Edits,
    pub(super) ranges: Vec<BlockRecord>,
    gone: Vec<(String, String)>,
}

/// A file that is to be recorded: as it stands, and what is known of it before.
pub(super) struct Subject<'a> {
    pub(super) ws: &'a Workspace,
    pub(super) path: &'a RelativePath,
    pub(super) document: &'a Document,
    text: String,
    pub(super) now: &'a FileBlocks,
    /// What counts as before.
    pub(super) baseline: &'a Baseline,
    /// The file as git has it.
    pub(super) committed: &'a Baseline,
    provenance: Vec<Provenance>,
    heads: Vec<ClaimRef>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        ws: &'a Workspace,
        path: &'a RelativePath,
        (document, now): (&'a Document, &'a FileBlocks),
        (baseline, committed): (&'a Baseline, &'a Baseline),
    ) -> Self {
        let provenance = why::file(ws, path, document).provenance;
        let heads = provenance::heads(&ws.ledger, path);
        let text = document.text();
        Self { ws, path, document, text, now, baseline, committed, provenance, heads }
    }
}

impl Changes {
    /// What changed since the baseline, without what is recorded or committed already.
    pub(super) fn since(subject: &Subject<'_>) -> Self {
        let mut edits = subject.baseline.edits(subject.now);
        // Recorded already: by another process, or on a branch whose outline is not the last.
        edits.now.retain(|(at, _)| !subject.recorded_alike(*at, |_| true));
        let mut left = subject.leave_committed(&mut edits);
        left.extend(subject.leave_moved(&mut edits));
        Self::of(subject, edits, left, Extent::Changes)
    }

    /// Every block of the file, but for those whose last record is such a one already.
    pub(super) fn all_but(subject: &Subject<'_>, such: impl Fn(&Claim<'_>) -> bool) -> Self {
        let mut edits = subject.baseline.edits(subject.now);
        every_block(&mut edits, subject.now);
        edits.now.retain(|(at, _)| !subject.recorded_alike(*at, &such));
        Self::of(subject, edits, Vec::new(), Extent::WholeFile)
    }

    /// Every block of those lines, likewise.
    pub(super) fn of_lines(
        subject: &Subject<'_>,
        lines: LineRange,
        such: impl Fn(&Claim<'_>) -> bool,
    ) -> Self {
        let mut edits = subject.baseline.edits(subject.now);
        every_block(&mut edits, subject.now);
        let within = |at: usize| {
            let block = subject.now.blocks[at].lines;
            lines.start() <= block.start() && block.end() <= lines.end()
        };
        let around = subject.now.at_line(lines.start());
        let any_within = (0..subject.now.blocks.len()).any(within);
        edits.now.retain(|(at, _)| {
            let wanted = if any_within { within(*at) } else { around == Some(*at) };
            wanted && !subject.recorded_alike(*at, &such)
        });
        Self::of(subject, edits, Vec::new(), Extent::Lines(lines))
    }

    fn of(subject: &Subject<'_>, mut edits: Edits, mut left: Vec<String>, extent: Extent) -> Self {
        left.extend(subject.leave_conflicts(&mut edits));
        let mut past = Past::new(subject);
        let mut gone: Vec<&Block> =
            edits.gone.iter().filter(|block| !block.identity.kind.is_unnamed()).collect();
        let mut ranges: Vec<BlockRecord> = edits
            .now
            .iter()
            .map(|(at, _)| {
                let block = &subject.now.blocks[*at];
                let found = &subject.provenance[*at];
                let content = past.before(block, found);
                if let Some(content) = &content
                    && subject.baseline.content_before(block).is_none()
                    && let Some(at) = gone.iter().position(|old| reads(old, content))
                {
                    gone.remove(at);
                }
                let content = content.or_else(|| renamed_from(&mut gone, block));
                let replaced = content.map(|content| past.replaced(content, found, extent));
                block_record(subject.document, block, replaced)
            })
            .collect();
        let (deleted, gone) = match extent {
            Extent::Lines(_) => Default::default(),
            Extent::Changes | Extent::WholeFile => subject.deletions(&gone, extent),
        };
        ranges.extend(deleted);
        Self { left, edits, ranges, gone }
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

fn reads(block: &Block, content: &ContentHash) -> bool {
    block.fingerprint.content == *content
}

fn every_block(edits: &mut Edits, now: &FileBlocks) {
    let known: HashSet<usize> = edits.now.iter().map(|(at, _)| *at).collect();
    let others = (0..now.blocks.len()).filter(|at| !known.contains(at));
    edits.now.extend(others.map(|at| (at, Against::Same)));
    edits.now.sort_by_key(|(at, _)| *at);
}

impl Subject<'_> {
    /// Whether the last word on a block is a record of this very text, in its place, that also satisfies `too`.
    fn recorded_alike(&self, at: usize, too: impl Fn(&Claim<'_>) -> bool) -> bool {
        let found = &self.provenance[at];
        let exact = found.verdict == Verdict::Exact && found.place == Some(Place::Same);
        let claim = |at: ClaimRef| self.ws.ledger.claim(at);
        let last = |at: &ClaimRef| {
            self.heads.binary_search(at).is_ok() || claim(*at).range.block.is_none()
        };
        exact && found.claim.is_some_and(|at| last(&at) && too(&claim(at)))
    }

    /// Takes out what changed since the last record but is committed as it stands: it may be anybody's, and was most
    /// likely pulled. Against the last record alone, the next one would be given the work of all others since.
    fn leave_committed(&self, edits: &mut Edits) -> Vec<String> {
        let (Baseline::Outline(outline), Baseline::Blocks(_)) = (self.baseline, self.committed)
        else {
            return Vec::new();
        };
        let since = self.committed.edits(self.now);
        let uncommitted: HashSet<usize> = since.now.iter().map(|(at, _)| *at).collect();
        let all = std::mem::take(&mut edits.now);
        let (kept, left): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(at, _)| uncommitted.contains(at));
        edits.now = kept;
        edits.gone = since.gone;
        edits.gone.retain(|gone| outline.against(gone) != Against::New);
        left.iter().map(|(at, _)| committed_already(&self.now.blocks[*at])).collect()
    }

    /// Takes out what came unchanged from another file, where its record says who asked for it.
    fn leave_moved(&self, edits: &mut Edits) -> Vec<String> {
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

    /// Takes out what a merge has not settled yet: it is two texts, and neither is anybody's work so far.
    fn leave_conflicts(&self, edits: &mut Edits) -> Vec<String> {
        let conflicts = code::conflicts(&self.text);
        let conflict_in = |at: usize| {
            let lines = self.now.blocks[at].lines;
            conflicts.iter().find(|it| it.start() <= lines.end() && lines.start() <= it.end())
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

fn in_conflict(block: &Block, conflict: LineRange) -> String {
    format!(
        "{} {} holds a merge conflict in lines {}-{}; resolve that first",
        block.identity.kind.as_str(),
        block.identity.path,
        conflict.start(),
        conflict.end()
    )
}

fn moved_here(block: &Block, from: &RelativePath) -> String {
    format!(
        "{} {} came unchanged from {from}, and its record still says who asked for it",
        block.identity.kind.as_str(),
        block.identity.path
    )
}

fn committed_already(block: &Block) -> String {
    format!(
        "{} {} changed since the last record and is committed already, so whose change it is is not known; claim the file as it stands with --all",
        block.identity.kind.as_str(),
        block.identity.path
    )
}

/// What the ledger says last of the blocks of a file.
struct Past<'a> {
    subject: &'a Subject<'a>,
    by_name: HashMap<BlockName, ClaimRef>,
    /// Records that were found again, under whatever name.
    found: HashSet<ClaimRef>,
    /// The file at the commits that records were based on.
    then: HashMap<String, Baseline>,
    /// The file as it is committed.
    texts: OnceCell<Vec<Document>>,
}

impl<'a> Past<'a> {
    fn new(subject: &'a Subject<'a>) -> Self {
        let named = subject.heads.iter().rev().filter_map(|at| {
            let name = subject.ws.ledger.claim(*at).range.block.clone()?;
            Some((BlockName { language: None, ..name }, *at))
        });
        let found = subject.provenance.iter().filter_map(|found| found.claim).collect();
        Self {
            subject,
            by_name: named.collect(),
            found,
            then: HashMap::new(),
            texts: OnceCell::new(),
        }
    }

    /// What the block was before, as the chain of `replaces` needs it: what the baseline says, else what the ledger last
    /// recorded under its name, unless that has gone to another block, else what it was found to be. Where commits have
    /// changed it since that record, what they made of it: the chain then shows the gap.
    fn before(&mut self, block: &Block, found: &Provenance) -> Option<ContentHash> {
        // What is claimed as it stands replaces what was recorded before, not itself.
        let other = |content: &ContentHash| *content != block.fingerprint.content;
        if let Some(content) = self.subject.baseline.content_before(block).filter(other) {
            return Some(content);
        }
        let committed = self.subject.committed.content_before(block).filter(other);
        let same_name = self.by_name.get(&provenance::block_name(block, None)).copied();
        let free = same_name.filter(|at| found.claim == Some(*at) || !self.found.contains(at));
        let Some(last) = free.or(found.claim) else { return committed };
        let range = self.subject.ws.ledger.claim(last).range;
        if let Some(committed) = committed
            && committed != range.content_hash
            && self.changed_by_commits(last, block, &committed)
        {
            return Some(committed);
        }
        let Baseline::Outline(outline) = self.subject.baseline else {
            return Some(range.content_hash.clone());
        };
        let then = range.block.as_ref()?;
        // Somebody changed the block between its record and the outline: say nothing rather than skip over the gap.
        outline.held(then, &range.content_hash).then(|| range.content_hash.clone())
    }

    /// What a block was before, with its lines. Of a file that is claimed as it stands, all lines that no record has are
    /// the claim's.
    fn replaced(&self, content: ContentHash, found: &Provenance, extent: Extent) -> Replaced {
        match (extent, found.claim) {
            (Extent::WholeFile | Extent::Lines(_), None) => {
                Replaced { content, lines: Some(Vec::new()) }
            }
            (Extent::WholeFile | Extent::Lines(_), Some(last)) => {
                Replaced { content, ..Replaced::recorded(self.subject.ws, last) }
            }
            (Extent::Changes, _) => {
                let texts = self.texts.get_or_init(|| self.subject.committed_texts());
                let mut lines = texts.iter().filter_map(|text| lines::of_content(text, &content));
                Replaced { lines: lines.next(), content }
            }
        }
    }

    /// Whether the block is committed otherwise now than at the commit that the record was based on.
    fn changed_by_commits(&mut self, at: ClaimRef, block: &Block, now: &ContentHash) -> bool {
        let Subject { ws, path, .. } = self.subject;
        let Some(then) = based_on(ws, at) else { return true };
        if Some(then) == ws.head().map(|head| head.0.as_str()) {
            return false;
        }
        let baseline = self.then.entry(then.to_owned()).or_insert_with(|| {
            let commit = CommitId(then.to_owned());
            Baseline::at_commits(ws, path, &[commit]).unwrap_or(Baseline::Unknown)
        });
        baseline.content_before(block).as_ref() != Some(now)
    }
}

impl Subject<'_> {
    /// Under the name that it has now; what cannot be read tells nothing.
    fn committed_texts(&self) -> Vec<Document> {
        let commits = commits_of_work(self.ws).unwrap_or_default();
        let read = |commit| self.ws.read_at(commit, self.path).ok().flatten();
        commits.iter().filter_map(read).collect()
    }
}

/// The commit that the work tree was based on when the record was made.
fn based_on(ws: &Workspace, at: ClaimRef) -> Option<&str> {
    ws.ledger.claim(at).entry.record.vcs.as_ref()?.revision_id.as_deref()
}

impl Subject<'_> {
    /// Recorded blocks that are gone, and `unrecorded` committed ones that are. What a commit took away since its record
    /// may be anybody's deed, so only a claim of the whole file speaks of it.
    fn deletions(
        &self,
        unrecorded: &[&Block],
        extent: Extent,
    ) -> (Vec<BlockRecord>, Vec<(String, String)>) {
        let (ws, now) = (self.ws, self.now);
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
            let range = ws.ledger.claim(*head).range;
            let Some(name) = &range.block else { continue };
            let stands = names.contains(&(name.kind.as_str(), name.path.as_str()))
                || texts.contains(&range.content_hash)
                || self.may_stand(&name.path);
            let by_commit = || gone_by_commit(ws, *head, self.committed);
            if stands || (extent == Extent::Changes && by_commit()) {
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
        for block in unrecorded {
            let known = gone.iter().any(|(kind, path)| {
                kind == block.identity.kind.as_str() && *path == block.identity.path
            });
            if known || self.may_stand(&block.identity.path) {
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

    /// A syntax error can hide a block that is still there: it is gone only when its name is.
    fn may_stand(&self, path: &str) -> bool {
        let name = path.rsplit('.').next().unwrap_or(path);
        self.now.has_error && self.text.contains(name)
    }
}

/// Whether commits since the record took the block away: they may be anybody's.
fn gone_by_commit(ws: &Workspace, head: ClaimRef, committed: &Baseline) -> bool {
    let range = ws.ledger.claim(head).range;
    let is_lacking =
        range.block.as_ref().is_some_and(|name| committed.lacks(name, &range.content_hash));
    based_on(ws, head) != ws.head().map(|head| head.0.as_str()) && is_lacking
}
