//! Names of files in prose, and names made of words.

use code::lists::words;
use ground::RelativePath;

/// The endings of files that are named without a folder, such as `Cargo.toml`. Other words with a
/// dot, such as `user.name`, are mostly code.
const ENDINGS: &[&str] = words!(
    "c cc cpp cs css go h html java js json jsx kt lock md mjs php py rb rs scss sh sql svelte swift
    toml ts tsx vue xml yaml yml"
);

/// More paths than this are not collected of one intent.
const MAX_HINTS: usize = 500;

/// Adds the paths that a text names, in order, each once.
pub(super) fn add_paths(text: &str, hints: &mut Vec<String>) {
    let is_end = |c: char| match c {
        '`' | '\'' | '"' | '<' | '>' | ',' | ';' | '|' | '（' | '）' | '、' | '，' | '。' => {
            true
        }
        c => c.is_whitespace(),
    };
    let mut quoted = false;
    for token in text.split_inclusive(is_end) {
        if hints.len() >= MAX_HINTS {
            return;
        }
        let word = token.trim_end_matches(is_end);
        if let Some(path) =
            path_in(word, quoted).filter(|path| !hints.iter().any(|hint| hint == path))
        {
            hints.push(path.to_owned());
        }
        quoted ^= token.ends_with('`');
    }
}

/// Returns the path that a word is, without brackets around it and without a line.
fn path_in(word: &str, quoted: bool) -> Option<&str> {
    if !word.bytes().any(|byte| matches!(byte, b'/' | b'.')) {
        return None;
    }
    // `[name](path)` is a link.
    let word = word.rsplit_once("](").map_or(word, |(_, target)| target);
    const ENDS: [char; 6] = ['*', '_', ':', '.', '!', '?'];
    let word = word.trim_end_matches(ENDS);
    // In `(see src/a.rs)` and `(src/a.rs)` the brackets are of the sentence; in `app/(shop)/page.ts`
    // they are of the path.
    let word = match word.strip_prefix('(') {
        Some(inside) if !inside.contains(")/") => inside.trim_end_matches(')'),
        None if !word.contains('(') => word.trim_end_matches(')'),
        _ => word,
    };
    let word = word.trim_end_matches(ENDS).trim_start_matches(['*', '_']).trim_start_matches("./");
    let word = word.split_once('#').map_or(word, |(path, _)| path);
    let is_line =
        |line: &str| line.bytes().all(|byte| byte.is_ascii_digit() || b":-L".contains(&byte));
    let word = match word.split_once(':') {
        Some((path, line)) if is_line(line) => path,
        _ => word,
    };
    let allowed = |c: char| match c {
        '-' | '_' | '.' | '/' | '@' | '+' | '[' | ']' | '(' | ')' | '$' | '*' => true,
        c => c.is_alphanumeric(),
    };
    let is_inside = !word.starts_with(['/', '-', '@']) || word.starts_with("@/");
    if !is_inside || !word.chars().all(allowed) || word.starts_with("path/to") {
        return None;
    }
    let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
    let first = folder.split('/').next().unwrap_or_default();
    // `example.org/page.html` and `../other` are not in the work tree.
    let is_host = !first.is_empty() && first.find('.').is_some_and(|dot| dot > 0) || first == "..";
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let has_ending = ending.len() <= 10 && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_file = match folder {
        "" => quoted && !stem.is_empty() && ENDINGS.contains(&ending),
        _ => has_ending || quoted && (name.is_empty() || folder.contains('/')),
    };
    (is_file && !is_host && RelativePath::new(word).is_ok()).then_some(word)
}

/// Returns a name on disk as words: `003-user-login` becomes `User login`.
pub(super) fn words_of(name: &str) -> String {
    let words = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    let words = if words.is_empty() { name } else { words }.replace(['-', '_'], " ");
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Splits a text at its first colon, which Chinese and Japanese texts write as `：`.
pub(super) fn split_at_colon(text: &str) -> Option<(&str, &str)> {
    let (before, after) = text.split_once([':', '：'])?;
    Some((before.trim(), after.trim())).filter(|(_, after)| !after.is_empty())
}

/// Returns true for `003-user-login` and `20260102-101500-user-login`.
pub(super) fn is_numbered(name: &str) -> bool {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 3 && name[digits..].starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let mut hints = Vec::new();
        add_paths(text, &mut hints);
        hints
    }

    #[test]
    fn paths_are_found_in_prose() {
        let cases = [
            (
                "Add the type in src/model/link.ts, then src/store/links.ts:12-20.",
                "src/model/link.ts src/store/links.ts",
            ),
            (
                "`src/a.rs`, `Cargo.toml` and `user.name` (see **docs/b.md**)",
                "src/a.rs Cargo.toml docs/b.md",
            ),
            (
                "[the page](docs/c.md#part) or ./src/d.py; and/or CI/CD, 1.1/1.2, e.g./i.e.",
                "docs/c.md src/d.py",
            ),
            ("`app/(group)/[id]/page.tsx` and (app/x.tsx)", "app/(group)/[id]/page.tsx app/x.tsx"),
            ("`src/deep/folder/` `src/one` `a/b/c` `application/json`", "src/deep/folder/ a/b/c"),
            (
                "https://example.org/a.html example.org/b.html /etc/passwd.d ../x/y.rs path/to/file.ts ~/z/a.b",
                "",
            ),
            ("修改 `src/界面/登录.ts`。", "src/界面/登录.ts"),
            ("src/a.rs src/a.rs", "src/a.rs"),
        ];
        for (text, wanted) in cases {
            assert_eq!(paths(text).join(" "), wanted, "{text}");
        }
    }

    #[test]
    fn names_become_words() {
        let cases =
            [("003-user-login", "User login"), ("add_x", "Add x"), ("2025", "2025"), ("", "")];
        cases.iter().for_each(|(name, wanted)| assert_eq!(words_of(name), *wanted));
    }
}
