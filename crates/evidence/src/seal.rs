//! `intent seal`: makes evidence for a commit from those records of the journal whose code the
//! commit contains.
//!
//! The result depends only on the files before the commit, the files after it, and the ledger. For
//! each block that the commit changed, [`why::answers`] finds the record that the block comes from.
//! If that record is in the journal, it becomes evidence. So ten edits of one function become one
//! entry, an edit that was undone leaves nothing, and a block without a record gets no evidence.
//!
//! If several intents wrote one block, each gets an entry with its own lines. For example, a commit
//! adds a function of four lines. INT-001 wrote it, and INT-002 changed its third line afterwards.
//! The commit carries an entry of INT-001 with the lines `1-2,4`, and one of INT-002 with line `3`.
//!
//! - `draft` groups blocks and writes the files of evidence.
//! - `late` finds earlier commits that were made without our hook.
//! - `open` counts the records that are in no commit.
//! - `retire` removes records from the journal that are no longer needed.
//! - `rewritten_commits` finds evidence that must be made again because its commit was rewritten.

mod draft;
mod late;
mod open;
mod retire;
mod rewritten_commits;

use ground::git::deleted_paths;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::comparison::{digests, is_evidence, still_named};
use code::{Block, ContentHash, Document, Places, lines};
use ground::git::{ChangeKind, PathChange, Target};
use ground::{CommitId, Git, RelativePath, clock, store};
use ledger::{
    BlockRecord, ClaimRef, Digest, Entry, Ledger, Record, RecordDialect, RecordKind, Strength,
    journal,
};
use provenance::difference::lines_added_by_all;
use provenance::line_records::{self, ComparedLines, LineStatus};
use provenance::{Content, Provenance, lineage};
use why::baseline::{Baseline, Edits, FormerFile, commits_of_work};
use why::{VerbError, Workspace, answers};

pub use open::{
    OpenRecords, and_commit, drafts, is_code_committed, nothing_sealed, open, open_note,
    unstaged_note,
};
pub use retire::{retire, retire_daily};

use draft::Draft;

/// How long after a commit an inferred record may be made and still describe that commit, in
/// milliseconds. If one shell command edits and commits, its work is recorded only when the command
/// has ended.
const LONGEST_COMMAND: i64 = 10 * 60 * 1_000;
/// The time of a commit is rounded down to seconds, so a record may appear to be later by up to
/// this many milliseconds.
const ROUNDING: i64 = 1_000;

/// What was sealed, or would be sealed in a dry run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SealAnswer {
    /// The files of evidence that were written and have to be committed.
    pub written: Vec<RelativePath>,
    /// Drafts that were removed, since the new files replace them. A draft is a file of evidence
    /// that is in no commit yet.
    pub removed: Vec<RelativePath>,
    /// The content of the files, one item for each intent, session and file.
    pub sealed: Vec<SealedFile>,
    /// The number of records that were sealed.
    pub records: usize,
    /// Whether the time ran out. The next call seals the rest.
    pub incomplete: bool,
    /// The number of records that are in no commit because their code is not in the index. Not
    /// counted when a git hook calls.
    pub waiting: usize,
    /// The files with the code of these records.
    pub unstaged: Vec<RelativePath>,
}

/// What one session did to one file, as the evidence states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SealedFile {
    /// The changed file, relative to the workspace.
    pub path: RelativePath,
    /// The commit that the evidence is about, if it is sealed late.
    pub commit: Option<String>,
    /// The id of the intent.
    pub intent: Option<String>,
    /// The session that wrote the blocks, as `host:id`.
    pub session: Option<String>,
    /// The model that wrote the code.
    pub model: Option<String>,
    /// The names of the blocks, with containers.
    pub blocks: Vec<String>,
}

/// The commits for which evidence is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealScope {
    /// The commit that is being made from the index, and earlier commits that were made without our
    /// hook.
    Commit,
    /// Only earlier commits that were made without our hook, for example with `--no-verify`.
    Late,
}

/// A change that is to be sealed.
struct Sealing {
    /// The files after the change.
    target: Target,
    /// The commits before the change, such as the parents of a commit. The changed files are those
    /// that differ from the first of them, and the new lines are those that none of them has.
    bases: Vec<CommitId>,
    /// The time of the commit, in milliseconds since 1970. `None` if it is not committed yet.
    committed: Option<i64>,
}

