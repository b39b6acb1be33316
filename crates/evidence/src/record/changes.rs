//! What a change did to a file: the lines that it brought, and the blocks that it touched.

use std::collections::HashSet;
use std::ops::Range;

use code::saying_lines::says_something;
use code::{Block, Document, LineRange};
use ground::RelativePath;
use history::{LineText, new_lines};
use ledger::{BlockRecord, Digest, LineRuns, Record, keep_text};
use provenance::{Difference, has_left};
use why::baseline::Edits;
use why::{VerbError, Workspace};

#[derive(Clone, Debug, Default)]
pub(crate) struct FileChange {
    pub lines: LineRuns,
    pub ranges: Vec<BlockRecord>,
    /// The key of the text after the change.
    pub text: Option<Digest>,
    pub from: Option<RelativePath>,
    /// Names of blocks, each with the reason why its lines are left out.
    pub left: Vec<(String, String)>,
}

pub(crate) struct TextsOfChange<'a> {
    /// The texts that the change is compared with: the committed ones, or the one before a call. What
    /// one of them has is not new.
    pub before: &'a [Document],
    /// Other texts. Somebody else answers for the lines that one of them has.
    pub elsewhere: &'a [Document],
    pub recorded: RecordedChanges<'a>,
    pub now: &'a Document,
    /// For each line of `now`, whether it counts as brought although an earlier text has it. Empty
    /// if none does.
    pub also: &'a [bool],
}

/// What the journal says of earlier changes of a file.
#[derive(Default)]
pub(crate) struct RecordedChanges<'a> {
    /// The text that the last of them left. `None` if it is not known.
    pub text: Option<Document>,
    /// Whether the last of them was recorded since the newest commit, so that only later changes
    /// made the difference to its text.
    pub is_newest: bool,
    pub blocks: Vec<&'a BlockRecord>,
}

/// What a change did to the lines of the text after it.
pub(crate) struct ChangedLines {
    pub brought: Vec<bool>,
    /// The lines for which somebody else answers, or that cannot be recorded as they are.
    left_out: Vec<bool>,
}

impl ChangedLines {
    /// Leaves out some lines, counted from 0. Returns true if the change brought one of them.
    pub fn leave_out(&mut self, lines: Range<usize>) -> bool {
        let lines = lines.start.min(self.brought.len())..lines.end.min(self.brought.len());
        self.left_out[lines.clone()].fill(true);
        let has_brought = self.brought[lines.clone()].contains(&true);
        self.brought[lines].fill(false);
        has_brought
    }
}

impl RecordedChanges<'_> {
    fn has_deleted(&self, block: &Block) -> bool {
        self.blocks.iter().any(|range| range.deleted && range.has_name_of(block))
    }
}

impl<'a> TextsOfChange<'a> {
    pub fn new(before: &'a [Document], now: &'a Document) -> Self {
        Self { before, elsewhere: &[], recorded: RecordedChanges::default(), now, also: &[] }
    }

    /// Returns the text that the change is made from, if one is known.
    pub fn newest(&self) -> Option<&Document> {
        let recorded = self.recorded.text.as_ref();
        let is_newest = self.recorded.is_newest || self.before.is_empty();
        recorded.filter(|_| is_newest).or(self.before.last())
    }

    /// Returns the lines that the change brought. Lines of a block with a syntax error, and lines in
    /// the middle of a merge conflict, are left out.
    pub fn changed_lines(&self, change: &mut FileChange) -> ChangedLines {
        let earlier = self.before.iter().chain(&self.recorded.text);
        let texts: Vec<LineText> = earlier.map(line_text).collect();
        let now = line_text(self.now);
        let mut brought = new_lines(&texts.iter().collect::<Vec<_>>(), &now);
        brought.iter_mut().zip(self.also).for_each(|(line, also)| *line |= also);
        let left_out = vec![false; brought.len()];
        let mut lines = ChangedLines { brought, left_out };
        if !self.elsewhere.is_empty() {
            let others: Vec<LineText> = self.elsewhere.iter().map(line_text).collect();
            let is_new = new_lines(&others.iter().collect::<Vec<_>>(), &now);
            (0..is_new.len()).filter(|line| !is_new[*line]).for_each(|line| {
                if lines.brought[line] {
                    lines.leave_out(line..line + 1);
                }
            });
        }
        let mut leave_out = |range: LineRange, name: String, reason: &str| {
            if lines.leave_out(range.start() as usize - 1..range.end() as usize) {
                change.left.push((name, reason.to_owned()));
            }
        };
        for conflict in code::conflicts(&self.now.text()) {
            let (start, end) = (conflict.start(), conflict.end());
            let reason = format!("lines {start}-{end} hold a merge conflict; resolve that first");
            leave_out(conflict, String::new(), &reason);
        }
        for block in self.now.blocks().blocks.iter().filter(|block| block.broken) {
            leave_out(block.whole_lines, block.identity.to_string(), "does not parse");
        }
        lines
    }

