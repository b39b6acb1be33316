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

/// The commands in the order in which `intent --help` lists them. The hidden ones are the short
/// spellings of those in groups: git hooks, settings of agents and documents of any age use them.
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
    #[command(hide = true)]
    Seal(seal::SealArgs),
    #[command(hide = true)]
    Verify(verify::VerifyArgs),
    #[command(hide = true)]
    Anchor(anchor::AnchorArgs),
    #[command(hide = true)]
    Attest(attest::AttestArgs),
    #[command(hide = true)]
    Erase(erase::EraseArgs),
    #[command(hide = true)]
    Compact(compact::CompactArgs),
    #[command(hide = true)]
    Reassign(reassign::ReassignArgs),
    #[command(hide = true)]
    Import(import::ImportArgs),
    #[command(hide = true)]
    Export(export::ExportArgs),
    #[command(hide = true)]
    Sessions(sessions::SessionsArgs),
    #[command(hide = true)]
    Hook(hook::HookArgs),
    #[command(hide = true)]
    Mcp(mcp::McpArgs),
    #[command(hide = true)]
    Gate(gate::GateArgs),
    #[command(hide = true)]
    Off(off::OffArgs),
    #[command(hide = true)]
    On(off::OnArgs),
    #[command(hide = true)]
    Worktree(worktree::WorktreeArgs),
    #[command(hide = true)]
    Protocol(protocol::ProtocolArgs),
    #[command(hide = true)]
    Explain(explain::ExplainArgs),
    #[command(hide = true)]
    Init(init::InitArgs),
    #[command(hide = true)]
    Uninstall(uninstall::UninstallArgs),
    #[command(hide = true)]
    GitHooks(git_hooks::GitHooksArgs),
    #[command(hide = true)]
    SplitRegistry(split_registry::SplitRegistryArgs),
    #[command(hide = true)]
    MergeRegistry(merge_registry::MergeRegistryArgs),
    #[command(hide = true)]
    Renumber(renumber::RenumberArgs),
    #[command(hide = true)]
    Demo(demo::DemoArgs),
    #[command(hide = true)]
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Man(man::ManArgs),
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

