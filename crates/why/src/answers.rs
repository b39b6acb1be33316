//! `intent why`: which intent produced each block of a file, and is the block still what was
//! recorded?
//!
//! - `asked` tells who asked for the intent.
//! - `author` names the writer and the commit.
//! - `lines` compares the single lines of a block with its record.
//! - `origin` tells what is known of lines without a record.

mod asked;
mod author;
mod lines;
mod origin;

use std::collections::HashSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::file_lines::provenance_of_file;
use super::provenance_of_blocks::{AskedOfBlocks, Provenance};
use super::suspect::Suspicion;
use super::{ReadError, Workspace, namesake, suspect};
use code::{Block, ContentHash, Document, LineRange};
use ground::git::{ObjectId, Target};
use ground::{CommitId, Hint, RelativePath, text};
use ledger::{
    BlockName, BlockRecord, Claim, Contributor, Entry, Record, RecordKind, Strength, Trust,
    evidence,
};
use provenance::Verdict;

pub use super::commit_brief::brief as commit_brief;
pub use super::commit_words::{CommitBrief, NamedAgent};
pub use super::file_lines::FileProvenance;
pub use super::known_commits::KnownBy;
pub use asked::AskedFor;
pub use author::{BroughtLines, accepted_by, agent, author_name, who_in_full};
pub use lines::{BlockLines, ClaimShare, LineAnswer, LineState, NewerLines, line_answer, span};
pub use origin::OriginAnswer;

/// The answer for a whole file, or for one place in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhyAnswer {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The commit from which the file was read. Absent for a file of the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Who brought the requested line. Absent unless a single line is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<LineAnswer>,
    /// The blocks, in the order in which they start.
    pub blocks: Vec<BlockAnswer>,
    /// The reason why there are no blocks, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Remarks on what the answer lacks, or what to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Everything that is known about one block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockAnswer {
    /// The kind of the block: `function`, `method`, …
    pub kind: String,
    /// The last segment of its name.
    pub name: String,
    /// The name with containers, for example `AuthMiddleware.verify`.
    pub qualified_name: String,
    /// The first line of its lead, counted from 1.
    pub start_line: u32,
    /// The first line of the definition itself, without decorators, attributes, doc comment and
    /// `export`.
    pub node_start_line: u32,
    /// The last line of the block, counted from 1.
    pub end_line: u32,
    /// The hash of its text now. A record that has the same hash is about exactly this text.
    pub content_hash: ContentHash,
    /// How the block compares with its record, in one word.
    pub verdict: Verdict,
    /// Whether the block differs from its record only in inner blocks. They have verdicts of their
    /// own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_inside: bool,
    /// The record by which a person accepted the block as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptanceBrief>,
    /// Who brought how many of its lines, most lines first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<ShareAnswer>,
    /// How many of its lines are newer than the record and have none.
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub newer: usize,
    /// Who brought the newer lines, most lines first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub newer_by: Vec<NewerLines>,
    /// Whether lines were removed since the record, and none is newer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Whether this clone lacks history that says who brought some of its lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub history_missing: bool,
    /// Which lines are whose. Absent if lines were not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<BlockLines>,
    /// The intent under which the block was written, by its record.
    pub intent: Option<IntentBrief>,
    /// The hash of the intent's text when the block was written, as the record has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_hash: Option<String>,
    /// What is known of its lines without a record, if no record names the intent of the block: of
    /// the commit that brought most of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginAnswer>,
    /// What other tools claim about its lines without a record, most lines first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimShare>,
    /// Who asked for the intent, that of the record or of the commit, for which requirements, and under
    /// which constraints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedFor>,
    /// The author of the block, according to the record.
    pub contributor: Option<Contributor>,
    /// When it was recorded, as RFC 3339 in UTC.
    pub timestamp: Option<String>,
    /// The id of the record.
    pub record: Option<String>,
    /// The tool that made the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The session that wrote the code, as `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How many of the block's lines that say something were brought under the intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brought: Option<BroughtLines>,
    /// The commit that brought the lines of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitBrief>,
    /// Whether the record is in no commit yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// Set if the intent, or a specification that it serves, has changed since, so that the reason
    /// for the block may have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<Suspicion>,
    /// How strong the evidence is, as the record itself states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Whether only the writer of the record vouches for it, because it was not written in this
    /// clone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
    /// The records that brought lines of the block, newest first.
    pub lineage: Vec<RecordBrief>,
    /// If two intents brought half of the lines each, a record of either.
    pub candidates: Vec<RecordBrief>,
    /// The file, the name and the lines under which the block was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedBlock>,
}

fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

impl BlockAnswer {
    pub fn ambiguity(&self) -> String {
        let ids = self.candidates.iter().filter_map(|one| one.intent.as_deref());
        format!("{} brought half of the lines each", text::joined_words(ids))
    }
}

/// How many lines of a block one intent, or one commit without a record, brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShareAnswer {
    /// How many lines that say something.
    pub lines: usize,
    /// The intent. `None` if no record is about the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The commit of lines without a record. `None` if they are not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitBrief>,
    /// Whether the lines are in no commit yet, and no record is about them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// Whether this clone lacks history that says who brought the lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub history_missing: bool,
    /// Whether a program converts the file for git, so that nobody can tell who brought the lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub converted: bool,
    /// Whether somebody recorded the lines, under an intent or under none.
    #[serde(skip)]
    is_recorded: bool,
}

impl ShareAnswer {
    /// Returns the intent of the lines, or says why no intent and no commit is named. `None` if a commit
    /// is named and no intent.
    pub fn owner(&self) -> Option<&str> {
        match (&self.intent, &self.commit) {
            (Some(intent), _) => Some(intent),
            (None, Some(_)) => None,
            (None, None) if self.history_missing => LineState::HistoryMissing.unknown(),
            (None, None) if self.converted => LineState::Converted.unknown(),
            (None, None) if self.uncommitted => Some("not committed"),
            (None, None) => Some("no intent"),
        }
    }
}

/// A block as it was when it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordedBlock {
    /// The file that contained the block.
    pub path: RelativePath,
    /// The kind of the block: `function`, `method`, …
    pub kind: String,
    /// The name with its containers.
    pub name: String,
    /// The first line at that time, counted from 1.
    pub start_line: u32,
    /// The last line at that time, counted from 1.
    pub end_line: u32,
    /// The hash of its text at that time.
    pub content_hash: ContentHash,
}

/// A person's decision that a block is right as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AcceptanceBrief {
    /// Who accepted it, as the record says it.
    pub contributor: Contributor,
    /// When, as RFC 3339 in UTC.
    pub timestamp: String,
    /// The id of the record of this decision.
    pub record: String,
}

/// A short description of an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct IntentBrief {
    /// The id of the intent, for example `INT-001`.
    pub id: String,
    /// The name of the intent. If the intent has changed since a block was recorded, this is the
    /// name that the evidence gives. `None` if no name is known.
    pub name: Option<String>,
    /// The status. `None` if the registry does not have the intent, or its status is unknown.
    pub status: Option<String>,
    /// `registry`, or the format in which it is kept: `openspec`. `None` if nobody knows the intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Which text of the intent a record is about, if it is not the present one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<IntentVersion>,
    /// The name that the intent with this id has now, if it is a different one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now_called: Option<String>,
}

/// Which text of an intent a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntentVersion {
    /// An earlier text of the intent, which was changed since.
    Earlier,
    /// A text that is not known here.
    Unknown,
    /// The registry does not contain the intent.
    Gone,
    /// Several intents in the registry have the id.
    Shared,
    /// The text of another intent: the id belongs to a different intent now.
    Other,
    /// Not known, because the registry cannot be read.
    Unread,
}

