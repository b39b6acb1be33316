//! `request_scope`, `propose_intent` and `approval_status`: an agent asks, a person decides.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Answer, Refusal};
use super::CallContext;
use crate::verbs::approval;
use crate::verbs::proposal::{self, IntentProposal, ProposalAnswer, ScopeProposal};
use crate::workspace::approvals::Approval;
use crate::workspace::text;

pub(super) const SCOPE: &str = "\
Ask a person to let an intent own more files, when your task needs them. Answers with a code; tell the user to run \
`intent approve CODE` in a terminal of their own or to click Approve in their editor, then look with `approval_status`.";

pub(super) const INTENT: &str = "\
Ask a person for a new intent, when your task belongs to none of those in `list_intents`. Answers with a code; once a \
person has approved it, `approval_status` names the new intent, and you can select it.";

pub(super) const STATUS: &str = "\
What a person has decided about a code: pending, approved, denied, used or expired. You cannot approve anything \
yourself, and asking again changes nothing.";

/// What an intent should own besides.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WiderScope {
    /// The globs to add, relative to the workspace, as narrow as the task allows: src/auth/**.
    entries: Vec<String>,
    /// Why the task needs them, in one sentence that a person will read.
    reason: String,
    /// The intent; the selected one if it is left out.
    #[serde(default)]
    intent_id: Option<String>,
}

/// An intent that is not there yet.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewIntentArguments {
    /// What it is called.
    name: String,
    /// The globs it would own, relative to the workspace.
    scope: Vec<String>,
    /// Why, in one sentence that a person will read.
    reason: String,
    /// What must hold while working under it.
    #[serde(default)]
    constraints: Vec<String>,
    /// When it is done.
    #[serde(default)]
    acceptance: Vec<String>,
}

/// Which question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeArguments {
    /// The code that was answered when a person was asked.
    code: String,
}

pub(super) fn request_scope(
    call: &CallContext,
    wanted: WiderScope,
) -> Result<Answer<ProposalAnswer>, Refusal> {
    let ws = call.here()?;
    let selected = || ws.selected(Some(&call.actor()));
    let intent = wanted.intent_id.or_else(selected).ok_or_else(|| ws.nothing_selected())?;
    let wanted = ScopeProposal { intent, entries: wanted.entries, reason: wanted.reason };
    let asked = proposal::request_scope(&ws, &call.actor(), &call.folder, wanted)?;
    Ok(said(asked))
}

pub(super) fn propose_intent(
    call: &CallContext,
    wanted: NewIntentArguments,
) -> Result<Answer<ProposalAnswer>, Refusal> {
    let ws = call.here()?;
    let wanted = IntentProposal {
        name: wanted.name,
        scope: wanted.scope,
        constraints: wanted.constraints,
        acceptance: wanted.acceptance,
        reason: wanted.reason,
    };
    let asked = proposal::propose_intent(&ws, &call.actor(), &call.folder, wanted)?;
    Ok(said(asked))
}

pub(super) fn status(
    call: &CallContext,
    arguments: CodeArguments,
) -> Result<Answer<Approval>, Refusal> {
    let found = approval::status(&call.here()?, &arguments.code)?;
    let mut words = text::visible(&approval::told(&found), false);
    if let Some(intent) = &found.result {
        words.push_str(&format!(" It concerns {}.", text::visible(intent, false)));
    }
    Ok(Answer::new(found, words))
}

fn said(asked: ProposalAnswer) -> Answer<ProposalAnswer> {
    let words = [asked.message.as_str()].into_iter().chain(asked.notes.iter().map(String::as_str));
    let words: Vec<String> = words.map(|line| text::visible(line, false)).collect();
    Answer::new(asked, words.join("\n"))
}
