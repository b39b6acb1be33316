//! The files for CI are run here: their steps run in a clone, with the variables that the forge would set.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::cli::lab::Lab;
use ground::store::sha256;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_intent-lsp");
/// The names of the program.
const OURS: [&str; 2] = ["intent", "intent-lsp"];

fn project(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).expect("YAML")
}

/// A clone with the branch `topic` checked out, whose origin has the branch `main`.
struct Clone {
    lab: Lab,
    /// A folder beside the clone for what the runner provides.
    temp: PathBuf,
    archive: String,
    sum: String,
}

impl Clone {
    /// `brings` is the text that `topic` adds to the source.
    fn with(brings: &str) -> Self {
        let lab = Lab::governed();
        lab.write(".orchestration/policy.yaml", "protected_paths: [infra/**]\n");
        lab.write("src/a.rs", "fn a() {}\n");
        lab.commit();
        lab.run_git(&["init", "-q", "--bare", "-b", "main", "../origin"]);
        lab.run_git(&["remote", "add", "origin", "../origin"]);
        lab.run_git(&["push", "-q", "origin", "main"]);
        lab.run_git(&["checkout", "-q", "-b", "topic"]);
        lab.write(brings, "fn b() {\n    call();\n}\n");
        lab.commit();
        let temp = lab.root.join("../temp");
        std::fs::create_dir_all(temp.join("made/intent-lsp-1.2.3")).expect("folders");
        let program = temp.join("made/intent-lsp-1.2.3/intent-lsp");
        std::fs::write(&program, starter()).expect("written");
        executable(&program);
        let archive = temp.join("archive.tar.gz");
        let mut tar = Command::new("tar");
        tar.args(["-czf"]).arg(&archive).arg("-C").arg(temp.join("made")).arg("intent-lsp-1.2.3");
        assert!(tar.status().expect("tar runs").success());
        let sum = sha256(&std::fs::read(&archive).expect("an archive"));
        Self { lab, archive: archive.display().to_string(), temp, sum }
    }

    fn good() -> Self {
        Self::with("src/b.rs")
    }

    fn bad() -> Self {
        Self::with("infra/b.rs")
    }

    fn shell(&self, script: &str, variables: &BTreeMap<String, String>) -> Output {
        let mut bash = crate::cli::lab::clean(Command::new("bash"), &self.lab.root);
        bash.args(["-e", "-c", script]).env("PATH", self.path());
        bash.envs(variables).output().expect("bash runs")
    }

    fn path(&self) -> String {
        path_without_program(&self.temp)
    }
}

fn executable(path: &Path) {
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, all).expect("made executable");
}

/// A small stand-in for the program in the archive: a script that starts it.
fn starter() -> String {
    format!("#!/bin/sh\nexec '{PROGRAM}' \"$@\"\n")
}

/// Returns the PATH of this process without the program: instead of a folder that has it, a new folder below `temp` with
/// links to everything else there.
fn path_without_program(temp: &Path) -> String {
    let path = std::env::var_os("PATH").expect("a PATH");
    let has_it = |folder: &Path| OURS.iter().any(|name| folder.join(name).exists());
    let folders = std::env::split_paths(&path).enumerate().map(|(at, folder)| {
        if !has_it(&folder) {
            return folder;
        }
        let links = temp.join(format!("path-{at}"));
        if links.exists() {
            return links;
        }
        std::fs::create_dir_all(&links).expect("a folder");
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("it")) {
            if !OURS.iter().any(|name| entry.file_name() == *name) {
                symlink(entry.path(), links.join(entry.file_name())).expect("a link");
            }
        }
        links
    });
    let joined = std::env::join_paths(folders).expect("no separator in a folder");
    joined.into_string().expect("text")
}

/// What the steps of a job printed and set.
struct Ran {
    code: Option<i32>,
    said: String,
    summary: String,
}

