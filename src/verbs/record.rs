//! *This mutation happened.* Compares the disk with what was there before, finds
//! the blocks that changed, classifies the change, appends to the ledger.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::edited::{Baseline, Edits, unnamed};
use super::{VerbError, Workspace};
use crate::code::{Block, FileBlocks};
use crate::intent::Intent;
use crate::ledger::{
    Basis, BlockName, BlockRecord, ClaimRef, Contributor, Conversation, EntityType, Evidence,
    FileRecord, MutationClass, Record, RecordKind, RecordedDecision, Related, Tool, Vcs, Writer,
};
use crate::provenance::classify::{self, ChangedBlock, Parsed};
use crate::provenance::outline::Against;
use crate::provenance::{Outline, Verdict, matching};
use crate::workspace::{RelativePath, store};

/// What to record.
#[derive(Clone, Debug, Default)]
pub struct RecordRequest {
    /// Files of the work tree; a file that is gone records its blocks as deleted.
    pub paths: Vec<RelativePath>,
    /// How much of them.
    pub extent: Extent,
    /// The intent; `None` for the selected one.
    pub intent: Option<String>,
    /// The session: `host:id`.
    pub session: Option<String>,
    /// The agent's name, e.g. `claude-code`.
    pub agent: Option<String>,
    /// The model, e.g. `anthropic/claude-…`.
    pub model: Option<String>,
    /// Who wrote; `None`: `AI` where an agent or a model is named, else `UNKNOWN`.
    pub contributor: Option<EntityType>,
    /// The class the agent claims.
    pub claimed_class: Option<String>,
}

/// How much of a file is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// What changed since the baseline.
    #[default]
    Changes,
    /// The whole file as it stands, changed or not.
    WholeFile,
}

/// What was recorded and what was not.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RecordAnswer {
    /// One entry a file.
    pub recorded: Vec<RecordedFile>,
    /// Files of which nothing was recorded, each with its reason.
    pub skipped: Vec<SkippedFile>,
}

/// A file that was recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecordedFile {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// The intent.
    pub intent: String,
    /// The ids of its records.
    pub records: Vec<String>,
    /// How many blocks, deleted ones included.
    pub blocks: usize,
    /// The class of the change; `None` when undetermined.
    pub mutation_class: Option<MutationClass>,
    /// How the class was found.
    pub basis: Option<Basis>,
    /// What was found, per block.
    pub reasons: Vec<String>,
    /// What the gate says of this write: `no_opinion`, `ask` or `deny`. A denied write is recorded all the same, as what it is.
    pub outcome: String,
}

/// A file of which nothing was recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SkippedFile {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// Why, and what to do.
    pub reason: String,
}

/// Records the named files under an intent that is in progress.
pub fn record(ws: &Workspace, request: &RecordRequest) -> Result<RecordAnswer, VerbError> {
    ws.governed()?;
    let id = request
        .intent
        .clone()
        .or_else(|| ws.selected(request.session.as_deref()))
        .ok_or(VerbError::NothingSelected)?;
    let intent = ws.intent_in_progress(&id)?;
    let mut answer = RecordAnswer::default();
    for path in &request.paths {
        match record_file(ws, request, intent, path)? {
            Outcome::Recorded(file) => answer.recorded.push(file),
            Outcome::Skipped(reason) => {
                answer.skipped.push(SkippedFile { path: path.clone(), reason })
            }
        }
    }
    Ok(answer)
}

enum Outcome {
    Recorded(RecordedFile),
    Skipped(String),
}

fn skipped(reason: &str) -> Result<Outcome, VerbError> {
    Ok(Outcome::Skipped(reason.to_owned()))
}

