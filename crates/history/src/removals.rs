//! Which step of a change removed each line of a text last: one of its commits, or the work that is in
//! none.

use std::collections::{HashMap, HashSet};
use std::mem;

use crate::{FileChanges, LineText, lines_in, new_lines};
use ground::git::{GitError, ObjectId};
use ground::{CommitId, Git, RelativePath};

/// A commit of the change that removed lines from a file, or the work that is in no commit.
pub struct RemovalStep {
    /// `None` for work that is in no commit.
    pub commit: Option<String>,
    /// The path of the file after the step.
    pub path: RelativePath,
    pub before: LineText,
    pub now: LineText,
    /// Whether the step is the whole change.
    pub is_whole: bool,
}

/// A line of the base that is gone, counted from 0.
#[derive(Clone, Copy)]
pub struct GoneLine {
    pub line: usize,
    /// The newest step that removed it, an index of [`Removals::steps`], and the line in the text
    /// before that step. `None` if no step is known to have removed it.
    pub removed: Option<(usize, usize)>,
}

pub struct Removals {
    base: LineText,
    now: LineText,
    pub gone: Vec<GoneLine>,
    /// Newest first.
    pub steps: Vec<RemovalStep>,
}

impl Removals {
    /// Finds the steps that removed these lines of the base. `commits` are those of the change, which
    /// ends at the commit `tip`.
    pub fn find(
        git: Option<(&Git, &CommitId)>,
        path: &RelativePath,
        (base, now): (&LineText, &LineText),
        gone: Vec<usize>,
        commits: &HashSet<ObjectId>,
    ) -> Self {
        let gone = gone.into_iter().map(|line| GoneLine { line, removed: None }).collect();
        let mut found = Self { base: base.clone(), now: now.clone(), gone, steps: Vec::new() };
        if found.gone.is_empty() {
            return found;
        }
        let git = git.filter(|_| !commits.is_empty());
        let committed = |(git, tip): (&Git, &CommitId)| {
            Some(LineText::new(git.file_at(tip, path).ok()?.unwrap_or_default()))
        };
        let committed = git.and_then(committed).unwrap_or_else(|| base.clone());
        found.add_step(None, path, (&committed, now), &new_lines(&[now], &committed));
        // No commit has removed for good what the newest one has.
        let is_gone_there = new_lines(&[&committed], base);
        let gone = mem::take(&mut found.gone).into_iter();
        let (gone, standing) = gone.partition(|gone| is_gone_there[gone.line]);
        found.gone = gone;
        if let Some((git, tip)) = git {
            // Where history is missing, nobody is known.
            let _ = found.add_commits(git, tip, path, commits);
        }
        found.gone.extend::<Vec<GoneLine>>(standing);
        found
    }

    fn add_commits(
        &mut self,
        git: &Git,
        tip: &CommitId,
        path: &RelativePath,
        commits: &HashSet<ObjectId>,
    ) -> Result<(), GitError> {
        let full = git.path_in_repository(path.as_str());
        let walk = FileChanges::new(git.object_reader()?, git.object_id(tip)?, full)?;
        let mut walk = walk.limited_to(commits);
        // The newest commit counts: a line that was put back may have been removed again.
        while self.gone.iter().any(|gone| gone.removed.is_none())
            && let Some(change) = walk.next_change()?
        {
            let Some(path) = git.path_in_workspace(change.path.as_ref()) else { continue };
            let commit = change.commit.to_string();
            let after = LineText::new(change.now.clone().unwrap_or_default());
            for (parent, is_removed) in change.before.iter().zip(change.removed_lines()) {
                let Some(parent) = parent else { continue };
                let before = LineText::new(parent.content.clone());
                self.add_step(Some(&commit), &path, (&before, &after), &is_removed);
            }
        }
        Ok(())
    }

    /// Adds a step that removed these lines of the text before it.
    fn add_step(
        &mut self,
        commit: Option<&str>,
        path: &RelativePath,
        (before, now): (&LineText, &LineText),
        is_removed: &[bool],
    ) {
        let at = self.steps.len();
        let stood = lines_in(&self.base, before).into_iter().enumerate();
        let removed: HashMap<usize, usize> = stood
            .filter(|(line, _)| is_removed[*line])
            .filter_map(|(line, was)| Some((was?, line)))
            .collect();
        let mut has_removed = false;
        for gone in self.gone.iter_mut().filter(|gone| gone.removed.is_none()) {
            gone.removed = removed.get(&gone.line).map(|line| (at, *line));
            has_removed |= gone.removed.is_some();
        }
        if has_removed {
            let is_whole = *before == self.base && *now == self.now;
            let (before, now) = (before.clone(), now.clone());
            let (commit, path) = (commit.map(str::to_owned), path.clone());
            self.steps.push(RemovalStep { commit, path, before, now, is_whole });
        }
    }
}
