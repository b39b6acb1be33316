//! The dialect of Codex, which accepts part of Claude Code's JSON.
//!
//! Codex rejects a document that has an unknown key, a question, or an empty reason, and then lets
//! the call run. It does not treat exit code 2 as a denial everywhere.

use super::{At, HookAnswer, HookOutput, Moment, claude};

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    match said {
        HookAnswer::Nothing | HookAnswer::Rewrite { .. } => HookOutput::default(),
        HookAnswer::Context(text) => HookOutput::json(&claude::context(at, text)),
        HookAnswer::Ask(reason) | HookAnswer::Deny(reason) if at.moment == Moment::Before => {
            HookOutput::json(&claude::decision(at, "deny", reason))
        }
        HookAnswer::Ask(_) | HookAnswer::Deny(_) => HookOutput::default(),
        HookAnswer::Violation(text) => HookOutput::json(&claude::violation(at, text)),
    }
}
