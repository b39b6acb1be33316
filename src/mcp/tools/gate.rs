//! `gate_check`: asks the gate about a change or a command without making it.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Refusal, ToolAnswer, ToolOutcome};
use super::CallContext;
use edits::Change;
use evidence::event::Effect;
use ground::text;
use judgement::gate::{self, Decision, Denial};
use shell::Dialect;

pub(super) const CHECK: &str = "\
Ask whether files may be changed, or a command run, under the intent that this session has selected. Answers \
`no_opinion` (no rule objects), `ask` (a person should decide) or `deny`, with the rule and what to do next. \
Changes nothing. Name `paths` or `command`.";

/// More paths than this in one call would delay the calls after it.
const MAX_PATHS: usize = 500;

/// The change or command to judge.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    /// Every file that would change, including the sources of moves; relative to the workspace, or
    /// absolute. At most 500.
    #[serde(default)]
    paths: Vec<String>,
    /// A command line for a POSIX shell, to be run in the workspace.
    command: Option<String>,
}

pub(super) fn check(call: &CallContext, arguments: Check) -> ToolOutcome<Decision> {
    if arguments.paths.is_empty() && arguments.command.is_none() {
        return Err(Refusal::unreadable("Name `paths` or a `command`. Nothing was judged."));
    }
    if arguments.paths.len() > MAX_PATHS {
        return Err(Refusal::unreadable(format!(
            "{} paths are too many at once, at most {MAX_PATHS} are judged. Ask in parts, or name the folders. Nothing was judged.",
            arguments.paths.len()
        )));
    }
    call.open_workspace()?;
    let write = |path: String| Effect::Write { path: path.into(), change: Change::Unknown };
    let writes = arguments.paths.into_iter().map(write);
    let runs = arguments.command.map(|text| Effect::Shell {
        text,
        dialect: Dialect::Posix,
        cwd: None,
        background: false,
    });
    let decision = gate::check(&call.event("gate_check", writes.chain(runs).collect()));
    let words = line_of_decision(&decision);
    Ok(ToolAnswer::new(decision, words))
}

fn line_of_decision(decision: &Decision) -> String {
    let said = |word: &str, denial: &Denial| {
        format!("{word}: {}: {}", denial.code, text::visible(&denial.message, true))
    };
    match decision {
        Decision::NoOpinion => "no opinion: no rule objects".to_owned(),
        Decision::Ask(denial) => said("ask", denial),
        Decision::Deny(denial) => said("deny", denial),
    }
}
