//! Findings in the form that programs read, with the levels that the policy gives them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use code::LineRange;
use ground::{Finding, Level, Policy, store};

/// A finding in the form that programs read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FindingAnswer {
    /// The file, relative to the workspace; `None` for a finding about the whole workspace.
    pub path: Option<String>,
    /// The first line, counted from 1.
    pub start_line: Option<u32>,
    /// The last line, which belongs to the finding too.
    pub end_line: Option<u32>,
    /// The stable code of the kind of finding.
    pub code: String,
    /// `error`, `warning`, `info` or `hint`.
    pub level: Level,
    /// The id of the intent that the finding is about.
    pub intent: Option<String>,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do next about it.
    pub help: String,
    /// Identifies the finding, as hexadecimal digits. It stays the same if other parts of the file
    /// change, even if the line numbers move.
    pub fingerprint: String,
}

pub fn answers(ws: &Workspace, findings: Vec<Finding>) -> Vec<FindingAnswer> {
    levelled(&ws.policy, findings)
}

/// Converts findings to answers, with the levels of the given policy. Leaves out those that it
/// switches off.
pub fn levelled(policy: &Policy, findings: Vec<Finding>) -> Vec<FindingAnswer> {
    let mut answers: Vec<FindingAnswer> = findings
        .into_iter()
        .map(|finding| FindingAnswer {
            code: finding.code.as_str().to_owned(),
            level: policy.check_level(finding.code),
            path: finding.path.map(|path| path.to_string()),
            start_line: finding.lines.map(LineRange::start),
            end_line: finding.lines.map(LineRange::end),
            intent: finding.intent,
            message: finding.message,
            help: finding.help,
            fingerprint: String::new(),
        })
        .filter(|answer| answer.level != Level::Off)
        .collect();
    answers.sort();
    // A recorded edit and an unrecorded edit of one place can yield the same finding with different
    // help. Only the first is kept.
    answers
        .dedup_by(|next, kept| FindingAnswer { help: kept.help.clone(), ..next.clone() } == *kept);
    set_fingerprints(&mut answers);
    answers
}

/// Gives each finding a fingerprint: a hash over its code, path, intent and message. Digits in the
/// message are left out, because they may be line numbers. Findings that are equal otherwise are
/// numbered in their order.
fn set_fingerprints(findings: &mut [FindingAnswer]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        let message = finding.message.replace(|c: char| c.is_ascii_digit(), "");
        let parts = [
            finding.code.as_str(),
            finding.path.as_deref().unwrap_or_default(),
            finding.intent.as_deref().unwrap_or_default(),
            &message,
        ];
        let content = parts.join("\0");
        let number = seen.entry(content.clone()).or_default();
        *number += 1;
        let hash = store::sha256(format!("{content}\0{number}").as_bytes());
        hash[..32].clone_into(&mut finding.fingerprint);
    }
}
