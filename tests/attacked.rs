//! A repository that attacks whoever opens it: each test builds it, commits it and clones it, and then runs every
//! command and the server in the clone, with limits on time and memory.

use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::editor::Editor;
use crate::support::{Repo, git, runs_all, sample_or_all, temporary_folder};
use serde_json::json;

/// The time limit of one command. It is generous, because this is a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// The address space that a command may have, in KiB. Threads reserve much of it and use little.
const MEMORY: &str = "2500000";
/// The content of a file outside the workspace. No command may ever print it.
const SECRET: &str = "hunter2-of-the-machine";

/// A clone of a repository that an attacker has committed, beside a file that does not belong to it.
struct Clone {
    folder: tempfile::TempDir,
}

impl Clone {
    fn of(build: impl FnOnce(&Repo, &Path)) -> Self {
        let folder = temporary_folder();
        let outside = folder.path().join("outside");
        std::fs::write(&outside, format!("{SECRET}: [\n{SECRET}\n")).expect("written");
        let theirs = Repo::new();
        theirs.write("src/a.rs", "fn one() {\n    first(1);\n}\n");
        build(&theirs, &outside);
        theirs.commit("theirs");
        let source = theirs.root().display().to_string();
        git(folder.path(), &["clone", "-q", &source, "clone"]);
        let clone = Self { folder };
        clone.run(&["select", "INT-001"]);
        clone
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("clone").canonicalize().expect("cloned")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// Replaces a file by a named pipe that nobody writes to, so that reading it would block forever.
    fn pipe(&self, path: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let _ = std::fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
    }

    /// Returns what a command prints. Fails if the command exceeds the time limit, is ended by a signal, or panics.
    fn run(&self, arguments: &[&str]) -> String {
        self.run_within(PATIENCE, arguments)
    }

    fn run_within(&self, patience: Duration, arguments: &[&str]) -> String {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
            .arg(env!("CARGO_BIN_EXE_intent"))
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("intent runs");
        let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take());
        let reading = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.read_to_end(&mut bytes);
            bytes
        });
        let complaints = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = err.as_mut().map(|err| err.read_to_end(&mut bytes));
            bytes
        });
        let end = Instant::now() + patience;
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if Instant::now() > end {
                child.kill().expect("killed");
                child.wait().expect("waited for");
                panic!("intent {arguments:?} did not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let bytes = [reading.join().expect("read"), complaints.join().expect("read")].concat();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let sound = status.signal().is_none() && status.code() != Some(101);
        assert!(sound, "intent {arguments:?}: {status}: {text}");
        assert!(!text.contains(SECRET), "intent {arguments:?} prints a file outside: {text}");
        text
    }

    /// Runs the commands that read every kind of rule file, and an eighth of the others.
    fn run_commands(&self, nth: usize) {
        let reads = ["status", "check", "doctor", "policy", "init", "hook", "map", "record"];
        for (at, command) in commands().iter().enumerate() {
            if runs_all() || reads.contains(&command[0]) || (at + nth).is_multiple_of(8) {
                self.run(command);
            }
        }
    }

    /// Opens files in the server and asks it about them. The server must answer, and must not use much memory.
    fn serve(&self, paths: &[&str]) {
        let mut editor = Editor::open_at(&self.root(), &json!({}));
        for (at, path) in (1..).zip(paths) {
            let uri = format!("file://{}", self.path(path).display());
            let text = std::fs::read_to_string(self.path("src/a.rs")).expect("text");
            let item = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
            editor.tell("textDocument/didOpen", &json!({ "textDocument": item }));
            let place = json!({ "textDocument": { "uri": uri },
                                "position": { "line": 1, "character": 1 } });
            editor.ask(2 * at, "textDocument/hover", &place);
            let why = json!({ "command": "intent.why", "arguments": [{ "uri": uri, "line": 1 }] });
            let told = editor.reply(2 * at + 1, "workspace/executeCommand", &why);
            assert!(!told.to_string().contains(SECRET), "{told}");
        }
        let outside = format!("file://{}", self.folder.path().join("outside").display());
        let why = json!({ "command": "intent.why", "arguments": [{ "uri": outside }] });
        let told = editor.reply(1, "workspace/executeCommand", &why);
        assert!(told["error"]["message"].to_string().contains("open its folder first"), "{told}");
        if let Some(peak) = editor.peak() {
            assert!(peak < 1_000_000, "the server used {peak} KiB");
        }
    }
}

