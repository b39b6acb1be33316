//! Edits of registries change as few bytes as possible, and exactly what was asked for.

use std::collections::BTreeSet;

use edits::apply;
use ground::RelativePath;
use intents::dialect::Field;
use intents::edit::{next_id, plan};
use intents::{EditError, IntentEntry, Registry, RegistryEdit, Status};
use proptest::prelude::*;

fn parse(name: &str, text: &str) -> Registry {
    Registry::parse(
        RelativePath::new(&format!(".orchestration/{name}")).expect("a path inside"),
        text,
    )
}

fn edited(name: &str, text: &str, edit: &RegistryEdit) -> Result<String, EditError> {
    let edits = plan(&parse(name, text), edit)?.edits;
    Ok(apply(text, &edits).expect("the edits fit the text"))
}

fn status(id: &str, status: Status) -> RegistryEdit {
    RegistryEdit::SetStatus { id: id.into(), status }
}

fn scope(entry: &str) -> RegistryEdit {
    RegistryEdit::AddEntry { id: "A".into(), field: Field::Scope, entry: entry.into() }
}

fn rename(from: &str, to: &str) -> RegistryEdit {
    RegistryEdit::Rename { from: from.into(), to: to.into() }
}

/// Asserts that an edit turns the text `before` into the text `after`.
#[track_caller]
fn check(name: &str, before: &str, edit: &RegistryEdit, after: &str) {
    assert_eq!(edited(name, before, edit).as_deref(), Ok(after));
}

#[test]
fn a_status_keeps_the_quotes_of_the_old_one() {
    let done = status("A", Status::Completed);
    check(
        "r.yaml",
        "- id: A\n  status: DRAFT # why\n",
        &done,
        "- id: A\n  status: COMPLETED # why\n",
    );
    check("r.yaml", "- id: A\n  status: 'todo'\n", &done, "- id: A\n  status: 'COMPLETED'\n");
    for (old, new) in [("x", "COMPLETED"), ("'x'", "'COMPLETED'")] {
        let text = |value: &str| format!("- id: A\n  status: &s # why\n    {value}\n");
        check("r.yaml", &text(old), &done, &text(new));
    }
    check("r.yaml", "- {id: A, status: \"x\"}\n", &done, "- {id: A, status: \"COMPLETED\"}\n");
    check("r.yaml", "- id: A\n  status: # none\n", &done, "- id: A\n  status: COMPLETED # none\n");
    check(
        "r.yaml",
        "- id: A\n  status:\n  name: x\n",
        &done,
        "- id: A\n  status: COMPLETED\n  name: x\n",
    );
    check(
        "r.yaml",
        "- id: A\n  name: n # c\n  x: 1\n",
        &done,
        "- id: A\n  name: n # c\n  status: COMPLETED\n  x: 1\n",
    );
    check(
        "r.yaml",
        "- id: A\r\n  name: ä\r\n",
        &done,
        "- id: A\r\n  name: ä\r\n  status: COMPLETED\r\n",
    );
    check("r.yaml", "- id: A", &done, "- id: A\n  status: COMPLETED");
    check("r.yaml", "- {id: A, name: x}\n", &done, "- {id: A, name: x, status: COMPLETED}\n");
    check("r.json", "[{\"id\": \"A\"}]", &done, "[{\"id\": \"A\", \"status\": \"COMPLETED\"}]");
    check(
        "r.json",
        "[{\"id\": \"A\", \"status\": null}]",
        &done,
        "[{\"id\": \"A\", \"status\": \"COMPLETED\"}]",
    );
    check(
        "r.json",
        "[\n  {\n    \"id\": \"A\"\n  }\n]\n",
        &done,
        "[\n  {\n    \"id\": \"A\",\n    \"status\": \"COMPLETED\"\n  }\n]\n",
    );
    check("r.yaml", "A:\n  name: x\n", &done, "A:\n  name: x\n  status: COMPLETED\n");
}

