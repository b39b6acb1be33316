//! Updates the map after each record. Only files whose text or records have changed are looked at
//! again.
//!
//! The results are cached in `.orchestration/local/map.json`. Only this module reads that file (the
//! command `intent map` computes the map anew), and it is created again if it is missing. All
//! records are read only if there was a commit since; until then, only the journal can have changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::page::{Definitions, render};
use super::{ByFile, mapped, path, produced_in_file};
use ground::parallel::in_parallel;
use ground::policy::Map;
use ground::{RelativePath, session, store};
use ledger::{Digest, Ledger};
use why::{VerbError, Workspace};

/// How long one refresh may take, because an agent waits for it. If the time runs out, the map is
/// not written, and the next refresh continues with the files that are left.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// The size limit of the map and of its cache, in bytes. A larger file is not ours, because
/// `intent` never writes one.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The cached results.
#[derive(Default, Serialize, Deserialize)]
struct CachedMap {
    /// The commit at which the evidence was read: empty without a commit, `None` if not all files
    /// were looked at since.
    complete_at: Option<String>,
    /// What the map leaves out, and why.
    notes: Vec<String>,
    /// One item for each recorded file.
    files: BTreeMap<RelativePath, CachedFile>,
}

#[derive(Serialize, Deserialize)]
struct CachedFile {
    /// A digest of the evidence about the file.
    evidence: String,
    /// A digest of the records of the journal about the file, and of its state on disk. While both
    /// digests are the same, the cached result is valid.
    state: String,
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

/// Returns the definitions that an intent has produced, by file, as the last refresh found them.
/// Returns `None` if it did not see everything, or if there was a commit since. Looks at no file.
pub fn kept_for_intent(
    ws: &Workspace,
    id: &str,
) -> Option<BTreeMap<RelativePath, BTreeSet<String>>> {
    let head = ws.head().map(|head| head.0.clone()).unwrap_or_default();
    let cached = read_cache(ws).ok().filter(|cached| cached.complete_at.as_ref() == Some(&head))?;
    Some(by_intent(ws, cached.files).remove(id).unwrap_or_default())
}

fn is_ours_to_write(ws: &Workspace) -> bool {
    let is_private = || ws.git().is_none() || ws.ignores.git_ignored(&path());
    ws.root.governed() && ws.policy.map != Map::Committed && is_private()
}

fn write_or_log(ws: &Workspace, only: Option<&[RelativePath]>) {
    if let Err(error) = write(&ws.clone().with_records_of_now().with_kept_answers(), only) {
        tracing::debug!(%error, "the map is not refreshed");
    }
}

fn write(ws: &Workspace, only: Option<&[RelativePath]>) -> Result<(), VerbError> {
    ws.sound_registry()?;
    let mut cached = read_cache(ws)?;
    match only.filter(|_| cached.complete_at.is_some()) {
        Some(paths) => cached.look_at(ws, paths),
        None => cached.look_at_all(ws),
    }
    write_cache(ws, &cached)?;
    if cached.complete_at.is_none() {
        return Ok(());
    }
    let shown = by_intent(ws, cached.files);
    let mut ids: Vec<&String> = ws.registry.intents().iter().map(|it| &it.id.value).collect();
    let others: Vec<&String> = shown.keys().filter(|id| !ids.contains(id)).collect();
    ids.extend(others);
    let intents: Vec<_> = ids.into_iter().map(|id| mapped(ws, id, ByFile::new())).collect();
    let (text, map) = (render(&cached.notes, &intents, &shown), ws.root.absolute(&path()));
    if store::read_capped(&map, MAX_BYTES)?.as_deref() != Some(text.as_bytes()) {
        store::write_atomic(&map, text.as_bytes())?;
    }
    Ok(())
}

impl CachedMap {
    /// Looks at these files again.
    fn look_at(&mut self, ws: &Workspace, paths: &[RelativePath]) {
        let journal = texts_about_files(ws, &ws.journal);
        for path in paths {
            let shows = definitions_in_file(ws, path);
            let evidence = self.files.remove(path).map(|file| file.evidence).unwrap_or_default();
            if !shows.is_empty() {
                let file = CachedFile { evidence, state: state_digest(ws, path, &journal), shows };
                self.files.insert(path.clone(), file);
            }
        }
    }

