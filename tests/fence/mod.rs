//! The real binary with the fence and the gate: what a command can do to a work tree. The tests run as the current user
//! and, if that is the superuser, as an ordinary user too.

mod lab;
mod ways;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use lab::{Lab, labs};

/// Commands that try to write out of scope.
const ATTACKS: &[&str] = &[
    "echo x > README.md",
    "echo x > src/other.rs",
    "echo x > src/auth/legacy/old.rs",
    "echo x > src/auth/legacy/new.rs",
    "echo x > src/auth/kept/a.rs",
    "echo x > src/auth/.claude/settings.json",
    "rm -rf src/auth/.claude",
    "mv src/auth/.claude src/auth/claude",
    "echo x > new.md",
    "mkdir src/new",
    "rm -rf src README.md .orchestration",
    "echo 'mode: observe' > .orchestration/policy.yaml",
    "mkdir -p .orchestration/local && echo x > .orchestration/local/x",
    "echo x > .intentignore",
    "echo '{}' > .mcp.json",
    "echo '{}' > .claude/settings.json",
    "echo '{}' > .claude/settings.local.json",
    "mkdir -p .codex && echo x > .codex/config.toml",
    "echo '{}' > \"$HOME/.claude/settings.json\"",
    "mv \"$HOME/.claude\" \"$HOME/.claude2\"",
    "mv \"$HOME\" \"$HOME-2\" && mkdir -p \"$HOME/.claude\" && echo x > \"$HOME/.claude/settings.json\"",
    "python3 -c \"open('README.md', 'w').write('x')\"",
    "python3 -c \"import os; os.rename('src', 'src2')\"",
    "python3 -c \"import os; os.truncate('README.md', 0)\"",
    "node -e \"require('fs').writeFileSync('README.md', 'x')\"",
    "perl -e 'open(F, \">\", \"README.md\"); print F \"x\"'",
    "printf 'all:\\n\\techo x > README.md\\n' > src/auth/Makefile; make -f src/auth/Makefile",
    "sed -i s/read/x/ README.md",
    "printf -- '--- a/README.md\\n+++ b/README.md\\n@@ -1 +1 @@\\n-read me\\n+x\\n' > src/auth/p; git apply src/auth/p; patch -p1 < src/auth/p",
    "git checkout side; git checkout -f side -- README.md; git reset --hard side; git restore --source side README.md; git checkout -f main",
    "git stash apply; git clean -fdx",
    "git rm -rf README.md; git mv README.md R.md; git reset -q",
    "mv \"$TOP/work\" \"$TOP/work2\"; mkdir -p \"$TOP/work/.orchestration\" && echo x > \"$TOP/work/.orchestration/policy.yaml\"",
    "mv \"$TOP\" \"$TOP-2\"",
    "mv .git .git2; rm -rf .git/config .git/hooks .git/info",
    "git config core.fsmonitor 'touch /tmp/x'",
    "echo x > .git/config",
    "mv .git/config .git/config2; cp .git/config2 .git/config",
    "mkdir -p .git/hooks; echo x > .git/hooks/post-commit",
    "mv .git/hooks .git/hooks2; mkdir .git/hooks; echo x > .git/hooks/post-commit",
    "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
    "mkdir -p .git/intent; echo x > .git/intent/forged",
    "echo ../other > .git/commondir",
    "rm -f .git/commondir; mv .git/commondir .git/c; ln -s x .git/commondir; echo ../other > .git/commondir",
    "mount -o remount,bind,rw \"$TOP/work\" && echo x > README.md",
    "umount \"$TOP/work\"; umount -l \"$TOP/work\"; echo x > README.md",
    "unshare -Urm sh -c 'mount -o remount,bind,rw \"$TOP/work\"; umount -l \"$TOP/work\"; mount --bind src/auth src; echo x > README.md; echo x > src/other.rs'",
    "unshare -m sh -c 'umount -l \"$TOP/work\"; echo x > README.md'",
    "nsenter -t 1 -m -- sh -c \"echo x > $TOP/work/README.md\"",
    "for p in /proc/[0-9]*; do echo x > $p/root$TOP/work/README.md; echo x > $p/cwd/README.md; for f in $p/fd/*; do echo x > $f/README.md; done; done",
    "ln .orchestration/policy.yaml src/auth/p && echo x > src/auth/p",
    "ln README.md \"$TOP/r\" && echo x > \"$TOP/r\"",
    "ln -s ../../README.md src/auth/link && echo x > src/auth/link; rm -f src/auth/link",
    "ln -sfn \"$TOP/home\" src/auth/legacy",
    "mv src/auth src/auth2; rm -rf src/auth; ln -s ../.orchestration src/auth",
    "chmod 777 README.md .orchestration .orchestration/policy.yaml; touch README.md; chown 1:1 README.md",
    "setfattr -n user.x -v y README.md; chattr -i README.md",
    "cd src && echo x > other.rs",
    "cd \"$TOP\" && echo x > work/README.md",
    "echo x > /proc/self/cwd/README.md; echo x > /proc/self/root$TOP/work/README.md",
    "dd if=/dev/zero of=README.md count=1; cp notes.md README.md; tee README.md < notes.md; install notes.md README.md",
    "exec 9<> README.md && echo x >&9",
    "git update-index --add --cacheinfo 100644,$(echo x | git hash-object -w --stdin),README.md; git checkout-index -f README.md; git reset -q",
    "git worktree add -f ../tree main && echo x > ../tree/README.md; rm -rf ../tree",
    "\"$INTENT\" select INT-002; \"$INTENT\" off --for 1m; \"$INTENT\" record --intent INT-001 README.md; \"$INTENT\" init",
    "setsid sh -c 'sleep 0.2; echo x > README.md' & sleep 0.3",
];

