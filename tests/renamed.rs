//! A renamed intent still owns what was recorded under its former ids, because the ledger is never rewritten.

use crate::support::binary::function;
use crate::support::{REGISTRY, Repo, relative};
use evidence::record::RecordExtent;
use evidence::verify;
use intents::{Registry, RegistryEdit, edit};
use judgement::gate::{self, Decision, GateRequest};
use judgement::{check, map};
use overview::select;
use overview::status;
use why::answers;
use why::trace::{TraceRequest, trace};

const PLACE: &str = ".orchestration/active_intents.yaml";

/// Renames an intent in the registry, as the rename of an editor does.
fn rename(repo: &Repo, from: &str, to: &str) {
    let wanted = RegistryEdit::Rename { from: from.into(), to: to.into() };
    let planned = edit::plan(&repo.open().registry, &wanted).expect("a rename");
    repo.write(PLACE, &planned.text);
}

fn recorded() -> Repo {
    let repo = Repo::new();
    repo.write("src/a.rs", &(function("a", 1) + &function("b", 2)));
    repo.record("INT-001", &["src/a.rs"]);
    repo.commit("one");
    repo
}

/// Returns `code intent` of every finding about the registry, the ledger and the change.
fn findings(repo: &Repo, base: &str) -> Vec<String> {
    let answer = check::change(
        &repo.open(),
        &check::CheckRequest::for_sides(check::ComparedSides::Base(base.into())),
    )
    .expect("judged");
    // The commits are made without hooks.
    let told = answer.findings.into_iter().filter(|it| it.code != "evidence-missing");
    told.map(|it| format!("{} {}", it.code, it.intent.unwrap_or_default())).collect()
}

/// Returns the numbers of blocks and of files that `list --count` shows for an intent.
fn counts(repo: &Repo, id: &str) -> (usize, usize) {
    let (all, _) = select::list_with_counts(&repo.open()).expect("a list");
    let one = all.into_iter().find(|one| one.id == id).expect("it is listed");
    (one.blocks.expect("counted"), one.files.expect("counted"))
}

fn mapped(repo: &Repo) -> Vec<(String, usize)> {
    let answer = map::map(&repo.open()).expect("a map");
    let blocks = |files: &[map::MappedFile]| files.iter().map(|file| file.blocks.len()).sum();
    answer.intents.iter().map(|it| (it.id.clone(), blocks(&it.files))).collect()
}

