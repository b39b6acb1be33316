//! The formats of the hosts. A dialect turns a payload into an [`Incoming`], and a [`HookAnswer`]
//! into an [`HookOutput`]. It holds no policy.

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

use super::answer::{HookAnswer, HookOutput};
use super::effects::Call;
use super::fields;
use super::host::{Family, Host};
use super::incoming::{Incoming, Moment, PayloadParts, moment};
use ground::Environment;

pub(crate) fn read(host: Host, payload: &Value, environment: &Environment) -> Incoming {
    let family = match host.family {
        Family::Copilot if payload.get("hook_event_name").is_some() => Family::Claude,
        family => family,
    };
    let parts = match family {
        Family::Copilot => copilot::read(payload),
        Family::Cursor => cursor::read(payload),
        Family::Antigravity => antigravity::read(payload),
        Family::Cline => cline::read(payload),
        Family::Windsurf => windsurf::read(payload),
        Family::Claude | Family::Codex | Family::Gemini | Family::Plain => claude::read(payload),
    };
    Incoming::new(host, family, payload, parts, environment)
}

/// The moment of a call, with the host's own name for its event, which some answers must contain.
#[derive(Clone, Copy)]
pub struct At<'a> {
    pub moment: Moment,
    pub name: &'a str,
}

impl At<'static> {
    pub(crate) const UNREAD: Self = At { moment: Moment::Before, name: "PreToolUse" };
}

/// Writes an answer in the format of a host family. A family that takes no changed input receives a
/// denial instead.
pub(crate) fn answer(family: Family, at: At, said: &HookAnswer) -> HookOutput {
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
