//! What is known of an intent that a team keeps in another format, as every answer shows it.

use schemars::JsonSchema;
use serde::Serialize;

use ground::RelativePath;
use ground::policy::SourceFormat;
use ground::text::counted;
use intents::{ImportedIntent, Requirement};

/// What another format, such as OpenSpec, says of an intent that is kept there. All fields are
/// absent for an intent of the registry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SourceBrief {
    /// The format in which the intent is kept: what stands before the colon in its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceFormat>,
    /// The file or folder that the intent is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<RelativePath>,
    /// What the status alone does not say, such as `all tasks done`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its requirements, scenarios and criteria that have a name and a place of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// The number of its tasks. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<usize>,
    /// How many of its tasks are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_done: Option<usize>,
    /// The files that it names. They propose a scope: none of them belongs to it until a person
    /// adopts it, and they need not exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scope_hints: Vec<String>,
    /// Whether several intents have its id, so that the id means none of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
}

impl SourceBrief {
    pub fn new(imported: &ImportedIntent) -> Self {
        let has_tasks = imported.tasks > 0;
        Self {
            source: Some(imported.format),
            unit: Some(imported.unit.clone()),
            note: imported.note.clone(),
            requirements: imported.requirements.clone(),
            tasks: has_tasks.then_some(imported.tasks),
            tasks_done: has_tasks.then_some(imported.tasks_done),
            scope_hints: imported.scope_hints.clone(),
            ambiguous: imported.ambiguous,
        }
    }

    pub fn without_lists(self) -> Self {
        Self { requirements: Vec::new(), scope_hints: Vec::new(), ..self }
    }

    /// Says how far the work is: `3 of 5 tasks, blocked by task 4`.
    pub fn progress(&self) -> String {
        let tasks = self.tasks.zip(self.tasks_done);
        let tasks = tasks.map(|(all, done)| format!("{done} of {}", counted(all, "task")));
        let ambiguous = self.ambiguous.then(|| "several have this id".to_owned());
        let said = tasks.into_iter().chain(self.note.clone()).chain(ambiguous);
        said.collect::<Vec<_>>().join(", ")
    }
}
