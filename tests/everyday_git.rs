//! Everyday commands of git: nobody is asked about what loses nothing of others, unless the policy says so.

use std::path::Path;

use judgement::gate::{DenialCode, judge_before_call};

use crate::calls::{call, code, event, replace, select, shell};
use crate::support::{Repo, git, temporary_folder};
use evidence::event::Effect;

const CODE: &str = "fn one() {\n    1;\n}\n\nfn two() {\n    2;\n}\n";
const FILE: &str = "src/a.rs";

/// Returns a clone in which a session works on the branch `mine`, and the repository that it was cloned from.
fn at_work() -> (Repo, tempfile::TempDir) {
    let repo = Repo::new();
    repo.write(FILE, CODE);
    repo.commit("code");
    let origin = temporary_folder();
    git(origin.path(), &["init", "-q", "--bare"]);
    repo.git(&["remote", "add", "origin", origin.path().to_str().expect("plain")]);
    repo.git(&["push", "-q", "-u", "origin", "main"]);
    repo.git(&["switch", "-q", "-c", "mine"]);
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    (repo, origin)
}

fn commit(repo: &Repo, text: &str) {
    repo.write("src/b.rs", text);
    repo.commit(text);
}

fn judged(repo: &Repo, command: &str) -> Option<DenialCode> {
    code(&judge_before_call(&event(repo, "s", vec![shell(command)])))
}

const ASKED: Option<DenialCode> = Some(DenialCode::ApprovalRequired);

fn ask_always(repo: &Repo) {
    repo.write(".orchestration/policy.yaml", "everyday_git: ask\n");
}

#[test]
#[ignore = "slow"]
fn a_push_with_lease_changes_only_an_own_branch() {
    let (repo, _origin) = at_work();
    commit(&repo, "one");
    repo.git(&["push", "-q", "-u", "origin", "mine"]);
    repo.git(&["commit", "-q", "--amend", "-m", "two"]);
    for command in [
        "git push --force-with-lease",
        "git push -q --force-with-lease origin mine",
        "git push --force-with-lease --force-if-includes origin HEAD",
        "git push --force-with-lease=mine origin mine:mine",
        "git add -A && git commit --amend --no-edit && git push --force-with-lease",
    ] {
        assert_eq!(judged(&repo, command), None, "{command}");
    }
    for command in [
        "git push --force",
        "git push -f origin mine",
        "git push --force-with-lease --force origin mine",
        "git push --force-with-lease origin main",
        "git push --force-with-lease origin mine:main",
        "git push --force-with-lease origin +mine",
        "git push --force-with-lease origin :mine",
        "git push --force-with-lease --mirror",
        "git push --force-with-lease --all",
        "git push --force-with-lease /elsewhere mine",
        "git push --force-with-lease --no-verify",
        "git switch main && git push --force-with-lease",
        "GIT_DIR=../x/.git git push --force-with-lease",
        "cd /elsewhere && git push --force-with-lease",
        "ssh host git push --force-with-lease",
    ] {
        assert!(judged(&repo, command).is_some(), "{command}");
    }
    repo.git(&["config", "push.default", "matching"]);
    assert_eq!(judged(&repo, "git push --force-with-lease"), ASKED);
    repo.git(&["config", "--unset", "push.default"]);
    ask_always(&repo);
    assert_eq!(judged(&repo, "git push --force-with-lease"), ASKED);
}

#[test]
fn a_push_with_lease_loses_no_commit_of_somebody_else() {
    let (repo, _origin) = at_work();
    commit(&repo, "one");
    repo.git(&[
        "commit",
        "-q",
        "--allow-empty",
        "--author",
        "Ada <ada@example.invalid>",
        "-m",
        "hers",
    ]);
    repo.git(&["push", "-q", "-u", "origin", "mine"]);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(judged(&repo, "git push --force-with-lease"), ASKED);
}

#[test]
fn a_rebase_rewrites_only_an_own_branch_that_no_server_has() {
    let (repo, _origin) = at_work();
    commit(&repo, "one");
    for command in [
        "git rebase main",
        "git fetch && git rebase origin/main",
        "GIT_SEQUENCE_EDITOR=: git rebase -i --autosquash main",
        "git rebase --onto main HEAD~1",
    ] {
        assert_eq!(judged(&repo, command), None, "{command}");
    }
    for command in
        ["git rebase mine main", "git rebase -x ./run main", "git rebase --update-refs main"]
    {
        assert!(judged(&repo, command).is_some(), "{command}");
    }
    ask_always(&repo);
    assert_eq!(judged(&repo, "git rebase main"), ASKED);
    std::fs::remove_file(repo.root().join(".orchestration/policy.yaml")).expect("removed");
    repo.git(&["push", "-q", "origin", "mine"]);
    assert_eq!(judged(&repo, "git rebase main"), ASKED, "it is on a server");
    repo.git(&["switch", "-q", "main"]);
    assert_eq!(judged(&repo, "git rebase mine"), ASKED, "it is shared");
}

fn edited(repo: &Repo, old: &str, new: &str) {
    let text = repo.read(FILE).replace(old, new);
    let edit = event(repo, "s", vec![replace(FILE, old, new)]);
    call(&edit, || repo.write(FILE, &text)).expect("let through");
}

fn read(repo: &Repo, lines: Option<(u32, u32)>) {
    let lines = lines.and_then(|(first, last)| code::LineRange::new(first, last));
    let effects = vec![Effect::Read { path: Path::new(FILE).into(), lines }];
    call(&event(repo, "s", effects), || {}).expect("a read");
}

#[test]
fn a_restored_file_loses_only_what_the_session_knows() {
    let (repo, _origin) = at_work();
    read(&repo, Some((1, 3)));
    edited(&repo, "1;", "11;");
    for command in
        ["git restore src/a.rs", "git checkout -- src/a.rs", "cd src && git checkout a.rs"]
    {
        assert_eq!(judged(&repo, command), None, "{command}");
    }
    for command in [
        "git restore src",
        "git restore 'src/*.rs'",
        "git restore .",
        "git checkout main -- src/a.rs",
    ] {
        assert!(judged(&repo, command).is_some(), "{command}");
    }
    // A person edits another function, of which the session knows nothing.
    repo.write(FILE, &repo.read(FILE).replace("2;", "22;"));
    assert_eq!(judged(&repo, "git restore src/a.rs"), ASKED);
    ask_always(&repo);
    read(&repo, None);
    assert_eq!(judged(&repo, "git restore src/a.rs"), ASKED);
}

#[test]
#[ignore = "slow"]
fn a_session_knows_a_file_that_it_restored() {
    for lines in [None, Some((1, 3)), Some((1, 2))] {
        for command in
            ["git checkout src/a.rs", "git restore src/a.rs", "git checkout HEAD src/a.rs"]
        {
            let (repo, _origin) = at_work();
            read(&repo, lines);
            edited(&repo, "1;", "11;");
            let undo = event(&repo, "s", vec![shell(command)]);
            let deed = || repo.write(FILE, CODE);
            assert_eq!(
                call(&undo, deed).map(|told| told.violation),
                Ok(None),
                "{command} {lines:?}"
            );
            edited(&repo, "1;", "111;");
        }
        // A command that does not name the file.
        for command in ["git stash", "./undo"] {
            let (repo, _origin) = at_work();
            read(&repo, lines);
            edited(&repo, "1;", "11;");
            let undo = event(&repo, "s", vec![shell(command)]);
            call(&undo, || repo.write(FILE, CODE)).expect("let through");
            edited(&repo, "1;", "111;");
        }
    }
}
