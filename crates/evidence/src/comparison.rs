//! Compares evidence with that of a base commit, for `intent check --base`. There are two rules:
//!
//! 1. Committed evidence is never changed, and is not removed as long as its code exists.
//! 2. New evidence may claim only lines that its commit added.

mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::signing::Signatures;
use super::{erase, reassign};
use code::{Block, Document, lines};
use ground::git::Target;
use ground::text::shell_word;
use ground::{Code, CommitId, Finding, Git, RelativePath, store};
use ledger::evidence::{digest_of_path, read};
use ledger::{
    BlockRecord, ClaimRef, Contributor, Digest, Entry, FileRecord, Ledger, Record, RecordKind,
    anchor,
};
use provenance::difference::{Difference, lines_added_by_all};
use provenance::line_records::{LineStatus, compare_lines as lines_of};
use provenance::{Content, Provenance, find_recorded, is_claim_true};
use why::evidence_texts::{EntryTexts, TextCache};
use why::rules::{Rules, Ruling};
use why::{ReadError, VerbError, Workspace, answers};

#[derive(Default)]
pub struct Compared {
    pub findings: Vec<Finding>,
    /// Sentences for reviewers that are not findings.
    pub notes: Vec<String>,
}

impl Compared {
    pub fn add_counts(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.notes.extend(other.notes);
    }
}

/// Compares the evidence of a workspace with that of a base.
pub fn against_base(
    ws: &Workspace,
    base: &CommitId,
    rules: &Rules,
    signatures: &dyn Signatures,
) -> Result<Compared, VerbError> {
    let Some(git) = ws.git() else { return Ok(Compared::default()) };
    let before = sound_at(git, base)?;
    let mut compared = erase::judge(ws, &ws.ledger.erased(), signatures, Some(base))?;
    compared.findings.extend(anchors_gone(ws, git, base)?);
    let ledger = &*ws.ledger;
    let stands = ledger.sections();
    let now: HashMap<RelativePath, Digest> = ledger.files_by_digest();
    // A file that still has the digest in its name is the same as at the base. The ledger knows its
    // sections, so it is not parsed again.
    let is_same = |path: &RelativePath| digest_of_path(path).as_ref() == now.get(path);
    let (same, others): (Vec<_>, Vec<_>) = before.into_iter().partition(|(path, _)| is_same(path));
    let same: HashSet<RelativePath> = same.into_iter().map(|(path, _)| path).collect();
    let mut gone: BTreeSet<RelativePath> = BTreeSet::new();
    let mut known: HashSet<Digest> = HashSet::new();
    for (path, bytes) in &others {
        let sections = digests(bytes);
        if now.contains_key(path) {
            compared.findings.push(rewritten(
                path,
                "The file of evidence was changed since the base; evidence never changes.".into(),
                base,
            ));
        } else if sections.iter().any(|section| !stands.contains(section)) {
            gone.insert(path.clone());
        }
        known.extend(sections);
    }
    let of_same = ledger.evidence_files().into_iter().filter(|(path, _)| same.contains(path));
    known.extend(of_same.flat_map(|(_, sections)| sections));
    let named = match gone.is_empty() {
        true => StillNamed::default(),
        false => still_named(ws, base, &stands)?,
    };
    for path in gone {
        match named.first_name(&path) {
            Some(named) => compared.findings.push(rewritten(
                &path,
                format!(
                    "Evidence was removed since the base, although its code still exists: {named}."
                ),
                base,
            )),
            None => compared.notes.push(format!(
                "{path} is not there any more, and what it is about is gone or has changed as well."
            )),
        }
    }
    let texts = TextCache::new(ws);
    for at in (0..).take(ledger.len()) {
        let entry = ledger.entry(at);
        if entry.section.is_some_and(|section| known.contains(&section)) {
            continue;
        }
        if entry.record.kind == RecordKind::Reassign && !is_at(git, base, entry) {
            compared.add_counts(reassign::judge(ws, at));
        }
        if entry.section.is_none() {
            continue;
        }
        if let Some(of) = in_base(git, base, entry) {
            compared.notes.push(late_note(entry, &of));
            compared.findings.extend(late_findings(git, rules, entry, &of));
        }
        compared.add_counts(doubt(&texts, ledger, at, base).unwrap_or_default());
    }
    compared.add_counts(records::against_base(ws, git, base)?);
    compared.notes.dedup();
    Ok(compared)
}

