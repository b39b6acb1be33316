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

use crate::cli::{CliError, Context, Exit};

/// The commands in the order in which `intent --help` lists them. The flattened
/// ones are the short spellings of those in groups, which are hidden: git hooks, settings of agents
/// and documents of any age use them.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    List(list::ListArgs),
    New(new::NewArgs),
    Start(start::StartArgs),
    Complete(complete::CompleteArgs),
    Edit(edit::EditArgs),
    Adopt(adopt::AdoptArgs),
    Test(test::TestArgs),
    Select(select::SelectArgs),
    Clear(clear::ClearArgs),
    Status(status::StatusArgs),
    Context(context::ContextArgs),
    For(for_files::ForArgs),
    Propose(propose::ProposeArgs),
    RequestScope(propose::ScopeArgs),
    Record(record::RecordArgs),
    Accept(accept::AcceptArgs),
    Why(why::WhyArgs),
    Check(check::CheckArgs),
    Map(map::MapArgs),
    Report(report::ReportArgs),
    Trace(trace::TraceArgs),
    Doctor(doctor::DoctorArgs),
    Approve(approve::ApproveArgs),
    Reject(approve::RejectArgs),
    Lesson(lesson::LessonArgs),
    Policy(policy::PolicyArgs),
    Fence(fence::FenceArgs),
    /// Seal, verify and sign what was recorded
    #[command(subcommand)]
    Evidence(EvidenceCommand),
    /// What agents' hosts call, and what a person decides about the gate
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Set up a repository, its hooks and its team, or take that back
    #[command(subcommand)]
    Setup(SetupCommand),
    Lsp(lsp::LspArgs),
    Schema(schema::SchemaArgs),
    #[command(flatten)]
    ShortEvidence(EvidenceCommand),
    #[command(flatten)]
    ShortAgent(AgentCommand),
    #[command(flatten)]
    ShortStart(SetupStart),
    #[command(flatten)]
    ShortFiles(SetupFiles),
}

