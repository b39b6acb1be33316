//! *Lesson*: what an agent or a person learned, for the next one, in the files that agents read.
//!
//! One line in a marked section of each brain file at the workspace root. Everything else in these files is left as it
//! is, byte for byte.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

mod section;

use super::{VerbError, Workspace, gate, judgement, knowledge, map, record};
use crate::code::{Document, LineRange};
use crate::ledger::{
    BlockRecord, Contributor, Conversation, EntityType, FileRecord, OutlineChange, Record,
    RecordKind, Strength,
};
use crate::provenance::{Difference, matching};
use crate::workspace::policy::Lessons;
use crate::workspace::{RelativePath, store};
use section::Placed;

/// The brain files. A lesson goes into each of them that is there; the first is created where there is none.
const BRAINS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// Used if it exists and none of the others does.
const OLD_BRAIN: &str = "AGENT.md";
/// At most this many lessons are given with an intent, the latest ones.
const MAX_TOLD: usize = 30;

/// A brain larger than this, in bytes, is left alone.
const MAX_BRAIN: u64 = 1024 * 1024;
/// How long another process may be writing a lesson or recording.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was learned, and by whom.
#[derive(Clone, Debug, Default)]
pub struct LessonRequest {
    /// In one sentence. Markup is taken out or escaped, line breaks are folded, what is too long is cut.
    pub text: String,
    /// Under which intent; `None` for the selected one, if any.
    pub intent: Option<String>,
    /// The session: `host:id`.
    pub session: Option<String>,
    /// The agent's name, e.g. `claude-code`.
    pub agent: Option<String>,
    /// The model, e.g. `anthropic/claude-…`.
    pub model: Option<String>,
    /// Who asks.
    pub asker: Asker,
    /// Who wrote, where no agent and no model is named.
    pub contributor: Contributor,
}

/// Who asks for something that people may always do, and agents where the policy lets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asker {
    /// A program, or somebody of whom nothing is known.
    #[default]
    Agent,
    /// A person at a terminal.
    Person,
}

/// What became of a lesson.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LessonAnswer {
    /// The brain file, relative to the workspace.
    pub path: RelativePath,
    /// The line at which the lesson stands, from 1.
    pub line: u32,
    /// The lesson as it stands there, without the dash.
    pub text: String,
    /// Whether it was new.
    pub outcome: LessonOutcome,
    /// The id of its record; `None` where it was there already, or could not be recorded.
    pub record: Option<String>,
    /// Why it was not recorded although it was written, and what to do.
    pub unrecorded: Option<String>,
    /// The answers for the other brain files, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<LessonAnswer>,
}

/// Whether a lesson was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LessonOutcome {
    /// It was appended.
    Added,
    /// It stands there, in the same words but for case and punctuation at its end.
    AlreadyThere,
}

/// Why a lesson was not written down. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum LessonError {
    /// Nothing to remember.
    #[error("a lesson needs words; say in one sentence what the next one should know")]
    Empty,
    /// The policy keeps agents from it.
    #[error(
        "policy.yaml says `lessons: deny`, so agents write none; tell the person what you learned"
    )]
    Denied,
    /// The policy leaves it to people.
    #[error(
        "policy.yaml says `lessons: ask`, so a person writes it: `intent lesson TEXT` in a terminal. Tell the person what you learned"
    )]
    ForAPerson,
    /// Whoever reads it would be told what to do with the gate, the shell or the network.
    #[error(
        "a lesson that an agent writes by itself says how the code is; this one has `{what}` in it, so a person decides"
    )]
    Instructs {
        /// The word, or the part of it.
        what: String,
    },
    /// The policy might say no.
    #[error("policy.yaml cannot be read, so agents write no lesson: {reason} A person mends it")]
    BrokenPolicy {
        /// A sentence.
        reason: String,
    },
    /// The policy or an ignore file keeps agents from the file.
    #[error(
        "{path} is kept from agents by {rule}; a person writes the lesson with `intent lesson TEXT` in a terminal"
    )]
    KeptFromAgents {
        /// The brain file.
        path: RelativePath,
        /// The rule.
        rule: String,
    },
    /// The brain file is a link to a file that steers the gate.
    #[error("{path} leads to {really}, which steers the gate itself; make it a file of its own")]
    ControlFile {
        /// The brain file.
        path: RelativePath,
        /// Where it leads.
        really: RelativePath,
    },
    /// Not a text.
    #[error("{path} is not UTF-8 (byte {byte}), so no line is added; convert it first")]
    NotText {
        /// The brain file.
        path: RelativePath,
        /// Where it stops being text.
        byte: usize,
    },
    /// The section cannot be told from the rest.
    #[error(
        "{path}: the section of lessons is broken, {what}; put `{begin}` and `{end}` there once each, on lines of their own and in this order, or remove both",
        begin = section::BEGIN, end = section::END
    )]
    BrokenSection {
        /// The brain file.
        path: RelativePath,
        /// How.
        what: String,
    },
}

