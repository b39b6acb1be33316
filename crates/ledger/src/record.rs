//! The record: one JSON object per line, in the nesting of the Agent Trace format, extended with
//! intents, fingerprints and a hash chain.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::digest::Digest;
use super::{LineRuns, dialect};
use code::named_enum::named_enum;
use code::{Block, ContentHash};
use ground::{CommitId, RelativePath};

/// Fields that this version does not know. They are kept when a record is read and written again.
pub type Extra = Map<String, Value>;

/// One line of the ledger: what somebody did, when, and under which intent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The id of the record, a UUID (version 7).
    pub id: String,
    /// When the event happened: RFC 3339 in UTC, with milliseconds.
    pub timestamp: String,
    /// What kind of event the record describes.
    pub kind: RecordKind,
    /// The intent under which the event happened.
    pub intent_id: Option<String>,
    /// The hash of the intent's text at that time, see `Intent::hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_hash: Option<String>,
    /// The provisional class of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation_class: Option<MutationClass>,
    /// How the class was determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// What the gate decided about the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<RecordedDecision>,
    /// The state of version control that the change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcs: Option<Vcs>,
    /// The files that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRecord>,
    /// The tool that made the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// The session that made the change: `host:id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How reliably the change is known. Format 1 called this field `evidence`.
    #[serde(default, alias = "evidence", skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The class that the agent claimed for the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_class: Option<String>,
    /// Whether the record claims the code as it was at that moment, whoever wrote it, instead of a
    /// change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_it_stood: bool,
    /// A short text for people about what happened, such as `created`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// In an `approval` record: the rule or the call that was approved, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approves: Option<Approved>,
    /// In a `test` record: the command that was run, and its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestRun>,
    /// In a `reassign` record: the id of the intent that its lines were recorded under before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<String>,
    /// The commit that the record is about, if it is about code that was committed before. Its
    /// lines are then counted in the files of that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
    /// The id of the hash chain that the record belongs to. Each session has one chain in each
    /// clone.
    #[serde(default)]
    pub writer: String,
    /// The position of the record in its chain, counted from 0.
    #[serde(default)]
    pub seq: u64,
    /// The hash `h` of the previous record in the chain. `None` for record 0.
    #[serde(default)]
    pub prev: Option<String>,
    /// The SHA-256 of a domain prefix and the stored bytes of the line before `,"h":"…"}`. Readers
    /// and writers fill it in; serde never serialises it.
    #[serde(skip)]
    pub h: String,
}

/// The kind of event that a record describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// One or more files were changed.
    #[default]
    Mutation,
    /// An intent was selected for a session.
    Selection,
    /// A person answered a question, signed a rule, or switched the gate off or on.
    Approval,
    /// An intent was created, changed or completed.
    Registry,
    /// A person accepted a block as it is.
    Ack,
    /// A person put recorded lines under another intent.
    Reassign,
    /// A test command was run, or its report was read.
    Test,
    /// Any other event, from another tool's log or from a later version. It claims no code.
    Event,
}

/// What a person approved: a rule (an intent, or a file such as the policy), the content that a
/// write leaves in a file, or a call. A signed approval also says what the new content replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Approved {
    /// The id of the intent, or the path of the file. Empty for a call that runs a command or
    /// changes several files.
    pub what: String,
    /// `sha256:<64 hex>`. In a signed approval: for an intent its `Intent::hash`,
    /// for a file the hash of its bytes. Without a signature: the hash of the question that was
    /// asked.
    pub hash: String,
    /// What is replaced on the branch that the work is for: a hash as in `hash`, or
    /// [`Approved::NOTHING`]. `replaces` and `time` limit an approval to a single step. Approvals
    /// without a signature, and those of earlier versions, have neither field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// When the approval was signed. It makes each approval unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The signature of [`Approved::signed_bytes`], made by `ssh-keygen -Y sign`, in base64 without
    /// the armor lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Approved {
    /// The namespace of the SSH signature. A signature made in another namespace does not count.
    pub const NAMESPACE: &str = "intent-approval";

    /// The value of `replaces` if there was no such intent or file.
    pub const NOTHING: &str = "nothing";

    /// Returns the bytes that are signed: `what`, `hash`, and, if present, `replaces` and `time`,
    /// each on its own line.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let all = [Some(&self.what), Some(&self.hash), self.replaces.as_ref(), self.time.as_ref()];
        all.into_iter().flatten().flat_map(|part| [part.as_str(), "\n"]).collect::<String>().into()
    }

    pub fn hash_of(bytes: &[u8]) -> String {
        format!("sha256:{}", ground::store::sha256(bytes))
    }
}

