//! *Map*: which intent has produced which blocks, as data and as `intent_map.md`.
//!
//! The map is generated and never read back. Its order is stable (intents as in
//! the registry, files and blocks by name) and it holds no time and no line
//! number, so that two branches' maps merge well.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::classes::ClassAnswer;
use super::workspace::AT_ONCE;
use super::{VerbError, Workspace, check};
use crate::ledger::ClaimRef;
use crate::workspace::{RelativePath, store, text};

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
    /// What the block was when it was last recorded.
    pub content_hash: String,
}

/// The blocks that an intent is the last word on, by file.
pub fn produced(ws: &Workspace, intent: &str) -> Vec<(RelativePath, Vec<ClaimRef>)> {
    let ids = ws.registry.ids(intent);
    let mut paths = BTreeSet::new();
    for claims in ws.claims_of(intent).chunks(AT_ONCE) {
        let ledger = ws.ledger.forgetful();
        paths.extend(claims.iter().map(|at| ledger.claim(*at).file.relative_path.clone()));
    }
    let mut files = Vec::new();
    for paths in Vec::from_iter(paths).chunks(AT_ONCE) {
        let ws = &ws.forgetful();
        let of_intent =
            |at: &ClaimRef| ws.ledger.claim(*at).intent().is_some_and(|id| ids.contains(&id));
        for path in paths {
            let mut blocks = ws.trail(path).heads();
            blocks.retain(of_intent);
            if !blocks.is_empty() {
                files.push((path.clone(), blocks));
            }
        }
    }
    files
}

/// The map as data.
pub fn map(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    ws.sound_registry()?;
    // Looked up once for each id, not for each block.
    let recorded = ws.ledger.intents();
    let called = recorded.iter().map(|id| (id.as_str(), ws.registry.present_id(id))).collect();
    let mut by_intent: BTreeMap<String, Vec<MappedFile>> = BTreeMap::new();
    for paths in ws.ledger.paths().chunks(AT_ONCE) {
        let ws = &ws.forgetful();
        for path in paths {
            for (intent, mut blocks) in last_words(&called, ws, path) {
                blocks.sort();
                let file = MappedFile { path: (*path).clone(), blocks };
                by_intent.entry(intent).or_default().push(file);
            }
        }
    }
    let mut intents: Vec<MappedIntent> = ws
        .registry
        .intents()
        .iter()
        .map(|intent| {
            mapped(ws, &intent.id.value, by_intent.remove(&intent.id.value).unwrap_or_default())
        })
        .collect();
    intents.extend(by_intent.into_iter().map(|(id, files)| mapped(ws, &id, files)));
    Ok(MapAnswer { intents, written: None, change: check::class(ws) })
}

/// The blocks of a file that stand last in the ledger, by intent; `called` says what each is called now.
fn last_words(
    called: &HashMap<&str, &str>,
    ws: &Workspace,
    path: &RelativePath,
) -> BTreeMap<String, Vec<MappedBlock>> {
    let mut found: BTreeMap<String, Vec<MappedBlock>> = BTreeMap::new();
    for at in ws.trail(path).heads() {
        let claim = ws.ledger.claim(at);
        if let (Some(intent), Some(name)) = (claim.intent(), &claim.range().block) {
            let intent = called.get(intent).map_or(intent, |id| *id);
            found.entry(intent.to_owned()).or_default().push(MappedBlock {
                kind: name.kind.clone(),
                name: name.path.clone(),
                content_hash: claim.range().content_hash.to_string(),
            });
        }
    }
    found
}

fn mapped(ws: &Workspace, id: &str, files: Vec<MappedFile>) -> MappedIntent {
    let brief = super::why::brief(ws, id);
    MappedIntent { id: brief.id, name: brief.name, status: brief.status, files }
}

/// Writes `intent_map.md` and answers the map.
pub fn write(ws: &Workspace) -> Result<MapAnswer, VerbError> {
    ws.governed()?;
    let mut answer = map(ws)?;
    store::write_atomic(
        &ws.root.orchestration().join("intent_map.md"),
        markdown(&answer).as_bytes(),
    )?;
    answer.written = Some(".orchestration/intent_map.md".to_owned());
    Ok(answer)
}

/// The map as Markdown.
pub fn markdown(answer: &MapAnswer) -> String {
    let mut out = String::from(
        "# Intent map\n\nGenerated by `intent map` from the ledger; edits are lost.\n",
    );
    for intent in &answer.intents {
        let name = intent.name.as_deref().unwrap_or("not in the registry");
        let status = intent.status.as_deref().unwrap_or("no known status");
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n## {} — {} ({status})\n",
            text::markdown(&intent.id),
            text::markdown(name)
        );
        if intent.files.is_empty() {
            out.push_str("\nNothing recorded yet.\n");
        }
        for file in &intent.files {
            let _ = write!(out, "\n- {}\n", text::markdown_code(file.path.as_str()));
            for block in &file.blocks {
                let _ = writeln!(out, "  - {} {}", block.kind, text::markdown_code(&block.name));
            }
        }
    }
    out
}
