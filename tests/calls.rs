//! Complete calls of an agent's tools: what the gate says before the call, what the agent is told after it, and what is
//! recorded.

use std::path::PathBuf;

use crate::support::{Repo, relative, temporary_folder};
use edits::{Change, Replacement};
use evidence::event::{Asking, Effect, Event, Means};
use evidence::seal::{SealCaller, seal};
use judgement::accept::{self, AcceptExtent};
use judgement::after::{Feedback, idle, record_after_call};
use judgement::approval::{self, ApprovalVerdict, DecisionPlace};
use judgement::gate::{Decision, DenialCode, Judged, judge_before_call, prompt};
use ledger::{Contributor, Record, RecordKind, Strength};
use shell::Dialect;
use why::answers::{self, Which};

pub(crate) const BEFORE: &str = "fn one() {\n    1;\n}\n\nfn two() {\n    2;\n}\n";

pub(crate) fn event(repo: &Repo, session: &str, effects: Vec<Effect>) -> Event {
    Event {
        host: "test-host".into(),
        session: Some(session.into()),
        subagent: None,
        call: Some(format!("{session}-{effects:?}")),
        asking: Asking::ByCode,
        means: Means::Commands,
        rewrites: false,
        from_host: true,
        environment: ground::Environment::of_process(),
        cwd: repo.root(),
        tool: "Edit".into(),
        input: "0".into(),
        model: Some("a/model".into()),
        claimed_class: None,
        failed: false,
        prompt: None,
        effects,
    }
}

pub(crate) fn write(path: &str, text: &str) -> Effect {
    Effect::Write { path: PathBuf::from(path), change: Change::Whole(text.into()) }
}

pub(crate) fn replace(path: &str, old: &str, new: &str) -> Effect {
    let edit = Replacement { old: old.into(), new: new.into(), every: false };
    Effect::Write { path: PathBuf::from(path), change: Change::Replace(vec![edit]) }
}

fn read(path: &str) -> Effect {
    Effect::Read { path: PathBuf::from(path), lines: None }
}

pub(crate) fn select(intent: &str) -> Effect {
    Effect::Select { intent: intent.into() }
}

pub(crate) fn code(judged: &Judged) -> Option<DenialCode> {
    match &judged.decision {
        Decision::NoOpinion => None,
        Decision::Ask(denial) | Decision::Deny(denial) => Some(denial.code),
    }
}

pub(crate) fn message(judged: &Judged) -> String {
    match &judged.decision {
        Decision::NoOpinion => String::new(),
        Decision::Ask(denial) | Decision::Deny(denial) => denial.message.clone(),
    }
}

/// Makes a call as an agent does: asks the gate, runs `deed`, and compares the disk afterwards.
pub(crate) fn call(event: &Event, deed: impl FnOnce()) -> Result<Feedback, DenialCode> {
    if let Some(code) = code(&judge_before_call(event)) {
        return Err(code);
    }
    deed();
    Ok(record_after_call(event))
}

pub(crate) fn repo() -> Repo {
    let repo = Repo::new();
    repo.write("src/a.rs", BEFORE);
    repo.write("billing/b.rs", BEFORE);
    repo.commit("code");
    repo
}

pub(crate) fn mutations(repo: &Repo) -> Vec<(String, String, Strength, Vec<String>)> {
    let ws = repo.open();
    let records = ws.ledger.entries().iter().map(|entry| &entry.record);
    records
        .filter(|record| record.kind == RecordKind::Mutation)
        .map(|record| {
            let file = &record.files[0];
            let blocks = file.conversations[0].ranges.iter().map(|range| {
                let name = range.block.as_ref().map(|block| block.path.clone()).unwrap_or_default();
                if range.deleted { format!("-{name}") } else { name }
            });
            (
                record.intent_id.clone().unwrap_or_default(),
                file.relative_path.to_string(),
                record.strength.expect("every record says how it is known"),
                blocks.collect(),
            )
        })
        .collect()
}

#[test]
fn the_record_of_a_call_names_the_lines_that_it_added() {
    let repo = repo();
    let session = |effects| event(&repo, "s1", effects);
    call(&session(vec![select("INT-001")]), || {}).expect("selected");
    let edit = replace("src/a.rs", "1;", "1;\n    11;");
    let deed = || repo.write("src/a.rs", &BEFORE.replace("1;", "1;\n    11;"));
    call(&session(vec![edit]), deed).expect("let through");
    let ws = repo.open();
    let mutation = |record: &&Record| record.kind == RecordKind::Mutation;
    let mut records = ws.ledger.entries().iter().map(|entry| &entry.record).filter(mutation);
    let file = &records.next().expect("a mutation").files[0];
    let kept = ledger::kept_text(&ws.root, file.text.as_ref().expect("its text is kept"));
    assert_eq!(kept.as_deref(), Some(BEFORE.replace("1;", "1;\n    11;").as_bytes()));
    let answer = answers::on_disk(&ws, &relative("src/a.rs"), Which::Line(1)).expect("readable");
    let runs = &answer.blocks[0].lines.as_ref().expect("lines").runs;
    let recorded: Vec<_> =
        runs.iter().filter(|run| run.from.is_some()).map(|run| (run.start, run.end)).collect();
    assert_eq!(recorded, [(3, 3)]);
}

#[test]
fn a_selection_holds_only_for_the_session_that_made_it() {
    let repo = repo();
    let edit = replace("src/a.rs", "1;", "11;");
    let refused = judge_before_call(&event(&repo, "s1", vec![edit.clone()]));
    assert_eq!(code(&refused), Some(DenialCode::IntentRequired));
    assert!(message(&refused).contains("INT-001 (Sign in)"), "{}", message(&refused));

    assert_eq!(code(&judge_before_call(&event(&repo, "s1", vec![select("INT-001")]))), None);
    assert_eq!(code(&judge_before_call(&event(&repo, "s1", vec![edit.clone()]))), None);
    let other = judge_before_call(&event(&repo, "s2", vec![edit]));
    assert_eq!(
        code(&other),
        Some(DenialCode::IntentRequired),
        "the selection of s1 does not hold for s2"
    );
    assert_eq!(repo.open().selected(None), None, "nor for the person");
    let outside =
        judge_before_call(&event(&repo, "s1", vec![replace("billing/b.rs", "1;", "11;")]));
    assert_eq!(code(&outside), Some(DenialCode::ScopeViolation));
    assert!(message(&outside).contains("INT-002 (Billing)"), "{}", message(&outside));
}

#[test]
fn a_selection_counts_where_its_command_runs() {
    let (repo, other) = (repo(), repo());
    let select_there = Effect::Shell {
        text: "intent select INT-001".into(),
        dialect: Dialect::Posix,
        cwd: Some(other.root()),
        background: false,
    };
    assert_eq!(code(&judge_before_call(&event(&repo, "s", vec![select_there]))), None);
    let edit = || vec![replace("src/a.rs", "1;", "11;")];
    assert_eq!(code(&judge_before_call(&event(&other, "s", edit()))), None);
    assert_eq!(
        code(&judge_before_call(&event(&repo, "s", edit()))),
        Some(DenialCode::IntentRequired)
    );
}

#[test]
fn a_subagent_has_its_sessions_intent_until_it_selects_one() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let sub = |effects| Event { subagent: Some("helper".into()), ..event(&repo, "s", effects) };
    assert_eq!(code(&judge_before_call(&sub(vec![replace("src/a.rs", "1;", "11;")]))), None);
    repo.write(".orchestration/policy.yaml", "switching: allow\n");
    assert_eq!(code(&judge_before_call(&sub(vec![select("INT-002")]))), None);
    assert_eq!(code(&judge_before_call(&sub(vec![replace("billing/b.rs", "1;", "11;")]))), None);
    let parent = judge_before_call(&event(&repo, "s", vec![replace("billing/b.rs", "1;", "11;")]));
    assert_eq!(code(&parent), Some(DenialCode::ScopeViolation), "the parent stays where it was");
}

/// Changes a file of INT-001 by a call of a session.
fn work(repo: &Repo, session: &str) {
    let edit = event(repo, session, vec![replace("src/a.rs", "1;", "111;")]);
    call(&edit, || repo.write("src/a.rs", &BEFORE.replace("1;", "111;"))).expect("let through");
}

#[test]
fn a_denial_names_a_way_that_is_not_denied_next() {
    let repo = repo();
    repo.write(".orchestration/policy.yaml", "protected_paths: [src/sealed.rs]\n");
    let told = |means, path: &str| {
        let edit = Event { means, ..event(&repo, "s", vec![write(path, "x\n")]) };
        message(&judge_before_call(&edit)).to_owned()
    };
    let nobody = told(Means::Commands, "lone/x.md");
    assert!(nobody.contains("No intent in progress owns lone/x.md."), "{nobody}");
    assert!(nobody.contains("`intent request-scope --intent ID --add lone/x.md "), "{nobody}");
    assert!(nobody.contains("`intent propose ") && !nobody.contains("Select one"), "{nobody}");
    let by_tool = told(Means::Tools, "lone/x.md");
    assert!(
        by_tool.contains("`request_scope`") && by_tool.contains("`propose_intent`"),
        "{by_tool}"
    );
    let sealed = told(Means::Commands, "src/sealed.rs");
    assert!(sealed.contains("protected_paths") && !sealed.contains("select it"), "{sealed}");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let outside = told(Means::Commands, "lone/x.md");
    let command =
        "Request scope expansion with `intent request-scope --intent INT-001 --add lone/x.md ";
    assert!(outside.contains(command), "{outside}");
    assert!(
        told(Means::Tools, "lone/x.md").contains("Request scope expansion with `request_scope`.")
    );
}

