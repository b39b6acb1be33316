//! Is a recorded block found again? Runs cases of real histories through the code behind `record` and `why`.
//!
//! `cargo run --release -p xtask -- tracking CASES.jsonl` reads lines of two types: `{"type":"file","blob","text"}`,
//! then `{"type":"case","id","block":{"path","start_line","end_line"},"before":[{"path","blob"}],"after":[…]}`. For
//! each case it makes a git repository of the before files, records the block of those lines under an intent, replaces
//! the before files by the after files, asks for the reason of each of their blocks, and prints where the record was
//! found: `{"id","verdict","path","start_line","end_line","tier"}`, or `{"id","verdict":"lost"}`.
//!
//! `--score` prints a table instead, which compares the answers with the expected results; the answers never use those.
//! `--unrelated N` adds N files of other cases, from other repositories, to the after files. `--explain ID` shows one
//! case.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use code::LineRange;
use evidence::record::{RecordExtent, RecordRequest};
use ground::RelativePath;
use judgement::judged_record;
use why::Workspace;
use why::answers::{self, BlockAnswer, Which};

mod score;

/// The question of a case. Only the scorer reads the expected result.
#[derive(Deserialize)]
struct Case {
    id: String,
    /// The project that the case comes from.
    #[serde(default)]
    repo: String,
    block: Asked,
    before: Vec<Held>,
    after: Vec<Held>,
}

#[derive(Deserialize)]
struct Asked {
    path: String,
    start_line: u32,
    end_line: u32,
}

#[derive(Clone, Deserialize)]
struct Held {
    path: String,
    blob: String,
}

#[derive(Debug, Serialize)]
struct CaseAnswer {
    id: String,
    verdict: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    found: Option<Found>,
}

#[derive(Debug, Serialize)]
struct Found {
    path: String,
    start_line: u32,
    end_line: u32,
    tier: String,
}

const INTENT: &str = "INT-001";
const REGISTRY: &str = "active_intents:\n  - id: INT-001\n    name: Everything\n    status: IN_PROGRESS\n    owned_scope: [\"**\"]\n";

/// Runs the cases of the named file, and prints the answers, or a table of them with `--score`.
pub(crate) fn measure(arguments: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::from_arguments(arguments)?;
    let (texts, lines) = read(&options.cases);
    let cases: Vec<Case> = lines
        .iter()
        .map(|line| serde_json::from_str(line).expect("a case as documented"))
        .collect();
    if let Some(id) = &options.explain {
        let case = cases.iter().find(|case| case.id == *id).ok_or("no case has this id")?;
        let unrelated = unrelated(&options, &cases, case);
        explain(&Repository::before(&texts, case), &texts, case, &unrelated);
        return Ok(());
    }
    let answers = in_parallel(&cases, |case| {
        ask(&Repository::before(&texts, case), &texts, case, &unrelated(&options, &cases, case))
    });
    if options.score {
        emit(&score::table(&lines, &answers));
        return Ok(());
    }
    for answer in &answers {
        emit(&(serde_json::to_string(answer).expect("plain data") + "\n"));
    }
    Ok(())
}

struct Options {
    cases: PathBuf,
    score: bool,
    unrelated: usize,
    explain: Option<String>,
}

impl Options {
    fn from_arguments(arguments: Vec<String>) -> Result<Self, Box<dyn std::error::Error>> {
        let mut options = Self { cases: PathBuf::new(), score: false, unrelated: 0, explain: None };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--score" => options.score = true,
                "--unrelated" => {
                    options.unrelated =
                        arguments.next().ok_or("--unrelated needs a number")?.parse()?;
                }
                "--explain" => options.explain = arguments.next(),
                path => options.cases = PathBuf::from(path),
            }
        }
        Ok(options)
    }
}

/// Reads the texts by blob, and the lines of the cases.
fn read(path: &Path) -> (HashMap<String, String>, Vec<String>) {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "lowercase")]
    enum Line {
        File { blob: String, text: String },
        Case,
    }
    let mut texts = HashMap::new();
    let mut cases = Vec::new();
    let file = fs::File::open(path).expect("the file of cases; name it as the argument");
    for line in BufReader::new(file).lines() {
        let line = line.expect("text");
        match serde_json::from_str(&line).expect("a line as documented") {
            Line::File { blob, text } => drop(texts.insert(blob, text)),
            Line::Case => cases.push(line),
        }
    }
    (texts, cases)
}

/// Returns files that have nothing to do with a case: files of other projects with other paths, the same ones each
/// time.
fn unrelated(options: &Options, cases: &[Case], case: &Case) -> Vec<Held> {
    let own: Vec<&str> = case.before.iter().chain(&case.after).map(|held| &*held.blob).collect();
    let mut chosen = BTreeMap::new();
    let start = cases.iter().position(|other| other.id == case.id).unwrap_or(0) * 7 + 13;
    for step in 0..cases.len() {
        if chosen.len() >= options.unrelated {
            break;
        }
        let other = &cases[(start + step * 37) % cases.len()];
        let strange = other.repo != case.repo
            && other.before.iter().chain(&other.after).all(|held| {
                let same_path = case.before.iter().chain(&case.after).any(|mine| {
                    mine.path == held.path
                        || mine.path.split('/').next() == held.path.split('/').next()
                });
                !same_path && !own.contains(&held.blob.as_str())
            });
        if strange && let Some(held) = other.after.first() {
            let path = format!("unrelated/{}/{}", chosen.len(), held.path);
            chosen.insert(held.blob.clone(), Held { path, blob: held.blob.clone() });
        }
    }
    chosen.into_values().collect()
}

