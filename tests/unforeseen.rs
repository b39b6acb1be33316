//! Files out of scope that a command of an agent touched: only other contents are a write, and the
//! agent may always bring the earlier content back.

use std::cell::RefCell;

use ground::session::ungated;
use judgement::after::{Feedback, note_saved_file, record_after_call, tell_and_record};
use judgement::check::{self, CheckRequest, ComparedSides};
use judgement::gate::{DenialCode, judge_before_call};

use crate::calls::{BEFORE, call, code, event, mutations, replace, repo, select, shell, write};
use crate::support::{Repo, binary, git, relative};
use evidence::event::{Effect, Event};
use ledger::{RecordKind, RecordedDecision, Strength};

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
#[ignore = "slow"]
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

/// A host that does not wait for the end of the recording has this answer.
#[test]
fn an_agent_knows_the_files_that_may_have_no_record_before_they_are_recorded() {
    let repo = at_work();
    let event = event(&repo, "s", vec![shell("./generate.sh")]);
    judge_before_call(&event);
    repo.write("src/new.rs", "fn new() {}\n");
    let told = RefCell::new(Vec::new());
    let tell = |known: &Feedback| told.borrow_mut().push((known.clone(), mutations(&repo).len()));
    assert_eq!(tell_and_record(&event, &tell), Feedback::default());
    let told = told.into_inner();
    let [(known, 0)] = told.as_slice() else { panic!("{told:?}") };
    let context = known.context.as_deref().unwrap_or_default();
    assert!(context.contains("no record: src/new.rs. `intent record`"), "{context}");
    assert_eq!(mutations(&repo).len(), 1);
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
#[ignore = "slow"]
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
        assert_eq!(mutations(&repo).len(), 1, "{effects:?}: only the script is recorded");
        assert!(
            ungated::last_of_file(&repo.open().root, &crate::support::relative(OTHER)).is_none()
        );
    }
}

#[test]
fn a_write_out_of_scope_is_recorded_as_the_sessions_and_as_denied() {
    let repo = at_work();
    script(&repo, || repo.write(OTHER, &BEFORE.replace("2;", "22;")));
    let ws = repo.open();
    let entries = ws.ledger.entries().iter().map(|entry| &entry.record);
    let record = entries.rev().find(|record| record.kind == RecordKind::Mutation).expect("one");
    assert_eq!(record.files[0].relative_path.as_str(), OTHER);
    assert_eq!(record.strength, Some(Strength::Inferred));
    let decision = record.decision.as_ref().expect("the gate's");
    assert_eq!(decision.outcome, RecordedDecision::DENY);
    assert_eq!(decision.rule.as_deref(), Some("SCOPE_VIOLATION"));
    assert_eq!(noted(&repo), [OTHER]);
    // The commit does not change what it is.
    let checked = |against| {
        let request = CheckRequest::for_sides(against);
        let answer = check::change(&repo.open(), &request).expect("checked");
        let found = answer.findings.into_iter().filter(|it| it.code == "scope-violation");
        found.map(|it| (it.path.unwrap_or_default(), it.intent)).collect::<Vec<_>>()
    };
    let found = [(OTHER.to_owned(), Some("INT-001".to_owned()))];
    assert_eq!(checked(ComparedSides::Head), found);
    repo.commit("by the script");
    assert_eq!(checked(ComparedSides::Base("HEAD~1".into())), found);
    assert_eq!(binary::intent(&repo, &["seal"]).code, 0);
    repo.commit("its evidence");
    let range = ComparedSides::Range { from: "HEAD~2".into(), to: "HEAD".into() };
    assert_eq!(checked(range), found);
}