#[test]
fn a_selection_in_a_longer_command_is_answered_with_the_plain_form() {
    let repo = repo();
    for (text, plain) in [
        ("intent select INT-001 2>&1", "`intent select INT-001`"),
        ("intent select INT-001 | head -20", "`intent select INT-001`"),
        ("cd src && intent select INT-001", "`intent -C src select INT-001`"),
        ("cd a; cd b; intent -C c select INT-001 > x", "`intent -C a/b/c select INT-001`"),
        ("intent select INT-001; true", "`intent select INT-001`"),
        ("bash -c 'intent select INT-001'", "`intent select INT-001`"),
        ("intent select", "`intent select ID`"),
    ] {
        let judged = judge_before_call(&event(&repo, "s", vec![shell(text)]));
        assert_eq!(code(&judged), Some(DenialCode::PlainCommandRequired), "{text}");
        assert!(message(&judged).contains(plain), "{text}: {}", message(&judged));
    }
    assert_eq!(repo.open().selected(Some("test-host:s")), None);
}

#[test]
fn switching_needs_approval_unless_a_person_asked_for_the_intent() {
    let repo = repo();
    let selected = |intent| judge_before_call(&event(&repo, "s", vec![select(intent)]));
    for free in ["INT-001", "INT-002", "INT-001"] {
        assert_eq!(code(&selected(free)), None, "nothing was written yet");
    }
    work(&repo, "s");
    let refused = selected("INT-002");
    assert_eq!(code(&refused), Some(DenialCode::ApprovalRequired));
    assert!(message(&refused).contains("intent approve "), "{}", message(&refused));
    let says =
        |text: &str| prompt(&Event { prompt: Some(text.into()), ..event(&repo, "s", vec![]) });
    let judged = || code(&judge_before_call(&event(&repo, "s", vec![select("INT-002")])));
    for text in ["Go on.", "Do NOT touch INT-002.", "This failed:\nintent select INT-002"] {
        says(text);
        assert_eq!(judged(), Some(DenialCode::ApprovalRequired), "{text}");
    }
    says("Go on with int-002.");
    let sub = Event { subagent: Some("a".into()), ..event(&repo, "s", vec![select("INT-002")]) };
    assert_eq!(
        code(&judge_before_call(&sub)),
        Some(DenialCode::ApprovalRequired),
        "the prompt was for the session, not for its subagent"
    );
    assert_eq!(judged(), None);
    assert_eq!(
        code(&judge_before_call(&event(&repo, "s", vec![select("INT-003")]))),
        Some(DenialCode::IntentNotActive)
    );
    assert_eq!(
        code(&judge_before_call(&event(&repo, "s", vec![select("INT-9")]))),
        Some(DenialCode::UnknownIntent)
    );
}

#[test]
fn selecting_names_other_sessions_on_the_same_files() {
    let repo = repo();
    let first = judge_before_call(&event(&repo, "s1", vec![select("INT-001")]));
    assert_eq!(first.notice, None);
    let edit = event(&repo, "s1", vec![replace("src/a.rs", "2;", "22;")]);
    call(&edit, || repo.write("src/a.rs", &BEFORE.replace("2;", "22;"))).expect("let through");
    let second = judge_before_call(&event(&repo, "s2", vec![select("INT-001")]));
    let notice = second.notice.expect("the other session wrote here");
    assert!(notice.contains("test-host under INT-001, which wrote just now"), "{notice}");
    let third = judge_before_call(&event(&repo, "s3", vec![select("INT-002")]));
    assert_eq!(third.notice, None, "other files");
}

#[test]
fn an_edit_with_the_predicted_result_is_recorded_as_verified() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let edit = event(&repo, "s", vec![replace("src/a.rs", "2;", "22;")]);
    let feedback = call(&edit, || repo.write("src/a.rs", &BEFORE.replace("2;", "22;")));
    assert_eq!(feedback.expect("let through"), Feedback::default());
    assert_eq!(
        mutations(&repo),
        [("INT-001".into(), "src/a.rs".into(), Strength::Verified, vec!["two".into()])]
    );
    assert_eq!(repo.picture("src/a.rs"), "unrecorded - function one\nexact INT-001 function two\n");
    // A second event for the end of the same call adds no record.
    record_after_call(&edit);
    assert_eq!(mutations(&repo).len(), 1);
}

#[test]
fn a_call_does_not_claim_what_others_changed_meanwhile() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let edit = event(&repo, "s", vec![replace("src/a.rs", "2;", "22;")]);
    let both = BEFORE.replace("2;", "22;").replace("1;", "111;");
    let feedback = call(&edit, || repo.write("src/a.rs", &both)).expect("let through");
    assert!(feedback.context.is_some_and(|said| said.contains("one")));
    assert_eq!(
        mutations(&repo),
        [("INT-001".into(), "src/a.rs".into(), Strength::Observed, vec!["two".into()])]
    );
}

#[test]
fn two_calls_of_a_session_at_once_are_not_told_of_each_other() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let first = event(&repo, "s", vec![replace("src/a.rs", "1;", "111;")]);
    let second = event(&repo, "s", vec![replace("src/a.rs", "2;", "22;")]);
    for edit in [&first, &second] {
        assert_eq!(code(&judge_before_call(edit)), None);
    }
    repo.write("src/a.rs", &BEFORE.replace("1;", "111;"));
    assert_eq!(record_after_call(&first).context, None);
    repo.write("src/a.rs", &BEFORE.replace("1;", "111;").replace("2;", "22;"));
    assert_eq!(record_after_call(&second).context, None);
    let blocks: Vec<Vec<String>> = mutations(&repo).into_iter().map(|found| found.3).collect();
    assert_eq!(blocks, [["one"], ["two"]]);
}

#[test]
fn creating_moving_and_deleting_files_are_recorded() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let create = event(&repo, "s", vec![write("src/new.rs", "fn made() {}\n")]);
    call(&create, || repo.write("src/new.rs", "fn made() {}\n")).expect("creating passes");
    let change = Some(Change::Replace(vec![Replacement {
        old: "2;".into(),
        new: "22;".into(),
        every: false,
    }]));
    let (from, to) = (PathBuf::from("src/a.rs"), PathBuf::from("src/c.rs"));
    let moving = event(&repo, "s", vec![Effect::Move { from, to, change }]);
    call(&moving, || {
        repo.write("src/c.rs", &BEFORE.replace("2;", "22;"));
        repo.remove("src/a.rs");
    })
    .expect("a move within the scope passes");
    let delete = event(&repo, "s", vec![Effect::Delete { path: "src/new.rs".into() }]);
    call(&delete, || repo.remove("src/new.rs")).expect("deleting its own file passes");
    let told: Vec<_> = mutations(&repo)
        .into_iter()
        .map(|(_, path, evidence, blocks)| (path, evidence, blocks.join(" ")))
        .collect();
    assert_eq!(
        told,
        [
            ("src/new.rs".into(), Strength::Verified, "made".to_owned()),
            ("src/c.rs".into(), Strength::Verified, "two".to_owned()),
            ("src/new.rs".into(), Strength::Verified, "-made".to_owned()),
        ]
    );
    let out = event(
        &repo,
        "s",
        vec![Effect::Move { from: "src/c.rs".into(), to: "billing/c.rs".into(), change: None }],
    );
    assert_eq!(
        code(&judge_before_call(&out)),
        Some(DenialCode::ScopeViolation),
        "the destination counts"
    );
}

#[test]
fn only_the_block_that_others_changed_is_stale() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    record_after_call(&event(&repo, "s", vec![read("src/a.rs")]));
    repo.write("src/a.rs", &BEFORE.replace("1;", "fine();"));
    let theirs = event(&repo, "s", vec![replace("src/a.rs", "fine();", "mine();")]);
    let refused = judge_before_call(&theirs);
    assert_eq!(code(&refused), Some(DenialCode::StaleFile));
    assert!(!message(&refused).contains("fine()"), "never the content: {}", message(&refused));
    let other = event(&repo, "s", vec![replace("src/a.rs", "2;", "22;")]);
    assert_eq!(code(&judge_before_call(&other)), None, "another block");
    let whole = event(&repo, "s", vec![write("src/a.rs", &BEFORE.replace("2;", "22;"))]);
    assert_eq!(
        code(&judge_before_call(&whole)),
        Some(DenialCode::StaleFile),
        "it would undo the other change"
    );
    record_after_call(&event(&repo, "s", vec![read("src/a.rs")]));
    assert_eq!(code(&judge_before_call(&theirs)), None, "after another read the file is fresh");
}

#[test]
fn the_denial_of_a_stale_file_names_who_changed_it() {
    let repo = repo();
    for session in ["s1", "s2"] {
        judge_before_call(&event(&repo, session, vec![select("INT-001")]));
        record_after_call(&event(&repo, session, vec![read("src/a.rs")]));
    }
    let edit = event(&repo, "s2", vec![replace("src/a.rs", "1;", "11;")]);
    call(&edit, || repo.write("src/a.rs", &BEFORE.replace("1;", "11;"))).expect("let through");
    let refused = judge_before_call(&event(&repo, "s1", vec![replace("src/a.rs", "11;", "12;")]));
    assert_eq!(code(&refused), Some(DenialCode::StaleFile));
    assert!(message(&refused).contains("test-host:s2 under INT-001"), "{}", message(&refused));
    let own = judge_before_call(&event(&repo, "s2", vec![replace("src/a.rs", "11;", "12;")]));
    assert_eq!(code(&own), None, "a session knows the file after its own write");
}

