//! Reads files in the format of Agent Trace: one JSON object a line, as the published schema has
//! them, or flat ones about one range of one file each. The ledgers of earlier systems are read by
//! the crate `ledger`, and say the same.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ground::RelativePath;
use ground::git::ByteSlice;
use ledger::{
    BlockRecord, Contributor, EntityType, Entry, Record, RecordDialect, RecordKind, dialect,
};
use serde_json::{Map, Value};

use crate::claimed_line::{ClaimedLine, ClaimingTool, shown_word};
use crate::commit_note::line_range;
use crate::version_text::sha256_digits;

/// The largest number of bytes of a trace file.
pub(crate) const MAX_FILE: u64 = 64 * 1024 * 1024;
/// The longest record, in bytes.
const MAX_RECORD: usize = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct TraceFile {
    tool: ClaimingTool,
    files: HashMap<String, Vec<TracedChange>>,
    /// How many lines of the file are records.
    pub records: usize,
    /// Whether the producer names the commit on which the work was based, not the one that has its
    /// lines. The reference implementation does so.
    pub names_the_base: bool,
}

#[derive(Debug)]
pub(crate) struct TracedChange {
    /// The commit that the record names, which may be shortened.
    pub revision: Option<String>,
    /// When the record was made, in seconds since 1970.
    pub time: Option<i64>,
    pub ranges: Vec<TracedRange>,
}

#[derive(Debug)]
pub(crate) struct TracedRange {
    /// The lines, counted from 1. `None` if they are not known.
    pub lines: Option<RangeInclusive<u32>>,
    /// The SHA-256 of the lines, in hex.
    pub hash: Option<String>,
    /// Who wrote the lines. `None` if the record names nobody.
    pub writer: Option<Arc<ClaimedLine>>,
}

impl TraceFile {
    fn of_tool(tool: ClaimingTool) -> Self {
        Self { tool, files: HashMap::new(), records: 0, names_the_base: false }
    }

    /// Takes what the records of earlier systems say about a file. Such a system asks git for the
    /// commit before it writes, so it names the one on which the work was based.
    pub(crate) fn of_earlier_ledgers(records: &[Arc<Entry>], path: &RelativePath) -> Self {
        let mut file = Self { names_the_base: true, ..Self::of_tool(ClaimingTool::EarlierLedger) };
        let is_about = |entry: &&Arc<Entry>| {
            let record = &entry.record;
            entry.dialect.is_foreign()
                && record.kind == RecordKind::Mutation
                && record.files.iter().any(|file| file.relative_path == *path)
        };
        for entry in records.iter().filter(is_about) {
            file.records += 1;
            file.add_changes(&entry.record, entry.dialect);
        }
        file
    }

    pub(crate) fn is_earlier_ledger(&self) -> bool {
        self.tool == ClaimingTool::EarlierLedger
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut file = Self::of_tool(ClaimingTool::AgentTrace);
        for line in bytes.lines().filter(|line| line.len() <= MAX_RECORD) {
            let Ok(object) = serde_json::from_slice::<Map<String, Value>>(line) else { continue };
            let Some((record, shape)) = dialect::read(object) else { continue };
            file.records += 1;
            file.names_the_base |= is_of_reference_implementation(&record);
            if record.kind == RecordKind::Mutation {
                file.add_changes(&record, shape);
            }
        }
        file
    }

    /// Returns the changes of a file, in the order of the trace file.
    pub(crate) fn changes_of(&self, path: &str) -> &[TracedChange] {
        self.files.get(path).map_or(&[], Vec::as_slice)
    }

    fn add_changes(&mut self, record: &Record, shape: RecordDialect) {
        let time = record.timestamp.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
        let revision = record.vcs.as_ref().and_then(|vcs| vcs.revision_id.clone());
        for changed in &record.files {
            let conversations = changed.conversations.iter();
            let ranges = conversations.flat_map(|conversation| {
                let session = session_of(record, conversation.url.as_deref());
                let writer =
                    writer_of(self.tool, record, shape, &conversation.contributor, session);
                let writer = writer.map(Arc::new);
                conversation.ranges.iter().map(move |range| TracedRange {
                    lines: known_lines(range),
                    hash: sha256_digits(range.content_hash.as_str()),
                    writer: writer.clone(),
                })
            });
            let ranges = ranges.collect();
            let change = TracedChange { revision: revision.clone(), time, ranges };
            self.files.entry(changed.relative_path.as_str().to_owned()).or_default().push(change);
        }
    }
}

/// Returns true if a record has the marks of the reference implementation: a version of two parts,
/// and files that do not exist, for commands and sessions.
fn is_of_reference_implementation(record: &Record) -> bool {
    let version = record.extra.get("version").and_then(Value::as_str);
    let pseudo_files = [".shell-history", ".sessions"];
    version.is_some_and(|version| version.split('.').count() < 3)
        || record.files.iter().any(|file| pseudo_files.contains(&file.relative_path.as_str()))
}

