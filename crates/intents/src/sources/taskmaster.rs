//! Taskmaster: one JSON file with all tasks, in lists that are called tags.

use std::ops::Range;

use serde_json::{Map, Value};

use super::super::Status;
use super::files::SourceFiles;
use super::hints::add_paths;
use super::source::{ImportedIntent, MAX_INTENTS, ReadText, Source, SourceUnit, spanned};
use ground::RelativePath;
use ground::policy::SourceFormat;

pub(super) struct Taskmaster;

const FILE: &str = ".taskmaster/tasks/tasks.json";
/// The tag of a file that has none, from before there were tags.
const ONLY_TAG: &str = "master";

impl Source for Taskmaster {
    /// The file is rewritten as a whole and has all tasks, so it is larger than others.
    fn units(&self, files: &dyn SourceFiles) -> Vec<SourceUnit> {
        let found = files.list(".taskmaster/tasks").into_iter().map(|entry| entry.path);
        let file = found.filter(|path| path.as_str() == FILE);
        file.map(|path| SourceUnit::of_file(path, "")).collect()
    }

    fn read(&self, unit: &SourceUnit, text: ReadText<'_>) -> Vec<ImportedIntent> {
        let Some(text) = text(&unit.place) else { return Vec::new() };
        let root = serde_json::from_str(text.trim_start_matches('\u{feff}'));
        let Ok(Value::Object(root)) = root.inspect_err(|error| {
            tracing::warn!("{FILE} does not parse: {error}");
        }) else {
            return Vec::new();
        };
        let tags: Vec<(&str, &Vec<Value>)> = match root.get("tasks") {
            Some(Value::Array(tasks)) => vec![(ONLY_TAG, tasks)],
            _ => root
                .iter()
                .filter_map(|(tag, of)| Some((tag.as_str(), of.get("tasks")?.as_array()?)))
                .collect(),
        };
        let mut titles = TitlePlaces { text: &text, at: 0 };
        let mut found = Vec::new();
        for (tag, tasks) in tags {
            for task in tasks.iter().filter_map(Value::as_object) {
                found.extend(read_task(tag, task, &unit.place, &mut titles));
            }
        }
        found.truncate(MAX_INTENTS);
        found
    }
}

/// Finds the titles of tasks in the text, in their order.
struct TitlePlaces<'t> {
    text: &'t str,
    at: usize,
}

impl TitlePlaces<'_> {
    fn next_place(&mut self, title: &str) -> Range<usize> {
        const KEY: &str = "\"title\"";
        while let Some(key) = self.text[self.at..].find(KEY) {
            let after = &self.text[self.at + key + KEY.len()..];
            self.at += key + KEY.len();
            let Some(value) = after.trim_start().strip_prefix(':').map(str::trim_start) else {
                continue;
            };
            let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
            if values.next().and_then(Result::ok).as_deref() == Some(title) {
                let start = self.at + after.len() - value.len();
                self.at = start + values.byte_offset();
                return start..self.at;
            }
        }
        // Without one, the text ends and so do the places. All is read only once.
        self.at = self.text.len();
        0..0
    }
}

fn read_task(
    tag: &str,
    task: &Map<String, Value>,
    file: &RelativePath,
    titles: &mut TitlePlaces<'_>,
) -> Option<ImportedIntent> {
    let id = text_of_id(task.get("id")?)?;
    let said = |key: &str| task.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut imported = ImportedIntent::new(SourceFormat::Taskmaster, &format!("{tag}.{id}"), file);
    let title = task.get("title").and_then(Value::as_str);
    let place = title.map_or(0..0, |title| titles.next_place(title));
    imported.set_name(said("title").to_owned(), place);
    let status = match said("status") {
        "done" => Some(Status::Completed),
        "in-progress" | "review" => Some(Status::InProgress),
        "deferred" => Some(Status::Blocked),
        "cancelled" => Some(Status::Archived),
        "pending" => Some(Status::Pending),
        _ => None,
    };
    imported.set_status(status, 0..0);
    imported.reason = Some(said("description").trim().to_owned()).filter(|text| !text.is_empty());
    let subtasks = task.get("subtasks").and_then(Value::as_array);
    let subtasks: Vec<&Map<String, Value>> =
        subtasks.into_iter().flatten().filter_map(Value::as_object).collect();
    let mut criteria = vec![said("testStrategy")];
    for subtask in &subtasks {
        match subtask.get("acceptanceCriteria") {
            Some(Value::Array(list)) => criteria.extend(list.iter().filter_map(Value::as_str)),
            Some(Value::String(text)) => criteria.push(text),
            _ => {}
        }
        imported.tasks += 1;
        imported.tasks_done += usize::from(subtask.get("status") == Some(&Value::from("done")));
    }
    let criteria = criteria.into_iter().map(str::trim).filter(|text| !text.is_empty());
    let criteria = criteria.map(|text| spanned(text.to_owned(), 0..0));
    imported.intent.acceptance_criteria = criteria.collect();
    for dependency in task.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
        let id = text_of_id(dependency);
        id.into_iter().for_each(|id| imported.add_related(format!("taskmaster:{tag}.{id}")));
    }
    for one in std::iter::once(task).chain(subtasks) {
        let texts = ["title", "description", "details", "testStrategy"];
        let texts = texts.iter().filter_map(|key| one.get(*key)?.as_str());
        texts.for_each(|text| add_paths(text, &mut imported.scope_hints));
    }
    imported.scope_hints.retain(|path| !path.starts_with(".taskmaster/"));
    Some(imported)
}

/// An id is a number or a text.
fn text_of_id(id: &Value) -> Option<String> {
    match id {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}
