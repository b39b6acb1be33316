//! The compact outline of a file: short hashes of *all* its definitions, kept
//! in every record of the file as a difference to the outline before.
//!
//! Without it a recorded block that is deleted beside a similar one is given
//! to the wrong one two times in three (measured on real histories).
//!
//! An entry is three short hashes, each the first 8 bytes of a SHA-256:
//! of the identity (`kind`, `path`, `parameters`, `ordinal`, separated by NUL),
//! of the token hash's text (of a block that contains others: its own tokens'),
//! of the content hash's text. It is written as
//! base64url without padding of the 24 bytes. The outline's own hash is `o1:`
//! and the first 32 hex digits of the SHA-256 over its entries, sorted.

use std::collections::{BTreeMap, HashSet};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use crate::code::{Block, ContentHash, FileBlocks, Identity, TokenHash};
use crate::ledger::{BlockName, OutlineDelta};

/// The first bytes of a SHA-256.
pub type Short = [u8; 8];

/// Short hashes of every block of a file, by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    entries: BTreeMap<Short, (Short, Short)>,
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
        Self { entries: blocks.blocks.iter().map(entry).collect() }
    }

    /// Takes over one block as it stands now.
    pub fn put(&mut self, block: &Block) {
        self.entries.extend([entry(block)]);
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
        let mut outline = Self::default();
        for delta in chain.iter().rev() {
            outline.apply(delta)?;
        }
        (outline.hash() == newest.hash).then_some(outline)
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
            put: self.entries.iter().map(encode).collect(),
            drop: Vec::new(),
        };
        let Some(before) = before else { return whole() };
        let put: Vec<String> = self
            .entries
            .iter()
            .filter(|(key, value)| before.entries.get(*key) != Some(*value))
            .map(encode)
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

    /// `o1:<32 hex>`.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (key, (tokens, content)) in &self.entries {
            hasher.update(key);
            hasher.update(tokens);
            hasher.update(content);
        }
        let hex: String =
            hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("o1:{hex}")
    }

    /// How a block of the file as it stands now relates to this outline.
    pub fn against(&self, block: &Block) -> Against {
        match self.entries.get(&key(&block.identity)) {
            None => Against::New,
            Some((_, content)) if *content == short(block.fingerprint.content.as_str()) => {
                Against::Same
            }
            Some((tokens, _)) if *tokens == short(own_tokens(block).as_str()) => {
                Against::Reformatted
            }
            Some(_) => Against::Changed,
        }
    }

    /// How many blocks had this text.
    pub fn count(&self, content: &ContentHash) -> usize {
        let wanted = short(content.as_str());
        self.entries.values().filter(|(_, content)| *content == wanted).count()
    }

    /// Whether the block called so had this text.
    pub fn held(&self, name: &BlockName, content: &ContentHash) -> bool {
        let key = key_of(&name.kind, &name.path, name.parameters.as_deref(), name.ordinal);
        self.entries.get(&key).is_some_and(|(_, held)| *held == short(content.as_str()))
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
        self.entries.iter().map(encode).collect()
    }

    /// Puts together what was kept; `None` where an entry is none.
    pub fn from_entries(entries: &[String]) -> Option<Self> {
        let mut outline = Self::default();
        for entry in entries {
            outline.put_entry(entry)?;
        }
        Some(outline)
    }

    fn put_entry(&mut self, entry: &str) -> Option<()> {
        let bytes = decode::<24>(entry)?;
        let part = |at: usize| -> Short { std::array::from_fn(|i| bytes[at + i]) };
        self.entries.insert(part(0), (part(8), part(16)));
        Some(())
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

fn entry(block: &Block) -> (Short, (Short, Short)) {
    let content = short(block.fingerprint.content.as_str());
    (key(&block.identity), (short(own_tokens(block).as_str()), content))
}

fn key(identity: &Identity) -> Short {
    key_of(identity.kind.as_str(), &identity.path, identity.parameters.as_deref(), identity.ordinal)
}

fn key_of(kind: &str, path: &str, parameters: Option<&str>, ordinal: u32) -> Short {
    short(&format!("{kind}\0{path}\0{}\0{ordinal}", parameters.unwrap_or("\u{1}")))
}

fn short(text: &str) -> Short {
    let digest = Sha256::digest(text.as_bytes());
    std::array::from_fn(|i| digest[i])
}

fn encode((key, (tokens, content)): (&Short, &(Short, Short))) -> String {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(key);
    bytes[8..16].copy_from_slice(tokens);
    bytes[16..].copy_from_slice(content);
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
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
        let built = outline.prop_map(|entries| Outline {
            entries: entries
                .into_iter()
                .map(|(key, (_, (a, b)))| (key, ([a; 8], [b; 8])))
                .collect(),
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
        let one = Outline {
            entries: [
                ([1; 8], ([1; 8], [1; 8])),
                ([2; 8], ([1; 8], [1; 8])),
                ([3; 8], ([1; 8], [1; 8])),
            ]
            .into(),
        };
        let mut two = one.clone();
        two.entries.insert([1; 8], ([2; 8], [2; 8]));
        let (first, second) = (one.delta(None), two.delta(Some(&one)));
        assert_eq!(second.put.len(), 1, "only what changed");
        assert_eq!(Outline::from_deltas(&[&second]), None);
        assert_eq!(Outline::from_deltas(&[&second, &first]), Some(two));
        let forged = OutlineDelta { hash: first.hash.clone(), ..second };
        assert_eq!(Outline::from_deltas(&[&forged, &first]), None);
    }
}
