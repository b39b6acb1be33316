//! Rules about the sources as a whole: the size of crates and files, circles of imports, names, and the statements of
//! documents about the code.

mod documents;
mod imports;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use imports::Imports;
use source::{Source, code_only, doc_comments};

/// The largest number of lines of code in a file, without comments and blank lines. A larger file should
/// be split by topic.
const MAX_LINES: usize = 700;

/// The largest size of `ARCHITECTURE.md`, so that it can be read at once. Decisions and their reasons belong in
/// `docs/decisions.md`.
const MAX_ARCHITECTURE_LINES: usize = 150;

/// The largest number of lines of code in a crate, without its tests, comments and blank lines.
const MAX_CRATE_LINES: usize = 10_000;

/// How far the number of lines that `ARCHITECTURE.md` gives for a crate may be off.
const ROUNDING: usize = 250;

/// The largest number of files that may import each other in a circle.
const MAX_CIRCLE: usize = 5;

/// The number of files that are in a circle of imports. It may only fall.
const FILES_IN_CIRCLES: usize = 29;

/// The circles of folders that are left, each with its crate. No other may come, and one that is gone is removed here.
const CIRCLES_OF_FOLDERS: &[&str] = &[
    "evidence: git_hooks seal",
    "ground: git ignores",
    "judgement: check lesson map",
    "lsp: method_table ordered outlets workspace_pulls world",
];

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder with this ending, sorted.
pub(crate) fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("a readable folder entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A crate of the workspace.
struct Crate {
    name: String,
    /// The folder of its sources, relative to the repository.
    folder: String,
    /// The crates of this workspace that it depends on, without those for tests.
    stands_on: BTreeSet<String>,
    /// Its sources, without those of the faces, which are crates of their own.
    sources: Vec<Source>,
}

/// The folders below `src` that are crates of their own.
const FACES: &[&str] = &["hook/", "lsp/", "mcp/"];

/// Returns the crates of the program with their sources, which are read once for all tests.
fn crates() -> &'static [Crate] {
    static FOUND: LazyLock<Vec<Crate>> = LazyLock::new(found_crates);
    &FOUND
}

/// Finds the crates of the program, as `cargo metadata` tells them. What only measures or tests is left out.
fn found_crates() -> Vec<Crate> {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let packages = told["packages"].as_array().expect("packages");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut found = Vec::new();
    for package in packages {
        let name = text(&package["name"]);
        if ["intent-lsp-benches", "xtask"].contains(&name.as_str()) {
            continue;
        }
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let place = manifest.parent().and_then(|folder| folder.strip_prefix(root()).ok());
        let place = place.expect("below the root").to_string_lossy().replace('\\', "/");
        let folder = match place.starts_with("src/") {
            true => place,
            false => format!("{place}/src").trim_start_matches('/').to_owned(),
        };
        let all = package["dependencies"].as_array().expect("dependencies").iter();
        let stands_on = all
            .filter(|dependency| dependency["kind"].is_null() && !dependency["path"].is_null())
            .map(|dependency| text(&dependency["name"]))
            .collect();
        let sources = sources_below(&folder);
        found.push(Crate { name, folder, stands_on, sources });
    }
    assert!(found.len() > 10, "the crates were not found");
    found
}

fn sources_below(place: &str) -> Vec<Source> {
    let folder = root().join(place);
    let mut sources = Vec::new();
    for path in files_below(&folder, ".rs") {
        let below = path.strip_prefix(&folder).expect("below it").to_string_lossy();
        let below = below.replace('\\', "/");
        if place != "src" || !FACES.iter().any(|face| below.starts_with(face)) {
            sources.push(Source::new(&format!("{place}/{below}"), &read(&path)));
        }
    }
    sources
}

