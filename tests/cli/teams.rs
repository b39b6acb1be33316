//! `intent check` where many people work: strangers, bots, findings from before, rules of an organisation.

use super::lab::Lab;

/// A repository on `topic`, whose `main` has INT-001 over `src/**`; nobody owns the rest.
fn branched() -> Lab {
    let lab = Lab::governed();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "fn one() {\n    first();\n}\n\nfn two() {\n    second();\n}\n");
    lab.commit();
    lab.run_git(&["checkout", "-q", "-b", "topic"]);
    lab
}

fn codes(lab: &Lab, arguments: &[&str]) -> Vec<String> {
    let answer = lab.json(&[&["check"], arguments].concat());
    let findings = answer["findings"].as_array().expect("findings").iter();
    findings.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

#[test]
fn a_pull_request_of_somebody_who_records_nothing_passes_with_one_line() {
    let lab = branched();
    lab.write("src/a.rs", "fn one() {\n    changed();\n}\n\nfn two() {\n    second();\n}\n");
    lab.write("docs/new.md", "# New\n");
    lab.commit();
    let output = lab.intent(&["check", "--base", "main"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let line = said.lines().find(|line| line.contains("covered by no record")).expect("a line");
    assert!(line.contains("2 changes covered by no record"), "{said}");
    assert!(!said.contains("hint["), "{said}");
    assert!(lab.fine(&["check", "--base", "main", "--verbose"]).contains("function one changed"));
    // A team that wants everything recorded moves the line.
    assert!(!lab.intent(&["check", "--base", "main", "--fail-on", "hint"]).status.success());
}

#[test]
fn what_a_baseline_lists_is_told_no_more_and_what_is_new_is() {
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
    // Lines above a finding do not make it another one.
    lab.write("src/c.rs", "fn new() {}\n");
    lab.write(
        "src/b.rs",
        "fn above() {}\n<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n",
    );
    assert!(lab.intent(&["check", "--baseline"]).status.success());
    std::fs::remove_file(lab.root.join("src/b.rs")).expect("removed");
    assert!(lab.fine(&["check", "--baseline"]).contains("did not come up"));
    lab.write(".orchestration/baseline.json", "{}");
    let output = lab.intent(&["check", "--baseline"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--write-baseline"));
}

#[test]
fn a_branch_hides_nothing_by_a_baseline_of_its_own() {
    let lab = branched();
    lab.write("src/b.rs", "<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n");
    lab.fine(&["check", "--write-baseline"]);
    lab.commit();
    let found = codes(&lab, &["--base", "main", "--baseline"]);
    assert!(found.contains(&"merge-conflict".to_owned()), "{found:?}");
    // Once the target branch has it, it counts.
    lab.run_git(&["checkout", "-q", "main"]);
    lab.run_git(&["checkout", "-q", "topic", "--", ".orchestration/baseline.json"]);
    lab.commit();
    lab.run_git(&["checkout", "-q", "topic"]);
    assert!(codes(&lab, &["--base", "main", "--baseline"]).is_empty());
}

#[test]
fn every_format_is_one_document_and_fails_alike() {
    let lab = branched();
    lab.write("src/b.rs", "<<<<<<< a\nfn one() {}\n=======\nfn other() {}\n>>>>>>> b\n");
    for format in ["text", "json", "sarif", "junit", "gitlab", "github", "markdown"] {
        let output = lab.intent(&["check", "--format", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("merge-conflict") && text.ends_with('\n'), "{format}: {text}");
        if ["json", "sarif", "gitlab"].contains(&format) {
            let _: serde_json::Value = serde_json::from_str(&text).expect(format);
        }
        let never = lab.intent(&["check", "--format", format, "--fail-on", "never"]);
        assert!(never.status.success(), "{format}");
    }
    let again = || lab.intent(&["check", "--format", "markdown"]).stdout;
    assert_eq!(again(), again());
}
