//! How far a question about all files has come.

use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Default)]
pub struct FileProgress {
    all: AtomicUsize,
    done: AtomicUsize,
}

impl FileProgress {
    pub fn expect_files(&self, count: usize) {
        self.all.fetch_add(count, Ordering::Relaxed);
    }

    pub fn count_file(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The first number is that of the files that were looked at, the second that of all.
    pub fn so_far(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }
}
