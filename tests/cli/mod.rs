//! The command line as people and programs see it: the real binary in a real folder.

mod absolved;
mod adopted;
mod attested;
mod between_blocks;
mod books;
mod claimed;
mod clones;
mod compact;
mod context;
mod conversions;
mod day_one;
mod documented;
mod exported;
mod first_use;
mod founded;
mod hooks;
mod hostile;
mod ids;
mod imported;
pub mod lab;
mod listed;
mod merging;
mod outside;
mod pasted;
mod programs;
mod reassign;
mod registry;
mod report;
mod sealed;
mod seen;
mod signed;
mod taken_back;
mod teams;
mod tested;
mod trailers;
mod transcripts;
mod undo;
mod why;
mod wrong_usages;

use lab::{Lab, transcript};

/// A repository in which an agent worked under an intent, and somebody has edited since.
fn worked_in() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.write("src/auth.rs", LOGIN);
        lab.commit();
        for arguments in [
            &[
                "new",
                "JWT migration",
                "--scope",
                "src/**",
                "--constraint",
                "No external providers",
                "--owner",
                "@ada",
                "--start",
            ][..],
            &["new", "Faster pages", "--scope", "web/**"],
            &["select", "INT-001"],
        ] {
            lab.fine(arguments);
        }
        lab.write("src/auth.rs", REFRESHED);
        lab.fine(&["record", "src", "--agent", "claude-code", "--model", "anthropic/claude"]);
        lab
    })
}

const LOGIN: &str =
    "fn login(user: &str) {\n    check(user, 1);\n}\n\nfn logout() {\n    drop_session();\n}\n";
const REFRESHED: &str = "fn login(user: &str) {\n    check(user, 2);\n    remember(user);\n}\n\nfn logout() {\n    drop_session();\n}\n\nfn refresh(token: &str) {\n    renew(token, 3);\n    notify(token);\n}\n";

#[test]
fn the_first_commands_of_a_new_workspace() {
    let lab = Lab::git();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "status",
            "list",
            "init",
            "init",
            "list",
            "new Login --scope src/** --owner @ada",
            "select INT-001",
            "start INT-001",
            "select INT-001",
            "status",
            "context --minimal",
            "clear",
            "clear",
            "complete INT-001",
            "list",
            "doctor",
        ]
    ));
}

#[test]
#[ignore = "slow"]
fn recording_and_asking_for_reasons() {
    let lab = worked_in();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "record src/auth.rs",
            "why src/auth.rs",
            "why src/auth.rs:2",
            "why src/auth.rs:7:3",
            "why src/auth.rs:4000",
            "why src/auth.rs --history",
            "check",
            "verify",
            "verify --blocks",
            "map --check",
            "map",
            "map --check",
            "map --stdout",
            "trace",
            "trace --intent INT-002",
            "trace src/auth.rs",
            "list",
            "context",
        ]
    ));
}

#[test]
fn every_command_shows_an_unrecorded_edit() {
    let lab = worked_in();
    lab.write("src/auth.rs", REFRESHED.replace("renew(token, 3)", "renew(token, 4)"));
    lab.write("docs/notes.md", "# Notes\n\nOne.\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/auth.rs",
            "why src/auth.rs:11",
            "check",
            "verify --blocks",
            "accept src/auth.rs",
            "accept src/auth.rs:4000",
            "accept src/auth.rs --all-differing",
            "why src/auth.rs:11",
            "accept src/auth.rs --all-differing",
            "gate docs/notes.md",
            "record docs/notes.md",
            "record --all --yes docs",
            "check",
        ]
    ));
}

