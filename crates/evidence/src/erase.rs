//! `intent evidence erase`: a person removes one line of evidence. A tombstone takes the place of the line,
//! so everybody can see that a line was removed, by whom and why. The tombstone is signed, unless
//! no key is trusted yet.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::signing::{self, SignatureCheck, Signatures, Signed};
use crate::compared::Compared;
use code::LineRange;
use ground::{Code, CommitId, Finding, RelativePath, clock, store};
use ledger::Digest;
use ledger::evidence::{self, ERASURE, Tombstone};
use ledger::{ErasedSection, signed};
use why::{VerbError, Workspace};

#[derive(Clone, Debug)]
pub struct Erasure {
    pub line: Vec<u8>,
    /// The tombstone without a signature. Exactly these bytes are signed.
    pub tombstone: Vec<u8>,
    section: Digest,
}

/// What an erasure changed on disk.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EraseAnswer {
    /// The id of the record that was erased.
    pub record: String,
    /// The files of evidence that held the record, which were removed.
    pub removed: Vec<RelativePath>,
    /// The files that replace the removed ones.
    pub written: Vec<RelativePath>,
    /// Whether the tombstone is signed. If it is not, `intent check --base` reports it.
    pub signed: bool,
}

pub fn draft(
    ws: &Workspace,
    record: &str,
    why: &str,
    by: Option<String>,
) -> Result<Erasure, VerbError> {
    ws.governed()?;
    let refuse = |reason: &str, hint: &str| {
        VerbError::mendable(format!("nothing was erased: {reason}"), hint)
    };
    let entry = ws.ledger.by_id(record).ok_or_else(|| {
        refuse(&format!("no record {record} is known"), "`intent trace` names them")
    })?;
    let is_committed = match ws.head().zip(ws.git()) {
        Some((head, git)) => git.has_file(head, &entry.origin.path)?,
        None => false,
    };
    let section = entry.section.filter(|_| is_committed).ok_or_else(|| {
        refuse(&format!("{record} is in no commit, so it is no evidence yet"), "commit it first")
    })?;
    let why = why.trim();
    if why.is_empty() {
        return Err(refuse("a tombstone says why", "give the reason: --why TEXT"));
    }
    let tombstone = Tombstone {
        erased: Digest::compute(&entry.stored).to_string(),
        section: section.to_string(),
        by,
        time: clock::now_in_seconds(),
        why: why.to_owned(),
        extra: Default::default(),
    };
    let tombstone = serde_json::to_vec(&tombstone).expect("plain data always serialises");
    Ok(Erasure { line: entry.stored.to_vec(), tombstone, section })
}

/// Replaces the line with the tombstone in each file of evidence that contains the section of the
/// line. The new file gets a name of its own, because the name is the digest of the content.
pub fn write(
    ws: &Workspace,
    record: &str,
    erasure: &Erasure,
    signature: Option<&str>,
) -> Result<EraseAnswer, VerbError> {
    let (mut removed, mut written) = (Vec::new(), Vec::new());
    let unsigned = &erasure.tombstone;
    let tombstone = signature.map_or(unsigned.clone(), |text| signed::join(unsigned, text));
    for (path, sections) in ws.ledger.evidence_files() {
        if !sections.contains(&erasure.section) {
            continue;
        }
        let absolute = ws.root.absolute(&path);
        let Some(bytes) = store::read_capped(&absolute, store::MAX_CONTENT)? else { continue };
        let in_section = evidence::read(&bytes).unwrap_or_default().into_iter();
        let lines = in_section.filter(|one| one.digest == erasure.section);
        let spans: Vec<_> = lines.flat_map(|one| one.lines).map(|(span, _)| span).collect();
        let mut erased = bytes.clone();
        for span in spans.into_iter().rev().filter(|span| bytes[span.clone()] == *erasure.line) {
            erased.splice(span, tombstone.iter().copied());
        }
        let new = path_beside(&path, Digest::compute(&erased), evidence::compacted_path);
        if new != path {
            store::write_atomic(&ws.root.absolute(&new), &erased)?;
            store::remove(&absolute)?;
            removed.push(path);
            written.push(new);
        }
    }
    Ok(EraseAnswer { record: record.to_owned(), removed, written, signed: signature.is_some() })
}

