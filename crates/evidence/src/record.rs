//! `intent record`: records a change of files. Compares the disk with an earlier state, finds the
//! blocks that changed, classifies the change, and appends records to the ledger.
//!
//! - `changes` decides which blocks of a file a record names.
//! - `call` records what one call of an agent's tool did.
//! - `claimed_lines` finds the lines that a person claims as they stand.
//! - `undo` takes the last records back.

use ground::control_files;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use why::selectable;

use schemars::JsonSchema;
use serde::Serialize;

pub mod call;
pub(crate) mod changes;
mod claimed_lines;
pub mod undo;

use changes::{ChangedLines, FileChange, RecordedChanges, TextsOfChange};
use claimed_lines::{ClaimedLines, OfCommit, keep_asked_lines};

use super::event::Event;
use code::saying_lines::differ_in_blank_lines;
use code::{Document, LineRange};
use history::{LineText, lines_of_unkept_texts, new_lines, recorded_texts};
use intents::Intent;
use ledger::{
    AppendError, Basis, BlockRecord, Contributor, Conversation, EntityType, FileRecord,
    MutationClass, Record, RecordKind, RecordedDecision, Related, Strength, Tool, Vcs,
    append_records, ensure_fits,
};
use why::baseline::{Baseline, FormerFile, commits_of_work};
use why::file_lines::lines_of_work;
use why::rules::{OutsideWork, Rules, Ruling};
use why::{VerbError, Workspace};

use ground::clock;
use ground::{Hint, RelativePath, session, store};
use provenance::classify::Classification;

#[derive(Clone, Debug, Default)]
pub struct RecordRequest {
    /// The files of the work tree. If a file was deleted, its blocks are recorded as deleted.
    pub paths: Vec<RelativePath>,
    pub extent: RecordExtent,
    /// The intent. `None` stands for the selected one.
    pub intent: Option<String>,
    /// The session that wrote the code, as `host:id`.
    pub session: Option<String>,
    /// The name of the agent, e.g. `claude-code`.
    pub agent: Option<String>,
    /// The agent's model, e.g. `anthropic/claude-…`.
    pub model: Option<String>,
    /// Who wrote the code. `None` stands for `AI` if an agent or a model is named, and for
    /// `UNKNOWN` otherwise.
    pub contributor: Option<EntityType>,
    /// The name of the person who wrote the code; see [`Workspace::person`]. Only faces that a
    /// person uses set it.
    pub person: Option<String>,
    pub claimed_class: Option<String>,
    /// How strong the evidence is. `None` means that it is only declared.
    pub strength: Option<Strength>,
    /// For each file that a command may have changed, what is known of its earlier texts.
    pub earlier: BTreeMap<RelativePath, EarlierTexts>,
    /// Whether the call comes from no host, although it says so. The record is only declared then.
    pub is_made_up: bool,
    /// Whether a person takes responsibility for writes that passed no gate. Only a person may do
    /// this: otherwise an agent could write past the gate and then record its work as if it had
    /// asked first.
    pub accepts_ungated: bool,
}

impl RecordRequest {
    pub fn for_call(event: &Event) -> Self {
        Self {
            session: Some(event.session_key()),
            agent: Some(event.host.clone()),
            model: event.model.clone(),
            contributor: Some(EntityType::Ai),
            is_made_up: !event.from_host,
            ..Self::default()
        }
    }
}

/// Texts that a file had before a command ran. Lines that one of them has are not the work of the
/// command.
#[derive(Clone, Debug, Default)]
pub struct EarlierTexts {
    /// The texts of the file in other commits.
    pub elsewhere: Vec<String>,
    /// The text when the command began, if that is known. Blocks are compared with it.
    pub before: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordExtent {
    #[default]
    Changes,
    /// All lines of the file that have no record, changed or not.
    WholeFile,
    /// Those of these lines that have no record, changed or not. Deletions are not recorded.
    Lines(LineRange),
}

/// The files that were recorded, and those that were not.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RecordAnswer {
    /// One entry for each recorded file.
    pub recorded: Vec<RecordedFile>,
    /// One entry for each reason why a file, or a part of it, was not recorded.
    pub skipped: Vec<SkippedFile>,
}

