//! Walks through histories that git made.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ground::answer_store::AnswerStore;
use ground::git::GitError;
use ground::{Environment, Git, RelativePath, Root};
use history::knowledge::{AskedTree, Knowledge};
use history::{KnownOrigins, LineFinder, Walk, WalkOptions};
use ledger::Ledger;

/// Random numbers from a fixed start, so that a failure can be repeated.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap_or_default()
    }
}

/// The files of a branch: path and lines.
type Files = Vec<(String, Vec<String>)>;

/// A history in the form that `git fast-import` reads.
#[derive(Default)]
struct Story {
    stream: String,
    commits: usize,
    lines: usize,
}

impl Story {
    /// Every third line is one that many have, so that a hunk can be placed in several ways.
    fn new_line(&mut self, chance: &mut Chance) -> String {
        const COMMON: [&str; 5] = ["", "}", "end", "return;", "else {"];
        self.lines += 1;
        let indent = "    ".repeat(chance.below(3));
        match chance.below(3) {
            0 => format!("{indent}{}", COMMON[chance.below(COMMON.len())]),
            _ => format!("{indent}value_{} = {};", self.lines, chance.below(1000)),
        }
    }

    /// Adds a commit and returns its number.
    fn commit(&mut self, branch: &str, parents: &[usize], files: &Files) -> usize {
        self.commits += 1;
        let time = 1_700_000_000 + self.commits * 60;
        let stream = &mut self.stream;
        let mark = self.commits;
        let _ = writeln!(
            stream,
            "commit refs/heads/{branch}\nmark :{mark}\ncommitter A <a@b> {time} +0000\ndata 1\nx"
        );
        for (nth, parent) in parents.iter().enumerate() {
            let _ = writeln!(stream, "{} :{parent}", if nth == 0 { "from" } else { "merge" });
        }
        let _ = writeln!(stream, "deleteall");
        for (path, lines) in files {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let _ = writeln!(stream, "M 100644 inline {path}\ndata {}\n{text}", text.len());
        }
        mark
    }

    fn edit(&mut self, files: &mut Files, chance: &mut Chance) {
        let at = chance.below(files.len());
        let count = files.len();
        let (path, lines) = &mut files[at];
        match chance.below(12) {
            0 => *path = format!("folder_{}/{path}", chance.below(9)),
            1 => *path = format!("file_{count}_{}.txt", chance.below(99)),
            2 => {
                for line in lines.iter_mut() {
                    *line = format!("\t{}  ", line.trim());
                }
            }
            3 => {
                let lines = (0..30).map(|_| self.new_line(chance)).collect();
                files.push((format!("new_{count}_{}.txt", chance.below(99)), lines));
            }
            4..=6 if lines.len() > 6 => {
                let start = chance.below(lines.len() - 4);
                lines.drain(start..start + 1 + chance.below(3));
            }
            _ => {
                let start = chance.below(lines.len() + 1);
                let end = (start + chance.below(4)).min(lines.len());
                let new: Vec<String> =
                    (0..chance.below(5)).map(|_| self.new_line(chance)).collect();
                lines.splice(start..end, new);
            }
        }
    }
}

/// Tells a story with branches and merges.
fn story(seed: u64) -> Story {
    let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut story = Story::default();
    let lines = (0..40).map(|_| story.new_line(&mut chance)).collect();
    let mut files: Files = vec![("first.txt".to_owned(), lines)];
    let mut tip = story.commit("main", &[], &files);
    for _ in 0..25 {
        if chance.below(5) == 0 {
            let mut theirs = files.clone();
            story.edit(&mut theirs, &mut chance);
            let other = story.commit("side", &[tip], &theirs);
            story.edit(&mut files, &mut chance);
            tip = story.commit("main", &[tip], &files);
            // The merge takes each file from one side, and edits one.
            for (path, lines) in theirs {
                match files.iter_mut().find(|(known, _)| *known == path) {
                    Some(file) if chance.below(2) == 0 => file.1 = lines,
                    Some(_) => {}
                    None => files.push((path, lines)),
                }
            }
            if chance.below(2) == 0 {
                story.edit(&mut files, &mut chance);
            }
            tip = story.commit("main", &[tip, other], &files);
        } else {
            story.edit(&mut files, &mut chance);
            files.dedup_by(|a, b| a.0 == b.0);
            tip = story.commit("main", &[tip], &files);
        }
    }
    story
}

