//! `intent why`: which intent produced each block of a file, and is the block still what was
//! recorded?
//!
//! - `asked` tells who asked for the intent.
//! - `author` names the writer and the commit.
//! - `lines` compares the single lines of a block with its record.

mod asked;
mod author;
mod lines;

use std::cell::LazyCell;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::suspect::Suspicion;
use super::{ReadError, Workspace, namesake, suspect};
use code::{Block, Document, FileBlocks, LineRange};
use ground::git::Target;
use ground::{Hint, RelativePath, text};
use ledger::{Claim, ClaimRef, Contributor, Record, RecordKind, Strength, Trust, evidence};
use provenance::matching::{Comparison, Likeness, Origins};
use provenance::{
    CodeOrigin, Content, Placement, Provenance, Rejection, Relation, Scores, Step, Tier, Verdict,
    lineage, matching,
};

pub use super::commit_brief::{CommitBrief, brief as commit_brief};
pub use asked::AskedFor;
pub(crate) use author::BroughtLines;
pub use author::{accepted_by, agent, author_name, who_in_full};
pub use lines::{BlockLines, LineState, span};

/// A file's blocks with the record that each comes from. The answers of all faces are made from it.
#[derive(Clone)]
pub struct FileProvenance {
    pub document: Document,
    pub blocks: Arc<FileBlocks>,
    /// One entry for each block, in the same order.
    pub provenance: Vec<Provenance>,
}

/// The answer for a whole file, or for one place in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhyAnswer {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The commit from which the file was read. Absent for a file of the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
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
    /// How the block compares with its record, in one word.
    pub verdict: Verdict,
    /// How its text compares with the record.
    pub content: Option<Content>,
    /// How its place compares with the record.
    pub place: Option<Placement>,
    /// For a modified block, the estimated share of the recorded text that is still there, from 0
    /// to 1.
    pub kept: Option<f32>,
    /// Whether the block differs from its record only in inner blocks. They have verdicts of their
    /// own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_inside: bool,
    /// Which of its lines are still as recorded. Absent if lines were not requested, or nothing is
    /// known about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<BlockLines>,
    /// The intent under which the block was written.
    pub intent: Option<IntentBrief>,
    /// Who asked for that intent, for which requirements, and under which constraints.
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
    /// How many of the block's lines the record wrote. Absent if lines were not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brought: Option<BroughtLines>,
    /// The commit that added the record.
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
    /// The history of the block, newest step first.
    pub lineage: Vec<LineageStep>,
    /// If the verdict is ambiguous, every record that fits.
    pub candidates: Vec<RecordBrief>,
    /// The kind of evidence by which the record was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The file, the name and the lines under which the block was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedBlock>,
    /// Recorded code inside this block that the block's own record is not about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<OriginAnswer>,
    /// A record that matches the block but is not named as its origin, and the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedAnswer>,
    /// The earlier blocks that it was compared with. Only filled if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<ComparedAnswer>,
}

impl BlockAnswer {
    /// Returns a phrase for a block that several records fit, or for several blocks that one record
    /// fits.
    pub fn ambiguity(&self) -> String {
        let fit = match self.candidates.len() {
            1 => "one record fits, and other blocks as well".to_owned(),
            several => format!("{several} records fit equally well"),
        };
        match self.intent {
            Some(_) => fit + "; the intent is certain, the block is not",
            None => fit,
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
}

/// Recorded code inside a block that the block's own record is not about.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OriginAnswer {
    /// How the code came into the block.
    pub relation: Relation,
    /// The common share of the smaller of the two texts, from 0 to 1.
    pub share: f32,
    /// The block that the code was recorded in.
    pub recorded: RecordedBlock,
    /// The record that the code comes from.
    pub record: RecordBrief,
}

/// A record that matches a block but is not named as its origin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RefusedAnswer {
    /// The reason why it is not named.
    pub why: Rejection,
    /// The block as the record has it.
    pub recorded: RecordedBlock,
    /// The record that was rejected.
    pub record: RecordBrief,
}

/// An earlier block with which a block was compared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedAnswer {
    /// The kind: `function`, `method`, …; `None` if only a hash of the block is known.
    pub kind: Option<String>,
    /// The name with containers, such as `Shop.open`. `None` if only a hash of the block is known.
    pub name: Option<String>,
    /// The record of the earlier block. `None` if it was never recorded.
    pub record: Option<RecordBrief>,
    /// The rule that accepted it as the origin. `None` if no rule did.
    pub rule: Option<String>,
    /// Why it was not accepted as the origin.
    pub refused: Option<Rejection>,
    /// How similar the two are. `None` if name, text and order are the same, so that nothing was
    /// measured.
    pub likeness: Option<Likeness>,
    /// The weighted sum that the similarity rule uses, and its parts.
    pub scores: Option<Scores>,
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

