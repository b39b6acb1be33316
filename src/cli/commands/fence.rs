//! `intent fence`: runs a command that can write only where the intents in progress allow it.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::cli::print::{DIM, GOOD, Page, STRONG, WARN};
use crate::cli::{CliError, Context, Exit, programs};
use fence::FenceAccess;
use fence::stand_in::{self, KeeperTask};
use ground::Environment;
use judgement::fence_plan::{Fenced, FencedState, plan};

/// Run a command that can write only where an intent lets it, whatever programs it starts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The command reads as before. In the work tree it can write the folders that the selected
intent owns (without one, those of all intents in progress), existing folders that git
ignores, and what git needs. Control files, hooks and settings of agents are read-only. What
it leaves running when it ends is ended too. Outside the work tree it writes as before, but
for the settings of agents: `intent fence --explain` shows all of it.

Its exit code is the command's own; 1 where that was 0 and a person should look at something;
2 where no fence can be put up, and nothing was run; 126 or 127 where it cannot be started.

Examples:
  intent fence -- make test
  intent fence --intent INT-001 -- python3 scripts/rename.py
  intent fence --explain")]
pub struct FenceArgs {
    /// Only this intent, instead of the selected one or all in progress
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// Show what a command could write, and run nothing
    #[arg(long)]
    explain: bool,

    /// Test whether namespaces can be made here; for the fence itself
    #[arg(long, hide = true)]
    probe: bool,

    /// Remove the stand-ins for missing files afterwards; for the fence itself
    #[arg(long, hide = true)]
    keep: bool,

    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn run(context: &Context, args: FenceArgs) -> Result<Exit, CliError> {
    if args.probe {
        return Ok(Exit::found(!fence::probe()));
    }
    if args.keep {
        stand_in::keep(std::io::stdin()).map_err(not_raised)?;
        return Ok(Exit::Fine);
    }
    let workspace = context.open_workspace()?;
    // An agent may write what its own session has selected, whatever the person of this work tree
    // has selected.
    let of_agent = context.agent().and_then(|agent| workspace.selected(Some(agent)));
    let fenced = plan(&workspace, args.intent.as_deref().or(of_agent.as_deref()))?;
    if args.explain {
        return context.answer(&fenced, |page| show(page, &fenced));
    }
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(CliError::usage(
            "no command is named",
            "write it behind `--`: `intent fence -- make test`; `intent fence --explain` shows what it could write",
        ));
    };
    let mut command = Command::new(program);
    command.args(arguments);
    // With `-C`, the command runs in that folder.
    std::env::set_current_dir(&context.cwd)
        .map_err(|error| CliError::io(&context.cwd, "entered", error))?;
    let state = FencedState::before_command(&workspace, &fenced);
    // The workspace may own threads, and none may run when the fence is raised.
    drop(workspace);
    let kept = HeldPlaces::new(&fenced, context.environment()).map_err(not_raised)?;
    let ended = run_fenced(context, &fenced, command, kept.number());
    let after = ended.as_ref().map(|_| state.changes_since(&fenced)).unwrap_or_default();
    kept.end(ended.as_ref().is_ok_and(|ended| ended.cleared));
    let ended = ended?;
    warn(context, &after);
    #[cfg_attr(
        not(unix),
        allow(
            clippy::infallible_destructuring_match,
            reason = "no command ends by a signal there"
        )
    )]
    let code = match ended.status {
        FencedStatus::Code(code) => code,
        // If a signal ended the command, the same signal ends this process.
        #[cfg(unix)]
        FencedStatus::Ran(status) => fence::running::end_as(status),
    };
    Ok(if code == 0 && !after.is_empty() { Exit::Findings } else { Exit::Program(code) })
}

struct FencedEnd {
    status: FencedStatus,
    cleared: bool,
}

enum FencedStatus {
    Code(u8),
    #[cfg(unix)]
    Ran(std::process::ExitStatus),
}

#[cfg(unix)]
fn run_fenced(
    context: &Context,
    fenced: &Fenced,
    command: Command,
    keeper: Option<u32>,
) -> Result<FencedEnd, CliError> {
    let named = command.get_program().to_string_lossy().into_owned();
    let (means, prepared) = fence::raise(&fenced.plan, command, || probe(context.environment()))
        .map_err(|error| {
            let hint = "`intent doctor` says what fences here; nothing was run";
            CliError::usage(error.to_string(), hint)
        })?;
    if let Some(weakness) = means.weakness() {
        let weaker = format!("the fence is {}, which is weaker: {weakness}", means.as_str());
        warn(context, &[weaker]);
    }
    let (status, cleared) = match fence::running::run(prepared, keeper) {
        Ok((status, cleared)) => (FencedStatus::Ran(status), cleared),
        Err(error) => {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            warn(context, &[format!("{named} could not be started: {error}")]);
            (FencedStatus::Code(if missing { 127 } else { 126 }), true)
        }
    };
    Ok(FencedEnd { status, cleared })
}

