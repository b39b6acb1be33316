//! Stories in which a likeness of texts would name the wrong intent. After each of them, every line must have its intent
//! in the clone that worked and in a fresh one.

use std::path::Path;

use evidence::erase;
use evidence::reassign::{ReassignTarget, reassign};
use evidence::record::{EarlierTexts, RecordRequest};
use evidence::seal::{self, SealCaller, after_commit, seal};
use judgement::judged_record;
use ledger::{SINGLE_LEDGER, Strength};
use provenance::Verdict;
use why::{Provenance, Workspace, answers};

use crate::support::binary::intent_in;
use crate::support::{Repo, git, relative, sample_or_all, temporary_folder};

const FILE: &str = "src/a.rs";

/// A repository in which agents, INT-001 and INT-002, and people work on one file.
struct Place(Repo);

impl Place {
    fn open(&self) -> Workspace {
        self.0.open()
    }

    fn git(&self, arguments: &[&str]) {
        self.0.git(arguments);
    }

    /// Lets an agent write the file. A person does it under `0`.
    fn write(&self, intent: u32, text: &str) {
        self.write_to(FILE, intent, text);
    }

    fn write_to(&self, path: &str, intent: u32, text: &str) {
        self.0.write(path, text);
        if intent > 0 {
            self.0.record(&format!("INT-00{intent}"), &[path]);
        }
    }

    /// Lets an agent write the file in a call that is recorded by itself.
    fn write_in_call(&self, intent: u32, text: &str) {
        let earlier = EarlierTexts { before: Some(self.0.read(FILE)), ..EarlierTexts::default() };
        self.0.write(FILE, text);
        let request = RecordRequest {
            paths: vec![relative(FILE)],
            intent: Some(format!("INT-00{intent}")),
            agent: Some("test-agent".to_owned()),
            strength: Some(Strength::Inferred),
            earlier: [(relative(FILE), earlier)].into(),
            ..RecordRequest::default()
        };
        judged_record::record(&self.open(), &request).expect("recorded");
    }

    /// Does what the hooks do in a commit.
    fn commit(&self, options: &[&str]) {
        self.git(&["add", "-A"]);
        seal(&self.open(), SealCaller::Hook).expect("sealed");
        self.git(&["add", "-A"]);
        self.git(&[&["commit", "-q", "--allow-empty", "-m", "c"], options].concat());
        after_commit(&self.open()).expect("settled");
    }

    fn step(&self, intent: u32, text: &str) {
        self.write(intent, text);
        self.commit(&[]);
    }

    /// Starts a branch at `main`, works there, and goes back to `main`.
    fn branch(&self, name: &str, intent: u32, text: &str) {
        self.git(&["switch", "-qc", name, "main"]);
        self.step(intent, text);
        self.git(&["switch", "-q", "main"]);
    }

    /// Leaves nothing of the branches, so that a fresh clone does not get their commits.
    fn forget(&self, branches: &[&str]) {
        branches.iter().for_each(|name| self.git(&["branch", "-qD", name]));
    }
}

/// Returns a function with these statements.
fn function(name: &str, statements: &str) -> String {
    let body: String = statements.split(' ').map(|one| format!("    {one}();\n")).collect();
    format!("fn {name}() {{\n{body}}}\n")
}

fn f(statements: &str) -> String {
    function("f", statements)
}

/// Returns for each line that says something the number of its intent. `-` is a line by nobody that is recorded, and `?`
/// one of which that is unknown here.
fn picture(folder: &Path, path: &str) -> String {
    let ws = Workspace::open(folder, &ground::Environment::of_process()).expect("a workspace");
    let path = relative(path);
    let document = ws.read(&path).expect("readable");
    let file = answers::file(&ws, &path, &document);
    let text = document.text();
    let said = text.lines().zip(&file.lines.lines);
    let said = said.filter(|(line, _)| line.contains(|letter: char| letter.is_alphanumeric()));
    said.map(|(_, source)| match source.claim.map(|at| &file.lines.claims[at]) {
        Some(claim) => claim.intent().and_then(|id| id.chars().last()).unwrap_or('?'),
        None if source.is_missing => '?',
        None => '-',
    })
    .collect()
}

/// Returns what is known of each block of a file.
fn provenance_of(folder: &Path, path: &str) -> Vec<Provenance> {
    let ws = Workspace::open(folder, &ground::Environment::of_process()).expect("a workspace");
    let path = relative(path);
    answers::file(&ws, &path, &ws.read(&path).expect("readable")).provenance
}

/// Returns the verdict on the block `g` of a file, how many lines are newer, and whether lines are gone.
fn told_of_g(folder: &Path, path: &str) -> (Verdict, usize, bool) {
    let ws = Workspace::open(folder, &ground::Environment::of_process()).expect("a workspace");
    let path = relative(path);
    let file = answers::file(&ws, &path, &ws.read(&path).expect("readable"));
    let at = file.blocks.blocks.iter().position(|block| block.name == "g").expect("a block");
    let found = &file.provenance[at];
    (found.verdict, found.newer.len(), found.is_cut)
}

/// Clones a repository with these options, and takes the origin away. The folder is removed with what is returned.
fn cloned(repo: &Repo, options: &[&str]) -> tempfile::TempDir {
    let folder = temporary_folder();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    repo.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let source = format!("file://{}", repo.root().display());
    let clone = ["clone", "-q", "--no-local"];
    git(folder.path(), &[&clone[..], options, &[&source, "."]].concat());
    git(folder.path(), &["remote", "set-url", "origin", "/nowhere"]);
    folder
}

struct LineStory {
    name: &'static str,
    told: fn(&Place),
    expected: &'static str,
}

/// On the branch `t`, an agent adds a line to `f`, a person removes `f`, and a person writes the line at the same place of
/// `g`.
fn retyped_on_a_branch(place: &Place) {
    let with_top = |rest: String| format!("// top\n{rest}");
    place.step(0, &with_top(f("a b")));
    place.git(&["switch", "-qc", "t"]);
    place.step(1, &with_top(f("a b none")));
    place.step(0, "// top\n");
    place.step(0, &with_top(function("g", "c d none")));
    place.git(&["switch", "-q", "main"]);
}

