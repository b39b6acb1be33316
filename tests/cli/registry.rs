//! The registry over a week: one file for each intent, numbers that two work trees do not share, and conflicts that the
//! advice settles.

use std::process::Command;

use crate::cli::lab::{Lab, clean, transcript};

const LIST: &str = ".orchestration/active_intents.yaml";
const FOLDER: &str = ".orchestration/intents";

/// A repository whose intents are in a list.
fn listed() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.write(
            LIST,
            "# Ours.\nactive_intents:\n  # The first.\n  - id: INT-001\n    name: Sign in # soon\n    status: IN_PROGRESS\n    owned_scope: [\"src/**\"]\n    ticket: {board: A, number: 7}\n",
        );
        lab.commit();
        lab
    })
}

fn files(lab: &Lab) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(lab.root.join(FOLDER)) else { return Vec::new() };
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

fn ids(lab: &Lab) -> Vec<String> {
    let told = lab.json(&["list"]);
    let all = told.as_array().expect("intents").iter();
    all.map(|intent| intent["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_new_intent_gets_a_file_unless_there_is_a_list() {
    let lab = Lab::governed();
    lab.fine(&["new", "JWT migration, part 2!", "--scope", "src/**"]);
    lab.fine(&["new", "Größe 大", "--scope", "lib/**"]);
    assert_eq!(files(&lab).len(), 2);
    assert_eq!(files(&lab)[0], "INT-001-jwt-migration-part-2.yaml");
    assert!(files(&lab)[1].starts_with("INT-002-"), "{:?}", files(&lab));
    assert!(!lab.fine(&["verify"]).contains("invalid-id"));
    let lab = listed();
    lab.fine(&["new", "Search", "--scope", "search/**"]);
    assert!(files(&lab).is_empty() && lab.read(LIST).contains("INT-002"));
}

#[test]
fn a_list_is_split_with_all_that_it_holds() {
    let lab = listed();
    lab.fine(&["new", "Search", "--scope", "search/**"]);
    lab.commit();
    let before = ids(&lab);
    lab.fine(&["setup", "split-registry"]);
    assert_eq!(files(&lab), ["INT-001-sign-in.yaml", "INT-002-search.yaml"]);
    let first = lab.read(&format!("{FOLDER}/INT-001-sign-in.yaml"));
    assert_eq!(
        first,
        "# The first.\nid: INT-001\nname: Sign in # soon\nstatus: IN_PROGRESS\nowned_scope: [\"src/**\"]\nticket: {board: A, number: 7}\n"
    );
    assert_eq!(lab.read(LIST), "# Ours.\nactive_intents: []\n");
    assert_eq!(ids(&lab), before);
    // The split changes no rule, and new intents get files.
    lab.fine(&["new", "Maps", "--scope", "maps/**"]);
    assert_eq!(files(&lab).len(), 3);
    let checked = lab.json(&["check"]);
    let notes = checked["summary"]["notes"].to_string();
    assert!(!notes.contains("INT-001") && !notes.contains("INT-002"), "{notes}");
}

#[test]
fn two_work_trees_take_two_numbers() {
    let lab = Lab::governed();
    lab.commit();
    let other = lab.root.join("../other");
    lab.run_git(&["worktree", "add", "-q", "-b", "other", "../other"]);
    let start = |folder: &std::path::Path, at: usize| {
        let name = format!("Number {at}");
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_intent")), folder);
        command.args(["new", &name, "--scope", "src/**", "--json"]);
        command.stdout(std::process::Stdio::piped()).spawn().expect("started")
    };
    let folders = [&lab.root, &other];
    let all: Vec<_> = (0..8).map(|at| start(folders[at % 2], at)).collect();
    let mut ids: Vec<String> = all
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().expect("done");
            assert!(output.status.success());
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            answer["id"].as_str().expect("an id").to_owned()
        })
        .collect();
    ids.sort();
    let wanted: Vec<String> = (1..=8).map(|number| format!("INT-00{number}")).collect();
    assert_eq!(ids, wanted);
    // A refused intent keeps no number.
    assert!(!lab.intent(&["new", "Bad", "--scope", "../out"]).status.success());
    assert!(lab.fine(&["new", "Good", "--scope", "src/**"]).contains("INT-009"));
}

