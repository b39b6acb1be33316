//! What an agent is told before it works, of code that is recorded and of code that is committed.

use serde_json::Value;

use super::lab::masked;
use super::worked_in;

#[test]
fn the_history_names_class_author_and_reason_also_of_what_is_committed() {
    let lab = worked_in();
    let history = |lab: &super::Lab| {
        let context = masked(lab, &lab.fine(&["context"]));
        let (_, after) = context.split_once("  <history>\n").expect("a history");
        after.split_once("  </history>").expect("its end").0.to_owned()
    };
    let open = history(&lab);
    assert_eq!(
        open.trim(),
        "<record id=\"[record]\" timestamp=\"[time]\" class=\"INTENT_EVOLUTION\" author=\"AI\" agent=\"claude-code\" model=\"anthropic/claude\" reason=\"function login: body; function refresh: added\">src/auth.rs</record>"
    );
    lab.commit();
    let sealed = history(&lab);
    assert!(!lab.read_git(&["ls-files", ".orchestration/agent_trace"]).is_empty());
    assert_eq!(sealed, open);
}

#[test]
fn the_terms_are_data_as_well() {
    let lab = worked_in();
    for command in [&["--json", "context"][..], &["--json", "select", "INT-001"]] {
        let answer: Value = serde_json::from_str(&lab.fine(command)).expect("JSON");
        assert_eq!(answer["constraints"], serde_json::json!(["No external providers"]));
        assert_eq!(answer["owned_scope"], serde_json::json!(["src/**"]));
        let instruction = answer["instruction"].as_str().expect("a sentence");
        assert!(instruction.starts_with("You may ONLY modify files matching owned_scope."));
        assert!(answer["context"].as_str().expect("XML").contains(instruction));
    }
}
