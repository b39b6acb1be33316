//! The texts that the journal kept after each recorded change.

use std::sync::Arc;

use code::language;
use ground::{RelativePath, Root};
use ledger::{Entry, FileRecord, Ledger, LineRuns, RecordKind, Trust, kept_text};

use crate::attribution::RecordedText;
use crate::knowledge::runs_about;
use crate::text::LineText;

/// Returns the records of the journal about a file with the texts that were kept, newest first. Of a
/// text that was too large the runs of lines are known. A record whose text is gone is left out.
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
        let mut files = entry.record.files.iter().filter(|file| file.relative_path == *path);
        let Some(key) = files.find_map(|file| file.text.as_ref()) else {
            let unkept: Vec<LineRuns> = unkept_runs(entry, path).cloned().collect();
            if !unkept.is_empty() {
                let text = RecordedText { text: Arc::default(), brought: Vec::new(), unkept };
                records.push((Arc::clone(entry), text));
            }
            continue;
        };
        let Some(bytes) = kept_text(root, key) else { continue };
        let text = LineText::new(bytes);
        let mut brought: Vec<usize> =
            runs_about(entry, path).flat_map(|runs| runs.find_in(&text, Vec::new)).collect();
        brought.sort_unstable();
        let text = RecordedText { text: Arc::new(text), brought, unkept: Vec::new() };
        records.push((Arc::clone(entry), text));
    }
    records.reverse();
    records
}

/// Returns the runs of lines that a record names in a file whose text was too large to be kept.
fn unkept_runs<'a>(entry: &'a Entry, path: &'a RelativePath) -> impl Iterator<Item = &'a LineRuns> {
    let of_path = move |file: &&FileRecord| file.relative_path == *path;
    let files = entry.record.files.iter().filter(of_path).filter(|file| file.text.is_none());
    let runs = files.flat_map(|file| &file.conversations).map(|one| &one.lines);
    runs.filter(|runs| !runs.is_empty())
}

/// Returns the lines of a text that records of the journal brought whose texts were too large to be
/// kept. A later record of the file does not bring them again.
pub fn lines_of_unkept_texts(journal: &Ledger, path: &RelativePath, text: &LineText) -> Vec<usize> {
    let is_work = |entry: &&Arc<Entry>| {
        entry.record.kind == RecordKind::Mutation && entry.record.of.is_none()
    };
    let entries = journal.of_path(path).filter(is_work);
    let runs = entries.flat_map(|entry| unkept_runs(entry, path));
    runs.flat_map(|runs| runs.find_in(text, || (0..text.len()).collect())).collect()
}

pub(crate) fn language_of(path: &RelativePath) -> Option<&'static str> {
    language::of_file(path.as_str(), "").map(|language| language.id)
}
