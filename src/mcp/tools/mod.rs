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

/// What calls of a tool do. Those that read run in parallel, every other one alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// Neither files nor intents change.
    Reads,
    /// Repeating the call adds nothing more.
    Adds,
    /// Content that already exists may be replaced.
    Overwrites,
}

pub(super) struct ServedTool {
    pub(super) shown: rmcp::model::Tool,
    pub(super) effect: ToolEffect,
    pub(super) run: ToolFunction,
}

type ToolFunction = Arc<dyn Fn(&CallContext, JsonObject) -> ToolOutcome + Send + Sync>;

pub(super) struct CallContext {
    pub(super) session: Arc<Connection>,
    /// The absolute path of the folder in which relative paths start.
    pub(super) folder: PathBuf,
}

pub(super) struct ToolTable(pub(super) Vec<ServedTool>);

/// Returns all tools, in the order in which they are listed.
pub(super) fn tool_table() -> ToolTable {
    use ToolEffect::{Adds, Overwrites, Reads};
    ToolTable(vec![
        tool("select_active_intent", "Select an intent", Adds, intents::SELECT, intents::select),
        tool("list_intents", "List intents", Reads, intents::LIST, intents::list),
        tool("gate_check", "Ask the gate", Reads, gate::CHECK, gate::check),
        tool("file_read", "Read a file", Reads, files::READ, files::read),
        tool("file_write", "Write a file", Overwrites, files::WRITE, files::write),
        tool("record_mutation", "Record changes", Adds, record::RECORD, record::record),
        tool("why", "Why is this code here?", Reads, why::WHY, why::why),
        tool("request_scope", "Ask for a wider scope", Adds, requests::SCOPE, requests::widen),
        tool("propose_intent", "Propose an intent", Adds, requests::INTENT, requests::propose),
        tool("record_lesson", "Remember a lesson", Adds, lesson::LESSON, lesson::record),
        tool("approval_status", "What a person decided", Reads, requests::STATUS, requests::show),
    ])
}

impl ToolTable {
    pub(super) fn get(&self, name: &str) -> Option<&ServedTool> {
        self.0.iter().find(|tool| tool.shown.name == name)
    }

    pub(super) fn list(&self) -> Vec<rmcp::model::Tool> {
        self.0.iter().map(|tool| tool.shown.clone()).collect()
    }
}

fn tool<A, T>(
    name: &'static str,
    title: &'static str,
    effect: ToolEffect,
    description: &'static str,
    run: fn(&CallContext, A) -> ToolOutcome<T>,
) -> ServedTool
where
    A: DeserializeOwned + JsonSchema + 'static,
    T: Serialize + JsonSchema + 'static,
{
    // Every tool works only in this clone, and repeating a call has no further effect.
    let annotations = ToolAnnotations::with_title(title)
        .read_only(effect == ToolEffect::Reads)
        .destructive(effect == ToolEffect::Overwrites)
        .idempotent(true)
        .open_world(false);
    let shown = rmcp::model::Tool::new(name, description, schema::of_arguments::<A>())
        .with_title(title)
        .with_raw_output_schema(schema::of_answer::<T>())
        .with_annotations(annotations);
    let run = move |call: &CallContext, arguments: JsonObject| {
        let arguments = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            Refusal::unreadable(format!(
                "The arguments of {name} cannot be read: {error}. Nothing was done."
            ))
        })?;
        Ok(run(call, arguments)?.erased())
    };
    ServedTool { shown, effect, run: Arc::new(run) }
}

impl CallContext {
    /// Opens the workspace of the folder in which relative paths start. It may have no
    /// `.orchestration/`.
    fn open_any_workspace(&self) -> Result<Workspace, Refusal> {
        Ok(Workspace::open(&self.folder, self.session.environment()).map_err(VerbError::from)?)
    }

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
        let own = self.open_any_workspace()?;
        if own.root.governed() || own.git().is_none() {
            return self.file(named);
        }
        let path = own.path(&self.folder, &self.folder.join(Path::new(named)))?;
        Ok((own, path))
    }

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

    fn actor(&self) -> String {
        self.event("", Vec::new()).actor()
    }
}
