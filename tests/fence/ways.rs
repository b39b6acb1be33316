//! Hundreds of ways to write out of scope, from the question of the hook to `check`: with the gate alone, and behind
//! the fence.
//!
//! A usual run tries every eighth way of each class (those that are only judged: every fourth), and those in
//! `ALWAYS`. Each test, user and policy tries other ways, and `INTENT_FUZZ_SEED=1` others again: eight seeds try all
//! ways, as `INTENT_TEST_ALL=1` does.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fence::lab::{Lab, labs};
use crate::mutate::chance::from_environment;
use crate::support::{runs_all, sample_or_all};

/// The folders that a session under `INT-001` may change.
const OPEN: &[&str] = &["src/auth", "target", "packages/web/node_modules", "later"];
/// The least share of all ways, in percent, that the gate holds before they run.
const HELD: usize = 89;
/// The same for a quarter of the ways. It is lower, because the ways that are not held are spread by chance.
const HELD_OF_SOME: usize = 86;

struct Way {
    class: &'static str,
    command: String,
}

fn ways() -> Vec<Way> {
    let lines = include_str!("ways.txt").lines().filter(|line| !line.starts_with('#'));
    let ways = lines.filter_map(|line| line.split_once('\t')).map(|(class, command)| {
        let lines = command.split("\\\\").map(|part| part.replace("\\n", "\n"));
        Way { class, command: lines.collect::<Vec<_>>().join("\\") }
    });
    ways.collect()
}

/// Ways that every run must try.
const ALWAYS: [&str; 1] = ["make docs"];

/// Returns the ways that one test tries: all of them, or one in `every` of each class.
fn some_ways(nth: u64, every: u64) -> Vec<Way> {
    let left = from_environment("INTENT_FUZZ_SEED", 0).wrapping_add(nth) % every;
    let mut of_class: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ways = ways();
    ways.retain(|way| {
        let at = of_class.entry(way.class).or_default();
        *at += 1;
        runs_all() || *at % every == left || ALWAYS.contains(&way.command.as_str())
    });
    ways
}

/// Tries all ways, in as many labs in parallel as there are processors.
fn try_all<'w, L>(ways: &'w [Way], make: impl Fn() -> L + Sync, each: impl Fn(&L, &'w Way) + Sync) {
    let left = Mutex::new(ways.iter());
    let next = || left.lock().expect("no panic before").next();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let lab = make();
                while let Some(way) = next() {
                    each(&lab, way);
                }
            });
        }
    });
}

