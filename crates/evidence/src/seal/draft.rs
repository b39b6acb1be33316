//! Groups the blocks of a commit by intent, session and file, and writes them as evidence.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{SealedFile, is_carried};
use crate::signing;
use code::{Document, FileBlocks, fingerprint};
use ground::git::Target;
use ground::{CommitId, RelativePath, clock, store};
use intents::Registry;
use ledger::evidence::{
    self, CitedIntent, CitedSession, Digest, EvidenceBlock, EvidenceLine, Header, Whole,
};
use ledger::{
    BlockName, BlockRecord, ClaimRef, Conversation, EVIDENCE_FOLDER, Entry, Ledger, Record,
    RecordKind, RecordedDecision, Strength,
};
use why::baseline::Baseline;
use why::{VerbError, Workspace};

/// A new file with more blocks than this is named as a whole, if one session wrote all of it.
const MAX_NAMED: usize = 40;

pub(super) fn folder() -> RelativePath {
    RelativePath::new(EVIDENCE_FOLDER).expect("a fixed name is a path")
}

/// The properties that all blocks in one line of evidence share, apart from the file. If two
/// sessions worked on a file under INT-001, these are two groups, and the file gets two lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    /// The intent, without its name.
    intent: CitedIntent,
    session: CitedSession,
    strength: Option<Strength>,
    decision: Option<RecordedDecision>,
    claimed_class: Option<String>,
    is_ack: bool,
}

