//! The commits that removed lines of a file, newest first.
//!
//! Where a parent has the same file, the walk goes on there and nowhere else. In a merge a line counts
//! as removed only if all parents have it, since otherwise an earlier commit removed it.

use std::collections::{BinaryHeap, HashSet};

use ground::git::{BString, GitError, ObjectId, ObjectReader};

use crate::line_map::new_lines;
use crate::renames::Renames;
use crate::text::LineText;

/// How many commits are visited. The history of a file that was there once may be that of the whole
/// repository.
const MAX_COMMITS: usize = 100_000;

/// Lines of a file that a commit removed or replaced.
#[derive(Clone, Debug)]
pub struct RemovedLines {
    pub commit: ObjectId,
    /// The path from the top of the repository that the file had before.
    pub path: BString,
    /// The content before, and the lines of it that are gone, counted from 0.
    pub before: Vec<u8>,
    pub lines: Vec<usize>,
    /// The content after. `None` if the file is gone.
    pub now: Option<Vec<u8>>,
}

/// A walk through the versions of a file.
pub struct Removals<'a, 'git> {
    reader: &'a mut ObjectReader<'git>,
    /// The commits to look at, newest first, each with the path of the file.
    next: BinaryHeap<(i64, ObjectId, BString)>,
    seen: HashSet<(ObjectId, BString)>,
    is_cut_off: bool,
}

impl<'a, 'git> Removals<'a, 'git> {
    /// Begins at the file as a commit has it, or has it no longer.
    pub fn new(
        reader: &'a mut ObjectReader<'git>,
        commit: ObjectId,
        path: BString,
    ) -> Result<Self, GitError> {
        let (next, seen) = (BinaryHeap::new(), HashSet::new());
        let mut walk = Self { reader, next, seen, is_cut_off: false };
        walk.visit(commit, path)?;
        Ok(walk)
    }

    /// Returns true if the walk has ended where this clone lacks the history before, or at its bound.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    fn visit(&mut self, commit: ObjectId, path: BString) -> Result<(), GitError> {
        if self.seen.insert((commit, path.clone())) {
            let time = self.reader.commit(commit)?.time;
            self.next.push((time, commit, path));
        }
        Ok(())
    }

    /// Returns the next commit that removed lines. `None` at the end.
    pub fn next_commit(&mut self) -> Result<Option<RemovedLines>, GitError> {
        while let Some((_, commit, path)) = self.next.pop() {
            if self.seen.len() > MAX_COMMITS {
                self.is_cut_off = true;
                break;
            }
            if let Some(removed) = self.removed_by(commit, path)? {
                return Ok(Some(removed));
            }
        }
        Ok(None)
    }

    fn removed_by(
        &mut self,
        commit: ObjectId,
        path: BString,
    ) -> Result<Option<RemovedLines>, GitError> {
        let node = self.reader.commit(commit)?;
        self.is_cut_off |= node.is_boundary;
        let place = self.reader.locate(node.tree, path.as_ref(), None)?;
        // The parents, each with its tree and the content there.
        let mut parents = Vec::new();
        for parent in node.parents {
            let tree = self.reader.commit(parent)?.tree;
            let blob = self.reader.locate(tree, path.as_ref(), Some(&place))?.blob;
            if blob == place.blob {
                self.visit(parent, path)?;
                return Ok(None);
            }
            parents.push((parent, tree, blob));
        }
        let (count, mut before, mut former) = (parents.len(), Vec::new(), path.clone());
        for (parent, tree, mut blob) in parents {
            let mut name = path.clone();
            if blob.is_none() && place.blob.is_some() {
                let renames = Renames::from_trees(self.reader, (Some(tree), Some(node.tree)))?;
                if let Some((old, at)) = renames.former_file(self.reader, path.as_ref())? {
                    (name, blob) = (old, Some(at));
                }
            }
            before.extend(blob);
            former.clone_from(&name);
            self.visit(parent, name)?;
        }
        let mut texts = Vec::with_capacity(count);
        for blob in &before {
            texts.push(LineText::new(self.reader.blob(*blob)?));
        }
        let Some((last, others)) = texts.split_last().filter(|_| before.len() == count) else {
            return Ok(None);
        };
        let now = place.blob.map(|blob| self.reader.blob(blob)).transpose()?;
        let after = LineText::new(now.clone().unwrap_or_default());
        let mut is_gone = new_lines(&[&after], last);
        for other in others {
            let is_missing = new_lines(&[other], last);
            is_gone.iter_mut().zip(is_missing).for_each(|(gone, missing)| *gone &= !missing);
        }
        let lines: Vec<usize> = (0..last.len()).filter(|line| is_gone[*line]).collect();
        let before = last.as_bytes().to_vec();
        let removed = RemovedLines { commit, path: former, before, lines, now };
        Ok(Some(removed).filter(|removed| !removed.lines.is_empty()))
    }
}
