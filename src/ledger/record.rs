//! The record, one JSON object a line: the Agent Trace nesting with intents, fingerprints and a chain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::code::{ContentHash, Lines, Pairs, Places, ShapeHash, Sketch, TokenHash};
use crate::workspace::RelativePath;

/// Fields this version does not know; they survive a round trip.
pub(crate) type Extra = Map<String, Value>;

/// One line of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// A UUID (version 7).
    pub id: String,
    /// RFC 3339, UTC, milliseconds.
    pub timestamp: String,
    /// What happened.
    pub kind: RecordKind,
    /// The intent it happened under.
    pub intent_id: Option<String>,
    /// [`crate::intent::Intent::hash`] of the intent as it read then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_hash: Option<String>,
    /// Provisional class of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation_class: Option<MutationClass>,
    /// How the class was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// What the gate said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<RecordedDecision>,
    /// The version control state it is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcs: Option<Vcs>,
    /// The files it touched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRecord>,
    /// The tool that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// The session it belongs to: `host:id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How it is known. Format 1 called it `evidence`.
    #[serde(default, alias = "evidence", skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The class the agent claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_class: Option<String>,
    /// Whether it claims code as it stood, whoever brought it there, rather than a change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_it_stood: bool,
    /// A registry change, an approval or an acknowledgement in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Of an `approval`: the rule, or the write, that was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approves: Option<Approved>,
    /// Of a `test` record: what was run, and how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestRun>,
    /// Of a `reassign` record: the blocks that belong to its intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reassigns: Option<Reassigned>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
    /// The chain: a session in one clone.
    #[serde(default)]
    pub writer: String,
    /// Counts from 0 in the chain.
    #[serde(default)]
    pub seq: u64,
    /// The chain's previous `h`; `None` at 0.
    #[serde(default)]
    pub prev: Option<String>,
    /// SHA-256 over a domain prefix and the stored bytes of the line before `,"h":"…"}`; filled by reader and writer, never serialised by serde.
    #[serde(skip)]
    pub h: String,
}

/// What a record says happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// Code changed.
    #[default]
    Mutation,
    /// An intent was selected.
    Selection,
    /// A person approved something.
    Approval,
    /// An intent was created, widened, completed.
    Registry,
    /// A person accepted a block as it is.
    Ack,
    /// A person put recorded blocks under another intent.
    Reassign,
    /// A command of an acceptance criterion was run.
    Test,
    /// Anything else that a foreign log, or a later version, wrote down; it claims no code.
    Event,
}

/// What somebody approved: what a rule says (an intent, or a file such as the policy), or what a write leaves in a file;
/// and, where it is signed, instead of what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Approved {
    /// The id of the intent, or the path of the file; empty of a command.
    pub what: String,
    /// `sha256:<64 hex>`: [`crate::intent::Intent::hash`], that of the file's bytes, or of a command that of the question.
    pub hash: String,
    /// What it replaces at the tip of the branch that the work is for: such a hash, or [`Approved::NOTHING`]. Together
    /// with `time` it makes an approval one for a single step. Neither is there in approvals of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// When it was signed. No two approvals are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// What `ssh-keygen -Y sign` made of [`Approved::signed_bytes`], in base64 without its frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Approved {
    /// The namespace of the signature.
    pub const NAMESPACE: &str = "intent-approval";

    /// In the place of a hash, where there was no such intent or file.
    pub const NOTHING: &str = "nothing";

    /// The bytes that are signed: `what`, `hash`, `replaces` and `time`, as far as they are there, each on a line.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let all = [Some(&self.what), Some(&self.hash), self.replaces.as_ref(), self.time.as_ref()];
        all.into_iter().flatten().flat_map(|part| [part.as_str(), "\n"]).collect::<String>().into()
    }

    /// The hash of a file.
    pub fn hash_of(bytes: &[u8]) -> String {
        format!("sha256:{}", crate::workspace::store::sha256(bytes))
    }
}