#[test]
fn a_person_changes_renames_and_removes_an_intent() {
    let lab = Lab::governed();
    lab.write("lib/a.rs", "fn a() {}\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "new Login --scope lib --criterion fast",
            "new login --scope src/**",
            "new Empty",
            "edit INT-001 --name Sign-in --add-scope src/**/*.rs --remove-scope lib/** --status in_progress",
            "edit INT-001 --remove-scope nothing/**",
            "edit INT-001 --scope lib --add-constraint quiet --remove-criterion fast --owner @ada",
            "edit INT-009 --name x",
            "edit INT-001 --status odd",
            "edit INT-002 --remove",
            "list",
        ]
    ));
    let file = format!("{FOLDER}/INT-001-login.yaml");
    insta::assert_snapshot!(lab.read(&file));
    // An intent that a record names is not removed.
    lab.fine(&["record", "lib/a.rs", "--intent", "INT-001", "--agent", "claude-code"]);
    let refused = lab.intent(&["edit", "INT-001", "--remove"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("--status ARCHIVED"), "{told}");
    // An agent changes nothing.
    let mut agent = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    agent.args(["edit", "INT-001", "--name", "Mine"]).env("CLAUDECODE", "1");
    let refused = agent.output().expect("run");
    assert!(!refused.status.success() && !lab.read(&file).contains("Mine"));
}

/// Two branches that each made an intent, with work recorded under it, in two clones: neither saw the other's number.
fn two_clones(list: bool) -> Lab {
    let lab = if list { listed() } else { Lab::governed() };
    lab.write("src/base.rs", "fn base() {}\n");
    lab.commit();
    for (branch, name) in [("ada", "Ada feature"), ("bob", "Bob feature")] {
        lab.run_git(&["switch", "-q", "-C", "work", "main"]);
        lab.fine(&["new", name, "--scope", &format!("{branch}/**"), "--start"]);
        let id = ids(&lab).pop().expect("an intent");
        let file = format!("{branch}/a.rs");
        lab.write(&file, format!("fn {branch}() {{\n    call(\"{branch}\");\n}}\n"));
        lab.fine(&["record", &file, "--intent", &id, "--agent", "claude-code"]);
        lab.commit();
        lab.run_git(&["update-ref", &format!("refs/hidden/{branch}"), "HEAD"]);
        lab.run_git(&["switch", "-q", "main"]);
        lab.run_git(&["branch", "-q", "-D", "work"]);
        std::fs::remove_dir_all(lab.root.join(".git/intent/ids")).expect("another clone");
    }
    for branch in ["ada", "bob"] {
        lab.run_git(&["branch", "-q", branch, &format!("refs/hidden/{branch}")]);
    }
    lab
}

fn first_line(lab: &Lab, place: &str) -> String {
    lab.fine(&["why", place]).lines().next().expect("a line").to_owned()
}

#[test]
#[ignore = "slow"]
fn two_branches_with_a_new_intent_each_never_conflict() {
    for (first, second) in [("ada", "bob"), ("bob", "ada")] {
        for way in ["merge", "rebase", "squash", "cherry-pick", "merge --no-ff", "am"] {
            let lab = two_clones(false);
            lab.run_git(&["switch", "-q", "main"]);
            for branch in [first, second] {
                let joined = match way {
                    "merge" => lab.try_git(&["merge", "-q", "--no-edit", branch]),
                    "merge --no-ff" => {
                        lab.try_git(&["merge", "-q", "--no-ff", "--no-edit", branch])
                    }
                    "rebase" => {
                        lab.try_git(&["rebase", "-q", "main", branch])
                            && lab.try_git(&["switch", "-q", "main"])
                            && lab.try_git(&["merge", "-q", "--ff-only", branch])
                    }
                    "squash" => {
                        lab.try_git(&["merge", "-q", "--squash", branch])
                            && lab.try_git(&["commit", "-q", "-m", branch])
                    }
                    "cherry-pick" => lab.try_git(&["cherry-pick", branch]),
                    _ => {
                        let patch =
                            lab.read_git(&["format-patch", "-1", "--stdout", "--binary", branch]);
                        lab.write("../patch", patch);
                        lab.try_git(&["am", "-q", "../patch"])
                    }
                };
                assert!(joined, "{way} of {branch}");
            }
            assert_eq!(files(&lab), ["INT-001-ada-feature.yaml", "INT-001-bob-feature.yaml"]);
            // The second to merge gets another number, by the command that the finding names.
            let told = lab.json(&["check"]).to_string();
            assert!(
                told.contains("duplicate-id") && told.contains("intent setup renumber INT-001"),
                "{told}"
            );
            let file = format!("{FOLDER}/INT-001-{second}-feature.yaml");
            lab.fine(&["renumber", "INT-001", "--file", &file]);
            let renamed = format!("INT-002-{second}-feature.yaml");
            assert!(files(&lab).contains(&renamed), "{:?}", files(&lab));
            assert!(!lab.fine(&["verify"]).contains("duplicate-id"));
            for (branch, id) in [(first, "INT-001"), (second, "INT-002")] {
                let line = first_line(&lab, &format!("{branch}/a.rs:2"));
                assert!(line.starts_with(id) && line.contains("IN_PROGRESS"), "{way}: {line}");
            }
            lab.commit();
            let line = first_line(&lab, &format!("{second}/a.rs:2"));
            assert!(line.starts_with("INT-002"), "{way}: {line}");
        }
    }
}

