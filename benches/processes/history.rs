//! Measures questions in ledgers of many commits, each of which contains the evidence of its changes.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use history::LineText;
use ledger::{Digest, LineRuns, evidence};
use sha2::{Digest as _, Sha256};

use crate::measured::{Page, median, peak_memory, ran};
use support::git;

const SMALL: usize = 300;
/// The file that is asked about, with eleven records over the whole history.
const HOT: &str = "src/hot.py";
const HOT_RECORDS: usize = 11;
const FUNCTIONS: usize = 10;
/// The numbers of files that commits change, in turn: 2.4 records a commit.
const FILES_OF_COMMIT: [usize; 5] = [2, 2, 3, 2, 3];
/// The file that every commit of the crowded history changes, and the number of these commits.
const CROWDED: &str = "src/crowded.py";
const CROWDED_COMMITS: usize = 1_000;
const CROWDED_FUNCTIONS: usize = 1_250;
/// The time of the first commit, 2023-01-01, and a span of three years.
const BEGIN: usize = 1_672_531_200;
const SECONDS: usize = 3 * 365 * 86_400;

/// Adds the rows of a small history, of one with this number of commits, and of a file that all commits change.
pub fn measure(page: &mut Page, binary: &Path, calls: usize, commits: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    Story::new(&small, binary).usual(SMALL);
    Story::new(&large, binary).usual(commits);
    let asked = |program: &Path, folder: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(folder).args(words).stderr(Stdio::null());
        ran(&mut command, &[0, 1])
    };
    page.head(&format!("{commits} commits; held against {SMALL}"));
    let fresh = |of: &Path| {
        let clone = folder.path().join("clone");
        let _ = fs::remove_dir_all(&clone);
        git(
            folder.path(),
            &["clone", "-q", "--no-hardlinks", &of.to_string_lossy(), &clone.to_string_lossy()],
        );
        asked(binary, &clone, &["why", HOT])
    };
    page.in_turn("why FILE, first in a fresh clone", 3, |_| fresh(&large), || fresh(&small));
    for folder in [&small, &large] {
        asked(binary, folder, &["why", HOT]);
    }
    let why = |folder: &Path| asked(binary, folder, &["why", HOT]);
    page.in_turn("why FILE, warm", calls, |_| why(&large), || why(&small));
    // Twenty commits, of a long history and of a short one.
    let check = |folder: &Path| asked(binary, folder, &["check", "--base", "HEAD~20"]);
    check(&large);
    check(&small);
    page.in_turn("check --base, 20 commits", calls, |_| check(&large), || check(&small));

    page.head(&format!("{commits} commits; held against `sha256sum` of the same files"));
    let listed = folder.path().join("files");
    fs::write(&listed, evidence_of(&large).join("\0")).expect("a list");
    let summed = || {
        let mut command = Command::new("xargs");
        command.args(["-0", "-a"]).arg(&listed).arg("sha256sum").current_dir(&large);
        ran(&mut command, &[0])
    };
    page.in_turn("verify", calls.min(5), |_| asked(binary, &large, &["verify"]), summed);

    page.head(&format!(
        "{commits} commits; held against `git log --raw` of the folder with evidence"
    ));
    let log = || {
        let words = ["log", "--raw", "--format=%H", "--", ".orchestration"];
        asked(Path::new("git"), &large, &words)
    };
    page.in_turn("export", 3, |_| asked(binary, &large, &["export"]), log);
    let peak = |folder: &Path| {
        peak_memory(Command::new(binary).arg("export").current_dir(folder).stderr(Stdio::null()))
    };
    page.text(&format!(
        "export: at most {} MB, of {SMALL} commits {} MB\n",
        peak(&large),
        peak(&small)
    ));

    let crowded = folder.path().join("crowded");
    Story::new(&crowded, binary).crowded();
    page.head(&format!("a file that {CROWDED_COMMITS} commits change; held against `git blame`"));
    let blame = || asked(Path::new("git"), &crowded, &["blame", CROWDED]);
    let first = asked(binary, &crowded, &["why", CROWDED]);
    page.row("why FILE, nothing kept yet", &mut [first], median(&mut [blame(), blame(), blame()]));
    let why = |_| asked(binary, &crowded, &["why", CROWDED]);
    page.in_turn("why FILE, warm", calls.min(20), why, blame);
}

