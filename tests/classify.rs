//! The classifier on edits whose answer is known: fourteen edits in each of six languages, pairs that only look like
//! refactorings, and mutations of this repository's own sources.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use code::program::Tree;
use code::{Document, Program, language};
use ledger::{Basis, MutationClass};
use provenance::Classification;
use provenance::classify::change;

use crate::mutate::chance::from_environment;
use crate::support::sample_or_all;

/// A fixture file: `file PATH`, the text, and then the edits.
///
/// An edit begins with `edit R NAME` (behaviour kept) or `edit E NAME` (behaviour changed). Each replacement in it is
/// `<<<<`, the old text, `====`, the new text, `>>>>`. With `<<<<~`, the line break at the end of both texts is not
/// part of them.
struct Fixture {
    path: String,
    text: String,
    edits: Vec<Edit>,
}

struct Edit {
    kept: bool,
    name: String,
    replacements: Vec<(String, String)>,
}

impl Fixture {
    fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/classify").join(name);
        let source = std::fs::read_to_string(&path).expect("a fixture");
        let mut lines = source.lines();
        let first = lines.next().and_then(|line| line.strip_prefix("file ")).expect("`file PATH`");
        let mut fixture = Self { path: first.into(), text: String::new(), edits: Vec::new() };
        let mut lines = lines.peekable();
        while let Some(line) = lines.next_if(|line| !line.starts_with("edit ")) {
            fixture.text.push_str(line);
            fixture.text.push('\n');
        }
        while let Some(line) = lines.next() {
            if let Some(rest) = line.strip_prefix("edit ") {
                let (label, name) = rest.split_once(' ').expect("`edit LABEL NAME`");
                let kept = label == "R";
                assert!(kept || label == "E", "{line}");
                fixture.edits.push(Edit { kept, name: name.into(), replacements: Vec::new() });
                continue;
            }
            let within = line.strip_prefix("<<<<").unwrap_or_else(|| panic!("{name}: {line}"));
            let mut until = |mark: &str| -> String {
                let mut text = String::new();
                for line in lines.by_ref() {
                    if line == mark {
                        break;
                    }
                    text.push_str(line);
                    text.push('\n');
                }
                if within == "~" {
                    text.pop();
                }
                text
            };
            let pair = (until("===="), until(">>>>"));
            fixture.edits.last_mut().expect("an edit").replacements.push(pair);
        }
        fixture
    }

    fn edited(&self, edit: &Edit) -> String {
        let mut text = self.text.clone();
        for (from, to) in &edit.replacements {
            assert!(text.contains(from.as_str()), "{}: {}: no {from:?}", self.path, edit.name);
            text = text.replacen(from.as_str(), to, 1);
        }
        assert_ne!(text, self.text, "{}: {}", self.path, edit.name);
        text
    }
}

/// Classifies the change of one file. `OLD -> NEW` in `path` is a file that was moved.
fn classify(path: &str, before: &str, after: &str) -> Classification {
    let (old, new) = path.split_once(" -> ").unwrap_or((path, path));
    change(&[(old, before)], &[(new, after)])
}

fn word(found: &Classification) -> &'static str {
    match found.class {
        Some(MutationClass::AstRefactor) => "R",
        Some(MutationClass::IntentEvolution) => "E",
        None => "?",
    }
}

fn check(name: &str) -> Vec<String> {
    let fixture = Fixture::read(name);
    let mut wrong = Vec::new();
    for edit in &fixture.edits {
        let found = classify(&fixture.path, &fixture.text, &fixture.edited(edit));
        let wanted = if edit.kept { "R" } else { "E" };
        if word(&found) != wanted {
            wrong.push(format!("{name}: {}: {} {:?}", edit.name, word(&found), found.reasons));
        }
    }
    wrong
}