#[test]
fn a_scope_entry_is_added_in_the_style_of_its_list() {
    let add = scope("src/**");
    let flow = |before: &str, after: &str| {
        check(
            "r.yaml",
            &format!("- id: A\n  owned_scope: {before}\n"),
            &add,
            &format!("- id: A\n  owned_scope: {after}\n"),
        );
    };
    flow("[]", "[\"src/**\"]");
    flow("[ ]  # c", "[\"src/**\" ]  # c");
    flow("[\"a\"]", "[\"a\", \"src/**\"]");
    flow("['a']", "['a', 'src/**']");
    flow("[a, ] # c", "[a, src/**, ] # c");
    flow("[\n    \"a\",\n    \"b\"\n  ]", "[\n    \"a\",\n    \"b\",\n    \"src/**\"\n  ]");
    flow(
        "[\n    \"a\", # one\n    \"b\", # two\n  ]",
        "[\n    \"a\", # one\n    \"b\", # two\n    \"src/**\",\n  ]",
    );
    flow(
        "[\n    \"a\", # one\n    \"b\" # two\n  ]",
        "[\n    \"a\", # one\n    \"b\", # two\n    \"src/**\"\n  ]",
    );
    flow("[\n    a,\n    b]", "[\n    a,\n    b, src/**]");
    check("r.yaml", "- id: A\n  owned_scope:\n", &add, "- id: A\n  owned_scope: [\"src/**\"]\n");
    flow("src/a.ts", "[\"src/a.ts\", \"src/**\"]");
    flow("\n    - a # c\n    # below", "\n    - a # c\n    - src/**\n    # below");
    flow("\n  - \"a\"\n  - 'b'", "\n  - \"a\"\n  - 'b'\n  - 'src/**'");
    check(
        "r.yaml",
        "- id: A\n  scope: {paths: [a]}\n",
        &add,
        "- id: A\n  scope: {paths: [a, src/**]}\n",
    );
    check(
        "r.yaml",
        "- id: A\n  name: n\n",
        &add,
        "- id: A\n  name: n\n  owned_scope: [\"src/**\"]\n",
    );
    check(
        "r.json",
        "[{\"id\":\"A\",\"owned_scope\":[\"a\"]}]",
        &add,
        "[{\"id\":\"A\",\"owned_scope\":[\"a\", \"src/**\"]}]",
    );
    check(
        "r.yaml",
        "\u{feff}- id: A\r\n  owned_scope:\r\n  - ä\r\n",
        &add,
        "\u{feff}- id: A\r\n  owned_scope:\r\n  - ä\r\n  - src/**\r\n",
    );
    check(
        "r.yaml",
        "- id: A\n  owned_scope:\n  - a\n  -\n# c\n",
        &add,
        "- id: A\n  owned_scope:\n  - a\n  -\n  - src/**\n# c\n",
    );
    // An entry that plain YAML would read as something else is quoted.
    check(
        "r.yaml",
        "- id: A\n  owned_scope:\n  - a\n",
        &scope("!b"),
        "- id: A\n  owned_scope:\n  - a\n  - \"!b\"\n",
    );
    check(
        "r.yaml",
        "- id: A\n  owned_scope: [a]\n",
        &scope("{b,c}.ts"),
        "- id: A\n  owned_scope: [a, \"{b,c}.ts\"]\n",
    );
    check(
        "r.yaml",
        "- id: A\n  owned_scope: ['a']\n",
        &scope("it's"),
        "- id: A\n  owned_scope: ['a', 'it''s']\n",
    );
    check("r.yaml", "- id: A\n  owned_scope: [a]\n", &scope("a"), "- id: A\n  owned_scope: [a]\n");
}

#[test]
fn an_edit_that_is_not_safe_is_refused() {
    let refused = |text: &str, edit: &RegistryEdit| match edited("r.yaml", text, edit) {
        Err(EditError::Refused(message)) => message,
        other => panic!("{other:?}"),
    };
    let prose = refused("- id: A\n  scope: All of the auth files\n", &scope("a"));
    assert!(prose.contains("prose") && prose.contains("owned_scope: [\"a\"]"), "{prose}");
    refused("- id: A\n  scope: |\n    src/a.ts\n", &scope("b"));
    refused("x: &x [a]\nactive_intents:\n- id: A\n  owned_scope: *x\n", &scope("b"));
    refused("- id: A\n  status: [DRAFT]\n", &status("A", Status::Draft));
    refused("- id: A\n", &scope("../b"));
    refused("- id: A\n", &rename("A", "b c"));
    refused("active_intents:\n  A: {name: x}\n", &RegistryEdit::Add(new("B")));
    refused(
        "active_intents: []\n",
        &RegistryEdit::Add(IntentEntry { owned_scope: vec!["/".into()], ..new("B") }),
    );
    let broken = edited("r.yaml", "a: b\n  c: d\n", &RegistryEdit::Add(new("B")));
    assert!(matches!(broken, Err(EditError::Broken { .. })), "{broken:?}");
    let unknown = edited("r.yaml", "- id: A\n", &status("B", Status::Draft));
    assert!(matches!(unknown, Err(EditError::Unknown { .. })), "{unknown:?}");
    let taken = edited("r.yaml", "- id: A\n- id: B\n", &rename("A", "B"));
    assert!(matches!(taken, Err(EditError::Taken { .. })), "{taken:?}");
    let taken = edited("r.yaml", "- id: A\n", &RegistryEdit::Add(new("A")));
    assert!(matches!(taken, Err(EditError::Taken { .. })), "{taken:?}");
}

