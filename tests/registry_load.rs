//! Where a registry is found, and which files are never read.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ground::{Code, Finding, RelativePath, Root};
use intents::dialect::Field;
use intents::sources::unit_of_path;
use intents::{EditError, IntentEntry, Registry, RegistryEdit, Status, edit, lint};

use crate::support::{Repo, temporary_folder};

const ONE: &str =
    "active_intents:\n  - id: A\n    name: a\n    status: IN_PROGRESS\n    owned_scope: [src/**]\n";

fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let folder = temporary_folder();
    fs::create_dir_all(folder.path().join(".orchestration/Artifacts")).expect("its folders");
    for (path, text) in files {
        fs::write(folder.path().join(path), text).expect("its files");
    }
    let root = Root::find(folder.path(), &ground::Environment::of_process()).expect("a root");
    (folder, root)
}

#[test]
fn a_missing_registry_is_empty_and_canonical() {
    let (_folder, root) = workspace(&[]);
    let registry = Registry::load(&root);
    assert!(
        !registry.exists() && registry.syntax_error().is_none() && registry.intents().is_empty()
    );
    assert_eq!(registry.path().as_str(), ".orchestration/active_intents.yaml");
}

#[test]
fn the_canonical_path_comes_first_and_the_others_in_order() {
    let places = [
        ".orchestration/active_intents.yaml",
        ".orchestration/active_intents.yml",
        ".orchestration/intents.yaml",
        ".orchestration/Artifacts/active_intents.yaml",
        "active_intents.yaml",
    ];
    for at in 0..places.len() {
        let files: Vec<(&str, &str)> = places[at..].iter().map(|place| (*place, ONE)).collect();
        let (_folder, root) = workspace(&files);
        let registry = Registry::load(&root);
        assert_eq!(registry.path().as_str(), places[at]);
        assert!(registry.exists() && registry.get("A").is_some());
    }
}

#[test]
fn owners_and_intents_are_found_by_path_and_by_byte() {
    let registry = Registry::parse(RelativePath::new("r.yaml").unwrap(), ONE);
    let path = RelativePath::new("src/a.ts").unwrap();
    assert_eq!(registry.owners(&path).len(), 1);
    assert!(registry.scope("A").unwrap().owns(&path));
    assert!(registry.owners(&RelativePath::new("docs/a.md").unwrap()).is_empty());
    assert!(registry.list().intent_at(ONE.find("status").unwrap()).is_some());
    assert!(registry.list().intent_at(0).is_none());
}

fn refused(root: &Root, code: Code) {
    let registry = Registry::load(root);
    assert!(registry.exists() && registry.intents().is_empty());
    assert_eq!(registry.syntax_error().map(|error| error.code), Some(code));
    assert_eq!(lint::registry(&registry).len(), 1);
    let edit = RegistryEdit::SetStatus { id: "A".into(), status: Status::Draft };
    assert!(matches!(edit::plan(&registry, &edit), Err(EditError::Broken { .. })));
}

/// A file at the canonical path that cannot be read is not replaced by a file at another path.
#[test]
fn an_unreadable_registry_is_reported_and_not_overwritten() {
    let canonical = ".orchestration/active_intents.yaml";
    let (folder, root) = workspace(&[(".orchestration/intents.yaml", ONE)]);
    let place = folder.path().join(canonical);
    fs::create_dir(&place).unwrap();
    refused(&root, Code::RegistrySyntax);
    fs::remove_dir(&place).unwrap();
    fs::write(&place, [b'a', b':', 0xff]).unwrap();
    refused(&root, Code::RegistrySyntax);
    fs::write(&place, vec![b'#'; 1024 * 1024 + 1]).unwrap();
    refused(&root, Code::RegistryTooLarge);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_not_followed() {
    let outside = temporary_folder();
    fs::write(outside.path().join("r.yaml"), ONE).unwrap();
    let (folder, root) = workspace(&[]);
    let place = folder.path().join(".orchestration/active_intents.yaml");
    link(&outside.path().join("r.yaml"), &place);
    refused(&root, Code::RegistrySyntax);
    fs::remove_file(&place).unwrap();
    fs::write(folder.path().join("here.yaml"), ONE).unwrap();
    link(Path::new("../here.yaml"), &place);
    assert!(Registry::load(&root).get("A").is_some());
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).expect("a link");
}

