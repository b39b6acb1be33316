//! The state of a shell during the walk, and how the states of several branches are merged.
//!
//! It is not known which branch of a condition runs, or how often a loop does. A variable to which
//! the branches give different values is therefore unknown afterwards, and so is the current folder
//! if they change it differently.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::bombs::floods;
use super::expand::{Arg, WordOrigin, WordPiece, unknown};
use super::judge;
use super::parse::{CaseArm, Script, ShellCommand, Word};
use super::walk::{Shell, StreamData};

/// The state of a loop may change in this many rounds. A loop that changes it in one more round
/// makes the text opaque.
pub(super) const MAX_LOOP_ROUNDS: usize = 4;

/// The elements of an array. A plain variable has one element.
pub(super) type Elements = Vec<Vec<WordPiece>>;

/// A variable that the text sets.
#[derive(Clone, PartialEq)]
pub(super) struct Variable {
    pub(super) elements: Elements,
    /// False if only some branches set the variable.
    pub(super) sure: bool,
}

#[derive(Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Rc<ShellCommand>,
    pub(super) called: bool,
    /// True if the function is certainly defined at this point of the walk.
    pub(super) sure: bool,
}

impl Function {
    /// Returns true if both are the same definition.
    fn same(&self, other: &Self) -> bool {
        self.name == other.name && Rc::ptr_eq(&self.body, &other.body)
    }
}

#[derive(Clone)]
pub(super) struct Alias {
    pub(super) name: String,
    pub(super) text: Arg,
    pub(super) used: bool,
    /// True while the alias's own text is walked. Inside it, the name means the program.
    pub(super) busy: bool,
}

/// The part of the state that a subshell gets a copy of.
#[derive(Clone, Default)]
pub(super) struct ShellState {
    pub(super) cwd: Option<String>,
    /// The folders that `popd` returns to.
    pub(super) stack: Vec<Option<String>>,
    pub(super) variables: BTreeMap<String, Variable>,
    /// The arguments of the running function, or those that `set` has set: `$1`, `$2`, ….
    pub(super) arguments: Option<Elements>,
    /// For each running function, its local variables with the values they had outside.
    pub(super) locals: Vec<Vec<(String, Option<Variable>)>>,
    /// Name references (`declare -n`): a name and the variable that it refers to.
    pub(super) references: Vec<(String, String)>,
    pub(super) functions: Vec<Function>,
    pub(super) aliases: Vec<Alias>,
    /// Code that `trap` registered to run when the shell ends.
    pub(super) traps: Vec<Arg>,
}

/// What a command leaves for later ones, even if it runs in a subshell.
#[derive(Clone, Default, PartialEq)]
pub(super) struct LastingEffects {
    /// Files that the same text has downloaded.
    pub(super) fetched: BTreeSet<String>,
    /// Files that contain the content of files of keys or passwords.
    pub(super) secrets: BTreeSet<String>,
    /// The git remotes that the same text has added.
    pub(super) remotes: BTreeSet<String>,
    /// The inputs that were opened as in `exec 3< FILE`, by the number of the descriptor.
    pub(super) descriptors: BTreeMap<u32, StreamData>,
    /// The numbers of the descriptors that are connections to another machine.
    pub(super) sockets: BTreeSet<u32>,
}

