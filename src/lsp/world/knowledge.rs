//! Which workspaces exist and what is loaded of them. They are found and loaded on the lanes; the
//! loop stores the results here, and starts what depends on them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tower_lsp::lsp_types as lsp;

use super::{RootLoad, World};
use crate::ordered::Ordered;
use crate::workspace_location::WorkspaceLocation;
use crate::{convert, watch};
use why::Workspace;

impl Ordered {
    pub(crate) fn did_change_workspace_folders(
        &mut self,
        params: lsp::DidChangeWorkspaceFoldersParams,
    ) {
        let paths = |folders: &[lsp::WorkspaceFolder]| -> Vec<PathBuf> {
            folders.iter().filter_map(|folder| convert::path_of(&folder.uri)).collect()
        };
        let removed = paths(&params.event.removed);
        Arc::make_mut(&mut self.world.snapshot.folders).retain(|folder| !removed.contains(folder));
        self.drop_unused();
        for folder in paths(&params.event.added) {
            Arc::make_mut(&mut self.world.snapshot.folders).insert(folder.clone());
            self.look_up(folder);
        }
    }

    pub(crate) fn did_change_watched_files(&mut self, params: lsp::DidChangeWatchedFilesParams) {
        let (mut steering, mut others) = (Vec::new(), Vec::new());
        for change in &params.changes {
            let Some(path) = convert::path_of(&change.uri) else { continue };
            if watch::is_relevant(&path) {
                steering.push(path);
            } else if change.typ != lsp::FileChangeType::CHANGED
                && watch::may_be_of_work_tree(&path)
            {
                others.push(path);
            }
        }
        self.files_changed(steering);
        self.made_or_deleted(others);
    }

    /// Finds the root of `folder`, unless the root is known or being looked up.
    pub(crate) fn look_up(&mut self, folder: PathBuf) {
        let known = self.world.snapshot.workspaces.folders.contains_key(&folder);
        if !known && self.world.looked_up.insert(folder.clone()) {
            self.find_place(folder);
        }
    }

    /// Stores the workspace that was found for `folder`. `None` if no workspace governs it. Nothing
    /// is stored about a folder that was closed meanwhile.
    pub(crate) fn place_found(&mut self, folder: PathBuf, place: Option<WorkspaceLocation>) {
        let world = &mut self.world;
        world.looked_up.remove(&folder);
        if !world.folders_in_use().any(|used| used == folder) {
            Arc::make_mut(&mut world.snapshot.workspaces).folders.remove(&folder);
            return self.answer_held();
        }
        let known = place.as_ref().filter(|place| place.has_answers);
        let root = known.map(|place| place.root.clone());
        Arc::make_mut(&mut world.snapshot.workspaces).folders.insert(folder.clone(), root.clone());
        world.places.extend(place.map(|place| (place.root.clone(), place)));
        let is_dropped = self.drop_ungoverning();
        match root {
            Some(root) if !self.world.snapshot.workspaces.loaded.contains_key(&root) => {
                self.load(root)
            }
            None if !is_dropped => {}
            _ => self.diagnose_open(|path| path.parent() == Some(&folder)),
        }
        if is_dropped {
            self.refresh();
        }
        self.answer_held();
    }

    /// Drops the loaded workspaces that govern no folder. Returns true if there were any. Their
    /// unopened files are diagnosed once more, which removes what was published about them.
    fn drop_ungoverning(&mut self) -> bool {
        let folders = self.world.snapshot.workspaces.folders.values();
        let used: BTreeSet<PathBuf> = folders.flatten().cloned().collect();
        let loaded = &mut Arc::make_mut(&mut self.world.snapshot.workspaces).loaded;
        let is_unused = |root: &&PathBuf| !used.contains(*root);
        let gone: Vec<PathBuf> = loaded.keys().filter(is_unused).cloned().collect();
        loaded.retain(|root, _| used.contains(root));
        let any = !gone.is_empty();
        gone.into_iter().for_each(|root| self.diagnose_unopened(root));
        any
    }

    fn load(&mut self, root: PathBuf) {
        if let Some(load) = self.world.loading.get_mut(&root) {
            *load = RootLoad::Stale;
            return;
        }
        self.world.loading.insert(root.clone(), RootLoad::Current);
        self.read_workspace(root);
    }

    /// Stores a workspace that was loaded. If it could not be loaded, the one that was loaded
    /// before stays.
    pub(crate) fn loaded(&mut self, root: PathBuf, workspace: Result<Workspace, String>) {
        let load = self.world.loading.remove(&root);
        match workspace {
            Ok(workspace) => self.take_over(&root, workspace),
            Err(reason) => {
                let message = format!("{} could not be read: {reason}", root.display());
                self.outside.client.log(lsp::MessageType::ERROR, message);
            }
        }
        if load == Some(RootLoad::Stale) {
            self.load(root);
        }
        // The folders that it governed may have been closed while it was read.
        self.drop_ungoverning();
        self.answer_held();
    }

