//! Collects the blocks, records and contributors of the report while *verify* goes through the
//! files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::{Activity, ReportedBlock, ReportedFile, ReportedOrigin, ReportedRecord};
use evidence::verify::VerdictCounts;
use ground::RelativePath;
use ledger::{Contributor, EntityType, Entry, RecordKind, Strength, Trust};
use provenance::Verdict;
use why::Workspace;
use why::answers::{
    self, BlockAnswer, FileProvenance, OriginAnswer, RecordBrief, RecordedBlock, Which,
};

/// The maximum number of records that are listed for a block. The others are only counted.
const MAX_RECORDS: usize = 20;

/// The day, the index of the contributor, and the intent.
type ActivityKey = (Option<String>, usize, Option<String>);

/// Everything that was collected so far.
pub(super) struct Gathered {
    /// How strong each record is, by its id.
    strengths: HashMap<String, Option<Strength>>,
    pub(super) contributors: Vec<Contributor>,
    pub(super) records: Vec<ReportedRecord>,
    pub(super) origins: Vec<ReportedOrigin>,
    pub(super) files: Vec<ReportedFile>,
    /// The numbers of each intent.
    pub(super) tallies: BTreeMap<String, Tally>,
    known_contributors: HashMap<(EntityType, Option<String>, Option<String>), usize>,
    known_records: HashMap<(String, usize, Option<String>), usize>,
    /// The indices of `origins`, by commit.
    known_origins: HashMap<String, usize>,
}

/// The blocks that were recorded under one intent, and their files.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) blocks: VerdictCounts,
    /// The files that contain these blocks.
    pub(super) files: BTreeSet<RelativePath>,
}

impl Gathered {
    pub(super) fn new(ws: &Workspace) -> Self {
        let entries = ws.ledger.entries().iter();
        Self {
            strengths: entries.map(|it| (it.record.id.clone(), ws.strength(it))).collect(),
            contributors: Vec::new(),
            records: Vec::new(),
            origins: Vec::new(),
            files: Vec::new(),
            tallies: BTreeMap::new(),
            known_contributors: HashMap::new(),
            known_records: HashMap::new(),
            known_origins: HashMap::new(),
        }
    }

    pub(super) fn add_file(&mut self, ws: &Workspace, path: &RelativePath, file: &FileProvenance) {
        let answer = answers::answer(ws, path, file, Which::All);
        let mut blocks = Vec::with_capacity(answer.blocks.len());
        for (answer, found) in answer.blocks.into_iter().zip(&file.provenance) {
            // Also an intent that brought only a few lines of a block is named.
            for claim in found.shares.iter().filter_map(|share| share.claim.as_ref()) {
                if let Some(intent) = ws.intent_of(claim) {
                    self.tallies.entry(intent).or_default();
                }
            }
            if let Some(intent) = &answer.intent {
                let tally = self.tallies.entry(intent.label()).or_default();
                tally.blocks.count(found);
                tally.files.insert(path.clone());
            }
            blocks.push(self.block(path, answer));
        }
        let unrecorded = blocks.iter().filter(|block| block.verdict == Verdict::Unrecorded).count();
        let (path, owners) = (path.clone(), Vec::new());
        self.files.push(ReportedFile { path, owners, unrecorded, blocks });
    }

