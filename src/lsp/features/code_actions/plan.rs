//! Plans of edits, and the computation of the edits.

use serde::{Deserialize, Serialize};
use tower_lsp::gen_lsp_types as lsp;

use crate::code::Document;
use crate::edits::TextEdit;
use crate::intent::{IntentEntry, RegistryEdit, Status, UsedIds, edit};
use crate::lsp::features::mention::ShownRegistry;
use crate::lsp::features::workspace_edit::{FileEdits, Note, workspace_edit};
use crate::lsp::snapshot::Snapshot;
use crate::lsp::{analysis, convert};
use crate::workspace::{Fix, RelativePath};

/// A plan for an edit. It is sent to the client and comes back when its action is chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Plan {
    /// Adds an entry to an intent's scope.
    Widen { id: String, entry: String },
    /// Sets the status of an intent.
    SetStatus { id: String, status: Status },
    /// Adds an intent whose scope is this file, or empty.
    Create { entry: Option<String> },
    /// Restores the block with this index from the commit.
    PutBack { block: usize },
    /// Applies these edits to the open file. They are already computed.
    Fix { edits: Vec<FixEdit> },
}

/// A replacement of bytes in the open file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FixEdit {
    start: usize,
    end: usize,
    text: String,
}

/// The plan of an action that was sent to the client.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfferedPlan {
    /// The document in which the action was offered.
    pub(super) uri: lsp::Uri,
    /// The version of the document at that time.
    pub(super) version: i32,
    pub(super) plan: Plan,
}

type EditResult = Result<lsp::WorkspaceEdit, String>;

impl Plan {
    /// Returns the plan for a finding's fix.
    pub(super) fn fix(fix: &Fix) -> Self {
        Self::edits(&fix.edits)
    }

    /// Returns a plan for edits of the open file.
    pub(super) fn edits(edits: &[TextEdit]) -> Self {
        let edit = |it: &TextEdit| FixEdit {
            start: it.range.start,
            end: it.range.end,
            text: it.text.clone(),
        };
        Self::Fix { edits: edits.iter().map(edit).collect() }
    }

    /// Returns true if the edit is expensive, so that it is computed only when the action is
    /// chosen.
    pub(super) fn can_wait(&self) -> bool {
        !matches!(self, Self::Fix { .. })
    }

    /// Computes the edit. The error says why it is not possible.
    pub(super) fn edit(&self, snapshot: &Snapshot, uri: &lsp::Uri) -> EditResult {
        match self {
            Self::Widen { id, entry } => {
                let wanted = RegistryEdit::AddScope { id: id.clone(), entry: entry.clone() };
                let note = Note {
                    label: format!("Widen the scope of {id}"),
                    description: format!(
                        "Whoever works under {id} may then change {entry}. It counts once the file is saved."
                    ),
                };
                registry(snapshot, uri, &wanted, note)
            }
            Self::SetStatus { id, status } => {
                let wanted = RegistryEdit::SetStatus { id: id.clone(), status: *status };
                let label = format!("Set the status of {id} to {}", status.as_str());
                registry(snapshot, uri, &wanted, of_registry(label))
            }
            Self::Create { entry } => create(snapshot, uri, entry.as_deref()),
            Self::PutBack { block } => put_back(snapshot, uri, *block),
            Self::Fix { edits } => fix(snapshot, uri, edits),
        }
    }
}

fn create(snapshot: &Snapshot, uri: &lsp::Uri, entry: Option<&str>) -> EditResult {
    let (_, workspace, _) = analysis::governed(snapshot, uri).ok_or(GONE)?;
    let shown = ShownRegistry::of(snapshot, workspace).ok_or(NO_REGISTRY)?;
    let used = workspace.git().map(|git| UsedIds::of(git, shown.registry.path()));
    let id = edit::next_id(&shown.registry, &used.unwrap_or_default().ids());
    let note = of_registry(format!("Create {id}"));
    let new = IntentEntry {
        id,
        name: "New intent".into(),
        owned_scope: entry.map(str::to_owned).into_iter().collect(),
        ..IntentEntry::default()
    };
    registry(snapshot, uri, &RegistryEdit::Add(new), note)
}

/// Returns the note for an edit that permits nothing by itself.
fn of_registry(label: String) -> Note {
    let description = "It counts once the file is saved.".to_owned();
    Note { label, description }
}

const GONE: &str = "the document is no longer open, or its workspace is not known";
const NO_REGISTRY: &str = "there is no registry; create one with `intent init`";

