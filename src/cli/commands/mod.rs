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
    pub fn short_spelling(self) -> Self {
        match self {
            Self::Evidence(command) => command.short_spelling(),
            Self::Agent(command) => command.short_spelling(),
            Self::Setup(command) => command.short_spelling(),
            short => short,
        }
    }
}

impl EvidenceCommand {
    fn short_spelling(self) -> Command {
        match self {
            Self::Seal(args) => Command::Seal(args),
            Self::Verify(args) => Command::Verify(args),
            Self::Anchor(args) => Command::Anchor(args),
            Self::Attest(args) => Command::Attest(args),
            Self::Erase(args) => Command::Erase(args),
            Self::Compact(args) => Command::Compact(args),
            Self::Reassign(args) => Command::Reassign(args),
            Self::Import(args) => Command::Import(args),
            Self::Export(args) => Command::Export(args),
            Self::Sessions(args) => Command::Sessions(args),
        }
    }
}

impl AgentCommand {
    fn short_spelling(self) -> Command {
        match self {
            Self::Hook(args) => Command::Hook(args),
            Self::Mcp(args) => Command::Mcp(args),
            Self::Gate(args) => Command::Gate(args),
            Self::Off(args) => Command::Off(args),
            Self::On(args) => Command::On(args),
            Self::Worktree(args) => Command::Worktree(args),
            Self::Protocol(args) => Command::Protocol(args),
            Self::Explain(args) => Command::Explain(args),
        }
    }
}

impl SetupCommand {
    fn short_spelling(self) -> Command {
        match self {
            Self::Init(args) => Command::Init(args),
            Self::Uninstall(args) => Command::Uninstall(args),
            Self::GitHooks(args) => Command::GitHooks(args),
            Self::Team(args) => Command::Init(args.into()),
            Self::SplitRegistry(args) => Command::SplitRegistry(args),
            Self::MergeRegistry(args) => Command::MergeRegistry(args),
            Self::Renumber(args) => Command::Renumber(args),
            Self::Demo(args) => Command::Demo(args),
            Self::Completions(args) => Command::Completions(args),
            Self::Man(args) => Command::Man(args),
        }
    }
}

pub fn dispatch(context: &Context, command: Command) -> Result<Exit, CliError> {
    match command.short_spelling() {
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
        Command::Evidence(_) | Command::Agent(_) | Command::Setup(_) => {
            unreachable!("the short spelling of a command is in no group")
        }
    }
}
