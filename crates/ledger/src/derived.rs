//! Data that evidence leaves out, and that is computed from the texts in git instead.

use super::{BlockRecord, Entry, Outline};
use ground::RelativePath;

/// What can be computed about a line of evidence from the texts of its file before and after the
/// commit.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Derived {
    /// The blocks that the record names, in the same order. For a whole file, all of its blocks.
    pub ranges: Vec<BlockRecord>,
    /// The commit that the evidence is about, as hex. `None` if that commit is about to be made.
    pub commit: Option<String>,
    /// The time of that commit, in seconds since 1970.
    pub committed: Option<i64>,
    /// The commit from which the text before was read, as hex.
    pub based_on: Option<String>,
}

pub type Outlines = (Outline, Outline);

/// Computes the data that evidence leaves out from the texts in git.
pub trait Derive: Send + Sync {
    /// Returns `None` if the texts cannot be read, for example in a shallow clone.
    fn derive(&self, entry: &Entry) -> Option<Derived>;

    /// Returns the outlines of the entry's file before and after the commit. `None` as for
    /// [`Self::derive`].
    fn outlines(&self, entry: &Entry) -> Option<Outlines>;

    /// Returns everything that the answers about a file depend on besides its evidence, for example
    /// the commit that is checked out. As long as these bytes are the same, the answers are the
    /// same. `None` if the answers can change at any time, as in a shallow clone.
    fn depends_on(&self, path: &RelativePath) -> Option<Vec<u8>>;
}