#[test]
#[ignore = "slow"]
fn every_verdict_is_printed() {
    let lab = Lab::with_list();
    for name in ["One", "Two"] {
        lab.fine(&["new", name, "--scope", "src/**", "--start"]);
    }
    let body = |name: &str, n: u32| {
        format!(
            "fn {name}(input: u32) -> u32 {{\n    let first = step(input, {n});\n    let second = again(first, {n});\n    finish(first + second)\n}}\n\n"
        )
    };
    let file =
        |names: &[(&str, u32)]| names.iter().map(|(name, n)| body(name, *n)).collect::<String>();
    lab.write(
        "src/a.rs",
        file(&[
            ("stays", 1),
            ("gets_spaces", 2),
            ("old_name", 3),
            ("changes", 4),
            ("goes", 5),
            ("travels", 6),
        ]),
    );
    lab.fine(&["record", "--all", "--yes", "src", "--intent", "INT-001", "--contributor", "human"]);
    for n in 41..46 {
        let text = lab
            .read("src/a.rs")
            .replace(&body("changes", if n == 41 { 4 } else { n - 1 }), &body("changes", n));
        lab.write("src/a.rs", text);
        let intent = if n % 2 == 0 { "INT-001" } else { "INT-002" };
        lab.fine(&[
            "record",
            "src",
            "--intent",
            intent,
            "--agent",
            "codex",
            "--model",
            "openai/gpt",
        ]);
    }
    let spaced = body("gets_spaces", 2).replace("    let", "        let // why\n");
    let inner = body("travels", 6);
    lab.write(
        "src/a.rs",
        format!(
            "{}{spaced}{}{}mod inside {{\n{inner}}}\n\n{}",
            body("stays", 1),
            body("new_name", 3),
            body("changes", 45).replace("finish(first", "finish(0 * first"),
            file(&[("fresh", 17), ("fresher", 18), ("freshest", 19)]),
        ),
    );
    let twin = |module: &str| format!("mod {module} {{\n{}}}\n", body("twin", 77));
    lab.write("src/twice.rs", twin("one"));
    lab.fine(&["record", "--all", "--yes", "src/twice.rs", "--intent", "INT-001"]);
    lab.write("src/twice.rs", twin("one") + &twin("two"));
    lab.fine(&["record", "src/twice.rs", "--intent", "INT-002", "--model", "openai/gpt"]);
    lab.write("src/twice.rs", twin("three"));
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/a.rs",
            "why src/a.rs:22",
            "why src/a.rs:22 --history",
            "why src/a.rs:22 --lines",
            "why src/twice.rs:3",
            "verify --blocks",
            "trace"
        ]
    ));
}

#[test]
fn mistakes_of_the_user_are_explained() {
    let lab = worked_in();
    lab.write("odd:3", "text\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/nope.rs",
            "why src",
            "why src/auth.rs:0",
            "why odd:3",
            "why /etc/hostname:1:1:1",
            "record src/nope.rs",
            "record ../elsewhere.rs --intent INT-001",
            "select INT-777",
            "select INT-002",
            "context INT-777",
            "check --base nowhere",
            "-C nowhere status",
            "schema nonsense",
            "--json why src/nope.rs",
            "--json bogus",
            "--json check --base",
            "-q check",
            "-q select INT-777",
        ]
    ));
}

#[test]
fn a_broken_registry_is_never_overwritten() {
    let lab = worked_in();
    lab.write(".orchestration/active_intents.yaml", "active_intents:\n  - id: [\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "list",
            "new Another",
            "start INT-001",
            "gate src/auth.rs",
            "record src",
            "status",
            "doctor",
            "verify",
            "why src/auth.rs:2",
        ]
    ));
    assert_eq!(lab.read(".orchestration/active_intents.yaml"), "active_intents:\n  - id: [\n");
}

#[test]
fn commands_outside_of_git_or_of_a_workspace() {
    let lab = Lab::bare_folder();
    lab.write("a.py", "def f():\n    return 1\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why a.py",
            "list",
            "record a.py --intent INT-001",
            "gate a.py",
            "check",
            "verify",
            "trace",
            "init",
            "new One --scope **/*.py --start",
            "record a.py --intent INT-001",
            "record --all --yes a.py --intent INT-001 --contributor human",
            "why a.py:1",
            "check",
            "doctor",
        ]
    ));
}

/// The words of every command that the help lists, the groups and their commands included.
pub fn visible_commands() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let command = intent_lsp::cli::command();
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = sub.get_name().to_owned();
        found.push(vec![name.clone()]);
        let members = sub.get_subcommands();
        found.extend(members.map(|member| vec![name.clone(), member.get_name().to_owned()]));
    }
    found
}

