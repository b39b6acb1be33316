//! Tests of the protocol's rules: which reply each message gets, and how a session ends.

use super::*;

#[test]
fn only_initialize_is_answered_first() {
    let mut session = Session::cold(parts());
    let early = session.hover(A);
    assert_eq!(session.code(early), -32002);
    session.open(A, "ignored");
    let id = session.ask("initialize", json!({ "capabilities": {} }));
    assert_eq!(session.result(id)["serverInfo"]["name"], "intent-lsp");
    assert_eq!(session.text(A), None);
    let again = session.ask("initialize", json!({ "capabilities": {} }));
    assert_eq!(session.code(again), -32600);
    session.finish();
}

#[test]
fn initialize_may_be_repeated_after_bad_parameters() {
    let mut session = Session::cold(parts());
    let bad = session.ask("initialize", json!({ "capabilities": 7 }));
    assert_eq!(session.code(bad), -32602);
    let id = session.ask("initialize", json!({ "capabilities": {} }));
    session.result(id);
    session.finish();
}

#[test]
fn after_shutdown_only_exit_is_accepted() {
    let mut session = Session::new();
    let id = session.ask("shutdown", Value::Null);
    session.result(id);
    for method in ["textDocument/hover", "shutdown", "initialize"] {
        let late = session.ask(method, at(A));
        assert_eq!(session.code(late), -32600, "{method}");
    }
    session.tell("exit", Value::Null);
    assert!(session.ended());
}

#[test]
fn unknown_methods_and_bad_parameters_have_different_errors() {
    let mut session = Session::new();
    let unknown = session.ask("no/such", json!({}));
    assert_eq!(session.code(unknown), -32601);
    let optional = session.ask("$/unknown", json!({}));
    assert_eq!(session.code(optional), -32601);
    for params in [json!({ "bogus": 1 }), json!([]), Value::Null, json!(at(":no address:"))] {
        let bad = session.ask("textDocument/hover", params);
        assert_eq!(session.code(bad), -32602);
    }
    session.tell("no/such", json!({}));
    session.tell("$/unknown", json!({}));
    session.tell("textDocument/didOpen", json!({ "bogus": 1 }));
    session.tell("textDocument/didChange", json!(7));
    session.assert_silent();
    session.finish();
}

#[test]
fn invalid_messages_are_refused_and_the_server_goes_on() {
    let mut session = Session::new();
    session.open(A, "alive");
    for (bytes, code) in [
        (&b"Content-Length: 7\r\n\r\n{nope!}"[..], -32700),
        (b"Content-Length: 2\r\n\r\n{}", -32600),
        (b"Content-Length: 2\r\n\r\n[]", -32600),
        (b"Content-Length: 2\r\n\r\n\xff\xfe", -32700),
        (b"Content-Length: 0\r\n\r\n", -32700),
        (b"garbage line\r\n\r\n", -32700),
        (b"Content-Length: 3\r\n\r\n{\"jsonrpc\":\"2.0\"}", -32700),
    ] {
        session.raw(bytes);
        assert_eq!(session.text(A).as_deref(), Some("alive"));
        let refusal = session.wait("a refusal", |it| it["id"].is_null() && !it["error"].is_null());
        assert_eq!(refusal["error"]["code"], code, "{}", String::from_utf8_lossy(bytes));
        session.aside.retain(|it| it["error"].is_null());
    }
    session.finish();
}

#[test]
fn noise_between_frames_loses_no_request() {
    let mut session = Session::new();
    session.open(A, "alive");
    let mut seed: u64 = 0x5eed_cafe;
    for _ in 0..300 {
        let mut noise = Vec::new();
        for _ in 0..seed % 60 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            noise.push((seed >> 33) as u8);
        }
        seed = seed.rotate_left(9) ^ 0x9e37;
        noise.push(b'\n');
        session.raw(&noise);
        assert_eq!(session.text(A).as_deref(), Some("alive"), "{noise:?}");
    }
    session.aside.retain(|it| it["error"]["code"] != -32700);
    session.finish();
}

#[test]
fn a_frame_in_pieces_is_one_frame() {
    let mut session = Session::new();
    session.open(A, "whole");
    let id = session.next;
    session.next += 1;
    let message =
        json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": at(A) });
    for piece in frame(&message).chunks(7) {
        session.raw(piece);
    }
    assert_eq!(session.result(id)["contents"]["value"], "whole");
    session.finish();
}

