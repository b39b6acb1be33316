//! The counts of `intent list` after each change. The blocks of texts are cached between processes, and no answer may
//! depend on the cache.

use super::lab::Lab;

const REGISTRY: &str = ".orchestration/active_intents.yaml";
const ID: &str = "- id: INT-001\n";
const ONE: &str = "fn login() {\n    check();\n}\n";
const TWO: &str = "fn login() {\n    check();\n}\n\nfn logout() {\n    drop();\n}\n";

/// A repository in which two functions were recorded under INT-001 and committed.
fn recorded() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.commit();
        lab.write("src/auth.rs", TWO);
        lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
        lab.commit();
        lab
    })
}

/// Returns the id of each intent with its numbers of blocks and files. Runs the command twice, so that the second
/// answer comes from the cache.
fn counts(lab: &Lab) -> Vec<(String, u64, u64)> {
    let ask = || -> Vec<_> {
        let list = lab.json(&["list", "--count"]);
        let count = |intent: &serde_json::Value, of: &str| intent[of].as_u64().expect("a number");
        let intents = list.as_array().expect("a list").iter();
        intents
            .map(|it| {
                let id = it["id"].as_str().expect("an id").to_owned();
                (id, count(it, "blocks"), count(it, "files"))
            })
            .collect()
    };
    let first = ask();
    assert_eq!(ask(), first, "the second answer");
    first
}

fn one(id: &str, blocks: u64, files: u64) -> Vec<(String, u64, u64)> {
    vec![(id.to_owned(), blocks, files)]
}

#[test]
fn a_list_without_counts_says_how_to_get_them() {
    const HINT: &str = "`intent list --count` adds what each has produced";
    let lab = Lab::governed();
    assert!(!lab.fine(&["list"]).contains(HINT));
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    // There is nothing to count yet.
    assert!(!lab.fine(&["list"]).contains(HINT));
    lab.commit();
    lab.write("src/auth.rs", TWO);
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
    for in_commit in [false, true] {
        // With its evidence in a commit, nothing of it is in the journal.
        if in_commit {
            lab.commit();
        }
        assert!(lab.fine(&["list"]).ends_with(&format!("hint: {HINT}\n")));
        assert!(!lab.fine(&["--json", "list"]).contains("hint"));
    }
    assert!(!lab.fine(&["list", "--count"]).contains(HINT));
}

#[test]
fn a_list_shows_what_was_counted_last() {
    let lab = recorded();
    let of_first = |arguments: &[&str]| {
        let list = lab.json(arguments);
        (list[0]["lines"].as_u64(), list[0]["counted_at"].as_str().map(str::to_owned))
    };
    assert_eq!(of_first(&["list"]), (None, None));
    let (counted, counted_at) = of_first(&["list", "--count"]);
    assert_eq!((counted.is_some_and(|lines| lines > 0), counted_at), (true, None));
    let commit = lab.git_says(&["rev-parse", "HEAD"]).trim().to_owned();
    // Later work is not counted, and the answer says which commit it is about.
    lab.write("src/auth.rs", ONE);
    lab.commit();
    assert_eq!(of_first(&["list"]), (counted, Some(commit.clone())));
    let hint = format!("counted at commit {}; `intent list --count` counts again", &commit[..10]);
    assert!(lab.fine(&["list"]).ends_with(&format!("hint: {hint}\n")));
}

#[test]
#[ignore = "slow"]
fn a_second_list_sees_a_change_of_the_file() {
    let lab = recorded();
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    lab.write("src/auth.rs", ONE);
    assert_eq!(counts(&lab), one("INT-001", 1, 1));
    lab.write("src/auth.rs", TWO);
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    // A generated file is one block.
    lab.write(".gitattributes", "src/auth.rs linguist-generated\n");
    assert_eq!(counts(&lab), one("INT-001", 1, 1));
    std::fs::remove_file(lab.root.join(".gitattributes")).expect("removed");
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    // The records follow the renamed file.
    std::fs::rename(lab.root.join("src/auth.rs"), lab.root.join("src/login.rs")).expect("renamed");
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    std::fs::remove_file(lab.root.join("src/login.rs")).expect("removed");
    assert_eq!(counts(&lab), one("INT-001", 0, 0));
}

#[test]
#[ignore = "slow"]
fn a_second_list_sees_a_change_of_the_ledger() {
    let lab = recorded();
    lab.write("src/page.rs", "fn page() {\n    show();\n}\n");
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    lab.fine(&["record", "src/page.rs", "--intent", "INT-001", "--agent", "claude-code"]);
    assert_eq!(counts(&lab), one("INT-001", 3, 2));
    lab.commit();
    assert_eq!(counts(&lab), one("INT-001", 3, 2));
    // Without evidence and journal there are no records.
    std::fs::remove_dir_all(lab.root.join(".orchestration/agent_trace")).expect("removed");
    std::fs::remove_dir_all(lab.root.join(".git/intent/open")).expect("removed");
    assert_eq!(counts(&lab), one("INT-001", 0, 0));
}

#[test]
fn a_second_list_sees_a_change_of_the_registry() {
    let lab = recorded();
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    let registry = lab.read(REGISTRY);
    let renamed = registry.replace(ID, "- id: INT-009\n    formerly: [INT-001]\n");
    assert_ne!(renamed, registry);
    lab.write(REGISTRY, renamed);
    assert_eq!(counts(&lab), one("INT-009", 2, 1));
    // Another intent has this id, and the former one is not in the registry.
    lab.write(REGISTRY, registry.replace(ID, "- id: INT-009\n"));
    assert_eq!(counts(&lab), one("INT-009", 0, 0));
    lab.write(REGISTRY, registry);
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
}

#[test]
fn a_trace_says_what_was_deleted() {
    let lab = recorded();
    lab.write("src/auth.rs", ONE);
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
    for committed in [false, true] {
        if committed {
            lab.commit();
        }
        let told = lab.fine(&["trace", "src/auth.rs"]);
        assert!(told.contains("src/auth.rs (1 block deleted)"), "committed: {committed}: {told}");
    }
}
