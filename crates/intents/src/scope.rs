//! Decides which files an intent owns.
//!
//! Globs are relative to the root of the workspace. The last matching entry wins, and `!` excludes.
//! An entry that equals the path matches it even if the entry would not match as a glob. A trailing
//! `/` means everything below. Nothing in `.orchestration/` is ever matched.
//!
//! | scope                             | owns                                    | does not own      |
//! | --------------------------------- | --------------------------------------- | ----------------- |
//! | `src/auth`                        | `src/auth`                              | `src/auth/x.ts`   |
//! | `src/auth/`, `src/auth/**`        | `src/auth/x.ts`                         | `src/auth`        |
//! | `src/*`                           | `src/a.ts`                              | `src/a/b.ts`      |
//! | `*.ts`                            | `a.ts`                                  | `src/a.ts`        |
//! | `**/*.ts`                         | `a.ts`, `src/a.ts`                      | `src/a.tsx`       |
//! | `src/auth/**`, `!src/auth/key.ts` | `src/auth/login.ts`                     | `src/auth/key.ts` |
//! | `!a/b.ts`, `a/**`                 | `a/b.ts`, because the last entry wins   | `b.ts`            |
//! | `src/auth/[id].ts`                | `src/auth/[id].ts`, `src/auth/i.ts`     | `src/auth/x.ts`   |
//! | `src/**`, `!src/[a`               | nothing, as the exclusion is not a glob | `src/a.ts`        |
//!
//! Matching is lexical: a caller with a path from outside must resolve it first. If an exclusion
//! cannot be applied (it is not a valid glob, or exceeds the limit), the whole scope owns nothing.
//! To guess what it excludes could widen the scope.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

use ground::RelativePath;

/// The maximum number of entries. Further ones do not count and are reported as a finding.
pub const MAX_ENTRIES: usize = 256;
/// The maximum length of an entry, in characters.
pub const MAX_LENGTH: usize = 512;
const MAX_NESTING: usize = 2;
/// The maximum number of texts that the braces of one entry can expand to. `{a,b}.{c,d}` expands to
/// four.
const MAX_ALTERNATIVES: usize = 1000;

#[derive(Debug)]
pub struct Scope {
    entries: Vec<CompiledEntry>,
    /// For each path without wildcards, the index of the last entry that names it.
    literals: HashMap<String, usize>,
    problems: Vec<(usize, Problem)>,
    /// The index of the first exclusion that cannot be applied, such as `!src/[a`. With one, the
    /// scope owns nothing.
    poisoned: Option<usize>,
}

/// Whether a path is in a scope, with the index of the entry that decided.
///
/// For the scope `src/**`, `!src/x/`, `src/x/y.ts`:
///
/// - `src/a.ts` is `Owned(0)`,
/// - `src/x/z.ts` is `Excluded(1)`,
/// - `src/x/y.ts` is `Owned(2)`,
/// - `docs/a.md` is `Unmentioned`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeVerdict {
    /// The path is owned because of this entry.
    Owned(usize),
    Excluded(usize),
    Unmentioned,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The entry comes after the first [`MAX_ENTRIES`].
    #[error("a scope holds at most {MAX_ENTRIES} entries; this one does not count")]
    TooMany,
    /// The entry leads out of the workspace: `../x`, `~/x` or `C:\x`.
    #[error("it leads out of the workspace")]
    Outside,
    /// The entry names `.orchestration/`, which no intent can own.
    #[error("no intent owns anything in .orchestration/")]
    Orchestration,
    /// The entry is not a valid glob, such as `src/[a` or `a/../b`. Holds the reason.
    #[error("{0}")]
    Invalid(String),
}

#[derive(Debug)]
struct CompiledEntry {
    negated: bool,
    pattern: String,
    prefix: String,
    rest: Rest,
}

/// What must follow the prefix. The common forms need no regular expression.
#[derive(Debug)]
enum Rest {
    /// Nothing matches, because the entry is invalid.
    Never,
    /// Nothing: the prefix is the whole path. For example `src/a.ts`.
    Exact,
    /// Any text that is not empty. For example `src/` and `src/**`, with the prefix `src/`.
    Below,
    /// The rest ends in the text of this variant. It may contain `/`. For example `src/**/*.ts`.
    EndsBelow(String),
    /// The rest ends in the text of this variant, and contains no `/`. For example `src/*.ts`.
    EndsHere(String),
    /// The whole pattern as a glob, and a text that every match contains. For example `src/a?.ts`,
    /// with the text `.ts`.
    Glob(Box<Pattern>, String),
}

