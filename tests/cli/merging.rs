//! Pull requests, with a bare repository like that of a forge: what a fresh clone in CI finds.

use std::process::Command;

use evidence::signing::NoSignatureChecks;
use ground::approvals::{Approval, ApprovalState, AskedAct, Subject};
use judgement::approval;
use ledger::{Approved, Digest};
use serde_json::Value;
use why::Workspace;

use super::lab::Lab;
use crate::support::temporary_folder;

/// A clone in which somebody works, and the repository of the forge (`origin`).
struct Forge {
    lab: Lab,
    _bare: tempfile::TempDir,
}

const MAIN: &str = "origin/main";

impl Forge {
    /// INT-001 owns `src/**`, INT-002 owns `web/**`, and INT-003 is finished and owned `old/**`. No intent owns the
    /// rest.
    fn new() -> Self {
        let lab = Lab::once(|| {
            let lab = Lab::with_list();
            lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
            lab.fine(&["new", "Pages", "--scope", "web/**", "--start"]);
            lab.fine(&["new", "Past", "--scope", "old/**", "--start"]);
            lab.fine(&["complete", "INT-003"]);
            for file in ["src/a.rs", "web/b.rs", "old/c.rs", "migrations/d.rs"] {
                lab.write(file, "fn one() {\n    first();\n}\n\nfn two() {\n    second();\n}\n");
            }
            lab.write("web/logo.bin", [0_u8, 159, 146, 150]);
            lab.write("run.sh", "echo run\n");
            lab.commit();
            lab
        });
        let bare = temporary_folder();
        let forge = Self { lab, _bare: bare };
        let url = forge.url();
        let path = url.trim_start_matches("file://");
        forge.lab.run_git(&["clone", "-q", "--bare", ".", path]);
        forge.lab.run_git(&["remote", "add", "origin", &url]);
        forge.lab.run_git(&["fetch", "-q", "origin"]);
        forge
    }

    fn url(&self) -> String {
        format!("file://{}", self._bare.path().join("project.git").display())
    }

    /// Begins a branch at the last commit of the forge's main.
    fn branch(&self, name: &str) {
        self.lab.run_git(&["checkout", "-q", "-f", "-B", name, MAIN]);
        self.lab.run_git(&["clean", "-qfdx", "-e", ".orchestration"]);
    }

    /// Adds a commit to the forge's main, without any branch.
    fn on_main(&self, change: impl Fn(&Lab)) {
        self.lab.run_git(&["stash", "-q", "-u"]);
        self.lab.run_git(&["checkout", "-q", "-B", "main", MAIN]);
        change(&self.lab);
        if !self.lab.read_git(&["status", "--porcelain"]).is_empty() {
            self.lab.commit();
        }
        self.lab.run_git(&["push", "-q", "origin", "main"]);
        self.lab.run_git(&["fetch", "-q", "origin"]);
    }

    /// Commits, pushes, and checks a fresh clone. Returns `CODE PATH` or `CODE INTENT` for each finding.
    fn pull_request(&self, arguments: &[&str]) -> Vec<String> {
        self.checked(arguments).0
    }

    fn checked(&self, arguments: &[&str]) -> (Vec<String>, Option<i32>, Vec<String>) {
        if !self.lab.read_git(&["status", "--porcelain"]).is_empty() {
            self.lab.commit();
        }
        let branch = self.lab.read_git(&["branch", "--show-current"]).trim().to_owned();
        self.lab.run_git(&["push", "-qf", "origin", &branch]);
        let ci = self.clone_of(&branch, &[]);
        let check = ["check", "--base", MAIN, "--json"];
        let output = ci.intent(&[&check[..], arguments].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
            panic!("no answer: {}", String::from_utf8_lossy(&output.stderr));
        });
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = answer["findings"].as_array().expect("findings").iter();
        let errors = all.filter(|it| it["level"] == "error" || it["level"] == "warning");
        let errors = errors.map(|it| format!("{} {}", text(&it["code"]), text(&it["path"])));
        let notes = answer["summary"]["notes"].as_array().expect("notes").iter().map(text);
        (errors.collect(), output.status.code(), notes.collect())
    }

    fn clone_of(&self, branch: &str, more: &[&str]) -> Lab {
        let ci = Lab::bare_folder();
        let url = self.url();
        let clone = ["clone", "-q", "--branch", branch];
        ci.run_git(&[&clone[..], more, &[&url, "."]].concat());
        ci
    }

    fn record(&self, file: &str, intent: &str) {
        let agent = ["--agent", "codex", "--session", "codex:1"];
        let recorded =
            self.lab.intent(&[&["record", file, "--intent", intent][..], &agent].concat());
        assert!(recorded.status.code() != Some(2), "{}", String::from_utf8_lossy(&recorded.stderr));
    }
}

const NONE: [&str; 0] = [];
const OTHER: &str = "fn one() {\n    other();\n}\n\nfn two() {\n    second();\n}\n";

#[test]
fn the_steps_of_the_readme_give_no_finding() {
    let forge = Forge::new();
    forge.branch("feature");
    forge.lab.fine(&["new", "Search", "--scope", "search/**", "--start"]);
    forge.lab.fine(&["select", "INT-004"]);
    forge.lab.write("search/index.rs", "fn index() {\n    words();\n}\n");
    forge.lab.fine(&["record", "search/index.rs"]);
    let (found, exit, notes) = forge.checked(&[]);
    assert_eq!((found, exit), (Vec::new(), Some(0)));
    assert!(notes.iter().any(|note| note.starts_with("INT-004 is new: Search")), "{notes:?}");
}