impl Sealing {
    fn of_work(target: Target, bases: Vec<CommitId>) -> Self {
        Self { target, bases, committed: None }
    }

    /// Returns true if this change was committed before the record was made, so that the record is
    /// about later work.
    ///
    /// A commit of 12:00:00 is before a record of 12:00:02. It is not before an inferred record of
    /// 12:09, because one command may have edited, committed, and ended nine minutes later.
    fn is_before(&self, record: &Record) -> bool {
        let made = clock::milliseconds(&record.timestamp);
        let late = if record.strength == Some(Strength::Inferred) { LONGEST_COMMAND } else { 0 };
        self.committed.zip(made).is_some_and(|(time, made)| made > time + ROUNDING + late)
    }
}

/// Returns true if a record claims code as it was, rather than a change. Such code may have been
/// committed long before the record: a person accepts a function that was committed last year.
fn claims_as_it_stood(record: &Record) -> bool {
    record.as_it_stood || record.kind == RecordKind::Ack
}

/// Seals records and writes the evidence into the work tree. If the time `budget` runs out, a later
/// call seals the rest.
pub fn seal(
    ws: &Workspace,
    scope: SealScope,
    budget: Option<Duration>,
) -> Result<SealAnswer, VerbError> {
    run(ws, scope, budget, true)
}

/// Like [`seal`], but writes nothing.
pub fn would_seal(ws: &Workspace, scope: SealScope) -> Result<SealAnswer, VerbError> {
    run(ws, scope, None, false)
}

/// Returns true if git ignores evidence here, so that no commit ever carries it.
pub fn is_ignored(ws: &Workspace) -> bool {
    ws.ignores.git_ignored(&draft::folder())
}

/// Returns true if a commit carries such a record unchanged, independent of any code.
fn is_carried(entry: &Entry) -> bool {
    matches!(
        entry.record.kind,
        RecordKind::Approval | RecordKind::Registry | RecordKind::Reassign | RecordKind::Test
    )
}

fn is_open(entry: &Entry) -> bool {
    journal::is_open(&entry.origin.path)
}

fn run(
    ws: &Workspace,
    scope: SealScope,
    budget: Option<Duration>,
    write: bool,
) -> Result<SealAnswer, VerbError> {
    ws.governed()?;
    ws.readable_git()?;
    if ws.git().is_none() || is_ignored(ws) {
        return Ok(SealAnswer::default());
    }
    let until = budget.map(|budget| Instant::now() + budget);
    let may_restore = scope == SealScope::Commit && write;
    let taken_away = if may_restore { TakenAway::find(ws)? } else { TakenAway::default() };
    let restored = taken_away.write_back(ws)?;
    let ws = &if restored.is_empty() { ws.clone() } else { ws.with_ledger_of_now() };
    let sources = Sources::load(ws)?;
    let ledger = &sources.ledger;
    // The new commit is sealed first, since the person waits for it. Late sealing gets the
    // remaining time.
    let mut now = Draft::default();
    if scope == SealScope::Commit {
        let sealing = Sealing::of_work(Target::Index, commits_of_work(ws)?);
        now = of_change(ws, &sources, &sealing, &late::paths_of(ledger.open()), until)?;
        now.carry(ws, ledger);
    }
    let mut late = late::look(ws, &sources, until)?;
    late.drafts.retain(|draft| !draft.is_nothing());
    let is_late_incomplete = late.drafts.iter().any(|draft| draft.incomplete);
    let mut answer = SealAnswer {
        written: restored,
        incomplete: now.incomplete || is_late_incomplete,
        ..SealAnswer::default()
    };
    if is_late_incomplete {
        // There was no time to make the late drafts again, so the existing ones are kept.
        let kept = late_drafts(ws, &sources.drafts);
        if !kept.is_empty() {
            late.drafts.clear();
            answer.written.extend(kept);
        }
    }
    let drafts = || late.drafts.iter().chain([&now]);
    let all: BTreeSet<&String> = drafts().flat_map(|draft| &draft.records).collect();
    answer.records = all.len();
    answer.sealed = drafts().flat_map(Draft::brief).collect();
    if budget.is_none() {
        (answer.waiting, answer.unstaged) = open::waiting(ws, &all);
    }
    if !write {
        return Ok(answer);
    }
    let still_open = still_open(ws, &sources, scope, &all)?;
    let (mut of_late, mut of_now) = (Vec::new(), Vec::new());
    // The notes are written before the evidence. If the process dies in between, notes about
    // evidence that does not exist do no harm. Evidence without notes could not be recognised as a
    // draft, so it would never be replaced.
    for draft in drafts().filter(|draft| !draft.is_empty()) {
        let bytes = draft.bytes(ws);
        let settled: Vec<String> =
            draft.records.iter().filter(|id| !still_open.contains(*id)).cloned().collect();
        journal::note_sealed(&ws.root, &settled, Digest::compute(&bytes))?;
        let file = if draft.of.is_some() { &mut of_late } else { &mut of_now };
        file.extend(bytes);
    }
    for bytes in [of_late, of_now].iter().filter(|bytes| !bytes.is_empty()) {
        answer.written.push(draft::write(ws, bytes)?);
    }
    for path in sources.drafts {
        if !answer.written.contains(&path) {
            store::remove(&ws.root.absolute(&path))?;
            answer.removed.push(path);
        }
    }
    answer.written.extend(taken_away.replaced_by(ws));
    late.save_handled();
    Ok(answer)
}

