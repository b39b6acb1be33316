use super::super::fixture::TestFolder;
use super::*;

fn command(text: &str) -> Request {
    Request {
        subject: Subject::command(text),
        actor: "codex:1".into(),
        cwd: "/w".into(),
        head: Some("abc".into()),
    }
}

fn bound(request: &Request) -> String {
    binding(&request.subject, &request.actor, &request.cwd, request.head.as_deref())
}

fn decide(root: &Root, code: &str, state: ApprovalState) -> Result<Approval, ApprovalError> {
    let turn = turn(root)?;
    let found = turn.pending(code)?;
    turn.settle(found, state)
}

#[test]
fn an_approval_can_be_used_once() {
    let place = TestFolder::committed(&[(".orchestration/x", "")]);
    let root = place.root("");
    let request = command("git reset --hard");
    let asked = ask(&root, request.clone()).unwrap();
    assert_eq!(take(&root, &asked.binding), None, "nobody has approved it");
    assert_eq!(pending(&root), std::slice::from_ref(&asked));
    decide(&root, &asked.code.to_lowercase(), ApprovalState::Approved).unwrap();
    assert_eq!(take(&root, &bound(&command("  git reset --hard\n"))), Some(asked.code.clone()));
    assert_eq!(take(&root, &asked.binding), None);
    assert_eq!(get(&root, &asked.code).unwrap().state, ApprovalState::Used);
    assert!(matches!(
        decide(&root, &asked.code, ApprovalState::Approved),
        Err(ApprovalError::Settled { .. })
    ));
    assert_ne!(ask(&root, request).unwrap().code, asked.code, "it may be asked anew");
}

#[test]
fn an_approval_is_valid_only_for_the_same_request() {
    let base = command("git reset --hard");
    let others = [
        command("git reset  --hard"),
        command("git reset --hard HEAD~1"),
        Request { actor: "codex:2".into(), ..base.clone() },
        Request { cwd: "/w/src".into(), ..base.clone() },
        Request { head: Some("abd".into()), ..base.clone() },
        Request { head: None, ..base.clone() },
        Request { subject: Subject::Lesson { text: "git reset --hard".into() }, ..base.clone() },
        // A character that moves from one part to another must change the binding.
        Request { actor: "codex:1/w".into(), cwd: "".into(), ..base.clone() },
    ];
    for other in others {
        assert_ne!(bound(&other), bound(&base), "{other:?}");
    }
    assert_eq!(bound(&command(" git reset --hard ")), bound(&base));
}

#[test]
fn a_question_is_asked_once_and_a_rejection_remains() {
    let place = TestFolder::governed();
    let root = place.root("");
    let asked = ask(&root, command("rm -rf x")).unwrap();
    assert_eq!(ask(&root, command("rm -rf x ")).unwrap(), asked);
    decide(&root, &asked.code, ApprovalState::Denied).unwrap();
    let again = ask(&root, command("rm -rf x")).unwrap();
    assert_eq!((again.code, again.state), (asked.code, ApprovalState::Denied));
    assert_eq!(take(&root, &asked.binding), None);
    assert!(pending(&root).is_empty());
}

#[test]
fn only_one_process_decides_and_one_uses_an_approval() {
    let place = TestFolder::governed();
    let root = place.root("");
    for _ in 0..5 {
        let asked = ask(&root, command("rm -rf x")).unwrap();
        let count = |work: &(dyn Fn() -> bool + Sync)| -> usize {
            std::thread::scope(|scope| {
                let all: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
                all.into_iter().map(|one| usize::from(one.join().unwrap())).sum()
            })
        };
        assert_eq!(count(&|| decide(&root, &asked.code, ApprovalState::Approved).is_ok()), 1);
        assert_eq!(count(&|| take(&root, &asked.binding).is_some()), 1);
    }
}