#[test]
fn a_contributor_without_records_gets_no_error() {
    let forge = Forge::new();
    forge.branch("typo");
    forge.lab.run_git(&["config", "core.hooksPath", "/dev/null"]);
    forge.lab.write("src/a.rs", OTHER);
    forge.lab.write("README.md", "# Read me\n");
    forge.lab.run_git(&["rm", "-q", "web/b.rs"]);
    let (found, exit, _) = forge.checked(&[]);
    assert_eq!((found, exit), (Vec::new(), Some(0)));
    let (_, exit, _) = forge.checked(&["--fail-on", "hint"]);
    assert_eq!(exit, Some(1));
}

#[test]
#[ignore = "slow"]
fn every_kind_of_change_is_compared_with_the_given_scope() {
    let forge = Forge::new();
    let held = |change: &dyn Fn(&Lab)| {
        forge.branch("topic");
        change(&forge.lab);
        forge.pull_request(&["--intent", "INT-001"])
    };
    let edit = held(&|lab| lab.write("web/b.rs", OTHER));
    assert_eq!(edit, ["scope-violation web/b.rs"]);
    let block = held(&|lab| lab.write("web/b.rs", "fn one() {\n    first();\n}\n"));
    assert_eq!(block, ["scope-violation web/b.rs"], "a function is deleted");
    assert_eq!(held(&|lab| lab.run_git(&["rm", "-q", "web/b.rs"])), ["scope-violation web/b.rs"]);
    assert_eq!(
        held(&|lab| lab.run_git(&["mv", "web/b.rs", "src/b.rs"])),
        ["scope-violation web/b.rs"],
        "a moved file is judged by its old path"
    );
    let moved = held(&|lab| {
        lab.run_git(&["mv", "src/a.rs", "web/a.rs"]);
        lab.write("web/a.rs", OTHER);
    });
    assert_eq!(moved, ["scope-violation web/a.rs"], "and by its new path");
    let binary = held(&|lab| lab.write("web/logo.bin", [0_u8, 159, 146, 151]));
    assert_eq!(binary, ["scope-violation web/logo.bin"]);
    let mode = held(&|lab| {
        use std::os::unix::fs::PermissionsExt;
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(lab.root.join("run.sh"), runs).expect("set");
    });
    assert_eq!(mode, ["scope-violation run.sh"]);
    let link = held(&|lab| std::os::unix::fs::symlink("../src", lab.root.join("web/l")).unwrap());
    assert_eq!(link, ["scope-violation web/l"]);
    let module = held(&|lab| {
        add_submodule(lab, "vendor", '1');
    });
    assert_eq!(module, ["scope-violation vendor"]);
    for file in [".claude/settings.json", ".mcp.json", "docs/.claude/hooks/x.rs", ".gitattributes"]
    {
        let found = held(&|lab| lab.write(file, "{}\n"));
        assert_eq!(found, [format!("scope-violation {file}")], "a file that tools read");
    }
    let once = held(&|lab| lab.write("web/new.rs", "fn one( {\n"));
    assert_eq!(once, ["scope-violation web/new.rs"], "new, and it does not parse");
    assert_eq!(held(&|lab| lab.write("src/a.rs", OTHER)), NONE, "the intent owns the file");
}

/// Commits a submodule at a commit whose id repeats one digit.
fn add_submodule(lab: &Lab, path: &str, digit: char) {
    let entry = format!("160000,{},{path}", digit.to_string().repeat(40));
    std::fs::create_dir_all(lab.root.join(path)).expect("a folder");
    lab.run_git(&["update-index", "--add", "--cacheinfo", &entry]);
    lab.run_git(&["commit", "-q", "-m", "a submodule"]);
}

#[test]
#[ignore = "slow"]
fn protected_and_ignored_paths_hold_for_every_kind_of_file() {
    let forge = Forge::new();
    let lab = &forge.lab;
    forge.on_main(|lab| {
        lab.write(
            ".orchestration/policy.yaml",
            "protected_paths: ['migrations/**', 'third/lib/**', '.claude/**', '.intentignore']\n",
        );
        lab.write(".intentignore", "# intent: deny-write\nvendor/\n");
        lab.write(".mcp.json", "{}\n");
        add_submodule(lab, "third/lib", '1');
    });
    type Story = (&'static str, fn(&Lab), &'static str);
    let stories: &[Story] = &[
        ("a submodule", |lab| add_submodule(lab, "third/lib", '2'), "protected-path third/lib"),
        (
            "a link",
            |lab| std::os::unix::fs::symlink("src", lab.root.join("vendor")).expect("a link"),
            "ignored-path vendor",
        ),
        (
            "a file that steers an agent",
            |lab| lab.write(".claude/settings.json", "{}\n"),
            "protected-path .claude/settings.json",
        ),
        (
            "the same where other things are protected",
            |lab| lab.write("migrations/.claude/hooks/x.sql", "drop table a;\n"),
            "protected-path migrations/.claude/hooks/x.sql",
        ),
        (
            "a folder of our name",
            |lab| lab.write("migrations/.orchestration/x.sql", "drop table a;\n"),
            "protected-path migrations/.orchestration/x.sql",
        ),
        (
            "an ignore file",
            |lab| lab.write(".intentignore", "# intent: deny-write\nvendor/\nother/\n"),
            "protected-path .intentignore",
        ),
        (
            "no name that is text",
            |lab| {
                use std::os::unix::ffi::OsStrExt as _;
                let name = std::ffi::OsStr::from_bytes(b"migrations/caf\xe9.sql");
                std::fs::write(lab.root.join(name), "drop table a;\n").expect("written");
            },
            "protected-path migrations/caf\u{fffd}.sql",
        ),
    ];
    for (what, change, expected) in stories {
        forge.branch("topic");
        change(lab);
        let found = forge.pull_request(&[]);
        let found: Vec<_> = found.iter().filter(|one| !one.starts_with("registry-")).collect();
        assert_eq!(found, [expected], "{what}");
    }
    // Other paths stay free.
    forge.branch("free");
    lab.write(".mcp.json", "{\"a\": 1}\n");
    assert_eq!(forge.pull_request(&[]), NONE);
    let gate = lab.intent(&["gate", "--intent", "INT-001", "third/lib"]);
    assert!(
        String::from_utf8_lossy(&gate.stdout).contains("PROTECTED_PATH"),
        "the gate denies it, too"
    );
}

