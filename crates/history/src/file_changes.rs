//! The commits that changed a file, newest first, and the lines that they removed.
//!
//! Where a parent has the same file, the walk goes on there and nowhere else.

use std::collections::{BinaryHeap, HashSet};

use ground::git::{BString, GitError, ObjectId, ObjectReader};

use crate::line_map::new_lines;
use crate::renames::Renames;
use crate::text::LineText;

/// How many commits are visited. The history of a file that was there once may be that of the whole
/// repository.
const MAX_COMMITS: usize = 100_000;

#[derive(Clone, Debug)]
pub struct VersionChange {
    pub commit: ObjectId,
    /// The path after the commit, from the top of the repository.
    pub path: BString,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// One item for each parent. `None` if a parent lacks the file.
    pub before: Vec<Option<FormerText>>,
    /// The content after. `None` if the file is gone.
    pub now: Option<Vec<u8>>,
    /// The contents in the best common ancestors of the parents, if the commit is a merge.
    bases: Vec<Vec<u8>>,
    /// Whether the clone has what is needed to say what a merge removed.
    has_bases: bool,
}

#[derive(Clone, Debug)]
pub struct FormerText {
    /// The path from the top of the repository.
    pub path: BString,
    pub content: Vec<u8>,
}

impl VersionChange {
    /// Returns for each parent which of its lines the commit removed, and which it left.
    ///
    /// A merge removes a line that all parents have, and one that a parent has brought: that their
    /// common ancestor lacks. A line that is only missing in the other parent was removed there. For
    /// example, a person settles a conflict by dropping the lines of both sides.
    pub fn removed_lines(&self) -> Vec<Vec<bool>> {
        let of = |text: &[u8]| LineText::new(text.to_vec());
        let texts: Vec<Option<LineText>> =
            self.before.iter().map(|text| text.as_ref().map(|text| of(&text.content))).collect();
        let now = of(self.now.as_deref().unwrap_or_default());
        let bases: Vec<LineText> = self.bases.iter().map(|base| of(base)).collect();
        let bases: Vec<&LineText> = bases.iter().collect();
        let mut removed = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let Some(text) = text else {
                removed.push(Vec::new());
                continue;
            };
            let others = || texts.iter().enumerate().filter(|(other, _)| *other != at);
            let in_all = match others().map(|(_, other)| other.as_ref()).collect::<Option<_>>() {
                Some::<Vec<&LineText>>(others) => lines_in_all(&others, text),
                None => vec![false; text.len()],
            };
            let is_brought = match self.has_bases {
                true => new_lines(&bases, text),
                false => vec![false; text.len()],
            };
            // A line of several parents is counted in the last of them.
            let later = others().filter(|(other, _)| *other > at);
            let later: Vec<&LineText> = later.filter_map(|(_, other)| other.as_ref()).collect();
            let is_counted = new_lines(&later, text);
            let is_gone = new_lines(&[&now], text).into_iter().enumerate();
            let is_removed = |(line, is_gone): (usize, bool)| {
                is_gone && is_counted[line] && (in_all[line] || is_brought[line])
            };
            removed.push(is_gone.map(is_removed).collect());
        }
        removed
    }
}

fn lines_in_all(others: &[&LineText], text: &LineText) -> Vec<bool> {
    let mut is_in_all = vec![true; text.len()];
    for other in others {
        let is_missing = new_lines(&[other], text);
        is_in_all.iter_mut().zip(is_missing).for_each(|(all, missing)| *all &= !missing);
    }
    is_in_all
}

pub struct FileChanges<'git> {
    reader: ObjectReader<'git>,
    /// The commits to look at, newest first, each with the path of the file.
    next: BinaryHeap<(i64, ObjectId, BString)>,
    seen: HashSet<(ObjectId, BString)>,
    /// The commits that are visited. `None` for all.
    within: Option<&'git HashSet<ObjectId>>,
    is_cut_off: bool,
}

impl<'git> FileChanges<'git> {
    /// Begins at a commit, which may no longer have the file.
    pub fn new(
        reader: ObjectReader<'git>,
        commit: ObjectId,
        path: BString,
    ) -> Result<Self, GitError> {
        let (next, seen) = (BinaryHeap::new(), HashSet::new());
        let mut walk = Self { reader, next, seen, within: None, is_cut_off: false };
        walk.visit(commit, path)?;
        Ok(walk)
    }