#[test]
fn overwriting_an_unread_file_is_refused() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let blind = judge_before_call(&event(&repo, "s", vec![write("src/a.rs", "fn x() {}\n")]));
    assert_eq!(code(&blind), Some(DenialCode::StaleFile));
    assert!(message(&blind).contains("Read it first"), "{}", message(&blind));
    let after_an_edit = vec![replace("src/a.rs", "1;", "11;"), write("src/a.rs", "fn x() {}\n")];
    let blind = judge_before_call(&event(&repo, "s", after_an_edit));
    assert_eq!(code(&blind), Some(DenialCode::StaleFile), "the second text is for the whole file");
    assert_eq!(
        code(&judge_before_call(&event(&repo, "s", vec![write("src/n.rs", "fn x() {}\n")]))),
        None
    );
    assert_eq!(
        code(&judge_before_call(&event(&repo, "s", vec![replace("src/a.rs", "1;", "11;")]))),
        None
    );
}

#[test]
fn no_intent_may_write_protected_files_or_leave_the_workspace() {
    let repo = repo();
    repo.write(
        ".orchestration/active_intents.yaml",
        &crate::support::REGISTRY.replace("src/**", "**"),
    );
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let home = std::env::home_dir().expect("a home folder");
    let home = |path: &str| home.join(path).display().to_string();
    for path in [
        ".orchestration/policy.yaml".to_owned(),
        ".claude/settings.local.json".to_owned(),
        "sub/.codex/hooks.json".to_owned(),
        ".GitHub/hooks/x.json".to_owned(),
        ".git/hooks/pre-commit".to_owned(),
        "opencode.json".to_owned(),
        home(".claude/settings.json"),
        home(".gemini/settings.json"),
    ] {
        let judged = judge_before_call(&event(&repo, "s", vec![write(&path, "x")]));
        assert_eq!(code(&judged), Some(DenialCode::ProtectedPath), "{path}");
    }
    let judged = judge_before_call(&event(&repo, "s", vec![write("/etc/nothing-of-ours", "x")]));
    assert_eq!(code(&judged), Some(DenialCode::ScopeViolation));
    let temporary = std::env::temp_dir().join("intent-calls-test.txt").display().to_string();
    assert_eq!(code(&judge_before_call(&event(&repo, "s", vec![write(&temporary, "x")]))), None);
}

#[test]
fn an_unreadable_call_is_denied_and_a_read_never_is() {
    let repo = repo();
    let what = Effect::Unreadable { what: "no path".into() };
    assert_eq!(
        code(&judge_before_call(&event(&repo, "s", vec![what]))),
        Some(DenialCode::UnreadablePayload)
    );
    repo.write(".orchestration/active_intents.yaml", "active_intents: [\n");
    assert_eq!(code(&judge_before_call(&event(&repo, "s", vec![read("src/a.rs")]))), None);
    assert_eq!(code(&judge_before_call(&event(&repo, "s", vec![]))), None);
    let edit = event(&repo, "s", vec![replace("src/a.rs", "1;", "11;")]);
    assert_eq!(
        code(&judge_before_call(&edit)),
        Some(DenialCode::HookError),
        "rules that cannot be read"
    );
}

#[test]
fn observe_mode_only_reports_what_it_would_have_denied() {
    let repo = repo();
    repo.write(".orchestration/policy.yaml", "mode: observe\n");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let judged = judge_before_call(&event(&repo, "s", vec![replace("billing/b.rs", "1;", "11;")]));
    assert_eq!(judged.decision, Decision::NoOpinion);
    assert!(judged.notice.is_some_and(|notice| notice.contains("SCOPE_VIOLATION")));
}

#[test]
fn a_write_that_no_gate_saw_is_noted_and_reported() {
    let repo = repo();
    let edit = event(&repo, "s", vec![replace("src/a.rs", "1;", "11;")]);
    repo.write("src/a.rs", &BEFORE.replace("1;", "11;"));
    let feedback = record_after_call(&edit);
    assert!(feedback.violation.is_some(), "nothing is selected: {feedback:?}");
    let ws = repo.open();
    let notes = ground::session::ungated::still_valid(&ws.root);
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].path.as_str(), "src/a.rs");
    assert_eq!(mutations(&repo), [], "the intent of the write is not known");
    repo.write("src/a.rs", BEFORE);
    assert_eq!(ground::session::ungated::still_valid(&ws.root), [], "it is undone");
}

/// What was in the file before such a write is unknown, so only what the call itself says that it wrote is its own.
#[test]
#[ignore = "slow"]
fn a_write_that_no_gate_saw_takes_no_line_of_a_person() {
    let person = BEFORE.replace("2;", "2;\n    22;");
    let edit = |every| vec![Replacement { old: "    1;\n".into(), new: "    11;\n".into(), every }];
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n fn one() {\n-    1;\n+    11;\n }\n*** End Patch";
    let edits::patch::FilePatch::Update { hunks, .. } =
        edits::patch::read(patch).expect("a patch").remove(0)
    else {
        panic!("an update")
    };
    let changed = person.replace(" 1;", " 11;");
    let inserted = person.replace("1;", "1;\n    11;");
    let cases = [
        (Change::Replace(edit(false)), changed.clone(), vec![2]),
        (Change::Replace(edit(true)), changed.clone(), vec![2]),
        (Change::ReplaceLoosely(edit(false)), changed.clone(), vec![2]),
        (Change::Hunks(hunks), changed.clone(), vec![2]),
        (Change::Insert { after_line: 2, text: "    11;\n".into() }, inserted, vec![3]),
        (Change::Append("// End.\n".into()), format!("{person}// End.\n"), vec![9]),
        // The new text is there several times, or not at all, or the call does not tell it.
        (Change::Replace(edit(false)), changed.replace("22;", "11;"), vec![]),
        (Change::Replace(edit(false)), person.clone(), vec![]),
        (Change::Whole(changed.clone()), changed.clone(), vec![]),
        (Change::Whole(person.clone()), person, vec![]),
        (Change::Unknown, changed, vec![]),
    ];
    for (change, now, expected) in cases {
        let (from, to) = ("src/a.rs", "src/b.rs");
        let moved = Effect::Move { from: from.into(), to: to.into(), change: Some(change.clone()) };
        for (path, effect) in [(from, Effect::Write { path: from.into(), change }), (to, moved)] {
            let repo = repo();
            call(&event(&repo, "s", vec![select("INT-001")]), || {}).expect("selected");
            std::fs::remove_file(repo.root().join(from)).expect("removed");
            repo.write(path, &now);
            record_after_call(&event(&repo, "s", vec![effect.clone()]));
            let ws = repo.open();
            let files = ws.journal.entries().iter().flat_map(|entry| &entry.record.files);
            let lines = files.flat_map(|file| {
                assert_eq!(file.relative_path.as_str(), path);
                file.conversations.iter().flat_map(|one| one.lines.runs())
            });
            let lines = lines.flat_map(|run| run.lines.clone()).map(|line| line + 1);
            assert_eq!(lines.collect::<Vec<_>>(), expected, "{effect:?}\n{now}");
        }
    }
}

#[test]
fn the_workspace_of_the_written_file_judges_the_call() {
    let (here, there) = (repo(), repo());
    judge_before_call(&event(&here, "s", vec![select("INT-001")]));
    let path = there.root().join("src/a.rs").display().to_string();
    let judged = judge_before_call(&event(&here, "s", vec![replace(&path, "1;", "11;")]));
    assert_eq!(
        code(&judged),
        Some(DenialCode::IntentRequired),
        "the selection is one of the other workspace"
    );
}

#[test]
fn a_record_that_cannot_be_written_is_written_later() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let edit = event(&repo, "s", vec![replace("src/a.rs", "2;", "22;")]);
    judge_before_call(&edit);
    repo.write("src/a.rs", &BEFORE.replace("2;", "22;"));
    let trace = repo.root().join(".git/intent/open");
    let aside = repo.root().join(".git/intent/aside");
    std::fs::rename(&trace, &aside).expect("moved aside");
    std::fs::write(&trace, "a file where a folder is needed").expect("written");
    assert_eq!(record_after_call(&edit), Feedback::default(), "the agent's work goes on");
    let root = repo.open().root;
    assert_eq!(judgement::after::waiting_record_files(&root).len(), 1);
    std::fs::remove_file(&trace).expect("removed");
    std::fs::rename(&aside, &trace).expect("moved back");
    record_after_call(&event(&repo, "s", vec![read("src/a.rs")]));
    assert_eq!(judgement::after::waiting_record_files(&root).len(), 0);
    assert_eq!(mutations(&repo).len(), 1);
}

#[test]
fn policy_rules_apply_to_paths() {
    let repo = repo();
    repo.write(
        ".orchestration/policy.yaml",
        "rules:\n\
         \x20 - {paths: [src/free/**], decision: allow}\n\
         \x20 - {paths: [src/asked/**], decision: ask, reason: Ask Ada.}\n\
         \x20 - {paths: [src/free/**, src/closed/**], decision: deny}\n",
    );
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let judged = |paths: &[&str]| {
        judge_before_call(&event(
            &repo,
            "s",
            paths.iter().map(|path| write(path, "fn x() {}\n")).collect(),
        ))
    };
    assert_eq!(code(&judged(&["src/free/a.rs"])), None, "the first rule holds");
    assert_eq!(code(&judged(&["src/closed/a.rs"])), Some(DenialCode::DestructiveBlocked));
    let asked = judged(&["src/free/a.rs", "src/asked/a.rs"]);
    assert_eq!(
        code(&asked),
        Some(DenialCode::ApprovalRequired),
        "an allowed path does not allow another one"
    );
    assert!(message(&asked).contains("Ask Ada."), "{}", message(&asked));
    let both = judged(&["src/asked/a.rs", "src/closed/a.rs"]);
    assert_eq!(code(&both), Some(DenialCode::DestructiveBlocked));
}

