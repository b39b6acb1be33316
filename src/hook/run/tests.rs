//! Tests that the host always has an answer in time, whatever the verbs and the host do.

use std::io::{self, Read};

use super::*;
use crate::host::HOSTS;
use judgement::gate::Denial;

const WRITE: &str = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/p/a","content":"x"}}"#;
const READ: &str = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/p/a"}}"#;
const AFTER: &str = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"/p/a","content":"x"}}"#;

fn calm() -> Verbs {
    Verbs {
        before: |_| Judged { decision: Decision::NoOpinion, notice: None, fence: None },
        after: |_, _| Feedback::default(),
        prompt: |_| (),
        idle: |_| (),
        rest: |_| (),
        clear: |_| (),
        end: |_| (),
        session_start: |_| None,
    }
}

fn panicking() -> Verbs {
    Verbs {
        before: |_| panic!("before"),
        after: |_, _| panic!("after"),
        prompt: |_| panic!("prompt"),
        idle: |_| panic!("idle"),
        rest: |_| panic!("rest"),
        clear: |_| panic!("clear"),
        end: |_| panic!("end"),
        session_start: |_| panic!("start"),
    }
}

fn said(payload: &'static str, verbs: Verbs) -> HookAnswer {
    converse("claude-code", payload.as_bytes(), verbs, &ground::Environment::of_process()).1
}

fn is_denied(said: &HookAnswer, code: &str) -> bool {
    matches!(said, HookAnswer::Deny(reason) if reason.starts_with(&format!("[{code}]")))
}

#[test]
fn the_answer_is_that_of_the_verbs() {
    let denying = Verbs {
        before: |event| {
            assert_eq!(event.tool, "Write");
            let denial = Denial::new(DenialCode::ScopeViolation, "not yours\u{1b}[2J");
            Judged { decision: Decision::Deny(denial), notice: None, fence: None }
        },
        ..calm()
    };
    let found = said(WRITE, denying);
    assert_eq!(found, HookAnswer::Deny("[SCOPE_VIOLATION] not yoursU+001B[2J".to_owned()));
    let noticing = Verbs {
        before: |_| Judged {
            decision: Decision::NoOpinion,
            notice: Some("so".to_owned()),
            fence: None,
        },
        ..calm()
    };
    assert_eq!(said(WRITE, noticing), HookAnswer::Context("so".to_owned()));
    assert_eq!(said(WRITE, calm()), HookAnswer::Nothing);
}

#[test]
fn a_panic_denies_before_a_tool_and_is_silent_after_it() {
    assert!(is_denied(&said(WRITE, panicking()), "HOOK_ERROR"));
    assert_eq!(said(READ, panicking()), HookAnswer::Nothing, "a read asks nobody");
    assert_eq!(said(AFTER, panicking()), HookAnswer::Nothing);
    for event in ["SessionStart", "UserPromptSubmit", "Stop", "Whatever"] {
        let payload = format!("{{\"hook_event_name\":\"{event}\",\"cwd\":\"/p\"}}");
        let (_, said) = converse(
            "claude-code",
            io::Cursor::new(payload),
            panicking(),
            &ground::Environment::of_process(),
        );
        assert_eq!(said, HookAnswer::Nothing, "{event}");
    }
}

#[test]
fn an_answer_that_takes_too_long_becomes_a_denial() {
    let slow = Verbs {
        before: |_| {
            std::thread::sleep(Duration::from_secs(30));
            Judged { decision: Decision::NoOpinion, notice: None, fence: None }
        },
        ..calm()
    };
    let started = Instant::now();
    assert!(is_denied(&said(WRITE, slow), "HOOK_ERROR"));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn what_is_known_is_told_if_recording_fails() {
    let failing = Verbs {
        after: |_, tell| {
            tell(&Feedback { violation: Some("out of scope".into()), ..Feedback::default() });
            panic!("too many files")
        },
        ..calm()
    };
    let answer = said(AFTER, failing);
    assert!(format!("{answer:?}").contains("out of scope"), "{answer:?}");
}

/// Returns these bytes, and then blocks for ever.
struct Endless(&'static [u8]);

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            std::thread::sleep(Duration::from_secs(30));
        }
        self.0.read(into)
    }
}

