//! The lines of a block: which record, or which commit, brought each of them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Workspace;
use crate::answers::asked::asked_for;
use crate::answers::origin::origin_of;
use crate::answers::{
    AskedFor, BlockAnswer, CommitBrief, FileProvenance, IntentBrief, OriginAnswer, RecordBrief,
    brief_then, commit_brief, known_intent, record_brief,
};
use claims::{ClaimedLine, Claims};
use ground::CommitId;
use ground::git::Target;
use ground::text::{counted, joined_words};
use history::{FileVersion, LineSource};
use provenance::Verdict;

/// The lines of a block, without those of inner blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockLines {
    /// Runs of lines, in order. Together they are all lines of the block, without those of inner
    /// blocks.
    pub runs: Vec<LineRun>,
}

/// Consecutive lines that have the same origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineRun {
    /// The first line, counted from 1 in the present file.
    pub start: u32,
    /// The last line, counted from 1 in the present file.
    pub end: u32,
    /// What is known about the lines.
    pub state: LineState,
    /// The record that brought the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<RecordBrief>,
    /// The commit that brought the lines. Absent if they are not committed, or if the history that
    /// says it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What is known about lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    /// A record brought them.
    AsRecorded,
    /// No record is about them.
    Unrecorded,
    /// This clone lacks the history that says who brought them.
    HistoryMissing,
    /// A program converts the file for git, so nobody can tell who brought them.
    Converted,
}

impl LineState {
    /// Says why nobody is named. `None` if it is known whether a record is about the lines.
    pub fn unknown(self) -> Option<&'static str> {
        match self {
            Self::HistoryMissing => Some("history is missing here"),
            Self::Converted => Some("nobody can tell"),
            Self::AsRecorded | Self::Unrecorded => None,
        }
    }

    /// Returns the state of lines whose origin is not known.
    pub(super) fn of_unknown(file: &FileProvenance) -> Self {
        if file.is_converted { Self::Converted } else { Self::HistoryMissing }
    }
}

/// Who brought one line of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LineAnswer {
    /// The number of the line, counted from 1.
    pub line: u32,
    /// What is known about the line.
    pub state: LineState,
    /// The record that brought the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<RecordBrief>,
    /// The intent under which the line was brought.
    pub intent: Option<IntentBrief>,
    /// What another tool claims about the line, if no record is about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<ClaimedLine>,
    /// What is known of the line if no record is about it, by its commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginAnswer>,
    /// Who asked for the intent, that of the record or of the commit, for which requirements, and under which constraints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedFor>,
    /// The commit that brought the line. Absent if it is not committed, or if the history that says
    /// it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitBrief>,
    /// Whether the line is in no commit yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
}

/// Returns who brought a line. `None` for the empty line after the last line break.
pub fn line_answer(ws: &Workspace, file: &FileProvenance, line: u32) -> Option<LineAnswer> {
    line_answer_with(&mut OtherTools::new(ws), file, line)
}

pub(super) fn line_answer_with(
    tools: &mut OtherTools<'_>,
    file: &FileProvenance,
    line: u32,
) -> Option<LineAnswer> {
    let ws = tools.ws;
    let source = file.lines.lines.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let claim = source.claim.map(|at| &file.lines.claims[at]);
    let intent = claim.and_then(|claim| brief_then(ws, claim));
    let LineRun { state, from, commit, .. } = run_at(ws, file, line, source);
    let version = source.version.map(|at| &file.lines.versions[at]);
    let of_commit = commit.clone().filter(|_| state == LineState::Unrecorded).map(CommitId);
    let origin =
        of_commit.and_then(|commit| origin_of(ws, &commit, file.lines.newer_format.is_some()));
    Some(LineAnswer {
        line,
        state,
        from,
        asked: known_intent(&intent, &origin)
            .and_then(|intent| asked_for(ws, intent, claim.map(|one| &**one))),
        intent,
        claimed: claims_of(tools, file, [source]).pop().map(|(_, claimed)| claimed),
        origin,
        commit: commit.and_then(|commit| commit_brief(ws, &CommitId(commit))),
        uncommitted: version.is_some_and(FileVersion::is_uncommitted),
    })
}