fn git(folder: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns `commit path line` for each line of a file, as git says it.
fn blamed(folder: &Path, path: &str) -> Vec<String> {
    let told =
        git(folder, &["blame", "-w", "--no-textconv", "--porcelain", "main", "--", path], "");
    let mut paths: Vec<(String, String)> = Vec::new();
    let mut found: Vec<(String, String)> = Vec::new();
    for line in told.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let Some(name) = line.strip_prefix("filename ") {
            paths.push((found.last().unwrap().0.clone(), name.to_owned()));
        } else if !line.starts_with('\t') && words[0].len() == 40 && words.len() >= 3 {
            found.push((words[0].to_owned(), words[1].to_owned()));
        }
    }
    let named = found.iter().map(|(commit, line)| {
        let path = &paths.iter().find(|(known, _)| known == commit).unwrap().1;
        format!("{commit} {path} {line}")
    });
    named.collect()
}

/// Returns `commit path line` for each line of a file at `HEAD`, as our walk finds it. What is missing is in brackets.
fn walked(folder: &Path, path: &str) -> Vec<String> {
    walked_at(folder, "HEAD", path, None).unwrap()
}

/// Like [`walked`], for a file at any commit, with the answers that were kept. `None` if the commit has no such file.
fn walked_at(
    folder: &Path,
    revision: &str,
    path: &str,
    store: Option<&AnswerStore>,
) -> Option<Vec<String>> {
    let root = Root::find(folder, &Environment::of_process()).unwrap();
    let repository = Git::open(&root).unwrap().unwrap();
    let commit = repository.object_id(&repository.resolve(revision).unwrap()).unwrap();
    let mut reader = repository.object_reader().unwrap();
    let known = store.map(|store| KnownOrigins::new(store, &mut reader).unwrap());
    let tree = AskedTree::Tree(reader.commit(commit).unwrap().tree);
    let mut finder = LineFinder {
        root: &root,
        reader: &mut reader,
        knowledge: &mut Knowledge::new(&root, "".into(), tree).with_known(known.as_ref()),
        prefix: "".into(),
        journal: &Ledger::default(),
        options: WalkOptions { known: known.as_ref(), ..WalkOptions::default() },
    };
    let found = finder.of_file(commit, &RelativePath::new(path).unwrap()).unwrap()?;
    let lines = found.lines.iter().map(|line| {
        let version = &found.versions[line.version.unwrap()];
        let told = format!("{} {} {}", version.commit, version.path, line.line_there + 1);
        if line.is_missing { format!("({told})") } else { told }
    });
    Some(lines.collect())
}

/// Our walk differs from git's on purpose if a line is wrapped, or if one file goes on under two names, as in the merge
/// of the history 21. None of this is in these histories.
#[test]
#[ignore = "slow"]
fn each_line_has_the_commit_that_git_blame_names() {
    for seed in 1..=20 {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "-b", "main"], "");
        git(folder.path(), &["fast-import", "--quiet"], &story(seed).stream);
        git(folder.path(), &["reset", "-q", "--hard"], "");
        let files = git(folder.path(), &["ls-files"], "");
        assert!(!files.is_empty());
        for path in files.lines() {
            let ours = walked(folder.path(), path);
            assert_eq!(ours, blamed(folder.path(), path), "seed {seed}: {path}");
        }
    }
}

/// Git and we end the search for the shortest way between two long texts at the same places.
#[test]
#[ignore = "slow"]
fn long_texts_that_differ_much_are_compared_as_git_does_it() {
    for (seed, kinds) in [(1, 40), (2, 400), (3, 4_000)] {
        let mut chance = Chance(seed);
        let mut text = |count: usize| -> String {
            let line = |_| format!("{}line {}\n", " ".repeat(chance.below(9)), chance.below(kinds));
            (0..count).map(line).collect()
        };
        let (kept, other) = (text(300), text(60));
        let (before, now) = (text(2_000) + &kept + &text(500), text(1_500) + &kept + &text(900));
        let place = Place::new();
        place.commit(&[("a.txt", &(before + &other))]);
        place.commit(&[("a.txt", &(now + &other))]);
        let (ours, theirs) = (place.walked("a.txt"), blamed(place.0.path(), "a.txt"));
        let first = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        assert_eq!((first, ours.len()), (None, theirs.len()), "seed {seed}");
    }
}

