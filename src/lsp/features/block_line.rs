//! Describes a block in one line, for lenses, hints and lists: `INT-001 Sign in · claude-code · 2
//! days ago · modified 12 %`.

use crate::analysis::Analysis;
use code::Block;
use ground::clock::ago;
use ground::text;
use ledger::{Contributor, RecordKind};
use provenance::{Placement, Verdict};
use why::Workspace;
use why::answers::{self, BlockAnswer, IntentBrief, LineageStep, Which};

/// The longest name of an intent, in characters. A line above code should stay short.
const LONGEST_NAME: usize = 60;

pub fn answer(workspace: &Workspace, analysis: &Analysis, at: usize) -> Option<BlockAnswer> {
    answers::answer(workspace, &analysis.path, &analysis.file, Which::Block(at)).blocks.pop()
}

/// Returns the answer about one block with its lines and origins, which need a comparison of texts.
pub fn answer_in_full(
    workspace: &Workspace,
    analysis: &Analysis,
    at: usize,
) -> Option<BlockAnswer> {
    let Analysis { path, file, .. } = analysis;
    answers::answer_in_full(workspace, path, file, Which::Block(at)).blocks.pop()
}

/// Returns true if a line about the block is shown above the block. Only blocks with a name and a
/// record have such a line.
///
/// A block in a container, such as a method in a class, has no line if it is exactly as recorded by
/// the record of the container, because the line above the container says the same.
pub fn is_shown(analysis: &Analysis, at: usize) -> bool {
    has_record(analysis, at) && !repeats_container(analysis, at)
}

fn has_record(analysis: &Analysis, at: usize) -> bool {
    let block: &Block = &analysis.file.blocks.blocks[at];
    !block.identity.kind.is_unnamed() && analysis.file.provenance[at].verdict != Verdict::Unrecorded
}

fn repeats_container(analysis: &Analysis, at: usize) -> bool {
    let found = &analysis.file.provenance;
    let record = |at: usize| found[at].claim.map(|claim| (claim.entry, claim.conversation));
    let Some(container) = analysis.file.blocks.blocks[at].container else { return false };
    found[at].verdict == Verdict::Exact
        && has_record(analysis, container)
        && record(at).is_some()
        && record(at) == record(container)
}

/// Returns intent, author, age and difference, for the line above a block.
pub fn full(answer: &BlockAnswer) -> String {
    let age = answer.timestamp.as_deref().and_then(ago);
    let intent = answer.intent.as_ref().map(title);
    joined([intent, author(answer), age, difference(answer)])
}

/// Returns intent, author and difference, for the end of a line of code.
pub fn short(answer: &BlockAnswer) -> String {
    let id = answer.intent.as_ref().map(|intent| text::terminal(&intent.label()));
    joined([id, author(answer), difference(answer)])
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
    if is_accepted(answer) {
        return Some("accepted".to_owned());
    }
    answer.contributor.as_ref().map(|who| self::author_name(who, answer.tool.as_deref()))
}

/// Returns true if the newest record of a block is a person's acceptance. It does not say who wrote
/// the block.
pub fn is_accepted(answer: &BlockAnswer) -> bool {
    let last = answer.lineage.first();
    matches!(last, Some(LineageStep::Record(record)) if record.kind == RecordKind::Ack)
}

/// Returns the author as plain text.
pub fn author_name(contributor: &Contributor, tool: Option<&str>) -> String {
    text::terminal(&answers::author_name(contributor, tool))
}

fn difference(answer: &BlockAnswer) -> Option<String> {
    let moved = answer.place == Some(Placement::Moved);
    let text = match answer.verdict {
        Verdict::Exact | Verdict::Unrecorded => None,
        Verdict::Modified if answer.only_inside => None,
        Verdict::Modified => Some(match changed(answer) {
            Some(percent) => format!("modified {percent} %"),
            None => "modified".to_owned(),
        }),
        Verdict::Ambiguous => Some(format!("{} records fit", answer.candidates.len())),
        other => Some(other.as_str().to_owned()),
    };
    match (text, moved && answer.verdict != Verdict::Moved) {
        (Some(text), true) => Some(format!("{text}, moved")),
        (None, true) => Some("moved".to_owned()),
        (text, false) => text,
    }
}

/// Returns how many per cent of a modified block differ from the record. Never 0, since something
/// differs, and never 100, since the block was recognised.
pub fn changed(answer: &BlockAnswer) -> Option<u8> {
    let kept = answer.kept?.clamp(0.0, 1.0);
    Some((((1.0 - kept) * 100.0).round() as u8).clamp(1, 99))
}
