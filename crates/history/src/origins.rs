//! The commit that brought each line of a file, as `git blame -w` finds it.
//!
//! The walk goes from a commit to its parents. Where a parent has the same file, all lines go on to
//! it. Otherwise those lines go on that the parent has, too ([`line_map`](crate::line_map)), and
//! the others were brought by the commit. In a merge, lines that the first parent lacks go to the
//! next one. A file that a parent lacks is looked for under an earlier name
//! ([`renames`](crate::renames)).

use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use code::Document;
use ground::git::{BString, ChangedBlob, CommitNode, GitError, ObjectId, ObjectReader, TreePlace};

use crate::known_origins::{KnownOrigins, UnchangedSpan};
use crate::line_map::{PassedRun, passed_runs};
use crate::moves::{RemovedCode, block_moves};
use crate::renames::Renames;
use crate::text::LineText;

const UNCOMMITTED: i64 = i64::MAX;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileVersion {
    pub commit: ObjectId,
    /// The path from the top of the repository.
    pub path: BString,
    pub blob: ObjectId,
    /// In seconds since 1970. The largest number for a text that is not committed.
    pub time: i64,
}

impl FileVersion {
    pub fn is_uncommitted(&self) -> bool {
        self.commit.is_null()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A commit brought them: the version at this index of [`LineOrigins::versions`].
    Brought(usize),
    /// The walk ends at this version without saying who brought them: this clone lacks the history
    /// before it, or only later commits were asked about (`Walk::asked_only_about`).
    Missing(usize),
}

/// Lines of a file that come from one version, one after the other. Lines are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginRun {
    pub lines: Range<usize>,
    pub origin: Origin,
    /// The first of these lines in the version that they come from.
    pub line_there: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineOrigins {
    pub versions: Vec<FileVersion>,
    /// The lines that were asked about, in order.
    pub runs: Vec<OriginRun>,
}

pub struct Walk<'a, 'git> {
    reader: &'a mut ObjectReader<'git>,
    /// The versions whose lines have to be explained, newest commit first.
    next: BinaryHeap<(i64, ObjectId, BString)>,
    pending: HashMap<(ObjectId, BString), Pending>,
    texts: HashMap<ObjectId, Arc<LineText>>,
    /// The files in which the text that is not committed differs from its first parent.
    uncommitted: Arc<[ChangedBlob]>,
    found: LineOrigins,
    known: Option<&'a KnownOrigins<'a>>,
    /// See [`Self::asked_only_about`].
    within: Option<&'a HashSet<ObjectId>>,
    /// See [`Self::with_document`].
    document: Option<&'a Document>,
    /// The first version, if all of its lines are asked about and its origins were not known.
    to_keep: Option<FileVersion>,
}

struct Pending {
    node: CommitNode,
    place: TreePlace,
    lines: Vec<PendingRun>,
}

/// Lines that were asked about, and where they are in a version.
#[derive(Clone, Debug)]
struct PendingRun {
    asked: usize,
    there: Range<usize>,
}

impl<'a, 'git> Walk<'a, 'git> {
    pub fn new(reader: &'a mut ObjectReader<'git>) -> Self {
        Self {
            reader,
            next: BinaryHeap::new(),
            pending: HashMap::new(),
            texts: HashMap::new(),
            uncommitted: Arc::default(),
            found: LineOrigins::default(),
            known: None,
            within: None,
            document: None,
            to_keep: None,
        }
    }

    /// Takes the blocks of this document for every version with the same text, so that such a text is
    /// not parsed again.
    pub(crate) fn with_document(self, document: Option<&'a Document>) -> Self {
        Self { document, ..self }
    }

    pub(crate) fn with_known(self, known: Option<&'a KnownOrigins<'a>>) -> Self {
        Self { known, ..self }
    }

    /// Asks only about lines that these commits brought. Who brought an older line is
    /// [`Origin::Missing`].
    pub(crate) fn asked_only_about(self, commits: Option<&'a HashSet<ObjectId>>) -> Self {
        let known = self.known.filter(|_| commits.is_none());
        Self { within: commits, known, ..self }
    }

