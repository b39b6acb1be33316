//! The intent as all other modules see it, whatever dialect it is written in.

use std::iter::once;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use code::named_enum::named_enum;
use ground::policy::SourceFormat;

/// The maximum length of an id, in characters.
pub(super) const MAX_ID: usize = 64;

/// Returns true if an id is valid: ASCII letters, digits, `-`, `_` and `.`, at most `MAX_ID`
/// characters. Such an id can be cited safely.
pub(crate) fn valid_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty() && id.len() <= MAX_ID && id.chars().all(allowed)
}

/// A value with the byte range of the registry's text that it was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spanned<T> {
    pub value: T,
    /// The byte range of the scalar as it is written, including its quotes.
    pub span: Range<usize>,
}

impl<T> Spanned<T> {
    pub(super) fn placeless(value: T) -> Self {
        Self { value, span: 0..0 }
    }
}

named_enum! {
    /// The status of an intent.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[derive(Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum Status, STATUSES {
        /// Still being discussed; not agreed yet.
        #[default]
        Draft: "DRAFT",
        /// Agreed, but work has not begun.
        Pending: "PENDING",
        /// In progress: work may be done under the intent.
        InProgress: "IN_PROGRESS",
        /// Work waits for something else.
        Blocked: "BLOCKED",
        /// Completed: all of the work is done.
        Completed: "COMPLETED",
        /// Kept for the record only.
        Archived: "ARCHIVED",
    }
}

impl Status {
    pub const ALL: [Status; 6] = [
        Self::Draft,
        Self::Pending,
        Self::InProgress,
        Self::Blocked,
        Self::Completed,
        Self::Archived,
    ];

    pub fn as_str(self) -> &'static str {
        STATUSES[self as usize].1
    }

    /// Returns true if no more work is done under an intent of this status.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Archived)
    }

    /// Parses a status in any spelling that is in use, in upper or lower case, with `-` or a space
    /// in place of `_`. Returns `None` if the text is no known status.
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

pub(super) const SOURCE: &str = "source";
/// The most bytes of the id of an intent that is kept elsewhere. It is the name of a folder.
const MAX_SOURCE_ID: usize = 200;

/// Returns true if a text is the id of an intent that is kept elsewhere: `openspec:add-login`.
pub(super) fn is_source_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = |name: &str| !name.is_empty() && name.chars().all(allowed);
    id.len() <= MAX_SOURCE_ID && SourceFormat::of_id(id).is_some_and(|(_, name)| is_name(name))
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// The id, such as `INT-001`. Empty if it is missing.
    pub id: Spanned<String>,
    /// The name. Empty if it is missing.
    pub name: Spanned<String>,
    /// The status. `None` if it is missing or unknown. A lint reports this, and the intent does not
    /// count as in progress.
    pub status: Option<Spanned<Status>>,
    /// The globs of the files that the intent owns, as written.
    pub owned_scope: Vec<Spanned<String>>,
    pub constraints: Vec<Spanned<String>>,
    pub acceptance_criteria: Vec<Spanned<String>>,
    pub related_specs: Vec<Spanned<String>>,
    pub owner: Option<Spanned<String>>,
    /// The ids that the intent had before. Records under them belong to this intent.
    pub formerly: Vec<Spanned<String>>,
    #[serde(with = "super::registry_cache::as_json")]
    pub extra: Map<String, Value>,
    /// The byte range of the whole entry, including the dash of a list item.
    pub span: Range<usize>,
}

impl Intent {
    /// Returns true if work may be done under the intent.
    pub fn in_progress(&self) -> bool {
        self.known_status() == Some(Status::InProgress)
    }
    pub(crate) fn known_status(&self) -> Option<Status> {
        self.status.as_ref().map(|status| status.value)
    }

