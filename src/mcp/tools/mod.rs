//! The table of tools: what a client sees of each, and the function that it calls.
//!
//! Every client gets the same list in the same order. Whether an intent allows something is part of
//! the answers; no tool is hidden for it. No tool approves anything.

mod files;
mod gate;
mod intents;
mod lesson;
mod record;
mod requests;
mod why;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Refusal, ToolOutcome};
use super::schema;
use super::session::Connection;
use ::why::{VerbError, Workspace};
use evidence::event::{Asking, Effect, Event, Means};
use ground::RelativePath;

/// Whether calls of a tool may run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolLane {
    /// In parallel with other calls that read.
    Reads,
    /// Alone: no other call runs at the same time.
    Writes,
}

pub(super) struct ServedTool {
    /// The description that `tools/list` returns.
    pub(super) shown: rmcp::model::Tool,
    /// Whether the tool may run in parallel with others.
    pub(super) lane: ToolLane,
    pub(super) run: ToolFunction,
}

/// A function that runs a tool with its arguments.
type ToolFunction = Arc<dyn Fn(&CallContext, JsonObject) -> ToolOutcome + Send + Sync>;

/// What a tool knows about its caller.
pub(super) struct CallContext {
    pub(super) session: Arc<Connection>,
    /// The absolute path of the folder in which relative paths start.
    pub(super) folder: PathBuf,
}

pub(super) struct ToolTable(pub(super) Vec<ServedTool>);

/// Returns all tools, in the order in which they are listed.
fn tools() -> Vec<ServedTool> {
    vec![
        tool("select_active_intent", "Select an intent", ADDS, intents::SELECT, intents::select),
        tool("list_intents", "List intents", READS, intents::LIST, intents::list),
        tool("gate_check", "Ask the gate", READS, gate::CHECK, gate::check),
        tool("file_read", "Read a file", READS, files::READ, files::read),
        tool("file_write", "Write a file", OVERWRITES, files::WRITE, files::write),
        tool("record_mutation", "Record changes", ADDS, record::RECORD, record::record),
        tool("why", "Why is this code here?", READS, why::WHY, why::why),
        tool("request_scope", "Ask for a wider scope", ADDS, requests::SCOPE, requests::widen),
        tool("propose_intent", "Propose an intent", ADDS, requests::INTENT, requests::propose),
        tool("record_lesson", "Remember a lesson", ADDS, lesson::LESSON, lesson::record),
        tool("approval_status", "What a person decided", READS, requests::STATUS, requests::show),
    ]
}

impl ToolTable {
    pub(super) fn new() -> Self {
        Self(tools())
    }

    pub(super) fn get(&self, name: &str) -> Option<&ServedTool> {
        self.0.iter().find(|tool| tool.shown.name == name)
    }

    pub(super) fn list(&self) -> Vec<rmcp::model::Tool> {
        self.0.iter().map(|tool| tool.shown.clone()).collect()
    }
}

/// What a client may tell its user about a tool before it runs.
struct Hints {
    read_only: bool,
    destructive: bool,
}

/// For tools that only read: they change neither files nor intents.
const READS: Hints = Hints { read_only: true, destructive: false };
/// Adds something. Repeating the call adds nothing more.
const ADDS: Hints = Hints { read_only: false, destructive: false };
/// May replace content that already exists.
const OVERWRITES: Hints = Hints { read_only: false, destructive: true };

fn tool<A, T>(
    name: &'static str,
    title: &'static str,
    hints: Hints,
    description: &'static str,
    run: fn(&CallContext, A) -> ToolOutcome<T>,
) -> ServedTool
where
    A: DeserializeOwned + JsonSchema + 'static,
    T: Serialize + JsonSchema + 'static,
{
    // Every tool works only in this clone, and repeating a call has no further effect.
    let annotations = ToolAnnotations::with_title(title)
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(true)
        .open_world(false);
    let shown = rmcp::model::Tool::new(name, description, schema::of_arguments::<A>())
        .with_title(title)
        .with_raw_output_schema(schema::of_answer::<T>())
        .with_annotations(annotations);
    let lane = if hints.read_only { ToolLane::Reads } else { ToolLane::Writes };
    let run = move |call: &CallContext, arguments: JsonObject| {
        let arguments = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            Refusal::unreadable(format!(
                "The arguments of {name} cannot be read: {error}. Nothing was done."
            ))
        })?;
        Ok(run(call, arguments)?.erased())
    };
    ServedTool { shown, lane, run: Arc::new(run) }
}

impl CallContext {
    /// Opens the workspace of the folder in which relative paths start. It may have no
    /// `.orchestration/`.
    fn open_any_workspace(&self) -> Result<Workspace, Refusal> {
        Ok(Workspace::open(&self.folder, self.session.environment()).map_err(VerbError::from)?)
    }

    /// Opens the workspace of the folder in which relative paths start.
    fn open_workspace(&self) -> Result<Workspace, Refusal> {
        let ws = self.open_any_workspace()?;
        ws.governed()?;
        Ok(ws)
    }

    /// Resolves a path, and opens the workspace that governs it. A path that no workspace governs
    /// is resolved against the connection's own workspace, and so is outside it.
    fn file(&self, named: &str) -> Result<(Workspace, RelativePath), Refusal> {
        let target = self.folder.join(Path::new(named));
        let ws = Workspace::open(&target, self.session.environment()).map_err(VerbError::from)?;
        let ws = if ws.root.governed() { ws } else { self.open_workspace()? };
        let path = ws.path(&self.folder, &target)?;
        Ok((ws, path))
    }

    /// Like [`Self::file`], for a question that git alone can answer. So the repository of the
    /// connection need not have `.orchestration/`.
    fn file_to_ask_about(&self, named: &str) -> Result<(Workspace, RelativePath), Refusal> {
        let own =
            Workspace::open(&self.folder, self.session.environment()).map_err(VerbError::from)?;
        if own.root.governed() || own.git().is_none() {
            return self.file(named);
        }
        let path = own.path(&self.folder, &self.folder.join(Path::new(named)))?;
        Ok((own, path))
    }

    /// Returns an event for the gate that describes this call.
    fn event(&self, tool: &str, effects: Vec<Effect>) -> Event {
        let who = self.session.actor_parts();
        // Every call gets a new id: if a client repeats a call, this is intended.
        let call = uuid::Uuid::now_v7().to_string();
        Event {
            host: who.host,
            session: Some(who.session),
            subagent: who.subagent,
            input: call.clone(),
            call: Some(call),
            asking: Asking::ByCode,
            means: Means::Tools,
            rewrites: false,
            from_host: true,
            environment: self.session.environment().clone(),
            cwd: self.folder.clone(),
            tool: tool.to_owned(),
            model: None,
            claimed_class: None,
            failed: false,
            prompt: None,
            effects,
        }
    }

    /// Returns the actor under which selections are kept.
    fn actor(&self) -> String {
        self.event("", Vec::new()).actor()
    }
}
