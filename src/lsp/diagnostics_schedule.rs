//! Decides when diagnostics are computed and published. Their content is made in
//! [`super::features::diagnostics`].

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tower_lsp::lsp_types as lsp;

pub(crate) const QUIET: Duration = Duration::from_millis(75);

/// The longest pause in typing that is required before a document's diagnostics are computed.
const MOST_QUIET: Duration = Duration::from_secs(1);

const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// Returns the pause in typing that is required, given how long the last analysis of the document
/// took. The pause is four times as long, so at most a fifth of the time is spent on analyses while
/// somebody types.
pub(crate) fn quiet_after(took: Duration) -> Duration {
    (took * 4).clamp(QUIET, MOST_QUIET)
}

/// A number for one state of a document, or of a root's unopened files, whose diagnostics are
/// wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generation(u64);

/// What is published for a document that has no findings and had none before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clean {
    /// Publishes nothing, because nothing changed.
    Silent,
    /// Publishes an empty list, because some agents wait for an answer to each write.
    Published,
}

/// Keeps track of the diagnostics that are still wanted. For each document, these are the
/// diagnostics of its last state.
#[derive(Default)]
pub(crate) struct Schedule {
    last: Generation,
    wanted: HashMap<lsp::Url, Generation>,
    waiting: HashMap<lsp::Url, Instant>,
    shown: HashMap<lsp::Url, Vec<lsp::Diagnostic>>,
    unopened: HashMap<PathBuf, HashSet<lsp::Url>>,
    unopened_wanted: HashMap<PathBuf, Generation>,
}

impl Schedule {
    /// Marks a document as changed: a computation that runs for it is no longer wanted.
    pub(crate) fn touch(&mut self, uri: &lsp::Url) -> Generation {
        self.last.0 += 1;
        self.wanted.insert(uri.clone(), self.last);
        self.last
    }

    pub(crate) fn pause(&mut self, uri: &lsp::Url, took: Duration) -> Duration {
        let since = *self.waiting.entry(uri.clone()).or_insert_with(Instant::now);
        quiet_after(took).min(LONGEST_WAIT.saturating_sub(since.elapsed()))
    }

    pub(crate) fn begin(&mut self, uri: &lsp::Url) {
        self.waiting.remove(uri);
    }

    /// Marks the workspace at a root as changed: a computation that runs for its unopened files is
    /// no longer wanted.
    pub(crate) fn touch_unopened(&mut self, root: &Path) -> Generation {
        self.last.0 += 1;
        self.unopened_wanted.insert(root.to_owned(), self.last);
        self.last
    }

    pub(crate) fn is_last_of_unopened(&self, root: &Path, generation: Generation) -> bool {
        self.unopened_wanted.get(root) == Some(&generation)
    }

    pub(crate) fn is_wanted(&self, uri: &lsp::Url, generation: Generation) -> bool {
        self.wanted.get(uri) == Some(&generation)
    }

    /// Returns the computed diagnostics if they have to be published. `None` if they are no longer
    /// wanted. Also `None` if there are none, the client shows none, and `clean` is
    /// [`Clean::Silent`].
    pub(crate) fn finish_computation(
        &mut self,
        uri: &lsp::Url,
        generation: Generation,
        diagnostics: Vec<lsp::Diagnostic>,
        clean: Clean,
    ) -> Option<Vec<lsp::Diagnostic>> {
        if !self.is_wanted(uri, generation) {
            return None;
        }
        self.wanted.remove(uri);
        let shown = self.shown.get(uri).map_or(&[][..], Vec::as_slice);
        if clean == Clean::Silent && shown.is_empty() && diagnostics.is_empty() {
            return None;
        }
        // Equal diagnostics are sent again, because they carry the new version.
        self.shown.insert(uri.clone(), diagnostics.clone());
        Some(diagnostics)
    }

    /// Returns what to publish for the unopened files under a root, given all their diagnostics.
    /// Open files have diagnostics of their own and are left out. Diagnostics that no longer apply
    /// are removed.
    pub(crate) fn unopened(
        &mut self,
        root: PathBuf,
        found: Vec<(lsp::Url, Vec<lsp::Diagnostic>)>,
        is_open: impl Fn(&lsp::Url) -> bool,
    ) -> Vec<(lsp::Url, Vec<lsp::Diagnostic>)> {
        let found = found.into_iter().filter(|(uri, wrong)| !wrong.is_empty() && !is_open(uri));
        let mut publish: Vec<_> = found.collect();
        let now: HashSet<lsp::Url> = publish.iter().map(|(uri, _)| uri.clone()).collect();
        publish.retain(|(uri, wrong)| self.shown.get(uri) != Some(wrong));
        self.shown.extend(publish.iter().cloned());
        let before = self.unopened.insert(root, now.clone()).unwrap_or_default();
        for uri in before.into_iter().filter(|uri| !now.contains(uri) && !is_open(uri)) {
            if self.forget(&uri) {
                publish.push((uri, Vec::new()));
            }
        }
        publish
    }

