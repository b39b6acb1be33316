//! Checks a repository's own files before the library opens them. The library opens any file with
//! the right name: a pipe would block it forever, and an endless device would fill the memory.

use std::fs::{DirEntry, Metadata};
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gix::ObjectId;

use crate::store;

/// The files that control a repository, each with its maximum size in bytes. Real files never come close
/// to these limits.
const FILES: [(&str, u64); 14] = [
    ("HEAD", 64 * 1024),
    ("MERGE_HEAD", 1024 * 1024),
    ("ORIG_HEAD", 64 * 1024),
    ("FETCH_HEAD", 64 * 1024 * 1024),
    ("commondir", 64 * 1024),
    ("config", 4 * 1024 * 1024),
    ("config.worktree", 4 * 1024 * 1024),
    ("index", 1024 * 1024 * 1024),
    ("packed-refs", 1024 * 1024 * 1024),
    ("shallow", 64 * 1024 * 1024),
    ("info/attributes", 4 * 1024 * 1024),
    ("info/exclude", 4 * 1024 * 1024),
    ("info/grafts", 64 * 1024 * 1024),
    ("objects/info/alternates", MAX_ALTERNATES),
];
/// The maximum size of the list of folders from which objects are borrowed, in bytes.
const MAX_ALTERNATES: u64 = 1024 * 1024;
/// The maximum size of a reference, in bytes.
const MAX_REFERENCE: u64 = 64 * 1024;
const MAX_DEPTH: usize = 32;
/// The maximum number of entries that are checked, because links can form circles.
const MAX_ENTRIES: usize = 10_000_000;

/// Returns why the references and settings of a git directory, and of the one that it shares with
/// other work trees, must not be read. `None` if they may be.
pub(super) fn obstacle(dir: &Path, common: &Path) -> Option<String> {
    let mut look = FileLook { seen: 0 };
    first_in_either(dir, common, |folder| {
        let files = FILES.iter().map(|(name, max)| (folder.join(name), *max));
        let mut found =
            files.filter_map(|(path, max)| fault_of_metadata(&path, std::fs::metadata(&path), max));
        found
            .next()
            .or_else(|| look.look_below(&folder.join("refs"), Some(MAX_REFERENCE), MAX_DEPTH))
    })
}

/// What was found out about the files that contain objects. Each part is checked once, before the
/// library reads from it. A repository can have thousands of files with one object each, and most
/// questions need few of them.
pub(super) struct CheckedObjects {
    dir: PathBuf,
    common: PathBuf,
    /// The packs or, if objects are borrowed from other repositories, everything.
    packs: OnceLock<Option<String>>,
    /// Whether there is a folder of files with one object each, for each first byte of an id. A fresh
    /// clone has none of them, and one listing costs less than a look for each.
    has_folder: OnceLock<[bool; 256]>,
    loose: [OnceLock<Option<String>>; 256],
    all: OnceLock<Option<String>>,
}

impl CheckedObjects {
    pub(super) fn new(dir: PathBuf, common: PathBuf) -> Self {
        let (packs, has_folder, all) = Default::default();
        let loose = [const { OnceLock::new() }; 256];
        Self { dir, common, packs, has_folder, loose, all }
    }

    /// Returns why one object must not be read. `None` if it may be.
    pub(super) fn obstacle_of(&self, id: &ObjectId) -> Option<&str> {
        let look_below = |folder: &str| {
            let folder = self.common.join("objects").join(folder);
            FileLook { seen: 0 }.look_below(&folder, None, MAX_DEPTH)
        };
        let packs =
            self.packs.get_or_init(|| match self.common.join("objects/info/alternates").exists() {
                true => self.obstacle_of_all().map(str::to_owned),
                false => look_below("pack"),
            });
        let first = id.first_byte();
        let folders = || folders_of_loose_objects(&self.common.join("objects"));
        let loose = || match self.has_folder.get_or_init(folders)[usize::from(first)] {
            true => self.loose[usize::from(first)]
                .get_or_init(|| look_below(&format!("{first:02x}")))
                .as_deref(),
            false => None,
        };
        packs.as_deref().or_else(loose)
    }

    /// Returns why the objects and logs must not be read. `None` if they may be.
    pub(super) fn obstacle_of_all(&self) -> Option<&str> {
        let look = || {
            let mut look = FileLook { seen: 0 };
            first_in_either(&self.dir, &self.common, |folder| {
                look.objects(&folder.join("objects"), MAX_DEPTH)
                    .or_else(|| look.look_below(&folder.join("logs"), None, MAX_DEPTH))
            })
        };
        self.all.get_or_init(look).as_deref()
    }
}

/// Returns for each byte whether there is a folder that is named after it, such as `0f`. If the folder
/// of all objects cannot be listed, each may be there.
fn folders_of_loose_objects(objects: &Path) -> [bool; 256] {
    let Ok(names) = std::fs::read_dir(objects).and_then(Iterator::collect::<Result<Vec<_>>>) else {
        return [true; 256];
    };
    let mut found = [false; 256];
    for name in names.iter().map(DirEntry::file_name) {
        let byte = name.to_str().filter(|name| name.len() == 2);
        if let Some(byte) = byte.and_then(|name| u8::from_str_radix(name, 16).ok()) {
            found[usize::from(byte)] = true;
        }
    }
    found
}

fn first_in_either(
    dir: &Path,
    common: &Path,
    mut found: impl FnMut(&Path) -> Option<String>,
) -> Option<String> {
    found(dir).or_else(|| if dir == common { None } else { found(common) })
}

struct FileLook {
    seen: usize,
}

impl FileLook {
    fn objects(&mut self, folder: &Path, depth: usize) -> Option<String> {
        let found = self.look_below(folder, None, depth);
        if found.is_some() || depth == 0 {
            return found;
        }
        let named = store::read_capped(&folder.join("info/alternates"), MAX_ALTERNATES).ok()??;
        let named = String::from_utf8_lossy(&named).into_owned();
        let lines = named.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut others = lines.map(|line| folder.join(line));
        others.find_map(|other| self.objects(&other, depth - 1))
    }

    /// Checks everything in a folder and below it. Each file may have at most `max` bytes.
    fn look_below(&mut self, folder: &Path, max: Option<u64>, depth: usize) -> Option<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            self.seen += 1;
            if depth == 0 || self.seen > MAX_ENTRIES {
                return Some(format!(
                    "{} has too many or too deeply nested entries",
                    folder.display()
                ));
            }
            // For most entries the directory listing already contains the type.
            let kind = entry.file_type().ok().filter(|kind| !kind.is_symlink());
            if max.is_none() && kind.is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let path = entry.path();
            let found = std::fs::metadata(&path);
            let obstacle = match found.as_ref().is_ok_and(Metadata::is_dir) {
                true => self.look_below(&path, max, depth - 1),
                false => fault_of_metadata(&path, found, max.unwrap_or(u64::MAX)),
            };
            if obstacle.is_some() {
                return obstacle;
            }
        }
        None
    }
}

/// Returns what is wrong with a file. A file that does not exist is not wrong, and neither is a
/// link to nothing.
fn fault_of_metadata(path: &Path, found: Result<Metadata>, max: u64) -> Option<String> {
    let found = found.ok()?;
    let path = path.display();
    if !found.is_file() {
        return Some(format!("{path} is no regular file; move it away"));
    }
    let bytes = found.len();
    (bytes > max).then(|| format!("{path} has {bytes} bytes, and at most {max} are read"))
}
