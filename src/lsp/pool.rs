//! Runs computations on threads of their own. They form two lanes, so that a long job never delays a
//! hover.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;

use tokio::sync::{Semaphore, oneshot};

use super::refusal::{RequestRefusal, RequestResult, task_failure};

/// Starts a task on the runtime. All tasks have one type, because for each type the runtime is compiled
/// again.
pub(crate) fn start_task(task: impl Future<Output = ()> + Send + 'static) {
    let task: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(task);
    tokio::spawn(task);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// For requests whose answer somebody waits for: hover, completion, code action, lens.
    LatencySensitive,
    /// For work that may take longer: diagnostics, loading, symbols of the whole workspace.
    Worker,
}

#[derive(Clone)]
pub(crate) struct Pool {
    latency: Arc<Semaphore>,
    worker: Arc<Semaphore>,
}

impl Pool {
    /// Each lane has as many jobs at once as there are processors, at least two and at most eight.
    pub(crate) fn new() -> Self {
        let jobs = thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
        Self { latency: Arc::new(Semaphore::new(jobs)), worker: Arc::new(Semaphore::new(jobs)) }
    }

    /// Runs a job of a method on a thread, and returns its result. It is a fault if the job panics.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        lane: Lane,
        method: &str,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> RequestResult<T> {
        let lane = match lane {
            Lane::LatencySensitive => &self.latency,
            Lane::Worker => &self.worker,
        };
        // Nobody closes a lane, so each job gets a place in it sooner or later. It keeps the place
        // even if nobody waits for it any more.
        let place = Arc::clone(lane).acquire_owned().await;
        let (sender, result) = oneshot::channel();
        let job: Box<dyn FnOnce() + Send> = Box::new(move || {
            let _place = place;
            sender.send(job()).ok();
        });
        tokio::task::spawn_blocking(job).await.map_err(|error| task_failure(method, error))?;
        result.await.map_err(|_| RequestRefusal::Cancelled)
    }

    /// Starts a job on the worker lane.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let pool = self.clone();
        start_task(async move {
            pool.compute(Lane::Worker, "a job", job).await.ok();
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_busy_worker_lane_does_not_delay_the_other() {
        let pool = Pool::new();
        let (release, hold) = channel::<()>();
        let hold = Arc::new(std::sync::Mutex::new(hold));
        for _ in 0..32 {
            let hold = Arc::clone(&hold);
            pool.run(move || {
                hold.lock().unwrap().recv().ok();
            });
        }
        let job = pool.compute(Lane::LatencySensitive, "a job", || 7);
        let done = tokio::time::timeout(Duration::from_secs(10), job).await;
        assert_eq!(done.unwrap().unwrap(), 7);
        drop(release);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_leaves_the_lane_free() {
        let pool = Pool::new();
        for _ in 0..20 {
            pool.run(|| panic!("on purpose"));
        }
        let job = pool.compute(Lane::Worker, "a job", || 7);
        let done = tokio::time::timeout(Duration::from_secs(10), job).await;
        assert_eq!(done.unwrap().unwrap(), 7);
    }
}