/// Runs steps as GitHub's runner does, until one fails. Steps that use other actions are skipped.
fn steps(clone: &Clone, steps: &Value, known: &BTreeMap<String, String>) -> Ran {
    let file = |name: &str| clone.temp.join(name).display().to_string();
    let mut known = known.clone();
    let mut variables: BTreeMap<String, String> = [
        ("GITHUB_PATH", file("path")),
        ("GITHUB_OUTPUT", file("output")),
        ("GITHUB_STEP_SUMMARY", file("summary")),
        ("RUNNER_TEMP", file(".")),
        ("GITHUB_BASE_REF", "main".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    for name in ["path", "output", "summary"] {
        std::fs::write(file(name), "").expect("written");
    }
    let mut ran = Ran { code: Some(0), said: String::new(), summary: String::new() };
    for step in steps.as_array().expect("steps") {
        let Some(script) = step["run"].as_str() else { continue };
        assert!(!script.contains("${{"), "a value of the event in a command line: {script}");
        let mut here = variables.clone();
        for (name, value) in known.iter().filter(|(name, _)| name.starts_with("env.")) {
            here.insert(name["env.".len()..].to_owned(), value.clone());
        }
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            here.insert(name.clone(), filled(value.as_str().expect("a text"), &known));
        }
        let paths = std::fs::read_to_string(file("path")).expect("read");
        let mut path: Vec<&str> = paths.lines().collect();
        let before = clone.path();
        path.push(&before);
        here.insert("PATH".to_owned(), path.join(":"));
        let output = clone.shell(script, &here);
        ran.said += &String::from_utf8_lossy(&output.stdout);
        ran.said += &String::from_utf8_lossy(&output.stderr);
        ran.code = output.status.code();
        if ran.code != Some(0) {
            break;
        }
        let told = std::fs::read_to_string(file("output")).expect("read");
        for (name, value) in told.lines().filter_map(|line| line.split_once('=')) {
            known.insert(format!("steps.check.outputs.{name}"), value.to_owned());
        }
        variables.remove("PATH");
    }
    ran.summary = std::fs::read_to_string(file("summary")).expect("read");
    ran
}

/// Returns the text with a value in place of each `${{ name }}`.
fn filled(text: &str, known: &BTreeMap<String, String>) -> String {
    let mut pieces = text.split("${{");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, after) = piece.split_once("}}").expect("a closed expression");
        let name = name.trim();
        out += known.get(name).unwrap_or_else(|| panic!("nobody knows {name}"));
        out += after;
    }
    out
}

/// Runs the steps of `action.yml` with these inputs.
fn action(clone: &Clone, inputs: &[(&str, &str)]) -> Ran {
    let action = yaml(&project("action.yml"));
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for (name, input) in action["inputs"].as_object().expect("inputs") {
        let default = input["default"].as_str().expect("a default");
        known.insert(format!("inputs.{name}"), default.to_owned());
    }
    for (name, value) in inputs {
        let before = known.insert(format!("inputs.{name}"), (*value).to_owned());
        assert!(before.is_some(), "there is no input {name}");
    }
    known.insert("github.server_url".into(), "file:///nowhere".into());
    known.insert("github.action_repository".into(), "owner/intent-lsp".into());
    steps(clone, &action["runs"]["steps"], &known)
}

#[test]
#[ignore = "slow"]
fn the_action_installs_an_archive_and_judges_the_branch() {
    let (good, bad) = (Clone::good(), Clone::bad());
    let from = |clone: &Clone, more: &[(&str, &str)]| {
        let archive = [("archive", clone.archive.as_str()), ("sha256", clone.sum.as_str())];
        action(clone, &[&archive, more].concat())
    };
    let ran = from(&good, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    assert!(!ran.summary.is_empty());
    let ran = from(&bad, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.said);
    assert!(ran.said.contains("infra/b.rs"), "{}", ran.said);
    assert!(ran.summary.contains("infra/b.rs"), "{}", ran.summary);
    assert_eq!(from(&bad, &[("fail-on", "never")]).code, Some(0));
    assert_eq!(from(&bad, &[("fail-on", "never"), ("base", "nowhere")]).code, Some(2));
    assert_eq!(from(&good, &[("summary", "false")]).summary, "");
    let ran = from(&bad, &[("sarif", "true"), ("fail-on", "never")]);
    assert_eq!(ran.code, Some(0));
    assert!(bad.temp.join("intent.sarif").is_file());
}

#[test]
#[ignore = "slow"]
fn the_action_refuses_other_archives_and_uses_an_installed_program() {
    let clone = Clone::good();
    let wrong = "0".repeat(64);
    let ran = action(&clone, &[("archive", &clone.archive), ("sha256", &wrong)]);
    assert!(ran.code != Some(0) && !clone.temp.join("intent-lsp/intent-lsp-1.2.3").exists());
    let source = clone.temp.join("source.tar.gz");
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&source).arg("-C").arg(&clone.lab.root).arg("src");
    assert!(tar.status().expect("tar runs").success());
    let sum = sha256(&std::fs::read(&source).expect("an archive"));
    let ran = action(&clone, &[("archive", &source.display().to_string()), ("sha256", &sum)]);
    assert!(ran.code == Some(2) && ran.said.contains("does not hold intent-lsp"), "{}", ran.said);
    let ran = action(&clone, &[("archive", &clone.archive)]);
    assert!(ran.code == Some(2) && ran.said.contains("'sha256'"), "{}", ran.said);
    let ran = action(&clone, &[]);
    assert!(ran.code == Some(2) && ran.said.contains("::error::"), "{}", ran.said);
    let folder = clone.temp.join("made/intent-lsp-1.2.3");
    for path in [folder.join("intent-lsp"), folder] {
        let ran = action(&clone, &[("path", &path.display().to_string())]);
        assert_eq!(ran.code, Some(0), "{}", ran.said);
    }
}