    fn block(&mut self, path: &RelativePath, answer: BlockAnswer) -> ReportedBlock {
        let name = &answer.qualified_name;
        let elsewhere = |recorded: &RecordedBlock| recorded.path != *path || recorded.name != *name;
        let earlier = answer.lineage.len().saturating_sub(MAX_RECORDS);
        let is_own = |brief: &&RecordBrief| answer.record.as_ref() == Some(&brief.record);
        let own = answer.lineage.iter().find(is_own).map(|brief| self.record(brief));
        if let Some(at) = own {
            self.records[at].commit.clone_from(&answer.commit);
        }
        let listed = answer.lineage.iter().take(MAX_RECORDS);
        let lineage = listed.map(|record| self.record(record)).collect();
        let candidates = answer.candidates.iter().map(|record| self.record(record)).collect();
        ReportedBlock {
            recorded: answer.recorded.filter(elsewhere),
            kind: answer.kind,
            name: answer.qualified_name,
            start_line: answer.start_line,
            end_line: answer.end_line,
            verdict: answer.verdict,
            only_inside: answer.only_inside,
            record: own,
            origin: answer.origin.map(|origin| self.origin(origin)),
            brought: answer.brought,
            newer: answer.newer,
            cut: answer.cut,
            history_missing: answer.history_missing,
            intent: answer.intent.map(|intent| intent.label()),
            suspect: answer.suspect.map(|suspect| suspect.message),
            claimed: answer.claimed,
            lineage,
            earlier,
            candidates,
        }
    }

    fn record(&mut self, candidate: &RecordBrief) -> usize {
        let contributor = self.contributor(&candidate.contributor);
        let key = (candidate.record.clone(), contributor, candidate.intent.clone());
        if let Some(at) = self.known_records.get(&key) {
            return *at;
        }
        self.records.push(ReportedRecord {
            id: candidate.record.clone(),
            kind: candidate.kind,
            intent: candidate.intent.clone(),
            contributor,
            timestamp: candidate.timestamp.clone(),
            reassigned: candidate.reassigned.clone(),
            session: candidate.session.clone(),
            commit: None,
            tool: candidate.tool.clone(),
            strength: self.strengths.get(&candidate.record).copied().flatten(),
        });
        self.known_records.insert(key, self.records.len() - 1);
        self.records.len() - 1
    }

    fn origin(&mut self, origin: OriginAnswer) -> usize {
        *self.known_origins.entry(origin.commit.id.clone()).or_insert_with(|| {
            let in_words = origin.in_words();
            self.origins.push(ReportedOrigin { origin, in_words });
            self.origins.len() - 1
        })
    }

    fn contributor(&mut self, who: &Contributor) -> usize {
        let key = (who.entity_type, who.model_identifier.clone(), who.name.clone());
        *self.known_contributors.entry(key).or_insert_with(|| {
            self.contributors.push(who.clone());
            self.contributors.len() - 1
        })
    }

    /// Returns what was recorded on each day.
    pub(super) fn activity(&mut self, ws: &Workspace) -> Vec<Activity> {
        let mut days: BTreeMap<ActivityKey, (usize, usize)> = BTreeMap::new();
        for entry in ws.ledger.entries().iter().filter(|entry| counts(entry)) {
            let record = &entry.record;
            let mut by_whom: BTreeMap<usize, usize> = BTreeMap::new();
            for conversation in record.files.iter().flat_map(|file| &file.conversations) {
                let who = self.contributor(&conversation.contributor);
                *by_whom.entry(who).or_default() += conversation.ranges.len();
            }
            for (who, blocks) in by_whom {
                let key = (day(&record.timestamp), who, ws.intent_named(entry));
                let (all_records, all_blocks) = days.entry(key).or_default();
                *all_records += 1;
                *all_blocks += blocks;
            }
        }
        let activity = |((day, contributor, intent), (records, blocks))| Activity {
            day,
            contributor,
            intent,
            records,
            blocks,
        };
        days.into_iter().map(activity).collect()
    }

    /// Sorts the files by path and fills in the intents that own them.
    pub(super) fn finish(&mut self, ws: &Workspace) {
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        for file in &mut self.files {
            let owners = ws.registry.owners(&file.path).into_iter();
            file.owners = owners.map(|intent| intent.id.value.clone()).collect();
        }
    }
}

/// Returns true if a record says that somebody wrote or accepted code, and is not known to be
/// forged.
fn counts(entry: &Entry) -> bool {
    matches!(entry.record.kind, RecordKind::Mutation | RecordKind::Ack)
        && entry.trust != Trust::Contradicted
}

fn day(timestamp: &str) -> Option<String> {
    let time: Timestamp = timestamp.parse().ok()?;
    Some(time.strftime("%Y-%m-%d").to_string())
}
