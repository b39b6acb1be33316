//! Searches code of other languages for dangerous calls. The code is never followed, so it is at
//! least opaque. It is destructive if it certainly deletes something important, passes such a
//! command to a shell, or runs what it has decoded or downloaded.

use super::{
    Arg, Class, Shell, ShellFinding, WordPiece, decoded, destructive_rule, downloaded, remove,
    secrets, sql, tried_text,
};
use crate::parse::unescape;
use crate::table::{first_word_in, holds, list};

/// A string in code of another language, and its place in bytes.
pub(super) struct Text {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
    /// True if the string is in backticks, `%x(…)` or `qx(…)`, which run it as a command in some
    /// languages.
    ticks: bool,
}

/// Returns the most severe destructive finding in the code, or `None`.
pub(super) fn scan(shell: &mut Shell, code: &str, language: &str) -> Option<ShellFinding> {
    shell.mention(code);
    let has = |name: &str| first_word_in(name, code).is_some();
    let runs_text =
        ["eval", "exec", "Function(", "compile("].iter().any(|call| code.contains(call));
    if runs_text && has("codedecodes") {
        return Some(decoded(language));
    }
    if runs_text && has("codefetches") && !code.contains("regex.exec") {
        return Some(downloaded(language));
    }
    let texts = texts(code);
    let worst = decoded_or_device(code, &texts)
        .or_else(|| secrets::in_code(code))
        .or_else(|| forks(code))
        .or_else(|| gives_shell(code))
        .or_else(|| deletes(shell, code, &texts));
    let ticks = texts.iter().any(|text| text.ticks) && ["perl", "ruby", "php"].contains(&language);
    let mut codes: Vec<String> = code
        .split(['\n', ';'])
        .filter_map(|line| {
            let line = line.trim();
            ["spawn ", "exec ", "!"].iter().find_map(|begin| line.strip_prefix(begin))
        })
        .map(str::to_owned)
        .collect();
    if ticks || language == "awk" || has("codestarts") {
        codes.extend(commands(code, &texts));
    }
    let mut found: Vec<ShellFinding> =
        codes.iter().filter_map(|code| tried_text(shell, code)).collect();
    if code.contains("execute") || code.contains("query") || code.contains("exec(") {
        found.extend(texts.iter().find_map(|text| sql::statements(&text.text)));
    }
    found.retain(|found| found.class == Class::Destructive);
    worst.into_iter().chain(found).reduce(|worst, found| worst.most_severe(found))
}

fn decoded_or_device(code: &str, texts: &[Text]) -> Option<ShellFinding> {
    let decoders = list("codedecodes");
    let hidden = list("codecalls").iter().any(|start| {
        code.match_indices(start).any(|(at, _)| {
            let after: String = code[at..].chars().take(70).collect();
            decoders.iter().any(|decoder| decoder != &"chr(" && after.contains(decoder))
        })
    });
    if hidden {
        return Some(decoded("system"));
    }
    let disks = list("diskbegins");
    let disk = texts.iter().find(|text| disks.iter().any(|disk| text.text.starts_with(disk)))?;
    let writes = code.contains("open(") && texts.iter().any(|text| text.text.contains('w'));
    writes.then(|| destructive_rule("redirect.device", &disk.text))
}

fn gives_shell(code: &str) -> Option<ShellFinding> {
    if code.contains("/inet/tcp/") || code.contains("/inet/udp/") {
        return Some(destructive_rule("network.talk", "/inet/"));
    }
    first_word_in("codesockets", code)?;
    Some(destructive_rule("network.shell", first_word_in("codeshells", code)?))
}

fn forks(code: &str) -> Option<ShellFinding> {
    first_word_in("codeendless", code)?;
    code.contains("fork").then(|| destructive_rule("fork-bomb", "fork"))
}

