//! Who brought each line of a file: its origin in the history, and the record about it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ground::git::{BStr, BString, ByteSlice, ChangedBlob, GitError, ObjectId, ObjectReader};
use ground::{RelativePath, Root, clock};
use ledger::{
    Claim, Entry, EqualPlaces, HashedRun, Ledger, LineRuns, RecordKind, Strength, Trust, journal,
};

use crate::ancestors::is_in_history_of;
use crate::attribution::attribute;
use crate::claimed_lines::{claimed_lines, lines_by_number, lines_of_entry, runs_about};
use crate::journal_moves::{JournalTexts, ReadPresent};
use crate::journal_texts::recorded_texts;
use crate::knowledge::{Knowledge, joined_path, path_of_version};
use crate::moves::MAX_FILES;
use crate::origins::{FileVersion, LineOrigins, Origin, Walk, WalkOptions};
use crate::renames::Renames;
use crate::text::{LineText, language_of};

/// How long after a commit an inferred record may be made and still describe that commit, in
/// milliseconds. If one shell command edits and commits, its work is recorded when it has ended.
const LONGEST_COMMAND: i64 = 10 * 60 * 1_000;
/// The time of a commit is rounded down to seconds, so a record may appear to be later by up to
/// this many milliseconds.
const ROUNDING: i64 = 1_000;

/// Among more commits of one second than this, the order is not looked for.
const MAX_OF_ONE_SECOND: usize = 256;

#[derive(Clone, Debug, Default)]
pub struct FileLines {
    pub versions: Vec<FileVersion>,
    /// For each version, how many other commits of [`Self::versions`] with the same time its commit
    /// comes after.
    pub ranks: Vec<usize>,
    pub claims: Vec<Arc<Claim>>,
    /// For each version, whether there is evidence about the file at its commit.
    pub has_evidence: Vec<bool>,
    /// For each version, the records by which people accepted blocks of it as they are.
    pub acks: Vec<Vec<Arc<Entry>>>,
    /// The acceptances that are in no commit yet.
    pub open_acks: Vec<Arc<Entry>>,
    /// The highest format among the evidence that was needed and that this program cannot read.
    pub newer_format: Option<u32>,
    pub lines: Vec<LineSource>,
}

impl FileLines {
    pub fn unknown(lines: usize) -> Self {
        let nothing = LineSource { is_missing: true, ..LineSource::default() };
        Self { lines: vec![nothing; lines], ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineSource {
    /// The version that brought it: an index of [`FileLines::versions`]. A text that is not committed
    /// is a version, too. `None` without git.
    pub version: Option<usize>,
    /// The line in that version, counted from 0.
    pub line_there: usize,
    /// Whether the walk ended before it was known who brought the line; see [`Origin::Missing`].
    pub is_missing: bool,
    /// The record about it: an index of [`FileLines::claims`].
    pub claim: Option<usize>,
    /// The record that was about it until a person said that the line belongs to no intent: an index
    /// of [`FileLines::claims`].
    pub disowned: Option<usize>,
}

pub struct LineFinder<'a, 'git> {
    pub root: &'a Root,
    pub reader: &'a mut ObjectReader<'git>,
    pub knowledge: &'a mut Knowledge<'git>,
    /// The path of the workspace in the repository: empty, or with a trailing `/`.
    pub prefix: &'a BStr,
    pub journal: &'a Ledger,
    pub options: WalkOptions<'a>,
}

/// Returns who brought the lines of a text without git: only the journal can say it.
pub fn lines_without_git(
    root: &Root,
    journal: &Ledger,
    path: &RelativePath,
    text: &LineText,
) -> FileLines {
    let records = recorded_texts(root, journal, path, |_| true);
    let (entries, texts): (Vec<_>, Vec<_>) = records.into_iter().unzip();
    let found = attribute(path.as_str(), (text, None), &vec![true; text.len()], &texts);
    let mut claims = FoundClaims::default();
    let source = |owner: Option<usize>| {
        let claim = owner.map(|owner| claims.index_of(&entries[owner], path, None));
        LineSource { claim, ..LineSource::default() }
    };
    let lines = found.into_iter().map(source).collect();
    let open_acks = open_acks(journal, path).collect();
    FileLines { claims: claims.all, lines, open_acks, ..FileLines::default() }
}

fn open_acks<'a>(
    journal: &'a Ledger,
    path: &'a RelativePath,
) -> impl Iterator<Item = Arc<Entry>> + 'a {
    let is_ack = |entry: &&Arc<Entry>| {
        entry.record.kind == RecordKind::Ack && entry.trust != Trust::Contradicted
    };
    journal.of_path(path).filter(is_ack).cloned()
}

impl<'a, 'git> LineFinder<'a, 'git> {
    fn new_walk(&mut self) -> Walk<'_, 'git> {
        Walk::with_options(self.reader, self.options)
    }

