//! *Seal*: what was recorded, as far as a commit brings it, becomes evidence that the commit carries.
//!
//! Sealing is a function of the files before, the files after and the journal: it asks for each block that the change
//! touched what [`super::why`] would say of it, and keeps what the journal answers for. So ten edits of a function
//! become one entry, an edit that was taken back leaves nothing, and what nobody recorded stays unrecorded.

mod draft;
mod late;
mod lost;
mod retire;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::edited::{Baseline, Edits, commits_of_work};
use super::elsewhere::Around;
use super::evidence::{digests, is_evidence};
use super::git_hooks::{self, HooksStanding};
use super::{VerbError, Workspace, check, why};
use crate::code::{Block, ContentHash, Document, Places, lines};
use crate::ledger::{
    BlockRecord, ClaimRef, Dialect, Digest, Entry, Ledger, Record, RecordKind, journal,
};
use crate::provenance::difference::brought_by_all;
use crate::provenance::lines::Standing;
use crate::provenance::{self, Content, Provenance, Step, lineage};
use crate::workspace::git::{Change, ChangeKind, Target};
use crate::workspace::{CommitId, RelativePath};

pub use retire::{retire, retire_daily, unmatched};

use draft::{Group, Groups};
use late::Late;

/// What was sealed, or would be.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SealAnswer {
    /// The files of evidence that were written; they are to be committed.
    pub written: Vec<RelativePath>,
    /// Files of evidence that were in no commit yet, and that these take the place of.
    pub removed: Vec<RelativePath>,
    /// What they say, one entry for each intent, session and file.
    pub sealed: Vec<SealedFile>,
    /// How many records were sealed.
    pub records: usize,
    /// Whether there was no time for all of it; the rest is sealed by the next call.
    pub incomplete: bool,
}

/// What one session did to one file, as evidence publishes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SealedFile {
    /// The file.
    pub path: RelativePath,
    /// The commit that brought it, where that was made before.
    pub commit: Option<String>,
    /// The intent.
    pub intent: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The names of its blocks.
    pub blocks: Vec<String>,
}

/// What is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The commit that is about to be made from the index, and those that were made without a hook.
    Commit,
    /// The commits that were made without a hook.
    Late,
}

/// The change that is sealed: from the first of `bases` to `target`.
struct Sealing {
    target: Target,
    bases: Vec<CommitId>,
}

/// Evidence of one change, not yet written, and the records that it is made from.
#[derive(Default)]
struct Draft {
    of: Option<CommitId>,
    groups: Groups,
    carried: Vec<Record>,
    /// Records of which something is in it, and those that came before them in the history of the same blocks.
    records: BTreeSet<String>,
    incomplete: bool,
}

/// Seals, and writes the evidence into the work tree. `budget` bounds the time; what it does not suffice for is sealed
/// late.
pub fn seal(
    ws: &Workspace,
    scope: Scope,
    budget: Option<Duration>,
) -> Result<SealAnswer, VerbError> {
    run(ws, scope, budget, true)
}

/// What sealing would write.
pub fn would_seal(ws: &Workspace, scope: Scope) -> Result<SealAnswer, VerbError> {
    run(ws, scope, None, false)
}

/// How many records of changes are in no commit.
pub fn open_records(ws: &Workspace) -> usize {
    ws.ledger
        .open()
        .filter(|entry| ws.ledger.is_unsealed(entry) && !entry.record.files.is_empty())
        .count()
}

/// How many records are in no commit, and what carries them there; `None` where all are, or none ever will be.
pub(super) fn open_note(ws: &Workspace) -> Option<String> {
    let count = open_records(ws);
    if count == 0 || ws.git().is_none() || is_ignored(ws) {
        return None;
    }
    let (records, its, it) = match count {
        1 => ("record is", "its", "it"),
        _ => ("records are", "their", "them"),
    };
    let next = match git_hooks::standing(ws) {
        HooksStanding::Installed => format!("The next commit with {its} code carries {it}."),
        _ => format!("Commit {its} code, and `intent seal` stages evidence of {it}."),
    };
    Some(format!("{count} {records} in no commit yet. {next}"))
}

