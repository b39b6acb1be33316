//! Collects edits of several files, each with its reason, for one `WorkspaceEdit`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use tower_lsp::gen_lsp_types as lsp;

use super::workspace_edit::{AnnotatedFile, assemble};
use crate::code::Document;
use crate::lsp::convert;
use crate::lsp::snapshot::Snapshot;

/// Why a piece of text is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditReason {
    /// The text defines the thing that is renamed.
    Definition,
    /// The text is a word equal to the old name. A person should confirm the edit.
    Mention,
}

impl EditReason {
    fn id(self) -> &'static str {
        match self {
            EditReason::Definition => "definition",
            EditReason::Mention => "mention",
        }
    }
}

/// The edits collected so far, by document.
pub(crate) struct EditsByDocument<'a> {
    snapshot: &'a Snapshot,
    files: BTreeMap<String, (lsp::Uri, Vec<(lsp::TextEdit, EditReason)>)>,
}

impl<'a> EditsByDocument<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, files: BTreeMap::new() }
    }

    /// Adds an edit that replaces bytes of a document.
    pub(crate) fn add(
        &mut self,
        uri: &lsp::Uri,
        document: &Document,
        bytes: Range<usize>,
        text: &str,
        why: EditReason,
    ) {
        let range = convert::range(document, bytes, self.snapshot.encoding);
        let edit = lsp::TextEdit { range, new_text: text.to_owned() };
        let (_, edits) =
            self.files.entry(uri.to_string()).or_insert_with(|| (uri.clone(), Vec::new()));
        edits.push((edit, why));
    }

    /// Returns all edits in a form that the client understands.
    pub(crate) fn finish(self, label: &str) -> lsp::WorkspaceEdit {
        let snapshot = self.snapshot;
        let files = self.files.into_values().map(|(uri, edits)| AnnotatedFile {
            version: snapshot.document(&uri).map(|open| open.version),
            uri,
            edits: edits.into_iter().map(|(edit, why)| (edit, Some(why.id()))).collect(),
        });
        assemble(&snapshot.client, files, Some(annotations(label)))
    }
}

fn annotations(label: &str) -> HashMap<String, lsp::ChangeAnnotation> {
    let annotation = |why: EditReason, description: &str| {
        let annotation = lsp::ChangeAnnotation {
            label: label.to_owned(),
            needs_confirmation: Some(why == EditReason::Mention),
            description: Some(description.to_owned()),
        };
        (why.id().to_owned(), annotation)
    };
    HashMap::from([
        annotation(EditReason::Definition, "In the registry; the ledger keeps what was recorded"),
        annotation(EditReason::Mention, "Words in texts that name it"),
    ])
}
