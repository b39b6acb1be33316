//! Finds out who edited each block of a change, and the lines outside of blocks: the intents of the
//! records that brought the new lines.

use std::cell::{LazyCell, OnceCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use super::removed_lines::{NetChange, ReducedBlock};
use code::saying_lines::says_something;
use code::{Block, LineRange};
use evidence::comparison::{AddedEntry, is_evidence};
use ground::git::{ByteSlice, ObjectId, Target};
use ground::text::counted;
use ground::{CommitId, RelativePath};
use history::claimed_lines;
use history::{FileVersion, GoneLine, LineSource, LineText, RemovalStep, Walk};
use ledger::read::is_ledger_path;
use ledger::{BlockRecord, Claim, Entry, RecordKind, journal};
use provenance::{Difference, has_left};
use why::answers::FileProvenance;
use why::{Workspace, change_class};

/// A record, with the commit that added it. `None` if no commit has.
type AddedRecord = (Option<CommitId>, Arc<Entry>);

#[derive(Clone, Debug, Default)]
pub(super) struct ChangeHistory {
    pub bases: Vec<CommitId>,
    pub commits: HashSet<ObjectId>,
    /// All evidence that the commits since the first base added, also what a later one removed.
    pub added: Vec<AddedEntry>,
    /// For each commit that late evidence names those of these commits that it is about.
    pub meant: HashMap<CommitId, Vec<CommitId>>,
    /// The records that these commits added and those that are in no commit, oldest first.
    pub records: Vec<AddedRecord>,
    /// The records that these commits added and removed again, oldest first. Work with such a record
    /// counts as not recorded, and the intent of the record is judged all the same. Otherwise a later
    /// commit could hide work that an intent may not do.
    pub removed: Vec<AddedRecord>,
}

impl ChangeHistory {
    /// Returns the history of work that is in no commit.
    pub(crate) fn of_open_work(ws: &Workspace, bases: &[CommitId]) -> Self {
        let records = new_records(ws, bases).into_iter().map(|entry| (None, entry));
        Self { bases: bases.to_vec(), records: records.collect(), ..Self::default() }
    }

    /// Says that the change added evidence and removed it again. It is no finding, because to remove wrong
    /// evidence is how a person mends a branch.
    pub(crate) fn removed_note(&self) -> Option<String> {
        let files = ledger::sorted(self.removed.iter().map(|(_, entry)| &entry.origin.path));
        let (first, count) = (files.first()?, counted(files.len(), "file"));
        Some(format!(
            "This change added evidence and removed it again: {count}, the first is {first}. What it recorded counts as not recorded."
        ))
    }

    pub(crate) fn claims_refactoring(&self) -> bool {
        self.records.iter().any(|(_, entry)| change_class::claims_refactoring(&entry.record))
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

    /// Returns who answers for what the change did to a block without bringing a line: the newest of
    /// the records that are meant, and the newest that was removed again.
    fn newest_owners(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        is_meant: impl Fn(&AddedRecord, &BlockRecord) -> bool,
    ) -> Vec<Option<PartOwner>> {
        let newest = |records: &[AddedRecord]| {
            let mut meant = records
                .iter()
                .rev()
                .filter(|record| ranges_in(record, path).any(|range| is_meant(record, range)));
            meant.find_map(|(commit, entry)| {
                let commit = commit.as_ref().map(|commit| commit.0.clone());
                PartOwner::by_claim(ws, claim_by(entry, path, commit))
            })
        };
        let (standing, removed) = (newest(&self.records), newest(&self.removed));
        let mut owners = vec![standing];
        owners.extend(removed.map(|owner| Some(PartOwner { is_removed: true, ..owner })));
        owners
    }

    /// Returns who answers for what a step of the change took from a block: the newest record about
    /// that step that left the block as the step left it, or says that it was deleted.
    fn owners_of_reduced(
        &self,
        ws: &Workspace,
        reduced: &ReducedBlock<'_>,
    ) -> Vec<Option<PartOwner>> {
        let ReducedBlock { step, before, now } = reduced;
        let (path, commit) = (&step.path, step.commit.as_deref());
        let is_about = |record: &AddedRecord| self.is_about(record, commit);
        let Some((blocks, at)) = *now else {
            return self.deletions_by_name(ws, path, before, is_about);
        };
        self.newest_owners(ws, path, |record, range| {
            record.1.record.kind == RecordKind::Mutation
                && is_about(record)
                && has_left(range, blocks, at, commit.is_none())
        })
    }

    /// Returns true if a record may be about a commit, or about the work that is in none. A record that
    /// is in no evidence does not say which commit it is about.
    fn is_about(&self, (added_by, entry): &AddedRecord, commit: Option<&str>) -> bool {
        let Some(added_by) = added_by else { return true };
        let about = match &entry.late_commit {
            Some(of) => self.meant.get(&CommitId(of.clone())).map_or(&[][..], Vec::as_slice),
            None => std::slice::from_ref(added_by),
        };
        about.iter().any(|about| Some(&*about.0) == commit)
    }

    /// Returns true if a record about a step of the change has such a block.
    fn has_record_about(
        &self,
        step: &RemovalStep,
        is_meant: impl Fn(&BlockRecord) -> bool,
    ) -> bool {
        let (path, commit) = (&step.path, step.commit.as_deref());
        self.records
            .iter()
            .chain(&self.removed)
            .any(|record| ranges_in(record, path).any(&is_meant) && self.is_about(record, commit))
    }

    fn deletions_by_name(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        block: &Block,
        is_about: impl Fn(&AddedRecord) -> bool,
    ) -> Vec<Option<PartOwner>> {
        let is_it = |record: &AddedRecord, range: &BlockRecord| {
            range.deleted && range.has_name_of(block) && is_about(record)
        };
        // Several blocks of a file may have one name.
        let has_text = |range: &BlockRecord| range.content_hash == block.fingerprint.content;
        let owners =
            self.newest_owners(ws, path, |record, range| is_it(record, range) && has_text(range));
        if owners.iter().any(Option::is_some) {
            owners
        } else {
            self.newest_owners(ws, path, is_it)
        }
    }

    /// Returns who deleted a block of the base. If no step is known to have deleted it, the newest
    /// record that says so answers.
    pub(crate) fn deletions(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        net: Option<&NetChange<'_>>,
        block: &Block,
    ) -> Vec<Option<PartOwner>> {
        let by_name = self.deletions_by_name(ws, path, block, |_| true);
        let is_recorded = |step: &RemovalStep| self.has_record_about(step, |range| range.deleted);
        // To find the deletion, the texts of the steps have to be parsed.
        let net = net.filter(|net| {
            by_name.iter().any(Option::is_some) || net.steps_of(block).any(is_recorded)
        });
        match net.and_then(|net| net.deletion_of(block)) {
            Some(deletion) => self.owners_of_reduced(ws, &deletion),
            None => by_name,
        }
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
    /// Whether it brought lines that still stand. Only these can be put under another intent.
    pub names_lines: bool,
    /// Whether its evidence does not stand any more, so that the part counts as unrecorded, too.
    pub is_removed: bool,
}

/// Returns the claim of a record as it was made, whoever answers for its lines now.
fn claim_by(entry: &Arc<Entry>, path: &RelativePath, commit: Option<String>) -> Arc<Claim> {
    let (entry, path) = (Arc::clone(entry), path.clone());
    Arc::new(Claim { entry, path, commit, reassigned: Vec::new() })
}

/// Returns what a record says of the blocks of a file.
fn ranges_in<'r>(
    (_, entry): &'r AddedRecord,
    path: &RelativePath,
) -> impl Iterator<Item = &'r BlockRecord> {
    let files = entry.record.files.iter().filter(move |file| file.relative_path == *path);
    files.flat_map(|file| file.ranges())
}

impl PartOwner {
    /// Returns the intent under which a claim was made. `None` if its record has none, because then
    /// it does not explain a change.
    fn by_claim(ws: &Workspace, claim: Arc<Claim>) -> Option<Self> {
        Some(Self { intent: ws.intent_of(&claim)?, claim, names_lines: false, is_removed: false })
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
#[derive(Default)]
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
    net: OnceCell<Option<NetChange<'a>>>,
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
        let (removed_claims, net) = <(OnceCell<_>, OnceCell<_>)>::default();
        Self { ws, path, file, text, differences, change, removed_claims, net }
    }

    pub(crate) fn net(&self) -> Option<&NetChange<'a>> {
        let compare = || {
            let commits = &self.change.commits;
            NetChange::from_differences(self.ws, self.path, self.differences, &self.text, commits)
        };
        self.net.get_or_init(compare).as_ref()
    }

    /// Finds out who edited a block: the intents of the records that brought its new lines. So one
    /// line that INT-002 changed in a function of INT-001 is the work of INT-002.
    pub(crate) fn edited_block(&self, at: usize) -> EditedBlock {
        let (block, found) = (&self.file.blocks.blocks[at], &self.file.provenance[at]);
        let accepted =
            || PartOwner::by_claim(self.ws, claim_by(found.accepted.as_ref()?, self.path, None));
        // If the change moved code here that it brought elsewhere, the record of the move answers for
        // this place.
        let mover = LazyCell::new(|| self.owners_by_text(at).into_iter().next().flatten());
        let stood = self.net().map(|net| net.lines_from_base(at)).unwrap_or_default();
        let new = self.new_lines(&found.own, &stood);
        let mut edited = self.who_brought(&new, |is_moved, by_claim| {
            let owner = if is_moved { mover.clone() } else { None };
            owner.or(by_claim).or_else(accepted)
        });
        edited.is_recorded |= found.accepted.is_some();
        let changed = self.differences.first().map_or(block.lines, |first| first.changed(at));
        let lost = self.net().map(|net| net.lost_lines(at)).unwrap_or_default();
        // An edit of the layout alone may be covered by a record of the older lines.
        let is_layout = new.is_empty() && lost.is_empty();
        let is_covered = is_layout && found.covered();
        let others = match is_layout {
            true => self.owners_by_text(at),
            false => self.owners_of_lost_lines(at, &lost, &new),
        };
        if let [(_, lines)] = &mut edited.owners[..] {
            *lines = changed;
        }
        for owner in others {
            let owner = owner.or_else(accepted);
            edited.is_recorded &= owner.is_some() || is_covered;
            if new.is_empty() {
                edited.claims.extend(owner.iter().map(|owner| Arc::clone(&owner.claim)));
            }
            let key = owner.as_ref().map(PartOwner::judged_by);
            let mut known = edited.owners.iter().map(|(known, _)| known.as_ref());
            if !known.any(|known| known.map(PartOwner::judged_by) == key) {
                edited.owners.push((owner, changed));
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
        let stood = self.net().map(NetChange::standing_lines).unwrap_or_default();
        self.who_brought(&self.new_lines(&outside, &stood), |_, by_claim| by_claim)
    }

    /// Returns the lines that the change brought: those that say something, or all if none does. A line
    /// that stood there at the base, too, is not new, whoever put it back; `stood` says so of each line
    /// of the file.
    fn new_lines(&self, lines: &[(u32, LineSource)], stood: &[bool]) -> Vec<(u32, LineSource)> {
        let language = self.file.blocks.language;
        let says = |line: u32| says_something(self.text.line(line as usize - 1), language);
        let mut new = lines.to_vec();
        new.retain(|(line, source)| {
            !stood.get(*line as usize - 1).is_some_and(|stood| *stood)
                && self.change.has_brought(self.file, source)
        });
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
        let mut edited = EditedLines::default();
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
            let by_claim = by_claim.map(|owner| PartOwner { names_lines: true, ..owner });
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
            let removed = removed.map(|owner| Some(PartOwner { is_removed: true, ..owner }));
            for owner in std::iter::once(owner).chain(removed) {
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
        let entries = removed.filter(|record| self.change.is_about(record, Some(&commit)));
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

    /// Returns who answers for the lines that a block has lost. An item is `None` for lines for which
    /// nobody does.
    fn owners_of_lost_lines(
        &self,
        at: usize,
        lost: &[GoneLine],
        new: &[(u32, LineSource)],
    ) -> Vec<Option<PartOwner>> {
        let Some(net) = self.net() else { return Vec::new() };
        let new = new.iter().map(|(line, source)| (net.place_of(*line as usize - 1), source));
        let new: Vec<(Range<usize>, &LineSource)> = new.collect();
        let mut recorded: HashMap<_, bool> = HashMap::new();
        let mut known: HashMap<_, Vec<Option<PartOwner>>> = HashMap::new();
        let mut owners = Vec::new();
        for gone in lost {
            let step = net.step_of(*gone);
            let of_step = step.map(ptr::from_ref);
            let is_recorded = *recorded.entry(of_step).or_insert_with(|| {
                step.is_none_or(|step| self.change.has_record_about(step, |_| true))
            });
            // To find the block, the texts of the step have to be parsed.
            let reduced = if is_recorded { net.reduced_block(*gone) } else { None };
            let key = (of_step, reduced.as_ref().map(|it| it.before.bytes.start));
            let found = known.entry(key).or_insert_with(|| match &reduced {
                Some(reduced) => self.change.owners_of_reduced(self.ws, reduced),
                None if is_recorded => self.owners_by_text(at),
                None => vec![None],
            });
            let is_by_step = |source: &LineSource| {
                let version = source.version.map(|at| &self.file.lines.versions[at]);
                let Some((version, step)) = version.zip(step) else { return true };
                let by = (!version.is_uncommitted()).then(|| version.commit.to_string());
                by == step.commit
            };
            // Who brought a line in place of the lost one answers for both.
            let instead: Vec<&LineSource> = new
                .iter()
                .filter(|(place, source)| place.contains(&gone.line) && is_by_step(source))
                .map(|(_, source)| *source)
                .collect();
            let is_answered = found[0].is_some() || !instead.is_empty();
            // Its lines may have been put under another intent since.
            let is_of_replacing = |owner: &PartOwner| {
                let mut claims = instead.iter().filter_map(|source| source.claim);
                let id = &owner.claim.entry.record.id;
                claims.any(|at| self.file.lines.claims[at].entry.record.id == *id)
            };
            let found = found.iter().filter(|owner| match owner {
                Some(owner) => owner.is_removed || !is_of_replacing(owner),
                None => !is_answered,
            });
            owners.extend(found.cloned());
        }
        owners
    }

    /// Returns who left a block as it is, whenever that was.
    fn owners_by_text(&self, at: usize) -> Vec<Option<PartOwner>> {
        let left =
            |_: &AddedRecord, range: &BlockRecord| has_left(range, &self.file.blocks, at, true);
        self.change.newest_owners(self.ws, self.path, left)
    }
}
