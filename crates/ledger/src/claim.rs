//! A record that brought some lines, and what people did to it afterwards.

use std::sync::Arc;

use super::{Conversation, Entry, FileRecord};
use ground::RelativePath;

/// A record that brought lines of a file.
#[derive(Clone, Debug)]
pub struct Claim {
    pub entry: Arc<Entry>,
    /// The path of the file in the record.
    pub path: RelativePath,
    /// The commit that brought the lines. `None` if they are not committed.
    pub commit: Option<String>,
    /// The records by which people put the lines under another intent, oldest first.
    pub reassigned: Vec<Arc<Entry>>,
}

impl Claim {
    /// Returns the part of the record about the file.
    pub fn file(&self) -> Option<&FileRecord> {
        self.entry.record.files.iter().find(|file| file.relative_path == self.path)
    }

    /// Returns the part of the record that says who changed the file.
    pub fn conversation(&self) -> Option<&Conversation> {
        self.file()?.conversations.first()
    }

    /// Returns the id of the intent that the lines belong to now.
    pub fn intent(&self) -> Option<&str> {
        self.last().record.intents().next()
    }

    /// Returns true if a person said that the lines belong to no intent.
    pub fn is_disowned(&self) -> bool {
        self.reassigned.last().is_some_and(|entry| entry.record.intents().next().is_none())
    }

    /// Returns the record that says which intent the lines belong to now.
    pub fn last(&self) -> &Arc<Entry> {
        self.reassigned.last().unwrap_or(&self.entry)
    }
}
