//! Judges a call by the rows of its program in the table.

use super::options::{self, KnownOptions, before_dashes, has_any, has_option, operands};
use super::{
    Arg, Class, PathEffect, ProgramCall, Shell, ShellFinding, destructive, family, opaque,
    reads as reading, table,
};
use crate::pattern::wild;
use crate::table::TableRow;

/// Returns true if a row gives the class of a call directly, without a function.
fn gives_class(row: &TableRow) -> bool {
    matches!(row.kind(), "reads" | "looks" | "unsure" | "destroys")
}

/// Judges a call by the rows of its program. Returns `None` if no row matches, and a function or a
/// `writes` row has to decide.
pub(super) fn judge(call: &ProgramCall) -> Option<ShellFinding> {
    let rows = table::rows(family(call.name));
    if !rows.iter().any(gives_class) {
        return None;
    }
    // It is not known which options take a value. So the operands are read in three ways, and a row
    // may match any of them: an option cannot hide a subcommand.
    let spare = operands(call.args, &table::list("globals"));
    let all: Vec<&Arg> = call.args.iter().filter(|arg| !arg.looks_like_option()).collect();
    let valued = |at: usize| at > 0 && call.args[at - 1].looks_like_option();
    let words = call.args.iter().enumerate();
    let fewest: Vec<&Arg> = words
        .filter(|(at, arg)| !arg.looks_like_option() && !valued(*at))
        .map(|(_, arg)| arg)
        .collect();
    let readings = [&spare, &all, &fewest];
    let (mut worst, mut proof): (Option<ShellFinding>, Option<ShellFinding>) = (None, None);
    for row in rows.iter().filter(|row| gives_class(row)) {
        let behind = row.words.split_whitespace().count();
        if !conditions_hold(row, call.args, &all) || row.has_flag("only") && all.len() > behind {
            continue;
        }
        match row.kind() {
            // One row that proves that the call only reads is enough.
            "reads" => {
                let found = [proof, proven_read(row, call)].into_iter().flatten();
                proof = found
                    .reduce(|one, other| if other.is_lighter_than(&one) { other } else { one });
            }
            _ if readings
                .iter()
                .take(if row.kind() == "looks" { 1 } else { 3 })
                .any(|words| begins_with(row, words)) =>
            {
                worst = ShellFinding::worst(worst, Some(finding(row, call)));
            }
            _ => {}
        }
    }
    let worst = ShellFinding::worst(worst, proof);
    let destroys = worst.as_ref().is_some_and(|found| found.class == Class::Destructive);
    if destroys && is_trial(call.args) {
        return Some(opaque("program.dry-run", call.name));
    }
    let left = rows.iter().any(|row| matches!(row.kind(), "judge" | "writes"));
    worst.or_else(|| (!left).then(|| opaque("program.subcommand", &call.shown_words(1))))
}

/// Returns the finding of a `reads` row whose words match the operands. A call only reads if the
/// row lists all its options.
fn proven_read(row: &TableRow, call: &ProgramCall) -> Option<ShellFinding> {
    let takes = row.list("takes");
    let named = operands(call.args, &takes);
    let begin = row.text("plain");
    let fits = begins_with(row, &named)
        && named.iter().all(|arg| arg.lead.starts_with(begin))
        && (named.is_empty() || !row.has_flag("bare"));
    fits.then(|| by_row(row, call))
}

fn finding(row: &TableRow, call: &ProgramCall) -> ShellFinding {
    match row.kind() {
        "looks" => super::inspects(call.name),
        "destroys" => {
            destructive(row.word(1), &call.shown_words(3), row.reason()).safer(row.safer())
        }
        _ => opaque(row.word(1), &call.shown_words(2)),
    }
}

pub(super) fn has_row_of_mark(mark: &str, call: &ProgramCall) -> bool {
    let words: Vec<&Arg> = call.args.iter().filter(|arg| !arg.looks_like_option()).collect();
    table::rows(&format!("{mark}:{}", call.name)).iter().any(|row| {
        conditions_hold(row, call.args, &words)
            && begins_with(row, &words)
            && (!row.has_flag("bare") || words.is_empty())
    })
}

pub(super) fn is_trial(args: &[Arg]) -> bool {
    let words = ["--dry-run", "--dryrun", "--help", "--what-if", "--whatif"];
    before_dashes(args).iter().any(|arg| {
        let (name, value) = arg.text.split_once('=').unwrap_or((&arg.text, ""));
        words.contains(&name) && !["none", "false", "0"].contains(&value)
    })
}

