//! The dialect of exit code 2 with a reason on standard error: for Kiro, Windsurf, and unknown
//! hosts.

use super::At;
use crate::hook::answer::{HookAnswer, Output};
use crate::hook::incoming::Moment;

pub(super) fn answer(at: At, said: &HookAnswer) -> Output {
    match said {
        HookAnswer::Nothing | HookAnswer::Rewrite { .. } => Output::default(),
        HookAnswer::Deny(reason) | HookAnswer::Ask(reason) if at.moment == Moment::Before => {
            Output::refused(reason)
        }
        // At these two moments, the host adds standard output to what the model reads.
        HookAnswer::Context(text) if matches!(at.moment, Moment::SessionStart | Moment::Prompt) => {
            Output::plain(text)
        }
        HookAnswer::Context(text) | HookAnswer::Violation(text) => Output::remark(text),
        HookAnswer::Deny(_) | HookAnswer::Ask(_) => Output::default(),
    }
}
