//! `list_intents` and `select_active_intent`: the handshake.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::answer::{Answer, Refusal};
use super::Call;
use crate::verbs::Workspace;
use crate::verbs::event::Effect;
use crate::verbs::gate::{self, Decision};
use crate::verbs::select::{self, IntentSummary, SelectAnswer};
use crate::workspace::{session, text};

pub(super) const LIST: &str = "\
All intents of this project with their status and the globs of the files they own, and which one this session has \
selected. Only an intent that is IN_PROGRESS can be selected.";

pub(super) const SELECT: &str = "\
Declare the intent that you work under, before you change anything. Answers with what to know: constraints, owned scope, \
acceptance criteria, what was produced so far, and other intents that own some of the same files. Follow the constraints.";

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Which intent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    /// The intent's id, e.g. INT-001.
    intent_id: String,
}

/// The intents of a workspace.
#[derive(Serialize, JsonSchema)]
pub(super) struct Intents {
    /// What this session has selected.
    selected: Option<String>,
    /// In the order of the registry. `selected` of each of them: by the person in this work tree.
    intents: Vec<IntentSummary>,
    /// What is not counted, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

pub(super) fn list(call: &Call, _: Nothing) -> Result<Answer<Intents>, Refusal> {
    let ws = call.here()?;
    let intents = select::list(&ws)?;
    let selected = ws.selected(Some(&call.actor()));
    let mut words = String::new();
    for intent in &intents {
        let status = intent.status.map_or("without a known status", |status| status.as_str());
        let mark =
            if selected.as_ref() == Some(&intent.id) { ", selected by this session" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            words,
            "{} ({status}{mark}): {}; owns {}",
            line(&intent.id),
            line(&intent.name),
            line(&intent.owned_scope.join(", "))
        );
    }
    if intents.is_empty() {
        words
            .push_str("The registry holds no intents yet. `propose_intent` asks a person for one.");
    }
    let notes = Vec::from_iter(ws.unread_evidence());
    for note in &notes {
        let _ = writeln!(words, "{}", line(note));
    }
    Ok(Answer::new(Intents { selected, intents, notes }, words))
}

pub(super) fn select(call: &Call, arguments: Select) -> Result<Answer<SelectAnswer>, Refusal> {
    let ws = call.here()?;
    let id = arguments.intent_id.trim();
    let id = ws.intent_in_progress(id)?.id.value.as_str();
    let notice = match session::take_announced(&ws.root, id) {
        // A hook has seen this very call: it was judged and bound for the agent's own session.
        Some(actor) => {
            call.session.adopt(&actor);
            None
        }
        None => asked(call, &ws, id)?,
    };
    let answer = select::select(&ws, id, Some(&call.actor()))?;
    let mut words = format!("{} is selected.", line(&answer.intent.id));
    if !answer.overlaps.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(
            words,
            " Also in progress on some of these files: {}.",
            line(&answer.overlaps.join(", "))
        );
    }
    if let Some(notice) = notice {
        words.push(' ');
        words.push_str(&line(&notice));
    }
    let context = answer.context.clone();
    Ok(Answer::new(answer, words).and(context))
}

/// Whether this session may work under the intent from now on, where no hook has asked before us.
fn asked(call: &Call, ws: &Workspace, id: &str) -> Result<Option<String>, Refusal> {
    let selects = vec![Effect::Select { intent: id.to_owned() }];
    let judged = gate::before(&call.event("select_active_intent", selects));
    // The gate's own note of this call is for a command that it expects to follow.
    session::take_announced(&ws.root, id);
    match judged.decision {
        Decision::NoOpinion => Ok(judged.notice),
        Decision::Ask(denial) | Decision::Deny(denial) => Err(denial.into()),
    }
}

fn line(other: &str) -> String {
    text::visible(other, false)
}
