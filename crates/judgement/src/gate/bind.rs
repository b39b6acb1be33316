//! Binds a session to its intent. A hook sees that an agent is about to run `intent select ID`, and
//! from then on the agent works under that intent. This module also makes the text that a session
//! is told at its start.

use crate::selection;
use std::sync::Arc;

use super::judge_call::Purpose;
use super::rules::{self, PathRules};
use super::{Decision, Denial, DenialCode, Judged, ask, in_force, places, requested};
use crate::selection::{selected_by, works_as};
use evidence::event::{Effect, Event};
use evidence::git_hooks;
use ground::approvals::Subject;
use ground::policy::{Mode, Switching};
use ground::session::announced::{self, Announcement, Runner};
use ground::session::{self, calls};
use ground::text;
use ground::{Hint, Root};
use intents::Intent;
use why::Workspace;

/// The maximum length of the text about selectable intents that a session gets at its start, in
/// characters.
const MAX_SELECTABLE: usize = 4_000;

/// Tells an agent how to work in a workspace with intents, for a system prompt: at most 25 short
/// lines of plain text. It names no host.
pub const PROTOCOL: &str = "\
This repository asks every change for its intent: who wanted it, and why.

1. See what there is: list_intents, or `intent list`.
2. Before the first write, select the one you work under: select_active_intent, or
   `intent select ID`. The answer is its context: constraints, scope, criteria, and
   what was done under it before. Read it. Reading files needs no intent.
3. Write only files that its owned_scope names. Constraints hold whatever else you do.
4. A denial says why and what to do next. Do that; do not try the same by another way.
   INTENT_REQUIRED, UNKNOWN_INTENT, INTENT_NOT_ACTIVE: select an intent in progress.
   SCOPE_VIOLATION: the file belongs to another intent, or to none. Leave it, or call
   request_scope with your reasons; a person decides.
   STALE_FILE: somebody changed it since you read it. Read it again, then write.
   PROTECTED_PATH, IGNORED_PATH: leave the file as it is.
5. No intent fits? Call propose_intent, or ask the person. Never edit .orchestration/,
   ignore files or the settings of these tools yourself, and approve nothing yourself.
6. Learned something that the next one should know? One sentence: record_lesson, or
   `intent lesson TEXT`. No secrets, no names of people.
7. What you write is recorded under the intent. Say so if a write went wrong.
";

/// Binds the actor of a call (a session, or a subagent of one) to the intent `id`.
///
/// The first selection needs no approval. Neither does another one while nothing was written under
/// it, nor an intent that a person has asked for in the last prompt. Otherwise, the policy decides
/// whether the actor may switch to another intent.
///
/// `command` is the `intent select` command that runs if the call goes ahead. The command cannot
/// find out which actor started it, so it is announced here and then selects for this actor.
pub(super) fn select(
    ws: &Workspace,
    event: &Event,
    (id, command): (&str, &[String]),
    purpose: Purpose,
) -> Judged {
    let rules = PathRules { selected: Some(id.to_owned()), ..PathRules::for_event(ws, event) };
    // No path is named, so the denial is about the rules or the intent.
    let intent = match rules.intent_for(&[]) {
        Ok(intent) => intent,
        Err(denial) => return Decision::Deny(denial).into(),
    };
    let id = intent.id.value.as_str();
    if purpose == Purpose::Examine {
        return Judged::default();
    }
    let actor = event.actor();
    let current = selected_by(ws, event).filter(|current| current != id);
    if let Some(current) = &current
        && ws.policy.mode == Mode::Enforce
        && !is_free(ws, event, current)
        && !person_asked_for(ws, event, id)
        && let Some(decision) = objection_to_switch(ws, event, current, id)
    {
        // The host asks the person, and runs the command only if the person agrees.
        announce(ws, event, command, &actor, &decision);
        return decision.into();
    }
    if let Err(error) = selection::bind(ws, intent, Some(&actor)) {
        let message = format!("{id} could not be selected: {}.", error.with_hint());
        return Decision::Deny(Denial::new(DenialCode::HookError, message)).into();
    }
    announce(ws, event, command, &actor, &Decision::NoOpinion);
    Judged { notice: notice_of_other_sessions(ws, intent, &actor), ..Judged::default() }
}

