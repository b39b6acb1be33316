//! `request_scope`, `propose_intent` and `approval_status`: an agent asks, and a person decides.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{ToolAnswer, ToolOutcome};
use super::CallContext;
use ground::approvals::Approval;
use ground::text;
use judgement::approval;
use judgement::proposal::{self, IntentProposal, ProposalAnswer, ScopeProposal};

pub(super) const SCOPE: &str = "\
Ask a person to let an intent own more files, when your task needs them. Answers with a code; tell the user to run \
`intent approve CODE` in a terminal of their own or to click Approve in their editor, then look with `approval_status`.";

pub(super) const INTENT: &str = "\
Ask a person for a new intent, when your task belongs to none of those in `list_intents`. Answers with a code; once a \
person has approved it, `approval_status` names the new intent, and you can select it.";

pub(super) const STATUS: &str = "\
What a person has decided about a code: pending, approved, denied, used or expired. You cannot approve anything \
yourself, and asking again changes nothing.";

/// The files that an intent should own in addition.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WiderScope {
    /// The globs to add, relative to the workspace, as narrow as the task allows: src/auth/**.
    entries: Vec<String>,
    /// Why the task needs these files, as one sentence for the person who decides.
    reason: String,
    /// The id of the intent. Default: the selected intent.
    intent_id: Option<String>,
}

/// The request to look up.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeArguments {
    /// The code that `request_scope` or `propose_intent` returned.
    code: String,
}

pub(super) fn widen(call: &CallContext, wanted: WiderScope) -> ToolOutcome<ProposalAnswer> {
    let ws = call.open_workspace()?;
    let selected = || ws.selected(Some(&call.actor()));
    let intent = wanted.intent_id.or_else(selected).ok_or_else(|| ws.nothing_selected())?;
    let wanted = ScopeProposal { intent, entries: wanted.entries, reason: wanted.reason };
    let asked = proposal::request_scope(&ws, &call.actor(), &call.folder, wanted)?;
    Ok(requested_answer(asked))
}

pub(super) fn propose(call: &CallContext, wanted: IntentProposal) -> ToolOutcome<ProposalAnswer> {
    let ws = call.open_workspace()?;
    let asked = proposal::propose_intent(&ws, &call.actor(), &call.folder, wanted)?;
    Ok(requested_answer(asked))
}

pub(super) fn show(call: &CallContext, arguments: CodeArguments) -> ToolOutcome<Approval> {
    let found = approval::status(&call.open_workspace()?, &arguments.code)?;
    let mut words = text::visible(&approval::instructions(&found), false);
    if let Some(intent) = &found.result {
        words.push_str(&format!(" It concerns {}.", text::visible(intent, false)));
    }
    Ok(ToolAnswer::new(found, words))
}

fn requested_answer(asked: ProposalAnswer) -> ToolAnswer<ProposalAnswer> {
    let words = [asked.message.as_str()].into_iter().chain(asked.notes.iter().map(String::as_str));
    let words: Vec<String> = words.map(|line| text::visible(line, false)).collect();
    ToolAnswer::new(asked, words.join("\n"))
}