impl Crate {
    /// Returns the number of lines of code without tests.
    fn lines(&self) -> usize {
        let tests: Vec<String> = self.sources.iter().flat_map(Source::test_modules).collect();
        let is_test = |source: &&Source| tests.iter().any(|test| source.path.starts_with(test));
        let code =
            self.sources.iter().filter(|source| !is_test(source)).map(Source::code_without_tests);
        code.flat_map(str::lines).filter(|line| !line.trim().is_empty()).count()
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn sources() -> impl Iterator<Item = &'static Source> + Clone {
    crates().iter().flat_map(|one| &one.sources)
}

/// Fails with all complaints at once, if there are any.
pub(crate) fn assert_no_complaints(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n  {}\n", complaints.join("\n  "));
}

/// The compiler keeps the arrows between crates. This keeps the picture of them true.
#[test]
fn the_architecture_draws_every_crate_with_its_lines_and_what_it_stands_on() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let mut complaints = Vec::new();
    for one in crates() {
        let Crate { name, stands_on, .. } = one;
        let lines = one.lines();
        if lines > MAX_CRATE_LINES {
            complaints
                .push(format!("{name} has {lines} lines of code; the limit is {MAX_CRATE_LINES}"));
        }
        let row = text.lines().find_map(|line| line.strip_prefix(&format!("| `{name}` | ")));
        let Some(row) = row else {
            complaints.push(format!("ARCHITECTURE.md: no row describes the crate `{name}`"));
            continue;
        };
        let written = row.split(" | ").next().and_then(|cell| cell.replace(',', "").parse().ok());
        if written.is_none_or(|written: usize| written.abs_diff(lines) > ROUNDING) {
            complaints.push(format!("ARCHITECTURE.md: `{name}` has {lines} lines"));
        }
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let drawn: BTreeSet<String> =
            last.split_whitespace().filter(|word| *word != "–").map(str::to_owned).collect();
        if drawn != *stands_on {
            let names = listed(stands_on);
            complaints.push(format!("ARCHITECTURE.md: `{name}` stands on {names}"));
        }
    }
    let lines = text.lines().count();
    if lines > MAX_ARCHITECTURE_LINES {
        complaints.push(format!(
            "ARCHITECTURE.md has {lines} lines; the limit is {MAX_ARCHITECTURE_LINES}"
        ));
    }
    assert_no_complaints(&complaints);
}

#[test]
fn few_files_import_each_other_in_circles() {
    let (mut complaints, mut count) = (Vec::new(), 0);
    for Crate { name, folder, sources, .. } in crates() {
        for circle in Imports::of_crate(folder, sources).circles() {
            count += circle.len();
            println!("{name}: {}", circle.join(" "));
            if circle.len() > MAX_CIRCLE {
                complaints.push(format!(
                    "{name}: {} files in a circle: {}",
                    circle.len(),
                    circle.join(" ")
                ));
            }
        }
    }
    if count != FILES_IN_CIRCLES {
        complaints.push(format!(
            "{count} files are in circles, and {FILES_IN_CIRCLES} were: write the new number, or cut an import"
        ));
    }
    assert_no_complaints(&complaints);
}

#[test]
fn no_other_folders_import_each_other_in_circles() {
    let found = crates().iter().flat_map(|Crate { name, folder, sources, .. }| {
        let circles = Imports::of_crate(folder, sources).circles_of_folders().into_iter();
        circles.map(move |circle| format!("{name}: {}", circle.join(" ")))
    });
    assert_eq!(
        found.collect::<BTreeSet<_>>(),
        CIRCLES_OF_FOLDERS.iter().map(|it| (*it).to_owned()).collect()
    );
}

/// Words that say nothing without the name of the module: prepositions, participles and words for anything. A name says
/// what the function answers: `from_text`, `is_kept`, `block_at`.
const BARE_NAMES: &str = "of by at with since before after between beside above below within among to on in_ under until \
    around without against through via once then here elsewhere away apart beyond onward kept known seen \
    shown named held gone done said taken given place words real add put own inner whole plain bare all \
    what who whose has is or and any each both same some more others rest only either twice altered \
    always anchored annotated appended applied armoured attached bad beginning blank bounded braced \
    calls captures certain claimed clears cluster coded commanded compound contained contradicts cut \
    defaulted delimited deniable disguised duplicated enclosed everything executable exhausted fetched \
    finished globbed good governing granted heading helps hides hunked ignored inserted invoked keyed \
    labelled lasting leading lighter likely linked lone looks lost made managed marked matched meaning \
    misnamed missing mounted moved noted nothing observed offered opening option ordered overruled \
    packaged peeks present pulls quoted reassigned received redirected referred registered rejected \
    remaining repeated requests resolves restricted returning rewritten rooted rounds scripted sealed \
    secret serves settled shortened signed sound spaced startup strict tested tried unforeseen unfounded \
    ungated ungoverned unlisted unmatched unpacked unproven unsaved unsure unwrapped used verified \
    versioned visited wanted wants wired wiring works wrapped writable writing yes";

