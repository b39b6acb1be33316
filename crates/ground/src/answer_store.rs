//! Answers about the history of git that were computed before, in a single file that all commands,
//! hooks and servers of a clone share.
//!
//! The file has a table of slots and a ring of records behind it. The slot of a key says where the
//! newest record with that key begins. When the ring is full, the oldest records are
//! written over, so the file never grows beyond `MAX_FILE`.
//!
//! Nobody waits for anybody. A writer that finds another one at work keeps nothing, and a reader
//! that finds half a record takes it for none: each record has a checksum and its key. So an answer
//! may be lost at any time, and is then computed again.
//!
//! Whoever can write to the git directory can plant an answer. So commands that decide something,
//! such as `check`, `verify` and `seal`, ask without a store.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Mutex;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::parallel::locked_value;

/// The first bytes of the file. The number is raised when the form of the file or of an answer, or
/// the way in which an answer is computed, changes between two releases.
const MAGIC: [u8; 16] = *b"intent-answers 5";
/// The number of slots. So many that two answers seldom share one and push each other out.
const SLOTS: u64 = 1 << 17;
/// The size of a slot in bytes: the place of a record, or 0.
const SLOT: u64 = 4;
/// Where the place of the next record stands, in bytes.
const NEXT: u64 = 16;
/// Where the table begins, in bytes.
const TABLE: u64 = 24;
const RING: u64 = TABLE + SLOTS * SLOT;
/// The largest size of the file in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// The size of the header of a record in bytes: the key, the checksum and the length.
const RECORD: usize = 24;
/// The largest answer that is kept, in bytes.
const MAX_ANSWER: usize = 4 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerKey([u8; 16]);

impl AnswerKey {
    pub fn from_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let digest: [u8; 32] = hasher.finalize().into();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self(key)
    }

    fn slot(self) -> u64 {
        let slot = u128::from_le_bytes(self.0) % u128::from(SLOTS);
        TABLE + u64::try_from(slot).unwrap_or_default() * SLOT
    }
}

#[derive(Debug)]
pub struct AnswerStore {
    file: Mutex<File>,
    max_file: u64,
}

impl AnswerStore {
    /// Opens the store at a path. It is created if it is missing. A store that cannot be written, as
    /// on a disk that is mounted read-only, is only read. `None` if there is none.
    pub fn open(path: &Path) -> Option<Self> {
        Self::open_with_limit(path, MAX_FILE)
    }

    fn open_with_limit(path: &Path, max_file: u64) -> Option<Self> {
        let _ = std::fs::create_dir_all(path.parent()?);
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return None;
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).or_else(|_| File::open(path)).ok()?;
        let mut opened = RingFile(&file);
        if !opened.is_ours(max_file) {
            opened.reset().ok()?;
        }
        Some(Self { file: Mutex::new(file), max_file })
    }

    pub fn recall<T: DeserializeOwned>(&self, key: AnswerKey) -> Option<T> {
        let file = locked_value(&self.file);
        let mut ring = RingFile(&file);
        let answer = ring.record_at(key)?;
        postcard::from_bytes(&answer).ok()
    }

    /// Keeps an answer, unless another process is writing.
    pub fn keep(&self, key: AnswerKey, answer: &impl Serialize) {
        let Ok(answer) = postcard::to_stdvec(answer) else { return };
        if answer.len() > MAX_ANSWER {
            return;
        }
        let file = locked_value(&self.file);
        let written = match file.try_lock() {
            Ok(()) => RingFile(&file).append_record(key, &answer, self.max_file),
            Err(TryLockError::WouldBlock) => return,
            Err(TryLockError::Error(error)) => Err(error),
        };
        if let Err(error) = written {
            tracing::debug!(%error, "nothing kept");
        }
        let _ = file.unlock();
    }
}

struct RingFile<'a>(&'a File);

impl RingFile<'_> {
    fn is_ours(&mut self, max_file: u64) -> bool {
        let length = self.0.metadata().map_or(0, |found| found.len());
        let mut magic = [0; MAGIC.len()];
        (RING..=max_file).contains(&length) && self.read(0, &mut magic).is_ok() && magic == MAGIC
    }

    fn reset(&mut self) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.set_len(RING)?;
        self.write(0, &MAGIC)
    }

    fn record_at(&mut self, key: AnswerKey) -> Option<Vec<u8>> {
        let place = u64::from(self.number(key.slot()).ok()?);
        if place < RING {
            return None;
        }
        let mut header = [0; RECORD];
        self.read(place, &mut header).ok()?;
        let number = |at: usize| Some(u32::from_le_bytes(*header.get(at..)?.first_chunk()?));
        let (checksum, length) = (number(16)?, number(20)? as usize);
        if header[..16] != key.0 || length > MAX_ANSWER {
            return None;
        }
        let mut answer = vec![0; length];
        self.read(place + RECORD as u64, &mut answer).ok()?;
        (crc32fast::hash(&answer) == checksum).then_some(answer)
    }

    fn append_record(&mut self, key: AnswerKey, answer: &[u8], max_file: u64) -> io::Result<()> {
        let mut record = Vec::with_capacity(RECORD + answer.len());
        record.extend_from_slice(&key.0);
        record.extend_from_slice(&crc32fast::hash(answer).to_le_bytes());
        record.extend_from_slice(&number_of(answer.len() as u64)?);
        record.extend_from_slice(answer);
        let size = record.len() as u64;
        let mut place = u64::from(self.number(NEXT)?);
        if place < RING || place + size > max_file {
            place = RING;
        }
        self.write(place, &record)?;
        self.write(key.slot(), &number_of(place)?)?;
        self.write(NEXT, &number_of(place + size)?)
    }

    fn number(&mut self, place: u64) -> io::Result<u32> {
        let mut number = [0; 4];
        self.read(place, &mut number)?;
        Ok(u32::from_le_bytes(number))
    }

    fn read(&mut self, place: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(place))?;
        self.0.read_exact(into)
    }

    fn write(&mut self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(place))?;
        self.0.write_all(bytes)
    }
}

