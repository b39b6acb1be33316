//! Determines which folders and files of the work tree a command may write.

use std::path::Path;

use crate::control::{is_control_path, may_hold};
use fence::stand_in::StandIn;
use fence::{FenceAccess, FencePlan};
use ground::RelativePath;
use intents::{Intent, Scope, ScopeVerdict};
use why::Workspace;

/// How many levels deep ignored outputs are searched for outside the writable folders.
const MAX_DEPTH: usize = 4;
/// The number of folders that are examined at most.
const MAX_FOLDERS: usize = 4000;
/// The number of single files outside writable folders that may be made writable.
const MAX_FILES: usize = 256;
/// Stands for any file in a folder. Rules about particular file names do not match it.
const ANYTHING: &str = "intent-fence-any";

pub(super) fn add_work_tree(ws: &Workspace, intents: &[String], plan: &mut FencePlan) {
    let owned = Owned::of_intents(ws, intents);
    let is_without_scope = intents.iter().any(|id| ws.registry.unadopted(id).is_some());
    let free = is_without_scope.then(|| owned_by_nobody(ws));
    let mut walk = FenceWalk {
        ws,
        ids: intents.iter().map(String::as_str).collect(),
        scopes: intents.iter().filter_map(|id| ws.registry.scope(id)).chain(&free).collect(),
        owned: &owned,
        protected: Scope::new(&ws.policy.protected_paths),
        plan,
        folders: 0,
        files: 0,
    };
    walk.add_missing();
    walk.visit(ws.root.path(), "", 0, false);
    for folder in &owned.folders {
        // The walk does not go deep everywhere, and not into a folder that an entry with `!` keeps.
        let path = ws.root.path().join(folder);
        let is_open = path.is_dir() && !is_control_path(folder) && !walk.is_kept(folder, true);
        if is_open && !walk.plan.lets_write(&path) {
            walk.open_folder(&path, folder);
        }
    }
    if walk.folders > MAX_FOLDERS {
        walk.plan.notes.push(format!(
            "only {MAX_FOLDERS} folders were looked into: control files and ignored outputs in others are not known"
        ));
    }
}

/// Returns what work under an intent without a scope may change: all that no intent in progress owns.
fn owned_by_nobody(ws: &Workspace) -> Scope {
    let others = ws.registry.intents().iter().filter(|intent| intent.in_progress());
    let owned = others.flat_map(Intent::scope_entries).filter(|entry| !entry.starts_with('!'));
    let excluded = owned.map(|entry| format!("!{entry}"));
    Scope::new(&std::iter::once("**".to_owned()).chain(excluded).collect::<Vec<_>>())
}

/// The files and folders that the entries of scopes name: `src/auth/**` names the folder `src/auth`,
/// and `README.md` names that file. `*.md` names neither, and may match files in any folder.
#[derive(Default)]
struct Owned {
    folders: Vec<String>,
    files: Vec<String>,
    /// Whether an entry may match files in any folder.
    anywhere: bool,
}

impl Owned {
    fn of_intents(ws: &Workspace, intents: &[String]) -> Self {
        let mut owned = Self::default();
        for id in intents {
            owned.anywhere |= ws.registry.unadopted(id).is_some();
            let (Some(intent), Some(scope)) = (ws.registry.get(id), ws.registry.scope(id)) else {
                continue;
            };
            let entries = intent.scope_entries().into_iter().enumerate();
            for (at, entry) in entries.filter(|(_, entry)| !entry.starts_with('!')) {
                let prefix = scope.entry_prefix(at);
                let whole = entry.trim_start_matches("./").trim_start_matches('/');
                if prefix == whole && !whole.ends_with('/') {
                    owned.files.push(whole.to_owned());
                } else if let Some((folder, _)) = prefix.rsplit_once('/') {
                    owned.folders.push(folder.to_owned());
                } else {
                    owned.anywhere = true;
                }
            }
        }
        owned
    }
}

struct FenceWalk<'a> {
    ws: &'a Workspace,
    ids: Vec<&'a str>,
    scopes: Vec<&'a Scope>,
    owned: &'a Owned,
    protected: Scope,
    plan: &'a mut FencePlan,
    folders: usize,
    files: usize,
}

