//! Answers that are kept in memory and shared by threads.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Answers by key. One that is full, with `MAX` answers, is emptied before the next answer is kept.
pub(super) struct Memo<K, V, const MAX: usize = { usize::MAX }>(Mutex<HashMap<K, V>>);

impl<K, V, const MAX: usize> Default for Memo<K, V, MAX> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone, const MAX: usize> Memo<K, V, MAX> {
    /// Returns the answer for a key, which is what `find` returns if none is kept. Nothing is locked
    /// while `find` runs, so two threads may look for the same answer.
    pub(super) fn of<Q>(&self, key: &Q, find: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.get(key).unwrap_or_else(|| self.keep(key.to_owned(), find()))
    }

    /// Returns the answer for a key, if one is kept.
    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps an answer, and returns it.
    pub(super) fn keep(&self, key: K, answer: V) -> V {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX {
            kept.clear();
        }
        kept.insert(key, answer.clone());
        answer
    }
}
