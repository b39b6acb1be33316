//! What was found out about the intents of commits.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;

use super::commit_words::{CommitBrief, CommitWords};
use super::memo::Memo;
use ground::CommitId;
use ground::git::ObjectId;

/// How the intent of lines without a record is known, the strongest first. The words are never mixed:
/// what a commit says is not said of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// The message of the commit names the intent.
    CommitSays,
    /// The commit changed the intent's own files together with the lines, or its branch was named
    /// after the intent.
    Inferred,
    /// Only git knows something.
    Git,
}

impl KnownBy {
    /// Returns the words for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::CommitSays => "the commit says",
            Self::Inferred => "inferred",
            Self::Git => "git says",
        }
    }
}

/// The intents that a commit may be about.
#[derive(Debug)]
pub(crate) struct CommitIntents {
    pub known_by: KnownBy,
    pub found: Vec<IntentOfCommit>,
}

/// An intent that a commit may be about.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IntentOfCommit {
    pub id: String,
    /// The name that it had in the commit, if it is gone since.
    pub name_then: Option<String>,
}

/// How many commits are remembered at most.
const MAX_COMMITS: usize = 4096;

/// What is known of the commits that were asked about.
#[derive(Default)]
pub(crate) struct KnownCommits {
    /// What a commit is, in short, and what else it says.
    pub described: Memo<CommitId, Arc<(CommitBrief, CommitWords)>, MAX_COMMITS>,
    pub intents: Memo<String, Option<Arc<CommitIntents>>, MAX_COMMITS>,
    pub main_line: OnceLock<MainLine>,
}

/// The newest commits that are reached from `HEAD` by first parents.
#[derive(Default)]
pub(crate) struct MainLine {
    pub commits: HashSet<ObjectId>,
    /// The merges among them, newest first.
    pub merges: Vec<MergeOfBranch>,
}

/// A merge commit of the main line.
pub(crate) struct MergeOfBranch {
    pub commit: ObjectId,
    /// The tip of the branch that it merged.
    pub tip: ObjectId,
    pub time: i64,
}
