//! Sentences for a person about a registry or evidence that cannot be read.

use ground::Code;
use ledger::evidence;

use crate::Workspace;

impl Workspace {
    /// Says where the registry is and why it cannot be read, or that it is lost. `None` if it was read.
    pub fn unread_registry(&self) -> Option<String> {
        if let Some(lost) = self.lost_registry() {
            return Some(lost);
        }
        let finding = self.registry.syntax_error()?;
        let place = finding.place_in_compiler_form(self.registry.path());
        Some(format!("The registry cannot be read. {place}: {}", finding.message))
    }

    /// Says that this clone lacks history, and how to get it.
    pub(crate) fn missing_history_note(&self) -> String {
        let code = Code::HistoryMissing.as_str();
        format!("{code}: commits are missing here; {}.", self.how_to_get_history())
    }

    /// Says that there is evidence in a newer format than this program can read. `None` if there is
    /// none.
    pub fn unread_evidence(&self) -> Option<String> {
        self.ledger.newer_formats().map(|(_, version)| version).max().map(newer_format_note)
    }

    /// Like [`Self::unread_evidence`], for a question that needs no evidence. Only one file is opened.
    pub fn unread_evidence_seen(&self) -> Option<String> {
        evidence::newer_format_of_last(&self.root).map(newer_format_note)
    }
}

/// Says that there is evidence in a newer format, and what to do. For example, a colleague's newer
/// version of the program wrote it.
pub(crate) fn newer_format_note(format: u32) -> String {
    format!(
        "The ledger is not read in full: there is evidence in format {format}, while this version of `intent` knows {}. Install a newer version; `intent evidence verify` names the files.",
        evidence::FORMAT
    )
}