/// The parts of the ledger that sealing reads.
#[derive(Default)]
struct Sources {
    /// The journals of all work trees, and the committed evidence.
    ledger: Ledger,
    /// Evidence whose commit was rewritten (see [`rewritten_commits`]). It is not in `ledger`. Its
    /// texts are derived, because some of its lines may stand unchanged and must not be sealed
    /// twice.
    lost: Ledger,
    /// The paths of the drafts: evidence that is in no commit yet.
    drafts: Vec<RelativePath>,
}

impl Sources {
    fn load(ws: &Workspace) -> Result<Self, VerbError> {
        let Some(git) = ws.git() else { return Ok(Self::default()) };
        // `HEAD` does not have the evidence of commits that are being merged or cherry-picked, but
        // that evidence is committed and must not be taken for a draft.
        let commits = commits_of_work(ws)?;
        let journals = journal::SectionSources::load(&ws.root);
        let history = ws.history();
        let files = ws.ledger.evidence_files();
        let gone = LazyCell::new(|| gone_sections(git, &commits, &files).unwrap_or_default());
        let mut drafts = Vec::new();
        for (path, sections) in &files {
            // A draft is always sealed in this clone. Evidence from another clone may have come by
            // `git merge --squash`.
            let is_ours = sections.iter().all(|section| journals.can_make(section));
            let mut held = commits.iter().map(|commit| git.has_file(commit, path));
            // Evidence that a commit of this history added is not a draft either: a person is
            // restoring it, has compacted it, or has erased a line of it.
            let was_committed = || {
                let brought = |section: &Digest| history.as_ref()?.covering(git, *section);
                let head = ws.head();
                let is_here = |section| {
                    head.zip(brought(section)).is_some_and(|(head, by)| by.is_before(git, head))
                };
                sections.iter().all(|section| is_here(section) || gone.contains(section))
            };
            if is_ours && !held.any(|held| held.unwrap_or(true)) && !was_committed() {
                drafts.push(path.clone());
            }
        }
        let is_draft = |path: &RelativePath| drafts.contains(path);
        let committed = ws.ledger.evidence_of(&|path, _| !is_draft(path));
        let lost = rewritten_commits::sections(ws, &committed, &journals);
        let ledger = ws
            .ledger
            .for_sealing(&ws.root, &|path, section| !is_draft(path) && !lost.contains(section));
        Ok(Self {
            ledger: ws.deriving(ledger),
            lost: ws.deriving(committed.evidence_of(&|_, section| lost.contains(section))),
            drafts,
        })
    }
}

/// Returns those drafts that were sealed late. They name the earlier commit that they are about.
fn late_drafts(ws: &Workspace, drafts: &[RelativePath]) -> Vec<RelativePath> {
    let files = ws.ledger.evidence_files().into_iter();
    let is_late = |sections: &[Digest]| {
        let entries = ws.ledger.entries_in(&|section| sections.contains(section));
        entries.into_iter().any(|entry| entry.late_commit.is_some())
    };
    let late = files.filter(|(path, sections)| drafts.contains(path) && is_late(sections));
    late.map(|(path, _)| path).collect()
}

