//! Bad input for the real binary: the answer is clear, the exit code is 2 where nothing can be done, and no file is
//! lost or overwritten.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use evidence::seal::{SealCaller, after_commit, seal};
use evidence::verify;
use ground::{Finding, Level};
use overview::doctor;
use why::health::Health;

use crate::support::binary::{
    Answer, command, function, intent, intent_in, picture, recorded, verified, why,
};
use crate::support::{REGISTRY, Repo, git, temporary_folder};

/// A way to stand something where it does not belong.
type Stand<'a> = (&'a str, &'a dyn Fn(&Path));

const REGISTRY_PATH: &str = ".orchestration/active_intents.yaml";

fn segments(repo: &Repo) -> Vec<PathBuf> {
    let files = picture(&repo.root().join(".orchestration"));
    files.into_keys().filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}

// ---------------------------------------------------------------- registry

/// Registries that cannot be read: the problem, the bytes, and a word that the answer must contain.
fn broken_registries() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let plus = |more: &[u8]| [REGISTRY.as_bytes(), more].concat();
    vec![
        ("bad indent", b"active_intents:\n  - id: INT-001\n name: x\n".to_vec(), "yaml:3"),
        ("form feed", REGISTRY.replace("Sign in", "Sign\u{c}in").into_bytes(), "yaml:3"),
        ("tab", b"active_intents:\n\t- id: INT-001\n".to_vec(), "yaml:2"),
        ("key twice", REGISTRY.replacen("name:", "id:", 1).into_bytes(), "stands twice"),
        ("too large", plus(&vec![b'#'; 2 << 20]), "1048576"),
        ("not UTF-8", plus(b"# \xff\xfe\n"), "not UTF-8"),
        ("NUL", plus(b"\0\n"), "U+0000"),
    ]
}

#[test]
#[ignore = "slow"]
fn a_broken_registry_is_reported_and_never_overwritten() {
    const STOPPED: &[&[&str]] = &[
        &["list"],
        &["new", "x"],
        &["start", "INT-001"],
        &["complete", "INT-001"],
        &["select", "INT-001"],
        &["context", "INT-001"],
        &["map"],
        &["record", "--intent", "INT-001", "src/a.rs"],
    ];
    for (name, bytes, word) in broken_registries() {
        let repo = Repo::new();
        repo.write("src/a.rs", &function("a", 1));
        std::fs::write(repo.root().join(REGISTRY_PATH), bytes).expect("written");
        let before = picture(&repo.root());
        for arguments in STOPPED {
            let answer = intent(&repo, arguments);
            assert_eq!(answer.code, 2, "{name}: {arguments:?}");
            assert!(answer.err.contains(word), "{name}: {arguments:?}: {}", answer.err);
            assert!(!answer.err.contains(".."), "{name}: {}", answer.err);
        }
        for arguments in [&["check"][..], &["verify"], &["doctor"], &["gate", "src/a.rs"]] {
            assert_eq!(intent(&repo, arguments).code, 1, "{name}: {arguments:?}");
        }
        assert_eq!(picture(&repo.root()), before, "{name}");
    }
}

#[test]
fn a_registry_outside_the_workspace_is_not_read_or_written() {
    let outside = temporary_folder();
    let target = outside.path().join("registry.yaml");
    std::fs::write(&target, REGISTRY).expect("written");
    let make: [Stand<'_>; 4] = [
        ("folder", &|path| std::fs::create_dir(path).expect("made")),
        ("link out", &|path| std::os::unix::fs::symlink(&target, path).expect("linked")),
        ("link to nothing", &|path| {
            std::os::unix::fs::symlink(outside.path().join("new"), path).expect("linked");
        }),
        ("pipe", &|path| {
            assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
        }),
    ];
    for (name, make) in make {
        let repo = Repo::new();
        repo.remove(REGISTRY_PATH);
        make(&repo.root().join(REGISTRY_PATH));
        for arguments in [&["list"][..], &["new", "x"], &["select", "INT-001"]] {
            assert_eq!(intent(&repo, arguments).code, 2, "{name}: {arguments:?}");
        }
        assert_eq!(std::fs::read_to_string(&target).expect("there"), REGISTRY, "{name}");
        assert!(!outside.path().join("new").exists(), "{name}");
    }
}

