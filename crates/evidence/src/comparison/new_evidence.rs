//! New evidence may claim only lines that its commit brought.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::slice;
use std::sync::Arc;

use super::changes::bytes_now;
use crate::compared::{Compared, finding_at, is_evidence};
use code::saying_lines::says_something;
use ground::git::{AddedFile, GitError, ObjectReader, Target};
use ground::parallel::in_parallel;
use ground::{Code, CommitId, Finding, Git, RelativePath};
use history::knowledge::{AskedTree, Knowledge};
use history::{
    LineText, Walk, claimed_lines, language_of, lines_of_entry, new_lines, writer_of_entry,
};
use ledger::evidence::{EVIDENCE_FOLDER, is_compacted};
use ledger::{Contributor, Entry, FileRecord, LineRuns, Record, RecordKind, Trust, read};
use why::baseline::commits_of_work;
use why::rules::{Rules, Ruling};
use why::{VerbError, Workspace, answers};

/// An entry of evidence, and the commit that added its file.
pub type AddedEntry = (CommitId, Arc<Entry>);

/// Returns the records of all evidence that the commits since a base added, each with its commit.
/// Records that a later commit removed again are among them.
pub fn sections_of_range(ws: &Workspace, base: &CommitId) -> Result<Vec<AddedEntry>, VerbError> {
    let Some(git) = ws.git() else { return Ok(Vec::new()) };
    let (mut all, mut reader) = (Vec::new(), git.object_reader()?);
    for tip in tips(ws)? {
        for AddedFile { name, commit, blob } in
            git.added_below(EVIDENCE_FOLDER, &tip, slice::from_ref(base))?
        {
            let path = RelativePath::new(&format!("{EVIDENCE_FOLDER}/{name}"))?;
            if !is_evidence(&path) {
                continue;
            }
            let mut entries = read::bytes(&path, &reader.blob(blob)?).entries;
            entries.retain(|entry| entry.trust != Trust::Contradicted);
            all.extend(entries.into_iter().map(|entry| (commit.clone(), entry)));
        }
    }
    Ok(all)
}

/// Returns the commits at which the work ends. There are several while a merge is in progress.
fn tips(ws: &Workspace) -> Result<Vec<CommitId>, VerbError> {
    match ws.files() {
        Target::Commit(commit) => Ok(vec![commit.clone()]),
        Target::WorkTree | Target::Index => commits_of_work(ws),
    }
}

/// Judges new evidence. The change begins at `base`, and goes into `target`. `added` is what
/// [`sections_of_range`] says of it.
pub(super) fn judge(
    ws: &Workspace,
    git: &Git,
    (base, target): (&CommitId, &CommitId),
    rules: &Rules,
    (entries, added): (&[Arc<Entry>], &[AddedEntry]),
) -> Result<Compared, VerbError> {
    let mut compared = Compared::default();
    if entries.is_empty() {
        return Ok(compared);
    }
    let late = Vec::from_iter(entries.iter().map(|it| it.late_commit.clone().map(CommitId)));
    let of_target = slice::from_ref(target);
    let known = git.asked_ancestors(of_target, late.iter().flatten())?;
    let of_target = commits_meant(git, &known, || git.ancestors(of_target), entries)?;
    let mut asked: Vec<AskedClaim<'_>> = Vec::new();
    let history = git.asked_ancestors(&tips(ws)?, late.iter().flatten())?;
    let standing = entries.iter().zip(&late).filter(|(it, _)| it.trust != Trust::Contradicted);
    for (entry, late) in standing {
        match late {
            None => {
                let places = places_of(entry, added).into_iter();
                asked.extend(places.map(|place| AskedClaim {
                    entry,
                    place: Some(place),
                    in_target: &[],
                }));
            }
            // What the target has already is no news.
            Some(_) if base != target && git.has_file(target, &entry.origin.path)? => {}
            // That of another project counts for nothing.
            Some(of) if !history.contains(of) && !is_evidence(&entry.origin.path) => {}
            Some(of) => {
                // A reassignment is judged by `reassign::judge`.
                let meant = of_target.get(of).filter(|_| entry.record.kind != RecordKind::Reassign);
                let in_target = meant.map_or(&[][..], Vec::as_slice);
                for meant in in_target {
                    compared.notes.push(late_note(entry, meant));
                    compared.findings.extend(late_findings(git, rules, entry, meant));
                }
                let place = Place { commit: Some(of), added_as: None };
                let place = history.contains(of).then_some(place);
                if place.is_none() {
                    compared.notes.push(format!(
                        "{} is about {}, which is not in this history. It counts only for a copy of that commit, and for this change.",
                        entry.origin.path,
                        of.short()
                    ));
                }
                asked.push(AskedClaim { entry, place, in_target });
            }
        }
    }
    let same_commit = |one: &AskedClaim<'_>, next: &AskedClaim<'_>| one.commit() == next.commit();
    let of_commits = Vec::from_iter(asked.chunk_by(same_commit));
    let judged = in_parallel(&of_commits, |asked| {
        let mut lines = LinesOfCommits::new(ws, git, target)?;
        let claims = asked.iter().map(|asked| lines.claim(asked));
        claims.collect::<Result<Vec<JudgedClaim<'_>>, VerbError>>()
    });
    let mut claims = Vec::new();
    for judged in judged {
        claims.extend(judged?);
    }
    compared.notes.extend(claims.iter_mut().flat_map(|claim| claim.unread.drain(..)));
    let refused = claims.iter().filter_map(|claim| refuse(claim.entry, &claim.already_claimed));
    compared.findings.extend(refused);
    let (unfounded, harmless) = unfounded_claims(claims);
    compared.notes.extend(harmless);
    compared.findings.extend(unfounded.iter().filter_map(|(entry, what)| refuse(entry, what)));
    Ok(compared)
}

