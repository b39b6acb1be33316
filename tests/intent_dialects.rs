//! Registries of every dialect: what is read, the position of each value, and the findings.

use std::fmt::Write as _;
use std::path::Path;

use ground::{Finding, RelativePath};
use intents::model::RegistryFile;
use intents::{Intent, IntentEntry, Registry, Spanned, lint};

use crate::support::schema::Schema;

fn registry(name: &str, text: &str) -> Registry {
    let path = format!(".orchestration/{name}");
    Registry::parse(RelativePath::new(&path).expect("a path inside"), text)
}

fn spanned(out: &mut String, text: &str, what: &str, values: &[Spanned<String>]) {
    for value in values {
        writeln!(out, "  {what} {:?} <- {:?}", value.value, &text[value.span.clone()])
            .expect("a String takes any text");
    }
}

fn describe(out: &mut String, text: &str, intent: &Intent) {
    let last = text[intent.span.clone()].lines().last().unwrap_or_default();
    let first = text[intent.span.clone()].lines().next().unwrap_or_default();
    writeln!(out, "intent {:?} .. {:?}", first.trim(), last.trim())
        .expect("a String takes any text");
    spanned(out, text, "id", std::slice::from_ref(&intent.id));
    spanned(out, text, "name", std::slice::from_ref(&intent.name));
    if let Some(status) = &intent.status {
        writeln!(out, "  status {} <- {:?}", status.value.as_str(), &text[status.span.clone()])
            .expect("a String takes any text");
    }
    spanned(out, text, "scope", &intent.owned_scope);
    spanned(out, text, "constraint", &intent.constraints);
    spanned(out, text, "criterion", &intent.acceptance_criteria);
    spanned(out, text, "spec", &intent.related_specs);
    spanned(out, text, "owner", intent.owner.as_slice());
    spanned(out, text, "formerly", &intent.formerly);
    if !intent.extra.is_empty() {
        writeln!(
            out,
            "  extra {}",
            serde_json::to_string(&intent.extra).expect("a String takes any text")
        )
        .expect("a String takes any text");
    }
}

fn describe_finding(out: &mut String, text: &str, finding: &Finding) {
    let lines = finding.lines.expect("a finding in a registry has lines");
    let at = &text[finding.span.clone().expect("and bytes")];
    let intent = finding.intent.as_deref().unwrap_or("-");
    writeln!(out, "{} {}:{} {intent} {at:?}", finding.code.as_str(), lines.start(), lines.end())
        .expect("a String takes any text");
    writeln!(out, "    {}\n    help: {}", finding.message, finding.help)
        .expect("a String takes any text");
    for related in &finding.related {
        writeln!(out, "    see {:?}: {}", &text[related.span.clone()], related.message)
            .expect("a String takes any text");
    }
    for fix in &finding.fixes {
        let edit = &fix.edits[0];
        writeln!(
            out,
            "    fix: {} ({:?} -> {:?})",
            fix.title,
            &text[edit.range.clone()],
            edit.text
        )
        .expect("a String takes any text");
    }
}

#[test]
fn every_dialect_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/registries");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut out = String::new();
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let registry = registry(&name, &text);
        writeln!(out, "== {name}").unwrap();
        registry.intents().iter().for_each(|intent| describe(&mut out, &text, intent));
        lint::registry(&registry)
            .iter()
            .for_each(|finding| describe_finding(&mut out, &text, finding));
        writeln!(out).unwrap();
    }
    insta::assert_snapshot!(out);
}

/// Returns how often this fix is offered for this finding. Places are not compared, because an edit moves them.
fn offers(findings: &[Finding], finding: &Finding, title: &str) -> usize {
    let said = |one: &Finding| (one.code, one.intent.clone(), one.message.clone());
    let same = findings.iter().filter(|other| said(other) == said(finding));
    same.flat_map(|other| &other.fixes).filter(|fix| fix.title == title).count()
}

