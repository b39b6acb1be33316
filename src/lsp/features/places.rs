//! Finds the places of an intent: its definition in the registry, its blocks, and the words that
//! name it.

use std::collections::{BTreeMap, BTreeSet};

use tower_lsp::lsp_types as lsp;

use super::mention::{self, ShownRegistry};
use crate::refusal::RequestResult;
use crate::workspace_view::{DocumentPosition, WorkspaceView};
use code::Document;
use ground::RelativePath;
use provenance::Verdict;
use why::answers::{self, FileProvenance};

/// Returns the intent that a position refers to: the id at the position, or the intent of the block
/// whose name is there. Also returns the range of the id or the name.
pub(crate) fn target(place: &DocumentPosition<'_>) -> Option<(String, lsp::Range)> {
    let workspace = place.file.view.workspace;
    let (id, bytes) = id_at(place).or_else(|| {
        let analysis = place.file.analyse();
        let (index, block) = analysis.block_at(place.byte)?;
        let on_name = (block.name_bytes.start..=block.name_bytes.end).contains(&place.byte);
        let id = answers::intent_of(workspace, &analysis.file.provenance[index])?;
        on_name.then(|| (id, block.name_bytes.clone()))
    })?;
    Some((workspace.registry.present_id(&id).to_owned(), place.file.range(bytes)))
}

/// Returns the id at a position. In the registry, an id may also be a plain word such as `auth`.
pub(crate) fn id_at(place: &DocumentPosition<'_>) -> Option<(String, std::ops::Range<usize>)> {
    let defined = || {
        if !place.file.is_registry() {
            return None;
        }
        let text = place.file.open.document.text();
        let file = intents::IntentFile::parse(place.file.path.clone(), &text);
        let mut ids = file.intents().iter().map(|intent| &intent.id);
        let id = ids.find(|id| (id.span.start..=id.span.end).contains(&place.byte))?;
        (!id.value.is_empty()).then(|| (id.value.clone(), id.span.clone()))
    };
    defined().or_else(|| mention::id_at(place))
}

/// Returns the place of an intent's id in the registry, and the range of the whole entry. For an
/// intent in another format, both are the place of its name.
pub(crate) fn definition(view: WorkspaceView<'_>, id: &str) -> Option<(lsp::Location, lsp::Range)> {
    ShownRegistry::in_view(view).location(id)
}

pub(crate) struct ProducedBlock {
    pub location: lsp::Location,
    pub intent: Option<String>,
    pub name: String,
    pub kind: code::BlockKind,
    pub path: RelativePath,
}

/// Returns the blocks of an intent, in the order of paths and lines. All records are read once to
/// find its files. Open documents are read as the editor shows them, other files from disk.
pub(crate) fn blocks_of_intent(
    view: WorkspaceView<'_>,
    id: &str,
) -> RequestResult<Vec<ProducedBlock>> {
    let id = view.workspace.registry.present_id(id);
    let paths = view.workspace.files_of_intent(id);
    find_blocks(view, paths, |block| block.intent.as_deref() == Some(id))
}

/// Returns the wanted among the recorded blocks of the open documents and of these files on disk, in
/// the order of paths and lines.
pub(crate) fn find_blocks(
    view: WorkspaceView<'_>,
    mut paths: BTreeSet<RelativePath>,
    wanted: impl Fn(&ProducedBlock) -> bool,
) -> RequestResult<Vec<ProducedBlock>> {
    let mut found = Vec::new();
    // Without `.orchestration/` there is no record.
    for file in view.documents().filter(|_| view.workspace.root.governed()) {
        view.snapshot.check_cancelled()?;
        paths.remove(&file.path);
        found.extend(recorded_blocks(view, &file.open.uri, &file.path, &file.analyse().file));
    }
    for path in paths {
        view.snapshot.check_cancelled()?;
        let Some(uri) = view.address(&path) else { continue };
        // A file that is gone or cannot be read has no place to return.
        let Ok(document) = view.workspace.read(&path) else { continue };
        let file = answers::file(view.workspace, &path, &document);
        found.extend(recorded_blocks(view, &uri, &path, &file));
    }
    found.retain(wanted);
    let place = |it: &ProducedBlock| (it.path.clone(), it.location.range.start);
    found.sort_by_key(place);
    Ok(found)
}

fn recorded_blocks(
    view: WorkspaceView<'_>,
    uri: &lsp::Url,
    path: &RelativePath,
    file: &FileProvenance,
) -> Vec<ProducedBlock> {
    let blocks = file.blocks.blocks.iter().zip(&file.provenance);
    let recorded = blocks.filter(|(_, provenance)| provenance.verdict != Verdict::Unrecorded);
    let produced = recorded.map(|(block, provenance)| ProducedBlock {
        location: lsp::Location {
            uri: uri.clone(),
            range: view.range(&file.document, block.name_bytes.clone()),
        },
        intent: answers::intent_of(view.workspace, provenance),
        name: block.identity.path.clone(),
        kind: block.identity.kind,
        path: path.clone(),
    });
    produced.collect()
}

/// Returns the mentions of an intent in open documents and in the registry, under its present id or
/// a former one.
pub(crate) fn mentions(view: WorkspaceView<'_>, id: &str) -> RequestResult<Vec<lsp::Location>> {
    let open = view.documents().map(|file| (file.open.uri.clone(), file.open.document.clone()));
    let mut documents: BTreeMap<lsp::Url, Document> = open.collect();
    for file in ShownRegistry::in_view(view).files() {
        documents.entry(file.uri.clone()).or_insert_with(|| file.document.clone());
    }
    let ids = view.workspace.registry.ids(id);
    let mut found = Vec::new();
    for (uri, document) in documents {
        view.snapshot.check_cancelled()?;
        let place = |bytes| lsp::Location { uri: uri.clone(), range: view.range(&document, bytes) };
        found.extend(mention::of_any(&document.text(), &ids).map(place));
    }
    Ok(found)
}