/// An entry of evidence, and what it may be about.
struct AskedClaim<'a> {
    entry: &'a Entry,
    /// `None` if the commit that it names is not in the history.
    place: Option<Place<'a>>,
    /// The commits of the target that late evidence is about.
    in_target: &'a [CommitId],
}

impl AskedClaim<'_> {
    fn commit(&self) -> Option<&CommitId> {
        self.place.and_then(|place| place.commit).or(self.in_target.first())
    }
}

/// What an entry of evidence names in the text of one commit.
struct JudgedClaim<'a> {
    entry: &'a Entry,
    commit: Option<CommitId>,
    /// The lines that stood there before the commit: `src/a.rs:3 and one more line`.
    older: Vec<String>,
    older_count: usize,
    /// How many of the named lines the commit brought.
    brought_count: usize,
    /// What other evidence of the target names already.
    already_claimed: Vec<String>,
    /// Notes about texts that are missing here.
    unread: Vec<String>,
}

/// Returns for each entry the lines that make its section unfounded, and notes about the others.
///
/// A section may name lines that stood there before as long as they are not more than those that its
/// commit brought. For example, two branches add the same import, and the second one is rebased onto
/// the first. Git then says that the first branch brought the line, so `why` does not use what the
/// evidence of the second one says of it. Evidence without the line could not be written if a forge
/// squashes the branch, because the forge does not have the journal.
fn unfounded_claims(claims: Vec<JudgedClaim<'_>>) -> (Vec<(&Entry, Vec<String>)>, Vec<String>) {
    let key = |claim: &JudgedClaim<'_>| (claim.entry.section, claim.commit.clone());
    let mut counts: HashMap<_, (usize, usize)> = HashMap::new();
    for claim in &claims {
        let (older, brought) = counts.entry(key(claim)).or_default();
        *older += claim.older_count;
        *brought += claim.brought_count;
    }
    let (mut unfounded, mut notes): (Vec<(&Entry, Vec<String>)>, _) = (Vec::new(), Vec::new());
    for claim in claims.into_iter().filter(|claim| !claim.older.is_empty()) {
        let (older, brought) = counts[&key(&claim)];
        let what: Vec<String> =
            claim.older.iter().map(|lines| format!("{lines} stood there before")).collect();
        if older > brought {
            // The claims of an entry about several commits follow one another.
            match unfounded.last_mut().filter(|(entry, _)| std::ptr::eq(*entry, claim.entry)) {
                Some((_, all)) => all
                    .extend(what.into_iter().filter(|one| !all.contains(one)).collect::<Vec<_>>()),
                None => unfounded.push((claim.entry, what)),
            }
        } else {
            notes.push(format!(
                "{} names lines that its commit did not bring: {}. The name has no effect.",
                claim.entry.origin.path,
                what.join("; ")
            ));
        }
    }
    (unfounded, notes)
}

