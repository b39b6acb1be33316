//! `intent why` and `intent trace`: lines, revisions, ids, and things that do not exist.

use serde_json::Value;

use crate::cli::lab::{Lab, masked, transcript};

const SHOP: &str = "fn open() {\n    unlock(1);\n}\n\nfn close() {\n    lock(2);\n}\n";

/// A repository with two commits: the first was recorded under one intent, the second under another.
fn twice() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        for (name, owner) in [("Doors", "@ada"), ("Alarms", "@bob")] {
            let constraint = ["--constraint", "No network"];
            lab.fine(
                &[
                    &["new", name, "--scope", "src/**", "--owner", owner, "--start"],
                    &constraint[..],
                ]
                .concat(),
            );
        }
        lab.write("src/shop.rs", SHOP);
        lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex", "--all", "--yes"]);
        lab.commit();
        lab.write("src/shop.rs", SHOP.replace("lock(2);", "lock(2);\n    arm(3);"));
        let session = ["--session", "claude-code:abc", "--model", "example/model-1"];
        let work = ["record", "src", "--intent", "INT-002", "--agent", "claude-code"];
        lab.fine(&[&work[..], &session].concat());
        lab.commit();
        lab
    })
}

#[test]
#[ignore = "slow"]
fn a_row_without_a_named_intent_says_whose_its_lines_are() {
    let lab = Lab::governed();
    for name in ["Doors", "Alarms", "Lights"] {
        lab.fine(&["new", name, "--scope", "src/**", "--start"]);
    }
    let block = |name: &str, calls: &[&str]| {
        let body: String = calls.iter().map(|call| format!("    {call}();\n")).collect();
        format!("fn {name}() {{\n{body}}}\n")
    };
    let before = ["old", "older", "oldest"];
    // Two commits of one author are one share.
    for lines in [&before[..2], &before] {
        lab.write("src/shop.rs", block("part", lines));
        lab.commit();
    }
    let mut part = before.to_vec();
    for (intent, half, calls) in [
        ("INT-001", &["one"][..], ["lock", "bolt"]),
        ("INT-002", &["one", "two", "three"], ["arm", "ring"]),
        ("INT-003", &["one", "two", "three"], ["glow", "shine"]),
    ] {
        part.extend(calls);
        lab.write("src/shop.rs", block("part", &part) + &block("half", half));
        lab.fine(&["record", "src", "--intent", intent, "--agent", "codex"]);
    }
    let rows = || {
        let told = lab.fine(&["why", "src/shop.rs"]);
        let row = |name: &str| {
            let row = told.lines().find(|row| row.contains(name)).expect("a row");
            row.split_whitespace().skip(3).collect::<Vec<_>>().join(" ")
        };
        [row("part"), row("half"), told.lines().last().expect("a line").to_owned()]
    };
    let shares = "4 lines git: t, 2 lines INT-001, 2 lines INT-002, 2 lines INT-003";
    let halves = "2 lines INT-001, 2 lines INT-002";
    let cards = || lab.fine(&["why", "src/shop.rs", "--lines"]);
    let of_part = "no intent brought half of its lines\n";
    let of_halves = "two intents brought half of its lines each\n";
    assert_eq!(
        rows(),
        [
            &format!("· unrecorded {shares}"),
            &format!("? ambiguous {halves}"),
            "10 of 14 lines recorded"
        ]
    );
    let folder = lab.fine(&["why", "src"]);
    assert_eq!(folder, "src/shop.rs  10 of 14 lines recorded  INT-001, INT-002, INT-003\n");
    assert!(cards().contains(of_part) && cards().contains(of_halves), "{}", cards());
    // Whoever accepts a block says nothing of its lines.
    for line in ["src/shop.rs:1", "src/shop.rs:12"] {
        lab.fine(&["accept", line]);
    }
    let accepted = [format!("✓ exact {shares}"), format!("✓ exact {halves}")];
    assert_eq!(rows()[..2], accepted);
    assert!(cards().contains(of_part) && cards().contains(of_halves), "{}", cards());
    assert_eq!(cards().matches("accepted as it stands").count(), 2, "{}", cards());
}

