//! Makes the table of `xtask tracking`, which says for how many cases the answer of the matcher is the expected one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;

use super::BlockPlace;

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
    /// `None` if the block was deleted.
    #[serde(flatten)]
    place: Option<BlockPlace>,
}

/// The results in the order of the columns. *Wrong* is another block, or some block although its own was deleted;
/// *lost* is no block although it exists.
const RESULTS: [&str; 3] = ["correct", "wrong", "lost"];

/// Returns a table with a line for each group: all cases, those labelled by people, and by language, source and kind.
/// After it come all cases with a wrong answer.
pub(super) fn table(
    cases: &[Value],
    found: &[Option<BlockPlace>],
) -> Result<String, Box<dyn Error>> {
    // A group is a number, which orders the table, and a name.
    let mut rows: BTreeMap<(u8, String), [usize; 3]> = BTreeMap::new();
    let mut misses = String::new();
    for (case, found) in cases.iter().zip(found) {
        let ExpectedCase { id, lang, source, kind, expect } = ExpectedCase::deserialize(case)?;
        let result = match found {
            found if *found == expect.place => 0,
            Some(_) => 1,
            None => 2,
        };
        if result != 0 {
            writeln!(misses, "{} {id} {lang} {kind}", RESULTS[result])?;
        }
        // In these two data sets, people decided which block is which.
        let by_people = matches!(&*source, "codeshovel" | "refactoringminer");
        let labelled = by_people.then(|| (1, "labelled by people".to_owned()));
        for group in
            [(0, "all".to_owned()), (2, lang), (3, source), (4, kind)].into_iter().chain(labelled)
        {
            rows.entry(group).or_default()[result] += 1;
        }
    }
    let [correct, wrong, lost] = RESULTS;
    let mut page = format!("{:<34} {:>6} {correct:>9} {wrong:>8} {lost:>8}\n", "cases", "n");
    for ((_, name), counts) in rows {
        let all: usize = counts.iter().sum();
        let [correct, wrong, lost] = counts.map(|count| 100.0 * count as f64 / all as f64);
        writeln!(page, "{name:<34} {all:>6} {correct:>7.1} % {wrong:>6.1} % {lost:>6.1} %")?;
    }
    Ok(page + "\n" + &misses)
}
