//! The names of the commands that this server itself offers to a client.

/// Selects an intent for a session or for the person.
pub(crate) const SELECT: &str = "intent.select";
/// Records what changed in files.
pub(crate) const RECORD: &str = "intent.record";
/// Shows a person the intent or the record of a block.
pub(crate) const SHOW: &str = "intent.show";
/// Shows the person the waiting questions of agents again. The command itself decides nothing.
pub(crate) const REVIEW: &str = "intent.review";
/// Adds an open file to the scope of an intent and saves the registry. For people only.
pub(crate) const WIDEN: &str = "intent.widen";
/// Accepts a block in its present state. For people only: a dialog asks for confirmation.
pub(crate) const ACCEPT: &str = "intent.accept";
