//! Evidence: the records that a commit carries, as files in git.
//!
//! A file `.orchestration/agent_trace/YYYY-MM/<digest>.jsonl` never changes. The digest in its name
//! is the first 128 bits of the SHA-256 of its bytes, in hexadecimal. It contains one or more
//! *sections*. A section has a header, which lists each intent and each session once, and then one
//! line for each combination of intent, session and file. After these come the other records that
//! the commit carries (approvals, changes of the registry) as whole records. `docs/formats.md`
//! describes every field.
//!
//! A section is about the commit that adds its file. A section that was sealed later names its
//! commit, and its file is `agent_trace/late/<commit>/<digest>.jsonl`, so that it is found by the
//! commit. `compact` and `erase` put sections into `agent_trace/YYYY-MM/compacted-<digest>.jsonl`.
//!
//! A line says which lines of the file the commit brought ([`LineRuns`]), and, for people and other
//! tools, which blocks it touched.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use super::digest::{Digest, is_lower_hex};
use super::record::{is_short_lead, is_zero};
use super::{
    Basis, BlockName, BlockRecord, Contributor, Conversation, EntityType, Extra, FileRecord,
    LineRuns, MutationClass, Record, RecordKind, RecordedDecision, Related, Strength, Tool, strict,
};
use code::hex;
use code::{ContentHash, language};
use ground::git::ByteSlice as _;
use ground::{RelativePath, Root, clock, store};

/// The maximum number of lines in a file of evidence. In memory, the record of a line takes a hundred
/// times the space that the line takes in git, where it is compressed.
pub const MAX_LINES: usize = 50_000;

/// The version of the format that this program writes.
pub const FORMAT: u32 = 3;

/// The key, among the extra fields of a record, for the name of the record's intent at the time
/// when the record was made.
const CITED_NAME: &str = "intent_name";

/// Returns the name that the record's intent had when the record was made. Only records from
/// evidence have it.
pub fn cited_name(record: &Record) -> Option<&str> {
    record.extra.get(CITED_NAME)?.as_str().filter(|name| !name.is_empty())
}

pub const EVIDENCE_FOLDER: &str = ".orchestration/agent_trace";

const FOLDER: &str = ".orchestration/agent_trace/";
/// The folder, below [`FOLDER`], of the evidence that names its commit.
const LATE: &str = "late/";
const COMPACTED: &str = "compacted-";
const HEADER: &[u8] = b"{\"evidence\":";
const SHORT: &str = "s:";
const BYTES: usize = 16;
/// The possible beginnings of a line about one file. If `intent` or `by` is left out, its value is
/// 0.
const BROUGHT: [&[u8]; 3] = [b"{\"intent\":", b"{\"by\":", b"{\"path\":"];
const TOMBSTONE: &[u8] = b"{\"erased\":";

/// The namespace of the SSH signature of a tombstone. A signature that was made in another
/// namespace does not count.
pub const ERASURE: &str = "intent-erasure";

/// Returns the digest in the name of an evidence file. `None` if the path is not that of an
/// evidence file.
pub fn digest_of_path(path: &RelativePath) -> Option<Digest> {
    let below = path.as_str().strip_prefix(FOLDER)?;
    let name = match below.strip_prefix(LATE) {
        Some(late) => late.split_once('/').filter(|(commit, _)| is_commit(commit))?.1,
        None => {
            let (month, name) = below.split_once('/')?;
            is_month(month).then_some(name.strip_prefix(COMPACTED).unwrap_or(name))?
        }
    };
    Digest::parse(name.strip_suffix(".jsonl")?)
}

