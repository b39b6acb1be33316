//! The commands of the server, for people's clients and for agents.
//!
//! Each command takes one argument object and returns one JSON value, usually the result of a verb.
//! No command approves what an agent asks for, because an agent can also be a client. If a person
//! has to confirm a command, the server opens a dialog, but only if the client said that a person
//! sits at it. One command, `intent.widen`, edits the registry: it adds an open file to a scope
//! that does not own it. The server refuses this command too unless a person sits at the client.

mod arguments;
mod run;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tower_lsp::lsp_types as lsp;

pub use run::Effects;
pub(crate) use run::{ThenWiden, text_on_disk, widen_on_disk};

pub(crate) use super::command_names::{ACCEPT, RECORD, REVIEW, SELECT, SHOW, WIDEN};
use crate::refusal::{RequestRefusal, RequestResult};
use crate::snapshot::Snapshot;

pub(crate) fn options() -> lsp::ExecuteCommandOptions {
    let commands = ALL.iter().map(|command| command.name.to_owned()).collect();
    lsp::ExecuteCommandOptions { commands, ..Default::default() }
}

pub(crate) struct ServerCommand {
    pub name: &'static str,
    pub asks: Asks,
    pub run: CommandFunction,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
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
pub(crate) const ALL: &[ServerCommand] = &[
    ServerCommand { name: "intent.list", asks: Asks::Nothing, run: run::list },
    ServerCommand { name: SELECT, asks: Asks::WhichIntent, run: run::select },
    ServerCommand { name: "intent.clear", asks: Asks::Nothing, run: run::clear },
    ServerCommand { name: "intent.status", asks: Asks::Nothing, run: run::status },
    ServerCommand { name: "intent.context", asks: Asks::Nothing, run: run::context },
    ServerCommand { name: "intent.gate", asks: Asks::Nothing, run: run::gate },
    ServerCommand { name: RECORD, asks: Asks::Nothing, run: run::record },
    ServerCommand { name: "intent.why", asks: Asks::Nothing, run: run::why },
    ServerCommand { name: "intent.map", asks: Asks::Nothing, run: run::map },
    ServerCommand { name: "intent.verify", asks: Asks::Nothing, run: run::verify },
    ServerCommand { name: "intent.lesson", asks: Asks::Nothing, run: run::lesson },
    ServerCommand { name: SHOW, asks: Asks::Nothing, run: run::show },
    ServerCommand { name: REVIEW, asks: Asks::Questions, run: run::review },
    ServerCommand { name: WIDEN, asks: Asks::Person, run: run::widen },
    ServerCommand { name: ACCEPT, asks: Asks::Consent, run: run::accept },
];

type CommandFunction = fn(&Snapshot, &Map<String, Value>, &mut Effects) -> RequestResult<Value>;

pub(crate) fn find(name: &str) -> RequestResult<&'static ServerCommand> {
    ALL.iter().find(|command| command.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|command| command.name).collect();
        let names = names.join(", ");
        RequestRefusal::Senseless(format!("there is no command {name:?}; there are {names}"))
    })
}

/// Returns the single argument object. A missing or `null` argument counts as an empty object.
pub(crate) fn argument(
    command: &str,
    arguments: Option<Vec<Value>>,
) -> RequestResult<Map<String, Value>> {
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
    use schemars::{JsonSchema, Schema};
    use serde_json::json;

    use super::arguments::*;
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

    fn schema<T: JsonSchema>() -> Schema {
        schemars::SchemaGenerator::default().into_root_schema_for::<T>()
    }

    /// Returns the schema of the argument of each command, in the order of the commands.
    fn schemas() -> [(&'static str, Schema); 15] {
        [
            ("intent.list", schema::<ListArguments>()),
            (SELECT, schema::<SelectArguments>()),
            ("intent.clear", schema::<WorkspaceArguments>()),
            ("intent.status", schema::<WorkspaceArguments>()),
            ("intent.context", schema::<ContextArguments>()),
            ("intent.gate", schema::<GateArguments>()),
            (RECORD, schema::<RecordArguments>()),
            ("intent.why", schema::<WhyArguments>()),
            ("intent.map", schema::<MapArguments>()),
            ("intent.verify", schema::<VerifyArguments>()),
            ("intent.lesson", schema::<LessonArguments>()),
            (SHOW, schema::<ShowArguments>()),
            (REVIEW, schema::<WorkspaceArguments>()),
            (WIDEN, schema::<WidenArguments>()),
            (ACCEPT, schema::<AcceptArguments>()),
        ]
    }

    #[test]
    fn arguments_are_as_documented() {
        let names = schemas().map(|(name, _)| name);
        assert_eq!(ALL.iter().map(|command| command.name).collect::<Vec<_>>(), names);
        let fields = schemas().map(|(name, schema)| {
            let fields = schema.get("properties").and_then(Value::as_object).unwrap();
            let required = schema.get("required").and_then(Value::as_array);
            let required = |name: &str| required.is_some_and(|it| it.iter().any(|f| f == name));
            let fields = fields
                .keys()
                .map(|name| if required(name) { name.clone() } else { format!("{name}?") });
            format!("{name} {{{}}}", fields.collect::<Vec<_>>().join(", "))
        });
        insta::assert_snapshot!(fields.join("\n"));
    }
}
