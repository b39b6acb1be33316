//! Tests of the features that show intents, through the protocol: what is announced, what is
//! answered, and what is refreshed when the ledger changes.

use super::*;
use crate::convert;
use evidence::record;
use ground::RelativePath;
use judgement::judged_record;
use why::Workspace;

const REGISTRY: &str = "\
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"**\"]
";

fn capabilities() -> Value {
    json!({
        "textDocument": { "codeLens": {}, "inlayHint": {}, "rename": { "prepareSupport": true } },
        "workspace": { "codeLens": { "refreshSupport": true } },
        "window": { "showDocument": { "support": true } },
    })
}

fn record_file(folder: &std::path::Path) {
    let request = record::RecordRequest {
        paths: vec![RelativePath::new("a.rs").unwrap()],
        extent: record::RecordExtent::WholeFile,
        intent: Some("INT-001".to_owned()),
        agent: Some("claude-code".to_owned()),
        ..record::RecordRequest::default()
    };
    let answer = judged_record::record(
        &Workspace::open(folder, &ground::Environment::of_process()).unwrap(),
        &request,
    )
    .unwrap();
    assert_eq!(answer.recorded.len(), 1);
}

#[test]
fn a_record_of_another_process_refreshes_the_lenses() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join(".orchestration")).unwrap();
    std::fs::write(root.join(".orchestration/active_intents.yaml"), REGISTRY).unwrap();
    std::fs::write(root.join("a.rs"), "fn a() {}\n").unwrap();
    let file = convert::uri_of(&root.join("a.rs")).unwrap().to_string();

    let mut session = Session::cold(ServerParts::default());
    let id =
        session.ask("initialize", json!({ "processId": null, "capabilities": capabilities() }));
    let offered = session.result(id)["capabilities"].clone();
    assert_eq!(offered["codeLensProvider"]["resolveProvider"], true);
    assert_eq!(offered["renameProvider"]["prepareProvider"], true);
    session.tell("initialized", json!({}));
    session.open(&file, "fn a() {}\n");
    // The workspace is loaded now.
    let refresh = session.heard("workspace/codeLens/refresh");
    session.answer(&refresh, Value::Null);
    let document = json!({ "textDocument": { "uri": file } });
    let id = session.ask("textDocument/codeLens", document.clone());
    assert_eq!(session.result(id), json!([]));

    record_file(&root);
    // The record takes several writes, so the server may read the files once before it is complete.
    let lens = loop {
        let refresh = session.heard("workspace/codeLens/refresh");
        session.answer(&refresh, Value::Null);
        let id = session.ask("textDocument/codeLens", document.clone());
        if let Some(lens) = session.result(id).get(0) {
            break lens.clone();
        }
    };
    assert!(lens["command"].is_null(), "lenses get their texts when they are shown");
    let id = session.ask("codeLens/resolve", lens);
    let lens = session.result(id);
    assert_eq!(lens["command"]["title"], "INT-001 Sign in · claude-code · just now");
    // The server knows the command of the lens.
    let command =
        json!({ "command": lens["command"]["command"], "arguments": lens["command"]["arguments"] });
    let id = session.ask("workspace/executeCommand", command);
    let asked = session.heard("window/showDocument");
    session.answer(&asked, json!({ "success": true }));
    assert_eq!(session.result(id)["uri"], asked["params"]["uri"]);
    let id = session.ask("codeLens/resolve", json!({ "range": range((0, 0), (0, 0)), "data": 7 }));
    assert_eq!(session.code(id), -32602);
}