#[test]
#[ignore = "slow"]
fn fourteen_edits_are_classified_correctly_in_six_languages() {
    let languages = ["typescript", "python", "rust", "go", "java", "c"];
    let mut wrong = Vec::new();
    for language in languages {
        let name = format!("{language}.txt");
        assert_eq!(Fixture::read(&name).edits.len(), 14, "{language}");
        wrong.extend(check(&name));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "slow"]
fn edits_that_only_look_like_a_refactoring_are_not_one() {
    assert_pairs_are_classified("pairs.txt", 100);
}

/// Parentheses that decide what is evaluated, or how often.
#[test]
fn only_redundant_parentheses_may_be_left_out() {
    assert_pairs_are_classified("parentheses.txt", 60);
}

/// Comments that compilers, tools and frameworks read.
#[test]
fn a_comment_that_tools_read_is_a_change() {
    assert_pairs_are_classified("comments.txt", 100);
}

/// Names that are used or also declared by files outside of the change.
#[test]
fn renaming_a_name_that_other_files_use_is_a_change() {
    assert_pairs_are_classified("elsewhere.txt", 40);
}

/// Names that a language, a framework or a string looks up.
#[test]
fn renaming_a_name_that_is_looked_up_from_outside_is_a_change() {
    assert_pairs_are_classified("called.txt", 50);
}

/// Code that runs, and code that decides how the text around it is read.
#[test]
fn code_whose_place_has_a_meaning_stays_there() {
    assert_pairs_are_classified("order.txt", 30);
}

/// Names that others know or that mean something else: members of other objects, keys, parameters below an attribute.
#[test]
fn a_renamed_name_is_followed_only_where_it_is_meant() {
    assert_pairs_are_classified("names.txt", 35);
}

/// Definitions that mean or do something else at another place, and files that are found by their path.
#[test]
fn a_move_is_a_change_if_the_place_has_a_meaning() {
    assert_pairs_are_classified("places.txt", 40);
}

/// Texts, calls and names that look the same and are not: white space in a text, a call without its object, a name that
/// a base class has, too.
#[test]
fn a_change_behind_equal_words_is_a_change() {
    assert_pairs_are_classified("disguised.txt", 60);
}

/// White space that is a part of a text or of a command, and comments that must stay where they are.
#[test]
fn white_space_with_a_meaning_is_no_formatting() {
    assert_pairs_are_classified("spaces.txt", 18);
}

/// Imports that bring more than the name that they mention, such as extension methods.
#[test]
fn an_import_that_may_bring_methods_is_a_change() {
    assert_pairs_are_classified("imports.txt", 12);
}

/// Formatting, comments and renames in the languages other than those six.
#[test]
fn each_other_language_has_its_refactorings_recognised() {
    assert_pairs_are_classified("languages.txt", 45);
}

fn assert_pairs_are_classified(file: &str, least: usize) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for pair in pairs(file) {
        if !has_grammar(&pair.path) {
            continue;
        }
        let found = pair.classified();
        count += 1;
        if word(&found) != pair.label {
            let Pair { label, name, path, .. } = &pair;
            wrong.push(format!("{label} {name}: {path}: {} {:?}", word(&found), found.reasons));
        }
    }
    assert!(count > least || cfg!(not(feature = "all-languages")), "{count}");
    assert!(count > least / 4, "{count}");
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns true if this build has the grammar of a file, or of the first one in `OLD -> NEW`.
fn has_grammar(path: &str) -> bool {
    let path = path.split(" -> ").next().unwrap_or_default();
    language::of_file(path, "").is_some_and(|language| language.grammar.is_some())
}

/// Files by path with their texts.
type Files = Vec<(String, String)>;

/// The files before and after a change, and other files that are the same on both sides.
struct Pair {
    label: String,
    name: String,
    path: String,
    before: Files,
    after: Files,
    others: Files,
}

impl Pair {
    fn classified(&self) -> Classification {
        fn side<'p>(own: &'p Files, others: &'p Files) -> Vec<(&'p str, &'p str)> {
            let all = own.iter().chain(others);
            all.map(|(path, text)| (path.as_str(), text.as_str())).collect()
        }
        change(&side(&self.before, &self.others), &side(&self.after, &self.others))
    }
}

/// Reads the cases of a file: `case LABEL NAME: PATH` or `case LABEL NAME: OLD -> NEW`, then both texts, then each
/// unchanged file after `++++ PATH`. If several files change, each is after `@@ PATH` on both sides.
fn pairs(file: &str) -> Vec<Pair> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/classify").join(file);
    let source = std::fs::read_to_string(path).expect("the pairs");
    let read = |case: &str| {
        let case = case.strip_prefix("case ").unwrap_or(case);
        let (head, body) = case.split_once('\n').expect("a head");
        let (label, rest) = head.split_once(' ').expect("a label");
        let (name, path) = rest.rsplit_once(": ").expect("a path");
        let (before, rest) = body.split_once("\n====\n").expect("two texts");
        let mut parts = rest.split("\n++++ ");
        let after = parts.next().unwrap_or_default();
        let other = |part: &str| {
            let (path, text) = part.split_once('\n').unwrap_or((part, ""));
            (path.to_owned(), format!("{text}\n"))
        };
        let (old, new) = path.split_once(" -> ").unwrap_or((path, path));
        let side = |path: &str, text: &str| match text.strip_prefix("@@ ") {
            Some(files) => files.split("\n@@ ").map(other).collect(),
            None => vec![(path.to_owned(), format!("{text}\n"))],
        };
        Pair {
            label: label.into(),
            name: name.into(),
            path: path.into(),
            before: side(old, before),
            after: side(new, after),
            others: parts.map(other).collect(),
        }
    };
    source.split("\ncase ").map(read).collect()
}

