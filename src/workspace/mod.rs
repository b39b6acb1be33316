//! The ground that all other rooms stand on: what a workspace is, and how its files are read and
//! written.
//!
//! - `agents`: detecting whether an agent runs this process.
//! - `approvals`: the questions that agents ask a person, and the answers.
//! - `attributes`: files that `.gitattributes` marks as generated.
//! - `cache`: a cache for what was parsed from a file or computed from git.
//! - `clock`: times as they are written in files and for people.
//! - `discover`: finding the git work tree that a folder belongs to.
//! - `finding`: a problem at a place in a file, with a stable code.
//! - `folder`: folders that are held open.
//! - `git`: reading git repositories with a library.
//! - `hint`: what mends an error.
//! - `ignores`: paths that no agent may change, and paths that git ignores.
//! - `layers`: the layers of a policy.
//! - `parallel`: work on all processors.
//! - `path`: a path inside a workspace.
//! - `policy`: the rules in `policy.yaml`.
//! - `real`: resolving the symbolic links in a path.
//! - `root`: where a workspace begins.
//! - `seal`: marking the files that this clone wrote for its own use.
//! - `session`: the intents that people and sessions have selected, and what sessions have seen.
//! - `store`: reading and writing files safely.
//! - `table`: a cache file of rows that all have the same size.
//! - `text`: escaping text from other people.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod attributes;
pub(crate) mod cache;
pub(crate) mod clock;
pub(crate) mod control_files;
mod discover;
pub(crate) mod finding;
#[cfg(test)]
mod fixture;
pub(crate) mod folder;
pub(crate) mod git;
pub(crate) mod hint;
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
pub(crate) use hint::Hint;
pub use ignores::Ignores;
pub(crate) use layers::{LayeredPolicy, PolicyValue};
pub(crate) use path::PathError;
pub use path::RelativePath;
pub use policy::Policy;
pub use root::Root;
pub use session::Selection;
