//! Which files a reading program shows, as data: what it names has been seen.

use super::ProgramCall;
use super::options::{any, operands};
use crate::shell::PathDeed;
use crate::shell::expand::Arg;
use crate::shell::walk::Shell;

/// A program that reads the files it names.
struct FileReader {
    name: &'static str,
    /// Options that take the next word.
    takes: &'static [&'static str],
    /// The first operand is no file but a pattern or a program, unless one of these options holds it.
    pattern: Option<&'static [&'static str]>,
}

const fn files(name: &'static str, takes: &'static [&'static str]) -> FileReader {
    FileReader { name, takes, pattern: None }
}

const fn after(
    name: &'static str,
    takes: &'static [&'static str],
    instead: &'static [&'static str],
) -> FileReader {
    FileReader { name, takes, pattern: Some(instead) }
}

const COUNT: &[&str] = &["-n", "-c", "--lines", "--bytes", "-s"];
const GREP: &[&str] = &[
    "-e",
    "-f",
    "-m",
    "-A",
    "-B",
    "-C",
    "-d",
    "-D",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--color",
    "--max-count",
    "--regexp",
    "--file",
];
const RG: &[&str] = &[
    "-e",
    "-f",
    "-m",
    "-A",
    "-B",
    "-C",
    "-g",
    "-t",
    "-T",
    "-j",
    "-M",
    "-r",
    "-E",
    "-d",
    "--glob",
    "--type",
    "--type-not",
    "--max-count",
    "--max-depth",
    "--sort",
    "--regexp",
    "--file",
    "--replace",
    "--color",
    "--context",
    "--iglob",
];
const PATTERNS: &[&str] = &["-e", "-f", "--regexp", "--file"];

/// Sorted by name.
const READERS: &[FileReader] = &[
    after("ag", &["-A", "-B", "-C", "-G", "-m", "--ignore"], &[]),
    after("awk", &["-F", "-v", "-f", "-i"], &["-f"]),
    files(
        "bat",
        &["-r", "-l", "-H", "--line-range", "--language", "--style", "--theme", "--color"],
    ),
    files("batcat", &["-r", "-l", "-H", "--line-range", "--language", "--style", "--theme"]),
    files("cat", &[]),
    files("cmp", &["-n", "-i"]),
    files("column", &["-s", "-o", "-c", "-N"]),
    files("comm", &[]),
    files("cut", &["-d", "-f", "-c", "-b"]),
    files("diff", &["-U", "-x", "-C", "-I"]),
    after("egrep", GREP, PATTERNS),
    after("fgrep", GREP, PATTERNS),
    files("fold", &["-w"]),
    after("gawk", &["-F", "-v", "-f", "-i"], &["-f"]),
    after("grep", GREP, PATTERNS),
    files("head", COUNT),
    files("hexdump", &["-n", "-s", "-e"]),
    after("jq", &["-f", "--from-file", "--indent"], &["-f", "--from-file"]),
    files("less", &["-p", "-x", "-P"]),
    files("more", &["-n"]),
    files("nl", &["-b", "-w", "-s", "-v", "-n"]),
    files("od", &["-A", "-t", "-N", "-j", "-w"]),
    files("paste", &["-d"]),
    after("rg", RG, &["-e", "-f", "--regexp", "--file", "--files"]),
    after("sed", &["-e", "-f", "-l"], &["-e", "-f", "--expression", "--file"]),
    files("sort", &["-k", "-t", "-o", "-S", "-T"]),
    files("strings", &["-n"]),
    files("tac", &["-s"]),
    files("tail", COUNT),
    files("wc", &[]),
    files("xxd", &["-l", "-s", "-c", "-g"]),
    after("zgrep", GREP, PATTERNS),
];

/// Whether a word that begins with `+` is a command to it.
fn pages(name: &str) -> bool {
    ["less", "more"].contains(&name)
}

/// Names the files that the program shows.
pub(super) fn shown(shell: &mut Shell<'_>, call: &ProgramCall<'_>) {
    let Ok(at) = READERS.binary_search_by(|row| row.name.cmp(call.name)) else { return };
    let row = &READERS[at];
    let mut named = operands(call.args, row.takes);
    let instead = row.pattern.is_none_or(|options| any(call.args, options));
    if !instead && !named.is_empty() {
        named.remove(0);
    }
    let command = |file: &&&Arg| file.text.starts_with('+') && pages(call.name);
    for file in named.iter().filter(|file| !command(file)) {
        shell.touch(file, PathDeed::Read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_sorted_by_name() {
        assert!(READERS.is_sorted_by(|a, b| a.name < b.name));
    }
}
