//! A work tree with real git, as the model sees it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::code;
use crate::support::{GIT, QUICK_GIT};

/// A work tree in which the model works.
#[derive(Clone, Debug)]
pub struct Tree {
    pub root: PathBuf,
}

/// The functions of a file, as names and texts.
pub type Functions = Vec<(String, String)>;

impl Tree {
    /// Runs git, and returns whether it succeeded. Git may refuse some of the drawn commands.
    pub fn git(&self, arguments: &[&str]) -> bool {
        let output = Command::new(&*GIT)
            .current_dir(&self.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_EDITOR", "true")
            .env("GIT_SEQUENCE_EDITOR", "sed -i -e '2,$s/^pick /squash /'")
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
            .args(["-c", "commit.gpgsign=false", "-c", "advice.detachedHead=false"])
            .args(QUICK_GIT)
            .args(arguments)
            .output()
            .expect("git runs");
        output.status.success()
    }

    /// Installs the git hooks of the tested program, which seal records into commits.
    pub fn put_in_hooks(&self) {
        let installed = Command::new(env!("CARGO_BIN_EXE_intent"))
            .current_dir(&self.root)
            .args(["git-hooks", "--install"])
            .output();
        assert!(installed.expect("the program runs").status.success());
    }

    pub fn told(&self, arguments: &[&str]) -> String {
        let output = Command::new(&*GIT).current_dir(&self.root).args(arguments).output();
        String::from_utf8_lossy(&output.expect("git runs").stdout).trim().to_owned()
    }

    pub fn commit(&self, message: &str) -> bool {
        self.git(&["add", "-A"]) && self.git(&["commit", "-qm", message, "--allow-empty"])
    }

    /// Returns the source files, relative to the root.
    pub fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        below(&self.root.join("src"), &mut found);
        let relative = |path: PathBuf| {
            let path = path.strip_prefix(&self.root).expect("below the root");
            path.to_string_lossy().into_owned()
        };
        let mut paths: Vec<String> = found.into_iter().map(relative).collect();
        paths.sort();
        paths
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).expect("a file")
    }

    pub fn functions(&self, path: &str) -> Option<Functions> {
        code::functions(&self.read(path))
    }

    /// Returns the functions of a file as it is committed.
    pub fn committed(&self, path: &str) -> Functions {
        code::functions(&self.told(&["show", &format!("HEAD:{path}")])).unwrap_or_default()
    }

    /// Writes a file, or deletes it if there are no functions left.
    pub fn write(&self, path: &str, functions: &Functions) {
        let file = self.root.join(path);
        if functions.is_empty() {
            std::fs::remove_file(file).expect("a file");
            return;
        }
        std::fs::create_dir_all(file.parent().expect("below the root")).expect("folders");
        let text = code::file(functions.iter().map(|(_, text)| text.as_str()));
        std::fs::write(file, text).expect("a file");
    }
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            below(&path, found);
        } else {
            found.push(path);
        }
    }
}
