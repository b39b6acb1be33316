//! Programs that are judged by their subcommand and its options.

use super::options::any;
use super::rules_a::ROWS as FIRST;
use super::rules_h::ROWS as SECOND;
use super::{ProgramCall, destructive, opaque, reads as reading};
use crate::shell::Class;
use crate::shell::expand::Arg;
use crate::shell::walk::ShellFinding;

/// One row: a program, the words that follow it, and what that is.
pub(super) struct ProgramRule {
    program: &'static str,
    /// Words in order: alternatives by `|`, `*` any one, `**` any number of them, `list-*` a beginning.
    path: &'static str,
    class: Class,
    rule: &'static str,
    reason: &'static str,
    /// It holds only where one of these stands, if there are any.
    with: &'static [&'static str],
    /// It does not hold where one of these stands.
    without: &'static [&'static str],
}

type Words = &'static [&'static str];

pub(super) const fn rule(
    program: &'static str,
    path: &'static str,
    rule: &'static str,
    reason: &'static str,
    with: Words,
    without: Words,
) -> ProgramRule {
    ProgramRule { program, path, class: Class::Destructive, rule, reason, with, without }
}

pub(super) const fn reads(
    program: &'static str,
    path: &'static str,
    with: Words,
    without: Words,
) -> ProgramRule {
    ProgramRule {
        program,
        path,
        class: Class::Read,
        rule: "program.reads",
        reason: "",
        with,
        without,
    }
}

pub(super) const fn unsure(
    program: &'static str,
    path: &'static str,
    rule: &'static str,
    with: Words,
    without: Words,
) -> ProgramRule {
    ProgramRule { program, path, class: Class::Opaque, rule, reason: "", with, without }
}

/// The rows of one program.
fn rows(name: &str) -> &'static [ProgramRule] {
    let table = if name < "h" { FIRST } else { SECOND };
    let start = table.partition_point(|row| row.program < name);
    let end = table.partition_point(|row| row.program <= name);
    &table[start..end]
}

pub(super) fn known(name: &str) -> bool {
    !rows(name).is_empty()
}

/// Options that take a word, of programs whose subcommand may come after them.
const GLOBALS: &[&str] = &[
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "-H",
    "--host",
    "--profile",
    "--region",
    "--project",
    "-C",
    "--prefix",
    "-w",
    "--workspace",
    "-R",
    "--repo",
    "-a",
    "--app",
    "-u",
    "-h",
    "-p",
    "--dir",
    "--cwd",
    "-f",
    "--file",
    "--project-name",
    "--filter",
    "--user",
    "--port",
    "--subscription",
    "-g",
    "--resource-group",
    "--log-level",
    "--config",
    "-c",
    "-t",
    "--server",
];

/// What the rows say of a call; nothing where none fits and the program has no row that reads.
pub(super) fn judge(call: &ProgramCall<'_>) -> Option<ShellFinding> {
    let rows = rows(call.name);
    if rows.is_empty() {
        return None;
    }
    if dry(call.args) {
        return Some(opaque("program.dry-run", call.name));
    }
    // Options may take a word or not: both readings count, so that none hides a subcommand.
    let spare = super::options::operands(call.args, GLOBALS);
    let all: Vec<&Arg> = call.args.iter().filter(|arg| !arg.option()).collect();
    let mut worst: Option<ShellFinding> = None;
    for row in rows {
        let strict = row.class == Class::Read;
        let fits = path(row.path, &spare) || !strict && path(row.path, &all);
        if !fits || !holds(row, call.args, &all) {
            continue;
        }
        let found = finding(row, call);
        worst = Some(match worst {
            Some(worst) => worst.or(found),
            None => found,
        });
    }
    worst.or_else(|| {
        let special =
            super::tables::special(call.name).is_some() || super::tables::reader(call.name);
        (!special).then(|| opaque("program.subcommand", &call.shown(1)))
    })
}

fn finding(row: &ProgramRule, call: &ProgramCall<'_>) -> ShellFinding {
    match row.class {
        Class::Read => reading(call.name),
        Class::Destructive => destructive(row.rule, &call.shown(3), row.reason)
            .safer("Look first with the listing or dry-run form, and let a person run it."),
        _ => opaque(row.rule, &call.shown(2)),
    }
}

/// Whether it only says what it would do.
fn dry(args: &[Arg]) -> bool {
    let words = ["--dry-run", "--dryrun", "--help", "--what-if", "--whatif"];
    args.iter().any(|arg| {
        let (name, value) = arg.text.split_once('=').unwrap_or((&arg.text, ""));
        words.contains(&name) && !["none", "false", "0"].contains(&value)
    })
}

fn holds(row: &ProgramRule, args: &[Arg], words: &[&Arg]) -> bool {
    let stands = |word: &&str| match *word {
        "$many" => words.iter().skip(1).any(|arg| !arg.sure),
        "$delete" => args.iter().any(|arg| {
            arg.text.eq_ignore_ascii_case("delete")
                || arg.text.contains("mutation") && arg.text.to_ascii_lowercase().contains("delete")
                || arg.text.eq_ignore_ascii_case("-xdelete")
                || arg.text.eq_ignore_ascii_case("--method=delete")
        }),
        "$w" => args.iter().any(|arg| arg.lead.to_ascii_lowercase().starts_with("/w:")),
        word => match word.split_once(' ') {
            Some((first, second)) => {
                args.windows(2).any(|two| two[0].is(first) && two[1].is(second))
            }
            None => any(args, &[word]),
        },
    };
    (row.with.is_empty() || row.with.iter().any(&stands)) && !row.without.iter().any(stands)
}

/// Whether the words begin as the path says.
fn path(path: &str, words: &[&Arg]) -> bool {
    let wanted: Vec<&str> = path.split_whitespace().collect();
    fits(&wanted, words)
}

fn fits(wanted: &[&str], words: &[&Arg]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    if *first == "**" {
        return (0..=words.len()).any(|at| fits(rest, &words[at..]));
    }
    let Some((word, left)) = words.split_first() else { return false };
    let fit = *first == "*"
        || first.split('|').any(|name| {
            name == word.text || name.contains('*') && crate::shell::pattern::wild(name, &word.text)
        });
    fit && fits(rest, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_sorted_by_program() {
        assert!(FIRST.is_sorted_by(|a, b| a.program <= b.program));
        assert!(SECOND.is_sorted_by(|a, b| a.program <= b.program));
        assert!(FIRST.iter().all(|row| row.program < "h"));
        assert!(SECOND.iter().all(|row| row.program >= "h"));
    }
}
