//! Files whose path is not UTF-8, so no [`RelativePath`] can name them. Their text is never used,
//! but their changes are reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::Flags;
use gix::objs::tree::EntryKind;

use super::index::{Tracked, checked_out};
use super::{Git, as_path};
use crate::{RelativePath, folder, store};

/// The ids of the contents of files, by path. An id is `None` if the content could not be read.
pub(super) type ContentIds = BTreeMap<BString, Option<ObjectId>>;

pub(super) fn differing_paths(before: &ContentIds, now: &ContentIds) -> BTreeSet<RelativePath> {
    let differs = |path: &&BString| before.get(*path) != now.get(*path);
    let paths: BTreeSet<&BString> = before.keys().chain(now.keys()).filter(differs).collect();
    paths.into_iter().filter_map(|path| lossy_path(path.as_bstr())).collect()
}

pub(super) fn ids_on_disk(
    git: &Git,
    seen: Vec<PathBuf>,
    tracked: &BTreeMap<BString, Tracked>,
) -> ContentIds {
    let seen = seen.into_iter();
    let seen = seen.map(|path| BString::from(path.into_os_string().into_encoded_bytes()));
    let paths: BTreeSet<BString> = seen.chain(tracked.keys().cloned()).collect();
    let with_id = |path: BString| {
        let id = id_on_disk(git, &path, tracked.get(&path))?;
        Some((path, id))
    };
    paths.into_iter().filter_map(with_id).collect()
}

/// Returns the id of the content at a path on disk. `None` if there is no file, symbolic link or
/// submodule. For a submodule that is not checked out, and for a file that a sparse checkout leaves
/// out, the entry of the index counts.
fn id_on_disk(git: &Git, path: &BString, tracked: Option<&Tracked>) -> Option<Option<ObjectId>> {
    let below = gix::path::from_bstr(path.as_bstr()).ok()?;
    let absolute = git.root.path().join(&below);
    let submodule = tracked.filter(|entry| entry.kind == Some(EntryKind::Commit));
    if let Some(entry) = submodule {
        return Some(checked_out(&absolute).or(entry.id));
    }
    let Ok(found) = std::fs::symlink_metadata(&absolute) else {
        let is_left_out = |entry: &&Tracked| entry.flags.contains(Flags::SKIP_WORKTREE);
        return tracked.filter(is_left_out).map(|entry| entry.id);
    };
    let bytes = match found.file_type() {
        kind if kind.is_dir() => return None,
        kind if kind.is_symlink() => {
            std::fs::read_link(&absolute).map(|to| to.into_os_string().into_encoded_bytes())
        }
        _ => folder::read_below(git.root.path(), &below, store::MAX_CONTENT),
    };
    let hash = git.handle().object_hash();
    let id = |bytes: Vec<u8>| gix::objs::compute_hash(hash, gix::object::Kind::Blob, &bytes);
    Some(bytes.ok().and_then(|bytes| id(bytes).ok()))
}

pub(super) fn lossy_path(path: &BStr) -> Option<RelativePath> {
    as_path("", path.to_str_lossy().as_ref().into())
}