/// After a fix that is offered, the registry parses, has fewer findings, and the fix is offered once less.
#[test]
fn every_fix_removes_its_finding() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/registries");
    let mut fixes = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let before = registry(&name, &text);
        let findings = lint::registry(&before);
        for (finding, fix) in
            findings.iter().flat_map(|one| one.fixes.iter().map(move |fix| (one, fix)))
        {
            let fixed = edits::apply(&text, &fix.edits).expect("the edits fit");
            let after = registry(&name, &fixed);
            assert!(after.syntax_error().is_none(), "{name}: {}", fix.title);
            let left = lint::registry(&after);
            assert!(left.len() < findings.len(), "{name}: {} {finding:?}", fix.title);
            let offered = offers(&findings, finding, &fix.title);
            let still = offers(&left, finding, &fix.title);
            assert!(still < offered, "{name}: {} {finding:?}", fix.title);
            fixes += 1;
        }
    }
    assert!(fixes > 20, "only {fixes} fixes were offered");
}

fn entry_of(intent: &Intent) -> IntentEntry {
    let texts = |list: &[Spanned<String>]| list.iter().map(|one| one.value.clone()).collect();
    IntentEntry {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().expect("a canonical intent has one").value,
        owned_scope: texts(&intent.owned_scope),
        constraints: texts(&intent.constraints),
        acceptance_criteria: texts(&intent.acceptance_criteria),
        related_specs: texts(&intent.related_specs),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        formerly: texts(&intent.formerly),
        extra: intent.extra.clone(),
    }
}

/// Two other YAML readers, one of them with types, read the same from the canonical form.
#[test]
fn other_readers_agree_on_the_canonical_form() {
    let text = include_str!("registries/canonical.yaml");
    let theirs: RegistryFile = serde_yaml::from_str(text).unwrap();
    let ours = registry("active_intents.yaml", text);
    let ours = RegistryFile { active_intents: ours.intents().iter().map(entry_of).collect() };
    assert_eq!(ours, theirs);
    assert_eq!(theirs.active_intents.len(), 2);
    let again = serde_yaml::to_string(&theirs).unwrap();
    let written = registry("active_intents.yaml", &again);
    assert_eq!(written.intents().iter().map(entry_of).collect::<Vec<_>>(), theirs.active_intents);
    let findings = lint::registry(&written);
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn the_schema_accepts_the_canonical_form_and_nothing_else() {
    let schema = serde_json::to_value(schemars::schema_for!(RegistryFile)).unwrap();
    let schema = Schema::of(&schema);
    let text = include_str!("registries/canonical.yaml");
    let canonical: serde_json::Value = serde_yaml::from_str(text).unwrap();
    assert_eq!(schema.complaint(&canonical), None);
    let bad =
        serde_json::json!({"active_intents": [{"id": "a b", "name": "x", "status": "DRAFT"}]});
    assert!(!schema.accepts(&bad));
    let bad = serde_json::json!({"active_intents": [{"id": "a", "name": "x", "status": "todo"}]});
    assert!(!schema.accepts(&bad));
}

/// The hash depends on what an intent says, not on how it is written.
#[test]
fn the_hash_is_independent_of_dialect_and_layout() {
    let a = registry(
        "a.yaml",
        "active_intents:\n  - id: A\n    name: 'n'\n    status: IN_PROGRESS\n    owned_scope: [x]\n",
    );
    let b = registry(
        "b.json",
        r#"[{"owned_scopes":["x"],"status":"active","title":"n","intent_id":"A","notes":1}]"#,
    );
    let c = registry(
        "c.yaml",
        "active_intents:\n  - id: A\n    name: 'n'\n    status: IN_PROGRESS\n    owned_scope: [y]\n",
    );
    assert_eq!(a.intents()[0].hash(), b.intents()[0].hash());
    assert_ne!(a.intents()[0].hash(), c.intents()[0].hash());
    // The expected hash was computed with another program over the canonical JSON.
    assert_eq!(
        a.intents()[0].hash(),
        "sha256:be0ba3444fbb6f6eb55b6fc09a305ee3c23268ea7f83b6423bd7bb1581b16843"
    );
}

#[test]
fn exceeding_a_limit_is_a_finding() {
    let deep = format!("active_intents: {}{}", "[".repeat(40), "]".repeat(40));
    let deep = registry("a.yaml", &deep);
    assert_eq!(deep.syntax_error().unwrap().code.as_str(), "registry-too-large");
    let long = registry("a.yaml", &"#".repeat(1024 * 1024 + 1));
    assert_eq!(long.syntax_error().unwrap().code.as_str(), "registry-too-large");
    let entries: String = (0..300).map(|at| format!("      - src/{at}.ts\n")).collect();
    let text = format!(
        "active_intents:\n  - id: A\n    name: n\n    status: IN_PROGRESS\n    owned_scope:\n{entries}"
    );
    let many = registry("a.yaml", &text);
    let findings = lint::registry(&many);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].message, "A scope holds at most 256 entries; 44 do not count.");
}

