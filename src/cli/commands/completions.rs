//! `intent setup completions`: prints the completion script of a shell.

use clap_complete::Shell;

use crate::cli::{CliError, Context, Exit};

/// Write a shell's completion script to stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  intent setup completions bash > ~/.local/share/bash-completion/completions/intent
  intent setup completions fish > ~/.config/fish/completions/intent.fish")]
pub struct CompletionsArgs {
    /// The shell to write completions for
    shell: Shell,
}

pub fn run(context: &Context, args: CompletionsArgs) -> Result<Exit, CliError> {
    let all = crate::cli::command();
    // Former names of commands, such as `intent seal`, still work. The shell offers only the
    // present ones.
    let offered = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut offered =
        clap::Command::new("intent").args(all.get_arguments().cloned()).subcommands(offered);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut offered, "intent", &mut script);
    context.printer.document(&script)
}
