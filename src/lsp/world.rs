//! All state that changes, with one owner: the loop. Changes are applied in the order in which they arrive,
//! never wait and never touch the disk; what has to happen outside is returned as [`SideEffect`]s.

mod knowledge;
mod sync;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tower_lsp::gen_lsp_types as lsp;

use super::analysis::Analyses;
use super::capabilities::Capabilities;
use super::config::{Settings, Trace};
use super::convert;
use super::requests::Cancel;
use super::snapshot::{Diagnose, Documents, Snapshot, Workspaces};
use crate::code::Encoding;
use knowledge::Loading;
pub(crate) use knowledge::WorkspaceLocation;

/// What has to happen outside of the state because of a change in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SideEffect {
    /// A line for the client's log.
    Log(lsp::MessageType, String),
    /// The document's diagnostics are out of date.
    Diagnose(lsp::Uri),
    /// What is known of the document's workspace changed: its diagnostics are out of date, and nobody is typing.
    DiagnoseNow(lsp::Uri),
    /// How this workspace stands may have changed.
    TellStatus(PathBuf),
    /// Write the map of this workspace anew where what it says has changed.
    RefreshMap(PathBuf),
    /// Tell the person where commits of this workspace carry no records.
    TellOfGitHooks(PathBuf),
    /// The diagnostics of files under this root that nobody has open are out of date.
    DiagnoseUnopened(PathBuf),
    /// What was published for the document goes: it was closed, or is not what it seemed.
    Forget(lsp::Uri),
    /// Find out which root governs this folder, and see to it that changes there are noticed.
    FindPlace(PathBuf),
    /// Load, or load again, what is known under this root.
    Load(PathBuf),
    /// These files changed; see what follows when no more come.
    FilesChanged(Vec<PathBuf>),
    /// These files were made or deleted; if git does not ignore them, what is said of them changes.
    MadeOrDeleted(Vec<PathBuf>),
    /// Register what has to be registered with the client after its start.
    Register,
    /// Put to the person at the client what agents ask, from now on.
    WatchQuestions,
    /// Ask the client for its settings.
    PullConfiguration,
    /// Everything shown may be out of date: lenses, hints, pulled diagnostics.
    Refresh,
}

/// The state.
pub(crate) struct World {
    documents: Arc<Documents>,
    workspaces: Arc<Workspaces>,
    client: Arc<Capabilities>,
    at_start: Settings,
    settings: Arc<Settings>,
    encoding: Encoding,
    diagnose: Diagnose,
    /// What features have found out about the open documents; it fills itself.
    analyses: Arc<Analyses>,
    /// Workspace folders of the client.
    folders: BTreeSet<PathBuf>,
    places: HashMap<PathBuf, WorkspaceLocation>,
    loading: HashMap<PathBuf, Loading>,
    /// Folders whose place is being looked up.
    looked_up: HashSet<PathBuf>,
    /// Complaints about settings that were already made.
    warned: HashSet<String>,
    /// Workspaces of which it was looked already whether git's hooks are there.
    told_of_hooks: HashSet<PathBuf>,
}

impl World {
    /// Nothing is open and nothing known.
    pub(crate) fn new(diagnose: Diagnose) -> Self {
        Self {
            documents: Arc::default(),
            workspaces: Arc::default(),
            client: Arc::default(),
            at_start: Settings::default(),
            settings: Arc::default(),
            encoding: Encoding::default(),
            diagnose,
            analyses: Arc::default(),
            folders: BTreeSet::new(),
            places: HashMap::new(),
            loading: HashMap::new(),
            looked_up: HashSet::new(),
            warned: HashSet::new(),
            told_of_hooks: HashSet::new(),
        }
    }

    /// The state as it is now, for one request.
    pub(crate) fn snapshot(&self, cancel: Cancel) -> Snapshot {
        Snapshot {
            settings: Arc::clone(&self.settings),
            client: Arc::clone(&self.client),
            encoding: self.encoding,
            documents: Arc::clone(&self.documents),
            workspaces: Arc::clone(&self.workspaces),
            folders: self.folders.iter().cloned().collect(),
            analyses: Arc::clone(&self.analyses),
            cancel,
            diagnose: self.diagnose,
        }
    }

    /// The documents of an earlier state, with what is known of the workspaces now.
    pub(crate) fn snapshot_of_now(&self, then: Snapshot) -> Snapshot {
        Snapshot { documents: then.documents, ..self.snapshot(then.cancel) }
    }

    /// How long the last analysis of a document took.
    pub(crate) fn analysis_took(&self, uri: &lsp::Uri) -> Duration {
        self.analyses.took(uri)
    }

    /// What the client can do.
    pub(crate) fn client(&self) -> &Capabilities {
        &self.client
    }

    /// The user's settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The unit of the client's columns.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether the client has it open, in step or not.
    pub(crate) fn is_open(&self, uri: &lsp::Uri) -> bool {
        self.documents.contains_key(uri.as_str())
    }

