//! A Rust source file as the tidy tests read it: its code without comments and strings, and the paths in it.

/// A file below `src/`.
pub(crate) struct Source {
    /// Relative to the package, separated by `/`.
    pub(crate) path: String,
    /// The number of lines of code: lines that are neither blank nor only a comment.
    pub(crate) lines: usize,
    code: String,
    /// The same code, with blanks in place of what is compiled only for tests.
    without_tests: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = code_only(text);
        let lines = code.lines().filter(|line| !line.trim().is_empty()).count();
        let without_tests = code_without_tests(&code);
        Self { path: path.to_owned(), lines, code, without_tests }
    }

    /// The code that is compiled also without tests.
    pub(crate) fn code_without_tests(&self) -> &str {
        &self.without_tests
    }

    /// The paths with which the test modules of this file begin, if they are files of their own.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let folder = match name {
            "mod.rs" | "lib.rs" => folder,
            _ => self.path.trim_end_matches(".rs"),
        };
        let declared = self.code.split("#[cfg(test)]").skip(1).filter_map(|after| {
            let (item, _) = after.split_once(';')?;
            let (visibility, name) = item.trim().split_once("mod ")?;
            let bare = visibility.is_empty() || visibility.starts_with("pub");
            Some(name)
                .filter(|name| bare && !name.contains(|c: char| c.is_whitespace() || c == '{'))
        });
        declared
            .flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/")])
            .map(|path| path.trim_start_matches('/').to_owned())
            .collect()
    }

    /// The lines that call a macro, counted from 1.
    pub(crate) fn lines_with_macro(&self, name: &str) -> Vec<usize> {
        let calls = |line: &str| {
            line.match_indices(name).any(|(at, _)| {
                !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
            })
        };
        self.code.lines().zip(1..).filter(|(line, _)| calls(line)).map(|(_, at)| at).collect()
    }

    /// The public items of the file, without its tests, that are no types, each with its line, counted from 1. A type may be
    /// public because a public function returns it, which the compiler checks.
    pub(crate) fn public_items(&self) -> Vec<(usize, &str)> {
        let lines = self.without_tests.lines().zip(1..);
        lines.filter_map(|(line, at)| Some((at, public_item(line)?))).collect()
    }

    /// The words of the code.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.code.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty())
    }

    /// The names of the types that the file declares.
    pub(crate) fn types(&self) -> Vec<&str> {
        let words: Vec<&str> = self.code.split_whitespace().collect();
        let declares = |word: &str| ["struct", "enum", "trait", "union"].contains(&word);
        let pairs = words.windows(2).filter(|pair| declares(pair[0]));
        let names = pairs.filter_map(|pair| pair[1].split(|c: char| !c.is_alphanumeric()).next());
        names.filter(|name| name.starts_with(char::is_uppercase)).collect()
    }

    /// The names of the functions that the file defines, each with its line, counted from 1.
    pub(crate) fn functions(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        for (line, at) in self.code.lines().zip(1..) {
            let mut words = line.split_whitespace().skip_while(|word| *word != "fn").skip(1);
            let name = words.next().and_then(|word| word.split(|c: char| !is_of_word(c)).next());
            found.extend(name.filter(|name| is_word(name)).map(|name| (at, name)));
        }
        found
    }
}

/// Returns the name of the public item that a line declares, if it is no type.
fn public_item(line: &str) -> Option<&str> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split(' ').peekable();
    let kind = words.find(|word| !["async", "unsafe"].contains(word))?;
    if kind == "const" {
        words.next_if_eq(&"fn");
    }
    let is_item = ["fn", "const", "static", "trait", "type", "mod"].contains(&kind);
    words.next().filter(|_| is_item)?.split(|c: char| !is_of_word(c)).next()
}

/// A path in a `use`, or one that begins with `crate`, `self` or `super`.
pub(crate) struct ImportPath {
    pub(crate) words: Vec<String>,
    /// Under which name the file knows what the path leads to.
    pub(crate) name: String,
    /// Whether the path is re-exported.
    pub(crate) is_export: bool,
}

