//! Proposals of an agent that only a person can approve: a wider scope, a new intent, a lesson.

use std::collections::HashSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lesson::{Asker, LessonAnswer, LessonRequest};
use super::{approval, control, lesson, scope_notes};
use ground::RelativePath;
use ground::approvals::{self, Approval, Request, Subject};
use intents::Scope;
use intents::scope::{MAX_ENTRIES, MAX_LENGTH};
use why::lesson_error::LessonError;
use why::{VerbError, Workspace};

/// The maximum number of entries or sentences in a proposal, so that a person can read them on one
/// page.
const MAX_LISTED: usize = 24;
/// The maximum length of a sentence, in characters.
const MAX_SENTENCE: usize = 500;
/// The maximum length of an intent's name, in characters.
const MAX_NAME: usize = 120;

/// A proposal that now waits for a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProposalAnswer {
    /// The question that a person has to answer.
    pub approval: Approval,
    /// What the agent should do now.
    pub message: String,
    /// One sentence for each glob that probably does not match the intended files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct ScopeProposal {
    pub intent: String,
    pub entries: Vec<String>,
    pub reason: String,
}

/// A proposal for a new intent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntentProposal {
    /// The name of the intent.
    pub name: String,
    /// The globs of the files that the intent would own, relative to the workspace.
    pub scope: Vec<String>,
    /// Why the intent is needed, as one sentence for the person who decides.
    pub reason: String,
    /// Rules that must hold while working under the intent.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Criteria that decide when the intent is complete.
    #[serde(default)]
    pub acceptance: Vec<String>,
}

pub fn request_scope(
    ws: &Workspace,
    actor: &str,
    cwd: &Path,
    wanted: ScopeProposal,
) -> Result<ProposalAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent(&wanted.intent)?;
    let id = intent.id.value.clone();
    let entries = trimmed_entries(wanted.entries);
    if entries.is_empty() {
        return refuse("name at least one glob to add to the scope");
    }
    if let Some(entry) = entries.iter().find(|entry| entry.starts_with('!')) {
        return refuse(format!(
            "{entry} would make the scope narrower; propose what it should own besides"
        ));
    }
    check_entries(&entries)?;
    let held = intent.scope_entries();
    if entries.iter().all(|entry| held.contains(&entry.as_str())) {
        let owned = entries.join(", ");
        return refuse(format!("{id} owns {owned} already; no approval is needed"));
    }
    let count = held.len();
    if count + entries.len() > MAX_ENTRIES {
        return refuse(format!("{id} holds {count} scope entries and may hold {MAX_ENTRIES}"));
    }
    let reason = sentence("the reason", &wanted.reason)?;
    let notes = scope_notes::notes(ws, &entries, cwd);
    let subject = Subject::Scope { intent: id, entries, reason };
    ask(ws, request(ws, actor, cwd, subject), notes)
}

pub fn propose_intent(
    ws: &Workspace,
    actor: &str,
    cwd: &Path,
    wanted: IntentProposal,
) -> Result<ProposalAnswer, VerbError> {
    ws.governed()?;
    ws.sound_registry()?;
    let name = sentence("the name", &wanted.name)?;
    if name.chars().count() > MAX_NAME {
        return refuse(format!("the name is longer than {MAX_NAME} characters"));
    }
    let scope = trimmed_entries(wanted.scope);
    if !scope.iter().any(|entry| !entry.starts_with('!')) {
        return refuse("name at least one glob that the intent would own");
    }
    check_entries(&scope)?;
    let reason = sentence("the reason", &wanted.reason)?;
    let constraints = sentences("a constraint", wanted.constraints)?;
    let acceptance = sentences("an acceptance criterion", wanted.acceptance)?;
    let notes = scope_notes::notes(ws, &scope, cwd);
    let subject = Subject::Intent { name, scope, constraints, acceptance, reason };
    ask(ws, request(ws, actor, cwd, subject), notes)
}

#[derive(Clone, Debug)]
pub enum Proposed {
    Written(LessonAnswer),
    Asked(Box<ProposalAnswer>),
}

/// Writes a lesson. If the policy requires a person's approval, it asks a person, and writes the
/// lesson on the next call after the approval.
pub fn lesson(ws: &Workspace, cwd: &Path, wanted: &LessonRequest) -> Result<Proposed, VerbError> {
    match lesson::record(ws, wanted) {
        Ok(written) => return Ok(Proposed::Written(written)),
        Err(VerbError::Lesson(LessonError::ForAPerson | LessonError::Instructs { .. })) => {}
        Err(error) => return Err(error),
    }
    let actor = wanted.session.clone().unwrap_or_default();
    let subject = Subject::Lesson { text: sentence("the lesson", &wanted.text)? };
    let request = request(ws, &actor, cwd, subject);
    if approvals::take(&ws.root, &request.binding()).is_none() {
        return Ok(Proposed::Asked(Box::new(ask(ws, request, Vec::new())?)));
    }
    let approved = LessonRequest { asker: Asker::Person, ..wanted.clone() };
    Ok(Proposed::Written(lesson::record(ws, &approved)?))
}

fn request(ws: &Workspace, actor: &str, cwd: &Path, subject: Subject) -> Request {
    let head = ws.head().map(|head| head.0.clone());
    Request { subject, actor: actor.to_owned(), cwd: cwd.to_path_buf(), head }
}

