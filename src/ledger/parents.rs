//! Chains that others saw: the first record of each chain names the heads that its writer knew.
//!
//! So a chain whose file is wholly absent is still known of. That alone proves nothing: a writer also names chains of
//! branches that were never merged.

use std::collections::HashSet;

use super::chain::finding;
use super::{Ledger, Origin};
use crate::workspace::{Code, Finding};

/// So many absent chains are named in the finding.
const NAMED: usize = 3;

impl Ledger {
    /// One finding for all chains that records name and of which nothing is here. It reads every record.
    pub fn absent_chains(&self) -> Option<Finding> {
        let mut seen = HashSet::new();
        let mut absent: Vec<String> = Vec::new();
        let mut first: Option<Origin> = None;
        for at in 0..self.entries().len() {
            let entry = self.read_entry(u32::try_from(at).ok()?);
            for parent in &entry.record.parents {
                let writer = parent.split(':').next().unwrap_or_default();
                if seen.insert(writer.to_owned()) && !self.has_chain(writer) {
                    absent.push(writer.to_owned());
                    first.get_or_insert_with(|| entry.origin.clone());
                }
            }
        }
        let named: Vec<&str> = absent.iter().take(NAMED).map(String::as_str).collect();
        let more = match absent.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "Records here name {} chain(s) of which nothing is here: {}{more}.",
            absent.len(),
            named.join(", ")
        );
        Some(finding(Code::LedgerAbsent, &first?, message, HELP))
    }
}

const HELP: &str = "They are on a branch that is not merged here, or their files were taken away: `git log --all -- '.orchestration/agent_trace/**/<chain>.jsonl'` tells which.";
