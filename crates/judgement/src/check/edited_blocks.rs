//! Finds out who edited each block of a change, and the lines outside of blocks: the intents of the
//! records that brought the new lines.

use std::cell::{LazyCell, OnceCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::removed_lines::{GoneLines, Removal, gone_lines};
use code::saying_lines::says_something;
use code::{Block, FileBlocks, Identity, LineRange};
use evidence::comparison::is_evidence;
use ground::git::{ByteSlice, ObjectId, Target};
use ground::{CommitId, RelativePath};
use history::knowledge::claimed_lines;
use history::{FileVersion, LineSource, LineText, Walk};
use ledger::read::is_ledger_path;
use ledger::{BlockName, BlockRecord, Claim, Entry, FileRecord, RecordKind, journal};
use provenance::{Difference, is_named};
use why::answers::FileProvenance;
use why::{Workspace, change_class};

#[derive(Clone, Debug, Default)]
pub(super) struct ChangeHistory {
    pub bases: Vec<CommitId>,
    pub commits: HashSet<ObjectId>,
    /// The records that these commits added and those that are in no commit, oldest first. Each has
    /// the commit that added it.
    pub records: Vec<(Option<CommitId>, Arc<Entry>)>,
    /// The records that these commits added and removed again, oldest first. Work with such a record
    /// counts as not recorded, and the intent of the record is judged all the same. Otherwise a later
    /// commit could hide work that an intent may not do.
    pub removed: Vec<(Option<CommitId>, Arc<Entry>)>,
}

impl ChangeHistory {
    /// Returns the history of work that is in no commit.
    pub(crate) fn of_open_work(ws: &Workspace, bases: &[CommitId]) -> Self {
        let records = new_records(ws, bases).into_iter().map(|entry| (None, entry));
        Self { bases: bases.to_vec(), records: records.collect(), ..Self::default() }
    }

    pub(crate) fn claims_refactoring(&self) -> bool {
        self.records.iter().any(|(_, entry)| change_class::claims_refactoring(&entry.record))
    }

    pub(crate) fn recorded_intents(&self, ws: &Workspace) -> BTreeSet<String> {
        let all = self.records.iter().chain(&self.removed);
        let of_work = all.filter(|(_, entry)| entry.record.kind == RecordKind::Mutation);
        let ids = of_work.filter_map(|(_, entry)| ws.intent_named(entry));
        ids.filter(|id| ws.registry.get(id).is_some()).collect()
    }

    /// Returns true if the change brought a line. A line that a commit of the base brought is older,
    /// and so is one of which the history is missing but begins before the change.
    pub(crate) fn has_brought(&self, file: &FileProvenance, source: &LineSource) -> bool {
        match source.version.map(|at| &file.lines.versions[at]) {
            Some(version) => version.is_uncommitted() || self.commits.contains(&version.commit),
            None => !source.is_missing,
        }
    }

    /// Returns the lines of a file that lie in no block, or in one that does not parse, each with its
    /// number.
    fn lines_outside<'f>(
        &self,
        file: &'f FileProvenance,
    ) -> impl Iterator<Item = (u32, LineSource)> + 'f {
        let blocks = file.blocks.blocks.iter().zip(&file.provenance);
        let read = blocks.filter(|(block, _)| !block.broken).flat_map(|(_, found)| &found.own);
        let read: HashSet<u32> = read.map(|(line, _)| *line).collect();
        let all = (1..).zip(file.lines.lines.iter().copied());
        all.filter(move |(line, _)| !read.contains(line))
    }

    /// Returns true if this clone lacks the history that says who brought lines of these blocks or
    /// outside of blocks, and it may be that the change did.
    pub(crate) fn misses_history(&self, file: &FileProvenance, edited: &[EditedBlock]) -> bool {
        let own = edited.iter().flat_map(|block| file.provenance[block.at].own.iter().copied());
        own.chain(self.lines_outside(file)).any(|(_, source)| {
            source.is_missing && (source.version.is_none() || self.has_brought(file, &source))
        })
    }

    /// Returns who answers for what the change did to a block without bringing a line: the newest
    /// record that names the block, and the newest that was removed again.
    fn owners_by_name(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        is_meant: impl Fn(&BlockRecord) -> bool,
    ) -> Vec<Option<PartOwner>> {
        let names = |entry: &Entry| {
            let files = entry.record.files.iter().filter(|file| file.relative_path == *path);
            files.flat_map(|file| file.ranges()).any(&is_meant)
        };
        let newest = |records: &[(Option<CommitId>, Arc<Entry>)]| {
            let mut named = records.iter().rev().filter(|(_, entry)| names(entry));
            named.find_map(|(commit, entry)| {
                let commit = commit.as_ref().map(|commit| commit.0.clone());
                PartOwner::by_claim(ws, claim_by(entry, path, commit))
            })
        };
        let (standing, removed) = (newest(&self.records), newest(&self.removed));
        let mut owners = vec![standing];
        owners.extend(removed.map(Some));
        owners
    }

    /// Returns who says of a block that it was deleted; see [`Self::owners_by_name`].
    pub(crate) fn deletions(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        block: &Block,
    ) -> Vec<Option<PartOwner>> {
        let is_it = |range: &BlockRecord| {
            let name = range.block.as_ref();
            range.deleted && name.is_some_and(|name| is_named(name, &block.identity))
        };
        // Several blocks of a file may have one name.
        let has_text = |range: &BlockRecord| range.content_hash == block.fingerprint.content;
        let mut owners = self.owners_by_name(ws, path, |range| is_it(range) && has_text(range));
        if owners.iter().all(Option::is_none) {
            owners = self.owners_by_name(ws, path, is_it);
        }
        owners.iter_mut().flatten().for_each(|owner| owner.is_deletion = true);
        owners
    }
}

