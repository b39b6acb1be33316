//! Lines that sessions on this machine wrote, as `intent evidence sessions import` found them. Only
//! ids, paths and hashes are kept, in the git directory, and never a text or a prompt.
//!
//! A run of lines belongs to a session if it stands literally in the file, exactly once, and says
//! enough not to be there by chance.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ground::Root;
use ground::store::{self, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::claimed_line::{ClaimedLine, ClaimingTool, PromptPlace, shown_word};
use crate::commit_note::NotedLines;
use crate::transcripts::{WrittenRun, transcripts, written_runs};
use crate::version_text::VersionText;

/// The largest number of bytes of the file with the runs.
const MAX_STORED: u64 = 256 * 1024 * 1024;
/// How many letters and digits a run must have. Shorter ones, such as `return x;`, are everywhere.
const FEWEST_LETTERS: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
struct StoredRun {
    /// The path from the top of the repository.
    path: String,
    time: i64,
    session: String,
    agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    lines: u32,
    /// The SHA-256 of the longest line, and how many lines are before it.
    longest: String,
    longest_at: u32,
    /// The SHA-256 of all lines.
    all: String,
    transcript: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt_at: Option<u64>,
}

/// What an import found, or would store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedSessions {
    /// How many transcripts are on this machine.
    pub transcripts: usize,
    /// How many sessions wrote into this repository.
    pub sessions: usize,
    /// How many files they wrote into.
    pub files: usize,
    /// How many runs of lines are new.
    pub new_runs: usize,
    /// Whether nothing was stored.
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportStep {
    Look,
    Store,
}

/// Reads the transcripts on this machine, and stores which lines of this repository they wrote.
/// `None` without git.
pub fn import_sessions(
    root: &Root,
    step: ImportStep,
) -> Result<Option<ImportedSessions>, StoreError> {
    let (Some(file), Some(top)) = (stored_file(root), root.work_tree()) else { return Ok(None) };
    let linked = root.linked_trees().into_iter().map(|(_, top)| top);
    let tops: Vec<PathBuf> = linked.chain([top.to_path_buf()]).collect();
    let (mut found, mut count) = (BTreeSet::new(), 0);
    for (host, transcript) in transcripts(root.environment()) {
        count += 1;
        let runs = written_runs(host, &transcript).into_iter();
        found.extend(runs.filter_map(|run| StoredRun::from_run(run, &tops, &transcript)));
    }
    let mut known: BTreeSet<StoredRun> = stored_runs(root).into_iter().collect();
    let sessions: HashSet<&str> = found.iter().map(|run| run.session.as_str()).collect();
    let files: HashSet<&str> = found.iter().map(|run| run.path.as_str()).collect();
    let answer = ImportedSessions {
        transcripts: count,
        sessions: sessions.len(),
        files: files.len(),
        new_runs: found.difference(&known).count(),
        dry_run: step == ImportStep::Look,
    };
    if step == ImportStep::Store && answer.new_runs > 0 {
        known.extend(found);
        let lines = known.iter().filter_map(|run| serde_json::to_string(run).ok());
        let text: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
        store::write_atomic(&file, text.as_bytes())?;
    }
    Ok(Some(answer))
}

impl StoredRun {
    /// Returns what is stored of a run. `None` if it is in another place, or says too little.
    fn from_run(run: WrittenRun, tops: &[PathBuf], transcript: &Path) -> Option<Self> {
        let below = |top: &PathBuf| Path::new(&run.file).strip_prefix(top).ok();
        let path = tops.iter().find_map(below)?.to_str()?.replace('\\', "/");
        let letters = |line: &String| line.chars().filter(|c| c.is_alphanumeric()).count();
        if path.split('/').any(|name| name == "..")
            || run.lines.iter().map(letters).sum::<usize>() < FEWEST_LETTERS
        {
            return None;
        }
        let longest_at = (0..run.lines.len()).max_by_key(|at| run.lines[*at].len())?;
        Some(Self {
            path,
            time: run.time,
            session: shown_word(&run.session)?,
            agent: run.agent.to_owned(),
            model: run.model.as_deref().and_then(shown_word),
            lines: u32::try_from(run.lines.len()).ok()?,
            longest: store::sha256(run.lines[longest_at].as_bytes()),
            longest_at: u32::try_from(longest_at).ok()?,
            all: store::sha256(run.lines.join("\n").as_bytes()),
            transcript: transcript.to_path_buf(),
            prompt_at: run.prompt_at,
        })
    }

    fn writer(&self) -> ClaimedLine {
        let (transcript, at) = (self.transcript.clone(), self.prompt_at);
        ClaimedLine {
            agent: Some(self.agent.clone()),
            model: self.model.clone(),
            session: Some(self.session.clone()),
            prompt: at.map(|at| PromptPlace { transcript, at }),
            ..ClaimedLine::by_tool(ClaimingTool::Transcript)
        }
    }
}

#[derive(Default)]
pub(crate) struct SessionRuns {
    by_path: Option<HashMap<String, Vec<StoredRun>>>,
}

impl SessionRuns {
    pub(crate) fn are_about(&mut self, root: &Root, path: &str) -> bool {
        self.by_path(root).contains_key(path)
    }

    /// Returns which lines of a text sessions wrote until a time, in seconds since 1970. A later claim
    /// about a line replaces an earlier one.
    pub(crate) fn claims_for(
        &mut self,
        root: &Root,
        path: &str,
        text: &VersionText,
        until: i64,
    ) -> Vec<NotedLines> {
        let Some(runs) = self.by_path(root).get(path) else { return Vec::new() };
        let places = text.lines_by_hash();
        let runs = runs.iter().filter(|run| run.time <= until);
        let claims = runs.filter_map(|run| {
            let mut found = places.get(&run.longest)?.iter().filter_map(|longest| {
                let first = longest.checked_sub(run.longest_at).filter(|first| *first >= 1)?;
                let last = first.checked_add(run.lines.checked_sub(1)?)?;
                let lines: RangeInclusive<u32> = first..=last;
                text.matches_hash(&lines, &run.all).then_some(lines)
            });
            let lines = found.next()?;
            // If a text has two copies of a run, nobody knows which one the session wrote.
            let is_only = found.next().is_none();
            let writer = Some(Arc::new(run.writer()));
            is_only.then_some(NotedLines { lines, writer, hash: None })
        });
        claims.collect()
    }

    fn by_path(&mut self, root: &Root) -> &HashMap<String, Vec<StoredRun>> {
        self.by_path.get_or_insert_with(|| {
            let mut runs = stored_runs(root);
            runs.sort_by(|a, b| (a.time, a).cmp(&(b.time, b)));
            let mut by_path: HashMap<String, Vec<StoredRun>> = HashMap::new();
            for run in runs {
                by_path.entry(run.path.clone()).or_default().push(run);
            }
            by_path
        })
    }
}

fn stored_runs(root: &Root) -> Vec<StoredRun> {
    let bytes = stored_file(root).and_then(|file| store::read_capped(&file, MAX_STORED).ok()?);
    let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn stored_file(root: &Root) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent/imported/sessions.jsonl"))
}