impl Lab {
    /// Calls the hook as Claude Code does. Returns its answer, and everything that it prints.
    fn hook(&self, event: &str, command: &str) -> (Value, String) {
        let payload = json!({
            "session_id": "s1",
            "cwd": self.root(),
            "permission_mode": "default",
            "hook_event_name": event,
            "tool_name": "Bash",
            "tool_input": { "command": command },
            "tool_response": {},
            "tool_use_id": "t1",
        });
        let mut hook = self.command(&self.program());
        hook.args(["hook", "claude-code"]);
        hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = hook.spawn().expect("the binary runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(payload.to_string().as_bytes()).expect("written");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let told = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let answer = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (answer, String::from_utf8_lossy(&told).into_owned())
    }

    /// A lab in which the session `s1` works under `INT-001`, with a branch and a stash that have changes out of scope.
    fn at_work(user: Option<u32>) -> Self {
        let lab = Self::with_branch_and_stash(user);
        let select = "intent select INT-001";
        assert!(!is_held(&lab.hook("PreToolUse", select).0));
        assert!(lab.intent(&["select", "INT-001"]).status.success());
        lab.hook("PostToolUse", select);
        lab
    }

    /// Runs a command as the shell of the host would, with a short time limit.
    fn run(&self, words: &[&str]) -> String {
        let mut command = self.command("timeout");
        command.args(["--kill-after=1", "5"]).args(words);
        // The host says that an agent runs the command, and the program is installed.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = PathBuf::from(self.program());
        let folders = program.parent().map(PathBuf::from).into_iter();
        let folders = folders.chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("folders of a path"));
        command.env("CLAUDECODE", "1");
        let output = command.stdout(Stdio::null()).output().expect("it ends");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Restores the committed state.
    fn put_back(&self, start: &str) {
        self.sh(&format!(
            "rm -rf .git/index.lock src/away; git checkout -q -f main; git reset -q --hard {start}; git clean -fdq; \
             test ! -e .git/info/sparse-checkout || git sparse-checkout disable; \
             ! grep -q fsmonitor .git/config || git config --unset core.fsmonitor || true"
        ));
    }

    fn changed_since(
        &self,
        before: &std::collections::BTreeMap<std::path::PathBuf, (Vec<u8>, u32)>,
    ) -> Vec<String> {
        let after = self.kept_but(OPEN);
        let gone = before.iter().filter(|(path, was)| after.get(*path) != Some(was));
        let new = after.keys().filter(|path| !before.contains_key(*path));
        let paths = gone.map(|(path, _)| path).chain(new);
        paths
            .filter_map(|path| path.strip_prefix(self.root()).ok())
            .map(|path| path.display().to_string())
            .collect()
    }
}

/// Returns true for the files that the hook itself writes.
fn is_written_by_the_hook(path: &str) -> bool {
    [".orchestration/local/", ".orchestration/agent_trace/"].iter().any(|it| path.starts_with(it))
}

fn is_held(answer: &Value) -> bool {
    let decision = &answer["hookSpecificOutput"]["permissionDecision"];
    decision == "deny" || decision == "ask"
}

#[test]
#[ignore = "slow"]
fn a_write_is_held_before_it_runs_or_reported_afterwards() {
    let ways = some_ways(0, 4);
    let through: Mutex<Vec<&Way>> = Mutex::default();
    let make = || Lab::at_work(None);
    try_all(&ways, make, |lab, way| {
        if !is_held(&lab.hook("PreToolUse", &way.command).0) {
            through.lock().expect("no panic before").push(way);
        }
    });
    let through = through.into_inner().expect("no panic before");
    let held = ways.len() - through.len();
    assert!(
        held * 100 >= ways.len() * sample_or_all(HELD_OF_SOME, HELD),
        "{held} of {} are held",
        ways.len()
    );
    for way in through.into_iter().filter(|way| way.class != "services") {
        let lab = Lab::at_work(None);
        let before = lab.kept_but(OPEN);
        // On a busy machine the hook may deny what it could not judge in time, and no host runs that.
        if is_held(&lab.hook("PreToolUse", &way.command).0) {
            continue;
        }
        lab.run(&["bash", "-c", &way.command]);
        let (_, mut told) = lab.hook("PostToolUse", &way.command);
        told.push_str(&String::from_utf8_lossy(&lab.intent(&["check"]).stdout));
        for path in
            lab.changed_since(&before).into_iter().filter(|path| !is_written_by_the_hook(path))
        {
            assert!(
                told.contains(&path),
                "{}: {path} changed, and nobody says so: {told}",
                way.command
            );
        }
        let records = lab.intent(&["trace", "--json"]).stdout;
        let records = String::from_utf8_lossy(&records).into_owned();
        for path in ["README.md", "src/other.rs", "billing/a.ts"] {
            let claimed = records
                .lines()
                .filter(|line| line.contains(path) && line.contains("\"kind\":\"mutation\""))
                .any(|line| !line.contains("\"outcome\":\"deny\""));
            assert!(!claimed, "{}: {path} is recorded as allowed: {records}", way.command);
        }
    }
}

#[test]
#[ignore = "slow"]
fn behind_the_fence_nothing_out_of_scope_is_written() {
    for (nth, user) in (1..).zip(labs().iter().map(|lab| lab.user)) {
        let ways = some_ways(nth, 8);
        let make = || Lab::at_work(user);
        try_all(&ways, make, |lab, way| {
            if way.class == "services" {
                return;
            }
            let start = lab.sh("git rev-parse HEAD");
            let before = lab.kept_but(OPEN);
            let program = lab.program();
            let fenced = ["fence", "--intent", "INT-001", "--", "bash", "-c", &way.command];
            lab.run(&[&[program.as_str()], fenced.as_slice()].concat());
            // If the time limit was reached, the stand-ins of the fence are removed a moment later.
            let until = Instant::now() + Duration::from_secs(5);
            let mut changed = lab.changed_since(&before);
            while changed == [".git/commondir"] && Instant::now() < until {
                thread::sleep(Duration::from_millis(50));
                changed = lab.changed_since(&before);
            }
            assert!(changed.is_empty(), "user {user:?}: {}: {changed:?}", way.command);
            // A change that is only in the history is found by `check`, which judges commits.
            let range = format!("{}..HEAD", start.trim());
            let committed =
                lab.sh(&format!("git diff --name-only {range} -- . ':!src/auth' ':!notes.md'"));
            if !committed.is_empty() {
                let found = lab.intent(&["check", &range, "--verbose"]);
                let said = String::from_utf8_lossy(&found.stdout).into_owned();
                for path in committed.lines() {
                    // For the registry, the finding names the intents.
                    let named = match path.ends_with("active_intents.yaml") {
                        true => said.contains("is removed from the registry"),
                        false => said.contains(path),
                    };
                    assert!(named, "{}: {path}: {found:?}", way.command);
                }
            }
            lab.put_back(start.trim());
        });
    }
}

/// Returns the command that the host runs instead.
fn rewritten(answer: &Value) -> Option<&str> {
    answer["hookSpecificOutput"]["updatedInput"]["command"].as_str()
}

#[test]
#[ignore = "slow"]
fn the_hook_fences_opaque_commands_if_the_policy_wants_it() {
    let labs = labs();
    let users: Vec<Option<u32>> = labs.iter().map(|lab| lab.user).collect();
    let (Some(first), Some(last)) = (users.first(), users.last()) else { return };
    for (nth, policy, user) in [(2, "require", *first), (3, "opaque", *last)] {
        let mut ways = some_ways(nth, 8);
        ways.retain(|way| way.class != "services");
        let lab_under = |policy: &str| {
            let lab = Lab::at_work(user);
            lab.write("work/.orchestration/policy.yaml", &format!("fence: {policy}\n"));
            lab.sh("git commit -qam policy");
            lab
        };
        let through: Mutex<Vec<&Way>> = Mutex::default();
        try_all(
            &ways,
            || lab_under(policy),
            |lab, way| {
                if rewritten(&lab.hook("PreToolUse", &way.command).0).is_some() {
                    through.lock().expect("no panic before").push(way);
                }
            },
        );
        let through = through.into_inner().expect("no panic before");
        assert!(
            through.iter().any(|way| way.command == "make docs"),
            "{policy}: none is rewritten"
        );
        for way in through {
            let lab = lab_under(policy);
            let before = lab.kept_but(OPEN);
            let (answer, _) = lab.hook("PreToolUse", &way.command);
            // The labs above are shared: a way may have selected an intent that made the next way an allowed one.
            let Some(command) = rewritten(&answer) else {
                assert!(is_held(&answer), "{policy}, {user:?}: {}: {answer}", way.command);
                continue;
            };
            lab.run(&["bash", "-c", command]);
            lab.hook("PostToolUse", &way.command);
            let changed = lab.changed_since(&before);
            let changed: Vec<_> =
                changed.iter().filter(|path| !is_written_by_the_hook(path)).collect();
            assert!(changed.is_empty(), "{policy}, {user:?}: {}: {changed:?}", way.command);
        }
    }
}

#[test]
#[ignore = "slow"]
fn changes_from_earlier_commits_are_no_ungated_write() {
    for (command, is_brought) in [
        ("git switch -q side", true),
        ("git merge -q side", true),
        ("git pull -q --no-rebase --no-edit", true),
        ("git pull -q --rebase", true),
        ("git fetch -q && git merge -q --no-edit origin/main", true),
        ("git cherry-pick side", false),
        ("git switch -q side && python3 tools/gen.py && git commit -qam new", false),
        ("python3 tools/gen.py && git commit -qam new && git switch -qc other", false),
    ] {
        let lab = Lab::at_work(None);
        lab.sh(
            "git clone -q --bare . ../origin && git remote add origin ../origin && git fetch -q && git branch -q -u origin/main && \
             git clone -q ../origin ../other && cd ../other && echo other > README.md && git commit -qam other && git push -q && \
             cd ../work && echo 'fn mine() {}' > src/auth/mine.rs && git add -A && git commit -qm mine",
        );
        assert!(!is_held(&lab.hook("PreToolUse", command).0), "{command}");
        lab.sh(command);
        let (_, told) = lab.hook("PostToolUse", command);
        assert!(told.contains("README.md"), "{command}: {told}");
        assert_eq!(told.contains("git brought"), is_brought, "{command}: {told}");
        let check = lab.intent(&["check"]);
        let found = String::from_utf8_lossy(&check.stdout).contains("ungated-write");
        assert_eq!(found, !is_brought, "{command}: {check:?}");
    }
}

/// Scripts that the gate allows, each with the files that the agent must be told about afterwards.
const SCRIPTS: &[(&str, &[&str])] = &[
    ("echo x > README.md", &["README.md"]),
    ("echo x > src/new.rs", &["src/new.rs"]),
    ("mv billing src/moved", &["billing/a.ts"]),
    ("chmod 777 src/other.rs", &["src/other.rs"]),
    ("echo x > src/other.rs; touch -d 2001-01-01 src/other.rs", &["src/other.rs"]),
    ("git update-index --skip-worktree README.md; echo x > README.md", &["README.md"]),
    ("ln README.md src/auth/second; echo x > src/auth/second", &["README.md"]),
    (
        "mv src/auth src/away; ln -s ../billing src/auth; echo x > src/auth/a.ts; rm src/auth; mv src/away src/auth",
        &["billing/a.ts"],
    ),
    ("ln -s auth src/link", &["src/link"]),
    ("echo x > README.md; git commit -qam x", &["README.md"]),
    ("echo 'mode: observe' > .orchestration/policy.yaml", &[".orchestration/policy.yaml"]),
    ("rm .orchestration/policy.yaml", &[".orchestration/policy.yaml"]),
    ("echo x >> .orchestration/.gitignore", &[".orchestration/.gitignore"]),
    ("echo x > .orchestration/allowed_signers", &[".orchestration/allowed_signers"]),
    ("echo {} > .orchestration/baseline.json", &[".orchestration/baseline.json"]),
    (
        "mkdir -p .orchestration/intents; printf 'id: INT-009\\nname: Mine\\nstatus: IN_PROGRESS\\nowned_scope: [\"**\"]\\n' > .orchestration/intents/INT-009.yaml",
        &[".orchestration/intents/INT-009.yaml"],
    ),
    (
        "mkdir -p src/n/.orchestration src/auth/.orchestration; for d in src/n src/auth; do echo 'mode: observe' > $d/.orchestration/policy.yaml; done",
        &["src/n/.orchestration/policy.yaml", "src/auth/.orchestration/policy.yaml"],
    ),
    (
        "echo x > .intentignore; echo x > src/auth/.intentignore",
        &[".intentignore", "src/auth/.intentignore"],
    ),
    ("echo '* filter=x' > src/auth/.gitattributes", &["src/auth/.gitattributes"]),
    ("echo /src/new.rs >> .gitignore; echo x > src/new.rs", &[".gitignore"]),
    ("echo /src/new.rs >> .git/info/exclude; echo x > src/new.rs", &[".git/info/exclude"]),
    (
        "echo '{}' > src/auth/.mcp.json; echo '{ }' > .claude/settings.json",
        &["src/auth/.mcp.json", ".claude/settings.json"],
    ),
    ("mkdir -p .cursor; echo '{}' > .cursor/hooks.json", &[".cursor/hooks.json"]),
    ("git config alias.x '!y'", &[".git/config"]),
    (
        "git config extensions.worktreeConfig true; git config --worktree alias.x '!y'",
        &[".git/config.worktree"],
    ),
    ("echo x > .git/hooks/pre-commit", &[".git/hooks/pre-commit"]),
    ("rm .git/hooks/*", &[".git/hooks"]),
    ("echo '* filter=x' > .git/info/attributes", &[".git/info/attributes"]),
    ("echo ../other > .git/commondir", &[".git/commondir"]),
    (
        "mkdir -p .git/modules/x/hooks; echo x > .git/modules/x/hooks/post-checkout",
        &[".git/modules/x/hooks/post-checkout"],
    ),
    ("mkdir src/auth/.git; echo x > src/auth/.git/config", &["src/auth/.git"]),
    ("echo 'gitdir: ../../target/g' > src/auth/.git", &["src/auth/.git"]),
    ("mv .git ../away; echo 'gitdir: ../away' > .git", &[".git"]),
    (
        "mkdir -p node_modules/.bin; echo x > node_modules/.bin/intent-lsp",
        &["node_modules/.bin/intent-lsp"],
    ),
    (
        "mkdir -p .venv/bin; echo x > .venv/bin/intent; echo '*' > .venv/.gitignore",
        &[".venv/bin/intent"],
    ),
    ("git config --global core.hooksPath /nowhere", &["~/.gitconfig"]),
    (
        "mkdir -p ~/.config/git; echo /src/new.rs > ~/.config/git/ignore; echo x > src/new.rs",
        &["~/.config/git/ignore"],
    ),
];

#[test]
#[ignore = "slow"]
fn the_agent_is_told_which_files_a_script_changed() {
    let scripts = SCRIPTS.iter().map(|(script, _)| (*script).to_owned());
    let ways: Vec<Way> = scripts.map(|command| Way { class: "scripts", command }).collect();
    let fresh = || ();
    try_all(&ways, fresh, |(), way| {
        let lab = Lab::at_work(None);
        lab.write("work/tools/gen.sh", &way.command);
        lab.sh("git commit -qam script");
        let command = "sh tools/gen.sh";
        assert!(!is_held(&lab.hook("PreToolUse", command).0), "{}", way.command);
        lab.run(&["sh", "-c", command]);
        let (_, told) = lab.hook("PostToolUse", command);
        let named = SCRIPTS.iter().filter(|(script, _)| *script == way.command);
        for path in named.flat_map(|(_, paths)| *paths) {
            assert!(told.contains(path), "{}: {path}: {told}", way.command);
        }
    });
}

#[test]
#[ignore = "slow"]
fn a_script_that_changes_only_its_own_files_is_not_reported() {
    let lab = Lab::at_work(None);
    for script in [
        "true",
        "echo x > src/auth/new.rs; rm src/auth/new.rs",
        "git status; git add -A; git commit -qm mine --allow-empty; git checkout -qb b; git checkout -q main",
        "git stash list; git gc -q; git log --oneline; git tag t; git fetch -q . main",
        "git worktree add -q ../beside; git worktree remove ../beside",
        "intent fence --intent INT-001 -- sh -c 'git commit -q --allow-empty -m inside; echo x > src/auth/n'",
        "mkdir -p target/x node_modules/x/.bin; echo x > target/x/y; echo x > node_modules/x/.bin/tool",
    ] {
        lab.write(
            "work/tools/gen.sh",
            &script.replace("intent fence", &format!("{} fence", lab.program())),
        );
        lab.sh("git commit -qam script --allow-empty");
        let command = "sh tools/gen.sh";
        assert!(!is_held(&lab.hook("PreToolUse", command).0), "{script}");
        lab.sh(command);
        let (_, told) = lab.hook("PostToolUse", command);
        assert!(!told.contains("Scope Violation"), "{script}: {told}");
    }
}