#[test]
#[ignore = "slow"]
fn no_command_behind_the_fence_writes_out_of_scope() {
    for lab in labs() {
        lab.sh("git checkout -qb side && echo side > README.md && git commit -qam side && git checkout -q main");
        lab.sh("echo stashed > README.md && git stash -q");
        let before = lab.kept();
        for attack in ATTACKS {
            let script = format!("INTENT={}; export INTENT; {attack}", lab.program());
            lab.fenced(&script);
            let after = lab.kept();
            let changed: Vec<_> = before
                .iter()
                .filter(|(path, was)| after.get(*path) != Some(was))
                .map(|(path, _)| path)
                .chain(after.keys().filter(|path| !before.contains_key(*path)))
                .collect();
            assert!(changed.is_empty(), "user {:?}: {attack}: {changed:?}", lab.user);
        }
        // Without a fence the comparison notices a write, so it is able to fail.
        lab.sh("echo x > README.md");
        assert_ne!(lab.kept(), before);
    }
}

#[test]
#[ignore = "slow"]
fn files_in_scope_and_files_of_git_can_be_written() {
    for lab in labs() {
        let (code, told) = lab.fenced(
            "set -e; echo x > src/auth/new.rs; mkdir src/auth/deep; echo x > src/auth/deep/a; rm src/auth/sign_in.rs; \
             echo more >> notes.md; echo x > billing/b.ts; echo x > target/y; echo x > packages/web/node_modules/y; \
             echo x > later/deep/z; echo x > /tmp/intent-fence-$$; rm /tmp/intent-fence-$$; echo x > \"$HOME/cache\"; \
             git add -A; git commit -qm inside; git checkout -qb branch; echo y >> billing/b.ts; git stash -q; \
             git stash pop -q; git tag t; git log --oneline > src/auth/log",
        );
        assert_eq!((code, told.as_str()), (0, ""), "user {:?}", lab.user);
        assert_eq!(lab.sh("git rev-parse --abbrev-ref HEAD; cat later/deep/z"), "branch\nx\n");
        assert!(!lab.root().join(".git/commondir").exists());
        // A folder that was made for the command and is still empty is removed.
        lab.sh("rm -r later");
        assert_eq!(lab.fenced("test -d later/deep").0, 0);
        assert!(!lab.root().join("later").exists());
    }
}

