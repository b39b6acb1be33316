//! Which lines of a file a change brought, as evidence and the journal write them.
//!
//! `8-11:kX3p9A,14:b0Qz_w` are the lines 8 to 11 and line 14. After the colon stand the first 32
//! bits of the SHA-256 of the text of these lines, in base64url. White space at the ends of lines
//! and the line ends themselves do not count. A run has at most eight lines, so that an edit makes
//! few of them unreadable.
//!
//! A number is believed only if the hash agrees with the text. After a squash or a rebase the text
//! stands elsewhere, and then the run is looked for among the lines that the commit brought.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::LineText;

const LONGEST: usize = 8;
const BYTES: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineRuns(Vec<HashedRun>);

/// Lines one after the other, counted from 0, and the hash of their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashedRun {
    pub lines: Range<usize>,
    hash: [u8; BYTES],
}

impl HashedRun {
    fn of_lines(lines: Range<usize>, text: &LineText) -> Self {
        let hash = hash(lines.clone().map(|at| text.line(at)));
        Self { lines, hash }
    }

    pub fn stands_in(&self, text: &LineText) -> bool {
        self.lines.end <= text.len() && *self == Self::of_lines(self.lines.clone(), text)
    }

    /// Returns what two runs have in common if their texts are equal.
    pub fn text_id(&self) -> TextId {
        (self.lines.len(), self.hash)
    }
}

/// How many lines a run has, and the hash of their text.
pub type TextId = (usize, [u8; BYTES]);

/// All places where the texts of some runs are among chosen lines of a text.
pub struct EqualPlaces(HashMap<TextId, Vec<usize>>);

impl EqualPlaces {
    /// `among` are the chosen lines, in ascending order.
    pub fn of_runs<'a>(
        runs: impl IntoIterator<Item = &'a HashedRun>,
        text: &LineText,
        among: &[usize],
    ) -> Self {
        let mut places: HashMap<_, Vec<usize>> =
            runs.into_iter().map(|run| (run.text_id(), Vec::new())).collect();
        let lengths: BTreeSet<usize> = places.keys().map(|(length, _)| *length).collect();
        for length in lengths {
            for lines in among.windows(length) {
                let (first, end) = (lines[0], lines[length - 1] + 1);
                if end - first == length
                    && let Some(found) =
                        places.get_mut(&HashedRun::of_lines(first..end, text).text_id())
                {
                    found.push(first);
                }
            }
        }
        Self(places)
    }

    /// Returns the first line of each place, in ascending order.
    pub fn of_run(&self, run: &HashedRun) -> &[usize] {
        self.0.get(&run.text_id()).map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.0.values().all(Vec::is_empty)
    }
}

fn hash<'a>(lines: impl Iterator<Item = &'a [u8]>) -> [u8; BYTES] {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.trim_ascii_end());
        hash.update(b"\n");
    }
    let whole = hash.finalize();
    std::array::from_fn(|at| whole[at])
}

impl LineRuns {
    pub fn of_chosen(text: &LineText, is_chosen: impl Fn(usize) -> bool) -> Self {
        Self::of_runs_up_to(LONGEST, text, is_chosen)
    }

    /// Makes a run of each line, so that each of them is found again if the others were changed.
    pub fn of_single_lines(text: &LineText, is_chosen: impl Fn(usize) -> bool) -> Self {
        Self::of_runs_up_to(1, text, is_chosen)
    }

    fn of_runs_up_to(longest: usize, text: &LineText, is_chosen: impl Fn(usize) -> bool) -> Self {
        let mut runs = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let start = at;
            while at < text.len() && at - start < longest && is_chosen(at) {
                at += 1;
            }
            if start < at {
                runs.push(HashedRun::of_lines(start..at, text));
            } else {
                at += 1;
            }
        }
        Self(runs)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn line_count(&self) -> usize {
        self.0.iter().map(|run| run.lines.len()).sum()
    }

    pub fn runs(&self) -> &[HashedRun] {
        &self.0
    }

    /// Returns the lines of the runs that stand where their numbers say.
    pub fn standing_lines(&self, text: &LineText) -> Vec<usize> {
        let standing = self.0.iter().filter(|run| run.stands_in(text));
        standing.flat_map(|run| run.lines.clone()).collect()
    }

