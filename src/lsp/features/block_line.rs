//! Describes a block in one line, for lenses and hints: `INT-001 Sign in · claude-code · 2 days ago`.
//!
//! The line says nothing of edits, so that no line appears while somebody types.

use crate::analysis::Analysis;
use code::BlockKind;
use ground::clock::ago;
use ground::text;
use ledger::Contributor;
use provenance::Verdict;
use why::answers::{self, BlockAnswer, FileProvenance, IntentBrief, Which};
use why::{LineShare, Provenance, Workspace};

/// The longest name of an intent, in characters. A line above code should stay short.
const LONGEST_NAME: usize = 32;

pub fn answer(workspace: &Workspace, analysis: &Analysis, at: usize) -> Option<BlockAnswer> {
    answers::answer(workspace, &analysis.path, &analysis.file, Which::Block(at)).blocks.pop()
}

/// What a line says, as far as two lines can differ in more than the age.
#[derive(PartialEq)]
struct LineContent<'a> {
    intents: Vec<Option<&'a str>>,
    author: Option<String>,
    accepted: bool,
}

/// Returns the blocks above which a line is shown: blocks with a name that an intent produced, or
/// that a person accepted. Of neighbours whose lines would say the same, only the first has one.
/// Constants and variables have none unless they are wanted.
pub(crate) fn labelled_blocks(analysis: &Analysis, constants: bool) -> Vec<usize> {
    let file = &analysis.file;
    let mut last = None;
    let mut shown = Vec::new();
    for (at, (block, found)) in file.blocks.blocks.iter().zip(&file.provenance).enumerate() {
        let kind = block.identity.kind;
        let is_constant = matches!(kind, BlockKind::Constant | BlockKind::Variable);
        if kind.is_unnamed() || (is_constant && !constants) {
            continue;
        }
        match content(found) {
            Some(content) if last.as_ref() != Some(&content) => {
                shown.push(at);
                last = Some(content);
            }
            None if is_mostly_of_git(file, found) => last = None,
            _ => {}
        }
    }
    shown
}

fn content(found: &Provenance) -> Option<LineContent<'_>> {
    let accepted = found.accepted.is_some();
    if found.verdict == Verdict::Unrecorded && !accepted {
        return None;
    }
    let author = found.claim.as_ref().and_then(|claim| {
        let tool = claim.entry.record.tool.as_ref().map(|tool| tool.name.as_str());
        Some(answers::author_name(&claim.conversation()?.contributor, tool))
    });
    let claims = found.claim.iter().chain(&found.candidates);
    let intents = claims.map(|claim| claim.intent()).collect();
    Some(LineContent { intents, author, accepted })
}

/// Returns true for a block of git. What somebody is typing does not count, so that nothing jumps.
fn is_mostly_of_git(file: &FileProvenance, found: &Provenance) -> bool {
    let is_committed = |at: usize| !file.lines.versions[at].is_uncommitted();
    let lines = |is_wanted: &dyn Fn(&LineShare) -> bool| -> usize {
        let shares = found.shares.iter().filter(|share| is_wanted(share));
        shares.map(|share| share.lines).sum()
    };
    let recorded = lines(&|share| share.claim.is_some());
    lines(&|share| share.claim.is_none() && share.version.is_some_and(is_committed)) > recorded
}

/// Returns intent, author and age, for the line above a block.
pub fn full(answer: &BlockAnswer) -> String {
    let age = answer.timestamp.as_deref().and_then(ago);
    let intent = answer.intent.as_ref().map(|intent| title(intent, LONGEST_NAME));
    joined([intent, author(answer), age, remark(answer)])
}

/// Returns intent and author, for the end of a line of code.
pub fn short(answer: &BlockAnswer) -> String {
    let id = answer.intent.as_ref().map(|intent| text::terminal(&intent.label()));
    joined([id, author(answer), remark(answer)])
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the id and the name of an intent: `INT-001 Sign in`. A name with more than `most`
/// characters is cut between two words.
pub(crate) fn title(intent: &IntentBrief, most: usize) -> String {
    let name = intent.name.as_deref().map(|name| format!(" {}", cut_at_word(name, most)));
    text::terminal(&format!("{}{}", intent.id, name.unwrap_or_default()))
}

fn cut_at_word(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let cut: String = name.chars().take(most).collect();
    match cut.rsplit_once(char::is_whitespace) {
        Some((words, _)) if !words.trim().is_empty() => format!("{}…", words.trim_end()),
        _ => text::shorten(name, most),
    }
}

fn author(answer: &BlockAnswer) -> Option<String> {
    answer.contributor.as_ref().map(|who| self::author_name(who, answer.tool.as_deref()))
}

/// Returns the author as plain text.
pub fn author_name(contributor: &Contributor, tool: Option<&str>) -> String {
    text::terminal(&answers::author_name(contributor, tool))
}

fn remark(answer: &BlockAnswer) -> Option<String> {
    if answer.accepted.is_some() {
        return Some("accepted".to_owned());
    }
    (answer.verdict == Verdict::Ambiguous).then(|| text::terminal(&answer.ambiguity()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_between_two_words() {
        let title = |name: &str| {
            let name = Some(name.to_owned());
            title(&IntentBrief { id: "I-1".to_owned(), name, ..IntentBrief::default() }, 12)
        };
        assert_eq!(title("Sign in at la"), "I-1 Sign in at…");
        assert_eq!(title("Sign in soon"), "I-1 Sign in soon");
        assert_eq!(title("Authentication"), "I-1 Authenticat…");
    }
}
