//! Recorded blocks whose reason is no longer the one that they were written for, in all files, changed or not.

use super::deeds;
use crate::verbs::workspace::AT_ONCE;
use crate::verbs::{Workspace, suspect, why};
use crate::workspace::{Code, Finding, text};

/// One finding for each such block. A file that cannot be read has none.
pub(super) fn all(ws: &Workspace) -> Vec<Finding> {
    let paths = ws.ledger.paths();
    let mut findings = Vec::new();
    for some in paths.chunks(AT_ONCE) {
        let ws = &ws.forgetful();
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
