//! Records that are not in evidence files, which a change adds or removes.

use serde_json::Value;

use super::lab::Lab;
use super::seen::{FILE, POLICY, function, masked, record, worked_in};

const TRACE: &str = ".orchestration/agent_trace.jsonl";

/// Returns the errors of `intent check --base main`, and its notes.
fn judged(lab: &Lab) -> (Vec<(String, String, String)>, Vec<String>) {
    let answer = lab.json(&["check", "--base", "main"]);
    let text = |one: &Value| masked(one.as_str().expect("a text"));
    let all = answer["findings"].as_array().expect("findings").iter();
    let errors = all.filter(|one| one["level"] == "error");
    let errors = errors.map(|one| (text(&one["code"]), text(&one["message"]), text(&one["help"])));
    let notes = answer["summary"]["notes"].as_array().expect("notes").iter().map(text);
    (errors.collect(), notes.collect())
}

/// Switches to a new branch `topic`, without hooks.
fn topic(lab: &Lab) {
    lab.run_git(&["config", "intent.hooks", "false"]);
    lab.run_git(&["switch", "-qc", "topic"]);
}

fn commit_unsealed(lab: &Lab) {
    lab.run_git(&["add", "-Af"]);
    lab.run_git(&["commit", "-qnm", "a commit"]);
}

/// A line as another tool could write it: it names INT-002 for a whole file.
fn foreign(path: &str, text: &str) -> String {
    let hash = code::content_hash(text.trim_end());
    format!(
        r#"{{"id":"x1","timestamp":"2026-11-23T19:15:34.198Z","intent_id":"INT-002","files":[{{"relative_path":"{path}","conversations":[{{"url":"evil:1","contributor":{{"entity_type":"AI"}},"ranges":[{{"start_line":1,"end_line":9,"content_hash":"{hash}"}}]}}]}}]}}"#
    ) + "\n"
}

#[test]
fn records_outside_evidence_may_not_claim_old_code() {
    let lab = worked_in();
    lab.write("src/exit.rs", function("exit", "person"));
    lab.commit();
    topic(&lab);
    // The chained records of a session's journal, committed as a file, and a line of another tool.
    for path in ["src/login.rs", "src/exit.rs"] {
        lab.fine(&["record", "--all", "--yes", path, "--intent", "INT-002", "--session", "evil"]);
    }
    let open = lab.root.join(".orchestration/agent_trace/open");
    let journals = std::fs::read_dir(&open).expect("a journal").flatten();
    let journals = journals.filter(|file| file.path().extension().is_some_and(|it| it == "jsonl"));
    let texts = journals.map(|file| std::fs::read_to_string(file.path()).expect("text"));
    let chained = texts.filter(|text| text.contains("evil")).collect::<String>();
    lab.write(".orchestration/agent_trace/chain.jsonl", chained);
    std::fs::remove_dir_all(&open).expect("removed");
    std::fs::remove_dir_all(lab.root.join(".git/intent")).expect("removed");
    commit_unsealed(&lab);
    let (errors, _) = judged(&lab);
    let codes: Vec<&str> = errors.iter().map(|(code, ..)| code.as_str()).collect();
    assert_eq!(codes, ["evidence-unfounded", "evidence-unfounded"]);
    assert!(errors[0].1.ends_with("src/login.rs:1 stood there at the base."), "{errors:?}");
    // The command of each finding removes both lines.
    assert!(errors[0].2.contains("`sed -i '1d;2d' .orchestration/agent_trace/chain.jsonl`"));
}

#[test]
#[ignore = "slow"]
fn a_line_of_another_tool_is_compared_with_the_change() {
    let lab = worked_in();
    topic(&lab);
    lab.write(TRACE, foreign("src/login.rs", &function("login", "person")));
    commit_unsealed(&lab);
    let (errors, _) = judged(&lab);
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].1,
        "The record at .orchestration/agent_trace.jsonl:1 names INT-002 for code that this change did not add: src/login.rs:1 stood there at the base."
    );
    // The first line of an object on several lines is not the whole object.
    let line = foreign("src/login.rs", &function("login", "person"));
    lab.write(TRACE, line.replace("\"files\"", "\n\"files\""));
    commit_unsealed(&lab);
    assert_eq!(judged(&lab).0[0].2, format!("Take it out of {TRACE}, and commit."));
    // The change added one line of the function; eight lines are older. A tool that names whole blocks may name this
    // one, and that gives it none of the older lines.
    let changed = function("login", "person").replace("person-3", "mine");
    lab.write("src/login.rs", &changed);
    lab.write(TRACE, foreign("src/login.rs", &changed));
    commit_unsealed(&lab);
    assert_eq!(judged(&lab).0, []);
    assert_eq!(lab.json(&["why", "src/login.rs"])["blocks"][0]["intent"], Value::Null);
    // A record may claim code that the change added, and code that does not exist does no harm.
    lab.write("src/login.rs", function("login", "person"));
    lab.write("src/new.rs", function("new", "mine"));
    lab.write(
        TRACE,
        foreign("src/new.rs", &function("new", "mine")) + &foreign("src/login.rs", &changed),
    );
    commit_unsealed(&lab);
    assert_eq!(judged(&lab).0, []);
    // A record that the base has may be removed, because the file belongs to the other tool.
    lab.run_git(&["switch", "-q", "main"]);
    lab.run_git(&["merge", "-q", "topic"]);
    lab.run_git(&["switch", "-q", "topic"]);
    lab.run_git(&["rm", "-q", TRACE]);
    commit_unsealed(&lab);
    let note = "This change does not have 2 records of other tools that the base has in .orchestration/agent_trace.jsonl.";
    assert_eq!(judged(&lab), (vec![], vec![note.to_owned()]));
}

