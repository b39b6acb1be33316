//! Several sessions work on one file, each with the real hook process: no session overwrites changes that it has not
//! seen.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::Repo;
use crate::support::binary::command;
use ground::{Root, session};
use serde_json::{Value, json};

const CODE: &str = "fn one() {\n    1;\n}\n\nfn two() {\n    2;\n}\n\nfn three() {\n    3;\n}\n";
const PROSE: &str = "The first one.\n\nThe second one.\n\nThe third one.\n";

/// A workspace in which several sessions work.
struct Place {
    repo: Repo,
}

/// What became of an agent's call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Came {
    Through,
    Stale,
}
use Came::{Stale, Through};

impl Place {
    fn with(path: &str, text: &str) -> Self {
        let repo = Repo::new();
        repo.write(path, text);
        repo.commit("code");
        let root = Root::find(&repo.root(), &ground::Environment::of_process()).expect("a root");
        for name in ["a", "b", "c"] {
            let selection = session::Selection {
                intent_id: "INT-001".to_owned(),
                selected_at: "2026-11-22T02:00:00.000Z".to_owned(),
                ..session::Selection::default()
            };
            session::select_for(&root, &format!("claude-code:{name}"), &selection)
                .expect("selected");
        }
        Self { repo }
    }

    fn hook(&self, payload: &Value) -> String {
        let mut child = command(&self.repo.root(), &["hook", "claude-code"])
            .env("HOME", self.repo.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(payload.to_string().as_bytes()).expect("it reads");
        drop(stdin);
        String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("text")
    }

    /// Returns the answer of the hook to one event of a call.
    fn said(&self, event: &str, session: &str, tool: &str, input: &Value) -> String {
        self.hook(&json!({
            "session_id": session, "cwd": self.repo.root(), "hook_event_name": event,
            "tool_name": tool, "tool_input": input, "tool_response": {"success": true},
        }))
    }

    /// Makes a call: the hook before it, `deed` if the call is allowed, and the hook after it.
    fn call(&self, session: &str, tool: &str, input: Value, deed: impl FnOnce(&Repo)) -> Came {
        let said = self.said("PreToolUse", session, tool, &input);
        if said.contains("STALE_FILE") {
            return Stale;
        }
        assert!(!said.contains("\"deny\""), "{said}");
        deed(&self.repo);
        self.said("PostToolUse", session, tool, &input);
        Through
    }

    /// Returns who is named in the denial of writing a whole text.
    fn blamed(&self, session: &str, path: &str, text: &str) -> String {
        let input = json!({ "file_path": path, "content": text });
        let said = self.said("PreToolUse", session, "Write", &input);
        let (_, by) = said.split_once(" since this session last saw it, by ").expect(&said);
        by.split([' ', ',']).next().unwrap_or_default().to_owned()
    }

    fn read(&self, session: &str, path: &str) {
        self.read_lines(session, path, json!({}));
    }

    fn read_lines(&self, session: &str, path: &str, lines: Value) {
        let mut input = json!({ "file_path": path });
        for (name, value) in lines.as_object().expect("names and numbers") {
            input[name] = value.clone();
        }
        assert_eq!(self.call(session, "Read", input, |_| ()), Through);
    }

    fn edit(&self, session: &str, path: &str, old: &str, new: &str) -> Came {
        let input = json!({ "file_path": path, "old_string": old, "new_string": new });
        self.call(session, "Edit", input, |repo| {
            let text = repo.read(path);
            assert_eq!(text.matches(old).count(), 1, "{old:?} in {text:?}");
            repo.write(path, &text.replace(old, new));
        })
    }

    fn write(&self, session: &str, path: &str, text: &str) -> Came {
        let input = json!({ "file_path": path, "content": text });
        self.call(session, "Write", input, |repo| repo.write(path, text))
    }

    fn patch(&self, session: &str, path: &str, old: &str, new: &str) -> Came {
        let patch = format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        );
        self.call(session, "apply_patch", json!({ "input": patch }), |repo| {
            repo.write(path, &repo.read(path).replace(old, new));
        })
    }
}

