//! A file that is recorded with `--all` before it is committed: after the commit, `why` names the same intents and
//! authors as before.

use serde_json::Value;

use super::lab::Lab;

const FILE: &str = "src/shop.py";

const FIRST: &str = "\
def open_all(shops):
    for shop in shops:
        shop.open()


class Shop:
    count = 0

    def open(self):
        self.unlock(1)
        self.light(2)

    def close(self):
        self.darken(3)
        self.lock(4)
";

const ALL: &[&str] = &["--all", "--yes"];
/// The lines of the first methods and the class around them.
const SOME: &[&str] = &["--all", "--lines", "8-15"];
const CHANGES: &[&str] = &[];
const HUMAN: &[&str] = &["--contributor", "human"];
const AGENT: &[&str] = &["--agent", "codex", "--model", "openai/gpt", "--session", "codex:1"];

/// The state of the file before it is recorded.
#[derive(Clone, Copy, Debug)]
enum Start {
    New,
    Committed,
    Recorded,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Changes the functions, the methods and the class itself.
    Edit,
    /// The recorded extent, the intent, and who wrote it.
    Record(&'static [&'static str], &'static str, &'static [&'static str]),
}

use Step::{Edit, Record};

const SEQUENCES: &[&[Step]] = &[
    &[Record(ALL, "INT-001", HUMAN)],
    &[Edit, Record(ALL, "INT-001", AGENT)],
    &[Edit, Record(SOME, "INT-002", HUMAN)],
    &[Edit, Record(CHANGES, "INT-001", AGENT), Record(ALL, "INT-002", HUMAN)],
    &[Record(ALL, "INT-002", AGENT), Record(ALL, "INT-001", HUMAN)],
    &[Edit, Record(SOME, "INT-001", AGENT), Edit, Record(ALL, "INT-001", HUMAN)],
    &[
        Record(ALL, "INT-001", AGENT),
        Record(ALL, "INT-002", HUMAN),
        Edit,
        Record(CHANGES, "INT-001", AGENT),
    ],
    &[
        Record(ALL, "INT-002", HUMAN),
        Edit,
        Record(SOME, "INT-001", AGENT),
        Record(SOME, "INT-002", HUMAN),
    ],
];

fn edited(text: &str, nth: usize) -> String {
    let text =
        text.replace("        shop.open()", &format!("        shop.open()\n        log({nth})"));
    let text = text.replace("    count = 0", &format!("    count = 0\n    field_{nth} = {nth}"));
    let text =
        text.replace("self.unlock(1)", &format!("self.unlock(1)\n        self.greet({nth})"));
    format!(
        "{text}\n    def method_{nth}(self):\n        self.first({nth})\n        self.second({nth})\n"
    )
}

/// Returns the intent and the author of each block and of each of its lines that is not blank.
fn told(lab: &Lab) -> Vec<(String, String)> {
    let text = lab.read(FILE);
    let text: Vec<&str> = text.lines().collect();
    let who = |one: &Value| format!("{} {}", one["intent"], one["contributor"]);
    let mut told = Vec::new();
    for block in lab.json(&["why", FILE, "--lines"])["blocks"].as_array().expect("blocks") {
        let name = block["qualified_name"].as_str().expect("a name");
        told.push((name.to_owned(), format!("{} {}", block["intent"]["id"], block["contributor"])));
        for run in block["lines"]["runs"].as_array().into_iter().flatten() {
            let number = |key: &str| run[key].as_u64().expect("a line") as usize;
            let lines = number("start")..=number("end");
            let said =
                lines.filter(|line| text.get(line - 1).is_some_and(|it| !it.trim().is_empty()));
            told.extend(said.map(|line| (format!("{name}:{line}"), who(&run["from"]))));
        }
    }
    told
}

fn commit_long_ago(lab: &Lab) {
    let alias = "alias.old=!GIT_COMMITTER_DATE=2026-01-01T00:00:00Z git commit -q -m old";
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["-c", alias, "old"]);
}

fn record(lab: &Lab, extent: &[&str], intent: &str, who: &[&str]) {
    // It ends with 1 if another intent has all of these lines already.
    lab.intent(&[&["record", FILE, "--intent", intent], extent, who].concat());
}

fn assert_commit_keeps_attribution(start: Start) {
    for steps in SEQUENCES {
        let lab = Lab::governed();
        for name in ["One", "Two"] {
            lab.fine(&["new", name, "--scope", "src/**", "--start"]);
        }
        lab.write(FILE, FIRST);
        match start {
            Start::New => {}
            Start::Committed => commit_long_ago(&lab),
            Start::Recorded => {
                record(&lab, ALL, "INT-001", AGENT);
                commit_long_ago(&lab);
            }
        }
        for (nth, step) in steps.iter().enumerate() {
            match step {
                Edit => lab.write(FILE, edited(&lab.read(FILE), nth + 10)),
                // The file is recorded already, so there is nothing to record.
                Record(ALL, "INT-001", AGENT) if nth == 0 && matches!(start, Start::Recorded) => {}
                Record(extent, intent, who) => record(&lab, extent, intent, who),
            }
        }
        let before = told(&lab);
        assert!(before.iter().any(|(_, who)| who.contains("INT-00")), "{before:?}");
        lab.run_git(&["add", "-A"]);
        // If the file itself has no change, the commit of another file takes the records along.
        lab.write("notes.txt", "notes\n");
        lab.commit();
        assert_eq!(told(&lab), before, "{start:?} {steps:?}");
        std::fs::remove_dir_all(lab.root.join(".git/intent")).expect("no journal, as in a clone");
        assert_eq!(told(&lab), before, "in a clone: {start:?} {steps:?}");
    }
}

#[test]
#[ignore = "slow"]
fn a_new_file_keeps_its_attribution_in_the_commit() {
    assert_commit_keeps_attribution(Start::New);
}

#[test]
#[ignore = "slow"]
fn an_unrecorded_file_keeps_its_attribution_in_the_commit() {
    assert_commit_keeps_attribution(Start::Committed);
}

#[test]
#[ignore = "slow"]
fn a_recorded_file_keeps_its_attribution_in_the_commit() {
    assert_commit_keeps_attribution(Start::Recorded);
}
