//! The id and the file of a new intent, and what happens if two branches use one id.

use evidence::reassign::{ReassignTarget, reassign};
use ground::RelativePath;
use judgement::accept::{AcceptExtent, accept};
use ledger::Contributor;
use why::Workspace;

use crate::cli::lab::{Lab, transcript};

const LIST: &str = ".orchestration/active_intents.yaml";

/// `main` has INT-001, the branch `other` has INT-002, and `origin/far` had INT-003.
fn branched() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.fine(&["new", "Sign in", "--scope", "src/**", "--start"]);
        lab.commit();
        lab.run_git(&["switch", "-q", "-c", "other"]);
        lab.fine(&["new", "Billing", "--scope", "billing/**"]);
        lab.commit();
        lab.run_git(&["switch", "-q", "-c", "far"]);
        let renamed = "id: FAR-1\n    formerly: [INT-003]\n    name: Far";
        lab.write(LIST, lab.read(LIST).replace("id: INT-002\n    name: Billing", renamed));
        lab.commit();
        lab.run_git(&["update-ref", "refs/remotes/origin/far", "far"]);
        lab.run_git(&["switch", "-q", "main"]);
        lab.run_git(&["branch", "-q", "-D", "far"]);
        lab
    })
}

#[test]
#[ignore = "slow"]
fn an_id_that_any_branch_uses_is_taken() {
    let lab = branched();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "new Search",
            "new Billing --id INT-002 --scope elsewhere/**",
            "new Billing --id INT-003",
            "new Billing --id INT-001",
            // A merged intent keeps its id.
            "new Billing --id INT-002 --scope billing/**",
            "list",
        ]
    ));
}

#[test]
#[ignore = "slow"]
fn an_id_in_the_index_or_at_head_is_taken() {
    let lab = branched();
    let before = lab.read(LIST);
    lab.fine(&["new", "Search"]);
    lab.run_git(&["add", "-A"]);
    lab.write(LIST, &before);
    let refused = lab.intent(&["new", "Maps", "--id", "INT-004"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("the index has an intent INT-004 (\"Search\")"), "{told}");
    lab.write(LIST, "active_intents: []\n");
    assert!(lab.fine(&["new", "Maps"]).contains("INT-005"));
}

#[test]
fn with_a_folder_for_intents_each_new_one_gets_a_file() {
    let lab = Lab::governed();
    std::fs::create_dir(lab.root.join(".orchestration/intents")).expect("a folder");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "new Login --scope src/** --owner @ada --start",
            "new Search --id SEARCH.1 --criterion fast",
            "select INT-001",
            "complete INT-001",
            "list",
            "doctor",
        ]
    ));
    insta::assert_snapshot!(lab.read(".orchestration/intents/INT-001-login.yaml"));
    insta::assert_snapshot!(lab.read(".orchestration/intents/SEARCH.1-search.yaml"));
}

const HERS: &str = "fn one() {\n    call(\"hers\");\n}\n";
const HIS: &str = "fn one() {\n    call(\"his\");\n}\n";

/// The branches `ada` and `bob` have both created INT-001 and worked under it, Bob in two commits. `bob` is checked
/// out.
fn collided() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.write("a.rs", "fn one() {\n    call(\"p\");\n}\n");
        lab.write("b.rs", "fn one() {\n    call(\"q\");\n}\n");
        lab.commit();
        for (branch, name, path, text) in
            [("bob", "Bob feature", "b.rs", HIS), ("ada", "Ada feature", "a.rs", HERS)]
        {
            lab.run_git(&["switch", "-q", "-c", branch, "main"]);
            lab.fine(&["new", name, "--id", "INT-001", "--scope", path, "--start"]);
            lab.commit();
            lab.write(path, text);
            lab.fine(&["record", path, "--intent", "INT-001", "--agent", "claude-code"]);
            lab.commit();
            if branch == "bob" {
                // The branch is hidden, as if Bob worked on another machine.
                lab.run_git(&["update-ref", "refs/hidden", "bob"]);
                lab.run_git(&["switch", "-q", "main"]);
                lab.run_git(&["branch", "-q", "-D", "bob"]);
            }
        }
        lab.run_git(&["switch", "-q", "-c", "bob", "refs/hidden"]);
        lab
    })
}