    /// Returns who brought the lines of a text that is based on `parents`; see [`Walk::of_text`].
    /// `present` returns the present contents of other files.
    pub fn of_text(
        &mut self,
        parents: &[ObjectId],
        (path, text): (&RelativePath, Vec<u8>),
        changed: Vec<ChangedBlob>,
        present: &ReadPresent<'_>,
    ) -> Result<FileLines, GitError> {
        let full = self.full_path(path);
        self.knowledge.asked_file = full.clone();
        let walk = self.new_walk();
        let origins = walk.of_text(parents, &full, text.clone(), changed)?;
        let is_new = self.is_new_in(parents.first(), &full)?;
        let drafts = self.knowledge.of_next_commit(self.reader)?;
        let text = LineText::new(text);
        let uncommitted = PresentText { path, text, parents, is_new, present, drafts };
        self.with_claims(origins, Some(uncommitted))
    }

    /// Returns who brought the lines of a file at a commit. `None` if the commit has no such file.
    pub fn of_file(
        &mut self,
        commit: ObjectId,
        path: &RelativePath,
    ) -> Result<Option<FileLines>, GitError> {
        let full = self.full_path(path);
        self.knowledge.asked_file = full.clone();
        let walk = self.new_walk();
        let origins = walk.of_file(commit, &full)?;
        origins.map(|origins| self.with_claims(origins, None)).transpose()
    }

    fn full_path(&self, path: &RelativePath) -> BString {
        joined_path(&[self.prefix.as_ref(), path.as_str().as_bytes()])
    }

    fn with_claims(
        &mut self,
        origins: LineOrigins,
        uncommitted: Option<PresentText<'_>>,
    ) -> Result<FileLines, GitError> {
        let mut claims = FoundClaims::default();
        let mut of_versions: Vec<Vec<Option<usize>>> = Vec::with_capacity(origins.versions.len());
        for version in &origins.versions {
            let is_brought = |run: &&crate::OriginRun| matches!(run.origin, Origin::Brought(at) if origins.versions[at] == *version);
            let brought: Vec<_> = origins.runs.iter().filter(is_brought).collect();
            of_versions.push(if brought.is_empty() {
                Vec::new()
            } else if let Some(now) = uncommitted.as_ref().filter(|_| version.is_uncommitted()) {
                let mut asked = vec![false; now.text.len()];
                brought.iter().for_each(|run| asked[run.lines.clone()].fill(true));
                self.of_uncommitted(&mut claims, now, asked)?
            } else {
                let lines =
                    brought.iter().map(|run| run.line_there..run.line_there + run.lines.len());
                let known = ledger::sorted(lines.flatten());
                self.of_version(&mut claims, version, &known)?
            });
        }
        let count = origins.runs.last().map_or(0, |run| run.lines.end);
        let mut lines = Vec::with_capacity(count);
        for run in &origins.runs {
            for (nth, _) in run.lines.clone().enumerate() {
                let line_there = run.line_there + nth;
                let (version, is_missing) = match run.origin {
                    Origin::Brought(version) => (version, false),
                    Origin::Missing(version) => (version, true),
                };
                let claim = of_versions[version].get(line_there).copied().flatten();
                let (disowned, claim) = match claim {
                    Some(at) if claims.all[at].is_disowned() => (Some(at), None),
                    claim => (None, claim),
                };
                let version = Some(version);
                lines.push(LineSource { version, line_there, is_missing, claim, disowned });
            }
        }
        let mut known = FileLines { claims: claims.all, lines, ..FileLines::default() };
        for (at, version) in origins.versions.iter().enumerate() {
            let brought = |run: &crate::OriginRun| run.origin == Origin::Brought(at);
            let is_asked = self.options.within.is_none() || origins.runs.iter().any(brought);
            let entries = if is_asked { self.entries_about(version)? } else { Vec::new() };
            known.has_evidence.push(!entries.is_empty());
            let acks = entries.into_iter().filter(|entry| entry.record.kind == RecordKind::Ack);
            known.acks.push(acks.collect());
        }
        known.ranks = self.ranks(&origins.versions);
        known.versions = origins.versions;
        let paths = known.versions.iter().filter_map(|one| path_of_version(one, self.prefix));
        let paths: Vec<RelativePath> = ledger::sorted(paths);
        known.open_acks = paths.iter().flat_map(|path| open_acks(self.journal, path)).collect();
        let drafts = uncommitted.into_iter().flat_map(|now| now.drafts);
        known.open_acks.extend(drafts.filter(|entry| entry.record.kind == RecordKind::Ack));
        known.newer_format = self.knowledge.newer_format();
        Ok(known)
    }

