//! Tests that all faces agree. Each test case makes a random state and compares what the editor,
//! the gate, `check`, `status`, `report`, `map` and `record` say about it.
//!
//! `INTENT_TEST_ALL=1` tests more states than the default.

use judgement::judged_record;
use overview::status;
use std::collections::BTreeSet;
use std::path::Path;
use why::findings::FindingAnswer;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::features::diagnostics;
use crate::features::fixture::{Editor, git, git_runs};
use crate::workspace_view;
use evidence::record;
use ground::{Code, Level, RelativePath};
use judgement::check::{self, CheckAnswer, CheckRequest, ComparedSides};
use judgement::gate::{self, Decision, GateRequest};
use judgement::{map, registry};
use overview::own_setup::check_request;
use overview::{report, select};

const START: &str = "
//- /src/a.rs closed intent=INT-001
fn one() { first(); }

fn two() { second(); }
//- /src/b.rs closed
fn three() { third(); }
//- /billing/c.rs closed intent=INT-002
fn four() { fourth(); }

fn five() { fifth(); }
//- /billing/table.txt closed
A paragraph of text.

Another paragraph.
//- /free/d.rs closed
fn six() { sixth(); }
//- /locked/e.rs closed
fn seven() { seventh(); }
//- /hidden/f.rs closed
fn eight() { eighth(); }
//- /.intentignore closed
# intent: deny-write
hidden/
//- /.orchestration/policy.yaml closed
protected_paths: ['locked/**']
//- /.orchestration/active_intents.yaml closed
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/**\", \"!src/new/**\", \"locked/**\", \"hidden/**\"]
  - id: INT-002
    name: Billing
    status: IN_PROGRESS
    owned_scope: [\"billing/**\"]
";

const FILES: [&str; 7] = [
    "src/a.rs",
    "src/b.rs",
    "billing/c.rs",
    "billing/table.txt",
    "free/d.rs",
    "locked/e.rs",
    "hidden/f.rs",
];
const NEW: [&str; 5] = ["src/x.rs", "src/new/y.rs", "billing/z.rs", "free/n.rs", "locked/m.rs"];
const INTENTS: [&str; 2] = ["INT-001", "INT-002"];

#[derive(Clone, Debug)]
enum EditorStep {
    Select(usize),
    Clear,
    Complete(usize),
    Edit(usize, u8),
    Cut(usize),
    Add(usize, u8),
    Delete(usize),
    PutBack(usize),
    Rename(usize, usize),
    Record(usize, usize),
    Stage(usize),
    Commit(Option<usize>),
    Widen(usize, usize),
    Merge(usize, u8),
}

fn step() -> impl Strategy<Value = EditorStep> {
    let (file, new, intent) = (0..FILES.len(), 0..NEW.len(), 0..INTENTS.len());
    prop_oneof![
        3 => intent.clone().prop_map(EditorStep::Select),
        1 => Just(EditorStep::Clear),
        1 => intent.clone().prop_map(EditorStep::Complete),
        6 => (file.clone(), any::<u8>()).prop_map(|(file, text)| EditorStep::Edit(file, text)),
        1 => file.clone().prop_map(EditorStep::Cut),
        3 => (new.clone(), any::<u8>()).prop_map(|(new, text)| EditorStep::Add(new, text)),
        2 => file.clone().prop_map(EditorStep::Delete),
        2 => (file.clone(), new.clone()).prop_map(|(file, new)| EditorStep::Rename(file, new)),
        4 => (0..FILES.len() + NEW.len(), intent.clone()).prop_map(|(at, by)| EditorStep::Record(at, by)),
        1 => file.clone().prop_map(EditorStep::Stage),
        1 => proptest::option::of(intent.clone()).prop_map(EditorStep::Commit),
        1 => (intent, file.clone()).prop_map(|(intent, file)| EditorStep::Widen(intent, file)),
        1 => (file, any::<u8>()).prop_map(|(file, text)| EditorStep::Merge(file, text)),
    ]
}

fn function(number: u8) -> String {
    format!("\nfn added_{number}() {{ call({number}); more({number}); }}\n")
}

fn take(editor: &mut Editor, step: &EditorStep) {
    let root = editor.workspace().root.path().to_owned();
    let absolute = |path: &str| root.join(path);
    match step {
        EditorStep::Select(intent) => {
            drop(select::select(editor.workspace(), INTENTS[*intent], None))
        }
        EditorStep::Clear => drop(select::clear(editor.workspace())),
        EditorStep::Complete(intent) => {
            let status = intents::Status::Completed;
            drop(registry::set_status(editor.workspace(), INTENTS[*intent], status));
        }
        EditorStep::Edit(file, number) => {
            let path = absolute(FILES[*file]);
            if let Ok(text) = std::fs::read_to_string(&path) {
                std::fs::write(&path, text + &function(*number)).unwrap();
            }
        }
        EditorStep::Cut(file) => {
            let path = absolute(FILES[*file]);
            if let Ok(text) = std::fs::read_to_string(&path) {
                let rest = text.split_once("\n\n").map_or("", |(_, rest)| rest);
                std::fs::write(&path, rest).unwrap();
            }
        }
        EditorStep::Add(new, number) => {
            let path = absolute(NEW[*new]);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, function(*number)).unwrap();
        }
        EditorStep::Delete(file) => drop(std::fs::remove_file(absolute(FILES[*file]))),
        EditorStep::PutBack(file) => {
            try_git(&root, &["checkout", "-q", "HEAD", "--", FILES[*file]]);
        }
        EditorStep::Rename(file, new) => {
            let (from, to) = (absolute(FILES[*file]), absolute(NEW[*new]));
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            drop(std::fs::rename(from, to));
        }
        EditorStep::Record(at, intent) => {
            let path = FILES.iter().chain(&NEW).nth(*at).unwrap();
            drop(judged_record::record(editor.workspace(), &recorded(path, INTENTS[*intent])));
        }
        EditorStep::Stage(file) => {
            try_git(&root, &["add", "-A", "--", FILES[*file]]);
        }
        EditorStep::Commit(trailer) => {
            git(&root, &["add", "-A"]);
            let trailer = trailer.map(|intent| format!("Intent-Id: {}", INTENTS[intent]));
            let message = format!("work\n\n{}", trailer.unwrap_or_default());
            try_git(&root, &["commit", "-qm", &message]);
        }
        EditorStep::Widen(intent, file) => {
            drop(registry::widen(editor.workspace(), INTENTS[*intent], FILES[*file]));
        }
        EditorStep::Merge(file, number) => {
            // Another branch is being merged. Its changes are not edits of this work tree.
            if !try_git(&root, &["stash", "-qu"]) {
                return;
            }
            try_git(&root, &["checkout", "-qb", "side"]);
            let path = absolute(FILES[*file]);
            if let Ok(text) = std::fs::read_to_string(&path) {
                std::fs::write(&path, function(*number) + &text).unwrap();
            }
            try_git(&root, &["commit", "-qam", "side"]);
            try_git(&root, &["checkout", "-q", "main"]);
            try_git(&root, &["merge", "-q", "--no-commit", "--no-ff", "side"]);
            try_git(&root, &["branch", "-qD", "side"]);
            try_git(&root, &["stash", "pop", "-q"]);
        }
    }
    editor.reload();
}

fn try_git(folder: &Path, arguments: &[&str]) -> bool {
    git_runs(folder, arguments).status.success()
}

fn recorded(path: &str, intent: &str) -> record::RecordRequest {
    record::RecordRequest {
        paths: vec![RelativePath::new(path).unwrap()],
        intent: Some(intent.to_owned()),
        agent: Some("codex".to_owned()),
        session: Some("codex:1".to_owned()),
        ..record::RecordRequest::default()
    }
}

/// The findings about a change of code that all faces report. Findings about the registry itself
/// are reported in a different place by each face.
const OF_CODE: [Code; 4] =
    [Code::ScopeViolation, Code::ProtectedPath, Code::IgnoredPath, Code::UnknownIntent];

type Told = BTreeSet<(String, String)>;

fn of_code(answer: &CheckAnswer) -> Told {
    let all =
        answer.findings.iter().filter(|it| OF_CODE.iter().any(|code| code.as_str() == it.code));
    all.map(|it| (it.path.clone().unwrap_or_default(), it.code.clone())).collect()
}

fn checked(editor: &Editor, against: ComparedSides, intent: Option<String>) -> CheckAnswer {
    let request = CheckRequest { intent, with_class: true, against, ..check_request() };
    check::change(editor.workspace(), &request).expect("checked")
}

fn all_say_the_same(editor: &mut Editor) {
    let answer = checked(editor, ComparedSides::Head, None);
    let expected = of_code(&answer);
    let root = editor.workspace().root.path().to_owned();

    // The editor: the findings of every file that can be opened.
    let mut shown = Told::new();
    for path in FILES.iter().chain(&NEW) {
        let Ok(text) = std::fs::read_to_string(root.join(path)) else { continue };
        editor.open(path, &text);
        let snapshot = editor.snapshot();
        let found =
            diagnostics::findings(&workspace_view::governed(&snapshot, &editor.uri(path)).unwrap());
        let found = found.into_iter().filter(|it| OF_CODE.contains(&it.code));
        shown.extend(found.map(|it| ((*path).to_owned(), it.code.as_str().to_owned())));
    }
    let stands = |(path, _): &&(String, String)| root.join(path).is_file();
    let standing: Told = expected.iter().filter(stands).cloned().collect();
    assert_eq!(shown, standing, "the editor, and `check`");

    // The gate: it must deny a write for the same reason if the selected intent is responsible for
    // the file.
    let workspace = editor.workspace();
    for (path, code) in &expected {
        let finding = answer
            .findings
            .iter()
            .find(|it| it.path.as_ref() == Some(path) && it.code == *code && it.intent.is_some());
        let Some(id) = finding.and_then(|it| it.intent.clone()) else { continue };
        let wanted = GateRequest { paths: vec![path.clone()], session: None, intent: Some(id) };
        let decision = gate::judge(workspace, &wanted);
        assert!(matches!(decision, Decision::Deny(_)), "the gate lets {path} pass: {decision:?}");
    }
    let in_progress = |id: &String| workspace.registry.get(id).is_some_and(|it| it.in_progress());
    if let Some(id) = workspace.selected(None).filter(in_progress) {
        for path in FILES.iter().chain(&NEW) {
            let wanted =
                GateRequest { paths: vec![(*path).to_owned()], session: None, intent: None };
            let denied = gate::judge(workspace, &wanted) != Decision::NoOpinion;
            let by = |it: &&FindingAnswer| {
                it.path.as_deref() == Some(path) && it.intent.as_deref() == Some(&id)
            };
            let found = answer.findings.iter().filter(by).any(|it| it.level == Level::Error);
            assert!(denied || !found, "`check` finds {path} under {id}, and the gate does not");
        }
    }

    // The verbs that count, list and classify.
    let counts = (answer.summary.errors, answer.summary.warnings);
    let status = status::status(workspace, None);
    assert_eq!((status.errors, status.warnings), counts, "`status`, and `check`");
    let reported = report::report(workspace).expect("a report");
    let is_found = |it: &FindingAnswer| answer.findings.contains(it);
    let worst = status.worst.as_ref();
    assert!(worst.is_none_or(is_found) && worst.is_some() == (counts != (0, 0)), "{worst:?}");
    let is_error = worst.is_some_and(|it| it.level == Level::Error);
    assert_eq!(is_error, status.errors > 0, "an error comes first: {worst:?}");
    let missing = answer.findings.iter().filter(|it| !reported.findings.contains(it));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&FindingAnswer>::new(), "`report`");
    let errors = reported.findings.iter().filter(|it| it.level == Level::Error);
    assert!(errors.clone().all(is_found), "`report` has more errors: {:?}", reported.findings);
    let mapped = map::map(workspace).expect("a map").change.map(|it| (it.class, it.reasons));
    let change = answer.change.clone().filter(|it| !it.reasons.is_empty());
    assert_eq!(mapped, change.map(|it| (it.class, it.reasons)), "`map`, and `check`");

    // `record` warns about what `check` will find.
    let selected = workspace.selected(None).filter(in_progress);
    if let Some(id) = &selected {
        for path in FILES.iter().chain(&NEW).filter(|path| root.join(path).is_file()) {
            let answer = judged_record::record(workspace, &recorded(path, id)).expect("recorded");
            let Some(file) = answer.recorded.first() else { continue };
            editor_says(workspace, path, id, file.against.is_some());
        }
        editor.reload();
    }

    // The same work is checked staged, and in a commit that is compared with its base.
    if root.join(".git/MERGE_HEAD").exists() {
        return;
    }
    let expected = of_code(&checked(editor, ComparedSides::Head, None));
    git(&root, &["add", "-A"]);
    editor.reload();
    assert_eq!(
        of_code(&checked(editor, ComparedSides::Staged, None)),
        expected,
        "`check --staged`"
    );
    let base = editor.workspace().head().expect("a commit").clone();
    let then = editor.workspace().at_commit(base.clone(), None).expect("readable");
    if try_git(&root, &["commit", "-qm", "all of it"]) {
        editor.reload();
        let merged = of_code(&checked(editor, ComparedSides::Base(base.0), None));
        // A scope that was widened on this machine is accepted here, but not where the commit is
        // merged.
        let owned = |path: &str, ws: &why::Workspace| {
            let path = RelativePath::new(path).unwrap();
            INTENTS.map(|id| ws.registry.scope(id).is_some_and(|scope| scope.owns(&path)))
        };
        let is_same =
            |(path, _): &&(String, String)| owned(path, &then) == owned(path, editor.workspace());
        let same = |told: &Told| told.iter().filter(is_same).cloned().collect::<Told>();
        assert_eq!(same(&merged), same(&expected), "`check --base`");
        assert!(merged.is_superset(&expected), "`check --base` finds less: {merged:?}");
    }
}

fn editor_says(ws: &why::Workspace, path: &str, id: &str, against: bool) {
    let ws = ws.clone().with_records_of_now();
    let answer = check::change(&ws, &CheckRequest::default()).expect("checked");
    let told = of_code(&answer);
    let found = told.iter().any(|(at, _)| at == path);
    assert_eq!(against, found, "`record` of {path} under {id}, and `check` after it: {told:?}");
}

/// Unrecorded work in a file of one intent, beside work of the other intent in another file. It stands, it
/// is a removal, or a person has put the file back.
#[test]
#[ignore = "slow"]
fn the_faces_agree_about_work_beside_that_of_another_intent() {
    use EditorStep::{Cut, Delete, Edit, Record};
    let stands = [Edit(2, 1), Record(2, 1), Edit(0, 2)];
    let is_removal = [Cut(0), Delete(6), Record(6, 1)];
    let is_put_back = [Edit(2, 1), Record(2, 1), Edit(0, 2), EditorStep::PutBack(2)];
    for (steps, is_outside) in [(&stands[..], true), (&is_removal, true), (&is_put_back, false)] {
        let mut editor = Editor::in_git(START);
        steps.iter().for_each(|step| take(&mut editor, step));
        let told = of_code(&checked(&editor, ComparedSides::Head, None));
        let outside = ("src/a.rs".to_owned(), Code::ScopeViolation.as_str().to_owned());
        assert_eq!(told.contains(&outside), is_outside, "{steps:?}: {told:?}");
        all_say_the_same(&mut editor);
    }
}

#[test]
#[ignore = "slow"]
fn the_faces_agree_about_any_state() {
    let all = std::env::var("INTENT_TEST_ALL").is_ok_and(|value| value == "1");
    let config = Config {
        cases: if all { 60 } else { 8 },
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let states = proptest::collection::vec(step(), 1..9);
    let agreed = runner.run(&states, |steps| {
        let mut editor = Editor::in_git(START);
        for step in &steps {
            take(&mut editor, step);
        }
        all_say_the_same(&mut editor);
        Ok(())
    });
    agreed.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn no_face_reports_what_init_writes() {
    let mut editor = Editor::in_git(&format!("{START}//- /.github/CODEOWNERS closed\n* @ada\n"));
    select::select(editor.workspace(), "INT-001", None).unwrap();
    let environment = ground::Environment::of_process();
    overview::team::team(&editor.path(""), &["@ada".to_owned()], &environment).unwrap();
    editor.reload();
    let written = [".github/CODEOWNERS", ".github/workflows/intent.yml"];
    for path in written {
        let text = std::fs::read_to_string(editor.path(path)).unwrap();
        editor.open(path, &text);
    }
    let found = |editor: &Editor| -> Vec<usize> {
        let snapshot = editor.snapshot();
        let shown = |path: &&str| diagnostics::diagnose(&snapshot, &editor.uri(path)).len();
        let status = status::status(editor.workspace(), None);
        let reported = report::report(editor.workspace()).expect("a report").findings;
        let reported = reported.iter().filter(|it| it.level == Level::Error).count();
        written.iter().map(shown).chain([status.errors, reported]).collect()
    };
    assert_eq!(found(&editor), [0, 0, 0, 0]);
    // A line that a person adds is an edit of theirs.
    let path = editor.path(written[0]);
    let text = std::fs::read_to_string(&path).unwrap() + "/lib @bob\n";
    editor.write(written[0], &text);
    editor.open(written[0], &text);
    editor.reload();
    assert_eq!(found(&editor), [1, 0, 1, 1]);
}
