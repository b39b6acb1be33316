//! Codex: Claude Code's JSON and nothing more.
//!
//! It rejects a document with a key that it does not know, a question, or an empty reason, and lets the call run then;
//! and it does not everywhere take exit code 2 for a denial.

use super::{At, claude};
use crate::hook::answer::{Output, Said};
use crate::hook::incoming::Moment;

pub(super) fn answer(at: At, said: &Said) -> Output {
    match said {
        Said::Nothing => Output::default(),
        Said::Context(text) => Output::json(&claude::context(at, text)),
        Said::Ask(reason) | Said::Deny(reason) if at.moment == Moment::Before => {
            Output::json(&claude::decision(at, "deny", reason))
        }
        Said::Ask(_) | Said::Deny(_) => Output::default(),
        Said::Violation(text) => Output::json(&claude::violation(at, text)),
    }
}
