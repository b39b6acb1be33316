//! Which record brought the lines of a text that no commit explains, from the texts that were kept
//! after each recorded change.
//!
//! The newest text is looked at first, or the newest one that is exactly the text, if there is one:
//! what was recorded after it is not in the text. A line that it has belongs to the record that
//! brought it there, or to an older record if it was there before. A line that it lacks is looked for
//! in older texts, since somebody may have gone back to one of them.
//!
//! A line alone does not show that a change is still there: after a person has rejected a function
//! and written another one, the line `def login(user):` may be the same. So lines that a record
//! brought together count only if at least half of those that say something are there. A single line
//! does not count either if nothing is there of what the record brought elsewhere. For example, a
//! person rejects a function that needed `import os`, and writes another one that needs it, too.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use code::saying_lines::says_something;

use crate::line_map::passed_runs;
use crate::run_places::lines_of_runs;
use crate::text::LineText;
use ledger::LineRuns;

/// The text of a file after a recorded change, and the lines that the change brought to it.
#[derive(Clone, Debug)]
pub struct RecordedText {
    /// Empty if the text was too large to be kept, or is gone.
    pub text: Arc<LineText>,
    /// The lines in ascending order, counted from 0.
    pub brought: Vec<usize>,
    /// The runs of lines of a text that was not kept or is gone. Each is looked for as a whole.
    pub unkept: Vec<LineRuns>,
}

/// Returns for each line of a text the index of the record that brought it.
///
/// `records` are those about the file, newest first. Only lines for which `is_asked` has true are
/// looked for. `language` is a [`Language::id`](code::Language::id).
pub fn attribute(
    text: &LineText,
    is_asked: &[bool],
    records: &[RecordedText],
    language: Option<&str>,
) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; text.len()];
    let mut is_open = is_asked.to_vec();
    let first = records.iter().position(|record| *record.text == *text).unwrap_or(0);
    for (at, record) in records.iter().enumerate().skip(first) {
        if !is_open.contains(&true) {
            break;
        }
        for runs in &record.unkept {
            let open: Vec<usize> = (0..text.len()).filter(|line| is_open[*line]).collect();
            let lines = lines_of_runs(runs, text, &open);
            lines.into_iter().for_each(|line| (found[line], is_open[line]) = (Some(at), false));
        }
        let there = lines_in(&record.text, text);
        if !there.iter().enumerate().any(|(line, place)| place.is_some() && is_open[line]) {
            continue;
        }
        let owners = owners(records, at);
        // A line that was wrapped since stands on several lines now.
        let mut stands: Vec<Vec<usize>> = vec![Vec::new(); record.text.len()];
        for (line, place) in there.iter().enumerate() {
            if let Some(place) = place {
                stands[*place].push(line);
            }
        }
        let is_there = |line: &usize| !stands[*line].is_empty();
        let says = |line: &usize| says_something(record.text.line(*line), language);
        let says_by = |group: &Range<usize>| group.clone().filter(says).count();
        // For each record, how many of its groups say something, and how many of those are there.
        let mut counts: HashMap<Option<usize>, (usize, usize)> = HashMap::new();
        let mut left = groups(&owners, &record.text);
        left.retain(|group| {
            let said = says_by(group);
            if said == 0 {
                return group.clone().all(|line| is_there(&line));
            }
            let kept = group.clone().filter(says).filter(is_there).count();
            let (all, there) = counts.entry(owners[group.start]).or_default();
            *all += 1;
            *there += usize::from(2 * kept >= said);
            2 * kept >= said
        });
        left.retain(|group| {
            says_by(group) != 1 || !matches!(counts[&owners[group.start]], (2.., 1))
        });
        for line in left.into_iter().flatten() {
            for line_now in &stands[line] {
                if is_open[*line_now] {
                    found[*line_now] = owners[line];
                    is_open[*line_now] = false;
                }
            }
        }
    }
    found
}

/// Returns for each line of the text of a record the index of the record that brought it.
fn owners(records: &[RecordedText], at: usize) -> Vec<Option<usize>> {
    let RecordedText { text, brought, .. } = &records[at];
    let mut owners = vec![None; text.len()];
    let mut is_open = vec![true; text.len()];
    for line in brought.iter().filter(|line| **line < text.len()) {
        (owners[*line], is_open[*line]) = (Some(at), false);
    }
    // The texts before this record say which of the other lines were recorded as well.
    let mut place: Vec<Option<usize>> =
        (0..text.len()).map(|line| is_open[line].then_some(line)).collect();
    let mut newer = text;
    for (older_at, older) in records.iter().enumerate().skip(at + 1) {
        if place.iter().all(Option::is_none) {
            break;
        }
        if older.text.is_empty() && !older.unkept.is_empty() {
            continue;
        }
        let there = lines_in(&older.text, newer);
        for (line, place) in place.iter_mut().enumerate() {
            *place = place.and_then(|at| there[at]);
            if place.is_some_and(|at| older.brought.binary_search(&at).is_ok()) {
                (owners[line], *place) = (Some(older_at), None);
            }
        }
        newer = &older.text;
    }
    owners
}

