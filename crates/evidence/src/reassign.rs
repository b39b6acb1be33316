//! `intent evidence reassign`: a person decides that recorded lines belong to another intent than the one they
//! were recorded under.
//!
//! Existing records are not changed. For each commit that brought some of the lines, a new record
//! names them, the intent that they were under, and the person who decided. `history` applies it to
//! every answer. Lines that are put under no intent are as if nobody had recorded them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::record;
use crate::compared::Compared;
use code::LineRange;
use ground::text::{counted, shell_word};
use ground::{Code, Finding, Git, RelativePath};
use history::{FileLines, FileVersion, LineSource, LineText};
use intents::Intent;
use ledger::{Claim, Contributor, Conversation, Entry, FileRecord, LineRuns, Record, RecordKind};
use ledger::{Strength, journal};
use why::{ReadError, VerbError, Workspace, answers};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReassignTarget {
    File(RelativePath),
    /// The innermost block at a line of a file. Lines count from 1.
    Line(RelativePath, u32),
    /// The blocks with this name in a file. The name is complete (`AuthMiddleware.verify`) or only
    /// the last segment (`verify`).
    Named(RelativePath, String),
    Record(String),
}

/// The result of a reassignment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReassignAnswer {
    /// The intent that the lines are under now; absent if they are under none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The ids of the new records: one for each commit that brought some of the lines.
    pub records: Vec<String>,
    /// The blocks with reassigned lines, each of them once.
    pub blocks: Vec<ReassignedItem>,
    /// Files that the new intent does not own. `intent check --base` will report them.
    pub not_owned: Vec<RelativePath>,
}

/// A block of which lines were put under another intent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ReassignedItem {
    /// The file that contains the block.
    pub path: RelativePath,
    /// The name of the block with its containers. `None` for lines outside of blocks.
    pub name: Option<String>,
    /// The intent that the lines were under before.
    pub from: String,
}

struct RecordedLine {
    source: LineSource,
    claim: Arc<Claim>,
    block: Option<String>,
}

impl RecordedLine {
    /// Returns the folder of the project whose evidence names the line, if that is not ours.
    fn other_project(&self) -> Option<&str> {
        let evidence = self.claim.entry.origin.path.as_str();
        evidence.split_once("/.orchestration/").map(|(project, _)| project)
    }
}

/// Returns the lines of a file that are selected and were recorded under the intent `from`.
///
/// If a whole file is selected and some of its lines belong to a namesake of that intent, only those
/// are returned: they are certainly under the wrong intent, the others may be right.
fn selected_lines(
    ws: &Workspace,
    file: &answers::FileProvenance,
    what: &ReassignTarget,
    from: &str,
) -> Vec<RecordedLine> {
    let mut block_of: Vec<Option<usize>> = vec![None; file.lines.lines.len()];
    for (at, found) in file.provenance.iter().enumerate() {
        found.own.iter().for_each(|(line, _)| block_of[*line as usize - 1] = Some(at));
    }
    let blocks = &file.blocks.blocks;
    let is_selected = |number: usize, at: Option<usize>, claim: &Claim| match what {
        ReassignTarget::File(_) => true,
        ReassignTarget::Record(id) => claim.entry.record.id == *id,
        ReassignTarget::Line(_, line) => match file.blocks.at_line(*line) {
            None => number == *line as usize,
            block => at == block,
        },
        ReassignTarget::Named(_, name) => {
            at.is_some_and(|at| blocks[at].identity.path == *name || blocks[at].name == *name)
        }
    };
    let mut found = Vec::new();
    for (number, (source, block)) in (1..).zip(file.lines.lines.iter().zip(block_of)) {
        let Some(claim) = source.claim.map(|at| &file.lines.claims[at]) else { continue };
        let is_under = claim.intent().map(|id| ws.registry.present_id(id)) == Some(from);
        if is_under && is_selected(number, block, claim) {
            let block = block.map(|at| blocks[at].identity.path.clone());
            found.push(RecordedLine { source: *source, claim: Arc::clone(claim), block });
        }
    }
    let is_namesake = |line: &RecordedLine| ws.namesake_of(&line.claim).is_some();
    if matches!(what, ReassignTarget::File(_)) && found.iter().any(is_namesake) {
        found.retain(is_namesake);
    }
    found
}

fn refusal_because(reason: &str) -> VerbError {
    VerbError::mendable(reason, "`intent why PATH` says which intent each block is under")
}