/// Whether git ignores evidence here, so that no commit carries any.
pub(super) fn is_ignored(ws: &Workspace) -> bool {
    ws.ignores.git_ignored(&draft::folder())
}

fn is_open(entry: &Entry) -> bool {
    journal::is_open(&entry.origin.path)
}

fn run(
    ws: &Workspace,
    scope: Scope,
    budget: Option<Duration>,
    write: bool,
) -> Result<SealAnswer, VerbError> {
    ws.governed()?;
    if let Some(reason) = ws.git_error() {
        return Err(VerbError::BrokenGit { reason: reason.to_string() });
    }
    if ws.git().is_none() || is_ignored(ws) {
        return Ok(SealAnswer::default());
    }
    let until = budget.map(|budget| Instant::now() + budget);
    let sources = Sources::load(ws)?;
    let ledger = &sources.ledger;
    // First what holds up the commit.
    let mut now = Draft::default();
    if scope == Scope::Commit {
        let sealing = Sealing { target: Target::Index, bases: commits_of_work(ws)? };
        now = of_change(ws, &sources, &sealing, until)?;
        now.carry(ledger);
    }
    let Late { drafts: mut late, handled, since } = late::look(ws, &sources, until)?;
    late.retain(|draft| !draft.is_empty() || draft.incomplete);
    let mut answer = SealAnswer {
        incomplete: now.incomplete || late.iter().any(|draft| draft.incomplete),
        ..SealAnswer::default()
    };
    let all: BTreeSet<&String> =
        late.iter().chain([&now]).flat_map(|draft| &draft.records).collect();
    answer.records = all.len();
    let sections: Vec<(Vec<u8>, &Draft)> =
        late.iter().chain([&now]).filter_map(|draft| Some((draft.bytes(ws)?, draft))).collect();
    answer.sealed = late.iter().chain([&now]).flat_map(Draft::brief).collect();
    if !write {
        return Ok(answer);
    }
    let still_open = still_open(ws, &sources, scope, &all)?;
    let mut files: Vec<Vec<u8>> = Vec::new();
    let late_bytes: Vec<u8> = sections
        .iter()
        .filter(|(_, draft)| draft.of.is_some())
        .flat_map(|(bytes, _)| bytes.clone())
        .collect();
    files.extend((!late_bytes.is_empty()).then_some(late_bytes));
    files.extend(
        sections.iter().find(|(_, draft)| draft.of.is_none()).map(|(bytes, _)| bytes.clone()),
    );
    // Noted first: evidence that was never written settles nothing, and evidence of which nobody knows what it was made
    // from could not be replaced.
    for (bytes, draft) in &sections {
        let settled: Vec<String> =
            draft.records.iter().filter(|id| !still_open.contains(*id)).cloned().collect();
        journal::note_sealed(&ws.root, &settled, Digest::of(bytes)).map_err(VerbError::from)?;
    }
    for bytes in files {
        answer.written.push(draft::write(ws, &bytes)?);
    }
    for path in sources.drafts {
        if !answer.written.contains(&path) {
            crate::workspace::store::remove(&ws.root.absolute(&path))?;
            answer.removed.push(path);
        }
    }
    if scope == Scope::Commit {
        answer.written.extend(left_out(ws)?);
    }
    handled.save(since);
    Ok(answer)
}

/// What is sealed from, and held against.
#[derive(Default)]
struct Sources {
    /// The journals, with the evidence of the commits.
    ledger: Ledger,
    /// Evidence of commits that were made again, and that is no part of `ledger`: see [`lost`].
    lost: Ledger,
    /// The paths of evidence that is in no commit yet.
    drafts: Vec<RelativePath>,
}