#[test]
fn a_call_without_an_end_is_recorded_when_the_agent_is_idle() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let done = event(&repo, "s", vec![replace("src/a.rs", "2;", "22;")]);
    let refused = event(&repo, "s", vec![write("src/new.rs", "fn made() {}\n")]);
    let of_another = event(&repo, "t", vec![select("INT-001")]);
    judge_before_call(&of_another);
    for call in [&done, &refused] {
        assert_eq!(code(&judge_before_call(call)), None);
    }
    repo.write("src/a.rs", &BEFORE.replace("2;", "22;"));
    repo.write("src/new.rs", "fn somebody_else_wrote_this() {}\n");
    idle(&event(&repo, "t", vec![]));
    assert_eq!(mutations(&repo), [], "another session being idle changes nothing");
    idle(&event(&repo, "s", vec![]));
    assert_eq!(
        mutations(&repo),
        [("INT-001".into(), "src/a.rs".into(), Strength::Verified, vec!["two".into()])],
        "a file without the predicted text is not recorded"
    );
    idle(&event(&repo, "s", vec![]));
    assert_eq!(mutations(&repo).len(), 1);
}

#[test]
fn a_call_whose_hook_was_killed_is_recorded_when_idle() {
    use ground::session::calls;
    use judgement::gate::key;
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let edit = event(&repo, "s", vec![replace("src/a.rs", "2;", "22;")]);
    assert_eq!(code(&judge_before_call(&edit)), None);
    repo.write("src/a.rs", &BEFORE.replace("2;", "22;"));
    // The hook after the tool has taken the call and is killed before it records anything.
    calls::finish(&repo.open().root, &key(&edit));
    idle(&event(&repo, "s", vec![]));
    assert_eq!(mutations(&repo), [], "the hook may still be running");
    let folder = repo.root().join(".orchestration/local/calls");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let taken: Vec<_> = { files }
        .filter(|file| file.extension().is_some_and(|extension| extension == "taken"))
        .collect();
    let [taken] = taken.as_slice() else { panic!("{taken:?}") };
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(taken).unwrap().set_modified(then).unwrap();
    idle(&event(&repo, "s", vec![]));
    assert_eq!(
        mutations(&repo),
        [("INT-001".into(), "src/a.rs".into(), Strength::Verified, vec!["two".into()])]
    );
    assert!(!taken.exists());
}

pub(crate) fn shell(text: &str) -> Effect {
    Effect::Shell { text: text.into(), dialect: Dialect::Posix, cwd: None, background: false }
}

fn told_of(repo: &Repo, text: &str) -> Option<DenialCode> {
    code(&judge_before_call(&event(repo, "s", vec![shell(text)])))
}

#[test]
fn commands_are_judged_by_their_predicted_effects() {
    let repo = repo();
    assert_eq!(told_of(&repo, "git status && ls -la src | head"), None, "reading needs no intent");
    for text in ["cargo test", "echo x > src/a.rs", "intent gate src/a.rs; make"] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::IntentRequired), "{text}");
    }
    assert_eq!(told_of(&repo, "intent select INT-001"), None);
    for text in [
        "cargo test",
        "echo x > src/b.rs",
        "mkdir -p src/new/deep && touch src/new/deep/x.rs",
        "sed -i 's/1/2/' src/*.rs",
        "rm src/a.rs",
        "echo done > /dev/null",
        "git commit -m 'rm -rf /'",
    ] {
        assert_eq!(told_of(&repo, text), None, "{text}");
    }
    for text in [
        "echo x > billing/b.rs",
        "sed -i 's/1/2/' src/a.rs billing/b.rs",
        "mv src/a.rs billing/",
        "cp src/a.rs billing/c.rs",
        "cd billing && touch b.rs",
        "rm billing/*.rs",
        "echo x | tee src/a.rs billing/b.rs",
        "mkdir docs",
        "rm -rf billing",
        "cat > /etc/nothing-of-ours <<EOF\nx\nEOF",
    ] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ScopeViolation), "{text}");
    }
    let named = |text: &str| message(&judge_before_call(&event(&repo, "s", vec![shell(text)])));
    assert!(named("rm -rf billing").contains("edit billing/b.rs"), "{}", named("rm -rf billing"));
    assert!(named("mkdir docs").contains("edit docs."), "{}", named("mkdir docs"));
    assert!(named("rm -rf .").contains("the whole workspace"), "{}", named("rm -rf ."));
    for text in [
        "echo x > .orchestration/policy.yaml",
        "sed -i s/a/b/ .claude/settings.json",
        "rm .git/index",
        "cp x src/.venv/bin/intent",
        "ln -s x src/bin/intent-lsp",
        "echo x > src/Scripts/intent-lsp.exe",
        "intent approve abc123",
        "intent off --for 10m",
        "intent agent off --for 10m",
        "intent -C src agent --json off --for 10m",
        "bash -c 'intent agent off --for 10m'",
        "intent setup init",
        "intent setup team --owner @ada",
        "intent setup git-hooks --remove",
        "intent evidence anchor",
        "intent -q evidence -C src erase x --why y",
    ] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ProtectedPath), "{text}");
    }
    for text in ["git reset --hard", "rm -rf src", "git push --force", "bash -c 'git clean -fdx'"] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ApprovalRequired), "{text}");
    }
}

#[test]
fn an_agent_runs_intent_commands_for_its_own_session_only() {
    let repo = repo();
    for short in
        ["intent seal", "intent verify", "intent compact", "intent protocol", "intent gate a"]
    {
        let grouped = match short {
            "intent protocol" | "intent gate a" => short.replace("intent", "intent -C src agent"),
            _ => short.replace("intent", "intent evidence -C src"),
        };
        let short = short.replace("intent", "intent -C src");
        assert_eq!(told_of(&repo, &grouped), told_of(&repo, &short), "{grouped}");
    }
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    for text in [
        "intent mcp",
        "intent agent mcp",
        "echo '{}' | intent mcp",
        "intent lsp --stdio",
        "intent select --session test-host:t INT-002",
        "intent record --intent INT-002 billing/b.rs",
        "intent record --intent=INT-002 billing/b.rs",
        "cd src && intent --json record billing/b.rs --session test-host:t",
        "intent record src/a.rs --contributor human",
        "intent report --out .orchestration/policy.yaml",
    ] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ProtectedPath), "{text}");
    }
    for text in [
        "intent record src/a.rs",
        "intent record --intent INT-001 --session test-host:s src/a.rs",
        "intent status && intent why src/a.rs",
        "intent report > src/report.html",
        "intent report --out=src/report.html",
    ] {
        assert_eq!(told_of(&repo, text), None, "{text}");
    }
}

#[test]
fn commands_made_for_reading_need_no_intent() {
    let repo = repo();
    let judged = |text: &str| judge_before_call(&event(&repo, "nobody", vec![shell(text)]));
    for text in [
        "curl -s https://x.example | jq .",
        "psql -c 'select 1'",
        "git fetch",
        "go list ./...",
        "cargo tree",
        "terraform plan",
        "docker ps",
        "x=$(git rev-parse HEAD); git show $x",
    ] {
        assert_eq!(code(&judged(text)), None, "{text}");
    }
    for text in
        ["cargo test", "curl -o src/a.rs https://x.example", "git fetch origin +a:b", "make"]
    {
        assert_eq!(code(&judged(text)), Some(DenialCode::IntentRequired), "{text}");
    }
}

#[test]
fn inline_code_that_names_a_file_out_of_scope_needs_approval() {
    let repo = repo();
    repo.write("billing/i.ts", "1\n");
    let chosen = event(&repo, "s", vec![select("INT-001")]);
    assert_eq!(code(&judge_before_call(&chosen)), None);
    let judged = |text: &str| judge_before_call(&event(&repo, "s", vec![shell(text)]));
    for text in [
        "python3 -c \"open('billing/i.ts','a').write('x')\"",
        "node -e 'require(\"fs\").appendFileSync(\"billing/i.ts\", \"x\")'",
        "python3 <<X\nopen('billing/new.ts', 'w')\nX",
        "perl -e 'open F, q(>>.orchestration/policy.yaml)'",
        "ruby -e 'File.write(\".git/config\", \"\")'",
    ] {
        let judged = judged(text);
        assert_eq!(code(&judged), Some(DenialCode::ApprovalRequired), "{text}");
        assert!(message(&judged).contains("own text names"), "{}", message(&judged));
    }
    for text in [
        "git apply <<X\n--- a/billing/i.ts\n+++ b/billing/i.ts\n@@ -1 +1 @@\n-1\n+2\nX",
        "apply_patch <<X\n*** Begin Patch\n*** Update File: billing/i.ts\n@@\n-1\n+2\n*** End Patch\nX",
        "printf '*** Begin Patch\\n*** Add File: billing/n.ts\\n+1\\n*** End Patch\\n' | apply_patch",
        "echo '--- a/billing/i.ts\n+++ b/billing/i.ts' | patch -p1",
        "intent report --out billing/i.ts",
    ] {
        assert_eq!(code(&judged(text)), Some(DenialCode::ScopeViolation), "{text}");
    }
    for text in [
        "python3 -c \"open('src/a.rs','a').write('x')\"",
        "python3 -c \"print('application/json')\"",
        "python3 -c \"print(open('billing/i.ts').read())\"",
        "node -e 'fetch(\"https://x.example/billing/i.ts\")'",
        "cargo test billing/i.ts",
    ] {
        assert_eq!(code(&judged(text)), None, "{text}: {}", message(&judged(text)));
    }
}

