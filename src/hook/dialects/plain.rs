//! The dialect of exit code 2 with a reason on standard error: for Kiro, Windsurf, and unknown
//! hosts.

use super::{At, HookAnswer, HookOutput, Moment};

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    match said {
        HookAnswer::Nothing | HookAnswer::Rewrite { .. } => HookOutput::default(),
        HookAnswer::Deny(reason) | HookAnswer::Ask(reason) if at.moment == Moment::Before => {
            HookOutput::refused(reason)
        }
        // At these two moments, the host adds standard output to what the model reads.
        HookAnswer::Context(text) if matches!(at.moment, Moment::SessionStart | Moment::Prompt) => {
            HookOutput::with_text(text)
        }
        HookAnswer::Context(text) | HookAnswer::Violation(text) => HookOutput::remark(text),
        HookAnswer::Deny(_) | HookAnswer::Ask(_) => HookOutput::default(),
    }
}