/// One step in the history of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum LineageStep {
    /// A record of the block.
    Record(Box<RecordBrief>),
    /// A stretch of history that was not recorded.
    Gap {
        /// The content hash of the block at that time.
        content_hash: String,
    },
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
    /// Who wrote the code, according to the record.
    pub contributor: Contributor,
    /// The time, as written in the record.
    pub timestamp: String,
    /// The content hash of the block at that time.
    pub content_hash: String,
    /// The name of the block at that time.
    pub name: Option<String>,
    /// The tool that made the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The session that wrote the code, as `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
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

/// The blocks of a file that are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    /// The innermost block at a line. Lines count from 1.
    Line(u32),
    /// The innermost block at each of these lines.
    Lines(LineRange),
    Block(usize),
}

/// Matches the blocks of a file with the records of the ledger.
pub fn file(ws: &Workspace, path: &RelativePath, document: &Document) -> FileProvenance {
    let provenance = matching::file(&ws.ledger, path, document, ws);
    FileProvenance { document: document.clone(), blocks: document.blocks(), provenance }
}

/// Like `file`, for a file in its present state. `None` if it is gone or cannot be read.
pub fn standing(ws: &Workspace, path: &RelativePath) -> Option<FileProvenance> {
    let document = ws.standing(path).ok()?;
    Some(file(ws, path, &document))
}

/// Builds the answer for people and programs, without the lines and origins of each block, which
/// are expensive to compute.
pub fn answer(
    ws: &Workspace,
    path: &RelativePath,
    file: &FileProvenance,
    which: Which,
) -> WhyAnswer {
    let (mut blocks, mut advice) = (Vec::new(), Vec::new());
    for at in chosen(file, which) {
        let found = &file.provenance[at];
        let suspect = suspect::suspicion_about(ws, found);
        blocks.push(BlockAnswer { suspect, ..block(ws, &file.blocks.blocks[at], found) });
        let said = found.claim.and_then(|claim| misplaced(ws, path, claim));
        let is_new = |said: &String| !advice.contains(said);
        let new = said.filter(is_new);
        advice.extend(new);
    }
    let unread = ws.unread_evidence().into_iter().chain(ws.unread_registry());
    let notes = unread.chain(advice).collect();
    WhyAnswer { path: path.clone(), revision: revision(ws), blocks, note: None, notes }
}

fn revision(ws: &Workspace) -> Option<String> {
    match ws.files() {
        Target::Commit(commit) => Some(commit.0.clone()),
        Target::WorkTree | Target::Index => None,
    }
}

/// Returns what to do about a block whose record is about an earlier intent with the same id.
/// `None` for any other block.
pub fn misplaced(ws: &Workspace, path: &RelativePath, claim: ClaimRef) -> Option<String> {
    let claim = ws.ledger.claim(claim);
    let (id, name) = (claim.intent()?, ws.namesake_of(&claim)?);
    let present = ws.registry.get(id)?;
    let (to, why) = match ws.twin(&claim.entry.record) {
        Some(to) => (to, format!("{to} has the text that the record is about")),
        None => ("ID", "ID is the intent that it belongs to".to_owned()),
    };
    let called = &present.name.value;
    let [path, from, to] = [path.as_str(), id, to].map(text::shell_word);
    Some(format!(
        "{id} was {name:?} when this was recorded, and {called:?} is another intent. Put it right with `intent reassign {path} --from {from} --to {to}`; {why}."
    ))
}

/// Like [`answer`], with the lines and the origins of each block.
pub fn answer_in_full(
    ws: &Workspace,
    path: &RelativePath,
    file: &FileProvenance,
    which: Which,
) -> WhyAnswer {
    let mut answer = answer(ws, path, file, which);
    let origins =
        LazyCell::new(|| Origins::new(&ws.ledger, path, &file.blocks, &file.provenance, ws));
    for (answer, at) in answer.blocks.iter_mut().zip(chosen(file, which)) {
        let (block, found) = (&file.blocks.blocks[at], &file.provenance[at]);
        answer.suspect = answer.suspect.take().map(|suspect| suspect.with_commit(ws));
        answer.lines = lines::of_block(ws, file, at);
        answer.brought = answer.brought();
        if Origins::may_tell_of(block, found) {
            let origins = origins.origins_of(block, found);
            answer.origins = origins.iter().filter_map(|one| origin(ws, one)).collect();
        }
    }
    answer
}