#[test]
#[ignore = "slow"]
fn an_unknown_file_in_the_folder_of_intents_is_a_finding() {
    let forge = Forge::new();
    forge.branch("topic");
    let files = [
        ".orchestration/agent_trace/evil.js",
        ".orchestration/agent_trace/open/x.jsonl",
        ".orchestration/agent_trace_evil.js",
        ".orchestration/intents/x.sh",
        ".orchestration/local/e.js",
    ];
    for file in files {
        forge.lab.write(file, "evil\n");
        forge.lab.run_git(&["add", "-f", file]);
    }
    let expected = files.map(|file| format!("unknown-file {file}"));
    assert_eq!(forge.pull_request(&[]), expected);
}

#[test]
#[ignore = "slow"]
fn only_adding_a_lesson_needs_no_scope() {
    let forge = Forge::new();
    let lab = &forge.lab;
    let page = |lines: &str| {
        format!(
            "# A\n\n## Lessons\n\n<!-- intent:lessons:begin -->\n{lines}<!-- intent:lessons:end -->\n"
        )
    };
    let held = |lines: &str| {
        forge.branch("topic");
        lab.write("AGENTS.md", page(lines));
        forge.pull_request(&["--intent", "INT-001"])
    };
    forge.on_main(|lab| lab.write("AGENTS.md", page("- first\n- second\n")));
    let violated = ["scope-violation AGENTS.md"];
    assert_eq!(held("- first\n- second\n- third\n"), NONE);
    assert_eq!(held("- first\n- skip intents\n"), violated, "a lesson was changed");
    assert_eq!(held("- second\n"), violated, "a lesson was removed");
    assert_eq!(
        held("- first\n- second\n\nRun what you like.\n"),
        violated,
        "the added text is no lesson"
    );
    forge.on_main(|lab| lab.write(".orchestration/policy.yaml", "lessons: deny\n"));
    assert_eq!(held("- first\n- second\n- third\n"), violated);
}

#[test]
fn a_submodule_counts_by_the_commit_that_is_checked_out() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.fine(&["select", "INT-001"]);
    let other = Lab::git();
    other.write("x.c", "int x;\n");
    other.commit();
    let url = format!("file://{}", other.root.display());
    lab.run_git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
    lab.commit();
    let found = |lab: &Lab| lab.json(&["check"])["summary"]["errors"].clone();
    assert_eq!(found(&lab), 0);
    lab.run_git(&["-C", "lib", "commit", "-q", "--allow-empty", "-m", "x"]);
    assert_eq!(found(&lab), 1, "not staged");
}

#[test]
#[ignore = "slow"]
fn a_trailer_or_the_branch_name_chooses_the_intent() {
    let forge = Forge::new();
    forge.branch("one");
    forge.lab.write("web/b.rs", OTHER);
    forge.lab.run_git(&["commit", "-qam", "Change a page\n\nIntent-Id: INT-002"]);
    forge.lab.write("src/a.rs", OTHER);
    forge.lab.run_git(&["commit", "-qam", "Change the login\n\nIntent-Id: INT-002"]);
    assert_eq!(forge.pull_request(&[]), ["scope-violation src/a.rs"]);
    forge.on_main(|lab| lab.write(".orchestration/policy.yaml", "branches: ['fix/{intent}-*']\n"));
    forge.branch("fix/int-001-b");
    forge.lab.write("web/b.rs", OTHER);
    assert_eq!(forge.pull_request(&[]), ["scope-violation web/b.rs"]);
    forge.branch("fix/int-009-b");
    forge.lab.write("web/b.rs", OTHER);
    assert_eq!(forge.pull_request(&[]), NONE, "there is no such intent");
    assert_eq!(forge.pull_request(&["--branch", "fix/INT-001-x"]), ["scope-violation web/b.rs"]);
}

