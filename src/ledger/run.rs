//! A run: an index of whole files, or of what has been appended to them, as one image of bytes.
//!
//! A ledger is looked up in a few runs. A run is made once and never changed; it stands in memory, or in a file of the
//! private folder (see `keep`). It holds no record: what an entry says is read from the ledger itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::chain::{self, DIGEST, Judgement, Link};
use super::files::{FileRows, Resume, Stamp, Sum};
use super::image::{self, Section};
use super::pages::{Bytes, Damaged};
use super::rows::{Kind, Row, index, key, key_of_head};
use super::table::Table;
use crate::code::fingerprint::BANDS;
use crate::workspace::{Finding, RelativePath};

/// What tells entries' order: see `fold`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct FoldKey {
    pub time: Option<i64>,
    pub writer: String,
    pub seq: u64,
    pub path: RelativePath,
    pub start: u64,
}

/// The same, borrowed.
pub(super) type FoldOrder<'a> = (Option<i64>, &'a str, u64, &'a RelativePath, u64);

/// Where a chain stands at the end of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChainEnd {
    pub writer: String,
    /// Nothing at all is wrong with it.
    pub sound: bool,
    /// Some mutation in it was written in parts.
    pub parted: bool,
    pub seq: u64,
    pub h: String,
    /// What its last entry counts as in the order of time.
    pub time: Option<i64>,
}

/// A file, or its end, in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileMeta {
    pub path: RelativePath,
    pub from: u64,
    pub to: u64,
    pub before: Option<Sum>,
    pub stamp: Option<Stamp>,
    pub resume: Option<Resume>,
    /// Chains that have an entry in this part of the file.
    pub chains: Vec<ChainEnd>,
}

/// What is known of a run without looking into it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Meta {
    /// Some chain stands in several files, so that no file can be judged by itself.
    pub entangled: bool,
    pub files: Vec<FileMeta>,
    /// Of its first and its last entry.
    pub ends: Option<(FoldKey, FoldKey)>,
    pub entries: u32,
    claims: u32,
    writers: Vec<String>,
    entries_at: u64,
    claims_at: u64,
    findings: Section,
    paths: Section,
    intents: Section,
    claim_keys: Table,
    entry_keys: Table,
    bands: Vec<Table>,
}

/// An index of some files.
#[derive(Debug)]
pub(super) struct Run {
    pub meta: Meta,
    /// Where it is kept; `None` while it is in memory alone.
    pub kept: Option<PathBuf>,
    bytes: Bytes,
    bands: Mutex<BandsAsked>,
}

/// What was looked up of bands. A run never changes, so this outlives the state of the ledger that was asked: after a
/// record, blocks are looked up again, and only among what is new.
#[derive(Debug, Default)]
struct BandsAsked {
    rows: HashMap<(usize, u32), Arc<[u32]>>,
    /// About how many numbers it holds.
    size: usize,
}

impl BandsAsked {
    /// About 10 MB.
    const MAX_SIZE: usize = 1 << 20;
    /// What a key takes beside its rows.
    const OF_KEY: usize = 16;

    fn keep(&mut self, band: (usize, u32), rows: &Arc<[u32]>) {
        if self.size >= Self::MAX_SIZE {
            *self = Self::default();
        }
        self.size += Self::OF_KEY + rows.len();
        self.rows.insert(band, Arc::clone(rows));
    }
}

/// An entry as a run holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// Index in [`Meta::files`].
    pub file: u32,
    pub line: u32,
    pub start: u64,
    pub length: u32,
    pub seq: u64,
    pub time: Option<i64>,
    pub digest: [u8; DIGEST],
    writer: u32,
    flags: u32,
}

const INTACT: u32 = 1;
const CONTRADICTED: u32 = 2;
const COUNTED: u32 = 4;
/// Bytes of a [`Stored`].
const STORED: usize = 60;
/// Bytes of a claim: entry, file, conversation, range.
const CLAIM: usize = 16;
/// Bytes of a band's key: its lanes.
const LANES: u8 = 3;
const NO_TIME: i64 = i64::MIN;
/// Of claims that share one band only the newest so many are looked at: what thousands have in common says nothing.
pub(super) const MAX_IN_BAND: usize = 256;

