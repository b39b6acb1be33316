//! `intent evidence export` and `intent trace --json`: what was committed, read out again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lab::Lab;
use super::{REFRESHED, worked_in};

/// A workspace with three commits: one by an agent, one with a new intent and a rename by an agent, and
/// one whose evidence was sealed late.
fn committed() -> Lab {
    let lab = worked_in();
    seal_and_commit(&lab);
    lab.fine(&["new", "Sessions end", "--scope", "src/**", "--owner", "@grace", "--start"]);
    lab.run_git(&["mv", "src/auth.rs", "src/session.rs"]);
    lab.write("src/session.rs", REFRESHED.replace("remember(user)", "remember(user, 1)"));
    let recorded = ["record", "--intent", "INT-003", "--agent", "codex", "--model", "openai/five"];
    lab.fine(&[&recorded[..], &["src/session.rs"]].concat());
    seal_and_commit(&lab);
    lab.write("src/late.rs", "fn late() {\n    1;\n}\n");
    lab.commit();
    lab.fine(&["record", "--all", "--yes", "--intent", "INT-003", "--me", "src/late.rs"]);
    seal_and_commit(&lab);
    lab
}

fn seal_and_commit(lab: &Lab) {
    lab.run_git(&["add", "-A"]);
    lab.fine(&["seal"]);
    lab.commit();
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn of_table<'a>(rows: &'a [Value], table: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["table"] == table).collect()
}

#[test]
#[ignore = "slow"]
fn the_rows_say_everything_of_every_committed_record() {
    let lab = committed();
    let all = rows(&lab.fine(&["export"]));
    let claims = of_table(&all, "claims");
    let traced = rows(&lab.fine(&["trace", "--json"]));
    let mutations: Vec<&Value> = traced.iter().filter(|one| one["kind"] == "mutation").collect();
    assert!(mutations.len() >= 3, "{traced:?}");
    for record in mutations {
        let of_record: Vec<&&Value> =
            claims.iter().filter(|row| row["record_id"] == record["id"]).collect();
        assert!(!of_record.is_empty(), "{record} is missing");
        let brought: u64 =
            of_record.iter().map(|row| row["lines_brought"].as_u64().expect("a number")).sum();
        assert_eq!(record["lines_brought"], brought, "{record} {of_record:?}");
        assert_eq!(record["commit"].as_str().map(str::len), Some(40));
        assert!(record["intent"]["name"].is_string() && record["intent"]["source"] == "registry");
        for row in of_record {
            assert_eq!(row["commit"], record["commit"], "{row}");
            assert_eq!(row["intent_id"], record["intent"]["id"]);
            assert_eq!(row["intent_hash"], record["intent"]["hash"]);
            assert_eq!(row["strength"], record["strength"]);
            assert_eq!(row["recorded_at"], record["timestamp"]);
            assert_eq!(row["path"], record["files"][0]["relative_path"]);
            assert_eq!(row.get("tool"), record["tool"].get("name"));
        }
    }
    let renamed = claims.iter().find(|row| row["path"] == "src/session.rs").expect("a row");
    assert_eq!(renamed["from_path"], "src/auth.rs");
    let late = claims.iter().find(|row| row["path"] == "src/late.rs").expect("a row");
    let head = lab.read_git(&["rev-parse", "HEAD", "HEAD~1"]);
    let [head, parent] = head.lines().collect::<Vec<_>>()[..] else { panic!("{head}") };
    assert_eq!((&late["commit"], &late["carried_by"]), (&parent.into(), &head.into()));
    assert!(late.get("person").is_none() && late["contributor_type"] == "HUMAN", "{late}");
}

#[test]
#[ignore = "slow"]
fn each_version_of_an_intent_is_a_row_from_the_commit_that_has_it() {
    let lab = committed();
    lab.fine(&["complete", "INT-003"]);
    lab.commit();
    let all = rows(&lab.fine(&["export"]));
    let of_third: Vec<&Value> =
        of_table(&all, "intents").into_iter().filter(|row| row["intent_id"] == "INT-003").collect();
    let statuses: Vec<&str> = of_third.iter().filter_map(|row| row["status"].as_str()).collect();
    assert_eq!(statuses, ["IN_PROGRESS", "COMPLETED"], "{of_third:?}");
    assert_ne!(of_third[0]["valid_from"], of_third[1]["valid_from"]);
    let claims = of_table(&all, "claims");
    let hashes: BTreeSet<&str> =
        claims.iter().filter_map(|row| row["intent_hash"].as_str()).collect();
    let known: BTreeSet<&str> =
        of_table(&all, "intents").iter().filter_map(|row| row["intent_hash"].as_str()).collect();
    assert!(hashes.is_subset(&known), "{hashes:?} {known:?}");
}

