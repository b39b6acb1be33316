//! The tiers: a cascade from certain to plausible, over the records of one path or of several that are gone.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use super::across::MIN_ACROSS_TOKENS;
use super::before::Before;
use super::index::Index;
use super::siblings::Siblings;
use super::since::Leaves;
use super::{MARGIN, MIN_KEPT, MIN_READ_ON, MIN_RENAMED_TOKENS, MOSTLY_KEPT};
use crate::code::{Block, ContentHash, Document, FileBlocks, fingerprint};
use crate::ledger::{BlockName, ClaimRef, Ledger, Trust};
use crate::provenance::names::{NameKey, key_of_block, key_of_name, leaf, same_name};
use crate::provenance::outline::{self, Against, Entry, Short};
use crate::provenance::{Content, Place, Provenance, Rejected, Rejection, Tier};
use crate::workspace::RelativePath;

/// Of so many equal blocks none is the one by what is around it.
const MAX_COPIES: usize = 8;

/// The old side.
pub(super) struct Old<'a> {
    /// The records that are looked for, in order.
    pub(super) heads: Vec<ClaimRef>,
    /// With those that they replaced, for reverts, and for what stood before any of them.
    pub(super) claims: &'a [ClaimRef],
}

/// Where the records come from.
#[derive(Clone, Copy)]
pub(super) enum Reach<'a> {
    /// From the file itself.
    File,
    /// From a file that is gone, and that this one goes on under another name.
    Renamed,
    /// From other files, where nothing stands for them any more; `admits` says whether a block is new here.
    Elsewhere {
        /// Whether a record may be of a block of this index.
        admits: &'a dyn Fn(ClaimRef, usize) -> bool,
    },
}

impl Reach<'_> {
    /// Whether the file is the records' own, by whatever name.
    pub(super) fn is_within(&self) -> bool {
        !matches!(self, Self::Elsewhere { .. })
    }
}

pub(super) struct Tiers<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) document: &'a Document,
    pub(super) blocks: &'a [Block],
    /// The blocks as outlines would have them, as far as somebody asked.
    entries: Vec<OnceCell<Entry>>,
    /// Likewise: in which files their texts are recorded.
    pub(super) recorded_in: Vec<OnceCell<Vec<&'a RelativePath>>>,
    pub(super) reach: Reach<'a>,
    pub(super) siblings: &'a Siblings<'a>,
    pub(super) standing: HashSet<Short>,
    /// What stands, and what is looked for.
    pub(super) known: HashSet<Short>,
    pub(super) heads: Vec<ClaimRef>,
    pub(super) index: Index<'a>,
    pub(super) before: Before<'a>,
    /// Every claim, replaced ones too, for reverts.
    pub(super) by_name: HashMap<NameKey<'a>, Vec<ClaimRef>>,
    /// Claims of foreign tools, which name no block, by text.
    pub(super) nameless: HashMap<&'a ContentHash, ClaimRef>,
    pub(super) used: HashSet<ClaimRef>,
    /// Those of them that something older stands for.
    pub(super) undone: HashSet<ClaimRef>,
    pub(super) found: Vec<Option<Provenance>>,
    pub(super) rejected: HashMap<usize, Rejected>,
    /// By entry and file of the record, and block: whether it is as likely an unrecorded one.
    pub(super) others: RefCell<HashMap<(u32, u32, usize), bool>>,
    /// Likewise: whether it was there already, under its name.
    pub(super) stood: RefCell<HashMap<(u32, u32, usize), bool>>,
}

