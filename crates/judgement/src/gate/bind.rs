//! Binds a session to its intent: handles selections that a hook sees, and says what a session is
//! told at its start.

use crate::selection;
use std::time::Duration;

use super::judge_call::{Purpose, selected};
use super::rules::{self, PathRules};
use super::{Decision, Denial, DenialCode, Judged, ask, in_force, places};
use crate::protocol;
use evidence::event::Event;
use evidence::git_hooks;
use ground::Hint;
use ground::approvals::{self, Subject};
use ground::policy::{Mode, Switching};
use ground::session::{self, calls};
use ground::text;
use intents::Intent;
use why::Workspace;

/// Binds the actor of a call to the intent that the call selects.
///
/// The first selection needs no approval, and neither does an intent that a person has named.
/// Otherwise the policy decides about switching to another intent.
///
/// `command` is the command that runs next if the call goes ahead. It is announced as the actor's,
/// so that it selects for that actor.
pub(super) fn select(
    ws: &Workspace,
    event: &Event,
    (id, command): (&str, &[String]),
    purpose: Purpose,
) -> Judged {
    // No path is named, so the denial is about the rules or the intent.
    let intent = match (PathRules { ws, selected: Some(id.to_owned()) }).intent_for(&[]) {
        Ok(intent) => intent,
        Err(denial) => return Decision::Deny(denial).into(),
    };
    let id = intent.id.value.as_str();
    if purpose == Purpose::Examine {
        return Judged::default();
    }
    let actor = event.actor();
    let before = selected(ws, event).filter(|before| before != id);
    if let Some(before) = &before
        && ws.policy.mode == Mode::Enforce
        && !is_asked_for(ws, event, id)
        && let Some(decision) = switching(ws, event, before, id)
    {
        // The host asks the person, and runs the command only if the person agrees.
        if matches!(decision, Decision::Ask(_)) {
            announce(ws, command, &actor, approvals::VALID);
        }
        return decision.into();
    }
    if let Err(error) = selection::bind(ws, intent, Some(&actor)) {
        let message = format!("{id} could not be selected: {}.", error.with_hint());
        return Decision::Deny(Denial::new(DenialCode::HookError, message)).into();
    }
    announce(ws, command, &actor, session::STARTS_WITHIN);
    Judged { notice: notice(ws, intent, &actor), ..Judged::default() }
}

/// Notes which actor is about to run a command of this program.
pub(super) fn announce(ws: &Workspace, command: &[String], actor: &str, valid: Duration) {
    let announced = session::announce(&ws.root, command, actor, valid);
    session::or_log(&ws.root, "a command of ours could not be announced", announced);
}

/// Returns a notice for the model that names other sessions which work on the same files.
fn notice(ws: &Workspace, intent: &Intent, actor: &str) -> Option<String> {
    let sharing = selection::sharing(ws, intent);
    let others = selection::other_sessions(ws, intent, &sharing, Some(actor));
    let named: Vec<String> =
        others.iter().map(|other| format!("{} under {}", other.actor, other.intent)).collect();
    (!named.is_empty()).then(|| {
        format!("Other sessions hold the same files: {}. Others may change them: read them again before you write.", named.join(", "))
    })
}

/// Returns the denial or the question that holds up a switch to another intent, or `None` if the
/// switch is allowed.
fn switching(ws: &Workspace, event: &Event, before: &str, id: &str) -> Option<Decision> {
    let message =
        format!("This session works under {before}; switching to {id} is for a person to decide.");
    let denial = Denial::new(DenialCode::ApprovalRequired, message).about_intent(id);
    match ws.policy.switching {
        Switching::Allow => None,
        Switching::Deny => Some(Decision::Deny(denial)),
        Switching::Ask => {
            let subject = Subject::Switch { from: Some(before.to_owned()), to: id.to_owned() };
            ask::person(ws, event, denial, subject).err()
        }
    }
}

/// Returns true if the person named the intent in their last prompt to the session. A prompt does
/// not count for a subagent, because it was not given to it.
fn is_asked_for(ws: &Workspace, event: &Event, id: &str) -> bool {
    event.subagent.is_none() && session::take_prompted_intent(&ws.root, &event.session_key(), id)
}

/// Notes which intents a person names in a prompt. The session may switch to these.
pub fn prompt(event: &Event) {
    let Ok(Some(home)) = places::governed_at(&event.cwd, &event.environment) else { return };
    keep_model(&home, event);
    let said = event.prompt.as_deref().unwrap_or_default().to_uppercase();
    let is_part = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let words: Vec<&str> =
        said.split(|c| !is_part(c)).map(|word| word.trim_end_matches(['.', '-'])).collect();
    let ids = home.registry.intents().iter().map(|intent| intent.id.value.clone());
    let named: Vec<String> = ids.filter(|id| words.contains(&id.to_uppercase().as_str())).collect();
    let stored = session::store_prompted_intents(&home.root, &event.session_key(), &named);
    session::or_log(&home.root, "a prompt could not be noted", stored);
}

/// Stores the model if the event names it. Some hosts name it only once in a session.
fn keep_model(home: &Workspace, event: &Event) {
    let Some(model) = &event.model else { return };
    let kept = session::keep_model(&home.root, &event.session_key(), model);
    session::or_log(&home.root, "the model of a session could not be kept", kept);
}

/// Forgets the selection of a session that the host has emptied. The agent knows nothing of the
/// intent any more and has to select again.
pub fn clear(event: &Event) {
    let Ok(Some(home)) = places::governed_at(&event.cwd, &event.environment) else { return };
    let cleared = session::clear_for(&home.root, &event.session_key());
    session::or_log(&home.root, "a cleared session keeps its selection", cleared);
}

/// The number of characters of the list of selectable intents that are shown at most.
const MAX_SELECTABLE: usize = 4_000;

/// Returns what a session is told at its start, and again after its context was compacted: how to
/// work here, and which intent is selected.
pub fn session_start(event: &Event) -> Option<String> {
    let (home, _) = in_force::governed(places::governed_at(&event.cwd, &event.environment).ok()??);
    calls::prune(&home.root);
    in_force::prune(&home);
    keep_model(&home, event);
    let selected = match selected(&home, event) {
        Some(id) => format!("Selected in this session: {id}."),
        None => rules::selectable(&home),
    };
    let selected = text::of_repository(&selected, MAX_SELECTABLE);
    let hint = git_hooks::hint(&home).map(|hint| format!("\n{hint} Tell the user."));
    let selected = selected.trim_end();
    Some(format!("{}\n{selected}{}", protocol::PROTOCOL, hint.unwrap_or_default()))
}
