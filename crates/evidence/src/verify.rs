//! `intent evidence verify`: checks that the ledger is complete and unchanged, and with `--blocks` that the
//! code still is what was recorded.

use schemars::JsonSchema;
use serde::Serialize;

use super::anchor::AnchorsAnswer;
pub use super::branch_rewrites::accept as accept_rewrite;
use super::signing::Signatures;
use super::{anchor, branch_rewrites, erase};
use crate::compared::is_evidence;
use crate::unknown_intents::unknown_intents;
use code::LineRange;
use ground::git::Target;
use ground::parallel::in_parallel;
use ground::{Code, Finding, Hint, RelativePath, control_files, ignores, session, text};
use intents::{Intent, lint};
use ledger::dialect::is_placeholder;
use ledger::evidence::EVIDENCE_FOLDER;
use ledger::read::is_ledger_path;
use ledger::{Audit, audit};
use provenance::Verdict;
use why::answers::FileProvenance;
use why::baseline::Baseline;
use why::rules::Rules;
use why::{Provenance, VerbError, Workspace, answers};

/// How many files are compared before their results are given to the caller.
const AT_ONCE: usize = 256;

/// What is wrong in the ledger and its rules.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct VerifyAnswer {
    /// The number of records that were read.
    pub records: usize,
    /// The number of files that the ledger consists of.
    pub files: usize,
    /// The number of recorded blocks in the work tree with each verdict. Absent without `--blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<VerdictCounts>,
    /// The evidence that anchors vouch for. Absent if signatures were not checked, or if there is
    /// no anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchors: Option<AnchorsAnswer>,
    /// Whether blocks were left out of the counts, because this clone lacks history that says who
    /// brought their lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lacks_history: bool,
    /// Remarks that are not findings, each a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is wrong in ledger, registry and policy.
    pub findings: Vec<why::findings::FindingAnswer>,
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
    /// Blocks of which two intents brought half each.
    pub ambiguous: usize,
    /// Blocks without a record, in files that have recorded lines.
    pub unrecorded: usize,
}

/// Returns everything that is wrong in policy, registry, ignore files and journal. Evidence is not
/// read: [`verify`] reads all of it, and [`crate::comparison`] what a change adds.
pub fn findings(ws: &Workspace) -> Vec<Finding> {
    let files = match ws.files() {
        _ if !has_scopes(ws) => Vec::new(),
        Target::WorkTree => files_of_work(ws),
        Target::Index | Target::Commit(_) => ws.tracked().unwrap_or_default(),
    };
    findings_among(ws, &files)
}

fn files_of_work(ws: &Workspace) -> Vec<RelativePath> {
    match ws.compared_with(ws.head()) {
        Ok(compared) if ws.git().is_some() => compared.present.clone(),
        _ => ignores::walk(&ws.root),
    }
}

fn has_scopes(ws: &Workspace) -> bool {
    ws.root.governed() && !ws.registry.intents().is_empty()
}

/// Like [`findings`], for a caller that already has the list of the workspace's files.
pub fn findings_among(ws: &Workspace, files: &[RelativePath]) -> Vec<Finding> {
    let named = unknown_intents(ws, ws.journal.intents(), || &ws.journal);
    let of_journal = ws.journal.findings().iter().cloned();
    findings_besides(ws, files, of_journal.chain(named))
}

fn findings_besides(
    ws: &Workspace,
    files: &[RelativePath],
    of_records: impl IntoIterator<Item = Finding>,
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
    all.extend(of_records);
    if !matches!(ws.files(), Target::Commit(_)) {
        all.extend(ungated_findings(ws));
    }
    all
}

