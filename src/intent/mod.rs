//! Intents: what somebody asked for, which files it owns, and the registry they are written in.

pub(crate) mod canonical;
mod conflict;
pub(crate) mod dialect;
pub(crate) mod edit;
mod elsewhere;
mod file;
mod kept;
pub(crate) mod lint;
pub(crate) mod model;
pub(crate) mod registry;
pub(crate) mod scope;
pub(crate) mod yaml;

pub use canonical::NewIntent;
pub(crate) use edit::PlannedEdit;
pub use edit::{EditError, RegistryEdit};
pub(crate) use elsewhere::UsedIds;
pub(crate) use file::{FOLDER, IntentFile, single_id};
pub use model::{Intent, Spanned, Status};
pub use registry::Registry;
pub use scope::{Scope, ScopeVerdict};