fn is_month(name: &str) -> bool {
    name.len() == 7
        && name.bytes().enumerate().all(|(at, byte)| match at {
            4 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn is_commit(hex: &str) -> bool {
    [40, 64].contains(&hex.len()) && is_lower_hex(hex)
}

/// Returns the month of a file of evidence, which is the name of its folder. `None` for evidence
/// that was sealed late.
pub fn month_of(path: &RelativePath) -> Option<&str> {
    path.as_str().rsplit('/').nth(1).filter(|folder| is_month(folder))
}

pub fn is_compacted(path: &RelativePath) -> bool {
    path.file_name().starts_with(COMPACTED)
}

/// Returns the path of the evidence of the commit that adds it. `time` is the newest time in the
/// file, such as `2026-02-18T…`; its month becomes the folder.
pub fn path_of(digest: Digest, time: &str) -> RelativePath {
    evidence_path(&format!("{}/{digest}.jsonl", time.get(..7).unwrap_or("1970-01")))
}

/// Returns the path of a file with sections that were in other files of this month before.
pub fn compacted_path(digest: Digest, month: &str) -> RelativePath {
    evidence_path(&format!("{month}/{COMPACTED}{digest}.jsonl"))
}

pub fn late_path(digest: Digest, commit: &str) -> RelativePath {
    evidence_path(&format!("{LATE}{commit}/{digest}.jsonl"))
}

/// Returns the commit that a file of late evidence is about.
pub fn late_commit_of(path: &RelativePath) -> Option<&str> {
    Some(path.as_str().strip_prefix(FOLDER)?.strip_prefix(LATE)?.split_once('/')?.0)
}

pub fn late_folder(commit: &str) -> String {
    format!("{FOLDER}{LATE}{commit}").trim_end_matches('/').to_owned()
}

/// Returns true for the folders that contain nothing but evidence.
pub(super) fn is_evidence_folder(path: &str) -> bool {
    let below = path.strip_prefix(FOLDER);
    below.is_some_and(|below| is_month(below) || below == LATE.trim_end_matches('/'))
}

pub fn is_present(root: &Root) -> bool {
    names_of_folders(root).any(|name| is_evidence_folder(&format!("{FOLDER}{name}")))
}

/// Returns the month of the first evidence in the work tree, such as `2026-11`. `None` without any.
pub fn first_month(root: &Root) -> Option<String> {
    names_of_folders(root).filter(|name| is_month(name)).min()
}

fn names_of_folders(root: &Root) -> impl Iterator<Item = String> {
    let entries = store::entries(&root.path().join(FOLDER));
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

fn evidence_path(below: &str) -> RelativePath {
    RelativePath::new(&format!("{FOLDER}{below}"))
        .expect("a fixed folder, digits and a digest are a path")
}

/// The header of a section: what its lines refer to, written once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub evidence: u32,
    /// The commit that the section is about, if it was sealed late. `None` if the section is about
    /// the commit that added it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The authorship of that commit (`ObjectReader::authorship` in `ground`), by which a copy of it is
    /// recognised where it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authored: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intents: Vec<CitedIntent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<CitedSession>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CitedIntent {
    /// Its id. If the work was done under no intent (possible for a lesson), the id is empty and so
    /// are all other fields.
    pub id: String,
    /// The hash of its text, as [`short`] writes it. See `Intent::hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CitedSession {
    /// The id of the session: `host:id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tool, and, after a space, its version if that is known: `claude-code 2.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The time of those of its lines that have no time of their own, exact to one second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The strength of those of its lines that have no strength of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

/// One line of evidence: what one session changed in one file under one intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceLine {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub intent: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub by: u32,
    pub path: RelativePath,
    /// When the last of these changes was recorded: RFC 3339 in UTC. A line that was read always
    /// has a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RelativePath>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// What the gate decided, if it was anything but `no_opinion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<RecordedDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_class: Option<String>,
    /// The lines that were brought, counted in the file as committed.
    #[serde(default, skip_serializing_if = "LineRuns::is_empty")]
    pub lines: LineRuns,
    /// The class of the change, if it was proven to keep the behaviour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<MutationClass>,
    /// Whether a person accepted the blocks as they are. Such a line brings no lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ack: bool,
    /// The id of the intent that these lines were recorded under, if a person put them under
    /// another one afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<String>,
    /// Set instead of `blocks` for a new file with very many blocks, if this session wrote all of
    /// its lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Whole>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<EvidenceBlock>,
    /// Fields that this version does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    pub lines: u32,
    /// The content hash of its text, as [`short`] writes it.
    pub hash: String,
    /// Whether the file was deleted. Then `lines` and `hash` are those of the deleted file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// A block as a JSON list: kind, name, lines, content hash, and `"deleted"` if it was deleted. Behind the
/// hash are `+` and the hash of the lead, if there is one. Then the lines and the hash are those that it had before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvidenceBlock {
    pub kind: String,
    pub name: String,
    /// The first line, counted from 1.
    pub start: u32,
    pub end: u32,
    hash: String,
    lead: Option<String>,
    pub deleted: bool,
}

const DELETED: &str = "deleted";
const LEAD: char = '+';

impl Serialize for EvidenceBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kind, name, start, end, hash, lead, deleted } = self;
        let lines = if start == end { start.to_string() } else { format!("{start}-{end}") };
        let hash = match lead {
            Some(lead) => format!("{hash}{LEAD}{lead}"),
            None => hash.clone(),
        };
        match deleted {
            false => (kind, name, lines, hash).serialize(serializer),
            true => (kind, name, lines, hash, DELETED).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EvidenceBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut items: Vec<String> = Vec::deserialize(deserializer)?;
        let deleted = items.len() == 5 && items.pop_if(|last| last == DELETED).is_some();
        let read = |[kind, name, lines, hash]: [String; 4]| {
            let (start, end) = span(&lines)?;
            let (hash, lead) = match hash.split_once(LEAD) {
                Some((hash, lead)) => (hash, Some(lead)),
                None => (&*hash, None),
            };
            short_bytes(hash).filter(|_| !kind.is_empty() && lead.is_none_or(is_short_lead))?;
            let (hash, lead) = (hash.to_owned(), lead.map(str::to_owned));
            Some(Self { kind, name, start, end, hash, lead, deleted })
        };
        let block = items.try_into().ok().and_then(read);
        block.ok_or_else(|| D::Error::custom("expected kind, name, lines and hash"))
    }
}

impl EvidenceBlock {
    /// Makes the list for a block of a record. `None` for lines that are no block.
    pub fn from_record(range: &BlockRecord) -> Option<Self> {
        let name = range.block.as_ref()?;
        Some(Self {
            kind: name.kind.clone(),
            name: name.path.clone(),
            start: range.start_line,
            end: range.end_line,
            hash: short(range.content_hash.as_str())?,
            lead: range.lead.clone().filter(|_| !range.deleted),
            deleted: range.deleted,
        })
    }

    pub fn content_hash(&self) -> ContentHash {
        ContentHash::from_ledger(long(&self.hash).unwrap_or_default())
    }

    fn record(&self, language: Option<&str>) -> BlockRecord {
        BlockRecord {
            block: Some(BlockName {
                kind: self.kind.clone(),
                path: self.name.clone(),
                language: language.map(str::to_owned),
            }),
            lead: self.lead.clone(),
            deleted: self.deleted,
            ..BlockRecord::with_lines_only(self.start, self.end, self.content_hash())
        }
    }
}

/// Parses a line range such as `15-45`, or a single line such as `15`.
fn span(text: &str) -> Option<(u32, u32)> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    let (start, end) = (number(start)?, number(end)?);
    (1 <= start && start <= end).then_some((start, end))
}

