//! What a request sees of a loaded workspace: its open documents, their analyses and baselines, and
//! the addresses of its files.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp::lsp_types as lsp;

use super::analysis::{Analysis, Recent};
use super::convert;
use super::notebook::CellDocument;
use super::open_document::OpenDocument;
use super::snapshot::Snapshot;
use super::workspace_survey::Survey;
use code::{Document, LineRange};
use ground::{KeyLinks, RelativePath};
use intents::FOLDER;
use why::Workspace;
use why::baseline::FormerFile;

#[derive(Clone, Copy)]
pub(crate) struct WorkspaceView<'a> {
    pub snapshot: &'a Snapshot,
    pub workspace: &'a Workspace,
}

pub(crate) struct GovernedFile<'a> {
    pub view: WorkspaceView<'a>,
    pub open: &'a OpenDocument,
    pub path: RelativePath,
    /// The cell of the document, a notebook, that the request is about. Positions of the client are
    /// then those of the cell.
    pub cell: Option<&'a CellDocument>,
}

pub(crate) struct DocumentPosition<'a> {
    pub file: GovernedFile<'a>,
    pub byte: usize,
}

/// Returns an open document with its workspace and its path in it. `None` if the document is not
/// governed, not open or out of step.
pub(crate) fn governed<'a>(snapshot: &'a Snapshot, uri: &lsp::Url) -> Option<GovernedFile<'a>> {
    located(snapshot, uri).filter(|file| file.view.workspace.root.governed())
}

/// Like [`governed`], also in a repository without `.orchestration/`, where only git's history and
/// intents in other formats are known.
///
/// For a symbolic link, the path is that of its target, because the client shows and writes the
/// text of the target.
pub(crate) fn located<'a>(snapshot: &'a Snapshot, uri: &lsp::Url) -> Option<GovernedFile<'a>> {
    let open = snapshot.document(uri)?;
    let view = snapshot.view(snapshot.workspace_of(uri)?);
    let path = relative(view.workspace, open.path.as_deref()?)?;
    let path = view.workspace.root.resolve(&path).unwrap_or(path);
    Some(GovernedFile { view, open, path, cell: None })
}

/// Like [`located`], also for a cell of a notebook. Only for requests whose answers are about the
/// document itself, or whose edits of the notebook become edits of its cells.
pub(crate) fn shown_file<'a>(snapshot: &'a Snapshot, uri: &lsp::Url) -> Option<GovernedFile<'a>> {
    let cell = snapshot.cell(uri);
    let file = located(snapshot, cell.map_or(uri, |cell| &cell.notebook))?;
    Some(GovernedFile { cell, ..file })
}

/// Returns an absolute path relative to the workspace. `None` if it lies outside.
pub(crate) fn relative(workspace: &Workspace, path: &Path) -> Option<RelativePath> {
    workspace.root.relative(workspace.root.path(), path).ok()
}

impl Snapshot {
    pub(crate) fn view<'a>(&'a self, workspace: &'a Workspace) -> WorkspaceView<'a> {
        WorkspaceView { snapshot: self, workspace }
    }
}

impl<'a> WorkspaceView<'a> {
    /// Returns the client's range for bytes of a document.
    pub(crate) fn range(self, document: &Document, bytes: Range<usize>) -> lsp::Range {
        convert::range(document, bytes, self.snapshot.encoding)
    }

    pub(crate) fn opened(self, path: &RelativePath) -> Option<&'a OpenDocument> {
        let absolute = self.workspace.root.absolute(path);
        let exact = self.snapshot.documents().find(|open| open.path.as_ref() == Some(&absolute));
        exact.or_else(|| {
            // A client that reached the folder through a link uses another path for the same file.
            let named = |open: &&OpenDocument| {
                let file = open.path.as_deref().filter(|file| file.ends_with(path.file_name()));
                file.and_then(|file| relative(self.workspace, file)).as_ref() == Some(path)
            };
            self.snapshot.documents().find(named)
        })
    }

    pub(crate) fn opened_of_registry(
        self,
    ) -> impl Iterator<Item = (RelativePath, &'a OpenDocument)> {
        let registry = &self.workspace.registry;
        self.snapshot.documents().filter_map(move |open| {
            let file = open.path.as_deref()?;
            // Resolving a path is expensive and most documents are code, so the name is compared
            // first.
            let named = file.ends_with(registry.path().file_name())
                || file.parent().is_some_and(|folder| folder.ends_with(FOLDER));
            let path = if named { relative(self.workspace, file)? } else { return None };
            registry.holds(&path).then_some((path, open))
        })
    }

    pub(crate) fn documents(self) -> impl Iterator<Item = GovernedFile<'a>> {
        let files = self.snapshot.documents().filter(move |open| self.governs(open));
        files.filter_map(move |open| located(self.snapshot, &open.uri))
    }

    fn governs(self, open: &OpenDocument) -> bool {
        let governing = self.snapshot.workspace_of(&open.uri);
        governing.is_some_and(|it| it.root.path() == self.workspace.root.path())
    }

    /// Returns the address of a workspace path as the client would write it, so that the client
    /// does not open a file twice.
    pub(crate) fn address(self, path: &RelativePath) -> Option<lsp::Url> {
        if let Some(open) = self.opened(path) {
            return Some(open.uri.clone());
        }
        let root = self.root_as_named();
        let root = root.as_deref().unwrap_or(self.workspace.root.path());
        convert::uri_of(&root.join(path.as_str()))
    }

    /// Returns the root under the name by which the client reached it. `None` if this is the root's
    /// own name.
    fn root_as_named(self) -> Option<PathBuf> {
        let root = self.workspace.root.path();
        let documents = self.snapshot.documents().filter(|open| self.governs(open));
        let mut files = documents.filter_map(|open| open.path.as_deref());
        let first = files.next().filter(|file| !file.starts_with(root))?;
        if files.any(|file| file.starts_with(root)) {
            return None;
        }
        let inside = relative(self.workspace, first)?;
        let depth = inside.as_str().split('/').count();
        let named = first.ancestors().nth(depth)?;
        first.ends_with(inside.as_str()).then(|| named.to_owned())
    }

    pub(crate) fn key_links(self) -> KeyLinks<'a> {
        KeyLinks::new(&self.workspace.policy, self.workspace.git().map(AsRef::as_ref))
    }

    pub(crate) fn survey(self) -> Arc<Survey> {
        self.snapshot.analyses.survey(self.workspace)
    }
}

