//! Collects edits of files, each with its annotation, and builds one `WorkspaceEdit` of them in the
//! richest form that the client understands: with versions or without, with annotations or without.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use tower_lsp::lsp_types as lsp;

use crate::snapshot::Snapshot;
use code::Document;

pub(crate) struct AnnotatedEdits<'a> {
    snapshot: &'a Snapshot,
    files: BTreeMap<lsp::Url, Vec<lsp::AnnotatedTextEdit>>,
    annotations: HashMap<String, lsp::ChangeAnnotation>,
}

impl<'a> AnnotatedEdits<'a> {
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        annotations: impl IntoIterator<Item = (&'static str, lsp::ChangeAnnotation)>,
    ) -> Self {
        let annotations = annotations.into_iter().map(|(id, note)| (id.to_owned(), note));
        Self { snapshot, files: BTreeMap::new(), annotations: annotations.collect() }
    }

    pub(crate) fn edits_of(&mut self, uri: &lsp::Url) -> &mut Vec<lsp::AnnotatedTextEdit> {
        self.files.entry(uri.clone()).or_default()
    }

    /// Adds an edit that replaces bytes of a document. In an open notebook, the edit is one of the
    /// cell that shows these bytes; there is none if no cell does.
    pub(crate) fn add_edit(
        &mut self,
        uri: &lsp::Url,
        document: &Document,
        bytes: Range<usize>,
        text: &str,
        annotation: &str,
    ) {
        let snapshot = self.snapshot;
        let mut cells = snapshot.cells_of(uri).peekable();
        let (mut uri, mut document, mut bytes) = (uri, document, bytes);
        if cells.peek().is_some() {
            let Some(cell) = cells.find(|cell| cell.holds(&bytes)) else { return };
            (uri, document, bytes) = (&cell.open.uri, &cell.open.document, cell.in_cell(&bytes));
        }
        let range = crate::convert::range(document, bytes, snapshot.encoding);
        let text_edit = lsp::TextEdit { range, new_text: text.to_owned() };
        let annotation_id = annotation.to_owned();
        self.edits_of(uri).push(lsp::AnnotatedTextEdit { annotation_id, text_edit });
    }

    /// Returns all edits in a form that the client understands, with an operation on a file before
    /// them and one after them. A client without versioned edits gets no operations.
    pub(crate) fn finish_with(
        self,
        before: Option<lsp::ResourceOp>,
        after: Option<lsp::ResourceOp>,
    ) -> lsp::WorkspaceEdit {
        let Self { snapshot, files, annotations } = self;
        let plain = |edits: Vec<lsp::AnnotatedTextEdit>| edits.into_iter().map(|it| it.text_edit);
        if !snapshot.client.document_changes {
            let changes = files.into_iter().map(|(uri, edits)| (uri, plain(edits).collect()));
            return lsp::WorkspaceEdit { changes: Some(changes.collect()), ..Default::default() };
        }
        let is_annotated = snapshot.client.change_annotations;
        let changes = files.into_iter().map(|(uri, edits)| {
            let text_document = lsp::OptionalVersionedTextDocumentIdentifier {
                version: snapshot.version_of(&uri),
                uri,
            };
            let edits = match is_annotated {
                true => edits.into_iter().map(lsp::OneOf::Right).collect(),
                false => plain(edits).map(lsp::OneOf::Left).collect(),
            };
            lsp::DocumentChangeOperation::Edit(lsp::TextDocumentEdit { text_document, edits })
        });
        let operation = lsp::DocumentChangeOperation::Op;
        let changes = before.map(operation).into_iter().chain(changes).chain(after.map(operation));
        lsp::WorkspaceEdit {
            document_changes: Some(lsp::DocumentChanges::Operations(changes.collect())),
            change_annotations: is_annotated.then_some(annotations),
            ..Default::default()
        }
    }
}
