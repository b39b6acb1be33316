//! What a range of commits is attested to hold: a statement of in-toto about its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claims::{ClaimRow, VERSION};
use super::findings::FindingRow;
use super::people::People;
use super::range::{CarriedRecords, CommitRange, ExportError, RowSink, export};
use ground::Level;
use ledger::{EntityType, RecordKind};
use why::Workspace;

pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The type of the predicate. Its last part is its version.
pub const PREDICATE: &str = "urn:intent-lsp:attestation:v1";

/// A statement of in-toto: what is said of a commit, and of files that hold its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    #[serde(rename = "_type")]
    pub kind: String,
    /// The commit first, then the files.
    pub subject: Vec<StatementSubject>,
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    pub predicate: RangePredicate,
}

/// What a statement is about: the last commit of the range, under the name of the repository, or a
/// file, under its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementSubject {
    pub name: String,
    pub digest: SubjectDigest,
}

/// The name of a commit or the hash of a file, as hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum SubjectDigest {
    #[serde(rename = "gitCommit")]
    Commit(String),
    #[serde(rename = "sha256")]
    File(String),
}

/// What is said of a range. It is a function of the range and of the version of the predicate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangePredicate {
    /// The commit before the first of the range. Absent for the whole history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The last commit of the range.
    pub to: String,
    /// How many commits the range has.
    pub commits: usize,
    /// The version of the tables from whose rows the numbers come.
    pub tables: u32,
    pub lines: LineShares,
    /// The intents under which the lines were brought, by id and hash. Lines under no intent are in
    /// none of them.
    pub intents: Vec<AttestedIntent>,
    /// How many findings *check* has of each level. Absent for a whole history, which is no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<BTreeMap<Level, u64>>,
    /// The digests of the sections of evidence that the commits of the range carry, sorted.
    pub evidence: BTreeSet<String>,
}

/// How many lines the records of the range brought. A line that no record brought is not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineShares {
    pub total: u64,
    /// The lines by the kind of the contributor. The numbers add up to the total.
    pub contributors: BTreeMap<EntityType, u64>,
}

/// How many lines were brought under an intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttestedIntent {
    pub id: String,
    /// The first 128 bits of the hash of the intent's text, as the records have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    pub lines: u64,
}

pub fn predicate(ws: &Workspace, range: &CommitRange) -> Result<RangePredicate, ExportError> {
    let mut sums = RangeSums::default();
    let counts = export(ws, range, ("", &People::LeftOut), &mut sums)?;
    let intent = |((id, hash), lines)| AttestedIntent { id, hash, lines };
    Ok(RangePredicate {
        from: range.from.as_ref().map(|from| from.0.clone()),
        to: range.to.0.clone(),
        commits: counts.commits,
        tables: VERSION,
        lines: LineShares {
            total: sums.contributors.values().sum(),
            contributors: sums.contributors,
        },
        intents: sums.intents.into_iter().map(intent).collect(),
        findings: range.from.as_ref().map(|_| {
            let levels = [Level::Error, Level::Warning, Level::Info, Level::Hint];
            let count = |level| (level, sums.findings.get(&level).copied().unwrap_or_default());
            levels.into_iter().map(count).collect()
        }),
        evidence: sums.evidence,
    })
}

#[derive(Default)]
struct RangeSums {
    contributors: BTreeMap<EntityType, u64>,
    intents: BTreeMap<(String, Option<String>), u64>,
    findings: BTreeMap<Level, u64>,
    evidence: BTreeSet<String>,
}

impl RangeSums {
    fn claim(&mut self, row: &ClaimRow) {
        let lines = u64::from(row.lines_brought);
        // Other records say something of lines that a mutation has brought.
        if row.kind != RecordKind::Mutation || lines == 0 {
            return;
        }
        *self.contributors.entry(row.contributor_type).or_default() += lines;
        if let Some(id) = &row.intent_id {
            *self.intents.entry((id.clone(), row.intent_hash.clone())).or_default() += lines;
        }
    }
}

impl RowSink for RangeSums {
    fn commit(&mut self, carried: &CarriedRecords<'_>) -> io::Result<()> {
        self.evidence.extend(
            carried.entries.iter().filter_map(|entry| Some(entry.section.as_ref()?.to_string())),
        );
        carried.rows.iter().for_each(|row| self.claim(&row));
        Ok(())
    }

    fn finding(&mut self, row: &FindingRow) -> io::Result<()> {
        *self.findings.entry(row.level).or_default() += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_a_change_brought_are_counted() {
        let mut sums = RangeSums::default();
        let row = |kind, contributor_type, lines_brought, intent: Option<&str>| ClaimRow {
            kind,
            contributor_type,
            lines_brought,
            intent_id: intent.map(str::to_owned),
            ..ClaimRow::default()
        };
        for row in [
            row(RecordKind::Mutation, EntityType::Ai, 3, Some("INT-001")),
            row(RecordKind::Mutation, EntityType::Ai, 2, None),
            row(RecordKind::Mutation, EntityType::Human, 1, Some("INT-001")),
            row(RecordKind::Mutation, EntityType::Mixed, 0, Some("INT-002")),
            row(RecordKind::Ack, EntityType::Human, 9, Some("INT-001")),
        ] {
            sums.claim(&row);
        }
        assert_eq!(sums.contributors, [(EntityType::Ai, 5), (EntityType::Human, 1)].into());
        assert_eq!(sums.intents, [(("INT-001".to_owned(), None), 4)].into());
    }
}
