//! Reads those of git's settings that say how a repository is used. A setting of the repository wins over one of the
//! person or of the machine.

use std::path::PathBuf;

use gix::config::File;
use gix::config::path::interpolate::Context;

use super::Git;

impl Git {
    /// The folder in which git looks for hooks, and whether it may be shared with other repositories or be a part of the
    /// work tree: if `core.hooksPath` names it, or if it is a link.
    pub fn hooks_folder(&self) -> (PathBuf, bool) {
        let top = self.root.work_tree().unwrap_or(self.root.path());
        match self.setting(|file| path(file, "core.hooksPath")) {
            Some(folder) => (top.join(folder), true),
            None => {
                let as_git_says = || self.repository.to_thread_local().common_dir().to_owned();
                let folder = self.root.common_dir().unwrap_or_else(as_git_says).join("hooks");
                let is_link = folder.is_symlink();
                (folder, is_link)
            }
        }
    }

    /// Returns true if a person said `git config intent.hooks false`, and so wants none of our hooks in this
    /// repository, or with `--global` in none.
    pub fn declines_hooks(&self) -> bool {
        self.setting(|file| file.boolean("intent.hooks").ok().flatten()) == Some(false)
    }

    /// Whether git looks at whether files may be run as programs (`core.fileMode`).
    pub(super) fn heeds_modes(&self) -> bool {
        self.setting(|file| file.boolean("core.fileMode").ok().flatten()).unwrap_or(true)
    }

    fn setting<T>(&self, read: impl Fn(&File) -> Option<T>) -> Option<T> {
        let repo = self.repository.to_thread_local();
        let own = read(repo.config_snapshot().plumbing());
        own.or_else(|| read(&File::from_globals().ok()?))
    }
}

/// A path as git reads it: `~/hooks` is in the home folder.
fn path(file: &File, key: &str) -> Option<PathBuf> {
    let home = std::env::home_dir();
    let context = Context { home_dir: home.as_deref(), ..Context::default() };
    file.path(key)?.interpolate(context).ok()
}