fn chosen(file: &FileProvenance, which: Which) -> Vec<usize> {
    let all = 0..file.blocks.blocks.len();
    match which {
        Which::All => all.collect(),
        Which::Line(line) => file.blocks.at_line(line).into_iter().collect(),
        Which::Lines(lines) => {
            let named = lines.start()..=lines.end();
            let mut found: Vec<usize> =
                named.filter_map(|line| file.blocks.at_line(line)).collect();
            found.sort_unstable();
            found.dedup();
            found
        }
        Which::Block(index) => all.filter(|at| *at == index).collect(),
    }
}

/// Builds the answer for some blocks of a file.
type Answering = fn(&Workspace, &RelativePath, &FileProvenance, Which) -> WhyAnswer;

/// Like [`answer_in_full`], with the earlier blocks that each block was compared with.
fn answer_explained(
    ws: &Workspace,
    path: &RelativePath,
    file: &FileProvenance,
    which: Which,
) -> WhyAnswer {
    let mut answer = answer_in_full(ws, path, file, which);
    let mut comparisons = matching::comparisons(&ws.ledger, path, &file.document, ws);
    for (block, at) in answer.blocks.iter_mut().zip(chosen(file, which)) {
        let all = std::mem::take(&mut comparisons[at]);
        block.compared = all.into_iter().map(|one| compared(ws, one)).collect();
    }
    answer
}

/// Answers for a file of the workspace. The answer is in full if only some blocks are requested.
pub fn on_disk(ws: &Workspace, path: &RelativePath, which: Which) -> Result<WhyAnswer, ReadError> {
    on_disk_by(ws, path, which, by_extent(which))
}

/// Like [`on_disk`], but always in full.
pub fn on_disk_in_full(
    ws: &Workspace,
    path: &RelativePath,
    which: Which,
) -> Result<WhyAnswer, ReadError> {
    on_disk_by(ws, path, which, answer_in_full)
}

/// Like [`on_disk_in_full`], with the earlier blocks that each block was compared with.
pub fn on_disk_explained(
    ws: &Workspace,
    path: &RelativePath,
    which: Which,
) -> Result<WhyAnswer, ReadError> {
    on_disk_by(ws, path, which, answer_explained)
}

/// Answers for a text that the caller has. The answer is in full if only some blocks are requested.
pub fn answer_for_text(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    which: Which,
) -> Result<WhyAnswer, ReadError> {
    answer_by(ws, path, document, which, by_extent(which))
}

fn by_extent(which: Which) -> Answering {
    if which == Which::All { answer } else { answer_in_full }
}

fn answer_by(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    which: Which,
    answering: Answering,
) -> Result<WhyAnswer, ReadError> {
    has_lines(path, document, which)?;
    let mut answer = answering(ws, path, &file(ws, path, document), which);
    answer.notes.extend(document.cut_short());
    Ok(answer)
}

/// Returns an error unless the file has the requested lines. The empty line after the last line
/// break counts, since editors show it and the cursor can be there.
fn has_lines(path: &RelativePath, document: &Document, which: Which) -> Result<(), ReadError> {
    match which {
        Which::Line(line) => has_line(path, document, line),
        Which::Lines(lines) => has_line(path, document, lines.end()),
        Which::All | Which::Block(_) => Ok(()),
    }
}

pub fn has_line(path: &RelativePath, document: &Document, line: u32) -> Result<(), ReadError> {
    if (1..=document.line_count()).contains(&line) {
        return Ok(());
    }
    let (path, lines) = (path.clone(), document.text().lines().count());
    Err(ReadError::NoLine { path, line, lines })
}

fn on_disk_by(
    ws: &Workspace,
    path: &RelativePath,
    which: Which,
    answering: Answering,
) -> Result<WhyAnswer, ReadError> {
    let resolved = match ws.files() {
        Target::WorkTree => ws.root.resolve(path).ok(),
        Target::Index | Target::Commit(_) => None,
    };
    let path = &resolved.unwrap_or_else(|| path.clone());
    match ws.read_outlined(path) {
        Ok(document) => answer_by(ws, path, &document, which, answering),
        Err(ReadError::Unread { reason, .. }) => Ok(WhyAnswer {
            path: path.clone(),
            revision: revision(ws),
            blocks: Vec::new(),
            note: Some(reason.with_hint()),
            notes: Vec::new(),
        }),
        Err(error) => Err(error),
    }
}