    /// Returns [`FileLines::ranks`]. Times are in seconds, and a program can make several commits in
    /// one.
    fn ranks(&mut self, versions: &[FileVersion]) -> Vec<usize> {
        let mut commits: BTreeMap<i64, HashSet<ObjectId>> = BTreeMap::new();
        for version in versions.iter().filter(|version| !version.is_uncommitted()) {
            commits.entry(version.time).or_default().insert(version.commit);
        }
        let mut rank = |version: &FileVersion| {
            let others = commits.get(&version.time).filter(|commits| commits.len() > 1);
            let Some(others) = others else { return 0 };
            let (mut seen, mut left) = (HashSet::from([version.commit]), vec![version.commit]);
            while let Some(Ok(node)) = left.pop().map(|commit| self.reader.commit(commit)) {
                if node.time == version.time && seen.len() < MAX_OF_ONE_SECOND {
                    left.extend(node.parents.into_iter().filter(|parent| seen.insert(*parent)));
                }
            }
            seen.intersection(others).count() - 1
        };
        versions
            .iter()
            .map(|version| if version.is_uncommitted() { 0 } else { rank(version) })
            .collect()
    }

    /// Returns the claims on the lines of a text that is in no commit, from the evidence of the next
    /// commit and from the journal.
    fn of_uncommitted(
        &mut self,
        claims: &mut FoundClaims,
        now: &PresentText<'_>,
        mut asked: Vec<bool>,
    ) -> Result<Vec<Option<usize>>, GitError> {
        let new: Vec<usize> = (0..asked.len()).filter(|line| asked[*line]).collect();
        let drafted = claimed_lines(&now.drafts, now.path, &now.text, &new).into_iter();
        let found = drafted.zip(&asked).map(|(at, asked)| {
            Some(claims.index_of(&now.drafts[at.filter(|_| *asked)?], now.path, None))
        });
        let mut found: Vec<Option<usize>> = found.collect();
        asked.iter_mut().zip(&found).for_each(|(asked, found)| *asked &= found.is_none());
        add_claims(&mut found, self.of_journal(claims, now, &asked, None)?);
        Ok(found)
    }

    /// Returns the evidence about a file at the commit of a version.
    fn entries_about(&mut self, version: &FileVersion) -> Result<Vec<Arc<Entry>>, GitError> {
        let mut entries = self.own_entries_about(version)?;
        if !has_work(&entries) && !version.is_uncommitted() {
            let elsewhere = self.knowledge.evidence_elsewhere(self.reader, version)?;
            entries.extend(elsewhere.into_iter().flat_map(|(_, entries)| entries));
        }
        Ok(entries)
    }

    /// Like [`Self::entries_about`], without evidence that the commit has at another place.
    fn own_entries_about(&mut self, version: &FileVersion) -> Result<Vec<Arc<Entry>>, GitError> {
        let path = path_of_version(version, self.prefix).filter(|_| !version.is_uncommitted());
        let Some(path) = path else { return Ok(Vec::new()) };
        self.knowledge.of_file_at(self.reader, version.commit, &path)
    }

