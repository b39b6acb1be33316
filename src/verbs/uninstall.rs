//! `uninstall`: takes back what `init` put into a repository, and what came to be beside it in this clone.
//!
//! What is a team's record (registry, policy, evidence) stays unless a person says `everything`, and then goes only as far
//! as git has it, or as `init` wrote it. Nothing of others is touched: what is not as we wrote it is told, with the
//! command that removes it.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::init::FILES;
use super::team::{self, leave_no_empty_folder};
use super::{VerbError, Workspace, git_hooks, seal};
use crate::workspace::store::{self, StoreError};
use crate::workspace::text::{counted, shell_word};
use crate::workspace::{RelativePath, Root};

/// Files with more bytes than this are compared with nothing.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// So many files that stay are named one by one.
const MAX_NAMED: usize = 8;

/// How much is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UninstallRequest {
    /// Also `.orchestration/`, as far as git has it or `init` wrote it.
    pub everything: bool,
    /// Change nothing; say what would be done.
    pub dry_run: bool,
}

/// What was taken back, or would be.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct UninstallAnswer {
    /// The workspace.
    pub root: String,
    /// Whether this is only what would be done.
    pub dry_run: bool,
    /// What was taken back.
    pub taken: Vec<TakenBack>,
    /// What stays, and how it goes.
    pub left: Vec<LeftBehind>,
}

/// A file or folder without ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TakenBack {
    /// Relative to the workspace where it lies in it.
    pub path: String,
    /// What became of it.
    pub how: TakenHow,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TakenHow {
    /// It is gone.
    Removed,
    /// Our lines are gone, and what others wrote is there.
    Changed,
    /// What was there before is there again.
    PutBack,
}

/// What stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LeftBehind {
    /// Relative to the workspace where it lies in it.
    pub path: String,
    /// Why.
    pub why: String,
    /// The command that removes it, or what a person does.
    pub remedy: String,
}

impl UninstallAnswer {
    /// Nothing yet, for the workspace of a root.
    pub(crate) fn new(root: &Root, dry_run: bool) -> Self {
        let root = root.path().display().to_string();
        Self { root, dry_run, taken: Vec::new(), left: Vec::new() }
    }

    /// Notes that something was taken back. A file that two steps are about is named once.
    pub(crate) fn took(&mut self, path: &Path, how: TakenHow) {
        let taken = TakenBack { path: self.shown(path), how };
        if !self.taken.iter().any(|known| known.path == taken.path) {
            self.taken.push(taken);
        }
    }

    /// Notes that something stays.
    pub(crate) fn leave(&mut self, path: &Path, why: impl Into<String>, remedy: impl Into<String>) {
        let left = LeftBehind { path: self.shown(path), why: why.into(), remedy: remedy.into() };
        if !self.left.iter().any(|known| known.path == left.path) {
            self.left.push(left);
        }
    }

    /// Whether a file, or a folder above it, is taken back.
    fn has_taken(&self, path: &RelativePath) -> bool {
        self.taken.iter().any(|taken| Path::new(path.as_str()).starts_with(&taken.path))
    }

    fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        shown.display().to_string().replace('\\', "/")
    }
}

/// Takes back what lies in the repository. Settings of agents are the business of the face that wrote them, which hands
/// in what it has done.
pub(crate) fn uninstall(
    root: &Root,
    request: UninstallRequest,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let ws = Workspace::open(root.path())?;
    hooks(&ws, request, answer)?;
    let team = team::take_out(root, request.dry_run)?;
    for (path, is_gone) in team.taken {
        answer.took(&path, if is_gone { TakenHow::Removed } else { TakenHow::Changed });
    }
    for (path, why) in team.left {
        let word = shell_word(&answer.shown(&path));
        answer.leave(&path, why, format!("take our part out by hand, or `rm {word}`"));
    }
    let open = unsealed(&ws);
    let outside = ws.root.orchestration().is_symlink();
    if outside {
        answer.leave(&ws.root.orchestration(), "it is a link", "look at where it leads");
    } else {
        local(&ws, request, open, answer)?;
        if request.everything {
            record(&ws, request, answer)?;
        }
        if !request.everything && ws.root.orchestration().is_dir() {
            answer.leave(
                &ws.root.orchestration(),
                "registry, policy and evidence are the record of everybody who works here",
                "`intent uninstall --everything`",
            );
        }
    }
    in_git_directory(&ws, request, open, answer)?;
    if request.everything && !request.dry_run {
        std::fs::remove_dir(ws.root.orchestration()).ok();
    }
    Ok(())
}

/// How many records are in no commit yet.
fn unsealed(ws: &Workspace) -> usize {
    let open = seal::open(ws);
    open.standing.len() + open.gone
}

fn hooks(
    ws: &Workspace,
    request: UninstallRequest,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let Some(git) = ws.git() else { return Ok(()) };
    let hooks = git_hooks::take_out(ws, git, request.dry_run)?;
    for (path, comes_back) in hooks.ours {
        answer.took(&path, if comes_back { TakenHow::PutBack } else { TakenHow::Removed });
    }
    for path in hooks.callers {
        answer.leave(
            &path,
            "it calls `intent seal`, and is not ours to change",
            "take that line out; until then it does nothing without the program",
        );
    }
    Ok(())
}

