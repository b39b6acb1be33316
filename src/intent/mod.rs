//! Intents: what somebody asked for, which files each intent owns, and the registry in which they
//! are written.
//!
//! - `model`, `scope`: an intent, and the files that it owns.
//! - `registry`, `file`: all intents of a workspace, and the single files that hold them.
//! - `dialect`, `yaml`, `canonical`: how registries are parsed and written.
//! - `edit`, `lint`, `conflict`: changes in place, findings, and merge conflicts.
//! - `registry_cache`: the registry in the cache.
//! - `used_ids`: ids that other branches use.

pub(crate) mod canonical;
mod conflict;
pub(crate) mod dialect;
pub(crate) mod edit;
mod file;
pub(crate) mod lint;
pub(crate) mod model;
pub(crate) mod registry;
mod registry_cache;
pub(crate) mod scope;
mod used_ids;
pub(crate) mod yaml;

pub use canonical::NewIntent;
pub(crate) use edit::PlannedEdit;
pub use edit::{EditError, RegistryEdit};
pub(crate) use file::{FOLDER, IntentFile, single_id};
pub use model::{Intent, Spanned, Status};
pub use registry::Registry;
pub use scope::{Scope, ScopeVerdict};
pub(crate) use used_ids::UsedIds;
