//! Says which lines of a file a command has printed, as far as the text of the command shows it.

use code::LineRange;
use shell::{Invocation, PathEffect, Prediction};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrintedLines {
    Whole,
    Lines(LineRange),
}

/// Programs that print every file they name from beginning to end.
const PRINTERS: &[&str] =
    &["bat", "batcat", "cat", "less", "more", "nl", "tac", "type", "get-content", "gc"];
/// Programs that do not read their standard input. If one of them runs beside a printing program,
/// the file is still printed.
const BYSTANDERS: &[&str] =
    &["cd", "echo", "printf", "pwd", "true", ":", "ls", "git", "test", "[", "set-location"];

/// Returns how much a command has printed of the file at `path`, which is one of the files it
/// reads. `None` if it has printed no lines, or it is not known which ones: `grep`, `wc`, a file
/// that goes through a pipe.
pub(super) fn printed(reading: &Prediction, path: &str) -> Option<PrintedLines> {
    let names = |call: &&Invocation| call.words.iter().skip(1).any(|word| ends_in(path, word));
    let mut naming = reading.commands.iter().filter(names);
    let (Some(call), None) = (naming.next(), naming.next()) else { return None };
    // The output may go into a written file instead of the terminal.
    if call.hidden || reading.targets.iter().any(|target| target.effect == PathEffect::Write) {
        return None;
    }
    let words: Vec<&str> = call.words.iter().skip(1).map(String::as_str).collect();
    let own = of_program(&name_of(call), &words)?;
    // Another program of the command may consume the output of this one.
    let others: Vec<&Invocation> =
        reading.commands.iter().filter(|other| *other != call && !stands_by(other)).collect();
    match (others.as_slice(), own) {
        ([], own) => Some(own),
        ([next], PrintedLines::Whole) if !next.hidden => {
            let words = next.words.iter().skip(1).map(String::as_str).chain([path]);
            let words: Vec<&str> = words.collect();
            let printed = of_program(&name_of(next), &words);
            printed.filter(|printed| *printed != PrintedLines::Whole)
        }
        _ => None,
    }
}

fn stands_by(call: &Invocation) -> bool {
    let program = name_of(call);
    BYSTANDERS.contains(&program.as_str()) || PRINTERS.contains(&program.as_str())
}

/// Returns the program's name in lower case, because PowerShell ignores case: `Get-Content`.
fn name_of(call: &Invocation) -> String {
    call.program.as_deref().unwrap_or_default().to_ascii_lowercase()
}

/// Returns how much of a file a program prints, if that is known. `words` are its arguments; the
/// last of them is the file.
fn of_program(program: &str, words: &[&str]) -> Option<PrintedLines> {
    match program {
        "head" => head(words).map(PrintedLines::Lines),
        "tail" => tail(words).map(PrintedLines::Lines),
        "sed" => sed(words).map(PrintedLines::Lines),
        "bat" | "batcat" if words.iter().any(|word| is_range_option(word)) => None,
        program => PRINTERS.contains(&program).then_some(PrintedLines::Whole),
    }
}

fn ends_in(path: &str, word: &str) -> bool {
    let word = word.trim_start_matches("./").trim_start_matches("../").replace('\\', "/");
    !word.is_empty() && (path == word || path.ends_with(&format!("/{}", word.trim_matches('/'))))
}

fn is_range_option(word: &str) -> bool {
    word.starts_with("-r") || word.starts_with("--line-range")
}

/// Reads `head FILE`, `head -n 20 FILE` and `head -20 FILE`.
fn head(words: &[&str]) -> Option<LineRange> {
    let count = match words {
        [_] => 10,
        ["-n" | "--lines", count, _] => count.parse().ok()?,
        [one, _] => one
            .strip_prefix("--lines=")
            .or_else(|| one.strip_prefix("-n"))
            .or_else(|| one.strip_prefix('-'))?
            .parse()
            .ok()?,
        _ => return None,
    };
    LineRange::new(1, count)
}

/// Reads `tail -n +20 FILE`. The lines that `tail -n 20 FILE` prints depend on the length of the
/// file, which is not known here.
fn tail(words: &[&str]) -> Option<LineRange> {
    let from = match words {
        ["-n" | "--lines", from, _] => from.strip_prefix('+')?,
        [one, _] => one.strip_prefix("-n+").or_else(|| one.strip_prefix("--lines=+"))?,
        _ => return None,
    };
    LineRange::new(from.parse().ok()?, u32::MAX)
}

