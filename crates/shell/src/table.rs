//! The table of known programs, `programs.tsv`. The comment at the beginning of that file describes
//! its format.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

const TEXT: &str = include_str!("programs.tsv");

#[derive(Debug)]
pub(super) struct TableRow {
    pub(super) words: &'static str,
    /// The kind of the row, followed by its arguments: a rule, a reason, the name of a judge.
    kind: &'static str,
    details: &'static str,
    /// An example call of a program that starts another one.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests use the examples"))]
    pub(super) example: &'static str,
}

struct ProgramTable {
    /// Sorted by name, so that a glob such as `/bin/r?`, which may match several programs, has the
    /// same reason each time.
    rows: BTreeMap<&'static str, Vec<TableRow>>,
    lists: HashMap<&'static str, &'static str>,
    /// For each rule or reason: the sentence that explains it, and a safer alternative.
    reasons: HashMap<&'static str, (&'static str, &'static str)>,
}

fn table() -> &'static ProgramTable {
    static TABLE: OnceLock<ProgramTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table =
            ProgramTable { rows: BTreeMap::new(), lists: HashMap::new(), reasons: HashMap::new() };
        for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut cells = line.split('\t');
            let mut next = || cells.next().unwrap_or_default();
            let (names, words) = (next(), next());
            if let Some(name) = names.strip_prefix('!') {
                table.reasons.insert(name, (words, next()));
            } else if let Some(name) = names.strip_prefix('@') {
                table.lists.insert(name, words);
            } else {
                let (kind, details, example) = (next(), next(), next());
                for name in names.split(',') {
                    let row = TableRow { words, kind, details, example };
                    table.rows.entry(name).or_default().push(row);
                }
            }
        }
        table
    })
}

pub(super) fn rows(name: &str) -> &'static [TableRow] {
    table().rows.get(name).map_or(&[], Vec::as_slice)
}

/// Returns the name of every program with its rows, in alphabetical order. This includes names with
/// a prefix, such as `ps:`.
pub(super) fn all_programs() -> impl Iterator<Item = (&'static str, &'static [TableRow])> {
    table().rows.iter().map(|(name, rows)| (*name, rows.as_slice()))
}

/// Returns the words of a list, including those of the lists that it refers to.
pub(super) fn list(name: &str) -> Vec<&'static str> {
    table().lists.get(name).map_or_else(Vec::new, |text| split_list(text))
}

/// Returns true if a list contains a word, either literally or by an entry such as `BEGIN*` or
/// `*END`.
pub(super) fn holds(name: &str, word: &str) -> bool {
    list(name).iter().any(|known| {
        known == &word
            || known.strip_suffix('*').is_some_and(|begin| word.starts_with(begin))
            || known.strip_prefix('*').is_some_and(|end| word.ends_with(end))
    })
}

pub(super) fn first_word_in(name: &str, text: &str) -> Option<&'static str> {
    list(name).into_iter().find(|word| text.contains(word))
}

/// Splits a list at its commas, and replaces `@NAME` by the words of the list NAME.
fn split_list(text: &'static str) -> Vec<&'static str> {
    let mut words = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match word.strip_prefix('@') {
            Some(name) => words.extend(list(name)),
            None => words.push(word),
        }
    }
    words
}

/// Returns the sentence that explains a rule or reason, and a safer alternative.
pub(super) fn reason(name: &str) -> (&'static str, &'static str) {
    table().reasons.get(name).copied().unwrap_or_default()
}

