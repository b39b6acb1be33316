//! `intent agent hook`: runs the agents' hook.

use std::process::ExitCode;

use crate::cli::Exit;
use ground::Environment;

/// Answer one call of an agent's host: its JSON on stdin, its answer on stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Hosts: claude-code codex cursor copilot vscode gemini antigravity windsurf cline
kiro droid devin; opencode amp pi through their plugins; auto recognises the
host from its message.

An agent's settings call this before and after every tool; nobody types it. A
call that changes something, and that cannot be judged, is denied in the host's
own words.

Examples:
  intent agent hook claude-code < call.json
  intent agent hook auto < call.json")]
pub struct HookArgs {
    /// The host that makes the call
    #[arg(value_name = "HOST")]
    host: String,
}

/// The hook prints its answer itself. The exit code is 0, or 2, by which some hosts understand a
/// denial.
pub fn run(args: &HookArgs, environment: &Environment) -> Exit {
    let ended = hook::run(&args.host, environment);
    if ended == ExitCode::SUCCESS { Exit::Fine } else { Exit::Usage }
}