/// A file that was recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecordedFile {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The intent under which the file was recorded.
    pub intent: String,
    /// The ids of the new records.
    pub records: Vec<String>,
    /// The number of recorded blocks, including deleted ones.
    pub blocks: usize,
    /// The number of recorded lines.
    pub lines: usize,
    /// The class of the change. `None` if it could not be determined.
    pub mutation_class: Option<MutationClass>,
    /// The class that was claimed, if the change has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicted_claim: Option<String>,
    /// How the class was determined.
    pub basis: Option<Basis>,
    /// What was found for each block.
    pub reasons: Vec<String>,
    /// The decision of the gate about this write: `no_opinion`, `ask` or `deny`. A denied write is
    /// recorded too, with that decision.
    pub outcome: String,
    /// What `intent check` will report about the file, and what to do. `None` if it will report
    /// nothing.
    pub against: Option<String>,
}

/// A file that was not recorded, or not completely.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SkippedFile {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The block that was left out, such as `function login`. The reason begins with it. `None` if
    /// the reason is about the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// The reason, and what to do about it.
    pub reason: String,
    /// Whether there was nothing to record, because the file is as it was recorded or committed
    /// before.
    pub unchanged: bool,
}

impl SkippedFile {
    fn skipped_whole(path: &RelativePath, reason: impl Into<String>) -> Self {
        Self { path: path.clone(), block: None, reason: reason.into(), unchanged: false }
    }

    fn unchanged(path: &RelativePath, reason: impl Into<String>) -> Self {
        Self { unchanged: true, ..Self::skipped_whole(path, reason) }
    }

    /// Says why some lines of a file are left out. `block` is empty for lines that are no block.
    fn part(path: &RelativePath, block: String, reason: &str) -> Self {
        let reason = format!("{block} {reason}").trim_start().to_owned();
        let block = Some(block).filter(|block| !block.is_empty());
        Self { block, ..Self::skipped_whole(path, reason) }
    }
}

pub(crate) type DecideWrite =
    fn(&Workspace, &RecordRequest, &str, &RelativePath) -> RecordedDecision;

/// Records the named files under an intent, which must be in progress, with what `decide` says about
/// each.
pub fn record(
    ws: &Workspace,
    request: &RecordRequest,
    decide: DecideWrite,
) -> Result<RecordAnswer, VerbError> {
    ws.governed()?;
    let id = request
        .intent
        .clone()
        .or_else(|| ws.selected(request.session.as_deref()))
        .ok_or_else(|| nothing_selected(ws, request))?;
    ws.intent_in_progress(&id)?;
    // Only one process records at a time. Each one sees the records of those before it, so nothing
    // is recorded twice.
    let _turn = store::lock(&ws.root.private().join("record.lock"), PATIENCE)?;
    let current = ws.clone().with_new_records();
    // Without all open records, lines of another record would count as new.
    if let Some(unread) = current.journal.unread_journal() {
        return Err(VerbError::mendable(&unread.message, &unread.help));
    }
    let mut records = Vec::new();
    let mut answer = RecordAnswer::default();
    let mut seen = HashSet::new();
    let accepts_ungated = request.accepts_ungated || request.strength.is_some();
    let ungated =
        if accepts_ungated { Vec::new() } else { session::ungated::still_valid(&ws.root) };
    for named in &request.paths {
        // Links are resolved, so that a file has only one name in the ledger.
        let path = match ws.root.resolve(named) {
            Ok(path) => path,
            Err(error) => {
                answer.skipped.push(SkippedFile::skipped_whole(named, error.to_string()));
                continue;
            }
        };
        if !seen.insert(path.clone()) {
            continue;
        }
        if ungated.iter().any(|note| note.path == path) {
            let reason = format!(
                "it was written without passing a gate; a person accepts it with `intent accept {}`",
                path.for_shell()
            );
            answer.skipped.push(SkippedFile::skipped_whole(&path, reason));
            continue;
        }
        let intent = ws.intent_in_progress(&id)?;
        let skipped = &mut answer.skipped;
        match record_file(&current, request, decide, intent, (&path, &records), skipped) {
            // An error about one file of several must not keep the others from being recorded.
            Err(error)
                if matches!(error, VerbError::Append(AppendError::TooLarge { .. }))
                    || !answer.recorded.is_empty() =>
            {
                skipped.push(SkippedFile::skipped_whole(&path, error.with_hint()));
            }
            recorded => {
                let Some((file, of_file)) = recorded? else { continue };
                answer.recorded.push(file);
                records.extend(of_file);
            }
        }
    }
    if records.is_empty() {
        return Ok(answer);
    }
    append_all(ws, records)?;
    if request.strength.is_none() {
        // The caller has taken responsibility for the writes, so notes that they passed no gate are
        // removed.
        let settled = answer.recorded.iter().map(|file| &file.path);
        settled
            .map(|path| session::ungated::settle(&ws.root, path))
            .collect::<Result<Vec<_>, _>>()?;
    }
    let ids: Vec<&String> = answer.recorded.iter().flat_map(|file| &file.records).collect();
    undo::remember(ws, &ids)?;
    Ok(answer)
}

