//! Files that git converts, files that are too large for a kept text, and the history of another project.

use evidence::reassign::ReassignTarget;
use ground::RelativePath;

use crate::cli::lab::Lab;
use crate::cli::reassign::at_a_terminal;

const PAY: &str = "# $Id$\ndef total(items):\n    result = sum(items)\n    return result\n";

/// Makes a repository with a committed `src/pay.py`, as git writes it with these attributes and settings.
fn converting(attributes: &str, settings: &[(&str, &str)]) -> Lab {
    let lab = Lab::governed();
    lab.fine(&["new", "Pay", "--scope", "src/**", "--start"]);
    lab.fine(&["new", "Other", "--scope", "other/**", "--start"]);
    lab.write("src/pay.py", PAY);
    lab.write("other/same.py", PAY);
    lab.commit();
    for (key, value) in settings {
        lab.run_git(&["config", key, value]);
    }
    lab.write(".gitattributes", attributes);
    lab.run_git(&["add", ".gitattributes"]);
    lab.run_git(&["commit", "-q", "-m", "attributes"]);
    checked_out_again(&lab);
    lab.fine(&["select", "INT-001"]);
    lab
}

/// Writes the files as git converts them, with time stamps that prove nothing.
fn checked_out_again(lab: &Lab) {
    for path in ["src/pay.py", "other/same.py"] {
        std::fs::remove_file(lab.root.join(path)).expect("removed");
        lab.run_git(&["checkout", "--", path]);
        let bytes = std::fs::read(lab.root.join(path)).expect("a file");
        lab.write(path, bytes);
    }
    assert_eq!(lab.read_git(&["status", "--porcelain"]), "");
}

fn commit_with_evidence(lab: &Lab) {
    lab.run_git(&["add", "-A"]);
    lab.fine(&["seal"]);
    lab.commit();
}

/// Changes a letter of the file on disk, in whatever encoding.
fn edit(lab: &Lab) {
    let path = lab.root.join("src/pay.py");
    let mut bytes = std::fs::read(&path).expect("a file");
    let at = bytes.iter().rposition(|byte| *byte == b'r').expect("a letter");
    bytes[at] = b'R';
    std::fs::write(path, bytes).expect("written");
}

#[test]
#[ignore = "slow"]
fn a_clean_tree_is_clean_whatever_git_converts() {
    for (attributes, settings) in [
        ("", &[("core.autocrlf", "true")][..]),
        ("*.py text eol=crlf\n", &[][..]),
        ("*.py ident\n", &[][..]),
        ("*.py text working-tree-encoding=UTF-16LE-BOM\n", &[][..]),
    ] {
        let lab = converting(attributes, settings);
        let told = lab.json(&["check"]);
        assert_eq!(told["summary"]["files"], 0, "{attributes}: {told}");
        let status = lab.json(&["status"]);
        assert_eq!(status["errors"], 0, "{attributes}: {status}");
        let told = lab.json(&["record", "src/pay.py"]);
        assert_eq!(told["skipped"][0]["unchanged"], true, "{attributes}: {told}");
        edit(&lab);
        let told = lab.json(&["check"]);
        assert_eq!(told["summary"]["files"], 1, "{attributes}: {told}");
    }
}

