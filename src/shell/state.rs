//! What a shell keeps while it goes on, and what is left of it where ways part.
//!
//! Of a condition or a loop nobody knows which way is taken: a variable that
//! the ways leave with different values is not known afterwards, and neither is
//! the folder.

use std::rc::Rc;

use super::expand::{Arg, WordOrigin, WordPiece};
use super::parse::{Script, ShellCommand, Word};
use super::walk::Shell;

/// A loop that has not come to rest after so many rounds is not followed.
const MAX_ROUNDS: usize = 4;

/// The values of an array; a plain variable has one.
pub(super) type Elements = Vec<Vec<WordPiece>>;

#[derive(Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Rc<ShellCommand>,
    pub(super) heredocs: Rc<[Word]>,
    pub(super) called: bool,
    /// It surely is defined where the walk has come to.
    pub(super) sure: bool,
}

impl Function {
    /// Whether it is the same definition.
    fn same(&self, other: &Self) -> bool {
        self.name == other.name && Rc::ptr_eq(&self.body, &other.body)
    }
}

#[derive(Clone)]
pub(super) struct Alias {
    pub(super) name: String,
    pub(super) text: Arg,
    pub(super) used: bool,
    /// Its own text is being run: the name in there is the program.
    pub(super) busy: bool,
}

/// What a subshell gets a copy of.
#[derive(Clone, Default)]
pub(super) struct ShellState {
    pub(super) cwd: Option<String>,
    /// Where `popd` goes back to.
    pub(super) stack: Vec<Option<String>>,
    pub(super) variables: Vec<(String, Elements)>,
    /// What the functions that are running hide: names with the values they had.
    pub(super) locals: Vec<Vec<(String, Option<Elements>)>>,
    /// Second names of variables (`declare -n`).
    pub(super) names: Vec<(String, String)>,
    pub(super) functions: Vec<Function>,
    pub(super) aliases: Vec<Alias>,
    /// Code that runs when the shell ends.
    pub(super) traps: Vec<Arg>,
}

impl ShellState {
    /// Whether a shell would go on alike from here and from there.
    fn same(&self, other: &Self) -> bool {
        self.cwd == other.cwd
            && self.variables == other.variables
            && self.names == other.names
            && self.functions.len() == other.functions.len()
            && self.functions.iter().zip(&other.functions).all(|(a, b)| a.same(b))
            && self.aliases.len() == other.aliases.len()
    }

    /// What another process is given: variables and functions only where they were exported, which is not followed. So a
    /// variable is not known, and a function may be the program of that name.
    pub(super) fn inherit(&mut self) {
        for (name, value) in &mut self.variables {
            *value = unsure(name, value.iter().flatten());
        }
        self.functions.iter_mut().for_each(|function| function.sure = false);
    }

    /// What holds whichever of two ways was taken. A variable that one of them leaves unset has the other's value.
    fn or(mut self, other: Self) -> Self {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        for (name, value) in other.variables {
            match self.variables.iter_mut().find(|(known, _)| *known == name) {
                Some((_, before)) if *before == value => {}
                Some((_, before)) => *before = unsure(&name, before.iter().chain(&value).flatten()),
                None => self.variables.push((name, value)),
            }
        }
        self.names.extend(other.names);
        self.names.dedup();
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

/// A value that is one of several.
fn unsure<'p>(name: &str, pieces: impl Iterator<Item = &'p WordPiece>) -> Elements {
    let origins = pieces.filter_map(|piece| match piece {
        WordPiece::Unknown { origin, .. } => Some(*origin),
        _ => None,
    });
    let origin = origins.max().unwrap_or(WordOrigin::Variable);
    vec![vec![WordPiece::Unknown { shown: format!("${name}"), origin }]]
}

impl Shell<'_> {
    /// A name that is the running function's own from now on.
    pub(super) fn hides(&mut self, name: &str) {
        let value = self.state.variables.iter().find(|(known, _)| *known == name);
        let value = value.map(|(_, value)| value.clone());
        if let Some(locals) = self.state.locals.last_mut() {
            locals.push((name.to_owned(), value));
        }
    }