impl ShellState {
    /// Returns true if both states have the same folder, variables, arguments, references and
    /// functions, and the same number of aliases. A round of a loop is taken to do the same from
    /// both.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.cwd == other.cwd
            && self.arguments == other.arguments
            && self.variables == other.variables
            && self.references == other.references
            && self.functions.len() == other.functions.len()
            && self.functions.iter().zip(&other.functions).all(|(a, b)| a.same(b))
            && self.aliases.len() == other.aliases.len()
    }

    /// Reduces the state to what another process inherits. Arguments are not inherited. Only
    /// exported variables and functions are, but exports are not tracked. So every variable becomes
    /// unknown, and a call of a function may run the program of that name instead.
    pub(super) fn inherit(&mut self) {
        self.arguments = None;
        for (name, variable) in &mut self.variables {
            variable.elements = unsure(name, variable.elements.iter().flatten());
        }
        self.functions.iter_mut().for_each(|function| function.sure = false);
    }

    /// Merges the states of two branches, of which either may have run. A variable that only one
    /// branch sets keeps that value, but is not certain to have it.
    fn or(mut self, other: Self) -> Self {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        for (name, variable) in &mut self.variables {
            variable.sure &= other.variables.contains_key(name);
        }
        for (name, Variable { elements, sure }) in other.variables {
            match self.variables.get_mut(&name) {
                Some(before) => {
                    before.sure &= sure;
                    if before.elements != elements {
                        let pieces = before.elements.iter().chain(&elements).flatten();
                        before.elements = unsure(&name, pieces);
                    }
                }
                None => drop(self.variables.insert(name, Variable { elements, sure: false })),
            }
        }
        if self.arguments != other.arguments {
            let count = |given: Option<Elements>| given.map_or(0, |given| given.len());
            let most = count(self.arguments).max(count(other.arguments));
            self.arguments = Some((1..=most).map(|at| vec![unknown(format!("${at}"))]).collect());
        }
        for reference in other.references {
            if !self.references.contains(&reference) {
                self.references.push(reference);
            }
        }
        let there = |here: &[Function], one: &Function| {
            here.iter().any(|known| known.sure && known.same(one))
        };
        for function in &mut self.functions {
            function.sure &= there(&other.functions, function);
        }
        for mut function in other.functions {
            function.sure &= there(&self.functions, &function);
            match self.functions.iter_mut().find(|known| known.same(&function)) {
                Some(known) => known.called |= function.called,
                None => self.functions.push(function),
            }
        }
        for alias in other.aliases {
            let same = |known: &&mut Alias| known.name == alias.name && known.text == alias.text;
            match self.aliases.iter_mut().find(same) {
                Some(known) => known.used |= alias.used,
                None => self.aliases.push(alias),
            }
        }
        for trap in other.traps {
            if !self.traps.contains(&trap) {
                self.traps.push(trap);
            }
        }
        self
    }
}

/// Returns an unknown value for a variable that has one of several values.
fn unsure<'p>(name: &str, pieces: impl Iterator<Item = &'p WordPiece>) -> Elements {
    let origins = pieces.filter_map(|piece| match piece {
        WordPiece::Unknown { origin, .. } => Some(*origin),
        _ => None,
    });
    let origin = origins.max().unwrap_or(WordOrigin::Variable);
    vec![vec![WordPiece::Unknown { shown: format!("${name}"), origin }]]
}

impl Shell {
    /// Makes a variable local to the running function, and saves its value.
    pub(super) fn make_local(&mut self, name: &str) {
        let value = self.state.variables.get(name).cloned();
        if let Some(locals) = self.state.locals.last_mut() {
            locals.push((name.to_owned(), value));
        }
    }

    /// Continues with the merge of these states.
    pub(super) fn merge_all(&mut self, ends: Vec<ShellState>) {
        if let Some(state) = ends.into_iter().reduce(ShellState::or) {
            self.state = state;
        }
    }

    /// Continues with the merge of the current state and that of another branch.
    pub(super) fn merge_with(&mut self, other: Option<ShellState>) {
        if let Some(other) = other {
            let here = std::mem::take(&mut self.state);
            self.state = here.or(other);
        }
    }

    /// Walks conditions and their branches, which come in pairs, then an `else` branch if there is
    /// one, and merges the states.
    pub(super) fn branches(&mut self, parts: &[Script]) {
        let mut ends = Vec::new();
        let mut pairs = parts.chunks_exact(2);
        for pair in &mut pairs {
            self.script(&pair[0]);
            let before = self.state.clone();
            self.script(&pair[1]);
            let functions = self.state.functions.clone();
            ends.push(std::mem::replace(&mut self.state, before));
            self.mark_called(&functions);
        }
        for rest in pairs.remainder() {
            self.script(rest);
        }
        ends.push(std::mem::take(&mut self.state));
        self.merge_all(ends);
    }

