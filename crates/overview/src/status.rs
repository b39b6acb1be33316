//! `intent status`: a short overview of the state of a workspace.

use schemars::JsonSchema;
use serde::Serialize;

use super::own_setup;
use super::select::{IntentSummary, summary};
use evidence::{git_hooks, seal, verify};
use ground::{Level, RelativePath, approvals, session};
use judgement::check;
use why::Workspace;
use why::findings::{self, FindingAnswer};

/// A short overview of the state of a workspace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// The root folder of the workspace.
    pub root: String,
    /// Whether there is an `.orchestration/` folder.
    pub governed: bool,
    /// The id of the selected intent, even if the registry does not contain it.
    pub selection: Option<String>,
    /// The selected intent, if the registry contains it.
    pub selected: Option<IntentSummary>,
    /// Why the registry is missing or cannot be read. If it is set, nothing is known about any
    /// intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_registry: Option<String>,
    /// Says that there is evidence in a newer format than this program can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_evidence: Option<String>,
    /// The number of intents in the registry.
    pub intents: usize,
    /// The number of intents in progress.
    pub in_progress: usize,
    /// The number of records that are in no commit yet and whose code is in the work tree or in the
    /// index.
    pub open_records: usize,
    /// The number of files of evidence that are staged or on disk, but in no commit.
    pub drafts: usize,
    /// Whether the git hooks put records into commits. Also `true` if none are needed.
    pub git_hooks: bool,
    /// The command to run first if they do not.
    pub hooks_remedy: Option<&'static str>,
    /// The number of errors that `intent check` finds in the work tree.
    pub errors: usize,
    /// The number of warnings that `intent check` finds in the work tree.
    pub warnings: usize,
    /// The first of the errors, or else of the warnings: what is wrong, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<FindingAnswer>,
    /// The files of which nobody can tell whether they changed, because a program converts them for
    /// git.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<RelativePath>,
    /// A sentence that says that the registry does not parse and edits are judged by an older
    /// version. Only a running server has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older_registry: Option<String>,
    /// The commit the work tree is based on.
    pub head: Option<String>,
    /// Set while a person has switched the gate off.
    pub off: Option<session::Off>,
    /// The number of questions that wait for a person.
    pub waiting: usize,
}

/// Returns the state of the workspace, with the intent that the session has selected, or the person
/// if no session is named. Never fails: a broken registry is part of the state.
pub fn status(ws: &Workspace, session: Option<&str>) -> StatusAnswer {
    let (findings, unknown) = match check::change(ws, &own_setup::check_request()) {
        Ok(checked) => (checked.findings, checked.summary.unknown),
        Err(_) => (findings::answers(ws, verify::findings(ws)), Vec::new()),
    };
    StatusAnswer { unknown, ..status_given(ws, session, &findings) }
}

/// Like [`status`], for a caller that already has the findings of `intent check`.
pub fn status_given(
    ws: &Workspace,
    session: Option<&str>,
    findings: &[FindingAnswer],
) -> StatusAnswer {
    let at = |level| findings.iter().filter(move |finding| finding.level == level);
    let selected = ws.selected(session);
    let as_selected = |intent| IntentSummary { selected: true, ..summary(ws, intent) };
    let hooks_remedy = git_hooks::remedy(ws);
    StatusAnswer {
        root: ws.root.path().display().to_string(),
        governed: ws.root.governed(),
        selected: selected.as_ref().and_then(|id| ws.registry.get(id).map(as_selected)),
        selection: selected,
        unread_registry: ws.unread_registry(),
        unread_evidence: ws.unread_evidence_seen(),
        intents: ws.registry.intents().len(),
        in_progress: ws.registry.intents().iter().filter(|intent| intent.in_progress()).count(),
        open_records: seal::open(ws).standing.len(),
        drafts: seal::drafts(ws).len(),
        git_hooks: hooks_remedy.is_none(),
        hooks_remedy,
        errors: at(Level::Error).count(),
        warnings: at(Level::Warning).count(),
        worst: at(Level::Error).chain(at(Level::Warning)).next().cloned(),
        unknown: Vec::new(),
        older_registry: ws.judged_by_older(),
        head: ws.head().map(|head| head.0.clone()),
        off: session::off_until(&ws.root),
        waiting: approvals::pending(&ws.root).len(),
    }
}
