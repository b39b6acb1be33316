//! The text for a system prompt that tells an agent how to work in a workspace with intents.

/// Plain text of at most 25 short lines. It names no host.
pub const PROTOCOL: &str = "\
This repository asks every change for its intent: who wanted it, and why.

1. See what there is: list_intents, or `intent list`.
2. Before the first write, select the one you work under: select_active_intent, or
   `intent select ID`. The answer is its context: constraints, scope, criteria, and
   what was done under it before. Read it. Reading files needs no intent.
3. Write only files that its owned_scope names. Constraints hold whatever else you do.
4. A denial says why and what to do next. Do that; do not try the same by another way.
   INTENT_REQUIRED, UNKNOWN_INTENT, INTENT_NOT_ACTIVE: select an intent in progress.
   SCOPE_VIOLATION: the file belongs to another intent, or to none. Leave it, or call
   request_scope with your reasons; a person decides.
   STALE_FILE: somebody changed it since you read it. Read it again, then write.
   PROTECTED_PATH, IGNORED_PATH: leave the file as it is.
5. No intent fits? Call propose_intent, or ask the person. Never edit .orchestration/,
   ignore files or the settings of these tools yourself, and approve nothing yourself.
6. Learned something that the next one should know? One sentence: record_lesson, or
   `intent lesson TEXT`. No secrets, no names of people.
7. What you write is recorded under the intent. Say so if a write went wrong.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::DenialCode;

    #[test]
    fn the_protocol_for_agents_is_short_and_plain() {
        assert!(PROTOCOL.lines().count() <= 25);
        assert!(PROTOCOL.lines().all(|line| line.len() <= 90));
        assert!(PROTOCOL.is_ascii() && !PROTOCOL.contains(['\t', '\r']));
        let hosts = ["claude", "codex", "cursor", "copilot", "gemini", "windsurf", "cline"];
        let text = PROTOCOL.to_lowercase();
        assert!(hosts.iter().all(|host| !text.contains(host)));
    }

    #[test]
    fn the_protocol_says_what_to_do_about_each_denial() {
        let codes = [
            DenialCode::IntentRequired,
            DenialCode::UnknownIntent,
            DenialCode::IntentNotActive,
            DenialCode::ScopeViolation,
            DenialCode::ProtectedPath,
            DenialCode::IgnoredPath,
        ];
        for code in codes {
            assert!(PROTOCOL.contains(&code.to_string()), "{code}");
        }
    }
}
