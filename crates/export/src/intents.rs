//! The table of intents: a row for each version.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::claims::short_hash;
use super::people::People;
use ::intents::{Intent, Registry, Spanned, Status};
use ground::policy::SourceFormat;

/// A row of the table: what an intent said from a commit on. A column without a value is left out in
/// JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IntentRow {
    pub repo: String,
    pub intent_id: String,
    /// As in the table of claims: the first 128 bits.
    pub intent_hash: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The person who asked for it, see [`People`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// `registry`, or the format in which the intent is kept: `openspec`.
    pub source: String,
    /// The file or folder that it is, if it is kept in another format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_path: Option<String>,
    pub specs: Vec<String>,
    /// The globs of its scope.
    pub scope: Vec<String>,
    /// The first commit of the range that has this version.
    pub valid_from: String,
}

#[derive(Default)]
pub struct KnownIntents(HashMap<String, (String, Option<Status>)>);

impl KnownIntents {
    pub fn changed(
        &mut self,
        registry: &Registry,
        (repo, commit): (&str, &str),
        people: &People,
    ) -> Vec<IntentRow> {
        let own = registry.intents().iter().map(|intent| (intent, None));
        let others = registry.imported().iter().map(|it| (&it.intent, Some((it.format, &it.unit))));
        let mut rows = Vec::new();
        for (intent, kept) in own.chain(others) {
            let version = (intent.hash(), intent.status.as_ref().map(|status| status.value));
            let id = &intent.id.value;
            if id.is_empty() || self.0.get(id) == Some(&version) {
                continue;
            }
            self.0.insert(id.clone(), version);
            rows.push(row(intent, kept.map(|(format, unit)| (format, unit.to_string())), people));
        }
        for row in &mut rows {
            (row.repo, row.valid_from) = (repo.to_owned(), commit.to_owned());
        }
        rows
    }
}

fn row(intent: &Intent, kept: Option<(SourceFormat, String)>, people: &People) -> IntentRow {
    let texts = |list: &[Spanned<String>]| list.iter().map(|one| one.value.clone()).collect();
    let owner = intent.owner.as_ref();
    IntentRow {
        repo: String::new(),
        intent_id: intent.id.value.clone(),
        intent_hash: short_hash(&intent.hash()).to_owned(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        owner: owner.and_then(|owner| people.written(&owner.value)),
        source: kept
            .as_ref()
            .map_or_else(|| "registry".to_owned(), |(format, _)| format.prefix().to_owned()),
        source_path: kept.map(|(_, unit)| unit),
        specs: texts(&intent.related_specs),
        scope: texts(&intent.owned_scope),
        valid_from: String::new(),
    }
}
