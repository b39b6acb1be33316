//! `intent check` in a team: contributors without records, bots, old findings, and the rules of an organisation.

use super::lab::Lab;
use crate::support::schema::Schema;

/// A repository on the branch `topic`; on `main`, INT-001 owns `src/**`, and no intent owns the rest.
fn branched() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.write("src/a.rs", "fn one() {\n    first();\n}\n\nfn two() {\n    second();\n}\n");
        lab.commit();
        lab.run_git(&["checkout", "-q", "-b", "topic"]);
        lab
    })
}

fn codes(lab: &Lab, arguments: &[&str]) -> Vec<String> {
    let answer = lab.json(&[&["check"], arguments].concat());
    let findings = answer["findings"].as_array().expect("findings").iter();
    findings.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

#[test]
fn a_pull_request_without_records_passes_with_one_line() {
    let lab = branched();
    lab.write("src/a.rs", "fn one() {\n    changed();\n}\n\nfn two() {\n    second();\n}\n");
    lab.write("docs/new.md", "# New\n");
    lab.commit();
    let output = lab.intent(&["check", "--base", "main"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let line = said.lines().find(|line| line.contains("covered by no record")).expect("a line");
    assert!(line.contains("2 changes covered by no record in docs/new.md, src/a.rs ("), "{said}");
    assert!(!said.contains("hint["), "{said}");
    assert!(lab.fine(&["check", "--base", "main", "--verbose"]).contains("function one changed"));
    // A team that wants everything recorded can fail on hints.
    assert!(!lab.intent(&["check", "--base", "main", "--fail-on", "hint"]).status.success());
}

#[test]
fn only_findings_that_the_baseline_does_not_list_are_shown() {
    let lab = branched();
    lab.write("src/b.rs", "<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n");
    assert!(codes(&lab, &[]).contains(&"merge-conflict".to_owned()));
    lab.fine(&["check", "--write-baseline"]);
    assert!(lab.fine(&["check", "--baseline"]).contains("of the baseline left out"));
    lab.write("src/c.rs", "<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n");
    let output = lab.intent(&["check", "--baseline"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && said.contains("src/c.rs"), "{said}");
    assert!(!said.contains("src/b.rs:1: error"), "{said}");
    // A finding is the same after lines were added above it.
    lab.write("src/c.rs", "fn new() {}\n");
    lab.write(
        "src/b.rs",
        "fn above() {}\n<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n",
    );
    assert!(lab.intent(&["check", "--baseline"]).status.success());
    std::fs::remove_file(lab.root.join("src/b.rs")).expect("removed");
    assert!(lab.fine(&["check", "--baseline"]).contains("No longer found"));
    lab.write(".orchestration/baseline.json", "{}");
    let output = lab.intent(&["check", "--baseline"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--write-baseline`"));
    let output = lab.intent(&["check", "--baseline", "our list.json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`intent check --write-baseline 'our list.json'`"), "{said}");
}

#[test]
#[ignore = "slow"]
fn the_baseline_of_a_branch_hides_nothing() {
    let lab = branched();
    lab.write("src/b.rs", "<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n");
    lab.fine(&["check", "--write-baseline"]);
    lab.commit();
    let found = codes(&lab, &["--base", "main", "--baseline"]);
    assert!(found.contains(&"merge-conflict".to_owned()), "{found:?}");
    // The baseline counts when the target branch has it.
    lab.run_git(&["checkout", "-q", "main"]);
    lab.run_git(&["checkout", "-q", "topic", "--", ".orchestration/baseline.json"]);
    lab.commit();
    lab.run_git(&["checkout", "-q", "topic"]);
    assert!(codes(&lab, &["--base", "main", "--baseline"]).is_empty());
}

/// Asserts what GitLab requires of a code quality report: the four keys of an entry (from its schema
/// `codeclimate.json`), one of five severities, and a line of the work tree (from its documentation).
fn is_read_by_gitlab(report: &serde_json::Value) {
    let schema = serde_json::json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": { "type": "string", "minLength": 1 },
                "check_name": { "type": "string" },
                "fingerprint": { "type": "string", "minLength": 1 },
                "severity": { "enum": ["info", "minor", "major", "critical", "blocker"] },
                "location": {
                    "type": "object",
                    "required": ["path", "lines"],
                    "properties": {
                        "path": { "type": "string", "pattern": "^[^/]" },
                        "lines": {
                            "type": "object",
                            "required": ["begin"],
                            "properties": { "begin": { "type": "integer", "minimum": 1 } },
                        },
                    },
                },
            },
        },
    });
    assert_eq!(Schema::of(&schema).complaint(report), None, "{report:#}");
    let entries = report.as_array().expect("an array");
    let prints: std::collections::BTreeSet<_> =
        entries.iter().map(|it| it["fingerprint"].as_str()).collect();
    assert_eq!(prints.len(), entries.len(), "each finding has a fingerprint of its own");
}

#[test]
#[ignore = "slow"]
fn every_format_is_one_document_and_has_the_same_exit_code() {
    let lab = branched();
    lab.write("src/b.rs", "<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n");
    for format in ["text", "json", "sarif", "junit", "gitlab", "github", "markdown"] {
        let output = lab.intent(&["check", "--format", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("merge-conflict") && text.ends_with('\n'), "{format}: {text}");
        if ["json", "sarif", "gitlab"].contains(&format) {
            let value: serde_json::Value = serde_json::from_str(&text).expect(format);
            if format == "gitlab" {
                is_read_by_gitlab(&value);
            }
        }
        let never = lab.intent(&["check", "--format", format, "--fail-on", "never"]);
        assert!(never.status.success(), "{format}");
    }
    let again = || lab.intent(&["check", "--format", "markdown"]).stdout;
    assert_eq!(again(), again());
}

#[test]
#[ignore = "slow"]
fn authors_that_the_policy_names_need_no_records() {
    let lab = branched();
    lab.run_git(&["checkout", "-q", "main"]);
    lab.write(
        ".orchestration/policy.yaml",
        "authors:\n  - author: '*[bot]*'\n  - author: 'CI <*'\n    intent: INT-001\n",
    );
    lab.commit();
    lab.run_git(&["checkout", "-q", "-B", "topic"]);
    let by = |author: &str, path: &str| {
        lab.write(path, "fn changed() {}\n");
        lab.run_git(&["add", "-A"]);
        lab.run_git(&["commit", "-q", "-m", "a commit", "--author", author]);
    };
    by("Dependabot[BOT] <bot@example.invalid>", "src/one.rs");
    assert_eq!(codes(&lab, &["--base", "main"]), [""; 0]);
    assert!(lab.fine(&["check", "--base", "main", "--fail-on", "hint"]).contains("no findings"));
    // Commits of an author with an intent are compared with the scope of that intent.
    by("CI <ci@example.invalid>", "docs/two.md");
    assert_eq!(codes(&lab, &["--base", "main"]), ["scope-violation"]);
    lab.run_git(&["reset", "-q", "--hard", "HEAD~1"]);
    // If another author changes the same file, a record is needed.
    by("Ada <ada@example.invalid>", "src/three.rs");
    lab.write("src/one.rs", "fn changed_again() {}\n");
    lab.run_git(&["commit", "-q", "-am", "more", "--author", "Ada <ada@example.invalid>"]);
    assert_eq!(codes(&lab, &["--base", "main"]), ["unrecorded-change"; 2]);
    // A branch cannot add its own author to the list.
    lab.run_git(&["checkout", "-q", "-B", "other", "main"]);
    lab.write(".orchestration/policy.yaml", "authors:\n  - author: '*'\n");
    lab.write("src/four.rs", "fn four() {}\n");
    lab.commit();
    assert!(codes(&lab, &["--base", "main"]).contains(&"unrecorded-change".to_owned()));
}

#[test]
#[ignore = "slow"]
fn a_policy_extends_another_and_names_the_source_of_each_value() {
    let lab = branched();
    let organisation = lab.root.join("../organisation.yaml");
    std::fs::write(&organisation, "protected_paths: [infra/**]\nswitching: deny\n")
        .expect("written");
    let own = |more: &str| {
        let text = format!("extends: {}\n{more}", organisation.display());
        lab.write(".orchestration/policy.yaml", text);
    };
    own("protected_paths: [db/**]\nmode: ask\n");
    let told = lab.fine(&["policy", "--explain"]);
    let line = |word: &str| told.lines().find(|line| line.contains(word)).expect(word).to_owned();
    assert!(line("infra/**").ends_with("organisation.yaml"), "{told}");
    assert!(line("db/**").ends_with(".orchestration/policy.yaml"), "{told}");
    assert!(line("switching").ends_with("organisation.yaml"), "{told}");
    assert!(line("fence").ends_with("default"), "{told}");
    assert!(!lab.fine(&["policy"]).contains("default"));
    let gate = lab.json(&["gate", "--intent", "INT-001", "infra/main.tf"]);
    assert_eq!(gate["code"], "PROTECTED_PATH", "{gate}");
    // If the extended file is missing, nothing is allowed.
    std::fs::remove_file(&organisation).expect("removed");
    let gate = lab.json(&["gate", "--intent", "INT-001", "src/a.rs"]);
    assert_eq!(gate["code"], "HOOK_ERROR", "{gate}");
    assert!(lab.intent(&["check"]).status.code() == Some(1));
    // In a pull request the file of the target branch counts, and changing it is a change of the rules.
    lab.write(".orchestration/org.yaml", "protected_paths: [infra/**]\n");
    lab.write(".orchestration/policy.yaml", "extends: .orchestration/org.yaml\n");
    lab.commit();
    lab.run_git(&["checkout", "-q", "-B", "next"]);
    lab.write(".orchestration/org.yaml", "protected_paths: []\n");
    lab.write("infra/main.tf", "x = 1\n");
    lab.commit();
    let found = codes(&lab, &["--base", "topic"]);
    assert!(found.contains(&"registry-changed".to_owned()), "{found:?}");
    assert!(found.contains(&"protected-path".to_owned()), "{found:?}");
}