    /// See [`Status::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.known_status().is_some_and(Status::is_closed)
    }

    /// Returns the id of the source that the intent's file points to with `source:`.
    pub fn source(&self) -> Option<&str> {
        let source = self.extra.get(SOURCE)?.as_str()?;
        (source == self.id.value).then_some(source)
    }
    pub fn scope_entries(&self) -> Vec<&str> {
        texts(&self.owned_scope)
    }
    /// Returns `sha256:<64 hex>` over the content of the intent: canonical JSON (sorted keys, no
    /// spaces) of id, name, owned_scope, constraints, acceptance_criteria, related_specs and owner.
    /// The hash does not depend on dialect, layout, former ids or status, so starting or completing
    /// an intent does not change it.
    pub fn hash(&self) -> String {
        hash(&self.canonical())
    }

    /// Returns true if a hash was computed from the present content of this intent. Only the first
    /// 128 bits are compared, because evidence stores no more. Earlier versions of this program
    /// included the status in the hash, so the hash with any status is accepted too.
    pub fn reads_as(&self, other: &str) -> bool {
        let Some(other) = other.get(..SHORT_HASH) else { return false };
        let has_hash = |canonical: &Value| hash(canonical).get(..SHORT_HASH) == Some(other);
        let mut canonical = self.canonical();
        has_hash(&canonical)
            || once(None).chain(Status::ALL.map(Some)).any(|status| {
                canonical["status"] = json!(status.map(Status::as_str));
                has_hash(&canonical)
            })
    }

    /// Returns the places of all values, and that of the whole entry.
    pub(super) fn spans(&mut self) -> impl Iterator<Item = &mut Range<usize>> {
        let lists = [
            &mut self.owned_scope,
            &mut self.constraints,
            &mut self.acceptance_criteria,
            &mut self.related_specs,
            &mut self.formerly,
        ];
        let entries = lists.into_iter().flatten().map(|entry| &mut entry.span);
        let owner = self.owner.as_mut().map(|owner| &mut owner.span);
        let status = self.status.as_mut().map(|status| &mut status.span);
        let own = [&mut self.id.span, &mut self.name.span, &mut self.span];
        entries.chain(owner).chain(status).chain(own)
    }

    fn canonical(&self) -> Value {
        // The keys are in alphabetical order, because `serde_json` keeps the order in which they
        // are written here.
        json!({
            "acceptance_criteria": texts(&self.acceptance_criteria),
            "constraints": texts(&self.constraints),
            "id": self.id.value,
            "name": self.name.value,
            "owned_scope": texts(&self.owned_scope),
            "owner": self.owner.as_ref().map(|owner| &owner.value),
            "related_specs": texts(&self.related_specs),
        })
    }
}

/// The length of a hash with 128 bits: `sha256:` and 32 hex digits.
const SHORT_HASH: usize = 7 + 32;

fn hash(canonical: &Value) -> String {
    code::content_hash(&canonical.to_string()).to_string()
}

pub(super) fn texts(list: &[Spanned<String>]) -> Vec<&str> {
    list.iter().map(|entry| entry.value.as_str()).collect()
}

/// The registry file in its canonical form: the form that is documented and written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RegistryFile {
    /// The intents, in the order in which they were added.
    #[serde(default)]
    pub active_intents: Vec<IntentEntry>,
}

/// Returns the schema of acceptance criteria. YAML reads `run: cargo test`, without quotes, as a
/// mapping, so that form is allowed too.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IntentEntry {
    /// The id that code, commits and records cite: ASCII letters, digits, `-`, `_` and `.`, at most
    /// 64 characters.
    #[schemars(regex(pattern = r"^[A-Za-z0-9._-]{1,64}$"))]
    pub id: String,
    /// The name of the intent, in a few words.
    pub name: String,
    /// The status of the intent. Work may be done under it while it is IN_PROGRESS.
    pub status: Status,
    /// The files that the intent owns, as globs relative to the workspace. The last matching entry
    /// wins, `!` excludes, and a trailing `/` means everything below.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub owned_scope: Vec<String>,
    /// Conditions that must hold, whatever else changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Conditions under which the intent is done. One that begins with `run:` names a command that
    /// checks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "criteria")]
    pub acceptance_criteria: Vec<String>,
    /// The requirements that the intent serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_specs: Vec<String>,
    /// The handle of the person who asked for the intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Ids that the intent had before. A rename adds to them, and records under them still belong
    /// to this intent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formerly: Vec<String>,
    /// Any other keys that a team keeps with an intent. They are left unchanged.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl IntentEntry {
    /// Returns the intent as it will be read from the written text, but with empty spans.
    pub fn intent(&self) -> Intent {
        let spanned = |value: &String| Spanned::placeless(value.clone());
        let list = |texts: &[String]| texts.iter().map(spanned).collect();
        Intent {
            id: spanned(&self.id),
            name: spanned(&self.name),
            status: Some(Spanned::placeless(self.status)),
            owned_scope: list(&self.owned_scope),
            constraints: list(&self.constraints),
            acceptance_criteria: list(&self.acceptance_criteria),
            related_specs: list(&self.related_specs),
            owner: self.owner.as_ref().map(spanned),
            formerly: list(&self.formerly),
            extra: self.extra.clone(),
            span: 0..0,
        }
    }
}