#[test]
#[ignore = "slow"]
fn a_small_edit_does_not_refresh_the_rest_of_the_file() {
    for (path, text, one, two) in
        [("src/a.rs", CODE, "1", "2"), ("src/a.txt", PROSE, "first one", "second one")]
    {
        let place = Place::with(path, text);
        place.read("a", path);
        place.read("b", path);
        let old = text.replace(two, "from_b");
        assert_eq!(place.edit("a", path, one, "from_a"), Through);
        assert_eq!(place.write("b", path, &old), Stale, "{path}");
        assert_eq!(place.edit("b", path, two, "from_b"), Through, "{path}: another block");
        assert_eq!(place.write("b", path, &old), Stale, "{path}: still without what a wrote");
        assert_eq!(place.edit("b", path, "from_a", "over_it"), Stale, "{path}");
        assert!(place.repo.read(path).contains("from_a"), "{path}");
        // Session a has not seen the edit of b, but its own edit would not overwrite that one.
        assert_eq!(place.edit("a", path, "from_a", "again_from_a"), Through, "{path}");
        assert_eq!(place.write("a", path, &text.replace(one, "again_from_a")), Stale, "{path}");
        place.read("b", path);
        let both = place.repo.read(path).replace("from_b", "b_after_a");
        assert_eq!(place.write("b", path, &both), Through, "{path}: read again");
        assert_eq!(place.write("b", path, &text.replace(two, "b")), Through, "{path}: its own");
    }
}

#[test]
#[ignore = "slow"]
fn a_denial_names_who_changed_the_unseen_block() {
    let place = Place::with("src/a.rs", CODE);
    let edit = |session: &str, old: &str, new: &str| {
        assert_eq!(place.edit(session, "src/a.rs", old, new), Through);
    };
    let blamed = |session: &str, text: &str| place.blamed(session, "src/a.rs", text);
    let by_b = CODE.replace("2;", "22;");
    for session in ["a", "b", "c"] {
        place.read(session, "src/a.rs");
    }
    edit("a", "1;", "11;");
    edit("b", "2;", "22;");
    assert_eq!(blamed("b", &by_b), "claude-code:a", "b knows what b wrote");
    assert_eq!(blamed("a", &CODE.replace("1;", "11;")), "claude-code:b");
    assert_eq!(blamed("c", &CODE.replace("3;", "33;")), "claude-code:b", "the last of two");
    edit("b", "22;", "222;");
    edit("a", "11;", "111;");
    assert_eq!(blamed("b", &by_b), "claude-code:a");
    place.read("b", "src/a.rs");
    // A person changes the block again in an editor.
    place.repo.write("src/a.rs", &place.repo.read("src/a.rs").replace("111;", "0;"));
    assert_eq!(blamed("b", &by_b), "somebody");
    edit("b", "222;", "2;");
    assert_eq!(blamed("b", &by_b), "somebody", "a write of b does not change who is named");
}

#[test]
fn a_whole_text_that_keeps_the_changes_of_others_is_allowed() {
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    assert_eq!(place.edit("a", "src/a.rs", "1;", "11;"), Through);
    let both = CODE.replace("1;", "11;").replace("2;", "22;");
    assert_eq!(place.write("b", "src/a.rs", &both), Through);
}

#[test]
#[ignore = "slow"]
fn a_patch_refreshes_only_the_blocks_that_it_changes() {
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    assert_eq!(place.patch("a", "src/a.rs", "    1;", "    11;"), Through);
    assert_eq!(place.patch("b", "src/a.rs", "    2;", "    22;"), Through);
    assert_eq!(place.write("b", "src/a.rs", &CODE.replace("2;", "22;")), Stale);
    assert_eq!(place.patch("b", "src/a.rs", "    11;", "    12;"), Stale, "a's block");
    assert_eq!(place.patch("b", "src/a.rs", "    3;", "    33;"), Through);
}