/// Returns the sections of those evidence files that these commits contain but the work tree does
/// not. `compact` and `erase` replace such a file by another one with the same sections.
fn gone_sections(
    git: &Git,
    commits: &[CommitId],
    files: &[(RelativePath, Vec<Digest>)],
) -> Result<HashSet<Digest>, VerbError> {
    let present: HashSet<&RelativePath> = files.iter().map(|(path, _)| path).collect();
    let is_gone = |path: &RelativePath| is_evidence(path) && !present.contains(path);
    let mut gone = HashSet::new();
    for commit in commits {
        let held = git.read_below(".orchestration", &Target::Commit(commit.clone()), &is_gone)?;
        gone.extend(held.iter().flat_map(|(_, bytes)| digests(bytes)));
    }
    Ok(gone)
}

/// Evidence that is in `HEAD` and that the new commit removes.
#[derive(Default)]
struct TakenAway {
    files: Vec<(RelativePath, Vec<u8>)>,
    /// The paths of all evidence in the index.
    staged: HashSet<RelativePath>,
}

impl TakenAway {
    fn find(ws: &Workspace) -> Result<Self, VerbError> {
        let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(Self::default()) };
        let listed = |target: &Target| git.list_below(".orchestration", target, &is_evidence);
        let staged = listed(&Target::Index)?.into_iter().map(|(path, _)| path);
        let staged: HashSet<RelativePath> = staged.collect();
        let mut files = listed(&Target::Commit(head.clone()))?;
        files.retain(|(path, _)| !staged.contains(path));
        Ok(Self { files: git.read_blobs(&files)?, staged })
    }

    /// Returns the files that `compact` or `erase` wrote in place of others, if they are not in the
    /// index. `git commit -a` stages only the removal of the old files, so the hook has to stage
    /// the new ones.
    fn replaced_by(&self, ws: &Workspace) -> Vec<RelativePath> {
        let held: HashSet<Digest> =
            self.files.iter().flat_map(|(_, bytes)| digests(bytes)).collect();
        let files = ws.ledger.evidence_files().into_iter();
        let moved = files.filter(|(path, sections)| {
            !self.files.is_empty()
                && !self.staged.contains(path)
                && sections.iter().all(|one| held.contains(one))
        });
        moved.map(|(path, _)| path).collect()
    }

    /// Restores removed evidence if some of its code stays in the commit. This happens in a revert
    /// if a person resolved a conflict by keeping lines.
    fn write_back(&self, ws: &Workspace) -> Result<Vec<RelativePath>, VerbError> {
        let Some(head) = ws.head().filter(|_| !self.files.is_empty()) else {
            return Ok(Vec::new());
        };
        let index = ws.at_index()?;
        // A compaction or an erasure may have moved the sections into a file that is not staged
        // yet.
        let mut stands = index.ledger.sections();
        stands.extend(ws.ledger.sections());
        let named = still_named(&index, head, &stands)?;
        let mut written = Vec::new();
        for (path, bytes) in self.files.iter().filter(|(path, _)| named.has_file(path)) {
            store::write_atomic(&ws.root.absolute(path), bytes)?;
            written.push(path.clone());
        }
        Ok(written)
    }
}

/// Returns the records that must stay open after this seal, because the work tree has more of their
/// code than was sealed. For example, one record has two functions, and `git add -p` staged only
/// one of them. The commit then carries that function, and the next commit can still carry the
/// other.
fn still_open(
    ws: &Workspace,
    sources: &Sources,
    scope: SealScope,
    sealed: &BTreeSet<&String>,
) -> Result<BTreeSet<String>, VerbError> {
    let mut open = BTreeSet::new();
    if sealed.is_empty() {
        return Ok(open);
    }
    let bases = match scope {
        SealScope::Late => commits_of_work(ws)?,
        SealScope::Commit => Vec::new(),
    };
    let sealing = Sealing::of_work(Target::WorkTree, bases);
    let paths =
        late::paths_of(sources.ledger.open().filter(|entry| sealed.contains(&entry.record.id)));
    let at = FilesAfter::new(ws, sources, &sealing);
    for path in paths {
        let base = match scope {
            SealScope::Commit => ws.git().map(|git| git.file_in_index(path)).transpose()?.flatten(),
            SealScope::Late => ws.head().and_then(|head| ws.git()?.file_at(head, path).ok()?),
        };
        let Ok(on_disk) = ws.root.read(path, store::MAX_CONTENT) else { continue };
        if base == on_disk {
            continue;
        }
        let document = |bytes: Option<Vec<u8>>| ws.document(path, &bytes.unwrap_or_default()).ok();
        let (Some(before), Some(now)) = (document(base), document(on_disk)) else { continue };
        open.extend(at.records_of(path, Baseline::Texts(vec![before]), &now));
    }
    Ok(open)
}

