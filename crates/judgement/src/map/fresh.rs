//! Updates the map after each record. Only files whose text or records have changed are matched
//! again.
//!
//! The results are cached in `.orchestration/local/map.json`. Only this module reads that file (the
//! command `intent map` computes the map anew), and it is created again if it is missing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::page::{Definitions, render};
use super::{ByFile, mapped, path, standing};
use ground::policy::Map;
use ground::{RelativePath, session, store};
use ledger::Digest;
use why::{VerbError, Workspace};

/// How long one refresh may take, because an agent waits for it. If the time runs out, the map is
/// not written, and the next refresh continues with the files that are left.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// The size limit of the map and of its cache, in bytes. A larger file is not ours, because
/// `intent` never writes one.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The cached results, one for each recorded file.
type CachedMap = BTreeMap<RelativePath, CachedFile>;

#[derive(Serialize, Deserialize)]
struct CachedFile {
    /// A digest of the file's records and of its state on disk. While it is the same, the cached
    /// result is valid.
    of: String,
    /// What the map shows of this file.
    shows: Definitions,
}

/// Writes `intent_map.md` if its content has changed. Errors are only logged, since nothing depends
/// on the map. Nothing is written if git does not ignore the map, because it would show up as a new
/// file, or if commits carry the map, because then the git hook writes it.
pub fn refresh(ws: &Workspace) {
    if is_ours_to_write(ws) {
        write_or_log(ws, None);
    }
}

/// Like [`refresh`], after these files were recorded. No other file is looked at; their changes are
/// left to the next refresh.
pub fn follow(ws: &Workspace, paths: &[RelativePath]) {
    if !paths.is_empty() && is_ours_to_write(ws) {
        write_or_log(ws, Some(paths));
    }
}

fn is_ours_to_write(ws: &Workspace) -> bool {
    let is_private = || ws.git().is_none() || ws.ignores.git_ignored(&path());
    ws.root.governed() && ws.policy.map != Map::Committed && is_private()
}

fn write_or_log(ws: &Workspace, only: Option<&[RelativePath]>) {
    if let Err(error) = write(&ws.with_ledger_of_now(), only) {
        tracing::debug!(%error, "the map is not refreshed");
    }
}

fn write(ws: &Workspace, only: Option<&[RelativePath]>) -> Result<(), VerbError> {
    ws.sound_registry()?;
    let Some(shown) = definitions(ws, only)? else { return Ok(()) };
    let mut ids: Vec<&String> = ws.registry.intents().iter().map(|it| &it.id.value).collect();
    let others: Vec<&String> = shown.keys().filter(|id| !ids.contains(id)).collect();
    ids.extend(others);
    let intents: Vec<_> = ids.into_iter().map(|id| mapped(ws, id, ByFile::new())).collect();
    let notes = Vec::from_iter(ws.unread_evidence());
    let (text, map) = (render(&notes, &intents, &shown), ws.root.absolute(&path()));
    if store::read_capped(&map, MAX_BYTES)?.as_deref() != Some(text.as_bytes()) {
        store::write_atomic(&map, text.as_bytes())?;
    }
    Ok(())
}

/// Returns the content of the map. `None` if there was not enough time for all files. If `only` is
/// given, no other file is looked at, unless one is missing in the cache because an earlier refresh
/// ran out of time.
fn definitions(
    ws: &Workspace,
    only: Option<&[RelativePath]>,
) -> Result<Option<Definitions>, VerbError> {
    let until = Instant::now() + TIME_LIMIT;
    let mut before = read_cache(ws)?;
    let all = ws.ledger.paths();
    let is_complete = |only: &&[RelativePath]| {
        all.iter().all(|path| before.contains_key(path) || only.contains(path))
    };
    let only = only.filter(is_complete);
    let (mut kept, mut changed, mut complete) = (CachedMap::new(), false, true);
    for path in all {
        let is_asked = only.is_none_or(|only| only.contains(path));
        let is_valid = |known: &CachedFile| !is_asked || known.of == state_digest(ws, path);
        let now = match before.remove(path).filter(is_valid) {
            Some(known) => known,
            None if only.is_none() && Instant::now() > until => {
                complete = false;
                continue;
            }
            None => {
                changed = true;
                CachedFile { of: state_digest(ws, path), shows: definitions_in_file(ws, path) }
            }
        };
        kept.insert(path.clone(), now);
    }
    if changed || !before.is_empty() {
        write_cache(ws, &kept)?;
    }
    Ok(complete.then(|| by_intent(ws, kept)))
}

/// Reads the cache. It is empty if it is missing or cannot be decoded.
fn read_cache(ws: &Workspace) -> Result<CachedMap, VerbError> {
    let bytes = store::read_capped(&cache_path(ws)?, MAX_BYTES)?.unwrap_or_default();
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

fn write_cache(ws: &Workspace, kept: &CachedMap) -> Result<(), VerbError> {
    let bytes = serde_json::to_vec(kept).expect("texts always become JSON");
    Ok(store::write_scratch(&cache_path(ws)?, &bytes)?)
}

/// Joins the definitions of all files. An intent that has another id now is listed under that id.
fn by_intent(ws: &Workspace, kept: CachedMap) -> Definitions {
    let mut all = Definitions::new();
    for (id, files) in kept.into_values().flat_map(|file| file.shows) {
        let of_intent = all.entry(ws.registry.present_id(&id).to_owned()).or_default();
        for (path, names) in files {
            of_intent.entry(path).or_default().extend(names);
        }
    }
    all
}

fn cache_path(ws: &Workspace) -> Result<PathBuf, VerbError> {
    Ok(session::local(&ws.root)?.join("map.json"))
}

/// Returns a digest of the records that name a file, of their intents, and of the size and
/// modification time of the file.
fn state_digest(ws: &Workspace, path: &RelativePath) -> String {
    let mut of = String::new();
    for at in ws.ledger.entries_of_path(path) {
        let entry = ws.ledger.entry(at);
        of.push_str(&entry.record.id);
        // The name of the intent is part of the digest if another intent has taken its id since.
        of.extend(ws.namesake(entry));
        of.push('\n');
    }
    if let Ok(found) = ws.root.absolute(path).metadata() {
        let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        of.push_str(&format!("{} {:?}", found.len(), modified));
    }
    Digest::compute(of.as_bytes()).to_string()
}

/// Returns the blocks of one file that stand in the map, by the intent that they were recorded
/// under.
fn definitions_in_file(ws: &Workspace, path: &RelativePath) -> Definitions {
    let mut shown = Definitions::new();
    for (intent, files) in standing(ws, std::slice::from_ref(path)) {
        let names = files.into_values().flatten().filter_map(|block| block.definition);
        shown.entry(intent).or_default().insert(path.clone(), names.collect());
    }
    shown
}
