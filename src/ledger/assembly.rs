//! Putting an index together: which runs still hold, what has to be read anew, and how the entries of several runs stand
//! in one order.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::ClaimRef;
use super::chain::Head;
use super::files::{self, FileRows, Stamp};
use super::heads;
use super::keep::{Keeper, Plan};
use super::pages::Damaged;
use super::rows::index;
use super::run::{ChainEnd, FileMeta, MAX_IN_BAND, Run, Stored};
use crate::code::fingerprint::BANDS;
use crate::workspace::{Finding, RelativePath, Root};

/// So many runs may be in memory alone before they are made one.
const MAX_IN_MEMORY: usize = 4;

/// Where the ledger's own bytes are.
#[derive(Debug)]
pub(super) enum Source {
    /// On disk.
    Root(Root),
    /// In hand.
    Hand(HashMap<RelativePath, Arc<[u8]>>),
}

/// All that is known of a ledger but what its records say.
#[derive(Debug)]
pub(super) struct Index {
    pub source: Source,
    pub parts: Vec<Part>,
    order: Order,
    /// Every ledger file, and what it looked like.
    pub files: Vec<(RelativePath, Option<Stamp>)>,
    /// Every chain, by writer, with the files it stands in.
    pub chains: HashMap<String, Chain>,
    pub memory: Memory,
}

/// A run, and what of it still holds.
#[derive(Debug)]
pub(super) struct Part {
    pub run: Arc<Run>,
    /// Which of its files are not as it knows them.
    dead: Vec<bool>,
}

/// A chain as a whole.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The files it stands in.
    pub paths: Vec<RelativePath>,
    /// Where it stands.
    pub end: ChainEnd,
}

/// What this clone remembers, in a stable order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Where its own chains stand.
    pub own: Vec<Head>,
    /// Where all chains stand that it has seen.
    pub heads: Vec<Head>,
}

impl Memory {
    pub fn of(root: &Root) -> Self {
        let mut memory = Self { own: heads::of(root, heads::Memory::Own), heads: heads::all(root) };
        for heads in [&mut memory.own, &mut memory.heads] {
            heads.sort_by(|a, b| (&a.writer, a.seq, &a.h).cmp(&(&b.writer, b.seq, &b.h)));
        }
        memory
    }

    /// Where a chain of this clone's own stands.
    pub fn own_head(&self, writer: &str) -> Option<&Head> {
        let at = self.own.binary_search_by(|head| head.writer.as_str().cmp(writer)).ok()?;
        self.own.get(at)
    }
}

/// An entry: which part, and where in the order of its run.
pub(super) type Place = (u32, u32);

/// A claim: which part, and which of its rows.
type PlaceOfClaim = (u32, u32);

/// How the entries of all parts stand in fold order.
#[derive(Debug)]
enum Order {
    /// One part after the other, each as a whole: where each begins.
    Straight(Vec<u32>),
    /// Place by place, and back.
    Mixed { places: Vec<Place>, back: Vec<Vec<u32>> },
}

/// An entry of a part that does not count.
const NOWHERE: u32 = u32::MAX;

impl Index {
    /// Of files in hand.
    pub fn in_hand(all: &[(RelativePath, Vec<u8>)]) -> Self {
        let read: Vec<FileRows> =
            all.iter().map(|(path, bytes)| FileRows::in_hand(path, bytes)).collect();
        let source = all.iter().map(|(path, bytes)| (path.clone(), bytes.as_slice().into()));
        let entangled = is_entangled(&[], &read);
        let run = Run::build(read, &HashMap::new(), entangled).run;
        let parts = vec![Part::whole(Arc::new(run))];
        let found: Vec<(RelativePath, Option<Stamp>)> =
            all.iter().map(|(path, _)| (path.clone(), None)).collect();
        Self::of(Source::Hand(source.collect()), parts, found, Memory::default())
            .expect("what is in memory is whole")
    }

    /// Of a workspace: what `known` says of files that are as they were, the rest read from disk.
    pub fn read(root: &Root, mut known: Vec<Arc<Run>>, keeper: Option<&Keeper>) -> Self {
        loop {
            // Before the files: what is remembered must never be ahead of them.
            let memory = Memory::of(root);
            let (parts, found) = assemble(root, &mut known, keeper);
            if let Ok(index) = Self::of(Source::Root(root.clone()), parts, found, memory) {
                return index;
            }
            known.iter().filter_map(|run| run.kept.as_deref()).for_each(super::keep::discard);
            known.clear();
        }
    }