impl IntentBrief {
    /// Returns the id. If the id belongs to another intent now, the name is added: `INT-001 (Sign
    /// in)`.
    pub fn label(&self) -> String {
        match (self.version, &self.name) {
            (Some(IntentVersion::Other), Some(name)) => namesake::label(&self.id, name),
            _ => self.id.clone(),
        }
    }
}

/// A short form of one record of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordBrief {
    /// The id of the record.
    pub record: String,
    /// `mutation` for a change, or `ack` if a person accepted the block as it was.
    pub kind: RecordKind,
    /// The intent that the record names, if any.
    pub intent: Option<String>,
    /// The hash of the intent's text at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_hash: Option<String>,
    /// Who wrote the code, according to the record.
    pub contributor: Contributor,
    /// The time, as written in the record.
    pub timestamp: String,
    /// The commit that brought the lines. `None` if they are not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The tool that made the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The session that wrote the code, as `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How strong the evidence is, as the record itself states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// How many lines the change brought, in all files of the record.
    pub lines_brought: usize,
    /// Reassignments by a person that put the block under another intent since, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reassigned: Vec<ReassignmentBrief>,
}

/// A person's decision that a recorded block belongs to another intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReassignmentBrief {
    /// The intent that the block was under before.
    pub from: String,
    /// The intent that the block is under since then.
    pub to: String,
    /// The person who decided, as named by git. `None` if git has no name.
    pub by: Option<String>,
    /// The time of the decision, as RFC 3339 in UTC.
    pub timestamp: String,
    /// The id of the record of this decision.
    pub record: String,
}