/// Returns the files of evidence at a commit, without those whose name does not fit their content.
/// Such a file counts for nothing there, so a later commit may repair it, and what it says then is
/// new.
pub(crate) fn sound_at(
    git: &Git,
    commit: &CommitId,
) -> Result<Vec<(RelativePath, Vec<u8>)>, VerbError> {
    let target = Target::Commit(commit.clone());
    let mut files = git.read_below(".orchestration", &target, &is_evidence)?;
    files.retain(|(path, bytes)| digest_of_path(path) == Some(Digest::compute(bytes)));
    Ok(files)
}

/// Returns true if the file of an entry contains the same line at a commit.
fn is_at(git: &Git, commit: &CommitId, entry: &Entry) -> bool {
    let bytes = git.file_at(commit, &entry.origin.path).ok().flatten().unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').any(|line| *line == *entry.stored)
}

pub fn is_evidence(path: &RelativePath) -> bool {
    digest_of_path(path).is_some()
}

pub fn digests(bytes: &[u8]) -> Vec<Digest> {
    read(bytes).unwrap_or_default().into_iter().map(|section| section.digest).collect()
}

fn rewritten(path: &RelativePath, message: String, base: &CommitId) -> Finding {
    let word = shell_word(path.as_str());
    let help = format!("Restore it: `git checkout {} -- {word}`.", base.short());
    Finding::new(Code::LedgerRewritten, message, help).in_file(path)
}

/// Returns a finding for each anchor that was changed or removed since the base. Neither is ever
/// allowed.
fn anchors_gone(ws: &Workspace, git: &Git, base: &CommitId) -> Result<Vec<Finding>, VerbError> {
    let target = Target::Commit(base.clone());
    let before = git.read_below(".orchestration", &target, &anchor::is_anchor)?;
    let now: HashMap<RelativePath, Vec<u8>> = match ws.files() {
        Target::WorkTree => {
            let on_disk =
                |path: &RelativePath| ws.root.read_rules(path, store::MAX_CONTENT).ok()?;
            before.iter().filter_map(|(path, _)| Some((path.clone(), on_disk(path)?))).collect()
        }
        files => git.read_below(".orchestration", files, &anchor::is_anchor)?.into_iter().collect(),
    };
    // An anchor whose name does not fit its content vouches for nothing, so it may be repaired.
    let sound = before.iter().filter(|(path, bytes)| anchor::path_of(bytes) == *path);
    let gone = sound.filter(|(path, bytes)| now.get(path) != Some(bytes));
    let message = "An anchor was changed or removed since the base.";
    Ok(gone.map(|(path, _)| rewritten(path, message.to_owned(), base)).collect())
}

