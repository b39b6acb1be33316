//! Measures what single parts of the program cost, in this process.
//!
//! `cargo bench -p intent-lsp-benches --bench parts` measures all. `… --bench parts -- answers` measures those with
//! that word in their name. Criterion keeps the figures below `target/criterion` and says what changed since.
//!
//! Saying whose the blocks of a file are is compared with parsing it. The last table shows the fastest call of each,
//! because other programs on the machine only add time. `INTENT_BENCH_WITHIN=R` fails if an answer takes more than `R`
//! times as long as the parse. The first answer of a process is not checked, because it also reads files and records.
//! `INTENT_BENCH_FILES=N` says how many other files are recorded.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use code::{Block, Document, content_hash, fingerprint};
use criterion::{Bencher, Criterion, Throughput};
use evidence::record::{RecordExtent, RecordRequest};
use ground::RelativePath;
use intents::{Registry, Scope};
use judgement::judged_record::record;
use ledger::{Ledger, Record, RecordKind};
use shell::{CommandContext, Dialect, read};
use support::{git, millis, print, registry, write, write_chains};
use why::{Workspace, answers};

const FUNCTIONS: usize = 500;
const FUNCTIONS_OF_OTHERS: usize = 20;
/// The number of other files that are changed and not committed.
const CHANGED: usize = 10;
const INTENTS: usize = 1_000;
const RECORDS: usize = 10_000;
const FILE: &str = "src/large.rs";
const REGISTRY: &str = "active_intents:\n  - id: INT-001\n    name: Everything\n    status: IN_PROGRESS\n    owned_scope: [\"**\"]\n";

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    document(&mut criterion);
    intents(&mut criterion);
    shell(&mut criterion);
    ledger(&mut criterion);
    file_answers(&mut criterion);
    criterion.final_summary();
}

// -- A document ------------------------------------------------------------------------------------------------------

fn document(criterion: &mut Criterion) {
    let text = functions(0, "step", "");
    let mut group = criterion.benchmark_group("document");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    group.bench_function("parse", |bencher| bencher.iter(|| blocks(&text)));
    let parsed = Document::from_text(FILE, &text);
    parsed.blocks();
    let place = text.find("fn step250(").expect("it is there") + "fn step250(".len();
    group.bench_function("edit", |bencher| {
        bencher.iter(|| parsed.edited(place..place, "more: u64, ").map(|edited| edited.blocks()));
    });
    group.bench_function("content hash", |bencher| bencher.iter(|| content_hash(&text)));
    let found = parsed.blocks();
    let compared =
        |one: &Block, other: &Block| fingerprint::share_kept(&one.fingerprint, &other.fingerprint);
    group.bench_function("fingerprints compared", |bencher| {
        let pairs = || found.blocks.iter().zip(found.blocks.iter().skip(1));
        bencher.iter(|| pairs().map(|(one, other)| compared(one, other)).sum::<f32>());
    });
    group.finish();
}

fn blocks(text: &str) -> usize {
    Document::from_text(FILE, text).blocks().blocks.len()
}

// -- Intents, commands, records --------------------------------------------------------------------------------------

fn intents(criterion: &mut Criterion) {
    let text = registry(INTENTS);
    let at = || path(".orchestration/active_intents.yaml");
    let mut group = criterion.benchmark_group("intents");
    group.sample_size(20);
    group.bench_function("registry parse", |bencher| bencher.iter(|| Registry::parse(at(), &text)));
    let entries = ["src/part042/**", "docs/part042/*.md", "!src/part042/legacy_*/gen?.rs"];
    let scope = Scope::new(&entries);
    let paths = ["src/part042/file.rs", "src/part042/legacy_a/gen1.rs", "docs/part042/a.md", "a"];
    let paths = paths.map(path);
    group.bench_function("scope match", |bencher| {
        bencher.iter(|| paths.iter().filter(|path| scope.owns(path)).count());
    });
    let parsed = Registry::parse(at(), &text);
    group.bench_function("owners of a path", |bencher| {
        bencher.iter(|| parsed.owners(&paths[0]).len());
    });
    group.finish();
}

fn shell(criterion: &mut Criterion) {
    let at = CommandContext { cwd: "/work/project".into(), ..CommandContext::default() };
    let mut group = criterion.benchmark_group("shell");
    for (name, dialect, command) in [
        ("reads", Dialect::Posix, "git status --short && rg -n number src | head -50"),
        (
            "loop",
            Dialect::Posix,
            "for f in $(find src -name '*.rs'); do sed -i \"s/a/$b/\" \"$f\"; done",
        ),
        ("PowerShell", Dialect::PowerShell, "Get-ChildItem src -Recurse | Remove-Item -Force"),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| read(command, dialect, &at)));
    }
    group.finish();
}