impl ReassignmentBrief {
    /// Returns `INT-001 before Ada reassigned it`. The caller adds the time, and escapes the text
    /// for its place.
    pub fn as_words(&self) -> String {
        let by = self.by.as_deref().unwrap_or("a person");
        format!("{} before {by} reassigned it", self.from)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All blocks, without their lines. Every other answer has the lines.
    All,
    AllInFull,
    Line(u32),
    Lines(LineRange),
    Block(usize),
}

pub fn file(ws: &Workspace, path: &RelativePath, document: &Document) -> FileProvenance {
    provenance_of_file(ws, path, document, AskedOfBlocks::Verdicts)
}

/// Like [`file()`], but finds only what these commits and the work that is in no commit brought. So it
/// costs as much as they do, however long the history is.
pub fn file_within(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    commits: &HashSet<ObjectId>,
) -> FileProvenance {
    provenance_of_file(ws, path, document, AskedOfBlocks::VerdictsWithin(commits))
}

/// Like `file`, for a file in its present state. `None` if it is gone or cannot be read.
pub fn standing(ws: &Workspace, path: &RelativePath) -> Option<FileProvenance> {
    let document = ws.read(path).ok()?;
    Some(file(ws, path, &document))
}

/// Like [`standing`], but finds only who brought the lines of each block: no verdict, and nothing of
/// what happened since, so the texts that verdicts compare are not parsed.
pub fn standing_owners(ws: &Workspace, path: &RelativePath) -> Option<FileProvenance> {
    let document = ws.read(path).ok()?;
    Some(provenance_of_file(ws, path, &document, AskedOfBlocks::Owners))
}

pub fn answer(
    ws: &Workspace,
    path: &RelativePath,
    file: &FileProvenance,
    which: Which,
) -> WhyAnswer {
    let (mut blocks, mut advice) = (Vec::new(), Vec::new());
    let mut tools = lines::OtherTools::new(ws);
    for at in chosen(file, which) {
        let found = &file.provenance[at];
        let suspect = suspect::suspicion_about(ws, found);
        blocks.push(BlockAnswer { suspect, ..block(ws, file, at, &mut tools) });
        let said = found.claim.as_ref().and_then(|claim| misplaced(ws, path, claim));
        let new = said.filter(|said| !advice.contains(said));
        advice.extend(new);
    }
    let gap =
        file.error.clone().or_else(|| file.lacks_history().then(|| ws.missing_history_note()));
    let unread = [gap, file.unread_evidence(), ws.unread_registry()];
    let notes = unread.into_iter().flatten().chain(advice).collect();
    let line = match which {
        Which::Line(line) => lines::line_answer_with(&mut tools, file, line),
        _ => None,
    };
    WhyAnswer { path: path.clone(), revision: revision(ws), line, blocks, note: None, notes }
}

fn revision(ws: &Workspace) -> Option<String> {
    match ws.files() {
        Target::Commit(commit) => Some(commit.0.clone()),
        Target::WorkTree | Target::Index => None,
    }
}

/// Returns what to do about a block whose record is about an earlier intent with the same id.
/// `None` for any other block.
pub fn misplaced(ws: &Workspace, path: &RelativePath, claim: &Claim) -> Option<String> {
    let (id, name) = (claim.intent()?, ws.namesake_of(claim)?);
    let present = ws.registry.get(id)?;
    if ws.renumbered(id, &name).is_some() {
        return None;
    }
    let (to, why) = match ws.twin(&claim.entry.record) {
        Some(to) => (to, format!("{to} has the text that the record is about")),
        None => ("ID", "ID is the intent that it belongs to".to_owned()),
    };
    let called = &present.name.value;
    let (path, [from, to]) = (path.for_shell(), [id, to].map(text::shell_word));
    Some(format!(
        "{id} was {name:?} when this was recorded, and {called:?} is another intent. Put it right with `intent evidence reassign {path} --from {from} --to {to}`; {why}."
    ))
}

fn complete(ws: &Workspace, file: &FileProvenance, which: Which, answer: &mut WhyAnswer) {
    for (answer, at) in answer.blocks.iter_mut().zip(chosen(file, which)) {
        answer.suspect = answer.suspect.take().map(|suspect| suspect.with_commit(ws));
        answer.lines = Some(lines::of_block(ws, file, at));
    }
}

fn chosen(file: &FileProvenance, which: Which) -> Vec<usize> {
    let all = 0..file.blocks.blocks.len();
    match which {
        Which::All | Which::AllInFull => all.collect(),
        Which::Line(line) => file.blocks.at_line(line).into_iter().collect(),
        Which::Lines(lines) => {
            let named = lines.start()..=lines.end();
            ledger::sorted(named.filter_map(|line| file.blocks.at_line(line)))
        }
        Which::Block(index) => all.filter(|at| *at == index).collect(),
    }
}

pub fn answer_for_text(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    which: Which,
) -> Result<WhyAnswer, ReadError> {
    match which {
        Which::Line(line) => has_line(path, document, line)?,
        Which::Lines(lines) => has_line(path, document, lines.end())?,
        Which::All | Which::AllInFull | Which::Block(_) => {}
    }
    let file = file(ws, path, document);
    let mut answer = answer(ws, path, &file, which);
    if which != Which::All {
        complete(ws, &file, which, &mut answer);
    }
    answer.notes.extend(document.cut_short());
    Ok(answer)
}

/// Returns an error unless the file has a line. The empty line after the last line break counts,
/// since editors show it and the cursor can be there.
pub fn has_line(path: &RelativePath, document: &Document, line: u32) -> Result<(), ReadError> {
    if (1..=document.line_count()).contains(&line) {
        return Ok(());
    }
    let (path, lines) = (path.clone(), document.text().lines().count());
    Err(ReadError::NoLine { path, line, lines })
}

pub fn on_disk(ws: &Workspace, path: &RelativePath, which: Which) -> Result<WhyAnswer, ReadError> {
    let resolved = match ws.files() {
        Target::WorkTree => ws.root.resolve(path).ok(),
        Target::Index | Target::Commit(_) => None,
    };
    let path = &resolved.unwrap_or_else(|| path.clone());
    match ws.read(path) {
        Ok(document) => answer_for_text(ws, path, &document, which),
        Err(ReadError::Unread { reason, .. }) => Ok(WhyAnswer {
            path: path.clone(),
            revision: revision(ws),
            line: None,
            blocks: Vec::new(),
            note: Some(reason.with_hint()),
            notes: Vec::new(),
        }),
        Err(error) => Err(error),
    }
}

/// Returns the intent of a block. `None` if none brought at least half of its lines.
pub fn intent_of(ws: &Workspace, provenance: &Provenance) -> Option<String> {
    ws.intent_of(provenance.claim.as_ref()?)
}

/// Describes an intent by any id that it has or had, even if the registry does not contain it.
pub fn brief(ws: &Workspace, id: &str) -> IntentBrief {
    let Some(intent) = ws.registry.get(id) else {
        let unread = ws.unread_registry().map(|_| IntentVersion::Unread);
        let is_shared = ws.registry.renumbering(id).is_some();
        let version = if is_shared { IntentVersion::Shared } else { IntentVersion::Gone };
        let version = unread.or(Some(version));
        return IntentBrief { id: id.to_owned(), version, ..IntentBrief::default() };
    };
    IntentBrief {
        id: intent.id.value.clone(),
        name: Some(intent.name.value.clone()).filter(|name| !name.is_empty()),
        status: intent.status.as_ref().map(|status| status.value.as_str().to_owned()),
        source: source_of_intent(ws, id).map(str::to_owned),
        ..IntentBrief::default()
    }
}

/// Returns where an intent is kept: `registry`, or a format such as `openspec`.
pub fn source_of_intent(ws: &Workspace, id: &str) -> Option<&'static str> {
    let kept = ws.registry.imported_intent(id).map(|kept| kept.format.prefix());
    kept.or_else(|| ws.registry.get(id).map(|_| "registry"))
}

