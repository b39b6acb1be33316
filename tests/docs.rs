//! The documents match the code: schemas are generated from the types, examples are valid and have the right hashes,
//! and links lead to existing files.
//!
//! After a change to a type: `UPDATE_SCHEMAS=1 cargo test --test it docs::`, then read the difference. The tables of
//! commands and fields: `UPDATE_DOCS=1 cargo test --test it docs::`.

mod generated;

use std::path::{Path, PathBuf};

use ground::Policy;
use ground::approvals::Approval;
use intents::model::RegistryFile;
use judgement::check::CheckAnswer;
use judgement::proposal::ProposalAnswer;
use ledger::{Record, chain};
use overview::report::ReportAnswer;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use why::answers::WhyAnswer;

use crate::support::schema::Schema;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The schemas in `docs/schemas/`. The schema of a file describes what is accepted when it is read; the schema of an
/// answer describes what is written.
fn schemas() -> Vec<(&'static str, Value)> {
    let mut record = schemars::schema_for!(Record).to_value();
    // The hash `h` is no field of the type, because it is cut off before a line is parsed.
    record["properties"]["h"] = json!({
        "description": "SHA-256 over `intent-ledger/1\\n` and the stored bytes of the line before `,\"h\":\"…\"}`: 64 lower-case hex digits. Always the last key.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$"
    });
    vec![
        ("registry", schemars::schema_for!(RegistryFile).to_value()),
        ("record", record),
        ("policy", schemars::schema_for!(Policy).to_value()),
        ("why", answer::<WhyAnswer>()),
        ("check", answer::<CheckAnswer>()),
        ("approvals", answer::<Vec<Approval>>()),
        ("propose", answer::<ProposalAnswer>()),
        ("report", answer::<ReportAnswer>()),
    ]
}

fn answer<T: schemars::JsonSchema>() -> Value {
    let written = schemars::generate::SchemaSettings::default().for_serialize();
    written.into_generator().into_root_schema_for::<T>().to_value()
}

fn schema(name: &str) -> Schema {
    let (_, schema) = schemas().into_iter().find(|(known, _)| *known == name).expect("a schema");
    Schema::of(&schema)
}

/// Returns the columns of a row type.
fn columns<T: schemars::JsonSchema>() -> Vec<String> {
    let schema = answer::<T>();
    ledger::sorted(schema["properties"].as_object().expect("an object").keys().cloned())
}

#[test]
fn the_columns_in_the_documents_are_those_of_the_exported_tables() {
    let text = read("docs/export.md");
    for (table, columns) in [
        ("claims", columns::<export::claims::ClaimRow>()),
        ("intents", columns::<export::intents::IntentRow>()),
        ("findings", columns::<export::findings::FindingRow>()),
    ] {
        let (_, after) = text.split_once(&format!("**`{table}`**")).expect("a table");
        let lines = after.lines().skip_while(|line| !line.starts_with('|'));
        let cells = lines.take_while(|line| line.starts_with('|')).skip(2);
        let first = cells.filter_map(|line| line.split('|').nth(1));
        let named = first.flat_map(|cell| cell.split('`').skip(1).step_by(2));
        assert_eq!(ledger::sorted(named.map(str::to_owned)), columns, "{table}");
    }
}

#[test]
fn the_stored_schemas_match_the_types() {
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for (name, schema) in schemas() {
        let path = format!("docs/schemas/{name}.json");
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).expect("JSON"));
        if update {
            std::fs::write(root().join(&path), text).expect("a writable docs/schemas");
        } else {
            assert_eq!(
                read(&path),
                text,
                "{path} is old: UPDATE_SCHEMAS=1 cargo test --test it docs::"
            );
        }
    }
}

/// Returns the fenced blocks of one kind in a document.
fn fenced(text: &str, kind: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(&format!("\n```{kind}\n")) {
        let (block, after) = after.split_once("\n```").expect("a closed fence");
        blocks.push(block.to_owned());
        rest = after;
    }
    blocks
}

#[test]
fn the_registry_in_the_documents_is_valid() {
    let schema = schema("registry");
    for path in ["docs/formats.md", "README.md"] {
        let examples: Vec<String> = fenced(&read(path), "yaml")
            .into_iter()
            .filter(|block| block.contains("active_intents:") || block.starts_with("id: "))
            .collect();
        assert!(!examples.is_empty(), "{path} shows no registry");
        for example in examples {
            let mut value: Value = serde_yaml::from_str(&example).expect("YAML");
            if value.get("active_intents").is_none() {
                // A file with one intent holds an entry of the list.
                value = json!({ "active_intents": [value] });
            }
            assert_eq!(schema.complaint(&value), None, "{path}");
        }
    }
    let criteria = "active_intents: [{id: A, name: x, status: DRAFT, acceptance_criteria: [It works, run: cargo test]}]";
    let criteria: Value = serde_yaml::from_str(criteria).expect("YAML");
    assert_eq!(schema.complaint(&criteria), None);
    for (id, status) in [("INT 1", "DRAFT"), ("INT-1", "DOING")] {
        let typo = json!({ "active_intents": [{ "id": id, "name": "x", "status": status }] });
        assert!(!schema.accepts(&typo), "{typo}");
    }
}