/// Parses digits without a sign and without leading zeros. So each number has only one spelling,
/// and each block too.
fn number(text: &str) -> Option<u32> {
    let is_plain = text == "0" || text.starts_with(|first: char| ('1'..='9').contains(&first));
    text.parse().ok().filter(|_| is_plain)
}

/// Returns true for a time such as `2026-11-23T19:15:34.198Z`. The milliseconds may be missing.
fn is_time(text: &str) -> bool {
    const FORMS: [&[u8]; 2] = [b"0000-00-00T00:00:00.000Z", b"0000-00-00T00:00:00Z"];
    let is_of = |(byte, form): (u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == *other,
    };
    let has_form = |form: &&[u8]| text.len() == form.len() && text.bytes().zip(*form).all(is_of);
    FORMS.iter().any(has_form) && clock::milliseconds(text).is_some()
}

/// Converts a record's time to the form that evidence uses. Fractions of a second other than
/// milliseconds are cut off.
pub fn time_of(record: &str) -> Option<String> {
    match is_time(record) {
        true => Some(record.to_owned()),
        false => second(record).map(|second| format!("{second}Z")),
    }
}

/// Cuts a time to whole seconds: `2026-11-23T19:15:34`.
fn second(time: &str) -> Option<String> {
    time.get(.."0000-00-00T00:00:00".len()).map(str::to_owned)
}