#[test]
fn what_is_made_or_missing_may_be_deleted_and_a_log_is_sent_to_scratch() {
    let repo = repo();
    repo.write(".gitignore", "dist/\n");
    assert_eq!(code(&judge_before_call(&event(&repo, "s", vec![select("INT-001")]))), None);
    let judged = |text: &str| judge_before_call(&event(&repo, "s", vec![shell(text)]));
    assert_eq!(code(&judged("rm -rf dist")), None, "{}", message(&judged("rm -rf dist")));
    // Nothing is there, neither on the disk nor in git's index.
    for text in ["rm -rf out && echo made", "rm -f nothere.txt", "rm -rf out nothere.txt"] {
        assert_eq!(code(&judged(text)), None, "{text}: {}", message(&judged(text)));
    }
    repo.write("billing/old.ts", "1\n");
    repo.git(&["add", "-A"]);
    repo.remove("billing/old.ts");
    for text in ["git rm billing/old.ts", "rm -rf billing", "rm -f billing/i.ts"] {
        let expected = (!text.ends_with("i.ts")).then_some(DenialCode::ScopeViolation);
        assert_eq!(code(&judged(text)), expected, "{text}: {}", message(&judged(text)));
    }
    let held = judged("cargo test | tee test.log");
    assert_eq!(code(&held), Some(DenialCode::ScopeViolation));
    assert!(message(&held).contains("scratch file may go to"), "{}", message(&held));
}

#[test]
fn leaving_an_old_commit_is_always_allowed() {
    let repo = repo();
    assert_eq!(code(&judge_before_call(&event(&repo, "s", vec![select("INT-001")]))), None);
    let older = crate::support::REGISTRY.replace("INT-001", "INT-009");
    repo.write(".orchestration/active_intents.yaml", &older);
    let judged = |text: &str| code(&judge_before_call(&event(&repo, "s", vec![shell(text)])));
    assert_eq!(judged("git checkout main"), None);
    assert_eq!(judged("git switch main"), None);
    assert_eq!(judged("git checkout main && make"), Some(DenialCode::UnknownIntent));
    assert_eq!(judged("git checkout -- src"), Some(DenialCode::UnknownIntent));
}

#[test]
fn a_command_is_judged_by_the_workspace_that_it_changes() {
    let repo = repo();
    let at = repo.root().display().to_string();
    let above = Event { cwd: repo.root().join(".."), ..event(&repo, "s", Vec::new()) };
    let judged = |text: &str| {
        let call = Some(text.to_owned());
        code(&judge_before_call(&Event { effects: vec![shell(text)], call, ..above.clone() }))
    };
    for text in [
        format!("cd {at} && make"),
        format!("make -C {at}"),
        format!("cargo build --manifest-path {at}/Cargo.toml"),
        format!("git -C {at} commit -m x"),
        format!("(cd {at}/src; ./generate)"),
    ] {
        assert_eq!(judged(&text), Some(DenialCode::IntentRequired), "{text}");
    }
    for text in [format!("intent -C {at} off"), format!("cd {at} && intent off")] {
        assert_eq!(judged(&text), Some(DenialCode::ProtectedPath), "{text}");
    }
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let record = |id: &str| judged(&format!("intent -C {at} record --intent {id} src/a.rs"));
    assert_eq!(record("INT-001"), None, "it is selected there");
    assert_eq!(record("INT-002"), Some(DenialCode::ProtectedPath));
    for text in [
        format!("cd {at} && git reset --hard"),
        format!("git -C {at} push --force"),
        format!("git --git-dir={at}/.git --work-tree={at} clean -fdx"),
    ] {
        assert_eq!(judged(&text), Some(DenialCode::ApprovalRequired), "{text}");
    }
    assert_eq!(judged(&format!("cd {at} && make")), None);
    let told = |session: &str, text: &str| {
        let of = |event: Event| Event { session: Some(session.into()), ..event };
        judge_before_call(&of(Event {
            effects: vec![shell(text)],
            call: Some(text.into()),
            ..above.clone()
        }))
    };
    let refused = told("t", &format!("make -C {at}"));
    let way = format!("intent -C {at} select ID");
    assert!(message(&refused).contains(&way), "{}", message(&refused));
    assert_eq!(code(&told("t", &way.replace("ID", "INT-001"))), None);
    assert_eq!(code(&told("t", &format!("make -C {at}"))), None, "selected from above");
    assert_eq!(code(&told("u", &format!("git -C {at} fetch"))), None, "made for looking");
    assert_eq!(judged("make"), None, "nothing governs the folder above");
    assert_eq!(judged(&format!("git -C {at} log")), None);
    // The files there are compared after the command.
    let text = format!("make -C {at}");
    let made = Event { effects: vec![shell(&text)], call: Some("made".into()), ..above.clone() };
    let feedback = call(&made, || repo.write("billing/b.rs", "fn changed() {}\n"));
    let violation = feedback.expect("let through").violation.expect("told");
    assert!(violation.contains("billing/b.rs"), "{violation}");
}

#[test]
#[ignore = "slow"]
fn a_person_approves_one_command_once() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let reset = event(&repo, "s", vec![shell("git reset --hard")]);
    let asked = message(&judge_before_call(&reset));
    let again = message(&judge_before_call(&reset));
    assert_eq!(asked, again, "one question, not two");
    let code_of = |message: &str| {
        let at = message.find("code ").expect("a code") + 5;
        message[at..].split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned)
    };
    let code_given = code_of(&asked).expect("a code");
    let ws = repo.open();
    approval::decide(&ws, &code_given, ApprovalVerdict::Approve, DecisionPlace::Terminal)
        .expect("approved");
    let other = event(&repo, "t", vec![shell("git reset --hard")]);
    judge_before_call(&event(&repo, "t", vec![select("INT-001")]));
    assert_eq!(
        code(&judge_before_call(&other)),
        Some(DenialCode::ApprovalRequired),
        "another session"
    );
    let retried = Event { call: Some("another call".into()), ..reset.clone() };
    assert_eq!(code(&judge_before_call(&retried)), None, "approved");
    let effects = vec![Effect::Shell {
        text: "git reset --hard".into(),
        dialect: Dialect::Posix,
        cwd: Some(repo.root().join("")),
        background: false,
    }];
    let by_second_hook = Event { effects, ..retried };
    assert_eq!(code(&judge_before_call(&by_second_hook)), None, "the same call, with its folder");
    let later = Event { call: Some("a third call".into()), ..reset };
    assert_eq!(code(&judge_before_call(&later)), Some(DenialCode::ApprovalRequired), "used up");
    // Without an id of the host, an equal call that is made later is another call.
    let nameless = Event { call: None, input: "reset".into(), ..later };
    let asked = code_of(&message(&judge_before_call(&nameless))).expect("a code");
    approval::decide(&repo.open(), &asked, ApprovalVerdict::Approve, DecisionPlace::Terminal)
        .expect("approved");
    assert_eq!(code(&judge_before_call(&nameless)), None, "approved");
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    assert_eq!(code(&judge_before_call(&nameless)), Some(DenialCode::ApprovalRequired), "used up");
}

/// Returns the code and the question with which a call is refused in a session without a dialog of its own, or `None`
/// if the call is not asked about.
fn question(repo: &Repo, effects: &[Effect]) -> Option<(String, approval::Question)> {
    let told = message(&judge_before_call(&event(repo, "s", effects.to_vec())));
    let code = told.split("code ").nth(1)?.get(..6)?.to_owned();
    let asked = approval::status(&repo.open(), &code).expect("it waits");
    Some((code, approval::question(&asked)))
}

#[test]
fn an_approval_shows_the_whole_call_and_holds_only_for_it() {
    let repo = repo();
    repo.write(
        ".orchestration/policy.yaml",
        "rules:\n  - {paths: [src/asked/**], decision: ask, reason: Ask Ada.}\n",
    );
    repo.write("src/asked/a.rs", "fn a() {}\n");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let run = |text: &str, folder: Option<&str>| Effect::Shell {
        text: text.into(),
        dialect: Dialect::Posix,
        cwd: folder.map(PathBuf::from),
        background: false,
    };
    let reset = || run("git reset --hard", None);
    let write_asked = |text: &str| write("src/asked/new.rs", text);
    type Effects = Vec<Effect>;
    // Each row: a call, what the question must show of it, and other calls that the approval must not cover.
    let calls: [(Effects, &str, Vec<Effects>); 3] = [
        (
            vec![reset(), run("make a", Some("src"))],
            "make a\n  in the folder ",
            vec![
                vec![reset()],
                vec![reset(), run("make b", Some("src"))],
                vec![reset(), run("make a", None)],
                vec![run("make a", Some("src")), reset()],
            ],
        ),
        (
            vec![write_asked("fn x() {}\n")],
            "src/asked/new.rs\n@@ -1,0 +1,1 @@\n+fn x() {}",
            vec![
                vec![write_asked("fn y() {}\n")],
                vec![write_asked("fn x() {}\n"), write("src/more.rs", "fn z() {}\n")],
            ],
        ),
        (
            vec![Effect::Delete { path: "src/asked/a.rs".into() }, reset()],
            "delete src/asked/a.rs\nrun git reset --hard",
            vec![vec![Effect::Delete { path: "src/a.rs".into() }, reset()]],
        ),
    ];
    for (call, shown, others) in calls {
        let (given, question_asked) = question(&repo, &call).expect("a question");
        assert!(question_asked.exactly.contains(shown), "{}", question_asked.exactly);
        approval::decide(&repo.open(), &given, ApprovalVerdict::Approve, DecisionPlace::Terminal)
            .expect("approved");
        for other in others {
            let (code, _) = question(&repo, &other).expect("another call is asked about");
            assert_ne!(code, given, "{other:?}");
            let turn = approval::decide(
                &repo.open(),
                &code,
                ApprovalVerdict::Reject,
                DecisionPlace::Terminal,
            );
            turn.expect("room for the next question");
        }
        assert_eq!(code(&judge_before_call(&event(&repo, "s", call.clone()))), None, "{call:?}");
    }
}

