//! Agents, people and formatters work on a real git repository and use it in many ways. A model that knows only who
//! wrote which text checks after each step that `why` names no intent that did not ask for the code.
//!
//! `INTENT_FUZZ_SEED` runs other stories, `INTENT_TEST_ALL` more of them, and `INTENT_FUZZ_RUNS` sets their number.

use judgement::judged_record;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use ::code::BlockKind;
use evidence::record;
use why::{Workspace, answers};

use crate::model::code::{self, Fresh, Function, Layout};
use crate::model::tree::Tree;
use crate::model::{Book, Known};
use crate::mutate::chance::{Chance, from_environment};
use crate::support::{relative, sample_or_all, temporary_folder};

const SEED: u64 = 77;
const RUNS: u64 = 12;
const SHORT: u64 = 2;
const STEPS: usize = 30;
/// The smallest share of those blocks that must be attributed correctly of which an intent has most lines.
const FLOOR: f64 = 0.98;

const INTENTS: [&str; 3] = ["INT-001", "INT-002", "INT-003"];

const REGISTRY: &str = "\
active_intents:
  - id: INT-001
    name: One
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
  - id: INT-002
    name: Two
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
  - id: INT-003
    name: Three
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
";

/// A repository with its history, and the model's book of who wrote which text.
struct Story {
    _folder: tempfile::TempDir,
    trees: Vec<Tree>,
    /// The index of the work tree in use.
    here: usize,
    book: Book,
    fresh: Fresh,
    chance: Chance,
    told: Vec<String>,
    branches: usize,
    wanted: usize,
    found: usize,
    missed: Vec<String>,
    /// What went wrong within a step, before its end.
    wrong_before: String,
}

type Deed = fn(&mut Story) -> Option<String>;

/// The possible steps, each with its relative frequency.
const DEEDS: &[(usize, Deed)] = &[
    (8, Story::work_recorded),
    (3, Story::work_unrecorded),
    (2, Story::format),
    (2, Story::rename),
    (2, Story::reorder),
    (3, Story::move_to_file),
    (2, Story::rename_file),
    (2, Story::copy),
    (1, Story::delete),
    (2, Story::two_agents),
    (4, Story::commit),
    (1, Story::amend),
    (2, Story::branch),
    (3, Story::switch),
    (3, Story::merge),
    (2, Story::rebase),
    (1, Story::squash_merge),
    (1, Story::squash_rebase),
    (1, Story::cherry_pick),
    (1, Story::revert),
    (1, Story::stash),
    (1, Story::reset),
    (1, Story::other_tree),
    (1, Story::both_moved),
];

impl Story {
    fn new(seed: u64) -> Self {
        let folder = temporary_folder();
        let root = folder.path().canonicalize().expect("it exists").join("main");
        let control = root.join(".orchestration");
        std::fs::create_dir_all(&control).expect("folders");
        std::fs::write(control.join("active_intents.yaml"), REGISTRY).expect("a file");
        std::fs::write(
            control.join(".gitignore"),
            "/active_intent_current.json\n/agent_trace/open/\n/local/\n",
        )
        .expect("a file");
        let tree = Tree { root };
        assert!(tree.git(&["init", "-q", "-b", "main"]));
        tree.put_in_hooks();
        let mut story = Self {
            _folder: folder,
            trees: vec![tree],
            here: 0,
            book: Book::default(),
            fresh: Fresh::default(),
            chance: Chance::new(seed),
            told: Vec::new(),
            branches: 0,
            wanted: 0,
            found: 0,
            missed: Vec::new(),
            wrong_before: String::new(),
        };
        for path in ["src/a.rs", "src/b.rs", "src/deep/c.rs", "src/d.py", "src/e.py"] {
            story.begin(path);
        }
        for (path, intent) in ["src/a.rs", "src/deep/c.rs", "src/d.py"].into_iter().zip(INTENTS) {
            Self::record(&story.tree(), intent, path);
            story.claimed(path, intent);
        }
        assert!(story.tree().commit("start"));
        story
    }

    fn tree(&self) -> Tree {
        self.trees[self.here].clone()
    }

