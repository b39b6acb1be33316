//! Describes a block in one line, for lenses and hints: `INT-001 Sign in · claude-code · 2 days ago`,
//! or `git says: Ada · 9 months ago`.
//!
//! The line says nothing of edits, so that no line appears while somebody types.

use crate::analysis::Analysis;
use crate::config::AlsoLabelled;
use code::{Block, BlockKind};
use ground::clock::ago;
use ground::git::ObjectId;
use ground::text;
use ledger::Contributor;
use provenance::Verdict;
use why::answers::{self, BlockAnswer, FileProvenance, IntentBrief, Which};
use why::{LineShare, Provenance, Workspace};

/// The longest name of an intent, in characters. A line above code should stay short.
const LONGEST_NAME: usize = 32;

pub(crate) fn answer(workspace: &Workspace, analysis: &Analysis, at: usize) -> Option<BlockAnswer> {
    answers::answer(workspace, &analysis.path, &analysis.file, Which::Block(at)).blocks.pop()
}

/// What a line says, as far as two lines can differ in more than the age.
#[derive(PartialEq)]
struct LineContent<'a> {
    intents: Vec<Option<&'a str>>,
    author: Option<String>,
    accepted: bool,
    commit: Option<ObjectId>,
}

/// Returns the blocks above which a line is shown: blocks with a name that an intent produced, or
/// that a person accepted, and those that are wanted besides. Of neighbours whose lines would say the
/// same, only the first has one.
///
/// The one line with which an `impl` or a class begins says nothing about the blocks inside. It has a
/// line only if the first of them would say the same, and ends no run.
pub(crate) fn labelled_blocks(analysis: &Analysis, also: AlsoLabelled) -> Vec<usize> {
    let file = &analysis.file;
    let (mut last, mut header) = (None, None);
    let mut shown = Vec::new();
    for (at, (block, found)) in file.blocks.blocks.iter().zip(&file.provenance).enumerate() {
        let kind = block.identity.kind;
        let is_constant = matches!(kind, BlockKind::Constant | BlockKind::Variable);
        if kind.is_unnamed() || (is_constant && !also.constants) {
            continue;
        }
        let of_git = || commit_of_most(file, found).filter(|_| also.unrecorded).map(of_commit);
        let content = content(found).or_else(of_git);
        if is_header(file, at) {
            header = content.map(|content| (at, content));
            continue;
        }
        let header = header.take().filter(|(_, said)| content.as_ref() == Some(said));
        match content {
            Some(content) if last.as_ref() != Some(&content) => {
                shown.push(header.map_or(at, |(at, _)| at));
                last = Some(content);
            }
            None if commit_of_most(file, found).is_some() => last = None,
            _ => {}
        }
    }
    shown
}

/// Returns true if the block has only one line beside the blocks that it contains.
fn is_header(file: &FileProvenance, at: usize) -> bool {
    let blocks = &file.blocks.blocks;
    let contains = |next: &Block| next.bytes.start < blocks[at].bytes.end;
    let is_told = |share: &&LineShare| {
        let version = share.version.map(|at| &file.lines.versions[at]);
        share.claim.is_some() || version.is_some_and(|version| !version.is_uncommitted())
    };
    let told = file.provenance[at].shares.iter().filter(is_told);
    let lines: usize = told.map(|share| share.lines).sum();
    lines <= 1 && blocks.get(at + 1).is_some_and(contains)
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
    Some(LineContent { intents, author, accepted, commit: None })
}

fn of_commit<'a>(commit: ObjectId) -> LineContent<'a> {
    LineContent { intents: Vec::new(), author: None, accepted: false, commit: Some(commit) }
}

/// Returns the commit that brought most lines of a block of git; `None` for other blocks. What
/// somebody is typing does not count, so that nothing jumps.
fn commit_of_most(file: &FileProvenance, found: &Provenance) -> Option<ObjectId> {
    let recorded = found.shares.iter().filter(|share| share.claim.is_some());
    let recorded: usize = recorded.map(|share| share.lines).sum();
    let of_git = found.shares.iter().filter(|share| share.claim.is_none());
    let of_git = of_git.filter_map(|share| {
        let version = &file.lines.versions[share.version?];
        (!version.is_uncommitted()).then_some((share.lines, version.commit))
    });
    let lines: usize = of_git.clone().map(|(lines, _)| lines).sum();
    // The first of several that brought as many, as in the answer of `why`.
    let most = of_git.reduce(|most, next| if next.0 > most.0 { next } else { most });
    most.filter(|_| lines > recorded).map(|(_, commit)| commit)
}

pub(crate) fn full(answer: &BlockAnswer) -> String {
    let age = answer.timestamp.as_deref().and_then(ago);
    let intent = answer.intent.as_ref().map(|intent| title(intent, LONGEST_NAME));
    let said = of_unrecorded(answer, |intent| title(intent, LONGEST_NAME), ago);
    said.unwrap_or_else(|| joined_parts([intent, author(answer), age, remark(answer)]))
}

pub(crate) fn short_line(answer: &BlockAnswer) -> String {
    let id = |intent: &IntentBrief| text::terminal(&intent.label());
    let said = of_unrecorded(answer, id, |_| None);
    said.unwrap_or_else(|| {
        let mut authors = answer.authors().into_iter();
        let author = authors.next().map(|first| match authors.next() {
            Some(_) => format!("{} and others", text::terminal(&first)),
            None => text::terminal(&first),
        });
        joined_parts([answer.intent.as_ref().map(id), author, remark(answer)])
    })
}

fn of_unrecorded(
    answer: &BlockAnswer,
    written: impl Fn(&IntentBrief) -> String,
    age: fn(&str) -> Option<String>,
) -> Option<String> {
    if answer.verdict != Verdict::Unrecorded || answer.accepted.is_some() {
        return None;
    }
    let Some(origin) = &answer.origin else {
        let missing = answer.history_missing.then_some("history is missing here");
        return Some(missing.unwrap_or("no record").to_owned());
    };
    let age = origin.commit.timestamp.as_deref().and_then(age);
    let author = text::terminal(&origin.commit.author);
    Some(match &origin.intent {
        Some(intent) => {
            let strength = origin.known_by.in_words().to_owned();
            joined_parts([Some(written(intent)), Some(strength), Some(author), age])
        }
        None => joined_parts([Some(format!("git says: {author}")), age]),
    })
}

fn joined_parts<const N: usize>(parts: [Option<String>; N]) -> String {
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

/// Returns who brought the lines under the intent of a block. `None` if no record names it.
pub(crate) fn author(answer: &BlockAnswer) -> Option<String> {
    let authors = answer.authors();
    (!authors.is_empty()).then(|| text::terminal(&text::joined_words(authors)))
}

pub(crate) fn author_name(contributor: &Contributor, tool: Option<&str>) -> String {
    text::terminal(&answers::author_name(contributor, tool))
}

fn remark(answer: &BlockAnswer) -> Option<String> {
    let is_tie = !answer.candidates.is_empty();
    let tie = is_tie.then(|| text::terminal(&answer.ambiguity()));
    let accepted = answer.accepted.as_ref().map(|_| "accepted".to_owned());
    Some(joined_parts([tie, accepted])).filter(|said| !said.is_empty())
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
