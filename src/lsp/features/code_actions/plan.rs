//! Plans of edits, and the computation of the edits.

use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types as lsp;

use crate::features::mention::ShownRegistry;
use crate::features::workspace_edit::AnnotatedEdits;
use crate::workspace_view::{GovernedFile, WorkspaceView};
use code::{Block, Document, Identity};
use edits::TextEdit;
use ground::Hint;
use intents::dialect::Field;
use intents::reserved_ids;
use intents::{IntentEntry, RegistryEdit, Status, edit};

pub(super) const GONE: &str = "the document is no longer open, or its workspace is not known";
const NO_REGISTRY: &str = "there is no registry; create one with `intent setup init`";

/// A plan for an edit. It is sent to the client and comes back when its action is chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Plan {
    /// Adds an entry to the scope of an intent.
    Widen { id: String, entry: String },
    /// Writes another status of an intent.
    SetStatus { id: String, status: Status },
    /// Adds an intent whose scope is this entry, or empty.
    Create { entry: Option<String> },
    /// Restores this block from the commit.
    PutBack { block: Identity },
    /// Applies these edits to the open file. They are already computed, so they are sent at once.
    #[serde(skip)]
    Fix(Vec<TextEdit>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfferedPlan {
    pub(super) uri: lsp::Url,
    pub(super) version: i32,
    pub(super) plan: Plan,
}

type EditResult = Result<lsp::WorkspaceEdit, String>;

impl Plan {
    /// Returns true if the edit is expensive, so that it is computed only when the action is
    /// chosen.
    pub(super) fn can_wait(&self) -> bool {
        !matches!(self, Self::Fix(_))
    }

    pub(super) fn edit(&self, file: &GovernedFile<'_>) -> EditResult {
        match self {
            Self::Widen { id, entry } => {
                let wanted = RegistryEdit::AddEntry {
                    id: id.clone(),
                    field: Field::Scope,
                    entry: entry.clone(),
                };
                let note = note(
                    format!("Widen the scope of {id}"),
                    format!(
                        "Whoever works under {id} may then change {entry}. It counts once the file is saved."
                    ),
                );
                registry(file.view, &wanted, note)
            }
            Self::SetStatus { id, status } => {
                let wanted = RegistryEdit::SetStatus { id: id.clone(), status: *status };
                let label = format!("Set the status of {id} to {}", status.as_str());
                registry(file.view, &wanted, of_registry(label))
            }
            Self::Create { entry } => create(file.view, entry.as_deref()),
            Self::PutBack { block } => put_back(file, block),
            Self::Fix(edits) => Ok(in_file(file, edits, of_registry("Mend the text".to_owned()))),
        }
    }
}

fn create(view: WorkspaceView<'_>, entry: Option<&str>) -> EditResult {
    let shown = ShownRegistry::existing(view).ok_or(NO_REGISTRY)?;
    let workspace = view.workspace;
    let id = reserved_ids::reserve_for_offer(&workspace.root, workspace.git(), &shown.registry)
        .map_err(|error| error.with_hint())?;
    let note = of_registry(format!("Create {id}"));
    let new = IntentEntry {
        id,
        name: "New intent".into(),
        owned_scope: entry.map(str::to_owned).into_iter().collect(),
        ..IntentEntry::default()
    };
    registry(view, &RegistryEdit::Add(new), note)
}

fn note(label: String, description: String) -> lsp::ChangeAnnotation {
    let (needs_confirmation, description) = (Some(false), Some(description));
    lsp::ChangeAnnotation { label, needs_confirmation, description }
}

/// Returns the note for an edit that permits nothing by itself.
fn of_registry(label: String) -> lsp::ChangeAnnotation {
    note(label, "It counts once the file is saved.".to_owned())
}

/// Computes an edit of the registry as the editor shows it, unsaved text included.
fn registry(
    view: WorkspaceView<'_>,
    wanted: &RegistryEdit,
    note: lsp::ChangeAnnotation,
) -> EditResult {
    let shown = ShownRegistry::existing(view).ok_or(NO_REGISTRY)?;
    let creates_files = view.snapshot.client.create_files;
    let listed = (!creates_files).then(|| shown.registry.without_folder());
    let planned = edit::plan(listed.as_ref().unwrap_or(&shown.registry), wanted)
        .map_err(|error| error.with_hint())?;
    if let Some(file) = shown.file(&planned.path) {
        let edits = annotated_edits(view, &file.uri, &file.document, &planned.edits, note);
        return Ok(edits.finish_with(None, None));
    }
    // Only clients that can create files get here.
    let uri = view.address(&planned.path).ok_or(NO_REGISTRY)?;
    let whole = TextEdit { range: 0..0, text: planned.text };
    let empty = Document::from_text(planned.path.as_str(), "");
    let edits = annotated_edits(view, &uri, &empty, &[whole], note);
    let create = lsp::CreateFile { uri, options: None, annotation_id: None };
    Ok(edits.finish_with(Some(lsp::ResourceOp::Create(create)), None))
}

fn in_file(
    file: &GovernedFile<'_>,
    edits: &[TextEdit],
    note: lsp::ChangeAnnotation,
) -> lsp::WorkspaceEdit {
    let open = file.open;
    annotated_edits(file.view, &open.uri, &open.document, edits, note).finish_with(None, None)
}

fn annotated_edits<'a>(
    view: WorkspaceView<'a>,
    uri: &lsp::Url,
    document: &Document,
    edits: &[TextEdit],
    note: lsp::ChangeAnnotation,
) -> AnnotatedEdits<'a> {
    const NOTE: &str = "intent";
    let mut annotated = AnnotatedEdits::new(view.snapshot, [(NOTE, note)]);
    annotated.edits_of(uri);
    for edit in edits {
        annotated.add_edit(uri, document, edit.range.clone(), &edit.text, NOTE);
    }
    annotated
}

fn put_back(file: &GovernedFile<'_>, block: &Identity) -> EditResult {
    let blocks = file.open.document.blocks();
    let block_now = blocks.blocks.iter().find(|one| one.identity == *block);
    let block = block_now.ok_or_else(|| format!("{} is no longer in the document", block.path))?;
    let before = text_before(file, block)?;
    let now = file.open.document.slice(block.bytes.clone()).unwrap_or_default();
    let edit = TextEdit { range: block.bytes.clone(), text: with_line_ends_of(&now, before) };
    let note = note(
        format!("Put {} back as it was", block.identity.path),
        "The block as it is in the commit that the work is based on.".to_owned(),
    );
    Ok(in_file(file, &[edit], note))
}

fn text_before(file: &GovernedFile<'_>, block: &Block) -> Result<String, String> {
    let (workspace, path) = (file.view.workspace, &file.path);
    let commit = workspace.head().ok_or("there is no commit to put it back from")?;
    let document = workspace.read_at(commit, path).map_err(|error| error.with_hint())?;
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
