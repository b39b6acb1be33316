//! Reads every line of every ledger file: our own records, records of other tools, and incomplete
//! or forged lines. No line is dropped; a line that cannot be read is kept and reported.

use std::collections::HashSet;
use std::fs::FileType;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::Record;
use super::chain::{KEEP_BYTES, restore};
use super::digest::Digest;
use super::entry::{Entry, EntryOrigin, RecordDialect, Trust, finding};
use super::evidence::{self, NoEvidence, Section, SectionLine};
use super::journal;
use super::ledger_file::{ErasedSection, LedgerFile, MAX_OBJECT, ParsedLedgerFile};
use super::scan::{ScanState, Scanner};
use ground::{Code, Finding, RelativePath, Root, store};

impl LedgerFile {
    /// Reads and parses the file. A file of records is read in windows, so memory use stays
    /// bounded.
    pub(super) fn read(&self) -> std::io::Result<ParsedLedgerFile> {
        if evidence::digest_of_path(&self.path).is_some() {
            return Ok(self::bytes(&self.path, &self.bytes()?));
        }
        let mut file = store::open(&self.disk)?;
        let (mut state, mut reading) = (ScanState::default(), ParsedLedgerFile::default());
        let mut buffer: Vec<u8> = Vec::new();
        loop {
            let wanted = 2 * MAX_OBJECT - buffer.len();
            let got = file.by_ref().take(wanted as u64).read_to_end(&mut buffer)?;
            let is_whole = got < wanted;
            let limit = if is_whole { buffer.len() } else { buffer.len() - MAX_OBJECT };
            let scanner = Scanner::new(&self.path, &buffer, &mut state, &mut reading);
            let used = scanner.run_to(limit);
            if is_whole {
                return Ok(reading);
            }
            buffer.drain(..used);
        }
    }