    /// Returns where all lines of a text come from that is not committed, such as a file on disk or
    /// in the index. A line that none of `parents` has comes from [`FileVersion::is_uncommitted`].
    ///
    /// `changed` are the files that differ from the first parent. Without them, no rename and no
    /// moved block is found in this last step.
    pub fn of_text(
        mut self,
        parents: &[ObjectId],
        path: &BString,
        text: Vec<u8>,
        changed: Vec<ChangedBlob>,
    ) -> Result<LineOrigins, GitError> {
        let version = self.start_with_text(parents, path, text, changed)?;
        self.step_once(version)?;
        // The file is asked about as a whole in each parent, so that the answer can be kept.
        for ((commit, path), pending) in std::mem::take(&mut self.pending) {
            let walk = Walk::new(self.reader).with_known(self.known).asked_only_about(self.within);
            let walk = walk.with_document(self.document);
            let origins = walk.of_file(commit, &path)?.unwrap_or_default();
            self.take_origins(&origins, &pending.lines);
        }
        Ok(self.in_order())
    }

    /// Returns the lines of a text that none of `parents` has, in ascending order. See
    /// [`Self::of_text`].
    pub fn new_lines_of_text(
        mut self,
        parents: &[ObjectId],
        path: &BString,
        text: Vec<u8>,
        changed: Vec<ChangedBlob>,
    ) -> Result<Vec<usize>, GitError> {
        let version = self.start_with_text(parents, path, text, changed)?;
        self.step_once(version)?;
        Ok(self.brought_lines())
    }

    /// Returns the lines of a file at a commit that no parent has, in ascending order. It is an error
    /// if that is not known of all lines, because this clone lacks what a parent has.
    pub fn new_lines_of_commit(
        mut self,
        commit: ObjectId,
        path: &BString,
    ) -> Result<Vec<usize>, GitError> {
        let Some(version) = self.start_with_commit(commit, path)? else { return Ok(Vec::new()) };
        self.step_once(version)?;
        if self.found.runs.iter().any(|run| matches!(run.origin, Origin::Missing(_))) {
            return Err(self.reader.missing_object(commit));
        }
        Ok(self.brought_lines())
    }

    /// Returns where all lines of a file at a commit come from. `None` if the commit has no such
    /// file.
    pub fn of_file(
        mut self,
        commit: ObjectId,
        path: &BString,
    ) -> Result<Option<LineOrigins>, GitError> {
        let started = self.start_with_commit(commit, path)?;
        started.map(|_| self.run()).transpose()
    }

    fn start_with_commit(
        &mut self,
        commit: ObjectId,
        path: &BString,
    ) -> Result<Option<(ObjectId, BString)>, GitError> {
        let node = self.reader.commit(commit)?;
        let place = self.reader.locate(node.tree, path.as_ref(), None)?;
        let Some(blob) = place.blob else { return Ok(None) };
        let lines = vec![PendingRun { asked: 0, there: 0..self.text(blob)?.len() }];
        self.add_pending(commit, path.clone(), Pending { node, place, lines });
        Ok(Some((commit, path.clone())))
    }

    fn start_with_text(
        &mut self,
        parents: &[ObjectId],
        path: &BString,
        text: Vec<u8>,
        changed: Vec<ChangedBlob>,
    ) -> Result<(ObjectId, BString), GitError> {
        let blob = self.reader.hold(text)?;
        let lines = vec![PendingRun { asked: 0, there: 0..self.text(blob)?.len() }];
        self.uncommitted = changed.into();
        let commit = ObjectId::null(blob.kind());
        let node = CommitNode {
            tree: ObjectId::empty_tree(blob.kind()),
            parents: parents.to_vec(),
            time: UNCOMMITTED,
            is_boundary: false,
        };
        let place = TreePlace::outside_of_trees(blob);
        self.add_pending(commit, path.clone(), Pending { node, place, lines });
        Ok((commit, path.clone()))
    }

    fn run(mut self) -> Result<LineOrigins, GitError> {
        while let Some((_, commit, path)) = self.next.pop() {
            if let Some(pending) = self.pending.remove(&(commit, path.clone())) {
                self.explain(commit, path, pending)?;
            }
        }
        let (known, to_keep) = (self.known, self.to_keep.take());
        let found = self.in_order();
        if let Some((known, version)) = known.zip(to_keep) {
            known.keep_origins(&version, &found);
        }
        Ok(found)
    }

    fn in_order(mut self) -> LineOrigins {
        self.found.runs.sort_by_key(|run| run.lines.start);
        self.found.join_runs();
        self.found
    }

    fn step_once(&mut self, version: (ObjectId, BString)) -> Result<(), GitError> {
        let Some(pending) = self.pending.remove(&version) else { return Ok(()) };
        match self.step(version.0, &version.1, &pending)? {
            WalkStep::Same(parent, node, place) => {
                self.add_pending(parent, version.1, Pending { node, place, lines: pending.lines });
                Ok(())
            }
            WalkStep::Parents(parents) => {
                self.pass_to_parents(version.0, version.1, pending, parents)
            }
        }
    }

