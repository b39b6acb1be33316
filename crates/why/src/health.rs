//! One result of `intent doctor`.

use schemars::JsonSchema;
use serde::Serialize;

/// One check and its result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Examined {
    /// The name of what was checked.
    pub what: String,
    /// The result of the check.
    pub state: Health,
    /// What was found, and what to do about it.
    pub detail: String,
}

/// The result of a check. There are three states, not two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Everything that was checked is in order.
    Good,
    /// Something is wrong and should be repaired.
    Bad,
    /// The state is not known, or the check is not needed.
    Unknown,
}