impl Sources {
    fn load(ws: &Workspace) -> Result<Self, VerbError> {
        let Some(git) = ws.git() else { return Ok(Self::default()) };
        // What a merge or a cherry-pick brings in is no draft of ours, whoever wrote it.
        let commits = commits_of_work(ws)?;
        let journals = journal::Sources::load(&ws.root);
        let mut drafts = Vec::new();
        for (path, sections) in ws.ledger.evidence_files() {
            // What was sealed elsewhere cannot be made again from here; it may have come by `git merge --squash`.
            let is_ours = sections.iter().all(|section| journals.can_make(section));
            let mut held = commits.iter().map(|commit| git.has_file(commit, &path));
            if is_ours && !held.any(|held| held.unwrap_or(true)) {
                drafts.push(path);
            }
        }
        if !drafts.is_empty() {
            let files = ws.ledger.evidence_files();
            let present: HashSet<&RelativePath> = files.iter().map(|(path, _)| path).collect();
            let compacted = compacted(ws, &commits, &|path| !present.contains(path))?;
            drafts.retain(|path| !compacted.contains(path));
        }
        let is_draft = |path: &RelativePath| drafts.contains(path);
        let committed = ws.ledger.evidence_of(&|path, _| !is_draft(path));
        let lost = lost::sections(ws, &committed, &journals);
        let ledger = ws
            .ledger
            .for_sealing(&ws.root, &|path, section| !is_draft(path) && !lost.contains(section));
        Ok(Self {
            ledger: ws.deriving(ledger),
            lost: committed.evidence_of(&|_, section| lost.contains(section)),
            drafts,
        })
    }
}

/// The files that hold only what committed files of evidence held that are gone: a compaction that is not committed yet.
fn compacted(
    ws: &Workspace,
    commits: &[CommitId],
    is_gone: &dyn Fn(&RelativePath) -> bool,
) -> Result<Vec<RelativePath>, VerbError> {
    let Some(git) = ws.git() else { return Ok(Vec::new()) };
    let mut held: HashSet<Digest> = HashSet::new();
    for commit in commits {
        let target = Target::Commit(commit.clone());
        let is_gone = |path: &RelativePath| is_evidence(path) && is_gone(path);
        let gone = git.read_below(".orchestration", &target, &is_gone)?;
        held.extend(gone.iter().flat_map(|(_, bytes)| digests(bytes)));
    }
    let files = ws.ledger.evidence_files().into_iter();
    let moved = files.filter(|(_, sections)| sections.iter().all(|one| held.contains(one)));
    Ok(moved.map(|(path, _)| path).collect())
}

/// What took the place of files that are gone from the index, where that is not in it, as before `git commit -a`: by a
/// compaction, or an erasure.
fn left_out(ws: &Workspace) -> Result<Vec<RelativePath>, VerbError> {
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(Vec::new()) };
    let listed = |target: &Target| -> Result<HashSet<RelativePath>, VerbError> {
        let files = git.list_below(".orchestration", target, &is_evidence)?;
        Ok(files.into_iter().map(|(path, _)| path).collect())
    };
    let committed = listed(&Target::Commit(head.clone()))?;
    if ws.ledger.evidence_files().iter().all(|(path, _)| committed.contains(path)) {
        return Ok(Vec::new());
    }
    let staged = listed(&Target::Index)?;
    let mut files = compacted(ws, std::slice::from_ref(head), &|path| !staged.contains(path))?;
    files.retain(|path| !staged.contains(path));
    Ok(files)
}

/// The records of which something stands in the work tree that what was just sealed does not hold.
fn still_open(
    ws: &Workspace,
    sources: &Sources,
    scope: Scope,
    sealed: &BTreeSet<&String>,
) -> Result<BTreeSet<String>, VerbError> {
    let bases = match scope {
        Scope::Late => commits_of_work(ws)?,
        Scope::Commit => Vec::new(),
    };
    let sealing = Sealing { target: Target::WorkTree, bases };
    let against_index = scope == Scope::Commit;
    if sealed.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut open = BTreeSet::new();
    let paths: BTreeSet<RelativePath> = sources
        .ledger
        .open()
        .filter(|entry| sealed.contains(&entry.record.id))
        .flat_map(|entry| entry.record.files.iter().map(|file| file.relative_path.clone()))
        .collect();
    let at = State::new(ws, sources, &sealing);
    for path in paths {
        let base = match against_index {
            true => ws.git().map(|git| git.file_in_index(&path)).transpose()?.flatten(),
            false => ws.head().and_then(|head| ws.git()?.file_at(head, &path).ok()?),
        };
        let on_disk = std::fs::read(ws.root.absolute(&path)).ok();
        if base == on_disk {
            continue;
        }
        let document = |bytes: Option<Vec<u8>>| ws.document(&path, &bytes.unwrap_or_default()).ok();
        let (Some(before), Some(now)) = (document(base), document(on_disk)) else { continue };
        let mut draft = Draft::default();
        at.file(&path, None, &Baseline::Texts(vec![before]), &now, &mut draft);
        open.extend(draft.records);
    }
    Ok(open)
}

