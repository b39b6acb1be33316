//! A record that brought some lines, and what people did to it afterwards.

use std::sync::Arc;

use super::{Conversation, Entry, FileRecord};
use ground::RelativePath;

#[derive(Clone, Debug)]
pub struct Claim {
    pub entry: Arc<Entry>,
    pub path: RelativePath,
    /// The commit that brought the lines. `None` if they are not committed.
    pub commit: Option<String>,
    /// The records by which people put the lines under another intent, oldest first.
    pub reassigned: Vec<Arc<Entry>>,
}

impl Claim {
    pub fn file(&self) -> Option<&FileRecord> {
        self.entry.record.files.iter().find(|file| file.relative_path == self.path)
    }

    pub fn conversation(&self) -> Option<&Conversation> {
        self.file()?.conversations.first()
    }

    pub fn intent(&self) -> Option<&str> {
        self.last().record.intents().next()
    }

    pub fn is_disowned(&self) -> bool {
        self.reassigned.last().is_some_and(|entry| entry.record.intents().next().is_none())
    }

    pub fn last(&self) -> &Arc<Entry> {
        self.reassigned.last().unwrap_or(&self.entry)
    }
}
