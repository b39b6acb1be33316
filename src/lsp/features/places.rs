//! Finds the places of an intent: its definition in the registry, its blocks, and the words that
//! name it.

use std::collections::BTreeSet;

use tower_lsp::gen_lsp_types as lsp;

use super::mention::{self, ShownRegistry};
use crate::code::Document;
use crate::lsp::analysis::{self, Analysis, DocumentPosition};
use crate::lsp::convert;
use crate::lsp::dispatch::RequestRefusal;
use crate::lsp::snapshot::Snapshot;
use crate::provenance::Verdict;
use crate::verbs::why::{self, FileProvenance};
use crate::verbs::{Workspace, map};
use crate::workspace::RelativePath;

/// The intent that a position refers to.
pub(crate) struct PositionTarget {
    /// The present id of the intent.
    pub(crate) id: String,
    /// The range of the word under the cursor.
    pub(crate) origin: lsp::Range,
}

/// Returns the intent that a position refers to: the id at the position, or the intent of the block
/// whose name is there.
pub(crate) fn target(snapshot: &Snapshot, place: &DocumentPosition<'_>) -> Option<PositionTarget> {
    let (id, bytes) = id_at(place).or_else(|| {
        let analysis = analysis::analyse(snapshot, &place.open.uri)?;
        let (index, block) = analysis.block_at(place.byte)?;
        let on_name = (block.name_bytes.start..=block.name_bytes.end).contains(&place.byte);
        let id = why::intent_of(place.workspace, &analysis.file.provenance[index])?;
        on_name.then(|| (id, block.name_bytes.clone()))
    })?;
    let id = place.workspace.registry.present_id(&id).to_owned();
    Some(PositionTarget {
        id,
        origin: convert::range(&place.open.document, bytes, snapshot.encoding),
    })
}

/// Returns the id at a position. Inside the registry, the id of an intent may have any spelling.
pub(crate) fn id_at(place: &DocumentPosition<'_>) -> Option<(String, std::ops::Range<usize>)> {
    let defined = || {
        mention::is_registry(place.workspace, &place.path).then_some(())?;
        let text = place.open.document.text();
        let file = crate::intent::IntentFile::parse(place.path.clone(), &text);
        let id = file.intents().iter().map(|intent| &intent.id);
        let id = { id }.find(|id| (id.span.start..=id.span.end).contains(&place.byte))?;
        (!id.value.is_empty()).then(|| (id.value.clone(), id.span.clone()))
    };
    defined().or_else(|| mention::at(place))
}

/// Returns the place of an intent's id in the registry, and the range of the whole entry.
pub(crate) fn definition(
    snapshot: &Snapshot,
    workspace: &Workspace,
    id: &str,
) -> Option<(lsp::Location, lsp::Range)> {
    ShownRegistry::of(snapshot, workspace)?.location(id)
}

/// A recorded block at its present place.
pub(crate) struct ProducedBlock {
    /// The place of the block's name.
    pub(crate) location: lsp::Location,
    /// The intent under which the block was recorded.
    pub(crate) intent: Option<String>,
    /// The name with its containers: `AuthMiddleware.verify`.
    pub(crate) name: String,
    pub(crate) kind: crate::code::BlockKind,
    pub(crate) path: RelativePath,
}

/// Returns the blocks of an intent, sorted by file. Open documents are read as the editor shows
/// them, other files from disk.
pub(crate) fn blocks_of_intent(
    snapshot: &Snapshot,
    workspace: &Workspace,
    id: &str,
) -> Result<Vec<ProducedBlock>, RequestRefusal> {
    let id = workspace.registry.present_id(id);
    let paths = map::produced(workspace, id).into_iter().map(|(path, _)| path).collect();
    find_blocks(snapshot, workspace, paths, |block| block.intent.as_deref() == Some(id))
}

/// Returns the recorded blocks whose name fits, sorted by file. Searches the open documents and
/// these files on disk.
pub(crate) fn named(
    snapshot: &Snapshot,
    workspace: &Workspace,
    paths: Vec<RelativePath>,
    fits: impl Fn(&str) -> bool,
) -> Result<Vec<ProducedBlock>, RequestRefusal> {
    find_blocks(snapshot, workspace, paths.into_iter().collect(), |block| fits(&block.name))
}

