//! How long questions to the ledger take, and how much memory, at 10,000 recorded blocks and at 1,000,000.
//!
//! `cargo build --release && cargo run --release --example bench_ledger` makes both ledgers in a temporary folder (about
//! 1 GB), asks them in fresh processes, once without an index and then with the one that was kept, and prints the times
//! side by side. `--ranges N` asks one size alone, `--binary PATH` another build of `intent`; `--within R` fails where a
//! look-up takes more than `R` times as long at the second size.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use intent_lsp::code::{ContentHash, ShapeHash, Sketch, TokenHash};
use intent_lsp::ledger::{
    BlockName, BlockRecord, Conversation, FileRecord, Record, RecordKind, Related,
};
use intent_lsp::verbs::{Workspace, why};
use intent_lsp::workspace::RelativePath;
use support::{binary_beside, git, millis, print, write, write_chains};

const SIZES: [usize; 2] = [10_000, 1_000_000];
const RANGES_A_RECORD: usize = 4;
/// Records of one file, whatever the size of the ledger: what grows is the number of files.
const RECORDS_A_FILE: usize = 20;
const BLOCKS_A_FILE: usize = 20;
const LANES: usize = 128;
const CALLS: usize = 1_000;
const PROCESSES: usize = 15;
/// Processes that ask what one is asked in; the fastest counts.
const CALLERS: usize = 5;

fn main() {
    let options = Options::read();
    if let Some(folder) = options.one_call {
        return print(&format!("{}\n", measured(&folder, options.ranges.unwrap_or_default())));
    }
    let sizes = options.ranges.map_or(SIZES.to_vec(), |ranges| vec![ranges]);
    let folders: Vec<_> =
        sizes.iter().map(|_| tempfile::tempdir().expect("a temporary folder")).collect();
    let mut columns = Vec::new();
    for (ranges, folder) in sizes.iter().zip(&folders) {
        columns.push(column(folder.path(), *ranges, &options.binary));
    }
    // In turn, so that what else runs on the machine meets all sizes alike.
    for _ in 0..CALLERS {
        for ((ranges, folder), column) in sizes.iter().zip(&folders).zip(&mut columns) {
            for (name, value) in call(folder.path(), *ranges) {
                let fastest = column.entry(name).or_insert(value);
                *fastest = value.min(*fastest);
            }
        }
    }
    let mut page = format!("{:<44}", "recorded blocks");
    for ranges in &sizes {
        write!(page, "{ranges:>12}").expect("a string");
    }
    page.push('\n');
    let names: Vec<String> = columns[0].keys().cloned().collect();
    for name in names {
        write!(page, "{name:<44}").expect("a string");
        for column in &columns {
            write!(page, "{:>12.2}", column.get(&name).copied().unwrap_or(f64::NAN))
                .expect("a string");
        }
        page.push('\n');
    }
    print(&page);
    if let (Some(limit), [small, large]) = (options.within, &columns[..]) {
        let slower = small
            .iter()
            .filter(|(name, _)| COMPARED.iter().any(|compared| name.contains(compared)))
            .filter(|(name, time)| large[*name] > *time * limit);
        let slower: Vec<&String> = slower.map(|(name, _)| name).collect();
        assert!(slower.is_empty(), "more than {limit} times as slow: {slower:?}");
    }
}

struct Options {
    binary: PathBuf,
    within: Option<f64>,
    ranges: Option<usize>,
    one_call: Option<PathBuf>,
}

impl Options {
    fn read() -> Self {
        let mut options =
            Self { binary: binary_beside(), within: None, ranges: None, one_call: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("the option takes a value");
            match word.as_str() {
                "--binary" => options.binary = value().into(),
                "--within" => options.within = Some(value().parse().expect("a ratio")),
                "--ranges" => options.ranges = Some(value().parse().expect("a number of blocks")),
                "--one-call" => options.one_call = Some(value().into()),
                other => panic!("unknown option {other}"),
            }
        }
        options
    }
}