/// Returns for each commit that late evidence names the commits that the evidence is about.
///
/// This is the commit itself if `known` has it. Otherwise it is every copy of it in `all`: for example,
/// a cherry-pick copies a commit, and the author, the time and the message stay. `all` is called only if
/// a commit is not known, because it may read a whole history.
fn commits_meant(
    git: &Git,
    known: &HashSet<CommitId>,
    all: impl FnOnce() -> Result<HashSet<CommitId>, GitError>,
    entries: &[Arc<Entry>],
) -> Result<HashMap<CommitId, Vec<CommitId>>, VerbError> {
    // What a section says of the authorship counts as well: a clone without the commit believes it.
    let named = entries
        .iter()
        .filter_map(|entry| Some((CommitId(entry.late_commit.clone()?), entry.authored.clone())));
    let named: HashSet<(CommitId, Option<String>)> = named.collect();
    let mut found = HashMap::new();
    let mut reader = git.object_reader()?;
    let mut others: HashMap<String, BTreeSet<CommitId>> = HashMap::new();
    for (commit, authored) in named {
        if known.contains(&commit) {
            found.insert(commit.clone(), vec![commit]);
        } else {
            let id = git.object_id(&commit).ok();
            let authorship = id.and_then(|id| reader.authorship(id).ok());
            for authorship in authored.into_iter().chain(authorship) {
                others.entry(authorship).or_default().insert(commit.clone());
            }
        }
    }
    let all = if others.is_empty() { HashSet::new() } else { all()? };
    for commit in all {
        let authorship = reader.authorship(git.object_id(&commit)?)?;
        for copied in others.get(&authorship).into_iter().flatten() {
            found.entry(copied.clone()).or_insert_with(Vec::new).push(commit.clone());
        }
    }
    found.values_mut().for_each(|commits| {
        commits.sort();
        commits.dedup();
    });
    Ok(found)
}

/// Returns for each commit that late evidence of a range names those of the range that the evidence is
/// about: the commit itself or copies of it. If there is none and the commit has left the history, it
/// may have been squashed into the commit that added the evidence. `head` is the last of `commits`, and
/// `added` are the records that they added.
pub fn commits_of_range(
    git: &Git,
    head: &CommitId,
    commits: Vec<CommitId>,
    added: &[AddedEntry],
) -> Result<HashMap<CommitId, Vec<CommitId>>, VerbError> {
    let entries: Vec<Arc<Entry>> = added.iter().map(|(_, entry)| Arc::clone(entry)).collect();
    let commits = HashSet::from_iter(commits);
    let mut meant = commits_meant(git, &commits, || Ok(commits.clone()), &entries)?;
    let mut squashed: HashMap<CommitId, BTreeSet<&CommitId>> = HashMap::new();
    for (by, entry) in added {
        let of = entry.late_commit.clone().map(CommitId);
        if let Some(of) = of.filter(|of| !meant.contains_key(of)) {
            squashed.entry(of).or_default().insert(by);
        }
    }
    // A shallow clone may only lack the commit.
    if git.is_shallow() {
        squashed.clear();
    }
    let history = git.asked_ancestors(slice::from_ref(head), squashed.keys())?;
    squashed.retain(|of, _| !history.contains(of));
    meant.extend(squashed.into_iter().map(|(of, by)| (of, by.into_iter().cloned().collect())));
    Ok(meant)
}

#[derive(Clone, Copy, PartialEq)]
struct Place<'a> {
    /// `None` for the commit that is being made.
    commit: Option<&'a CommitId>,
    /// The file of evidence that the commit adds. `None` if the evidence names its commit.
    added_as: Option<&'a RelativePath>,
}

/// Returns the commits that added the section of an entry. A compaction adds it to another file, and
/// is not meant, unless it was squashed into one commit with the section.
fn places_of<'a>(entry: &'a Entry, added: &'a [AddedEntry]) -> Vec<Place<'a>> {
    let copies = added.iter().filter(|(_, it)| it.section == entry.section);
    let place = |(commit, it): &'a AddedEntry| Place {
        commit: Some(commit),
        added_as: Some(&it.origin.path),
    };
    let (compacted, plain): (Vec<_>, Vec<_>) =
        copies.map(place).partition(|place| place.added_as.is_some_and(is_compacted));
    let mut places = if plain.is_empty() { compacted } else { plain };
    // A section has one entry for each of its lines, and all of them are in the same file.
    places.dedup();
    if places.is_empty() {
        places.push(Place { commit: None, added_as: Some(&entry.origin.path) });
    }
    places
}