    /// Creates a file with some functions.
    fn begin(&mut self, path: &str) {
        let mut functions = Vec::new();
        for _ in 0..4 {
            let function = self.fresh.function(&mut self.chance);
            let text = function.text(path);
            self.book.wrote(&text, path, &BTreeSet::new());
            functions.push((function.name, text));
        }
        self.tree().write(path, &functions);
    }

    fn some_path(&mut self) -> Option<String> {
        let paths = self.tree().paths();
        self.chance.pick(&paths).cloned()
    }

    fn some_intent(&mut self) -> &'static str {
        INTENTS[self.chance.below(INTENTS.len())]
    }

    /// Draws a file without a merge conflict, and returns its functions.
    fn some_file(&mut self) -> Option<(String, Vec<(String, String)>)> {
        let path = self.some_path()?;
        let functions = self.tree().functions(&path)?;
        (!functions.is_empty()).then_some((path, functions))
    }

    /// Returns the lines that a file has at `HEAD`. None, if its functions stand in another order now: which of them
    /// count as moved depends on how the texts are compared.
    fn committed_lines(&self, path: &str) -> BTreeSet<String> {
        let tree = self.tree();
        let committed = tree.committed(path);
        let now = tree.functions(path).unwrap_or_default();
        let names = |one: &[(String, String)], other: &[(String, String)]| -> Vec<String> {
            let is_there = |name: &String| other.iter().any(|(there, _)| there == name);
            one.iter().map(|(name, _)| name.clone()).filter(is_there).collect()
        };
        if names(&committed, &now) != names(&now, &committed) {
            return BTreeSet::new();
        }
        committed.iter().flat_map(|(_, text)| code::squeezed_lines(text)).collect()
    }

    /// Adds, changes or removes a function. Returns the functions that were written.
    fn work(&mut self, path: &str) -> Option<Vec<(String, String)>> {
        let tree = self.tree();
        let mut functions = tree.functions(path)?;
        let committed = self.committed_lines(path);
        let at = self.chance.below(functions.len());
        let mut written = Vec::new();
        match self.chance.below(8) {
            0 | 1 => {
                let function = self.fresh.function(&mut self.chance);
                let text = function.text(path);
                self.book.wrote(&text, path, &committed);
                written.push((function.name, text));
                functions.insert(at, written[0].clone());
            }
            2 if functions.len() > 2 => {
                functions.remove(at);
            }
            _ => {
                let (name, old) = functions[at].clone();
                let new = self.fresh.changed(&Function::parse(&old)?, &mut self.chance);
                let text = new.text(path);
                self.book.wrote(&text, path, &committed);
                written.push((name, text));
                functions[at] = written[0].clone();
            }
        }
        tree.write(path, &functions);
        Some(written)
    }

    /// Notes in the book what a record of the file claims.
    fn claimed(&mut self, path: &str, intent: &str) {
        let committed = self.committed_lines(path);
        for (_, text) in self.tree().functions(path).unwrap_or_default() {
            self.book.recorded(&text, path, intent, &committed);
        }
    }

    fn record(tree: &Tree, intent: &str, path: &str) {
        let request = record::RecordRequest {
            paths: vec![relative(path)],
            intent: Some(intent.to_owned()),
            agent: Some("test-agent".to_owned()),
            ..record::RecordRequest::default()
        };
        let workspace =
            Workspace::open(&tree.root, &ground::Environment::of_process()).expect("a workspace");
        judged_record::record(&workspace, &request).expect("recorded");
    }

    fn work_recorded(&mut self) -> Option<String> {
        let (path, _) = self.some_file()?;
        let intent = self.some_intent();
        let written = self.work(&path)?;
        Self::record(&self.tree(), intent, &path);
        self.claimed(&path, intent);
        Some(format!("{intent} works on {path} ({})", names(&written)))
    }

    fn work_unrecorded(&mut self) -> Option<String> {
        let (path, _) = self.some_file()?;
        let written = self.work(&path)?;
        Some(format!("somebody works on {path} ({})", names(&written)))
    }

    /// Two agents change two files and record them at the same time.
    fn two_agents(&mut self) -> Option<String> {
        let (one, _) = self.some_file()?;
        let (other, _) = self.some_file()?;
        if one == other {
            return None;
        }
        let (first, second) = (self.work(&one)?, self.work(&other)?);
        let tree = self.tree();
        std::thread::scope(|scope| {
            scope.spawn(|| Self::record(&tree, INTENTS[0], &one));
            scope.spawn(|| Self::record(&tree, INTENTS[1], &other));
        });
        self.claimed(&one, INTENTS[0]);
        self.claimed(&other, INTENTS[1]);
        Some(format!(
            "two agents work on {one} ({}) and {other} ({})",
            names(&first),
            names(&second)
        ))
    }

    fn format(&mut self) -> Option<String> {
        let (path, functions) = self.some_file()?;
        let layout = Layout::by_chance(&mut self.chance);
        let mut laid_out = Vec::new();
        for (name, text) in functions {
            let Some(function) = Function::parse(&text) else {
                laid_out.push((name, text));
                continue;
            };
            // A statement that is broken over lines goes on to where it was only if nothing else changed beside it.
            if function.layout.broken != layout.broken {
                self.book.may_be_lost(&text);
            }
            let new = Function { layout, ..function }.text(&path);
            laid_out.push((name, new));
        }
        self.tree().write(&path, &laid_out);
        Some(format!("{path} is formatted"))
    }

    fn rename(&mut self) -> Option<String> {
        let (path, mut functions) = self.some_file()?;
        let at = self.chance.below(functions.len());
        let (old, text) = functions[at].clone();
        let function = Function::parse(&text)?;
        let name = format!("renamed_{}", self.fresh.next());
        let new = Function { name: name.clone(), ..function }.text(&path);
        self.book.wrote(&new, &path, &self.committed_lines(&path));
        functions[at] = (name.clone(), new);
        self.tree().write(&path, &functions);
        if self.chance.once_in(2) {
            let intent = self.some_intent();
            Self::record(&self.tree(), intent, &path);
            self.claimed(&path, intent);
            return Some(format!("{intent} renames {old} in {path} to {name}"));
        }
        Some(format!("somebody renames {old} in {path} to {name}"))
    }

    fn reorder(&mut self) -> Option<String> {
        let (path, functions) = self.some_file()?;
        let functions = self.chance.shuffled(functions);
        self.tree().write(&path, &functions);
        Some(format!("{path} is put in another order"))
    }

    fn move_to_file(&mut self) -> Option<String> {
        let (path, mut functions) = self.some_file()?;
        let other = self.another(&path)?;
        let mut theirs = self.tree().functions(&other)?;
        let moved = functions.remove(self.chance.below(functions.len()));
        let name = moved.0.clone();
        theirs.insert(self.chance.below(theirs.len() + 1), moved);
        self.tree().write(&path, &functions);
        self.tree().write(&other, &theirs);
        Some(format!("{name} goes from {path} to {other}"))
    }

    /// Draws another file of the same language.
    fn another(&mut self, path: &str) -> Option<String> {
        let ending = &path[path.rfind('.')?..];
        let mut others = self.tree().paths();
        others.retain(|other| other != path && other.ends_with(ending));
        self.chance.pick(&others).cloned()
    }

    fn rename_file(&mut self) -> Option<String> {
        let path = self.some_path()?;
        let ending = &path[path.rfind('.')?..];
        let new = format!("src/file_{}{ending}", self.fresh.next());
        self.tree().git(&["mv", &path, &new]).then(|| format!("{path} is renamed to {new}"))
    }

    fn copy(&mut self) -> Option<String> {
        let (path, functions) = self.some_file()?;
        let (old, text) = self.chance.pick(&functions)?.clone();
        let name = format!("copied_{}", self.fresh.next());
        let function = Function { name: name.clone(), ..Function::parse(&text)? };
        let into = if self.chance.once_in(2) { path.clone() } else { self.another(&path)? };
        let new = function.text(&into);
        self.book.copied(&text);
        self.book.wrote(&new, &into, &self.committed_lines(&into));
        let mut theirs = self.tree().functions(&into)?;
        theirs.insert(self.chance.below(theirs.len() + 1), (name.clone(), new));
        self.tree().write(&into, &theirs);
        Some(format!("{old} of {path} is copied to {into} as {name}"))
    }

    fn delete(&mut self) -> Option<String> {
        let (path, mut functions) = self.some_file()?;
        let (name, _) = functions.remove(self.chance.below(functions.len()));
        self.tree().write(&path, &functions);
        Some(format!("{name} goes from {path}"))
    }

    fn commit(&mut self) -> Option<String> {
        self.tree().commit("work").then(|| "commit".to_owned())
    }

    fn amend(&mut self) -> Option<String> {
        let tree = self.tree();
        tree.git(&["add", "-A"]);
        tree.git(&["commit", "-q", "--amend", "--no-edit", "--allow-empty"])
            .then(|| "amend".to_owned())
    }

    fn branch(&mut self) -> Option<String> {
        self.branches += 1;
        let name = format!("branch-{}", self.branches);
        self.tree().git(&["switch", "-qc", &name]).then(|| format!("switch -c {name}"))
    }

    fn some_branch(&mut self) -> Option<String> {
        let tree = self.tree();
        let all = tree.told(&["branch", "--format=%(refname:short)"]);
        let current = tree.told(&["branch", "--show-current"]);
        let others: Vec<&str> =
            all.lines().filter(|name| *name != current && name.contains(['-', 'm'])).collect();
        self.chance.pick(&others).map(|name| (*name).to_owned())
    }

    /// Notes that lines which the last commit brought may have no origin any more. A revert brings lines again, and a
    /// squash may break the runs of lines that evidence names.
    fn lost_in_commit(&mut self) {
        let tree = self.tree();
        for path in tree.paths() {
            let before = code::squeezed_lines(&tree.told(&["show", &format!("HEAD~1:{path}")]));
            for (_, text) in tree.functions(&path).unwrap_or_default() {
                self.book.may_be_lost_of(&text, &before);
            }
        }
    }

    /// Commits everything, because most git commands need a clean work tree.
    fn settle(&mut self) {
        if !self.chance.once_in(4) {
            self.tree().commit("before what comes");
        }
    }

    fn switch(&mut self) -> Option<String> {
        self.settle();
        let name = self.some_branch()?;
        self.tree().git(&["switch", "-q", &name]).then(|| format!("switch {name}"))
    }

    fn merge(&mut self) -> Option<String> {
        self.settle();
        let name = self.some_branch()?;
        self.merged(&name)
    }

    fn merged(&mut self, name: &str) -> Option<String> {
        let tree = self.tree();
        let side = if self.chance.once_in(2) { "ours" } else { "theirs" };
        for strategy in
            [&["merge", "-q", "-m", "merge"][..], &["merge", "-q", "-m", "merge", "-X", side]]
        {
            if tree.git(&[strategy, &[name]].concat()) {
                return Some(format!("merge {name}"));
            }
            tree.git(&["merge", "--abort"]);
        }
        None
    }

    fn rebase(&mut self) -> Option<String> {
        self.settle();
        let name = self.some_branch()?;
        let tree = self.tree();
        if tree.git(&["rebase", "-q", "-X", "theirs", &name]) {
            return Some(format!("rebase {name}"));
        }
        tree.git(&["rebase", "--abort"]);
        None
    }

    fn squash_merge(&mut self) -> Option<String> {
        self.settle();
        let name = self.some_branch()?;
        let tree = self.tree();
        if tree.git(&["merge", "-q", "--squash", &name]) {
            tree.commit("squashed");
            self.lost_in_commit();
            return Some(format!("merge --squash {name}"));
        }
        tree.git(&["reset", "-q", "--merge"]);
        None
    }

    fn squash_rebase(&mut self) -> Option<String> {
        self.settle();
        let tree = self.tree();
        if tree.git(&["rebase", "-q", "-i", "HEAD~3"]) {
            self.lost_in_commit();
            return Some("rebase -i HEAD~3, squashed".to_owned());
        }
        tree.git(&["rebase", "--abort"]);
        None
    }

    fn cherry_pick(&mut self) -> Option<String> {
        self.settle();
        let name = self.some_branch()?;
        let tree = self.tree();
        if tree.git(&["cherry-pick", "--allow-empty", &name]) {
            return Some(format!("cherry-pick {name}"));
        }
        tree.git(&["cherry-pick", "--abort"]);
        None
    }

    fn revert(&mut self) -> Option<String> {
        self.settle();
        let tree = self.tree();
        let commit = format!("HEAD~{}", self.chance.below(3));
        if tree.git(&["revert", "--no-edit", &commit]) {
            self.lost_in_commit();
            return Some(format!("revert {commit}"));
        }
        tree.git(&["revert", "--abort"]);
        None
    }

    fn stash(&mut self) -> Option<String> {
        let tree = self.tree();
        let untracked = self.chance.once_in(2);
        let push =
            if untracked { &["stash", "push", "-q", "-u"][..] } else { &["stash", "push", "-q"] };
        if !tree.git(push) {
            return None;
        }
        let wrong = self.wrong();
        if !wrong.is_empty() {
            self.wrong_before = format!("  while the rest is stashed:\n{wrong}");
        }
        if !tree.git(&["stash", "pop", "-q"]) {
            tree.git(&["reset", "-q", "--hard"]);
            tree.git(&["stash", "drop", "-q"]);
        }
        Some("stash and pop".to_owned())
    }

    fn reset(&mut self) -> Option<String> {
        let to = if self.chance.once_in(2) { "HEAD" } else { "HEAD~1" };
        self.tree().git(&["reset", "-q", "--hard", to]).then(|| format!("reset --hard {to}"))
    }

    /// Goes on in another work tree of the same repository.
    fn other_tree(&mut self) -> Option<String> {
        if self.trees.len() == 1 {
            let root = self.trees[0].root.with_file_name("second");
            let name = root.to_string_lossy().into_owned();
            if !self.trees[0].git(&["worktree", "add", "-q", "-b", "second-tree", &name]) {
                return None;
            }
            self.trees.push(Tree { root });
        }
        self.here = 1 - self.here;
        Some(format!("the work goes on in tree {}", self.here))
    }

    /// Two branches move the same function to different files, and are merged.
    fn both_moved(&mut self) -> Option<String> {
        let tree = self.tree();
        tree.commit("before both move");
        let current = tree.told(&["branch", "--show-current"]);
        let (path, functions) = self.some_file()?;
        let (one, other) = (self.another(&path)?, self.another(&path)?);
        let moved = self.chance.pick(&functions)?.clone();
        let rest: Vec<_> = functions.into_iter().filter(|it| *it != moved).collect();
        if current.is_empty() || rest.is_empty() {
            return None;
        }
        self.branches += 1;
        let side = format!("branch-{}", self.branches);
        for (target, switch) in [(&one, Some(&side)), (&other, None)] {
            match switch {
                Some(side) => tree.git(&["switch", "-qc", side]),
                None => tree.git(&["switch", "-q", &current]),
            };
            let mut theirs = tree.functions(target)?;
            theirs.push(moved.clone());
            tree.write(&path, &rest);
            tree.write(target, &theirs);
            tree.commit("moved");
        }
        self.merged(&side);
        Some(format!("{} goes from {path} to {one} on {side}, to {other} here; merge", moved.0))
    }

    /// Draws a step and takes it.
    fn step(&mut self) -> Option<String> {
        self.book.begin_step();
        let all: usize = DEEDS.iter().map(|(often, _)| often).sum();
        let mut drawn = self.chance.below(all);
        for (often, deed) in DEEDS {
            match drawn.checked_sub(*often) {
                None => return deed(self),
                Some(rest) => drawn = rest,
            }
        }
        None
    }

    /// Returns the wrong answers of `why` in the work tree in use.
    fn wrong(&mut self) -> String {
        let tree = self.tree();
        let workspace =
            Workspace::open(&tree.root, &ground::Environment::of_process()).expect("a workspace");
        let mut told = String::new();
        for path in tree.paths() {
            let document = workspace.read(&relative(&path)).expect("readable");
            let text = document.text();
            if crate::model::code::functions(&text).is_none() {
                continue;
            }
            let file = answers::file(&workspace, &relative(&path), &document);
            for (block, found) in file.blocks.blocks.iter().zip(&file.provenance) {
                if block.identity.kind != BlockKind::Function {
                    continue;
                }
                let known = self.book.about(&text[block.bytes.clone()]);
                let named: BTreeSet<String> = found
                    .claim
                    .iter()
                    .chain(&found.candidates)
                    .filter_map(|claim| claim.intent().map(str::to_owned))
                    .collect();
                if !named.is_subset(&known.may) {
                    writeln!(
                        told,
                        "  {path}: {} is {} of {named:?}, in truth {:?}",
                        block.name,
                        found.verdict.as_str(),
                        known.may
                    )
                    .expect("a string");
                    for claim in found.claim.iter().chain(&found.candidates) {
                        let (path, commit) = (&claim.path, &claim.commit);
                        writeln!(told, "    by {commit:?} in {path}").expect("a string");
                    }
                }
                self.count(&path, &block.name, &known, &named);
            }
        }
        told
    }

    fn count(&mut self, path: &str, name: &str, known: &Known, named: &BTreeSet<String>) {
        let Some(must) = &known.must else { return };
        self.wanted += 1;
        if named.iter().eq([must]) {
            self.found += 1;
        } else {
            let step = self.told.last().map_or("", String::as_str);
            let at = format!("{path} {name}: {named:?}, not {must}");
            if !self.missed.iter().any(|known| known.ends_with(&at)) {
                self.missed.push(format!("step {}, {step}: {at}", self.told.len()));
            }
        }
    }

    fn history(&self) -> String {
        let steps = self.told.iter().enumerate();
        steps.map(|(at, step)| format!("  {}. {step}\n", at + 1)).collect()
    }
}

