//! The commands, one file for each: its arguments, the call of one verb, and the page that shows
//! the answer. `shared` holds what several of them print.

mod accept;
mod adopt;
mod anchor;
mod approve;
mod attest;
mod check;
mod clear;
mod compact;
mod complete;
mod completions;
mod context;
mod demo;
mod doctor;
mod edit;
mod erase;
mod explain;
mod export;
mod fence;
mod for_files;
mod gate;
mod git_hooks;
pub(super) mod hook;
mod import;
mod init;
mod lesson;
mod list;
mod lsp;
mod man;
mod map;
mod mcp;
mod merge_registry;
mod new;
mod off;
mod policy;
mod propose;
mod protocol;
mod reassign;
mod record;
mod renumber;
mod report;
pub(super) mod schema;
mod seal;
mod select;
mod sessions;
mod shared;
mod split_registry;
mod start;
mod status;
mod test;
mod trace;
mod uninstall;
mod verify;
mod why;
mod worktree;

use clap::ArgMatches;
use clap::error::{Error, ErrorKind};

use crate::cli::{CliError, Context, Exit};
use ground::Environment;

/// A command of the command line.
struct Command {
    name: &'static str,
    /// Adds the description and the arguments.
    define: fn(clap::Command) -> clap::Command,
    read: ReadArguments,
}

/// Takes the arguments of a command from what was parsed.
type ReadArguments = Box<dyn Fn(&mut ArgMatches) -> Result<ReadCommand, Error>>;

/// What is left to do once the arguments of a command are read.
pub enum ReadCommand {
    InFolder(RunInFolder),
    /// A hook must answer its host even if the current folder no longer exists.
    Anywhere(Box<dyn FnOnce(&Environment) -> Exit>),
}

type RunInFolder = Box<dyn FnOnce(&Context) -> Result<Exit, CliError>>;

/// The groups of `shell::GROUPS`, each with what its commands are for.
const GROUPS: [(&str, &str); 3] = [
    ("evidence", "Seal, verify and sign what was recorded"),
    ("agent", "What agents' hosts call, and what a person decides about the gate"),
    ("setup", "Set up a repository, its hooks and its team, or take that back"),
];

/// The commands in the order in which `intent --help` lists them, those of the groups last.
fn every_command() -> Vec<Command> {
    vec![
        command("list", list::run),
        command("new", new::run),
        command("start", start::run),
        command("complete", complete::run),
        command("edit", edit::run),
        command("adopt", adopt::run),
        command("test", test::run),
        command("select", select::run),
        command("clear", clear::run),
        command("status", status::run),
        command("context", context::run),
        command("for", for_files::run),
        command("propose", propose::run),
        command("request-scope", propose::scope),
        command("record", record::run),
        command("accept", accept::run),
        command("why", why::run),
        command("check", check::run),
        command("map", map::run),
        command("report", report::run),
        command("trace", trace::run),
        command("doctor", doctor::run),
        command("approve", approve::run),
        command("reject", approve::reject),
        command("lesson", lesson::run),
        command("policy", policy::run),
        command("fence", fence::run),
        command("lsp", |_, args| lsp::run(args)),
        command("schema", schema::run),
        command("seal", seal::run),
        command("verify", verify::run),
        command("anchor", anchor::run),
        command("attest", attest::run),
        command("erase", erase::run),
        command("compact", compact::run),
        command("reassign", reassign::run),
        command("import", import::run),
        command("export", export::run),
        command("sessions", sessions::run),
        Command {
            name: "hook",
            define: <hook::HookArgs as clap::Args>::augment_args,
            read: Box::new(|parsed| {
                let args: hook::HookArgs = clap::FromArgMatches::from_arg_matches_mut(parsed)?;
                Ok(ReadCommand::Anywhere(Box::new(move |environment| {
                    hook::run(&args, environment)
                })))
            }),
        },
        command("mcp", mcp::run),
        command("gate", gate::run),
        command("off", off::run),
        command("on", off::switch_on),
        command("worktree", worktree::run),
        command("protocol", protocol::run),
        command("explain", explain::run),
        command("init", init::run),
        command("uninstall", uninstall::run),
        command("git-hooks", git_hooks::run),
        command("team", |context, args: init::TeamArgs| init::run(context, args.into())),
        command("split-registry", split_registry::run),
        command("merge-registry", merge_registry::run),
        command("renumber", renumber::run),
        command("demo", demo::run),
        command("completions", completions::run),
        command("man", man::run),
    ]
}

fn command<A: clap::Args + 'static>(
    name: &'static str,
    run: fn(&Context, A) -> Result<Exit, CliError>,
) -> Command {
    let read = move |parsed: &mut ArgMatches| {
        let args = A::from_arg_matches_mut(parsed)?;
        Ok(ReadCommand::InFolder(Box::new(move |context: &Context| run(context, args))))
    };
    Command { name, define: A::augment_args, read: Box::new(read) }
}

/// Adds all commands to the definition of the command line, or only the one that is called, because
/// defining all of them takes longer than many an answer.
///
/// The commands in groups have short spellings, which are hidden: git hooks, settings of agents and
/// documents of any age use them. Only `team` has none.
pub fn with_commands(line: clap::Command, called: Option<&str>) -> clap::Command {
    let all = every_command();
    let is_in = |group: &str, name| {
        shell::GROUPS.iter().any(|(it, members)| *it == group && members.contains(&name))
    };
    let (grouped, single): (Vec<_>, Vec<_>) =
        all.iter().partition(|it| GROUPS.iter().any(|(group, _)| is_in(group, it.name)));
    let short: Vec<_> = grouped.iter().filter(|it| it.name != "team").collect();

    let names = single.iter().chain(short.iter().copied()).map(|it| it.name);
    let called = called.filter(|name| names.chain(GROUPS.map(|(it, _)| it)).any(|it| it == *name));
    let is_called = |name: &str| called.is_none_or(|called| called == name);
    let define = |it: &Command| (it.define)(clap::Command::new(it.name));
    let group = |(name, about): &(&'static str, &'static str)| {
        let members = grouped.iter().filter(|it| is_in(name, it.name)).map(|it| define(it));
        let group = clap::Command::new(*name).about(*about).subcommands(members);
        group.subcommand_required(true).arg_required_else_help(true)
    };
    line.subcommands(single.iter().filter(|it| is_called(it.name)).map(|it| define(it)))
        .subcommands(GROUPS.iter().filter(|(name, _)| is_called(name)).map(group))
        .subcommands(short.iter().filter(|it| is_called(it.name)).map(|it| define(it).hide(true)))
}

/// Takes the command and its arguments from what was parsed.
pub fn read(parsed: &mut ArgMatches) -> Result<ReadCommand, Error> {
    let missing = || Error::new(ErrorKind::MissingSubcommand);
    let (name, mut arguments) = parsed.remove_subcommand().ok_or_else(missing)?;
    match every_command().into_iter().find(|it| it.name == name) {
        Some(command) => (command.read)(&mut arguments),
        None => read(&mut arguments),
    }
}