/// Returns true if the conditions `if=` and `unless=` of a row hold for the arguments.
fn conditions_hold(row: &TableRow, args: &[Arg], words: &[&Arg]) -> bool {
    let there = |word: &str| match word {
        "$many" => words.iter().skip(1).any(|arg| !arg.sure),
        word => match word.split_once('+') {
            Some((first, second)) if !first.is_empty() => {
                args.windows(2).any(|two| two[0].is_word(first) && two[1].is_word(second))
            }
            _ if row.has_flag("shortens") && word.starts_with("--") => has_option(args, &[word]),
            _ => has_any(args, &[word]),
        },
    };
    row.conditions_hold(there)
}

/// Returns true if the operands begin with the words of a row. Some programs ignore case, so case
/// is ignored here too, except for a `reads` row, which must be certain.
fn begins_with(row: &TableRow, words: &[&Arg]) -> bool {
    let wanted: Vec<&str> = row.words.split_whitespace().collect();
    fits(&wanted, words, row.kind() == "reads")
}

/// Matches operands against the words of a row. `exact` means that case matters.
fn fits(wanted: &[&str], words: &[&Arg], exact: bool) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    if *first == "**" {
        return (0..=words.len()).any(|at| fits(rest, &words[at..], exact));
    }
    let Some((word, left)) = words.split_first() else { return false };
    let is_it = |name: &str| match (name.contains('*'), exact) {
        (true, true) => wild(name, &word.text),
        (true, false) => wild(name, &word.text.to_ascii_lowercase()),
        (false, true) => name == word.text,
        (false, false) => name.eq_ignore_ascii_case(&word.text),
    };
    (*first == "*" || first.split('|').any(is_it)) && fits(rest, left, exact)
}

/// Returns true if a row of the program begins with this word, which is not the name of a file such
/// as `manage.py`.
pub(super) fn is_subcommand(name: &str, word: &Arg) -> bool {
    let begins = |row: &TableRow| {
        let first = row.words.split_whitespace().next().unwrap_or_default();
        first.split('|').any(|verb| word.is_word(verb))
    };
    !word.text.contains('.')
        && !word.text.is_empty()
        && table::rows(family(name)).iter().any(begins)
}

/// Returns the row that applies whatever the operands are. It decides which files are shown,
/// written or checked.
pub(super) fn line(name: &str) -> Option<&'static TableRow> {
    table::rows(family(name)).iter().find(|row| row.words.is_empty() && row.kind() != "runs")
}

/// Judges a program that reads unless its options say otherwise.
pub(super) fn by_options(call: &ProgramCall) -> ShellFinding {
    line(call.name).map_or_else(|| opaque("program.options", call.name), |row| by_row(row, call))
}

fn by_row(row: &TableRow, call: &ProgramCall) -> ShellFinding {
    match options::known_options(row, call.args) {
        KnownOptions::Listed => reading(call.name),
        KnownOptions::Uncertain => opaque("program.value", &call.shown_words(2)).inspects(),
        KnownOptions::Unlisted => opaque("program.options", &call.shown_words(2)),
    }
}

/// Returns the programs that are destructive in themselves, and those that delete, run or overwrite
/// what their arguments name. The order is always the same. Names with a prefix (`ps:remove-item`,
/// `sql:…`) are left out: no file on the search path has such a name.
pub(super) fn destroyers() -> impl Iterator<Item = &'static str> {
    let own = |rows: &[TableRow]| {
        rows.iter().any(|row| {
            row.kind() == "destroys" && row.words.is_empty() && row.text("if").is_empty()
        })
    };
    let programs = table::all_programs().filter(|(name, _)| !name.contains(':'));
    let rows = programs.filter(move |(_, rows)| own(rows)).map(|(name, _)| name);
    table::list("destroyers").into_iter().chain(rows)
}

pub(super) fn touch_shown_files(shell: &mut Shell, call: &ProgramCall) {
    let Some(row) = line(call.name).filter(|row| !row.text("shows").is_empty()) else { return };
    let mut named = operands(call.args, &row.list("takes"));
    if row.text("shows") == "after"
        && !has_any(call.args, &row.list("instead"))
        && !named.is_empty()
    {
        named.remove(0);
    }
    for file in named.into_iter().filter(|file| !file.text.starts_with('+')) {
        shell.touch(file, PathEffect::Read);
    }
}