/// Returns a finding for each write that passed no gate, as long as the file is as that write left
/// it.
fn ungated_findings(ws: &Workspace) -> Vec<Finding> {
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

fn settled_by(ws: &Workspace, path: &RelativePath) -> String {
    let typed = path.for_shell();
    let mut help =
        format!("Review it. Restore it, or accept it as it is: `intent accept {typed}`.");
    let rules = Rules::from_workspace(ws);
    let may_change = |owner: &&Intent| rules.rulings(path, Some(&owner.id.value)).is_empty();
    let owner = rules.owners(path).into_iter().find(may_change);
    if let Some(owner) = owner.filter(|_| has_unrecorded_edits(ws, path)) {
        let id = &owner.id.value;
        help.push_str(&format!(" If {id} asked for it: `intent record {typed} --intent {id}`."));
    }
    help + " If the gate was not asked, `intent doctor` says why."
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
/// by a record. Evidence names one, so it is not read for this.
fn missing_registry(ws: &Workspace) -> Option<Finding> {
    if !ws.root.governed() || ws.registry.exists() {
        return None;
    }
    let is_lost = |id: &String| !is_placeholder(id) && ws.registry.get(id).is_none();
    let is_named = || {
        ws.selected(None).iter().chain(&ws.journal.intents()).any(is_lost)
            // Where intents are kept in other formats, records may name those.
            || (ws.registry.imported().is_empty() && has_evidence(ws))
    };
    match ws.lost_registry() {
        Some(reason) => Some(no_registry(format!("{reason}."))),
        None if is_named() => Some(no_registry(
            "Records name intents that nothing describes; `intent new \"NAME\" --id ID` writes each of them down again, under the id that the records name."
                .to_owned(),
        )),
        None => None,
    }
}

pub fn no_registry(help: String) -> Finding {
    let message = "There is no registry, so nothing is known of any intent.".to_owned();
    Finding::new(Code::RegistryMissing, message, help)
}

fn has_evidence(ws: &Workspace) -> bool {
    match (ws.files(), ws.git()) {
        (Target::WorkTree, _) | (_, None) => {
            ledger::read::files(&ws.root).iter().any(|file| is_evidence(&file.path))
        }
        (target, Some(git)) => git
            .list_below(EVIDENCE_FOLDER, target, &is_evidence)
            .is_ok_and(|files| !files.is_empty()),
    }
}

/// Reads all files of the ledger, and reports what is wrong in them, in the registry and in the
/// policy.
pub fn verify(ws: &Workspace) -> VerifyAnswer {
    answer_for_audit(ws, audit(&ws.root, ws.records_left_out(&is_ledger_path)))
}

pub fn verify_blocks(ws: &Workspace) -> VerifyAnswer {
    verify(ws).with_blocks(ws)
}

fn answer_for_audit(ws: &Workspace, audit: Audit) -> VerifyAnswer {
    let files = if has_scopes(ws) { ignores::walk(&ws.root) } else { Vec::new() };
    let unknown = unknown_intents(ws, audit.intents, || &ws.ledger);
    let findings = findings_besides(ws, &files, audit.findings.into_iter().chain(unknown));
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
    pub fn with_blocks(mut self, ws: &Workspace) -> Self {
        let (blocks, unknown) = blocks(ws);
        self.notes.extend(unknown.notes());
        self.lacks_history = unknown.lacks_history();
        Self { blocks: Some(blocks), ..self }
    }
}

/// Like [`verify`], and also checks the signatures of anchors and tombstones.
pub fn verify_signed(
    ws: &Workspace,
    signatures: &dyn Signatures,
) -> Result<VerifyAnswer, VerbError> {
    let audit = audit(&ws.root, ws.records_left_out(&is_ledger_path));
    let (anchors, mut findings) = anchor::verify(ws, &audit.sections, signatures)?;
    let erased = erase::judge(ws, &Vec::from_iter(&audit.erased), &[], signatures, None)?;
    findings.extend(erased.findings);
    let mut answer = answer_for_audit(ws, audit);
    answer.findings.extend(why::findings::answers(ws, findings));
    answer.findings.sort();
    answer.notes.extend(erased.notes);
    Ok(VerifyAnswer { anchors, ..answer })
}

/// Counts the blocks of all files with recorded lines. Files that no record names are among them:
/// recorded lines may have been moved there.
fn blocks(ws: &Workspace) -> (VerdictCounts, UnknownLines) {
    let mut counts = VerdictCounts::default();
    let of_file = |_: &RelativePath, file: &FileProvenance| {
        let mut counts = VerdictCounts::default();
        if file.lines.lines.iter().any(|line| line.claim.is_some()) {
            file.provenance.iter().for_each(|found| counts.count(found));
        }
        counts
    };
    let unknown = of_all_files(ws, answers::standing, of_file, |found| counts.add_counts(found));
    (counts, unknown)
}

/// The files of which nobody can tell who brought some of the lines.
#[derive(Clone, Debug, Default)]
pub struct UnknownLines {
    without_history: Vec<RelativePath>,
    hint: &'static str,
    /// Those that a program converts for git.
    converted: Vec<RelativePath>,
    /// Says that there is evidence in a newer format than this program can read, if there is.
    pub unread_evidence: Option<String>,
}

impl UnknownLines {
    /// Says which lines count as if nobody had recorded them, each note a sentence.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let converted = named_files(&self.converted).map(|files| {
            format!(
                "Not counted as recorded: nobody can tell who brought the lines of {files}: a program converts such a file for git."
            )
        });
        self.unread_evidence.clone().into_iter().chain(self.history_note()).chain(converted)
    }

    pub fn history_note(&self) -> Option<String> {
        let error = self.error("Not counted as recorded").err()?;
        Some(format!("{}.", error.with_hint()))
    }

    pub fn lacks_history(&self) -> bool {
        !self.without_history.is_empty()
    }

    /// Fails if this clone lacks history. `outcome` says what that leads to.
    pub fn error(&self, outcome: &str) -> Result<(), VerbError> {
        let Some(files) = named_files(&self.without_history) else { return Ok(()) };
        let message = format!(
            "{outcome}: nobody can tell who brought some lines of {files}: commits are missing here"
        );
        Err(VerbError::HistoryMissing { message, hint: self.hint })
    }
}

