//! Tracks what each session knows of a file, block by block: what it read, and what its own writes
//! changed.
//!
//! A session that read a whole file and then edits one function has not seen what others changed in
//! the functions next to it. So an edit updates only the blocks that it wrote. If the session later
//! writes the whole file, its knowledge is compared with all blocks on disk: a block that the
//! session neither saw nor wrote would be lost.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::selection;
use code::hex;
use code::{Document, LineRange, difference};
use evidence::event::Event;
use evidence::record::call::FinishedCall;
use ground::session::calls::{FileBefore, Predicted};
use ground::session::seen::{self, BlockWrite, FileState, FileWrites, Seen, SeenExtent};
use ground::{RelativePath, clock, session};
use ledger::Outline;
use ledger::outline::{Row, Short, short};
use why::Workspace;

/// A file on disk, as the actor of an event finds it now.
pub(crate) struct SeenFile<'a> {
    pub ws: &'a Workspace,
    pub event: &'a Event,
    pub path: &'a RelativePath,
    pub now: &'a FileState,
}

/// Parses a text and returns its blocks and the comments between them, in order.
///
/// `None` if the text does not parse: the ends of its blocks cannot be trusted, so the session
/// knows such a file as a whole or not at all.
pub(crate) fn pieces_of(path: &RelativePath, text: &str) -> Option<Outline> {
    located_in(path, text).map(|located| outline(&located))
}

fn located_in(path: &RelativePath, text: &str) -> Option<Vec<(Row, LineRange)>> {
    located_pieces(&Document::from_bytes(path.as_str(), text.as_bytes()).ok()?)
}

fn outline(located: &[(Row, LineRange)]) -> Outline {
    Outline { rows: located.iter().map(|(row, _)| *row).collect() }
}

pub(crate) fn pieces_before(before: &FileBefore) -> Option<Outline> {
    match &before.text {
        Some(text) => pieces_of(&before.path, text),
        None => before.hash.is_none().then(Outline::default),
    }
}

fn located_pieces(document: &Document) -> Option<Vec<(Row, LineRange)>> {
    let blocks = document.blocks();
    if blocks.has_error {
        return None;
    }
    let text = document.text();
    let rows = Outline::from_blocks(&blocks).rows;
    let mut pieces = Vec::with_capacity(rows.len());
    let (mut byte, mut line) = (0, 1);
    for (block, row) in blocks.blocks.iter().zip(rows) {
        let whole = block.whole_bytes();
        if block.container.is_none() {
            pieces.extend(comment(text.get(byte..whole.start).unwrap_or_default(), line));
            byte = byte.max(whole.end);
            line = line.max(block.whole_lines.end());
        }
        pieces.push((row, block.whole_lines));
    }
    pieces.extend(comment(text.get(byte..).unwrap_or_default(), line));
    Some(pieces)
}

/// Returns the text between two blocks as a row of its own, if it is more than white space. It has
/// no name, so only its text identifies it.
fn comment(between: &str, first_line: u32) -> Option<(Row, LineRange)> {
    let text = between.trim();
    if text.is_empty() {
        return None;
    }
    let lines = |text: &str| u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX);
    let above = &between[..between.len() - between.trim_start().len()];
    let start = first_line.saturating_add(lines(above));
    let hash = short(&text.replace("\r\n", "\n"));
    let row = Row {
        identity: short(&format!("between\0{}", text.replace("\r\n", "\n"))),
        text: hash,
        tokens: hash,
        shape: hash,
        name: [0; 4],
        kind: [0; 2],
    };
    Some((row, LineRange::new(start, start.saturating_add(lines(text)))?))
}