fn ledger(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_chains(folder.path(), RECORDS, |number, _, _| Record {
        timestamp: "2026-01-01T00:00:00.000Z".to_owned(),
        kind: RecordKind::Selection,
        intent_id: Some(format!("INT-{:04}", number % INTENTS)),
        ..Record::default()
    });
    let trace = ".orchestration/agent_trace/2026/01";
    let mut files: Vec<(RelativePath, Vec<u8>)> = std::fs::read_dir(folder.path().join(trace))
        .expect("the chains")
        .map(|entry| entry.expect("a chain").path())
        .map(|file| {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            (path(&format!("{trace}/{name}")), std::fs::read(&file).expect("a chain"))
        })
        .collect();
    files.sort();
    let mut group = criterion.benchmark_group("ledger");
    group.throughput(Throughput::Elements(RECORDS as u64)).sample_size(10);
    group.bench_function("read", |bencher| bencher.iter(|| Ledger::from_files(&files)));
    group.finish();
}

// -- Answers ---------------------------------------------------------------------------------------------------------

fn file_answers(criterion: &mut Criterion) {
    let files = std::env::var("INTENT_BENCH_FILES")
        .map_or(100, |files| files.parse().expect("a number of files"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path();
    write(root, ".orchestration/active_intents.yaml", REGISTRY);
    let recorded = functions(0, "step", "");
    write(root, FILE, &recorded);
    for file in 0..files {
        write(root, &other(file), &text_of_other(file, ""));
    }
    git(root, &["init", "-q", "--template="]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "all"]);
    record_whole(root, (0..files).map(other).chain([FILE.to_owned()]));
    let more = "let more = left * 2;\n    ";
    let cases = [
        ("as recorded", FILE, recorded.clone()),
        ("one function edited", FILE, recorded.replacen("left + 3", "left + 4", 1)),
        ("every function edited", FILE, functions(0, "step", more)),
        ("every function renamed", FILE, functions(0, "go", "")),
        ("every function renamed and edited", FILE, functions(0, "go", more)),
        ("another file in its place", FILE, functions(50_000, "new", more)),
        ("a new file, nothing recorded", "src/new.rs", functions(90_000, "new", "")),
        ("a copy of the recorded file", "src/copy.rs", recorded.clone()),
    ];
    let mut table = Table::new();
    for (name, place, text) in cases {
        write(root, place, &text);
        let case = AskedCase {
            root,
            path: path(place),
            document: Document::from_text(place, &text),
            files,
        };
        case.document.blocks();
        let mut group = criterion.benchmark_group(format!("answers, {name}"));
        group.sample_size(10);
        let mut fastest = [None; 4];
        let [parse, first, after, again] = &mut fastest;
        group.bench_function("parse", |bencher| {
            timed(
                bencher,
                parse,
                || (),
                |()| {
                    black_box(blocks(&text));
                },
            );
        });
        group.bench_function("first", |bencher| {
            timed(bencher, first, || case.opened(), |ws| case.answer(&ws));
        });
        let mut ws = case.opened();
        case.answer(&ws);
        group.bench_function("after a record", |bencher| {
            let next = || {
                case.record_another();
                ws = ws.reload();
                ws.clone()
            };
            timed(bencher, after, next, |ws| case.answer(&ws));
        });
        group.bench_function("again", |bencher| {
            timed(bencher, again, || ws.clone(), |ws| case.answer(&ws));
        });
        group.finish();
        table.row(name, fastest);
        if place != FILE {
            std::fs::remove_file(root.join(place)).expect("removed");
        }
        write(root, FILE, &recorded);
    }
    table.done();
}

/// A state of a file, about whose blocks a workspace is asked.
struct AskedCase<'a> {
    root: &'a Path,
    path: RelativePath,
    document: Document,
    /// The number of other files.
    files: usize,
}

