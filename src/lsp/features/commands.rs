//! The commands of the server, for people's clients and for agents.
//!
//! Each command takes one argument object and returns one JSON value, usually the result of a verb.
//! No command approves what an agent asks for, because an agent can also be a client. If a person
//! has to confirm a command, the server opens a dialog, but only if the client said that a person
//! sits at it. One command, `intent.widen`, edits the registry: it adds an open file to a scope
//! that does not own it. The server refuses this command too unless a person sits at the client.

mod arguments;
mod run;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tower_lsp::lsp_types as lsp;

pub use run::Effects;
pub(crate) use run::{RegistryChange, ThenWiden, text_on_disk, widen_on_disk};

pub(crate) use super::command_names::{ACCEPT, REVIEW, SHOW, WIDEN};
pub use super::command_names::{RECORD, SELECT};
use crate::refusal::{RequestRefusal, RequestResult};
use crate::snapshot::Snapshot;

pub(crate) fn options() -> lsp::ExecuteCommandOptions {
    let commands = ALL.iter().map(|command| command.name.to_owned()).collect();
    lsp::ExecuteCommandOptions { commands, ..Default::default() }
}

pub(crate) struct ServerCommand {
    /// The name that the client sends.
    pub name: &'static str,
    /// What must be asked before the command runs.
    pub asks: Asks,
    /// Runs the command. What it wrote is added to the effects, even if it fails.
    pub run: CommandFunction,
    #[cfg(test)]
    argument: fn() -> schemars::Schema,
}

impl ServerCommand {
    /// Returns what is shown while the command reads all files. `None` if it does not.
    pub(crate) fn progress(&self, argument: &Map<String, Value>) -> Option<&'static str> {
        let reads_all = match self.name {
            "intent.list" => argument.get("count") == Some(&Value::Bool(true)),
            name => name == "intent.map",
        };
        reads_all.then_some("Counting what the intents brought")
    }
}

/// What must be asked of a person before a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing has to be asked.
    Nothing,
    /// Which intent to select, if the argument names none and a person can be asked.
    WhichIntent,
    /// Whether the person confirms the command. It is refused if no person can be asked.
    Consent,
    /// Nothing has to be asked, but the command is refused if no person sits at the client.
    Person,
    /// The waiting questions of agents. The loop asks them after the command has run. The command
    /// is refused if no person can be asked.
    Questions,
}

/// All commands, in the order in which they are announced.
pub const ALL: &[ServerCommand] = &[
    command("intent.list", Asks::Nothing, run::list, schema::<arguments::ListArguments>),
    command(SELECT, Asks::WhichIntent, run::select, schema::<arguments::SelectArguments>),
    command("intent.clear", Asks::Nothing, run::clear, schema::<arguments::WorkspaceArguments>),
    command("intent.status", Asks::Nothing, run::status, schema::<arguments::WorkspaceArguments>),
    command("intent.context", Asks::Nothing, run::context, schema::<arguments::ContextArguments>),
    command("intent.gate", Asks::Nothing, run::gate, schema::<arguments::GateArguments>),
    command(RECORD, Asks::Nothing, run::record, schema::<arguments::RecordArguments>),
    command("intent.why", Asks::Nothing, run::why, schema::<arguments::WhyArguments>),
    command("intent.map", Asks::Nothing, run::map, schema::<arguments::MapArguments>),
    command("intent.verify", Asks::Nothing, run::verify, schema::<arguments::VerifyArguments>),
    command("intent.lesson", Asks::Nothing, run::lesson, schema::<arguments::LessonArguments>),
    command(SHOW, Asks::Nothing, run::show, schema::<arguments::ShowArguments>),
    command(REVIEW, Asks::Questions, run::review, schema::<arguments::WorkspaceArguments>),
    command(WIDEN, Asks::Person, run::widen, schema::<arguments::WidenArguments>),
    command(ACCEPT, Asks::Consent, run::accept, schema::<arguments::AcceptArguments>),
];

type CommandFunction = fn(&Snapshot, &Map<String, Value>, &mut Effects) -> RequestResult<Value>;

#[cfg_attr(not(test), allow(unused_variables, reason = "only tests read the schemas"))]
const fn command(
    name: &'static str,
    asks: Asks,
    run: CommandFunction,
    argument: fn() -> schemars::Schema,
) -> ServerCommand {
    ServerCommand {
        name,
        asks,
        run,
        #[cfg(test)]
        argument,
    }
}

fn schema<T: JsonSchema>() -> schemars::Schema {
    schemars::SchemaGenerator::default().into_root_schema_for::<T>()
}