#[test]
#[ignore = "slow"]
fn a_recorded_line_is_known_however_git_converts_its_file() {
    for attributes in
        ["*.py text eol=crlf\n", "*.py ident\n", "*.py text working-tree-encoding=UTF-16LE-BOM\n"]
    {
        let lab = converting(attributes, &[]);
        edit(&lab);
        lab.fine(&["record", "src", "--agent", "claude-code"]);
        // Only this line is recorded, before the commit and after it.
        let recorded = || {
            let told = lab.json(&["why", "src/pay.py", "--lines"]);
            let blocks = told["blocks"].as_array().expect("blocks").clone();
            let runs = |block: &serde_json::Value| block["lines"]["runs"].as_array().cloned();
            let runs = blocks.iter().filter_map(runs).flatten();
            let runs = runs.filter(|run| run["state"] == "as_recorded");
            let told = runs
                .map(|run| format!("{}-{} {}", run["start"], run["end"], run["from"]["intent"]));
            told.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(recorded(), "4-4 \"INT-001\"", "{attributes}");
        commit_with_evidence(&lab);
        checked_out_again(&lab);
        assert_eq!(recorded(), "4-4 \"INT-001\"", "{attributes}");
    }
}

#[test]
#[ignore = "slow"]
fn what_a_program_makes_of_a_file_is_a_note_and_no_error() {
    let lab = converting("other/* filter=secret\n", &[("filter.secret.clean", "cat")]);
    lab.write("other/same.py", "def total(items):\n    return 1\n");
    let told = lab.json(&["check"]);
    assert_eq!(told["findings"], serde_json::json!([]), "{told:#}");
    let notes = told["summary"]["notes"].to_string();
    assert!(notes.contains("other/same.py") && notes.contains("Nobody can tell"), "{notes}");
    let status = lab.fine(&["status"]);
    assert!(status.contains("other/same.py: a program converts them"), "{status}");
    let why = lab.json(&["why", "other/same.py"]).to_string();
    assert!(why.contains("filter=secret"), "{why}");
    // Its history is here, and no answer about all files waits for it.
    assert!(!why.contains("history_missing"), "{why}");
    assert!(!lab.fine(&["why", "other/same.py:2"]).contains("history is missing"));
    for asked in [&["why", "other/same.py", "--lines"][..], &["why", "other/same.py:2"]] {
        let told = lab.fine(asked);
        let is_said = told.contains("lines nobody can tell") && !told.contains("no record");
        assert!(is_said && !told.contains("commit yet"), "{asked:?}: {told}");
    }
    for asked in [&["verify", "--blocks"][..], &["list", "--count"], &["--json", "report"]] {
        let told = lab.fine(asked);
        let said = "nobody can tell who brought the lines of other/same.py: a program converts";
        assert!(told.contains(said), "{asked:?}: {told}");
    }
    for asked in [&["map"][..], &["map", "--check"], &["report", "--badge"]] {
        lab.fine(asked);
    }
    // A new file is a change, and so is what is committed.
    lab.write("other/new.py", "def total(items):\n    return 1\n");
    lab.commit();
    let told = lab.json(&["check", "--base", "HEAD~1"]);
    assert_eq!(told["summary"]["files"], 2, "{told:#}");
}

/// Git LFS stores a pointer in place of a file of any size and kind. Who changed the file changed the pointer.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow"]
fn a_file_in_git_lfs_is_recorded_and_sealed_as_a_file() {
    const CLEAN: &str = "f=$(mktemp); cat >$f; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' \
                         $(sha256sum <$f | cut -d' ' -f1) $(wc -c <$f); rm $f";
    let lab = converting("", &[("filter.lfs.clean", CLEAN)]);
    lab.write(".gitattributes", "src/* filter=lfs -text\n");
    lab.run_git(&["add", "--renormalize", "."]);
    lab.commit();
    let whose = || {
        let told = lab.json(&["why", "src/pay.py", "--lines"]);
        let runs = told["blocks"][0]["lines"]["runs"].as_array().expect("runs").clone();
        let told = runs.iter().map(|run| format!("{} {}", run["start"], run["from"]["intent"]));
        told.collect::<Vec<_>>().join(", ")
    };
    for content in [b"def pay():\n    return 2\n".to_vec(), vec![0; 20], vec![b'x'; 5 << 20]] {
        lab.write("src/pay.py", &content);
        lab.fine(&["record", "src", "--agent", "claude-code"]);
        assert_eq!(whose(), "1 null, 2 \"INT-001\"");
        commit_with_evidence(&lab);
        assert_eq!(whose(), "1 null, 2 \"INT-001\"");
        let told = lab.json(&["check"]);
        assert_eq!(told["summary"]["files"], 0, "{told}");
        lab.write("src/pay.py", [&content[..], b"by a person"].concat());
        lab.run_git(&["commit", "-qam", "c"]);
        assert!(!whose().contains("INT-001"), "{}", whose());
    }
}

#[cfg(unix)]
#[test]
fn kept_texts_are_read_by_nobody_else_and_never_committed() {
    use std::os::unix::fs::PermissionsExt as _;
    let modes = |folder: &std::path::Path| {
        let files = std::fs::read_dir(folder).expect("texts").map(|file| file.expect("a file"));
        let texts = files.filter(|file| file.file_name() != ".gitignore");
        let paths = texts.map(|file| file.path()).chain([folder.to_path_buf()]);
        let mode = |path: std::path::PathBuf| path.metadata().expect("it is there").permissions();
        paths.map(|path| mode(path).mode() & 0o777).collect::<Vec<_>>()
    };
    for texts in [".git/intent/texts", ".orchestration/texts"] {
        let lab = if texts.starts_with(".git") { Lab::git() } else { Lab::bare_folder() };
        lab.fine(&["init"]);
        // As an earlier version wrote it.
        let before = lab.read(".orchestration/.gitignore").replace("/texts/\n", "");
        lab.write(".orchestration/.gitignore", before);
        std::fs::create_dir_all(lab.root.join(texts)).expect("an open folder");
        lab.fine(&["new", "Pay", "--scope", "src/**", "--start"]);
        if texts.starts_with(".git") {
            lab.commit();
        }
        lab.write("src/pay.py", PAY);
        lab.fine(&["record", "src", "--all", "--intent", "INT-001", "--agent", "codex"]);
        assert_eq!(modes(&lab.root.join(texts)), [0o600, 0o700], "{texts}");
        lab.run_git(&["init", "-q"]);
        lab.run_git(&["add", "-A"]);
        assert!(!lab.read_git(&["ls-files"]).contains("texts"), "{texts}");
        let told = String::from_utf8(lab.intent(&["doctor"]).stdout).expect("UTF-8");
        assert!(told.contains("selection and local state stay out of commits"), "{told}");
    }
}

#[test]
#[ignore = "slow"]
fn a_text_that_is_too_large_to_be_kept_is_known_by_its_runs() {
    let lab = Lab::governed();
    lab.fine(&["new", "Pay", "--scope", "src/**", "--start"]);
    lab.fine(&["new", "Sell", "--scope", "src/**", "--start"]);
    let function = |name: &str| {
        format!("def {name}(items):\n    {name}_sum = sum(items)\n    return {name}_sum\n\n\n")
    };
    let filler = format!("# {}\n", "x".repeat(500)).repeat(2_300);
    let write = |names: &[&str]| {
        let functions: String = names.iter().map(|name| function(name)).collect();
        lab.write("src/pay.py", filler.clone() + &functions);
    };
    write(&["old"]);
    lab.commit();
    write(&["old", "pay"]);
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
    // The second record does not take what the first one brought.
    write(&["old", "sell", "pay"]);
    lab.fine(&["record", "src", "--intent", "INT-002", "--agent", "cursor"]);
    let intents = || {
        let told = lab.json(&["why", "src/pay.py"]);
        let blocks = told["blocks"].as_array().expect("blocks").clone();
        let named = blocks.into_iter().map(|block| {
            let intent = block["intent"]["id"].as_str().unwrap_or("-").to_owned();
            format!("{} {intent}", block["name"].as_str().unwrap_or_default())
        });
        named.collect::<Vec<_>>().join(", ")
    };
    let expected = "old -, sell INT-002, pay INT-001";
    assert_eq!(intents(), expected);
    commit_with_evidence(&lab);
    assert_eq!(intents(), expected);
}

#[test]
#[ignore = "slow"]
fn a_text_that_is_gone_is_known_by_its_runs() {
    for texts in [".git/intent/texts", ".orchestration/texts"] {
        let lab = if texts.starts_with(".git") { Lab::git() } else { Lab::bare_folder() };
        let with_git = texts.starts_with(".git");
        lab.fine(&["init"]);
        lab.fine(&["new", "Pay", "--scope", "src/**", "--start"]);
        lab.fine(&["new", "Sell", "--scope", "src/**", "--start"]);
        if with_git {
            lab.commit();
        }
        let pay = "def pay(x):\n    total = x\n    return total\n";
        let sell = "\ndef sell(x):\n    price = x\n    return price\n";
        lab.write("src/pay.py", pay);
        lab.fine(&["record", "src", "--all", "--intent", "INT-001", "--agent", "codex"]);
        lab.write("src/pay.py", pay.to_owned() + sell);
        lab.fine(&["record", "src", "--intent", "INT-002", "--agent", "codex"]);
        std::fs::remove_dir_all(lab.root.join(texts)).expect("they were kept");
        let told = || {
            let told = lab.json(&["why", "src/pay.py"]);
            let blocks = told["blocks"].as_array().expect("blocks").clone();
            let named = blocks.iter().map(|block| {
                format!("{} {} {}", block["name"], block["verdict"], block["intent"]["id"])
            });
            named.collect::<Vec<_>>().join(", ").replace('"', "")
        };
        let expected = "pay exact INT-001, sell exact INT-002";
        assert_eq!(told(), expected, "{texts}");
        // Nothing is brought again.
        assert!(!lab.intent(&["record", "src", "--intent", "INT-002"]).status.success());
        assert_eq!(told(), expected, "{texts}");
        if with_git {
            lab.run_git(&["add", "-A"]);
            lab.run_git(&["commit", "-qnm", "without hooks"]);
            std::fs::remove_dir_all(lab.root.join(texts)).ok();
            for (asked, open) in [("status", "1 warning"), ("check", "evidence-missing")] {
                let said = String::from_utf8(lab.intent(&[asked]).stdout).expect("UTF-8");
                assert!(said.contains(open), "{asked}: {said}");
            }
            assert_eq!(told(), expected, "{texts}");
            lab.fine(&["seal"]);
            lab.run_git(&["commit", "-qnm", "evidence"]);
            assert_eq!(told(), expected, "{texts}");
            assert!(!lab.fine(&["check"]).contains("evidence-missing"));
        }
        // A run that is not as it was recorded names nobody.
        lab.write("src/pay.py", pay.replace("total", "sum") + sell);
        assert_eq!(told(), "pay unrecorded null, sell exact INT-002", "{texts}");
    }
}

#[test]
#[ignore = "slow"]
fn the_intents_of_another_project_are_named_with_it() {
    let other = Lab::governed();
    other.fine(&["new", "Parse", "--scope", "**", "--start"]);
    other.write("parse.py", "");
    other.commit();
    other.write("parse.py", "def parse(text):\n    words = text.split()\n    return words\n");
    other.fine(&["record", "parse.py", "--intent", "INT-001", "--agent", "claude-code"]);
    commit_with_evidence(&other);
    let lab = Lab::governed();
    lab.fine(&["new", "Pay", "--scope", "**", "--start"]);
    lab.write("src/pay.py", PAY);
    lab.commit();
    let place = other.root.display().to_string();
    lab.run_git(&["fetch", "-q", &place, "main"]);
    lab.run_git(&[
        "merge",
        "-q",
        "-s",
        "ours",
        "--no-commit",
        "--allow-unrelated-histories",
        "FETCH_HEAD",
    ]);
    lab.run_git(&["read-tree", "--prefix=vendor/parser/", "-u", "FETCH_HEAD"]);
    lab.run_git(&["commit", "-q", "-m", "merge the parser"]);
    let told = lab.json(&["why", "vendor/parser/parse.py"]);
    let block = &told["blocks"][0];
    assert_eq!(block["intent"]["id"], "INT-001 (vendor/parser)", "{told:#}");
    assert!(block["contributor"].to_string().contains("AI"), "{block:#}");
    // Nothing of it counts for our intent of the same id.
    let report = lab.json(&["list", "--count"]).to_string();
    assert!(!report.contains("parse.py"), "{report}");
    // What we say of its lines takes their name from none.
    let path = RelativePath::new("vendor/parser/parse.py").expect("a path");
    let theirs = "INT-001 (vendor/parser)";
    for what in [ReassignTarget::File(path.clone()), ReassignTarget::Line(path.clone(), 2)] {
        for to in ["INT-001", "nobody"] {
            let told = at_a_terminal(&lab, what.clone(), theirs, to).expect_err("not ours");
            assert!(told.contains("recorded in the project vendor/parser"), "{told}");
        }
    }
    assert_eq!(lab.json(&["why", path.as_str()]), told);
    lab.fine(&["accept", "vendor/parser/parse.py:2"]);
    for sealed in [false, true] {
        if sealed {
            commit_with_evidence(&lab);
        }
        let block = &lab.json(&["why", path.as_str()])["blocks"][0];
        assert_eq!(block["intent"]["id"], theirs, "{block:#}");
        assert!(block["accepted"].is_object(), "{block:#}");
    }
}