#[test]
fn writes_of_a_command_are_reported_and_recorded_afterwards() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let script = event(&repo, "s", vec![shell("./generate.sh")]);
    let feedback = call(&script, || {
        repo.write("src/a.rs", &BEFORE.replace("2;", "22;"));
        repo.write("billing/b.rs", &BEFORE.replace("2;", "22;"));
    })
    .expect("an opaque program may run under an intent");
    let violation = feedback.violation.expect("it left the scope");
    assert!(violation.contains("billing/b.rs") && !violation.contains("src/a.rs"), "{violation}");
    assert_eq!(
        mutations(&repo),
        ["billing/b.rs", "src/a.rs"].map(|path| {
            ("INT-001".into(), path.into(), Strength::Inferred, vec!["two".into()])
        })
    );
    let ws = repo.open();
    let last = ws.ledger.entries().last().expect("a record").record.clone();
    assert_eq!(last.extra.get("via"), Some(&"shell".into()));
    let ungated = ground::session::ungated::still_valid(&ws.root);
    assert_eq!(ungated.iter().map(|note| note.path.as_str()).collect::<Vec<_>>(), ["billing/b.rs"]);
}

#[test]
fn the_code_of_a_denial_has_a_meaning() {
    let meaning = DenialCode::meaning_of(&DenialCode::StaleFile.to_string());
    assert!(meaning.is_some_and(|meaning| meaning.starts_with("Somebody changed the file")));
    assert_eq!(DenialCode::meaning_of("ls"), None);
}

#[test]
fn evidence_that_a_revert_takes_away_is_not_out_of_scope() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    repo.write("src/a.rs", &BEFORE.replace("2;", "22;"));
    repo.record("INT-001", &["src/a.rs"]);
    repo.git(&["add", "-A"]);
    let sealed = seal(&repo.open(), SealCaller::Hook).expect("sealed").written;
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "with evidence"]);
    let revert = || drop(repo.git(&["revert", "--no-edit", "HEAD"]));
    let feedback = call(&event(&repo, "s", vec![shell("git revert HEAD")]), revert);
    assert_eq!(feedback.expect("allowed").violation, None);
    repo.git(&["revert", "--no-edit", "HEAD"]);
    let feedback = call(&event(&repo, "s", vec![shell("./tidy.sh")]), || {
        repo.git(&["rm", "-q", "src/a.rs", sealed[0].as_str()]);
        repo.git(&["commit", "-q", "-m", "tidy"]);
    });
    let violation = feedback.expect("a script may run").violation.expect("it left the scope");
    assert!(violation.contains(sealed[0].as_str()), "{violation}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_name_is_not_utf8_is_out_of_scope() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let name = OsStr::from_bytes(b"src/a\xff.rs");
    let feedback = call(&event(&repo, "s", vec![shell("./generate.sh")]), || {
        std::fs::write(repo.root().join(name), "fn a() {}\n").expect("written");
    });
    let violation = feedback.expect("a script may run").violation.expect("it left the scope");
    assert!(violation.contains("src/a\u{fffd}.rs"), "{violation}");
}

#[test]
fn a_command_that_names_its_file_is_recorded_by_comparison() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let sed = event(&repo, "s", vec![shell("sed -i s/1;/11;/ src/a.rs")]);
    call(&sed, || repo.write("src/a.rs", &BEFORE.replace("1;", "11;"))).expect("in scope");
    let delete = event(&repo, "s", vec![shell("rm src/a.rs")]);
    call(&delete, || repo.remove("src/a.rs")).expect("in scope");
    let told: Vec<String> =
        mutations(&repo).into_iter().map(|(_, _, _, blocks)| blocks.join(" ")).collect();
    assert_eq!(told, ["one", "-one -two"]);
}

#[test]
fn a_background_command_records_nothing() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let server = event(&repo, "s", vec![shell("./serve.sh &")]);
    let feedback = call(&server, || repo.write("src/a.rs", &BEFORE.replace("1;", "11;")));
    assert_eq!(feedback.expect("let through"), Feedback::default());
    assert_eq!(mutations(&repo), []);
}

#[test]
fn a_file_that_a_command_printed_counts_as_read() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let cat = event(&repo, "s", vec![shell("cat src/a.rs")]);
    call(&cat, || ()).expect("reading");
    let whole = event(&repo, "s", vec![write("src/a.rs", &BEFORE.replace("1;", "11;"))]);
    assert_eq!(
        code(&judge_before_call(&whole)),
        None,
        "the session has seen the text that it overwrites"
    );
    repo.write("src/a.rs", &BEFORE.replace("1;", "111;"));
    assert_eq!(code(&judge_before_call(&whole)), Some(DenialCode::StaleFile));
}

#[test]
fn policy_rules_apply_to_commands() {
    let repo = repo();
    repo.write(
        ".orchestration/policy.yaml",
        "rules:\n\
         \x20 - {command: npm publish, decision: deny, reason: CI does that.}\n\
         \x20 - {command: make, decision: ask}\n\
         \x20 - {command: git reset, decision: allow}\n",
    );
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    assert_eq!(told_of(&repo, "npm publish"), Some(DenialCode::DestructiveBlocked));
    assert_eq!(told_of(&repo, "sudo npm publish --tag x"), Some(DenialCode::DestructiveBlocked));
    assert_eq!(told_of(&repo, "make all"), Some(DenialCode::ApprovalRequired));
    assert_eq!(told_of(&repo, "git reset --hard"), None);
    let both = told_of(&repo, "git reset --hard && git clean -fdx");
    assert_eq!(
        both,
        Some(DenialCode::ApprovalRequired),
        "an allowed command does not allow another one"
    );
    let outside = told_of(&repo, "git reset --hard > billing/log.txt");
    assert_eq!(
        outside,
        Some(DenialCode::ScopeViolation),
        "a rule for commands does not widen the scope"
    );
    repo.write(
        ".orchestration/policy.yaml",
        "rules:\n\
         \x20 - {command: git reset, decision: allow}\n\
         \x20 - {command: make test, decision: allow}\n\
         \x20 - {command: make, decision: deny}\n",
    );
    assert_eq!(
        told_of(&repo, "make install"),
        Some(DenialCode::DestructiveBlocked),
        "rules that allow other commands do not count"
    );
    assert_eq!(told_of(&repo, "make test"), None, "the first rule holds");
    assert_eq!(
        told_of(&repo, "make test && make install"),
        Some(DenialCode::DestructiveBlocked),
        "each command is judged by its own first rule"
    );
}

#[test]
fn a_person_is_asked_only_if_nothing_denies() {
    let repo = repo();
    repo.write(".orchestration/policy.yaml", "rules:\n  - {paths: [src/a.rs], decision: ask}\n");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let whole = event(&repo, "s", vec![write("src/a.rs", "fn new() {}\n")]);
    assert_eq!(code(&judge_before_call(&whole)), Some(DenialCode::StaleFile), "it was not read");
    call(&event(&repo, "s", vec![read("src/a.rs")]), || {}).expect("a read");
    assert_eq!(code(&judge_before_call(&whole)), Some(DenialCode::ApprovalRequired));
    // A workspace that only observes does not lift what another one denies.
    let observing = self::repo();
    observing.write(".orchestration/policy.yaml", "mode: observe\n");
    let elsewhere = observing.root().join("src/n.rs").display().to_string();
    let both = vec![write(&elsewhere, "fn n() {}\n"), write("billing/n.rs", "fn n() {}\n")];
    assert_eq!(
        code(&judge_before_call(&event(&repo, "s", both))),
        Some(DenialCode::ScopeViolation)
    );
}

#[test]
fn a_question_names_the_files_of_every_workspace() {
    let (repo, other) = (repo(), repo());
    repo.write(
        ".orchestration/policy.yaml",
        "rules:\n  - {paths: [src/asked/**], decision: ask}\n",
    );
    for at in [&repo, &other] {
        judge_before_call(&event(at, "s", vec![select("INT-001")]));
    }
    let there = other.root().join("src/asked/n.rs").display().to_string();
    let both = ["src/asked/n.rs", there.as_str()].map(|path| write(path, "fn n() {}\n"));
    let (_, asked) = question(&repo, &both).expect("a question");
    assert!(asked.exactly.contains("write src/asked/n.rs\n"), "{}", asked.exactly);
    assert!(asked.exactly.contains(&format!("write {there}\n")), "{}", asked.exactly);
}

#[test]
fn a_command_that_a_person_agrees_to_runs_behind_the_fence() {
    let repo = repo();
    repo.write(".orchestration/policy.yaml", "fence: opaque\n");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let effects = vec![shell("./build.sh; git reset --hard")];
    let asked =
        Event { asking: Asking::Native, rewrites: true, ..event(&repo, "s", effects.clone()) };
    let judged = judge_before_call(&asked);
    assert_eq!(code(&judged), Some(DenialCode::ApprovalRequired));
    assert_eq!(judged.fence.as_deref(), Some("INT-001"));
    repo.write(".orchestration/policy.yaml", "fence: require\n");
    let by_code = event(&repo, "t", effects);
    judge_before_call(&event(&repo, "t", vec![select("INT-001")]));
    assert_eq!(
        code(&judge_before_call(&by_code)),
        Some(DenialCode::FenceRequired),
        "not a question"
    );
}

#[test]
fn a_rejected_policy_does_not_decide_about_a_switch() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    work(&repo, "s");
    let script = event(&repo, "s", vec![shell("./build.sh")]);
    call(&script, || repo.write(".orchestration/policy.yaml", "switching: allow\n"))
        .expect("let through");
    for text in ["intent select INT-002", "intent -C . select INT-002"] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ApprovalRequired), "{text}");
    }
}

