//! `intent setup init`: creates the first files of a workspace, and installs the hook of each agent that
//! is used in it.

mod editors;
pub(super) mod show;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::person::Terminal;
use crate::cli::print::Page;
use crate::cli::{CliError, Context, Exit};
use ground::{Hint, Root};
use hook::binary;
use hook::host::{self, HOSTS, Host};
use hook::install::found::{self, FoundBy};
use hook::install::{
    self, Done, Folders, HostProgram, InstallAct, InstallError, InstallLevel, WiredAnswer,
};
use overview::init::{InitAnswer, init};
use overview::team::{TeamAnswer, TeamFileDone, team};

/// Set up a repository: files, git's hooks, its agents; never overwrites
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Makes .orchestration/ with a .gitignore and .gitattributes that keep private files out of
commits and git's hands off the ledger. The registry comes with the first `intent new`, and
`intent policy --template` begins a policy. Puts in git's hooks, or says what to add to the
program that manages them. Wires the agents whose settings are in the project, and names those that
are only installed here, and what your editor needs. It asks nothing; a second run
changes nothing; `intent setup uninstall` takes all of it back.

With --agent or --all it puts our hook and our MCP server into the settings of
these agents, in the strictest way each has, and says what it cannot enforce. What
others wrote there stays, comments included; a file that does not parse is left alone,
and then nothing is changed at all.

With --team it adds a job that judges pull requests (GitHub, GitLab; for Jenkins it prints
the stage), an entry in .pre-commit-config.yaml if that exists, and lines of CODEOWNERS for
the files that steer agents. What is there is kept.

Agents: claude-code codex cursor copilot vscode gemini antigravity windsurf cline kiro
droid devin opencode amp pi

Examples:
  intent setup init
  intent setup team --owner @ada
  intent setup init --agent claude-code --agent codex
  intent setup init --all
  intent setup init --agent gemini --user
  intent setup init --remove-agent cursor")]
pub struct InitArgs {
    /// Wire this agent in the settings of the project; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["all", "remove_agent"])]
    agent: Vec<String>,

    /// Wire every agent we know, used here or not
    #[arg(long, conflicts_with = "remove_agent")]
    all: bool,

    /// Take our entries out of this agent's settings again, and nothing else
    #[arg(long, value_name = "NAME")]
    remove_agent: Vec<String>,

    /// Leave the settings of agents alone, even those that are in the project
    #[arg(long, conflicts_with_all = ["agent", "all", "remove_agent"])]
    no_agents: bool,

    /// Also add what a team needs: a job for the forge, an entry for pre-commit, lines of
    /// CODEOWNERS
    #[arg(long, conflicts_with_all = ["user", "remove_agent"])]
    team: bool,

    /// With --team: who answers for the files that steer agents; may be repeated
    #[arg(long, value_name = "HANDLE", requires = "team", value_parser = owner)]
    owner: Vec<String>,

    /// Use the settings in your home folder instead, for all of your projects
    #[arg(long)]
    user: bool,

    /// Write the full path of this program into the settings, instead of finding it on the PATH
    #[arg(long)]
    absolute: bool,
}

/// Set up a repository and what a team needs: a job for the forge, pre-commit, CODEOWNERS
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The same as `intent setup init --team`; `intent setup init --help` says what is written.

Example:
  intent setup team --owner @ada")]
pub struct TeamArgs {
    /// Who answers for the files that steer agents; may be repeated
    #[arg(long, value_name = "HANDLE", value_parser = owner)]
    owner: Vec<String>,
}

impl From<TeamArgs> for InitArgs {
    fn from(args: TeamArgs) -> Self {
        Self { team: true, owner: args.owner, ..Self::default() }
    }
}

fn owner(text: &str) -> Result<String, String> {
    let is_one = text.contains('@') && !text.contains(|c: char| c.is_whitespace() || c == '#');
    if is_one && text.len() > 1 {
        return Ok(text.to_owned());
    }
    Err("an owner is written as @name, @group/team or an e-mail address".to_owned())
}