/// Shortens a hash for evidence: `sha256:<hex>` becomes `s:` and the first 128 bits in base64url.
pub fn short(hash: &str) -> Option<String> {
    let digits = hash.strip_prefix("sha256:")?.get(..2 * BYTES)?;
    Some(format!("{SHORT}{}", URL_SAFE_NO_PAD.encode(Digest::parse(digits)?.as_bytes())))
}

/// The reverse of [`short`]: `sha256:` and the first 32 hexadecimal digits.
pub fn long(short: &str) -> Option<String> {
    Some(format!("sha256:{}", hex(&short_bytes(short)?)))
}

fn short_bytes(short: &str) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let length = URL_SAFE_NO_PAD.decode_slice(short.strip_prefix(SHORT)?, &mut bytes).ok()?;
    (length == BYTES).then_some(bytes)
}

#[derive(Clone, Debug)]
pub struct Section {
    /// The digest of its bytes. If a line was erased, the digest that the section had before that,
    /// which the tombstone names.
    pub digest: Digest,
    pub bytes: Range<usize>,
    pub header: Header,
    pub lines: Vec<(Range<usize>, SectionLine)>,
    pub unreadable: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
pub enum SectionLine {
    Changed(Box<EvidenceLine>),
    /// A whole record that the commit carries unchanged, for example an approval.
    Carried(Box<Record>),
    Erased(Box<Tombstone>),
}

impl SectionLine {
    pub fn is_erased(&self) -> bool {
        matches!(self, Self::Erased(_))
    }
}

/// The line that replaces a line that a person erased. If it is signed, the signature is its last
/// key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    pub erased: String,
    /// The digest that the section had before any of its lines was erased. The section keeps it as
    /// its id.
    pub section: String,
    /// Who erased the line, as in git's `user.name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When the line was erased, in UTC: `2026-02-18T12:00:00Z`.
    pub time: String,
    pub why: String,
    /// The signature, and fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEvidence {
    Headless,
    Newer(u32),
    /// It has more lines than [`MAX_LINES`].
    TooLong,
}

/// The most files of a month whose times are compared.
const MAX_COMPARED: usize = 1024;
/// The size limit of the file that is opened for its format, in bytes.
const MAX_OPENED: u64 = 1024 * 1024;

/// Returns the format of the file that came last into the newest month, if this program cannot read
/// it. For questions that need no evidence, so that they warn nevertheless: a colleague's newer version
/// is noticed with what was just fetched, and by every answer that needs the evidence.
pub fn newer_format_of_last(root: &Root) -> Option<u32> {
    let newest = names_of_folders(root).filter(|name| is_month(name)).max()?;
    let files = store::entries(&root.path().join(FOLDER).join(newest)).take(MAX_COMPARED);
    let last = files.max_by_key(|file| file.metadata().and_then(|found| found.modified()).ok())?;
    let bytes = store::read_capped(&last.path(), MAX_OPENED).ok()??;
    match header(bytes.split(|byte| *byte == b'\n').next()?) {
        Err(NoEvidence::Newer(version)) => Some(version),
        _ => None,
    }
}

pub fn read(bytes: &[u8]) -> Result<Vec<Section>, NoEvidence> {
    read_lines(bytes, |_| true)
}

/// Like [`read`], but leaves out lines that cannot be about a file. This is much faster for the
/// evidence of a commit that changed many files.
pub(super) fn read_about(bytes: &[u8], path: &RelativePath) -> Result<Vec<Section>, NoEvidence> {
    // A path with an escaped character may be written in several ways.
    read_lines(bytes, |line| line.contains_str(path.as_str()) || line.contains(&b'\\'))
}

