//! `intent completions`: prints the completion script of a shell.

use clap_complete::Shell;

use crate::cli::{CliError, Context, Exit};

/// Write a shell's completion script to stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  intent completions bash > ~/.local/share/bash-completion/completions/intent
  intent completions fish > ~/.config/fish/completions/intent.fish")]
pub struct CompletionsArgs {
    /// The shell to write completions for
    shell: Shell,
}

pub fn run(context: &Context, args: CompletionsArgs) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "intent", &mut script);
    context.printer.document(&script)
}
