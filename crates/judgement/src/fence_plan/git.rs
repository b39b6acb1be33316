//! The git directory: a command may write what git needs, but not what makes git run programs.

use std::path::{Path, PathBuf};

use fence::stand_in::{self, StandIn};
use fence::{FenceAccess, FencePlan};
use why::Workspace;

/// The name of the file that the fences of one repository lock.
pub(super) const LOCK: &str = "fence.lock";
const HERE: &str = ".";

pub(super) fn add_git(ws: &Workspace, plan: &mut FencePlan) {
    let (Some(own), Some(common)) = (ws.root.git_dir(), ws.root.common_dir()) else { return };
    if own == common {
        ordinary(&common, plan)
    } else {
        add_linked_tree(own, &common, plan)
    }
    for tree in other_work_trees(ws, own, &common) {
        plan.add_existing(&tree, FenceAccess::ReadOnly, "another work tree of the repository");
    }
    let Some(git) = ws.git() else { return };
    let (hooks, elsewhere) = git.hooks_folder();
    if elsewhere && let Ok(hooks) = hooks.canonicalize() {
        plan.add_existing(&hooks, FenceAccess::ReadOnly, "git's hooks");
    }
    if git.keeps_settings_of_work_trees() {
        kept_file(plan, own.join("config.worktree"), "", "git's settings");
    }
}

/// Adds the git directory of an ordinary work tree. Everything in it is writable except what makes
/// git run programs, and the folder of this program.
fn ordinary(common: &Path, plan: &mut FencePlan) {
    plan.add_existing(common, FenceAccess::Writable, "git");
    kept_folder(plan, common.join("hooks"), "git's hooks");
    kept_folder(plan, common.join("info"), "git's attributes");
    kept_folder(plan, common.join("intent"), "the journal and what intent remembers");
    let mut keep =
        |name: &str, why: &str| plan.add_existing(&common.join(name), FenceAccess::ReadOnly, why);
    keep("modules", "the repositories of submodules");
    keep("worktrees", "the other work trees");
    keep("config", "git's settings");
    // With a `commondir` file, git would take hooks and settings from another folder.
    kept_file(plan, common.join("commondir"), HERE, "where git's settings are");
}

/// Returns the stand-in file that a killed fence left in the git directory of an ordinary work
/// tree, or `None` if there is none or a fence still holds it.
pub(super) fn left_over(ws: &Workspace) -> Option<PathBuf> {
    let (own, common) = (ws.root.git_dir()?, ws.root.common_dir()?);
    let path = common.join("commondir");
    let ours = StandIn { path: path.clone(), text: Some(HERE.to_owned()) };
    let lock = ws.root.private().join(LOCK);
    (own == common && ours.is_unchanged() && !stand_in::is_held(&lock)).then_some(path)
}

/// Adds the git directories of a linked work tree. In the directory that it shares with other work
/// trees, only objects, branches and their logs are writable.
fn add_linked_tree(own: &Path, common: &Path, plan: &mut FencePlan) {
    plan.add_existing(common, FenceAccess::ReadOnly, "the shared git directory");
    for name in ["objects", "refs", "logs"] {
        plan.add_existing(&common.join(name), FenceAccess::Writable, "git");
    }
    plan.add_existing(own, FenceAccess::Writable, "git, for this work tree");
    plan.add_existing(&own.join("commondir"), FenceAccess::ReadOnly, "where git's settings are");
    plan.add_existing(&own.join("gitdir"), FenceAccess::ReadOnly, "which work tree this is");
    kept_folder(plan, own.join("intent"), "what intent remembers");
}

fn kept_folder(plan: &mut FencePlan, path: PathBuf, why: &str) {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => plan.add_existing(&path, FenceAccess::ReadOnly, why),
        // A link is not followed. Its target is protected, or not, by itself.
        Ok(_) => plan.notes.push(format!("{} is no folder, so it is not kept", path.display())),
        Err(_) => stand_in(plan, path, None, why),
    }
}

fn kept_file(plan: &mut FencePlan, path: PathBuf, text: &str, why: &str) {
    let stands = StandIn { path: path.clone(), text: Some(text.to_owned()) };
    match path.symlink_metadata() {
        Ok(_) if !stands.is_unchanged() => plan.add_existing(&path, FenceAccess::ReadOnly, why),
        // There is no file, or it is a stand-in of a fence that was killed or still runs.
        _ => stand_in(plan, path, Some(text.to_owned()), why),
    }
}

fn stand_in(plan: &mut FencePlan, path: PathBuf, text: Option<String>, why: &str) {
    plan.add_place(&path, FenceAccess::ReadOnly, why);
    plan.stand_ins.push(StandIn { path, text });
}

fn other_work_trees(ws: &Workspace, own: &Path, common: &Path) -> Vec<PathBuf> {
    let mut tops = Vec::new();
    if own != common
        && common.file_name().is_some_and(|name| name == ".git")
        && let Some(main) = common.parent()
    {
        tops.push(main.to_path_buf());
    }
    let linked = ws.root.linked_trees().into_iter();
    tops.extend(linked.filter_map(|(_, top)| top.canonicalize().ok()));
    let here = ws.root.work_tree();
    tops.retain(|top| {
        Some(top.as_path()) != here
            && !here.is_some_and(|here| here.starts_with(top) && !common.starts_with(top))
    });
    tops
}
