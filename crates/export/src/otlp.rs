//! The claims and findings as log records of OpenTelemetry, in the JSON form of its protocol: each
//! line is a request that a collector's receiver of files reads.
//!
//! The attributes of the groups `vcs` and `gen_ai` are those of `SCHEMA`; all others begin with
//! `intent.`.

use std::io::{self, Write};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::claims::{ClaimRow, VERSION};
use super::findings::FindingRow;
use super::jsonl::write_line;
use super::range::{CarriedRecords, RowSink};
use ground::Level;
use ledger::EntityType;

const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";

/// The maximum number of log records in one line.
const MAX_RECORDS: usize = 200;

pub struct LogRecords<W>(pub W);

impl<W: Write> LogRecords<W> {
    fn request(&mut self, repo: &str, records: &[Value]) -> io::Result<()> {
        let request = json!({ "resourceLogs": [{
            "schemaUrl": SCHEMA,
            "resource": { "attributes": [
                text("service.name", "intent"),
                text("vcs.repository.name", repo.rsplit('/').next().unwrap_or(repo)),
                text("vcs.repository.url.full", &format!("https://{repo}")),
            ] },
            "scopeLogs": [{
                "scope": { "name": "intent.export", "version": VERSION.to_string() },
                "logRecords": records,
            }],
        }] });
        write_line(&mut self.0, &request)
    }
}

impl<W: Write> RowSink for LogRecords<W> {
    fn commit(&mut self, carried: &CarriedRecords<'_>) -> io::Result<()> {
        let mut rows = carried.rows.iter().peekable();
        while rows.peek().is_some() {
            let next = rows.by_ref().take(MAX_RECORDS);
            let records: Vec<Value> = next.map(|row| claim_record(&row)).collect();
            self.request(&carried.by.repo, &records)?;
        }
        Ok(())
    }

    fn finding(&mut self, row: &FindingRow) -> io::Result<()> {
        self.request(&row.repo, &[finding_record(row)])
    }
}

fn claim_record(row: &ClaimRow) -> Value {
    let agent = row.contributor_type != EntityType::Human;
    let provider = row.model.as_deref().and_then(|model| Some(model.split_once('/')?.0));
    let texts = [
        ("vcs.ref.head.revision", Some(row.commit.as_str())),
        ("gen_ai.agent.name", row.tool.as_deref().filter(|_| agent)),
        ("gen_ai.provider.name", provider.filter(|_| agent)),
        ("gen_ai.request.model", row.model.as_deref()),
        ("gen_ai.conversation.id", row.session.as_deref()),
        ("intent.id", row.intent_id.as_deref()),
        ("intent.hash", row.intent_hash.as_deref()),
        ("intent.record.id", Some(row.record_id.as_str())),
        ("intent.file.path", Some(row.path.as_str())),
        ("intent.block.kind", row.block_kind.as_deref()),
        ("intent.block.name", row.block_name.as_deref()),
        ("intent.block.content_hash", row.content_hash.as_deref()),
        ("intent.contributor.type", Some(row.contributor_type.as_str())),
        ("intent.contributor.person", row.person.as_deref()),
        ("intent.source", Some(row.source)),
        ("intent.outcome", row.outcome.as_deref()),
    ];
    let mut attributes = text_attributes(&texts);
    let words = [
        ("intent.record.kind", serde_json::to_value(row.kind)),
        ("intent.strength", serde_json::to_value(row.strength)),
    ];
    attributes.extend(
        words.iter().filter_map(|(name, value)| Some(text(name, value.as_ref().ok()?.as_str()?))),
    );
    attributes.extend([
        number("intent.block.start_line", row.start_line),
        number("intent.block.end_line", row.end_line),
        number("intent.lines.brought", row.lines_brought),
        number("intent.lines.total", row.lines_total),
        json!({ "key": "intent.block.deleted", "value": { "boolValue": row.deleted } }),
    ]);
    json!({
        "timeUnixNano": nanoseconds(&row.recorded_at),
        "observedTimeUnixNano": nanoseconds(&row.recorded_at),
        "severityNumber": 9,
        "severityText": "INFO",
        "eventName": "intent.claim",
        "attributes": attributes,
    })
}

fn finding_record(row: &FindingRow) -> Value {
    let (severity, name) = match row.level {
        Level::Error => (17, "ERROR"),
        Level::Warning => (13, "WARN"),
        _ => (9, "INFO"),
    };
    let texts = [
        ("vcs.ref.head.revision", Some(row.commit.as_str())),
        ("intent.finding.code", Some(row.code.as_str())),
        ("intent.finding.fingerprint", Some(row.fingerprint.as_str())),
        ("intent.file.path", row.path.as_deref()),
        ("intent.id", row.intent_id.as_deref()),
    ];
    let mut attributes = text_attributes(&texts);
    attributes.extend(row.line.map(|line| number("intent.finding.line", line)));
    json!({
        "severityNumber": severity,
        "severityText": name,
        "eventName": "intent.finding",
        "attributes": attributes,
    })
}

fn text_attributes(texts: &[(&str, Option<&str>)]) -> Vec<Value> {
    texts.iter().filter_map(|(name, value)| Some(text(name, (*value)?))).collect()
}

fn text(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": value } })
}

/// In this form of JSON an integer of 64 bits is a string.
fn number(name: &str, value: u32) -> Value {
    json!({ "key": name, "value": { "intValue": value.to_string() } })
}

fn nanoseconds(time: &str) -> String {
    let time: Option<Timestamp> = time.parse().ok();
    time.map_or(0, Timestamp::as_nanosecond).max(0).to_string()
}
