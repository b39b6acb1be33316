//! Whole histories: every change of a file is recorded and committed, and at the end `why` must name for each block and
//! each line somebody who touched it.
//!
//! The histories are generated, in formats full of twins (tables of a lock file, overloads, constants of an enum with
//! methods of one name), by a model that knows who wrote each line. `INTENT_FUZZ_SEED` and `INTENT_FUZZ_RUNS` run others,
//! and `INTENT_TEST_LONG` makes them longer.
//! `REPLAY_REPO=GIT_DIR` replays the last commits of a real repository, `REPLAY_COMMITS` of them, and holds the names
//! against `git blame`.

use std::collections::BTreeSet;
use std::process::Command;

use intent_lsp::facade::verbs::record::{self, RecordRequest};
use intent_lsp::facade::verbs::why::{self, BlockAnswer, LineState, RecordBrief, Which, WhyAnswer};

use crate::mutate::chance::{Chance, from_environment};
use crate::support::{Repo, relative, short_or_long};

const SEED: u64 = 12;
const RUNS: u64 = 1;

/// One line and the step that wrote it; 0 is the commit before all records.
#[derive(Clone)]
struct Line {
    text: String,
    by: usize,
}

/// A definition of the model: its lines, and the steps that touched it.
#[derive(Clone)]
struct Item {
    lines: Vec<Line>,
    touched: BTreeSet<usize>,
}

/// A file format: how the file begins and ends, and a new definition's lines by number.
struct Format {
    path: &'static str,
    head: &'static str,
    item: fn(usize) -> Vec<String>,
    tail: &'static str,
}

const FORMATS: [Format; 4] = [
    Format { path: "Cargo.lock", head: "version = 4\n", item: package, tail: "" },
    Format { path: "src/shape.py", head: "class Shape:\n", item: overload, tail: "" },
    Format { path: "src/Kind.java", head: "enum Kind {\n", item: constant, tail: "    ;\n}\n" },
    Format { path: "src/lib.rs", head: "use std::fmt;\n", item: configured, tail: "" },
];

fn package(n: usize) -> Vec<String> {
    // Twins by name now and then: two versions of one package.
    vec![
        String::new(),
        "[[package]]".to_owned(),
        format!("name = \"crate-{}\"", n % 7),
        format!("version = \"1.{n}.0\""),
        format!("checksum = \"sum{n}\""),
    ]
}

fn overload(n: usize) -> Vec<String> {
    vec![
        "    @overload".to_owned(),
        format!("    def scale(self, by: \"Kind{n}\") -> \"Shape{n}\":"),
        format!("        return self.grown(by.factor{n}, limit={n})"),
        String::new(),
    ]
}

fn constant(n: usize) -> Vec<String> {
    vec![
        format!("    KIND_{n} {{"),
        "        @Override".to_owned(),
        "        void read(Reader r) {".to_owned(),
        format!("            r.consume(\"text {n}\", {n});"),
        "        }".to_owned(),
        "    },".to_owned(),
    ]
}

fn configured(n: usize) -> Vec<String> {
    vec![
        String::new(),
        format!("#[cfg(feature = \"f{n}\")]"),
        "pub fn open(path: &str) -> usize {".to_owned(),
        format!("    path.len() + {n} * weight(\"w{n}\")"),
        "}".to_owned(),
    ]
}

/// A file that grows and shrinks.
struct History<'a> {
    format: &'a Format,
    items: Vec<Item>,
    fresh: usize,
}

impl<'a> History<'a> {
    fn new(format: &'a Format) -> Self {
        let mut history = Self { format, items: Vec::new(), fresh: 0 };
        for _ in 0..6 {
            let item = history.item(0);
            history.items.push(item);
        }
        history
    }

    fn item(&mut self, step: usize) -> Item {
        self.fresh += 1;
        let lines = (self.format.item)(self.fresh);
        let lines = lines.into_iter().map(|text| Line { text, by: step }).collect();
        Item { lines, touched: BTreeSet::from([step]) }
    }