#[test]
#[ignore = "slow"]
fn only_the_named_or_else_the_selected_intent_counts() {
    for lab in labs() {
        let by = |arguments: &[&str], script: &str| {
            let all = [&["fence"], arguments, &["--", "sh", "-c", script]].concat();
            lab.intent(&all).status.code()
        };
        assert_eq!(by(&["--intent", "INT-002"], "echo x > billing/b.ts"), Some(0));
        assert_ne!(by(&["--intent", "INT-002"], "echo x > src/auth/b.rs"), Some(0));
        assert_eq!(by(&["--intent", "INT-009"], "true"), Some(2));
        assert!(lab.intent(&["select", "INT-001"]).status.success());
        assert_eq!(by(&[], "echo x > src/auth/b.rs"), Some(0));
        assert_ne!(by(&[], "echo x > billing/b.ts"), Some(0));
        let told = lab.intent(&["fence", "--explain"]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("src/auth") && told.contains("owned by INT-001"), "{told}");
    }
}

#[test]
#[ignore = "slow"]
fn a_command_has_the_same_exit_as_without_a_fence() {
    for lab in labs() {
        for code in [0, 1, 2, 7, 126, 255] {
            assert_eq!(lab.fenced(&format!("exit {code}")).0, code);
        }
        let missing = lab.intent(&["fence", "--", "no-such-program-anywhere"]);
        // If this user may not enter a folder of the PATH, the code is 126, as with a shell.
        assert!(matches!(missing.status.code(), Some(126 | 127)));
        let killed = lab.intent(&["fence", "--", "sh", "-c", "kill -TERM $$"]);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&killed.status), Some(15));
        let mut passed =
            lab.start("trap 'exit 42' TERM; echo > target/trapped; while :; do sleep 0.05; done");
        wait_for(&lab.root().join("target/trapped"));
        // `setpriv` replaces itself with the program that it starts, so the process id is that of the fence.
        lab.sh(&format!("kill -TERM {}", passed.id()));
        assert_eq!(passed.wait().expect("ended").code(), Some(42));
        let mut command = lab.command(&lab.program());
        command
            .args(["fence", "--", "cat"])
            .stdin(std::fs::File::open(lab.root().join("README.md")).expect("a file"));
        assert_eq!(command.output().expect("runs").stdout, b"read me\n");
    }
}

#[test]
#[ignore = "slow"]
fn background_processes_end_with_the_command() {
    for lab in labs() {
        let (code, told) = lab.fenced(
            "(sleep 0.4; echo x > src/auth/late) & setsid sh -c 'sleep 0.4; echo x > src/auth/later' & nohup sh -c 'sleep 0.4; echo x > src/auth/latest' & exit 0",
        );
        assert_eq!(code, 0, "{told}");
        std::thread::sleep(Duration::from_millis(800));
        for name in ["late", "later", "latest"] {
            assert!(!lab.root().join("src/auth").join(name).exists(), "{name}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_change_that_could_be_written_only_in_part_is_reported() {
    for lab in labs() {
        lab.sh("git checkout -qb side && echo side > README.md && echo s >> billing/a.ts && git commit -qam side && git checkout -q main");
        let (code, told) = lab.fenced("git checkout -q side");
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("README.md") && told.contains("git restore --source HEAD"), "{told}");
        // The suggested command works outside of the fence.
        lab.sh(
            "git restore --source HEAD -- README.md && git diff --quiet && git checkout -q main",
        );
        let (code, told) = lab.fenced(
            "git update-index --add --cacheinfo 100644,$(echo x | git hash-object -w --stdin),README.md && git commit -qm smuggled",
        );
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("README.md"), "{told}");
        // A difference from before the command is not reported.
        lab.sh("git reset -q --hard main~1 && echo mine > README.md");
        let (code, told) =
            lab.fenced("echo x > src/auth/x && git add src/auth/x && git commit -qm fine");
        assert_eq!((code, told.as_str()), (0, ""));
    }
}

fn wait_for(path: &Path) {
    wait_until(|| path.exists(), "a file does not appear");
}

fn wait_until(is_so: impl Fn() -> bool, otherwise: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "{otherwise}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[ignore = "slow"]
fn a_file_replaced_from_outside_is_protected_or_reported() {
    for lab in labs() {
        let script = "echo x > target/begun; while ! test -e target/go; do sleep 0.02; done; echo x >> .orchestration/policy.yaml; echo x >> .intentignore; true";
        let child = lab.start(script);
        wait_for(&lab.root().join("target/begun"));
        lab.sh("for f in .orchestration/policy.yaml .intentignore; do cp $f new && mv new $f; done; git config user.nick n; echo > target/go");
        let output = child.wait_with_output().expect("ended");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            std::fs::read_to_string(lab.root().join(".orchestration/policy.yaml")).expect("a file"),
            "mode: enforce\n"
        );
        assert!(
            !std::fs::read_to_string(lab.root().join(".intentignore"))
                .expect("a file")
                .contains('x')
        );
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(".git/config was replaced"), "{told}");
    }
}