/// Returns the intent of a block: that of its claim, or the one that all candidates share.
pub fn intent_of(ws: &Workspace, provenance: &Provenance) -> Option<String> {
    let id = |at: ClaimRef| ws.intent_of(&ws.ledger.claim(at));
    if let Some(claim) = provenance.claim {
        return id(claim);
    }
    let mut ids = provenance.candidates.iter().map(|at| id(*at));
    let first = ids.next()??;
    ids.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// Describes an intent by any id that it has or had, even if the registry does not contain it.
pub fn brief(ws: &Workspace, id: &str) -> IntentBrief {
    let Some(intent) = ws.registry.get(id) else {
        let mut entries = ws.ledger.entries_of_intent(id).into_iter().rev();
        let name = entries.find_map(|at| evidence::cited_name(&ws.ledger.entry(at).record));
        let version = match ws.unread_registry() {
            Some(_) => Some(IntentVersion::Unread),
            None => Some(IntentVersion::Gone),
        };
        let (id, name) = (id.to_owned(), name.map(str::to_owned));
        return IntentBrief { id, name, version, ..IntentBrief::default() };
    };
    IntentBrief {
        id: intent.id.value.clone(),
        name: Some(intent.name.value.clone()).filter(|name| !name.is_empty()),
        status: intent.status.as_ref().map(|status| status.value.as_str().to_owned()),
        ..IntentBrief::default()
    }
}

/// Describes the intent of a record as it was when the record was made. The id may belong to
/// another intent now, or the intent may have another name.
fn brief_then(ws: &Workspace, at: ClaimRef) -> Option<IntentBrief> {
    let claim = ws.ledger.claim(at);
    let record = &claim.entry.record;
    let id = claim.intent()?;
    let now = brief(ws, id);
    // If the block was reassigned, the name and hash in the record are those of the former intent.
    if !claim.reassigned().is_empty() {
        return Some(now);
    }
    let cited = evidence::cited_name(record).map(str::to_owned);
    let Some(intent) = ws.registry.get(id) else {
        return Some(IntentBrief { name: cited.or(now.name), ..now });
    };
    let now_called =
        |then: &Option<String>| now.name.clone().filter(|name| Some(name) != then.as_ref());
    if let Some(name) = ws.namesake(claim.entry) {
        let (id, then) = (id.to_owned(), Some(name));
        let now_called = now_called(&then);
        let version = Some(IntentVersion::Other);
        return Some(IntentBrief { id, name: then, status: None, version, now_called });
    }
    let Some(hash) = record.intent_hash.as_ref().filter(|hash| !intent.reads_as(hash)) else {
        return Some(now);
    };
    let is_earlier = is_known(ws, id, at, hash);
    let version = if is_earlier { IntentVersion::Earlier } else { IntentVersion::Unknown };
    let then = cited.or_else(|| now.name.clone());
    let now_called = now_called(&then);
    Some(IntentBrief { name: then, version: Some(version), now_called, ..now })
}

/// Returns true if the intent once had the text with this hash, according to a `registry` record,
/// or to the registry of one of the commits at which the record may have been made.
fn is_known(ws: &Workspace, id: &str, at: ClaimRef, hash: &str) -> bool {
    let ids = ws.registry.ids(id);
    let is_same = |record: &Record| {
        record.intent_id.as_deref().is_some_and(|named| ids.contains(&named))
            && record.intent_hash.as_deref().is_some_and(|other| {
                evidence::short(other).is_some() && evidence::short(other) == evidence::short(hash)
            })
    };
    let mut recorded = ws.ledger.of_registry().map(|entry| &entry.record);
    recorded.any(is_same) || ws.text_then(at, id, hash).is_some()
}

fn block(ws: &Workspace, block: &Block, found: &Provenance) -> BlockAnswer {
    let claim = found.claim.map(|at| ws.ledger.claim(at));
    let record = claim.map(|claim| &claim.entry.record);
    let intent = match found.claim {
        Some(at) => brief_then(ws, at),
        None => intent_of(ws, found).map(|id| brief(ws, &id)),
    };
    BlockAnswer {
        kind: block.identity.kind.as_str().to_owned(),
        name: block.name.clone(),
        qualified_name: block.identity.path.clone(),
        start_line: block.whole_lines.start(),
        node_start_line: block.lines.start(),
        end_line: block.lines.end(),
        verdict: found.verdict,
        content: found.content,
        place: found.place,
        kept: found.kept,
        only_inside: found.only_inside,
        lines: None,
        asked: intent.as_ref().and_then(|intent| asked::asked_for(ws, intent, claim.as_ref())),
        intent,
        contributor: claim.map(|claim| claim.conversation.contributor.clone()),
        timestamp: record.map(|record| record.timestamp.clone()),
        record: record.map(|record| record.id.clone()),
        tool: record.and_then(|record| Some(record.tool.as_ref()?.name.clone())),
        session: record.and_then(|record| record.session.clone()),
        brought: None,
        suspect: None,
        commit: found.claim.and_then(|at| author::commit(ws, at)),
        uncommitted: found.claim.is_some_and(|at| author::is_uncommitted(ws, at)),
        strength: claim.and_then(|claim| ws.ledger.strength(claim.entry)),
        claimed: claim.is_some_and(|claim| ws.ledger.trust(claim.entry) == Trust::Claimed),
        lineage: found.claim.map(|at| steps(ws, at)).unwrap_or_default(),
        candidates: found.candidates.iter().map(|at| candidate(ws, *at)).collect(),
        tier: found.tier,
        recorded: claim.as_ref().and_then(recorded),
        origins: Vec::new(),
        refused: refused(ws, found),
        compared: Vec::new(),
    }
}

fn recorded(claim: &Claim<'_>) -> Option<RecordedBlock> {
    let block = claim.full_block();
    let name = block.block.as_ref()?;
    Some(RecordedBlock {
        path: claim.file.relative_path.clone(),
        kind: name.kind.clone(),
        name: name.path.clone(),
        start_line: block.start_line,
        end_line: block.end_line,
    })
}

fn origin(ws: &Workspace, origin: &CodeOrigin) -> Option<OriginAnswer> {
    let claim = ws.ledger.claim(origin.claim);
    Some(OriginAnswer {
        relation: origin.relation,
        share: origin.share,
        recorded: recorded(&claim)?,
        record: candidate(ws, origin.claim),
    })
}

fn refused(ws: &Workspace, found: &Provenance) -> Option<RefusedAnswer> {
    let refused = found.refused?;
    let recorded = recorded(&ws.ledger.claim(refused.claim))?;
    Some(RefusedAnswer { why: refused.why, recorded, record: candidate(ws, refused.claim) })
}

fn compared(ws: &Workspace, comparison: Comparison) -> ComparedAnswer {
    let (kind, name) = comparison.name.unzip();
    ComparedAnswer {
        kind,
        name,
        record: comparison.claim.map(|at| candidate(ws, at)),
        rule: comparison.outcome.ok().map(|rule| rule.word.to_owned()),
        refused: comparison.outcome.err(),
        likeness: comparison.likeness,
        scores: comparison.likeness.map(|likeness| likeness.scores()),
    }
}

fn steps(ws: &Workspace, claim: ClaimRef) -> Vec<LineageStep> {
    lineage::history_of_claim(&ws.ledger, ws, claim)
        .into_iter()
        .map(|step| match step {
            Step::Recorded(at) => LineageStep::Record(Box::new(candidate(ws, at))),
            Step::Gap { before } => LineageStep::Gap { content_hash: before.to_string() },
        })
        .collect()
}

fn candidate(ws: &Workspace, at: ClaimRef) -> RecordBrief {
    let claim = ws.ledger.claim(at);
    let record = &claim.entry.record;
    RecordBrief {
        record: record.id.clone(),
        kind: record.kind,
        intent: ws.intent_of(&claim),
        contributor: claim.conversation.contributor.clone(),
        timestamp: record.timestamp.clone(),
        content_hash: claim.full_block().content_hash.to_string(),
        name: claim.full_block().block.as_ref().map(|name| name.path.clone()),
        tool: record.tool.as_ref().map(|tool| tool.name.clone()),
        session: record.session.clone(),
        reassigned: claim.reassigned().iter().map(|one| reassignment(ws, one)).collect(),
    }
}

fn reassignment(ws: &Workspace, one: &ledger::BlockReassignment<'_>) -> ReassignmentBrief {
    let called = |id: &str| ws.registry.present_id(id).to_owned();
    ReassignmentBrief {
        from: called(one.from),
        to: called(one.to),
        by: one.decision.by.clone(),
        timestamp: one.record.timestamp.clone(),
        record: one.record.id.clone(),
    }
}
