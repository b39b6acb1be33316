//! Actions in the registry and the other files that govern a workspace.

use super::plan::Plan;
use super::{Action, ActionRequest, FIX_ALL, Offer, REGISTRY, SELECT_KIND, select_command};
use crate::features::diagnostics;
use crate::workspace_view::GovernedFile;
use edits::TextEdit;
use ground::policy::Completion;
use ground::{Code, Finding};
use intents::{Intent, IntentFile, Status};

pub(super) fn offers(request: &ActionRequest<'_>) -> Vec<Offer> {
    let ActionRequest { file, range, .. } = request;
    let findings = diagnostics::findings(file);
    let mut offers = fixes(request, &findings);
    if file.is_registry() {
        let registry = IntentFile::parse(file.path.clone(), &file.open.document.text());
        if let Some(intent) = registry.intent_at(file.byte(range.start)) {
            offers.extend(of_intent(file, intent));
        }
        if registry.syntax_error().is_none() {
            let title = "Create an intent".to_owned();
            let action = Action::Plan(Plan::Create { entry: None });
            offers.push(Offer::new(title, REGISTRY, action));
        }
        offers.extend(fix_all(&registry, &findings));
    }
    offers
}

fn of_intent(file: &GovernedFile<'_>, intent: &Intent) -> Vec<Offer> {
    let workspace = file.view.workspace;
    let id = &intent.id.value;
    let mut offers = Vec::new();
    // A selection needs an intent that is in progress in the saved registry.
    let selectable = workspace.registry.get(id).is_some_and(Intent::in_progress);
    if selectable && workspace.selected(None).as_ref() != Some(id) {
        let title = format!("Select {}", super::code_file::intent_title(intent));
        offers.push(Offer::new(title, SELECT_KIND, select_command(&file.open.uri, id)));
    }
    let status = |status| Action::Plan(Plan::SetStatus { id: id.clone(), status });
    if intent.in_progress() && workspace.policy.completion == Completion::Passed {
        // Under this policy `intent complete` must be used, because it checks the acceptance
        // criteria.
        return offers;
    }
    let (title, next) = match intent.in_progress() {
        true => (format!("Complete {id}"), Status::Completed),
        false => (format!("Start {id}"), Status::InProgress),
    };
    offers.push(Offer::new(title, REGISTRY, status(next)));
    offers
}

fn fixes(request: &ActionRequest<'_>, findings: &[Finding]) -> Vec<Offer> {
    let file = &request.file;
    let touches = |finding: &&Finding| {
        let span = finding.span.clone().unwrap_or(0..0);
        let range = file.range(span);
        range.start <= request.range.end && request.range.start <= range.end
    };
    let mut offers: Vec<Offer> = Vec::new();
    for finding in findings.iter().filter(touches) {
        let here: Vec<_> = finding.fixes.iter().filter(|fix| fix.path == file.path).collect();
        for fix in &here {
            let diagnostics = request.diagnostics(&[finding.code]);
            let action = Action::Plan(Plan::Fix(fix.edits.clone()));
            let offer = Offer::new(fix.title.clone(), super::QUICK_FIX, action);
            offers.push(Offer { preferred: here.len() == 1, diagnostics, ..offer });
        }
    }
    offers
}

/// Returns the action that writes the whole registry in the canonical form, as far as fixes for it
/// are known.
fn fix_all(file: &IntentFile, findings: &[Finding]) -> Option<Offer> {
    let dialect = findings.iter().filter(|finding| finding.code == Code::RegistryDialect);
    let mut fixes: Vec<&TextEdit> =
        dialect.filter_map(|it| it.fixes.first()).flat_map(|fix| &fix.edits).collect();
    fixes.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut all: Vec<TextEdit> = Vec::new();
    for edit in fixes {
        if all.last().is_none_or(|last| last.range.end <= edit.range.start && last != edit) {
            all.push(edit.clone());
        }
    }
    if all.is_empty() {
        return None;
    }
    let after = IntentFile::parse(file.path().clone(), &edits::apply(file.text(), &all)?);
    let sound = after.syntax_error().is_none() && after.intents().len() == file.intents().len();
    let title = "Write the registry in the canonical form".to_owned();
    sound.then(|| Offer::new(title, FIX_ALL, Action::Plan(Plan::Fix(all))))
}