impl Stored {
    pub fn is_intact(&self) -> bool {
        self.flags & INTACT != 0
    }
    pub fn is_contradicted(&self) -> bool {
        self.flags & CONTRADICTED != 0
    }
    pub fn is_counted(&self) -> bool {
        self.flags & COUNTED != 0
    }

    fn put(&self, image: &mut Vec<u8>) {
        for number in [self.file, self.line, self.length, self.writer, self.flags] {
            image.extend_from_slice(&number.to_be_bytes());
        }
        for number in [self.start, self.seq, self.time.unwrap_or(NO_TIME).cast_unsigned()] {
            image.extend_from_slice(&number.to_be_bytes());
        }
        image.extend_from_slice(&self.digest);
    }

    fn take(bytes: &[u8]) -> Self {
        let small = |at: usize| image::number(&bytes[at * 4..at * 4 + 4]) as u32;
        let large = |at: usize| image::number(&bytes[20 + at * 8..28 + at * 8]);
        let mut digest = [0; DIGEST];
        digest.copy_from_slice(&bytes[44..STORED]);
        let time = large(2).cast_signed();
        Self {
            file: small(0),
            line: small(1),
            length: small(2),
            writer: small(3),
            flags: small(4),
            start: large(0),
            seq: large(1),
            time: (time != NO_TIME).then_some(time),
            digest,
        }
    }
}

/// What is built, and whether it may be used.
pub(super) struct Built {
    pub run: Run,
    /// Files of which the appended part does not simply follow on what was there: they must be read as a whole.
    pub unsound: Vec<RelativePath>,
}

impl Run {
    /// Of files as they were read. `known` are the chains that go on in the appended part of a file, by writer.
    pub fn build(
        files: Vec<FileRows>,
        known: &HashMap<String, ChainEnd>,
        entangled: bool,
    ) -> Built {
        let all: Vec<(u32, &Row)> = (0..)
            .zip(&files)
            .flat_map(|(at, file): (u32, &FileRows)| file.rows.iter().map(move |row| (at, row)))
            .collect();
        let path = |at: u32| &files[at as usize].path;
        let links: Vec<Link<'_>> = all.iter().map(|(at, row)| row.link(path(*at))).collect();
        let before = known.iter().map(|(writer, end)| (writer.as_str(), (end.seq, end.h.as_str())));
        let judgement = chain::judge(&links, &before.collect());
        let (order, times) = fold(&links, &all, known);
        let mut builder = Builder::default();
        for &at in order.iter().filter(|at| !judgement.duplicates.contains(at)) {
            let (file, row) = all[at];
            let mut flags = 0;
            if row.intact {
                flags |= INTACT;
            }
            if !row.intact || judgement.forked.contains(&at) {
                flags |= CONTRADICTED;
            }
            if !judgement.incomplete.contains(&at) {
                flags |= COUNTED;
            }
            builder.add(file, row, times[at], flags);
        }
        let key_of = |at: &usize| FoldKey {
            time: times[*at],
            writer: links[*at].writer.to_owned(),
            seq: links[*at].seq,
            path: links[*at].path.clone(),
            start: links[*at].start,
        };
        let mut kept = order.iter().filter(|at| !judgement.duplicates.contains(at));
        let first = kept.next().map(key_of);
        let ends = first.map(|first| (first.clone(), kept.next_back().map_or(first, key_of)));
        let (chains, unsound) = chain_ends(&files, &links, &order, &times, &judgement, known);
        let scanned = files.iter().flat_map(|file| file.findings.iter().cloned());
        let findings: Vec<Finding> = scanned.chain(judgement.findings).collect();
        let files = files.into_iter().zip(chains).map(|(file, chains)| FileMeta {
            path: file.path,
            from: file.from,
            to: file.to,
            before: file.before,
            stamp: file.stamp,
            resume: file.resume,
            chains,
        });
        Built { run: builder.finish(files.collect(), ends, &findings, entangled), unsound }
    }

    /// From a file of the private folder; `None` where it is not, or not one of ours, or not whole.
    pub fn open(path: &Path) -> Option<Self> {
        let (bytes, meta) = image::open::<Meta>(path)?;
        let run = Self { meta, kept: Some(path.to_owned()), bytes, bands: Mutex::default() };
        let fits = |at: u64, count: u32, size: usize| {
            run.bytes.length() >= at.saturating_add(u64::from(count) * size as u64)
        };
        let whole = fits(run.meta.entries_at, run.meta.entries, STORED)
            && fits(run.meta.claims_at, run.meta.claims, CLAIM)
            && run.meta.bands.len() == BANDS;
        whole.then_some(run)
    }