pub fn find(name: &str) -> RequestResult<&'static ServerCommand> {
    ALL.iter().find(|command| command.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|command| command.name).collect();
        let names = names.join(", ");
        RequestRefusal::Senseless(format!("there is no command {name:?}; there are {names}"))
    })
}

/// Returns the single argument object. A missing or `null` argument counts as an empty object.
pub fn argument(command: &str, arguments: Option<Vec<Value>>) -> RequestResult<Map<String, Value>> {
    let mut arguments = arguments.unwrap_or_default().into_iter();
    let refuse = |what: &str| {
        Err(RequestRefusal::Senseless(format!("{command} takes one argument, an object; {what}")))
    };
    let first = match arguments.next() {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(object)) => object,
        Some(other) => return refuse(&format!("the first is {}", kind(&other))),
    };
    match arguments.len() {
        0 => Ok(first),
        more => refuse(&format!("there are {}", more + 1)),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Parses the typed argument. The refusal names the field that is wrong.
fn read<T: DeserializeOwned>(object: &Map<String, Value>) -> RequestResult<T> {
    let parse = |object: Map<String, Value>| serde_json::from_value::<T>(Value::Object(object));
    let error = match parse(object.clone()) {
        Ok(argument) => return Ok(argument),
        Err(error) => error.to_string(),
    };
    // serde reports a wrong type without the name of the field. The wrong field is the one without
    // which the error disappears or changes.
    let wrong_field = object.keys().find(|key| {
        let mut rest = object.clone();
        rest.remove(*key);
        parse(rest).map_or_else(|other| other.to_string() != error, |_| true)
    });
    Err(RequestRefusal::Senseless(match wrong_field {
        Some(key) if !error.starts_with("unknown field") && !error.starts_with("missing") => {
            format!("the argument's field {key:?}: {error}")
        }
        _ => format!("the argument: {error}"),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(name: &str, given: Value) -> String {
        let editor = crate::features::fixture::Editor::new("//- /a.rs\nfn a() {}\n");
        let snapshot = editor.snapshot();
        let object = argument(name, Some(vec![given])).unwrap();
        let answer = (find(name).unwrap().run)(&snapshot, &object, &mut Effects::default());
        answer.unwrap_err().to_string()
    }

    #[test]
    fn wrong_arguments_are_refused_by_name() {
        for (name, given, expected) in [
            ("intent.select", json!({ "id": 7 }), "\"id\""),
            ("intent.select", json!({}), "`id`"),
            ("intent.select", json!({ "id": "INT-001", "colour": 1 }), "`colour`"),
            ("intent.gate", json!({ "paths": "src/a.rs" }), "\"paths\""),
            (
                "intent.record",
                json!({ "paths": ["a.rs"], "contributor": "ROBOT" }),
                "\"contributor\"",
            ),
            ("intent.why", json!({ "line": 3 }), "path"),
            ("intent.why", json!({ "path": "a.rs", "line": 0 }), "line"),
            ("intent.why", json!({ "path": "a.rs", "line": 3 }), "no line 3"),
            ("intent.why", json!({ "path": "none.rs" }), "none.rs does not exist"),
            ("intent.accept", json!({ "path": "a.rs", "line": 3 }), "no line 3"),
            ("intent.context", json!({ "id": "INT-009" }), "no intent INT-009"),
            ("intent.lesson", json!({ "text": "x", "intent": "INT-009" }), "no intent INT-009"),
            ("intent.list", json!({ "uri": "untitled:1" }), "uri"),
        ] {
            let message = refused(name, given.clone());
            assert!(message.contains(expected), "{name} {given}: {message}");
        }
    }

    #[test]
    fn one_object_or_nothing_is_an_argument() {
        for given in [None, Some(vec![]), Some(vec![Value::Null]), Some(vec![json!({})])] {
            assert_eq!(argument("intent.list", given), Ok(Map::new()));
        }
        for given in [vec![json!("x")], vec![json!({}), json!({})]] {
            assert!(matches!(
                argument("intent.list", Some(given)),
                Err(RequestRefusal::Senseless(_))
            ));
        }
    }

    #[test]
    fn arguments_are_as_documented() {
        let fields: Vec<String> = ALL
            .iter()
            .map(|command| {
                let schema = (command.argument)();
                let fields = schema.get("properties").and_then(Value::as_object).unwrap();
                let required = schema.get("required").and_then(Value::as_array);
                let required = |name: &str| required.is_some_and(|it| it.iter().any(|f| f == name));
                let fields = fields
                    .keys()
                    .map(|name| if required(name) { name.clone() } else { format!("{name}?") });
                format!("{} {{{}}}", command.name, fields.collect::<Vec<_>>().join(", "))
            })
            .collect();
        insta::assert_snapshot!(fields.join("\n"));
    }
}
