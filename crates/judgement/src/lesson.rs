//! `intent lesson`: writes down what an agent or a person learned, in the files that agents read as
//! instructions (`AGENTS.md` and the like, here called brain files).
//!
//! Each lesson is one line in a marked section of each brain file at the workspace root. The rest
//! of these files is kept byte for byte.

use ground::control_files;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

mod escapes;
mod section;

use super::{map, seen_blocks};
use code::{Document, LineRange};
use evidence::record;
use ground::policy::Lessons;
use ground::{Hint, RelativePath, store};
use ledger::{Contributor, EntityType, Record, RecordKind, Strength};
use section::Placed;
use why::lesson_error::LessonError;
use why::{VerbError, Workspace, rules};

/// The brain files. A lesson is written to each of them that exists. If none exists, the first is
/// created.
const BRAINS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// An older name of the brain file. It is used if it exists and none of the others does.
const OLD_BRAIN: &str = "AGENT.md";
/// At most this many lessons, the latest ones, are listed with an intent.
const MAX_LISTED: usize = 30;

/// The largest brain file that is edited, in bytes.
const MAX_BRAIN: u64 = 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Default)]
pub struct LessonRequest {
    /// The lesson in one sentence. Markup is removed or escaped, line breaks become spaces, and a
    /// text that is too long is cut.
    pub text: String,
    /// The intent under which it was learned. `None` stands for the selected one, if any.
    pub intent: Option<String>,
    pub session: Option<String>,
    pub agent: Option<String>,
    /// The agent's model, e.g. `anthropic/claude-…`.
    pub model: Option<String>,
    pub asker: Asker,
    /// The author to record if neither `agent` nor `model` is set.
    pub contributor: Contributor,
}

/// Who asks for something that people may always do, and agents only if the policy allows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asker {
    #[default]
    Agent,
    Person,
}

/// The result of writing a lesson down.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LessonAnswer {
    /// The brain file, relative to the workspace.
    pub path: RelativePath,
    /// The line of the lesson in the file, counted from 1.
    pub line: u32,
    /// The lesson as it is written in the file, without the dash.
    pub text: String,
    /// Whether the lesson was new in this file.
    pub outcome: LessonOutcome,
    /// The id of its record. `None` if the lesson was in the file already, or could not be
    /// recorded.
    pub record: Option<String>,
    /// Why the lesson was written but not recorded, and what to do.
    pub unrecorded: Option<String>,
    /// The answers for the other brain files, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<LessonAnswer>,
}

/// Whether a lesson was new in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LessonOutcome {
    /// The lesson was added to the file.
    Added,
    /// The file has this lesson already. Upper and lower case, and punctuation at the end, are
    /// ignored.
    AlreadyThere,
}

/// Writes a lesson into each brain file that does not have it yet, and records the change.
pub fn record(ws: &Workspace, request: &LessonRequest) -> Result<LessonAnswer, VerbError> {
    ws.governed()?;
    if let Some(id) = &request.intent {
        ws.intent(id)?;
    }
    let line = section::line(&request.text).ok_or(LessonError::Empty)?;
    let paths = brains(ws)?;
    for path in &paths {
        check_permission(ws, request.asker, path)?;
    }
    // The escapes of Markdown would hide some of the words.
    let plain = section::unescaped(&line);
    if let Some(what) = instruction(&plain).filter(|_| request.asker == Asker::Agent) {
        return Err(LessonError::Instructs { what }.into());
    }
    // This is the lock of `intent record`, so that no other process records the file between the
    // lesson and its record.
    let _turn = store::lock(&ws.root.private().join("record.lock"), PATIENCE)?;
    // All files are read before the first one is written, so that an error in one of them leaves
    // all unchanged.
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let before = text_of(ws, &path)?;
        let placed = section::place_lesson(&before, &line)
            .map_err(|what| LessonError::BrokenSection { path: path.clone(), what })?;
        files.push(BrainFile { path, before, placed });
    }
    let answers = files.into_iter().map(|file| file.write(ws, request, &line));
    let mut answers = answers.collect::<Result<Vec<_>, _>>()?;
    if answers.iter().any(|answer| answer.outcome == LessonOutcome::Added) {
        map::refresh(ws);
    }
    let mut first = answers.remove(0);
    first.also = answers;
    Ok(first)
}

struct BrainFile {
    path: RelativePath,
    before: String,
    placed: Placed,
}

impl BrainFile {
    fn write(
        self,
        ws: &Workspace,
        request: &LessonRequest,
        line: &str,
    ) -> Result<LessonAnswer, VerbError> {
        let mut answer = LessonAnswer {
            path: self.path.clone(),
            line: self.placed.line,
            text: line.to_owned(),
            outcome: LessonOutcome::AlreadyThere,
            record: None,
            unrecorded: None,
            also: Vec::new(),
        };
        let Some(after) = &self.placed.text else { return Ok(answer) };
        store::write_atomic(&ws.root.absolute(&self.path), after.as_bytes())?;
        answer.outcome = LessonOutcome::Added;
        seen_blocks::note_own_write(ws, &self.path, request.intent.as_deref());
        match self.append(ws, request, after) {
            Ok(record) => answer.record = Some(record),
            // The lesson is in the file. If this were reported as a failure, the caller would write
            // it again.
            Err(error) => {
                let why = error.with_hint();
                let typed = self.path.for_shell();
                answer.unrecorded = Some(format!("{why}; `intent record {typed}` does it"));
            }
        }
        Ok(answer)
    }