fn traced(repo: &Repo, id: &str) -> Vec<String> {
    let request = TraceRequest { intent: Some(id.into()), path: None };
    let ws = repo.open();
    let found = trace(&ws, &request).expect("records");
    found.into_iter().filter_map(|entry| entry.record.intent_id).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn records_of_the_former_id_belong_to_the_renamed_intent() {
    let repo = recorded();
    rename(&repo, "INT-001", "AUTH-1");
    assert!(repo.read(PLACE).starts_with(
        "active_intents:\n  - id: AUTH-1\n    formerly: [\"INT-001\"]\n    name: Sign in\n"
    ));
    assert_eq!(repo.picture("src/a.rs"), "exact AUTH-1 function a\nexact AUTH-1 function b\n");
    let answer =
        answers::on_disk(&repo.open(), &relative("src/a.rs"), answers::Which::Line(1)).unwrap();
    let intent = answer.blocks[0].intent.clone().unwrap();
    assert_eq!(intent.name.as_deref(), Some("Sign in"));
    assert_eq!(counts(&repo, "AUTH-1"), (2, 1));
    let expected = [("AUTH-1", 2), ("INT-002", 0), ("INT-003", 0)];
    assert_eq!(mapped(&repo), expected.map(|(id, blocks)| (id.to_owned(), blocks)));
    let codes: Vec<String> =
        verify::verify(&repo.open()).findings.into_iter().map(|it| it.code).collect();
    assert_eq!(codes, NONE);
    // Either id finds the record, which is shown as it is.
    assert_eq!(traced(&repo, "AUTH-1"), ["INT-001"]);
    assert_eq!(traced(&repo, "INT-001"), ["INT-001"]);
}

#[test]
fn new_records_have_the_new_id_and_old_ones_keep_theirs() {
    let repo = recorded();
    rename(&repo, "INT-001", "AUTH-1");
    // The former id names the same intent.
    repo.write("src/b.rs", &function("c", 3));
    repo.record("INT-001", &["src/b.rs"]);
    assert_eq!(traced(&repo, "AUTH-1"), ["INT-001", "AUTH-1"]);
    assert_eq!(repo.picture("src/b.rs"), "exact AUTH-1 function c\n");
    assert_eq!(counts(&repo, "AUTH-1"), (3, 2));
    // A file with blocks under both ids is counted once.
    repo.write("src/a.rs", &(function("a", 1) + &function("b", 9)));
    repo.record("AUTH-1", &["src/a.rs"]);
    let files = map::map(&repo.open()).unwrap().intents.remove(0).files;
    let shown: Vec<(&str, usize)> =
        files.iter().map(|file| (file.path.as_str(), file.blocks.len())).collect();
    assert_eq!(shown, [("src/a.rs", 2), ("src/b.rs", 1)]);
    assert_eq!(counts(&repo, "AUTH-1"), (3, 2));
    // What is recorded under the former id is not recorded again.
    let again = repo.record_as("AUTH-1", &["src/a.rs"], RecordExtent::WholeFile);
    assert!(again.recorded.is_empty(), "{again:?}");
}

#[test]
fn a_change_is_judged_by_the_scope_of_the_renamed_intent() {
    let repo = recorded();
    let before = repo.git(&["rev-parse", "HEAD~1"]).trim().to_owned();
    rename(&repo, "INT-001", "AUTH-1");
    assert_eq!(findings(&repo, &before), NONE);
    let narrow = repo.read(PLACE).replace("src/**", "lib/**");
    repo.write(PLACE, &narrow);
    let expected = ["registry-changed AUTH-1", "scope-violation AUTH-1"];
    assert_eq!(findings(&repo, &before), expected);
}

#[test]
fn a_selection_of_the_former_id_means_the_renamed_intent() {
    let repo = recorded();
    select::select(&repo.open(), "INT-001", None).unwrap();
    select::select(&repo.open(), "INT-001", Some("host:1")).unwrap();
    rename(&repo, "INT-001", "AUTH-1");
    let ws = repo.open();
    assert_eq!(ws.selected(None).as_deref(), Some("AUTH-1"));
    assert_eq!(ws.selected(Some("host:1")).as_deref(), Some("AUTH-1"));
    assert!(status::status(&ws, None).selected.is_some_and(|it| it.id == "AUTH-1" && it.selected));
    let judged = |intent: Option<&str>, path: &str| {
        let request = GateRequest {
            paths: vec![path.to_owned()],
            session: Some("host:1".to_owned()),
            intent: intent.map(str::to_owned),
        };
        gate::judge(&ws, &request)
    };
    for intent in [None, Some("INT-001"), Some("AUTH-1")] {
        assert_eq!(judged(intent, "src/x.rs"), Decision::NoOpinion);
        let Decision::Deny(denial) = judged(intent, "billing/x.rs") else { panic!("{intent:?}") };
        assert_eq!(denial.intent.as_deref(), Some("AUTH-1"));
    }
    ground::session::keep_time_of_write(&ws.root, "host:1").unwrap();
    // Selecting the former id does not change the selection.
    let answer = select::select(&ws, "INT-001", None).unwrap();
    assert_eq!((answer.intent.id.as_str(), answer.previous), ("AUTH-1", None));
    assert_eq!(answer.sessions[0].intent, "AUTH-1");
}

#[test]
fn an_intent_can_be_renamed_twice_and_back() {
    let repo = recorded();
    rename(&repo, "INT-001", "AUTH-1");
    repo.write("src/b.rs", &function("c", 3));
    repo.record("AUTH-1", &["src/b.rs"]);
    rename(&repo, "AUTH-1", "SIGN-1");
    assert!(repo.read(PLACE).contains("formerly: [\"INT-001\", \"AUTH-1\"]\n"));
    assert_eq!(counts(&repo, "SIGN-1"), (3, 2));
    assert_eq!(traced(&repo, "AUTH-1"), ["INT-001", "AUTH-1"]);
    rename(&repo, "SIGN-1", "INT-001");
    assert!(repo.read(PLACE).contains("id: INT-001\n    formerly: [\"SIGN-1\", \"AUTH-1\"]\n"));
    assert_eq!(counts(&repo, "INT-001"), (3, 2));
    assert_eq!(verify::verify(&repo.open()).findings.len(), 0);
    // No other intent may take a former id.
    let wanted = RegistryEdit::Rename { from: "INT-002".into(), to: "AUTH-1".into() };
    assert!(edit::plan(&repo.open().registry, &wanted).is_err());
}

#[test]
fn an_id_that_two_intents_had_is_a_finding_and_means_neither() {
    let repo = recorded();
    let claimed = |at: &str| REGISTRY.replace(at, &format!("{at}\n    formerly: [OLD-1, INT-001]"));
    // The intent that has the id now owns the records with it.
    repo.write(PLACE, &claimed("name: Billing"));
    assert_eq!(repo.picture("src/a.rs"), "exact INT-001 function a\nexact INT-001 function b\n");
    assert_eq!(findings(&repo, "HEAD"), [""; 0]);
    // Two other intents had the id, so the intent of the records is unknown.
    let two = claimed("name: Billing").replace("Old times", "Old times\n    formerly: [INT-001]");
    repo.write(PLACE, &two.replace("id: INT-001", "id: AUTH-1"));
    let found = findings(&repo, "HEAD");
    assert!(found.contains(&"duplicate-id INT-003".to_owned()), "{found:?}");
    assert!(found.contains(&"unknown-intent INT-001".to_owned()), "{found:?}");
    assert_eq!((counts(&repo, "INT-002"), counts(&repo, "INT-003")), ((0, 0), (0, 0)));
}

#[test]
fn a_rename_hides_no_other_change_of_the_registry() {
    let repo = recorded();
    rename(&repo, "INT-001", "AUTH-1");
    assert_eq!(findings(&repo, "HEAD"), NONE);
    let renamed = repo.read(PLACE);
    let told = |text: &str| {
        repo.write(PLACE, text);
        // A change of another file, because a change of the registry alone is no finding.
        repo.write("notes.txt", "A note.\n");
        let found = findings(&repo, "HEAD").into_iter();
        found.filter(|it| !it.starts_with("unrecorded")).collect::<Vec<_>>()
    };
    assert_eq!(told(&renamed.replace("src/**", "**")), ["registry-changed AUTH-1"]);
    let begin = "  - id: INT-002\n    name: Billing\n";
    // Claiming the former id of another intent is a finding.
    let (one, rest) = REGISTRY.split_once(begin).unwrap();
    assert!(one.contains("INT-001"));
    let taken = format!("active_intents:\n{begin}    formerly: [INT-001]\n{rest}");
    assert_eq!(told(&taken)[..1], ["registry-changed INT-002"],);
}

#[test]
fn a_registry_without_former_ids_is_read() {
    let registry = Registry::parse(relative(PLACE), REGISTRY);
    assert_eq!(registry.ids("INT-001"), ["INT-001"]);
    assert_eq!(registry.ids("INT-009"), ["INT-009"]);
    assert_eq!(registry.present_id("INT-009"), "INT-009");
    assert!(registry.get("").is_none());
}

#[test]
fn a_file_with_one_intent_is_compared_with_the_base() {
    let repo = recorded();
    let beside = ".orchestration/intents/NEW-1.yaml";
    let new = "id: NEW-1\nname: New\nstatus: IN_PROGRESS\nowned_scope: [\"new/**\"]\n";
    repo.write(beside, new);
    assert_eq!(findings(&repo, "HEAD"), NONE, "reviewers see a new intent");
    repo.commit("two");
    repo.write(beside, &new.replace("new/**", "old/*/**"));
    repo.write("old/a/notes.txt", "A note.\n");
    let answer = check::change(
        &repo.open(),
        &check::CheckRequest::for_sides(check::ComparedSides::Base("HEAD".into())),
    )
    .expect("judged");
    let found = answer.findings.iter().find(|it| it.code == "registry-changed").expect("a finding");
    assert_eq!((found.path.as_deref(), found.start_line), (Some(beside), Some(1)));
    repo.remove("old/a/notes.txt");
    // Moving an intent from the list to a file of its own is no finding.
    repo.write(beside, new);
    let entry = "  - id: INT-003\n    name: Old times\n    status: COMPLETED\n    owned_scope: [\"old/**\"]\n";
    assert!(REGISTRY.contains(entry));
    repo.write(PLACE, &REGISTRY.replace(entry, ""));
    let alone = entry.replace("  - id", "id").replace("    ", "");
    repo.write(".orchestration/intents/INT-003.yaml", &alone);
    assert_eq!(findings(&repo, "HEAD"), NONE);
}
