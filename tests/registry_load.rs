//! Where a registry is found, and what is never read.

use std::fs;
use std::path::Path;

use intent_lsp::intent::{EditError, Registry, RegistryEdit, Status, edit, lint};
use intent_lsp::workspace::{Code, RelativePath, Root};

const ONE: &str =
    "active_intents:\n  - id: A\n    name: a\n    status: IN_PROGRESS\n    owned_scope: [src/**]\n";

fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join(".orchestration/Artifacts")).expect("its folders");
    for (path, text) in files {
        fs::write(folder.path().join(path), text).expect("its files");
    }
    let root = Root::find(folder.path()).expect("a root");
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
fn the_canonical_place_comes_first_and_the_others_in_turn() {
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
fn owners_and_places_by_byte() {
    let registry = Registry::parse(RelativePath::new("r.yaml").unwrap(), ONE);
    let path = RelativePath::new("src/a.ts").unwrap();
    assert_eq!(registry.owners(&path).len(), 1);
    assert!(registry.scope("A").unwrap().owns(&path));
    assert!(registry.owners(&RelativePath::new("docs/a.md").unwrap()).is_empty());
    assert!(registry.intent_at(ONE.find("status").unwrap()).is_some());
    assert!(registry.intent_at(0).is_none());
}

fn refused(root: &Root, code: Code) {
    let registry = Registry::load(root);
    assert!(registry.exists() && registry.intents().is_empty());
    assert_eq!(registry.syntax_error().map(|error| error.code), Some(code));
    assert_eq!(lint::registry(&registry).len(), 1);
    let edit = RegistryEdit::SetStatus { id: "A".into(), status: Status::Draft };
    assert!(matches!(edit::plan(&registry, &edit), Err(EditError::Broken { .. })));
}

/// What stands at the canonical place but cannot be read is not replaced by another file.
#[test]
fn what_cannot_be_read_is_said_and_never_written_over() {
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
    let outside = tempfile::tempdir().unwrap();
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
fn an_unchanged_registry_is_not_read_again_and_a_changed_one_is() {
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

    // A slot that is torn is no answer.
    let slot = slots[0].path();
    let honest = fs::read(&slot).expect("a slot");
    fs::write(&slot, &honest[..honest.len() - 1]).expect("a torn slot");
    assert_eq!(Registry::load(&root).intents().len(), 1, "it is parsed again");
    assert_eq!(fs::read(&slot).expect("a slot"), honest, "and kept again");

    let two = format!("{ONE}  - id: B\n    name: b\n    status: DRAFT\n    owned_scope: []\n");
    fs::write(folder.path().join(".orchestration/active_intents.yaml"), &two).expect("a file");
    assert_eq!(Registry::load(&root).intents().len(), 2, "at once");
    assert_eq!(fs::read(&slot).expect("a slot"), honest, "too young to be kept");
    rest();
    assert_eq!(Registry::load(&root).intents().len(), 2);
    assert_ne!(fs::read(&slot).expect("a slot"), honest);
}
