//! What most other crates build on: what a workspace is, and how its files are read and written.
//!
//! - `agents`: detecting whether an agent runs this process.
//! - `answer_store`: answers about history that were computed before.
//! - `approvals`: the questions that agents ask a person, and the answers.
//! - `attributes`: files that `.gitattributes` marks as generated.
//! - `cache`: a cache for what was parsed from a file or computed from git.
//! - `clock`: times as they are written in files and for people.
//! - `control_files`: the names of files that control the gate.
//! - `discover`: finding the root of a workspace, and the git work tree that governs it.
//! - `environment`: what a command sees of the process that it runs in.
//! - `finding`: a problem at a place in a file, with a stable code.
//! - `folder`: folders that are held open.
//! - `git`: reading git repositories with a library.
//! - `hint`: what mends an error.
//! - `ignores`: paths that no agent may change, and paths that git ignores.
//! - `key_links`: web pages of issue keys and pull requests.
//! - `layers`: reading a policy, with the file that it extends.
//! - `local_files`: the files in `.orchestration/local`.
//! - `nested_roots`: the workspaces inside a workspace.
//! - `parallel`: work on all processors.
//! - `path`: a path inside a workspace.
//! - `policy`: the rules in `policy.yaml`.
//! - `resolved_links`: resolving the symbolic links in a path.
//! - `root`: the root of a workspace, and the paths below it.
//! - `seal`: marking the files that this clone wrote for its own use.
//! - `session`: the intents that people and sessions have selected, and what sessions have seen.
//! - `store`: reading and writing files safely.
//! - `text`: escaping text from other people.
//! - `work_tree`: the work trees of git.

pub mod agents;
pub mod answer_store;
pub mod approvals;
pub mod attributes;
pub mod cache;
pub mod clock;
pub mod control_files;
mod discover;
pub mod environment;
pub mod finding;
#[cfg(test)]
mod fixture;
pub mod folder;
pub mod git;
pub mod hint;
pub mod ignores;
pub mod key_links;
pub mod layers;
mod local_files;
mod nested_roots;
pub mod parallel;
pub mod path;
pub mod policy;
mod resolved_links;
pub mod root;
pub mod seal;
pub mod session;
pub mod store;
pub mod text;
mod work_tree;

pub use attributes::Attributes;
pub use environment::Environment;
pub use finding::{Code, Finding, Fix, Level, RelatedPlace};
pub use git::{CommitId, Git};
pub use hint::Hint;
pub use ignores::{IGNORE_FILES, Ignores};
pub use key_links::KeyLinks;
pub use layers::{LayeredPolicy, POLICY, PolicyValue};
pub use path::{PathError, RelativePath};
pub use policy::Policy;
pub use root::Root;
pub use session::Selection;