impl SeenFile<'_> {
    /// Returns the blocks of the file and the comments between them. `document` is the parsed file,
    /// if the caller has it.
    pub fn pieces(&self, document: Option<&Document>) -> Option<Outline> {
        match document {
            Some(document) => Some(outline(&located_pieces(document)?)),
            None => pieces_of(self.path, self.now.text.as_deref()?),
        }
    }

    /// Remembers that the actor was shown these lines of the file. `None` stands for the whole
    /// file.
    pub fn read(&self, shown: Option<LineRange>) {
        let located = self.now.text.as_deref().and_then(|text| located_in(self.path, text));
        let Some(shown) = shown else {
            return self.keep(KnownBlocks::of_whole_file(located.as_deref().map(outline)));
        };
        let known = seen::last_seen_state(&self.ws.root, &self.event.actor(), self.path);
        let known_all =
            |known: &Seen| known.extent == SeenExtent::File && known.hash == self.now.hash;
        if let Some(located) = located.filter(|_| !known.as_ref().is_some_and(known_all)) {
            self.keep(after_reading(known.as_ref(), &located, shown));
        }
    }

    /// Remembers that the actor changed the file, of which no state before the change was stored: a
    /// command changed it, or a tool for which no hook ran.
    pub(crate) fn changed_unseen(&self) {
        let actor = self.event.actor();
        let known = seen::last_seen_state(&self.ws.root, &actor, self.path);
        let last = seen::last_write(&self.ws.root, self.path);
        let others = last.as_ref().filter(|last| last.actor != actor);
        let current = match &known {
            Some(known) => {
                known.extent == SeenExtent::File && others.is_none_or(|last| last.at < known.at)
            }
            None => others.is_none(),
        };
        let all = KnownBlocks::of_whole_file(self.pieces(None));
        if current || all.outline.rows.is_empty() {
            return self.keep(all);
        }
        // The best known state before the change is the one that the last recorded write left.
        let earlier = last.as_ref().and_then(KnownBlocks::from_seen).unwrap_or_default();
        let known = KnownBlocks::of_blocks(known.as_ref());
        self.keep(known.merged(&earlier.outline, &all.outline).completed(&all.outline));
    }

    pub fn keep(&self, known: KnownBlocks) {
        let kept = seen::see(&self.ws.root, &self.event.actor(), &self.note(known));
        let what = format!("what a session saw of {} could not be kept", self.path);
        session::or_log(&self.ws.root, &what, kept);
    }

    pub fn note(&self, known: KnownBlocks) -> Seen {
        Seen {
            path: self.path.clone(),
            hash: self.now.hash.clone(),
            outline: known.outline.entries(),
            extent: known.extent,
            actor: self.event.actor(),
            intent: selection::selected_by(self.ws, self.event),
            head: self.ws.head().map(|head| head.0.clone()),
            recorded: false,
            at: clock::now(),
        }
    }
}

fn after_reading(
    known: Option<&Seen>,
    located: &[(Row, LineRange)],
    shown: LineRange,
) -> KnownBlocks {
    let disk = outline(located);
    let known = KnownBlocks::of_blocks(known);
    let mut belief = Belief::from_outlines(&known.outline, &disk);
    for (at, (row, lines)) in located.iter().enumerate() {
        let visible = shown.start() <= lines.start() && lines.end() <= shown.end();
        if visible && !belief.holds(at) {
            belief.forget(row.identity);
            belief.insert(at, [*row]);
        }
    }
    KnownBlocks { outline: belief.outline(), ..known }.completed(&disk)
}

/// Returns the blocks of which only the layout differs between a text that was written and the text
/// on disk, because a formatter ran after the write. A comment that differs is no layout: a person
/// may have written it meanwhile.
fn formatted(path: &RelativePath, wrote: &str, now: &str) -> Vec<(Row, Row)> {
    if wrote == now {
        return Vec::new();
    }
    let Some((ours, theirs)) = located_in(path, wrote).zip(located_in(path, now)) else {
        return Vec::new();
    };
    let (ours, theirs) = (with_words(wrote, ours), with_words(now, theirs));
    let keys = |rows: &[(Row, String)]| -> Vec<(Short, Short, String)> {
        rows.iter().map(|(row, words)| (row.identity, row.tokens, words.clone())).collect()
    };
    let pairs = difference::common(&keys(&ours), &keys(&theirs)).into_iter();
    pairs.map(|(own, now)| (ours[own].0, theirs[now].0)).collect()
}