fn sed(words: &[&str]) -> Option<LineRange> {
    let ["-n" | "--quiet" | "--silent", script, _] = words else { return None };
    let lines = script.trim().trim_end_matches(';').strip_suffix('p')?;
    let (first, last) = lines.split_once(',').unwrap_or((lines, lines));
    let last = match last.trim() {
        "$" => u32::MAX,
        last => last.parse().ok()?,
    };
    LineRange::new(first.trim().parse().ok()?, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shell::{CommandContext, Dialect};

    fn printed_of(text: &str) -> Vec<String> {
        of_dialect(text, Dialect::Posix)
    }

    fn of_dialect(text: &str, dialect: Dialect) -> Vec<String> {
        let at = CommandContext {
            cwd: "/w/app".into(),
            root: Some("/w/app".into()),
            home: None,
            temp: Vec::new(),
        };
        let reading = shell::read(text, dialect, &at);
        let read = reading.targets.iter().filter(|target| target.effect == PathEffect::Read);
        read.map(|target| match printed(&reading, &target.path) {
            Some(PrintedLines::Whole) => "whole".to_owned(),
            Some(PrintedLines::Lines(lines)) if lines.end() == u32::MAX => {
                format!("{}-", lines.start())
            }
            Some(PrintedLines::Lines(lines)) => format!("{}-{}", lines.start(), lines.end()),
            None => "unknown".to_owned(),
        })
        .collect()
    }

    #[test]
    fn redirected_output_does_not_count_as_shown() {
        for (redirect, expected) in [
            (">/dev/null", "unknown"),
            ("1> /dev/null", "unknown"),
            (">> /dev/null", "unknown"),
            ("&>/dev/null", "unknown"),
            (">&/dev/null", "unknown"),
            ("> /dev/null 2>&1", "unknown"),
            ("2>/dev/null", "whole"),
            ("2>> /dev/null", "whole"),
            ("2>&1", "whole"),
            ("< /dev/null", "whole"),
        ] {
            for text in ["cat src/a.rs", "(cat src/a.rs)", "{ cat src/a.rs; }"] {
                let text = format!("{text} {redirect}");
                assert_eq!(printed_of(&text), [expected], "{text}");
            }
        }
        for text in ["cat src/a.rs | head -5 > /dev/null", "cat src/a.rs > /dev/null | head -5"] {
            assert_eq!(printed_of(text), ["unknown"], "{text}");
        }
        assert_eq!(printed_of("ls > /dev/null; cat src/a.rs"), ["whole"]);
        assert_eq!(of_dialect("Get-Content src/a.rs > $null", Dialect::PowerShell), ["unknown"]);
        assert_eq!(of_dialect("Get-Content src/a.rs", Dialect::PowerShell), ["whole"]);
    }

    #[test]
    fn a_command_shows_the_lines_that_it_prints() {
        for (text, expected) in [
            ("cat src/a.rs", "whole"),
            ("cat ./src/a.rs", "whole"),
            ("cat /w/app/src/a.rs", "whole"),
            ("cd src && cat a.rs", "whole"),
            ("nl src/a.rs", "whole"),
            ("cat src/a.rs | grep x", "unknown"),
            ("cat src/a.rs | head -5", "1-5"),
            ("nl -ba src/a.rs | sed -n '10,20p'", "10-20"),
            ("cat src/a.rs | sort | head -5", "unknown"),
            ("cat src/a.rs > src/b.rs", "unknown"),
            ("head src/a.rs", "1-10"),
            ("head -n 20 src/a.rs", "1-20"),
            ("head -20 src/a.rs", "1-20"),
            ("head -n -5 src/a.rs", "unknown"),
            ("tail -n +20 src/a.rs", "20-"),
            ("tail -n 20 src/a.rs", "unknown"),
            ("sed -n '10,20p' src/a.rs", "10-20"),
            ("sed -n 10p src/a.rs", "10-10"),
            ("sed -n '10,$p' src/a.rs", "10-"),
            ("sed 's/a/b/' src/a.rs", "unknown"),
            ("grep -n x src/a.rs", "unknown"),
            ("wc -l src/a.rs", "unknown"),
        ] {
            assert_eq!(printed_of(text), [expected], "{text}");
        }
        assert_eq!(printed_of("cat src/a.rs src/b.rs"), ["whole", "whole"]);
        assert_eq!(printed_of("cp src/a.rs src/b.rs"), ["unknown"], "a copy is not seen");
    }
}
