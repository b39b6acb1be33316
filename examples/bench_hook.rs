//! How long one call of the gate takes, as a whole process, on a large repository.
//!
//! `cargo build --release && cargo run --release --example bench_hook` makes a repository of 10,000 files with
//! 1,000 intents and 100,000 records in a temporary folder, asks the binary beside this one whether an edit in
//! scope may go ahead, and prints the times beside those of starting `/bin/true`. `--binary PATH` asks another
//! build, `--calls N` says how often, `--steps` also shows what one call spends its time on.

mod support;

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use intent_lsp::facade::intent::Registry;
use intent_lsp::facade::ledger::{Record, RecordKind};
use intent_lsp::facade::verbs::Workspace;
use intent_lsp::facade::verbs::gate::{Decision, GateRequest, judge};
use intent_lsp::facade::workspace::{Git, Ignores, Policy, RelativePath, Root, session};
use support::{binary_beside, git, millis, print, write, write_chains};

const FOLDERS: usize = 100;
const FILES: usize = 10_000;
const INTENTS: usize = 1_000;
const RECORDS: usize = 100_000;
/// The file that is edited; `INT-0042` owns it.
const EDITED: &str = "src/part042/file0042.rs";
const SELECTED: &str = "INT-0042";
const HOST: &str = "claude-code:1";

fn main() {
    let options = Options::read();
    if let Some(folder) = options.one_call {
        return print(&steps(&folder));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let started = Instant::now();
    synthesise(folder.path());
    let mut page = format!(
        "{FILES} files, {INTENTS} intents, {RECORDS} records; made in {:.1} s\n\n",
        started.elapsed().as_secs_f64()
    );
    // What was just made is still on its way to the disk, and a record that waits for the disk would wait for all of it.
    Command::new("sync").status().expect("sync is there");
    // Caches trust only what has been at rest for a moment.
    std::thread::sleep(Duration::from_millis(100));
    row_head(&mut page);
    let idle = times(options.calls, || Command::new("/bin/true"), 0);
    row(&mut page, "/bin/true", idle);
    let gate = || {
        let mut command = Command::new(&options.binary);
        command.current_dir(folder.path()).args(["gate", "--json", "--session", HOST, EDITED]);
        command
    };
    row(&mut page, "intent gate, in scope", times(options.calls, gate, 0));
    let hooks = Hooks { binary: options.binary.clone(), folder: folder.path().to_path_buf() };
    let edits = hooks.edits(options.calls);
    row(&mut page, "hook before an edit in scope", edits.0);
    row(&mut page, "hook after it, recorded", edits.1);
    let denied = (0..options.calls).map(|call| hooks.before(call, "src/part007/file0007.rs"));
    row(&mut page, "hook before an edit outside", sorted(denied));
    for (name, command) in [
        ("git status", "git status --short && rg -n number src | head -50"),
        ("cargo test", "cargo test --locked 2>&1 | tail -40"),
        ("sed -i", "sed -i 's/Number/Count/' src/part042/file0142.rs"),
    ] {
        let (before, after) = hooks.commands(options.calls, command);
        row(&mut page, &format!("hook before `{name}`"), before);
        row(&mut page, &format!("hook after `{name}`"), after);
    }
    let touched = (0..options.calls.min(40)).map(|call| {
        touch(&folder.path().join(".orchestration/active_intents.yaml"));
        hooks.before(call, EDITED)
    });
    row(&mut page, "before, registry just written", sorted(touched));
    if options.steps {
        page.push_str(&steps_of_fresh_processes(folder.path()));
    }
    print(&page);
}

/// An agent's hooks: whole processes that are given a payload.
struct Hooks {
    binary: PathBuf,
    folder: PathBuf,
}

impl Hooks {
    fn edits(&self, calls: usize) -> (Vec<Duration>, Vec<Duration>) {
        let file = self.folder.join(EDITED);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for call in 0..calls {
            let text = fs::read_to_string(&file).expect("the file is there");
            let old = text.lines().nth(2).expect("a body").to_owned();
            let new = format!("    {}", 1_000_000 + call);
            let input = json!({ "file_path": file, "old_string": old, "new_string": new });
            before.push(self.call("PreToolUse", "Edit", &input, call));
            fs::write(&file, text.replacen(&old, &new, 1)).expect("written");
            after.push(self.call("PostToolUse", "Edit", &input, call));
        }
        (sorted(before.into_iter()), sorted(after.into_iter()))
    }

    fn before(&self, call: usize, path: &str) -> Duration {
        let file = self.folder.join(path);
        let input = json!({ "file_path": file, "old_string": "number()", "new_string": "count()" });
        self.call("PreToolUse", "Edit", &input, 1_000_000 + call)
    }

    fn commands(&self, calls: usize, command: &str) -> (Vec<Duration>, Vec<Duration>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for call in 0..calls {
            let (input, call) = (json!({ "command": command }), 2_000_000 + call);
            before.push(self.call("PreToolUse", "Bash", &input, call));
            after.push(self.call("PostToolUse", "Bash", &input, call));
        }
        (sorted(before.into_iter()), sorted(after.into_iter()))
    }

    fn call(&self, event: &str, tool: &str, input: &Value, call: usize) -> Duration {
        let payload = json!({
            "session_id": "1",
            "cwd": self.folder,
            "permission_mode": "default",
            "hook_event_name": event,
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": format!("{tool}-{call}"),
        });
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.folder).args(["hook", "claude-code"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(payload.to_string().as_bytes()).expect("written");
        drop(stdin);
        child.wait_with_output().expect("it ends");
        started.elapsed()
    }
}

fn sorted(times: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times
}

struct Options {
    binary: PathBuf,
    calls: usize,
    steps: bool,
    one_call: Option<PathBuf>,
}

impl Options {
    fn read() -> Self {
        let mut options =
            Self { binary: binary_beside(), calls: 300, steps: false, one_call: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("the option takes a value");
            match word.as_str() {
                "--binary" => options.binary = value().into(),
                "--calls" => options.calls = value().parse().expect("a number of calls"),
                "--one-call" => options.one_call = Some(value().into()),
                "--steps" => options.steps = true,
                other => panic!("unknown option {other}"),
            }
        }
        options
    }
}

// -- The repository --------------------------------------------------------------------------------------------------

fn synthesise(root: &Path) {
    for file in 0..FILES {
        let text = format!("/// Number {file}.\npub fn number() -> usize {{\n    {file}\n}}\n");
        write(root, &path_of(file), &text);
    }
    write(root, ".gitignore", "/target\n*.log\n");
    write(root, ".orchestration/active_intents.yaml", &registry());
    write(root, ".orchestration/policy.yaml", "mode: enforce\nprotected_paths: [\"LICENSE*\"]\n");
    write_chains(root, RECORDS, |number, _, _| selection(number));
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "everything"]);
    let workspace = Workspace::open(root).expect("a workspace");
    let selection = intent_lsp::facade::workspace::Selection {
        intent_id: SELECTED.to_owned(),
        selected_at: "2026-01-01T00:00:00.000Z".to_owned(),
        actor: None,
    };
    session::select_for(&workspace.root, HOST, &selection).expect("a selection");
}