#[test]
#[ignore = "slow"]
fn every_dialect_works_or_says_why_it_does_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/registries");
    for (path, bytes) in picture(&folder) {
        if path.extension().is_none_or(|end| end != "yaml") {
            continue;
        }
        let repo = Repo::new();
        let registry = repo.root().join(REGISTRY_PATH);
        std::fs::write(&registry, bytes).expect("written");
        repo.write("src/a.rs", &function("a", 1));
        let listed = intent(&repo, &["list", "--json"]);
        let id = (listed.code == 0)
            .then(|| listed.json()[0]["id"].as_str().map(str::to_owned))
            .flatten()
            .unwrap_or_else(|| "INT-001".to_owned());
        for arguments in [
            &["start", &id][..],
            &["select", &id],
            &["record", "src/a.rs"],
            &["complete", &id],
            &["new", "one more", "--scope", "x/**"],
        ] {
            let before = std::fs::read(&registry).expect("there");
            let answer = intent(&repo, arguments);
            if answer.code == 2 {
                let after = std::fs::read(&registry).expect("there");
                assert_eq!(after, before, "{}: {arguments:?}", path.display());
                assert!(answer.err.len() > 30, "{}: {}", path.display(), answer.err);
            }
        }
        let again = intent(&repo, &["list", "--json"]).code;
        assert_eq!(again, listed.code, "{}: no edit breaks it", path.display());
        assert_eq!(intent(&repo, &["select", &id]).code, 2, "{}: {id} is over", path.display());
    }
}

#[test]
fn intents_created_at_the_same_time_are_all_kept() {
    let repo = Repo::new();
    let root = repo.root();
    let made = 8;
    std::thread::scope(|scope| {
        for nth in 0..made {
            let root = &root;
            scope.spawn(move || {
                let name = format!("number {nth}");
                assert_eq!(intent_in(root, &["new", &name]).code, 0);
            });
        }
    });
    let listed = intent(&repo, &["list", "--json"]).json();
    let ids: std::collections::HashSet<&str> =
        listed.as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids.len(), 3 + made, "{listed}");
}

// ---------------------------------------------------------------- ledger

/// A repository with two records in one chain, and the file that holds them.
fn with_chain() -> (Repo, PathBuf) {
    let repo = Repo::new();
    for (number, id) in [(1, "INT-001"), (2, "INT-002")] {
        repo.write("src/a.rs", &(function("a", 1) + &function("b", number)));
        let arguments = ["record", "--intent", id, "--session", "t:1", "src/a.rs"];
        intent(&repo, &arguments);
    }
    let files = segments(&repo);
    assert_eq!(files.len(), 1);
    let file = files[0].clone();
    (repo, file)
}

type Damage = fn(&[u8]) -> Vec<u8>;