/// Every command, with arguments that make it read as much as possible.
fn commands() -> Vec<Vec<&'static str>> {
    let lines = [
        "list",
        "status",
        "context INT-001",
        "for src/a.rs",
        "select INT-001",
        "why src/a.rs:2",
        "why src/a.rs --history",
        "check",
        "check --base HEAD",
        "map --stdout",
        "map --check",
        "map",
        "report -o -",
        "verify --blocks",
        "trace",
        "doctor",
        "gate src/a.rs",
        "gate README.md --intent INT-001",
        "record --all --yes src --intent INT-001",
        "accept src/a.rs:2",
        "reassign src/a.rs:2 --from INT-001 --to INT-002",
        "seal",
        "compact",
        "anchor",
        "attest HEAD",
        "erase nobody --why x",
        "lesson --intent INT-001 learnt",
        "propose more --scope x/** --reason y",
        "request-scope --intent INT-001 --add x/** --reason y",
        "new more --scope x/**",
        "start INT-002",
        "test INT-001 -- true",
        "complete INT-002",
        "edit INT-002 --name Other",
        "adopt openspec:add-login --yes",
        "renumber INT-002 --file .orchestration/intents/INT-002.yaml",
        "split-registry",
        "merge-registry",
        "clear",
        "approve",
        "reject ABCDEF",
        "off --for 10m",
        "on",
        "hook claude-code",
        "git-hooks",
        "fence --explain",
        "import agent-trace .agent-trace/traces.jsonl",
        "export",
        "sessions import --dry-run",
        "worktree agent",
        "policy --explain",
        "check --format sarif",
        "check --format junit --baseline",
        "check --format markdown --verbose",
        "protocol",
        "explain ls",
        "lsp",
        "mcp",
        "init --team",
        "demo ../shown",
        "completions bash",
        "man",
        "schema policy",
        "uninstall --everything",
    ];
    lines.into_iter().map(|line| line.split(' ').collect()).collect()
}

