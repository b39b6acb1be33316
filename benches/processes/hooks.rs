//! Measures one call of an agent, judged and recorded, in a repository of 10,000 files, 1,000 intents and 100,000
//! records.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ground::{Git, Ignores, Policy, RelativePath, Root, Selection, session};
use intents::Registry;
use judgement::gate::{Decision, GateRequest, judge};
use ledger::{Record, RecordKind};
use serde_json::{Value, json};
use why::Workspace;

use crate::measured::{Page, median, ran};
use support::{git, registry, write, write_chains};

const FOLDERS: usize = 100;
const FILES: usize = 10_000;
const INTENTS: usize = 1_000;
const RECORDS: usize = 100_000;
/// The file that is edited; `INT-0042` owns it.
const EDITED: &str = "src/part042/file0042.rs";
const SELECTED: &str = "INT-0042";
const HOST: &str = "claude-code:1";

/// Adds a row for each kind of call, compared with a start of `/bin/true`. Returns the ratio of the hook before an
/// edit.
pub fn measure(page: &mut Page, binary: &Path, calls: usize, steps: bool) -> f64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    synthesise(folder.path());
    // The new files are still being written to the disk, and a record would wait for all of them.
    Command::new("sync").status().expect("sync is there");
    // Caches accept only files that have not changed for a moment.
    std::thread::sleep(Duration::from_millis(100));
    page.head(&format!(
        "{FILES} files, {INTENTS} intents, {RECORDS} records; held against `/bin/true`"
    ));
    let hooks = Hooks { binary: binary.to_path_buf(), folder: folder.path().to_path_buf() };
    let mut bare = || ran(&mut Command::new("/bin/true"), &[0]);
    // The first calls fill the caches, ours and the system's.
    for call in 0..3 {
        bare();
        hooks.before(call, EDITED);
    }
    let mut gate = Command::new(binary);
    gate.current_dir(folder.path()).args(["gate", "--json", "--session", HOST, EDITED]);
    page.in_turn("intent gate, in scope", calls, |_| ran(&mut gate, &[0]), &mut bare);
    let before = page.in_turn(
        "hook before an edit in scope",
        calls,
        |call| hooks.before(1_000_000 + call, EDITED),
        &mut bare,
    );
    let (mut hooks_before, mut hooks_after) = (Vec::new(), Vec::new());
    let mut starts = Vec::new();
    for call in 0..calls {
        let (before, after) = hooks.edit(call);
        hooks_before.push(before);
        hooks_after.push(after);
        starts.push(bare());
    }
    page.row("the same, a record after each", &mut hooks_before, median(&mut starts));
    page.row("hook after an edit, recorded", &mut hooks_after, median(&mut starts));
    page.in_turn(
        "hook before an edit outside",
        calls,
        |call| hooks.before(2_000_000 + call, "src/part007/file0007.rs"),
        &mut bare,
    );
    for (name, command) in [
        ("git status", "git status --short && rg -n number src | head -50"),
        ("cargo test", "cargo test --locked 2>&1 | tail -40"),
        ("sed -i", "sed -i 's/Number/Count/' src/part042/file0142.rs"),
    ] {
        let input = json!({ "command": command });
        let (mut before, mut after, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for call in 0..calls {
            before.push(hooks.call("PreToolUse", "Bash", &input, call));
            after.push(hooks.call("PostToolUse", "Bash", &input, call));
            starts.push(bare());
        }
        page.row(&format!("hook before `{name}`"), &mut before, median(&mut starts));
        page.row(&format!("hook after `{name}`"), &mut after, median(&mut starts));
    }
    let registry = folder.path().join(".orchestration/active_intents.yaml");
    let just_written = |call| {
        touch(&registry);
        hooks.before(3_000_000 + call, EDITED)
    };
    page.in_turn("before, registry just written", calls.min(40), just_written, &mut bare);
    let fenced = |_| {
        let mut fence = Command::new(binary);
        fence.current_dir(folder.path()).args([
            "fence",
            "-q",
            "--intent",
            SELECTED,
            "--",
            "/bin/true",
        ]);
        ran(fence.stderr(Stdio::null()), &[0])
    };
    page.in_turn("intent fence -- /bin/true", calls, fenced, &mut bare);
    if steps {
        page.text(&steps_of_fresh_processes(folder.path()));
    }
    before
}

/// An agent's hooks: whole processes that get a payload.
struct Hooks {
    binary: PathBuf,
    folder: PathBuf,
}

impl Hooks {
    /// One edit of the file in scope, with the hooks before and after it.
    fn edit(&self, call: usize) -> (Duration, Duration) {
        let file = self.folder.join(EDITED);
        let text = fs::read_to_string(&file).expect("the file is there");
        let old = text.lines().nth(2).expect("a body").to_owned();
        let new = format!("    {}", 1_000_000 + call);
        let input = json!({ "file_path": file, "old_string": old, "new_string": new });
        let before = self.call("PreToolUse", "Edit", &input, call);
        fs::write(&file, text.replacen(&old, &new, 1)).expect("written");
        (before, self.call("PostToolUse", "Edit", &input, call))
    }

    fn before(&self, call: usize, path: &str) -> Duration {
        let file = self.folder.join(path);
        let input = json!({ "file_path": file, "old_string": "number()", "new_string": "count()" });
        self.call("PreToolUse", "Edit", &input, call)
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

// -- The repository --------------------------------------------------------------------------------------------------

fn synthesise(root: &Path) {
    for file in 0..FILES {
        let text = format!("/// Number {file}.\npub fn number() -> usize {{\n    {file}\n}}\n");
        write(root, &path_of(file), &text);
    }
    write(root, ".gitignore", "/target\n*.log\n");
    write(root, ".orchestration/active_intents.yaml", &registry(INTENTS));
    write(root, ".orchestration/policy.yaml", "mode: enforce\nprotected_paths: [\"LICENSE*\"]\n");
    write_chains(root, RECORDS, |number, _, _| selection(number));
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "everything"]);
    let workspace = Workspace::open(root, &ground::Environment::of_process()).expect("a workspace");
    let selection = Selection {
        intent_id: SELECTED.to_owned(),
        selected_at: "2026-01-01T00:00:00.000Z".to_owned(),
        actor: None,
        branch: None,
        then: None,
    };
    session::select_for(&workspace.root, HOST, &selection).expect("a selection");
}

fn path_of(file: usize) -> String {
    format!("src/part{:03}/file{:04}.rs", file % FOLDERS, file)
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

// -- What one call does ----------------------------------------------------------------------------------------------

/// Returns the steps of a call in microseconds, one per line, measured in this fresh process.
pub fn steps(folder: &Path) -> String {
    let mut page = String::new();
    let mut started = Instant::now();
    let mut step = |name: &str| {
        writeln!(page, "{name}\t{}", started.elapsed().as_micros()).expect("a string");
        started = Instant::now();
    };
    let root =
        Root::find(&folder.join(EDITED), &ground::Environment::of_process()).expect("a root");
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
    black_box(session::selected_by(&root, HOST, |_| true));
    step("selection");
    let git = Git::open(&root).expect("a repository");
    step("Git::open");
    black_box(git.map(|git| git.head()));
    step("Git::head");
    let workspace = Workspace::at_root(root);
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
