//! The first use in a repository: `intent setup init`, and how everything is removed again.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::lab::{self, Lab};

fn run(lab: &Lab, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = lab::clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    command.args(arguments).envs(variables.iter().copied()).output().expect("intent runs")
}

fn executable(lab: &Lab, path: &str, text: &str) {
    lab.write(path, text);
    let path = lab.root.join(path);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

/// Returns every file below a folder, with its text and whether it is executable, without git's own files.
fn tree(folder: &Path) -> BTreeMap<String, (String, bool)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).expect("a folder") {
            let path = entry.expect("an entry").path();
            let below = path.strip_prefix(folder).expect("below").display().to_string();
            let of_git = [".git/objects", ".git/index", ".git/logs", ".git/intent/cache"]
                .contains(&below.as_str());
            match path.symlink_metadata().expect("there") {
                _ if of_git => {}
                meta if meta.is_dir() => folders.push(path),
                meta => {
                    let text = std::fs::read(&path).expect("read");
                    let text = String::from_utf8_lossy(&text).into_owned();
                    found.insert(below, (text, meta.permissions().mode() & 0o100 != 0));
                }
            }
        }
    }
    found
}

fn names(list: &Value) -> Vec<(&str, &str)> {
    let list = list.as_array().expect("a list").iter();
    list.map(|it| (it["name"].as_str().expect("a name"), it["by"].as_str().expect("by"))).collect()
}

/// Returns what was done to each file for a team.
fn done(answer: &Value) -> Vec<(&str, &str)> {
    let files = answer["team"]["files"].as_array().expect("files").iter();
    files
        .map(|file| (file["path"].as_str().expect("a path"), file["done"].as_str().expect("done")))
        .collect()
}

