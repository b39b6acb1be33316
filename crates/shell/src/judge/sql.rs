//! Recognises statements that lose data, in SQL and in other database languages.

use super::{Arg, Class, ProgramCall, Shell, ShellFinding, destructive_rule, opaque, rules, table};
use crate::table::{first_word_in, list};

use super::options::{operands, values};

pub(super) fn judge(shell: &mut Shell, call: &ProgramCall) -> ShellFinding {
    let row = rules::line(call.name);
    let options = row.map_or_else(Vec::new, |row| row.list("code"));
    let operand: usize = row.and_then(|row| row.text("after").parse().ok()).unwrap_or(0);
    let mut codes: Vec<Arg> = values(call.args, &options);
    if operand > 0 {
        codes.extend(operands(call.args, &options).into_iter().skip(operand - 1).cloned());
    }
    if let Some(pieces) = &call.stdin.pieces {
        codes.push(Arg::from_pieces(pieces));
    }
    let ruled = rules::judge(call).filter(|found| found.class == Class::Destructive);
    let mut worst = ruled.unwrap_or_else(|| opaque("program.database", call.name));
    for code in &codes {
        shell.mention(&code.text);
        worst.raise(statements(&code.text));
        for command in code.text.lines().filter_map(|line| escape(line.trim())) {
            worst.raise(shell.judge_inner_code(call.name, command));
        }
    }
    let asks = !codes.is_empty() && codes.iter().all(|code| code.sure && only_asks(&code.text));
    if asks && worst.class == Class::Opaque && !call.stdin.present {
        return super::inspects(call.name);
    }
    worst
}

/// Returns true if every statement only reads, judged by its first word and by the absence of words
/// that write.
fn only_asks(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if first_word_in("sqlwrites", &lower).is_some() {
        return false;
    }
    let asks = list("sqlasks");
    let mut statements = lower.split([';', '\n']).map(str::trim).filter(|text| !text.is_empty());
    statements.all(|text| asks.iter().any(|word| text.starts_with(word)))
}

/// Returns the command that a client passes to a shell: `.shell rm`, `\! rm`, `system rm`.
fn escape(line: &str) -> Option<&str> {
    [".shell ", ".system ", "\\! ", "\\!", "system ", "!"]
        .iter()
        .find_map(|begin| line.strip_prefix(begin))
}

/// Returns a finding for the first statement that deletes or changes data without a condition, or
/// drops it.
pub(super) fn statements(text: &str) -> Option<ShellFinding> {
    for words in split(text) {
        let first = words.first().map_or("", String::as_str);
        let rows = table::rows(&format!("sql:{first}"));
        let there = |wanted: &str| match wanted {
            "$always" => is_always_true(&words),
            wanted => words.iter().any(|word| word == wanted),
        };
        if let Some(row) = rows.iter().find(|row| row.conditions_hold(there)) {
            return Some(destructive_rule(row.word(1), &words[..words.len().min(3)].join(" ")));
        }
    }
    let squeezed: String = text.split_whitespace().collect();
    let found = first_word_in("sqldrops", &squeezed.to_ascii_lowercase())?;
    Some(destructive_rule("sql.drop", found))
}

/// Returns true for a condition that always holds: `WHERE 1=1`, `WHERE true`.
fn is_always_true(words: &[String]) -> bool {
    let after = words.iter().position(|word| word == "WHERE").map(|at| &words[at + 1..]);
    let after: String = after.unwrap_or_default().concat();
    ["1=1", "TRUE", "1", "''=''"].contains(&after.as_str())
}

/// Splits a text into statements, and these into words in capitals. Comments are dropped, and
/// quoted texts become `''`.
fn split(text: &str) -> Vec<Vec<String>> {
    let mut done = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let close = |word: &mut String, words: &mut Vec<String>| {
            if !word.is_empty() {
                words.push(std::mem::take(word));
            }
        };
        let skip = if rest.starts_with("--") {
            close(&mut word, &mut words);
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            close(&mut word, &mut words);
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if c == '\'' {
            word.push_str("''");
            rest[1..].find('\'').map_or(rest.len(), |at| at + 2)
        } else if c == ';' || c == '\n' && words.is_empty() && word.is_empty() {
            close(&mut word, &mut words);
            done.push(std::mem::take(&mut words));
            1
        } else if c.is_whitespace() || "(),".contains(c) {
            close(&mut word, &mut words);
            c.len_utf8()
        } else {
            word.extend(c.to_uppercase().filter(|c| *c != '`' && *c != '"'));
            c.len_utf8()
        };
        rest = &rest[skip..];
    }
    if !word.is_empty() {
        words.push(word);
    }
    done.push(words);
    done
}
