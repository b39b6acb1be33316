//! `intent init`: the first files of a workspace, and the agents that are to ask before they write.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::print::{DIM, GOOD, NOTE, Page, STRONG, WARN};
use crate::hook::binary;
use crate::hook::host::{self, HOSTS, Host};
use crate::hook::install::{
    self, Done, Folders, HostProgram, InstallAct, InstallError, InstallLevel, WiredAnswer,
};
use crate::verbs::VerbError;
use crate::verbs::init::{InitAnswer, init};
use crate::workspace::Root;

/// Make the first files of a workspace, and wire agents; never overwrites one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes a commented registry and policy below .orchestration/, with the .gitignore and
.gitattributes that keep private files out of commits and git's hands off the ledger,
and .intentignore beside it.

With --agent or --all it also puts our hook and our MCP server into the settings of
these agents, in the strictest way each has, and says what it cannot enforce. What
others wrote there stays, comments included; a second run changes nothing; a file that
does not parse is left alone, and then nothing is changed at all.

Agents: claude-code codex cursor copilot vscode gemini antigravity windsurf cline kiro
droid devin opencode amp pi

Examples:
  intent init
  intent init --agent claude-code --agent codex
  intent init --all
  intent init --agent gemini --user
  intent init --remove-agent cursor")]
pub(crate) struct Args {
    /// Wire this agent in the settings of the project; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["all", "remove_agent"])]
    agent: Vec<String>,

    /// Wire every agent we know, used here or not
    #[arg(long, conflicts_with = "remove_agent")]
    all: bool,

    /// Take our entries out of this agent's settings again, and nothing else
    #[arg(long, value_name = "NAME")]
    remove_agent: Vec<String>,

    /// The settings in your home folder instead, for all of your projects
    #[arg(long)]
    user: bool,

    /// Name this program by its full path; committed settings find it on the PATH otherwise
    #[arg(long)]
    absolute: bool,
}

/// The answer where agents are wired.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct WiringAnswer {
    /// The first files of the workspace; `None` where none were asked for.
    workspace: Option<InitAnswer>,
    /// What was done to the settings of each agent.
    agents: Vec<WiredAnswer>,
}

pub(crate) fn run(context: &Context, args: Args) -> Result<Exit, CliError> {
    let act = if args.remove_agent.is_empty() { InstallAct::Put } else { InstallAct::Take };
    let hosts = hosts(&args)?;
    if hosts.is_empty() {
        if args.user || args.absolute {
            return Err(CliError::usage(
                "--user and --absolute say how an agent is wired, and none is named",
                "name one with --agent, or all with --all",
            ));
        }
        let answer = init(&context.cwd)?;
        note_program(context)?;
        context.answer(&answer, |page| show(page, &answer))?;
        return Ok(Exit::Fine);
    }
    let answer = wire(context, &args, &hosts, act)?;
    context.answer(&answer, |page| show_wiring(page, &answer, act))?;
    Ok(Exit::Fine)
}

/// The hosts that are named, in the order of the table where all are.
fn hosts(args: &Args) -> Result<Vec<Host>, CliError> {
    if args.all {
        return Ok(HOSTS.to_vec());
    }
    let names = args.agent.iter().chain(&args.remove_agent);
    names.map(|name| host::named(name).ok_or_else(|| unknown(name))).collect()
}

fn unknown(name: &str) -> CliError {
    let names: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
    CliError::usage(format!("there is no agent {name:?}"), format!("we know {}", names.join(" ")))
}

fn wire(
    context: &Context,
    args: &Args,
    hosts: &[Host],
    act: InstallAct,
) -> Result<WiringAnswer, CliError> {
    let root = Root::find(&context.cwd)?;
    let level = if args.user { InstallLevel::User } else { InstallLevel::Project };
    let program = if args.absolute { this_program()? } else { HostProgram::Found };
    let folders = Folders::here(root.path()).ok_or_else(|| {
        CliError::usage("your home folder is not known", "set HOME, then run this again")
    })?;
    // First what may be refused: then nothing is left half done.
    let wired = install::install(&folders, hosts, level, &program, act)?;
    let first = (act, level) == (InstallAct::Put, InstallLevel::Project);
    let workspace = if first { Some(init(&context.cwd)?) } else { None };
    if act == InstallAct::Put {
        note_program(context)?;
    }
    Ok(WiringAnswer { workspace, agents: wired.agents })
}

/// Notes which program the hooks will start, so that another one in its place is noticed.
fn note_program(context: &Context) -> Result<(), CliError> {
    let root = Root::find(&context.cwd)?;
    if root.governed() {
        binary::note(&root, std::env::var_os("PATH").as_deref()).map_err(VerbError::from)?;
    }
    Ok(())
}

fn this_program() -> Result<HostProgram, CliError> {
    let path = std::env::current_exe()
        .map_err(|source| CliError::io("this program".into(), "found", source))?;
    Ok(HostProgram::At(path.display().to_string()))
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        let help = "`intent init --help` says what is written where";
        Self::usage(error.to_string(), help)
    }
}

fn show(page: &mut Page, answer: &InitAnswer) {
    page.styled(STRONG, &answer.root).end();
    for path in &answer.created {
        page.own("  ").styled(GOOD, "created").to(11).text(path).end();
    }
    for path in &answer.kept {
        page.own("  ").styled(DIM, "kept").to(11).styled(DIM, path).end();
    }
    page.own("  ledger").to(11).text(&answer.layout).end();
    if let Some(hooks) = &answer.hooks {
        let said = match hooks.installed {
            true => "git seals records into commits; `intent git-hooks --remove` takes that back",
            false => "not installed; `intent git-hooks` says why",
        };
        page.own("  hooks").to(11).own(said).end();
    }
    if !answer.created.is_empty() {
        page.gap()
            .own("Next: intent new \"What somebody asked for\" --scope 'src/**' --start")
            .end();
    }
}

fn show_wiring(page: &mut Page, answer: &WiringAnswer, act: InstallAct) {
    let created = answer.workspace.as_ref().filter(|workspace| !workspace.created.is_empty());
    if let Some(workspace) = created {
        show(page, workspace);
        page.gap();
    }
    for (at, agent) in answer.agents.iter().enumerate() {
        if at > 0 {
            page.gap();
        }
        page.styled(STRONG, &agent.agent).own("  ").styled(DIM, &agent.standing).end();
        for file in &agent.files {
            let (style, word) = match file.done {
                Done::Created => (GOOD, "created"),
                Done::Changed => (GOOD, "changed"),
                Done::Removed => (GOOD, "removed"),
                Done::Kept => (DIM, "kept"),
            };
            page.own("  ").styled(style, word).to(11).text(&file.path).end();
        }
        if agent.files.is_empty() && act == InstallAct::Take {
            page.own("  nothing of ours was there").end();
        }
        for cannot in &agent.cannot {
            page.own("  ").styled(WARN, "!").to(11).text(cannot).end();
        }
        for next in &agent.next {
            page.own("  ").styled(NOTE, "next").to(11).text(next).end();
        }
    }
    if act == InstallAct::Put {
        page.gap().own("`intent doctor` says whether each of them really asks.").end();
    }
}
