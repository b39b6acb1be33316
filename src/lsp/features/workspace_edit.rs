//! Builds the edits of files in a form that the client understands: with versions or without, with
//! annotations or without.

use std::collections::HashMap;

use tower_lsp::gen_lsp_types as lsp;

use crate::lsp::capabilities::Capabilities;

/// The edits of one file, without annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEdits {
    pub(crate) uri: lsp::Uri,
    /// The version of the text to which the ranges refer. `None` for a file that is not open.
    pub(crate) version: Option<i32>,
    pub(crate) edits: Vec<lsp::TextEdit>,
}

/// What a person reads before the edits are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// A title of a few words.
    pub(crate) label: String,
    /// An explanation of one sentence.
    pub(crate) description: String,
}

/// Returns the edits of one file, each annotated with the note.
pub(crate) fn workspace_edit(
    client: &Capabilities,
    file: FileEdits,
    note: Note,
) -> lsp::WorkspaceEdit {
    const NOTE: &str = "intent";
    let annotation = lsp::ChangeAnnotation {
        label: note.label,
        needs_confirmation: Some(false),
        description: Some(note.description),
    };
    let annotations = HashMap::from([(NOTE.to_owned(), annotation)]);
    let edits = file.edits.into_iter().map(|edit| (edit, Some(NOTE))).collect();
    let file = AnnotatedFile { uri: file.uri, version: file.version, edits };
    assemble(client, std::iter::once(file), Some(annotations))
}

/// The edits of one file, each with its annotation.
pub(super) struct AnnotatedFile {
    pub(super) uri: lsp::Uri,
    /// The version of the text to which the ranges refer. `None` for a file that is not open.
    pub(super) version: Option<i32>,
    /// The edits, each with the id of its annotation.
    pub(super) edits: Vec<(lsp::TextEdit, Option<&'static str>)>,
}

/// Returns the edits in the richest form that the client understands.
pub(super) fn assemble(
    client: &Capabilities,
    files: impl Iterator<Item = AnnotatedFile>,
    annotations: Option<HashMap<String, lsp::ChangeAnnotation>>,
) -> lsp::WorkspaceEdit {
    if !client.document_changes {
        let plain = |file: AnnotatedFile| {
            (file.uri, file.edits.into_iter().map(|(edit, _)| edit).collect())
        };
        let changes = Some(files.map(plain).collect());
        return lsp::WorkspaceEdit { changes, ..Default::default() };
    }
    let change_annotations = annotations.filter(|_| client.change_annotations);
    let edit = |(text_edit, annotation): (lsp::TextEdit, Option<&str>)| -> lsp::Edit {
        match annotation.filter(|_| change_annotations.is_some()) {
            None => text_edit.into(),
            Some(id) => lsp::AnnotatedTextEdit { annotation_id: id.to_owned(), text_edit }.into(),
        }
    };
    let changes = files.map(|file| {
        let text_document = lsp::OptionalVersionedTextDocumentIdentifier {
            version: file.version,
            text_document_identifier: lsp::TextDocumentIdentifier { uri: file.uri },
        };
        let edits = file.edits.into_iter().map(edit).collect();
        lsp::TextDocumentEdit { text_document, edits }.into()
    });
    let document_changes = Some(changes.collect());
    lsp::WorkspaceEdit { document_changes, change_annotations, ..Default::default() }
}
