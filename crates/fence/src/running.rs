//! Runs a command, passes signals on to it, and ends the processes that it leaves running.

use std::os::unix::process::ExitStatusExt;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::{Command, ExitStatus};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a command to its end. Returns its status, and whether no process of it is left.
///
/// A terminal sends its interrupts to this process and the command, so these are not passed on;
/// other signals are. `ours` is a child of this process that does not belong to the command.
pub fn run(mut command: Command, ours: Option<u32>) -> std::io::Result<(ExitStatus, bool)> {
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2])?;
    let handle = signals.handle();
    adopt();
    let mut child = command.spawn()?;
    let number = child.id();
    let listener = std::thread::spawn(move || {
        for signal in signals.forever() {
            if !matches!(signal, SIGINT | SIGQUIT) {
                send(number, signal);
            }
        }
    });
    let status = child.wait();
    handle.close();
    // The thread only passes on signals, and the command has ended.
    let _ = listener.join();
    let cleared = clear(ours);
    Ok((status?, cleared))
}

/// Ends this process by the signal that ended the command, or returns the command's exit code.
pub fn end_as(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        // If the signal did not end this process, use the exit code that a shell uses.
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(target_os = "linux")]
fn send(process: u32, signal: i32) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let (Some(process), Some(signal)) = (process, Signal::from_named_raw(signal)) {
        // The process may have ended already.
        let _ = kill_process(process, signal);
    }
}

#[cfg(not(target_os = "linux"))]
fn send(process: u32, signal: i32) {
    let _ = Command::new("/bin/kill").arg(format!("-{signal}")).arg(process.to_string()).status();
}

/// Makes the processes that the command leaves running children of this process.
#[cfg(target_os = "linux")]
fn adopt() {
    // If this fails, the only effect is that processes left running are not ended.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt() {}

/// Ends the processes that the command left running. Nobody would check what they write later.
/// Returns true if none is left.
#[cfg(target_os = "linux")]
fn clear(ours: Option<u32>) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    kill_all(PATIENCE, || {
        if waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG).is_err() {
            return Vec::new();
        }
        let mut left = children();
        left.retain(|child| u32::try_from(child.as_raw_nonzero().get()).ok() != ours);
        left
    })
}

/// Kills the processes that `find` returns, until it returns none. Returns false if some are left
/// after `patience`.
#[cfg(target_os = "linux")]
pub(super) fn kill_all(patience: Duration, find: impl Fn() -> Vec<Pid>) -> bool {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        let left = find();
        if left.is_empty() {
            return true;
        }
        for process in left {
            // The process may have ended already.
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

#[cfg(not(target_os = "linux"))]
fn clear(_ours: Option<u32>) -> bool {
    true
}

/// Returns the children of this process, including ended ones that were not waited for.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let ours = rustix::process::getpid().as_raw_nonzero().get().to_string();
    processes(|folder| {
        // The name of the program may contain any character. After it come the state and the
        // parent.
        let stat = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        after_name.split_whitespace().nth(1) == Some(ours.as_str())
    })
}

#[cfg(target_os = "linux")]
pub(super) fn processes(is_wanted: impl Fn(&Path) -> bool) -> Vec<Pid> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let wanted = all.filter_map(|entry| {
        let process = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        is_wanted(&entry.path()).then_some(process)
    });
    wanted.collect()
}
