//! The table of findings: what *check* finds in the change that a range is.

use schemars::JsonSchema;
use serde::Serialize;

use ground::git::Target;
use ground::{CommitId, Level};
use judgement::check::{self, CheckRequest, ComparedSides};
use why::findings::FindingAnswer;
use why::rules_at::is_governed_at;
use why::{VerbError, Workspace};

/// A row of the table. A column without a value is left out in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindingRow {
    pub repo: String,
    /// The last commit of the range.
    pub commit: String,
    pub code: String,
    pub level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// Identifies the finding also where its line has moved.
    pub fingerprint: String,
}

/// Judges the change from one commit to another. The rules are those of the first, and the levels those
/// of the policy at the second. A repository without rules has no findings. Signatures are not checked, because the keys are not in the range.
pub(crate) fn of_range(
    ws: &Workspace,
    (from, to): (&CommitId, &CommitId),
    repo: &str,
) -> Result<Vec<FindingRow>, VerbError> {
    let is_governed = |git| is_governed_at(git, &Target::Commit(to.clone()));
    if !ws.git().is_some_and(|git| is_governed(git).unwrap_or_default()) {
        return Ok(Vec::new());
    }
    let sides = ComparedSides::Range { from: from.0.clone(), to: to.0.clone() };
    let levels = Some(ws.at_commit(to.clone(), None)?.policy);
    let request = CheckRequest { levels, ..CheckRequest::for_sides(sides) };
    let row = |finding: FindingAnswer| FindingRow {
        repo: repo.to_owned(),
        commit: to.0.clone(),
        code: finding.code,
        level: finding.level,
        path: finding.path,
        line: finding.start_line,
        intent_id: finding.intent,
        fingerprint: finding.fingerprint,
    };
    let checked = check::change(ws, &request)?;
    if checked.summary.lacks_history {
        let message = "the findings of the change are not known".to_owned();
        return Err(VerbError::HistoryMissing { message, hint: ws.how_to_get_history() });
    }
    Ok(checked.findings.into_iter().map(row).collect())
}