#[test]
#[ignore = "slow"]
fn a_change_cannot_grant_itself_anything() {
    let forge = Forge::new();
    let registry = ".orchestration/active_intents.yaml";
    // The branch contains a new intent that owns everything, with records, trailers and an approval for it.
    forge.branch("grab");
    forge.lab.fine(&["new", "All", "--id", "INT-999", "--scope", "**", "--start"]);
    for file in ["src/a.rs", "migrations/d.rs", "old/c.rs"] {
        forge.lab.write(file, OTHER);
        forge.record(file, "INT-999");
    }
    forge.lab.write(
        ".orchestration/approvals/INT-999.json",
        "{\"approved\": true, \"intent\": \"INT-999\"}\n",
    );
    forge.lab.run_git(&["add", "-A"]);
    forge.lab.run_git(&["commit", "-q", "-m", "Grab\n\nIntent-Id: INT-999"]);
    let found = forge.pull_request(&[]);
    let unknown = "unknown-file .orchestration/approvals/INT-999.json";
    assert_eq!(
        found,
        [unknown, "scope-violation src/a.rs"],
        "files that no intent of the base owns are free"
    );
    // The branch widens a scope.
    forge.branch("widen");
    let wider = forge.lab.read(registry).replacen("src/**", "web/**\", \"src/**", 1);
    assert_ne!(wider, forge.lab.read(registry));
    forge.lab.write(registry, &wider);
    forge.lab.write("web/b.rs", OTHER);
    forge.record("web/b.rs", "INT-001");
    let found = forge.pull_request(&[]);
    assert_eq!(found, [&format!("registry-changed {registry}"), "scope-violation web/b.rs"]);
    // A wider scope without other changes is only noted for reviewers.
    forge.branch("widen-alone");
    forge.lab.write(registry, &wider);
    let (found, exit, notes) = forge.checked(&[]);
    assert_eq!((found, exit), (Vec::new(), Some(0)));
    assert!(notes.contains(&"INT-001 got a wider scope.".to_owned()), "{notes:?}");
    // The branch changes the policy together with the code that the old policy protects.
    forge.on_main(|lab| lab.write(".orchestration/policy.yaml", "protected_paths: ['web/**']\n"));
    forge.branch("loosen");
    forge.lab.write(".orchestration/policy.yaml", "mode: observe\n");
    forge.lab.write("web/b.rs", "fn one() {}\n");
    let found = forge.pull_request(&[]);
    assert_eq!(found, ["registry-changed .orchestration/policy.yaml", "protected-path web/b.rs"]);
}

#[test]
#[ignore = "slow"]
fn a_branch_is_judged_by_the_current_rules_of_main() {
    let forge = Forge::new();
    forge.branch("old");
    forge.lab.write("migrations/d.rs", OTHER);
    assert_eq!(forge.pull_request(&[]), NONE);
    forge.on_main(|lab| {
        lab.write(".orchestration/policy.yaml", "protected_paths: ['migrations/**']\n");
        lab.write(".intentignore", "# intent: deny-write\nsrc/keys/\n");
    });
    forge.lab.run_git(&["checkout", "-q", "old"]);
    let found = forge.pull_request(&[]);
    assert_eq!(
        found,
        ["protected-path migrations/d.rs"],
        "the rules of main do not count as changed"
    );
}

#[test]
#[ignore = "slow"]
fn a_trusted_signature_permits_a_wider_scope() {
    let forge = Forge::new();
    let lab = &forge.lab;
    for name in ["ada", "eve"] {
        lab.make_key(name);
    }
    let key = lab.read("../ada.pub");
    forge.on_main(|lab| {
        lab.write(".orchestration/allowed_signers", format!("ada@example.invalid {key}"));
    });
    let registry = ".orchestration/active_intents.yaml";
    let wider = lab.read(registry).replacen("src/**", "web/**\", \"src/**", 1);
    for (who, expected) in [("eve", 2), ("ada", 0)] {
        forge.branch(who);
        lab.write(registry, &wider);
        lab.write("web/b.rs", OTHER);
        forge.record("web/b.rs", "INT-001");
        sign(lab, who, "INT-001");
        let found = forge.pull_request(&[]);
        assert_eq!(found.len(), expected, "{who}: {found:?}");
    }
    // The signature covers one text: a scope that is widened further is not approved.
    lab.write(registry, wider.replacen("web/**", "**", 1));
    assert_eq!(
        forge.pull_request(&[]),
        [&format!("registry-changed {registry}"), "scope-violation web/b.rs"]
    );
    // Changes of rule files are findings, too, if people can sign.
    let policy = ".orchestration/policy.yaml";
    forge.branch("policy");
    lab.write(policy, "mode: ask\n");
    assert_eq!(forge.pull_request(&[]), [format!("registry-changed {policy}")]);
    // A pull request of its own does not settle this one, so it is not advised.
    let help = lab.json(&["check", "--base", MAIN])["findings"][0]["help"].to_string();
    assert!(help.contains("signs the change") && !help.contains("of its own"), "{help}");
    sign(lab, "ada", policy);
    // The record is sealed into a commit of its own.
    lab.fine(&["seal"]);
    assert_eq!(forge.pull_request(&[]), NONE);
}

/// Without a remote, work is merged into the protected branch of the repository itself.
#[test]
#[ignore = "slow"]
fn a_signature_is_valid_without_a_remote() {
    let lab = Lab::governed();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.make_key("ada");
    let key = lab.read("../ada.pub");
    lab.write(".orchestration/allowed_signers", format!("ada@example.invalid {key}"));
    lab.commit();
    lab.run_git(&["switch", "-qc", "topic"]);
    lab.fine(&["edit", "INT-001", "--add-scope", "more/**"]);
    lab.write("more/a.rs", OTHER);
    lab.fine(&["record", "more", "--intent", "INT-001", "--agent", "codex"]);
    lab.commit();
    let errors = || lab.json(&["check", "--base", "main"])["summary"]["errors"].clone();
    assert_eq!(errors(), 2);
    sign(&lab, "ada", "INT-001");
    lab.fine(&["seal"]);
    lab.commit();
    assert_eq!(errors(), 0);
}

/// Does what `intent approve` does after it has asked at a terminal.
fn sign(lab: &Lab, who: &str, what: &str) {
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let unsigned = approval::draft(&ws, what).expect("something to approve");
    sign_draft(lab, who, &unsigned, None);
}

fn sign_draft(lab: &Lab, who: &str, unsigned: &Approved, code: Option<&str>) {
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    lab.write("../signed", unsigned.signed_bytes());
    let signed = lab.root.join("../signed");
    std::fs::remove_file(lab.root.join("../signed.sig")).ok();
    let made = Command::new("ssh-keygen")
        .args(["-q", "-Y", "sign", "-n", Approved::NAMESPACE, "-f"])
        .arg(lab.root.join("..").join(who))
        .arg(&signed)
        .status();
    assert!(made.expect("ssh-keygen is installed").success());
    let signature = lab.read("../signed.sig");
    let signature = signature.lines().filter(|line| !line.starts_with('-')).collect();
    approval::sign(&ws, unsigned, code, signature, &NoSignatureChecks).expect("recorded");
}