/// Returns the records outside evidence that none of these commits has in its ledger. A committed
/// record is work of the change that added it, and not of a later one, which may have renamed the
/// file.
fn new_records(ws: &Workspace, commits: &[CommitId]) -> Vec<Arc<Entry>> {
    let committed = |path: &RelativePath| -> Vec<Vec<u8>> {
        let ledger = |commit| ws.git()?.file_at(commit, path).ok()?;
        commits.iter().filter_map(ledger).collect()
    };
    let mut ledgers: HashMap<&RelativePath, Vec<Vec<u8>>> = HashMap::new();
    let all = ws.journal.entries();
    for path in all.iter().map(|entry| &entry.origin.path).filter(|path| !journal::is_open(path)) {
        ledgers.entry(path).or_insert_with(|| committed(path));
    }
    let others = LazyCell::new(|| -> Vec<(RelativePath, Vec<u8>)> {
        let is_ledger = |path: &RelativePath| is_ledger_path(path) && !is_evidence(path);
        let ledgers = |commit: &CommitId| {
            let target = Target::Commit(commit.clone());
            ws.git()?.read_below(".orchestration", &target, &is_ledger).ok()
        };
        commits.iter().filter_map(ledgers).flatten().collect()
    });
    let mut new = all.to_vec();
    new.retain(|entry| {
        let Some(ledgers) = ledgers.get(&entry.origin.path) else { return true };
        let place = entry.origin.start as usize..entry.origin.end as usize;
        // A file is usually only appended to, so most records still stand where they stood.
        let stands_in = |ledger: &Vec<u8>| ledger.get(place.clone()) == Some(&*entry.stored);
        let is_in = |(_, ledger): &(RelativePath, Vec<u8>)| ledger.contains_str(&entry.stored);
        !ledgers.iter().any(stands_in) && !others.iter().any(is_in)
    });
    new
}

#[derive(Clone, Debug)]
pub(super) struct PartOwner {
    pub intent: String,
    pub claim: Arc<Claim>,
    pub is_deletion: bool,
}

