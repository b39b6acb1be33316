//! The counts of `intent list` after each change. The blocks of texts are cached between processes, and no answer may
//! depend on the cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::lab::Lab;

const REGISTRY: &str = ".orchestration/active_intents.yaml";
const ID: &str = "- id: INT-001\n";
const ONE: &str = "fn login() {\n    check();\n}\n";
const TWO: &str = "fn login() {\n    check();\n}\n\nfn logout() {\n    drop();\n}\n";

/// A repository in which two functions were recorded under INT-001 and committed.
fn recorded() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.commit();
        lab.write("src/auth.rs", TWO);
        lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
        lab.commit();
        lab
    })
}

/// Returns the id of each intent with its numbers of blocks and files. Runs the command twice, so that the second
/// answer comes from the cache.
fn counts(lab: &Lab) -> Vec<(String, u64, u64)> {
    let ask = || -> Vec<_> {
        let list = lab.json(&["list"]);
        let count = |intent: &serde_json::Value, of: &str| intent[of].as_u64().expect("a number");
        let intents = list.as_array().expect("a list").iter();
        intents
            .map(|it| {
                let id = it["id"].as_str().expect("an id").to_owned();
                (id, count(it, "blocks"), count(it, "files"))
            })
            .collect()
    };
    let first = ask();
    assert_eq!(ask(), first, "the second answer");
    first
}

fn one(id: &str, blocks: u64, files: u64) -> Vec<(String, u64, u64)> {
    vec![(id.to_owned(), blocks, files)]
}

#[test]
fn a_second_list_sees_a_change_of_the_file() {
    let lab = recorded();
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    lab.write("src/auth.rs", ONE);
    assert_eq!(counts(&lab), one("INT-001", 1, 1));
    lab.write("src/auth.rs", TWO);
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    // A generated file is one block, and nothing of it is recorded.
    lab.write(".gitattributes", "src/auth.rs linguist-generated\n");
    assert_eq!(counts(&lab), one("INT-001", 0, 0));
    std::fs::remove_file(lab.root.join(".gitattributes")).expect("removed");
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    // The records follow the renamed file.
    std::fs::rename(lab.root.join("src/auth.rs"), lab.root.join("src/login.rs")).expect("renamed");
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    std::fs::remove_file(lab.root.join("src/login.rs")).expect("removed");
    assert_eq!(counts(&lab), one("INT-001", 0, 0));
}

#[test]
fn a_second_list_sees_a_change_of_the_ledger() {
    let lab = recorded();
    lab.write("src/page.rs", "fn page() {\n    show();\n}\n");
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    lab.fine(&["record", "src/page.rs", "--intent", "INT-001", "--agent", "claude-code"]);
    assert_eq!(counts(&lab), one("INT-001", 3, 2));
    lab.commit();
    assert_eq!(counts(&lab), one("INT-001", 3, 2));
    // Without evidence and journal there are no records.
    std::fs::remove_dir_all(lab.root.join(".orchestration/agent_trace")).expect("removed");
    std::fs::remove_dir_all(lab.root.join(".git/intent/open")).expect("removed");
    assert_eq!(counts(&lab), one("INT-001", 0, 0));
}

#[test]
fn a_second_list_sees_a_change_of_the_registry() {
    let lab = recorded();
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
    let registry = lab.read(REGISTRY);
    let renamed = registry.replace(ID, "- id: INT-009\n    formerly: [INT-001]\n");
    assert_ne!(renamed, registry);
    lab.write(REGISTRY, renamed);
    assert_eq!(counts(&lab), one("INT-009", 2, 1));
    // Another intent has this id, and the former one is not in the registry.
    lab.write(REGISTRY, registry.replace(ID, "- id: INT-009\n"));
    assert_eq!(counts(&lab), one("INT-009", 0, 0));
    lab.write(REGISTRY, registry);
    assert_eq!(counts(&lab), one("INT-001", 2, 1));
}

/// Returns the files of the cache by path.
fn cached(lab: &Lab) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = |folder: &Path| std::fs::read_dir(folder).expect("a folder");
    let folders = entries(&lab.root.join(".git/intent/cache/blocks"));
    let files = folders.flat_map(|folder| entries(&folder.expect("an entry").path()));
    let paths = files.map(|file| file.expect("an entry").path());
    paths.map(|path| (path.clone(), std::fs::read(&path).expect("its bytes"))).collect()
}

#[test]
fn a_damaged_cache_is_written_again() {
    let lab = recorded();
    lab.write("src/auth.rs", TWO.replace("drop", "forget"));
    let counted = counts(&lab);
    assert_eq!(counted, one("INT-001", 2, 1));
    let whole = cached(&lab);
    assert!(whole.len() > 1, "{:?}", whole.keys());
    type Damage<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;
    let another = whole.values().next().expect("an entry");
    let damages: [(&str, Damage<'_>); 4] = [
        ("bent", &|bytes| {
            let mut bent = bytes.to_vec();
            *bent.last_mut().expect("a byte") ^= 1;
            bent
        }),
        ("torn", &|bytes| bytes[..bytes.len() / 2].to_vec()),
        ("empty", &|_| Vec::new()),
        ("of another text", &|bytes| match bytes == another {
            true => b"intent-cache 0 0.0.0\n".to_vec(),
            false => another.clone(),
        }),
    ];
    for (name, damage) in damages {
        for (place, bytes) in &whole {
            std::fs::write(place, damage(bytes)).expect("written");
        }
        assert_eq!(counts(&lab), counted, "{name}");
        let again = cached(&lab);
        let is_whole = |place: &&PathBuf| again.get(*place) == whole.get(*place);
        assert!(whole.keys().any(|place| is_whole(&place)), "{name}: nothing is kept again");
    }
}