    /// Returns the blocks that the change touched: those that `check` would call changed or deleted,
    /// but for those that an earlier record left so, and those of which only lines changed that are
    /// left out.
    fn touched_blocks(&self, lines: &ChangedLines) -> Vec<BlockRecord> {
        let language = self.now.language().map(|language| language.id);
        let blocks = self.now.blocks();
        let record = |block: &Block| provenance::textless(block, language);
        let recorded = self.recorded.text.as_slice();
        let before = if self.before.is_empty() { recorded } else { self.before };
        let difference = |before: &Document| Difference::new(before, self.now);
        let differences: Vec<Difference> = before.iter().map(difference).collect();
        let since_record = recorded.first().map(difference);
        let edited: Vec<usize> = match &differences[..] {
            [] => (0..blocks.blocks.len()).collect(),
            _ => Edits::from_differences(&differences).now.iter().map(|(at, _)| *at).collect(),
        };
        let changed = edited.iter().copied();
        let changed: HashSet<usize> =
            changed.filter(|at| !self.is_recorded(*at, since_record.as_ref())).collect();
        let with_one_of = |is_one: &dyn Fn(usize) -> bool| -> HashSet<usize> {
            let lines = (0..lines.brought.len()).filter(|line| is_one(*line));
            lines.filter_map(|line| blocks.at_line(u32::try_from(line + 1).ok()?)).collect()
        };
        let brought = with_one_of(&|line| lines.brought[line]);
        let left_out = with_one_of(&|line| lines.left_out[line]);
        let also =
            with_one_of(&|line| lines.brought[line] && self.also.get(line).is_some_and(|it| *it));
        let is_touched = |at: &usize| {
            let is_left_out = left_out.contains(at) && !brought.contains(at);
            also.contains(at) || changed.contains(at) && !is_left_out
        };
        let touched = (0..blocks.blocks.len()).filter(is_touched).map(|at| &blocks.blocks[at]);
        let mut ranges: Vec<BlockRecord> =
            touched.filter(|block| !block.broken).map(record).collect();
        if !blocks.has_error {
            // A block without a name may have become part of another one.
            let is_edited = !edited.is_empty() || blocks.blocks.is_empty();
            let gone = self.deleted_blocks(differences.last(), since_record.as_ref()).into_iter();
            let gone = gone.filter(|block| !is_edited || !block.identity.kind.is_unnamed());
            ranges.extend(gone.map(|block| BlockRecord { deleted: true, ..record(block) }));
        }
        ranges
    }

    fn is_recorded(&self, at: usize, since_record: Option<&Difference>) -> bool {
        let (blocks, mut records) = (self.now.blocks(), self.recorded.blocks.iter());
        since_record.is_none_or(|since| !since.touches(at))
            && records.any(|range| has_left(range, &blocks, at, true))
    }

    fn deleted_blocks<'d>(
        &self,
        difference: Option<&'d Difference>,
        since_record: Option<&'d Difference>,
    ) -> Vec<&'d Block> {
        let removed = |by: Option<&'d Difference>| by.map(Difference::removed_blocks);
        let since = removed(since_record).unwrap_or_default();
        let mut gone = removed(difference).unwrap_or_default();
        let is_in = |all: &[&Block], one: &Block| all.iter().any(|it| it.identity == one.identity);
        gone.retain(|block| is_in(&since, block) || !self.recorded.has_deleted(block));
        if self.recorded.is_newest {
            // A block that is in no commit may have been deleted.
            let more: Vec<&Block> =
                since.into_iter().filter(|block| !is_in(&gone, block)).collect();
            gone.extend(more);
        }
        gone
    }
}

