//! `intent verify`: checks that the ledger is complete and unchanged, and with `--blocks` that the
//! code still is what was recorded.
//!
//! `lost` finds the recorded blocks that are no longer in the tree.

mod lost_blocks;

use crate::branch_rewrites;
use ground::control_files;
use std::cell::LazyCell;

use schemars::JsonSchema;
use serde::Serialize;

use self::lost_blocks::FoundAgain;
use super::anchor::AnchorsAnswer;
pub use super::branch_rewrites::accept as accept_rewrite;
use super::signing::Signatures;
use super::{anchor, erase, seal};
use crate::comparison::finding_at;
use code::LineRange;
use ground::git::Target;
use ground::parallel::in_parallel;
use ground::{Code, CommitId, Finding, Hint, RelativePath, ignores, session, text};
use intents::{Intent, lint};
use ledger::dialect::is_placeholder;
use ledger::{Audit, Entry, RecordKind, audit, journal};
use provenance::{Provenance, Verdict};
use why::baseline::Baseline;
use why::rules::Rules;
use why::{VerbError, Workspace, answers};

/// What is wrong in the ledger and its rules.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct VerifyAnswer {
    /// The number of records that were read.
    pub records: usize,
    /// The number of files that the ledger consists of.
    pub files: usize,
    /// The verdicts of recorded blocks. Absent without `--blocks`.
    #[serde(flatten)]
    pub blocks: Option<BlocksAnswer>,
    /// The evidence that anchors vouch for. Absent if signatures were not checked, or if there is
    /// no anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchors: Option<AnchorsAnswer>,
    /// Remarks that are not findings, each a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is wrong in ledger, registry and policy.
    pub findings: Vec<why::findings::FindingAnswer>,
}

/// The verdicts of recorded blocks in the work tree.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct BlocksAnswer {
    /// The number of blocks with each verdict.
    pub blocks: VerdictCounts,
    /// Recorded blocks that are no longer in the tree, although no record says that they were
    /// deleted.
    pub lost: Vec<LostBlock>,
}

/// The number of blocks with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictCounts {
    /// Blocks that are as they were recorded.
    pub exact: usize,
    /// Blocks that differ from the record in formatting only.
    pub reformatted: usize,
    /// Blocks that are as recorded, but in another place.
    pub moved: usize,
    /// Blocks that differ from the record in names only.
    pub renamed: usize,
    /// Blocks that differ only in inner blocks, which are counted on their own.
    pub inside: usize,
    /// Blocks that were changed since they were recorded.
    pub modified: usize,
    /// Blocks that more than one record fits.
    pub ambiguous: usize,
    /// Blocks without a record, in files that have records.
    pub unrecorded: usize,
}

/// A recorded block that cannot be found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LostBlock {
    /// The file that it was recorded in.
    pub path: RelativePath,
    /// The kind of the block, for example `method`.
    pub kind: String,
    /// The name with containers, for example `AuthMiddleware.verify`.
    pub name: String,
    /// The intent under which it was recorded.
    pub intent: Option<String>,
    /// The id of its record.
    pub record: String,
}

/// Returns everything that is wrong in policy, registry, ignore files and ledger.
pub fn findings(ws: &Workspace) -> Vec<Finding> {
    let files = match ws.files() {
        _ if !has_scopes(ws) => Vec::new(),
        Target::WorkTree => ignores::walk(&ws.root),
        Target::Index | Target::Commit(_) => ws.tracked().unwrap_or_default(),
    };
    findings_among(ws, &files)
}

fn has_scopes(ws: &Workspace) -> bool {
    ws.root.governed() && !ws.registry.intents().is_empty()
}

/// Like [`findings`], for a caller that already has the list of the workspace's files.
pub fn findings_among(ws: &Workspace, files: &[RelativePath]) -> Vec<Finding> {
    findings_with(ws, files, ws.ledger.findings(), ws.ledger.intents())
}

