//! Code that somebody moves, or whose file somebody renames, keeps its intent before the commit as it does after it.

use crate::cli::lab::Lab;
use crate::support::Repo;
use crate::support::binary::{function, intent, recorded, why};

const A: &str = "src/a.rs";
const B: &str = "src/b.rs";

/// A repository in which INT-001 brought three functions. They are committed if `committed` is true.
fn three_functions(committed: bool) -> Repo {
    let repo = Repo::new();
    if committed {
        repo.write(A, &(function("one", 1) + &function("two", 2) + &function("three", 3)));
    } else {
        repo.write(A, "");
        repo.commit("start");
        repo.write(A, &(function("one", 1) + &function("two", 2) + &function("three", 3)));
    }
    recorded(&repo, "INT-001", A);
    if committed {
        repo.commit("three functions");
    }
    repo
}

/// Returns `why` for a file as it is, after somebody has recorded it under INT-002, and after a commit.
fn before_and_after(repo: &Repo, path: &str) -> [String; 3] {
    let before = why(repo, path);
    recorded(repo, "INT-002", "src");
    let then = why(repo, path);
    repo.commit("moved");
    [before, then, why(repo, path)]
}

#[test]
fn a_function_that_is_moved_in_its_file_keeps_its_intent() {
    for committed in [true, false] {
        let repo = three_functions(committed);
        repo.write(A, &(function("three", 3) + &function("one", 1) + &function("two", 2)));
        let expected = "exact INT-001 three\nexact INT-001 one\nexact INT-001 two\n";
        assert_eq!(before_and_after(&repo, A), [expected; 3], "committed: {committed}");
    }
}

#[test]
fn a_function_that_is_moved_to_another_file_keeps_its_intent() {
    for committed in [true, false] {
        let repo = three_functions(committed);
        repo.write(A, &(function("one", 1) + &function("three", 3)));
        repo.write(B, &(function("other", 9) + &function("two", 2)));
        let before = why(&repo, B);
        assert_eq!(before, "unrecorded - other\nmoved INT-001 two\n", "committed: {committed}");
        let expected = "exact INT-002 other\nmoved INT-001 two\n";
        let [_, then, after] = before_and_after(&repo, B);
        assert_eq!([then, after], [expected; 2], "committed: {committed}");
    }
}

#[test]
fn a_copy_that_was_made_before_a_commit_is_no_move() {
    for committed in [true, false] {
        let repo = three_functions(committed);
        repo.write(B, &function("two", 2));
        assert_eq!(why(&repo, B), "unrecorded - two\n", "committed: {committed}");
        recorded(&repo, "INT-002", B);
        assert_eq!(why(&repo, B), "exact INT-002 two\n", "committed: {committed}");
    }
}

#[test]
fn a_file_that_is_renamed_before_a_commit_keeps_its_intents() {
    for committed in [true, false] {
        let repo = three_functions(committed);
        repo.remove(A);
        let edited = function("two", 2).replace("work(", "do_work(");
        repo.write(B, &(function("one", 1) + &edited + &function("three", 3)));
        let expected = "moved INT-001 one\nmodified INT-001 two\nmoved INT-001 three\n";
        assert_eq!(why(&repo, B), expected, "committed: {committed}");
        let expected = "moved INT-001 one\nexact INT-001 two\nmoved INT-001 three\n";
        let [_, then, after] = before_and_after(&repo, B);
        assert_eq!([then, after], [expected; 2], "committed: {committed}");
        let answer = intent(&repo, &["why", "--json", "src/b.rs:11"]).json();
        assert_eq!(answer["line"]["intent"]["id"], "INT-002", "{answer}");
        assert_eq!(answer["blocks"][0]["brought"]["lines"], 3, "{answer}");
        assert_eq!(answer["blocks"][0]["brought"]["of"], 4, "{answer}");
    }
}

#[test]
fn a_line_that_is_edited_after_a_move_is_its_writers() {
    let repo = three_functions(true);
    let moved = |two: &str| function("one", 1) + &function("three", 3) + two;
    repo.write(A, &moved(&function("two", 2)));
    repo.commit("moved");
    repo.write(A, &moved(&function("two", 2).replace("work(", "do_work(")));
    let edited = "exact INT-001 one\nexact INT-001 three\nmodified INT-001 two\n";
    assert_eq!(why(&repo, A), edited);
    let place = "src/a.rs:18";
    let answer = intent(&repo, &["why", "--json", place]).json();
    let block = &answer["blocks"][0];
    assert_eq!((&answer["line"]["state"], &block["newer"]), (&"unrecorded".into(), &1.into()));
    assert_eq!(block["shares"][1]["uncommitted"], true, "{block}");
    recorded(&repo, "INT-002", A);
    for commit in [false, true] {
        if commit {
            repo.commit("edited");
        }
        let answer = intent(&repo, &["why", "--json", place]).json();
        let block = &answer["blocks"][0];
        assert_eq!(answer["line"]["intent"]["id"], "INT-002", "{answer}");
        assert_eq!(block["intent"]["id"], "INT-001", "{answer}");
        assert_eq!(block["brought"]["lines"], 3, "{answer}");
        assert_eq!(block["brought"]["of"], 4, "{answer}");
    }
}

#[test]
fn lines_of_nobody_say_whether_they_are_committed() {
    let repo = Repo::new();
    repo.write(A, &function("one", 1));
    repo.commit("somebody's");
    repo.write(A, &(function("one", 1) + &function("two", 2)));
    let said = |line: &str| intent(&repo, &["why", &format!("{A}:{line}")]).out;
    assert!(said("2").contains(", just now: somebody's"), "{}", said("2"));
    assert!(said("10").contains("4 lines not committed"), "{}", said("10"));
}

#[test]
fn the_evidence_of_a_commit_names_what_was_moved_before_it() {
    let lab = Lab::governed();
    lab.fine(&["new", "Sign in", "--scope", "src/**", "--start"]);
    lab.write(A, function("zero", 0));
    lab.write(B, function("other", 9));
    lab.commit();
    lab.write(A, function("zero", 0) + &function("one", 1));
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex"]);
    // Moved by a person: one to a file that no record names, and then it is committed.
    lab.write(A, function("zero", 0));
    lab.write(B, function("one", 1) + &function("other", 9));
    lab.commit();
    // Only the evidence is left.
    std::fs::remove_dir_all(lab.root.join(".git/intent")).expect("removed");
    let answer = lab.json(&["why", B]);
    let blocks = answer["blocks"].as_array().expect("blocks").iter();
    let named: Vec<_> = blocks.map(|block| (&block["name"], &block["intent"]["id"])).collect();
    let none = serde_json::Value::Null;
    assert_eq!(named, [(&"one".into(), &"INT-001".into()), (&"other".into(), &none)], "{answer}");
}
