//! Finds who asked for an intent, for which requirements, and under which constraints.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Workspace;
use crate::answers::{IntentBrief, IntentVersion};
use intents::{Intent, Spanned};
use ledger::Claim;

/// Keys under which teams write the ticket of an intent. The canonical format of the registry has
/// no such key.
const TICKETS: [&str; 6] = ["ticket", "tickets", "issue", "issues", "jira", "jira_ticket"];

/// The people, requirements and constraints behind an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AskedFor {
    /// The person who asked for the intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Tickets that the registry names for the intent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<String>,
    /// Requirements that the intent serves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_specs: Vec<String>,
    /// The constraints of the intent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
}

impl AskedFor {
    /// Returns a label and a text: `asked by` and `@ada for REQ-001, SHOP-12`, or `for` and
    /// `REQ-001`. `None` if neither a person nor a requirement is known.
    pub fn label_and_text(&self) -> Option<(&'static str, String)> {
        let reasons: Vec<&str> =
            self.tickets.iter().chain(&self.related_specs).map(String::as_str).collect();
        let reasons = Some(reasons.join(", ")).filter(|_| !reasons.is_empty());
        match (&self.owner, reasons) {
            (Some(owner), None) => Some(("asked by", owner.clone())),
            (Some(owner), Some(reasons)) => Some(("asked by", format!("{owner} for {reasons}"))),
            (None, reasons) => reasons.map(|reasons| ("for", reasons)),
        }
    }
}

/// Returns who asked for the intent of a block, from the registry. If the registry does not have
/// this intent, the requirements come from the block's record.
pub(super) fn asked_for(
    ws: &Workspace,
    brief: &IntentBrief,
    claim: Option<&Claim>,
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
    let tickets = TICKETS.iter().filter_map(|key| intent.extra.get(*key));
    AskedFor {
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        tickets: tickets.flat_map(texts_in).collect(),
        related_specs: values(&intent.related_specs),
        constraints: values(&intent.constraints),
    }
}

fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(list) => list.iter().flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}

fn specs(claim: &Claim) -> Vec<String> {
    let related = claim.file().into_iter().flat_map(|file| file.relations());
    related.filter(|one| one.is_specification()).map(|one| one.value.clone()).collect()
}

#[cfg(test)]
mod tests {
    use crate::answers::asked::*;

    #[test]
    fn the_phrase_names_who_asked_and_for_what() {
        let said = |owner: Option<&str>, tickets: &[&str], specs: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
            let asked = AskedFor {
                owner: owner.map(str::to_owned),
                tickets: owned(tickets),
                related_specs: owned(specs),
                constraints: Vec::new(),
            };
            asked.label_and_text().map(|(label, rest)| format!("{label} {rest}"))
        };
        assert_eq!(said(Some("@ada"), &[], &[]).as_deref(), Some("asked by @ada"));
        let both = said(Some("@ada"), &["SHOP-12"], &["REQ-001"]);
        assert_eq!(both.as_deref(), Some("asked by @ada for SHOP-12, REQ-001"));
        assert_eq!(said(None, &[], &["REQ-001"]).as_deref(), Some("for REQ-001"));
        assert_eq!(said(None, &[], &[]), None);
    }
}