/// Finds the files of evidence of the commit `then` that have a section which is not in `stands`,
/// although what the section is about still exists in `ws`. A section is about the blocks that
/// [`why`](why::answers) would attribute to it. If a file has only decisions, they are about intents,
/// which exist as long as their text is the same. A decision without an intent always counts.
///
/// So evidence may be removed together with its code, as `git revert` does, but not if the code was
/// only renamed, moved or edited.
pub(crate) fn still_named(
    ws: &Workspace,
    then: &CommitId,
    stands: &HashSet<Digest>,
) -> Result<StillNamed, VerbError> {
    let registry = Arc::clone(&ws.registry);
    let ws = &ws.as_of(then.clone())?;
    let is_gone = |entry: &Entry| entry.section.is_some_and(|section| !stands.contains(&section));
    let gone: Vec<&Entry> =
        ws.ledger.entries().into_iter().filter(|entry| is_gone(entry)).collect();
    let mut named = StillNamed::default();
    for path in records::files_named(&gone, &ws.changes_since(Some(then))?) {
        // A file that exists but cannot be read may still have the code.
        if let Err(ReadError::Unread { .. }) = named.add_answered(ws, &path, &is_gone) {
            let is_its = |file: &FileRecord| file.relative_path == path;
            let about = gone.iter().filter(|entry| entry.record.files.iter().any(is_its));
            about.for_each(|entry| named.add_name(&entry.origin.path, path.as_str()));
        }
    }
    let with_code: HashSet<&RelativePath> =
        gone.iter().filter(|entry| !is_decision(entry)).map(|entry| &entry.origin.path).collect();
    for entry in gone.iter().filter(|entry| !with_code.contains(&entry.origin.path)) {
        match &entry.record.intent_id {
            None => named.add_name(&entry.origin.path, "a decision"),
            Some(id) if registry.version(id) == ws.registry.version(id) => {
                named.add_name(&entry.origin.path, id);
            }
            Some(_) => {}
        }
    }
    Ok(named)
}

/// For each ledger file, how many blocks or intents that its records name still exist, and the
/// name of the first.
#[derive(Default)]
pub(crate) struct StillNamed(BTreeMap<RelativePath, (usize, String)>);

impl StillNamed {
    fn add_name(&mut self, file: &RelativePath, name: &str) {
        self.0.entry(file.clone()).or_insert_with(|| (0, name.to_owned())).0 += 1;
    }

    /// Adds each block of a source file whose answer depends on an entry for which `is_sought` is
    /// true.
    fn add_answered(
        &mut self,
        ws: &Workspace,
        path: &RelativePath,
        is_sought: &dyn Fn(&Entry) -> bool,
    ) -> Result<(), ReadError> {
        let document = ws.read(path)?;
        let file = answers::file(ws, path, &document);
        for (block, found) in file.blocks.blocks.iter().zip(&file.provenance) {
            let answering = answering(ws, &document, block, found).into_iter();
            let sought = answering.filter(|entry| is_sought(entry));
            let files: BTreeSet<&RelativePath> = sought.map(|entry| &entry.origin.path).collect();
            files.into_iter().for_each(|file| self.add_name(file, &block.identity.path));
        }
        Ok(())
    }

    /// Returns true if a record in this file is about a block or an intent that still exists.
    pub fn has_file(&self, file: &RelativePath) -> bool {
        self.0.contains_key(file)
    }

    /// Names the first thing that a record in this file is about and counts the others: `login and
    /// 2 more`. `None` if there is nothing.
    fn first_name(&self, file: &RelativePath) -> Option<String> {
        let (count, name) = self.0.get(file)?;
        Some(match count {
            1 => name.clone(),
            _ => format!("{name} and {} more", count - 1),
        })
    }
}

/// Returns true if an entry contains a decision of a person or the result of a test, and claims no
/// code.
fn is_decision(entry: &Entry) -> bool {
    matches!(entry.record.kind, RecordKind::Approval | RecordKind::Registry | RecordKind::Test)
}

/// Returns the entries that decide the answer for a block or one of its lines: those that wrote it,
/// and those that reassigned it.
fn answering<'a>(
    ws: &'a Workspace,
    document: &Document,
    block: &Block,
    found: &Provenance,
) -> Vec<&'a Entry> {
    let ledger = &ws.ledger;
    let is_modified = found.content == Some(Content::Modified);
    let mut claims: BTreeSet<ClaimRef> = found.claim.filter(|_| !is_modified).into_iter().collect();
    claims.extend(&found.candidates);
    let lines = lines_of(ledger, ws, found, &lines::own_lines(document, block));
    for line in lines.iter().flat_map(|lines| &lines.standing) {
        if let LineStatus::Recorded(Some(claim)) = line {
            claims.insert(*claim);
        }
    }
    let claims: Vec<_> = claims.into_iter().map(|at| ledger.claim(at)).collect();
    let reassigned = claims.iter().flat_map(|claim| claim.reassigned());
    let reassigned = reassigned.filter_map(|one| ledger.by_id(&one.record.id));
    reassigned.chain(claims.iter().map(|claim| claim.entry)).collect()
}

