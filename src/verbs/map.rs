//! *Map*: which intent has produced which blocks, as data and as `intent_map.md`.
//!
//! The map is generated and never read back. Its order is stable (intents as in the registry, files and blocks by
//! name), and it holds no times and no line numbers. If the policy says `map: committed`, git's hook writes it for each
//! commit from what the index holds. Maps of two branches never have to be merged by hand: `.gitattributes` lets git
//! unite their lines, and the next commit writes the map again.

mod fresh;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use fresh::{follow, refresh};

use page::render;

use super::classes::ClassAnswer;
use super::why::IntentBrief;
use super::workspace::AT_ONCE;
use super::{VerbError, Workspace, check, verify, why};
use crate::code::FileBlocks;
use crate::provenance::Provenance;
use crate::workspace::policy::Map;
use crate::workspace::{RelativePath, store};

/// The whole map.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MapAnswer {
    /// As in the registry, then intents that only the ledger knows, by id.
    pub intents: Vec<MappedIntent>,
    /// Where it was written, relative to the workspace; `None` when it was only asked for.
    pub written: Option<String>,
    /// What kind of change the working tree is against HEAD. Not in the written map, which branches share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ClassAnswer>,
    /// What is not in it, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One intent's files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MappedIntent {
    /// `INT-001`.
    pub id: String,
    /// `None` when the registry does not hold it.
    pub name: Option<String>,
    /// See `name`.
    pub status: Option<String>,
    /// By path.
    pub files: Vec<MappedFile>,
}

/// One file's blocks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MappedFile {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// By name.
    pub blocks: Vec<MappedBlock>,
}

/// One block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct MappedBlock {
    /// `method`.
    pub kind: String,
    /// `AuthMiddleware.verify`.
    pub name: String,
    /// The top-level definition in which it stands, or itself; `None` of what has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// What the block was when it was last recorded.
    pub content_hash: String,
}

/// The blocks of each intent, by file. Intents have the id that they have now.
pub(super) type ByIntent = BTreeMap<String, ByFile>;
/// Blocks by file.
type ByFile = BTreeMap<RelativePath, Vec<MappedBlock>>;

/// The blocks of an intent that still exist, by the file that they are in now.
pub(crate) fn produced(ws: &Workspace, intent: &str) -> Vec<(RelativePath, Vec<MappedBlock>)> {
    let intent = ws.registry.present_id(intent);
    let find = || {
        let mut paths = BTreeSet::new();
        for claims in ws.claims_of(intent).chunks(AT_ONCE) {
            let ledger = ws.ledger.forgetful();
            paths.extend(claims.iter().map(|at| ledger.claim(*at).file.relative_path.clone()));
        }
        standing(ws, &Vec::from_iter(paths))
    };
    let found = ws.elsewhere.produced(Some(intent), find);
    found.get(intent).cloned().unwrap_or_default().into_iter().collect()
}

/// Like [`produced`], for all intents.
pub(super) fn produced_by_all(ws: &Workspace) -> Arc<ByIntent> {
    ws.elsewhere.produced(None, || standing(ws, ws.ledger.paths()))
}