#[test]
fn init_sets_up_a_repository_and_twice_changes_nothing() {
    let lab = Lab::git();
    let theirs = "{\n  // theirs\n  \"model\": \"m\"\n}\n";
    lab.write(".claude/settings.json", theirs);
    lab.write("GEMINI.md", "# For gemini\n");
    lab.write(".vscode/settings.json", "{}");
    executable(&lab, "../bin/codex", "#!/bin/sh\n");
    executable(&lab, "../bin/hx", "#!/bin/sh\n");
    let path = lab.root.join("../bin").display().to_string();
    let answer = |arguments: &[&str]| -> Value {
        let output = run(&lab, &[arguments, &["--json"]].concat(), &[("PATH", &path)]);
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let first = answer(&["init"]);
    assert_eq!(first["agents"][0]["agent"], "claude-code");
    assert_eq!(first["agents"].as_array().map(Vec::len), Some(1));
    assert_eq!(names(&first["agents_here"]), [("codex", "codex"), ("gemini", "GEMINI.md")]);
    assert_eq!(first["agents_here"][0]["command"], "intent setup init --agent codex");
    assert_eq!(names(&first["editors"]), [("VS Code", ".vscode"), ("Helix", "hx")]);
    assert_eq!((&first["hooks"]["installed"], &first["changed"]), (&true.into(), &true.into()));
    let settings = lab.read(".claude/settings.json");
    assert!(settings.contains("// theirs") && settings.contains("intent-lsp hook claude-code"));
    assert!(!lab.root.join(".codex").exists() && !lab.root.join(".gemini").exists());

    let before = tree(&lab.root);
    let second = answer(&["init"]);
    assert_eq!(second["changed"], false, "{second}");
    assert_eq!(tree(&lab.root), before);
    let said = String::from_utf8(run(&lab, &["init"], &[("PATH", &path)]).stdout).expect("UTF-8");
    assert!(said.contains("Nothing was changed"), "{said}");
    assert_eq!(said.matches("Next: ").count(), 1, "{said}");

    // The suggested command works as it is written.
    let next = second["next"].as_str().expect("a command");
    lab.write("src/a.rs", "");
    assert!(lab.paste(next), "{next}");
    assert_eq!(answer(&["init"])["next"], "intent select INT-001");
    assert!(lab.paste("intent select INT-001"));
    assert_eq!(answer(&["init"])["next"], "intent list");
}

#[test]
fn init_leaves_agents_alone_on_request() {
    let lab = Lab::git();
    lab.write(".cursor/rules", "");
    let said = lab.json(&["init", "--no-agents"]);
    assert_eq!(said["agents"].as_array().map(Vec::len), Some(0));
    assert!(!lab.root.join(".cursor/hooks.json").exists());
    assert_eq!(lab.intent(&["init", "--no-agents", "--all"]).status.code(), Some(2));
}

#[test]
fn broken_settings_of_one_agent_do_not_stop_init() {
    let lab = Lab::git();
    lab.write(".gemini/settings.json", "{ broken");
    lab.write(".cursor/rules", "");
    let output = lab.intent(&["init"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("gemini  not wired") && said.contains("it does not parse"), "{said}");
    assert!(lab.root.join(".cursor/hooks.json").exists());
    assert!(lab.root.join(".orchestration/.gitignore").exists());
    assert_eq!(lab.read(".gemini/settings.json"), "{ broken");
}

#[test]
fn managed_or_declined_git_hooks_are_left_alone() {
    let lab = Lab::git();
    lab.run_git(&["config", "core.hooksPath", ".husky/_"]);
    let said = lab.fine(&["init"]);
    assert!(said.contains("husky manages the hooks of git here"), "{said}");
    assert!(said.contains("intent seal --hook pre-commit") && !lab.root.join(".husky").exists());
    assert!(lab.fine(&["init"]).contains("Nothing was changed"));

    let lab = Lab::git();
    lab.run_git(&["config", "intent.hooks", "false"]);
    assert!(lab.fine(&["init"]).contains("not installed, as `git config intent.hooks` is false"));
    assert!(!lab.root.join(".git/hooks/pre-commit").exists());
}

/// Sets up everything that `init` can write.
fn set_up(lab: &Lab) {
    lab.fine(&["init", "--team", "--owner", "@ada", "--owner", "@org/team"]);
    lab.fine(&["init", "--all"]);
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.fine(&["select", "INT-001"]);
    lab.fine(&["map"]);
    lab.fine(&["report", "--html"]);
}

#[test]
fn a_home_folder_or_several_repositories_are_set_up_by_nobody_in_passing() {
    let lab = Lab::bare_folder();
    for place in ["../home/x", "one/.git/x", "two/.git/x"] {
        lab.write(place, "");
    }
    for (place, why) in [("../home", "your home folder"), (".", "several repositories")] {
        let refused = lab.intent(&["-C", place, "init"]);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && told.contains(why), "{told}");
        assert!(!lab.root.join(place).join(".orchestration").exists());
    }
    std::fs::remove_dir_all(lab.root.join("two")).expect("removed");
    lab.fine(&["init"]);
}

/// A repository that has content of others in every file that `init` writes to.
fn of_others() -> Lab {
    let lab = Lab::git();
    for (path, text) in [
        (".claude/settings.json", "{\n  // theirs\n  \"model\": \"m\"\n}\n"),
        (".mcp.json", "{\n  \"mcpServers\": {\n    \"docs\": { \"command\": \"docs\" }\n  }\n}\n"),
        (".codex/config.toml", "# theirs\nmodel = \"m\"\n"),
        (
            ".pre-commit-config.yaml",
            "# theirs\nrepos:\n  - repo: local # why\n    hooks: []\nfail_fast: true\n",
        ),
        ("docs/CODEOWNERS", "* @all\n"),
        (".github/workflows/build.yml", "on: push\n"),
        ("src/a.rs", "fn a() {}\n"),
    ] {
        lab.write(path, text);
    }
    executable(&lab, ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    lab.commit();
    lab
}

#[test]
#[ignore = "slow"]
fn uninstall_restores_every_file() {
    let lab = of_others();
    let before = tree(&lab.root);
    set_up(&lab);
    let with_us = tree(&lab.root);
    assert!(with_us.len() > before.len() + 30);

    let told = lab.json(&["uninstall", "--dry-run", "--everything"]);
    assert_eq!(tree(&lab.root).keys().collect::<Vec<_>>(), with_us.keys().collect::<Vec<_>>());
    let done = lab.json(&["uninstall"]);
    let left: Vec<&str> = done["left"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["path"].as_str())
        .collect();
    assert_eq!(left, [".orchestration"], "{done}");
    let mut after = tree(&lab.root);
    after.retain(|path, _| !path.starts_with(".orchestration/") && path != ".intentignore");
    assert_eq!(after, before);
    assert!(lab.root.join(".orchestration/.gitignore").is_file(), "the team's record stays");
    assert!(!lab.root.join(".orchestration/local").exists());

    // Files that exist only in this folder are kept, and the answer names them with the command that deletes them.
    let done = lab.json(&["uninstall", "--everything"]);
    assert_eq!(done["left"][0]["path"], ".orchestration/intents/INT-001-login.yaml", "{done}");
    assert_eq!(told["left"][0], done["left"][0], "as foretold");
    assert!(lab.paste(done["left"][0]["remedy"].as_str().expect("a command").trim_matches('`')));
    lab.fine(&["uninstall", "--everything"]);
    assert_eq!(tree(&lab.root), before);
    assert!(!lab.root.join(".orchestration").exists());
    assert!(lab.fine(&["uninstall"]).contains("nothing of ours was here"));
}

#[test]
#[ignore = "slow"]
fn uninstall_everything_deletes_what_is_committed() {
    let lab = of_others();
    set_up(&lab);
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["commit", "-qm", "Set up"]);
    lab.fine(&["uninstall", "--everything"]);
    assert!(!lab.root.join(".orchestration").exists() && !lab.root.join(".git/intent").exists());
    assert!(lab.read_git(&["status", "--short"]).lines().all(|line| !line.starts_with("??")));
}

#[test]
fn uncommitted_records_are_kept_until_everything_is_removed() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "fn a() {\n    one();\n}\n");
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex"]);
    let said = lab.fine(&["uninstall"]);
    assert!(said.contains("in no commit yet, and nowhere else"), "{said}");
    assert_eq!(lab.json(&["why", "src/a.rs"])["blocks"][0]["verdict"], "exact");
    lab.fine(&["init"]);
    lab.fine(&["uninstall", "--everything"]);
    assert!(!lab.root.join(".git/intent").exists());
}

