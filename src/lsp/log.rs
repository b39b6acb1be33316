//! Writes the log to standard error on its own thread, so that a client that does not read the log
//! cannot block the loop.

use std::backtrace::Backtrace;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// How many lines may wait to be written. Further lines are dropped.
const WAITING_LINES: usize = 1024;

const LAST_LINES: Duration = Duration::from_millis(200);

enum LogEntry {
    Text(Vec<u8>),
    Flush(SyncSender<()>),
}

#[derive(Clone)]
pub struct Log {
    lines: SyncSender<LogEntry>,
}

impl Log {
    /// Sets up the log of this process. `INTENT_LOG` sets its level (the default is warnings), and
    /// panics are logged with their backtrace.
    pub(crate) fn start() -> io::Result<Self> {
        let log = Self::to_output(io::stderr())?;
        let filter = std::env::var("INTENT_LOG").ok().and_then(|wanted| wanted.parse().ok());
        let filter: Targets =
            filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
        let writer = log.clone();
        let lines = tracing_subscriber::fmt::layer().with_ansi(false);
        let lines = lines.with_writer(move || writer.clone()).with_filter(filter);
        if tracing_subscriber::registry().with(lines).try_init().is_ok() {
            std::panic::set_hook(Box::new(|panic| {
                let backtrace = Backtrace::force_capture();
                tracing::error!(%panic, %backtrace, "a fault of the server");
            }));
        }
        Ok(log)
    }

    fn to_output(output: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, queue) = sync_channel(WAITING_LINES);
        thread::Builder::new().name("lsp-log".into()).spawn(move || write(&queue, output))?;
        Ok(Self { lines })
    }

    /// Waits until the lines queued so far are written, but at most [`LAST_LINES`].
    pub(crate) fn flush(&self) {
        let (written, done) = sync_channel(1);
        if self.lines.try_send(LogEntry::Flush(written)).is_ok() {
            // If the thread is late or gone, there is nothing more to wait for.
            done.recv_timeout(LAST_LINES).ok();
        }
    }
}

fn write(queue: &Receiver<LogEntry>, mut output: impl Write) {
    while let Ok(line) = queue.recv() {
        match line {
            LogEntry::Text(text) => {
                if output.write_all(&text).is_err() {
                    return;
                }
            }
            LogEntry::Flush(written) => {
                output.flush().ok();
                // The receiver may have stopped waiting.
                written.try_send(()).ok();
            }
        }
    }
}

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        // A full queue drops the line: a gap in the log is better than a blocked server.
        self.lines.try_send(LogEntry::Text(text.to_vec())).ok();
        Ok(text.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_log_that_nobody_reads_blocks_nothing() {
        let (_reader, writer) = io::pipe().unwrap();
        let mut log = Log::to_output(writer).unwrap();
        let started = Instant::now();
        for _ in 0..10_000 {
            log.write_all(&[b'x'; 100]).unwrap();
        }
        log.flush();
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_was_logged_is_written_in_order() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut log = Log::to_output(writer).unwrap();
        log.write_all(b"one\n").unwrap();
        log.write_all(b"two\n").unwrap();
        Log::flush(&log);
        drop(log);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\ntwo\n");
    }
}