fn named_files(files: &[RelativePath]) -> Option<String> {
    let (first, more) = files.split_first()?;
    Some(match more.len() {
        0 => first.to_string(),
        more => format!("{first} and {}", text::counted(more, "more file")),
    })
}

/// Asks `find` about all files, except those in `.orchestration`. For each that can be read, `each`
/// makes what the caller needs, on several threads. `take` gets it, in the order of the files. Reads no
/// more files once the workspace is stopped. Returns the files of which the answer is not complete.
pub fn of_all_files<R: Send>(
    ws: &Workspace,
    find: impl Fn(&Workspace, &RelativePath) -> Option<FileProvenance> + Sync,
    each: impl Fn(&RelativePath, &FileProvenance) -> R + Sync,
    mut take: impl FnMut(R),
) -> UnknownLines {
    let mut files = match ws.files() {
        Target::WorkTree => ignores::walk(&ws.root),
        Target::Index | Target::Commit(_) => ws.tracked().unwrap_or_default(),
    };
    files.retain(|path| !path.is_orchestration());
    ws.progress().expect_files(files.len());
    let hint = ws.how_to_get_history();
    let mut unknown = UnknownLines { hint, ..UnknownLines::default() };
    for paths in files.chunks(AT_ONCE) {
        let of_file = |path: &RelativePath| {
            let standing = (!ws.is_stopped()).then(|| find(ws, path))?;
            ws.progress().count_file();
            let file = standing?;
            let found = each(path, &file);
            Some((found, file.lacks_history(), file.is_converted, file.unread_evidence()))
        };
        for (path, found) in paths.iter().zip(in_parallel(paths, of_file)) {
            let Some((found, lacks_history, is_converted, unread)) = found else { continue };
            unknown.without_history.extend(lacks_history.then(|| path.clone()));
            unknown.converted.extend(is_converted.then(|| path.clone()));
            unknown.unread_evidence = unknown.unread_evidence.max(unread);
            take(found);
        }
    }
    ws.forget_read_evidence();
    unknown
}

impl VerdictCounts {
    fn add_counts(&mut self, mut other: Self) {
        self.slots().into_iter().zip(other.slots()).for_each(|(count, more)| *count += *more);
    }

    fn slots(&mut self) -> [&mut usize; 8] {
        let Self { exact, reformatted, moved, renamed, inside, modified, ambiguous, unrecorded } =
            self;
        [exact, reformatted, moved, renamed, inside, modified, ambiguous, unrecorded]
    }

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