#[test]
#[ignore = "slow"]
fn files_that_people_changed_are_kept_and_named() {
    let lab = of_others();
    set_up(&lab);
    let workflow = ".github/workflows/intent.yml";
    let changed = lab.read(workflow).replace("timeout-minutes: 10", "timeout-minutes: 5");
    lab.write(workflow, changed);
    lab.write("docs/CODEOWNERS", lab.read("docs/CODEOWNERS").replace("# intent:end", ""));
    lab.write(".opencode/plugins/intent.js", "// a plugin of their own that calls intent\n");
    let done = lab.json(&["uninstall"]);
    let left: Vec<&str> = done["left"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["path"].as_str())
        .collect();
    assert_eq!(left, [workflow, "docs/CODEOWNERS", ".orchestration"], "{done}");
    for path in [workflow, "docs/CODEOWNERS", ".opencode/plugins/intent.js"] {
        assert!(lab.root.join(path).is_file(), "{path}");
    }

    // Our lines cannot be told from theirs any more, so no second block is added.
    let half = lab.read("docs/CODEOWNERS");
    let told = lab.intent(&["init", "--team", "--owner", "@ada"]).stdout;
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("CODEOWNERS"), "{told}");
    assert_eq!(lab.read("docs/CODEOWNERS"), half, "{told}");

    // An address that a person filled in does not count as a change.
    let lab = of_others();
    set_up(&lab);
    let filled =
        lab.read(workflow).replace("INTENT_ARCHIVE: \"\"", "INTENT_ARCHIVE: /opt/intent.tar");
    lab.write(workflow, filled);
    lab.fine(&["uninstall"]);
    assert!(!lab.root.join(workflow).exists());
}

#[test]
fn hooks_of_others_that_call_intent_are_named() {
    let lab = Lab::git();
    lab.fine(&["init"]);
    lab.run_git(&["config", "core.hooksPath", "hooks"]);
    executable(
        &lab,
        "hooks/pre-commit",
        "#!/bin/sh\nintent seal --hook pre-commit \"$@\" || true\n",
    );
    let said = lab.fine(&["uninstall"]);
    assert!(said.contains("hooks/pre-commit: it calls `intent evidence seal`"), "{said}");
    assert!(
        !lab.root.join(".git/hooks/pre-commit").exists(),
        "the own hook in the unused folder is removed"
    );
}

