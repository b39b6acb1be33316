//! The commands, one file for each: its arguments, the call of one verb, and the page that shows
//! the answer. `shared` holds what several of them print.

mod accept;
mod anchor;
mod approve;
mod check;
mod clear;
mod compact;
mod complete;
mod completions;
mod context;
mod demo;
mod doctor;
mod erase;
mod explain;
mod fence;
mod for_files;
mod gate;
mod git_hooks;
pub(super) mod hook;
mod init;
mod lesson;
mod list;
mod lsp;
mod man;
mod map;
mod mcp;
mod new;
mod off;
mod policy;
mod propose;
mod protocol;
mod reassign;
mod record;
mod report;
pub(super) mod schema;
mod seal;
mod select;
mod shared;
mod start;
mod status;
mod test;
mod trace;
mod uninstall;
mod verify;
mod why;
mod worktree;

use crate::cli::{CliError, Context, Exit};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
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
    Context(context::ContextArgs),
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
    Report(report::ReportArgs),
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

/// Runs a command.
pub fn dispatch(context: &Context, command: Command) -> Result<Exit, CliError> {
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