/// Returns the lines of files that commits brought and that no record is about, by their authors:
/// what a record of whole files would claim besides the work that is in no commit.
pub fn committed_lines_without_record(
    ws: &Workspace,
    paths: &[RelativePath],
) -> Result<BTreeMap<String, usize>, VerbError> {
    let mut by_author: BTreeMap<String, usize> = BTreeMap::new();
    let Some(git) = ws.git() else { return Ok(by_author) };
    for path in paths.iter().filter(|path| no_code(path).is_none()) {
        let Ok(document) = ws.read(path) else { continue };
        for one in ClaimedLines::find(ws, path, &document, RecordExtent::WholeFile)?.committed {
            let author = git.author(&ground::CommitId(one.commit))?;
            let name = author.split_once(" <").map_or(author.as_str(), |(name, _)| name);
            *by_author.entry(name.to_owned()).or_default() += one.lines.line_count();
        }
    }
    Ok(by_author)
}

fn nothing_selected(ws: &Workspace, request: &RecordRequest) -> VerbError {
    let owners = selectable::owners_of_all(ws, &request.paths);
    let owner = match owners[..] {
        [only] => Some(&only.id.value),
        _ => None,
    };
    let next = match (owner, &request.session) {
        (Some(id), None) => {
            format!("{id} owns what is named, so `intent select {id}`, or add `--intent {id}`")
        }
        (Some(id), Some(_)) => format!("{id} owns what is named, so add `--intent {id}`"),
        (None, None) => return ws.nothing_selected(),
        (None, Some(session)) => format!("{session} has selected none; add `--intent ID`"),
    };
    VerbError::NothingSelected { next }
}

/// How long to wait for another process that is recording. Recording a whole tree can take long.
const PATIENCE: Duration = Duration::from_secs(30);

fn no_code(path: &RelativePath) -> Option<&'static str> {
    if path.is_orchestration() {
        return Some("files below .orchestration/ are not code and are never recorded");
    }
    // The files below `.git` are control files, too.
    let is_control = control_files::is_control_file(path);
    is_control
        .then_some("it controls the gate: it is judged as a rule, not as code, and never recorded")
}