#[test]
fn answers_that_nobody_waits_for_are_dropped() {
    let mut session = Session::new();
    session.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": null }));
    session.send(&json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": 1, "message": "" } }));
    session.send(&json!({ "jsonrpc": "2.0", "id": 99, "error": 7 }));
    session.assert_silent();
    session.finish();
}

#[test]
fn shutdown_and_exit_may_come_together() {
    let mut session = Session::new();
    let mut both = frame(&json!({ "jsonrpc": "2.0", "id": 77, "method": "shutdown" }));
    both.extend(frame(&json!({ "jsonrpc": "2.0", "method": "exit" })));
    session.raw(&both);
    assert_eq!(session.result(77), Value::Null);
    assert!(session.ended(), "the client's stream is still open");
}

#[test]
fn only_shutdown_and_exit_are_an_orderly_end() {
    let mut exit = Session::new();
    exit.tell("exit", Value::Null);
    assert!(!exit.ended());
    let mut before = Session::cold(parts());
    before.tell("exit", Value::Null);
    assert!(!before.ended());
    let mut closed = Session::new();
    closed.input = None;
    assert!(!closed.ended());
    let mut shut = Session::new();
    let id = shut.ask("shutdown", Value::Null);
    shut.result(id);
    shut.input = None;
    assert!(!shut.ended());
}

#[cfg(target_os = "linux")]
#[test]
fn the_server_ends_when_its_parent_process_is_gone() {
    let mut session = Session::cold(parts());
    let id = session.ask("initialize", json!({ "processId": i32::MAX, "capabilities": {} }));
    session.result(id);
    assert!(!session.ended());
}

#[test]
fn the_capabilities_depend_on_the_client() {
    let offer = |capabilities: Value, options: Value| {
        let mut session = Session::cold(parts());
        let params = json!({ "capabilities": capabilities, "initializationOptions": options });
        let id = session.ask("initialize", params);
        let offer = session.result(id)["capabilities"].clone();
        session.finish();
        offer
    };
    let plain = offer(json!({}), Value::Null);
    assert_eq!(plain["positionEncoding"], "utf-16");
    assert_eq!(plain["textDocumentSync"]["change"], 2);
    assert!(plain["diagnosticProvider"].is_null() && plain["notebookDocumentSync"].is_null());
    let rich = json!({ "general": { "positionEncodings": ["utf-32", "utf-8"] },
        "textDocument": { "diagnostic": {} },
        "notebookDocument": { "synchronization": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } } });
    let offered = offer(rich.clone(), Value::Null);
    assert_eq!(offered["positionEncoding"], "utf-32");
    assert_eq!(offered["diagnosticProvider"]["identifier"], "intent");
    assert_eq!(offered["diagnosticProvider"]["workspaceDiagnostics"], true);
    let notebooks = &offered["notebookDocumentSync"]["notebookSelector"][0]["notebook"];
    assert_eq!(notebooks["notebookType"], "jupyter-notebook");
    let forced = offer(rich, json!({ "positionEncoding": "utf-16" }));
    assert_eq!(forced["positionEncoding"], "utf-16");
}

#[test]
fn a_trace_is_sent_only_while_it_is_switched_on() {
    let mut session = Session::new();
    session.tell("$/setTrace", json!({ "value": "messages" }));
    session.text(A);
    let said = session.heard("$/logTrace");
    assert!(said["params"]["message"].as_str().unwrap().contains("textDocument/hover"), "{said}");
    session.tell("$/setTrace", json!({ "value": "off" }));
    session.text(A);
    session.assert_silent();
    session.finish();
}

#[test]
fn unknown_settings_are_reported_once() {
    let options = json!({ "colour": "red" });
    let params = json!({ "capabilities": {}, "initializationOptions": options });
    let mut session = Session::started(parts(), params);
    let said = session.heard("window/logMessage");
    assert!(said["params"]["message"].as_str().unwrap().contains("intent.colour"), "{said}");
    session.tell("workspace/didChangeConfiguration", json!({ "settings": { "intent": options } }));
    session.assert_silent();
    session.finish();
}

#[test]
fn settings_are_requested_if_the_client_supports_that() {
    let mut session = Session::with(parts(), json!({ "workspace": { "configuration": true } }));
    let asked = session.heard("workspace/configuration");
    assert_eq!(asked["params"]["items"][0]["section"], "intent");
    session.answer(&asked, json!([{ "codeLens": "perhaps" }]));
    let said = session.heard("window/logMessage");
    assert!(said["params"]["message"].as_str().unwrap().contains("codeLens"), "{said}");
    session.tell("workspace/didChangeConfiguration", json!({ "settings": null }));
    let again = session.heard("workspace/configuration");
    session.answer(&again, json!([null]));
    session.finish();
}
