//! Rules about the sources as a whole: which rooms may use which, the size of files, and the statements of documents
//! about the code.

mod documents;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use source::{Source, code_only, doc_comments};

/// The largest number of lines of code in a file below `src/`, without comments and blank lines. A larger file should
/// be split by topic.
const MAX_LINES: usize = 700;

/// The largest size of `ARCHITECTURE.md`, so that it can be read at once. Decisions and their reasons belong in
/// `docs/decisions.md`.
const MAX_ARCHITECTURE_LINES: usize = 150;

/// Every room, and the rooms that it may use. `ARCHITECTURE.md` says why.
const ROOMS: &[(&str, &[&str])] = &[
    ("code", &[]),
    ("edits", &[]),
    ("workspace", &["code", "edits"]),
    ("intent", &["code", "edits", "workspace"]),
    ("ledger", &["code", "edits", "workspace"]),
    ("shell", &["code", "edits", "workspace"]),
    ("fence", &["workspace"]),
    ("provenance", &["code", "edits", "workspace", "ledger"]),
    ("verbs", &["code", "edits", "workspace", "intent", "ledger", "shell", "fence", "provenance"]),
    ("lsp", VERBS_AND_BELOW),
    ("mcp", VERBS_AND_BELOW),
    ("hook", VERBS_AND_BELOW),
    ("cli", VERBS_AND_BELOW),
];

const VERBS_AND_BELOW: &[&str] =
    &["code", "edits", "workspace", "intent", "ledger", "shell", "fence", "provenance", "verbs"];