fn find_blocks(
    snapshot: &Snapshot,
    workspace: &Workspace,
    mut paths: BTreeSet<RelativePath>,
    wanted: impl Fn(&ProducedBlock) -> bool,
) -> Result<Vec<ProducedBlock>, RequestRefusal> {
    let mut found = Vec::new();
    for (uri, analysis) in open_analyses(snapshot, workspace) {
        snapshot.check_cancelled()?;
        paths.remove(&analysis.path);
        let Some(open) = snapshot.document(&uri) else { continue };
        let file = ShownDocument { uri: &uri, path: &analysis.path, document: &open.document };
        add(snapshot, workspace, &file, &analysis.file, &wanted, &mut found);
    }
    for path in paths {
        snapshot.check_cancelled()?;
        let Some(uri) = analysis::address(snapshot, workspace, &path) else { continue };
        // A file that is gone or cannot be read has no place to return.
        let Ok(document) = workspace.read(&path) else { continue };
        let provenance = why::file(workspace, &path, &document);
        let file = ShownDocument { uri: &uri, path: &path, document: &document };
        add(snapshot, workspace, &file, &provenance, &wanted, &mut found);
    }
    let place = |it: &ProducedBlock| (it.path.clone(), it.location.range.start);
    found.sort_by_key(place);
    Ok(found)
}

struct ShownDocument<'a> {
    uri: &'a lsp::Uri,
    path: &'a RelativePath,
    document: &'a Document,
}

fn add(
    snapshot: &Snapshot,
    workspace: &Workspace,
    file: &ShownDocument<'_>,
    known: &FileProvenance,
    wanted: impl Fn(&ProducedBlock) -> bool,
    to: &mut Vec<ProducedBlock>,
) {
    for (block, provenance) in known.blocks.blocks.iter().zip(&known.provenance) {
        if provenance.verdict == Verdict::Unrecorded {
            continue;
        }
        let name = block.name_bytes.clone();
        let range = convert::range(file.document, name, snapshot.encoding);
        let block = ProducedBlock {
            location: lsp::Location { uri: file.uri.clone(), range },
            intent: why::intent_of(workspace, provenance),
            name: block.identity.path.clone(),
            kind: block.identity.kind,
            path: file.path.clone(),
        };
        if wanted(&block) {
            to.push(block);
        }
    }
}

/// Returns the open documents of a workspace with their analyses.
pub(crate) fn open_analyses(
    snapshot: &Snapshot,
    workspace: &Workspace,
) -> Vec<(lsp::Uri, std::sync::Arc<Analysis>)> {
    let governed = |uri: &lsp::Uri| {
        snapshot.workspace_of(uri).is_some_and(|it| it.root.path() == workspace.root.path())
    };
    let open = snapshot.documents().filter(|open| governed(&open.uri));
    open.filter_map(|open| Some((open.uri.clone(), analysis::analyse(snapshot, &open.uri)?)))
        .collect()
}

/// Returns the mentions of an intent in open documents and in the registry, under its present id or
/// a former one.
pub(crate) fn mentions(
    snapshot: &Snapshot,
    workspace: &Workspace,
    id: &str,
) -> Result<Vec<lsp::Location>, RequestRefusal> {
    let mut found = Vec::new();
    let mut documents: Vec<(lsp::Uri, Document)> = open_analyses(snapshot, workspace)
        .into_iter()
        .filter_map(|(uri, _)| Some((uri.clone(), snapshot.document(&uri)?.document.clone())))
        .collect();
    if let Some(shown) = ShownRegistry::of(snapshot, workspace) {
        let open: BTreeSet<lsp::Uri> = documents.iter().map(|(uri, _)| uri.clone()).collect();
        let closed = shown.files().filter(|file| !open.contains(&file.uri));
        documents.extend(closed.map(|file| (file.uri.clone(), file.document.clone())));
    }
    documents.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
    for (uri, document) in documents {
        snapshot.check_cancelled()?;
        let text = document.text();
        let ids = workspace.registry.ids(id);
        found.extend(mention::of_any(&text, &ids).map(|bytes| lsp::Location {
            uri: uri.clone(),
            range: convert::range(&document, bytes, snapshot.encoding),
        }));
    }
    Ok(found)
}