/// The workspace may be a folder of the repository, and forges take paths from its top.
#[test]
fn forges_get_paths_from_the_top_of_the_repository() {
    let lab = Lab::git();
    lab.write("shop/.orchestration/notes.md", "");
    lab.fine(&["-C", "shop", "init", "--no-agents"]);
    lab.fine(&["-C", "shop", "new", "One", "--scope", "src/**", "--start"]);
    lab.commit();
    lab.fine(&["-C", "shop", "select", "INT-001"]);
    lab.write("shop/lib/a.rs", "fn a() {\n    call();\n}\n");
    for (format, expected) in [
        ("github", "::error file=shop/lib/a.rs,"),
        ("sarif", "\"uri\":\"shop/lib/a.rs\""),
        ("gitlab", "\"path\":\"shop/lib/a.rs\""),
        ("text", "\nlib/a.rs:1: error"),
    ] {
        let output = lab.intent(&["-C", "shop", "check", "--format", format]).stdout;
        let said = format!("\n{}", String::from_utf8_lossy(&output));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
#[ignore = "slow"]
fn the_workflow_that_init_writes_judges_the_branch() {
    for (clone, expected) in [(Clone::good(), 0), (Clone::bad(), 1)] {
        clone.lab.write(".github/workflows/build.yml", "on: push\n");
        clone.lab.fine(&["init", "--team"]);
        let text = clone.lab.read(".github/workflows/intent.yml");
        let workflow = yaml(&text);
        let job = &workflow["jobs"]["intent"]["steps"];
        assert_eq!(job[0]["with"]["fetch-depth"], 0);
        let mut known = BTreeMap::from([("github.base_ref".to_owned(), "main".to_owned())]);
        for (name, value) in workflow["env"].as_object().expect("variables") {
            known.insert(format!("env.{name}"), value.as_str().expect("a text").to_owned());
        }
        let ran = steps(&clone, job, &known);
        assert_eq!(ran.code, Some(0), "{}", ran.said);
        assert!(ran.said.contains("::warning::Nothing is checked"), "{}", ran.said);
        known.insert("env.INTENT_ARCHIVE".into(), clone.archive.clone());
        known.insert("env.INTENT_SHA256".into(), clone.sum.clone());
        let ran = steps(&clone, job, &known);
        assert_eq!(ran.code, Some(expected), "{}", ran.said);
        assert!(!ran.summary.is_empty());
    }
}

#[test]
#[ignore = "slow"]
fn the_job_for_gitlab_judges_the_branch_and_leaves_reports() {
    for (clone, expected) in [(Clone::good(), 0), (Clone::bad(), 1)] {
        let job = yaml(&project("integrations/ci/gitlab.yml"))["intent"].clone();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let mut variables: BTreeMap<String, String> = job["variables"]
            .as_object()
            .expect("variables")
            .iter()
            .map(|(name, value)| (name.clone(), text(value)))
            .collect();
        variables.insert("CI_MERGE_REQUEST_TARGET_BRANCH_NAME".into(), "main".into());
        let script = text(&job["script"][0]);
        let output = clone.shell(&script, &variables);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("Nothing is checked"), "{said}");
        variables.insert("INTENT_ARCHIVE".into(), clone.archive.clone());
        variables.insert("INTENT_SHA256".into(), clone.sum.clone());
        let output = clone.shell(&script, &variables);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(expected), "{said}");
        for report in job["artifacts"]["reports"].as_object().expect("reports").values() {
            assert!(clone.lab.root.join(text(report)).is_file(), "{report}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn the_stage_for_jenkins_judges_the_branch() {
    let stage = project("integrations/ci/jenkins.groovy");
    let script = stage.split("'''").nth(1).expect("a script");
    for (clone, expected) in [(Clone::good(), 0), (Clone::bad(), 1)] {
        let bin = clone.temp.join("made/intent-lsp-1.2.3").display().to_string();
        let path = format!("{bin}:{}", clone.path());
        let variables = [("CHANGE_TARGET", "main".to_owned()), ("PATH", path)];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
        let output = clone.shell(script, &variables);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(expected), "{said}");
        assert!(clone.lab.root.join("intent-junit.xml").is_file());
    }
}

#[test]
#[ignore = "slow"]
fn the_entries_for_pre_commit_judge_what_is_staged() {
    let lab = Lab::governed();
    lab.write(".orchestration/policy.yaml", "protected_paths: [infra/**]\n");
    lab.write(".pre-commit-config.yaml", "repos:\n- repo: local # ours\n  hooks: []\n");
    lab.commit();
    lab.fine(&["init", "--team"]);
    let config = yaml(&lab.read(".pre-commit-config.yaml"));
    let hooks = yaml(&project(".pre-commit-hooks.yaml"));
    let of_project = hooks.as_array().expect("hooks").iter();
    let entry = |hook: &Value| hook["entry"].as_str().expect("an entry").to_owned();
    let local = entry(&config["repos"][1]["hooks"][0]);
    let entries: Vec<String> = of_project.map(entry).chain([local.clone()]).collect();
    let without = path_without_program(&lab.root.join("../temp"));
    for (path, expected) in [("src/a.rs", 0), ("infra/a.rs", 1)] {
        lab.write(path, "fn a() {\n    call();\n}\n");
        lab.run_git(&["add", path]);
        for entry in &entries {
            let folder = Path::new(PROGRAM).parent().expect("a folder").display();
            let path = format!("{folder}:{without}");
            let mut shell = crate::cli::lab::clean(Command::new("sh"), &lab.root);
            let output = shell.args(["-c", entry]).env("PATH", path).output().expect("sh runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(expected), "{entry}: {said}");
        }
    }
    // Somebody who does not have the program installed can commit all the same.
    let mut shell = crate::cli::lab::clean(Command::new("/bin/sh"), &lab.root);
    let output = shell.args(["-c", &local]).env("PATH", without).output().expect("sh runs");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn every_input_of_the_action_is_used_and_documented() {
    let text = project("action.yml");
    let action = yaml(&text);
    let page = project("docs/ci.md");
    assert_eq!(action["runs"]["using"], "composite");
    for (name, input) in action["inputs"].as_object().expect("inputs") {
        assert!(text.contains(&format!("inputs.{name}")), "{name} is not used");
        assert!(page.contains(&format!("`{name}`")), "docs/ci.md does not name {name}");
        assert!(input["description"].as_str().is_some_and(|it| !it.is_empty()));
    }
    for step in action["runs"]["steps"].as_array().expect("steps") {
        assert!(step.get("uses").is_some() || step["shell"] == "bash", "{step}");
    }
}

/// Returns the names of the files that a job exported, without the `.gitignore` beside the days.
fn exported(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let days = std::fs::read_dir(folder).expect("days").map(|day| day.expect("a day").path());
    for day in days.filter(|day| day.is_dir()) {
        for repository in std::fs::read_dir(day).expect("repositories") {
            let files = std::fs::read_dir(repository.expect("a repository").path());
            let files = files.expect("files").map(|file| file.expect("a file").file_name());
            names.extend(files.map(|name| name.into_string().expect("text")));
        }
    }
    names.sort();
    names
}

/// The tests have no Parquet, so the jobs write JSON here.
#[test]
#[ignore = "slow"]
fn the_jobs_that_export_write_the_files_of_a_push() {
    let clone = Clone::good();
    let head = clone.lab.read_git(&["rev-parse", "HEAD", "HEAD~1"]);
    let [after, before] = head.lines().collect::<Vec<_>>()[..] else { panic!("{head}") };
    let zeros = "0".repeat(40);
    for start in [before, &zeros] {
        let stem = format!("{}-{}", &start[..12], &after[..12]);
        let expected =
            ["claims", "findings", "intents"].map(|table| format!("{stem}.{table}.v1.jsonl"));
        let archive =
            [("ARCHIVE", clone.archive.as_str()), ("SHA256", &clone.sum), ("FOLDER", ".")];
        let workflow = yaml(&project("integrations/ci/export-github.yml"));
        let mut job = workflow["jobs"]["export"]["steps"].clone();
        job[2]["env"]["INTENT_FORMAT"] = "jsonl".into();
        let mut known = BTreeMap::from([
            ("github.event.before".to_owned(), start.to_owned()),
            ("github.sha".to_owned(), after.to_owned()),
        ]);
        known.extend(archive.map(|(name, value)| (format!("env.INTENT_{name}"), value.to_owned())));
        let ran = steps(&clone, &job, &known);
        assert_eq!(ran.code, Some(0), "{}", ran.said);
        let lake = clone.temp.join("lake");
        assert_eq!(exported(&lake), expected);
        std::fs::remove_dir_all(lake).expect("removed");
        let job = &yaml(&project("integrations/ci/export-gitlab.yml"))["intent-export"];
        let mut variables = BTreeMap::from([
            ("CI_COMMIT_BEFORE_SHA".to_owned(), start.to_owned()),
            ("CI_COMMIT_SHA".to_owned(), after.to_owned()),
            ("INTENT_FORMAT".to_owned(), "jsonl".to_owned()),
        ]);
        variables.extend(archive.map(|(name, value)| (format!("INTENT_{name}"), value.to_owned())));
        let output = clone.shell(job["script"][0].as_str().expect("a script"), &variables);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lake = clone.lab.root.join("lake");
        assert_eq!(exported(&lake), expected);
        std::fs::remove_dir_all(lake).expect("removed");
    }
}