#[test]
fn every_function_says_by_its_name_what_it_answers() {
    let tests: Vec<String> = sources().flat_map(Source::test_modules).collect();
    let mut found = Vec::new();
    for source in sources().filter(|one| !tests.iter().any(|test| one.path.starts_with(test))) {
        let is_bare = |name: &str| BARE_NAMES.split(' ').any(|bare| bare == name);
        let bare = source.functions().into_iter().filter(|(_, name)| is_bare(name));
        found.extend(bare.map(|(line, name)| format!("{}:{line}: {name}", source.path)));
    }
    assert_no_complaints(&found);
}

/// The compiler reports unused code only if it is not public. The program is left out, because no other crate uses it.
#[test]
fn every_public_item_of_a_library_is_used_outside_of_it() {
    let folders = ["tests", "benches", "fuzz/fuzz_targets"].map(|folder| root().join(folder));
    let beside = folders.iter().flat_map(|folder| files_below(folder, ".rs"));
    let beside: Vec<Source> = beside.map(|path| Source::new("", &read(&path))).collect();
    let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in crates() {
        for word in one.sources.iter().flat_map(Source::words) {
            users.entry(word).or_default().insert(&one.name);
        }
        // What a macro names is used wherever the macro is.
        let has_macro = |source: &&Source| source.words().any(|word| word == "macro_export");
        for word in one.sources.iter().filter(has_macro).flat_map(Source::words) {
            users.entry(word).or_default().insert("a macro");
        }
    }
    for word in beside.iter().flat_map(Source::words) {
        users.entry(word).or_default().insert("tests");
    }
    let mut complaints = Vec::new();
    for one in crates().iter().filter(|one| one.folder != "src") {
        let tests: Vec<String> = one.sources.iter().flat_map(Source::test_modules).collect();
        let is_test = |source: &&Source| tests.iter().any(|test| source.path.starts_with(test));
        for source in one.sources.iter().filter(|source| !is_test(source)) {
            let unused = source.public_items().into_iter();
            let unused = unused.filter(|(_, name)| users[name].len() < 2);
            complaints.extend(unused.map(|(line, name)| format!("{}:{line}: {name}", source.path)));
        }
    }
    assert_no_complaints(&complaints);
}

/// `Page::text` and `Page::styled` remove the spaces at both ends of a text, because it may come from other people.
#[test]
fn no_literal_with_an_outer_space_is_printed_as_foreign_text() {
    let ends_in_space = |argument: &str| {
        let argument = argument.strip_prefix('&').unwrap_or(argument);
        let literal = argument.strip_prefix("format!(").unwrap_or(argument);
        let words = literal.strip_prefix('"').and_then(|rest| rest.split('"').next());
        words.is_some_and(|words| words.starts_with(' ') || words.ends_with(' '))
    };
    let mut complaints = Vec::new();
    for path in files_below(&root().join("src/cli"), ".rs") {
        let text = read(&path);
        for (line, at) in text.lines().zip(1..) {
            let texts = line.split(".text(").skip(1);
            let styled = line.split(".styled(").skip(1).filter_map(|call| call.split_once(", "));
            if texts.chain(styled.map(|(_, words)| words)).any(ends_in_space) {
                complaints.push(format!("{}:{at}: use `own` for the space", path.display()));
            }
        }
    }
    assert_no_complaints(&complaints);
}

#[test]
fn no_file_is_longer_than_the_limit() {
    let long: Vec<String> = sources()
        .filter(|source| source.lines > MAX_LINES)
        .map(|source| {
            format!("{} has {} lines of code; the limit is {MAX_LINES}", source.path, source.lines)
        })
        .collect();
    assert_no_complaints(&long);
}

#[test]
fn every_type_has_a_unique_name() {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources() {
        for name in source.types() {
            files.entry(name).or_default().push(&source.path);
        }
    }
    files.retain(|_, files| files.len() > 1);
    let complaints: Vec<String> = files
        .iter()
        .map(|(name, files)| format!("the type name `{name}` is used in {}", files.join(", ")))
        .collect();
    assert_no_complaints(&complaints);
}

