//! What the benches share: a page of results, a repository with chains of records, and a registry of many intents.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use ledger::{Record, chain};

/// Prints a page, or a part of one.
pub fn print(page: &str) {
    std::io::stdout().lock().write_all(page.as_bytes()).expect("somebody reads");
}

/// Returns a duration in milliseconds.
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns a registry with this number of intents. Three in ten of them and `INT-0042` are in progress.
pub fn registry(intents: usize) -> String {
    let mut text = String::from("active_intents:\n");
    for number in 0..intents {
        let status = if number % 10 < 3 || number == 42 { "IN_PROGRESS" } else { "COMPLETED" };
        write!(
            text,
            "  - id: INT-{number:04}\n    name: Rework part {number} of the service\n    status: {status}\n    \
             owned_scope: [\"src/part{number:03}/**\", \"docs/part{number:03}/*.md\", \"!src/part{number:03}/legacy_*/gen?.rs\"]\n    \
             constraints:\n      - Keep the public interface of part {number} as it is\n      - \"No new dependencies\"\n    \
             acceptance_criteria: [\"tests of part {number} pass\"]\n    owner: \"@ada\"\n"
        )
        .expect("writing to a string cannot fail");
    }
    text
}

/// Writes a file and the folders above it.
pub fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
    fs::write(path, text).expect("a new file");
}

/// Runs git with a fixed user.
pub fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"])
        .args(["-c", "commit.gpgsign=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(folder)
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("git is installed").success(), "git {arguments:?}");
}

const RECORDS_A_WRITER: usize = 1_000;

/// Makes chains of 1,000 records, one file each, as the writers of `segments` leave them. `record` makes a record from
/// the number of its writer and its own number in the chain.
pub fn write_chains(root: &Path, records: usize, record: impl Fn(usize, usize, usize) -> Record) {
    let folder = root.join(".orchestration/agent_trace/2026/01");
    fs::create_dir_all(&folder).expect("a new folder");
    for writer in 0..records.div_ceil(RECORDS_A_WRITER) {
        let mut text = Vec::new();
        let mut prev = None;
        for seq in 0..RECORDS_A_WRITER.min(records - writer * RECORDS_A_WRITER) {
            let number = writer * RECORDS_A_WRITER + seq;
            let record = Record {
                id: format!("00000000-0000-7000-8000-{number:012x}"),
                session: Some(format!("bench:{writer}")),
                writer: format!("{writer:032x}"),
                seq: seq as u64,
                prev,
                ..record(number, writer, seq)
            };
            prev = Some(seal(&record, &mut text));
        }
        fs::write(folder.join(format!("{writer:032x}.jsonl")), text).expect("a new file");
    }
}

/// Appends the line of a record, and returns its hash.
fn seal(record: &Record, text: &mut Vec<u8>) -> String {
    let mut stored = serde_json::to_vec(record).expect("a record is JSON");
    stored.pop();
    let hash = chain::hash(&stored);
    text.extend_from_slice(&stored);
    text.extend_from_slice(format!(",\"h\":\"{hash}\"}}\n").as_bytes());
    hash
}