const STORIES: &[LineStory] = &[
    LineStory {
        name: "a person throws a check away and edits the rest, and writes the check in a later function",
        told: |place| {
            place.step(0, &f("x"));
            place.write(1, &(f("check fail x") + &function("g", "old")));
            place.step(0, &function("g", "mine"));
            place.step(0, &(function("merge", "check fail y") + &function("g", "mine")));
        },
        expected: "------",
    },
    LineStory {
        name: "a person removes a function with its lines, and writes some of them in an older one",
        told: |place| {
            place.step(0, &(f("x y") + &function("g", "x y")));
            place.write(1, &(f("check log fail x y") + &function("g", "x y")));
            place.step(0, &function("g", "check fail x y"));
        },
        expected: "-----",
    },
    LineStory {
        name: "a branch is rebased on which a person has typed a line of an agent again",
        told: |place| {
            retyped_on_a_branch(place);
            place.0.write("other.rs", "fn other() {}\n");
            place.commit(&[]);
            place.git(&["switch", "-q", "t"]);
            place.git(&["rebase", "-q", "main"]);
            after_commit(&place.open()).expect("settled");
            place.0.write("other.rs", "fn another() {}\n");
            place.commit(&[]);
        },
        expected: "-----",
    },
    LineStory {
        name: "a branch is squashed on which a person has typed a line of an agent again",
        told: |place| {
            retyped_on_a_branch(place);
            place.git(&["merge", "-q", "--squash", "t"]);
            place.commit(&[]);
        },
        expected: "-----",
    },
    LineStory {
        name: "a file begins with a byte order mark, which an agent puts there and a person takes away",
        told: |place| {
            place.step(1, &format!("\u{feff}use a;\n{}", f("one two")));
            place.step(0, &format!("use a;\n{}", f("one two")));
            place.step(2, &format!("\u{feff}use a;\n{}", f("one two three")));
        },
        expected: "11112",
    },
    LineStory {
        name: "a person rejects a function and writes it otherwise",
        told: |place| {
            place.step(1, &f("one two three"));
            place.step(0, &f("mine other"));
        },
        expected: "1--",
    },
    LineStory {
        name: "a person rejects a function before the commit",
        told: |place| {
            place.write(1, &f("one two three"));
            place.step(0, &f("mine other"));
        },
        expected: "---",
    },
    LineStory {
        name: "a person rejects a function, and needs the same import for another one",
        told: |place| {
            let with_import = |rest: &str| format!("use std::fs;\n{}{rest}", function("x", "x"));
            place.step(0, &function("x", "x"));
            place.write(1, &with_import(&function("g", "remove")));
            place.git(&["checkout", "-q", "."]);
            place.step(0, &with_import(&function("region", "mine other")));
        },
        expected: "------",
    },
    LineStory {
        name: "a person throws lines away, and writes them in another function",
        told: |place| {
            place.step(0, &f("x"));
            place.write(1, &f("check fail x"));
            place.git(&["checkout", "-q", "."]);
            place.step(0, &(f("x") + &function("g", "check fail y")));
        },
        expected: "------",
    },
    LineStory {
        name: "a person takes lines back, and writes them in another function before a squash",
        told: |place| {
            place.step(0, &f("x"));
            let of_person = f("x") + &function("g", "check fail y");
            squashed_by_server(place, &[(1, f("check fail x")), (0, of_person)]);
        },
        expected: "------",
    },
    LineStory {
        name: "a line is thrown away, and needed by a person after some commits",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.write(1, &format!("use std::fs;\n{}", function("x", "x")));
            place.git(&["checkout", "-q", "."]);
            place.step(0, &function("x", "x y"));
            place.step(0, &format!("use std::fs;\n{}", function("x", "x y")));
        },
        expected: "----",
    },
    LineStory {
        name: "a line is stashed, and comes back after a commit of the file",
        told: |place| {
            place.step(0, &(function("x", "x") + &f("one two three")));
            place.write(1, &format!("use std::fs;\n{}", function("x", "x") + &f("one two three")));
            place.git(&["stash", "-q"]);
            place.step(0, &(function("x", "x") + &f("one two drei")));
            place.git(&["stash", "pop", "-q"]);
            place.commit(&[]);
        },
        expected: "1------",
    },
    LineStory {
        name: "a line is thrown away, and pulled from a colleague who wrote it, too",
        told: |place| {
            place.step(0, &f("x y"));
            place.git(&["config", "user.email", "test@example.invalid"]);
            place.write(1, &f("x fixed y"));
            place.git(&["checkout", "-q", "."]);
            let bob = cloned(&place.0, &[]);
            std::fs::write(bob.path().join(FILE), f("x fixed y")).expect("written");
            let by_bob = ["-c", "user.name=Bob", "-c", "user.email=bob@example.invalid"];
            git(bob.path(), &[&by_bob[..], &["commit", "-qam", "fix"]].concat());
            place.git(&["pull", "-q", &bob.path().display().to_string(), "main"]);
            place.commit(&[]);
        },
        expected: "----",
    },
    LineStory {
        name: "a file is removed, and lines are added above a function that another file has, too",
        told: |place| {
            let with_lead = |lead: &str| format!("{lead}{}", f("x y"));
            place.write_to("src/old.rs", 0, &with_lead("#[one]\n#[two]\n"));
            place.step(0, &with_lead("#[one]\n#[two]\n"));
            place.0.remove("src/old.rs");
            place.0.record("INT-001", &["src/old.rs"]);
            place.step(1, &with_lead("#[one]\n#[new]\n#[two]\n"));
        },
        expected: "-1----",
    },
    LineStory {
        name: "a function is thrown away, and its text put back",
        told: |place| {
            place.step(0, &function("x", "x"));
            let text = function("x", "x") + &f("one");
            place.write(1, &text);
            place.git(&["reset", "-q", "--hard"]);
            place.step(0, &text);
        },
        expected: "--11",
    },
    LineStory {
        name: "a function is stashed, and written otherwise by a person",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.write(1, &(function("x", "x") + &f("one two three")));
            place.git(&["stash", "-q"]);
            place.step(0, &(function("x", "x") + &f("mine other")));
        },
        expected: "-----",
    },
    LineStory {
        name: "a function is stashed, and comes back",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.write(1, &(function("x", "x") + &f("one two")));
            place.git(&["stash", "-q"]);
            place.write_to("src/b.rs", 0, &f("b"));
            place.commit(&[]);
            place.git(&["stash", "pop", "-q"]);
            place.commit(&[]);
        },
        expected: "--111",
    },
    LineStory {
        name: "an edit is put back as it was committed, and made again",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.write(1, &(function("x", "x") + &f("one two")));
            place.git(&["checkout", "--", FILE]);
            assert_eq!(picture(&place.0.root(), FILE), "--");
            place.step(0, &(function("x", "x") + &f("one two")));
        },
        expected: "--111",
    },
    LineStory {
        name: "a file is deleted and made again with other code",
        told: |place| {
            place.step(1, &f("one two three"));
            place.git(&["rm", "-q", FILE]);
            place.commit(&[]);
            place.step(0, &f("mine other"));
        },
        expected: "---",
    },
    LineStory {
        // As git says it, the later commit has brought the lines, and it has no evidence of them.
        name: "a file is deleted, and the deletion is reverted",
        told: |place| {
            place.step(1, &f("one two three"));
            place.git(&["rm", "-q", FILE]);
            place.commit(&[]);
            place.git(&["revert", "--no-edit", "HEAD"]);
        },
        expected: "----",
    },
    LineStory {
        name: "a commit is reverted, and so is the revert",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.step(1, &(function("x", "x") + &f("one two three")));
            place.git(&["revert", "--no-edit", "HEAD"]);
            place.git(&["revert", "--no-edit", "HEAD"]);
        },
        expected: "--1111",
    },
    LineStory {
        name: "an amend rewrites the function",
        told: |place| {
            place.step(1, &f("one two three"));
            place.write(0, &f("mine other"));
            place.commit(&["--amend"]);
        },
        expected: "---",
    },
    LineStory {
        name: "an amend breaks a run of lines, which the next commit names again",
        told: |place| {
            place.step(1, &f("one two three four"));
            place.write(2, &f("one zwei three four"));
            place.commit(&["--amend"]);
            place.commit(&[]);
        },
        expected: "11211",
    },
    LineStory {
        name: "two amends break a run, and the next commit names its lines again",
        told: |place| {
            place.step(1, &f("one two three four"));
            for words in ["one two p three four", "one two p three q four"] {
                place.write(0, &f(words));
                place.commit(&["--amend"]);
            }
            place.commit(&[]);
        },
        expected: "111-1-1",
    },
    LineStory {
        name: "three amends break a run, and the next commit names its lines again",
        told: |place| {
            place.step(1, &f("one two three four"));
            for words in
                ["one two p three four", "one q two p three four", "one q two p three r four"]
            {
                place.write(0, &f(words));
                place.commit(&["--amend"]);
            }
            place.commit(&[]);
        },
        expected: "11-1-1-1",
    },
    LineStory {
        name: "an amend moves the lines down",
        told: |place| {
            place.step(1, &f("one two three"));
            place.write(0, &(function("x", "x") + &f("one two three")));
            place.commit(&["--amend"]);
        },
        expected: "--1111",
    },
    LineStory {
        name: "a file is generated again, and its header stays",
        told: |place| {
            place.step(1, &format!("// generated\n{}", f("one two") + &function("g", "three")));
            place.step(0, &format!("// generated\n{}", function("h", "a b") + &function("i", "c")));
        },
        expected: "1-----",
    },
    LineStory {
        name: "a conflict is resolved by hand",
        told: |place| {
            place.step(0, &f("one two three"));
            place.branch("t", 1, &f("one agent three"));
            place.step(2, &f("one other three"));
            conflict(place, &f("one mine three"));
        },
        expected: "----",
    },
    LineStory {
        name: "a conflict is resolved with both sides",
        told: |place| {
            place.step(0, &f("one two three"));
            place.branch("t", 1, &f("one agent three"));
            place.step(2, &f("one other three"));
            conflict(place, &f("one agent other three"));
        },
        expected: "--12-",
    },
    LineStory {
        name: "two agents and a person edit one function before a commit",
        told: |place| {
            place.step(1, &f("one two three four"));
            place.write(2, &f("one two drei four"));
            place.step(0, &f("eins two drei four"));
        },
        expected: "1-121",
    },
    LineStory {
        name: "a function is moved, and edited in the next commit",
        told: |place| {
            place.write_to("src/b.rs", 1, &(f("one two three") + &function("g", "g")));
            place.commit(&[]);
            place.write_to("src/b.rs", 0, &function("g", "g"));
            place.step(0, &f("one two three"));
            place.step(2, &f("one zwei three"));
        },
        expected: "1121",
    },
    LineStory {
        name: "a person copies a function",
        told: |place| {
            place.write_to("src/b.rs", 1, &f("one two three"));
            place.commit(&[]);
            place.step(0, &f("one two three"));
        },
        expected: "----",
    },
    LineStory {
        name: "a branch is squashed",
        told: |place| {
            place.step(0, &f("one two"));
            place.branch("t", 1, &f("eins two"));
            place.git(&["switch", "-q", "t"]);
            place.step(2, &(f("eins two") + &function("g", "x y")));
            place.git(&["switch", "-q", "main"]);
            place.git(&["merge", "-q", "--squash", "t"]);
            place.commit(&[]);
            place.forget(&["t"]);
        },
        expected: "-1-222",
    },
    LineStory {
        name: "a branch is squashed, and a person writes its function otherwise",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.branch("t", 1, &(function("x", "x") + &f("one two three")));
            place.git(&["merge", "-q", "--squash", "t"]);
            place.step(0, &(function("x", "x") + &f("mine other")));
            place.forget(&["t"]);
        },
        expected: "-----",
    },
    LineStory {
        name: "a branch that was sealed late is squashed, and a person repeats its line",
        told: |place| {
            place.step(0, &f("one two"));
            sealed_late(place, "t", &f("one audit two"));
            // As a server squashes it, without our hooks.
            place.git(&["merge", "-q", "--squash", "t"]);
            place.git(&["commit", "-qm", "squashed"]);
            let (first, g) = ("use std::fs;\n".to_owned(), function("g", "x"));
            place.step(0, &(first.clone() + &f("one audit two") + &g));
            place.step(0, &(first + &f("one audit two") + &function("g", "x audit")));
            place.forget(&["t"]);
        },
        expected: "---1----",
    },
    LineStory {
        name: "a branch that renames its new file is squashed",
        told: |place| {
            place.write_to("src/b.rs", 0, &function("x", "x"));
            place.commit(&[]);
            place.git(&["switch", "-qc", "t"]);
            place.write_to("src/old.rs", 1, &f("one two"));
            place.commit(&[]);
            place.git(&["mv", "src/old.rs", FILE]);
            place.commit(&[]);
            squash_on_server(place);
        },
        expected: "111",
    },
    LineStory {
        name: "a branch that renames an edited file is squashed",
        told: |place| {
            place.write_to("src/old.rs", 0, &f("one two three"));
            place.commit(&[]);
            place.git(&["switch", "-qc", "t"]);
            place.write_to("src/old.rs", 1, &f("one zwei three"));
            place.commit(&[]);
            place.git(&["mv", "src/old.rs", FILE]);
            place.commit(&[]);
            squash_on_server(place);
        },
        expected: "--1-",
    },
    LineStory {
        name: "a branch that removes an edited file and adds another is squashed",
        told: |place| {
            place.write_to("src/old.rs", 0, &f("one two three"));
            place.commit(&[]);
            place.git(&["switch", "-qc", "t"]);
            place.write_to("src/old.rs", 1, &format!("use std::fs;\n{}", f("one two three")));
            place.commit(&[]);
            place.git(&["rm", "-q", "src/old.rs"]);
            place.step(0, &format!("use std::fs;\n{}", function("g", "mine")));
            squash_on_server(place);
        },
        expected: "---",
    },
    LineStory {
        name: "two pull requests that edit one function are squashed",
        told: |place| {
            two_pull_requests(place);
            for name in ["t", "u"] {
                place.git(&["merge", "-q", "--squash", name]);
                place.commit(&[]);
            }
            place.forget(&["t", "u"]);
        },
        expected: "--11---22--",
    },
    LineStory {
        name: "two pull requests that edit one function are rebased",
        told: |place| {
            two_pull_requests(place);
            for name in ["t", "u"] {
                place.git(&["rebase", "-q", "main", name]);
                place.git(&["switch", "-q", "main"]);
                place.git(&["merge", "-q", "--ff-only", name]);
            }
            place.forget(&["t", "u"]);
        },
        expected: "--11---22--",
    },
    LineStory {
        name: "two pull requests that edit one function are merged",
        told: |place| {
            two_pull_requests(place);
            for name in ["t", "u"] {
                place.git(&["merge", "-q", "--no-ff", "-m", "m", name]);
            }
        },
        expected: "--11---22--",
    },
    LineStory {
        name: "a person repeats a line of the agent, and both are squashed",
        told: |place| {
            place.step(0, &f("one two three four"));
            squashed_by_server(
                place,
                &[(1, f("one two log three four")), (0, f("one log two log three four"))],
            );
            // Nobody has the texts of the agent any more.
            std::fs::remove_dir_all(place.0.root().join(".git/intent")).expect("removed");
        },
        expected: "-------",
    },
    LineStory {
        name: "a person repeats a line of the agent, both are squashed, and it is sealed late",
        told: |place| {
            place.step(0, &f("one two three four"));
            squashed_by_server(
                place,
                &[(1, f("one two log three four")), (0, f("one log two log three four"))],
            );
            assert_eq!(picture(&place.0.root(), FILE), "----1--");
            place.commit(&[]);
        },
        expected: "----1--",
    },
    LineStory {
        name: "a person repeats a line of the agent at its number, and both are squashed",
        told: |place| {
            place.step(0, &f("one two three"));
            squashed_by_server(
                place,
                &[(1, f("one log two three")), (0, f("mine log one log two three"))],
            );
        },
        expected: "-------",
    },
    LineStory {
        name: "a person repeats a line of the agent in another function, and both are squashed",
        told: |place| {
            let g = |statements| {
                "use std::fs;\n".to_owned() + &f("one log two") + &function("g", statements)
            };
            place.step(0, &(f("one two") + &function("g", "x")));
            squashed_by_server(
                place,
                &[(1, f("one log two") + &function("g", "x")), (0, g("x log"))],
            );
        },
        expected: "---1----",
    },
    LineStory {
        name: "two agents write the same line, and both are squashed",
        told: |place| {
            place.step(0, &f("one two three"));
            squashed_by_server(
                place,
                &[(1, f("one two log three")), (2, f("one log two log three"))],
            );
        },
        expected: "--2-1-",
    },
    LineStory {
        name: "two agents write the same line, and a person one above it, and all are squashed",
        told: |place| {
            place.step(0, &f("one two three"));
            squashed_by_server(
                place,
                &[
                    (1, f("one two log three")),
                    (2, f("one log two log three")),
                    (0, f("mine one log two log three")),
                ],
            );
            std::fs::remove_dir_all(place.0.root().join(".git/intent")).expect("removed");
        },
        expected: "-------",
    },
    LineStory {
        name: "an agent's line goes away, another agent writes it, and both are squashed",
        told: |place| {
            place.step(0, &f("one two three"));
            squashed_by_server(place, &[(1, f("one two log three")), (2, f("log one two three"))]);
        },
        expected: "-2---",
    },
    LineStory {
        name: "an amend repeats a line of the agent",
        told: |place| {
            place.step(0, &f("one two three"));
            place.step(1, &f("one two log three"));
            place.write(0, &f("one log two log three"));
            place.commit(&["--amend"]);
            place.commit(&[]);
        },
        expected: "----1-",
    },
    LineStory {
        name: "an amend takes a line of the agent away, and has it in another function",
        told: |place| {
            place.step(0, &(f("one two") + &function("g", "x y")));
            place.step(1, &(f("one log two") + &function("g", "x y")));
            place.write(0, &(f("one two") + &function("g", "x log y")));
            place.commit(&["--amend"]);
            place.commit(&[]);
        },
        expected: "-------",
    },
    LineStory {
        name: "a commit is picked onto an equal line at its number",
        told: |place| {
            place.step(0, &f("one two three"));
            place.branch("u", 0, &("use std::fs;\n".to_owned() + &f("one log two three")));
            place.branch("t", 1, &f("one two log three"));
            place.git(&["switch", "-q", "u"]);
            place.git(&["cherry-pick", "t"]);
            place.forget(&["t"]);
        },
        expected: "-----1-",
    },
    LineStory {
        name: "a picked commit is merged back",
        told: |place| {
            place.step(0, &f("one two"));
            place.branch("t", 1, &(f("one two") + &function("g", "x")));
            place.write_to("src/b.rs", 2, &function("b", "b"));
            place.commit(&[]);
            place.git(&["cherry-pick", "t"]);
            place.git(&["merge", "-q", "-m", "m", "t"]);
        },
        expected: "---11",
    },
    LineStory {
        name: "two commits are put in another order",
        told: |place| {
            place.step(0, &f("one two three four five"));
            place.step(1, &f("eins two three four five"));
            place.step(2, &f("eins two three four vijf"));
            place.git(&["switch", "-q", "--detach", "HEAD~2"]);
            place.git(&["cherry-pick", "main", "main~1"]);
            place.git(&["branch", "-f", "main"]);
            place.git(&["switch", "-q", "main"]);
        },
        expected: "-1---2",
    },
    LineStory {
        name: "commits are made without hooks, and sealed later",
        told: |place| {
            place.step(0, &f("one two three"));
            for (intent, text) in [(1, "eins two three"), (2, "eins zwei three")] {
                place.write(intent, &f(text));
                place.git(&["commit", "-qam", "without a hook"]);
            }
            place.commit(&[]);
        },
        expected: "-12-",
    },
    LineStory {
        name: "a person repeats a line on main that an agent wrote on another branch",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.branch("t", 1, &("use std::fs;\n".to_owned() + &function("x", "x")));
            place.step(0, &("use std::fs;\n".to_owned() + &function("x", "x")));
        },
        expected: "---",
    },
    LineStory {
        name: "a person writes most of an agent's branch anew, and deletes the branch",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.branch("t", 1, &(function("x", "x") + &f("one two three")));
            place.step(0, &(function("x", "x") + &f("one two mine")));
            place.forget(&["t"]);
            place.commit(&[]);
        },
        expected: "------",
    },
    LineStory {
        name: "a branch of which a commit broke a run of lines is squashed, and goes on",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.branch("t", 1, &(function("x", "x") + &f("one two three")));
            place.git(&["switch", "-q", "t"]);
            place.step(2, &(function("x", "x") + &f("one zwei three")));
            place.git(&["switch", "-q", "main"]);
            place.git(&["merge", "-q", "--squash", "t"]);
            place.commit(&[]);
        },
        expected: "--1121",
    },
    LineStory {
        name: "a commit is picked from a branch that goes on, and a conflict breaks its run of lines",
        told: |place| {
            place.step(0, &f("one"));
            place.branch("t", 1, &f("one a b c"));
            place.step(0, &f("one other"));
            let picked = std::process::Command::new(&*crate::support::GIT)
                .args(["cherry-pick", "t"])
                .current_dir(place.0.root())
                .output();
            assert!(!picked.expect("git runs").status.success());
            place.step(0, &f("one a other b c"));
            place.commit(&[]);
        },
        expected: "--1-11",
    },
    LineStory {
        name: "a change waits in a stash while another change of the file is committed",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.write(1, &(function("x", "x") + &f("one two")));
            place.git(&["stash", "-q"]);
            place.step(2, &(function("h", "h") + &function("x", "x")));
            place.git(&["stash", "pop", "-q"]);
            place.commit(&[]);
        },
        expected: "22--111",
    },
    LineStory {
        name: "a new file waits in a stash while another file of its name comes and goes",
        told: |place| {
            place.write_to("src/b.rs", 0, &function("b", "b"));
            place.commit(&[]);
            place.write(1, &f("one two"));
            place.git(&["stash", "-qu"]);
            place.step(2, &function("g", "three four"));
            place.git(&["rm", "-q", FILE]);
            place.commit(&[]);
            place.git(&["stash", "pop", "-q"]);
            place.commit(&[]);
        },
        expected: "111",
    },
    LineStory {
        name: "a commit is taken back, and a person makes it again in parts",
        told: |place| {
            let first = "use std::fs;\n".to_owned() + &function("x", "x");
            place.step(0, &function("x", "x"));
            place.step(1, &(first.clone() + &f("one two three")));
            place.git(&["reset", "-q", "HEAD~1"]);
            place.git(&["checkout", "-q", "."]);
            place.step(0, &first);
            place.step(0, &(first + &f("one two three")));
        },
        expected: "---1111",
    },
    LineStory {
        name: "late evidence about a commit that was amended away is reverted, and comes back",
        told: |place| {
            place.step(0, &function("x", "x"));
            place.step(1, &(function("x", "x") + &f("one two three")));
            place.write(0, &(function("x", "x") + &f("one mine two three")));
            place.commit(&["--amend"]);
            place.write_to("src/b.rs", 0, &function("b", "b"));
            place.commit(&["--amend"]);
            place.git(&["revert", "--no-edit", "HEAD"]);
            place.git(&["revert", "--no-edit", "HEAD"]);
        },
        expected: "--11-11",
    },
    LineStory {
        name: "an agent changes one of two lines of another one",
        told: |place| changed_by_another(place, "a b1 c", "a b2 c"),
        expected: "--2---1-",
    },
    LineStory {
        name: "an agent puts back one of two lines of another one",
        told: |place| changed_by_another(place, "a b1 c", "a b c"),
        expected: "------1-",
    },
    LineStory {
        name: "an agent removes one of two lines of another one",
        told: |place| changed_by_another(place, "a b1 c", "a c"),
        expected: "-----1-",
    },
    LineStory {
        name: "an agent changes most lines of another one",
        told: |place| changed_by_another(place, "a n1 n2 n3 n4 c", "a m1 m2 m3 n4 c"),
        expected: "--2221---1-",
    },
    LineStory {
        name: "a record by hand follows a call that left out a line of a person",
        told: |place| {
            place.step(0, &f("one two three"));
            place.write(0, &f("one mine two three"));
            place.write_in_call(1, &f("one mine two three four"));
            place.step(2, &f("one mine zwei three four"));
        },
        expected: "---2-1",
    },
    LineStory {
        name: "an agent mends its own syntax error",
        told: |place| mended(place, &f("a new b").replace("b()", "b("), 1),
        expected: "--1---1",
    },
    LineStory {
        name: "an agent mends the syntax error of another one",
        told: |place| mended(place, &f("a new b").replace("b()", "b("), 2),
        expected: "------1",
    },
    LineStory {
        name: "an agent resolves its own conflict",
        told: |place| mended(place, &conflicting_sides(), 1),
        expected: "--1---1",
    },
    LineStory {
        name: "an agent resolves the conflict of another one",
        told: |place| mended(place, &conflicting_sides(), 2),
        expected: "------1",
    },
    LineStory {
        name: "a person writes lines again that a commit with a single ledger had",
        told: |place| {
            with_single_ledger(place);
            place.step(1, &f("a x1 x2 b"));
            place.step(0, &f("a b"));
            place.write(0, &f("a x1 x2 b"));
            assert_eq!(picture(&place.0.root(), FILE), "-----");
            place.commit(&[]);
        },
        expected: "-----",
    },
    LineStory {
        name: "a person writes lines again that a ledger of another name had",
        told: |place| {
            with_single_ledger(place);
            place.step(1, &f("a x1 x2 b"));
            let (single, other) = (SINGLE_LEDGER, ".orchestration/agent_trace/other.jsonl");
            place.0.write(other, &place.0.read(single));
            place.0.remove(single);
            place.step(0, &f("a b"));
            place.write(0, &f("a x1 x2 b"));
            assert_eq!(picture(&place.0.root(), FILE), "-----");
            place.commit(&[]);
        },
        expected: "-----",
    },
    LineStory {
        name: "code is committed before its single ledger",
        told: |place| {
            with_single_ledger(place);
            place.write(1, &f("a x1 x2 b"));
            place.git(&["commit", "-qm", "code", FILE]);
            place.commit(&[]);
        },
        expected: "--11-",
    },
    LineStory {
        name: "a commit with a single ledger is reverted, and its revert, too",
        told: |place| {
            with_single_ledger(place);
            place.step(1, &f("a x1 x2 b"));
            place.git(&["revert", "--no-edit", "HEAD"]);
            place.git(&["revert", "--no-edit", "HEAD"]);
        },
        expected: "--11-",
    },
];

