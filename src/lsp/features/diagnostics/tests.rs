use std::fmt::Write as _;

use serde_json::json;

use super::*;
use crate::config::Settings;
use crate::features::fixture::Editor;
use overview::select;

/// Returns the diagnostics in the form in which a person sees them.
fn shown_diagnostics(editor: &Editor, path: &str) -> String {
    let uri = editor.uri(path);
    show(editor, &uri, &diagnose(&editor.snapshot(), &uri))
}

fn show(editor: &Editor, uri: &lsp::Url, diagnostics: &[lsp::Diagnostic]) -> String {
    let mut out = String::new();
    for it in diagnostics {
        let (Some(lsp::NumberOrString::String(code)), message) = (&it.code, &it.message) else {
            panic!("{it:?}");
        };
        let severity = it.severity.unwrap();
        let place = editor.show(uri, it.range);
        writeln!(out, "{severity:?} {code} at {place}\n  {}", message.replace('\n', "\n  "))
            .unwrap();
        for related in it.related_information.iter().flatten() {
            let place = editor.show(&related.location.uri, related.location.range);
            writeln!(out, "  -> {place}: {}", related.message).unwrap();
        }
    }
    if out.is_empty() { "nothing".to_owned() } else { editor.steady(&out) }
}

const BILLING: &str = "
//- /billing/invoice.rs
pub fn total(a: u32) -> u32 {
    a + 1
}

pub fn tax(a: u32) -> u32 {
    a / 5
}
";

/// Returns an editor whose user works under INT-001 and edits a file outside of its scope.
fn editor_with_an_edit_out_of_scope() -> Editor {
    let mut editor = Editor::in_git(BILLING);
    select::select(editor.workspace(), "INT-001", None).unwrap();
    editor.reload();
    editor.replace("/billing/invoice.rs", "a / 5", "a / 7");
    editor
}

#[test]
fn the_owner_of_a_file_comes_before_everything_else() {
    let mut editor = editor_with_an_edit_out_of_scope();
    let registry = "/.orchestration/active_intents.yaml";
    let scope = "\"src/**\", \"a/**\", \"b/**\", \"c/**\", \"d/**\"";
    let wide = std::fs::read_to_string(editor.path(registry)).unwrap();
    editor.write(registry, &wide.replace("\"src/**\"", scope));
    let nobody = shown_diagnostics(&editor, "/billing/invoice.rs");
    let owns = "No intent in progress owns billing/invoice.rs. INT-001 owns src/**, a/**, b/** and 2 more.";
    assert!(nobody.contains(owns), "{nobody}");
    editor.write(registry, &wide.replace("COMPLETED", "IN_PROGRESS"));
    let owned = shown_diagnostics(&editor, "/billing/invoice.rs");
    let owner = "\n  Scope Violation: billing/invoice.rs belongs to INT-002 (Billing); INT-001 is selected.\n";
    assert!(owned.contains(owner), "{owned}");
}

#[test]
fn an_ungated_write_is_shown_until_the_file_changes() {
    use ground::session::{seen, ungated};
    let mut editor = Editor::new("//- /src/a.rs intent=INT-001\nfn a() {}\n");
    let root = editor.workspace().root.clone();
    let path = RelativePath::new("src/a.rs").unwrap();
    let note = ungated::Ungated {
        hash: seen::state(&root, &path, 0).hash,
        path,
        before: Default::default(),
        head: None,
        actor: "codex:1".into(),
        tool: "Bash".into(),
        why: "a command changed it".into(),
        at: "yesterday".into(),
    };
    ungated::keep(&root, &note).unwrap();
    editor.reload();
    let told = shown_diagnostics(&editor, "/src/a.rs");
    assert!(told.to_lowercase().starts_with("warning ungated-write at "), "{told}");
    assert!(told.contains("codex:1 wrote this file"), "{told}");
    editor.close("/src/a.rs");
    let elsewhere = unopened(&editor.snapshot(), root.path());
    assert!(elsewhere.iter().any(|(uri, _)| uri.as_str().ends_with("src/a.rs")));
    editor.write("/src/a.rs", "fn b() {}\n");
    editor.reload();
    assert_eq!(unopened(&editor.snapshot(), root.path()), []);
}

#[test]
fn an_edit_outside_the_scope_is_an_error_that_points_to_the_scope() {
    insta::assert_snapshot!(shown_diagnostics(
        &editor_with_an_edit_out_of_scope(),
        "/billing/invoice.rs"
    ));
}

#[test]
fn unchanged_and_ungoverned_files_have_no_diagnostics() {
    let editor = Editor::in_git(BILLING);
    assert_eq!(shown_diagnostics(&editor, "/billing/invoice.rs"), "nothing");
    let mut undone = editor_with_an_edit_out_of_scope();
    undone.replace("/billing/invoice.rs", "a / 7", "a / 5");
    assert_eq!(shown_diagnostics(&undone, "/billing/invoice.rs"), "nothing");
    let mut quiet = Editor::in_git(BILLING);
    quiet.replace("/billing/invoice.rs", "a / 5", "a / 7");
    // No intent is selected. The finding for this is off by default.
    assert_eq!(shown_diagnostics(&quiet, "/billing/invoice.rs"), "nothing");
}

