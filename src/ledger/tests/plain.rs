//! The ledger as it was before it had an index: everything read, every question a walk through all of it. What an
//! indexed ledger answers is held against this one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::*;
use crate::ledger::chain::{self, Link};
use crate::ledger::rows::Row;
use crate::workspace::Finding;

pub(super) struct Plain {
    pub entries: Vec<Entry>,
    counted: Vec<bool>,
    pub findings: Vec<Finding>,
}

impl Plain {
    pub fn load(root: &Root) -> Self {
        let mut entries = Vec::new();
        let mut findings = Vec::new();
        for path in read::files(root) {
            let bytes = std::fs::read(root.absolute(&path)).unwrap();
            let reading = read::bytes(&path, &bytes);
            entries.extend(reading.entries);
            findings.extend(reading.findings);
        }
        fold(&mut entries);
        let rows: Vec<Row> = entries.iter().map(Row::in_chain).collect();
        let links: Vec<Link<'_>> =
            rows.iter().zip(&entries).map(|(row, entry)| row.link(&entry.origin.path)).collect();
        let judgement = chain::judge(&links, &HashMap::new());
        findings.extend(judgement.findings);
        let remembered: HashMap<String, Head> =
            remembered_heads(root).into_iter().map(|head| (head.writer.clone(), head)).collect();
        findings.extend(remembered.values().filter_map(|head| chain::truncated(&links, head)));
        let mut own = HashSet::new();
        for head in remembered.values().filter(|head| own_writers(root).contains(&head.writer)) {
            own.extend(chain::vouched(&links, head));
        }
        let trust: Vec<Trust> = (0..links.len())
            .map(|at| match () {
                () if own.contains(&at) => Trust::Own,
                () if !links[at].intact || judgement.forked.contains(&at) => Trust::Contradicted,
                () => Trust::Claimed,
            })
            .collect();
        for (entry, trust) in entries.iter_mut().zip(trust) {
            entry.trust = trust;
        }
        let (mut kept, mut counted) = (Vec::new(), Vec::new());
        for (at, entry) in entries.into_iter().enumerate() {
            if !judgement.duplicates.contains(&at) {
                kept.push(entry);
                counted.push(!judgement.incomplete.contains(&at));
            }
        }
        Self { entries: kept, counted, findings }
    }

    fn counted(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let all = (0..).zip(&self.entries).zip(&self.counted);
        all.filter(|(_, counted)| **counted).map(|(entry, _)| entry)
    }

    /// Every claim, with its file's record and itself.
    pub fn claims(&self) -> Vec<(ClaimRef, &Entry, &FileRecord, &BlockRecord)> {
        let mut all = Vec::new();
        for (entry, of) in self.counted() {
            for (file, record) in (0..).zip(&of.record.files) {
                for (conversation, by) in (0..).zip(&record.conversations) {
                    for (range, block) in (0..).zip(&by.ranges) {
                        let at = ClaimRef { entry, file, conversation, range };
                        all.push((at, of, record, block));
                    }
                }
            }
        }
        all
    }

    pub fn paths(&self) -> Vec<RelativePath> {
        let named = self.counted().flat_map(|(_, entry)| &entry.record.files);
        let named: BTreeSet<RelativePath> = named.map(|file| file.relative_path.clone()).collect();
        named.into_iter().collect()
    }

    pub fn by_id(&self) -> BTreeMap<String, u32> {
        let mut ids = BTreeMap::new();
        for (at, entry) in self.counted().filter(|(_, entry)| !entry.record.id.is_empty()) {
            ids.entry(entry.record.id.clone()).or_insert(at);
        }
        ids
    }

    pub fn outlines_of(&self, path: &RelativePath) -> Vec<OutlineDelta> {
        let mut all: Vec<(Option<(String, String)>, OutlineDelta)> = Vec::new();
        for (_, entry) in self.counted() {
            for file in entry.record.files.iter().filter(|file| file.relative_path == *path) {
                let Some(outline) = &file.outline else { continue };
                let mutation =
                    entry.record.mutation.clone().filter(|_| entry.record.part.is_some());
                let key = mutation.map(|mutation| (entry.record.writer.clone(), mutation));
                match all.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
                    Some((_, whole)) => {
                        whole.edits.extend_from_slice(&outline.edits);
                    }
                    None => all.push((key, outline.clone())),
                }
            }
        }
        all.into_iter().map(|(_, outline)| outline).collect()
    }

    pub fn similar(&self, sketch: &crate::code::Sketch) -> Vec<ClaimRef> {
        let keys = sketch.bands();
        let mut shared: BTreeMap<ClaimRef, usize> = BTreeMap::new();
        let sketches: Vec<_> = self
            .claims()
            .into_iter()
            .filter_map(|(at, .., block)| Some((at, block.sketch.as_ref()?.bands()?)))
            .collect();
        for key in keys.into_iter().flatten() {
            let newest = sketches.iter().rev().filter(|(_, bands)| bands.contains(&key));
            for (at, _) in newest.take(256) {
                *shared.entry(*at).or_default() += 1;
            }
        }
        let mut found: Vec<(usize, ClaimRef)> = shared.into_iter().map(|(at, n)| (n, at)).collect();
        found.sort_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, at)| at).take(64).collect()
    }

    pub fn heads(&self) -> Vec<Head> {
        let mut heads: BTreeMap<&str, &Entry> = BTreeMap::new();
        let sound = |entry: &&Entry| {
            entry.dialect == Dialect::Canonical && entry.trust != Trust::Contradicted
        };
        for entry in self.entries.iter().filter(sound) {
            let head = heads.entry(&entry.record.writer).or_insert(entry);
            if head.record.seq < entry.record.seq {
                *head = entry;
            }
        }
        let head = |entry: &Entry| Head {
            writer: entry.record.writer.clone(),
            seq: entry.record.seq,
            h: entry.record.h.clone(),
        };
        heads.into_values().map(head).collect()
    }
}

fn fold(entries: &mut Vec<Entry>) {
    let place = |entry: &Entry| {
        let record = &entry.record;
        (record.writer.clone(), record.seq, entry.origin.path.clone(), entry.origin.start)
    };
    entries.sort_by_key(place);
    let mut before: Option<(String, Option<i64>)> = None;
    let mut timed: Vec<(Option<i64>, Entry)> = Vec::new();
    for entry in entries.drain(..) {
        let time: Option<jiff::Timestamp> = entry.record.timestamp.trim().parse().ok();
        let mut time = time.map(jiff::Timestamp::as_millisecond);
        let writer = entry.record.writer.clone();
        if let Some((_, earlier)) = before.filter(|(of, _)| !writer.is_empty() && *of == writer) {
            time = time.max(earlier);
        }
        before = Some((writer, time));
        timed.push((time, entry));
    }
    timed.sort_by_key(|(time, _)| *time);
    entries.extend(timed.into_iter().map(|(_, entry)| entry));
}