    fn of(
        source: Source,
        parts: Vec<Part>,
        files: Vec<(RelativePath, Option<Stamp>)>,
        memory: Memory,
    ) -> Result<Self, Damaged> {
        let mut chains: HashMap<String, Chain> = HashMap::new();
        for file in parts.iter().flat_map(Part::live) {
            for end in &file.chains {
                let chain = chains
                    .entry(end.writer.clone())
                    .or_insert_with(|| Chain { paths: Vec::new(), end: end.clone() });
                chain.end.clone_from(end);
                if !chain.paths.contains(&file.path) {
                    chain.paths.push(file.path.clone());
                }
                chain.end.sound &= chain.paths.len() == 1;
            }
        }
        let order = Order::of(&parts)?;
        Ok(Self { source, parts, order, files, chains, memory })
    }

    /// How many entries there are, copies aside.
    pub fn len(&self) -> u32 {
        match &self.order {
            Order::Straight(_) => self.parts.iter().map(|part| part.run.meta.entries).sum(),
            Order::Mixed { places, .. } => index(places.len()),
        }
    }

    /// Which parts of this index the parts of an earlier one are.
    pub fn places_of_runs(&self, earlier: &Self) -> Vec<Option<u32>> {
        let place =
            |run: &Part| self.parts.iter().position(|part| Arc::ptr_eq(&part.run, &run.run));
        earlier.parts.iter().map(|run| place(run).map(index)).collect()
    }

    /// Where an entry stands; `None` where there is none.
    pub fn place(&self, at: u32) -> Option<Place> {
        match &self.order {
            Order::Straight(begins) => {
                let part = begins.partition_point(|begin| *begin <= at).checked_sub(1)?;
                let local = at - begins[part];
                (local < self.parts[part].run.meta.entries).then_some((index(part), local))
            }
            Order::Mixed { places, .. } => places.get(at as usize).copied(),
        }
    }

    /// The place of an entry in fold order; `None` where its file is not as the run knows it.
    fn global(&self, part: usize, local: u32) -> Result<Option<u32>, Damaged> {
        if local >= self.parts[part].run.meta.entries {
            return Err(Damaged);
        }
        Ok(match &self.order {
            Order::Straight(begins) => Some(begins[part] + local),
            Order::Mixed { back, .. } => {
                Some(back[part][local as usize]).filter(|at| *at != NOWHERE)
            }
        })
    }

    /// An entry in brief, with its file; `None` where there is none.
    pub fn stored(&self, at: u32) -> Result<Option<(Stored, &RelativePath)>, Damaged> {
        let Some((part, local)) = self.place(at) else { return Ok(None) };
        let run = &self.parts[part as usize].run;
        let stored = run.entry(local)?;
        let path = &run.file(&stored)?.path;
        Ok(Some((stored, path)))
    }

    /// The claims that have a key, in fold order.
    pub fn claims_with(&self, key: u64) -> Result<Vec<ClaimRef>, Damaged> {
        let mut found = Vec::new();
        for part in 0..self.parts.len() {
            let rows = self.parts[part].run.claims_with(key)?;
            found.append(&mut self.claims(part, &rows)?);
        }
        found.sort();
        Ok(found)
    }

    fn claims(&self, part: usize, rows: &[u32]) -> Result<Vec<ClaimRef>, Damaged> {
        let mut found = Vec::with_capacity(rows.len());
        for [entry, file, conversation, range] in self.parts[part].run.claims(rows)? {
            let at = self.global(part, entry)?;
            found.extend(at.map(|entry| ClaimRef { entry, file, conversation, range }));
        }
        Ok(found)
    }

    /// The claims that share most bands with these, newer ones before older ones; in each band the newest
    /// [`MAX_IN_BAND`] claims count.
    pub fn sharing_most_bands(
        &self,
        keys: &[u32; BANDS],
        limit: usize,
    ) -> Result<Vec<ClaimRef>, Damaged> {
        let keys = keys.iter().enumerate().map(|(band, key)| (band, *key));
        if matches!(self.order, Order::Mixed { .. }) {
            let bands = keys.map(|(band, key)| self.newest_in_band(band, key));
            return Ok(most_frequent(bands.collect::<Result<_, _>>()?, limit));
        }
        let bands = keys.map(|(band, key)| self.newest_rows_in_band(band, key));
        let rows: Vec<PlaceOfClaim> = most_frequent(bands.collect::<Result<_, _>>()?, limit);
        let mut found = Vec::with_capacity(rows.len());
        for (part, row) in rows {
            found.append(&mut self.claims(part as usize, &[row])?);
        }
        Ok(found)
    }