/// Returns the records of one file, and adds what is left out to `skipped`. `records` are those of other
/// files. Returns `None` if there is nothing to record.
fn record_file(
    ws: &Workspace,
    request: &RecordRequest,
    decide: DecideWrite,
    intent: &Intent,
    (path, records): (&RelativePath, &[Record]),
    skipped: &mut Vec<SkippedFile>,
) -> Result<Option<(RecordedFile, Vec<Record>)>, VerbError> {
    let mut skip = |file: SkippedFile| {
        skipped.push(file);
        Ok(None)
    };
    if let Some(reason) = no_code(path) {
        // The file counts as unchanged, so that it is not reported if only its folder was named.
        return skip(SkippedFile::unchanged(path, reason));
    }
    let document = match read_now(ws, path)? {
        Ok(document) => document,
        Err(file) => return skip(file),
    };
    let committed = FormerFile::of_work(ws, path, &document, &commits_of_work(ws)?)?;
    let document = committed.baseline.carried_by(document);
    let last = ws.last_recorded_text(path);
    let last = last.and_then(|bytes| ws.document(path, &bytes).ok());
    let is_unknown = matches!(committed.baseline, Baseline::Unknown) && last.is_none();
    if is_unknown && request.extent == RecordExtent::Changes {
        return skip(SkippedFile::skipped_whole(path, unknown_before(ws)));
    }
    let texts_before = request.earlier.get(path);
    let mut change = FileChange { from: committed.from, ..FileChange::default() };
    let unreadable_then = match request.extent {
        RecordExtent::Changes if texts_before.is_none() => lines_unreadable_then(
            ws,
            (request, intent),
            path,
            &document,
            (&committed.baseline, last.as_ref()),
        ),
        _ => Vec::new(),
    };
    let mut before = committed.baseline.versions().to_vec();
    let mut recorded = RecordedChanges {
        text: last,
        is_newest: ws.has_record_since_head(path),
        blocks: blocks_of_records(ws, path),
    };
    let mut elsewhere = Vec::new();
    if let Some(EarlierTexts { elsewhere: others, before: then }) = texts_before {
        let read = |text: &String| ws.document(path, text.as_bytes()).ok();
        elsewhere.extend(others.iter().filter_map(read));
        if let Some(then) = then.as_ref().and_then(read) {
            elsewhere.extend(std::mem::replace(&mut before, vec![then]));
            elsewhere.extend(recorded.text.take());
        }
    }
    let (before, elsewhere) = (&before[..], &elsewhere[..]);
    let texts =
        TextsOfChange { before, elsewhere, recorded, now: &document, also: &unreadable_then };
    let mut lines = texts.changed_lines(&mut change);
    if lines.brought.contains(&true)
        && let Some(new) = lines_of_work(ws, path, &document, &lines.brought)?
    {
        // Code that was only moved, or is in a file that was renamed, is not the work of whoever did
        // that.
        lines.brought.iter_mut().zip(new).for_each(|(line, new)| *line &= new);
    }
    let own = changes::line_text(&document);
    for line in lines_of_unkept_texts(&ws.root, &ws.journal, path, &own) {
        lines.leave_out(line..line + 1);
    }
    let ClaimedLines { committed: earlier, why_unknown, .. } =
        keep_asked_lines(ws, (path, records), &document, request.extent, &mut lines)?;
    change.complete(ws, &texts, &lines)?;
    if let RecordExtent::Lines(lines) = request.extent {
        change.ranges.retain(|range| {
            !range.deleted && range.start_line <= lines.end() && lines.start() <= range.end_line
        });
    }
    let left = std::mem::take(&mut change.left).into_iter();
    skipped.extend(left.map(|(name, reason)| SkippedFile::part(path, name, &reason)));
    if change.is_nothing() && earlier.is_empty() {
        let earlier: Vec<&Document> = before.iter().chain(&texts.recorded.text).collect();
        skipped.push(match why_unknown {
            Some(reason) => SkippedFile::skipped_whole(path, reason),
            None => nothing_differs(ws, path, (&earlier, &document), request.extent),
        });
        return Ok(None);
    }
    // Lines that were there before the last record are no part of the change since it.
    let since = if unreadable_then.contains(&true) { before.last() } else { texts.newest() };
    let class = match since.filter(|_| request.extent == RecordExtent::Changes) {
        Some(before) => call::class_of(path, before, &document),
        None => Classification::undetermined(),
    };
    file_and_records(ws, request, decide, intent, path, (change, earlier, class)).map(Some)
}

