//! Intents: what somebody asked for, which files each intent owns, and the registry in which they
//! are written.
//!
//! - `canonical`: an intent in the canonical YAML form.
//! - `conflict`: a registry with unresolved merge conflicts.
//! - `dialect`: the other forms of a registry, converted to the canonical one.
//! - `entries`: the texts of single intents, to split a list and to merge two.
//! - `edit`: edits of a registry in place.
//! - `file`: one file of the registry.
//! - `imports`: the intents of other sources, as a registry offers them.
//! - `lint`: errors in a registry, and deviations from the canonical form.
//! - `model`: the intent as all other modules see it.
//! - `registry_cache`: a parsed registry in the cache.
//! - `registry`: all intents of a workspace.
//! - `reserved_ids`: the ids that were given to intents in this clone.
//! - `scope`: which files an intent owns.
//! - `sources`: intents that a team keeps elsewhere, read where they are.
//! - `used_ids`: the ids that `HEAD`, the index and other branches use.
//! - `yaml`: YAML as a tree in which every node has its byte range.

pub mod canonical;
mod conflict;
pub mod dialect;
pub mod edit;
pub mod entries;
mod file;
mod imports;
pub mod lint;
pub mod model;
pub mod registry;
mod registry_cache;
pub mod reserved_ids;
pub mod scope;
pub mod sources;
mod used_ids;
pub mod yaml;

pub use edit::{EditError, PlannedEdit, RegistryEdit};
pub use file::{FOLDER, IntentFile, id_in_name, name_after_id, single_name};
pub use model::{Intent, IntentEntry, Spanned, Status};
pub use registry::Registry;
pub use scope::{Scope, ScopeVerdict};
pub use sources::{ImportedIntent, Requirement};
pub use used_ids::UsedIds;
