//! Reading: every line of every ledger file, canonical, foreign, torn or forged; nothing is lost.

use std::io::Read;
use std::path::Path;

use super::Record;
use super::scan::{Scanner, State};
use crate::workspace::{Finding, RelativePath, Root};

/// Where an entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The ledger file.
    pub path: RelativePath,
    /// 1-based line of its first byte.
    pub line: u32,
    /// Its bytes in the file.
    pub start: u64,
    /// See `start`; exclusive.
    pub end: u64,
}

/// The shape a record was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Ours, chained.
    Canonical,
    /// Published Agent Trace nesting, without our chain.
    AgentTrace,
    /// Files without conversations.
    FilesFlat,
    /// One flat object for one file.
    Flat,
    /// A typed event or a tool log.
    Event,
}

/// How far a record is to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// This clone wrote it.
    Own,
    /// Somebody else's claim.
    Claimed,
    /// Its hash or its chain is broken.
    Contradicted,
}

/// A record and where it came from.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it says.
    pub record: Record,
    /// Where it stands.
    pub origin: Origin,
    /// In which shape.
    pub dialect: Dialect,
    /// How far to believe it.
    pub trust: Trust,
    /// The stored line, without line break.
    pub stored: std::sync::Arc<[u8]>,
}

/// What a ledger file holds.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// In file order.
    pub entries: Vec<Entry>,
    /// Torn, unreadable, forged lines, each with its place.
    pub findings: Vec<Finding>,
    /// The spans that could not be read, verbatim; of a span beyond 16 MiB only its beginning.
    pub unreadable: Vec<(Origin, Vec<u8>)>,
}

/// An object, or a span without a line break, beyond this many bytes is not read.
pub(super) const MAX_OBJECT: usize = 16 * 1024 * 1024;

/// Folders in the ledger's folder are followed this deep: years and months need two.
const MAX_DEPTH: usize = 6;

/// The ledger files of a workspace: `agent_trace.jsonl`, `agent_trace/**/*.jsonl` and the other places of the wild, sorted.
/// Symbolic links are not followed.
pub fn files(root: &Root) -> Vec<RelativePath> {
    let mut found = Vec::new();
    let top = root.orchestration();
    if is_plain_folder(&top) {
        for name in names(&top) {
            let path = top.join(&name);
            if is_ledger_file(&name) && is_plain_file(&path) {
                found.push(format!(".orchestration/{name}"));
            } else if is_ledger_folder(&name) && is_plain_folder(&path) {
                collect(&path, &format!(".orchestration/{name}"), MAX_DEPTH, &mut found);
            }
        }
    }
    found.sort();
    found.iter().filter_map(|path| RelativePath::new(path).ok()).collect()
}

/// Whether a path, relative to the workspace, is one where records are kept.
pub fn is_ledger_path(path: &RelativePath) -> bool {
    let Some(below) = path.as_str().strip_prefix(".orchestration/") else { return false };
    match below.split_once('/') {
        None => is_ledger_file(below),
        Some((folder, rest)) => is_ledger_folder(folder) && has_ending(rest, &["jsonl"]),
    }
}

fn is_ledger_file(name: &str) -> bool {
    const STEMS: &[&str] = &["agent_trace", "agent-trace", "trace", "ledger"];
    let begins = |stem: &&str| name.to_ascii_lowercase().starts_with(*stem);
    matches!(name, "agent_trace.json" | "agent_traces.json")
        || (has_ending(name, &["jsonl", "ndjson"]) && STEMS.iter().any(begins))
}

fn is_ledger_folder(name: &str) -> bool {
    matches!(name, "agent_trace" | "agent_traces" | "trace" | "traces")
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

fn collect(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) {
    for name in names(folder) {
        let path = folder.join(&name);
        if has_ending(&name, &["jsonl"]) && is_plain_file(&path) {
            found.push(format!("{prefix}/{name}"));
        } else if depth > 0 && is_plain_folder(&path) {
            collect(&path, &format!("{prefix}/{name}"), depth - 1, found);
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

fn is_plain_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

/// Reads one file's bytes. Never fails.
pub fn bytes(path: &RelativePath, bytes: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut state = State::default();
    Scanner::new(path, bytes, &mut state, &mut reading).run_to_end();
    reading
}

/// Reads a file from where `state` stands, in windows, so that a line of any length needs bounded memory. What was read
/// of a window is handed on before the next. The number of bytes of the file that were seen.
pub(super) fn window(
    path: &RelativePath,
    file: &mut impl Read,
    state: &mut State,
    reading: &mut Reading,
    mut hand_on: impl FnMut(&mut Reading),
) -> std::io::Result<u64> {
    let mut buffer: Vec<u8> = Vec::new();
    loop {
        let wanted = 2 * MAX_OBJECT - buffer.len();
        let got = file.by_ref().take(wanted as u64).read_to_end(&mut buffer)?;
        if got < wanted {
            Scanner::new(path, &buffer, state, reading).run_to_end();
            hand_on(reading);
            return Ok(state.offset);
        }
        let used = Scanner::new(path, &buffer, state, reading).run_to(buffer.len() - MAX_OBJECT);
        buffer.drain(..used);
        hand_on(reading);
    }
}
