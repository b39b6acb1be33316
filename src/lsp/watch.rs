//! Notices changes of the files from which a workspace is loaded: registry, intents in other
//! formats, policy, ledger, ignore files, and the state of git.
//!
//! A client with watchers reports the changes below its folders. Our own watcher runs as well,
//! because the root of the workspace may lie above the opened folder, the git directory may lie
//! outside of it (linked work trees, submodules), and many editors watch neither.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use serde_json::json;
use tower_lsp::lsp_types as lsp;

use super::workspace_location::WorkspaceLocation;
use intents::sources::{FOLDERS, unit_of_path};

/// The files and folders that matter beside the [`FOLDERS`] of other formats.
const OWN_GLOBS: [&str; 6] = [
    ".orchestration/**",
    ".intentignore",
    ".rooignore",
    ".gitignore",
    ".git/HEAD",
    ".git/logs/HEAD",
];

pub(crate) fn registration() -> lsp::Registration {
    let of_sources = FOLDERS.iter().map(|(folder, below)| format!("{folder}/{below}"));
    let globs = OWN_GLOBS.iter().map(|&glob| glob.to_owned()).chain(of_sources);
    let mut watchers: Vec<_> =
        globs.map(|glob| json!({ "globPattern": format!("**/{glob}") })).collect();
    // Of all other files, the client reports only creation and deletion, because a finding may name
    // a deleted file.
    let kind = lsp::WatchKind::Create | lsp::WatchKind::Delete;
    watchers.push(json!({ "globPattern": "**/*", "kind": kind }));
    lsp::Registration {
        id: "intent/watched-files".into(),
        method: "workspace/didChangeWatchedFiles".into(),
        register_options: Some(json!({ "watchers": watchers })),
    }
}

/// Returns true if a change of this file requires that its workspace is loaded again.
///
/// `local/` is left out, because caches are written there while a workspace is loaded, and watching
/// them would cause endless loading. Loading writes nothing to its folder `ungated/` (notes about
/// writes that happened without the gate), so that folder is watched.
pub(crate) fn is_relevant(path: &Path) -> bool {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    if let Some(at) = names.iter().position(|name| name == ".orchestration") {
        let below: Vec<&str> = names[at + 1..].iter().map(AsRef::as_ref).take(2).collect();
        // The server itself writes the map, for people.
        return match below[..] {
            ["intent_map.md", ..] => false,
            // A file with such a name is temporary and is renamed when it is complete.
            [name, ..] if name.starts_with(".intent-") => false,
            ["local", what, ..] => what == "ungated",
            ["local"] => false,
            _ => true,
        };
    }
    names.last().is_some_and(|name| {
        is_of_source(&names)
            || matches!(&**name, ".intentignore" | ".rooignore" | ".gitignore")
            || matches!(&**name, "rebase-merge" | "rebase-apply")
            || is_head(name)
    })
}

