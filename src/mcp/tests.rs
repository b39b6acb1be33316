//! Tests with a tool that panics, which no real tool does.

use std::io::{BufRead, BufReader};
use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::tools::{ServedTool, ToolEffect};
use super::*;

#[test]
fn a_panic_in_a_tool_affects_only_that_call() {
    let mut table = tools::tool_table();
    table.0.push(ServedTool {
        shown: rmcp::model::Tool::new("faulty", "Fails.", JsonObject::new()),
        effect: ToolEffect::Adds,
        run: Arc::new(|_, _| panic!("as it must")),
    });
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(
        Connection::new(ground::Environment::of_process(), folder.path().to_owned(), Start::Folder),
        table,
    );
    let call = |id: u32, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    let input = format!("{}\n{}\n", call(1, "faulty"), call(2, "list_intents"));
    let (reader, writer) = io::pipe().unwrap();
    serve(server, io::Cursor::new(input), writer).unwrap();
    let mut answers: Vec<Value> = BufReader::new(reader)
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), 2, "{answers:?}");
    let code = |at: usize| &answers[at]["result"]["structuredContent"]["code"];
    assert_eq!((&answers[0]["id"], code(0)), (&json!(1), &json!("HOOK_ERROR")));
    assert!(answers[0].to_string().contains("A fault of the server"));
    assert_eq!((&answers[1]["id"], code(1)), (&json!(2), &json!("HOOK_ERROR")));
    assert!(answers[1].to_string().contains("has no .orchestration/ folder"), "{}", answers[1]);
}

#[test]
fn every_tool_has_a_unique_name_and_none_approves() {
    let names: Vec<String> =
        tools::tool_table().list().into_iter().map(|tool| tool.name.into_owned()).collect();
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    assert!(!names.iter().any(|name| name.contains("approve")), "{names:?}");
}