/// A valid glob that is compiled on first use. Most paths are rejected before that, and compiling
/// is the expensive part.
#[derive(Debug)]
struct Pattern {
    glob: Glob,
    matcher: OnceLock<GlobMatcher>,
}

impl Pattern {
    fn is_match(&self, path: &str) -> bool {
        self.matcher.get_or_init(|| self.glob.compile_matcher()).is_match(path)
    }
}

impl Scope {
    /// Compiles entries. An invalid entry owns nothing and is listed in [`Scope::errors`].
    pub fn new<S: AsRef<str>>(entries: &[S]) -> Self {
        let mut scope = Self {
            entries: Vec::with_capacity(entries.len().min(MAX_ENTRIES)),
            literals: HashMap::new(),
            problems: Vec::new(),
            poisoned: None,
        };
        for (index, entry) in entries.iter().enumerate() {
            scope.add_pattern(index, entry.as_ref());
        }
        scope
    }

    fn add_pattern(&mut self, index: usize, entry: &str) {
        let negated = entry.starts_with('!');
        let compiled = if index >= MAX_ENTRIES {
            Err(Problem::TooMany)
        } else {
            check(entry).and_then(|pattern| compile(negated, pattern))
        };
        match compiled {
            Ok(compiled) => {
                if !compiled.pattern.ends_with('/') {
                    self.literals.insert(compiled.pattern.clone(), index);
                }
                self.entries.push(compiled);
            }
            Err(problem) => {
                let harmless = problem == Problem::Orchestration || problem == Problem::Outside;
                if negated && !harmless && self.poisoned.is_none() {
                    self.poisoned = Some(index);
                }
                if !(negated && problem == Problem::Orchestration) {
                    self.problems.push((index, problem));
                }
                if index < MAX_ENTRIES {
                    self.entries.push(CompiledEntry::never(negated));
                }
            }
        }
    }

    pub fn owns(&self, path: &RelativePath) -> bool {
        matches!(self.verdict(path), ScopeVerdict::Owned(_))
    }

    pub fn verdict(&self, path: &RelativePath) -> ScopeVerdict {
        self.verdict_of(path.as_str())
    }

    /// Returns the index of the entry that matches the path. Unlike an owned path, this one may be
    /// in `.orchestration/`, which is needed for protected paths: `**` names
    /// `.orchestration/policy.yaml`, but does not own it.
    pub fn naming(&self, path: &str) -> Option<usize> {
        match self.last_match(path) {
            ScopeVerdict::Owned(at) => Some(at),
            ScopeVerdict::Excluded(_) | ScopeVerdict::Unmentioned => None,
        }
    }

    pub fn verdict_of(&self, path: &str) -> ScopeVerdict {
        // U+FFFD stands for bytes that are not UTF-8, so it is not known which file this is.
        let is_nobodys = is_orchestration(path) || path.contains(char::REPLACEMENT_CHARACTER);
        if is_nobodys && self.poisoned.is_none() {
            return ScopeVerdict::Unmentioned;
        }
        self.last_match(path)
    }

    fn last_match(&self, path: &str) -> ScopeVerdict {
        if let Some(index) = self.poisoned {
            return ScopeVerdict::Excluded(index);
        }
        let exact = if self.literals.is_empty() { None } else { self.literals.get(path).copied() };
        let floor = exact.map_or(0, |index| index + 1);
        let by_pattern =
            (floor..self.entries.len()).rev().find(|at| self.entries[*at].matches(path));
        let Some(index) = by_pattern.or(exact) else { return ScopeVerdict::Unmentioned };
        if self.entries[index].negated {
            return ScopeVerdict::Excluded(index);
        }
        ScopeVerdict::Owned(index)
    }

    pub fn errors(&self) -> Vec<(usize, String)> {
        self.problems.iter().map(|(index, problem)| (*index, problem.to_string())).collect()
    }

    pub fn problems(&self) -> &[(usize, Problem)] {
        &self.problems
    }

    /// Returns true if this entry alone, ignoring its `!`, matches the path. `!src/` matches
    /// `src/a.ts`.
    pub(crate) fn entry_matches(&self, index: usize, path: &str) -> bool {
        self.entries.get(index).is_some_and(|entry| entry.pattern == path || entry.matches(path))
    }