/// How many lines of a block another tool claims for the same agent or person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimShare {
    /// How many lines.
    pub lines: usize,
    /// What is claimed of them.
    #[serde(flatten)]
    pub claimed: ClaimedLine,
}

/// What other tools recorded in a workspace. It is opened when the first question comes, because most
/// repositories have none.
pub(super) struct OtherTools<'a> {
    ws: &'a Workspace,
    claims: Option<Option<Claims<'a>>>,
}

impl<'a> OtherTools<'a> {
    pub(super) fn new(ws: &'a Workspace) -> Self {
        Self { ws, claims: None }
    }

    fn of_line(&mut self, version: &FileVersion, line: usize) -> Option<ClaimedLine> {
        let ws = self.ws;
        let open = || {
            let ledger = match ws.files() {
                Target::Commit(_) => &ws.ledger,
                Target::WorkTree | Target::Index => &ws.journal,
            };
            let claims = Claims::open(ws.git()?, &ws.root).ok()?;
            Some(claims.with_ledger(ledger.entries()))
        };
        let claims = self.claims.get_or_insert_with(open).as_mut()?;
        claims.of_line(version.commit, version.path.as_ref(), line)
    }
}

pub(super) fn claims_about(
    tools: &mut OtherTools<'_>,
    file: &FileProvenance,
    at: usize,
) -> Vec<ClaimShare> {
    let own = file.provenance[at].own.iter().map(|(_, source)| source);
    let found = claims_of(tools, file, own);
    let mut shares: Vec<ClaimShare> =
        found.into_iter().map(|(lines, claimed)| ClaimShare { lines, claimed }).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.lines));
    shares
}

/// Returns what other tools claim about lines that no record is about, each claim once, with the number
/// of lines.
fn claims_of<'a>(
    tools: &mut OtherTools<'_>,
    file: &FileProvenance,
    lines: impl IntoIterator<Item = &'a LineSource>,
) -> Vec<(usize, ClaimedLine)> {
    let mut found: Vec<(usize, ClaimedLine)> = Vec::new();
    for source in lines.into_iter().filter(|source| source.claim.is_none() && !source.is_missing) {
        let version = source.version.map(|at| &file.lines.versions[at]);
        let Some(version) = version.filter(|version| !version.is_uncommitted()) else { continue };
        let Some(claimed) = tools.of_line(version, source.line_there) else { continue };
        match found.iter_mut().find(|(_, known)| *known == claimed) {
            Some((lines, _)) => *lines += 1,
            None => found.push((1, claimed)),
        }
    }
    found
}

/// Lines of a block that are newer than its record and have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewerLines {
    /// How many lines.
    pub lines: usize,
    /// The author of their commits, as git names them. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Whether the lines are in no commit yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
}

pub(super) fn newer_by(
    ws: &Workspace,
    file: &FileProvenance,
    lines: &[LineSource],
) -> Vec<NewerLines> {
    let mut found: Vec<NewerLines> = Vec::new();
    for source in lines {
        let version = source.version.map(|at| &file.lines.versions[at]);
        let uncommitted = version.is_some_and(FileVersion::is_uncommitted);
        let commit = version.filter(|_| !uncommitted && !source.is_missing);
        let commit = commit.map(|version| CommitId(version.commit.to_string()));
        let author = commit.and_then(|commit| Some(commit_brief(ws, &commit)?.author));
        let new = NewerLines { lines: 1, author, uncommitted };
        let is_same = |known: &&mut NewerLines| {
            (&known.author, known.uncommitted) == (&new.author, new.uncommitted)
        };
        match found.iter_mut().find(is_same) {
            Some(known) => known.lines += 1,
            None => found.push(new),
        }
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.lines));
    found
}

