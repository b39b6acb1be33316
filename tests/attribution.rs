//! No intent is named for what others did: not after git has moved code between commits, and not in stories that are
//! made to mislead.

use crate::support::Repo;
use crate::support::binary::{function, intent, recorded, verified, why};

#[test]
fn rebase_and_squash_keep_the_record_of_each_block() {
    let repo = Repo::new();
    let source = |a, b, c| function("a", a) + &function("b", b) + &function("c", c);
    repo.write("src/a.rs", &source(1, 1, 1));
    repo.commit("start");
    repo.git(&["checkout", "-qb", "side"]);
    repo.write("src/a.rs", &source(2, 1, 1));
    recorded(&repo, "INT-002", "src/a.rs");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("src/a.rs", &source(1, 1, 2));
    recorded(&repo, "INT-001", "src/a.rs");
    repo.commit("main");
    repo.git(&["checkout", "-q", "side"]);
    repo.git(&["rebase", "-q", "main"]);
    let expected = "exact INT-002 a\nunrecorded - b\nexact INT-001 c\n";
    assert_eq!(why(&repo, "src/a.rs"), expected);
    assert_eq!(recorded(&repo, "INT-001", "src/a.rs").code, 1, "all of it is recorded already");

    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "--squash", "side"]);
    repo.commit("squashed");
    recorded(&repo, "INT-001", "src/a.rs");
    assert_eq!(why(&repo, "src/a.rs"), expected);
    assert_eq!(verified(&repo).0, Vec::<String>::new());
}

#[test]
fn the_next_record_does_not_claim_what_was_committed_before() {
    let repo = Repo::new();
    let source = |a, b, c| function("a", a) + &function("b", b) + &function("c", c);
    repo.write("src/a.rs", &source(1, 1, 1));
    repo.commit("start");
    repo.write("src/a.rs", &source(2, 1, 1));
    recorded(&repo, "INT-001", "src/a.rs");
    repo.commit("mine");
    repo.write("src/a.rs", &source(2, 2, 1));
    repo.commit("a colleague's");
    repo.write("src/a.rs", &source(2, 2, 2));
    let answer = recorded(&repo, "INT-002", "src/a.rs").json();
    assert_eq!(answer["recorded"][0]["blocks"], 1);
    assert_eq!(answer["skipped"], serde_json::json!([]), "what a commit brought needs no message");
    assert_eq!(why(&repo, "src/a.rs"), "exact INT-001 a\nunrecorded - b\nexact INT-002 c\n");

    repo.commit("mine again");
    repo.write("src/a.rs", &(function("b", 2) + &function("c", 2)));
    repo.commit("a colleague took a away");
    repo.write("src/a.rs", &(function("b", 2) + &function("c", 3)));
    let answer = recorded(&repo, "INT-002", "src/a.rs").json();
    assert_eq!(answer["recorded"][0]["blocks"], 1, "the deletion is not INT-002's: {answer}");
}

#[test]
fn a_renamed_file_keeps_its_records_and_unrecorded_blocks() {
    let repo = Repo::new();
    repo.write("src/ours.rs", &(function("a", 1) + &function("b", 1)));
    recorded(&repo, "INT-001", "src/ours.rs");
    repo.write("src/theirs.rs", &(function("x", 1) + &function("y", 1)));
    repo.commit("start");
    repo.git(&["mv", "src/ours.rs", "src/moved.rs"]);
    repo.git(&["mv", "src/theirs.rs", "src/shifted.rs"]);
    assert_eq!(why(&repo, "src/moved.rs"), "moved INT-001 a\nmoved INT-001 b\n");
    recorded(&repo, "INT-002", "src");
    assert_eq!(why(&repo, "src/moved.rs"), "moved INT-001 a\nmoved INT-001 b\n");
    assert_eq!(why(&repo, "src/shifted.rs"), "unrecorded - x\nunrecorded - y\n");
    assert_eq!(intent(&repo, &["check"]).code, 1, "INT-002 moved what it does not own");
}