/// The answer where no agent is named.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FirstUseAnswer {
    #[serde(flatten)]
    workspace: InitAnswer,
    /// Agents whose settings are in the project, and what was done to these settings.
    agents: Vec<WiredAnswer>,
    /// Agents whose settings are in the project and could not be changed.
    refused: Vec<RefusedAgent>,
    /// Agents that are not wired here: their program is installed on this machine, or a file of the
    /// project mentions them.
    agents_here: Vec<InitOffer>,
    /// Editors that were found, and what each of them needs.
    editors: Vec<InitOffer>,
    /// What was added for a team, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<TeamAnswer>,
}

/// An agent whose settings were left alone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefusedAgent {
    /// The name of the agent.
    name: String,
    /// Why its settings were not changed.
    why: String,
}

/// Something that a person can set up with one command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InitOffer {
    /// The agent or the editor to set up.
    name: String,
    /// Where it was found: a file of the project, or a program.
    by: String,
    /// The command that sets it up.
    command: String,
}

/// The answer where agents are named.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WiringAnswer {
    /// The first files of the workspace. `None` if agents were removed, or were wired only in the home
    /// folder.
    workspace: Option<InitAnswer>,
    /// What was done to the settings of each agent.
    agents: Vec<WiredAnswer>,
    /// What was added for a team, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<TeamAnswer>,
}

/// Asks whether a workspace is wanted in a place where it seldom is. Refuses it there if there is
/// nobody to ask.
fn ask_about_odd_place(context: &Context) -> Result<(), CliError> {
    let root = Root::find(&context.cwd, context.environment())?;
    let Some(why) = what_is_odd(&root).filter(|_| !root.governed()) else { return Ok(()) };
    let place = root.path().display();
    let hint = "go into the folder of one repository, and run it there";
    let Ok(terminal) = Terminal::of_a_person(context) else {
        return Err(CliError::usage(format!("nothing was set up: {place} is {why}"), hint));
    };
    let mut page = Page::default();
    page.text(place).literal(" is ").text(why).end();
    let refused = CliError::usage("nothing was set up", hint);
    terminal.confirms(&context.printer, &mut page, " to set up a workspace there: ", refused)
}

fn what_is_odd(root: &Root) -> Option<&'static str> {
    let path = root.path();
    let home = root.environment().variable("HOME").map(std::path::PathBuf::from);
    let is_home = home.and_then(|home| home.canonicalize().ok()).is_some_and(|home| home == path);
    let holds_several = || {
        let is_repository = |entry: &std::fs::DirEntry| entry.path().join(".git").exists();
        ground::store::entries(path).filter(is_repository).nth(1).is_some()
    };
    match () {
        () if path.parent().is_none() => Some("the root of the file system"),
        () if is_home => Some("your home folder"),
        () if root.work_tree().is_none() && holds_several() => {
            Some("a folder that holds several repositories")
        }
        () => None,
    }
}

pub fn run(context: &Context, args: InitArgs) -> Result<Exit, CliError> {
    if args.remove_agent.is_empty() && !args.user {
        ask_about_odd_place(context)?;
    }
    let act = if args.remove_agent.is_empty() { InstallAct::Put } else { InstallAct::Take };
    let hosts = hosts(&args)?;
    if hosts.is_empty() {
        if args.user || args.absolute {
            return Err(CliError::usage(
                "--user and --absolute say how an agent is wired, and none is named",
                "name one with --agent, or all with --all",
            ));
        }
        let answer = first_use(context, &args)?;
        context.answer(&answer, |page| show::first_use(page, &answer))?;
        return Ok(Exit::found(!answer.refused.is_empty()));
    }
    let answer = wire(context, &args, &hosts, act)?;
    context.answer(&answer, |page| show::show_wiring(page, &answer, act))
}

