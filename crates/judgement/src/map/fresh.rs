//! Keeps the map current.
//!
//! After a record, the map shows what that record says for certain, because nobody waits for the history
//! of a file when one is recorded: the definitions of which it brought half, and which ones are gone. If
//! INT-002 changed two of ten lines of a function, its owner is looked up by the next [`refresh`], which
//! looks at the files that were recorded or that commits changed.
//!
//! The results are kept in `.orchestration/local/map.json`, which only this module reads. A clone
//! that has evidence but not that file has no map until `intent map` makes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::page::{Definitions, NO_BLOCK, render};
use super::{ByFile, MapAnswer, mapped, mapped_block, path, produced_in_file};
use evidence::comparison;
use ground::parallel::in_parallel;
use ground::policy::Map;
use ground::{CommitId, RelativePath, session, store};
use history::LineText;
use history::runs_about;
use ledger::{Digest, Ledger, LineRuns};
use why::{LinesOfBlock, VerbError, Workspace, lines_of_blocks};

/// If more files than this have changed, the map waits until `intent map` makes it again.
const MAX_FILES: usize = 200;
/// The size limit of the map and of its cache, in bytes. A larger file is not ours, because
/// `intent` never writes one.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Default, Serialize, Deserialize)]
struct CachedMap {
    /// The commit that the results are right for: empty without a commit.
    commit: String,
    files: BTreeMap<RelativePath, CachedFile>,
}

#[derive(Default, Serialize, Deserialize)]
struct CachedFile {
    /// A digest of the records of the journal about the file.
    records: String,
    disk: String,
    shows: Definitions,
}

/// Writes `intent_map.md` if its content has changed. Errors are only logged, since nothing depends
/// on the map. Nothing is written if git does not ignore the map, because it would show up as a new
/// file, or if commits carry the map, because then the git hook writes it.
pub fn refresh(ws: &Workspace) {
    write_or_log(ws.clone().with_records_of_now(), None);
}

/// Shows what the last record about each of these files says for certain.
pub fn follow(ws: &Workspace, paths: &[RelativePath]) {
    if !paths.is_empty() {
        write_or_log(ws.clone().with_new_records(), Some(paths));
    }
}

pub(super) fn keep(ws: &Workspace, map: &MapAnswer) -> Result<(), VerbError> {
    if !is_ours_to_write(ws) {
        return Ok(());
    }
    let mut shown: BTreeMap<RelativePath, Definitions> = BTreeMap::new();
    for intent in &map.intents {
        for file in &intent.files {
            let names = file.blocks.iter().filter_map(|block| block.definition.clone());
            let of_file = shown.entry(file.path.clone()).or_default();
            of_file.insert(intent.id.clone(), [(file.path.clone(), names.collect())].into());
        }
    }
    let records = texts_about_files(ws, &ws.journal);
    let files = shown.into_iter().map(|(path, shows)| {
        let file = CachedFile { shows, ..CachedFile::unseen(ws, &path, &records) };
        (path, file)
    });
    write_cache(ws, &CachedMap { commit: head_of(ws), files: files.collect() })
}

/// Returns the definitions that an intent has produced, by file, as the last refresh found them.
/// Returns `None` if there was a commit since, or if the map waits for `intent map`. Looks at no
/// file.
pub fn kept_for_intent(
    ws: &Workspace,
    id: &str,
) -> Option<BTreeMap<RelativePath, BTreeSet<String>>> {
    let cached = read_cache(ws).ok()?.filter(|cached| cached.commit == head_of(ws))?;
    Some(by_intent(ws, cached.files).remove(id).unwrap_or_default())
}

fn is_ours_to_write(ws: &Workspace) -> bool {
    let is_private = || ws.git().is_none() || ws.ignores.git_ignored(&path());
    ws.root.governed() && ws.policy.map != Map::Committed && is_private()
}

fn write_or_log(ws: Workspace, only: Option<&[RelativePath]>) {
    let written = is_ours_to_write(&ws).then(|| write(&ws.with_kept_answers(), only));
    if let Some(Err(error)) = written {
        tracing::debug!(%error, "the map is not refreshed");
    }
}

