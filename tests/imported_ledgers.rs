//! `intent evidence import records`: ledgers of earlier systems, from the file to what every answer says.

use std::path::Path;
use std::process::Command;

use ground::store::sha256;
use serde_json::{Value, json};

use crate::support::binary::{intent, intent_in};
use crate::support::{GIT, Repo, temporary_folder};

fn answered(repo: &Repo, arguments: &[&str]) -> Value {
    let answer = intent(repo, &[arguments, &["--json"]].concat());
    assert_eq!(answer.code, 0, "{arguments:?}: {}", answer.out);
    answer.json()
}

fn imported(repo: &Repo, text: &str) -> Value {
    repo.write("earlier.jsonl", text);
    let answer = answered(repo, &["import", "records", "earlier.jsonl"]);
    repo.remove("earlier.jsonl");
    answer
}

/// Makes a record of an earlier system about `src/a.rs`, made at an hour of the day of the commits.
fn record(intent: &str, model: &str, hour: u32, range: &Value) -> String {
    json!({
        "id": format!("{intent}-{hour}"), "timestamp": format!("2026-02-18T{hour:02}:00:00Z"),
        "files": [{ "relative_path": "src/a.rs", "conversations": [{
            "url": "s-1", "contributor": { "entity_type": "AI", "model_identifier": model },
            "ranges": [range], "related": [{ "type": "specification", "value": intent }],
        }] }],
    })
    .to_string()
        + "\n"
}

fn range(first: i32, last: i32, hashed: &str) -> Value {
    json!({ "start_line": first, "end_line": last, "content_hash": sha256(hashed.as_bytes()) })
}

const BEFORE: &str = "// A file of two functions.\n\nfn one() {\n    first();\n}\n";
const INNER: &str = "    fn two() {\n        second();\n        third();\n    }\n";

fn after() -> String {
    format!("{BEFORE}\nmod inner {{\n{INNER}}}\n")
}

/// A repository in which a person made a file at 10:00, and a second commit at 14:00 changed it.
fn repo_with_history() -> Repo {
    let repo = Repo::new();
    for (hour, text) in [(10, BEFORE.to_owned()), (14, after())] {
        repo.write("src/a.rs", &text);
        repo.git(&["add", "-A"]);
        let date = format!("2026-02-18T{hour}:00:00Z");
        // Git reads the time of the committer from the environment only.
        let mut git = Command::new(&*GIT);
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]);
        git.args(["commit", "-qm", "change a.rs"]).current_dir(repo.root());
        git.env("GIT_COMMITTER_DATE", &date).env("GIT_AUTHOR_DATE", &date);
        assert!(git.status().expect("git runs").success());
    }
    repo
}

/// Returns what is claimed of a line.
fn claimed(repo: &Repo, line: u32) -> Value {
    answered(repo, &["why", &format!("src/a.rs:{line}")])["line"]["claimed"].clone()
}

fn intent_claimed(repo: &Repo, line: u32) -> Value {
    claimed(repo, line)["intent"].clone()
}

