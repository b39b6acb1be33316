//! A repository for each kind of user that the machine can run programs as, and the files that must not change in it.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use crate::support::binary::picture;
use crate::support::picture::Picture;
use crate::support::temporary_folder;

const REGISTRY: &str = "\
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/auth/**\", \"notes.md\", \"later/deep/**\", \"!src/auth/legacy/**\"]
  - id: INT-002
    name: Billing
    status: IN_PROGRESS
    owned_scope: [\"billing/**/*.ts\"]
";

/// An ordinary user that every system has.
const NOBODY: u32 = 65534;

/// A repository with a home folder beside it, and the user who owns them.
pub struct Lab {
    folder: tempfile::TempDir,
    pub user: Option<u32>,
    /// The copy of the program that this lab links to, if it needs one.
    program: Option<Arc<tempfile::TempDir>>,
}

/// Returns a folder with a copy of the program, which all labs share that exist at the same time. `cp` makes the copy:
/// if this process wrote it, a child started meanwhile would hold it open, and it could not be run.
fn shared_copy() -> Arc<tempfile::TempDir> {
    static SHARED: Mutex<Weak<tempfile::TempDir>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().expect("no panic before");
    shared.upgrade().unwrap_or_else(|| {
        let made = Arc::new(temporary_folder());
        let mut copying = Command::new("cp");
        copying.arg(env!("CARGO_BIN_EXE_intent")).arg(made.path().join("intent"));
        assert!(copying.status().expect("cp runs").success());
        *shared = Arc::downgrade(&made);
        made
    })
}

/// Returns a lab for each possible kind of user. If the kernel offers no namespaces, prints the reason and returns
/// none.
pub fn labs() -> Vec<Lab> {
    let own = Lab::new(None);
    if !own.intent(&["fence", "--probe"]).status.success() {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("skipped: the kernel makes no user namespaces here");
        }
        return Vec::new();
    }
    let root = own.root().metadata().expect("a folder").uid() == 0;
    let mut labs = vec![own];
    if root && Command::new("setpriv").arg("--version").output().is_ok() {
        let other = Lab::new(Some(NOBODY));
        // Other users may not be able to enter the folder for temporary files.
        match other.intent(&["--version"]).status.success() {
            true => labs.push(other),
            #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
            false => eprintln!("skipped as an ordinary user: it cannot start the program here"),
        }
    }
    labs
}

impl Lab {
    pub fn new(user: Option<u32>) -> Self {
        static MADE: LazyLock<Picture> = LazyLock::new(|| Picture::of(&Lab::made().top()));
        Self::like(&MADE, user)
    }

    /// A lab that also has a branch and a stash with changes out of scope.
    pub fn with_branch_and_stash(user: Option<u32>) -> Self {
        static MADE: LazyLock<Picture> = LazyLock::new(|| {
            let lab = Lab::made();
            lab.sh(
                "git checkout -qb side && echo side > README.md && git commit -qam side && git checkout -q main; \
                 echo stashed > README.md && git stash -q",
            );
            Picture::of(&lab.top())
        });
        Self::like(&MADE, user)
    }

    /// A copy of a prepared lab.
    fn like(picture: &Picture, user: Option<u32>) -> Self {
        let folder = temporary_folder();
        let mut lab = Self { folder, user, program: None };
        picture.put_down(&lab.top());
        lab.own(&lab.top());
        if user.is_some() {
            lab.link_program();
        }
        lab
    }

    fn made() -> Self {
        let folder = temporary_folder();
        let lab = Self { folder, user: None, program: None };
        for (path, text) in [
            ("work/.orchestration/active_intents.yaml", REGISTRY),
            ("work/.orchestration/policy.yaml", "mode: enforce\n"),
            ("work/.orchestration/.gitignore", "/active_intent_current.json\n/local/\n"),
            ("work/.intentignore", "# intent: deny-write\nsrc/auth/kept/\n"),
            ("work/.gitignore", "/target/\nnode_modules/\n"),
            ("work/src/auth/sign_in.rs", "fn sign_in() {}\n"),
            ("work/src/auth/legacy/old.rs", "fn old() {}\n"),
            ("work/src/auth/kept/a.rs", "fn kept() {}\n"),
            ("work/src/auth/.claude/settings.json", "{}\n"),
            ("work/src/other.rs", "fn other() {}\n"),
            ("work/billing/a.ts", "let a = 1\n"),
            ("work/notes.md", "notes\n"),
            ("work/README.md", "read me\n"),
            ("work/.claude/settings.json", "{}\n"),
            ("work/target/built", "x\n"),
            ("work/packages/web/node_modules/x", "x\n"),
            ("work/Makefile", "docs:\n\techo x > README.md\nundocs:\n\trm README.md\n"),
            ("work/package.json", "{\"scripts\": {\"docs\": \"echo x > README.md\"}}\n"),
            ("work/tools/gen.py", "open('README.md', 'w').write('x')\n"),
            ("work/tools/gen.sh", "echo x > README.md\n"),
            ("work/change.patch", "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-read me\n+x\n"),
            ("home/.claude/settings.json", "{}\n"),
            ("home/.gitconfig", "[user]\n\tname = t\n\temail = t@example.invalid\n"),
        ] {
            lab.write(path, text);
        }
        lab.sh("git init -q -b main . && git add -A && git commit -qm start");
        lab
    }