/// Returns the claim of a record as it was made, whoever answers for its lines now.
fn claim_by(entry: &Arc<Entry>, path: &RelativePath, commit: Option<String>) -> Arc<Claim> {
    let (entry, path) = (Arc::clone(entry), path.clone());
    Arc::new(Claim { entry, path, commit, reassigned: Vec::new() })
}

/// Returns the commit that a record of evidence is about.
fn commit_about((added_by, entry): &(Option<CommitId>, Arc<Entry>)) -> Option<&str> {
    let added_by = added_by.as_ref()?;
    Some(entry.late_commit.as_deref().unwrap_or(&added_by.0))
}

/// Returns the records that name a block, by one of these names, and brought no line to it.
fn removals_recorded<'e>(
    records: &'e [(Option<CommitId>, Arc<Entry>)],
    names: [&Identity; 2],
) -> Vec<(Removal, &'e Arc<Entry>)> {
    let is_removal = |file: &&FileRecord| {
        file.ranges().filter(|range| !range.deleted).any(|range| {
            let is_it = |name: &BlockName| names.iter().any(|identity| is_named(name, identity));
            let (first, last) = (range.start_line as usize, range.end_line as usize);
            let mut runs = file.conversations.iter().flat_map(|one| one.lines.runs());
            range.block.as_ref().is_some_and(is_it)
                && !runs.any(|run| run.lines.start < last && first <= run.lines.end)
        })
    };
    let mut found = Vec::new();
    for record in records.iter().filter(|(_, entry)| entry.record.kind == RecordKind::Mutation) {
        let Some(commit) = commit_about(record) else { continue };
        for file in record.1.record.files.iter().filter(is_removal) {
            let (commit, path) = (commit.to_owned(), file.relative_path.clone());
            found.push((Removal { commit, path }, &record.1));
        }
    }
    found
}

impl PartOwner {
    /// Returns the intent under which a claim was made. `None` if its record has none, because then
    /// it does not explain a change.
    fn by_claim(ws: &Workspace, claim: Arc<Claim>) -> Option<Self> {
        Some(Self { intent: ws.intent_of(&claim)?, claim, is_deletion: false })
    }

    /// Returns the code of the question about the work that a person answered.
    pub(crate) fn approval_code(&self) -> Option<&str> {
        self.claim.entry.record.decision.as_ref()?.approval.as_deref()
    }

    pub(crate) fn judged_by(&self) -> (&str, Option<&str>) {
        (&self.intent, self.approval_code())
    }
}

/// Who brought lines of a change.
pub(super) struct EditedLines {
    /// Who brought the lines, with the first and the last of them: one item for each intent and
    /// approval, and `None` for lines that nobody recorded.
    pub owners: Vec<(Option<PartOwner>, LineRange)>,
    /// The records that brought the lines, also those without an intent.
    pub claims: Vec<Arc<Claim>>,
    /// How many of the lines each record brought, and how many nobody recorded.
    pub brought: Vec<(Option<Arc<Claim>>, usize)>,
    pub is_recorded: bool,
}

pub(super) struct EditedBlock {
    pub at: usize,
    pub lines: EditedLines,
}

pub(super) struct EditedFile<'a> {
    pub ws: &'a Workspace,
    pub path: &'a RelativePath,
    pub file: &'a FileProvenance,
    text: LineText,
    pub differences: &'a [Difference],
    pub change: &'a ChangeHistory,
    removed_claims: OnceCell<HashMap<usize, Vec<Option<Arc<Claim>>>>>,
    /// The text at the base, and its lines that are gone.
    gone: OnceCell<(LineText, GoneLines)>,
}

impl<'a> EditedFile<'a> {
    pub fn new(
        ws: &'a Workspace,
        path: &'a RelativePath,
        file: &'a FileProvenance,
        differences: &'a [Difference],
        change: &'a ChangeHistory,
    ) -> Self {
        let text = LineText::new(file.document.text().into_bytes());
        let (removed_claims, gone) = <(OnceCell<_>, OnceCell<_>)>::default();
        Self { ws, path, file, text, differences, change, removed_claims, gone }
    }

