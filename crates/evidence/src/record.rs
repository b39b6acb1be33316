//! `intent record`: records a change of files. Compares the disk with an earlier state, finds the
//! blocks that changed, classifies the change, and appends records to the ledger.
//!
//! - `changes` decides which blocks of a file a record names.
//! - `call` records what one call of an agent's tool did.

use ground::control_files;
use ground::git::deleted_paths;
use std::collections::HashSet;
use std::time::Duration;
use why::selectable;

use schemars::JsonSchema;
use serde::Serialize;

pub mod call;
mod changes;

use changes::{Changes, FileToRecord};

use super::event::Event;
use code::{Block, Document, FileBlocks, LineRange, Lines, lines};
use intents::Intent;
use ledger::{
    AppendError, Basis, BlockRecord, Claim, ClaimRef, Contributor, Conversation, EntityType,
    FileRecord, MutationClass, Record, RecordKind, RecordedDecision, Related, Strength, Tool, Vcs,
    Writer,
};
use why::baseline::Baseline;
use why::rules::{Rules, Ruling};
use why::{VerbError, Workspace};

use ground::clock;
use ground::git::Target;
use ground::text::{counted, shell_word};
use ground::{Hint, RelativePath, session, store};
use provenance::classify::Classification;
pub use provenance::{Before, block_record};

/// What to record, and who wrote it.
#[derive(Clone, Debug, Default)]
pub struct RecordRequest {
    /// The files of the work tree. If a file was deleted, its blocks are recorded as deleted.
    pub paths: Vec<RelativePath>,
    /// Which blocks of the files are recorded.
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
    /// The class of the change, as the agent claims it.
    pub claimed_class: Option<String>,
    /// How strong the evidence is. `None` means that it is only declared.
    pub strength: Option<Strength>,
    /// Whether a person takes responsibility for writes that passed no gate. Only a person may do
    /// this: otherwise an agent could write past the gate and then record its work as if it had
    /// asked first.
    pub accepts_ungated: bool,
}

impl RecordRequest {
    /// Makes a request to record what a call of an agent's tool wrote, without paths.
    pub fn for_call(event: &Event) -> Self {
        Self {
            session: Some(event.session_key()),
            agent: Some(event.host.clone()),
            model: event.model.clone(),
            contributor: Some(EntityType::Ai),
            ..Self::default()
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordExtent {
    /// The blocks that changed since the baseline.
    #[default]
    Changes,
    /// All blocks of the file as it is, changed or not.
    WholeFile,
    /// The blocks that lie completely in these lines, changed or not. If there is none, the
    /// innermost block at the first of the lines. Deletions are not recorded.
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
    /// The class of the change. `None` if it could not be determined.
    pub mutation_class: Option<MutationClass>,
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
    /// Whether the record contains deleted blocks. After a move, the next file may contain them.
    #[serde(skip)]
    has_deletions: bool,
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

    fn block(path: &RelativePath, block: &Block, reason: &str) -> Self {
        let name = format!("{} {}", block.identity.kind.as_str(), block.identity.path);
        let reason = format!("{name} {reason}");
        Self { block: Some(name), ..Self::skipped_whole(path, reason) }
    }
}

/// Says what the gate thinks of a write to a path under the intent with this id.
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
    // While evidence cannot be read, only writes that were observed (those with a strength) are
    // recorded, because they would be lost otherwise.
    if request.strength.is_none()
        && let Some(reason) = ws.unread_evidence()
    {
        return Err(VerbError::refused(format!(
            "{reason} Until then nothing is recorded: code that has a record would be claimed anew"
        )));
    }
    // Only one process records at a time. Each one sees the records of those before it, so nothing
    // is recorded twice.
    let _turn = store::lock(&ws.root.private().join("record.lock"), PATIENCE)?;
    let mut current = ws.with_ledger_of_now();
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
                shell_word(path.as_str())
            );
            answer.skipped.push(SkippedFile::skipped_whole(&path, reason));
            continue;
        }
        let intent = ws.intent_in_progress(&id)?;
        let recorded =
            match record_file(&current, request, decide, intent, &path, &mut answer.skipped) {
                // If some records are in the ledger already, the caller must learn of them. So this
                // error is reported for its file only, as is one about a record that is too large.
                Err(error)
                    if matches!(error, VerbError::Append(AppendError::TooLarge { .. }))
                        || !answer.recorded.is_empty() =>
                {
                    answer.skipped.push(SkippedFile::skipped_whole(&path, error.with_hint()));
                    None
                }
                recorded => recorded?,
            };
        let Some(recorded) = recorded else { continue };
        if recorded.has_deletions {
            // A block that was deleted from this file may have been moved to the next one.
            current = current.with_ledger_of_now();
        }
        if request.strength.is_none() {
            // The caller has taken responsibility for the write, so a note that it passed no gate
            // is removed.
            session::ungated::settle(&ws.root, &path)?;
        }
        answer.recorded.push(recorded);
    }
    Ok(answer)
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

