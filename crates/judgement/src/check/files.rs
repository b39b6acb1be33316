//! Reads the files of a change on both sides, cuts them into parts and judges them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::changed_parts::{self, ChangedPart, Fate, PartJudge, StandingEdits};
use super::edited_blocks::{EditedBlock, EditedLines};
use super::{CheckSummary, JudgedChange, Share, UncoveredChange, UnrecordedIntents};
use code::{Document, FileBlocks};
use ground::git::{Aspect, ChangeKind, PathChange, Target};
use ground::parallel::in_parallel;
use ground::text::{counted, listed};
use ground::{Code, Finding, RelativePath};
use intents::{ScopeVerdict, scope};
use ledger::Claim;
use provenance::Classification;
use why::baseline::{Baseline, FormerFile};
use why::change_class;
use why::rules::{Rules, ask_for_scope};
use why::{ReadError, VerbError, Workspace, answers};

/// A file at the base and now. A side is `None` if the file does not exist there or is not known to
/// be text.
type Versions = (Option<Document>, Option<Document>);

struct StandingFile {
    parts: Vec<ChangedPart>,
    /// `None` if the file is judged as a whole.
    content: Option<StandingContent>,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

/// What was changed in a file. Its syntax tree is not kept, so that a large change does not have to fit
/// into memory.
struct StandingContent {
    blocks: Arc<FileBlocks>,
    edited: Vec<EditedBlock>,
    outside: EditedLines,
    from: Option<RelativePath>,
}

/// A file of the change that exists, and how its content changed.
type ChangedFile<'a> = (&'a RelativePath, ChangeKind);

/// How many large files are read at once before they are examined, so that they fit into memory.
const READ_AHEAD: usize = 16;

fn share_of(shares: &mut Vec<Share>, id: String, name: Option<String>) -> &mut Share {
    let at = shares.iter().position(|share| share.id == id).unwrap_or_else(|| {
        shares.push(Share { id, name, lines: 0, blocks: 0 });
        shares.len() - 1
    });
    &mut shares[at]
}

impl JudgedChange {
    pub(super) fn texts(&self) -> Result<change_class::Texts, VerbError> {
        if !self.unexamined.is_empty() {
            return Ok(change_class::Texts::too_large());
        }
        let mut texts = change_class::Texts::default();
        for change in self.changes.iter().filter(|change| change.aspect == Aspect::Content) {
            let path = &change.path;
            if is_of_rules(path) {
                continue;
            }
            let (old, new) = (change.kind != ChangeKind::Added, change.kind != ChangeKind::Deleted);
            let before = match self.base() {
                Some(base) if old => self.ws.read_at(base, path)?,
                _ => None,
            };
            let after = new.then(|| self.ws.read(path).ok()).flatten();
            match before.is_some() == old && after.is_some() == new {
                true => texts.add_file(path.clone(), before, after),
                false => texts.unread.push(path.clone()),
            }
        }
        Ok(texts)
    }

    /// Reads a file that exists: its text at the base, if the change has one base, and the present one.
    fn texts_of_file(
        &self,
        path: &RelativePath,
    ) -> Result<(Option<Document>, Document), ReadError> {
        let now = self.ws.read(path)?;
        let before = match &self.history.bases[..] {
            [base] => self.ws.read_at(base, path).ok().flatten(),
            _ => None,
        };
        Ok((before, now))
    }

    pub(super) fn classified(&self, texts: &change_class::Texts) -> Option<Classification> {
        let others = |words: &[&str]| {
            let paths = self.ws.tracked().ok()?;
            change_class::holding(paths, texts, words, |path| self.text_if_unchanged(path))
        };
        change_class::classify(texts, &others)
    }

    /// Returns the text of a file that is the same on both sides, or `None` if it is not text.
    fn text_if_unchanged(&self, path: &RelativePath) -> Option<String> {
        let bytes = match self.ws.files() {
            Target::WorkTree => {
                self.ws.root.read(path, code::document::MAX_BYTES as u64).ok()??
            }
            _ => self.ws.git()?.file_at(self.base()?, path).ok()??,
        };
        String::from_utf8(bytes).ok()
    }
}

/// Returns true for the rules and records in `.orchestration/`, which are not judged as code.
/// Folders of that name below another folder are ordinary ones.
pub(super) fn is_of_rules(path: &RelativePath) -> bool {
    path.as_str().starts_with(".orchestration/")
}