/// Describes the intent of a record as it was when the record was made. The id may belong to
/// another intent now, or the intent may have another name.
fn brief_then(ws: &Workspace, claim: &Claim) -> Option<IntentBrief> {
    let record = &claim.entry.record;
    let id = claim.intent()?;
    let now = brief(ws, id);
    // If the block was reassigned, the name and hash in the record are those of the former intent.
    if !claim.reassigned.is_empty() {
        return Some(now);
    }
    let cited = evidence::cited_name(record).map(str::to_owned);
    let Some(intent) = ws.registry.get(id) else {
        return Some(IntentBrief { name: cited.or(now.name), ..now });
    };
    let now_called =
        |then: &Option<String>| now.name.clone().filter(|name| Some(name) != then.as_ref());
    if let Some(name) = ws.namesake(&claim.entry, claim.commit.as_deref()) {
        if let Some(intent) = ws.renumbered(id, &name) {
            return Some(brief(ws, &intent.id.value));
        }
        let (id, then) = (id.to_owned(), Some(name));
        let now_called = now_called(&then);
        let version = Some(IntentVersion::Other);
        return Some(IntentBrief { id, name: then, version, now_called, ..IntentBrief::default() });
    }
    let Some(hash) = record.intent_hash.as_ref().filter(|hash| !ws.reads_as(intent, hash)) else {
        return Some(now);
    };
    let is_earlier = is_known(ws, id, claim, hash);
    let version = if is_earlier { IntentVersion::Earlier } else { IntentVersion::Unknown };
    let then = cited.or_else(|| now.name.clone());
    let now_called = now_called(&then);
    Some(IntentBrief { name: then, version: Some(version), now_called, ..now })
}

/// Returns true if the intent once had the text with this hash, according to a `registry` record of
/// the journal, or to the registry of one of the commits at which the record may have been made.
fn is_known(ws: &Workspace, id: &str, claim: &Claim, hash: &str) -> bool {
    let ids = ws.registry.ids(id);
    let is_same = |record: &Record| {
        record.kind == RecordKind::Registry
            && record.intent_id.as_deref().is_some_and(|named| ids.contains(&named))
            && record.intent_hash.as_deref().is_some_and(|other| {
                evidence::short(other).is_some() && evidence::short(other) == evidence::short(hash)
            })
    };
    ws.journal.entries().iter().any(|entry| is_same(&entry.record))
        || ws.text_then(claim, id, hash).is_some()
}