    pub(super) fn forget_unopened(&mut self) -> Vec<lsp::Url> {
        let files = std::mem::take(&mut self.unopened).into_values().flatten();
        files.filter(|uri| self.shown.remove(uri).is_some()).collect()
    }

    /// Drops a document that was closed. Returns true if the client still shows diagnostics of it.
    pub(crate) fn forget(&mut self, uri: &lsp::Url) -> bool {
        self.wanted.remove(uri);
        self.waiting.remove(uri);
        self.shown.remove(uri).is_some_and(|shown| !shown.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENT: Clean = Clean::Silent;

    fn uri() -> lsp::Url {
        "file:///a.rs".parse().unwrap()
    }

    #[test]
    fn diagnostics_of_an_older_state_are_not_shown() {
        let mut schedule = Schedule::default();
        let old = schedule.touch(&uri());
        let new = schedule.touch(&uri());
        assert!(!schedule.is_wanted(&uri(), old));
        let one = vec![lsp::Diagnostic::default()];
        assert_eq!(schedule.finish_computation(&uri(), old, one.clone(), SILENT), None);
        assert_eq!(
            schedule.finish_computation(&uri(), new, one.clone(), SILENT),
            Some(one.clone())
        );
        assert_eq!(
            schedule.finish_computation(&uri(), new, one, SILENT),
            None,
            "it was shown already"
        );
    }

    #[test]
    fn a_slow_computation_gets_a_longer_pause() {
        let mut schedule = Schedule::default();
        let mut pause = |millis| schedule.pause(&uri(), Duration::from_millis(millis));
        assert_eq!(pause(5), QUIET);
        assert_eq!(pause(100), Duration::from_millis(400));
        assert_eq!(pause(9_000), MOST_QUIET);
        let long_ago = Instant::now().checked_sub(LONGEST_WAIT);
        schedule.waiting.insert(uri(), long_ago.unwrap());
        assert_eq!(schedule.pause(&uri(), QUIET), Duration::ZERO, "somebody types on and on");
        schedule.begin(&uri());
        assert_eq!(schedule.pause(&uri(), Duration::ZERO), QUIET);
    }

    #[test]
    fn empty_diagnostics_are_not_sent_twice() {
        let mut schedule = Schedule::default();
        let generation = schedule.touch(&uri());
        assert_eq!(schedule.finish_computation(&uri(), generation, Vec::new(), SILENT), None);
        let generation = schedule.touch(&uri());
        let said = schedule.finish_computation(&uri(), generation, Vec::new(), Clean::Published);
        assert_eq!(said, Some(Vec::new()), "but for who waits for it");
        assert!(!schedule.forget(&uri()));
    }

    #[test]
    fn diagnostics_of_closed_files_are_shown_until_they_are_gone() {
        let mut schedule = Schedule::default();
        let root = PathBuf::from("/w");
        let wrong = || vec![(uri(), vec![lsp::Diagnostic::default()])];
        assert_eq!(schedule.unopened(root.clone(), wrong(), |_| true), []);
        assert_eq!(schedule.unopened(root.clone(), wrong(), |_| false), wrong());
        assert_eq!(schedule.unopened("/other".into(), Vec::new(), |_| false), []);
        assert_eq!(schedule.unopened(root.clone(), Vec::new(), |_| false), [(uri(), Vec::new())]);
        assert_eq!(schedule.unopened(root, Vec::new(), |_| false), []);
    }

    #[test]
    fn shown_diagnostics_are_cleared_once() {
        let mut schedule = Schedule::default();
        let generation = schedule.touch(&uri());
        schedule.finish_computation(&uri(), generation, vec![lsp::Diagnostic::default()], SILENT);
        let under_way = schedule.touch(&uri());
        assert!(schedule.forget(&uri()));
        assert!(!schedule.forget(&uri()));
        let late = vec![lsp::Diagnostic::default()];
        assert_eq!(
            schedule.finish_computation(&uri(), under_way, late, SILENT),
            None,
            "it was closed meanwhile"
        );
    }
}
