//! The ids that were given to intents in this clone, in any of its work trees. A work tree does not
//! see what another one has not committed, so an id is reserved before it is written.
//!
//! Each id is a file in the git directory that all work trees share. Whoever creates the file has
//! the id. The files stay, so an id is never given to a second intent. A file is empty, or names the
//! process that only offers an intent with that id.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ground::store::{self, StoreError};
use ground::{Git, Root, session};

use super::model::valid_id;
use super::{Registry, UsedIds, edit};

/// Returns every id that is used in any branch or was given in any work tree of this clone.
pub fn used_or_reserved(
    root: &Root,
    git: Option<&Arc<Git>>,
    registry: &Registry,
) -> (UsedIds, BTreeSet<String>) {
    let used = git.map(|git| UsedIds::in_repository(git, registry.path())).unwrap_or_default();
    let folder = folder(root);
    let reserved = folder.iter().flat_map(|folder| store::entries(folder));
    let mut ids = used.ids();
    ids.extend(reserved.filter_map(|entry| entry.file_name().into_string().ok()));
    (used, ids)
}

/// Reserves the next free id for an intent that this process offers, and that somebody may write
/// later. Until then the process gets the same id again, however often it offers an intent.
pub fn reserve_for_offer(
    root: &Root,
    git: Option<&Arc<Git>>,
    registry: &Registry,
) -> Result<String, StoreError> {
    let (used, taken) = used_or_reserved(root, git, registry);
    let (used, process) = (used.ids(), std::process::id().to_string());
    let is_offered = |id: &&String| {
        let file = reservation(root, id).filter(|_| !used.contains(*id));
        let holder = file.and_then(|file| store::read_capped(&file, 32).ok()?);
        holder.is_some_and(|holder| holder == process.as_bytes()) && registry.get(id).is_none()
    };
    match taken.iter().find(is_offered) {
        Some(id) => Ok(id.clone()),
        None => reserve_next(root, registry, taken, &process),
    }
}

/// Reserves the next free id for a process, or for an intent that is about to be written if `holder` is
/// empty. Two processes never get the same one, in whichever work trees of the clone they run. `taken`
/// holds ids that are used elsewhere.
pub fn reserve_next(
    root: &Root,
    registry: &Registry,
    mut taken: BTreeSet<String>,
    holder: &str,
) -> Result<String, StoreError> {
    loop {
        let id = edit::next_id(registry, &taken);
        let Some(file) = reservation(root, &id) else { return Ok(id) };
        if store::create_new(&file, holder.as_bytes())? {
            return Ok(id);
        }
        taken.insert(id);
    }
}

pub fn reserve(root: &Root, id: &str) {
    if let Some(file) = reservation(root, id) {
        session::or_log(root, "an id was not reserved", store::create_new(&file, b""));
    }
}

pub fn give_back(root: &Root, id: &str) {
    if let Some(file) = reservation(root, id) {
        session::or_log(root, "an id stays reserved", store::remove(&file));
    }
}

fn reservation(root: &Root, id: &str) -> Option<PathBuf> {
    let is_name = valid_id(id) && !id.starts_with('.');
    is_name.then(|| folder(root))?.map(|folder| folder.join(id))
}

fn folder(root: &Root) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent").join("ids"))
}