fn write(ws: &Workspace, only: Option<&[RelativePath]>) -> Result<(), VerbError> {
    ws.sound_registry()?;
    let (cached, only) = match read_cache(ws)? {
        Some(cached) => (cached, only),
        None if ledger::evidence::is_present(&ws.root) => return Ok(()),
        None => (CachedMap::default(), None),
    };
    let records = texts_about_files(ws, &ws.journal);
    // If the kept commit is gone, for example after `git gc`, nobody can tell what changed since.
    let paths = cached.paths_of_new_commits(ws).ok().map(|mut paths| {
        match only {
            Some(recorded) => paths.retain(|path| !recorded.contains(path)),
            None => paths.extend(cached.paths_that_changed(ws, &records)),
        }
        paths
    });
    let Some(paths) = paths.filter(|paths| paths.len() <= MAX_FILES) else {
        store::remove(&cache_path(ws))?;
        return Ok(());
    };
    // Where history is missing, the map stays as it is.
    let Some(mut cached) = cached.looked_at(ws, paths, &records) else { return Ok(()) };
    only.unwrap_or_default().iter().for_each(|path| cached.add_certain(ws, path));
    write_cache(ws, &cached)?;
    let shown = by_intent(ws, cached.files);
    let mut ids: Vec<&String> = ws.registry.intents().iter().map(|it| &it.id.value).collect();
    let others: Vec<&String> = shown.keys().filter(|id| !ids.contains(id)).collect();
    ids.extend(others);
    let intents: Vec<_> = ids.into_iter().map(|id| mapped(ws, id, ByFile::new())).collect();
    let notes = Vec::from_iter(ws.unread_evidence_seen());
    let (text, map) = (render(&notes, &intents, &shown, NO_BLOCK), ws.root.absolute(&path()));
    if store::read_capped(&map, MAX_BYTES)?.as_deref() != Some(text.as_bytes()) {
        store::write_atomic(&map, text.as_bytes())?;
    }
    Ok(())
}

impl CachedMap {
    /// Returns the files that commits since have changed, and those that new late evidence names.
    /// What was looked at in the state that is on disk now does not change with its commit.
    fn paths_of_new_commits(&self, ws: &Workspace) -> Result<BTreeSet<RelativePath>, VerbError> {
        let head = head_of(ws);
        let Some(git) = ws.git().filter(|_| self.commit != head && !self.commit.is_empty()) else {
            return Ok(BTreeSet::new());
        };
        let before = CommitId(self.commit.clone());
        let mut reader = git.object_reader()?;
        let trees = (
            Some(reader.commit(git.object_id(&before)?)?.tree),
            Some(reader.commit(git.object_id(&CommitId(head))?)?.tree),
        );
        let changed = reader.changed_blobs(trees.0, trees.1)?;
        let changed = changed.iter().filter_map(|one| git.path_in_workspace(one.path.as_ref()));
        let is_new =
            |path: &RelativePath| self.files.get(path).is_none_or(|one| one.disk != disk(ws, path));
        let mut paths: BTreeSet<RelativePath> =
            changed.filter(|path| !path.is_orchestration() && is_new(path)).collect();
        for (_, entry) in comparison::sections_of_range(ws, &before)? {
            if entry.late_commit.is_some() {
                paths.extend(entry.record.files.iter().map(|file| file.relative_path.clone()));
            }
        }
        Ok(paths)
    }