/// Returns the files of evidence below a repository, relative to it.
fn evidence_of(folder: &Path) -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", ".orchestration/agent_trace/*.jsonl"])
        .current_dir(folder)
        .output()
        .expect("git is installed");
    String::from_utf8(output.stdout).expect("plain names").lines().map(str::to_owned).collect()
}

/// A history that is made by one `git fast-import`.
struct Story {
    folder: PathBuf,
    import: Child,
    out: BufWriter<ChildStdin>,
    versions: HashMap<String, Vec<usize>>,
    chance: usize,
}

impl Story {
    fn new(folder: &Path, binary: &Path) -> Self {
        fs::create_dir_all(folder).expect("a new folder");
        git(folder, &["init", "-q", "-b", "main"]);
        let mut init = Command::new(binary);
        ran(init.arg("init").current_dir(folder).stderr(Stdio::null()), &[0]);
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", "Begin"]);
        let mut import = Command::new("git")
            .args(["fast-import", "--quiet", "--force"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .spawn()
            .expect("git is installed");
        let out = BufWriter::new(import.stdin.take().expect("a pipe"));
        let (folder, versions) = (folder.to_path_buf(), HashMap::new());
        Self { folder, import, out, versions, chance: 1 }
    }

    /// Each commit changes a function in two or three files.
    fn usual(mut self, commits: usize) {
        let names: Vec<String> = (0..(commits / 40).max(20))
            .map(|at| format!("src/part{}/file{at}.py", at % 40))
            .collect();
        let hot: Vec<usize> =
            (0..HOT_RECORDS).map(|at| at * (commits - 1) / (HOT_RECORDS - 1)).collect();
        for at in 0..commits {
            let mut changed: Vec<String> = Vec::new();
            if hot.contains(&at) {
                changed.push(HOT.to_owned());
            }
            while changed.len() < FILES_OF_COMMIT[at % FILES_OF_COMMIT.len()] {
                let name = &names[self.random(names.len())];
                if !changed.contains(name) {
                    changed.push(name.clone());
                }
            }
            self.commit(at, commits, &changed, FUNCTIONS, true);
        }
        self.import();
    }

    /// Each commit changes a function of one large file, every second one with evidence.
    fn crowded(mut self) {
        for at in 0..CROWDED_COMMITS {
            self.commit(at, CROWDED_COMMITS, &[CROWDED.to_owned()], CROWDED_FUNCTIONS, at % 2 == 0);
        }
        self.import();
    }

    fn random(&mut self, below: usize) -> usize {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.chance >> 33) % below
    }

    fn commit(
        &mut self,
        at: usize,
        of: usize,
        changed: &[String],
        functions: usize,
        recorded: bool,
    ) {
        let seconds = BEGIN + SECONDS * at / of;
        let head = format!(
            "commit refs/heads/main\ncommitter Ada <ada@example.org> {seconds} +0000\ndata 6\nChange\n"
        );
        self.put(&head);
        if at == 0 {
            self.put("from refs/heads/main^0\n");
            self.blob(".orchestration/active_intents.yaml", &registry());
        }
        let time = jiff::Timestamp::from_second(seconds as i64).expect("a time").to_string();
        let intent = at % 8 + 1;
        let mut evidence = format!(
            "{{\"evidence\":3,\"intents\":[{{\"id\":\"INT-00{intent}\",\"hash\":\"{}\",\"name\":\"Intent {intent}\"}}],\
             \"sessions\":[{{\"id\":\"claude-code:{:x}\",\"type\":\"AI\",\"model\":\"example/model-1\",\"tool\":\"claude-code\"}}]}}\n",
            short("intent"),
            at / 5
        );
        for path in changed {
            let one = self.random(functions);
            let (is_new, versions) = match self.versions.get_mut(path) {
                Some(versions) => {
                    versions[one] += 1;
                    (false, versions.clone())
                }
                None => (true, vec![1; functions]),
            };
            self.versions.insert(path.clone(), versions.clone());
            let name = path.rsplit('/').next().expect("a name").trim_end_matches(".py");
            let bodies: Vec<String> =
                versions.iter().enumerate().map(|(at, version)| body(name, at, *version)).collect();
            let all = 0..functions;
            let blocks: Vec<String> = all
                .filter(|at| is_new || *at == one)
                .map(|at| {
                    let first = at * 4 + 1;
                    format!(
                        "[\"function\",\"{name}_{at}\",\"{first}-{}\",\"{}\"]",
                        first + 2,
                        short(&bodies[at])
                    )
                })
                .collect();
            let text = bodies.join("\n\n") + "\n";
            // A change leaves the first line of its function as it was.
            let brought = one * 4 + 1..one * 4 + 3;
            let lines = LineRuns::of_chosen(&LineText::new(text.clone().into_bytes()), |line| {
                is_new || brought.contains(&line)
            });
            self.blob(path, &text);
            writeln!(
                evidence,
                "{{\"intent\":0,\"by\":0,\"time\":\"{time}\",\"path\":\"{path}\",\"strength\":\"observed\",\"lines\":\"{lines}\",\"blocks\":[{}]}}",
                blocks.join(",")
            )
            .expect("a string");
        }
        if recorded {
            let path = evidence::path_of(Digest::compute(evidence.as_bytes()), &time);
            self.blob(path.as_str(), &evidence);
        }
    }

    fn blob(&mut self, path: &str, text: &str) {
        let head = format!("M 100644 inline {path}\ndata {}\n", text.len());
        self.put(&head);
        self.put(text);
        self.put("\n");
    }

    fn put(&mut self, text: &str) {
        self.out.write_all(text.as_bytes()).expect("git reads");
    }

    /// Makes git check out the imported commits.
    fn import(self) {
        let Self { folder, mut import, out, .. } = self;
        drop(out.into_inner().expect("git reads"));
        assert!(import.wait().expect("it ends").success(), "git fast-import failed");
        git(&folder, &["reset", "-q", "--hard"]);
    }
}

fn registry() -> String {
    let intent = |at| {
        format!(
            "  - id: INT-00{at}\n    name: Intent {at}\n    status: IN_PROGRESS\n    owned_scope: ['**']\n"
        )
    };
    "active_intents:\n".to_owned() + &(1..=8).map(intent).collect::<String>()
}

fn body(name: &str, function: usize, version: usize) -> String {
    format!(
        "def {name}_{function}(value):\n    limit = value * {version} + {function}\n    return [limit, {version}, \"{name}\"]"
    )
}

fn short(text: &str) -> String {
    format!("s:{}", URL_SAFE_NO_PAD.encode(&Sha256::digest(text)[..16]))
}
