//! Finding recorded blocks again in a file as it stands.
//!
//! A cascade from certain to plausible; each tier only sees what the tiers
//! before it left over, on both sides:
//!
//! 1. same name, same text → `exact`
//! 2. same name, same tokens → `reformatted`
//! 3. another name (its container changed), same text or tokens, and no block of the recorded name left → `moved`
//! 4. another name, same shape, at least [`MIN_RENAMED_TOKENS`] tokens, unique on both sides → `renamed`
//! 5. same name, other tokens → `modified`; of several blocks of one name, those that keep most are paired first
//!
//! A name proves little where next to nothing of the recorded text stands under it (less than `MIN_KEPT`):
//! tiers 3 and 4 then treat the record as one whose name is gone, so that a text found whole under another name
//! goes there, and the newcomer under the old name gets nothing.
//!
//! A tier with several records that fit equally well answers `ambiguous`.
//! What is matched is one file against the records of its path; the seam for
//! matches across files is `Tiers::leftovers`.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

mod index;

use index::Index;

use crate::code::{Block, BlockKind, ContentHash, FileBlocks, fingerprint};
use crate::ledger::{BlockName, BlockRecord, Claim, ClaimRef, Ledger, Trust};
use crate::workspace::RelativePath;

/// Below this many tokens an equal shape proves nothing: getters and wrappers all look alike.
pub const MIN_RENAMED_TOKENS: u32 = 15;
/// A region or paragraph has no name of its own, so it must keep at least this share to be called modified.
const MIN_KEPT: f32 = 0.3;
/// Two rivals whose kept shares differ by less than this fit equally well.
const MARGIN: f32 = 0.08;

/// How a block's text stands to what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// The same text.
    Exact,
    /// The same tokens; white space, comments or what a formatter does.
    Reformatted,
    /// The same but for consistent renames.
    Renamed,
    /// Other tokens.
    Modified,
}

impl Content {
    /// Those that are an equality of some hash.
    const WITH_TEXT: [Self; 3] = [Self::Exact, Self::Reformatted, Self::Renamed];
}

/// Where a block stands compared with where it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Same file, same container, in whatever order.
    Same,
    /// Another container or file.
    Moved,
}

/// The one word about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As recorded.
    Exact,
    /// As recorded but for formatting and comments.
    Reformatted,
    /// As recorded, elsewhere.
    Moved,
    /// As recorded but for names.
    Renamed,
    /// Changed since.
    Modified,
    /// Several records fit equally well.
    Ambiguous,
    /// No record speaks of it.
    Unrecorded,
}

impl Verdict {
    /// The word in `--json` and in the editor.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Reformatted => "reformatted",
            Self::Moved => "moved",
            Self::Renamed => "renamed",
            Self::Modified => "modified",
            Self::Ambiguous => "ambiguous",
            Self::Unrecorded => "unrecorded",
        }
    }
    /// Whether a record covers the block's text as it stands.
    pub fn covered(self) -> bool {
        matches!(self, Self::Exact | Self::Reformatted | Self::Moved | Self::Renamed)
    }
}

/// What is known of one block.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The one word.
    pub verdict: Verdict,
    /// How its text stands; `None` when unrecorded or ambiguous.
    pub content: Option<Content>,
    /// Where it stands; `None` likewise.
    pub place: Option<Place>,
    /// Of a modified block, the estimated share of what was recorded that is still there, 0 to 1.
    pub kept: Option<f32>,
    /// Of a modified block that contains others: its own text is as recorded, the difference lies inside those.
    pub only_inside: bool,
    /// The record; `None` when unrecorded or ambiguous.
    pub claim: Option<ClaimRef>,
    /// When ambiguous: every record that fits.
    pub candidates: Vec<ClaimRef>,
}

impl Provenance {
    /// Whether a record covers what the block answers for, so that it needs no new one. A block whose only difference
    /// lies in the blocks inside it is covered: those answer for themselves.
    pub fn covered(&self) -> bool {
        self.verdict.covered() || self.only_inside
    }

    fn unrecorded() -> Self {
        Self {
            verdict: Verdict::Unrecorded,
            content: None,
            place: None,
            kept: None,
            only_inside: false,
            claim: None,
            candidates: Vec::new(),
        }
    }