/// The texts of a file in order, each with the intent under which it was recorded, and what `why` must say at the end.
struct Story {
    name: &'static str,
    path: &'static str,
    texts: Vec<(String, Option<&'static str>)>,
    expected: &'static str,
}

fn stories() -> Vec<Story> {
    let body = "{ let mut s = 0; for i in 0..9 { s += i * 2; work(s, i); } s }";
    let other = "{ other::thing(1, 2, 3).call(|x| x + 4).done() }";
    let one = |name: &str, body: &str| format!("fn {name}() -> u32 {body}\n\n");
    let two = "for x in range(10):\n        print(x, a, 'hello')\n    return None\n";
    let sum = "return compute(a, 1) + other(a, 2, 3)";
    vec![
        Story {
            name: "of two twins the first is deleted",
            path: "src/a.rs",
            texts: vec![
                (one("one", body), Some("INT-001")),
                (one("one", body) + &one("two", body), Some("INT-002")),
                (one("two", body), None),
            ],
            expected: "exact INT-002 two\n",
        },
        Story {
            name: "two functions swap their names",
            path: "src/a.rs",
            texts: vec![
                (one("one", body), Some("INT-001")),
                (one("one", body) + &one("two", other), Some("INT-002")),
                (one("two", body) + &one("one", other), None),
            ],
            expected: "unrecorded - two\nunrecorded - one\n",
        },
        Story {
            name: "a function is renamed and another takes its name",
            path: "src/a.rs",
            texts: vec![
                (one("one", body), Some("INT-001")),
                (one("uno", body) + &one("one", other), None),
            ],
            expected: "unrecorded - uno\nunrecorded - one\n",
        },
        Story {
            name: "another of the same name is put before",
            path: "src/a.py",
            texts: vec![
                (format!("def f(a):\n    {sum}\n"), Some("INT-001")),
                (format!("def f(a):\n    {two}\ndef f(a):\n    {sum} + 1\n"), None),
            ],
            expected: "unrecorded - f\nunrecorded - f\n",
        },
        Story {
            name: "of two of the same name the first is deleted",
            path: "src/a.py",
            texts: vec![
                (format!("def f(a):\n    {sum}\n"), Some("INT-001")),
                (format!("def f(a):\n    {sum}\n\ndef f(a):\n    {two}"), Some("INT-002")),
                (format!("def f(a):\n    {two}"), None),
            ],
            expected: "exact INT-002 f\n",
        },
        Story {
            name: "of two overloads one is deleted, and the other becomes a third",
            path: "src/A.java",
            texts: vec![
                ("class A {\n int go(int a) { return many(a, 1, 2, 3).sum(); }\n}\n".into(), Some("INT-001")),
                ("class A {\n int go(int a) { return many(a, 1, 2, 3).sum(); }\n int go(String a) { return parse(a, 1).get(); }\n}\n".into(), Some("INT-002")),
                ("class A {\n int go(String a, int b) { return 7; }\n}\n".into(), None),
            ],
            expected: "modified INT-001 A\nunrecorded - go\n",
        },
        Story {
            name: "a method of the same name in another impl",
            path: "src/a.rs",
            texts: vec![
                (format!("impl A {{ fn go(&self) -> u32 {body} }}\n"), Some("INT-001")),
                (format!("impl A {{ fn go(&self) -> u32 {body} }}\nimpl B {{ fn go(&self) -> u32 {body} }}\n"), Some("INT-002")),
                (format!("impl B {{ fn go(&self) -> u32 {body} }}\n"), None),
            ],
            expected: "exact INT-002 B\nexact INT-002 go\n",
        },
        Story {
            name: "a paragraph gives way to another",
            path: "src/a.txt",
            texts: vec![
                ("The quick brown fox jumps over the lazy dog and runs away.\n".into(), Some("INT-001")),
                ("Invoices, taxes and billing in Europe, and such things.\n".into(), None),
            ],
            expected: "unrecorded - Invoices, taxes and billing in Europe, a\n",
        },
        Story {
            name: "a one-line file is replaced",
            path: "src/version.txt",
            texts: vec![("1.0.0\n".into(), Some("INT-001")), ("1.0.1\n".into(), None)],
            expected: "unrecorded - 1.0.1\n",
        },
        Story {
            name: "imports under another neighbour",
            path: "src/a.py",
            texts: vec![
                (format!("import os\nimport sys\n\ndef f(a):\n    {sum}\n"), Some("INT-001")),
                (format!("import os\nimport sys\n\ndef h(q):\n    return z\n\nprint('hi', 1, 2)\n\ndef f(a):\n    {sum}\n"), None),
            ],
            expected: "exact INT-001 before h\nunrecorded - h\nunrecorded - before f\nexact INT-001 f\n",
        },
        Story {
            name: "small ones under other names prove nothing",
            path: "src/a.rs",
            texts: vec![
                ("fn a() -> u8 { 1 }\n\nfn b() -> u8 { 2 }\n".into(), Some("INT-001")),
                ("fn c() -> u8 { 1 }\n\nfn d() -> u8 { 2 }\n".into(), None),
            ],
            expected: "unrecorded - c\nunrecorded - d\n",
        },
        Story {
            name: "deleted by one, and something else of that name by nobody",
            path: "src/a.rs",
            texts: vec![
                (one("one", body), Some("INT-001")),
                ("// nothing\n".into(), Some("INT-002")),
                (one("one", other), None),
            ],
            expected: "unrecorded - one\n",
        },
    ]
}

#[test]
#[ignore = "slow"]
fn why_never_names_an_intent_that_did_not_ask_for_the_code() {
    let mut wrong = String::new();
    for story in stories() {
        let repo = Repo::new();
        for (text, id) in &story.texts {
            repo.write(story.path, text);
            if let Some(id) = id {
                assert_eq!(
                    recorded(&repo, id, story.path).code % 2,
                    i32::from(*id == "INT-002"),
                    "{}",
                    story.name
                );
            }
        }
        let said = why(&repo, story.path);
        if said != story.expected {
            wrong.push_str(&format!("{}:\n{said}not\n{}", story.name, story.expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn nothing_is_recorded_twice_or_under_a_closed_intent() {
    let repo = Repo::new();
    repo.write("src/a.rs", &function("a", 1));
    for (id, word) in [("INT-003", "COMPLETED"), ("INT-404", "INT-001")] {
        let answer = intent(&repo, &["record", "--intent", id, "src/a.rs"]);
        assert_eq!(answer.code, 2);
        assert!(answer.err.contains(word), "{}", answer.err);
    }
    assert_eq!(intent(&repo, &["new", " "]).code, 2, "an intent without a name says nothing");
    for (arguments, code) in [
        (&["record", "--intent", "INT-001", "src/a.rs"][..], 0),
        (&["record", "--intent", "INT-001", "src/a.rs"], 1),
        (&["record", "--all", "--yes", "--intent", "INT-001", "src/a.rs"], 1),
    ] {
        assert_eq!(intent(&repo, arguments).code, code, "{arguments:?}");
    }
    repo.remove("src/a.rs");
    assert_eq!(recorded(&repo, "INT-001", "src/a.rs").code, 0, "its blocks are gone");
    assert_eq!(recorded(&repo, "INT-001", "src/a.rs").code, 1, "a deletion is recorded only once");
    assert_eq!(verified(&repo).1, 2);
}

#[test]
fn accepting_one_block_leaves_the_others_to_be_recorded() {
    let repo = Repo::new();
    let source = |a, b| function("a", a) + &function("b", b);
    repo.write("src/a.rs", &source(1, 1));
    recorded(&repo, "INT-001", "src/a.rs");
    repo.write("src/a.rs", &source(2, 2));
    assert_eq!(intent(&repo, &["accept", "src/a.rs:2"]).code, 0);
    recorded(&repo, "INT-002", "src/a.rs");
    let told = "exact - a\nexact INT-002 b\n";
    assert_eq!(why(&repo, "src/a.rs"), told, "to accept is not to write");
}

/// Returns the intents of the records that brought lines of a block, newest first.
fn lineage(repo: &Repo, path: &str, name: &str) -> Vec<String> {
    let answer = intent(repo, &["why", "--json", path]).json();
    let blocks = answer["blocks"].as_array().expect("blocks");
    let block = blocks.iter().find(|block| block["name"] == name).expect("the block");
    let steps = block["lineage"].as_array().expect("steps").iter();
    steps.map(|step| step["intent"].as_str().expect("an intent").to_owned()).collect()
}

#[test]
fn a_recorded_rename_claims_no_deletion_of_the_old_name() {
    let repo = Repo::new();
    let rest = function("rest", 1);
    repo.write("src/a.rs", &(function("first", 1) + &rest));
    repo.commit("somebody's");
    let renamed = function("first", 1).replace("fn first", "fn second");
    repo.write("src/a.rs", &(renamed.clone() + &rest));
    recorded(&repo, "INT-002", "src/a.rs");
    assert_eq!(lineage(&repo, "src/a.rs", "second"), ["INT-002"]);
    repo.commit("second");
    repo.write("src/a.rs", &(renamed.replace("fn second", "fn third") + &rest));
    recorded(&repo, "INT-001", "src/a.rs");
    assert_eq!(lineage(&repo, "src/a.rs", "third"), ["INT-001"]);
    let ledger = repo.open().ledger;
    let path = crate::support::relative("src/a.rs");
    let files = ledger.of_path(&path).flat_map(|entry| &entry.record.files);
    let mut ranges = files.flat_map(|file| file.ranges());
    assert!(!ranges.any(|range| range.deleted));
}

#[test]
fn lineage_follows_renames_and_moves_to_other_files() {
    let repo = Repo::new();
    let rest = function("rest", 1);
    repo.write("src/a.rs", &(function("first", 1) + &rest));
    recorded(&repo, "INT-001", "src/a.rs");
    repo.commit("one");
    repo.write("src/a.rs", &(function("first", 1).replace("fn first", "fn second") + &rest));
    recorded(&repo, "INT-002", "src/a.rs");
    assert_eq!(lineage(&repo, "src/a.rs", "second"), ["INT-002", "INT-001"]);
    repo.commit("two");
    let moved = function("first", 1).replace("fn first", "fn second");
    repo.write("src/a.rs", &rest);
    repo.write("src/b.rs", &moved);
    recorded(&repo, "INT-001", "src");
    repo.commit("three");
    assert_eq!(lineage(&repo, "src/b.rs", "second"), ["INT-002", "INT-001"]);
    repo.write("src/b.rs", &moved.replace("= 1", "= 7"));
    recorded(&repo, "INT-001", "src/b.rs");
    assert_eq!(lineage(&repo, "src/b.rs", "second"), ["INT-001", "INT-002", "INT-001"]);
    repo.git(&["mv", "src/b.rs", "src/c.rs"]);
    repo.commit("renamed");
    assert_eq!(lineage(&repo, "src/c.rs", "second"), ["INT-001", "INT-002", "INT-001"]);
}

#[test]
fn a_block_that_moves_to_another_file_keeps_its_record() {
    let repo = Repo::new();
    repo.write("src/a.rs", &(function("a", 1) + &function("b", 1)));
    repo.write("src/z.rs", &function("z", 1));
    recorded(&repo, "INT-001", "src/a.rs");
    repo.commit("one");
    repo.write("src/a.rs", &function("b", 1));
    repo.write("src/z.rs", &(function("z", 1) + &function("a", 1)));
    recorded(&repo, "INT-002", "src");
    repo.commit("moved");
    assert_eq!(why(&repo, "src/z.rs"), "unrecorded - z\nmoved INT-001 a\n");

    let repo = Repo::new();
    repo.write("src/a.rs", &function("a", 1));
    recorded(&repo, "INT-001", "src/a.rs");
    repo.write("src/copy.rs", &function("a", 1));
    assert_eq!(why(&repo, "src/copy.rs"), "unrecorded - a\n", "a copy is not a move");

    let repo = Repo::new();
    let signature = "    fn arguments_of_the_call(&self);\n";
    let of = |name: &str, rest: &str| {
        format!("trait {name} {{\n{rest}    fn other(&self, a: u32);\n}}\n")
    };
    repo.write("src/a.rs", &of("Invocation", signature));
    repo.write("src/z.rs", &of("OnMock", ""));
    repo.commit("one");
    let lines = [
        "record",
        "--all",
        "--yes",
        "--lines",
        "2-2",
        "--intent",
        "INT-001",
        "--contributor",
        "ai",
    ];
    assert_eq!(intent(&repo, &[&lines[..], &["src/a.rs"]].concat()).code, 0);
    repo.write("src/a.rs", &of("Invocation", ""));
    repo.write("src/z.rs", &of("OnMock", signature));
    repo.commit("moved");
    assert!(
        why(&repo, "src/z.rs").contains("unrecorded - arguments_of_the_call"),
        "one line that is alike proves nothing"
    );
}

#[test]
fn claimed_lines_are_of_their_innermost_block_and_are_claimed_once() {
    let repo = Repo::new();
    repo.write("src/a.py", "class A:\n    def one(self):\n        return self.first()\n");
    repo.commit("one");
    let record = |intent_id: &str| {
        let lines =
            ["record", "--all", "--yes", "--lines", "2-3", "--contributor", "ai", "src/a.py"];
        intent(&repo, &[&lines[..], &["--intent", intent_id]].concat())
    };
    let first = record("INT-001");
    assert!(first.out.contains("2 lines in 1 block"), "{}", first.out);
    let second = record("INT-002");
    assert!(second.out.contains("every line has a record already"), "{}", second.out);
    assert_eq!(second.code, 1);
    assert!(why(&repo, "src/a.py").contains("INT-001 one"));
}

#[test]
fn a_broken_or_conflicted_file_loses_no_block() {
    let repo = Repo::new();
    repo.write("src/a.rs", &(function("a", 1) + &function("b", 1)));
    recorded(&repo, "INT-001", "src/a.rs");
    repo.commit("one");

    repo.write("src/a.rs", &(function("a", 1).replace('}', "") + &function("b", 1)));
    recorded(&repo, "INT-002", "src/a.rs");
    repo.write("src/a.rs", &(function("a", 1) + &function("b", 1)));
    assert_eq!(why(&repo, "src/a.rs"), "exact INT-001 a\nexact INT-001 b\n");

    let sides = function("a", 1) + "=======\n" + &function("a", 2);
    repo.write("src/a.rs", &format!("<<<<<<< ours\n{sides}>>>>>>> theirs\n{}", function("b", 1)));
    let answer = recorded(&repo, "INT-002", "src/a.rs");
    assert_eq!(answer.code, 1);
    assert!(answer.out.contains("hold a merge conflict"), "{}", answer.out);
    assert_eq!(why(&repo, "src/a.rs"), "exact INT-001 a\nunrecorded - a\nexact INT-001 b\n");

    let aside = function("c", 3);
    repo.write("src/a.rs", &format!("<<<<<<< ours\n{sides}>>>>>>> theirs\n{aside}"));
    recorded(&repo, "INT-002", "src/a.rs");
    let around = "exact INT-001 a\nunrecorded - a\nexact INT-002 c\n";
    assert_eq!(why(&repo, "src/a.rs"), around, "what stands beside the conflict is recorded");
}

/// Records lines of a committed file under `INT-001`, changes the file, and returns what `why` says.
fn since_the_commit(then: &str, lines: &str, now: &str) -> String {
    let repo = Repo::new();
    repo.write("src/a.py", then);
    repo.commit("then");
    let record = [
        "record",
        "--all",
        "--yes",
        "--lines",
        lines,
        "--intent",
        "INT-001",
        "--contributor",
        "ai",
    ];
    let answer = intent(&repo, &[&record[..], &["src/a.py"]].concat());
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    repo.write("src/a.py", now);
    why(&repo, "src/a.py")
}

#[test]
fn a_block_that_takes_over_anothers_text_takes_its_record() {
    let from = "    stream_map = get_stream_map(stream_spec)\n    check_length(stream_map, least, most)\n    check_types(stream_map, incoming)\n    return build(stream_map, name, most)\n\n";
    let then = format!(
        "def init_from_scratch(stream_spec, name, least, most, incoming):\n{from}def init(first):\n    if first is None:\n        return Empty()\n    raise Wrong(first)\n"
    );
    let now = format!("def init(stream_spec, name, least, most, incoming):\n{from}");
    let said = since_the_commit(&then, "1-5", &now);
    assert!(said.contains("modified INT-001 init"), "{said}");
}

#[test]
fn two_similar_blocks_that_are_renamed_keep_their_own_records() {
    let test = |name: &str, what: &str, twice: &str| {
        format!(
            "def test_{name}(a):\n    a.open(1, 2)\n    a.{what}(3, 4)\n{twice}    a.close(5, 6)\n    assert a.done(7)\n\n"
        )
    };
    let then =
        test("explantion_on_static", "fixed", "") + &test("explantion_on_dynamic", "moving", "");
    let more = "    a.flush(8)\n";
    let now = test("explanation_on_static", "fixed", more)
        + &test("explanation_on_dynamic", "moving", more);
    let said = since_the_commit(&then, "1-5", &now);
    assert!(said.contains("INT-001 test_explanation_on_static"), "{said}");
    assert!(said.contains("unrecorded - test_explanation_on_dynamic"), "{said}");
    let said = since_the_commit(&then, "7-11", &now);
    assert!(said.contains("unrecorded - test_explanation_on_static"), "{said}");
    // One of the two was deleted: the other does not get its record.
    let said = since_the_commit(&then, "1-5", &test("explanation_on_dynamic", "moving", more));
    assert!(!said.contains("INT-001"), "{said}");
}

#[test]
fn a_deletion_that_somebody_committed_is_nobodys_record() {
    let repo = Repo::new();
    repo.write("src/gone.rs", "pub fn soon_gone(count: u32) -> u32 {\n    count + 1\n}\n");
    repo.record("INT-001", &["src/gone.rs"]);
    repo.commit("there");
    repo.remove("src/gone.rs");
    repo.commit("gone");
    let answer = repo.record("INT-001", &["src/gone.rs"]);
    assert!(answer.recorded.is_empty() && answer.skipped[0].unchanged, "{answer:?}");
}

#[test]
fn an_edit_after_formatting_is_attributed_to_the_writer() {
    let formatted = |text: String| text.replace("    ", "  ");
    let edited = |text: String| text.replace("\"a\"", "\"a\", 2");

    let repo = Repo::new();
    let text = function("a", 1) + &function("b", 1);
    repo.write("src/a.rs", &text);
    recorded(&repo, "INT-001", "src/a.rs");
    repo.commit("written");
    repo.write("src/a.rs", &formatted(text.clone()));
    recorded(&repo, "INT-002", "src/a.rs");
    let formatted_by_another = "reformatted INT-001 a\nreformatted INT-001 b\n";
    assert_eq!(why(&repo, "src/a.rs"), formatted_by_another);
    repo.write("src/a.rs", &edited(formatted(text.clone())));
    assert_eq!(why(&repo, "src/a.rs"), "modified INT-001 a\nreformatted INT-001 b\n");
    assert_eq!(lineage(&repo, "src/a.rs", "a"), ["INT-001"]);
    assert_eq!(verified(&repo).0, Vec::<String>::new());
    recorded(&repo, "INT-001", "src/a.rs");
    assert_eq!(lineage(&repo, "src/a.rs", "a")[0], "INT-001");
    assert_eq!(verified(&repo).0, Vec::<String>::new());

    let repo = Repo::new();
    repo.write("src/a.rs", &text);
    repo.commit("nobody's");
    repo.write("src/a.rs", &formatted(text.clone()));
    recorded(&repo, "INT-002", "src/a.rs");
    repo.write("src/a.rs", &edited(formatted(text)));
    assert_eq!(why(&repo, "src/a.rs"), "unrecorded - a\nunrecorded - b\n");
    assert_eq!(verified(&repo).0, Vec::<String>::new());
}
