//! `intent setup uninstall`: removes what `init` added to a repository, and everything that `intent` has
//! stored in this clone.
//!
//! The files that the team shares (registry, policy, evidence) stay unless the request says
//! `everything`. Even then, a file is removed only if `HEAD` has its present content, or if it is
//! still as `init` wrote it. From files that others also write, only our lines are removed. If one
//! of our files is not as we wrote it, the answer names the file and the command that removes it.

use std::path::Path;

use super::init::FILES;
pub use super::taken_back::{TakenHow, UninstallAnswer};
use super::team;
use evidence::git_hooks::Act;
use evidence::{git_hooks, seal};
use ground::store;
use ground::text::{counted, shell_path, shell_word};
use ground::{RelativePath, Root};
use why::{VerbError, Workspace};

/// The largest file that is compared with its committed version, in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;
const MAX_NAMED: usize = 8;

/// Removes what lies in the repository, and with `everything` also `.orchestration/`, as far as git
/// has its files or `init` wrote them. The settings of agents are removed by the face that wrote
/// them, which has added the results to `answer`.
pub fn uninstall(
    root: &Root,
    everything: bool,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let ws = &Workspace::open(root.path(), root.environment())?;
    take_out_git_hooks(ws, answer)?;
    team::take_out(root, answer)?;
    // Records that are in no commit yet stay, unless everything is removed.
    let seal::OpenRecords { standing, gone } = seal::open(ws);
    let open = if everything { 0 } else { standing.len() + gone };
    let folder = ws.root.orchestration();
    if folder.is_symlink() {
        answer.leave(&folder, "it is a symbolic link", "look at where the link leads");
    } else {
        remove_local_files(ws, open, answer)?;
        if everything {
            remove_shared_files(ws, answer)?;
        } else if folder.is_dir() {
            let why = "registry, policy and evidence are the record of everybody who works here";
            answer.leave(&folder, why, "`intent setup uninstall --everything`");
        }
    }
    remove_from_git_directory(ws, open, answer)?;
    if everything && !answer.dry_run {
        std::fs::remove_dir(ws.root.path().join(intents::FOLDER)).ok();
        std::fs::remove_dir(folder).ok();
    }
    Ok(())
}

/// Removes what belongs to this work tree alone and is not tracked by git: `.orchestration/local`
/// and similar files. The links to the files of the journal stay while `open` records are in no
/// commit.
fn remove_local_files(
    ws: &Workspace,
    open: usize,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let folder = ws.root.orchestration();
    let tracked = ws.git().and_then(|git| git.tracked().ok()).unwrap_or_default();
    let is_tracked = |path: &Path| {
        let below = path.strip_prefix(ws.root.path()).unwrap_or(path).to_string_lossy();
        tracked.iter().any(|known| Path::new(known.as_str()).starts_with(&*below))
    };
    // Without git, `local` also has the private files that are otherwise in the git directory.
    for name in ["local", "active_intent_current.json", "intent_map.md"] {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() && !is_tracked(&path) {
            answer.remove(&path)?;
        }
    }
    let links = folder.join("agent_trace/open");
    if links.is_dir() && open == 0 {
        answer.remove(&links)?;
        if !answer.dry_run {
            std::fs::remove_dir(folder.join("agent_trace")).ok();
        }
    }
    Ok(())
}

