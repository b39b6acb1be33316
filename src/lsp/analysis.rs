//! Results about the open documents, computed once for each state and shared by all features.
//!
//! The hover, the lenses and the diagnostics of one state of a text match it against the ledger
//! once. The baseline of a file is read from git once for each commit, never at a keystroke.
//! Everything is computed on the lanes when it is first needed.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tower_lsp::gen_lsp_types as lsp;

use super::cache::{Cache, lock};
use super::convert;
use super::recorded_names::RecordedNames;
use super::snapshot::{OpenDocument, Snapshot};
use super::workspace_survey::Survey;
use code::{Block, Document, TextDifference};
use ground::{CommitId, RelativePath};
use intents::{FOLDER, IntentFile, Registry};
use why::answers::{self, FileProvenance};
use why::baseline::{Baseline, FormerFile, commits_of_work};
use why::{LazyLedger, Workspace};

/// One state of an open document, matched against one state of the ledger.
pub struct Analysis {
    /// The document's path in the workspace.
    pub path: RelativePath,
    /// The document's blocks, each with its provenance.
    pub file: FileProvenance,
    ledger: Arc<LazyLedger>,
    took: Duration,
}

impl Analysis {
    /// Returns the innermost block at a byte, with its index. A position just behind a block
    /// belongs to the block if no other block is there.
    pub fn block_at(&self, byte: usize) -> Option<(usize, &Block)> {
        let blocks = &self.file.blocks;
        let before = || byte.checked_sub(1).and_then(|before| blocks.at_byte(before));
        let at = blocks.at_byte(byte).or_else(before)?;
        Some((at, &blocks.blocks[at]))
    }
}

/// A loaded workspace as a request sees it: with the text of the documents that are open.
#[derive(Clone, Copy)]
pub struct WorkspaceView<'a> {
    pub snapshot: &'a Snapshot,
    pub workspace: &'a Workspace,
}

/// An open document of a loaded workspace.
pub struct GovernedFile<'a> {
    /// The workspace that governs the document.
    pub view: WorkspaceView<'a>,
    pub open: &'a OpenDocument,
    /// The document's path in the workspace.
    pub path: RelativePath,
}

/// A position in an open document of a loaded workspace.
pub struct DocumentPosition<'a> {
    pub file: GovernedFile<'a>,
    /// The position as a byte of the document's text.
    pub byte: usize,
}

/// A cache of the analyses of open documents, the baselines of their files, and the surveys of
/// workspaces.
#[derive(Default)]
pub struct Analyses {
    documents: Cache<Arc<str>, Analysis>,
    baselines: Cache<(PathBuf, RelativePath), CachedBaseline>,
    /// The last finished analysis of each document. It is kept outside of the entry, so that nobody
    /// waits for the next analysis to read it.
    judged: Mutex<HashMap<Arc<str>, Arc<Analysis>>>,
    /// By the root of the workspace.
    surveys: Cache<PathBuf, Survey>,
    registries: Mutex<HashMap<Arc<str>, LastRegistry>>,
    /// By the root of the workspace.
    names: Cache<PathBuf, RecordedNames>,
}

/// A text of a registry file, and the byte at which each of its intents begins.
struct LastRegistry {
    text: Arc<str>,
    intents: Vec<(String, usize)>,
}

/// The last analysis of a document, and the edits since.
pub struct Recent {
    /// The analysis of an earlier text, or of the present one.
    pub analysis: Arc<Analysis>,
    /// How the present text differs from the analysed one.
    pub since: TextDifference,
}

/// A block of a [`Recent`] analysis at a place in the present text.
pub struct RecentBlock {
    /// The block's index in the analysis.
    pub index: usize,
    /// True if the block was edited since the analysis, or text was inserted at one of its ends.
    pub edited: bool,
    /// The bytes of the block's name in the present text.
    pub name: Range<usize>,
}

impl Recent {
    /// Returns the block at a byte of the present text. Returns an error if new lines were typed
    /// there, since only a new analysis knows to which block they belong.
    pub fn block_at(
        &self,
        document: &Document,
        byte: usize,
    ) -> Result<Option<RecentBlock>, NewLines> {
        let typed = self.since.new_text_at(byte).and_then(|brought| document.slice(brought));
        if typed.is_some_and(|typed| typed.contains('\n')) {
            return Err(NewLines);
        }
        let Some((index, block)) = self.analysis.block_at(self.since.earlier(byte)) else {
            return Ok(None);
        };
        let edited = self.since.any_touches(&block.whole_bytes());
        Ok(Some(RecentBlock { index, edited, name: self.since.now(&block.name_bytes) }))
    }
}

