//! Our `apply_patch` agrees with the real one: applied to the same folder, the same patch gives the same bytes and the
//! same exit status.
//!
//! `INTENT_CODEX` names the native `codex` program, which acts as that tool when it is started under the name
//! `apply_patch`. Without the variable these tests compare nothing and pass; `.ci/run` sets it.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::temporary_folder;
use edits::patch::{self, FilePatch};
use edits::{After, Change};

/// The text of every file below a folder, by path.
type Tree = BTreeMap<String, String>;

const CASES: u64 = 1000;

#[test]
fn every_kind_of_patch_gives_the_result_of_the_real_tool() {
    let Some(real) = Real::find() else { return };
    for (name, before, patch) in scenarios() {
        let before = tree(&before);
        let (ours, theirs) = (ours(&before, &patch), real.run(&before, &patch));
        assert_eq!(ours, theirs, "scenario `{name}`: left is ours, right is the real one");
    }
}

#[test]
fn generated_patches_give_the_result_of_the_real_tool() {
    let Some(real) = Real::find() else { return };
    let seed = seed();
    let mut succeeded = 0;
    for case in 0..CASES {
        let (before, patch) = Generator(seed.wrapping_add(case)).case();
        let (ours, theirs) = (ours(&before, &patch), real.run(&before, &patch));
        succeeded += u64::from(theirs.1);
        assert_eq!(
            ours, theirs,
            "INTENT_PATCH_SEED={seed}, case {case}: left is ours, right is the real one\n{before:#?}\n{patch}"
        );
    }
    // If most patches failed in both programs, the comparison would show little.
    assert!(
        (CASES / 4..CASES * 9 / 10).contains(&succeeded),
        "{succeeded} of {CASES} applied, seed {seed}"
    );
}

fn seed() -> u64 {
    let chosen = std::env::var("INTENT_PATCH_SEED").ok();
    chosen.map_or(20_261_122, |seed| seed.parse().expect("INTENT_PATCH_SEED is a number"))
}

/// Returns the predicted files, and whether the tool would report success.
fn ours(before: &Tree, text: &str) -> (Tree, bool) {
    let mut after = before.clone();
    let Ok(files) = patch::read(&text.replace("{root}/", "")) else {
        return (after, false);
    };
    let is_done = !files.is_empty() && files.into_iter().all(|file| apply(&mut after, file));
    (after, is_done)
}

/// Changes one file. Returns false if that fails; the files before it stay changed.
fn apply(tree: &mut Tree, file: FilePatch) -> bool {
    match file {
        FilePatch::Add { path, text } => drop(tree.insert(path, text)),
        FilePatch::Delete { path } => return tree.remove(&path).is_some(),
        FilePatch::Update { path, to, hunks } => {
            let now = Change::Hunks(hunks).text_after(tree.get(&path).map(String::as_str));
            let After::Text(now) = now else { return false };
            tree.insert(to.as_ref().unwrap_or(&path).clone(), now);
            if to.is_some() {
                tree.remove(&path);
            }
        }
    }
    true
}

struct Real {
    program: PathBuf,
}

impl Real {
    fn find() -> Option<Self> {
        Some(Real { program: PathBuf::from(std::env::var_os("INTENT_CODEX")?) })
    }

    fn run(&self, before: &Tree, patch: &str) -> (Tree, bool) {
        let folder = temporary_folder();
        for (path, text) in before {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().expect("below the folder")).expect("folders");
            std::fs::write(file, text).expect("a file");
        }
        let status = Command::new(&self.program)
            .arg0("apply_patch")
            .arg(patch.replace("{root}", folder.path().to_str().expect("UTF-8")))
            .current_dir(folder.path())
            .env("HOME", folder.path().join(".home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("INTENT_CODEX starts");
        let mut after = Tree::new();
        collect(folder.path(), folder.path(), &mut after);
        (after, status.success())
    }
}

fn collect(root: &Path, folder: &Path, into: &mut Tree) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, into);
            continue;
        }
        let name = path.strip_prefix(root).expect("below the root").to_str().expect("UTF-8");
        into.insert(name.to_owned(), std::fs::read_to_string(&path).expect("UTF-8"));
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect()
}

