//! What an index keeps of an entry: its place, its links, and the keys under which it is found.
//!
//! A key is the beginning of a SHA-256 over what is looked for, with its kind before it. Texts of the ledger are
//! anybody's, so a key is never a part of the text itself: two texts with one key cannot be made at will.

use sha2::{Digest, Sha256};

use super::chain::{self, DIGEST, Link};
use super::{Dialect, Entry, FileRecord};
use crate::code::fingerprint::BANDS;
use crate::code::{ContentHash, Sketch};
use crate::workspace::RelativePath;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// Claims on a path.
    Path,
    /// Claims with a content hash.
    Content,
    /// Claims with a token hash.
    Tokens,
    /// Claims with a shape hash.
    Shape,
    /// Claims by kind and last name.
    Called,
    /// Claims under an intent.
    Intent,
    /// The entry with an id.
    Id,
    /// Entries that name an intent.
    EntriesOfIntent,
    /// Entries that name a path.
    EntriesOfPath,
    /// Entries that name a path and count.
    Named,
    /// Entries with an outline of a path.
    Outline,
    /// The entry that a head is of.
    Head,
}

/// The key of a text, or of several.
pub(super) fn key(kind: Kind, texts: &[&str]) -> u64 {
    let mut sha = Sha256::new();
    sha.update([kind as u8]);
    for text in texts {
        sha.update((text.len() as u64).to_be_bytes());
        sha.update(text);
    }
    let mut short = [0; 8];
    short.copy_from_slice(&sha.finalize()[..8]);
    u64::from_be_bytes(short)
}

/// The key of where a chain stands.
pub(super) fn key_of_head(writer: &str, seq: u64, h: &str) -> u64 {
    key(Kind::Head, &[writer, &seq.to_string(), h])
}

/// The key of a block's kind and the last segment of its path, however that is spelled: `_get_hash` and `getHash` are
/// one.
pub(super) fn key_of_called(kind: &str, path: &str) -> u64 {
    let leaf = path.rsplit('.').next().unwrap_or(path);
    let letters = leaf.chars().filter(|letter| letter.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    key(Kind::Called, &[kind, if plain.is_empty() { leaf } else { &plain }])
}

/// An entry in brief.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub line: u32,
    pub start: u64,
    pub end: u64,
    pub digest: [u8; DIGEST],
    pub canonical: bool,
    pub intact: bool,
    /// Milliseconds since 1970; `None` when it cannot be read.
    pub time: Option<i64>,
    pub id: String,
    pub writer: String,
    pub seq: u64,
    pub h: String,
    pub prev: Option<String>,
    pub part: Option<(u32, u32)>,
    pub mutation: Option<String>,
    pub intent: Option<String>,
    /// The files it names.
    pub paths: Vec<RelativePath>,
    /// Index of the file, of the conversation in it, of the range in that.
    pub claims: Vec<[u32; 3]>,
    /// Keys with the claims that they are of.
    pub claim_keys: Vec<(u64, u32)>,
    /// Sketches with the claims that they are of.
    pub bands: Vec<(u32, [u32; BANDS])>,
    /// Paths of which the entry has an outline.
    pub outlines: Vec<u64>,
}

impl Row {
    /// Of an entry as it has been read from its file.
    pub fn of(entry: &Entry) -> Self {
        let mut row = Self::in_chain(entry);
        for (at, file) in (0..).zip(&entry.record.files) {
            row.paths.push(file.relative_path.clone());
            if file.outline.is_some() {
                row.outlines.push(key(Kind::Outline, &[file.relative_path.as_str()]));
            }
            row.add_claims(entry, at, file);
        }
        row
    }

    /// The same without what the entry says of files.
    pub fn in_chain(entry: &Entry) -> Self {
        let record = &entry.record;
        Self {
            line: entry.origin.line,
            start: entry.origin.start,
            end: entry.origin.end,
            digest: chain::digest(&entry.stored),
            canonical: entry.dialect == Dialect::Canonical,
            intact: entry.dialect != Dialect::Canonical || chain::is_intact(&entry.stored),
            time: millis(&record.timestamp),
            id: record.id.clone(),
            writer: record.writer.clone(),
            seq: record.seq,
            h: record.h.clone(),
            prev: record.prev.clone(),
            part: record.part,
            mutation: record.mutation.clone(),
            intent: record.intent_id.clone(),
            paths: Vec::new(),
            claims: Vec::new(),
            claim_keys: Vec::new(),
            bands: Vec::new(),
            outlines: Vec::new(),
        }
    }

    fn add_claims(&mut self, entry: &Entry, at: u32, file: &FileRecord) {
        let mut common = vec![key(Kind::Path, &[file.relative_path.as_str()])];
        common.extend(intents(entry, file).iter().map(|intent| key(Kind::Intent, &[intent])));
        for (c, conversation) in (0..).zip(&file.conversations) {
            for (r, range) in (0..).zip(&conversation.ranges) {
                let claim = index(self.claims.len());
                self.claims.push([at, c, r]);
                let mut keys = common.clone();
                if is_content_hash(&range.content_hash) {
                    keys.push(key(Kind::Content, &[range.content_hash.as_str()]));
                }
                keys.extend(range.token_hash.iter().map(|h| key(Kind::Tokens, &[h.as_str()])));
                keys.extend(range.shape_hash.iter().map(|h| key(Kind::Shape, &[h.as_str()])));
                keys.extend(range.block.iter().map(|name| key_of_called(&name.kind, &name.path)));
                self.claim_keys.extend(keys.into_iter().map(|key| (key, claim)));
                let bands = range.sketch.as_ref().and_then(Sketch::bands);
                self.bands.extend(bands.map(|bands| (claim, bands)));
            }
        }
    }

    /// What the chain wants to know.
    pub fn link<'a>(&'a self, path: &'a RelativePath) -> Link<'a> {
        Link {
            path,
            line: self.line,
            start: self.start,
            end: self.end,
            canonical: self.canonical,
            intact: self.intact,
            digest: &self.digest,
            id: &self.id,
            writer: &self.writer,
            seq: self.seq,
            h: &self.h,
            prev: self.prev.as_deref(),
            part: self.part,
            mutation: self.mutation.as_deref(),
        }
    }
}

fn millis(timestamp: &str) -> Option<i64> {
    let time: jiff::Timestamp = timestamp.trim().parse().ok()?;
    Some(time.as_millisecond())
}

/// The intents that claims of a file belong to: the record's, or, where it names none, those the file is related to.
fn intents<'a>(entry: &'a Entry, file: &'a FileRecord) -> Vec<&'a str> {
    if let Some(intent) = &entry.record.intent_id {
        return vec![intent];
    }
    let mut related: Vec<&str> = file
        .related
        .iter()
        .filter(|related| related.kind.eq_ignore_ascii_case("intent"))
        .map(|related| related.value.as_str())
        .collect();
    related.dedup();
    related
}

/// A SHA-256 in our spelling, and of more than nothing: failed reads have left the hash of the empty text in many ledgers.
pub(super) fn is_content_hash(hash: &ContentHash) -> bool {
    const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    hash.as_str().strip_prefix("sha256:").is_some_and(|digits| {
        digits.len() == 64
            && digits != NOTHING
            && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Four thousand million records, or blocks in one, do not fit into memory.
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 entries fit into memory")
}