pub(super) fn of_block(ws: &Workspace, file: &FileProvenance, at: usize) -> BlockLines {
    let mut runs: Vec<(LineRun, LineSource)> = Vec::new();
    let is_alike = |a: &LineSource, b: &LineSource| {
        (a.claim, a.version, a.is_missing) == (b.claim, b.version, b.is_missing)
    };
    for (number, source) in &file.provenance[at].own {
        match runs.last_mut() {
            Some((run, last)) if is_alike(last, source) && run.end + 1 == *number => {
                run.end = *number;
            }
            _ => runs.push((run_at(ws, file, *number, source), *source)),
        }
    }
    BlockLines { runs: runs.into_iter().map(|(run, _)| run).collect() }
}

fn run_at(ws: &Workspace, file: &FileProvenance, line: u32, source: &LineSource) -> LineRun {
    let state = match source {
        LineSource { is_missing: true, .. } => LineState::of_unknown(file),
        LineSource { claim: Some(_), .. } => LineState::AsRecorded,
        _ => LineState::Unrecorded,
    };
    let version = source.version.map(|at| &file.lines.versions[at]);
    let version = version.filter(|version| !version.is_uncommitted() && !source.is_missing);
    LineRun {
        start: line,
        end: line,
        state,
        from: source.claim.map(|at| record_brief(ws, &file.lines.claims[at])),
        commit: version.map(|version| version.commit.to_string()),
    }
}

impl BlockAnswer {
    /// Says how many lines are newer than the record, and who brought them: `since then 3 lines by
    /// Ada and Bob (no record)`. `None` if there are none.
    pub fn newer_text(&self) -> Option<String> {
        (self.newer > 0).then(|| words_for_newer(self.newer, &self.newer_by))
    }

    /// Says how the text of the block differs from its record. `None` if it does not, or if no record
    /// is about it.
    pub fn difference_text(&self) -> Option<String> {
        let said = match self.verdict {
            Verdict::Exact | Verdict::Moved | Verdict::Ambiguous | Verdict::Unrecorded => {
                return None;
            }
            Verdict::Reformatted => "as recorded, but for layout and comments",
            Verdict::Renamed => "as recorded, but for names that changed throughout",
            Verdict::Modified if self.only_inside => {
                "its own text is as recorded; blocks inside it differ"
            }
            Verdict::Modified if self.cut => "lines were removed since",
            Verdict::Modified => {
                let newer = self.newer_text();
                return newer.or_else(|| Some("changed since it was recorded".to_owned()));
            }
        };
        Some(said.to_owned())
    }

    /// Describes the lines of a block for people. `None` if one intent brought all of them, or if
    /// lines were not requested.
    pub fn lines_text(&self) -> Option<String> {
        self.lines.as_ref()?.sentence()
    }
}

fn words_for_newer(count: usize, newer_by: &[NewerLines]) -> String {
    let authors: Vec<&str> = newer_by.iter().filter_map(|one| one.author.as_deref()).collect();
    let uncommitted = newer_by.iter().any(|one| one.uncommitted);
    let by = match (authors.is_empty(), uncommitted) {
        (true, false) => String::new(),
        (true, true) => ", not committed yet".to_owned(),
        (false, false) => format!(" by {}", joined_words(authors)),
        (false, true) => format!(" by {} and not committed yet", joined_words(authors)),
    };
    format!("since then {}{by} (no record)", counted(count, "line"))
}

/// If an owner has more runs than this, its lines are counted instead of listed.
const MAX_LISTED: usize = 6;

impl BlockLines {
    /// Returns a text such as `lines 15–31 INT-001, 32–35 no record`. `None` if all have one owner.
    pub fn sentence(&self) -> Option<String> {
        let mut owners: Vec<(&str, Vec<Span>)> = Vec::new();
        for run in &self.runs {
            let owner = run.owner();
            let at = owners.iter().position(|(known, _)| *known == owner).unwrap_or_else(|| {
                owners.push((owner, Vec::new()));
                owners.len() - 1
            });
            match owners[at].1.last_mut() {
                Some((_, end)) if *end + 1 == run.start => *end = run.end,
                _ => owners[at].1.push((run.start, run.end)),
            }
        }
        if owners.len() < 2 {
            return None;
        }
        let parts = owners.iter().enumerate().map(|(nth, (owner, spans))| {
            let word = match (nth, spans.as_slice()) {
                (0, [(start, end)]) if start == end => "line ",
                (0, _) => "lines ",
                _ => "",
            };
            match spans.len() > MAX_LISTED {
                true => {
                    let count: u32 = spans.iter().map(|(start, end)| end - start + 1).sum();
                    format!("{count} lines {owner}")
                }
                false => {
                    let spans = joined_words(spans.iter().map(|(start, end)| span(*start, *end)));
                    format!("{word}{spans} {owner}")
                }
            }
        });
        Some(parts.collect::<Vec<_>>().join(", "))
    }
}

