//! Translates a plan into a profile of the macOS sandbox, in which the last rule that matches a
//! path applies. The rules name paths, so they also apply to files that do not exist yet.

#[cfg(not(target_os = "linux"))]
use std::process::Command;

use super::{FenceAccess, FencePlan};

/// Apple has deprecated this program, but offers nothing else to a program without a special
/// signature.
#[cfg(not(target_os = "linux"))]
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

#[cfg(not(target_os = "linux"))]
pub(super) fn command(plan: &FencePlan, command: &Command) -> Command {
    let mut wrapped = Command::new(PROGRAM);
    wrapped.arg("-p").arg(profile(plan)).arg(command.get_program()).args(command.get_args());
    wrapped
}

pub(super) fn profile(plan: &FencePlan) -> String {
    let mut rules = String::from("(version 1)\n(allow default)\n");
    let quoted = |path: &std::path::Path| {
        let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{text}\"")
    };
    for place in &plan.places {
        let path = quoted(&place.path);
        rules += &match place.access {
            FenceAccess::Pinned => format!("(deny file-write-unlink (literal {path}))\n"),
            FenceAccess::ReadOnly | FenceAccess::Masked => {
                format!("(deny file-write* (subpath {path}))\n")
            }
            FenceAccess::Writable => format!("(allow file-write* (subpath {path}))\n"),
        };
    }
    for stand_in in &plan.stand_ins {
        if stand_in.text.is_some() {
            rules += &format!("(deny file-write* (literal {}))\n", quoted(&stand_in.path));
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FencedPlace, stand_in::StandIn};

    #[test]
    fn the_rules_follow_the_places() {
        let place =
            |path: &str, access| FencedPlace { path: path.into(), access, why: String::new() };
        let plan = FencePlan {
            places: vec![
                place("/p", FenceAccess::Pinned),
                place("/p/w", FenceAccess::ReadOnly),
                place("/p/w/a\"b", FenceAccess::Writable),
            ],
            stand_ins: vec![StandIn { path: "/p/w/.git/commondir".into(), text: Some(".".into()) }],
            notes: Vec::new(),
        };
        assert_eq!(
            profile(&plan),
            "(version 1)\n(allow default)\n(deny file-write-unlink (literal \"/p\"))\n(deny file-write* (subpath \"/p/w\"))\n(allow file-write* (subpath \"/p/w/a\\\"b\"))\n(deny file-write* (literal \"/p/w/.git/commondir\"))\n"
        );
    }
}
