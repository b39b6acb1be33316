//! A block is lost if it was recorded, no record says that it was deleted, and no block of the work tree continues it.

use crate::support::Repo;
use crate::support::binary::function;
use code::fingerprint::content_hash;
use evidence::record::RecordExtent;
use evidence::verify::{BlocksAnswer, verify_blocks};
use ledger::{Record, Writer};

fn verified(repo: &Repo) -> BlocksAnswer {
    verify_blocks(&repo.open()).blocks.expect("they were asked for")
}

/// Returns `path kind name` of each lost block.
fn lost(repo: &Repo) -> Vec<String> {
    let lost = verified(repo).lost.into_iter();
    lost.map(|block| format!("{} {} {}", block.path, block.kind, block.name)).collect()
}

fn functions(names: &[&str]) -> String {
    names.iter().map(|name| function(name, 1)).collect()
}

/// A repository with a file that is recorded and committed.
fn repo_with(path: &str, text: &str) -> Repo {
    let repo = Repo::new();
    repo.write(path, text);
    repo.record("INT-001", &[path]);
    repo.commit("one");
    repo
}

const NO_LOSS: [&str; 0] = [];

#[test]
fn a_missing_block_is_lost_until_its_deletion_is_recorded() {
    let repo = repo_with("src/a.rs", &functions(&["a", "b", "c"]));
    assert_eq!(lost(&repo), NO_LOSS);
    repo.write("src/a.rs", &functions(&["a", "c"]));
    assert_eq!(lost(&repo), ["src/a.rs function b"]);
    repo.record("INT-001", &["src/a.rs"]);
    assert_eq!(lost(&repo), NO_LOSS);
    repo.commit("two");
    repo.remove("src/a.rs");
    assert_eq!(lost(&repo), ["src/a.rs function a", "src/a.rs function c"]);
    repo.record("INT-001", &["src/a.rs"]);
    assert_eq!(lost(&repo), NO_LOSS);
}

#[test]
fn a_renamed_file_loses_no_block_without_a_new_record() {
    let text = format!("//! What it is for.\n\nuse std::fmt;\n\n{}", functions(&["a", "b", "c"]));
    let repo = repo_with("src/old.rs", &text);
    repo.git(&["mv", "src/old.rs", "src/new.rs"]);
    assert_eq!(lost(&repo), NO_LOSS);
    repo.commit("moved");
    assert_eq!(lost(&repo), NO_LOSS);
    assert!(verified(&repo).blocks.moved >= 3, "{:?}", verified(&repo).blocks);
    repo.write("src/new.rs", &functions(&["a", "b", "c"]));
    assert_eq!(lost(&repo), ["src/old.rs region before a"]);
}

#[test]
fn a_renamed_plain_text_loses_no_paragraph() {
    let text = "First of all, one thing, and all that is to be said of that one thing.\n\nThen another.\n\nAnd at last a third thing.\n";
    let repo = repo_with("src/notes.txt", text);
    repo.git(&["mv", "src/notes.txt", "src/remarks.txt"]);
    repo.commit("moved");
    assert_eq!(lost(&repo), NO_LOSS);
    repo.write("src/remarks.txt", &text.replace("And at last a third thing.\n", ""));
    assert_eq!(lost(&repo).len(), 1);
}

#[test]
fn a_block_that_was_recorded_in_another_file_is_not_lost() {
    let repo = repo_with("src/a.rs", &functions(&["a", "b", "c", "gone"]));
    repo.remove("src/a.rs");
    repo.write("src/a/first.rs", &function("a", 2));
    repo.write("src/a/second.rs", &functions(&["b", "c"]).replace("work(", "do_work("));
    repo.commit("split, by somebody who recorded nothing");
    repo.record_as("INT-002", &["src/a/first.rs", "src/a/second.rs"], RecordExtent::WholeFile);
    repo.commit("recorded");
    assert_eq!(lost(&repo), ["src/a.rs function gone"]);
    // A second record of the new file, so that its last record does not name the old file.
    repo.write("src/a/first.rs", &function("a", 3));
    repo.record("INT-002", &["src/a/first.rs"]);
    assert_eq!(lost(&repo), ["src/a.rs function gone"]);
}

