//! The simulated shell: its state, and what was found so far.

use std::rc::Rc;

use super::argument::Arg;
use super::finding::{ShellFinding, StreamData};
use super::paths;
use super::state::{LastingEffects, ShellState};
use super::{Class, CommandContext, Invocation, Prediction, TouchedPath};

pub(super) const MAX_COMMANDS: usize = 600;

#[derive(Default)]
pub(super) struct Shell {
    pub(super) at: Rc<CommandContext>,
    pub(super) state: ShellState,
    pub(super) stdin: StreamData,
    pub(super) lasting: LastingEffects,
    /// Functions with the commands that they start; see [`super::bombs::starts`].
    pub(super) bodies: Vec<(String, Vec<(String, bool)>)>,
    pub(super) redirected_to: Option<String>,
    pub(super) remembered: Vec<StreamData>,
    /// The states at each `return` of the running function or sourced code.
    pub(super) returned: Vec<ShellState>,
    pub(super) depth: usize,
    /// The number of commands walked, including those that start no program.
    pub(super) steps: usize,
    /// True in a trial walk, whose findings may be dropped. A trial does not start another one.
    pub(super) tentative: bool,
    pub(super) via: Vec<String>,
    /// True if paths belong to another machine or container.
    pub(super) elsewhere: bool,
    /// What was found so far. [`Self::finish`] adds the judgement.
    pub(super) out: Prediction,
    pub(super) worst: Option<ShellFinding>,
    wrote: bool,
}

impl Shell {
    pub(super) fn new(at: Rc<CommandContext>) -> Self {
        let cwd = Some(paths::slashed(&at.cwd));
        Self { at, state: ShellState { cwd, ..ShellState::default() }, ..Self::default() }
    }

    pub(super) fn finish(self) -> Prediction {
        let mut out = self.out;
        let worst = self.worst.unwrap_or_else(|| {
            let reason = "It starts no program and changes no file.";
            ShellFinding::new(Class::Read, "nothing", "", reason)
        });
        if worst.class == Class::Read {
            out.paths_in_text.clear();
        }
        Prediction {
            class: worst.class,
            rule: worst.rule.to_owned(),
            word: Some(worst.word).filter(|word| !word.is_empty()),
            reason: worst.reason,
            safer: worst.safer.map(str::to_owned),
            inspects: worst.inspects && !self.wrote,
            ..out
        }
    }

    pub(super) fn cwd(&self) -> Option<&str> {
        self.state.cwd.as_deref()
    }

    pub(super) fn note(&mut self, finding: ShellFinding) {
        self.wrote |= finding.class == Class::Write;
        self.worst = ShellFinding::worst(self.worst.take(), Some(finding));
    }

    /// Adds a program to the list of those that would be started, before those from index `at` on.
    /// So a program comes before the programs that it starts.
    pub(super) fn add_started_program(
        &mut self,
        at: usize,
        program: Option<String>,
        args: &[Arg],
        finding: &ShellFinding,
    ) {
        let invocation = Invocation {
            program,
            words: args.iter().map(|arg| arg.text.clone()).collect(),
            via: self.via.clone(),
            class: finding.class,
            rule: finding.rule.to_owned(),
            hidden: false,
        };
        self.out.commands.insert(at.min(self.out.commands.len()), invocation);
    }

    pub(super) fn hide(&mut self, first: usize) {
        self.out.commands.iter_mut().skip(first).for_each(|call| call.hidden = true);
    }

    /// Adds a path that would be touched, unless it belongs to another machine.
    pub(super) fn target(&mut self, target: TouchedPath) {
        if !self.elsewhere && !self.out.targets.contains(&target) {
            self.out.targets.push(target);
        }
    }
}
