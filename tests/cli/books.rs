//! What `list`, `map`, `verify`, `report` and `why` say of code that was undone, moved, or recorded with another text.

use serde_json::Value;

use super::lab::Lab;

const ONE: &str = "fn one(user: &str) {\n    check(user, 1);\n    remember(user);\n}\n";
const TWO: &str = "\nfn two(token: &str) {\n    renew(token, 2);\n    notify(token);\n}\n";

/// A repository with two intents; the first one wrote `one`, and that is committed.
fn begun() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.fine(&["new", "Tokens", "--scope", "src/**", "--start"]);
        lab.write("src/a.rs", "");
        lab.commit();
        lab.write("src/a.rs", ONE);
        record(&lab, "INT-001", "src/a.rs");
        lab.commit();
        lab
    })
}

fn record(lab: &Lab, intent: &str, path: &str) {
    lab.fine(&["record", path, "--intent", intent, "--agent", "claude-code", "--model", "m/1"]);
}

/// Returns which blocks belong to which intent, according to each command. Asserts that all commands agree.
fn books(lab: &Lab) -> Vec<String> {
    let mut told = Vec::new();
    let list = lab.json(&["list", "--count"]);
    let listed = |id: &str| {
        let one = list
            .as_array()
            .expect("it is there")
            .iter()
            .find(|one| one["id"] == id)
            .expect("it is there");
        (one["files"].as_u64().expect("it is there"), one["blocks"].as_u64().expect("it is there"))
    };
    let map = lab.json(&["map"]);
    let verified = lab.json(&["verify", "--blocks"]);
    for id in ["INT-001", "INT-002"] {
        let intents = map["intents"].as_array().expect("it is there").iter();
        let mapped = intents
            .filter(|one| one["id"] == id)
            .flat_map(|one| one["files"].as_array().expect("it is there"));
        let (mut files, mut blocks) = (0, 0);
        for file in mapped {
            let path = file["path"].as_str().expect("it is there");
            let why = lab.json(&["why", path]);
            let whose = |block: &&Value| block["intent"]["id"] == id;
            let of_why: Vec<&Value> =
                why["blocks"].as_array().expect("it is there").iter().filter(whose).collect();
            assert_eq!(
                file["blocks"].as_array().expect("it is there").len(),
                of_why.len(),
                "{path}: {why}"
            );
            for block in of_why {
                told.push(format!(
                    "{id} {path} {} {}",
                    block["name"].as_str().expect("it is there"),
                    block["verdict"].as_str().expect("it is there")
                ));
            }
            (files, blocks) =
                (files + 1, blocks + file["blocks"].as_array().expect("it is there").len() as u64);
        }
        assert_eq!(listed(id), (files, blocks), "{list} {map}");
    }
    let findings = verified["findings"].as_array().expect("it is there").iter();
    let loud: Vec<&Value> = findings.filter(|finding| finding["level"] != "info").collect();
    assert!(loud.is_empty(), "{loud:?}");
    let counted: u64 = verified["blocks"]
        .as_object()
        .expect("it is there")
        .iter()
        .filter(|(verdict, _)| *verdict != "unrecorded")
        .map(|(_, count)| count.as_u64().expect("it is there"))
        .sum();
    assert_eq!(counted as usize, told.len(), "{verified}");
    let report = lab.json(&["report"]);
    for intent in report["intents"].as_array().expect("it is there") {
        let listed = list.as_array().expect("it is there").iter();
        let mut listed = listed.filter(|one| one["id"] == intent["id"]);
        assert_eq!(listed.next().map(|one| &one["lines"]), Some(&intent["lines"]), "{report}");
    }
    assert_eq!(lab.json(&["status"])["errors"], 0);
    told
}

#[test]
#[ignore = "slow"]
fn undone_changes_are_counted_by_no_command() {
    let recorded = ["INT-001 src/a.rs one exact"];
    // Another intent edits a recorded block and adds one; then `git checkout` undoes both.
    let lab = begun();
    assert_eq!(books(&lab), recorded);
    lab.write("src/a.rs", ONE.replace('1', "9") + TWO);
    record(&lab, "INT-002", "src/a.rs");
    // Two of the three lines of `one` that say something are still those of the first intent.
    assert_eq!(books(&lab), ["INT-001 src/a.rs one exact", "INT-002 src/a.rs two exact"]);
    lab.run_git(&["checkout", "-q", "--", "src/a.rs"]);
    assert_eq!(books(&lab), recorded);
    // The same with a new file and with `git reset --hard`, before a commit and after it.
    lab.write("src/a.rs", ONE.replace('1', "8") + TWO);
    lab.write("src/b.rs", TWO);
    record(&lab, "INT-002", "src");
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["reset", "-q", "--hard"]);
    assert_eq!(books(&lab), recorded);
    lab.write("src/a.rs", ONE.replace('1', "7") + TWO);
    record(&lab, "INT-002", "src");
    lab.commit();
    assert_eq!(books(&lab), ["INT-001 src/a.rs one exact", "INT-002 src/a.rs two exact"]);
    lab.run_git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(books(&lab), recorded);
    // A block whose deletion was recorded comes back: all commands still agree.
    lab.write("src/a.rs", "");
    record(&lab, "INT-002", "src/a.rs");
    lab.run_git(&["checkout", "-q", "--", "src/a.rs"]);
    books(&lab);
}