    /// The newest claims in a band, oldest first, where one part follows the other: rows stand in order of time then,
    /// and need not be resolved.
    fn newest_rows_in_band(&self, band: usize, key: u32) -> Result<Vec<PlaceOfClaim>, Damaged> {
        let mut found = Vec::new();
        for (number, part) in self.parts.iter().enumerate().rev() {
            let rows = part.run.last_in_band(band, key)?;
            let wanted = rows.iter().rev().take(MAX_IN_BAND - found.len());
            found.extend(wanted.map(|row| (index(number), *row)));
            if found.len() == MAX_IN_BAND {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }

    /// The same where parts lie within each other.
    fn newest_in_band(&self, band: usize, key: u32) -> Result<Vec<ClaimRef>, Damaged> {
        let mut found = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            // Where some do not count any more, nobody knows how many are enough.
            let claims = match part.dead.contains(&true) {
                true => self.claims(number, &part.run.all_in_band(band, key)?),
                false => self.claims(number, &part.run.last_in_band(band, key)?),
            };
            found.append(&mut claims?);
        }
        found.sort_unstable();
        found.drain(..found.len().saturating_sub(MAX_IN_BAND));
        Ok(found)
    }

    /// The entries that have a key, in fold order.
    pub fn entries_with(&self, key: u64) -> Result<Vec<u32>, Damaged> {
        let mut found = Vec::new();
        for (part, of) in self.parts.iter().enumerate() {
            for local in of.run.entries_with(key)? {
                found.extend(self.global(part, local)?);
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// What is wrong in files and chains; what this clone remembers aside.
    pub fn findings(&self) -> Result<Vec<Finding>, Damaged> {
        let mut found = Vec::new();
        for part in &self.parts {
            let live: HashSet<&RelativePath> = part.live().map(|file| &file.path).collect();
            let holds = |finding: &Finding| finding.path.as_ref().is_some_and(|p| live.contains(p));
            found.extend(part.run.findings()?.into_iter().filter(holds));
        }
        Ok(found)
    }

    /// Whether something in a run does not count any more.
    pub fn has_dead(&self) -> bool {
        self.parts.iter().any(|part| part.dead.contains(&true))
    }

    /// The runs, to be used again by another reading.
    pub fn runs(&self) -> Vec<Arc<Run>> {
        self.parts.iter().map(|part| Arc::clone(&part.run)).collect()
    }
}

/// What is most often in lists, each of them in order; of what is as often the greater first.
fn most_frequent<T: Ord + Copy>(lists: Vec<Vec<T>>, limit: usize) -> Vec<T> {
    let mut all = lists.concat();
    // Stable, because that sort finds the order that is there.
    all.sort();
    let mut counted: Vec<(usize, T)> =
        all.chunk_by(T::eq).map(|same| (same.len(), same[0])).collect();
    if limit < counted.len() {
        counted.select_nth_unstable_by(limit, |a, b| b.cmp(a));
        counted.truncate(limit);
    }
    counted.sort_unstable_by(|a, b| b.cmp(a));
    counted.into_iter().map(|(_, one)| one).collect()
}

impl Order {
    fn of(parts: &[Part]) -> Result<Self, Damaged> {
        let ends: Vec<_> = parts.iter().filter_map(|part| part.run.meta.ends.as_ref()).collect();
        let follows = ends.windows(2).all(|pair| pair[0].1 < pair[1].0);
        if follows && !parts.iter().any(|part| part.dead.contains(&true)) {
            let mut next = 0;
            let begins = parts.iter().map(|part| {
                let begin = next;
                next += part.run.meta.entries;
                begin
            });
            return Ok(Self::Straight(begins.collect()));
        }
        let mut all = Vec::new();
        let stored: Vec<Vec<Stored>> =
            parts.iter().map(|part| part.run.entries()).collect::<Result<_, _>>()?;
        for ((number, part), entries) in (0..).zip(parts).zip(&stored) {
            for (local, entry) in (0..).zip(entries) {
                if !*part.dead.get(entry.file as usize).ok_or(Damaged)? {
                    all.push((part.run.fold_key(entry)?, (number, local)));
                }
            }
        }
        all.sort();
        let places: Vec<Place> = all.into_iter().map(|(_, place)| place).collect();
        let mut back: Vec<Vec<u32>> =
            stored.iter().map(|entries| vec![NOWHERE; entries.len()]).collect();
        for (at, (part, local)) in (0..).zip(&places) {
            back[*part as usize][*local as usize] = at;
        }
        Ok(Self::Mixed { places, back })
    }
}

impl Part {
    fn whole(run: Arc<Run>) -> Self {
        Self { dead: vec![false; run.meta.files.len()], run }
    }

    /// The files that are as the run knows them.
    fn live(&self) -> impl Iterator<Item = &FileMeta> {
        let files = self.run.meta.files.iter().zip(&self.dead);
        files.filter(|(_, dead)| !**dead).map(|(file, _)| file)
    }
}

/// The parts that hold, and every ledger file with what it looks like.
fn assemble(
    root: &Root,
    known: &mut Vec<Arc<Run>>,
    keeper: Option<&Keeper>,
) -> (Vec<Part>, Vec<(RelativePath, Option<Stamp>)>) {
    // Files of which an appended part must not be read by itself.
    let mut whole = HashSet::new();
    let mut plan = None;
    loop {
        let found: Vec<_> = super::read::files(root)
            .into_iter()
            .map(|path| (path.clone(), Stamp::now(root, &path)))
            .collect();
        let mut cover = Cover::of(known, &found, &whole);
        let before = known.len();
        cover.drop_useless(known);
        if let (None, Some(keeper), true) = (plan, keeper, before == known.len()) {
            let wanted = keeper.plan(known, cover.new_bytes());
            if let Plan::Keep { from } = wanted {
                known.truncate(from);
            }
            plan = Some(wanted);
        }
        if known.len() != before {
            continue;
        }
        let read = cover.read(root);
        let parts = cover.parts(known);
        let entangled = is_entangled(&parts, &read);
        if entangled && !known.is_empty() && !(read.is_empty() && known[0].meta.entangled) {
            known.clear();
            plan = None;
            continue;
        }
        let keeping = matches!(plan, Some(Plan::Keep { .. }));
        match complete(parts, read, entangled, keeper.filter(|_| keeping)) {
            Ok(parts) => return (parts, found),
            Err(unsound) => whole.extend(unsound),
        }
    }
}

/// What the runs at hand say of the files that are there.
struct Cover<'a> {
    dead: Vec<Vec<bool>>,
    files: Vec<Covered<'a>>,
}

/// One file.
struct Covered<'a> {
    path: &'a RelativePath,
    stamp: Option<Stamp>,
    /// Where the runs know it: which run, which of its files.
    parts: Vec<(usize, usize)>,
    /// Of the last of these.
    last: Option<FileMeta>,
    /// Everything in it is known.
    good: bool,
}

impl<'a> Cover<'a> {
    fn of(
        known: &[Arc<Run>],
        found: &'a [(RelativePath, Option<Stamp>)],
        whole: &HashSet<RelativePath>,
    ) -> Self {
        let mut dead: Vec<Vec<bool>> =
            known.iter().map(|run| vec![true; run.meta.files.len()]).collect();
        let place: HashMap<&RelativePath, usize> =
            found.iter().enumerate().map(|(at, (path, _))| (path, at)).collect();
        let covered = |(path, stamp): &'a (RelativePath, Option<Stamp>)| Covered {
            path,
            stamp: *stamp,
            parts: Vec::new(),
            last: None,
            good: false,
        };
        let mut files: Vec<Covered<'a>> = found.iter().map(covered).collect();
        for (run, of) in known.iter().enumerate() {
            for (at, meta) in of.meta.files.iter().enumerate() {
                let Some(file) = place.get(&meta.path).map(|at| &mut files[*at]) else { continue };
                let follows = match &file.last {
                    None => meta.from == 0,
                    Some(last) => {
                        let sum = last.resume.as_ref().map(|resume| resume.sum);
                        last.to == meta.from && sum.is_some() && sum == meta.before
                    }
                };
                if follows {
                    file.parts.push((run, at));
                    file.last = Some(meta.clone());
                }
            }
        }
        for file in &mut files {
            let last = file.last.as_ref();
            file.good = file.stamp.is_some() && last.is_some_and(|last| last.stamp == file.stamp);
            let grown =
                last.is_some_and(|last| last.resume.is_some()) && !whole.contains(file.path);
            if !file.good && !grown {
                file.parts.clear();
                file.last = None;
            }
            for (run, at) in &file.parts {
                dead[*run][*at] = false;
            }
        }
        Self { dead, files }
    }

    /// Takes out runs of which less than half still holds, and what is in memory in too many pieces.
    fn drop_useless(&self, known: &mut Vec<Arc<Run>>) {
        let complete = self.files.iter().all(|file| file.good)
            && self.dead.iter().all(|dead| !dead.contains(&true));
        let in_memory = known.iter().filter(|run| run.kept.is_none()).count();
        let mut dead = self.dead.iter();
        let entangled = known.len();
        known.retain(|run| {
            let Some(dead) = dead.next() else { return true };
            let live = run.meta.files.iter().zip(dead).filter(|(_, dead)| !**dead);
            let (count, bytes) =
                live.fold((0, 0), |(n, all), (file, _)| (n + 1, all + file.to - file.from));
            let useless = count == 0 || bytes * 2 < run.covers();
            let broken = run.meta.entangled && !(complete && entangled == 1);
            let piece = in_memory > MAX_IN_MEMORY && run.kept.is_none();
            !useless && !broken && !piece
        });
    }

    /// About how many bytes are not known yet.
    fn new_bytes(&self) -> u64 {
        let new = |file: &Covered<'_>| {
            let known = file.last.as_ref().map_or(0, |last| last.to);
            file.stamp.map_or(0, |stamp| stamp.length()).saturating_sub(known)
        };
        self.files.iter().filter(|file| !file.good).map(new).sum()
    }

