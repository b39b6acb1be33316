//! The ledger as it is asked: entries, and look-ups by hash, path, intent and block. No question scans it.
//!
//! Nothing of a record is in memory before somebody asks for it. What leads to it is an index (`assembly`, `run`) which
//! is kept beside the clone's other private files, and is made from the ledger whenever it is not there or not right:
//! an answer is the same with it and without.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use super::assembly::{Chain, Index, Memory, Place, Source};
use super::chain::{self, Head, Link};
use super::files::{self, FileRows, Stamp};
use super::keep::Keeper;
use super::memo::Memo;
use super::pages::{Damaged, read_from};
use super::rows::{Kind, index, is_content_hash, key, key_of_called, key_of_head};
use super::run::Stored;
use super::{
    BlockRecord, Conversation, Dialect, Entry, FileRecord, Origin, OutlineDelta, Record, Trust,
    read, scan,
};
use crate::code::{ContentHash, ShapeHash, Sketch, TokenHash};
use crate::workspace::{Finding, RelativePath, Root};

/// [`Ledger::similar`] answers at most this many.
pub const MAX_SIMILAR: usize = 64;

/// One recorded block: entry, file, conversation and range by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClaimRef {
    /// Index in [`Ledger::entries`].
    pub entry: u32,
    /// Index in its files.
    pub file: u32,
    /// Index in the file's conversations.
    pub conversation: u32,
    /// Index in the conversation's ranges.
    pub range: u32,
}

/// An outline that is recorded of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlined {
    /// The record, or all parts of it: indices in [`Ledger::entries`].
    pub entries: Vec<u32>,
    /// The outline.
    pub delta: OutlineDelta,
}

/// A [`ClaimRef`] resolved.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The record and where it stands.
    pub entry: &'a Entry,
    /// The file in it.
    pub file: &'a FileRecord,
    /// Who wrote.
    pub conversation: &'a Conversation,
    /// The block.
    pub range: &'a BlockRecord,
}

/// All entries of a workspace, in fold order (time, then writer and sequence), with their indices.
#[derive(Debug)]
pub struct Ledger {
    index: Arc<Index>,
    asked: Asked,
    /// What was asked of the state before, where it still stands in the same run: a record is no reason to read all the
    /// others again.
    before: HashMap<Place, Arc<Entry>>,
    /// The same ledger read without anything kept, where what was kept turned out to be damaged.
    sound: OnceLock<Box<Ledger>>,
}

/// What has been asked for, and so is in memory.
#[derive(Debug, Default)]
struct Asked {
    /// By hundreds, so that what is not asked for takes no room.
    entries: OnceLock<Vec<OnceLock<Box<Hundred>>>>,
    claims: Memo<Vec<ClaimRef>>,
    /// Of chains that something is wrong with, where the entries begin that this clone's own heads lead back to.
    vouched: Memo<HashSet<(RelativePath, u64)>>,
    /// Files read again for the sake of such chains.
    rows: Memo<FileRows>,
    findings: OnceLock<Vec<Finding>>,
    paths: OnceLock<Vec<RelativePath>>,
}

const PAGE: usize = 128;
type Hundred = [OnceLock<Arc<Entry>>; PAGE];

/// The entries of a ledger; each is read when it is looked at.
#[derive(Clone, Copy)]
pub struct Entries<'a> {
    ledger: &'a Ledger,
    from: u32,
    to: u32,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::from_files(&[])
    }
}

impl Ledger {
    /// Opens the ledger of a workspace: what is kept of it, and every file that is not as it was then.
    pub fn load(root: &Root) -> Self {
        Self::with(root, Keeper::of(root).as_ref())
    }

    pub(super) fn with(root: &Root, keeper: Option<&Keeper>) -> Self {
        let known = keeper.map(Keeper::runs).unwrap_or_default();
        Self::of(Index::read(root, known, keeper))
    }

    /// Reads again only what has changed on disk since; files that only grew are read from where they ended.
    pub fn reload(&self, root: &Root) -> Self {
        let ledger = self.trusted();
        let index = Index::read(root, ledger.index.runs(), Keeper::of(root).as_ref());
        let before = ledger.asked_of(&index);
        Self { before, ..Self::of(index) }
    }