    fn ambiguous(candidates: Vec<ClaimRef>) -> Self {
        Self { verdict: Verdict::Ambiguous, candidates, ..Self::unrecorded() }
    }

    fn found(claim: ClaimRef, content: Content, place: Place) -> Self {
        let verdict = match (content, place) {
            (Content::Exact, Place::Moved) => Verdict::Moved,
            (Content::Exact, Place::Same) => Verdict::Exact,
            (Content::Reformatted, _) => Verdict::Reformatted,
            (Content::Renamed, _) => Verdict::Renamed,
            (Content::Modified, _) => Verdict::Modified,
        };
        Self {
            verdict,
            content: Some(content),
            place: Some(place),
            claim: Some(claim),
            ..Self::unrecorded()
        }
    }
}

/// What is known of every block of a file, in the order of [`FileBlocks::blocks`].
pub fn file(ledger: &Ledger, path: &RelativePath, blocks: &FileBlocks) -> Vec<Provenance> {
    let claims = ledger.of_path(path);
    if claims.is_empty() {
        return vec![Provenance::unrecorded(); blocks.blocks.len()];
    }
    let mut tiers = Tiers::new(ledger, claims, &blocks.blocks);
    tiers.same_name();
    tiers.elsewhere();
    tiers.renamed();
    tiers.modified();
    tiers.leftovers()
}

/// Whether a record is of a block of this text, or of this name.
pub fn is_like(range: &BlockRecord, block: &Block) -> bool {
    let named = |name: &BlockName| key_of_name(name) == key_of_block(block);
    range.content_hash == block.fingerprint.content || range.block.as_ref().is_some_and(named)
}

/// The record of a block that was moved to another file: same kind, name and text, recorded where it is gone from.
///
/// Only blocks of at least [`MIN_RENAMED_TOKENS`] tokens: smaller ones are alike by chance. Where such records name
/// different intents, all are named.
pub fn from_vanished(
    ledger: &Ledger,
    block: &Block,
    mut still_there: impl FnMut(&RelativePath) -> bool,
) -> Option<Provenance> {
    let unnamed = matches!(block.identity.kind, BlockKind::Region | BlockKind::Paragraph);
    if unnamed || block.fingerprint.token_count < MIN_RENAMED_TOKENS {
        return None;
    }
    let mut paths = HashSet::new();
    let fits: Vec<ClaimRef> = ledger
        .by_content(&block.fingerprint.content)
        .iter()
        .rev()
        .copied()
        .filter(|at| {
            let claim = ledger.claim(*at);
            let named = claim
                .range
                .block
                .as_ref()
                .is_some_and(|name| key_of_name(name) == key_of_block(block));
            named && !claim.range.deleted && claim.entry.trust != Trust::Contradicted
        })
        .filter(|at| {
            let path = &ledger.claim(*at).file.relative_path;
            !still_there(path) && paths.insert(path)
        })
        .collect();
    let intent = |at: &ClaimRef| ledger.claim(*at).entry.record.intent_id.as_deref();
    let first = fits.first()?;
    if fits.iter().any(|other| intent(other) != intent(first)) {
        return Some(Provenance::ambiguous(fits));
    }
    Some(Provenance::found(*first, Content::Exact, Place::Moved))
}

/// The records of a path that are the last word on some block: later records replace earlier ones.
///
/// Where two chains replaced the same text differently (a merge), both stay.
pub fn heads(ledger: &Ledger, path: &RelativePath) -> Vec<ClaimRef> {
    fold(ledger, ledger.of_path(path))
}

fn fold(ledger: &Ledger, claims: &[ClaimRef]) -> Vec<ClaimRef> {
    let mut heads = Heads::default();
    for at in claims.iter().copied() {
        let new = ledger.claim(at);
        let Some(name) = &new.range.block else { continue };
        if new.entry.trust != Trust::Contradicted {
            heads.replace(ledger, at, name, &new);
        }
    }
    heads.into_sorted()
}

/// The last words so far, by name and by text.
#[derive(Default)]
struct Heads<'a> {
    by_name: HashMap<(NameKey<'a>, u32), Vec<ClaimRef>>,
    by_content: HashMap<&'a ContentHash, Vec<ClaimRef>>,
}