/// Sets up everything that the repository shows it needs. If the settings of one agent cannot be
/// changed, the others are still set up.
fn first_use(context: &Context, args: &InitArgs) -> Result<FirstUseAnswer, CliError> {
    let workspace = init(&context.cwd, context.environment())?;
    note_program(context)?;
    let root = Root::find(&context.cwd, context.environment())?;
    let mut answer = FirstUseAnswer {
        workspace,
        agents: Vec::new(),
        refused: Vec::new(),
        agents_here: Vec::new(),
        editors: Vec::new(),
        team: for_team(context, args)?,
    };
    let mut files = answer.team.iter().flat_map(|team| &team.files);
    let is_new = |done| matches!(done, TeamFileDone::Created | TeamFileDone::Changed);
    answer.workspace.changed |= files.any(|file| is_new(file.done));
    // Without a home folder nobody can know which agents and editors are set up, but the workspace
    // is still made.
    let Some(folders) = Folders::of_process(&root) else { return Ok(answer) };
    let search = context.environment().search();
    answer.editors = editors::found(&root, &folders.home, search);
    let agents = if args.no_agents { Vec::new() } else { found::agents(&folders, search) };
    let (level, program) = (InstallLevel::Project, HostProgram::Found);
    for (host, by) in agents {
        let name = host.name.to_owned();
        match by {
            FoundBy::Settings(_) => {
                match install::install(&folders, &[host], level, &program, InstallAct::Put) {
                    Ok(wired) => answer.agents.extend(wired.agents),
                    Err(error) => {
                        answer.refused.push(RefusedAgent { name, why: error.with_hint() });
                    }
                }
            }
            FoundBy::TextFile(by) | FoundBy::Program(by) => {
                let command = format!("intent setup init --agent {name}");
                answer.agents_here.push(InitOffer { name, by: by.to_owned(), command });
            }
        }
    }
    let mut files = answer.agents.iter().flat_map(|agent| &agent.files);
    answer.workspace.changed |= files.any(|file| file.done != Done::Kept);
    Ok(answer)
}

fn for_team(context: &Context, args: &InitArgs) -> Result<Option<TeamAnswer>, CliError> {
    args.team.then(|| Ok(team(&context.cwd, &args.owner, context.environment())?)).transpose()
}

fn hosts(args: &InitArgs) -> Result<Vec<Host>, CliError> {
    if args.all {
        return Ok(HOSTS.to_vec());
    }
    let names = args.agent.iter().chain(&args.remove_agent);
    names.map(|name| host::host_named(name).ok_or_else(|| unknown_agent(name))).collect()
}

fn unknown_agent(name: &str) -> CliError {
    let names: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
    CliError::usage(format!("there is no agent {name:?}"), format!("we know {}", names.join(" ")))
}

fn wire(
    context: &Context,
    args: &InitArgs,
    hosts: &[Host],
    act: InstallAct,
) -> Result<WiringAnswer, CliError> {
    let root = Root::find(&context.cwd, context.environment())?;
    let level = if args.user { InstallLevel::User } else { InstallLevel::Project };
    let program = if args.absolute { this_program(context)? } else { HostProgram::Found };
    let folders = folders(&root)?;
    // The step that can be refused comes first, so that nothing is left half done.
    let wired = install::install(&folders, hosts, level, &program, act).map_err(not_installed)?;
    let first = (act, level) == (InstallAct::Put, InstallLevel::Project);
    let workspace = if first { Some(init(&context.cwd, context.environment())?) } else { None };
    if act == InstallAct::Put {
        note_program(context)?;
    }
    Ok(WiringAnswer { workspace, agents: wired.agents, team: for_team(context, args)? })
}

pub(super) fn folders(root: &Root) -> Result<Folders, CliError> {
    Folders::of_process(root).ok_or_else(|| {
        CliError::usage("your home folder is not known", "set HOME, then run this again")
    })
}

/// Notes which program the hooks will start, so that a different program under the same name is
/// noticed later.
fn note_program(context: &Context) -> Result<(), CliError> {
    let root = Root::find(&context.cwd, context.environment())?;
    if root.governed() {
        binary::note(&root, context.environment().search())?;
    }
    Ok(())
}

fn this_program(context: &Context) -> Result<HostProgram, CliError> {
    let path = context.environment().program().ok_or_else(|| {
        let unknown = std::io::Error::from(std::io::ErrorKind::NotFound);
        CliError::io("this program", "found", unknown)
    })?;
    Ok(HostProgram::At(path.display().to_string()))
}

fn not_installed(error: InstallError) -> CliError {
    let hint = error.hint();
    let hint =
        hint.unwrap_or_else(|| "`intent setup init --help` says what is written where".into());
    CliError::usage(error.to_string(), hint)
}
