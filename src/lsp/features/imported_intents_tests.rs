//! Tests of all features with intents that a team keeps in other formats, in a clone in which `intent
//! init` never ran.

use serde_json::json;
use tower_lsp::lsp_types as lsp;

use super::fixture::{Editor, git};
use super::{
    code_actions, code_lens, completion, definition, diagnostics, document_link, document_symbols,
    hover, references, rename, workspace_symbols,
};

const FILES: &str = "
//- /openspec/changes/add-login/proposal.md
# Change: Add a login
## Why
People want to sign in.
//- /openspec/changes/add-login/tasks.md closed
- [x] 1.1 a
- [ ] 1.2 b in `src/login.rs`
//- /openspec/changes/add-login/specs/auth/spec.md
### Requirement: Login
It MUST work.
#### Scenario: In
- **WHEN** a
- **THEN** b
//- /openspec/changes/archive/2025-01-01-add-logout/proposal.md closed
# Change: Add a logout
//- /specs/001-search/spec.md
# Feature Specification: Search
## Requirements
### Functional Requirements
- **FR-001**: The system MUST find words.
- **FR-002**: The system MUST be quick.
//- /specs/001-search/tasks.md
- [ ] T001 Find words, as FR-001 says
//- /specs/002-index/spec.md closed
# Feature Specification: Index
//- /src/login.rs
";

/// Returns an editor in a clone with a last file, which has the cursor.
fn clone_with(text: &str) -> Editor {
    Editor::in_untouched_clone(&format!("{FILES}{text}\n"))
}

fn labels(text: &str) -> Vec<String> {
    let mut editor = clone_with(text);
    git(&editor.path(""), &["checkout", "-qb", "002-index"]);
    editor.reload();
    let found = completion::handle(&editor.snapshot(), editor.ask(json!({}))).unwrap();
    completion::labels_in_order(found)
}

#[test]
fn ids_are_completed_and_the_current_work_is_first() {
    assert_eq!(labels("// speckit:$0"), ["speckit:002-index", "speckit:001-search"]);
    assert_eq!(labels("// see openspec:add-lo$0"), ["openspec:add-login", "openspec:add-logout"]);
    assert_eq!(labels("// add-login$0"), ["openspec:add-login"], "its name on disk");
    assert_eq!(labels("use std::$0"), [""; 0]);
}

fn target(text: &str) -> String {
    let mut editor = clone_with(text);
    editor.client.definition_links = false;
    match definition::handle(&editor.snapshot(), editor.ask(json!({}))).unwrap() {
        Some(lsp::GotoDefinitionResponse::Scalar(to)) => editor.show(&to.uri, to.range),
        _ => "nowhere".to_owned(),
    }
}

#[test]
fn an_id_leads_to_the_name_in_the_main_file() {
    let place = "openspec/changes/add-login/proposal.md:1: Add a login";
    assert_eq!(target("// openspec:add-$0login"), place);
    assert_eq!(target("// openspec:add-$0nothing"), "nowhere");
    assert_eq!(target("// std::add-$0login"), "nowhere", "a name alone is an ordinary word");
    let mut editor = clone_with("// openspec:add-$0login");
    editor.client.definition_links = false;
    editor.replace("/openspec/changes/add-login/proposal.md", "# Change", "More.\n# Change");
    let found = definition::handle(&editor.snapshot(), editor.ask(json!({}))).unwrap();
    let Some(lsp::GotoDefinitionResponse::Scalar(to)) = found else { panic!("{found:?}") };
    assert_eq!(to.range, lsp::Range::default(), "an edited file is opened at its beginning");
}

#[test]
fn mentions_are_references_and_links() {
    let editor = clone_with("// openspec:add-$0login, INT-001");
    let params = editor.ask(json!({ "context": { "includeDeclaration": true } }));
    let found = references::handle(&editor.snapshot(), params).unwrap().unwrap();
    let found: Vec<String> = found.iter().map(|it| editor.show(&it.uri, it.range)).collect();
    let place = "openspec/changes/add-login/proposal.md:1: Add a login";
    assert_eq!(found, [place, "src/login.rs:1: openspec:add-login"]);
    let params = json!({ "textDocument": { "uri": editor.uri("/src/login.rs") } });
    let params = serde_json::from_value(params).unwrap();
    let links = document_link::handle(&editor.snapshot(), params).unwrap().unwrap();
    let target = links[0].target.as_ref().unwrap().to_string();
    assert!(links.len() == 1 && target.ends_with("add-login/proposal.md#L1"), "{links:?}");
    assert!(rename::handle(&editor.snapshot(), editor.ask(json!({ "newName": "x-1" }))).is_err());
}