/// A repository in a temporary folder that contains the before files of a case.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn before(texts: &HashMap<String, String>, case: &Case) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let repository = Self { folder };
        repository.write(".orchestration/active_intents.yaml", REGISTRY);
        for held in &case.before {
            repository.write(&held.path, &texts[&held.blob]);
        }
        repository.git(&["init", "-q", "--template="]);
        repository.git(&["add", "-Af"]);
        repository.git(&["commit", "-qm", "before"]);
        repository
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .current_dir(self.folder.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
            .args(["-c", "commit.gpgsign=false", "-c", "core.autocrlf=false", "-c", "gc.auto=0"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(status.expect("git is there").success(), "git {arguments:?}");
    }

    fn open(&self) -> Workspace {
        Workspace::open(self.folder.path(), &ground::Environment::of_process())
            .expect("a workspace")
    }

    /// Replaces the before files by the after files.
    fn turn(&self, texts: &HashMap<String, String>, case: &Case, unrelated: &[Held]) {
        for held in &case.before {
            let _ = fs::remove_file(self.folder.path().join(&held.path));
        }
        for held in case.after.iter().chain(unrelated) {
            self.write(&held.path, &texts[&held.blob]);
        }
    }
}

fn relative(path: &str) -> RelativePath {
    RelativePath::new(path).expect("a path of the repository")
}

/// Records the block of a case. Returns the id of the record if it is about exactly those lines.
fn record(repository: &Repository, case: &Case) -> Option<String> {
    let lines = LineRange::new(case.block.start_line, case.block.end_line)?;
    let request = RecordRequest {
        paths: vec![relative(&case.block.path)],
        extent: RecordExtent::Lines(lines),
        intent: Some(INTENT.to_owned()),
        agent: Some("tracking".to_owned()),
        ..RecordRequest::default()
    };
    let answer = judged_record::record(&repository.open(), &request).expect("recorded");
    answer.recorded.first()?.records.first().cloned()
}

fn ask(
    repository: &Repository,
    texts: &HashMap<String, String>,
    case: &Case,
    unrelated: &[Held],
) -> CaseAnswer {
    let lost = || CaseAnswer { id: case.id.clone(), verdict: "lost".to_owned(), found: None };
    if record(repository, case).is_none() {
        return lost();
    }
    repository.turn(texts, case, unrelated);
    let ws = repository.open();
    let mut best: Option<(String, BlockAnswer)> = None;
    for held in case.after.iter().chain(unrelated) {
        let Ok(answer) = answers::on_disk(&ws, &relative(&held.path), Which::All) else { continue };
        for block in answer.blocks {
            if !is_of(&block, case) {
                continue;
            }
            if best.as_ref().is_none_or(|(_, other)| block.tier < other.tier) {
                best = Some((held.path.clone(), block));
            }
        }
    }
    let Some((path, block)) = best else { return lost() };
    let found = Found {
        path,
        start_line: block.node_start_line,
        end_line: block.end_line,
        tier: serde_json::json!(block.tier).as_str().unwrap_or_default().to_owned(),
    };
    CaseAnswer {
        id: case.id.clone(),
        verdict: block.verdict.as_str().to_owned(),
        found: Some(found),
    }
}

fn is_of(block: &BlockAnswer, case: &Case) -> bool {
    block.recorded.as_ref().is_some_and(|recorded| {
        recorded.path.as_str() == case.block.path
            && recorded.start_line == case.block.start_line
            && recorded.end_line == case.block.end_line
    })
}

/// Runs every case on all cores, and returns the answers in order.
fn in_parallel<T: Sync>(cases: &[T], ask: impl Fn(&T) -> CaseAnswer + Sync) -> Vec<CaseAnswer> {
    let next = AtomicUsize::new(0);
    let answers: Vec<OnceLock<CaseAnswer>> = cases.iter().map(|_| OnceLock::new()).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { break };
                    let _ = answers[at].set(ask(case));
                }
            });
        }
    });
    answers.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Shows one case: each block of the after files, and the answer for it.
fn explain(
    repository: &Repository,
    texts: &HashMap<String, String>,
    case: &Case,
    unrelated: &[Held],
) {
    emit(&format!("recorded: {:?}\n", record(repository, case)));
    repository.turn(texts, case, unrelated);
    let ws = repository.open();
    for held in case.after.iter().chain(unrelated) {
        let Ok(answer) = answers::on_disk(&ws, &relative(&held.path), Which::All) else { continue };
        for block in answer.blocks {
            if block.recorded.is_some() || block.refused.is_some() || !block.candidates.is_empty() {
                emit(&format!(
                    "{}: {}\n",
                    held.path,
                    serde_json::to_string(&block).expect("plain")
                ));
            }
        }
    }
}

fn emit(text: &str) {
    use std::io::Write;
    // It is no error if the reader of the output stops early.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