type Scenario = (&'static str, Vec<(&'static str, &'static str)>, String);

/// One patch of each kind, named after its difficulty. `{root}` stands for the path of the folder.
#[rustfmt::skip]
fn scenarios() -> Vec<Scenario> {
    let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let case = |name, before: &[(&'static str, &'static str)], body: &str| -> Scenario {
        (name, before.to_vec(), format!("*** Begin Patch\n{body}*** End Patch"))
    };
    let raw = |name, before: &[(&'static str, &'static str)], patch: &str| -> Scenario {
        (name, before.to_vec(), patch.to_owned())
    };
    vec![
        case("add", &[], "*** Add File: a\n+one\n+two\n"),
        case("add in a new folder", &[], "*** Add File: x/y/a\n+one\n"),
        case("add an empty file", &[], "*** Add File: a\n"),
        case("add over an existing file", &[("a", "old\n")], "*** Add File: a\n+new\n"),
        case("add with a line that has no plus", &[], "*** Add File: a\n+one\ntwo\n"),
        case("add with a blank line", &[], "*** Add File: a\n+one\n\n"),
        case("delete", &[("a", "1\n"), ("b", "2\n")], "*** Delete File: a\n"),
        case("delete a missing file", &[("b", "2\n")], "*** Delete File: a\n"),
        case("delete with lines", &[("a", "1\n")], "*** Delete File: a\n-1\n"),
        case("update", &[("a", ten)], "*** Update File: a\n@@\n 4\n-5\n+five\n 6\n"),
        case("update without @@", &[("a", ten)], "*** Update File: a\n-5\n+five\n"),
        case("update in a folder", &[("x/y/a", ten)], "*** Update File: x/y/a\n@@\n-5\n+five\n"),
        case("absolute paths", &[("x/a", ten), ("b", "b\n")], "*** Delete File: {root}/b\n*** Update File: {root}/x/a\n*** Move to: {root}/y/z/a\n@@\n-5\n*** Add File: {root}/n\n+n\n"),
        case("several hunks", &[("a", ten)], "*** Update File: a\n@@\n-2\n+two\n@@\n-8\n+eight\n@@\n+end\n"),
        case("hunks out of order", &[("a", ten)], "*** Update File: a\n@@\n-8\n+eight\n@@\n-2\n+two\n"),
        case("several runs in a hunk", &[("a", ten)], "*** Update File: a\n@@\n 1\n-2\n 3\n+new\n 4\n-5\n+5a\n+5b\n 6\n"),
        case("only cuts", &[("a", ten)], "*** Update File: a\n@@\n-1\n-2\n-3\n"),
        case("cut everything", &[("a", "1\n2\n")], "*** Update File: a\n@@\n-1\n-2\n"),
        case("only new lines", &[("a", ten)], "*** Update File: a\n@@\n+end\n"),
        case("only new lines twice, and a cut", &[("a", ten)], "*** Update File: a\n@@\n+x\n@@\n+y\n@@\n-5\n"),
        case("only new lines below a header", &[("a", ten)], "*** Update File: a\n@@ 3\n+end\n"),
        case("only new lines below a blank last line", &[("a", "1\n\n")], "*** Update File: a\n@@\n+end\n"),
        case("only new lines in an empty file", &[("a", "")], "*** Update File: a\n@@\n+end\n"),
        case("only kept lines", &[("a", "1\n2")], "*** Update File: a\n@@\n 1\n"),
        case("no last line feed", &[("a", "1\n2")], "*** Update File: a\n@@\n-1\n+one\n"),
        case("no last line feed, at the end", &[("a", "1\n2")], "*** Update File: a\n@@\n-2\n+two\n"),
        case("move", &[("a", ten)], "*** Update File: a\n*** Move to: x/b\n@@\n-5\n+five\n"),
        case("move over a file", &[("a", ten), ("b", "b\n")], "*** Update File: a\n*** Move to: b\n@@\n-5\n+five\n"),
        case("move to itself", &[("a", ten)], "*** Update File: a\n*** Move to: a\n@@\n-5\n+five\n"),
        case("move and nothing else", &[("a", ten)], "*** Update File: a\n*** Move to: b\n"),
        case("move with kept lines", &[("a", ten)], "*** Update File: a\n*** Move to: b\n@@\n 1\n"),
        case("move that fails", &[("a", ten)], "*** Update File: a\n*** Move to: b\n@@\n-x\n"),
        case("move below a hunk", &[("a", ten)], "*** Update File: a\n@@\n-5\n*** Move to: b\n"),
        case("end of file", &[("a", "1\n2\n1\n")], "*** Update File: a\n@@\n-1\n+x\n*** End of File\n"),
        case("end of file elsewhere", &[("a", "1\n2\n3\n")], "*** Update File: a\n@@\n-1\n+x\n*** End of File\n"),
        case("end of file above the hunk before", &[("a", ten)], "*** Update File: a\n@@\n-9\n-10\n+x\n@@\n-10\n*** End of File\n"),
        case("end of file, then a hunk", &[("a", ten)], "*** Update File: a\n@@\n-10\n*** End of File\n@@\n-1\n"),
        case("end of file, then a line", &[("a", ten)], "*** Update File: a\n@@\n-10\n*** End of File\n-1\n"),
        case("end of file, then blank lines", &[("a", ten)], "*** Update File: a\n@@\n-10\n*** End of File\n\n  \n"),
        case("end of file before all", &[("a", ten)], "*** Update File: a\n*** End of File\n@@\n-1\n"),
        case("end of file in an empty hunk", &[("a", ten)], "*** Update File: a\n@@\n*** End of File\n"),
        case("header", &[("a", "f\n x\ng\n x\n")], "*** Update File: a\n@@ g\n- x\n+ y\n"),
        case("header that is only similar", &[("a", "f\n x\n  g (“a”)  \n x\n")], "*** Update File: a\n@@ g (\"a\")\n- x\n+ y\n"),
        case("header not there", &[("a", ten)], "*** Update File: a\n@@ g\n-5\n"),
        case("header above the hunk before", &[("a", ten)], "*** Update File: a\n@@\n-5\n@@ 3\n-4\n"),
        case("headers under each other", &[("a", ten)], "*** Update File: a\n@@ 2\n@@ 4\n-5\n"),
        case("header with hunks between", &[("a", ten)], "*** Update File: a\n@@ 2\n 3\n@@ 4\n-5\n"),
        case("header with white space behind", &[("a", ten)], "*** Update File: a\n@@ 4  \n-5\n@@  \n-7\n"),
        case("header without a space", &[("a", ten)], "*** Update File: a\n@@4\n-5\n"),
        case("indented file header after a file", &[("b", ten)], "*** Add File: a\n+1\n  *** Update File: b\n@@\n-1\n"),
        case("indented first file header", &[("b", ten)], "  *** Update File: b  \n@@\n-1\n"),
        case("indented file header in a hunk", &[("a", " *** Delete File: b\n"), ("b", "")], "*** Update File: a\n@@\n- *** Delete File: b\n  *** Delete File: b\n"),
        case("indented hunk header", &[("a", "@@\n1\n")], "*** Update File: a\n @@\n-1\n"),
        case("white space at line ends", &[("a", "1  \n2\t\n3\n")], "*** Update File: a\n@@\n 1\n-2\n+two\n 3 \n"),
        case("white space at both ends", &[("a", "  1\n\t2\n3\n")], "*** Update File: a\n@@\n 1\n-2\n+two\n"),
        case("strict beats early", &[("a", " x\nx \nx\n")], "*** Update File: a\n@@\n-x\n"),
        case("trailing beats both", &[("a", " x\nx \n")], "*** Update File: a\n@@\n-x\n"),
        case("plain punctuation for typographic", &[("a", "say “hi” – it’s\u{a0}me\u{2026}\n")], "*** Update File: a\n@@\n-say \"hi\" - it's me\u{2026}\n+bye\n"),
        case("typographic punctuation for plain", &[("a", "a-b 'c'\n")], "*** Update File: a\n@@\n-a\u{2212}b\u{2003}‘c’\n+bye\n"),
        case("wide letters are no punctuation", &[("a", "ａ\n")], "*** Update File: a\n@@\n-a\n+b\n"),
        case("missing lines", &[("a", ten)], "*** Update File: a\n@@\n-x\n+y\n"),
        case("missing lines after good files", &[("a", ten), ("b", "b\n"), ("c", "c\n")],
            "*** Add File: d\n+d\n*** Delete File: b\n*** Update File: a\n@@\n-x\n*** Delete File: c\n"),
        case("a missing file after good files", &[("a", ten)], "*** Update File: a\n@@\n-1\n*** Update File: z\n@@\n-1\n*** Add File: n\n+n\n"),
        case("one bad hunk of two", &[("a", ten)], "*** Update File: a\n@@\n-1\n@@\n-x\n"),
        case("the same file twice", &[("a", ten)], "*** Update File: a\n@@\n-1\n+one\n*** Update File: a\n@@\n-one\n+uno\n"),
        case("delete and add", &[("a", ten)], "*** Delete File: a\n*** Add File: a\n+new\n"),
        case("add and update", &[], "*** Add File: a\n+1\n*** Update File: a\n@@\n-1\n+2\n"),
        case("move and update", &[("a", ten)], "*** Update File: a\n*** Move to: b\n@@\n-1\n*** Update File: b\n@@\n-2\n"),
        case("move and update what is gone", &[("a", ten)], "*** Update File: a\n*** Move to: b\n@@\n-1\n*** Update File: a\n@@\n-2\n"),
        case("carriage returns", &[("a", "1\r\n2\r\n3\r\n")], "*** Update File: a\n@@\n 1\n-2\n+two\n"),
        case("carriage returns, no last end", &[("a", "1\r\n2")], "*** Update File: a\n@@\n+3\n"),
        case("mixed ends, first with return", &[("a", "1\r\n2\n3\r\n4")], "*** Update File: a\n@@\n 1\n 2\n-3\n+x\n"),
        case("mixed ends, first without", &[("a", "1\n2\r\n3\r\n4")], "*** Update File: a\n@@\n 1\n 2\n-3\n+x\n"),
        case("a lone return", &[("a", "1\r2\n3\r")], "*** Update File: a\n@@\n-3\n+x\n"),
        case("lone returns first", &[("a", "1\r2\n3\r\n4")], "*** Update File: a\n@@\n 1\n-2\n+x\n+y\n 3\n"),
        case("doubled returns in the file", &[("a", "1\r\r\n2\r\n")], "*** Update File: a\n@@\n 1\n \n-2\n+x\n"),
        case("returns at the end", &[("a", "1\n2\r\r")], "*** Update File: a\n@@\n-2\n+x\n"),
        case("a byte order mark", &[("a", "\u{FEFF}1\n2\n")], "*** Update File: a\n@@\n-2\n+x\n"),
        case("a byte order mark in the way", &[("a", "\u{FEFF}1\n2\n")], "*** Update File: a\n@@\n-1\n+x\n"),
        case("blank line for a kept one", &[("a", "1\n\n2\n")], "*** Update File: a\n@@\n 1\n\n-2\n+x\n"),
        case("blank line that ends the file", &[("a", "1\n2\n")], "*** Update File: a\n@@\n 1\n-2\n+x\n\n"),
        case("blank line, then new lines", &[("a", "1\n2\n")], "*** Update File: a\n@@\n 1\n 2\n\n+x\n"),
        case("blank line, then a new blank line", &[("a", "1\n2\n")], "*** Update File: a\n@@\n 1\n 2\n\n+\n"),
        case("cut blank line below a kept one", &[("a", "1\n\nb\n")], "*** Update File: a\n@@\n-1\n \n-b\n-\n"),
        case("only a cut blank line", &[("a", "1\n2\n")], "*** Update File: a\n@@\n-\n+x\n"),
        case("only a cut blank line, at the end", &[("a", "1\n2\n")], "*** Update File: a\n@@ 1\n-\n+x\n*** End of File\n"),
        case("longer than the file", &[("a", "1\n")], "*** Update File: a\n@@\n 1\n 2\n 3\n"),
        case("a line of no kind", &[("a", ten)], "*** Update File: a\n@@\n-1\nx\n"),
        case("a tab for a space", &[("a", ten)], "*** Update File: a\n@@\n-1\n\t2\n"),
        case("an empty update", &[("a", ten)], "*** Update File: a\n"),
        case("an empty hunk", &[("a", ten)], "*** Update File: a\n@@\n"),
        case("an empty hunk, then a file", &[("a", ten)], "*** Update File: a\n@@\n*** Add File: b\n+1\n"),
        case("an unknown header", &[("a", ten)], "*** Frobnicate File: a\n"),
        case("a header without a path", &[("a", ten)], "*** Delete File: \n"),
        case("a path with spaces", &[("a b", ten)], "*** Delete File: a b\n"),
        case("an environment", &[("a", ten)], "*** Environment ID: local\n*** Delete File: a\n"),
        case("two environments", &[("a", ten)], "*** Environment ID: x\n*** Environment ID: y\n*** Delete File: a\n"),
        case("an environment without a name", &[("a", ten)], "*** Environment ID: \n*** Delete File: a\n"),
        case("an environment too late", &[("a", ten)], "*** Delete File: a\n*** Environment ID: x\n"),
        case("nothing", &[("a", ten)], ""),
        raw("no patch at all", &[("a", ten)], "hello"),
        raw("blank", &[("a", ten)], " \n"),
        raw("no begin", &[("a", ten)], "*** Delete File: a\n*** End Patch"),
        raw("no end", &[("a", ten)], "*** Begin Patch\n*** Delete File: a\n"),
        raw("an end in between", &[("a", ten)], "*** Begin Patch\n*** Delete File: a\n*** End Patch\nx\n*** End Patch"),
        raw("two ends", &[("a", ten)], "*** Begin Patch\n*** Delete File: a\n*** End Patch\n\n*** End Patch"),
        raw("white space around the markers", &[("a", ten)], "\n  *** Begin Patch \n*** Delete File: a\n\t*** End Patch  \n\n"),
        raw("an indented end below a hunk", &[("a", ten)], "*** Begin Patch\n*** Update File: a\n@@\n-1\n  *** End Patch"),
        raw("return line ends", &[("a", ten)], "*** Begin Patch\r\n*** Update File: a\r\n@@\r\n-1\r\n+one\r\n*** End Patch\r\n"),
        raw("doubled returns", &[("a", ten)], "*** Begin Patch\r\r\n*** Update File: a\r\r\n@@\r\r\n-1\r\r\n+one\r\r\n*** End Patch"),
        raw("here-document", &[("a", ten)], "<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n"),
        raw("quoted here-document", &[("a", ten)], "<<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"),
        raw("double quoted here-document", &[("a", ten)], "<<\"EOF\"\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"),
        raw("half a quote", &[("a", ten)], "<<\"EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"),
        raw("another delimiter", &[("a", ten)], "<<END\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEND"),
        raw("here-document with another end", &[("a", ten)], "<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nNOTEOF"),
        raw("here-document with no end", &[("a", ten)], "<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch"),
        raw("here-document in a command", &[("a", ten)], "apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"),
    ]
}

/// Generates patches that nearly fit, from a seed.
struct Generator(u64);

/// Lines that only some comparisons treat as equal, and lines that look like parts of a patch.
const LINES: [&str; 26] = [
    "a",
    "a",
    "b",
    "c",
    " a",
    "a ",
    "\ta",
    "  b  ",
    "",
    "",
    " ",
    "}",
    "    }",
    "fn f() {",
    "fn f()  {",
    "say “hi”",
    "say \"hi\"",
    "x – y",
    "x - y",
    "x\u{a0}y",
    "x y",
    "+a",
    "-a",
    "@@ a",
    "*** End of File",
    "ä",
];

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn case(&mut self) -> (Tree, String) {
        // Without this, neighbouring seeds would give similar cases.
        self.0 = self.next();
        let mut files = Tree::new();
        for path in ["f", "g", "d/h"] {
            if self.percent(75) {
                let text = self.text();
                files.insert(path.to_owned(), text);
            }
        }
        let body: String = (0..1 + self.below(2)).map(|_| self.file(&files)).collect();
        let patch = self.enclose(&body);
        (files, patch)
    }

    fn text(&mut self) -> String {
        let ends: &[&str] = match self.below(12) {
            0 | 1 => &["\r\n"],
            2 => &["\n", "\r\n"],
            3 => &["\n", "\r\n", "\r"],
            _ => &["\n"],
        };
        let mut text = String::new();
        if self.percent(3) {
            text.push('\u{FEFF}');
        }
        for _ in 0..1 + self.below(14) {
            text += self.pick(&LINES);
            text += self.pick(ends);
        }
        if self.percent(25) {
            text += self.pick(&LINES);
        }
        text
    }

    fn enclose(&mut self, body: &str) -> String {
        let mut patch = format!("*** Begin Patch\n{body}*** End Patch");
        match self.below(30) {
            0 => patch = format!("  {patch} \n"),
            1 => patch = format!("<<'EOF'\n{patch}\nEOF\n"),
            2 => patch = patch.replace('\n', "\r\n"),
            3 => patch = patch.replace("*** End Patch", "  *** End Patch"),
            4 => patch = patch.replacen("\n", "\n*** Environment ID: x\n", 1),
            5 if self.percent(30) => patch.truncate(patch.len() - 1),
            _ => {}
        }
        patch
    }

    fn file(&mut self, files: &Tree) -> String {
        let path = self.pick(&["f", "f", "g", "g", "d/h", "new/n"]);
        let text = files.get(path).cloned();
        let indent = if self.percent(4) { " " } else { "" };
        match self.below(20) {
            0 | 1 => format!("{indent}*** Delete File: {path}\n"),
            2 | 3 => {
                let lines: String =
                    (0..self.below(4)).map(|_| format!("+{}\n", self.pick(&LINES))).collect();
                format!("{indent}*** Add File: {path}\n{lines}")
            }
            4 if self.percent(30) => format!("{}\n", self.pick(&LINES)),
            _ => {
                // Most of the files exist, because otherwise hardly any patch would apply.
                let (path, text) = match (text, files.first_key_value()) {
                    (Some(text), _) => (path, text),
                    (None, Some((path, text))) if self.percent(90) => (path.as_str(), text.clone()),
                    _ => (path, String::new()),
                };
                format!(
                    "{indent}*** Update File: {path}\n{}{}",
                    self.destination(),
                    self.hunks(&text)
                )
            }
        }
    }

    fn destination(&mut self) -> String {
        match self.below(10) {
            0 => format!("*** Move to: {}\n", self.pick(&["f", "g", "d/h", "e/i", "n"])),
            _ => String::new(),
        }
    }

    fn hunks(&mut self, text: &str) -> String {
        let rows: Vec<&str> =
            text.split_terminator('\n').map(|row| row.trim_end_matches('\r')).collect();
        let mut at = 0;
        let mut out = String::new();
        for count in 0..1 + self.below(3) {
            at += self.below(3);
            if count > 0 || self.percent(90) {
                out += &self.header(&rows, &mut at);
            }
            if self.percent(12) {
                out += &format!("+{}\n", self.pick(&LINES));
                continue;
            }
            let end = match self.below(4) {
                0 => rows.len(),
                _ => rows.len().min(at + 1 + self.below(4)),
            };
            for row in rows.iter().take(end).skip(at) {
                out += &self.hunk_line(row);
            }
            at = at.max(end);
            let last = at >= rows.len();
            if self.percent(if last { 12 } else { 3 }) {
                out.push('\n');
            }
            if self.percent(if last { 30 } else { 3 }) {
                out += "*** End of File\n";
            }
        }
        out
    }

    fn header(&mut self, rows: &[&str], at: &mut usize) -> String {
        match (self.below(10), rows.get(*at)) {
            (0..3, Some(row)) => {
                *at += 1;
                format!("@@ {}\n", self.blurred(row))
            }
            (3, _) if self.percent(30) => format!("@@ {}\n", self.pick(&LINES)),
            _ => "@@\n".to_owned(),
        }
    }

    fn hunk_line(&mut self, row: &str) -> String {
        let row = self.blurred(row);
        let new = self.pick(&LINES);
        match self.below(20) {
            0..6 => format!("-{row}\n+{new}\n"),
            6..9 => format!("-{row}\n"),
            9..11 => format!(" {row}\n+{new}\n"),
            11 => format!("+{new}\n {row}\n"),
            12 if row.is_empty() => "\n".to_owned(),
            13 if self.percent(15) => format!("{row}\n"),
            _ => format!(" {row}\n"),
        }
    }

    /// A context line with the small errors that a model makes.
    fn blurred(&mut self, row: &str) -> String {
        match self.below(40) {
            0..3 => row.trim().to_owned(),
            3 => row.trim_end().to_owned(),
            4 => format!("{row}  "),
            5 => format!("  {row}"),
            6..9 => row.replace(['“', '”'], "\"").replace('–', "-").replace('\u{a0}', " "),
            9 => row.replace('-', "—").replace(' ', "\u{2003}"),
            10 if self.percent(30) => self.pick(&LINES).to_owned(),
            _ => row.to_owned(),
        }
    }
}