#[test]
fn processes_that_ask_the_same_get_the_same_code() {
    let place = TestFolder::governed();
    let root = place.root("");
    std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..8).map(|_| scope.spawn(|| ask(&root, command("rm -rf x")).unwrap().code)).collect();
        let codes: std::collections::HashSet<_> =
            all.into_iter().map(|one| one.join().unwrap()).collect();
        assert_eq!(codes.len(), 1);
    });
}

/// Writes an approval as this clone would, with other times or another state.
fn plant(root: &Root, change: impl FnOnce(&mut Approval)) -> Approval {
    let mut approval = ask(root, command("rm -rf x")).unwrap();
    std::fs::remove_file(file(root, &approval.code)).unwrap();
    change(&mut approval);
    turn(root).unwrap().write(&approval).unwrap();
    approval
}

#[test]
fn an_approval_expires() {
    let place = TestFolder::governed();
    let root = place.root("");
    let at =
        |seconds: i64| clock::format(Timestamp::now() + jiff::SignedDuration::from_secs(seconds));
    for (asked, expires) in [(-601, -1), (-1, 700), (60, 600), (5, 1)] {
        for state in [ApprovalState::Pending, ApprovalState::Approved] {
            let planted = plant(&root, |approval| {
                (approval.asked_at, approval.expires_at) = (at(asked), at(expires));
                approval.state = state;
            });
            assert_eq!(
                get(&root, &planted.code).unwrap().state,
                ApprovalState::Expired,
                "{planted:?}"
            );
            assert_eq!(take(&root, &planted.binding), None);
            assert!(pending(&root).is_empty());
            assert!(decide(&root, &planted.code, ApprovalState::Approved).is_err());
        }
    }
    let planted = plant(&root, |approval| {
        (approval.asked_at, approval.expires_at) = (at(-590), at(9));
        approval.state = ApprovalState::Approved;
    });
    assert_eq!(take(&root, &planted.binding), Some(planted.code));
}

#[test]
fn a_forged_or_broken_file_is_no_approval() {
    let place = TestFolder::committed(&[(".orchestration/x", "")]);
    let root = place.root("");
    let asked = ask(&root, command("rm -rf x")).unwrap();
    let path = file(&root, &asked.code);
    let text = std::fs::read_to_string(&path).unwrap();
    let forged = [
        text.replace("pending", "approved"),
        text.replace("pending", "approved").replace("rm -rf x", "rm -rf y"),
        text[..text.len() / 2].to_owned(),
        String::new(),
        "null".into(),
        format!("{{\"state\":\"approved\"}}{text}"),
        " ".repeat(1 << 20),
    ];
    for forged in forged {
        std::fs::write(&path, &forged).unwrap();
        assert_eq!(take(&root, &asked.binding), None, "{forged:.80}");
        assert_eq!(get(&root, &asked.code), None, "{forged:.80}");
        assert!(pending(&root).is_empty());
    }
    std::fs::write(&path, &text).unwrap();
    assert_eq!(pending(&root), std::slice::from_ref(&asked));
    // The file of another code is put in its place.
    decide(&root, &asked.code, ApprovalState::Approved).unwrap();
    let copy = file(&root, "222222");
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(get(&root, "222222"), None);
    assert_eq!(take(&root, &asked.binding), Some(asked.code.clone()));
    assert_eq!(take(&root, &asked.binding), None);
    // A copy of the file, which was kept elsewhere, is put back.
    std::fs::rename(copy, &path).unwrap();
    assert_eq!(take(&root, &asked.binding), None);
    assert_eq!(get(&root, &asked.code).unwrap().state, ApprovalState::Used);
}

#[cfg(unix)]
#[test]
fn a_link_to_an_approval_does_not_count() {
    let place = TestFolder::governed();
    let root = place.root("");
    let asked = ask(&root, command("rm -rf x")).unwrap();
    let path = file(&root, &asked.code);
    std::fs::rename(&path, place.join("aside")).unwrap();
    place.link(&format!(".orchestration/local/approvals/{}.json", asked.code), place.join("aside"));
    assert_eq!(get(&root, &asked.code), None);
}

