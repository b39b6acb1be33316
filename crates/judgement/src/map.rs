//! `intent map`: lists which intent has produced which blocks, as data and as the file
//! `intent_map.md`.
//!
//! The map is generated and never read back. Its order is stable (intents as in the registry, files
//! and blocks by name), and it contains no times and no line numbers. If the policy says `map:
//! committed`, the git hook writes the map for each commit from the files in the index. Merge
//! conflicts never need manual work: `.gitattributes` tells git to keep the lines of both sides,
//! and the next commit writes the map again.
//!
//! - `fresh` updates the map after each record.
//! - `page` renders it as Markdown.

mod fresh;
mod page;

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

pub use fresh::{follow, refresh};

use page::render;

use super::check;
use code::FileBlocks;
use evidence::verify;
use ground::policy::Map;
use ground::{RelativePath, store};
use provenance::Provenance;
use why::change_class::ClassAnswer;
use why::produced::{ByFile, ByIntent, MappedBlock};
use why::{VerbError, Workspace, answers};

/// The whole map: all intents with the files and blocks that they produced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MapAnswer {
    /// The intents in the order of the registry, then those that only the ledger knows, by id.
    pub intents: Vec<MappedIntent>,
    /// The path of the written map, relative to the workspace. `None` if the map was not written.
    pub written: Option<String>,
    /// The class of the change from `HEAD` to the work tree. The written map omits the class,
    /// because branches share that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ClassAnswer>,
    /// What the map leaves out, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One intent and the files that it produced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MappedIntent {
    /// The id of the intent, for example `INT-001`.
    pub id: String,
    /// The name of the intent. `None` if it is not in the registry.
    pub name: Option<String>,
    /// The status of the intent. `None` if it is not in the registry.
    pub status: Option<String>,
    /// The files, sorted by their path.
    pub files: Vec<MappedFile>,
}

/// One file and the recorded blocks in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MappedFile {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The blocks, sorted by their kind, then by their name.
    pub blocks: Vec<MappedBlock>,
}

/// Returns the blocks of an intent that still exist, grouped by the file that they are in now.
pub fn produced(ws: &Workspace, intent: &str) -> Vec<(RelativePath, Vec<MappedBlock>)> {
    let intent = ws.registry.present_id(intent);
    let find = || {
        let mut paths = BTreeSet::new();
        for (ws, claims) in ws.in_parts(&ws.claims_of(intent)) {
            paths.extend(claims.iter().map(|at| ws.ledger.claim(*at).file.relative_path.clone()));
        }
        standing(ws, &Vec::from_iter(paths))
    };
    let found = ws.match_cache.produced(Some(intent), find);
    found.get(intent).cloned().unwrap_or_default().into_iter().collect()
}

/// Like [`produced`], for all intents.
pub fn produced_by_all(ws: &Workspace) -> Arc<ByIntent> {
    ws.match_cache.produced(None, || standing(ws, ws.ledger.paths()))
}

/// Returns the recorded blocks that still exist in these files, or that were moved from them to
/// files that no record names.
fn standing(ws: &Workspace, paths: &[RelativePath]) -> ByIntent {
    let mut found = ByIntent::new();
    verify::compare_files(ws, paths, |ws, path, file| {
        for (at, provenance) in file.provenance.iter().enumerate() {
            if let Some(intent) = answers::intent_of(ws, provenance) {
                let block = mapped_block(ws, &file.blocks, at, provenance);
                let files = found.entry(intent).or_default();
                files.entry(path.clone()).or_default().push(block);
            }
        }
    });
    found
}

fn mapped_block(
    ws: &Workspace,
    blocks: &FileBlocks,
    at: usize,
    provenance: &Provenance,
) -> MappedBlock {
    let block = &blocks.blocks[at];
    let mut top = block;
    while let Some(container) = top.container {
        top = &blocks.blocks[container];
    }
    let recorded = provenance.claim.map(|at| ws.ledger.claim(at).full_block().content_hash.clone());
    MappedBlock {
        kind: block.identity.kind.as_str().to_owned(),
        name: block.identity.path.clone(),
        definition: (!top.identity.kind.is_unnamed()).then(|| top.identity.path.clone()),
        content_hash: recorded.unwrap_or_else(|| block.fingerprint.content.clone()).to_string(),
    }
}

/// Returns the map of the work tree as data.
pub fn map(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    Ok(MapAnswer { change: check::class(ws), ..map_of_all_intents(ws)? })
}

fn map_of_all_intents(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    ws.sound_registry()?;
    let mut by_intent = ByIntent::clone(&produced_by_all(ws));
    let registered = ws.registry.intents().iter();
    let mut intents: Vec<MappedIntent> = registered
        .map(|intent| {
            let id = &intent.id.value;
            mapped(ws, id, by_intent.remove(id).unwrap_or_default())
        })
        .collect();
    intents.extend(by_intent.into_iter().map(|(id, files)| mapped(ws, &id, files)));
    let notes = Vec::from_iter(ws.unread_evidence());
    Ok(MapAnswer { intents, written: None, change: None, notes })
}

fn mapped(ws: &Workspace, id: &str, files: ByFile) -> MappedIntent {
    let brief = answers::brief(ws, id);
    let sorted = |(path, mut blocks): (RelativePath, Vec<MappedBlock>)| {
        blocks.sort();
        MappedFile { path, blocks }
    };
    let files = files.into_iter().map(sorted).collect();
    MappedIntent { id: brief.id, name: brief.name, status: brief.status, files }
}

/// Returns the workspace that the map describes. If commits carry the map, this workspace has the
/// files of the next commit, so that the map is right for everyone who checks that commit out.
fn source(ws: &Workspace) -> Result<Workspace, VerbError> {
    match (ws.policy.map, ws.git()) {
        (Map::Committed, Some(_)) => Ok(ws.at_index_alone()?),
        _ => Ok(ws.clone()),
    }
}

/// Returns the text that [`write()`] would write.
pub fn text(ws: &Workspace) -> Result<String, VerbError> {
    Ok(markdown(&map_of_all_intents(&source(ws)?)?))
}

/// Writes `intent_map.md` and returns the map.
pub fn write(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    ws.governed()?;
    let answer = map(&source(ws)?)?;
    let path = path();
    store::write_atomic(&ws.root.absolute(&path), markdown(&answer).as_bytes())?;
    Ok(MapAnswer { written: Some(path.to_string()), ..answer })
}

/// Writes the map for the next commit and returns its path. `None` unless the policy says `map:
/// committed`.
pub fn write_for_commit(ws: &Workspace) -> Result<Option<RelativePath>, VerbError> {
    if ws.policy.map != Map::Committed {
        return Ok(None);
    }
    let path = path();
    store::write_atomic(&ws.root.absolute(&path), text(ws)?.as_bytes())?;
    Ok(Some(path))
}

pub fn path() -> RelativePath {
    RelativePath::new(".orchestration/intent_map.md").expect("a fixed name is a path")
}

/// Renders the map as Markdown: for each intent its files, and for each file the top-level
/// definitions.
pub fn markdown(answer: &MapAnswer) -> String {
    let shown = answer.intents.iter().map(|intent| {
        let files = intent.files.iter().map(|file| {
            let names = file.blocks.iter().filter_map(|block| block.definition.clone());
            (file.path.clone(), names.collect())
        });
        (intent.id.clone(), files.collect())
    });
    render(&answer.notes, &answer.intents, &shown.collect())
}
