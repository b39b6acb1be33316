//! A few threads for computations. They form two lanes, so that a long job never delays a hover.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use ground::parallel::locked_value;

type Job = Box<dyn FnOnce() + Send>;

/// The stack size of a thread. Some libraries walk deep syntax trees by recursion.
const STACK_BYTES: usize = 8 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// For requests whose answer somebody waits for: hover, completion, code action, lens.
    LatencySensitive,
    /// For work that may take longer: diagnostics, loading, symbols of the whole workspace.
    Worker,
}

/// A handle to the threads. They end when the last clone is dropped and the queues are empty.
#[derive(Clone)]
pub(crate) struct Pool {
    latency: Sender<Job>,
    worker: Sender<Job>,
}

impl Pool {
    /// Starts the threads. Each lane gets as many as there are processors, at least two and at most
    /// eight.
    pub(crate) fn start() -> io::Result<Self> {
        let threads = thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
        Ok(Self { latency: lane("lsp-latency", threads)?, worker: lane("lsp-worker", threads)? })
    }

    /// Queues a job. If the job panics, the panic is logged and the thread goes on.
    pub(crate) fn run(&self, lane: Lane, job: impl FnOnce() + Send + 'static) {
        let sender = match lane {
            Lane::LatencySensitive => &self.latency,
            Lane::Worker => &self.worker,
        };
        // The threads live longer than every sender, so sending cannot fail.
        drop(sender.send(Box::new(job)));
    }
}

fn lane(name: &str, threads: usize) -> io::Result<Sender<Job>> {
    let (sender, receiver) = channel::<Job>();
    let queue = Arc::new(Mutex::new(receiver));
    for _ in 0..threads {
        let queue = Arc::clone(&queue);
        thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || work(&queue))?;
    }
    Ok(sender)
}

fn work(queue: &Mutex<Receiver<Job>>) {
    loop {
        let next = locked_value(queue).recv();
        let Ok(job) = next else { return };
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("a background job panicked; the panic is above");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_busy_worker_lane_does_not_delay_the_other() {
        let pool = Pool::start().unwrap();
        let (release, hold) = channel::<()>();
        let hold = Arc::new(Mutex::new(hold));
        for _ in 0..32 {
            let hold = Arc::clone(&hold);
            pool.run(Lane::Worker, move || {
                hold.lock().unwrap().recv().ok();
            });
        }
        let (done, finished) = channel();
        pool.run(Lane::LatencySensitive, move || done.send(7).unwrap());
        assert_eq!(finished.recv_timeout(Duration::from_secs(10)), Ok(7));
        drop(release);
    }

    #[test]
    fn a_panic_leaves_the_threads_alive() {
        let pool = Pool::start().unwrap();
        for _ in 0..20 {
            pool.run(Lane::Worker, || panic!("on purpose"));
        }
        let (done, finished) = channel();
        pool.run(Lane::Worker, move || done.send(7).unwrap());
        assert_eq!(finished.recv_timeout(Duration::from_secs(10)), Ok(7));
    }
}
