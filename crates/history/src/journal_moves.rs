//! Lines that were moved, or whose file was renamed, since they were recorded and before they were
//! committed.
//!
//! The texts that the journal kept are treated as one commit, and the present texts as the next one:
//! a file goes on under another name by git's rule, and a whole block goes on to another place.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use code::saying_lines::says_something;
use ground::git::{BString, ChangedBlob, GitError, ObjectId, ObjectReader};
use ground::{RelativePath, Root};
use ledger::{Entry, Ledger};

use crate::attribution::{RecordedText, attribute};
use crate::journal_texts::recorded_texts;
use crate::moves::{RemovedCode, block_moves};
use crate::renames::Renames;
use crate::text::{LineText, language_of};

pub struct JournalTexts<'a, 'git> {
    pub root: &'a Root,
    pub reader: &'a mut ObjectReader<'git>,
    pub journal: &'a Ledger,
    pub is_wanted: &'a dyn Fn(&Entry) -> bool,
    /// Returns the present content of another file. `None` if it is gone.
    pub present: &'a ReadPresent<'a>,
    /// If the records are about more files of a language, nothing is looked for.
    pub max_files: usize,
    /// What was read already, by language.
    pub known: HashMap<&'static str, Rc<RecordsOfLanguage>>,
}

/// The records about the files of one language, from which code may have been moved.
#[derive(Default)]
pub struct RecordsOfLanguage {
    files: Vec<RecordsOfFile>,
    /// All texts of the files, and the last text of each.
    changed: Vec<ChangedBlob>,
    last: Vec<ChangedBlob>,
    removed: OnceCell<Arc<RemovedCode>>,
}

pub(crate) type ReadPresent<'a> =
    dyn Fn(&mut ObjectReader<'_>, &RelativePath) -> Option<Vec<u8>> + 'a;

/// A record that brought a line, and the path of the file at which it did.
pub(crate) type RecordAtPath = (Arc<Entry>, RelativePath);

/// The records about one file, newest first, and the id of each text.
struct RecordsOfFile {
    path: RelativePath,
    entries: Vec<Arc<Entry>>,
    texts: Vec<RecordedText>,
    blobs: Vec<ObjectId>,
}

impl RecordsOfFile {
    /// Returns the record of each line for which `is_asked` has true. Only the record at this index
    /// and those older than it are searched.
    fn owners(&self, at: usize, text: &LineText, is_asked: &[bool]) -> Vec<Option<RecordAtPath>> {
        let found =
            attribute(self.path.as_str(), (text, None), is_asked, &self.texts[at..]).into_iter();
        let owner = |nth: usize| (Arc::clone(&self.entries[at + nth]), self.path.clone());
        found.map(|nth| nth.map(owner)).collect()
    }
}

impl JournalTexts<'_, '_> {
    /// Returns for each line of a text the record that brought it to another place. Only lines for
    /// which `is_open` has true are looked for. If the file is new, another one may have been renamed
    /// to it.
    pub fn records_of_moved_lines(
        &mut self,
        path: &RelativePath,
        (text, is_new): (&LineText, bool),
        is_open: &[bool],
    ) -> Result<Vec<Option<RecordAtPath>>, GitError> {
        let mut found: Vec<Option<RecordAtPath>> = vec![None; text.len()];
        let Some(language) = language_of(path.as_str()).filter(|_| is_open.contains(&true)) else {
            return Ok(found);
        };
        let records = match self.known.get(language) {
            Some(known) => Rc::clone(known),
            None => Rc::new(self.records_of_language(language, (path, text))?),
        };
        self.known.insert(language, Rc::clone(&records));
        let place: BString = path.as_str().into();
        let of_path = |at: &BString| records.files.iter().find(|file| at == file.path.as_str());
        if is_new {
            let others = records.last.iter().filter(|one| one.path != place);
            let mut last: Vec<ChangedBlob> = others.cloned().collect();
            let now = Some(self.reader.hold(text.as_bytes().to_vec())?);
            last.push(ChangedBlob { path: place.clone(), before: None, now });
            let former = Renames::from_changes(&last).former_file(self.reader, place.as_ref())?;
            if let Some(file) = former.and_then(|(former, _)| of_path(&former)) {
                found = file.owners(0, text, is_open);
            }
        }
        let open: Vec<bool> =
            found.iter().zip(is_open).map(|(found, open)| *open && found.is_none()).collect();
        let found_blocks =
            block_moves(self.reader, &place, (text, None), &open, |reader, language| {
                if let Some(known) = records.removed.get() {
                    return Ok(Arc::clone(known));
                }
                let removed = RemovedCode::from_texts(reader, &records.changed, language)?;
                Ok(Arc::clone(records.removed.get_or_init(|| Arc::new(removed))))
            })?;
        for moved in found_blocks.moved {
            let Some(file) = of_path(&moved.path) else { continue };
            let Some(at) = file.blobs.iter().position(|blob| *blob == moved.blob) else { continue };
            let before = &file.texts[at].text;
            let owners = file.owners(at, before, &vec![true; before.len()]);
            for run in moved.lines {
                let lines = run.now.zip(run.before..);
                lines.for_each(|(line, there)| found[line] = owners[there].clone());
            }
        }
        Ok(found)
    }

    /// Reads the texts of the files of a language, one of which has this text now.
    fn records_of_language(
        &mut self,
        language: &'static str,
        (path, text): (&RelativePath, &LineText),
    ) -> Result<RecordsOfLanguage, GitError> {
        let mut read = RecordsOfLanguage::default();
        let mut paths = self.journal.paths();
        paths.retain(|other| language_of(other.as_str()) == Some(language));
        if paths.len() > self.max_files {
            return Ok(read);
        }
        for other in paths {
            let records = recorded_texts(self.root, self.journal, &other, self.is_wanted);
            let (entries, texts): (Vec<_>, Vec<RecordedText>) = records.into_iter().unzip();
            let now = match other == *path {
                true => Some(text.as_bytes().to_vec()),
                false => (self.present)(self.reader, &other),
            };
            let now = now.map(|bytes| self.reader.hold(bytes)).transpose()?;
            let mut blobs: Vec<ObjectId> = Vec::new();
            for recorded in &texts {
                let before = self.reader.hold(recorded.text.as_bytes().to_vec())?;
                let path: BString = other.as_str().into();
                let one = ChangedBlob { path, before: Some(before), now };
                if blobs.is_empty() {
                    read.last.push(one.clone());
                }
                // Who only moved code is not who wrote it.
                let mut brought = recorded.brought.iter().map(|line| recorded.text.line(*line));
                let has_brought = brought.any(|line| says_something(line, Some(language)));
                if has_brought && Some(before) != now && !blobs.contains(&before) {
                    read.changed.push(one);
                }
                blobs.push(before);
            }
            read.files.push(RecordsOfFile { path: other, entries, texts, blobs });
        }
        Ok(read)
    }
}