/// Returns what to say of a change that edits no block and brings no line. An editor does not report
/// these while somebody types.
fn other_fate(kind: ChangeKind, now: &Document, before: &FormerFile) -> Fate {
    match kind {
        // If the text did not parse before either, its blocks are described as well as possible.
        _ if changed_parts::is_broken(&before.baseline, now) => Fate::Unparsed,
        ChangeKind::Added => Fate::New,
        // The bytes differ, perhaps only in a byte order mark.
        _ => Fate::Between,
    }
}

fn history_missing(
    ws: &Workspace,
    path: &RelativePath,
    file: &answers::FileProvenance,
) -> VerbError {
    if let Some(error) = &file.error {
        return VerbError::refused(format!("{path}: {error}"));
    }
    let message =
        format!("this clone lacks the commits that say who brought changed lines of {path}");
    VerbError::HistoryMissing { message, hint: ws.how_to_get_history() }
}

fn recorded_intents(parts: &[(&RelativePath, Vec<ChangedPart>)]) -> impl Iterator<Item = String> {
    parts.iter().flat_map(|(_, parts)| parts).filter_map(ChangedPart::recorded_intent)
}

pub(super) struct Judge<'a> {
    judged: &'a JudgedChange,
    rules: &'a Rules,
    bound: UnrecordedIntents,
    gone: Vec<RelativePath>,
    texts: HashMap<RelativePath, Versions>,
    examined: HashMap<RelativePath, Result<StandingFile, VerbError>>,
    classes: Option<Classification>,
    findings: Vec<Finding>,
    summary: &'a mut CheckSummary,
    /// The paths whose changes are in no commit yet; `None` if that applies to the whole change.
    uncommitted: Option<HashSet<RelativePath>>,
    renamed: HashMap<RelativePath, Vec<ChangedPart>>,
    names: Vec<(RelativePath, RelativePath)>,
    looked_at: Extent,
    /// Large files that were not examined, because the limits of [`Extent`] were reached. Each is
    /// judged as a whole.
    beyond: Vec<RelativePath>,
}

/// The size of the large texts that were examined. It is limited so that they take at most about a
/// minute, even if somebody makes the files of a change large on purpose.
#[derive(Default)]
struct Extent {
    bytes: usize,
    blocks: usize,
}

impl Extent {
    /// Returns true for a text that is examined whatever others there are.
    fn is_small(document: &Document) -> bool {
        document.len_bytes() <= Self::SMALL_BYTES
            && document.blocks().blocks.len() <= Self::SMALL_BLOCKS
    }

    const SMALL_BYTES: usize = 64 * 1024;
    const SMALL_BLOCKS: usize = 1_000;
    const MAX_BYTES: usize = 16 * 1024 * 1024;
    const MAX_BLOCKS: usize = 50_000;

    fn takes(&mut self, document: &Document) -> bool {
        let add = |sum: &mut usize, size: usize, small: usize, most: usize| {
            *sum += if size > small { size } else { 0 };
            size <= small || *sum <= most
        };
        let blocks = document.blocks().blocks.len();
        add(&mut self.bytes, document.len_bytes(), Self::SMALL_BYTES, Self::MAX_BYTES)
            && add(&mut self.blocks, blocks, Self::SMALL_BLOCKS, Self::MAX_BLOCKS)
    }
}

impl<'a> Judge<'a> {
    /// `texts` and `classes` are the texts of the change and its class, as far as the caller knows
    /// them. What is counted and noted is added to `summary`.
    pub(super) fn from_change(
        judged: &'a JudgedChange,
        rules: &'a Rules,
        bound: UnrecordedIntents,
        (texts, classes): (change_class::Texts, Option<Classification>),
        summary: &'a mut CheckSummary,
    ) -> Result<Self, VerbError> {
        let of_content = judged.changes.iter().filter(|change| change.aspect == Aspect::Content);
        let texts = texts.files.into_iter().map(|(path, old, new)| (path, (old, new)));
        Ok(Self {
            judged,
            rules,
            bound,
            gone: ground::git::deleted_paths(of_content),
            texts: texts.collect(),
            examined: HashMap::new(),
            classes,
            findings: Vec::new(),
            summary,
            uncommitted: judged.uncommitted()?,
            renamed: HashMap::new(),
            names: Vec::new(),
            looked_at: Extent::default(),
            beyond: Vec::new(),
        })
    }