/// A repository of one branch, and whether its commits have a registry.
struct Place(tempfile::TempDir, bool);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "-b", "main"], "");
        Self(folder, true)
    }

    /// Removes an object that is in no pack.
    fn lose_object(&self, revision: &str) {
        let id = git(self.0.path(), &["rev-parse", revision], "");
        let (folder, name) = id.trim().split_at(2);
        std::fs::remove_file(self.0.path().join(".git/objects").join(folder).join(name)).unwrap();
    }

    /// Commits these files, and no others but the registry. Returns the id of the commit.
    fn commit(&self, files: &[(&str, &str)]) -> String {
        git(self.0.path(), &["rm", "-rfq", "--ignore-unmatch", "."], "");
        let registry = (".orchestration/active_intents.yaml", "intents: []\n");
        let files = files.iter().copied().chain(self.1.then_some(registry));
        for (path, text) in files {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        git(self.0.path(), &["add", "-A"], "");
        let author = ["-c", "user.name=A", "-c", "user.email=a@b"];
        git(self.0.path(), &[&author[..], &["commit", "-qm", "x", "--allow-empty"]].concat(), "");
        git(self.0.path(), &["rev-parse", "HEAD"], "").trim().to_owned()
    }

    fn walked(&self, path: &str) -> Vec<String> {
        walked(self.0.path(), path)
    }
}

const LOGIN: &str =
    "fn login(user: &str) -> bool {\n    let known = find(user);\n    known.is_some()\n}\n";
const OTHER: &str = "fn other() -> u32 {\n    let seven = 7;\n    seven * 2\n}\n";

#[test]
fn a_whole_block_that_moves_to_another_file_keeps_its_commits() {
    let place = Place::new();
    let first = place.commit(&[("src/a.rs", &format!("{OTHER}\n{LOGIN}"))]);
    let moved = LOGIN.replace("    ", "\t");
    let second =
        place.commit(&[("src/a.rs", OTHER), ("src/b.rs", &format!("//! New.\n\n{moved}"))]);
    let lines = place.walked("src/b.rs");
    assert_eq!(lines[0], format!("{second} src/b.rs 1"));
    let from: Vec<String> = (6..=9).map(|line| format!("{first} src/a.rs {line}")).collect();
    assert_eq!(lines[2..], from);
}

/// Nothing was recorded that such a move could lead to.
#[test]
fn a_block_that_moved_before_there_was_a_registry_is_of_the_commit_that_moved_it() {
    let place = Place(Place::new().0, false);
    place.commit(&[("src/a.rs", &format!("{OTHER}\n{LOGIN}"))]);
    let second = place.commit(&[("src/a.rs", OTHER), ("src/b.rs", LOGIN)]);
    assert!(place.walked("src/b.rs").iter().all(|line| line.starts_with(&second)));
}

#[test]
fn a_block_that_is_moved_and_edited_or_copied_is_of_the_commit_that_did_it() {
    let place = Place::new();
    place.commit(&[("src/a.rs", &format!("{OTHER}\n{LOGIN}"))]);
    let edited = LOGIN.replace("is_some", "is_none");
    let second = place.commit(&[("src/a.rs", OTHER), ("src/b.rs", &edited)]);
    assert!(place.walked("src/b.rs").iter().all(|line| line.starts_with(&second)));

    let place = Place::new();
    let both = format!("{OTHER}\n{LOGIN}");
    place.commit(&[("src/a.rs", &both)]);
    let second = place.commit(&[("src/a.rs", &both), ("src/b.rs", LOGIN)]);
    assert!(place.walked("src/b.rs").iter().all(|line| line.starts_with(&second)));
}

#[test]
fn a_block_that_moves_within_its_file_keeps_its_commits() {
    let place = Place::new();
    let long: String = (0..9)
        .map(|nth| format!("fn part_{nth}() {{\n    call({nth});\n    end({nth});\n}}\n"))
        .collect();
    let first = place.commit(&[("a.rs", &format!("{LOGIN}{long}"))]);
    place.commit(&[("a.rs", &format!("{long}{LOGIN}"))]);
    assert!(place.walked("a.rs").iter().all(|line| line.starts_with(&first)));
}