/// Moves the selected lines from the intent `from` to the intent `to`, or to none if that is `None`.
/// `by` is the person's name, if git knows it. It is an error if no line matches, or if one is not committed yet.
pub fn reassign(
    ws: &Workspace,
    what: &ReassignTarget,
    (from, to): (&str, Option<&str>),
    by: Option<String>,
) -> Result<ReassignAnswer, VerbError> {
    ws.governed()?;
    let intent = to.map(|to| ws.intent(to)).transpose()?;
    let from = ws.registry.present_id(from);
    let to = intent.map(|intent| intent.id.value.clone());
    if to.as_deref() == Some(from) {
        return Err(refusal_because(&format!("the blocks are under {from} already")));
    }
    let git = ws.git().ok_or_else(|| ws.no_git("who brought a line"))?;
    let mut records: Vec<Record> = Vec::new();
    let mut blocks: BTreeSet<ReassignedItem> = BTreeSet::new();
    for path in paths_of(ws, what) {
        let file = match ws.read(&path) {
            Err(ReadError::Missing { .. }) if matches!(what, ReassignTarget::Record(_)) => continue,
            document => answers::file(ws, &path, &document?),
        };
        let lines = selected_lines(ws, &file, what, from);
        if lines.iter().any(|line| line.claim.commit.is_none()) {
            return Err(VerbError::mendable(
                format!("lines of {path} are in no commit yet, so they cannot be reassigned"),
                format!("commit them first: `git add {} && git commit`", path.for_shell()),
            ));
        }
        if let Some(project) = lines.iter().find_map(RecordedLine::other_project) {
            return Err(VerbError::mendable(
                format!("lines of {path} are recorded in the project {project}, not in this one"),
                "reassign them in that project, and take its commit over from there",
            ));
        }
        records.extend(records_about(ws, git, (&file.lines, &lines), intent, by.as_deref())?);
        blocks.extend(lines.into_iter().map(|line| ReassignedItem {
            path: path.clone(),
            name: line.block,
            from: from.to_owned(),
        }));
    }
    if records.is_empty() {
        return Err(refusal_because(&format!(
            "none of the selected blocks is recorded under {from}"
        )));
    }
    // Blank lines between the blocks are not worth a word.
    let with_name: Vec<ReassignedItem> =
        blocks.iter().filter(|item| item.name.is_some()).cloned().collect();
    let blocks = if with_name.is_empty() { blocks.into_iter().collect() } else { with_name };
    let scope = to.as_ref().map(|to| ws.registry.scope(to));
    let paths: BTreeSet<&RelativePath> = blocks.iter().map(|block| &block.path).collect();
    let is_outside =
        |path: &&RelativePath| scope.is_some_and(|it| it.is_none_or(|scope| !scope.owns(path)));
    let not_owned = paths.into_iter().filter(is_outside).cloned().collect();
    let ids = records.iter().map(|record| record.id.clone()).collect();
    record::append_all(ws, records)?;
    Ok(ReassignAnswer { to, records: ids, blocks, not_owned })
}

fn paths_of(ws: &Workspace, what: &ReassignTarget) -> BTreeSet<RelativePath> {
    match what {
        ReassignTarget::File(path)
        | ReassignTarget::Line(path, _)
        | ReassignTarget::Named(path, _) => BTreeSet::from([path.clone()]),
        ReassignTarget::Record(id) => {
            let files = ws.ledger.by_id(id).into_iter().flat_map(|entry| &entry.record.files);
            files.map(|file| file.relative_path.clone()).collect()
        }
    }
}

fn name_of(to: Option<&Intent>) -> &str {
    to.map_or("no intent", |to| &to.id.value)
}

