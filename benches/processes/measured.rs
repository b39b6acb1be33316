//! A page of times, each compared with another time that was taken in turn with it.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::{millis, print};

/// Returns the time from just before the start to the end of a process, which must exit with one of `codes`.
pub fn ran(command: &mut Command, codes: &[i32]) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let started = Instant::now();
    let status = command.status().expect("the program starts");
    let took = started.elapsed();
    assert!(status.code().is_some_and(|code| codes.contains(&code)), "{command:?}: {status}");
    took
}

/// Runs a process, and returns the largest amount of memory that it had, in MB, as Linux tells it. The pages of
/// files that it maps count, too.
pub fn peak_memory(command: &mut Command) -> u64 {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("it is ours").is_none() {
        let told = fs::read_to_string(&status).unwrap_or_default();
        let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        sleep(Duration::from_millis(1));
    }
    peak / 1024
}

pub fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The results, printed as they are measured.
pub struct Page;

impl Page {
    pub fn head(&mut self, title: &str) {
        self.text(&format!(
            "\n{title}\n{:<34} {:>9} {:>9} {:>9} {:>9} {:>7}\n",
            "", "p50 ms", "p90 ms", "p99 ms", "against", "ratio"
        ));
    }

    pub fn text(&mut self, text: &str) {
        print(text);
    }

    /// Takes both times in turn, so that other work of the machine affects both alike. Returns the ratio of the
    /// medians.
    pub fn in_turn(
        &mut self,
        name: &str,
        calls: usize,
        mut ours: impl FnMut(usize) -> Duration,
        mut against: impl FnMut() -> Duration,
    ) -> f64 {
        let (mut times, mut others) = (Vec::new(), Vec::new());
        for call in 0..calls {
            times.push(ours(call));
            others.push(against());
        }
        self.row(name, &mut times, median(&mut others))
    }

    pub fn row(&mut self, name: &str, times: &mut [Duration], against: Duration) -> f64 {
        let median = median(times);
        let at = |share: usize| millis(times[(times.len() * share / 100).min(times.len() - 1)]);
        let ratio = median.as_secs_f64() / against.as_secs_f64();
        let mut line = String::new();
        writeln!(
            line,
            "{name:<34} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {ratio:>7.2}",
            millis(median),
            at(90),
            at(99),
            millis(against)
        )
        .expect("a string");
        self.text(&line);
        ratio
    }
}
