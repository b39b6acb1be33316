//! A map in memory that threads share, for answers that take long to find.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;

use ground::parallel::locked_value;

/// A map from keys to answers. Once it holds `MAX` answers, it is emptied before the next one is
/// stored.
pub struct Memo<K, V, const MAX: usize = { usize::MAX }>(Mutex<HashMap<K, V>>);

impl<K, V, const MAX: usize> Default for Memo<K, V, MAX> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone, const MAX: usize> Memo<K, V, MAX> {
    /// Returns the stored answer for a key. If there is none, calls `find` and stores its result.
    /// Nothing is locked while `find` runs, so two threads may look for the same answer.
    pub(crate) fn get_or_find<Q>(&self, key: &Q, find: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.get(key).unwrap_or_else(|| self.keep(key.to_owned(), find()))
    }

    /// Returns the stored answer for a key. `None` if there is none.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        locked_value(&self.0).get(key).cloned()
    }

    pub fn keep(&self, key: K, answer: V) -> V {
        let mut kept = locked_value(&self.0);
        if kept.len() >= MAX {
            kept.clear();
        }
        kept.insert(key, answer.clone());
        answer
    }
}