/// Returns each block with the letters and digits of its lines. A formatter leaves these as they are,
/// and changes only other characters, such as quotes, commas and blanks.
fn with_words(text: &str, located: Vec<(Row, LineRange)>) -> Vec<(Row, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let words = |range: LineRange| {
        let lines = lines.iter().take(range.end() as usize).skip(range.start() as usize - 1);
        lines.flat_map(|line| line.chars()).filter(|it| it.is_alphanumeric()).collect()
    };
    located.into_iter().map(|(row, range)| (row, words(range))).collect()
}

/// Returns true if the session knew the whole file before the change, or replaced it as a
/// whole.
fn knew_all(work: &FinishedCall<'_>, known: Option<&Seen>) -> bool {
    if work.before.replaced && work.before.moved_from.is_none() {
        return true;
    }
    match known {
        Some(known) => known.extent == SeenExtent::File && known.hash == work.origin().hash,
        None => work.origin().hash.is_none(),
    }
}

/// What a session knows of a file: the blocks it has seen, and whether there may be more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownBlocks {
    pub outline: Outline,
    pub extent: SeenExtent,
}

impl KnownBlocks {
    /// Returns what the session knows of the file after its own call. `known` is what it knew
    /// before; if the file was moved, what it knew of the file at the old path. `now` has the
    /// blocks of the file on disk, if they are known.
    pub(crate) fn after_call(
        work: &FinishedCall<'_>,
        known: Option<&Seen>,
        now: Option<&Outline>,
    ) -> Self {
        let (origin, knew_all) = (work.origin(), knew_all(work, known));
        let foreseen = work.before.foresaw(work.now);
        let anything = work.before.predicted == Predicted::Unknown;
        if knew_all && (foreseen || anything) {
            return Self::of_whole_file(now.cloned());
        }
        let wrote = match &work.before.predicted {
            Predicted::Text(text) if !foreseen => pieces_of(&work.before.path, text),
            _ => now.cloned(),
        };
        let earlier = origin.text.as_deref().and_then(|text| pieces_of(&origin.path, text));
        let known = Self::of_blocks(known);
        let mut merged = match (knew_all, wrote, earlier) {
            (true, Some(wrote), _) => Self { outline: wrote, extent: SeenExtent::Blocks },
            (false, Some(wrote), Some(earlier)) => known.merged(&earlier, &wrote),
            // One of the texts has no blocks, so the session's knowledge does not change.
            _ => known,
        };
        if let (Predicted::Text(wrote), Some(now)) = (&work.before.predicted, &work.now.text) {
            merged.accept_formatting(&formatted(&work.before.path, wrote, now));
        }
        match now {
            Some(now) => merged.completed(now),
            None => merged,
        }
    }

    pub(crate) fn of_whole_file(pieces: Option<Outline>) -> Self {
        Self { outline: pieces.unwrap_or_default(), extent: SeenExtent::File }
    }

    fn of_blocks(seen: Option<&Seen>) -> Self {
        Self {
            outline: seen.and_then(Self::from_seen).unwrap_or_default().outline,
            extent: seen.map_or(SeenExtent::Part, |seen| seen.extent.of_blocks()),
        }
    }

    /// Reads stored knowledge. `None` if it cannot be decoded.
    pub(crate) fn from_seen(seen: &Seen) -> Option<Self> {
        Some(Self { outline: Outline::from_entries(&seen.outline)?, extent: seen.extent })
    }

    /// Returns the blocks that differ from what the session knows: changed, moved or deleted. With
    /// `unread`, also those that it has never seen.
    pub fn changed(&self, now: &Outline, unread: bool) -> HashSet<Short> {
        let mut changed = self.outline.touched(now);
        if self.extent == SeenExtent::Part && !unread {
            let known: HashSet<Short> = self.outline.rows.iter().map(|row| row.identity).collect();
            changed.retain(|identity| known.contains(identity));
        }
        changed
    }