impl<'a> Tiers<'a> {
    /// `found` is what is known of the blocks already; those are left alone.
    pub(super) fn new(
        ledger: &'a Ledger,
        old: Old<'a>,
        (document, blocks): (&'a Document, &'a FileBlocks),
        found: Vec<Option<Provenance>>,
        reach: Reach<'a>,
        siblings: &'a Siblings<'a>,
    ) -> Self {
        let blocks = &blocks.blocks[..];
        let mut by_name: HashMap<NameKey<'a>, Vec<ClaimRef>> = HashMap::new();
        let mut nameless = HashMap::new();
        for at in old.claims.iter().copied() {
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
        let standing: HashSet<Short> =
            blocks.iter().map(|block| outline::key(&block.identity)).collect();
        let names = old.heads.iter().filter_map(|at| ledger.claim(*at).range.block.as_ref());
        let known = standing.iter().copied().chain(names.map(outline::key_of_name)).collect();
        Self {
            ledger,
            document,
            blocks,
            entries: vec![OnceCell::new(); blocks.len()],
            recorded_in: vec![OnceCell::new(); blocks.len()],
            reach,
            siblings,
            standing,
            known,
            index: Index::new(ledger, &old.heads, blocks),
            before: Before::new(ledger, old.claims, siblings.surroundings),
            heads: old.heads,
            by_name,
            nameless,
            used: HashSet::new(),
            undone: HashSet::new(),
            found,
            rejected: HashMap::new(),
            others: RefCell::default(),
            stood: RefCell::default(),
        }
    }

    /// All tiers, in order.
    pub(super) fn run(&mut self) {
        self.same_name(Content::Exact);
        self.older_than_their_records();
        self.same_name(Content::Reformatted);
        self.same_name(Content::Renamed);
        self.elsewhere();
        self.renamed();
        if self.reach.is_within() {
            self.modified();
        }
        if matches!(self.reach, Reach::Renamed) {
            self.same_leaf();
        }
        self.alike();
    }

    /// The last words on blocks that something older stands for.
    pub(super) fn undone(&self) -> Vec<ClaimRef> {
        self.undone.iter().copied().filter(|at| self.is_head(*at)).collect()
    }

    /// What is known of each block now, and the records that nothing was found for.
    pub(super) fn into_found(mut self) -> (Vec<Option<Provenance>>, Vec<ClaimRef>) {
        for (index, rejected) in std::mem::take(&mut self.rejected) {
            if self.is_open(index) {
                self.found[index] = Some(Provenance::refused(rejected));
            }
        }
        let left = self.heads.into_iter().filter(|at| !self.used.contains(at)).collect();
        (self.found, left)
    }

    pub(super) fn is_open(&self, index: usize) -> bool {
        Provenance::is_open(self.found[index].as_ref())
    }

    /// A block as an outline would have it.
    pub(super) fn entry(&self, index: usize) -> &Entry {
        self.entries[index].get_or_init(|| Entry::of(&self.blocks[index]))
    }

    /// Whether a record may be of this block: it did not stand beside the recorded one as something else.
    pub(super) fn admits(&self, at: ClaimRef, index: usize, content: Content) -> bool {
        if let Reach::Elsewhere { admits } = self.reach
            && !admits(at, index)
        {
            return false;
        }
        let in_its_file = self.reach.is_within();
        let looks_alike = content >= Content::Renamed;
        if in_its_file && looks_alike && self.before.came_later(at, &self.blocks[index])
            || in_its_file && content == Content::Modified && self.stood_as_another(at, index)
        {
            return false;
        }
        let beside = match (self.siblings.beside(at, self.entry(index)), content) {
            (Against::New, _) => false,
            (Against::Changed, Content::Modified) => true,
            (Against::Changed, _) => false,
            (Against::Same | Against::Reformatted, _) => true,
        };
        !beside && !self.is_another(at, index)
    }

    /// Whether a block of this name was in the file before the record of another was made.
    fn stood_as_another(&self, at: ClaimRef, index: usize) -> bool {
        let claim = self.ledger.claim(at);
        let block = &self.blocks[index];
        if claim.range.block.as_ref().is_none_or(|name| name.path == block.identity.path) {
            return false;
        }
        let key = (at.entry, at.file, index);
        let known = self.stood.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let surroundings = self.siblings.surroundings;
            let stood = surroundings.stood(at, &claim.file.relative_path, block) == Some(true);
            self.stood.borrow_mut().insert(key, stood);
            stood
        })
    }

    /// Whether a block is as likely another one that stood, unrecorded, beside the recorded one.
    fn is_another(&self, at: ClaimRef, index: usize) -> bool {
        let key = (at.entry, at.file, index);
        let known = self.others.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let another = self.siblings.is_another(at, self.entry(index), &self.known);
            self.others.borrow_mut().insert(key, another);
            another
        })
    }

    fn is_head(&self, at: ClaimRef) -> bool {
        self.heads.binary_search(&at).is_ok()
    }

    /// Tiers 1 and 2: the name is still there, and so are its text, its tokens or its shape, now or in an earlier record (a revert).
    fn same_name(&mut self, content: Content) {
        for index in 0..self.blocks.len() {
            if self.is_open(index) {
                self.by_equal_name(index, content);
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
            .filter(|at| self.is_new_here(*at, index))
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
                let tier = match content {
                    Content::Exact => Tier::Text,
                    Content::Reformatted => Tier::Tokens,
                    Content::Renamed | Content::Modified => Tier::Shape,
                };
                let place = self.place(one, block);
                self.settle(index, one, Provenance::found(one, tier, content, place));
            }
            several => self.settle_several(index, several.to_vec()),
        }
    }

    fn is_new_here(&self, at: ClaimRef, index: usize) -> bool {
        !matches!(self.reach, Reach::Elsewhere { admits } if !admits(at, index))
    }

    /// Blocks that were put back to what they were before their first record: older than all that is recorded of them.
    fn older_than_their_records(&mut self) {
        if !self.reach.is_within() {
            return;
        }
        for index in 0..self.blocks.len() {
            if !self.is_open(index) {
                continue;
            }
            let block = &self.blocks[index];
            let mut after = self.before.records_after(&block.fingerprint.content);
            // A twin of another name tells nothing while that name stands for itself.
            after.retain(|at| {
                let name = self.ledger.claim(*at).range.block.as_ref().map(outline::key_of_name);
                name.is_some_and(|name| {
                    name == outline::key(&block.identity) || !self.standing.contains(&name)
                })
            });
            if let Some(first) = after.first().copied() {
                self.settle_older(index, first, &after);
            }
        }
    }

    fn equal(&self, at: ClaimRef, block: &Block, content: Content) -> bool {
        // A block without tokens (a comment) has those of every other one.
        if content != Content::Exact && block.fingerprint.token_count == 0 {
            return false;
        }
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
                if !self.is_open(index) {
                    continue;
                }
                let block = &self.blocks[index];
                let orphans = self.orphans(index, content);
                match orphans.as_slice() {
                    [] if content == Content::Exact => self.nameless(index),
                    [] => {}
                    [one] if self.is_it_of_rivals(*one, index, content) => {
                        let one = *one;
                        if let Some((twin, other)) = self.twin(index) {
                            self.settle_several(index, vec![other, one]);
                            self.settle_several(twin, vec![other, one]);
                            continue;
                        }
                        let place = self.place(one, block);
                        let tier = match content {
                            Content::Exact => Tier::TextElsewhere,
                            _ => Tier::TokensElsewhere,
                        };
                        self.settle(index, one, Provenance::found(one, tier, content, place));
                    }
                    [one] if self.is_another_of_rivals(*one, index, content) => {}
                    several => self.found[index] = Some(Provenance::ambiguous(several.to_vec())),
                }
            }
        }
    }

    /// Heads that no block has claimed and whose recorded name no block of the file still carries, but for blocks
    /// that kept next to nothing of it.
    fn orphans(&self, index: usize, content: Content) -> Vec<ClaimRef> {
        let block = &self.blocks[index];
        let equal = self.index.heads_reading(block, content).iter().copied();
        equal
            .filter(|at| !self.used.contains(at) && self.equal(*at, block, content))
            .filter(|at| {
                let name = self.ledger.claim(*at).range.block.as_ref();
                name.is_some_and(|name| self.has_lost_its_name(*at, name))
            })
            .filter(|at| self.admits(*at, index, content))
            .collect()
    }

    fn has_lost_its_name(&self, at: ClaimRef, name: &'a BlockName) -> bool {
        if !self.reach.is_within() {
            return true;
        }
        let called = self.index.blocks_called(&name.kind, &name.path).iter();
        called
            .filter(|index| self.is_open(**index))
            .map(|index| &self.blocks[*index])
            .filter(|block| key_of_block(block) == key_of_name(name))
            .all(|block| self.kept(at, block).is_some_and(|kept| kept < MOSTLY_KEPT))
    }

    /// The share of a record's text that stands in a block; `None` where the record does not say enough.
    pub(super) fn kept(&self, at: ClaimRef, block: &Block) -> Option<f32> {
        let range = self.ledger.claim(at).range;
        let print = &block.fingerprint;
        fingerprint::kept(range.sketch.as_ref()?, range.tokens?, &print.sketch, print.token_count)
    }

    /// A block of the very same name and text that has a record already: which of the two came here cannot be seen.
    fn twin(&self, index: usize) -> Option<(usize, ClaimRef)> {
        let key = key_of_block(&self.blocks[index]);
        let alike = self.index.blocks_reading(&self.blocks[index], Content::Exact).iter();
        alike.copied().filter(|at| *at != index && key_of_block(&self.blocks[*at]) == key).find_map(
            |at| {
                let claim = self.found[at].as_ref()?.claim?;
                Some((at, claim))
            },
        )
    }

    /// The other unsettled blocks that are equal to this one.
    fn rivals(&self, index: usize, content: Content) -> impl Iterator<Item = usize> + '_ {
        let equal = self.index.blocks_reading(&self.blocks[index], content).iter().copied();
        let unsettled =
            |at: &usize| self.found[*at].as_ref().is_none_or(|found| found.claim.is_none());
        equal.filter(move |at| *at != index && unsettled(at))
    }

    /// Whether no other block is equal, or what contained the recorded one went on around this one alone.
    fn is_it_of_rivals(&self, at: ClaimRef, index: usize, content: Content) -> bool {
        let rivals: Vec<usize> = self.rivals(index, content).take(MAX_COPIES).collect();
        rivals.is_empty()
            || rivals.len() < MAX_COPIES
                && self.leaves_around(at, index) == Leaves::Enough
                && rivals.iter().all(|rival| self.leaves_around(at, *rival) == Leaves::Nothing)
    }

    /// Whether that is so of one of the others: then this is a copy.
    fn is_another_of_rivals(&self, at: ClaimRef, index: usize, content: Content) -> bool {
        let mut rivals = self.rivals(index, content).take(MAX_COPIES);
        rivals.any(|rival| self.is_it_of_rivals(at, rival, content))
    }

    /// How much of what contained the recorded block is left in what contains this one.
    fn leaves_around(&self, at: ClaimRef, index: usize) -> Leaves {
        let container = self.blocks[index].container.filter(|_| self.reach.is_within());
        let since = || self.siblings.since(at, Some(self.document));
        match container.zip(container.and_then(|_| since())) {
            Some((outer, since)) => {
                let recorded = self.ledger.claim(at).range;
                since.leaves_of_container(recorded, self.blocks[outer].lines)
            }
            None => Leaves::Nothing,
        }
    }

    fn nameless(&mut self, index: usize) {
        let block = &self.blocks[index];
        let latest = self.nameless.get(&block.fingerprint.content).copied();
        if let Some(at) = latest {
            let place = self.place(at, block);
            self.found[index] = Some(Provenance::found(at, Tier::Text, Content::Exact, place));
        }
    }

    /// Tier 4.
    fn renamed(&mut self) {
        for index in 0..self.blocks.len() {
            let block = &self.blocks[index];
            if !self.is_open(index)
                || block.identity.kind.is_unnamed()
                || block.fingerprint.token_count < MIN_RENAMED_TOKENS
            {
                continue;
            }
            let orphans = self.orphans(index, Content::Renamed);
            if let [one] = orphans[..]
                && self.rivals(index, Content::Renamed).next().is_none()
            {
                let place = self.place(one, block);
                let found = Provenance::found(one, Tier::Shape, Content::Renamed, place);
                self.settle(index, one, found);
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
            if !self.is_open(index) {
                continue;
            }
            let identity = &self.blocks[index].identity;
            let (kind, path) = (identity.kind.as_str(), identity.path.as_str());
            let called = self.index.blocks_called(kind, path).iter();
            let free = called.filter(|at| self.is_open(**at)).count();
            let mut heads = self.free(self.index.heads_called(kind, path));
            heads.retain(|at| self.admits(*at, index, Content::Modified));
            if free == 1 && heads.len() == 1 {
                self.settle_modified(index, heads);
            }
        }
    }

    /// Tier 5 where the outermost container went by the file's name, and changed with it.
    fn same_leaf(&mut self) {
        #[derive(Default)]
        struct Namesakes(Vec<ClaimRef>, Vec<usize>);
        let mut of_leaf: HashMap<(&str, &str, &str), Namesakes> = HashMap::new();
        for at in self.heads.iter().copied().filter(|at| !self.used.contains(at)) {
            if let Some(name) = &self.ledger.claim(at).range.block {
                let key = (&*name.kind, inner(container_of(&name.path, leaf(name))), leaf(name));
                of_leaf.entry(key).or_default().0.push(at);
            }
        }
        for (index, block) in
            self.blocks.iter().enumerate().filter(|(index, _)| self.is_open(*index))
        {
            let container = inner(container_of(&block.identity.path, &block.name));
            let key = (block.identity.kind.as_str(), container, &*block.name);
            if let Some(namesakes) = of_leaf.get_mut(&key) {
                namesakes.1.push(index);
            }
        }
        let is_that_file = self.read_on() >= MIN_READ_ON;
        for Namesakes(heads, blocks) in of_leaf.into_values() {
            if let ([head], [index]) = (&heads[..], &blocks[..])
                && (is_that_file
                    || self.kept(*head, &self.blocks[*index]).is_some_and(|kept| kept >= MIN_KEPT))
                && self.admits(*head, *index, Content::Modified)
            {
                self.settle_modified(*index, heads);
            }
        }
    }

    /// How many sizeable definitions read as one did in the file that this one goes on, as far as it matters. By their
    /// names alone, two that implement one interface are alike, too.
    pub(super) fn read_on(&self) -> usize {
        let newest = self.heads.iter().max();
        let Some(outline) = newest.and_then(|newest| self.siblings.outline(*newest)) else {
            return 0;
        };
        let reads_the_same = |index: &usize| outline.alike(self.entry(*index)).next().is_some();
        let is_sizeable = |index: &usize| {
            let block = &self.blocks[*index];
            !block.identity.kind.is_unnamed() && block.fingerprint.token_count >= MIN_ACROSS_TOKENS
        };
        (0..self.blocks.len()).filter(is_sizeable).filter(reads_the_same).take(MIN_READ_ON).count()
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
            .filter(|index| self.is_open(*index))
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
        heads.retain(|at| kept(*at).is_none_or(|kept| kept > 0.9) || !self.is_another(*at, index));
        heads.sort_by(|a, b| kept(*b).unwrap_or(0.0).total_cmp(&kept(*a).unwrap_or(0.0)));
        let Some(best) = heads.first().copied() else { return };
        let share = kept(best);
        if block.identity.kind.is_unnamed() && share.is_none_or(|share| share < MIN_KEPT) {
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
            ..Provenance::found(best, Tier::Name, Content::Modified, self.place(best, block))
        };
        self.settle(index, best, provenance);
    }

    pub(super) fn place(&self, at: ClaimRef, block: &Block) -> Place {
        if !matches!(self.reach, Reach::File) {
            return Place::Moved;
        }
        let recorded = self.ledger.claim(at).range.block.as_ref();
        let container = |path: &str, name: &str| path.strip_suffix(name).unwrap_or("").to_owned();
        let unnamed = block.identity.kind.is_unnamed();
        let now = container(&block.identity.path, &block.name);
        let then = recorded.map(|name| match name.path.rfind(&block.name) {
            Some(at) if at + block.name.len() == name.path.len() => name.path[..at].to_owned(),
            _ => name.path.rsplit_once('.').map(|(head, _)| format!("{head}.")).unwrap_or_default(),
        });
        if unnamed || then.is_none_or(|then| then == now) { Place::Same } else { Place::Moved }
    }

    pub(super) fn settle(&mut self, index: usize, claim: ClaimRef, provenance: Provenance) {
        let content = provenance.content.unwrap_or(Content::Modified);
        let is_formatted = || self.before.formatted(claim);
        let written = match (content != Content::Exact).then(is_formatted).flatten() {
            Some(None) => return self.settle_older(index, claim, &[claim]),
            Some(Some(written)) => written,
            None => claim,
        };
        if self.before.is_nearer(written, &self.blocks[index], content) {
            return self.settle_older(index, claim, &[claim]);
        }
        let spoken_for = self.heads_with(claim);
        self.used.extend(spoken_for);
        self.used.insert(written);
        self.found[index] = Some(Provenance { claim: Some(written), ..provenance });
    }

    /// A record, and its name's own head where an earlier record fits (a revert).
    fn heads_with(&self, claim: ClaimRef) -> Vec<ClaimRef> {
        let name = self.ledger.claim(claim).range.block.as_ref();
        let heads = name.map_or(&[][..], |name| self.index.heads_like(name)).iter().copied();
        let same = |head: &ClaimRef| same_name(self.ledger.claim(*head).range.block.as_ref(), name);
        heads.filter(same).chain([claim]).collect()
    }

    /// A block that stood before a record was made, and before those that came of it: they are of no other block.
    fn settle_older(&mut self, index: usize, claim: ClaimRef, after: &[ClaimRef]) {
        for record in after {
            let spoken_for = self.heads_with(*record);
            self.undone.extend(spoken_for.into_iter().filter(|at| self.used.insert(*at)));
        }
        let why = Rejection::StoodBefore;
        self.found[index] = Some(Provenance::refused(Rejected { claim, scores: None, why }));
    }

    fn settle_several(&mut self, index: usize, candidates: Vec<ClaimRef>) {
        self.used.extend(candidates.iter().copied());
        self.found[index] = Some(Provenance::ambiguous(candidates));
    }
}

/// A path without its first segment.
pub(super) fn inner(path: &str) -> &str {
    path.split_once('.').map_or("", |(_, inner)| inner)
}

/// A path without its last segment.
pub(super) fn container_of<'a>(path: &'a str, leaf: &str) -> &'a str {
    path.strip_suffix(leaf).unwrap_or(path).trim_end_matches('.')
}