#[test]
#[ignore = "slow"]
fn a_change_of_the_layout_breaks_no_chain() {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.commit();
    for layout in ["evidence", "single", "evidence", "single"] {
        lab.write(POLICY, format!("ledger:\n  layout: {layout}\n"));
        for call in ["first", "second"] {
            lab.write(FILE, function("work", &format!("{layout}-{call}")));
            lab.fine(&["record", FILE, "--intent", "INT-001", "--session", "codex:1"]);
        }
    }
    let told = lab.json(&["verify"]);
    let codes = told["findings"].as_array().expect("findings").iter();
    let mut codes = codes.map(|one| one["code"].as_str().expect("a code"));
    assert_eq!(codes.find(|code| code.starts_with("ledger-")), None);
}

#[test]
fn the_map_sorts_the_blocks_of_an_intent_that_only_the_ledger_knows() {
    let lab = worked_in();
    lab.write("src/new.rs", function("z", "one") + "\n" + &function("a", "two"));
    record(&lab, "INT-002", "src/new.rs");
    lab.write(
        ".orchestration/active_intents.yaml",
        "active_intents:\n  - id: INT-001\n    name: One\n    status: IN_PROGRESS\n    owned_scope: [\"src/**\"]\n",
    );
    let told = lab.json(&["map", "--stdout"]);
    let last = told["intents"].as_array().and_then(|all| all.last()).expect("an intent");
    assert_eq!(last["id"], "INT-002");
    let blocks = last["files"][0]["blocks"].as_array().expect("blocks").iter();
    let names: Vec<&str> = blocks.map(|block| block["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["a", "z"]);
}

#[test]
fn an_id_in_a_suggested_command_is_one_word() {
    let lab = worked_in();
    lab.write(TRACE, foreign(FILE, &lab.read(FILE)).replace("INT-002", "I$(x)"));
    let told = lab.json(&["verify"]).to_string();
    assert!(told.contains("--from 'I$(x)' --to"), "{told}");
}

/// A repository whose whole ledger is one tracked file.
fn single() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.write(POLICY, "ledger:\n  layout: single\n");
        for name in ["One", "Two"] {
            lab.fine(&["new", name, "--scope", "src/**", "--start"]);
        }
        lab.write("src/login.rs", function("login", "person"));
        lab.commit();
        lab.write(FILE, function("work", "agent"));
        record(&lab, "INT-001", FILE);
        lab.commit();
        topic(&lab);
        lab
    })
}

#[test]
fn ordinary_work_with_a_single_ledger_file_is_no_finding() {
    let lab = single();
    let edit = |path: &str, from: &str, to: &str, intent: &str| {
        lab.write(path, lab.read(path).replace(from, to));
        record(&lab, intent, path);
    };
    edit(FILE, "agent-2", "second-2", "INT-002");
    edit(FILE, "agent-4", "second-4", "INT-002");
    // Nothing is left of the first edit, so there is nothing to record.
    lab.write(FILE, lab.read(FILE).replace("second-2", "agent-2"));
    edit("src/login.rs", "person-3", "second-3", "INT-002");
    lab.run_git(&["mv", "src/login.rs", "src/enter.rs"]);
    commit_unsealed(&lab);
    assert_eq!(judged(&lab), (vec![], vec![]));
    // A revert removes records together with their code.
    lab.run_git(&["switch", "-q", "main"]);
    lab.run_git(&["merge", "-q", "topic"]);
    lab.run_git(&["switch", "-qc", "back"]);
    lab.run_git(&["revert", "--no-edit", "HEAD"]);
    let note = "No existing code depends on 3 records that the base has in .orchestration/agent_trace.jsonl and this change does not.";
    assert_eq!(judged(&lab), (vec![], vec![note.to_owned()]));
}