#[test]
fn a_move_is_a_change_while_a_file_imports_the_old_path() {
    let moved = "def _total(all):\n    result = 0\n    for one in all:\n        result += one\n    return result\n";
    let (here, there) = ("def f(a):\n    return a\n", "def g(a):\n    return a\n");
    let (full, other) = (format!("{moved}\n\n{here}"), format!("{there}\n\n{moved}"));
    for (uses, wanted) in [("from .a import _total\n", "E"), ("from .a import f\n", "R")] {
        let side = |a, b| [("a.py", a), ("b.py", b), ("c.py", uses)];
        let found = change(&side(&full, there), &side(here, &other));
        assert_eq!(word(&found), wanted, "{uses}{:?}", found.reasons);
    }
}

#[test]
fn a_move_is_a_change_if_a_name_may_mean_something_else_there() {
    let rust = "fn total(n: u32) -> u32 {\n    let a = help(n);\n    a + help(n + 1)\n}\n";
    let c = "static int total(int n) {\n    int a = help(n);\n    return a + help(n + 1);\n}\n";
    let go = "func total(n int) int {\n\ta := help(n)\n\treturn a + help(n+1)\n}\n";
    let python = "def _total(n):\n    a = help(n)\n    return a + help(n + 1)\n";
    let script = "function total(n) {\n  const a = help(n);\n  return a + help(n + 1);\n}\n";
    for (end, moved, here, there, wanted) in [
        ("rs", rust, "use x::*;\n", "use x::*;\n", "R"),
        ("rs", rust, "pub(crate) use x::*;\n", "pub(crate) use y::*;\n", "E"),
        ("rs", rust, "use x::{\n    z::*,\n};\n", "use y::{\n    z::*,\n};\n", "E"),
        ("c", c, "#include \"x.h\"\n", "#include \"x.h\"\n", "R"),
        ("c", c, "#include \"x.h\"\n", "#include \"y.h\"\n", "E"),
        (
            "go",
            go,
            "package a\nimport (\n    . \"x\"\n)\n",
            "package a\nimport (\n    . \"y\"\n)\n",
            "E",
        ),
        ("py", python, "if x:\n    from y import help\n", "if x:\n    from z import help\n", "E"),
        (
            "js",
            script,
            "const { help } = require(\"x\");\n",
            "const { help } = require(\"y\");\n",
            "E",
        ),
    ] {
        let (a, b) = (format!("a.{end}"), format!("b.{end}"));
        let (before, after) = (format!("{here}{moved}"), format!("{there}{moved}"));
        let (a, b) = (a.as_str(), b.as_str());
        let found = change(&[(a, before.as_str()), (b, there)], &[(a, here), (b, after.as_str())]);
        assert_eq!(word(&found), wanted, "{here}: {:?}", found.reasons);
    }
}

/// A small generator of pseudo-random numbers, so that a failure can be repeated from its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }
}