/// Returns a finding for the first call that deletes something important. It is judged by the path
/// next to the call; if there is none, the path counts as unknown.
fn deletes(shell: &mut Shell, code: &str, texts: &[Text]) -> Option<ShellFinding> {
    let deeply = list("codedeletesdeep").into_iter().map(|call| (call, true));
    let calls = deeply.chain(list("codedeletes").into_iter().map(|call| (call, false)));
    let mut found = Vec::new();
    for (at, call, deep) in
        calls.flat_map(|(call, deep)| code.match_indices(call).map(move |(at, _)| (at, call, deep)))
    {
        let inside = texts.iter().any(|text| text.start < at && at < text.end && !text.ticks);
        let before = code[..at].chars().next_back();
        let word = call.starts_with(|c: char| c.is_ascii_alphabetic());
        let joined = word && before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let comment = code[..at].rsplit('\n').next().is_some_and(|line| {
            let line = line.trim_start();
            line.starts_with('#') || line.starts_with("//")
        });
        if inside || joined || comment {
            continue;
        }
        let after = at + call.len();
        // The path is the string directly after the call. For a method it may be directly before
        // it: `Path("x").unlink()`.
        let path = texts.iter().find(|text| {
            text.end > at
                && text.start >= at.saturating_sub(1)
                && code.get(after..text.start).is_none_or(|between| {
                    between.len() < 16 && !between.contains([')', ';', '\n', ','])
                })
        });
        let before_it = texts.iter().rev().find(|text| {
            call.starts_with('.') && text.end <= at && code[text.end..at].trim() == ")"
        });
        let word = call.trim_end_matches(['(', ' ', '"']);
        found.push(match path.or(before_it) {
            Some(path) => {
                let tail: String = code[path.end.min(code.len())..].chars().take(40).collect();
                let deep = deep || tail.contains("recursive") || tail.contains("force");
                let found = remove::judge_deletion(shell, &literal_path(&path.text), deep);
                ShellFinding { rule: "code.delete", word: word.to_owned(), ..found }
            }
            None => destructive_rule("code.delete", word),
        });
    }
    // The name of a deleting function may be an argument: `array_map("unlink", …)`.
    let named = texts.iter().find(|text| holds("deleters", &text.text));
    found.extend(named.map(|text| destructive_rule("code.delete", &text.text)));
    found.into_iter().find(|found| found.class == Class::Destructive)
}

/// Returns a string in code as a path. If it contains `*`, the part from the first special
/// character on is a glob.
fn literal_path(text: &str) -> Arg {
    match text.split_once(['*', '{', '$', '#']) {
        Some((before, _)) if text.contains('*') => Arg::from_pieces(&[
            WordPiece::Text(before.to_owned()),
            WordPiece::Glob(text[before.len()..].to_owned()),
        ]),
        _ => Arg::with_known_text(text),
    }
}

/// Returns the possible commands in code: every string, concatenated strings, and lists of strings
/// as the words of one command.
fn commands(code: &str, texts: &[Text]) -> Vec<String> {
    let mut found = Vec::new();
    for at in 0..texts.len() {
        let mut sum = texts[at].text.clone();
        let mut list = vec![sum.clone()];
        for pair in texts[at..].windows(2) {
            let (before, next) = (&pair[0], &pair[1]);
            match code.get(before.end..next.start).unwrap_or_default().trim() {
                "" | "+" | "." => {
                    sum.push_str(&next.text);
                    list.last_mut().into_iter().for_each(|last| last.push_str(&next.text));
                }
                "," | ",[" | ", [" | "', '" => list.push(next.text.clone()),
                _ => break,
            }
        }
        found.extend([texts[at].text.clone(), sum]);
        if list.len() > 1 {
            let quoted = list.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
            found.push(quoted.collect::<Vec<_>>().join(" "));
        }
    }
    found.retain(|command| command.len() > 2);
    found.truncate(64);
    found
}

pub(super) fn texts(code: &str) -> Vec<Text> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let quote =
            ["\"\"\"", "'''", "\"", "'", "`"].into_iter().find(|quote| rest.starts_with(quote));
        let Some(quote) = quote else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let (text, length) = quoted_content(&rest[quote.len()..], quote);
        let end = at + quote.len() + length;
        found.push(Text { start: at, end, text, ticks: quote == "`" });
        at = end;
    }
    for (open, close) in [("%x(", ")"), ("%x{", "}"), ("qx(", ")"), ("qx{", "}"), ("qx/", "/")] {
        for (start, _) in code.match_indices(open) {
            let inside = &code[start + open.len()..];
            let length = inside.find(close).unwrap_or(inside.len());
            let text = inside[..length].to_owned();
            found.push(Text { start, end: start + open.len() + length, text, ticks: true });
        }
    }
    found
}

/// Returns the content of a quoted string, and its length in bytes with the closing quote.
fn quoted_content(rest: &str, quote: &str) -> (String, usize) {
    let mut at = 0;
    while at < rest.len() && !rest[at..].starts_with(quote) {
        let escaped = rest[at..].starts_with('\\');
        at += rest[at..].chars().take(1 + usize::from(escaped)).map(char::len_utf8).sum::<usize>();
    }
    (unescape(&rest[..at]).replace('\r', "\n"), (at + quote.len()).min(rest.len()))
}
