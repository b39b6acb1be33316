//! The intent as every room knows it, whatever dialect it was written in.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A value with the bytes it was read from in the registry's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands, without quotes' surroundings: the scalar as written (quotes included).
    pub span: Range<usize>,
}

/// Where an intent stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// Being thought about.
    Draft,
    /// Agreed, not begun.
    Pending,
    /// Work may be done under it.
    InProgress,
    /// Waits for something.
    Blocked,
    /// Done.
    Completed,
    /// Kept for the record only.
    Archived,
}

impl Status {
    /// In the order of a life.
    pub const ALL: [Status; 6] = [
        Status::Draft,
        Status::Pending,
        Status::InProgress,
        Status::Blocked,
        Status::Completed,
        Status::Archived,
    ];
    /// The canonical spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Draft => "DRAFT",
            Status::Pending => "PENDING",
            Status::InProgress => "IN_PROGRESS",
            Status::Blocked => "BLOCKED",
            Status::Completed => "COMPLETED",
            Status::Archived => "ARCHIVED",
        }
    }
    /// Any spelling of the wild, in any case, with `-` or blanks for `_`; `None` when unknown.
    pub fn parse(text: &str) -> Option<Self> {
        let folded: String = text
            .trim()
            .chars()
            .map(|c| if matches!(c, '-' | ' ') { '_' } else { c.to_ascii_uppercase() })
            .collect();
        match folded.as_str() {
            "DRAFT" | "CREATED" => Some(Status::Draft),
            "PENDING" | "PLANNED" | "PROPOSED" | "TODO" | "OPEN" => Some(Status::Pending),
            "IN_PROGRESS" | "INPROGRESS" | "ACTIVE" => Some(Status::InProgress),
            "BLOCKED" | "PAUSED" => Some(Status::Blocked),
            "COMPLETED" | "COMPLETE" | "DONE" => Some(Status::Completed),
            "ARCHIVED" | "CANCELLED" | "CANCELED" | "ABANDONED" => Some(Status::Archived),
            _ => None,
        }
    }
}

/// One intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Its id, e.g. `INT-001`; empty when missing.
    pub id: Spanned<String>,
    /// What it is called; empty when missing.
    pub name: Spanned<String>,
    /// `None` when missing or unknown (then a lint says so, and it is not in progress).
    pub status: Option<Spanned<Status>>,
    /// Its globs, as written.
    pub owned_scope: Vec<Spanned<String>>,
    /// What must hold.
    pub constraints: Vec<Spanned<String>>,
    /// When it is done.
    pub acceptance_criteria: Vec<Spanned<String>>,
    /// Requirements it serves.
    pub related_specs: Vec<Spanned<String>>,
    /// Who asked for it.
    pub owner: Option<Spanned<String>>,
    /// Ids it had before: what was recorded under them is its own.
    pub formerly: Vec<Spanned<String>>,
    /// Everything else that was written, lossless, by key.
    #[serde(with = "super::kept::as_json")]
    pub extra: Map<String, Value>,
    /// The whole entry in the text (for JSON and YAML alike), a list's dash included.
    pub span: Range<usize>,
}

impl Intent {
    /// Whether work may be done under it.
    pub fn in_progress(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.value == Status::InProgress)
    }
    /// The globs alone.
    pub fn scope_entries(&self) -> Vec<&str> {
        self.owned_scope.iter().map(|entry| entry.value.as_str()).collect()
    }
    /// `sha256:<64 hex>` of what the intent says: canonical JSON (sorted keys, no spaces) of id, name, owned_scope, constraints, acceptance_criteria, related_specs, owner. Independent of dialect and layout, of what it was called before, and of its status: who starts or completes an intent does not change what it says.
    pub fn hash(&self) -> String {
        hash(&self.canonical())
    }

    /// Whether a hash, of which the first 128 bits count, is of what the intent says. Earlier versions of this program
    /// hashed the status as well; with any status it is the same text.
    pub fn reads_as(&self, other: &str) -> bool {
        const STATUSES: [Option<Status>; 7] = [
            None,
            Some(Status::Draft),
            Some(Status::Pending),
            Some(Status::InProgress),
            Some(Status::Blocked),
            Some(Status::Completed),
            Some(Status::Archived),
        ];
        let Some(other) = other.get(..SHORT) else { return false };
        let is_it = |canonical: &Value| hash(canonical).get(..SHORT) == Some(other);
        let mut canonical = self.canonical();
        is_it(&canonical)
            || STATUSES.into_iter().any(|status| {
                canonical["status"] = json!(status.map(Status::as_str));
                is_it(&canonical)
            })
    }

    fn canonical(&self) -> Value {
        // In alphabetical order: `serde_json` keeps the order in which keys are written here.
        json!({
            "acceptance_criteria": values(&self.acceptance_criteria),
            "constraints": values(&self.constraints),
            "id": self.id.value,
            "name": self.name.value,
            "owned_scope": values(&self.owned_scope),
            "owner": self.owner.as_ref().map(|owner| &owner.value),
            "related_specs": values(&self.related_specs),
        })
    }
}

/// `sha256:` and 32 digits.
const SHORT: usize = 7 + 32;

fn hash(canonical: &Value) -> String {
    let digest = Sha256::digest(canonical.to_string().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn values(list: &[Spanned<String>]) -> Vec<&str> {
    list.iter().map(|entry| entry.value.as_str()).collect()
}

/// The registry file in its canonical form: what is documented, and what is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RegistryFile {
    /// The intents, in the order in which they were asked for.
    #[serde(default)]
    pub active_intents: Vec<IntentEntry>,
}

/// Criteria as they may be written: YAML reads `run: cargo test`, without quotes, as a mapping.
fn criteria(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let command = serde_json::json!({
        "type": "object",
        "properties": { "run": { "type": "string" } },
        "required": ["run"],
        "additionalProperties": false,
    });
    schemars::json_schema!({
        "type": "array",
        "items": { "anyOf": [{ "type": "string" }, command] },
    })
}

/// One intent in the canonical form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IntentEntry {
    /// What code, commits and records cite: ASCII letters, digits, `-`, `_` and `.`, at most 64.
    #[schemars(regex(pattern = r"^[A-Za-z0-9._-]{1,64}$"))]
    pub id: String,
    /// What it is called, in a few words.
    pub name: String,
    /// Where it stands in its life. Work may be done while it is IN_PROGRESS.
    pub status: Status,
    /// The files it owns: globs relative to the workspace, the last match wins, `!` excludes, a trailing `/` means everything below.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub owned_scope: Vec<String>,
    /// What must hold, whatever else changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// When it is done. One that begins with `run:` names a command that shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "criteria")]
    pub acceptance_criteria: Vec<String>,
    /// Requirements this intent serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_specs: Vec<String>,
    /// Who asked for it (a handle).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Ids it had before; a rename adds to them. What was recorded under them stays this intent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formerly: Vec<String>,
    /// Anything else a team keeps with an intent; it is left as it is.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