/// Returns every path in some code, without comments and strings, that may lead to another file of the crate. Groups
/// are written out.
pub(crate) fn crate_paths(code: &str) -> Vec<ImportPath> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (before, token) = (at.checked_sub(1).map(|before| tokens[before]), tokens[at]);
        let begins_path = ["crate", "self", "super"].contains(&token)
            && before != Some("::")
            && tokens.get(at + 1) == Some(&"::");
        let is_use = token == "use" && before != Some("#");
        at += usize::from(is_use);
        if is_use || begins_path {
            let mut paths = Vec::new();
            expand(&tokens, &mut at, "", &mut paths);
            let is_export = is_use && before.is_some_and(|before| before == "pub" || before == ")");
            found.extend(paths.into_iter().map(|(path, name)| {
                let words: Vec<String> = path.split("::").map(str::to_owned).collect();
                let words =
                    words.strip_suffix(&["self".to_owned()]).map_or(words.clone(), <[_]>::to_vec);
                let name = name.or_else(|| words.last().cloned()).unwrap_or_default();
                ImportPath { words, name, is_export }
            }));
        } else if !is_use {
            at += 1;
        }
    }
    found.retain(|path| !path.words.is_empty());
    found
}

/// Reads one tree of a path: `a::b`, `a::{b, c::d}`, `a as b`. Returns each path with its other name, if it has one.
fn expand(tokens: &[&str], at: &mut usize, prefix: &str, out: &mut Vec<(String, Option<String>)>) {
    let Some(first) = tokens.get(*at) else { return };
    if *first == "{" {
        *at += 1;
        while tokens.get(*at).is_some_and(|token| *token != "}") {
            let before = *at;
            expand(tokens, at, prefix, out);
            while tokens.get(*at).is_some_and(|token| ![",", "}"].contains(token)) {
                *at += 1;
            }
            if tokens.get(*at) == Some(&",") {
                *at += 1;
            }
            debug_assert!(*at > before);
        }
        *at += 1;
        return;
    }
    let path = if prefix.is_empty() { (*first).to_owned() } else { format!("{prefix}::{first}") };
    *at += 1;
    let goes_on = tokens.get(*at) == Some(&"::")
        && tokens.get(*at + 1).is_some_and(|next| *next == "{" || is_word(next));
    if goes_on {
        *at += 1;
        expand(tokens, at, &path, out);
    } else {
        let other = (tokens.get(*at) == Some(&"as")).then(|| tokens.get(*at + 1)).flatten();
        out.push((path, other.map(|name| (*name).to_owned())));
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Splits the code into words, `::`, and single other characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if !token.trim().is_empty() {
            found.push(token);
        }
        rest = after;
    }
    found
}

/// Returns the text with blanks in place of comments and of the contents of strings and characters. Line breaks are
/// kept.
pub(crate) fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| string(rest)).or_else(|| character(rest));
        match skipped {
            Some(length) => {
                let (blank, after) = rest.split_at(length);
                out.extend(blank.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
                rest = after;
            }
            None => {
                // A word is read as a whole, so that the `r` of `for"` does not begin a raw string.
                let word =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (kept, after) = rest.split_at(word.max(first.len_utf8()));
                out.push_str(kept);
                rest = after;
            }
        }
    }
    out
}

/// Returns the code with blanks in place of every item that stands under `#[cfg(test)]` or `#[cfg(all(test, …))]`. Line
/// breaks are kept.
fn code_without_tests(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    let attribute = |text: &str| {
        ["#[cfg(test)]", "#[cfg(all(test,"].iter().filter_map(|start| text.find(start)).min()
    };
    while let Some(at) = attribute(rest) {
        let (kept, item) = rest.split_at(at);
        let (blank, after) = item.split_at(item_length(item));
        out.push_str(kept);
        out.extend(blank.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    out + rest
}

/// Returns how long the first item of some code is, with its attributes. A field or an argument ends with a comma,
/// `use` and the like with a semicolon, and every other item with a semicolon or its block.
fn item_length(code: &str) -> usize {
    let (mut depth, mut in_attribute, mut first) = (0_i32, false, None);
    for (at, c) in code.char_indices() {
        match c {
            '#' if depth == 0 => in_attribute = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if in_attribute {
            in_attribute = depth != 0 || c != ']';
        } else if !c.is_whitespace() {
            let first = *first.get_or_insert(at);
            let mut words = code[first..].split(|c: char| !is_of_word(c));
            let word = words.find(|word| !["", "pub", "crate", "super"].contains(word));
            let ends = match word.unwrap_or_default() {
                "use" | "let" | "const" | "static" | "type" => c == ';',
                "mod" | "fn" | "impl" | "struct" | "enum" | "trait" => c == ';' || c == '}',
                _ => c == ',',
            };
            if ends && depth == 0 {
                return at + c.len_utf8();
            }
        }
        if depth < 0 {
            return at;
        }
    }
    code.len()
}

/// Returns the doc comments of a file, each with the line on which it begins, counted from 1. Consecutive lines with
/// the same marker (`///` or `//!`) are one comment.
pub(crate) fn doc_comments(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = None;
    for (line, at) in text.lines().zip(1..) {
        let line = line.trim_start();
        let marker = ["///", "//!"]
            .into_iter()
            .find(|marker| line.starts_with(marker) && !line.starts_with("////"));
        if let Some(marker) = marker {
            let words = line[marker.len()..].trim();
            match found.last_mut().filter(|_| open == Some(marker)) {
                Some((_, comment)) => *comment = format!("{comment} {words}").trim().to_owned(),
                None => found.push((at, words.to_owned())),
            }
        }
        open = marker;
    }
    found
}

fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if !rest.starts_with("/*") {
        return None;
    }
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    Some(rest.len())
}

fn string(rest: &str) -> Option<usize> {
    let marker = ["b", "c", ""].into_iter().find_map(|prefix| {
        let after = rest.strip_prefix(prefix)?;
        (after.starts_with('"') || after.starts_with("r\"") || after.starts_with("r#"))
            .then_some(prefix)
    })?;
    let body = &rest[marker.len()..];
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let open = raw[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let inside = open.find(&close).map_or(open.len(), |at| at + close.len());
        return Some(marker.len() + 1 + hashes + 1 + inside);
    }
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return Some(marker.len() + at + 1),
            _ => escaped = false,
        }
    }
    Some(rest.len())
}

