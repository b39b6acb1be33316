//! `verify --blocks` counts the blocks of all files that have recorded lines.

use crate::support::Repo;
use crate::support::binary::function;
use evidence::verify::{VerdictCounts, verify_blocks};

fn verified(repo: &Repo) -> VerdictCounts {
    verify_blocks(&repo.open()).blocks.expect("they were asked for")
}

fn total(counts: &VerdictCounts) -> u64 {
    let counts = serde_json::to_value(counts).expect("plain data");
    let counts = counts.as_object().expect("a count for each verdict").values();
    counts.filter_map(serde_json::Value::as_u64).sum()
}

/// A repository with a file that is recorded and committed.
fn repo_with(path: &str, text: &str) -> Repo {
    let repo = Repo::new();
    repo.write(path, text);
    repo.record("INT-001", &[path]);
    repo.commit("one");
    repo
}

#[test]
fn the_blocks_of_a_renamed_file_are_counted_where_they_are() {
    let functions: String = ["a", "b", "c"].iter().map(|name| function(name, 1)).collect();
    let text = format!("//! What it is for.\n\nuse std::fmt;\n\n{functions}");
    let repo = repo_with("src/old.rs", &text);
    let before = verified(&repo);
    repo.git(&["mv", "src/old.rs", "src/new.rs"]);
    assert_eq!(total(&verified(&repo)), total(&before));
    repo.commit("moved");
    assert_eq!(total(&verified(&repo)), total(&before));
    assert!(verified(&repo).moved >= 3, "{:?}", verified(&repo));
}

#[test]
fn a_container_with_changes_only_inside_counts_as_such() {
    let text = "impl A {\n    fn one(&self) -> u32 {\n        1\n    }\n    fn two(&self) -> u32 {\n        2\n    }\n}\n";
    let repo = repo_with("src/a.rs", text);
    repo.write("src/a.rs", &text.replace("        1\n", "        3\n"));
    let blocks = verified(&repo);
    assert_eq!((blocks.inside, blocks.modified, blocks.exact), (1, 1, 1));
    repo.record("INT-001", &["src/a.rs"]);
    let blocks = verified(&repo);
    assert_eq!((blocks.inside, blocks.modified, blocks.exact), (1, 0, 2));
}
