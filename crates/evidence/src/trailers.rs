//! Makes *trailers*: lines at the end of a commit message, such as `Intent-Id: INT-001`, that name
//! its intents, tools and models.
//!
//! The policy has the templates (`Intent-Id: {intent}`). They are filled from the commit's
//! evidence, so they do not depend on what an agent remembers to write.

use super::comparison::is_evidence;
use ground::git::{ChangeKind, Target};
use ground::text;
use ledger::{EntityType, Entry, Ledger};
use why::baseline::commits_of_work;
use why::{VerbError, Workspace};

const MAX_TRAILERS: usize = 50;

/// Returns the trailers of the commit that is being made from the index, in the order of the
/// templates. Evidence that comes from a merge, and late evidence for earlier commits, is not used.
pub fn of_commit(ws: &Workspace) -> Result<Vec<String>, VerbError> {
    let Some(git) = ws.git().filter(|_| !ws.policy.trailers.is_empty()) else {
        return Ok(Vec::new());
    };
    let bases = commits_of_work(ws)?;
    let mut files = Vec::new();
    for change in git.changes(bases.first(), &Target::Index)? {
        let is_new = change.kind == ChangeKind::Added && is_evidence(&change.path);
        let mut merged = bases.iter().skip(1);
        if is_new && !merged.any(|commit| git.has_file(commit, &change.path).unwrap_or(false)) {
            let bytes = git.file_in_index(&change.path)?.unwrap_or_default();
            files.push((change.path, bytes));
        }
    }
    let ledger = Ledger::from_files(&files);
    let mut trailers: Vec<String> = Vec::new();
    for template in &ws.policy.trailers {
        for entry in ledger.entries().iter().filter(|entry| entry.late_commit.is_none()) {
            let filled = filled(template, |name| value(ws, entry, name));
            trailers.extend(filled.filter(|trailer| !trailers.contains(trailer)));
        }
    }
    trailers.truncate(MAX_TRAILERS);
    Ok(trailers)
}

/// Returns the value of a placeholder. `tool` has no value for a person's work.
fn value(ws: &Workspace, entry: &Entry, name: &str) -> Option<String> {
    let record = &entry.record;
    let conversation = record.files.first()?.conversations.first()?;
    let who = &conversation.contributor;
    let is_agent = matches!(who.entity_type, EntityType::Ai | EntityType::Mixed);
    match name {
        "intent" => ws.intent_named(entry),
        "tool" => record.tool.as_ref().filter(|_| is_agent).map(|tool| tool.name.clone()),
        "model" => who.model_identifier.clone(),
        "session" => record.session.clone(),
        _ => None,
    }
}

/// Fills the placeholders of a template. `None` if a value is missing.
fn filled(template: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}')?;
        let value = value(name).filter(|value| !value.trim().is_empty())?;
        out.push_str(before);
        out.push_str(&text::visible(&value, false));
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_filled_as_a_whole_or_not_at_all() {
        let value = |name: &str| match name {
            "intent" => Some("INT-001".to_owned()),
            "model" => Some("a\nSigned-off-by: x".to_owned()),
            "tool" => Some(" ".to_owned()),
            _ => None,
        };
        let fill = |template| filled(template, value);
        assert_eq!(fill("Intent-Id: {intent}").as_deref(), Some("Intent-Id: INT-001"));
        assert_eq!(fill("X: {intent}/{intent}").as_deref(), Some("X: INT-001/INT-001"));
        assert_eq!(fill("X: {tool}"), None);
        assert_eq!(fill("X: {session}"), None);
        assert!(!fill("X: {model}").unwrap().contains('\n'));
    }
}
