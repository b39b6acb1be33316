//! The table of claims: what a record says of one block.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::people::People;
use ledger::{BlockRecord, Conversation, EntityType, Entry, FileRecord, RecordKind, Strength};

/// The version of the tables. Columns are only added, and then the number stays.
pub const VERSION: u32 = 1;

/// A row of the table: what one record says of one block of a file. A column without a value is left
/// out in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClaimRow {
    pub repo: String,
    /// The commit that the claim is about: the one that brought the lines.
    pub commit: String,
    /// When that commit was made: RFC 3339 in UTC, to the second. Absent if this clone lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_time: Option<String>,
    /// The commit that carries the record, if it is another one, because the record came late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried_by: Option<String>,
    /// When the change was recorded: RFC 3339 in UTC.
    pub recorded_at: String,
    pub record_id: String,
    /// `mutation` for a change, `ack` if a person accepted the block as it was, `reassign` if a
    /// person put it under another intent.
    pub kind: RecordKind,
    /// The path of the file in that commit, relative to the workspace.
    pub path: String,
    /// The path that the file had before, if the change renamed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_path: Option<String>,
    /// The kind of the block, for example `method`. Absent for lines outside of every recorded block
    /// and for a file that was recorded as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<String>,
    /// The name with containers, for example `AuthMiddleware.verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_name: Option<String>,
    /// Which of several blocks of this kind and name in the record it is, from 1. Absent for the
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_ordinal: Option<u32>,
    /// The first line, counted from 1.
    pub start_line: u32,
    /// The last line, which belongs to the block too.
    pub end_line: u32,
    /// How many lines the change brought that are in this block and in no smaller one. So the sum
    /// over a record is the number of its lines.
    pub lines_brought: u32,
    /// How many lines the block has.
    pub lines_total: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// The first 128 bits of the hash of the intent's text: `sha256:` and 32 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_hash: Option<String>,
    pub contributor_type: EntityType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The person who wrote, see [`People`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// `evidence` for a file of evidence, `ledger` for a ledger that is a single file. A record that
    /// an earlier system wrote is only claimed: `earlier-ledger`. Its commit is the one that added it.
    pub source: &'static str,
    /// What the gate decided, if it had an objection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The code of the question that a person answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

#[derive(Clone, Debug)]
pub struct CarryingCommit {
    pub repo: String,
    pub id: String,
    pub time: Option<String>,
}

pub(crate) fn written_time(seconds: i64) -> Option<String> {
    Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}

/// Returns how strong a record is for those who did not write it. A record that came late is no more
/// than somebody's word.
pub(crate) fn strength_for_others(entry: &Entry) -> Option<Strength> {
    let strength = entry.record.strength;
    match entry.late_commit {
        Some(_) => strength.map(|strength| strength.min(Strength::Declared)),
        None => strength,
    }
}

/// The rows of the records that a commit carries, by path and line. Each is made when it is asked for,
/// because one commit may carry the rows of a whole history.
pub struct ClaimRows<'a> {
    carried: &'a CarryingCommit,
    people: &'a People,
    time_of: &'a dyn Fn(&str) -> Option<String>,
    places: Vec<ClaimPlace<'a>>,
}

struct ClaimPlace<'a> {
    entry: &'a Entry,
    file: &'a FileRecord,
    conversation: Option<&'a Conversation>,
    block: Option<&'a BlockRecord>,
    ordinal: Option<u32>,
    start_line: u32,
    end_line: u32,
    lines_brought: u32,
    lines_total: u32,
}