/// A file as it was before the project had intents loses no registry, and its lines are git's.
#[test]
fn what_nobody_recorded_is_shown_in_full_with_its_commits() {
    let lab = Lab::git();
    lab.write("src/shop.rs", SHOP);
    lab.commit();
    lab.fine(&["init"]);
    lab.fine(&["new", "Doors", "--scope", "src/**", "--start"]);
    lab.commit();
    let brought = lab.git_says(&["rev-parse", "--short=7", "HEAD~1"]);
    for place in ["src/shop.rs", "HEAD~1:src/shop.rs"] {
        for parts in [&["--lines"][..], &["--history"], &["--lines", "--history"]] {
            let told = lab.fine(&[&["why", place], parts].concat());
            assert!(!told.contains("missing"), "{place} {parts:?}: {told}");
            for expected in ["function open", "function close", brought.trim()] {
                assert!(told.contains(expected), "{place} {parts:?}: {told}");
            }
            assert!(told.ends_with("\n0 of 4 lines recorded\n"), "{place} {parts:?}: {told}");
        }
    }
}

#[test]
fn everybody_who_wrote_under_the_intent_of_a_block_is_named() {
    let lab = Lab::governed();
    lab.fine(&["new", "Doors", "--scope", "src/**", "--start"]);
    let write = |calls: &[&str], agent: &str| {
        let body: String = calls.iter().map(|call| format!("    {call}();\n")).collect();
        lab.write("src/shop.rs", format!("fn open() {{\n{body}}}\n"));
        lab.fine(&["record", "src", "--intent", "INT-001", "--agent", agent]);
    };
    let all = ["one", "two", "three", "four", "five", "six"];
    write(&all[..1], "bot");
    write(&all, "codex");
    write(&["one", "two", "three", "four", "five", "seis"], "bot");
    for is_committed in [false, true] {
        if is_committed {
            lab.commit();
        }
        let told = lab.fine(&["why", "src/shop.rs"]);
        let row = told.lines().find(|row| row.contains("open")).expect("a row");
        let row = row.split_whitespace().skip(3).collect::<Vec<_>>().join(" ");
        assert_eq!(row, "✓ exact 7/7 INT-001 codex and bot just now");
    }
}

#[test]
#[ignore = "slow"]
fn a_block_has_all_facts_that_its_traced_record_has() {
    let lab = twice();
    let why = lab.json(&["why", "src/shop.rs"]);
    let traced = lab.fine(&["trace", "--json", "src/shop.rs"]);
    let traced: Vec<Value> =
        traced.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for block in why["blocks"].as_array().expect("a list") {
        let is_its = |one: &&Value| one["id"] == block["record"];
        let Some(record) = traced.iter().find(is_its) else { continue };
        let file = &record["files"][0];
        for fact in ["id", "name", "source"] {
            assert_eq!(block["intent"][fact], record["intent"][fact], "{fact}");
        }
        assert_eq!(block["intent_hash"], record["intent"]["hash"]);
        assert_eq!(block["contributor"], file["conversations"][0]["contributor"]);
        assert_eq!(block["tool"], record["tool"]["name"]);
        for fact in ["session", "strength", "timestamp"] {
            assert_eq!(block.get(fact), record.get(fact), "{fact}");
        }
        let lineage = block["lineage"].as_array().expect("a list");
        let brief = lineage.iter().find(|one| one["record"] == record["id"]).expect("its record");
        assert_eq!(brief["lines_brought"], record["lines_brought"]);
        for fact in ["strength", "intent_hash", "tool", "session", "timestamp"] {
            assert_eq!(brief.get(fact), block.get(fact), "{fact}");
        }
        assert_eq!(brief["commit"], block["commit"]["id"]);
        let mut ranges = file["conversations"][0]["ranges"].as_array().expect("a list").iter();
        let then = ranges.find(|range| range["block"]["path"] == block["qualified_name"]);
        let then = &then.expect("the block")["content_hash"];
        assert_eq!(&block["recorded"]["content_hash"], then);
        assert!(block["content_hash"] != *then || block["verdict"] == "exact", "{block}");
    }
    assert!(traced.len() >= 2 && why["blocks"][0]["content_hash"].is_string());
    assert_eq!(why["path"], "src/shop.rs");
}

