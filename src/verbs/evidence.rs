//! *Evidence against the base*: nothing that was committed is rewritten or taken away while its code stands, and what is
//! new claims only what its commits brought.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::derive::Texts;
use super::signing::{self, Signatures};
use super::{VerbError, Workspace, erase, reassign};
use crate::code::{Document, content_hash, lines};
use crate::ledger::evidence::{digest_of_path, read};
use crate::ledger::{BlockRecord, Digest, Entry, Ledger, RecordKind, anchor};
use crate::provenance::difference::{Difference, brought_by_all};
use crate::provenance::find_recorded;
use crate::workspace::git::{BlobId, Target};
use crate::workspace::{Code, CommitId, Finding, Git, RelativePath};

/// What evidence looks like beside that of a base.
#[derive(Default)]
pub(super) struct Compared {
    pub findings: Vec<Finding>,
    /// What a reviewer may want to know.
    pub notes: Vec<String>,
}

/// Holds the evidence of a workspace against that of a base.
pub(super) fn against_base(
    ws: &Workspace,
    base: &CommitId,
    signatures: &dyn Signatures,
) -> Result<Compared, VerbError> {
    let Some(git) = ws.git() else { return Ok(Compared::default()) };
    let target = Target::Commit(base.clone());
    let before = git.list_below(".orchestration", &target, &is_evidence)?;
    let mut compared = tombstones(ws, git, (base, &before), signatures)?;
    compared.findings.extend(anchors_gone(ws, git, base)?);
    let ledger = &*ws.ledger;
    let stands = ledger.sections();
    let now: HashMap<RelativePath, Digest> = ledger.files_by_digest();
    // What is here what its name says is what it was; only the others are read as the base has them.
    let is_same = |path: &RelativePath| digest_of_path(path).as_ref() == now.get(path);
    let (same, others): (Vec<_>, Vec<_>) = before.into_iter().partition(|(path, _)| is_same(path));
    let same: HashSet<RelativePath> = same.into_iter().map(|(path, _)| path).collect();
    let others = git.read_blobs(&others)?;
    let mut gone: Vec<(RelativePath, Vec<u8>)> = Vec::new();
    for (path, bytes) in others.iter() {
        let is_changed = now.get(path).is_some_and(|digest| *digest != Digest::of(bytes));
        let sections = read(bytes).unwrap_or_default();
        let is_missing = |digest: &Digest| !stands.contains(digest);
        if is_changed {
            compared.findings.push(rewritten(
                path,
                "The file of evidence was changed since the base; evidence never changes.".into(),
                base,
            ));
        } else if sections.iter().any(|section| is_missing(&section.digest)) {
            gone.push((path.clone(), bytes.clone()));
        }
    }
    let of_same = ledger.evidence_files().into_iter().filter(|(path, _)| same.contains(path));
    let of_same = of_same.flat_map(|(_, sections)| sections.to_vec());
    let of_others = others.iter().flat_map(|(_, bytes)| digests(bytes));
    let known: HashSet<Digest> = of_same.chain(of_others).collect();
    let lost = Ledger::from_files(&gone);
    let mut files: BTreeMap<RelativePath, Option<(usize, String)>> = BTreeMap::new();
    for entry in lost.entries().iter() {
        if entry.section.is_some_and(|section| stands.contains(&section)) {
            continue;
        }
        let standing = standing_of(ws, entry);
        let file = files.entry(entry.origin.path.clone()).or_default();
        if let Some((count, name)) = standing {
            let (known, _) = file.get_or_insert((0, name));
            *known += count;
        }
    }
    for (path, standing) in files {
        match standing {
            Some((count, name)) => compared.findings.push(rewritten(
                &path,
                format!(
                    "Evidence was removed since the base although what it is about stands: {count} block(s), {name} among them."
                ),
                base,
            )),
            None => compared.notes.push(format!(
                "{path} is not there any more, and neither is the code that it is about."
            )),
        }
    }
    let texts = Texts::new(ws);
    for at in 0..u32::try_from(ledger.entries().len()).unwrap_or(u32::MAX) {
        let entry = ledger.entry(at);
        if entry.section.is_some_and(|section| known.contains(&section)) {
            continue;
        }
        if entry.record.kind == RecordKind::Reassign && !is_at(git, base, entry) {
            let (notes, findings) = reassign::judge(ws, at);
            compared.notes.extend(notes);
            compared.findings.extend(findings);
        }
        if entry.section.is_none() {
            continue;
        }
        if let Some(late) = late(git, base, entry) {
            compared.notes.push(late);
        }
        compared.findings.extend(unfounded(&texts, ledger, entry, &known));
    }
    compared.notes.dedup();
    Ok(compared)
}

