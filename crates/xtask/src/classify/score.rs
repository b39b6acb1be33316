//! Compares the expected results of the cases with the answers. The code that answers does not see the expected
//! results.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// The numbers of right, wrong and missing answers, by row.
#[derive(Default)]
pub(crate) struct Score {
    rows: BTreeMap<(&'static str, String), ClassTotals>,
    misses: Vec<String>,
}

#[derive(Default)]
struct ClassTotals {
    right: usize,
    /// The number of behaviour changes that were called a refactoring.
    false_refactor: usize,
    other_wrong: usize,
    unsaid: usize,
}

impl Score {
    pub fn add(&mut self, case: &Value, label: Option<&str>, reasons: &[String]) {
        let text = |key: &str| case[key].as_str().unwrap_or("?").to_owned();
        let wanted = text("label");
        let quality = text("quality").split([' ', '(']).next().unwrap_or_default().to_owned();
        let rows = [
            ("all", String::new()),
            ("label", wanted.clone()),
            ("lang", text("lang")),
            ("quality", quality),
            ("subtype", format!("{} {}", wanted, text("subtype"))),
        ];
        for row in rows {
            let row = self.rows.entry(row).or_default();
            match label {
                None => row.unsaid += 1,
                Some(label) if label == wanted => row.right += 1,
                Some("AST_REFACTOR") => row.false_refactor += 1,
                Some(_) => row.other_wrong += 1,
            }
        }
        if label != Some(&wanted) {
            let said = label.unwrap_or("nothing");
            self.misses.push(format!(
                "{} {} {} {}: said {said}: {}",
                text("id"),
                wanted,
                text("subtype"),
                text("lang"),
                reasons.join("; ")
            ));
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:8} {:45} {:>5} {:>6} {:>9} {:>9} {:>7} {:>7}",
            "by", "row", "n", "right", "as refac", "as evol", "unsaid", "%"
        )?;
        for ((by, name), row) in &self.rows {
            let n = row.right + row.false_refactor + row.other_wrong + row.unsaid;
            let share = 100.0 * row.right as f64 / n.max(1) as f64;
            writeln!(
                f,
                "{by:8} {name:45} {n:>5} {:>6} {:>9} {:>9} {:>7} {share:>7.1}",
                row.right, row.false_refactor, row.other_wrong, row.unsaid
            )?;
        }
        self.misses.iter().try_for_each(|miss| writeln!(f, "{miss}"))
    }
}
