//! Decides which comments are directives, that is, comments that a compiler or a tool reads.
//!
//! A comment that looks like an instruction for a tool counts as a directive: `//go:embed`,
//! `# noqa`, `@Route("/")`, `frozen_string_literal: true`. If prose is taken for a directive, a
//! refactoring is not recognised as one. The opposite mistake would hide a change.

use std::ops::Range;

use super::words_in;

use crate::language_tables::directives::{
    ALONE, BEGINNINGS, DOCUMENTING, KEYS, OPENERS, ORDERS, PHRASES, REQUESTS, SHOUTED, TOOLS,
};

#[derive(Clone, Debug)]
pub struct Comment {
    pub bytes: Range<usize>,
    /// True if the comment tells a compiler, a type checker or a tool what to do.
    pub directive: bool,
}

pub(super) fn comments(language: &str, text: &str, places: &[Range<usize>]) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    let mut run_start = 0;
    for (at, bytes) in places.iter().enumerate() {
        let directive = is_directive(language, text, bytes);
        found.push(Comment { bytes: bytes.clone(), directive });
        let end = bytes.start + text[bytes.clone()].trim_end().len();
        let next = places.get(at + 1).map_or(text.len(), |next| next.start);
        let goes_on = at + 1 < places.len()
            && text[end..next].trim().is_empty()
            && text[end..next].matches('\n').count() < 2;
        if !goes_on {
            mark_run(language, text, &mut found[run_start..], &text[end..]);
            run_start = at + 1;
        }
    }
    found
}

/// Marks more directives in a run, which is a group of comments without code or a blank line
/// between them: the expected output of a Go example, a cgo preamble, or a code block in Rust doc
/// comments.
fn mark_run(language: &str, text: &str, run: &mut [Comment], after: &str) {
    let mut inside = language == "go" && after.trim_start().starts_with("import \"C\"");
    let (mut fenced, mut metadata) = (false, false);
    for comment in run {
        let whole = &text[comment.bytes.clone()];
        let line = without_opener(whole);
        let fence = language == "rust"
            && (whole.starts_with("///") || whole.starts_with("//!"))
            && (line.starts_with("```") || line.starts_with("~~~"));
        inside |= language == "go" && begins_go_output(line);
        // From `# /// script` on, the comments of a Python script name what it requires.
        metadata |= language == "python" && whole.starts_with("# /// ");
        comment.directive |= inside || fenced || fence || metadata;
        fenced ^= fence;
        comment.directive |= language == "rust"
            && (whole.starts_with("/**") || whole.starts_with("/*!"))
            && whole.contains("```");
    }
}

fn begins_go_output(line: &str) -> bool {
    let line = line.to_lowercase();
    line.starts_with("output:") || line.starts_with("unordered output:")
}

fn is_directive(language: &str, text: &str, bytes: &Range<usize>) -> bool {
    let comment = &text[bytes.clone()];
    if is_read_by_form(language, comment, &text[bytes.end..]) {
        return true;
    }
    let squeezed = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    // A word in capitals or with a hyphen directly after the comment sign, as in `#SBATCH` or
    // `#cloud-config`. Prose has a space there, or another kind of word.
    let is_joined = ["#", "//", "/*"].iter().any(|opener| {
        let rest = comment.strip_prefix(opener).unwrap_or_default();
        let word: &str =
            rest.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
        let shouts = word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase());
        shouts
            || word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.contains('-')
                && !word.contains(char::is_uppercase)
    });
    is_joined
        || entries(BEGINNINGS, language).any(|start| squeezed.starts_with(start))
        || comment.lines().any(|line| is_directive_line(language, without_opener(line)))
}

/// Returns true if a compiler or a tool reads a comment because of its form. `after` is the text behind
/// it.
fn is_read_by_form(language: &str, comment: &str, after: &str) -> bool {
    // A minifier keeps `/*! … */`. A backslash joins the comment with the line below it.
    if comment.starts_with("#!")
        || comment.starts_with("/*!") && language != "rust"
        || comment.ends_with('\\')
    {
        return true;
    }
    let words = || comment.split_whitespace().count();
    match language {
        // Java reads `\u000a` as a line break also in a comment, so what is behind it is code.
        "java" => comment.contains("\\u"),
        // A server replaces `<!--app-html-->`, and runs `<% … %>`.
        "html" | "vue" | "svelte" => {
            words() == 1 || ["<%", "<?"].iter().any(|mark| comment.contains(mark))
        }
        // `/* id */1` is a parameter in templates of SQL.
        "sql" => comment.starts_with("/*") && after.starts_with(|c: char| !c.is_whitespace()),
        // `## builds all` is shown as help.
        "make" => comment.starts_with("##") || comment.contains("\\\n"),
        // `/* GraphQL */` says what the text behind it is.
        "javascript" | "typescript" | "tsx" => after.trim_start().starts_with('`'),
        _ => false,
    }
}