/// What is wrong with the tombstones, given the files of evidence of a base.
fn tombstones(
    ws: &Workspace,
    git: &Git,
    (base, before): (&CommitId, &[(RelativePath, BlobId)]),
    signatures: &dyn Signatures,
) -> Result<Compared, VerbError> {
    let erased = ws.ledger.erased();
    if erased.is_empty() {
        return Ok(Compared::default());
    }
    let (before, signers) = (git.read_blobs(before)?, signing::signers_at(ws, Some(base))?);
    erase::judge(ws, &erased, (signatures, &signers), (Some(base), &before))
}

/// Whether the line of an entry stands in the same file at a commit.
fn is_at(git: &Git, commit: &CommitId, entry: &Entry) -> bool {
    let bytes = git.file_at(commit, &entry.origin.path).ok().flatten().unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').any(|line| *line == *entry.stored)
}

pub(super) fn is_evidence(path: &RelativePath) -> bool {
    digest_of_path(path).is_some()
}

pub(super) fn digests(bytes: &[u8]) -> Vec<Digest> {
    read(bytes).unwrap_or_default().into_iter().map(|section| section.digest).collect()
}

fn rewritten(path: &RelativePath, message: String, base: &CommitId) -> Finding {
    Finding {
        path: Some(path.clone()),
        ..Finding::new(
            Code::LedgerRewritten,
            message,
            format!(
                "Restore it: `git checkout {} -- {path}`.",
                base.0.get(..12).unwrap_or(&base.0)
            ),
        )
    }
}

/// Anchors never change, and never go.
fn anchors_gone(ws: &Workspace, git: &Git, base: &CommitId) -> Result<Vec<Finding>, VerbError> {
    let target = Target::Commit(base.clone());
    let before = git.read_below(".orchestration", &target, &anchor::is_anchor)?;
    let now: HashMap<RelativePath, Vec<u8>> = match ws.files() {
        Target::WorkTree => {
            let on_disk = |path: &RelativePath| std::fs::read(ws.root.absolute(path)).ok();
            before.iter().filter_map(|(path, _)| Some((path.clone(), on_disk(path)?))).collect()
        }
        files => git.read_below(".orchestration", files, &anchor::is_anchor)?.into_iter().collect(),
    };
    let gone = before.iter().filter(|(path, bytes)| now.get(path) != Some(bytes));
    Ok(gone
        .map(|(path, _)| {
            rewritten(path, "An anchor was changed or removed since the base.".into(), base)
        })
        .collect())
}

/// How many of the blocks that an entry names stand as it says, and the name of the first.
pub(super) fn standing_of(ws: &Workspace, entry: &Entry) -> Option<(usize, String)> {
    let mut found = None;
    for file in &entry.record.files {
        let Ok(document) = ws.read(&file.relative_path) else { continue };
        let blocks = document.blocks();
        for range in file.conversations.iter().flat_map(|one| &one.ranges) {
            let name = match &range.block {
                None if !range.deleted && content_hash(&document.text()) == range.content_hash => {
                    file.relative_path.to_string()
                }
                Some(name)
                    if !range.deleted
                        && blocks.blocks.iter().any(|block| {
                            block.fingerprint.content == range.content_hash
                                && block.identity.path == name.path
                        }) =>
                {
                    name.path.clone()
                }
                _ => continue,
            };
            let (count, _) = found.get_or_insert((0, name));
            *count += 1;
        }
    }
    found
}

/// Evidence of a commit that the base has already.
fn late(git: &Git, base: &CommitId, entry: &Entry) -> Option<String> {
    let of = CommitId(entry.about.clone()?);
    let is_in_base = git.is_ancestor(base, &of).unwrap_or(false);
    is_in_base.then(|| {
        format!(
            "{} is late evidence of {}, which the base has already.",
            entry.origin.path,
            of.0.get(..12).unwrap_or(&of.0)
        )
    })
}

