//! The schemas of arguments and answers, from their own types, in the form that every client can read.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::answer::Refusal;

/// The schema of a tool's arguments: without references, and a value that may be left out is not also `null`. Clients
/// hand it to models whose makers know a few keywords only.
pub(super) fn of_arguments<T: JsonSchema>() -> Arc<JsonObject> {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    optional(&mut schema);
    let mut schema = object(schema);
    // A tool without arguments has none by name, too: some clients insist on the keyword.
    schema.entry("properties").or_insert_with(|| json!({}));
    Arc::new(schema)
}

/// The schema of what a tool answers, or of its refusal: clients check both against it.
pub(super) fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.into_generator();
    let (answer, refusal) = (generator.subschema_for::<T>(), generator.subschema_for::<Refusal>());
    let mut definitions = generator.take_definitions(true);
    for definition in definitions.values_mut() {
        plain(definition);
    }
    // `type` at the top: older protocols know objects only.
    let schema = json!({
        "type": "object",
        "anyOf": [answer, refusal],
        "$defs": definitions,
    });
    Arc::new(object(schema))
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        // `true`: anything goes.
        _ => JsonObject::new(),
    }
}

/// Takes away what validators of other dialects stumble over: the name of ours, and formats that are ours alone.
fn plain(schema: &mut Value) {
    each(schema, &mut |object| {
        object.remove("$schema");
        object.remove("title");
        if object.get("format").is_some_and(Value::is_string) {
            object.remove("format");
        }
    });
}

/// Makes `T or null` a `T`.
fn optional(schema: &mut Value) {
    each(schema, &mut |object| {
        object.remove("default");
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        let Some(Value::Array(choices)) = object.get_mut("anyOf") else { return };
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(_)] = choices.as_slice() {
            let only = choices.remove(0);
            object.remove("anyOf");
            object.extend(self::object(only));
        }
    });
}

/// Visits every schema within a schema. A property that happens to be called like a keyword is no schema.
fn each(schema: &mut Value, visit: &mut impl FnMut(&mut JsonObject)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, visit)),
        Value::Object(object) => {
            visit(object);
            for (name, value) in object.iter_mut() {
                match (name.as_str(), value) {
                    ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                        named.values_mut().for_each(|one| each(one, visit));
                    }
                    ("const" | "enum" | "default" | "examples" | "required", _) => {}
                    (_, value) => each(value, visit),
                }
            }
        }
        _ => {}
    }
}
