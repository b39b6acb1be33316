//! Who a block belongs to: the sum over its own lines, and whether it is still what was recorded.
//!
//! A block's own lines are those of its lead and its node without the blocks inside it. An intent is
//! named if at least half of the own lines that say something were brought under it and are still
//! there. If two intents have exactly half each, both are shown.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::block_changes::{FormerBlock, LastChange};

use code::saying_lines::says_something;
use code::{Block, ContentHash, Document, FileBlocks};
use ground::RelativePath;
use ground::git::ObjectId;
use history::{FileLines, FileVersion, LineSource, LineText};
use ledger::{BlockRecord, Claim, Entry, RecordKind};
use provenance::Verdict;

#[derive(Clone, Debug, Default)]
pub struct Provenance {
    pub verdict: Verdict,
    /// The newest record with the most lines of the intent that is named. `None` if no intent is.
    pub claim: Option<Arc<Claim>>,
    /// Set if two intents have exactly half of the lines each: one record of either intent.
    pub candidates: Vec<Arc<Claim>>,
    /// Who brought how many of the own lines that say something, most lines first.
    pub shares: Vec<LineShare>,
    /// The block's own lines, each with its number, counted from 1.
    pub own: Vec<(u32, LineSource)>,
    /// Own lines that are newer than the block's record and about which there is no record.
    pub newer: Vec<LineSource>,
    pub only_inside: bool,
    pub is_cut: bool,
    pub is_missing: bool,
    pub accepted: Option<Arc<Entry>>,
}

#[derive(Clone, Debug)]
pub struct LineShare {
    /// The newest record of the intent. `None` if no record is about the lines.
    pub claim: Option<Arc<Claim>>,
    /// The version that brought the lines, as an index of [`FileLines::versions`], if no record is
    /// about them and their history is not missing.
    pub version: Option<usize>,
    pub is_missing: bool,
    pub lines: usize,
    /// How many of the lines each record brought, by its index in [`FileLines::claims`].
    pub by_claim: BTreeMap<usize, usize>,
}

/// The time of a commit, and its rank among those of the same second: [`FileLines::ranks`]. A larger
/// place is newer.
type PlaceInHistory = (i64, usize);

/// What is asked about the blocks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedOfBlocks<'a> {
    /// Only who brought their lines, and whether a person accepted them. For all else, other versions
    /// of the file have to be parsed.
    Owners,
    Verdicts,
    /// The verdicts, from what these commits and the work that is in no commit brought.
    VerdictsWithin(&'a HashSet<ObjectId>),
}

enum PairedAs {
    Whole(Verdict),
    /// The block's own tokens are the same, and those of the blocks inside it are not.
    OnlyInside,
    Other {
        is_shorter: bool,
    },
}

impl Provenance {
    /// Returns true if a record covers the block's own text, so that no new record is needed. A
    /// block that differs only in the blocks inside it is covered, because those are judged on
    /// their own.
    pub fn covered(&self) -> bool {
        self.verdict.covered() || self.only_inside
    }

    /// Returns how many lines the named intent brought, and out of how many. Only lines
    /// that say something count.
    pub fn brought(&self) -> Option<(usize, usize)> {
        let claim = self.claim.as_ref()?;
        let own = self.shares.iter().find(|share| {
            share.claim.as_ref().is_some_and(|other| other.intent() == claim.intent())
        });
        Some((own?.lines, self.shares.iter().map(|share| share.lines).sum()))
    }
}

/// The blocks of an earlier text.
pub struct BlocksThen {
    pub blocks: Arc<FileBlocks>,
    /// For each block, [`Document::depth_of`].
    depths: Vec<usize>,
}

impl BlocksThen {
    pub(crate) fn of_document(document: &Document) -> Self {
        let blocks = document.blocks();
        let depths = blocks.blocks.iter().map(|block| document.depth_of(block)).collect();
        Self { blocks, depths }
    }
}

pub struct FileToJudge<'a> {
    pub asked: AskedOfBlocks<'a>,
    pub path: &'a RelativePath,
    pub document: &'a Document,
    pub blocks: &'a FileBlocks,
    pub lines: &'a FileLines,
    /// Returns the blocks of a version, an index of [`FileLines::versions`], or of the text after the
    /// last change that the journal has.
    pub blocks_of_version: &'a dyn Fn(Option<usize>) -> Option<Arc<BlocksThen>>,
    /// Returns the last change of a block. `None` if that cannot be said.
    pub last_change: &'a dyn Fn(&Block) -> Option<LastChange>,
    /// The versions that changed the white space of a block, which brought no line. They go on from
    /// those of [`FileLines::versions`].
    pub more_versions: RefCell<Vec<FileVersion>>,
}

