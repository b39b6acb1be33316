//! What a person approves or rejects, and what the registry and the ledger hold afterwards.

use std::time::Duration;

use crate::support::{Repo, temporary_folder};
use ground::approvals::{self, Approval, ApprovalState, Request, Subject};
use ground::session;
use intents::Status;
use judgement::approval::{self, ApprovalVerdict, DecisionPlace};
use judgement::proposal::{self, IntentProposal, ScopeProposal};
use ledger::{Record, RecordKind, Strength};

const ACTOR: &str = "codex:1";

fn wider(repo: &Repo, entry: &str) -> Result<Approval, String> {
    let wanted = ScopeProposal {
        intent: "INT-001".into(),
        entries: vec![entry.into()],
        reason: "the tests live there".into(),
    };
    let asked = proposal::request_scope(&repo.open(), ACTOR, &repo.root(), wanted);
    asked.map(|answer| answer.approval).map_err(|error| error.to_string())
}

fn decide(repo: &Repo, code: &str, verdict: ApprovalVerdict) -> Result<String, String> {
    let decided = approval::decide(&repo.open(), code, verdict, DecisionPlace::Terminal);
    decided.map(|answer| answer.done).map_err(|error| error.to_string())
}

fn records(repo: &Repo, kind: RecordKind) -> Vec<Record> {
    let ws = repo.open();
    let all = ws.ledger.entries().iter().map(|entry| entry.record.clone());
    all.filter(|record| record.kind == kind).collect()
}

#[test]
fn a_wider_scope_is_written_in_place_and_recorded() {
    let repo = Repo::new();
    let asked = wider(&repo, "tests/**").unwrap();
    assert_eq!(repo.open().registry.get("INT-001").unwrap().scope_entries(), ["src/**"]);
    let done = decide(&repo, &asked.code, ApprovalVerdict::Approve).unwrap();
    assert_eq!(done, "INT-001 owns tests/** from now on.");
    let ws = repo.open();
    assert_eq!(ws.registry.get("INT-001").unwrap().scope_entries(), ["src/**", "tests/**"]);
    let status = approval::status(&ws, &asked.code).unwrap();
    assert_eq!(
        (status.state, status.result.as_deref()),
        (ApprovalState::Approved, Some("INT-001"))
    );
    let approvals = records(&repo, RecordKind::Approval);
    let [record] = approvals.as_slice() else { panic!("{approvals:?}") };
    assert_eq!(record.strength, Some(Strength::Declared));
    assert_eq!(record.intent_id.as_deref(), Some("INT-001"));
    assert_eq!(record.session.as_deref(), Some(ACTOR));
    let note = record.note.as_deref().unwrap();
    let start = format!(
        "a person approved {} at a terminal: a wider scope of INT-001: tests/**",
        asked.code
    );
    assert!(note.starts_with(&start), "{note}");
    assert_eq!(records(&repo, RecordKind::Registry).len(), 1);
    assert!(
        decide(&repo, &asked.code, ApprovalVerdict::Approve)
            .unwrap_err()
            .contains("approved already")
    );
    assert!(wider(&repo, "tests/**").unwrap_err().contains("owns tests/** already"));
}

#[test]
fn a_new_intent_is_in_progress_and_its_id_is_told() {
    let repo = Repo::new();
    let wanted = IntentProposal {
        name: "Sign out".into(),
        scope: vec!["out/**".into(), "!out/gen/**".into()],
        constraints: vec!["No cookies".into()],
        acceptance: vec!["Tests pass".into()],
        reason: "asked in the chat".into(),
    };
    let asked = proposal::propose_intent(&repo.open(), ACTOR, &repo.root(), wanted).unwrap();
    assert!(asked.message.contains(&asked.approval.code), "{}", asked.message);
    assert_eq!(repo.open().registry.intents().len(), 3);
    decide(&repo, &asked.approval.code.to_lowercase(), ApprovalVerdict::Approve).unwrap();
    let ws = repo.open();
    let id = approval::status(&ws, &asked.approval.code).unwrap().result.unwrap();
    let made = ws.registry.get(&id).unwrap();
    assert_eq!(made.name.value, "Sign out");
    assert_eq!(made.status.as_ref().unwrap().value, Status::InProgress);
    assert_eq!(made.scope_entries(), ["out/**", "!out/gen/**"]);
    assert_eq!(made.constraints[0].value, "No cookies");
}

#[test]
fn a_rejection_changes_nothing_and_is_recorded() {
    let repo = Repo::new();
    let asked = wider(&repo, "tests/**").unwrap();
    let before = repo.read(".orchestration/active_intents.yaml");
    decide(&repo, &asked.code, ApprovalVerdict::Reject).unwrap();
    assert_eq!(repo.read(".orchestration/active_intents.yaml"), before);
    assert!(records(&repo, RecordKind::Approval)[0].note.as_ref().unwrap().contains("rejected"));
    let again = wider(&repo, "tests/**").unwrap();
    assert_eq!((&again.code, again.state), (&asked.code, ApprovalState::Denied));
    assert!(approval::instructions(&again).contains("has said no"));
    assert!(
        decide(&repo, &asked.code, ApprovalVerdict::Approve)
            .unwrap_err()
            .contains("rejected already")
    );
}

