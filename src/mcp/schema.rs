//! Derives JSON Schemas for arguments and answers from their types, in a form that every client can
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use judgement::gate::Denial;

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

/// Returns a short schema of a tool's answer or refusal: the names of the fields and their types.
/// Clients check answers against it. Hosts may give it to a model with every request, so it does not
/// say what is inside the fields and what they mean; `intent schema` prints all of that.
pub(super) fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    let mut generator = settings.into_generator();
    let mut fields = FieldTypes::new();
    add_fields(generator.root_schema_for::<Denial>().as_value(), &mut fields);
    // The schema of a code lists the words that it may be, which says more than its type.
    fields.insert("code".to_owned(), BTreeSet::from(["string".to_owned()]));
    add_fields(generator.root_schema_for::<T>().as_value(), &mut fields);
    let properties: JsonObject = fields
        .into_iter()
        .map(|(name, types)| match types.contains(ANY_TYPE) {
            true => (name, json!({})),
            false => (name, json!({ "type": types })),
        })
        .collect();
    let schema = json!({ "type": "object", "properties": properties });
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// The JSON types that each field of an object can have.
type FieldTypes = BTreeMap<String, BTreeSet<String>>;

/// Stands for a field whose schema does not name its types directly.
const ANY_TYPE: &str = "";

fn add_fields(schema: &Value, fields: &mut FieldTypes) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let types: Vec<&str> = match &field["type"] {
            Value::String(only) => vec![only],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => vec![ANY_TYPE],
        };
        fields.entry(name.clone()).or_default().extend(types.into_iter().map(str::to_owned));
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        for variant in schema[keyword].as_array().into_iter().flatten() {
            add_fields(variant, fields);
        }
    }
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
