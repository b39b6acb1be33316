//! A real workspace in a temporary folder, with short methods for tests.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod binary;
pub mod editor;
pub mod inside;
pub mod picture;
pub mod schema;

use judgement::judged_record;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use evidence::record;
use ground::RelativePath;
use why::{Workspace, answers};

use picture::Picture;

pub const REGISTRY: &str = "\
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
  - id: INT-002
    name: Billing
    status: IN_PROGRESS
    owned_scope: [\"billing/**\"]
  - id: INT-003
    name: Old times
    status: COMPLETED
    owned_scope: [\"old/**\"]
";

/// Returns true if `INTENT_TEST_ALL=1` asks for every case.
pub fn runs_all() -> bool {
    std::env::var("INTENT_TEST_ALL").is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// Returns the first value in a usual run, which tries a sample, and the second if every case is asked for.
pub fn sample_or_all<T>(sample: T, all: T) -> T {
    if runs_all() { all } else { sample }
}

/// Makes a folder for a test, in memory if there is room and `TMPDIR` is not set. The tests make and remove hundreds of
/// repositories, and ext4 needs a lot of time to find an inode that was not in use a few seconds ago.
pub fn temporary_folder() -> tempfile::TempDir {
    static PARENT: LazyLock<PathBuf> =
        LazyLock::new(|| folder_in_memory().unwrap_or_else(std::env::temp_dir));
    tempfile::tempdir_in(&*PARENT).expect("a temporary folder")
}

#[cfg(target_os = "linux")]
fn folder_in_memory() -> Option<PathBuf> {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    const ROOM: u64 = 4 << 30;
    let state = statvfs("/dev/shm").ok().filter(|_| std::env::var_os("TMPDIR").is_none())?;
    let can_hold_programs =
        !state.f_flag.intersects(StatVfsMountFlags::NOEXEC | StatVfsMountFlags::RDONLY);
    (can_hold_programs && state.f_bavail * state.f_frsize > ROOM).then(|| "/dev/shm".into())
}

#[cfg(not(target_os = "linux"))]
fn folder_in_memory() -> Option<PathBuf> {
    None
}

pub struct Repo {
    folder: tempfile::TempDir,
}

impl Repo {
    /// A git repository with the registry above committed.
    pub fn new() -> Self {
        static STARTED: LazyLock<Picture> = LazyLock::new(|| {
            let repo = Repo::without_git();
            repo.git(&["init", "-q", "-b", "main", "--template="]);
            repo.write(".orchestration/.gitignore", "/active_intent_current.json\n/local/\n");
            repo.commit("start");
            Picture::of(repo.folder.path())
        });
        let repo = Self { folder: temporary_folder() };
        STARTED.put_down(repo.folder.path());
        repo
    }

    pub fn without_git() -> Self {
        let repo = Self { folder: temporary_folder() };
        repo.write(".orchestration/active_intents.yaml", REGISTRY);
        repo
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder exists")
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.folder.path().join(path);
        std::fs::create_dir_all(file.parent().expect("below the root")).expect("folders");
        std::fs::write(file, text).expect("a file");
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).expect("a file")
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.folder.path().join(path)).expect("a file");
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(self.folder.path(), arguments)
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", message, "--allow-empty"]);
    }

    pub fn open(&self) -> Workspace {
        Workspace::open(self.folder.path(), &ground::Environment::of_process())
            .expect("a workspace")
    }

    /// Records the changes of files under an intent.
    pub fn record(&self, intent: &str, paths: &[&str]) -> record::RecordAnswer {
        self.record_as(intent, paths, record::RecordExtent::Changes)
    }

    pub fn record_as(
        &self,
        intent: &str,
        paths: &[&str],
        extent: record::RecordExtent,
    ) -> record::RecordAnswer {
        let request = record::RecordRequest {
            paths: paths.iter().map(|path| relative(path)).collect(),
            extent,
            intent: Some(intent.to_owned()),
            agent: Some("test-agent".to_owned()),
            ..record::RecordRequest::default()
        };
        judged_record::record(&self.open(), &request).expect("recorded")
    }

    /// Returns a line for each block of a file: `verdict intent kind name`.
    pub fn picture(&self, path: &str) -> String {
        let answer =
            answers::on_disk(&self.open(), &relative(path), answers::Which::All).expect("readable");
        picture_of(&answer)
    }
}

pub fn picture_of(answer: &answers::WhyAnswer) -> String {
    answer
        .blocks
        .iter()
        .map(|block| {
            let intent = block.intent.as_ref().map_or("-", |intent| intent.id.as_str());
            let inside = if block.only_inside { " (inside)" } else { "" };
            format!(
                "{} {intent} {} {}{inside}\n",
                block.verdict.as_str(),
                block.kind,
                block.qualified_name
            )
        })
        .collect()
}

pub fn relative(path: &str) -> RelativePath {
    RelativePath::new(path).expect("a workspace path")
}

/// The path of git. If a program is named without a folder and its variables change, the standard library copies the
/// whole process, and that of the tests is large.
pub static GIT: LazyLock<PathBuf> = LazyLock::new(|| {
    #[cfg(unix)]
    let found = ground::Environment::of_process().found_program("git");
    #[cfg(not(unix))]
    let found = None;
    found.unwrap_or_else(|| PathBuf::from("git"))
});

/// Options with which git neither waits for the disk nor tidies up. Tests need neither.
pub const QUICK_GIT: [&str; 6] =
    ["-c", "core.fsync=none", "-c", "gc.auto=0", "-c", "maintenance.auto=false"];

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(&*GIT)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args([
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.invalid",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(["-c", "protocol.file.allow=always"])
        .args(QUICK_GIT)
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