impl FileToJudge<'_> {
    /// Returns what is known of each block, in the order of the blocks.
    pub fn judged(&self) -> Vec<Provenance> {
        let text = LineText::new(self.document.text().into_bytes());
        let lines = lines_of_blocks(self.blocks, &text);
        let blocks = self.blocks.blocks.iter();
        let judged = blocks.clone().zip(&lines).map(|(block, lines)| self.judge(block, lines));
        let mut judged: Vec<Provenance> = judged.collect();
        for (at, block) in blocks.enumerate().rev() {
            // A block is as recorded only if all blocks inside it are.
            if let Some(outer) = block.container
                && !judged[at].verdict.covered()
                && judged[outer].verdict.covered()
                && judged[outer].accepted.is_none()
                && !self.is_as_recorded(&self.blocks.blocks[outer], &judged[outer])
            {
                judged[outer].verdict = Verdict::Modified;
                judged[outer].only_inside = true;
            }
        }
        judged
    }

    fn judge(&self, block: &Block, LinesOfBlock { own, said }: &LinesOfBlock) -> Provenance {
        let source = |line: usize| self.lines.lines[line];
        let mut found = Provenance {
            own: own.iter().map(|line| (line_number(*line), source(*line))).collect(),
            shares: self.shares(said),
            is_missing: said.iter().any(|line| source(*line).is_missing),
            ..Provenance::default()
        };
        let total: usize = found.shares.iter().map(|share| share.lines).sum();
        let halves = found.shares.iter().filter(|share| 2 * share.lines >= total);
        let claims: Vec<Arc<Claim>> = halves.filter_map(|share| share.claim.clone()).collect();
        match &claims[..] {
            [only] => found.claim = Some(Arc::clone(only)),
            [_, _] => (found.candidates, found.verdict) = (claims, Verdict::Ambiguous),
            _ => {}
        }
        found.accepted = self.acceptance_of(block, own);
        if found.accepted.is_some() {
            found.verdict = Verdict::Exact;
        } else if self.asked != AskedOfBlocks::Owners
            && let Some(claim) = found.claim.clone()
        {
            self.compare(block, &claim, said, &mut found);
        }
        found
    }

    fn compare(&self, block: &Block, claim: &Claim, said: &[usize], found: &mut Provenance) {
        let place = |line: &usize| self.place_of(self.lines.lines[*line]);
        let since = self.place_of_claim(claim);
        let with_node = self.records_with_node(block, found);
        let recorded = with_node.iter().find(|(_, range)| range.has_lead_of(block));
        // If a record has the text of the whole node, the other lines that its commit brought were
        // there before the record.
        let is_newest = |line: &usize| {
            self.is_uncommitted(self.lines.lines[*line])
                || place(line) > since
                || place(line) == since && with_node.is_empty()
        };
        let is_newer = |line: &&usize| self.lines.lines[**line].claim.is_none() && is_newest(line);
        let newer: Vec<usize> = said.iter().filter(is_newer).copied().collect();
        if let Some((other, range)) = recorded
            && said.iter().all(|line| place(line) <= self.place_of_claim(other))
        {
            // The text between two definitions is named after the next one, so another name there
            // does not mean another place.
            let name = range.block.as_ref().map(|name| name.path.as_str()).unwrap_or_default();
            let has_other_name = name != block.identity.path && !block.identity.kind.is_unnamed();
            let is_moved = other.path != *self.path || has_other_name;
            found.verdict = if is_moved { Verdict::Moved } else { Verdict::Exact };
            return;
        }
        found.newer = newer.iter().map(|line| self.lines.lines[*line]).collect();
        // If only the lead is not as it was recorded, the record of the node tells what it was.
        let of_node = with_node.first().filter(|_| recorded.is_none());
        let claim = of_node.map_or(claim, |(claim, _)| claim);
        found.verdict = match self.paired(block, claim, found, &newer) {
            Some(PairedAs::OnlyInside) => {
                found.only_inside = true;
                Verdict::Modified
            }
            Some(PairedAs::Whole(verdict)) => verdict,
            Some(PairedAs::Other { is_shorter: true }) => {
                found.is_cut = newer.is_empty();
                Verdict::Modified
            }
            _ if newer.is_empty() => self.changed_without_new_lines(block, found),
            _ => Verdict::Modified,
        };
    }

    /// Returns the verdict of a block that is not as it was recorded although no line is newer: a merge
    /// has united it, its white space was changed, or lines were removed.
    fn changed_without_new_lines(&self, block: &Block, found: &mut Provenance) -> Verdict {
        let Some(change) = (self.last_change)(block) else { return Verdict::Modified };
        if !change.has_left_block {
            found.is_cut = true;
            return Verdict::Modified;
        }
        if change.before.len() > 1 && self.are_as_recorded(&change.before) {
            return Verdict::Exact;
        }
        let has_lost_lines = change.before.iter().flatten().any(|old| old.has_lost_lines);
        if !has_lost_lines && !change.respaced.is_empty() {
            let version = Some(self.version_of(&change));
            let source = |line_there| LineSource { version, line_there, ..LineSource::default() };
            found.newer = change.respaced.into_iter().map(source).collect();
            return Verdict::Modified;
        }
        // A recorded change may have replaced the lines that are gone. For example, two branches edit a
        // function, and the second one is rebased onto the first.
        let commit = Some(change.commit.to_string());
        let is_recorded = self.recorded_blocks(found).any(|(claim, _)| claim.commit == commit);
        found.is_cut = has_lost_lines && !is_recorded;
        Verdict::Modified
    }

    fn version_of(&self, change: &LastChange) -> usize {
        let (versions, mut more) = (&self.lines.versions, self.more_versions.borrow_mut());
        let is_it = |known: &FileVersion| known.commit == change.commit;
        let known = versions.iter().chain(&*more).position(is_it);
        known.unwrap_or_else(|| {
            let LastChange { commit, time, .. } = *change;
            let blob = ObjectId::null(commit.kind());
            more.push(FileVersion { commit, path: self.path.as_str().into(), blob, time });
            versions.len() + more.len() - 1
        })
    }

    /// Returns true if each of these blocks is as a record has it, or united from such blocks, and no
    /// line of it is lost.
    fn are_as_recorded(&self, blocks: &[Option<FormerBlock>]) -> bool {
        blocks.iter().all(|block| {
            block.as_ref().is_some_and(|block| {
                let is_united = || !block.united.is_empty() && self.are_as_recorded(&block.united);
                !block.has_lost_lines && (self.has_record_of(&block.content) || is_united())
            })
        })
    }

    fn has_record_of(&self, content: &ContentHash) -> bool {
        let files = self.lines.claims.iter().filter_map(|claim| claim.file());
        files.flat_map(|file| file.ranges()).any(|range| range.content_hash == *content)
    }

    /// Returns the verdict from the block as it was recorded, if the two differ in layout or names
    /// only. This is asked only if no line is newer, or if the newer lines come from a commit whose
    /// evidence is about this file and does not name them.
    fn paired(
        &self,
        block: &Block,
        claim: &Claim,
        found: &Provenance,
        newer: &[usize],
    ) -> Option<PairedAs> {
        let has_evidence = |line: &usize| {
            let version = self.lines.lines[*line].version;
            version.is_some_and(|at| self.lines.has_evidence.get(at) == Some(&true))
        };
        if !newer.iter().all(has_evidence) {
            return None;
        }
        let mut sources = found.own.iter().map(|(_, source)| source);
        let of_claim = |source: &&LineSource| {
            source.claim.is_some_and(|at| {
                let other = &self.lines.claims[at];
                other.commit == claim.commit && other.entry.record.id == claim.entry.record.id
            })
        };
        let source = sources.find(of_claim)?;
        let version = source.version.filter(|_| claim.commit.is_some());
        let then = (self.blocks_of_version)(version)?;
        let old = then.blocks.blocks.iter().zip(&then.depths);
        let mut old = old.filter(|(old, _)| old.identity.kind == block.identity.kind);
        let same = |(old, _): &(&Block, _)| old.identity.path == block.identity.path;
        let named = old.clone().find(same);
        let lines = |block: &Block| block.whole_lines.end() - block.whole_lines.start();
        let alike = |(old, depth): (&Block, &usize)| {
            let (then, now) = (&old.fingerprint, &block.fingerprint);
            if !self.is_as_recorded_at(old, claim) || !self.has_lead_of(old, block, found) {
                None
            } else if then.content == now.content {
                // The claim is then about a block inside this one.
                newer.is_empty().then_some(PairedAs::Whole(Verdict::Exact))
            } else if *depth != self.document.depth_of(block) {
                // Somebody put the block elsewhere by its indentation alone.
                None
            } else if then.tokens == now.tokens {
                Some(PairedAs::Whole(Verdict::Reformatted))
            } else if then.own_tokens() == now.own_tokens() {
                Some(PairedAs::OnlyInside)
            } else if then.shape == now.shape {
                Some(PairedAs::Whole(Verdict::Renamed))
            } else {
                None
            }
        };
        match named {
            Some(old) => {
                let is_shorter = lines(block) < lines(old.0);
                alike(old).or(Some(PairedAs::Other { is_shorter }))
            }
            None => old.find_map(alike),
        }
    }

    /// Returns true unless the evidence of a commit names a block with another text. Then somebody
    /// changed it after it was recorded, and before the commit.
    fn is_as_recorded_at(&self, block: &Block, claim: &Claim) -> bool {
        if claim.commit.is_none() {
            return true;
        }
        let claims = self.lines.claims.iter().filter(|other| other.commit == claim.commit);
        let ranges = claims.filter_map(|other| other.file()).flat_map(|file| file.ranges());
        let is_its = |range: &&BlockRecord| !range.deleted && range.has_name_of(block);
        let mut named = ranges.filter(is_its).peekable();
        named.peek().is_none() || named.any(|range| range.has_text_of(block))
    }

    /// Returns what the records that brought lines of a block say of blocks, newest record first.
    fn recorded_blocks(
        &self,
        found: &Provenance,
    ) -> impl Iterator<Item = (&Arc<Claim>, &BlockRecord)> {
        let claims = ledger::sorted(found.own.iter().filter_map(|(_, source)| source.claim));
        let claims = claims.into_iter().rev().map(|at| &self.lines.claims[at]);
        let files = claims.filter_map(|claim| Some((claim, claim.file()?)));
        let ranges = files.flat_map(|(claim, file)| file.ranges().map(move |range| (claim, range)));
        ranges.filter(|(_, range)| !range.deleted)
    }

    /// Returns those of [`Self::recorded_blocks`] that have the text of a block, apart from its lead.
    fn records_with_node(
        &self,
        block: &Block,
        found: &Provenance,
    ) -> Vec<(&Arc<Claim>, &BlockRecord)> {
        let all = self.recorded_blocks(found);
        all.filter(|(_, range)| range.content_hash == block.fingerprint.content).collect()
    }

    /// Returns true if a block has the lead of an earlier one, or one with which a record names the
    /// earlier one.
    fn has_lead_of(&self, old: &Block, block: &Block, found: &Provenance) -> bool {
        old.fingerprint.lead == block.fingerprint.lead
            || self
                .recorded_blocks(found)
                .any(|(_, range)| range.has_name_of(old) && range.has_lead_of(block))
    }

    fn is_as_recorded(&self, block: &Block, found: &Provenance) -> bool {
        self.recorded_blocks(found).any(|(_, range)| range.has_text_of(block))
    }

    fn acceptance_of(&self, block: &Block, own: &[usize]) -> Option<Arc<Entry>> {
        let sources = own.iter().map(|line| self.lines.lines[*line]);
        let versions = ledger::sorted(sources.filter_map(|source| source.version));
        let accepts = |entry: &&Arc<Entry>| {
            let mut ranges = entry.record.files.iter().flat_map(|file| file.ranges());
            entry.record.kind == RecordKind::Ack && ranges.any(|range| range.has_text_of(block))
        };
        let acks = versions.iter().filter_map(|at| self.lines.acks.get(*at)).flatten();
        let all = acks.chain(&self.lines.open_acks).filter(accepts);
        all.max_by_key(|entry| &entry.record.timestamp).cloned()
    }

    fn shares(&self, lines: &[usize]) -> Vec<LineShare> {
        let mut by_owner: BTreeMap<(Option<&str>, Option<usize>, bool), LineShare> =
            BTreeMap::new();
        for line in lines {
            let source = self.lines.lines[*line];
            let claim = source.claim.map(|at| &self.lines.claims[at]);
            let key = match claim {
                Some(claim) => (Some(claim.intent().unwrap_or_default()), None, false),
                // The oldest commit that a clone has may not have brought the lines.
                None if source.is_missing => (None, None, true),
                None => (None, source.version, false),
            };
            let share = by_owner.entry(key).or_insert_with(|| LineShare {
                claim: None,
                version: key.1,
                is_missing: key.2,
                lines: 0,
                by_claim: BTreeMap::new(),
            });
            share.lines += 1;
            if let Some(at) = source.claim {
                *share.by_claim.entry(at).or_default() += 1;
            }
        }
        let mut shares: Vec<LineShare> = by_owner.into_values().collect();
        for share in &mut shares {
            share.claim = self.foremost(&share.by_claim);
        }
        shares.sort_by_key(|share| std::cmp::Reverse(share.lines));
        shares
    }

    fn foremost(&self, counts: &BTreeMap<usize, usize>) -> Option<Arc<Claim>> {
        let best = counts.iter().max_by_key(|(at, count)| {
            (**count, self.lines.claims[**at].entry.record.timestamp.clone())
        });
        best.map(|(at, _)| Arc::clone(&self.lines.claims[*at]))
    }

    fn is_uncommitted(&self, source: LineSource) -> bool {
        source.version.is_none_or(|at| self.lines.versions[at].is_uncommitted())
    }

    fn place_of(&self, source: LineSource) -> PlaceInHistory {
        source.version.map_or((0, 0), |at| self.place_of_version(at))
    }

    /// Returns where the commit of a claim is. What is not committed is newer than all commits.
    fn place_of_claim(&self, claim: &Claim) -> PlaceInHistory {
        let commit = claim.commit.as_deref().and_then(|id| ObjectId::from_hex(id.as_bytes()).ok());
        let is_it = |version: &FileVersion| Some(version.commit) == commit;
        let version = self.lines.versions.iter().position(is_it);
        version.map_or((i64::MAX, 0), |at| self.place_of_version(at))
    }

    fn place_of_version(&self, at: usize) -> PlaceInHistory {
        (self.lines.versions[at].time, self.lines.ranks.get(at).copied().unwrap_or_default())
    }
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line + 1).unwrap_or(u32::MAX)
}