#[test]
fn the_list_of_commands_is_complete() {
    let tried: Vec<&str> = commands().iter().map(|words| words[0]).collect();
    let all = intent_lsp::cli::command();
    // The commands of the groups are tried by their short spellings.
    let single = all.get_subcommands().filter(|sub| !sub.has_subcommands());
    let missing: Vec<&str> =
        single.map(|sub| sub.get_name()).filter(|it| !tried.contains(it)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The files with rules for git and for this program, which count in any folder.
const STEERING: [&str; 5] =
    [".gitignore", "src/.gitignore", ".gitattributes", "src/.gitattributes", ".rooignore"];
/// The files with rules that only this program reads.
const OURS: [&str; 4] = [
    ".intentignore",
    ".orchestration/policy.yaml",
    ".orchestration/intents/INT-009.yaml",
    ".orchestration/agent_trace/2026/01/x.jsonl",
];

#[test]
#[ignore = "slow"]
fn rule_files_that_link_to_an_endless_device_do_no_harm() {
    let clone = Clone::of(|repo, _| {
        for path in STEERING.iter().chain(&OURS) {
            repo.write(path, "");
            repo.remove(path);
            symlink("/dev/zero", repo.root().join(path)).expect("linked");
        }
        repo.write("AGENTS.md", "");
        repo.remove("AGENTS.md");
        symlink("/dev/zero", repo.root().join("AGENTS.md")).expect("linked");
    });
    clone.run_commands(1);
    clone.serve(&["src/a.rs"]);
}

#[test]
#[ignore = "slow"]
fn rule_files_that_are_pipes_do_not_block() {
    let clone = Clone::of(|_, _| {});
    for path in STEERING.iter().chain(&OURS) {
        clone.pipe(path);
    }
    clone.pipe(".gitmodules");
    clone.pipe("src/b.rs");
    clone.pipe("AGENTS.md");
    clone.pipe(".claude/settings.json");
    clone.pipe(".orchestration/active_intent_current.json");
    clone.run_commands(2);
    clone.serve(&["src/a.rs", "src/b.rs"]);
}

#[test]
#[ignore = "slow"]
fn no_command_prints_a_file_outside_the_workspace() {
    for (nth, rule) in [
        ".orchestration/policy.yaml",
        ".intentignore",
        ".orchestration/active_intents.yaml",
        ".orchestration/intents/INT-009.yaml",
        ".gitattributes",
        "AGENTS.md",
        ".claude/settings.json",
        "src/b.rs",
    ]
    .into_iter()
    .enumerate()
    {
        let clone = Clone::of(|repo, outside| {
            repo.write(rule, "");
            repo.remove(rule);
            symlink(outside, repo.root().join(rule)).expect("linked");
        });
        // The link leads out of the clone, too.
        assert!(clone.path(rule).is_symlink());
        clone.run_commands(nth);
        clone.run(&["why", "src/b.rs:1"]);
    }
}

#[test]
#[ignore = "slow"]
fn a_folder_of_rules_behind_a_link_is_not_read() {
    let clone = Clone::of(|_, _| {});
    let elsewhere = clone.folder.path().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("made");
    std::fs::write(elsewhere.join("policy.yaml"), format!("{SECRET}: [\n")).expect("written");
    std::fs::remove_dir_all(clone.path(".orchestration")).expect("removed");
    symlink(&elsewhere, clone.path(".orchestration")).expect("linked");
    clone.run_commands(3);
    let names: Vec<_> = std::fs::read_dir(&elsewhere).expect("listed").collect();
    assert_eq!(names.len(), 1, "something was written through a link: {names:?}");
}

#[test]
#[ignore = "slow"]
fn git_files_that_are_pipes_or_endless_do_not_block() {
    let try_out = |path: &str| {
        let clone = Clone::of(|_, _| {});
        let few = [
            &["status"][..],
            &["check"],
            &["why", "src/a.rs:2"],
            &["map", "--stdout"],
            &["verify", "--blocks"],
            &["record", "--all", "--yes", "src", "--intent", "INT-001"],
            &["doctor"],
        ];
        clone.pipe(&format!(".git/{path}"));
        few.iter().for_each(|command| drop(clone.run(command)));
        std::fs::remove_file(clone.path(&format!(".git/{path}"))).expect("removed");
        symlink("/dev/zero", clone.path(&format!(".git/{path}"))).expect("linked");
        few.iter().for_each(|command| drop(clone.run(command)));
    };
    // Most of this time git waits for a pipe.
    std::thread::scope(|scope| {
        for path in [
            "HEAD",
            "config",
            "index",
            "packed-refs",
            "shallow",
            "info/exclude",
            "info/attributes",
            "objects/info/alternates",
            "objects/pack/pack-0000000000000000000000000000000000000000.idx",
            "refs/heads/main",
            "refs/remotes/origin/other",
            "refs/stash",
            "logs/refs/stash",
            "intent/seal.key",
            "intent/ledger.lock",
        ] {
            scope.spawn(move || try_out(path));
        }
    });
}

#[test]
fn git_settings_that_include_an_endless_device_do_no_harm() {
    let clone = Clone::of(|_, _| {});
    git(&clone.root(), &["config", "include.path", "/dev/zero"]);
    for command in [
        &["status"][..],
        &["record", "--all", "--yes", "src", "--intent", "INT-001", "--contributor", "human"],
        &["lesson", "--intent", "INT-001", "learnt"],
    ] {
        clone.run(command);
    }
}

#[test]
fn an_unreadable_git_folder_is_reported_with_the_bad_file() {
    let clone = Clone::of(|_, _| {});
    clone.pipe(".git/index");
    let told = clone.run(&["check"]);
    assert!(told.contains(".git/index is no regular file; move it away"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow"]
fn a_folder_replaced_by_a_link_never_leads_a_write_outside() {
    let clone = Clone::of(|_, _| {});
    let elsewhere = clone.folder.path().join("elsewhere");
    std::fs::create_dir_all(elsewhere.join("local")).expect("made");
    for name in ["active_intent_current.json", "intent_map.md", "agent_trace.jsonl"] {
        std::fs::write(elsewhere.join(name), SECRET).expect("written");
    }
    let (rules, link) = (clone.path(".orchestration"), clone.path("link"));
    symlink(&elsewhere, &link).expect("linked");
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let exchanging = scope.spawn(|| {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            while !has_ended.load(Ordering::Relaxed) {
                renameat_with(CWD, &rules, CWD, &link, RenameFlags::EXCHANGE).expect("exchanged");
            }
        });
        for _ in 0..sample_or_all(12, 120) {
            clone.run(&["select", "INT-001"]);
            clone.run(&["map"]);
        }
        has_ended.store(true, Ordering::Relaxed);
        exchanging.join().expect("exchanged");
    });
    let mut names: Vec<_> = std::fs::read_dir(&elsewhere)
        .expect("listed")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["active_intent_current.json", "agent_trace.jsonl", "intent_map.md", "local"]
    );
    for name in ["active_intent_current.json", "intent_map.md", "agent_trace.jsonl"] {
        let stands = std::fs::read_to_string(elsewhere.join(name)).expect("text");
        assert_eq!(stands, SECRET, "{name} was overwritten");
    }
}

/// Returns a file below the limit on size that contains too much of one thing: definitions, nesting, or one long
/// expression. The usual run goes only slightly over the limit on blocks or depth; the long one fills the limit on
/// size.
fn crowded(name: &str) -> String {
    let blocks = sample_or_all(10_500, 100_000);
    match name {
        "many.rs" => (0..blocks).map(|at| format!("fn f{at}(){{}}\n")).collect(),
        "long.rs" => {
            let terms = "1+\n".repeat(sample_or_all(20_000, 500_000));
            format!("fn f() -> u32 {{\n{terms}1\n}}\n")
        }
        "deep.rs" => {
            let depth = sample_or_all(6_000, 60_000);
            "mod a {\n".repeat(depth) + &"}\n".repeat(depth)
        }
        "keys.json" => {
            let keys: Vec<String> = (0..blocks).map(|at| format!("\"k{at}\":{at}")).collect();
            format!("{{\n{}\n}}\n", keys.join(",\n"))
        }
        _ => "a\n\n".repeat(2 * blocks),
    }
}

#[test]
#[ignore = "slow"]
fn a_source_with_too_many_blocks_is_one_block_with_a_note() {
    let names = ["many.rs", "deep.rs", "long.rs", "keys.json", "a.txt"];
    let names = &names[..sample_or_all(2, 5)];
    let clone = Clone::of(|repo, _| {
        for name in names {
            repo.write(&format!("src/{name}"), &crowded(name));
        }
    });
    let patience = 3 * PATIENCE;
    let judged = clone.run_within(patience, &["check", "--base", "HEAD~1"]);
    for name in names {
        let told = clone.run(&["why", &format!("src/{name}:2")]);
        let note = format!("src/{name} is treated as one block");
        assert!(told.contains(&note) && judged.contains(&note), "{name}: {told}");
    }
    clone.run_within(patience, &["record", "--all", "--yes", "src", "--intent", "INT-001"]);
    clone.run_within(patience, &["verify", "--blocks"]);
    clone.serve(&["src/many.rs", "src/deep.rs"]);
}

#[test]
#[ignore = "slow"]
fn a_policy_that_extends_another_kind_of_file_does_not_leak_it() {
    for file in ["/dev/zero", "/dev/tty", "/etc/passwd", "/proc/self/environ", "/proc/kmsg"] {
        let clone = Clone::of(|repo, _| {
            repo.write(".orchestration/policy.yaml", &format!("extends: {file}\n"));
        });
        for words in [&["check"][..], &["policy", "--explain"], &["doctor"], &["status"]] {
            let told = clone.run(words);
            assert!(!told.contains("root:") && !told.contains("PATH="), "{file} {words:?}: {told}");
        }
        assert!(clone.run(&["policy"]).contains(file), "{file}");
    }
}

#[test]
#[ignore = "slow"]
fn the_total_size_and_blocks_of_many_sources_are_limited() {
    // The usual run has slightly more than the 16 MiB that are read, in few blocks. The long one has three times the
    // 50,000 blocks that are read.
    let comment = format!("/*\n{}*/\n", ("x".repeat(4_900) + "\n").repeat(400));
    let functions = |file: usize| -> String {
        (0..4_000).map(|at| format!("fn f{file}_{at}(){{}}\n")).collect()
    };
    let clone = Clone::of(|repo, _| {
        for file in 1..sample_or_all(10, 40) {
            let text = if runs_all() { functions(file) } else { comment.clone() };
            repo.write(&format!("src/f{file}.rs"), &format!("{text}fn last(){{}}\n"));
        }
    });
    let judged = clone.run_within(6 * PATIENCE, &["check", "--base", "HEAD~1", "--verbose"]);
    let note = "The large files of this change have more in them than is looked at block by block";
    assert!(judged.contains(note), "{}", judged.chars().take(4_000).collect::<String>());
    assert!(judged.contains("src/f9.rs"), "the last one is judged as a whole");
}

/// A link to a file of the workspace is read like any other file.
#[test]
fn a_source_behind_a_link_inside_the_workspace_is_read() {
    let clone = Clone::of(|repo, _| {
        symlink("a.rs", repo.root().join("src/b.rs")).expect("linked");
    });
    let absolute = clone.path("src/c.rs");
    symlink(clone.path("src/a.rs"), absolute).expect("linked");
    for path in ["src/b.rs:2", "src/c.rs:2"] {
        assert!(clone.run(&["why", path]).contains("one"), "{path}");
    }
}

/// Returns true if `strace` is installed. The program itself does not need it.
#[cfg(target_os = "linux")]
fn traces() -> bool {
    let there = ["-f", "--seccomp-bpf", "-o", "/dev/null", "true"];
    let there = Command::new("strace").args(there).output();
    let there = there.is_ok_and(|output| output.status.success());
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    if !there {
        eprintln!("skipped: strace is not there, or may not trace");
    }
    there
}

#[cfg(target_os = "linux")]
impl Clone {
    /// Returns the programs that a command starts and the sockets that it opens, one line of `strace` each.
    fn traced(&self, arguments: &[&str], input: &[u8]) -> Vec<String> {
        let trace = self.folder.path().join("trace");
        std::fs::write(self.folder.path().join("input"), input).expect("written");
        let input = std::fs::File::open(self.folder.path().join("input")).expect("there");
        let mut command = Command::new("timeout");
        command.args([
            "60",
            "strace",
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-e",
            "trace=execve,execveat,socket,connect",
        ]);
        command.args(["-e", "signal=none", "-o"]).arg(&trace).arg(env!("CARGO_BIN_EXE_intent"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .stdin(input)
            .output()
            .expect("it runs");
        let lines = std::fs::read_to_string(&trace).expect("a trace");
        // The first `execve` is the program itself, and it may start itself again. The other lines that are skipped
        // only finish a call of an earlier line, or say that a thread has ended.
        let own = format!("execve(\"{}\"", env!("CARGO_BIN_EXE_intent"));
        let begins = |line: &&str| {
            ["execve(", "execveat(", "socket(", "connect("].iter().any(|call| line.contains(call))
        };
        let others = lines.lines().filter(begins).filter(|line| !line.contains(&own));
        others.map(str::to_owned).collect()
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow"]
fn commands_start_no_program_and_open_no_connection() {
    if !traces() {
        return;
    }
    let clone = Clone::of(|_, _| {});
    for (key, value) in [
        ("core.fsmonitor", "touch fsmonitor"),
        ("core.hooksPath", "hooks"),
        ("diff.external", "touch external"),
        ("filter.x.clean", "touch clean"),
        ("gpg.program", "gpg-of-theirs"),
    ] {
        git(&clone.root(), &["config", key, value]);
    }
    let frame = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let uri = format!("file://{}", clone.path("src/a.rs").display());
    let session = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": { "capabilities": {}, "rootUri": format!("file://{}", clone.root().display()) } }),
        json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument":
                { "uri": uri, "languageId": "rust", "version": 1, "text": "fn one() {}\n" } } }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "textDocument/hover", "params":
                { "textDocument": { "uri": uri }, "position": { "line": 0, "character": 4 } } }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "shutdown" }),
        json!({ "jsonrpc": "2.0", "method": "exit" }),
    ];
    let session: String = session.iter().map(|message| frame(&message.to_string())).collect();
    // These commands exist to start a program: the named one, or git to change the index, or to make a work tree or a
    // repository.
    let starters = ["test", "seal", "worktree", "demo"];
    for command in commands() {
        let input = if command[0] == "lsp" { session.as_bytes() } else { b"" };
        let started = clone.traced(&command, input);
        match starters.contains(&command[0]) {
            true => assert!(!started.iter().any(|line| line.contains("AF_INET")), "{started:?}"),
            false => assert!(started.is_empty(), "intent {command:?}: {started:?}"),
        }
    }
    assert!(!clone.traced(&["test", "INT-001", "--", "true"], b"").is_empty(), "nothing is traced");
}