fn block(
    ws: &Workspace,
    file: &FileProvenance,
    at: usize,
    tools: &mut lines::OtherTools<'_>,
) -> BlockAnswer {
    let (block, found) = (&file.blocks.blocks[at], &file.provenance[at]);
    let claim = found.claim.as_deref();
    let entry = claim.map(|claim| &claim.entry);
    let record = entry.map(|entry| &entry.record);
    let intent = claim.and_then(|claim| brief_then(ws, claim));
    let shares = shares(ws, file, found);
    let is_open = claim.is_none() && found.candidates.is_empty() && !found.is_missing;
    let origin = if is_open { origin_of_most(ws, file, &shares) } else { None };
    let claims = if is_open { lines::claims_about(tools, file, at) } else { Vec::new() };
    BlockAnswer {
        kind: block.identity.kind.as_str().to_owned(),
        name: block.name.clone(),
        qualified_name: block.identity.path.clone(),
        start_line: block.whole_lines.start(),
        node_start_line: block.lines.start(),
        end_line: block.lines.end(),
        content_hash: block.fingerprint.content.clone(),
        verdict: found.verdict,
        only_inside: found.only_inside,
        accepted: found.accepted.as_deref().map(acceptance),
        shares,
        newer: found.newer.len(),
        newer_by: lines::newer_by(ws, file, &found.newer),
        cut: found.is_cut,
        history_missing: found.is_missing,
        lines: None,
        asked: known_intent(&intent, &origin).and_then(|one| asked::asked_for(ws, one, claim)),
        intent,
        intent_hash: claim.and_then(intent_hash),
        origin,
        claims,
        contributor: claim.and_then(|claim| Some(claim.conversation()?.contributor.clone())),
        timestamp: record.map(|record| record.timestamp.clone()),
        record: record.map(|record| record.id.clone()),
        tool: record.and_then(|record| Some(record.tool.as_ref()?.name.clone())),
        session: record.and_then(|record| record.session.clone()),
        brought: found.brought().map(BroughtLines::from_counts),
        suspect: None,
        commit: claim.and_then(|claim| commit_brief(ws, &CommitId(claim.commit.clone()?))),
        uncommitted: claim.is_some_and(|claim| claim.commit.is_none()),
        strength: entry.and_then(|entry| ws.strength(entry)),
        claimed: entry.is_some_and(|entry| ws.trust(entry) == Trust::Claimed),
        lineage: records_of(ws, file, found),
        candidates: found.candidates.iter().map(|claim| record_brief(ws, claim)).collect(),
        recorded: claim.and_then(|claim| recorded(claim, block)),
    }
}

fn known_intent<'a>(
    recorded: &'a Option<IntentBrief>,
    origin: &'a Option<OriginAnswer>,
) -> Option<&'a IntentBrief> {
    recorded.as_ref().or_else(|| origin.as_ref()?.intent.as_ref())
}

fn origin_of_most(
    ws: &Workspace,
    file: &FileProvenance,
    shares: &[ShareAnswer],
) -> Option<OriginAnswer> {
    let commit = shares.iter().find_map(|share| share.commit.as_ref())?;
    origin::origin_of(ws, &CommitId(commit.id.clone()), file.lines.newer_format.is_some())
}

fn acceptance(entry: &Entry) -> AcceptanceBrief {
    let record = &entry.record;
    let conversations = record.files.iter().flat_map(|file| &file.conversations);
    AcceptanceBrief {
        contributor: conversations.map(|one| one.contributor.clone()).next().unwrap_or_default(),
        timestamp: record.timestamp.clone(),
        record: record.id.clone(),
    }
}

