//! Makes the table of `xtask tracking --score`, which says for how many cases the answer of the
//! matcher is the expected one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use serde::Deserialize;

use super::CaseAnswer;

/// The part of a case that only the scorer reads.
#[derive(Deserialize)]
struct ExpectedCase {
    id: String,
    lang: String,
    /// The data set that the case comes from, such as `codeshovel`.
    source: String,
    /// A label by which the table groups the cases.
    kind: String,
    expect: ExpectedPlace,
}

/// Where the block is after the change.
#[derive(Deserialize)]
struct ExpectedPlace {
    /// `lost` if the block was deleted. Then there is no path.
    status: String,
    path: Option<String>,
    start_line: Option<u32>,
    end_line: Option<u32>,
}

#[derive(Default)]
struct TrackingTotals {
    correct: usize,
    wrong: usize,
    lost: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Correct,
    /// Another block was found, or some block although its own was deleted.
    Wrong,
    /// No block was found, although it exists.
    Lost,
}

/// Returns a table with a line for each group: all cases, those labelled by people, and by language, source and kind.
/// After it come all cases with a wrong answer.
pub(crate) fn table(cases: &[String], answers: &[CaseAnswer]) -> String {
    let answers: HashMap<&str, &CaseAnswer> =
        answers.iter().map(|answer| (&*answer.id, answer)).collect();
    // A group is a number, which orders the table, and a name.
    let mut rows: BTreeMap<(u8, String), TrackingTotals> = BTreeMap::new();
    let mut misses = String::new();
    for line in cases {
        let case: ExpectedCase = serde_json::from_str(line).expect("a case with what it expects");
        let Some(answer) = answers.get(&*case.id) else { continue };
        let outcome = outcome(&case.expect, answer);
        // In these two data sets, people decided which block is which.
        let by_people = matches!(&*case.source, "codeshovel" | "refactoringminer");
        let mut groups = vec![
            (0, "all".to_owned()),
            (2, case.lang.clone()),
            (3, case.source.clone()),
            (4, case.kind.clone()),
        ];
        if by_people {
            groups.push((1, "labelled by people".to_owned()));
        }
        for group in groups {
            rows.entry(group).or_default().count(outcome);
        }
        if outcome != Outcome::Correct {
            let word = if outcome == Outcome::Wrong { "wrong" } else { "lost" };
            let _ = writeln!(misses, "{word} {} {} {}", case.id, case.lang, case.kind);
        }
    }
    let mut page =
        format!("{:<34} {:>6} {:>9} {:>8} {:>8}\n", "cases", "n", "correct", "wrong", "lost");
    for ((_, name), row) in &rows {
        row.write(&mut page, name);
    }
    page + "\n" + &misses
}

impl TrackingTotals {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Correct => self.correct += 1,
            Outcome::Wrong => self.wrong += 1,
            Outcome::Lost => self.lost += 1,
        }
    }

    fn write(&self, page: &mut String, name: &str) {
        let all = self.correct + self.wrong + self.lost;
        let percent = |n: usize| 100.0 * n as f64 / all.max(1) as f64;
        let _ = writeln!(
            page,
            "{name:<34} {all:>6} {:>7.1} % {:>6.1} % {:>6.1} %",
            percent(self.correct),
            percent(self.wrong),
            percent(self.lost)
        );
    }
}

fn outcome(expect: &ExpectedPlace, answer: &CaseAnswer) -> Outcome {
    match &answer.found {
        None if expect.status == "lost" => Outcome::Correct,
        None => Outcome::Lost,
        Some(found) => {
            let same = expect.path.as_deref() == Some(&found.path)
                && expect.start_line == Some(found.start_line)
                && expect.end_line == Some(found.end_line);
            if same { Outcome::Correct } else { Outcome::Wrong }
        }
    }
}
