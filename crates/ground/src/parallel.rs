//! Runs a function for many items on all processors, and locks what threads share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The number of processors. It is found out once, because several files are read for it.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));

/// Locks a value. What the lock holds is good even if a thread panicked while it held the lock.
pub fn locked_value<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `each` for every item, on as many threads as there are processors. Returns the results in
/// the order of the items.
pub fn in_parallel<T: Sync, R: Send>(all: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    // To ask for the number of processors takes longer than many of the items.
    if all.len() < 2 {
        return all.iter().map(each).collect();
    }
    let threads = *PROCESSORS;
    // Items are handed out in small portions, so that all threads finish at about the same time.
    let share = (all.len() / (threads * 16)).max(1);
    let threads = threads.min(all.len().div_ceil(share));
    if threads < 2 {
        return all.iter().map(each).collect();
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let from = next.fetch_add(share, Ordering::Relaxed);
            let Some(rest) = all.get(from..).filter(|rest| !rest.is_empty()) else { return };
            let results: Vec<R> = rest.iter().take(share).map(&each).collect();
            locked_value(&done).insert(from, results);
        }
    };
    // The thread that asks works, too: each further thread keeps freed memory of its own.
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().flatten().collect()
}