impl TableRow {
    /// Returns the kind of the row: `reads`, `looks`, `writes`, `unsure`, `destroys`, `runs` or
    /// `judge`.
    pub(super) fn kind(&self) -> &'static str {
        self.word(0)
    }

    /// Returns a word of the third column: 0 is the kind, 1 the rule, the manner or the judge, and
    /// 2 the reason.
    pub(super) fn word(&self, at: usize) -> &'static str {
        self.kind.split(' ').nth(at).unwrap_or_default()
    }

    pub(super) fn reason(&self) -> &'static str {
        reason(self.word(2)).0
    }

    /// Returns a safer alternative as a sentence. It is a general one if the reason has none.
    pub(super) fn safer(&self) -> &'static str {
        let general = "Look first with the listing or dry-run form, and let a person run it.";
        Some(reason(self.word(2)).1).filter(|safer| !safer.is_empty()).unwrap_or(general)
    }

    fn detail(&self, key: &str) -> Option<&'static str> {
        self.details.split(' ').find_map(|detail| detail.strip_prefix(key)?.strip_prefix('='))
    }

    /// Returns true if the conditions of the row hold: a word of `if=` is present, unless the row
    /// has no `if=`, and no word of `unless=` is. `there` says whether a word is present.
    pub(super) fn conditions_hold(&self, there: impl Fn(&str) -> bool) -> bool {
        let (with, without) = (self.list("if"), self.list("unless"));
        (with.is_empty() || with.into_iter().any(&there)) && !without.into_iter().any(&there)
    }

    /// Returns the words of a detail such as `takes=-o,-n`.
    pub(super) fn list(&self, key: &str) -> Vec<&'static str> {
        self.detail(key).map_or_else(Vec::new, split_list)
    }

    /// Returns the value of a detail such as `after=1`.
    pub(super) fn text(&self, key: &str) -> &'static str {
        self.detail(key).unwrap_or_default()
    }

    /// Returns true if the row has a detail without a value, such as `deep`.
    pub(super) fn has_flag(&self, key: &str) -> bool {
        self.details.split(' ').any(|detail| detail == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_valid_and_has_only_known_names() {
        for (at, line) in TEXT.lines().enumerate() {
            if line.is_empty() || line.starts_with(['#', '!', '@']) {
                continue;
            }
            let place = format!("programs.tsv:{}: {line}", at + 1);
            let cells: Vec<&str> = line.split('\t').collect();
            assert!((3..=5).contains(&cells.len()), "{place}");
            let kind: Vec<&str> = cells[2].split(' ').collect();
            let words = match kind[0] {
                "reads" | "looks" => 1,
                "writes" | "unsure" | "runs" | "judge" => 2,
                "destroys" => 3,
                _ => 0,
            };
            assert_eq!(kind.len(), words, "{place}");
            if kind[0] == "destroys" {
                assert!(table().reasons.contains_key(kind[2]), "{place}");
            }
            assert!(kind[0] != "runs" || cells.len() == 5, "an example is missing: {place}");
            let flags = [
                "reads",
                "opaque",
                "dashes",
                "elsewhere",
                "clear",
                "bare",
                "only",
                "number",
                "shortens",
                "deep",
            ];
            let keys = [
                "ok",
                "takes",
                "joined",
                "outputs",
                "code",
                "if",
                "unless",
                "plain",
                "after",
                "shows",
                "instead",
                "documents",
            ];
            for detail in cells.get(3).unwrap_or(&"").split(' ').filter(|text| !text.is_empty()) {
                let known = match detail.split_once('=') {
                    Some((key, _)) => keys.contains(&key),
                    None => flags.contains(&detail),
                };
                assert!(known, "`{detail}` is no detail: {place}");
            }
        }
        let named =
            TEXT.split([',', '=', '\t', ' ', '\n']).filter_map(|word| word.strip_prefix('@'));
        for name in
            named.filter(|name| name.chars().all(|c| c.is_ascii_lowercase()) && !name.is_empty())
        {
            assert!(table().lists.contains_key(name), "there is no list @{name}");
        }
    }

    #[test]
    fn every_rule_of_a_judge_has_a_reason() {
        let files = ["src", "src/judge"].map(std::fs::read_dir);
        for file in files.into_iter().flat_map(|files| files.expect("a folder")) {
            let text = std::fs::read_to_string(file.expect("a file").path()).unwrap_or_default();
            for rule in text
                .split("destructive_rule(\"")
                .skip(1)
                .chain(text.split("unreadable_rule(\"").skip(1))
            {
                let rule = rule.split('"').next().unwrap_or_default();
                assert!(reason(rule).0.ends_with('.'), "{rule}");
            }
        }
    }

    #[test]
    fn every_named_judge_exists() {
        for (name, rows) in all_programs() {
            for row in rows.iter().filter(|row| row.kind() == "judge") {
                let judge = crate::judge::judge_called(row.word(1));
                assert!(judge.is_some(), "{name}: {}", row.word(1));
            }
        }
    }

    #[test]
    fn no_program_has_two_judges_or_one_line_twice() {
        for (name, rows) in all_programs() {
            let judges = rows.iter().filter(|row| row.kind() == "judge").count();
            assert!(judges <= 1, "{name} has {judges} judges");
            for (at, row) in rows.iter().enumerate() {
                let again = rows[..at].iter().any(|other| {
                    (other.words, other.kind, other.details) == (row.words, row.kind, row.details)
                });
                assert!(!again, "{name} {} is listed twice", row.words);
            }
        }
    }
}
