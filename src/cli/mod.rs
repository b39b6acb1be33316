//! The command line: reads arguments and prints text or JSON.
//!
//! It is a thin face over the verbs. The arguments of a command are declared in that command's file
//! below `commands`. All output to a terminal goes through `print`. With `--json` a command prints
//! the answer of its verb as one JSON document on stdout.
//!
//! - `commands`: the commands, one file each.
//! - `context`: the folder a command runs in, and the printer for its output.
//! - `envelope`: DSSE envelopes, signed with `ssh`.
//! - `error`: the errors of commands, with messages for a person.
//! - `exit`: the exit codes of the process.
//! - `formats`: the answer of `intent check` in the formats of forges and CI systems.
//! - `git`: running the `git` program.
//! - `person`: the check that a person, not an agent, runs this command.
//! - `print`: all output of the command line.
//! - `process`: arguments, surroundings and streams of the process.
//! - `programs`: starting other programs.
//! - `progress`: how far a question about all files has come.
//! - `report`: the report as one self-contained HTML page.
//! - `ssh`: SSH signatures, made and checked with `ssh-keygen -Y`.
//! - `suggestion`: the commands that a usage error may suggest.
//! - `target`: parsing file arguments such as `PATH:LINE:COLUMN`.
//! - `when`: timestamps as text for people.

mod commands;
mod context;
mod envelope;
mod error;
mod exit;
mod formats;
mod git;
mod person;
mod print;
mod process;
mod programs;
mod progress;
mod report;
mod ssh;
mod suggestion;
mod target;
mod when;

pub use commands::schema::schemas;
pub use exit::Exit;
pub use process::{Process, Streams, Terminals};

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser};

use commands::{ReadCommand, with_commands};
use context::Context;
use error::CliError;
use print::Printer;
use process::takes_colours;

const EVERYWHERE: &str = "Everywhere";

/// The width of the help, in columns, unless the terminal is narrower.
const WIDTH: usize = 100;

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
    max_term_width = WIDTH,
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
}

/// Returns the definition of the whole command line.
pub fn command() -> clap::Command {
    with_commands(Cli::command(), None)
}

pub fn main() -> ExitCode {
    let_writes_fail_at_a_limit();
    run(Process::running()).into()
}

/// Lets a write fail that would make a file larger than `ulimit -f` allows. Otherwise a signal ends the
/// process without a word, even if the file is only a cache.
fn let_writes_fail_at_a_limit() {
    #[cfg(unix)]
    {
        let caught = std::sync::Arc::default();
        // Only a handler is needed. The programs that this one starts do not inherit it.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, caught);
    }
}

pub fn run(process: Process) -> Exit {
    // Without a terminal, the width of the help comes from a variable.
    let Terminals { input, output, error } = process.streams.terminals;
    let width = (!(input || output || error)).then(|| {
        let named = process.environment.variable("COLUMNS").and_then(|width| width.to_str());
        named.and_then(|width| width.parse().ok()).unwrap_or(WIDTH).min(WIDTH)
    });
    match parse(&process.arguments, width) {
        Ok((cli, command)) => carry_out(cli, command, process),
        Err(error) => {
            let error = suggestion::with_our_word(suggestion::without_switches(error));
            refuse(&suggestion::with_groups(error, &process.arguments), process)
        }
    }
}

/// Reads the arguments of the process. `width` is that of the help, in columns, if it is not the one
/// of the terminal.
fn parse(
    arguments: &[impl AsRef<OsStr>],
    width: Option<usize>,
) -> Result<(Cli, ReadCommand), clap::Error> {
    let words: Vec<_> = arguments.iter().map(|it| it.as_ref().to_string_lossy()).collect();
    let called = words.get(1..).and_then(|words| Some(words[shell::verb(words)?].as_ref()));
    let mut definition = with_commands(Cli::command(), called);
    if let Some(width) = width {
        definition = definition.term_width(width);
    }
    let mut parsed = definition.try_get_matches_from_mut(arguments.iter().map(AsRef::as_ref))?;
    let cli = Cli::from_arg_matches_mut(&mut parsed);
    let both = cli.and_then(|cli| Ok((cli, commands::read(&mut parsed)?)));
    both.map_err(|error| error.format(&mut definition))
}

fn carry_out(cli: Cli, command: ReadCommand, process: Process) -> Exit {
    let Process { arguments, environment, streams } = process;
    let run = match command {
        ReadCommand::Anywhere(run) => return run(&environment),
        ReadCommand::InFolder(run) => run,
    };
    let printer = Printer {
        json_asked: cli.json,
        color: cli.color,
        quiet: cli.quiet,
        streams: Arc::new(streams),
        environment: environment.clone(),
    };
    match Context::new(cli.directory.as_deref(), printer.clone(), environment, arguments) {
        Ok(context) => run(&context).unwrap_or_else(|error| context.error(&error)),
        Err(error) => printer.error(&error, None),
    }
}

/// Prints what clap returned instead of arguments: help, the version, or a usage error. A usage
/// error is printed as JSON if the arguments contain `--json`.
fn refuse(error: &clap::Error, process: Process) -> Exit {
    let Process { arguments, environment, streams } = process;
    let json = arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if !json || !error.use_stderr() {
        let (is_terminal, mut stream) = match error.use_stderr() {
            true => (streams.terminals.error, streams.error()),
            false => (streams.terminals.output, streams.output()),
        };
        let said = error.render();
        let said = match takes_colours(&environment, is_terminal) {
            true => said.ansi().to_string(),
            false => said.to_string(),
        };
        // If the stream is closed, there is nowhere to report that.
        let _ = stream.write_all(said.as_bytes());
        return if error.use_stderr() { Exit::Usage } else { Exit::Fine };
    }
    let streams = Arc::new(streams);
    Printer { json_asked: true, color: ColorChoice::Never, quiet: false, streams, environment }
        .error(&CliError::usage(message_of(error), "`intent --help` shows the commands"), None)
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
