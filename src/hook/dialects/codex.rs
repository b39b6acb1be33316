//! The dialect of Codex, which accepts part of Claude Code's JSON.
//!
//! Codex rejects a document that has an unknown key, a question, or an empty reason, and then lets
//! the call run. It does not treat exit code 2 as a denial everywhere.

use super::{At, claude};
use crate::hook::answer::{HookAnswer, Output};
use crate::hook::incoming::Moment;

pub(super) fn answer(at: At, said: &HookAnswer) -> Output {
    match said {
        HookAnswer::Nothing | HookAnswer::Rewrite { .. } => Output::default(),
        HookAnswer::Context(text) => Output::json(&claude::context(at, text)),
        HookAnswer::Ask(reason) | HookAnswer::Deny(reason) if at.moment == Moment::Before => {
            Output::json(&claude::decision(at, "deny", reason))
        }
        HookAnswer::Ask(_) | HookAnswer::Deny(_) => Output::default(),
        HookAnswer::Violation(text) => Output::json(&claude::violation(at, text)),
    }
}
