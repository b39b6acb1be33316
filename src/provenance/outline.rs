//! The compact outline of a file: short hashes of *all* its definitions, kept
//! in every record of the file as a difference to the outline before.
//!
//! Without it a recorded block that is deleted beside a similar one is given
//! to the wrong one two times in three (measured on real histories).
//!
//! An entry is five short hashes, each the first 8 bytes of a SHA-256, the last one 4:
//! of the identity (`kind`, `path`, `parameters`, `ordinal`, separated by NUL),
//! of the token hash's text (of a block that contains others: its own tokens'),
//! of the content hash's text, of the shape hash's text, and of the kind and the
//! name's last segment, separated by NUL. It is written as base64url without
//! padding of the 36 bytes. The outline's own hash is `o2:` and the first 32 hex
//! digits of the SHA-256 over its entries, sorted. An `o1` outline is the same
//! without the last two.

use std::collections::{BTreeMap, HashSet};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::Content;
use crate::code::{Block, ContentHash, FileBlocks, Identity, TokenHash};
use crate::ledger::{BlockName, ClaimRef, Ledger, OutlineDelta};
use crate::workspace::RelativePath;

use super::heads;
use super::names::leaf;

/// The first bytes of a SHA-256.
pub type Short = [u8; 8];

/// Short hashes of every block of a file, by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    version: Version,
    entries: BTreeMap<Short, Held>,
}

/// What an entry holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Version {
    /// Neither shape nor name.
    One,
    #[default]
    Two,
}

impl Version {
    fn prefix(self) -> &'static str {
        match self {
            Self::One => "o1:",
            Self::Two => "o2:",
        }
    }

    fn of_hash(hash: &str) -> Option<Self> {
        [Self::One, Self::Two].into_iter().find(|version| hash.starts_with(version.prefix()))
    }
}

/// What a block is called: its kind and the last segment of its name.
pub type Called = [u8; 4];

/// A block as an outline has it; of an `o1` outline shape and name are all zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    tokens: Short,
    content: Short,
    shape: Short,
    called: Called,
}

/// A block as an outline would have it, made once for all the outlines that it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    key: Short,
    held: Held,
}

impl Entry {
    /// Of a block as it stands.
    pub fn of(block: &Block) -> Self {
        let (key, held) = entry(block, Version::Two);
        Self { key, held }
    }

    /// The short hash of its identity.
    pub fn key(&self) -> Short {
        self.key
    }
}

/// How a block stands against an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The identity is not in the outline.
    New,
    /// Same text.
    Same,
    /// Same tokens (of a block that contains others: of its own), other text.
    Reformatted,
    /// Other tokens.
    Changed,
}

impl Outline {
    /// The outline of a file as it stands.
    pub fn of(blocks: &FileBlocks) -> Self {
        let entries = blocks.blocks.iter().map(|block| entry(block, Version::Two)).collect();
        Self { version: Version::Two, entries }
    }

    /// Takes over one block as it stands now.
    pub fn put(&mut self, block: &Block) {
        self.entries.extend([entry(block, self.version)]);
    }

    /// Puts an outline together from the deltas of a file, newest first; `None` when a link is missing.
    pub fn from_deltas(newest_first: &[&OutlineDelta]) -> Option<Self> {
        let newest = newest_first.first()?;
        let mut chain = vec![*newest];
        let mut rest = &newest_first[1..];
        while let Some(base) = chain.last().and_then(|delta| delta.base.as_deref()) {
            let at = rest.iter().position(|delta| delta.hash == base)?;
            chain.push(rest[at]);
            rest = &rest[at + 1..];
        }
        let version = Version::of_hash(&newest.hash)?;
        let mut outline = Self { version, ..Self::default() };
        for delta in chain.iter().rev() {
            outline.apply(delta)?;
        }
        (outline.hash() == newest.hash).then_some(outline)
    }

    /// The file of a record as it was then; `None` where the record does not say, or a link is missing.
    pub fn at_record(ledger: &Ledger, at: ClaimRef) -> Option<Self> {
        let file = ledger.claim(at).file;
        let hash = file.outline.as_ref()?.hash.as_str();
        let deltas = ledger.outlines_of(&file.relative_path);
        let then = deltas.iter().position(|delta| delta.hash == hash)?;
        Self::from_deltas(&deltas[then..])
    }

    /// Of the blocks of a file that records speak of last, where nothing is known of the others.
    pub fn of_recorded(ledger: &Ledger, path: &RelativePath) -> Self {
        let entry = |at: ClaimRef| {
            let range = ledger.claim(at).range;
            let name = range.block.as_ref()?;
            let tokens = range.own_hash.as_ref().or(range.token_hash.as_ref());
            let held = Held {
                tokens: tokens.map(|hash| short(hash.as_str())).unwrap_or_default(),
                content: short(range.content_hash.as_str()),
                shape: range.shape_hash.as_ref().map(|h| short(h.as_str())).unwrap_or_default(),
                called: called_so(&name.kind, leaf(name)),
            };
            Some((key_of_name(name), held))
        };
        let entries = heads(ledger, path).into_iter().filter_map(entry).collect();
        Self { version: Version::Two, entries }
    }