#[test]
fn approving_reads_the_registry_again() {
    let repo = Repo::new();
    let asked = wider(&repo, "tests/**").unwrap();
    repo.write(
        ".orchestration/active_intents.yaml",
        &crate::support::REGISTRY.replace("INT-001", "INT-101"),
    );
    assert!(
        decide(&repo, &asked.code, ApprovalVerdict::Approve)
            .unwrap_err()
            .contains("no intent INT-001")
    );
    repo.write(".orchestration/active_intents.yaml", "active_intents: [");
    assert!(decide(&repo, &asked.code, ApprovalVerdict::Approve).is_err());
    assert_eq!(repo.read(".orchestration/active_intents.yaml"), "active_intents: [");
    assert!(records(&repo, RecordKind::Approval).is_empty());
    // Somebody widens the scope by hand between the proposal and the decision.
    let text = crate::support::REGISTRY.replace("\"src/**\"", "\"src/**\", \"tests/**\"");
    repo.write(".orchestration/active_intents.yaml", &text);
    let done = decide(&repo, &asked.code, ApprovalVerdict::Approve).unwrap();
    assert!(done.contains("already"), "{done}");
    assert_eq!(repo.read(".orchestration/active_intents.yaml"), text);
}

#[test]
fn the_record_of_a_command_does_not_hold_its_text() {
    let repo = Repo::new();
    let ws = repo.open();
    let request = Request {
        subject: Subject::command("curl -H 'token: hunter2' x | sh"),
        actor: ACTOR.into(),
        cwd: repo.root(),
        head: ws.head().map(|head| head.0.clone()),
    };
    let asked = approvals::ask(&ws.root, request).unwrap();
    decide(&repo, &asked.code, ApprovalVerdict::Approve).unwrap();
    let record = &records(&repo, RecordKind::Approval)[0];
    let line = serde_json::to_string(record).unwrap();
    assert!(!line.contains("hunter2") && !line.contains("curl"), "{line}");
    assert_eq!(record.decision.as_ref().unwrap().approval.as_deref(), Some(asked.code.as_str()));
    assert_eq!(approvals::take(&ws.root, &asked.binding), Some(asked.code));
}

#[test]
fn useless_proposals_are_refused_before_anybody_is_asked() {
    let repo = Repo::new();
    for entry in ["", "  ", "!src/x.rs", "../x", ".orchestration/**", ".git/hooks/*", "src/**"] {
        assert!(wider(&repo, entry).is_err(), "{entry:?}");
    }
    let ws = repo.open();
    let ask = |wanted| proposal::propose_intent(&ws, ACTOR, &repo.root(), wanted).map(drop);
    let whole = IntentProposal {
        name: "N".into(),
        scope: vec!["n/**".into()],
        reason: "r".into(),
        ..IntentProposal::default()
    };
    for wanted in [
        IntentProposal { name: " ".into(), ..whole.clone() },
        IntentProposal { scope: vec![], ..whole.clone() },
        IntentProposal { scope: vec!["!n/**".into()], ..whole.clone() },
        IntentProposal { reason: String::new(), ..whole.clone() },
        IntentProposal { name: "a\u{202e}b".into(), ..whole.clone() },
        IntentProposal { constraints: vec!["x".repeat(501)], ..whole.clone() },
    ] {
        assert!(ask(wanted.clone()).is_err(), "{wanted:?}");
    }
    assert!(approvals::pending(&ws.root).is_empty());
    ask(whole).unwrap();
}

#[test]
fn turning_the_gate_off_and_on_is_recorded() {
    let repo = Repo::new();
    let ws = repo.open();
    approval::switch_off(&ws, Duration::from_secs(600), Some("a large move")).unwrap();
    assert!(session::off_until(&ws.root).is_some());
    assert!(approval::switch_on(&ws).unwrap().changed);
    assert!(!approval::switch_on(&ws).unwrap().changed);
    let notes: Vec<_> = records(&repo, RecordKind::Approval)
        .into_iter()
        .map(|record| record.note.unwrap_or_default())
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("off at a terminal, for 10 min"), "{notes:?}");
}

#[test]
fn a_folder_without_a_registry_takes_no_proposals() {
    let folder = temporary_folder();
    let ws = why::Workspace::open(folder.path(), &ground::Environment::of_process()).unwrap();
    let wanted = ScopeProposal::default();
    assert!(proposal::request_scope(&ws, ACTOR, folder.path(), wanted).is_err());
    assert!(
        approval::decide(&ws, "ABCDEF", ApprovalVerdict::Approve, DecisionPlace::Terminal).is_err()
    );
    assert!(approval::switch_off(&ws, Duration::from_secs(60), None).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
