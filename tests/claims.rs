//! What other tools recorded about lines, read from repositories that git made.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use claims::{Claims, checkpoint, missing_notes, unknown_notes};
use ground::git::ObjectId;

use crate::support::binary::intent;
use crate::support::{GIT, Repo};

const NOTE: &str = "src/a.rs
  s_1::t_1 2-3
---
{\"schema_version\":\"authorship/3.0.0\",\"prompts\":{},\"sessions\":{\"s_1\":{\"agent_id\":{\"tool\":\"claude\",\"id\":\"c1\",\"model\":\"opus\"},\"human_author\":\"Ada <ada@example.com>\"}}}";

/// A repository with one file of five lines, in one commit.
fn repo_with_file() -> (Repo, String) {
    let repo = Repo::new();
    repo.write("src/a.rs", "one\ntwo\nthree\nfour\nfive\n");
    repo.commit("add a.rs");
    let commit = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    (repo, commit)
}

/// Returns for each of the first five lines of `src/a.rs` who is said to have written it.
fn claimed(repo: &Repo, commit: &str) -> String {
    claimed_in(repo, commit, "src/a.rs")
}

fn claimed_in(repo: &Repo, commit: &str, path: &str) -> String {
    let workspace = repo.open();
    let git = workspace.git().expect("a repository");
    let mut claims = Claims::open(git, &workspace.root).expect("readable");
    let commit = ObjectId::from_hex(commit.as_bytes()).expect("an id");
    let mut said = String::new();
    for line in 0..5 {
        let claim = claims.of_line(commit, path.into(), line);
        let who = claim.map(|claim| {
            let tool = claim.tool.as_str();
            format!("{}@{tool}", claim.agent.or(claim.human).unwrap_or_default())
        });
        let _ = write!(said, "{} ", who.as_deref().unwrap_or("-"));
    }
    said.trim_end().to_owned()
}

/// Makes a commit without parents of these files, and lets a reference name it.
fn commit_of_files(repo: &Repo, reference: &str, files: &[(&str, &str)]) {
    let mut stream = format!("commit {reference}\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n");
    for (path, text) in files {
        let _ = writeln!(stream, "M 100644 inline {path}\ndata {}\n{text}", text.len());
    }
    let mut git = Command::new(&*GIT);
    git.args(["fast-import", "--quiet", "--force"]).current_dir(repo.root());
    let mut git = git.stdin(Stdio::piped()).spawn().expect("git runs");
    git.stdin.take().expect("a pipe").write_all(stream.as_bytes()).expect("taken");
    assert!(git.wait().expect("it ends").success());
}

/// Lets a reference name a content.
fn reference_to_blob(repo: &Repo, reference: &str, text: &str) {
    repo.write(".git/a-blob", text);
    let id = repo.git(&["hash-object", "-w", ".git/a-blob"]);
    repo.git(&["update-ref", reference, id.trim()]);
}

#[test]
fn a_note_of_git_ai_is_found_however_deep_git_keeps_it() {
    let (repo, commit) = repo_with_file();
    assert_eq!(claimed(&repo, &commit), "- - - - -");
    let (one, rest) = commit.split_at(2);
    let (two, deep) = rest.split_at(2);
    let others = (10..99).map(|n| format!("{n}/{rest}"));
    let others: Vec<String> = others.filter(|other| !other.starts_with(one)).collect();
    for place in [commit.clone(), format!("{one}/{rest}"), format!("{one}/{two}/{deep}")] {
        let mut files = vec![(place.as_str(), NOTE)];
        files.extend(others.iter().map(|other| (other.as_str(), "x")));
        commit_of_files(&repo, "refs/notes/ai", &files);
        assert_eq!(claimed(&repo, &commit), "- claude@git-ai claude@git-ai - -", "{place}");
        repo.git(&["pack-refs", "--all"]);
        assert_eq!(claimed(&repo, &commit), "- claude@git-ai claude@git-ai - -", "{place}");
        assert_eq!(claimed_in(&repo, &commit, "src/b.rs"), "- - - - -");
        repo.git(&["update-ref", "-d", "refs/notes/ai"]);
    }
}

#[test]
fn a_note_that_git_wrote_is_read_with_its_session_and_without_an_address() {
    let (repo, commit) = repo_with_file();
    repo.git(&["notes", "--ref=ai", "add", "-m", NOTE, &commit]);
    let workspace = repo.open();
    let mut claims = Claims::open(workspace.git().unwrap(), &workspace.root).unwrap();
    let id = ObjectId::from_hex(commit.as_bytes()).unwrap();
    let claim = claims.of_line(id, "src/a.rs".into(), 1).unwrap();
    let json = serde_json::to_value(&claim).unwrap();
    let expected = serde_json::json!({
        "tool": "git-ai", "agent": "claude", "model": "opus", "session": "c1", "human": "Ada",
    });
    assert_eq!(json, expected);
    assert_eq!(claims.of_line(ObjectId::null(id.kind()), "src/a.rs".into(), 1), None);
    assert_eq!(claims.of_line(id, "src/a.rs".into(), usize::MAX), None);
}

#[test]
fn damaged_notes_say_nothing() {
    let (repo, commit) = repo_with_file();
    let huge = format!("{NOTE}{}", " ".repeat(4 * 1024 * 1024));
    for note in
        ["", "text", "---", "src/a.rs\n  s_1::t_1 2-3\n", &NOTE.replace("2-3", "3-2"), &huge]
    {
        commit_of_files(&repo, "refs/notes/ai", &[(&commit, note)]);
        assert_eq!(claimed(&repo, &commit), "- - - - -");
        repo.git(&["update-ref", "-d", "refs/notes/ai"]);
    }
    // A reference to something that is no commit, and a note that is a folder.
    reference_to_blob(&repo, "refs/notes/ai", NOTE);
    assert_eq!(claimed(&repo, &commit), "- - - - -");
    repo.git(&["update-ref", "-d", "refs/notes/ai"]);
    commit_of_files(&repo, "refs/notes/ai", &[(&format!("{commit}/x"), NOTE)]);
    assert_eq!(claimed(&repo, &commit), "- - - - -");
}

#[test]
fn the_oldest_notes_of_git_ai_are_references_to_contents() {
    let (repo, commit) = repo_with_file();
    let note = r#"{"files":{"src/a.rs":{"authors":[{"author":"Cursor","lines":[1,[4,5]]}]}},"schema_version":"authorship/0.0.1"}"#;
    reference_to_blob(&repo, &format!("refs/ai/authorship/{commit}"), note);
    assert_eq!(claimed(&repo, &commit), "Cursor@git-ai - - Cursor@git-ai Cursor@git-ai");
}

#[test]
fn a_note_of_agent_blame_counts_for_lines_with_its_hash() {
    let (repo, commit) = repo_with_file();
    let range = |first: u32, hash: &str| {
        format!(
            r#"{{"path":"src/a.rs","startLine":{first},"endLine":{first},"contentHash":"{hash}","provider":"cursor","model":"m"}}"#
        )
    };
    let hash = ground::store::sha256(b"two");
    let ranges = [range(1, &hash), range(2, &hash), range(5, "not a hash")].join(",");
    let note = format!(r#"{{"version":2,"attributions":[{ranges}]}}"#);
    repo.git(&["notes", "--ref=agentblame", "add", "-m", &note, &commit]);
    assert_eq!(claimed(&repo, &commit), "- cursor@agentblame - - cursor@agentblame");
    // What Git AI says is stronger.
    repo.git(&["notes", "--ref=ai", "add", "-m", NOTE, &commit]);
    let both = "- claude@git-ai claude@git-ai - cursor@agentblame";
    assert_eq!(claimed(&repo, &commit), both);
}

fn trace_record(path: &str, agent: &str, revision: &str, first: u32, last: u32) -> String {
    format!(
        r#"{{"version":"0.1.0","id":"550e8400-e29b-41d4-a716-446655440000","timestamp":"2020-01-25T10:00:00Z","vcs":{{"type":"git","revision":"{revision}"}},"tool":{{"name":"{agent}"}},"files":[{{"path":"{path}","conversations":[{{"contributor":{{"type":"ai"}},"ranges":[{{"start_line":{first},"end_line":{last}}}]}}]}}]}}"#
    ) + "\n"
}

#[test]
fn trace_files_are_read_at_the_top_and_in_a_package() {
    let (repo, commit) = repo_with_file();
    let at_top = trace_record("src/a.rs", "cursor", &commit, 2, 3);
    repo.write(".agent-trace/traces.jsonl", &at_top);
    assert_eq!(claimed(&repo, &commit), "- cursor@agent-trace cursor@agent-trace - -");
    // The nearest file is asked first. Its paths are from its folder or from the top.
    let nested = trace_record("a.rs", "amp", &commit, 3, 3);
    repo.write("src/.agent-trace/traces.jsonl", &nested);
    assert_eq!(claimed(&repo, &commit), "- cursor@agent-trace amp@agent-trace - -");
    repo.write("src/.agent-trace/traces.jsonl", &nested.replace("a.rs", "src/a.rs"));
    assert_eq!(claimed(&repo, &commit), "- cursor@agent-trace amp@agent-trace - -");
    repo.write("src/.agent-trace/traces.jsonl", &nested.replace("a.rs", "b.rs"));
    assert_eq!(claimed(&repo, &commit), "- cursor@agent-trace cursor@agent-trace - -");
}

#[test]
fn an_imported_trace_file_is_kept_in_the_clone() {
    let (repo, commit) = repo_with_file();
    repo.write("export.jsonl", &trace_record("src/a.rs", "devin", &commit, 2, 3));
    let answer = intent(&repo, &["import", "agent-trace", "export.jsonl", "--json"]);
    let json = answer.json();
    assert_eq!((&json["records"], &json["was_known"]), (&1.into(), &false.into()));
    repo.remove("export.jsonl");
    assert_eq!(claimed(&repo, &commit), "- devin@agent-trace devin@agent-trace - -");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");

    repo.write("again.jsonl", &trace_record("src/a.rs", "devin", &commit, 2, 3));
    assert_eq!(
        intent(&repo, &["import", "agent-trace", "again.jsonl", "--json"]).json()["was_known"],
        true
    );
    repo.write("empty.jsonl", "{}\n");
    for file in ["empty.jsonl", "missing.jsonl", "src"] {
        let answer = intent(&repo, &["import", "agent-trace", file]);
        assert_ne!(answer.code, 0, "{file}: {}", answer.out);
    }
}

const METADATA: &str = r#"{"session_id":"s1","agent":"Codex","model":"gpt-5","created_at":"2026-07-13T23:25:17Z","files_touched":["src/a.rs"]}"#;

#[test]
fn a_checkpoint_is_found_on_a_branch_of_a_remote_or_by_its_own_reference() {
    let (repo, _) = repo_with_file();
    let prompt = "Make it fast\nand safe\n";
    let files = [("0/metadata.json", METADATA), ("0/prompt.txt", prompt), ("metadata.json", "{}")];
    let long = "01KXEWS08ZG9WXQPFE4QDA4GA3";
    commit_of_files(&repo, &format!("refs/entire/checkpoints/A3/{long}"), &files);
    let below = files.map(|(path, text)| (format!("0a/1b2c3d4e5f/{path}"), text));
    let below: Vec<_> = below.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    repo.git(&["remote", "add", "origin", "https://example.invalid/x"]);
    commit_of_files(&repo, "refs/remotes/origin/entire/checkpoints/v1", &below);

    let workspace = repo.open();
    let git = workspace.git().unwrap();
    for id in [long, "0a1b2c3d4e5f"] {
        let found = checkpoint(git, id).unwrap();
        let [session] = found.sessions.as_slice() else { panic!("{found:?}") };
        assert_eq!(session.session.as_deref(), Some("s1"));
        assert_eq!(session.agent.as_deref(), Some("Codex"));
        assert_eq!(session.model.as_deref(), Some("gpt-5"));
        assert_eq!(session.created.as_deref(), Some("2026-07-13T23:25:17Z"));
        assert_eq!(session.files_touched, ["src/a.rs"]);
        assert_eq!(session.prompt.as_deref(), Some("Make it fast"));
    }
    for id in ["0a1b2c3d4e50", "", "../../../x", "äöüäöüäöü", "0a/1b2c3d4e5f"] {
        assert_eq!(checkpoint(git, id), None, "{id}");
    }
}

#[test]
fn notes_that_are_not_read_are_named() {
    let (repo, commit) = repo_with_file();
    repo.git(&["remote", "add", "origin", "https://example.invalid/x"]);
    let asked = |repo: &Repo| {
        let workspace = repo.open();
        let git = workspace.git().unwrap();
        let missing = missing_notes(git).into_iter().map(|one| one.remote + " " + &one.reference);
        (unknown_notes(git), missing.collect::<Vec<_>>())
    };
    assert_eq!(asked(&repo), (vec![], vec![]));
    for name in ["commits", "ai-stash", "other", "semantic-release", "agentblame"] {
        repo.git(&["notes", &format!("--ref={name}"), "add", "-m", "x", &commit]);
    }
    assert_eq!(asked(&repo), (vec!["other".to_owned()], vec![]));
    let doctor = intent(&repo, &["doctor"]);
    assert!(doctor.out.contains("notes that are not read: other"), "{}", doctor.out);

    // A remote is known to have notes if they are fetched, or were fetched to another place.
    repo.git(&["config", "--add", "remote.origin.fetch", "+refs/notes/ai:refs/notes/ai"]);
    let missing = vec!["origin refs/notes/ai".to_owned()];
    assert_eq!(asked(&repo).1, missing);
    repo.git(&["config", "--unset", "remote.origin.fetch", "notes/ai"]);
    assert_eq!(asked(&repo).1, Vec::<String>::new());
    repo.git(&["update-ref", "refs/remotes/origin/notes/ai", &commit]);
    assert_eq!(asked(&repo).1, missing);
    let doctor = intent(&repo, &["doctor"]);
    let advice = "`git fetch origin refs/notes/ai:refs/notes/ai`";
    assert!(doctor.out.contains(advice), "{}", doctor.out);
    repo.git(&["update-ref", "refs/notes/ai", &commit]);
    assert_eq!(asked(&repo).1, Vec::<String>::new());
}