#[test]
fn a_deleted_file_has_a_diagnostic_at_its_path() {
    let mut editor = editor_with_an_edit_out_of_scope();
    std::fs::remove_file(editor.path("/billing/invoice.rs")).unwrap();
    editor.close("/billing/invoice.rs");
    editor.reload();
    let told = unopened(&editor.snapshot(), editor.workspace().root.path());
    let here = told.iter().find(|(uri, _)| uri.as_str().ends_with("billing/invoice.rs"));
    let [diagnostic] = &here.expect("it is told of").1[..] else { panic!("{told:?}") };
    assert_eq!(diagnostic.severity, Some(lsp::DiagnosticSeverity::ERROR));
    assert_eq!(diagnostic.range.start.line, 0);
    // In the middle of a checkout, most files seem to be deleted.
    editor.write("/.git/index.lock", "");
    editor.reload();
    let told = unopened(&editor.snapshot(), editor.workspace().root.path());
    assert!(!told.iter().any(|(uri, _)| uri.as_str().ends_with("billing/invoice.rs")), "{told:?}");
}

#[cfg(unix)]
#[test]
fn a_link_is_judged_like_its_target() {
    let mut editor = Editor::in_git("//- /src/a.rs\nfn a() {}\n//- /billing/b.rs\nfn b() {}\n");
    overview::select::select(editor.workspace(), "INT-001", None).unwrap();
    for (link, to) in [("/billing/ours.rs", "../src/a.rs"), ("/src/theirs.rs", "../billing/b.rs")] {
        std::os::unix::fs::symlink(to, editor.path(link)).unwrap();
    }
    editor.commit();
    editor.reload();
    editor.open("/billing/ours.rs", "fn a() {}\n");
    editor.open("/src/theirs.rs", "fn b() {}\n");
    assert_eq!(shown_diagnostics(&editor, "/billing/ours.rs"), "nothing");
    assert_eq!(shown_diagnostics(&editor, "/src/theirs.rs"), "nothing");
    editor.replace("/billing/ours.rs", "fn a", "fn c");
    assert_eq!(
        shown_diagnostics(&editor, "/billing/ours.rs"),
        "nothing",
        "INT-001 owns what it leads to"
    );
    editor.replace("/src/theirs.rs", "fn b", "fn c");
    let told = shown_diagnostics(&editor, "/src/theirs.rs");
    assert!(told.contains("not authorized to edit billing/b.rs"), "{told}");
}

#[test]
fn an_unsaved_registry_widens_and_narrows_a_scope() {
    let mut editor = editor_with_an_edit_out_of_scope();
    let registry = "/.orchestration/active_intents.yaml";
    let text = std::fs::read_to_string(editor.path(registry)).unwrap();
    editor.open(registry, &text.replace("\"src/**\"", "\"src/**\", \"billing/**\""));
    assert_eq!(shown_diagnostics(&editor, "/billing/invoice.rs"), "nothing");
    let mut owner = Editor::in_git(BILLING);
    overview::select::select(owner.workspace(), "INT-001", None).unwrap();
    owner.reload();
    std::fs::create_dir_all(owner.path("/src")).unwrap();
    owner.write("/src/mine.rs", "fn mine() { 1 }\n");
    owner.open("/src/mine.rs", "fn mine() { 1 }\n");
    assert_eq!(shown_diagnostics(&owner, "/src/mine.rs"), "nothing");
    let text = std::fs::read_to_string(owner.path(registry)).unwrap();
    owner.open(registry, &text.replace("src/**", "lib/**"));
    let narrow = shown_diagnostics(&owner, "/src/mine.rs");
    assert!(narrow.to_lowercase().contains("error scope-violation"), "{narrow}");
}

#[test]
fn merge_markers_are_a_warning() {
    let mut editor = Editor::in_git("//- /src/a.rs\nfn a() {}\n");
    assert_eq!(shown_diagnostics(&editor, "/src/a.rs"), "nothing");
    let both = "<<<<<<< ours\nfn a() {}\n=======\nfn a(b: u8) {}\n>>>>>>> theirs\n";
    editor.replace("/src/a.rs", "fn a() {}\n", both);
    let told = shown_diagnostics(&editor, "/src/a.rs").to_lowercase();
    assert!(told.contains("warning merge-conflict"), "{told}");
}

#[test]
fn a_broken_registry_causes_no_scope_violations() {
    let mut editor = editor_with_an_edit_out_of_scope();
    editor.write("/.orchestration/active_intents.yaml", "active_intents: [\n");
    assert_eq!(shown_diagnostics(&editor, "/billing/invoice.rs"), "nothing");
}