#[test]
fn a_new_protected_file_in_scope_is_reported() {
    for lab in labs() {
        let (code, told) = lab.fenced("echo '{}' > src/auth/.mcp.json");
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("src/auth/.mcp.json is new"), "{told}");
    }
}

#[test]
#[ignore = "slow"]
fn stand_ins_are_removed_with_the_last_fence_even_if_killed() {
    for lab in labs() {
        let commondir = lab.root().join(".git/commondir");
        let mut first =
            lab.start("echo > target/one; while ! test -e target/go; do sleep 0.02; done");
        wait_for(&lab.root().join("target/one"));
        assert!(commondir.exists());
        assert_eq!(lab.sh("git status --short"), "");
        assert!(lab.intent(&["status"]).status.success());
        assert_eq!(lab.fenced("true").0, 0);
        assert!(commondir.exists(), "it was taken from under another fence");
        lab.sh("echo > target/go");
        assert_eq!(first.wait().expect("ended").code(), Some(0));
        assert!(!commondir.exists());

        let mut killed = lab.start(
            "kill -9 $PPID; sleep 0.4; echo ../evil > .git/commondir; echo x > target/survived",
        );
        killed.wait().expect("ended");
        std::thread::sleep(Duration::from_millis(800));
        wait_until(|| !commondir.exists(), "the stand-in does not go");
        assert!(!lab.root().join("target/survived").exists());
    }
}

#[test]
#[ignore = "slow"]
fn ways_around_the_fence_are_refused() {
    for lab in labs() {
        lab.sh("ln .orchestration/policy.yaml \"$TOP/second\"");
        let (code, told) = lab.fenced("echo x > target/ran");
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("hard link"), "{told}");
        // The suggested command removes the obstacle.
        let command = told.split('`').nth(1).expect("a command").to_owned();
        lab.sh(&command);
        assert_eq!(lab.fenced("true").0, 0);
        lab.sh(
            "mkdir .orchestration/intents && printf 'id: INT-009\\nname: Old\\nstatus: COMPLETED\\n' > .orchestration/intents/INT-009.yaml && ln .orchestration/intents/INT-009.yaml \"$TOP/third\"",
        );
        let (code, told) = lab.fenced("true");
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("INT-009.yaml has a second name"), "{told}");
        lab.sh("rm -r .orchestration/intents");

        let kept = std::fs::OpenOptions::new()
            .append(true)
            .open(lab.root().join("README.md"))
            .expect("a file");
        let mut command = lab.command(&lab.program());
        let output =
            command.args(["fence", "--", "echo", "x"]).stdout(kept).output().expect("runs");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(std::fs::read(lab.root().join("README.md")).expect("a file"), b"read me\n");

        // The command does not inherit open descriptors, and its input is opened again.
        lab.sh(&format!(
            "exec 7< . 8< README.md; {} fence -- sh -c 'echo x > /proc/self/fd/7/README.md; echo x > /proc/self/fd/8; echo x > /proc/self/fd/0; true' < README.md 2>/dev/null",
            lab.program()
        ));
        assert_eq!(std::fs::read(lab.root().join("README.md")).expect("a file"), b"read me\n");
        assert!(!lab.root().join("target/ran").exists());
    }
}