#[derive(Default)]
struct BroughtText {
    text: LineText,
    is_brought: Vec<bool>,
}

impl BroughtText {
    fn brought_lines(&self) -> impl Iterator<Item = usize> {
        (0..self.text.len()).filter(|line| self.is_brought[*line])
    }

    /// Returns the lines that these runs name and that were there before, and how many others they
    /// name. A line that says nothing is everywhere, and so may an equal line of the commit be meant:
    /// after a rebase, git may say of another one of two equal lines that it is new.
    fn named_by(&self, runs: &LineRuns, language: Option<&str>) -> (Vec<usize>, usize) {
        let plain = |line: usize| self.text.line(line).trim_ascii();
        let mut older = runs.standing_lines(&self.text);
        older.retain(|line| says_something(self.text.line(*line), language));
        let named_count = older.len();
        older.retain(|line| !self.is_brought[*line]);
        if !older.is_empty() {
            let brought: HashSet<&[u8]> = self.brought_lines().map(plain).collect();
            older.retain(|line| !brought.contains(plain(*line)));
        }
        let brought_count = named_count - older.len();
        (older, brought_count)
    }
}

/// How many texts are kept for further entries about the same commit.
const MAX_TEXTS: usize = 64;

struct LinesOfCommits<'a> {
    ws: &'a Workspace,
    git: &'a Git,
    reader: ObjectReader<'a>,
    known: HashMap<(Option<CommitId>, RelativePath), Arc<BroughtText>>,
    target: &'a CommitId,
    /// What the evidence of the target says, once somebody asked.
    of_target: Option<Knowledge<'a>>,
}

impl<'a> LinesOfCommits<'a> {
    fn new(ws: &'a Workspace, git: &'a Git, target: &'a CommitId) -> Result<Self, VerbError> {
        let reader = git.object_reader()?;
        Ok(Self { ws, git, reader, known: HashMap::new(), target, of_target: None })
    }

