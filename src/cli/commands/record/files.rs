//! Resolves the arguments of `intent record` to files, grouped by the workspace that contains them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::cli::{CliError, Context};
use ground::git::{ChangeKind, Target};
use ground::root::RootError;
use ground::{RelativePath, Root, ignores};
use why::{VerbError, Workspace};

pub(super) struct WorkspaceFiles {
    pub(super) workspace: Workspace,
    /// The named files and the files below named folders, in order and without duplicates.
    pub(super) files: BTreeSet<RelativePath>,
    pub(super) named: BTreeSet<RelativePath>,
}

pub(super) fn by_workspace(
    context: &Context,
    named: &[PathBuf],
) -> Result<Vec<WorkspaceFiles>, CliError> {
    let cwd = &context.cwd;
    let mut found = FoundFiles { context, all: BTreeMap::new(), roots: HashMap::new() };
    for path in named {
        let target = cwd.join(path);
        if target.is_dir() { found.folder(cwd, &target) } else { found.file(cwd, path) }?;
    }
    Ok(found.all.into_values().collect())
}

struct FoundFiles<'a> {
    context: &'a Context,
    all: BTreeMap<PathBuf, WorkspaceFiles>,
    roots: HashMap<PathBuf, Root>,
}

impl FoundFiles<'_> {
    /// Returns the root of a file. It is looked up only once for each folder.
    fn root(&mut self, file: &Path) -> Result<Root, RootError> {
        let folder = file.parent().unwrap_or(file);
        if let Some(root) = self.roots.get(folder) {
            return Ok(root.clone());
        }
        let root = Root::find(file, self.context.environment())?;
        self.roots.insert(folder.to_owned(), root.clone());
        Ok(root)
    }

    fn meant(&mut self, root: Root) -> &mut WorkspaceFiles {
        self.all.entry(root.path().to_owned()).or_insert_with(|| WorkspaceFiles {
            workspace: Workspace::at_root(root),
            files: BTreeSet::new(),
            named: BTreeSet::new(),
        })
    }

    fn file(&mut self, cwd: &Path, named: &Path) -> Result<(), CliError> {
        let target = cwd.join(named);
        let root = self.root(&target)?;
        self.context.refuse_outside(&root, named.display())?;
        let path = root.relative(cwd, &target)?;
        let meant = self.meant(root);
        if !target.exists() && !is_known(&meant.workspace, &path)? {
            return Err(self.context.missing_file(named));
        }
        // If `path` is a symbolic link, the answer names the file that the link leads to.
        meant.named.extend(meant.workspace.root.resolve(&path).ok());
        meant.named.insert(path.clone());
        meant.files.insert(path);
        Ok(())
    }

    fn folder(&mut self, cwd: &Path, folder: &Path) -> Result<(), CliError> {
        let root = Root::find(folder, self.context.environment())?;
        self.context.refuse_outside(&root, folder.display())?;
        let real = folder.canonicalize().map_err(|source| CliError::io(folder, "read", source))?;
        if !real.starts_with(root.path()) {
            // This fails, and its error says which path is outside of which folder.
            root.relative(cwd, folder)?;
        }
        let below = |path: &RelativePath| root.absolute(path).starts_with(&real);
        let mut paths: Vec<RelativePath> = ignores::walk(&root);
        paths.extend(missing_files(&self.meant(root.clone()).workspace)?);
        for path in paths.into_iter().filter(below) {
            let absolute = root.absolute(&path);
            let governing = self.root(&absolute)?;
            let path = match governing.path() == root.path() {
                true => path,
                false => governing.relative(cwd, &absolute)?,
            };
            self.meant(governing).files.insert(path);
        }
        Ok(())
    }
}

fn is_known(workspace: &Workspace, path: &RelativePath) -> Result<bool, VerbError> {
    if workspace.journal.of_path(path).next().is_some() {
        return Ok(true);
    }
    match (workspace.git(), workspace.head()) {
        (Some(git), Some(head)) => Ok(git.file_at(head, path)?.is_some()),
        _ => Ok(false),
    }
}

fn missing_files(workspace: &Workspace) -> Result<Vec<RelativePath>, VerbError> {
    let missing = |path: &RelativePath| !workspace.root.absolute(path).exists();
    let mut paths = workspace.journal.paths();
    paths.retain(missing);
    if let (Some(git), Some(head)) = (workspace.git(), workspace.head()) {
        let changes = git.changes(Some(head), &Target::WorkTree)?;
        let deleted = changes.into_iter().filter(|change| change.kind == ChangeKind::Deleted);
        paths.extend(deleted.map(|change| change.path));
    }
    Ok(paths)
}
