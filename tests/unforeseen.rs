//! Files out of scope that a command of an agent touched: only other contents are a write, and the
//! agent may always bring the earlier content back.

use ground::session::ungated;
use judgement::after::Feedback;
use judgement::gate::{DenialCode, judge_before_call};

use crate::calls::{BEFORE, call, code, event, mutations, replace, repo, select, shell, write};
use crate::support::{Repo, git};
use evidence::event::Effect;

const OTHER: &str = "billing/b.rs";

/// Returns a repository in which the session `s` has selected an intent that does not own [`OTHER`].
fn at_work() -> Repo {
    let repo = repo();
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    repo
}

/// Runs a script of the session whose effects nobody foresees.
fn script(repo: &Repo, deed: impl FnOnce()) -> Feedback {
    let effects = vec![shell("./generate.sh")];
    let mut event = event(repo, "s", effects);
    // Each call has an id of its own.
    event.call = Some(ground::clock::now() + OTHER);
    call(&event, deed).expect("an opaque program may run under an intent")
}

fn noted(repo: &Repo) -> Vec<String> {
    let notes = ungated::still_valid(&repo.open().root);
    notes.into_iter().map(|note| note.path.to_string()).collect()
}

/// Makes a call with these effects, in which a tool of the agent does `deed`.
fn made(repo: &Repo, effects: Vec<Effect>, deed: impl FnOnce()) -> Option<DenialCode> {
    call(&event(repo, "s", effects), deed).err()
}

#[test]
fn only_other_contents_are_a_change() {
    let repo = at_work();
    let file = repo.root().join(OTHER);
    let rename = || {
        repo.write("billing/b.tmp", BEFORE);
        std::fs::rename(repo.root().join("billing/b.tmp"), &file).expect("renamed");
    };
    let touch = || {
        let open = std::fs::File::options().append(true).open(&file).expect("a file");
        open.set_modified(std::time::SystemTime::now()).expect("touched");
    };
    let ways: [&dyn Fn(); 3] = [&|| repo.write(OTHER, BEFORE), &rename, &touch];
    for state in ["as committed", "edited by a person", "staged by a person"] {
        for way in ways {
            if state == "as committed" {
                assert_eq!(script(&repo, way), Feedback::default(), "{state}");
                continue;
            }
            let edited = BEFORE.replace("2;", "22;");
            repo.write(OTHER, &edited);
            if state == "staged by a person" {
                git(&repo.root(), &["add", OTHER]);
            }
            assert_eq!(script(&repo, || repo.write(OTHER, &edited)), Feedback::default());
            assert_eq!(noted(&repo), [""; 0], "{state}");
            // The content of the commit is not what the person had.
            let told = script(&repo, way).violation.unwrap_or_default();
            assert_eq!(told.contains(OTHER), !std::ptr::eq(way, ways[2]), "{state}: {told}");
            git(&repo.root(), &["reset", "-q", "--hard"]);
        }
    }
    for deed in [&(|| repo.write(OTHER, "")) as &dyn Fn(), &|| repo.remove(OTHER), &|| {
        repo.write(OTHER, "fn x() {}\n");
        git(&repo.root(), &["commit", "-qam", "by the script"]);
    }] {
        let told = script(&repo, deed).violation.unwrap_or_default();
        assert!(told.contains(OTHER), "{told}");
    }
}

#[test]
fn a_conversion_of_git_is_no_change() {
    let repo = at_work();
    repo.write(".gitattributes", "*.rs text eol=crlf\n*.bin filter=lfs\n*.enc filter=secret\n");
    git(&repo.root(), &["config", "filter.secret.clean", "rev"]);
    git(&repo.root(), &["add", ".gitattributes"]);
    git(&repo.root(), &["commit", "-qm", "attributes"]);
    repo.write(OTHER, &BEFORE.replace('\n', "\r\n"));
    let crlf = repo.read(OTHER);
    assert_eq!(script(&repo, || repo.write(OTHER, &crlf)), Feedback::default());
    assert_eq!(script(&repo, || repo.write(OTHER, BEFORE)), Feedback::default());
    repo.write("billing/a.enc", "secret\n");
    git(&repo.root(), &["add", "billing/a.enc"]);
    git(&repo.root(), &["commit", "-qm", "secret"]);
    let told = script(&repo, || repo.write("billing/a.enc", "secret\n"));
    assert_eq!(told.violation, None);
    assert!(told.context.is_some_and(|told| told.contains("billing/a.enc")));
}