#[cfg(unix)]
#[test]
fn an_unchanged_registry_comes_from_the_cache() {
    let (folder, root) = workspace(&[(".orchestration/active_intents.yaml", ONE)]);
    fs::create_dir_all(folder.path().join(".orchestration/local")).expect("a folder");
    let kept = folder.path().join(".orchestration/local/cache");
    let rest = || std::thread::sleep(std::time::Duration::from_millis(40));
    rest();
    assert_eq!(Registry::load(&root).intents().len(), 1);
    let slots: Vec<_> = fs::read_dir(&kept).expect("a cache").map(|slot| slot.unwrap()).collect();
    assert_eq!(slots.len(), 1, "{slots:?}");
    let again = Registry::load(&root);
    assert_eq!(again.text().as_ref(), ONE);
    assert!(again.scope("A").unwrap().owns(&RelativePath::new("src/a.ts").unwrap()));

    // An incomplete entry of the cache is not used.
    let slot = slots[0].path();
    let honest = fs::read(&slot).expect("a slot");
    fs::write(&slot, &honest[..honest.len() - 1]).expect("a torn slot");
    assert_eq!(Registry::load(&root).intents().len(), 1, "it is parsed again");
    assert_eq!(fs::read(&slot).expect("a slot"), honest, "and stored again");

    let two = format!("{ONE}  - id: B\n    name: b\n    status: DRAFT\n    owned_scope: []\n");
    fs::write(folder.path().join(".orchestration/active_intents.yaml"), &two).expect("a file");
    assert_eq!(Registry::load(&root).intents().len(), 2, "at once");
    assert_eq!(
        fs::read(&slot).expect("a slot"),
        honest,
        "the file changed too recently to be stored"
    );
    rest();
    assert_eq!(Registry::load(&root).intents().len(), 2);
    assert_ne!(fs::read(&slot).expect("a slot"), honest);
}

const LIST: &str = ".orchestration/active_intents.yaml";
const BESIDE: &str = ".orchestration/intents/B.yaml";
const B: &str = "id: B\nname: b\nstatus: IN_PROGRESS\nowned_scope: [docs/**]\nformerly: [OLD-B]\n";

/// A workspace with a folder for files with one intent each.
fn with_files(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let (folder, root) = workspace(&[]);
    fs::create_dir_all(folder.path().join(".orchestration/intents")).expect("a folder");
    for (path, text) in files {
        fs::write(folder.path().join(path), text).expect("its files");
    }
    (folder, root)
}

/// Returns `code path:line` of every finding.
fn told(registry: &Registry) -> Vec<String> {
    let findings = lint::registry(registry);
    let path = |it: &Finding| it.path.as_ref().map_or(String::new(), ToString::to_string);
    let line = |it: &Finding| it.lines.map_or(0, |lines| lines.start());
    findings.iter().map(|it| format!("{} {}:{}", it.code.as_str(), path(it), line(it))).collect()
}

#[test]
fn a_file_with_one_intent_is_read_with_the_list() {
    let (folder, root) = with_files(&[(LIST, ONE), (BESIDE, B)]);
    // None of these is an intent: a page, the lock file of an editor, a file without an ending.
    for name in ["README.md", ".#B.yaml", "sub"] {
        fs::write(folder.path().join(".orchestration/intents").join(name), "[").expect("a file");
    }
    let registry = Registry::load(&root);
    let ids: Vec<&str> = registry.intents().iter().map(|intent| intent.id.value.as_str()).collect();
    assert_eq!(ids, ["A", "B"]);
    assert_eq!(registry.ids("OLD-B"), ["B", "OLD-B"]);
    let docs = RelativePath::new("docs/a.md").unwrap();
    assert!(registry.scope("B").unwrap().owns(&docs) && !registry.scope("A").unwrap().owns(&docs));
    assert_eq!(registry.owners(&docs)[0].id.value, "B");
    assert_eq!(told(&registry), [""; 0], "this is the canonical form");
    let (file, intent) = registry.intent_with_file("B").unwrap();
    assert_eq!(&file.text()[intent.owned_scope[0].span.clone()], "docs/**");
    assert_eq!(registry.syntax_error(), None);
    assert!(registry.same_text(&Registry::load(&root)));
    fs::write(folder.path().join(BESIDE), B.replace("docs", "doc")).unwrap();
    assert!(!registry.same_text(&Registry::load(&root)));
    // A registry needs no list.
    fs::remove_file(folder.path().join(LIST)).unwrap();
    let registry = Registry::load(&root);
    assert!(registry.exists() && registry.get("B").is_some());
}

