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

use schemars::JsonSchema;
use serde::Serialize;

pub use fresh::{follow, kept_for_intent, refresh};

use page::{NO_BLOCK, render};

use super::check;
use code::FileBlocks;
use evidence::verify::{self, UnknownLines};
use ground::policy::Map;
use ground::{RelativePath, store};
use provenance::Classification;
use why::answers::FileProvenance;
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
    pub change: Option<Classification>,
    /// Whether blocks are left out, because this clone lacks history that says who brought their lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lacks_history: bool,
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

/// One file and the blocks of the intent in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MappedFile {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The blocks, sorted by their kind, then by their name. Empty if the intent brought only lines
    /// of other blocks.
    pub blocks: Vec<MappedBlock>,
}

fn produced_by_all(ws: &Workspace) -> (ByIntent, UnknownLines) {
    let mut found = ByIntent::new();
    let of_file = |path: &RelativePath, file: &FileProvenance| produced_of(ws, path, file);
    let unknown = verify::of_all_files(ws, answers::standing_owners, of_file, |produced| {
        for (intent, files) in produced {
            found.entry(intent).or_default().extend(files);
        }
    });
    (found, unknown)
}

/// Returns what the intents have produced in one file. `None` if this clone lacks history that says it.
fn produced_in_file(ws: &Workspace, path: &RelativePath) -> Option<ByIntent> {
    let Some(file) = answers::standing_owners(ws, path) else { return Some(ByIntent::new()) };
    (!file.lacks_history()).then(|| produced_of(ws, path, &file))
}

/// Returns the blocks of a file, by the intent that brought at least half of their lines. An intent that
/// brought only lines of other blocks has the file without blocks.
fn produced_of(ws: &Workspace, path: &RelativePath, file: &FileProvenance) -> ByIntent {
    let mut found = ByIntent::new();
    let claims: BTreeSet<usize> = file.lines.lines.iter().filter_map(|line| line.claim).collect();
    for intent in claims.into_iter().filter_map(|at| ws.intent_of(&file.lines.claims[at])) {
        found.entry(intent).or_default().entry(path.clone()).or_default();
    }
    for (at, provenance) in file.provenance.iter().enumerate() {
        if let Some(intent) = answers::intent_of(ws, provenance) {
            let files = found.entry(intent).or_default();
            files.entry(path.clone()).or_default().push(mapped_block(&file.blocks, at));
        }
    }
    found
}

fn mapped_block(blocks: &FileBlocks, at: usize) -> MappedBlock {
    let block = &blocks.blocks[at];
    let mut top = block;
    while let Some(container) = top.container {
        top = &blocks.blocks[container];
    }
    MappedBlock {
        kind: block.identity.kind.as_str().to_owned(),
        name: block.identity.path.clone(),
        definition: (!top.identity.kind.is_unnamed()).then(|| top.identity.path.clone()),
        content_hash: block.fingerprint.content.to_string(),
    }
}

pub fn map(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    let (mut answer, unknown) = map_of_all_intents(ws)?;
    answer.notes.extend(unknown.history_note());
    Ok(MapAnswer { change: check::class(ws), lacks_history: unknown.lacks_history(), ..answer })
}

/// Like [`map()`], for a file: fails if this clone lacks history, so that no file is written or judged
/// that lacks what others see.
fn complete_map(source: &Workspace) -> Result<MapAnswer, VerbError> {
    let (answer, unknown) = map_of_all_intents(source)?;
    unknown.error("intent_map.md stays as it is")?;
    Ok(answer)
}

fn map_of_all_intents(ws: &Workspace) -> Result<(MapAnswer, UnknownLines), VerbError> {
    ws.sound_registry()?;
    let (mut by_intent, unknown) = produced_by_all(ws);
    let registered = ws.registry.intents().iter();
    let mut intents: Vec<MappedIntent> = registered
        .map(|intent| {
            let id = &intent.id.value;
            mapped(ws, id, by_intent.remove(id).unwrap_or_default())
        })
        .collect();
    intents.extend(by_intent.into_iter().map(|(id, files)| mapped(ws, &id, files)));
    let notes = Vec::from_iter(unknown.unread_evidence.clone());
    let answer = MapAnswer { intents, written: None, change: None, lacks_history: false, notes };
    Ok((answer, unknown))
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

pub fn text(ws: &Workspace) -> Result<String, VerbError> {
    Ok(markdown(&complete_map(&source(ws)?)?))
}

pub fn write(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    ws.governed()?;
    let source = source(ws)?;
    let answer = MapAnswer { change: check::class(&source), ..complete_map(&source)? };
    let path = path();
    store::write_atomic(&ws.root.absolute(&path), markdown(&answer).as_bytes())?;
    fresh::keep(ws, &answer)?;
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

pub fn markdown(answer: &MapAnswer) -> String {
    let shown = answer.intents.iter().map(|intent| {
        let files = intent.files.iter().map(|file| {
            let names = file.blocks.iter().filter_map(|block| block.definition.clone());
            (file.path.clone(), names.collect())
        });
        (intent.id.clone(), files.collect())
    });
    let nothing = match answer.lacks_history {
        true => "No recorded block is known here.",
        false => NO_BLOCK,
    };
    render(&answer.notes, &answer.intents, &shown.collect(), nothing)
}