/// The error for a place in lines that no analysis has seen.
pub struct NewLines;

struct CachedBaseline {
    /// The registry of the load for which this baseline was found. Each load makes a new one, so
    /// comparing the pointers tells whether the entry is current.
    registry: Arc<Registry>,
    commits: Vec<CommitId>,
    before: Arc<FormerFile>,
}

/// Returns an open document with its workspace and its path in it. `None` if the document is not
/// governed, not open or out of step.
///
/// For a symbolic link, the path is that of its target, because the client shows and writes the
/// text of the target.
pub fn governed<'a>(snapshot: &'a Snapshot, uri: &lsp::Uri) -> Option<GovernedFile<'a>> {
    let open = snapshot.document(uri)?;
    let view = snapshot.view(snapshot.workspace_of(uri)?);
    let path = relative(view.workspace, open.path.as_deref()?)?;
    let path = view.workspace.root.resolve(&path).unwrap_or(path);
    Some(GovernedFile { view, open, path })
}

/// Returns the position that a request names, in its document.
pub fn place<'a>(
    snapshot: &'a Snapshot,
    at: &lsp::TextDocumentPositionParams,
) -> Option<DocumentPosition<'a>> {
    let file = governed(snapshot, &at.text_document.uri)?;
    let byte = file.byte(at.position);
    Some(DocumentPosition { file, byte })
}

/// Returns an absolute path relative to the workspace. `None` if it lies outside.
pub fn relative(workspace: &Workspace, path: &Path) -> Option<RelativePath> {
    workspace.root.relative(workspace.root.path(), path).ok()
}

impl<'a> WorkspaceView<'a> {
    /// Returns the client's range for bytes of a document.
    pub fn range(self, document: &Document, bytes: Range<usize>) -> lsp::Range {
        convert::range(document, bytes, self.snapshot.encoding)
    }

    /// Returns the open document of a workspace path, under whatever address the client opened it.
    pub fn opened(self, path: &RelativePath) -> Option<&'a OpenDocument> {
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

    /// Returns the open documents that are files of the registry.
    pub fn opened_of_registry(self) -> impl Iterator<Item = (RelativePath, &'a OpenDocument)> {
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

    /// Returns the open documents that this workspace governs.
    pub fn documents(self) -> impl Iterator<Item = GovernedFile<'a>> {
        let files = self.snapshot.documents().filter(move |open| self.governs(open));
        files.filter_map(move |open| governed(self.snapshot, &open.uri))
    }

    fn governs(self, open: &OpenDocument) -> bool {
        let governing = self.snapshot.workspace_of(&open.uri);
        governing.is_some_and(|it| it.root.path() == self.workspace.root.path())
    }

    /// Returns the address of a workspace path as the client would write it, so that the client
    /// does not open a file twice.
    pub fn address(self, path: &RelativePath) -> Option<lsp::Uri> {
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

    /// Returns the survey of the workspace.
    pub fn survey(self) -> Arc<Survey> {
        let Self { snapshot, workspace } = self;
        let is_current = |known: &Survey| known.is_of(workspace);
        let root = workspace.root.path().to_owned();
        snapshot.analyses.surveys.get(root, is_current, |it| Survey::of(workspace, it))
    }

    /// Returns the names under which blocks of the workspace were recorded.
    pub fn names(self) -> Arc<RecordedNames> {
        let Self { snapshot, workspace } = self;
        let is_current = |known: &RecordedNames| known.is_of(workspace);
        let root = workspace.root.path().to_owned();
        snapshot.analyses.names.get(root, is_current, |_| RecordedNames::of(workspace))
    }
}

impl GovernedFile<'_> {
    /// Returns the client's range for bytes of the document.
    pub fn range(&self, bytes: Range<usize>) -> lsp::Range {
        self.view.range(&self.open.document, bytes)
    }

    /// Returns the byte at a position of the client.
    pub fn byte(&self, at: lsp::Position) -> usize {
        convert::byte(&self.open.document, at, self.view.snapshot.encoding)
    }

    /// Returns true if the document is a file of its workspace's registry.
    pub fn is_registry(&self) -> bool {
        self.view.workspace.registry.holds(&self.path)
    }