    /// Returns the same walk, which goes on only to these commits.
    pub(crate) fn limited_to(self, commits: &'git HashSet<ObjectId>) -> Self {
        Self { within: Some(commits), ..self }
    }

    /// Returns true if the walk has ended where this clone lacks the history before, or at its bound.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    fn visit(&mut self, commit: ObjectId, path: BString) -> Result<(), GitError> {
        let is_within = self.within.is_none_or(|commits| commits.contains(&commit));
        if is_within && self.seen.insert((commit, path.clone())) {
            let time = self.reader.commit(commit)?.time;
            self.next.push((time, commit, path));
        }
        Ok(())
    }

    /// Returns the next change. `None` at the end.
    pub fn next_change(&mut self) -> Result<Option<VersionChange>, GitError> {
        while let Some((time, commit, path)) = self.next.pop() {
            if self.seen.len() > MAX_COMMITS {
                self.is_cut_off = true;
                break;
            }
            if let Some(change) = self.change_by(time, commit, path)? {
                return Ok(Some(change));
            }
        }
        Ok(None)
    }

    fn change_by(
        &mut self,
        time: i64,
        commit: ObjectId,
        path: BString,
    ) -> Result<Option<VersionChange>, GitError> {
        let node = self.reader.commit(commit)?;
        self.is_cut_off |= node.is_boundary;
        let place = self.reader.locate(node.tree, path.as_ref(), None)?;
        let mut parents = Vec::with_capacity(node.parents.len());
        for parent in &node.parents {
            let tree = self.reader.commit(*parent)?.tree;
            let blob = self.reader.locate(tree, path.as_ref(), Some(&place))?.blob;
            parents.push((*parent, tree, blob));
        }
        let same =
            parents.iter().find(|(.., blob)| *blob == place.blob).map(|(parent, ..)| *parent);
        let is_merge = parents.len() > 1;
        let bases =
            if is_merge && parents.iter().any(|(.., blob)| blob.is_some() && *blob != place.blob) {
                self.blobs_of_bases(&node.parents, &path)?
            } else {
                Vec::new()
            };
        if let Some(same) = same {
            self.visit(same, path.clone())?;
            // A merge that took the file of one parent changed it only if another one had changed it,
            // too.
            let is_dropped = |blob: &Option<ObjectId>| {
                blob.is_some_and(|blob| Some(blob) != place.blob && !bases.contains(&blob))
            };
            if !is_merge
                || self.reader.is_shallow()
                || !parents.iter().any(|(.., blob)| is_dropped(blob))
            {
                return Ok(None);
            }
        }
        let mut before = Vec::with_capacity(parents.len());
        for (parent, tree, mut blob) in parents {
            let mut name = path.clone();
            if blob.is_none() && place.blob.is_some() {
                let renames = Renames::from_trees(&mut self.reader, (Some(tree), Some(node.tree)))?;
                if let Some((old, at)) = renames.former_file(&mut self.reader, path.as_ref())? {
                    (name, blob) = (old, Some(at));
                }
            }
            let content = blob.map(|blob| self.reader.blob(blob)).transpose()?;
            before.push(content.map(|content| FormerText { path: name.clone(), content }));
            if same.is_none() {
                self.visit(parent, name)?;
            }
        }
        let now = place.blob.map(|blob| self.reader.blob(blob)).transpose()?;
        let bases =
            bases.into_iter().map(|blob| self.reader.blob(blob)).collect::<Result<_, _>>()?;
        let has_bases = is_merge && !self.reader.is_shallow();
        Ok(Some(VersionChange { commit, path, time, before, now, bases, has_bases }))
    }

    fn blobs_of_bases(
        &mut self,
        commits: &[ObjectId],
        path: &BString,
    ) -> Result<Vec<ObjectId>, GitError> {
        let mut blobs = Vec::new();
        for base in self.reader.merge_bases(commits)? {
            let tree = self.reader.commit(base)?.tree;
            blobs.extend(self.reader.locate(tree, path.as_ref(), None)?.blob);
        }
        Ok(blobs)
    }
}
