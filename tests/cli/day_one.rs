//! A repository that never used the product: what git, the commits and the intents that a team keeps
//! in another format say of its lines.

use serde_json::Value;

use super::lab::Lab;

const PROPOSAL: &str = "# Change: Save links\n\n## Why\nLinks get lost.\n\n## What Changes\n- Add a list.\n\n## Impact\n- Affected code: `src/links.rs`\n";
const TASKS: &str = "## 1. Store\n- [x] 1.1 Add `src/links.rs`\n- [ ] 1.2 Save it\n";
const DELTA: &str = "## ADDED Requirements\n### Requirement: A saved list\nThe list SHALL be saved.\n#### Scenario: Save\n- **WHEN** a link is added\n- **THEN** it is saved\n";

/// A repository whose commits stand for the ways in which a commit can be about an intent.
struct Untouched {
    lab: Lab,
}

impl Untouched {
    fn new() -> Self {
        let lab = Lab::git();
        lab.write("openspec/config.yaml", "schema: spec-driven\n");
        lab.write("src/first.rs", "fn first() {\n    begin();\n}\n");
        let this = Self { lab };
        this.change("imported-first");
        this.commit("Import everything");
        this
    }

    /// Writes a change of OpenSpec.
    fn change(&self, name: &str) {
        let folder = format!("openspec/changes/{name}");
        self.lab.write(&format!("{folder}/proposal.md"), PROPOSAL);
        self.lab.write(&format!("{folder}/tasks.md"), TASKS);
        self.lab.write(&format!("{folder}/specs/links/spec.md"), DELTA);
    }

    fn code(&self, name: &str) {
        self.lab
            .write(&format!("src/{name}.rs"), format!("fn {name}() {{\n    of_{name}();\n}}\n"));
    }

    fn commit(&self, message: &str) {
        self.lab.run_git(&["add", "-A"]);
        self.lab.run_git(&["commit", "-q", "-m", message]);
    }

    /// Returns what is known of the only block of a file.
    fn origin(&self, name: &str) -> Value {
        let answer = self.lab.json(&["why", &format!("src/{name}.rs:2")]);
        assert_eq!(answer["blocks"][0]["verdict"], "unrecorded");
        assert_eq!(answer["line"]["origin"], answer["blocks"][0]["origin"]);
        answer["blocks"][0]["origin"].clone()
    }

    /// Returns how the intent of a file's commit is known, and its id or those of the candidates.
    fn known(&self, name: &str) -> (String, Vec<String>) {
        let origin = self.origin(name);
        let id = |intent: &Value| intent["id"].as_str().expect("an id").to_owned();
        let several = origin["candidates"].as_array().into_iter().flatten();
        let one = origin.get("intent").into_iter();
        let word = origin["known_by"].as_str().expect("a word").to_owned();
        (word, one.chain(several).map(id).collect())
    }
}

fn known(word: &str, ids: &[&str]) -> (String, Vec<String>) {
    (word.to_owned(), ids.iter().map(|id| format!("openspec:{id}")).collect())
}

#[test]
#[ignore = "slow"]
fn the_intent_of_a_commit_is_named_or_inferred_or_left_open() {
    let at = Untouched::new();
    assert_eq!(at.known("first"), known("git", &[]), "the first commit is about no intent");

    at.change("save-links");
    at.code("touching");
    at.commit("Add the store (#12)\n\nCo-authored-by: Claude Opus 4.6 <noreply@anthropic.com>\n");
    at.code("named");
    at.change("other-links");
    at.commit("imported-first: a subject is right against the files");
    at.code("several");
    at.lab.write("openspec/changes/save-links/tasks.md", format!("{TASKS}- [ ] 1.3 More\n"));
    at.lab.write("openspec/changes/other-links/tasks.md", format!("{TASKS}- [ ] 1.3 More\n"));
    at.commit("Tick boxes");
    at.code("subject");
    at.commit("Mend what save-links left");
    at.code("prose");
    at.commit("Mend more\n\nWords like save-links may be prose.");
    at.code("swept");
    at.lab.run_git(&["mv", "openspec/changes/save-links", "openspec/changes/2026-01-02-x"]);
    std::fs::create_dir_all(at.lab.root.join("openspec/changes/archive")).expect("a folder");
    at.lab.run_git(&[
        "mv",
        "openspec/changes/2026-01-02-x",
        "openspec/changes/archive/2026-01-02-save-links",
    ]);
    at.commit("Archive a change");
    at.lab.run_git(&["checkout", "-q", "-b", "feature/other-links", "HEAD~1"]);
    at.code("branch");
    at.commit("Work on a branch");
    at.lab.run_git(&["checkout", "-q", "main"]);
    at.lab.run_git(&["merge", "-q", "--no-ff", "--no-edit", "feature/other-links"]);

    assert_eq!(at.known("touching"), known("inferred", &["save-links"]));
    assert_eq!(at.known("named"), known("commit_says", &["imported-first"]));
    assert_eq!(at.known("several"), known("inferred", &["other-links", "save-links"]));
    assert_eq!(at.known("subject"), known("commit_says", &["save-links"]));
    assert_eq!(at.known("prose"), known("git", &[]));
    assert_eq!(at.known("swept"), known("git", &[]), "a rename says nothing about code");
    assert_eq!(at.known("branch"), known("inferred", &["other-links"]));

    let origin = at.origin("touching");
    assert_eq!(origin["commit"]["references"], serde_json::json!(["#12"]));
    assert_eq!(origin["commit"]["agents"][0]["model"], "Claude Opus 4.6");
    assert_eq!(origin["intent"]["name"], "Save links");
    let said = at.lab.fine(&["why", "src/touching.rs:2"]);
    for part in [
        "openspec:save-links  Save links",
        "inferred from the commit",
        "git ",
        ": Add the store (#12)\n",
        "says      with Claude Opus 4.6\n",
        "record    none\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // A trailer is about the commit.
    assert!(!said.contains("by Claude") && !said.contains("written"), "{said}");
    let list = at.lab.fine(&["why", "src/touching.rs"]);
    assert!(list.contains("inferred") && list.contains("openspec:save-links"), "{list}");

    // Nothing was written into the work tree.
    assert_eq!(at.lab.read_git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn a_repository_without_any_intents_shows_what_git_has() {
    let lab = Lab::git();
    lab.write("src/a.rs", "fn a() {\n    one();\n}\n");
    lab.commit();
    lab.write("src/a.rs", "fn a() {\n    one();\n}\n\nfn new() {\n    two();\n}\n");
    let origin = lab.json(&["why", "src/a.rs:1"])["blocks"][0]["origin"].clone();
    assert_eq!(origin["known_by"], "git");
    assert_eq!(origin["commit"]["id"], lab.read_git(&["rev-parse", "HEAD"]).trim());
    let new = lab.json(&["why", "src/a.rs:6"]);
    assert_eq!(new["blocks"][0].get("origin"), None);
    assert_eq!(new["line"]["uncommitted"], true);
    let folder = lab.fine(&["why", "src"]);
    assert!(folder.contains("a.rs"), "{folder}");
    assert_eq!(lab.read_git(&["status", "--porcelain", "--ignored"]).trim(), "M src/a.rs");
}