/// A name, and what the two branches make of the list.
type Conflict = (&'static str, fn(&str) -> String, fn(&str) -> String);

fn entry(id: &str, name: &str) -> String {
    format!("  - id: {id}\n    name: {name}\n    status: DRAFT\n    owned_scope: [\"{name}/**\"]\n")
}

const CONFLICTS: [Conflict; 5] = [
    (
        "both append",
        |it| it.to_owned() + &entry("INT-003", "maps"),
        |it| it.to_owned() + &entry("INT-004", "mail"),
    ),
    (
        "both edit one entry",
        |it| {
            it.replace("status: IN_PROGRESS", "status: BLOCKED")
                .replace("src/**", "src/**\", \"lib/**")
        },
        |it| it.replace("Sign in", "Log in").replace("src/**", "src/**\", \"app/**"),
    ),
    (
        "one edits, one removes",
        |it| it.replace("status: DRAFT", "status: BLOCKED"),
        |it| it.split("  - id: INT-002").next().unwrap_or_default().to_owned(),
    ),
    (
        "both take one number",
        |it| it.to_owned() + &entry("INT-003", "maps"),
        |it| it.to_owned() + &entry("INT-003", "mail"),
    ),
    (
        "markers inside an entry",
        |it| {
            it.to_owned()
                + &entry("INT-003", "maps").replace("DRAFT", "PENDING")
                + "    owner: \"@a\"\n"
        },
        |it| {
            it.to_owned()
                + &entry("INT-005", "mail").replace("DRAFT", "PENDING")
                + "    owner: \"@a\"\n"
        },
    ),
];

/// A list with two intents, and two branches that conflict in it. `ours` is checked out and `theirs` is to be merged.
fn conflicting((name, ours, theirs): Conflict) -> Lab {
    let lab = listed();
    let base = lab.read(LIST) + &entry("INT-002", "search");
    lab.write(LIST, &base);
    lab.commit();
    for (branch, change) in [("theirs", theirs), ("ours", ours)] {
        lab.run_git(&["switch", "-q", "-c", branch, "main"]);
        lab.write(LIST, change(&base));
        lab.commit();
    }
    assert!(lab.root.join(LIST).exists(), "{name}");
    lab
}

fn ends_sound(lab: &Lab, name: &str) {
    let text = lab.read(LIST);
    assert!(lab.fine(&["list"]).contains("INT-00"), "{name}: {text}");
    let wanted: &[&str] = match name {
        "both append" => &["INT-003", "maps/**", "INT-004", "mail/**"],
        "both edit one entry" => &["BLOCKED", "Log in", "lib/**", "app/**"],
        "one edits, one removes" => &["INT-002", "BLOCKED"],
        "both take one number" => {
            &["INT-003", "maps/**", "id: INT-004", "mail/**", "formerly: [\"INT-003\"]"]
        }
        _ => &["INT-003", "maps/**", "INT-005", "mail/**"],
    };
    for part in wanted.iter().chain(&["# Ours.", "# The first.", "# soon", "number: 7"]) {
        assert!(text.contains(part), "{name}: no {part} in {text}");
    }
    let told = lab.json(&["check"]).to_string();
    assert!(!told.contains("registry-syntax") && !told.contains("duplicate-id"), "{name}: {told}");
}

#[test]
#[ignore = "slow"]
fn the_advice_about_a_conflict_is_followed_literally() {
    for conflict in CONFLICTS {
        let lab = conflicting(conflict);
        assert!(!lab.try_git(&["merge", "-q", "--no-edit", "theirs"]), "{}", conflict.0);
        // The advice names a command, and its answer names the next one.
        let told = lab.json(&["check"]).to_string();
        let named = |text: &str| text.split('`').nth(1).expect("a command").to_owned();
        let at = told.find("`intent ").expect(conflict.0);
        let command = named(&told[at..]);
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let answer = lab.fine(&words);
        assert!(answer.contains("git add .orchestration/active_intents.yaml"), "{answer}");
        lab.run_git(&["add", LIST]);
        lab.run_git(&["commit", "-q", "--no-edit"]);
        ends_sound(&lab, conflict.0);
    }
}

/// Lets git merge the list with the program of the test, or with one that does not exist.
fn let_git_merge(lab: &Lab, program: &str) {
    lab.fine(&["setup", "merge-registry", "--install"]);
    let driver = lab.read_git(&["config", "merge.intent-registry.driver"]);
    let driver = driver.trim().replacen("intent", program, 1);
    lab.run_git(&["config", "merge.intent-registry.driver", &driver]);
}

#[test]
#[ignore = "slow"]
fn git_merges_a_list_by_itself_where_the_driver_is_installed() {
    for conflict in CONFLICTS {
        for rebases in [false, true] {
            let lab = conflicting(conflict);
            let_git_merge(&lab, env!("CARGO_BIN_EXE_intent"));
            lab.commit();
            let merged = match rebases {
                false => lab.try_git(&["merge", "-q", "--no-edit", "theirs"]),
                true => lab.try_git(&["rebase", "-q", "ours", "theirs"]),
            };
            assert!(merged, "{} {rebases}", conflict.0);
            if !rebases {
                ends_sound(&lab, conflict.0);
            }
            assert!(lab.fine(&["list"]).contains("INT-00"), "{} {rebases}", conflict.0);
        }
    }
}

/// The attribute is committed, so it also reaches clones without the program.
#[test]
#[ignore = "slow"]
fn git_merges_the_lines_of_a_list_where_the_program_is_missing() {
    let [append, edits, ..] = CONFLICTS;
    for program in ["no-such-program", ""] {
        let merge = |conflict: Conflict| {
            let lab = conflicting(conflict);
            let_git_merge(&lab, program);
            if program.is_empty() {
                lab.run_git(&["config", "--remove-section", "merge.intent-registry"]);
            }
            lab.commit();
            let merged = lab.try_git(&["merge", "-q", "--no-edit", "theirs"]);
            (merged, lab.read(LIST))
        };
        let (merged, text) = merge(append);
        assert!(!merged, "{program}");
        for part in ["<<<<<<<", "maps/**", "=======", "mail/**", ">>>>>>>"] {
            assert!(text.contains(part), "{program}: no {part} in {text}");
        }
        // Changes of different lines are merged.
        let (_, ours, _) = edits;
        let (merged, text) = merge(("changes of two intents", ours, append.2));
        assert!(merged && text.contains("BLOCKED") && text.contains("mail/**"), "{text}");
    }
}

#[test]
fn init_offers_to_let_git_merge_a_list() {
    let offered = |lab: &Lab| lab.json(&["init", "--no-agents"])["list"].clone();
    let lab = Lab::governed();
    lab.fine(&["new", "Login", "--scope", "src/**"]);
    assert!(offered(&lab).is_null(), "files do not conflict");
    let lab = listed();
    let told = offered(&lab).to_string();
    assert!(told.contains("`intent setup merge-registry --install`"), "{told}");
    lab.fine(&["setup", "merge-registry", "--install"]);
    assert!(offered(&lab).is_null());
    // What was put into git's settings can be taken back.
    let told = lab.fine(&["uninstall", "--dry-run"]);
    assert!(told.contains("merge.intent-registry"), "{told}");
    assert!(!lab.git_says(&["config", "merge.intent-registry.driver"]).is_empty());
    lab.fine(&["uninstall"]);
    assert!(lab.git_says(&["config", "merge.intent-registry.driver"]).is_empty());
}

#[test]
#[ignore = "slow"]
fn a_selection_belongs_to_the_branch_on_which_it_was_made() {
    let lab = Lab::governed();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.commit();
    lab.fine(&["select", "INT-001"]);
    lab.run_git(&["switch", "-q", "-c", "feature"]);
    let selected = || lab.json(&["status"])["selected"].to_string();
    assert!(selected().contains("INT-001"), "a new branch goes on: {}", selected());
    lab.fine(&["new", "Search", "--scope", "search/**", "--start"]);
    lab.fine(&["select", "INT-002"]);
    lab.commit();
    lab.run_git(&["switch", "-q", "main"]);
    assert!(selected().contains("INT-001"), "{}", selected());
    lab.fine(&["clear"]);
    assert!(!selected().contains("INT-"), "{}", selected());
    lab.run_git(&["switch", "-q", "feature"]);
    assert!(selected().contains("INT-002"), "{}", selected());
}
