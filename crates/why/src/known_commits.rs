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
    pub fn in_words(self) -> &'static str {
        match self {
            Self::CommitSays => "the commit says",
            Self::Inferred => "inferred",
            Self::Git => "git says",
        }
    }
}

#[derive(Debug)]
pub(crate) struct CommitIntents {
    pub known_by: KnownBy,
    pub found: Vec<IntentOfCommit>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IntentOfCommit {
    pub id: String,
    /// The name that it had in the commit, if it is gone since.
    pub name_then: Option<String>,
}

const MAX_COMMITS: usize = 4096;

#[derive(Default)]
pub(crate) struct KnownCommits {
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

pub(crate) struct MergeOfBranch {
    pub commit: ObjectId,
    pub tip: ObjectId,
    pub time: i64,
}