/// The commands that set something up, or write files that an installation needs.
#[derive(Debug, clap::Subcommand)]
pub enum SetupCommand {
    Init(init::InitArgs),
    Uninstall(uninstall::UninstallArgs),
    GitHooks(git_hooks::GitHooksArgs),
    Team(init::TeamArgs),
    SplitRegistry(split_registry::SplitRegistryArgs),
    MergeRegistry(merge_registry::MergeRegistryArgs),
    Renumber(renumber::RenumberArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    /// Returns a command of a group as the command with the short spelling.
    pub fn short(self) -> Self {
        match self {
            Self::Evidence(EvidenceCommand::Seal(args)) => Self::Seal(args),
            Self::Evidence(EvidenceCommand::Verify(args)) => Self::Verify(args),
            Self::Evidence(EvidenceCommand::Anchor(args)) => Self::Anchor(args),
            Self::Evidence(EvidenceCommand::Attest(args)) => Self::Attest(args),
            Self::Evidence(EvidenceCommand::Erase(args)) => Self::Erase(args),
            Self::Evidence(EvidenceCommand::Compact(args)) => Self::Compact(args),
            Self::Evidence(EvidenceCommand::Reassign(args)) => Self::Reassign(args),
            Self::Evidence(EvidenceCommand::Import(args)) => Self::Import(args),
            Self::Evidence(EvidenceCommand::Export(args)) => Self::Export(args),
            Self::Evidence(EvidenceCommand::Sessions(args)) => Self::Sessions(args),
            Self::Agent(AgentCommand::Hook(args)) => Self::Hook(args),
            Self::Agent(AgentCommand::Mcp(args)) => Self::Mcp(args),
            Self::Agent(AgentCommand::Gate(args)) => Self::Gate(args),
            Self::Agent(AgentCommand::Off(args)) => Self::Off(args),
            Self::Agent(AgentCommand::On(args)) => Self::On(args),
            Self::Agent(AgentCommand::Worktree(args)) => Self::Worktree(args),
            Self::Agent(AgentCommand::Protocol(args)) => Self::Protocol(args),
            Self::Agent(AgentCommand::Explain(args)) => Self::Explain(args),
            Self::Setup(SetupCommand::Init(args)) => Self::Init(args),
            Self::Setup(SetupCommand::Uninstall(args)) => Self::Uninstall(args),
            Self::Setup(SetupCommand::GitHooks(args)) => Self::GitHooks(args),
            Self::Setup(SetupCommand::Team(args)) => Self::Init(args.into()),
            Self::Setup(SetupCommand::SplitRegistry(args)) => Self::SplitRegistry(args),
            Self::Setup(SetupCommand::MergeRegistry(args)) => Self::MergeRegistry(args),
            Self::Setup(SetupCommand::Renumber(args)) => Self::Renumber(args),
            Self::Setup(SetupCommand::Demo(args)) => Self::Demo(args),
            Self::Setup(SetupCommand::Completions(args)) => Self::Completions(args),
            Self::Setup(SetupCommand::Man(args)) => Self::Man(args),
            short => short,
        }
    }
}

pub fn dispatch(context: &Context, command: Command) -> Result<Exit, CliError> {
    match command.short() {
        Command::Init(args) => init::run(context, args),
        Command::SplitRegistry(args) => split_registry::run(context, args),
        Command::MergeRegistry(args) => merge_registry::run(context, args),
        Command::Demo(args) => demo::run(context, args),
        Command::Uninstall(args) => uninstall::run(context, args),
        Command::List(args) => list::run(context, args),
        Command::New(args) => new::run(context, args),
        Command::Start(args) => start::run(context, args),
        Command::Test(args) => test::run(context, args),
        Command::Complete(args) => complete::run(context, args),
        Command::Adopt(args) => adopt::run(context, args),
        Command::Edit(args) => edit::run(context, args),
        Command::Renumber(args) => renumber::run(context, args),
        Command::Select(args) => select::run(context, args),
        Command::Clear(args) => clear::run(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Context(args) => context::run(context, args),
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
        Command::Report(args) => report::run(context, args),
        Command::Verify(args) => verify::run(context, args),
        Command::Anchor(args) => anchor::run(context, args),
        Command::Attest(args) => attest::run(context, args),
        Command::Erase(args) => erase::run(context, args),
        Command::Trace(args) => trace::run(context, args),
        Command::Export(args) => export::run(context, args),
        Command::Doctor(args) => doctor::run(context, args),
        Command::Gate(args) => gate::run(context, args),
        Command::Fence(args) => fence::run(context, args),
        Command::Import(args) => import::run(context, args),
        Command::Sessions(args) => sessions::run(context, args),
        Command::Worktree(args) => worktree::run(context, args),
        Command::Hook(args) => Ok(hook::run(&args, context.environment())),
        Command::GitHooks(args) => git_hooks::run(context, args),
        Command::Approve(args) => approve::run(context, args),
        Command::Reject(args) => approve::reject(context, args),
        Command::Off(args) => off::run(context, args),
        Command::On(args) => off::switch_on(context, args),
        Command::Lesson(args) => lesson::run(context, args),
        Command::Policy(args) => policy::run(context, args),
        Command::Protocol(args) => protocol::run(context, args),
        Command::Explain(args) => explain::run(context, args),
        Command::Lsp(args) => lsp::run(args),
        Command::Mcp(args) => mcp::run(context, args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, args),
        Command::Schema(args) => schema::run(context, args),
        // The short spelling of a command is in no group.
        Command::Evidence(_) | Command::Agent(_) | Command::Setup(_) => Ok(Exit::Fine),
    }
}
