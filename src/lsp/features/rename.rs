//! `textDocument/rename`: renames an intent's id in the registry and in every text of the workspace
//! that names it.
//!
//! The ledger is never changed: its records keep the old id, and the registry lists that id among
//! the intent's former ones. Names of blocks are left to the language's own server.

use std::ops::Range;

use tower_lsp::lsp_types as lsp;

use super::mention::{self, ShownRegistry};
use super::places;
use super::workspace_edit::AnnotatedEdits;
use crate::capabilities::Capabilities;
use crate::refusal::{RequestRefusal, RequestResult};
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, DocumentPosition, WorkspaceView};
use code::Document;
use edits::TextEdit;
use ground::{Hint, RelativePath, ignores, store};
use intents::{FOLDER, RegistryEdit, edit, name_after_id};
use ledger::read::is_ledger_path;
use why::Workspace;

const DEFINITION: &str = "definition";

/// The annotation of an edit of a word that is equal to the old id. A person should confirm it.
const MENTION: &str = "mention";

/// Returns the options that are announced. With `prepareRename` the client asks first whether a word
/// can be renamed; without it, it would offer to rename any word.
pub(crate) fn options(client: &Capabilities) -> lsp::OneOf<bool, lsp::RenameOptions> {
    lsp::OneOf::Right(lsp::RenameOptions {
        prepare_provider: client.prepare_rename.then_some(true),
        work_done_progress_options: Default::default(),
    })
}

/// Returns the id that would be renamed. `None` for everything else, so that the editor asks the
/// next server.
pub(crate) fn prepare(
    snapshot: &Snapshot,
    at: lsp::TextDocumentPositionParams,
) -> RequestResult<Option<lsp::PrepareRenameResponse>> {
    let Some((place, id, bytes)) = id_at(snapshot, &at) else { return Ok(None) };
    if is_ledger_path(&place.file.path) {
        let reason = "The ledger is never rewritten; rename the id in the registry.";
        return Err(RequestRefusal::failed(reason));
    }
    require_present_id(place.file.view.workspace, &id)?;
    let range = place.file.range(bytes);
    Ok(Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: id }))
}

/// Returns an error for an id that is not renamed here: one of another format, or a former id. A former id is written only in the list of former
/// ids and in older texts, where it must stay.
fn require_present_id(workspace: &Workspace, id: &str) -> RequestResult<()> {
    if let Some(kept) = workspace.registry.imported_intent(id) {
        let (unit, reason) = (&kept.unit, "its id is the name there");
        return Err(RequestRefusal::Failed(format!("{id} is kept in {unit}; {reason}")));
    }
    match workspace.registry.present_id(id) {
        present if present == id => Ok(()),
        present => Err(RequestRefusal::Failed(format!(
            "{id} was renamed to {present}; rename {present} instead"
        ))),
    }
}