#[test]
fn settings_in_the_home_folder_are_removed_only_on_request() {
    let lab = Lab::git();
    lab.write("../home/.gemini/settings.json", "{\n  \"theme\": \"dark\"\n}\n");
    let home = lab.root.join("../home");
    let before = tree(&home);
    lab.fine(&["init", "--all", "--user"]);
    let said = lab.fine(&["uninstall"]);
    assert!(said.contains("`intent setup uninstall --user`"), "{said}");
    assert!(home.join(".codex/hooks.json").exists());
    lab.fine(&["uninstall", "--user"]);
    assert_eq!(tree(&home), before);
}

#[test]
fn an_agent_may_not_uninstall() {
    let lab = Lab::governed();
    let output = run(&lab, &["uninstall"], &[("CLAUDECODE", "1")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(lab.root.join(".git/hooks/pre-commit").exists());
    for command in ["intent uninstall", "intent-lsp uninstall --everything", "intent demo x"] {
        let read = lab.json(&["explain", command]);
        assert_eq!(read["class"], "destructive", "{command}: {read}");
    }
}

#[test]
fn a_team_gets_the_files_that_its_forge_reads() {
    // Each row: the files in the tree, the remote, and what is done to each file.
    type Pairs<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Pairs<'_>, &str, Pairs<'_>); 6] = [
        (
            &[],
            "git@github.example.org:a/b.git",
            &[(".github/workflows/intent.yml", "created"), (".github/CODEOWNERS", "created")],
        ),
        (
            &[(".github/workflows/x.yml", "")],
            "",
            &[(".github/workflows/intent.yml", "created"), (".github/CODEOWNERS", "created")],
        ),
        (
            &[],
            "https://gitlab.example.org/a/b",
            &[(".gitlab-ci.yml", "created"), ("CODEOWNERS", "created")],
        ),
        (
            &[(".gitlab-ci.yml", "x: {}\n"), ("CODEOWNERS", "* @all")],
            "",
            &[(".gitlab-ci.yml", "to_add"), ("CODEOWNERS", "changed")],
        ),
        (
            &[("Jenkinsfile", "pipeline {}\n"), (".pre-commit-config.yaml", "repos: []\n")],
            "",
            &[
                ("Jenkinsfile", "to_add"),
                (".pre-commit-config.yaml", "to_add"),
                ("CODEOWNERS", "created"),
            ],
        ),
        (&[], "/srv/git/x", &[("CODEOWNERS", "created")]),
    ];
    for (files, remote, expected) in cases {
        let lab = Lab::git();
        for (path, text) in files {
            lab.write(path, text);
        }
        if !remote.is_empty() {
            lab.run_git(&["remote", "add", "origin", remote]);
        }
        let team = ["init", "--team", "--owner", "@ada"];
        let answer = lab.json(&team);
        assert_eq!(done(&answer), expected, "{remote}");
        let before = tree(&lab.root);
        lab.fine(&team);
        assert_eq!(tree(&lab.root), before, "{remote}");
        for (path, text) in files.iter().filter(|(path, _)| *path != "CODEOWNERS") {
            assert_eq!(lab.read(path), *text);
        }
    }
}

#[test]
fn code_owners_are_written_and_replaced() {
    let lab = Lab::git();
    lab.write("CODEOWNERS", "* @all");
    // Without an owner there is nothing to write yet.
    let said = lab.fine(&["init", "--team"]);
    assert!(lab.read("CODEOWNERS") == "* @all" && said.contains("--owner @team"), "{said}");
    lab.fine(&["init", "--team", "--owner", "@ada"]);
    lab.fine(&["init", "--team"]);
    let text = lab.read("CODEOWNERS");
    assert!(
        text.starts_with("* @all\n# intent:begin")
            && text.contains("\n/.orchestration/policy.yaml @ada\n"),
        "{text}"
    );
    assert_eq!(lab.intent(&["init", "--team", "--owner", "two words@"]).status.code(), Some(2));

    // A workspace in a folder of the repository.
    let lab = Lab::git();
    lab.write("services/a shop/.orchestration/x", "");
    lab.write(".github/workflows/x.yml", "");
    let inside = lab.root.join("services/a shop");
    lab.fine(&["-C", &inside.display().to_string(), "init", "--team", "--owner", "@ada"]);
    assert!(lab.read(".github/CODEOWNERS").contains("\n/services/a\\ shop/.intentignore @ada\n"));
    assert!(
        lab.read(".github/workflows/intent.yml").contains("INTENT_FOLDER: \"services/a shop\"")
    );
}