impl FileChange {
    pub(crate) fn is_nothing(&self) -> bool {
        self.lines.is_empty() && self.ranges.is_empty()
    }

    pub fn complete(
        &mut self,
        ws: &Workspace,
        texts: &TextsOfChange<'_>,
        lines: &ChangedLines,
    ) -> Result<(), VerbError> {
        let (now, brought) = (line_text(texts.now), &lines.brought);
        self.lines = LineRuns::of_chosen(&now, |line| brought[line]);
        self.ranges = texts.touched_blocks(lines);
        let is_blank = |line: usize| now.line(line).trim_ascii().is_empty();
        if self.ranges.is_empty() && (0..brought.len()).all(|line| !brought[line] || is_blank(line))
        {
            // Blank lines alone say nothing.
            self.lines = LineRuns::default();
        }
        if !self.is_nothing() && !now.is_empty() {
            self.text = keep_text(&ws.root, texts.now.text().as_bytes())?;
        }
        Ok(())
    }
}

/// Leaves out the lines of blocks that an earlier change took out and that no commit has taken out
/// yet. Whoever puts such a block somewhere moves it or brings it back, and did not write it. As for
/// every move, a block counts only if at least two of its lines say something.
///
/// Such a change is in the journal, or is one of `records`, which are about to be appended.
pub(crate) fn leave_out_cut_blocks(
    ws: &Workspace,
    records: &[Record],
    now: &Document,
    brought: &mut [bool],
) {
    let (text, blocks) = (line_text(now), now.blocks());
    let language = now.language().map(|language| language.id);
    let says = |line: &usize| says_something(text.line(*line), language);
    let range_of = |lines: LineRange| {
        let end = brought.len().min(lines.end() as usize);
        lines.start() as usize - 1..end
    };
    let is_new = |block: &&Block| {
        let lines = range_of(block.whole_lines);
        let is_large = lines.clone().filter(says).nth(1).is_some();
        !block.identity.kind.is_unnamed() && is_large && brought[lines].contains(&true)
    };
    let new: Vec<&Block> = blocks.blocks.iter().filter(is_new).collect();
    if new.is_empty() {
        return;
    }
    let records = ws.journal.entries().iter().map(|entry| &entry.record).chain(records);
    let files = records.filter(|record| record.of.is_none()).flat_map(|record| &record.files);
    let cut: Vec<&BlockRecord> =
        files.flat_map(|file| file.ranges()).filter(|range| range.deleted).collect();
    let moved_lines = |block: &Block| {
        let mut same = cut.iter().filter(|cut| cut.content_hash == block.fingerprint.content);
        let is_whole = same.clone().any(|cut| cut.has_lead_of(block));
        // Another lead was written here, although the block was not.
        same.next().map(|_| range_of(if is_whole { block.whole_lines } else { block.lines }))
    };
    let moved: Vec<_> = new.into_iter().filter_map(moved_lines).collect();
    moved.into_iter().for_each(|lines| brought[lines].fill(false));
}

pub(crate) fn line_text(document: &Document) -> LineText {
    LineText::new(document.text().into_bytes())
}

/// Returns the text without the lines that a record leaves out because of a syntax error or a merge
/// conflict.
pub(crate) fn readable_text(document: &Document) -> LineText {
    let (text, blocks) = (document.text(), document.blocks());
    let broken = blocks.blocks.iter().filter(|block| block.broken).map(|block| block.whole_lines);
    let unreadable: Vec<LineRange> = code::conflicts(&text).into_iter().chain(broken).collect();
    let is_readable = |at: usize| {
        !u32::try_from(at + 1).is_ok_and(|line| unreadable.iter().any(|lines| lines.contains(line)))
    };
    let lines = text.split_inclusive('\n').enumerate();
    let readable: String = lines.filter(|(at, _)| is_readable(*at)).map(|(_, line)| line).collect();
    LineText::new(readable.into_bytes())
}