    /// Returns the analysis of the document.
    pub fn analyse(&self) -> Arc<Analysis> {
        let Self { view: WorkspaceView { snapshot, workspace }, open, path } = self;
        let blocks = open.document.blocks();
        let is_current = |known: &Analysis| {
            Arc::ptr_eq(&known.file.blocks, &blocks)
                && Arc::ptr_eq(&known.ledger, &workspace.ledger)
        };
        let mut is_first = None;
        let analysis =
            snapshot.analyses.documents.get(Arc::from(open.uri.as_str()), is_current, |earlier| {
                is_first = Some(earlier.is_none());
                let started = Instant::now();
                let file = answers::file(workspace, path, &open.document);
                let (path, ledger) = (path.clone(), Arc::clone(&workspace.ledger));
                Analysis { path, file, ledger, took: started.elapsed() }
            });
        if is_first.is_some() {
            snapshot.analyses.keep(open, &analysis);
        }
        // Only with a document that is new here: the snapshot of a later analysis may be old, and
        // lack documents that were opened since.
        if is_first == Some(true) {
            snapshot.analyses.forget_closed(snapshot);
        }
        analysis
    }

    /// Returns the last finished analysis of the document and the edits since.
    ///
    /// The answer needs no computation, while an analysis of the present text takes a parse and a
    /// comparison with the ledger. `None` if the present text was not edited from an analysed one,
    /// or if the ledger changed.
    pub fn recent(&self) -> Option<Recent> {
        let judged = lock(&self.view.snapshot.analyses.judged);
        let analysis = Arc::clone(judged.get(self.open.uri.as_str())?);
        drop(judged);
        if !Arc::ptr_eq(&analysis.ledger, &self.view.workspace.ledger) {
            return None;
        }
        let since = self.open.document.since(&analysis.file.document)?;
        Some(Recent { analysis, since })
    }

    /// Returns what the file is compared with to find its edits. If git fails, the baseline is
    /// unknown and no edit is judged.
    pub fn baseline(&self) -> Arc<FormerFile> {
        let Self { view: WorkspaceView { snapshot, workspace }, open, path } = self;
        let key = (workspace.root.path().to_owned(), path.clone());
        let is_current = |known: &CachedBaseline| Arc::ptr_eq(&known.registry, &workspace.registry);
        let found = snapshot.analyses.baselines.get(key, is_current, |earlier| {
            let found = commits_of_work(workspace).and_then(|commits| {
                // An empty baseline is computed again, because a file that was deleted since may
                // have been renamed to this one.
                let same = earlier.filter(|it| {
                    it.commits == commits
                        && workspace.git().is_some()
                        && !it.before.baseline.is_empty()
                });
                let before = match same {
                    Some(known) => Arc::clone(&known.before),
                    None => {
                        Arc::new(FormerFile::of_work(workspace, path, &open.document, &commits)?)
                    }
                };
                Ok((commits, before))
            });
            let (commits, before) = found.unwrap_or_else(|error| {
                tracing::warn!(%path, %error, "edits of this file are not judged");
                (Vec::new(), Arc::new(FormerFile { baseline: Baseline::Unknown, from: None }))
            });
            CachedBaseline { registry: Arc::clone(&workspace.registry), commits, before }
        });
        Arc::clone(&found.before)
    }
}

impl Analyses {
    /// Returns the intents of a registry file and the byte at which each begins.
    ///
    /// While somebody types, the text may not parse. The intents are then taken from the text
    /// before, or from the file on disk, if they lie outside of the typed part.
    pub fn intents_of(
        &self,
        uri: &lsp::Uri,
        file: &IntentFile,
        on_disk: Option<&IntentFile>,
    ) -> Vec<(String, usize)> {
        let mut known = lock(&self.registries);
        let intents = match (file.syntax_error(), known.get(uri.as_str()), on_disk) {
            (None, _, _) => LastRegistry::of(file).intents,
            (Some(_), Some(last), _) => last.carried(file.text()),
            (Some(_), None, Some(on_disk)) => LastRegistry::of(on_disk).carried(file.text()),
            (Some(_), None, None) => Vec::new(),
        };
        let last = LastRegistry { text: Arc::clone(file.text()), intents: intents.clone() };
        known.insert(Arc::from(uri.as_str()), last);
        intents
    }

    /// Keeps an analysis if it is the newest: the analysis of an older text may finish later.
    fn keep(&self, open: &OpenDocument, judged: &Arc<Analysis>) {
        let mut known = lock(&self.judged);
        let is_older = known.get(open.uri.as_str()).is_some_and(|known| {
            let newest = &known.file.document;
            Arc::ptr_eq(&known.ledger, &judged.ledger)
                && newest.since(&open.document).is_some_and(|typed| !typed.is_empty())
        });
        if !is_older {
            known.insert(Arc::from(open.uri.as_str()), Arc::clone(judged));
        }
    }