#[test]
fn the_help_texts_are_as_stored() {
    let lab = Lab::git();
    let mut text = String::new();
    for mut words in std::iter::once(Vec::new()).chain(visible_commands()) {
        words.push("--help".to_owned());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        text.push_str(&format!("$ intent {}\n{}\n", words.join(" "), lab.fine(&words)));
    }
    insta::assert_snapshot!(text);
}

#[test]
#[ignore = "slow"]
fn recording_a_folder_lists_only_what_changed() {
    let lab = worked_in();
    lab.write("src/still.rs", "fn still() {\n    1;\n}\n");
    lab.write("src/more.rs", "fn more() {\n    1;\n}\n");
    lab.write("src/picture.png", b"\x89PNG\0\xff");
    lab.fine(&["record", "--all", "--yes", "src/still.rs"]);
    lab.commit();
    lab.write("src/auth.rs", LOGIN);
    lab.write("src/more.rs", "fn more() {\n    2;\n}\n\nfn most() {\n    3;\n}\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "record src --verbose",
            "record src",
            "--json record src",
            "record src/still.rs src/picture.png",
            "record .",
            "record .orchestration/.gitignore",
            "-C src report --html",
        ]
    ));
}

#[test]
fn without_a_selection_the_next_command_is_named() {
    let lab = Lab::with_list();
    lab.write("src/a.rs", "fn a() {}\n");
    let told = |arguments: &[&str]| {
        let output = lab.intent(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert!(told(&["record", "src"]).contains("`intent new \"What somebody asked for\""));
    lab.fine(&["new", "One", "--scope", "src/**"]);
    assert!(told(&["record", "src"]).contains("`intent start INT-001`"));
    lab.fine(&["new", "Two", "--scope", "src/**", "--start"]);
    assert!(told(&["context"]).contains("`intent select INT-002`"));
    for command in ["status", "doctor"] {
        let said = lab.intent(&[command]).stdout;
        assert!(String::from_utf8_lossy(&said).contains("`intent select INT-002`"), "{command}");
    }
    let owned = told(&["record", "src/a.rs"]);
    assert!(owned.contains("INT-002 owns what is named, so `intent select INT-002`"), "{owned}");
    lab.fine(&["start", "INT-001"]);
    assert!(told(&["context"]).contains("with one of INT-001, INT-002"));
}

#[test]
fn a_scope_that_matches_no_file_is_pointed_out() {
    let lab = Lab::with_list();
    lab.write("backend/src/auth/a.rs", "fn a() {}\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "new One --scope src/auth/**",
            "-C backend new Two --scope src/auth/** --scope !src/auth/x.rs",
            "new Three --scope backend/src/auth",
            "new Four --scope backend/src/auth/** --scope docs/**",
            "--json new Five --scope src/**",
        ]
    ));
    let wider = ["request-scope", "--intent", "INT-004", "--add", "auth/**", "--reason", "Needed"];
    assert!(lab.fine(&wider).contains("did you mean backend/src/auth/**?"));
}

/// Commands that need the registry.
const ABOUT_INTENTS: [&[&str]; 13] = [
    &["status"],
    &["list"],
    &["report"],
    &["map"],
    &["map", "--check"],
    &["for", "src/auth.rs"],
    &["why", "src/auth.rs"],
    &["doctor"],
    &["verify"],
    &["context"],
    &["gate", "src/auth.rs"],
    &["record", "src"],
    &["select", "INT-001"],
];

/// Asserts that each of them gives the reason, and that none says that the intent does not exist.
fn assert_every_command_says(lab: &Lab, reason: &str, more: &[&[&str]]) {
    for arguments in ABOUT_INTENTS.iter().chain(more) {
        let output = lab.intent(arguments);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(reason), "{arguments:?}: {said}");
        for wrong in
            ["unknown-intent", "in the registry", "No intents", "0 intents", "no intent owns"]
        {
            assert!(!said.contains(wrong), "{arguments:?}: {said}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn every_command_says_that_the_registry_is_missing() {
    let lab = worked_in();
    lab.commit();
    let path = ".orchestration/active_intents.yaml";
    let new: &[&[&str]] = &[&["new", "Another"], &["check"]];
    lab.write("src/auth.rs", format!("{REFRESHED}\nfn late() {{\n    recorded();\n}}\n"));
    lab.fine(&["record", "src"]);
    let remove = || std::fs::remove_file(lab.root.join(path)).expect("removed");
    let remove_folder =
        || std::fs::remove_dir_all(lab.root.join(".orchestration")).expect("removed");
    let remove_in_index = || lab.run_git(&["rm", "-q", "--cached", path]);
    let cases = [
        (&[&remove as &dyn Fn()][..], "git restore"),
        (&[&remove, &remove_in_index], "git checkout HEAD --"),
        (&[&remove_folder], "git restore"),
    ];
    for (deeds, command) in cases {
        deeds.iter().for_each(|deed| deed());
        let command = format!("{command} :/{path}");
        assert_every_command_says(&lab, &format!("`{command}`"), new);
        assert!(lab.paste(&format!("cd src && {command}")));
        assert!(lab.fine(&["list"]).contains("INT-001"));
    }
    // If git never had the registry, a new one may be written.
    let lab = Lab::with_list();
    lab.write("src/auth.rs", LOGIN);
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.fine(&["select", "INT-001"]);
    lab.fine(&["record", "src"]);
    std::fs::remove_file(lab.root.join(path)).expect("removed");
    let found = lab.intent(&["verify"]);
    let said = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(said.contains("registry-missing") && said.contains("`intent new"), "{said}");
    lab.fine(&["new", "Another"]);
}

#[test]
fn no_registry_is_created_while_git_has_one() {
    let path = ".orchestration/active_intents.yaml";
    for committed in [true, false] {
        let lab = Lab::with_list();
        lab.fine(&["new", "Login"]);
        lab.run_git(&["add", "-A"]);
        if committed {
            lab.commit();
        }
        std::fs::remove_file(lab.root.join(path)).expect("removed");
        for arguments in [&["new", "Another"][..], &["start", "INT-001"]] {
            let refused = lab.intent(arguments);
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            let remedy = format!("`git restore :/{path}`");
            assert!(!refused.status.success() && said.contains(&remedy), "{said}");
        }
        assert!(lab.paste(&format!("git restore :/{path}")));
        assert!(lab.fine(&["list"]).contains("INT-001"));
    }
}

#[test]
fn every_command_says_that_the_registry_does_not_parse() {
    let lab = worked_in();
    lab.commit();
    lab.write(".orchestration/active_intents.yaml", "active_intents: [");
    let reason = "The registry does not parse: ";
    assert_every_command_says(&lab, reason, &[&["new", "Another"]]);
}

#[test]
fn a_placeholder_of_another_tool_is_no_unknown_intent() {
    let lab = Lab::with_list();
    lab.write("a.py", "def f():\n    return 1\n");
    let line = |id: &str| {
        format!(
            "{{\"id\":\"{id}\",\"timestamp\":\"2026-02-18T12:00:00Z\",\"intent_id\":\"{id}\",\"files\":[{{\"path\":\"a.py\",\"ranges\":[{{\"start_line\":1,\"end_line\":2}}]}}]}}\n"
        )
    };
    let ids = ["UNSPECIFIED", "unknown", "N/A", "none"];
    lab.write(".orchestration/agent_trace.jsonl", ids.map(line).concat());
    assert!(lab.fine(&["verify"]).contains("0 errors, 0 warnings"));
    lab.write(".orchestration/agent_trace.jsonl", line("INT-9"));
    let found = lab.intent(&["verify"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("unknown-intent"));
}

#[test]
fn commands_that_end_something_say_so() {
    let lab = worked_in();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "complete INT-001",
            "status",
            "clear",
            "complete INT-001",
            "git-hooks --remove",
            "anchor --key none",
        ]
    ));
}