    /// The same run, kept in a file; in memory as before where that cannot be written.
    pub fn keep(self, path: &Path) -> Self {
        let Bytes::Hand(image) = self.bytes else { return self };
        let bytes = image::keep(image, &self.meta, path);
        let kept = matches!(bytes, Bytes::Disk { .. }).then(|| path.to_owned());
        Self { bytes, kept, ..self }
    }

    /// Bytes of the ledger that it is about.
    pub fn covers(&self) -> u64 {
        self.meta.files.iter().map(|file| file.to.saturating_sub(file.from)).sum()
    }

    /// The entry at a place in this run's own order.
    pub fn entry(&self, at: u32) -> Result<Stored, Damaged> {
        let from = self.meta.entries_at + u64::from(at) * STORED as u64;
        Ok(Stored::take(&self.bytes.read(from, STORED)?))
    }

    /// All entries.
    pub fn entries(&self) -> Result<Vec<Stored>, Damaged> {
        let all = self.bytes.read(self.meta.entries_at, self.meta.entries as usize * STORED)?;
        Ok(all.chunks_exact(STORED).map(Stored::take).collect())
    }

    /// What orders an entry among those of other runs.
    pub fn fold_key(&self, entry: &Stored) -> Result<FoldOrder<'_>, Damaged> {
        let writer = self.meta.writers.get(entry.writer as usize).ok_or(Damaged)?;
        Ok((entry.time, writer, entry.seq, &self.file(entry)?.path, entry.start))
    }

    /// The file that an entry stands in.
    pub fn file(&self, entry: &Stored) -> Result<&FileMeta, Damaged> {
        self.meta.files.get(entry.file as usize).ok_or(Damaged)
    }

    /// Rows of the claims that have the key, in this run's order.
    pub fn claims_with(&self, key: u64) -> Result<Vec<u32>, Damaged> {
        self.meta.claim_keys.rows(&self.bytes, key)
    }

    /// Rows of the last claims that have a band's key, at most [`MAX_IN_BAND`], in this run's order.
    pub fn last_in_band(&self, band: usize, key: u32) -> Result<Arc<[u32]>, Damaged> {
        let asked = || self.bands.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = asked().rows.get(&(band, key)) {
            return Ok(Arc::clone(known));
        }
        let table = self.meta.bands.get(band).ok_or(Damaged)?;
        let rows = table.last_rows(&self.bytes, key_in_band(key), MAX_IN_BAND)?.into();
        asked().keep((band, key), &rows);
        Ok(rows)
    }

    /// Rows of all claims that have a band's key, in this run's order.
    pub fn all_in_band(&self, band: usize, key: u32) -> Result<Vec<u32>, Damaged> {
        let table = self.meta.bands.get(band).ok_or(Damaged)?;
        table.rows(&self.bytes, key_in_band(key))
    }

    /// Entry, file, conversation and range of claims, of which the rows are given in order.
    pub fn claims(&self, rows: &[u32]) -> Result<Vec<[u32; 4]>, Damaged> {
        /// Claims that are read at once.
        const BLOCK: u32 = 256;
        let mut found = Vec::with_capacity(rows.len());
        let mut block: (u32, Vec<u8>) = (0, Vec::new());
        for &row in rows {
            if row >= self.meta.claims {
                return Err(Damaged);
            }
            let place = |row: u32| self.meta.claims_at + u64::from(row) * CLAIM as u64;
            let bytes = if rows.len() < 4 {
                self.bytes.read(place(row), CLAIM)?
            } else {
                if row < block.0 || ((row - block.0) as usize + 1) * CLAIM > block.1.len() {
                    let count = BLOCK.min(self.meta.claims - row);
                    block = (row, self.bytes.read(place(row), count as usize * CLAIM)?);
                }
                let at = (row - block.0) as usize * CLAIM;
                block.1[at..at + CLAIM].to_vec()
            };
            let part = |at: usize| image::number(&bytes[at * 4..at * 4 + 4]) as u32;
            found.push([part(0), part(1), part(2), part(3)]);
        }
        Ok(found)
    }

    /// Entries that have the key, in this run's order, each once.
    pub fn entries_with(&self, key: u64) -> Result<Vec<u32>, Damaged> {
        let mut rows = self.meta.entry_keys.rows(&self.bytes, key)?;
        rows.dedup();
        Ok(rows)
    }

    /// What is wrong in its files and chains.
    pub fn findings(&self) -> Result<Vec<Finding>, Damaged> {
        image::findings(&self.bytes, self.meta.findings)
    }

    /// Paths that its entries name, sorted.
    pub fn paths(&self) -> Result<Vec<RelativePath>, Damaged> {
        self.meta.paths.read(&self.bytes)
    }

    /// Intents that its entries name, sorted.
    pub fn intents(&self) -> Result<Vec<String>, Damaged> {
        self.meta.intents.read(&self.bytes)
    }
}