    /// Returns the evidence of a commit about files that it does not have, if it adds the file of the
    /// version. An amend or a squash has united it with a commit that renamed one of them.
    ///
    /// If the parent has such a file, git's rule says whether it was renamed. Otherwise only its
    /// recorded lines are known, so at least half of the new file must be among them.
    fn entries_about_former_names(
        &mut self,
        version: &FileVersion,
    ) -> Result<BTreeMap<RelativePath, Vec<Arc<Entry>>>, GitError> {
        let mut former: BTreeMap<RelativePath, Vec<Arc<Entry>>> = BTreeMap::new();
        let node = self.reader.commit(version.commit)?;
        let parent = node.parents.first();
        if !self.is_new_in(parent, &version.path)? {
            return Ok(former);
        }
        for (path, entry) in self.knowledge.about_missing_files(self.reader, version.commit)?.iter()
        {
            former.entry(path.clone()).or_default().push(Arc::clone(entry));
        }
        if former.is_empty() {
            return Ok(former);
        }
        let before = parent.map(|parent| self.reader.commit(*parent)).transpose()?;
        let before = before.map(|parent| parent.tree);
        let renames = Renames::from_trees(self.reader, (before, Some(node.tree)))?;
        let renamed = renames.former_file(self.reader, version.path.as_ref())?;
        let mut left = BTreeMap::new();
        for (path, entries) in former {
            let full = self.full_path(&path);
            if renamed.as_ref().is_some_and(|(renamed, _)| *renamed == full)
                || self.is_new_in(parent, &full)? && self.has_half_of(version, (&path, &entries))?
            {
                left.insert(path, entries);
            }
        }
        Ok(left)
    }

    /// Returns true if at least half of the lines of a version are those of evidence.
    fn has_half_of(
        &mut self,
        version: &FileVersion,
        evidence: (&RelativePath, &[Arc<Entry>]),
    ) -> Result<bool, GitError> {
        let (text, claimed) =
            self.of_evidence(&mut FoundClaims::default(), (version, &[]), evidence)?;
        Ok(2 * claimed.iter().flatten().count() >= text.len())
    }

    /// Returns the text of a committed version, and the claims of the evidence on its lines. `known`
    /// are lines that the commit brought, perhaps not all.
    fn of_evidence(
        &mut self,
        claims: &mut FoundClaims,
        (version, known): (&FileVersion, &[usize]),
        (path, entries): (&RelativePath, &[Arc<Entry>]),
    ) -> Result<(LineText, Vec<Option<usize>>), GitError> {
        let text = LineText::new(self.reader.blob(version.blob)?);
        // A kept answer may have been planted, and name lines that there are not.
        let known: Vec<usize> = known.iter().copied().filter(|line| *line < text.len()).collect();
        let claimed = match lines_by_number(entries, path, &text, &known) {
            Some(claimed) => claimed,
            None => {
                let walk = Walk::new(self.reader);
                let brought = walk.new_lines_of_commit(version.commit, &version.path)?;
                claimed_lines(entries, path, &text, &brought)
            }
        };
        let claimed = claimed.into_iter();
        let commit = version.commit.to_string();
        let mut claim = |at: usize| claims.index_of(&entries[at], path, Some(&commit));
        let found = claimed.map(|at| at.map(&mut claim)).collect();
        Ok((text, found))
    }

    /// Returns the late evidence of commits that the commit of a version replaced. It must have brought at
    /// least half of the lines of a record.
    fn evidence_of_replaced_commits(
        &mut self,
        version: &FileVersion,
    ) -> Result<Vec<Arc<Entry>>, GitError> {
        let path = path_of_version(version, self.prefix).filter(|_| !version.is_uncommitted());
        let Some(path) = path else { return Ok(Vec::new()) };
        let mut found = self.knowledge.of_replaced_commits(self.reader, version.commit, &path)?;
        if found.is_empty() {
            return Ok(found);
        }
        let text = LineText::new(self.reader.blob(version.blob)?);
        let brought = Walk::new(self.reader).new_lines_of_commit(version.commit, &version.path)?;
        found.retain(|entry| {
            let runs: Vec<&HashedRun> = runs_about(entry, &path).flat_map(LineRuns::runs).collect();
            let places = EqualPlaces::of_runs(runs.iter().copied(), &text, &brought);
            let all: usize = runs.iter().map(|run| run.lines.len()).sum();
            let here = runs.iter().filter(|run| !places.of_run(run).is_empty());
            2 * here.map(|run| run.lines.len()).sum::<usize>() >= all
        });
        Ok(found)
    }

