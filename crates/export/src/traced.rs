//! A record as `intent trace --json` prints it: one object that says everything by itself.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::evidence::ChangeReader;
use ledger::{Entry, Record, Trust, evidence};
use why::{VerbError, Workspace};

/// A record, with what its parts refer to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TracedRecord {
    /// The record itself, in the fields of a journal. A record of evidence lacks `writer`, `seq` and `prev`, because it
    /// is in no chain of hashes.
    #[serde(flatten)]
    pub record: Record,
    /// The intent of the record.
    pub intent: Option<TracedIntent>,
    /// The commit that the record is about. Absent if it is in no commit yet.
    pub commit: Option<String>,
    /// How many lines the change brought.
    pub lines_brought: usize,
    /// Whether this clone wrote the record (`own`), only its writer vouches for it (`claimed`), or
    /// its hash or chain is broken (`contradicted`).
    pub trust: &'static str,
}

/// The intent that a record names.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TracedIntent {
    /// The id that it has now.
    pub id: String,
    /// The name that it had when the work was recorded, or has now.
    pub name: Option<String>,
    /// The hash of its text at that time, as the record has it.
    pub hash: Option<String>,
    /// `registry`, or the format in which it is kept: `openspec`. Absent if nobody knows the intent.
    pub source: Option<String>,
}

impl TracedRecord {
    pub fn new(ws: &Workspace, entry: &Entry, carriers: &CarryingCommits) -> Self {
        let record = entry.record.clone();
        Self {
            lines_brought: record.line_count(),
            intent: ws.intent_named(entry).map(|id| intent_of(ws, id, &record)),
            commit: carriers.commit_of(entry),
            trust: match entry.trust {
                Trust::Own => "own",
                Trust::Claimed => "claimed",
                Trust::Contradicted => "contradicted",
            },
            record: Record { strength: ws.strength(entry), ..record },
        }
    }

    /// Returns the object that is printed. A record of evidence is in no chain of hashes, so the
    /// fields about that are left out.
    pub fn to_object(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut object)) = serde_json::to_value(self) else { return Map::new() };
        if self.record.writer.is_empty() {
            for name in ["writer", "seq", "prev"] {
                object.shift_remove(name);
            }
        } else {
            object.insert("h".to_owned(), self.record.h.clone().into());
        }
        object
    }
}

fn intent_of(ws: &Workspace, id: String, record: &Record) -> TracedIntent {
    let now = ws.registry.get(&id);
    let name_then = evidence::cited_name(record).map(str::to_owned);
    TracedIntent {
        name: name_then.or_else(|| now.map(|now| now.name.value.clone())),
        hash: record.intent_hash.clone(),
        source: why::answers::source_of_intent(ws, &id).map(str::to_owned),
        id,
    }
}

#[derive(Default)]
pub struct CarryingCommits(HashMap<String, String>);

impl CarryingCommits {
    /// Looks for the commits that added the evidence of these entries, newest first, until all are
    /// found.
    pub fn of_entries<'a>(
        ws: &Workspace,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Self, VerbError> {
        let without_commit = entries.into_iter().filter(|entry| entry.late_commit.is_none());
        let mut wanted: HashSet<String> =
            without_commit.filter_map(|entry| Some(entry.section?.to_string())).collect();
        let mut found = HashMap::new();
        let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(Self::default()) };
        if wanted.is_empty() {
            return Ok(Self::default());
        }
        let mut reader = ChangeReader::new(git)?;
        for commit in git.commits_between(&[], head, usize::MAX)? {
            // History that is missing here names no commit.
            let added = git.object_id(&commit).and_then(|id| reader.added_evidence(id));
            let Ok(added) = added else { continue };
            for path in added {
                let Some(digest) = evidence::digest_of_path(&path) else { continue };
                if wanted.remove(&digest.to_string()) {
                    found.insert(digest.to_string(), commit.0.clone());
                }
            }
            if wanted.is_empty() {
                break;
            }
        }
        Ok(Self(found))
    }

    fn commit_of(&self, entry: &Entry) -> Option<String> {
        let about = entry.late_commit.clone().or_else(|| entry.record.of.clone());
        about.or_else(|| self.0.get(&entry.section?.to_string()).cloned())
    }
}