/// An agent changes two functions, and another agent changes the first one after that.
fn changed_by_another(place: &Place, then: &str, now: &str) {
    let both = |first: &str, second: &str| f(first) + &function("g", second);
    place.step(0, &both("a b c", "d e h"));
    place.write(1, &both(then, "d e1 h"));
    place.step(2, &both(now, "d e1 h"));
}

fn with_single_ledger(place: &Place) {
    place.0.write(".orchestration/policy.yaml", "ledger:\n  layout: single\n");
    place.step(0, &f("a b"));
}

/// INT-001 records a text of which one function cannot be read, and another intent its mended text.
fn mended(place: &Place, unreadable: &str, intent: u32) {
    place.step(0, &(f("a b") + &function("g", "x")));
    place.write(1, &(unreadable.to_owned() + &function("g", "x y")));
    place.step(intent, &(f("a new b") + &function("g", "x y")));
}

fn conflicting_sides() -> String {
    format!("<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n", f("a new b"), f("a b c"))
}

/// Commits an agent's text on a branch without hooks, and seals it with the next commit.
fn sealed_late(place: &Place, branch: &str, text: &str) {
    place.git(&["switch", "-qc", branch, "main"]);
    place.write(1, text);
    place.git(&["commit", "-qam", "without a hook"]);
    place.write_to("src/other.rs", 0, &function("other", "x"));
    place.commit(&[]);
    place.git(&["switch", "-q", "main"]);
}

/// Squashes the branch `t`, on which the work is, into `main`, as a server does it without our hooks.
fn squash_on_server(place: &Place) {
    place.git(&["switch", "-q", "main"]);
    place.git(&["merge", "-q", "--squash", "t"]);
    place.git(&["commit", "-qm", "squashed"]);
    place.forget(&["t"]);
}

fn conflict(place: &Place, resolved: &str) {
    let merged = std::process::Command::new(&*crate::support::GIT)
        .args(["merge", "-q", "t"])
        .current_dir(place.0.root())
        .output();
    assert!(!merged.expect("git runs").status.success());
    place.step(0, resolved);
}

/// Makes the steps on a branch, which a server squashes without our hooks.
fn squashed_by_server(place: &Place, steps: &[(u32, String)]) {
    place.git(&["switch", "-qc", "t"]);
    steps.iter().for_each(|(intent, text)| place.step(*intent, text));
    place.git(&["switch", "-q", "main"]);
    place.git(&["merge", "-q", "--squash", "t"]);
    place.git(&["commit", "-qm", "squashed"]);
    place.forget(&["t"]);
}

fn two_pull_requests(place: &Place) {
    place.step(0, &f("a b c d e g"));
    place.branch("t", 1, &f("a x1 x2 b c d e g"));
    place.branch("u", 2, &f("a b c d y1 y2 e g"));
}