#[test]
fn why_answers_for_lines_and_revisions() {
    let lab = twice();
    lab.write("src/HEAD:shop.rs", "fn odd() {}\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/shop.rs:2-6",
            "why src/shop.rs:4-4",
            "why HEAD~1:src/shop.rs",
            "why HEAD~1:src/shop.rs:6",
            "-C src why HEAD~1:./shop.rs:6-7",
            "-C src why HEAD:shop.rs",
            "why HEAD~1:src/none.rs",
            "why nowhere:src/shop.rs",
            "why HEAD~1:src/shop.rs:8",
            "why HEAD~1:src/shop.rs:9",
        ]
    ));
}

#[test]
fn asking_for_what_does_not_exist_is_an_error() {
    let lab = twice();
    std::fs::remove_file(lab.root.join("src/shop.rs")).expect("removed");
    lab.write("src/other.rs", "fn one() {}\nfn two() {}");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/shop.rs",
            "why src/other.rs:2",
            "why src/other.rs:3",
            "why src/other.rs:1-9",
            "why src/other.rs:2-1",
            "accept src/other.rs:3",
            "accept src/other.rs:1-2",
            "trace src/nope.rs",
            "trace src/shop.rs",
            "trace --intent INT-009",
            "context INT-009",
            "--json trace --intent INT-009",
        ]
    ));
}

#[test]
fn the_json_answer_agrees_with_the_printed_one() {
    let lab = twice();
    let place = format!("src/shop.rs:{}", line_of(&lab, "arm(3)"));
    let answer = lab.json(&["why", &place]);
    let (line, block) = (&answer["line"], &answer["blocks"][0]);
    assert_eq!(line["intent"]["id"], "INT-002");
    assert_eq!(line["asked"]["owner"], "@bob");
    assert_eq!(line["asked"]["constraints"][0], "No network");
    assert_eq!(line["from"]["session"], "claude-code:abc");
    assert_eq!(line["commit"]["author"], "t");
    assert_eq!(line["commit"]["subject"], "a commit");
    assert_eq!(line["commit"]["id"], lab.read_git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(block["intent"]["id"], "INT-001");
    assert_eq!(block["asked"]["owner"], "@ada");
    assert_eq!(block["brought"]["lines"], 2);
    assert_eq!(block["brought"]["of"], 3);
    // The headline is who brought the line, and the block is second.
    let printed = lab.fine(&["why", &place]);
    let heads: Vec<&str> = printed.lines().filter(|line| line.starts_with("INT-")).collect();
    assert_eq!(heads, ["INT-002  Alarms  IN_PROGRESS", "INT-001  Doors  IN_PROGRESS"]);
    assert_eq!(
        masked(&lab, &answer.to_string()).matches("@example").count(),
        0,
        "no e-mail address"
    );
}

#[test]
#[ignore = "slow"]
fn each_record_is_traced_under_the_intent_that_it_is_about() {
    let lab = twice();
    let list = ".orchestration/active_intents.yaml";
    // INT-001 is renamed, and a new intent takes the id INT-002.
    let renamed = lab.read(list).replace(
        "id: INT-001\n    name: Doors",
        "id: SHOP-1\n    formerly: [INT-001]\n    name: Gates",
    );
    lab.write(
        list,
        renamed.replace("name: Alarms", "name: Bells").replace("No network", "No noise"),
    );
    let without_second =
        |text: &str| text.split("  - id: INT-002").next().unwrap_or_default().to_owned();
    let reused = lab.read(list);
    lab.write(list, without_second(&reused));
    lab.commit();
    lab.write(list, reused);
    lab.commit();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "trace",
            "trace --intent SHOP-1",
            "trace --intent INT-001",
            "trace --intent INT-002",
            "why src/shop.rs:6"
        ]
    ));
}

/// Returns the number of the line of `src/shop.rs` that has a text.
fn line_of(lab: &Lab, text: &str) -> usize {
    lab.read("src/shop.rs").lines().position(|line| line.contains(text)).expect("a line") + 1
}

/// Adds a function that INT-002 brought as a whole.
fn with_alarm(lab: &Lab) {
    lab.write("src/shop.rs", lab.read("src/shop.rs") + "\nfn alarm() {\n    ring(9);\n}\n");
    lab.fine(&["record", "src", "--intent", "INT-002", "--agent", "claude-code"]);
    lab.commit();
}

const LIST: &str = ".orchestration/active_intents.yaml";

fn suspicion(lab: &Lab, place: &str) -> Option<String> {
    let answer = lab.json(&["why", place]);
    let message = answer["blocks"][0]["suspect"]["message"].as_str();
    message.map(|message| masked(lab, message))
}

