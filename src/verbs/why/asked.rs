//! Who asked for an intent, for which requirements, and what they said must hold.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{IntentBrief, IntentVersion};
use crate::intent::{Intent, Spanned};
use crate::ledger::Claim;
use crate::verbs::Workspace;

/// Keys under which teams write the ticket of an intent; the canonical form has none of its own.
const TICKETS: [&str; 6] = ["ticket", "tickets", "issue", "issues", "jira", "jira_ticket"];

/// Who asked for an intent, for which requirements, and what must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AskedFor {
    /// Who asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Tickets that the registry names with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<String>,
    /// Requirements that it serves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_specs: Vec<String>,
    /// What must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
}

impl AskedFor {
    /// A label and what stands behind it: `asked by` and `@ada for REQ-001, SHOP-12`, or `for` and `REQ-001`. `None`
    /// where nobody is named, nor what for.
    pub fn said(&self) -> Option<(&'static str, String)> {
        let reasons: Vec<&str> =
            self.tickets.iter().chain(&self.related_specs).map(String::as_str).collect();
        match (&self.owner, reasons.is_empty()) {
            (Some(owner), true) => Some(("asked by", owner.clone())),
            (Some(owner), false) => {
                Some(("asked by", format!("{owner} for {}", reasons.join(", "))))
            }
            (None, true) => None,
            (None, false) => Some(("for", reasons.join(", "))),
        }
    }
}

/// Who asked for the intent of a block: by the registry, or, where that has not this intent, by the block's record.
pub(super) fn of(
    ws: &Workspace,
    brief: &IntentBrief,
    claim: Option<&Claim<'_>>,
) -> Option<AskedFor> {
    let is_registered = brief.version != Some(IntentVersion::Other);
    let asked = match ws.registry.get(&brief.id).filter(|_| is_registered) {
        Some(intent) => of_intent(intent),
        None => AskedFor { related_specs: specs(claim?), ..AskedFor::default() },
    };
    (asked != AskedFor::default()).then_some(asked)
}

fn of_intent(intent: &Intent) -> AskedFor {
    let values = |list: &[Spanned<String>]| list.iter().map(|entry| entry.value.clone()).collect();
    AskedFor {
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        tickets: TICKETS.iter().filter_map(|key| intent.extra.get(*key)).flat_map(words).collect(),
        related_specs: values(&intent.related_specs),
        constraints: values(&intent.constraints),
    }
}

/// A text, a number, or a list of them.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(list) => list.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

fn specs(claim: &Claim<'_>) -> Vec<String> {
    let related = claim.file.relations().filter(|one| one.kind == "specification");
    related.map(|one| one.value.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_and_what_for_are_one_phrase() {
        let said = |owner: Option<&str>, tickets: &[&str], specs: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
            let asked = AskedFor {
                owner: owner.map(str::to_owned),
                tickets: owned(tickets),
                related_specs: owned(specs),
                constraints: Vec::new(),
            };
            asked.said().map(|(label, rest)| format!("{label} {rest}"))
        };
        assert_eq!(said(Some("@ada"), &[], &[]).as_deref(), Some("asked by @ada"));
        let both = said(Some("@ada"), &["SHOP-12"], &["REQ-001"]);
        assert_eq!(both.as_deref(), Some("asked by @ada for SHOP-12, REQ-001"));
        assert_eq!(said(None, &[], &["REQ-001"]).as_deref(), Some("for REQ-001"));
        assert_eq!(said(None, &[], &[]), None);
    }
}