fn intent(id: &str, name: &str, path: &str) -> String {
    format!(
        "  - id: {id}\n    name: {name}\n    status: IN_PROGRESS\n    owned_scope: [\"{path}\"]\n"
    )
}

/// Merges `ada` into `bob`, and resolves the conflict as the finding says: Ada's intent stays INT-001, and `bob` is the
/// new entry of Bob's intent.
fn settled(lab: &Lab, bob: &str) {
    assert!(!lab.try_git(&["merge", "-q", "ada"]));
    lab.write(LIST, format!("active_intents:\n{}{bob}", intent("INT-001", "Ada feature", "a.rs")));
}

fn first_line(lab: &Lab, place: &str) -> String {
    lab.fine(&["why", place]).lines().next().expect("a line").to_owned()
}

#[test]
fn with_an_unreadable_registry_records_show_their_own_names() {
    let lab = collided();
    assert!(!lab.try_git(&["merge", "-q", "ada"]));
    let asked = ["why a.rs:2", "why b.rs:2", "why b.rs", "check", "check --staged"];
    insta::assert_snapshot!(transcript(&lab, &asked));
    // A registry with a typing error has the same effect.
    lab.run_git(&["merge", "--abort"]);
    lab.write(LIST, lab.read(LIST) + "  : [\n");
    insta::assert_snapshot!(transcript(&lab, &["why b.rs:2"]));
    assert!(lab.fine(&["why", "b.rs", "--json"]).contains("\"version\":\"unread\""));
}

#[test]
#[ignore = "slow"]
fn two_intents_with_one_id_keep_their_code_apart() {
    let lab = collided();
    settled(&lab, &intent("INT-002", "Bob feature", "b.rs"));
    let asked = [
        "why b.rs:2",
        "why a.rs:2",
        "why b.rs",
        "list",
        "map --stdout",
        "context INT-001",
        "check",
    ];
    let before = transcript(&lab, &asked);
    lab.commit();
    insta::assert_snapshot!(transcript(&lab, &asked));
    let untimed = |text: &str| text.replace("[record]", "").replace("[time]", "");
    for line in untimed(&before).lines().filter(|line| line.starts_with("INT-00")) {
        assert!(untimed(&transcript(&lab, &asked)).contains(line), "{line}");
    }
    let report = lab.json(&["report"]);
    let counts: Vec<String> = report["intents"]
        .as_array()
        .expect("intents")
        .iter()
        .map(|one| format!("{} {}", one["id"].as_str().expect("an id"), one["files"]))
        .collect();
    assert_eq!(counts, ["INT-001 1", "INT-002 0", "INT-001 (Bob feature) 1"]);
    // Bob's code is not compared with the scope of Ada's intent.
    insta::assert_snapshot!(transcript(&lab, &["check --base ada"]));
}

