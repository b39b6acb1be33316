//! Finds commands, code and statements among the arguments of a tool that is in no table, where
//! neither its name nor the field says that it runs a command. What certainly loses something, and
//! what names a file that it changes, is judged like a command line; the rest is compared afterwards.

use std::path::Path;

use serde_json::Value;

use super::fields;
use ground::text::{is_listed, shell_word};
use shell::{Class, CommandContext, Dialect};

/// Fields with a command line, or with code in a language that another field or the name says.
const CODE: &str = "
    code command cmd command_line commandLine script source_code sourceCode snippet expression program
    input_code shell_command bash
";
const PROGRAM: &str = "program executable exe binary command cmd";
const FOLLOWING: &str = "args arguments argv parameters params";
const STATEMENTS: &str = "sql query statement statements queries sql_query";
const LANGUAGE: &str = "language lang runtime interpreter kernel";

/// The beginnings of command lines that run code of these languages.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python python3 py ipython jupyter notebook kernel", "python3 -c"),
    ("javascript js node nodejs typescript ts deno bun", "node -e"),
    ("ruby rb", "ruby -e"),
    ("perl", "perl -e"),
    ("php", "php -r"),
    ("powershell pwsh", "pwsh -c"),
    ("shell sh bash zsh terminal cmd console command", ""),
];

/// Words in a tool's name that say that it deletes something for good.
const DESTROYS: &str = "
    delete destroy drop purge wipe terminate truncate erase nuke uninstall deprovision revoke
    prune remove
";

/// Words in the name of a tool for which the field `query` holds a statement for a database.
const DATABASES: &str = "query sql db database postgres mysql sqlite execute exec run";

/// Returns the command line of what an unknown tool would run in a folder, if it is grave. `words` are
/// those of its name, which may say that it only reads.
pub(super) fn command_in_arguments(
    (input, cwd): (&Value, &Path),
    words: &[String],
    only_reads: bool,
) -> Option<String> {
    let mut texts = Vec::new();
    if words.iter().any(|word| is_listed(DATABASES, word)) {
        let statements = strings(input, STATEMENTS).into_iter();
        texts.extend(statements.map(|text| format!("psql -c {}", shell_word(&text))));
    }
    if !only_reads {
        texts.extend(program(input));
        let codes = strings(input, CODE);
        texts.extend(codes.iter().flat_map(|code| command_lines(input, code, words)));
    }
    texts.into_iter().find(|text| is_grave(cwd, text))
}

pub(super) fn is_grave(cwd: &Path, text: &str) -> bool {
    let context = CommandContext { cwd: cwd.to_owned(), ..CommandContext::default() };
    let found = shell::read(text, Dialect::Posix, &context);
    let changes = |target: &shell::TouchedPath| {
        !matches!(target.effect, shell::PathEffect::Read) && target.known
    };
    let may_write = found.class != Class::Read && !found.inspects;
    let may_exist = |path: &Path| path.exists() || path.parent().is_some_and(Path::is_dir);
    found.class == Class::Destructive
        || found.targets.iter().any(changes)
        || may_write && found.paths_in_text.iter().any(|path| may_exist(Path::new(path)))
}

fn program(input: &Value) -> Option<String> {
    let program = fields::word(input, PROGRAM)?;
    let list = fields::first_field(input, FOLLOWING)?;
    let word = |word: &Value| word.as_str().map_or_else(|| word.to_string(), str::to_owned);
    let words = match list {
        Value::Array(words) => words.iter().map(|one| shell_word(&word(one))).collect::<Vec<_>>(),
        Value::String(words) => vec![words.clone()],
        _ => return None,
    };
    Some(std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" "))
}

/// Returns the command lines that `code` may stand for. If nothing says its language, these are the
/// text itself, and the two languages in which tools usually run code.
fn command_lines(input: &Value, code: &str, words: &[String]) -> Vec<String> {
    let said = fields::word(input, LANGUAGE).unwrap_or_default().to_ascii_lowercase();
    let of_word = |word: &str| {
        INTERPRETERS.iter().find(|(names, _)| is_listed(names, word)).map(|(_, begin)| *begin)
    };
    let line = |begin: &str| match begin {
        "" => code.to_owned(),
        begin => format!("{begin} {}", shell_word(code)),
    };
    match of_word(&said).or_else(|| words.iter().find_map(|word| of_word(word))) {
        Some(begin) => vec![line(begin)],
        None => ["", "python3 -c", "node -e"].map(line).into(),
    }
}

/// Returns the command that a tool's name spells, if it says that something is deleted:
/// `gitlab delete project 7` for `mcp__gitlab__delete_project {"id": 7}`.
pub(super) fn command_in_name(input: &Value, words: &[String]) -> Option<String> {
    if !words.iter().any(|word| is_listed(DESTROYS, word)) {
        return None;
    }
    let values = input.as_object().into_iter().flat_map(|members| members.values());
    let values = values.filter_map(|value| match value {
        Value::String(text) if text.len() < 200 => Some(shell_word(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    let words = words.iter().map(|word| shell_word(word));
    Some(
        std::iter::once("server".to_owned())
            .chain(words)
            .chain(values)
            .collect::<Vec<_>>()
            .join(" "),
    )
}

fn strings(input: &Value, names: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in input.as_object().into_iter().flatten() {
        match value {
            Value::String(text) if is_listed(names, name) => found.push(text.clone()),
            Value::Array(items) if is_listed(names, name) => {
                found.extend(items.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}