#[test]
#[ignore = "slow"]
fn all_commands_agree_about_a_renamed_file() {
    let lab = begun();
    lab.run_git(&["mv", "src/a.rs", "src/c.rs"]);
    assert_eq!(books(&lab), ["INT-001 src/c.rs one moved"]);
    lab.commit();
    assert_eq!(books(&lab), ["INT-001 src/c.rs one moved"]);
    // The rename is recorded together with an edit.
    lab.run_git(&["mv", "src/c.rs", "src/d.rs"]);
    lab.write("src/d.rs", ONE.to_owned() + TWO);
    lab.fine(&["record", "src/c.rs", "src/d.rs", "--intent", "INT-002", "--agent", "claude-code"]);
    let told = books(&lab);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("INT-001 src/d.rs one"), "{told:?}");
    assert_eq!(told[1], "INT-002 src/d.rs two exact");
    lab.commit();
    let told = books(&lab);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("INT-001 src/d.rs one"), "{told:?}");
}

fn why(lab: &Lab) -> String {
    lab.fine(&["why", "src/a.rs:1"]).lines().next().expect("a line").to_owned()
}

#[test]
#[ignore = "slow"]
fn a_record_shows_the_name_that_the_intent_had_then() {
    let lab = begun();
    assert_eq!(why(&lab), "INT-001  Login  IN_PROGRESS");
    // A change of status makes no new version of the intent.
    lab.fine(&["complete", "INT-001"]);
    assert_eq!(why(&lab), "INT-001  Login  COMPLETED");
    lab.fine(&["start", "INT-001"]);
    // A changed name makes a new version. The registry of that commit still has the old one.
    let path = ".orchestration/active_intents.yaml";
    let registry = lab.read(path);
    lab.write(path, registry.replace("name: Login", "name: Sign in"));
    assert_eq!(why(&lab), "INT-001  Login  INT-001 is called Sign in now  IN_PROGRESS");
    // The intent is removed: the evidence still has its name, and `verify` reports the id as unknown.
    let begin = registry.find("\n  - id: INT-001\n").expect("the first") + 1;
    let end = registry.find("\n  - id: INT-002\n").expect("the second") + 1;
    lab.write(path, registry.replace(&registry[begin..end], ""));
    assert_eq!(why(&lab), "INT-001  Login  not in the registry");
    assert!(codes(&lab).contains(&"unknown-intent".to_owned()));
    // The id is used for another intent: old records keep their name, and nothing is reported.
    lab.write(path, registry.replace("name: Login", "name: Billing").replace("src/**", "**"));
    assert_eq!(why(&lab), "INT-001  Login  INT-001 is called Billing now  IN_PROGRESS");
    assert!(!codes(&lab).contains(&"unknown-intent".to_owned()));
    // The id is defined twice.
    let twice = &registry[begin..end];
    lab.write(path, registry.replace(twice, &(twice.to_owned() + twice)));
    assert!(why(&lab).starts_with("INT-001  Login  "), "{}", why(&lab));
    let codes = codes(&lab);
    assert!(codes.contains(&"duplicate-id".to_owned()), "{codes:?}");
    assert!(!codes.contains(&"unknown-intent".to_owned()), "{codes:?}");
}

fn codes(lab: &Lab) -> Vec<String> {
    let found = lab.json(&["verify"])["findings"].clone();
    let findings = found.as_array().expect("a list").iter();
    findings.filter_map(|finding| finding["code"].as_str().map(str::to_owned)).collect()
}

const MAP: &str = ".orchestration/intent_map.md";

#[test]
#[ignore = "slow"]
fn the_map_is_kept_current_and_out_of_git() {
    let lab = begun();
    assert!(
        lab.read(MAP).contains("## INT-001 — Login (IN_PROGRESS)\n\n- `src/a.rs`: `one`\n"),
        "{}",
        lab.read(MAP)
    );
    lab.write("src/a.rs", ONE.to_owned() + TWO);
    record(&lab, "INT-002", "src/a.rs");
    assert!(lab.read(MAP).contains("## INT-002 — Tokens (IN_PROGRESS)\n\n- `src/a.rs`: `two`\n"));
    lab.fine(&["complete", "INT-002"]);
    assert!(lab.read(MAP).contains("Tokens (COMPLETED)"));
    lab.fine(&["map", "--check"]);
    assert_eq!(lab.read_git(&["status", "--porcelain", MAP]), "");
    assert_eq!(lab.read_git(&["ls-files", MAP]), "");
    // No command reads the map.
    lab.write(MAP, "## INT-009\n");
    assert_eq!(lab.json(&["list", "--count"]).as_array().expect("it is there").len(), 2);
}