    /// Finds out who edited a block: the intents of the records that brought its new lines. So one
    /// line that INT-002 changed in a function of INT-001 is the work of INT-002.
    pub(crate) fn edited_block(&self, at: usize) -> EditedBlock {
        let (block, found) = (&self.file.blocks.blocks[at], &self.file.provenance[at]);
        let accepted =
            || PartOwner::by_claim(self.ws, claim_by(found.accepted.as_ref()?, self.path, None));
        // If the change moved code here that it brought elsewhere, the record of the move answers for
        // this place.
        let mover = LazyCell::new(|| self.owners_by_name(at).into_iter().next().flatten());
        let mut edited = self.who_brought(&self.new_lines(&found.own), |is_moved, by_claim| {
            let owner = if is_moved { mover.clone() } else { None };
            owner.or(by_claim).or_else(accepted)
        });
        edited.is_recorded |= found.accepted.is_some();
        let changed = self.differences.first().map_or(block.lines, |first| first.changed(at));
        let (removers, are_all) = self.owners_of_removed_lines(at);
        match &mut edited.owners[..] {
            [] => {
                edited.claims.extend(removers.iter().map(|owner| Arc::clone(&owner.claim)));
                if !are_all {
                    let mut owners = self.owners_without_lines(at);
                    owners[0] = accepted().or(owners[0].take());
                    let owner = owners[0].as_ref();
                    edited.is_recorded = owner.is_some() || found.covered();
                    edited.claims.extend(owner.map(|owner| Arc::clone(&owner.claim)));
                    edited.owners.extend(owners.into_iter().map(|owner| (owner, changed)));
                }
            }
            [(_, lines)] => *lines = changed,
            _ => {}
        }
        for remover in removers {
            let is_same = |known: &PartOwner| known.judged_by() == remover.judged_by();
            if !edited.owners.iter().any(|(known, _)| known.as_ref().is_some_and(is_same)) {
                edited.owners.push((Some(remover), changed));
            }
        }
        EditedBlock { at, lines: edited }
    }

    /// Finds out who brought the new lines that lie in no block, or in one that does not parse. A blank
    /// line says nothing there.
    pub(crate) fn edited_outside(&self) -> EditedLines {
        let outside = self
            .change
            .lines_outside(self.file)
            .filter(|(line, _)| !self.text.line(*line as usize - 1).trim_ascii().is_empty());
        let outside: Vec<(u32, LineSource)> = outside.collect();
        self.who_brought(&self.new_lines(&outside), |_, by_claim| by_claim)
    }

    /// Returns the lines that the change brought: those that say something, or all if none does.
    fn new_lines(&self, lines: &[(u32, LineSource)]) -> Vec<(u32, LineSource)> {
        let language = self.file.blocks.language;
        let says = |line: u32| says_something(self.text.line(line as usize - 1), language);
        let mut new = lines.to_vec();
        new.retain(|(_, source)| self.change.has_brought(self.file, source));
        if new.iter().any(|(line, _)| says(*line)) {
            new.retain(|(line, _)| says(*line));
        }
        new
    }