    /// Accepts what a formatter made of blocks that the session wrote.
    fn accept_formatting(&mut self, formatted: &[(Row, Row)]) {
        let formatted: HashMap<(Short, Short), Row> =
            formatted.iter().map(|(wrote, now)| ((wrote.identity, wrote.text), *now)).collect();
        for row in &mut self.outline.rows {
            if let Some(now) = formatted.get(&(row.identity, row.text)) {
                *row = *now;
            }
        }
    }

    fn completed(mut self, now: &Outline) -> Self {
        if self.outline.touched(now).is_empty() {
            self.extent = SeenExtent::File;
        }
        self
    }

    fn merged(self, earlier: &Outline, wrote: &Outline) -> Self {
        let mut belief = Belief::from_outlines(&self.outline, earlier);
        for change in difference::changes(&keys(earlier), &keys(wrote)) {
            belief.remove(change.before.clone());
            belief.insert(change.before.start, wrote.rows[change.now].iter().copied());
        }
        Self { outline: belief.outline(), ..self }
    }
}

fn keys(outline: &Outline) -> Vec<(Short, Short)> {
    outline.rows.iter().map(|row| (row.identity, row.text)).collect()
}

/// The blocks that a session believes to be in a file, each with its index in the file on disk. The
/// index is `None` if the file has no such block.
struct Belief {
    rows: Vec<(Row, Option<usize>)>,
}

impl Belief {
    fn from_outlines(known: &Outline, disk: &Outline) -> Self {
        let mut rows: Vec<(Row, Option<usize>)> =
            known.rows.iter().map(|row| (*row, None)).collect();
        for (own, at) in difference::common(&keys(known), &keys(disk)) {
            rows[own].1 = Some(at);
        }
        Self { rows }
    }

    fn holds(&self, at: usize) -> bool {
        self.rows.iter().any(|(_, place)| *place == Some(at))
    }

    fn forget(&mut self, identity: Short) {
        self.rows.retain(|(row, place)| place.is_some() || row.identity != identity);
    }

    fn remove(&mut self, places: std::ops::Range<usize>) {
        self.rows.retain(|(_, place)| !place.is_some_and(|place| places.contains(&place)));
    }

    /// Inserts rows at the position of the block with index `at` on disk.
    fn insert(&mut self, at: usize, rows: impl IntoIterator<Item = Row>) {
        let above = |(_, place): &(Row, Option<usize>)| place.is_some_and(|place| place < at);
        let start = self.rows.iter().rposition(above).map_or(0, |last| last + 1);
        // All rows of one write get the same position.
        let rows = rows.into_iter().map(|row| (row, Some(at)));
        self.rows.splice(start..start, rows);
    }

    fn outline(self) -> Outline {
        Outline { rows: self.rows.into_iter().map(|(row, _)| row).collect() }
    }
}

/// Remembers that the actor of the note `last` wrote a file. `earlier` has the blocks of the file
/// before the write. It is `None` if they are not known.
pub fn wrote(ws: &Workspace, last: Seen, earlier: Option<&Outline>) {
    let before = seen::writes(&ws.root, &last.path);
    let now = Outline::from_entries(&last.outline);
    let now = now.filter(|now| !now.rows.is_empty() || last.hash.is_none());
    let blocks = earlier.zip(now.as_ref()).map(|(earlier, now)| earlier.touched(now));
    let mut changed_again = blocks.clone().unwrap_or_default();
    let mut writes = Vec::new();
    if let Some(before) = before {
        // The blocks that changed between the previous known write and this one were changed by an
        // unknown writer.
        let stood = Outline::from_entries(&before.last.outline).unwrap_or_default();
        changed_again.extend(earlier.map(|earlier| stood.touched(earlier)).unwrap_or_default());
        writes = before.writes;
    }
    let changed_again = names(&changed_again);
    for write in &mut writes {
        write.blocks.iter_mut().for_each(|it| it.retain(|block| !changed_again.contains(block)));
    }
    writes.retain(|write| match &write.blocks {
        Some(blocks) => !blocks.is_empty(),
        None => write.actor != last.actor,
    });
    writes.push(BlockWrite {
        actor: last.actor.clone(),
        intent: last.intent.clone(),
        at: last.at.clone(),
        blocks: blocks.map(|blocks| names(&blocks).into_iter().collect()),
    });
    let what = format!("who wrote {} could not be kept", last.path);
    session::or_log(&ws.root, &what, seen::wrote(&ws.root, &FileWrites { last, writes }));
}