impl Group {
    pub(super) fn for_entry(entry: &Entry, conversation: &Conversation) -> Self {
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

/// The blocks of one group in one file.
#[derive(Clone, Debug, Default)]
struct GroupFile {
    from: Option<RelativePath>,
    blocks: Vec<DraftedBlock>,
    whole: Option<Whole>,
}

/// A block that a record claims.
#[derive(Clone, Debug)]
struct DraftedBlock {
    /// The time of that record.
    time: String,
    range: BlockRecord,
    /// The number of the block's own lines, without those of inner blocks.
    own: usize,
}

impl GroupFile {
    /// Distributes the blocks over lines of evidence, each with a time. Lines are read in the order
    /// of their times. So a block that other groups claim as well gets a line with the time of its
    /// own record; all other blocks share one line.
    ///
    /// For example, INT-001 wrote `a` at 10:00, `b` at 11:00 and `c` at 12:00, and INT-002 wrote
    /// lines of `a` at 10:30. INT-001 gets one line for `a` at 10:00, so that the edit of INT-002
    /// follows it, and one for `b` and `c` at 12:00.
    fn lines(
        &self,
        is_contested: impl Fn(&DraftedBlock) -> bool,
    ) -> Vec<(&str, Vec<&DraftedBlock>)> {
        let (contested, rest): (Vec<_>, Vec<_>) =
            self.blocks.iter().partition(|block| is_contested(block));
        let last = rest.iter().map(|block| block.time.as_str()).max();
        let mut lines: BTreeMap<&str, Vec<&DraftedBlock>> = BTreeMap::new();
        for block in contested {
            lines.entry(&block.time).or_default().push(block);
        }
        last.map(|last| (last, rest)).into_iter().chain(lines).collect()
    }
}

/// The evidence for one change, before it is written to a file.
#[derive(Default)]
pub(super) struct Draft {
    /// The earlier commit that the evidence is about. `None` for the commit that is being made.
    pub of: Option<CommitId>,
    work: BTreeMap<(RelativePath, Group), GroupFile>,
    /// The records that the commit carries unchanged.
    carried: Vec<Record>,
    /// The ids of the records that the draft is made from, and of the earlier records of the same
    /// blocks.
    pub records: BTreeSet<String>,
    /// Whether the time ran out before the whole change was searched.
    pub incomplete: bool,
}

impl Draft {
    /// Makes a draft of a change that there was no time to search.
    pub(super) fn unsearched() -> Self {
        Self { incomplete: true, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.work.is_empty() && self.carried.is_empty()
    }

    /// Returns true if the whole change was searched and nothing was found.
    pub(super) fn is_nothing(&self) -> bool {
        self.is_empty() && !self.incomplete
    }

    pub(super) fn add_claim(
        &mut self,
        ledger: &Ledger,
        path: &RelativePath,
        from: Option<&RelativePath>,
        claim: ClaimRef,
        range: BlockRecord,
        own: usize,
    ) {
        let claim = ledger.claim(claim);
        let record = &claim.entry.record;
        self.records.insert(record.id.clone());
        let group = Group::for_entry(claim.entry, claim.conversation);
        let work = self.work.entry((path.clone(), group)).or_default();
        work.from = from.cloned();
        work.blocks.push(DraftedBlock { time: record.timestamp.clone(), range, own });
    }

    pub(super) fn note(&mut self, claims: impl Iterator<Item = ClaimRef>, ledger: &Ledger) {
        for at in claims {
            let entry = ledger.claim(at).entry;
            // Skips records that were sealed on another branch, since they belong to a commit
            // there.
            if ledger.is_unsealed(entry) {
                self.records.insert(entry.record.id.clone());
            }
        }
    }

    /// Adds the records that are not about changes of files; a commit carries them unchanged. A
    /// record of a change to an intent is added only if that intent in the index differs from the
    /// commit on which the record was made. So no commit carries the record of an `intent new` that
    /// was undone by `git reset --hard`.
    pub(super) fn carry(&mut self, ws: &Workspace, ledger: &Ledger) {
        let Some(git) = ws.git() else { return };
        let index = LazyCell::new(|| Registry::at_target(git, &Target::Index).ok());
        for entry in ledger.open().filter(|entry| is_carried(entry)) {
            let record = &entry.record;
            let base = record.vcs.as_ref().and_then(|vcs| vcs.revision_id.clone());
            let of_intent =
                record.intent_id.as_ref().filter(|_| record.kind == RecordKind::Registry);
            if let (Some(id), Some(base)) = (of_intent, base)
                && let (Some(before), Some(now)) = (ws.registry_at(&CommitId(base)), index.as_ref())
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
            if is_elsewhere {
                continue;
            }
            self.records.insert(record.id.clone());
            self.carried.push(record.clone());
        }
    }

    /// Omits everything that readers can derive from the texts before and after the change: the
    /// parameter types of blocks whose kind and name are unique in the file, and all blocks of a
    /// new file if it can be named as a whole. For example, `add(int, int)` becomes `add`, unless
    /// the file has or had another method `add`.
    pub(super) fn shorten(&mut self, path: &RelativePath, baseline: &Baseline, now: &Document) {
        let texts = baseline.versions().iter().chain([now]);
        let overloaded: HashSet<_> = texts.flat_map(|text| overloaded(&text.blocks())).collect();
        let here = self.work.iter_mut().filter(|((of, _), _)| of == path);
        let names =
            here.flat_map(|(_, work)| &mut work.blocks).flat_map(|block| &mut block.range.block);
        for name in names {
            if !overloaded.contains(&(name.kind.clone(), name.path.clone())) {
                name.parameters = None;
            }
        }
        self.unite(path, baseline, now);
    }

    /// Names a new file as a whole instead of naming its blocks, if it has more than [`MAX_NAMED`]
    /// and one group wrote all of them. A file of 41 functions is named as a whole, one of 40 is
    /// not.
    fn unite(&mut self, path: &RelativePath, baseline: &Baseline, now: &Document) {
        let blocks = now.blocks().blocks.len();
        if blocks <= MAX_NAMED || !baseline.is_empty() {
            return;
        }
        let mut here = self.work.iter_mut().filter(|((of, _), _)| of == path);
        let (Some((_, work)), None) = (here.next(), here.next()) else { return };
        let is_all = |block: &DraftedBlock| {
            let range = &block.range;
            range.brought.is_none() && range.recorded.is_none() && !range.deleted
        };
        if work.blocks.len() == blocks && work.blocks.iter().all(is_all) {
            let text = now.text();
            let hash = fingerprint::content_hash(&text);
            work.whole = evidence::short(hash.as_str()).map(|hash| Whole {
                lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
                hash,
                deleted: false,
            });
        }
    }

    pub(super) fn brief(&self) -> Vec<SealedFile> {
        let brief = |((path, group), work): (&(RelativePath, Group), &GroupFile)| SealedFile {
            path: path.clone(),
            commit: self.of.as_ref().map(|commit| commit.0.clone()),
            intent: Some(group.intent.id.clone()).filter(|intent| !intent.is_empty()),
            session: group.session.id.clone(),
            model: group.session.model.clone(),
            blocks: work
                .blocks
                .iter()
                .filter_map(|block| Some(block.range.block.as_ref()?.path.clone()))
                .collect(),
        };
        self.work.iter().map(brief).collect()
    }

    pub(super) fn bytes(&self, ws: &Workspace) -> Vec<u8> {
        let mut intents: Vec<CitedIntent> = Vec::new();
        let mut sessions: Vec<&CitedSession> = Vec::new();
        let mut claimed: HashMap<_, BTreeSet<&Group>> = HashMap::new();
        for ((path, group), work) in &self.work {
            for block in &work.blocks {
                claimed.entry((path, place_of(block))).or_default().insert(group);
            }
        }
        let mut lines = Vec::new();
        for ((path, group), work) in &self.work {
            let hash = group.intent.hash.as_deref().and_then(evidence::long);
            let name = ws.name_then(&group.intent.id, hash.as_deref());
            let cited = CitedIntent { name, ..group.intent.clone() };
            let (intent, by) =
                (index_of(&mut intents, cited), index_of(&mut sessions, &group.session));
            let is_contested = |block: &DraftedBlock| claimed[&(path, place_of(block))].len() > 1;
            for (time, blocks) in work.lines(is_contested) {
                let blocks = blocks.into_iter().filter(|_| work.whole.is_none());
                lines.push(EvidenceLine {
                    intent,
                    by,
                    time: evidence::time_of(time),
                    path: path.clone(),
                    from: work.from.clone(),
                    strength: group.strength,
                    decision: group.decision.clone(),
                    claimed_class: group.claimed_class.clone(),
                    ack: group.is_ack,
                    whole: work.whole.clone(),
                    blocks: blocks
                        .filter_map(|block| EvidenceBlock::from_record(&block.range, block.own))
                        .collect(),
                    extra: Default::default(),
                });
            }
        }
        lines.sort_by(|a, b| (&a.path, &a.time).cmp(&(&b.path, &b.time)));
        let header = Header {
            evidence: evidence::FORMAT,
            of: self.of.as_ref().map(|commit| commit.0.clone()),
            intents,
            sessions: sessions.into_iter().cloned().collect(),
            extra: Default::default(),
        };
        evidence::write(header, lines, &self.carried)
    }
}

/// Returns the kinds and names that more than one block has.
fn overloaded(blocks: &FileBlocks) -> HashSet<(String, String)> {
    let mut seen = HashSet::new();
    let names = blocks.blocks.iter().map(|block| &block.identity);
    let again = names.filter(|one| !seen.insert((one.kind, &one.path)));
    again.map(|one| (one.kind.as_str().to_owned(), one.path.clone())).collect()
}

/// Returns what identifies a block within its file.
fn place_of(block: &DraftedBlock) -> (Option<&BlockName>, u32) {
    (block.range.block.as_ref(), block.range.start_line)
}

fn index_of<T: PartialEq>(all: &mut Vec<T>, one: T) -> u32 {
    let at = all.iter().position(|other| *other == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    });
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Writes a file of evidence into the work tree and returns its path.
pub(super) fn write(ws: &Workspace, bytes: &[u8]) -> Result<RelativePath, VerbError> {
    let time = evidence::read(bytes).ok().and_then(|sections| {
        let lines = sections.into_iter().flat_map(|section| section.lines);
        let times = lines.map(|(_, said)| match said {
            evidence::SectionLine::Changed(line) => line.time,
            evidence::SectionLine::Carried(record) => Some(record.timestamp),
            evidence::SectionLine::Erased(stone) => Some(stone.time),
        });
        times.flatten().max()
    });
    let path = evidence::path_of(Digest::compute(bytes), &time.unwrap_or_else(clock::now));
    store::write_atomic(&ws.root.absolute(&path), bytes)?;
    Ok(path)
}