#[test]
fn a_message_that_does_not_end_is_denied_in_time() {
    let started = Instant::now();
    let (_, said) = converse(
        "codex",
        Endless(b"{\"hook_event_name\":"),
        calm(),
        &ground::Environment::of_process(),
    );
    assert!(is_denied(&said, "HOOK_ERROR"), "{said:?}");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

struct BrokenPipe;

impl Read for BrokenPipe {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("gone"))
    }
}

#[test]
fn an_unreadable_message_is_denied_for_every_host() {
    for host in HOSTS {
        let (_, said) = converse(host.name, BrokenPipe, calm(), &ground::Environment::of_process());
        assert!(is_denied(&said, "UNREADABLE_PAYLOAD"), "{}", host.name);
        for payload in ["", "[]", "nonsense", "{\"hook_event_name\":\"PreToolUse\",\"tool_na"] {
            let (_, said) =
                converse(host.name, payload.as_bytes(), calm(), &ground::Environment::of_process());
            assert!(is_denied(&said, "UNREADABLE_PAYLOAD"), "{} {payload:?}: {said:?}", host.name);
        }
    }
}

#[test]
fn an_incomplete_message_is_denied_unless_it_only_reads() {
    let cut = |payload: &'static str| said(&payload[..payload.len() - 1], calm());
    assert!(is_denied(&cut(WRITE), "UNREADABLE_PAYLOAD"));
    assert_eq!(cut(READ), HookAnswer::Nothing);
    assert_eq!(cut(AFTER), HookAnswer::Nothing);
}

/// The field that stands twice has the value of a read last, and that value must not count.
#[test]
fn a_message_that_names_a_field_twice_is_denied_even_if_it_may_read() {
    let doubled = |field: &str, last: &str| WRITE.replacen(field, &format!("{field},{last}"), 1);
    let input = r#""tool_input":{"file_path":"/p/a","content":"x"}"#;
    let reads =
        READ.replacen(r#""file_path":"/p/a""#, r#""file_path":"/p/a","file_path":"/p/b""#, 1);
    let tool = doubled(r#""tool_name":"Write""#, r#""tool_name":"Read""#);
    let cut = tool[..tool.len() - 1].to_owned();
    let in_the_value = r#"{"tool_name":"Read","tool_name":"Wri"#.to_owned();
    for payload in [
        doubled(input, r#""tool_input":{"file_path":"/p/a"}"#),
        doubled(r#""file_path":"/p/a""#, r#""file_path":"/p/b""#),
        doubled(r#""hook_event_name":"PreToolUse""#, r#""hook_event_name":"PostToolUse""#),
        doubled(r#""tool_name":"Write""#, r#""tool_name":"Edit","toolName":"Read""#),
        tool,
        reads,
        cut,
        in_the_value,
    ] {
        let (_, said) = converse(
            "claude-code",
            io::Cursor::new(payload.clone()),
            calm(),
            &ground::Environment::of_process(),
        );
        assert!(is_denied(&said, "UNREADABLE_PAYLOAD"), "{payload}: {said:?}");
    }
}

#[test]
#[ignore = "slow"]
fn a_too_large_message_is_denied_unless_it_only_reads() {
    let large = |payload: &str| {
        let text = "x".repeat(MAX_PAYLOAD as usize);
        let payload = format!("{},\"more\":\"{text}\"}}", &payload[..payload.len() - 1]);
        let mut answers = (0..5).map(|_| {
            let environment = ground::Environment::of_process();
            converse("claude-code", io::Cursor::new(payload.clone()), calm(), &environment).1
        });
        // A busy machine may not scan so much in time, and time is not what this tests.
        answers.find(|said| !is_denied(said, "HOOK_ERROR")).expect("an answer in time")
    };
    assert!(is_denied(&large(WRITE), "UNREADABLE_PAYLOAD"));
    assert_eq!(large(READ), HookAnswer::Nothing);
    assert_eq!(large(AFTER), HookAnswer::Nothing);
}

#[test]
fn after_a_tool_the_strongest_feedback_wins() {
    let answer = |violation: Option<&str>, context: Option<&str>| {
        after_answer(Feedback {
            context: context.map(Into::into),
            violation: violation.map(Into::into),
        })
    };
    assert_eq!(answer(None, None), HookAnswer::Nothing);
    assert_eq!(answer(None, Some("c")), HookAnswer::Context("c".into()));
    assert_eq!(answer(Some("v"), Some("c")), HookAnswer::Violation("v\nc".into()));
}
