//! `intent evidence sessions import`: lines that a transcript on this machine explains.

use claims::Claims;
use ground::git::ObjectId;
use ground::{Environment, Git, Root};
use serde_json::json;

use super::lab::Lab;

const WRITTEN: &str = "fn first_thing() -> u32 {\n    let answer = 42;\n    answer\n}\n";

/// Writes a transcript of Claude Code with a prompt and a new file.
fn write_transcript(lab: &Lab) {
    let file = lab.root.join("src/new.rs");
    let prompt = json!({
        "type": "user", "sessionId": "s1", "timestamp": "2020-01-01T10:00:00Z",
        "message": { "content": "Write the first thing\nfor ada@example.com" },
    });
    let model = json!({ "type": "assistant", "sessionId": "s1", "message": { "model": "opus" } });
    let done = |file: &std::path::Path, content: &str| {
        json!({
            "type": "user", "sessionId": "s1", "timestamp": "2020-01-01T10:00:01Z",
            "message": { "content": [] },
            "toolUseResult": { "type": "create", "filePath": file, "content": content, "structuredPatch": [] },
        })
    };
    let elsewhere = lab.root.parent().expect("a folder").join("other.rs");
    let twice = lab.root.join("src/twice.rs");
    let lines = [
        prompt,
        model,
        done(&file, WRITTEN),
        done(&file, "}\n"),
        done(&elsewhere, WRITTEN),
        done(&twice, WRITTEN),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    lab.write("../home/.claude/projects/x/s1.jsonl", text);
}

#[test]
fn lines_that_stand_literally_in_a_transcript_belong_to_its_session() {
    let lab = Lab::governed();
    write_transcript(&lab);
    let text = format!("// by hand\n{WRITTEN}// by hand, too\n");
    lab.write("src/new.rs", &text);
    lab.write("src/twice.rs", format!("{WRITTEN}{WRITTEN}"));
    lab.commit();

    let looked = lab.json(&["sessions", "import", "--dry-run"]);
    let expected =
        json!({ "transcripts": 1, "sessions": 1, "files": 2, "new_runs": 2, "dry_run": true });
    assert_eq!(looked, expected);
    assert_eq!(lab.json(&["sessions", "import"])["new_runs"], 2);
    assert_eq!(lab.json(&["sessions", "import"])["new_runs"], 0);
    let stored = lab.read(".git/intent/imported/sessions.jsonl");
    assert!(!stored.contains("answer") && !stored.contains("first thing"), "{stored}");

    let root = Root::find(&lab.root, &Environment::of_process()).expect("a workspace");
    let git = Git::open(&root).expect("readable").expect("a repository");
    let head = git.head().expect("readable").expect("a commit");
    let commit = ObjectId::from_hex(head.0.as_bytes()).expect("an id");
    let mut claims = Claims::open(&git, &root).expect("readable");
    let said: Vec<_> =
        (0..6).map(|line| claims.of_line(commit, "src/new.rs".into(), line)).collect();
    let written: Vec<bool> = said.iter().map(Option::is_some).collect();
    assert_eq!(written, [false, true, true, true, true, false]);
    let claim = said[1].as_ref().expect("claimed");
    assert_eq!((claim.session.as_deref(), claim.model.as_deref()), (Some("s1"), Some("opus")));
    assert_eq!((claim.tool.as_str(), claim.strength()), ("transcript", "inferred"));
    assert_eq!(claim.prompt_line().as_deref(), Some("Write the first thing"));
    // Of two copies nobody knows which one the session wrote.
    let copy = claims.of_line(commit, "src/twice.rs".into(), 1);
    assert_eq!(copy, None);

    std::fs::remove_file(lab.root.join("../home/.claude/projects/x/s1.jsonl")).expect("removed");
    let mut claims = Claims::open(&git, &root).expect("readable");
    let claim = claims.of_line(commit, "src/new.rs".into(), 1).expect("still known");
    assert_eq!((claim.session.as_deref(), claim.prompt_line()), (Some("s1"), None));
}