fn path_of(file: usize) -> String {
    format!("src/part{:03}/file{:04}.rs", file % FOLDERS, file)
}

fn registry() -> String {
    let mut text = String::from("active_intents:\n");
    for number in 0..INTENTS {
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

fn selection(number: usize) -> Record {
    Record {
        timestamp: "2026-01-01T00:00:00.000Z".to_owned(),
        kind: RecordKind::Selection,
        intent_id: Some(format!("INT-{:04}", number % INTENTS)),
        ..Record::default()
    }
}

fn touch(file: &Path) {
    let text = fs::read(file).expect("the registry");
    fs::write(file, text).expect("the registry");
}

// -- Whole processes -------------------------------------------------------------------------------------------------

/// From just before the start to the end of each process, sorted; each must answer `code`.
fn times(calls: usize, mut command: impl FnMut() -> Command, code: i32) -> Vec<Duration> {
    let mut once = || {
        let mut command = command();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let started = Instant::now();
        let status = command.status().expect("the program starts");
        let took = started.elapsed();
        assert_eq!(status.code(), Some(code), "{command:?}");
        took
    };
    // The first calls fill the caches, ours and the system's.
    (0..3).for_each(|_| {
        once();
    });
    let mut times: Vec<Duration> = (0..calls).map(|_| once()).collect();
    times.sort();
    times
}

fn row_head(page: &mut String) {
    page.push_str("                              p50 ms   p90 ms   p99 ms\n");
}

fn row(page: &mut String, name: &str, times: Vec<Duration>) {
    let at = |share: usize| millis(times[(times.len() * share / 100).min(times.len() - 1)]);
    writeln!(page, "{name:<28} {:>8.2} {:>8.2} {:>8.2}", at(50), at(90), at(99))
        .expect("writing to a string cannot fail");
}

// -- What one call does ----------------------------------------------------------------------------------------------

/// The steps of a call in microseconds, a line each, measured in this process, which did nothing before.
fn steps(folder: &Path) -> String {
    let mut page = String::new();
    let mut started = Instant::now();
    let mut step = |name: &str| {
        writeln!(page, "{name}\t{}", started.elapsed().as_micros()).expect("a string");
        started = Instant::now();
    };
    let root = Root::find(&folder.join(EDITED)).expect("a root");
    step("Root::find");
    black_box(Policy::load(&root));
    step("Policy::load");
    let registry = black_box(Registry::load(&root));
    step("Registry::load");
    let path = RelativePath::new(EDITED).expect("a path");
    black_box(registry.scope(SELECTED).expect("an intent").owns(&path));
    step("its scope");
    let ignores = black_box(Ignores::load(&root));
    step("Ignores::load");
    black_box((ignores.denied(&path), ignores.git_ignored(&path)));
    step("ignored?");
    black_box(session::selected_by(&root, HOST));
    step("selection");
    let git = Git::open(&root).expect("a repository");
    step("Git::open");
    black_box(git.map(|git| git.head()));
    step("Git::head");
    let workspace = Workspace::at(root);
    step("Workspace::at, warm");
    let request = GateRequest {
        paths: vec![EDITED.to_owned()],
        session: Some(HOST.to_owned()),
        ..GateRequest::default()
    };
    assert_eq!(judge(&workspace, &request), Decision::NoOpinion);
    step("judge, warm");
    drop((registry, workspace));
    step("drop");
    page
}

/// The median of each step over fresh processes.
fn steps_of_fresh_processes(folder: &Path) -> String {
    let own = std::env::current_exe().expect("a path of its own");
    let mut found: Vec<(String, Vec<u64>)> = Vec::new();
    for _ in 0..41 {
        let output = Command::new(&own).arg("--one-call").arg(folder).output().expect("it starts");
        let text = String::from_utf8(output.stdout).expect("text");
        for (at, line) in text.lines().enumerate() {
            let (name, took) = line.split_once('\t').expect("a step");
            if found.len() <= at {
                found.push((name.to_owned(), Vec::new()));
            }
            found[at].1.push(took.parse().expect("a number"));
        }
    }
    let mut page = String::from("\nstep, median                    µs\n");
    for (name, mut took) in found {
        took.sort_unstable();
        writeln!(page, "{name:<24} {:>9}", took[took.len() / 2]).expect("a string");
    }
    page
}
