//! How far a question about all files has come.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many files a question is about, and how many of them were looked at.
#[derive(Debug, Default)]
pub struct FileProgress {
    all: AtomicUsize,
    done: AtomicUsize,
}

impl FileProgress {
    /// Adds files that will be looked at.
    pub fn expect_files(&self, count: usize) {
        self.all.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts a file that was looked at.
    pub fn count_file(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many files were looked at, and how many there are in all.
    pub fn so_far(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }
}