/// Returns the commit that late evidence is about, if the base contains it already.
fn in_base(git: &Git, base: &CommitId, entry: &Entry) -> Option<CommitId> {
    let of = CommitId(entry.late_commit.clone()?);
    git.is_ancestor(base, &of).unwrap_or(false).then_some(of)
}

fn contributors(record: &Record) -> impl Iterator<Item = &Contributor> {
    let conversations = record.files.iter().flat_map(|file| &file.conversations);
    conversations.map(|one| &one.contributor)
}

/// Returns a note about late evidence of a commit that the base contains already. Reviewers decide
/// whether to believe such evidence, so the note says which intent and contributor the entry names
/// for which blocks.
fn late_note(entry: &Entry, of: &CommitId) -> String {
    let (path, of, record) = (&entry.origin.path, of.short(), &entry.record);
    let tool = record.tool.as_ref().map(|tool| tool.name.as_str());
    let who =
        contributors(record).next().map(|one| format!(" and {}", answers::author_name(one, tool)));
    let who = who.unwrap_or_default();
    let id = record.intent_id.as_deref().unwrap_or("no intent");
    let files: Vec<String> = record.files.iter().map(named_blocks).collect();
    format!(
        "{path} is late evidence of {of}, which the base has already. It names {id}{who} for {}.",
        files.join("; ")
    )
}

/// Returns the faults of late evidence about a commit that the base contains already: its intent
/// does not own the file, or it names a person who is neither the author nor the committer.
fn late_findings(git: &Git, rules: &Rules, entry: &Entry, of: &CommitId) -> Vec<Finding> {
    let record = &entry.record;
    let refuse = |code: Code, message: String| finding_at(entry, code, message, take_out(entry));
    let mut findings = Vec::new();
    for file in &record.files {
        let Some(id) = record.intent_id.as_deref() else { break };
        let path = &file.relative_path;
        for ruling in rules.rulings(path, Some(id)) {
            if !matches!(ruling, Ruling::Outside(_) | Ruling::Unknown) {
                continue;
            }
            let (what, why) = rules.describe(&ruling, path, Some(id));
            let message =
                format!("Late evidence names {id} for {}. {what} {why}", named_blocks(file));
            findings.push(refuse(ruling.code(), message.trim_end().to_owned()));
        }
    }
    let mut people: BTreeSet<&str> =
        contributors(record).filter_map(|one| one.name.as_deref()).collect();
    let Some(headline) = git.headline(of).ok().filter(|_| !people.is_empty()) else {
        return findings;
    };
    people.retain(|name| *name != headline.author && *name != headline.committer);
    findings.extend(people.into_iter().map(|name| {
        let message = format!(
            "Late evidence names {name} for what {} brought, of which {} is the author.",
            of.short(),
            headline.author
        );
        refuse(Code::EvidenceUnfounded, message)
    }));
    findings
}

/// Names the blocks that a record claims in a file: `function tax in src/b.js`.
fn named_blocks(file: &FileRecord) -> String {
    let names = file.ranges().filter_map(|range| range.block.as_ref());
    let names: Vec<String> = names.map(|name| format!("{} {}", name.kind, name.path)).collect();
    match names.is_empty() {
        true => file.relative_path.to_string(),
        false => format!("{} in {}", names.join(", "), file.relative_path),
    }
}

