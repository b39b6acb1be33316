//! The tools, one row each: what a client is told of them, and what they do.
//!
//! The list is the same for everybody and always in this order; what may be done under which intent is said by the
//! answers, not by hiding tools. No tool approves anything.

mod files;
mod gate;
mod intents;
mod lesson;
mod people;
mod record;
mod why;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, Outcome, Refusal};
use super::schema;
use super::session::Connection;
use crate::verbs::Workspace;
use crate::verbs::event::{Asking, Effect, Event};
use crate::workspace::RelativePath;

/// Whether calls of a tool go side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolLane {
    /// With others that read.
    Reads,
    /// Alone.
    Writes,
}

/// A tool.
pub(super) struct ServedTool {
    /// What `tools/list` shows.
    pub(super) shown: rmcp::model::Tool,
    /// When it may run.
    pub(super) lane: ToolLane,
    /// What it does.
    pub(super) run: Run,
}

/// What a tool does with its arguments.
type Run = Arc<dyn Fn(&CallContext, JsonObject) -> Outcome + Send + Sync>;

/// What a tool knows of its caller.
pub(super) struct CallContext {
    /// The connection.
    pub(super) session: Arc<Connection>,
    /// Where relative paths start; absolute.
    pub(super) folder: PathBuf,
}

/// All of them.
pub(super) struct ToolTable(pub(super) Vec<ServedTool>);

impl ToolTable {
    /// In the order in which they are listed.
    pub(super) fn new() -> Self {
        Self(vec![
            tool(
                "select_active_intent",
                "Select an intent",
                ADDS,
                intents::SELECT,
                intents::select,
            ),
            tool("list_intents", "List intents", READS, intents::LIST, intents::list),
            tool("gate_check", "Ask the gate", READS, gate::CHECK, gate::check),
            tool("file_read", "Read a file", READS, files::READ, files::read),
            tool("file_write", "Write a file", OVERWRITES, files::WRITE, files::write),
            tool("record_mutation", "Record changes", ADDS, record::RECORD, record::record),
            tool("why", "Why is this code here?", READS, why::WHY, why::why),
            tool(
                "request_scope",
                "Ask for a wider scope",
                ADDS,
                people::SCOPE,
                people::request_scope,
            ),
            tool(
                "propose_intent",
                "Propose an intent",
                ADDS,
                people::INTENT,
                people::propose_intent,
            ),
            tool("record_lesson", "Remember a lesson", ADDS, lesson::LESSON, lesson::record),
            tool("approval_status", "What a person decided", READS, people::STATUS, people::status),
        ])
    }

    pub(super) fn get(&self, name: &str) -> Option<&ServedTool> {
        self.0.iter().find(|tool| tool.shown.name == name)
    }

    pub(super) fn list(&self) -> Vec<rmcp::model::Tool> {
        self.0.iter().map(|tool| tool.shown.clone()).collect()
    }
}

/// What a client may tell its user of a tool before it runs.
struct Hints {
    read_only: bool,
    destructive: bool,
}

/// Changes nothing that anybody would miss.
const READS: Hints = Hints { read_only: true, destructive: false };
/// Adds something; the same call again adds nothing.
const ADDS: Hints = Hints { read_only: false, destructive: false };
/// May replace what was there.
const OVERWRITES: Hints = Hints { read_only: false, destructive: true };

fn tool<A, T>(
    name: &'static str,
    title: &'static str,
    hints: Hints,
    description: &'static str,
    run: fn(&CallContext, A) -> Result<Answer<T>, Refusal>,
) -> ServedTool
where
    A: DeserializeOwned + JsonSchema + 'static,
    T: Serialize + JsonSchema + 'static,
{
    // Every tool works in this clone alone, and a call that is repeated does nothing new.
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
    /// The workspace that the connection stands in.
    fn here(&self) -> Result<Workspace, Refusal> {
        let ws = Workspace::open(&self.folder)
            .map_err(|error| Refusal::from(crate::verbs::VerbError::from(error)))?;
        ws.governed()?;
        Ok(ws)
    }

    /// A file with the workspace that governs it. One that nothing governs is judged from where the connection stands,
    /// and so is outside.
    fn file(&self, named: &str) -> Result<(Workspace, RelativePath), Refusal> {
        let target = self.folder.join(Path::new(named));
        let ws = Workspace::open(&target)
            .map_err(|error| Refusal::from(crate::verbs::VerbError::from(error)))?;
        let ws = if ws.root.governed() { ws } else { self.here()? };
        let path = ws.path(&self.folder, &target)?;
        Ok((ws, path))
    }

    /// This call as the gate knows calls.
    fn event(&self, tool: &str, effects: Vec<Effect>) -> Event {
        let who = self.session.who();
        // No two calls are one: a client that repeats itself means it.
        let call = uuid::Uuid::now_v7().to_string();
        Event {
            host: who.host,
            session: Some(who.session),
            subagent: who.subagent,
            input: call.clone(),
            call: Some(call),
            asking: Asking::ByCode,
            rewrites: false,
            cwd: self.folder.clone(),
            tool: tool.to_owned(),
            model: None,
            claimed_class: None,
            failed: false,
            prompt: None,
            effects,
        }
    }

    /// The one that acts, as selections know it.
    fn actor(&self) -> String {
        self.event("", Vec::new()).actor()
    }
}
