//! A cache for what was parsed from a file.
//!
//! A slot contains the parsed form of one state of one file. The state of a file is identified by its device, inode, size, modification time
//! and change time. No program can set the change time, so a file that was restored with its old
//! modification time still counts as another state. A file that changed a moment ago is not cached,
//! because within the resolution of the clock it could change again unnoticed.
//!
//! A cache entry can be lost, damaged or of another version at any time. Then the file is parsed
//! again; this is never an error. Nothing but cached data is stored here.
//!
//! Nobody can plant an entry from outside. The cache is in the git directory, to which no clone,
//! checkout or merge writes. Without git it is in `.orchestration/local`. An archive could contain
//! such a folder, but not with the inode and the times that the cached file gets when the archive
//! is unpacked. So only somebody who may write to the git directory under this account could plant
//! an entry, and they could change the registry and the policy directly as well. Agents may write
//! to neither place. Data from the cache is checked like any other input: it may be wrong, but it
//! must not make the program fail.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::{RelativePath, Root, store};
use code::hex;

/// The version of the cache. It is raised whenever the cached data, or the way a file is parsed,
/// changes between two releases.
const FORMAT: u32 = 6;
/// A slot larger than this, in bytes, was not written by us.
const MAX_SLOT: u64 = 32 * 1024 * 1024;
/// How long a file must have been unchanged before it is cached. Kernels take time stamps from a
/// clock that ticks at least every 10 ms.
const REST: Duration = Duration::from_millis(20);
/// Like [`REST`], if both times of a file are whole seconds. Some file systems have a resolution of
/// one or two seconds.
const REST_OF_COARSE: Duration = Duration::from_secs(3);
/// The size in bytes of the checksum between the header and the cached data.
const CHECKSUM: usize = 4;

#[derive(Debug)]
pub struct CacheSlot {
    place: PathBuf,
    header: String,
    at_rest: bool,
}

impl CacheSlot {
    /// Returns the slot for the current state of a file. Call this *before* the file is read.
    ///
    /// `None` if nothing is cached: in an ungoverned workspace, for a file that does not exist, on
    /// a system without inodes, or without git as long as no session has created
    /// `.orchestration/local`.
    pub fn for_file(root: &Root, path: &RelativePath) -> Option<Self> {
        let folder = folder(root)?;
        let source = root.absolute(path);
        let now = SystemTime::now();
        let stamp = FileStamp::from_metadata(&std::fs::metadata(&source).ok()?)?;
        let version = env!("CARGO_PKG_VERSION");
        let header = format!("intent-cache {FORMAT} {version} {path} {stamp:?}\n");
        let place = folder.join(name(&source, path.file_name()));
        Some(Self { place, header, at_rest: stamp.at_rest(now) })
    }

    pub fn recall(&self) -> Option<Vec<u8>> {
        let mut bytes = store::read_capped(&self.place, MAX_SLOT).ok()??;
        let body = self.header.len() + CHECKSUM;
        let rest = bytes.strip_prefix(self.header.as_bytes())?;
        let (checksum, kept) = rest.split_first_chunk::<CHECKSUM>()?;
        if crc32fast::hash(kept).to_le_bytes() != *checksum {
            return None;
        }
        bytes.drain(..body);
        Some(bytes)
    }

    /// Stores data for this state, if the file has been unchanged for long enough to tell this
    /// state from the next one.
    pub fn keep(&self, read: &[u8]) {
        if !self.at_rest {
            return;
        }
        let mut bytes = Vec::with_capacity(self.header.len() + CHECKSUM + read.len());
        bytes.extend_from_slice(self.header.as_bytes());
        bytes.extend_from_slice(&crc32fast::hash(read).to_le_bytes());
        bytes.extend_from_slice(read);
        if let Err(error) = store::write_scratch(&self.place, &bytes) {
            tracing::debug!(%error, "nothing kept");
        }
    }
}

/// Returns the folder of the cache. `None` for an ungoverned workspace. No folder is created in the
/// work tree only for the cache.
pub fn folder(root: &Root) -> Option<PathBuf> {
    let private = root.private();
    let ours = root.governed() && (root.git_dir().is_some() || private.is_dir());
    ours.then(|| private.join("cache"))
}