    /// Cuts all files into parts. Files that exist come before deleted ones, because an existing file may
    /// be a deleted one under another name.
    fn parts_of_files(&mut self) -> Result<Vec<(&'a RelativePath, Vec<ChangedPart>)>, VerbError> {
        let is_gone = |changes: &[&PathChange]| {
            changes.iter().all(|change| change.kind == ChangeKind::Deleted)
        };
        let mut by_path: BTreeMap<&RelativePath, Vec<&PathChange>> = BTreeMap::new();
        let is_judged = |change: &&PathChange| {
            !is_of_rules(&change.path) && !self.judged.own_setup.contains(&change.path)
        };
        let judged = self.judged;
        for change in judged.changes.iter().filter(is_judged) {
            by_path.entry(&change.path).or_default().push(change);
        }
        let (gone, standing): (Vec<_>, Vec<_>) =
            by_path.into_iter().partition(|(_, changes)| is_gone(changes));
        self.summary.files += gone.len() + standing.len();
        let files: Vec<_> = standing.into_iter().chain(gone).collect();
        self.examine(&files);
        let mut parts: Vec<(&RelativePath, Vec<ChangedPart>)> = Vec::with_capacity(files.len());
        for (path, changes) in &files {
            parts.push((*path, self.parts(path, changes)?));
        }
        let recorded = recorded_intents(&parts);
        self.bound = std::mem::take(&mut self.bound).with_other_work(&self.judged.ws, recorded);
        Ok(parts)
    }

    /// Returns the intents that answer for recorded parts of the change.
    pub(super) fn recorded_intents(mut self) -> Result<Vec<String>, VerbError> {
        Ok(recorded_intents(&self.parts_of_files()?).collect())
    }

    pub(super) fn judge_all(mut self) -> Result<Vec<Finding>, VerbError> {
        let nameless = &self.judged.nameless;
        self.summary.files += nameless.len();
        let parts = self.parts_of_files()?;
        parts.iter().for_each(|(path, parts)| self.judge(path, parts));
        let left = self.scopes_left_behind()?;
        self.findings.extend(left);
        if !self.judged.unknown.is_empty() {
            self.summary.unknown.clone_from(&self.judged.unknown);
            self.summary.notes.push(format!(
                "Nobody can tell whether these files changed, because a program converts them for git: {}. `git status` says it.",
                listed(&self.judged.unknown)
            ));
        }
        if !self.judged.unexamined.is_empty() {
            self.summary.notes.push(format!(
                "There are {} new files without a record, which are too many to look into, so each was judged as a whole. If they are no work, leave them out in .gitignore.",
                self.judged.unexamined.len()
            ));
        }
        if !self.beyond.is_empty() {
            self.summary.notes.push(format!(
                "The large files of this change have more in them than is looked at block by block, so these were judged as a whole: {}.",
                listed(&self.beyond)
            ));
        }
        for path in nameless {
            self.judge(path, &[changed_parts::of_file(path, Fate::Nameless)]);
            self.summary.notes.push(format!(
                "The name of {path} is not UTF-8, so no scope owns it: give it another name."
            ));
        }
        for shares in [&mut self.summary.intents, &mut self.summary.contributors] {
            shares.sort_by(|a, b| (b.lines, &a.id).cmp(&(a.lines, &b.id)));
        }
        Ok(self.findings)
    }