fn entries(
    table: &'static [(&str, &[&str])],
    language: &str,
) -> impl Iterator<Item = &'static str> {
    let rows = table.iter().filter(move |(id, _)| id.is_empty() || *id == language);
    rows.flat_map(|(_, list)| list.iter().copied())
}

/// Removes the sign that begins a comment, and white space and punctuation after it. The end of
/// `# -*- mode: ruby -*-` is kept, because the caller recognises the line by it.
fn without_opener(line: &str) -> &str {
    let line = line.trim();
    let rest = OPENERS.iter().find_map(|opener| line.strip_prefix(opener)).unwrap_or(line);
    rest.trim_start_matches(|c: char| c.is_whitespace() || "-*!:".contains(c))
}

/// Returns true if a line of a comment, without the sign that begins it, looks like a directive.
fn is_directive_line(language: &str, line: &str) -> bool {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return false };
    let lower = line.to_lowercase();
    let name_of = |rest: &'_ str| -> String {
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    // `@Route("/")`, and `@param {string}`, because a tool may check the type.
    let tagged = first.strip_prefix('@').map(|tag| name_of(tag.trim_start_matches('!')));
    let typed = words.clone().next().is_some_and(|next| next.starts_with('{'));
    let tag = tagged.is_some_and(|tag| !tag.is_empty() && (typed || !DOCUMENTING.contains(&&*tag)));
    // `> using dep` and `$NON-NLS-1$`, but not `{@link …}`.
    let marked = first.starts_with(['>', '$', '{', '%']) && !first.starts_with("{@");
    // `PYTHON_ARGCOMPLETE_OK`
    let is_flag = |c: char| c.is_ascii_uppercase() || c == '_';
    let flag = first == line && first.contains('_') && first.chars().all(is_flag);
    // `+build`, and `#region` after another comment sign.
    let sign = first.strip_prefix(['+', '$', '#']).is_some_and(|rest| !name_of(rest).is_empty());
    let plain = |key: &str| {
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphabetic() || "_-+".contains(c))
    };
    // `go:embed`, but not `std::vector` or `http://`.
    let joined = first.split_once(':').is_some_and(|(key, value)| {
        plain(key) && value.starts_with(|c: char| c.is_alphanumeric() || c == '+')
    });
    // `encoding=utf-8`
    let set = first.split_once('=').is_some_and(|(key, value)| {
        plain(key) && value.starts_with(|c: char| c.is_alphanumeric() || c == '"')
    });
    let keyed = line.split_once(':').is_some_and(|(key, value)| {
        let key = key.trim_end();
        // `webpackChunkName:`, `frozen_string_literal:`, `coding:`, `zizmor: ignore`.
        let camel = key.starts_with(char::is_lowercase) && key.contains(char::is_uppercase);
        let lower = !key.contains(char::is_uppercase);
        let compound = camel || (lower && key.contains(['_', '-']));
        let asked = value.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        let asked = asked.is_some_and(|word| REQUESTS.contains(&word));
        let known = || entries(KEYS, language).any(|known| key.eq_ignore_ascii_case(known));
        plain(key) && (compound || asked || known())
    });
    let mut lower_words = words_in(&lower).take(4);
    let tool = lower_words.next().unwrap_or_default();
    let ordered = lower_words.any(|word| ORDERS.contains(&word));
    // `eslint-disable-line`, but not `off-by-one`.
    let kebab =
        first.split('-').skip(1).any(|part| ORDERS.contains(&part.trim_end_matches([':', ','])));
    tag || sign
        || marked
        || flag
        || SHOUTED.iter().any(|word| line.starts_with(word))
        || joined
        || set
        || keyed
        || kebab
        || ALONE.contains(&tool)
        || (TOOLS.contains(&tool) && (ordered || first.contains(['-', ':', '=', '[', '('])))
        || line.contains("-*-")
        || PHRASES.iter().any(|phrase| lower.starts_with(phrase))
}
