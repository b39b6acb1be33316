//! Runs the `git` program. Commands need it to change the index, which git locks and writes itself.

use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::programs;
use ground::{Environment, RelativePath};
use why::Workspace;

/// How long git may run. Git opens every file of the work tree, even a named pipe, and then waits
/// for ever for a writer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until git ends and returns its output. Kills git and returns an error after [`PATIENCE`].
pub fn in_time(mut git: Child) -> std::io::Result<Output> {
    let (out, err) = (read_aside(git.stdout.take()), read_aside(git.stderr.take()));
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = git.try_wait()? {
            break status;
        }
        if Instant::now() > end {
            git.kill()?;
            git.wait()?;
            let reason = format!(
                "git did not end within {} s; `find . -type p` lists pipes that it may wait for",
                PATIENCE.as_secs()
            );
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, reason));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |thread: JoinHandle<std::io::Result<Vec<u8>>>| {
        thread.join().unwrap_or_else(|_| Err(std::io::Error::other("its output was not read")))
    };
    Ok(Output { status, stdout: read(out)?, stderr: read(err)? })
}

fn read_aside(stream: Option<impl Read + Send + 'static>) -> JoinHandle<std::io::Result<Vec<u8>>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut bytes));
        read.map(|_| bytes)
    })
}

pub fn run(git: &mut Command) -> std::io::Result<Output> {
    in_time(git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// Adds files of a workspace to the index, and removes those that no longer exist. In a hook, git
/// names in the environment the index that the commit is made from, and this function changes that
/// one.
pub fn stage<'a>(
    workspace: &Workspace,
    paths: impl Iterator<Item = &'a RelativePath>,
) -> std::io::Result<()> {
    let Some(top) = workspace.root.work_tree() else { return Ok(()) };
    let below = |path| {
        let path = workspace.root.absolute(path);
        let below = path.strip_prefix(top).unwrap_or(&path).to_string_lossy();
        // On Unix a backslash is a letter of a name.
        if cfg!(windows) { below.replace('\\', "/") } else { below.into_owned() }
    };
    update_index(top, paths.map(below).collect(), workspace.root.environment())
}

/// Like [`stage`], for paths relative to the top of the work tree.
pub fn update_index(
    top: &Path,
    paths: Vec<String>,
    environment: &Environment,
) -> std::io::Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let mut git = programs::command("git", environment)
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
    let output = in_time(git)?;
    if output.status.success() {
        return Ok(());
    }
    Err(std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