#[test]
#[ignore = "slow"]
fn each_line_has_its_intent_in_every_clone() {
    let mut wrong = String::new();
    for (at, LineStory { name, told, expected }) in STORIES.iter().enumerate() {
        let place = Place(Repo::new());
        told(&place);
        let fresh = cloned(&place.0, &[]);
        let folders = [place.0.root(), fresh.path().to_owned()];
        let mut pictures = folders.map(|folder| picture(&folder, FILE)).to_vec();
        if at % sample_or_all(8, 1) == 0 {
            git(fresh.path(), &["sparse-checkout", "set", "src"]);
            pictures.push(picture(fresh.path(), FILE));
        }
        if pictures.iter().any(|found| found != expected) {
            wrong += &format!("{name}: {pictures:?}, not {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Whoever goes back behind an agent's commit and writes the same code has taken it from there only if the
/// commit is nowhere else.
#[test]
#[ignore = "slow"]
fn a_commit_that_a_reference_keeps_has_not_left_the_history() {
    let keep: [(&[&[&str]], &str); 6] = [
        (&[], "--111"),
        (&[&["branch", "kept"]], "-----"),
        (&[&["tag", "kept"]], "-----"),
        (&[&["tag", "-a", "-m", "annotated", "kept"]], "-----"),
        (&[&["update-ref", "refs/remotes/origin/kept", "HEAD"]], "-----"),
        (&[&["stash", "-q"]], "-----"),
    ];
    for (commands, expected) in keep {
        let place = Place(Repo::new());
        let all = function("x", "x") + &f("one two");
        place.step(0, &function("x", "x"));
        place.step(1, &all);
        place.write(0, &(all.clone() + &function("g", "g")));
        commands.iter().for_each(|command| place.git(command));
        place.git(&["reset", "-q", "--hard", "HEAD~1"]);
        place.step(0, &all);
        for folder in [place.0.root(), cloned(&place.0, &[]).path().to_owned()] {
            assert_eq!(picture(&folder, FILE), expected, "{commands:?}");
        }
    }
}

/// The records of a commit are known as soon as the commit is taken back, and not only from the next seal.
#[test]
#[ignore = "slow"]
fn a_reset_reopens_the_records_for_every_question() {
    let pushed: &[&str] = &["update-ref", "refs/remotes/origin/main", "HEAD"];
    for (how, keep) in [("--soft", None), ("--mixed", None), ("--soft", Some(pushed))] {
        let place = Place(Repo::new());
        place.step(0, &function("x", "x"));
        place.step(1, &(function("x", "x") + &f("one two")));
        keep.iter().for_each(|command| place.git(command));
        place.git(&["reset", "-q", how, "HEAD~1"]);
        assert_eq!(picture(&place.0.root(), FILE), "--111", "{how}");
        assert_eq!(evidence::seal::open(&place.open()).standing.len(), 1, "{how}");
        let judged = intent_in(&place.0.root(), &["check", "--json"]).json();
        assert_eq!(judged["summary"]["recorded"], 1, "{how}: {judged}");
        place.commit(&[]);
        for folder in [place.0.root(), cloned(&place.0, &[]).path().to_owned()] {
            assert_eq!(picture(&folder, FILE), "--111", "{how}");
        }
        assert!(place.open().journal.entries().is_empty(), "{how}");
    }
}

/// What somebody does to a repository.
type Deed = fn(&Place);

/// A record counts as open again, before any seal, if its commit was made anew without our hooks and a
/// person edited a line of it. And a dry run says what the seal will do.
#[test]
#[ignore = "slow"]
fn what_has_no_evidence_any_more_is_told_and_tried_before_it_is_sealed() {
    fn edit(place: &Place) {
        place.0.write(FILE, &(function("x", "x") + &f("one mine")));
    }
    let ways: [(&str, Deed, usize); 7] = [
        (
            "amend",
            |place| {
                edit(place);
                place.git(&["commit", "-qa", "--amend", "-m", "a"]);
            },
            1,
        ),
        (
            "fixup",
            |place| {
                edit(place);
                place.git(&["commit", "-qa", "--fixup", "HEAD"]);
                place.git(&["-c", "sequence.editor=true", "rebase", "-qi", "--autosquash", "main"]);
            },
            1,
        ),
        (
            "squash",
            |place| {
                place.git(&["switch", "-q", "main"]);
                place.git(&["merge", "-q", "--squash", "topic"]);
                edit(place);
                place.git(&["commit", "-qam", "squash"]);
            },
            1,
        ),
        (
            "pick",
            |place| {
                place.git(&["switch", "-q", "main"]);
                place.git(&["commit", "-q", "--allow-empty", "-m", "main"]);
                place.git(&["cherry-pick", "topic"]);
                edit(place);
                place.git(&["commit", "-qa", "--amend", "-m", "a"]);
            },
            1,
        ),
        ("reset", |place| place.git(&["reset", "-q", "--soft", "main"]), 0),
        (
            "squash in progress",
            |place| {
                place.git(&["switch", "-q", "main"]);
                place.git(&["merge", "-q", "--squash", "topic"]);
            },
            0,
        ),
        ("switch", |place| place.git(&["switch", "-q", "main"]), 0),
    ];
    for (way, make_anew, told) in ways {
        let place = Place(Repo::new());
        place.step(0, &function("x", "x"));
        place.git(&["switch", "-qc", "topic"]);
        place.step(1, &(function("x", "x") + &f("one two")));
        make_anew(&place);
        let ws = place.open();
        assert_eq!(seal::commits_without_evidence(&ws).expect("readable").len(), told, "{way}");
        let tried = seal::would_seal(&ws).expect("tried").sealed;
        assert_eq!(seal(&ws, SealCaller::Person).expect("sealed").sealed, tried, "{way}");
        assert_eq!(tried.is_empty(), way == "switch", "{way}");
        assert_eq!(seal::open(&place.open()).gone, 0, "{way}");
        place.commit(&[]);
        let expected = match way {
            "switch" => "--",
            _ if told > 0 => "--11-",
            _ => "--111",
        };
        assert_everywhere(&place, &[(FILE, expected)], way);
    }
}

/// Makes the commits of the branch `topic` anew.
fn make_anew(place: &Place, way: &str) {
    match way {
        "rebase" => {
            place.git(&["switch", "-q", "main"]);
            place.write_to("src/main.rs", 0, &function("main", "m"));
            place.commit(&[]);
            place.git(&["switch", "-q", "topic"]);
            place.git(&["rebase", "-q", "main"]);
            after_commit(&place.open()).expect("settled");
        }
        how => place.git(&["reset", "-q", how, "main"]),
    }
    place.write_to("src/later.rs", 0, &function("later", "l"));
    place.commit(&[]);
}

fn assert_everywhere(place: &Place, expected: &[(&str, &str)], story: &str) {
    for folder in [place.0.root(), cloned(&place.0, &[]).path().to_owned()] {
        for (path, lines) in expected {
            assert_eq!(picture(&folder, path), *lines, "{story}: {path}");
        }
    }
}

fn reassign_to(place: &Place, to: Option<&str>) {
    let file = ReassignTarget::File(relative(FILE));
    reassign(&place.open(), &file, ("INT-001", to), None).expect("reassigned");
}

/// Erases the first line of evidence about the file.
fn erase_evidence(place: &Place) {
    let ws = place.open();
    let is_its = |path: &ground::RelativePath| path.as_str() == FILE;
    let mut entries = ws.ledger.entries().iter().filter(|entry| entry.section.is_some());
    let entry = entries.find(|entry| entry.record.paths().any(is_its)).expect("evidence");
    let erasure = erase::draft(&ws, &entry.record.id, "a secret", None).expect("a tombstone");
    erase::write(&ws, &entry.record.id, &erasure, None).expect("erased");
}

#[test]
#[ignore = "slow"]
fn what_a_person_decided_holds_if_the_commits_are_made_anew() {
    let decisions: [(&str, Deed, [&str; 2]); 3] = [
        ("under nobody", |place| reassign_to(place, None), ["-----", "----2"]),
        ("under another", |place| reassign_to(place, Some("INT-002")), ["--222", "--222"]),
        ("erased", erase_evidence, ["-----", "----2"]),
    ];
    let ways = ["--soft", "--mixed", "rebase"];
    for (name, decide, expected) in decisions {
        // What is erased is a file, which goes along with the work tree while it is in no commit.
        let open: &[(bool, bool)] = if name == "erased" { &[] } else { &[(false, false)] };
        let variants = [&[(false, true), (true, true)], open].concat();
        let variants = ways.iter().flat_map(|way| variants.iter().map(move |it| (way, *it)));
        for (way, (is_edited, is_committed)) in variants {
            let place = Place(Repo::new());
            place.step(0, &function("x", "x"));
            place.git(&["switch", "-qc", "topic"]);
            place.write_to("src/b.rs", 1, &f("one two"));
            place.step(1, &(function("x", "x") + &f("one two")));
            decide(&place);
            if is_committed {
                place.commit(&[]);
            }
            if is_edited {
                place.step(2, &(function("x", "x") + &f("one changed")));
            }
            let expected = [(FILE, expected[usize::from(is_edited)]), ("src/b.rs", "111")];
            if is_committed {
                assert_everywhere(&place, &expected, name);
            }
            make_anew(&place, way);
            assert_everywhere(&place, &expected, &format!("{name}, {way}, {is_committed}"));
            assert!(seal::open(&place.open()).standing.is_empty(), "{name}, {way}, {is_committed}");
        }
    }
}

/// `main` has a commit that was made without our hook, and only `topic` carries the evidence of it.
#[test]
#[ignore = "slow"]
fn late_evidence_goes_along_with_its_commit_on_each_branch() {
    let kept: Deed = |_| {};
    let decisions = [("kept", kept, "--111"), ("erased", erase_evidence, "-----")];
    for (name, decide, expected) in decisions {
        let place = Place(Repo::new());
        let unrelated = |path: &str| {
            place.write_to(path, 0, &function("x", "x"));
            place.commit(&[]);
        };
        place.step(0, &function("x", "x"));
        place.write(1, &(function("x", "x") + &f("one two")));
        place.git(&["commit", "-qam", "without a hook"]);
        place.git(&["switch", "-qc", "topic"]);
        unrelated("src/topic.rs");
        decide(&place);
        unrelated("src/later.rs");
        assert_everywhere(&place, &[(FILE, expected)], name);
        place.git(&["switch", "-q", "main"]);
        let told = seal::commits_without_evidence(&place.open()).expect("readable").len();
        assert_eq!(told, usize::from(name == "kept"), "{name}");
        unrelated("src/main.rs");
        assert_eq!(seal::commits_without_evidence(&place.open()).expect("readable").len(), 0);
        assert_everywhere(&place, &[(FILE, expected)], name);
        place.git(&["merge", "-q", "--no-edit", "topic"]);
        assert_everywhere(&place, &[(FILE, expected)], &format!("{name}, merged"));
        place.git(&["rm", "-rq", ".orchestration/agent_trace"]);
        place.git(&["commit", "-qm", "without evidence"]);
        unrelated("src/last.rs");
        assert_everywhere(&place, &[(FILE, "-----")], &format!("{name}, removed"));
    }
}

#[test]
#[ignore = "slow"]
fn any_number_of_late_files_goes_along_with_the_commits() {
    const COUNT: usize = 20;
    let place = Place(Repo::new());
    place.step(0, &function("x", "x"));
    let files: Vec<String> = (0..COUNT).map(|at| format!("src/late{at}.rs")).collect();
    for file in &files {
        place.write_to(file, 1, &f("one two"));
        place.git(&["add", "-A"]);
        place.git(&["commit", "-qm", "without a hook"]);
    }
    place.git(&["switch", "-qc", "topic"]);
    place.step(0, &function("x", "y"));
    place.git(&["switch", "-q", "main"]);
    let told = || seal::commits_without_evidence(&place.open()).expect("readable").len();
    assert_eq!(told(), COUNT);
    place.write_to("src/main.rs", 0, &function("x", "x"));
    place.commit(&[]);
    assert_eq!(told(), 0);
    let expected: Vec<(&str, &str)> = files.iter().map(|file| (&**file, "111")).collect();
    assert_everywhere(&place, &expected, "late");
}

/// Evidence of an earlier commit cannot be written in the first seal, because a file is where its folder belongs.
#[test]
fn evidence_of_a_seal_that_failed_is_removed_by_the_next_one() {
    let place = Place(Repo::new());
    place.step(0, &f("one"));
    place.write_to("src/late.rs", 1, &f("one two"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "without a hook"]);
    place.write(1, &f("one three"));
    place.git(&["add", "-A"]);
    let untracked = || place.0.git(&["ls-files", "--others", "--exclude-standard"]);
    let late = place.0.root().join(".orchestration/agent_trace/late");
    std::fs::write(&late, "in the way").expect("writable");
    seal(&place.open(), SealCaller::Hook).expect_err("a file in the way");
    std::fs::remove_file(&late).expect("removable");
    assert_ne!(untracked(), "");
    place.git(&["commit", "-qm", "without a hook"]);
    let sealed = seal(&place.open(), SealCaller::Hook).expect("sealed");
    let mut written: Vec<String> = sealed.written.iter().map(ToString::to_string).collect();
    written.sort();
    assert_eq!(untracked().lines().collect::<Vec<_>>(), written);
}

#[test]
fn a_part_of_a_line_that_a_call_left_hides_no_record_of_a_commit() {
    let place = Place(Repo::new());
    place.write(1, &f("one"));
    place.git(&["add", "-A"]);
    seal(&place.open(), SealCaller::Hook).expect("sealed");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "c"]);
    let commit = place.0.git(&["rev-parse", "HEAD"]);
    let settled = place.0.root().join(".git/intent/settled/main");
    std::fs::create_dir_all(&settled).expect("a folder");
    let part = "{\"id\":\"01a22ff0-4e44-73b2-92c5\",\"timest";
    std::fs::write(settled.join(format!("{}.jsonl", commit.trim())), part).expect("writable");
    after_commit(&place.open()).expect("settled");
    assert_eq!(evidence::verify::verify(&place.open()).findings, []);
}

/// Without the text of a record, its run of lines is known only as a whole.
#[test]
#[ignore = "slow"]
fn lines_that_nobody_can_tell_are_told_until_the_next_commit() {
    let long = format!("{}\n", "x".repeat(1_000)).repeat(1_100);
    for (name, start) in [("gone", ""), ("too large", &*long)] {
        for is_edited in [false, true] {
            let place = Place(Repo::new());
            let path = "src/a.txt";
            place.write_to(path, 0, start);
            place.commit(&[]);
            place.write_to(path, 1, &format!("{start}\none line\ntwo lines\nthree lines\n"));
            if name == "gone" {
                std::fs::remove_dir_all(place.0.root().join(".git/intent/texts")).expect("removed");
            }
            if is_edited {
                place.0.write(path, &format!("{start}\none line\nmine\nthree lines\n"));
            }
            let told = || seal::commits_without_evidence(&place.open()).expect("readable").len();
            assert_eq!(told(), usize::from(is_edited), "{name}, {is_edited}");
            place.commit(&[]);
            assert_eq!(told(), usize::from(is_edited), "{name}, {is_edited}, committed");
            place.step(0, &function("x", "x"));
            assert_eq!(told(), 0, "{name}, {is_edited}, one commit later");
        }
    }
}

/// A record with lines in two commits stays open after the first one, and is settled with the second
/// one. It knows the erased lines, too.
#[test]
#[ignore = "slow"]
fn an_erased_line_stays_erased_if_its_record_is_in_two_commits() {
    for way in ["--soft", "rebase"] {
        let place = Place(Repo::new());
        place.step(0, &function("x", "x"));
        place.git(&["switch", "-qc", "topic"]);
        let part = function("x", "x") + &f("one two");
        let all = part.clone() + &function("g", "three four");
        place.write(1, &all);
        place.0.write(FILE, &part);
        place.git(&["add", "-A"]);
        place.0.write(FILE, &all);
        let commit_a_part = || {
            seal(&place.open(), SealCaller::Hook).expect("sealed");
            place.git(&["add", ".orchestration"]);
            place.git(&["commit", "-q", "-m", "a part"]);
            after_commit(&place.open()).expect("settled");
        };
        commit_a_part();
        erase_evidence(&place);
        commit_a_part();
        place.commit(&[]);
        place.write_to("src/b.rs", 0, &f("b"));
        place.commit(&[]);
        let expected = [(FILE, "-----111")];
        assert_everywhere(&place, &expected, "erased");
        make_anew(&place, way);
        assert_everywhere(&place, &expected, way);
    }
}

#[test]
#[ignore = "slow"]
fn what_a_person_writes_after_a_change_was_thrown_away_is_theirs() {
    let ways: &[(&str, Deed)] = &[
        ("checkout", |place| place.git(&["checkout", "-q", "."])),
        ("reset", |place| place.git(&["reset", "-q", "--hard"])),
        ("stash", |place| place.git(&["stash", "-q"])),
        ("by hand", |place| place.write(0, "")),
    ];
    // The function of the agent, and that of the person.
    let texts = [
        (f("one"), f("mine")),
        (f("one two three"), f("one mine other")),
        (
            format!("use a;\nuse b;\n{}", f("a b")),
            format!("use a;\nuse b;\n{}", function("g", "b")),
        ),
        (format!("// Licence.\n{}", f("a b")), format!("// Licence.\n{}", function("g", "b"))),
    ];
    let mut wrong = String::new();
    for (at, (agents, persons)) in texts.iter().enumerate() {
        let (name, throw_away) = ways[at % ways.len()];
        for file in [FILE, "src/new.rs"] {
            let place = Place(Repo::new());
            place.step(0, "");
            place.write_to(file, 1, agents);
            match file {
                FILE => throw_away(&place),
                _ => place.0.remove(file),
            }
            place.write_to(file, 0, persons);
            let before = picture(&place.0.root(), file);
            place.commit(&[]);
            let after = picture(&place.0.root(), file);
            if before.contains('1') || after.contains('1') {
                wrong += &format!("{file}, {name}: {before}, {after}\n{persons}");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Makes branches at `HEAD` that come before others in order, without starting git for each.
fn add_branches(place: &Place, count: usize) {
    let head = place.0.git(&["rev-parse", "HEAD"]);
    for at in 0..count {
        place.0.write(&format!(".git/refs/heads/a{at}"), &head);
    }
}

/// Makes newer stashes of nothing, without starting git for each.
fn add_stashes(place: &Place, count: usize) {
    let log = place.0.read(".git/logs/refs/stash");
    let head = place.0.git(&["rev-parse", "HEAD"]);
    let (_, who) =
        log.trim_end().split_once(' ').expect("two commits").1.split_once(' ').expect("a name");
    let line = format!("{} {} {who}\n", head.trim(), head.trim());
    place.0.write(".git/logs/refs/stash", &(log + &line.repeat(count)));
}

/// Work that was put away may come back after months. With so many branches that nobody can look into
/// all of them, it may, too.
#[test]
#[ignore = "slow"]
fn a_record_stays_as_long_as_git_keeps_its_lines() {
    const LATER: i64 = 100 * 24 * 60 * 60 * 1_000;
    let ways: &[(&str, Deed)] = &[
        ("stash", |place| place.git(&["stash", "-q"])),
        ("topic", |place| {
            place.git(&["switch", "-qc", "topic"]);
            place.git(&["commit", "-qam", "without a hook"]);
            place.git(&["switch", "-q", "main"]);
        }),
        ("some-tag", |place| {
            place.git(&["commit", "-qam", "without a hook"]);
            place.git(&["tag", "some-tag"]);
            place.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }),
        ("", |place| place.git(&["checkout", "-q", "."])),
    ];
    let agents = function("x", "x") + &f("one two");
    for ((from, put_away), branches) in ways.iter().zip([0, 70, 300, 0]) {
        let place = Place(Repo::new());
        place.step(0, &function("x", "x"));
        place.write(1, &agents);
        put_away(&place);
        add_branches(&place, branches);
        place.write_to("src/b.rs", 0, &f("b"));
        place.commit(&[]);
        let now = ground::clock::now_in_milliseconds() + LATER;
        seal::retire(&place.open(), now).expect("removed");
        place.step(0, &function("y", "y"));
        match *from {
            "" => place.write(0, &agents),
            _ => place.git(&["checkout", "-q", from, "--", FILE]),
        }
        place.commit(&[]);
        let expected = if from.is_empty() { "-----" } else { "--111" };
        assert_everywhere(&place, &[(FILE, expected)], from);
    }
}

#[test]
#[ignore = "slow"]
fn a_function_that_was_moved_before_its_commit_is_found_among_much_other_code() {
    const MANY: usize = 80;
    let much: [(&str, Deed); 4] = [
        ("other files", |place| {
            (0..MANY).for_each(|at| place.0.write(&format!("src/{at}.js"), "work();\n"));
        }),
        ("files of the language", |place| {
            (0..MANY).for_each(|at| place.0.write(&format!("src/m{at}.rs"), &function("x", "y")));
        }),
        ("recorded files", |place| {
            let files = (0..MANY).map(|at| format!("src/m{at}.rs"));
            files.for_each(|file| place.write_to(&file, 2, &function("g", "three four")));
        }),
        ("recorded texts", |place| {
            let text = |at: usize| f("one two") + &function("g", &format!("three{at} four"));
            (0..MANY).for_each(|at| place.write(2, &text(at)));
        }),
    ];
    let other = function("x", "x");
    for (name, add) in much {
        let place = Place(Repo::new());
        place.write_to("src/b.rs", 0, &other);
        place.step(0, &other);
        place.write(1, &(f("one two") + &other));
        add(&place);
        place.write(0, &other);
        place.write_to("src/b.rs", 0, &(f("one two") + &other));
        place.commit(&[]);
        assert_everywhere(&place, &[("src/b.rs", "111--"), (FILE, "--")], name);
    }
}

#[test]
#[ignore = "slow"]
fn a_record_stays_open_if_a_stash_may_have_the_rest_of_it() {
    for stashes in [20, 200] {
        let place = Place(Repo::new());
        place.step(0, &function("x", "x"));
        let part = function("x", "x") + &f("one two");
        let all = part.clone() + &function("g", "three four");
        place.write(1, &all);
        place.git(&["stash", "-q"]);
        add_stashes(&place, stashes);
        place.step(0, &part);
        place.step(0, &all);
        assert_everywhere(&place, &[(FILE, "--111111")], &stashes.to_string());
        // A record of which everything was committed goes, however many stashes there are.
        place.write_to("src/b.rs", 1, &f("b"));
        place.commit(&[]);
        assert_eq!(seal::open(&place.open()).gone, 0, "{stashes}");
    }
}

/// Evidence that is not checked out counts as the index has it. Evidence that somebody deleted does not
/// count.
#[test]
#[ignore = "slow"]
fn a_sparse_checkout_takes_no_name_away() {
    let place = Place(Repo::new());
    place.0.write(".orchestration/policy.yaml", "levels:\n  unrecorded-change: error\n");
    place.step(0, &f("one"));
    place.step(1, &f("one two"));
    let ways: [&[&str]; 3] =
        [&["src"], &["--sparse-index", "src"], &["--no-cone", "/*", "!agent_trace"]];
    for way in ways {
        let clone = cloned(&place.0, &[]);
        git(clone.path(), &[&["sparse-checkout", "set"], way].concat());
        assert!(!clone.path().join(".orchestration/agent_trace").exists(), "{way:?}");
        assert_eq!(picture(clone.path(), FILE), "--1", "{way:?}");
        let judged = intent_in(clone.path(), &["check", "--base", "HEAD~1"]);
        assert_eq!(judged.code, 0, "{way:?}: {}{}", judged.out, judged.err);
        let verified = intent_in(clone.path(), &["verify"]).out;
        assert!(verified.contains("1 record in 1 ledger file"), "{way:?}: {verified}");
    }
    let clone = cloned(&place.0, &[]);
    std::fs::remove_dir_all(clone.path().join(".orchestration/agent_trace")).expect("removed");
    assert_eq!(picture(clone.path(), FILE), "---");
}

/// A fresh clone cannot know which of two commits is the one that was sealed late, so it names neither.
#[test]
fn equal_lines_of_another_commit_are_not_taken_for_a_rebased_one() {
    let place = Place(Repo::new());
    place.step(0, &(f("one two") + &function("x", "x")));
    sealed_late(&place, "t", &(f("one audit two") + &function("x", "x")));
    place.step(0, &(f("one two") + &function("x", "x") + &function("g", "audit")));
    place.git(&["rebase", "-q", "main", "t"]);
    place.git(&["switch", "-q", "main"]);
    place.git(&["merge", "-q", "--ff-only", "t"]);
    assert_eq!(picture(&place.0.root(), FILE), "--1-----");
    place.forget(&["t"]);
    assert_eq!(picture(cloned(&place.0, &[]).path(), FILE), "--1-----");
}

#[test]
#[ignore = "slow"]
fn a_line_that_main_has_already_is_not_taken_for_one_of_a_squashed_branch() {
    for is_first in [true, false] {
        let place = Place(Repo::new());
        place.step(0, &f("one two"));
        place.git(&["branch", "-q", "t"]);
        let by_person = |place: &Place| place.step(0, &f("one audit two"));
        if is_first {
            by_person(&place);
        }
        place.git(&["switch", "-q", "t"]);
        place.write(1, &f("one audit two"));
        place.git(&["commit", "-qam", "without a hook"]);
        place.write_to("src/other.rs", 0, &function("other", "x"));
        place.commit(&[]);
        place.git(&["switch", "-q", "main"]);
        if !is_first {
            by_person(&place);
        }
        squash_on_server(&place);
        assert_eq!(picture(cloned(&place.0, &[]).path(), FILE), "----", "{is_first}");
    }
}

/// A story of one function `f`, and what the answer says of it in the end.
struct VerdictStory {
    name: &'static str,
    told: fn(&Place),
    /// The verdict, and what the answer says was changed since.
    expected: (&'static str, &'static str),
}

const VERDICTS: &[VerdictStory] = &[
    VerdictStory {
        name: "a person deletes the definition between an attribute and a recorded function",
        told: |place| {
            let above = |other: &str| format!("#[x]\n{other}");
            place.step(0, &above(&function("z", "a b")));
            place.step(1, &(above(&function("z", "a b")) + &f("one two three four")));
            place.step(0, &above(&f("one two three four")));
        },
        expected: ("modified", ""),
    },
    VerdictStory {
        name: "a clean merge unites two recorded edits",
        told: |place| {
            place.step(1, &f("one two three four five"));
            place.branch("t", 1, &f("eins two three four five"));
            place.step(2, &f("one two three four vijf"));
            place.git(&["merge", "-q", "-m", "m", "t"]);
        },
        expected: ("exact", ""),
    },
    VerdictStory {
        name: "three branches with recorded edits are merged one after the other",
        told: |place| {
            place.step(1, &f("one two three four five"));
            place.branch("t", 1, &f("eins two three four five"));
            place.branch("u", 2, &f("one two drie four five"));
            place.branch("v", 2, &f("one two three four vijf"));
            for branch in ["t", "u", "v"] {
                place.git(&["merge", "-q", "--no-ff", "-m", branch, branch]);
            }
        },
        expected: ("exact", ""),
    },
    VerdictStory {
        name: "two branches with recorded edits are rebased",
        told: |place| {
            place.step(1, &f("one two three four five"));
            place.branch("t", 1, &f("eins two three four five"));
            place.branch("u", 2, &f("one two three four vijf"));
            for branch in ["t", "u"] {
                place.git(&["rebase", "-q", "main", branch]);
                place.git(&["switch", "-q", "main"]);
                place.git(&["merge", "-q", "--ff-only", branch]);
            }
        },
        expected: ("modified", ""),
    },
    VerdictStory {
        name: "a person cuts a line between two merges",
        told: |place| {
            place.step(1, &f("one two three four five six seven"));
            place.branch("t", 1, &f("one two drie four five six seven"));
            place.branch("u", 2, &f("one two three four vijf six seven"));
            place.step(2, &f("eins two three four five six seven"));
            place.git(&["merge", "-q", "--no-ff", "-m", "t", "t"]);
            place.step(0, &f("eins two drie four five six"));
            place.git(&["merge", "-q", "--no-ff", "-m", "u", "u"]);
        },
        expected: ("modified", "lines were removed since"),
    },
    VerdictStory {
        name: "a clean merge unites a recorded body and a recorded doc comment",
        told: |place| {
            place.step(1, &format!("/// A.\n{}", f("one two three four five")));
            place.branch("t", 1, &format!("/// A.\n{}", f("one two three four vijf")));
            place.step(2, &format!("/// B.\n{}", f("one two three four five")));
            place.git(&["merge", "-q", "-m", "m", "t"]);
        },
        expected: ("exact", ""),
    },
    VerdictStory {
        name: "a person cuts what a clean merge united at its start",
        told: |place| {
            let with_lead = |calls: &str| format!("#[a]\n{}", f(calls));
            place.step(1, &with_lead("one two three four five"));
            place.branch("t", 1, &with_lead("one guard two three four five"));
            place.step(2, &with_lead("one two three four watch five"));
            place.git(&["merge", "-q", "-m", "m", "t"]);
            place.step(0, &f("one guard two three four watch five"));
        },
        expected: ("modified", "lines were removed since"),
    },
    VerdictStory {
        name: "a person drops lines of both sides in a conflict",
        told: |place| {
            place.step(1, &f("one two three"));
            place.branch("t", 1, &f("one a guard two three"));
            place.step(2, &f("one b watch two three"));
            conflict(place, &f("one a b two three"));
        },
        expected: ("modified", "lines were removed since"),
    },
    VerdictStory {
        name: "a person blanks a line that two intents wrote around",
        told: |place| {
            place.step(1, &f("one guard two three"));
            place.step(2, &f("one guard two three four"));
            place.step(0, &f("one guard two three four").replace("    guard();", ""));
        },
        expected: ("modified", "lines were removed since"),
    },
    VerdictStory {
        name: "a person wrote a line before the record",
        told: |place| {
            place.write(0, &f("one two three four"));
            place.write(1, &f("one two three four five six seven eight nine ten"));
            place.commit(&[]);
        },
        expected: ("exact", ""),
    },
];

#[test]
#[ignore = "slow"]
fn only_a_text_that_was_recorded_is_exact() {
    let mut wrong = String::new();
    for VerdictStory { name, told, expected } in VERDICTS {
        let place = Place(Repo::new());
        told(&place);
        let fresh = cloned(&place.0, &[]);
        for folder in [place.0.root(), fresh.path().to_owned()] {
            let answer = intent_in(&folder, &["why", FILE, "--json"]).json();
            let block = answer["blocks"].as_array().expect("blocks").first().expect("a block");
            let line = intent_in(&folder, &["why", &format!("{FILE}:2")]).out;
            let is_told =
                line.contains(expected.1) && (block["cut"] == true) != expected.1.is_empty();
            if block["verdict"] != expected.0 || !is_told {
                wrong += &format!("{name}: {}, not {expected:?}\n{line}\n", block["verdict"]);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Records the first text and commits the second one.
type CommitOfRecord = fn(&Place, &str, &str);

const COMMITS: [(&str, CommitOfRecord); 3] = [
    ("with hooks", |place, recorded, committed| {
        place.write(1, recorded);
        place.step(0, committed);
    }),
    ("without hooks", |place, recorded, committed| {
        place.write(1, recorded);
        place.write(0, committed);
        place.git(&["commit", "-qam", "without a hook"]);
    }),
    ("by an amend", |place, recorded, committed| {
        place.step(1, recorded);
        place.write(0, committed);
        place.git(&["commit", "-qa", "--amend", "--no-edit"]);
        after_commit(&place.open()).expect("settled");
    }),
];

/// However a text is committed, its evidence stands for the text that was recorded.
#[test]
#[ignore = "slow"]
fn what_a_commit_has_beside_a_record_is_told_however_it_was_made() {
    let recorded = f("one guard two three four five");
    // What was committed, the verdict, how many lines are newer, and whether only lines are gone.
    let cases = [
        (recorded.clone(), Verdict::Exact, 0, false),
        (recorded.replace("    ", "\t"), Verdict::Exact, 0, false),
        (f("one guard two three four five six"), Verdict::Modified, 1, false),
        (f("one two three four five"), Verdict::Modified, 0, false),
        (recorded.clone() + &function("g", "x"), Verdict::Exact, 0, false),
    ];
    for (way, commit) in COMMITS {
        for (committed, verdict, newer, is_cut) in &cases {
            let place = Place(Repo::new());
            place.step(0, &f("first"));
            commit(&place, &recorded, committed);
            place.write_to("src/b.rs", 0, &function("b", "b"));
            place.commit(&[]);
            let fresh = cloned(&place.0, &[]);
            for folder in [place.0.root(), fresh.path().to_owned()] {
                let found = provenance_of(&folder, FILE).swap_remove(0);
                let told = (found.verdict, found.newer.len(), found.is_cut);
                assert_eq!(told, (*verdict, *newer, *is_cut), "{way}: {committed}");
            }
        }
    }
}

/// A file with the block `g`, of which a person changes something that is not in its node. `BODY` stands for its
/// statements.
struct LeadStory {
    path: &'static str,
    recorded: &'static str,
    /// The text that is replaced, and its replacement.
    change: (&'static str, &'static str),
    /// The verdict, how many lines are newer, and whether lines are gone.
    expected: (Verdict, usize, bool),
}

const CUT: (Verdict, usize, bool) = (Verdict::Modified, 0, true);
const AS_RECORDED: (Verdict, usize, bool) = (Verdict::Exact, 0, false);

const LEADS: &[LeadStory] = &[
    LeadStory {
        path: "src/decorator.py",
        recorded: "@login\ndef g(u):\nBODY",
        change: ("@login\n", ""),
        expected: CUT,
    },
    LeadStory {
        path: "src/attribute.rs",
        recorded: "use a;\n\n/// Says.\n#[x]\nfn g() {\nBODY}\n",
        change: ("#[x]\n", ""),
        expected: CUT,
    },
    LeadStory {
        path: "src/doc_comment.rs",
        recorded: "use a;\n\n/// Says.\n#[x]\nfn g() {\nBODY}\n",
        change: ("/// Says.\n", ""),
        expected: CUT,
    },
    LeadStory {
        path: "src/blank_line_below.rs",
        recorded: "#[x]\n\nfn g() {\nBODY}\n",
        change: ("#[x]\n", ""),
        expected: CUT,
    },
    LeadStory {
        path: "src/line_above_is_alike.py",
        recorded: "run(\n    1\n)\n@login(\n    2\n)\ndef g(u):\nBODY",
        change: ("@login(\n    2\n)\n", ""),
        expected: CUT,
    },
    LeadStory {
        path: "src/comment_above_is_alike.js",
        recorded: "/*\n * Licence.\n */\n\n/**\n * Says.\n */\nfunction g() {\nBODY}\n",
        change: ("/**\n * Says.\n */\n", ""),
        expected: CUT,
    },
    LeadStory {
        path: "src/Method.java",
        recorded: "class A {\n  @Override\n  int g() {\nBODY}\n}\n",
        change: ("  @Override\n", ""),
        expected: CUT,
    },
    LeadStory {
        path: "src/other_attribute.rs",
        recorded: "#[x]\nfn g() {\nBODY}\n",
        change: ("#[x]", "#[y]"),
        expected: (Verdict::Modified, 1, false),
    },
    LeadStory {
        path: "src/blank_line_above.py",
        recorded: "import a\n\n\n@login\ndef g(u):\nBODY",
        change: ("import a\n\n\n", "import a\n\n"),
        expected: AS_RECORDED,
    },
    LeadStory {
        path: "src/spaces.rs",
        recorded: "use a;\n#[x(a,b)]\nfn g() {\nBODY}\n",
        change: ("(a,b)", "(a, b)"),
        expected: (Verdict::Modified, 1, false),
    },
    LeadStory {
        path: "src/other_path.rs",
        recorded: "use a;\n#[x(\"a b\")]\nfn g() {\nBODY}\n",
        change: ("a b", "ab"),
        expected: (Verdict::Modified, 1, false),
    },
    LeadStory {
        path: "src/inserted_above.rs",
        recorded: "fn a() {}\n\n#[x]\nfn g() {\nBODY}\n",
        change: ("#[x]", "fn b() {\n    c();\n}\n\n#[x]"),
        expected: AS_RECORDED,
    },
    LeadStory {
        path: "src/deleted_above.py",
        recorded: "def a():\n    return 1\n\n\n@login\ndef g(u):\nBODY",
        change: ("def a():\n    return 1\n\n\n", ""),
        expected: AS_RECORDED,
    },
];

/// The content hash of a block says nothing of its lead, which an agent wrote with it, or a person before.
#[test]
#[ignore = "slow"]
fn a_block_is_exact_only_with_the_lead_that_was_recorded() {
    for is_older in [false, true] {
        let place = Place(Repo::new());
        let write = |intent: u32, word: &str, is_changed: bool| {
            for LeadStory { path, recorded, change: (from, to), .. } in LEADS {
                let body: String = (1..7).map(|nth| format!("    {word}{nth}(u)\n")).collect();
                let end =
                    if path.ends_with(".rs") || path.ends_with(".java") { ";\n" } else { "\n" };
                let text = recorded.replace("BODY", &body.replace('\n', end));
                assert_eq!(text.matches(from).count(), 1, "{path}");
                let text = if is_changed { text.replace(from, to) } else { text };
                place.write_to(path, intent, &text);
            }
        };
        if is_older {
            write(0, "first", false);
            place.commit(&[]);
        }
        let is_told =
            |folder: &Path, step: &str, expected: &dyn Fn(&LeadStory) -> (Verdict, usize, bool)| {
                for story in LEADS {
                    let told = told_of_g(folder, story.path);
                    assert_eq!(told, expected(story), "{step}: {} {is_older}", story.path);
                }
            };
        write(1, "second", false);
        is_told(&place.0.root(), "recorded", &|_| AS_RECORDED);
        write(0, "second", true);
        // Before the file is committed, nobody can tell that white space was changed.
        is_told(&place.0.root(), "changed before the commit", &|story| {
            let (verdict, newer, is_cut) = story.expected;
            let is_space = ["src/spaces.rs", "src/other_path.rs"].contains(&story.path);
            (verdict, if is_space && !is_older { 0 } else { newer }, is_cut)
        });
        write(0, "second", false);
        place.commit(&[]);
        is_told(cloned(&place.0, &[]).path(), "committed", &|_| AS_RECORDED);
        write(0, "second", true);
        is_told(&place.0.root(), "changed after the commit", &|story| story.expected);
        place.commit(&[]);
        is_told(cloned(&place.0, &[]).path(), "changed in a commit", &|story| story.expected);
    }
}

/// Only a record of the change itself covers the removal of a line above a definition, and nobody else is judged for it.
#[test]
#[ignore = "slow"]
fn a_removed_line_of_a_lead_is_covered_by_its_own_record() {
    let place = Place(Repo::new());
    let lead = ["/// One.", "#[two]", "/// Three.", "#[four]", "#[five]"];
    let from =
        |first: usize| format!("{}\n{}", lead[first..].join("\n"), f("one two three four five"));
    let checked = |base: &[&str]| {
        let told = intent_in(&place.0.root(), &[&["check", "--json"], base].concat()).json();
        let count = |name: &str| told["summary"][name].as_u64().expect("a number");
        [count("blocks"), count("recorded"), count("uncovered"), count("errors")]
    };
    // The intent of the old record may not change the file.
    place.step(2, &from(0));
    place.write(0, &from(1));
    assert_eq!(checked(&[]), [1, 0, 1, 0]);
    place.commit(&[]);
    assert_eq!(checked(&["--base", "HEAD~1"]), [1, 0, 1, 0]);
    place.write(1, &from(2));
    assert_eq!(checked(&[]), [1, 1, 0, 0]);
    place.commit(&[]);
    assert_eq!(checked(&["--base", "HEAD~1"]), [1, 1, 0, 0]);
    // A record of one line says nothing of another one.
    place.write(1, &from(3));
    place.write(0, &from(4));
    assert_eq!(checked(&[]), [1, 0, 1, 0]);
    place.step(1, &from(3));
    place.step(0, &from(4));
    assert_eq!(checked(&["--base", "HEAD~2"]), [1, 0, 1, 0]);
}

#[test]
fn a_commit_of_the_same_second_is_newer_than_its_parent() {
    let place = Place(Repo::new());
    let commit = "alias.now=!GIT_COMMITTER_DATE=2026-02-18T12:00:00Z git commit -q -m c";
    let step = |intent: u32, statements: &str| {
        place.write(intent, &f(statements));
        place.git(&["add", "-A"]);
        seal(&place.open(), SealCaller::Hook).expect("sealed");
        place.git(&["add", "-A"]);
        place.git(&["-c", commit, "now"]);
        after_commit(&place.open()).expect("settled");
    };
    step(0, "one two three four");
    step(1, "eins zwei drei vier");
    step(0, "eins zwei drei quattro");
    assert_eq!(picture(&place.0.root(), FILE), "-111-");
    let (ws, path) = (place.open(), relative(FILE));
    let file = answers::file(&ws, &path, &ws.read(&path).expect("readable"));
    // The first line is older than the record, and the last one newer.
    let found = &file.provenance[0];
    assert_eq!((found.newer.len(), found.is_cut), (1, false));
}

#[test]
#[ignore = "slow"]
fn a_removed_or_indented_line_is_said_and_takes_no_name_away() {
    let place = Place(Repo::new());
    place.step(1, &f("one two three four"));
    place.step(0, &f("one three four"));
    assert_eq!(picture(&place.0.root(), FILE), "1111");
    assert_eq!(place.0.picture(FILE), "modified INT-001 function f\n");
    // In Python the indentation says what a line does.
    let python =
        |last: &str| format!("def f(x):\n    one(x)\n    if x:\n        two(x)\n{last}three(x)\n");
    place.write_to("src/a.py", 1, &python("    "));
    place.commit(&[]);
    place.write_to("src/a.py", 0, &python("        "));
    let indented = |by: &str| {
        assert_eq!(picture(&place.0.root(), "src/a.py"), "11111");
        assert_eq!(place.0.picture("src/a.py"), "modified INT-001 function f\n");
        let told = intent_in(&place.0.root(), &["why", "src/a.py:1"]).out;
        assert!(told.contains(&format!("1 line{by}")), "{told}");
    };
    indented(", not committed yet");
    place.commit(&[]);
    indented(" by Test");
}

/// What a commit did to the white space of a file that an agent wrote, and what is then said of one block.
struct RespacedStory {
    name: &'static str,
    path: &'static str,
    before: &'static str,
    after: fn(&str) -> String,
    block: &'static str,
    expected: (&'static str, &'static str),
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

const RESPACED: &[RespacedStory] = &[
    RespacedStory {
        name: "a Python function is put under a condition",
        path: "src/a.py",
        before: "def g(u):\n    one(u)\n    two(u)\n",
        after: |text| format!("if DEBUG:\n{}", indented(text)),
        block: "g",
        expected: ("modified", "3 lines"),
    },
    RespacedStory {
        name: "a Python method is put under a condition",
        path: "src/a.py",
        before: "class C:\n    def g(u):\n        one(u)\n        two(u)\n",
        after: |text| {
            text.replacen("    ", "    if DEBUG:\n        ", 1)
                .replace("   o", "      o")
                .replace("   t", "      t")
        },
        block: "C.g",
        expected: ("modified", "3 lines"),
    },
    RespacedStory {
        name: "a Python file is indented by two columns instead of four",
        path: "src/a.py",
        before: "class C:\n    def g(u):\n        one(u)\n        two(u)\n",
        after: |text| text.replace("    ", "  "),
        block: "C.g",
        expected: ("reformatted", ""),
    },
    RespacedStory {
        name: "a part of a YAML file is put below another key",
        path: "src/a.yaml",
        before: "jobs:\n  build:\n    one: 1\n    two: 2\n",
        after: |text| format!("all:\n{}", indented(text)),
        block: "all.jobs",
        expected: ("modified", "4 lines"),
    },
    RespacedStory {
        name: "a part of a YAML file is put below the key before it",
        path: "src/a.yaml",
        before: "jobs:\n  build:\n    one: 1\n    two: 2\n  test:\n    one: 1\n    three: 3\n",
        after: |text| {
            text.replace("  test:\n    one: 1\n    three", "    test:\n      one: 1\n      three")
        },
        block: "jobs.build",
        expected: ("modified", "3 lines"),
    },
    RespacedStory {
        name: "a Rust function is put into a module",
        path: "src/a.rs",
        before: "fn g() {\n    one();\n    two();\n}\n",
        after: |text| format!("mod m {{\n{}}}\n", indented(text)),
        block: "m.g",
        expected: ("reformatted", ""),
    },
];

/// Where indentation is syntax, a block that was only indented does something else.
#[test]
#[ignore = "slow"]
fn code_that_was_put_elsewhere_by_its_indentation_was_modified_by_who_did_it() {
    let mut wrong = String::new();
    for RespacedStory { name, path, before, after, block, expected } in RESPACED {
        let place = Place(Repo::new());
        place.write_to(path, 1, before);
        place.commit(&[]);
        place.write_to(path, 0, &after(before));
        for by in [", not committed yet", " by Test"] {
            let answer = intent_in(&place.0.root(), &["why", path, "--json"]).json();
            let blocks = answer["blocks"].as_array().expect("blocks");
            let found = blocks.iter().find(|one| one["qualified_name"] == *block);
            let Some(found) = found else { panic!("{name}: {answer}") };
            let line = format!("{path}:{}", found["start_line"]);
            let told = intent_in(&place.0.root(), &["why", &line]).out;
            let since = format!("since then {}{by}", expected.1);
            let is_told = expected.1.is_empty() || told.contains(&since);
            let (verdict, intent) = (&found["verdict"], &found["intent"]["id"]);
            // No other block is said to be the one that was recorded.
            let was = found["recorded"]["name"].as_str().unwrap_or_default();
            assert!(block.ends_with(was), "{name}: {was}");
            if *verdict != expected.0 || *intent != "INT-001" || !is_told {
                wrong += &format!("{name}: {verdict} {intent}, not {expected:?}\n{told}\n");
            }
            place.commit(&[]);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A clone without the history that says who brought a line says so, and names nobody.
#[test]
#[ignore = "slow"]
fn missing_history_is_said_and_never_another_name() {
    let place = Place(Repo::new());
    place.step(1, &f("one two"));
    place.step(2, &(f("one two") + &function("g", "x")));
    place.step(1, &(f("one zwei") + &function("g", "x")));
    place.write_to("src/b.rs", 0, &function("b", "b"));
    place.commit(&[]);
    assert_eq!(picture(&place.0.root(), FILE), "11122");
    let clones: [(&[&str], &str); 4] = [
        (&["--depth=1"], "?????"),
        (&["--depth=2"], "?????"),
        (&["--filter=blob:none"], "?????"),
        (&["--filter=tree:0"], "?????"),
    ];
    for (options, expected) in clones {
        let clone = cloned(&place.0, options);
        assert_eq!(picture(clone.path(), FILE), expected, "{options:?}");
        let said = intent_in(clone.path(), &["why", "--json", "--", FILE]).json();
        for block in said["blocks"].as_array().expect("blocks") {
            let told = (block["history_missing"].as_bool(), block["intent"].is_null());
            assert_eq!(told, (Some(true), true), "{options:?}: {block}");
        }
        let fetch = if options[0].starts_with("--depth") { "--unshallow" } else { "--no-filter" };
        for asked in [&["why", FILE][..], &["why", "--lines", FILE], &["why", "src/a.rs:1"]] {
            let told = intent_in(clone.path(), asked).out;
            let is_said = ["history is missing here", "history-missing: ", fetch]
                .into_iter()
                .all(|word| told.contains(word));
            assert!(is_said, "{options:?} {asked:?}: {told}");
        }
        let claim = ["record", "--me", "--all", "--yes", "--intent", "INT-001", FILE];
        for claim in [&claim[..], &[&claim[..], &["--lines", "1-2"]].concat()] {
            let told = intent_in(clone.path(), claim).out;
            let is_said = told.contains("history-missing: ") && told.contains(fetch);
            assert!(is_said && !told.contains("has a record"), "{options:?} {claim:?}: {told}");
        }
        assert_eq!(picture(clone.path(), FILE), expected, "{options:?}: nothing is claimed");
    }
    // Nobody is judged by what is missing.
    for options in ["--filter=blob:none", "--filter=tree:0"] {
        let clone = cloned(&place.0, &[options]);
        let check = |more: &[&str]| {
            intent_in(clone.path(), &[&["check", "--base", "HEAD~3"], more].concat())
        };
        for format in ["text", "json", "sarif", "junit", "gitlab", "github", "markdown"] {
            let told = check(&["--format", format, "--fail-on", "never"]);
            assert_eq!(told.code, 2, "{options} {format}: {}{}", told.out, told.err);
            let is_said =
                ["history-missing", "Nothing was judged", "git fetch --refetch --no-filter"]
                    .into_iter()
                    .all(|word| told.out.contains(word));
            assert!(is_said, "{options} {format}: {}", told.out);
        }
        assert_eq!(check(&["--write-baseline"]).code, 2);
        assert!(!clone.path().join(".orchestration/baseline.json").exists());
        let told = intent_in(clone.path(), &["why", "--json", "--removed", FILE]);
        assert_eq!((told.code, &told.json()["error"]["code"]), (2, &"history-missing".into()));
    }
}

/// A registry that a sparse checkout leaves out, and whose content a partial clone lacks, is none that does not exist.
#[test]
#[ignore = "slow"]
fn a_registry_that_this_clone_lacks_is_said_and_nothing_is_allowed() {
    let place = Place(Repo::new());
    place.step(1, &f("one two"));
    for more in [&[][..], &["--filter=tree:0"]] {
        let clone = cloned(&place.0, &[&["--filter=blob:none", "--sparse"], more].concat());
        for (asked, code) in [
            (&["list"][..], 2),
            (&["select", "INT-001"], 2),
            (&["status"], 0),
            (&["doctor"], 1),
            (&["check"], 2),
            (&["gate", "src/b.rs"], 1),
        ] {
            let told = intent_in(clone.path(), asked);
            let all = format!("{}{}", told.out, told.err);
            assert_eq!(told.code, code, "{more:?} {asked:?}: {all}");
            let is_said = all.contains("history-missing") && all.contains("git fetch --refetch");
            assert!(is_said && !all.contains("intent new"), "{more:?} {asked:?}: {all}");
        }
    }
}

/// An answer about all files says that history is missing, and no map is written or judged without it.
#[test]
#[ignore = "slow"]
fn answers_about_all_files_say_that_history_is_missing() {
    const MAP: &str = ".orchestration/intent_map.md";
    const SAID: &str = "nobody can tell who brought some lines of src/a.rs: commits are missing";
    let place = Place(Repo::new());
    place.0.write(".orchestration/policy.yaml", "map: committed\n");
    place.step(1, &f("one two"));
    place.step(2, &f("one two three"));
    assert_eq!(intent_in(&place.0.root(), &["map"]).code, 0);
    place.commit(&[]);
    place.step(0, &f("one two three four"));
    for option in ["--depth=1", "--depth=2", "--filter=blob:none", "--filter=tree:0"] {
        let clone = cloned(&place.0, &[option]);
        let asked = |arguments: &[&str]| {
            let told = intent_in(clone.path(), arguments);
            let fetch = if option.starts_with("--depth") { "--unshallow" } else { "--no-filter" };
            let all = format!("{}{}", told.out, told.err).replace('\\', "");
            assert!(!all.contains("has no recorded block"), "{option} {arguments:?}: {all}");
            assert!(all.contains(SAID) && all.contains(fetch), "{option} {arguments:?}: {all}");
            told.code
        };
        assert_eq!(asked(&["list", "--count"]), 0);
        let listed = intent_in(clone.path(), &["list", "--count", "--json"]).json();
        assert!(listed[0].get("id").is_some() && listed[0].get("lines").is_none(), "{listed}");
        assert_eq!(asked(&["--json", "report"]), 0);
        assert_eq!(asked(&["map", "--stdout"]), 2);
        assert_eq!(asked(&["--json", "map", "--stdout"]), 2);
        let report = intent_in(clone.path(), &["report", "--json"]).json();
        // The last commit brought one of the five lines.
        let unknown = report["summary"]["unknown"].as_u64();
        assert!(unknown.is_some_and(|lines| lines >= 4), "{report}");
        assert_eq!(asked(&["verify", "--blocks"]), 2);
        assert_eq!(asked(&["--json", "verify", "--blocks"]), 2);
        assert_eq!(asked(&["map", "--check"]), 2);
        assert_eq!(asked(&["map"]), 2);
        assert_eq!(asked(&["seal", "--hook", "pre-commit"]), 0);
        let map = std::fs::read_to_string(clone.path().join(MAP)).expect("a map");
        assert_eq!(map, place.0.read(MAP), "{option}");
    }
    // A line of a known commit has it, beside lines of which the history is missing.
    let clone = cloned(&place.0, &["--depth=2"]);
    let told = intent_in(clone.path(), &["why", "src/a.rs:1"]).out;
    assert!(told.contains("4 lines history is missing here, 1 line git: Test"), "{told}");
}

/// A change that only removed lines, and the acceptance of a block, bring no line by which their commit could be found.
#[test]
#[ignore = "slow"]
fn what_brings_no_line_is_sealed_late_too() {
    let place = Place(Repo::new());
    place.step(0, &(f("one two three") + &function("g", "x y")));
    place.write_to("src/b.rs", 1, &function("b", "b c"));
    place.write_to("src/gone.rs", 0, &function("gone", "x"));
    place.commit(&[]);
    place.write(2, &f("one three"));
    place.write_to("src/b.rs", 0, &function("b", "b d"));
    place.0.remove("src/gone.rs");
    place.0.record("INT-002", &["src/gone.rs"]);
    assert_eq!(intent_in(&place.0.root(), &["accept", "src/b.rs:1"]).code, 0);
    place.git(&["commit", "-qam", "without a hook"]);
    place.write_to("src/c.rs", 0, &function("c", "c"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qam", "another one"]);
    let told = || {
        let told = intent_in(&place.0.root(), &["check", "--json"]).json();
        let findings = told["findings"].as_array().expect("findings").iter();
        let missing = findings.filter(|finding| finding["code"] == "evidence-missing");
        missing.map(|finding| finding["message"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told().len(), 1, "{:?}", told());
    assert!(told()[0].contains("3 records"), "{:?}", told());
    let status = intent_in(&place.0.root(), &["status"]).out;
    assert!(status.contains("1 warning"), "{status}");
    place.commit(&[]);
    assert_eq!(told(), Vec::<String>::new());
    assert_eq!(evidence::seal::open(&place.open()).standing.len(), 0);
    assert!(place.open().journal.entries().is_empty());
    let fresh = cloned(&place.0, &[]);
    let said = intent_in(fresh.path(), &["why", "src/b.rs:1"]).out;
    assert!(said.contains("accepted as it stands"), "{said}");
    let named = intent_in(fresh.path(), &["trace", "--intent", "INT-002", "--json"]).out;
    assert!(named.contains("gone") && named.contains("\"g\""), "{named}");
    // What no hook saw is declared, an acceptance like a record.
    let all = intent_in(fresh.path(), &["trace", "--json"]).out;
    let declared = all.lines().filter(|row| row.contains("\"strength\":\"declared\""));
    let of_files = all.lines().filter(|row| row.contains("relative_path"));
    assert_eq!((declared.count(), of_files.count()), (4, 4), "{all}");
}

#[test]
fn what_was_removed_is_listed_with_its_commits() {
    let place = Place(Repo::new());
    let both = |one: &str| f(one) + &function("g", "x y");
    place.step(1, &both("one two three"));
    place.step(0, &both("one three"));
    place.step(2, &f("one three"));
    place.git(&["mv", FILE, "src/b.rs"]);
    place.commit(&[]);
    place.0.remove("src/b.rs");
    place.0.record("INT-001", &["src/b.rs"]);
    place.commit(&[]);
    let told =
        |path: &str| intent_in(&place.0.root(), &["why", path, "--removed", "--json"]).json();
    let listed = |path: &str| {
        let mut listed = String::new();
        for commit in told(path)["commits"].as_array().expect("commits") {
            let from = commit["path"].as_str().expect("a path");
            for part in commit["removed"].as_array().expect("parts") {
                let name = part["block"]["path"].as_str().expect("a block");
                let whole = if part["whole"] == true { "whole " } else { "" };
                let intent = part["intent"]["id"].as_str().unwrap_or("-");
                let lines = format!("{}-{}", part["start_line"], part["end_line"]);
                listed += &format!("{from} {whole}{name} {lines} {intent}\n");
            }
        }
        listed
    };
    let before = "src/a.rs whole g 5-8 INT-002\nsrc/a.rs f 3-3 -\n";
    let all = format!("src/b.rs whole f 1-4 INT-001\n{before}");
    assert_eq!(listed("src/b.rs"), all);
    assert_eq!(listed("HEAD~1:src/b.rs"), before);
    let text = intent_in(&place.0.root(), &["why", "src/b.rs", "--removed"]).out;
    assert!(text.contains("function g  INT-002 Billing"), "{text}");
    // The records of the file are those under all its paths, and what was removed stands below them.
    let traced = intent_in(&place.0.root(), &["trace", "src/b.rs"]).out;
    let (records, removed) = traced.split_once("\n\nremoved\n\n").expect("two parts");
    assert_eq!((records.lines().count(), removed), (3, &*text), "{traced}");
    let json = intent_in(&place.0.root(), &["trace", "--json", "src/b.rs"]).out;
    assert_eq!(json.lines().count(), 3, "{json}");
    let history = intent_in(&place.0.root(), &["why", "HEAD~1:src/b.rs", "--history"]).out;
    let then = intent_in(&place.0.root(), &["why", "HEAD~1:src/b.rs", "--removed"]).out;
    assert!(history.ends_with(&format!("\nremoved\n\n{then}")), "{history}");
}

/// Only a record that must have removed a line is named, in the file's history and in that of a block.
#[test]
#[ignore = "slow"]
fn who_removed_a_line_is_named_if_no_other_can_have_removed_it() {
    type Story<'a> = (&'a [(u32, &'a str)], &'a str);
    let stories: &[Story<'_>] = &[
        (&[(2, "one three four five")], "3-3 2"),
        (&[(2, "one four five")], "3-4 2"),
        (&[(0, "one three four five")], "3-3 -"),
        // The record may be about the new line alone, or about one of two removals.
        (&[(2, "one zwei three four five")], "3-3 -"),
        (&[(0, "one three four five"), (1, "one three four five six")], "3-3 -"),
        (&[(0, "one three four five"), (1, "one drei four five")], "3-4 -"),
        (&[(0, "one three four five"), (1, "one three five")], "3-3 - 5-5 -"),
        // Somebody changed the block after the record.
        (&[(1, "one three four five"), (0, "one three five")], "3-3 - 5-5 -"),
        (&[(1, "one three four five six"), (0, "one three four five")], "3-3 -"),
        (&[(1, "one three four five"), (2, "one three four five six")], "3-3 -"),
    ];
    for (steps, expected) in stories {
        let place = Place(Repo::new());
        place.step(0, &(f("one two three four five") + &function("g", "x y")));
        for (intent, statements) in *steps {
            let text = f(statements) + &function("g", "x y");
            match intent {
                0 => place.write(0, &text),
                intent => place.write_in_call(*intent, &text),
            }
        }
        place.commit(&[]);
        let (ws, path) = (place.open(), relative(FILE));
        let answer = why::removed::removed(&ws, &path).expect("an answer");
        let parts = answer.commits[0].removed.iter().map(|part| {
            let id = part.intent.as_ref().and_then(|intent| intent.id.chars().last());
            assert_eq!(part.by.is_some(), id.is_some(), "{steps:?}");
            format!("{}-{} {}", part.start_line, part.end_line, id.unwrap_or('-'))
        });
        assert_eq!(parts.collect::<Vec<_>>().join(" "), *expected, "{steps:?}");
        for (block, count) in [(answers::Which::Line(1), 1), (answers::Which::Block(1), 0)] {
            let blocks = answers::on_disk(&ws, &path, block).expect("an answer").blocks;
            let removed = why::removed::removed_from(&ws, &path, &blocks).expect("an answer");
            assert_eq!(removed.commits.len(), count, "{steps:?}");
        }
    }
}

#[test]
fn a_line_that_a_branch_removed_is_not_removed_by_the_merge() {
    let place = Place(Repo::new());
    place.step(0, &f("one two three four five"));
    place.branch("t", 0, &f("one two three four"));
    place.step(0, &f("two three four five"));
    place.git(&["merge", "-q", "-m", "m", "t"]);
    let told = intent_in(&place.0.root(), &["why", FILE, "--removed", "--json"]).json();
    let commits = told["commits"].as_array().expect("commits").iter();
    let lines = commits.map(|commit| commit["removed"][0]["start_line"].as_u64());
    assert_eq!(
        lines.collect::<std::collections::BTreeSet<_>>(),
        [Some(2), Some(6)].into(),
        "{told}"
    );
}

/// A person settles a conflict by dropping lines, or takes all of one side.
#[test]
fn what_a_merge_dropped_is_listed() {
    let place = Place(Repo::new());
    place.step(0, &f("one two three"));
    place.branch("t", 1, &f("one a guard two three"));
    place.branch("u", 1, &f("one two three four"));
    place.step(2, &f("one b watch two three"));
    conflict(&place, &f("one a b two three"));
    place.git(&["merge", "-q", "-s", "ours", "-m", "m", "u"]);
    let told = intent_in(&place.0.root(), &["why", FILE, "--removed", "--json"]).json();
    let commits = told["commits"].as_array().expect("commits").iter();
    let lines = commits.map(|commit| commit["removed"][0]["start_line"].as_u64());
    assert_eq!(lines.collect::<Vec<_>>(), [Some(5), Some(4), Some(4)], "{told}");
}

/// `git replace` changes what history says, so what was found before does not count.
#[test]
fn what_was_kept_does_not_outlive_a_replaced_commit() {
    let place = Place(Repo::new());
    for statements in ["one", "one two", "one two three"] {
        place.step(0, &f(statements));
    }
    let told = || intent_in(&place.0.root(), &["why", &format!("{FILE}:3")]).out;
    let second = place.0.git(&["rev-parse", "--short=10", "HEAD~1"]);
    let before = told();
    assert!(before.contains(second.trim()), "{before}");
    let shorter = ["commit-tree", "-m", "shorter", "-p", "HEAD~2", "HEAD^{tree}"];
    place.git(&["replace", "HEAD", place.0.git(&shorter).trim()]);
    assert!(!told().contains(second.trim()), "{}", told());
    place.git(&["replace", "-d", "HEAD"]);
    assert_eq!(told(), before);
}

/// Calls `change` with the bytes of each answer in a store of answers, and gives what it made of them a checksum.
fn plant(stored: &mut [u8], mut change: impl FnMut(&mut [u8])) {
    const RING: usize = 24 + (1 << 17) * 4;
    let number = |at: &[u8]| u32::from_le_bytes(*at.first_chunk().expect("a number")) as usize;
    let mut at = RING;
    while at < stored.len() {
        let (header, rest) = stored[at..].split_at_mut(24);
        let answer = &mut rest[..number(&header[20..])];
        at += 24 + answer.len();
        change(answer);
        let checksum = answer.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xEDB8_8320 * (sum & 1)))
        });
        header[16..20].copy_from_slice(&(!checksum).to_le_bytes());
    }
}

/// Whoever can write to the git directory can plant answers about history. They may be wrong, but do no harm.
#[test]
#[ignore = "slow"]
fn a_planted_answer_makes_no_question_fail() {
    let place = Place(Repo::new());
    place.step(1, &f("one two three"));
    place.step(0, &f("one four two three"));
    place.step(2, &[f("one four two three five"), function("g", "six seven")].concat());
    let store = place.0.root().join(".git/intent/cache/answers");
    let (path, ask) = (relative(FILE), || place.open().with_kept_answers());
    let told =
        |ws: &Workspace| answers::on_disk(ws, &path, answers::Which::All).expect("an answer");
    let wanted = serde_json::to_string(&told(&place.open())).expect("JSON");
    told(&ask());
    let kept = std::fs::read(&store).expect("a store");
    let mut longest = 0;
    plant(&mut kept.clone(), |answer| longest = longest.max(answer.len()));
    assert!(longest > 60, "{longest}");
    let bytes = sample_or_all(&[0, 0xff][..], &[0, 1, 6, 0x7f, 0xff]);
    for (at, byte) in (0..longest).flat_map(|at| bytes.iter().map(move |byte| (at, *byte))) {
        let mut planted = kept.clone();
        plant(&mut planted, |answer| answer.get_mut(at).into_iter().for_each(|it| *it = byte));
        std::fs::write(&store, planted).expect("planted");
        told(&ask());
        let decided = serde_json::to_string(&told(&place.open())).expect("JSON");
        assert_eq!(decided, wanted, "{at} {byte}");
    }
}
