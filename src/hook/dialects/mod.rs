//! The dialects: a payload becomes an [`Incoming`], what there is to say becomes an [`Output`]. No policy here.

mod antigravity;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod plain;
mod windsurf;

use serde_json::Value;

use super::answer::{HookAnswer, Output};
use super::host::{Family, Host};
use super::incoming::{Incoming, Moment};

/// Reads a payload of a host.
pub(crate) fn read(host: Host, payload: &Value) -> Incoming {
    match host.family {
        Family::Copilot => copilot::read(host, payload),
        Family::Cursor => cursor::read(host, payload),
        Family::Antigravity => antigravity::read(host, payload),
        Family::Cline => cline::read(host, payload),
        Family::Windsurf => windsurf::read(host, payload),
        Family::Claude | Family::Codex | Family::Gemini | Family::Plain => {
            claude::read(host, payload)
        }
    }
}

/// A moment as a host calls it, for the answer.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) moment: Moment,
    pub(crate) name: &'a str,
}

impl At<'static> {
    /// What is assumed of a payload that says nothing: that something is about to be changed.
    pub(crate) const UNREAD: Self = At { moment: Moment::Before, name: "PreToolUse" };
}

/// Says something to a host. A question is only handed over where the host asks, and a denial only before something.
pub(crate) fn answer(family: Family, at: At, said: &HookAnswer) -> Output {
    let takes_another_input = matches!(family, Family::Claude | Family::Gemini);
    if let (HookAnswer::Rewrite { reason, .. }, false) = (said, takes_another_input) {
        return answer(family, at, &HookAnswer::Deny(reason.clone()));
    }
    match family {
        Family::Claude => claude::answer(at, said),
        Family::Codex => codex::answer(at, said),
        Family::Cursor => cursor::answer(at, said),
        Family::Copilot => copilot::answer(at, said),
        Family::Gemini => gemini::answer(at, said),
        Family::Antigravity => antigravity::answer(at, said),
        Family::Cline => cline::answer(at, said),
        Family::Windsurf => windsurf::answer(at, said),
        Family::Plain => plain::answer(at, said),
    }
}

#[cfg(test)]
mod tests;
