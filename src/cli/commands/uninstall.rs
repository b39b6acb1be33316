//! `intent setup uninstall`: removes everything that `intent setup init` added.

use std::path::Path;

use super::init::{self, show::COLUMN};
use crate::cli::print::{DIM, GOOD, NOTE, PLAIN, Page, STRONG, WARN};
use crate::cli::{CliError, Context, Exit, person, programs};
use ground::{Git, Root, store};
use hook::host::{HOSTS, Host};
use hook::install::{
    self, Done, Folders, HostProgram, InstallAct, InstallError, InstallLevel, MAX_SETTINGS, found,
};
use overview::init::LIST_DRIVER;
use overview::uninstall::{TakenHow, UninstallAnswer, uninstall};

/// Take back everything that `intent setup init` put into this repository
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Our entries in agents' settings, git's hooks (those that were there before come back), the
job of the forge, the entry for pre-commit, the lines of CODEOWNERS, what is for this work
tree alone, and our folder in the git directory. Nothing of others is touched, and what is
not as we wrote it stays and is told.

Registry, policy and evidence in .orchestration/ stay: they are the team's record. With
--everything they go as far as git has them, or as `intent setup init` wrote them. Records that
are in no commit are nowhere else, and go with --everything only.

For a person, not for an agent.

Examples:
  intent setup uninstall --dry-run
  intent setup uninstall
  intent setup uninstall --user")]
pub struct UninstallArgs {
    /// Also remove our entries in your home folder, for all of your projects
    #[arg(long)]
    user: bool,

    /// Also remove .orchestration/, as far as git has it
    #[arg(long)]
    everything: bool,

    /// Change nothing; say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub fn run(context: &Context, args: UninstallArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let root = Root::find(&context.cwd, context.environment())?;
    let mut answer = UninstallAnswer::new(&root, args.dry_run);
    // Without a home folder the settings of the user cannot be found, but those of the project can.
    let folders = if args.user { Some(init::folders(&root)?) } else { Folders::of_process(&root) };
    if let Some(folders) = folders {
        agents(&folders, &args, &mut answer);
    }
    uninstall(&root, args.everything, &mut answer)?;
    take_out_merge_driver(context, &root, &mut answer)?;
    context.answer(&answer, |page| show(page, &answer))
}

fn take_out_merge_driver(
    context: &Context,
    root: &Root,
    answer: &mut UninstallAnswer,
) -> Result<(), CliError> {
    let [(key, _), _] = LIST_DRIVER;
    let section = key.rsplit_once('.').map_or(key, |(section, _)| section);
    let git = Git::open(root)?;
    if git.is_none_or(|git| git.configured(key).is_none()) {
        return Ok(());
    }
    let mut command = programs::command("git", context.environment());
    command.current_dir(root.path()).args(["config", "--local"]);
    let step = if answer.dry_run { ["--get", key] } else { ["--remove-section", section] };
    let done =
        command.args(step).output().map_err(|source| CliError::io("git", "started", source))?;
    if done.status.success() {
        answer.took(Path::new(&format!("{section} in git's settings")), TakenHow::Changed);
    }
    Ok(())
}

/// Removes our entries from the settings of agents. A file that cannot be changed does not stop the
/// others.
fn agents(folders: &Folders, args: &UninstallArgs, answer: &mut UninstallAnswer) {
    for host in HOSTS {
        unwire(folders, host, InstallLevel::Project, answer);
        if args.user {
            unwire(folders, host, InstallLevel::User, answer);
        } else if found::is_wired(folders, host) {
            let why = "you have wired it for all of your projects";
            answer.leave(Path::new(host.name), why, "`intent setup uninstall --user`");
        }
    }
}

fn unwire(folders: &Folders, host: &Host, level: InstallLevel, answer: &mut UninstallAnswer) {
    let act = if answer.dry_run { install::preview } else { install::install };
    let hosts = [*host];
    match act(folders, &hosts, level, &HostProgram::Found, InstallAct::Take) {
        Ok(taken) => {
            for file in taken.agents.into_iter().flat_map(|agent| agent.files) {
                let how = match file.done {
                    Done::Kept => continue,
                    Done::Removed => TakenHow::Removed,
                    Done::Created | Done::Changed => TakenHow::Changed,
                };
                answer.took(Path::new(&file.path), how);
            }
        }
        Err(error) => {
            let path = match &error {
                InstallError::Conflict { path, .. } | InstallError::Link { path } => path.clone(),
                InstallError::Store(_) => folders.project.join(host.name),
            };
            // A broken file that does not mention us was never changed by us, so it is not
            // reported.
            let text = store::read_capped(&path, MAX_SETTINGS).ok().flatten().unwrap_or_default();
            if String::from_utf8_lossy(&text).contains("intent") {
                let user = if level == InstallLevel::User { " --user" } else { "" };
                let remedy = error.remedy();
                let remedy = format!(
                    "{remedy}, then `intent setup init --remove-agent {}{user}`",
                    host.name
                );
                answer.leave(&path, error.to_string(), remedy);
            }
        }
    }
}

fn show(page: &mut Page, answer: &UninstallAnswer) {
    page.styled(STRONG, &answer.root).end();
    for taken in &answer.taken {
        let word = match taken.how {
            TakenHow::Removed => "removed",
            TakenHow::Changed => "changed",
            TakenHow::PutBack => "put back",
        };
        page.literal("  ").styled(GOOD, word).pad_to(COLUMN).text(&taken.path).end();
    }
    if answer.taken.is_empty() {
        page.line("  nothing of ours was here");
    }
    if !answer.left.is_empty() {
        page.gap();
    }
    for left in &answer.left {
        page.literal("  ").styled(WARN, "stays").pad_to(COLUMN).text(&left.path).literal(": ");
        page.styled(DIM, &left.why).end();
        page.pad_to(COLUMN).label(NOTE, "then:").advice(PLAIN, &left.remedy).end();
    }
    if answer.dry_run {
        page.gap().line("Nothing was changed: this is what `intent setup uninstall` would do.");
    }
}