    /// Links the program into a folder that other users can enter, because the build folder may be closed to them.
    fn link_program(&mut self) {
        let (built, here) = (env!("CARGO_BIN_EXE_intent"), self.top().join("intent"));
        if std::fs::hard_link(built, &here).is_err() {
            let copy = self.program.insert(shared_copy());
            std::fs::hard_link(copy.path().join("intent"), here).expect("linked");
        }
    }

    /// The path of the program under test.
    pub fn program(&self) -> String {
        match self.user {
            Some(_) => self.top().join("intent").display().to_string(),
            None => env!("CARGO_BIN_EXE_intent").to_owned(),
        }
    }

    pub fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder exists")
    }

    pub fn root(&self) -> PathBuf {
        self.top().join("work")
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.top().join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, text).expect("a file");
    }

    pub fn own(&self, path: &Path) {
        let Some(user) = self.user else { return };
        chown(path, Some(user), Some(user)).expect("given away");
        if path.is_dir() && !path.is_symlink() {
            for entry in std::fs::read_dir(path).expect("a folder") {
                self.own(&entry.expect("an entry").path());
            }
        }
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = match self.user {
            None => Command::new(program),
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={user}")).arg(format!("--regid={user}"));
                command.args(["--clear-groups", program]);
                command
            }
        };
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.top().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("TOP", self.top())
            .stdin(Stdio::null());
        command
    }

    pub fn intent(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(&self.program());
        command.args(arguments).output().expect("the binary runs")
    }

    /// Runs a shell script behind the fence, and returns its exit code and standard error.
    pub fn fenced(&self, script: &str) -> (i32, String) {
        let output = self.intent(&["fence", "--", "sh", "-c", script]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!told.contains("panicked"), "{told}");
        (output.status.code().unwrap_or(-1), told)
    }

    pub fn start(&self, script: &str) -> std::process::Child {
        let mut command = self.command(&self.program());
        command.args(["fence", "--", "sh", "-c", script]).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    pub fn sh(&self, script: &str) -> String {
        let output = self.command("sh").args(["-ec", script]).output().expect("a shell");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{script}: {told}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns every file that no fenced command may change, with its mode, if both intents are selected.
    pub fn kept(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
        self.kept_but(&["src/auth", "billing", "target", "packages/web/node_modules", "later"])
    }

    /// Returns every file outside of these folders, with its mode: files of the work tree, and files that control the
    /// gate or git.
    pub fn kept_but(&self, open: &[&str]) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
        let root = self.root();
        let open = |path: &Path| {
            let path = path.strip_prefix(&root).unwrap_or(path);
            let kept = ["src/auth/legacy", "src/auth/kept", "src/auth/.claude"];
            path == Path::new("notes.md")
                || open.iter().any(|folder| path.starts_with(folder))
                    && !kept.iter().any(|folder| path.starts_with(folder))
        };
        let mut files = picture(&root);
        files.extend(picture(&self.top().join("home/.claude")));
        for name in ["config", "commondir", "hooks/post-commit", "info/attributes", "intent/forged"]
        {
            let path = root.join(".git").join(name);
            if let Ok(bytes) = std::fs::read(&path) {
                files.insert(path, bytes);
            }
        }
        files.retain(|path, _| !open(path));
        let with_mode = |(path, bytes): (PathBuf, Vec<u8>)| {
            let mode = path.symlink_metadata().expect("there").permissions().mode();
            (path, (bytes, mode))
        };
        files.into_iter().map(with_mode).collect()
    }
}