/// Returns the draft of the evidence for one change, which is empty unless the change may contain
/// code of the `recorded` files.
fn of_change(
    ws: &Workspace,
    sources: &Sources,
    sealing: &Sealing,
    recorded: &HashSet<&RelativePath>,
    until: Option<Instant>,
) -> Result<Draft, VerbError> {
    let mut draft = Draft::default();
    let changes = ws.git().map(|git| git.changes(sealing.bases.first(), &sealing.target));
    let changes = changes.transpose()?.unwrap_or_default();
    // An added file may have been recorded under another name.
    let may_hold = |change: &PathChange| {
        change.kind == ChangeKind::Added && !change.path.is_orchestration()
            || recorded.contains(&change.path)
    };
    if !changes.iter().any(may_hold) {
        return Ok(draft);
    }
    let state = FilesAfter::new(ws, sources, sealing);
    let gone = deleted_paths(&changes);
    for change in changes.iter().filter(|change| !change.path.is_orchestration()) {
        if until.is_some_and(|until| Instant::now() > until) {
            draft.incomplete = true;
            break;
        }
        state.change(change, &gone, &mut draft)?;
    }
    Ok(draft)
}

/// The files after a change, with the ledger in which the records of their blocks are looked up.
struct FilesAfter<'a> {
    ws: Workspace,
    sealing: &'a Sealing,
    /// Evidence whose commit was rewritten; see [`Sources::lost`].
    lost: &'a Ledger,
}

impl<'a> FilesAfter<'a> {
    fn new(ws: &Workspace, sources: &'a Sources, sealing: &'a Sealing) -> Self {
        let base = sealing.bases.first().cloned();
        let ledger = sources.ledger.without_derived();
        let ws = ws.with_files(sealing.target.clone(), base, ledger);
        Self { ws, sealing, lost: &sources.lost }
    }

    fn change(
        &self,
        change: &PathChange,
        gone: &[RelativePath],
        draft: &mut Draft,
    ) -> Result<(), VerbError> {
        let (ws, sealing, path) = (&self.ws, self.sealing, &change.path);
        let now = match change.kind {
            ChangeKind::Deleted => Document::from_text(path.as_str(), ""),
            _ => match ws.read(path) {
                Ok(document) => document,
                Err(_) => return Ok(()),
            },
        };
        let baseline = Baseline::at_commits(ws, path, &sealing.bases)?;
        let base = sealing.bases.first().filter(|_| change.kind == ChangeKind::Added);
        let before = baseline.or_renamed(ws, path, &now, base, gone)?;
        let now = before.baseline.carried_by(now);
        self.file(path, &before, &now, draft);
        Ok(())
    }

    /// Returns the ids of the records whose code is in a text but not in its baseline.
    fn records_of(
        &self,
        path: &RelativePath,
        baseline: Baseline,
        now: &Document,
    ) -> BTreeSet<String> {
        let mut draft = Draft::default();
        self.file(path, &FormerFile { baseline, from: None }, now, &mut draft);
        draft.records
    }

