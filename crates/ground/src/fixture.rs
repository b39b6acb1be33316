//! A temporary folder for tests. Git commands in it ignore the configuration of the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Git, RelativePath, Root};

pub(super) struct TestFolder {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl TestFolder {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        Self { _folder: folder, path }
    }
    /// Makes a folder with an empty `.orchestration/`.
    pub fn governed() -> Self {
        let place = Self::new();
        place.folder(".orchestration");
        place
    }
    pub fn committed(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        place.git(&["init", "-q", "-b", "main"]);
        for (path, text) in files {
            place.write(path, text);
        }
        place.commit("first");
        place
    }
    pub fn path(&self) -> &Path {
        &self.path
    }
    pub fn join(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }
    pub fn folder(&self, path: &str) {
        std::fs::create_dir_all(self.join(path)).unwrap();
    }
    pub fn write(&self, path: &str, text: &str) {
        let path = self.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.join(path)).unwrap();
    }
    #[cfg(unix)]
    pub fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }
    pub fn root(&self, target: &str) -> Root {
        Root::find(&self.join(target), &crate::Environment::of_process()).unwrap()
    }
    pub fn open(&self, target: &str) -> Git {
        Git::open(&self.root(target)).unwrap().unwrap()
    }
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in("", arguments)
    }
    pub(crate) fn git_in(&self, folder: &str, arguments: &[&str]) -> String {
        let (succeeded, text) = self.try_git(folder, arguments);
        assert!(succeeded, "git {arguments:?}: {text}");
        text
    }
    /// Runs git. Returns whether it succeeded, and what it printed.
    pub fn try_git(&self, folder: &str, arguments: &[&str]) -> (bool, String) {
        let output = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"])
            .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(self.join(folder))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_EDITOR", "true")
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }
}

pub(super) fn path(text: &str) -> RelativePath {
    RelativePath::new(text).unwrap()
}
