//! *Fence*: what a command may write, whatever it is: the folders of the intents in progress, existing ignored outputs,
//! and what git needs. And afterwards: what came of it that no fence can prevent.

mod afterwards;
mod control;
mod git;
mod tree;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use afterwards::FencedState;

use super::doctor::{Examined, Health};
use super::{VerbError, Workspace, gate};
use crate::fence::{FenceAccess, FenceMeans, FencePlan, FencedPlace};
use crate::workspace::policy::FencePolicy;
use crate::workspace::text;

/// What a command may write, and by whose leave.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Fenced {
    /// The intents whose folders may be written.
    pub intents: Vec<String>,
    /// The places.
    pub plan: FencePlan,
    /// What fences of this repository lock.
    #[serde(skip)]
    pub lock: PathBuf,
}

/// Makes the plan: for the intent that is named, else the selected one, else for all in progress.
///
/// It is made by the rules in force. They must be readable, and control files must have no second name through which they could be written.
pub(crate) fn plan(ws: &Workspace, intent: Option<&str>) -> Result<Fenced, VerbError> {
    ws.governed()?;
    let (ws, _) = &gate::governed(ws.clone());
    ws.sound_registry()?;
    if let Some(finding) = ws.policy_findings.first() {
        let path = finding.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        return Err(VerbError::NotFenced(format!("{path}{} {}", finding.message, finding.help)));
    }
    control::have_one_name(ws)?;
    let intents = intents(ws, intent)?;
    let mut plan = FencePlan::default();
    let work_tree = ws.root.work_tree().unwrap_or(ws.root.path()).to_path_buf();
    add(&mut plan, &work_tree, FenceAccess::ReadOnly, "the work tree");
    git::add_git(ws, &mut plan);
    tree::add_work_tree(ws, &intents, &mut plan);
    control::add_home(&mut plan, &work_tree);
    control::add_system(&mut plan);
    control::pin(&mut plan);
    plan.settle();
    let lock = ws.root.private().join(git::LOCK);
    Ok(Fenced { intents, plan, lock })
}

/// Says by what a command would be fenced here, and what that does not cover.
pub(crate) fn examine(ws: &Workspace, means: Result<FenceMeans, String>) -> Examined {
    const OPEN: &str = "it does not cover what a command asks other programs to do, the home folder but for settings of agents and of git, nor what a commit holds (`intent check` looks at that)";
    let wanted = ws.policy.fence != FencePolicy::Off;
    let (state, detail) = match (means, git::left_over(ws)) {
        (_, Some(path)) => (
            Health::Bad,
            format!(
                "{0} was left by a fence that was killed; if none runs any more: `rm {0}`",
                text::shell_word(&path.to_string_lossy())
            ),
        ),
        (Err(why), None) => {
            let state = if wanted { Health::Bad } else { Health::Unknown };
            (state, format!("nothing here can fence a command: {why}"))
        }
        (Ok(means), None) => match means.weakness() {
            Some(weakness) => (
                Health::Unknown,
                format!("by {}, which is weaker: {weakness}; {OPEN}", means.as_str()),
            ),
            None => (Health::Good, format!("by {}; {OPEN}", means.as_str())),
        },
    };
    Examined { what: "fence".to_owned(), state, detail }
}

fn intents(ws: &Workspace, named: Option<&str>) -> Result<Vec<String>, VerbError> {
    let selected = named.map(str::to_owned).or_else(|| ws.selected(None));
    match selected {
        Some(id) => Ok(vec![ws.intent_in_progress(&id)?.id.value.clone()]),
        None => {
            let all = ws.registry.intents().iter().filter(|intent| intent.in_progress());
            Ok(all.map(|intent| intent.id.value.clone()).collect())
        }
    }
}

/// Adds a place where something stands under its own name.
fn add(plan: &mut FencePlan, path: &Path, access: FenceAccess, why: impl Into<String>) {
    if path.canonicalize().is_ok_and(|real| real == path) {
        put(plan, path, access, why);
    }
}

/// Adds a place that is known to be there, with no link on the way to it.
fn put(plan: &mut FencePlan, path: &Path, access: FenceAccess, why: impl Into<String>) {
    plan.places.push(FencedPlace { path: path.to_owned(), access, why: why.into() });
}