/// The commands that make evidence of records, and look after it.
#[derive(Debug, clap::Subcommand)]
pub enum EvidenceCommand {
    Seal(seal::SealArgs),
    Verify(verify::VerifyArgs),
    Anchor(anchor::AnchorArgs),
    Attest(attest::AttestArgs),
    Erase(erase::EraseArgs),
    Compact(compact::CompactArgs),
    Reassign(reassign::ReassignArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
    Sessions(sessions::SessionsArgs),
}

/// The commands that agents' hosts call, and those for the gate.
#[derive(Debug, clap::Subcommand)]
pub enum AgentCommand {
    Hook(hook::HookArgs),
    Mcp(mcp::McpArgs),
    Gate(gate::GateArgs),
    Off(off::OffArgs),
    On(off::OnArgs),
    Worktree(worktree::WorktreeArgs),
    Protocol(protocol::ProtocolArgs),
    Explain(explain::ExplainArgs),
}

/// The commands that set something up, or write files that an installation needs. Only `team` has no
/// short spelling.
#[derive(Debug, clap::Subcommand)]
pub enum SetupCommand {
    #[command(flatten)]
    Start(SetupStart),
    Team(init::TeamArgs),
    #[command(flatten)]
    Files(SetupFiles),
}

/// The commands that put our hooks in and take them out.
#[derive(Debug, clap::Subcommand)]
pub enum SetupStart {
    Init(init::InitArgs),
    Uninstall(uninstall::UninstallArgs),
    GitHooks(git_hooks::GitHooksArgs),
}

/// The commands that mend the registry, or write files for people.
#[derive(Debug, clap::Subcommand)]
pub enum SetupFiles {
    SplitRegistry(split_registry::SplitRegistryArgs),
    MergeRegistry(merge_registry::MergeRegistryArgs),
    Renumber(renumber::RenumberArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    pub fn short_spelling(self) -> Self {
        match self {
            Self::Evidence(command) => Self::ShortEvidence(command),
            Self::Agent(command) => Self::ShortAgent(command),
            Self::Setup(SetupCommand::Start(command)) => Self::ShortStart(command),
            Self::Setup(SetupCommand::Team(args)) => {
                Self::ShortStart(SetupStart::Init(args.into()))
            }
            Self::Setup(SetupCommand::Files(command)) => Self::ShortFiles(command),
            short => short,
        }
    }
}

/// Returns the definition of the command line, in which the short spellings of the commands in groups
/// are hidden.
pub fn with_hidden_short_spellings(definition: clap::Command) -> clap::Command {
    let groups = definition.get_subcommands().flat_map(clap::Command::get_subcommands);
    let short: Vec<String> = groups.map(|member| member.get_name().to_owned()).collect();
    definition.mut_subcommands(|command| {
        let is_short = short.iter().any(|name| name == command.get_name());
        if is_short { command.hide(true) } else { command }
    })
}

pub fn dispatch(context: &Context, command: Command) -> Result<Exit, CliError> {
    match command.short_spelling() {
        Command::List(args) => list::run(context, args),
        Command::New(args) => new::run(context, args),
        Command::Start(args) => start::run(context, args),
        Command::Complete(args) => complete::run(context, args),
        Command::Edit(args) => edit::run(context, args),
        Command::Adopt(args) => adopt::run(context, args),
        Command::Test(args) => test::run(context, args),
        Command::Select(args) => select::run(context, args),
        Command::Clear(args) => clear::run(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Context(args) => context::run(context, args),
        Command::For(args) => for_files::run(context, args),
        Command::Propose(args) => propose::run(context, args),
        Command::RequestScope(args) => propose::scope(context, args),
        Command::Record(args) => record::run(context, args),
        Command::Accept(args) => accept::run(context, args),
        Command::Why(args) => why::run(context, args),
        Command::Check(args) => check::run(context, args),
        Command::Map(args) => map::run(context, args),
        Command::Report(args) => report::run(context, args),
        Command::Trace(args) => trace::run(context, args),
        Command::Doctor(args) => doctor::run(context, args),
        Command::Approve(args) => approve::run(context, args),
        Command::Reject(args) => approve::reject(context, args),
        Command::Lesson(args) => lesson::run(context, args),
        Command::Policy(args) => policy::run(context, args),
        Command::Fence(args) => fence::run(context, args),
        Command::Lsp(args) => lsp::run(args),
        Command::Schema(args) => schema::run(context, args),
        Command::ShortEvidence(command) => run_evidence(context, command),
        Command::ShortAgent(command) => run_agent(context, command),
        Command::ShortStart(command) => run_start(context, command),
        Command::ShortFiles(command) => run_files(context, command),
        Command::Evidence(_) | Command::Agent(_) | Command::Setup(_) => {
            unreachable!("the short spelling of a command is in no group")
        }
    }
}

fn run_evidence(context: &Context, command: EvidenceCommand) -> Result<Exit, CliError> {
    match command {
        EvidenceCommand::Seal(args) => seal::run(context, args),
        EvidenceCommand::Verify(args) => verify::run(context, args),
        EvidenceCommand::Anchor(args) => anchor::run(context, args),
        EvidenceCommand::Attest(args) => attest::run(context, args),
        EvidenceCommand::Erase(args) => erase::run(context, args),
        EvidenceCommand::Compact(args) => compact::run(context, args),
        EvidenceCommand::Reassign(args) => reassign::run(context, args),
        EvidenceCommand::Import(args) => import::run(context, args),
        EvidenceCommand::Export(args) => export::run(context, args),
        EvidenceCommand::Sessions(args) => sessions::run(context, args),
    }
}

fn run_agent(context: &Context, command: AgentCommand) -> Result<Exit, CliError> {
    match command {
        AgentCommand::Hook(args) => Ok(hook::run(&args, context.environment())),
        AgentCommand::Mcp(args) => mcp::run(context, args),
        AgentCommand::Gate(args) => gate::run(context, args),
        AgentCommand::Off(args) => off::run(context, args),
        AgentCommand::On(args) => off::switch_on(context, args),
        AgentCommand::Worktree(args) => worktree::run(context, args),
        AgentCommand::Protocol(args) => protocol::run(context, args),
        AgentCommand::Explain(args) => explain::run(context, args),
    }
}

fn run_start(context: &Context, command: SetupStart) -> Result<Exit, CliError> {
    match command {
        SetupStart::Init(args) => init::run(context, args),
        SetupStart::Uninstall(args) => uninstall::run(context, args),
        SetupStart::GitHooks(args) => git_hooks::run(context, args),
    }
}

fn run_files(context: &Context, command: SetupFiles) -> Result<Exit, CliError> {
    match command {
        SetupFiles::SplitRegistry(args) => split_registry::run(context, args),
        SetupFiles::MergeRegistry(args) => merge_registry::run(context, args),
        SetupFiles::Renumber(args) => renumber::run(context, args),
        SetupFiles::Demo(args) => demo::run(context, args),
        SetupFiles::Completions(args) => completions::run(context, args),
        SetupFiles::Man(args) => man::run(context, args),
    }
}