    /// Records only the lines that were written. Other changes in the file remain unrecorded.
    fn append(
        &self,
        ws: &Workspace,
        request: &LessonRequest,
        after: &str,
    ) -> Result<String, VerbError> {
        let session = &request.session;
        let intent = request.intent.clone().or_else(|| ws.selected(session.as_deref()));
        let intent = intent.as_deref().and_then(|id| ws.registry.get(id));
        let (model_identifier, agent) = (request.model.clone(), request.agent.as_deref());
        let contributor = match model_identifier.is_some() || agent.is_some() {
            true => Contributor { entity_type: EntityType::Ai, model_identifier, name: None },
            false => request.contributor.clone(),
        };
        // A file that is too large, or is not text, is treated as empty, so it has no blocks.
        let parsed = |text: &str| {
            let document = ws.document(&self.path, text.as_bytes());
            document.unwrap_or_else(|_| Document::from_text(self.path.as_str(), ""))
        };
        let texts = (parsed(&self.before), &parsed(after));
        let by = record::conversation_under(intent, session.clone(), contributor);
        let file = record::of_texts(ws, &self.path, texts, by)?;
        let record = Record {
            note: Some("a lesson".to_owned()),
            files: vec![file],
            strength: Some(Strength::Declared),
            ..record::skeleton(ws, RecordKind::Mutation, intent, session.clone(), agent)
        };
        record::append(ws, record)
    }
}

/// Returns the latest lessons of all brain files, oldest first, without duplicates. A brain file
/// that cannot be read is skipped.
pub fn learned(ws: &Workspace) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for path in brains(ws).unwrap_or_default() {
        let lessons = section::lessons(&text_of(ws, &path).unwrap_or_default());
        all.extend(lessons.into_iter().filter(|lesson| !all.contains(lesson)).collect::<Vec<_>>());
    }
    all.split_off(all.len().saturating_sub(MAX_LISTED))
}

/// Returns the paths of the brain files with links resolved, so that two names of one file are
/// listed once.
fn brains(ws: &Workspace) -> Result<Vec<RelativePath>, VerbError> {
    let stands = |name: &&str| ws.root.path().join(name).symlink_metadata().is_ok();
    let mut names: Vec<&str> = BRAINS.into_iter().filter(stands).collect();
    if names.is_empty() {
        names.push(if stands(&OLD_BRAIN) { OLD_BRAIN } else { BRAINS[0] });
    }
    let mut brains = Vec::with_capacity(names.len());
    for name in names {
        let path = RelativePath::new(name)?;
        let really = ws.root.resolve(&path)?;
        if control_files::is_control_file(&really) {
            return Err(LessonError::ControlFile { path, really }.into());
        }
        if !brains.contains(&really) {
            brains.push(really);
        }
    }
    Ok(brains)
}

/// Words that make a lesson an instruction rather than a statement about the code: about the gate,
/// safeguards, the network or a shell. Agents read these files as instructions, so such a lesson
/// could achieve what a denied write would have achieved.
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

/// Returns the first entry of [`STEERING`] that a lesson, written without escapes, contains.
fn instruction(line: &str) -> Option<String> {
    // Unicode has several spaces, and the entries have only the plain one.
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    let grouped = grouped_commands(&line);
    let line = line.to_lowercase();
    let says = |word: &&str| line.contains(*word) || grouped.iter().any(|command| command == word);
    STEERING.into_iter().find(says).map(|word| word.trim().to_owned())
}

/// Returns the commands of this program that a line names with their group (`intent agent off`), in
/// the short spelling, which [`STEERING`] has.
fn grouped_commands(line: &str) -> Vec<String> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '-');
    // Only the letters of options are as they stand: `-C` takes a value.
    let plain = |word: &str| match word.starts_with('-') {
        true => word.to_owned(),
        false => word.to_lowercase(),
    };
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(plain).collect();
    let ours = (0..words.len()).filter(|at| shell::OUR_NAMES.contains(&words[*at].as_str()));
    let short = ours.filter_map(|at| {
        let arguments = &words[at + 1..];
        let short = shell::short(arguments);
        let command = short.get(shell::verb(&short)?).filter(|_| short != arguments)?;
        Some(format!("intent {command}"))
    });
    short.collect()
}

/// Returns an error if the asker may not write the file. People always may.
fn check_permission(ws: &Workspace, asker: Asker, path: &RelativePath) -> Result<(), LessonError> {
    if asker == Asker::Person {
        return Ok(());
    }
    // Rules that cannot be read might forbid it.
    if let Some(finding) = ws.policy_findings.first() {
        return Err(LessonError::BrokenPolicy { reason: finding.message.clone() });
    }
    match ws.policy.lessons {
        Lessons::Allow => {}
        Lessons::Ask => return Err(LessonError::ForAPerson),
        Lessons::Deny => return Err(LessonError::Denied),
    }
    match rules::forbidden_by(ws, path, None) {
        Some(rule) => Err(LessonError::KeptFromAgents { path: path.clone(), rule }),
        None => Ok(()),
    }
}

/// Returns the lines of the lesson section in a brain file, including the heading and the marks.
/// `None` for any other file.
pub fn lines(path: &RelativePath, document: &Document) -> Option<LineRange> {
    if path.as_str() != OLD_BRAIN && !BRAINS.contains(&path.as_str()) {
        return None;
    }
    section::lines(&document.text())
}

/// Returns true if the section still has all its earlier lines, in their order, and all new lines
/// are lessons.
pub fn only_adds(before: &Document, now: &Document) -> bool {
    section::only_adds(&before.text(), &now.text())
}

fn text_of(ws: &Workspace, path: &RelativePath) -> Result<String, VerbError> {
    let bytes = ws.root.read(path, MAX_BRAIN)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        LessonError::NotText { path: path.clone(), byte }.into()
    })
}