    /// The version of an open document that is in step with the client.
    pub(crate) fn version_of(&self, uri: &lsp::Uri) -> Option<i32> {
        let open = self.documents.get(uri.as_str())?;
        open.in_sync.then_some(open.version)
    }

    /// The start of the session: what the client can do and wants.
    pub(crate) fn initialize(&mut self, params: &lsp::InitializeParams) -> Vec<SideEffect> {
        let client = Capabilities::new(&params.capabilities);
        let (mut settings, problems) = Settings::at_start(params.initialization_options.as_ref());
        // Clients send "off" unasked; it does not overrule the user's own setting.
        if let Some(trace) = params.trace.as_ref().map(trace_level).filter(|it| *it != Trace::Off) {
            settings.trace = trace;
        }
        self.encoding = client.negotiate(settings.position_encoding);
        self.client = Arc::new(client);
        self.at_start = settings.clone();
        self.settings = Arc::new(settings);
        self.folders = workspace_folders(params);
        self.warn_once(problems)
    }

    /// Where an agent started the server, no person is asked, whatever the client says.
    pub(crate) fn seat_nobody_if(&mut self, agent: Option<String>) -> Option<SideEffect> {
        let agent = agent.filter(|_| self.settings.seats_a_person())?;
        for settings in [&mut self.at_start, Arc::make_mut(&mut self.settings)] {
            (settings.interactive, settings.person) = (false, false);
        }
        let message = format!(
            "{agent}, so an agent seems to have started this server; nobody is asked in dialogs"
        );
        Some(SideEffect::Log(lsp::MessageType::Warning, message))
    }

    /// The client is ready to be asked.
    pub(crate) fn initialized(&mut self, _: lsp::InitializedParams) -> Vec<SideEffect> {
        let mut effects = vec![SideEffect::Register];
        if self.client.configuration {
            effects.push(SideEffect::PullConfiguration);
        }
        if self.settings.interactive || self.settings.status {
            effects.push(SideEffect::WatchQuestions);
        }
        let folders: Vec<PathBuf> = self.folders.iter().cloned().collect();
        effects.extend(folders.into_iter().filter_map(|folder| self.look_up(folder)));
        effects
    }

    /// `$/setTrace`.
    pub(crate) fn set_trace(&mut self, params: lsp::SetTraceParams) -> Vec<SideEffect> {
        self.at_start.trace = trace_level(&params.value);
        Arc::make_mut(&mut self.settings).trace = self.at_start.trace;
        Vec::new()
    }

    /// The settings changed; clients that can be asked are asked, others send them along.
    pub(crate) fn did_change_configuration(
        &mut self,
        params: lsp::DidChangeConfigurationParams,
    ) -> Vec<SideEffect> {
        if self.client.configuration {
            return vec![SideEffect::PullConfiguration];
        }
        let section = super::config::section_among_others(&params.settings).cloned();
        self.configured(&section.map_or(Value::Null, Value::Object))
    }

    /// The client's settings for our section arrived.
    pub(crate) fn configured(&mut self, configuration: &Value) -> Vec<SideEffect> {
        let (settings, problems) = self.at_start.with(configuration);
        let mut effects = self.warn_once(problems);
        if *self.settings != settings {
            self.settings = Arc::new(settings);
            effects.push(SideEffect::Refresh);
            effects
                .extend(self.documents.values().map(|open| SideEffect::Diagnose(open.uri.clone())));
            effects
                .extend(self.workspaces.loaded.keys().cloned().map(SideEffect::DiagnoseUnopened));
        }
        effects
    }

    fn warn_once(&mut self, problems: Vec<String>) -> Vec<SideEffect> {
        let new = problems.into_iter().filter(|problem| self.warned.insert(problem.clone()));
        new.map(|problem| SideEffect::Log(lsp::MessageType::Warning, problem)).collect()
    }
}

fn trace_level(value: &lsp::TraceValue) -> Trace {
    match value {
        lsp::TraceValue::Messages => Trace::Messages,
        lsp::TraceValue::Verbose => Trace::Verbose,
        lsp::TraceValue::Off | lsp::TraceValue::Custom(_) => Trace::Off,
    }
}

/// The folders that the client has open; old clients have one root.
fn workspace_folders(params: &lsp::InitializeParams) -> BTreeSet<PathBuf> {
    if let Some(lsp::WorkspaceFolders::WorkspaceFolderList(folders)) =
        &params.workspace_folders_initialize_params.workspace_folders
    {
        return folders.iter().filter_map(|folder| convert::path_of(&folder.uri)).collect();
    }
    // Deprecated in the protocol, and all that some clients send.
    #[expect(deprecated)]
    let root = params.root_uri.as_ref().and_then(convert::path_of);
    root.into_iter().collect()
}