/// Returns true for a file of an intent that is kept in another format, as far as its path says, and
/// for what says which intents are being worked on.
fn is_of_source(names: &[Cow<'_, str>]) -> bool {
    let path = names.join("/");
    let mut ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    names.iter().any(|name| matches!(&**name, ".specify" | ".taskmaster"))
        || ends.any(|end| unit_of_path(end).is_some())
}

pub(crate) fn may_be_of_work_tree(path: &Path) -> bool {
    path.iter().all(|name| name != ".git" && name != ".orchestration")
}

/// Returns true for `HEAD`, its log (which a commit writes), and files like `MERGE_HEAD`.
fn is_head(name: &str) -> bool {
    name == "HEAD" || (name.ends_with("_HEAD") && !matches!(name, "FETCH_HEAD" | "ORIG_HEAD"))
}

pub(crate) struct Watcher {
    inner: RecommendedWatcher,
}

impl Watcher {
    pub(crate) fn start(
        changed: impl Fn(Vec<PathBuf>) + Send + 'static,
    ) -> Result<Self, notify::Error> {
        let inner = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            match event {
                // Reading a file also makes an event, and the server reads files all the time.
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
                Ok(event) => {
                    let paths: Vec<_> =
                        event.paths.into_iter().filter(|path| is_relevant(path)).collect();
                    if !paths.is_empty() {
                        changed(paths);
                    }
                }
                Err(error) => tracing::warn!(%error, "a change of files may have been missed"),
            }
        })?;
        Ok(Self { inner })
    }

    /// Watches a workspace. Reads the disk. The method must be called again after the folders of
    /// the workspace were created anew.
    ///
    /// The folders are watched even if the client watches them too, because some clients report
    /// only the files that they save themselves.
    pub(crate) fn watch(&mut self, place: &WorkspaceLocation) {
        self.add_path(&place.root, RecursiveMode::NonRecursive);
        for folder in [".orchestration"].iter().chain(FOLDERS.iter().map(|(folder, _)| folder)) {
            self.add_path(&place.root.join(folder), RecursiveMode::Recursive);
        }
        if let Some(git) = &place.git_dir {
            self.add_path(git, RecursiveMode::NonRecursive);
            self.add_path(&git.join("logs"), RecursiveMode::NonRecursive);
        }
    }

    fn add_path(&mut self, path: &Path, mode: RecursiveMode) {
        if !path.is_dir() {
            return;
        }
        if let Err(error) = self.inner.watch(path, mode) {
            tracing::warn!(path = %path.display(), %error, "this folder cannot be watched; its changes show when a file of it is saved in the editor");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_files_that_answers_depend_on_are_relevant() {
        for (path, expected) in [
            ("/w/.orchestration", true),
            ("/w/.orchestration/active_intents.yaml", true),
            ("/w/.orchestration/agent_trace/2026/02/x.jsonl", true),
            ("/w/.orchestration/local", false),
            ("/w/.orchestration/local/cache", false),
            ("/w/.orchestration/local/ungated", true),
            ("/w/.orchestration/local/ungated/1.json", true),
            ("/w/.intentignore", true),
            ("/w/.rooignore", true),
            ("/w/src/.gitignore", true),
            ("/w/.git/HEAD", true),
            ("/w/.git/logs/HEAD", true),
            ("/w/.git/MERGE_HEAD", true),
            ("/w/.git/rebase-merge", true),
            ("/w/.git/FETCH_HEAD", false),
            ("/w/.git/HEAD.lock", false),
            ("/w/.git/index", false),
            ("/w/openspec/changes/add-login/tasks.md", true),
            ("/w/.specify/feature.json", true),
            ("/w/.taskmaster/tasks/tasks.json", true),
            ("/w/openspec/project.md", false),
            ("/w/src/main.rs", false),
        ] {
            assert_eq!(is_relevant(Path::new(path)), expected, "{path}");
        }
        assert!(may_be_of_work_tree(Path::new("/w/src/main.rs")));
        for path in ["/w/.git/index", "/w/.git/objects/aa/bb", "/w/.orchestration/local/cache"] {
            assert!(!may_be_of_work_tree(Path::new(path)), "{path}");
        }
    }

    #[test]
    #[ignore = "slow"]
    fn our_own_watcher_sees_a_ledger_grow_and_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let git = root.join(".git");
        std::fs::create_dir_all(root.join(".orchestration/agent_trace")).unwrap();
        std::fs::create_dir_all(root.join(".orchestration/local/ungated")).unwrap();
        std::fs::create_dir_all(git.join("logs")).unwrap();
        std::fs::create_dir_all(root.join("openspec/changes/add-login")).unwrap();
        let (sender, changes) = channel();
        let mut watcher = Watcher::start(move |paths| drop(sender.send(paths))).unwrap();
        let place =
            WorkspaceLocation { root: root.clone(), has_answers: true, git_dir: Some(git.clone()) };
        watcher.watch(&place);
        let ledger = root.join(".orchestration/agent_trace/a.jsonl");
        let ungated = root.join(".orchestration/local/ungated/1.json");
        let tasks = root.join("openspec/changes/add-login/tasks.md");
        for path in [ledger, ungated, git.join("logs/HEAD"), tasks] {
            std::fs::write(&path, "x").unwrap();
            let told = changes.recv_timeout(Duration::from_secs(10)).unwrap();
            assert!(told.contains(&path), "{told:?}");
            while changes.recv_timeout(Duration::from_millis(30)).is_ok() {}
        }
        std::fs::read(git.join("logs/HEAD")).unwrap();
        std::fs::write(root.join("unrelated"), "x").unwrap();
        assert!(changes.recv_timeout(Duration::from_millis(100)).is_err());
    }
}