fn shares(ws: &Workspace, file: &FileProvenance, found: &Provenance) -> Vec<ShareAnswer> {
    let commit = |at: usize| {
        let version = file.lines.versions.get(at).filter(|version| !version.is_uncommitted())?;
        commit_brief(ws, &CommitId(version.commit.to_string()))
    };
    let is_uncommitted = |at: usize| file.lines.versions[at].is_uncommitted();
    let shares = found.shares.iter().map(|share| ShareAnswer {
        lines: share.lines,
        uncommitted: share.version.is_some_and(is_uncommitted),
        intent: share.claim.as_ref().and_then(|claim| ws.intent_of(claim)),
        history_missing: share.is_missing && !file.is_converted,
        is_recorded: share.claim.is_some(),
        converted: share.is_missing && file.is_converted,
        commit: share.version.and_then(commit),
    });
    shares.collect()
}

/// Returns the records that brought lines of a block, newest first.
fn records_of(ws: &Workspace, file: &FileProvenance, found: &Provenance) -> Vec<RecordBrief> {
    let claims = ledger::sorted(found.own.iter().filter_map(|(_, source)| source.claim));
    let mut records: Vec<RecordBrief> =
        claims.into_iter().map(|at| record_brief(ws, &file.lines.claims[at])).collect();
    records.sort_by(|a, b| b.timestamp.cmp(&a.timestamp));
    records
}

/// Returns the block as the record has it: the one with the same text or name, or else the only one.
/// `None` if nobody can tell which of several it was.
fn recorded(claim: &Claim, block: &Block) -> Option<RecordedBlock> {
    let ranges = claim.file()?.ranges().filter(|range| !range.deleted);
    let named = ranges.filter_map(|range| Some((range, range.block.as_ref()?)));
    let named = named.filter(|(_, name)| name.kind == block.identity.kind.as_str());
    let named: Vec<(&BlockRecord, &BlockName)> = named.collect();
    let likeness = |range: &BlockRecord, name: &BlockName| {
        (range.content_hash == block.fingerprint.content, name.path == block.identity.path)
    };
    let most = named.iter().map(|(range, name)| likeness(range, name)).max()?;
    let mut alike = named.iter().filter(|(range, name)| likeness(range, name) == most);
    let (range, name) = alike.next().filter(|_| alike.next().is_none())?;
    Some(RecordedBlock {
        path: claim.path.clone(),
        kind: name.kind.clone(),
        name: name.path.clone(),
        start_line: range.start_line,
        end_line: range.end_line,
        content_hash: range.content_hash.clone(),
    })
}

/// Returns the hash of the intent under which lines were written. `None` if a person put them under
/// another intent since.
fn intent_hash(claim: &Claim) -> Option<String> {
    claim.entry.record.intent_hash.clone().filter(|_| claim.reassigned.is_empty())
}

fn record_brief(ws: &Workspace, claim: &Arc<Claim>) -> RecordBrief {
    let record = &claim.entry.record;
    let contributor = claim.conversation().map(|one| one.contributor.clone());
    RecordBrief {
        record: record.id.clone(),
        kind: record.kind,
        intent: ws.intent_of(claim),
        intent_hash: intent_hash(claim),
        contributor: contributor.unwrap_or_default(),
        timestamp: record.timestamp.clone(),
        commit: claim.commit.clone(),
        tool: record.tool.as_ref().map(|tool| tool.name.clone()),
        session: record.session.clone(),
        strength: ws.strength(&claim.entry),
        lines_brought: record.line_count(),
        reassigned: claim.reassigned.iter().map(|one| reassignment(ws, one)).collect(),
    }
}

fn reassignment(ws: &Workspace, entry: &Entry) -> ReassignmentBrief {
    let record = &entry.record;
    let called = |id: &Option<String>| {
        id.as_deref().map(|id| ws.registry.present_id(id).to_owned()).unwrap_or_default()
    };
    let mut conversations = record.files.iter().flat_map(|file| &file.conversations);
    ReassignmentBrief {
        from: called(&record.takes),
        to: called(&record.intent_id),
        by: conversations.next().and_then(|one| one.contributor.name.clone()),
        timestamp: record.timestamp.clone(),
        record: record.id.clone(),
    }
}
