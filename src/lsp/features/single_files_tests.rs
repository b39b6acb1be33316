//! Tests of all features in a file that holds one intent, next to a registry that lists others.

use serde_json::json;
use tower_lsp::lsp_types as lsp;

use super::fixture::{Editor, operations};
use super::{
    code_actions, code_lens, completion, definition, diagnostics, document_symbols, hover, rename,
};

const FILE: &str = "/.orchestration/intents/INT-003.yaml";

/// Returns an editor in which the file is open, with the cursor at the `$0` of its text.
fn editor(text: &str) -> Editor {
    let mut editor = Editor::in_git(&format!(
        "//- {FILE}\n{text}\n//- /docs/a.md closed\nSee INT-003.\n//- /src/a.rs closed\nfn a() {{}}\n"
    ));
    (editor.client.create_files, editor.client.rename_files) = (true, true);
    editor
}

const SEARCH: &str =
    "id: INT-0$003\nname: Search\nstatus: IN_PROGRESS\nowned_scope: [\"search/**\"]\n";

/// Returns the diagnostics of an open file, each as `code at path:line: text`.
fn codes(editor: &Editor, path: &str) -> Vec<String> {
    let found = diagnostics::diagnose(&editor.snapshot(), &editor.uri(path));
    let shown = found.iter().map(|it| match &it.code {
        Some(lsp::NumberOrString::String(code)) => {
            format!("{code} at {}", editor.show(&editor.uri(path), it.range))
        }
        other => panic!("{other:?}"),
    });
    shown.collect()
}

#[test]
fn each_file_of_an_intent_shows_its_own_findings() {
    let list = "/.orchestration/active_intents.yaml";
    let mut editor = editor(&SEARCH.replace("$0", ""));
    assert_eq!(
        codes(&editor, FILE),
        ["glob-matches-nothing at .orchestration/intents/INT-003.yaml:4: \"search/**\""]
    );
    // The unsaved text is compared with the other files.
    editor.replace(FILE, "id: INT-003", "id: INT-001");
    editor.replace(FILE, "search/**", "src/**");
    let place = ".orchestration/intents/INT-003.yaml";
    let expected = [
        format!("duplicate-id at {place}:1: INT-001"),
        format!("invalid-id at {place}:1: INT-001"),
        format!("scope-overlap at {place}:4: \"src/**\""),
    ];
    assert_eq!(codes(&editor, FILE), expected);
    editor.open(list, "active_intents: []\n");
    assert_eq!(codes(&editor, FILE), [format!("invalid-id at {place}:1: INT-001")]);
    editor.replace(FILE, "id: INT-001", "<<<<<<< HEAD\nid: [\n=======\n>>>>>>> x\n#");
    assert_eq!(codes(&editor, FILE), [format!("registry-syntax at {place}:1: <<<<<<< HEAD")]);
}

#[test]
fn closed_files_are_judged_too() {
    let mut editor = editor(&SEARCH.replace("$0", ""));
    editor.close(FILE);
    editor.write(FILE, "id: INT-003\nname: x\nstatus: odd\n");
    let files = diagnostics::unopened(&editor.snapshot(), editor.workspace().root.path());
    let (_, found) = files.iter().find(|(uri, _)| *uri == editor.uri(FILE)).expect("findings");
    let lines: Vec<u32> = found.iter().map(|it| it.range.start.line).collect();
    assert_eq!(lines, [2]);
}

#[test]
fn ids_lead_to_the_file_and_the_file_shows_its_intent() {
    let mut editor = editor(SEARCH);
    let text = format!("{:?}", hover::handle(&editor.snapshot(), editor.ask(json!({}))).unwrap());
    assert!(text.contains("Search") && text.contains("search/"), "{text}");
    let params = json!({ "textDocument": { "uri": editor.uri(FILE) } });
    let lenses =
        code_lens::handle(&editor.snapshot(), serde_json::from_value(params.clone()).unwrap());
    let lenses = lenses.unwrap().unwrap();
    assert_eq!((lenses.len(), lenses[0].range.start.line), (1, 0));
    let params = serde_json::from_value(params).unwrap();
    let symbols = document_symbols::handle(&editor.snapshot(), params).unwrap();
    let text = serde_json::to_string(&symbols).unwrap();
    assert!(text.contains("INT-003 Search") && !text.contains("INT-001"), "{text}");
    editor.open("/docs/a.md", "See INT-003.\n");
    let mut here = editor.at_cursor();
    here.text_document.uri = editor.uri("/docs/a.md");
    here.position = lsp::Position { line: 0, character: 6 };
    let params = serde_json::from_value(serde_json::to_value(here).unwrap()).unwrap();
    let found = definition::handle(&editor.snapshot(), params).unwrap();
    let text = serde_json::to_string(&found).unwrap();
    assert!(text.contains("intents/INT-003.yaml"), "{text}");
}

