//! `list_intents` and `select_active_intent`, with which an agent begins its work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::answer::{Refusal, ToolAnswer, ToolOutcome};
use super::CallContext;
use intents::Status;

use evidence::event::Effect;
use ground::session::announced::{Caller, Runner, take_announced, take_announcement_of};
use ground::text;
use judgement::gate::{self, Decision};
use overview::context::{self, ContextExtent};
use overview::select::{self, IntentSummary, SelectAnswer};
use why::Workspace;
use why::owners::{self, FileOwner, FileOwners};

pub(super) const LIST: &str = "\
All intents of this project with their status and the globs of the files they own, and which one this session has \
selected; also those that are kept in other formats, such as OpenSpec or Spec Kit. Only an intent that is IN_PROGRESS can be selected. With `paths`, also which intents own these files, and what \
to do where none does.";

pub(super) const SELECT: &str = "\
Declare the intent that you work under, before you change anything. Answers with what to know: constraints, owned scope, \
acceptance criteria, what was recorded since the last commit, and other intents that own some of the same files. Follow \
the constraints.";

/// The files to look up.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// Files to find the owners of; relative to the workspace, or absolute. They need not exist.
    #[serde(default)]
    paths: Vec<String>,
}

/// The intent that you want to select.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    /// The id of the intent, such as INT-001.
    intent_id: String,
    /// Leave nothing out of the answer, however long it is.
    #[serde(default)]
    full: bool,
}

/// The intents of a workspace.
#[derive(Serialize, JsonSchema)]
pub(super) struct Intents {
    /// The id of the intent that this session has selected.
    selected: Option<String>,
    /// The intents: those that are being worked on, then those of the registry, then open ones that
    /// are kept in other formats. The `selected` of each refers to this session.
    intents: Vec<IntentSummary>,
    /// How many intents are left out: those that are kept in other formats and are closed, or only
    /// cited by others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    /// The owners of the given files, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileOwners>,
}

pub(super) fn list(call: &CallContext, arguments: List) -> ToolOutcome<Intents> {
    let ws = call.open_any_workspace()?;
    let selected = ws.selected(Some(&call.actor()));
    let mut intents = select::list(&ws)?;
    if intents.is_empty() {
        ws.governed()?;
    }
    for intent in &mut intents {
        intent.selected = selected.as_ref() == Some(&intent.id);
        intent.kept = std::mem::take(&mut intent.kept).without_lists();
    }
    let left_out = select::counts_in_background(&intents);
    intents.retain(|intent| !intent.is_in_the_background());
    let mut files = Vec::with_capacity(arguments.paths.len());
    for named in &arguments.paths {
        let (ws, path) = call.file(named)?;
        let selected = ws.selected(Some(&call.actor()));
        let found = owners::owners_of_file(&ws, &path, selected.as_deref(), true);
        // The next step is given as a command line, but an agent should call a tool, so the text
        // names the tool.
        files.push(FileOwners { next: None, ..found });
    }
    let of_intent = |intent: &IntentSummary| {
        let status = intent.status.map_or("without a known status", |status| status.as_str());
        let mark = if intent.selected { ", selected by this session" } else { "" };
        let (id, name) = (line(&intent.id), line(&intent.name));
        let current = if intent.current { ", being worked on" } else { "" };
        let owns = match (&intent.kept.unit, &intent.owned_scope[..]) {
            (Some(unit), []) => format!("kept in {unit}; owns no file until a person adopts it"),
            (_, owned) => format!("owns {}", owned.join(", ")),
        };
        format!("{id} ({status}{mark}{current}): {name}; {}", line(&owns))
    };
    let others = left_out.iter().map(|count| format!("Left out: {count}."));
    let nothing = "The registry holds no intents yet. `propose_intent` asks a person for one.";
    let nothing = intents.is_empty().then(|| nothing.to_owned());
    let lines = intents.iter().map(of_intent).chain(nothing).chain(others);
    let lines = lines.chain(files.iter().map(|file| line(&describe_owners(file))));
    let words: String = lines.map(|line| format!("{line}\n")).collect();
    Ok(ToolAnswer::with_repository_text(Intents { selected, intents, left_out, files }, &words))
}

