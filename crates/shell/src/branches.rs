//! Walks conditions, loops and cases, and merges the states of their branches.

use super::argument::{Arg, WordOrigin};
use super::bombs::{floods, floods_over, most_in};
use super::finding;
use super::parse::{CaseArm, Script, Word};
use super::simulation::Shell;
use super::state::{Function, ShellState};

/// The state of a loop may change in this many rounds. A loop that changes it in one more round
/// makes the text opaque.
const MAX_LOOP_ROUNDS: usize = 4;
const MAX_LOOP_WORDS: usize = 64;

impl Shell {
    pub(super) fn merge_all(&mut self, ends: Vec<ShellState>) {
        if let Some(state) = ends.into_iter().reduce(ShellState::merged_with) {
            self.state = state;
        }
    }

    pub(super) fn merge_with(&mut self, other: Option<ShellState>) {
        if let Some(other) = other {
            let here = std::mem::take(&mut self.state);
            self.state = here.merged_with(other);
        }
    }

    /// Walks conditions and their branches, which come in pairs, then an `else` branch if there is
    /// one, and merges the states. After `if test -d a; then cd a; fi`, the folder is not known.
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
    pub(super) fn walk_loop(&mut self, parts: &[Script]) {
        if floods(parts) {
            self.note(finding::destructive_rule("fork-bomb", "&"));
        }
        let mut ends = vec![self.state.clone()];
        for round in 0.. {
            let before = self.lasting.clone();
            for part in parts {
                self.script(part);
            }
            if self.lasting == before && ends.iter().any(|end| end.is_same_state(&self.state)) {
                break;
            }
            if round == MAX_LOOP_ROUNDS {
                self.note_unfollowed("while");
                break;
            }
            ends.push(self.state.clone());
        }
        ends.push(std::mem::take(&mut self.state));
        self.merge_all(ends);
    }

    /// Walks a `for` or `select` loop over the words that are known.
    ///
    /// - `for d in a b; do rm -rf $d; done` deletes `a` and `b`, one in each round.
    /// - `for f in *.rs; do rm $f; done` deletes `*.rs`, which stays a glob.
    pub(super) fn walk_rounds(&mut self, variable: &str, over: &[Word], body: &Script) {
        self.check_assigned(variable);
        // `select` sets this variable too.
        self.state.variables.remove("REPLY");
        let mut values: Vec<Arg> = over.iter().flat_map(|word| self.fields(word)).collect();
        if values.len() > MAX_LOOP_WORDS {
            self.note_unfollowed(variable);
        }
        if over.is_empty() {
            values.push(Arg::unknown(format!("${variable}"), WordOrigin::Variable));
        }
        let expanded = u64::try_from(values.len()).unwrap_or(u64::MAX);
        let counted = over
            .iter()
            .filter(|word| ["$(seq", ".."].iter().any(|sign| word.raw.contains(sign)))
            .map(|word| most_in(&word.raw));
        if floods_over(counted.max().unwrap_or(0).max(expanded), body) {
            self.note(finding::destructive_rule("fork-bomb", variable));
        }
        let mut ends = vec![self.state.clone()];
        for value in values.into_iter().take(MAX_LOOP_WORDS) {
            // An unknown word may stand for several. Then the next round finds what this one left.
            let several = value.literal().is_none();
            for round in 0.. {
                self.set(variable, value.pieces.clone());
                let (before, lasting) = (self.state.clone(), self.lasting.clone());
                self.script(body);
                ends.push(self.state.clone());
                if !several || self.lasting == lasting && before.is_same_state(&self.state) {
                    break;
                }
                if round == MAX_LOOP_ROUNDS {
                    self.note(finding::opaque("expansion", variable).inspects());
                    break;
                }
            }
        }
        self.merge_all(ends);
    }

    /// Walks the arms of a `case`, and merges their states. Without an arm for `*`, possibly no arm
    /// runs, so the state before the arms is merged too. An arm may run after each earlier arm that
    /// ends in `;&` or `;;&`.
    ///
    /// - After `case $x in a) cd d;; esac`, the folder is not known.
    /// - After `case $x in a) cd d;; *) cd d;; esac`, it is `d`, because one of the arms has run.
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
                fallen =
                    fallen.into_iter().chain([self.state.clone()]).reduce(ShellState::merged_with);
            }
            ends.push(std::mem::replace(&mut self.state, before));
        }
        if !has_default {
            ends.push(self.state.clone());
        }
        self.merge_all(ends);
    }

    fn mark_called(&mut self, functions: &[Function]) {
        for function in &mut self.state.functions {
            function.called |=
                functions.iter().any(|known| known.called && known.is_same_definition(function));
        }
    }
}