    /// Returns a finding for each scope entry whose files the change moves to where no intent owns
    /// them, as `git mv src lib` does. Without it, the next work on these files would be the first to
    /// hear of it.
    fn scopes_left_behind(&self) -> Result<Vec<Finding>, VerbError> {
        let ws = &self.judged.ws;
        let is_lost = |(_, to): &&(RelativePath, RelativePath)| {
            let is_found =
                |it: &Finding| it.code == Code::ScopeViolation && it.path.as_ref() == Some(to);
            let owners = [self.rules.owners(to), ws.registry.owners(to)];
            owners.iter().all(Vec::is_empty) && !self.findings.iter().any(is_found)
        };
        let mut by_entry: BTreeMap<(String, usize), Vec<&(RelativePath, RelativePath)>> =
            BTreeMap::new();
        for pair in self.names.iter().filter(is_lost) {
            for owner in ws.registry.owners(&pair.0) {
                let id = owner.id.value.clone();
                let verdict = ws.registry.scope(&id).map(|scope| scope.verdict(&pair.0));
                if let Some(ScopeVerdict::Owned(at)) = verdict {
                    by_entry.entry((id, at)).or_default().push(pair);
                }
            }
        }
        if by_entry.is_empty() {
            return Ok(Vec::new());
        }
        let (tracked, gone) = (ws.tracked()?, HashSet::<&RelativePath>::from_iter(&self.gone));
        by_entry.retain(|(id, at), _| {
            let scope = ws.registry.scope(id);
            let is_owned = |path: &&RelativePath| {
                scope.is_some_and(|scope| scope.verdict(path) == ScopeVerdict::Owned(*at))
            };
            !tracked.iter().filter(|path| !gone.contains(path)).any(|path| is_owned(&path))
        });
        let finding = |((id, at), moved): (
            &(String, usize),
            &Vec<&(RelativePath, RelativePath)>,
        )| {
            let (from, to) = moved[0];
            let intent = ws.registry.get(id)?;
            let entry = intent.scope_entries().get(*at).cloned()?;
            let more = match moved.len() {
                1 => String::new(),
                many => format!(" and {} more", counted(many - 1, "file")),
            };
            let message = format!(
                "The change leaves `{entry}` of {id} without a file: it moves {from}{more} to where no intent in progress owns it, such as {to}."
            );
            let ask = ask_for_scope(id, &scope::entry_for(to));
            let help =
                format!("Let the scope follow. An agent asks a person for that with `{ask}`.");
            let finding = Finding::new(Code::EmptyScope, message, help).in_file(to);
            Some(Finding { intent: Some(id.clone()), ..finding })
        };
        Ok(by_entry.iter().filter_map(finding).collect())
    }