#[test]
fn an_edit_changes_the_file_that_defines_the_intent() {
    let (_folder, root) = with_files(&[(LIST, ONE), (BESIDE, B)]);
    let registry = Registry::load(&root);
    let planned = |edit: RegistryEdit| {
        let planned = edit::plan(&registry, &edit).expect("an edit");
        (planned.path.to_string(), planned.text)
    };
    let status = |id: &str| RegistryEdit::SetStatus { id: id.into(), status: Status::Completed };
    let completed = |text: &str| text.replace("IN_PROGRESS", "COMPLETED");
    assert_eq!(planned(status("A")), (LIST.to_owned(), completed(ONE)));
    assert_eq!(planned(status("B")), (BESIDE.to_owned(), completed(B)));
    let widen =
        RegistryEdit::AddEntry { id: "B".into(), field: Field::Scope, entry: "src/x".into() };
    let wider = B.replace("docs/**", "docs/**, src/x");
    assert_eq!(planned(widen), (BESIDE.to_owned(), wider));
    let rename = RegistryEdit::Rename { from: "B".into(), to: "C".into() };
    let renamed = B.replace("id: B", "id: C").replace("[OLD-B]", "[OLD-B, B]");
    assert_eq!(planned(rename), (BESIDE.to_owned(), renamed));
    for taken in ["A", "B", "OLD-B"] {
        let new = IntentEntry { id: taken.into(), name: "n".into(), ..IntentEntry::default() };
        assert!(edit::plan(&registry, &RegistryEdit::Add(new)).is_err(), "{taken}");
    }
    let new = IntentEntry { id: "D-1".into(), name: "d".into(), ..IntentEntry::default() };
    let own = "id: D-1\nname: d\nstatus: DRAFT\nowned_scope: []\n";
    let at = ".orchestration/intents/D-1-d.yaml";
    assert_eq!(planned(RegistryEdit::Add(new)), (at.to_owned(), own.to_owned()));
}

#[test]
fn an_id_that_is_defined_twice_means_no_intent() {
    let twice = B.replace("id: B", "id: A");
    let (folder, root) = with_files(&[(LIST, ONE), (".orchestration/intents/A.yaml", &twice)]);
    let registry = Registry::load(&root);
    assert_eq!(registry.intents().len(), 2);
    assert!(registry.get("A").is_none() && registry.scope("A").is_none());
    assert_eq!(
        registry.definitions_of("A"),
        [format!("{LIST}:2"), ".orchestration/intents/A.yaml:1".into()]
    );
    assert_eq!(told(&registry), ["duplicate-id .orchestration/intents/A.yaml:1"]);
    let edit = RegistryEdit::SetStatus { id: "A".into(), status: Status::Draft };
    let refused = edit::plan(&registry, &edit).unwrap_err().to_string();
    assert!(refused.contains("A.yaml:1") && refused.contains(&format!("{LIST}:2")), "{refused}");
    // After one definition is removed, the other one counts again.
    fs::remove_file(folder.path().join(LIST)).unwrap();
    assert!(Registry::load(&root).get("A").is_some());
}

#[test]
fn a_file_with_one_intent_is_named_after_it() {
    for (text, expected) in [
        (B.replace("id: B", "id: C"), vec!["invalid-id .orchestration/intents/B.yaml:1"]),
        (B.replace("id: B\n", ""), vec!["missing-field .orchestration/intents/B.yaml:1"]),
        ("- id: B\n".to_owned(), vec!["registry-dialect .orchestration/intents/B.yaml:1"]),
        ("# nothing yet\n".to_owned(), vec![]),
        ("id: [\n".to_owned(), vec!["registry-syntax .orchestration/intents/B.yaml:2"]),
    ] {
        let (_folder, root) = with_files(&[(LIST, ONE), (BESIDE, &text)]);
        let registry = Registry::load(&root);
        assert_eq!(told(&registry), expected, "{text}");
        let broken =
            registry.syntax_error().map(|error| error.place_in_compiler_form(registry.path()));
        let place = text.contains("id: [").then(|| format!("{BESIDE}:2"));
        assert_eq!(broken, place, "{text}");
    }
}

const OURS: &str = "  - id: A-2\n    name: ours\n    status: DRAFT\n";
const THEIRS: &str = "  - id: A-2\n    name: theirs\n    status: DRAFT\n    owned_scope: []\n";