#[test]
#[ignore = "slow"]
fn a_fence_inside_a_fence_only_narrows() {
    for lab in labs() {
        let inner = |script: &str| {
            let binary = lab.program();
            format!("{binary} fence --intent INT-002 -- sh -c '{script}'")
        };
        let script = format!(
            "{}; {}",
            inner("echo x > billing/b.ts; echo x > src/auth/b.rs"),
            inner("echo x > README.md")
        );
        let output = lab.intent(&["fence", "--", "sh", "-c", &script]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(lab.root().join("billing/b.ts").exists(), "{told}");
        assert!(!lab.root().join("src/auth/b.rs").exists(), "{told}");
        assert_eq!(std::fs::read(lab.root().join("README.md")).expect("a file"), b"read me\n");
    }
}

#[test]
#[ignore = "slow"]
fn in_a_linked_work_tree_the_main_repository_is_protected() {
    for lab in labs() {
        let made = lab.intent(&["worktree", "try/it", "--intent", "INT-001", "--json"]);
        let told = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(made.status.success(), "{told}");
        let tree = lab.top().join("work-try-it");
        let binary = lab.program();
        let fenced = |script: &str| {
            let mut command = lab.command(&binary);
            command.args(["fence", "--", "sh", "-c", script]).current_dir(&tree);
            let output = command.output().expect("the binary runs");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code().unwrap_or(-1), told)
        };
        let (code, told) = fenced(
            "set -e; echo x > src/auth/new.rs; git add -A; git commit -qm inside; git checkout -qb more; \
             echo y >> src/auth/new.rs; git stash -q; git stash pop -q; git commit -qam more; git status --short",
        );
        assert_eq!(code, 0, "{told}");
        assert_eq!(lab.sh("git log --format=%s -1 more"), "more\n");
        let kept = || {
            let mut files = lab.kept();
            let git = lab.root().join(".git");
            for path in [
                git.join("worktrees/work-try-it/commondir"),
                git.join("worktrees/work-try-it/gitdir"),
                tree.join("README.md"),
                tree.join(".git"),
            ] {
                let bytes = std::fs::read(&path).expect("a file that is kept");
                files.insert(path, (bytes, 0));
            }
            files
        };
        let before = kept();
        for attack in [
            "echo x > README.md",
            "echo x > src/other.rs",
            "echo x > \"$TOP/work/README.md\"; echo x > \"$TOP/work/src/auth/sign_in.rs\"",
            "echo x > \"$TOP/work/.git/config\"; git config core.fsmonitor x",
            "mkdir -p \"$TOP/work/.git/hooks\"; echo x > \"$TOP/work/.git/hooks/post-commit\"",
            "echo ../other > \"$TOP/work/.git/commondir\"",
            "cd \"$TOP/work/.git/worktrees/work-try-it\"; rm -f commondir gitdir; mv commondir c; echo /tmp > commondir; echo /tmp > gitdir",
            "mv \"$TOP/work/.git/worktrees/work-try-it\" \"$TOP/work/.git/worktrees/x\"",
            "rm -f .git; echo gitdir: /tmp > .git; mv .git g",
            "git -C \"$TOP/work\" checkout -f -- README.md; git -C \"$TOP/work\" reset --hard; git worktree remove --force \"$TOP/work\"",
            "mv \"$TOP/work\" \"$TOP/work3\"; mv \"$TOP/work-try-it\" \"$TOP/w\"",
        ] {
            fenced(attack);
            assert_eq!(kept(), before, "user {:?}: {attack}", lab.user);
        }
        // A fence in the main work tree protects the linked work tree as well.
        lab.fenced("echo x > ../work-try-it/README.md; echo x > ../work-try-it/src/auth/new.rs");
        assert_eq!(kept(), before);
        assert_ne!(std::fs::read(tree.join("src/auth/new.rs")).expect("a file"), b"x\n");
    }
}