#[test]
#[ignore = "slow"]
fn the_commands_of_the_demonstration_work() {
    let lab = Lab::bare_folder();
    let started = Instant::now();
    let answer = lab.json(&["demo", "../shown"]);
    let took = started.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}, on a busy machine and unoptimised");
    let folder = answer["folder"].as_str().expect("a folder");
    let commands = answer["commands"].as_array().expect("a list");
    assert_eq!(commands.len(), 5);
    for command in commands.iter().filter_map(Value::as_str) {
        let ends_well = command != "intent check";
        assert_eq!(lab.paste(&format!("cd '{folder}' && {command}")), ends_well, "{command}");
    }
    let json = |words: &[&str]| lab.json(&[&["-C", folder], words].concat());
    let why = json(&["why", "src/auth/tokens.py:19"]);
    assert_eq!(why["blocks"][0]["intent"]["id"], "INT-001");
    assert_eq!(why["blocks"][0]["tool"], "claude-code");
    assert_eq!(json(&["check"])["findings"][0]["code"], "scope-violation");
    let verified = lab.intent(&["-C", folder, "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    assert_eq!(lab.intent(&["demo", "../shown"]).status.code(), Some(2), "it is not empty");

    let governed = Lab::governed();
    assert_eq!(governed.intent(&["demo", "inside"]).status.code(), Some(2));
    assert!(!governed.root.join("inside").exists());
}

/// The set-up is nobody's work: it is accepted before and after its commit, and is small.
#[test]
#[ignore = "slow"]
fn what_init_writes_is_accepted_and_small() {
    let lab = Lab::git();
    lab.write(".github/workflows/build.yml", "on: push\n");
    lab.write("src/a.rs", "fn a() {}\n");
    lab.commit();
    lab.fine(&["init"]);
    lab.run_git(&["add", "-A"]);
    let (files, lines) = staged(&lab);
    assert!(files <= 4 && lines <= 30, "{files} files, {lines} lines");
    lab.fine(&["new", "Work", "--scope", "src/**", "--start"]);
    lab.commit();
    lab.fine(&["select", "INT-001"]);
    lab.fine(&["init", "--team", "--owner", "@ada", "--agent", "claude-code", "--agent", "cursor"]);
    assert_eq!(lab.intent(&["check"]).status.code(), Some(0));
    lab.commit();
    assert_eq!(lab.intent(&["check", "--base", "HEAD~1"]).status.code(), Some(0));
    // Whatever else is done to these files is work.
    for (path, more) in [
        (".claude/settings.json", "{ \"hooks\": {} }\n"),
        (".github/CODEOWNERS", "* @mallory\n"),
        (".github/workflows/intent.yml", "on: push\n"),
    ] {
        let text = lab.read(path);
        lab.write(path, more);
        let found = lab.intent(&["check", "--base", "HEAD~1"]);
        let said = String::from_utf8_lossy(&found.stdout).into_owned();
        assert!(said.contains(&format!("{path}:1: error[scope-violation]")), "{said}");
        lab.write(path, &text);
    }
}

#[test]
fn the_set_up_of_a_team_has_few_lines() {
    let lab = Lab::git();
    lab.write(".github/workflows/build.yml", "on: push\n");
    lab.commit();
    lab.fine(&["init", "--team", "--agent", "claude-code"]);
    lab.run_git(&["add", "-A"]);
    let (files, lines) = staged(&lab);
    assert!(files <= 8 && lines <= 120, "{files} files, {lines} lines");
}

/// Returns how many files and lines the next commit adds.
fn staged(lab: &Lab) -> (usize, usize) {
    let output = lab.read_git(&["diff", "--cached", "--numstat"]);
    let lines = output.lines().map(|line| line.split('\t').next().expect("a number"));
    let lines: Vec<usize> = lines.map(|lines| lines.parse().expect("a number")).collect();
    (lines.len(), lines.iter().sum())
}