#[test]
#[ignore = "slow"]
fn a_damaged_ledger_is_reported_and_appending_loses_nothing() {
    fn line(bytes: &[u8], nth: usize) -> &[u8] {
        bytes.split_inclusive(|byte| *byte == b'\n').nth(nth).expect("a line")
    }
    let damages: &[(&str, Damage, &[&str], u64)] = &[
        // It was whole once, so it is lost.
        ("torn", |whole| whole[..whole.len() - 40].to_vec(), &["ledger-broken"], 1),
        ("no line break", |whole| whole[..whole.len() - 1].to_vec(), &["ledger-torn"], 2),
        (
            "foreign lines",
            |whole| [b"{\"foo\":1}\n# note\nhello\n", whole, b"{\"a\":1}{\"b\":2}\n"].concat(),
            &["ledger-unreadable"],
            2,
        ),
        (
            "forged",
            |whole| String::from_utf8_lossy(whole).replace("INT-002", "INT-003").into_bytes(),
            &["ledger-forged"],
            2,
        ),
        ("last gone", |whole| line(whole, 0).to_vec(), &["ledger-broken"], 1),
        ("first gone", |whole| line(whole, 1).to_vec(), &["ledger-broken"], 1),
        ("swapped", |whole| [line(whole, 1), line(whole, 0)].concat(), &["ledger-broken"], 2),
        ("twice by a union merge", |whole| [whole, whole].concat(), &[], 2),
        (
            "conflict",
            |whole| {
                [b"<<<<<<< a\n", line(whole, 0), b"=======\n", line(whole, 1), b">>>>>>> b\n"]
                    .concat()
            },
            &["ledger-unreadable"],
            2,
        ),
        (
            "CRLF",
            |whole| String::from_utf8_lossy(whole).replace('\n', "\r\n").into_bytes(),
            &["ledger-unreadable"],
            2,
        ),
        ("byte order mark", |whole| [b"\xef\xbb\xbf", whole].concat(), &["ledger-unreadable"], 2),
        ("NULs", |whole| [whole, &[0; 4096]].concat(), &["ledger-unreadable"], 2),
        ("not UTF-8", |whole| [whole, b"{\"id\":\"\xff\"}\n"].concat(), &["ledger-unreadable"], 2),
        ("nested", |whole| [whole, &[b'['; 100_000], b"\n"].concat(), &["ledger-unreadable"], 2),
        // The reader takes a line in pieces of one MiB; this one is longer.
        ("long line", |whole| [whole, &vec![b'x'; 3 << 20]].concat(), &["ledger-unreadable"], 2),
        ("emptied", |_| Vec::new(), &["ledger-broken"], 0),
    ];
    for (name, damage, expected, records) in damages {
        let (repo, file) = with_chain();
        let damaged = damage(&std::fs::read(&file).expect("a ledger"));
        std::fs::write(&file, &damaged).expect("written");
        let (mut codes, read) = verified(&repo);
        codes.sort();
        codes.dedup();
        assert_eq!((codes.as_slice(), read), (&expected.map_strings()[..], *records), "{name}");
        for arguments in [&["check"][..], &["trace", "--json"], &["why", "src/a.rs"]] {
            assert!(intent(&repo, arguments).code < 2, "{name}: {arguments:?}");
        }
        assert_eq!(ledger_codes(&repo), (codes.clone(), codes), "{name}");

        repo.write("src/new.rs", &function("c", 1));
        let answer =
            intent(&repo, &["record", "--intent", "INT-001", "--session", "t:1", "src/new.rs"]);
        assert_eq!(answer.code, 0, "{name}: {}", answer.err);
        assert_eq!(why(&repo, "src/new.rs"), "exact INT-001 c\n", "{name}");
        let after = std::fs::read(&file).expect("a ledger");
        // Only an incomplete last line is removed: nobody was told that it had been written.
        let kept = if *name == "torn" { &damaged[..line(&damaged, 0).len()] } else { &damaged };
        assert!(after.starts_with(kept), "{name}: what stood there stands there");
        assert_eq!(verified(&repo).1, records + 1, "{name}");
    }
}

/// Returns the codes about the ledger that `check` and `status` have, and those that `doctor` has.
fn ledger_codes(repo: &Repo) -> (Vec<String>, Vec<String>) {
    let ws = repo.open();
    let codes = |findings: &[Finding]| {
        let shown = findings.iter().filter(|one| ws.policy.check_level(one.code) > Level::Info);
        let codes: BTreeSet<&str> = shown.map(|one| one.code.as_str()).collect();
        let codes = codes.into_iter().filter(|code| code.starts_with("ledger-"));
        codes.map(str::to_owned).collect::<Vec<String>>()
    };
    let of_doctor = codes(ws.ledger.findings());
    let health = doctor::examine(&ws).checks.into_iter().find(|one| one.what == "ledger");
    let is_good = health.expect("the ledger is examined").state == Health::Good;
    assert_eq!(is_good, of_doctor.is_empty());
    (codes(&verify::findings(&ws)), of_doctor)
}

