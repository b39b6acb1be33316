//! Runs the side effects that the loop asks for: messages to the client, work on the lanes, timers,
//! watchers.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tower_lsp::gen_lsp_types as lsp;

use super::cache::lock;
use super::client::Client;
use super::diagnostics_schedule::{Generation, QUIET};
use super::ordered::{LoopEvent, Ordered};
use super::pool::{Lane, Pool};
use super::snapshot::DiagnoseUnopened;
use super::watch::{self, Watcher};
use super::world::SideEffect;
use super::{
    FindPlace, OpenWorkspace, ServerParts, analysis, config, features, parent_process, progress,
};
use crate::verbs::{Workspace, git_hooks, map};
use crate::workspace::text;

/// How long to collect changed files before they are read. Programs write in bursts.
const SETTLED: Duration = Duration::from_millis(50);

/// The loop's connections to the outside: the client, the threads, the watcher and the channel of
/// events.
pub(crate) struct Outlets {
    pub(super) client: Client,
    pub(super) pool: Pool,
    pub(super) events: mpsc::UnboundedSender<LoopEvent>,
    find: FindPlace,
    open: OpenWorkspace,
    unopened: DiagnoseUnopened,
    watcher: Option<Arc<Mutex<Watcher>>>,
    watcher_refused: bool,
}

impl Outlets {
    pub(super) fn new(
        parts: &ServerParts,
        client: Client,
        pool: Pool,
        events: mpsc::UnboundedSender<LoopEvent>,
    ) -> Self {
        let ServerParts { find, open, unopened, .. } = *parts;
        Self { client, pool, events, find, open, unopened, watcher: None, watcher_refused: false }
    }

    /// Ends the loop when the process that started this server is gone.
    pub(super) fn end_with(&self, process: i32) {
        let events = self.events.clone();
        tokio::spawn(async move {
            parent_process::gone(process).await;
            drop(events.send(LoopEvent::ClientGone));
        });
    }

    /// Returns the watcher, and starts it on first use.
    fn watcher(&mut self) -> Option<Arc<Mutex<Watcher>>> {
        if self.watcher.is_none() && !self.watcher_refused {
            let events = self.events.clone();
            let changed = move |paths| drop(events.send(LoopEvent::FilesChanged(paths)));
            match Watcher::start(changed) {
                Ok(watcher) => self.watcher = Some(Arc::new(Mutex::new(watcher))),
                Err(error) => {
                    self.watcher_refused = true;
                    tracing::warn!(%error, "changes on disk show only when a file of ours is saved in the editor");
                }
            }
        }
        self.watcher.clone()
    }

    pub(super) fn work(&self, job: impl FnOnce() -> LoopEvent + Send + 'static) {
        let events = self.events.clone();
        // If the loop has ended, nobody waits for the event.
        self.pool.run(Lane::Worker, move || drop(events.send(job())));
    }

    pub(super) fn later(&self, delay: Duration, event: LoopEvent) {
        let events = self.events.clone();
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            drop(events.send(event));
        });
    }

    fn refresh<R: lsp::Request<Params = ()>>(&self) {
        let client = self.client.clone();
        tokio::spawn(async move {
            if let Err(error) = client.request_done::<R>(()).await {
                tracing::debug!(%error, "a refresh was not heard");
            }
        });
    }
}

impl Ordered {
    /// Starts the work that a change of the state asked for.
    pub(super) fn perform(&mut self, effects: Vec<SideEffect>) {
        for effect in effects {
            match effect {
                SideEffect::Log(kind, message) => self.outside.client.log(kind, message),
                SideEffect::Diagnose(uri) => {
                    let pause = self.schedule.pause(&uri, self.world.now.analyses.took(&uri));
                    self.diagnose_after(uri, pause);
                }
                SideEffect::DiagnoseNow(uri) => self.diagnose_after(uri, Duration::ZERO),
                SideEffect::TellStatus(root) => self.find_status(root),
                SideEffect::RefreshMap(root) => self.refresh_map(&root),
                SideEffect::TellOfGitHooks(root) => self.tell_of_git_hooks(&root),
                SideEffect::DiagnoseUnopened(root) => self.diagnose_unopened(root),
                SideEffect::Forget(uri) => self.forget(uri),
                SideEffect::FindPlace(folder) => self.find_place(folder),
                SideEffect::Load(root) => self.load(root),
                SideEffect::FilesChanged(paths) => self.files_changed(paths),
                SideEffect::MadeOrDeleted(paths) => self.made_or_deleted(paths),
                SideEffect::Register => self.register(),
                SideEffect::WatchQuestions => self.look_for_questions(),
                SideEffect::PullConfiguration => self.pull_configuration(),
                SideEffect::Refresh => self.refresh(),
            }
        }
    }