#[test]
#[ignore = "slow"]
fn blocks_that_others_added_or_removed_make_a_text_stale() {
    for now in [
        CODE.replace("fn one() {\n    1;\n}\n\n", ""),
        format!("{CODE}\nfn four() {{\n    4;\n}}\n"),
        CODE.replace("fn two", "// Why there are two.\n\nfn two"),
        CODE.replace("fn one()", "fn first()"),
    ] {
        let place = Place::with("src/a.rs", CODE);
        place.read("a", "src/a.rs");
        place.read("b", "src/a.rs");
        assert_eq!(place.write("a", "src/a.rs", &now), Through);
        assert_eq!(place.edit("b", "src/a.rs", "3;", "33;"), Through, "{now}");
        assert_eq!(place.write("b", "src/a.rs", &CODE.replace("3;", "33;")), Stale, "{now}");
        place.read("b", "src/a.rs");
        assert_eq!(place.write("b", "src/a.rs", &now), Through, "read again: {now}");
    }
}

#[test]
fn a_file_that_others_moved_is_not_written_again() {
    let place = Place::with("src/a.rs", CODE);
    place.read("a", "src/a.rs");
    place.read("b", "src/a.rs");
    let moving = json!({ "command": "git mv src/a.rs src/c.rs" });
    let moved = place.call("a", "Bash", moving, |repo| {
        repo.git(&["mv", "src/a.rs", "src/c.rs"]);
    });
    assert_eq!(moved, Through);
    assert_eq!(place.write("b", "src/a.rs", &CODE.replace("2;", "22;")), Stale);
    assert_eq!(
        place.write("b", "src/c.rs", "fn c() {}\n"),
        Stale,
        "b never read the file at its new path"
    );
}

#[test]
#[ignore = "slow"]
fn only_the_lines_that_were_shown_count_as_read() {
    let place = Place::with("src/a.rs", CODE);
    place.read_lines("b", "src/a.rs", json!({ "limit": 4 }));
    assert_eq!(place.write("b", "src/a.rs", CODE), Through, "nothing would change");
    assert_eq!(place.write("b", "src/a.rs", &CODE.replace("1;", "11;")), Through, "its own");
    let place = Place::with("src/a.rs", CODE);
    place.read_lines("b", "src/a.rs", json!({ "limit": 4 }));
    assert_eq!(place.write("b", "src/a.rs", &CODE.replace("2;", "22;")), Stale, "not shown");
    assert_eq!(place.edit("b", "src/a.rs", "2;", "22;"), Through, "found by its text");
    assert_eq!(place.write("b", "src/a.rs", "fn one() {}\n"), Stale, "three was not shown");
    place.read_lines("b", "src/a.rs", json!({ "offset": 8 }));
    assert_eq!(place.write("b", "src/a.rs", "fn one() {}\n"), Through, "all of it, bit by bit");
}

#[test]
#[ignore = "slow"]
fn reading_a_part_again_refreshes_that_part() {
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    let theirs = CODE.replace("1;", "11;").replace("3;", "33;");
    place.read("a", "src/a.rs");
    assert_eq!(place.write("a", "src/a.rs", &theirs), Through);
    place.read_lines("b", "src/a.rs", json!({ "limit": 4 }));
    assert_eq!(place.edit("b", "src/a.rs", "11;", "111;"), Through);
    assert_eq!(place.edit("b", "src/a.rs", "33;", "333;"), Stale);
    let read = json!({ "file": { "startLine": 9, "numLines": 3, "totalLines": 11 } });
    let payload = json!({
        "session_id": "b", "cwd": place.repo.root(), "hook_event_name": "PostToolUse",
        "tool_name": "Read", "tool_input": { "file_path": "src/a.rs", "offset": 9 },
        "tool_response": read,
    });
    place.hook(&payload);
    assert_eq!(place.edit("b", "src/a.rs", "33;", "333;"), Through);
}

