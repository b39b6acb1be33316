//! Compares records outside evidence with those of a base commit: lines in our own format
//! (`ledger.layout: single`) and lines of other tools, in tracked files.
//!
//! These records are not sealed, so no commit says which lines they added. Instead, the difference
//! between the base and the files is the limit of what they may claim. A new record may answer for
//! a block only if that difference touches the block, and for a line only if the line was not in
//! the block at the base. Claims on code that does not exist any more are not checked, because no
//! answer uses them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::comparison::{Compared, StillNamed, rewritten};
use code::lines;
use ground::git::deleted_paths;
use ground::git::{GitError, PathChange, Target};
use ground::text::counted;
use ground::{Code, CommitId, Finding, Git, RelativePath, store};
use ledger::read::{self, is_ledger_path};
use ledger::{ClaimRef, Entry, RecordDialect, RecordKind, Trust, journal};
use provenance::difference::Difference;
use provenance::line_records::{LineStatus, compare_lines as lines_of};
use provenance::{Step, lineage};
use why::answers::{self, FileProvenance};
use why::baseline::Baseline;
use why::{VerbError, Workspace};

/// Ledger files, each as (path, bytes).
type FilesWithBytes = Vec<(RelativePath, Vec<u8>)>;

type StoredLine = Arc<[u8]>;

/// Compares the records outside evidence with those of a base.
pub(super) fn against_base(
    ws: &Workspace,
    git: &Git,
    base: &CommitId,
) -> Result<Compared, VerbError> {
    let before = git.read_below(".orchestration", &Target::Commit(base.clone()), &is_outside)?;
    let now = tracked(ws, git)?;
    if before == now {
        return Ok(Compared::default());
    }
    let (before, now) = (entries(&before), entries(&now));
    // A line counts in whatever file it is, as with evidence.
    let (stood, stands) = (stored(&before), stored(&now));
    let new: Vec<&Entry> = now.iter().filter(|entry| !stood.contains(&entry.stored)).collect();
    let gone: Vec<&Entry> = before.iter().filter(|entry| !stands.contains(&entry.stored)).collect();
    let mut compared = missing(ws, base, &gone, &new)?;
    compared.findings.extend(unfounded(ws, base, &new)?);
    Ok(compared)
}

fn is_outside(path: &RelativePath) -> bool {
    is_ledger_path(path) && !crate::comparison::is_evidence(path) && !journal::is_open(path)
}

/// Reads the files of records that git tracks, as they are in the work tree, in the index or at a
/// commit.
fn tracked(ws: &Workspace, git: &Git) -> Result<FilesWithBytes, GitError> {
    let Target::WorkTree = ws.files() else {
        return git.read_below(".orchestration", ws.files(), &is_outside);
    };
    let listed = git.list_below(".orchestration", &Target::Index, &is_outside)?.into_iter();
    let on_disk = listed.filter_map(|(path, _)| {
        let bytes = ws.root.read_rules(&path, store::MAX_CONTENT).ok()??;
        Some((path, bytes))
    });
    Ok(on_disk.collect())
}

fn entries(files: &FilesWithBytes) -> Vec<Entry> {
    let all = files.iter().flat_map(|(path, bytes)| read::bytes(path, bytes).entries);
    let sound = all.filter(|entry| entry.trust != Trust::Contradicted);
    sound.map(Arc::unwrap_or_clone).collect()
}

fn stored(entries: &[Entry]) -> HashSet<StoredLine> {
    entries.iter().map(|entry| Arc::clone(&entry.stored)).collect()
}

/// Returns the files that the records name, and those that changed since a base, because a recorded
/// block may have been moved there.
pub(super) fn files_named(entries: &[&Entry], changes: &[PathChange]) -> BTreeSet<RelativePath> {
    let files = entries.iter().flat_map(|entry| &entry.record.files);
    let files = files.map(|file| file.relative_path.clone());
    let changed = changes.iter().map(|change| change.path.clone());
    files.chain(changed.filter(|path| !path.is_orchestration())).collect()
}

