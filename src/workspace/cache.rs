//! What was read from a file or computed from git, kept so that it need not be parsed or computed again.
//!
//! A slot holds what one state of one file was read as, or what was computed from given inputs. The state of
//! a file is told by what the file system says of it: device, inode, size, and the times of the last change of
//! content and of anything else. The last cannot be set by a program, so a file that was put back with its old
//! date is still another state. A file that changed a moment ago is not kept: within the grain of the clock it
//! could change again unnoticed.
//!
//! A cache can be lost, torn or of another version at any time; then the file is parsed again. It is never
//! an error, and nothing but a cache is kept here.
//!
//! *Who could plant one?* It lies in the git directory, which no clone, checkout or merge writes to. Without
//! git it lies in `.orchestration/local`, where an archive could bring one along; but not with the inode and
//! the times that the file beside it will get when it is unpacked. What remains is whoever may write to the
//! git directory under this account, and he can as well change the registry and the policy themselves. Agents
//! may write to neither place. What is recalled is checked like any other input: it may be wrong, it may not
//! make us fail.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::{RelativePath, Root, store};

/// Raised whenever what is kept, or how a file is read, changes within one version.
const FORMAT: u32 = 5;
/// A slot larger than this, in bytes, was not written by us.
const MAX_SLOT: u64 = 32 * 1024 * 1024;
/// How long a file must have been at rest. Kernels stamp files by a clock that ticks every 10 ms or faster.
const REST: Duration = Duration::from_millis(20);
/// The same where both stamps are whole seconds: some file systems count no finer, and one of them in twos.
const REST_OF_COARSE: Duration = Duration::from_secs(3);
/// What is computed from given inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    /// What evidence does not say of a file in a commit.
    Derived,
    /// The outlines of a file before and after a commit.
    Outlines,
    /// The blocks of a text.
    Blocks,
}

impl Computed {
    fn folder(self) -> &'static str {
        match self {
            Self::Derived => "derived",
            Self::Outlines => "outlines",
            Self::Blocks => "blocks",
        }
    }
}

/// No more results than this are kept in each of the 256 folders of a kind, nor more bytes. A folder that is full is
/// emptied.
const MOST: (usize, u64) = (128, 512 * 1024);

/// Bytes of the checksum between the header and what is kept.
const CHECKSUM: usize = 4;

/// Where one state of one file is kept.
#[derive(Debug)]
pub(crate) struct Slot {
    place: PathBuf,
    /// What the slot must begin with to be of this state.
    header: String,
    at_rest: bool,
    /// There may be very many of what is computed, so their folders are emptied when full.
    is_computed: bool,
}

impl Slot {
    /// The slot for what is computed from `inputs`, which must tell everything that the result depends on.
    pub(crate) fn of_inputs(root: &Root, kind: Computed, inputs: &[u8]) -> Option<Self> {
        let version = env!("CARGO_PKG_VERSION");
        let digest = store::hex(&Sha256::digest(inputs));
        let header = format!("intent-cache {FORMAT} {version} {digest}\n");
        let place = folder(root)?.join(kind.folder()).join(&digest[..2]).join(&digest[2..34]);
        Some(Self { place, header, at_rest: true, is_computed: true })
    }

    /// The slot for the recorded history of a file, computed from `inputs`, which must tell everything that the result
    /// depends on. A file has one slot, in which the last result replaces the one before.
    pub(crate) fn of_trail(root: &Root, path: &RelativePath, inputs: &[u8]) -> Option<Self> {
        let version = env!("CARGO_PKG_VERSION");
        let digest = store::hex(&Sha256::digest(inputs));
        let header = format!("intent-cache {FORMAT} {version} {path} {digest}\n");
        let place = folder(root)?.join("trails").join(name(&root.absolute(path), path));
        Some(Self { place, header, at_rest: true, is_computed: false })
    }

    /// The slot for a file as it stands now, to be asked for *before* the file is read.
    ///
    /// `None` where nothing is kept: an ungoverned workspace, a file that is not there, a system that tells no inodes,
    /// or no git directory and no session that has made `.orchestration/local` yet.
    pub(crate) fn of(root: &Root, path: &RelativePath) -> Option<Self> {
        let folder = folder(root)?;
        let source = root.absolute(path);
        let now = SystemTime::now();
        let stamp = Stamp::of(&std::fs::metadata(&source).ok()?)?;
        let version = env!("CARGO_PKG_VERSION");
        let header = format!("intent-cache {FORMAT} {version} {path} {stamp:?}\n");
        let place = folder.join(name(&source, path));
        Some(Self { place, header, at_rest: stamp.at_rest(now), is_computed: false })
    }