#[test]
fn a_name_that_is_known_in_part_leads_to_no_control_file() {
    let repo = repo();
    let wide = crate::support::REGISTRY.replace("billing/**", "**");
    repo.write(".orchestration/active_intents.yaml", &wide);
    repo.write(".gitignore", ".orchestration/local/\n");
    repo.write(".orchestration/local/x", "x");
    repo.commit("rules");
    for (session, intent) in [("s", "INT-001"), ("t", "INT-002")] {
        judge_before_call(&event(&repo, session, vec![select(intent)]));
        for text in [
            "echo x > .orchestration/$NAME",
            "cp src/a.rs .git/hooks/$NAME",
            "echo x > .orch*/policy.yaml",
            "mv .g?t src/",
        ] {
            let judged = judge_before_call(&event(&repo, session, vec![shell(text)]));
            assert_eq!(code(&judged), Some(DenialCode::ProtectedPath), "{session}: {text}");
        }
    }
    assert_eq!(told_of(&repo, "echo x > src/$NAME"), None);
    assert_eq!(code(&judge_before_call(&event(&repo, "t", vec![shell("touch .e*")]))), None);
}

#[test]
fn a_folder_that_a_scope_excludes_is_not_written_into() {
    let repo = repo();
    repo.write(
        ".orchestration/active_intents.yaml",
        &crate::support::REGISTRY
            .replace("\"src/**\"", "\"src/**\", \"!src/kept/**\"")
            .replace("billing/**", "*"),
    );
    repo.write("src/kept/k.rs", BEFORE);
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    for text in ["cp src/a.rs src/kept", "mv src/a.rs src/kept", "cp src/a.rs src/kept/k.rs"] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ScopeViolation), "{text}");
    }
    let told = message(&judge_before_call(&event(&repo, "s", vec![shell("cp src/a.rs src/kept")])));
    assert!(told.contains("not authorized to edit src/kept."), "{told}");
    assert_eq!(told_of(&repo, "mkdir -p src/new && cp src/a.rs src/new"), None);
    // INT-002 owns the files at the root and no folder.
    judge_before_call(&event(&repo, "t", vec![select("INT-002")]));
    let whole = judge_before_call(&event(&repo, "t", vec![shell("cp -r /tmp/x .")]));
    assert_eq!(code(&whole), Some(DenialCode::ScopeViolation), "{}", message(&whole));
}

#[test]
fn paths_with_links_or_dots_are_judged_by_their_target() {
    let repo = repo();
    std::os::unix::fs::symlink(repo.root().join("billing"), repo.root().join("src/link"))
        .expect("a link");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    for path in ["src/link/b.rs", "src/../billing/b.rs", "./billing/./b.rs"] {
        let judged = judge_before_call(&event(&repo, "s", vec![replace(path, "1;", "11;")]));
        assert_eq!(code(&judged), Some(DenialCode::ScopeViolation), "{path}");
    }
    assert_eq!(told_of(&repo, "echo x > src/link/b.rs"), Some(DenialCode::ScopeViolation));
    let elsewhere = temporary_folder();
    let linked = elsewhere.path().join("linked");
    repo.git(&["worktree", "add", "-q", &linked.display().to_string(), "-b", "linked"]);
    for (path, expected) in [("src/a.rs", None), ("billing/b.rs", Some(DenialCode::ScopeViolation))]
    {
        let file = linked.join(path).display().to_string();
        let judged = judge_before_call(&event(&repo, "s", vec![replace(&file, "1;", "11;")]));
        assert_eq!(code(&judged), expected, "the session keeps its intent in a linked work tree");
    }
}