/// Returns the reason if a path is never recorded.
fn no_code(path: &RelativePath) -> Option<&'static str> {
    if path.is_orchestration() {
        return Some("files below .orchestration/ are not code and are never recorded");
    }
    // The files below `.git` are control files, too.
    let is_control = control_files::is_control_file(path);
    is_control
        .then_some("it controls the gate: it is judged as a rule, not as code, and never recorded")
}

/// Records one file, and adds what is left out to `skipped`. Returns `None` if nothing was recorded.
fn record_file(
    ws: &Workspace,
    request: &RecordRequest,
    decide: DecideWrite,
    intent: &Intent,
    path: &RelativePath,
    skipped: &mut Vec<SkippedFile>,
) -> Result<Option<RecordedFile>, VerbError> {
    let mut skip = |file: SkippedFile| {
        skipped.push(file);
        Ok(None)
    };
    if let Some(reason) = no_code(path) {
        // The file counts as unchanged, so that it is not reported if only its folder was named.
        return skip(SkippedFile::unchanged(path, reason));
    }
    let empty = || Document::from_text("", "");
    let document = match ws.read(path) {
        Ok(document) => document,
        Err(why::ReadError::Missing { .. }) => empty(),
        // A folder has taken the place of the file, so the file counts as deleted.
        Err(why::ReadError::Store(_)) if ws.root.absolute(path).is_dir() => empty(),
        Err(why::ReadError::Unread { reason, .. }) => {
            let unchanged = is_as_committed(ws, path)?;
            return skip(SkippedFile {
                unchanged,
                ..SkippedFile::skipped_whole(path, reason.with_hint())
            });
        }
        Err(error) => return skip(SkippedFile::skipped_whole(path, error.with_hint())),
    };
    let committed = committed(ws, path, &document)?;
    let document = committed.carried_by(document);
    let now = document.blocks();
    let subject = FileToRecord::new(ws, path, &document, &committed);
    if !subject.knows_before() && request.extent == RecordExtent::Changes {
        return skip(SkippedFile::skipped_whole(path, unknown_before(ws)));
    }
    let is_by_request = |claim: &Claim<'_>| {
        ws.intent_of(claim).as_ref() == Some(&intent.id.value)
            && claim.conversation.contributor == contributor(request)
    };
    let mut changes = Changes::of_extent(&subject, request.extent, is_by_request);
    let left = std::mem::take(&mut changes.left);
    if changes.ranges.is_empty() && left.is_empty() {
        return skip(match changes.committed_since {
            0 => nothing_differs(ws, path, &now, request.extent),
            blocks => {
                let reason = format!(
                    "no block differs from the last commit; {} changed since the last record, and the author of these changes is not known; claim the file as it stands with `intent record --all`",
                    counted(blocks, "block")
                );
                SkippedFile::unchanged(path, reason)
            }
        });
    }
    if changes.ranges.is_empty() {
        skipped.extend(left);
        return Ok(None);
    }
    let mut class = match subject.text_before().filter(|_| request.extent == RecordExtent::Changes)
    {
        Some(before) => call::class_of(path, before, &document),
        None => changes.provisional_class(&now, committed.has_error()),
    };
    class.reasons = reasons_of(&class.reasons, &changes.ranges);
    let decision = decide(ws, request, &intent.id.value, path);
    let mut recorded = RecordedFile {
        path: path.clone(),
        intent: intent.id.value.clone(),
        records: Vec::new(),
        blocks: changes.ranges.len(),
        mutation_class: class.class,
        basis: Some(class.basis),
        reasons: class.reasons.clone(),
        outcome: decision.outcome.clone(),
        against: reason_against(ws, path, &intent.id.value),
        has_deletions: changes.ranges.iter().any(|range| range.deleted),
    };
    let record = mutation(ws, request, intent, path, changes, class, decision);
    recorded.records.push(append(ws, record)?);
    skipped.extend(left);
    Ok(Some(recorded))
}