    /// The entries that are in memory, by their places in a later index.
    fn asked_of(&self, later: &Index) -> HashMap<Place, Arc<Entry>> {
        let pages = self.asked.entries.get().into_iter().flatten().zip((0..).step_by(PAGE));
        let entries = pages.filter_map(|(page, first)| Some((page.get()?, first)));
        let entries = entries.flat_map(|(page, first): (_, u32)| page.iter().zip(first..));
        let parts = later.places_of_runs(&self.index);
        entries
            .filter_map(|(entry, at)| {
                let entry = entry.get().filter(|entry| !entry.stored.is_empty())?;
                let (part, local) = self.index.place(at)?;
                Some((((*parts.get(part as usize)?)?, local), Arc::clone(entry)))
            })
            .collect()
    }

    /// Whether no ledger file has come, gone or changed (in size or time) since this was read, and this clone
    /// remembers what it did; cheaper than a reload that finds nothing.
    pub fn is_current(&self, root: &Root) -> bool {
        let found = read::files(root);
        let known = &self.index.files;
        found.len() == known.len()
            && found.iter().zip(known).all(|(path, (known, stamp))| {
                path == known && stamp.is_some() && *stamp == Stamp::now(root, path)
            })
            && Memory::of(root) == self.index.memory
    }

    /// From (path, bytes) in hand, for tests and for a base commit.
    pub fn from_files(files: &[(RelativePath, Vec<u8>)]) -> Self {
        Self::of(Index::in_hand(files))
    }

    /// The same ledger with nothing of it in memory that has been asked for: for those who go through all of it.
    pub fn forgetful(&self) -> Self {
        Self {
            index: Arc::clone(&self.trusted().index),
            asked: Asked::default(),
            before: HashMap::new(),
            sound: OnceLock::new(),
        }
    }

    fn of(index: Index) -> Self {
        Self {
            index: Arc::new(index),
            asked: Asked::default(),
            before: HashMap::new(),
            sound: OnceLock::new(),
        }
    }

    /// Asks the index; where that turns out to be damaged, the ledger itself.
    fn ask<'a, T>(&'a self, question: impl Fn(&'a Self) -> Result<T, Damaged>) -> T {
        if self.sound.get().is_none()
            && let Ok(answer) = question(self)
        {
            return answer;
        }
        question(self.trusted_instead()).expect("an index that was just made in memory is whole")
    }

    fn trusted(&self) -> &Self {
        self.sound.get().map_or(self, |sound| sound)
    }

    fn trusted_instead(&self) -> &Self {
        self.sound.get_or_init(|| {
            tracing::warn!("the kept index of the ledger is damaged; the ledger is read instead");
            let kept = self.index.runs();
            kept.iter().filter_map(|run| run.kept.as_deref()).for_each(super::keep::discard);
            Box::new(match &self.index.source {
                Source::Root(root) => Self::of(Index::read(root, Vec::new(), None)),
                Source::Hand(_) => Self::default(),
            })
        })
    }