#[test]
#[ignore = "slow"]
fn a_committed_map_matches_its_commit_and_never_conflicts() {
    let lab = Lab::with_list();
    lab.write(".orchestration/policy.yaml", "map: committed\n");
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.fine(&["new", "Tokens", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "");
    lab.commit();
    let committed = || lab.read_git(&["show", &format!("HEAD:{MAP}")]);
    assert!(committed().contains("It has no recorded block here."));
    let work = |branch: &str, path: &str, text: &str, name: &str| {
        lab.run_git(&["switch", "-qc", branch, "main"]);
        lab.write(path, text);
        record(&lab, "INT-001", path);
        lab.commit();
        assert!(committed().contains(&format!("- `{path}`: `{name}`")), "{}", committed());
        assert_eq!(lab.read_git(&["status", "--porcelain"]), "");
    };
    work("left", "src/l.rs", ONE, "one");
    work("right", "src/r.rs", TWO, "two");
    lab.run_git(&["merge", "-q", "--no-edit", "left"]);
    let map = committed();
    assert!(
        map.contains("- `src/l.rs`: `one`\n") && map.contains("- `src/r.rs`: `two`\n"),
        "{map}"
    );
    assert_eq!(lab.read_git(&["status", "--porcelain"]), "");
    // A merge puts the lines together in any order; the next commit sorts them.
    lab.write("README", "x\n");
    lab.commit();
    assert!(committed().contains("- `src/l.rs`: `one`\n- `src/r.rs`: `two`\n"), "{}", committed());
    lab.fine(&["map", "--check"]);
    // The committed map does not contain what is recorded and not committed yet.
    lab.write("src/n.rs", "fn three(number: u8) -> u8 {\n    number.pow(3)\n}\n");
    record(&lab, "INT-002", "src/n.rs");
    assert_eq!(lab.read_git(&["status", "--porcelain", MAP]), "");
    lab.fine(&["map", "--check"]);
}

#[test]
#[ignore = "slow"]
fn a_record_leaves_the_journal_once_it_is_committed() {
    let lab = begun();
    let kept = || {
        ["open", "settled"].map(|name| {
            let folder = lab.root.join(".git/intent").join(name).join("main");
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            // The commits that keep settled records are noted there, too.
            let files = files.filter(|file| file.file_name() != "keepers");
            let texts = files.map(|file| std::fs::read_to_string(file.path()).expect("text"));
            texts.map(|text| text.lines().count()).sum::<usize>()
        })
    };
    lab.fine(&["seal"]);
    let [open, settled] = kept();
    assert_eq!(open, 0);
    assert!(settled > 0, "the evidence is in no other repository");
    lab.run_git(&["init", "-q", "--bare", "../shared"]);
    lab.run_git(&["remote", "add", "origin", "../shared"]);
    lab.run_git(&["push", "-q", "origin", "main"]);
    lab.write("src/b.rs", TWO);
    record(&lab, "INT-002", "src/b.rs");
    lab.fine(&["seal"]);
    assert_eq!(kept(), [1, 0], "what was pushed is settled for good");
    assert_eq!(books(&lab), ["INT-001 src/a.rs one exact", "INT-002 src/b.rs two exact"]);
    lab.commit();
    assert_eq!(kept(), [0, 1]);
    lab.run_git(&["push", "-q", "origin", "main"]);
    lab.fine(&["seal"]);
    assert_eq!(kept(), [0, 0]);
    assert_eq!(books(&lab), ["INT-001 src/a.rs one exact", "INT-002 src/b.rs two exact"]);
    // A record of an undone change is counted, and stays until it is old.
    lab.write("src/b.rs", TWO.replace('2', "3"));
    record(&lab, "INT-002", "src/b.rs");
    lab.run_git(&["checkout", "-q", "--", "src/b.rs"]);
    let told = String::from_utf8(lab.intent(&["doctor"]).stdout).expect("UTF-8");
    assert!(told.contains("; 1 record of code that was not found here"), "{told}");
    lab.fine(&["seal"]);
    assert_eq!(kept(), [1, 0]);
}

/// A selection says nothing about code. If it stayed in the journal, each session would leave a file that
/// every later command has to read.
#[test]
#[ignore = "slow"]
fn a_session_leaves_nothing_in_the_journal_once_its_work_is_committed() {
    let lab = begun();
    let open = || {
        let folder = std::fs::read_dir(lab.root.join(".git/intent/open/main")).expect("a folder");
        let names = folder.flatten().map(|file| file.file_name());
        names.filter(|name| name != "keepers").count()
    };
    assert_eq!(open(), 0);
    lab.fine(&["select", "INT-001", "--session", "codex:reads"]);
    lab.fine(&["select", "INT-002", "--session", "codex:writes"]);
    lab.fine(&["select", "INT-002", "--session", "codex:busy"]);
    for (session, path) in [("codex:writes", "src/b.rs"), ("codex:busy", "src/c.rs")] {
        lab.write(path, TWO);
        lab.fine(&["record", path, "--session", session]);
    }
    assert_eq!(open(), 3);
    lab.run_git(&["add", "src/b.rs"]);
    lab.run_git(&["commit", "-q", "-m", "b"]);
    assert_eq!(open(), 1, "only one session has work that is in no commit");
    lab.commit();
    assert_eq!(open(), 0);
    assert_eq!(lab.intent(&["verify"]).status.code(), Some(0));
}