/// Records that a commit carries are in no journal any more, and those that it carried before an amend are again.
#[test]
fn a_dropped_record_is_missed_also_if_others_were_settled() {
    let (repo, file) = with_chain();
    let broken = || vec!["ledger-broken".to_owned()];
    let commit = |options: &[&str]| {
        repo.git(&["add", "-A"]);
        seal(&repo.open(), SealCaller::Hook).expect("sealed");
        repo.git(&["add", "-A"]);
        repo.git(&[&["commit", "-qm", "c"], options].concat());
        after_commit(&repo.open()).expect("settled");
    };
    commit(&[]);
    assert!(!file.exists());
    assert_eq!(ledger_codes(&repo), Default::default());
    repo.write("src/a.rs", &function("a", 7));
    commit(&["--amend"]);
    assert_eq!(ledger_codes(&repo), Default::default());
    // Nothing of a session is read that has no open records.
    let heads = std::fs::read_dir(repo.root().join(".git/intent/heads")).expect("heads");
    assert!(heads.flatten().all(|head| head.path().is_dir()));
    // What the files of commits have is not asked by a command that is not about all records.
    let settled = repo.root().join(".git/intent/settled");
    let aside = settled.with_extension("aside");
    std::fs::rename(&settled, &aside).expect("moved");
    assert_eq!(ledger_codes(&repo), (Vec::new(), broken()));
    std::fs::rename(&aside, &settled).expect("moved back");
    repo.git(&["reset", "-q", "--soft", "HEAD~1"]);
    seal(&repo.open(), SealCaller::Hook).expect("sealed");
    assert_eq!(ledger_codes(&repo), Default::default());
    let reopened = std::fs::read(&file).expect("a journal");
    for (nth, _) in reopened.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        std::fs::write(&file, &reopened[nth + 1..]).expect("written");
        assert_eq!(ledger_codes(&repo), (broken(), broken()));
    }
}

/// Words as `verify` answers them.
trait Words {
    fn map_strings(&self) -> Vec<String>;
}
impl Words for &[&str] {
    fn map_strings(&self) -> Vec<String> {
        self.iter().map(|word| (*word).to_owned()).collect()
    }
}

#[test]
fn a_forged_line_names_no_intent() {
    let (repo, file) = with_chain();
    let text = std::fs::read_to_string(&file).expect("a ledger");
    std::fs::write(&file, text.replace("INT-002", "INT-003")).expect("written");
    let answer = why(&repo, "src/a.rs");
    assert!(!answer.contains("INT-003"), "{answer}");
}

#[test]
#[ignore = "slow"]
fn processes_that_record_at_once_lose_and_repeat_nothing() {
    let repo = Repo::new();
    let root = repo.root();
    for nth in 0..10 {
        repo.write(&format!("src/f{nth}.rs"), &function(&format!("f{nth}"), nth));
    }
    std::thread::scope(|scope| {
        for nth in 0..20 {
            let root = &root;
            // Two sessions record each file.
            let (file, session) = (format!("src/f{}.rs", nth % 10), format!("t:{}", nth % 3));
            scope.spawn(move || {
                let arguments = ["record", "--intent", "INT-001", "--session", &session, &file];
                intent_in(root, &arguments)
            });
        }
    });
    assert_eq!(verified(&repo), (vec![], 10), "each change once, every chain whole");
}

#[test]
#[ignore = "slow"]
fn a_process_killed_while_it_records_leaves_a_ledger_that_verifies() {
    let repo = Repo::new();
    let mut acknowledged = 0;
    for nth in 0..12 {
        repo.write("src/k.rs", &(function("k", nth) + &function("j", nth)));
        let mut process =
            command(&repo.root(), &["record", "-q", "--intent", "INT-001", "src/k.rs"])
                .spawn()
                .expect("the binary runs");
        std::thread::sleep(std::time::Duration::from_millis(u64::from(nth) * 5));
        let _ = process.kill();
        acknowledged += u64::from(process.wait().expect("it ends").success());
    }
    let (codes, records) = verified(&repo);
    assert!(records >= acknowledged, "{records} of {acknowledged}");
    assert!(codes.iter().all(|code| code == "ledger-torn"), "{codes:?}");
    repo.write("src/k.rs", &function("k", 99));
    assert_eq!(recorded(&repo, "INT-001", "src/k.rs").code, 0);
    assert!(why(&repo, "src/k.rs").starts_with("exact INT-001 k"));
}

#[test]
fn an_obstacle_to_the_ledger_is_named() {
    let in_the_way: [Stand<'_>; 2] = [
        ("a file", &|root| {
            std::fs::create_dir(root.join(".git/intent")).expect("a folder");
            std::fs::write(root.join(".git/intent/open"), "x").expect("written");
        }),
        ("a file in git's folder", &|root| {
            std::fs::write(root.join(".git/intent"), "x").expect("written");
        }),
    ];
    for (name, stand) in in_the_way {
        let repo = Repo::new();
        repo.write("src/a.rs", &function("a", 1));
        stand(&repo.root());
        let before = picture(&repo.root());
        for arguments in
            [&["record", "--intent", "INT-001", "src/a.rs"][..], &["select", "INT-001"]]
        {
            let answer = intent(&repo, arguments);
            assert_eq!(answer.code, 2, "{name}: {arguments:?}");
            assert!(answer.err.contains(".git/intent"), "{name}: {}", answer.err);
        }
        assert_eq!(picture(&repo.root()), before, "{name}: exit code 2 means nothing was changed");
    }
}