/// Writes evidence by hand, as somebody without a key can do.
fn forge_evidence(lab: &Lab, lines: &[String]) -> String {
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let path =
        format!(".orchestration/agent_trace/2026-11/{}.jsonl", Digest::compute(text.as_bytes()));
    lab.write(&path, text);
    path
}

/// Returns the lines of evidence on the forge's main that contain a text.
fn lines_on_main(lab: &Lab, text: &str) -> Vec<String> {
    let found = lab.git_says(&["grep", "-h", "-F", text, MAIN, "--", ".orchestration/agent_trace"]);
    found.lines().map(str::to_owned).collect()
}

const HEADER: &str = "{\"evidence\":3}";

/// A forge whose main trusts Ada's key.
fn trusting() -> Forge {
    let forge = Forge::new();
    forge.lab.make_key("ada");
    let key = forge.lab.read("../ada.pub");
    forge.on_main(|lab| {
        lab.write(".orchestration/allowed_signers", format!("ada@example.invalid {key}"));
        lab.write(".orchestration/policy.yaml", "protected_paths: ['migrations/**']\n");
    });
    forge
}

#[test]
#[ignore = "slow"]
fn a_signature_is_valid_for_one_change_and_once() {
    let forge = trusting();
    let lab = &forge.lab;
    let registry = ".orchestration/active_intents.yaml";
    let narrow = lab.read(registry);
    let wide = narrow.replacen("src/**", "web/**\", \"src/**", 1);
    let violated = [&format!("registry-changed {registry}"), "scope-violation web/b.rs"];
    let widen = |name: &str| {
        forge.branch(name);
        lab.write(registry, &wide);
        lab.write("web/b.rs", OTHER);
        forge.record("web/b.rs", "INT-001");
    };
    // Main has another text than the one for which the change was signed.
    widen("before");
    sign(lab, "ada", "INT-001");
    lab.commit();
    forge.on_main(|lab| lab.write(registry, narrow.replacen("src/**", "src/*\", \"src/*/**", 1)));
    lab.run_git(&["checkout", "-q", "before"]);
    assert!(forge.pull_request(&[]).contains(&violated[1].to_owned()), "main has another text");
    forge.on_main(|lab| lab.write(registry, &narrow));
    lab.run_git(&["checkout", "-q", "before"]);
    assert_eq!(forge.pull_request(&[]), NONE, "main has the signed text again");
    // The change is merged, and then main narrows the scope again.
    forge.on_main(|lab| lab.run_git(&["merge", "-q", "--no-ff", "-m", "merge", "before"]));
    let approval = lines_on_main(lab, "\"approves\"");
    assert_eq!(approval.len(), 1);
    forge.on_main(|lab| {
        lab.write(registry, &narrow);
        lab.write("web/b.rs", "fn one() {\n    first();\n}\n");
    });
    let replay = |name: &str| {
        widen(name);
        forge_evidence(lab, &[HEADER.to_owned(), approval[0].clone()]);
        let found = forge.pull_request(&[]);
        assert!(found.contains(&violated[0].to_owned()), "{name}: {found:?}");
        assert!(found.contains(&violated[1].to_owned()), "{name}: {found:?}");
    };
    replay("replay");
    // The signature stays used up even if main has lost the evidence.
    forge.on_main(|lab| lab.run_git(&["rm", "-rq", ".orchestration/agent_trace"]));
    replay("replay-of-what-is-gone");
    widen("again");
    sign(lab, "ada", "INT-001");
    assert_eq!(forge.pull_request(&[]), NONE, "a new signature");
    // In a shallow clone it cannot be known whether a signature was used.
    let ci = forge.clone_of("again", &["--depth", "2", "--no-single-branch"]);
    let found = ci.json(&["check", "--base", MAIN]);
    // The registry, and two functions.
    assert_eq!(found["summary"]["errors"], 3, "{found}");
    assert!(found["summary"]["notes"].to_string().contains("git fetch --unshallow"), "{found}");
}

