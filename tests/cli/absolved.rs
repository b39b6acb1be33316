//! A commit absolves nothing: what lies out of scope before it lies out of scope after it, on the
//! machine that made it and where it is merged.

use super::lab::Lab;

/// A repository with two intents in progress, of which none is selected, and a file of each.
fn with_two_intents() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.fine(&["new", "Billing", "--scope", "billing/**", "--start"]);
        lab.fine(&["clear"]);
        lab.write("src/a.rs", "fn one() {\n    call(1);\n}\n");
        lab.write("billing/b.rs", "fn two() {\n    call(2);\n}\n");
        lab.write("free/c.rs", "fn three() {\n    call(3);\n}\n");
        lab.commit();
        lab
    })
}

fn edit(lab: &Lab, path: &str) {
    lab.write(path, lab.read(path) + "\nfn added() {\n    another();\n}\n");
}

/// Returns the errors of a check, each as `code path intent`.
fn errors(lab: &Lab, arguments: &[&str]) -> Vec<String> {
    let answer = lab.json(&[&["check"], arguments].concat());
    let findings = answer["findings"].as_array().expect("findings").iter();
    let errors = findings.filter(|finding| finding["level"] == "error");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    errors.map(|it| [&it["code"], &it["path"], &it["intent"]].map(text).join(" ")).collect()
}

/// Asserts that a check finds this before the commit and after it, here and where it is merged.
#[track_caller]
fn assert_found_before_and_after(lab: &Lab, expected: &[&str]) {
    assert_eq!(errors(lab, &[]), expected, "before the commit");
    lab.run_git(&["add", "-A"]);
    assert_eq!(errors(lab, &["--staged"]), expected, "when it is staged");
    lab.commit();
    assert_eq!(errors(lab, &["--base", "HEAD~1"]), expected, "after the commit");
}

#[test]
#[ignore = "slow"]
fn an_unrecorded_change_beside_recorded_work_is_out_of_scope() {
    let lab = with_two_intents();
    edit(&lab, "src/a.rs");
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex"]);
    edit(&lab, "billing/b.rs");
    edit(&lab, "free/c.rs");
    let found = ["scope-violation billing/b.rs INT-001"];
    assert_found_before_and_after(&lab, &found);
    assert_eq!(errors(&lab, &["HEAD~1..HEAD"]), found, "in CI");
    // A later commit of the branch is judged with the evidence of an earlier one.
    edit(&lab, "src/a.rs");
    lab.commit();
    assert_eq!(errors(&lab, &["HEAD~2..HEAD"]), found);
    // Somebody who works on both answers for both.
    edit(&lab, "billing/b.rs");
    lab.fine(&["record", "billing", "--intent", "INT-002", "--agent", "codex"]);
    lab.commit();
    assert_eq!(errors(&lab, &["HEAD~3..HEAD"]), [""; 0]);
}

/// Code that was recorded under one intent is moved under another one, which owns the place where it stands now. Before
/// the commit the lines are new, and after it they are the old ones.
#[test]
#[ignore = "slow"]
fn who_moves_code_answers_for_it_and_not_who_wrote_it() {
    let lab = with_two_intents();
    let function =
        |name: &str| format!("fn {name}() {{\n    first();\n    second();\n    third();\n}}\n");
    lab.write("src/a.rs", function("one") + "\n" + &function("two"));
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex"]);
    lab.commit();
    lab.fine(&["new", "Split", "--scope", "moved/**", "--scope", "src/**", "--start"]);
    lab.fine(&["clear"]);
    lab.commit();
    lab.write("src/a.rs", function("one"));
    lab.write("moved/b.rs", format!("use std::fs;\n\n{}", function("two")));
    lab.fine(&["record", "src", "moved", "--intent", "INT-003", "--agent", "codex"]);
    assert_found_before_and_after(&lab, &[]);
}