/// A byte order mark counts, and for JSON only a line feed ends a line.
#[test]
fn an_error_in_json_is_where_it_is_written() {
    let path = || RelativePath::new(".orchestration/active_intents.json").unwrap();
    for text in ["{\"x\": [?]}", "\u{feff}{\"x\": [?]}", "\u{feff}{\r\"x\":\r\n [?]}"] {
        let registry = Registry::parse(path(), text);
        let span = registry.syntax_error().and_then(|error| error.span.clone());
        assert_eq!(span.map(|span| span.start), text.find('?'), "{text:?}");
    }
}

#[test]
fn a_merge_conflict_in_the_registry_says_what_to_do() {
    let list = ONE.replace("id: A", "id: A-1");
    let path = || RelativePath::new(LIST).unwrap();
    let both = format!("{list}<<<<<<< HEAD\n{OURS}=======\n{THEIRS}>>>>>>> other\n");
    let registry = Registry::parse(path(), &both);
    let found = registry.syntax_error().expect("a finding");
    assert_eq!(found.code, Code::RegistrySyntax);
    assert_eq!(found.place_in_compiler_form(registry.path()), format!("{LIST}:6"));
    assert_eq!(found.message, "The registry holds a merge conflict in the lines 6 to 15.");
    for said in ["`intent setup merge-registry`", "\"ours\"", "\"theirs\""] {
        assert!(found.help.contains(said), "{said}: {}", found.help);
    }
    // In a list in brackets, the markers would be read as entries.
    let flow = "active_intents: [\n<<<<<<< HEAD\n=======\n>>>>>>> other\n]\n";
    let found = Registry::parse(path(), flow).syntax_error().cloned().expect("a finding");
    assert!(found.message.contains("merge conflict"), "{}", found.message);
    let single = "<<<<<<< HEAD\nid: B\nname: b\n=======\nid: B\nname: other\n>>>>>>> other\n";
    let found = Registry::parse(RelativePath::new(BESIDE).unwrap(), single);
    let help = &found.syntax_error().expect("a finding").help;
    assert!(
        help.contains("`intent setup merge-registry`")
            && help.contains("the second gets another id"),
        "{help}"
    );
}

#[test]
fn an_adopted_intent_is_the_same_on_disk_in_the_index_and_at_the_commit() {
    let repo = Repo::new();
    repo.write(
        "openspec/changes/add-login/proposal.md",
        "# Change: Add a login\n## Why\nPeople.\n",
    );
    repo.write("openspec/changes/add-login/tasks.md", "- [x] 1.1 a\n- [ ] 1.2 b\n");
    repo.git(&["checkout", "-qb", "feature/add-login"]);
    let id = "openspec:add-login";
    assert_eq!(unit_of_path("openspec/changes/add-login/tasks.md").as_deref(), Some(id));
    let registry = Arc::clone(&repo.open().registry);
    let current = registry.current_work();
    assert_eq!(current.iter().map(|one| one.intent.id.value.as_str()).collect::<Vec<_>>(), [id]);
    assert_eq!(registry.imported_intent(id).and_then(|one| one.reason.as_deref()), Some("People."));
    assert!(registry.all_intents().any(|intent| intent.id.value == id));
    let scope = vec!["src/login/**".to_owned()];
    let adopt = RegistryEdit::Adopt { id: id.into(), status: Some(Status::InProgress), scope };
    let planned = edit::plan(&registry, &adopt).expect("an edit");
    repo.write(planned.path.as_str(), &planned.text);
    repo.commit("adopt");
    let ws = repo.open();
    let head = ws.head().cloned().expect("a commit");
    let versions = [ws.at_index_alone(), ws.at_commit(head, None), Ok(ws)];
    let seen = versions.map(|ws| {
        let ws = ws.expect("a workspace");
        let intent = ws.registry.get(id).expect("the intent");
        (
            intent.hash(),
            intent.name.value.clone(),
            intent.in_progress(),
            ws.registry.imported().len(),
        )
    });
    assert_eq!(seen[0].1, "Add a login");
    assert!(seen.iter().all(|version| *version == seen[0]), "{seen:?}");
    repo.git(&["mv", "openspec/changes/add-login", "openspec/changes/archive-login"]);
    let gone = repo.open();
    assert!(gone.registry.get(id).is_some_and(|intent| intent.in_progress()), "the file says so");
}
