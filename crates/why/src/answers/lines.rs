//! The lines inside a block: which are as recorded, which record wrote them, and which have changed
//! since.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Workspace;
use crate::answers::{BlockAnswer, BroughtLines, FileProvenance, RecordBrief, candidate};
use crate::suspect::joined;
use code::lines::{self, OwnLine};
use provenance::Verdict;
use provenance::line_records::{ComparedLines, LineStatus, compare_lines};

/// The lines of a block, without those of inner blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockLines {
    /// Runs of lines, in order. Together they are all lines of the block, without those of inner
    /// blocks.
    pub runs: Vec<LineRun>,
    /// How many recorded lines were removed without a replacement.
    pub gone: usize,
}

/// Consecutive lines about which the same is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineRun {
    /// The first line, counted from 1 in the present file.
    pub start: u32,
    /// The last line, counted from 1 in the present file.
    pub end: u32,
    /// How the lines compare with the record.
    pub state: LineState,
    /// For lines that are as recorded, the record that wrote them. Absent if no record did: the
    /// lines were there before the first record that has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<RecordBrief>,
}

/// How lines compare with the record of their block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    /// As recorded, ignoring white space at both ends.
    AsRecorded,
    /// Formatted differently, or a comment. All tokens are as recorded.
    Reformatted,
    /// A line of a renamed block that differs in names or formatting only.
    Renamed,
    /// New or changed since, and no record says by whom.
    Changed,
}

/// Returns the lines of the block with this index. `None` if nothing is known about them.
pub(super) fn of_block(ws: &Workspace, file: &FileProvenance, at: usize) -> Option<BlockLines> {
    let own = lines::own_lines(&file.document, file.blocks.blocks.get(at)?);
    let ComparedLines { standing, gone } =
        compare_lines(&ws.ledger, ws, file.provenance.get(at)?, &own)?;
    let mut runs: Vec<(LineRun, LineStatus)> = Vec::new();
    for (OwnLine { number, .. }, standing) in own.iter().zip(standing) {
        match runs.last_mut() {
            Some((run, last)) if *last == standing && run.end + 1 == *number => run.end = *number,
            _ => runs.push((run(ws, *number, standing), standing)),
        }
    }
    Some(BlockLines { runs: runs.into_iter().map(|(run, _)| run).collect(), gone })
}

fn run(ws: &Workspace, line: u32, standing: LineStatus) -> LineRun {
    let (state, origin) = match standing {
        LineStatus::Recorded(origin) => (LineState::AsRecorded, origin),
        LineStatus::Reformatted => (LineState::Reformatted, None),
        LineStatus::Renamed => (LineState::Renamed, None),
        LineStatus::Changed => (LineState::Changed, None),
    };
    LineRun { start: line, end: line, state, from: origin.map(|claim| candidate(ws, claim)) }
}

impl BlockAnswer {
    /// Returns how many of the block's lines its record wrote. `None` if the lines are not known.
    pub(super) fn brought(&self) -> Option<BroughtLines> {
        let runs = &self.lines.as_ref()?.runs;
        let own = runs.iter().filter(|run| run.is_of(self.record.as_deref()));
        let lines = own.map(LineRun::count).sum();
        Some(BroughtLines { lines, of: runs.iter().map(LineRun::count).sum() })
    }

    /// Returns true if each line that is as recorded was written by the block's record or by none.
    /// Then [`Self::brought_text`] is enough to tell who wrote them.
    fn is_of_one(&self, lines: &BlockLines) -> bool {
        let mut standing = lines.runs.iter().filter(|run| run.state == LineState::AsRecorded);
        standing.all(|run| run.from.is_none() || run.is_of(self.record.as_deref()))
    }