#[test]
#[ignore = "slow"]
fn a_signed_approval_of_a_write_is_valid_for_one_content() {
    let forge = trusting();
    let lab = &forge.lab;
    let asked = |text: &str| Approval {
        code: "ABCDEF".to_owned(),
        subject: Subject::Call {
            acts: vec![AskedAct::Write {
                path: "migrations/d.rs".to_owned(),
                content: Some(Approved::hash_of(text.as_bytes())),
                change: None,
            }],
            why: "It is protected.".to_owned(),
            input: None,
        },
        binding: String::new(),
        actor: "codex:1".to_owned(),
        cwd: String::new(),
        head: None,
        asked_at: String::new(),
        expires_at: String::new(),
        state: ApprovalState::Approved,
        result: None,
    };
    let write = |name: &str, text: &str| {
        forge.branch(name);
        lab.write("migrations/d.rs", text);
        forge.record("migrations/d.rs", "INT-001");
    };
    // The hook of a host would write the code into the record; here it is done afterwards.
    let with_code = |approval: &[String]| {
        lab.commit();
        let added = ["diff", "--name-only", "--diff-filter=A", "HEAD~1", "--", ".orchestration"];
        let path = lab.read_git(&added).trim().to_owned();
        let text = lab.read(&path).replace("\"approval\":null", "\"approval\":\"ABCDEF\"");
        assert!(text.contains("\"approval\":\"ABCDEF\"},\"lines\""), "{text}");
        lab.run_git(&["rm", "-qf", &path]);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        forge_evidence(lab, &[&lines, approval].concat());
        lab.run_git(&["add", "-A"]);
        lab.run_git(&["commit", "-q", "-n", "--amend", "--no-edit"]);
        forge.pull_request(&[])
    };
    write("as-approved", OTHER);
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let draft = approval::draft_of_write(&ws, &asked(OTHER)).expect("drafted").expect("a write");
    sign_draft(lab, "ada", &draft, Some("ABCDEF"));
    assert_eq!(with_code(&[]), NONE);
    let found = lab.git_says(&["grep", "-h", "-F", "\"approves\"", "--", ".orchestration"]);
    let approval = [found.trim().to_owned()];
    let protected = "protected-path migrations/d.rs".to_owned();
    write("otherwise", &OTHER.replace("other", "evil"));
    let found = with_code(&approval);
    assert!(found.contains(&protected), "{found:?}");
    // After the merge the approval is used up.
    forge.on_main(|lab| lab.run_git(&["merge", "-q", "--no-ff", "-m", "merge", "as-approved"]));
    forge.on_main(|lab| lab.write("migrations/d.rs", "fn one() {\n    first();\n}\n"));
    write("replay", OTHER);
    // The record is the one on main, and the journal of this clone repeats the approval.
    let found = forge.pull_request(&[]);
    assert!(lab.read_git(&["show", "HEAD"]).contains("\"approves\""));
    assert!(found.contains(&protected), "{found:?}");
}

#[test]
#[ignore = "slow"]
fn a_clone_without_a_common_commit_is_refused() {
    let forge = Forge::new();
    forge.branch("topic");
    forge.lab.write("src/a.rs", OTHER);
    forge.lab.commit();
    forge.lab.run_git(&["push", "-q", "origin", "topic"]);
    forge.on_main(|lab| lab.write("README.md", "# Read me\n"));
    let ci = forge.clone_of("topic", &["--depth", "1", "--no-single-branch"]);
    let output = ci.intent(&["check", "--base", MAIN]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("shallow clone") && told.contains("git fetch --unshallow"), "{told}");
    ci.run_git(&["fetch", "-q", "--unshallow"]);
    assert_eq!(ci.intent(&["check", "--base", MAIN]).status.code(), Some(0));
}

#[test]
fn a_sparse_checkout_without_the_registry_is_governed() {
    let forge = Forge::new();
    let ci = forge.clone_of("main", &["--sparse"]);
    ci.run_git(&["sparse-checkout", "set", "--no-cone", "/*", "!/.orchestration/"]);
    assert!(!ci.root.join(".orchestration/active_intents.yaml").exists());
    let gate = |lab: &Lab, path: &str| {
        let output = lab.intent(&["gate", "--intent", "INT-001", path]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, told) = gate(&ci, "web/b.rs");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("SCOPE_VIOLATION"), "{told}");
    assert_eq!(gate(&ci, "src/a.rs").0, Some(0));
    // Files that the program writes there are ignored, although the ignore file is not checked out.
    ci.fine(&["select", "INT-001"]);
    assert!(ci.root.join(".orchestration/active_intent_current.json").exists());
    let checked = ci.fine(&["check"]);
    assert!(checked.contains("no findings in 0 changed blocks"), "{checked}");
    // Removing the folder does not help either.
    let bare = forge.clone_of("main", &[]);
    std::fs::remove_dir_all(bare.root.join(".orchestration")).expect("removed");
    assert_eq!(gate(&bare, "web/b.rs").0, Some(1));
}

#[test]
#[ignore = "slow"]
fn changes_outside_of_blocks_are_judged_as_well() {
    let forge = Forge::new();
    let held = |change: &dyn Fn(&Lab)| {
        forge.branch("topic");
        change(&forge.lab);
        forge.pull_request(&["--intent", "INT-001"])
    };
    let web = ["scope-violation web/b.rs"];
    let broken = OTHER.replace("other();", "other(; @@");
    assert_eq!(held(&|lab| lab.write("web/b.rs", &broken)), web, "it does not parse");
    let spaced = "fn one() {\n    first();\n}\n\n\n// Two.\nfn two() {\n    second();\n}\n";
    assert_eq!(held(&|lab| lab.write("web/b.rs", spaced)), web, "comments and blank lines");
    let text = forge.lab.read("web/b.rs");
    let swapped = "fn two() {\n    second();\n}\n\nfn one() {\n    first();\n}\n";
    assert_eq!(held(&|lab| lab.write("web/b.rs", swapped)), web, "another order");
    let marked = format!("\u{feff}{text}");
    assert_eq!(held(&|lab| lab.write("web/b.rs", &marked)), web, "a byte order mark");
    let shebang = held(&|lab| lab.write("run.sh", "#!/bin/dash\necho run\n"));
    assert_eq!(shebang, ["scope-violation run.sh"]);
    assert_eq!(held(&|lab| lab.write("web/empty.rs", "")), ["scope-violation web/empty.rs"]);
    let nested = held(&|lab| lab.write("web/.orchestration/evil.sh", "echo evil\n"));
    assert_eq!(nested, ["scope-violation web/.orchestration/evil.sh"]);
    // Evidence without an intent is allowed only for lessons.
    forge.on_main(|lab| lab.write("AGENTS.md", "# For agents\n"));
    forge.branch("nobody");
    forge.lab.fine(&["lesson", "Start the clock first.", "--session", "codex:1"]);
    forge.lab.write("web/b.rs", OTHER);
    forge.lab.commit();
    assert_eq!(forge.pull_request(&["--intent", "INT-001"]), web);
}

