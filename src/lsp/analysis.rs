//! Results about the open documents, computed once for each state and shared by all features.
//!
//! The hover, the lenses and the diagnostics of one state of a text ask once who brought its lines.
//! The baseline of a file is read from git once for each commit, never at a keystroke.
//! Everything is computed on the lanes when it is first needed.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tower_lsp::lsp_types as lsp;

use super::cache::Cache;
use super::open_document::{Documents, OpenDocument};
use super::workspace_survey::Survey;
use code::{Block, Document, TextDifference};
use ground::parallel::locked_value;
use ground::{CommitId, RelativePath};
use intents::{IntentFile, Registry};
use why::answers::{self, FileProvenance};
use why::baseline::{Baseline, FormerFile, commits_of_work};
use why::{LazyLedger, Workspace};

/// One state of an open document, and who brought its lines according to one load of the workspace.
pub(crate) struct Analysis {
    pub path: RelativePath,
    pub file: FileProvenance,
    /// The journal of that load. Each load makes a new one, also after a commit, so comparing the
    /// pointers tells whether the analysis is current.
    journal: Arc<LazyLedger>,
    took: Duration,
}

impl Analysis {
    /// Returns the innermost block at a byte, with its index. A position just behind a block
    /// belongs to the block if no other block is there.
    pub(crate) fn block_at(&self, byte: usize) -> Option<(usize, &Block)> {
        let blocks = &self.file.blocks;
        let before = || byte.checked_sub(1).and_then(|before| blocks.at_byte(before));
        let at = blocks.at_byte(byte).or_else(before)?;
        Some((at, &blocks.blocks[at]))
    }
}

#[derive(Default)]
pub(crate) struct Analyses {
    documents: Cache<Arc<str>, Analysis>,
    baselines: Cache<(PathBuf, RelativePath), CachedBaseline>,
    /// The last finished analysis of each document. It is kept outside of the entry, so that nobody
    /// waits for the next analysis to read it.
    judged: Mutex<HashMap<Arc<str>, Arc<Analysis>>>,
    surveys: Cache<PathBuf, Survey>,
    registries: Mutex<HashMap<Arc<str>, LastRegistry>>,
}

/// A text of a registry file, and the byte at which each of its intents begins.
struct LastRegistry {
    text: Arc<str>,
    intents: Vec<(String, usize)>,
}

pub(crate) struct Recent {
    pub analysis: Arc<Analysis>,
    pub since: TextDifference,
}

pub(crate) struct RecentBlock {
    pub index: usize,
    /// True if the block was edited since the analysis, or text was inserted at one of its ends.
    pub edited: bool,
    pub name: Range<usize>,
}

