//! Caches whose entries are locked one by one, so that an entry is computed once and requests for
//! other entries do not wait.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::verbs::Workspace;

/// A cache entry with its own lock.
pub(super) type CacheEntry<T> = Arc<Mutex<Option<T>>>;

/// Locks a mutex. What it holds is good even if a thread panicked while it held the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One value for each workspace, by its root.
pub(super) struct CachePerRoot<T>(Mutex<HashMap<PathBuf, CacheEntry<Arc<T>>>>);

impl<T> Default for CachePerRoot<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> CachePerRoot<T> {
    /// Returns the value of this state of the workspace. If the known value is not current, it is
    /// replaced by what `compute` makes of it.
    pub(super) fn get(
        &self,
        workspace: &Workspace,
        is_current: impl Fn(&T) -> bool,
        compute: impl FnOnce(Option<&T>) -> T,
    ) -> Arc<T> {
        let root = workspace.root.path().to_owned();
        let entry = Arc::clone(lock(&self.0).entry(root).or_default());
        let mut entry = lock(&entry);
        if let Some(known) = entry.as_ref().filter(|known| is_current(known)) {
            return Arc::clone(known);
        }
        let value = Arc::new(compute(entry.as_deref()));
        *entry = Some(Arc::clone(&value));
        value
    }
}
