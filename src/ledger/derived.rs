//! What evidence leaves out, computed from the texts in git.

use super::{BlockRecord, Entry, Outline};

/// What can be computed about a line of evidence from the texts of its file before and after the commit.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Derived {
    /// The outline of the file before the commit.
    pub before: Outline,
    /// The outline of the file after the commit.
    pub after: Outline,
    /// The blocks that the record names, in the same order. For a whole file, all of its blocks.
    pub ranges: Vec<BlockRecord>,
    /// The commit that the evidence is about, as hex. `None` if that commit is about to be made.
    pub commit: Option<String>,
    /// The time of that commit, in seconds since 1970.
    pub committed: Option<i64>,
    /// The commit from which the text before was read, as hex.
    pub based_on: Option<String>,
}

/// Computes what evidence does not say from the texts in git.
pub trait Derive: Send + Sync {
    /// `None` if the texts cannot be read, for example in a shallow clone.
    fn derive(&self, entry: &Entry) -> Option<Derived>;
}