    /// Finds out who brought these lines. `owner` returns who answers for a line: it is told whether
    /// the line came from another file, and whose it is by its record.
    fn who_brought(
        &self,
        lines: &[(u32, LineSource)],
        owner: impl Fn(bool, Option<PartOwner>) -> Option<PartOwner>,
    ) -> EditedLines {
        let mut edited = EditedLines {
            owners: Vec::new(),
            claims: Vec::new(),
            brought: Vec::new(),
            is_recorded: true,
        };
        for (line, source) in lines {
            let claim = source.claim.map(|at| &self.file.lines.claims[at]);
            let is_its = |(known, _): &&mut (Option<Arc<Claim>>, usize)| match (known, claim) {
                (Some(known), Some(claim)) => Arc::ptr_eq(known, claim),
                (known, claim) => known.is_none() && claim.is_none(),
            };
            match edited.brought.iter_mut().find(is_its) {
                Some((_, lines)) => *lines += 1,
                None => edited.brought.push((claim.map(Arc::clone), 1)),
            }
            if let Some(claim) =
                claim.filter(|new| !edited.claims.iter().any(|it| Arc::ptr_eq(it, new)))
            {
                edited.claims.push(Arc::clone(claim));
            }
            let is_moved = claim.is_some_and(|claim| claim.path != *self.path);
            let by_claim = claim.and_then(|claim| PartOwner::by_claim(self.ws, Arc::clone(claim)));
            let owner = owner(is_moved, by_claim);
            // The evidence of a project whose history was merged into a folder lies elsewhere now.
            let stands = |removed: &Arc<Claim>| {
                claim.is_some_and(|claim| claim.entry.section == removed.entry.section)
            };
            // Work that somebody took away from its intent is judged as if the record were removed.
            let disowned = source.disowned.map(|at| Arc::clone(&self.file.lines.claims[at]));
            let disowned = disowned
                .map(|claim| Arc::new(Claim { reassigned: Vec::new(), ..Claim::clone(&claim) }));
            let removed = disowned.or_else(|| self.removed_claim(source));
            let removed = removed.filter(|removed| !stands(removed));
            let removed = removed.and_then(|claim| PartOwner::by_claim(self.ws, claim));
            for owner in std::iter::once(owner).chain(removed.map(Some)) {
                let Some(lines) = LineRange::new(*line, *line) else { continue };
                let key = owner.as_ref().map(PartOwner::judged_by);
                let is_same =
                    |known: &Option<PartOwner>| known.as_ref().map(PartOwner::judged_by) == key;
                match edited.owners.iter_mut().find(|(known, _)| is_same(known)) {
                    Some((_, known)) => {
                        *known = LineRange::new(known.start(), *line).unwrap_or(*known);
                    }
                    None => edited.owners.push((owner, lines)),
                }
            }
        }
        edited.is_recorded = edited.brought.iter().all(|(claim, _)| claim.is_some());
        edited
    }

    /// Returns the claim on a line by evidence that the commit of the line added and a later commit
    /// removed.
    fn removed_claim(&self, source: &LineSource) -> Option<Arc<Claim>> {
        let claims = self.removed_claims.get_or_init(|| self.find_removed_claims());
        claims.get(&source.version?)?.get(source.line_there)?.clone()
    }

    fn find_removed_claims(&self) -> HashMap<usize, Vec<Option<Arc<Claim>>>> {
        let versions = self.file.lines.versions.iter().enumerate();
        versions.filter_map(|(at, version)| Some((at, self.claims_of_version(version)?))).collect()
    }

    fn claims_of_version(&self, version: &FileVersion) -> Option<Vec<Option<Arc<Claim>>>> {
        let git = self.ws.git()?;
        let commit = version.commit.to_string();
        let path = git.path_in_workspace(version.path.as_ref())?;
        let removed = self.change.removed.iter();
        let entries = removed.filter(|record| commit_about(record) == Some(&*commit));
        let entries: Vec<Arc<Entry>> = entries.map(|(_, entry)| Arc::clone(entry)).collect();
        if entries.is_empty() {
            return None;
        }
        let mut reader = git.object_reader().ok()?;
        let text = LineText::new(reader.blob(version.blob).ok()?);
        let walk = Walk::new(&mut reader);
        let brought = walk.new_lines_of_commit(version.commit, &version.path).ok()?;
        let claimed = claimed_lines(&entries, &path, &text, &brought);
        let claim = |at: usize| claim_by(&entries[at], &path, Some(commit.clone()));
        Some(claimed.into_iter().map(|at| at.map(claim)).collect())
    }

