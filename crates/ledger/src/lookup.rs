//! The keys by which entries of the ledger can be looked up.

use sha2::{Digest as _, Sha256};

use super::evidence::is_lower_hex;
use super::{
    BlockName, BlockRecord, Entry, FileRecord, Record, RecordDialect, RecordKind, dialect, sorted,
};
use code::ContentHash;
use ground::RelativePath;

/// A short hash by which entries are looked up. See [`LookUp::key`].
pub(super) type LookUpKey = [u8; 8];

#[derive(Clone, Copy, Debug)]
pub(super) enum LookUp<'a> {
    Path(&'a RelativePath),
    Content(&'a ContentHash),
    /// Blocks of this kind with this name. Only the letters and digits of the last segment are
    /// compared, ignoring case: `_get_hash` finds `getHash`.
    Called(&'a str, &'a str),
    Intent(&'a str),
    Id(&'a str),
}

impl LookUp<'_> {
    /// Returns the key of this look-up in the table. Two different look-ups can have the same key,
    /// so the caller checks each result with [`Self::is_of`].
    pub(super) fn key(&self) -> LookUpKey {
        let mut hasher = Sha256::new();
        match self {
            Self::Path(path) => hasher.update(["p", path.as_str()].concat()),
            Self::Content(hash) => hasher.update(["c", hash.key()].concat()),
            Self::Called(kind, path) => {
                hasher.update(["n", kind, "\0", &letters_of_last_segment(path)].concat())
            }
            Self::Intent(intent) => hasher.update(["i", intent].concat()),
            Self::Id(record) => hasher.update(["r", record].concat()),
        }
        let digest = hasher.finalize();
        std::array::from_fn(|at| digest[at])
    }

    pub(super) fn is_of(&self, record: &Record, file: &FileRecord, range: &BlockRecord) -> bool {
        match self {
            Self::Path(path) => file.relative_path == **path,
            Self::Content(hash) => {
                is_content_hash(&range.content_hash) && range.content_hash.key() == hash.key()
            }
            Self::Called(kind, path) => {
                let is_it = |name: &BlockName| {
                    name.kind == *kind
                        && letters_of_last_segment(&name.path) == letters_of_last_segment(path)
                };
                range.block.as_ref().is_some_and(is_it)
            }
            Self::Intent(intent) => intents(record, file).contains(intent),
            Self::Id(id) => record.id == *id,
        }
    }
}

/// Returns the letters and digits of the last segment of a name, in lower case. A segment without
/// any (an operator) is returned unchanged.
fn letters_of_last_segment(path: &str) -> String {
    let leaf = path.rsplit('.').next().unwrap_or(path);
    let letters = leaf.chars().filter(|letter| letter.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    if plain.is_empty() { leaf.to_owned() } else { plain }
}

/// Returns true for a SHA-256 as this program writes it. The hash of the empty text does not count:
/// other tools wrote it into many ledgers when they failed to read a file.
pub(super) fn is_content_hash(hash: &ContentHash) -> bool {
    const NOTHING: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb924";
    let key = hash.key();
    key != NOTHING
        && key
            .strip_prefix("sha256:")
            .is_some_and(|digits| digits.len() == 32 && is_lower_hex(digits))
}

/// Returns the intents of the claims on a file. This is the record's intent or, if the record has
/// none (as in files of other tools), the intents in the file's `related`.
pub(super) fn intents<'a>(record: &'a Record, file: &'a FileRecord) -> Vec<&'a str> {
    if let Some(intent) = &record.intent_id {
        return vec![intent];
    }
    let related = file.relations().filter(|one| {
        one.kind.eq_ignore_ascii_case("intent") && !dialect::is_placeholder(&one.value)
    });
    let mut related: Vec<&str> = related.map(|one| one.value.as_str()).collect();
    related.dedup();
    related
}

/// Returns true if the entry names a file as a whole. The blocks of that file are then computed
/// from its text in git.
pub(super) fn is_whole(entry: &Entry) -> bool {
    let mut ranges = entry.record.files.iter().flat_map(|file| &file.conversations);
    entry.dialect == RecordDialect::Evidence
        && ranges.find_map(|one| one.ranges.first()).is_some_and(|range| range.block.is_none())
}

/// Returns all keys of an entry. If the entry names a file as a whole, the keys of the blocks in
/// that file are not included.
pub(super) fn keys_of(entry: &Entry) -> Vec<LookUpKey> {
    let record = &entry.record;
    let mut keys = Vec::new();
    keys.extend((!record.id.is_empty()).then(|| LookUp::Id(&record.id).key()));
    keys.extend(record.intent_id.iter().map(|intent| LookUp::Intent(intent).key()));
    for file in &record.files {
        keys.push(LookUp::Path(&file.relative_path).key());
        keys.extend(intents(record, file).into_iter().map(|intent| LookUp::Intent(intent).key()));
        if !is_whole(entry) {
            keys.extend(file.ranges().flat_map(keys_of_block));
        }
    }
    keys.extend(is_whole(entry).then_some(WHOLE));
    keys.extend(match record.kind {
        RecordKind::Reassign => Some(REASSIGN),
        RecordKind::Registry => Some(REGISTRY),
        _ => None,
    });
    sorted(keys)
}

/// Returns the keys of a block: its content hash, and its kind and name. They do not depend on its
/// file.
pub(super) fn keys_of_block(range: &BlockRecord) -> Vec<LookUpKey> {
    let content =
        is_content_hash(&range.content_hash).then_some(LookUp::Content(&range.content_hash));
    let called = range.block.as_ref().map(|name| LookUp::Called(&name.kind, &name.path));
    content.into_iter().chain(called).map(|sought| sought.key()).collect()
}

/// The key that all `reassign` records have.
pub(super) const REASSIGN: LookUpKey = *b"\0reassig";

/// The key that all `registry` records have.
pub(super) const REGISTRY: LookUpKey = *b"\0registr";

/// The key that all entries have that name a file as a whole.
pub(super) const WHOLE: LookUpKey = *b"\0a whole";
