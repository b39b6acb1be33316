//! Shows on a terminal how far a question about all files has come.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use why::Workspace;
use why::file_progress::FileProgress;

use super::print::Printer;

/// How long a question may take before its progress is shown.
const QUICK: Duration = Duration::from_millis(500);
const PACE: Duration = Duration::from_millis(100);
const EMPTY_LINE: &str = "\r\x1b[K";

/// Asks a question about all files of a workspace. If it takes long and standard error is a terminal,
/// a line such as `640 of 2225 files` stands there until there is an answer.
pub fn with_progress<T>(printer: &Printer, workspace: &Workspace, ask: impl FnOnce() -> T) -> T {
    let streams = &printer.streams;
    if printer.quiet || !streams.terminals.error {
        return ask();
    }
    let write = |text: &str| {
        let mut terminal = streams.error();
        // Nobody can be told that a terminal is gone.
        let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
    };
    let (asking, answered) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || show(write, workspace.progress(), &answered, QUICK));
        // It is dropped with the answer, and also if the question panics.
        let _asking = asking;
        ask()
    })
}

fn show(
    mut write: impl FnMut(&str),
    progress: &FileProgress,
    answered: &Receiver<()>,
    quick: Duration,
) {
    let mut wait = quick;
    while answered.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = PACE;
        let (done, all) = progress.so_far();
        if all > 0 {
            write(&format!("{EMPTY_LINE}{done} of {all} files"));
        }
    }
    if wait != quick {
        write(EMPTY_LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_of_ten() -> FileProgress {
        let progress = FileProgress::default();
        progress.expect_files(10);
        (0..3).for_each(|_| progress.count_file());
        progress
    }

    #[test]
    fn progress_is_shown_until_there_is_an_answer() {
        let progress = three_of_ten();
        let ((asking, answered), (written, lines)) = (channel(), channel());
        thread::scope(|scope| {
            let write = move |text: &str| written.send(text.to_owned()).expect("sent");
            let progress = &progress;
            scope.spawn(move || show(write, progress, &answered, Duration::from_millis(1)));
            assert_eq!(lines.recv().as_deref(), Ok("\r\x1b[K3 of 10 files"));
            drop(asking);
            assert_eq!(lines.iter().last().as_deref(), Some(EMPTY_LINE));
        });
    }

    #[test]
    fn nothing_is_shown_of_a_quick_question() {
        let (asking, answered) = channel();
        drop(asking);
        let write = |text: &str| panic!("{text:?} is shown");
        show(write, &three_of_ten(), &answered, Duration::from_secs(60));
    }
}