fn shown_hover(editor: &Editor) -> String {
    let found = hover::handle(&editor.snapshot(), editor.ask(json!({}))).unwrap();
    let Some(lsp::HoverContents::Markup(text)) = found.map(|hover| hover.contents) else {
        return "nothing".to_owned();
    };
    editor.steady(&text.value)
}

#[test]
fn a_mention_and_a_requirement_are_described() {
    insta::assert_snapshot!(shown_hover(&clone_with("// openspec:add-$0login")));
    let at = |from: &str, to: &str| {
        let files = FILES.replace(from, to);
        shown_hover(&Editor::in_untouched_clone(&format!("{files}fn a() {{}}\n")))
    };
    let by_id = at("as FR-001", "as FR$0-001");
    insta::assert_snapshot!(by_id);
    assert_eq!(at("MUST find", "MU$0ST find"), by_id, "the line of a requirement");
    assert!(at("Scenario: In", "Scenario: I$0n").contains("add-login Add a login"));
}

#[test]
fn files_list_their_requirements_and_the_workspace_its_intents() {
    let editor = clone_with("$0");
    let symbols = |path: &str| {
        let params = json!({ "textDocument": { "uri": editor.uri(path) } });
        let params = serde_json::from_value(params).unwrap();
        let found = document_symbols::handle(&editor.snapshot(), params).unwrap();
        let Some(lsp::DocumentSymbolResponse::Nested(found)) = found else { return Vec::new() };
        let lines = |it: &lsp::DocumentSymbol| {
            let lines = format!("{}-{}", it.range.start.line + 1, it.range.end.line + 1);
            format!("{lines} {} ({})", it.name, it.detail.as_deref().unwrap_or_default())
        };
        let children = |it: &lsp::DocumentSymbol| {
            let own = std::iter::once(lines(it));
            own.chain(it.children.iter().flatten().map(lines)).collect::<Vec<_>>()
        };
        found.iter().flat_map(children).collect::<Vec<_>>()
    };
    insta::assert_debug_snapshot!([
        symbols("/specs/001-search/spec.md"),
        symbols("/openspec/changes/add-login/proposal.md"),
        symbols("/openspec/changes/add-login/specs/auth/spec.md"),
        symbols("/src/login.rs"),
    ]);
    let params = lsp::WorkspaceSymbolParams { query: "log".into(), ..Default::default() };
    let found = workspace_symbols::handle(&editor.snapshot(), params).unwrap();
    let Some(lsp::WorkspaceSymbolResponse::Flat(found)) = found else { panic!("{found:?}") };
    let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["openspec:add-login Add a login", "openspec:add-logout Add a logout"]);
}

#[test]
fn nothing_is_judged_asked_or_written() {
    let editor = clone_with("fn a() {} // openspec:add-$0login");
    let uri = editor.uri("/src/login.rs");
    assert_eq!(diagnostics::diagnose(&editor.snapshot(), &uri), []);
    let of_file = json!({ "textDocument": { "uri": uri } });
    let params = serde_json::from_value(of_file).unwrap();
    assert_eq!(code_lens::handle(&editor.snapshot(), params).unwrap(), None);
    let here = editor.at_cursor();
    let range = json!({ "start": here.position, "end": here.position });
    let params = editor.ask(json!({ "range": range, "context": { "diagnostics": [] } }));
    assert!(code_actions::handle(&editor.snapshot(), params).unwrap().is_none());
    shown_hover(&editor);
    let status = super::fixture::git_runs(&editor.path(""), &["status", "--porcelain"]);
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
}

#[test]
fn an_adopted_intent_leads_on_to_its_source() {
    let own = "//- /.orchestration/intents/openspec-add-login.yaml\nsource: openspec:add$0-login\nowned_scope: []\n";
    let files = FILES.trim_start();
    let mut editor = Editor::in_git(&format!("{own}{files}"));
    editor.client.definition_links = false;
    let found = definition::handle(&editor.snapshot(), editor.ask(json!({}))).unwrap();
    let Some(lsp::GotoDefinitionResponse::Scalar(to)) = found else { panic!("{found:?}") };
    assert_eq!(to.uri, editor.uri("/openspec/changes/add-login/proposal.md"));
    let uri = editor.uri("/.orchestration/intents/openspec-add-login.yaml");
    let params = serde_json::from_value(json!({ "textDocument": { "uri": uri } })).unwrap();
    let links = document_link::handle(&editor.snapshot(), params).unwrap().unwrap();
    assert_eq!(links.len(), 1, "{links:?}");
}
