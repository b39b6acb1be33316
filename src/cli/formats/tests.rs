//! Writes one answer in each format. Its texts contain markup and commands, which must be shown as
//! plain text.

use super::*;
use judgement::check::{CheckSummary, Share};

fn answer() -> CheckAnswer {
    let finding = |code: &str, level, path: Option<&str>, message: &str| FindingAnswer {
        path: path.map(str::to_owned),
        start_line: path.map(|_| 3),
        end_line: path.map(|_| 9),
        code: code.to_owned(),
        level,
        intent: Some("INT-001".to_owned()),
        message: message.to_owned(),
        help: "Select another intent: `intent select INT-002`.".to_owned(),
        fingerprint: "0123456789abcdef0123456789abcdef".to_owned(),
    };
    let share = |id: &str, name: Option<&str>, lines| Share {
        id: id.to_owned(),
        name: name.map(str::to_owned),
        lines,
        blocks: 1,
    };
    CheckAnswer {
        findings: vec![
            finding("suspect", Level::Hint, Some("src/b.rs"), "function b is suspect."),
            finding(
                "scope-violation",
                Level::Error,
                Some("src/a b,c:%25\n::error::x.rs"),
                "<script>alert(1)</script> @somebody [x](javascript:y) | \u{202e}\u{7} `a` ]]> 100 %\n::set-output::",
            ),
            finding("registry-missing", Level::Warning, None, "There is no registry."),
        ],
        summary: CheckSummary {
            files: 2,
            blocks: 5,
            recorded: 4,
            uncovered: 1,
            lines: 50,
            errors: 1,
            warnings: 1,
            intents: vec![
                share("INT-001", Some("A | name\n# of @two"), 30),
                share("INT-2", None, 7),
            ],
            contributors: vec![share("claude-code", None, 39), share("Ada *L*", None, 11)],
            notes: vec!["The registry changed, @all.".to_owned()],
            ..CheckSummary::default()
        },
        change: None,
    }
}

#[test]
fn a_markdown_summary_escapes_the_texts() {
    insta::assert_snapshot!(markdown::summary(&answer(), Some(Level::Error)));
    insta::assert_snapshot!(markdown::summary(&CheckAnswer::default(), Some(Level::Error)));
}

#[test]
fn a_markdown_summary_fits_into_a_comment_however_long_the_texts_are() {
    let mut answer = answer();
    let long = "x".repeat(10_000);
    answer.summary.intents[0].name = Some(long.clone());
    answer.summary.notes = vec![long.clone(); 100];
    let finding = answer.findings.remove(0);
    let path = Some(long.clone());
    let finding = FindingAnswer { path, message: long.clone(), help: long, ..finding };
    answer.findings = vec![finding; 100];
    let text = markdown::summary(&answer, None);
    assert!(text.len() < 65_536, "{}", text.len());
    assert!(text.contains("- x") && text.contains("\n</details>\n"), "{text}");
}

#[test]
fn github_gets_one_line_for_each_finding() {
    insta::assert_snapshot!(forge::github(&answer(), ""));
}

#[test]
fn a_gitlab_report_has_the_keys_that_each_issue_needs() {
    let report = forge::gitlab(&answer(), "");
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).expect("JSON"));
}

#[test]
fn a_junit_report_fails_from_the_given_level() {
    let stable = |least| {
        let report = junit::report(&answer(), least).expect("written");
        let (before, time) = report.split_once("timestamp=\"").expect("a time");
        let (time, after) = time.split_once('"').expect("an end");
        assert_eq!(time.len(), "2026-11-25T10:31:46".len());
        format!("{before}timestamp=\"T\"{after}")
    };
    insta::assert_snapshot!(stable(Some(Level::Warning)));
    assert!(stable(None).contains("failures=\"0\""));
}

#[test]
fn a_sarif_log_names_its_rules_and_is_limited_in_size() {
    let log = sarif::log(&answer(), "");
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).expect("JSON"));
    let one = answer().findings.remove(0);
    let many = CheckAnswer { findings: vec![one; 6_000], ..answer() };
    let log = sarif::log(&many, "");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(5_000));
    let told = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(told.contains("1000 more findings"), "{told}");
}

#[test]
fn forges_get_paths_from_the_top_of_the_repository() {
    let (answer, folder) = (answer(), "my shop/");
    let registry = "my shop/.orchestration/active_intents.yaml";
    assert!(forge::github(&answer, folder).contains(" file=my shop/src/b.rs,line=3,"));
    let issues = forge::gitlab(&answer, folder);
    assert_eq!(issues[1]["location"]["path"], registry);
    assert_eq!(issues[2]["location"]["path"], "my shop/src/b.rs");
    let log = sarif::log(&answer, folder);
    let results = &log["runs"][0]["results"];
    let uri = |at: usize| {
        results[at]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone()
    };
    assert_eq!(uri(1), registry.replace(' ', "%20"));
    assert_eq!(uri(2), "my%20shop/src/b.rs");
}
