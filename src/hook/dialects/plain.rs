//! Exit code 2 and a reason on standard error: Kiro, Windsurf, and hosts that nobody knows.

use super::At;
use crate::hook::answer::{Output, Said};
use crate::hook::incoming::Moment;

pub(super) fn answer(at: At, said: &Said) -> Output {
    match said {
        Said::Nothing => Output::default(),
        Said::Deny(reason) | Said::Ask(reason) if at.moment == Moment::Before => {
            Output::refused(reason)
        }
        // Standard output of these two becomes part of what the model reads.
        Said::Context(text) if matches!(at.moment, Moment::SessionStart | Moment::Prompt) => {
            Output::plain(text)
        }
        Said::Context(text) | Said::Violation(text) => Output::remark(text),
        Said::Deny(_) | Said::Ask(_) => Output::default(),
    }
}