    /// Changes the file as step number `step`.
    fn change(&mut self, chance: &mut Chance, step: usize) {
        let at = chance.below(self.items.len());
        match chance.below(6) {
            0 | 1 => {
                let item = self.item(step);
                let at = if chance.once_in(3) { 0 } else { at };
                self.items.insert(at, item);
            }
            2 if self.items.len() > 4 => {
                self.items.remove(at);
            }
            _ => {
                let item = &mut self.items[at];
                let telling = |line: &Line| line.text.contains(|c: char| c.is_ascii_digit());
                let places: Vec<usize> =
                    (0..item.lines.len()).filter(|nth| telling(&item.lines[*nth])).collect();
                let Some(nth) = places.last() else { return };
                let line = &mut item.lines[*nth];
                line.text =
                    line.text.replacen(|c: char| c.is_ascii_digit(), &format!("{step}0"), 1);
                line.by = step;
                item.touched.insert(step);
            }
        }
    }

    fn text(&self) -> String {
        let lines = self.items.iter().flat_map(|item| &item.lines);
        let body: String = lines.map(|line| format!("{}\n", line.text)).collect();
        format!("{}{body}{}", self.format.head, self.format.tail)
    }

    /// What is wrong with an answer, by what the model knows.
    fn complaints(&self, answer: &WhyAnswer) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut place = self.format.head.lines().count() as u32;
        for item in &self.items {
            let first = place + 1;
            place += item.lines.len() as u32;
            let inside =
                |block: &&BlockAnswer| first <= block.start_line && block.end_line <= place;
            for block in answer.blocks.iter().filter(inside) {
                let named = step_of(block.tool.as_deref());
                if named.is_some_and(|named| !item.touched.contains(&named)) {
                    wrong.push(format!(
                        "{} {} in line {} is given to step {named:?}, touched by {:?}",
                        block.kind, block.qualified_name, block.start_line, item.touched
                    ));
                }
                wrong.extend(lines_wrong(block, first, item));
            }
        }
        wrong
    }
}

fn lines_wrong(block: &BlockAnswer, first: u32, item: &Item) -> Vec<String> {
    let runs = block.lines.iter().flat_map(|lines| &lines.runs);
    let recorded = runs.filter(|run| run.state == LineState::AsRecorded);
    let mut wrong = Vec::new();
    for run in recorded {
        let Some(from) = step_of(run.from.as_ref().and_then(tool)) else { continue };
        for number in run.start..=run.end {
            let Some(line) = item.lines.get((number - first) as usize) else { continue };
            let tells = line.text.contains(|c: char| c.is_ascii_digit());
            if tells && line.by != from {
                wrong.push(format!(
                    "line {number} `{}` is given to step {from}, not {}",
                    line.text, line.by
                ));
            }
        }
    }
    wrong
}

fn tool(candidate: &RecordBrief) -> Option<&str> {
    candidate.tool.as_deref()
}

fn step_of(tool: Option<&str>) -> Option<usize> {
    tool?.strip_prefix("step-")?.parse().ok()
}

fn record_step(repo: &Repo, path: &str, step: usize) {
    let request = RecordRequest {
        paths: vec![relative(path)],
        intent: Some("INT-001".to_owned()),
        agent: Some(format!("step-{step}")),
        ..RecordRequest::default()
    };
    record::record(&repo.open(), &request).expect("recorded");
}

fn asked(repo: &Repo, path: &str) -> WhyAnswer {
    why::on_disk_in_full(&repo.open(), &relative(path), Which::All).expect("readable")
}

