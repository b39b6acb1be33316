//! *Verify*: is the ledger whole, and does the code still say what it says?

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Workspace, why};
use crate::code::LineRange;
use crate::intent::lint;
use crate::ledger::{BlockName, ClaimRef};
use crate::provenance::{self, Provenance, Verdict};
use crate::workspace::{Code, Finding, RelativePath, ignores, session};

/// The state of the evidence.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct VerifyAnswer {
    /// Records read.
    pub records: usize,
    /// Chains (writers) verified.
    pub chains: usize,
    /// How recorded blocks stand today, by verdict.
    pub blocks: VerdictCounts,
    /// Recorded blocks that are not in their file any more.
    pub lost: Vec<LostBlock>,
    /// What is wrong in ledger, registry and policy.
    pub findings: Vec<super::check::FindingAnswer>,
}

/// Blocks by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictCounts {
    /// As recorded.
    pub exact: usize,
    /// As recorded but for formatting.
    pub reformatted: usize,
    /// As recorded, elsewhere.
    pub moved: usize,
    /// As recorded but for names.
    pub renamed: usize,
    /// Changed since.
    pub modified: usize,
    /// Several records fit.
    pub ambiguous: usize,
    /// In a file with records, but in none of them.
    pub unrecorded: usize,
}

/// A recorded block that cannot be found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LostBlock {
    /// The file it was recorded in.
    pub path: RelativePath,
    /// `method`.
    pub kind: String,
    /// `AuthMiddleware.verify`.
    pub name: String,
    /// The intent.
    pub intent: Option<String>,
    /// The record.
    pub record: String,
}

/// Everything wrong in policy, registry, ignore files and ledger.
pub fn findings(ws: &Workspace) -> Vec<Finding> {
    let judged = ws.root.governed() && !ws.registry.intents().is_empty();
    let files = if judged { ignores::walk(&ws.root) } else { Vec::new() };
    findings_among(ws, &files)
}

/// The same for a caller that keeps the list of the workspace's files.
pub fn findings_among(ws: &Workspace, files: &[RelativePath]) -> Vec<Finding> {
    let mut all: Vec<Finding> = ws.policy_findings.to_vec();
    all.extend(lint::registry(&ws.registry));
    if ws.root.governed() && !ws.registry.intents().is_empty() {
        all.extend(lint::against_files(&ws.registry, files));
    }
    all.extend(ws.ignores.findings().iter().cloned());
    all.extend(ws.ledger.findings().iter().cloned());
    all.extend(unknown_intents(ws));
    all.extend(ungated(ws));
    all
}

/// Writes that no gate let through, for as long as the files are as those left them.
fn ungated(ws: &Workspace) -> Vec<Finding> {
    let notes = session::ungated::standing(&ws.root).into_iter();
    let finding = |note: session::ungated::Ungated| Finding {
        path: Some(note.path.clone()),
        lines: LineRange::new(1, 1),
        ..Finding::new(
            Code::UngatedWrite,
            format!(
                "{} wrote this file at {} with {}, and no gate let that through: {}.",
                note.actor, note.at, note.tool, note.why
            ),
            format!(
                "Look at it; then `intent record {0}` for an intent that asked for it, or `intent accept {0}` as it stands. `intent doctor` says why the gate was not asked.",
                note.path
            ),
        )
    };
    notes.map(finding).collect()
}