    /// Reads what is not known.
    fn read(&mut self, root: &Root) -> Vec<FileRows> {
        let mut all = Vec::new();
        for file in self.files.iter_mut().filter(|file| !file.good) {
            let resume = file.last.as_ref().and_then(|last| last.resume.as_ref());
            let read = files::read(root, file.path, resume);
            if read.from == 0 {
                for (run, at) in file.parts.drain(..) {
                    self.dead[run][at] = true;
                }
            }
            all.push(read);
        }
        all
    }

    fn parts(&self, known: &[Arc<Run>]) -> Vec<Part> {
        let part = |(run, dead): (&Arc<Run>, &Vec<bool>)| Part {
            run: Arc::clone(run),
            dead: dead.clone(),
        };
        known.iter().zip(&self.dead).map(part).collect()
    }
}

/// The chains that go on where files have grown, by writer.
fn going_on(parts: &[Part], read: &[FileRows]) -> HashMap<String, ChainEnd> {
    let grown: HashSet<&RelativePath> =
        read.iter().filter(|file| file.from > 0).map(|file| &file.path).collect();
    let before = parts.iter().flat_map(Part::live).filter(|file| grown.contains(&file.path));
    let ends = before.flat_map(|file| &file.chains);
    ends.map(|end| (end.writer.clone(), end.clone())).collect()
}