/// Returns the edits of a rename. Runs on a worker, because it reads every text of the workspace.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::RenameParams,
) -> RequestResult<Option<lsp::WorkspaceEdit>> {
    let at = &params.text_document_position;
    let Some((place, from, _)) = id_at(snapshot, at) else { return Ok(None) };
    let to = params.new_name.trim().to_owned();
    let view = place.file.view;
    let shown = ShownRegistry::existing(view).ok_or_else(|| {
        RequestRefusal::failed(format!(
            "{from} is not in the registry; only intents there are renamed."
        ))
    })?;
    let rename = RegistryEdit::Rename { from: from.clone(), to: to.clone() };
    let planned = edit::plan(&shown.registry, &rename)
        .map_err(|error| RequestRefusal::Failed(error.with_hint()))?;
    let mut changes = AnnotatedEdits::new(snapshot, annotations(&from, &to));
    for read in shown.registry.files() {
        let Some(file) = shown.file(read.path()) else { continue };
        // A former id is not a mention of the intent that has this id now.
        let former = read.intents().iter().flat_map(|intent| &intent.formerly);
        let mut spans: Vec<Range<usize>> = former.map(|former| former.span.clone()).collect();
        for TextEdit { range, text } in
            planned.edits.iter().filter(|_| *read.path() == planned.path)
        {
            spans.push(range.clone());
            changes.add_edit(&file.uri, &file.document, range.clone(), text, DEFINITION);
        }
        let elsewhere = |range: &Range<usize>| {
            !spans.iter().any(|span| span.start < range.end && range.start < span.end)
        };
        for range in mention::of_any(read.text(), &[from.as_str()]).filter(elsewhere) {
            changes.add_edit(&file.uri, &file.document, range, &to, MENTION);
        }
    }
    for path in files_to_search(view.workspace, &from) {
        snapshot.check_cancelled()?;
        if let Some((uri, document)) = text_of(view, &path, &from) {
            for range in mention::of_any(&document.text(), &[from.as_str()]) {
                changes.add_edit(&uri, &document, range, &to, MENTION);
            }
        }
    }
    let renamed = renamed_file(view, &planned.path, &from, &to);
    Ok(Some(changes.finish_with(None, renamed.map(lsp::ResourceOp::Rename))))
}

fn id_at<'a>(
    snapshot: &'a Snapshot,
    at: &lsp::TextDocumentPositionParams,
) -> Option<(DocumentPosition<'a>, String, Range<usize>)> {
    let file = workspace_view::shown_file(snapshot, &at.text_document.uri)?;
    let place = file.position(at.position);
    let (id, bytes) = places::id_at(&place)?;
    Some((place, id, bytes))
}