/// A command that was run to show that a criterion holds. Neither the command nor what it printed is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestRun {
    /// The acceptance criterion that names the command, as the registry had it. `None` if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// `sha256:<64 hex>` of the command.
    pub command: String,
    /// The exit code; `None` if a signal ended it.
    pub exit: Option<i32>,
    /// How long it took; 0 if the results were read.
    pub milliseconds: u64,
    /// Whether nothing was changed since the commit, before and after the run. `None` without a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean: Option<bool>,
    /// Where this is known from.
    pub source: TestSource,
    /// How many tests a report told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
    /// How many of them failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u32>,
    /// `sha256:<64 hex>` of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// Where the outcome of a command is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TestSource {
    /// We ran it.
    Run,
    /// Somebody handed in a JUnit report.
    Junit,
}

/// Blocks that a person has put under another intent than the one that they were recorded under.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reassigned {
    /// Who did it, as git's `user.name` has it; `None` where git has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Which blocks.
    pub blocks: Vec<ReassignedBlock>,
}

/// A block as evidence knows it, and the intent that it was under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReassignedBlock {
    /// The file that it was recorded in.
    pub path: RelativePath,
    /// [`crate::code::BlockKind::as_str`]; `None` in foreign records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Container names and its own, joined by `.`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The block as it was recorded.
    pub content_hash: ContentHash,
    /// The intent.
    pub from: String,
}

/// Does the change keep behaviour?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MutationClass {
    /// Kept, by a listed rule.
    AstRefactor,
    /// Changed, or not shown to be kept.
    IntentEvolution,
}

impl MutationClass {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AstRefactor => "AST_REFACTOR",
            Self::IntentEvolution => "INTENT_EVOLUTION",
        }
    }
}

/// How the class was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A listed rule holds.
    Rule,
    /// No rule holds.
    None,
    /// A version does not parse, so the class is undetermined.
    ParseError,
}

/// What the gate said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedDecision {
    /// `no_opinion`, `ask` or `deny`.
    pub outcome: String,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The approval that let it pass.
    pub approval: Option<String>,
}

/// Version control state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Vcs {
    /// The commit the working tree is based on; `None` without git.
    pub revision_id: Option<String>,
}

/// What happened to one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileRecord {
    /// Relative to the workspace.
    pub relative_path: RelativePath,
    /// Who wrote which ranges.
    #[serde(default)]
    pub conversations: Vec<Conversation>,
    /// What it is related to, in format 1 and in dialects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// Short hashes of all blocks of the file before and afterwards, recorded or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlines: Option<OutlineChange>,
    /// Per block, what the classifier found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl FileRecord {
    /// A file entry with only a path.
    pub fn bare(relative_path: RelativePath) -> Self {
        Self {
            relative_path,
            conversations: Vec::new(),
            related: Vec::new(),
            outlines: None,
            reasons: Vec::new(),
            extra: Extra::new(),
        }
    }

    /// What the file is related to, in our form or in that of dialects.
    pub fn relations(&self) -> impl Iterator<Item = &Related> {
        let inside = self.conversations.iter().flat_map(|conversation| &conversation.related);
        self.related.iter().chain(inside)
    }
}

/// One contributor's ranges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// Where the conversation is to be found: `claude-code:abc123`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Who.
    pub contributor: Contributor,
    /// What.
    #[serde(default)]
    pub ranges: Vec<BlockRecord>,
    /// What it is related to: the intent, and the specifications that it serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Who wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contributor {
    /// No evidence is `UNKNOWN`, never `HUMAN`.
    pub entity_type: EntityType,
    /// `anthropic/claude-…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_identifier: Option<String>,
    /// Of a person, the name that git has for them. Never an e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Contributor {
    /// A person, by the name that git has for them.
    pub fn person(name: Option<String>) -> Self {
        Self { entity_type: EntityType::Human, model_identifier: None, name }
    }
}