fn names(written: &[(String, String)]) -> String {
    written.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Runs the story of a seed. Returns what went wrong, the number of blocks that had to be found, the number found, and
/// those missed.
fn story(seed: u64, steps: usize) -> (Option<String>, usize, usize, Vec<String>) {
    let mut story = Story::new(seed);
    let mut failure = None;
    while story.told.len() < steps {
        let Some(told) = story.step() else { continue };
        story.told.push(told);
        let wrong = std::mem::take(&mut story.wrong_before) + &story.wrong();
        if !wrong.is_empty() {
            failure = Some(format!("story {seed}:\n{}{wrong}", story.history()));
            break;
        }
    }
    (failure, story.wanted, story.found, story.missed)
}

#[test]
#[ignore = "slow"]
fn no_git_command_makes_why_name_a_wrong_intent() {
    let seed = from_environment("INTENT_FUZZ_SEED", SEED);
    let runs = from_environment("INTENT_FUZZ_RUNS", sample_or_all(SHORT, RUNS));
    let half = |first: u64| -> Vec<_> {
        (first..runs).step_by(2).map(|run| story(seed * 1000 + run, STEPS)).collect()
    };
    let mut all = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        let mut all = half(0);
        all.extend(other.join().expect("the other half ends"));
        all
    });
    let failures: Vec<String> = all.iter_mut().filter_map(|(failure, ..)| failure.take()).collect();
    let wanted: usize = all.iter().map(|(_, wanted, ..)| wanted).sum();
    let found: usize = all.iter().map(|(_, _, found, _)| found).sum();
    let missed: Vec<&String> = all.iter().flat_map(|(.., missed)| missed).take(30).collect();
    let share = found as f64 / wanted.max(1) as f64;
    let told = format!(
        "{}\nnot found: {missed:#?}\nseed {seed}: {} of {runs} stories went wrong, {share:.3} of {wanted} found",
        failures.join("\n"),
        failures.len(),
    );
    println!("{told}");
    assert!(failures.is_empty(), "{told}");
    assert!(share >= FLOOR, "{told}");
}