    /// Returns the lines that the runs may mean: where a run does not stand at its numbers, those of
    /// all places with its text.
    pub fn possible_lines(&self, text: &LineText) -> Vec<usize> {
        let mut lines = BTreeSet::from_iter(self.standing_lines(text));
        let moved: Vec<&HashedRun> = self.0.iter().filter(|run| !run.stands_in(text)).collect();
        let all = Vec::from_iter(0..text.len());
        let places = EqualPlaces::of_runs(moved.iter().copied(), text, &all);
        for run in moved {
            let starts = places.of_run(run).iter();
            lines.extend(starts.flat_map(|start| *start..start + run.lines.len()));
        }
        Vec::from_iter(lines)
    }
}

impl std::fmt::Display for LineRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (nth, run) in self.0.iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            let (start, end) = (run.lines.start + 1, run.lines.end);
            write!(f, "{comma}{start}")?;
            if start < end {
                write!(f, "-{end}")?;
            }
            write!(f, ":{}", URL_SAFE_NO_PAD.encode(run.hash))?;
        }
        Ok(())
    }
}

impl std::str::FromStr for LineRuns {
    type Err = ();

    /// Accepts only what [`Self::of_chosen`] can have made: ascending runs of one to eight lines,
    /// each number and hash in its one spelling.
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut runs: Vec<HashedRun> = Vec::new();
        for run in text.split(',') {
            let (lines, hash) = run.split_once(':').ok_or(())?;
            let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
            let (start, end): (usize, usize) =
                (start.parse().map_err(|_| ())?, end.parse().map_err(|_| ())?);
            let hash = URL_SAFE_NO_PAD.decode(hash).map_err(|_| ())?;
            let hash: [u8; BYTES] = hash.try_into().map_err(|_| ())?;
            let is_after = runs.last().is_none_or(|last| last.lines.end < start);
            if start == 0 || start > end || end - start >= LONGEST || !is_after {
                return Err(());
            }
            runs.push(HashedRun { lines: start - 1..end, hash });
        }
        let runs = Self(runs);
        if runs.to_string() == text { Ok(runs) } else { Err(()) }
    }
}

impl Serialize for LineRuns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LineRuns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| D::Error::custom("no runs of lines"))
    }
}

impl schemars::JsonSchema for LineRuns {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LineRuns".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^\\d+(-\\d+)?:[\\w-]{6}(,\\d+(-\\d+)?:[\\w-]{6})*$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> LineText {
        LineText::new(text.split_whitespace().collect::<Vec<_>>().join("\n").into_bytes())
    }

    #[test]
    fn runs_have_at_most_eight_lines_and_one_spelling() {
        let text = lines("a b c d e f g h i j k");
        let runs = LineRuns::of_chosen(&text, |at| at != 9);
        let told = runs.to_string();
        let numbers: Vec<&str> = told.split(',').filter_map(|run| run.split(':').next()).collect();
        assert_eq!(numbers, ["1-8", "9", "11"]);
        assert_eq!(told.parse(), Ok(runs));
        for wrong in [
            "",
            "0:kX3p9A",
            "2-1:kX3p9A",
            "1-9:kX3p9A",
            "01:kX3p9A",
            "1",
            "1:kX3p",
            "2:kX3p9A,2:kX3p9A",
        ] {
            assert!(wrong.parse::<LineRuns>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_run_that_does_not_stand_may_be_at_each_place_with_its_text() {
        let runs = LineRuns::of_chosen(&lines("a b c x y"), |at| at < 2 || at == 3);
        let now = lines("n a b x a b");
        assert_eq!(runs.standing_lines(&now), [3]);
        assert_eq!(runs.possible_lines(&now), [1, 2, 3, 4, 5]);
        // A line between two lines of a run breaks it, and so does one that is not chosen.
        assert!(runs.possible_lines(&lines("n a n b")).is_empty());
        let places = EqualPlaces::of_runs(runs.runs(), &now, &[1, 3, 4, 5]);
        assert_eq!(places.of_run(&runs.runs()[0]), [4]);
    }

    #[test]
    fn white_space_at_the_end_of_a_line_does_not_count() {
        let plain = lines("a b");
        let other = LineText::new(b"a  \r\nb\n".to_vec());
        assert_eq!(LineRuns::of_chosen(&plain, |_| true), LineRuns::of_chosen(&other, |_| true));
        let indented = LineText::new(b" a\nb".to_vec());
        assert_ne!(LineRuns::of_chosen(&plain, |_| true), LineRuns::of_chosen(&indented, |_| true));
    }
}