impl<'a> Heads<'a> {
    fn replace(&mut self, ledger: &'a Ledger, at: ClaimRef, name: &'a BlockName, new: &Claim<'a>) {
        let key = (key_of_name(name), name.ordinal);
        let same = self.by_name.get(&key).cloned().unwrap_or_default();
        let mut replaced = false;
        for head in same {
            let old = ledger.claim(head);
            replaced |= new.range.replaces.as_ref() == Some(&old.range.content_hash);
            if supersedes(new, &old) {
                self.remove(ledger, head);
            }
        }
        if let (false, Some(before)) = (replaced, &new.range.replaces) {
            // A rename or a move names what it replaces; under the old name the block is gone.
            let other = self.by_content.get(before).and_then(|same| same.first().copied());
            if let Some(head) = other {
                self.remove(ledger, head);
            }
        }
        if !new.range.deleted {
            self.by_name.entry(key).or_default().push(at);
            self.by_content.entry(&new.range.content_hash).or_default().push(at);
        }
    }

    fn remove(&mut self, ledger: &'a Ledger, head: ClaimRef) {
        let old = ledger.claim(head);
        if let Some(name) = &old.range.block
            && let Some(same) = self.by_name.get_mut(&(key_of_name(name), name.ordinal))
        {
            same.retain(|other| *other != head);
        }
        if let Some(same) = self.by_content.get_mut(&old.range.content_hash) {
            same.retain(|other| *other != head);
        }
    }

    fn into_sorted(self) -> Vec<ClaimRef> {
        let mut heads: Vec<ClaimRef> = self.by_name.into_values().flatten().collect();
        heads.sort();
        heads
    }
}

/// Whether a later record of the same block replaces an earlier one. Two chains that replaced the same text differently do not replace each other.
fn supersedes(new: &Claim<'_>, old: &Claim<'_>) -> bool {
    if new.range.deleted {
        return new.range.replaces.as_ref() == Some(&old.range.content_hash)
            || new.range.content_hash == old.range.content_hash;
    }
    let fork = new.range.replaces.is_some()
        && new.range.replaces == old.range.replaces
        && new.range.content_hash != old.range.content_hash
        && new.entry.record.writer != old.entry.record.writer;
    !fork
}

fn same_name(a: Option<&BlockName>, b: Option<&BlockName>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            a.kind == b.kind
                && a.path == b.path
                && a.parameters == b.parameters
                && a.ordinal == b.ordinal
        }
        _ => false,
    }
}

/// A block's name as the ledger writes it.
pub fn block_name(block: &Block, language: Option<&str>) -> BlockName {
    BlockName {
        kind: block.identity.kind.as_str().to_owned(),
        path: block.identity.path.clone(),
        parameters: block.identity.parameters.clone(),
        ordinal: block.identity.ordinal,
        language: language.map(str::to_owned),
    }
}

type NameKey<'a> = (&'a str, &'a str, Option<&'a str>);

fn key_of_block(block: &Block) -> NameKey<'_> {
    (block.identity.kind.as_str(), &block.identity.path, block.identity.parameters.as_deref())
}

fn key_of_name(name: &BlockName) -> NameKey<'_> {
    (&name.kind, &name.path, name.parameters.as_deref())
}

struct Tiers<'a> {
    ledger: &'a Ledger,
    blocks: &'a [Block],
    heads: Vec<ClaimRef>,
    index: Index<'a>,
    /// Every claim, replaced ones too, for reverts.
    by_name: HashMap<NameKey<'a>, Vec<ClaimRef>>,
    /// Claims of foreign tools, which name no block, by text.
    nameless: HashMap<&'a ContentHash, ClaimRef>,
    used: HashSet<ClaimRef>,
    found: Vec<Option<Provenance>>,
}

impl<'a> Tiers<'a> {
    fn new(ledger: &'a Ledger, claims: &[ClaimRef], blocks: &'a [Block]) -> Self {
        let heads = fold(ledger, claims);
        let mut by_name: HashMap<NameKey<'a>, Vec<ClaimRef>> = HashMap::new();
        let mut nameless = HashMap::new();
        for at in claims.iter().copied() {
            let claim = ledger.claim(at);
            if claim.entry.trust == Trust::Contradicted || claim.range.deleted {
                continue;
            }
            match &claim.range.block {
                Some(name) => by_name.entry(key_of_name(name)).or_default().push(at),
                None => {
                    nameless.insert(&claim.range.content_hash, at);
                }
            }
        }
        Self {
            ledger,
            blocks,
            index: Index::new(ledger, &heads, blocks),
            heads,
            by_name,
            nameless,
            used: HashSet::new(),
            found: vec![None; blocks.len()],
        }
    }