/// What is for this work tree alone: `.orchestration/local` and its like, which git ignores.
fn local(
    ws: &Workspace,
    request: UninstallRequest,
    open: usize,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let folder = ws.root.orchestration();
    let tracked = ws.git().and_then(|git| git.tracked().ok()).unwrap_or_default();
    let is_tracked = |path: &Path| {
        let below = path.strip_prefix(ws.root.path()).unwrap_or(path).to_string_lossy();
        tracked.iter().any(|known| Path::new(known.as_str()).starts_with(&*below))
    };
    // Without git this is where everything private is.
    for name in ["local", "active_intent_current.json", "intent_map.md"] {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() && !is_tracked(&path) {
            remove(&path, request.dry_run)?;
            answer.took(&path, TakenHow::Removed);
        }
    }
    let journal = folder.join("agent_trace/open");
    if journal.is_dir() && may_go(request, open) {
        remove(&journal, request.dry_run)?;
        if !request.dry_run {
            std::fs::remove_dir(folder.join("agent_trace")).ok();
        }
        answer.took(&journal, TakenHow::Removed);
    }
    Ok(())
}

/// Records that are in no commit are nowhere else.
fn may_go(request: UninstallRequest, open: usize) -> bool {
    open == 0 || request.everything
}

/// Our folder in the git directory: the note of the program, keys, caches, and the journal.
fn in_git_directory(
    ws: &Workspace,
    request: UninstallRequest,
    open: usize,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let (Some(own), Some(common)) = (ws.root.git_dir(), ws.root.common_dir()) else {
        return Ok(());
    };
    let mut folders = vec![own.join("intent")];
    // The journals of all work trees lie in the one that git made first.
    let trees = linked(&common, own);
    if common != own {
        answer.leave(
            &common.join("intent"),
            "it belongs to the work tree that git made first",
            "`intent uninstall` there",
        );
    }
    folders.retain(|folder| folder.is_dir() || folder.is_symlink());
    for folder in folders {
        if !may_go(request, open) && common == own {
            let why = format!("{} in no commit yet, and nowhere else", are(open));
            let remedy = "commit their code or `intent seal`, and run this again; `intent uninstall --everything` gives them up";
            answer.leave(&folder, why, remedy);
            continue;
        }
        remove(&folder, request.dry_run)?;
        answer.took(&folder, TakenHow::Removed);
    }
    for (folder, tree) in trees {
        let word = shell_word(&tree.display().to_string());
        answer.leave(
            &folder,
            "it belongs to another work tree of this repository",
            format!("`intent -C {word} uninstall`"),
        );
    }
    Ok(())
}

fn are(open: usize) -> String {
    format!("{} {}", counted(open, "record"), if open == 1 { "is" } else { "are" })
}

/// Our folders in the git directories of other linked work trees, and where these trees are.
fn linked(common: &Path, own: &Path) -> Vec<(PathBuf, PathBuf)> {
    let entries = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let others = entries.map(|entry| entry.path()).filter(|tree| tree != own);
    let found = others.filter_map(|tree| {
        let folder = tree.join("intent");
        let dot_git = std::fs::read_to_string(tree.join("gitdir")).ok()?;
        let place = Path::new(dot_git.trim()).parent()?.to_path_buf();
        folder.is_dir().then_some((folder, place))
    });
    found.collect()
}

/// Registry, policy and evidence: what git has, or what is as `init` wrote it. The rest is named.
fn record(
    ws: &Workspace,
    request: UninstallRequest,
    answer: &mut UninstallAnswer,
) -> Result<(), VerbError> {
    let head = ws.head();
    let (mut gone, mut stays) = (Vec::new(), Vec::new());
    // What is this work tree's alone is dealt with already.
    let files = files_of_record(ws).into_iter().filter(|path| !answer.has_taken(path));
    for path in files.collect::<Vec<_>>() {
        let now = ws.root.read_rules(&path, MAX_FILE).ok().flatten();
        let is_ours = FILES
            .iter()
            .any(|(name, text)| path.as_str() == *name && now.as_deref() == Some(text.as_bytes()));
        let committed = head.zip(ws.git()).and_then(|(head, git)| git.file_at(head, &path).ok()?);
        let is_kept = now.is_some() && committed == now;
        if is_ours || is_kept { gone.push(path) } else { stays.push(path) }
    }
    for path in gone {
        let whole = ws.root.absolute(&path);
        if !request.dry_run {
            store::remove(&whole)?;
            leave_no_empty_folder(ws.root.path(), &whole);
        }
        answer.took(&whole, TakenHow::Removed);
    }
    let more = stays.len().saturating_sub(MAX_NAMED);
    for path in stays.iter().take(MAX_NAMED) {
        let word = shell_word(path.as_str());
        let why = "no commit has it as it stands, so it would be lost";
        answer.leave(&ws.root.absolute(path), why, format!("`rm {word}`"));
    }
    if more > 0 {
        let why = format!("{} more that no commit has as they stand", counted(more, "file"));
        answer.leave(&ws.root.orchestration(), why, "`rm -r .orchestration`");
    }
    Ok(())
}

/// The files of `.orchestration/` that are for everybody, and `.intentignore`.
fn files_of_record(ws: &Workspace) -> Vec<RelativePath> {
    let mut found = Vec::new();
    let mut folders = vec![ws.root.orchestration()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let below = path.strip_prefix(ws.root.path()).unwrap_or(&path);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ => found.extend(RelativePath::new(&below.to_string_lossy().replace('\\', "/"))),
            }
        }
    }
    let ignores = RelativePath::new(".intentignore");
    found.extend(ignores.ok().filter(|path| ws.root.absolute(path).is_file()));
    found.sort();
    found
}

/// Removes a file, or a folder with all that is in it. A link goes itself, never what it leads to.
fn remove(path: &Path, dry_run: bool) -> Result<(), StoreError> {
    if dry_run {
        return Ok(());
    }
    let failed = |source| StoreError::Io { path: path.to_path_buf(), doing: "removed", source };
    let is_folder = path.symlink_metadata().map_err(failed)?.is_dir();
    if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
        .map_err(failed)
}