    fn find_place(&mut self, folder: PathBuf) {
        let find = self.outside.find;
        let watcher = self.outside.watcher();
        self.outside.work(move || {
            // A panic must not keep the folder from being looked up again.
            let place = std::panic::catch_unwind(|| find(&folder)).unwrap_or_else(|_| {
                tracing::error!(folder = %folder.display(), "looking for its workspace panicked");
                None
            });
            // Watch the workspace before anything in it is read, so that no change in between is
            // missed.
            if let (Some(place), Some(watcher)) = (&place, watcher) {
                lock(&watcher).watch(place);
            }
            LoopEvent::PlaceFound { folder, place }
        });
    }

    fn load(&self, root: PathBuf) {
        let open = self.outside.open;
        let known = self.world.now.workspace_at(&root).cloned();
        let (done, finished) = oneshot::channel();
        if known.is_none() && self.world.now.client.progress {
            let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
            let title = format!("Reading the intents and the ledger of {name}");
            tokio::spawn(progress::show(self.outside.client.clone(), title, finished));
        }
        self.outside.work(move || {
            // After a panic the result is not used, and what was loaded before stays.
            let loaded = std::panic::catch_unwind(AssertUnwindSafe(|| match known {
                Some(known) => Ok(known.reload().warmed()),
                None => open(&root),
            }));
            // There is a listener only if the client shows progress.
            done.send(()).ok();
            let workspace = loaded.unwrap_or_else(|panic| {
                Err(format!("a fault of the server: {}", super::dispatch::panic_text(&*panic)))
            });
            LoopEvent::Loaded { root, workspace: Box::new(workspace) }
        });
    }

    /// Collects changed files for a moment, counted from the first of them, so that a change shows
    /// within a bounded time.
    pub(super) fn files_changed(&mut self, paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        if self.changed_files.is_empty() {
            self.outside.later(SETTLED, LoopEvent::FilesSettled);
        }
        self.changed_files.extend(paths);
    }

    /// Drops the files that git ignores, because builds create and delete many of them. This reads
    /// the disk, so it runs on a worker.
    fn made_or_deleted(&self, mut paths: Vec<PathBuf>) {
        let workspaces = Arc::clone(&self.world.now.workspaces);
        self.outside.work(move || {
            paths.retain(|path| {
                let counts = |workspace: &Workspace| {
                    let path = analysis::relative(workspace, path);
                    path.is_some_and(|path| !workspace.ignores.git_ignored(&path))
                };
                workspaces.loaded.values().any(counts)
            });
            LoopEvent::FilesChanged(paths)
        });
    }

    fn register(&self) {
        let client = &self.world.now.client;
        let mut registrations = Vec::new();
        if client.watch_files {
            registrations.push(watch::registration());
        }
        if client.register_configuration {
            registrations.push(config::registration());
        }
        if registrations.is_empty() {
            return;
        }
        let watches = client.watch_files;
        let client = self.outside.client.clone();
        let events = self.outside.events.clone();
        tokio::spawn(async move {
            let params = lsp::RegistrationParams { registrations };
            match client.request_done::<lsp::RegistrationRequest>(params).await {
                Ok(()) if watches => drop(events.send(LoopEvent::Watching)),
                Ok(()) => {}
                Err(error) => tracing::warn!(%error, "the client did not take a registration"),
            }
        });
    }

    fn pull_configuration(&self) {
        let client = self.outside.client.clone();
        let events = self.outside.events.clone();
        tokio::spawn(async move {
            let section = Some(config::SECTION.to_owned());
            let items = vec![lsp::ConfigurationItem { section, scope_uri: None }];
            let params = lsp::ConfigurationParams { items };
            match client.request::<lsp::ConfigurationRequest>(params).await {
                Ok(mut values) if !values.is_empty() => {
                    drop(events.send(LoopEvent::Configured(values.swap_remove(0))));
                }
                Ok(_) => drop(events.send(LoopEvent::Configured(Value::Null))),
                Err(error) => tracing::warn!(%error, "the settings stay as they were"),
            }
        });
    }

    fn refresh(&self) {
        let client = &self.world.now.client;
        let settings = &self.world.now.settings;
        if client.code_lens_refresh && settings.code_lens {
            self.outside.refresh::<lsp::CodeLensRefreshRequest>();
        }
        if client.inlay_hint_refresh && settings.shows_hints(client) {
            self.outside.refresh::<lsp::InlayHintRefreshRequest>();
        }
        if client.pulls() {
            self.outside.refresh::<lsp::DiagnosticRefreshRequest>();
        }
    }