#[test]
fn a_moved_block_may_end_like_the_one_that_was_there() {
    let place = Place::new();
    let part = |nth: u32| {
        format!("def part_{nth}(store):\n    call({nth})\n    end({nth})\n    return store\n\n")
    };
    let text = |order: &[u32]| order.iter().map(|nth| part(*nth)).collect::<String>();
    let first = place.commit(&[("a.py", &text(&[2, 3]))]);
    let second = place.commit(&[("a.py", &text(&[1, 2, 3]))]);
    let third = place.commit(&[("a.py", &text(&[1, 2, 3, 4]))]);
    place.commit(&[("a.py", &text(&[2, 1, 4, 3]))]);
    let lines = place.walked("a.py");
    for (part, commit) in [&first, &second, &third, &first].into_iter().enumerate() {
        let own = &lines[5 * part..5 * part + 3];
        assert!(own.iter().all(|line| line.starts_with(commit)), "{own:?}");
    }
}

fn class(name: &str, methods: &[&str]) -> String {
    format!("class {name}:\n{}", methods.concat())
}

fn python(name: &str, statements: &str) -> String {
    let body: String = statements.split(' ').map(|one| format!("    {one}(u)\n")).collect();
    format!("def {name}(u):\n{body}    return u\n\n")
}

fn notebook(cells: &[&str]) -> String {
    let start = "  {\n   \"cell_type\": \"code\",\n   \"metadata\": {},\n   \"source\": [\n    ";
    let cells: Vec<String> =
        cells.iter().map(|cell| format!("{start}{cell}\n   ]\n  }}")).collect();
    format!("{{\n \"cells\": [\n{}\n ],\n \"nbformat\": 4\n}}\n", cells.join(",\n"))
}

const SET_UP: &str =
    "    def setUp(self):\n        self.db = connect()\n        self.db.clear()\n\n";
const TEST_A: &str = "    def test(self):\n        first(self)\n        second(self)\n";
const TEST_B: &str = "    def test(self):\n        third(self)\n        fourth(self)\n";