/// Returns the record of a change to one file.
fn mutation(
    ws: &Workspace,
    request: &RecordRequest,
    intent: &Intent,
    path: &RelativePath,
    changes: Changes,
    class: Classification,
    decision: RecordedDecision,
) -> Record {
    let session = request.session.clone();
    let contributor = contributor(request);
    let file = FileRecord {
        outlines: Some(changes.outlines),
        reasons: class.reasons,
        ..of_blocks(path, Some(intent), session.clone(), contributor, changes.ranges)
    };
    Record {
        mutation_class: class.class,
        basis: Some(class.basis),
        decision: Some(decision),
        files: vec![file],
        claimed_class: request.claimed_class.clone(),
        as_it_stood: request.extent != RecordExtent::Changes,
        strength: Some(request.strength.unwrap_or(Strength::Declared)),
        extra: inferred_from(request.strength),
        ..skeleton(ws, RecordKind::Mutation, Some(intent), session, request.agent.as_deref())
    }
}

/// Returns the part of a record that names the blocks of one file.
pub fn of_blocks(
    path: &RelativePath,
    intent: Option<&Intent>,
    session: Option<String>,
    contributor: Contributor,
    ranges: Vec<BlockRecord>,
) -> FileRecord {
    let conversation = Conversation {
        url: session,
        contributor,
        ranges,
        related: intent.map(related).unwrap_or_default(),
        ..Conversation::default()
    };
    FileRecord { conversations: vec![conversation], ..FileRecord::with_path_only(path.clone()) }
}

/// Returns the committed version of the file. If the file was renamed since, that is the version
/// under its earlier name. Returns [`Baseline::Unknown`] if there is no git or git cannot be read.
fn committed(ws: &Workspace, path: &RelativePath, now: &Document) -> Result<Baseline, VerbError> {
    let (Some(git), None) = (ws.git(), ws.git_error()) else { return Ok(Baseline::Unknown) };
    let baseline = Baseline::of_work(ws, path)?;
    let Some(head) = ws.head() else { return Ok(baseline) };
    if now.blocks().blocks.is_empty() || !baseline.is_empty() {
        return Ok(baseline);
    }
    let gone = deleted_paths(&git.changes(Some(head), &Target::WorkTree)?);
    Ok(baseline.or_renamed(ws, path, now, Some(head), &gone)?.baseline)
}

/// Selects the reasons that are about the recorded blocks. If several blocks share a name, as many
/// reasons are selected as there are recorded blocks with that name.
fn reasons_of(found: &[String], ranges: &[BlockRecord]) -> Vec<String> {
    let mut left: Vec<String> = ranges
        .iter()
        .filter_map(|range| range.block.as_ref())
        .map(|block| match provenance::is_unnamed(&block.kind) {
            true => "file ".to_owned(),
            false => format!("{} {}:", block.kind, block.path),
        })
        .collect();
    let mut is_recorded = |reason: &&String| {
        let at = left.iter().position(|name| reason.starts_with(name));
        at.map(|at| left.swap_remove(at)).is_some()
    };
    found.iter().filter(|reason| is_recorded(reason)).cloned().collect()
}

