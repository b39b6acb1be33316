//! Intents: what somebody asked for, which files it owns, and the registry they are written in.

pub mod dialect;
pub mod edit;
mod kept;
pub mod lint;
pub mod model;
pub mod registry;
pub mod scope;
pub mod yaml;

pub use edit::{EditError, NewIntent, RegistryEdit};
pub use model::{Intent, Spanned, Status};
pub use registry::Registry;
pub use scope::{Scope, ScopeVerdict};
