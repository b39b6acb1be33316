//! Commits that `.git-blame-ignore-revs` names.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::Command;

use ground::{Environment, Git, Root};
use history::{Origin, OriginRun, Walk};

/// How many files the ignored commit changes: more than are searched for moved blocks.
const FILES: usize = 40;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path) -> String {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "x"]);
    git(folder, &["rev-parse", "HEAD"])
}

/// Returns the commits that brought the lines of a file that are not blank.
fn walked(folder: &Path, name: &str) -> Vec<String> {
    let root = Root::find(folder, &Environment::of_process()).unwrap();
    let repository = Git::open(&root).unwrap().unwrap();
    let head = repository.object_id(&repository.head().unwrap().unwrap()).unwrap();
    let mut reader = repository.object_reader().unwrap();
    let path = repository.path_in_repository(name);
    let found = Walk::new(&mut reader).of_file(head, &path).unwrap().unwrap();
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let runs = found.runs.iter();
    let runs = runs.filter(|run| lines[run.lines.clone()].iter().any(|line| !line.is_empty()));
    let commit = |run: &OriginRun| match run.origin {
        Origin::Brought(version) => found.versions[version].commit.to_string(),
        Origin::Missing(version) => panic!("no history for {version}"),
    };
    let mut commits: Vec<String> = runs.map(commit).collect();
    commits.sort();
    commits.dedup();
    commits
}

fn function(name: &str, value: &str) -> String {
    let lines = [
        format!("def {name}(first):"),
        format!("    {name}_sum = first + 1"),
        format!("    return {name}_sum * {value}"),
    ];
    lines.join("\n") + "\n\n\n"
}

#[test]
fn an_ignored_commit_brings_no_lines_that_it_only_moved_within_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    git(folder, &["init", "-q", "-b", "main"]);
    let write = |nth: usize, text: String| {
        std::fs::write(folder.join(format!("file_{nth}.py")), text).unwrap();
    };
    let name = |letter: char, nth: usize| format!("{letter}{nth}");
    std::fs::create_dir(folder.join(".orchestration")).unwrap();
    std::fs::write(folder.join(".orchestration/active_intents.yaml"), "intents: []\n").unwrap();
    for nth in 0..FILES {
        write(nth, function(&name('a', nth), "1") + &function(&name('b', nth), "2"));
    }
    let first = commit(folder);
    for nth in 0..FILES {
        // One of the functions of the first file gets another value on the way.
        let value = if nth == 0 { "3" } else { "1" };
        write(nth, function(&name('b', nth), "2") + &function(&name('a', nth), value));
    }
    let sorted = commit(folder);
    assert!(walked(folder, "file_1.py").contains(&sorted));
    // Only what is accepted counts: a file that nobody committed changes nothing.
    let ignored = format!("# sorted\n{sorted} # by a program\n");
    std::fs::write(folder.join(".git-blame-ignore-revs"), ignored).unwrap();
    assert!(walked(folder, "file_1.py").contains(&sorted));
    commit(folder);
    assert_eq!(walked(folder, "file_1.py"), [first]);
    // What the commit really changed is still its own.
    assert!(walked(folder, "file_0.py").contains(&sorted));
}
