//! A command that runs, and us beside it: signals are passed on, and what it leaves running ends with it.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

/// How long what is left running may take to end once it was told to.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a command to its end.
///
/// A terminal sends its signals to us both, so interrupts are not passed on; the others are. `ours` is a child that has
/// nothing to do with the command. Also says whether nothing of the command is left.
pub(crate) fn run(mut command: Command, ours: Option<u32>) -> std::io::Result<(ExitStatus, bool)> {
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
    let status = wait(&mut child);
    handle.close();
    // It only passes signals on, and there is nobody left to pass them to.
    let _ = listener.join();
    let cleared = clear(ours);
    Ok((status?, cleared))
}

fn wait(child: &mut Child) -> std::io::Result<ExitStatus> {
    loop {
        match child.wait() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Ends this process as the command ended, where a signal ended it; else says its code.
pub(crate) fn end_as(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        // Where that did not end us either, as a shell would say it.
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(target_os = "linux")]
fn send(process: u32, signal: i32) {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    let signal = rustix::process::Signal::from_named_raw(signal);
    if let (Some(process), Some(signal)) = (process, signal) {
        // It may have ended meanwhile.
        let _ = rustix::process::kill_process(process, signal);
    }
}

#[cfg(not(target_os = "linux"))]
fn send(process: u32, signal: i32) {
    let _ = Command::new("/bin/kill").arg(format!("-{signal}")).arg(process.to_string()).status();
}

/// What the command leaves behind becomes ours rather than somebody's outside.
#[cfg(target_os = "linux")]
fn adopt() {
    // Without it nothing more is lost than that what is left running goes on.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt() {}

/// Ends what was left running: nobody looks any more at what it does.
#[cfg(target_os = "linux")]
fn clear(ours: Option<u32>) -> bool {
    use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process, waitid};
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG).is_err() {
            return true;
        }
        let mut left = children();
        left.retain(|child| u32::try_from(child.as_raw_nonzero().get()).ok() != ours);
        if left.is_empty() {
            return true;
        }
        for child in left {
            // It may have ended meanwhile.
            let _ = kill_process(child, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

#[cfg(not(target_os = "linux"))]
fn clear(_ours: Option<u32>) -> bool {
    true
}

#[cfg(target_os = "linux")]
fn children() -> Vec<rustix::process::Pid> {
    let numbers = |text: &str| -> Vec<rustix::process::Pid> {
        let numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
        numbers.filter_map(rustix::process::Pid::from_raw).collect()
    };
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let told: Vec<_> =
        tasks.map(|task| std::fs::read_to_string(task.path().join("children"))).collect();
    if told.iter().any(Result::is_ok) {
        return told.iter().flatten().flat_map(|text| numbers(text)).collect();
    }
    // A kernel that does not list them.
    let ours = rustix::process::getpid().as_raw_nonzero().get().to_string();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // Behind the name, which may hold anything: the state, and the parent.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        (parent == ours).then(|| numbers(entry.file_name().to_str()?).pop()).flatten()
    })
    .collect()
}