fn read_lines(bytes: &[u8], is_wanted: impl Fn(&[u8]) -> bool) -> Result<Vec<Section>, NoEvidence> {
    let mut sections: Vec<Section> = Vec::new();
    let mut at = 0;
    for (nth, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if nth == MAX_LINES {
            return Err(NoEvidence::TooLong);
        }
        let span = at..at + line.len();
        at = span.end;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        // A tombstone says which digest the section had.
        let is_part_of_all = text.starts_with(HEADER) || text.starts_with(TOMBSTONE);
        if !is_part_of_all && !is_wanted(text) {
            let section = sections.last_mut().ok_or(NoEvidence::Headless)?;
            section.bytes.end = span.end;
            continue;
        }
        let is_whole = text.len() < line.len() && is_object(text);
        if text.starts_with(HEADER) {
            // Lines after an unreadable header must not be read with the intents of the section
            // before it.
            let header = if is_whole { header(text)? } else { None };
            let unreadable = if header.is_none() { vec![span.clone()] } else { vec![] };
            let (digest, header) = (Digest::compute(b""), header.unwrap_or_default());
            sections.push(Section { digest, bytes: span, header, lines: vec![], unreadable });
            continue;
        }
        let section = sections.last_mut().ok_or(NoEvidence::Headless)?;
        section.bytes.end = span.end;
        match parse_line(text, &section.header).filter(|_| is_whole) {
            Some(line) => section.lines.push((span.start..span.start + text.len(), line)),
            None => section.unreadable.push(span),
        }
    }
    for section in &mut sections {
        section.digest = match section.original() {
            Some(digest) => digest,
            None => Digest::compute(&bytes[section.bytes.clone()]),
        };
    }
    if sections.is_empty() { Err(NoEvidence::Headless) } else { Ok(sections) }
}

/// Returns true if this program knows everything that a file of evidence says. It does not if the
/// file is in another format, or if a line is damaged.
pub fn is_readable(bytes: &[u8]) -> bool {
    let is_known =
        |section: &Section| section.header.evidence == FORMAT && section.unreadable.is_empty();
    read(bytes).is_ok_and(|sections| sections.iter().all(is_known))
}

impl Section {
    /// Returns the section digest that the first tombstone names. Tombstones that name a different
    /// one are moved to `unreadable`.
    fn original(&mut self) -> Option<Digest> {
        let named = |line: &SectionLine| match line {
            SectionLine::Erased(stone) => Digest::parse(&stone.section),
            _ => None,
        };
        let first = self.lines.iter().find_map(|(_, line)| named(line))?;
        let (kept, other): (Vec<_>, Vec<_>) = std::mem::take(&mut self.lines)
            .into_iter()
            .partition(|(_, line)| named(line).is_none_or(|digest| digest == first));
        self.lines = kept;
        self.unreadable.extend(other.into_iter().map(|(span, _)| span));
        Some(first)
    }