/// Compares an entry with the texts of its commit. Returns a finding if the entry claims something
/// that the commit did not add. If the texts cannot be read, returns a note in a shallow clone, and
/// a finding elsewhere.
///
/// A claim on a text that is not in the commit is no fault, except in late evidence: a squash or an
/// amend has lost that text, and [`provenance::derive`](provenance::derive) computes no
/// lines for such a claim.
fn doubt(texts: &TextCache, ledger: &Ledger, at: u32, base: &CommitId) -> Option<Compared> {
    let entry = ledger.entry(at);
    let file = entry.record.files.first()?;
    let path = &file.relative_path;
    let Some(EntryTexts { before, after, is_its_own }) = texts.of_entry(entry, base) else {
        let unread = format!("its commit, or {path} in it, cannot be read");
        if texts.is_shallow() {
            let note = format!("{}: {unread} in this shallow clone", entry.origin.path);
            return Some(Compared { notes: vec![note], ..Compared::default() });
        }
        return Some(refuse(entry, unread));
    };
    let differences: Vec<Difference> =
        before.iter().map(|before| Difference::new(before, &after)).collect();
    let is_late = entry.late_commit.is_some();
    let others = covered_by_others(texts, ledger, entry, &after);
    let wrong: Vec<String> = claims_of(entry, at)
        .filter_map(|(claim, range)| {
            let confirms = |others: &[ClaimRef]| {
                let is_same = |other| ledger.claim(other).intent() == ledger.claim(claim).intent();
                entry.record.kind == RecordKind::Ack && others.iter().copied().any(is_same)
            };
            let why = match ClaimedLines::in_document(range, &after) {
                Some(claimed) => claimed
                    .excess_over(&before, &differences)
                    .or_else(|| claimed.contradicts(&others, confirms)),
                // Late evidence is made from the commit itself, so its text must be there.
                None if is_late && is_its_own && !range.deleted => Some("its text is not there"),
                None => None,
            }?;
            let name = range.block.as_ref().map_or(path.to_string(), |name| name.path.clone());
            Some(format!("{name}: {why}"))
        })
        .collect();
    (!wrong.is_empty()).then(|| refuse(entry, wrong.join("; ")))
}

/// The lines that a claim names in the text of its commit: for each block, its index and which of
/// its own lines are claimed.
struct ClaimedLines {
    is_file: bool,
    /// Whether all lines of the named block or file are claimed.
    is_whole: bool,
    lines: BTreeMap<usize, Vec<bool>>,
}

impl ClaimedLines {
    /// Finds the claimed lines. Returns `None` if the claim is about a deletion, or if the text of
    /// the commit is not the claimed one.
    fn in_document(range: &BlockRecord, after: &Document) -> Option<Self> {
        if range.deleted || !is_claim_true(range, after) {
            return None;
        }
        let blocks = after.blocks();
        let own = |at: usize| lines::own_lines(after, &blocks.blocks[at]).len();
        if range.block.is_none() {
            let lines = (0..blocks.blocks.len()).map(|at| (at, vec![true; own(at)])).collect();
            return Some(Self { is_file: true, is_whole: true, lines });
        }
        let at = find_recorded(&blocks, range)?;
        let claimed = range.brought.as_ref().and_then(|places| places.selected_among(own(at)));
        let claimed = claimed.unwrap_or_else(|| vec![true; own(at)]);
        let is_whole = range.brought.is_none();
        Some(Self { is_file: false, is_whole, lines: BTreeMap::from([(at, claimed)]) })
    }

    /// Returns why the claim exceeds the differences to the texts before, or `None` if it does not.
    fn excess_over(&self, before: &[Document], differences: &[Difference]) -> Option<&'static str> {
        let is_empty = |document: &Document| document.blocks().blocks.is_empty();
        if self.is_file && !before.iter().all(is_empty) {
            return Some("the file was there before");
        }
        self.lines.iter().find_map(|(at, claimed)| {
            if !differences.iter().all(|difference| difference.touches(*at)) {
                return Some("the commit does not touch it");
            }
            let brought = lines_added_by_all(differences, *at).unwrap_or_default();
            let is_new = differences.iter().all(|difference| difference.origins[*at].is_none());
            let is_more =
                claimed.iter().zip(&brought).any(|(claimed, brought)| *claimed && !*brought);
            (is_more && !(is_new && self.is_whole))
                .then_some("it names lines that stood there before")
        })
    }

    /// Returns why other evidence of the same commit contradicts the claim, or `None` if it does
    /// not. Two claims may not name the same line. A claim that names a block but none of its lines
    /// is about the block as a whole, so no other claim may name that block at all. If
    /// `confirms` returns true for the other claims, there is no contradiction: a person accepts
    /// the block under the intent that it has already.
    fn contradicts(
        &self,
        others: &BTreeMap<usize, CoveredBlock>,
        confirms: impl Fn(&[ClaimRef]) -> bool,
    ) -> Option<&'static str> {
        self.lines.iter().find_map(|(at, claimed)| {
            let other = others.get(at)?;
            if claimed.iter().zip(&other.lines).any(|(claimed, other)| *claimed && *other) {
                return Some("other evidence names these lines already");
            }
            (!claimed.contains(&true) && !confirms(&other.by))
                .then_some("other evidence names this block already")
        })
    }
}