#[test]
fn the_number_and_size_of_approvals_are_limited() {
    let place = TestFolder::governed();
    let root = place.root("");
    let long = ask(&root, command(&"x".repeat(MAX_SUBJECT)));
    assert!(matches!(long, Err(ApprovalError::TooLong { .. })));
    for n in 0..MAX_PENDING_OF_ONE {
        ask(&root, command(&format!("rm {n}"))).unwrap();
    }
    assert!(matches!(ask(&root, command("rm x")), Err(ApprovalError::TooMany { .. })));
    let other = |n: usize| Request { actor: format!("codex:{n}"), ..command("rm") };
    for n in 10..10 + MAX_PENDING - MAX_PENDING_OF_ONE {
        ask(&root, other(n)).unwrap();
    }
    let too_many = ask(&root, other(99));
    assert!(matches!(too_many, Err(ApprovalError::TooMany { waiting: MAX_PENDING })));
    assert_eq!(pending(&root).len(), MAX_PENDING);
}

#[test]
fn codes_are_six_letters_that_cannot_be_misread() {
    let codes: std::collections::HashSet<_> = (0..500).map(|_| random_code()).collect();
    assert!(codes.len() > 490);
    for code in codes {
        assert_eq!(normalised_code(&code.to_lowercase()), Some(code.clone()));
        assert!(!code.contains(['0', 'O', '1', 'I', 'L', 'U']), "{code}");
    }
    for none in ["", "ABCDE", "ABCDEFG", "../../", "ABCDE0", "ÄBCDE"] {
        assert_eq!(normalised_code(none), None, "{none}");
    }
}

#[test]
fn approvals_are_never_committed() {
    let place = TestFolder::committed(&[(".orchestration/x", "")]);
    ask(&place.root(""), command("rm")).unwrap();
    let untracked = place.git(&["ls-files", "-o", "--exclude-standard"]);
    assert_eq!(untracked, "");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn subject() -> impl Strategy<Value = Subject> {
        let text = || "\\PC{0,12}|[ \\n\\t;|&a-c]{0,8}";
        prop_oneof![
            text().prop_map(|text| Subject::command(&text)),
            text().prop_map(|text| Subject::Lesson { text }),
            (text(), text()).prop_map(|(path, why)| Subject::Call {
                acts: vec![AskedAct::Delete { path }],
                why,
                input: None
            }),
            (proptest::option::of(text()), text())
                .prop_map(|(from, to)| Subject::Switch { from, to }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn different_questions_have_different_bindings(
            one in (subject(), "[a-c:/]{0,4}", "[a-c/]{0,4}", proptest::option::of("[ab]{0,2}")),
            other in (subject(), "[a-c:/]{0,4}", "[a-c/]{0,4}", proptest::option::of("[ab]{0,2}")),
        ) {
            let bound = |it: &(Subject, String, String, Option<String>)| {
                binding(&it.0, &it.1, Path::new(&it.2), it.3.as_deref())
            };
            let normal = |it: &(Subject, String, String, Option<String>)| {
                (it.0.clone().normal(), it.1.clone(), it.2.clone(), it.3.clone())
            };
            prop_assert_eq!(bound(&one), bound(&normal(&one)));
            prop_assert_eq!(bound(&one) == bound(&other), normal(&one) == normal(&other));
        }

        #[test]
        fn a_changed_file_never_changes_the_question(at in 0_usize..4096, bits in 1_u8..=255) {
            let place = TestFolder::governed();
            let root = place.root("");
            let asked = ask(&root, command("rm -rf x")).unwrap();
            let asked = decide(&root, &asked.code, ApprovalState::Approved).unwrap();
            let path = file(&root, &asked.code);
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= bits;
            std::fs::write(&path, bytes).unwrap();
            prop_assert!(get(&root, &asked.code).is_none_or(|found| found == asked));
        }
    }
}
