//! A baseline: a file that lists the findings that existed when a team began to use `intent check`.
//! With `--baseline`, later checks leave these findings out.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::JudgedChange;
use ground::RelativePath;
use ground::git::Target;
use ground::text::{counted, shell_word};
use why::VerbError;
use why::findings::FindingAnswer;
use why::rules_at::KNOWN_FINDINGS;

/// The size in bytes above which a baseline is not read.
const MAX_FILE: u64 = 16 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub struct KnownFindings {
    version: u32,
    findings: Vec<KnownFinding>,
}

/// A finding in a baseline. Only the fingerprint is compared; the other fields help people who read
/// the file.
#[derive(Debug, Serialize, Deserialize)]
struct KnownFinding {
    fingerprint: String,
    code: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    path: Option<String>,
    message: String,
}

impl KnownFindings {
    pub const FILE: &str = KNOWN_FINDINGS;

    pub fn from_findings(findings: &[FindingAnswer]) -> Self {
        let known = findings.iter().map(|finding| KnownFinding {
            fingerprint: finding.fingerprint.clone(),
            code: finding.code.clone(),
            path: finding.path.clone(),
            message: finding.message.clone(),
        });
        Self { version: 1, findings: known.collect() }
    }

    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("texts always become JSON");
        text.push('\n');
        text
    }

    /// Reads a baseline. For a change that is to be merged, the file is read from the target
    /// branch, so that a change cannot hide its own findings.
    pub(super) fn read(judged: &JudgedChange, path: &RelativePath) -> Result<Self, VerbError> {
        let ws = &judged.ws;
        let unread = |what: String| {
            let hint =
                format!("`{}` writes one with the present findings", command_that_writes(path));
            VerbError::mendable(format!("the baseline {path} {what}"), hint)
        };
        let bytes = match (&judged.tip, ws.git()) {
            (Some(tip), Some(git)) => match git.text(&Target::Commit(tip.clone()), path)? {
                Some(text) => text.into_bytes(),
                // The branch has no baseline yet, so no finding is left out.
                None => return Ok(Self::from_findings(&[])),
            },
            _ => {
                ws.root.read(path, MAX_FILE)?.ok_or_else(|| unread("does not exist".to_owned()))?
            }
        };
        let known: Self = serde_json::from_slice(&bytes)
            .map_err(|error| unread(format!("cannot be read: line {}", error.line())))?;
        match known.version {
            1 => Ok(known),
            other => Err(unread(format!("has version {other}; this program knows 1"))),
        }
    }

    pub(super) fn drop_from(
        &self,
        findings: &mut Vec<FindingAnswer>,
        path: &RelativePath,
    ) -> Option<String> {
        let known: HashSet<&str> = self.findings.iter().map(|it| it.fingerprint.as_str()).collect();
        let before = findings.len();
        findings.retain(|finding| !known.contains(finding.fingerprint.as_str()));
        let settled = known.len() - (before - findings.len()).min(known.len());
        (settled > 0).then(|| {
            let many = counted(settled, "finding");
            format!(
                "No longer found: {many} of the baseline {path}. `{}` keeps only those that still occur.",
                command_that_writes(path)
            )
        })
    }
}

fn command_that_writes(path: &RelativePath) -> String {
    match path.as_str() {
        KnownFindings::FILE => "intent check --write-baseline".to_owned(),
        other => format!("intent check --write-baseline {}", shell_word(other)),
    }
}