    /// Describes the lines of a block for people: which lines changed, and who wrote them if
    /// several records did.
    pub fn lines_text(&self) -> Option<String> {
        let lines = self.lines.as_ref()?;
        let differs = !matches!(self.verdict, Verdict::Exact | Verdict::Moved);
        let same = || "every line of its own is as recorded, white space at both ends aside";
        let standing = lines.sentence().or_else(|| differs.then(same).map(str::to_owned));
        let whose = lines.owners_of_lines().filter(|_| !self.is_of_one(lines));
        let said: Vec<String> = standing.into_iter().chain(whose).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// If there are more runs than this, they are counted instead of listed.
const MAX_LISTED: usize = 6;

impl BlockLines {
    /// Returns a text such as `lines 15–31 as recorded, 32–35 changed since`. `None` if all lines
    /// are as recorded.
    pub fn sentence(&self) -> Option<String> {
        let runs = self.merged();
        let same = runs.iter().all(|(_, state)| *state == LineState::AsRecorded);
        let gone = match self.gone {
            0 if same => return None,
            0 => String::new(),
            1 => ", 1 recorded line is gone".to_owned(),
            many => format!(", {many} recorded lines are gone"),
        };
        let standing = match runs.len() {
            _ if same => "every line that is there is as recorded".to_owned(),
            count if count > MAX_LISTED => self.counted(),
            _ => listed(&runs),
        };
        Some(standing + &gone)
    }

    /// Returns a text such as `of the 8 lines as recorded, 7 have no record, INT-002 wrote 1`. `None` if all come from one intent.
    pub(crate) fn owners_of_lines(&self) -> Option<String> {
        let mut owners: Vec<(Option<&str>, u32)> = Vec::new();
        for run in self.runs.iter().filter(|run| run.state == LineState::AsRecorded) {
            let owner = run.owner();
            match owners.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, lines)) => *lines += run.count(),
                None => owners.push((owner, run.count())),
            }
        }
        if owners.len() < 2 && owners.iter().all(|(owner, _)| owner.is_some()) {
            return None;
        }
        owners.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        let all: u32 = owners.iter().map(|(_, lines)| lines).sum();
        let parts = owners.iter().map(|(owner, lines)| match owner {
            Some(owner) => format!("{owner} wrote {lines}"),
            None => format!("{lines} {} no record", if *lines == 1 { "has" } else { "have" }),
        });
        let parts: Vec<String> = parts.collect();
        (all > 0).then(|| format!("of the {all} lines as recorded, {}", parts.join(", ")))
    }

    /// Joins consecutive runs with the same state, even if they come from different records.
    fn merged(&self) -> Vec<(Span, LineState)> {
        let mut merged: Vec<(Span, LineState)> = Vec::new();
        for run in &self.runs {
            match merged.last_mut() {
                Some(((_, end), state)) if *state == run.state && *end + 1 == run.start => {
                    *end = run.end;
                }
                _ => merged.push(((run.start, run.end), run.state)),
            }
        }
        merged
    }

    fn counted(&self) -> String {
        let all: u32 = self.runs.iter().map(LineRun::count).sum();
        let of_state = |state: LineState| {
            let runs = self.runs.iter().filter(|run| run.state == state);
            let count: u32 = runs.map(LineRun::count).sum();
            (count > 0).then(|| format!("{count} {}", state.as_words()))
        };
        let parts: Vec<String> = LineState::ALL.into_iter().filter_map(of_state).collect();
        format!("of {all} lines {}", parts.join(", "))
    }
}

impl LineRun {
    fn count(&self) -> u32 {
        self.end - self.start + 1
    }

    fn is_of(&self, record: Option<&str>) -> bool {
        self.from.as_ref().is_some_and(|from| Some(from.record.as_str()) == record)
    }

    /// Returns the intent of the record that wrote the lines. `None` if no record did.
    fn owner(&self) -> Option<&str> {
        let from = self.from.as_ref()?;
        Some(from.intent.as_deref().unwrap_or("a record without an intent"))
    }
}

/// The first and the last line.
type Span = (u32, u32);

