//! A mutation that does not fit a line is written as parts: each a record of its own, all with one
//! `mutation` id, together saying what the whole would.

use super::append::{AppendError, MAX_LINE, new_id};
use super::chain::TAIL;
use super::{BlockRecord, Conversation, FileRecord, OutlineDelta, Record};

/// What the chain adds to a record once it is placed: writer, sequence number, previous hash, a note on a torn end.
const CHAIN: usize = 400;

/// The smallest piece that cannot be divided.
enum Piece {
    Range(usize, Box<BlockRecord>),
    Reason(String),
    Edit(String),
}

/// The record as one line, or as parts. The first carries `parents`.
pub(super) fn split(mut record: Record, parents: &[String]) -> Result<Vec<Record>, AppendError> {
    record.parents = parents.to_vec();
    record.part = None;
    if size(&record) <= MAX_LINE {
        return Ok(vec![record]);
    }
    let files = std::mem::take(&mut record.files);
    let mutation = record.mutation.clone().unwrap_or_else(|| record.id.clone());
    let mut parts = Parts::new(record, mutation);
    for file in files {
        parts.add_file(file)?;
    }
    Ok(parts.finish())
}

/// The bytes of a record's line before its tail.
pub(super) fn stored(record: &Record) -> Vec<u8> {
    let mut line = serde_json::to_vec(record).expect("a record is plain data with text keys");
    line.pop();
    line
}

fn size(record: &Record) -> usize {
    stored(record).len() + CHAIN + TAIL
}

fn length(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}

struct Parts {
    /// What every part says, without files.
    common: Record,
    done: Vec<Record>,
    now: Record,
    used: usize,
}

impl Parts {
    fn new(mut common: Record, mutation: String) -> Self {
        common.mutation = Some(mutation);
        common.part = Some((u32::MAX, u32::MAX));
        let used = size(&common);
        let now = common.clone();
        common.parents.clear();
        Self { common, done: Vec::new(), now, used }
    }

    fn add_file(&mut self, mut file: FileRecord) -> Result<(), AppendError> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (at, conversation) in file.conversations.iter_mut().enumerate() {
            let ranges = std::mem::take(&mut conversation.ranges);
            pieces.extend(ranges.into_iter().map(|range| Piece::Range(at, Box::new(range))));
        }
        pieces.extend(std::mem::take(&mut file.reasons).into_iter().map(Piece::Reason));
        if let Some(outline) = &mut file.outline {
            pieces.extend(std::mem::take(&mut outline.edits).into_iter().map(Piece::Edit));
        }
        let mut frame = Frame::new(file);
        self.open(&mut frame, 0)?;
        for piece in pieces {
            let needed = frame.needed(&piece);
            if self.used.saturating_add(needed) > MAX_LINE {
                self.close();
                self.open(&mut frame, 0)?;
            }
            let needed = frame.needed(&piece);
            if self.used.saturating_add(needed) > MAX_LINE {
                return Err(AppendError::TooLarge { bytes: self.used.saturating_add(needed) });
            }
            self.used += needed;
            let file = self.now.files.last_mut().expect("open() has just put the file there");
            frame.put(piece, file);
        }
        Ok(())
    }

    /// Begins the file in the current part, or in the next where it does not fit.
    fn open(&mut self, frame: &mut Frame, tries: u8) -> Result<(), AppendError> {
        let bare = frame.bare();
        let needed = length(&bare) + 16;
        if self.used + needed > MAX_LINE {
            if tries > 0 || self.now.files.is_empty() {
                return Err(AppendError::TooLarge { bytes: self.used + needed });
            }
            self.close();
            return self.open(frame, tries + 1);
        }
        self.used += needed;
        self.now.files.push(bare);
        frame.placed = vec![None; frame.conversations.len()];
        frame.file.extra.clear();
        Ok(())
    }

    fn close(&mut self) {
        let next = Record { id: new_id(), ..self.common.clone() };
        self.used = size(&next);
        self.done.push(std::mem::replace(&mut self.now, next));
    }

    fn finish(mut self) -> Vec<Record> {
        self.done.push(self.now);
        let count = u32::try_from(self.done.len()).unwrap_or(u32::MAX);
        for (record, number) in self.done.iter_mut().zip(1..) {
            record.part = Some((number, count));
        }
        self.done
    }
}

/// A file without its pieces, as every part repeats it.
struct Frame {
    file: FileRecord,
    conversations: Vec<Conversation>,
    /// Which conversations the current part has, and where.
    placed: Vec<Option<usize>>,
}

impl Frame {
    fn new(mut file: FileRecord) -> Self {
        let conversations = std::mem::take(&mut file.conversations);
        Self { placed: vec![None; conversations.len()], file, conversations }
    }

    fn bare(&self) -> FileRecord {
        let empty = |outline: &OutlineDelta| OutlineDelta {
            base: outline.base.clone(),
            hash: outline.hash.clone(),
            ..OutlineDelta::default()
        };
        FileRecord {
            relative_path: self.file.relative_path.clone(),
            related: self.file.related.clone(),
            outline: self.file.outline.as_ref().map(empty),
            extra: self.file.extra.clone(),
            conversations: Vec::new(),
            reasons: Vec::new(),
        }
    }

    /// Bytes that the piece adds to the current part, commas and list names included.
    fn needed(&self, piece: &Piece) -> usize {
        match piece {
            Piece::Range(at, range) => {
                let around = match self.placed[*at] {
                    Some(_) => 0,
                    None => length(&self.conversations[*at]) + 2,
                };
                length(range).saturating_add(around + 1)
            }
            Piece::Reason(text) | Piece::Edit(text) => length(text).saturating_add(16),
        }
    }

    fn put(&mut self, piece: Piece, file: &mut FileRecord) {
        match piece {
            Piece::Range(at, range) => {
                let place = *self.placed[at].get_or_insert_with(|| {
                    file.conversations.push(self.conversations[at].clone());
                    file.conversations.len() - 1
                });
                file.conversations[place].ranges.push(*range);
            }
            Piece::Reason(text) => file.reasons.push(text),
            Piece::Edit(text) => file.outline.get_or_insert_default().edits.push(text),
        }
    }
}