/// Judges removed records. Records in our own format may be removed only with the code that they
/// are about. Records of other tools may always be removed.
fn missing(
    ws: &Workspace,
    base: &CommitId,
    gone: &[&Entry],
    new: &[&Entry],
) -> Result<Compared, VerbError> {
    let mut compared = Compared::default();
    let (ours, foreign): (Vec<&Entry>, Vec<&Entry>) =
        gone.iter().partition(|entry| entry.dialect == RecordDialect::Canonical);
    for (path, lines) in by_file(&foreign) {
        compared.notes.push(format!(
            "This change does not have {} of other tools that the base has in {path}.",
            counted(lines, "record")
        ));
    }
    if ours.is_empty() {
        return Ok(compared);
    }
    let named = still_named(ws, base, &ours)?;
    for (path, lines) in by_file(&ours) {
        let lines = counted(lines, "record");
        let Some(named) = named.first_name(path) else {
            compared.notes.push(format!(
                "No existing code depends on {lines} that the base has in {path} and this change does not."
            ));
            continue;
        };
        let message = format!(
            "{lines} were removed from {path} since the base, although their code still exists: {named}."
        );
        let mut finding = rewritten(path, message, base);
        if new.iter().any(|entry| entry.origin.path == *path) {
            finding.help +=
                " That also takes out what was added since; record it again with `intent record`.";
        }
        compared.findings.push(finding);
    }
    Ok(compared)
}

/// Counts the given records in each file.
fn by_file<'a>(entries: &[&'a Entry]) -> BTreeMap<&'a RelativePath, usize> {
    let mut files = BTreeMap::new();
    entries.iter().for_each(|entry| *files.entry(&entry.origin.path).or_default() += 1);
    files
}

/// For each file that records were removed from, finds the blocks that those records would still
/// answer for.
fn still_named(ws: &Workspace, base: &CommitId, gone: &[&Entry]) -> Result<StillNamed, VerbError> {
    let ledger = ws.deriving(ws.ledger_at(&Target::Commit(base.clone()))?);
    let ws = &ws.with_files(ws.files().clone(), ws.head().cloned(), ledger);
    let lines: HashSet<&StoredLine> = gone.iter().map(|entry| &entry.stored).collect();
    let is_gone = |entry: &Entry| entry.section.is_none() && lines.contains(&entry.stored);
    let mut found = StillNamed::default();
    for path in files_named(gone, &ws.changes_since(Some(base))?) {
        // Nothing is known of a file that cannot be read.
        found.add_answered(ws, &path, &is_gone).unwrap_or_default();
    }
    Ok(found)
}

/// Returns findings for new records that answer for something that the difference from the base did
/// not add.
fn unfounded(ws: &Workspace, base: &CommitId, new: &[&Entry]) -> Result<Vec<Finding>, VerbError> {
    if new.iter().all(|entry| entry.record.files.is_empty()) {
        return Ok(Vec::new());
    }
    let lines: HashSet<&StoredLine> = new.iter().map(|entry| &entry.stored).collect();
    let is_new = |at: ClaimRef| {
        let entry = ws.ledger.claim(at).entry;
        entry.section.is_none()
            && !journal::is_open(&entry.origin.path)
            && lines.contains(&entry.stored)
    };
    let changes = ws.changes_since(Some(base))?;
    let gone = deleted_paths(&changes);
    let mut wrong: BTreeMap<(RelativePath, u32), (&Entry, Vec<String>)> = BTreeMap::new();
    for path in files_named(new, &changes) {
        let Ok(document) = ws.read(&path) else { continue };
        let baseline = Baseline::at_commits(ws, &path, std::slice::from_ref(base))?;
        let document = baseline.carried_by(document);
        let file = answers::file(ws, &path, &document);
        let former = baseline.or_renamed(ws, &path, &document, Some(base), &gone)?;
        let differences = former.baseline.differences(&document);
        for (at, block) in file.blocks.blocks.iter().enumerate() {
            for (claim, why) in claims(ws, &file, at, &differences, &is_new) {
                let entry = ws.ledger.claim(claim).entry;
                let key = (entry.origin.path.clone(), entry.origin.line);
                let slot = wrong.entry(key).or_insert_with(|| (entry, Vec::new()));
                slot.1.push(format!("{} in {path}: {why}", block.identity.path));
            }
        }
    }
    // Another tool may have written an object on several lines; then its first line is not all.
    let on_one_line = wrong.iter().filter(|(_, (entry, _))| !entry.stored.contains(&b'\n'));
    let places: Vec<(RelativePath, u32)> = on_one_line.map(|(place, _)| place.clone()).collect();
    Ok(wrong.into_values().map(|(entry, what)| refuse(entry, &what, &places)).collect())
}