impl FenceWalk<'_> {
    /// Adds what the scopes name. A folder that does not exist yet, such as `src/new` of `src/new/**`,
    /// is created as a stand-in, because only an existing folder can be made writable. A single file
    /// that does not exist cannot be made writable, so it is only noted.
    fn add_missing(&mut self) {
        for folder in &self.owned.folders {
            let path = self.ws.root.path().join(folder);
            if path.symlink_metadata().is_ok()
                || is_control_path(folder)
                || self.is_kept(folder, true)
            {
                continue;
            }
            let steps = path.ancestors().take_while(|step| *step != self.ws.root.path());
            let is_there = |step: &&Path| step.symlink_metadata().is_ok();
            let (there, missing): (Vec<&Path>, Vec<&Path>) = steps.partition(is_there);
            if there.iter().all(|step| step.is_dir() && !step.is_symlink()) {
                let why = self.by_whom();
                self.plan.add_place(&path, FenceAccess::Writable, why);
                // Outer folders are made first.
                for step in missing.into_iter().rev() {
                    let made = StandIn { path: step.to_path_buf(), text: None };
                    if !self.plan.stand_ins.contains(&made) {
                        self.plan.stand_ins.push(made);
                    }
                }
            }
        }
        for file in &self.owned.files {
            let path = self.ws.root.path().join(file);
            if path.symlink_metadata().is_err() {
                self.plan.notes.push(format!(
                    "{file} is not there, and a single file cannot be made inside the fence; make it first: `touch {}`",
                    ground::text::shell_word(file)
                ));
            } else if path.is_file() && !is_control_path(file) && !self.is_kept(file, false) {
                self.file(&path);
            }
        }
    }

    fn by_whom(&self) -> String {
        format!("owned by {}", self.ids.join(", "))
    }

    fn file(&mut self, path: &Path) {
        self.files += 1;
        if self.files <= MAX_FILES {
            self.plan.add_existing(path, FenceAccess::Writable, self.by_whom());
        } else if self.files == MAX_FILES + 1 {
            self.plan.notes.push(format!(
                "only {MAX_FILES} single files can be written; the rest of what the scopes name is read-only"
            ));
        }
    }

    fn open_folder(&mut self, path: &Path, folder: &str) {
        let why = self.by_whom();
        self.plan.add_existing(path, FenceAccess::Writable, why);
        self.visit(path, folder, 0, true);
    }

    /// Looks at everything in a folder. `open` says that the folder is writable, so what must not be
    /// written in it is made read-only. In any other folder, what may be written is made writable.
    fn visit(&mut self, folder: &Path, name: &str, depth: usize, open: bool) {
        self.folders += 1;
        if self.folders > MAX_FOLDERS {
            return;
        }
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let file_name = entry.file_name();
            // A name that is not UTF-8 belongs to no intent, and writing to a link writes to its
            // target, which is judged by itself.
            let Some(own_name) = file_name.to_str().filter(|_| !kind.is_symlink()) else {
                continue;
            };
            let below =
                if name.is_empty() { own_name.to_owned() } else { format!("{name}/{own_name}") };
            let path = entry.path();
            if is_control_path(&below)
                || (kind.is_dir() && own_name.starts_with('.') && may_hold(own_name))
            {
                self.keep(&path, open, "controls the gate or an agent");
            } else if kind.is_dir() {
                self.folder(&path, &below, depth, open);
            } else if open {
                if self.is_kept(&below, false) {
                    self.keep(&path, open, "kept from these intents");
                }
            } else if self.is_single(&below, depth) {
                self.file(&path);
            }
        }
    }

    /// Makes a place read-only if the folder around it is writable.
    fn keep(&mut self, path: &Path, open: bool, why: &str) {
        if open {
            self.plan.add_place(path, FenceAccess::ReadOnly, why);
        }
    }

    fn folder(&mut self, path: &Path, name: &str, depth: usize, open: bool) {
        if self.is_kept(name, true) {
            self.keep(path, open, "kept from these intents");
        } else if open {
            self.visit(path, name, depth + 1, true);
        } else if self.owned.folders.iter().any(|folder| folder == name) || self.owns_all_of(name) {
            self.open_folder(path, name);
        } else if self.is_ignored(name) {
            self.plan.add_place(path, FenceAccess::Writable, "ignored by git");
        } else if depth < MAX_DEPTH {
            self.visit(path, name, depth + 1, false);
        }
    }

    fn owns_all_of(&self, folder: &str) -> bool {
        self.is_owned(&format!("{folder}/{ANYTHING}"))
    }

    fn is_owned(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| matches!(scope.verdict_of(name), ScopeVerdict::Owned(_)))
    }

    /// Returns true for a writable file outside the writable folders: a file that a scope owns, or
    /// an ignored file at the root.
    fn is_single(&self, name: &str, depth: usize) -> bool {
        let Ok(path) = RelativePath::new(name) else { return false };
        let owned = self.owned.anywhere && self.scopes.iter().any(|scope| scope.owns(&path));
        (owned && !self.is_kept(name, false)) || (depth == 0 && self.ws.ignores.git_ignored(&path))
    }

    fn is_ignored(&self, folder: &str) -> bool {
        RelativePath::new(folder).is_ok_and(|path| self.ws.ignores.git_ignored_folder(&path))
    }

    /// Returns true if the rules, or the scopes themselves, deny the path to all these intents. A
    /// path that is no valid one is denied.
    fn is_kept(&self, name: &str, folder: bool) -> bool {
        let text = if folder { format!("{name}/{ANYTHING}") } else { name.to_owned() };
        let Ok(path) = RelativePath::new(&text) else { return true };
        let is_denied = |id: &&str| self.ws.ignores.denied_to(&path, &[id]).is_some();
        if self.protected.naming(name).or_else(|| self.protected.naming(&text)).is_some()
            || (!self.ids.is_empty() && self.ids.iter().all(is_denied))
        {
            return true;
        }
        let excludes =
            |scope: &&Scope| matches!(scope.verdict_of(&text), ScopeVerdict::Excluded(_));
        !self.is_owned(&text) && self.scopes.iter().any(excludes)
    }
}
