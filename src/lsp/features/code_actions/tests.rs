use std::fmt::Write as _;

use serde_json::json;

use super::*;
use crate::convert;
use crate::features::commands;
use crate::features::diagnostics;
use crate::features::fixture::Editor;
use crate::features::fixture::operations;
use overview::select;

/// Returns the actions at the cursor for a client that sends its diagnostics along.
fn actions(editor: &Editor, only: Option<&str>) -> Vec<lsp::CodeAction> {
    let responses = ask(editor, only);
    let literal = |it| match it {
        lsp::CodeActionOrCommand::CodeAction(action) => action,
        lsp::CodeActionOrCommand::Command(command) => panic!("{command:?}"),
    };
    responses.into_iter().map(literal).collect()
}

fn ask(editor: &Editor, only: Option<&str>) -> lsp::CodeActionResponse {
    let snapshot = editor.snapshot();
    let here = editor.at_cursor();
    let mut diagnostics = diagnostics::diagnose(&snapshot, &here.text_document.uri);
    diagnostics.retain(|it| it.range.start.line == here.position.line);
    let context = json!({ "diagnostics": diagnostics, "only": only.map(|kind| [kind]) });
    offered_at(editor, here.position, context)
}

fn offered_at(
    editor: &Editor,
    position: lsp::Position,
    context: serde_json::Value,
) -> lsp::CodeActionResponse {
    let range = lsp::Range { start: position, end: position };
    let params = editor.ask(json!({ "range": range, "context": context }));
    handle(&editor.snapshot(), params).unwrap().unwrap_or_default()
}

fn run_command(editor: &Editor, name: &str, argument: serde_json::Value) -> serde_json::Value {
    let argument = commands::argument(name, Some(vec![argument])).unwrap();
    let found = commands::find(name).unwrap();
    (found.run)(&editor.snapshot(), &argument, &mut commands::Effects::default()).unwrap()
}

fn shown(editor: &Editor) -> String {
    let mut out = String::new();
    for action in actions(editor, None) {
        let kind = action.kind.unwrap().as_str().to_owned();
        let preferred = if action.is_preferred == Some(true) { "*" } else { "" };
        write!(out, "{kind}{preferred}: {}", action.title).unwrap();
        if let Some(disabled) = &action.disabled {
            write!(out, " (no: {})", disabled.reason).unwrap();
        }
        out.push('\n');
    }
    out
}

/// Chooses an action. Returns the texts of the files that it changes.
fn chosen(editor: &Editor, title: &str) -> String {
    let action = actions(editor, None).into_iter().find(|it| it.title == title);
    let action = resolve(&editor.snapshot(), action.expect("the action is offered")).unwrap();
    let edit = action.edit.expect("it is an edit");
    let mut out = String::new();
    if let Some(note) = edit.change_annotations.iter().flat_map(|it| it.values()).next() {
        let asks = if note.needs_confirmation == Some(true) { " (asks first)" } else { "" };
        writeln!(out, "{}: {}{asks}", note.label, note.description.as_ref().unwrap()).unwrap();
    }
    for change in operations(edit) {
        let lsp::DocumentChangeOperation::Edit(change) = change else { panic!("{change:?}") };
        let uri = change.text_document.uri;
        let snapshot = editor.snapshot();
        let path = convert::path_of(&uri).unwrap();
        let mut document = match snapshot.document(&uri) {
            Some(open) => open.document.clone(),
            None => code::Document::from_text("a.yaml", &std::fs::read_to_string(path).unwrap()),
        };
        let edits = change.edits.into_iter().map(|edit| match edit {
            lsp::OneOf::Left(edit) => edit,
            lsp::OneOf::Right(edit) => edit.text_edit,
        });
        let mut edits: Vec<lsp::TextEdit> = edits.collect();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
        for edit in edits {
            let bytes = convert::bytes_strict(&document, edit.range, editor.encoding).unwrap();
            document = document.edited(bytes, &edit.new_text).unwrap();
        }
        out.push_str(&document.text());
    }
    out
}

fn under(mut editor: Editor, id: &str) -> Editor {
    select::select(editor.workspace(), id, None).unwrap();
    editor.reload();
    editor
}