    fn is_head(&self, at: ClaimRef) -> bool {
        self.heads.binary_search(&at).is_ok()
    }

    /// Tiers 1 and 2: the name is still there, and so are its text or its tokens, now or in an earlier record (a revert).
    fn same_name(&mut self) {
        for content in [Content::Exact, Content::Reformatted] {
            for index in 0..self.blocks.len() {
                if self.found[index].is_none() {
                    self.by_equal_name(index, content);
                }
            }
        }
    }

    fn by_equal_name(&mut self, index: usize, content: Content) {
        let block = &self.blocks[index];
        let fits: Vec<ClaimRef> = self
            .by_name
            .get(&key_of_block(block))
            .into_iter()
            .flatten()
            .copied()
            .filter(|at| !self.used.contains(at) && self.equal(*at, block, content))
            .collect();
        let same_ordinal = |at: &ClaimRef| {
            let claim = self.ledger.claim(*at);
            claim.range.block.as_ref().is_some_and(|name| name.ordinal == block.identity.ordinal)
        };
        let heads: Vec<ClaimRef> = fits.iter().copied().filter(|at| self.is_head(*at)).collect();
        let pinned: Vec<ClaimRef> = heads.iter().copied().filter(same_ordinal).collect();
        let best = if !pinned.is_empty() {
            pinned
        } else if !heads.is_empty() {
            heads[..1].to_vec()
        } else {
            fits.last().copied().into_iter().collect()
        };
        match best.as_slice() {
            [] => {}
            [one] => {
                let one = *one;
                self.settle(index, one, Provenance::found(one, content, Place::Same));
            }
            several => self.settle_several(index, several.to_vec()),
        }
    }

    fn equal(&self, at: ClaimRef, block: &Block, content: Content) -> bool {
        let range = self.ledger.claim(at).range;
        match content {
            Content::Exact => range.content_hash == block.fingerprint.content,
            Content::Reformatted => range.token_hash.as_ref() == Some(&block.fingerprint.tokens),
            Content::Renamed => range.shape_hash.as_ref() == Some(&block.fingerprint.shape),
            Content::Modified => false,
        }
    }

    /// Tier 3: no record of this name fits, but an orphaned record has the same text or tokens; and records of foreign tools, which name no block.
    fn elsewhere(&mut self) {
        for content in [Content::Exact, Content::Reformatted] {
            for index in 0..self.blocks.len() {
                if self.found[index].is_some() {
                    continue;
                }
                let block = &self.blocks[index];
                let orphans = self.orphans(block, content);
                match orphans.as_slice() {
                    [] if content == Content::Exact => self.nameless(index),
                    [] => {}
                    [one] if self.rivals(index, content) == 0 => {
                        let one = *one;
                        let place = self.place(one, block);
                        self.settle(index, one, Provenance::found(one, content, place));
                    }
                    several => self.found[index] = Some(Provenance::ambiguous(several.to_vec())),
                }
            }
        }
    }

    /// Heads that no block has claimed and whose recorded name no block of the file still carries, but for blocks
    /// that kept next to nothing of it.
    fn orphans(&self, block: &'a Block, content: Content) -> Vec<ClaimRef> {
        let equal = self.index.heads_reading(block, content).iter().copied();
        equal
            .filter(|at| !self.used.contains(at))
            .filter(|at| {
                let name = self.ledger.claim(*at).range.block.as_ref();
                name.is_some_and(|name| self.has_lost_its_name(*at, name))
            })
            .collect()
    }

    fn has_lost_its_name(&self, at: ClaimRef, name: &'a BlockName) -> bool {
        let called = self.index.blocks_called(&name.kind, &name.path).iter();
        called
            .map(|index| &self.blocks[*index])
            .filter(|block| key_of_block(block) == key_of_name(name))
            .all(|block| self.kept(at, block).is_some_and(|kept| kept < MIN_KEPT))
    }