    /// Returns the literal text with which every match of the entry begins: `src/` for `src/a*.ts`,
    /// and the empty text for `*.ts`.
    pub fn entry_prefix(&self, index: usize) -> &str {
        self.entries.get(index).map_or("", |entry| entry.prefix.as_str())
    }

    /// Returns true if this scope may own a path that `base` does not own. It compares entries: an
    /// entry may have been added, or an exclusion removed.
    ///
    /// If the result is false, this scope certainly owns nothing more. If it is true, it may own
    /// more, but need not: `*.md` in place of `**/*.md` owns less, and the result is true all the
    /// same.
    ///
    /// | base                  | this scope            | widens                      |
    /// | --------------------- | --------------------- | --------------------------- |
    /// | `src/**`              | `src/**`, `!src/a.ts` | no                          |
    /// | `src/**`              | `src/a/**`            | no                          |
    /// | `src/**`              | `src/**`, `docs/a.md` | yes                         |
    /// | `src/**`, `!src/a.ts` | `src/**`              | yes, an exclusion is gone   |
    /// | `src/**`, `!src/a.ts` | `!src/a.ts`, `src/**` | yes, the order is different |
    pub fn widens(&self, base: &Scope) -> bool {
        let ours = self.effective();
        let theirs = base.effective();
        let known: HashSet<(bool, &str)> = theirs.iter().map(|entry| entry.key()).collect();
        let kept: HashSet<(bool, &str)> = ours.iter().map(|entry| entry.key()).collect();
        let base_excludes = theirs.iter().any(|entry| entry.negated);
        let mut left: Vec<(bool, &str)> = Vec::new();
        for entry in &ours {
            if known.contains(&entry.key()) {
                left.push(entry.key());
            } else if !entry.negated
                && (base_excludes || !theirs.iter().any(|other| other.covers(entry)))
            {
                return true;
            }
        }
        let keys = theirs.iter().map(|entry| entry.key());
        let removed_only_owners = keys.filter(|key| key.0 || kept.contains(key));
        base_excludes && !removed_only_owners.eq(left)
    }

    fn effective(&self) -> Vec<&CompiledEntry> {
        if self.poisoned.is_some() {
            return Vec::new();
        }
        self.entries.iter().filter(|entry| !matches!(entry.rest, Rest::Never)).collect()
    }
}

impl CompiledEntry {
    fn never(negated: bool) -> Self {
        Self { negated, pattern: String::new(), prefix: String::new(), rest: Rest::Never }
    }
    fn key(&self) -> (bool, &str) {
        (self.negated, &self.pattern)
    }
    fn matches(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(self.prefix.as_str()) else { return false };
        match &self.rest {
            Rest::Never => false,
            Rest::Exact => rest.is_empty(),
            Rest::Below => !rest.is_empty(),
            Rest::EndsBelow(end) => rest.ends_with(end.as_str()),
            Rest::EndsHere(end) => rest.ends_with(end.as_str()) && !rest.contains('/'),
            Rest::Glob(glob, needle) => {
                (rest.contains(needle.as_str()) && glob.is_match(path)) || self.is_folder_of(path)
            }
        }
    }
    /// Returns true if the path is in a folder with the literal name of the pattern, such as
    /// `app/[slug]/`. A literal match takes precedence over a glob, as for a path.
    fn is_folder_of(&self, path: &str) -> bool {
        self.pattern.ends_with('/')
            && path.len() > self.pattern.len()
            && path.starts_with(&self.pattern)
    }
    /// Returns true if this entry certainly matches everything that `other` matches. `src/**`
    /// covers `src/a/*.ts`.
    fn covers(&self, other: &CompiledEntry) -> bool {
        !self.negated
            && matches!(self.rest, Rest::Below)
            && other.prefix.starts_with(&self.prefix)
            && (other.prefix.len() > self.prefix.len()
                || matches!(other.rest, Rest::Below | Rest::EndsBelow(_)))
    }
}

