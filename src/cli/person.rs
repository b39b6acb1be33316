//! A person at a terminal of their own: what only people may do is refused to everybody else.
//!
//! A terminal is needed, and nothing may say that an agent runs this. An agent that makes a terminal of its own and hides
//! what it is passes; `docs/approvals.md` says so.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;

use super::error::CliError;
use super::print::{Page, Printer};
use crate::ledger::Contributor;
use crate::verbs::Workspace;
use crate::workspace::agents;

/// The controlling terminal, to read from and to write to.
const INPUT: &str = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };
const OUTPUT: &str = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };

/// A person's own terminal.
pub(crate) struct Terminal {
    input: File,
    output: File,
}

/// Refuses an agent, and nobody else: CI has no terminal.
pub(crate) fn no_agent() -> Result<(), CliError> {
    match agents::above() {
        Some(agent) => Err(refused(&format!("{agent}, so it is an agent that runs this"))),
        None => Ok(()),
    }
}

/// Returns true if a person seems to run this: no agent does, and a terminal is at one of its ends. So neither a script
/// in CI nor an agent is taken for one.
pub(crate) fn is_here() -> bool {
    let ends = io::stdin().is_terminal() || io::stdout().is_terminal();
    (ends || io::stderr().is_terminal()) && agents::above().is_none()
}

/// The name that git has for the person who runs this; `None` where an agent does.
pub(crate) fn name(workspace: &Workspace) -> Option<String> {
    workspace.person().filter(|_| agents::above().is_none())
}

/// The person who runs this. Where nobody says that one does, it is not known who.
pub(crate) fn contributor(workspace: &Workspace) -> Contributor {
    match is_here() {
        true => Contributor::person(name(workspace)),
        false => Contributor::default(),
    }
}

impl Terminal {
    /// The terminal of the person who runs this; refused where no person seems to.
    pub(crate) fn of_a_person() -> Result<Self, CliError> {
        no_agent()?;
        if !io::stdin().is_terminal() {
            return Err(refused("standard input is no terminal"));
        }
        let none = |_| refused("there is no controlling terminal");
        let input = OpenOptions::new().read(true).open(INPUT).map_err(none)?;
        let output = OpenOptions::new().write(true).open(OUTPUT).map_err(none)?;
        if !input.is_terminal() || !output.is_terminal() {
            return Err(refused(&format!("{INPUT} is no terminal")));
        }
        Ok(Self { input, output })
    }

    /// Shows a page and a question behind it; what is typed, without the space around it.
    ///
    /// Both go to the terminal itself, so that no redirection hides what is asked or answers it.
    pub(crate) fn ask(&self, printer: Printer, page: &Page) -> Result<String, CliError> {
        let failed = |source| CliError::io(PathBuf::from("the terminal"), "asked", source);
        let mut output = &self.output;
        output.write_all(&printer.styled_for(output, page)).map_err(failed)?;
        output.flush().map_err(failed)?;
        let mut line = String::new();
        // Somebody who closes the terminal's input has not said yes.
        BufReader::new(&self.input).read_line(&mut line).map_err(failed)?;
        Ok(line.trim().to_owned())
    }
}

fn refused(why: &str) -> CliError {
    CliError::usage(
        format!("this is for a person at a terminal of their own: {why}"),
        "run it yourself, in a terminal that no agent started; or decide in the dialog of your editor",
    )
}
