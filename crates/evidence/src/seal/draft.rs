//! Groups the blocks of a commit by intent, session and file, and writes them as evidence.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{SealedFile, is_carried};
use crate::record::call::class_of;
use crate::signing;
use code::{Block, ContentHash, Document, FileBlocks, LineRange, fingerprint};
use ground::git::Target;
use ground::{CommitId, RelativePath, clock};
use intents::Registry;
use ledger::evidence::{
    self, CitedIntent, CitedSession, EvidenceBlock, EvidenceLine, Header, Whole,
};
use ledger::{
    BlockRecord, Conversation, Digest, Entry, FileRecord, LineRuns, MutationClass, Record,
    RecordKind, RecordedDecision, Strength, kept_text,
};
use provenance::Difference;
use why::Workspace;

/// A new file with more blocks than this is named as a whole, if one session wrote all of it.
const MAX_NAMED: usize = 40;

/// A file before a commit, if it was there, and after it.
pub(super) type TextsOfCommit<'a> = (Option<&'a Document>, &'a Document);

pub(super) fn folder() -> RelativePath {
    RelativePath::new(evidence::EVIDENCE_FOLDER).expect("a fixed name is a path")
}

/// The properties that all blocks in one line of evidence share, apart from the file. If two
/// sessions worked on a file under INT-001, these are two groups, and the file gets two lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    intent: CitedIntent,
    session: CitedSession,
    strength: Option<Strength>,
    decision: Option<RecordedDecision>,
    claimed_class: Option<String>,
    is_ack: bool,
}

impl Group {
    fn of_entry(entry: &Entry) -> Option<Self> {
        let mut conversations = entry.record.files.iter().flat_map(|file| &file.conversations);
        conversations.next().map(|conversation| Self::for_entry(entry, conversation))
    }

    fn for_entry(entry: &Entry, conversation: &Conversation) -> Self {
        let record = &entry.record;
        let tool = record.tool.as_ref().map(|tool| match &tool.version {
            Some(version) => format!("{} {version}", tool.name),
            None => tool.name.clone(),
        });
        let specs = conversation.related.iter().filter(|one| one.is_specification());
        let contributor = &conversation.contributor;
        let decision = record.decision.clone();
        Self {
            intent: CitedIntent {
                id: record.intent_id.clone().unwrap_or_default(),
                hash: record.intent_hash.as_deref().and_then(evidence::short),
                name: None,
                specs: specs.map(|one| one.value.clone()).collect(),
            },
            session: CitedSession {
                id: record.session.clone(),
                entity_type: contributor.entity_type,
                model: contributor.model_identifier.clone(),
                name: contributor.name.clone(),
                tool,
                ..CitedSession::default()
            },
            strength: record.strength,
            decision: decision.filter(|one| one.outcome != RecordedDecision::NO_OPINION),
            claimed_class: record.claimed_class.clone(),
            is_ack: record.kind == RecordKind::Ack,
        }
    }
}

pub(super) fn group_key(entry: &Entry) -> String {
    format!("{:?}", Group::of_entry(entry))
}

#[derive(Clone, Debug, Default)]
pub(super) struct LaterEdits {
    /// The lines that no record brought, counted from 1.
    pub unrecorded: Vec<u32>,
    /// The text of the file right after its newest record. `None` if the committed text is the same, or
    /// if the text is not known.
    pub left: Option<Document>,
}

