//! Writes a note about the last call of each host, by which `intent doctor` knows that a host
//! really calls the hook.

use serde_json::json;

use super::answer::HookAnswer;
use super::host::Family;
use super::incoming::Incoming;
use ground::clock;
use ground::{Root, session, store};

/// Writes a note to `.orchestration/local/heartbeat/` of the workspace that the call came from. The
/// host already has its answer, so a note that cannot be written is skipped.
pub(crate) fn leave(heard: &Incoming, said: &HookAnswer) {
    let Some(event) = &heard.event else { return };
    let Ok(root) = Root::find(&event.cwd, &event.environment) else { return };
    if !root.governed() {
        return;
    }
    let Ok(local) = session::local(&root) else { return };
    let note = json!({
        "at": clock::now(),
        "version": env!("CARGO_PKG_VERSION"),
        "event": heard.name,
        "moment": heard.moment,
        "decision": decision(heard.family, said),
    });
    let file = local.join("heartbeat").join(format!("{}.json", heard.host.name));
    let _ = store::write_scratch(&file, format!("{note}\n").as_bytes());
}

fn decision(family: Family, said: &HookAnswer) -> &'static str {
    match said {
        // This family takes another input only together with a question to the person.
        HookAnswer::Rewrite { .. } if family == Family::Claude => "ask",
        HookAnswer::Nothing | HookAnswer::Context(_) | HookAnswer::Rewrite { .. } => "no_opinion",
        HookAnswer::Ask(_) => "ask",
        HookAnswer::Deny(_) => "deny",
        HookAnswer::Violation(_) => "violation",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewrite_is_a_question_where_a_person_is_asked() {
        let said = HookAnswer::Rewrite { input: json!({}), reason: String::new() };
        assert_eq!(decision(Family::Claude, &said), "ask");
        assert_eq!(decision(Family::Gemini, &said), "no_opinion");
    }
}
