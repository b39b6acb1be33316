//! The commits that a commit comes from, walked only as far as is asked.

use std::collections::{BinaryHeap, HashSet};

use ground::git::{GitError, ObjectId, ObjectReader, WRONG_CLOCK};

/// How many commits are walked to tell which of the commits with late evidence have left the history.
/// An older one that the repository has counts as one of the history.
const MAX_WALKED: usize = 1_000;

/// The newest commits of the history that is asked about.
#[derive(Default)]
pub(crate) struct RecentHistory {
    commits: HashSet<ObjectId>,
    /// Every commit of the history that was made after this time is among them. `None` if all are.
    complete_after: Option<i64>,
}

impl RecentHistory {
    pub(crate) fn walked_to(
        reader: &mut ObjectReader<'_>,
        oldest: Option<i64>,
    ) -> Result<Self, GitError> {
        let (Some(tip), Some(oldest)) = (reader.tip(), oldest) else {
            return Ok(Self { complete_after: Some(i64::MAX), ..Self::default() });
        };
        let mut found = Ancestors::new(tip);
        for _ in 0..MAX_WALKED {
            if !found.take_step(reader, oldest - WRONG_CLOCK)? {
                return Ok(Self { commits: found.seen, complete_after: None });
            }
        }
        let complete_after = found.next.peek().map(|(time, _)| time + WRONG_CLOCK);
        Ok(Self { commits: found.seen, complete_after })
    }

    pub(crate) fn lacks(&self, commit: ObjectId, time: i64) -> bool {
        let is_complete = self.complete_after.is_none_or(|after| time > after);
        is_complete && !self.commits.contains(&commit)
    }
}

/// Returns true if a commit that was made at `time` is this one or one that it comes from.
pub(crate) fn is_in_history_of(
    reader: &mut ObjectReader<'_>,
    of: ObjectId,
    (commit, time): (ObjectId, i64),
) -> Result<bool, GitError> {
    let mut found = Ancestors::new(of);
    for _ in 0..MAX_WALKED {
        if found.seen.contains(&commit) || !found.take_step(reader, time)? {
            break;
        }
    }
    Ok(found.seen.contains(&commit))
}

/// A commit and those that it comes from. The history is walked only as far as is asked.
#[derive(Debug)]
pub(crate) struct Ancestors {
    seen: HashSet<ObjectId>,
    /// The commits whose parents were not looked at yet, newest first. The time of the commit that
    /// the search begins with is not known.
    next: BinaryHeap<(i64, ObjectId)>,
}

impl Ancestors {
    pub(crate) fn new(commit: ObjectId) -> Self {
        Self { seen: HashSet::from([commit]), next: BinaryHeap::from([(i64::MAX, commit)]) }
    }

    /// Goes on from the newest commit whose parents were not looked at yet. Returns false if there is
    /// none that was made at `oldest` or later.
    fn take_step(&mut self, reader: &mut ObjectReader<'_>, oldest: i64) -> Result<bool, GitError> {
        let next = self.next.peek().copied().filter(|(time, _)| *time >= oldest);
        let Some((_, next)) = next else { return Ok(false) };
        self.next.pop();
        for parent in reader.commit(next)?.parents {
            if self.seen.insert(parent) {
                self.next.push((reader.commit(parent)?.time, parent));
            }
        }
        Ok(true)
    }
}