#[test]
#[ignore = "slow"]
fn a_record_of_many_blocks_is_read_back_completely() {
    let repo = Repo::new();
    let source: String = (0..1500)
        .map(|nth| format!("pub fn f{nth}(a: u32) -> u32 {{ let x = a + {nth}; x * 2 }}\n"))
        .collect();
    repo.write("src/many.rs", &source);
    assert_eq!(recorded(&repo, "INT-001", "src/many.rs").code, 0);
    let answer = why(&repo, "src/many.rs");
    assert_eq!(answer.lines().filter(|line| line.starts_with("exact INT-001 f")).count(), 1500);
    assert_eq!(verified(&repo).0, Vec::<String>::new());
}

// ---------------------------------------------------------------- files

#[test]
fn files_without_blocks_say_why_and_all_line_ends_are_read() {
    let long = vec![b'x'; 3 << 20];
    let cases: &[(&str, &[u8], &str)] = &[
        ("bad.rs", b"fn a(){}\n// \xff\xfe\n", "not UTF-8"),
        ("nul.rs", b"fn a(){}\0\n", "binary"),
        ("wide.rs", b"\xff\xfef\0n\0", "binary"),
        ("long.rs", &long, "2 MiB"),
        ("empty.rs", b"", "it holds no block"),
        ("blank.rs", b"\n\n \n", "it holds no block"),
        ("mark.rs", b"\xef\xbb\xbffn a(){}\nfn b(){}\n", ""),
        ("crlf.rs", b"fn a(){}\r\nfn b(){}\r\n", ""),
        ("cr.rs", b"fn a(){}\rfn b(){}\r", ""),
        ("end.rs", b"fn a(){}\nfn b(){}", ""),
    ];
    let repo = Repo::new();
    for (name, bytes, reason) in cases {
        let path = format!("src/{name}");
        repo.write(&path, "");
        std::fs::write(repo.root().join(&path), bytes).expect("written");
        let answer = recorded(&repo, "INT-001", &path);
        if reason.is_empty() {
            assert_eq!(answer.code, 0, "{name}");
            assert_eq!(why(&repo, &path), "exact INT-001 a\nexact INT-001 b\n", "{name}");
            assert_eq!(recorded(&repo, "INT-002", &path).code, 1, "{name}: nothing a second time");
            continue;
        }
        assert_eq!(answer.code, 1, "{name}");
        let told = answer.json()["skipped"][0]["reason"].as_str().expect("a reason").to_owned();
        assert!(told.contains(reason), "{name}: {told}");
    }
    std::fs::write(repo.root().join("src/crlf.rs"), "fn a(){}\nfn b(){}\n").expect("written");
    assert_eq!(why(&repo, "src/crlf.rs"), "exact INT-001 a\nexact INT-001 b\n");
}

#[test]
fn a_file_that_was_unreadable_at_the_commit_is_not_new() {
    let repo = Repo::new();
    repo.write("src/a.rs", "");
    std::fs::write(repo.root().join("src/a.rs"), b"fn a() {}\n// \xff\n").expect("written");
    repo.commit("latin");
    repo.write("src/a.rs", "fn a() {}\n// y\n");
    let answer = recorded(&repo, "INT-001", "src/a.rs");
    assert_eq!(answer.code, 1, "whose the function is, nobody knows: {}", answer.out);
    assert!(why(&repo, "src/a.rs").starts_with("unrecorded"));
}