/// Removes our folder in the git directory, with the path of the program, keys, caches, and the
/// journal. The folder stays if `open` records would be lost with it.
fn remove_from_git_directory(
    ws: &Workspace,
    open: usize,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let (Some(own), Some(common)) = (ws.root.git_dir(), ws.root.common_dir()) else {
        return Ok(());
    };
    let folder = own.join("intent");
    // The journals of all work trees are in our folder in the common git directory, which is the
    // git directory of the main work tree.
    if common != own {
        let why = "it belongs to the main work tree of this repository";
        answer.leave(&common.join("intent"), why, "run the same command there");
    }
    if folder.is_dir() || folder.is_symlink() {
        if open > 0 && common == own {
            let are = if open == 1 { "is" } else { "are" };
            let records = counted(open, "record");
            let why = format!("{records} {are} in no commit yet, and nowhere else");
            let remedy = "stage their code, run `intent evidence seal`, commit, and run this again; `intent setup uninstall --everything` deletes them";
            answer.leave(&folder, why, remedy);
        } else {
            answer.remove(&folder)?;
        }
    }
    for (git_dir, tree) in ws.root.linked_trees() {
        let folder = git_dir.join("intent");
        if git_dir == own || !folder.is_dir() {
            continue;
        }
        let word = shell_word(&tree.display().to_string());
        let why = "it belongs to another work tree of this repository";
        answer.leave(&folder, why, format!("`intent -C {word} setup uninstall`"));
    }
    Ok(())
}

fn take_out_git_hooks(ws: &Workspace, answer: &mut UninstallAnswer) -> Result<(), VerbError> {
    let act = if answer.dry_run { Act::Status } else { Act::Remove };
    let hooks = git_hooks::take_out(ws, act)?;
    for (path, comes_back) in &hooks.ours {
        answer.took(path, if *comes_back { TakenHow::PutBack } else { TakenHow::Removed });
    }
    for path in &hooks.others {
        let remedy = "take that line out; until then it does nothing without the program";
        answer.leave(path, "it calls `intent evidence seal`, and is not ours to change", remedy);
    }
    Ok(())
}

/// Removes each file of registry, policy and evidence if `HEAD` has its present content or if it is
/// as `init` wrote it. Other files are listed as remaining.
fn remove_shared_files(ws: &Workspace, answer: &mut UninstallAnswer) -> Result<(), VerbError> {
    let head = ws.head();
    let (mut gone, mut stays) = (Vec::new(), Vec::new());
    // Files that belong to this work tree alone were handled before.
    let files = files_of_orchestration(ws).into_iter().filter(|path| !answer.has_taken(path));
    for path in files.collect::<Vec<_>>() {
        let now = ws.root.read_rules(&path, MAX_FILE).ok().flatten();
        let is_ours = FILES
            .iter()
            .any(|(name, text)| path.as_str() == *name && now.as_deref() == Some(text.as_bytes()));
        let committed = head.zip(ws.git()).and_then(|(head, git)| git.file_at(head, &path).ok()?);
        let is_committed = now.is_some() && committed == now;
        if is_ours || is_committed { gone.push(path) } else { stays.push(path) }
    }
    for path in gone {
        let whole = ws.root.absolute(&path);
        if !answer.dry_run {
            store::remove(&whole)?;
            store::remove_empty_folders(ws.root.path(), &whole);
        }
        answer.took(&whole, TakenHow::Removed);
    }
    let more = stays.len().saturating_sub(MAX_NAMED);
    for path in stays.iter().take(MAX_NAMED) {
        let path = ws.root.absolute(path);
        let word = shell_path(&path.to_string_lossy());
        let why = "its present content is in no commit, so it would be lost";
        answer.leave(&path, why, format!("`rm {word}`"));
    }
    if more > 0 {
        let why =
            format!("the present content of {} is in no commit either", counted(more, "more file"));
        let folder = ws.root.orchestration();
        let word = shell_path(&folder.to_string_lossy());
        answer.leave(&folder, why, format!("`rm -r {word}`"));
    }
    Ok(())
}

fn files_of_orchestration(ws: &Workspace) -> Vec<RelativePath> {
    let walk = ignore::WalkBuilder::new(ws.root.orchestration()).standard_filters(false).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|it| !it.is_dir()));
    let relative = |entry: ignore::DirEntry| {
        let below = entry.path().strip_prefix(ws.root.path()).ok()?;
        RelativePath::new(&below.to_string_lossy().replace('\\', "/")).ok()
    };
    let mut found: Vec<RelativePath> = files.filter_map(relative).collect();
    let ignores = RelativePath::new(".intentignore");
    found.extend(ignores.ok().filter(|path| ws.root.absolute(path).is_file()));
    found.sort();
    found
}
