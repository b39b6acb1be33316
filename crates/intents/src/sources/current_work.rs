//! Which imported intents are being worked on now.

use serde_json::Value;

use super::files::{SourceFiles, shared_text};
use super::source::ImportedIntent;
use ground::policy::SourceFormat;

const FEATURE: &str = ".specify/feature.json";
const TASKS_STATE: &str = ".taskmaster/state.json";

/// Returns the ids of the intents that are being worked on: the feature that Spec Kit notes, then
/// those after which the branch is named, then the begun tasks of Taskmaster's current tag.
pub(super) fn ids_of_work(
    files: &dyn SourceFiles,
    branch: Option<&str>,
    intents: &[ImportedIntent],
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |imported: &ImportedIntent| {
        let id = &imported.intent.id.value;
        if !imported.ambiguous && !found.contains(id) {
            found.push(id.clone());
        }
    };
    let has = |format| intents.iter().any(|imported| imported.format == format);
    if has(SourceFormat::Speckit) {
        let noted = json_at(files, FEATURE);
        let folder = noted.as_ref().and_then(|noted| noted.get("feature_directory")?.as_str());
        let folder = folder.map(|folder| folder.trim_start_matches("./").trim_end_matches('/'));
        let is_noted = |imported: &&ImportedIntent| Some(imported.unit.as_str()) == folder;
        intents.iter().filter(is_noted).for_each(&mut add);
    }
    if let Some(branch) = branch {
        intents.iter().filter(|imported| is_named_after(branch, imported)).for_each(&mut add);
    }
    if has(SourceFormat::Taskmaster)
        && let Some(state) = json_at(files, TASKS_STATE)
    {
        let mapped = branch.and_then(|branch| state.get("branchTagMapping")?.get(branch)?.as_str());
        let tag = mapped.or_else(|| state.get("currentTag")?.as_str()).unwrap_or("master");
        let is_begun = |imported: &&ImportedIntent| {
            let name = name_of(imported).rsplit_once('.').map(|(tag, _)| tag);
            imported.format == SourceFormat::Taskmaster
                && name == Some(tag)
                && imported.intent.in_progress()
        };
        intents.iter().filter(is_begun).for_each(&mut add);
    }
    found
}

fn json_at(files: &dyn SourceFiles, path: &str) -> Option<Value> {
    serde_json::from_str(&shared_text(files, path)).ok()
}

fn name_of(imported: &ImportedIntent) -> &str {
    let id = imported.intent.id.value.as_str();
    id.split_once(':').map_or(id, |(_, name)| name)
}

/// Returns true if a branch is named after an intent: `003-user-login`, `feature/add-login`,
/// `tasks/task-12-search`. A number alone names nothing.
fn is_named_after(branch: &str, imported: &ImportedIntent) -> bool {
    let name = name_of(imported);
    let last = branch.rsplit('/').next().unwrap_or(branch);
    match imported.format {
        SourceFormat::Adr | SourceFormat::Taskmaster | SourceFormat::Bmad => false,
        SourceFormat::Backlog => {
            let begins =
                last.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
            begins && !last[name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.')
        }
        // Git's names of branches are cut to this length by Spec Kit.
        SourceFormat::Speckit => last == name.get(..244).unwrap_or(name),
        _ => last == name,
    }
}