#[test]
fn every_known_spelling_of_a_status_is_read() {
    use intents::Status;
    let table = [
        (Status::Draft, "DRAFT CREATED draft"),
        (Status::Pending, "PENDING PLANNED PROPOSED TODO OPEN open"),
        (Status::InProgress, "IN_PROGRESS ACTIVE active in_progress in-progress In-Progress"),
        (Status::Blocked, "BLOCKED PAUSED"),
        (Status::Completed, "COMPLETED COMPLETE DONE done"),
        (Status::Archived, "ARCHIVED CANCELLED ABANDONED"),
    ];
    for (status, spellings) in table {
        for spelling in spellings.split(' ') {
            assert_eq!(Status::parse(spelling), Some(status), "{spelling}");
        }
        assert_eq!(Status::parse(status.as_str()), Some(status));
    }
    for unknown in ["", "zebra", "IN__PROGRESS", "locked"] {
        assert_eq!(Status::parse(unknown), None, "{unknown}");
    }
}

/// Very large registries are read or refused in little time.
#[test]
#[ignore = "slow"]
fn very_large_registries_take_little_time() {
    let brackets = format!("a: [\n{}", "]\n".repeat(100_000));
    let same_ids = format!("active_intents: [{}]", "{id: A-1, status: todo},".repeat(10_000));
    let list = format!("- id: A\n  owned_scope: [{}]", "./x,".repeat(50_000));
    let anchors =
        format!("- &a {}\n- *a\n", "[".repeat(30) + &"x,".repeat(9_000) + &"]".repeat(30));
    let blanks = format!("a: |{}x: 1\n", "\n".repeat(200_000));
    let comments = format!("a: [\n{}]\nb: [\n]\n", "# x\n".repeat(100_000));
    let begun = std::time::Instant::now();
    for text in [brackets, same_ids, list, anchors, blanks, comments] {
        lint::registry(&registry("a.yaml", &text));
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn json_surrogate_pairs_are_read_in_any_file_name() {
    let text = r#"{"active_intents": [{"id": "INT-001", "name": "a \ud83d\ude00 b", "owned_scope": ["src/**"]}]}"#;
    for name in ["active_intents.json", "active_intents.yaml", "intents.yml"] {
        let registry = registry(name, text);
        assert!(registry.syntax_error().is_none(), "{name}");
        assert_eq!(registry.intents()[0].name.value, "a \u{1f600} b", "{name}");
    }
    // In YAML that is not JSON, such an escape stays an error.
    let yaml = "active_intents:\n  - id: INT-001\n    name: \"\\ud83d\\ude00\"\n";
    assert!(registry("active_intents.yaml", yaml).syntax_error().is_some());
}
