//! What a change did to a file: the lines that it brought, and the blocks that it touched.

use std::collections::HashSet;

use code::saying_lines::says_something;
use code::{Block, ContentHash, Document, LineRange};
use ground::RelativePath;
use history::{LineText, new_lines};
use ledger::{BlockRecord, Digest, LineRuns, keep_text};
use provenance::Difference;
use provenance::outline::Against;
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
    /// The earlier texts. A line that one of them has is not new. The blocks are compared with the
    /// last of them.
    pub before: &'a [Document],
    pub now: &'a Document,
    /// For each line of `now`, whether it counts as brought although an earlier text has it. Empty
    /// if none does.
    pub also: &'a [bool],
}

impl TextsOfChange<'_> {
    /// Returns for each line whether the change brought it. Lines of a block with a syntax error,
    /// and lines in the middle of a merge conflict, are left out.
    pub fn brought(&self, change: &mut FileChange) -> Vec<bool> {
        let texts: Vec<LineText> = self.before.iter().map(line_text).collect();
        let now = line_text(self.now);
        let mut brought = new_lines(&texts.iter().collect::<Vec<_>>(), &now);
        brought.iter_mut().zip(self.also).for_each(|(line, also)| *line |= also);
        let text = self.now.text();
        for conflict in code::conflicts(&text) {
            let (start, end) = (conflict.start(), conflict.end());
            let reason = format!("lines {start}-{end} hold a merge conflict; resolve that first");
            leave_out(&mut brought, conflict, &mut change.left, "", &reason);
        }
        for block in self.now.blocks().blocks.iter().filter(|block| block.broken) {
            leave_out(
                &mut brought,
                block.whole_lines,
                &mut change.left,
                &name_of(block),
                "does not parse",
            );
        }
        brought
    }

    /// Returns the blocks with a line for which `brought` is true, those that only lost lines, and
    /// those that are gone.
    pub(crate) fn touched_blocks(&self, brought: &[bool]) -> Vec<BlockRecord> {
        let language = self.now.language().map(|language| language.id);
        let blocks = self.now.blocks();
        let Some(before) = self.before.last() else {
            let all = blocks.blocks.iter().filter(|block| !block.broken);
            return all.map(|block| provenance::textless(block, language)).collect();
        };
        let difference = Difference::new(before, self.now);
        let edits = Edits::from_differences(std::slice::from_ref(&difference));
        let changed = edits.now.iter().filter(|(_, how)| *how != Against::Same);
        let changed: HashSet<usize> = changed.map(|(at, _)| *at).collect();
        let also = self.also.iter().zip(brought).enumerate();
        let also = also.filter(|(_, (also, brought))| **also && **brought);
        let also = also.filter_map(|(line, _)| blocks.at_line(u32::try_from(line + 1).ok()?));
        let with_such_line: HashSet<usize> = also.collect();
        let has_line = |block: &Block| {
            let (start, end) =
                (block.whole_lines.start() as usize, block.whole_lines.end() as usize);
            brought.iter().take(end).skip(start - 1).any(|brought| *brought)
        };
        let is_touched = |at: usize, block: &Block| {
            let only_lost_lines = || !difference.added_lines(at).contains(&true);
            let is_changed = changed.contains(&at) && (has_line(block) || only_lost_lines());
            with_such_line.contains(&at) || is_changed
        };
        let all = blocks.blocks.iter().enumerate().filter(|(_, block)| !block.broken);
        let touched = all.filter(|(at, block)| is_touched(*at, block));
        let mut ranges: Vec<BlockRecord> =
            touched.map(|(_, block)| provenance::textless(block, language)).collect();
        let gone = edits.gone.iter().filter(|block| !block.identity.kind.is_unnamed());
        ranges.extend(
            gone.filter(|_| !blocks.has_error).map(|block| BlockRecord {
                deleted: true,
                ..provenance::textless(block, language)
            }),
        );
        ranges
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
        brought: &[bool],
    ) -> Result<(), VerbError> {
        let now = line_text(texts.now);
        self.lines = LineRuns::of_chosen(&now, |line| brought[line]);
        self.ranges = texts.touched_blocks(brought);
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
pub(crate) fn leave_out_cut_blocks(ws: &Workspace, now: &Document, brought: &mut [bool]) {
    let (text, blocks) = (line_text(now), now.blocks());
    let language = now.language().map(|language| language.id);
    let says = |line: &usize| says_something(text.line(*line), language);
    let lines_of = |block: &Block| {
        let end = brought.len().min(block.whole_lines.end() as usize);
        block.whole_lines.start() as usize - 1..end
    };
    let is_new = |block: &&Block| {
        let lines = lines_of(block);
        let is_large = lines.clone().filter(says).nth(1).is_some();
        !block.identity.kind.is_unnamed() && is_large && brought[lines].contains(&true)
    };
    let new: Vec<&Block> = blocks.blocks.iter().filter(is_new).collect();
    if new.is_empty() {
        return;
    }
    let current = ws.clone().with_records_of_now();
    let records = current.journal.entries().iter().map(|entry| &entry.record);
    let files = records.filter(|record| record.of.is_none()).flat_map(|record| &record.files);
    let cut = files.flat_map(|file| file.ranges()).filter(|range| range.deleted);
    let cut: HashSet<&ContentHash> = cut.map(|range| &range.content_hash).collect();
    let moved = new.into_iter().filter(|block| cut.contains(&block.fingerprint.content));
    let moved: Vec<_> = moved.map(lines_of).collect();
    moved.into_iter().for_each(|lines| brought[lines].fill(false));
}

pub(crate) fn line_text(document: &Document) -> LineText {
    LineText::new(document.text().into_bytes())
}

fn leave_out(
    brought: &mut [bool],
    lines: LineRange,
    left: &mut Vec<(String, String)>,
    name: &str,
    reason: &str,
) {
    let end = brought.len().min(lines.end() as usize);
    let Some(inside) = brought.get_mut(lines.start() as usize - 1..end) else { return };
    if inside.contains(&true) {
        inside.fill(false);
        left.push((name.to_owned(), reason.to_owned()));
    }
}

pub(crate) fn name_of(block: &Block) -> String {
    format!("{} {}", block.identity.kind.as_str(), block.identity.path)
}
