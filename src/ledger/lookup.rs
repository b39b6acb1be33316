//! What entries are looked up by.

use sha2::{Digest as _, Sha256};

use super::kept::Key;
use super::{BlockName, BlockRecord, Dialect, Entry, FileRecord, Record, RecordKind};
use crate::code::ContentHash;
use crate::workspace::RelativePath;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sought<'a> {
    /// A file.
    Path(&'a RelativePath),
    /// The text of a block.
    Content(&'a ContentHash),
    /// A block's kind and the last segment of its path, however that is spelled: `_get_hash` and `getHash` are one.
    Called(&'a str, &'a str),
    /// An intent.
    Intent(&'a str),
    /// A record.
    Id(&'a str),
}

impl Sought<'_> {
    /// Equal for what is the same; two that differ may have one key.
    pub(super) fn key(&self) -> Key {
        let mut hasher = Sha256::new();
        match self {
            Self::Path(path) => hasher.update(["p", path.as_str()].concat()),
            Self::Content(hash) => hasher.update(["c", hash.key()].concat()),
            Self::Called(kind, path) => hasher.update(["n", kind, "\0", &plain(path)].concat()),
            Self::Intent(intent) => hasher.update(["i", intent].concat()),
            Self::Id(record) => hasher.update(["r", record].concat()),
        }
        let digest = hasher.finalize();
        std::array::from_fn(|at| digest[at])
    }

    /// Whether it is this block.
    pub(super) fn is_of(&self, record: &Record, file: &FileRecord, range: &BlockRecord) -> bool {
        match self {
            Self::Path(path) => file.relative_path == **path,
            Self::Content(hash) => {
                is_content_hash(&range.content_hash) && range.content_hash.key() == hash.key()
            }
            Self::Called(kind, path) => {
                let is_it =
                    |name: &BlockName| name.kind == *kind && plain(&name.path) == plain(path);
                range.block.as_ref().is_some_and(is_it)
            }
            Self::Intent(intent) => intents(record, file).contains(intent),
            Self::Id(id) => record.id == *id,
        }
    }
}

/// The letters and digits of a name's last segment, in lower case; of a name that has none, the segment.
fn plain(path: &str) -> String {
    let leaf = path.rsplit('.').next().unwrap_or(path);
    let letters = leaf.chars().filter(|letter| letter.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    if plain.is_empty() { leaf.to_owned() } else { plain }
}

/// A SHA-256 in our spelling, and of more than nothing: failed reads have left the hash of the empty text in many ledgers.
pub(super) fn is_content_hash(hash: &ContentHash) -> bool {
    const NOTHING: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb924";
    let key = hash.key();
    key != NOTHING
        && key.strip_prefix("sha256:").is_some_and(|digits| {
            digits.len() == 32
                && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        })
}

/// The intents that claims of a file belong to: the record's, or, where it names none, those the file is related to.
pub(super) fn intents<'a>(record: &'a Record, file: &'a FileRecord) -> Vec<&'a str> {
    if let Some(intent) = &record.intent_id {
        return vec![intent];
    }
    let related = file.relations().filter(|one| one.kind.eq_ignore_ascii_case("intent"));
    let mut related: Vec<&str> = related.map(|one| one.value.as_str()).collect();
    related.dedup();
    related
}

/// Whether an entry speaks of a file as a whole, so that its blocks have to be derived.
pub(super) fn is_whole(entry: &Entry) -> bool {
    let mut ranges = entry.record.files.iter().flat_map(|file| &file.conversations);
    entry.dialect == Dialect::Evidence
        && ranges.any(|one| one.ranges.iter().any(|range| range.block.is_none()))
}

/// All that an entry can be found by. Of a file that was recorded as a whole, its blocks are not known here.
pub(super) fn keys_of(entry: &Entry) -> Vec<Key> {
    let record = &entry.record;
    let mut keys = Vec::new();
    keys.extend((!record.id.is_empty()).then(|| Sought::Id(&record.id).key()));
    keys.extend(record.intent_id.iter().map(|intent| Sought::Intent(intent).key()));
    for file in &record.files {
        keys.push(Sought::Path(&file.relative_path).key());
        keys.extend(intents(record, file).into_iter().map(|intent| Sought::Intent(intent).key()));
        if !is_whole(entry) {
            let ranges = file.conversations.iter().flat_map(|one| &one.ranges);
            keys.extend(ranges.flat_map(keys_of_block));
        }
    }
    keys.extend(is_whole(entry).then_some(WHOLE));
    keys.extend((record.kind == RecordKind::Reassign).then_some(REASSIGN));
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// What a block can be found by, in whatever file.
pub(super) fn keys_of_block(range: &BlockRecord) -> Vec<Key> {
    let content =
        is_content_hash(&range.content_hash).then_some(Sought::Content(&range.content_hash));
    let called = range.block.as_ref().map(|name| Sought::Called(&name.kind, &name.path));
    content.into_iter().chain(called).map(|sought| sought.key()).collect()
}

/// The key of the records that put blocks under other intents.
pub(super) const REASSIGN: Key = *b"\0reassig";

/// The key of the entries that speak of a file as a whole.
pub(super) const WHOLE: Key = *b"\0a whole";
