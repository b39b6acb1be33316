//! Snapshots of every answer to every host family, as the host receives it.

use std::fmt::Write;

use super::*;
use crate::host::{HOSTS, UNKNOWN};

const MOMENTS: &[(Moment, &str)] = &[
    (Moment::Before, "PreToolUse"),
    (Moment::After, "PostToolUse"),
    (Moment::After, "PostToolUseFailure"),
    (Moment::SessionStart, "SessionStart"),
    (Moment::Prompt, "UserPromptSubmit"),
    (Moment::Settings, "ConfigChange"),
    (Moment::Idle, "Stop"),
    (Moment::Other, "subagentStart"),
];

fn all() -> [HookAnswer; 6] {
    [
        HookAnswer::Nothing,
        HookAnswer::Context("know\n\"this\"".into()),
        HookAnswer::Ask("ask".into()),
        HookAnswer::Rewrite {
            input: serde_json::json!({ "command": "other" }),
            reason: "fenced".into(),
        },
        HookAnswer::Deny("[CODE] why".into()),
        HookAnswer::Violation("[CODE] done".into()),
    ]
}

/// Returns true if this answer can occur at this moment.
fn sensible(moment: Moment, said: &HookAnswer) -> bool {
    match said {
        HookAnswer::Nothing => true,
        HookAnswer::Context(_) => {
            matches!(moment, Moment::Before | Moment::After | Moment::SessionStart)
        }
        HookAnswer::Ask(_) | HookAnswer::Rewrite { .. } => moment == Moment::Before,
        HookAnswer::Deny(_) => matches!(moment, Moment::Before | Moment::Settings),
        HookAnswer::Violation(_) => moment == Moment::After,
    }
}

fn families() -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for host in HOSTS.iter().chain([&UNKNOWN]) {
        if !families.contains(&host.family) {
            families.push(host.family);
        }
    }
    families
}

#[test]
fn every_answer_has_the_format_of_its_host() {
    for family in families() {
        let mut picture = String::new();
        for (moment, name) in MOMENTS {
            for said in all().iter().filter(|said| sensible(*moment, said)) {
                let HookOutput { stdout, stderr, exit } =
                    answer(family, At { moment: *moment, name }, said);
                writeln!(picture, "{name}, {said:?}: exit {exit}").expect("a string");
                for (stream, text) in [("out", stdout), ("err", stderr)] {
                    let lines = text.lines().map(|line| format!("  {stream} {line}\n"));
                    picture.extend(lines);
                }
            }
        }
        insta::assert_snapshot!(format!("{family:?}").to_lowercase(), picture);
    }
}

/// We never write a word that permits a call, except for a host that requires one; and a denial
/// always denies.
#[test]
fn no_answer_permits_a_call_and_every_denial_denies() {
    for family in families() {
        for said in all() {
            let output = answer(family, At::UNREAD, &said);
            let allows = output.stdout.contains("\"allow\"");
            assert!(!allows || family == Family::Cursor, "{family:?} {said:?}");
            if matches!(said, HookAnswer::Deny(_)) {
                let denied = output.stdout.contains("\"deny\"")
                    || output.stdout.contains("\"cancel\":true")
                    || output.exit == 2 && !output.stderr.trim().is_empty();
                assert!(denied, "{family:?}: {output:?}");
            } else {
                assert_eq!(
                    output.exit,
                    u8::from(refuses(family, &said)) * 2,
                    "{family:?} {said:?}"
                );
            }
        }
    }
}

/// A host that cannot ask anybody denies instead, and so does a host that takes no changed input.
fn refuses(family: Family, said: &HookAnswer) -> bool {
    matches!(said, HookAnswer::Ask(_) | HookAnswer::Rewrite { .. })
        && matches!(family, Family::Plain | Family::Windsurf)
}
