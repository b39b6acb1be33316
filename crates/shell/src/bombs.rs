//! Detects commands that start processes or fill the disk without end: functions that call
//! themselves, and endless loops.

use super::parse::{Kind, Pipeline, Script, ShellCommand, Word};

/// Returns the names of the commands that the body of a function starts. The flag is true if the
/// command runs in a process of its own: in a pipeline or in the background.
pub(super) fn starts(body: &ShellCommand) -> Vec<(String, bool)> {
    let scripts: Vec<&Script> = match &body.kind {
        Kind::Group(script) | Kind::Subshell(script) => vec![script],
        Kind::Branches(parts) | Kind::Loop(parts) => parts.iter().collect(),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for item in scripts.into_iter().flatten() {
        let apart = item.background || item.commands.len() > 1;
        for command in &item.commands {
            found.extend(name_of(command).map(|name| (name, apart)));
            found.extend(starts(command).into_iter().map(|(name, inner)| (name, inner || apart)));
        }
    }
    found
}

/// Returns true if a function calls itself, directly or through other functions, and one of these
/// calls runs in another process. Such a function is a fork bomb.
pub(super) fn multiplies(name: &str, bodies: &[(String, Vec<(String, bool)>)]) -> bool {
    let mut todo = vec![(name.to_owned(), false)];
    let mut seen: Vec<(String, bool)> = Vec::new();
    while let Some((here, apart)) = todo.pop() {
        for (_, starts) in bodies.iter().filter(|(known, _)| *known == here) {
            for (next, forked) in starts {
                let step = (next.clone(), apart || *forked);
                if next == name && step.1 {
                    return true;
                }
                if !seen.contains(&step) {
                    seen.push(step.clone());
                    todo.push(step);
                }
            }
        }
    }
    false
}

/// Commands that use up room on the disk in every round of a loop.
const FILLS_DISK: [&str; 5] = ["mkdir", "touch", "mktemp", "fallocate", "dd"];
/// Loops with more rounds than this may start too many processes.
const MANY_ROUNDS: u64 = 500;
/// A pause that is shorter than this, in seconds, lets a loop start thousands of processes.
const SHORT_PAUSE: f64 = 0.1;

/// Returns true if an endless loop starts background processes, or fills the disk, without ever
/// waiting or ending. A loop that counts far counts as endless.
pub(super) fn floods(parts: &[Script]) -> bool {
    let [condition, body] = parts else { return false };
    let mut names = in_foreground(body).filter_map(name_of);
    let fills_disk = names.any(|name| FILLS_DISK.contains(&name.as_str()));
    let is_flood = is_endless(condition) && (fills_disk || spawns(body))
        || counts_far(condition) && spawns(body);
    is_flood && !waits(body)
}

pub(super) fn floods_over(rounds: u64, body: &Script) -> bool {
    rounds > MANY_ROUNDS && spawns(body) && !waits(body)
}

/// Returns true if a loop reads lines without end, and starts a process for each: `yes | while read`.
pub(super) fn feeds_flood(item: &Pipeline) -> bool {
    let [first, .., last] = item.commands.as_slice() else { return false };
    let Kind::Simple { words, .. } = &first.kind else { return false };
    let words: Vec<String> = words.iter().filter_map(Word::as_plain_text).collect();
    let feeds = match words.first().map(String::as_str) {
        Some("yes") => true,
        Some("seq") => words[1..].iter().any(|word| most_in(word) > MANY_ROUNDS),
        _ => false,
    };
    let Kind::Loop(parts) = &last.kind else { return false };
    feeds && parts.get(1).is_some_and(|body| spawns(body) && !waits(body))
}

/// Returns the largest number in a text, as the number of rounds that a loop may have:
/// `$(seq 1 1000)`, `i<1000`.
pub(super) fn most_in(text: &str) -> u64 {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).max().unwrap_or(0)
}

fn name_of(command: &ShellCommand) -> Option<String> {
    let Kind::Simple { words, .. } = &command.kind else { return None };
    words.first().and_then(Word::as_plain_text)
}

fn in_foreground(script: &Script) -> impl Iterator<Item = &ShellCommand> {
    script.iter().filter(|item| !item.background).flat_map(|item| &item.commands)
}

/// Returns true if a loop with this condition goes on for ever. `until` is parsed as `while`, so `false`
/// may be the condition of an endless loop, as in `until false; do …`.
fn is_endless(condition: &Script) -> bool {
    condition.iter().flat_map(|item| &item.commands).all(|command| match &command.kind {
        Kind::Simple { words, .. } => {
            let words: Option<Vec<String>> = words.iter().map(Word::as_plain_text).collect();
            let Some(words) = words else { return false };
            match words.first().map(String::as_str) {
                None | Some("true" | ":" | "false") => true,
                Some("sleep") => !pauses(&words),
                Some("[" | "test") => is_constant_test(&words[1..]),
                _ => false,
            }
        }
        Kind::Test(words) => {
            let words: Option<Vec<String>> = words.iter().map(Word::as_plain_text).collect();
            words.is_some_and(|words| is_constant_test(&words))
        }
        // The loops `for ((;;))` and `while ((1))` never end.
        Kind::Arithmetic(word) => [";;", "1"].contains(&word.raw.replace(' ', "").as_str()),
        _ => false,
    })
}

/// Returns true if a test compares nothing but constants, and does not look at the disk.
fn is_constant_test(words: &[String]) -> bool {
    let operators = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-n", "-z"];
    words.iter().all(|word| !word.starts_with('-') || operators.contains(&word.as_str()))
}

fn counts_far(condition: &Script) -> bool {
    condition.iter().flat_map(|item| &item.commands).any(|command| match &command.kind {
        Kind::Arithmetic(word) => word.raw.contains(';') && most_in(&word.raw) > MANY_ROUNDS,
        _ => false,
    })
}

fn spawns(script: &Script) -> bool {
    script.iter().any(|item| {
        item.background
            || item.commands.iter().any(|command| match &command.kind {
                Kind::Coproc(_) => true,
                Kind::Group(inner) | Kind::Subshell(inner) => spawns(inner),
                Kind::Branches(parts) => parts.iter().any(spawns),
                _ => name_of(command).is_some_and(|name| name == "setsid"),
            })
    })
}

fn waits(script: &Script) -> bool {
    let ends = ["wait", "break", "exit", "return", "read"];
    in_foreground(script).any(|command| match &command.kind {
        Kind::Simple { words, .. } => {
            let words: Vec<String> = words.iter().filter_map(Word::as_plain_text).collect();
            let name = words.first().map_or("", String::as_str);
            ends.contains(&name) || name == "sleep" && pauses(&words)
        }
        Kind::Group(inner) | Kind::Subshell(inner) => waits(inner),
        Kind::Branches(parts) => parts.iter().any(waits),
        _ => false,
    })
}

fn pauses(words: &[String]) -> bool {
    let seconds =
        words.get(1).map(|word| word.trim_end_matches(['s', 'm', 'h', 'd']).parse::<f64>());
    !matches!(seconds, Some(Ok(seconds)) if seconds < SHORT_PAUSE)
}