    /// Returns the claims on the lines of a committed version. `known` are lines that its commit brought,
    /// perhaps not all.
    fn of_version(
        &mut self,
        claims: &mut FoundClaims,
        version: &FileVersion,
        known: &[usize],
    ) -> Result<Vec<Option<usize>>, GitError> {
        let mut entries = self.own_entries_about(version)?;
        if !has_work(&entries)
            && let Some((path, entries)) =
                self.knowledge.evidence_elsewhere(self.reader, version)?
        {
            let (text, mut found) =
                self.of_evidence(claims, (version, known), (&path, &entries))?;
            claims.reassign(&entries, &path, &text, &mut found);
            return Ok(found);
        }
        let Some(path) = path_of_version(version, self.prefix) else { return Ok(Vec::new()) };
        let commit = version.commit.to_string();
        let about = |entry: &&Arc<Entry>| {
            entry.record.of.as_deref() == Some(&*commit) && entry.trust != Trust::Contradicted
        };
        entries.extend(self.journal.of_path(&path).filter(about).cloned());
        // After a rebase, evidence may name a commit that is gone.
        let gone = self.evidence_of_replaced_commits(version)?;
        entries.splice(0..0, gone);
        // A commit of a colleague may have the same line as work that was thrown away here.
        let may_have_open_work = has_work(&entries)
            || !self.journal.entries().iter().any(|entry| journal::is_open(&entry.origin.path))
            || !self.reader.is_made_elsewhere(version.commit)?;
        let later = self.records_after(version, may_have_open_work);
        let language = language_of(path.as_str());
        let may_be_its = |entry: &Arc<Entry>| {
            let mut files = entry.record.files.iter().map(|file| &file.relative_path);
            entry.record.kind == RecordKind::Mutation
                && !later.contains(&*entry.record.id)
                && files.any(|other| *other == path || language_of(other.as_str()) == language)
        };
        let has_records = self.journal.entries().iter().any(may_be_its);
        let renamed = self.entries_about_former_names(version)?;
        if entries.is_empty() && !has_records && renamed.is_empty() {
            return Ok(Vec::new());
        }
        let (mut text, mut found) =
            self.of_evidence(claims, (version, known), (&path, &entries))?;
        for (path, entries) in &renamed {
            add_claims(&mut found, self.of_evidence(claims, (version, known), (path, entries))?.1);
        }
        if has_records {
            let mut asked = vec![false; text.len()];
            for line in Walk::new(self.reader).new_lines_of_commit(version.commit, &version.path)? {
                asked[line] = found[line].is_none();
            }
            if asked.contains(&true) {
                let node = self.reader.commit(version.commit)?;
                let prefix = self.prefix.to_owned();
                let present = |reader: &mut ObjectReader<'_>, path: &RelativePath| {
                    let full = joined_path(&[&prefix, path.as_str().as_bytes()]);
                    let blob = reader.locate(node.tree, full.as_ref(), None).ok()?.blob?;
                    reader.blob(blob).ok()
                };
                let is_new = self.is_new_in(node.parents.first(), &version.path)?;
                let drafts = Vec::new();
                let parents = &node.parents;
                let now =
                    PresentText { path: &path, text, parents, is_new, present: &present, drafts };
                add_claims(
                    &mut found,
                    self.of_journal(claims, &now, &asked, Some((&commit, &later)))?,
                );
                text = now.text;
            }
        }
        claims.reassign(&entries, &path, &text, &mut found);
        Ok(found)
    }

    /// Returns for each line of a committed version the record about it, in evidence or in the journal.
    pub fn records_of_version(
        &mut self,
        version: &FileVersion,
    ) -> Result<Vec<Option<Arc<Entry>>>, GitError> {
        let mut claims = FoundClaims::default();
        let known = Walk::new(self.reader).new_lines_of_commit(version.commit, &version.path)?;
        let found = self.of_version(&mut claims, version, &known)?;
        let entry = |at: usize| Arc::clone(&claims.all[at].entry);
        Ok(found.into_iter().map(|at| at.map(entry)).collect())
    }

