//! `intent lsp`: runs the language server.

use crate::cli::{CliError, Exit};

/// Run the language server on stdin and stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An editor starts it. Extensions and configurations for several editors are in a clone of
the project, below editors/, and docs/editors.md says what they show. Without them:

  Neovim 0.11 (init.lua):
    vim.lsp.config('intent', { cmd = { 'intent', 'lsp' }, root_markers = { '.git' } })
    vim.lsp.enable('intent')
  Helix (languages.toml), and \"intent\" in the language-servers of each language:
    [language-server.intent]
    command = \"intent\"
    args = [\"lsp\"]
  Emacs:
    C-u M-x eglot RET intent lsp RET
  Any other client: the command `intent lsp`, for all languages, in the top folder of the
  repository.")]
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
