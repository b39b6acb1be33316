//! What a comparison of evidence finds, and what every part of it asks of a file of evidence.

use ground::{Code, Finding, RelativePath};
use ledger::evidence::{digest_of_path, read};
use ledger::{Digest, Entry};

#[derive(Default)]
pub struct Compared {
    pub findings: Vec<Finding>,
    pub notes: Vec<String>,
}

impl Compared {
    pub fn add_counts(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.notes.extend(other.notes);
    }
}

pub fn is_evidence(path: &RelativePath) -> bool {
    digest_of_path(path).is_some()
}

pub fn digests(bytes: &[u8]) -> Vec<Digest> {
    read(bytes).unwrap_or_default().into_iter().map(|section| section.digest).collect()
}

pub(crate) fn finding_at(entry: &Entry, code: Code, message: String, help: String) -> Finding {
    Finding {
        path: Some(entry.origin.path.clone()),
        lines: code::LineRange::new(entry.origin.line, entry.origin.line),
        intent: entry.record.intent_id.clone(),
        ..Finding::new(code, message, help)
    }
}
