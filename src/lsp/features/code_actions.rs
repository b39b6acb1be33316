//! `textDocument/codeAction` and `codeAction/resolve`: the actions that are possible at a place.
//!
//! A change of the registry is an edit of its text, which a person can see, save and undo. A
//! selection or a record is written by the server, so it is a command. If a person sits at the
//! client, adding a file to a scope is also a command, because that saves the registry in the same
//! step. An expensive edit is computed only when its action is chosen.

mod code_file;
mod governing;
mod plan;

use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::{command_names, diagnostics};
use crate::capabilities::Capabilities;
use crate::refusal::{RequestRefusal, RequestResult};
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, GovernedFile};
use ground::{Code, IGNORE_FILES};
use intents::scope;
use plan::{OfferedPlan, Plan};

/// The kinds of the actions, beside quick fixes.
const SELECT_KIND: &str = "intent.select";
const RECORD_KIND: &str = "intent.record";
const ACCEPT_KIND: &str = "intent.accept";
const REGISTRY: &str = "intent.registry";
const RESTORE: &str = "intent.restore";
const FIX_ALL: &str = "source.fixAll.intent";
const QUICK_FIX: &str = "quickfix";

struct Offer {
    title: String,
    kind: &'static str,
    diagnostics: Vec<lsp::Diagnostic>,
    preferred: bool,
    disabled: Option<String>,
    action: Action,
}

enum Action {
    Command(&'static str, Value),
    Plan(Plan),
}

impl Offer {
    fn new(title: String, kind: &'static str, action: Action) -> Self {
        Self { title, kind, diagnostics: Vec::new(), preferred: false, disabled: None, action }
    }

    fn command(&self, name: &str, argument: &Value) -> lsp::Command {
        lsp::Command {
            title: self.title.clone(),
            command: name.to_owned(),
            arguments: Some(vec![argument.clone()]),
        }
    }
}

struct ActionRequest<'a> {
    file: GovernedFile<'a>,
    range: lsp::Range,
    context: &'a lsp::CodeActionContext,
}

impl ActionRequest<'_> {
    fn diagnostics(&self, codes: &[Code]) -> Vec<lsp::Diagnostic> {
        let ours = self.context.diagnostics.iter().filter(|it| {
            let Some(lsp::NumberOrString::String(code)) = &it.code else { return false };
            it.source.as_deref() == Some(diagnostics::SOURCE)
                && codes.iter().any(|wanted| wanted.as_str() == code)
        });
        ours.cloned().collect()
    }

    fn wants_kind(&self, kind: &str) -> bool {
        let Some(only) = &self.context.only else { return true };
        only.iter().any(|wanted| {
            let wanted = wanted.as_str();
            let below = || kind.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'));
            wanted.is_empty() || kind == wanted || below()
        })
    }
}

pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::CodeActionParams,
) -> RequestResult<Option<lsp::CodeActionResponse>> {
    let uri = &params.text_document.uri;
    let file = workspace_view::shown_file(snapshot, uri);
    let Some(file) = file.filter(|file| file.view.workspace.root.governed()) else {
        return Ok(None);
    };
    let is_governing = file.path.is_orchestration()
        || file.is_registry()
        || IGNORE_FILES.contains(&file.path.as_str());
    let request = ActionRequest { file, range: params.range, context: &params.context };
    let offers =
        if is_governing { governing::offers(&request) } else { code_file::offers(&request) };
    snapshot.check_cancelled()?;
    let wanted = offers.into_iter().filter(|offer| request.wants_kind(offer.kind));
    let actions: Vec<_> = wanted.filter_map(|offer| action(&request.file, offer)).collect();
    Ok((!actions.is_empty()).then_some(actions))
}

/// Returns the offer in a form that the client understands. `None` if the client cannot show it.
fn action(file: &GovernedFile<'_>, offer: Offer) -> Option<lsp::CodeActionOrCommand> {
    let client = &file.view.snapshot.client;
    let shows_disabled = client.code_action_literals && client.code_action_disabled;
    if offer.disabled.is_some() && !shows_disabled {
        return None;
    }
    if !client.code_action_literals {
        return match &offer.action {
            Action::Command(name, argument) => Some(offer.command(name, argument).into()),
            Action::Plan(_) => None,
        };
    }
    let mut action = lsp::CodeAction {
        title: offer.title.clone(),
        kind: Some(offer.kind.to_owned().into()),
        diagnostics: (!offer.diagnostics.is_empty()).then(|| offer.diagnostics.clone()),
        is_preferred: (client.code_action_preferred && offer.preferred).then_some(true),
        disabled: offer.disabled.clone().map(|reason| lsp::CodeActionDisabled { reason }),
        ..Default::default()
    };
    if action.disabled.is_none() {
        fill_action(&mut action, file, &offer)?;
    }
    Some(action.into())
}