/// Returns the last known write by another actor to a block that differs from what a session knows.
/// If the blocks of the file cannot be compared, any write by another actor counts.
pub(crate) fn other_writer(
    ws: &Workspace,
    actor: &str,
    file: &FileBefore,
    known: Option<&KnownBlocks>,
) -> Option<BlockWrite> {
    let written = seen::writes(&ws.root, &file.path)?;
    let now = file.text.as_deref().and_then(|text| pieces_of(&file.path, text));
    let mut changed = known.zip(now.as_ref()).map(|(known, now)| known.changed(now, false));
    if written.last.hash != file.hash {
        let unseen = Outline::from_entries(&written.last.outline)?.touched(now.as_ref()?);
        changed.as_mut()?.retain(|block| !unseen.contains(block));
        changed.as_ref().filter(|changed| !changed.is_empty())?;
    }
    let changed = changed.map(|changed| names(&changed));
    let changed_one = |write: &BlockWrite| match (&write.blocks, &changed) {
        (Some(blocks), Some(changed)) => blocks.iter().any(|block| changed.contains(block)),
        _ => true,
    };
    written.writes.into_iter().rev().find(|write| write.actor != actor && changed_one(write))
}

fn names(blocks: &HashSet<Short>) -> BTreeSet<String> {
    blocks.iter().map(|block| hex(block)).collect()
}

/// The size in bytes above which a saved file is not read.
const MAX_SAVED: u64 = 4 * 1024 * 1024;
/// The actor of writes made by a command of `intent` itself.
const OURS: &str = "intent";

/// Notes that `intent` itself changed a file, so that a command which runs at the same time is not
/// taken for the author.
pub(crate) fn note_own_write(ws: &Workspace, path: &RelativePath, intent: Option<&str>) {
    let last = write_outside_sessions(path, seen::state(&ws.root, path, 0).hash, OURS);
    self::wrote(ws, Seen { intent: intent.map(str::to_owned), ..last }, None);
}

fn write_outside_sessions(path: &RelativePath, hash: Option<String>, actor: &str) -> Seen {
    Seen {
        path: path.clone(),
        hash,
        outline: Vec::new(),
        extent: SeenExtent::File,
        actor: actor.to_owned(),
        intent: None,
        head: None,
        recorded: false,
        at: clock::now(),
    }
}

const EDITOR: &str = "an editor";

/// Notes that a person saved a file in an editor, so that a command of an agent which runs at the
/// same time is not taken for the author. `text` is what the editor saved.
pub fn note_saved_file(ws: &Workspace, path: &RelativePath, text: &str) {
    let now = seen::state(&ws.root, path, MAX_SAVED);
    let before = seen::last_write(&ws.root, path);
    let is_known = before.as_ref().is_some_and(|last| last.hash == now.hash);
    if is_known || now.text.as_deref() != Some(text) {
        return;
    }
    let outline = pieces_of(path, text).unwrap_or_default().entries();
    let last = Seen { outline, ..write_outside_sessions(path, now.hash, EDITOR) };
    let before = before.as_ref().and_then(KnownBlocks::from_seen).map(|known| known.outline);
    self::wrote(ws, last, before.as_ref());
}

/// Returns true if the file is unchanged since a command of `intent` wrote it.
pub fn is_ours(ws: &Workspace, path: &RelativePath) -> bool {
    let now = seen::state(&ws.root, path, 0).hash;
    seen::last_write(&ws.root, path).is_some_and(|last| last.actor == OURS && last.hash == now)
}
