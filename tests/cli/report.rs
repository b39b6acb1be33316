//! `intent report`: its data compared with the other commands, and its page.

use serde_json::Value;

use super::lab::{Lab, masked, transcript};
use super::{REFRESHED, worked_in};

/// A workspace with two agents, a person, two intents that own the same file, an unrecorded edit and a lost block.
fn lived_in() -> Lab {
    Lab::once(|| {
        let lab = worked_in();
        lab.fine(&[
            "new",
            "Sessions end",
            "--scope",
            "src/auth.rs",
            "--criterion",
            "No session is older than a day",
            "--start",
        ]);
        let ended = REFRESHED.replace("drop_session();", "drop_session();\n    forget_all();");
        lab.write("src/auth.rs", &ended);
        lab.fine(&[
            "record",
            "src",
            "--intent",
            "INT-003",
            "--agent",
            "codex",
            "--model",
            "openai/gpt",
        ]);
        lab.write("src/gone.rs", "fn goes() {\n    away(1);\n    and_away(2);\n}\n");
        lab.fine(&[
            "record",
            "--all",
            "--yes",
            "src/gone.rs",
            "--intent",
            "INT-001",
            "--contributor",
            "human",
        ]);
        lab.commit();
        std::fs::remove_file(lab.root.join("src/gone.rs")).expect("it was there");
        lab.write("src/auth.rs", ended.replace("renew(token, 3)", "renew(token, 4)"));
        lab.write("docs/notes.md", "# Notes\n\nOne.\n");
        lab
    })
}

#[test]
fn the_report_of_a_small_workspace_is_as_stored() {
    let lab = lived_in();
    let mut answer = lab.json(&["report"]);
    for activity in answer["activity"].as_array_mut().expect("a list") {
        assert_eq!(activity["day"].as_str().map(str::len), Some("2026-02-18".len()));
        activity["day"] = "[day]".into();
    }
    for origin in answer["origins"].as_array_mut().expect("a list") {
        let id = origin["commit"]["id"].as_str().expect("an id")[..10].to_owned();
        let said = origin["in_words"].as_str().expect("words").replace(&id, "[commit]");
        origin["in_words"] = said.into();
    }
    let pretty = serde_json::to_string_pretty(&answer).expect("JSON");
    insta::assert_snapshot!(masked(&lab, &pretty));
}

#[test]
fn the_printed_report_is_short() {
    insta::assert_snapshot!(transcript(
        &lived_in(),
        &["report", "report --html", "report --out page.html", "report --html -o src"]
    ));
}