#[test]
fn a_rename_of_the_id_renames_the_file() {
    let mut editor = editor(SEARCH);
    let renamed = |editor: &Editor| {
        let asked = editor.ask(json!({ "newName": "FIND-1" }));
        operations(rename::handle(&editor.snapshot(), asked).unwrap().unwrap())
    };
    let changes = renamed(&editor);
    let Some(lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Rename(file))) = changes.last()
    else {
        panic!("{changes:?}")
    };
    assert_eq!(file.old_uri, editor.uri(FILE));
    assert_eq!(file.new_uri, editor.uri("/.orchestration/intents/FIND-1.yaml"));
    let text = serde_json::to_string(&changes).unwrap();
    assert!(text.contains("formerly: [\\\"INT-003\\\"]") && text.contains("docs/a.md"), "{text}");
    editor.client.rename_files = false;
    assert_eq!(renamed(&editor).len(), changes.len() - 1);
    let taken = editor.ask(json!({ "newName": "INT-001" }));
    assert!(rename::handle(&editor.snapshot(), taken).is_err());
}

#[test]
fn keys_and_the_id_are_completed() {
    let labels = |text: &str| {
        let editor = editor(text);
        let asked = editor.ask(json!({}));
        completion::labels_in_order(completion::handle(&editor.snapshot(), asked).unwrap())
    };
    assert_eq!(labels("id: $0\nname: x"), ["INT-003"]);
    assert_eq!(labels("id: INT-003\nst$0")[..2], ["name", "status"]);
    assert_eq!(labels("id: INT-003\nstatus: $0").len(), 6);
}

fn chosen(editor: &Editor, title: &str) -> lsp::WorkspaceEdit {
    let here = editor.at_cursor();
    let asked = json!({
        "textDocument": here.text_document,
        "range": { "start": here.position, "end": here.position },
        "context": { "diagnostics": [] },
    });
    let params = serde_json::from_value(asked).unwrap();
    let offered = code_actions::handle(&editor.snapshot(), params).unwrap().unwrap();
    let action = offered.into_iter().find_map(|it| match it {
        lsp::CodeActionOrCommand::CodeAction(action) if action.title == title => Some(action),
        _ => None,
    });
    code_actions::resolve(&editor.snapshot(), action.unwrap()).unwrap().edit.unwrap()
}

#[test]
fn actions_edit_the_file_and_a_new_intent_gets_its_own_file() {
    let mut editor = editor(SEARCH);
    let text = serde_json::to_string(&chosen(&editor, "Complete INT-003")).unwrap();
    assert!(text.contains("intents/INT-003.yaml") && text.contains("COMPLETED"), "{text}");
    let changes = operations(chosen(&editor, "Create an intent"));
    let [
        lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Create(file)),
        lsp::DocumentChangeOperation::Edit(_),
    ] = &changes[..]
    else {
        panic!("{changes:?}")
    };
    assert_eq!(file.uri, editor.uri("/.orchestration/intents/INT-004-new-intent.yaml"));
    let text = serde_json::to_string(&changes).unwrap();
    assert!(text.contains("id: INT-004\\nname: New intent\\nstatus: DRAFT\\n"), "{text}");
    // A client that cannot create files adds the intent to the list.
    editor.client.create_files = false;
    let text = serde_json::to_string(&chosen(&editor, "Create an intent")).unwrap();
    assert!(text.contains("active_intents.yaml") && text.contains("INT-004"), "{text}");
}

#[test]
fn an_offered_intent_shares_its_id_with_no_other() {
    let mut editor = editor(SEARCH);
    let offered = |editor: &Editor| {
        let changes = operations(chosen(editor, "Create an intent"));
        let text = serde_json::to_string(&changes).unwrap();
        let at = text.find("id: INT-").unwrap() + 4;
        text[at..at + 7].to_owned()
    };
    let entry = || intents::IntentEntry { name: "Other".into(), ..Default::default() };
    let by_command =
        |editor: &Editor| judgement::registry::new(editor.workspace(), entry()).unwrap().id;
    // An offer that nobody takes uses up one id, however often it is made.
    assert_eq!([offered(&editor), offered(&editor)], ["INT-004", "INT-004"]);
    assert_eq!(by_command(&editor), "INT-005");
    editor.reload();
    assert_eq!(offered(&editor), "INT-004");
    editor.write("/.orchestration/intents/INT-004.yaml", "id: INT-004\nname: New\nstatus: DRAFT\n");
    editor.reload();
    assert_eq!(offered(&editor), "INT-006");
    assert_eq!(by_command(&editor), "INT-007");
}