    /// In fold order. Incomplete multi-part mutations are left out of every look-up below.
    pub fn entries(&self) -> Entries<'_> {
        Entries { ledger: self, from: 0, to: self.trusted().index.len() }
    }

    /// The entry with this index; read from the ledger when it is first asked for.
    pub fn entry(&self, at: u32) -> &Entry {
        let ledger = self.trusted();
        let pages = ledger.asked.entries.get_or_init(|| {
            let count = (ledger.index.len() as usize).div_ceil(PAGE).max(1);
            (0..count).map(|_| OnceLock::new()).collect()
        });
        // An index from before the damage was found: that entry is not there any more.
        let page = pages.get(at as usize / PAGE).unwrap_or(&pages[0]);
        let page = page.get_or_init(|| Box::new(std::array::from_fn(|_| OnceLock::new())));
        page[at as usize % PAGE].get_or_init(|| {
            let known = self.ask(|ledger| ledger.entry_of_before(at));
            known.unwrap_or_else(|| Arc::new(self.read_entry(at)))
        })
    }

    /// An entry that the state before was asked for; what is to be believed of it is looked at again.
    fn entry_of_before(&self, at: u32) -> Result<Option<Arc<Entry>>, Damaged> {
        if self.before.is_empty() {
            return Ok(None);
        }
        let known = self.index.place(at).and_then(|place| self.before.get(&place));
        let (Some(known), Some((stored, _))) = (known, self.index.stored(at)?) else {
            return Ok(None);
        };
        let trust = self.trust(&known.record, &stored, &known.origin)?;
        Ok(Some(match trust == known.trust {
            true => Arc::clone(known),
            false => Arc::new(Entry { trust, ..Entry::clone(known) }),
        }))
    }

    /// The same, read anew and left to the caller.
    pub fn read_entry(&self, at: u32) -> Entry {
        self.ask(|ledger| ledger.try_entry(at))
    }

    fn try_entry(&self, at: u32) -> Result<Entry, Damaged> {
        let nowhere = RelativePath::new(".orchestration").expect("a name is a path");
        let Some((stored, path)) = self.index.stored(at)? else {
            return Ok(lost(Origin { path: nowhere, line: 1, start: 0, end: 0 }));
        };
        let origin = Origin {
            path: path.clone(),
            line: stored.line,
            start: stored.start,
            end: stored.start + u64::from(stored.length),
        };
        let bytes = self.stored_bytes(&stored, path);
        let read = bytes.and_then(|bytes| Some((scan::again(&bytes)?, bytes)));
        let Some(((record, dialect), bytes)) = read else { return Ok(lost(origin)) };
        let trust = self.trust(&record, &stored, &origin)?;
        Ok(Entry { record, origin, dialect, trust, stored: bytes.into() })
    }

    fn trust(&self, record: &Record, stored: &Stored, origin: &Origin) -> Result<Trust, Damaged> {
        Ok(match () {
            () if self.is_own(record, stored, origin)? => Trust::Own,
            () if stored.is_contradicted() => Trust::Contradicted,
            () => Trust::Claimed,
        })
    }

    /// The bytes of an entry; `None` where they are not there any more.
    fn stored_bytes(&self, stored: &Stored, path: &RelativePath) -> Option<Vec<u8>> {
        let bytes = match &self.index.source {
            Source::Root(root) => {
                let mut bytes = vec![0; stored.length as usize];
                read_from(&root.absolute(path), stored.start, &mut bytes).ok()?;
                bytes
            }
            Source::Hand(files) => {
                let from = usize::try_from(stored.start).ok()?;
                files.get(path)?.get(from..from + stored.length as usize)?.to_vec()
            }
        };
        (chain::digest(&bytes) == stored.digest).then_some(bytes)
    }

    /// Whether one of this clone's own heads leads back to the entry.
    fn is_own(&self, record: &Record, stored: &Stored, origin: &Origin) -> Result<bool, Damaged> {
        let own = self.index.memory.own_head(&record.writer);
        let (Some(head), true) = (own, stored.is_intact()) else { return Ok(false) };
        let Some(chain) = self.index.chains.get(&record.writer) else { return Ok(false) };
        if chain.end.sound {
            return Ok(record.seq <= head.seq && self.leads_to(head)?);
        }
        let key = (0, key(Kind::Head, &[&record.writer]));
        let vouched = self.asked.vouched.get(key).unwrap_or_else(|| {
            let found = self.with_links(chain, |links| {
                let at = chain::vouched(links, head).into_iter();
                at.map(|at| (links[at].path.clone(), links[at].start)).collect()
            });
            self.asked.vouched.put(key, found)
        });
        Ok(vouched.contains(&(origin.path.clone(), origin.start)))
    }

    /// Whether the entry that a head is of is here.
    fn leads_to(&self, head: &Head) -> Result<bool, Damaged> {
        let found = self.index.entries_with(key_of_head(&head.writer, head.seq, &head.h))?;
        Ok(!found.is_empty())
    }

    /// The links of the files that a chain stands in, for the rare case that something is wrong with it.
    fn with_links<T>(&self, chain: &Chain, then: impl FnOnce(&[Link<'_>]) -> T) -> T {
        let files = chain.paths.iter().map(|path| {
            let key = (0, key(Kind::Path, &[path.as_str()]));
            self.asked.rows.get(key).unwrap_or_else(|| {
                let rows = match &self.index.source {
                    Source::Root(root) => files::read(root, path, None),
                    Source::Hand(files) => {
                        FileRows::in_hand(path, files.get(path).map_or(&[], |bytes| bytes))
                    }
                };
                self.asked.rows.put(key, rows)
            })
        });
        let links: Vec<Link<'_>> =
            files.flat_map(|file| file.rows.iter().map(|row| row.link(&file.path))).collect();
        then(&links)
    }

    /// Everything wrong in files and chains, file by file.
    pub fn findings(&self) -> &[Finding] {
        let ledger = self.trusted();
        if let Some(found) = ledger.asked.findings.get() {
            return found;
        }
        let found = self.ask(Self::try_findings);
        self.trusted().asked.findings.get_or_init(|| found)
    }

    fn try_findings(&self) -> Result<Vec<Finding>, Damaged> {
        let mut found = self.index.findings()?;
        let remembered: HashMap<&str, &Head> =
            self.index.memory.heads.iter().map(|head| (head.writer.as_str(), head)).collect();
        for (writer, head) in remembered {
            let Some(chain) = self.index.chains.get(writer) else { continue };
            if chain.end.sound && self.leads_to(head)? {
                continue;
            }
            found.extend(self.with_links(chain, |links| chain::truncated(links, head)));
        }
        let place = |finding: &Finding| {
            (finding.path.clone(), finding.span.as_ref().map(|span| (span.start, span.end)))
        };
        found.sort_by_cached_key(|finding| {
            (place(finding), finding.code.as_str(), finding.message.clone())
        });
        Ok(found)
    }

    /// The claim behind a reference.
    ///
    /// Where the ledger has been changed since it was read, a claim says nothing, and is contradicted.
    pub fn claim(&self, at: ClaimRef) -> Claim<'_> {
        let entry = self.entry(at.entry);
        self.find(entry, at).unwrap_or_else(|| {
            let nothing = nothing();
            let conversation = &nothing.conversations[0];
            Claim { entry, file: nothing, conversation, range: &conversation.ranges[0] }
        })
    }

    fn find<'a>(&self, entry: &'a Entry, at: ClaimRef) -> Option<Claim<'a>> {
        let file = entry.record.files.get(at.file as usize)?;
        let conversation = file.conversations.get(at.conversation as usize)?;
        let range = conversation.ranges.get(at.range as usize)?;
        Some(Claim { entry, file, conversation, range })
    }

    fn claims(&self, kind: Kind, key: u64) -> &[ClaimRef] {
        let key = (kind as u8, key);
        if let Some(known) = self.trusted().asked.claims.get(key) {
            return known;
        }
        let found = self.ask(|ledger| ledger.index.claims_with(key.1));
        // Most of what is asked for is not there; that is not worth remembering.
        if found.is_empty() { &[] } else { self.trusted().asked.claims.put(key, found) }
    }

    /// Claims on a path, in fold order, deletions included.
    pub fn of_path(&self, path: &RelativePath) -> &[ClaimRef] {
        self.claims(Kind::Path, key(Kind::Path, &[path.as_str()]))
    }
    /// Paths that any record names, sorted.
    pub fn paths(&self) -> Vec<&RelativePath> {
        if self.trusted().asked.paths.get().is_none() {
            let found = self.ask(Self::try_paths);
            self.trusted().asked.paths.get_or_init(|| found);
        }
        self.trusted().asked.paths.get().into_iter().flatten().collect()
    }

    fn try_paths(&self) -> Result<Vec<RelativePath>, Damaged> {
        let mut found = Vec::new();
        for run in self.index.runs() {
            found.append(&mut run.paths()?);
        }
        found.sort();
        found.dedup();
        if self.index.has_dead() {
            let mut named = Vec::new();
            for path in found {
                if !self.index.entries_with(key(Kind::Named, &[path.as_str()]))?.is_empty() {
                    named.push(path);
                }
            }
            found = named;
        }
        Ok(found)
    }

    /// Claims with this content.
    pub fn by_content(&self, hash: &ContentHash) -> &[ClaimRef] {
        if !is_content_hash(hash) {
            return &[];
        }
        self.claims(Kind::Content, key(Kind::Content, &[hash.as_str()]))
    }
    /// Claims with these tokens.
    pub fn by_tokens(&self, hash: &TokenHash) -> &[ClaimRef] {
        self.claims(Kind::Tokens, key(Kind::Tokens, &[hash.as_str()]))
    }
    /// Claims with this shape.
    pub fn by_shape(&self, hash: &ShapeHash) -> &[ClaimRef] {
        self.claims(Kind::Shape, key(Kind::Shape, &[hash.as_str()]))
    }
    /// Claims on blocks of this kind whose path ends in this name, in any container and any file; of a name that holds
    /// dots, what is behind the last of them counts.
    pub fn by_called(&self, kind: &str, leaf: &str) -> Vec<ClaimRef> {
        self.claims(Kind::Called, key_of_called(kind, leaf)).to_vec()
    }
    /// Claims whose sketch is like this one, those that share most with it first, newer ones before older ones; at most
    /// `limit` and [`MAX_SIMILAR`]. A block that shares half of its shingles is among them in 97 of 100 cases; one that
    /// shares next to nothing may be, too, so that the caller compares.
    pub fn similar(&self, sketch: &Sketch, limit: usize) -> Vec<ClaimRef> {
        let Some(keys) = sketch.bands() else { return Vec::new() };
        let limit = limit.min(MAX_SIMILAR);
        self.ask(|ledger| ledger.index.sharing_most_bands(&keys, limit))
    }
    /// Claims under an intent, in fold order.
    pub fn of_intent(&self, intent: &str) -> &[ClaimRef] {
        self.claims(Kind::Intent, key(Kind::Intent, &[intent]))
    }
    /// The entry with this record id; of several the first in fold order.
    pub fn by_id(&self, record: &str) -> Option<&Entry> {
        let found = self.ask(|ledger| ledger.index.entries_with(key(Kind::Id, &[record])));
        found.first().map(|at| self.entry(*at))
    }
    /// Indices of the entries that name an intent, in fold order, complete or not.
    pub fn entries_of_intent(&self, intent: &str) -> Vec<u32> {
        self.ask(|ledger| ledger.index.entries_with(key(Kind::EntriesOfIntent, &[intent])))
    }
    /// Indices of the entries that name a path, in fold order, complete or not.
    pub fn entries_of_path(&self, path: &RelativePath) -> Vec<u32> {
        self.ask(|ledger| ledger.index.entries_with(key(Kind::EntriesOfPath, &[path.as_str()])))
    }
    /// Intents that any record names, sorted.
    pub fn intents(&self) -> Vec<String> {
        self.ask(|ledger| {
            let mut found = Vec::new();
            for run in ledger.index.runs() {
                found.append(&mut run.intents()?);
            }
            found.sort();
            found.dedup();
            if ledger.index.has_dead() {
                let still = |intent: &String| {
                    let key = key(Kind::EntriesOfIntent, &[intent]);
                    ledger.index.entries_with(key).map(|found| !found.is_empty())
                };
                let still: Vec<bool> = found.iter().map(still).collect::<Result<_, _>>()?;
                let mut still = still.into_iter();
                found.retain(|_| still.next().unwrap_or_default());
            }
            Ok(found)
        })
    }
    /// How many chains there are.
    pub fn chains(&self) -> usize {
        self.trusted().index.chains.keys().filter(|writer| !writer.is_empty()).count()
    }

    /// Whether anything of a writer's chain is here.
    pub(super) fn has_chain(&self, writer: &str) -> bool {
        self.trusted().index.chains.contains_key(writer)
    }
    /// The outlines that are recorded of a path, in fold order. Those of the parts of one mutation are joined.
    pub fn outlines_of(&self, path: &RelativePath) -> Vec<Outlined> {
        let key = key(Kind::Outline, &[path.as_str()]);
        let mut all: Vec<Outlined> = Vec::new();
        let mut places: HashMap<(&str, &str), usize> = HashMap::new();
        for at in self.ask(|ledger| ledger.index.entries_with(key)) {
            let record = &self.entry(at).record;
            let here = record.files.iter().filter(|file| file.relative_path == *path);
            for outline in here.filter_map(|file| file.outline.as_ref()) {
                let mutation = record.mutation.as_deref().filter(|_| record.part.is_some());
                let place = mutation.map(|mutation| (record.writer.as_str(), mutation));
                match place.and_then(|place| places.get(&place)) {
                    Some(&place) => {
                        all[place].entries.push(at);
                        all[place].delta.edits.extend_from_slice(&outline.edits);
                    }
                    None => {
                        places.extend(place.map(|place| (place, all.len())));
                        all.push(Outlined { entries: vec![at], delta: outline.clone() });
                    }
                }
            }
        }
        all
    }
    /// Where the chains in this ledger stand, so that a clone can keep them in mind ([`super::append::remember_heads`]).
    pub fn heads(&self) -> Vec<Head> {
        let ledger = self.trusted();
        let stands = |(writer, chain): (&String, &Chain)| {
            if chain.end.sound {
                let (seq, h) = (chain.end.seq, chain.end.h.clone());
                return Some(Head { writer: writer.clone(), seq, h });
            }
            ledger.with_links(chain, |links| ledger.head_of(writer, links))
        };
        let mut heads: Vec<Head> = ledger.index.chains.iter().filter_map(stands).collect();
        heads.sort_by(|a, b| a.writer.cmp(&b.writer));
        heads
    }

    /// Of a chain with which something is wrong, the last entry that is not contradicted.
    fn head_of(&self, writer: &str, links: &[Link<'_>]) -> Option<Head> {
        let chain::Judgement { forked, duplicates, .. } = chain::judge(links, &HashMap::new());
        let own = self.index.memory.own_head(writer);
        let vouched = own.map(|head| chain::vouched(links, head)).unwrap_or_default();
        let stands = |(at, link): &(usize, &Link<'_>)| {
            let of_writer = link.canonical && link.writer == writer;
            let counts = of_writer && !duplicates.contains(at);
            counts && (vouched.contains(at) || (link.intact && !forked.contains(at)))
        };
        let last = links.iter().enumerate().filter(stands).max_by_key(|(_, link)| link.seq)?.1;
        Some(Head { writer: writer.to_owned(), seq: last.seq, h: last.h.to_owned() })
    }
}

