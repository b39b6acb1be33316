//! What matching a file against its records costs, beside parsing it.
//!
//! `cargo run --release --example bench_match` makes a repository in a temporary folder whose files are all recorded,
//! changes a file of 500 functions in several ways, and prints how long its parse takes, how long it takes to say of
//! every block which record it comes from, the first time and when nothing else changed, and the ratio to the parse.

mod support;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use intent_lsp::code::Document;
use intent_lsp::verbs::record::{Extent, RecordRequest, record};
use intent_lsp::verbs::{Workspace, why};
use intent_lsp::workspace::RelativePath;
use support::{git, write};

const FUNCTIONS: usize = 500;
const OTHERS: usize = 100;
const FUNCTIONS_OF_OTHERS: usize = 20;
const ROUNDS: usize = 15;
const FILE: &str = "src/large.rs";
const REGISTRY: &str = "active_intents:\n  - id: INT-001\n    name: Everything\n    status: IN_PROGRESS\n    owned_scope: [\"**\"]\n";

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path();
    write(root, ".orchestration/active_intents.yaml", REGISTRY);
    let functions = |from: usize, name: &str, edit: &str| -> String {
        (from..from + FUNCTIONS).map(|n| function(n, &format!("{name}{n}"), edit)).collect()
    };
    let recorded = functions(0, "step", "");
    write(root, FILE, &recorded);
    for file in 0..OTHERS {
        let from = FUNCTIONS + file * FUNCTIONS_OF_OTHERS;
        let text: String = (from..from + FUNCTIONS_OF_OTHERS)
            .map(|n| function(n, &format!("other{n}"), ""))
            .collect();
        write(root, &format!("src/part{file}.rs"), &text);
    }
    git(root, &["init", "-q", "--template="]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "all"]);
    record_all(root);
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
        "{FUNCTIONS} functions, {} lines; median of {ROUNDS}, ms\n\n{:<36} {:>8} {:>8} {:>8} {:>8}\n",
        recorded.lines().count(),
        "",
        "parse",
        "first",
        "again",
        "ratio"
    ));
    for (name, path, text) in cases {
        write(root, path, &text);
        let (parse, first, again) = measure(root, path, &text);
        show(&format!(
            "{name:<36} {parse:>8.2} {first:>8.2} {again:>8.2} {:>8.2}\n",
            again / parse
        ));
        if path != FILE {
            fs::remove_file(root.join(path)).expect("removed");
        }
        write(root, FILE, &recorded);
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

fn measure(root: &Path, path: &str, text: &str) -> (f64, f64, f64) {
    let path = RelativePath::new(path).expect("a path");
    let document = Document::from_text(path.as_str(), text);
    document.blocks();
    let parse = median(|| {
        Document::from_text(path.as_str(), text).blocks();
    });
    let opened = || Workspace::open(root).expect("a workspace").warmed();
    let first = Instant::now();
    let ws = opened();
    let before = first.elapsed();
    why::file(&ws, &path, &document);
    let first = (first.elapsed() - before).as_secs_f64() * 1e3;
    let again = median(|| {
        why::file(&ws, &path, &document);
    });
    (parse, first, again)
}

fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn record_all(root: &Path) {
    let ws = Workspace::open(root).expect("a workspace");
    let others = (0..OTHERS).map(|file| format!("src/part{file}.rs"));
    let paths =
        others.chain([FILE.to_owned()]).map(|path| RelativePath::new(&path).expect("a path"));
    let request = RecordRequest {
        paths: paths.collect(),
        extent: Extent::WholeFile,
        intent: Some("INT-001".to_owned()),
        ..RecordRequest::default()
    };
    record(&ws, &request).expect("recorded");
}
