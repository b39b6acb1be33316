//! The `commit-msg` hook, which adds trailers to the message of a commit.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::cli::git::{self, in_time};
use crate::cli::programs;
use evidence::trailers;
use ground::{Environment, Hint, store};
use why::Workspace;

/// The line at which git cuts off a message (`git commit --verbose` shows the difference below it).
const SCISSORS: &str = "------------------------ >8 ------------------------";

/// The largest message, in bytes, that is read. A larger one gets no trailers.
const MAX_MESSAGE: u64 = 16 * 1024 * 1024;

/// Adds to a message the trailers that the policy wants, except those it already has. An empty
/// message stays empty, because that stops the commit.
pub(super) fn add_trailers(workspace: &Workspace, message: &Path) -> Result<(), Box<dyn Error>> {
    let trailers = trailers::of_commit(workspace).map_err(|error| error.with_hint())?;
    if trailers.is_empty() || is_empty(message, workspace.root.environment())? {
        return Ok(());
    }
    let environment = workspace.root.environment();
    let mut git = programs::command("git", environment);
    git.args(["interpret-trailers", "--in-place", "--no-divider"]);
    git.args(["--where", "end", "--if-exists", "addIfDifferent", "--if-missing", "add"]);
    for trailer in &trailers {
        git.arg("--trailer").arg(trailer);
    }
    let output = git::run(git.arg(message))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().into()),
    }
}

/// Returns true if git would treat the message as empty, that is, if it has only comments, white
/// space and sign-offs.
fn is_empty(message: &Path, environment: &Environment) -> std::io::Result<bool> {
    let text = store::read_capped(message, MAX_MESSAGE).map_err(std::io::Error::other)?;
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let said = text.lines().take_while(|line| !line.ends_with(SCISSORS));
    let mut git = programs::command("git", environment)
        .args(["stripspace", "--strip-comments"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = git.stdin.take() {
        for line in said.filter(|line| !line.starts_with("Signed-off-by: ")) {
            writeln!(input, "{line}")?;
        }
    }
    let output = in_time(git)?;
    Ok(output.stdout.iter().all(u8::is_ascii_whitespace))
}