#[test]
fn an_agent_brings_back_what_its_script_broke() {
    let root = |repo: &Repo| repo.root();
    let restore = |repo: &Repo| drop(git(&root(repo), &["checkout", "-q", "HEAD", "--", OTHER]));
    let ways: [Vec<Effect>; 7] = [
        vec![shell("git checkout -- billing/b.rs")],
        vec![shell("git checkout HEAD -- billing/b.rs")],
        vec![shell("git restore billing/b.rs")],
        vec![shell("cd billing && git restore b.rs")],
        vec![write(OTHER, BEFORE)],
        vec![replace(OTHER, "broken", "fn one() {\n    1;\n}\n")],
        vec![shell("./generate.sh again")],
    ];
    let broken = BEFORE.replace("fn one() {\n    1;\n}\n", "broken");
    for effects in ways {
        let repo = at_work();
        script(&repo, || repo.write(OTHER, &broken));
        script(&repo, || repo.write(OTHER, &broken));
        assert_eq!(noted(&repo), [OTHER]);
        let told = call(&event(&repo, "s", effects.clone()), || restore(&repo));
        assert_eq!(told, Ok(Feedback::default()), "{effects:?}");
        assert_eq!(noted(&repo), [""; 0], "{effects:?}");
        assert_eq!(mutations(&repo), [], "{effects:?}");
        assert!(
            ungated::last_of_file(&repo.open().root, &crate::support::relative(OTHER)).is_none()
        );
    }
}

#[test]
fn an_agent_deletes_a_file_that_its_script_created() {
    let new = "billing/new.rs";
    let deletions = [vec![shell("rm billing/new.rs")], vec![Effect::Delete { path: new.into() }]];
    for effects in deletions {
        let repo = at_work();
        assert!(made(&repo, effects.clone(), || {}).is_some(), "there is nothing to undo");
        script(&repo, || repo.write(new, "fn x() {}\n"));
        assert_eq!(noted(&repo), [new]);
        assert_eq!(made(&repo, effects, || repo.remove(new)), None);
        assert_eq!(noted(&repo), [""; 0]);
    }
}

#[test]
fn text_of_a_person_that_was_never_committed_comes_back() {
    let repo = at_work();
    let edited = BEFORE.replace("2;", "by_hand();");
    repo.write(OTHER, &edited);
    script(&repo, || repo.write(OTHER, "broken\n"));
    let back = vec![write(OTHER, &edited)];
    assert_eq!(made(&repo, back, || repo.write(OTHER, &edited)), None);
    assert_eq!(noted(&repo), [""; 0]);
}

#[test]
fn nothing_else_passes_as_a_way_back() {
    let broken = BEFORE.replace("1;", "broken();");
    let denied = |repo: &Repo, effects: Vec<Effect>| {
        code(&judge_before_call(&event(repo, "s", effects.clone()))).is_some()
    };
    let restore = || vec![shell("git checkout -- billing/b.rs")];
    let repo = at_work();
    assert!(denied(&repo, restore()), "nothing was broken");
    script(&repo, || repo.write(OTHER, &broken));
    for effects in [
        vec![write(OTHER, "fn other() {}\n")],
        vec![shell("rm billing/b.rs")],
        vec![shell("git checkout HEAD~1 -- billing/b.rs")],
        vec![shell("git checkout -- billing")],
        vec![shell("git checkout -- billing/b.rs billing/c.rs")],
        vec![shell("git checkout -- billing/b.rs > billing/c.rs")],
        vec![write(OTHER, BEFORE), write("billing/c.rs", "")],
    ] {
        assert!(denied(&repo, effects.clone()), "{effects:?}");
    }
    let other = event(&repo, "other", restore());
    assert!(code(&judge_before_call(&other)).is_some(), "another session broke it");
    // What the session itself put into the index or a commit is not what was there before.
    repo.write(OTHER, "staged\n");
    git(&repo.root(), &["add", OTHER]);
    repo.write(OTHER, &broken);
    assert!(denied(&repo, restore()));
    git(&repo.root(), &["commit", "-qm", "by the session"]);
    assert!(denied(&repo, vec![shell("git checkout HEAD -- billing/b.rs")]));
    repo.write(OTHER, "by a person\n");
    assert!(denied(&repo, vec![write(OTHER, BEFORE)]), "a person changed it since");
}