/// Returns the new claims that answer for a block or one of its lines without justification, each
/// with the reason. `at` is the index of the block.
fn claims(
    ws: &Workspace,
    file: &FileProvenance,
    at: usize,
    differences: &[Difference],
    is_new: &dyn Fn(ClaimRef) -> bool,
) -> BTreeMap<ClaimRef, &'static str> {
    let found = &file.provenance[at];
    let own = lines::own_lines(&file.document, &file.blocks.blocks[at]);
    let written = lines_of(&ws.ledger, ws, found, &own);
    let standing = written.map(|lines| lines.standing).unwrap_or_default();
    let of_lines = standing.iter().map(|line| match line {
        LineStatus::Recorded(claim) => claim.filter(|claim| is_new(*claim)),
        _ => None,
    });
    let of_lines: Vec<Option<ClaimRef>> = of_lines.collect();
    let of_block = found.claim.filter(|claim| is_new(*claim));
    let all: BTreeSet<ClaimRef> = of_lines.iter().flatten().copied().chain(of_block).collect();
    if all.is_empty() {
        return BTreeMap::new();
    }
    if differences.is_empty() {
        let unknown = "its text at the base cannot be read";
        return all.into_iter().map(|claim| (claim, unknown)).collect();
    }
    if !differences.iter().all(|difference| difference.touches(at)) {
        let claims = all.into_iter().filter(|claim| !accepts(ws, *claim, is_new));
        return claims.map(|claim| (claim, "it reads as it did at the base")).collect();
    }
    let stood = |line: usize| differences.iter().any(|one| one.lines_from_before(at)[line]);
    let older = (0..).zip(of_lines).filter(|(line, of)| of.is_some() && stood(*line));
    let older = older.filter_map(|(_, claim)| claim);
    older.map(|claim| (claim, "lines of it stood there at the base")).collect()
}

/// Returns true if with this claim a person confirms that a block stays under the intent that it
/// had.
fn accepts(ws: &Workspace, claim: ClaimRef, is_new: &dyn Fn(ClaimRef) -> bool) -> bool {
    let intent = ws.ledger.claim(claim).intent();
    let steps = lineage::history_of_claim(&ws.ledger, ws, claim);
    let earlier = steps.iter().filter_map(Step::claim).find(|at| !is_new(*at));
    let earlier = earlier.map(|at| ws.ledger.claim(at).intent());
    ws.ledger.claim(claim).entry.record.kind == RecordKind::Ack
        && (intent.is_none() || earlier == Some(intent))
}

/// Makes the finding for a record. `wrong` are the reasons, and `places` are the places of all
/// wrong records that are one line each.
fn refuse(entry: &Entry, wrong: &[String], places: &[(RelativePath, u32)]) -> Finding {
    let (path, line) = (&entry.origin.path, entry.origin.line);
    let named = entry.record.intent_id.as_deref().unwrap_or("an author");
    let message = format!(
        "The record at {path}:{line} names {named} for code that this change did not add: {}.",
        wrong.join("; ")
    );
    crate::comparison::finding_at(
        entry,
        Code::EvidenceUnfounded,
        message,
        take_out(path, line, places),
    )
}

/// Says how to remove the wrong record at a line of a file. One command removes all wrong records
/// of the file, because removing one changes the line numbers of those after it.
fn take_out(path: &RelativePath, line: u32, places: &[(RelativePath, u32)]) -> String {
    let of_file = places.iter().filter(|(other, _)| other == path);
    let lines: Vec<u32> = of_file.map(|(_, line)| *line).collect();
    // The author of the change has chosen the name of the file, so an unusual name must not become
    // part of a command.
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let is_plain = path.as_str().bytes().all(is_word) && path.as_str().ends_with("jsonl");
    if !is_plain || !lines.contains(&line) {
        return format!("Take it out of {path}, and commit.");
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}d")).collect();
    format!("Take it out, `sed -i '{}' {path}`, and commit.", lines.join(";"))
}