    fn diagnose_after(&mut self, uri: lsp::Uri, delay: Duration) {
        if self.world.now.client.pulls() {
            return;
        }
        let generation = self.schedule.touch(&uri);
        let event = LoopEvent::DiagnosisDue { uri, generation };
        if delay.is_zero() {
            // If the loop has ended, nobody waits for the event.
            drop(self.outside.events.send(event));
        } else {
            self.outside.later(delay, event);
        }
    }

    fn find_status(&self, root: PathBuf) {
        if !self.world.now.settings.status {
            return;
        }
        let snapshot = self.world.now.clone();
        self.outside.work(move || {
            let status = features::status::of_workspace(&snapshot, &root);
            LoopEvent::StatusFound { root, status }
        });
    }

    fn refresh_map(&self, root: &Path) {
        if let Some(workspace) = self.world.now.workspace_at(root).cloned() {
            self.outside.pool.run(Lane::Worker, move || map::refresh(&workspace));
        }
    }

    /// Tells the person if commits of a workspace carry no records.
    fn tell_of_git_hooks(&self, root: &Path) {
        let Some(workspace) = self.world.now.workspace_at(root).cloned() else { return };
        let client = self.outside.client.clone();
        self.outside.pool.run(Lane::Worker, move || {
            let Some(hint) = git_hooks::hint(&workspace) else { return };
            let name = workspace.root.path().file_name().unwrap_or_default().to_string_lossy();
            let message = format!("{}: {hint}", text::visible(&name, false));
            client.show_message(lsp::MessageType::Info, message);
        });
    }

    /// Tells the client the status of a workspace, unless it is the same as last time.
    pub(super) fn tell_status(&mut self, root: PathBuf, status: Option<Value>) {
        let Some(status) = status else { return };
        if self.statuses.insert(root, status.clone()).as_ref() != Some(&status) {
            self.outside.client.tell(features::status::METHOD, status);
        }
    }

    /// Computes a document's diagnostics, unless the document was changed or closed since.
    pub(super) fn diagnose(&mut self, uri: lsp::Uri, generation: Generation) {
        if !self.schedule.is_wanted(&uri, generation) {
            return;
        }
        let Some(version) = self.world.now.version_of(&uri) else { return };
        // Until the ledger is read, nobody knows whether something is wrong.
        if self.world.is_reading_for(&uri) {
            return self.outside.later(QUIET, LoopEvent::DiagnosisDue { uri, generation });
        }
        self.schedule.begin(&uri);
        let snapshot = self.world.now.clone();
        self.outside.work(move || {
            let diagnostics = (snapshot.diagnose)(&snapshot, &uri);
            LoopEvent::Diagnosed { uri, generation, version, diagnostics }
        });
    }

    /// Publishes a document's diagnostics, unless the document has changed since they were
    /// computed.
    pub(super) fn publish(
        &mut self,
        uri: lsp::Uri,
        generation: Generation,
        version: i32,
        diagnostics: Vec<lsp::Diagnostic>,
    ) {
        let clean = self.world.now.client.when_clean();
        let Some(diagnostics) = self.schedule.done(&uri, generation, diagnostics, clean) else {
            return;
        };
        let params = lsp::PublishDiagnosticsParams { uri, version: Some(version), diagnostics };
        self.outside.client.notify::<lsp::PublishDiagnosticsNotification>(&params);
    }

    fn forget(&mut self, uri: lsp::Uri) {
        if self.schedule.forget(&uri) {
            self.publish_unversioned(uri, Vec::new());
        }
    }

    fn diagnose_unopened(&mut self, root: PathBuf) {
        let generation = self.schedule.touch_unopened(&root);
        let snapshot = self.world.now.clone();
        let unopened = self.outside.unopened;
        self.outside.work(move || {
            let found = unopened(&snapshot, &root);
            LoopEvent::DiagnosedUnopened { root, generation, found }
        });
    }

    /// Publishes the diagnostics of files that are not open. They are pushed even to clients that
    /// pull, because such clients ask only about open files.
    pub(super) fn publish_unopened(
        &mut self,
        root: PathBuf,
        generation: Generation,
        found: Vec<(lsp::Uri, Vec<lsp::Diagnostic>)>,
    ) {
        if !self.schedule.is_last_of_unopened(&root, generation) {
            return;
        }
        let documents = &self.world.now.documents;
        let is_open = |uri: &lsp::Uri| documents.contains_key(uri.as_str());
        for (uri, diagnostics) in self.schedule.unopened(root, found, is_open) {
            self.publish_unversioned(uri, diagnostics);
        }
    }

    fn publish_unversioned(&self, uri: lsp::Uri, diagnostics: Vec<lsp::Diagnostic>) {
        let params = lsp::PublishDiagnosticsParams { uri, version: None, diagnostics };
        self.outside.client.notify::<lsp::PublishDiagnosticsNotification>(&params);
    }
}