#[test]
fn an_agent_deletes_a_file_that_its_script_created() {
    let new = "billing/new.rs";
    let deletions = [vec![shell("rm billing/new.rs")], vec![Effect::Delete { path: new.into() }]];
    for effects in deletions {
        let repo = at_work();
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

#[test]
#[ignore = "slow"]
fn nobody_is_blamed_for_a_write_of_somebody_who_is_known() {
    let edited = BEFORE.replace("2;", "22;");
    let edit = |repo: &Repo| event(repo, "t", vec![replace(OTHER, "2;", "22;")]);
    let others: [&dyn Fn(&Repo); 3] = [
        &|repo| {
            call(&edit(repo), || repo.write(OTHER, &edited)).expect("its own file");
        },
        // The hook after the edit has not run yet.
        &|repo| {
            assert_eq!(code(&judge_before_call(&edit(repo))), None);
            repo.write(OTHER, &edited);
        },
        &|repo| {
            repo.write(OTHER, &edited);
            note_saved_file(&repo.open(), &relative(OTHER), &edited);
        },
    ];
    for other in others {
        let repo = at_work();
        judge_before_call(&event(&repo, "t", vec![select("INT-002")]));
        assert_eq!(script(&repo, || other(&repo)), Feedback::default());
        assert_eq!(noted(&repo), [""; 0]);
        let repo = at_work();
        judge_before_call(&event(&repo, "t", vec![select("INT-002")]));
        // The script writes after the other one.
        let both = || {
            other(&repo);
            repo.write(OTHER, &edited.replace("1;", "11;"));
        };
        assert!(script(&repo, both).violation.is_some_and(|told| told.contains(OTHER)));
    }
}

#[test]
fn a_file_that_a_command_of_another_session_may_have_changed_is_only_mentioned() {
    let edited = BEFORE.replace("2;", "22;");
    let of_another = |repo: &Repo| Event {
        call: Some("generated".into()),
        ..event(repo, "t", vec![shell("./generate.sh")])
    };
    for (intent, ends_before, is_blamed) in
        [("INT-002", true, false), ("INT-002", false, false), ("INT-001", true, true)]
    {
        let repo = at_work();
        judge_before_call(&event(&repo, "t", vec![select(intent)]));
        let other = of_another(&repo);
        let told = script(&repo, || {
            assert_eq!(code(&judge_before_call(&other)), None);
            repo.write(OTHER, &edited);
            if ends_before {
                record_after_call(&other);
            }
        });
        assert_eq!(told.violation.is_some(), is_blamed, "{told:?}");
        assert!(told.violation.or(told.context).is_some_and(|told| told.contains(OTHER)));
        assert_eq!(noted(&repo).is_empty(), !is_blamed);
    }
}

#[test]
#[ignore = "slow"]
fn of_the_settings_of_git_only_those_count_that_decide_what_it_does() {
    let repo = at_work();
    let git = |words: &str| drop(repo.git(&words.split(' ').collect::<Vec<_>>()));
    for harmless in [
        "remote add up ../x.git",
        "config branch.main.remote up",
        "config user.name Ada",
        "config core.pager less",
        "remote remove up",
    ] {
        assert_eq!(script(&repo, || git(harmless)), Feedback::default(), "{harmless}");
    }
    for grave in [
        "config core.hooksPath .hooks",
        "config --unset core.hooksPath",
        "config alias.x !./x",
        "config remote.x.url ext::./x",
        "config include.path ../more",
        "config core.pager ./page",
    ] {
        let told = script(&repo, || git(grave)).violation;
        assert!(told.is_some_and(|told| told.contains(".git/config")), "{grave}");
    }
}

#[test]
fn a_command_may_make_what_a_tool_may_write() {
    let repo = repo();
    repo.write(".gitignore", "dist/\n");
    let judged = |text: &str| code(&judge_before_call(&event(&repo, "s", vec![shell(text)])));
    let temporary = ground::Environment::of_process().temporary_folder().join("x.txt");
    let into = |command: &str| format!("{command} > {}", temporary.display());
    assert_eq!(judged(&into("git diff")), None, "no intent is needed there");
    assert_eq!(judged(&into("./run")), Some(DenialCode::IntentRequired));
    assert_eq!(judged("echo x > src/x"), Some(DenialCode::IntentRequired));
    judge_before_call(&event(&repo, "s", vec![select("INT-001")]));
    for command in ["mkdir dist", "mkdir src/dist dist", "mkdir src/new"] {
        assert_eq!(judged(command), None, "{command}");
    }
    for command in ["mkdir billing/new", "mkdir .git/hooks", "mkdir new"] {
        assert!(judged(command).is_some(), "{command}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_between_files_in_scope_is_no_violation() {
    let repo = at_work();
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(from, repo.root().join(to)).expect("linked");
    };
    let told = |text: &str, deed: &dyn Fn()| call(&event(&repo, "s", vec![shell(text)]), deed);
    assert_eq!(told("ln -s a.rs src/c.rs", &|| link("a.rs", "src/c.rs")), Ok(Feedback::default()));
    let outside = told("ln -s ../billing/b.rs src/d.rs", &|| link("../billing/b.rs", "src/d.rs"));
    assert!(outside.map_or(true, |told| told.violation.is_some()), "it leads out of scope");
    // A hard link: to delete one name leaves the other.
    std::fs::hard_link(repo.root().join("src/a.rs"), repo.root().join("src/e.rs")).expect("linked");
    assert_eq!(told("rm src/e.rs", &|| repo.remove("src/e.rs")), Ok(Feedback::default()));
}

#[test]
fn one_command_restores_files_in_and_out_of_scope() {
    let repo = at_work();
    let broken = || {
        repo.write(OTHER, "broken");
        repo.write("src/a.rs", "fn three() {}\n");
    };
    script(&repo, broken);
    let restore = |text: &str| event(&repo, "s", vec![shell(text)]);
    let unread = "git restore billing/b.rs 'src/*'";
    assert!(code(&judge_before_call(&restore(unread))).is_some());
    let both = restore("git checkout -- billing/b.rs src/a.rs");
    let deed = || drop(git(&repo.root(), &["checkout", "-q", "--", OTHER, "src/a.rs"]));
    assert_eq!(call(&both, deed), Ok(Feedback::default()));
    assert_eq!(noted(&repo), [""; 0]);
}

#[test]
fn a_foreign_tool_of_which_nothing_is_known_is_looked_at_afterwards() {
    let repo = repo();
    // Such a tool needs no intent, because most of them change nothing here.
    let event = event(&repo, "s", vec![Effect::Unforeseen]);
    let feedback = call(&event, || repo.write(OTHER, &BEFORE.replace("2;", "22;")));
    let violation = feedback.expect("let through").violation.expect("told");
    assert!(violation.contains(OTHER), "{violation}");
    assert_eq!(noted(&repo), [OTHER]);
    judge_before_call(&crate::calls::event(&repo, "t", vec![select("INT-001")]));
    let event = Event { session: Some("t".into()), ..event };
    let feedback = call(&event, || repo.write("src/a.rs", &BEFORE.replace("2;", "22;")));
    assert_eq!(feedback.expect("let through"), Feedback::default(), "in scope");
    assert_eq!(mutations(&repo).len(), 1);
}

/// Makes a call whose command goes on, and which writes out of scope only after the call has ended.
fn left_running(repo: &Repo) -> std::process::Child {
    let effect = Effect::Shell {
        text: "./watch.sh".into(),
        dialect: shell::Dialect::Posix,
        cwd: None,
        background: true,
    };
    let mut process = None;
    let start = || {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "read go; echo >> billing/b.rs; read end"]).current_dir(repo.root());
        let started = command.stdin(std::process::Stdio::piped()).spawn();
        process = Some(started.expect("a shell"));
    };
    let feedback = call(&event(repo, "s", vec![effect]), start);
    assert_eq!(feedback.expect("let through"), Feedback::default());
    process.expect("started")
}

/// Makes the process write, and waits until it has.
fn writes(repo: &Repo, process: &mut std::process::Child) {
    let before = repo.read(OTHER);
    let stdin = process.stdin.as_mut().expect("a pipe");
    std::io::Write::write_all(stdin, b"go\n").expect("written");
    while repo.read(OTHER) == before {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
#[cfg(unix)]
fn what_a_command_writes_after_its_call_is_seen() {
    let sees: [&dyn Fn(&Repo); 3] = [
        &|repo| {
            let next =
                event(repo, "s", vec![Effect::Read { path: "src/a.rs".into(), lines: None }]);
            let told = judgement::after::record_after_call(&next);
            assert!(told.violation.is_some_and(|told| told.contains(OTHER)));
            let again = judgement::after::record_after_call(&next);
            assert_eq!(again, Feedback::default(), "said once");
        },
        &|repo| judgement::after::idle(&event(repo, "s", Vec::new())),
        &|repo| {
            judgement::after::see_left_running(&repo.open());
            let request = judgement::check::CheckRequest::default();
            let answer = judgement::check::change(&repo.open(), &request).expect("judged");
            let codes: Vec<&str> =
                answer.findings.iter().map(|found| found.code.as_str()).collect();
            assert!(codes.contains(&"ungated-write"), "{codes:?}");
        },
    ];
    for see in sees {
        let repo = at_work();
        let mut process = left_running(&repo);
        assert_eq!(noted(&repo), [""; 0]);
        writes(&repo, &mut process);
        see(&repo);
        assert_eq!(noted(&repo), [OTHER]);
        drop(process.stdin.take());
        process.wait().expect("it ends");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_person_writes_after_a_command_has_ended_is_theirs() {
    let repo = at_work();
    let mut process = left_running(&repo);
    process.kill().expect("ended");
    process.wait().expect("it ends");
    // The last look finds what the command did to its end.
    judgement::after::idle(&event(&repo, "s", Vec::new()));
    repo.write("billing/c.rs", "fn theirs() {}\n");
    judgement::after::idle(&event(&repo, "s", Vec::new()));
    assert_eq!(noted(&repo), [""; 0]);
}

#[test]
#[cfg(unix)]
fn a_new_file_that_became_a_hard_link_is_told() {
    let repo = at_work();
    let effects = vec![write("src/new.rs", "fn new() {}\n")];
    let feedback = call(&event(&repo, "s", effects), || {
        let new = repo.root().join("src/new.rs");
        std::fs::hard_link(repo.root().join(OTHER), &new).expect("linked");
        std::fs::write(new, "fn new() {}\n").expect("written");
    });
    let violation = feedback.expect("let through").violation.expect("told");
    assert!(violation.contains(OTHER) && violation.contains("hard link"), "{violation}");
    assert_eq!(noted(&repo), [OTHER]);
}

#[test]
fn what_git_takes_out_of_commits_or_off_the_disk_is_judged_or_told() {
    let repo = at_work();
    let denied = |text: &str| code(&judge_before_call(&event(&repo, "s", vec![shell(text)])));
    assert_eq!(denied("git rm --cached billing/b.rs"), Some(DenialCode::ScopeViolation));
    assert_eq!(denied("git rm --cached src/a.rs"), None);
    assert_eq!(denied("git sparse-checkout set src"), Some(DenialCode::ProtectedPath));
    repo.write(".claude/settings.json", "{}\n");
    git(&repo.root(), &["add", "-f", ".claude"]);
    git(&repo.root(), &["commit", "-qm", "settings"]);
    let set = "git sparse-checkout set src .orchestration";
    let feedback = call(&event(&repo, "s", vec![shell(set)]), || {
        git(&repo.root(), &["sparse-checkout", "set", "src", ".orchestration"]);
    });
    let violation = feedback.expect("let through").violation.expect("told");
    assert!(violation.contains(".claude/settings.json"), "{violation}");
}

#[test]
fn a_command_is_credited_only_with_what_it_changed() {
    let of_person = BEFORE.replace("1;", "11;");
    let of_both = of_person.replace("2;", "22;");
    for path in ["src/a.rs", "src/untracked.rs"] {
        let repo = at_work();
        repo.write(path, &of_person);
        script(&repo, || repo.write(path, &of_person));
        assert_eq!(mutations(&repo), [], "{path}");
        for _ in 0..2 {
            script(&repo, || repo.write(path, &of_both));
            assert_eq!(blocks_recorded(&repo), ["two"], "{path}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn text_of_other_commits_is_not_the_work_of_the_command_that_brings_it() {
    let commands = [
        "git merge --squash feature",
        "git cherry-pick -n feature",
        "git stash pop",
        "git stash pop && git status",
        "git show feature:src/new.rs > src/new.rs",
    ];
    for command in commands {
        let paths = ["src/new.rs", "src/a.rs"];
        // A whole file that replaces another one takes out lines of it, too.
        for path in &paths[..if command.contains('>') { 1 } else { 2 }] {
            let repo = at_work();
            let run = |line: &str| git(&repo.root(), &line.split(' ').collect::<Vec<_>>());
            match command.contains("stash") {
                true => {
                    repo.write(path, &BEFORE.replace("1;", "11;"));
                    run("stash -u -q");
                }
                false => {
                    run("checkout -q -b feature");
                    repo.write(path, &BEFORE.replace("1;", "11;"));
                    repo.commit("of a person");
                    run("checkout -q -");
                }
            }
            // The other branch goes on, so that the file is a mix of both.
            repo.write("src/a.rs", &BEFORE.replace("2;", "2;\n    3;\n    4;"));
            repo.commit("more");
            let by_git = command.split(" && ").next().expect("a command");
            let event = event(&repo, "s", vec![shell(command)]);
            let done = call(&event, || match by_git.split_once(" > ") {
                Some((_, to)) => repo.write(to, &BEFORE.replace("1;", "11;")),
                None => drop(run(by_git.strip_prefix("git ").expect("of git"))),
            });
            assert!(done.is_ok(), "{command}: {done:?}");
            assert_eq!(mutations(&repo), [], "{command}: {path}");
        }
    }
}

#[test]
fn an_edit_of_a_person_that_an_agent_puts_aside_and_brings_back_is_still_theirs() {
    let repo = at_work();
    repo.write(OTHER, &BEFORE.replace("1;", "11;"));
    for command in ["git stash -q", "git stash pop -q"] {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let event = event(&repo, "s", vec![shell(command)]);
        let run = || drop(git(&repo.root(), &words));
        call(&event, run).expect("let through");
    }
    assert!(repo.read(OTHER).contains("11;"));
    assert_eq!((mutations(&repo), noted(&repo)), (Vec::new(), Vec::new()));
}

#[test]
fn what_two_commands_may_have_changed_at_the_same_time_has_no_name() {
    for is_last_of_us in [true, false] {
        let repo = at_work();
        judge_before_call(&event(&repo, "t", vec![select("INT-001")]));
        let other = event(&repo, "t", vec![shell("./check.sh")]);
        assert_eq!(code(&judge_before_call(&other)), None);
        script(&repo, || {
            repo.write("src/a.rs", &BEFORE.replace("2;", "22;"));
            if is_last_of_us {
                record_after_call(&other);
            }
        });
        if !is_last_of_us {
            record_after_call(&other);
        }
        assert_eq!(mutations(&repo), []);
    }
}

fn blocks_recorded(repo: &Repo) -> Vec<String> {
    mutations(repo).into_iter().flat_map(|(_, _, _, blocks)| blocks).collect()
}