/// The largest share of doc comments, in percent, that may have `SHORT_COMMENT` words or fewer.
const MAX_SHORT_COMMENTS: usize = 2;
const SHORT_COMMENT: usize = 4;

#[test]
fn few_doc_comments_are_too_short_to_say_anything() {
    let mut all = 0;
    let mut short = Vec::new();
    for path in ["src", "crates"].iter().flat_map(|folder| files_below(&root().join(folder), ".rs"))
    {
        for (line, comment) in doc_comments(&read(&path)) {
            all += 1;
            if comment.split_whitespace().count() <= SHORT_COMMENT {
                short.push(format!("{}:{line}: {comment}", path.display()));
            }
        }
    }
    assert!(all > 1000, "the doc comments were not found");
    if short.len() * 100 > all * MAX_SHORT_COMMENTS {
        assert_no_complaints(&short);
    }
}

#[test]
fn every_module_is_described_in_its_crate() {
    let mut complaints = Vec::new();
    for Crate { name, folder, .. } in crates().iter().filter(|one| one.folder != "src") {
        let library = read(&root().join(folder).join("lib.rs"));
        let header: Vec<&str> =
            library.lines().take_while(|line| line.starts_with("//!")).collect();
        let header = header.join("\n");
        let code = code_only(&library);
        let mut modules = BTreeSet::new();
        let mut above = "";
        for line in code.lines().map(str::trim_end) {
            let declared = line.strip_suffix(';').and_then(|line| line.split_once("mod "));
            let of_module = |(before, name): (&str, _)| {
                let is_plain = before.is_empty() || before.starts_with("pub");
                (is_plain && above != "#[cfg(test)]").then_some(name)
            };
            modules.extend(declared.and_then(of_module));
            above = line;
        }
        assert!(modules.len() > 2, "the modules of `{name}` were not found: {modules:?}");
        for module in modules.iter().filter(|module| !header.contains(&format!("`{module}`"))) {
            complaints.push(format!("{folder}/lib.rs: its `//!` does not name `{module}`"));
        }
        let listed = header.lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("//! - ")?.split_once(": ")?;
            Some(name.trim_matches(['[', ']', '`']))
        });
        for module in listed.filter(|name| !modules.contains(name)) {
            complaints.push(format!("{folder}/lib.rs: there is no module `{module}`"));
        }
    }
    assert_no_complaints(&complaints);
}

#[test]
fn no_source_contains_todo_macros() {
    let left: Vec<String> = sources()
        .flat_map(|source| {
            ["todo!", "dbg!", "unimplemented!"]
                .into_iter()
                .flat_map(|name| {
                    source.lines_with_macro(name).into_iter().map(move |line| (name, line))
                })
                .map(|(name, line)| format!("{}:{line}: {name}", source.path))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_no_complaints(&left);
}

/// Only the command line and the fence may start programs, because a person or an agent asked for those.
fn may_start(path: &str) -> bool {
    ["src/cli/", "src/long_name.rs", "crates/fence/"].iter().any(|place| path.starts_with(place))
}

#[test]
fn only_the_command_line_and_the_fence_start_programs() {
    let only_tests: Vec<String> = sources().flat_map(Source::test_modules).collect();
    assert!(only_tests.len() > 1, "no module of tests was found");
    let doing: Vec<String> = sources()
        .filter(|source| !only_tests.iter().any(|module| source.path.starts_with(module.as_str())))
        .flat_map(|source| {
            ["process::Command", "TcpListener", "TcpStream", "UdpSocket", "UnixListener"]
                .into_iter()
                .filter(|name| source.code_without_tests().contains(name))
                .filter(|name| *name != "process::Command" || !may_start(&source.path))
                .map(|name| format!("{}: {name}", source.path))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_no_complaints(&doing);
}

#[test]
fn todo_macros_are_noticed_only_in_code() {
    let source =
        Source::new("src/code/x.rs", "// todo!()\nlet a = \"todo!()\";\nfn f() { todo!() }\n");
    assert_eq!(source.lines_with_macro("todo!"), [3]);
}