#[test]
fn an_id_is_renamed_in_every_reference() {
    let before = "active_intent_id: A\nactive_intents:\n- id: A\n  name: A\n  intent_id: 'A'\n- id: B # after A\n  parent_intent: \"A\"\n  depends_on: [A, C]\n  notes: A\nagents: {one: A, two: B}\n";
    let after = "active_intent_id: Z-1\nactive_intents:\n- id: Z-1\n  formerly: [\"A\"]\n  name: A\n  intent_id: 'Z-1'\n- id: B # after A\n  parent_intent: \"Z-1\"\n  depends_on: [Z-1, C]\n  notes: A\nagents: {one: Z-1, two: B}\n";
    check("r.yaml", before, &rename("A", "Z-1"), after);
    check(
        "r.yaml",
        "active_intents:\n  A:\n    name: x\n",
        &rename("A", "Z"),
        "active_intents:\n  Z:\n    name: x\n    formerly: [\"A\"]\n",
    );
    check(
        "r.json",
        "[{\"id\": \"A\"}]",
        &rename("A", "Z"),
        "[{\"id\": \"Z\", \"formerly\": [\"A\"]}]",
    );
    check("r.yaml", "- id: A\n", &rename("A", "007"), "- id: \"007\"\n  formerly: [\"A\"]\n");
}

#[test]
fn the_former_id_is_kept_in_formerly() {
    let z = rename("A", "Z-1");
    for (before, after) in [
        (
            "- id: A # one\n  name: x\n  status: DRAFT\n",
            "- id: Z-1 # one\n  formerly: [\"A\"]\n  name: x\n  status: DRAFT\n",
        ),
        ("- name: x\r\n  id: 'A'", "- name: x\r\n  id: 'Z-1'\r\n  formerly: [\"A\"]"),
        ("- {id: A, name: x}\n", "- {id: Z-1, name: x, formerly: [\"A\"]}\n"),
        ("- id: A\n  formerly: []\n", "- id: Z-1\n  formerly: [\"A\"]\n"),
        ("- id: A\n  formerly: [O] # c\n", "- id: Z-1\n  formerly: [O, A] # c\n"),
        (
            "- id: A\n  formerly:\n    - 'O' # c\n  name: x\n",
            "- id: Z-1\n  formerly:\n    - 'O' # c\n    - 'A'\n  name: x\n",
        ),
        ("- id: A\n  formerly: O\n", "- id: Z-1\n  formerly: [\"O\", \"A\"]\n"),
        ("- id: A\n  formerly:\n", "- id: Z-1\n  formerly: [\"A\"]\n"),
        // A rename back to a former id exchanges the two.
        ("- id: A\n  formerly: [O, \"Z-1\"] # c\n", "- id: Z-1\n  formerly: [O, \"A\"] # c\n"),
        ("- id: A\n  formerly:\n  - Z-1\n  - O\n", "- id: Z-1\n  formerly:\n  - A\n  - O\n"),
        ("- id: A\n  formerly: Z-1\n", "- id: Z-1\n  formerly: A\n"),
        ("- id: A\n  formerly: [A]\n", "- id: Z-1\n  formerly: [A]\n"),
        // The former ids of another intent are not changed.
        (
            "- id: A\n- id: B\n  formerly: [A]\n",
            "- id: Z-1\n  formerly: [\"A\"]\n- id: B\n  formerly: [A]\n",
        ),
        ("- A\n- B\n", "- {id: Z-1, formerly: [A]}\n- B\n"),
        ("intents:\n  A:\n  B: {}\n", "intents:\n  Z-1: {formerly: [\"A\"]}\n  B: {}\n"),
    ] {
        check("r.yaml", before, &z, after);
    }
    check("r.json", "[\"A\"]", &z, "[{\"id\": \"Z-1\", \"formerly\": [\"A\"]}]");
    let before = "[\n  {\n    \"id\": \"A\",\n    \"formerly\": [\"O\"]\n  }\n]";
    check(
        "r.json",
        before,
        &z,
        &before.replace("\"O\"", "\"O\", \"A\"").replace("\": \"A", "\": \"Z-1"),
    );
    let refuses = |before: &str, edit: &RegistryEdit, why: &str| {
        let refused = edited("r.yaml", before, edit).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    };
    let of_b = "- id: A\n- id: B\n  formerly: [Z-1]\n";
    refuses(of_b, &z, "former id of B");
    refuses(of_b, &RegistryEdit::Add(new("Z-1")), "former id of B");
    refuses("- id: N\n  formerly: [A]\n", &z, "renamed to N");
    refuses("x: &x [O]\nactive_intents:\n- id: A\n  formerly: *x\n", &z, "alias");
    refuses("- id: A\n  formerly: {a: b}\n", &z, "by hand");
    let registry = parse("r.yaml", "- id: I-1\n  formerly: [I-2, I-4]\n- id: I-3\n");
    assert_eq!(next_id(&registry, &BTreeSet::new()), "I-5");
    let by_old = RegistryEdit::SetStatus { id: "I-4".into(), status: Status::Draft };
    let text = edited("r.yaml", registry.text(), &by_old).unwrap();
    assert!(text.starts_with("- id: I-1\n  status: DRAFT\n"), "{text}");
}