/// Returns the lines of a range. `None` for line 1 alone, which producers write if they do not know
/// the lines, and for numbers that had to be mended.
fn known_lines(range: &BlockRecord) -> Option<RangeInclusive<u32>> {
    let is_first_only = range.start_line == 1 && range.end_line == 1;
    let is_mended = dialect::has_mended_lines(range);
    let known = line_range(range.start_line, range.end_line);
    known.filter(|_| !is_mended && (!is_first_only || !range.content_hash.as_str().is_empty()))
}

fn session_of(record: &Record, url: Option<&str>) -> Option<String> {
    let in_metadata = |name: &str| record.extra.get("metadata")?.get(name)?.as_str();
    let named = record.session.as_deref();
    let named = named.or_else(|| in_metadata("session_id"));
    let named = named.or_else(|| in_metadata("conversation_id"));
    // The path of a transcript describes the machine rather than the session.
    let url = url.filter(|url| !url.starts_with("file:") && !url.starts_with('/'));
    shown_word(named.or(url)?)
}

fn writer_of(
    tool: ClaimingTool,
    record: &Record,
    shape: RecordDialect,
    contributor: &Contributor,
    session: Option<String>,
) -> Option<ClaimedLine> {
    if contributor.entity_type == EntityType::Human {
        return None;
    }
    // In a flat record, `tool` is the tool that the agent called, such as `Edit`.
    let agent = record.tool.as_ref().filter(|_| shape == RecordDialect::AgentTrace);
    let claim = ClaimedLine {
        agent: agent.and_then(|tool| shown_word(&tool.name)),
        model: contributor.model_identifier.as_deref().and_then(shown_word),
        session,
        intent: record.intents().next().and_then(shown_word),
        ..ClaimedLine::by_tool(tool)
    };
    claim.if_it_names_somebody()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = r#"{"version":"0.1.0","id":"550e8400-e29b-41d4-a716-446655440000","timestamp":"2026-01-25T10:00:00Z","vcs":{"type":"git","revision":"0123456789012345678901234567890123456789"},"tool":{"name":"cursor","version":"1"},"files":[{"path":"src/a.ts","conversations":[{"url":"https://example.com/c/1","contributor":{"type":"ai","model_id":"anthropic/opus"},"ranges":[{"start_line":2,"end_line":5},{"start_line":1,"end_line":1},{"start_line":0,"end_line":3},{"start_line":9,"end_line":7},{"start_line":6,"end_line":6,"contributor":{"type":"human"}}]}]}]}"#;
    const FLAT: &str = r#"{"schema":"x","session_id":"s1","file_path":"src/b.ts","start_line":3,"end_line":4,"content_hash":"sha256:AAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","confidence":1,"tool":"Edit","tool_use_id":"t","timestamp":"2026-01-25T10:00:00Z"}"#;

    #[test]
    fn the_published_schema_is_read() {
        let file = TraceFile::parse(SESSION.as_bytes());
        let [change] = file.changes_of("src/a.ts") else { panic!("{file:?}") };
        assert_eq!(change.time, Some(1_769_335_200));
        assert!(change.revision.as_deref().unwrap().starts_with("0123"));
        let lines: Vec<_> = change.ranges.iter().map(|range| range.lines.clone()).collect();
        // The ranges of other contributors come first.
        assert_eq!(lines, [Some(6..=6), Some(2..=5), None, None, None]);
        assert_eq!(change.ranges[0].writer, None);
        let writer = change.ranges[1].writer.as_deref().unwrap();
        assert_eq!(writer.agent.as_deref(), Some("cursor"));
        assert_eq!(writer.model.as_deref(), Some("anthropic/opus"));
        assert_eq!(writer.session.as_deref(), Some("https://example.com/c/1"));
        assert!(!file.names_the_base);
    }

    #[test]
    fn a_flat_record_names_the_call_and_no_agent() {
        let file = TraceFile::parse(FLAT.as_bytes());
        let [change] = file.changes_of("src/b.ts") else { panic!("{file:?}") };
        let range = &change.ranges[0];
        assert_eq!((range.lines.clone(), &change.revision), (Some(3..=4), &None));
        assert!(range.hash.as_deref().unwrap().starts_with("aaaa"));
        let writer = range.writer.as_deref().unwrap();
        assert_eq!((&writer.agent, writer.session.as_deref()), (&None, Some("s1")));
    }

    #[test]
    fn the_reference_implementation_is_recognised() {
        for changed in [SESSION.replace("0.1.0", "1.0"), SESSION.replace("src/a.ts", ".sessions")] {
            assert!(TraceFile::parse(changed.as_bytes()).names_the_base);
        }
    }

    #[test]
    fn lines_that_are_no_records_are_skipped() {
        let text = format!("nonsense\n[]\n{{}}\n\u{0}\n{SESSION}\n{{\"files\":");
        assert_eq!(TraceFile::parse(text.as_bytes()).records, 1);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(at in 0..SESSION.len(), byte: u8) {
            let mut bytes = SESSION.as_bytes().to_vec();
            bytes[at] = byte;
            TraceFile::parse(&bytes);
        }
    }
}