/// Adds what the action does: a command, an edit, or a plan of which the edit is computed later. `None`
/// if the edit is impossible and the client cannot show that.
fn fill_action(action: &mut lsp::CodeAction, file: &GovernedFile<'_>, offer: &Offer) -> Option<()> {
    let client = &file.view.snapshot.client;
    match &offer.action {
        Action::Command(name, argument) => action.command = Some(offer.command(name, argument)),
        Action::Plan(plan) if plan.can_wait() && can_resolve(client) => {
            let (uri, version) = (file.open.uri.clone(), file.open.version);
            let asked = OfferedPlan { uri, version, plan: plan.clone() };
            action.data = serde_json::to_value(asked).ok();
        }
        Action::Plan(plan) => match plan.edit(file) {
            Ok(edit) => action.edit = Some(edit),
            Err(reason) if client.code_action_disabled => {
                action.is_preferred = None;
                action.disabled = Some(lsp::CodeActionDisabled { reason });
            }
            Err(_) => return None,
        },
    }
    Some(())
}

fn can_resolve(client: &Capabilities) -> bool {
    client.code_action_resolve && client.code_action_data
}

pub(crate) fn resolve(
    snapshot: &Snapshot,
    mut action: lsp::CodeAction,
) -> RequestResult<lsp::CodeAction> {
    let Some(data) = action.data.take() else { return Ok(action) };
    let asked: OfferedPlan = serde_json::from_value(data).map_err(|error| {
        RequestRefusal::Senseless(format!("this action was not made by this server: {error}"))
    })?;
    let version = snapshot.version_of(&asked.uri);
    if version != Some(asked.version) {
        return Err(RequestRefusal::ContentModified);
    }
    let file = workspace_view::governed(snapshot, &asked.uri).ok_or(plan::GONE.to_owned());
    let edit = file.and_then(|file| asked.plan.edit(&file));
    action.edit = Some(edit.map_err(RequestRefusal::Failed)?);
    Ok(action)
}

/// Returns true if an open file may be added to the scope of this intent. The file must be outside
/// of the scope, and the intent must be selected or named by a scope violation in the file.
pub(crate) fn can_widen(snapshot: &Snapshot, uri: &lsp::Url, id: &str) -> bool {
    let Some(file) = workspace_view::governed(snapshot, uri) else { return false };
    let workspace = file.view.workspace;
    is_outside_scope(&file, id)
        && !workspace.ignores.git_ignored(&file.path)
        && (workspace.selected(None).as_deref() == Some(id)
            || diagnostics::findings(&file).iter().any(|finding| {
                finding.code == Code::ScopeViolation && finding.intent.as_deref() == Some(id)
            }))
}

fn is_outside_scope(file: &GovernedFile<'_>, id: &str) -> bool {
    let scope = file.view.workspace.registry.scope(id);
    scope.is_some_and(|scope| !scope.owns(&file.path))
}

pub(crate) fn edit_that_widens(
    snapshot: &Snapshot,
    uri: &lsp::Url,
    id: &str,
) -> Result<lsp::WorkspaceEdit, String> {
    let file = workspace_view::governed(snapshot, uri).ok_or("the file is not open")?;
    Plan::Widen { id: id.to_owned(), entry: scope::entry_for(&file.path) }.edit(&file)
}

pub(crate) fn options(client: &Capabilities) -> lsp::CodeActionProviderCapability {
    if !client.code_action_literals {
        return lsp::CodeActionProviderCapability::Simple(true);
    }
    let kinds = [QUICK_FIX, SELECT_KIND, RECORD_KIND, ACCEPT_KIND, REGISTRY, RESTORE, FIX_ALL];
    lsp::CodeActionOptions {
        code_action_kinds: Some(kinds.iter().map(|kind| (*kind).to_owned().into()).collect()),
        resolve_provider: Some(can_resolve(client)),
        ..Default::default()
    }
    .into()
}

fn select_command(uri: &lsp::Url, id: &str) -> Action {
    Action::Command(command_names::SELECT, json!({ "id": id, "uri": uri }))
}

#[cfg(test)]
mod tests;
