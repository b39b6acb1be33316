//! Which workspaces exist and what is loaded of them. They are found and loaded on the lanes; this
//! module only stores the results.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp::gen_lsp_types as lsp;

use super::{SideEffect, World};
use crate::lsp::{convert, watch};
use crate::verbs::Workspace;

/// The workspace that governs a folder, as found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspaceLocation {
    /// The canonical path of the root folder.
    pub(crate) root: PathBuf,
    /// Whether the root contains `.orchestration/`. If not, there is nothing to load.
    pub(crate) governed: bool,
    /// The git directory of the work tree.
    pub(crate) git_dir: Option<PathBuf>,
}

impl World {
    /// Handles added and removed folders of the client's window.
    pub(crate) fn did_change_workspace_folders(
        &mut self,
        params: lsp::DidChangeWorkspaceFoldersParams,
    ) -> Vec<SideEffect> {
        let paths = |folders: &[lsp::WorkspaceFolder]| -> Vec<PathBuf> {
            folders.iter().filter_map(|folder| convert::path_of(&folder.uri)).collect()
        };
        let removed = paths(&params.event.removed);
        Arc::make_mut(&mut self.now.folders).retain(|folder| !removed.contains(folder));
        let mut effects = self.drop_unused();
        let added = paths(&params.event.added);
        Arc::make_mut(&mut self.now.folders).extend(added.iter().cloned());
        effects.extend(added.into_iter().filter_map(|folder| self.look_up(folder)));
        effects
    }

    /// Handles files that the client saw change.
    pub(crate) fn did_change_watched_files(
        &mut self,
        params: lsp::DidChangeWatchedFilesParams,
    ) -> Vec<SideEffect> {
        let (mut steering, mut others) = (Vec::new(), Vec::new());
        for change in &params.changes {
            let Some(path) = convert::path_of(&change.uri) else { continue };
            if watch::is_relevant(&path) {
                steering.push(path);
            } else if change.kind != lsp::FileChangeType::Changed
                && watch::may_be_of_work_tree(&path)
            {
                others.push(path);
            }
        }
        let steering = (!steering.is_empty()).then_some(SideEffect::FilesChanged(steering));
        let others = (!others.is_empty()).then_some(SideEffect::MadeOrDeleted(others));
        steering.into_iter().chain(others).collect()
    }

    /// Returns the side effect that finds the root of `folder`. `None` if the root is known or
    /// being looked up.
    pub(super) fn look_up(&mut self, folder: PathBuf) -> Option<SideEffect> {
        let known = self.now.workspaces.folders.contains_key(&folder);
        (!known && self.looked_up.insert(folder.clone())).then_some(SideEffect::FindPlace(folder))
    }

    /// Stores the workspace that was found for `folder`. `None` if no workspace governs it.
    pub(crate) fn place_found(
        &mut self,
        folder: PathBuf,
        place: Option<WorkspaceLocation>,
    ) -> Vec<SideEffect> {
        self.looked_up.remove(&folder);
        let governed = place.as_ref().filter(|place| place.governed);
        let root = governed.map(|place| place.root.clone());
        Arc::make_mut(&mut self.now.workspaces).folders.insert(folder.clone(), root.clone());
        let Some(place) = place else { return self.ungoverned(&folder) };
        let mut effects = Vec::new();
        self.places.insert(place.root.clone(), place);
        match root {
            Some(root) if self.now.workspaces.loaded.contains_key(&root) => {
                effects.extend(self.diagnose_open(|path| path.parent() == Some(&folder)));
            }
            Some(root) => effects.extend(self.load(root)),
            None => effects.extend(self.ungoverned(&folder)),
        }
        effects
    }

