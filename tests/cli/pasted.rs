//! The commands that messages suggest work when they are pasted into a shell.

use ground::RelativePath;
use ground::session::ungated::{self, Ungated};
use why::Workspace;

use super::lab::Lab;

/// Returns the commands that a text names.
fn commands(text: &str) -> Vec<String> {
    let named = text.split('`').skip(1).step_by(2);
    named
        .filter(|it| it.starts_with("intent ") || it.starts_with("git "))
        .map(str::to_owned)
        .collect()
}

/// Notes that the file's current text was written without a gate.
fn note(lab: &Lab, path: &str) {
    let text = std::fs::read(lab.root.join(path)).ok();
    let note = Ungated {
        path: RelativePath::new(path).expect("a path"),
        hash: text.map(|text| ground::store::sha256(&text)),
        before: Default::default(),
        head: None,
        actor: "codex:1".into(),
        tool: "Bash".into(),
        why: "no hook was asked before it".into(),
        at: "2026-11-25T00:00:00.000Z".into(),
    };
    ungated::keep(
        &Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace").root,
        &note,
    )
    .expect("kept");
}

#[test]
#[ignore = "slow"]
fn each_suggested_command_settles_an_ungated_write() {
    let text = "fn written() {\n    by_somebody();\n}\n";
    // Each row: the file, its content, whether an intent is selected, and the number of suggested commands.
    let cases = [
        ("src/in scope.rs", Some(text), true, 2),
        ("src/unselected.rs", Some(text), false, 2),
        ("src/gone.rs", None, true, 1),
        ("src/never there.rs", None, false, 1),
        ("src/as_committed.rs", Some(text), false, 1),
        ("other/out of scope.rs", Some(text), true, 1),
        ("paused/draft.rs", Some(text), false, 1),
        ("src/picture.bin", Some("\0\0"), true, 1),
        (".intentignore", Some("secret\n"), true, 1),
    ];
    for (path, now, is_selected, expected) in cases {
        let found = |nth: Option<usize>| {
            let lab = Lab::with_list();
            lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
            lab.fine(&["new", "Two", "--scope", "paused/**"]);
            for path in ["src/gone.rs", "src/as_committed.rs"] {
                lab.write(path, text);
            }
            lab.commit();
            match now {
                Some(text) => lab.write(path, text),
                None => std::fs::remove_file(lab.root.join(path)).unwrap_or_default(),
            }
            if is_selected {
                lab.fine(&["select", "INT-001"]);
            }
            note(&lab, path);
            let settling = || -> Vec<String> {
                let findings = lab.json(&["check"])["findings"].clone();
                let mut findings = findings.as_array().into_iter().flatten();
                let found = findings.find(|finding| finding["code"] == "ungated-write");
                let help = found.map_or("", |found| found["help"].as_str().expect("a help"));
                commands(help).into_iter().filter(|it| it != "intent doctor").collect()
            };
            let named = settling();
            if let Some(command) = nth.map(|nth| &named[nth]) {
                assert!(lab.paste(command), "{command}");
                assert_eq!(settling(), [""; 0], "{command}");
            }
            named.len()
        };
        assert_eq!(found(None), expected, "{path}");
        for nth in 0..expected {
            found(Some(nth));
        }
    }
}

/// Messages name files from the root of the workspace, and paths are taken from the current folder.
#[test]
fn a_command_that_is_pasted_in_a_subfolder_works_or_says_what_to_add() {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.fine(&["select", "INT-001"]);
    lab.write("src/a b.rs", "fn first() {\n    one();\n}\n");
    let below = lab.root.join("src");
    let below = below.to_str().expect("UTF-8");
    for (command, path) in
        [("record", "src/a b.rs"), ("why", "src/a b.rs:2"), ("accept", "src/a b.rs:1")]
    {
        let refused = lab.json(&["-C", below, command, path]);
        let help = refused["error"]["help"].as_str().expect("a help");
        let (_, added) = help.split_once("with `-C ").expect("what to add");
        let (root, _) = added.split_once('`').expect("a folder");
        assert!(lab.paste(&format!("cd src && intent {command} '{path}' -C {root}")), "{help}");
        let nowhere = lab.json(&["-C", below, command, "src/c.rs"]);
        assert!(!nowhere["error"]["help"].as_str().expect("a help").contains("with `-C "));
    }
}

