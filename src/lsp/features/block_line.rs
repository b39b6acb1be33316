//! Describes a block in one line, for lenses, hints and lists: `INT-001 Sign in · claude-code · 2
//! days ago · modified, 1 line since`.

use crate::analysis::Analysis;
use ground::clock::ago;
use ground::text::{self, counted};
use ledger::Contributor;
use provenance::Verdict;
use why::answers::{self, BlockAnswer, IntentBrief, Which};
use why::{Provenance, Workspace};

/// The longest name of an intent, in characters. A line above code should stay short.
const LONGEST_NAME: usize = 60;

pub fn answer(workspace: &Workspace, analysis: &Analysis, at: usize) -> Option<BlockAnswer> {
    answers::answer(workspace, &analysis.path, &analysis.file, Which::Block(at)).blocks.pop()
}

/// Returns the answer about one block with its lines.
pub fn answer_in_full(
    workspace: &Workspace,
    analysis: &Analysis,
    at: usize,
) -> Option<BlockAnswer> {
    let Analysis { path, file, .. } = analysis;
    answers::answer_in_full(workspace, path, file, Which::Block(at)).blocks.pop()
}

/// Returns true if a line about the block is shown above the block. Only blocks with a name that an
/// intent produced, or that a person accepted, have such a line.
///
/// A block in a container, such as a method in a class, has no line if it is exactly as recorded by
/// the record of the container, because the line above the container says the same.
pub fn is_shown(analysis: &Analysis, at: usize) -> bool {
    has_record(analysis, at) && !repeats_container(analysis, at)
}

fn has_record(analysis: &Analysis, at: usize) -> bool {
    let (block, found) = (&analysis.file.blocks.blocks[at], &analysis.file.provenance[at]);
    let is_known = found.verdict != Verdict::Unrecorded || found.accepted.is_some();
    !block.identity.kind.is_unnamed() && is_known
}

fn repeats_container(analysis: &Analysis, at: usize) -> bool {
    let found = &analysis.file.provenance;
    let record = |at: usize| found[at].claim.as_ref().map(|claim| &claim.entry.record.id);
    let Some(container) = analysis.file.blocks.blocks[at].container else { return false };
    found[at].verdict == Verdict::Exact
        && has_record(analysis, container)
        && record(at).is_some()
        && record(at) == record(container)
}

/// Returns intent, author, age and difference, for the line above a block.
pub fn full(answer: &BlockAnswer, found: &Provenance) -> String {
    let age = answer.timestamp.as_deref().and_then(ago);
    let intent = answer.intent.as_ref().map(title);
    joined([intent, author(answer), age, difference(answer, found)])
}

/// Returns intent, author and difference, for the end of a line of code.
pub fn short(answer: &BlockAnswer, found: &Provenance) -> String {
    let id = answer.intent.as_ref().map(|intent| text::terminal(&intent.label()));
    joined([id, author(answer), difference(answer, found)])
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the id and the shortened name of an intent: `INT-001 Sign in`.
pub fn title(intent: &IntentBrief) -> String {
    let name = intent.name.as_deref().map(|name| text::shorten(name, LONGEST_NAME));
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    text::terminal(&format!("{}{name}", intent.id))
}

fn author(answer: &BlockAnswer) -> Option<String> {
    answer.contributor.as_ref().map(|who| self::author_name(who, answer.tool.as_deref()))
}

/// Returns the author as plain text.
pub fn author_name(contributor: &Contributor, tool: Option<&str>) -> String {
    text::terminal(&answers::author_name(contributor, tool))
}

fn difference(answer: &BlockAnswer, found: &Provenance) -> Option<String> {
    if found.accepted.is_some() {
        return Some("accepted".to_owned());
    }
    match answer.verdict {
        Verdict::Exact | Verdict::Unrecorded => None,
        Verdict::Modified if answer.only_inside => None,
        Verdict::Modified => Some(format!("modified, {}", changed_since(answer))),
        Verdict::Ambiguous => Some(text::terminal(&answer.ambiguity())),
        other => Some(other.as_str().to_owned()),
    }
}

/// Says what was done to a modified block since it was recorded.
pub fn changed_since(answer: &BlockAnswer) -> String {
    match answer.newer {
        0 => "lines removed since".to_owned(),
        newer => format!("{} since", counted(newer, "line")),
    }
}
