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
    /// before it, or only later commits were asked about ([`WalkOptions::within`]).
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

/// What the questions of one walk have in common.
#[derive(Clone, Copy, Default)]
pub struct WalkOptions<'a> {
    /// Where lines come from, as it was found before. `None` if that is not believed.
    pub known: Option<&'a KnownOrigins<'a>>,
    /// The commits that are asked about, if the question is only what they brought. Who brought an
    /// older line is [`Origin::Missing`] then.
    pub within: Option<&'a HashSet<ObjectId>>,
    /// Its blocks are taken for every version with the same text, so that such a text is not parsed
    /// again.
    pub document: Option<&'a Document>,
}

pub struct Walk<'a, 'git> {
    reader: &'a mut ObjectReader<'git>,
    options: WalkOptions<'a>,
    /// The versions whose lines have to be explained, newest commit first.
    next: BinaryHeap<(i64, ObjectId, BString)>,
    pending: HashMap<(ObjectId, BString), Pending>,
    texts: HashMap<ObjectId, Arc<LineText>>,
    /// The files in which the text that is not committed differs from its first parent.
    uncommitted: Arc<[ChangedBlob]>,
    found: LineOrigins,
    /// The first version, if all of its lines are asked about and its origins were not known.
    to_keep: Option<FileVersion>,
}

/// A version of the file to which the walk has come.
#[derive(Clone)]
struct VisitedVersion {
    commit: ObjectId,
    path: BString,
    node: CommitNode,
    place: TreePlace,
}

impl VisitedVersion {
    fn blob(&self) -> ObjectId {
        self.place.blob.expect("only files are walked")
    }

    fn to_file_version(&self) -> FileVersion {
        let (commit, path) = (self.commit, self.path.clone());
        FileVersion { commit, path, blob: self.blob(), time: self.node.time }
    }
}