    /// Returns the files that differ on disk or of which the journal says something new.
    fn paths_that_changed<'a>(
        &'a self,
        ws: &Workspace,
        records: &'a HashMap<RelativePath, String>,
    ) -> Vec<RelativePath> {
        let known: BTreeSet<&RelativePath> = self.files.keys().chain(records.keys()).collect();
        let is_as_kept = |path: &RelativePath| {
            let now = CachedFile::unseen(ws, path, records);
            let known = self.files.get(path);
            known.is_some_and(|known| known.records == now.records && known.disk == now.disk)
        };
        known.into_iter().filter(|path| !is_as_kept(path)).cloned().collect()
    }

    /// Looks at these files again. `None` if this clone lacks history about one of them.
    fn looked_at(
        mut self,
        ws: &Workspace,
        paths: BTreeSet<RelativePath>,
        records: &HashMap<RelativePath, String>,
    ) -> Option<Self> {
        let paths = Vec::from_iter(paths);
        let shown = in_parallel(&paths, |path| definitions_in_file(ws, path));
        for (path, shows) in paths.into_iter().zip(shown) {
            let file = CachedFile { shows: shows?, ..CachedFile::unseen(ws, &path, records) };
            match file.shows.is_empty() {
                true => self.files.remove(&path),
                false => self.files.insert(path, file),
            };
        }
        Some(Self { commit: head_of(ws), ..self })
    }

    /// Adds the definitions of a file that belong to the last record about it, because that brought half
    /// of the lines of a block, and removes those that are gone.
    fn add_certain(&mut self, ws: &Workspace, path: &RelativePath) {
        let mut file = self.files.remove(path).unwrap_or_default();
        let Ok(document) = ws.read(path) else { return };
        let (blocks, text) = (document.blocks(), LineText::new(document.text().into_bytes()));
        let named = blocks.blocks.iter().enumerate();
        let definitions: Vec<Option<String>> =
            named.map(|(at, _)| mapped_block(&blocks, at).definition).collect();
        for names in file.shows.values_mut().flat_map(BTreeMap::values_mut) {
            names.retain(|name| definitions.iter().flatten().any(|one| one == name));
        }
        if let Some((intent, brought)) = lines_of_last_record(ws, path, &text) {
            let of_record = |said: &[usize]| said.iter().filter(|it| brought.contains(it)).count();
            let lines = lines_of_blocks(&blocks, &text);
            let of_blocks = definitions.iter().zip(&lines);
            let (mut its, mut others): (BTreeSet<&String>, BTreeSet<&String>) = Default::default();
            for (definition, LinesOfBlock { said, .. }) in of_blocks {
                let is_its = 2 * of_record(said) >= said.len();
                if is_its { its.extend(definition) } else { others.extend(definition) }
            }
            for names in file.shows.values_mut().flat_map(BTreeMap::values_mut) {
                names.retain(|name| !its.contains(name) || others.contains(name));
            }
            let of_intent = file.shows.entry(intent).or_default().entry(path.clone()).or_default();
            of_intent.extend(its.into_iter().cloned());
        }
        // Without a digest of the records, the next refresh looks at the file.
        let file = CachedFile { disk: disk(ws, path), records: String::new(), ..file };
        self.files.insert(path.clone(), file);
    }
}

/// Returns the intent of the last record about a file, and the lines that it brought, counted from 0.
/// `None` if it brought none, or the text is another one now.
fn lines_of_last_record(
    ws: &Workspace,
    path: &RelativePath,
    text: &LineText,
) -> Option<(String, HashSet<usize>)> {
    let entry = ws.journal.of_path(path).last()?;
    let runs = || runs_about(entry, path).flat_map(LineRuns::runs);
    if !runs().all(|run| run.stands_in(text)) {
        return None;
    }
    let lines: HashSet<usize> = runs().flat_map(|run| run.lines.clone()).collect();
    Some((entry.record.intent_id.clone()?, lines)).filter(|(_, lines)| !lines.is_empty())
}

impl CachedFile {
    fn unseen(
        ws: &Workspace,
        path: &RelativePath,
        records: &HashMap<RelativePath, String>,
    ) -> Self {
        let text = records.get(path).map_or("", String::as_str);
        let records = Digest::compute(text.as_bytes()).to_string();
        Self { records, disk: disk(ws, path), shows: Definitions::new() }
    }
}

fn head_of(ws: &Workspace) -> String {
    ws.head().map(|head| head.0.clone()).unwrap_or_default()
}

fn disk(ws: &Workspace, path: &RelativePath) -> String {
    let found = ws.root.absolute(path).metadata().ok();
    found.map_or_else(String::new, |found| {
        let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        format!("{} {modified:?}", found.len())
    })
}

/// Reads the cache. `None` if it is missing or cannot be decoded.
fn read_cache(ws: &Workspace) -> Result<Option<CachedMap>, VerbError> {
    let bytes = store::read_capped(&cache_path(ws), MAX_BYTES)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
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

/// Returns the definitions of one file that stand in the map, by their intent. `None` if this clone
/// lacks history that says it.
fn definitions_in_file(ws: &Workspace, path: &RelativePath) -> Option<Definitions> {
    let mut shown = Definitions::new();
    for (intent, files) in produced_in_file(ws, path)? {
        let names = files.into_values().flatten().filter_map(|block| block.definition);
        shown.entry(intent).or_default().insert(path.clone(), names.collect());
    }
    Some(shown)
}