    /// Whether it says what the blocks are called.
    pub fn names_blocks(&self) -> bool {
        self.version == Version::Two
    }

    /// The file of a record as it was before that, as far as it was recorded then; `None` likewise.
    pub fn before_record(ledger: &Ledger, at: ClaimRef) -> Option<Self> {
        let file = ledger.claim(at).file;
        let hash = file.outline.as_ref()?.hash.as_str();
        let deltas = ledger.outlines_of(&file.relative_path);
        let then = deltas.iter().position(|delta| delta.hash == hash)?;
        Self::from_deltas(&deltas[then + 1..])
    }

    /// How the block of a text stands to one of now; `None` where there was none of that text.
    pub fn reads_as(&self, then: &ContentHash, block: &Block) -> Option<Content> {
        let (wanted, now) = (short(then.as_str()), entry(block, self.version).1);
        let held = self.entries.values().find(|held| held.content == wanted)?;
        let shaped = self.version == Version::Two;
        Some(match () {
            () if held.content == now.content => Content::Exact,
            () if held.tokens == now.tokens => Content::Reformatted,
            () if shaped && held.shape == now.shape => Content::Renamed,
            () => Content::Modified,
        })
    }

    /// Whether a block of this name, or of this text, was there.
    pub fn holds(&self, name: &Short, text: &ContentHash) -> bool {
        self.entries.contains_key(name) || self.count(text) > 0
    }

    fn apply(&mut self, delta: &OutlineDelta) -> Option<()> {
        for gone in &delta.drop {
            self.entries.remove(&decode::<8>(gone)?);
        }
        for entry in &delta.put {
            self.put_entry(entry)?;
        }
        Some(())
    }

    /// This outline as a difference to an earlier one, or whole where that is not longer.
    pub fn delta(&self, before: Option<&Outline>) -> OutlineDelta {
        let whole = || OutlineDelta {
            base: None,
            hash: self.hash(),
            put: self.entries(),
            drop: Vec::new(),
        };
        let Some(before) = before.filter(|before| before.version == self.version) else {
            return whole();
        };
        let put: Vec<String> = self
            .entries
            .iter()
            .filter(|(key, value)| before.entries.get(*key) != Some(*value))
            .map(|entry| encode(entry, self.version))
            .collect();
        let drop: Vec<String> = before
            .entries
            .keys()
            .filter(|key| !self.entries.contains_key(*key))
            .map(|key| BASE64_URL_SAFE_NO_PAD.encode(key))
            .collect();
        if put.len() + drop.len() >= self.entries.len() {
            return whole();
        }
        OutlineDelta { base: Some(before.hash()), hash: self.hash(), put, drop }
    }