impl Recent {
    /// Returns the block at a byte of the present text. Returns an error if new lines were typed
    /// there, since only a new analysis knows to which block they belong.
    pub(crate) fn block_at(
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

pub(crate) struct NewLines;

struct CachedBaseline {
    /// The registry of the load for which this baseline was found. Each load makes a new one, so
    /// comparing the pointers tells whether the entry is current.
    registry: Arc<Registry>,
    commits: Vec<CommitId>,
    before: Arc<FormerFile>,
}

impl Analyses {
    pub(super) fn analyse(
        &self,
        workspace: &Workspace,
        path: &RelativePath,
        open: &OpenDocument,
        opened: &Documents,
    ) -> Arc<Analysis> {
        let blocks = open.document.blocks();
        let is_current = |known: &Analysis| {
            Arc::ptr_eq(&known.file.blocks, &blocks)
                && Arc::ptr_eq(&known.journal, &workspace.journal)
        };
        let mut is_first = None;
        let analysis = self.documents.get(Arc::from(open.uri.as_str()), is_current, |earlier| {
            is_first = Some(earlier.is_none());
            let started = Instant::now();
            let file = answers::file(workspace, path, &open.document);
            let (path, journal) = (path.clone(), Arc::clone(&workspace.journal));
            Analysis { path, file, journal, took: started.elapsed() }
        });
        if is_first.is_some() {
            self.keep(open, &analysis);
        }
        // Only with a document that is new here: the documents of a later analysis may be older,
        // and lack some that were opened since.
        if is_first == Some(true) {
            self.forget_closed(opened);
        }
        analysis
    }

    /// Returns the last finished analysis of an open document and the edits since. `None` if the
    /// present text was not edited from an analysed one, or if the workspace was loaded again.
    pub(super) fn recent(&self, workspace: &Workspace, open: &OpenDocument) -> Option<Recent> {
        let judged = locked_value(&self.judged);
        let analysis = Arc::clone(judged.get(open.uri.as_str())?);
        drop(judged);
        if !Arc::ptr_eq(&analysis.journal, &workspace.journal) {
            return None;
        }
        let since = open.document.edits_since(&analysis.file.document)?;
        Some(Recent { analysis, since })
    }

    pub(super) fn baseline(
        &self,
        workspace: &Workspace,
        path: &RelativePath,
        document: &Document,
    ) -> Arc<FormerFile> {
        let key = (workspace.root.path().to_owned(), path.clone());
        let is_current = |known: &CachedBaseline| Arc::ptr_eq(&known.registry, &workspace.registry);
        let found = self.baselines.get(key, is_current, |earlier| {
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
                    None => Arc::new(FormerFile::of_work(workspace, path, document, &commits)?),
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

    pub(super) fn survey(&self, workspace: &Workspace) -> Arc<Survey> {
        let is_current = |known: &Survey| known.is_of(workspace);
        let root = workspace.root.path().to_owned();
        self.surveys.get(root, is_current, |it| Survey::from_workspace(workspace, it))
    }

    /// Returns the intents of a registry file and the byte at which each begins.
    ///
    /// While somebody types, the text may not parse. The intents are then taken from the text
    /// before, or from the file on disk, if they lie outside of the typed part.
    pub(crate) fn intents_of(
        &self,
        uri: &lsp::Url,
        file: &IntentFile,
        on_disk: Option<&IntentFile>,
    ) -> Vec<(String, usize)> {
        let mut known = locked_value(&self.registries);
        let intents = match (file.syntax_error(), known.get(uri.as_str()), on_disk) {
            (None, _, _) => LastRegistry::from_file(file).intents,
            (Some(_), Some(last), _) => last.carried(file.text()),
            (Some(_), None, Some(on_disk)) => LastRegistry::from_file(on_disk).carried(file.text()),
            (Some(_), None, None) => Vec::new(),
        };
        let last = LastRegistry { text: Arc::clone(file.text()), intents: intents.clone() };
        known.insert(Arc::from(uri.as_str()), last);
        intents
    }

    /// Keeps an analysis if it is the newest: the analysis of an older text may finish later.
    fn keep(&self, open: &OpenDocument, judged: &Arc<Analysis>) {
        let mut known = locked_value(&self.judged);
        let is_older = known.get(open.uri.as_str()).is_some_and(|known| {
            let newest = &known.file.document;
            Arc::ptr_eq(&known.journal, &judged.journal)
                && newest.edits_since(&open.document).is_some_and(|typed| !typed.is_empty())
        });
        if !is_older {
            known.insert(Arc::from(open.uri.as_str()), Arc::clone(judged));
        }
    }

    pub(crate) fn took(&self, uri: &lsp::Url) -> Duration {
        locked_value(&self.judged).get(uri.as_str()).map_or(Duration::ZERO, |judged| judged.took)
    }

    fn forget_closed(&self, opened: &Documents) {
        self.documents.retain(|uri| opened.contains_key(uri));
        locked_value(&self.judged).retain(|uri, _| opened.contains_key(uri));
        locked_value(&self.registries).retain(|uri, _| opened.contains_key(uri));
    }
}

impl LastRegistry {
    fn from_file(file: &IntentFile) -> Self {
        let named = file.intents().iter().filter(|intent| !intent.id.value.is_empty());
        let intents = named.map(|intent| (intent.id.value.clone(), intent.span.start)).collect();
        Self { text: Arc::clone(file.text()), intents }
    }

    fn carried(&self, now: &str) -> Vec<(String, usize)> {
        let (old, new) = (self.text.as_bytes(), now.as_bytes());
        let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let backwards = old[before..].iter().rev().zip(new[before..].iter().rev());
        let after = backwards.take_while(|(a, b)| a == b).count();
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
    use crate::workspace_view::governed;

    const CODE: &str = "//- /src/a.rs intent=INT-001\nfn a() {}\n//- /src/b.rs\nfn b() {}\n";

    fn analysed(editor: &Editor) -> Arc<Analysis> {
        governed(&editor.snapshot(), &editor.uri("/src/a.rs")).unwrap().analyse()
    }

    fn compared(editor: &Editor) -> Arc<FormerFile> {
        governed(&editor.snapshot(), &editor.uri("/src/a.rs")).unwrap().baseline()
    }

    #[test]
    fn each_state_is_analysed_once() {
        let mut editor = Editor::new(CODE);
        let first = analysed(&editor);
        assert!(Arc::ptr_eq(&first, &analysed(&editor)));
        editor.replace("/src/b.rs", "b", "c");
        assert!(Arc::ptr_eq(&first, &analysed(&editor)), "another document changed");
        editor.replace("/src/a.rs", "fn a", "fn c");
        let edited = analysed(&editor);
        assert!(!Arc::ptr_eq(&first, &edited));
        editor.record("/src/a.rs", "INT-001", "someone");
        let recorded = analysed(&editor);
        assert!(!Arc::ptr_eq(&edited, &recorded), "the workspace was loaded again");
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
        assert_eq!(first.baseline.edits(&analysed(&editor).file.document).now.len(), 0);
        editor.replace("/src/a.rs", "fn a", "fn c");
        assert!(Arc::ptr_eq(&first, &compared(&editor)), "a keystroke reads no commit");
        assert_eq!(first.baseline.edits(&analysed(&editor).file.document).now.len(), 1);
        editor.record("/src/a.rs", "INT-001", "someone");
        assert!(Arc::ptr_eq(&first, &compared(&editor)), "nor does a record");
        editor.commit();
        let after = compared(&editor);
        assert!(!Arc::ptr_eq(&first, &after));
        assert_eq!(after.baseline.edits(&analysed(&editor).file.document).now.len(), 0);
    }

    #[test]
    fn a_closed_document_is_forgotten() {
        let mut editor = Editor::new(CODE);
        let first = Arc::downgrade(&analysed(&editor));
        editor.close("/src/a.rs");
        governed(&editor.snapshot(), &editor.uri("/src/b.rs")).unwrap().analyse();
        assert!(first.upgrade().is_none());
    }
}