fn new(id: &str) -> IntentEntry {
    IntentEntry {
        id: id.into(),
        name: "New: one".into(),
        owned_scope: vec!["src/**".into(), "!src/x".into()],
        ..IntentEntry::default()
    }
}

const WRITTEN: &str = "- id: B\n    name: \"New: one\"\n    status: DRAFT\n    owned_scope: [\"src/**\", \"!src/x\"]\n";

#[test]
fn a_new_intent_is_written_in_the_canonical_form() {
    let add = RegistryEdit::Add(new("B"));
    let whole = format!("active_intents:\n  {WRITTEN}");
    let dashed = WRITTEN.replace("\n    ", "\n  ");
    check("r.yaml", "", &add, &whole);
    check("r.yaml", "# c\n", &add, &format!("# c\n{whole}"));
    check("r.yaml", "# c", &add, &format!("# c\n{whole}"));
    check("r.yaml", "active_intents:\n", &add, &whole);
    check(
        "r.yaml",
        "active_intents: [] # c\nx: 1\n",
        &add,
        &format!("{} # c\nx: 1\n", whole.trim_end()),
    );
    check("r.yaml", "intents: null\n", &add, &whole.replace("active_", ""));
    check(
        "r.yaml",
        "active_intents:\n  - id: A # a\n  # end\n",
        &add,
        &format!("active_intents:\n  - id: A # a\n  {WRITTEN}  # end\n"),
    );
    check("r.yaml", "- id: A\n", &add, &format!("- id: A\n{dashed}"));
    check(
        "r.yaml",
        "active_intents:\n- id: A\n  x:\n    - y\nz: 1\n",
        &add,
        &format!("active_intents:\n- id: A\n  x:\n    - y\n{dashed}z: 1\n"),
    );
    check(
        "r.yaml",
        "a: 1\r\nactive_intents:\r\n  - id: A\r\n",
        &add,
        &format!("a: 1\r\nactive_intents:\r\n  - id: A\r\n  {}", WRITTEN.replace('\n', "\r\n")),
    );
    let compact =
        r#"{"id":"B","name":"New: one","status":"DRAFT","owned_scope":["src/**","!src/x"]}"#;
    check(
        "r.json",
        r#"{"active_intents": []}"#,
        &add,
        &format!(r#"{{"active_intents": [{compact}]}}"#),
    );
    check(
        "r.json",
        r#"{"active_intents": null}"#,
        &add,
        &format!(r#"{{"active_intents": [{compact}]}}"#),
    );
    check("r.json", r#"[{"id":"A"}]"#, &add, &format!(r#"[{{"id":"A"}}, {compact}]"#));
    check(
        "r.yaml",
        "active_intents: [{id: A}]\n",
        &add,
        &format!("active_intents: [{{id: A}}, {compact}]\n"),
    );
    let lined = edited(
        "r.json",
        "{\n  \"active_intents\": [\n    {\n      \"id\": \"A\"\n    }\n  ]\n}\n",
        &add,
    )
    .unwrap();
    assert!(lined.contains("    },\n    {\n      \"id\": \"B\",\n"), "{lined}");
    let fresh = edited("r.json", "", &add).unwrap();
    assert_eq!(parse("r.json", &fresh).intents().len(), 1);
}

#[test]
fn unusual_texts_are_read_back_as_they_were_written() {
    for text in [
        "a: b",
        "# c",
        "'x'",
        "\"",
        "yes",
        "1.0",
        "null",
        "",
        " x ",
        "- a",
        "{a}",
        "[a",
        "*a",
        "&a",
        "!t",
        "@o",
        "a\nb",
        "a\tb",
        "é😀",
        "\u{2028}",
        "a #b",
        "x:",
        "%",
        "|",
        ">",
        "`",
        "0x1F",
        "2026-01-01",
        "...",
        "---",
        "?",
        "? a",
        "~",
        "=",
        "<<",
        "\\",
    ] {
        let wanted = IntentEntry {
            name: text.into(),
            constraints: vec![text.into()],
            owner: Some(format!("@{text}")),
            ..new("B")
        };
        for before in ["", "active_intents:\n  - id: A\n    name: x\n", "[{id: A}]\n"] {
            let result = edited("r.yaml", before, &RegistryEdit::Add(wanted.clone()));
            let after = result.unwrap_or_else(|error| panic!("{text:?}: {error}"));
            // A reader of an older YAML version gives the same result.
            let theirs: serde_yaml::Value = serde_yaml::from_str(&after).unwrap();
            let list = theirs.get("active_intents").unwrap_or(&theirs);
            let last = list.as_sequence().unwrap().last().unwrap();
            assert_eq!(last["name"].as_str(), Some(text), "{after}");
        }
    }
}

#[test]
fn the_next_id_is_one_above_the_highest() {
    let next = |text: &str| next_id(&parse("r.yaml", text), &BTreeSet::new());
    assert_eq!(next(""), "INT-001");
    assert_eq!(next("- id: INT-009\n"), "INT-010");
    assert_eq!(next("- id: REQ-1\n- id: INT-007\n- id: INT-003\n"), "INT-008");
    assert_eq!(next("- id: T001\n- id: day2-handshake\n"), "T002");
    assert_eq!(next("- id: X-99999999999999999999\n"), "INT-001");
}

#[derive(Clone, Debug)]
struct Case {
    text: String,
    ids: usize,
}

fn list(layout: usize, items: &[&str]) -> String {
    match layout {
        0 => format!(" [{}]\n", items.join(", ")),
        1 => format!(
            " [\n{}    ] # end\n",
            items.iter().map(|item| format!("      {item}, # é {item}\n")).collect::<String>()
        ),
        _ if items.is_empty() => " []\n".into(),
        2 => format!(
            "\n{}",
            items.iter().map(|item| format!("      - {item} # ü\n")).collect::<String>()
        ),
        _ => format!(
            "\n    # first\n{}",
            items.iter().map(|item| format!("    - {item}\n\n")).collect::<String>()
        ),
    }
}

/// A registry with `ids` intents in mixed layouts, with many comments.
fn case() -> impl Strategy<Value = Case> {
    let entries =
        prop::sample::subsequence(vec!["src/**", "\"a b/*\"", "'!x'", "größe/😀.md"], 0..4);
    let intent = (0usize..4, entries, any::<bool>(), 0usize..4, any::<bool>());
    (prop::collection::vec(intent, 1..5), any::<bool>(), any::<bool>()).prop_map(|(intents, crlf, bom)| {
        let mut text = "# häder\nversion: 1\nactive_intents: # list\n".to_owned();
        for (at, (layout, entries, scoped, status, flow)) in intents.iter().enumerate() {
            let status = ["status: DRAFT", "status: 'todo'", "note: \"s\"", "status:"][*status];
            if *flow {
                let entries = entries.join(", ");
                text.push_str(&format!("  - {{id: I-{at}, name: \"é, {at}\", {status}, owned_scope: [{entries}]}} # f\n"));
                continue;
            }
            text.push_str(&format!("  # before {at}\n  - id: I-{at}   # id\n    name: 'näme {at}'\n    {status} # s\n"));
            if *scoped {
                text.push_str(&format!("    owned_scope:{}", list(*layout, entries)));
            }
            text.push_str("    prose: |\n      two\n      lines # no comment\n");
        }
        text.push_str("# tail\nlast: [x]\n");
        if crlf { text = text.replace('\n', "\r\n"); }
        if bom { text.insert(0, '\u{feff}'); }
        Case { text, ids: intents.len() }
    })
}

fn any_edit() -> impl Strategy<Value = RegistryEdit> {
    let id = || (0usize..5).prop_map(|at| format!("I-{at}"));
    let status = prop::sample::select(Status::ALL.to_vec());
    let entry = prop::sample::select(vec![
        "src/new.ts",
        "!docs/**",
        "*.md",
        "a: b",
        "größe/",
        "it's",
        "x #y",
    ]);
    prop_oneof![
        (id(), status).prop_map(|(id, status)| RegistryEdit::SetStatus { id, status }),
        (id(), entry).prop_map(|(id, entry)| RegistryEdit::AddEntry {
            id,
            field: Field::Scope,
            entry: entry.into()
        }),
        id().prop_map(|from| RegistryEdit::Rename { from, to: "NEW-1".into() }),
        Just(RegistryEdit::Add(new("NEW-2"))),
    ]
}

/// Returns the number of lines of `before` that are unchanged above and below the edit.
fn kept_lines(before: &str, after: &str) -> usize {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let above = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let room = before.len().min(after.len()) - above;
    let below = before.iter().rev().zip(after.iter().rev()).take(room);
    above + below.take_while(|(old, new)| old == new).count()
}

#[test]
fn entries_and_intents_are_taken_out() {
    let remove = |entry: &str| RegistryEdit::RemoveEntry {
        id: "A".into(),
        field: Field::Scope,
        entry: entry.into(),
    };
    let of = |scope: &str| {
        format!(
            "# head\n- id: A\n  owned_scope:{}{scope}\n- id: B\n",
            if scope.starts_with(['\n', ' ']) { "" } else { " " }
        )
    };
    for (entry, before, after) in [
        ("a", "[a, b]", "[b]"),
        ("b", "[a, 'b']", "[a]"),
        ("a", "[a] # why", "[] # why"),
        ("b", "\n  - a # first\n  - b # second\n  - c", "\n  - a # first\n  - c"),
        ("c", "\n    - a\n    # about c\n    - c # last\n", "\n    - a\n    # about c\n"),
        ("a", "\n  - a # gone\n  # stays", " []\n  # stays"),
        ("b", "[\n    a, # one\n    b, # two\n  ]", "[\n    a # one\n  ]"),
        ("b", "[\n    a,\n    b # two\n  ]", "[\n    a\n  ]"),
        ("a", "[\n    a,\n    b\n  ]", "[\n    b\n  ]"),
    ] {
        check("r.yaml", &of(before), &remove(entry), &of(after));
    }
    let one = |id: &str| RegistryEdit::Remove { id: id.into() };
    let json = "{\"active_intents\": [\n  {\"id\": \"A\"},\n  {\"id\": \"B\"}\n]}";
    check("r.json", json, &one("B"), "{\"active_intents\": [\n  {\"id\": \"A\"}\n]}");
    check("r.json", json, &one("A"), "{\"active_intents\": [\n  {\"id\": \"B\"}\n]}");
    let list = "active_intents:\n  - id: A\n    name: a\n  # about B\n  - id: B\n# tail\n";
    check("r.yaml", list, &one("A"), "active_intents:\n  # about B\n  - id: B\n# tail\n");
    check(
        "r.yaml",
        list,
        &one("B"),
        "active_intents:\n  - id: A\n    name: a\n  # about B\n# tail\n",
    );
    let only = "active_intents:\n  - id: A\n    name: a\nlast: 1\n";
    check("r.yaml", only, &one("A"), "active_intents: []\nlast: 1\n");
    let text = |text: &str| RegistryEdit::SetText {
        id: "A".into(),
        field: Field::Name,
        text: text.into(),
    };
    check("r.yaml", "- id: A\n  name: 'a' # x\n", &text("b: c"), "- id: A\n  name: 'b: c' # x\n");
    check("r.yaml", "- id: A # x\n", &text("b"), "- id: A # x\n  name: \"b\"\n");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn an_edit_changes_one_line_and_one_value(case in case(), edit in any_edit()) {
        let before = parse("r.yaml", &case.text);
        prop_assert!(before.syntax_error().is_none(), "{:?}\n{}", before.syntax_error(), case.text);
        prop_assert_eq!(before.intents().len(), case.ids);
        let edits = match plan(&before, &edit) {
            Ok(planned) => planned.edits,
            Err(EditError::Unknown { id, .. }) => {
                prop_assert!(before.get(&id).is_none());
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(format!("{error} {edit:?}\n{}", case.text))),
        };
        let text = apply(&case.text, &edits).unwrap();
        let after = parse("r.yaml", &text);
        let lines = case.text.split_inclusive('\n').count();
        prop_assert!(kept_lines(&case.text, &text) + 1 >= lines, "{edit:?}\n{}\n---\n{text}", case.text);
        prop_assert_eq!(text.contains('\r') , case.text.contains('\r'));
        prop_assert!(!text.replace("\r\n", "").contains('\n') || !case.text.contains('\r'));
        prop_assert_eq!(text.matches('#').count(), case.text.matches('#').count() + usize::from(matches!(&edit, RegistryEdit::AddEntry { entry, .. } if entry.contains('#'))));
        for (old, new) in before.intents().iter().zip(after.intents()) {
            prop_assert_eq!(&old.extra, &new.extra);
            let touched = match &edit {
                RegistryEdit::SetStatus { id, .. } | RegistryEdit::AddEntry { id, .. } => *id == old.id.value,
                RegistryEdit::Rename { from, .. } => *from == old.id.value,
                RegistryEdit::Add(_) => false,
                _ => unreachable!("not generated"),
            };
            prop_assert!(touched || old.hash() == new.hash());
        }
        match &edit {
            RegistryEdit::SetStatus { id, status } => prop_assert_eq!(after.get(id).unwrap().status.as_ref().unwrap().value, *status),
            RegistryEdit::RemoveEntry { .. } | RegistryEdit::SetText { .. } | RegistryEdit::Remove { .. } | RegistryEdit::Adopt { .. } => unreachable!("not generated"),
            RegistryEdit::AddEntry { id, entry, .. } => prop_assert_eq!(after.get(id).unwrap().owned_scope.last().map(|last| &last.value), Some(entry)),
            RegistryEdit::Rename { from, to } => {
                prop_assert_eq!(&after.get(from).unwrap().id.value, to);
                prop_assert_eq!(after.ids(from), [to, from]);
            }
            RegistryEdit::Add(new) => prop_assert_eq!(&after.intents().last().unwrap().id.value, &new.id),
        }
    }

    #[test]
    fn nothing_panics_on_any_text(text in "[-a-z:\\[\\]{}&*!|>'\"#,\\\\ \n\ré😀]{0,60}", json in any::<bool>()) {
        let registry = parse(if json { "r.json" } else { "r.yaml" }, &text);
        for intent in registry.intents() {
            prop_assert!(text.get(intent.span.clone()).is_some());
            for entry in &intent.owned_scope { prop_assert!(text.get(entry.span.clone()).is_some()); }
        }
        intents::lint::registry(&registry);
        let _ = plan(&registry, &RegistryEdit::Add(new("B")));
        let first = registry.intents().first().map(|intent| intent.id.value.clone()).unwrap_or_default();
        let _ = plan(&registry, &status(&first, Status::Draft));
        let _ = plan(&registry, &RegistryEdit::AddEntry { id: first.clone(), field: Field::Scope, entry: "a".into() });
        let _ = plan(&registry, &rename(&first, "Z"));
    }

    /// The span of each plain or quoted text is exactly where the text is.
    #[test]
    fn spans_are_exact(case in case()) {
        let registry = parse("r.yaml", &case.text);
        for intent in registry.intents() {
            for entry in intent.owned_scope.iter().chain([&intent.id, &intent.name]) {
                let slice = &case.text[entry.span.clone()];
                let bare = slice.trim_matches(['"', '\'']);
                prop_assert_eq!(bare, &entry.value);
            }
        }
    }
}