/// What a change brought of what the journal holds.
fn of_change(
    ws: &Workspace,
    sources: &Sources,
    sealing: &Sealing,
    until: Option<Instant>,
) -> Result<Draft, VerbError> {
    let mut draft = Draft::default();
    let state = State::new(ws, sources, sealing);
    let changes = state.ws.changes_since(sealing.bases.first())?;
    let journaled: HashSet<&RelativePath> = sources
        .ledger
        .open()
        .flat_map(|entry| entry.record.files.iter().map(|file| &file.relative_path))
        .collect();
    if !changes.iter().any(|change| journaled.contains(&change.path)) {
        return Ok(draft);
    }
    let gone = check::deleted(&changes);
    for change in changes.iter().filter(|change| !change.path.is_orchestration()) {
        if until.is_some_and(|until| Instant::now() > until) {
            draft.incomplete = true;
            break;
        }
        state.change(change, &gone, sealing, &mut draft)?;
    }
    Ok(draft)
}

/// The files after a change, with the ledger that they are held against.
struct State<'a> {
    ws: Workspace,
    /// See [`Sources::lost`].
    lost: &'a Ledger,
}

impl<'a> State<'a> {
    fn new(ws: &Workspace, sources: &'a Sources, sealing: &Sealing) -> Self {
        let base = sealing.bases.first().cloned();
        let ledger = sources.ledger.forgetful();
        Self { ws: ws.with_files(sealing.target.clone(), base, ledger), lost: &sources.lost }
    }

    fn change(
        &self,
        change: &Change,
        gone: &[RelativePath],
        sealing: &Sealing,
        draft: &mut Draft,
    ) -> Result<(), VerbError> {
        let (ws, path) = (&self.ws, &change.path);
        let now = match change.kind {
            ChangeKind::Deleted => Document::from_text(path.as_str(), ""),
            _ => match ws.read(path) {
                Ok(document) => document,
                Err(_) => return Ok(()),
            },
        };
        let baseline = Baseline::at_commits(ws, path, &sealing.bases)?;
        let mut from = None;
        let baseline = match (change.kind, sealing.bases.first()) {
            (ChangeKind::Added, Some(base)) => {
                let (baseline, old) = baseline.or_renamed_from(ws, path, &now, base, gone)?;
                from = old;
                baseline
            }
            _ => baseline,
        };
        let now = baseline.carried_by(now);
        self.file(path, from, &baseline, &now, draft);
        Ok(())
    }

    fn file(
        &self,
        path: &RelativePath,
        from: Option<RelativePath>,
        baseline: &Baseline,
        now: &Document,
        draft: &mut Draft,
    ) {
        let (ws, ledger) = (&self.ws, &*self.ws.ledger);
        let differences = baseline.differences(now);
        let edits = Edits::of(&differences);
        let file = why::file(ws, path, now);
        let blocks = &file.blocks.blocks;
        for (at, _) in &edits.now {
            let found = &file.provenance[*at];
            let brought = brought_by_all(&differences, *at).unwrap_or_default();
            let own = lines::own(now, &blocks[*at]);
            let standing = provenance::lines::of(ledger, &Around(ws), found, &own);
            let recorded = self.recorded(found, standing.as_ref());
            let covered = self.covered(path, &blocks[*at], own.len());
            let is_new = |line: usize| !covered[line] && brought.get(line) == Some(&true);
            let is_new: Vec<bool> = (0..own.len()).map(is_new).collect();
            let mut claims = self.claims(found, standing.as_ref(), &is_new);
            // A block from which something was only taken out has no line to tell by.
            let is_as_recorded =
                matches!(found.content, Some(Content::Exact | Content::Reformatted));
            let only_cut = claims.is_empty() && !covered.contains(&true) && is_as_recorded;
            let open = |claim: &ClaimRef| is_open(ledger.claim(*claim).entry);
            claims.extend(
                found
                    .claim
                    .filter(open)
                    .filter(|_| only_cut)
                    .map(|claim| (claim, vec![false; own.len()])),
            );
            for (claim, lines) in claims {
                let range = self.range(now, &blocks[*at], &lines);
                let range = BlockRecord { recorded: recorded.clone(), ..range };
                draft.add(ledger, path, from.as_ref(), claim, range, lines.len());
                draft.note(self.before(claim).chain(self.before_found(found)), ledger);
            }
        }
        for block in &edits.gone {
            let Some(claim) = self.deletion(path, block) else { continue };
            let language = now.language().map(|language| language.id);
            let range = BlockRecord { deleted: true, ..provenance::textless(block, language) };
            draft.add(ledger, path, from.as_ref(), claim, range, 0);
            draft.note(self.before(claim), ledger);
        }
        draft.groups.unite(path, baseline, now);
    }

