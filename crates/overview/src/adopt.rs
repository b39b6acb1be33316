//! `intent adopt`: gives a scope to an intent that is kept in another format.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use ground::RelativePath;
use intents::sources::unit_of_path;
use intents::{ImportedIntent, scope};
use judgement::registry::{self, RegistryAnswer};
use judgement::selection;
use why::{VerbError, Workspace, commit_intents};

/// A proposed scope has at most this many entries for the files outside of the intent's own folder.
const MAX_ENTRIES: usize = 8;

/// The scope that an intent would get, and where each of its files is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeForAdoption {
    /// The entries of the scope.
    pub scope: Vec<String>,
    /// How many existing files were recorded under the intent.
    pub recorded: usize,
    /// How many existing files were changed by commits together with the files of the intent.
    pub committed: usize,
    /// How many existing files or folders the intent names.
    pub named: usize,
}

impl ScopeForAdoption {
    pub fn is_empty(&self) -> bool {
        self.recorded + self.committed + self.named == 0
    }
}

/// What `intent adopt` did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AdoptAnswer {
    #[serde(flatten)]
    pub registry: RegistryAnswer,
    /// The scope that the intent has now.
    pub owned_scope: Vec<String>,
    /// Whether it is selected for the person of this work tree now. It is not if another one was.
    pub selected: bool,
}

pub fn adoptable<'w>(ws: &'w Workspace, id: &str) -> Result<&'w ImportedIntent, VerbError> {
    ws.governed()?;
    let id = ws.intent(id)?.id.value.as_str();
    let imported = ws.registry.unadopted(id).ok_or_else(|| {
        let hint = format!("`intent edit {id} --add-scope GLOB` widens its scope");
        VerbError::mendable(format!("{id} is in the registry already"), hint)
    })?;
    match imported.format.is_work() {
        true => Ok(imported),
        false => Err(VerbError::refused(format!("{id} is a decision, and no work"))),
    }
}

/// Returns the scope that fits what is known of an intent: its own files, those that were changed for
/// it so far, and those that it names. Only what exists counts.
pub fn proposed_scope(
    ws: &Workspace,
    imported: &ImportedIntent,
) -> Result<ScopeForAdoption, VerbError> {
    let id = imported.intent.id.value.as_str();
    let is_code = |path: &RelativePath| {
        !path.is_orchestration()
            && unit_of_path(path.as_str()).is_none()
            && !ws.ignores.git_ignored(path)
    };
    let is_file = |path: &RelativePath| is_code(path) && ws.root.absolute(path).is_file();
    let entries = ws.entries_of(id).into_iter().flat_map(|entry| &entry.record.files);
    let recorded: BTreeSet<RelativePath> =
        entries.map(|file| file.relative_path.clone()).filter(is_file).collect();
    let committed: BTreeSet<RelativePath> =
        commit_intents::files_beside(ws, id)?.into_iter().filter(is_file).collect();
    let named = imported.scope_hints.iter().filter_map(|hint| RelativePath::new(hint).ok());
    let (files, folders): (BTreeSet<RelativePath>, BTreeSet<RelativePath>) =
        named.filter(is_code).filter(|path| ws.exists(path)).partition(is_file);
    let (recorded_count, committed_count) = (recorded.len(), committed.len());
    let named = files.len() + folders.len();
    let files: BTreeSet<RelativePath> =
        [recorded, committed, files].into_iter().flatten().collect();
    let scope =
        std::iter::once(own_files(ws, imported)).chain(few_globs(&files, folders)).collect();
    Ok(ScopeForAdoption { scope, recorded: recorded_count, committed: committed_count, named })
}

/// Returns the entry for the intent's own files, in which work ticks its boxes.
pub fn own_files(ws: &Workspace, imported: &ImportedIntent) -> String {
    let own = scope::entry_for(&imported.unit);
    if ws.root.absolute(&imported.unit).is_dir() { format!("{own}/**") } else { own }
}

/// Returns globs for files and folders. If there are too many, the deepest folders with several of
/// them stand for what is in them; never the root.
fn few_globs(files: &BTreeSet<RelativePath>, mut folders: BTreeSet<RelativePath>) -> Vec<String> {
    let is_in = |path: &RelativePath, folder: &RelativePath| {
        path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    loop {
        let all = folders.clone();
        folders.retain(|one| !all.iter().any(|other| is_in(one, other)));
        let single = files.iter().filter(|file| !folders.iter().any(|folder| is_in(file, folder)));
        let single: Vec<&RelativePath> = single.collect();
        let parents = single.iter().copied().chain(&folders).filter_map(parent);
        let deepest = parents.max_by_key(|parent| parent.as_str().matches('/').count());
        match deepest.filter(|_| single.len() + folders.len() > MAX_ENTRIES) {
            Some(folder) => drop(folders.insert(folder)),
            None => {
                let single = single.into_iter().map(scope::entry_for);
                let whole = folders.iter().map(|folder| format!("{}/**", scope::entry_for(folder)));
                return single.chain(whole).collect();
            }
        }
    }
}

fn parent(path: &RelativePath) -> Option<RelativePath> {
    RelativePath::new(path.as_str().rsplit_once('/')?.0).ok()
}

/// Writes the file that points to the intent, and selects the intent for the person of this work tree
/// if none is selected.
pub fn adopt(ws: &Workspace, id: &str, scope: Vec<String>) -> Result<AdoptAnswer, VerbError> {
    let registry = registry::adopt(ws, id, scope.clone())?;
    let after = ws.reload();
    let selected = after.selected(None).is_none();
    if selected {
        selection::bind(&after, after.intent(id)?, None)?;
    }
    Ok(AdoptAnswer { registry, owned_scope: scope, selected })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(files: &[&str], folders: &[&str]) -> Vec<String> {
        let set = |paths: &[&str]| {
            paths.iter().map(|path| RelativePath::new(path).expect("a path")).collect()
        };
        few_globs(&set(files), set(folders))
    }

    #[test]
    fn few_files_stand_for_themselves_and_many_for_their_folders() {
        assert_eq!(globs(&["a.rs", "src/b.rs"], &["web"]), ["a.rs", "src/b.rs", "web/**"]);
        assert_eq!(globs(&["src/x/a.rs"], &["src", "src/x"]), ["src/**"]);
        let many: Vec<String> = (0..9).map(|nth| format!("src/deep/{nth}.rs")).collect();
        let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
        many.push("src/main.rs");
        assert_eq!(globs(&many, &[]), ["src/main.rs", "src/deep/**"]);
        let top: Vec<String> = (0..9).map(|nth| format!("{nth}.rs")).collect();
        let top: Vec<&str> = top.iter().map(String::as_str).collect();
        assert_eq!(globs(&top, &[]).len(), 9, "the root stands for nothing");
    }
}