    fn text_at(
        &mut self,
        commit: Option<&CommitId>,
        path: &RelativePath,
    ) -> Result<Arc<BroughtText>, VerbError> {
        let key = (commit.cloned(), path.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        let found = match commit {
            Some(commit) => self.of_commit(commit, path)?,
            None => self.of_work(path)?,
        };
        if self.known.len() >= MAX_TEXTS {
            self.known.clear();
        }
        Ok(Arc::clone(self.known.entry(key).or_insert(Arc::new(found))))
    }

    fn of_commit(
        &mut self,
        commit: &CommitId,
        path: &RelativePath,
    ) -> Result<BroughtText, VerbError> {
        let text = LineText::new(self.git.file_at(commit, path)?.unwrap_or_default());
        let mut is_brought = vec![false; text.len()];
        let (id, full) = (self.git.object_id(commit)?, self.git.path_in_repository(path.as_str()));
        for line in Walk::new(&mut self.reader).new_lines_of_commit(id, &full)? {
            is_brought[line] = true;
        }
        Ok(BroughtText { text, is_brought })
    }

    fn of_work(&self, path: &RelativePath) -> Result<BroughtText, VerbError> {
        let mut before = Vec::new();
        for commit in tips(self.ws)? {
            let bytes = self.git.file_at(&commit, path)?;
            before.push(LineText::new(bytes.unwrap_or_default()));
        }
        let text = LineText::new(bytes_now(self.ws, self.git, path)?.unwrap_or_default());
        let is_brought = new_lines(&Vec::from_iter(&before), &text);
        Ok(BroughtText { text, is_brought })
    }

    fn claim<'e>(&mut self, asked: &AskedClaim<'e>) -> Result<JudgedClaim<'e>, VerbError> {
        let AskedClaim { entry, place, in_target } = *asked;
        let mut claim = JudgedClaim {
            entry,
            commit: place.and_then(|place| place.commit.cloned()),
            older: Vec::new(),
            older_count: 0,
            brought_count: 0,
            already_claimed: Vec::new(),
            unread: Vec::new(),
        };
        if entry.record.kind != RecordKind::Mutation {
            return Ok(claim);
        }
        for commit in in_target {
            claim.already_claimed.extend(self.claimed_already(entry, commit)?);
        }
        claim.already_claimed.dedup();
        let Some(place) = place else { return Ok(claim) };
        for file in &entry.record.files {
            let path = &file.relative_path;
            let runs = file.conversations.iter().map(|one| &one.lines);
            for runs in runs.filter(|runs| !runs.is_empty()) {
                let text = match self.text_at(place.commit, path) {
                    Err(VerbError::Git(GitError::Missing { .. })) if self.git.is_shallow() => {
                        claim.unread.push(format!(
                            "{}: its commit, or {path} in it, cannot be read in this shallow clone",
                            entry.origin.path
                        ));
                        continue;
                    }
                    text => text?,
                };
                let (older, brought) = text.named_by(runs, language_of(path.as_str()));
                claim.brought_count += brought;
                claim.older_count += older.len();
                if !older.is_empty() {
                    claim.older.push(named_lines(path, &older));
                }
            }
        }
        if !claim.older.is_empty() && self.is_restored(place)? {
            claim.older.clear();
            claim.older_count = 0;
        }
        Ok(claim)
    }

    /// Returns true if a person has put a file of evidence back that an earlier commit had added and
    /// another one removed. It is still about that earlier commit.
    fn is_restored(&self, place: Place<'_>) -> Result<bool, VerbError> {
        let tip = place.commit.or(self.ws.tip());
        let Some((tip, path)) = tip.zip(place.added_as) else { return Ok(false) };
        Ok(self.git.removed(tip, path)?.is_some())
    }

    fn knowledge_of_target(&mut self) -> Result<Knowledge<'a>, VerbError> {
        if let Some(known) = self.of_target.take() {
            return Ok(known);
        }
        let tree = self.reader.commit(self.git.object_id(self.target)?)?.tree;
        let prefix = self.git.path_in_repository("");
        Ok(Knowledge::new(&self.ws.root, prefix, AskedTree::Tree(tree)))
    }

    fn claimed_already(&mut self, entry: &Entry, of: &CommitId) -> Result<Vec<String>, VerbError> {
        let mut wrong = Vec::new();
        let mut knowledge = self.knowledge_of_target()?;
        let known = knowledge.of_commit(&mut self.reader, self.git.object_id(of)?)?;
        self.of_target = Some(knowledge);
        for file in &entry.record.files {
            let path = &file.relative_path;
            let text = self.text_at(Some(of), path)?;
            let brought: Vec<usize> = text.brought_lines().collect();
            let claimed = claimed_lines(&known, path, &text.text, &brought);
            let mut lines = lines_of_entry(entry, path, &text.text, &brought);
            let is_its = |at: usize| writer_of_entry(&known[at]) == writer_of_entry(entry);
            lines.retain(|line| claimed[*line].is_some_and(|at| !is_its(at)));
            if !lines.is_empty() {
                let lines = named_lines(path, &lines);
                wrong.push(format!("other evidence names {lines} already"));
            }
        }
        Ok(wrong)
    }
}

/// Names lines, which are counted from 0: `src/a.rs:3`, or `src/a.rs:3 and 4 more lines`.
fn named_lines(path: &RelativePath, lines: &[usize]) -> String {
    let first = lines.first().map_or(0, |line| line + 1);
    match lines.len() {
        0 | 1 => format!("{path}:{first}"),
        2 => format!("{path}:{first} and one more line"),
        count => format!("{path}:{first} and {} more lines", count - 1),
    }
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
    // Whoever accepts a block later names nobody as its author.
    if record.kind == RecordKind::Ack {
        return findings;
    }
    // Nobody knows here what the intents of another project own.
    for file in record.files.iter().filter(|_| is_evidence(&entry.origin.path)) {
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

/// Says how to remove the file of an entry. Without `--no-verify`, our hook puts a file back whose
/// code still exists.
fn take_out(entry: &Entry) -> String {
    let path = &entry.origin.path;
    format!(
        "Take the file out: `git rm -f {path} && git commit --no-verify -m 'Take out evidence'`."
    )
}

fn refuse(entry: &Entry, wrong: &[String]) -> Option<Finding> {
    if wrong.is_empty() {
        return None;
    }
    let what = wrong.join("; ");
    let named = entry.record.intent_id.as_deref().unwrap_or("no intent");
    Some(finding_at(
        entry,
        Code::EvidenceUnfounded,
        format!("This evidence names {named} for code that its commit did not add: {what}."),
        take_out(entry)
            + " Then `intent evidence seal` seals what the journal of this clone holds of it, if anything.",
    ))
}