    /// Drops the workspaces that govern no folder any more, after it turned out that none governs
    /// `folder`.
    fn ungoverned(&mut self, folder: &Path) -> Vec<SideEffect> {
        let used: BTreeSet<PathBuf> =
            self.now.workspaces.folders.values().flatten().cloned().collect();
        let mut effects = self.keep_loaded(&used);
        if !effects.is_empty() {
            effects.extend(self.diagnose_open(|path| path.parent() == Some(folder)));
            effects.push(SideEffect::Refresh);
        }
        effects
    }

    /// Drops the workspaces at other roots than these. Diagnosing the unopened files of a dropped
    /// workspace removes what was published about them.
    fn keep_loaded(&mut self, used: &BTreeSet<PathBuf>) -> Vec<SideEffect> {
        let loaded = &mut Arc::make_mut(&mut self.now.workspaces).loaded;
        let gone: Vec<PathBuf> =
            loaded.keys().filter(|root| !used.contains(*root)).cloned().collect();
        loaded.retain(|root, _| used.contains(root));
        gone.into_iter().map(SideEffect::DiagnoseUnopened).collect()
    }

    /// Returns the side effect that loads a root. `None` if it is being loaded; it is then loaded
    /// once more afterwards.
    fn load(&mut self, root: PathBuf) -> Option<SideEffect> {
        if let Some(again) = self.loading.get_mut(&root) {
            *again = true;
            return None;
        }
        self.loading.insert(root.clone(), false);
        Some(SideEffect::Load(root))
    }

    /// Returns true if some workspace is being read for the first time. Answers are incomplete
    /// until then.
    pub(crate) fn is_reading(&self) -> bool {
        let is_new = |folder: &PathBuf| !self.now.workspaces.folders.contains_key(folder);
        self.looked_up.iter().any(is_new) || self.loading.keys().any(|root| self.is_first(root))
    }

    /// Returns true if the workspace of this document is being read for the first time.
    pub(crate) fn is_reading_for(&self, uri: &lsp::Uri) -> bool {
        let Some(path) = convert::path_of(uri) else { return false };
        let Some(folder) = path.parent() else { return false };
        match self.now.workspaces.folders.get(folder) {
            Some(Some(root)) => self.loading.contains_key(root) && self.is_first(root),
            Some(None) => false,
            None => self.looked_up.contains(folder),
        }
    }

    fn is_first(&self, root: &Path) -> bool {
        !self.now.workspaces.loaded.contains_key(root)
    }

    /// Stores a workspace that was loaded. If it could not be loaded, the one that was loaded
    /// before stays.
    pub(crate) fn loaded(
        &mut self,
        root: PathBuf,
        workspace: Result<Workspace, String>,
    ) -> Vec<SideEffect> {
        let again = self.loading.remove(&root).unwrap_or_default();
        let mut effects: Vec<SideEffect> = Vec::new();
        if again {
            effects.extend(self.load(root.clone()));
        }
        match workspace {
            Ok(workspace) => {
                let workspace = match self.now.workspaces.loaded.get(&root) {
                    Some(before) => workspace.judged_as(before),
                    None => workspace,
                };
                let before =
                    Arc::make_mut(&mut self.now.workspaces).loaded.insert(root.clone(), workspace);
                // The first load writes nothing to the disk. A later load means that something was
                // recorded or edited.
                if before.is_some() {
                    effects.push(SideEffect::RefreshMap(root.clone()));
                }
                effects.push(SideEffect::Refresh);
                effects.push(SideEffect::DiagnoseUnopened(root.clone()));
                effects.push(SideEffect::TellStatus(root.clone()));
                if self.told_of_hooks.insert(root.clone()) {
                    effects.push(SideEffect::TellOfGitHooks(root.clone()));
                }
                let workspaces = Arc::clone(&self.now.workspaces);
                effects.extend(self.diagnose_open(|path| {
                    let folder = path.parent().and_then(|folder| workspaces.folders.get(folder));
                    folder.is_some_and(|governing| governing.as_ref() == Some(&root))
                }));
            }
            Err(reason) => {
                let message = format!("{} could not be read: {reason}", root.display());
                effects.push(SideEffect::Log(lsp::MessageType::Error, message));
            }
        }
        effects
    }

