//! The work that the loop starts outside of itself: messages to the client, work on the lanes,
//! timers, watchers.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::lsp_types as lsp;

use super::diagnostics_schedule::{Generation, QUIET};
use super::ordered::{Ordered, Phase};
use super::pool::start_task;
use super::questions::{self, RootQuestions};
use super::refusal::panic_text;
use super::{config, features, progress, watch, workspace_view};
use evidence::git_hooks;
use ground::parallel::locked_value;
use ground::{cache, store, text};
use why::Workspace;

/// How long to collect changed files before they are read. Programs write in bursts.
const SETTLED: Duration = Duration::from_millis(50);

impl Ordered {
    pub(super) fn warn(&self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            self.outside.client.log(lsp::MessageType::WARNING, warning);
        }
    }

    pub(super) fn find_place(&self, folder: PathBuf) {
        let find = self.outside.find;
        let outside = self.outside.clone();
        self.outside.work(move || {
            // A panic must not keep the folder from being looked up again.
            let place = std::panic::catch_unwind(|| find(&folder)).unwrap_or_else(|_| {
                tracing::error!(folder = %folder.display(), "looking for its workspace panicked");
                None
            });
            // Watch the workspace before anything in it is read, so that no change in between is
            // missed.
            if let (Some(place), Some(watcher)) = (&place, outside.watcher()) {
                locked_value(watcher).watch(place);
            }
            |it: &mut Self| it.place_found(folder, place)
        });
    }

    pub(super) fn read_workspace(&self, root: PathBuf) {
        let open = self.outside.open;
        let known = self.world.snapshot.workspace_at(&root).cloned();
        let (done, finished) = oneshot::channel();
        if known.is_none() && self.world.snapshot.client.progress {
            let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
            let title = format!("Reading the intents of {name}");
            start_task(progress::show(self.outside.client.clone(), title, finished));
        }
        self.outside.work(move || {
            // After a panic the result is not used, and what was loaded before stays.
            let loaded = std::panic::catch_unwind(AssertUnwindSafe(|| match known {
                Some(known) => Ok(known.reload()),
                None => open(&root),
            }));
            // There is a listener only if the client shows progress.
            done.send(()).ok();
            let workspace = loaded.unwrap_or_else(|panic| {
                Err(format!("a fault of the server: {}", panic_text(&*panic)))
            });
            // This workspace answers what editors show. Commands that decide open their own.
            let workspace = workspace.map(Workspace::with_kept_answers);
            |it: &mut Self| it.loaded(root, workspace)
        });
    }

    /// Collects changed files for a moment, counted from the first of them, so that a change shows
    /// within a bounded time.
    pub(super) fn files_changed(&mut self, paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        if self.changed_files.is_empty() {
            self.outside.later(SETTLED, Self::files_settled);
        }
        self.changed_files.extend(paths);
    }

    /// Handles files that were created or deleted. Those that git ignores are dropped, because
    /// builds create and delete many of them. This reads the disk, so it runs on a worker.
    pub(super) fn made_or_deleted(&self, mut paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        let workspaces = Arc::clone(&self.world.snapshot.workspaces);
        self.outside.work(move || {
            paths.retain(|path| {
                let counts = |workspace: &Workspace| {
                    let path = workspace_view::relative(workspace, path);
                    path.is_some_and(|path| !workspace.ignores.git_ignored(&path))
                };
                workspaces.loaded.values().any(counts)
            });
            |it: &mut Self| it.files_changed(paths)
        });
    }

    pub(super) fn register(&self) {
        let client = &self.world.snapshot.client;
        let watching = client.watch_files.then(watch::registration);
        let configuring = client.register_configuration.then(config::registration);
        let registrations: Vec<_> = watching.into_iter().chain(configuring).collect();
        if registrations.is_empty() {
            return;
        }
        let watches = client.watch_files;
        let client = self.outside.client.clone();
        let handle = self.outside.handle.clone();
        start_task(async move {
            let params = lsp::RegistrationParams { registrations };
            match client.request_done::<lsp::request::RegisterCapability>(params).await {
                Ok(()) if watches => handle.run(Self::reload_all),
                Ok(()) => {}
                Err(error) => tracing::warn!(%error, "the client did not take a registration"),
            }
        });
    }

    pub(super) fn pull_configuration(&self) {
        let client = self.outside.client.clone();
        let handle = self.outside.handle.clone();
        start_task(async move {
            let section = Some(config::SECTION.to_owned());
            let items = vec![lsp::ConfigurationItem { section, scope_uri: None }];
            let params = lsp::ConfigurationParams { items };
            match client.request::<lsp::request::WorkspaceConfiguration>(params).await {
                Ok(values) => {
                    let ours = values.into_iter().next().unwrap_or_default();
                    handle.run(move |it| it.configured(&ours));
                }
                Err(error) => tracing::warn!(%error, "the settings stay as they were"),
            }
        });
    }

    pub(super) fn refresh(&self) {
        let client = &self.world.snapshot.client;
        let settings = &self.world.snapshot.settings;
        if client.code_lens_refresh && settings.shows_lenses() {
            self.outside.refresh::<lsp::request::CodeLensRefresh>();
        }
        if client.inlay_hint_refresh && settings.shows_hints(client) {
            self.outside.refresh::<lsp::request::InlayHintRefreshRequest>();
        }
        if client.pulls_diagnostics() {
            self.outside.refresh::<lsp::request::WorkspaceDiagnosticRefresh>();
        }
    }

    /// Computes a document's diagnostics after a pause, because somebody may be typing in it.
    pub(super) fn diagnose_soon(&mut self, uri: lsp::Url) {
        let pause = self.schedule.pause(&uri, self.world.snapshot.analyses.took(&uri));
        self.diagnose_after(uri, pause);
    }

    /// Computes a document's diagnostics after this delay, unless the client pulls them.
    pub(super) fn diagnose_after(&mut self, uri: lsp::Url, delay: Duration) {
        if self.world.snapshot.client.pulls_diagnostics() {
            return;
        }
        let cells = self.world.cells_of(&uri);
        if !cells.is_empty() {
            return cells.into_iter().for_each(|cell| self.diagnose_after(cell, delay));
        }
        let generation = self.schedule.touch(&uri);
        let diagnose = move |it: &mut Self| it.diagnose(uri, generation);
        if delay.is_zero() {
            self.outside.handle.run(diagnose);
        } else {
            self.outside.later(delay, diagnose);
        }
    }

    /// Computes the diagnostics of the other open documents again after the text of a registry file
    /// changed in the editor, because they are judged by that text.
    pub(super) fn diagnose_beside_registry(&mut self, registry: &lsp::Url) {
        let now = self.world.snapshot.clone();
        let Some(workspace) = now.workspace_of(registry) else { return };
        let view = now.view(workspace);
        if !view.opened_of_registry().any(|(_, open)| open.uri == *registry) {
            return;
        }
        if !now.client.pulls_diagnostics() {
            let others = view.documents().filter(|file| file.open.uri != *registry);
            return others.for_each(|file| self.diagnose_soon(file.open.uri.clone()));
        }
        let pause = self.schedule.pause(registry, now.analyses.took(registry));
        let (registry, generation) = (registry.clone(), self.schedule.touch(registry));
        self.outside.later(pause, move |it| {
            if it.schedule.is_wanted(&registry, generation) {
                it.schedule.begin(&registry);
                it.outside.refresh::<lsp::request::WorkspaceDiagnosticRefresh>();
            }
        });
    }

    pub(super) fn find_status(&self, root: PathBuf) {
        if !self.world.snapshot.settings.status {
            return;
        }
        let snapshot = self.world.snapshot.clone();
        self.outside.work(move || {
            let status = features::status::of_workspace(&snapshot, &root);
            |it: &mut Self| it.tell_status(root, status)
        });
    }

    /// Tells the person once in each clone if commits of a workspace carry no records. `intent status`
    /// and what a client shows of it say so as long as it lasts.
    pub(super) fn tell_of_git_hooks(&self, root: &Path) {
        let Some(workspace) = self.world.snapshot.workspace_at(root).cloned() else { return };
        let client = self.outside.client.clone();
        self.outside.pool.run(move || {
            let Some(hint) = git_hooks::hint(&workspace) else { return };
            let Some(told) = cache::shared(&workspace.root, "told-of-git-hooks") else { return };
            if told.exists() || store::write_atomic(&told, b"").is_err() {
                return;
            }
            let name = workspace.root.path().file_name().unwrap_or_default().to_string_lossy();
            let message = format!("{}: {hint}", text::visible(&name, false));
            client.show_message(lsp::MessageType::INFO, message);
        });
    }

    fn tell_status(&mut self, root: PathBuf, status: Option<Value>) {
        let Some(status) = status else { return };
        if self.statuses.insert(root, status.clone()).as_ref() != Some(&status) {
            self.outside.client.tell(features::status::METHOD, status);
        }
    }

    /// Computes a document's diagnostics, unless the document was changed or closed since.
    fn diagnose(&mut self, uri: lsp::Url, generation: Generation) {
        if !self.schedule.is_wanted(&uri, generation) {
            return;
        }
        let Some(version) = self.world.snapshot.version_of(&uri) else { return };
        // Until the workspace is read, nobody knows whether something is wrong.
        if self.world.is_reading_for(&uri) {
            return self.outside.later(QUIET, move |it| it.diagnose(uri, generation));
        }
        self.schedule.begin(&uri);
        let snapshot = self.world.snapshot.clone();
        self.outside.work(move || {
            let diagnostics = (snapshot.diagnose)(&snapshot, &uri);
            move |it: &mut Self| it.publish(uri, generation, version, diagnostics)
        });
    }

    /// Publishes a document's diagnostics, unless the document has changed since they were
    /// computed.
    fn publish(
        &mut self,
        uri: lsp::Url,
        generation: Generation,
        version: i32,
        diagnostics: Vec<lsp::Diagnostic>,
    ) {
        let clean = self.world.snapshot.client.when_clean();
        let found = self.schedule.finish_computation(&uri, generation, diagnostics, clean);
        if let Some(diagnostics) = found {
            self.send_diagnostics(uri, Some(version), diagnostics);
        }
    }

    pub(super) fn forget(&mut self, uri: lsp::Url) {
        if self.schedule.forget(&uri) {
            self.send_diagnostics(uri, None, Vec::new());
        }
    }

    pub(super) fn diagnose_unopened(&mut self, root: PathBuf) {
        if self.pulls.begun {
            return self.workspaces_changed();
        }
        let generation = self.schedule.touch_unopened(&root);
        let snapshot = self.world.snapshot.clone();
        self.outside.work(move || {
            let found = (snapshot.unopened)(&snapshot, &root);
            move |it: &mut Self| it.publish_unopened(root, generation, found)
        });
    }

    /// Publishes the diagnostics of files that are not open. They are pushed even to clients that
    /// pull those of open files, until they pull those of the whole workspace too.
    fn publish_unopened(
        &mut self,
        root: PathBuf,
        generation: Generation,
        found: Vec<(lsp::Url, Vec<lsp::Diagnostic>)>,
    ) {
        if self.pulls.begun || !self.schedule.is_last_of_unopened(&root, generation) {
            return;
        }
        let documents = &self.world.snapshot.documents;
        let is_open = |uri: &lsp::Url| documents.contains_key(uri.as_str());
        for (uri, diagnostics) in self.schedule.unopened(root, found, is_open) {
            self.send_diagnostics(uri, None, diagnostics);
        }
    }

    pub(super) fn send_diagnostics(
        &self,
        uri: lsp::Url,
        version: Option<i32>,
        diagnostics: Vec<lsp::Diagnostic>,
    ) {
        let params = lsp::PublishDiagnosticsParams { uri, version, diagnostics };
        self.outside.client.notify::<lsp::notification::PublishDiagnostics>(&params);
    }

    /// Reads the questions of every loaded workspace. `questions_found` schedules the next reading;
    /// both do nothing after `shutdown`.
    pub(super) fn look_for_questions(&mut self) {
        if self.phase != Phase::Running {
            return;
        }
        let known = self.questions.by_root.clone();
        let workspaces = self.world.snapshot.workspaces();
        let roots = workspaces.map(|workspace| Arc::clone(&workspace.root)).collect();
        self.outside.work(move || {
            let found = questions::read(roots, &known);
            |it: &mut Self| it.questions_found(found)
        });
    }

    fn questions_found(&mut self, found: Vec<RootQuestions>) {
        // The server may have been shut down while the questions were read.
        if self.phase != Phase::Running {
            return;
        }
        self.outside.later(self.question_interval, Self::look_for_questions);
        for root in self.questions.replace(found) {
            self.find_status(root);
        }
        self.questions.close_settled_dialogs();
        if !self.world.snapshot.settings.interactive {
            return;
        }
        for (root, asked, closed) in self.questions.take_unshown() {
            let (client, pool) = (self.outside.client.clone(), self.outside.pool.clone());
            start_task(questions::ask_person(client, pool, root, asked, closed));
        }
    }
}