    /// Returns the claims of the journal on lines that no evidence names. `commit` is the commit
    /// that brought them, and its time in milliseconds.
    fn of_journal(
        &mut self,
        claims: &mut FoundClaims,
        now: &PresentText<'_>,
        asked: &[bool],
        commit: Option<(&str, &HashSet<&str>)>,
    ) -> Result<Vec<Option<usize>>, GitError> {
        let may_be_in = |entry: &Entry| {
            let is_later = commit.is_some_and(|(_, later)| later.contains(&*entry.record.id));
            entry.record.of.is_none() && !is_later
        };
        let records = recorded_texts(self.root, self.journal, now.path, may_be_in);
        let (entries, texts): (Vec<_>, Vec<_>) = records.into_iter().unzip();
        let found = attribute(now.path.as_str(), (&now.text, None), asked, &texts);
        let named = found.iter().flatten().map(|at| &entries[*at]);
        let earlier = self.ids_in_ledgers_of(now.parents, named)?;
        let found = found.into_iter();
        let found = found.map(|at| at.filter(|at| !earlier.contains(&entries[*at].record.id)));
        let commit = commit.map(|(commit, _)| commit);
        let mut found: Vec<Option<usize>> =
            found.map(|at| at.map(|at| claims.index_of(&entries[at], now.path, commit))).collect();
        let open: Vec<bool> =
            asked.iter().zip(&found).map(|(asked, found)| *asked && found.is_none()).collect();
        let mut texts = JournalTexts {
            root: self.root,
            reader: self.reader,
            journal: self.journal,
            is_wanted: &may_be_in,
            present: now.present,
            max_files: MAX_FILES,
            known: HashMap::new(),
        };
        let moved = texts.records_of_moved_lines(now.path, (&now.text, now.is_new), &open)?;
        let named = moved.iter().flatten().map(|(entry, _)| entry);
        let earlier = self.ids_in_ledgers_of(now.parents, named)?;
        for (line, record) in moved.into_iter().enumerate() {
            let record = record.filter(|(entry, _)| !earlier.contains(&entry.record.id));
            if let Some((entry, path)) = record {
                found[line] = Some(claims.index_of(&entry, &path, commit));
            }
        }
        Ok(found)
    }

    /// Returns the ids of the records of the journal that were made after a commit, so that they are about
    /// later work.
    ///
    /// A commit of 12:00:00 is before a record of 12:00:02, and before each record whose base is this
    /// commit or comes from it. It is not before an inferred record of 12:09, because one command may have
    /// edited, committed, and ended nine minutes later.
    ///
    /// If `may_have_open_work` is false, no line of the commit belongs to an open record, so all open
    /// records are in the answer.
    fn records_after(
        &mut self,
        version: &FileVersion,
        may_have_open_work: bool,
    ) -> HashSet<&'a str> {
        let commit = (version.commit, version.time);
        let mut bases: HashMap<&str, bool> = HashMap::new();
        let mut is_based_on_it = |base: &'a str| {
            *bases.entry(base).or_insert_with(|| {
                let base = ObjectId::from_hex(base.as_bytes()).ok();
                base.is_some_and(|base| {
                    is_in_history_of(self.reader, base, commit).unwrap_or(false)
                })
            })
        };
        let is_later = |entry: &&'a Arc<Entry>| {
            let record = &entry.record;
            let is_inferred = record.strength == Some(Strength::Inferred);
            let late = if is_inferred { LONGEST_COMMAND } else { 0 };
            if !may_have_open_work && journal::is_open(&entry.origin.path) {
                return true;
            }
            let made = clock::milliseconds(&record.timestamp);
            let base = record.vcs.as_ref().and_then(|vcs| vcs.revision_id.as_deref());
            made.is_some_and(|made| made > version.time * 1_000 + ROUNDING + late)
                || !is_inferred && base.is_some_and(&mut is_based_on_it)
        };
        self.journal.entries().iter().filter(is_later).map(|entry| &*entry.record.id).collect()
    }

    /// Returns the ids of the records that one of these commits has in a ledger. A record in a committed
    /// file is about the commit that adds it, so it is not about a later one.
    fn ids_in_ledgers_of<'e>(
        &mut self,
        commits: &[ObjectId],
        entries: impl Iterator<Item = &'e Arc<Entry>>,
    ) -> Result<HashSet<String>, GitError> {
        let mut by_ledger: BTreeMap<&RelativePath, BTreeMap<&str, &Entry>> = BTreeMap::new();
        for entry in entries.filter(|entry| !journal::is_open(&entry.origin.path)) {
            by_ledger.entry(&entry.origin.path).or_default().insert(&entry.record.id, entry);
        }
        let mut found = HashSet::new();
        for commit in commits {
            // No commit has a record that was made on it.
            let id = commit.to_string();
            let is_based = |entry: &Entry| {
                entry.record.vcs.as_ref().and_then(|vcs| vcs.revision_id.as_ref()) == Some(&id)
            };
            for (ledger, records) in &by_ledger {
                let asked: Vec<&str> = records
                    .iter()
                    .filter(|(_, entry)| !is_based(entry))
                    .map(|(id, _)| *id)
                    .collect();
                if asked.is_empty() {
                    continue;
                }
                let tree = self.reader.commit(*commit)?.tree;
                let path = joined_path(&[self.prefix, ledger.as_str().as_bytes()]);
                if let Some(blob) = self.reader.locate(tree, path.as_ref(), None)?.blob {
                    let ledger = self.reader.blob(blob)?;
                    let held = asked.into_iter().filter(|id| ledger.contains_str(id));
                    found.extend(held.map(str::to_owned));
                }
            }
        }
        Ok(found)
    }

    fn is_new_in(&mut self, parent: Option<&ObjectId>, path: &BString) -> Result<bool, GitError> {
        let Some(parent) = parent else { return Ok(true) };
        let tree = self.reader.commit(*parent)?.tree;
        Ok(self.reader.locate(tree, path.as_ref(), None)?.blob.is_none())
    }
}