    /// Reads a file of evidence. Of a file larger than [`store::MAX_CONTENT`] only the beginning is
    /// read. It is then reported as forged, since its digest cannot match.
    pub(super) fn bytes(&self) -> std::io::Result<Vec<u8>> {
        let file = store::open(&self.disk)?;
        // Almost every file of evidence is smaller than this, so one read is enough.
        let mut bytes = Vec::with_capacity(8 * 1024);
        file.take(store::MAX_CONTENT).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

const MAX_DEPTH: usize = 6;

/// The ledger files of a workspace, sorted: `agent_trace.jsonl`, `agent_trace/**/*.jsonl`, the
/// places where other tools keep theirs, and the journals. Symbolic links are not followed; one in
/// place of a file of evidence cannot be read, and that is a finding.
pub fn files(root: &Root) -> Vec<LedgerFile> {
    list(root, &|_| false)
}

pub(crate) fn files_without_evidence(root: &Root) -> Vec<LedgerFile> {
    list(root, &evidence::is_evidence_folder)
}

fn list(root: &Root, is_left_out: &dyn Fn(&str) -> bool) -> Vec<LedgerFile> {
    let mut found = Vec::new();
    let top = root.orchestration();
    if is_plain_folder(&top) {
        for (name, kind) in names(&top) {
            let path = format!(".orchestration/{name}");
            if is_ledger_file(&name) && kind.is_file() {
                found.push(path);
            } else if is_ledger_folder(&name) && kind.is_dir() {
                add_folder(&mut found, &top.join(&name), path, MAX_DEPTH, is_left_out);
            }
        }
    }
    let shown = found.iter().filter_map(|path| RelativePath::new(path).ok());
    let shown = shown.filter(|path| !journal::is_open(path));
    let shown = shown.map(|path| LedgerFile { disk: root.absolute(&path), path });
    let mut files: Vec<LedgerFile> = shown.chain(journal::of_work_tree(root)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Returns true if records are kept at this path, which is relative to the workspace.
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

fn add_folder(
    found: &mut Vec<String>,
    folder: &Path,
    path: String,
    depth: usize,
    is_left_out: &dyn Fn(&str) -> bool,
) {
    if is_left_out(&path) {
        return;
    }
    let is_evidence = evidence::is_evidence_folder(&path);
    for (name, kind) in names(folder) {
        let path = format!("{path}/{name}");
        let is_file = kind.is_file() || is_evidence && kind.is_symlink();
        if has_ending(&name, &["jsonl"]) && is_file {
            found.push(path);
        } else if depth > 0 && kind.is_dir() {
            add_folder(found, &folder.join(&name), path, depth - 1, is_left_out);
        }
    }
}

fn names(folder: &Path) -> Vec<(String, FileType)> {
    store::entries(folder)
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?)))
        .collect()
}

fn is_plain_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// Parses the bytes of one file. Never fails: what cannot be read becomes a finding.
pub fn bytes(path: &RelativePath, bytes: &[u8]) -> ParsedLedgerFile {
    let Some(named) = evidence::digest_of_path(path) else {
        let mut reading = ParsedLedgerFile::default();
        Scanner::new(path, bytes, &mut ScanState::default(), &mut reading).run_to(bytes.len());
        return reading;
    };
    with_entries(path, bytes, evidence_file(path, named, bytes))
}

/// Like [`bytes`] for a file of evidence, but parses only the lines that may be about one file.
pub fn evidence_about(path: &RelativePath, bytes: &[u8], about: &RelativePath) -> ParsedLedgerFile {
    let Some(named) = evidence::digest_of_path(path) else { return ParsedLedgerFile::default() };
    let sections = evidence::read_about(bytes, about);
    with_entries(path, bytes, with_findings(path, named, bytes, sections))
}

/// Adds the entries of a file of evidence. If the file does not match its name, none of them can be
/// trusted.
fn with_entries(
    path: &RelativePath,
    bytes: &[u8],
    (mut parsed, sections): (ParsedLedgerFile, Vec<Section>),
) -> ParsedLedgerFile {
    let is_sound = parsed.digest == evidence::digest_of_path(path);
    let trust = if is_sound { Trust::Claimed } else { Trust::Contradicted };
    let mut lines = LineCounter::for_bytes(bytes);
    for section in &sections {
        parsed.entries.extend(entries_of(path, &mut lines, section, trust));
    }
    parsed
}

pub(super) fn evidence_file(
    path: &RelativePath,
    named: Digest,
    bytes: &[u8],
) -> (ParsedLedgerFile, Vec<Section>) {
    with_findings(path, named, bytes, evidence::read(bytes))
}

fn with_findings(
    path: &RelativePath,
    named: Digest,
    bytes: &[u8],
    sections: Result<Vec<Section>, NoEvidence>,
) -> (ParsedLedgerFile, Vec<Section>) {
    let digest = Digest::compute(bytes);
    let mut parsed = ParsedLedgerFile { digest: Some(digest), ..ParsedLedgerFile::default() };
    let mut sections = sections.unwrap_or_else(|why| {
        parsed.findings.push(no_evidence(path, why));
        if let NoEvidence::Newer(version) = why {
            parsed.newer_format = Some(version);
        }
        Vec::new()
    });
    // A section that is repeated counts once, as if it were in several files.
    let mut seen = HashSet::new();
    sections.retain(|section| seen.insert(section.digest));
    if digest != named && !sections.is_empty() {
        let origin = EntryOrigin { end: bytes.len() as u64, ..EntryOrigin::of_file(path) };
        let with_line_feeds = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        // Restoring a file does not help as long as git converts it.
        let (reason, help) = match Digest::compute(with_line_feeds.as_bytes()) == named {
            true => ("its line ends were converted", KEEP_BYTES.to_owned()),
            false => ("its bytes were changed", restore(path)),
        };
        let message = format!("The file does not match the digest in its name: {reason}.");
        parsed.findings.push(finding(Code::LedgerForged, &origin, message, help));
    }
    let mut lines = LineCounter::for_bytes(bytes);
    for span in sections.iter().flat_map(|section| &section.unreadable) {
        let origin = lines.origin(path, span);
        parsed.findings.push(finding(
            Code::LedgerUnreadable,
            &origin,
            "The line cannot be read as evidence by this version.".into(),
            "Nothing of the line counts. If a newer `intent` wrote it, install that one.",
        ));
        parsed.unreadable.push((origin, bytes[span.clone()].to_vec()));
    }
    for section in &sections {
        parsed.sections.push(section.digest);
        parsed.erased.extend(erased_of(path, &mut lines, section));
    }
    (parsed, sections)
}

/// Turns byte offsets into line numbers. If the offsets are rising, the file is gone through only
/// once.
struct LineCounter<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    fn for_bytes(bytes: &'a [u8]) -> Self {
        Self { bytes, counted: 0, line: 1 }
    }

