//! Codex: Claude Code's JSON and nothing more.
//!
//! It rejects a document with a key that it does not know, a question, or an empty reason, and lets the call run then;
//! and it does not everywhere take exit code 2 for a denial.

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