fn ask(ws: &Workspace, request: Request, notes: Vec<String>) -> Result<ProposalAnswer, VerbError> {
    let approval = approvals::ask(&ws.root, request)?;
    let message = approval::instructions(&approval);
    Ok(ProposalAnswer { approval, message, notes })
}

/// Returns an error if a scope entry is not a valid glob inside the workspace, or if it matches a
/// file that controls the gate.
pub(crate) fn check_entries(entries: &[String]) -> Result<(), VerbError> {
    let count = entries.len();
    if count > MAX_LISTED {
        return refuse(format!(
            "{count} globs are more than a person reads; propose at most {MAX_LISTED}"
        ));
    }
    if let Some(long) = entries.iter().find(|entry| entry.chars().count() > MAX_LENGTH) {
        let start: String = long.chars().take(40).collect();
        return refuse(format!("the glob {start}… is longer than {MAX_LENGTH} characters"));
    }
    if let Some(hidden) = entries.iter().find(|entry| hides_part(entry)) {
        return refuse(format!("the glob {hidden:?} holds a character that cannot be seen"));
    }
    if let Some((at, problem)) = Scope::new(entries).errors().first() {
        let entry = entries.get(*at).map_or("", String::as_str);
        return refuse(format!("the glob {entry}: {problem}"));
    }
    let mut positive = entries.iter().filter(|entry| !entry.starts_with('!'));
    match positive.find_map(|entry| Some((entry, control_file(entry)?))) {
        None => Ok(()),
        Some((entry, control)) => refuse(format!(
            "the glob {entry} includes {control}, which controls the gate or the agents; use a narrower glob"
        )),
    }
}

fn control_file(entry: &str) -> Option<String> {
    let scope = Scope::new(&[entry]);
    if let Some(path) = control::taken_in_by(&scope) {
        return Some(path);
    }
    // The entry taken as a path, with `x` in place of its wildcards.
    let literal = entry.trim_start_matches(['.', '/']).len();
    let plain = |path: &str| path.replace("**", "x").replace(['*', '?'], "x");
    let candidates = [plain(entry), plain(&entry[entry.len() - literal..])];
    let mut paths = candidates.iter().filter_map(|path| RelativePath::new(path).ok());
    Some(paths.find(|path| control::is_control_path(path.as_str()))?.to_string())
}

fn hides_part(text: &str) -> bool {
    text.chars().any(char::is_control) || !ground::text::invisible_characters(text).is_empty()
}

fn trimmed_entries(entries: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let trimmed = entries.into_iter().map(|entry| entry.trim().to_owned());
    trimmed.filter(|entry| !entry.is_empty() && seen.insert(entry.clone())).collect()
}

/// Returns the text as one line. It is an error if the line is empty, too long to be read by a
/// person, or contains invisible characters.
fn sentence(what: &str, text: &str) -> Result<String, VerbError> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return refuse(format!("{what} is missing; say it in a few words, a person will read it"));
    }
    if text.chars().count() > MAX_SENTENCE {
        return refuse(format!("{what} is longer than {MAX_SENTENCE} characters"));
    }
    if hides_part(&text) {
        return refuse(format!("{what} holds a character that cannot be seen"));
    }
    Ok(text)
}

fn sentences(what: &str, texts: Vec<String>) -> Result<Vec<String>, VerbError> {
    if texts.len() > MAX_LISTED {
        return refuse(format!("{} are more than a person reads: {what}", texts.len()));
    }
    texts.iter().map(|text| sentence(what, text)).collect()
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, VerbError> {
    Err(VerbError::Proposal(reason.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_globs_are_refused() {
        for entry in [
            "../x",
            "/../x",
            ".orchestration/**",
            "a/.orchestration/x",
            ".git/**",
            ".git/hooks/*",
            "./.git/config",
            ".GIT/config",
            ".intentignore",
            "sub/.gitattributes",
            "**",
            "*",
            "**/*.json",
            ".*",
            ".*/**",
            ".claude/**",
            ".mcp.json",
            "src/[z",
            "src/\u{202e}x",
            "src/\u{7}x",
        ] {
            assert!(check_entries(&[entry.to_owned()]).is_err(), "{entry}");
        }
        let many: Vec<String> = (0..MAX_LISTED + 1).map(|n| format!("src/{n}")).collect();
        assert!(check_entries(&many).is_err());
        assert!(check_entries(&["x".repeat(MAX_LENGTH + 1)]).is_err());
    }

    #[test]
    fn permitted_globs_can_be_proposed() {
        for entry in ["src/**", "docs/a.md", "!src/x.rs", "src/[id].ts", "*.md", ".github/x.md"] {
            let checked = check_entries(&[entry.to_owned()]);
            assert!(checked.is_ok(), "{entry}: {checked:?}");
        }
    }

    #[test]
    fn sentences_are_short_complete_and_visible() {
        assert_eq!(sentence("x", " a\n b ").ok().as_deref(), Some("a b"));
        for bad in ["", "  ", "a\u{202e}b", "a\u{1b}[2Jb"] {
            assert!(sentence("x", bad).is_err(), "{bad:?}");
        }
        assert!(sentence("x", &"x".repeat(MAX_SENTENCE + 1)).is_err());
    }
}