fn annotations(from: &str, to: &str) -> [(&'static str, lsp::ChangeAnnotation); 2] {
    let annotation = |description: &str, needs_confirmation| lsp::ChangeAnnotation {
        label: format!("Rename {from} to {to}"),
        needs_confirmation: Some(needs_confirmation),
        description: Some(description.to_owned()),
    };
    let definition = "In the registry; the ledger keeps what was recorded";
    let mention = "Words in texts that name it";
    [(DEFINITION, annotation(definition, false)), (MENTION, annotation(mention, true))]
}

/// Returns the rename of a file that holds only this intent, since such a file has the name of its
/// intent. If the client cannot rename files, a finding asks for it.
fn renamed_file(
    view: WorkspaceView<'_>,
    path: &RelativePath,
    from: &str,
    to: &str,
) -> Option<lsp::RenameFile> {
    let rest = name_after_id(path, from).filter(|_| view.snapshot.client.rename_files)?;
    let new = RelativePath::new(&format!("{FOLDER}/{to}{rest}.yaml")).ok()?;
    Some(lsp::RenameFile {
        old_uri: view.address(path)?,
        new_uri: view.address(&new)?,
        options: None,
        annotation_id: None,
    })
}

/// Returns the files that may name the intent: those that neither git nor an ignore file excludes,
/// and the person's own selection. The ledger is never included.
fn files_to_search(workspace: &Workspace, id: &str) -> Vec<RelativePath> {
    let mut paths = ignores::walk(&workspace.root);
    paths.retain(|path| {
        !is_ledger_path(path)
            && !workspace.registry.holds(path)
            && workspace.ignores.denied(path).is_none()
    });
    if workspace.selected(None).as_deref() == Some(id) {
        // Git ignores this file, but it names the intent that the person selected.
        let selection = RelativePath::new(".orchestration/active_intent_current.json");
        paths.extend(selection.ok().filter(|path| !paths.contains(path)));
    }
    paths
}

fn text_of(view: WorkspaceView<'_>, path: &RelativePath, id: &str) -> Option<(lsp::Url, Document)> {
    if let Some(open) = view.opened(path) {
        return Some((open.uri.clone(), open.document.clone()));
    }
    let file = view.workspace.root.absolute(path);
    let bytes = store::read_capped(&file, code::document::MAX_BYTES as u64).ok()??;
    let holds = bytes.windows(id.len()).any(|window| window == id.as_bytes());
    let document = holds.then(|| Document::from_bytes(path.as_str(), &bytes).ok()).flatten()?;
    Some((view.address(path)?, document))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::features::fixture::{Editor, REGISTRY, operations};

    fn rename(editor: &Editor, to: &str) -> RequestResult<Option<lsp::WorkspaceEdit>> {
        handle(&editor.snapshot(), editor.ask(json!({ "newName": to })))
    }

    fn fixture() -> String {
        format!(
            "
//- /src/open.rs intent=INT-001
// INT-0$001 asked for this; INT-001-b did not.
fn open() {{}}
//- /docs/closed.md closed
Done under INT-001, see INT-002 and auth.
//- /.orchestration/active_intents.yaml closed
{REGISTRY}# INT-001 comes first.
//- /.gitignore closed
/target/
//- /.intentignore closed
# intent: deny-write
/frozen/
//- /frozen/a.md closed
INT-001
//- /target/x.md closed
INT-001
"
        )
    }

    #[test]
    fn an_id_is_renamed_everywhere_but_in_the_ledger() {
        let editor = Editor::in_git(&fixture());
        let edit = rename(&editor, "AUTH-1").unwrap().unwrap();
        let annotations = edit.change_annotations.clone().unwrap();
        let mut out = String::new();
        for change in operations(edit) {
            let lsp::DocumentChangeOperation::Edit(file) = change else { panic!("{change:?}") };
            for change in &file.edits {
                let lsp::OneOf::Right(change) = change else { panic!("{change:?}") };
                let confirm = annotations[&change.annotation_id].needs_confirmation == Some(true);
                let uri = &file.text_document.uri;
                let shown = editor.show(uri, change.text_edit.range);
                let version = file.text_document.version;
                out += &format!(
                    "{shown} -> {} {version:?} confirm: {confirm}\n",
                    change.text_edit.new_text
                );
            }
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn a_plain_client_gets_plain_edits() {
        let mut editor = Editor::new(&fixture());
        editor.client.document_changes = false;
        editor.client.change_annotations = false;
        let edit = rename(&editor, "AUTH-1").unwrap().unwrap();
        assert!(edit.document_changes.is_none() && edit.change_annotations.is_none());
        assert!(edit.changes.unwrap().contains_key(&editor.uri("/src/open.rs")));
    }

    #[test]
    fn what_cannot_be_renamed_says_why() {
        let editor = Editor::new(&fixture());
        for (to, reason) in [("INT-002", "already"), ("a b", ""), ("", "")] {
            match rename(&editor, to) {
                Err(RequestRefusal::Failed(message)) => {
                    assert!(message.contains(reason), "{message}")
                }
                other => panic!("{to:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn an_id_that_an_intent_had_stays_where_it_stands() {
        let registry = REGISTRY.replace("id: INT-001\n", "id: INT-001\n    formerly: [OLD-1]\n");
        assert!(registry.contains("OLD-1"));
        let editor = Editor::new(&format!(
            "//- /src/a.rs\n// OLD$0-1\n//- /.orchestration/active_intents.yaml closed\n{registry}"
        ));
        let refused = [
            prepare(&editor.snapshot(), editor.ask(json!({}))).map(drop),
            rename(&editor, "NEW-1").map(drop),
        ];
        for refused in refused {
            let Err(RequestRefusal::Failed(message)) = refused else { panic!("{refused:?}") };
            assert!(message.contains("OLD-1 was renamed to INT-001"), "{message}");
        }
    }

    #[test]
    fn names_of_code_are_left_to_the_languages_server() {
        let editor = Editor::new("//- /src/a.rs intent=INT-001\nfn a$0b() {}");
        assert_eq!(prepare(&editor.snapshot(), editor.ask(json!({}))).unwrap(), None);
        assert_eq!(rename(&editor, "x").unwrap(), None);
    }
}