    fn take_over(&mut self, root: &Path, workspace: Workspace) {
        let loaded = &mut Arc::make_mut(&mut self.world.snapshot.workspaces).loaded;
        let workspace = match loaded.get(root) {
            Some(before) => workspace.judged_as(before),
            None => workspace,
        };
        loaded.insert(root.to_owned(), workspace);
        self.refresh();
        self.diagnose_unopened(root.to_owned());
        self.find_status(root.to_owned());
        if self.world.told_of_hooks.insert(root.to_owned()) {
            self.tell_of_git_hooks(root);
        }
        let workspaces = Arc::clone(&self.world.snapshot.workspaces);
        self.diagnose_open(|path| {
            let folder = path.parent().and_then(|folder| workspaces.folders.get(folder));
            folder.is_some_and(|governing| governing.as_deref() == Some(root))
        });
    }

    fn diagnose_open(&mut self, concerns: impl Fn(&Path) -> bool) {
        for open in Vec::from_iter(self.world.snapshot.documents.values().cloned()) {
            if open.path.as_deref().is_some_and(&concerns) {
                self.diagnose_after(open.uri.clone(), Duration::ZERO);
            }
        }
    }

    pub(crate) fn files_settled(&mut self) {
        let paths = std::mem::take(&mut self.changed_files);
        let mut roots = BTreeSet::new();
        for path in &paths {
            let concerned = self.world.places.values().filter(|place| {
                place.has_answers
                    && (path.starts_with(&place.root)
                        || place.git_dir.as_ref().is_some_and(|git| path.starts_with(git)))
            });
            let concerned: Vec<PathBuf> = concerned.map(|place| place.root.clone()).collect();
            // A client that reached the folder through a link uses other paths for its files. All
            // workspaces are then loaded again.
            if concerned.is_empty() {
                roots.extend(self.world.snapshot.workspaces.loaded.keys().cloned());
            }
            roots.extend(concerned);
        }
        if paths.iter().any(|path| self.world.may_change_roots(path)) {
            self.look_up_again();
        }
        roots.into_iter().for_each(|root| self.load(root));
    }

    /// Looks up and loads everything again when watching begins, because changes before it were not
    /// noticed.
    pub(crate) fn reload_all(&mut self) {
        self.look_up_again();
        let loaded = self.world.snapshot.workspaces.loaded.keys().chain(self.world.loading.keys());
        let roots: BTreeSet<PathBuf> = loaded.cloned().collect();
        roots.into_iter().for_each(|root| self.load(root));
    }

    fn look_up_again(&mut self) {
        let world = &mut self.world;
        let folders: BTreeSet<PathBuf> = world.folders_in_use().map(Path::to_owned).collect();
        // The old answers are kept until the new ones arrive, so that nothing flickers.
        let known = &mut Arc::make_mut(&mut world.snapshot.workspaces).folders;
        known.retain(|folder, _| folders.contains(folder));
        world.looked_up.extend(folders.iter().cloned());
        folders.into_iter().for_each(|folder| self.find_place(folder));
    }

    fn drop_unused(&mut self) {
        let world = &mut self.world;
        let known = &world.snapshot.workspaces.folders;
        let roots = world.folders_in_use().filter_map(|folder| known.get(folder)?.clone());
        let used: BTreeSet<PathBuf> = roots.collect();
        let folders = &mut Arc::make_mut(&mut world.snapshot.workspaces).folders;
        folders.retain(|_, root| root.as_ref().is_none_or(|root| used.contains(root)));
        world.places.retain(|root, _| used.contains(root));
        self.drop_ungoverning();
    }
}

impl World {
    /// Returns true if some workspace is being read for the first time. Answers are incomplete
    /// until then.
    pub(crate) fn is_reading(&self) -> bool {
        let is_new = |folder: &PathBuf| !self.snapshot.workspaces.folders.contains_key(folder);
        self.looked_up.iter().any(is_new) || self.loading.keys().any(|root| self.is_first(root))
    }

    pub(crate) fn is_reading_for(&self, uri: &lsp::Url) -> bool {
        let Some(path) = convert::path_of(self.snapshot.file_address(uri)) else { return false };
        let Some(folder) = path.parent() else { return false };
        match self.snapshot.workspaces.folders.get(folder) {
            Some(Some(root)) => self.loading.contains_key(root) && self.is_first(root),
            Some(None) => false,
            None => self.looked_up.contains(folder),
        }
    }

    pub(crate) fn root_being_read(&self, uri: &lsp::Url) -> Option<PathBuf> {
        let path = convert::path_of(self.snapshot.file_address(uri))?;
        self.snapshot.workspaces.folders.get(path.parent()?)?.clone()
    }

    fn is_first(&self, root: &Path) -> bool {
        !self.snapshot.workspaces.loaded.contains_key(root)
    }

    /// Returns true if a change of this path may have created or removed a workspace.
    fn may_change_roots(&self, path: &Path) -> bool {
        let ours = |it: &Path| it.file_name().is_some_and(|name| name == ".orchestration");
        let policy = path.file_name().is_some_and(|name| name == "policy.yaml");
        if ours(path) || policy {
            return true;
        }
        let root = path.ancestors().filter(|it| ours(it)).last().and_then(Path::parent);
        root.is_some_and(|root| !self.snapshot.workspaces.loaded.contains_key(root))
    }

    fn folders_in_use(&self) -> impl Iterator<Item = &Path> {
        let opened =
            self.snapshot.documents.values().filter_map(|open| open.path.as_ref()?.parent());
        opened.chain(self.snapshot.folders.iter().map(PathBuf::as_path))
    }
}