/// A commit that took blocks away and added such blocks, and where one of them comes from.
struct MoveStory {
    name: &'static str,
    before: Vec<(&'static str, String)>,
    after: Vec<(&'static str, String)>,
    /// The place of a line that was added, and the file that it was in. `None` for a new line.
    line: (&'static str, usize),
    from: Option<&'static str>,
}

fn move_stories() -> Vec<MoveStory> {
    let f = || python("f", "one two three");
    let edited = || python("f", "eins zwei drei");
    let other = |name: &str| python(name, "other others");
    let long = || (1..9).map(|nth| other(&format!("part_{nth}"))).collect::<String>();
    let (a, b) = (class("A", &[SET_UP, TEST_A]), class("B", &[SET_UP, TEST_B]));
    vec![
        MoveStory {
            name: "the name of the class tells which of two equal methods moved",
            before: vec![("a.py", long() + &a), ("b.py", long() + &b)],
            after: vec![("a.py", long()), ("all.py", b.replace("third", "3rd")), ("b.py", long())],
            line: ("all.py", 3),
            from: Some("b.py"),
        },
        MoveStory {
            name: "two equal methods are removed, and the new one has another name than both",
            before: vec![("a.py", long() + &a), ("b.py", long() + &b)],
            after: vec![("a.py", long()), ("all.py", class("C", &[SET_UP])), ("b.py", long())],
            line: ("all.py", 3),
            from: None,
        },
        MoveStory {
            name: "two equal functions are removed, and one is added",
            before: vec![("a.py", f() + &other("a")), ("b.py", f() + &other("b"))],
            after: vec![("a.py", other("a")), ("b.py", other("b")), ("c.py", f())],
            line: ("c.py", 2),
            from: None,
        },
        MoveStory {
            name: "a function is removed, and two equal ones are added",
            before: vec![("a.py", f() + &other("a")), ("b.py", other("b"))],
            after: vec![("a.py", other("a")), ("b.py", other("b") + &f()), ("c.py", f())],
            line: ("c.py", 2),
            from: None,
        },
        MoveStory {
            name: "two whole classes with an equal method move to one file",
            before: vec![("a.py", a.clone() + "\n" + &long()), ("b.py", long() + &b)],
            after: vec![("a.py", long()), ("all.py", a + "\n" + &b), ("b.py", long())],
            line: ("all.py", 12),
            from: Some("b.py"),
        },
        MoveStory {
            name: "a function is copied, and its original is edited",
            before: vec![("b.py", f())],
            after: vec![("b.py", edited()), ("copy.py", f())],
            line: ("copy.py", 3),
            from: None,
        },
        MoveStory {
            name: "a function is copied, and its original is edited in a renamed file",
            before: vec![("b.py", f() + &long())],
            after: vec![("copy.py", f()), ("now.py", edited() + &long())],
            line: ("copy.py", 3),
            from: None,
        },
        MoveStory {
            name: "a function is copied, and the file of its original is renamed",
            before: vec![("b.py", f() + &long())],
            after: vec![("copy.py", f()), ("now.py", f() + &other("new") + &long())],
            line: ("copy.py", 3),
            from: None,
        },
        MoveStory {
            name: "a function is moved, and another one that ends like it takes its place",
            before: vec![("b.py", f() + &long())],
            after: vec![("b.py", python("g", "eins zwei") + &long()), ("c.py", f())],
            line: ("c.py", 3),
            from: Some("b.py"),
        },
        MoveStory {
            name: "the cells of a notebook, which all have one name, change places",
            before: vec![("a.ipynb", notebook(&["\"a = 1\"", "\"b = 1\\n\",\n    \"c = 2\""]))],
            after: vec![("a.ipynb", notebook(&["\"b = 1\\n\",\n    \"c = 2\"", "\"a = 1\""]))],
            line: ("a.ipynb", 7),
            from: Some("a.ipynb"),
        },
        MoveStory {
            name: "a function is moved out of a file that is renamed",
            before: vec![("b.py", f() + &long())],
            after: vec![("c.py", f()), ("now.py", long() + &other("new"))],
            line: ("c.py", 3),
            from: Some("b.py"),
        },
    ]
}

#[test]
#[ignore = "slow"]
fn only_a_block_that_can_be_told_from_others_was_moved() {
    let mut wrong = String::new();
    for MoveStory { name, before, after, line: (path, number), from } in move_stories() {
        let place = Place::new();
        let files = |files: &[(&'static str, String)]| {
            let files: Vec<(&str, &str)> = files.iter().map(|(at, text)| (*at, &**text)).collect();
            place.commit(&files)
        };
        let (first, second) = (files(&before), files(&after));
        let told = &place.walked(path)[number - 1];
        let expected = match from {
            Some(from) => format!("{first} {from} "),
            None => format!("{second} {path} "),
        };
        if !told.starts_with(&expected) {
            let _ = writeln!(wrong, "{name}: {told}, not {expected}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

type Texts<'a> = &'a [(&'a str, &'a str)];

/// Nothing is asked of a clone without contents but whether code was removed at all.
#[test]
#[ignore = "slow"]
fn a_block_is_nobodys_if_the_contents_are_missing_that_say_whether_it_moved() {
    let old = format!("{OTHER}\n{LOGIN}");
    let table: [(Texts<'_>, Texts<'_>, &str); 4] = [
        (&[("a.rs", &old)], &[("a.rs", OTHER), ("b.rs", LOGIN)], "????"),
        // A line outside of blocks cannot have been moved.
        (&[("a.rs", &old)], &[("a.rs", OTHER), ("b.rs", "use x;\n\nconst A: u8 = 1;\n")], "+++"),
        (&[("a.py", "x = 1\n")], &[("a.py", "x = 2\n"), ("b.rs", LOGIN)], "++++"),
        (&[], &[("a.rs", OTHER), ("b.rs", LOGIN)], "++++"),
    ];
    for (before, after, expected) in table {
        let place = Place::new();
        place.commit(before);
        let second = place.commit(after);
        // What is checked out is not missing.
        let mut last = after.to_vec();
        last.push(("c.txt", "end\n"));
        if let Some((_, text)) = last.iter_mut().find(|(path, _)| *path == "a.rs") {
            *text = "// Another text.\n";
        }
        place.commit(&last);
        git(place.0.path(), &["config", "uploadpack.allowFilter", "true"], "");
        let clone = tempfile::tempdir().unwrap();
        let from = format!("file://{}", place.0.path().display());
        let options = ["clone", "-q", "--filter=blob:none", "--no-local"];
        git(clone.path(), &[&options[..], &[&from, "."]].concat(), "");
        let told = walked(clone.path(), "b.rs").into_iter().map(|line| match line {
            line if line.starts_with('(') => '?',
            line if line.starts_with(&second) => '+',
            _ => '-',
        });
        assert_eq!(told.collect::<String>(), expected, "{after:?}");
    }
}

#[test]
fn lines_that_a_shallow_clone_cannot_explain_are_missing_and_nobodys() {
    let place = Place::new();
    place.commit(&[("a.rs", LOGIN)]);
    let second = place.commit(&[("a.rs", &format!("{LOGIN}{OTHER}"))]);
    let third = place.commit(&[("a.rs", &format!("{LOGIN}{OTHER}// End.\n"))]);
    let clone = tempfile::tempdir().unwrap();
    let from = format!("file://{}", place.0.path().display());
    git(clone.path(), &["clone", "-q", "--depth=2", "--no-local", &from, "."], "");
    let lines = walked(clone.path(), "a.rs");
    assert_eq!(lines.last().unwrap(), &format!("{third} a.rs 9"));
    assert!(lines[..8].iter().all(|line| line.starts_with(&format!("({second} "))));
}

#[test]
fn a_commit_brought_no_line_for_certain_if_the_text_before_is_missing() {
    let place = Place::new();
    place.commit(&[("a.rs", LOGIN)]);
    place.commit(&[("a.rs", &format!("{LOGIN}{OTHER}"))]);
    let brought = || {
        let root = Root::find(place.0.path(), &Environment::of_process()).unwrap();
        let repository = Git::open(&root).unwrap().unwrap();
        let commit = repository.object_id(&repository.resolve("HEAD").unwrap()).unwrap();
        let mut reader = repository.object_reader().unwrap();
        Walk::new(&mut reader).new_lines_of_commit(commit, &"a.rs".into())
    };
    assert_eq!(brought().unwrap(), [4, 5, 6, 7]);
    place.lose_object("HEAD~1:a.rs");
    assert!(matches!(brought(), Err(GitError::Missing { .. })), "{:?}", brought());
}

/// A renamed file is compared with the files that its commit removed.
#[test]
fn a_kept_answer_about_a_renamed_file_reads_no_earlier_text() {
    let place = Place::new();
    place.commit(&[("a.rs", &format!("{LOGIN}{OTHER}"))]);
    place.commit(&[("b.rs", &format!("{LOGIN}{OTHER}// End.\n"))]);
    let folder = tempfile::tempdir().unwrap();
    let store = AnswerStore::open(&folder.path().join("answers")).unwrap();
    let answer = |store| walked_at(place.0.path(), "HEAD", "b.rs", store);
    let first = answer(Some(&store));
    place.lose_object("HEAD~1:a.rs");
    assert_eq!(answer(Some(&store)), first);
    assert_ne!(answer(None), first);
}

/// The answers about earlier commits are kept in the order in which a history grows, and each is used for the next.
#[test]
#[ignore = "slow"]
fn kept_answers_change_no_answer() {
    for seed in 1..=6 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        git(folder, &["init", "-q", "-b", "main"], "");
        git(folder, &["fast-import", "--quiet"], &story(seed).stream);
        let store = AnswerStore::open(&folder.join("answers")).unwrap();
        let commits = git(folder, &["rev-list", "--reverse", "main"], "");
        for commit in commits.lines() {
            let files = git(folder, &["ls-tree", "-r", "--name-only", commit], "");
            for path in files.lines() {
                let kept = walked_at(folder, commit, path, Some(&store));
                assert_eq!(kept, walked_at(folder, commit, path, None), "{seed} {commit} {path}");
                let again = walked_at(folder, commit, path, Some(&store));
                assert_eq!(kept, again, "{seed} {commit} {path}");
            }
        }
    }
}

/// The last question starts at a newer commit than the first, and skips the commits that the first one walked.
#[test]
fn a_file_that_stayed_as_it_is_has_the_same_answer_after_many_commits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    git(folder, &["init", "-q", "-b", "main"], "");
    let mut story = Story::default();
    let mut files: Files = vec![("a.txt".to_owned(), vec!["one".to_owned(), "two".to_owned()])];
    let mut tip = story.commit("main", &[], &files);
    files.push(("b.txt".to_owned(), Vec::new()));
    for number in 0..80 {
        files[1].1.push(number.to_string());
        tip = story.commit("main", &[tip], &files);
    }
    git(folder, &["fast-import", "--quiet"], &story.stream);
    let store = AnswerStore::open(&folder.join("answers")).unwrap();
    let wanted = walked_at(folder, "main", "a.txt", None);
    for revision in ["main~60", "main~20", "main", "main~40"] {
        assert_eq!(walked_at(folder, revision, "a.txt", Some(&store)), wanted, "{revision}");
    }
}
