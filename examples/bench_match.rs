//! What matching a file against its records costs, beside parsing it.
//!
//! `cargo run --release --example bench_match` makes a repository in a temporary folder whose files are all recorded,
//! changes a file of 500 functions in several ways, and prints how long its parse takes, and how long it takes to say of
//! every block which record it comes from: the first time, each time after somebody recorded something in another file,
//! and when nothing else changed; with their ratios to the parse. Each is the fastest of some rounds: what else runs on
//! the machine only adds.
//!
//! `--files N` says how many other files are recorded. `--within R` fails where a ratio is above `R`, but for the very
//! first time, in which files and records are read that are in memory later.

mod support;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use intent_lsp::facade::code::Document;
use intent_lsp::facade::verbs::record::{RecordExtent, RecordRequest, record};
use intent_lsp::facade::verbs::{Workspace, why};
use intent_lsp::facade::workspace::RelativePath;
use support::{git, write};

const FUNCTIONS: usize = 500;
const FUNCTIONS_OF_OTHERS: usize = 20;
const ROUNDS: usize = 7;
const FILE: &str = "src/large.rs";
const REGISTRY: &str = "active_intents:\n  - id: INT-001\n    name: Everything\n    status: IN_PROGRESS\n    owned_scope: [\"**\"]\n";

fn main() {
    let options = Options::read();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path();
    write(root, ".orchestration/active_intents.yaml", REGISTRY);
    let functions = |from: usize, name: &str, edit: &str| -> String {
        (from..from + FUNCTIONS).map(|n| function(n, &format!("{name}{n}"), edit)).collect()
    };
    let recorded = functions(0, "step", "");
    write(root, FILE, &recorded);
    for file in 0..options.files {
        write(root, &other(file), &text_of_other(file, ""));
    }
    git(root, &["init", "-q", "--template="]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "all"]);
    let others = (0..options.files).map(other);
    record_whole(root, others.chain([FILE.to_owned()]));
    let one = recorded.replacen("left + 3", "left + 4", 1);
    let cases = [
        ("as recorded", FILE, recorded.clone()),
        ("one function edited", FILE, one),
        ("every function edited", FILE, functions(0, "step", "let more = left * 2;\n    ")),
        ("every function renamed", FILE, functions(0, "go", "")),
        (
            "every function renamed and edited",
            FILE,
            functions(0, "go", "let more = left * 2;\n    "),
        ),
        ("another file in its place", FILE, functions(50_000, "new", "let more = left * 2;\n    ")),
        ("a new file, nothing recorded", "src/new.rs", functions(90_000, "new", "")),
        ("a copy of the recorded file", "src/copy.rs", recorded.clone()),
    ];
    show(&format!(
        "{FUNCTIONS} functions, {} lines, {} other files; the fastest of {ROUNDS}, ms, and how often the parse\n\n{:<36} {:>8} {:>14} {:>14} {:>14} {:>8}\n",
        recorded.lines().count(),
        options.files,
        "",
        "parse",
        "first",
        "after a record",
        "again",
        "reload"
    ));
    let mut worst: f64 = 0.0;
    for (name, path, text) in cases {
        write(root, path, &text);
        let Times { parse, first, recorded: after, again, reload } =
            measure(root, path, &text, options.files);
        let beside = |time: f64| format!("{time:>8.2} {:>5.2}", time / parse);
        show(&format!(
            "{name:<36} {parse:>8.2} {} {} {} {reload:>8.2}\n",
            beside(first),
            beside(after),
            beside(again),
        ));
        worst = [after, again].into_iter().map(|time| time / parse).fold(worst, f64::max);
        if path != FILE {
            fs::remove_file(root.join(path)).expect("removed");
        }
        write(root, FILE, &recorded);
    }
    if let Some(limit) = options.within {
        assert!(worst <= limit, "{worst:.2} times the parse is more than {limit}");
    }
}

struct Options {
    files: usize,
    within: Option<f64>,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { files: 100, within: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().expect("the option takes a value");
            match word.as_str() {
                "--files" => options.files = value.parse().expect("a number of files"),
                "--within" => options.within = Some(value.parse().expect("a ratio")),
                other => panic!("unknown option {other}"),
            }
        }
        assert!(options.files > 0, "somebody must record something else");
        options
    }
}

fn show(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Functions of one shape with literals and callees of their own, about ten lines each.
fn function(number: usize, name: &str, edit: &str) -> String {
    let (a, b, c) = (number * 7 % 91, number * 13 % 57, number * 31 % 1_009);
    format!(
        "pub fn {name}(left: u64, right: &[u64]) -> u64 {{\n    {edit}let base = seed_{c}(left + 3, {a});\n    let mut sum = base ^ {number};\n    for (at, item) in right.iter().enumerate() {{\n        if at % {} == {b} {{\n            sum += mix_{a}(*item, base);\n        }}\n    }}\n    clamp_{b}(sum)\n}}\n\n",
        b + 2
    )
}

/// The name of another file.
fn other(file: usize) -> String {
    format!("src/part{file}.rs")
}

fn text_of_other(file: usize, edit: &str) -> String {
    let from = FUNCTIONS + file * FUNCTIONS_OF_OTHERS;
    let functions = from..from + FUNCTIONS_OF_OTHERS;
    functions.map(|n| function(n, &format!("other{n}"), edit)).collect()
}

/// Milliseconds.
struct Times {
    parse: f64,
    first: f64,
    recorded: f64,
    again: f64,
    /// Reading a ledger to which a record was added.
    reload: f64,
}

/// So that no text is recorded twice.
static ROUND: AtomicUsize = AtomicUsize::new(0);

fn measure(root: &Path, path: &str, text: &str, others: usize) -> Times {
    let path = RelativePath::new(path).expect("a path");
    let document = Document::from_text(path.as_str(), text);
    document.blocks();
    let opened = || Workspace::open(root).expect("a workspace").warmed();
    let parse = fastest(|_| timed(|| Document::from_text(path.as_str(), text).blocks()).0);
    let first = fastest(|_| {
        let ws = opened();
        timed(|| why::file(&ws, &path, &document)).0
    });
    let mut ws = opened();
    why::file(&ws, &path, &document);
    let mut reload = f64::INFINITY;
    let recorded = fastest(|round| {
        let file = round % others;
        let edit = format!("let round = {};\n    ", ROUND.fetch_add(1, Ordering::Relaxed));
        write(root, &other(file), &text_of_other(file, &edit));
        record_whole(root, [other(file)]);
        let (took, reloaded) = timed(|| ws.reload().warmed());
        (reload, ws) = (reload.min(took), reloaded);
        timed(|| why::file(&ws, &path, &document)).0
    });
    let again = fastest(|_| timed(|| why::file(&ws, &path, &document)).0);
    Times { parse, first, recorded, again, reload }
}

fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let done = run();
    (start.elapsed().as_secs_f64() * 1e3, done)
}

fn fastest(run: impl FnMut(usize) -> f64) -> f64 {
    (0..ROUNDS).map(run).fold(f64::INFINITY, f64::min)
}

/// Records files as they stand.
fn record_whole(root: &Path, paths: impl IntoIterator<Item = String>) {
    let ws = Workspace::open(root).expect("a workspace");
    let paths = paths.into_iter().map(|path| RelativePath::new(&path).expect("a path"));
    let request = RecordRequest {
        paths: paths.collect(),
        extent: RecordExtent::WholeFile,
        intent: Some("INT-001".to_owned()),
        ..RecordRequest::default()
    };
    record(&ws, &request).expect("recorded");
}
