//! Writes a note about the last call of each host, by which `intent doctor` knows that a host
//! really calls the hook.

use serde_json::json;

use super::answer::HookAnswer;
use super::incoming::Incoming;
use crate::workspace::clock;
use crate::workspace::{Root, session, store};

/// Writes a note to `.orchestration/local/heartbeat/` of the workspace that the call came from. The
/// host already has its answer, so a note that cannot be written is skipped.
pub(crate) fn leave(heard: &Incoming, said: &HookAnswer) {
    let Some(event) = &heard.event else { return };
    let Ok(root) = Root::find(&event.cwd) else { return };
    if !root.governed() {
        return;
    }
    let Ok(local) = session::local(&root) else { return };
    let note = json!({
        "at": clock::now(),
        "version": env!("CARGO_PKG_VERSION"),
        "event": heard.name,
        "moment": heard.moment,
        "decision": decision(said),
    });
    let file = local.join("heartbeat").join(format!("{}.json", heard.host.name));
    let _ = store::write_scratch(&file, format!("{note}\n").as_bytes());
}

fn decision(said: &HookAnswer) -> &'static str {
    match said {
        HookAnswer::Nothing | HookAnswer::Context(_) | HookAnswer::Rewrite { .. } => "no_opinion",
        HookAnswer::Ask(_) => "ask",
        HookAnswer::Deny(_) => "deny",
        HookAnswer::Violation(_) => "violation",
    }
}