/// The recorded blocks that still exist in these files, or were moved from them to files that no record names.
fn standing(ws: &Workspace, paths: &[RelativePath]) -> ByIntent {
    let mut found = ByIntent::new();
    verify::hold(ws, paths, |held| {
        let Some(file) = held.file else { return };
        for (at, provenance) in file.provenance.iter().enumerate() {
            if let Some(intent) = why::intent_of(held.ws, provenance) {
                let block = mapped_block(held.ws, &file.blocks, at, provenance);
                let files = found.entry(intent).or_default();
                files.entry(held.path.clone()).or_default().push(block);
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
    let recorded = provenance.claim.map(|at| ws.ledger.claim(at).range().content_hash.clone());
    MappedBlock {
        kind: block.identity.kind.as_str().to_owned(),
        name: block.identity.path.clone(),
        definition: (!top.identity.kind.is_unnamed()).then(|| top.identity.path.clone()),
        content_hash: recorded.unwrap_or_else(|| block.fingerprint.content.clone()).to_string(),
    }
}

/// The map as data.
pub fn map(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    Ok(MapAnswer { change: check::class(ws), ..all(ws)? })
}

fn all(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    ws.sound_registry()?;
    let mut by_intent = ByIntent::clone(&produced_by_all(ws));
    let mut files = |id: &str| -> Vec<MappedFile> {
        let files = by_intent.remove(id).unwrap_or_default().into_iter();
        let sorted = |(path, mut blocks): (RelativePath, Vec<MappedBlock>)| {
            blocks.sort();
            MappedFile { path, blocks }
        };
        files.map(sorted).collect()
    };
    let registered = ws.registry.intents().iter();
    let mut intents: Vec<MappedIntent> =
        registered.map(|intent| mapped(ws, &intent.id.value, files(&intent.id.value))).collect();
    let others: Vec<String> = by_intent.keys().cloned().collect();
    for id in others {
        let files = by_intent.remove(&id).unwrap_or_default().into_iter();
        let files = files.map(|(path, blocks)| MappedFile { path, blocks }).collect();
        intents.push(mapped(ws, &id, files));
    }
    let notes = Vec::from_iter(ws.unread_evidence());
    Ok(MapAnswer { intents, written: None, change: None, notes })
}

fn mapped(ws: &Workspace, id: &str, files: Vec<MappedFile>) -> MappedIntent {
    let brief = why::brief(ws, id);
    MappedIntent { id: brief.id, name: brief.name, status: brief.status, files }
}

/// The workspace that the map describes. If commits carry the map, that is what the next commit will hold, so that it
/// is right for everybody.
fn source(ws: &Workspace) -> Result<Workspace, VerbError> {
    match (ws.policy.map, ws.git()) {
        (Map::Committed, Some(_)) => Ok(ws.at_index_alone()?),
        _ => Ok(ws.clone()),
    }
}

/// The text that [`write()`] would write.
pub fn text(ws: &Workspace) -> Result<String, VerbError> {
    Ok(markdown(&all(&source(ws)?)?))
}

/// Writes `intent_map.md` and answers the map.
pub(crate) fn write(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    ws.governed()?;
    let answer = map(&source(ws)?)?;
    let path = path();
    store::write_atomic(&ws.root.absolute(&path), markdown(&answer).as_bytes())?;
    Ok(MapAnswer { written: Some(path.to_string()), ..answer })
}

/// Writes the map for the next commit and returns its path. `None` unless the policy says `map: committed`.
pub(crate) fn write_for_commit(ws: &Workspace) -> Result<Option<RelativePath>, VerbError> {
    if ws.policy.map != Map::Committed {
        return Ok(None);
    }
    let path = path();
    store::write_atomic(&ws.root.absolute(&path), text(ws)?.as_bytes())?;
    Ok(Some(path))
}

/// Where the map is written.
pub(crate) fn path() -> RelativePath {
    RelativePath::new(".orchestration/intent_map.md").expect("a fixed name is a path")
}

/// The map as Markdown: for each intent its files, and in each the top-level definitions.
pub(crate) fn markdown(answer: &MapAnswer) -> String {
    let shown = answer.intents.iter().map(|intent| {
        let files = intent.files.iter().map(|file| {
            let names = file.blocks.iter().filter_map(|block| block.definition.clone());
            (file.path.clone(), names.collect())
        });
        (intent.id.clone(), files.collect())
    });
    let brief = answer.intents.iter().map(|intent| IntentBrief {
        id: intent.id.clone(),
        name: intent.name.clone(),
        status: intent.status.clone(),
        version: None,
        now_called: None,
    });
    render(&answer.notes, &brief.collect::<Vec<_>>(), &shown.collect())
}