fn record_file(
    ws: &Workspace,
    request: &RecordRequest,
    intent: &Intent,
    path: &RelativePath,
) -> Result<Outcome, VerbError> {
    if path.is_orchestration() {
        return skipped("files below .orchestration/ are not code and are never recorded");
    }
    let now = match ws.read(path) {
        Ok(document) => document.blocks(),
        Err(super::ReadError::Missing { .. }) => std::sync::Arc::default(),
        Err(super::ReadError::Unread { reason, .. }) => {
            return Ok(Outcome::Skipped(reason.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    let outline = ws.recorded_outline(path);
    let baseline = match (&outline, ws.git.is_some()) {
        (Some(outline), _) => Baseline::Outline(outline.clone()),
        (None, true) => Baseline::of_work(ws, path)?,
        (None, false) => Baseline::Unknown,
    };
    if matches!((&baseline, request.extent), (Baseline::Unknown, Extent::Changes)) {
        return skipped(
            "nothing is known of this file before: no record, no commit. Claim it as it stands with --all",
        );
    }
    let changes = Changes::find(ws, path, &now, &baseline, request.extent);
    if changes.is_empty() {
        return skipped(
            "no block differs from what was recorded or committed before; claim the file as it stands with --all",
        );
    }
    let parsed =
        if now.has_error || baseline.has_error() { Parsed::WithErrors } else { Parsed::Cleanly };
    let class = classify::change(&changes.classified(&now), parsed);
    let decision = decide(ws, request, &intent.id.value, path);
    let outcome = decision.outcome.clone();
    let file = FileRecord {
        relative_path: path.clone(),
        conversations: vec![Conversation {
            url: request.session.clone(),
            contributor: contributor(request),
            ranges: changes.ranges,
            extra: Default::default(),
        }],
        related: related(intent),
        outline: Some(Outline::of(&now).delta(outline.as_ref())),
        reasons: class.reasons.clone(),
        extra: Default::default(),
    };
    let blocks = file.conversations[0].ranges.len();
    let record = Record {
        mutation_class: class.class,
        basis: Some(class.basis),
        decision: Some(decision),
        files: vec![file],
        claimed_class: request.claimed_class.clone(),
        evidence: Some(Evidence::Declared),
        ..skeleton(
            ws,
            RecordKind::Mutation,
            Some(intent),
            request.session.clone(),
            request.agent.as_deref(),
        )
    };
    let appended = append(ws, record)?;
    Ok(Outcome::Recorded(RecordedFile {
        path: path.clone(),
        intent: intent.id.value.clone(),
        records: appended,
        blocks,
        mutation_class: class.class,
        basis: Some(class.basis),
        reasons: class.reasons,
        outcome,
    }))
}

/// A record with everything but what it is about.
pub(super) fn skeleton(
    ws: &Workspace,
    kind: RecordKind,
    intent: Option<&Intent>,
    session: Option<String>,
    tool: Option<&str>,
) -> Record {
    Record {
        id: uuid::Uuid::now_v7().to_string(),
        timestamp: store::now(),
        kind,
        intent_id: intent.map(|intent| intent.id.value.clone()),
        intent_hash: intent.map(Intent::hash),
        vcs: Some(Vcs { revision_id: ws.head.as_ref().map(|head| head.0.clone()) }),
        tool: Some(match tool {
            Some(name) => Tool { name: name.to_owned(), version: None },
            None => Tool {
                name: "intent".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            },
        }),
        session,
        ..Record::default()
    }
}

/// Appends durably; the ids of the records.
pub(super) fn append(ws: &Workspace, record: Record) -> Result<Vec<String>, VerbError> {
    let head = ws.head.as_ref().map(|head| head.0.as_str());
    Ok(Writer::new(&ws.root, &ws.policy).append(record, head)?.records)
}

fn contributor(request: &RecordRequest) -> Contributor {
    let named = request.agent.is_some() || request.model.is_some();
    let entity_type =
        request.contributor.unwrap_or(if named { EntityType::Ai } else { EntityType::Unknown });
    Contributor { entity_type, model_identifier: request.model.clone() }
}

fn related(intent: &Intent) -> Vec<Related> {
    let itself = Related { kind: "intent".to_owned(), value: intent.id.value.clone() };
    let specs = intent
        .related_specs
        .iter()
        .map(|spec| Related { kind: "specification".to_owned(), value: spec.value.clone() });
    std::iter::once(itself).chain(specs).collect()
}

fn decide(
    ws: &Workspace,
    request: &RecordRequest,
    intent: &str,
    path: &RelativePath,
) -> RecordedDecision {
    use super::gate::{Decision, GateRequest, judge};
    let gate = GateRequest {
        paths: vec![path.to_string()],
        session: request.session.clone(),
        intent: Some(intent.to_owned()),
    };
    let (outcome, rule) = match judge(ws, &gate) {
        Decision::NoOpinion => ("no_opinion", None),
        Decision::Ask(denial) => ("ask", Some(denial.code.as_str().to_owned())),
        Decision::Deny(denial) => ("deny", Some(denial.code.as_str().to_owned())),
    };
    RecordedDecision { outcome: outcome.to_owned(), rule, approval: None }
}

/// The blocks that a record speaks of.
struct Changes {
    edits: Edits,
    ranges: Vec<BlockRecord>,
    gone: Vec<(String, String)>,
}

impl Changes {
    fn find(
        ws: &Workspace,
        path: &RelativePath,
        now: &FileBlocks,
        baseline: &Baseline,
        extent: Extent,
    ) -> Self {
        let mut edits = baseline.edits(now);
        if extent == Extent::WholeFile {
            let known: HashSet<usize> = edits.now.iter().map(|(at, _)| *at).collect();
            edits.now.extend(
                (0..now.blocks.len())
                    .filter(|at| !known.contains(at))
                    .map(|at| (at, Against::Same)),
            );
            edits.now.sort_by_key(|(at, _)| *at);
        }
        let provenance = matching::file(&ws.ledger, path, now);
        let heads = matching::heads(&ws.ledger, path);
        let mut ranges: Vec<BlockRecord> = edits
            .now
            .iter()
            .map(|(at, _)| {
                let block = &now.blocks[*at];
                let claim =
                    provenance[*at].claim.filter(|_| provenance[*at].verdict != Verdict::Ambiguous);
                let replaces = before(ws, baseline, block, claim, &heads);
                block_record(block, now.language, replaces)
            })
            .collect();
        let (deleted, gone) = deletions(ws, now, &edits, &provenance, &heads);
        ranges.extend(deleted);
        Self { edits, ranges, gone }
    }

    fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    fn classified<'a>(&'a self, now: &'a FileBlocks) -> Vec<ChangedBlock<'a>> {
        let standing = self
            .edits
            .now
            .iter()
            .map(|(at, against)| ChangedBlock::Now(&now.blocks[*at], *against));
        let gone = self.gone.iter().map(|(kind, path)| ChangedBlock::Gone(kind, path));
        standing.chain(gone).collect()
    }
}

/// What the block was before, as the chain of `replaces` needs it: what the baseline says, else what the ledger last recorded of it.
fn before(
    ws: &Workspace,
    baseline: &Baseline,
    block: &Block,
    claim: Option<ClaimRef>,
    heads: &[ClaimRef],
) -> Option<crate::code::ContentHash> {
    if let Some(content) = baseline.content_before(block) {
        return Some(content);
    }
    let recorded = |at: ClaimRef| ws.ledger.claim(at).range;
    let name = matching::block_name(block, None);
    let same_name = heads.iter().copied().find(|at| {
        recorded(*at)
            .block
            .as_ref()
            .is_some_and(|other| BlockName { language: None, ..other.clone() } == name)
    });
    let last = same_name.or(claim).map(recorded)?;
    let Baseline::Outline(outline) = baseline else { return Some(last.content_hash.clone()) };
    let then = last.block.as_ref()?;
    // Somebody changed the block between its record and the outline: say nothing rather than skip over the gap.
    outline.held(then, &last.content_hash).then(|| last.content_hash.clone())
}

/// Recorded blocks that are gone, and committed blocks that are gone though nobody recorded them.
fn deletions(
    ws: &Workspace,
    now: &FileBlocks,
    edits: &Edits,
    provenance: &[matching::Provenance],
    heads: &[ClaimRef],
) -> (Vec<BlockRecord>, Vec<(String, String)>) {
    let matched: HashSet<ClaimRef> = provenance
        .iter()
        .flat_map(|found| found.claim.into_iter().chain(found.candidates.iter().copied()))
        .collect();
    let names: HashSet<(&str, &str)> = now
        .blocks
        .iter()
        .map(|block| (block.identity.kind.as_str(), block.identity.path.as_str()))
        .collect();
    let mut ranges = Vec::new();
    let mut gone = Vec::new();
    for head in heads.iter().filter(|head| !matched.contains(head)) {
        let range = ws.ledger.claim(*head).range;
        let Some(name) = &range.block else { continue };
        let text_stands =
            now.blocks.iter().any(|block| block.fingerprint.content == range.content_hash);
        if names.contains(&(name.kind.as_str(), name.path.as_str())) || text_stands {
            continue;
        }
        gone.push((name.kind.clone(), name.path.clone()));
        ranges.push(BlockRecord {
            deleted: true,
            replaces: Some(range.content_hash.clone()),
            ..range.clone()
        });
    }
    for old in &edits.gone {
        let block = &old.block;
        let known = gone.iter().any(|(kind, path)| {
            kind == block.identity.kind.as_str() && *path == block.identity.path
        });
        if known || unnamed(block) {
            continue;
        }
        gone.push((block.identity.kind.as_str().to_owned(), block.identity.path.clone()));
        let content = block.fingerprint.content.clone();
        ranges.push(BlockRecord {
            deleted: true,
            ..block_record(block, now.language, Some(content))
        });
    }
    (ranges, gone)
}

/// A block as the ledger writes it.
pub(super) fn block_record(
    block: &Block,
    language: Option<&str>,
    replaces: Option<crate::code::ContentHash>,
) -> BlockRecord {
    let print = &block.fingerprint;
    BlockRecord {
        start_line: block.lines.start(),
        end_line: block.lines.end(),
        content_hash: print.content.clone(),
        block: Some(matching::block_name(block, language)),
        token_hash: Some(print.tokens.clone()),
        shape_hash: Some(print.shape.clone()),
        own_hash: print.own.clone(),
        sketch: Some(print.sketch.clone()),
        tokens: Some(print.token_count),
        replaces,
        deleted: false,
        extra: Default::default(),
    }
}
