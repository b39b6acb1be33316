//! The history of a file is cached between processes. The cache makes answers faster and never changes them.

use std::path::PathBuf;

use ground::Root;
use ledger::Ledger;
use serde_json::Value;

use crate::cli::lab::Lab;

const FILE: &str = "src/a.rs";

/// Functions whose bodies contain these numbers.
fn text(bodies: &[u32]) -> String {
    let function = |(at, body): (usize, &u32)| {
        format!("fn part_{at}(x: u32) -> u32 {{\n    let y = x * {body};\n    y + {body}\n}}\n\n")
    };
    bodies.iter().enumerate().map(function).collect()
}

struct Story {
    lab: Lab,
    bodies: Vec<u32>,
    changes: u32,
}

impl Story {
    /// A file that was recorded in ten commits.
    fn new() -> Self {
        let lab = Lab::governed();
        lab.fine(&["new", "Parts", "--scope", "src/**", "--start"]);
        lab.fine(&["new", "More", "--scope", "src/**", "--start"]);
        lab.write(FILE, text(&[1; 6]));
        lab.commit();
        let mut story = Self { lab, bodies: vec![1; 6], changes: 1 };
        (0..10).for_each(|at| story.change_and_commit(at));
        story
    }

    fn change(&mut self, at: usize) {
        self.changes += 1;
        let at = at % self.bodies.len();
        self.bodies[at] = self.changes;
        self.lab.write(FILE, text(&self.bodies));
    }

    fn record(&mut self, at: usize) {
        self.change(at);
        let intent = ["INT-001", "INT-002"][at % 2];
        let session = format!("codex:s{}", at % 3);
        self.lab.fine(&[
            "record",
            FILE,
            "--intent",
            intent,
            "--agent",
            "codex",
            "--session",
            &session,
        ]);
    }

    fn change_and_commit(&mut self, at: usize) {
        self.record(at);
        self.lab.commit();
    }

    fn kept(&self) -> PathBuf {
        self.lab.root.join(".git/intent/cache/trails")
    }

    /// Asserts that `why` gives the same answer with the cache and without it.
    fn agrees(&self, state: &str) -> Value {
        let why = || self.lab.json(&["why", FILE]);
        let (first, second) = (why(), why());
        std::fs::remove_dir_all(self.kept().parent().expect("a folder")).expect("it was kept");
        let afresh = why();
        assert_eq!(first, afresh, "{state}: what was kept before");
        assert_eq!(second, afresh, "{state}: what was kept of this state");
        second
    }
}

#[test]
fn the_cache_of_a_file_never_changes_an_answer() {
    let mut story = Story::new();
    story.lab.json(&["why", FILE]);
    let kept: Vec<PathBuf> =
        std::fs::read_dir(story.kept()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "the history of the file is kept");

    let whole = std::fs::read(&kept[0]).unwrap();
    for damaged in [whole[..whole.len() / 2].to_vec(), Vec::new(), b"nonsense".to_vec()] {
        std::fs::write(&kept[0], &damaged).unwrap();
        story.agrees("damaged");
        story.lab.json(&["why", FILE]);
    }

    let before = story.agrees("ten commits");
    story.record(2);
    assert_ne!(story.agrees("a record that is not committed"), before);
    story.change(3);
    story.agrees("an edit that nobody recorded");
    story.lab.commit();
    story.agrees("both committed");
    story.lab.run_git(&["commit", "--amend", "-q", "-m", "another message"]);
    story.agrees("amended");

    story.lab.run_git(&["switch", "-q", "-c", "side", "HEAD~4"]);
    let ours = std::mem::replace(&mut story.bodies, vec![1; 6]);
    story.bodies.clone_from(&bodies_of(&story.lab));
    story.change_and_commit(5);
    story.agrees("another branch");
    story.lab.run_git(&["switch", "-q", "main"]);
    story.agrees("back on the first");
    if !story.lab.try_git(&["merge", "-q", "--no-edit", "side"]) {
        story.lab.write(FILE, text(&ours));
        story.lab.commit();
    }
    story.bodies.clone_from(&bodies_of(&story.lab));
    story.agrees("merged");
    story.change_and_commit(1);
    story.agrees("after the merge");

    story.lab.write(".gitattributes", "src/a.rs linguist-generated\n");
    story.agrees("generated");
    std::fs::remove_file(story.lab.root.join(".gitattributes")).unwrap();
    story.lab.run_git(&["reset", "-q", "--hard", "HEAD~2"]);
    story.agrees("reset");
    story.lab.run_git(&["mv", FILE, "src/b.rs"]);
    story.lab.run_git(&["mv", "src/b.rs", FILE]);
    story.agrees("there and back");
}

fn bodies_of(lab: &Lab) -> Vec<u32> {
    let text = lab.read(FILE);
    let bodies = text.lines().filter_map(|line| line.trim().strip_prefix("y + "));
    bodies.map(|body| body.parse().expect("a number")).collect()
}

/// A server keeps the ledger in memory while people reset and restore branches.
#[test]
fn a_record_is_open_again_after_its_evidence_is_gone() {
    let mut story = Story::new();
    let root = Root::find(&story.lab.root, &ground::Environment::of_process()).unwrap();
    let open = |ledger: &Ledger| ledger.open().count();
    let sealed = Ledger::load(&root);
    assert_eq!(open(&sealed), 0);
    story.lab.run_git(&["reset", "-q", "--hard", "HEAD~2"]);
    let reset = sealed.reload(&root);
    assert_eq!(open(&reset), 2);
    assert_eq!(open(&Ledger::load(&root)), 2);
    story.lab.run_git(&["reset", "-q", "--hard", "ORIG_HEAD"]);
    assert_eq!(open(&reset.reload(&root)), 0);
    story.record(4);
    assert_eq!(open(&sealed.reload(&root)), 1);
    assert_eq!(open(&reset.reload(&root)), 1);
}
