//! Derives JSON Schemas for arguments and answers from their types, in a form that every client can
//! read.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::answer::Refusal;

/// Returns the schema of a tool's arguments. It has no references, and an optional value is not
/// also `null`, because clients pass the schema to models that support only a few keywords.
pub(super) fn of_arguments<T: JsonSchema>() -> Arc<JsonObject> {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    optional(&mut schema);
    let mut schema = object(schema);
    // Some clients require `properties`, even for a tool without arguments.
    schema.entry("properties").or_insert_with(|| json!({}));
    Arc::new(schema)
}

/// Returns the schema of a tool's answer or refusal. Clients check both against it.
pub(super) fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.into_generator();
    let (answer, refusal) = (generator.subschema_for::<T>(), generator.subschema_for::<Refusal>());
    let mut definitions = generator.take_definitions(true);
    for definition in definitions.values_mut() {
        plain(definition);
    }
    // Older protocols only allow objects, so `type` is at the top.
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
        // The schema `true`, which allows any value.
        _ => JsonObject::new(),
    }
}

/// Removes what other validators may not accept: `$schema`, titles, and formats that are not
/// standard.
fn plain(schema: &mut Value) {
    each(schema, &mut |object| {
        object.remove("$schema");
        object.remove("title");
        if object.get("format").is_some_and(Value::is_string) {
            object.remove("format");
        }
    });
}

/// Replaces `T or null` by `T`.
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

/// Visits every schema inside a schema. A property whose name is a keyword is not mistaken for the
/// keyword.
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
