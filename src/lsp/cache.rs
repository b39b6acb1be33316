//! Caches whose entries are locked one by one, so that an entry is computed once and requests for
//! other entries do not wait.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use ground::parallel::locked_value;

/// A cache with this many entries is emptied. So many documents and files are hardly in use at once.
const MAX_ENTRIES: usize = 512;
/// A value with its own lock. `None` until it is computed.
type CacheEntry<T> = Arc<Mutex<Option<Arc<T>>>>;

/// One value for each key, such as the analysis of a document.
pub(super) struct Cache<K, T>(Mutex<HashMap<K, CacheEntry<T>>>);

impl<K, T> Default for Cache<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, T> Cache<K, T> {
    /// Returns the value of a key. If the known value is not current, it is replaced by what
    /// `compute` makes of it.
    pub(super) fn get(
        &self,
        key: K,
        is_current: impl Fn(&T) -> bool,
        compute: impl FnOnce(Option<&T>) -> T,
    ) -> Arc<T> {
        let entry = self.entry(key);
        let mut entry = locked_value(&entry);
        if let Some(known) = entry.as_ref().filter(|known| is_current(known)) {
            return Arc::clone(known);
        }
        let value = Arc::new(compute(entry.as_deref()));
        *entry = Some(Arc::clone(&value));
        value
    }

    pub(super) fn retain(&self, is_used: impl Fn(&K) -> bool) {
        locked_value(&self.0).retain(|key, _| is_used(key));
    }

    fn entry(&self, key: K) -> CacheEntry<T> {
        let mut entries = locked_value(&self.0);
        if entries.len() >= MAX_ENTRIES && !entries.contains_key(&key) {
            entries.clear();
        }
        Arc::clone(entries.entry(key).or_default())
    }
}