    /// Returns the digest of each line, including the header. For a tombstone this is the digest of
    /// the erased line, so the list stays the same when a line is erased.
    pub fn line_digests(&self, bytes: &[u8]) -> Vec<Digest> {
        let lines = bytes[self.bytes.clone()].split_inclusive(|byte| *byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\n").unwrap_or(line));
        let digest = |line: &[u8]| match tombstone(line) {
            Some(stone) => Digest::parse(&stone.erased).unwrap_or_else(|| Digest::compute(line)),
            None => Digest::compute(line),
        };
        lines.map(digest).collect()
    }
}

fn tombstone(line: &[u8]) -> Option<Tombstone> {
    let stone: Tombstone =
        serde_json::from_slice(line.starts_with(TOMBSTONE).then_some(line)?).ok()?;
    let is_readable = Digest::parse(&stone.erased).is_some()
        && Digest::parse(&stone.section).is_some()
        && is_time(&stone.time)
        && !stone.why.is_empty();
    is_readable.then_some(stone)
}

fn is_object(line: &[u8]) -> bool {
    line.starts_with(b"{") && line.ends_with(b"}") && strict::has_unique_keys(line)
}

/// Parses a header. `None` if it cannot be read, an error if its format is newer than this program.
fn header(line: &[u8]) -> Result<Option<Header>, NoEvidence> {
    #[derive(Deserialize)]
    struct FormatVersion {
        evidence: u64,
    }
    let header = serde_json::from_slice::<Header>(line).ok();
    let version = match &header {
        Some(header) => Some(u64::from(header.evidence)),
        None => serde_json::from_slice::<FormatVersion>(line).ok().map(|found| found.evidence),
    };
    if let Some(version) = version.filter(|version| *version > u64::from(FORMAT)) {
        return Err(NoEvidence::Newer(u32::try_from(version).unwrap_or(u32::MAX)));
    }
    let is_cited = |intent: &CitedIntent| {
        let is_none = *intent == CitedIntent::default();
        let hash = intent.hash.as_deref();
        is_none || !intent.id.is_empty() && hash.is_none_or(|hash| long(hash).is_some())
    };
    let is_readable = |header: &Header| {
        header.of.as_deref().is_none_or(is_commit) && header.intents.iter().all(is_cited)
    };
    Ok(header.filter(is_readable))
}

fn parse_line(line: &[u8], header: &Header) -> Option<SectionLine> {
    if BROUGHT.iter().any(|begin| line.starts_with(begin)) {
        let mut line: EvidenceLine = serde_json::from_slice(line).ok()?;
        let session = header.sessions.get(line.by as usize)?;
        line.time = line.time.or_else(|| session.time.clone());
        line.strength = line.strength.or(session.strength);
        let says_something =
            !line.blocks.is_empty() || line.whole.is_some() || !line.lines.is_empty();
        let is_readable = header.intents.len() > line.intent as usize
            && line.time.as_deref().is_some_and(is_time)
            && says_something
            && (!line.ack || line.lines.is_empty())
            && line.whole.as_ref().is_none_or(|whole| long(&whole.hash).is_some());
        return is_readable.then(|| SectionLine::Changed(Box::new(line)));
    }
    if line.starts_with(TOMBSTONE) {
        return tombstone(line).map(|stone| SectionLine::Erased(Box::new(stone)));
    }
    let record: Record = serde_json::from_slice(line).ok()?;
    // Only a line about one file may claim code, because only such a claim can be checked against a
    // commit.
    let claims = record.files.iter().flat_map(|file| &file.conversations);
    let carries = record.kind != RecordKind::Mutation
        && !record.id.is_empty()
        && !record.timestamp.is_empty()
        && claims.into_iter().all(|one| one.ranges.is_empty());
    carries.then(|| SectionLine::Carried(Box::new(record)))
}

impl EvidenceLine {
    /// Turns the line into a record. `nth` is the position of the line in the section after its header, counted from
    /// 0, and becomes part of the record's id.
    pub fn record(&self, header: &Header, digest: Digest, nth: u32) -> Record {
        let intent = &header.intents[self.intent as usize];
        let session = &header.sessions[self.by as usize];
        let language = language::of_file(self.path.as_str(), "").map(|language| language.id);
        let id = Some(intent.id.clone()).filter(|id| !id.is_empty());
        let itself = id.clone().map(|value| Related { kind: "intent".to_owned(), value });
        let specs = intent.specs.iter();
        let specs =
            specs.map(|spec| Related { kind: "specification".to_owned(), value: spec.clone() });
        let tool = session.tool.as_deref().map(|tool| {
            let (name, version) = tool.split_once(' ').unwrap_or((tool, ""));
            let version = Some(version.to_owned()).filter(|version| !version.is_empty());
            Tool { name: name.to_owned(), version }
        });
        let cited = intent.name.iter().map(|name| (CITED_NAME.to_owned(), name.as_str().into()));
        let whole = self.whole.iter().filter_map(|whole| whole.range());
        let blocks = self.blocks.iter().map(|block| block.record(language));
        Record {
            id: format!("{digest}:{nth}"),
            timestamp: self.time.clone().unwrap_or_default(),
            kind: match self {
                Self { ack: true, .. } => RecordKind::Ack,
                Self { takes: Some(_), .. } => RecordKind::Reassign,
                _ => RecordKind::Mutation,
            },
            intent_id: id,
            intent_hash: intent.hash.as_deref().and_then(long),
            mutation_class: self.class,
            basis: self.class.map(|_| Basis::Rule),
            takes: self.takes.clone(),
            decision: self.decision.clone(),
            files: vec![FileRecord {
                relative_path: self.path.clone(),
                conversations: vec![Conversation {
                    url: session.id.clone(),
                    contributor: Contributor {
                        entity_type: session.entity_type,
                        model_identifier: session.model.clone(),
                        name: session.name.clone(),
                    },
                    lines: self.lines.clone(),
                    ranges: whole.chain(blocks).collect(),
                    related: itself.into_iter().chain(specs).collect(),
                    extra: Extra::new(),
                }],
                from: self.from.clone(),
                ..FileRecord::with_path_only(self.path.clone())
            }],
            tool,
            session: session.id.clone(),
            strength: self.strength,
            claimed_class: self.claimed_class.clone(),
            extra: cited.collect(),
            ..Record::default()
        }
    }
}

impl Whole {
    /// Returns the file as a single block record without a name. It stands for every block in the
    /// file.
    fn range(&self) -> Option<BlockRecord> {
        let content = ContentHash::from_ledger(long(&self.hash)?);
        Some(BlockRecord {
            deleted: self.deleted,
            ..BlockRecord::with_lines_only(1, self.lines.max(1), content)
        })
    }
}

/// Writes a section. A time or strength that most lines of a session have is written once, in the
/// header, and such a line has no time of its own.
///
/// But leaving out a time must not change the order in which the lines about a file are read. For
/// example, session A changed a file at 10:00:00.1 and at 10:00:00.5, and session B at 10:00:00.3.
/// The time of session A is 10:00:00.5. Its first line keeps the time 10:00:00.1, since otherwise
/// it would be read after the line of session B.
pub fn write(mut header: Header, mut lines: Vec<EvidenceLine>, carried: &[Record]) -> Vec<u8> {
    let recorded: Vec<_> =
        lines.iter().map(|line| (line.by, line.path.clone(), line.time.clone())).collect();
    for (by, session) in header.sessions.iter_mut().enumerate() {
        let mut its: Vec<_> = lines.iter_mut().filter(|line| line.by as usize == by).collect();
        let times = || its.iter().filter_map(|line| line.time.as_deref());
        let common = most_frequent(times().filter_map(second));
        let is_common = |time: &str| second(time) == common;
        session.time = times().filter(|time| is_common(time)).max().map(str::to_owned);
        if its.iter().all(|line| line.strength.is_some()) {
            session.strength = most_frequent(its.iter().filter_map(|line| line.strength));
        }
        let of_session = session.time.clone();
        let keeps_order = |line: &EvidenceLine| {
            !recorded.iter().any(|(by, path, time)| {
                *by != line.by && *path == line.path && line.time < *time && *time < of_session
            })
        };
        for line in &mut its {
            let is_left_out = line.time.as_deref().is_some_and(is_common) && keeps_order(line);
            line.time = line.time.take().filter(|_| !is_left_out);
            line.strength = line.strength.filter(|_| line.strength != session.strength);
        }
    }
    let mut bytes = Vec::new();
    let mut put = |line: serde_json::Result<Vec<u8>>| {
        bytes.extend(line.expect("plain data always serialises"));
        bytes.push(b'\n');
    };
    put(serde_json::to_vec(&header));
    lines.iter().for_each(|line| put(serde_json::to_vec(line)));
    for record in carried {
        let mut record = serde_json::to_value(record).expect("plain data always serialises");
        if let Some(fields) = record.as_object_mut() {
            // The hash chain of the writer has no meaning outside the journal.
            ["writer", "seq", "prev"].into_iter().for_each(|key| drop(fields.shift_remove(key)));
        }
        put(serde_json::to_vec(&record));
    }
    bytes
}

/// Writes a section into as many files as are needed if each may have `max_lines` lines. There is at
/// least one.
pub fn write_files(
    header: &Header,
    mut lines: Vec<EvidenceLine>,
    mut carried: &[Record],
    max_lines: usize,
) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    loop {
        let room = max_lines - 1;
        let (now, later) = carried.split_at(room.min(carried.len()));
        let rest = lines.split_off((room - now.len()).min(lines.len()));
        files.push(write(header.clone(), lines, now));
        (lines, carried) = (rest, later);
        if lines.is_empty() && carried.is_empty() {
            return files;
        }
    }
}

/// Returns the item that occurs most often. If several occur equally often, the smallest of them.
fn most_frequent<T: Ord>(all: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = std::collections::BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_insert(0) += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(one, _)| one)
}