    /// Adds to a draft what the journal claims of the blocks that one file has changed or lost.
    fn file(&self, path: &RelativePath, before: &FormerFile, now: &Document, draft: &mut Draft) {
        let (ws, ledger) = (&self.ws, &*self.ws.ledger);
        let FormerFile { baseline, from } = before;
        let differences = baseline.differences(now);
        let edits = Edits::from_differences(&differences);
        let file = answers::file(ws, path, now);
        let blocks = &file.blocks.blocks;
        for (at, _) in &edits.now {
            let (block, found) = (&blocks[*at], &file.provenance[*at]);
            let brought = lines_added_by_all(&differences, *at).unwrap_or_default();
            let own = lines::own_lines(now, block);
            let standing = line_records::compare_lines(ledger, ws, found, &own);
            let recorded = self.recorded(found, standing.as_ref());
            let covered = self.covered(path, block, own.len());
            let is_new = |line: usize| !covered[line] && brought.get(line) == Some(&true);
            let is_new: Vec<bool> = (0..own.len()).map(is_new).collect();
            let mut claims = self.claims((block, found), standing.as_ref(), &is_new);
            // If lines were only removed from a block, no line of the block belongs to the record
            // that did it, so the record that the block as a whole comes from is taken. A claim of
            // existing code is about the whole block too, whoever wrote its lines.
            let is_as_recorded =
                matches!(found.content, Some(Content::Exact | Content::Reformatted));
            let only_cut = claims.is_empty() && !covered.contains(&true) && is_as_recorded;
            let is_of_whole = |at: &ClaimRef| {
                claims_as_it_stood(&ledger.claim(*at).entry.record) && !claims.contains_key(at)
            };
            let without_lines =
                found.claim.filter(|at| self.may_seal(*at, block) && (only_cut || is_of_whole(at)));
            claims.extend(without_lines.map(|claim| (claim, vec![false; own.len()])));
            for (claim, lines) in claims {
                let range = self.range(now, block, &lines);
                let range = BlockRecord { recorded: recorded.clone(), ..range };
                draft.add_claim(ledger, path, from.as_ref(), claim, range, lines.len());
                let claims = [claim].into_iter().chain(found.claim);
                draft.note(claims.flat_map(|claim| self.earlier_claims(claim)), ledger);
            }
        }
        for block in &edits.gone {
            let Some(claim) = self.deletion(path, block) else { continue };
            let language = now.language().map(|language| language.id);
            let range = BlockRecord { deleted: true, ..provenance::textless(block, language) };
            draft.add_claim(ledger, path, from.as_ref(), claim, range, 0);
            draft.note(self.earlier_claims(claim), ledger);
        }
        draft.shorten(path, baseline, now);
    }

    /// Returns the records of the journal that wrote lines of a block, each with these lines. Only
    /// lines that are new in this change count.
    fn claims(
        &self,
        (block, found): (&Block, &Provenance),
        standing: Option<&ComparedLines>,
        is_new: &[bool],
    ) -> BTreeMap<ClaimRef, Vec<bool>> {
        let mut by: BTreeMap<ClaimRef, Vec<bool>> = BTreeMap::new();
        let only = self.only_record(found);
        let of_only =
            only.map(|claim| self.known_to_bring(claim, is_new.len())).unwrap_or_default();
        for (line, standing) in standing.iter().flat_map(|lines| &lines.standing).enumerate() {
            let claim = match standing {
                LineStatus::Recorded(claim) => *claim,
                LineStatus::Reformatted | LineStatus::Renamed => {
                    only.filter(|_| of_only.get(line) == Some(&true))
                }
                LineStatus::Changed => None,
            };
            if let Some(claim) = claim.filter(|at| is_new[line] && self.may_seal(*at, block)) {
                by.entry(claim).or_insert_with(|| vec![false; is_new.len()])[line] = true;
            }
        }
        by
    }

    /// Returns true if the evidence for this change may contain a claim on a block. If the record
    /// was made after the commit, it must claim the code as it was and name exactly the block that
    /// the commit has.
    fn may_seal(&self, at: ClaimRef, block: &Block) -> bool {
        let claim = self.ws.ledger.claim(at);
        let (record, is_as_claimed) = (&claim.entry.record, || {
            provenance::matching::has_recorded_own_text(claim.full_block(), block)
        });
        is_open(claim.entry)
            && (!self.sealing.is_before(record) || claims_as_it_stood(record) && is_as_claimed())
    }

    /// Returns for each line of a block whether existing evidence already names the line, for
    /// exactly this text and lead of the block. Such a line is not sealed twice. Evidence that
    /// names a block but no lines of it names all of them.
    fn covered(&self, path: &RelativePath, block: &Block, own: usize) -> Vec<bool> {
        let mut covered = vec![false; own];
        let (content, lead) = (&block.fingerprint.content, &block.fingerprint.lead);
        let evidence = [&*self.ws.ledger, self.lost];
        let claims = evidence
            .into_iter()
            .flat_map(|ledger| ledger.by_content(content).into_iter().map(|at| ledger.claim(at)));
        for claim in claims {
            let range = claim.recorded_block();
            let is_it = claim.entry.dialect == RecordDialect::Evidence
                && claim.file.relative_path == *path
                && !range.deleted
                && !claim.full_block().is_empty_claim()
                && claim.full_block().lead_hash == *lead
                && range.block.as_ref().is_some_and(|name| name.path == block.identity.path);
            if is_it {
                let said = range.brought.as_ref().and_then(|places| places.selected_among(own));
                let said = said.unwrap_or_else(|| vec![true; own]);
                covered.iter_mut().zip(said).for_each(|(known, said)| *known |= said);
            }
        }
        covered
    }