    /// Returns how long the last analysis of a document took.
    pub fn took(&self, uri: &lsp::Uri) -> Duration {
        lock(&self.judged).get(uri.as_str()).map_or(Duration::ZERO, |judged| judged.took)
    }

    fn forget_closed(&self, snapshot: &Snapshot) {
        self.documents.retain(|uri| snapshot.documents.contains_key(uri));
        lock(&self.judged).retain(|uri, _| snapshot.documents.contains_key(uri));
    }
}

impl LastRegistry {
    fn of(file: &IntentFile) -> Self {
        let named = file.intents().iter().filter(|intent| !intent.id.value.is_empty());
        let intents = named.map(|intent| (intent.id.value.clone(), intent.span.start)).collect();
        Self { text: Arc::clone(file.text()), intents }
    }

    fn carried(&self, now: &str) -> Vec<(String, usize)> {
        let same = |(a, b): &(u8, u8)| a == b;
        let (old, new) = (self.text.as_bytes(), now.as_bytes());
        let before = old.iter().copied().zip(new.iter().copied()).take_while(same).count();
        let backwards =
            old[before..].iter().rev().copied().zip(new[before..].iter().rev().copied());
        let after = backwards.take_while(same).count();
        let moved = |(id, start): &(String, usize)| {
            let place = match *start {
                start if start <= before => start,
                start if start >= old.len() - after => start + new.len() - old.len(),
                _ => return None,
            };
            Some((id.clone(), place))
        };
        self.intents.iter().filter_map(moved).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;

    const CODE: &str = "//- /src/a.rs intent=INT-001\nfn a() {}\n//- /src/b.rs\nfn b() {}\n";

    fn matched(editor: &Editor) -> Arc<Analysis> {
        governed(&editor.snapshot(), &editor.uri("/src/a.rs")).unwrap().analyse()
    }

    fn compared(editor: &Editor) -> Arc<FormerFile> {
        governed(&editor.snapshot(), &editor.uri("/src/a.rs")).unwrap().baseline()
    }

    #[test]
    fn each_state_is_matched_once() {
        let mut editor = Editor::new(CODE);
        let first = matched(&editor);
        assert!(Arc::ptr_eq(&first, &matched(&editor)));
        editor.replace("/src/b.rs", "b", "c");
        assert!(Arc::ptr_eq(&first, &matched(&editor)), "another document changed");
        editor.replace("/src/a.rs", "fn a", "fn c");
        let edited = matched(&editor);
        assert!(!Arc::ptr_eq(&first, &edited));
        editor.record("/src/a.rs", "INT-001", "someone");
        let recorded = matched(&editor);
        assert!(!Arc::ptr_eq(&edited, &recorded), "the ledger changed");
        assert_eq!(recorded.file.provenance.len(), 1);
    }

    #[test]
    fn the_newest_analysis_is_kept_even_if_an_older_one_ends_later() {
        let mut editor = Editor::new(CODE);
        let uri = editor.uri("/src/a.rs");
        let older = editor.snapshot();
        editor.replace("/src/a.rs", "fn a", "fn c");
        let newer = editor.snapshot();
        let (older, newer) = (governed(&older, &uri).unwrap(), governed(&newer, &uri).unwrap());
        newer.analyse();
        older.analyse();
        assert!(newer.recent().unwrap().since.is_empty());
        assert!(older.recent().is_none(), "it is of a later text");
    }

    #[test]
    fn the_baseline_of_a_file_is_read_once_per_commit() {
        let mut editor = Editor::in_git(CODE);
        let first = compared(&editor);
        assert_eq!(first.baseline.edits(&matched(&editor).file.document).now.len(), 0);
        editor.replace("/src/a.rs", "fn a", "fn c");
        assert!(Arc::ptr_eq(&first, &compared(&editor)), "a keystroke reads no commit");
        assert_eq!(first.baseline.edits(&matched(&editor).file.document).now.len(), 1);
        editor.record("/src/a.rs", "INT-001", "someone");
        assert!(Arc::ptr_eq(&first, &compared(&editor)), "nor does a record");
        editor.commit();
        let after = compared(&editor);
        assert!(!Arc::ptr_eq(&first, &after));
        assert_eq!(after.baseline.edits(&matched(&editor).file.document).now.len(), 0);
    }

    #[test]
    fn a_closed_document_is_forgotten() {
        let mut editor = Editor::new(CODE);
        let first = Arc::downgrade(&matched(&editor));
        editor.close("/src/a.rs");
        governed(&editor.snapshot(), &editor.uri("/src/b.rs")).unwrap().analyse();
        assert!(first.upgrade().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn files_are_named_as_the_client_names_them() {
        let mut editor = Editor::new(CODE);
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
