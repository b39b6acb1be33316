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
mod target;
mod when;

pub use commands::schema::schemas;
pub(crate) use exit::Exit;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use commands::{
    accept, anchor, approve, check, clear, compact, complete, completions,
    context as context_command, demo, doctor, erase, explain, fence, for_files, gate, git_hooks,
    hook, init, lesson, list, lsp, man, map, mcp, new, off, policy, propose, protocol, reassign,
    record, report as report_command, schema, seal, select, start, status, test, trace, uninstall,
    verify, why, worktree,
};
use context::Context;
use error::CliError;
use print::{Color, Format, Printer};

/// The heading in `--help` above the options that every command has.
const EVERYWHERE: &str = "Everywhere";

const EXIT_CODES: &str = "\
Exit codes:
  0  fine
  1  findings: something a person should look at
  2  wrong usage, or input that is broken; nothing was changed

Examples:
  intent init                          start here
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
        default_value_t = Color::Auto,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    color: Color,

    /// Act as if started in DIR
    #[arg(short = 'C', global = true, help_heading = EVERYWHERE, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Print nothing but errors; the exit code tells
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    quiet: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::InitArgs),
    Demo(demo::DemoArgs),
    Uninstall(uninstall::UninstallArgs),
    List(list::ListArgs),
    New(new::NewArgs),
    Start(start::StartArgs),
    Test(test::TestArgs),
    Complete(complete::CompleteArgs),
    Select(select::SelectArgs),
    Clear(clear::ClearArgs),
    Status(status::StatusArgs),
    Context(context_command::ContextArgs),
    For(for_files::ForArgs),
    Propose(propose::ProposeArgs),
    RequestScope(propose::ScopeArgs),
    Record(record::RecordArgs),
    Seal(seal::SealArgs),
    Compact(compact::CompactArgs),
    Accept(accept::AcceptArgs),
    Reassign(reassign::ReassignArgs),
    Why(why::WhyArgs),
    Check(check::CheckArgs),
    Map(map::MapArgs),
    Report(report_command::ReportArgs),
    Verify(verify::VerifyArgs),
    Anchor(anchor::AnchorArgs),
    Erase(erase::EraseArgs),
    Trace(trace::TraceArgs),
    Doctor(doctor::DoctorArgs),
    Gate(gate::GateArgs),
    Fence(fence::FenceArgs),
    Worktree(worktree::WorktreeArgs),
    Hook(hook::HookArgs),
    GitHooks(git_hooks::GitHooksArgs),
    Approve(approve::ApproveArgs),
    Reject(approve::RejectArgs),
    Off(off::OffArgs),
    On(off::OnArgs),
    Lesson(lesson::LessonArgs),
    Policy(policy::PolicyArgs),
    Protocol(protocol::ProtocolArgs),
    Explain(explain::ExplainArgs),
    Lsp(lsp::LspArgs),
    Mcp(mcp::McpArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Schema(schema::SchemaArgs),
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
        Err(error) => refuse(&error, &arguments).into(),
    }
}

fn run(cli: Cli) -> Exit {
    // A hook must answer its host even if the current folder no longer exists, so it runs before a
    // `Context` is made.
    if let Command::Hook(args) = &cli.command {
        return hook::run(args);
    }
    let format = if cli.json { Format::Json } else { Format::Human };
    let printer = Printer::new(format, cli.color, cli.quiet);
    let done = Context::new(cli.directory.as_deref(), printer)
        .and_then(|context| dispatch(&context, cli.command));
    done.unwrap_or_else(|error| printer.error(&error))
}

fn dispatch(context: &Context, command: Command) -> Result<Exit, CliError> {
    match command {
        Command::Init(args) => init::run(context, args),
        Command::Demo(args) => demo::run(context, args),
        Command::Uninstall(args) => uninstall::run(context, args),
        Command::List(args) => list::run(context, args),
        Command::New(args) => new::run(context, args),
        Command::Start(args) => start::run(context, args),
        Command::Test(args) => test::run(context, args),
        Command::Complete(args) => complete::run(context, args),
        Command::Select(args) => select::run(context, args),
        Command::Clear(args) => clear::run(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Context(args) => context_command::run(context, args),
        Command::For(args) => for_files::run(context, args),
        Command::Propose(args) => propose::run(context, args),
        Command::RequestScope(args) => propose::scope(context, args),
        Command::Record(args) => record::run(context, args),
        Command::Seal(args) => seal::run(context, args),
        Command::Compact(args) => compact::run(context, args),
        Command::Accept(args) => accept::run(context, args),
        Command::Reassign(args) => reassign::run(context, args),
        Command::Why(args) => why::run(context, args),
        Command::Check(args) => check::run(context, args),
        Command::Map(args) => map::run(context, args),
        Command::Report(args) => report_command::run(context, args),
        Command::Verify(args) => verify::run(context, args),
        Command::Anchor(args) => anchor::run(context, args),
        Command::Erase(args) => erase::run(context, args),
        Command::Trace(args) => trace::run(context, args),
        Command::Doctor(args) => doctor::run(context, args),
        Command::Gate(args) => gate::run(context, args),
        Command::Fence(args) => fence::run(context, args),
        Command::Worktree(args) => worktree::run(context, args),
        Command::Hook(args) => Ok(hook::run(&args)),
        Command::GitHooks(args) => git_hooks::run(context, args),
        Command::Approve(args) => approve::run(context, args),
        Command::Reject(args) => approve::reject(context, args),
        Command::Off(args) => off::run(context, args),
        Command::On(args) => off::on(context, args),
        Command::Lesson(args) => lesson::run(context, args),
        Command::Policy(args) => policy::run(context, args),
        Command::Protocol(args) => protocol::run(context, args),
        Command::Explain(args) => explain::run(context, args),
        Command::Lsp(args) => lsp::run(args),
        Command::Mcp(args) => mcp::run(context, args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, args),
        Command::Schema(args) => schema::run(context, args),
    }
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
    let said = error.render().to_string();
    let message = said.lines().next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    Printer::new(Format::Json, Color::Never, false)
        .error(&CliError::usage(message, "`intent --help` shows the commands"))
}

#[cfg(test)]
mod tests;