/// Returns the file with one token changed so that it does something else, and a description of the change. Returns
/// `None` if the drawn token has no such change.
fn mutated(text: &str, program: &Program, dice: &mut Dice) -> Option<(String, String)> {
    let tokens = program.tree.tokens();
    let at = dice.roll(tokens.len());
    // A file may contain nothing but comments, and then it has no tokens.
    let token = *tokens.get(at)?;
    let word = text.get(token.bytes.clone())?;
    // Another name for a definition is a rename, and another parameter name in a function type has no effect.
    let is_its_name = program.blocks.blocks.iter().any(|block| block.name_bytes == token.bytes);
    let is_type = |node: &Tree| node.kind == "function_type" && holds(&node.bytes, &token.bytes);
    if is_its_name || program.tree.has_node(&is_type) {
        return None;
    }
    let others = ["+", "-", "<", ">", "==", "!=", "&&", "||", "<=", ">="];
    let instead = if word.chars().all(|c| c.is_ascii_digit()) {
        format!("{word}1")
    } else if others.contains(&word) {
        others[dice.roll(others.len())].to_owned()
    } else if token.kind == "string_content" {
        format!("{word}x")
    } else if token.kind == "identifier" {
        let near = &tokens[at.saturating_sub(60)..(at + 60).min(tokens.len())];
        let names: Vec<&str> = near
            .iter()
            .filter(|one| one.kind == "identifier")
            .filter_map(|one| text.get(one.bytes.clone()))
            .collect();
        // Changing a name that occurs only once or twice may be a rename.
        let often = tokens.iter().filter(|one| one.is_token(word)).count() > 2;
        let chosen = *names.get(dice.roll(names.len()))?;
        (often && chosen.len() > 1).then(|| chosen.to_owned())?
    } else if matches!(word, "true" | "false") {
        if word == "true" { "false" } else { "true" }.to_owned()
    } else if matches!(word, "!" | "?" | "await" | "mut" | "&" | "break" | "return" | "continue") {
        String::new()
    } else {
        return None;
    };
    if instead == word {
        return None;
    }
    let mut changed = text.to_owned();
    changed.replace_range(token.bytes.clone(), &instead);
    let line = text[..token.bytes.start].lines().count();
    Some((changed, format!("line {line}: `{word}` → `{instead}`")))
}

fn holds(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Small source files of this repository, in every language that it contains.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("tests/languages"), root.join("editors")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                if !path.ends_with("node_modules") {
                    folders.push(path);
                }
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if (300..6_000).contains(&text.len()) {
                found.push((name, text));
            }
        }
    }
    found
}

/// `INTENT_FUZZ_RUNS` sets the number of mutations, and `INTENT_FUZZ_SEED` chooses them.
fn program_of(path: &str, text: &str) -> Option<Program> {
    Program::from_document(&Document::from_text(path, text), text)
}

#[test]
#[ignore = "slow"]
fn a_mutation_of_behaviour_is_never_called_a_refactoring() {
    let wanted = from_environment("INTENT_FUZZ_RUNS", sample_or_all(40, 250));
    let seed = from_environment("INTENT_FUZZ_SEED", 7);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ seed);
    let sources = sources();
    assert!(sources.len() > 30, "{}", sources.len());
    let (mut tried, mut wrong) = (0, Vec::new());
    while tried < wanted {
        let (path, text) = &sources[dice.roll(sources.len())];
        let program = program_of(path, text).filter(|program| program.errors.is_empty());
        let Some(program) = program else { continue };
        let Some((changed, what)) = mutated(text, &program, &mut dice) else { continue };
        tried += 1;
        let found = classify(path, text, &changed);
        if found.class == Some(MutationClass::AstRefactor) {
            wrong.push(format!("{path} {what}: {:?}", found.reasons));
        }
    }
    assert!(wrong.is_empty(), "seed {seed}: {} of {tried}\n{}", wrong.len(), wrong.join("\n"));
}

/// If one token in the result of a refactoring from the fixtures is changed, it is no refactoring any more.
#[test]
#[ignore = "slow"]
fn a_refactoring_with_one_wrong_token_is_not_one() {
    let mut dice = Dice(0x0123_4567_89ab_cdef);
    let mut kept: Vec<(String, String, String)> = pairs("pairs.txt")
        .into_iter()
        .chain(pairs("languages.txt"))
        .filter(|pair| pair.label == "R" && has_grammar(&pair.path))
        .map(|mut pair| (pair.path, pair.before.remove(0).1, pair.after.remove(0).1))
        .collect();
    for language in ["typescript", "python", "rust", "go", "java", "c"] {
        let fixture = Fixture::read(&format!("{language}.txt"));
        for edit in fixture.edits.iter().filter(|edit| edit.kept) {
            kept.push((fixture.path.clone(), fixture.text.clone(), fixture.edited(edit)));
        }
    }
    let (mut tried, mut wrong) = (0, Vec::new());
    for (path, before, after) in &kept {
        let program = program_of(path, after).expect("a program");
        for _ in 0..sample_or_all(16, 48) {
            let Some((changed, what)) = mutated(after, &program, &mut dice) else { continue };
            tried += 1;
            let found = classify(path, before, &changed);
            if found.class == Some(MutationClass::AstRefactor) {
                wrong.push(format!("{path} {what}: {:?}\n{changed}", found.reasons));
            }
        }
    }
    assert!(tried > sample_or_all(100, 300), "{tried}");
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
}