fn unknown_before(ws: &Workspace) -> String {
    let why = match ws.git_error() {
        Some(error) => format!("no record, and no commit that can be read: {error}"),
        None => "no record, no commit".to_owned(),
    };
    format!(
        "nothing is known of this file before: {why}. Claim it as it stands with `intent record --all`"
    )
}

/// Returns true if the file has the same bytes as at `HEAD`.
fn is_as_committed(ws: &Workspace, path: &RelativePath) -> Result<bool, VerbError> {
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(false) };
    let committed = git.file_at(head, path)?;
    let stands = ws.root.read(path, store::MAX_CONTENT)?;
    Ok(committed.is_some() && committed == stands)
}

/// Returns a file without blocks to record, with the reason.
fn nothing_differs(
    ws: &Workspace,
    path: &RelativePath,
    now: &FileBlocks,
    extent: RecordExtent,
) -> SkippedFile {
    let place = ws.root.absolute(path);
    let is_missing = place.symlink_metadata().is_err();
    let (unchanged, reason) = if place.is_dir() {
        (false, "it is a folder; name its files, or record it with `intent record` in a terminal")
    } else if is_missing && matches!(extent, RecordExtent::Lines(_)) {
        (true, "it does not exist, so it has no such lines; record it without lines")
    } else if is_missing && !ws.trail(path).heads().is_empty() {
        (
            true,
            "a commit deleted it after its last record; who did that is not known; claim it with `intent record --all`",
        )
    } else if is_missing {
        (true, "it does not exist, and none of its earlier blocks is left to record as deleted")
    } else if now.blocks.is_empty() {
        (true, "it holds no block")
    } else if now.blocks.iter().any(|block| block.broken) {
        (
            false,
            "it does not parse, and only the blocks around the syntax error differ; record it again when the error is gone",
        )
    } else {
        let reason = match extent {
            RecordExtent::WholeFile => {
                "every block is already recorded under this intent and by this contributor"
            }
            RecordExtent::Lines(_) => {
                "these lines hold no block, or it is already recorded under this intent and by this contributor"
            }
            RecordExtent::Changes => {
                "no block differs from what was recorded or committed before; claim the file as it stands with `intent record --all`"
            }
        };
        (true, reason)
    };
    SkippedFile { unchanged, ..SkippedFile::skipped_whole(path, reason) }
}

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
            name: tool.unwrap_or("intent").to_owned(),
            version: tool.is_none().then(|| env!("CARGO_PKG_VERSION").to_owned()),
        }),
        session,
        ..Record::default()
    }
}

/// Appends a record durably and returns its id.
pub fn append(ws: &Workspace, record: Record) -> Result<String, VerbError> {
    Ok(Writer::new(&ws.root, &ws.policy).append(record)?)
}

/// Returns `via: shell` for a record that was inferred from the effects of a shell command.
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

fn related(intent: &Intent) -> Vec<Related> {
    let itself = Related { kind: "intent".to_owned(), value: intent.id.value.clone() };
    let specs = intent
        .related_specs
        .iter()
        .map(|spec| Related { kind: "specification".to_owned(), value: spec.value.clone() });
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
        let place = ws.exists(path).then(|| shell_word(path.as_str()));
        parts.push(rules.way_out(path, intent, "it", place.as_deref()));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join(" "))
}

/// Returns the version of a block that the claim `at` recorded, as the one that a new record
/// replaces. Which lines are new since then is not known if that record has no line hashes.
pub fn recorded_before(ws: &Workspace, at: ClaimRef, document: &Document, block: &Block) -> Before {
    let range = ws.ledger.claim(at).full_block();
    let recorded = range.lines.as_ref().and_then(Lines::hashes);
    let brought = recorded.map(|recorded| {
        let matched = lines::matched_own_lines(&recorded, &lines::own_lines(document, block));
        matched.iter().map(Option::is_none).collect()
    });
    Before { replaces: Some(range.content_hash.clone()), brought, ..Before::default() }
}