    /// Looks at all recorded files that have changed.
    fn look_at_all(&mut self, ws: &Workspace) {
        let head = ws.head().map(|head| head.0.clone()).unwrap_or_default();
        let journal = texts_about_files(ws, &ws.journal);
        let evidence = (self.complete_at.as_ref() != Some(&head)).then(|| {
            self.notes = Vec::from_iter(ws.unread_evidence());
            let about = texts_about_files(ws, &ws.ledger);
            about
                .into_iter()
                .map(|(path, text)| (path, text_digest(&text)))
                .collect::<HashMap<_, _>>()
        });
        let mut paths: BTreeSet<&RelativePath> = journal.keys().collect();
        match &evidence {
            Some(evidence) => paths.extend(evidence.keys()),
            None => paths.extend(self.files.keys()),
        }
        let paths: Vec<RelativePath> = paths.into_iter().cloned().collect();
        let until = Instant::now() + TIME_LIMIT;
        let files = in_parallel(&paths, |path| {
            let known = self.files.get(path);
            let state = state_digest(ws, path, &journal);
            let evidence = match &evidence {
                Some(evidence) => evidence.get(path).cloned().unwrap_or_default(),
                None => known.map(|known| known.evidence.clone()).unwrap_or_default(),
            };
            let is_valid = |known: &&CachedFile| known.state == state && known.evidence == evidence;
            let shows = match known.filter(is_valid) {
                Some(known) => known.shows.clone(),
                None if Instant::now() > until => return None,
                None => definitions_in_file(ws, path),
            };
            Some(CachedFile { evidence, state, shows })
        });
        self.complete_at = files.iter().all(Option::is_some).then_some(head);
        let files = paths.into_iter().zip(files);
        self.files = files.filter_map(|(path, file)| Some((path, file?))).collect();
    }
}

/// Reads the cache. It is empty if it is missing or cannot be decoded.
fn read_cache(ws: &Workspace) -> Result<CachedMap, VerbError> {
    let bytes = store::read_capped(&cache_path(ws), MAX_BYTES)?.unwrap_or_default();
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

fn write_cache(ws: &Workspace, cached: &CachedMap) -> Result<(), VerbError> {
    let bytes = serde_json::to_vec(cached).expect("texts always become JSON");
    session::local(&ws.root)?;
    Ok(store::write_scratch(&cache_path(ws), &bytes)?)
}

/// Joins the definitions of all files. An intent that has another id now is listed under that id.
fn by_intent(ws: &Workspace, files: BTreeMap<RelativePath, CachedFile>) -> Definitions {
    let mut all = Definitions::new();
    for (id, files) in files.into_values().flat_map(|file| file.shows) {
        let of_intent = all.entry(ws.registry.present_id(&id).to_owned()).or_default();
        for (path, names) in files {
            of_intent.entry(path).or_default().extend(names);
        }
    }
    all
}

fn cache_path(ws: &Workspace) -> PathBuf {
    ws.root.orchestration().join("local/map.json")
}

/// Returns for each file that records name a text of these records and the present names of their
/// intents. An id may belong to another intent since.
fn texts_about_files(ws: &Workspace, ledger: &Ledger) -> HashMap<RelativePath, String> {
    let mut texts: HashMap<RelativePath, String> = HashMap::new();
    for entry in ledger.entries() {
        let intent = entry.record.intent_id.as_deref().and_then(|id| ws.registry.get(id));
        let name = intent.map_or("", |intent| &intent.name.value);
        for file in &entry.record.files {
            let text = texts.entry(file.relative_path.clone()).or_default();
            text.push_str(&format!("{} {name}\n", entry.record.id));
        }
    }
    texts
}

/// Returns a digest of the records of the journal that name a file, and of its size and modification
/// time.
fn state_digest(
    ws: &Workspace,
    path: &RelativePath,
    journal: &HashMap<RelativePath, String>,
) -> String {
    let mut text = journal.get(path).cloned().unwrap_or_default();
    if let Ok(found) = ws.root.absolute(path).metadata() {
        let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        text.push_str(&format!("{} {:?}", found.len(), modified));
    }
    text_digest(&text)
}

fn text_digest(text: &str) -> String {
    Digest::compute(text.as_bytes()).to_string()
}

/// Returns the definitions of one file that stand in the map, by their intent.
fn definitions_in_file(ws: &Workspace, path: &RelativePath) -> Definitions {
    let mut shown = Definitions::new();
    for (intent, files) in produced_in_file(ws, path) {
        let names = files.into_values().flatten().filter_map(|block| block.definition);
        shown.entry(intent).or_default().insert(path.clone(), names.collect());
    }
    shown
}