/// The lines that were asked about and that a version has.
struct Pending {
    version: VisitedVersion,
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
        Self::with_options(reader, WalkOptions::default())
    }

    pub(crate) fn with_options(
        reader: &'a mut ObjectReader<'git>,
        options: WalkOptions<'a>,
    ) -> Self {
        // What is kept is about all lines.
        let known = options.known.filter(|_| options.within.is_none());
        Self {
            reader,
            options: WalkOptions { known, ..options },
            next: BinaryHeap::new(),
            pending: HashMap::new(),
            texts: HashMap::new(),
            uncommitted: Arc::default(),
            found: LineOrigins::default(),
            to_keep: None,
        }
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
        self.step_from_text(parents, path, text, changed)?;
        // The file is asked about as a whole in each parent, so that the answer can be kept.
        for ((commit, path), pending) in std::mem::take(&mut self.pending) {
            let walk = Walk::with_options(self.reader, self.options);
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
        self.step_from_text(parents, path, text, changed)?;
        Ok(self.brought_lines())
    }

    /// Returns the lines of a file at a commit that no parent has, in ascending order. It is an error
    /// if that is not known of all lines, because this clone lacks what a parent has.
    pub fn new_lines_of_commit(
        mut self,
        commit: ObjectId,
        path: &BString,
    ) -> Result<Vec<usize>, GitError> {
        let Some(whole) = self.whole_file(commit, path)? else { return Ok(Vec::new()) };
        self.step_once(whole)?;
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
        let Some(whole) = self.whole_file(commit, path)? else { return Ok(None) };
        self.explain(whole)?;
        while let Some((_, commit, path)) = self.next.pop() {
            if let Some(pending) = self.pending.remove(&(commit, path)) {
                self.explain(pending)?;
            }
        }
        let (known, to_keep) = (self.options.known, self.to_keep.take());
        let found = self.in_order();
        if let Some((known, version)) = known.zip(to_keep) {
            known.keep_origins(&version, &found);
        }
        Ok(Some(found))
    }

    fn whole_file(
        &mut self,
        commit: ObjectId,
        path: &BString,
    ) -> Result<Option<Pending>, GitError> {
        let node = self.reader.commit(commit)?;
        let place = self.reader.locate(node.tree, path.as_ref(), None)?;
        if place.blob.is_none() {
            return Ok(None);
        }
        self.all_lines(VisitedVersion { commit, path: path.clone(), node, place }).map(Some)
    }

    fn all_lines(&mut self, version: VisitedVersion) -> Result<Pending, GitError> {
        let lines = vec![PendingRun { asked: 0, there: 0..self.text(version.blob())?.len() }];
        Ok(Pending { version, lines })
    }

    /// Takes the step from a text that is not committed.
    fn step_from_text(
        &mut self,
        parents: &[ObjectId],
        path: &BString,
        text: Vec<u8>,
        changed: Vec<ChangedBlob>,
    ) -> Result<(), GitError> {
        let blob = self.reader.hold(text)?;
        self.uncommitted = changed.into();
        let node = CommitNode {
            tree: ObjectId::empty_tree(blob.kind()),
            parents: parents.to_vec(),
            time: UNCOMMITTED,
            is_boundary: false,
        };
        let (commit, place) = (ObjectId::null(blob.kind()), TreePlace::outside_of_trees(blob));
        let pending = self.all_lines(VisitedVersion { commit, path: path.clone(), node, place })?;
        self.step_once(pending)
    }

    fn in_order(mut self) -> LineOrigins {
        self.found.runs.sort_by_key(|run| run.lines.start);
        self.found.join_runs();
        self.found
    }

    fn step_once(&mut self, pending: Pending) -> Result<(), GitError> {
        match self.step(&pending.version)? {
            WalkStep::Same(version) => {
                self.add_pending(version, pending.lines);
                Ok(())
            }
            WalkStep::Changed(parents) => {
                let before = self.versions_before(&pending.version, parents)?;
                self.pass_to_parents(pending, before)
            }
        }
    }

    fn brought_lines(self) -> Vec<usize> {
        let brought = self.found.runs.iter().filter(|run| matches!(run.origin, Origin::Brought(_)));
        let mut lines: Vec<usize> = brought.flat_map(|run| run.lines.clone()).collect();
        lines.sort_unstable();
        lines
    }

    fn add_pending(&mut self, version: VisitedVersion, lines: Vec<PendingRun>) {
        if lines.is_empty() {
            return;
        }
        match self.pending.entry((version.commit, version.path.clone())) {
            Entry::Occupied(mut known) => known.get_mut().lines.extend(lines),
            Entry::Vacant(free) => {
                self.next.push((version.node.time, version.commit, version.path.clone()));
                free.insert(Pending { version, lines });
            }
        }
    }

    /// Passes lines from a version to the versions before it. What does not pass is its own.
    fn explain(&mut self, mut pending: Pending) -> Result<(), GitError> {
        let newest = pending.version.commit;
        let known = self.options.known;
        let span = known.and_then(|known| known.unchanged_span(&pending.version.path));
        let mut unchanged = 0;
        loop {
            let version = &pending.version;
            if self.options.within.is_some_and(|commits| !commits.contains(&version.commit)) {
                self.settle(Origin::Missing, pending);
                return Ok(());
            }
            let skipped = span.filter(|span| span.newest == version.commit);
            let skipped = skipped.and_then(|span| self.skip(span, version));
            match skipped.map_or_else(|| self.step(version), Ok) {
                Ok(WalkStep::Same(parent)) => {
                    let time = parent.node.time;
                    if self.next.peek().is_some_and(|(next, ..)| *next >= time) {
                        self.add_pending(parent, pending.lines);
                        return Ok(());
                    }
                    pending.version = parent;
                    unchanged += 1;
                }
                Ok(WalkStep::Changed(parents)) => {
                    if let Some(known) = known {
                        let span = UnchangedSpan { newest, last_change: version.commit };
                        known.keep_span(&version.path, span, unchanged);
                        if self.is_answered(known, &pending)? {
                            return Ok(());
                        }
                    }
                    match self.versions_before(&pending.version, parents) {
                        Err(GitError::Missing { .. }) => self.settle(Origin::Missing, pending),
                        before => self.pass_to_parents(pending, before?)?,
                    }
                    return Ok(());
                }
                Err(GitError::Missing { .. }) => {
                    self.settle(Origin::Missing, pending);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Skips commits that leave the file as it is, back to the one that changed it last. `None` if
    /// there is nothing to skip.
    fn skip(&mut self, span: UnchangedSpan, version: &VisitedVersion) -> Option<WalkStep> {
        let commit = span.last_change;
        let node = self.reader.commit(commit).ok()?;
        let path = version.path.clone();
        let place = self.reader.locate(node.tree, path.as_ref(), Some(&version.place)).ok()?;
        let is_step = place.blob == version.place.blob && commit != span.newest;
        is_step.then_some(WalkStep::Same(VisitedVersion { commit, path, node, place }))
    }

    /// Answers with the origins that were found before. If there are none, and the question is about
    /// all lines of one version, the answer will be kept.
    fn is_answered(
        &mut self,
        known: &KnownOrigins<'_>,
        pending: &Pending,
    ) -> Result<bool, GitError> {
        let version = pending.version.to_file_version();
        let length = self.text(version.blob)?.len();
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

    fn step(&mut self, version: &VisitedVersion) -> Result<WalkStep, GitError> {
        let VisitedVersion { path, node: own, place: here, .. } = version;
        let mut parents = Parents::default();
        for parent in &own.parents {
            let node = self.reader.commit(*parent)?;
            let place = self.reader.locate(node.tree, path.as_ref(), Some(here))?;
            let Some(at) = place.blob else {
                parents.without.push((*parent, node));
                continue;
            };
            let is_known = parents.with.iter().any(|other| other.blob() == at);
            let parent = VisitedVersion { commit: *parent, path: path.clone(), node, place };
            if Some(at) == here.blob {
                return Ok(WalkStep::Same(parent));
            }
            parents.with.extend((!is_known).then_some(parent));
        }
        Ok(WalkStep::Changed(parents))
    }

    /// Returns the versions from which the lines of a version may come, under the same name or under
    /// another one.
    fn versions_before(
        &mut self,
        version: &VisitedVersion,
        Parents { with: mut before, without }: Parents,
    ) -> Result<Vec<VisitedVersion>, GitError> {
        let VisitedVersion { commit, path, node: own, place: here } = version;
        for (parent, node) in without {
            let renames = match own.time {
                UNCOMMITTED => Arc::new(Renames::from_changes(&self.uncommitted)),
                _ => Renames::from_trees(self.reader, (Some(node.tree), Some(own.tree)))?,
            };
            let former = renames.former_file(self.reader, path.as_ref())?;
            let Some((old, at)) = former else { continue };
            if before.iter().any(|other| other.blob() == at) {
                continue;
            }
            let place = self.reader.locate(node.tree, old.as_ref(), None)?;
            let parent = VisitedVersion { commit: parent, path: old, node, place };
            if Some(at) == here.blob {
                // All lines were in the parent under another name.
                return Ok(vec![parent]);
            }
            before.push(parent);
        }
        if before.is_empty() && own.is_boundary {
            return Err(self.reader.missing_object(*commit));
        }
        Ok(before)
    }

    fn pass_to_parents(
        &mut self,
        mut pending: Pending,
        parents: Vec<VisitedVersion>,
    ) -> Result<(), GitError> {
        let blob = pending.version.blob();
        let mut passing: Vec<PassedRun> = Vec::new();
        for parent in parents {
            let read = self.text(parent.blob()).and_then(|before| Ok((before, self.text(blob)?)));
            let (before, now) = match read {
                Err(GitError::Missing { .. }) => {
                    self.settle(Origin::Missing, pending);
                    return Ok(());
                }
                read => read?,
            };
            passing = passed_runs(&before, &now);
            let (lines, stayed) = split(&pending.lines, &passing);
            pending.lines = stayed;
            self.add_pending(parent, lines);
        }
        if let [parent] = pending.version.node.parents[..] {
            self.pass_moved_blocks(parent, &passing, &mut pending)?;
        }
        self.settle(Origin::Brought, pending);
        Ok(())
    }

    /// Passes the lines of whole blocks that a commit moved. The others stay.
    fn pass_moved_blocks(
        &mut self,
        parent: ObjectId,
        passing: &[PassedRun],
        pending: &mut Pending,
    ) -> Result<(), GitError> {
        if pending.lines.is_empty() {
            return Ok(());
        }
        let VisitedVersion { commit, path, node, .. } = &pending.version;
        let (before, time) = (self.reader.commit(parent)?, node.time);
        // Before there was a registry, nothing was recorded that a move could lead to.
        if time != UNCOMMITTED && !self.reader.is_governed(before.tree)? {
            return Ok(());
        }
        let now = self.text(pending.version.blob())?;
        // All new lines of the commit, not only those that are asked about: a block that was edited
        // later was moved as a whole.
        let mut brought = vec![true; now.len()];
        passing.iter().for_each(|run| brought[run.now.clone()].fill(false));
        let trees = (Some(before.tree), Some(node.tree));
        let uncommitted = Arc::clone(&self.uncommitted);
        let text = (&*now, self.options.document);
        let mut found =
            block_moves(self.reader, path, text, &brought, |reader, language| match time {
                UNCOMMITTED => {
                    RemovedCode::from_changes(reader, &uncommitted, language).map(Arc::new)
                }
                _ => RemovedCode::from_trees(reader, trees, language),
            })?;
        if found.moved.is_empty() && self.reader.ignores(*commit)? {
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
            let (path, node) = (moved.path, before.clone());
            self.add_pending(VisitedVersion { commit: parent, path, node, place }, passed);
        }
        for lines in found.unclear {
            let here = PassedRun { before: lines.start, now: lines };
            let (lines, stayed) = split(&pending.lines, &[here]);
            pending.lines = stayed;
            let version = pending.version.clone();
            self.settle(Origin::Missing, Pending { version, lines });
        }
        Ok(())
    }

    fn settle(&mut self, origin: fn(usize) -> Origin, Pending { version, lines }: Pending) {
        if lines.is_empty() {
            return;
        }
        let version = self.version_index(version.to_file_version());
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
    Same(VisitedVersion),
    /// No parent has the same file under this name.
    Changed(Parents),
}

/// The parents of a commit that changed a file.
#[derive(Default)]
struct Parents {
    /// The different versions of the file that they have.
    with: Vec<VisitedVersion>,
    /// Those that have no file of this name.
    without: Vec<(ObjectId, CommitNode)>,
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