#[test]
fn a_recorded_twin_does_not_continue_a_deleted_block() {
    let repo = Repo::new();
    repo.write("src/twin.rs", &function("a", 1));
    repo.write("src/a.rs", &functions(&["a", "b"]));
    repo.commit("start");
    repo.record_as("INT-001", &["src/a.rs"], RecordExtent::WholeFile);
    repo.record_as("INT-002", &["src/twin.rs"], RecordExtent::WholeFile);
    repo.write("src/a.rs", &function("b", 1));
    assert_eq!(lost(&repo), ["src/a.rs function a"]);
}

#[test]
fn an_unnamed_block_is_lost_if_it_occurs_less_often() {
    let test = |name: &str| format!("mark!();\n{}", function(name, 1));
    let repo = repo_with("src/a.rs", &(test("a") + &test("b") + &test("c")));
    repo.remove("src/a.rs");
    repo.write("src/b.rs", &(test("a") + &test("b")));
    repo.commit("moved");
    repo.record_as("INT-001", &["src/b.rs"], RecordExtent::WholeFile);
    assert_eq!(lost(&repo), ["src/a.rs region before c", "src/a.rs function c"]);
}

#[test]
fn deleting_an_unnamed_block_is_recorded_after_a_rename() {
    let text = format!("use std::fmt;\n\n{}", functions(&["a", "b"]));
    let repo = repo_with("src/a.rs", &text);
    repo.write("src/a.rs", &text.replace("fn a()", "fn renamed()"));
    repo.record("INT-001", &["src/a.rs"]);
    repo.commit("renamed");
    repo.remove("src/a.rs");
    repo.record("INT-001", &["src/a.rs"]);
    assert_eq!(lost(&repo), NO_LOSS);
}

#[test]
fn a_container_with_changes_only_inside_counts_as_such() {
    let text = "impl A {\n    fn one(&self) -> u32 {\n        1\n    }\n    fn two(&self) -> u32 {\n        2\n    }\n}\n";
    let repo = repo_with("src/a.rs", text);
    repo.write("src/a.rs", &text.replace("        1\n", "        3\n"));
    let blocks = verified(&repo).blocks;
    assert_eq!((blocks.inside, blocks.modified, blocks.exact), (1, 1, 1));
    repo.record("INT-001", &["src/a.rs"]);
    let blocks = verified(&repo).blocks;
    assert_eq!((blocks.inside, blocks.modified, blocks.exact), (1, 0, 2));
}

/// The record was written by a version that did not know the language, so its block was a paragraph.
#[test]
fn a_text_that_has_other_blocks_now_is_not_lost() {
    let cut = "print(1)\nlocal function f()\n  return 2\nend";
    let recorded = |text: &str| {
        let repo = Repo::new();
        repo.write("src/a.lua", &format!("-- new above\n\n{cut}\n\nprint(3)\n"));
        let record = serde_json::json!({
            "id": "01a20000-0000-7000-8000-000000000001",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "kind": "mutation",
            "intent_id": "INT-001",
            "files": [{"relative_path": "src/a.lua", "conversations": [{
                "url": "test:1",
                "contributor": {"entity_type": "AI"},
                "ranges": [{
                    "start_line": 1, "end_line": 4, "content_hash": content_hash(text),
                    "block": {"kind": "paragraph", "path": "print(1)"},
                }],
            }]}],
        });
        let record: Record = serde_json::from_value(record).expect("a record");
        let ws = repo.open();
        Writer::new(&ws.root, &ws.policy).append(record).expect("appended");
        repo
    };
    assert_eq!(lost(&recorded(cut)), NO_LOSS);
    let other = recorded(&cut.replace('2', "44"));
    assert_eq!(lost(&other), ["src/a.lua paragraph print(1)"]);
}

#[test]
fn a_block_that_was_recorded_with_a_new_signature_is_not_lost() {
    let text = function("kept", 1);
    let repo = repo_with("src/a.rs", &text);
    repo.write("src/a.rs", &text.replace("fn kept()", "fn kept(more: &[u32])"));
    repo.commit("two, recorded by nobody");
    repo.record_as("INT-001", &["src/a.rs"], RecordExtent::WholeFile);
    assert_eq!(lost(&repo), NO_LOSS);
}