/// Computes an edit of the registry as the editor shows it, unsaved text included.
fn registry(snapshot: &Snapshot, uri: &lsp::Uri, wanted: &RegistryEdit, note: Note) -> EditResult {
    let (_, workspace, _) = analysis::governed(snapshot, uri).ok_or(GONE)?;
    let shown = ShownRegistry::of(snapshot, workspace).ok_or(NO_REGISTRY)?;
    let listed = (!snapshot.client.create_files).then(|| shown.registry.without_folder());
    let planned = edit::plan(listed.as_ref().unwrap_or(&shown.registry), wanted)
        .map_err(|error| error.to_string())?;
    let Some(file) = shown.file(&planned.path) else {
        let uri = analysis::address(snapshot, workspace, &planned.path).ok_or(NO_REGISTRY)?;
        return Ok(new_file(snapshot, uri, planned.text, note));
    };
    let version = snapshot.document(&file.uri).map(|open| open.version);
    let edits = text_edits(snapshot, &file.document, &planned.edits);
    let file = FileEdits { uri: file.uri.clone(), version, edits };
    Ok(workspace_edit(&snapshot.client, file, note))
}

/// Returns an edit that creates a file with this text. Only for clients that can create files.
fn new_file(snapshot: &Snapshot, uri: lsp::Uri, text: String, note: Note) -> lsp::WorkspaceEdit {
    let create = lsp::CreateFile { uri: uri.clone(), options: None, annotation_id: None };
    let edits = vec![lsp::TextEdit { range: lsp::Range::default(), new_text: text }];
    let mut edit = workspace_edit(&snapshot.client, FileEdits { uri, version: None, edits }, note);
    edit.document_changes.iter_mut().for_each(|changes| changes.insert(0, create.clone().into()));
    edit
}

fn text_edits(snapshot: &Snapshot, document: &Document, edits: &[TextEdit]) -> Vec<lsp::TextEdit> {
    let edit = |it: &TextEdit| lsp::TextEdit {
        range: convert::range(document, it.range.clone(), snapshot.encoding),
        new_text: it.text.clone(),
    };
    edits.iter().map(edit).collect()
}

fn fix(snapshot: &Snapshot, uri: &lsp::Uri, edits: &[FixEdit]) -> EditResult {
    let open = snapshot.document(uri).ok_or(GONE)?;
    let edit = |it: &FixEdit| TextEdit { range: it.start..it.end, text: it.text.clone() };
    let edits: Vec<TextEdit> = edits.iter().map(edit).collect();
    let edits = text_edits(snapshot, &open.document, &edits);
    let file = FileEdits { uri: uri.clone(), version: Some(open.version), edits };
    Ok(workspace_edit(&snapshot.client, file, of_registry("Mend the text".to_owned())))
}

fn put_back(snapshot: &Snapshot, uri: &lsp::Uri, block: usize) -> EditResult {
    let (open, workspace, path) = analysis::governed(snapshot, uri).ok_or(GONE)?;
    let blocks = open.document.blocks();
    let block = blocks.blocks.get(block).ok_or(GONE)?;
    let before = before(workspace, &path, block)?;
    let now = open.document.slice(block.bytes.clone()).unwrap_or_default();
    let text = with_line_ends_of(&now, before);
    let edit = TextEdit { range: block.bytes.clone(), text };
    let edits = text_edits(snapshot, &open.document, &[edit]);
    let file = FileEdits { uri: uri.clone(), version: Some(open.version), edits };
    let note = Note {
        label: format!("Put {} back as it was", block.identity.path),
        description: "The block as it is in the commit that the work is based on.".to_owned(),
    };
    Ok(workspace_edit(&snapshot.client, file, note))
}

/// Returns the block's text in the commit that the work is based on.
fn before(
    workspace: &crate::verbs::Workspace,
    path: &RelativePath,
    block: &crate::code::Block,
) -> Result<String, String> {
    let commit = workspace.head().ok_or("there is no commit to put it back from")?;
    let document = workspace.read_at(commit, path).map_err(|error| error.to_string())?;
    let document = document.ok_or_else(|| format!("{path} is not in the commit"))?;
    let blocks = document.blocks();
    let old = blocks.blocks.iter().find(|old| old.identity == block.identity);
    let text = old.and_then(|old| document.slice(old.bytes.clone()));
    text.ok_or_else(|| format!("{} is not in the commit", block.identity.path))
}

/// Converts line ends to those of the present text. Git stores the line ends of the commit, and
/// those of the work tree may differ.
fn with_line_ends_of(now: &str, before: String) -> String {
    match (now.contains("\r\n"), before.contains("\r\n")) {
        (true, false) => before.replace('\n', "\r\n"),
        (false, true) if now.contains('\n') => before.replace("\r\n", "\n"),
        _ => before,
    }
}