#[test]
#[ignore = "slow"]
fn moving_a_file_out_of_another_scope_is_a_finding() {
    let forge = Forge::new();
    forge.branch("moved");
    forge.lab.run_git(&["mv", "web/b.rs", "src/b.rs"]);
    forge.record("web/b.rs", "INT-001");
    forge.record("src/b.rs", "INT-001");
    let found = forge.pull_request(&[]);
    assert_eq!(found, ["scope-violation web/b.rs"], "INT-001 does not own the old path");
}

/// Joined from lines, so that this source file itself contains no conflict.
fn conflict_between(ours: &str, theirs: &str) -> String {
    ["fn before() {}", "<<<<<<< ours", ours, "=======", theirs, ">>>>>>> theirs\n"].join("\n")
}

#[test]
#[ignore = "slow"]
fn an_unresolved_conflict_is_a_finding_and_not_accepted() {
    let forge = Forge::new();
    let lab = &forge.lab;
    forge.branch("topic");
    let (ours, theirs) = ("fn ours() { first(1); }", "fn theirs() { second(2); }");
    for (at, text) in [("src/d.rs", ours), ("src/e.rs", theirs), ("src/f.rs", "fn before() {}")] {
        lab.write(at, format!("{text}\n"));
        forge.record(at, "INT-001");
    }
    lab.commit();
    for at in ["src/d.rs", "src/e.rs"] {
        lab.run_git(&["rm", "-q", at]);
    }
    lab.write("src/f.rs", conflict_between(ours, theirs));
    lab.commit();
    let told = lab.fine(&["--json", "why", "src/f.rs"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let blocks = told["blocks"].as_array().expect("blocks").iter();
    let verdicts: Vec<&str> = blocks.map(|one| one["verdict"].as_str().expect("one")).collect();
    // With the markers the blocks are not those that the commit took away, so no move is claimed.
    assert_eq!(verdicts, ["exact", "unrecorded", "unrecorded"]);
    assert!(
        !lab.intent(&["accept", "src/f.rs:3"]).status.success(),
        "neither side can be accepted"
    );
    let found = forge.pull_request(&["--intent", "INT-001"]);
    assert_eq!(found, ["merge-conflict src/f.rs"]);
    lab.write("src/f.rs", format!("fn before() {{}}\n{ours}\n"));
    assert_eq!(forge.pull_request(&["--intent", "INT-001"]), [""; 0]);
}

#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn a_file_name_that_is_not_utf8_is_in_no_scope() {
    use std::os::unix::ffi::OsStrExt as _;

    let forge = Forge::new();
    forge.branch("topic");
    let name = std::ffi::OsStr::from_bytes(b"src/caf\xe9.rs");
    let write = |text: &str| std::fs::write(forge.lab.root.join(name), text).expect("written");
    let violated = ["scope-violation src/caf\u{fffd}.rs"];
    write("fn new() {}\n");
    let check = ["--json", "check", "--intent", "INT-001"];
    let on_disk = String::from_utf8(forge.lab.intent(&check).stdout).expect("UTF-8");
    assert_eq!(on_disk.matches("scope-violation").count(), 1, "{on_disk}");
    assert_eq!(forge.pull_request(&["--intent", "INT-001"]), violated);
    assert_eq!(forge.pull_request(&[]), NONE, "no intent is given");
    let message = "x\n\nIntent-Id: INT-002";
    forge.lab.run_git(&["commit", "-q", "--amend", "-m", message]);
    assert_eq!(forge.pull_request(&[]), violated, "the trailer of its commit");
    forge.lab.run_git(&["push", "-q", "origin", "topic:main"]);
    forge.lab.run_git(&["fetch", "-q", "origin"]);
    assert_eq!(forge.pull_request(&["--intent", "INT-001"]), [""; 0], "the base has the same file");
    write("fn changed() {}\n");
    assert_eq!(forge.pull_request(&["--intent", "INT-001"]), violated);
    let gate = super::lab::clean(Command::new(env!("CARGO_BIN_EXE_intent")), &forge.lab.root)
        .args(["gate", "--intent", "INT-001"])
        .arg(name)
        .output()
        .expect("intent runs");
    assert!(!gate.status.success(), "{}", String::from_utf8_lossy(&gate.stdout));
}

#[test]
#[ignore = "slow"]
fn a_registry_that_a_branch_breaks_is_a_finding() {
    let forge = Forge::new();
    let lab = &forge.lab;
    forge.branch("twice");
    let twin = "id: INT-001\nname: Twin\nstatus: IN_PROGRESS\nowned_scope: [\"lib/**\"]\n";
    lab.write(".orchestration/intents/INT-001.yaml", twin);
    let (errors, _, notes) = forge.checked(&[]);
    assert_eq!(errors, ["duplicate-id .orchestration/intents/INT-001.yaml"]);
    assert!(!notes.iter().any(|note| note.contains("removed")), "{notes:?}");
    forge.branch("gone");
    lab.run_git(&["rm", "-rq", ".orchestration"]);
    lab.run_git(&["commit", "-q", "-m", "gone"]);
    lab.run_git(&["checkout", "-q", "main"]);
    let told = lab.intent(&["check", "main..gone"]);
    assert_eq!(told.status.code(), Some(1));
    let told = String::from_utf8(told.stdout).expect("UTF-8");
    assert!(told.contains("`git checkout main -- :/.orchestration`, on the branch,"), "{told}");
    lab.run_git(&["checkout", "-q", "gone"]);
    lab.run_git(&["checkout", "main", "--", ":/.orchestration"]);
    assert!(lab.fine(&["check", "--base", "main"]).contains("no findings"));
}

#[test]
fn the_option_branch_needs_a_base() {
    let forge = Forge::new();
    for arguments in
        [&["check", "--branch", "INT-001"][..], &["check", "--staged", "--branch", "x"]]
    {
        assert_eq!(forge.lab.intent(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Returns the `intent` commands that a text quotes.
fn commands(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|one| one.starts_with("intent ")).collect()
}

fn run(lab: &Lab, command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    lab.intent(&words).status.success()
}

#[test]
#[ignore = "slow"]
fn the_command_in_a_hint_about_commits_works() {
    for asked in ["check --base origin/main", "check origin/main..HEAD"] {
        let forge = Forge::new();
        let lab = &forge.lab;
        let help = || {
            let words: Vec<&str> = asked.split(' ').collect();
            let told = lab.json(&words);
            told["findings"][0]["help"].as_str().map(str::to_owned)
        };
        forge.branch("topic");
        lab.write("src/a.rs", OTHER);
        lab.commit();
        let told = help().expect("a hint");
        let named = commands(&told);
        let record = "intent record --all --lines 2-2 src/a.rs --intent INT-001".to_owned();
        assert_eq!(named, [record, format!("intent {asked} --intent INT-001")]);
        assert!(run(lab, &format!("{} --fail-on hint", named[1])), "{told}");
        assert!(told.contains("`Intent-Id: INT-001`"), "{told}");
        lab.run_git(&["commit", "-q", "--amend", "-m", "Edit\n\nIntent-Id: INT-001"]);
        assert_eq!(help(), None);
        // If no intent owns the file, the command creates one.
        forge.branch("unowned");
        lab.write("migrations/d.rs", OTHER);
        lab.commit();
        let told = help().expect("a hint");
        assert!(!told.contains("ID`") && !told.contains("NAME"), "{told}");
        let words = ["new", "Work on migrations/d.rs", "--scope", "migrations/d.rs", "--start"];
        let made = format!("intent new '{}' {}", words[1], words[2..].join(" "));
        assert!(commands(&told).contains(&made.as_str()), "{told}");
        lab.fine(&words);
    }
    // A change in no commit can still be recorded.
    let forge = Forge::new();
    forge.branch("open");
    forge.lab.write("src/a.rs", OTHER);
    let told = forge.lab.json(&["check", "--base", MAIN]);
    let named = told["findings"][0]["help"].as_str().map(commands).expect("a hint");
    assert_eq!(named[0], "intent record src/a.rs --intent INT-001");
    assert!(run(&forge.lab, named[0]));
    assert!(run(&forge.lab, "intent check --base origin/main --fail-on hint"));
}

#[test]
#[ignore = "slow"]
fn the_commands_of_the_finding_commit_the_signature() {
    let forge = Forge::new();
    let lab = &forge.lab;
    lab.make_key("ada");
    let key = lab.read("../ada.pub");
    forge.on_main(|lab| {
        lab.write(".orchestration/allowed_signers", format!("ada@example.invalid {key}"));
    });
    forge.branch("wider");
    let registry = ".orchestration/active_intents.yaml";
    lab.write(registry, lab.read(registry).replacen("src/**\"", "src/**\", \"more/**\"", 1));
    lab.write("src/a.rs", OTHER);
    forge.record("src/a.rs", "INT-001");
    lab.commit();
    let range = ["check", "origin/main..HEAD"];
    let send = "intent evidence seal && git commit -m 'Approve INT-001'";
    let red = lab.json(&range);
    let help = red["findings"][0]["help"].as_str().expect("a way out");
    assert!(help.contains(&format!("`intent approve INT-001 && {send}`")), "{help}");
    let notes = |told: &Value| told["summary"]["notes"].to_string();
    assert!(!notes(&red).contains("on this machine"), "{red}");
    sign(lab, "ada", "INT-001");
    // The signature is on disk, and in no commit.
    let here = lab.json(&["check", "--base", MAIN]);
    assert_eq!(here["findings"], serde_json::json!([]));
    let red = lab.json(&range);
    assert_eq!(red["findings"][0]["code"], "registry-changed");
    for told in [here, red] {
        assert!(
            notes(&told).contains(&format!(
                "on this machine and in no commit yet: on its branch, `{send}`"
            )),
            "{told}"
        );
    }
    lab.fine(&["seal"]);
    lab.run_git(&["commit", "-q", "-m", "Approve INT-001"]);
    let green = lab.json(&range);
    assert_eq!(green["findings"], serde_json::json!([]));
    assert!(!notes(&green).contains("on this machine"), "{green}");
}

#[test]
#[ignore = "slow"]
fn only_the_lesson_in_a_new_file_is_free_of_scopes() {
    let forge = Forge::new();
    let lab = &forge.lab;
    let found = |arguments: &[&str]| -> Vec<String> {
        let told = lab.json(arguments);
        let all = told["findings"].as_array().expect("findings").iter();
        all.map(|one| format!("{} {}", one["code"].as_str().unwrap_or_default(), one["path"]))
            .collect()
    };
    for (text, at_work, merged) in [
        (None, &[][..], &[][..]),
        (
            Some("# For agents\n"),
            &["scope-violation \"AGENTS.md\""],
            &["unrecorded-change \"AGENTS.md\""],
        ),
    ] {
        forge.branch("brain");
        lab.fine(&["select", "INT-001"]);
        if let Some(text) = text {
            lab.write("AGENTS.md", text);
        }
        lab.fine(&["lesson", "Start the clock first."]);
        assert_eq!(found(&["check"]), at_work, "each file has one finding");
        lab.commit();
        assert_eq!(found(&["check", "--base", MAIN]), merged);
    }
}
