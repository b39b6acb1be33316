//! The mutable state of the server. The loop is its only owner.
//!
//! Changes are applied in the order in which they arrive. They never wait and do not start work
//! themselves; they return what has to be done outside of the state as [`SideEffect`]s.

mod knowledge;
mod sync;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tower_lsp::gen_lsp_types as lsp;

use super::capabilities::Capabilities;
use super::config::Settings;
use super::convert;
use super::snapshot::{Diagnose, Snapshot};
pub(crate) use knowledge::WorkspaceLocation;

/// Work that a change of the state asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SideEffect {
    /// Write a line into the client's log.
    Log(lsp::MessageType, String),
    /// The text of a document changed: diagnose it after a pause, because somebody may be typing.
    Diagnose(lsp::Uri),
    /// The workspace of a document changed: diagnose the document without a pause.
    DiagnoseNow(lsp::Uri),
    /// The status of this workspace may have changed: tell the client.
    TellStatus(PathBuf),
    /// Write the map of this workspace again if it is out of date.
    RefreshMap(PathBuf),
    /// Tell the person if commits of this workspace carry no records.
    TellOfGitHooks(PathBuf),
    /// Diagnose the files under this root that are not open.
    DiagnoseUnopened(PathBuf),
    /// Remove the published diagnostics of a document that was closed or is out of step.
    Forget(lsp::Uri),
    /// Find the root that governs this folder, and watch it for changes.
    FindPlace(PathBuf),
    /// Load the workspace at this root, for the first time or again.
    Load(PathBuf),
    /// These files changed: handle them when no more changes arrive.
    FilesChanged(Vec<PathBuf>),
    /// These files were created or deleted: handle those that git does not ignore.
    MadeOrDeleted(Vec<PathBuf>),
    /// Register watchers and settings with the client after its start.
    Register,
    /// From now on, show the person the questions of agents.
    WatchQuestions,
    PullConfiguration,
    /// Ask the client to request lenses, hints and pulled diagnostics again.
    Refresh,
}

/// The mutable state of the server.
pub(crate) struct World {
    /// What requests see. Each gets a copy of its own.
    pub(super) now: Snapshot,
    at_start: Settings,
    places: HashMap<PathBuf, WorkspaceLocation>,
    /// The roots that are being loaded. True if something changed since the load began, so that the
    /// root must be loaded again.
    loading: HashMap<PathBuf, bool>,
    /// Folders whose root is being looked up.
    looked_up: HashSet<PathBuf>,
    /// Warnings about settings that were already logged, so that each is logged once.
    warned: HashSet<String>,
    /// Workspaces whose git hooks were already checked.
    told_of_hooks: HashSet<PathBuf>,
}

impl World {
    /// Returns the state of a server that has no open document and no loaded workspace.
    pub(crate) fn new(diagnose: Diagnose) -> Self {
        Self {
            now: Snapshot::new(diagnose),
            at_start: Settings::default(),
            places: HashMap::new(),
            loading: HashMap::new(),
            looked_up: HashSet::new(),
            warned: HashSet::new(),
            told_of_hooks: HashSet::new(),
        }
    }

    /// Takes over the client's capabilities, settings and folders at the start of the session.
    pub(crate) fn initialize(&mut self, params: &lsp::InitializeParams) -> Vec<SideEffect> {
        let client = Capabilities::new(&params.capabilities);
        let (mut settings, problems) = Settings::at_start(params.initialization_options.as_ref());
        // Clients send "off" even if the user did not ask for it, so it does not override the
        // user's own setting.
        settings.trace |= params.trace.as_ref().is_some_and(is_traced);
        self.at_start = settings.clone();
        self.now.encoding = client.negotiate(settings.position_encoding);
        self.now.client = Arc::new(client);
        self.now.settings = Arc::new(settings);
        self.now.folders = Arc::new(workspace_folders(params));
        self.warn_once(problems)
    }

    /// Stops asking the person anything if an agent started the server, whatever the client says.
    pub(crate) fn disable_dialogs_if(&mut self, agent: Option<String>) -> Option<SideEffect> {
        let agent = agent.filter(|_| self.now.settings.seats_a_person())?;
        for settings in [&mut self.at_start, Arc::make_mut(&mut self.now.settings)] {
            (settings.interactive, settings.person) = (false, false);
        }
        let message = format!(
            "{agent}, so an agent seems to have started this server; nobody is asked in dialogs"
        );
        Some(SideEffect::Log(lsp::MessageType::Warning, message))
    }

    /// Starts what had to wait until the client accepts requests.
    pub(crate) fn initialized(&mut self, _: lsp::InitializedParams) -> Vec<SideEffect> {
        let mut effects = vec![SideEffect::Register];
        if self.now.client.configuration {
            effects.push(SideEffect::PullConfiguration);
        }
        if self.now.settings.interactive || self.now.settings.status {
            effects.push(SideEffect::WatchQuestions);
        }
        let folders = Arc::clone(&self.now.folders);
        effects.extend(folders.iter().filter_map(|folder| self.look_up(folder.clone())));
        effects
    }

    pub(crate) fn set_trace(&mut self, params: lsp::SetTraceParams) -> Vec<SideEffect> {
        self.at_start.trace = is_traced(&params.value);
        Arc::make_mut(&mut self.now.settings).trace = self.at_start.trace;
        Vec::new()
    }

    /// Handles changed settings. Clients that support it are asked for their settings; others send
    /// them in the notification.
    pub(crate) fn did_change_configuration(
        &mut self,
        params: lsp::DidChangeConfigurationParams,
    ) -> Vec<SideEffect> {
        if self.now.client.configuration {
            return vec![SideEffect::PullConfiguration];
        }
        let section = super::config::section_among_others(&params.settings).cloned();
        self.configured(&section.map_or(Value::Null, Value::Object))
    }

    /// Applies the client's settings for our section.
    pub(crate) fn configured(&mut self, configuration: &Value) -> Vec<SideEffect> {
        let (settings, problems) = self.at_start.with(configuration);
        let mut effects = self.warn_once(problems);
        if *self.now.settings != settings {
            self.now.settings = Arc::new(settings);
            effects.push(SideEffect::Refresh);
            let documents = self.now.documents.values();
            effects.extend(documents.map(|open| SideEffect::Diagnose(open.uri.clone())));
            let roots = self.now.workspaces.loaded.keys().cloned();
            effects.extend(roots.map(SideEffect::DiagnoseUnopened));
        }
        effects
    }

    fn warn_once(&mut self, problems: Vec<String>) -> Vec<SideEffect> {
        let new = problems.into_iter().filter(|problem| self.warned.insert(problem.clone()));
        new.map(|problem| SideEffect::Log(lsp::MessageType::Warning, problem)).collect()
    }
}

fn is_traced(value: &lsp::TraceValue) -> bool {
    matches!(value, lsp::TraceValue::Messages | lsp::TraceValue::Verbose)
}

/// Returns the folders that the client has open. Old clients have a single root.
fn workspace_folders(params: &lsp::InitializeParams) -> BTreeSet<PathBuf> {
    if let Some(lsp::WorkspaceFolders::WorkspaceFolderList(folders)) =
        &params.workspace_folders_initialize_params.workspace_folders
    {
        return folders.iter().filter_map(|folder| convert::path_of(&folder.uri)).collect();
    }
    // Deprecated in the protocol, but some clients send nothing else.
    #[expect(deprecated)]
    let root = params.root_uri.as_ref().and_then(convert::path_of);
    root.into_iter().collect()
}