/// Writes a lesson down, unless it stands there already, and records that.
pub fn record(ws: &Workspace, request: &LessonRequest) -> Result<LessonAnswer, VerbError> {
    ws.governed()?;
    if let Some(id) = &request.intent {
        ws.intent(id)?;
    }
    let line = section::line(&request.text).ok_or(LessonError::Empty)?;
    let paths = brains(ws)?;
    for path in &paths {
        may(ws, request.asker, path)?;
    }
    if let Some(what) = instruction(&line).filter(|_| request.asker == Asker::Agent) {
        return Err(LessonError::Instructs { what }.into());
    }
    // The turn of whoever records, so that nobody reads a file between the lesson and its record.
    let _turn = store::lock(&ws.root.private().join("record.lock"), PATIENCE)?;
    // All files are read before one is written, so that a fault in one of them leaves all as they are.
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let before = text_of(ws, &path)?;
        let placed = section::place(&before, &line)
            .map_err(|what| LessonError::BrokenSection { path: path.clone(), what })?;
        files.push((path, before, placed));
    }
    let mut answers = Vec::with_capacity(files.len());
    for (path, before, placed) in files {
        answers.push(written(ws, request, path, &line, &before, &placed)?);
    }
    let is_new = |answer: &&LessonAnswer| answer.outcome == LessonOutcome::Added;
    let paths: Vec<_> = answers.iter().filter(is_new).map(|answer| answer.path.clone()).collect();
    map::follow(ws, &paths);
    let mut first = answers.remove(0);
    first.also = answers;
    Ok(first)
}

/// Writes the lesson into one file and records that.
fn written(
    ws: &Workspace,
    request: &LessonRequest,
    path: RelativePath,
    line: &str,
    before: &str,
    placed: &Placed,
) -> Result<LessonAnswer, VerbError> {
    let mut answer = LessonAnswer {
        path,
        line: placed.line,
        text: line.to_owned(),
        outcome: LessonOutcome::AlreadyThere,
        record: None,
        unrecorded: None,
        also: Vec::new(),
    };
    let Some(after) = &placed.text else { return Ok(answer) };
    store::write_atomic(&ws.root.absolute(&answer.path), after.as_bytes())?;
    answer.outcome = LessonOutcome::Added;
    knowledge::through_us(ws, &answer.path, request.intent.as_deref());
    match append(ws, request, &answer.path, before, placed) {
        Ok(record) => answer.record = record,
        // It is written; to call that a failure would have it written again.
        Err(error) => {
            answer.unrecorded = Some(format!("{error}; `intent record {}` does it", answer.path));
        }
    }
    Ok(answer)
}

/// What was learned here so far, oldest first, each once. A brain file that cannot be read is left out.
pub(crate) fn learned(ws: &Workspace) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for path in brains(ws).unwrap_or_default() {
        let lessons = section::lessons(&text_of(ws, &path).unwrap_or_default());
        all.extend(lessons.into_iter().filter(|lesson| !all.contains(lesson)).collect::<Vec<_>>());
    }
    all.split_off(all.len().saturating_sub(MAX_TOLD))
}

/// The brain files, where they really lie. Two names of one file are one.
fn brains(ws: &Workspace) -> Result<Vec<RelativePath>, VerbError> {
    let named = |name: &str| RelativePath::new(name).expect("a plain file name");
    let stands = |path: &RelativePath| ws.root.absolute(path).symlink_metadata().is_ok();
    let mut paths: Vec<RelativePath> = BRAINS.into_iter().map(named).filter(stands).collect();
    if paths.is_empty() {
        let old = named(OLD_BRAIN);
        paths.push(if stands(&old) { old } else { named(BRAINS[0]) });
    }
    let mut brains = Vec::with_capacity(paths.len());
    for path in paths {
        let really = ws.root.resolve(&path)?;
        if gate::is_control_file(&really) {
            return Err(LessonError::ControlFile { path, really }.into());
        }
        if !brains.contains(&really) {
            brains.push(really);
        }
    }
    Ok(brains)
}

/// Words that steer whoever reads a lesson, rather than tell of the code: of the gate, of safeguards, of the network, of
/// a shell. Every agent reads these files as instructions, so such a lesson does what a refused write would have done.
const STEERING: [&str; 30] = [
    "--force",
    "--no-verify",
    "$(",
    "&&",
    "://",
    "<(",
    "> ",
    "| ",
    "||",
    ".env",
    ".git/",
    ".intentignore",
    ".orchestration",
    ".rooignore",
    "bypass",
    "curl",
    "disregard",
    "ignore all",
    "ignore any",
    "ignore previous",
    "ignore the",
    "instruction",
    "intent accept",
    "intent off",
    "intent record",
    "intent select",
    "policy.yaml",
    "sudo",
    "wget",
    "without asking",
];