impl LaterEdits {
    fn have_changed(&self, block: &Block) -> bool {
        let Some(left) = &self.left else { return false };
        let left = left.blocks();
        let is_left = |other: &Block| {
            let (then, now) = (&other.fingerprint, &block.fingerprint);
            other.identity == block.identity
                && (&then.tokens, &then.lead) == (&now.tokens, &now.lead)
        };
        !left.blocks.iter().any(is_left)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct GroupFile {
    time: String,
    from: Option<RelativePath>,
    lines: LineRuns,
    blocks: Vec<EvidenceBlock>,
    whole: Option<Whole>,
    class: Option<MutationClass>,
    takes: Option<String>,
}

#[derive(Default)]
pub(super) struct Draft {
    /// The earlier commit that the evidence is about. `None` for the commit that is being made.
    pub of: Option<CommitId>,
    /// What each group brought to each file. Records about lines of an earlier commit are not
    /// united, so their ids are a part of the key.
    work: BTreeMap<(RelativePath, Group, Option<String>), GroupFile>,
    carried: Vec<Record>,
    /// The ids of the records that the draft is made from, and of the earlier records of the same
    /// blocks.
    pub records: BTreeSet<String>,
    /// Those of them with a line in the commit.
    pub with_lines: BTreeSet<String>,
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.work.is_empty() && self.carried.is_empty()
    }

    pub(super) fn about(self, commit: CommitId) -> Self {
        Self { of: Some(commit), ..self }
    }

    /// Adds what the records of one group brought to a file. `now` is the file after the change, and
    /// `before` the text before it, if there is one. `later` is what was changed after the records.
    pub(super) fn add_lines(
        &mut self,
        ws: &Workspace,
        path: &RelativePath,
        entries: &[&Entry],
        texts: TextsOfCommit<'_>,
        lines: LineRuns,
        later: &LaterEdits,
    ) {
        let Some(group) = entries.last().and_then(|entry| Group::of_entry(entry)) else {
            return;
        };
        let files = entries.iter().flat_map(|entry| &entry.record.files);
        let files: Vec<_> = files.filter(|file| file.relative_path == *path).collect();
        let mut work = GroupFile {
            time: newest_time(entries),
            from: files.iter().rev().find_map(|file| file.from.clone()),
            blocks: touched_blocks(ws, &files, texts, &lines, later),
            class: proven_class(entries, path, texts),
            lines,
            ..GroupFile::default()
        };
        if later.left.is_none() {
            work.unite(texts);
        }
        self.records.extend(entries.iter().map(|entry| entry.record.id.clone()));
        if !work.is_nothing() {
            self.work.insert((path.clone(), group, None), work);
        }
    }

    pub(super) fn add_record(&mut self, entry: &Entry) {
        for file in &entry.record.files {
            let Some(group) = Group::of_entry(entry) else { continue };
            let lines = file.conversations.first().map(|one| one.lines.clone()).unwrap_or_default();
            let work = GroupFile {
                time: entry.record.timestamp.clone(),
                lines,
                blocks: file.ranges().filter_map(EvidenceBlock::from_record).collect(),
                takes: entry.record.takes.clone(),
                ..GroupFile::default()
            };
            let id = Some(entry.record.id.clone());
            self.work.insert((file.relative_path.clone(), group, id), work);
        }
        self.records.insert(entry.record.id.clone());
    }

    /// Adds the records that are not about changes of files; a commit carries them unchanged. A
    /// record of a change to an intent is added only if that intent in the index differs from the
    /// commit on which the record was made. So no commit carries the record of an `intent new` that
    /// was undone by `git reset --hard`.
    pub(super) fn carry(&mut self, ws: &Workspace) {
        let Some(git) = ws.git() else { return };
        let index = LazyCell::new(|| Registry::at_target(git, &Target::Index).ok());
        for entry in ws.journal.entries().iter().filter(|entry| is_carried(entry)) {
            let record = &entry.record;
            let of_intent =
                record.intent_id.as_ref().filter(|_| record.kind == RecordKind::Registry);
            if let (Some(id), Some(base)) = (of_intent, record.based_on())
                && let (Some(before), Some(now)) = (ws.registry_at(&base), index.as_ref())
                && before.version(id) == now.version(id)
            {
                continue;
            }
            // A signature counts for one merge, so it is committed together with the change that it
            // approves, on whichever branch that is.
            let signed = record.approves.as_ref().filter(|approved| approved.signature.is_some());
            let is_elsewhere = signed.is_some_and(|approved| {
                let here = signing::hash_at(ws, &Target::Index, &approved.what);
                here.is_ok_and(|here| here != approved.hash)
            });
            if !is_elsewhere {
                self.records.insert(record.id.clone());
                self.carried.push(record.clone());
            }
        }
    }

    pub(super) fn brief(&self) -> Vec<SealedFile> {
        let brief = |(key, work): (&(RelativePath, Group, Option<String>), &GroupFile)| {
            let (path, group, _) = key;
            SealedFile {
                path: path.clone(),
                commit: self.of.as_ref().map(|commit| commit.0.clone()),
                intent: Some(group.intent.id.clone()).filter(|intent| !intent.is_empty()),
                session: group.session.id.clone(),
                model: group.session.model.clone(),
                blocks: work.blocks.iter().map(|block| block.name.clone()).collect(),
                lines: work.lines.line_count(),
            }
        };
        self.work.iter().map(brief).collect()
    }

    /// Returns the contents of the files that hold the evidence. More than one is needed only for a
    /// very long draft.
    pub(super) fn files(&self, ws: &Workspace) -> Vec<Vec<u8>> {
        let mut intents: Vec<CitedIntent> = Vec::new();
        let mut sessions: Vec<&CitedSession> = Vec::new();
        let mut lines = Vec::new();
        for ((path, group, _), work) in &self.work {
            let hash = group.intent.hash.as_deref().and_then(evidence::long);
            let name = ws.name_then(&group.intent.id, hash.as_deref());
            let cited = CitedIntent { name, ..group.intent.clone() };
            let (intent, by) =
                (index_of(&mut intents, cited), index_of(&mut sessions, &group.session));
            lines.push(EvidenceLine {
                intent,
                by,
                time: evidence::time_of(&work.time),
                path: path.clone(),
                from: work.from.clone(),
                strength: group.strength,
                decision: group.decision.clone(),
                claimed_class: group.claimed_class.clone(),
                lines: work.lines.clone(),
                class: work.class,
                ack: group.is_ack,
                takes: work.takes.clone(),
                whole: work.whole.clone(),
                blocks: if work.whole.is_some() { Vec::new() } else { work.blocks.clone() },
                extra: Default::default(),
            });
        }
        lines.sort_by(|a, b| (&a.path, &a.time).cmp(&(&b.path, &b.time)));
        let authorship = |commit: &CommitId| {
            let git = ws.git()?;
            git.object_reader().ok()?.authorship(git.object_id(commit).ok()?).ok()
        };
        let header = Header {
            evidence: evidence::FORMAT,
            of: self.of.as_ref().map(|commit| commit.0.clone()),
            authored: self.of.as_ref().and_then(authorship),
            intents,
            sessions: sessions.into_iter().cloned().collect(),
            extra: Default::default(),
        };
        evidence::write_files(&header, lines, &self.carried, evidence::MAX_LINES)
    }
}

impl GroupFile {
    fn is_nothing(&self) -> bool {
        self.lines.is_empty() && self.blocks.is_empty() && self.whole.is_none()
    }