    /// The records of the journal that a touched block goes back to, each with the lines of it that it brought, of those
    /// that are new.
    fn claims(
        &self,
        found: &Provenance,
        standing: Option<&provenance::lines::Lines>,
        is_new: &[bool],
    ) -> Vec<(ClaimRef, Vec<bool>)> {
        let ledger = &*self.ws.ledger;
        let open = |at: ClaimRef| is_open(ledger.claim(at).entry);
        let mut by: BTreeMap<ClaimRef, Vec<bool>> = BTreeMap::new();
        let only = self.only_record(found);
        let of_only =
            only.map(|claim| self.known_to_bring(claim, is_new.len())).unwrap_or_default();
        for (line, standing) in standing.iter().flat_map(|lines| &lines.standing).enumerate() {
            let claim = match standing {
                Standing::Recorded(claim) => *claim,
                Standing::Reformatted | Standing::Renamed => {
                    only.filter(|_| of_only.get(line) == Some(&true))
                }
                Standing::Changed => None,
            };
            if let Some(claim) = claim.filter(|claim| open(*claim) && is_new[line]) {
                by.entry(claim).or_insert_with(|| vec![false; is_new.len()])[line] = true;
            }
        }
        by.into_iter().collect()
    }

    /// Which lines of a block evidence names already, for this very text of it.
    fn covered(&self, path: &RelativePath, block: &Block, own: usize) -> Vec<bool> {
        let mut covered = vec![false; own];
        let content = &block.fingerprint.content;
        let evidence = [&*self.ws.ledger, self.lost];
        let claims = evidence
            .into_iter()
            .flat_map(|ledger| ledger.by_content(content).into_iter().map(|at| ledger.claim(at)));
        for claim in claims {
            let range = claim.said();
            let is_it = claim.entry.dialect == Dialect::Evidence
                && claim.file.relative_path == *path
                && !range.deleted
                && range.block.as_ref().is_some_and(|name| name.path == block.identity.path);
            if is_it {
                let said = range.brought.as_ref().and_then(|places| places.among(own));
                let said = said.unwrap_or_else(|| vec![true; own]);
                covered.iter_mut().zip(said).for_each(|(known, said)| *known |= said);
            }
        }
        covered
    }

    /// The record that made a block what it is, where the journal has no other of it.
    fn only_record(&self, found: &Provenance) -> Option<ClaimRef> {
        let claim = found.claim?;
        let ledger = &*self.ws.ledger;
        let who = |at: ClaimRef| {
            let record = &ledger.claim(at).entry.record;
            (record.intent_id.clone(), record.session.clone())
        };
        let mut others = self.before(claim).filter(|at| is_open(ledger.claim(*at).entry));
        others.all(|other| who(other) == who(claim)).then_some(claim)
    }