/// The lines of a block, counted from 0.
pub struct LinesOfBlock {
    /// Those of its lead and node without the blocks inside it.
    pub own: Vec<usize>,
    /// Those of them that say something, or all if none does. Who brought half of these owns the block.
    pub said: Vec<usize>,
}

/// Returns the lines of each block of a text.
pub fn lines_of_blocks(blocks: &FileBlocks, text: &LineText) -> Vec<LinesOfBlock> {
    let says = |line: &usize| says_something(text.line(*line), blocks.language);
    let lines = own_lines(blocks, text.len()).into_iter().map(|own| {
        let said: Vec<usize> = own.iter().copied().filter(says).collect();
        LinesOfBlock { said: if said.is_empty() { own.clone() } else { said }, own }
    });
    lines.collect()
}

fn own_lines(blocks: &FileBlocks, count: usize) -> Vec<Vec<usize>> {
    let mut owner: Vec<Option<usize>> = vec![None; count];
    for (at, block) in blocks.blocks.iter().enumerate() {
        let (start, end) = (block.whole_lines.start() as usize, block.whole_lines.end() as usize);
        // An inner block comes after the outer one, so it takes its lines away.
        for line in owner.iter_mut().take(end).skip(start - 1) {
            *line = Some(at);
        }
    }
    let mut own = vec![Vec::new(); blocks.blocks.len()];
    for (line, owner) in owner.into_iter().enumerate() {
        if let Some(owner) = owner {
            own[owner].push(line);
        }
    }
    // If all of a block is on the lines of the blocks inside it, it shares the line where it starts.
    // Lines that end with a carriage return alone are one line for git.
    for (block, own) in blocks.blocks.iter().zip(&mut own).filter(|(_, own)| own.is_empty()) {
        let start = block.whole_lines.start() as usize - 1;
        own.extend(count.checked_sub(1).map(|last| start.min(last)));
    }
    own
}
