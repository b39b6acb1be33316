//! `intent agent mcp`: runs the MCP server.

use crate::cli::{CliError, Context, Exit};

/// Run the MCP server on stdin and stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every client starts it as a program: `intent agent mcp`, in the project's folder, or
`intent -C DIR agent mcp` where the client starts programs somewhere else.")]
pub struct McpArgs {
    /// Accepted for clients that insist on it; stdio is the only transport
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(context: &Context, _args: McpArgs) -> Result<Exit, CliError> {
    let named = context.named.then(|| context.cwd.clone());
    let ended = mcp::run(context.environment().clone(), context.cwd.clone(), named);
    Ok(Exit::found(ended != std::process::ExitCode::SUCCESS))
}