fn path_beside(
    path: &RelativePath,
    digest: Digest,
    of_month: fn(Digest, &str) -> RelativePath,
) -> RelativePath {
    match evidence::month_of(path) {
        Some(month) => of_month(digest, month),
        None => evidence::late_path(digest, path.as_str().rsplit('/').nth(1).unwrap_or_default()),
    }
}

/// Judges the tombstones in sections of evidence. Each must have a trusted signature, and its
/// section may differ from the base only in the erased lines. `before` are files of the base;
/// tombstones in them are not judged again. The keys that count are those of the
/// base or, without one, of the branch into which this work will be merged.
pub(crate) fn judge(
    ws: &Workspace,
    erased: &[&ErasedSection],
    before: &[&(RelativePath, Vec<u8>)],
    signatures: &dyn Signatures,
    base: Option<&CommitId>,
) -> Result<Compared, VerbError> {
    let mut compared = Compared::default();
    if erased.is_empty() {
        return Ok(compared);
    }
    let branch = base.cloned().or_else(|| signing::accepting(ws));
    let signers = &signing::signers_at(ws, branch.as_ref())?;
    let mut at_base: HashMap<Digest, (&RelativePath, Vec<Digest>)> = HashMap::new();
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    for (path, bytes) in before {
        for section in evidence::read(bytes).unwrap_or_default() {
            at_base.insert(section.digest, (path, section.line_digests(bytes)));
            let tombstones = section.lines.iter().filter(|(_, line)| line.is_erased());
            known.extend(tombstones.map(|(span, _)| bytes[span.clone()].to_vec()));
        }
    }
    for section in erased {
        let path = &section.path;
        let original = at_base.get(&section.digest);
        let restore = match (original, base) {
            (Some((path, _)), Some(base)) => Some(((*path).clone(), base.clone())),
            _ => file_before_erasure(ws, section),
        };
        let finding = |line: Option<u32>, message: String| {
            let help = match &restore {
                Some((original, commit)) => format!(
                    "Restore it: `git checkout {} -- {original} && git rm -f {path}`.",
                    commit.short()
                ),
                None => format!(
                    "Remove it: `git rm -f {path}`, and restore the file that it replaced from a clone that has that file."
                ),
            };
            let help = help
                + " Or somebody whom the branch trusts erases the line: `intent evidence erase`.";
            let lines = line.and_then(|line| LineRange::new(line, line));
            let path = Some(path.clone());
            Finding { path, lines, ..Finding::new(Code::LedgerRewritten, message, help) }
        };
        if original.is_some_and(|(_, lines)| *lines != section.lines) {
            let message = "A section of evidence says that a line of it was erased, and differs in more than that.";
            compared.findings.push(finding(None, message.into()));
        }
        for (line, stored) in &section.tombstones {
            if known.contains(&**stored) {
                continue;
            }
            let (bytes, signature) = signed::split(stored);
            let tombstone = serde_json::from_slice::<Tombstone>(&bytes).unwrap_or_default();
            let judged = match signature {
                Some(signature) => signatures
                    .judge(Signed { namespace: ERASURE, bytes: &bytes, signature }, signers)?,
                None => SignatureCheck::Untrusted,
            };
            let wrong = match judged {
                SignatureCheck::By(signer) => {
                    let note = format!("{signer} erased a line of {path}: {}", tombstone.why);
                    compared.notes.push(note);
                    continue;
                }
                SignatureCheck::Unchecked => {
                    compared.notes.push(format!(
                        "A line of {path} was erased; `intent evidence verify` says whether somebody whom the branch trusts signed that."
                    ));
                    continue;
                }
                SignatureCheck::Bad => "and the signature does not fit",
                SignatureCheck::Untrusted if signature.is_none() => "and nobody signed that",
                SignatureCheck::Untrusted => "and whoever signed that is not trusted",
            };
            let message = format!("A line of evidence was erased, {wrong}.");
            compared.findings.push(finding(Some(*line), message));
        }
    }
    Ok(compared)
}

/// Returns the file that contained only this section before the erasure, and the last commit on the
/// line of first parents that contains the file. `None` if there was no such file, for example
/// because the section shared its file with others.
fn file_before_erasure(
    ws: &Workspace,
    section: &ErasedSection,
) -> Option<(RelativePath, CommitId)> {
    let path = path_beside(&section.path, section.digest, evidence::path_of);
    let (git, head) = (ws.git()?, ws.head()?);
    let removed = git.removed(head, &path).ok()??;
    Some((path, git.commit_info(&removed).ok()?.parents.into_iter().next()?))
}