/// Makes the records about lines of a file: one for each version that brought some of them and for
/// each id that they were recorded under. An intent may have had several ids.
fn records_about(
    ws: &Workspace,
    git: &Git,
    (file, lines): (&FileLines, &[RecordedLine]),
    to: Option<&Intent>,
    by: Option<&str>,
) -> Result<Vec<Record>, VerbError> {
    let mut groups: BTreeMap<(&FileVersion, RelativePath, &str), BTreeSet<usize>> = BTreeMap::new();
    for line in lines {
        let version = line.source.version.and_then(|at| file.versions.get(at));
        if let (Some(version), Some(id)) = (version, line.claim.intent()) {
            // The workspace lay in another folder if the path is not below the present one.
            let path = git.path_in_workspace(version.path.as_ref());
            let path = path.unwrap_or_else(|| line.claim.path.clone());
            groups.entry((version, path, id)).or_default().insert(line.source.line_there);
        }
    }
    let mut reader = git.object_reader()?;
    let mut records = Vec::new();
    for ((version, path, id), lines) in groups {
        let text = LineText::new(reader.blob(version.blob)?);
        let conversation = Conversation {
            contributor: Contributor::person(by.map(str::to_owned)),
            // If a run were longer, a change of one line would undo the decision about the others.
            lines: LineRuns::of_single_lines(&text, |line| lines.contains(&line)),
            ..Conversation::default()
        };
        let conversations = vec![conversation];
        records.push(Record {
            files: vec![FileRecord { conversations, ..FileRecord::with_path_only(path) }],
            strength: Some(Strength::Declared),
            note: Some(format!("{} put under {}", counted(lines.len(), "line"), name_of(to))),
            takes: Some(id.to_owned()),
            of: Some(version.commit.to_string()),
            ..record::skeleton(ws, RecordKind::Reassign, to, None, None)
        });
    }
    Ok(records)
}

/// Judges the reassignments among new evidence, and those that are in no commit yet.
pub(crate) fn judge_all(ws: &Workspace, new: &[Arc<Entry>]) -> Compared {
    let open = ws.journal.entries().iter();
    let open = open.filter(|entry| journal::is_open(&entry.origin.path));
    let all = new.iter().chain(open).filter(|entry| entry.record.takes.is_some());
    let all: Vec<&Entry> = all.map(|entry| &**entry).collect();
    let mut compared = Compared::default();
    for (at, entry) in all.iter().enumerate() {
        compared.add_counts(judge(ws, entry, &all[at + 1..]));
    }
    compared
}

/// Returns the notes and findings about one reassignment. The intent that receives a line must own
/// its file. If all lines were reassigned again by `later` records, only the last intent must own
/// it.
pub(crate) fn judge(ws: &Workspace, entry: &Entry, later: &[&Entry]) -> Compared {
    let mut compared = Compared::default();
    let record = &entry.record;
    let Some(from) = record.takes.as_deref() else { return compared };
    let from = ws.registry.present_id(from);
    let to = record.intents().next().map(|to| ws.registry.present_id(to));
    for file in &record.files {
        let path = &file.relative_path;
        let who = file.conversations.first().and_then(|one| one.contributor.name.as_deref());
        compared.notes.push(format!(
            "{} put recorded lines of {path} under {}; they were under {from}.",
            who.unwrap_or("somebody"),
            to.unwrap_or("no intent")
        ));
        // Nobody has to own what belongs to no intent. `check` judges the work of the change itself
        // as if it were recorded as before.
        let Some(to) = to else { continue };
        let on = later.iter().filter(|other| {
            other.record.takes == record.intent_id && commit_of(other) == commit_of(entry)
        });
        let moved_on: BTreeSet<usize> = on.flat_map(|other| lines_about(other, path)).collect();
        let is_known = ws.registry.syntax_error().is_none();
        if is_known
            && !lines_about(entry, path).all(|line| moved_on.contains(&line))
            && ws.registry.scope(to).is_none_or(|scope| !scope.owns(path))
        {
            compared.findings.push(not_owned(ws, path, from, to));
        }
    }
    compared
}

fn commit_of(entry: &Entry) -> Option<&String> {
    entry.late_commit.as_ref().or(entry.record.of.as_ref())
}

fn lines_about<'a>(entry: &'a Entry, path: &'a RelativePath) -> impl Iterator<Item = usize> + 'a {
    let runs = history::runs_about(entry, path).flat_map(|runs| runs.runs());
    runs.flat_map(|run| run.lines.clone())
}

fn not_owned(ws: &Workspace, path: &RelativePath, from: &str, to: &str) -> Finding {
    let (code, why) = match ws.registry.get(to) {
        Some(_) => (Code::ScopeViolation, "does not own that file"),
        None => (Code::UnknownIntent, "is not in the registry"),
    };
    let (place, [here, back]) = (path.for_shell(), [to, from].map(shell_word));
    Finding {
        path: Some(path.clone()),
        lines: LineRange::new(1, 1),
        intent: Some(to.to_owned()),
        ..Finding::new(
            code,
            format!("Lines of {path} were reassigned from {from} to {to}, which {why}."),
            format!(
                "Put them back with `intent evidence reassign {place} --from {here} --to {back}`, or let a person widen the scope of {to} first."
            ),
        )
    }
}
