//! `intent test`: runs the commands that acceptance criteria name. Nothing else in this program
//! runs them.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::print::{DIM, Page, WARN};
use crate::cli::{CliError, Context, Exit, person, programs};
use ground::git::short_id;
use ground::{store, text};
use ledger::{TestRun, TestSource};
use overview::criteria::{self, Ran, Results, TreeState};
use why::Workspace;

/// Run the commands that an intent's acceptance criteria name, and record how they ended
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A criterion names a command as `run: cargo test auth`. The command is run by a shell at
the workspace's root; exit code, commit and duration are recorded, what it prints is not.
A command that no criterion names is recorded, but proves no criterion. Exit code 1 where one
failed.

Examples:
  intent test INT-001
  intent test INT-001 -- cargo test auth
  intent test INT-001 --junit target/report.xml -- cargo test auth")]
pub struct TestArgs {
    /// The intent's id
    id: String,

    /// Read these JUnit results instead of running the command; for a person or CI
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Run only this command, instead of those of all criteria
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A command that was run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestAnswer {
    /// The command, as it was run.
    ran: String,
    /// The result of the run.
    #[serde(flatten)]
    run: TestRun,
    /// The commit that was checked out when it ran.
    commit: Option<String>,
    /// The id of the record of this run.
    record: String,
}

/// The largest report, in bytes, that is read.
const MAX_REPORT: u64 = 64 * 1024 * 1024;

pub fn run(context: &Context, args: TestArgs) -> Result<Exit, CliError> {
    let workspace = context.governed_workspace()?;
    let intent = workspace.intent(&args.id)?;
    let wanted = wanted_commands(&args, criteria::commands(intent))?;
    let report = match &args.junit {
        None => None,
        Some(_) if wanted.len() > 1 => {
            return Err(CliError::usage(
                format!("{} names several commands, and a report is of one", args.id),
                "name the one that the report is of: --junit FILE -- COMMAND",
            ));
        }
        Some(file) => Some(read(context, file)?),
    };
    let mut answers = Vec::with_capacity(wanted.len());
    for WantedCommand { criterion, command, words } in wanted {
        // The previous command may have changed files or made a commit, so the workspace is read
        // again.
        let workspace = context.open_workspace()?;
        let before = TreeState::from_git(&workspace)?;
        let (source, (exit, milliseconds)) = match &report {
            Some((results, _)) => (TestSource::Junit, (Some(i32::from(!results.has_passed())), 0)),
            None => (TestSource::Run, execute(&workspace, &command, &words)?),
        };
        let report = report.clone();
        let ran = Ran { criterion, command, exit, milliseconds, source, report };
        let after = context.open_workspace()?;
        let tree = before.merged_with_end(&TreeState::from_git(&after)?);
        let (record, run) = criteria::record(&after, after.intent(&args.id)?, &ran, &tree)?;
        answers.push(TestAnswer { ran: ran.command, run, commit: tree.commit, record });
    }
    context.answer(&answers, |page| answers.iter().for_each(|answer| show(page, answer)))?;
    Ok(Exit::found(answers.iter().any(|answer| answer.run.exit != Some(0))))
}

struct WantedCommand {
    criterion: Option<String>,
    command: String,
    /// A program with its arguments. If empty, a shell runs `command`.
    words: Vec<String>,
}

fn wanted_commands(
    args: &TestArgs,
    named: Vec<(String, String)>,
) -> Result<Vec<WantedCommand>, CliError> {
    if !args.command.is_empty() {
        let command = args.command.join(" ");
        let named = named.into_iter().find(|(_, run)| *run == command);
        let criterion = named.map(|(criterion, _)| criterion);
        let is_line = criterion.is_some() || args.command.len() == 1;
        let words = if is_line { Vec::new() } else { args.command.clone() };
        return Ok(vec![WantedCommand { criterion, command, words }]);
    }
    if named.is_empty() {
        return Err(CliError::usage(
            format!("no acceptance criterion of {} names a command", args.id),
            "write one into the registry as `run: cargo test`, or name one here: intent test ID -- COMMAND",
        ));
    }
    let by_shell = |(criterion, command)| WantedCommand {
        criterion: Some(criterion),
        command,
        words: Vec::new(),
    };
    Ok(named.into_iter().map(by_shell).collect())
}

/// Reads a JUnit report. A report vouches for a test run that this program did not see, so an agent
/// may not submit one.
fn read(context: &Context, file: &std::path::Path) -> Result<(Results, Vec<u8>), CliError> {
    person::no_agent(context)?;
    let shown = file.display().to_string();
    let bytes = store::read_capped(&context.cwd.join(file), MAX_REPORT)?;
    let bytes = bytes.ok_or_else(|| context.missing_file(file))?;
    let results = Results::read(&bytes).map_err(|error| {
        CliError::usage(format!("{shown} cannot be read: {error}"), "name a JUnit XML file")
    })?;
    Ok((results, bytes))
}

/// Runs a command, and returns its exit code and how many milliseconds it took. Its output goes to
/// standard error, so that standard output holds only the answer.
fn execute(
    workspace: &Workspace,
    command: &str,
    words: &[String],
) -> Result<(Option<i32>, u64), CliError> {
    let mut error = std::io::stderr();
    // If standard error is closed, the command still runs.
    let _ = writeln!(error, "$ {}", text::terminal(command));
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let (program, arguments) = match words {
        [program, arguments @ ..] => (program.as_str(), arguments.to_vec()),
        [] => (shell, vec![flag.to_owned(), command.to_owned()]),
    };
    let started = Instant::now();
    let status = programs::command(program, workspace.root.environment())
        .args(arguments)
        .current_dir(workspace.root.path())
        .stdin(Stdio::null())
        .stdout(Stdio::from(error))
        .status()
        .map_err(|error| CliError::io(program, "run", error))?;
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok((status.code(), milliseconds))
}

fn show(page: &mut Page, answer: &TestAnswer) {
    let run = &answer.run;
    let passed = run.exit == Some(0);
    shared::mark(page, Some(passed)).literal(if passed { "passed  " } else { "failed  " });
    page.text(&answer.ran);
    if let Some(tests) = run.tests {
        let failed = run.failed.unwrap_or_default();
        let noun = if tests == 1 { "test" } else { "tests" };
        page.literal("  ").text(format!("{tests} {noun}, {failed} failed"));
    }
    match &answer.commit {
        Some(commit) => page.literal("  at ").styled(DIM, short_id(commit)),
        None => page.literal("  ").styled(DIM, "at no commit"),
    };
    page.end();
    if run.clean == Some(false) {
        page.literal("  ").styled(WARN, "with changes that are in no commit").end();
    }
    if run.criterion.is_none() {
        let unnamed = "no criterion names this command, so it proves no criterion";
        page.literal("  ").styled(WARN, unnamed).end();
    }
}
