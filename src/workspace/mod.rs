//! The ground under everything: where a workspace begins, what a path in it is,
//! what git knows, what the people who own it allow, and how files are written safely.

pub mod agents;
pub mod approvals;
pub mod attributes;
pub(crate) mod cache;
mod discover;
pub mod finding;
#[cfg(test)]
mod fixture;
pub(crate) mod folder;
pub mod git;
pub mod ignores;
pub mod layers;
pub(crate) mod parallel;
pub mod path;
pub mod policy;
mod real;
pub mod root;
pub mod seal;
pub mod session;
pub mod store;
pub(crate) mod table;
pub mod text;

pub use attributes::Attributes;
pub use finding::{Code, Finding, Fix, Level, RelatedPlace};
pub use git::{CommitId, Git};
pub use ignores::Ignores;
pub use layers::{LayeredPolicy, PolicyValue};
pub use path::{PathError, RelativePath};
pub use policy::Policy;
pub use root::Root;
pub use session::Selection;