/// A command that was run to show that an acceptance criterion holds. The output is not stored. The
/// command is stored as a hash, and as text only in the criterion that names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestRun {
    /// The acceptance criterion that named the command in the registry. `None` if no criterion
    /// names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// The `sha256:<64 hex>` of the command.
    pub command: String,
    /// The exit code. `None` if a signal ended the command.
    pub exit: Option<i32>,
    /// How long the command took. 0 if the result was read from a report.
    pub milliseconds: u64,
    /// Whether the work tree was equal to the commit before and after the run. `None` without a
    /// commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean: Option<bool>,
    /// How the result is known.
    pub source: TestSource,
    /// How many tests the report lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
    /// How many of these tests failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u32>,
    /// The `sha256:<64 hex>` of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// How the result of a test command is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TestSource {
    /// This program ran the command.
    Run,
    /// Somebody supplied a JUnit report.
    Junit,
}

named_enum! {
    /// Whether a change keeps the behaviour of the code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum MutationClass, MUTATION_CLASSES {
        /// A listed rule shows that the behaviour is the same.
        AstRefactor: "AST_REFACTOR",
        /// The behaviour changed, or could not be shown to be the same.
        IntentEvolution: "INTENT_EVOLUTION",
    }
}

impl MutationClass {
    pub fn as_str(self) -> &'static str {
        MUTATION_CLASSES[self as usize].1
    }
}

/// How the class of a change was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A listed rule applies to the change.
    Rule,
    /// No listed rule applies to the change.
    None,
    /// The text before or after the change does not parse, so the class is unknown.
    ParseError,
}

/// What the gate decided about a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RecordedDecision {
    /// The outcome: `no_opinion`, `ask` or `deny`.
    pub outcome: String,
    /// The rule that led to the outcome.
    pub rule: Option<String>,
    /// The code of the question that a person answered, such as `ABC234`.
    pub approval: Option<String>,
}

impl RecordedDecision {
    pub const NO_OPINION: &str = "no_opinion";
    pub const ASK: &str = "ask";
    pub const DENY: &str = "deny";

    pub fn new(outcome: &str, rule: Option<String>, approval: Option<String>) -> Self {
        Self { outcome: outcome.to_owned(), rule, approval }
    }
}

/// The state of version control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Vcs {
    /// The commit that the work tree is based on. `None` without git.
    pub revision_id: Option<String>,
}

/// The changes to one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileRecord {
    /// The path of the file, relative to the workspace.
    pub relative_path: RelativePath,
    /// The contributors, each with the blocks that they wrote.
    #[serde(default)]
    pub conversations: Vec<Conversation>,
    /// What the file is related to, in format 1 and in records of other tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// The key of the file's text after the change, which is kept beside the journal until the
    /// change is committed. `None` for a deleted file, and if the text was too large to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Digest>,
    /// The path that the file had before, if the change renamed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RelativePath>,
    /// For each block, what the classifier found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Record {
    /// Returns the intents under which the record's code was written. This is the record's intent,
    /// or, if it has none (as in files of other tools), the intents to which its files are related.
    pub fn intents(&self) -> impl Iterator<Item = &str> {
        let related = self.files.iter().flat_map(FileRecord::relations).filter(|one| {
            self.intent_id.is_none()
                && one.kind.eq_ignore_ascii_case("intent")
                && !dialect::is_placeholder(&one.value)
        });
        self.intent_id.as_deref().into_iter().chain(related.map(|one| one.value.as_str()))
    }

    pub fn line_count(&self) -> usize {
        let conversations = self.files.iter().flat_map(|file| &file.conversations);
        conversations.map(|one| one.lines.line_count()).sum()
    }

    /// Returns the commit that was checked out when the record was made.
    pub fn based_on(&self) -> Option<CommitId> {
        self.vcs.as_ref()?.revision_id.clone().map(CommitId)
    }

    pub fn paths(&self) -> impl Iterator<Item = &RelativePath> {
        self.files.iter().map(|file| &file.relative_path)
    }

    pub fn names_intent(&self, intent: &str) -> bool {
        self.intents().any(|one| one == intent)
    }
}

impl FileRecord {
    pub fn ranges(&self) -> impl Iterator<Item = &BlockRecord> {
        self.conversations.iter().flat_map(|one| &one.ranges)
    }

    pub fn with_path_only(relative_path: RelativePath) -> Self {
        Self {
            relative_path,
            conversations: Vec::new(),
            related: Vec::new(),
            text: None,
            from: None,
            reasons: Vec::new(),
            extra: Extra::new(),
        }
    }

    pub fn relations(&self) -> impl Iterator<Item = &Related> {
        let inside = self.conversations.iter().flat_map(|conversation| &conversation.related);
        self.related.iter().chain(inside)
    }
}

