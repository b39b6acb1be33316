//! Checks that a person, not an agent, runs this command, and refuses the command otherwise.
//!
//! [`Terminal::of_a_person`] needs a terminal, and no sign that an agent runs this process.
//! [`no_agent`] needs no terminal, so CI passes. An agent that creates a terminal of its own and
//! hides its traces passes both checks, as `docs/approvals.md` says.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, IsTerminal, Write};

use super::context::Context;
use super::error::CliError;
use super::print::{Page, Printer, STRONG};
use super::process::Terminals;
use ground::agents;
use ledger::Contributor;
use why::Workspace;

const INPUT: &str = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };
const OUTPUT: &str = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };

pub struct Terminal {
    input: File,
    output: File,
}

/// Refuses if an agent runs this process. A terminal is not needed, so CI passes.
pub fn no_agent(context: &Context) -> Result<(), CliError> {
    match agents::agent_above(context.environment()) {
        Some(sign) => Err(refusal_because(&format!("{sign}, so an agent runs this command"))),
        None => Ok(()),
    }
}

/// Returns true if a person seems to run this process: no agent runs it, and at least one of its
/// standard streams is a terminal. A script in CI therefore counts neither as a person nor as an
/// agent.
pub fn is_here(context: &Context) -> bool {
    let Terminals { input, output, error } = context.printer.streams.terminals;
    (input || output || error) && agents::agent_above(context.environment()).is_none()
}

/// Returns git's name for the person who runs this process, or `None` if an agent runs it.
pub fn name(workspace: &Workspace) -> Option<String> {
    workspace.person().filter(|_| agents::agent_above(workspace.root.environment()).is_none())
}

/// Returns the contributor to record. It is unknown if no person seems to be at a terminal.
pub fn contributor(context: &Context, workspace: &Workspace) -> Contributor {
    if is_here(context) { Contributor::person(name(workspace)) } else { Contributor::default() }
}

impl Terminal {
    pub fn of_a_person(context: &Context) -> Result<Self, CliError> {
        no_agent(context)?;
        if !context.printer.streams.terminals.input {
            return Err(refusal_because("standard input is no terminal"));
        }
        let none = |_| refusal_because("there is no controlling terminal");
        let input = OpenOptions::new().read(true).open(INPUT).map_err(none)?;
        let output = OpenOptions::new().write(true).open(OUTPUT).map_err(none)?;
        if !input.is_terminal() || !output.is_terminal() {
            return Err(refusal_because(&format!("{INPUT} is no terminal")));
        }
        Ok(Self { input, output })
    }

    /// Shows a page and asks the person to type `yes`. Fails with `otherwise` if they do not.
    /// `what_for` is the end of the request, such as ` to approve: `.
    ///
    /// The question and the answer go through the terminal device itself, so redirecting a standard
    /// stream can neither hide the question nor answer it.
    pub fn confirms(
        &self,
        printer: &Printer,
        page: &mut Page,
        what_for: &'static str,
        otherwise: CliError,
    ) -> Result<(), CliError> {
        page.literal("Type ").styled(STRONG, "yes").literal(what_for);
        let failed = |source| CliError::io("the terminal", "asked", source);
        let mut output = &self.output;
        output.write_all(&printer.for_terminal(page)).map_err(failed)?;
        output.flush().map_err(failed)?;
        let mut line = String::new();
        // If the terminal's input is closed, the line is empty, which is not a yes.
        BufReader::new(&self.input).read_line(&mut line).map_err(failed)?;
        if line.trim().eq_ignore_ascii_case("yes") { Ok(()) } else { Err(otherwise) }
    }
}

fn refusal_because(why: &str) -> CliError {
    CliError::usage(
        format!("this is for a person at a terminal of their own: {why}"),
        "run it yourself, in a terminal that no agent started; or decide in the dialog of your editor",
    )
}
