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
    for brought in answer["brought"].as_array_mut().expect("a list") {
        assert_eq!(brought["month"].as_str().map(str::len), Some("2026-02".len()));
        brought["month"] = "[month]".into();
    }
    let pretty = serde_json::to_string_pretty(&answer).expect("JSON");
    insta::assert_snapshot!(masked(&lab, &pretty));
}

#[test]
#[ignore = "slow"]
fn the_printed_report_is_short() {
    insta::assert_snapshot!(transcript(
        &lived_in(),
        &["report", "report --html", "report --out page.html", "report -o src", "list --count"]
    ));
}

/// One fact has one number: the lines of an intent are the same in the report, in `list --count` and,
/// added up, in `why`.
#[test]
fn the_lines_of_the_report_are_those_of_the_other_commands() {
    let lab = lived_in();
    let answer = lab.json(&["report"]);
    let listed = lab.json(&["list", "--count"]);
    let (intents, listed) =
        (answer["intents"].as_array().expect("a list"), listed.as_array().expect("a list"));
    assert_eq!((intents.len(), listed.len()), (3, 3));
    let told: Vec<Value> = ["src/auth.rs", "docs/notes.md"]
        .iter()
        .flat_map(|path| {
            let why = lab.json(&["why", path]);
            let blocks = why["blocks"].as_array().expect("a list").clone();
            blocks.into_iter().flat_map(|block| block["shares"].as_array().expect("a list").clone())
        })
        .collect();
    let lines_of = |is_its: &dyn Fn(&Value) -> bool, list: &[Value]| -> u64 {
        let lines = list.iter().filter(|one| is_its(one)).map(|one| one["lines"].as_u64());
        lines.map(|lines| lines.expect("a number")).sum()
    };
    let brought = answer["brought"].as_array().expect("a list");
    for (told_of, listed) in intents.iter().zip(listed) {
        let is_its = |one: &Value| one["intent"] == told_of["id"];
        assert_eq!(told_of["id"], listed["id"]);
        assert_eq!(told_of["lines"], listed["lines"], "{}", told_of["id"]);
        assert_eq!(told_of["files"], listed["files"], "{}", told_of["id"]);
        assert_eq!(told_of["lines"], lines_of(&is_its, &told), "{}", told_of["id"]);
        assert_eq!(told_of["lines"], lines_of(&is_its, brought), "{}", told_of["id"]);
        assert_eq!(told_of["selected"], listed["selected"]);
    }
    let summary = &answer["summary"];
    assert_eq!(summary["lines"], lines_of(&|_| true, &told));
    assert_eq!(summary["recorded"], lines_of(&|_| true, brought));
    assert_eq!(summary["under_intent"], lines_of(&|one| one["intent"].is_string(), &told));
    assert!(summary["under_intent"].as_u64() > Some(0), "{summary}");
}

#[test]
fn the_findings_of_the_report_are_those_of_check_and_verify() {
    let lab = lived_in();
    let answer = lab.json(&["report"]);
    let findings = answer["findings"].as_array().expect("a list");
    let (checked, verified) = (lab.json(&["check"]), lab.json(&["verify"]));
    let mut all = [&checked, &verified]
        .into_iter()
        .flat_map(|told| told["findings"].as_array().expect("a list"));
    let missing = all.find(|finding| !findings.contains(finding));
    assert!(missing.is_none() && !findings.is_empty(), "{missing:?}");
}

#[test]
#[ignore = "slow"]
fn a_criterion_and_a_suspect_block_are_in_the_report() {
    let lab = worked_in();
    let registry = ".orchestration/active_intents.yaml";
    lab.commit();
    let text = lab.read(registry).replace("No external providers", "No provider at all");
    let tests =
        "    acceptance_criteria: [\"run: true\", \"run: false\", \"It is fast\"]\n    owner:";
    lab.write(registry, text.replacen("    owner:", tests, 1));
    lab.intent(&["test", "INT-001"]);
    let answer = lab.json(&["report"]);
    let intent = &answer["intents"][0];
    let standings: Vec<_> = intent["criteria"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["standing"].as_str().expect("a word"))
        .collect();
    assert_eq!(standings, ["passed", "failed", "no_command"], "{intent}");
    assert_eq!(intent["suspect"], answer["summary"]["suspect"]);
    let checked = lab.json(&["check", "--suspect"]);
    let found = checked["findings"].as_array().expect("a list").iter();
    let found = found.filter(|finding| finding["code"] == "suspect").count();
    let suspects = intent["suspects"].as_array().expect("a list");
    assert_eq!((suspects.len(), found > 0), (found, true), "{intent} {checked}");
}

/// The badge is a function of the commit: what is only in the work tree does not change it.
#[test]
#[ignore = "slow"]
fn the_badge_says_what_the_commit_holds() {
    let lab = lived_in();
    let before = lab.fine(&["report", "--badge"]);
    assert!(before.starts_with("<svg ") && before.contains(" % of lines</text>"), "{before}");
    lab.write(
        "src/more.rs",
        "fn more() {\n    one();\n    two();\n    three();\n    four();\n    five();\n}\n",
    );
    lab.fine(&["record", "src/more.rs", "--intent", "INT-001", "--agent", "codex"]);
    let numbers = lab.json(&["report", "--badge"]);
    assert_eq!(lab.fine(&["report", "--badge"]), before);
    lab.fine(&["report", "--badge", "badge.svg"]);
    assert_eq!(lab.read("badge.svg"), before);
    std::fs::remove_file(lab.root.join("badge.svg")).expect("it was there");
    let (file, page) = (lab.json(&["report", "--badge", "b.svg"]), lab.read("b.svg"));
    assert_eq!(file["bytes"], page.len());
    std::fs::remove_file(lab.root.join("b.svg")).expect("it was there");
    lab.commit();
    let committed = lab.json(&["report", "--badge"]);
    assert!(committed["under_intent"].as_u64() > numbers["under_intent"].as_u64());
    let summary = lab.json(&["report"])["summary"].clone();
    for name in ["lines", "under_intent"] {
        assert_eq!(committed[name], summary[name], "{name}");
    }
}

/// A clone without the history would count too few lines.
#[test]
#[ignore = "slow"]
fn a_shallow_clone_has_no_badge() {
    let lab = lived_in();
    let name = format!("{}-shallow", lab.root.file_name().expect("a name").to_string_lossy());
    let clone = lab.root.with_file_name(&name);
    let source = format!("file://{}", lab.root.display());
    lab.run_git(&["clone", "-q", "--depth", "1", &source, &format!("../{name}")]);
    let told = lab.intent(&["-C", &format!("../{name}"), "report", "--badge"]);
    std::fs::remove_dir_all(&clone).expect("it was made");
    assert_eq!((told.status.code(), told.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&told.stderr).contains("fetch --unshallow"));
}

#[test]
#[ignore = "slow"]
fn writing_the_page_is_no_change_of_the_workspace() {
    let lab = lived_in();
    lab.fine(&["report", "--html"]);
    let page = lab.read(".orchestration/local/report.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("\"Sessions end\""), "the page holds no intent");
    assert!(page.len() < 60_000, "{} bytes", page.len());
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
#[ignore = "slow"]
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