/// The part of a lesson that steers its reader.
fn instruction(line: &str) -> Option<String> {
    let line = line.to_lowercase();
    STEERING.into_iter().find(|word| line.contains(word)).map(|word| word.trim().to_owned())
}

/// What keeps an agent from it. People write where they like.
fn may(ws: &Workspace, asker: Asker, path: &RelativePath) -> Result<(), LessonError> {
    if asker == Asker::Person {
        return Ok(());
    }
    // Rules that cannot be read might have said no.
    if let Some(finding) = ws.policy_findings.first() {
        return Err(LessonError::BrokenPolicy { reason: finding.message.clone() });
    }
    match ws.policy.lessons {
        Lessons::Allow => {}
        Lessons::Ask => return Err(LessonError::ForAPerson),
        Lessons::Deny => return Err(LessonError::Denied),
    }
    match judgement::kept_by(ws, path, None) {
        Some(rule) => Err(LessonError::KeptFromAgents { path: path.clone(), rule }),
        None => Ok(()),
    }
}

/// The lines of a brain file that hold its lessons, heading and marks included. `None` of any other file.
pub(super) fn lines(path: &RelativePath, document: &Document) -> Option<LineRange> {
    if path.as_str() != OLD_BRAIN && !BRAINS.contains(&path.as_str()) {
        return None;
    }
    let (first, last) = section::lines(&document.text())?;
    LineRange::new(first, last)
}

/// Returns true if a brain file has all lines that stood in its section, in their order, and beside them only lessons.
pub(super) fn only_adds(before: &Document, now: &Document) -> bool {
    section::only_adds(&before.text(), &now.text())
}

fn text_of(ws: &Workspace, path: &RelativePath) -> Result<String, VerbError> {
    let bytes = ws.root.read(path, MAX_BRAIN)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        LessonError::NotText { path: path.clone(), byte }.into()
    })
}

/// Records the one block that the lesson went into; whatever else changed in the file stays to be recorded.
fn append(
    ws: &Workspace,
    request: &LessonRequest,
    path: &RelativePath,
    before: &str,
    placed: &Placed,
) -> Result<Option<String>, VerbError> {
    let ws = ws.with_ledger_of_now();
    let selected = || ws.selected(request.session.as_deref());
    let intent = request.intent.clone().or_else(selected);
    let intent = intent.as_deref().and_then(|id| ws.registry.get(id));
    let after = placed.text.as_deref().unwrap_or_default();
    let (then, now) = (document(&ws, path, before), document(&ws, path, after));
    let (ranges, outlines) = changed(&ws, path, &then, &now, placed.line);
    let named = request.agent.is_some() || request.model.is_some();
    let contributor = match named {
        true => Contributor {
            entity_type: EntityType::Ai,
            model_identifier: request.model.clone(),
            name: None,
        },
        false => request.contributor.clone(),
    };
    let file = FileRecord {
        conversations: vec![Conversation {
            url: request.session.clone(),
            contributor,
            ranges,
            related: intent.map(record::related).unwrap_or_default(),
            extra: Default::default(),
        }],
        outlines,
        ..FileRecord::bare(path.clone())
    };
    let record = Record {
        note: Some("a lesson".to_owned()),
        files: vec![file],
        strength: Some(Strength::Declared),
        ..record::skeleton(
            &ws,
            RecordKind::Mutation,
            intent,
            request.session.clone(),
            request.agent.as_deref(),
        )
    };
    Ok(Some(record::append(&ws, record)?))
}

/// A file that is too large, or is no text, has no blocks.
fn document(ws: &Workspace, path: &RelativePath, text: &str) -> Document {
    let document = ws.document(path, text.as_bytes());
    document.unwrap_or_else(|_| Document::from_text(path.as_str(), ""))
}

/// The block at the line, and the file's last outline with that block as it is now.
fn changed(
    ws: &Workspace,
    path: &RelativePath,
    then: &Document,
    now: &Document,
    line: u32,
) -> (Vec<BlockRecord>, Option<OutlineChange>) {
    let blocks = now.blocks();
    let Some(index) = blocks.at_line(line) else { return Default::default() };
    let block = &blocks.blocks[index];
    let difference = Difference::new(then, now);
    let last = ws.trail(path).last_outline();
    let placed = last.as_ref().map(|last| matching::with_block(last, &blocks, index));
    let before = record::Before {
        replaces: difference.origin(index).map(|was| was.fingerprint.content.clone()),
        brought: Some(difference.brought(index)),
        row: placed.as_ref().map(|(_, row, _)| *row),
        was: placed.as_ref().and_then(|(_, _, was)| *was),
    };
    let range = record::block_record(now, block, before);
    let outlines = placed.zip(last).map(|((after, ..), last)| after.changed_from(&last));
    (vec![range], outlines)
}