/// Like [`findings_among`], for a caller that already has the findings of the ledger, and the
/// intents that it names.
fn findings_with(
    ws: &Workspace,
    files: &[RelativePath],
    of_ledger: &[Finding],
    named: Vec<String>,
) -> Vec<Finding> {
    let mut all: Vec<Finding> = ws.policy_findings.to_vec();
    all.extend(lint::registry(ws.registry_on_disk()));
    all.extend(missing_registry(ws));
    // If an older registry is in use, its line numbers would be wrong.
    if has_scopes(ws) && ws.judged_by_older().is_none() {
        all.extend(lint::against_files(&ws.registry, files));
    }
    all.extend(ws.ignores.findings().iter().cloned());
    all.extend(lint::ignored_intents(&ws.registry, &ws.ignores));
    all.extend(of_ledger.iter().cloned());
    all.extend(unknown_intents(ws, named));
    if !matches!(ws.files(), Target::Commit(_)) {
        all.extend(ungated(ws));
    }
    all
}

/// Returns a finding for each write that passed no gate, as long as the file is as that write left
/// it.
fn ungated(ws: &Workspace) -> Vec<Finding> {
    let notes = session::ungated::still_valid(&ws.root).into_iter();
    let finding = |note: session::ungated::Ungated| Finding {
        path: Some(note.path.clone()),
        lines: LineRange::new(1, 1),
        ..Finding::new(
            Code::UngatedWrite,
            format!(
                "{} wrote this file at {} with {}, and no gate let that through: {}.",
                note.actor, note.at, note.tool, note.why
            ),
            settled_by(ws, &note.path),
        )
    };
    notes.map(finding).collect()
}

/// Returns the advice on how a person settles a write that passed no gate.
fn settled_by(ws: &Workspace, path: &RelativePath) -> String {
    let typed = text::shell_word(path.as_str());
    let mut help =
        format!("Review it. Restore it, or accept it as it is: `intent accept {typed}`.");
    let rules = Rules::from_workspace(ws);
    let may_change = |owner: &&Intent| rules.rulings(path, Some(&owner.id.value)).is_empty();
    let owner = rules.owners(path).into_iter().find(may_change);
    if let Some(owner) = owner.filter(|_| has_unrecorded_edits(ws, path)) {
        let id = &owner.id.value;
        help.push_str(&format!(" If {id} asked for it: `intent record {typed} --intent {id}`."));
    }
    help + " `intent doctor` says why the gate was not asked."
}

/// Returns true if `intent record` would have something to record of an existing file.
fn has_unrecorded_edits(ws: &Workspace, path: &RelativePath) -> bool {
    let (Ok(document), Ok(baseline)) = (ws.read(path), Baseline::of_work(ws, path)) else {
        return false;
    };
    let found = answers::file(ws, path, &document).provenance;
    let edits = baseline.edits(&document);
    !control_files::is_control_file(path) && edits.now.iter().any(|(at, _)| !found[*at].covered())
}

/// Returns the finding for a missing registry, if git has one, or if an intent is selected or named
/// by a record.
fn missing_registry(ws: &Workspace) -> Option<Finding> {
    let reason = ws.missing_registry()?;
    let is_lost = !matches!(ws.files(), Target::Commit(_)) && ws.lost_registry().is_some();
    let is_needed = is_lost
        || ws.selected(None).is_some()
        || ws.ledger.intents().iter().any(|id| !is_placeholder(id));
    let message = "There is no registry, so nothing is known of any intent.".to_owned();
    is_needed.then(|| Finding::new(Code::RegistryMissing, message, format!("{reason}.")))
}

/// Returns true if the registry does not contain an intent. If the registry is missing or cannot be
/// read, that is not known, and the result is false.
fn is_unknown(ws: &Workspace, id: &str) -> bool {
    // An id that is defined twice is reported by another finding.
    let is_known = || ws.registry.get(id).is_some() || !ws.registry.definitions_of(id).is_empty();
    let may_be_told = ws.registry.syntax_error().is_none() && ws.registry.exists();
    may_be_told && !is_placeholder(id) && !is_known()
}