/// A band's key without the band, which has a table of its own.
fn key_in_band(key: u32) -> u64 {
    u64::from(key & 0x00ff_ffff)
}

/// Sorts into fold order: time, writer, sequence; entries without a time that can be read come first, as they stand in their files.
///
/// Within a chain the sequence is the truth and time a claim: where a clock was set back, a record counts as no
/// earlier than the one before it. The order, and what each counts as.
fn fold(
    links: &[Link<'_>],
    all: &[(u32, &Row)],
    known: &HashMap<String, ChainEnd>,
) -> (Vec<usize>, Vec<Option<i64>>) {
    let mut times: Vec<Option<i64>> = all.iter().map(|(_, row)| row.time).collect();
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by(|&a, &b| place_in_chain(&links[a]).cmp(&place_in_chain(&links[b])));
    for place in 0..order.len() {
        let at = order[place];
        let writer = links[at].writer;
        let before = place.checked_sub(1).map(|before| order[before]);
        let earliest = match before.filter(|&before| links[before].writer == writer) {
            Some(before) => times[before],
            None => known.get(writer).and_then(|end| end.time),
        };
        if !writer.is_empty() {
            times[at] = times[at].max(earliest);
        }
    }
    // Stable, so that equal times keep the order of writer and sequence, or of file and place.
    order.sort_by_key(|&at| times[at]);
    (order, times)
}

fn place_in_chain<'a>(link: &Link<'a>) -> (&'a str, u64, &'a RelativePath, u64) {
    (link.writer, link.seq, link.path, link.start)
}

/// Where the chains of each file stand, and the files in which one that goes on is not as it should be.
fn chain_ends(
    files: &[FileRows],
    links: &[Link<'_>],
    order: &[usize],
    times: &[Option<i64>],
    judgement: &Judgement,
    known: &HashMap<String, ChainEnd>,
) -> (Vec<Vec<ChainEnd>>, Vec<RelativePath>) {
    let mut ends: Vec<BTreeMap<&str, ChainEnd>> = vec![BTreeMap::new(); files.len()];
    let mut file_of: HashMap<&RelativePath, usize> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        file_of.insert(&file.path, at);
    }
    for &at in order.iter().filter(|&&at| links[at].canonical) {
        let link = &links[at];
        let file = file_of[link.path];
        let goes_on = known.get(link.writer).filter(|_| files[file].from > 0);
        let end = ends[file].entry(link.writer).or_insert_with(|| ChainEnd {
            writer: link.writer.to_owned(),
            sound: goes_on.is_none_or(|end| end.sound),
            parted: goes_on.is_some_and(|end| end.parted),
            seq: 0,
            h: String::new(),
            time: None,
        });
        let wrong =
            [&judgement.duplicates, &judgement.forked, &judgement.incomplete, &judgement.misplaced];
        let again_parted = link.part.is_some() && goes_on.is_some_and(|end| end.parted);
        let good = link.intact && !again_parted && !wrong.iter().any(|set| set.contains(&at));
        end.sound &= good;
        end.parted |= link.part.is_some();
        if link.seq >= end.seq {
            (end.seq, end.h) = (link.seq, link.h.to_owned());
        }
        end.time = end.time.max(times[at]);
    }
    let broken = |(file, ends): (&FileRows, &BTreeMap<&str, ChainEnd>)| {
        let goes_on = |end: &&ChainEnd| known.contains_key(&end.writer);
        let unsound = file.from > 0 && ends.values().filter(goes_on).any(|end| !end.sound);
        unsound.then(|| file.path.clone())
    };
    let unsound = files.iter().zip(&ends).filter_map(broken).collect();
    (ends.into_iter().map(|ends| ends.into_values().collect()).collect(), unsound)
}