    /// Returns the number of the line that contains the byte at `start`, counted from 1.
    fn line_at(&mut self, start: usize) -> u32 {
        if start < self.counted {
            *self = Self::for_bytes(self.bytes);
        }
        let between = self.bytes[self.counted..start].iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(between).unwrap_or(u32::MAX));
        self.counted = start;
        self.line
    }

    fn origin(&mut self, path: &RelativePath, span: &Range<usize>) -> EntryOrigin {
        EntryOrigin {
            path: path.clone(),
            line: self.line_at(span.start),
            start: span.start as u64,
            end: span.end as u64,
        }
    }
}

fn entries_of(
    path: &RelativePath,
    lines: &mut LineCounter<'_>,
    section: &Section,
    trust: Trust,
) -> Vec<Arc<Entry>> {
    let header = lines.line_at(section.bytes.start);
    let entries = section.lines.iter().filter_map(|(span, said)| {
        let origin = lines.origin(path, span);
        let nth = origin.line - header - 1;
        let record = match said {
            SectionLine::Changed(line) => line.record(&section.header, section.digest, nth),
            SectionLine::Carried(record) => Record::clone(record),
            SectionLine::Erased(_) => return None,
        };
        Some(Arc::new(Entry {
            record,
            origin,
            dialect: RecordDialect::Evidence,
            trust,
            stored: Arc::from(&lines.bytes[span.clone()]),
            section: Some(section.digest),
            late_commit: section.header.of.clone(),
            authored: section.header.authored.clone(),
        }))
    });
    entries.collect()
}

/// Returns what was erased from a section. `None` if nothing was erased.
fn erased_of(
    path: &RelativePath,
    lines: &mut LineCounter<'_>,
    section: &Section,
) -> Option<ErasedSection> {
    let stones = section.lines.iter().filter(|(_, said)| said.is_erased());
    let tombstones: Vec<(u32, Arc<[u8]>)> = stones
        .map(|(span, _)| (lines.line_at(span.start), Arc::from(&lines.bytes[span.clone()])))
        .collect();
    (!tombstones.is_empty()).then(|| ErasedSection {
        path: path.clone(),
        digest: section.digest,
        lines: section.line_digests(lines.bytes),
        tombstones,
    })
}

fn no_evidence(path: &RelativePath, why: NoEvidence) -> Finding {
    let origin = EntryOrigin::of_file(path);
    match why {
        NoEvidence::Headless => finding(
            Code::LedgerForged,
            &origin,
            "The file is in an evidence folder but has no evidence header.".into(),
            restore(path),
        ),
        NoEvidence::Newer(version) => finding(
            Code::LedgerUnreadable,
            &origin,
            format!(
                "The file has format {version}; this program knows {}. Nothing is read from it.",
                evidence::FORMAT
            ),
            "Install a newer version of `intent`.",
        ),
        NoEvidence::TooLong => finding(
            Code::LedgerUnreadable,
            &origin,
            format!(
                "The file has more than {} lines. Nothing is read from it.",
                evidence::MAX_LINES
            ),
            format!("No `intent` writes such a file. Take it out: `git rm -f {path}`."),
        ),
    }
}
