//! The records in the Agent Trace format, version 0.1.0, one a line: which lines of which file a
//! conversation brought, with the commit that has them. The intent stands in `related`, as the
//! address `intent:INT-001`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::claims::strength_for_others;
use super::jsonl::write_line;
use super::range::{CarriedRecords, RowSink};
use code::hex;
use ground::key_links::percent_encoded;
use ledger::{Conversation, Entry, RecordKind};

const VERSION: &str = "0.1.0";
/// The longest model identifier that the format allows.
const MAX_MODEL: usize = 250;

pub struct TraceRecords<W>(pub W);

#[derive(Serialize)]
struct LinesOfFile {
    start_line: u32,
    end_line: u32,
}

impl<W: Write> RowSink for TraceRecords<W> {
    fn commit(&mut self, carried: &CarriedRecords<'_>) -> io::Result<()> {
        for entry in carried.entries {
            if let Some(record) = trace_record(entry, carried) {
                write_line(&mut self.0, &record)?;
            }
        }
        Ok(())
    }
}

/// Returns a record in the format. `None` for one that brought no lines.
fn trace_record(entry: &Entry, carried: &CarriedRecords<'_>) -> Option<Value> {
    let record = &entry.record;
    if record.kind != RecordKind::Mutation {
        return None;
    }
    let intents: Vec<Value> = record
        .intents()
        .map(|id| json!({ "type": "intent", "url": format!("intent:{}", address(id)) }))
        .collect();
    let of_file = |file: &ledger::FileRecord| {
        let found = file.conversations.iter().filter_map(|one| {
            let mut found = conversation_of(one, record.session.as_deref())?;
            if !intents.is_empty() {
                found["related"] = Value::Array(intents.clone());
            }
            Some(found)
        });
        let conversations: Vec<Value> = found.collect();
        (!conversations.is_empty())
            .then(|| json!({ "path": file.relative_path, "conversations": conversations }))
    };
    let files: Vec<Value> = record.files.iter().filter_map(of_file).collect();
    if files.is_empty() {
        return None;
    }
    let commit = entry.late_commit.as_ref().or(record.of.as_ref()).unwrap_or(&carried.by.id);
    let mut found = json!({
        "version": VERSION,
        "id": uuid_of(&carried.by.repo, &record.id),
        "timestamp": record.timestamp,
        "vcs": { "type": "git", "revision": commit },
    });
    if let Some(tool) = &record.tool {
        found["tool"] = match &tool.version {
            Some(version) => json!({ "name": tool.name, "version": version }),
            None => json!({ "name": tool.name }),
        };
    }
    found["files"] = Value::Array(files);
    found["metadata"] = json!({ "intent-lsp": {
        "record": record.id,
        "strength": strength_for_others(entry),
        "intent_hash": record.intent_hash,
    }});
    Some(found)
}

fn conversation_of(conversation: &Conversation, session: Option<&str>) -> Option<Value> {
    let mut ranges: Vec<LinesOfFile> = Vec::new();
    for run in conversation.lines.runs() {
        let number = |line: usize| u32::try_from(line).ok();
        let (start_line, end_line) = (number(run.lines.start + 1)?, number(run.lines.end)?);
        match ranges.last_mut() {
            Some(last) if last.end_line + 1 == start_line => last.end_line = end_line,
            _ => ranges.push(LinesOfFile { start_line, end_line }),
        }
    }
    if ranges.is_empty() {
        return None;
    }
    let contributor = &conversation.contributor;
    let mut who = json!({ "type": contributor.entity_type.as_str().to_lowercase() });
    if let Some(model) = contributor.model_identifier.as_ref().filter(|it| it.len() <= MAX_MODEL) {
        who["model_id"] = json!(model);
    }
    let mut found = json!({ "contributor": who, "ranges": ranges });
    if let Some((host, id)) = session.and_then(|session| session.split_once(':')) {
        let is_scheme = |host: &str| {
            host.starts_with(|first: char| first.is_ascii_alphabetic())
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        if is_scheme(host) {
            found["url"] = json!(format!("{host}:{}", address(id)));
        }
    }
    Some(found)
}

fn address(text: &str) -> String {
    percent_encoded(text, b":/")
}

/// Makes a UUID, version 8, from the repository and the id of a record, so that each export gives the
/// same record the same id.
fn uuid_of(repo: &str, record: &str) -> String {
    let hash = Sha256::digest(format!("{repo}\n{record}"));
    let mut bytes: [u8; 16] = std::array::from_fn(|at| hash[at]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_and_depends_on_the_repository() {
        let id = uuid_of("example.org/shop", "abc:0");
        assert_eq!(id, uuid_of("example.org/shop", "abc:0"));
        assert_ne!(id, uuid_of("example.org/other", "abc:0"));
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&id[14..15], "8");
    }

    #[test]
    fn an_id_of_another_format_can_stand_in_an_address() {
        assert_eq!(address("openspec:add-login"), "openspec:add-login");
        assert_eq!(address("T 1%ü"), "T%201%25%C3%BC");
    }
}
