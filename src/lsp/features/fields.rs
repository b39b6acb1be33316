//! Explains the fields of the registry at the place where they are written.

use std::ops::Range;

use super::intent_text;
use super::prose::Prose;
use crate::workspace_view::{DocumentPosition, WorkspaceView};
use intents::dialect::Field;
use intents::{Intent, IntentFile, Status};

pub(crate) struct RegistryField {
    /// The intent in the editor's text, saved or not.
    intent: Intent,
    meaning: Field,
    pub span: Range<usize>,
}

/// Returns the field at a position. `None` outside of the registry and of its intents.
pub(crate) fn field_at(place: &DocumentPosition<'_>) -> Option<RegistryField> {
    if !place.file.is_registry() {
        return None;
    }
    let file = IntentFile::parse(place.file.path.clone(), &place.file.open.document.text());
    let holds = |span: &Range<usize>| (span.start..=span.end).contains(&place.byte);
    let index = file.intents().iter().position(|intent| holds(&intent.span))?;
    let written = file.written(index);
    let found = written
        .places
        .iter()
        .find(|it| holds(&(it.key.span.start..it.value.span.end.max(it.key.span.end))))?;
    let span = [&found.key.span, &found.value.span].into_iter().find(|span| holds(span));
    let span = span.unwrap_or(&found.key.span).clone();
    Some(RegistryField { intent: file.intents()[index].clone(), meaning: found.field, span })
}

pub(crate) fn explain(view: WorkspaceView<'_>, field: &RegistryField, mut text: Prose) -> Prose {
    let intent = &field.intent;
    if field.meaning == Field::Id {
        return intent_text::describe(view, &intent.id.value, text);
    }
    text.paragraph(&format!(
        "{} – {}",
        text.strong(field.meaning.key()),
        meaning_of_field(field.meaning)
    ));
    match field.meaning {
        Field::Status => {
            let life = Status::ALL.map(|status| text.code(status.as_str()));
            text.paragraph(&format!("One of {}.", life.join(", ")));
        }
        Field::Scope => entries(&mut text, intent.owned_scope.len()),
        Field::Constraints => entries(&mut text, intent.constraints.len()),
        Field::Acceptance => entries(&mut text, intent.acceptance_criteria.len()),
        Field::Specs => {
            text.list("Here", &intent_text::specs(view, intent, &text));
        }
        Field::Id | Field::Name | Field::Owner | Field::Formerly => {}
    }
    text
}

fn entries(text: &mut Prose, number: usize) {
    let noun = if number == 1 { "entry" } else { "entries" };
    text.paragraph(&format!("{number} {noun}."));
}

fn meaning_of_field(field: Field) -> &'static str {
    match field {
        Field::Id => "what code, commits and records cite.",
        Field::Name => "what the intent is called, in a few words.",
        Field::Status => {
            "where the intent stands in its life. It can be selected, and its files written, only while it is in progress."
        }
        Field::Scope => {
            "the files this intent owns: globs from the workspace's root, the last match wins, an exclamation mark excludes, a slash at the end means everything below."
        }
        Field::Constraints => {
            "what must hold, whatever else changes. Shown to every agent that selects the intent."
        }
        Field::Acceptance => "when the intent is done. Shown to every agent that selects it.",
        Field::Specs => "the requirements this intent serves: ids, or paths of files.",
        Field::Owner => "who asked for it.",
        Field::Formerly => {
            "the ids this intent had before. The ledger is never rewritten. Records under those ids belong to this intent."
        }
    }
}
