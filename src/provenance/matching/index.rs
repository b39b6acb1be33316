//! What the tiers look things up by, so that no block is held against every other one.

use std::collections::HashMap;

use crate::code::{Block, Fingerprint};
use crate::ledger::{BlockName, BlockRecord, ClaimRef, Ledger};

use crate::provenance::Content;

/// Kind and path, parameters and ordinal aside.
type Called<'a> = (&'a str, &'a str);

/// The last words on a file and its blocks as they stand, by name and by text.
pub(super) struct Index<'a> {
    heads_called: HashMap<Called<'a>, Vec<ClaimRef>>,
    heads_reading: HashMap<Text<'a>, Vec<ClaimRef>>,
    blocks_called: HashMap<Called<'a>, Vec<usize>>,
    blocks_reading: HashMap<Text<'a>, Vec<usize>>,
}

/// A hash, and what it is the hash of.
type Text<'a> = (u8, &'a str);

impl<'a> Index<'a> {
    pub(super) fn new(ledger: &'a Ledger, heads: &[ClaimRef], blocks: &'a [Block]) -> Self {
        let mut index = Self {
            heads_called: HashMap::new(),
            heads_reading: HashMap::new(),
            blocks_called: HashMap::new(),
            blocks_reading: HashMap::new(),
        };
        for at in heads.iter().copied() {
            let range = ledger.claim(at).range;
            if let Some(name) = &range.block {
                index.heads_called.entry((&name.kind, &name.path)).or_default().push(at);
            }
            for content in Content::WITH_TEXT {
                if let Some(text) = text_of_record(range, content) {
                    index.heads_reading.entry(text).or_default().push(at);
                }
            }
        }
        for (at, block) in blocks.iter().enumerate() {
            index.blocks_called.entry(called(block)).or_default().push(at);
            for content in Content::WITH_TEXT {
                if let Some(text) = text_of_block(&block.fingerprint, content) {
                    index.blocks_reading.entry(text).or_default().push(at);
                }
            }
        }
        index
    }

    /// Last words on blocks of that kind and path.
    pub(super) fn heads_called(&self, kind: &'a str, path: &'a str) -> &[ClaimRef] {
        self.heads_called.get(&(kind, path)).map_or(&[], Vec::as_slice)
    }

    /// Last words on blocks of the same kind and path as a record's.
    pub(super) fn heads_like(&self, name: &'a BlockName) -> &[ClaimRef] {
        self.heads_called(&name.kind, &name.path)
    }

    /// Last words that are equal to the block in that respect.
    pub(super) fn heads_reading(&self, block: &'a Block, content: Content) -> &[ClaimRef] {
        text_of_block(&block.fingerprint, content)
            .and_then(|text| self.heads_reading.get(&text))
            .map_or(&[], Vec::as_slice)
    }

    /// Blocks of that kind and path.
    pub(super) fn blocks_called(&self, kind: &'a str, path: &'a str) -> &[usize] {
        self.blocks_called.get(&(kind, path)).map_or(&[], Vec::as_slice)
    }

    /// Blocks, this one among them, that are equal to it in that respect.
    pub(super) fn blocks_reading(&self, block: &'a Block, content: Content) -> &[usize] {
        text_of_block(&block.fingerprint, content)
            .and_then(|text| self.blocks_reading.get(&text))
            .map_or(&[], Vec::as_slice)
    }
}

fn called(block: &Block) -> Called<'_> {
    (block.identity.kind.as_str(), &block.identity.path)
}

fn text_of_block(print: &Fingerprint, content: Content) -> Option<Text<'_>> {
    let text = match content {
        Content::Exact => print.content.as_str(),
        Content::Reformatted => print.tokens.as_str(),
        Content::Renamed => print.shape.as_str(),
        Content::Modified => return None,
    };
    Some((content as u8, text))
}

fn text_of_record(range: &BlockRecord, content: Content) -> Option<Text<'_>> {
    let text = match content {
        Content::Exact => range.content_hash.as_str(),
        Content::Reformatted => range.token_hash.as_ref()?.as_str(),
        Content::Renamed => range.shape_hash.as_ref()?.as_str(),
        Content::Modified => return None,
    };
    Some((content as u8, text))
}