fn number_of(number: u64) -> io::Result<[u8; 4]> {
    let small = u32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    Ok(small.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::TestFolder;
    use super::*;

    fn key(name: &str) -> AnswerKey {
        AnswerKey::from_parts(&[name.as_bytes()])
    }

    fn open(folder: &TestFolder) -> AnswerStore {
        AnswerStore::open_with_limit(&folder.join("answers"), RING + 1_000).expect("a store")
    }

    #[test]
    fn an_answer_is_found_again_by_its_key() {
        let folder = TestFolder::new();
        open(&folder).keep(key("a"), &"first");
        open(&folder).keep(key("b"), &vec![1_u32, 2]);
        open(&folder).keep(key("a"), &"second");
        assert_eq!(open(&folder).recall::<String>(key("a")).as_deref(), Some("second"));
        assert_eq!(open(&folder).recall::<Vec<u32>>(key("b")), Some(vec![1, 2]));
        assert_eq!(open(&folder).recall::<String>(key("c")), None);
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        assert_ne!(AnswerKey::from_parts(&[b"ab", b"c"]), AnswerKey::from_parts(&[b"a", b"bc"]));
    }

    #[test]
    fn the_oldest_answers_go_when_the_file_is_full() {
        let folder = TestFolder::new();
        let store = open(&folder);
        let text = "x".repeat(100);
        let keys: Vec<AnswerKey> = (0..50).map(|number| key(&number.to_string())).collect();
        for one in &keys {
            store.keep(*one, &text);
        }
        let kept: Vec<bool> =
            keys.iter().map(|one| store.recall::<String>(*one).is_some()).collect();
        assert!(kept[49] && kept[48] && !kept[0]);
        assert!(kept.iter().filter(|kept| **kept).count() >= 7);
        assert!(std::fs::metadata(folder.join("answers")).unwrap().len() <= RING + 1_000);
    }

    #[test]
    fn of_two_keys_with_one_slot_the_newer_is_kept() {
        let folder = TestFolder::new();
        let with = |low: u64| AnswerKey(u128::from(low).to_le_bytes());
        let (one, other) = (with(7), with(7 + SLOTS));
        for (round, key) in [one, other].into_iter().enumerate() {
            open(&folder).keep(key, &round);
        }
        let recalled = [one, other].map(|key| open(&folder).recall::<usize>(key));
        assert_eq!(recalled, [None, Some(1)]);
    }

    /// A record may be half written, or damaged, at any byte.
    #[test]
    fn a_damaged_record_is_no_answer() {
        let folder = TestFolder::new();
        open(&folder).keep(key("a"), &"an answer");
        let whole = std::fs::read(folder.join("answers")).unwrap();
        for at in RING as usize..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 1;
            std::fs::write(folder.join("answers"), &bent).unwrap();
            assert_eq!(open(&folder).recall::<String>(key("a")), None, "{at}");
            std::fs::write(folder.join("answers"), &whole[..at]).unwrap();
            assert_eq!(open(&folder).recall::<String>(key("a")), None, "{at}");
        }
        std::fs::write(folder.join("answers"), &whole).unwrap();
        assert!(open(&folder).recall::<String>(key("a")).is_some());
    }

    #[test]
    fn a_file_of_another_form_is_emptied_and_a_link_is_left_alone() {
        let folder = TestFolder::new();
        folder.write("answers", "something else");
        open(&folder).keep(key("a"), &1_u32);
        assert_eq!(open(&folder).recall::<u32>(key("a")), Some(1));
        #[cfg(unix)]
        {
            folder.link("link", folder.join("answers"));
            assert!(AnswerStore::open(&folder.join("link")).is_none());
        }
    }

    #[test]
    fn a_store_that_cannot_be_written_is_read() {
        let folder = TestFolder::new();
        open(&folder).keep(key("a"), &1_u32);
        let file = File::open(folder.join("answers")).unwrap();
        let store = AnswerStore { file: Mutex::new(file), max_file: RING + 1_000 };
        store.keep(key("b"), &2_u32);
        let recalled = ["a", "b"].map(|name| store.recall::<u32>(key(name)));
        assert_eq!(recalled, [Some(1), None]);
    }

    #[test]
    fn a_writer_does_not_wait_for_another() {
        let folder = TestFolder::new();
        let (one, other) = (open(&folder), open(&folder));
        one.file.lock().unwrap().try_lock().unwrap();
        other.keep(key("a"), &1_u32);
        assert_eq!(other.recall::<u32>(key("a")), None);
    }
}