/// The kernel offers no namespaces, which is imitated by refusing `unshare`.
#[test]
#[ignore = "slow"]
fn without_namespaces_landlock_protects_files_and_says_so() {
    for lab in labs() {
        let traced = |script: &str| {
            let mut command = lab.command("strace");
            command.args(["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=unshare"]);
            command.args(["-e", "inject=unshare:error=EPERM", &lab.program()]);
            let output = command.args(["fence", "--", "sh", "-c", script]).output().ok()?;
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            Some((output.status.code().unwrap_or(-1), told))
        };
        let script = "echo x > src/auth/sign_in.rs; echo x > billing/new.ts; echo x > target/y";
        let Some((code, told)) = traced(script) else { return };
        if !told.contains("Landlock, which is weaker") {
            continue;
        }
        assert_eq!(code, 0, "{told}");
        let contents = || -> BTreeMap<PathBuf, Vec<u8>> {
            lab.kept().into_iter().map(|(path, (bytes, _))| (path, bytes)).collect()
        };
        let before = contents();
        // These two attacks take too long while they are traced.
        let slow = |attack: &&&str| attack.contains("/proc/[0-9]") || attack.contains("$INTENT");
        for attack in ATTACKS.iter().filter(|attack| !slow(attack)) {
            traced(attack);
            assert_eq!(contents(), before, "user {:?}: {attack}", lab.user);
        }
    }
}