pub(super) fn select(call: &CallContext, arguments: Select) -> ToolOutcome<SelectAnswer> {
    let ws = call.open_workspace()?;
    let named = &arguments.intent_id;
    let id = ws.intent_in_progress(named.trim())?.id.value.as_str();
    // The hook knows the call only as it was made, perhaps with an earlier id of the intent.
    let actor = call.actor();
    let caller = Caller {
        runner: Runner::Server,
        actor: Some(&actor),
        environment: call.session.environment(),
    };
    let notice = match take_announced(&ws.root, &shell::selecting(named), &caller) {
        // A hook has announced this call: the gate has judged it, for the agent's own session.
        Some(actor) => {
            call.session.adopt(&actor);
            None
        }
        None => ask_gate(call, &ws, id)?,
    };
    let mut answer = select::select(&ws, id, Some(&call.actor()))?;
    if arguments.full {
        let whole = context::answer(&ws, ws.intent(id)?, ContextExtent::Full);
        (answer.context, answer.terms) = (whole.context, whole.terms);
    }
    let mut words = format!("{} is selected.", line(&answer.intent.id));
    if !answer.overlaps.is_empty() {
        let overlaps = line(&text::listed(&answer.overlaps));
        words.push_str(&format!(" Also in progress on some of these files: {overlaps}."));
    }
    if let Some(notice) = notice {
        words.push(' ');
        words.push_str(&line(&notice));
    }
    let context = answer.context.clone();
    Ok(ToolAnswer::new(answer, words).with_words(context))
}

/// Asks the gate whether this session may select the intent, for a call that no hook has announced.
fn ask_gate(call: &CallContext, ws: &Workspace, id: &str) -> Result<Option<String>, Refusal> {
    let selects = vec![Effect::Select { intent: id.to_owned() }];
    let event = call.event("select_active_intent", selects);
    let judged = gate::judge_before_call(&event);
    // The gate announces a command that it expects to follow. None does, so the announcement is
    // removed.
    take_announcement_of(&ws.root, &gate::key(&event));
    match judged.decision {
        Decision::NoOpinion => Ok(judged.notice),
        Decision::Ask(denial) | Decision::Deny(denial) => Err(denial.into()),
    }
}

fn describe_owners(file: &FileOwners) -> String {
    let path = &file.path;
    if let Some(rule) = &file.forbidden_by {
        return format!(
            "{path} is kept from agents by {rule}. Leave it as it is, or ask a person."
        );
    }
    let kept = file.owners.iter().filter_map(|owner| {
        let rule = owner.forbidden_by.as_ref()?;
        Some(format!(" {} may not change it: {rule} keeps it from that intent.", owner.id))
    });
    let kept: String = kept.collect();
    let ids = |owners: &mut dyn Iterator<Item = &FileOwner>| {
        owners.map(|owner| owner.id.as_str()).collect::<Vec<_>>().join(", ")
    };
    let open = ids(&mut file.owners.iter().filter(|owner| owner.may_write()));
    let is_done = |owner: &FileOwner| owner.status.is_some_and(Status::is_closed);
    let is_waiting =
        |owner: &&FileOwner| owner.forbidden_by.is_none() && !owner.may_write() && !is_done(owner);
    let others = ids(&mut file.owners.iter().filter(is_waiting));
    match (open.as_str(), others.as_str()) {
        ("", "") if !kept.is_empty() => {
            format!("No intent may change {path}.{kept} Leave it as it is, or ask a person.")
        }
        ("", "") if !file.may_be_about.is_empty() => {
            let ids = file.may_be_about.iter().map(|one| one.id.as_str());
            let ids = text::listed(&ids.collect::<Vec<_>>());
            format!(
                "No intent owns {path}; it is named by {ids}. A person adopts one: `intent adopt ID`."
            )
        }
        ("", "") => format!(
            "No intent in progress owns {path}. `request_scope` asks a person to widen one, `propose_intent` to make one."
        ),
        ("", others) => format!(
            "No intent in progress owns {path}; {others} would. A person starts it: `intent start ID`.{kept}"
        ),
        (open, _) if file.owners.iter().any(|owner| owner.selected && owner.may_write()) => {
            format!("{path} belongs to {open}.{kept}")
        }
        (open, _) => format!("{path} belongs to {open}: `select_active_intent` selects it.{kept}"),
    }
}

fn line(other: &str) -> String {
    text::visible(other, false)
}