/// The report and the other commands give the same answers.
#[test]
fn the_report_agrees_with_the_other_commands() {
    let lab = lived_in();
    let answer = lab.json(&["report"]);
    let verified = lab.json(&["verify", "--blocks"]);
    assert_eq!(answer["summary"]["blocks"], verified["blocks"]);
    assert_eq!(answer["summary"]["records"], verified["records"]);
    let listed = lab.json(&["list", "--count"]);
    let (intents, listed) =
        (answer["intents"].as_array().expect("a list"), listed.as_array().expect("a list"));
    assert_eq!((intents.len(), listed.len()), (3, 3));
    for (told, listed) in intents.iter().zip(listed) {
        assert_eq!(told["id"], listed["id"]);
        assert_eq!(told["recorded_blocks"], listed["blocks"], "{}", told["id"]);
        assert_eq!(told["recorded_files"], listed["files"], "{}", told["id"]);
        assert_eq!(told["selected"], listed["selected"]);
    }
    let why = lab.json(&["why", "src/auth.rs"]);
    let file = &answer["files"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|file| file["path"] == "src/auth.rs")
        .expect("the file");
    let (told, asked) =
        (file["blocks"].as_array().expect("a list"), why["blocks"].as_array().expect("a list"));
    assert!(!told.is_empty());
    assert_eq!(told.len(), asked.len(), "{file} {why}");
    for (told, asked) in told.iter().zip(asked) {
        assert_eq!(told["name"], asked["qualified_name"]);
        assert_eq!(told["verdict"], asked["verdict"]);
        assert_eq!(
            told.get("intent").unwrap_or(&Value::Null),
            asked["intent"].get("id").unwrap_or(&Value::Null)
        );
        let record = told["record"].as_u64();
        let record = record.map_or(&Value::Null, |at| {
            &answer["records"][usize::try_from(at).expect("small")]["id"]
        });
        assert_eq!(*record, asked["record"]);
        let origin = told["origin"].as_u64();
        let origin = origin.map_or(&Value::Null, |at| {
            &answer["origins"][usize::try_from(at).expect("small")]["commit"]
        });
        assert_eq!(*origin, asked["origin"]["commit"]);
    }
    let checked = lab.json(&["check"]);
    let findings = answer["findings"].as_array().expect("a list");
    let missing: Vec<_> = checked["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .chain(verified["findings"].as_array().expect("a list"))
        .filter(|finding| !findings.contains(finding))
        .collect();
    assert!(missing.is_empty() && !findings.is_empty(), "{missing:?}");
}

/// A file that no record names contains moved blocks: the report names their records, and counts them as `verify` does.
#[test]
fn blocks_that_moved_to_an_unrecorded_file_are_shown() {
    let lab = worked_in();
    lab.commit();
    std::fs::remove_file(lab.root.join("src/auth.rs")).expect("it was there");
    let more = "\nfn nobody_heard_of(word: &str) {\n    whisper(word, 9);\n}\n";
    lab.write("src/session.rs", format!("{REFRESHED}{more}"));
    let answer = lab.json(&["report"]);
    assert_eq!(answer["summary"]["blocks"], lab.json(&["verify", "--blocks"])["blocks"]);
    assert_eq!(answer["files"].as_array().map(Vec::len), Some(1), "{answer}");
    let file = &answer["files"][0];
    assert_eq!((&file["path"], &file["unrecorded"]), (&"src/session.rs".into(), &2.into()));
    let mut named = Vec::new();
    for block in file["blocks"].as_array().expect("a list") {
        if block["verdict"] == "unrecorded" {
            assert_eq!(block["intent"], Value::Null, "{block}");
            continue;
        }
        assert_eq!((&block["verdict"], &block["intent"]), (&"moved".into(), &"INT-001".into()));
        assert_eq!(block["recorded"]["path"], "src/auth.rs");
        named.push(&block["name"]);
    }
    assert_eq!(named, ["login", "refresh"], "{file}");
}

#[test]
fn writing_the_page_is_no_change_of_the_workspace() {
    let lab = lived_in();
    lab.fine(&["report", "--html"]);
    let page = lab.read(".orchestration/local/report.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("\"Sessions end\""), "the page holds no intent");
    let before = lab.json(&["check"])["summary"]["files"].clone();
    lab.fine(&["report", "--html"]);
    assert_eq!(lab.json(&["check"])["summary"]["files"], before);
    let streamed = lab.fine(&["report", "--html", "--out", "-"]);
    assert!(streamed.starts_with("<!doctype html>"));
    assert_eq!(
        lab.json(&["report", "--html", "-o", "page.html"])["bytes"],
        lab.read("page.html").len()
    );
}

#[cfg(unix)]
#[test]
fn the_page_is_not_written_through_a_link() {
    let lab = lived_in();
    std::os::unix::fs::symlink(lab.root.join("src/auth.rs"), lab.root.join("page.html"))
        .expect("a link");
    let before = lab.read("src/auth.rs");
    assert_eq!(lab.intent(&["report", "--html", "-o", "page.html"]).status.code(), Some(2));
    assert_eq!(lab.read("src/auth.rs"), before);
}

#[test]
fn a_broken_registry_is_reported_in_the_report() {
    let lab = lived_in();
    lab.write(".orchestration/active_intents.yaml", "active_intents:\n  - id: [\n");
    let answer = lab.json(&["report"]);
    let codes: Vec<_> = answer["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|finding| finding["code"].clone())
        .collect();
    assert!(codes.contains(&"registry-syntax".into()), "{codes:?}");
    let strangers = answer["intents"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|intent| intent["in_registry"].is_null());
    assert_eq!(strangers.count(), 2);
    assert_eq!(Lab::bare_folder().intent(&["report"]).status.code(), Some(2));
}
