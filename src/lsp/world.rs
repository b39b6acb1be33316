//! The mutable state of the server. The loop is its only owner.
//!
//! Changes are applied in the order in which they arrive. They never wait. Slow work that follows
//! from a change is started in [`super::effects`].

mod knowledge;
mod notebooks;
mod settings;
mod sync;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::Value;
use tower_lsp::lsp_types as lsp;

use super::capabilities::Capabilities;
use super::config::Settings;
use super::convert;
use super::notebook::Notebook;
use super::snapshot::{Diagnose, DiagnoseUnopened, Snapshot};
use super::workspace_location::WorkspaceLocation;

pub struct World {
    pub(super) snapshot: Snapshot,
    initial_settings: Settings,
    notebooks: HashMap<lsp::Url, Notebook>,
    places: HashMap<PathBuf, WorkspaceLocation>,
    /// The roots that are being loaded.
    loading: HashMap<PathBuf, RootLoad>,
    /// The folders for which a workspace is being looked up.
    looked_up: HashSet<PathBuf>,
    warned: HashSet<String>,
    /// The roots of which it was checked once whether git's hooks are missing.
    told_of_hooks: HashSet<PathBuf>,
}

#[derive(PartialEq, Eq)]
enum RootLoad {
    Current,
    /// Something changed since the load began, so that the root must be loaded again.
    Stale,
}

impl World {
    pub(crate) fn new(diagnose: Diagnose, unopened: DiagnoseUnopened) -> Self {
        Self {
            snapshot: Snapshot::new(diagnose, unopened),
            initial_settings: Settings::default(),
            notebooks: HashMap::new(),
            places: HashMap::new(),
            loading: HashMap::new(),
            looked_up: HashSet::new(),
            warned: HashSet::new(),
            told_of_hooks: HashSet::new(),
        }
    }

    /// Takes over the client's capabilities, settings and folders at the start of the session.
    /// Returns a warning for each setting that is not understood.
    ///
    /// The fields are read one by one, because a session without a field that does not follow the
    /// protocol is better than none.
    pub(crate) fn initialize(&mut self, params: &Value) -> Vec<String> {
        let client = Capabilities::new(&params["capabilities"]);
        let (mut settings, problems) = Settings::at_start(params.get("initializationOptions"));
        // Clients send "off" even if the user did not ask for it, so it does not override the
        // user's own setting.
        settings.trace |= lsp::TraceValue::deserialize(&params["trace"]).is_ok_and(is_traced);
        self.initial_settings = settings.clone();
        self.snapshot.encoding = client.negotiate(settings.position_encoding);
        self.snapshot.client = Arc::new(client);
        self.snapshot.settings = Arc::new(settings);
        self.snapshot.folders = Arc::new(workspace_folders(params));
        self.not_warned_yet(problems)
    }

    /// Turns dialogs and the person's selection off if an agent started the server, whatever the
    /// client says. Returns a warning if dialogs were on.
    pub(crate) fn distrust_client_of(&mut self, agent: Option<String>) -> Option<String> {
        let agent = agent?;
        let had_person = self.snapshot.settings.has_person();
        for settings in [&mut self.initial_settings, Arc::make_mut(&mut self.snapshot.settings)] {
            (settings.interactive, settings.person) = (false, false);
            settings.started_by_agent = Some(agent.clone());
        }
        if !had_person {
            return None;
        }
        Some(format!(
            "{agent}, so an agent seems to have started this server; nobody is asked in dialogs"
        ))
    }

    pub(crate) fn cells_of(&self, notebook: &lsp::Url) -> Vec<lsp::Url> {
        let cells = self.notebooks.get(notebook).map(|notebook| notebook.cells.iter());
        cells.into_iter().flatten().map(|cell| cell.open.uri.clone()).collect()
    }

    fn not_warned_yet(&mut self, mut problems: Vec<String>) -> Vec<String> {
        problems.retain(|problem| self.warned.insert(problem.clone()));
        problems
    }
}

fn is_traced(value: lsp::TraceValue) -> bool {
    matches!(value, lsp::TraceValue::Messages | lsp::TraceValue::Verbose)
}

fn workspace_folders(params: &Value) -> BTreeSet<PathBuf> {
    let path = |uri: &Value| convert::path_of(&uri.as_str()?.parse().ok()?);
    match &params["workspaceFolders"] {
        Value::Array(folders) => folders.iter().filter_map(|it| path(&it["uri"])).collect(),
        // Deprecated in the protocol, but some clients send nothing else.
        _ => path(&params["rootUri"]).into_iter().collect(),
    }
}
