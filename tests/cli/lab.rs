//! A folder in which tests run the real binary, cut off from the settings of this machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use serde_json::Value;

use crate::support::picture::Picture;
use crate::support::{GIT, QUICK_GIT, inside, temporary_folder};

pub struct Lab {
    folder: tempfile::TempDir,
    pub root: PathBuf,
}

impl Lab {
    pub fn bare_folder() -> Self {
        let folder = temporary_folder();
        let root = folder.path().canonicalize().expect("its real path").join("work");
        std::fs::create_dir(&root).expect("a folder in it");
        Self { folder, root }
    }

    pub fn git() -> Self {
        let lab = Self::bare_folder();
        lab.run_git(&["init", "-q", "-b", "main", "."]);
        lab
    }

    pub fn governed() -> Self {
        // `init` takes long, because it reads the whole program to recognise it again.
        Self::once(|| {
            let lab = Self::git();
            lab.fine(&["init"]);
            lab
        })
    }

    /// Returns a workspace whose intents are kept in a list, as those of earlier versions are.
    pub fn with_list() -> Self {
        Self::once(|| {
            let lab = Self::governed();
            lab.write("../keeps-a-list", "");
            lab.write(".orchestration/active_intents.yaml", "active_intents: []\n");
            lab
        })
    }

    /// Moves new intents into the list if they are kept in one. Only the first one has a file.
    fn keep_the_list(&self) {
        let folder = self.root.join(".orchestration/intents");
        if !self.root.join("../keeps-a-list").exists() || !folder.exists() {
            return;
        }
        let list = ".orchestration/active_intents.yaml";
        let head = std::fs::read_to_string(self.root.join(list)).unwrap_or_default();
        let mut text = head.replace("active_intents: []\n", "") + "active_intents:\n";
        for file in std::fs::read_dir(&folder).expect("files") {
            let entry = std::fs::read_to_string(file.expect("an entry").path()).expect("text");
            for (at, line) in entry.lines().enumerate() {
                text.push_str(&format!("  {} {line}\n", if at == 0 { "-" } else { " " }));
            }
        }
        std::fs::remove_dir_all(folder).expect("removed");
        self.write(list, text);
    }