/// What an entry claims that its commit did not bring.
fn unfounded(
    texts: &Texts,
    ledger: &Ledger,
    entry: &Entry,
    known: &HashSet<Digest>,
) -> Option<Finding> {
    let file = entry.record.files.first()?;
    let path = &file.relative_path;
    let ranges: Vec<&BlockRecord> = file.conversations.iter().flat_map(|one| &one.ranges).collect();
    let Some((before, after)) = texts.of_entry(entry) else {
        return Some(refuse(entry, format!("its commit, or {path} in it, cannot be read")));
    };
    let differences: Vec<Difference> =
        before.iter().map(|before| Difference::new(before, &after)).collect();
    let wrong: Vec<String> = ranges
        .iter()
        .filter_map(|range| {
            let name = range.block.as_ref().map_or(path.to_string(), |name| name.path.clone());
            let why = claims_too_much(range, &before, &after, &differences)
                .or_else(|| is_covered(ledger, entry, range, &after, known))?;
            Some(format!("{name}: {why}"))
        })
        .collect();
    (!wrong.is_empty()).then(|| refuse(entry, wrong.join("; ")))
}

fn refuse(entry: &Entry, what: String) -> Finding {
    let intent = entry.record.intent_id.clone();
    let named = intent.clone().unwrap_or_else(|| "no intent".to_owned());
    Finding {
        path: Some(entry.origin.path.clone()),
        lines: crate::code::LineRange::new(entry.origin.line, entry.origin.line),
        intent,
        ..Finding::new(
            Code::EvidenceUnfounded,
            format!("This evidence names {named} for what its commit did not bring: {what}."),
            format!(
                "Take the file out (`git rm {}`), then `intent seal` writes what this clone can vouch for.",
                entry.origin.path
            ),
        )
    }
}

fn claims_too_much(
    range: &BlockRecord,
    before: &[Document],
    after: &Document,
    differences: &[Difference],
) -> Option<&'static str> {
    let (Some(_), false) = (&range.block, range.deleted) else {
        let is_empty = |document: &Document| document.blocks().blocks.is_empty();
        return match (&range.block, range.deleted) {
            (None, false) if !before.iter().all(is_empty) => Some("the file was there before"),
            (None, false) if content_hash(&after.text()) != range.content_hash => {
                Some("the file reads otherwise")
            }
            (Some(_), true) => {
                let stood = before.iter().any(|old| find_recorded(&old.blocks(), range).is_some());
                (!stood).then_some("nothing of that name was taken out")
            }
            _ => None,
        };
    };
    let blocks = after.blocks();
    let Some(at) = find_recorded(&blocks, range) else { return Some("there is no such block") };
    if !differences.iter().all(|difference| difference.touches(at)) {
        return Some("the commit does not touch it");
    }
    if blocks.blocks[at].fingerprint.content != range.content_hash {
        // A version that a squash has lost, or that was changed while its commit was made again.
        return None;
    }
    let own = lines::own(after, &blocks.blocks[at]).len();
    let said = match &range.brought {
        Some(places) => places.among(own),
        None => Some(vec![true; own]),
    };
    let brought = brought_by_all(differences, at).unwrap_or_default();
    let is_more =
        said.is_none_or(|said| said.iter().zip(&brought).any(|(said, brought)| *said && !*brought));
    let is_new = differences.iter().all(|difference| difference.was(at).is_none());
    (is_more && !(is_new && range.brought.is_none()))
        .then_some("it names lines that stood there before")
}

/// Late evidence may claim only what no other evidence names.
fn is_covered(
    ledger: &Ledger,
    entry: &Entry,
    range: &BlockRecord,
    after: &Document,
    known: &HashSet<Digest>,
) -> Option<&'static str> {
    entry.about.as_ref()?;
    let own = find_recorded(&after.blocks(), range)
        .map(|at| lines::own(after, &after.blocks().blocks[at]).len())?;
    let lines_of = |range: &BlockRecord| {
        let said = range.brought.as_ref().and_then(|places| places.among(own));
        said.unwrap_or_else(|| vec![true; own])
    };
    let mine = lines_of(range);
    let is_same = |at: &crate::ledger::ClaimRef| {
        let claim = ledger.claim(*at);
        let other = claim.said();
        let is_it = claim.entry.section.is_some_and(|section| known.contains(&section))
            && claim.file.relative_path == entry.record.files[0].relative_path
            && other.block.as_ref().map(|name| &name.path)
                == range.block.as_ref().map(|name| &name.path)
            && !other.deleted;
        is_it && lines_of(other).iter().zip(&mine).any(|(other, mine)| *other && *mine)
    };
    let taken = ledger.by_content(&range.content_hash).iter().any(is_same);
    taken.then_some("other evidence names these lines already")
}
