//! Git's own program, for what commands need of it: the index, which git locks and writes itself, and the settings of the
//! machine, of which opening a workspace reads only those of the repository.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::verbs::Workspace;
use crate::workspace::RelativePath;

/// A setting as git has it in a folder, given its name behind what `git config` takes before it; `None` where it is not
/// set, or git is not there.
pub(crate) fn git_config(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(["config", "--get"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Puts files of a workspace into the index, or takes them out where they are gone. In a hook git hands us the index that
/// the commit is made from.
pub(crate) fn stage<'a>(
    workspace: &Workspace,
    paths: impl Iterator<Item = &'a RelativePath>,
) -> std::io::Result<()> {
    let Some(top) = workspace.root.work_tree() else { return Ok(()) };
    let below = |path| {
        let path = workspace.root.absolute(path);
        path.strip_prefix(top).unwrap_or(&path).to_string_lossy().replace('\\', "/")
    };
    update_index(top, paths.map(below).collect())
}

/// The same for paths below the top of the work tree.
pub(crate) fn update_index(top: &Path, paths: Vec<String>) -> std::io::Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let mut git = Command::new("git")
        .args(["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"])
        .args(["update-index", "--add", "--remove", "-z", "--stdin"])
        .current_dir(top)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = git.stdin.take() {
        for path in paths {
            input.write_all(path.as_bytes())?;
            input.write_all(b"\0")?;
        }
    }
    let output = git.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