impl LineRun {
    fn owner(&self) -> &str {
        match (&self.from, self.state) {
            (Some(from), _) => from.intent.as_deref().unwrap_or("a record without an intent"),
            (None, LineState::HistoryMissing) => "history is missing here",
            (None, _) => "no record",
        }
    }
}

type Span = (u32, u32);

pub fn span(start: u32, end: u32) -> String {
    if start == end { start.to_string() } else { format!("{start}–{end}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::{Contributor, RecordKind};

    fn sentence_about(runs: &[(u32, u32, &str)]) -> Option<String> {
        let run = |(start, end, intent): &(u32, u32, &str)| LineRun {
            start: *start,
            end: *end,
            state: if intent.is_empty() { LineState::Unrecorded } else { LineState::AsRecorded },
            from: (!intent.is_empty()).then(|| RecordBrief {
                intent_hash: None,
                strength: None,
                lines_brought: 0,
                record: String::new(),
                kind: RecordKind::Mutation,
                intent: Some((*intent).to_owned()),
                contributor: Contributor::default(),
                timestamp: String::new(),
                commit: None,
                tool: None,
                session: None,
                reassigned: Vec::new(),
            }),
            commit: None,
        };
        BlockLines { runs: runs.iter().map(run).collect() }.sentence()
    }

    #[test]
    fn newer_lines_are_told_by_their_authors() {
        let told = |count: usize, by: &[(usize, Option<&str>, bool)]| {
            let one = |(lines, author, uncommitted): &(usize, Option<&str>, bool)| {
                let (author, uncommitted) = (author.map(str::to_owned), *uncommitted);
                NewerLines { lines: *lines, author, uncommitted }
            };
            words_for_newer(count, &by.iter().map(one).collect::<Vec<_>>())
        };
        let (ada, bob, work) = ((1, Some("Ada"), false), (2, Some("Bob"), false), (1, None, true));
        assert_eq!(told(1, &[ada]), "since then 1 line by Ada (no record)");
        assert_eq!(told(3, &[bob, ada]), "since then 3 lines by Bob and Ada (no record)");
        assert_eq!(told(1, &[work]), "since then 1 line, not committed yet (no record)");
        assert_eq!(
            told(2, &[ada, work]),
            "since then 2 lines by Ada and not committed yet (no record)"
        );
        assert_eq!(told(1, &[(1, None, false)]), "since then 1 line (no record)");
    }

    #[test]
    fn a_sentence_names_the_lines_of_each_owner() {
        let told = |runs: &[(u32, u32, &str)]| sentence_about(runs).unwrap_or_default();
        assert_eq!(told(&[(1, 4, "INT-001"), (5, 9, "INT-001")]), "");
        assert_eq!(
            told(&[(15, 31, "INT-001"), (32, 35, "")]),
            "lines 15–31 INT-001, 32–35 no record"
        );
        assert_eq!(
            told(&[(3, 3, ""), (4, 4, "INT-001"), (6, 6, ""), (7, 9, "INT-001")]),
            "lines 3 and 6 no record, 4 and 7–9 INT-001"
        );
        assert_eq!(told(&[(3, 3, "INT-001"), (4, 5, "INT-002")]), "line 3 INT-001, 4–5 INT-002");
        let many: Vec<(u32, u32, &str)> =
            (1..=14).map(|line| (line, line, if line % 2 == 0 { "" } else { "INT-001" })).collect();
        assert_eq!(told(&many), "7 lines INT-001, 7 lines no record");
    }
}