    /// Names a new file as a whole instead of naming its blocks, if it has more than [`MAX_NAMED`]
    /// and one group brought all of its lines. A file of 41 functions is named as a whole, one of 40
    /// is not.
    fn unite(&mut self, (before, now): TextsOfCommit<'_>) {
        let text = now.text();
        if before.is_some()
            || self.blocks.len() <= MAX_NAMED
            || self.lines.line_count() < text.lines().count()
        {
            return;
        }
        let hash = fingerprint::content_hash(&text);
        self.whole = evidence::short(hash.as_str()).map(|hash| Whole {
            lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
            hash,
            deleted: false,
        });
    }
}

fn newest_time(entries: &[&Entry]) -> String {
    let times = entries.iter().map(|entry| &entry.record.timestamp);
    times.max().cloned().unwrap_or_default()
}

pub(super) fn left_a_block(
    ws: &Workspace,
    entry: &Entry,
    path: &RelativePath,
    texts: TextsOfCommit<'_>,
) -> bool {
    let files = entry.record.files.iter().filter(|file| file.relative_path == *path);
    let files: Vec<&FileRecord> = files.collect();
    let has_left = |file: &&FileRecord| {
        let mut ranges = file.ranges().filter(|range| !range.deleted);
        ranges.any(|range| is_left_by(range, texts) || is_left_around(ws, file, range, texts))
    };
    files.iter().any(has_left) || !deleted_blocks(&files, texts).is_empty()
}

/// Returns true if a commit has the own text of a block as a record left it, and the blocks inside
/// were changed since.
fn is_left_around(
    ws: &Workspace,
    file: &FileRecord,
    range: &BlockRecord,
    (before, now): TextsOfCommit<'_>,
) -> bool {
    let own_texts = |document: &Document| -> Vec<(ContentHash, Option<ContentHash>)> {
        let blocks = document.blocks();
        let named = blocks.blocks.iter().filter(|block| range.has_name_of(block));
        let prints = named.map(|block| &block.fingerprint);
        prints.filter_map(|print| Some((print.own_text.clone()?, print.lead.clone()))).collect()
    };
    let (mut left, before) = (own_texts(now), before.map(own_texts).unwrap_or_default());
    left.retain(|text| !before.contains(text));
    let recorded = || {
        let text = kept_text(&ws.root, file.text.as_ref()?)?;
        Some(own_texts(&ws.document(&file.relative_path, &text).ok()?))
    };
    !left.is_empty() && recorded().is_some_and(|then| left.iter().any(|text| then.contains(text)))
}

/// Returns the blocks that records name as deleted and that the commit deletes. If a block of that
/// name stays, the two texts are matched. If the commit deletes several of one name, a record of
/// fewer deletions means those with its text.
fn deleted_blocks(files: &[&FileRecord], (before, now): TextsOfCommit<'_>) -> Vec<Block> {
    let deleted: Vec<&BlockRecord> =
        files.iter().flat_map(|file| file.ranges()).filter(|range| range.deleted).collect();
    let Some(before) = before.filter(|_| !deleted.is_empty()) else { return Vec::new() };
    let (old, new) = (before.blocks(), now.blocks());
    let has_name = |one: &Block, other: &Block| {
        one.identity.kind == other.identity.kind && one.identity.path == other.identity.path
    };
    let is_standing = |block: &Block| new.blocks.iter().any(|other| has_name(block, other));
    let named =
        old.blocks.iter().filter(|block| deleted.iter().any(|range| range.has_name_of(block)));
    let (mut gone, mut standing): (Vec<&Block>, Vec<&Block>) =
        named.partition(|block| !is_standing(block));
    let count = |blocks: &FileBlocks, one: &Block| {
        let text = &one.fingerprint.content;
        let all = blocks.blocks.iter();
        all.filter(|it| it.fingerprint.content == *text && has_name(it, one)).count()
    };
    standing.retain(|block| count(&old, block) > count(&new, block));
    let difference = (!standing.is_empty()).then(|| Difference::new(before, now));
    let removed = difference.iter().flat_map(Difference::removed_blocks);
    gone.extend(removed.filter(|block| standing.iter().any(|it| it.bytes == block.bytes)));
    let is_meant = |block: &&&Block| {
        let ranges: Vec<_> = deleted.iter().filter(|range| range.has_name_of(block)).collect();
        let has_text = ranges.iter().any(|range| range.content_hash == block.fingerprint.content);
        has_text || ranges.len() >= gone.iter().filter(|other| has_name(block, other)).count()
    };
    gone.iter().filter(is_meant).map(|block| (*block).clone()).collect()
}

fn is_left_by(range: &BlockRecord, (before, now): TextsOfCommit<'_>) -> bool {
    // A content hash says nothing of the lead, such as a doc comment that was removed.
    let leads = |document: &Document| -> Vec<Option<String>> {
        let blocks = document.blocks();
        let its = blocks.blocks.iter().filter(|block| {
            range.has_name_of(block) && range.content_hash == block.fingerprint.content
        });
        its.map(|block| document.slice(block.lead.clone())).collect()
    };
    let before = before.map(leads).unwrap_or_default();
    leads(now).iter().any(|lead| !before.contains(lead))
}

/// Returns the blocks of the committed file with a line of the group, those that are as a record of
/// the group left them, and those that the records name as deleted and that are gone.
fn touched_blocks(
    ws: &Workspace,
    files: &[&FileRecord],
    (before, now): TextsOfCommit<'_>,
    lines: &LineRuns,
    later: &LaterEdits,
) -> Vec<EvidenceBlock> {
    let language = now.language().map(|language| language.id);
    let brought = lines.runs().iter().flat_map(|run| run.lines.clone());
    let brought: Vec<u32> = brought.filter_map(|line| u32::try_from(line + 1).ok()).collect();
    let blocks = now.blocks();
    let ranges = || files.iter().flat_map(|file| file.ranges());
    let recorded = |(at, block): (usize, &Block)| {
        let inner = blocks.blocks.iter().filter(|inner| inner.container == Some(at));
        let inner: Vec<LineRange> = inner.map(|inner| inner.whole_lines).collect();
        let is_own = |line: &u32| {
            block.whole_lines.contains(*line) && !inner.iter().any(|inner| inner.contains(*line))
        };
        let is_its = |range: &&BlockRecord| !range.deleted && range.has_name_of(block);
        let is_left = |file: &&FileRecord| {
            let texts = (before, now);
            let mut its = file.ranges().filter(is_its);
            its.any(|range| is_left_by(range, texts) || is_left_around(ws, file, range, texts))
        };
        if !brought.iter().any(is_own) && !files.iter().any(is_left) {
            return None;
        }
        let last = ranges().filter(is_its).last();
        let textless = provenance::textless(block, language);
        let has_changed = later.unrecorded.iter().any(is_own) || later.have_changed(block);
        let is_changed_since = has_changed && !ranges().any(|range| range.has_text_of(block));
        // If somebody changed the block after its record, the record stands for the text that it
        // left, and not for the one that was committed. If that block had another name, nobody can
        // tell which text it was.
        let (content_hash, lead) = match is_changed_since {
            true => last.map(|last| (last.content_hash.clone(), last.lead.clone()))?,
            false => (textless.content_hash.clone(), textless.lead.clone()),
        };
        EvidenceBlock::from_record(&BlockRecord { content_hash, lead, ..textless })
    };
    let mut found: Vec<EvidenceBlock> =
        blocks.blocks.iter().enumerate().filter_map(recorded).collect();
    for block in deleted_blocks(files, (before, now)) {
        let range = BlockRecord { deleted: true, ..provenance::textless(&block, language) };
        found.extend(EvidenceBlock::from_record(&range));
    }
    found.sort();
    found.dedup();
    found
}

fn proven_class(
    entries: &[&Entry],
    path: &RelativePath,
    (before, now): TextsOfCommit<'_>,
) -> Option<MutationClass> {
    let refactor = Some(MutationClass::AstRefactor);
    if !entries.iter().all(|entry| entry.record.mutation_class == refactor) {
        return None;
    }
    class_of(path, before?, now).class.filter(|class| Some(*class) == refactor)
}

fn index_of<T: PartialEq>(all: &mut Vec<T>, one: T) -> u32 {
    let at = all.iter().position(|other| *other == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    });
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns where a file of evidence lies. `of` is the commit that it is about, if that is an earlier one.
pub(super) fn file_for(bytes: &[u8], of: Option<&CommitId>) -> RelativePath {
    let digest = Digest::compute(bytes);
    let Some(commit) = of else {
        let sections = evidence::read(bytes).unwrap_or_default().into_iter();
        let times = sections.flat_map(|section| section.lines).map(|(_, said)| match said {
            evidence::SectionLine::Changed(line) => line.time,
            evidence::SectionLine::Carried(record) => Some(record.timestamp),
            evidence::SectionLine::Erased(stone) => Some(stone.time),
        });
        return evidence::path_of(digest, &times.flatten().max().unwrap_or_else(clock::now));
    };
    evidence::late_path(digest, &commit.0)
}
