//! `intent test`, and how `intent complete` uses its results.

use serde_json::Value;

use super::lab::{Lab, transcript};

const REGISTRY: &str = "\
active_intents:
  - id: INT-001
    name: Login
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
    acceptance_criteria:
      - run: test -f src/a.rs
      - 'run: grep -q two src/a.rs && echo seen'
      - A person likes it
";

fn begun() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.write(".orchestration/active_intents.yaml", REGISTRY);
        lab.write("src/a.rs", "fn one() {}\n");
        lab.commit();
        lab
    })
}

fn standings(lab: &Lab) -> Vec<String> {
    let answer = lab.json(&["complete", "INT-001"]);
    lab.fine(&["start", "INT-001"]);
    let criteria = answer["criteria"].as_array().expect("a list").iter();
    criteria.map(|one| one["standing"].as_str().expect("a word").to_owned()).collect()
}

#[test]
#[cfg(unix)]
fn complete_shows_which_criteria_passed_at_this_commit() {
    let lab = begun();
    assert_eq!(standings(&lab), ["never_run", "never_run", "no_command"]);
    let tested = lab.intent(&["test", "INT-001"]);
    assert_eq!(tested.status.code(), Some(1));
    assert_eq!(standings(&lab), ["passed", "failed", "no_command"]);
    lab.write("src/a.rs", "fn one() {}\nfn two() {}\n");
    let tested =
        lab.intent(&["--json", "test", "INT-001", "--", "grep -q two src/a.rs && echo seen"]);
    assert_eq!(
        String::from_utf8_lossy(&tested.stderr),
        "$ grep -q two src/a.rs && echo seen\nseen\n"
    );
    let answer: Value = serde_json::from_slice(&tested.stdout).expect("JSON alone");
    assert_eq!((&answer[0]["exit"], &answer[0]["clean"]), (&0.into(), &false.into()));
    assert_eq!(standings(&lab), ["passed", "passed_unclean", "no_command"]);
    lab.commit();
    assert_eq!(standings(&lab), ["passed_elsewhere", "passed_elsewhere", "no_command"]);
    lab.fine(&["test", "INT-001"]);
    assert_eq!(standings(&lab), ["passed", "passed", "no_command"]);
    // A command that no criterion names proves no criterion.
    insta::assert_snapshot!(transcript(
        &lab,
        &["test INT-001 -- true", "test INT-001 -- false", "complete INT-001", "test INT-404"]
    ));
}

#[test]
#[cfg(unix)]
fn each_result_names_the_commit_at_which_it_ran() {
    let lab = begun();
    let commit = "run: git -c user.name=t -c user.email=t@e commit -q --allow-empty -m more";
    let criteria = format!("[\"{commit}\", \"run: true\"]");
    let head = REGISTRY.split("acceptance").next().expect("a beginning");
    let registry = format!("{head}acceptance_criteria: {criteria}\n");
    lab.write(".orchestration/active_intents.yaml", registry);
    lab.commit();
    lab.fine(&["test", "INT-001"]);
    assert_eq!(standings(&lab), ["passed_elsewhere", "passed"]);
}

#[test]
#[cfg(unix)]
fn complete_is_refused_until_the_criteria_have_passed() {
    let lab = begun();
    lab.write(".orchestration/policy.yaml", "completion: passed\n");
    lab.write("src/a.rs", "fn two() {}\n");
    lab.commit();
    let refused = |lab: &Lab| {
        let output = lab.intent(&["complete", "INT-001"]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("text")
    };
    let told = refused(&lab);
    assert!(
        told.contains("`run: test -f src/a.rs`, `run: grep -q two src/a.rs && echo seen`"),
        "{told}"
    );
    assert!(told.contains("`intent test INT-001` runs it"), "{told}");
    lab.fine(&["test", "INT-001"]);
    lab.write("src/b.rs", "fn three() {}\n");
    assert!(refused(&lab).contains("in no commit"));
    lab.commit();
    assert!(refused(&lab).contains("not passed at this commit"));
    // A command that no criterion names does not help.
    lab.fine(&["test", "INT-001", "--", "true"]);
    assert!(refused(&lab).contains("not passed at this commit"));
    lab.fine(&["test", "INT-001"]);
    lab.fine(&["complete", "INT-001"]);
    // The results are sealed, and a clone shows them.
    lab.commit();
    lab.run_git(&["clone", "-q", ".", "../clone"]);
    let trace = lab.fine(&["-C", "../clone", "trace", "--intent", "INT-001"]);
    assert!(trace.contains("run: test -f src/a.rs: passed"), "{trace}");
    lab.fine(&["-C", "../clone", "verify"]);
    let sealed =
        lab.read_git(&["grep", "-h", "\"kind\":\"test\"", "--", ".orchestration/agent_trace"]);
    assert!(sealed.contains("\"criterion\":\"run: test -f src/a.rs\""), "{sealed}");
    assert!(!sealed.contains("seen\n"), "{sealed}");
}

#[test]
#[cfg(unix)]
fn people_and_ci_may_report_results_but_agents_may_not() {
    let lab = begun();
    lab.write("../report.xml", "<testsuite><testcase name=\"a\"/></testsuite>");
    let of_one = ["test", "INT-001", "--junit", "../report.xml", "--", "test -f src/a.rs"];
    let output = lab.intent(&["test", "INT-001", "--junit", "../report.xml"]);
    assert_eq!(output.status.code(), Some(2), "the command is missing");
    lab.fine(&of_one);
    assert_eq!(standings(&lab), ["passed", "never_run", "no_command"]);
    lab.write("../report.xml", "<testsuite><testcase><failure/></testcase></testsuite>");
    assert_eq!(lab.intent(&of_one).status.code(), Some(1));
    assert_eq!(standings(&lab), ["failed", "never_run", "no_command"]);
    let agent =
        super::lab::clean(std::process::Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root)
            .env("CLAUDECODE", "1")
            .args(of_one)
            .output()
            .expect("intent runs");
    assert_eq!(agent.status.code(), Some(2), "{agent:?}");
    lab.write("../report.xml", "<html/>");
    assert_eq!(lab.intent(&of_one).status.code(), Some(2));
}