    /// Which of so many lines, reformatted since, a record brought: as long as there are as many as there were, each is
    /// in the place that it had. Where a formatter joined or split lines, only a block that is new as a whole tells.
    fn known_to_bring(&self, claim: ClaimRef, count: usize) -> Vec<bool> {
        let range = self.ws.ledger.claim(claim).range();
        let Some(brought) = &range.brought else {
            return vec![range.replaces.is_none(); count];
        };
        let were = range.lines.as_ref().and_then(|lines| lines.hashes()).map(|lines| lines.len());
        let brought = brought.among(count).filter(|_| were == Some(count));
        brought.unwrap_or_else(|| vec![false; count])
    }

    /// A record and those before it in the history of its block.
    fn before(&self, claim: ClaimRef) -> impl Iterator<Item = ClaimRef> + use<> {
        let steps = lineage::of(&self.ws.ledger, &Around(&self.ws), claim);
        steps.into_iter().filter_map(|step| match step {
            Step::Recorded(at) => Some(at),
            Step::Gap { .. } => None,
        })
    }

    fn before_found(&self, found: &Provenance) -> impl Iterator<Item = ClaimRef> + use<> {
        found.claim.map(|claim| self.before(claim)).into_iter().flatten()
    }

    fn range(&self, now: &Document, block: &Block, lines: &[bool]) -> BlockRecord {
        let is_whole = lines.iter().all(|brought| *brought);
        let range = provenance::block_record(now, block, provenance::Before::default());
        BlockRecord { brought: (!is_whole).then(|| Places::of(lines)), ..range }
    }

    /// What a block was recorded as, where it was changed since without a record.
    fn recorded(
        &self,
        found: &Provenance,
        standing: Option<&provenance::lines::Lines>,
    ) -> Option<ContentHash> {
        let is_changed = matches!(found.content, Some(Content::Modified | Content::Renamed));
        // What differs may have come from a record of another branch.
        let is_recorded = standing.is_some_and(provenance::lines::Lines::are_recorded);
        let claim = found.claim.filter(|_| is_changed && !is_recorded && !found.only_inside)?;
        Some(self.ws.ledger.claim(claim).range().content_hash.clone())
    }

    /// The last record of the journal that says that a block of this name is gone.
    fn deletion(&self, path: &RelativePath, block: &Block) -> Option<ClaimRef> {
        let ledger = &*self.ws.ledger;
        let says = |at: &ClaimRef| {
            let claim = ledger.claim(*at);
            let said = claim.said();
            let is_it = said.block.as_ref().is_some_and(|name| {
                name.kind == block.identity.kind.as_str()
                    && name.path == block.identity.path
                    && name.parameters == block.identity.parameters
            });
            is_open(claim.entry) && said.deleted && is_it
        };
        ledger.of_path(path).into_iter().rev().find(says)
    }
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.carried.is_empty()
    }

    fn add(
        &mut self,
        ledger: &Ledger,
        path: &RelativePath,
        from: Option<&RelativePath>,
        claim: ClaimRef,
        range: BlockRecord,
        own: usize,
    ) {
        let claim = ledger.claim(claim);
        self.records.insert(claim.entry.record.id.clone());
        let group = Group::of(claim.entry, claim.conversation);
        self.groups.add(path, from, group, &claim.entry.record, range, own);
    }

    fn note(&mut self, claims: impl Iterator<Item = ClaimRef>, ledger: &Ledger) {
        for at in claims {
            let entry = ledger.claim(at).entry;
            // What was sealed on another branch is not this commit's.
            if ledger.is_unsealed(entry) {
                self.records.insert(entry.record.id.clone());
            }
        }
    }

    /// Takes along what is no change of a file and that a commit carries as it is.
    fn carry(&mut self, ledger: &Ledger) {
        for entry in ledger.open() {
            if matches!(
                entry.record.kind,
                RecordKind::Approval | RecordKind::Registry | RecordKind::Reassign
            ) {
                self.records.insert(entry.record.id.clone());
                self.carried.push(entry.record.clone());
            }
        }
    }

    fn brief(&self) -> Vec<SealedFile> {
        self.groups.brief(self.of.as_ref())
    }

    fn bytes(&self, ws: &Workspace) -> Option<Vec<u8>> {
        (!self.is_empty()).then(|| self.groups.bytes(ws, self.of.as_ref(), &self.carried))
    }
}
