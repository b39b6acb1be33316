//! Intents: what somebody asked for, which files it owns, and the registry they are written in.

pub mod canonical;
mod conflict;
pub mod dialect;
pub mod edit;
mod elsewhere;
mod file;
mod kept;
pub mod lint;
pub mod model;
pub mod registry;
pub mod scope;
pub mod yaml;

pub use canonical::NewIntent;
pub use edit::{EditError, PlannedEdit, RegistryEdit};
pub use elsewhere::UsedIds;
pub use file::{FOLDER, IntentFile, single_id};
pub use model::{Intent, Spanned, Status};
pub use registry::Registry;
pub use scope::{Scope, ScopeVerdict};