#[test]
fn an_id_of_two_intents_is_explained_wherever_it_is_met() {
    let lab = Lab::governed();
    let write = |name: &str| {
        let text = format!(
            "id: INT-001\nname: {name}\nstatus: IN_PROGRESS\nowned_scope: [\"{name}/**\"]\n"
        );
        lab.write(&format!(".orchestration/intents/INT-001-{name}.yaml"), text);
    };
    write("one");
    lab.write("one/x.rs", "fn work() {\n    call();\n}\n");
    lab.fine(&["record", "one", "--intent", "INT-001", "--agent", "codex"]);
    write("two");
    let next = || lab.json(&["for", "one/x.rs"])[0]["next"].as_str().map(str::to_owned);
    let command = next().expect("a command");
    let told = |asked: &[&str]| String::from_utf8(lab.intent(asked).stdout).expect("UTF-8");
    let why = "The id INT-001 is defined at .orchestration/intents/INT-001-one.yaml:1 and at .orchestration/intents/INT-001-two.yaml:1, so nobody";
    for asked in [&["doctor"][..], &["status"], &["gate", "one/x.rs"]] {
        let answer = told(asked);
        assert!(answer.contains(why) && answer.contains(&command), "{asked:?}: {answer}");
    }
    assert!(told(&["why", "one/x.rs"]).contains("several intents have this id"));
    lab.fine(&command.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(next().as_deref(), Some("intent select INT-001"));
}

#[test]
#[ignore = "slow"]
fn the_suggested_reassignment_puts_the_code_right() {
    let lab = collided();
    settled(&lab, &intent("INT-002", "Bob feature", "b.rs"));
    lab.commit();
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let path = RelativePath::new("b.rs").expect("a path");
    let what = ReassignTarget::File(path);
    reassign(&ws, &what, ("INT-001", Some("INT-002")), Some("Bob".into())).expect("reassigned");
    assert_eq!(first_line(&lab, "b.rs:2"), "INT-002  Bob feature  IN_PROGRESS");
    assert_eq!(first_line(&lab, "a.rs:2"), "INT-001  Ada feature  IN_PROGRESS");
    assert!(!lab.fine(&["why", "b.rs"]).contains("note:"));
}

#[test]
#[ignore = "slow"]
fn reassigning_a_shared_file_moves_only_the_other_code() {
    let lab = collided();
    settled(&lab, &intent("INT-002", "Bob feature", "b.rs"));
    lab.write("b.rs", HIS.to_owned() + "\nfn hers() {\n    call(\"too\");\n}\n");
    // The file is out of the scope of Ada's intent, and the change is recorded all the same.
    lab.intent(&["record", "b.rs", "--intent", "INT-001", "--agent", "claude-code"]);
    lab.commit();
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let what = ReassignTarget::File(RelativePath::new("b.rs").expect("a path"));
    let told = reassign(&ws, &what, ("INT-001", Some("INT-002")), None).expect("reassigned");
    let names: Vec<_> = told.blocks.iter().filter_map(|block| block.name.as_deref()).collect();
    assert_eq!(names, ["one"]);
    assert_eq!(first_line(&lab, "b.rs:6"), "INT-001  Ada feature  IN_PROGRESS");
}

#[test]
#[ignore = "slow"]
fn a_reused_id_is_noticed_after_an_edit_or_a_squash() {
    // Bob's intent has another text now, so only the history shows what became of it.
    let lab = collided();
    settled(&lab, &intent("INT-009", "Bob's feature", "**"));
    lab.commit();
    let told = "INT-001  Bob feature  another intent has this id now: Ada feature";
    assert_eq!(first_line(&lab, "b.rs:2"), told);
    let all = lab.fine(&["why", "b.rs"]);
    assert!(all.contains("intent evidence reassign b.rs --from INT-001 --to ID"), "{all}");
    // Bob's branch is squashed onto Ada's, so no commit in this history has his registry.
    let lab = collided();
    lab.run_git(&["switch", "-q", "ada"]);
    assert!(!lab.try_git(&["merge", "-q", "--squash", "bob"]));
    let both = [intent("INT-001", "Ada feature", "a.rs"), intent("INT-002", "Bob feature", "b.rs")];
    lab.write(LIST, format!("active_intents:\n{}", both.concat()));
    lab.commit();
    assert_eq!(first_line(&lab, "b.rs:2"), told);
    // Bob's record is not committed when Ada's branch is merged.
    let lab = collided();
    lab.write("c.rs", HIS);
    lab.intent(&["record", "c.rs", "--intent", "INT-001", "--agent", "claude-code"]);
    settled(&lab, &intent("INT-002", "Bob feature", "*.rs"));
    assert_eq!(first_line(&lab, "c.rs:2"), told);
    lab.commit();
    assert_eq!(first_line(&lab, "c.rs:2"), told);
}

#[test]
#[ignore = "slow"]
fn an_id_that_was_removed_and_used_again_means_another_intent() {
    let lab = collided();
    lab.run_git(&["branch", "-q", "-D", "ada"]);
    lab.write(LIST, "active_intents: []\n");
    lab.commit();
    assert_eq!(first_line(&lab, "b.rs:2"), "INT-001  Bob feature  not in the registry");
    lab.fine(&["new", "Another", "--id", "INT-001", "--scope", "**", "--start"]);
    let told = "INT-001  Bob feature  another intent has this id now: Another";
    assert_eq!(first_line(&lab, "b.rs:2"), told);
    lab.commit();
    assert_eq!(first_line(&lab, "b.rs:2"), told);
    assert!(lab.fine(&["list", "--count"]).contains("nothing yet"));
}

#[test]
#[ignore = "slow"]
fn an_intent_with_a_changed_name_is_still_the_same() {
    let lab = collided();
    let then = lab.read(LIST);
    let is_itself = |lab: &Lab, name: &str| {
        let told = first_line(lab, "b.rs:2");
        assert_eq!(
            told,
            format!("INT-001  Bob feature  INT-001 is called {name} now  IN_PROGRESS")
        );
        assert!(lab.fine(&["list", "--count"]).contains(" in 1 file"));
    };
    // The name is changed by hand before and after the commit, then the scope, then the name again.
    lab.write(LIST, then.replace("Bob feature", "Sign in"));
    is_itself(&lab, "Sign in");
    lab.commit();
    is_itself(&lab, "Sign in");
    lab.write(LIST, lab.read(LIST).replace("b.rs", "*.rs"));
    lab.commit();
    lab.write(LIST, lab.read(LIST).replace("Sign in", "Log in"));
    lab.commit();
    is_itself(&lab, "Log in");
    // The scope is changed on one side of a merge, and the name on the other.
    lab.run_git(&["switch", "-q", "-c", "side", "HEAD~1"]);
    lab.write(LIST, lab.read(LIST).replace("*.rs", "**"));
    lab.commit();
    lab.run_git(&["switch", "-q", "bob"]);
    lab.run_git(&["merge", "-q", "--no-edit", "side"]);
    is_itself(&lab, "Log in");
}

#[test]
#[ignore = "slow"]
fn accepting_an_edit_does_not_give_it_to_the_other_intent() {
    let lab = collided();
    settled(&lab, &intent("INT-002", "Bob feature", "b.rs"));
    lab.commit();
    lab.write("b.rs", HIS.replace("his", "his own"));
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let path = RelativePath::new("b.rs").expect("a path");
    accept(&ws, &path, AcceptExtent::Differing, &Contributor::default()).expect("accepted");
    lab.commit();
    // Whoever accepts the edit does not say who wrote it.
    assert_eq!(first_line(&lab, "b.rs:2"), "no intent is known");
    let block = &lab.json(&["why", "b.rs"])["blocks"][0];
    assert_eq!(block["intent"], serde_json::Value::Null, "{block}");
}

/// Two clones gave one id to two intents, and the other one keeps it after a merge.
#[test]
fn a_selection_is_of_the_intent_that_was_selected() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Sign in", "--scope", "src/**", "--start"]);
    lab.commit();
    lab.fine(&["select", "INT-001"]);
    let selected = || lab.json(&["status"])["selected"]["id"].as_str().map(str::to_owned);
    assert_eq!(selected().as_deref(), Some("INT-001"));
    let mine = lab.read(LIST);
    // A new name makes no other intent.
    lab.write(LIST, mine.replace("name: Sign in", "name: Log in"));
    assert_eq!(selected().as_deref(), Some("INT-001"));
    let bill = mine.replace("name: Sign in", "name: Bill");
    let entry = mine.split_once("intents:\n").expect("a list").1;
    let renumbered = entry.replace("id: INT-001", "id: INT-002\n    formerly: [INT-001]");
    lab.write(LIST, format!("{bill}{renumbered}"));
    assert_eq!(selected().as_deref(), Some("INT-002"), "{}", lab.read(LIST));
}