#[test]
fn a_read_that_failed_does_not_count() {
    let place = Place::with("src/a.rs", CODE);
    let payload = json!({
        "session_id": "b", "cwd": place.repo.root(), "hook_event_name": "PostToolUseFailure",
        "tool_name": "Read", "tool_input": { "file_path": "src/a.rs" },
    });
    place.hook(&payload);
    assert_eq!(place.write("b", "src/a.rs", "fn one() {}\n"), Stale);
}

#[test]
fn an_insertion_by_line_number_needs_fresh_lines() {
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    assert_eq!(place.edit("a", "src/a.rs", "1;", "1;\n    11;"), Through);
    let input = json!({ "command": "insert", "path": "src/a.rs", "insert_line": 6, "new_str": "    22;\n" });
    assert_eq!(place.call("b", "str_replace_editor", input, |_| ()), Stale);
}

#[test]
fn formatting_after_an_own_write_keeps_the_file_fresh() {
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    let text = CODE.replace("2;", "2;\n    22;");
    let input = json!({ "file_path": "src/a.rs", "content": text });
    let formatted = text.replace("    22;", "        22;");
    let came = place.call("b", "Write", input, |repo| repo.write("src/a.rs", &formatted));
    assert_eq!(came, Through);
    assert_eq!(place.write("b", "src/a.rs", &text), Through, "its own tokens");
}

#[test]
fn a_comment_that_somebody_wrote_is_not_formatting() {
    let commented = CODE.replace("1;", "1;\n    // ask Ada");
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    place.repo.write("src/a.rs", &commented);
    assert_eq!(place.edit("b", "src/a.rs", "2;", "22;"), Through);
    assert_eq!(place.write("b", "src/a.rs", &CODE.replace("2;", "22;")), Stale);
    // It is written while the session's own write is on its way.
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    let text = CODE.replace("2;", "22;");
    let input = json!({ "file_path": "src/a.rs", "content": text });
    let commented = commented.replace("2;", "22;");
    let came = place.call("b", "Write", input, |repo| repo.write("src/a.rs", &commented));
    assert_eq!(came, Through);
    assert_eq!(place.write("b", "src/a.rs", &text), Stale);
}

#[test]
fn a_command_refreshes_only_what_it_changed() {
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    assert_eq!(place.edit("a", "src/a.rs", "1;", "11;"), Through);
    let make = json!({ "command": "make generate" });
    let made = place.call("b", "Bash", make, |repo| {
        repo.write("src/a.rs", &repo.read("src/a.rs").replace("2;", "22;"));
    });
    assert_eq!(made, Through);
    assert_eq!(place.write("b", "src/a.rs", &CODE.replace("2;", "22;")), Stale);
    assert_eq!(place.edit("b", "src/a.rs", "22;", "23;"), Through, "what it made itself");
}

#[test]
fn notes_of_an_older_version_are_read() {
    let place = Place::with("src/a.rs", CODE);
    place.read("b", "src/a.rs");
    let sessions = place.repo.root().join(".orchestration/local/sessions");
    let mut rewritten = 0;
    for session in std::fs::read_dir(sessions).expect("sessions") {
        let seen = session.expect("an entry").path().join("seen");
        for note in std::fs::read_dir(seen).into_iter().flatten() {
            let file = note.expect("an entry").path();
            let text = std::fs::read_to_string(&file).expect("a note");
            let mut note: Value = serde_json::from_str(&text).expect("JSON");
            assert!(note.as_object_mut().expect("an object").remove("extent").is_some());
            std::fs::write(&file, note.to_string()).expect("written");
            rewritten += 1;
        }
    }
    assert_eq!(rewritten, 1);
    assert_eq!(place.write("b", "src/a.rs", &CODE.replace("2;", "22;")), Through);
}