/// Everything that is measured of one size, by name.
fn column(root: &Path, ranges: usize, binary: &Path) -> BTreeMap<String, f64> {
    synthesise(root, ranges);
    // Only what has been at rest is kept.
    std::thread::sleep(Duration::from_millis(100));
    let mut column = BTreeMap::new();
    let ask = || {
        let mut command = Command::new(binary);
        command.current_dir(root).args(["why", "--json", &path_of(files(ranges) / 2)]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let started = Instant::now();
        assert!(command.status().expect("the program starts").success());
        millis(started.elapsed())
    };
    column.insert("1 intent why FILE, no index yet, ms".to_owned(), ask());
    let mut warm: Vec<f64> = (0..PROCESSES).map(|_| ask()).collect();
    warm.sort_by(f64::total_cmp);
    column.insert("2 intent why FILE, p50 ms".to_owned(), warm[PROCESSES / 2]);
    column.insert("2 intent why FILE, worst ms".to_owned(), warm[PROCESSES - 1]);
    let record = record_once(root, binary, ranges);
    column.insert("3 intent record FILE, p50 ms".to_owned(), record.0);
    column.insert("3 intent record FILE, worst ms".to_owned(), record.1);
    let index = size_of(&root.join(".git/intent/index"));
    let ledger = size_of(&root.join(".orchestration/agent_trace"));
    column.insert("9 ledger, MB".to_owned(), ledger as f64 / 1e6);
    column.insert("9 index on disk, bytes a block".to_owned(), index as f64 / ranges as f64);
    column
}

/// Look-ups that go to the index in a ledger of any size: of the paths of a small one, most have been asked for before.
const COMPARED: [&str; 4] =
    ["content that is there, p50", "content that is not, p50", "name, p50", "alike, p50"];

/// What a process of its own says of the questions it asks.
fn call(root: &Path, ranges: usize) -> BTreeMap<String, f64> {
    let own = std::env::current_exe().expect("a path of its own");
    let output = Command::new(own)
        .args(["--ranges", &ranges.to_string(), "--one-call"])
        .arg(root)
        .output()
        .expect("it starts");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Edits a file and records it, some times: the median and the worst.
fn record_once(root: &Path, binary: &Path, ranges: usize) -> (f64, f64) {
    let name = path_of(files(ranges) / 3);
    let file = root.join(&name);
    let mut times = Vec::new();
    for call in 0..PROCESSES {
        let text = fs::read_to_string(&file).expect("the file is there");
        fs::write(&file, text.replacen("+ 3", &format!("+ {call} + 3"), 1)).expect("written");
        let mut command = Command::new(binary);
        command.current_dir(root).args(["record", "--intent", "INT-0001", &name]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        assert!(command.status().expect("the program starts").success());
        times.push(millis(started.elapsed()));
    }
    times.sort_by(f64::total_cmp);
    (times[PROCESSES / 2], times[PROCESSES - 1])
}

fn size_of(folder: &Path) -> u64 {
    let mut all = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.metadata().expect("it is there");
        all += if found.is_dir() { size_of(&entry.path()) } else { found.len() };
    }
    all
}

// -- One process -----------------------------------------------------------------------------------------------------

/// Times and memory of a process that opens the ledger and asks it.
fn measured(root: &Path, ranges: usize) -> Value {
    let mut found = serde_json::Map::new();
    let mut put = |name: &str, value: f64| found.insert(name.to_owned(), json!(value));
    let started = Instant::now();
    let workspace = Workspace::open(root).expect("a workspace");
    let blocks = workspace.ledger.entries().len();
    put("4 open the ledger, ms", millis(started.elapsed()));
    black_box(blocks);
    put("8 memory once open, MB", memory("VmRSS"));
    let path = RelativePath::new(&path_of(files(ranges) / 2)).expect("a path");
    let started = Instant::now();
    black_box(why::on_disk(&workspace, &path, why::Which::All).expect("an answer"));
    put("4 why, first file, ms", millis(started.elapsed()));
    let ledger = &*workspace.ledger;
    let mut random = Random(7);
    let mut timed = |name: &str, ask: &mut dyn FnMut(usize)| {
        let mut times: Vec<f64> = (0..CALLS)
            .map(|_| {
                let at = random.below(ranges);
                let started = Instant::now();
                ask(at);
                started.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        put(&format!("5 {name}, p50 us"), times[CALLS / 2]);
        put(&format!("5 {name}, p99 us"), times[CALLS * 99 / 100]);
    };
    timed("content that is there", &mut |at| {
        assert_eq!(ledger.by_content(&block(at).content_hash).len(), 1);
    });
    timed("content that is not", &mut |at| {
        assert!(ledger.by_content(&block(at + ranges).content_hash).is_empty());
    });
    timed("a claim, its record read", &mut |at| {
        let claims = ledger.by_tokens(block(at).token_hash.as_ref().expect("tokens"));
        black_box(ledger.claim(claims[0]).range);
    });
    timed("a path", &mut |at| {
        black_box(ledger.of_path(&RelativePath::new(&path_of(file_of(at))).expect("a path")));
    });
    timed("a name", &mut |at| {
        black_box(
            ledger.by_called("function", &format!("f{}x{}", file_of(at), at % BLOCKS_A_FILE)),
        );
    });
    timed("what is alike", &mut |at| {
        let sketch = sketch(at, Some(at as u64));
        assert!(!ledger.similar(&sketch, 16).is_empty());
    });
    put("8 memory after all, MB", memory("VmRSS"));
    put("8 memory at most, MB", memory("VmHWM"));
    Value::Object(found)
}

/// What the system says of this process, in megabytes; nothing where it says nothing.
fn memory(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1000.0
}

// -- The ledger ------------------------------------------------------------------------------------------------------

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

fn files(ranges: usize) -> usize {
    (ranges / RANGES_A_RECORD / RECORDS_A_FILE).max(1)
}

/// The file that a block with that number is recorded of.
fn file_of(range: usize) -> usize {
    range / RANGES_A_RECORD / RECORDS_A_FILE
}

fn path_of(file: usize) -> String {
    format!("src/part{:03}/file{file:05}.rs", file % 100)
}

fn synthesise(root: &Path, ranges: usize) {
    for file in 0..files(ranges) {
        let mut text = String::new();
        for at in 0..BLOCKS_A_FILE {
            write!(text, "pub fn f{file}x{at}(n: usize) -> usize {{\n    n * {at} + 3\n}}\n\n")
                .expect("a string");
        }
        write(root, &path_of(file), &text);
    }
    let mut registry = String::from("active_intents:\n");
    for number in 0..200 {
        write!(
            registry,
            "  - id: INT-{number:04}\n    name: Part {number}\n    status: IN_PROGRESS\n    owned_scope: [\"src/**\"]\n"
        )
        .expect("a string");
    }
    write(root, ".orchestration/active_intents.yaml", &registry);
    write_chains(root, ranges / RANGES_A_RECORD, mutation);
    git(root, &["init", "-q"]);
    git(root, &["add", "-A", "src", ".orchestration/active_intents.yaml"]);
    git(root, &["commit", "-q", "-m", "all"]);
}

fn mutation(number: usize, writer: usize, seq: usize) -> Record {
    let ranges = (0..RANGES_A_RECORD).map(|range| block(number * RANGES_A_RECORD + range));
    let intent = format!("INT-{:04}", number % 200);
    Record {
        timestamp: format!(
            "2026-01-{:02}T{:02}:{:02}:{:02}.000Z",
            1 + writer / 24 % 28,
            writer % 24,
            seq / 60 % 60,
            seq % 60
        ),
        kind: RecordKind::Mutation,
        intent_id: Some(intent.clone()),
        files: vec![FileRecord {
            relative_path: RelativePath::new(&path_of(number / RECORDS_A_FILE)).expect("a path"),
            conversations: vec![Conversation {
                ranges: ranges.collect(),
                ..Conversation::default()
            }],
            related: vec![Related { kind: "intent".to_owned(), value: intent }],
            outline: None,
            reasons: Vec::new(),
            extra: Default::default(),
        }],
        ..Record::default()
    }
}

/// The block with that number.
fn block(number: usize) -> BlockRecord {
    let mut random = Random(number as u64 * 1_000);
    let mut digits = |count: usize| -> String {
        (0..count / 16).map(|_| format!("{:016x}", random.next())).collect()
    };
    let at = number % BLOCKS_A_FILE;
    BlockRecord {
        block: Some(BlockName {
            kind: "function".to_owned(),
            path: format!("f{}x{at}", file_of(number)),
            parameters: Some("usize".to_owned()),
            ordinal: 0,
            language: Some("rust".to_owned()),
        }),
        token_hash: Some(TokenHash::from_ledger(format!("t1:{}", digits(32)))),
        shape_hash: Some(ShapeHash::from_ledger(format!("s1:{}", digits(32)))),
        sketch: Some(sketch(number, None)),
        tokens: Some(40),
        replaces: Some(ContentHash::from_ledger(format!("sha256:{}", digits(64)))),
        ..BlockRecord::bare(
            at as u32 * 4 + 1,
            at as u32 * 4 + 3,
            ContentHash::from_ledger(format!("sha256:{}", digits(64))),
        )
    }
}

/// The sketch of a block; with every fourth lane exchanged where it has been edited.
fn sketch(number: usize, edited: Option<u64>) -> Sketch {
    let mut random = Random(number as u64 * 1_000 + 500);
    let mut lanes: Vec<u8> = (0..LANES).map(|_| random.next() as u8).collect();
    if let Some(seed) = edited {
        let mut other = Random(seed ^ u64::MAX);
        lanes.iter_mut().step_by(4).for_each(|lane| *lane = other.next() as u8);
    }
    let text = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(lanes);
    Sketch::from_ledger(format!("m1:{text}"))
}