/// Reads a file as it is now. A file that is gone is empty. The inner error is why it is skipped.
fn read_now(
    ws: &Workspace,
    path: &RelativePath,
) -> Result<Result<Document, SkippedFile>, VerbError> {
    let empty = || Document::from_text("", "");
    Ok(match ws.read(path) {
        Ok(document) => Ok(document),
        Err(why::ReadError::Missing { .. }) => Ok(empty()),
        // A folder has taken the place of the file, so the file counts as deleted.
        Err(why::ReadError::Store(_)) if ws.root.absolute(path).is_dir() => Ok(empty()),
        Err(why::ReadError::Unread { reason, .. }) => Err(SkippedFile {
            unchanged: is_as_committed(ws, path)?,
            ..SkippedFile::skipped_whole(path, reason.with_hint())
        }),
        Err(error) => Err(SkippedFile::skipped_whole(path, error.with_hint())),
    })
}

/// Makes the record of a change, and one for each commit that brought lines which a person claims.
fn file_and_records(
    ws: &Workspace,
    request: &RecordRequest,
    decide: DecideWrite,
    intent: &Intent,
    path: &RelativePath,
    (change, earlier, class): (FileChange, Vec<OfCommit>, Classification),
) -> Result<(RecordedFile, Vec<Record>), VerbError> {
    let decision = decide(ws, request, &intent.id.value, path);
    let blocks = change.ranges.len() + earlier.iter().map(|one| one.ranges.len()).sum::<usize>();
    let lines =
        change.lines.line_count() + earlier.iter().map(|one| one.lines.line_count()).sum::<usize>();
    let made = |path: &RelativePath, change, class| {
        mutation(ws, request, intent, path, change, class, decision.clone())
    };
    let mut records = Vec::new();
    let mut file = RecordedFile {
        path: path.clone(),
        intent: intent.id.value.clone(),
        records: Vec::new(),
        blocks,
        lines,
        mutation_class: class.class,
        contradicted_claim: contradicted_claim(request.claimed_class.as_deref(), class.class),
        basis: Some(class.basis),
        reasons: reasons_of(&class.reasons, &change.ranges),
        outcome: decision.outcome.clone(),
        against: reason_against(ws, path, &intent.id.value),
    };
    if !change.is_nothing() {
        records.push(made(path, change, class));
    }
    for one in earlier {
        let OfCommit { commit, path, lines, ranges } = one;
        let change = FileChange { lines, ranges, ..FileChange::default() };
        let record = made(&path, change, Classification::undetermined());
        records.push(Record { of: Some(commit), ..record });
    }
    for record in &records {
        ensure_fits(record)?;
        file.records.push(record.id.clone());
    }
    Ok((file, records))
}

/// Returns the blocks of a file that records of changes name which no commit has with evidence.
fn blocks_of_records<'a>(ws: &'a Workspace, path: &RelativePath) -> Vec<&'a BlockRecord> {
    let is_work = |record: &&Record| record.kind == RecordKind::Mutation && record.of.is_none();
    let records = ws.journal.of_path(path).map(|entry| &entry.record).filter(is_work);
    let files = records.flat_map(|record| &record.files);
    files.filter(|file| file.relative_path == *path).flat_map(FileRecord::ranges).collect()
}