impl<'a> GovernedFile<'a> {
    pub(crate) fn position(self, at: lsp::Position) -> DocumentPosition<'a> {
        let byte = self.byte(at);
        DocumentPosition { file: self, byte }
    }
    pub(crate) fn range(&self, bytes: Range<usize>) -> lsp::Range {
        let Some(cell) = self.cell else { return self.view.range(&self.open.document, bytes) };
        self.view.range(&cell.open.document, cell.in_cell(&bytes))
    }

    pub(crate) fn byte(&self, at: lsp::Position) -> usize {
        let encoding = self.view.snapshot.encoding;
        match self.cell {
            Some(cell) => {
                cell.source().in_notebook(convert::byte(&cell.open.document, at, encoding))
            }
            None => convert::byte(&self.open.document, at, encoding),
        }
    }

    /// Returns true if bytes of the document are shown where the request asks: always, except in
    /// another cell.
    pub(crate) fn shows(&self, bytes: &Range<usize>) -> bool {
        self.cell.is_none_or(|cell| cell.shows(bytes))
    }

    /// Returns the line of a byte of the document, counted from 1.
    pub(crate) fn line_of(&self, byte: usize) -> u32 {
        self.view.range(&self.open.document, byte..byte).start.line + 1
    }

    pub(crate) fn bytes_of_lines(&self, lines: LineRange) -> Range<usize> {
        let range = convert::range_of_lines(lines);
        let byte = |at| convert::byte(&self.open.document, at, self.view.snapshot.encoding);
        byte(range.start)..byte(range.end)
    }

    /// Returns the bytes of a line, counted from 1. Empty beyond the end.
    pub(crate) fn bytes_of_line(&self, line: u32) -> Range<usize> {
        let start = |line| self.byte(lsp::Position { line, character: 0 });
        let (start, end) = (start(line.saturating_sub(1)), start(line));
        let text = self.open.document.slice(start..end).unwrap_or_default();
        start..start + text.trim_end().len()
    }

    pub(crate) fn is_registry(&self) -> bool {
        self.view.workspace.registry.holds(&self.path)
    }

    pub(crate) fn analyse(&self) -> Arc<Analysis> {
        let Self { view: WorkspaceView { snapshot, workspace }, open, path, .. } = self;
        snapshot.analyses.analyse(workspace, path, open, &snapshot.documents)
    }

    /// Returns the last finished analysis of the document and the edits since.
    ///
    /// The answer needs no computation, while an analysis of the present text takes a parse and a
    /// walk of the file's history. `None` if the present text was not edited from an analysed one,
    /// or if the workspace was loaded again.
    pub(crate) fn recent(&self) -> Option<Recent> {
        let WorkspaceView { snapshot, workspace } = self.view;
        snapshot.analyses.recent(workspace, self.open)
    }

    /// Returns what the file is compared with to find its edits. If git fails, the baseline is
    /// unknown and no edit is judged.
    pub(crate) fn baseline(&self) -> Arc<FormerFile> {
        let Self { view: WorkspaceView { snapshot, workspace }, open, path, .. } = self;
        snapshot.analyses.baseline(workspace, path, &open.document)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;

    #[test]
    fn files_are_named_as_the_client_names_them() {
        let mut editor = Editor::new("//- /src/a.rs\nfn a() {}\n//- /src/b.rs\nfn b() {}\n");
        let inside = RelativePath::new("src/closed.rs").unwrap();
        let plain = editor.snapshot().view(editor.workspace()).address(&inside).unwrap();
        assert_eq!(plain, editor.uri("/src/closed.rs"));
        let link = editor.reopen_through_a_link();
        let named = editor.snapshot().view(editor.workspace()).address(&inside).unwrap();
        assert_eq!(convert::path_of(&named).unwrap(), link.join("src/closed.rs"));
        let b = RelativePath::new("src/b.rs").unwrap();
        let open = editor.snapshot().view(editor.workspace()).address(&b).unwrap();
        assert_eq!(convert::path_of(&open).unwrap(), link.join("src/b.rs"));
    }
}