/// A character literal, but no lifetime.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        let end = inside[2..].find('\'')?;
        return Some(1 + 2 + end + 1);
    }
    inside[first.len_utf8()..].starts_with('\'').then(|| 1 + first.len_utf8() + 1)
}

#[test]
fn comments_strings_and_characters_become_blanks() {
    let text =
        "a /* x /* y */ z */ b // c\n\"d\\\"e\" f r#\"g\"h\"# i '\"' j 'k' &'l m b\"n\" '\\'' o";
    let code = code_only(text);
    let words: Vec<&str> = code.split_whitespace().collect();
    assert_eq!(words, ["a", "b", "f", "i", "j", "&'l", "m", "o"]);
}

#[test]
fn groups_of_paths_are_written_out() {
    let paths =
        crate_paths("pub use crate::{c::{self, D as E}, f::*, g}; fn h() { super::i::j(); }");
    let shown: Vec<String> = paths
        .iter()
        .map(|path| format!("{}={} {}", path.words.join("::"), path.name, path.is_export))
        .collect();
    assert_eq!(
        shown,
        [
            "crate::c=c true",
            "crate::c::D=E true",
            "crate::f=f true",
            "crate::g=g true",
            "super::i::j=j false"
        ]
    );
}

#[test]
fn only_what_is_compiled_for_tests_is_left_out() {
    let text = "#[cfg(test)]\nmod a;\nfn b(\n#[cfg(test)] c: C, d: D) {}\n#[cfg(test)]\n#[path]\npub(crate) use e::{f, g};\n\
                #[cfg(all(test, unix))]\nmod h { fn i() -> [u8; 3] {} }\nstruct J { k: K, #[cfg(test)] l: fn(M) }\n\
                #[cfg(test)]\nfn n() -> [u8; 3] {}\nconst O: P = Q;\n";
    let source = Source::new("src/r.rs", text);
    let code = source.code_without_tests();
    let words: Vec<&str> = code.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).collect();
    let expected = ["fn", "b", "d", "D", "struct", "J", "k", "K", "const", "O", "P", "Q"];
    assert_eq!(words, expected);
    assert_eq!(code.lines().count(), text.lines().count());
}

#[test]
fn test_modules_are_found_by_their_files() {
    let text = "#[cfg(test)]\nmod a;\n#[cfg(test)]\npub(crate) mod b;\nmod c;\n#[cfg(test)]\nmod d { use x; }\n";
    let expected = ["src/r/a.rs", "src/r/a/", "src/r/b.rs", "src/r/b/"];
    assert_eq!(Source::new("src/r/mod.rs", text).test_modules(), expected);
    assert_eq!(Source::new("src/r.rs", text).test_modules(), expected);
}

#[test]
fn consecutive_lines_are_one_doc_comment() {
    let text = "//! A room.\n//!\n//! More.\n/// One\n/// item.\nfn f() {}\n    /// Two.\n//// no\n// no\n";
    let found = doc_comments(text);
    let expected = [(1, "A room. More."), (4, "One item."), (7, "Two.")];
    assert_eq!(found.iter().map(|(at, words)| (*at, words.as_str())).collect::<Vec<_>>(), expected);
}