#[test]
#[ignore = "slow"]
fn every_dialect_is_taken_over_without_losing_a_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ledgers");
    let files =
        std::fs::read_dir(folder).expect("fixtures").map(|file| file.expect("a file").path());
    for file in files.filter(|file| file.extension().is_some_and(|ending| ending == "jsonl")) {
        let repo = Repo::new();
        let name = file.to_str().expect("a plain name");
        let answer = answered(&repo, &["import", "records", name]);
        let kept = std::fs::read(repo.root().join(answer["name"].as_str().expect("a path")));
        let bytes = std::fs::read(&file).expect("a fixture");
        assert_eq!(kept.expect("a copy"), bytes, "{name}");
        let again = answered(&repo, &["import", "records", name]);
        assert_eq!((&again["was_known"], &again["name"]), (&json!(true), &answer["name"]));

        repo.commit("import the ledger");
        let clone = temporary_folder();
        let target = clone.path().to_str().expect("a plain name");
        repo.git(&["clone", "-q", ".", target]);
        for place in [repo.root().as_path(), clone.path()] {
            let traced = intent_in(place, &["trace", "--json"]);
            assert_eq!(traced.out.lines().count() as u64, answer["records"], "{name}");
            assert!(traced.out.lines().all(|line| line.contains(r#""trust":"claimed""#)), "{name}");
            for command in [&["check", "--base", "HEAD~1"][..], &["check"], &["verify"]] {
                let checked = intent_in(place, command);
                assert_eq!(checked.code, 0, "{name} {command:?}: {}", checked.out);
            }
        }
    }
}

#[test]
fn a_line_that_cannot_be_read_is_kept_and_told_with_its_number() {
    let repo = Repo::new();
    let good = record("INT-001", "m", 12, &range(1, 3, "x"));
    let text = format!("{good}{{\"id\":\"torn\n{}nonsense\n", good.replace("12", "13"));
    let answer = imported(&repo, &text);
    let lines: Vec<_> = answer["unreadable"].as_array().expect("a list").iter().collect();
    let numbers: Vec<_> = lines.iter().map(|one| (&one["start_line"], &one["end_line"])).collect();
    assert_eq!(numbers, [(&json!(2), &json!(2)), (&json!(4), &json!(4))], "{answer}");
    assert_eq!(repo.read(answer["name"].as_str().expect("a path")), text);
    repo.write("again.jsonl", &text);
    let told = intent(&repo, &["import", "records", "again.jsonl"]).out;
    assert!(told.contains("line 2 is kept") && told.contains("line 4 is kept"), "{told}");
}

#[test]
fn what_is_no_ledger_or_is_read_already_is_refused() {
    let repo = Repo::new();
    let good = record("INT-001", "m", 12, &range(1, 3, "x"));
    repo.write("empty.jsonl", "{}\n# nothing\n");
    repo.write(".orchestration/agent_trace.jsonl", &good);
    for file in ["empty.jsonl", "missing.jsonl", ".orchestration/agent_trace.jsonl"] {
        let answer = intent(&repo, &["import", "records", file]);
        assert_ne!(answer.code, 0, "{file}: {}", answer.out);
    }
    // A copy of what is in the ledger adds nothing.
    imported(&repo, &good);
    assert_eq!(intent(&repo, &["trace", "--json"]).out.lines().count(), 1);
}

#[test]
#[ignore = "slow"]
fn lines_are_found_again_by_the_hash_of_the_file_or_of_the_indented_block() {
    let after = after();
    let whole = range(1, 12, &after);
    let without_lines = json!({ "content_hash": sha256(after.as_bytes()) });
    let zero_based = range(0, 11, &after);
    let indented = range(8, 11, INNER);
    let moved = range(2, 5, INNER);
    let trimmed = range(8, 11, INNER.trim());
    let windows = range(8, 11, &INNER.replace('\n', "\r\n"));
    let ranges = [whole, without_lines, zero_based, indented, moved, trimmed, windows];
    for range in ranges {
        let repo = repo_with_history();
        imported(&repo, &record("INT-001", "anthropic/opus", 12, &range));
        let claim = json!({
            "tool": "earlier-ledger", "agent": null, "model": "anthropic/opus", "session": "s-1",
            "intent": "INT-001", "human": null,
        });
        assert_eq!(claimed(&repo, 9), claim, "{range}");
        // The lines of the first commit are older.
        assert_eq!(claimed(&repo, 4), json!(null), "{range}");
        let told = intent(&repo, &["why", "src/a.rs:9"]).out;
        assert!(told.contains("anthropic/opus, under INT-001"), "{told}");
        assert!(told.contains("by earlier-ledger"), "{told}");
    }
}

#[test]
fn a_claim_that_may_be_wrong_is_not_shown() {
    let after = after();
    let by_two = record("INT-001", "a/one", 11, &range(3, 5, "an earlier text"))
        + &record("INT-002", "a/two", 12, &range(1, 12, &after));
    let too_late = record("INT-001", "a/one", 15, &range(8, 11, INNER));
    let other_text = record("INT-001", "a/one", 12, &range(8, 11, "something else"));
    let failed_reading = record("INT-001", "a/one", 12, &range(1, 12, ""));
    for ledger in [by_two, too_late, other_text, failed_reading] {
        let repo = repo_with_history();
        imported(&repo, &ledger);
        assert_eq!(claimed(&repo, 9), json!(null), "{ledger}");
    }
    // Whoever wrote the block after the others is known by the block.
    let repo = repo_with_history();
    let first = record("INT-001", "a/one", 11, &range(1, 6, "an earlier text"));
    imported(&repo, &(first + &record("INT-002", "a/two", 12, &range(8, 11, INNER))));
    assert_eq!(intent_claimed(&repo, 9), "INT-002");
}

#[test]
fn a_ledger_that_lies_in_place_says_the_same_and_an_export_has_its_records() {
    let repo = repo_with_history();
    let ledger = record("INT-001", "a/one", 12, &range(8, 11, INNER));
    repo.write(".orchestration/agent_trace.jsonl", &ledger);
    assert_eq!(intent_claimed(&repo, 9), "INT-001");
    repo.remove(".orchestration/agent_trace.jsonl");
    assert_eq!(claimed(&repo, 9), json!(null));
    imported(&repo, &ledger);
    repo.commit("import the ledger");
    let head = repo.git(&["rev-parse", "HEAD"]);
    let committed = format!("{}:src/a.rs:9", head.trim());
    assert_eq!(answered(&repo, &["why", &committed])["line"]["claimed"]["intent"], "INT-001");
    let rows = intent(&repo, &["export"]).out;
    let rows: Vec<Value> =
        rows.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let row = rows.iter().find(|row| row["table"] == "claims").expect("a claim");
    assert_eq!((&row["source"], &row["intent_id"]), (&json!("earlier-ledger"), &json!("INT-001")));
    assert_eq!(row["lines_brought"], 0);
}