/// Records and selections that name an intent the registry does not hold.
fn unknown_intents(ws: &Workspace) -> Vec<Finding> {
    if ws.registry.syntax_error().is_some() {
        return Vec::new();
    }
    let mut unknown = ws.ledger.intents();
    unknown.retain(|id| ws.registry.get(id).is_none());
    let first = |id: String| Some((*ws.ledger.entries_of_intent(&id).first()?, id));
    let mut unknown: Vec<(u32, String)> = unknown.into_iter().filter_map(first).collect();
    unknown.sort();
    let mut findings = Vec::new();
    for (at, id) in &unknown {
        let entry = ws.ledger.entry(*at);
        findings.push(Finding {
            code: Code::UnknownIntent,
            path: Some(entry.origin.path.clone()),
            span: usize::try_from(entry.origin.start)
                .ok()
                .zip(usize::try_from(entry.origin.end).ok())
                .map(|(start, end)| start..end),
            lines: crate::code::LineRange::new(entry.origin.line, entry.origin.line),
            intent: Some(id.clone()),
            message: format!("The ledger names the intent {id}, which the registry does not hold."),
            help: format!(
                "Add {id} to {}, or restore it from git; records are never changed.",
                ws.registry.path()
            ),
            related: Vec::new(),
            fixes: Vec::new(),
        });
    }
    findings
}

/// So many files, or blocks, are looked at before what was read of the ledger for their sake is let go again.
const AT_ONCE: usize = 256;

/// Verifies chains and holds every recorded file against its records.
pub fn verify(ws: &Workspace) -> VerifyAnswer {
    let mut answer = VerifyAnswer {
        records: ws.ledger.entries().len(),
        chains: ws.ledger.chains(),
        findings: super::check::answers(ws, findings(ws)),
        ..VerifyAnswer::default()
    };
    let mut standing = Standing::default();
    let mut heads = Vec::new();
    for paths in ws.ledger.paths().chunks(AT_ONCE) {
        let ws = &ws.forgetful();
        for path in paths {
            let found = ws.read(path).map(|document| why::file(ws, path, &document));
            for block in &found.map(|file| file.provenance).unwrap_or_default() {
                count(&mut answer.blocks, block.verdict);
                standing.add(ws, path, block);
            }
            let last = provenance::heads(&ws.ledger, path);
            heads.extend(last.into_iter().map(|at| (*path, at)));
        }
    }
    heads.retain(|(_, at)| !standing.claims.contains(at));
    for heads in heads.chunks(AT_ONCE) {
        let ws = &ws.forgetful();
        let lost = heads.iter().filter(|(path, at)| !standing.covers(ws, path, *at));
        answer.lost.extend(lost.filter_map(|(path, at)| lost_block(ws, path, *at)));
    }
    answer
}

/// What was found again, in whatever file.
#[derive(Default)]
struct Standing {
    claims: HashSet<ClaimRef>,
    /// Blocks that have another record: of two sides of a merge, only one can stand.
    names: HashSet<(RelativePath, BlockName)>,
}

impl Standing {
    fn add(&mut self, ws: &Workspace, path: &RelativePath, found: &Provenance) {
        for at in found.claim.into_iter().chain(found.candidates.iter().copied()) {
            self.claims.insert(at);
            if let Some(name) = ws.ledger.claim(at).range.block.clone() {
                self.names.insert((path.clone(), name));
            }
        }
    }

    fn covers(&self, ws: &Workspace, path: &RelativePath, at: ClaimRef) -> bool {
        let name = ws.ledger.claim(at).range.block.clone();
        name.is_some_and(|name| self.names.contains(&(path.clone(), name)))
    }
}

fn lost_block(ws: &Workspace, path: &RelativePath, at: ClaimRef) -> Option<LostBlock> {
    let claim = ws.ledger.claim(at);
    let name = claim.range.block.as_ref()?;
    Some(LostBlock {
        path: path.clone(),
        kind: name.kind.clone(),
        name: name.path.clone(),
        intent: claim.entry.record.intent_id.clone(),
        record: claim.entry.record.id.clone(),
    })
}

fn count(counts: &mut VerdictCounts, verdict: Verdict) {
    let slot = match verdict {
        Verdict::Exact => &mut counts.exact,
        Verdict::Reformatted => &mut counts.reformatted,
        Verdict::Moved => &mut counts.moved,
        Verdict::Renamed => &mut counts.renamed,
        Verdict::Modified => &mut counts.modified,
        Verdict::Ambiguous => &mut counts.ambiguous,
        Verdict::Unrecorded => &mut counts.unrecorded,
    };
    *slot += 1;
}
