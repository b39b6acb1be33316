//! The texts that the journal kept after each recorded change.

use std::sync::Arc;

use ground::{RelativePath, Root};
use ledger::{Entry, Ledger, LineRuns, RecordKind, Trust, kept_text};

use crate::attribution::RecordedText;
use crate::claimed_lines::runs_about;
use crate::text::LineText;

/// Returns the records of the journal about a file with the texts that were kept, newest first. If
/// a text was too large to be kept or is gone, only its runs of lines are known.
pub fn recorded_texts(
    root: &Root,
    journal: &Ledger,
    path: &RelativePath,
    is_wanted: impl Fn(&Entry) -> bool,
) -> Vec<(Arc<Entry>, RecordedText)> {
    let mut records = Vec::new();
    for entry in journal.of_path(path) {
        // A line that was changed since it was written names no intent.
        let is_forged = entry.trust == Trust::Contradicted;
        if entry.record.kind != RecordKind::Mutation || is_forged || !is_wanted(entry) {
            continue;
        }
        let Some(bytes) = text_after(root, entry, path) else {
            let runs = runs_about(entry, path).filter(|runs| !runs.is_empty());
            let unkept: Vec<LineRuns> = runs.cloned().collect();
            if !unkept.is_empty() {
                let text = RecordedText { unkept, ..RecordedText::default() };
                records.push((Arc::clone(entry), text));
            }
            continue;
        };
        let text = LineText::new(bytes);
        let mut brought: Vec<usize> =
            runs_about(entry, path).flat_map(|runs| runs.standing_lines(&text)).collect();
        brought.sort_unstable();
        let files = entry.record.files.iter().filter(|file| file.relative_path == *path);
        let blocks = files.flat_map(|file| file.ranges()).filter_map(|range| range.block.as_ref());
        let blocks = blocks.map(|block| block.path.clone()).collect();
        let text =
            RecordedText { text: Arc::new(text), brought, blocks, ..RecordedText::default() };
        records.push((Arc::clone(entry), text));
    }
    records.reverse();
    records
}

/// Returns the text that a file had after a record. `None` if it was too large to be kept, or is gone.
fn text_after(root: &Root, entry: &Entry, path: &RelativePath) -> Option<Vec<u8>> {
    let mut files = entry.record.files.iter().filter(|file| file.relative_path == *path);
    kept_text(root, files.find_map(|file| file.text.as_ref())?)
}

/// Returns the lines of a text that records of the journal brought whose texts were too large to be
/// kept or are gone. A later record of the file does not bring them again.
pub fn lines_of_unkept_texts(
    root: &Root,
    journal: &Ledger,
    path: &RelativePath,
    text: &LineText,
) -> Vec<usize> {
    let is_unkept = |entry: &&Arc<Entry>| {
        entry.record.kind == RecordKind::Mutation
            && entry.record.of.is_none()
            && text_after(root, entry, path).is_none()
    };
    let entries = journal.of_path(path).filter(is_unkept);
    let runs = entries.flat_map(|entry| runs_about(entry, path));
    runs.flat_map(|runs| runs.possible_lines(text)).collect()
}