/// Returns a file in the cache that all work trees of a clone share. `None` without git.
pub fn shared(root: &Root, name: &str) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent/cache").join(name))
}

/// Returns the file name of a slot. Several workspaces may share a git directory, so it contains a
/// hash of the whole path. The file's own name is included to help people.
fn name(source: &Path, file_name: &str) -> String {
    let digest = Sha256::digest(source.as_os_str().as_encoded_bytes());
    format!("{file_name}-{}", hex(&digest[..8]))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    /// When the content (`modified`), and when anything about the file (`changed`), was last
    /// changed, in nanoseconds since 1970.
    modified: i128,
    /// When anything about the file was last changed, in nanoseconds since 1970.
    changed: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum StateOnDisk {
    Missing,
    AtRest(FileStamp),
    /// The file has changed a moment ago, or the system does not tell enough.
    Unsettled,
}

impl StateOnDisk {
    pub fn of_file(path: &Path) -> Self {
        let now = SystemTime::now();
        match std::fs::symlink_metadata(path) {
            Err(error) if super::folder::is_missing(&error) => Self::Missing,
            found => found
                .ok()
                .and_then(|found| FileStamp::from_metadata(&found))
                .filter(|stamp| stamp.at_rest(now))
                .map_or(Self::Unsettled, Self::AtRest),
        }
    }
}

impl FileStamp {
    #[cfg(unix)]
    pub(crate) fn from_metadata(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        const SECOND: i128 = 1_000_000_000;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: i128::from(found.mtime()) * SECOND + i128::from(found.mtime_nsec()),
            changed: i128::from(found.ctime()) * SECOND + i128::from(found.ctime_nsec()),
        })
    }

    /// The standard library provides neither an inode nor a change time on this system.
    #[cfg(not(unix))]
    pub(crate) fn from_metadata(_: &Metadata) -> Option<Self> {
        None
    }

    /// Returns true if any change after `now` would change the stamp.
    pub(crate) fn at_rest(&self, now: SystemTime) -> bool {
        let coarse = [self.modified, self.changed].iter().all(|time| time % 1_000_000_000 == 0);
        let rest = if coarse { REST_OF_COARSE } else { REST };
        let since = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let Ok(now) = i128::try_from(since) else { return false };
        // A stamp in the future would hide all changes until then, so it never counts as at rest.
        now - self.modified.max(self.changed)
            >= i128::try_from(rest.as_nanos()).unwrap_or(i128::MAX)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::FileTimes;

    use super::super::fixture::{TestFolder, path};
    use super::*;

    const SOURCE: &str = ".orchestration/policy.yaml";

    fn test_folder() -> TestFolder {
        let place = TestFolder::governed();
        place.git(&["init", "-q"]);
        place.write(SOURCE, "mode: ask\n");
        place
    }

    fn slot(place: &TestFolder) -> CacheSlot {
        CacheSlot::for_file(&place.root(""), &path(SOURCE)).expect("a slot")
    }

    fn let_time_pass() {
        std::thread::sleep(REST + Duration::from_millis(15));
    }

    #[test]
    fn a_cached_value_is_used_while_the_file_is_unchanged() {
        let place = test_folder();
        let_time_pass();
        assert_eq!(slot(&place).recall(), None);
        slot(&place).keep(b"read");
        assert_eq!(slot(&place).recall().as_deref(), Some(&b"read"[..]));
        slot(&place).keep(b"");
        assert_eq!(slot(&place).recall().as_deref(), Some(&b""[..]));
    }

    #[test]
    fn a_file_that_has_just_changed_is_not_cached() {
        let place = test_folder();
        slot(&place).keep(b"read");
        assert_eq!(slot(&place).recall(), None);
        let_time_pass();
        assert_eq!(slot(&place).recall(), None, "nothing was written");
    }

    /// No change alters the length of the file.
    #[test]
    fn every_change_is_another_state() {
        type StateChange = (&'static str, fn(&TestFolder));
        let changes: [StateChange; 4] = [
            ("written over", |place| place.write(SOURCE, "mode: den\n")),
            ("replaced", |place| {
                place.write("new", "mode: den\n");
                std::fs::rename(place.join("new"), place.join(SOURCE)).unwrap();
            }),
            ("written over, and the date put back", |place| {
                let file = place.join(SOURCE);
                let before = std::fs::metadata(&file).unwrap().modified().unwrap();
                place.write(SOURCE, "mode: den\n");
                let times = FileTimes::new().set_modified(before);
                std::fs::File::options().write(true).open(&file).unwrap().set_times(times).unwrap();
                assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), before);
            }),
            ("turned into a link", |place| {
                std::fs::rename(place.join(SOURCE), place.join("old")).unwrap();
                place.write("other", "mode: den\n");
                place.link(SOURCE, place.join("other"));
            }),
        ];
        for (name, change) in changes {
            let place = test_folder();
            let_time_pass();
            let then = slot(&place);
            then.keep(b"read");
            assert!(slot(&place).recall().is_some(), "{name}");
            change(&place);
            assert_eq!(slot(&place).recall(), None, "{name}");
            // Data of the earlier state that is stored late must not count for the new state.
            then.keep(b"read");
            assert_eq!(slot(&place).recall(), None, "{name}");
        }
    }

    #[test]
    fn a_slot_that_is_not_whole_is_none() {
        let place = test_folder();
        let_time_pass();
        let slot = slot(&place);
        slot.keep(b"what was read");
        let whole = std::fs::read(&slot.place).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&slot.place, &whole[..length]).unwrap();
            assert_eq!(slot.recall(), None, "{length}");
        }
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 1;
            std::fs::write(&slot.place, &bent).unwrap();
            assert_eq!(slot.recall(), None, "{at}");
        }
        std::fs::write(&slot.place, &whole).unwrap();
        assert!(slot.recall().is_some());
    }

    #[test]
    fn a_link_or_a_folder_in_its_place_is_left_alone() {
        let place = test_folder();
        let_time_pass();
        let slot = slot(&place);
        slot.keep(b"read");
        let moved = place.join("moved");
        std::fs::rename(&slot.place, &moved).unwrap();
        place.link(slot.place.strip_prefix(place.path()).unwrap().to_str().unwrap(), &moved);
        assert_eq!(slot.recall(), None);
        let before = std::fs::read(&moved).unwrap();
        slot.keep(b"other");
        assert_eq!(std::fs::read(&moved).unwrap(), before);
    }

    #[test]
    fn a_slot_needs_a_local_folder_and_an_existing_file() {
        let bare = TestFolder::new();
        bare.write("active_intents.yaml", "[]");
        assert!(CacheSlot::for_file(&bare.root(""), &path("active_intents.yaml")).is_none());
        let without_git = TestFolder::governed();
        without_git.write(SOURCE, "");
        assert!(CacheSlot::for_file(&without_git.root(""), &path(SOURCE)).is_none());
        without_git.folder(".orchestration/local");
        assert!(CacheSlot::for_file(&without_git.root(""), &path(SOURCE)).is_some());
        assert!(CacheSlot::for_file(&without_git.root(""), &path("missing")).is_none());
    }

    #[test]
    fn a_stamp_must_be_past_and_coarse_ones_longer() {
        let at = |modified: i128, changed: i128| FileStamp {
            device: 1,
            inode: 2,
            size: 3,
            modified,
            changed,
        };
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let second = 1_000_000_000_i128;
        let cases = [
            (at(999 * second + 1, 999 * second + 1), true),
            (at(999 * second, 999 * second), false),
            (at(996 * second, 996 * second), true),
            (at(0, 1_000 * second - 1), false),
            (at(1_000 * second - 19_999_999, 0), false),
            (at(1_000 * second - 20_000_001, 0), true),
            (at(2_000 * second + 1, 0), false),
        ];
        for (stamp, wanted) in cases {
            assert_eq!(stamp.at_rest(now), wanted, "{stamp:?}");
        }
    }
}