impl<'a> ClaimRows<'a> {
    /// Finds the rows of records. Records that claim no code, such as approvals, have none.
    ///
    /// `time_of` returns the time of the commit that a record is about, if it came late.
    pub fn new(
        entries: &'a [Arc<Entry>],
        carried: &'a CarryingCommit,
        people: &'a People,
        time_of: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut places = Vec::new();
        for entry in entries {
            let kind = entry.record.kind;
            if !matches!(kind, RecordKind::Mutation | RecordKind::Ack | RecordKind::Reassign) {
                continue;
            }
            for file in &entry.record.files {
                for conversation in &file.conversations {
                    append_places(&mut places, (entry, file), conversation);
                }
                if file.conversations.is_empty() {
                    places.push(ClaimPlace::of_file(entry, file));
                }
            }
        }
        places.sort_by(|one, other| one.key().cmp(&other.key()));
        Self { carried, people, time_of, places }
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = ClaimRow> {
        self.places.iter().map(|place| self.row(place))
    }

    fn row(&self, place: &ClaimPlace<'_>) -> ClaimRow {
        let (entry, block) = (place.entry, place.block);
        let record = &entry.record;
        let about = entry.late_commit.as_ref().or(record.of.as_ref());
        let about = about.filter(|commit| **commit != self.carried.id);
        let contributor = place.conversation.map(|conversation| &conversation.contributor);
        let name = block.and_then(|block| block.block.as_ref());
        ClaimRow {
            repo: self.carried.repo.clone(),
            commit: about.unwrap_or(&self.carried.id).clone(),
            commit_time: about
                .map_or_else(|| self.carried.time.clone(), |commit| (self.time_of)(commit)),
            carried_by: about.map(|_| self.carried.id.clone()),
            recorded_at: record.timestamp.clone(),
            record_id: record.id.clone(),
            kind: record.kind,
            path: place.file.relative_path.to_string(),
            from_path: place.file.from.as_ref().map(ToString::to_string),
            block_kind: name.map(|name| name.kind.clone()),
            block_name: name.map(|name| name.path.clone()),
            block_ordinal: place.ordinal,
            start_line: place.start_line,
            end_line: place.end_line,
            lines_brought: place.lines_brought,
            lines_total: place.lines_total,
            content_hash: block.map(|block| block.content_hash.as_str().to_owned()),
            deleted: block.is_some_and(|block| block.deleted),
            intent_id: record.intents().next().map(str::to_owned),
            intent_hash: record.intent_hash.as_deref().map(|hash| short_hash(hash).to_owned()),
            contributor_type: contributor.map(|one| one.entity_type).unwrap_or_default(),
            tool: record.tool.as_ref().map(|tool| tool.name.clone()),
            model: contributor.and_then(|one| one.model_identifier.clone()),
            session: record.session.clone(),
            person: contributor
                .and_then(|one| one.name.as_deref())
                .and_then(|name| self.people.written(name)),
            strength: strength_for_others(entry),
            source: match entry.dialect {
                _ if entry.section.is_some() => "evidence",
                dialect if dialect.is_foreign() => "earlier-ledger",
                _ => "ledger",
            },
            outcome: record.decision.as_ref().map(|decision| decision.outcome.clone()),
            approval: record.decision.as_ref().and_then(|decision| decision.approval.clone()),
        }
    }
}

impl<'a> ClaimPlace<'a> {
    fn of_file(entry: &'a Entry, file: &'a FileRecord) -> Self {
        Self {
            entry,
            file,
            conversation: None,
            block: None,
            ordinal: None,
            start_line: 0,
            end_line: 0,
            lines_brought: 0,
            lines_total: 0,
        }
    }

    fn key(&self) -> (&str, u32, u32, &str) {
        let path = self.file.relative_path.as_str();
        (path, self.start_line, self.end_line, &self.entry.record.id)
    }
}

/// Returns the part of a hash by which tables are joined: evidence stores 128 bits of it.
pub(crate) fn short_hash(hash: &str) -> &str {
    hash.get(.."sha256:".len() + 32).unwrap_or(hash)
}

fn append_places<'a>(
    places: &mut Vec<ClaimPlace<'a>>,
    (entry, file): (&'a Entry, &'a FileRecord),
    conversation: &'a Conversation,
) {
    let of_conversation =
        || ClaimPlace { conversation: Some(conversation), ..ClaimPlace::of_file(entry, file) };
    let (brought, outside) = lines_of_blocks(&conversation.ranges, conversation);
    let mut of_name: HashMap<(&str, &str), u32> = HashMap::new();
    for (block, lines_brought) in conversation.ranges.iter().zip(brought) {
        let nth = block.block.as_ref().map(|name| {
            let nth = of_name.entry((&name.kind, &name.path)).or_default();
            *nth += 1;
            *nth - 1
        });
        places.push(ClaimPlace {
            block: Some(block),
            ordinal: nth.filter(|nth| *nth > 0),
            start_line: block.start_line,
            end_line: block.end_line,
            lines_brought,
            lines_total: block.end_line.saturating_sub(block.start_line).saturating_add(1),
            ..of_conversation()
        });
    }
    for (start_line, end_line) in outside {
        let lines = end_line - start_line + 1;
        let (lines_brought, lines_total) = (lines, lines);
        let place = of_conversation();
        places.push(ClaimPlace { start_line, end_line, lines_brought, lines_total, ..place });
    }
}

/// Counts the brought lines of each block that are in no smaller one, and returns the runs of lines
/// outside of all blocks.
fn lines_of_blocks(
    blocks: &[BlockRecord],
    conversation: &Conversation,
) -> (Vec<u32>, Vec<(u32, u32)>) {
    let (mut counts, mut outside) = (vec![0; blocks.len()], Vec::<(u32, u32)>::new());
    for run in conversation.lines.runs() {
        for line in run.lines.clone().filter_map(|line| u32::try_from(line + 1).ok()) {
            let around = blocks.iter().enumerate().filter(|(_, block)| {
                !block.deleted && (block.start_line..=block.end_line).contains(&line)
            });
            match around.min_by_key(|(_, block)| block.end_line - block.start_line) {
                Some((at, _)) => counts[at] += 1,
                None => match outside.last_mut() {
                    Some((_, last)) if *last + 1 == line => *last = line,
                    _ => outside.push((line, line)),
                },
            }
        }
    }
    (counts, outside)
}