#[test]
fn the_policy_in_the_documents_is_valid_and_the_template_names_every_key() {
    let examples = fenced(&read("docs/formats.md"), "yaml");
    let policy = examples.iter().find(|block| block.contains("protected_paths:")).expect("one");
    let value: Value = serde_yaml::from_str(policy).expect("YAML");
    assert_eq!(schema("policy").complaint(&value), None);
    for key in
        serde_json::to_value(Policy::default()).expect("JSON").as_object().expect("object").keys()
    {
        assert!(value.get(key).is_some(), "docs/formats.md: the example lacks `{key}`");
    }
}

/// Computes the hash of a stored line by the documented rule. This is a second implementation on purpose.
fn recomputed(line: &str) -> (String, String) {
    let tail = line.len() - (r#","h":""}"#.len() + 64);
    let digits = &line[tail + r#","h":""#.len()..line.len() - 2];
    let mut hasher = Sha256::new();
    hasher.update(b"intent-ledger/1\n");
    hasher.update(&line.as_bytes()[..tail]);
    let hash = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    (hash, digits.to_owned())
}

#[test]
fn the_ledger_in_the_documents_is_valid_and_its_chain_holds() {
    let text = read("docs/formats.md");
    let examples = fenced(&text, "jsonl");
    let (evidence, chains): (Vec<_>, Vec<_>) =
        examples.iter().partition(|block| block.starts_with("{\"evidence\""));
    assert!(!evidence.is_empty(), "docs/formats.md shows no evidence");
    for block in evidence {
        let sections = ledger::evidence::read(format!("{block}\n").as_bytes()).expect("evidence");
        assert!(sections.iter().all(|section| section.unreadable.is_empty()), "{block}");
    }
    let lines: Vec<&str> = chains.into_iter().flat_map(|block| block.lines()).collect();
    assert!(lines.len() >= 2, "docs/formats.md shows no chain");
    let schema = schema("record");
    let mut prev = Value::Null;
    for (seq, line) in lines.iter().enumerate() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(schema.complaint(&value), None);
        let (hash, stored) = recomputed(line);
        assert_eq!(hash, stored, "the documented line has another hash: {line}");
        let (before, digits) = chain::split_tail(line.as_bytes()).expect("a tail");
        assert_eq!((chain::hash(before).as_str(), digits), (hash.as_str(), stored.as_str()));
        assert_eq!((&value["seq"], &value["prev"]), (&json!(seq), &prev));
        prev = json!(stored);
    }
    let changed = lines[0].replacen("INT-001", "INT-002", 1);
    let (hash, stored) = recomputed(&changed);
    assert_ne!(hash, stored);
}

#[test]
fn the_answers_in_the_documents_are_valid() {
    let examples: Vec<Value> = fenced(&read("docs/commands.md"), "json")
        .iter()
        .map(|block| serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}")))
        .collect();
    let with = |key: &str| {
        examples.iter().filter(|value| value.get(key).is_some()).cloned().collect::<Vec<_>>()
    };
    for (name, key) in [("why", "blocks"), ("check", "findings")] {
        let shown = with(key);
        assert!(!shown.is_empty(), "docs/commands.md shows no answer of `intent {name} --json`");
        for value in
            shown.iter().filter(|value| name != "check" || value["summary"].get("files").is_some())
        {
            assert_eq!(schema(name).complaint(value), None);
        }
    }
}

fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir()
                && !["target", "node_modules", ".git", ".orchestration"].contains(&&*name)
            {
                folders.push(path);
            } else if name.ends_with(".md") && !path.starts_with(root().join("tests")) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a readable document");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or(target);
            if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            if !path.parent().expect("a folder").join(file).exists() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(seen > 30, "hardly a link was found: {seen}");
    assert!(broken.is_empty(), "\n  {}\n", broken.join("\n  "));
}

#[test]
fn the_files_that_the_readme_asks_about_exist() {
    let readme = read("README.md");
    let asked: Vec<&str> =
        readme.lines().filter_map(|line| line.strip_prefix("$ cargo run -- why ")).collect();
    assert!(!asked.is_empty());
    for path in asked {
        assert!(root().join(path).is_file(), "{path}");
    }
}