/// Returns true if nothing was written under the selected intent, so that another one may be selected
/// instead as if it were the first.
fn is_free(ws: &Workspace, event: &Event, current: &str) -> bool {
    let works_under_it = session::works_under(&ws.root, &works_as(ws, event), current);
    ws.policy.switching != Switching::Deny && !works_under_it
}

/// Leaves a note for the command of this program that the call runs: which actor runs it. If the
/// call is denied, it runs nothing.
pub(super) fn announce(
    ws: &Workspace,
    event: &Event,
    command: &[String],
    actor: &str,
    decision: &Decision,
) {
    if matches!(decision, Decision::Deny(_)) {
        return;
    }
    let asked = matches!(decision, Decision::Ask(_));
    let call = (actor.to_owned(), places::key(event));
    let runner = match event.effects.as_slice() {
        [Effect::Shell { .. }] => Runner::CommandLine,
        _ => Runner::Server,
    };
    let note = Announcement::of_hook(call, command, runner, asked);
    let announced = announced::announce(&root_of_caller(ws, event), &note);
    session::or_log(&ws.root, "a command of ours could not be announced", announced);
}

/// Returns the root of the workspace in whose folder the process of a call starts. It may act in
/// another one, `ws`, which counts if no workspace governs the folder.
fn root_of_caller(ws: &Workspace, event: &Event) -> Arc<Root> {
    let folder = match event.effects.as_slice() {
        [Effect::Shell { cwd: Some(cwd), .. }] => event.cwd.join(cwd),
        _ => event.cwd.clone(),
    };
    let root = Root::find(&folder, &event.environment).ok().filter(Root::governed);
    root.map_or_else(|| Arc::clone(&ws.root), Arc::new)
}

/// Binds the actor of a call to the intent that the call selected, if a person was asked about it and
/// the command did not find out itself for whom it ran. The host reports only calls that ran.
pub(crate) fn finish_selection(ws: &Workspace, event: &Event) {
    let Some(note) = announced::take_announcement_of(&ws.root, &places::key(event)) else { return };
    let id = shell::selects(&note.arguments).filter(|_| note.asked && !event.failed);
    let Some(intent) = id.and_then(|id| ws.intent_in_progress(id).ok()) else { return };
    let bound = selection::bind(ws, intent, Some(&note.actor));
    session::or_log(&ws.root, "a selection could not be stored", bound);
}

/// Returns a notice for the model that names other sessions which work on the same files. `None` if
/// there are none.
fn notice_of_other_sessions(ws: &Workspace, intent: &Intent, actor: &str) -> Option<String> {
    let sharing = selection::sharing(ws, intent);
    let others = selection::other_sessions(ws, intent, &sharing, Some(actor));
    let named: Vec<String> = others.iter().map(selection::OtherSession::described).collect();
    (!named.is_empty()).then(|| {
        format!(
            "Others work on the same files: {}. Read a file again before you write it.",
            named.join("; ")
        )
    })
}

/// Returns the denial or the question that holds up a switch to another intent, or `None` if the
/// switch is allowed.
fn objection_to_switch(ws: &Workspace, event: &Event, current: &str, id: &str) -> Option<Decision> {
    let message =
        format!("This session works under {current}; switching to {id} is for a person to decide.");
    let denial = Denial::new(DenialCode::ApprovalRequired, message).about_intent(id);
    match ws.policy.switching {
        Switching::Allow => None,
        Switching::Deny => Some(Decision::Deny(denial)),
        Switching::Ask => {
            let subject = Subject::Switch { from: Some(current.to_owned()), to: id.to_owned() };
            ask::person(ws, event, denial, subject).err()
        }
    }
}

/// Returns true if the person asked for the intent in their last prompt to the session. This works
/// once, because the note of the prompt is removed. It never holds for a subagent, because the
/// prompt was not given to the subagent.
fn person_asked_for(ws: &Workspace, event: &Event, id: &str) -> bool {
    event.subagent.is_none() && session::take_prompted_intent(&ws.root, &event.session_key(), id)
}