    /// Goes on with what all of these have in common.
    pub(super) fn joined(&mut self, ends: Vec<ShellState>) {
        if let Some(state) = ends.into_iter().reduce(ShellState::or) {
            self.state = state;
        }
    }

    /// Goes on with what holds here and in the other way that may have been taken.
    pub(super) fn either(&mut self, other: Option<ShellState>) {
        if let Some(other) = other {
            let here = std::mem::take(&mut self.state);
            self.state = here.or(other);
        }
    }

    /// Conditions and the branches behind them, and at the end the one that is left.
    pub(super) fn branches(&mut self, parts: &[Script], heredocs: &[Word]) {
        let mut ends = Vec::new();
        let mut pairs = parts.chunks_exact(2);
        for pair in &mut pairs {
            self.script(&pair[0], heredocs);
            let before = self.state.clone();
            self.script(&pair[1], heredocs);
            let functions = self.state.functions.clone();
            ends.push(std::mem::replace(&mut self.state, before));
            self.seen(&functions);
        }
        for rest in pairs.remainder() {
            self.script(rest, heredocs);
        }
        ends.push(std::mem::take(&mut self.state));
        self.joined(ends);
    }

    /// A loop: walked until nothing that it leaves behind is new.
    pub(super) fn repeated(&mut self, parts: &[Script], heredocs: &[Word]) {
        let mut ends = vec![self.state.clone()];
        for round in 0.. {
            for part in parts {
                self.script(part, heredocs);
            }
            let known = ends.iter().any(|end| end.same(&self.state));
            if known {
                break;
            }
            if round == MAX_ROUNDS {
                self.unproven("while");
                break;
            }
            ends.push(self.state.clone());
        }
        ends.push(std::mem::take(&mut self.state));
        self.joined(ends);
    }

    /// The arms of a `case`, or none of them.
    pub(super) fn arms(&mut self, arms: &[(Vec<Word>, Script)], heredocs: &[Word]) {
        let mut ends = Vec::new();
        let mut any = false;
        for (patterns, body) in arms {
            for pattern in patterns {
                self.single(pattern);
                any |= pattern.raw == "*";
            }
            let before = self.state.clone();
            self.script(body, heredocs);
            ends.push(std::mem::replace(&mut self.state, before));
        }
        if !any {
            ends.push(self.state.clone());
        }
        self.joined(ends);
    }

    /// That functions were called counts in every way.
    fn seen(&mut self, functions: &[Function]) {
        for function in &mut self.state.functions {
            function.called |= functions.iter().any(|known| known.called && known.same(function));
        }
    }

    /// At the end of a subshell: its traps run, and only its functions are kept, for that they were called counts.
    pub(super) fn leave(&mut self, before: ShellState) {
        let inherited = before.traps.len();
        self.state.traps.drain(..inherited.min(self.state.traps.len()));
        self.trapped();
        let mut functions = std::mem::take(&mut self.state.functions);
        for function in &mut functions {
            function.sure &= before.functions.iter().any(|known| known.same(function));
        }
        // One that the subshell has replaced is still there.
        for known in &before.functions {
            if !functions.iter().any(|here| here.same(known)) {
                functions.push(known.clone());
            }
        }
        self.state = ShellState { functions, ..before };
    }

    /// Runs what the shell was told to run at its end.
    pub(super) fn trapped(&mut self) {
        for code in std::mem::take(&mut self.state.traps) {
            self.via.push("trap".to_owned());
            self.code(&code, "trap");
            self.via.pop();
        }
    }

    /// Marks an alias as being run, or no longer.
    pub(super) fn busy(&mut self, name: &str, busy: bool) {
        for alias in self.state.aliases.iter_mut().filter(|alias| alias.name == name) {
            alias.busy = busy;
        }
    }
}