#[cfg(not(unix))]
fn run_fenced(
    context: &Context,
    fenced: &Fenced,
    command: Command,
    _keeper: Option<u32>,
) -> Result<FencedEnd, CliError> {
    match fence::raise(&fenced.plan, command, || probe(context.environment())) {
        // Outside of Unix no system has a fence, and a command that cannot be fenced is not run.
        Ok(_) => Ok(FencedEnd { status: FencedStatus::Code(126), cleared: true }),
        Err(error) => Err(CliError::usage(error.to_string(), "nothing was run")),
    }
}

fn not_raised(error: std::io::Error) -> CliError {
    let hint = "`intent doctor` says what fences here; nothing was run";
    CliError::usage(format!("the fence could not be put up: {error}"), hint)
}

pub fn probe(environment: &Environment) -> bool {
    let Some(program) = environment.program() else { return false };
    let mut asked = programs::command(program, environment);
    asked.args(["fence", "--probe"]).stdin(Stdio::null()).stdout(Stdio::null());
    asked.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The stand-ins for missing files, and the process (the keeper) that removes them.
struct HeldPlaces {
    held: Option<std::fs::File>,
    keeper: Option<std::process::Child>,
}

impl HeldPlaces {
    fn new(fenced: &Fenced, environment: &Environment) -> std::io::Result<Self> {
        let stand_ins = &fenced.plan.stand_ins;
        if stand_ins.is_empty() {
            return Ok(Self { held: None, keeper: None });
        }
        if let Some(folder) = fenced.lock.parent() {
            // If this fails, opening the lock below reports why.
            let _ = std::fs::create_dir_all(folder);
        }
        let held = match stand_in::hold(stand_ins, &fenced.lock) {
            // This process already runs behind a fence, which keeps missing files missing.
            Err(error) if error.kind() == std::io::ErrorKind::ReadOnlyFilesystem => {
                return Ok(Self { held: None, keeper: None });
            }
            held => held?,
        };
        let program = environment.program().ok_or(std::io::ErrorKind::NotFound)?;
        let mut keeper = programs::command(program, environment);
        keeper.args(["fence", "--keep"]).stdin(Stdio::piped()).stdout(Stdio::null());
        keeper.stderr(Stdio::null()).current_dir("/");
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut keeper, 0);
        let mut keeper = keeper.spawn()?;
        let task = KeeperTask { stand_ins: stand_ins.clone(), lock: fenced.lock.clone() };
        if let Some(input) = &mut keeper.stdin {
            input.write_all(&serde_json::to_vec(&task)?)?;
        }
        Ok(Self { held: Some(held), keeper: Some(keeper) })
    }

    fn number(&self) -> Option<u32> {
        self.keeper.as_ref().map(std::process::Child::id)
    }

    /// Lets the keeper remove the stand-ins. `done` is true if no process runs behind the fence any
    /// more.
    fn end(self, done: bool) {
        let Self { held, keeper } = self;
        drop(held);
        if let Some(mut keeper) = keeper {
            if let (Some(mut input), true) = (keeper.stdin.take(), done) {
                // If the keeper is gone, there is nobody to write to.
                let _ = input.write_all(stand_in::DONE);
            }
            // The exit code of the keeper says nothing. `intent doctor` finds stand-ins that are
            // left.
            let _ = keeper.wait();
        }
    }
}

fn warn(context: &Context, sentences: &[String]) {
    let mut page = Page::default();
    for sentence in sentences {
        page.label(WARN, "fence:").text(sentence).end();
    }
    // If stderr is closed, the exit code still reports the problem.
    let _ = context.printer.aside(&page);
}

fn show(page: &mut Page, fenced: &Fenced) {
    match fenced.intents.as_slice() {
        [] => page.line("No intent is in progress, so no file may be written."),
        intents => page.literal("For ").text(intents.join(", ")).end(),
    };
    for (access, title) in [
        (FenceAccess::Writable, "can be written"),
        (FenceAccess::ReadOnly, "is read-only"),
        (FenceAccess::Masked, "is not there"),
        (FenceAccess::Pinned, "stays in its place"),
    ] {
        let style = if access == FenceAccess::Writable { GOOD } else { STRONG };
        let places = fenced.plan.places.iter().filter(|place| place.access == access);
        for (nth, place) in places.enumerate() {
            if nth == 0 {
                page.gap().styled(style, title).end();
            }
            let path = place.path.to_string_lossy();
            page.literal("  ").text(path).pad_to(48).literal("  ").styled(DIM, &place.why).end();
        }
    }
    page.gap();
    for note in &fenced.plan.notes {
        page.label(WARN, "note:").text(note).end();
    }
    page.line("The command can write everything else.");
}