/// Both branches continue the chain of one session. If the merge drops the records of one, the finding puts them back.
#[test]
#[ignore = "slow"]
fn a_merge_keeps_the_records_of_both_branches_in_a_single_ledger_file() {
    let lab = single();
    let work = |name: &str| {
        let path = format!("src/{name}.rs");
        lab.write(&path, function(name, "agent"));
        record(&lab, "INT-001", &path);
        lab.commit();
    };
    ["one", "two"].into_iter().for_each(work);
    lab.run_git(&["switch", "-q", "main"]);
    work("three");
    lab.run_git(&["merge", "-q", "--no-edit", "topic"]);
    let errors = || {
        let answer = lab.json(&["check", "--base", "topic"]);
        let all = answer["findings"].as_array().expect("findings").clone();
        all.into_iter().filter(|one| one["level"] == "error").collect::<Vec<_>>()
    };
    let is_whole = || {
        let verdict = |name: &str| {
            let answer = lab.json(&["why", &format!("src/{name}.rs")]);
            answer["blocks"][0]["verdict"].as_str().map(str::to_owned)
        };
        errors().is_empty()
            && lab.process(&["verify"]).status.success()
            && ["one", "two", "three"].iter().all(|name| verdict(name).as_deref() == Some("exact"))
    };
    assert!(is_whole(), "{:?}", errors());
    lab.run_git(&["checkout", "-q", "HEAD^1", "--", TRACE]);
    lab.commit();
    let found = errors();
    assert_eq!((found.len(), &found[0]["code"]), (1, &"ledger-rewritten".into()));
    let command = found[0]["help"].as_str().expect("help").split('`').nth(1).expect("a command");
    assert!(lab.paste(command), "{command}");
    lab.commit();
    assert!(is_whole(), "{:?}", errors());
}

#[test]
fn removing_records_from_a_single_ledger_file_is_an_error() {
    let lab = single();
    let lines = lab.read(TRACE);
    let kept: String = lines.lines().filter(|line| !line.contains("mutation")).collect();
    for text in [Some(kept), None] {
        match text {
            Some(text) => lab.write(TRACE, text + "\n"),
            None => lab.run_git(&["rm", "-qf", TRACE]),
        }
        commit_unsealed(&lab);
        let (errors, _) = judged(&lab);
        let (_, message, help) =
            errors.iter().find(|(code, ..)| code == "ledger-rewritten").expect("a finding");
        assert!(message.ends_with("their code still exists: src/a.rs."), "{message}");
        assert_eq!(help, "Restore it: `git checkout # -- .orchestration/agent_trace.jsonl`.");
    }
    lab.run_git(&["checkout", "-q", "main", "--", TRACE]);
    commit_unsealed(&lab);
    assert_eq!(judged(&lab), (vec![], vec![]));
}

#[test]
fn a_single_ledger_file_names_its_lines_in_every_clone() {
    let lab = single();
    let named = || {
        let told = lab.json(&["why", "--lines", FILE]);
        let runs = told["blocks"][0]["lines"]["runs"].as_array().expect("runs").iter();
        let run = |run: &Value| {
            let at = |key: &str| run[key].as_u64().expect("a line");
            let id = run["from"]["intent"].as_str().unwrap_or("-").to_owned();
            (at("start")..=at("end")).map(move |_| id.clone()).collect::<Vec<_>>()
        };
        runs.flat_map(run).collect::<Vec<String>>()
    };
    let here = named();
    assert!(here.iter().all(|id| id == "INT-001"), "{here:?}");
    std::fs::remove_dir_all(lab.root.join(".git/intent")).expect("no kept texts, as in a clone");
    assert_eq!(named(), here);
    // An equal line of a later commit is not that of the record.
    let text = lab.read(FILE);
    let line = text.lines().nth(1).expect("a line").to_owned();
    lab.write(FILE, text.replacen(&line, &format!("{line}\n    between();\n{line}"), 1));
    commit_unsealed(&lab);
    assert_eq!(named().iter().filter(|id| *id == "-").count(), 2, "{:?}", named());
}

#[test]
#[ignore = "slow"]
fn records_that_the_base_has_are_no_work_of_a_later_change() {
    for ledger in [TRACE, ".orchestration/agent_trace/x.jsonl"] {
        let lab = Lab::governed();
        for (name, scope) in [("One", "src/**"), ("Two", "docs/**")] {
            lab.fine(&["new", name, "--scope", scope, "--start"]);
        }
        let agent = function("work", "agent");
        lab.write("docs/a.rs", agent.replace("    ", "\t"));
        lab.write(ledger, foreign("docs/a.rs", &agent));
        lab.write(FILE, function("login", "person"));
        commit_unsealed(&lab);
        topic(&lab);
        lab.write(FILE, function("login", "another"));
        lab.write("docs/a.rs", &agent);
        commit_unsealed(&lab);
        assert_eq!(judged(&lab), (vec![], vec![]), "{ledger}");
        // Records that the change adds to the same file are its work.
        let added = foreign("docs/a.rs", &agent).replace("x1", "x2");
        lab.write(ledger, lab.read(ledger) + &added);
        commit_unsealed(&lab);
        let codes: Vec<String> = judged(&lab).0.into_iter().map(|(code, ..)| code).collect();
        assert_eq!(codes, ["evidence-unfounded", "scope-violation"], "{ledger}");
    }
}
