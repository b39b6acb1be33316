//! The command line: reads arguments and prints text or JSON.
//!
//! It is a thin face over the verbs. The arguments of a command are declared in that command's file
//! below `commands`. All output to a terminal goes through `print`. With `--json` a command prints
//! the answer of its verb as one JSON document on stdout.
//!
//! - `commands`: the commands, one file each.
//! - `context`: the folder a command runs in, and the printer for its output.
//! - `error`: the errors of commands, with messages for a person.
//! - `exit`: the exit codes of the process.
//! - `formats`: the answer of `intent check` in the formats of forges and CI systems.
//! - `git`: running the `git` program.
//! - `person`: the check that a person, not an agent, runs this command.
//! - `print`: all output of the command line.
//! - `report`: the report as one self-contained HTML page.
//! - `ssh`: SSH signatures, made and checked with `ssh-keygen -Y`.
//! - `suggestion`: the commands that a usage error may suggest.
//! - `target`: parsing file arguments such as `PATH:LINE:COLUMN`.
//! - `when`: timestamps as text for people.

mod commands;
mod context;
mod error;
mod exit;
mod formats;
mod git;
mod person;
mod print;
mod report;
mod ssh;
mod suggestion;
mod target;
mod when;

pub use commands::schema::schemas;
pub use exit::Exit;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, Parser};

use commands::{Command, dispatch, hook};
use context::Context;
use error::CliError;
use print::Printer;

/// The heading in `--help` above the options that every command has.
const EVERYWHERE: &str = "Everywhere";

const EXIT_CODES: &str = "\
Exit codes:
  0  fine
  1  findings: something a person should look at
  2  wrong usage, or input that is broken; nothing was changed

Examples:
  intent setup init                    start here
  intent new \"JWT migration\" --scope 'src/auth/**'
  intent select INT-001                declare what you work under
  intent record src/auth/jwt.rs        what changed, under the selected intent
  intent why src/auth/jwt.rs:42        who asked for this line
  intent check --base main             does the whole change agree?";

/// Why is this code here? Which intent asked for each block, who wrote it, and is it still what was recorded.
#[derive(Debug, Parser)]
#[command(
    name = "intent",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = EXIT_CODES
)]
struct Cli {
    /// Answer in JSON: one document on stdout, errors included
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    json: bool,

    /// When to colour: auto, always or never; NO_COLOR is respected
    #[arg(
        long,
        global = true,
        help_heading = EVERYWHERE,
        value_enum,
        default_value_t = ColorChoice::Auto,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    color: ColorChoice,

    /// Act as if started in DIR
    #[arg(short = 'C', global = true, help_heading = EVERYWHERE, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Print nothing but errors; the exit code tells
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    quiet: bool,

    #[command(subcommand)]
    command: Command,
}

/// Returns the definition of the whole command line. Completions, man pages and the tests of the
/// documents are made from it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the arguments of the process and runs the command.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match Cli::try_parse_from(&arguments) {
        Ok(cli) => run(cli).into(),
        Err(error) => refuse(&suggestion::without_switches(error), &arguments).into(),
    }
}

fn run(cli: Cli) -> Exit {
    // A hook must answer its host even if the current folder no longer exists, so it runs before a
    // `Context` is made.
    let command = cli.command.short();
    if let Command::Hook(args) = &command {
        return hook::run(args);
    }
    let printer = Printer { json_asked: cli.json, color: cli.color, quiet: cli.quiet };
    let done = Context::new(cli.directory.as_deref(), printer)
        .and_then(|context| dispatch(&context, command));
    done.unwrap_or_else(|error| printer.error(&error))
}

/// Prints what clap returned instead of arguments: help, the version, or a usage error. A usage
/// error is printed as JSON if the arguments contain `--json`.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let json = arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if !json || !error.use_stderr() {
        // If the stream is closed, there is nowhere to report that.
        let _ = error.print();
        return if error.use_stderr() { Exit::Usage } else { Exit::Fine };
    }
    Printer { json_asked: true, color: ColorChoice::Never, quiet: false }
        .error(&CliError::usage(message_of(error), "`intent --help` shows the commands"))
}

/// Returns the first paragraph of a usage error as one line. Clap breaks it into lines if it lists
/// missing arguments or possible values.
fn message_of(error: &clap::Error) -> String {
    let said = error.render().to_string();
    let lines = said.lines().map(str::trim).take_while(|line| !line.is_empty());
    let message = lines.collect::<Vec<_>>().join(" ");
    message.strip_prefix("error: ").unwrap_or(&message).to_owned()
}

#[cfg(test)]
mod tests;
