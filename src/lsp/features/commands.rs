//! The commands of the server: for people's clients and for agents alike.
//!
//! Each takes one argument object and answers one result, the same data as the verb it stands for. There is none that
//! approves what an agent asks for: an agent can be a client too. What a person has to confirm is asked in a dialog that
//! the server opens, and only where the client said that a person sits there. The one command that edits the registry
//! adds an open file that is out of scope to the scope that it is out of, and runs there alone as well.

mod arguments;
mod run;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use arguments::{
    AcceptArguments, RecordArguments, SelectArguments, ShowArguments, WidenArguments,
    WorkspaceArguments,
};
pub(crate) use run::{Effects, RegistryChange, ThenWiden, widen_on_disk};

use crate::lsp::dispatch::{RequestRefusal, fault};
use crate::lsp::snapshot::Snapshot;

/// Select an intent.
pub(crate) const SELECT: &str = "intent.select";
/// Record what changed.
pub(crate) const RECORD: &str = "intent.record";
/// Show a person the intent or the record of a block.
pub(crate) const SHOW: &str = "intent.show";
/// Put what agents ask for to the person again. Decides nothing.
pub(crate) const REVIEW: &str = "intent.review";
/// Add an open file to the scope of an intent, and save that. For people.
pub(crate) const WIDEN: &str = "intent.widen";
/// Accept a block as it stands. For people: it is confirmed in a dialog.
pub(crate) const ACCEPT: &str = "intent.accept";

/// One command.
pub(crate) struct ServerCommand {
    /// What the client sends.
    pub(crate) name: &'static str,
    /// What has to be asked before it runs.
    pub(crate) asks: Asks,
    run: Run,
    #[cfg(test)]
    argument: fn() -> schemars::Schema,
}

/// What has to be asked of a person before a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Nothing.
    Nothing,
    /// Which intent, where none is named and a person sits there.
    WhichIntent,
    /// Whether it is really meant. Without a person it is refused.
    Consent,
    /// Nothing, but it is refused without a person.
    Person,
    /// What agents wait for, by the loop and not by the command. Without a person it is refused.
    Questions,
}

/// Every command, in the order in which they are announced.
pub(crate) const ALL: &[ServerCommand] = &[
    command("intent.list", Asks::Nothing, run::list, schema::<WorkspaceArguments>),
    command(SELECT, Asks::WhichIntent, run::select, schema::<SelectArguments>),
    command("intent.clear", Asks::Nothing, run::clear, schema::<WorkspaceArguments>),
    command("intent.status", Asks::Nothing, run::status, schema::<WorkspaceArguments>),
    command("intent.context", Asks::Nothing, run::context, schema::<arguments::ContextArguments>),
    command("intent.gate", Asks::Nothing, run::gate, schema::<arguments::GateArguments>),
    command(RECORD, Asks::Nothing, run::record, schema::<RecordArguments>),
    command("intent.why", Asks::Nothing, run::why, schema::<arguments::WhyArguments>),
    command("intent.map", Asks::Nothing, run::map, schema::<arguments::MapArguments>),
    command("intent.verify", Asks::Nothing, run::verify, schema::<arguments::VerifyArguments>),
    command("intent.lesson", Asks::Nothing, run::lesson, schema::<arguments::LessonArguments>),
    command(SHOW, Asks::Nothing, run::show, schema::<ShowArguments>),
    command(REVIEW, Asks::Questions, run::review, schema::<WorkspaceArguments>),
    command(WIDEN, Asks::Person, run::widen, schema::<WidenArguments>),
    command(ACCEPT, Asks::Consent, run::accept, schema::<AcceptArguments>),
];

type Run = fn(&Snapshot, &Map<String, Value>, &mut Effects) -> Result<Value, RequestRefusal>;

#[cfg_attr(not(test), allow(unused_variables, reason = "schemas are held against the documents"))]
const fn command(
    name: &'static str,
    asks: Asks,
    run: Run,
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

impl ServerCommand {
    /// Runs it. What it did outside of the answer is added to `effects`, whether it succeeds or not.
    pub(crate) fn run(
        &self,
        snapshot: &Snapshot,
        argument: &Map<String, Value>,
        effects: &mut Effects,
    ) -> Result<Value, RequestRefusal> {
        (self.run)(snapshot, argument, effects)
    }
}

/// The command with this name.
pub(crate) fn find(name: &str) -> Result<&'static ServerCommand, RequestRefusal> {
    ALL.iter().find(|command| command.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|command| command.name).collect();
        RequestRefusal::Senseless(format!(
            "there is no command {name:?}; there are {}",
            names.join(", ")
        ))
    })
}

/// The one argument object. None at all is an empty one.
pub(crate) fn argument(
    command: &str,
    arguments: Option<Vec<Value>>,
) -> Result<Map<String, Value>, RequestRefusal> {
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

/// The typed argument, or a refusal that names the field.
fn read<T: DeserializeOwned>(object: &Map<String, Value>) -> Result<T, RequestRefusal> {
    let parse = |object: Map<String, Value>| serde_json::from_value::<T>(Value::Object(object));
    let error = match parse(object.clone()) {
        Ok(argument) => return Ok(argument),
        Err(error) => error.to_string(),
    };
    // A wrong type is reported without its field: it is the one without which the error is another.
    let guilty = object.keys().find(|key| {
        let mut rest = object.clone();
        rest.remove(*key);
        parse(rest).map_or_else(|other| other.to_string() != error, |_| true)
    });
    Err(RequestRefusal::Senseless(match guilty {
        Some(key) if !error.starts_with("unknown field") && !error.starts_with("missing") => {
            format!("the argument's field {key:?}: {error}")
        }
        _ => format!("the argument: {error}"),
    }))
}

/// An answer as JSON.
fn answer(command: &str, answer: &impl Serialize) -> Result<Value, RequestRefusal> {
    serde_json::to_value(answer).map_err(|error| fault(command, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(name: &str, given: Value) -> String {
        let editor = crate::lsp::features::fixture::Editor::new("//- /a.rs\nfn a() {}\n");
        let snapshot = editor.snapshot();
        let object = argument(name, Some(vec![given])).unwrap();
        let answer = find(name).unwrap().run(&snapshot, &object, &mut Effects::default());
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