/// What kind of contributor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum EntityType {
    /// A person.
    Human,
    /// A model.
    Ai,
    /// Both.
    Mixed,
    /// No evidence.
    #[default]
    Unknown,
}

impl EntityType {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "HUMAN",
            Self::Ai => "AI",
            Self::Mixed => "MIXED",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// One block that was written, or deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockRecord {
    /// 1-based, inclusive; a hint for people, never the anchor.
    pub start_line: u32,
    /// At least `start_line`.
    pub end_line: u32,
    /// The block as written; of a deleted block its last.
    pub content_hash: ContentHash,
    /// Which block; `None` in foreign records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockName>,
    /// See [`crate::code::Fingerprint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_hash: Option<TokenHash>,
    /// See [`crate::code::Fingerprint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape_hash: Option<ShapeHash>,
    /// See [`crate::code::Fingerprint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_hash: Option<TokenHash>,
    /// See [`crate::code::Fingerprint::own_text`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_text_hash: Option<ContentHash>,
    /// See [`crate::code::Fingerprint::lead`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_hash: Option<ContentHash>,
    /// See [`crate::code::Fingerprint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
    /// See [`crate::code::Fingerprint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
    /// How many tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// Which row of the file's outline it is, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// Which row of the outline before the change it was; absent of what is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<u32>,
    /// See [`crate::code::lines`]; absent in records of earlier versions, and of blocks of very many lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// Which of `lines` this change brought; the others stood in what it replaces. Absent where that is not known, and of a block that replaces nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brought: Option<Places>,
    /// The content hash of what this block was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ContentHash>,
    /// The block was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Of evidence: what this block was recorded as, where it was changed since, without a record, before it was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<ContentHash>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl BlockRecord {
    /// What is left of a claim on code that its commit did not bring: no block, and a text that nothing reads as.
    pub fn void() -> Self {
        Self::bare(0, 0, ContentHash::from_ledger(""))
    }

    /// Returns true for [`Self::void`].
    pub fn is_void(&self) -> bool {
        self.block.is_none() && self.content_hash.as_str().is_empty()
    }

    /// A record of lines and their text, of which nothing else is known.
    pub fn bare(start_line: u32, end_line: u32, content_hash: ContentHash) -> Self {
        Self {
            start_line,
            end_line,
            content_hash,
            block: None,
            token_hash: None,
            shape_hash: None,
            own_hash: None,
            own_text_hash: None,
            lead_hash: None,
            sketch: None,
            pairs: None,
            tokens: None,
            row: None,
            was: None,
            lines: None,
            brought: None,
            replaces: None,
            deleted: false,
            recorded: None,
            extra: Extra::new(),
        }
    }
}

/// A block's identity as the ledger keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct BlockName {
    /// [`crate::code::BlockKind::as_str`].
    pub kind: String,
    /// Container names and its own, joined by `.`.
    pub path: String,
    /// Parameter types, where the language has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<String>,
    /// Which of several alike, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ordinal: u32,
    /// [`crate::code::Language::id`]; `None` for paragraphs.
    #[serde(default)]
    pub language: Option<String>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Something a file is related to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Related {
    /// `intent`, `specification`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `INT-001`.
    pub value: String,
}

/// The outlines of a file before and after a recorded change.
///
/// `before` has one row for each block, in base64url. The rows are gone through in order to get those after the change:
/// `=17` keeps the next 17 of them, `-2` leaves out the next 2, and `+` and base64url is a new row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutlineChange {
    /// The rows of the blocks before.
    #[serde(default)]
    pub before: Vec<String>,
    /// How the rows after the change come about.
    #[serde(default)]
    pub edits: Vec<String>,
}

/// The tool that recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `claude-code`.
    pub name: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// How a record is known, weakest first. A claim of whoever wrote the line.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Someone told us.
    Declared,
    /// A shell command's likely work.
    Inferred,
    /// A hook saw the call.
    Observed,
    /// Observed, and the disk equals the image predicted before the write.
    Verified,
}
