//! Derives JSON Schemas for arguments and answers from their types, in a form that every client can
//! read.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Value, json};

use super::answer::Refusal;

/// Returns the schema of a tool's arguments. It has no references, and an optional value is not
/// also `null`, because clients pass the schema to models that support only a few keywords.
pub(super) fn of_arguments<T: JsonSchema>() -> Arc<JsonObject> {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(remove_uncommon_keywords).transform(&mut schema);
    RecursiveTransform(optional).transform(&mut schema);
    let object = schema.ensure_object();
    // Some clients require `properties`, even for a tool without arguments.
    object.entry("properties").or_insert_with(|| json!({}));
    Arc::new(std::mem::take(object))
}

/// Returns the schema of a tool's answer or refusal. Clients check both against it.
pub(super) fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.into_generator();
    let (answer, refusal) = (generator.subschema_for::<T>(), generator.subschema_for::<Refusal>());
    let definitions = generator.take_definitions(true);
    // Older protocols only allow objects, so `type` is at the top.
    let mut schema = json_schema!({
        "type": "object",
        "anyOf": [answer, refusal],
        "$defs": definitions,
    });
    RecursiveTransform(remove_uncommon_keywords).transform(&mut schema);
    Arc::new(std::mem::take(schema.ensure_object()))
}

/// Removes what other validators may not accept: `$schema`, titles, and formats that are not
/// standard.
fn remove_uncommon_keywords(schema: &mut Schema) {
    for keyword in ["$schema", "title", "format"] {
        schema.remove(keyword);
    }
}

/// Replaces `T or null` by `T`.
fn optional(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
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
    if let [Value::Object(only)] = choices.as_mut_slice() {
        let only = std::mem::take(only);
        object.remove("anyOf");
        object.extend(only);
    }
}