    /// Returns the record that a block comes from, if all its records in the journal have the same
    /// intent and session. Otherwise `None`. If one session made both edits of a block under one
    /// intent, lines that a formatter changed are certainly its own. If two sessions did, the lines
    /// may be of either.
    fn only_record(&self, found: &Provenance) -> Option<ClaimRef> {
        let claim = found.claim?;
        let ledger = &*self.ws.ledger;
        let who = |at: ClaimRef| {
            let record = &ledger.claim(at).entry.record;
            (record.intent_id.clone(), record.session.clone())
        };
        let mut others = self.earlier_claims(claim).filter(|at| is_open(ledger.claim(*at).entry));
        others.all(|other| who(other) == who(claim)).then_some(claim)
    }

    /// Returns which of the `count` lines of a block a record wrote, if a formatter changed the
    /// block afterwards. If the number of lines is the same, each line is assumed to be in its old
    /// place. If the formatter joined or split lines, the answer is known only for a block that was
    /// wholly new.
    ///
    /// For example, a record wrote the lines `2-3` of a block with four lines. If a formatter left
    /// four lines, the record still has the lines `2-3`. If it left five, the record has none.
    fn known_to_bring(&self, claim: ClaimRef, count: usize) -> Vec<bool> {
        let range = self.ws.ledger.claim(claim).full_block();
        let Some(brought) = &range.brought else {
            return vec![range.replaces.is_none(); count];
        };
        let were = range.lines.as_ref().and_then(|lines| lines.hashes()).map(|lines| lines.len());
        let brought = brought.selected_among(count).filter(|_| were == Some(count));
        brought.unwrap_or_else(|| vec![false; count])
    }

    /// Returns a record and the earlier records in the history of its block.
    fn earlier_claims(&self, claim: ClaimRef) -> impl Iterator<Item = ClaimRef> + use<> {
        let steps = lineage::history_of_claim(&self.ws.ledger, &self.ws, claim);
        steps.into_iter().filter_map(|step| step.claim())
    }

    fn range(&self, now: &Document, block: &Block, lines: &[bool]) -> BlockRecord {
        let is_whole = lines.iter().all(|brought| *brought);
        let range = provenance::block_record(now, block, provenance::Before::default());
        BlockRecord { brought: (!is_whole).then(|| Places::from_selection(lines)), ..range }
    }

    /// Returns the content hash that was recorded, if the block was changed afterwards without a
    /// record.
    fn recorded(
        &self,
        found: &Provenance,
        standing: Option<&ComparedLines>,
    ) -> Option<ContentHash> {
        let is_changed = matches!(found.content, Some(Content::Modified | Content::Renamed));
        // If every line comes from some record, the difference was recorded too, on another branch.
        let is_recorded = standing.is_some_and(ComparedLines::are_recorded);
        let claim = found.claim.filter(|_| is_changed && !is_recorded && !found.only_inside)?;
        Some(self.ws.ledger.claim(claim).full_block().content_hash.clone())
    }

    /// Returns the last record of the journal that says that a block with this name was deleted.
    fn deletion(&self, path: &RelativePath, block: &Block) -> Option<ClaimRef> {
        let ledger = &*self.ws.ledger;
        let says = |at: &ClaimRef| {
            let claim = ledger.claim(*at);
            let said = claim.recorded_block();
            let is_it = said.block.as_ref().is_some_and(|name| {
                name.kind == block.identity.kind.as_str()
                    && name.path == block.identity.path
                    && name.parameters == block.identity.parameters
            });
            let record = &claim.entry.record;
            let may_be_here = !self.sealing.is_before(record) || claims_as_it_stood(record);
            is_open(claim.entry) && said.deleted && is_it && may_be_here
        };
        ledger.of_path(path).into_iter().rev().find(says)
    }
}