/// Checks an entry and returns its canonical pattern: without `!`, a leading `./` or `/`, and empty
/// or `.` segments.
pub fn check(entry: &str) -> Result<String, Problem> {
    let raw = entry.strip_prefix('!').unwrap_or(entry);
    if raw.trim().is_empty() {
        return invalid("it is empty");
    }
    if raw.chars().count() > MAX_LENGTH {
        return invalid(format!("it is longer than {MAX_LENGTH} characters"));
    }
    if raw.chars().any(char::is_control) {
        return invalid("it holds a control character");
    }
    if leads_out(raw) {
        return Err(Problem::Outside);
    }
    if let Some(segment) = raw.split('/').find(|segment| *segment == "..") {
        return invalid(format!("it holds {segment:?}; name the path itself"));
    }
    if escapes_a_letter(raw) {
        return invalid("it separates with `\\`; paths here are written with `/`");
    }
    let pattern = canonical(raw);
    if pattern.is_empty() {
        return invalid("it names the workspace itself; `**` means every file");
    }
    if is_orchestration(&pattern) {
        return Err(Problem::Orchestration);
    }
    check_braces(&pattern)?;
    Ok(pattern)
}

/// Turns `a//./b/` into `a/b/`. A leading `/` is removed, because every pattern begins at the root.
pub fn canonical(raw: &str) -> String {
    let mut pattern = raw
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect::<Vec<_>>()
        .join("/");
    if raw.ends_with('/') && !pattern.is_empty() {
        pattern.push('/');
    }
    pattern
}

/// Returns the entry that owns exactly this path: every character of the path that means more in an
/// entry is escaped. So is a hyphen at its start, which would begin an option in a command.
pub fn entry_for(path: &RelativePath) -> String {
    let mut entry = String::with_capacity(path.as_str().len());
    for (at, c) in path.as_str().char_indices() {
        let is_special_first = at == 0 && matches!(c, '!' | '-');
        if is_special_first || matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            entry.push('\\');
        }
        entry.push(c);
    }
    entry
}

fn leads_out(raw: &str) -> bool {
    let drive = raw.as_bytes();
    let windows = drive.len() > 2
        && drive[0].is_ascii_alphabetic()
        && drive[1] == b':'
        && matches!(drive[2], b'/' | b'\\');
    if windows || raw.starts_with("~/") || raw.starts_with("\\\\") {
        return true;
    }
    let mut depth = 0i32;
    raw.split(['/', '\\']).any(|segment| {
        match segment {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        depth < 0
    })
}

fn escapes_a_letter(raw: &str) -> bool {
    let mut escaped = false;
    for c in raw.chars() {
        if escaped
            && !matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!' | ',' | '\\' | '#' | ' ' | '-')
        {
            return true;
        }
        escaped = !escaped && c == '\\';
    }
    escaped
}

fn check_braces(pattern: &str) -> Result<(), Problem> {
    // For each open brace, how many alternatives it has so far.
    let mut counts: Vec<usize> = Vec::new();
    let mut product = 1usize;
    let mut escaped = false;
    for c in pattern.chars() {
        match c {
            _ if escaped => {}
            '{' => counts.push(1),
            ',' => {
                if let Some(count) = counts.last_mut() {
                    *count += 1;
                }
            }
            '}' => product = product.saturating_mul(counts.pop().unwrap_or(1)),
            _ => {}
        }
        if counts.len() > MAX_NESTING {
            return invalid(format!("its braces nest more than {MAX_NESTING} deep"));
        }
        escaped = !escaped && c == '\\';
    }
    match product > MAX_ALTERNATIVES {
        true => invalid(format!("its braces stand for more than {MAX_ALTERNATIVES} texts")),
        false => Ok(()),
    }
}

fn invalid<T>(reason: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Invalid(reason.into()))
}

fn compile(negated: bool, pattern: String) -> Result<CompiledEntry, Problem> {
    let meta = pattern.find(['*', '?', '[', ']', '{', '}', '\\']).unwrap_or(pattern.len());
    if meta == pattern.len() {
        let rest = if pattern.ends_with('/') { Rest::Below } else { Rest::Exact };
        return Ok(CompiledEntry { negated, prefix: pattern.clone(), rest, pattern });
    }
    let folder = pattern[..meta].rfind('/').map_or(0, |at| at + 1);
    let tail = &pattern[folder..];
    if let Some(rest) = simple_rest(tail) {
        return Ok(CompiledEntry { negated, prefix: pattern[..folder].to_owned(), rest, pattern });
    }
    let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.clone() };
    let glob = GlobBuilder::new(&within_names(&whole)?)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| Problem::Invalid(error.kind().to_string()))?;
    let lazy = Pattern { glob, matcher: OnceLock::new() };
    let rest = Rest::Glob(Box::new(lazy), needle(tail));
    Ok(CompiledEntry { negated, prefix: pattern[..folder].to_owned(), rest, pattern })
}