    /// `o2:<32 hex>`; of an outline that was read as such, `o1:<32 hex>`.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (key, held) in &self.entries {
            hasher.update(bytes(key, held, self.version));
        }
        let hex: String =
            hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{}{hex}", self.version.prefix())
    }

    /// How a block of the file as it stands now relates to this outline.
    pub fn against(&self, block: &Block) -> Against {
        self.stands(&Entry::of(block))
    }

    /// The same of a block that is held against several.
    pub fn stands(&self, now: &Entry) -> Against {
        match self.entries.get(&now.key) {
            None => Against::New,
            Some(held) if held.content == now.held.content => Against::Same,
            Some(held) if held.tokens == now.held.tokens => Against::Reformatted,
            Some(_) => Against::Changed,
        }
    }

    /// The identities of the blocks that had the text, the tokens or the shape of this one.
    pub fn alike(&self, now: &Entry) -> impl Iterator<Item = &Short> {
        let now = now.held;
        let shaped = self.version == Version::Two;
        self.entries.iter().filter_map(move |(key, held)| {
            let same = held.content == now.content
                || held.tokens == now.tokens
                || shaped && held.shape == now.shape;
            same.then_some(key)
        })
    }

    /// The identities it holds.
    pub fn keys(&self) -> impl Iterator<Item = &Short> {
        self.entries.keys()
    }

    /// What the blocks are called; nothing of an `o1` outline.
    pub fn called(&self) -> HashSet<Called> {
        let known = self.names_blocks();
        self.entries.values().filter(|_| known).map(|held| held.called).collect()
    }

    /// How many blocks had this text.
    pub fn count(&self, content: &ContentHash) -> usize {
        let wanted = short(content.as_str());
        self.entries.values().filter(|held| held.content == wanted).count()
    }

    /// Whether the block called so had this text.
    pub fn held(&self, name: &BlockName, content: &ContentHash) -> bool {
        let held = self.entries.get(&key_of_name(name));
        held.is_some_and(|held| held.content == short(content.as_str()))
    }

    /// The identities of blocks that are new, changed or gone in a later state of the file. A block that contains others
    /// is changed when its own tokens are.
    pub fn touched(&self, after: &FileBlocks) -> HashSet<Short> {
        let changed = |block: &&Block| match self.against(block) {
            Against::Same => false,
            Against::Reformatted => block.fingerprint.own.is_none(),
            Against::New | Against::Changed => true,
        };
        let mut touched: HashSet<Short> =
            after.blocks.iter().filter(changed).map(|block| key(&block.identity)).collect();
        let there: HashSet<Short> = after.blocks.iter().map(|block| key(&block.identity)).collect();
        touched.extend(self.entries.keys().filter(|key| !there.contains(*key)));
        touched
    }

    /// The entries as texts, for keeping.
    pub fn entries(&self) -> Vec<String> {
        self.entries.iter().map(|entry| encode(entry, self.version)).collect()
    }

    /// Puts together what was kept; `None` where an entry is none.
    pub fn from_entries(entries: &[String]) -> Option<Self> {
        let of_one = entries.first().is_some_and(|entry| entry.len() == LENGTH_OF_ONE);
        let version = if of_one { Version::One } else { Version::Two };
        let mut outline = Self { version, ..Self::default() };
        for entry in entries {
            outline.put_entry(entry)?;
        }
        Some(outline)
    }

    fn put_entry(&mut self, entry: &str) -> Option<()> {
        let mut bytes = [0; 36];
        match self.version {
            Version::One => bytes[..24].copy_from_slice(&decode::<24>(entry)?),
            Version::Two => bytes = decode::<36>(entry)?,
        }
        let part = |at: usize| -> Short { std::array::from_fn(|i| bytes[at + i]) };
        let called = std::array::from_fn(|i| bytes[32 + i]);
        let held = Held { tokens: part(8), content: part(16), shape: part(24), called };
        self.entries.insert(part(0), held);
        Some(())
    }

    /// How many blocks.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// No blocks at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The tokens that a block answers for: without those of blocks inside it, which answer for themselves.
pub fn own_tokens(block: &Block) -> &TokenHash {
    block.fingerprint.own.as_ref().unwrap_or(&block.fingerprint.tokens)
}

/// How a block stands to one of before.
pub fn reads_as(then: &Block, now: &Block) -> Content {
    let (old, new) = (&then.fingerprint, &now.fingerprint);
    match () {
        () if old.content == new.content => Content::Exact,
        () if own_tokens(then) == own_tokens(now) => Content::Reformatted,
        () if old.shape == new.shape => Content::Renamed,
        () => Content::Modified,
    }
}

/// The letters of an `o1` entry.
const LENGTH_OF_ONE: usize = 32;

fn entry(block: &Block, version: Version) -> (Short, Held) {
    let print = &block.fingerprint;
    let mut held = Held {
        tokens: short(own_tokens(block).as_str()),
        content: short(print.content.as_str()),
        ..Held::default()
    };
    if version == Version::Two {
        held.shape = short(print.shape.as_str());
        held.called = called(block);
    }
    (key(&block.identity), held)
}

/// What a block is called, shortly.
pub fn called(block: &Block) -> Called {
    called_so(block.identity.kind.as_str(), &block.name)
}

fn called_so(kind: &str, name: &str) -> Called {
    let hash = short(&format!("{kind}\0{name}"));
    std::array::from_fn(|i| hash[i])
}

/// The short hash of a block's identity.
pub fn key(identity: &Identity) -> Short {
    key_of(identity.kind.as_str(), &identity.path, identity.parameters.as_deref(), identity.ordinal)
}

/// The same of a recorded name.
pub fn key_of_name(name: &BlockName) -> Short {
    key_of(&name.kind, &name.path, name.parameters.as_deref(), name.ordinal)
}

fn key_of(kind: &str, path: &str, parameters: Option<&str>, ordinal: u32) -> Short {
    short(&format!("{kind}\0{path}\0{}\0{ordinal}", parameters.unwrap_or("\u{1}")))
}

/// How many neighbours are kept on either side.
const NEIGHBOURS: usize = 4;

/// An identity, shorter still.
pub type Shorter = [u8; 4];

