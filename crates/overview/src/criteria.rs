//! `intent test` and `intent complete`: which acceptance criteria of an intent have been shown to
//! hold, and at which commit.
//!
//! A criterion that begins with `run:` names a command. This module does not run commands; `intent
//! test` does, on request, and passes on the result. The record of a run contains the criterion,
//! the digest of the command, the exit code, the commit, and whether the tree was clean. The output
//! of the command is not stored.

mod junit;

use schemars::JsonSchema;
use serde::Serialize;

pub use junit::Results;

use evidence::record;
use ground::git::Target;
use ground::policy::Completion;
use ground::store;
use ground::text::shell_word;
use intents::{Intent, Status};
use judgement::registry::{self, RegistryAnswer};
use ledger::{Record, RecordKind, TestRun, TestSource, Trust};
use why::{VerbError, Workspace};

const RUN: &str = "run:";

/// A criterion together with the result of its last run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CriterionAnswer {
    /// The text of the criterion in the registry.
    pub criterion: String,
    /// The command that the criterion names, if any.
    pub command: Option<String>,
    /// Whether the criterion has been shown to hold.
    pub standing: CriterionStanding,
    /// The result of the last run of its command.
    pub last: Option<TestRun>,
    /// When the last run ended: RFC 3339 in UTC.
    pub at: Option<String>,
    /// The commit on which the command ran last.
    pub commit: Option<String>,
    /// The id of the record of the last run.
    pub record: Option<String>,
}

/// Whether a criterion has been shown to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionStanding {
    /// Its command passed at this commit, and the tree was clean.
    Passed,
    /// Its command passed at this commit, with changes that are in no commit.
    PassedUnclean,
    /// Its command passed, but at another commit or at an unknown one.
    PassedElsewhere,
    /// Its command failed when it ran last.
    Failed,
    /// The ledger has no run of its command.
    NeverRun,
    /// The criterion names no command, so a person judges it.
    NoCommand,
}

impl CriterionStanding {
    pub fn is_shown(self) -> bool {
        matches!(self, Self::Passed | Self::PassedUnclean | Self::PassedElsewhere)
    }
}

/// A completed intent and the state of its criteria.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompletionAnswer {
    /// What was changed in the registry.
    #[serde(flatten)]
    pub registry: RegistryAnswer,
    /// The criteria in the order of the registry.
    pub criteria: Vec<CriterionAnswer>,
    /// The commit that the work tree is based on.
    pub commit: Option<String>,
    /// Whether nothing has changed since that commit. `None` without git.
    pub clean: Option<bool>,
}

/// The commit that a work tree is based on, and whether anything has changed since. Changes in
/// `.orchestration/` do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeState {
    /// The commit; `None` without git or before the first commit.
    pub commit: Option<String>,
    /// Whether nothing has changed since the commit; `None` without a commit.
    pub clean: Option<bool>,
}

impl TreeState {
    pub fn from_git(ws: &Workspace) -> Result<Self, VerbError> {
        let (Some(git), Some(head)) = (ws.git(), ws.head()) else {
            return Ok(Self { commit: None, clean: None });
        };
        let found = git.compared(Some(head), &Target::WorkTree)?;
        let clean = found.unknown.is_empty()
            && found.changes.iter().all(|change| change.path.is_orchestration());
        Ok(Self { commit: Some(head.0.clone()), clean: Some(clean) })
    }

    /// Returns the state during a run that began in this state and ended in the state `end`. It is
    /// clean if both are clean and have the same commit.
    pub fn merged_with_end(self, end: &Self) -> Self {
        let clean = self.clean.zip(end.clean);
        let is_same = self.commit == end.commit;
        Self { clean: clean.map(|(before, after)| before && after && is_same), ..self }
    }
}

#[derive(Clone, Debug)]
pub struct Ran {
    /// The criterion that names the command; `None` if no criterion does.
    pub criterion: Option<String>,
    pub command: String,
    /// The exit code; `None` if a signal ended the command.
    pub exit: Option<i32>,
    pub milliseconds: u64,
    pub source: TestSource,
    pub report: Option<(Results, Vec<u8>)>,
}

pub fn commands(intent: &Intent) -> Vec<(String, String)> {
    let texts = intent.acceptance_criteria.iter().map(|one| one.value.clone());
    texts.filter_map(|text| command_of(&text).map(str::to_owned).map(|run| (text, run))).collect()
}

fn command_of(criterion: &str) -> Option<&str> {
    criterion.trim().strip_prefix(RUN).map(str::trim).filter(|command| !command.is_empty())
}

pub fn record(
    ws: &Workspace,
    intent: &Intent,
    ran: &Ran,
    tree: &TreeState,
) -> Result<(String, TestRun), VerbError> {
    let results = ran.report.as_ref().map(|(results, _)| *results);
    let run = TestRun {
        criterion: ran.criterion.clone(),
        command: digest(ran.command.as_bytes()),
        exit: ran.exit,
        milliseconds: ran.milliseconds,
        clean: tree.clean,
        source: ran.source,
        tests: results.map(|results| results.tests),
        failed: results.map(|results| results.failed),
        report: ran.report.as_ref().map(|(_, bytes)| digest(bytes)),
    };
    let mut record = Record {
        test: Some(run.clone()),
        ..record::skeleton(ws, RecordKind::Test, Some(intent), None, None)
    };
    if let Some(vcs) = &mut record.vcs {
        vcs.revision_id.clone_from(&tree.commit);
    }
    Ok((record::append(ws, record)?, run))
}