/// A submodule is a workspace of its own.
#[test]
#[ignore = "slow"]
fn advice_acts_in_the_workspace_that_was_asked_about() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Outer", "--scope", "**", "--start"]);
    let inner = "a  lib";
    lab.run_git(&["init", "-q", "-b", "main", "../source"]);
    lab.run_git(&["-C", "../source", "commit", "-q", "--allow-empty", "-m", "first"]);
    let source = lab.root.with_file_name("source").display().to_string();
    lab.run_git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &source, inner]);
    lab.fine(&["-C", inner, "init"]);
    lab.fine(&["-C", inner, "new", "Inner", "--scope", "**", "--start"]);
    let file = "a  lib/-in  it/it's.rs";
    let asked: [&[&str]; 4] = [
        &["-C", inner, "check", "--verbose"],
        &["-C", "a  lib/-in  it", "check", "--verbose"],
        &["record", file],
        &["-C", inner, "status"],
    ];
    for (nth, words) in asked.into_iter().enumerate() {
        lab.write(file, format!("fn first() {{\n    take({nth});\n}}\n"));
        lab.intent(&["-C", inner, "-q", "clear"]);
        let output = lab.intent(words);
        let told =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        let named = commands(&told.concat());
        assert!(!named.is_empty(), "{words:?}: {told:?}");
        for command in named {
            assert!(command.starts_with("intent -C 'a '' lib' "), "{words:?}: {command}");
            assert!(lab.paste(&command), "{words:?}: {command}");
        }
    }
    lab.fine(&["-C", inner, "new", "Elsewhere", "--scope", "docs/**", "--start"]);
    lab.write(file, "fn last() {}\n");
    let warned = lab.intent(&["record", "--intent", "INT-002", file]).stdout;
    let named = commands(&String::from_utf8(warned).expect("UTF-8"));
    assert!(
        named.iter().any(|it| it.starts_with("intent -C 'a '' lib' evidence reassign ")),
        "{named:?}"
    );
}

#[test]
fn a_record_outside_the_scope_names_the_next_command() {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.fine(&["new", "Two", "--scope", "docs/**", "--start"]);
    lab.fine(&["select", "INT-001"]);
    let recorded = |path: &str| {
        lab.write(path, "fn out() {\n    there();\n}\n");
        let answer = lab.json(&["record", path]);
        let against = answer["recorded"][0]["against"].as_str().expect("a warning").to_owned();
        commands(&against)
    };
    let named = recorded("web site/a.rs");
    let ask =
        "intent request-scope --intent INT-001 --add 'web site/a.rs' --reason 'why it is needed'";
    assert_eq!(named, [ask]);
    assert!(lab.paste(ask));
    let ask =
        r"intent request-scope --intent INT-001 --add 'web/\[id\].rs' --reason 'why it is needed'";
    assert_eq!(recorded("web/[id].rs"), [ask], "the entry owns no other file");
    assert!(lab.paste(ask));
    // This command is for a person at a terminal.
    let reassign = "intent evidence reassign docs/a.rs --from INT-001 --to INT-002";
    assert_eq!(recorded("docs/a.rs"), [reassign]);
}

/// A check of the index uses the rules in the index, whatever the work tree has, and says so.
#[test]
#[ignore = "slow"]
fn staged_changes_are_judged_by_the_staged_rules() {
    let path = ".orchestration/active_intents.yaml";
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.commit();
    lab.fine(&["select", "INT-001"]);
    for file in ["src/a.rs", "web/b.rs"] {
        lab.write(file, "fn one() {\n    first();\n}\n");
        lab.intent(&["record", file]);
    }
    lab.run_git(&["add", "-A"]);
    let staged = lab.read(path);
    let judged = || {
        let answer = lab.json(&["check", "--staged"]);
        let findings = answer["findings"].as_array().expect("a list").iter();
        let findings: Vec<String> =
            findings.map(|one| format!("{} {}", one["code"], one["path"])).collect();
        let notes = answer["summary"]["notes"].as_array().expect("a list").iter();
        let notes: Vec<String> = notes.map(|it| it.as_str().expect("a note").to_owned()).collect();
        (findings, notes.into_iter().find(|note| note.contains("the rules that are staged")))
    };
    let (first, note) = judged();
    assert_eq!(first, ["\"scope-violation\" \"web/b.rs\""]);
    assert_eq!(note, None);
    for other in ["**", "docs/**"] {
        lab.write(path, staged.replace("src/**", other));
        let (found, note) = judged();
        assert_eq!(found, first, "{other}");
        let note = note.expect("it says so");
        assert_eq!(commands(&note), [format!("git add :/{path}")]);
    }
    std::fs::remove_file(lab.root.join(path)).expect("removed");
    let (found, note) = judged();
    assert_eq!(found, first, "none");
    let named = commands(&note.expect("it says so"));
    assert!(lab.paste(&named[0]) && lab.read(path) == staged, "{named:?}");
    assert_eq!(judged(), (first, None));
}

#[test]
#[ignore = "slow"]
fn what_check_advises_about_odd_names_can_be_pasted() {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.commit();
    for name in [
        "two  spaces.rs",
        "it's.rs",
        "-dash.rs",
        "$HOME;a.rs",
        "b`tick\".rs",
        "*.rs",
        "!a.rs",
        "a:12",
    ] {
        for path in [format!("src/{name}"), name.to_owned()] {
            lab.write(&path, format!("fn written() {{\n    take(\"{path}\");\n}}\n"));
            let output = lab.intent(&["check", "--verbose"]);
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            let help = text.lines().find(|line| line.starts_with("  help: ")).expect("a help");
            // The command is up to a backtick that ends a clause, since a name may hold one.
            let begin = help.find("`intent record ").or_else(|| help.find("`intent new "));
            let command = &help[begin.unwrap_or_else(|| panic!("{path}: {text}")) + 1..];
            let end = ["`, ", "`."].into_iter().filter_map(|end| command.find(end)).min();
            let command = &command[..end.expect("its end")];
            assert!(lab.paste(command), "{command}");
            std::fs::remove_file(lab.root.join(&path)).expect("it was written");
        }
    }
}