    fn diagnose_open(&self, concerns: impl Fn(&Path) -> bool) -> Vec<SideEffect> {
        let concerned =
            self.now.documents.values().filter(|open| open.path.as_deref().is_some_and(&concerns));
        concerned.map(|open| SideEffect::DiagnoseNow(open.uri.clone())).collect()
    }

    /// Loads the workspaces of changed files again. Called when no more files change.
    pub(crate) fn files_settled(&mut self, paths: &[PathBuf]) -> Vec<SideEffect> {
        let mut effects = Vec::new();
        let mut roots = BTreeSet::new();
        for path in paths {
            let concerned = self.places.values().filter(|place| {
                place.governed
                    && (path.starts_with(&place.root)
                        || place.git_dir.as_ref().is_some_and(|git| path.starts_with(git)))
            });
            let before = roots.len();
            roots.extend(concerned.map(|place| place.root.clone()));
            // A client that reached the folder through a link uses other paths for its files. All
            // workspaces are then loaded again.
            if roots.len() == before {
                roots.extend(self.now.workspaces.loaded.keys().cloned());
            }
        }
        if paths.iter().any(|path| self.may_change_roots(path)) {
            effects.extend(self.look_up_again());
        }
        effects.extend(roots.into_iter().filter_map(|root| self.load(root)));
        effects
    }

    /// Looks up and loads everything again when watching begins, because changes before it were not
    /// noticed.
    pub(crate) fn reload_all(&mut self) -> Vec<SideEffect> {
        let mut effects = self.look_up_again();
        let loaded = self.now.workspaces.loaded.keys().chain(self.loading.keys());
        let roots: BTreeSet<PathBuf> = loaded.cloned().collect();
        effects.extend(roots.into_iter().filter_map(|root| self.load(root)));
        effects
    }

    /// Returns true if a change of this path may have created or removed a workspace.
    fn may_change_roots(&self, path: &Path) -> bool {
        let ours = |it: &Path| it.file_name().is_some_and(|name| name == ".orchestration");
        let policy = path.file_name().is_some_and(|name| name == "policy.yaml");
        if ours(path) || policy {
            return true;
        }
        let root = path.ancestors().filter(|it| ours(it)).last().and_then(Path::parent);
        root.is_some_and(|root| !self.now.workspaces.loaded.contains_key(root))
    }

    /// Looks up again which root governs each folder in use, and forgets the other folders.
    fn look_up_again(&mut self) -> Vec<SideEffect> {
        let folders: BTreeSet<PathBuf> = self.folders_in_use().map(Path::to_owned).collect();
        // The old answers are kept until the new ones arrive, so that nothing flickers.
        Arc::make_mut(&mut self.now.workspaces)
            .folders
            .retain(|folder, _| folders.contains(folder));
        self.looked_up.extend(folders.iter().cloned());
        folders.into_iter().map(SideEffect::FindPlace).collect()
    }

    /// Returns the folders of the open documents and of the window.
    fn folders_in_use(&self) -> impl Iterator<Item = &Path> {
        let opened = self.now.documents.values().filter_map(|open| open.path.as_ref()?.parent());
        opened.chain(self.now.folders.iter().map(PathBuf::as_path))
    }

    /// Drops the workspaces that no open document and no folder of the window needs.
    fn drop_unused(&mut self) -> Vec<SideEffect> {
        let roots = self
            .folders_in_use()
            .filter_map(|folder| self.now.workspaces.folders.get(folder)?.clone());
        let used: BTreeSet<PathBuf> = roots.collect();
        let effects = self.keep_loaded(&used);
        let folders = &mut Arc::make_mut(&mut self.now.workspaces).folders;
        folders.retain(|_, root| root.as_ref().is_none_or(|root| used.contains(root)));
        self.places.retain(|root, _| used.contains(root));
        effects
    }
}