fn lines_in(earlier: &LineText, text: &LineText) -> Vec<Option<usize>> {
    let mut lines = vec![None; text.len()];
    for run in passed_runs(earlier, text) {
        for (nth, line) in run.now.enumerate() {
            lines[line] = Some(run.before + nth);
        }
    }
    lines
}

/// Returns the ranges of lines that one record brought together. Blank lines do not divide them.
fn groups(owners: &[Option<usize>], text: &LineText) -> Vec<Range<usize>> {
    let mut groups: Vec<(usize, Range<usize>)> = Vec::new();
    for (line, owner) in owners.iter().enumerate() {
        let Some(owner) = owner else { continue };
        let is_blank = |line: usize| text.line(line).trim_ascii().is_empty();
        match groups.last_mut() {
            Some((last, group)) if last == owner && (group.end..line).all(is_blank) => {
                group.end = line + 1;
            }
            _ => groups.push((*owner, line..line + 1)),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &str) -> LineText {
        LineText::new(lines.split(' ').map(|line| format!("{line}\n")).collect::<String>().into())
    }

    /// Makes a record of a text in which the brought lines are marked with a `+`.
    fn record(lines: &str) -> RecordedText {
        let brought = lines.split(' ').enumerate().filter(|(_, line)| line.starts_with('+'));
        let brought = brought.map(|(at, _)| at).collect();
        let text = Arc::new(text(&lines.replace('+', "")));
        RecordedText { text, brought, unkept: Vec::new() }
    }

    /// Asks about all lines that the commit `base` lacks. Answers with a digit for each line.
    fn told(base: &str, now: &str, records: &[&str]) -> String {
        let records: Vec<RecordedText> = records.iter().map(|one| record(one)).collect();
        let now = text(now);
        let asked: Vec<bool> = lines_in(&text(base), &now).iter().map(Option::is_none).collect();
        let found = attribute(&now, &asked, &records, None).into_iter();
        found.map(|owner| owner.map_or("-".to_owned(), |at| at.to_string())).collect()
    }

    #[test]
    fn a_line_belongs_to_the_record_that_brought_it() {
        assert_eq!(told("a b", "a x y b", &["a +x +y b"]), "-00-");
        // The second record changed one of these lines.
        assert_eq!(told("a b", "a x z b", &["a x +z b", "a +x +y b"]), "-10-");
        // Nobody recorded `n`.
        assert_eq!(told("a b", "a x y n b", &["a +x +y b"]), "-00--");
    }

    #[test]
    fn a_line_that_was_there_before_its_record_is_nobodys() {
        assert_eq!(told("a", "a n x", &["a n +x"]), "--0");
        assert_eq!(told("a", "a n x", &["a +n x"]), "-0-");
    }

    #[test]
    fn the_rest_of_a_rejected_change_is_nobodys() {
        let rejected = "a +def +one +two +three +four b";
        assert_eq!(told("a b", "a def other b", &[rejected]), "----");
        assert_eq!(told("a b", "a def one two mine b", &[rejected]), "-000--");
        // One line is not enough if the other part is gone.
        let with_import = "+import a +def +one +two";
        assert_eq!(told("a", "import a def other", &[with_import]), "----");
        assert_eq!(told("a", "import a other two", &[with_import]), "----");
        assert_eq!(told("a", "import a def two", &[with_import]), "0-00");
        // What a later record took away was not rejected.
        let records = ["a def +new b", rejected];
        assert_eq!(told("a b", "a def new b", &records), "-10-");
    }

    #[test]
    fn what_was_recorded_after_a_text_is_not_in_it() {
        // The lines `k` and `e` of both parts are equal, and the later part stands first.
        let records = ["h +k +x +e k z e t", "h k +z e t", "h +k +y +e t"];
        assert_eq!(told("h t", "h k z e t", &records), "-212-");
    }

    #[test]
    fn a_text_that_was_too_large_to_be_kept_is_known_by_its_runs() {
        let now = text("a n x y b z");
        let brought = text("a x y b z");
        let unkept = |lines: &[usize]| RecordedText {
            text: Arc::default(),
            brought: Vec::new(),
            unkept: vec![LineRuns::of_chosen(&brought, |at| lines.contains(&at))],
        };
        let told = |records: &[RecordedText]| {
            let found = attribute(&now, &[false, true, true, true, false, true], records, None);
            let digit = |owner: Option<usize>| owner.map_or("-".to_owned(), |at| at.to_string());
            found.into_iter().map(digit).collect::<String>()
        };
        assert_eq!(told(&[unkept(&[1, 2])]), "--00--");
        assert_eq!(told(&[unkept(&[4]), unkept(&[1, 2])]), "--11-0");
        // A run that is not whole claims nothing, and neither does a line that is not asked about.
        assert_eq!(told(&[unkept(&[2, 3])]), "------");
        // An older text that was kept goes on to answer.
        assert_eq!(told(&[unkept(&[4]), record("a +x +y b z")]), "--11-0");
        assert_eq!(told(&[record("a x y b +z"), unkept(&[1, 2])]), "--11-0");
    }

    #[test]
    fn going_back_to_an_older_text_brings_back_its_records() {
        let records = ["a +p +q b", "a +x +y b"];
        assert_eq!(told("a b", "a x y b", &records), "-11-");
    }
}