fn edit(lab: &Lab, path: &str, from: &str, to: &str) {
    let text = lab.read(path);
    assert!(text.contains(from), "{from} in {text}");
    lab.write(path, text.replace(from, to));
}

#[test]
#[ignore = "slow"]
fn a_changed_constraint_makes_blocks_suspect_until_accepted() {
    let lab = twice();
    with_alarm(&lab);
    let first = "src/shop.rs:1";
    // A change of the name, the owner, the status or a comment makes no block suspect.
    edit(&lab, LIST, "name: Doors", "name: Gates  # of steel");
    edit(&lab, LIST, "@ada", "@eve");
    lab.fine(&["complete", "INT-001"]);
    assert_eq!(suspicion(&lab, first), None);
    lab.commit();
    assert_eq!(suspicion(&lab, first), None);

    edit(
        &lab,
        LIST,
        "\"No network\"]\n    owner: \"@eve\"",
        "\"No network\", \"No locks\"]\n    owner: \"@eve\"",
    );
    let changed = "the constraints of INT-001 changed since this was recorded";
    assert_eq!(suspicion(&lab, first), Some(format!("{changed} (in no commit yet)")));
    lab.commit();
    lab.write("README.md", "Shop\n");
    lab.commit();
    assert_eq!(suspicion(&lab, first), Some(format!("{changed} (commit [commit], [date])")));
    let alarm = format!("src/shop.rs:{}", line_of(&lab, "ring(9)"));
    assert_eq!(suspicion(&lab, &alarm), None, "INT-002 has not changed");
    let shown = lab.fine(&["why", "src/shop.rs"]);
    assert!(shown.contains("✓ exact, suspect  2/2  INT-001"), "{shown}");
    let card = lab.fine(&["why", first]);
    assert!(card.contains("  suspect   ! the constraints of INT-001"), "{card}");
    let report = lab.fine(&["--json", "report"]);
    assert_eq!(report.matches(changed).count(), 2, "one for each block of INT-001: {report}");

    let agent =
        super::lab::clean(std::process::Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root)
            .env("CLAUDECODE", "1")
            .args(["accept", first])
            .output()
            .expect("intent runs");
    assert_eq!(agent.status.code(), Some(2), "{agent:?}");
    lab.fine(&["accept", first]);
    assert!(
        lab.fine(&["why", first]).contains("accepted as it stands by somebody unknown"),
        "a command without a terminal does not know the person"
    );
    assert_eq!(suspicion(&lab, first), None);
    edit(&lab, LIST, "\"No locks\"", "\"No doors\"");
    assert!(suspicion(&lab, first).is_some(), "another text than the accepted one");
    edit(&lab, LIST, "\"No doors\"", "\"No locks\"");
    assert_eq!(suspicion(&lab, first), None);
}

#[test]
#[ignore = "slow"]
fn suspect_blocks_below_a_folder_are_settled_at_once() {
    let lab = twice();
    lab.write("src/other.rs", "fn other() { open(7); }\n");
    lab.fine(&["record", "--intent", "INT-001", "--agent", "codex", "src/other.rs"]);
    lab.commit();
    edit(&lab, LIST, "[\"No network\"]\n    owner: \"@ada\"", "[]\n    owner: \"@ada\"");
    lab.commit();
    let both = ["src/shop.rs:1", "src/other.rs:1"];
    assert!(both.iter().all(|at| suspicion(&lab, at).is_some()));
    let said = lab.fine(&["accept", "src", "--suspect"]);
    assert!(said.contains("other in src/other.rs") && said.contains("src/shop.rs"), "{said}");
    assert!(both.iter().all(|at| suspicion(&lab, at).is_none()));
    assert!(lab.fine(&["accept", "src", "--suspect"]).contains("nothing to accept"));
}