/// Returns findings for intents that records name and the registry does not contain.
fn unknown_intents(ws: &Workspace, named: Vec<String>) -> Vec<Finding> {
    let is_finding = |id: &String| is_unknown(ws, id) && !is_reassigned(ws, id);
    let unknown = named.into_iter().filter(is_finding);
    let mut unknown: Vec<(&Entry, String)> =
        unknown.filter_map(|id| Some((first_here(ws, &id)?, id))).collect();
    unknown.sort_by_key(|(entry, _)| (&entry.origin.path, entry.origin.start));
    let finding = |(entry, id): &(&Entry, String)| {
        let byte = |at: u64| usize::try_from(at).ok();
        let span = byte(entry.origin.start).zip(byte(entry.origin.end));
        let path = entry.record.files.first().map_or("", |file| file.relative_path.as_str());
        let message =
            format!("The ledger names the intent {id}, which the registry does not hold.");
        let help = format!(
            "Add {id} to {}, restore it from git, or write it as `formerly` of the intent it is called now. Records are never changed; `intent reassign {} --from {} --to` and an id of `intent list` says which intent this file belongs to.",
            ws.registry.path(),
            text::shell_word(path),
            text::shell_word(id)
        );
        Finding {
            span: span.map(|(start, end)| start..end),
            intent: Some(id.clone()),
            ..finding_at(entry, Code::UnknownIntent, message, help)
        }
    };
    unknown.iter().map(finding).collect()
}

/// Returns the first record of code under an intent that belongs to this branch. The journal
/// belongs to the whole clone, so it may also have records that a commit of another branch carries,
/// or whose code was written there and is not here.
fn first_here<'a>(ws: &'a Workspace, id: &str) -> Option<&'a Entry> {
    let open = LazyCell::new(|| seal::open(ws).standing);
    let is_based_here = |entry: &Entry| {
        let base = entry.record.vcs.as_ref().and_then(|vcs| vcs.revision_id.clone());
        let (Some(git), Some(tip), Some(base)) = (ws.git(), ws.tip(), base) else { return true };
        git.is_ancestor(tip, &CommitId(base)).unwrap_or(true)
    };
    let is_here = |entry: &&Entry| {
        ws.git().is_none()
            || !journal::is_open(&entry.origin.path)
            || is_based_here(entry) && open.iter().any(|one| one.record.id == entry.record.id)
    };
    let entries = ws.ledger.entries_of_intent(id).into_iter().map(|at| ws.ledger.entry(at));
    entries.filter(|entry| !entry.record.files.is_empty()).find(is_here)
}

/// Returns true if a person has reassigned everything that was recorded under an intent.
fn is_reassigned(ws: &Workspace, id: &str) -> bool {
    let entries = ws.entries_of(id);
    let mut kinds = entries.iter().map(|at| ws.ledger.entry(*at).record.kind);
    !entries.is_empty()
        && kinds.all(|kind| matches!(kind, RecordKind::Mutation | RecordKind::Ack))
        && ws.ledger.of_intent(id).is_empty()
}

/// Reads all files of the ledger, and reports what is wrong in them, in the registry and in the
/// policy.
pub fn verify(ws: &Workspace) -> VerifyAnswer {
    verified(ws, audit(&ws.root))
}

/// Like [`verify`], and also compares every recorded block with the code.
pub fn verify_blocks(ws: &Workspace) -> VerifyAnswer {
    verify(ws).with_blocks(ws)
}

fn verified(ws: &Workspace, audit: Audit) -> VerifyAnswer {
    let files = if has_scopes(ws) { ignores::walk(&ws.root) } else { Vec::new() };
    let findings = findings_with(ws, &files, &audit.findings, audit.intents.into_iter().collect());
    let mut answer = VerifyAnswer {
        records: audit.records,
        files: audit.files,
        findings: why::findings::answers(ws, findings),
        ..VerifyAnswer::default()
    };
    match branch_rewrites::look(ws) {
        Ok(looked) => {
            answer.findings.extend(looked.findings);
            answer.findings.sort();
            answer.notes = looked.notes;
        }
        Err(error) => {
            let why = error.with_hint();
            answer.notes.push(format!("Shared branches were not compared: {why}."));
        }
    }
    answer
}

impl VerifyAnswer {
    /// Adds the verdict of every recorded block.
    pub fn with_blocks(self, ws: &Workspace) -> Self {
        Self { blocks: Some(blocks(ws, |_, _, _| ())), ..self }
    }
}