#[test]
#[ignore = "slow"]
fn unusual_file_names_are_taken_literally() {
    let repo = Repo::new();
    for name in [
        "src/sp ace.rs",
        "src/new\nline.rs",
        "-dash.rs",
        "src/a.rs:12",
        "src/[id].rs",
        "src/*.rs",
        "src/é.rs",
        "src/\u{1b}[31m.rs",
        "src/$(id).rs",
    ] {
        repo.write(name, "fn a() {\n    1;\n}\n");
        let recorded = intent(&repo, &["record", "--intent", "INT-002", "--", name]);
        assert!(recorded.out.contains("1 block"), "{name:?}: {} {}", recorded.out, recorded.err);
        let answer = intent(&repo, &["why", "--", name]);
        assert!(answer.out.contains("INT-002"), "{name:?}: {}", answer.out);
        assert!(!answer.out.contains('\u{1b}'), "{name:?}: {}", answer.out);
    }
}

#[test]
fn paths_to_nothing_or_outside_are_refused() {
    let repo = Repo::new();
    repo.write("src/a.rs", &function("a", 1));
    repo.commit("a");
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(to, repo.root().join(from)).expect("linked");
    };
    link("/etc/passwd", "src/out.rs");
    link("round", "src/round");
    link("nowhere.rs", "src/dangling.rs");
    link("/etc", "src/etc");
    link(".", "src/here");
    assert!(
        Command::new("mkfifo")
            .arg(repo.root().join("src/pipe.rs"))
            .status()
            .expect("runs")
            .success()
    );
    for (path, code) in [
        ("", 2),
        ("../x.rs", 2),
        ("src/../../x.rs", 2),
        ("/etc/passwd", 2),
        ("src/out.rs", 2),
        ("src/etc/passwd", 2),
        ("src/round", 2),
        ("src/a.rs/x", 2),
        ("src/none.rs", 2),
        ("src/dangling.rs", 2),
        ("src/pipe.rs", 1),
        // An unchanged file under another name is still unchanged.
        ("src/here/here/a.rs", 1),
        (".git/config", 1),
        (".orchestration/active_intents.yaml", 1),
    ] {
        let answer = intent(&repo, &["record", "--intent", "INT-002", "--", path]);
        assert_eq!(answer.code, code, "{path}: {} {}", answer.out, answer.err);
    }
    assert_eq!(verified(&repo).1, 0);
    assert_eq!(intent(&repo, &["why", "src/pipe.rs"]).code, 2, "and does not wait for it");
}

#[test]
fn a_link_stands_for_its_target() {
    let repo = Repo::new();
    repo.write("src/a.rs", &function("a", 1));
    std::os::unix::fs::symlink("a.rs", repo.root().join("src/link.rs")).expect("linked");
    let answer =
        intent(&repo, &["record", "--json", "--intent", "INT-001", "src/link.rs", "src/a.rs"]);
    assert_eq!(answer.json()["recorded"].as_array().expect("a list").len(), 1);
    assert_eq!(why(&repo, "src/a.rs"), "exact INT-001 a\n");
    assert_eq!(why(&repo, "src/link.rs"), "exact INT-001 a\n");
}

// ---------------------------------------------------------------- git

#[test]
fn an_unreadable_repository_is_not_taken_for_an_empty_one() {
    let damages: [Stand<'_>; 5] = [
        ("garbage in HEAD", &|root| {
            std::fs::write(root.join(".git/HEAD"), "garbage\n").expect("written")
        }),
        ("empty HEAD", &|root| std::fs::write(root.join(".git/HEAD"), "").expect("written")),
        ("HEAD at a commit that is gone", &|root| {
            let id = "1234567890123456789012345678901234567890\n";
            std::fs::write(root.join(".git/HEAD"), id).expect("written");
        }),
        ("a .git that leads nowhere", &|root| {
            std::fs::remove_dir_all(root.join(".git")).expect("removed");
            std::fs::write(root.join(".git"), "gitdir: /nowhere/x\n").expect("written");
        }),
        ("an empty .git", &|root| {
            std::fs::remove_dir_all(root.join(".git")).expect("removed");
            std::fs::create_dir(root.join(".git")).expect("made");
        }),
    ];
    for (name, damage) in damages {
        let repo = Repo::new();
        repo.write("src/old.rs", &function("old", 1));
        repo.commit("old");
        damage(&repo.root());
        for arguments in [&["check"][..], &["check", "--staged"], &["check", "--base", "main"]] {
            let answer = intent(&repo, arguments);
            assert_eq!(answer.code, 2, "{name}: {arguments:?}: {}", answer.out);
        }
        assert_eq!(intent(&repo, &["doctor"]).code, 1, "{name}");
        assert_eq!(recorded(&repo, "INT-001", "src/old.rs").code, 1, "{name}");
        assert_eq!(why(&repo, "src/old.rs"), "unrecorded - old\n", "{name}");
        assert_eq!(intent(&repo, &["list"]).code, 0, "{name}");
    }
}

