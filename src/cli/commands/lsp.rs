//! `intent lsp`: runs the language server.

use crate::cli::{CliError, Exit};

/// Run the language server on stdin and stdout
#[derive(Debug, clap::Args)]
pub struct LspArgs {
    /// Accepted for editors that insist on it; stdio is the only transport
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(_args: LspArgs) -> Result<Exit, CliError> {
    // The server ends with the exit status that the protocol requires, so the process ends with it,
    // too.
    Ok(Exit::found(lsp::run() != std::process::ExitCode::SUCCESS))
}