/// The blocks that one contributor wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// Where the conversation can be found, for example `claude-code:abc123`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The person or model that wrote the blocks.
    pub contributor: Contributor,
    /// The lines that the change brought, counted in the text after it.
    #[serde(default, skip_serializing_if = "LineRuns::is_empty")]
    pub lines: LineRuns,
    /// The blocks that were written, changed or deleted.
    #[serde(default)]
    pub ranges: Vec<BlockRecord>,
    /// What the change is related to: the intent, and the specifications that it serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A person or a model that wrote code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contributor {
    /// Whether it is a person or a model. Without evidence it is `UNKNOWN`, never `HUMAN`.
    pub entity_type: EntityType,
    /// The model, for example `anthropic/claude-…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_identifier: Option<String>,
    /// For a person, the name in git's configuration. Never an e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Contributor {
    pub fn person(name: Option<String>) -> Self {
        Self { entity_type: EntityType::Human, model_identifier: None, name }
    }
}

// The variants are in the order of their names in records. The order of the sessions in a section
// of evidence depends on this order, and so does the digest of the section.
named_enum! {
    /// Whether a contributor is a person or a model.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum EntityType, ENTITY_TYPES {
        /// A model wrote the code.
        Ai: "AI",
        /// A person wrote the code.
        Human: "HUMAN",
        /// A person and a model wrote the code.
        Mixed: "MIXED",
        /// There is no evidence of who wrote the code.
        #[default]
        Unknown: "UNKNOWN",
    }
}

impl EntityType {
    pub fn as_str(self) -> &'static str {
        ENTITY_TYPES[self as usize].1
    }
}

/// One block that was written or deleted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockRecord {
    /// The first line, counted from 1. Lines are a hint for people; a block is never looked up by
    /// them.
    pub start_line: u32,
    /// The last line, inclusive. At least `start_line`.
    pub end_line: u32,
    /// The hash of the block's text as it was written. For a deleted block, the hash of its last
    /// text.
    pub content_hash: ContentHash,
    /// The first 32 bits of the hash of the block's lead, in base64url, or an empty text if it had no
    /// lead. `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
    /// The name of the block. `None` in records of other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockName>,
    /// Whether the block was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl BlockRecord {
    pub fn with_lines_only(start_line: u32, end_line: u32, content_hash: ContentHash) -> Self {
        Self { start_line, end_line, content_hash, ..Self::default() }
    }

    /// Returns true if a block has the text and the lead that it was recorded with.
    pub fn has_text_of(&self, block: &Block) -> bool {
        self.content_hash == block.fingerprint.content && self.has_lead_of(block)
    }

    /// Returns true if the record names this block. Several blocks of a file may have one name, because
    /// a record does not store parameters.
    pub fn has_name_of(&self, block: &Block) -> bool {
        let identity = &block.identity;
        self.block
            .as_ref()
            .is_some_and(|name| name.kind == identity.kind.as_str() && name.path == identity.path)
    }

    /// Returns true unless the record has a lead and the block has another one, or none.
    pub fn has_lead_of(&self, block: &Block) -> bool {
        self.lead.as_ref().is_none_or(|lead| *lead == short_lead(block))
    }
}

const LEAD_BYTES: usize = 4;

/// Returns [`BlockRecord::lead`] for a block.
pub fn short_lead(block: &Block) -> String {
    let lead = block.fingerprint.lead.as_ref();
    let digits = lead.and_then(|lead| lead.key().strip_prefix("sha256:"));
    let digest = digits.and_then(Digest::parse);
    digest
        .map_or_else(String::new, |digest| URL_SAFE_NO_PAD.encode(&digest.as_bytes()[..LEAD_BYTES]))
}

/// Returns true for what [`short_lead`] may have returned.
pub(super) fn is_short_lead(text: &str) -> bool {
    text.is_empty() || URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == LEAD_BYTES)
}

/// The name that identifies a block in its file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct BlockName {
    /// The kind of the block, see [`code::BlockKind::as_str`].
    pub kind: String,
    /// The names of its containers and its own name, joined by `.`.
    pub path: String,
    /// The language, see [`code::Language::id`]. `None` for paragraphs.
    #[serde(default)]
    pub language: Option<String>,
}

pub(super) fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Something that a file is related to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Related {
    /// The type of the related thing: `intent` or `specification`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id, for example `INT-001`.
    pub value: String,
}

impl Related {
    pub fn is_specification(&self) -> bool {
        self.kind == "specification"
    }
}

/// The tool that made a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// The name of the tool, for example `claude-code`.
    pub name: String,
    /// The version of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// How reliably a record is known, from weakest to strongest. This is a claim of whoever wrote the
/// line.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Only a person or a program said so. No hook saw the change.
    Declared,
    /// The change is the probable effect of a shell command.
    Inferred,
    /// A hook saw the call.
    Observed,
    /// A hook saw the call, and the file on disk is equal to the text predicted before the write.
    Verified,
}
