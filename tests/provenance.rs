//! The verdicts of a recorded file after each thing that can happen to it.

use crate::support::{Repo, relative};
use evidence::{record, seal, verify};
use ground::Level;
use judgement::judged_record;
use judgement::{accept, check};
use ledger::{Contributor, EntityType};
use why::answers;
use why::rules::Rules;

const TWO: &str = "\
fn first(count: u32) -> u32 {
    let doubled = count * 2;
    doubled + 1
}

fn second(name: &str) -> String {
    let greeting = format!(\"hello {name}\");
    greeting.to_uppercase()
}
";

/// The same, with another number in two of the three lines of `first` that say something.
fn with_other_first(number: u32) -> String {
    TWO.replace("* 2;", &format!("* {number}0;")).replace("+ 1", &format!("+ {number}"))
}

fn recorded() -> Repo {
    let repo = Repo::new();
    repo.write("src/a.rs", TWO);
    repo.record("INT-001", &["src/a.rs"]);
    repo
}

#[test]
fn a_new_file_is_recorded_block_by_block() {
    assert_eq!(
        recorded().picture("src/a.rs"),
        "exact INT-001 function first\nexact INT-001 function second\n"
    );
}

#[test]
fn only_the_changed_block_is_recorded_again() {
    let repo = recorded();
    repo.commit("one");
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 2"));
    assert_eq!(
        repo.picture("src/a.rs"),
        "modified INT-001 function first\nexact INT-001 function second\n"
    );
    repo.write("src/a.rs", &with_other_first(2));
    let answer = repo.record("INT-002", &["src/a.rs"]);
    assert_eq!(answer.recorded[0].blocks, 1);
    assert_eq!(
        answer.recorded[0].outcome, "deny",
        "INT-002 does not own src/, and the record says so"
    );
    assert_eq!(
        repo.picture("src/a.rs"),
        "exact INT-002 function first\nexact INT-001 function second\n"
    );
}

#[test]
fn a_change_of_layout_is_reformatted() {
    let repo = recorded();
    repo.write("src/a.rs", &TWO.replace("count * 2;", "count\n        * 2;"));
    assert_eq!(
        repo.picture("src/a.rs"),
        "reformatted INT-001 function first\nexact INT-001 function second\n"
    );
}

#[test]
fn only_another_container_makes_a_block_moved() {
    let repo = recorded();
    repo.commit("one");
    let (first, second) = TWO.split_at(TWO.find("fn second").expect("there"));
    repo.write("src/a.rs", &format!("{second}\n{first}"));
    repo.commit("another order");
    assert_eq!(
        repo.picture("src/a.rs"),
        "exact INT-001 function second\nexact INT-001 function first\n"
    );
    repo.write("src/a.rs", &format!("{second}\nmod inner {{\n{first}}}\n"));
    let picture = repo.picture("src/a.rs");
    assert!(picture.contains("moved INT-001 function inner.first"), "{picture}");
}

#[test]
fn a_rename_of_every_line_leaves_no_name() {
    let repo = recorded();
    repo.write("src/a.rs", &TWO.replace("second", "greet"));
    assert_eq!(
        repo.picture("src/a.rs"),
        "exact INT-001 function first\nmodified INT-001 function greet\n"
    );
    repo.write("src/a.rs", &TWO.replace("second", "greet").replace("greeting", "words"));
    assert_eq!(
        repo.picture("src/a.rs"),
        "exact INT-001 function first\nunrecorded - function greet\n"
    );
}

#[test]
fn a_copy_is_not_a_move() {
    let repo = recorded();
    let copy = TWO.replace("first", "third").replace("second", "fourth");
    repo.write("src/a.rs", &format!("{TWO}\n{copy}"));
    let picture = repo.picture("src/a.rs");
    assert!(picture.contains("exact INT-001 function first"), "{picture}");
    assert!(picture.contains("unrecorded - function third"), "{picture}");
}

#[test]
fn a_similar_new_block_does_not_inherit_from_a_deleted_one() {
    let repo = Repo::new();
    let alike = "fn plus(a: u32) -> u32 {\n    let sum = a + 1;\n    sum * sum\n}\n";
    repo.write("src/a.rs", alike);
    repo.record("INT-001", &["src/a.rs"]);
    repo.write("src/a.rs", &alike.replace("plus", "minus").replace("a + 1", "a - 1"));
    assert_eq!(repo.picture("src/a.rs"), "unrecorded - function minus\n");
}

#[test]
fn a_reverted_block_has_its_earlier_record_again() {
    let repo = recorded();
    repo.commit("one");
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 2"));
    repo.record("INT-002", &["src/a.rs"]);
    repo.write("src/a.rs", TWO);
    assert_eq!(
        repo.picture("src/a.rs"),
        "exact INT-001 function first\nexact INT-001 function second\n"
    );
}

#[test]
fn a_container_includes_only_its_own_lines() {
    let repo = Repo::new();
    let class = "class Till:\n    currency = 'EUR'\n\n    def add(self, price):\n        self.total += price\n\n    def clear(self):\n        self.total = 0\n";
    repo.write("src/till.py", class);
    repo.record("INT-001", &["src/till.py"]);
    repo.commit("one");
    repo.write("src/till.py", &class.replace("+= price", "+= price * 2"));
    let answer = repo.record("INT-002", &["src/till.py"]);
    assert_eq!(answer.recorded[0].blocks, 1, "{:?}", answer.recorded[0].reasons);
    let picture = repo.picture("src/till.py");
    assert_eq!(
        picture,
        "modified INT-001 class Till (inside)\nambiguous - method Till.add\nexact INT-001 method Till.clear\n"
    );
}

#[test]
fn lineage_lists_the_records_of_the_lines_that_are_there_newest_first() {
    let repo = recorded();
    repo.commit("one");
    let lineage = || {
        let line = answers::Which::Line(2);
        let answer = answers::on_disk(&repo.open(), &relative("src/a.rs"), line).expect("readable");
        let records = answer.blocks[0].lineage.iter();
        records.map(|record| record.intent.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 2"));
    repo.record("INT-002", &["src/a.rs"]);
    assert_eq!(lineage(), ["INT-002", "INT-001"]);
    repo.commit("two");
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 3"));
    repo.commit("somebody's");
    assert_eq!(lineage(), ["INT-001"], "the line of INT-002 is gone");
}

#[test]
fn nothing_inherits_a_recorded_deletion_and_a_restored_block_is_not_lost() {
    let repo = recorded();
    repo.commit("one");
    let (first, second) = TWO.split_at(TWO.find("fn second").expect("there"));
    repo.write("src/a.rs", first);
    let answer = repo.record("INT-001", &["src/a.rs"]);
    assert!(
        answer.recorded[0].reasons.iter().any(|reason| reason == "function second: removed"),
        "{answer:?}"
    );
    // A block with the deleted one's name, and a block like it, are new.
    for like_it in [
        "fn second(count: u64) -> u64 {\n    count.pow(2)\n}\n".to_owned(),
        second.replace("second", "third").replace("hello", "good bye"),
    ] {
        repo.write("src/a.rs", &format!("{first}{like_it}"));
        let picture = repo.picture("src/a.rs");
        assert!(picture.contains("\nunrecorded - function "), "{picture}");
    }
    repo.write("src/a.rs", TWO);
    assert_eq!(
        repo.picture("src/a.rs"),
        "exact INT-001 function first\nexact INT-001 function second\n"
    );
}

/// Both branches changed `first`. The one that lost the conflict also changed `second`, and nobody else did.
#[test]
fn after_a_merge_the_records_of_the_merged_text_are_named() {
    for (kept, first, second) in [("ours", "INT-002", "INT-001"), ("theirs", "INT-001", "INT-002")]
    {
        let repo = recorded();
        repo.commit("one");
        let branch = |number: u32, intent: &str, other: (&str, &str)| {
            let text = with_other_first(number);
            let text = if other.0.is_empty() {
                text
            } else {
                text.replace(other.0, other.1).replace("greeting", "words")
            };
            repo.write("src/a.rs", &text);
            repo.record(intent, &["src/a.rs"]);
            repo.commit("a change of the branch");
        };
        let (left, right) = match kept {
            "ours" => (("hello", "good bye"), ("", "")),
            _ => (("", ""), ("hello", "good bye")),
        };
        repo.git(&["switch", "-qc", "left"]);
        branch(2, "INT-001", left);
        repo.git(&["switch", "-q", "main"]);
        branch(3, "INT-002", right);
        repo.git(&["merge", "-q", "-X", kept, "left", "-m", "merge"]);
        assert_eq!(
            repo.picture("src/a.rs"),
            format!("exact {first} function first\nexact {second} function second\n"),
            "{kept}"
        );
        assert!(
            verify::verify(&repo.open())
                .findings
                .iter()
                .all(|finding| finding.level < Level::Warning)
        );
    }
}

#[test]
fn without_git_the_first_record_needs_all() {
    let repo = Repo::without_git();
    repo.write("src/a.rs", TWO);
    let answer = repo.record("INT-001", &["src/a.rs"]);
    assert!(answer.recorded.is_empty());
    assert!(answer.skipped[0].reason.contains("--all"), "{answer:?}");
    repo.record_as("INT-001", &["src/a.rs"], record::RecordExtent::WholeFile);
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 2"));
    assert_eq!(repo.record("INT-001", &["src/a.rs"]).recorded[0].blocks, 1);
}

#[test]
fn an_accepted_block_names_the_person() {
    let repo = recorded();
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 2"));
    let ada = Contributor::person(Some("Ada".to_owned()));
    accept::accept(&repo.open(), &relative("src/a.rs"), accept::AcceptExtent::Line(2), &ada)
        .expect("accepted");
    let answer = answers::on_disk(&repo.open(), &relative("src/a.rs"), answers::Which::Line(2))
        .expect("readable");
    let accepted = answer.blocks[0].accepted.as_ref().expect("it was accepted");
    assert_eq!(accepted.contributor, ada);
    assert_eq!(codes(&repo, &check::ComparedSides::Head), Vec::<String>::new());
}

#[test]
fn a_persons_record_keeps_the_name_after_the_commit() {
    let repo = recorded();
    repo.write("src/a.rs", &with_other_first(2));
    let request = record::RecordRequest {
        paths: vec![relative("src/a.rs")],
        intent: Some("INT-001".to_owned()),
        contributor: Some(EntityType::Human),
        person: Some("Ada Lovelace".to_owned()),
        ..record::RecordRequest::default()
    };
    judged_record::record(&repo.open(), &request).expect("recorded");
    let ada = Contributor::person(Some("Ada Lovelace".to_owned()));
    let who = |repo: &Repo| {
        let answer = answers::on_disk(&repo.open(), &relative("src/a.rs"), answers::Which::Line(2));
        answer.expect("readable").blocks.swap_remove(0).contributor
    };
    assert_eq!(who(&repo), Some(ada.clone()));
    repo.commit("a person's work");
    seal::seal(&repo.open(), seal::SealCaller::Person).expect("sealed");
    assert_eq!(who(&repo), Some(ada));
}

#[test]
fn crlf_and_lf_are_the_same_text() {
    let repo = recorded();
    repo.write("src/a.rs", &TWO.replace('\n', "\r\n"));
    assert_eq!(
        repo.picture("src/a.rs"),
        "exact INT-001 function first\nexact INT-001 function second\n"
    );
}

/// Judges a change. That its commits were made without hooks, and carry no evidence, is left out.
fn judged(repo: &Repo, request: &check::CheckRequest) -> check::CheckAnswer {
    let mut answer = check::change(&repo.open(), request).expect("judged");
    answer.findings.retain(|finding| finding.code != "evidence-missing");
    answer
}

fn codes(repo: &Repo, against: &check::ComparedSides) -> Vec<String> {
    judged(repo, &check::CheckRequest::for_sides(against.clone()))
        .findings
        .iter()
        .map(|finding| format!("{} {}", finding.code, finding.path.as_deref().unwrap_or("-")))
        .collect()
}

#[test]
fn check_judges_each_block_by_the_intent_of_its_record() {
    let repo = recorded();
    repo.write("billing/b.py", "def pay():\n    return 1\n");
    repo.record("INT-001", &["billing/b.py"]);
    repo.write("src/c.py", "def free():\n    return 2\n");
    assert_eq!(
        codes(&repo, &check::ComparedSides::Head),
        ["scope-violation billing/b.py", "unrecorded-change src/c.py"]
    );
    repo.commit("all");
    assert_eq!(codes(&repo, &check::ComparedSides::Head), Vec::<String>::new());
    assert_eq!(
        codes(&repo, &check::ComparedSides::Base("HEAD~1".to_owned())),
        ["scope-violation billing/b.py", "unrecorded-change src/c.py"]
    );
}

/// Commits everything as the hooks do.
fn sealed(repo: &Repo) {
    repo.git(&["add", "-A"]);
    seal::seal(&repo.open(), seal::SealCaller::Hook).expect("sealed");
    repo.commit("sealed");
    seal::after_commit(&repo.open()).expect("settled");
}

/// Returns the findings about the last commits, as a fresh clone has them.
fn codes_of_commits(repo: &Repo, count: usize) -> Vec<String> {
    let (from, to) = (format!("HEAD~{count}"), "HEAD".to_owned());
    codes(repo, &check::ComparedSides::Range { from, to })
}

/// Changes of a file that bring no line to a block, as its text before and after.
const WITHOUT_LINES: &[(&str, &str, &str)] = &[
    ("a.py", "def f(a):\n    return 'a  b'\n", "def f(a):\n    return 'a b'\n"),
    ("a.py", "def f(a):\n    x=1\n    return a\n", "def f(a):\n    x = 1\n    return a\n"),
    ("a.js", "function f(a) {\n  return a;\n}\n", "function f(a) {\n  return\n    a;\n}\n"),
    ("a.js", "function* f(a) {\n  yield\n  a;\n}\n", "function* f(a) {\n  yield a;\n}\n"),
    ("a.rs", "fn f() {\n    a();\n    b();\n}\n", "fn f() {\n    b();\n}\n"),
    ("a.rs", "/// Of a.\nconst A: u8 = 1;\n", "const A: u8 = 1;\n"),
    ("a.rs", "fn f() {\n    a();\n}\n\nfn g() {\n    b();\n}\n", "fn g() {\n    b();\n}\n"),
    ("a.rs", "use std::fs;\n\nfn f() {\n    a();\n}\n", "fn f() {\n    a();\n}\n"),
    // Of several blocks with one name, some are deleted.
    (
        "A.java",
        "class A {\n    int f(int a) {\n        return a;\n    }\n\n    int f(String s) {\n        return 1;\n    }\n}\n",
        "class A {\n    int f(int a) {\n        return a;\n    }\n}\n",
    ),
    (
        "a.py",
        "class A:\n    @property\n    def x(self):\n        return self._x\n\n    @x.setter\n    def x(self, value):\n        self._x = value\n",
        "class A:\n    @property\n    def x(self):\n        return self._x\n",
    ),
    (
        "a.rs",
        "struct R;\n\nimpl R {\n    fn a() {\n        one();\n    }\n}\n\nimpl R {\n    fn b() {\n        two();\n    }\n}\n",
        "struct R;\n\nimpl R {\n    fn a() {\n        one();\n    }\n\n    fn b() {\n        two();\n    }\n}\n",
    ),
    (
        "a.rs",
        "#[cfg(unix)]\nfn f() {\n    one();\n}\n\n#[cfg(windows)]\nfn f() {\n    two();\n}\n",
        "#[cfg(unix)]\nfn f() {\n    one();\n}\n",
    ),
    (
        "a.md",
        "# One\n\n## Usage\n\nDo this first.\n\n## Usage\n\nThen do that.\n",
        "# One\n\n## Usage\n\nDo this first.\n",
    ),
];

/// What `check` calls changed, `record` accepts, and the evidence names it. INT-002 does not own `src`, so that `check`
/// says whose record it found.
#[test]
#[ignore = "slow"]
fn whatever_check_calls_changed_is_recorded_and_sealed() {
    for (name, before, after) in WITHOUT_LINES {
        let (repo, path) = (Repo::new(), format!("src/{name}"));
        repo.write(&path, before);
        repo.commit("before");
        repo.write(&path, after);
        let open = codes(&repo, &check::ComparedSides::Head);
        assert!(!open.is_empty(), "{before}");
        let found: Vec<String> =
            open.iter().map(|code| code.replace("unrecorded-change", "scope-violation")).collect();
        assert_ne!(found, open, "{before}");
        repo.record("INT-002", &[&path]);
        assert_eq!(codes(&repo, &check::ComparedSides::Head), found, "recorded: {before}");
        sealed(&repo);
        assert_eq!(codes_of_commits(&repo, 1), found, "sealed: {before}");
    }
}

/// A hunk that goes over two blocks touches both, also where it leaves nothing new in the second.
#[test]
fn a_block_that_lost_lines_to_a_hunk_of_its_neighbour_is_recorded() {
    let repo = Repo::new();
    repo.write("src/a.rs", "const A: u8 = 1;\n/// Of b.\nconst B: u8 = 2;\n");
    repo.commit("before");
    for number in [7, 1] {
        repo.write("src/a.rs", &format!("const A: u8 = {number};\nconst B: u8 = 2;\n"));
        repo.record("INT-001", &["src/a.rs"]);
        sealed(&repo);
        assert_eq!(codes_of_commits(&repo, 1), Vec::<String>::new());
    }
    assert_eq!(codes_of_commits(&repo, 2), Vec::<String>::new());
}

#[test]
#[ignore = "slow"]
fn a_record_names_only_what_no_other_record_left_so() {
    let function = |name: &str, calls: &[&str]| {
        let calls: String = calls.iter().map(|call| format!("    {call}();\n")).collect();
        format!("fn {name}() {{\n{calls}}}\n")
    };
    let class = |field: &str, method: &str| {
        format!("class A:\n{field}    last = 1\n\n    def f(self):\n{method}        return 1\n")
    };
    let (f, g) = (["a", "b", "c"], ["x", "y", "z"]);
    let two = |f: &[&str], g: &[&str]| function("f", f) + &function("g", g);
    // The text that INT-001 records, and the one that INT-002 makes of it.
    let stories = [
        ("src/a.rs", two(&f, &g), two(&f[1..], &g), two(&f[1..], &g[1..])),
        ("src/a.rs", two(&f, &g), function("g", &g), function("g", &g[1..])),
        (
            "src/a.py",
            class("    first = 0\n", "        print()\n"),
            class("", "        print()\n"),
            class("", ""),
        ),
    ];
    for (path, before, first, second) in &stories {
        // Another commit in between changes neither the records nor the file.
        for has_other_commit in [false, true] {
            let repo = Repo::new();
            repo.write(path, before);
            repo.commit("before");
            repo.write(path, first);
            repo.record("INT-001", &[path]);
            assert_eq!(codes(&repo, &check::ComparedSides::Head), Vec::<String>::new());
            if has_other_commit {
                repo.write("docs/a.md", "# A\n");
                repo.git(&["add", "docs"]);
                repo.git(&["commit", "-qm", "docs"]);
            }
            repo.write(path, second);
            assert_eq!(repo.record("INT-002", &[path]).recorded[0].blocks, 1, "{first}");
            let found = [format!("scope-violation {path}")];
            assert_eq!(codes(&repo, &check::ComparedSides::Head), found, "{first}");
            assert!(repo.record("INT-001", &[path]).recorded.is_empty(), "{first}");
            sealed(&repo);
            assert_eq!(codes_of_commits(&repo, 1), found, "{first}");
        }
    }
}

/// The last recorded text is not on disk any more, or has a change that nobody recorded.
#[test]
fn a_removal_is_recorded_whatever_was_recorded_before() {
    let text = |calls: &[&str], number: u32| {
        let calls: String = calls.iter().map(|call| format!("    {call}();\n")).collect();
        format!("fn f() {{\n{calls}}}\n\nfn g() {{\n    x({number});\n}}\n")
    };
    let start = || {
        let repo = Repo::new();
        repo.write("src/a.rs", &text(&["a", "b", "c"], 1));
        repo.commit("before");
        repo
    };
    let undone = start();
    undone.write("src/a.rs", &text(&["b", "c"], 1));
    undone.record("INT-002", &["src/a.rs"]);
    undone.git(&["checkout", "-q", "src/a.rs"]);
    undone.write("src/a.rs", &text(&["a", "c"], 1));
    let beside = start();
    beside.write("src/a.rs", &text(&["a", "c"], 2));
    let second = code::LineRange::new(6, 8).expect("lines");
    beside.record_as("INT-001", &["src/a.rs"], record::RecordExtent::Lines(second));
    for repo in [undone, beside] {
        assert_eq!(repo.record("INT-001", &["src/a.rs"]).recorded.len(), 1);
        assert_eq!(codes(&repo, &check::ComparedSides::Head), Vec::<String>::new());
        sealed(&repo);
        assert_eq!(codes_of_commits(&repo, 1), Vec::<String>::new());
    }
}

#[test]
fn each_of_two_deleted_blocks_with_one_name_has_its_own_record() {
    let method = |kind: &str| format!("    void f({kind} a) {{\n        use{kind}(a);\n    }}\n");
    let class = |kinds: &[&str]| {
        let methods: Vec<String> = kinds.iter().map(|kind| method(kind)).collect();
        format!("class A {{\n{}}}\n", methods.join("\n"))
    };
    let repo = Repo::new();
    repo.write("src/A.java", &class(&["Long", "Text", "Date"]));
    repo.commit("before");
    repo.write("src/A.java", &class(&["Text", "Date"]));
    repo.record("INT-002", &["src/A.java"]);
    repo.write("src/A.java", &class(&["Date"]));
    repo.record("INT-001", &["src/A.java"]);
    let found = ["scope-violation src/A.java"];
    assert_eq!(codes(&repo, &check::ComparedSides::Head), found);
    sealed(&repo);
    assert_eq!(codes_of_commits(&repo, 1), found);
}

/// Whoever moves code answers for its new place, and not the intent that brought it elsewhere.
#[test]
fn code_that_was_moved_to_another_file_is_judged_by_the_record_of_the_move() {
    let (zero, moved) = ("fn zero() {}\n", "\nfn moved() {\n    one();\n    two();\n}\n");
    let whole = format!("{zero}{moved}");
    let repo = Repo::new();
    repo.write("src/a.rs", zero);
    repo.write("billing/b.rs", zero);
    repo.commit("before");
    repo.write("src/a.rs", &whole);
    repo.record("INT-001", &["src/a.rs"]);
    sealed(&repo);
    repo.write("src/a.rs", zero);
    repo.write("billing/b.rs", &whole);
    repo.record("INT-001", &["src/a.rs"]);
    repo.record("INT-002", &["billing/b.rs"]);
    let none = Vec::<String>::new();
    assert_eq!(codes(&repo, &check::ComparedSides::Head), none);
    sealed(&repo);
    assert_eq!((codes_of_commits(&repo, 1), codes_of_commits(&repo, 2)), (none.clone(), none));
    assert!(repo.picture("billing/b.rs").contains("moved INT-001 function moved"));
}

#[test]
fn widening_a_scope_beside_code_is_a_finding() {
    let repo = Repo::new();
    let widened =
        crate::support::REGISTRY.replace("[\"billing/**\"]", "[\"billing/**\", \"src/**\"]");
    let since = check::ComparedSides::Base("HEAD".into());
    let told = |repo: &Repo| {
        let found = codes(repo, &since).into_iter();
        found.filter(|code| code.starts_with("registry-changed")).collect::<Vec<_>>()
    };
    repo.write(".orchestration/active_intents.yaml", &widened);
    assert_eq!(told(&repo), Vec::<String>::new(), "reviewers see a change of the registry alone");
    repo.write(".orchestration/policy.yaml", "registry_changes: allow\n");
    repo.write("src/a.rs", TWO);
    assert_eq!(
        told(&repo),
        [
            "registry-changed .orchestration/active_intents.yaml",
            "registry-changed .orchestration/policy.yaml"
        ]
    );
    assert!(!codes(&repo, &check::ComparedSides::Head).iter().any(|it| it.starts_with("registry")));
    repo.git(&["checkout", "-q", ".orchestration/active_intents.yaml"]);
    repo.commit("policy");
    repo.write(".orchestration/active_intents.yaml", &widened);
    repo.write("src/a.rs", "");
    assert_eq!(told(&repo), Vec::<String>::new());
}

#[test]
fn a_change_is_judged_by_the_ignore_rules_of_the_base() {
    let repo = Repo::new();
    repo.write(".intentignore", "# intent: deny-write\nsrc/keys/\n");
    repo.write("src/keys/k.py", "KEY = 1\n");
    repo.commit("keys");
    repo.write(".intentignore", "# intent: deny-write\n");
    repo.write("src/keys/k.py", "KEY = 2\n");
    repo.record("INT-001", &["src/keys/k.py"]);
    let found = codes(&repo, &check::ComparedSides::Base("HEAD".into()));
    assert_eq!(found, ["registry-changed .intentignore", "ignored-path src/keys/k.py"]);
}

#[test]
fn during_a_merge_a_block_of_any_parent_is_no_edit() {
    let repo = recorded();
    repo.commit("one");
    repo.git(&["switch", "-qc", "left"]);
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 2"));
    repo.commit("left");
    repo.git(&["switch", "-q", "main"]);
    repo.write("src/other.rs", "fn other() {}\n");
    repo.commit("right");
    repo.git(&["merge", "-q", "--no-commit", "--no-ff", "left"]);
    let ws = repo.open();
    let path = relative("src/a.rs");
    let file = answers::file(&ws, &path, &ws.read(&path).expect("readable"));
    let baseline = why::baseline::Baseline::of_work(&ws, &path).expect("a baseline");
    assert!(baseline.edits(&file.document).now.is_empty());
}

#[test]
fn an_edit_under_a_finished_intent_is_a_finding() {
    let repo = recorded();
    repo.commit("one");
    overview::select::select(&repo.open(), "INT-001", None).expect("selected");
    let status = intents::Status::Completed;
    judgement::registry::set_status(&repo.open(), "INT-001", status).expect("completed");
    repo.write("src/a.rs", &TWO.replace("+ 1", "+ 2"));
    let ws = repo.open();
    let path = relative("src/a.rs");
    let file = answers::file(&ws, &path, &ws.read(&path).expect("readable"));
    let baseline = why::baseline::Baseline::of_work(&ws, &path).expect("a baseline");
    let former = why::baseline::FormerFile { baseline, from: None };
    let (rules, is_own) = (Rules::from_workspace(&ws), overview::own_setup::is_own_setup);
    let findings = check::document(&ws, &rules, &path, &file, &former, is_own);
    let told: Vec<&str> = findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(told, ["intent-not-active", "unowned", "differs-from-record"]);
}

#[test]
fn a_container_that_is_changed_only_inside_is_no_finding() {
    let repo = Repo::new();
    let class = "class Till:\n    currency = 'EUR'\n\n    def add(self, price):\n        self.total += price\n";
    repo.write("src/till.py", class);
    repo.record("INT-001", &["src/till.py"]);
    repo.write("src/till.py", &class.replace("+= price", "+= price * 2"));
    repo.record("INT-001", &["src/till.py"]);
    let picture = repo.picture("src/till.py");
    assert!(picture.starts_with("exact INT-001 class Till\n"), "{picture}");
    assert_eq!(codes(&repo, &check::ComparedSides::Head), Vec::<String>::new());
    repo.write("src/till.py", &class.replace("+= price", "+= price * 3"));
    let picture = repo.picture("src/till.py");
    assert!(picture.starts_with("modified INT-001 class Till (inside)\n"), "{picture}");
}

#[test]
fn another_copy_of_an_unnamed_text_is_new() {
    let repo = Repo::new();
    let one = "register(1)\n\ndef one():\n    return 1\n";
    let two = "\nregister(1)\n\ndef two():\n    return 2\n";
    repo.write("src/t.py", one);
    repo.record("INT-001", &["src/t.py"]);
    repo.commit("one");
    repo.write("src/t.py", &format!("{one}{two}"));
    assert_eq!(repo.record("INT-001", &["src/t.py"]).recorded[0].blocks, 2);
    assert_eq!(codes(&repo, &check::ComparedSides::Base("HEAD".to_owned())), Vec::<String>::new());
    repo.write("src/t.py", &format!("{two}\n{one}"));
    assert_eq!(
        codes(&repo, &check::ComparedSides::Head),
        Vec::<String>::new(),
        "another order is no edit"
    );
}

#[test]
fn a_wrong_claim_of_refactoring_is_contradicted() {
    let repo = recorded();
    repo.commit("one");
    let claim = |text: &str| {
        repo.write("src/a.rs", text);
        let request = record::RecordRequest {
            paths: vec![relative("src/a.rs")],
            intent: Some("INT-001".to_owned()),
            agent: Some("test-agent".to_owned()),
            claimed_class: Some("AST_REFACTOR".to_owned()),
            ..record::RecordRequest::default()
        };
        judged_record::record(&repo.open(), &request).expect("recorded");
        let request = check::CheckRequest { with_class: true, ..Default::default() };
        judged(&repo, &request)
    };
    let kept = claim(&TWO.replace("doubled", "twice"));
    let change = kept.change.expect("there is git");
    assert_eq!(change.reasons, ["function first: rename of locals (doubled → twice)"]);
    assert_eq!(change.class, Some(ledger::MutationClass::AstRefactor));
    assert!(kept.findings.is_empty(), "{:?}", kept.findings);
    let changed = claim(&TWO.replace("count * 2", "count * 3"));
    let change = changed.change.expect("there is git");
    assert_eq!(change.class, Some(ledger::MutationClass::IntentEvolution));
    let codes: Vec<_> = changed.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["class-contradicted"]);
    assert_eq!(
        changed.findings[0].message,
        "first was claimed as AST_REFACTOR, and since the base it is INTENT_EVOLUTION (function first: body)."
    );
}

#[test]
fn a_rename_of_a_name_that_other_files_use_is_evolution() {
    use ledger::MutationClass::{AstRefactor, IntentEvolution};
    let total = "pub(crate) fn total(count: u32) -> u32 {\n    let sum = count;\n    sum + 1\n}\n";
    let mut classes = Vec::new();
    for other in ["crate::a::total(1)", "2 // Less than a total.", "let total = 1; total"] {
        let repo = Repo::new();
        repo.write("src/a.rs", total);
        repo.write("src/b.rs", &format!("fn other() -> u32 {{\n    {other}\n}}\n"));
        repo.write("README.md", "The total is a number.\n");
        repo.commit("one");
        repo.write("src/a.rs", &total.replace("total", "sum_up"));
        let class = |against: &check::ComparedSides| {
            let request = check::CheckRequest::for_sides(against.clone());
            let request = check::CheckRequest { with_class: true, ..request };
            let found = check::change(&repo.open(), &request).expect("judged");
            found.change.and_then(|change| change.class)
        };
        let tree = class(&check::ComparedSides::Head);
        repo.git(&["add", "src/a.rs"]);
        classes.push((tree, class(&check::ComparedSides::Staged)));
    }
    let [used, free, local] = &classes[..] else { panic!("{classes:?}") };
    assert_eq!(*used, (Some(IntentEvolution), Some(IntentEvolution)));
    assert_eq!(*free, (Some(AstRefactor), Some(AstRefactor)));
    assert_eq!(*local, (Some(AstRefactor), Some(AstRefactor)));
}
