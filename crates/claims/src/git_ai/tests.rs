use proptest::prelude::*;

use super::*;
use crate::commit_note::last_about;

const METADATA: &str = r#"{
  "schema_version": "authorship/3.0.0",
  "git_ai_version": null,
  "base_commit_sha": "not read",
  "logical_commit_id": 7,
  "prompts": {
    "0123456789abcdef": {
      "agent_id": { "tool": "cursor", "id": "c1", "model": "default" },
      "human_author": "ada@example.com",
      "messages": [{ "type": "user", "text": "x" }], "total_additions": 3
    },
    "abc1234": { "agent_id": { "tool": "codex", "id": "c2", "model": "gpt-5" } }
  },
  "sessions": {
    "s_1": {
      "agent_id": { "tool": "claude", "id": "c3", "model": "opus" },
      "human_author": "Ada <ada@example.com>",
      "custom_attributes": { "a": "b" }
    }
  },
  "humans": { "h_1": { "author": "Bob <bob@example.com>" }, "h_2": { "author": "<x@example.com>" } }
}"#;

/// Returns agent, model, session and human of a line, separated by spaces.
fn said_of(note: &CommitNote, path: &str, line: u32) -> String {
    let noted = note.get(BStr::new(path)).and_then(|claims| last_about(claims, line));
    let Some(noted) = noted else {
        return "nothing".to_owned();
    };
    let Some(writer) = &noted.writer else { return "nobody".to_owned() };
    let all = [&writer.agent, &writer.model, &writer.session, &writer.human];
    all.map(|word| word.as_deref().unwrap_or("-")).join(" ")
}

fn parsed(attestations: &str) -> Option<CommitNote> {
    parse_note(format!("{attestations}---\n{METADATA}").as_bytes())
}

#[test]
fn the_last_entry_that_covers_a_line_says_who_wrote_it() {
    let note = parsed(
        "src/a.rs\n  s_1::t_1 9,1-4\n  0123456789abcdef 3\n  abc1234 4  \n\n\"b c.rs\"\n  h_1 1\n  h_2 2\n  s_9::t_1 3\n  human 4\n",
    );
    let note = note.unwrap();
    let cases = [
        ("src/a.rs", 1, "claude opus c3 Ada"),
        ("src/a.rs", 3, "cursor - c1 -"),
        ("src/a.rs", 4, "codex gpt-5 c2 -"),
        ("src/a.rs", 5, "nothing"),
        ("src/a.rs", 9, "claude opus c3 Ada"),
        ("b c.rs", 1, "- - - Bob"),
        // A person of whom only the address is known, and keys that the note does not explain.
        ("b c.rs", 2, "nobody"),
        ("b c.rs", 3, "nobody"),
        ("b c.rs", 4, "nobody"),
        ("c.rs", 1, "nothing"),
    ];
    for (path, line, said) in cases {
        assert_eq!(said_of(&note, path, line), said, "{path}:{line}");
    }
}

#[test]
fn a_key_that_is_not_explained_hides_the_entry_before_it() {
    let note = parsed("a\n  s_1::t_1 1-9\n  s_9::t_1 2\n").unwrap();
    assert_eq!(said_of(&note, "a", 2), "nobody");
}

#[test]
fn a_note_that_does_not_follow_the_grammar_says_nothing() {
    let cases = [
        "  s_1::t_1 1\n",
        "a\n  s_1::t_1\n",
        "a\n  s_1::t_1 \n",
        "a\n   s_1::t_1 1\n",
        "a\n s_1::t_1 1\n",
        "a\n\ts_1::t_1 1\n",
        "a\n  s_1::t_1 0\n",
        "a\n  s_1::t_1 5-3\n",
        "a\n  s_1::t_1 1, 2\n",
        "a\n  s_1::t_1 1,,2\n",
        "a\n  s_1::t_1 +1\n",
        "a\n  s_1::t_1 -1\n",
        "a\n  s_1::t_1 1-\n",
        "a\n  s_1::t_1 99999999999\n",
        "a\n  s_1::t_1 1 2\n",
        "a\n  s_1::t_1 x\n",
        "\"\"\n  s_1::t_1 1\n",
    ];
    for text in cases {
        assert_eq!(parsed(text), None, "{text:?}");
    }
    let whole = format!("a\n  s_1::t_1 1\n---\n{METADATA}");
    assert!(parse_note(whole.as_bytes()).is_some());
    assert!(parse_note(whole.replace('\n', "\r\n").as_bytes()).is_some());
    let changed = [
        ("---\n", "--\n"),
        ("authorship/3.0.0", "authorship/4.0.0"),
        ("authorship/3.0.0", "other/3.0.0"),
        ("\"tool\": \"claude\"", "\"tool\": 1"),
        ("\"sessions\": {", "\"sessions\": ["),
    ];
    for (before, after) in changed {
        assert_eq!(parse_note(whole.replace(before, after).as_bytes()), None, "{after}");
    }
}

#[test]
fn a_note_without_attestations_is_empty() {
    assert_eq!(parsed(""), Some(CommitNote::default()));
}

#[test]
fn the_format_before_notes_names_authors() {
    let text = r#"{"files":{"a.rs":{"file":"a.rs","authors":[
            {"author":"Cursor","lines":[2,[4,8],4],"agent_metadata":null},
            {"author":"Ada Lovelace","lines":[[7,9]],"agent_metadata":null},
            {"author":"helper","lines":[12],"agent_metadata":{"model":"m","human_author":"Bob <b@example.com>"}}
        ]}},"schema_version":"authorship/0.0.1"}"#;
    let first = text.replace(r#","schema_version":"authorship/0.0.1""#, "");
    let later = text.replace("0.0.1", "4.0.0");
    assert_eq!(parse_note(first.as_bytes()), parse_note(text.as_bytes()));
    assert_eq!(parse_note(later.as_bytes()), None);
    let note = parse_note(text.as_bytes()).unwrap();
    let cases = [
        (2, "Cursor - - -"),
        (5, "Cursor - - -"),
        // Both authors claim these lines, and the format does not say who came last.
        (7, "nobody"),
        (8, "nobody"),
        // Nobody knows whether an author without a session is a person.
        (9, "nobody"),
        (12, "helper m - Bob"),
        (3, "nothing"),
    ];
    for (line, said) in cases {
        assert_eq!(said_of(&note, "a.rs", line), said, "line {line}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        parse_note(&bytes);
    }

    #[test]
    fn no_text_near_the_grammar_makes_the_parser_panic(
        text in "(a|\"|  s_1::t_1 |  h |[0-9]{1,11}|-|,|\n|---\n|\\{|\\}|\r| ){0,40}"
    ) {
        parse_note(text.as_bytes());
        parsed(&text);
    }

    /// Whatever the ranges are, a line is said to be of a session only if a range names it.
    #[test]
    fn no_line_is_claimed_that_no_range_names(
        ranges in proptest::collection::vec((1u32..60, 0u32..9), 1..12), line in 1u32..80
    ) {
        let listed: Vec<String> =
            ranges.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect();
        let note = parsed(&format!("a\n  s_1::t_1 {}\n", listed.join(","))).unwrap();
        let is_named = ranges.iter().any(|(first, more)| (*first..=first + more).contains(&line));
        prop_assert_eq!(last_about(&note[BStr::new("a")], line).is_some(), is_named);
    }
}
