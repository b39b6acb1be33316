//! Measures a commit of files that an agent changed and recorded, with the git hooks that seal its evidence.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::measured::{Page, ran};
use support::{git, write};

const INTENT: &str = "INT-001";
/// Functions of seven lines each, so that a file has 280 lines.
const FUNCTIONS: usize = 40;

/// Adds a row for a commit of 10 files and one for a commit of 500, each compared with the same commit without hooks.
/// A commit without hooks leaves its evidence to the next one. Returns how many times as long as 10 files 500 take,
/// which is 50 if a file always costs the same.
pub fn measure(page: &mut Page, binary: &Path, calls: usize) -> f64 {
    page.head("a commit of recorded files of 280 lines; held against one without hooks");
    let [small, large] = [(10, calls.min(20)), (500, calls.min(3))].map(|(files, calls)| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let repository = Repository { folder: folder.path(), binary, files };
        repository.begin();
        page.in_turn(
            &format!("git commit, {files} files"),
            calls,
            |call| repository.commit(2 * call + 1, true),
            || repository.commit(0, false),
        )
    });
    large / small
}

struct Repository<'a> {
    folder: &'a Path,
    binary: &'a Path,
    files: usize,
}

impl Repository<'_> {
    fn begin(&self) {
        git(self.folder, &["init", "-q", "-b", "main", "--template="]);
        self.ask(&["init"]);
        self.ask(&["git-hooks", "--install"]);
        let registry = format!(
            "active_intents:\n  - id: {INTENT}\n    name: Everything\n    status: IN_PROGRESS\n    owned_scope: [\"src/**\"]\n"
        );
        write(self.folder, ".orchestration/active_intents.yaml", &registry);
        self.commit(0, false);
    }

    /// Changes and records a function of every file, and returns how long git takes for the commit.
    fn commit(&self, version: usize, hooks: bool) -> Duration {
        let paths: Vec<String> = (0..self.files).map(|at| format!("src/file{at}.py")).collect();
        for (at, path) in paths.iter().enumerate() {
            write(self.folder, path, &text(at, version));
        }
        let mut record = vec!["record", "-q", "--intent", INTENT];
        record.extend(paths.iter().map(String::as_str));
        self.ask(&record);
        git(self.folder, &["add", "-A"]);
        let mut commit = Command::new("git");
        commit.current_dir(self.folder).stderr(Stdio::null());
        commit.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]);
        commit.args(["-c", "commit.gpgsign=false", "-c", "gc.auto=0"]);
        if !hooks {
            commit.args(["-c", "core.hooksPath=/dev/null"]);
        }
        ran(commit.args(["commit", "-qm", "Change"]), &[0])
    }

    fn ask(&self, words: &[&str]) {
        let mut command = Command::new(self.binary);
        ran(command.args(words).current_dir(self.folder).stderr(Stdio::null()), &[0, 1]);
    }
}

/// Returns a file whose first function has this version.
fn text(file: usize, version: usize) -> String {
    let function = |at: usize| {
        let version = if at == 0 { version } else { 0 };
        format!(
            "def step_{file}_{at}(values):\n    total = {version}\n    for value in values:\n        \
             if value % {} == {at}:\n            total += value\n    return total\n\n",
            at + 2
        )
    };
    (0..FUNCTIONS).map(function).collect()
}
