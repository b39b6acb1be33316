//! Trailers in commit messages, as the git hook writes them.

use super::lab::Lab;

const POLICY: &str = "trailers: [\"Intent-Id: {intent}\", \"Assisted-by: {tool}:{model}\", \"Session: {session}\"]\n";

/// A repository with two intents and a first commit, whose policy asks for trailers.
fn with_trailers() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.write(".orchestration/policy.yaml", POLICY);
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.fine(&["new", "Pages", "--scope", "web/**", "--start"]);
        lab.write("src/a.rs", "fn one() {\n    first();\n}\n");
        lab.commit();
        assert_eq!(message(&lab), "a commit\n", "nothing was recorded");
        lab
    })
}

fn work(lab: &Lab, path: &str, intent: &str, model: &str, n: u32) {
    lab.write(path, format!("fn one() {{\n    number({n});\n}}\n"));
    let who = ["--agent", "claude-code", "--model", model, "--session", "claude-code:s1"];
    lab.fine(&[&["record", "--all", "--yes", path, "--intent", intent], &who[..]].concat());
    lab.run_git(&["add", "-A"]);
}

fn message(lab: &Lab) -> String {
    lab.read_git(&["log", "-1", "--format=%B"]).trim_end().to_owned() + "\n"
}

const LOGIN: &str = "\nIntent-Id: INT-001\nAssisted-by: claude-code:m/1\nSession: claude-code:s1\n";

#[test]
#[ignore = "slow"]
fn a_commit_names_the_intents_and_models_that_it_seals() {
    let lab = with_trailers();
    work(&lab, "src/a.rs", "INT-001", "m/1", 1);
    lab.run_git(&["commit", "-qm", "one"]);
    assert_eq!(message(&lab), format!("one\n{LOGIN}"));
    // A trailer is never repeated, however the message is made.
    lab.run_git(&["commit", "-q", "--amend", "--no-edit"]);
    assert_eq!(message(&lab), format!("one\n{LOGIN}"));
    work(&lab, "src/a.rs", "INT-001", "m/1", 2);
    lab.run_git(&["commit", "-q", "-m", "two", "-m", "Why.\n\nIntent-Id: INT-001"]);
    assert_eq!(message(&lab), format!("two\n\nWhy.\n{LOGIN}"));
    work(&lab, "src/a.rs", "INT-001", "m/1", 3);
    work(&lab, "web/b.rs", "INT-002", "m/2", 1);
    lab.run_git(&["-c", "core.editor=echo three >", "commit", "-q", "-v"]);
    let said = message(&lab);
    for line in
        ["three", "Intent-Id: INT-001", "Intent-Id: INT-002", "Assisted-by: claude-code:m/2"]
    {
        assert!(said.lines().any(|said| said == line), "{said}");
    }
    lab.write("src/a.rs", "fn one() {\n    by_hand();\n}\n");
    lab.run_git(&["commit", "-qam", "by hand"]);
    assert_eq!(message(&lab), "by hand\n");
}

#[test]
#[ignore = "slow"]
fn a_merge_names_only_what_it_seals_itself() {
    let lab = with_trailers();
    lab.run_git(&["switch", "-qc", "topic"]);
    work(&lab, "web/b.rs", "INT-002", "m/2", 1);
    lab.run_git(&["commit", "-qm", "topic"]);
    lab.run_git(&["switch", "-q", "main"]);
    work(&lab, "src/a.rs", "INT-001", "m/1", 1);
    lab.run_git(&["commit", "-qm", "main"]);
    lab.run_git(&["merge", "-q", "--no-edit", "topic"]);
    assert_eq!(message(&lab), "Merge branch 'topic'\n");
}

#[test]
#[ignore = "slow"]
fn an_empty_message_stops_the_commit_and_a_failure_does_not() {
    let lab = with_trailers();
    work(&lab, "src/a.rs", "INT-001", "m/1", 1);
    let editors = ["true", "echo '# a comment' >", "echo 'Signed-off-by: A <a@b.c>' >"];
    for editor in editors {
        let editor = format!("core.editor={editor}");
        assert!(!lab.try_git(&["-c", &editor, "commit", "-q"]), "{editor}");
    }
    lab.write(".orchestration/policy.yaml", "trailers: [\"no trailer\", \"X: {nothing}\"]\n");
    let told = String::from_utf8(lab.intent(&["verify"]).stdout).expect("UTF-8");
    assert!(told.contains("\"no trailer\" is no trailer") && told.contains("{nothing}"), "{told}");
    lab.run_git(&["commit", "-qm", "goes through"]);
    assert!(message(&lab).starts_with("goes through\n"));
}