    /// Returns who answers for the lines that commits of the change removed from a block: the records
    /// about these commits that name the block and brought no line to it, whatever happened to the block
    /// later. Where other lines took the place of the removed ones, those who brought them answer.
    /// Returns also whether there is such a record for every line that is gone.
    fn owners_of_removed_lines(&self, at: usize) -> (Vec<PartOwner>, bool) {
        let nobody = (Vec::new(), false);
        let former = self.differences.iter().find(|former| !former.old.blocks.is_empty());
        let Some((former, origin)) = former.and_then(|former| Some((former, former.origin(at)?)))
        else {
            return nobody;
        };
        let named = [&self.file.blocks.blocks[at].identity, &origin.identity];
        let standing = removals_recorded(&self.change.records, named);
        let removed = removals_recorded(&self.change.removed, named);
        // Nobody can tell which of several blocks of one name a record means.
        let is_one = |blocks: &FileBlocks, name: &Identity| {
            blocks.blocks.iter().filter(|block| block.identity == *name).count() == 1
        };
        if standing.is_empty() && removed.is_empty()
            || !is_one(&self.file.blocks, named[0])
            || !is_one(&former.old, named[1])
        {
            return nobody;
        }
        let (before, gone) = self.gone.get_or_init(|| {
            let before = LineText::new(former.text_before().into_bytes());
            let commits = &self.change.commits;
            let gone = gone_lines(self.ws, self.path, (&before, &self.text), commits);
            (before, gone)
        });
        let language = self.file.blocks.language;
        let own = former.line_numbers_before(at).into_iter().map(|line| line as usize - 1);
        let lines = own.filter(|line| says_something(before.line(*line), language));
        let mut removals: Vec<&Option<Removal>> =
            lines.filter_map(|line| gone.get(&line)).collect();
        removals.dedup();
        let (mut owners, mut are_all) = (Vec::new(), !removals.is_empty());
        for removal in removals {
            let owners_by = |records: &[(Removal, &Arc<Entry>)]| {
                let its = records.iter().filter(|(of, _)| Some(of) == removal.as_ref());
                let claims =
                    its.map(|(of, entry)| claim_by(entry, &of.path, Some(of.commit.clone())));
                claims.filter_map(|claim| PartOwner::by_claim(self.ws, claim)).collect::<Vec<_>>()
            };
            let found = owners_by(&standing);
            are_all &= !found.is_empty();
            owners.extend(found.into_iter().chain(owners_by(&removed)));
        }
        (owners, are_all)
    }

    /// Returns the owners of an edit that brought no line: one that only removed lines, or changed the
    /// layout. The first is `None` if no record answers for it.
    fn owners_without_lines(&self, at: usize) -> Vec<Option<PartOwner>> {
        let found = &self.file.provenance[at];
        let mut owners = self.owners_by_name(at);
        // A record of the change that is about the file answers for code that was moved here, which may
        // have been recorded long ago under an intent that does not own this place.
        let is_moved = found.claim.as_ref().is_some_and(|claim| claim.path != *self.path);
        let moved_by = || {
            let mut owners =
                self.change.owners_by_name(self.ws, self.path, |range| !range.deleted).into_iter();
            owners.next().flatten().filter(|_| is_moved)
        };
        owners[0] = owners[0].take().or_else(moved_by);
        owners
    }

    /// Returns who left a block as it is; see [`ChangeHistory::owners_by_name`].
    fn owners_by_name(&self, at: usize) -> Vec<Option<PartOwner>> {
        let block = &self.file.blocks.blocks[at];
        // The content hash of a block changes with the blocks inside it, so its name has to do.
        let has_blocks = self.file.blocks.blocks.iter().any(|inner| inner.container == Some(at));
        let is_meant = |range: &BlockRecord| {
            let has_name =
                || range.block.as_ref().is_some_and(|name| is_named(name, &block.identity));
            !range.deleted
                && range.has_lead_of(block)
                && (range.content_hash == block.fingerprint.content || has_blocks && has_name())
        };
        self.change.owners_by_name(self.ws, self.path, is_meant)
    }
}
