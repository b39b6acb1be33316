//! Finds recorded blocks, in all files, whose intent or specification has changed since they were
//! written.

use super::changed_parts;
use ground::{Code, Finding, text};
use why::{Workspace, answers, suspect};

/// Returns a finding for each such block. Files that cannot be read are skipped.
pub(super) fn suspect_findings(ws: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (ws, paths) in ws.in_parts(ws.ledger.paths()) {
        let ws = &ws;
        for path in paths {
            let Ok(document) = ws.read(path) else { continue };
            let file = answers::file(ws, path, &document);
            for (at, suspicion) in suspect::of_file(ws, &file.provenance) {
                let block = &file.blocks.blocks[at];
                let message = format!("{}: {}.", changed_parts::name(block), suspicion.message);
                let place = format!("{}:{}", text::shell_word(path.as_str()), block.lines.start());
                let help = format!("Read it again; where it still holds, `intent accept {place}`.");
                findings.push(Finding {
                    intent: Some(suspicion.intent),
                    ..Finding::new(Code::Suspect, message, help).at_block(path, block)
                });
            }
        }
    }
    findings
}