    /// Walks a loop until a round ends in a state that occurred before, and adds no lasting effect.
    /// In `while :; do sh x; curl -o x URL; done`, the second round runs what the first one
    /// downloaded.
    pub(super) fn repeated(&mut self, parts: &[Script]) {
        if floods(parts) {
            self.note(judge::destructive_rule("fork-bomb", "&"));
        }
        let mut ends = vec![self.state.clone()];
        for round in 0.. {
            let before = self.lasting.clone();
            for part in parts {
                self.script(part);
            }
            if self.lasting == before && ends.iter().any(|end| end.same(&self.state)) {
                break;
            }
            if round == MAX_LOOP_ROUNDS {
                self.unproven("while");
                break;
            }
            ends.push(self.state.clone());
        }
        ends.push(std::mem::take(&mut self.state));
        self.merge_all(ends);
    }

    /// Walks the arms of a `case`, and merges their states. Without an arm for `*`, possibly no arm
    /// runs, so the state before the arms is merged too. An arm may run after each earlier arm that
    /// ends in `;&` or `;;&`.
    pub(super) fn arms(&mut self, subject: &Word, arms: &[CaseArm]) {
        self.single(subject);
        let mut ends = Vec::new();
        let mut fallen: Option<ShellState> = None;
        let mut has_default = false;
        for arm in arms {
            for pattern in &arm.patterns {
                self.single(pattern);
                has_default |= pattern.raw == "*";
            }
            let before = self.state.clone();
            self.merge_with(fallen.clone());
            self.script(&arm.body);
            if arm.falls_through {
                fallen = fallen.into_iter().chain([self.state.clone()]).reduce(ShellState::or);
            }
            ends.push(std::mem::replace(&mut self.state, before));
        }
        if !has_default {
            ends.push(self.state.clone());
        }
        self.merge_all(ends);
    }

    /// Marks the functions that a branch has called, so that they count as called in every branch.
    fn mark_called(&mut self, functions: &[Function]) {
        for function in &mut self.state.functions {
            function.called |= functions.iter().any(|known| known.called && known.same(function));
        }
    }

    /// Ends a subshell: runs its traps and restores the state from before. Functions are kept,
    /// because it matters later whether they were called.
    pub(super) fn leave(&mut self, before: ShellState) {
        let inherited = before.traps.len();
        self.state.traps.drain(..inherited.min(self.state.traps.len()));
        self.run_traps();
        let mut functions = std::mem::take(&mut self.state.functions);
        for function in &mut functions {
            function.sure &= before.functions.iter().any(|known| known.same(function));
        }
        // A function that the subshell redefined still exists outside it.
        for known in &before.functions {
            if !functions.iter().any(|here| here.same(known)) {
                functions.push(known.clone());
            }
        }
        self.state = ShellState { functions, ..before };
    }

    /// Walks the code that `trap` registered, in the state at the end of the shell. The shell may
    /// run it earlier, when variables and functions are different.
    pub(super) fn run_traps(&mut self) {
        for code in std::mem::take(&mut self.state.traps) {
            if code.text.contains(['$', '`']) || !self.bodies.is_empty() {
                self.note(judge::opaque("expansion", &code.text));
            }
            self.via.push("trap".to_owned());
            self.code(&code, "trap");
            self.via.pop();
        }
    }

    /// Marks an alias as running, or as no longer running.
    pub(super) fn busy(&mut self, name: &str, busy: bool) {
        for alias in self.state.aliases.iter_mut().filter(|alias| alias.name == name) {
            alias.busy = busy;
        }
    }
}