/// Returns for each line whether the last record left it out because of a syntax error or a merge
/// conflict, so that the present record may take it. Empty if there are no such lines.
///
/// That is so only if one author made both records by hand: a record of others leaves out their
/// lines, and a hook leaves out what others wrote before the call.
fn lines_unreadable_then(
    ws: &Workspace,
    (request, intent): (&RecordRequest, &Intent),
    path: &RelativePath,
    now: &Document,
    (baseline, last): (&Baseline, Option<&Document>),
) -> Vec<bool> {
    let Some(last) = last.filter(|_| !matches!(baseline, Baseline::Unknown)) else {
        return Vec::new();
    };
    let readable_text = |document: Document| changes::readable_text(&baseline.carried_by(document));
    let last_text = changes::line_text(last);
    if readable_text(last.clone()) == last_text {
        return Vec::new();
    }
    let is_by_author = |record: &Record| {
        let mut conversations = record.files.iter().flat_map(|file| &file.conversations);
        record.strength == Some(Strength::Declared)
            && record.note.is_none()
            && !record.as_it_stood
            && record.intent_id.as_deref() == Some(&*intent.id.value)
            && record.session == request.session
            && record.tool.as_ref().map(|tool| &*tool.name)
                == Some(request.agent.as_deref().unwrap_or(OWN_NAME))
            && conversations.all(|one| one.contributor == contributor(request))
    };
    let records = recorded_texts(&ws.root, &ws.journal, path, |_| true);
    let taken = records.iter().map(|(entry, recorded)| {
        let document = ws.document(path, recorded.text.as_bytes());
        match document.ok().filter(|_| is_by_author(&entry.record)) {
            Some(document) => readable_text(document),
            None => LineText::clone(&recorded.text),
        }
    });
    let committed = baseline.versions().iter().map(changes::line_text);
    let earlier: Vec<LineText> = committed.chain(taken).collect();
    let text = changes::line_text(now);
    let is_new = new_lines(&earlier.iter().collect::<Vec<_>>(), &text);
    let is_later = new_lines(&[&last_text], &text);
    (0..text.len()).map(|line| is_new[line] && !is_later[line]).collect()
}

/// Leaves out the lines of blocks that a person has accepted as they are, and that are in no commit
/// yet. A person answers for them, so they are not the work of whoever records the file next.
fn leave_out_accepted(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    lines: &mut ChangedLines,
) {
    let acks = ws.journal.of_path(path).filter(|entry| entry.record.kind == RecordKind::Ack);
    let files = acks.flat_map(|entry| &entry.record.files);
    let files = files.filter(|file| file.relative_path == *path);
    let accepted: HashSet<_> =
        files.flat_map(|file| file.ranges()).map(|range| &range.content_hash).collect();
    for block in &document.blocks().blocks {
        if accepted.contains(&block.fingerprint.content) {
            let (start, end) = (block.whole_lines.start(), block.whole_lines.end());
            lines.leave_out(start as usize - 1..end as usize);
        }
    }
}

fn mutation(
    ws: &Workspace,
    request: &RecordRequest,
    intent: &Intent,
    path: &RelativePath,
    change: FileChange,
    class: Classification,
    decision: RecordedDecision,
) -> Record {
    let session = request.session.clone();
    let by = conversation_under(Some(intent), session.clone(), contributor(request));
    let reasons = reasons_of(&class.reasons, &change.ranges);
    let file = FileRecord { reasons, ..of_change(path, by, change) };
    let strength = request.strength.filter(|_| !request.is_made_up);
    Record {
        mutation_class: class.class,
        basis: Some(class.basis),
        decision: Some(decision),
        files: vec![file],
        claimed_class: request.claimed_class.clone(),
        as_it_stood: request.extent != RecordExtent::Changes,
        strength: Some(strength.unwrap_or(Strength::Declared)),
        note: request.is_made_up.then(|| UNHOSTED.to_owned()),
        extra: inferred_from(strength),
        ..skeleton(ws, RecordKind::Mutation, Some(intent), session, request.agent.as_deref())
    }
}

const UNHOSTED: &str = "the hook was called by no host";

fn of_change(path: &RelativePath, by: Conversation, change: FileChange) -> FileRecord {
    let FileChange { lines, ranges, text, from, .. } = change;
    let conversations = vec![Conversation { lines, ranges, ..by }];
    FileRecord { conversations, text, from, ..FileRecord::with_path_only(path.clone()) }
}

/// Returns the part of a record about a change of one file, from its texts before and after it. The
/// text after it is kept.
pub fn of_texts(
    ws: &Workspace,
    path: &RelativePath,
    (before, now): (Document, &Document),
    by: Conversation,
) -> Result<FileRecord, VerbError> {
    let before = [before];
    let texts = TextsOfChange::new(&before, now);
    let mut change = FileChange::default();
    let lines = texts.changed_lines(&mut change);
    change.complete(ws, &texts, &lines)?;
    Ok(of_change(path, by, change))
}

