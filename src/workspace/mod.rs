//! The ground that all other rooms stand on: what a workspace is, and how its files are read and
//! written.
//!
//! - `root`, `discover`, `path`, `real`: where a workspace begins, and which paths are in it
//! - `git`, `attributes`, `ignores`: what git knows, and which files are ignored or generated
//! - `policy`, `layers`, `approvals`: what the people who own the workspace allow
//! - `session`, `agents`: what an agent has done in a session, and whether an agent runs this
//!   process
//! - `store`, `folder`, `table`, `cache`, `seal`: reading and writing files safely
//! - `finding`, `text`, `parallel`: findings, escaping of text, and work on all processors

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod attributes;
pub(crate) mod cache;
mod discover;
pub(crate) mod finding;
#[cfg(test)]
mod fixture;
pub(crate) mod folder;
pub(crate) mod git;
pub(crate) mod ignores;
pub(crate) mod layers;
pub(crate) mod parallel;
pub(crate) mod path;
pub(crate) mod policy;
mod real;
pub(crate) mod root;
pub(crate) mod seal;
pub(crate) mod session;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod text;

pub(crate) use attributes::Attributes;
pub use finding::{Code, Finding, Level};
pub(crate) use finding::{Fix, RelatedPlace};
pub(crate) use git::CommitId;
pub use git::Git;
pub use ignores::Ignores;
pub(crate) use layers::{LayeredPolicy, PolicyValue};
pub(crate) use path::PathError;
pub use path::RelativePath;
pub use policy::Policy;
pub use root::Root;
pub use session::Selection;
