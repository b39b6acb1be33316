//! Finds recorded blocks, in all files, whose intent or specification has changed since they were
//! written.

use super::deeds;
use crate::verbs::workspace::AT_ONCE;
use crate::verbs::{Workspace, suspect, why};
use crate::workspace::{Code, Finding, text};

/// Returns a finding for each such block. Files that cannot be read are skipped.
pub(super) fn all(ws: &Workspace) -> Vec<Finding> {
    let paths = ws.ledger.paths();
    let mut findings = Vec::new();
    for some in paths.chunks(AT_ONCE) {
        let ws = &ws.without_derived();
        for path in some {
            let Ok(document) = ws.read(path) else { continue };
            let file = why::file(ws, path, &document);
            for (at, suspicion) in suspect::of_file(ws, &file) {
                let block = &file.blocks.blocks[at];
                findings.push(Finding {
                    path: Some(path.clone()),
                    span: Some(block.name_bytes.clone()),
                    lines: Some(block.lines),
                    intent: Some(suspicion.intent),
                    ..Finding::new(
                        Code::Suspect,
                        format!("{}: {}.", deeds::name(block), suspicion.message),
                        format!(
                            "Read it again; where it still holds, `intent accept {}:{}`.",
                            text::shell_word(path.as_str()),
                            block.lines.start()
                        ),
                    )
                });
            }
        }
    }
    findings
}