/// Returns the glob with classes that match no `/`: `[!/a]` for `[!a]`. A class that names `/`,
/// alone or in a range, is refused.
fn within_names(glob: &str) -> Result<String, Problem> {
    let chars: Vec<char> = glob.chars().collect();
    let mut written = String::with_capacity(glob.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        written.push(c);
        at += 1;
        if c == '\\' {
            written.extend(chars.get(at));
            at += 1;
        }
        if c != '[' {
            continue;
        }
        let mark = chars.get(at).filter(|mark| matches!(mark, '!' | '^'));
        let start = at + usize::from(mark.is_some());
        // A `]` at the start of a class does not end it.
        let Some(end) = (start + 1..chars.len()).find(|at| chars[*at] == ']') else { continue };
        let class = &chars[start..end];
        let spans = |part: &[char]| part[1] == '-' && (part[0]..=part[2]).contains(&'/');
        if mark.is_none() && (class.contains(&'/') || class.windows(3).any(spans)) {
            return invalid("its class in `[…]` holds `/`, which separates names");
        }
        if mark.is_some() && matches!(class[0], '-' | ']') {
            return invalid(
                "its class `[!…]` begins with `-` or `]`; begin it with another character",
            );
        }
        written.extend(mark);
        written.extend(mark.map(|_| '/'));
        written.extend(class);
        written.push(']');
        at = end + 1;
    }
    Ok(written)
}

/// Returns the longest text without `/` that every match contains: `tests` for `**/tests/*.rs`. It
/// rejects most paths without a regular expression.
fn needle(tail: &str) -> String {
    // Classes and escapes have rules of their own, and such patterns are rare.
    if tail.contains(['[', '\\']) {
        return String::new();
    }
    let mut depth = 0usize;
    let runs = tail.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || matches!(c, '}' | '*' | '?' | '/')
    });
    runs.max_by_key(|run| run.len()).unwrap_or_default().to_owned()
}

/// Returns the simple form of the most common endings: `**`, `**/`, `**/*`, `**/*.ext` and `*.ext`.
fn simple_rest(tail: &str) -> Option<Rest> {
    if matches!(tail, "**" | "**/" | "**/*" | "**/**") {
        return Some(Rest::Below);
    }
    let (below, name) = match tail.strip_prefix("**/") {
        Some(name) => (true, name),
        None => (false, tail),
    };
    let end = name.strip_prefix('*')?;
    if !end.starts_with('.') || end.contains(['*', '?', '[', ']', '{', '}', '\\', '/']) {
        return None;
    }
    Some(if below { Rest::EndsBelow(end.to_owned()) } else { Rest::EndsHere(end.to_owned()) })
}

/// Returns true if the path has a segment `.orchestration`, at any depth and in any case, because
/// some platforms ignore case.
fn is_orchestration(path: &str) -> bool {
    path.split('/').any(|segment| segment.eq_ignore_ascii_case(".orchestration"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_for_a_path_owns_that_path_and_no_other() {
        let path = |text: &str| RelativePath::new(text).expect("a path");
        for (name, entry, others) in [
            ("src/a.ts", "src/a.ts", ["src/b.ts", "src/a.tsx"]),
            ("app/[id]/x", "app/\\[id\\]/x", ["app/i/x", "app/d/x"]),
            ("*.ts", "\\*.ts", ["a.ts", ".ts"]),
            ("!y.ts", "\\!y.ts", ["y.ts", "x.ts"]),
            ("a/!y.ts", "a/!y.ts", ["a/y.ts", "a/x.ts"]),
            ("-y.ts", "\\-y.ts", ["y.ts", "a-y.ts"]),
            ("{a,b}?.ts", "\\{a,b\\}\\?.ts", ["a1.ts", "b?.ts"]),
        ] {
            let made = entry_for(&path(name));
            assert_eq!(made, entry);
            let scope = Scope::new(&[made]);
            assert!(scope.errors().is_empty() && scope.owns(&path(name)), "{name}");
            for other in others {
                assert!(!scope.owns(&path(other)), "{other} in {entry}");
            }
        }
    }
}