/// Like [`verify`], and also checks the signatures of anchors and tombstones.
pub fn verify_signed(
    ws: &Workspace,
    signatures: &dyn Signatures,
) -> Result<VerifyAnswer, VerbError> {
    let audit = audit(&ws.root);
    let (anchors, mut findings) = anchor::verify(ws, &audit.sections, signatures)?;
    let erased = erase::judge(ws, &Vec::from_iter(&audit.erased), signatures, None)?;
    findings.extend(erased.findings);
    let mut answer = verified(ws, audit);
    answer.findings.extend(why::findings::answers(ws, findings));
    answer.findings.sort();
    answer.notes.extend(erased.notes);
    Ok(VerifyAnswer { anchors, ..answer })
}

/// Compares every recorded file with its records, and calls `visit` for each file that can be read.
/// If recorded blocks were moved into files that no record names, these files are included.
///
/// `visit` gets a copy of `ws` whose cache of the ledger is emptied after a few hundred files, so
/// that it does not use much memory. It must look up records in this copy and not in `ws`.
pub fn blocks(
    ws: &Workspace,
    visit: impl FnMut(&Workspace, &RelativePath, &answers::FileProvenance),
) -> BlocksAnswer {
    let (blocks, heads, standing) = compare(ws, ws.ledger.paths(), visit);
    BlocksAnswer { blocks, lost: lost_blocks::lost(ws, heads, standing) }
}

/// Like [`blocks`], for some of the recorded files, and without a search for lost blocks.
pub fn compare_files(
    ws: &Workspace,
    paths: &[RelativePath],
    visit: impl FnMut(&Workspace, &RelativePath, &answers::FileProvenance),
) {
    compare(ws, paths, visit);
}

/// Compares files with their records, and searches for their blocks in files that no record names.
/// Counts the blocks by verdict, and returns the records whose block was not found in any of these
/// files.
fn compare<'a>(
    ws: &Workspace,
    paths: &'a [RelativePath],
    mut visit: impl FnMut(&Workspace, &RelativePath, &answers::FileProvenance),
) -> (VerdictCounts, Vec<lost_blocks::Head<'a>>, FoundAgain) {
    let mut blocks = VerdictCounts::default();
    let mut standing = FoundAgain::default();
    let mut heads = Vec::new();
    for (ws, paths) in ws.in_parts(paths) {
        let ws = &ws;
        let files =
            in_parallel(paths, |path| (answers::standing(ws, path), ws.trail(path).heads()));
        for (path, (file, last)) in paths.iter().zip(files) {
            if let Some(file) = file {
                file.provenance.iter().for_each(|found| blocks.count(found));
                file.provenance.iter().for_each(|found| standing.add_matches(ws, path, found));
                visit(ws, path, &file);
            }
            heads.extend(last.into_iter().map(|at| (path, at)));
        }
    }
    heads.retain(|(_, at)| !standing.holds(*at));
    lost_blocks::find_in_new_files(ws, &mut heads, &mut standing, |ws, path, file| {
        let recorded = file.provenance.iter().filter(|found| found.verdict != Verdict::Unrecorded);
        recorded.for_each(|found| blocks.count(found));
        visit(ws, path, file);
    });
    (blocks, heads, standing)
}

impl VerdictCounts {
    pub fn total(&self) -> usize {
        let Self { exact, reformatted, moved, renamed, inside, modified, ambiguous, unrecorded } =
            self;
        exact + reformatted + moved + renamed + inside + modified + ambiguous + unrecorded
    }

    /// Adds one block to the count of its verdict.
    pub fn count(&mut self, found: &Provenance) {
        let slot = match found.verdict {
            Verdict::Exact => &mut self.exact,
            Verdict::Reformatted => &mut self.reformatted,
            Verdict::Moved => &mut self.moved,
            Verdict::Renamed => &mut self.renamed,
            Verdict::Modified if found.only_inside => &mut self.inside,
            Verdict::Modified => &mut self.modified,
            Verdict::Ambiguous => &mut self.ambiguous,
            Verdict::Unrecorded => &mut self.unrecorded,
        };
        *slot += 1;
    }
}