pub(crate) fn criteria_of_intent(ws: &Workspace, intent: &Intent) -> Vec<CriterionAnswer> {
    let texts = intent.acceptance_criteria.iter().map(|one| one.value.as_str());
    // All records are read for the runs, so only if a criterion can have one.
    let has_command = texts.clone().any(|text| command_of(text).is_some());
    let mut runs = if has_command { ws.entries_of(&intent.id.value) } else { Vec::new() };
    runs.retain(|entry| {
        entry.record.kind == RecordKind::Test
            && ws.namesake(entry, None).is_none()
            && ws.trust(entry) != Trust::Contradicted
    });
    let head = ws.head().map(|head| head.0.as_str());
    texts
        .map(|text| {
            let command = command_of(text);
            let wanted = command.map(|command| digest(command.as_bytes()));
            let is_its = |run: &TestRun| {
                run.criterion.as_deref() == Some(text) && Some(&run.command) == wanted.as_ref()
            };
            // A record is made when its run ends, so the newest record is that of the last run.
            let last = runs
                .iter()
                .filter(|entry| entry.record.test.as_ref().is_some_and(is_its))
                .max_by(|a, b| a.record.timestamp.cmp(&b.record.timestamp))
                .map(|entry| &entry.record);
            let run = last.and_then(|record| record.test.clone());
            let commit =
                last.and_then(|record| record.vcs.as_ref().and_then(|vcs| vcs.revision_id.clone()));
            let at_head = head.is_some() && commit.as_deref() == head;
            CriterionAnswer {
                criterion: text.to_owned(),
                command: command.map(str::to_owned),
                standing: standing_of_criterion(command, run.as_ref(), at_head),
                at: last.map(|record| record.timestamp.clone()),
                record: last.map(|record| record.id.clone()),
                last: run,
                commit,
            }
        })
        .collect()
}

/// Returns how many criteria of an intent no passed test has shown. A test may have passed at
/// another commit.
pub fn not_shown(ws: &Workspace, intent: &Intent) -> usize {
    if commands(intent).is_empty() {
        return intent.acceptance_criteria.len();
    }
    let criteria = criteria_of_intent(ws, intent);
    criteria.iter().filter(|one| !one.standing.is_shown()).count()
}

fn standing_of_criterion(
    command: Option<&str>,
    run: Option<&TestRun>,
    at_head: bool,
) -> CriterionStanding {
    match run {
        _ if command.is_none() => CriterionStanding::NoCommand,
        None => CriterionStanding::NeverRun,
        Some(run) if run.exit != Some(0) => CriterionStanding::Failed,
        Some(_) if !at_head => CriterionStanding::PassedElsewhere,
        Some(run) if run.clean == Some(true) => CriterionStanding::Passed,
        Some(_) => CriterionStanding::PassedUnclean,
    }
}

/// Marks an intent as completed, and returns the state of its criteria. If the policy says
/// `completion: passed`, this is an error unless the tree is clean, at least one criterion names a
/// command, and all those commands passed at this commit.
pub fn complete(ws: &Workspace, id: &str) -> Result<CompletionAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent(id)?;
    let criteria = criteria_of_intent(ws, intent);
    let tree = TreeState::from_git(ws)?;
    if ws.policy.completion == Completion::Passed
        && let Some(reason) = missing_for_completion(&intent.id.value, &criteria, &tree)
    {
        let id = &intent.id.value;
        return Err(VerbError::refused(format!(
            "{id} was not completed, since policy.yaml says `completion: passed`: {reason}"
        )));
    }
    let registry = registry::set_status(ws, id, Status::Completed)?;
    Ok(CompletionAnswer { registry, criteria, commit: tree.commit, clean: tree.clean })
}

/// Returns why the criteria do not permit completion, with the command to run next, or `None` if
/// they do.
fn missing_for_completion(
    id: &str,
    criteria: &[CriterionAnswer],
    tree: &TreeState,
) -> Option<String> {
    let id = shell_word(id);
    let named: Vec<_> = criteria.iter().filter(|one| one.command.is_some()).collect();
    if named.is_empty() {
        return Some("none of its acceptance criteria names a command; a person adds one to the registry, such as `run: cargo test`".to_owned());
    }
    if tree.clean != Some(true) {
        return Some(format!(
            "the work tree has changes that are in no commit; commit them, then `intent test {id}`"
        ));
    }
    let open = named.into_iter().filter(|one| one.standing != CriterionStanding::Passed);
    let open: Vec<String> = open.map(|one| format!("`{}`", one.criterion)).collect();
    (!open.is_empty()).then(|| {
        format!("not passed at this commit: {}; `intent test {id}` runs it", open.join(", "))
    })
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", store::sha256(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_criterion_names_a_command_or_none() {
        for (text, wanted) in [
            ("run: cargo test auth", Some("cargo test auth")),
            (" run:make check ", Some("make check")),
            ("run:", None),
            ("The tests run: all of them", None),
            ("Unit tests pass", None),
        ] {
            assert_eq!(command_of(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_run_during_which_a_file_changed_is_not_clean() {
        let tree =
            |commit: &str, clean| TreeState { commit: Some(commit.into()), clean: Some(clean) };
        let clean = |a: TreeState, b: TreeState| a.merged_with_end(&b).clean;
        assert_eq!(clean(tree("a", true), tree("a", true)), Some(true));
        assert_eq!(clean(tree("a", true), tree("a", false)), Some(false));
        assert_eq!(clean(tree("a", false), tree("a", true)), Some(false));
        assert_eq!(clean(tree("a", true), tree("b", true)), Some(false));
        let none = TreeState { commit: None, clean: None };
        assert_eq!(clean(none.clone(), none), None);
    }
}
