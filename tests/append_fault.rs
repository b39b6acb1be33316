//! A write to the ledger fails in the middle of a line because the disk is full: the incomplete line is removed, and
//! all earlier lines stay.

use std::process::Command;

use evidence::record::RecordRequest;
use judgement::judged_record;

use crate::support::{Repo, relative};

const PROGRAM: &str = env!("CARGO_BIN_EXE_intent");

fn segments(repo: &Repo) -> Vec<std::path::PathBuf> {
    let mut folders = vec![repo.root().join(".orchestration/agent_trace")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"))
        {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false if entry.path().extension().is_some_and(|ending| ending == "jsonl") => {
                    files.push(entry.path());
                }
                false => {}
            }
        }
    }
    files.sort();
    files
}

#[test]
fn an_incomplete_write_to_the_ledger_is_removed_again() {
    let repo = Repo::new();
    repo.write("src/a.rs", "fn a() {}\n");
    repo.record("INT-001", &["src/a.rs"]);
    let [segment]: [_; 1] = segments(&repo).try_into().expect("one chain");
    let before = std::fs::read(&segment).expect("the segment");
    // The largest size that the file may reach, in KiB: the rest of the last KiB is free, so a part of the next record
    // fits and the rest does not.
    let limit = before.len().div_ceil(1024);
    assert!(limit * 1024 > before.len(), "there is room for a part");
    let many: String = (0..40).map(|n| format!("fn f{n}() {{}}\n")).collect();
    repo.write("src/a.rs", &many);
    let script = format!(
        "ulimit -f {limit}; exec {PROGRAM} record --intent INT-001 --agent test-agent src/a.rs"
    );
    let run = |script: &str| {
        Command::new("bash").args(["-c", script]).current_dir(repo.root()).output().expect("bash")
    };
    let refused = run(&script);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned()
        + &String::from_utf8_lossy(&refused.stdout);
    assert_ne!(refused.status.code(), Some(0), "{said}");
    assert!(said.contains("appended to"), "{said}");
    assert_eq!(
        std::fs::read(&segment).expect("the segment"),
        before,
        "no byte of the failed write stays"
    );
    assert_eq!(segments(&repo), [segment], "the record belongs in this file");
    let again = run(&format!("exec {PROGRAM} record --intent INT-001 --agent test-agent src/a.rs"));
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(run(&format!("exec {PROGRAM} verify")).status.code(), Some(0));
    assert!(repo.picture("src/a.rs").contains("exact INT-001 function f39"));
}

/// The cache begins with a table that is larger than any of these limits.
#[test]
fn no_answer_is_lost_because_the_cache_has_no_room() {
    let repo = Repo::new();
    repo.write("src/a.rs", "fn a() {}\n");
    repo.record("INT-001", &["src/a.rs"]);
    for limit in [0, 1, 100] {
        let _ = std::fs::remove_dir_all(repo.root().join(".git/intent/cache"));
        let script = format!("ulimit -f {limit}; \"$0\" why src/a.rs | cat");
        let mut asked = Command::new("bash");
        asked.args(["-o", "pipefail", "-c", &script, PROGRAM]).current_dir(repo.root());
        let told = asked.output().expect("bash");
        let said = String::from_utf8_lossy(&told.stdout);
        assert_eq!(told.status.code(), Some(0), "{limit}: {said}");
        assert!(said.contains("INT-001"), "{limit}: {said}");
    }
}

/// Otherwise a record under INT-002 would take the line that was recorded under INT-001.
#[test]
fn nothing_is_recorded_while_a_journal_cannot_be_read() {
    let repo = Repo::new();
    repo.write("src/a.rs", "fn a() {}\n");
    repo.record("INT-001", &["src/a.rs"]);
    repo.write("src/a.rs", "fn a() {}\nfn b() {}\n");
    let request = RecordRequest {
        paths: vec![relative("src/a.rs")],
        intent: Some("INT-002".to_owned()),
        session: Some("another".to_owned()),
        ..RecordRequest::default()
    };
    let record = || judged_record::record(&repo.open(), &request);
    let journals = std::fs::read_dir(repo.root().join(".git/intent/open/main")).expect("a folder");
    let [journal]: [_; 1] = journals
        .map(|entry| entry.expect("an entry").path())
        .collect::<Vec<_>>()
        .try_into()
        .expect("one journal");
    let aside = repo.root().join("aside");
    std::fs::rename(&journal, &aside).expect("moved aside");
    std::fs::create_dir(&journal).expect("something that is no file");
    let refused = record().expect_err("refused").to_string();
    assert!(refused.contains("cannot be read"), "{refused}");
    std::fs::remove_dir(&journal).expect("removed");
    std::fs::rename(&aside, &journal).expect("moved back");
    record().expect("recorded");
    assert_eq!(repo.picture("src/a.rs"), "exact INT-001 function a\nexact INT-002 function b\n");
}