    /// Returns a copy of what `make` makes, which is made only once; so nothing in it may contain the path of its
    /// folder.
    pub fn once(make: fn() -> Self) -> Self {
        static MADE: LazyLock<Mutex<BTreeMap<usize, Arc<OnceLock<Picture>>>>> =
            LazyLock::new(Mutex::default);
        let made = MADE.lock().expect("no panic before").entry(make as usize).or_default().clone();
        let picture = made.get_or_init(|| Picture::of(make().folder.path()));
        let lab = Self::bare_folder();
        picture.put_down(lab.folder.path());
        lab
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("written");
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).expect("text")
    }

    /// Makes an SSH key beside the folder, called `../NAME`.
    pub fn make_key(&self, name: &str) {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
            .arg(self.root.join("..").join(name))
            .status();
        assert!(made.expect("ssh-keygen is installed").success());
    }

    pub fn commit(&self) {
        self.run_git(&["add", "-A"]);
        self.run_git(&["commit", "-q", "-m", "a commit"]);
    }

    pub fn run_git(&self, arguments: &[&str]) {
        assert!(self.try_git(arguments), "git {arguments:?}");
    }

    /// Runs git, and returns whether it succeeded.
    pub fn try_git(&self, arguments: &[&str]) -> bool {
        self.git_output(arguments).status.success()
    }

    /// Runs git, which must succeed, and returns its output.
    pub fn read_git(&self, arguments: &[&str]) -> String {
        let output = self.git_output(arguments);
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    pub fn git_output(&self, arguments: &[&str]) -> Output {
        clean(Command::new(&*GIT), &self.root)
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
            .args(QUICK_GIT)
            .args(arguments)
            .output()
            .expect("git runs")
    }

    /// Returns the output of git, whether or not it succeeds.
    pub fn git_says(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git_output(arguments).stdout).expect("UTF-8")
    }

    /// Runs a command. It runs in this process if it can, because a start of the program takes longer than most commands.
    pub fn intent(&self, arguments: &[&str]) -> Output {
        let output = match inside::can_run(arguments) {
            true => inside::run(&self.root, arguments, variables(&self.root)),
            false => self.process(arguments),
        };
        self.keep_the_list();
        output
    }

    /// Starts the real program.
    pub fn process(&self, arguments: &[&str]) -> Output {
        clean(Command::new(env!("CARGO_BIN_EXE_intent")), &self.root)
            .args(arguments)
            .output()
            .expect("intent runs")
    }

    /// Runs a command as if it were pasted into a shell, and returns whether it succeeded.
    pub fn paste(&self, command: &str) -> bool {
        let program = Path::new(env!("CARGO_BIN_EXE_intent"));
        let mut path = program.parent().expect("a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut shell = clean(Command::new("sh"), &self.root);
        shell.args(["-c", command]).env("PATH", path).stdout(Stdio::null());
        shell.status().expect("a shell").success()
    }

    /// Returns the answer of a command with `--json`, whatever its exit code.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.intent(&[&["--json"], arguments].concat());
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// Runs a command that must succeed, and returns its output.
    pub fn fine(&self, arguments: &[&str]) -> String {
        let output = self.intent(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "intent {arguments:?}: {told}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

pub fn clean(mut command: Command, root: &Path) -> Command {
    command.current_dir(root).stdin(Stdio::null()).env_clear().envs(variables(root));
    command
}

/// Returns the variables that a command in a laboratory sees.
fn variables(root: &Path) -> [(OsString, OsString); 4] {
    [
        ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ("HOME", root.join("../home").into()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
    ]
    .map(|(name, value)| (name.into(), value))
}

/// Returns a session as it looks in a terminal. Parts that differ from run to run are masked.
pub fn transcript(lab: &Lab, lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let output = lab.intent(&words);
        text.push_str(&format!("$ intent {line}\n"));
        text.push_str(&String::from_utf8_lossy(&output.stdout));
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        match output.status.code() {
            Some(0) => {}
            code => text.push_str(&format!("[exit {}]\n", code.expect("an exit code"))),
        }
        text.push('\n');
    }
    masked(lab, &text)
}

pub fn masked(lab: &Lab, text: &str) -> String {
    let parent = lab.root.parent().expect("a parent").display().to_string();
    let mut text = text.replace(&parent, "[lab]").replace("1 minute ago", "just now");
    // The means that fences a command depends on the machine.
    let fence = text
        .lines()
        .find(|line| line.get(3..).is_some_and(|what| what.trim_start().starts_with("fence   ")));
    if let Some(line) = fence.map(str::to_owned) {
        text = text.replace(&line, "- fence           [of this machine]");
    }
    text = without_what_was_found(&text);
    for (pattern, shown) in [
        ("repository-data-################", "repository-data-[number]"),
        ("########-####-####-####-############", "[record]"),
        ("################################:9", "[record]"),
        ("9 minutes ago", "just now"),
        ("9999-99-99T99:99:99.999Z", "[time]"),
        ("9999-99-99T99:99:99Z", "[time]"),
        ("9999-99-99 99:99 UTC", "[date]"),
        ("########################################", "[commit]"),
        ("compared with ##########", "compared with [commit]"),
        ("commit     ##########", "commit     [commit]"),
        ("  at ##########", "  at [commit]"),
        ("commit    ##########", "commit    [commit]"),
        ("git       ##########", "git       [commit]"),
        ("##########:src", "[commit]:src"),
        ("git: t ##########", "git: t [commit]"),
        ("##########  t, just now", "[commit]  t, just now"),
        ("src/auth.rs in ##########", "src/auth.rs in [commit]"),
        ("(commit ##########, 9999-99-99)", "(commit [commit], [date])"),
    ] {
        text = replaced(&text, pattern, shown);
    }
    text
}

/// Removes the lines of `intent setup init` about installed agents and editors, because they depend on the machine.
fn without_what_was_found(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut skipped = false;
    for line in text.split('\n') {
        if line.starts_with("  found    ") {
            skipped = true;
        } else if !(skipped && line.is_empty() && lines.last() == Some(&"")) {
            lines.push(line);
            skipped = false;
        }
    }
    lines.join("\n")
}

/// Replaces each match of a pattern. In the pattern, `#` means a hexadecimal digit, `9` a decimal digit, and any other
/// character itself.
fn replaced(text: &str, pattern: &str, shown: &str) -> String {
    let fits = |at: &str| {
        let mut rest = at.chars();
        pattern.chars().all(|wanted| match (wanted, rest.next()) {
            ('#', Some(found)) => found.is_ascii_hexdigit(),
            ('9', Some(found)) => found.is_ascii_digit(),
            (wanted, found) => found == Some(wanted),
        })
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if fits(rest) {
            out.push_str(shown);
            rest = &rest[pattern.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}
