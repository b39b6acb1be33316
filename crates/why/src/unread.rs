//! What of a workspace cannot be read, in sentences for its user.

use ledger::evidence;

use crate::Workspace;

impl Workspace {
    /// Says that the registry is lost or cannot be read, where and why. `None` otherwise.
    pub fn unread_registry(&self) -> Option<String> {
        if let Some(lost) = self.lost_registry() {
            return Some(lost);
        }
        let finding = self.registry.syntax_error()?;
        let place = finding.place_in_compiler_form(self.registry.path());
        Some(format!("The registry cannot be read. {place}: {}", finding.message))
    }

    /// Says that there is evidence in a newer format than this program can read. `None` if there is
    /// none.
    pub fn unread_evidence(&self) -> Option<String> {
        self.ledger.newer_formats().map(|(_, version)| version).max().map(newer_format_note)
    }

    /// Lets go of the evidence that was read to say who brought lines. A question about all files
    /// reads most of it, and needs none of it once it is answered.
    pub fn forget_read_evidence(&self) {
        self.known_evidence.forget();
    }

    /// Like [`Self::unread_evidence`], for a question that needs no evidence. Only some files are
    /// looked at.
    pub fn unread_evidence_seen(&self) -> Option<String> {
        evidence::newer_format_of_some(&self.root).map(newer_format_note)
    }
}

/// Says that there is evidence in a format that this program cannot read.
pub(crate) fn newer_format_note(format: u32) -> String {
    format!(
        "The ledger is not read in full: there is evidence in format {format}, while this version of `intent` knows {}. Install a newer version; `intent verify` names the files.",
        evidence::FORMAT
    )
}
