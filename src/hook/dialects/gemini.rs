//! Gemini CLI: a `decision` where there is one, exit code 0.

use serde_json::json;

use super::{At, claude};
use crate::hook::answer::{Output, Said};
use crate::hook::incoming::Moment;

pub(super) fn answer(at: At, said: &Said) -> Output {
    match said {
        // A question stops a run without a person for good, and no call says whether there is one.
        Said::Ask(reason) | Said::Deny(reason) if at.moment == Moment::Before => {
            Output::json(&json!({ "decision": "deny", "reason": reason }))
        }
        // Before a tool there is no way to the model; the person is shown it.
        Said::Context(text) if at.moment == Moment::Before => {
            Output::json(&json!({ "systemMessage": text }))
        }
        // A denial after the tool would hide what the tool printed, and the model would run it once more to see that.
        Said::Context(text) | Said::Violation(text) => Output::json(&claude::context(at, text)),
        Said::Nothing | Said::Ask(_) | Said::Deny(_) => Output::default(),
    }
}