    /// What was kept for exactly this state.
    pub(crate) fn recall(&self) -> Option<Vec<u8>> {
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

    /// Keeps what this state was read as, if it has been at rest for long enough to be told from the next.
    pub(crate) fn keep(&self, read: &[u8]) {
        if !self.at_rest {
            return;
        }
        let mut bytes = Vec::with_capacity(self.header.len() + CHECKSUM + read.len());
        bytes.extend_from_slice(self.header.as_bytes());
        bytes.extend_from_slice(&crc32fast::hash(read).to_le_bytes());
        bytes.extend_from_slice(read);
        if self.is_computed {
            self.make_room(bytes.len() as u64);
        }
        if let Err(error) = store::write_scratch(&self.place, &bytes) {
            tracing::debug!(%error, "nothing kept");
        }
    }

    /// Empties the folder of this slot if it has no room for so many more bytes.
    fn make_room(&self, more: u64) {
        let Some(folder) = self.place.parent() else { return };
        let kept = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let sizes: Vec<u64> = kept.filter_map(|one| Some(one.metadata().ok()?.len())).collect();
        let is_full = sizes.len() >= MOST.0 || sizes.iter().sum::<u64>() + more > MOST.1;
        if is_full && let Err(error) = std::fs::remove_dir_all(folder) {
            tracing::debug!(%error, "no room made");
        }
    }
}

/// Not in a folder that nobody governs; and no folder is made in the work tree for this alone.
pub(crate) fn folder(root: &Root) -> Option<PathBuf> {
    let private = root.private();
    let ours = root.governed() && (root.git_dir().is_some() || private.is_dir());
    ours.then(|| private.join("cache"))
}

/// Several workspaces may share a git directory, so the whole path counts; its file's name is for people.
fn name(source: &Path, path: &RelativePath) -> String {
    let digest = Sha256::digest(source.as_os_str().as_encoded_bytes());
    format!("{}-{}", path.file_name(), store::hex(&digest[..8]))
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// When its content was last changed, in nanoseconds since 1970.
    modified: i128,
    /// When anything about it was last changed, in nanoseconds since 1970.
    changed: i128,
}

impl Stamp {
    #[cfg(unix)]
    pub(crate) fn of(found: &Metadata) -> Option<Self> {
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

    /// The standard library does not tell an inode here, nor a time that no program can set.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> Option<Self> {
        None
    }

    /// Whether a change from `now` on would show in the stamp.
    pub(crate) fn at_rest(&self, now: SystemTime) -> bool {
        let coarse = [self.modified, self.changed].iter().all(|time| time % 1_000_000_000 == 0);
        let rest = if coarse { REST_OF_COARSE } else { REST };
        let since = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let Ok(now) = i128::try_from(since) else { return false };
        // A stamp from the future would hide everything until then.
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

    fn place() -> TestFolder {
        let place = TestFolder::governed();
        place.git(&["init", "-q"]);
        place.write(SOURCE, "mode: ask\n");
        place
    }

    fn slot(place: &TestFolder) -> Slot {
        Slot::of(&place.root(""), &path(SOURCE)).expect("a slot")
    }

    fn rest() {
        std::thread::sleep(REST + Duration::from_millis(15));
    }

    #[test]
    fn what_was_kept_is_recalled_while_nothing_changed() {
        let place = place();
        rest();
        assert_eq!(slot(&place).recall(), None);
        slot(&place).keep(b"read");
        assert_eq!(slot(&place).recall().as_deref(), Some(&b"read"[..]));
        slot(&place).keep(b"");
        assert_eq!(slot(&place).recall().as_deref(), Some(&b""[..]));
    }

    #[test]
    fn what_has_just_changed_is_not_kept() {
        let place = place();
        slot(&place).keep(b"read");
        assert_eq!(slot(&place).recall(), None);
        rest();
        assert_eq!(slot(&place).recall(), None, "nothing was written");
    }

    /// Each is a state of the same length as before.
    #[test]
    fn every_change_is_another_state() {
        type Change = (&'static str, fn(&TestFolder));
        let changes: [Change; 4] = [
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
            let place = place();
            rest();
            let then = slot(&place);
            then.keep(b"read");
            assert!(slot(&place).recall().is_some(), "{name}");
            change(&place);
            assert_eq!(slot(&place).recall(), None, "{name}");
            // Nor is an earlier reading taken for the new state.
            then.keep(b"read");
            assert_eq!(slot(&place).recall(), None, "{name}");
        }
    }

    #[test]
    fn a_slot_that_is_not_whole_is_none() {
        let place = place();
        rest();
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
        let place = place();
        rest();
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
    fn nothing_is_made_where_nobody_asked_for_it() {
        let bare = TestFolder::new();
        bare.write("active_intents.yaml", "[]");
        assert!(Slot::of(&bare.root(""), &path("active_intents.yaml")).is_none());
        let without_git = TestFolder::governed();
        without_git.write(SOURCE, "");
        assert!(Slot::of(&without_git.root(""), &path(SOURCE)).is_none());
        without_git.folder(".orchestration/local");
        assert!(Slot::of(&without_git.root(""), &path(SOURCE)).is_some());
        assert!(Slot::of(&without_git.root(""), &path("missing")).is_none());
    }

    #[test]
    fn a_stamp_must_be_past_and_coarse_ones_longer() {
        let at = |modified: i128, changed: i128| Stamp {
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
