//! The state of a shell during the walk, and how the states of several branches are merged.
//!
//! It is not known which branch of a condition runs, or how often a loop does. A variable to which
//! the branches give different values is therefore unknown afterwards, and so is the current folder
//! if they change it differently.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::argument::{Arg, WordOrigin, WordPiece, unknown};
use super::finding::StreamData;
use super::parse::ShellCommand;

/// The elements of an array. A plain variable has one element.
pub(super) type Elements = Vec<Vec<WordPiece>>;

#[derive(Clone, PartialEq)]
pub(super) struct Variable {
    pub(super) elements: Elements,
    /// False if only some branches of the script have set the variable, as in `if x; then a=1; fi`.
    pub(super) sure: bool,
}

#[derive(Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Rc<ShellCommand>,
    /// True if a command before this point may have called it.
    pub(super) called: bool,
    /// True if the function is certainly defined at this point of the walk.
    pub(super) sure: bool,
}

impl Function {
    pub(super) fn is_same_definition(&self, other: &Self) -> bool {
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
    pub(super) functions: Vec<Function>,
    pub(super) aliases: Vec<Alias>,
    /// Code that `trap` registered to run when the shell ends.
    pub(super) traps: Vec<Arg>,
}

/// Stands for the number of a descriptor that the shell chooses, as in `exec {fd}< FILE`.
pub(super) const NAMED_DESCRIPTOR: u32 = u32::MAX;

/// What a command leaves for later ones, even if it runs in a subshell.
#[derive(Clone, Default, PartialEq)]
pub(super) struct LastingEffects {
    pub(super) fetched: BTreeSet<String>,
    pub(super) secrets: BTreeSet<String>,
    pub(super) written: BTreeMap<String, StreamData>,
    pub(super) remotes: BTreeSet<String>,
    pub(super) descriptors: BTreeMap<u32, StreamData>,
    /// The numbers of the descriptors that are connections to another machine.
    pub(super) sockets: BTreeSet<u32>,
}

impl ShellState {
    /// Returns true if both states have the same folder, variables, arguments and
    /// functions, and the same number of aliases. A round of a loop is taken to do the same from
    /// both.
    pub(super) fn is_same_state(&self, other: &Self) -> bool {
        self.cwd == other.cwd
            && self.arguments == other.arguments
            && self.variables == other.variables
            && self.functions.len() == other.functions.len()
            && self.functions.iter().zip(&other.functions).all(|(a, b)| a.is_same_definition(b))
            && self.aliases.len() == other.aliases.len()
    }

    /// Reduces the state to what another process inherits. Arguments are not inherited. Only
    /// exported variables and functions are, but exports are not tracked. So every variable becomes
    /// unknown, and a call of a function may run the program of that name instead. In
    /// `x=src; bash -c 'rm $x'`, it is not known what is deleted.
    pub(super) fn inherit(&mut self) {
        self.arguments = None;
        for (name, variable) in &mut self.variables {
            variable.elements = unknown_elements(name, variable.elements.iter().flatten());
        }
        self.functions.iter_mut().for_each(|function| function.sure = false);
    }

    /// Merges the states of two branches, of which either may have run. A variable that only one
    /// branch sets keeps that value, but is not certain to have it. A variable with two values
    /// becomes unknown: in `x=1; if true; then x=2; fi; rm $x`, it is not known what is deleted.
    pub(super) fn merged_with(mut self, other: Self) -> Self {
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
                        before.elements = unknown_elements(&name, pieces);
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
        let is_certain = |here: &[Function], one: &Function| {
            here.iter().any(|known| known.sure && known.is_same_definition(one))
        };
        for function in &mut self.functions {
            function.sure &= is_certain(&other.functions, function);
        }
        for mut function in other.functions {
            function.sure &= is_certain(&self.functions, &function);
            match self.functions.iter_mut().find(|known| known.is_same_definition(&function)) {
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

fn unknown_elements<'p>(name: &str, pieces: impl Iterator<Item = &'p WordPiece>) -> Elements {
    let origins = pieces.filter_map(|piece| match piece {
        WordPiece::Unknown { origin, .. } => Some(*origin),
        _ => None,
    });
    let origin = origins.max().unwrap_or(WordOrigin::Variable);
    vec![vec![WordPiece::Unknown { shown: format!("${name}"), origin }]]
}