#[test]
fn nobody_is_named_who_did_not_touch_a_block_or_write_a_line() {
    let seed = from_environment("INTENT_FUZZ_SEED", SEED);
    let runs = from_environment("INTENT_FUZZ_RUNS", RUNS);
    let (mut wrong, mut named) = (Vec::new(), 0);
    for run in 0..runs {
        for format in &FORMATS {
            let mut chance = Chance::new(seed.wrapping_mul(1000) + run);
            let repo = Repo::new();
            let mut history = History::new(format);
            repo.write(format.path, &history.text());
            repo.commit("before");
            for step in 1..=short_or_long(16, 40) {
                history.change(&mut chance, step);
                repo.write(format.path, &history.text());
                record_step(&repo, format.path, step);
                repo.commit(&format!("step {step}"));
            }
            let answer = asked(&repo, format.path);
            named += answer.blocks.iter().filter(|block| block.record.is_some()).count();
            let story = |complaint| format!("run {run}, {}: {complaint}", format.path);
            wrong.extend(history.complaints(&answer).into_iter().map(story));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(named > 20 * usize::try_from(runs).expect("few"), "{named} blocks are named");
}

#[test]
fn a_real_history_names_nobody_whom_git_does_not_know() {
    let Ok(real) = std::env::var("REPLAY_REPO") else { return };
    let commits = std::env::var("REPLAY_COMMITS").unwrap_or_else(|_| "40".to_owned());
    let git = |arguments: &[&str]| -> Vec<u8> {
        let output = Command::new("git").args(["--git-dir", &real]).args(arguments).output();
        output.expect("git runs").stdout
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let count = format!("--max-count={commits}");
    let revisions = text(git(&["rev-list", "--first-parent", "--reverse", &count, "HEAD"]));
    let revisions: Vec<&str> = revisions.lines().collect();
    let names = |from: &str, to: &str| {
        let listed = text(git(&["diff", "--name-only", "--no-renames", from, to]));
        listed.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let all: BTreeSet<String> =
        revisions.windows(2).flat_map(|pair| names(pair[0], pair[1])).collect();
    let repo = Repo::new();
    let put = |revision: &str, path: &str| {
        let output = Command::new("git")
            .args(["--git-dir", &real, "cat-file", "blob", &format!("{revision}:{path}")])
            .output()
            .expect("git runs");
        match String::from_utf8(output.stdout) {
            Ok(text) if output.status.success() => repo.write(path, &text),
            _ if repo.root().join(path).is_file() => repo.remove(path),
            _ => {}
        }
    };
    all.iter().for_each(|path| put(revisions[0], path));
    repo.commit("before");
    for (step, pair) in revisions.windows(2).enumerate() {
        let changed = names(pair[0], pair[1]);
        changed.iter().for_each(|path| put(pair[1], path));
        changed.iter().for_each(|path| record_step(&repo, path, step + 1));
        repo.commit(&format!("step {}", step + 1));
    }
    let mut wrong = Vec::new();
    for path in all.iter().filter(|path| repo.root().join(path).is_file()) {
        let Ok(answer) = why::on_disk_in_full(&repo.open(), &relative(path), Which::All) else {
            continue;
        };
        let added: Vec<String> =
            (1..revisions.len()).map(|step| added_by(&repo, step, path)).collect();
        let now = repo.read(path);
        let now: Vec<&str> = now.lines().collect();
        for block in &answer.blocks {
            let runs = block.lines.iter().flat_map(|lines| &lines.runs);
            for run in runs.filter(|run| run.state == LineState::AsRecorded) {
                let Some(step) = step_of(run.from.as_ref().and_then(tool)) else { continue };
                for number in run.start..=run.end {
                    let Some(line) = now.get(number as usize - 1) else { continue };
                    let tells = line.chars().filter(|c| c.is_alphanumeric()).count() > 2;
                    if tells && !added[step - 1].contains(line.trim()) {
                        wrong.push(format!("{path}:{number} `{line}` is given to step {step}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The lines that a step's commit added to a file, as a patch shows them.
fn added_by(repo: &Repo, step: usize, path: &str) -> String {
    let message = format!("^step {step}$");
    repo.git(&["log", "-1", "--format=", "-p", "--no-renames", "--grep", &message, "--", path])
}