/// The neighbours of a block among those of its container, as a record keeps them: the first 4 bytes of the identities
/// of up to four before it and up to four after it, nearest first, zeros where there is none; base64url without
/// padding. What has no name of its own does not count.
pub fn neighbours(blocks: &[Block], at: usize) -> String {
    let mut bytes = [0; NEIGHBOURS * 8];
    let (before, after) = siblings(blocks, at);
    let sides = [before.collect::<Vec<_>>(), after.collect()];
    for (half, side) in bytes.chunks_mut(NEIGHBOURS * 4).zip(sides) {
        for (slot, sibling) in half.chunks_mut(4).zip(side) {
            slot.copy_from_slice(&shorter(&key(&blocks[sibling].identity)));
        }
    }
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// The named blocks of the same container before a block and after it, nearest first, by index.
pub(super) fn siblings(
    blocks: &[Block],
    at: usize,
) -> (impl Iterator<Item = usize>, impl Iterator<Item = usize>) {
    let container = blocks[at].container;
    let sibling = move |other: &usize| {
        blocks[*other].container == container && !blocks[*other].identity.kind.is_unnamed()
    };
    let before = (0..at).rev().filter(sibling).take(NEIGHBOURS);
    (before, (at + 1..blocks.len()).filter(sibling).take(NEIGHBOURS))
}

/// The first 4 bytes.
pub(super) fn shorter(key: &Short) -> Shorter {
    std::array::from_fn(|i| key[i])
}

/// What was kept of those before and of those after; `None` where it is no such thing.
pub(super) fn decode_neighbours(text: &str) -> Option<[Vec<Shorter>; 2]> {
    let bytes = decode::<{ NEIGHBOURS * 8 }>(text)?;
    let all = bytes.as_chunks::<4>().0;
    let some = |side: &[Shorter]| side.iter().copied().filter(|key| *key != [0; 4]).collect();
    Some([some(&all[..NEIGHBOURS]), some(&all[NEIGHBOURS..])])
}

fn short(text: &str) -> Short {
    let digest = Sha256::digest(text.as_bytes());
    std::array::from_fn(|i| digest[i])
}

fn bytes(key: &Short, held: &Held, version: Version) -> Vec<u8> {
    let mut bytes = [*key, held.tokens, held.content].concat();
    if version == Version::Two {
        bytes.extend(held.shape);
        bytes.extend(held.called);
    }
    bytes
}

fn encode((key, held): (&Short, &Held), version: Version) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes(key, held, version))
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outlines() -> impl Strategy<Value = Vec<Outline>> {
        let entry = (0u8..12, (0u8..3, 0u8..3));
        let outline =
            prop::collection::btree_map(entry.clone().prop_map(|(key, _)| [key; 8]), entry, 0..12);
        let held = |(key, (_, (a, b)))| {
            (key, Held { tokens: [a; 8], content: [b; 8], shape: [a; 8], called: [b; 4] })
        };
        let built = outline.prop_map(move |entries| Outline {
            version: Version::Two,
            entries: entries.into_iter().map(held).collect(),
        });
        prop::collection::vec(built, 1..6)
    }

    proptest! {
        #[test]
        fn deltas_put_the_newest_outline_together_again(history in outlines()) {
            let mut deltas = Vec::new();
            let mut before = None;
            for outline in &history {
                deltas.push(outline.delta(before));
                before = Some(outline);
            }
            let newest_first: Vec<&OutlineDelta> = deltas.iter().rev().collect();
            prop_assert_eq!(Outline::from_deltas(&newest_first), history.last().cloned());
        }
    }

    #[test]
    fn a_missing_link_or_a_wrong_hash_gives_nothing_rather_than_something_else() {
        let held = |n: u8| Held { tokens: [n; 8], content: [n; 8], shape: [n; 8], called: [n; 4] };
        let one =
            Outline { version: Version::Two, entries: [1, 2, 3].map(|n| ([n; 8], held(1))).into() };
        let mut two = one.clone();
        two.entries.insert([1; 8], held(2));
        let (first, second) = (one.delta(None), two.delta(Some(&one)));
        assert_eq!(second.put.len(), 1, "only what changed");
        assert_eq!(Outline::from_deltas(&[&second]), None);
        assert_eq!(Outline::from_deltas(&[&second, &first]), Some(two));
        let forged = OutlineDelta { hash: first.hash.clone(), ..second };
        assert_eq!(Outline::from_deltas(&[&forged, &first]), None);
    }

    #[test]
    fn an_outline_without_shapes_is_still_read_and_never_the_base_of_one_with_them() {
        let old = Outline {
            version: Version::One,
            entries: [([1; 8], Held { tokens: [2; 8], content: [3; 8], ..Held::default() })].into(),
        };
        let delta = old.delta(None);
        assert!(delta.hash.starts_with("o1:") && delta.put[0].len() == LENGTH_OF_ONE, "{delta:?}");
        assert_eq!(Outline::from_deltas(&[&delta]), Some(old.clone()));
        assert_eq!(Outline::from_entries(&old.entries()), Some(old.clone()));
        let new = Outline { version: Version::Two, ..old.clone() };
        assert_eq!(new.delta(Some(&old)).base, None);
    }
}
