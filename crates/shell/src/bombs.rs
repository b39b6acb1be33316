//! Detects commands that start processes or fill the disk without end: functions that call
//! themselves, and endless loops.

use super::parse::{Kind, Script, ShellCommand, Word};

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
            if let Kind::Simple { words, .. } = &command.kind {
                found.extend(words.first().and_then(Word::as_plain_text).map(|name| (name, apart)));
            }
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

/// Returns true if an endless loop starts background processes, or fills the disk, without ever
/// waiting or ending.
pub(super) fn floods(parts: &[Script]) -> bool {
    let names = |script: &Script| -> Vec<String> {
        let commands = script.iter().flat_map(|item| &item.commands);
        let named = commands.map(|command| match &command.kind {
            Kind::Simple { words, .. } => {
                words.first().and_then(Word::as_plain_text).unwrap_or_default()
            }
            Kind::Arithmetic(word) => word.raw.clone(),
            _ => String::new(),
        });
        named.collect()
    };
    let [condition, body] = parts else { return false };
    let endless = names(condition)
        .iter()
        .all(|name| ["true", ":", "false", ";;", "1"].contains(&name.replace(' ', "").as_str()));
    let waits = ["wait", "sleep", "break", "exit", "return", "read"];
    let foreground: Script = body.iter().filter(|item| !item.background).cloned().collect();
    let names = names(&foreground);
    // Commands that use up room on the disk in every round.
    let fills = ["mkdir", "touch", "mktemp", "fallocate", "dd"];
    endless
        && (body.iter().any(|item| item.background)
            || names.iter().any(|name| fills.contains(&name.as_str())))
        && !names.iter().any(|name| waits.contains(&name.as_str()))
}