    fn brought_lines(self) -> Vec<usize> {
        let brought = self.found.runs.iter().filter(|run| matches!(run.origin, Origin::Brought(_)));
        let mut lines: Vec<usize> = brought.flat_map(|run| run.lines.clone()).collect();
        lines.sort_unstable();
        lines
    }

    fn add_pending(&mut self, commit: ObjectId, path: BString, pending: Pending) {
        if pending.lines.is_empty() {
            return;
        }
        match self.pending.entry((commit, path)) {
            Entry::Occupied(mut known) => known.get_mut().lines.extend(pending.lines),
            Entry::Vacant(free) => {
                let (commit, path) = free.key().clone();
                self.next.push((pending.node.time, commit, path));
                free.insert(pending);
            }
        }
    }

    /// Passes lines from a version to the versions before it. What does not pass is its own.
    fn explain(
        &mut self,
        mut commit: ObjectId,
        path: BString,
        mut pending: Pending,
    ) -> Result<(), GitError> {
        let newest = commit;
        let span = self.known.and_then(|known| known.unchanged_span(&path));
        let mut unchanged = 0;
        loop {
            if self.within.is_some_and(|commits| !commits.contains(&commit)) {
                self.settle(Origin::Missing, commit, path, pending);
                return Ok(());
            }
            let skipped = span.filter(|span| span.newest == commit);
            let skipped = skipped.and_then(|span| self.skip(span, &path, &pending));
            let step = skipped.map_or_else(|| self.step(commit, &path, &pending), Ok);
            match step {
                Ok(WalkStep::Same(parent, node, place)) => {
                    let is_newest = self.next.peek().is_none_or(|(time, _, _)| *time < node.time);
                    pending = Pending { node, place, lines: pending.lines };
                    if !is_newest {
                        self.add_pending(parent, path, pending);
                        return Ok(());
                    }
                    commit = parent;
                    unchanged += 1;
                }
                Ok(WalkStep::Parents(parents)) => {
                    if let Some(known) = self.known {
                        let span = UnchangedSpan { newest, last_change: commit };
                        known.keep_span(&path, span, unchanged);
                        if self.is_answered(known, commit, &path, &pending)? {
                            return Ok(());
                        }
                    }
                    return self.pass_to_parents(commit, path, pending, parents);
                }
                Err(GitError::Missing { .. }) => {
                    self.settle(Origin::Missing, commit, path, pending);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Skips commits that leave the file as it is, back to the one that changed it last. `None` if
    /// there is nothing to skip.
    fn skip(&mut self, span: UnchangedSpan, path: &BString, pending: &Pending) -> Option<WalkStep> {
        let node = self.reader.commit(span.last_change).ok()?;
        let place = self.reader.locate(node.tree, path.as_ref(), Some(&pending.place)).ok()?;
        let is_step = place.blob == pending.place.blob && span.last_change != span.newest;
        is_step.then_some(WalkStep::Same(span.last_change, node, place))
    }

    /// Answers with the origins that were found before. If there are none, and the question is about
    /// all lines of one version, the answer will be kept.
    fn is_answered(
        &mut self,
        known: &KnownOrigins<'_>,
        commit: ObjectId,
        path: &BString,
        pending: &Pending,
    ) -> Result<bool, GitError> {
        let blob = pending.place.blob.expect("only files are walked");
        let version = FileVersion { commit, path: path.clone(), blob, time: pending.node.time };
        let length = self.text(blob)?.len();
        let origins = known.origins(&version, self.reader);
        if let Some(origins) = origins.filter(|one| one.count_lines() == length) {
            self.take_origins(&origins, &pending.lines);
            return Ok(true);
        }
        let is_whole =
            matches!(&pending.lines[..], [run] if run.asked == 0 && run.there == (0..length));
        if is_whole && self.next.is_empty() && self.found.runs.is_empty() {
            self.to_keep = Some(version);
        }
        Ok(false)
    }

    fn take_origins(&mut self, origins: &LineOrigins, lines: &[PendingRun]) {
        let indexes: Vec<usize> =
            origins.versions.iter().map(|version| self.version_index(version.clone())).collect();
        for asked in lines {
            let first = origins.runs.partition_point(|run| run.lines.end <= asked.there.start);
            for run in origins.runs[first..].iter() {
                let start = run.lines.start.max(asked.there.start);
                let end = run.lines.end.min(asked.there.end);
                if start >= end {
                    break;
                }
                let at = asked.asked + start - asked.there.start;
                let origin = match run.origin {
                    Origin::Brought(version) => Origin::Brought(indexes[version]),
                    Origin::Missing(version) => Origin::Missing(indexes[version]),
                };
                let line_there = run.line_there + start - run.lines.start;
                self.found.runs.push(OriginRun { lines: at..at + end - start, origin, line_there });
            }
        }
    }

    fn step(
        &mut self,
        commit: ObjectId,
        path: &BString,
        pending: &Pending,
    ) -> Result<WalkStep, GitError> {
        let mut parents: Vec<Parent> = Vec::new();
        let mut without: Vec<(ObjectId, CommitNode)> = Vec::new();
        let blob = pending.place.blob;
        for parent in &pending.node.parents {
            let node = self.reader.commit(*parent)?;
            let place = self.reader.locate(node.tree, path.as_ref(), Some(&pending.place))?;
            match place.blob {
                None => without.push((*parent, node)),
                at if at == blob => return Ok(WalkStep::Same(*parent, node, place)),
                at if parents.iter().any(|other| other.place.blob == at) => {}
                _ => parents.push(Parent { commit: *parent, path: path.clone(), node, place }),
            }
        }
        for (parent, node) in without {
            let renames = match pending.node.time {
                UNCOMMITTED => Arc::new(Renames::from_changes(&self.uncommitted)),
                _ => Renames::from_trees(self.reader, (Some(node.tree), Some(pending.node.tree)))?,
            };
            let before = renames.former_file(self.reader, path.as_ref())?;
            let Some((old, at)) = before else { continue };
            if parents.iter().any(|other| other.place.blob == Some(at)) {
                continue;
            }
            let place = self.reader.locate(node.tree, old.as_ref(), None)?;
            let parent = Parent { commit: parent, path: old, node, place };
            if Some(at) == blob {
                // All lines were in the parent under another name.
                return Ok(WalkStep::Parents(vec![parent]));
            }
            parents.push(parent);
        }
        if parents.is_empty() && pending.node.is_boundary {
            return Err(self.reader.missing_object(commit));
        }
        Ok(WalkStep::Parents(parents))
    }

    fn pass_to_parents(
        &mut self,
        commit: ObjectId,
        path: BString,
        mut pending: Pending,
        parents: Vec<Parent>,
    ) -> Result<(), GitError> {
        let blob = pending.place.blob.expect("only files are walked");
        let mut passing: Vec<PassedRun> = Vec::new();
        for parent in parents {
            let before = parent.place.blob.expect("only files are walked");
            let read = self.text(before).and_then(|before| Ok((before, self.text(blob)?)));
            let (before, now) = match read {
                Err(GitError::Missing { .. }) => {
                    self.settle(Origin::Missing, commit, path, pending);
                    return Ok(());
                }
                read => read?,
            };
            passing = passed_runs(&before, &now);
            let (lines, stayed) = split(&pending.lines, &passing);
            pending.lines = stayed;
            let Parent { commit, path, node, place } = parent;
            self.add_pending(commit, path, Pending { node, place, lines });
        }
        if let [parent] = pending.node.parents[..] {
            self.pass_moved_blocks((commit, parent), &path, (blob, &passing), &mut pending)?;
        }
        self.settle(Origin::Brought, commit, path, pending);
        Ok(())
    }

    /// Passes the lines of whole blocks that a commit moved. The others stay.
    fn pass_moved_blocks(
        &mut self,
        (commit, parent): (ObjectId, ObjectId),
        path: &BString,
        (blob, passing): (ObjectId, &[PassedRun]),
        pending: &mut Pending,
    ) -> Result<(), GitError> {
        if pending.lines.is_empty() {
            return Ok(());
        }
        let (before, time) = (self.reader.commit(parent)?, pending.node.time);
        // Before there was a registry, nothing was recorded that a move could lead to.
        if time != UNCOMMITTED && !self.reader.is_governed(before.tree)? {
            return Ok(());
        }
        let now = self.text(blob)?;
        // All new lines of the commit, not only those that are asked about: a block that was edited
        // later was moved as a whole.
        let mut brought = vec![true; now.len()];
        passing.iter().for_each(|run| brought[run.now.clone()].fill(false));
        let trees = (Some(before.tree), Some(pending.node.tree));
        let uncommitted = Arc::clone(&self.uncommitted);
        let text = (&*now, self.document);
        let mut found =
            block_moves(self.reader, path, text, &brought, |reader, language| match time {
                UNCOMMITTED => {
                    RemovedCode::from_changes(reader, &uncommitted, language).map(Arc::new)
                }
                _ => RemovedCode::from_trees(reader, trees, language),
            })?;
        if found.moved.is_empty() && self.reader.ignores(commit)? {
            // A commit that people ignore often changes more files than are looked at. It is about
            // how code is written, so its moves stay within a file.
            let within = block_moves(self.reader, path, text, &brought, |reader, language| {
                let changed = reader.changed_blobs(trees.0, trees.1)?;
                let own: Vec<_> = changed.iter().filter(|one| one.path == *path).cloned().collect();
                RemovedCode::from_changes(reader, &own, language).map(Arc::new)
            })?;
            found.moved = within.moved;
        }
        for moved in found.moved {
            let (passed, stayed) = split(&pending.lines, &moved.lines);
            pending.lines = stayed;
            let place = self.reader.locate(before.tree, moved.path.as_ref(), None)?;
            let passed = Pending { node: before.clone(), place, lines: passed };
            self.add_pending(parent, moved.path, passed);
        }
        for lines in found.unclear {
            let here = PassedRun { before: lines.start, now: lines };
            let (unclear, stayed) = split(&pending.lines, &[here]);
            pending.lines = stayed;
            let (node, place) = (pending.node.clone(), pending.place.clone());
            let unclear = Pending { node, place, lines: unclear };
            self.settle(Origin::Missing, commit, path.clone(), unclear);
        }
        Ok(())
    }

    fn settle(
        &mut self,
        origin: fn(usize) -> Origin,
        commit: ObjectId,
        path: BString,
        Pending { node, place, lines }: Pending,
    ) {
        if lines.is_empty() {
            return;
        }
        let blob = place.blob.expect("only files are walked");
        let version = self.version_index(FileVersion { commit, path, blob, time: node.time });
        self.found.runs.extend(lines.into_iter().map(|run| OriginRun {
            lines: run.asked..run.asked + run.there.len(),
            origin: origin(version),
            line_there: run.there.start,
        }));
    }

    fn version_index(&mut self, version: FileVersion) -> usize {
        let known = self.found.versions.iter().position(|one| *one == version);
        known.unwrap_or_else(|| {
            self.found.versions.push(version);
            self.found.versions.len() - 1
        })
    }

    fn text(&mut self, blob: ObjectId) -> Result<Arc<LineText>, GitError> {
        /// A walk needs the text of a version and of the one before it. So few are kept, and it does
        /// not matter which.
        const KEPT: usize = 8;
        if let Some(text) = self.texts.get(&blob) {
            return Ok(Arc::clone(text));
        }
        let text = match self.reader.blob(blob) {
            // A file that is too large has no lines that could be compared.
            Err(GitError::TooLarge { .. }) => LineText::default(),
            read => LineText::new(read?),
        };
        if self.texts.len() >= KEPT {
            self.texts.clear();
        }
        let text = Arc::new(text);
        self.texts.insert(blob, Arc::clone(&text));
        Ok(text)
    }
}

enum WalkStep {
    /// This parent has the same file.
    Same(ObjectId, CommitNode, TreePlace),
    /// These parents have another version of the file.
    Parents(Vec<Parent>),
}

struct Parent {
    commit: ObjectId,
    path: BString,
    node: CommitNode,
    place: TreePlace,
}

/// Divides lines into those that pass to an earlier text, with their places there, and the others.
fn split(lines: &[PendingRun], passed: &[PassedRun]) -> (Vec<PendingRun>, Vec<PendingRun>) {
    let (mut went, mut stayed) = (Vec::new(), Vec::new());
    for run in lines {
        let mut at = run.there.start;
        let first = passed.partition_point(|one| one.now.end <= at);
        for one in &passed[first..] {
            if one.now.start >= run.there.end {
                break;
            }
            let (start, end) = (one.now.start.max(at), one.now.end.min(run.there.end));
            let asked = |there: usize| run.asked + there - run.there.start;
            if at < start {
                stayed.push(PendingRun { asked: asked(at), there: at..start });
            }
            let before = one.before + start - one.now.start;
            went.push(PendingRun { asked: asked(start), there: before..before + end - start });
            at = end;
        }
        if at < run.there.end {
            let asked = run.asked + at - run.there.start;
            stayed.push(PendingRun { asked, there: at..run.there.end });
        }
    }
    (went, stayed)
}

impl LineOrigins {
    fn count_lines(&self) -> usize {
        self.runs.last().map_or(0, |run| run.lines.end)
    }

    /// Joins runs that follow one another both in the file and in the version that they come from.
    fn join_runs(&mut self) {
        self.runs.dedup_by(|next, run| {
            let follows = run.origin == next.origin
                && run.lines.end == next.lines.start
                && run.line_there + run.lines.len() == next.line_there;
            if follows {
                run.lines.end = next.lines.end;
            }
            follows
        });
    }
}