/// Returns what a record says of who worked under an intent, without what they worked on.
pub fn conversation_under(
    intent: Option<&Intent>,
    session: Option<String>,
    contributor: Contributor,
) -> Conversation {
    let related = intent.map(related_of_intent).unwrap_or_default();
    Conversation { url: session, contributor, related, ..Conversation::default() }
}

/// Selects the reasons that are about the recorded blocks. If several blocks share a name, as many
/// reasons are selected as there are recorded blocks with that name.
fn reasons_of(found: &[String], ranges: &[BlockRecord]) -> Vec<String> {
    let blocks = ranges.iter().filter_map(|range| range.block.as_ref());
    let names = blocks.map(|block| match provenance::is_unnamed(&block.kind) {
        true => "file ".to_owned(),
        false => format!("{} {}:", block.kind, block.path),
    });
    let mut left: Vec<String> = names.collect();
    let mut is_recorded = |reason: &&String| {
        let at = left.iter().position(|name| reason.starts_with(name));
        at.map(|at| left.swap_remove(at)).is_some()
    };
    found.iter().filter(|reason| is_recorded(reason)).cloned().collect()
}

fn unknown_before(ws: &Workspace) -> String {
    let unreadable = |error| format!("no record, and no commit that can be read: {error}");
    let why = ws.git_error().map_or("no record, no commit".to_owned(), unreadable);
    format!(
        "nothing is known of this file before: {why}. `intent record --all` claims the whole file"
    )
}

fn is_as_committed(ws: &Workspace, path: &RelativePath) -> Result<bool, VerbError> {
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(false) };
    let committed = git.file_at(head, path)?;
    Ok(committed.is_some() && committed == ws.bytes_as_stored(path))
}

/// Says why nothing was recorded where all lines were claimed: a line has one record.
pub const ALL_RECORDED: &str = "every line has a record already; `intent evidence reassign` puts committed lines under another intent, and `intent record --undo` takes back what is in no commit";

fn nothing_differs(
    ws: &Workspace,
    path: &RelativePath,
    (earlier, now): (&[&Document], &Document),
    extent: RecordExtent,
) -> SkippedFile {
    let blocks = now.blocks();
    let has_lost_lines = || {
        let texts: Vec<LineText> = earlier.iter().map(|old| changes::line_text(old)).collect();
        let is_new = new_lines(&texts.iter().collect::<Vec<_>>(), &changes::line_text(now));
        // Git may store other line ends than the disk has.
        let is_committed = || is_as_committed(ws, path).unwrap_or(false);
        earlier.iter().all(|old| old.text() != now.text())
            && !is_new.contains(&true)
            && !is_committed()
    };
    let place = ws.root.absolute(path);
    let is_missing = place.symlink_metadata().is_err();
    let (unchanged, reason) = if place.is_dir() {
        (false, "it is a folder; name its files, or record it with `intent record` in a terminal")
    } else if is_missing && matches!(extent, RecordExtent::Lines(_)) {
        (true, "it does not exist, so it has no such lines; record it without lines")
    } else if is_missing {
        (true, "it does not exist, and none of its earlier blocks is left to record as deleted")
    } else if now.text().trim().is_empty() {
        (true, "it holds no block")
    } else if blocks.blocks.iter().any(|block| block.broken) {
        (
            false,
            "it does not parse, and only the blocks around the syntax error differ; record it again when the error is gone",
        )
    } else if extent != RecordExtent::Changes {
        (true, ALL_RECORDED)
    } else if earlier.iter().any(|old| differ_in_blank_lines(&old.text(), &now.text())) {
        (true, "only blank lines differ, which say nothing and need no record")
    } else if has_lost_lines() {
        (
            false,
            "lines between its blocks were only removed or indented, which no record can describe; a line `Intent-Id: ID` at the end of the commit message names the intent",
        )
    } else {
        (
            true,
            "it is as it was recorded or committed before; `--undo` takes back the last record, and `--all --lines A-B` claims lines that have no record",
        )
    };
    SkippedFile { unchanged, ..SkippedFile::skipped_whole(path, reason) }
}

/// Names us in a record that no agent made.
const OWN_NAME: &str = "intent";