    /// The share of a record's text that stands in a block; `None` where the record does not say enough.
    fn kept(&self, at: ClaimRef, block: &Block) -> Option<f32> {
        let range = self.ledger.claim(at).range;
        let print = &block.fingerprint;
        fingerprint::kept(range.sketch.as_ref()?, range.tokens?, &print.sketch, print.token_count)
    }

    /// How many other unsettled blocks are equal to this one.
    fn rivals(&self, index: usize, content: Content) -> usize {
        let equal = self.index.blocks_reading(&self.blocks[index], content).iter();
        equal.filter(|at| **at != index && self.found[**at].is_none()).count()
    }

    fn nameless(&mut self, index: usize) {
        let block = &self.blocks[index];
        let latest = self.nameless.get(&block.fingerprint.content).copied();
        if let Some(at) = latest {
            self.found[index] = Some(Provenance::found(at, Content::Exact, Place::Same));
        }
    }

    /// Tier 4.
    fn renamed(&mut self) {
        for index in 0..self.blocks.len() {
            let block = &self.blocks[index];
            let unnamed = matches!(block.identity.kind, BlockKind::Region | BlockKind::Paragraph);
            if self.found[index].is_some()
                || unnamed
                || block.fingerprint.token_count < MIN_RENAMED_TOKENS
            {
                continue;
            }
            let orphans = self.orphans(block, Content::Renamed);
            if let ([one], 0) = (orphans.as_slice(), self.rivals(index, Content::Renamed)) {
                let one = *one;
                let place = self.place(one, block);
                self.settle(index, one, Provenance::found(one, Content::Renamed, place));
            }
        }
    }

    /// Tier 5: the name is all that is left; first with its parameters and ordinal, then without, where that is unique.
    fn modified(&mut self) {
        for index in self.by_what_is_kept() {
            let identity = &self.blocks[index].identity;
            let named = self.named(&self.blocks[index]);
            let ordinal = |at: &ClaimRef| {
                let name = self.ledger.claim(*at).range.block.as_ref();
                name.is_some_and(|name| name.ordinal == identity.ordinal)
            };
            let pinned: Vec<ClaimRef> = named.iter().copied().filter(ordinal).collect();
            let candidates = if self.is_pinned(index, &named, &pinned) { pinned } else { named };
            self.settle_modified(index, candidates);
        }
        for index in 0..self.blocks.len() {
            if self.found[index].is_some() {
                continue;
            }
            let identity = &self.blocks[index].identity;
            let (kind, path) = (identity.kind.as_str(), identity.path.as_str());
            let called = self.index.blocks_called(kind, path).iter();
            let free = called.filter(|at| self.found[**at].is_none()).count();
            let heads = self.free(self.index.heads_called(kind, path));
            if free == 1 && heads.len() == 1 {
                self.settle_modified(index, heads);
            }
        }
    }

    /// Whether the ordinal may decide among records of one name: always where the block is the only one of its name,
    /// else while as many blocks stand as were recorded and none of the others fits clearly better.
    fn is_pinned(&self, index: usize, named: &[ClaimRef], pinned: &[ClaimRef]) -> bool {
        if pinned.is_empty() || self.is_alone(index) {
            return !pinned.is_empty();
        }
        let block = &self.blocks[index];
        let key = key_of_block(block);
        let called = self.index.blocks_called(key.0, key.1).iter();
        let standing = called.filter(|at| key_of_block(&self.blocks[**at]) == key).count();
        let recorded =
            self.index.heads_called(key.0, key.1).iter().filter(|at| self.is_called(**at, key));
        let best = |heads: &[ClaimRef]| {
            heads.iter().filter_map(|at| self.kept(*at, block)).fold(0.0, f32::max)
        };
        recorded.count() == standing && best(named) - best(pinned) < MARGIN
    }

    /// The blocks that nothing has been found for; of those that share a name, first the one that keeps most of a record.
    fn by_what_is_kept(&self) -> Vec<usize> {
        let mut open: Vec<(usize, f32)> = (0..self.blocks.len())
            .filter(|index| self.found[*index].is_none())
            .map(|index| (index, if self.is_alone(index) { 0.0 } else { self.most_kept(index) }))
            .collect();
        open.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        open.into_iter().map(|(index, _)| index).collect()
    }