/// Some grammars need time in the square of the length of a text that is no program.
#[test]
fn a_text_that_takes_too_long_to_parse_is_undetermined() {
    // The text has many lines, because a file with a line of more than 5,000 characters is not parsed at all.
    let tags = ("</script>".repeat(400) + "\n").repeat(50);
    let brackets = ("(".repeat(4_000) + "\n").repeat(25);
    let program = "fn f(n: u32) -> u32 { n + 1 }\n";
    for (path, before, after) in [
        ("a.svelte", "<p>a</p>\n", tags.as_str()),
        ("a.rs", brackets.as_str(), program),
        ("a.rs", program, brackets.as_str()),
    ] {
        if !has_grammar(path) {
            continue;
        }
        let start = Instant::now();
        let found = classify(path, before, after);
        let took = start.elapsed();
        assert_eq!((found.class, found.basis), (None, Basis::ParseError), "{path}: {found:?}");
        assert!(took < Duration::from_secs(15), "{path}: {took:?}");
    }
}

/// Very deep nesting in every language, compared with the same text and one more character.
#[test]
#[ignore = "slow"]
fn hostile_texts_are_classified_in_time() {
    for language in language::with_grammar() {
        let path = format!("a.{}", language.extensions[0]);
        for piece in ["(", "[", "{", "f(x){", "\"", "- ", "if a { return }\n"] {
            let before = piece.repeat(2 * 1024 / piece.len());
            let start = Instant::now();
            let found = classify(&path, &before, &format!("{before}a"));
            let took = start.elapsed();
            assert!(took < Duration::from_secs(15), "{path} {piece:?}: {took:?}");
            assert_ne!(found.class, Some(MutationClass::AstRefactor), "{path} {piece:?}");
        }
    }
}

/// Many small functions with a comment each; all of them are changed, and a new function calls each.
#[test]
#[ignore = "slow"]
fn the_time_for_a_large_change_grows_only_with_its_size() {
    let function = |at: usize, plus: usize| {
        format!("// What {at} does.\nfn thing_{at}(n: u32) -> u32 {{ n * {at} + {plus} }}\n")
    };
    let call = |at: usize| format!("fn other_{at}() {{ thing_{at}({at}); }}\n");
    let before: String = (0..600).map(|at| function(at, 1)).collect();
    let after: String = (0..600).map(|at| function(at, 2) + &call(at)).collect();
    let start = Instant::now();
    let found = classify("a.rs", &before, &after);
    let took = start.elapsed();
    assert_eq!(found.class, Some(MutationClass::IntentEvolution));
    assert!(took < Duration::from_secs(15), "{took:?}");
}

/// A large data file is compared entry by entry, with the same result as a small one.
#[test]
#[ignore = "slow"]
fn a_large_lock_file_is_classified_like_a_small_one() {
    let lock = |entries: usize, changed: &str| {
        let entry = |at: usize| {
            let version = if at == 7 { changed } else { "\"1.0\"" };
            format!("    \"node_modules/p{at}\": {{ \"version\": {version} }}")
        };
        let entries: Vec<String> = (0..entries).map(entry).collect();
        format!("{{\n  \"packages\": {{\n{}\n  }}\n}}\n", entries.join(",\n"))
    };
    let (small, large) = (20, 3_000);
    assert!(lock(large, "\"1.0\"").len() > 128 * 1024);
    for (changed, class) in [
        ("\"2.0\"", Some(MutationClass::IntentEvolution)),
        ("\n \"1.0\"", Some(MutationClass::AstRefactor)),
        ("\"1.0\"", None),
        ("\"1.0", None),
    ] {
        for entries in [small, large] {
            let found = classify("a.json", &lock(entries, "\"1.0\""), &lock(entries, changed));
            assert_eq!(found.class, class, "{entries} entries, {changed}: {:?}", found.reasons);
        }
    }
    let found = classify("a.json", &lock(large, "\"1.0\""), &lock(large, "\"2.0\""));
    assert_eq!(found.reasons, ["key packages.node_modules/p7: body"]);
    let turned = |text: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.swap(10, 11);
        lines.join("\n")
    };
    let text = lock(large, "1");
    let found = classify("a.json", &text, &turned(&text));
    assert_eq!(found.class, Some(MutationClass::IntentEvolution), "{:?}", found.reasons);
}