/// The lines of a block that other evidence of the same commit claims, and the claims that name the
/// block.
#[derive(Default)]
struct CoveredBlock {
    lines: Vec<bool>,
    by: Vec<ClaimRef>,
}

/// Returns the claims of an entry of evidence, each with its block.
fn claims_of(entry: &Entry, at: u32) -> impl Iterator<Item = (ClaimRef, &BlockRecord)> {
    let ranges = entry.record.files.iter().take(1).flat_map(|file| &file.conversations);
    let ranges = (0..).zip(ranges.take(1).flat_map(|one| &one.ranges));
    ranges
        .map(move |(range, block)| (ClaimRef { entry: at, file: 0, conversation: 0, range }, block))
}

/// Returns what other evidence of the same commit claims in the file of this entry, by the index of
/// the block. Empty unless the entry is late evidence.
fn covered_by_others(
    texts: &TextCache,
    ledger: &Ledger,
    entry: &Entry,
    after: &Document,
) -> BTreeMap<usize, CoveredBlock> {
    let mut covered: BTreeMap<usize, CoveredBlock> = BTreeMap::new();
    let (Some(about), Some(file)) = (&entry.late_commit, entry.record.files.first()) else {
        return covered;
    };
    let others = ledger.entries_of_path(&file.relative_path).into_iter();
    let others = others.map(|at| (at, ledger.entry(at))).filter(|(_, other)| {
        other.section.is_some()
            && other.section != entry.section
            && texts.commit_of(other).is_some_and(|commit| commit.0 == *about)
    });
    for (claim, range) in others.flat_map(|(at, other)| claims_of(other, at)) {
        for (at, lines) in
            ClaimedLines::in_document(range, after).into_iter().flat_map(|claimed| claimed.lines)
        {
            let known = covered.entry(at).or_default();
            known.lines.resize(lines.len(), false);
            known.lines.iter_mut().zip(lines).for_each(|(known, line)| *known |= line);
            known.by.push(claim);
        }
    }
    covered
}

/// Says how to remove the file of an entry. Without `--no-verify`, our hook puts a file back whose
/// code still exists.
fn take_out(entry: &Entry) -> String {
    let path = &entry.origin.path;
    format!(
        "Take the file out: `git rm -f {path} && git commit --no-verify -m 'Take out evidence'`."
    )
}

fn refuse(entry: &Entry, what: String) -> Compared {
    let named = entry.record.intent_id.as_deref().unwrap_or("no intent");
    let finding = finding_at(
        entry,
        Code::EvidenceUnfounded,
        format!("This evidence names {named} for code that its commit did not add: {what}."),
        take_out(entry)
            + " Then `intent seal` seals what the journal of this clone holds of it, if anything.",
    );
    Compared { findings: vec![finding], ..Compared::default() }
}

/// Makes a finding about a record, at the line where the record is stored.
pub(crate) fn finding_at(entry: &Entry, code: Code, message: String, help: String) -> Finding {
    Finding {
        path: Some(entry.origin.path.clone()),
        lines: code::LineRange::new(entry.origin.line, entry.origin.line),
        intent: entry.record.intent_id.clone(),
        ..Finding::new(code, message, help)
    }
}