/// Gathers what goes into the image.
#[derive(Default)]
struct Builder {
    entries: Vec<u8>,
    claims: Vec<u8>,
    claim_keys: Vec<(u64, u32)>,
    entry_keys: Vec<(u64, u32)>,
    bands: Vec<(u32, [u32; BANDS])>,
    writers: HashMap<String, u32>,
    paths: BTreeSet<RelativePath>,
    intents: BTreeSet<String>,
}

impl Builder {
    fn add(&mut self, file: u32, row: &Row, time: Option<i64>, flags: u32) {
        let at = index(self.entries.len() / STORED);
        let next = index(self.writers.len());
        let writer = match self.writers.get(&row.writer) {
            Some(known) => *known,
            None => *self.writers.entry(row.writer.clone()).or_insert(next),
        };
        let stored = Stored {
            file,
            line: row.line,
            start: row.start,
            // A span beyond 16 MiB is not read.
            length: index((row.end - row.start) as usize),
            seq: row.seq,
            time,
            digest: row.digest,
            writer,
            flags,
        };
        stored.put(&mut self.entries);
        if let Some(intent) = &row.intent {
            self.entry_keys.push((key(Kind::EntriesOfIntent, &[intent]), at));
            if !self.intents.contains(intent) {
                self.intents.insert(intent.clone());
            }
        }
        for path in &row.paths {
            self.entry_keys.push((key(Kind::EntriesOfPath, &[path.as_str()]), at));
        }
        if row.canonical {
            self.entry_keys.push((key_of_head(&row.writer, row.seq, &row.h), at));
        }
        if stored.is_counted() {
            self.add_counted(at, row);
        }
    }

    fn add_counted(&mut self, at: u32, row: &Row) {
        if !row.id.is_empty() {
            self.entry_keys.push((key(Kind::Id, &[&row.id]), at));
        }
        for path in &row.paths {
            self.entry_keys.push((key(Kind::Named, &[path.as_str()]), at));
            if !self.paths.contains(path) {
                self.paths.insert(path.clone());
            }
        }
        self.entry_keys.extend(row.outlines.iter().map(|key| (*key, at)));
        let first = index(self.claims.len() / CLAIM);
        for [file, conversation, range] in &row.claims {
            for number in [at, *file, *conversation, *range] {
                self.claims.extend_from_slice(&number.to_be_bytes());
            }
        }
        self.claim_keys.extend(row.claim_keys.iter().map(|(key, claim)| (*key, first + claim)));
        self.bands.extend(row.bands.iter().map(|(claim, bands)| (first + claim, *bands)));
    }

    fn finish(
        self,
        files: Vec<FileMeta>,
        ends: Option<(FoldKey, FoldKey)>,
        findings: &[Finding],
        entangled: bool,
    ) -> Run {
        let mut image = self.entries;
        let entries = index(image.len() / STORED);
        let claims_at = image.len() as u64;
        let claims = index(self.claims.len() / CLAIM);
        image.extend_from_slice(&self.claims);
        drop(self.claims);
        let claim_keys = Table::put(&mut image, 8, self.claim_keys);
        let entry_keys = Table::put(&mut image, 8, self.entry_keys);
        let in_band = |band: usize| {
            let lanes = |(row, keys): &(u32, [u32; BANDS])| (key_in_band(keys[band]), *row);
            self.bands.iter().map(lanes).collect::<Vec<_>>()
        };
        let bands = (0..BANDS).map(|band| Table::put(&mut image, LANES, in_band(band))).collect();
        let mut writers = vec![String::new(); self.writers.len()];
        for (name, at) in self.writers {
            writers[at as usize] = name;
        }
        let findings = image::put_findings(&mut image, findings);
        let paths = Section::put(&mut image, &Vec::from_iter(self.paths));
        let intents = Section::put(&mut image, &Vec::from_iter(self.intents));
        let meta = Meta {
            entangled,
            files,
            ends,
            entries,
            claims,
            writers,
            entries_at: 0,
            claims_at,
            findings,
            paths,
            intents,
            claim_keys,
            entry_keys,
            bands,
        };
        Run { meta, kept: None, bytes: Bytes::Hand(image), bands: Mutex::default() }
    }
}