#[test]
#[ignore = "slow"]
fn a_range_has_the_same_bytes_in_every_clone_and_ranges_add_up() {
    let lab = committed();
    let exported =
        |lab: &Lab, range: &str| lab.fine(&["export", "--repo", "shop", "--range", range]);
    let head = lab.read_git(&["rev-parse", "HEAD"]).trim().to_owned();
    let whole = exported(&lab, &head);
    assert_eq!(whole, exported(&lab, &head));
    let other = Lab::bare_folder();
    other.run_git(&["clone", "-q", &lab.root.display().to_string(), "."]);
    other.write("src/session.rs", "fn edited() {}\n");
    assert_eq!(whole, exported(&other, &head));
    let claims = |text: &str| -> BTreeSet<String> {
        text.lines()
            .filter(|line| line.contains("\"table\":\"claims\""))
            .map(str::to_owned)
            .collect()
    };
    let parts =
        [exported(&lab, "HEAD~2"), exported(&lab, "HEAD~2..HEAD")].map(|part| claims(&part));
    assert!(parts[0].is_disjoint(&parts[1]) && !parts[1].is_empty());
    assert_eq!(parts[0].union(&parts[1]).cloned().collect::<BTreeSet<_>>(), claims(&whole));
}

#[test]
#[ignore = "slow"]
fn a_file_that_was_written_never_changes() {
    let lab = committed();
    let write = |more: &[&str]| {
        lab.intent(&[&["export", "--out", "lake", "--repo", "forge/shop", "--json"], more].concat())
    };
    let output = write(&[]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let files: Vec<&str> =
        answer["files"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(files.len(), 3);
    for (file, table) in files.iter().zip(["claims", "intents", "findings"]) {
        assert!(file.starts_with("lake/dt=2") && file.contains("/repo=forge%2Fshop/"), "{file}");
        assert!(file.ends_with(&format!(".{table}.v1.jsonl")), "{file}");
    }
    let before = lab.read(files[0]);
    assert!(write(&[]).status.success());
    assert_eq!(lab.read(files[0]), before);
    let other = write(&["--names"]);
    let told = String::from_utf8_lossy(&other.stdout);
    assert!(!other.status.success() && told.contains("has other content"), "{told}");
    assert_eq!(lab.read(files[0]), before);
    let folder = lab.root.join(files[0]).parent().expect("a folder").to_owned();
    assert_eq!(std::fs::read_dir(folder).expect("files").count(), 3, "a temporary file is left");
}

#[test]
#[ignore = "slow"]
fn people_are_in_the_rows_only_if_somebody_asks() {
    let lab = committed();
    lab.write("../secret", "0123456789abcdef0123456789abcdef");
    let all = |more: &[&str]| lab.fine(&[&["export"], more].concat());
    let (none, hashed, named) = (all(&[]), all(&["--secret-file", "../secret"]), all(&["--names"]));
    assert!(!none.contains("@ada") && !none.contains("\"person\""));
    assert!(named.contains("\"owner\":\"@ada\""));
    let owners = |text: &str| {
        let rows = rows(text);
        let owners = of_table(&rows, "intents").into_iter().map(|row| row["owner"].clone());
        owners.collect::<Vec<_>>()
    };
    assert!(!hashed.contains("@ada"));
    for owner in owners(&hashed).iter().filter(|owner| !owner.is_null()) {
        let owner = owner.as_str().expect("a text");
        assert!(owner.starts_with("p:") && owner.len() == 34, "{owner}");
    }
    lab.write("../secret", "short");
    assert!(!lab.intent(&["export", "--secret-file", "../secret"]).status.success());
}

#[test]
#[ignore = "slow"]
fn agent_traces_and_log_records_name_the_lines_and_the_intent() {
    let lab = committed();
    let traces = rows(&lab.fine(&["export", "--format", "agent-trace", "--repo", "shop"]));
    let of_agent = traces.iter().find(|one| one["tool"]["name"] == "codex").expect("a trace");
    assert_eq!(of_agent["version"], "0.1.0");
    assert_eq!(of_agent["vcs"]["type"], "git");
    let conversation = &of_agent["files"][0]["conversations"][0];
    assert_eq!(conversation["contributor"]["type"], "ai");
    assert_eq!(conversation["related"][0]["url"], "intent:INT-003");
    assert!(conversation["ranges"][0]["start_line"].as_u64() >= Some(1), "{conversation}");
    let requests = rows(&lab.fine(&["export", "--format", "otlp", "--repo", "forge/shop"]));
    let record = &requests[0]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    assert_eq!(record["eventName"], "intent.claim");
    let names: BTreeSet<&str> = record["attributes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["key"].as_str())
        .collect();
    for name in ["vcs.ref.head.revision", "gen_ai.agent.name", "intent.id", "intent.lines.brought"]
    {
        assert!(names.contains(name), "{name}: {names:?}");
    }
}

#[test]
#[ignore = "slow"]
fn what_cannot_be_exported_is_said() {
    let lab = committed();
    for (arguments, said) in [
        (&["--range", "nowhere..HEAD"][..], "nowhere"),
        (&["--since", "yesterday"], "is no time"),
        (&["--secret-file", "missing"], "missing"),
    ] {
        let output = lab.intent(&[&["export"], arguments].concat());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(said), "{arguments:?}: {told}");
    }
}

#[test]
#[ignore = "slow"]
fn an_export_in_the_work_tree_is_no_change_of_it() {
    let lab = committed();
    lab.fine(&["select", "INT-003"]);
    let checked = || lab.fine(&["check", "--verbose"]);
    let before = checked();
    for format in ["jsonl", "agent-trace", "otlp"] {
        lab.fine(&["export", "--format", format, "--out", "lake"]);
        assert_eq!(checked(), before, "{format}");
    }
}