#[test]
fn without_git_a_base_is_refused_and_the_rest_works() {
    let repo = Repo::without_git();
    repo.write("src/a.rs", &function("a", 1));
    for arguments in [&["check", "--base", "main"][..], &["check", "--staged"]] {
        assert_eq!(intent(&repo, arguments).code, 2, "{arguments:?}");
    }
    assert_eq!(intent(&repo, &["check"]).code, 0);
    let claimed = intent(&repo, &["record", "--all", "--yes", "--intent", "INT-001", "src/a.rs"]);
    assert_eq!(claimed.code, 0, "{}", claimed.err);
    assert_eq!(why(&repo, "src/a.rs"), "exact INT-001 a\n");
}

#[test]
fn no_program_is_needed_and_bare_or_shallow_is_refused() {
    let repo = Repo::new();
    repo.write("src/a.rs", &function("a", 1));
    let nothing = temporary_folder();
    let mut alone = command(&repo.root(), &["record", "--intent", "INT-001", "src/a.rs"]);
    assert_eq!(Answer::of(alone.env("PATH", nothing.path()).output().expect("runs")).code, 0);

    repo.commit("one");
    repo.commit("two");
    let elsewhere = temporary_folder();
    let source = format!("file://{}", repo.root().display());
    git(elsewhere.path(), &["clone", "-q", "--bare", &source, "bare.git"]);
    git(elsewhere.path(), &["clone", "-q", "--depth", "1", &source, "shallow"]);
    let bare = intent_in(&elsewhere.path().join("bare.git"), &["status"]);
    assert_eq!(bare.code, 2);
    assert!(bare.err.contains("bare"), "{}", bare.err);
    let shallow = intent_in(&elsewhere.path().join("shallow"), &["check", "--base", "HEAD~1"]);
    assert_eq!(shallow.code, 2);
    assert!(shallow.err.contains("--unshallow"), "{}", shallow.err);

    git(&repo.root(), &["checkout", "-q", "--detach"]);
    assert_eq!(intent(&repo, &["check"]).code, 0, "a detached HEAD is a HEAD");
}

#[test]
fn a_partial_clone_says_what_to_fetch() {
    let repo = Repo::new();
    for number in [1, 2] {
        repo.write("src/a.rs", &function("a", number));
        repo.commit("a commit");
    }
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let elsewhere = temporary_folder();
    let source = format!("file://{}", repo.root().display());
    git(elsewhere.path(), &["clone", "-q", "--filter=blob:none", &source, "partial"]);
    let partial = elsewhere.path().join("partial");
    let checked = intent_in(&partial, &["check", "--base", "HEAD~1"]);
    assert_eq!(checked.code, 2);
    assert!(checked.out.contains("error[history-missing]"), "{}", checked.out);
    assert!(checked.out.contains("`git fetch --refetch --no-filter`"), "{}", checked.out);
    git(&partial, &["fetch", "-q", "--refetch", "--no-filter"]);
    assert_ne!(intent_in(&partial, &["check", "--base", "HEAD~1"]).code, 2);
}

#[test]
fn an_inner_registry_governs_nothing() {
    let repo = Repo::new();
    let widest = "active_intents:\n  - id: INT-666\n    name: Mine\n    status: IN_PROGRESS\n    owned_scope: [\"**\"]\n";
    repo.write("vendor/x/.orchestration/active_intents.yaml", widest);
    repo.write("vendor/x/.orchestration/policy.yaml", "mode: observe\n");
    repo.write("vendor/x/a.rs", &function("a", 1));
    assert_eq!(recorded(&repo, "INT-666", "vendor/x/a.rs").code, 2);
    let gate = intent(&repo, &["gate", "--intent", "INT-001", "vendor/x/a.rs"]);
    assert!(gate.out.contains("SCOPE_VIOLATION"), "{}", gate.out);
    let inside = intent_in(&repo.root().join("vendor/x"), &["list"]);
    assert!(!inside.out.contains("INT-666"), "{}", inside.out);
}
