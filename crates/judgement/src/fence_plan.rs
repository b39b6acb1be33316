//! `intent fence`: what a command may write, whatever program it is: the folders of the intents in
//! progress, existing outputs that git ignores, and what git needs. After the command, it reports
//! effects that no fence can prevent.
//!
//! - `afterwards`: compares the state before and after the command
//! - `control`: files outside the work tree that control agents and this program
//! - `git`: the git directory
//! - `tree`: the folders of the work tree

mod afterwards;
mod control;
mod git;
mod tree;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

pub use afterwards::FencedState;

use super::gate;
use fence::{FenceAccess, FenceMeans, FencePlan};
use ground::policy::FencePolicy;
use ground::text;
use why::health::{Examined, Health};
use why::{VerbError, Workspace};

/// What a command may write, and under which intents.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fenced {
    /// The intents whose folders may be written.
    pub intents: Vec<String>,
    /// The places, and what may be done at each.
    pub plan: FencePlan,
    /// The file that the fences of one repository lock.
    #[serde(skip)]
    pub lock: PathBuf,
}

/// Makes the plan for the named intent; without one, for the selected intent; without a selection,
/// for all intents in progress.
///
/// The rules in force decide. They must be readable, and no control file may have a second name
/// through which it could be written.
pub fn plan(ws: &Workspace, intent: Option<&str>) -> Result<Fenced, VerbError> {
    ws.governed()?;
    let (ws, _) = &gate::governed(ws.clone());
    ws.sound_registry()?;
    if let Some(finding) = ws.policy_findings.first() {
        let path = finding.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        let reason = format!("{path}{} {}", finding.message, finding.help);
        return Err(VerbError::refused(format!("no fence can be put up: {reason}")));
    }
    control::have_one_name(ws)?;
    let intents = intents(ws, intent)?;
    let mut plan = FencePlan::default();
    let work_tree = ws.root.work_tree().unwrap_or(ws.root.path()).to_path_buf();
    plan.add_existing(&work_tree, FenceAccess::ReadOnly, "the work tree");
    git::add_git(ws, &mut plan);
    tree::add_work_tree(ws, &intents, &mut plan);
    control::add_home(&mut plan, &work_tree, ws.root.environment());
    control::add_system(&mut plan);
    control::pin(&mut plan);
    plan.settle();
    let lock = ws.root.private().join(git::LOCK);
    Ok(Fenced { intents, plan, lock })
}

/// Says which means of the operating system would fence a command here, and what the fence does not
/// cover.
pub fn examine(ws: &Workspace, means: Result<FenceMeans, String>) -> Examined {
    const OPEN: &str = "it limits which files a command writes. It does not limit what the command asks other running programs to do, or what it writes in the home folder, except for the settings of agents and of git. What a commit holds is judged by `intent check`";
    let examined = |state, detail| Examined { what: "fence".to_owned(), state, detail };
    if let Some(path) = git::left_over(ws) {
        let path = text::shell_word(&path.to_string_lossy());
        let detail = format!(
            "{path} was left by a fence that was killed; if none runs any more: `rm {path}`"
        );
        return examined(Health::Bad, detail);
    }
    match means.as_ref().map(|means| (means.as_str(), means.weakness())) {
        Err(why) => {
            let wanted = ws.policy.fence != FencePolicy::Off;
            let state = if wanted { Health::Bad } else { Health::Unknown };
            examined(state, format!("nothing here can fence a command: {why}"))
        }
        Ok((name, Some(weakness))) => {
            examined(Health::Unknown, format!("by {name}, which is weaker: {weakness}; {OPEN}"))
        }
        Ok((name, None)) => examined(Health::Good, format!("by {name}; {OPEN}")),
    }
}

fn intents(ws: &Workspace, named: Option<&str>) -> Result<Vec<String>, VerbError> {
    let selected = named.map(str::to_owned).or_else(|| ws.selected(None));
    let intents = match &selected {
        Some(id) => vec![ws.intent_in_progress(id)?],
        None => ws.registry.intents().iter().filter(|intent| intent.in_progress()).collect(),
    };
    Ok(intents.into_iter().map(|intent| intent.id.value.clone()).collect())
}
