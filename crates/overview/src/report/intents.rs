//! The intents of the report: those of the registry, and those that only records name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{ReportedFile, ReportedIntent, ReportedSuspect};
use crate::criteria::criteria_of_intent;
use crate::line_counts::LineCounts;
use crate::source::SourceBrief;
use intents::{Intent, Spanned};
use why::Workspace;

const MAX_FILES: usize = 50;
const MAX_SUSPECTS: usize = 50;

pub(super) type Suspects = BTreeMap<String, Vec<ReportedSuspect>>;

pub(super) fn intents(
    ws: &Workspace,
    counts: &LineCounts,
    mut suspects: Suspects,
) -> Vec<ReportedIntent> {
    let mut all: Vec<ReportedIntent> =
        ws.registry.intents().iter().map(|intent| reported_intent(ws, intent)).collect();
    let in_registry = ws.unread_registry().is_none().then_some(false);
    let others = counts.intents.keys().filter(|id| ws.registry.position(id).is_none());
    all.extend(others.map(|id| match ws.registry.get(id) {
        Some(intent) => reported_intent(ws, intent),
        None => ReportedIntent { id: id.clone(), in_registry, ..Default::default() },
    }));
    for intent in &mut all {
        if let Some(produced) = counts.intents.get(&intent.id) {
            intent.lines = produced.lines;
            intent.files = produced.files.len();
            let files = produced.files.iter().map(|(path, lines)| (path.clone(), *lines));
            intent.largest = files.map(|(path, lines)| ReportedFile { path, lines }).collect();
            intent.largest.sort_by_key(|file| Reverse(file.lines));
            intent.largest.truncate(MAX_FILES);
        }
        intent.suspects = suspects.remove(&intent.id).unwrap_or_default();
        intent.suspect = intent.suspects.iter().map(|suspect| suspect.lines).sum();
        intent.suspects.sort_by_key(|suspect| Reverse(suspect.lines));
        intent.suspects.truncate(MAX_SUSPECTS);
    }
    all
}

fn reported_intent(ws: &Workspace, intent: &Intent) -> ReportedIntent {
    let values = |list: &[Spanned<String>]| list.iter().map(|entry| entry.value.clone()).collect();
    let name = Some(intent.name.value.clone());
    let imported = ws.registry.imported_intent(&intent.id.value);
    ReportedIntent {
        id: intent.id.value.clone(),
        name: name.filter(|name| !name.is_empty()),
        status: intent.status.as_ref().map(|status| status.value),
        in_registry: Some(true),
        selected: ws.selected(None).as_deref() == Some(&intent.id.value),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        owned_scope: values(&intent.owned_scope),
        constraints: values(&intent.constraints),
        criteria: criteria_of_intent(ws, intent),
        related_specs: values(&intent.related_specs),
        kept: imported.map(SourceBrief::new).unwrap_or_default().without_lists(),
        ..ReportedIntent::default()
    }
}