/// The modules of other faces that the command line may use: those that start a face, and those of the hook that
/// connect hosts, store its own path, and check the connection.
const DOORS: &[(&str, &str)] = &[
    ("cli", "lsp::run"),
    ("cli", "mcp::run"),
    ("cli", "hook::run"),
    ("cli", "hook::host"),
    ("cli", "hook::install"),
    ("cli", "hook::binary"),
    ("cli", "hook::doctor"),
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

fn sources() -> Vec<Source> {
    let sources = files_below(&root().join("src"), ".rs");
    assert!(sources.len() > 20, "the sources were not found");
    sources
        .iter()
        .map(|path| {
            let relative = path.strip_prefix(root()).expect("below the root").to_string_lossy();
            Source::new(&relative.replace('\\', "/"), &read(path))
        })
        .collect()
}

/// Fails with all complaints at once, if there are any.
pub(crate) fn assert_no_complaints(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n  {}\n", complaints.join("\n  "));
}

fn forbidden_uses(source: &Source) -> Vec<String> {
    let Some(room) = source.room() else { return Vec::new() };
    let Some((_, known)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        return vec![format!(
            "{}: the room `{room}` is not in the table of tests/tidy",
            source.path
        )];
    };
    let is_room = |name: &str| ROOMS.iter().any(|(room, _)| *room == name);
    source
        .crate_paths()
        .into_iter()
        .filter(|path| {
            let first = path.split("::").next().unwrap_or(path);
            let through = |door: &str| {
                path.strip_prefix(door)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            };
            let through_door = DOORS.iter().any(|(from, door)| *from == room && through(door));
            is_room(first) && first != room && !known.contains(&first) && !through_door
        })
        .map(|path| format!("{}: `{room}` may not know `crate::{path}`", source.path))
        .collect()
}

#[test]
fn no_room_uses_a_room_above_or_beside_it() {
    let complaints: Vec<String> = sources().iter().flat_map(forbidden_uses).collect();
    assert_no_complaints(&complaints);
}

#[test]
fn every_room_of_the_library_is_in_the_table() {
    let library = code_only(&read(&root().join("src/lib.rs")));
    let declared: Vec<&str> = library
        .lines()
        .filter_map(|line| line.trim().strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let table: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    assert!(declared.len() >= 7, "the rooms were not found in src/lib.rs: {declared:?}");
    let unknown: Vec<_> = declared.iter().filter(|room| !table.contains(room)).collect();
    assert!(unknown.is_empty(), "rooms that tests/tidy does not know: {unknown:?}");
}

#[test]
fn no_two_rooms_may_use_each_other() {
    let may = |from: &str, to: &str| {
        ROOMS.iter().any(|(room, known)| *room == from && known.contains(&to))
    };
    for (a, _) in ROOMS {
        for (b, _) in ROOMS {
            assert!(!(may(a, b) && may(b, a)), "{a} and {b} may know each other");
        }
    }
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
        .iter()
        .filter(|source| source.lines > MAX_LINES)
        .map(|source| {
            format!("{} has {} lines of code; the limit is {MAX_LINES}", source.path, source.lines)
        })
        .collect();
    assert_no_complaints(&long);
}

#[test]
fn every_type_has_a_unique_name() {
    let sources = sources();
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in &sources {
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
    for path in files_below(&root().join("src"), ".rs") {
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

/// Returns the modules directly below a room, except those that only tests use.
fn modules_of(room: &str) -> BTreeSet<String> {
    let folder = root().join("src").join(room);
    let tests =
        Source::new(&format!("src/{room}/mod.rs"), &read(&folder.join("mod.rs"))).test_modules();
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut modules = BTreeSet::new();
    for entry in entries {
        let path = entry.expect("a readable folder entry").path();
        let name = path.file_stem().expect("an entry has a name").to_string_lossy().into_owned();
        let is_module = match path.is_dir() {
            true => !files_below(&path, ".rs").is_empty(),
            false => path.extension().is_some_and(|ending| ending == "rs") && name != "mod",
        };
        let is_test = tests.contains(&format!("src/{room}/{name}.rs"));
        if is_module && !is_test {
            modules.insert(name);
        }
    }
    modules
}

#[test]
fn every_module_is_described_in_its_room() {
    let architecture = read(&root().join("ARCHITECTURE.md"));
    let mut complaints = Vec::new();
    for (room, _) in ROOMS {
        let file = read(&root().join("src").join(room).join("mod.rs"));
        let header: String =
            file.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n");
        let modules = modules_of(room);
        assert!(modules.len() > 3, "the modules of `{room}` were not found: {modules:?}");
        for module in &modules {
            let is_named = header.contains(&format!("`{module}`"))
                || architecture.contains(&format!("`{room}::{module}`"));
            if !is_named {
                complaints.push(format!("src/{room}/mod.rs: its `//!` does not name `{module}`"));
            }
        }
        let listed = header.lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("//! - `")?.split_once("`: ")?;
            Some(name)
        });
        for name in listed.filter(|name| !modules.contains(*name)) {
            complaints.push(format!("src/{room}/mod.rs: there is no module `{name}`"));
        }
    }
    assert_no_complaints(&complaints);
}

#[test]
fn the_architecture_describes_every_room_and_stays_short() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let mut complaints: Vec<String> = ROOMS
        .iter()
        .filter(|(room, _)| !text.contains(&format!("\n| `{room}` | ")))
        .map(|(room, _)| format!("ARCHITECTURE.md: no row describes the room `{room}`"))
        .collect();
    let lines = text.lines().count();
    if lines > MAX_ARCHITECTURE_LINES {
        complaints.push(format!(
            "ARCHITECTURE.md has {lines} lines; the limit is {MAX_ARCHITECTURE_LINES}"
        ));
    }
    assert_no_complaints(&complaints);
}

#[test]
fn no_source_contains_todo_macros() {
    let left: Vec<String> = sources()
        .iter()
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
    path.starts_with("src/cli/") || path.starts_with("src/fence/")
}

#[test]
fn only_the_command_line_and_the_fence_start_programs() {
    let sources = sources();
    let only_tests: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    assert!(only_tests.len() > 1, "no module of tests was found");
    let doing: Vec<String> = sources
        .iter()
        .filter(|source| !only_tests.iter().any(|module| source.path.starts_with(module.as_str())))
        .flat_map(|source| {
            ["process::Command", "TcpListener", "TcpStream", "UdpSocket", "UnixListener"]
                .into_iter()
                .filter(|name| source.code_before_tests().contains(name))
                .filter(|name| *name != "process::Command" || !may_start(&source.path))
                .map(|name| format!("{}: {name}", source.path))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_no_complaints(&doing);
}

#[test]
fn a_forbidden_use_is_noticed_in_every_spelling() {
    let cases = [
        ("src/ledger/x.rs", "use crate::intent::Intent;", 1),
        ("src/ledger/x.rs", "use crate::{code::Block, intent};", 1),
        (
            "src/ledger/x.rs",
            "use crate::{\n    code::{self, Block},\n    verbs::{why, check},\n};",
            2,
        ),
        ("src/ledger/x.rs", "fn f() { crate::verbs::why::file(); }", 1),
        ("src/ledger/mod.rs", "use super::verbs::why;", 1),
        ("src/ledger/x.rs", "use super::super::verbs::why;", 1),
        ("src/ledger/x/y.rs", "use super::super::super::lsp;", 1),
        ("src/workspace/finding.rs", "use crate::code::LineRange; use crate::edits::TextEdit;", 0),
        (
            "src/ledger/x.rs",
            "/// [`crate::intent::Intent`]\n// crate::verbs\nlet s = \"crate::verbs\";",
            0,
        ),
        ("src/verbs/mod.rs", "mod workspace; pub use workspace::Workspace; use super::lsp;", 1),
        ("src/cli/commands/lsp.rs", "crate::lsp::run()", 0),
        ("src/cli/commands/lsp.rs", "crate::lsp::world::World", 1),
        ("src/lsp/x.rs", "crate::cli::print", 1),
    ];
    for (path, text, expected) in cases {
        let found = forbidden_uses(&Source::new(path, text));
        assert_eq!(found.len(), expected, "{path}: {text}: {found:?}");
    }
}

#[test]
fn todo_macros_are_noticed_only_in_code() {
    let source =
        Source::new("src/code/x.rs", "// todo!()\nlet a = \"todo!()\";\nfn f() { todo!() }\n");
    assert_eq!(source.lines_with_macro("todo!"), [3]);
}

#[test]
fn the_names_of_rooms_are_unique() {
    let names: BTreeSet<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    assert_eq!(names.len(), ROOMS.len());
}
