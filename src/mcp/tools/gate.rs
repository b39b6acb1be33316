//! `gate_check`: would this pass?

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Answer, Refusal};
use super::CallContext;
use crate::edits::Change;
use crate::shell::Dialect;
use crate::verbs::event::Effect;
use crate::verbs::gate::{self, Decision, Denial};
use crate::workspace::text;

pub(super) const CHECK: &str = "\
Ask whether files may be changed, or a command run, under the intent that this session has selected. Answers \
`no_opinion` (nothing is against it), `ask` (a person should decide) or `deny`, with the rule and what to do next. \
Changes nothing. Name `paths` or `command`.";

/// What is about to be done.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    /// Every file that would change, the sources of moves included; relative to the workspace, or absolute.
    #[serde(default)]
    paths: Vec<String>,
    /// A command line for a POSIX shell, as it would be run in the workspace.
    #[serde(default)]
    command: Option<String>,
}

pub(super) fn check(call: &CallContext, arguments: Check) -> Result<Answer<Decision>, Refusal> {
    if arguments.paths.is_empty() && arguments.command.is_none() {
        return Err(Refusal::unreadable("Name `paths` or a `command`. Nothing was judged."));
    }
    call.here()?;
    let writes = arguments
        .paths
        .into_iter()
        .map(|path| Effect::Write { path: path.into(), change: Change::Unknown });
    let runs = arguments.command.map(|text| Effect::Shell {
        text,
        dialect: Dialect::Posix,
        cwd: None,
        background: false,
    });
    let decision = gate::check(&call.event("gate_check", writes.chain(runs).collect()));
    let words = words(&decision);
    Ok(Answer::new(decision, words))
}

fn words(decision: &Decision) -> String {
    let said = |word: &str, denial: &Denial| {
        format!("{word}: {}: {}", denial.code.as_str(), text::visible(&denial.message, true))
    };
    match decision {
        Decision::NoOpinion => "no opinion: nothing is against it".to_owned(),
        Decision::Ask(denial) => said("ask", denial),
        Decision::Deny(denial) => said("deny", denial),
    }
}