impl AskedCase<'_> {
    fn opened(&self) -> Workspace {
        Workspace::open(self.root, &ground::Environment::of_process()).expect("a workspace")
    }

    fn answer(&self, ws: &Workspace) {
        black_box(answers::file(ws, &self.path, &self.document));
    }

    /// Records another text of one of the files that an agent is changing.
    fn record_another(&self) {
        // No text is recorded twice.
        static ROUND: AtomicUsize = AtomicUsize::new(0);
        let round = ROUND.fetch_add(1, Ordering::Relaxed);
        let file = round % self.files.min(CHANGED);
        let edit = format!("let round = {round};\n    ");
        write(self.root, &other(file), &text_of_other(file, &edit));
        record_whole(self.root, [other(file)]);
    }
}

/// Measures `run` on the result of `prepare`, and keeps the fastest call.
fn timed<T>(
    bencher: &mut Bencher,
    fastest: &mut Option<Duration>,
    mut prepare: impl FnMut() -> T,
    mut run: impl FnMut(T),
) {
    bencher.iter_custom(|calls| {
        let once = |_| {
            let prepared = prepare();
            let start = Instant::now();
            run(prepared);
            let took = start.elapsed();
            *fastest = Some(fastest.map_or(took, |fastest| fastest.min(took)));
            took
        };
        (0..calls).map(once).sum()
    });
}

/// The fastest call of each, in milliseconds, and its ratio to the parse.
struct Table {
    page: String,
    worst: f64,
}

impl Table {
    fn new() -> Self {
        let page = format!(
            "\n{:<36} {:>8} {:>14} {:>14} {:>14}\n",
            "the fastest, ms, and how often the parse", "parse", "first", "after a record", "again"
        );
        Self { page, worst: 0.0 }
    }

    /// Takes the times of parse, first, after a record, and again. Those that a filter left out are missing.
    fn row(&mut self, name: &str, fastest: [Option<Duration>; 4]) {
        let [Some(parse), first, after, again] = fastest else { return };
        write!(self.page, "{name:<40} {:>8.2}", millis(parse)).expect("a string");
        for time in [first, after, again] {
            let beside = |time: Duration| {
                format!("{:>8.2} {:>5.2}", millis(time), time.as_secs_f64() / parse.as_secs_f64())
            };
            write!(self.page, " {:>14}", time.map(beside).unwrap_or_default()).expect("a string");
        }
        self.page.push('\n');
        for time in [after, again].into_iter().flatten() {
            self.worst = self.worst.max(time.as_secs_f64() / parse.as_secs_f64());
        }
    }

    fn done(&self) {
        // Nothing was measured; each case ran only once.
        if self.worst == 0.0 {
            return;
        }
        print(&self.page);
        if let Ok(limit) = std::env::var("INTENT_BENCH_WITHIN") {
            let limit: f64 = limit.parse().expect("a ratio");
            assert!(self.worst <= limit, "{:.2} times the parse is more than {limit}", self.worst);
        }
    }
}

/// Functions of one shape, about ten lines each, with different literals and callees.
fn functions(from: usize, name: &str, edit: &str) -> String {
    (from..from + FUNCTIONS)
        .map(|number| function(number, &format!("{name}{number}"), edit))
        .collect()
}

fn function(number: usize, name: &str, edit: &str) -> String {
    let (a, b, c) = (number * 7 % 91, number * 13 % 57, number * 31 % 1_009);
    format!(
        "pub fn {name}(left: u64, right: &[u64]) -> u64 {{\n    {edit}let base = seed_{c}(left + 3, {a});\n    let mut sum = base ^ {number};\n    for (at, item) in right.iter().enumerate() {{\n        if at % {} == {b} {{\n            sum += mix_{a}(*item, base);\n        }}\n    }}\n    clamp_{b}(sum)\n}}\n\n",
        b + 2
    )
}

/// Returns the name of another file.
fn other(file: usize) -> String {
    format!("src/part{file}.rs")
}

fn text_of_other(file: usize, edit: &str) -> String {
    let from = FUNCTIONS + file * FUNCTIONS_OF_OTHERS;
    let functions = from..from + FUNCTIONS_OF_OTHERS;
    functions.map(|number| function(number, &format!("other{number}"), edit)).collect()
}

/// Records files as they are.
fn record_whole(root: &Path, paths: impl IntoIterator<Item = String>) {
    let ws = Workspace::open(root, &ground::Environment::of_process()).expect("a workspace");
    let request = RecordRequest {
        paths: paths.into_iter().map(|one| path(&one)).collect(),
        extent: RecordExtent::WholeFile,
        intent: Some("INT-001".to_owned()),
        ..RecordRequest::default()
    };
    record(&ws, &request).expect("recorded");
}

fn path(text: &str) -> RelativePath {
    RelativePath::new(text).expect("a path")
}
