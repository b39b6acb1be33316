//! Tests of open documents: which changes are applied, which are refused, and what is answered
//! while a document is out of step.

use super::*;

#[test]
fn a_request_sees_the_edits_before_it() {
    let mut session = Session::new();
    session.open(A, "");
    let mut expected = Vec::new();
    for version in 2..=200 {
        session.change(A, version, insert("x"));
        expected.push((session.hover(A), version - 1));
    }
    for (id, length) in expected {
        let text = session.result(id)["contents"]["value"].as_str().map(str::len);
        assert_eq!(text, usize::try_from(length).ok());
    }
    session.finish();
}

#[test]
fn an_invalid_change_silences_a_document_until_a_whole_text() {
    let whole = json!([{ "text": "whole" }]);
    for (version, changes) in [
        (1, insert("stale")),
        (0, insert("older")),
        (2, json!([{ "range": range((9, 0), (9, 1)), "text": "x" }])),
        (2, json!([{ "range": range((0, 3), (0, 1)), "text": "x" }])),
        (2, json!([{ "range": range((0, 0), (7, 1)), "text": "x" }])),
        (2, json!([{ "range": { "start": { "line": -1, "character": 0 } }, "text": "x" }])),
        (2, json!([{ "range": range((0, 0), (0, 0)) }])),
        (
            2,
            json!([{ "range": range((0, 0), (0, 0)), "text": "x" },
                   { "range": range((5, 0), (5, 0)), "text": "y" }]),
        ),
        (2, json!(7)),
    ] {
        let mut session = Session::new();
        session.open(A, "the text");
        session.change(A, version, changes.clone());
        let said = session.heard("window/logMessage");
        assert_eq!(said["params"]["type"], 1, "{said}");
        assert!(said["params"]["message"].as_str().unwrap().contains(A), "{said}");
        assert_eq!(session.text(A), None, "{changes}");
        session.change(A, 3, insert("more"));
        assert_eq!(session.text(A), None, "{changes}");
        session.change(A, 4, whole.clone());
        assert_eq!(session.text(A).as_deref(), Some("whole"), "{changes}");
        session.change(A, 5, insert("and "));
        assert_eq!(session.text(A).as_deref(), Some("and whole"));
        session.finish();
    }
}

#[test]
fn a_document_is_found_by_an_address_that_is_not_normalised() {
    let address = "file:///nowhere/b c.rs";
    let mut session = Session::new();
    session.open(address, "the text");
    assert_eq!(session.text(address).as_deref(), Some("the text"));
    session.change(address, 2, json!(7));
    session.heard("window/logMessage");
    assert_eq!(session.text(address), None);
    session.finish();
}

#[test]
fn opening_a_document_again_ends_its_silence() {
    let mut session = Session::new();
    session.open(A, "one");
    session.change(A, 1, insert("x"));
    session.heard("window/logMessage");
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": A } }));
    session.open(A, "two");
    assert_eq!(session.text(A).as_deref(), Some("two"));
    session.finish();
}

#[test]
fn changes_before_a_whole_text_are_ignored() {
    let mut session = Session::new();
    session.open(A, "one");
    let changes = json!([{ "range": range((99, 0), (99, 0)), "text": "lost" }, { "text": "two" },
        { "range": range((0, 3), (0, 99)), "text": "!" }, { "range": null, "text": "three" },
        { "range": range((0, 0), (0, 0)), "text": "> " }]);
    session.change(A, 2, changes);
    assert_eq!(session.text(A).as_deref(), Some("> three"));
    session.finish();
}

#[test]
fn the_line_after_the_last_is_the_end_of_the_text() {
    let mut session = Session::new();
    session.open(A, "one\ntwo\n");
    session.change(A, 2, json!([{ "range": range((0, 0), (3, 0)), "text": "all new" }]));
    assert_eq!(session.text(A).as_deref(), Some("all new"));
    session.finish();
}

#[test]
fn closed_and_unopened_documents_have_no_answers() {
    let mut session = Session::new();
    session.change(A, 2, insert("x"));
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": A } }));
    assert_eq!(session.text(A), None);
    session.open(A, "one");
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": A } }));
    assert_eq!(session.text(A), None);
    session.assert_silent();
    session.finish();
}

#[test]
fn addresses_that_are_no_files_are_served_as_plain_texts() {
    let mut session = Session::new();
    for uri in ["untitled:Untitled-1", "git:/a/b.rs?%7B%22ref%22%7D", "vscode-notebook-cell:/a#W0"]
    {
        session.open(uri, "text");
        session.change(uri, 2, insert("a "));
        assert_eq!(session.text(uri).as_deref(), Some("a text"), "{uri}");
        session.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
        session.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    session.assert_silent();
    session.finish();
}