/// Returns a record with all general fields filled, but without files.
pub fn skeleton(
    ws: &Workspace,
    kind: RecordKind,
    intent: Option<&Intent>,
    session: Option<String>,
    tool: Option<&str>,
) -> Record {
    Record {
        id: uuid::Uuid::now_v7().to_string(),
        timestamp: clock::now(),
        kind,
        intent_id: intent.map(|intent| intent.id.value.clone()),
        intent_hash: intent.map(Intent::hash),
        vcs: Some(Vcs { revision_id: ws.head().map(|head| head.0.clone()) }),
        tool: Some(Tool {
            name: tool.unwrap_or(OWN_NAME).to_owned(),
            version: tool.is_none().then(|| env!("CARGO_PKG_VERSION").to_owned()),
        }),
        session,
        ..Record::default()
    }
}

/// Returns the claimed class of a change if another one was found. A class that could not be found
/// contradicts nothing.
pub fn contradicted_claim(claimed: Option<&str>, found: Option<MutationClass>) -> Option<String> {
    let (claimed, found) = claimed.zip(found)?;
    (!claimed.trim().eq_ignore_ascii_case(found.as_str())).then(|| claimed.to_owned())
}

/// Appends a record and returns its id.
pub fn append(ws: &Workspace, record: Record) -> Result<String, VerbError> {
    let id = record.id.clone();
    append_all(ws, vec![record]).map(|()| id)
}

/// Appends the records of one session under one intent: all of them, or none.
pub fn append_all(ws: &Workspace, records: Vec<Record>) -> Result<(), VerbError> {
    let with_files = records.iter().find(|record| !record.files.is_empty());
    let work = with_files.and_then(|record| record.session.clone().zip(record.intent_id.clone()));
    append_records(&ws.root, &ws.policy, records)?;
    if let Some((actor, intent)) = work {
        let noted = session::note_work(&ws.root, &actor, &intent);
        session::or_log(&ws.root, "it could not be noted that a session wrote", noted);
    }
    Ok(())
}

fn inferred_from(strength: Option<Strength>) -> ledger::Extra {
    let inferred = strength == Some(Strength::Inferred);
    inferred.then(|| ("via".to_owned(), "shell".into())).into_iter().collect()
}

fn contributor(request: &RecordRequest) -> Contributor {
    let named = request.agent.is_some() || request.model.is_some();
    let entity_type =
        request.contributor.unwrap_or(if named { EntityType::Ai } else { EntityType::Unknown });
    let has_person = matches!(entity_type, EntityType::Human | EntityType::Mixed);
    let name = request.person.clone().filter(|_| has_person);
    Contributor { entity_type, model_identifier: request.model.clone(), name }
}

fn related_of_intent(intent: &Intent) -> Vec<Related> {
    let itself = Related { kind: "intent".to_owned(), value: intent.id.value.clone() };
    let of_spec = |spec: &String| Related { kind: "specification".to_owned(), value: spec.clone() };
    let specs = intent.related_specs.iter().map(|spec| of_spec(&spec.value));
    std::iter::once(itself).chain(specs).collect()
}

/// Returns the first reason why work under the intent may not change the path, and what to do about
/// it, in a few sentences.
fn reason_against(ws: &Workspace, path: &RelativePath, intent: &str) -> Option<String> {
    let rules = Rules::from_workspace(ws);
    let ruling = rules.rulings(path, Some(intent)).into_iter().next()?;
    // A file that git ignores needs no scope, neither here nor in the gate and in `check`.
    if matches!(ruling, Ruling::Outside(_)) && ws.ignores.git_ignored(path) {
        return None;
    }
    let (what, why) = rules.describe(&ruling, path, Some(intent));
    let mut parts = vec![what, why];
    if matches!(ruling, Ruling::Outside(_)) {
        let place = path.for_shell();
        let work = match ws.exists(path) {
            true => OutsideWork::Open(&place),
            false => OutsideWork::Recorded,
        };
        parts.push(rules.way_out(path, intent, "it", work));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join(" "))
}