#[test]
#[ignore = "slow"]
fn an_undone_change_of_an_intent_makes_nothing_suspect() {
    let lab = twice();
    edit(
        &lab,
        LIST,
        "[\"src/**\"]\n    constraints: [\"No network\"]\n    owner: \"@ada\"",
        "[\"src/**\", \"lib/**\"]\n    constraints: [\"No network\"]\n    owner: \"@ada\"",
    );
    lab.commit();
    assert_eq!(suspicion(&lab, "src/shop.rs:1"), None, "the scope still has the file");
    edit(
        &lab,
        LIST,
        "\"src/**\", \"lib/**\"]\n    constraints: [\"No network\"]",
        "\"lib/**\"]\n    constraints: []",
    );
    lab.commit();
    let said = suspicion(&lab, "src/shop.rs:1").expect("suspect");
    assert!(said.starts_with("the constraints and scope of INT-001 changed"), "{said}");
    edit(
        &lab,
        LIST,
        "\"lib/**\"]\n    constraints: []",
        "\"src/**\"]\n    constraints: [\"No network\"]",
    );
    lab.commit();
    assert_eq!(suspicion(&lab, "src/shop.rs:1"), None);
}

#[test]
#[ignore = "slow"]
fn a_changed_specification_makes_blocks_suspect() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Doors", "--scope", "src/**", "--start"]);
    edit(
        &lab,
        LIST,
        "    owned_scope: [\"src",
        "    related_specs: [docs/doors.md, REQ-1, docs/none.md]\n    owned_scope: [\"src",
    );
    lab.write("docs/doors.md", "Open and close.\n");
    lab.commit();
    lab.write("docs/doors.md", "Open, and close.\n");
    lab.write("src/shop.rs", SHOP);
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex", "--all", "--yes"]);
    assert_eq!(
        suspicion(&lab, "src/shop.rs:1"),
        None,
        "the specification at the time of the record is unknown"
    );
    lab.commit();
    assert_eq!(suspicion(&lab, "src/shop.rs:1"), None);
    lab.write("docs/doors.md", "Open, and close.\r\n");
    assert_eq!(suspicion(&lab, "src/shop.rs:1"), None, "only its line ends differ");
    lab.write("docs/doors.md", "Open, close, and lock.\n");
    let told = "docs/doors.md, which it serves, changed since this was committed";
    assert_eq!(suspicion(&lab, "src/shop.rs:1").as_deref(), Some(told));
    edit(&lab, LIST, "docs/doors.md, ", "");
    assert_eq!(suspicion(&lab, "src/shop.rs:1"), None, "the intent does not name it any more");
}

#[test]
#[ignore = "slow"]
fn each_version_of_an_intent_is_listed_once() {
    let lab = twice();
    with_alarm(&lab);
    let lines = || {
        let told = lab.fine(&["why", "src/shop.rs"]);
        told.lines().filter(|line| line.starts_with("INT-")).map(str::to_owned).collect::<Vec<_>>()
    };
    let both = ["INT-001  Doors  IN_PROGRESS", "INT-002  Alarms  IN_PROGRESS"];
    assert_eq!(lines(), both);
    // Blocks under three texts of the first intent: the second text is in no commit, and the third has another name.
    for (nth, from, to) in [
        (3, "\"No network\"]\n    owner: \"@ada\"", "\"Alone\"]\n    owner: \"@ada\""),
        (4, "\"Alone\"", "\"Quiet\""),
        (5, "name: Doors", "name: Gates"),
    ] {
        edit(&lab, LIST, from, to);
        lab.write("src/shop.rs", lab.read("src/shop.rs") + &format!("\nfn more_{nth}() {{}}\n"));
        lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex"]);
        if nth != 3 {
            lab.commit();
        }
    }
    let expected = [
        "INT-001  Gates  IN_PROGRESS",
        "INT-001  Doors  INT-001 is called Gates now  IN_PROGRESS",
        "INT-001  Doors  an unknown version of it  INT-001 is called Gates now  IN_PROGRESS",
        both[1],
    ];
    assert_eq!(lines(), expected);
}

/// Without the note, an answer that knows no commit looks like one about a new repository.
#[test]
fn an_answer_without_git_says_why() {
    let lab = Lab::governed();
    lab.write("a.rs", "fn a() {}\n");
    lab.commit();
    lab.run_git(&["config", "core.repositoryFormatVersion", "1"]);
    lab.run_git(&["config", "extensions.refStorage", "reftable"]);
    for command in [&["why", "a.rs"][..], &["status"], &["list", "--json"]] {
        let answer = lab.intent(command);
        let told = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert!(answer.status.success(), "{command:?}: {told}");
        assert!(told.starts_with("note: the answer lacks what git knows"), "{command:?}: {told}");
        assert!(told.contains("git refs migrate --ref-format=files"), "{told}");
    }
}
