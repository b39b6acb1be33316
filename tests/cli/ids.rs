//! Which id a new intent gets, and in which file it is written.

use crate::lab::{Lab, transcript};

const LIST: &str = ".orchestration/active_intents.yaml";

/// On `main` with INT-001; INT-002 is on the branch `other`, INT-003 was one on `origin/far`.
fn branched() -> Lab {
    let lab = Lab::governed();
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
}

#[test]
fn an_id_that_any_branch_uses_is_not_free() {
    let lab = branched();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "new Search",
            "new Billing --id INT-002 --scope elsewhere/**",
            "new Billing --id INT-003",
            "new Billing --id INT-001",
            // The same intent comes back under its id.
            "new Billing --id INT-002 --scope billing/**",
            "list",
        ]
    ));
}

#[test]
fn an_id_in_the_index_or_at_the_head_is_not_free() {
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
fn where_there_is_a_folder_for_them_each_new_intent_gets_a_file() {
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
    insta::assert_snapshot!(lab.read(".orchestration/intents/INT-001.yaml"));
    insta::assert_snapshot!(lab.read(".orchestration/intents/SEARCH.1.yaml"));
}