/// Adds what was read to the parts, and keeps it where there is a keeper; or the files that must be read as a whole.
fn complete(
    mut parts: Vec<Part>,
    read: Vec<FileRows>,
    entangled: bool,
    keeper: Option<&Keeper>,
) -> Result<Vec<Part>, Vec<RelativePath>> {
    if read.is_empty() {
        return Ok(parts);
    }
    let known = going_on(&parts, &read);
    let can_keep = keeper.is_some() && (!entangled || read.iter().all(|file| file.rested));
    let (rested, others): (Vec<_>, Vec<_>) =
        read.into_iter().partition(|file| can_keep && file.rested);
    let mut built = Vec::new();
    for files in [rested, others] {
        if !files.is_empty() {
            let kept = files.iter().all(|file| file.rested) && can_keep;
            built.push((kept, Run::build(files, &known, entangled)));
        }
    }
    let unsound: Vec<RelativePath> =
        built.iter().flat_map(|(_, built)| built.unsound.iter().cloned()).collect();
    if !unsound.is_empty() {
        return Err(unsound);
    }
    for (kept, built) in built {
        let run = match keeper.filter(|_| kept) {
            Some(keeper) => built.run.keep(&keeper.next()),
            None => built.run,
        };
        parts.push(Part::whole(Arc::new(run)));
    }
    if let Some(keeper) = keeper {
        keeper.retain(&parts.iter().map(|part| Arc::clone(&part.run)).collect::<Vec<_>>());
    }
    Ok(parts)
}

/// Whether some chain stands in several files.
fn is_entangled(parts: &[Part], read: &[FileRows]) -> bool {
    let known = parts
        .iter()
        .flat_map(Part::live)
        .flat_map(|file| file.chains.iter().map(|end| (end.writer.as_str(), &file.path)));
    let new = read.iter().flat_map(|file| {
        let canonical = file.rows.iter().filter(|row| row.canonical);
        canonical.map(|row| (row.writer.as_str(), &file.path))
    });
    let mut places: HashMap<&str, &RelativePath> = HashMap::new();
    known.chain(new).any(|(writer, path)| *places.entry(writer).or_insert(path) != path)
}