    /// Whether no other block of the file carries its name.
    fn is_alone(&self, index: usize) -> bool {
        let key = key_of_block(&self.blocks[index]);
        let mut called = self.index.blocks_called(key.0, key.1).iter();
        called.all(|at| *at == index || key_of_block(&self.blocks[*at]) != key)
    }

    fn most_kept(&self, index: usize) -> f32 {
        let block = &self.blocks[index];
        self.named(block).into_iter().filter_map(|at| self.kept(at, block)).fold(0.0, f32::max)
    }

    /// Free heads of the block's name, whatever their ordinal.
    fn named(&self, block: &'a Block) -> Vec<ClaimRef> {
        let key = key_of_block(block);
        let mut named = self.free(self.index.heads_called(key.0, key.1));
        named.retain(|at| self.is_called(*at, key));
        named
    }

    fn is_called(&self, at: ClaimRef, key: NameKey<'_>) -> bool {
        self.ledger.claim(at).range.block.as_ref().is_some_and(|name| key_of_name(name) == key)
    }

    fn free(&self, heads: &[ClaimRef]) -> Vec<ClaimRef> {
        heads.iter().copied().filter(|at| !self.used.contains(at)).collect()
    }

    fn settle_modified(&mut self, index: usize, mut heads: Vec<ClaimRef>) {
        let block = &self.blocks[index];
        let kept = |at: ClaimRef| self.kept(at, block);
        heads.sort_by(|a, b| kept(*b).unwrap_or(0.0).total_cmp(&kept(*a).unwrap_or(0.0)));
        let Some(best) = heads.first().copied() else { return };
        let share = kept(best);
        let unnamed = matches!(block.identity.kind, BlockKind::Region | BlockKind::Paragraph);
        if unnamed && share.is_none_or(|share| share < MIN_KEPT) {
            return;
        }
        let close = |other: &ClaimRef| share.unwrap_or(0.0) - kept(*other).unwrap_or(0.0) < MARGIN;
        let equals: Vec<ClaimRef> = heads.iter().copied().filter(close).collect();
        if equals.len() > 1 {
            return self.settle_several(index, equals);
        }
        let own = self.ledger.claim(best).range.own_hash.as_ref();
        let provenance = Provenance {
            kept: share,
            only_inside: own.is_some() && own == block.fingerprint.own.as_ref(),
            ..Provenance::found(best, Content::Modified, self.place(best, block))
        };
        self.settle(index, best, provenance);
    }

    fn place(&self, at: ClaimRef, block: &Block) -> Place {
        let recorded = self.ledger.claim(at).range.block.as_ref();
        let container = |path: &str, name: &str| path.strip_suffix(name).unwrap_or("").to_owned();
        let unnamed = matches!(block.identity.kind, BlockKind::Region | BlockKind::Paragraph);
        let now = container(&block.identity.path, &block.name);
        let then = recorded.map(|name| match name.path.rfind(&block.name) {
            Some(at) if at + block.name.len() == name.path.len() => name.path[..at].to_owned(),
            _ => name.path.rsplit_once('.').map(|(head, _)| format!("{head}.")).unwrap_or_default(),
        });
        if unnamed || then.is_none_or(|then| then == now) { Place::Same } else { Place::Moved }
    }

    fn settle(&mut self, index: usize, claim: ClaimRef, provenance: Provenance) {
        // The name's own head is spoken for, too, when an earlier record fits (a revert).
        if let Some(name) = &self.ledger.claim(claim).range.block {
            let ledger = self.ledger;
            let spoken_for = self.index.heads_like(name).iter().copied();
            self.used
                .extend(spoken_for.filter(|head| {
                    same_name(ledger.claim(*head).range.block.as_ref(), Some(name))
                }));
        }
        self.used.insert(claim);
        self.found[index] = Some(provenance);
    }

    fn settle_several(&mut self, index: usize, candidates: Vec<ClaimRef>) {
        self.used.extend(candidates.iter().copied());
        self.found[index] = Some(Provenance::ambiguous(candidates));
    }

    /// What no tier claimed is unrecorded.
    fn leftovers(self) -> Vec<Provenance> {
        self.found.into_iter().map(|found| found.unwrap_or_else(Provenance::unrecorded)).collect()
    }
}