/// An entry whose line is not there any more.
fn lost(origin: Origin) -> Entry {
    Entry {
        record: Record { kind: super::RecordKind::Event, ..Record::default() },
        origin,
        dialect: Dialect::Event,
        trust: Trust::Contradicted,
        stored: Arc::from([]),
    }
}

/// What a lost entry says of a file.
fn nothing() -> &'static FileRecord {
    static NOTHING: OnceLock<FileRecord> = OnceLock::new();
    NOTHING.get_or_init(|| FileRecord {
        relative_path: RelativePath::new(".orchestration").expect("a name is a path"),
        conversations: vec![Conversation {
            ranges: vec![BlockRecord {
                deleted: true,
                ..BlockRecord::bare(1, 1, ContentHash::from_ledger(""))
            }],
            ..Conversation::default()
        }],
        related: Vec::new(),
        outline: None,
        reasons: Vec::new(),
        extra: super::Extra::new(),
    })
}

impl<'a> Entries<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The one with that index.
    pub fn get(&self, at: usize) -> Option<&'a Entry> {
        (at < self.len()).then(|| self.ledger.entry(self.from + index(at)))
    }
    /// The first in fold order.
    pub fn first(&self) -> Option<&'a Entry> {
        self.get(0)
    }
    /// The last in fold order.
    pub fn last(&self) -> Option<&'a Entry> {
        self.get(self.len().checked_sub(1)?)
    }
    /// One after the other. All of them stay in memory; see [`Ledger::read_entry`] for those who want to see many.
    pub fn iter(&self) -> Entries<'a> {
        *self
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = &'a Entry;

    fn next(&mut self) -> Option<&'a Entry> {
        let entry = self.get(0)?;
        self.from += 1;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (Entries::len(self), Some(Entries::len(self)))
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let entry = Entries::last(self)?;
        self.to -= 1;
        Some(entry)
    }
}

impl ExactSizeIterator for Entries<'_> {}

impl std::ops::Index<usize> for Entries<'_> {
    type Output = Entry;

    fn index(&self, at: usize) -> &Entry {
        self.get(at).expect("an index below the number of entries")
    }
}