    /// Examines the files that exist and whose text changed. This takes most of the time of a check, so
    /// all processors do it.
    fn examine(&mut self, files: &[(&'a RelativePath, Vec<&PathChange>)]) {
        let (judged, gone) = (self.judged, &self.gone[..]);
        let changed = |(path, changes): &(&'a RelativePath, Vec<&PathChange>)| {
            let mut changes = changes.iter().filter(|it| it.aspect == Aspect::Content);
            let kind = changes.next()?.kind;
            let is_examined = kind != ChangeKind::Deleted && !judged.unexamined.contains(*path);
            is_examined.then_some((*path, kind))
        };
        let all: Vec<ChangedFile<'_>> = files.iter().filter_map(changed).collect();
        let texts = |path: &RelativePath| match self.texts.get(path) {
            Some((before, Some(now))) => Ok((before.clone(), now.clone())),
            _ => judged.texts_of_file(path),
        };
        let small = in_parallel(&all, |&(path, kind)| match texts(path) {
            Ok((_, now)) if !Extent::is_small(&now) => None,
            texts => Some(examine_file(judged, gone, (path, kind), texts)),
        });
        let (mut examined, mut large) = (HashMap::new(), Vec::new());
        for ((path, kind), found) in all.into_iter().zip(small) {
            match found {
                Some(found) => drop(examined.insert(path.clone(), found)),
                None => large.push((path, kind)),
            }
        }
        for portion in large.chunks(READ_AHEAD) {
            let read = in_parallel(portion, |&(path, _)| {
                let texts = texts(path);
                texts.iter().for_each(|(_, now)| drop(now.blocks()));
                texts
            });
            let mut taken = Vec::new();
            for (file, texts) in portion.iter().zip(read) {
                match texts {
                    Ok(texts) if self.looked_at.takes(&texts.1) => taken.push((*file, texts)),
                    _ => self.beyond.push(file.0.clone()),
                }
            }
            let found = in_parallel(&taken, |(file, texts)| {
                examine_file(judged, gone, *file, Ok(texts.clone()))
            });
            let paths = taken.iter().map(|((path, _), _)| (*path).clone());
            examined.extend(paths.zip(found));
        }
        self.examined = examined;
    }

    /// Counts the lines of a block, or those outside of blocks.
    fn count(&mut self, edited: &EditedLines, is_block: bool) {
        let (ws, summary) = (&self.judged.ws, &mut *self.summary);
        let name = |id: &str| ws.registry.get(id).map(|intent| intent.name.value.clone());
        let who = |claim: &Claim| {
            let tool = claim.entry.record.tool.as_ref().map(|tool| tool.name.as_str());
            Some(answers::author_name(&claim.conversation()?.contributor, tool))
        };
        for (claim, lines) in &edited.brought {
            summary.lines += lines;
            let Some(claim) = claim else { continue };
            if let Some(id) = ws.intent_of(claim) {
                let name = name(&id);
                share_of(&mut summary.intents, id, name).lines += lines;
            }
            if let Some(who) = who(claim) {
                share_of(&mut summary.contributors, who, None).lines += lines;
            }
        }
        if !edited.is_recorded || !is_block {
            return;
        }
        summary.recorded += 1;
        let owners = edited.owners.iter().filter_map(|(owner, _)| owner.as_ref());
        for id in BTreeSet::from_iter(owners.map(|owner| owner.intent.clone())) {
            let name = name(&id);
            share_of(&mut summary.intents, id, name).blocks += 1;
        }
        for who in BTreeSet::from_iter(edited.claims.iter().filter_map(|claim| who(claim))) {
            share_of(&mut summary.contributors, who, None).blocks += 1;
        }
    }

    fn judge(&mut self, path: &RelativePath, parts: &[ChangedPart]) {
        let judge = PartJudge {
            ws: &self.judged.ws,
            rules: self.rules,
            path,
            bound: self.bound.of_path(path),
            of_other_work: self.bound.of_other_work(path),
            against: &self.judged.against,
            is_committed: self.uncommitted.as_ref().is_some_and(|paths| !paths.contains(path)),
        };
        let mut findings = judge.judge_parts(parts);
        if self.bound.asks_for(path) {
            let open = parts.iter().filter(|part| part.answer.is_none());
            self.summary.uncovered_changes.extend(open.map(|part| UncoveredChange {
                path: path.clone(),
                lines: part.lines,
                what: part.what.clone(),
            }));
            self.summary.uncovered = self.summary.uncovered_changes.len();
        } else {
            findings.retain(|it| !matches!(it.code, Code::UnrecordedChange | Code::Unowned));
        }
        self.findings.extend(findings);
    }

    fn parts(
        &mut self,
        path: &RelativePath,
        changes: &[&PathChange],
    ) -> Result<Vec<ChangedPart>, VerbError> {
        let of_content = changes.iter().find(|change| change.aspect == Aspect::Content);
        let others = changes.iter().filter_map(|change| match change.aspect {
            Aspect::Content => None,
            Aspect::Mode => Some(Fate::Mode),
            Aspect::Link => Some(Fate::Link),
            Aspect::Submodule => Some(Fate::Submodule),
        });
        let mut parts: Vec<ChangedPart> =
            others.map(|fate| changed_parts::of_file(path, fate)).collect();
        match of_content.map(|change| change.kind) {
            None => {}
            Some(ChangeKind::Deleted) => parts.extend(self.parts_of_deleted_file(path)?),
            Some(_) => parts.extend(self.standing_of_file(path)?),
        }
        Ok(parts)
    }

    fn parts_of_deleted_file(
        &mut self,
        path: &RelativePath,
    ) -> Result<Vec<ChangedPart>, VerbError> {
        if let Some(parts) = self.renamed.remove(path) {
            return Ok(changed_parts::as_a_whole(parts, path, Fate::Renamed));
        }
        let ws = &self.judged.ws;
        let before = match self.texts.remove(path) {
            Some((before, _)) => before,
            None => self.judged.base().map(|base| ws.read_at(base, path)).transpose()?.flatten(),
        };
        Ok(changed_parts::of_gone(ws, path, before.as_ref(), &self.judged.history))
    }

    fn standing_of_file(&mut self, path: &RelativePath) -> Result<Vec<ChangedPart>, VerbError> {
        if self.judged.unexamined.contains(path) {
            return Ok(vec![changed_parts::of_file(path, Fate::New)]);
        }
        // A file that was not examined has more in it than is looked at.
        let Some(examined) = self.examined.remove(path) else {
            return Ok(vec![changed_parts::of_file(path, Fate::Unreadable)]);
        };
        let examined = examined?;
        self.summary.notes.extend(examined.notes);
        self.findings.extend(examined.findings);
        let Some(StandingContent { blocks, edited, outside, from }) = examined.content else {
            return Ok(examined.parts);
        };
        self.summary.blocks += edited.len();
        self.count(&outside, false);
        for edited in &edited {
            self.count(&edited.lines, true);
            let classes = self.classes.as_ref();
            let block = (&blocks.blocks[edited.at], &edited.lines.claims[..]);
            let contradicted = classes
                .filter(|_| edited.lines.is_recorded)
                .and_then(|all| change_class::contradicted(&self.judged.ws, path, block, all));
            self.findings.extend(contradicted);
        }
        if let Some(from) = from {
            self.names.push((from.clone(), path.clone()));
            self.renamed.insert(from, examined.parts.clone());
        }
        Ok(examined.parts)
    }
}

/// Finds the edited blocks of a file that exists, and who brought their lines. `gone` are the paths that
/// the change deletes, because the file may be one of them under a new name.
fn examine_file(
    judged: &JudgedChange,
    gone: &[RelativePath],
    (path, kind): (&RelativePath, ChangeKind),
    texts: Result<(Option<Document>, Document), ReadError>,
) -> Result<StandingFile, VerbError> {
    let (ws, history) = (&judged.ws, &judged.history);
    let bases = &history.bases[..];
    let as_a_whole = |note: String, mut notes: Vec<String>, findings| {
        notes.push(note);
        let parts = vec![changed_parts::of_file(path, Fate::Unreadable)];
        Ok(StandingFile { parts, content: None, findings, notes })
    };
    let (before, now) = match texts {
        Ok(texts) => texts,
        Err(reason) => {
            let note = format!("{reason}. It was judged as a whole.");
            return as_a_whole(note, Vec::new(), Vec::new());
        }
    };
    let baseline = match (before, bases) {
        (Some(before), [_]) => Baseline::Texts(vec![before]),
        _ => Baseline::at_commits(ws, path, bases)?,
    };
    let baseline = baseline.parsed_beside(&now);
    let document = baseline.carried_by(now);
    let notes = Vec::from_iter(document.cut_short());
    let findings = Vec::from_iter(changed_parts::conflicts(path, &document));
    let mut file = answers::file_within(ws, path, &document, &history.commits);
    if let Some(reason) = file.error.as_ref().filter(|_| file.is_converted) {
        let note = format!("{path}: {reason}. It was judged as a whole.");
        return as_a_whole(note, notes, findings);
    }
    let before = baseline.or_renamed(ws, path, &document, bases.first(), gone)?;
    if matches!(before.baseline, Baseline::Unknown) {
        let note = format!("{path} has no readable text at the base. It was judged as a whole.");
        return as_a_whole(note, notes, findings);
    }
    let mut found = changed_parts::of_standing(ws, path, &file, &before, history);
    // An edit that only removed lines or changed the layout may be covered by a record of the
    // older lines.
    let is_open = |block: &EditedBlock| !block.lines.is_recorded && block.lines.brought.is_empty();
    if found.blocks.iter().any(is_open) {
        file = answers::file(ws, path, &document);
        found = changed_parts::of_standing(ws, path, &file, &before, history);
    }
    let StandingEdits { mut parts, blocks: edited, outside } = found;
    if history.misses_history(&file, &edited) {
        return Err(history_missing(ws, path, &file));
    }
    let fate = other_fate(kind, &file.document, &before);
    // A new or renamed file has a part for the file as a whole already.
    let is_whole = before.from.is_some() || changed_parts::is_new(&before.baseline);
    let has_part = is_whole && parts.iter().any(|it| it.answer.is_none());
    let is_blank = || changed_parts::differs_in_blank_lines(&before.baseline, &file.document);
    let is_open = match fate {
        Fate::Unparsed => !has_part && outside.owners.is_empty(),
        Fate::New => parts.is_empty(),
        _ => parts.is_empty() && !is_blank(),
    };
    if is_open {
        parts.push(changed_parts::of_file(path, fate));
    }
    let (blocks, from) = (file.blocks, before.from);
    let content = Some(StandingContent { blocks, edited, outside, from });
    Ok(StandingFile { parts, content, findings, notes })
}