/// Every kind of change of a file that another intent in progress owns, by nobody that is recorded.
#[test]
#[ignore = "slow"]
fn every_kind_of_change_is_the_same_before_and_after_the_commit() {
    type Change = (&'static str, fn(&Lab), &'static [&'static str]);
    const FOUND: &str = "scope-violation billing/b.rs INT-001";
    let changes: [Change; 6] = [
        ("an edit", |lab| edit(lab, "billing/b.rs"), &[FOUND]),
        (
            "a new file",
            |lab| lab.write("billing/n.rs", "fn n() {\n    new(1);\n}\n"),
            &["scope-violation billing/n.rs INT-001"],
        ),
        ("a deletion", |lab| lab.run_git(&["rm", "-q", "billing/b.rs"]), &[FOUND]),
        (
            "a rename within the scope",
            |lab| lab.run_git(&["mv", "billing/b.rs", "billing/c.rs"]),
            &[FOUND, "scope-violation billing/c.rs INT-001"],
        ),
        ("a file that is not text", |lab| lab.write("billing/b.rs", [0, 159, 146, 150]), &[FOUND]),
        (
            "a comment between blocks",
            |lab| lab.write("billing/b.rs", lab.read("billing/b.rs") + "// Paid in cents.\n"),
            &[FOUND],
        ),
    ];
    for (name, change, expected) in changes {
        for is_bound_by_record in [true, false] {
            let lab = with_two_intents();
            let expected: &[&str] = if is_bound_by_record { expected } else { &[] };
            if is_bound_by_record {
                edit(&lab, "src/a.rs");
                lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex"]);
            }
            change(&lab);
            println!("{name}");
            assert_found_before_and_after(&lab, expected);
            assert_eq!(errors(&lab, &["HEAD~1..HEAD"]), expected, "{name}, in CI");
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_trailer_binds_the_rest_of_the_branch_and_a_contributor_is_bound_to_nothing() {
    let lab = with_two_intents();
    edit(&lab, "billing/b.rs");
    assert_found_before_and_after(&lab, &[]);
    assert_eq!(errors(&lab, &["HEAD~1..HEAD"]), [""; 0]);
    edit(&lab, "src/a.rs");
    lab.run_git(&["commit", "-qam", "work\n\nIntent-Id: INT-001"]);
    assert_eq!(errors(&lab, &["HEAD~1..HEAD"]), [""; 0]);
    assert_eq!(errors(&lab, &["HEAD~2..HEAD"]), ["scope-violation billing/b.rs INT-001"]);
}

#[test]
fn a_selection_holds_for_what_the_same_person_committed() {
    let lab = with_two_intents();
    lab.run_git(&["config", "user.email", "t@example.invalid"]);
    lab.fine(&["select", "INT-001"]);
    edit(&lab, "billing/b.rs");
    assert_found_before_and_after(&lab, &["scope-violation billing/b.rs INT-001"]);
    lab.run_git(&["config", "user.email", "somebody.else@example.invalid"]);
    assert_eq!(errors(&lab, &["--base", "HEAD~1"]), [""; 0]);
}

#[test]
#[ignore = "slow"]
fn a_folder_that_leaves_its_scope_is_found_in_the_change_that_moves_it() {
    let lab = with_two_intents();
    let told = |arguments: &[&str]| {
        let answer = lab.json(&[&["check"], arguments].concat());
        let findings = answer["findings"].as_array().expect("findings").clone();
        let found = findings.iter().find(|it| it["code"] == "empty-scope");
        found.map_or_else(String::new, |it| it["message"].as_str().expect("text").to_owned())
    };
    lab.run_git(&["mv", "free", "open"]);
    assert_eq!(told(&[]), "", "nobody owned that");
    lab.run_git(&["mv", "src", "lib"]);
    let expected = "The change leaves `src/**` of INT-001 without a file: it moves src/a.rs to where no intent in progress owns it, such as lib/a.rs.";
    assert_eq!(told(&[]), expected);
    lab.commit();
    assert_eq!(told(&["--base", "HEAD~1"]), expected);
    assert_eq!(told(&["HEAD~1..HEAD"]), expected);
    lab.run_git(&["config", "user.email", "t@example.invalid"]);
    lab.fine(&["select", "INT-001"]);
    lab.run_git(&["mv", "lib", "src"]);
    lab.commit();
    lab.run_git(&["mv", "src", "lib"]);
    assert_found_before_and_after(&lab, &["scope-violation lib/a.rs INT-001"]);
}

/// What happens to a line of a function, and the intent under which it is recorded.
type Step = (char, &'static str, Option<&'static str>);

/// Makes a commit that adds a line to a function, removes it or writes another one in its place, or
/// gives the function another name.
fn take(lab: &Lab, (what, name, intent): Step) {
    let (path, line) = ("src/a.rs", format!("    {name}();\n"));
    let text = lab.read(path);
    let text = match what {
        '+' => text.replacen("{\n", &format!("{{\n{line}"), 1),
        '-' => text.replace(&line, ""),
        'f' => format!("fn {name}{}", &text[text.find('(').expect("a function")..]),
        _ => text.replace(&line, &format!("    {what}{name}();\n")),
    };
    lab.write(path, text);
    if let Some(intent) = intent {
        lab.intent(&["record", path, "--intent", intent, "--agent", "codex"]);
    }
    lab.commit();
}

#[test]
#[ignore = "slow"]
fn a_recorded_removal_is_judged_whatever_happens_to_the_block_later() {
    const OWN: Option<&str> = Some("INT-001");
    const OTHER: Option<&str> = Some("INT-002");
    const FOUND: &[&str] = &["scope-violation src/a.rs INT-002"];
    // Each row: the steps, the errors, and how many blocks are not recorded.
    let stories: &[(&[Step], &[&str], u64)] = &[
        (&[('-', "b", OTHER)], FOUND, 0),
        (&[('-', "b", OTHER), ('-', "d", OWN)], FOUND, 0),
        (&[('-', "b", OTHER), ('+', "z", OWN)], FOUND, 0),
        // What nobody recorded lies beside it.
        (&[('-', "b", OTHER), ('x', "d", None)], &[FOUND[0], FOUND[0]], 1),
        (&[('-', "d", None), ('-', "b", OWN), ('+', "z", OWN)], &[], 1),
        (&[('-', "b", OWN), ('-', "d", None)], &[], 1),
        (&[('-', "b", OWN), ('-', "d", None), ('+', "z", OWN)], &[], 1),
        // A line that is there again was not removed, and only the last removal counts.
        (&[('-', "a", OTHER), ('+', "a", OWN), ('-', "d", OWN)], &[], 0),
        (&[('-', "a", OTHER), ('+', "a", None), ('-', "a", OWN)], &[], 0),
        (&[('-', "a", OTHER), ('+', "a", None), ('-', "a", None), ('-', "d", OWN)], &[], 1),
        // A line that is back as it was is no work, whoever put it back.
        (&[('-', "a", OTHER), ('+', "a", OTHER), ('-', "d", OWN)], &[], 0),
        (&[('-', "a", OWN), ('+', "a", OWN), ('-', "d", None)], &[], 1),
        // Work of which nothing is left is not the rest of the change.
        (&[('-', "a", OTHER), ('+', "a", OTHER), ('-', "d", None)], &[], 1),
        (&[('+', "z", OTHER), ('-', "z", None), ('x', "d", None)], &[], 1),
        // Who wrote another line in place of one has removed it, whatever stands there now.
        (&[('x', "b", OTHER), ('y', "xb", OWN)], FOUND, 0),
        (&[('x', "b", OTHER), ('-', "xb", OWN)], FOUND, 0),
        // The block may have had other names before and after.
        (&[('f', "two", OWN), ('-', "b", OTHER), ('f', "three", OWN)], FOUND, 0),
        (&[('f', "two", OWN), ('-', "b", None), ('f', "three", OWN)], &[], 1),
    ];
    for (steps, expected, open) in stories {
        let lab = with_two_intents();
        lab.write("src/a.rs", "fn one() {\n    a();\n    b();\n    c();\n    d();\n    e();\n}\n");
        lab.commit();
        lab.run_git(&["branch", "-q", "before"]);
        steps.iter().for_each(|step| take(&lab, *step));
        assert_eq!(errors(&lab, &["before..HEAD"]), *expected, "{steps:?}");
        let told = lab.json(&["check", "--base", "before"]);
        let blocks = &told["summary"]["blocks"];
        let recorded = &told["summary"]["recorded"];
        assert_eq!(blocks.as_u64(), recorded.as_u64().map(|it| it + open), "{steps:?}: {told}");
    }
}

#[test]
#[ignore = "slow"]
fn a_removal_in_a_commit_with_a_recorded_one_is_not_recorded() {
    const OWN: Option<&str> = Some("INT-001");
    let stories: &[(&[Step], u64)] = &[
        (&[('-', "b", OWN), ('-', "d", OWN)], 0),
        (&[('-', "b", OWN), ('-', "d", None)], 1),
        (&[('-', "d", None), ('-', "b", OWN)], 0),
        (&[('x', "b", OWN), ('-', "d", None)], 1),
        (&[('x', "b", OWN), ('y', "d", OWN)], 0),
    ];
    for (steps, open) in stories {
        let lab = with_two_intents();
        lab.write("src/a.rs", "fn one() {\n    a();\n    b();\n    c();\n    d();\n    e();\n}\n");
        lab.commit();
        lab.run_git(&["branch", "-q", "before"]);
        steps.iter().for_each(|step| take(&lab, *step));
        lab.run_git(&["reset", "-q", "--soft", "before"]);
        lab.run_git(&["-c", "core.hooksPath=/dev/null", "commit", "-qm", "squashed"]);
        let told = lab.json(&["check", "--base", "before"]);
        assert_eq!(told["summary"]["uncovered"].as_u64(), Some(*open), "{steps:?}: {told}");
    }
}

/// Evidence that was added later names its commit, which a rebase or a squash replaces.
#[test]
#[ignore = "slow"]
fn a_removal_is_recorded_when_its_commit_was_replaced() {
    const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];
    let rewrites: &[&[&[&str]]] = &[
        &[],
        &[&["rebase", "-q", "before"]],
        &[&["reset", "-q", "--soft", "before~1"], &["commit", "-qm", "squashed"]],
    ];
    for rewrite in rewrites {
        for text in ["fn one() {\n    a();\n    b();\n}\n", "fn two() {\n    c();\n}\n"] {
            let lab = with_two_intents();
            let standing = "fn one() {\n    a();\n    b();\n    c();\n}\n";
            lab.write("src/a.rs", format!("{standing}fn two() {{\n    c();\n}}\n"));
            lab.commit();
            let start = lab.read_git(&["rev-parse", "HEAD"]);
            lab.write("src/a.rs", text);
            lab.intent(&["record", "src/a.rs", "--intent", "INT-002", "--agent", "codex"]);
            lab.run_git(&[&NO_HOOKS[..], &["commit", "-qam", "without a hook"]].concat());
            lab.write("free/d.rs", "fn four() {}\n");
            lab.commit();
            let branch = lab.read_git(&["branch", "--show-current"]);
            lab.run_git(&["switch", "-qc", "before", start.trim()]);
            lab.write("free/e.rs", "fn five() {}\n");
            lab.run_git(&["add", "free/e.rs"]);
            lab.run_git(&[&NO_HOOKS[..], &["commit", "-qm", "on the base"]].concat());
            lab.run_git(&["switch", "-q", branch.trim()]);
            for command in *rewrite {
                lab.run_git(&[&NO_HOOKS[..], command].concat());
            }
            // A fresh clone has neither the replaced commits nor our notes about them.
            let clone = format!("../{}-clone", lab.root.file_name().expect("a name").display());
            lab.run_git(&["clone", "-q", "--no-local", ".", &clone]);
            let told = lab.json(&["-C", &clone, "check", "--base", "origin/before"]);
            let mut findings = told["findings"].as_array().expect("findings").iter();
            let is_its = |it: &serde_json::Value| {
                it["code"] == "scope-violation" && it["intent"] == "INT-002"
            };
            assert!(findings.any(is_its), "{rewrite:?} {text:?}: {told}");
            // Only the other file is not recorded.
            assert_eq!(told["summary"]["uncovered"], 1, "{rewrite:?} {text:?}: {told}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn the_last_deletion_of_a_block_answers_for_it() {
    // Each row: the intents of two deletions, the errors, and how many are not recorded.
    type Story<'a> = (Option<&'a str>, Option<&'a str>, &'a [&'a str], u64);
    let stories: &[Story<'_>] = &[
        (Some("INT-002"), Some("INT-001"), &[], 0),
        (Some("INT-001"), Some("INT-002"), &["scope-violation src/a.rs INT-002"], 0),
        (Some("INT-001"), None, &[], 1),
        (None, Some("INT-001"), &[], 0),
    ];
    let (one, two) = ("fn one() {\n    a();\n}\n", "fn two() {\n    b();\n}\n");
    // With the only block of a file, the file goes, too.
    for other in [two, ""] {
        for (first, second, expected, open) in stories {
            let lab = with_two_intents();
            lab.write("src/a.rs", format!("{one}{other}"));
            lab.commit();
            lab.run_git(&["branch", "-q", "before"]);
            let delete = |intent: &Option<&str>| {
                match other {
                    "" => std::fs::remove_file(lab.root.join("src/a.rs")).expect("removed"),
                    other => lab.write("src/a.rs", other),
                }
                if let Some(intent) = intent {
                    lab.intent(&["record", "src/a.rs", "--intent", intent, "--agent", "codex"]);
                }
                lab.commit();
            };
            delete(first);
            lab.run_git(&["checkout", "-q", "before", "--", "src/a.rs"]);
            lab.commit();
            delete(second);
            let told = lab.json(&["check", "--base", "before"]);
            assert_eq!(
                errors(&lab, &["--base", "before"]),
                *expected,
                "{first:?} {second:?} {told}"
            );
            assert_eq!(told["summary"]["uncovered"].as_u64(), Some(*open), "{first:?} {second:?}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_record_is_not_new_in_a_ledger_with_another_name() {
    let lab = with_two_intents();
    lab.write(".orchestration/policy.yaml", "ledger:\n  layout: single\n");
    lab.commit();
    take(&lab, ('+', "x", Some("INT-002")));
    lab.run_git(&["branch", "-q", "before"]);
    take(&lab, ('+', "y", None));
    let ledger = ".orchestration/agent_trace.jsonl";
    lab.run_git(&["mv", ledger, ".orchestration/agent_trace_2026.jsonl"]);
    lab.commit();
    assert_eq!(errors(&lab, &["--base", "before"]), [""; 0]);
}

#[test]
#[ignore = "slow"]
fn two_recorded_removals_that_are_merged_are_recorded() {
    let lab = with_two_intents();
    lab.write("src/a.rs", "fn one() {\n    a();\n    b();\n    c();\n    d();\n    e();\n}\n");
    lab.commit();
    lab.run_git(&["branch", "-q", "other"]);
    lab.run_git(&["branch", "-q", "before"]);
    take(&lab, ('-', "a", Some("INT-001")));
    lab.run_git(&["switch", "-q", "other"]);
    take(&lab, ('-', "e", Some("INT-001")));
    lab.run_git(&["merge", "-q", "-m", "both", "main"]);
    let told = lab.json(&["check", "--base", "before"]);
    assert_eq!(
        (&told["summary"]["recorded"], &told["summary"]["uncovered"]),
        (&1.into(), &0.into())
    );
}