#[test]
fn levels_come_from_the_user_then_the_policy_then_the_default() {
    let level = |editor: &Editor| {
        let uri = editor.uri("/billing/invoice.rs");
        diagnose(&editor.snapshot(), &uri).iter().map(|it| it.severity.unwrap()).collect::<Vec<_>>()
    };
    let mut editor = editor_with_an_edit_out_of_scope();
    assert_eq!(level(&editor), [lsp::DiagnosticSeverity::ERROR]);
    editor.write("/.orchestration/policy.yaml", "levels: { scope-violation: warning }\n");
    assert_eq!(level(&editor), [lsp::DiagnosticSeverity::WARNING]);
    let options = json!({ "levels": { "scope-violation": "hint" } });
    editor.settings = Settings::at_start(Some(&options)).0;
    assert_eq!(level(&editor), [lsp::DiagnosticSeverity::HINT]);
}

#[test]
fn without_related_information_the_message_contains_it() {
    let mut editor = editor_with_an_edit_out_of_scope();
    editor.client.related_information = false;
    editor.client.diagnostic_data = false;
    let uri = editor.uri("/billing/invoice.rs");
    let found = diagnose(&editor.snapshot(), &uri);
    assert!(found[0].data.is_none() && found[0].related_information.is_none());
    assert!(
        shown_diagnostics(&editor, "/billing/invoice.rs")
            .contains(".orchestration/active_intents.yaml:5: "),
        "{}",
        shown_diagnostics(&editor, "/billing/invoice.rs")
    );
}

#[test]
fn a_code_links_to_a_page_if_the_user_sets_the_address() {
    let mut editor = editor_with_an_edit_out_of_scope();
    let page = |editor: &Editor| {
        let uri = editor.uri("/billing/invoice.rs");
        let found = diagnose(&editor.snapshot(), &uri);
        found[0].code_description.as_ref().map(|it| it.href.to_string())
    };
    assert_eq!(page(&editor), None);
    editor.settings.docs_url = Some("https://docs.example/{code}.html".into());
    assert_eq!(page(&editor).as_deref(), Some("https://docs.example/scope-violation.html"));
}

const BROKEN: &str = "
//- /.orchestration/active_intents.yaml
active_intents:
  - id: INT-001
    name: Sign in
    status: started
    owned_scope: [\"src\", \"../elsewhere/**\"]
  - id: INT-001
    name: Again
    status: DRAFT
    owned_scope: [\"nowhere/**\"]
//- /src/a.rs closed
fn a() {}
";

#[test]
fn a_registry_is_checked_as_it_is_in_the_editor() {
    let mut editor = Editor::new(BROKEN);
    insta::assert_snapshot!(shown_diagnostics(&editor, "/.orchestration/active_intents.yaml"));
    editor.replace("/.orchestration/active_intents.yaml", "id: INT-001\n    name: Again", "id: [");
    let text = shown_diagnostics(&editor, "/.orchestration/active_intents.yaml");
    assert!(text.starts_with("Error registry-syntax"), "{text}");
}

#[test]
fn registry_and_rule_files_are_checked_even_if_closed() {
    let mut editor = Editor::new(&BROKEN.replace("intents.yaml\n", "intents.yaml closed\n"));
    editor.write("/.orchestration/policy.yaml", "mode: whatever\n");
    editor.write("/.orchestration/agent_trace.jsonl", "{\"id\":\"x\", torn\n");
    let files = unopened(&editor.snapshot(), editor.workspace().root.path());
    let shown = files.iter().map(|(uri, found)| show(&editor, uri, found));
    insta::assert_snapshot!(shown.collect::<String>());
}

#[test]
fn the_number_of_diagnostics_of_a_file_is_limited() {
    let intent =
        |at: usize| format!("  - {{ id: A-{at}, name: a, status: odd, owned_scope: [a] }}\n");
    let text: String = (0..300).map(intent).collect();
    let path = "/.orchestration/active_intents.yaml";
    let editor = Editor::new(&format!("//- {path}\nactive_intents:\n{text}"));
    let found = diagnose(&editor.snapshot(), &editor.uri(path));
    assert_eq!(found.len(), MAX_OF_A_FILE);
    assert!(
        shown_diagnostics(&editor, path)
            .contains(" more are not shown; `intent evidence verify` lists them.")
    );
}

#[test]
fn a_rule_about_an_unknown_intent_is_shown_in_its_ignore_file() {
    let text = "# intent: deny-write\nINT-001: src/old/\nINT-777: src/new/\n";
    let editor = Editor::new(&format!("{BILLING}//- /.intentignore\n{text}"));
    let found = shown_diagnostics(&editor, "/.intentignore");
    assert!(found.starts_with("Warning unknown-intent at .intentignore:3"), "{found}");
    assert_eq!(found.matches("unknown-intent").count(), 1, "{found}");
}