struct PresentText<'a> {
    path: &'a RelativePath,
    text: LineText,
    /// The commits that the text is based on.
    parents: &'a [ObjectId],
    /// The evidence of the commit that will contain the text.
    drafts: Vec<Arc<Entry>>,
    is_new: bool,
    /// Returns the contents of other files at the same time.
    present: &'a ReadPresent<'a>,
}

/// Returns true if entries say who brought lines. Those by which a person accepted or reassigned lines
/// of another project do not, so the evidence of that project counts beside them.
fn has_work(entries: &[Arc<Entry>]) -> bool {
    entries.iter().any(|entry| entry.record.kind == RecordKind::Mutation)
}

fn add_claims(found: &mut [Option<usize>], others: Vec<Option<usize>>) {
    found.iter_mut().zip(others).for_each(|(line, other)| *line = line.or(other));
}

/// The records that brought lines, each of them once.
#[derive(Default)]
struct FoundClaims {
    all: Vec<Arc<Claim>>,
    known: HashMap<(String, Option<String>), usize>,
}

impl FoundClaims {
    fn index_of(&mut self, entry: &Arc<Entry>, path: &RelativePath, commit: Option<&str>) -> usize {
        let commit = commit.map(str::to_owned);
        let key = (entry.record.id.clone(), commit.clone());
        *self.known.entry(key).or_insert_with(|| {
            let entry = Arc::clone(entry);
            let path = path.clone();
            self.all.push(Arc::new(Claim { entry, path, commit, reassigned: Vec::new() }));
            self.all.len() - 1
        })
    }

    /// Applies the records by which people put lines of a commit under another intent, or under none.
    fn reassign(
        &mut self,
        entries: &[Arc<Entry>],
        path: &RelativePath,
        text: &LineText,
        found: &mut [Option<usize>],
    ) {
        let takes = entries.iter().filter(|entry| entry.record.kind == RecordKind::Reassign);
        for entry in takes {
            let mut runs = runs_about(entry, path).flat_map(LineRuns::runs);
            let lines = if runs.all(|run| run.stands_in(text)) {
                runs_about(entry, path).flat_map(|runs| runs.standing_lines(text)).collect()
            } else {
                // After a squash the lines stand elsewhere, among those that are claimed.
                let claimed = found.iter().enumerate().filter(|(_, claim)| claim.is_some());
                let claimed: Vec<usize> = claimed.map(|(line, _)| line).collect();
                lines_of_entry(entry, path, text, &claimed)
            };
            let mut moved: HashMap<usize, usize> = HashMap::new();
            for line in lines {
                let Some(claim) = found[line] else { continue };
                if self.all[claim].intent() != entry.record.takes.as_deref() {
                    continue;
                }
                let new = *moved.entry(claim).or_insert_with(|| {
                    let mut taken = Claim::clone(&self.all[claim]);
                    taken.reassigned.push(Arc::clone(entry));
                    self.all.push(Arc::new(taken));
                    self.all.len() - 1
                });
                found[line] = Some(new);
            }
        }
    }
}