#[test]
fn making_a_link_to_a_file_out_of_scope_needs_approval() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    for text in [
        "ln billing/b.rs src/x.rs",
        "ln -s ../billing src",
        "ln -s ../billing src/l && echo x > src/l/b.rs",
        "cd src && ln -s ../billing/b.rs y.rs",
        "ln -sfn ../../billing src/deep/l",
        "ln --symbolic ../.orchestration/policy.yaml src/p",
    ] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ApprovalRequired), "{text}");
    }
    for text in ["ln src/a.rs src/x.rs", "ln -s a.rs src/y.rs", "ln -s ../src/a.rs src/z.rs"] {
        assert_eq!(told_of(&repo, text), None, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn writing_a_hard_linked_file_needs_approval() {
    let repo = repo();
    std::fs::hard_link(repo.root().join("billing/b.rs"), repo.root().join("src/link.rs")).unwrap();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let edit = event(&repo, "s", vec![replace("src/link.rs", "1;", "11;")]);
    assert_eq!(code(&judge_before_call(&edit)), Some(DenialCode::ApprovalRequired));
    assert_eq!(told_of(&repo, "echo x >> src/link.rs"), Some(DenialCode::ApprovalRequired));
}

#[cfg(unix)]
#[test]
fn a_write_through_a_late_link_is_reported_and_not_recorded() {
    let repo = repo();
    repo.write("src/sub/b.rs", BEFORE);
    repo.commit("sub");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let outside = temporary_folder();
    for (target, told) in [
        (repo.root().join("billing"), "to billing/b.rs"),
        (outside.path().to_owned(), "outside of the workspace"),
    ] {
        let edit =
            event(&repo, "s", vec![replace("src/sub/b.rs", "1;", &format!("{};", told.len()))]);
        let feedback = call(&edit, || {
            std::fs::remove_dir_all(repo.root().join("src/sub")).unwrap();
            std::os::unix::fs::symlink(&target, repo.root().join("src/sub")).unwrap();
            std::fs::write(target.join("b.rs"), "fn changed() {}\n").unwrap();
        });
        let violation = feedback.expect("let through").violation.expect("told");
        assert!(violation.contains(told), "{violation}");
        std::fs::remove_file(repo.root().join("src/sub")).unwrap();
        repo.write("src/sub/b.rs", BEFORE);
    }
    assert_eq!(mutations(&repo), Vec::new());
    let noted = ground::session::ungated::still_valid(&repo.open().root);
    let noted: Vec<_> = noted.iter().map(|note| note.path.as_str()).collect();
    assert_eq!(noted, ["billing/b.rs"]);
}

#[test]
fn a_program_that_rewrites_the_registry_is_reported() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let script = event(&repo, "s", vec![shell("./generate.sh")]);
    let rewritten = crate::support::REGISTRY.replace("src/**", "**");
    let feedback = call(&script, || repo.write(".orchestration/active_intents.yaml", &rewritten));
    let violation = feedback.expect("let through").violation.expect("found");
    assert!(violation.contains("active_intents.yaml"), "{violation}");
    let widened = event(&repo, "s", vec![shell("./other.sh")]);
    let feedback = call(&widened, || {
        judgement::registry::widen(&repo.open(), "INT-002", "docs/**").expect("widened");
    });
    assert_eq!(
        feedback.expect("let through").violation,
        None,
        "what a person does is not reported"
    );
}

#[test]
#[ignore = "slow"]
fn rules_rewritten_by_a_program_count_only_once_accepted() {
    let wide = crate::support::REGISTRY.replace("src/**", "**");
    let rewritten: [(&str, Option<&str>); 5] = [
        (".orchestration/active_intents.yaml", Some(&wide)),
        (".orchestration/active_intents.yaml", None),
        (".orchestration/policy.yaml", Some("mode: observe\n")),
        (".intentignore", Some("# intent: deny-write\n!*\n")),
        (
            ".orchestration/intents/INT-009.yaml",
            Some("id: INT-009\nname: Mine\nstatus: IN_PROGRESS\nowned_scope: [\"**\"]\n"),
        ),
    ];
    for (path, text) in rewritten {
        let repo = repo();
        repo.write(".intentignore", "# intent: deny-write\nsrc/keys.rs\n");
        repo.write("src/keys.rs", "fn key() {}\n");
        repo.commit("rules");
        judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
        let stood = std::fs::read(repo.root().join(path)).ok();
        let put = |text: Option<&[u8]>| match text {
            Some(text) => repo.write(path, std::str::from_utf8(text).expect("a text")),
            None => std::fs::remove_file(repo.root().join(path)).expect("it stood there"),
        };
        let script = event(&repo, "s", vec![shell("./build.sh")]);
        let feedback = call(&script, || put(text.map(str::as_bytes))).expect("let through");
        assert!(feedback.violation.expect("found").contains(path), "{path}");
        // Every session is judged by the earlier rules, and the message says so.
        for session in ["s", "t"] {
            let judged =
                judge_before_call(&event(&repo, session, vec![replace("src/keys.rs", "key", "k")]));
            assert!(message(&judged).contains("intent accept .orchestration/"), "{path}");
            assert!(code(&judged).is_some(), "{path}");
        }
        let judged = |path: &str| {
            code(&judge_before_call(&event(&repo, "s", vec![write(path, "fn n() {}\n")])))
        };
        assert_eq!(judged("billing/new.rs"), Some(DenialCode::ScopeViolation), "{path}");
        assert_eq!(judged("src/new.rs"), None, "{path}");
        assert!(
            code(&judge_before_call(&event(&repo, "u", vec![select("INT-009")]))).is_some(),
            "{path}"
        );
        // With the earlier file in place again, there is nothing left to accept.
        put(stood.as_deref());
        assert_eq!(judged("src/new.rs"), None);
        let again = event(&repo, "s", vec![shell("./again.sh")]);
        call(&again, || put(text.map(str::as_bytes))).expect("let through");
        let ws = repo.open();
        let file = ground::RelativePath::new(path).expect("a path");
        let by = Contributor::person(Some("Ada".into()));
        let answer = accept::accept(&ws, &file, AcceptExtent::Differing, &by).expect("accepted");
        assert!(answer.settled, "{path}");
        let asked = judge_before_call(&event(&repo, "s", vec![replace("src/keys.rs", "key", "k")]));
        assert!(!message(&asked).contains("intent accept"), "{path}");
    }
}

#[test]
fn a_registry_without_a_file_is_not_that_of_the_shared_branch() {
    let repo = repo();
    let file = ".orchestration/intents/INT-009.yaml";
    repo.write(
        file,
        "id: INT-009\nname: Tools\nstatus: IN_PROGRESS\nowned_scope: [\"tools/**\"]\n",
    );
    repo.commit("another intent");
    repo.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    judge_before_call(&event(&repo, "s", vec![select("INT-009")]));
    let script = event(&repo, "s", vec![shell("./build.sh")]);
    let deed = || std::fs::remove_file(repo.root().join(file)).expect("it was there");
    assert!(call(&script, deed).expect("let through").violation.is_some());
    let judged = judge_before_call(&event(&repo, "s", vec![write("tools/n.rs", "fn n() {}\n")]));
    assert_eq!(code(&judged), None, "the intent is still in force: {}", message(&judged));
}

#[test]
fn without_the_earlier_rules_nothing_is_allowed() {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    let script = event(&repo, "s", vec![shell("./build.sh")]);
    let feedback = call(&script, || {
        std::fs::remove_dir_all(repo.root().join(".git/intent/rules")).expect("it was kept there");
        repo.write(".orchestration/policy.yaml", "mode: observe\n");
    });
    assert!(feedback.expect("let through").violation.is_some());
    let judged = judge_before_call(&event(&repo, "s", vec![write("src/new.rs", "fn n() {}\n")]));
    assert_eq!(code(&judged), Some(DenialCode::HookError));
    assert!(message(&judged).contains("intent accept .orchestration/policy.yaml"));
}

#[test]
fn a_folder_with_an_agents_settings_is_not_moved_or_deleted() {
    let repo = repo();
    repo.write(
        ".orchestration/active_intents.yaml",
        &crate::support::REGISTRY.replace("src/**", "**"),
    );
    repo.write(".claude/settings.local.json", "{}");
    repo.write(".gitignore", ".claude/\n");
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    for text in ["mv .claude .aside", "rm -r .claude", "rmdir .claude", "mv .claude/ /tmp/aside"] {
        assert_eq!(told_of(&repo, text), Some(DenialCode::ProtectedPath), "{text}");
    }
    let delete = event(&repo, "s", vec![Effect::Delete { path: ".claude".into() }]);
    assert_eq!(code(&judge_before_call(&delete)), Some(DenialCode::ProtectedPath));
    let (from, to) = (PathBuf::from(".claude"), PathBuf::from("aside"));
    let moving = event(&repo, "s", vec![Effect::Move { from, to, change: None }]);
    assert_eq!(code(&judge_before_call(&moving)), Some(DenialCode::ProtectedPath));
}

#[test]
fn a_person_accepts_a_deletion_that_no_gate_saw() {
    let repo = repo();
    repo.remove("src/a.rs");
    record_after_call(&event(&repo, "s", vec![Effect::Delete { path: "src/a.rs".into() }]));
    let ws = repo.open();
    let standing = || ground::session::ungated::still_valid(&ws.root).len();
    assert_eq!(standing(), 1);
    let gone = crate::support::relative("src/a.rs");
    let settle = || accept::accept(&ws, &gone, AcceptExtent::Differing, &Contributor::default());
    let answer = settle().expect("settled");
    assert!(answer.settled && answer.accepted.is_empty());
    assert_eq!(standing(), 0);
    assert!(settle().is_err(), "nothing is left to accept");
}

/// The map is updated at the end of a call, not only when the agent is idle, and only for the files of the call.
#[test]
fn the_map_follows_each_call() {
    let repo = repo();
    repo.write(".orchestration/.gitignore", "/intent_map.md\n/local/\n/agent_trace/open/\n");
    let session = |effects| event(&repo, "s1", effects);
    call(&session(vec![select("INT-001")]), || {}).expect("selected");
    let shown = || repo.read(".orchestration/intent_map.md");
    let create = |path: &str, text: &str| {
        let deed = || repo.write(path, text);
        call(&session(vec![write(path, text)]), deed).expect("in scope");
    };
    create("src/b.rs", "fn first() {}\n");
    assert!(shown().contains("- `src/b.rs`: `first`\n"), "{}", shown());
    create("src/c.rs", "fn second() {}\n");
    // An edit by somebody else is shown only by the next full refresh.
    repo.write("src/b.rs", "fn renamed() { renamed() }\n");
    let edit = replace("src/c.rs", "{}", "{}\nfn third() {}");
    let deed = || repo.write("src/c.rs", "fn second() {}\nfn third() {}\n");
    call(&session(vec![edit]), deed).expect("in scope");
    assert!(
        shown().contains("- `src/b.rs`: `first`\n- `src/c.rs`: `second`, `third`\n"),
        "{}",
        shown()
    );
    // A cache that cannot be read is made again of all open records.
    repo.write(".orchestration/local/map.json", "{}");
    repo.write("src/b.rs", "fn first() {}\n");
    let edit = replace("src/c.rs", "third", "fourth");
    let deed = || repo.write("src/c.rs", "fn second() {}\nfn fourth() {}\n");
    call(&session(vec![edit]), deed).expect("in scope");
    assert!(shown().contains("- `src/b.rs`"), "{}", shown());
    let gone = Effect::Delete { path: PathBuf::from("src/c.rs") };
    call(&session(vec![gone]), || repo.remove("src/c.rs")).expect("in scope");
    assert!(!shown().contains("src/c.rs"), "{}", shown());
}

/// Returns the codes of what `intent check` finds, with their paths.
fn found(repo: &Repo) -> Vec<String> {
    use judgement::check::{CheckRequest, change};
    let findings = change(&repo.open(), &CheckRequest::default()).expect("checked").findings;
    let errors = findings.into_iter().filter(|it| it.level == ground::Level::Error);
    errors.map(|it| format!("{} {}", it.code, it.path.unwrap_or_default())).collect()
}

#[test]
fn only_exactly_what_a_person_approved_is_no_finding() {
    let repo = Repo::new();
    repo.write(".orchestration/policy.yaml", "mode: ask\n");
    repo.write("billing/b.rs", BEFORE);
    repo.write("billing/c.rs", BEFORE);
    repo.commit("start");
    call(&event(&repo, "s", vec![select("INT-001")]), || {}).ok();
    call(&event(&repo, "s", vec![read("billing/b.rs"), read("billing/c.rs")]), || {}).unwrap();
    let edit = |file: &str| event(&repo, "s", vec![replace(file, "    1;", "    11;")]);
    let edited = BEFORE.replace("1;", "11;");
    let asked = judge_before_call(&edit("billing/b.rs"));
    let told = message(&asked);
    assert_eq!(code(&asked), Some(DenialCode::ScopeViolation), "{told}");
    let number = told.split("code ").nth(1).and_then(|rest| rest.get(..6)).expect("a code");
    approval::decide(&repo.open(), number, ApprovalVerdict::Approve, DecisionPlace::Terminal)
        .unwrap();
    call(&edit("billing/b.rs"), || repo.write("billing/b.rs", &edited)).unwrap();
    assert_eq!(found(&repo), Vec::<String>::new());
    // The approval covers that one write. Another file is not approved by it, nor is what somebody else did to this
    // one.
    repo.write("billing/c.rs", &edited);
    repo.record("INT-001", &["billing/c.rs"]);
    assert_eq!(found(&repo), ["scope-violation billing/c.rs"]);
    repo.write("billing/b.rs", &edited.replace("2;", "22;"));
    repo.record("INT-001", &["billing/b.rs"]);
    assert_eq!(found(&repo), ["scope-violation billing/b.rs", "scope-violation billing/c.rs"]);
}

/// One call takes code out and another one puts it elsewhere. Whoever moves a block does not become its author, even if no
/// commit has it.
#[test]
fn a_block_that_two_calls_move_keeps_its_author() {
    let repo = repo();
    let both_own_it =
        repo.read(".orchestration/active_intents.yaml").replace("billing/**", "src/**");
    repo.write(".orchestration/active_intents.yaml", &both_own_it);
    repo.write("src/b.rs", BEFORE);
    repo.commit("both intents own the files");
    let edit = |session: &str, path: &str, old: &str, new: &str| {
        let text = repo.read(path).replace(old, new);
        let edit = event(&repo, session, vec![replace(path, old, new)]);
        call(&edit, || repo.write(path, &text)).expect("let through");
    };
    let other =
        |name: &str| format!("\nfn {name}() {{\n    first_{name}();\n    last_{name}();\n}}\n");
    let [nobodys, agents] = ["nobodys", "agents"].map(other);
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    judge_before_call(&event(&repo, "t", vec![select("INT-002")]));
    repo.write("src/a.rs", &(BEFORE.to_owned() + &nobodys));
    edit("s", "src/a.rs", "last_nobodys();\n}\n", &format!("last_nobodys();\n}}\n{agents}"));
    // To another file, and to another place in the same one.
    edit("t", "src/a.rs", &nobodys, "");
    edit("t", "src/a.rs", &agents, "");
    edit("t", "src/b.rs", "2;\n}\n", &format!("2;\n}}\n{nobodys}{agents}"));
    let unrecorded = "unrecorded - function one\nunrecorded - function two\n";
    let expected =
        format!("{unrecorded}unrecorded - function nobodys\nmoved INT-001 function agents\n");
    assert_eq!(repo.picture("src/b.rs"), expected);
    edit("t", "src/b.rs", &agents, "");
    edit("t", "src/b.rs", "fn one()", &format!("{}\nfn one()", agents.trim_start()));
    let back =
        format!("moved INT-001 function agents\n{unrecorded}unrecorded - function nobodys\n");
    assert_eq!(repo.picture("src/b.rs"), back);
    // A record by hand does not claim them either.
    assert_eq!(repo.record("INT-002", &["src/b.rs"]).recorded.len(), 0);
    assert_eq!(repo.picture("src/b.rs"), back);
}