const INTENTS: &str = "
//- /.orchestration/active_intents.yaml closed
# what we work on
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]   # keep
  - id: INT-002
    name: Billing
    status: IN_PROGRESS
    owned_scope: [\"billing/**\"]
";

fn editor_with_an_edit_out_of_scope() -> Editor {
    let files = "
//- /billing/invoice.rs
pub fn total(a: u32) -> u32 { a + 1 }

pub fn tax(a: u32) -> u32 {
    $0a / 5
}
";
    let mut editor = under(Editor::in_git(&format!("{}{}", INTENTS.trim_end(), files)), "INT-001");
    editor.replace("/billing/invoice.rs", "a / 5", "a / 7");
    editor
}

#[test]
fn an_edit_out_of_scope_offers_every_solution() {
    let mut editor = editor_with_an_edit_out_of_scope();
    editor.settings.interactive = true;
    insta::assert_snapshot!(shown(&editor));
}

#[test]
fn selecting_the_right_intent_removes_the_error() {
    let mut editor = editor_with_an_edit_out_of_scope();
    let action = actions(&editor, None).remove(0);
    assert_eq!(action.diagnostics.unwrap().len(), 1);
    let command = action.command.unwrap();
    assert_eq!(command.command, "intent.select");
    run_command(&editor, "intent.select", command.arguments.unwrap().remove(0));
    editor.reload();
    assert!(!shown(&editor).contains("Select"), "{}", shown(&editor));
    let uri = editor.uri("/billing/invoice.rs");
    assert_eq!(diagnostics::diagnose(&editor.snapshot(), &uri), []);
}

#[test]
fn a_person_widens_a_scope_by_a_command_that_saves() {
    let mut editor = editor_with_an_edit_out_of_scope();
    editor.settings.person = true;
    let title = "Add billing/invoice.rs to the scope of INT-001";
    let action = actions(&editor, None).into_iter().find(|it| it.title == title).unwrap();
    let command = action.command.unwrap();
    assert_eq!((command.command.as_str(), action.edit, action.data), (commands::WIDEN, None, None));
    let uri = editor.uri("/billing/invoice.rs");
    let argument = serde_json::json!({ "id": "INT-001", "uri": uri });
    assert_eq!(command.arguments, Some(vec![argument]));
    // If the action saves text that was not saved before, its title says so.
    let registry = "/.orchestration/active_intents.yaml";
    let text = std::fs::read_to_string(editor.path(registry)).unwrap();
    editor.settings.saves = true;
    editor.open(registry, &text);
    assert!(shown(&editor).contains(&format!("{title}\n")), "{}", shown(&editor));
    editor.replace(registry, "what we work on", "what I work on");
    assert!(shown(&editor).contains(&format!("{title}, and save the registry\n")));
}

#[test]
fn without_a_person_a_scope_is_widened_by_an_edit() {
    let title = "Add billing/invoice.rs to the scope of INT-001";
    insta::assert_snapshot!(chosen(&editor_with_an_edit_out_of_scope(), title));
}

#[test]
fn the_entry_for_a_file_owns_no_other_file() {
    let file = "\n//- /billing/[id].rs\nfn a$0() { 1 }\n";
    let mut editor = under(Editor::in_git(&format!("{}{file}", INTENTS.trim_end())), "INT-001");
    editor.replace("/billing/[id].rs", "1", "2");
    let registry = chosen(&editor, "Add billing/[id].rs to the scope of INT-001");
    assert!(registry.contains(r#""billing/\\[id\\].rs"]"#), "{registry}");
}

#[test]
fn a_block_is_restored_to_its_committed_text() {
    let mut editor = editor_with_an_edit_out_of_scope();
    let text = chosen(&editor, "Put function tax back as it was");
    assert!(text.ends_with("-> u32 {\n    a / 5\n}\n"), "{text}");
    // The person types while the list of actions is open.
    let action = actions(&editor, Some(RESTORE)).pop();
    assert!(action.is_none(), "it is a quick fix while something is wrong");
    let action = actions(&editor, None).pop().unwrap();
    editor.replace("/billing/invoice.rs", "a / 7", "a / 8");
    assert_eq!(resolve(&editor.snapshot(), action), Err(RequestRefusal::ContentModified));
}

/// After a document was closed and opened again, its versions begin again, and another block may be
/// in the block's place.
#[test]
fn a_block_to_restore_is_found_by_its_name() {
    let mut editor = editor_with_an_edit_out_of_scope();
    let file = "/billing/invoice.rs";
    let title = "Put function tax back as it was";
    let action = actions(&editor, None).into_iter().find(|it| it.title == title).unwrap();
    let reopened = |editor: &mut Editor, text: &str| {
        editor.close(file);
        editor.open(file, text);
        editor.replace(file, "a / 7", "a / 8");
    };
    reopened(&mut editor, "pub fn tax(a: u32) -> u32 {\n    a / 7\n}\n");
    let edit = resolve(&editor.snapshot(), action.clone()).unwrap().edit;
    assert!(edit.is_some());
    reopened(&mut editor, "fn a() {}\n\nfn b(a: u32) -> u32 { a / 7 }\n\nfn c() {}\n");
    let gone = "tax is no longer in the document".to_owned();
    assert_eq!(resolve(&editor.snapshot(), action), Err(RequestRefusal::Failed(gone)));
}

#[test]
fn recording_is_offered_only_for_a_saved_file() {
    let mut editor = under(Editor::in_git("//- /src/a.rs\nfn a$0() { 1 }\n"), "INT-001");
    assert_eq!(shown(&editor), "");
    editor.replace("/src/a.rs", "1", "2");
    let title = "Record the changes in a.rs under INT-001";
    assert!(
        shown(&editor).contains(&format!("{title} (no: save the file first")),
        "{}",
        shown(&editor)
    );
    editor.client.code_action_disabled = false;
    assert!(!shown(&editor).contains(title), "{}", shown(&editor));
    std::fs::write(editor.path("/src/a.rs"), "\u{feff}fn a() { 2 }\n").unwrap();
    editor.client.code_action_disabled = true;
    assert!(!shown(&editor).contains("save the file first"), "{}", shown(&editor));
    std::fs::write(editor.path("/src/a.rs"), "fn a() { 2 }\n").unwrap();
    let action = actions(&editor, Some("intent")).into_iter().find(|it| it.title == title).unwrap();
    let argument = action.command.unwrap().arguments.unwrap().remove(0);
    let answer = run_command(&editor, "intent.record", argument);
    assert_eq!(answer["recorded"][0]["blocks"], 1, "{answer}");
    editor.reload();
    assert!(!shown(&editor).contains("Record"), "{}", shown(&editor));
}

#[test]
fn a_record_from_an_editor_names_the_person() {
    let who = |interactive: bool, given: serde_json::Value| {
        let mut editor = Editor::in_git("//- /src/auth.rs closed\nfn a() { 1 }\n");
        let config = editor.path("/.git/config");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(config, text + "[user]\n\tname = Ada <ada@example.invalid>\n").unwrap();
        std::fs::write(editor.path("/src/auth.rs"), "fn a() { 2 }\n").unwrap();
        editor.settings.interactive = interactive;
        let mut argument = json!({ "paths": ["src/auth.rs"], "intent": "INT-001" });
        argument.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        run_command(&editor, "intent.record", argument);
        let answer = run_command(&editor, "intent.why", json!({ "path": "src/auth.rs" }));
        answer["blocks"][0]["contributor"].clone()
    };
    let ada = json!({ "entity_type": "HUMAN", "name": "Ada" });
    assert_eq!(who(true, json!({})), ada);
    assert_eq!(who(true, json!({ "agent": "codex" })), json!({ "entity_type": "AI" }));
    assert_eq!(who(false, json!({})), json!({ "entity_type": "UNKNOWN" }));
    assert_eq!(who(false, json!({ "contributor": "HUMAN" })), json!({ "entity_type": "HUMAN" }));
}

#[test]
fn an_intent_can_be_created_for_an_unowned_file() {
    let editor = Editor::new(&format!("{}\n//- /lib/x.rs\nfn x$0() {{}}\n", INTENTS.trim_end()));
    assert_eq!(shown(&editor), "intent.registry: Create an intent for lib/x.rs\n");
    insta::assert_snapshot!(chosen(&editor, "Create an intent for lib/x.rs"));
}

const DIALECT: &str = "
//- /.orchestration/active_intents.yaml
intents:
  - id: INT-001
    title: Sign$0 in
    status: active
    scope: [\"src/**\"]
  - id: INT-002
    name: Billing
    status: todo
    owned_scope: [\"billing/**\"]
";

#[test]
fn the_registry_offers_fixes_and_changes_of_status() {
    let editor = Editor::new(DIALECT);
    insta::assert_snapshot!(shown(&editor));
    insta::assert_snapshot!(chosen(&editor, "Write the registry in the canonical form"));
    let completed = chosen(&editor, "Complete INT-001");
    assert!(completed.contains("title: Sign in\n    status: COMPLETED"), "{completed}");
}

#[test]
fn only_the_requested_kinds_of_actions_are_answered() {
    let editor = Editor::new(DIALECT);
    let kinds = |only: &str| {
        let kinds =
            actions(&editor, Some(only)).into_iter().map(|it| it.kind.unwrap().as_str().to_owned());
        kinds.collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(kinds("source.fixAll"), [FIX_ALL.to_owned()].into());
    assert_eq!(kinds("source.organizeImports"), [].into());
    assert_eq!(kinds("intent"), [SELECT_KIND.to_owned(), REGISTRY.to_owned()].into());
}

#[test]
fn a_client_without_literals_gets_only_commands() {
    let mut editor = editor_with_an_edit_out_of_scope();
    editor.client.code_action_literals = false;
    let answers = ask(&editor, None);
    let commands: Vec<_> = answers
        .iter()
        .map(|it| match it {
            lsp::CodeActionOrCommand::Command(command) => command.title.as_str(),
            lsp::CodeActionOrCommand::CodeAction(action) => panic!("{action:?}"),
        })
        .collect();
    assert_eq!(commands, ["Select INT-002 Billing"]);
}

#[test]
fn a_client_without_resolving_gets_complete_actions() {
    let mut editor = editor_with_an_edit_out_of_scope();
    editor.client.code_action_resolve = false;
    editor.client.document_changes = false;
    let action = actions(&editor, None).pop().unwrap();
    assert!(action.data.is_none() && action.edit.unwrap().changes.unwrap().len() == 1);
}

#[test]
fn the_solutions_are_quick_fixes_anywhere_in_the_block() {
    let editor = editor_with_an_edit_out_of_scope();
    let below = lsp::Position { line: editor.at_cursor().position.line + 1, character: 4 };
    let context = json!({ "diagnostics": [], "only": [QUICK_FIX] });
    let offers = offered_at(&editor, below, context);
    let title = |offer: &lsp::CodeActionOrCommand| match offer {
        lsp::CodeActionOrCommand::CodeAction(action) => action.title.clone(),
        lsp::CodeActionOrCommand::Command(command) => command.title.clone(),
    };
    let titles: Vec<String> = offers.iter().map(title).collect();
    let ways = [
        "Select INT-002 Billing",
        "Add billing/invoice.rs to the scope of INT-001",
        "Put function tax back as it was",
    ];
    assert_eq!(titles, ways);
}

#[test]
fn a_hidden_diagnostic_has_no_quick_fix() {
    let mut editor = Editor::in_git(&format!("//- /src/sign_in.rs\nfn a$0dd() {{ 1 }}\n{INTENTS}"));
    editor.replace("/src/sign_in.rs", "1", "2");
    let shown = shown(&editor);
    assert!(shown.contains("intent.select: Select INT-001 Sign in\n"), "{shown}");
    assert!(
        !shown.contains("quickfix"),
        "nobody asked to be told that no intent is selected: {shown}"
    );
}

#[test]
fn accepting_is_offered_only_to_people() {
    let mut editor = editor_with_an_edit_out_of_scope();
    assert!(!shown(&editor).contains("Accept"), "{}", shown(&editor));
    editor.settings.interactive = true;
    assert!(shown(&editor).contains("Accept function tax as it stands…"), "{}", shown(&editor));
}