#[test]
#[ignore = "slow"]
fn the_rules_count_however_deep_a_folder_is() {
    for lab in labs() {
        lab.sh("mkdir -p src/auth/legacy/open a/b/c/d/e/f && touch src/auth/legacy/open/x a/b/c/d/e/f/x");
        lab.sh(r#"sed -i 's|"!src/auth/legacy/\*\*"|&, "src/auth/legacy/open/**", "a/b/c/d/e/f/**"|' .orchestration/active_intents.yaml"#);
        lab.sh("echo 'protected_paths: [\"a/b/c/d/e/f/**\"]' >> .orchestration/policy.yaml");
        let makes = |path: &str| {
            lab.fenced(&format!("touch {path}"));
            lab.root().join(path).exists()
        };
        assert!(makes("src/auth/legacy/open/new"), "the last entry that matches counts");
        assert!(!makes("src/auth/legacy/new"));
        assert!(!makes("a/b/c/d/e/f/new"), "it is protected");
    }
}

#[test]
#[ignore = "slow"]
fn doctor_names_the_fence_and_leftovers_of_a_killed_one() {
    for lab in labs() {
        let said = || String::from_utf8_lossy(&lab.intent(&["doctor"]).stdout).into_owned();
        assert!(said().contains("by a mount namespace; it limits which files"), "{}", said());
        lab.sh("printf . > .git/commondir");
        let told = said();
        let line = told.lines().find(|line| line.contains("fence that was killed"));
        let command = line.and_then(|line| line.split('`').nth(1)).expect("a command");
        lab.sh(command);
        assert!(!said().contains("fence that was killed"));
    }
}

/// Returns the answer that a host gets before a command.
fn hooked(lab: &Lab, host: &str, payload: &serde_json::Value) -> String {
    use std::io::Write as _;
    let mut command = lab.command(&lab.program());
    command
        .args(["hook", host])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(payload.to_string().as_bytes()).expect("written");
    drop(input);
    let output = child.wait_with_output().expect("ended");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "slow"]
fn the_policy_can_put_opaque_commands_behind_the_fence() {
    use serde_json::{Value, json};
    let labs = labs();
    let Some(lab) = labs.first() else { return };
    let ask = |host: &str, mode: &str, command: &str, id: &str| {
        let (name, tool) = match host {
            "gemini" => ("BeforeTool", "run_shell_command"),
            _ => ("PreToolUse", "Bash"),
        };
        let payload = json!({
            "hook_event_name": name, "session_id": "s", "cwd": lab.root(), "permission_mode": mode,
            "tool_name": tool, "tool_use_id": id, "tool_input": { "command": command, "timeout": 9 },
        });
        hooked(lab, host, &payload)
    };
    let own = "python3 src/auth/gen.py | tee target/log";
    let fenced = "intent fence --intent INT-001 -- sh -c 'python3 src/auth/gen.py'";
    for (host, mode) in [
        ("claude-code", "default"),
        ("claude-code", "bypassPermissions"),
        ("codex", "default"),
        ("gemini", "default"),
    ] {
        ask(host, mode, "intent select INT-001", &format!("{host}{mode}"));
    }
    for (policy, host, mode, rewritten, denied) in [
        ("off", "claude-code", "default", false, false),
        ("opaque", "claude-code", "default", true, false),
        ("opaque", "claude-code", "bypassPermissions", false, false),
        ("opaque", "codex", "default", false, false),
        ("opaque", "gemini", "default", true, false),
        ("require", "claude-code", "default", true, false),
        ("require", "claude-code", "bypassPermissions", false, true),
        ("require", "codex", "default", false, true),
        ("require", "gemini", "default", true, false),
    ] {
        let case = format!("{policy} {host} {mode}");
        lab.write("work/.orchestration/policy.yaml", &format!("fence: {policy}\n"));
        let said = ask(host, mode, own, &format!("{case} own"));
        assert_eq!(said.contains("FENCE_REQUIRED"), denied, "{case}: {said}");
        if denied {
            assert!(said.contains("intent fence --intent INT-001 -- sh -c"), "{case}: {said}");
        }
        let told: Value = serde_json::from_str(&said).unwrap_or_default();
        let told = &told["hookSpecificOutput"];
        let input = if told["updatedInput"].is_null() {
            &told["tool_input"]
        } else {
            &told["updatedInput"]
        };
        assert_eq!(input.is_object(), rewritten, "{case}: {said}");
        assert_ne!(told["permissionDecision"], "allow", "{case}: {said}");
        if rewritten {
            assert_eq!(input["timeout"], 9);
            // The rewritten command is fenced and does the same.
            let command =
                input["command"].as_str().expect("a command").replace("gen.py", "none.py");
            lab.sh(&format!("{command} 2>/dev/null; test -e target/log; rm target/log"));
            let again = ask(
                host,
                mode,
                input["command"].as_str().expect("a command"),
                &format!("{case} again"),
            );
            assert!(!again.contains("FENCE_REQUIRED"), "{case}: {again}");
        }
        let by_name = fenced.replace("intent fence", "intent-lsp fence");
        let said = ask(host, mode, &by_name, &format!("{case} by its other name"));
        assert!(!said.contains("FENCE") && !said.contains("nput"), "{case}: {said}");
        // A command that is fenced already is not changed; a command that only looks fenced does not count.
        let said = ask(host, mode, fenced, &format!("{case} fenced"));
        assert!(!said.contains("FENCE") && !said.contains("nput"), "{case}: {said}");
        assert!(!ask(host, mode, "ls -la", &format!("{case} read")).contains("nput"));
        for (at, sham) in [
            "intent fence -- python3 x.py",
            "intent fence --intent INT-002 -- python3 x.py",
            "./intent fence --intent INT-001 -- python3 x.py",
            "intent fence --intent INT-001 -- true; python3 x.py",
            "PATH=. intent fence --intent INT-001 -- python3 x.py",
        ]
        .iter()
        .enumerate()
        {
            let said = ask(host, mode, sham, &format!("{case} sham {at}"));
            let held = said.contains("nput") || said.contains("deny") || said.contains("FENCE");
            assert_eq!(held, rewritten || denied, "{case}: {sham}: {said}");
        }
        let said = ask(
            host,
            mode,
            "intent fence --intent INT-001 -- intent approve ABC",
            &format!("{case} person"),
        );
        assert!(said.contains("PROTECTED_PATH"), "{case}: {said}");
    }
}