fn listed(runs: &[(Span, LineState)]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for state in LineState::ALL {
        let of_state = runs.iter().filter(|(_, other)| *other == state);
        let spans: Vec<Span> = of_state.map(|(span, _)| *span).collect();
        let word = match (parts.len(), spans.as_slice()) {
            (_, []) => continue,
            (0, [(start, end)]) if start == end => "line ",
            (0, _) => "lines ",
            _ => "",
        };
        let spans = joined(spans.iter().map(|(start, end)| span(*start, *end)));
        parts.push(format!("{word}{spans} {}", state.as_words()));
    }
    parts.join(", ")
}

impl LineState {
    /// All states, in the order in which they are listed.
    const ALL: [Self; 4] = [Self::AsRecorded, Self::Reformatted, Self::Renamed, Self::Changed];

    /// Returns the phrase that follows the line numbers.
    pub fn as_words(self) -> &'static str {
        match self {
            Self::AsRecorded => "as recorded",
            Self::Reformatted => "laid out otherwise",
            Self::Renamed => "as recorded but for names",
            Self::Changed => "changed since",
        }
    }
}

/// Formats a range of lines as `15–31`, or as `15` for a single line.
pub fn span(start: u32, end: u32) -> String {
    if start == end { start.to_string() } else { format!("{start}–{end}") }
}

#[cfg(test)]
mod tests {
    use crate::answers::lines::*;

    fn sentence_about(gone: usize, runs: &[(u32, u32, LineState)]) -> String {
        let run = |(start, end, state): &(u32, u32, LineState)| LineRun {
            start: *start,
            end: *end,
            state: *state,
            from: None,
        };
        let lines = BlockLines { runs: runs.iter().map(run).collect(), gone };
        lines.sentence().unwrap_or_else(|| "nothing".to_owned())
    }

    #[test]
    fn a_sentence_names_the_lines() {
        use LineState::{AsRecorded, Changed, Reformatted, Renamed};
        #[rustfmt::skip]
        let table = [
            (0, vec![(1, 4, AsRecorded)], "nothing"),
            (0, vec![(1, 4, AsRecorded), (5, 9, AsRecorded)], "nothing"),
            (0, vec![], "nothing"),
            (1, vec![(1, 4, AsRecorded)], "every line that is there is as recorded, 1 recorded line is gone"),
            (0, vec![(15, 31, AsRecorded), (32, 35, Changed)], "lines 15–31 as recorded, 32–35 changed since"),
            (0, vec![(3, 3, Changed), (4, 5, AsRecorded)], "lines 4–5 as recorded, 3 changed since"),
            (0, vec![(3, 3, AsRecorded), (4, 5, Changed)], "line 3 as recorded, 4–5 changed since"),
            (0, vec![(3, 3, Changed)], "line 3 changed since"),
            (2, vec![(3, 5, Changed)], "lines 3–5 changed since, 2 recorded lines are gone"),
            (0, vec![(1, 1, AsRecorded), (2, 2, Reformatted), (3, 3, AsRecorded)], "lines 1 and 3 as recorded, 2 laid out otherwise"),
            (0, vec![(1, 2, AsRecorded), (3, 3, AsRecorded), (4, 4, Renamed)], "lines 1–3 as recorded, 4 as recorded but for names"),
            (
                0,
                vec![(1, 1, AsRecorded), (2, 2, Changed), (3, 3, AsRecorded), (4, 4, Changed), (5, 5, AsRecorded), (6, 6, Changed)],
                "lines 1, 3 and 5 as recorded, 2, 4 and 6 changed since",
            ),
            (
                3,
                vec![(1, 1, AsRecorded), (2, 2, Changed), (3, 3, AsRecorded), (4, 4, Changed), (5, 5, AsRecorded), (6, 6, Changed), (9, 20, AsRecorded)],
                "of 18 lines 15 as recorded, 3 changed since, 3 recorded lines are gone",
            ),
        ];
        for (gone, runs, expected) in table {
            assert_eq!(sentence_about(gone, &runs), expected);
        }
    }
}
