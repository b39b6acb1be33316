//! Edits of files as the client can take them: versioned or not, annotated or not.

use std::collections::HashMap;

use tower_lsp::gen_lsp_types as lsp;

use crate::lsp::capabilities::Capabilities;

/// The edits of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEdits {
    /// The file.
    pub(crate) uri: lsp::Uri,
    /// The state of the text that the ranges are of; `None` for a file that is not open.
    pub(crate) version: Option<i32>,
    /// What changes.
    pub(crate) edits: Vec<lsp::TextEdit>,
}

/// What a person is told before the edits are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// A few words.
    pub(crate) label: String,
    /// A sentence.
    pub(crate) description: String,
}

/// The edits of one file, each with the note.
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

/// The edits of one file, each with the annotation it belongs to.
pub(super) struct AnnotatedFile {
    /// The file.
    pub(super) uri: lsp::Uri,
    /// See [`FileEdits::version`].
    pub(super) version: Option<i32>,
    /// What changes, and the annotation's id.
    pub(super) edits: Vec<(lsp::TextEdit, Option<&'static str>)>,
}

/// The edits in the richest form that the client understands.
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