/// Notes which intents a person asks for in a prompt: `please do int-002`. The session may switch to these without an approval.
pub fn prompt(event: &Event) {
    let Ok(Some(home)) = places::governed_at(&event.cwd, &event.environment) else { return };
    keep_model(&home, event);
    announced::forget_asked(&home.root, &event.session_key());
    let said = event.prompt.as_deref().unwrap_or_default();
    let ids = home.registry.all_intents().map(|intent| intent.id.value.clone());
    let named: Vec<String> = ids.filter(|id| requested::asks_for(said, id)).collect();
    let stored = session::store_prompted_intents(&home.root, &event.session_key(), &named);
    session::or_log(&home.root, "a prompt could not be noted", stored);
}

fn keep_model(home: &Workspace, event: &Event) {
    let Some(model) = &event.model else { return };
    let kept = session::keep_model(&home.root, &event.session_key(), model);
    session::or_log(&home.root, "the model of a session could not be kept", kept);
}

/// Forgets the selection of a session that the host has emptied. The agent knows nothing of the
/// intent any more and has to select again.
pub fn clear(event: &Event) {
    let Ok(Some(home)) = places::governed_at(&event.cwd, &event.environment) else { return };
    announced::forget_asked(&home.root, &event.session_key());
    let cleared = session::clear_for(&home.root, &event.session_key());
    session::or_log(&home.root, "a cleared session keeps its selection", cleared);
}

/// Returns what a session is told at its start, and again after its context was compacted: how to
/// work here, and which intent is selected.
pub fn session_start(event: &Event) -> Option<String> {
    let (home, _) = in_force::governed(places::governed_at(&event.cwd, &event.environment).ok()??);
    calls::prune(&home.root);
    announced::prune(&home.root);
    session::hosts::prune(&home.root);
    announced::forget_asked(&home.root, &event.session_key());
    in_force::prune(&home);
    keep_model(&home, event);
    let selected = match selected_by(&home, event) {
        Some(id) => terms(&home, &id),
        None => rules::selectable(&home),
    };
    let selected = text::of_repository(&selected, MAX_SELECTABLE);
    let hint = git_hooks::hint(&home).map(|hint| format!("\n{hint} Tell the user."));
    let selected = selected.trim_end();
    Some(format!("{}\n{selected}{}", PROTOCOL, hint.unwrap_or_default()))
}

/// Says which intent is selected and what binds the work under it. After its context was compacted,
/// the model knows only this.
fn terms(ws: &Workspace, id: &str) -> String {
    let mut said = format!("Selected in this session: {id}.");
    let Some(intent) = ws.registry.get(id) else { return said };
    said.push_str(&match ws.registry.unadopted(id) {
        Some(imported) => format!(" {}", selection::without_scope(imported)),
        None => format!(" It owns: {}.", intent.scope_entries().join(", ")),
    });
    for constraint in &intent.constraints {
        said.push_str(&format!("\nConstraint: {}", constraint.value));
    }
    said
}

pub fn end(event: &Event) {
    let Ok(Some(home)) = places::governed_at(&event.cwd, &event.environment) else { return };
    let session = event.session_key();
    let below = format!("{session}/");
    let all = session::selections(&home.root).into_iter().filter_map(|it| it.actor);
    for actor in all.filter(|actor| actor.starts_with(&below)).chain([session]) {
        let ended = session::forget_writes(&home.root, &actor);
        session::or_log(&home.root, "the end of a session could not be noted", ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_for_agents_is_short_and_plain() {
        assert!(PROTOCOL.lines().count() <= 25);
        assert!(PROTOCOL.lines().all(|line| line.len() <= 90));
        assert!(PROTOCOL.is_ascii() && !PROTOCOL.contains(['\t', '\r']));
        let hosts = ["claude", "codex", "cursor", "copilot", "gemini", "windsurf", "cline"];
        let text = PROTOCOL.to_lowercase();
        assert!(hosts.iter().all(|host| !text.contains(host)));
    }

    #[test]
    fn the_protocol_says_what_to_do_about_each_denial() {
        let codes = [
            DenialCode::IntentRequired,
            DenialCode::UnknownIntent,
            DenialCode::IntentNotActive,
            DenialCode::ScopeViolation,
            DenialCode::ProtectedPath,
            DenialCode::IgnoredPath,
        ];
        for code in codes {
            assert!(PROTOCOL.contains(&code.to_string()), "{code}");
        }
    }
}
