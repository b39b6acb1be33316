//! What is known of lines without a record: what their commit tells.

use claims::Checkpoint;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Workspace;
use crate::answers::{CommitBrief, IntentBrief, brief};
use crate::commit_brief::brief_with_words;
use crate::known_commits::{IntentOfCommit, KnownBy};
use ground::CommitId;

/// What is known of lines without a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OriginAnswer {
    /// How the intent is known; `git` if none is.
    pub known_by: KnownBy,
    /// The commit that brought the lines.
    pub commit: CommitBrief,
    /// The intent of the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentBrief>,
    /// The intents of which the commit's may be one, if there are two or three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<IntentBrief>,
    /// How many conditions the intent has: `3 scenarios`. The constraints are in `asked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<String>,
    /// The checkpoint of Entire that the commit names, if this clone has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Why no record is about the lines.
    pub no_record: NoRecord,
}

/// Why no record is about lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoRecord {
    /// The commit carries none about them.
    None,
    /// The commit is older than the first evidence of this repository.
    BeforeRecords,
    /// It is not known, because some evidence has a newer format than this program reads.
    Unread,
}

impl NoRecord {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::BeforeRecords => "none; this is older than the first record of this repository",
            Self::Unread => "not known; some evidence has a newer format than this program reads",
        }
    }
}

impl OriginAnswer {
    pub fn in_words(&self) -> String {
        let commit = &self.commit;
        let intents = self.intent.iter().chain(&self.candidates);
        let intents: Vec<String> = intents
            .map(|intent| match &intent.name {
                Some(name) => format!("{} ({name})", intent.id),
                None => intent.id.clone(),
            })
            .collect();
        let intents = (!intents.is_empty())
            .then(|| format!("{}, {}", intents.join(" or "), self.how_it_is_known()));
        let git = format!("git says: {} by {}: {}", commit.short(), commit.author, commit.subject);
        let agents = commit.agents_in_words().map(|said| format!("the commit says: {said}"));
        let parts = intents.into_iter().chain([git]).chain(agents);
        parts.collect::<Vec<_>>().join("; ")
    }

    pub fn how_it_is_known(&self) -> &'static str {
        let is_one = self.intent.is_some();
        match self.known_by {
            KnownBy::CommitSays if is_one => "the commit says: it names this intent",
            KnownBy::CommitSays => "the commit says: it names these, so it is one of them",
            KnownBy::Inferred if is_one => {
                "inferred from the commit: it changed this intent's files too"
            }
            KnownBy::Inferred => {
                "inferred from the commit: it changed the files of these, so it is one of them"
            }
            KnownBy::Git => "git says",
        }
    }
}

/// Returns what a commit tells about lines without a record. `None` if it cannot be read.
/// `is_unread` says that there is evidence which this program cannot read.
pub(super) fn origin_of(
    ws: &Workspace,
    commit: &CommitId,
    is_unread: bool,
) -> Option<OriginAnswer> {
    let described = brief_with_words(ws, commit)?;
    let (commit_brief, words) = &*described;
    let checkpoint = words.checkpoint.as_ref().zip(ws.git());
    let found = ws.intents_of_commit(commit, (&commit_brief.subject, words));
    let mut answer = OriginAnswer {
        known_by: found.as_ref().map_or(KnownBy::Git, |found| found.known_by),
        no_record: match () {
            () if is_unread => NoRecord::Unread,
            () if is_before_records(ws, commit_brief) => NoRecord::BeforeRecords,
            () => NoRecord::None,
        },
        commit: commit_brief.clone(),
        intent: None,
        candidates: Vec::new(),
        conditions: None,
        checkpoint: checkpoint.and_then(|(id, git)| claims::checkpoint(git, id)),
    };
    let described = |one: &IntentOfCommit| {
        let now = brief(ws, &one.id);
        IntentBrief { name: now.name.or_else(|| one.name_then.clone()), ..now }
    };
    match found.as_ref().map_or(&[][..], |found| &found.found) {
        [] => {}
        [only] => {
            answer.intent = Some(described(only));
            answer.conditions = conditions_of(ws, &only.id);
        }
        several => answer.candidates = several.iter().map(described).collect(),
    }
    Some(answer)
}

fn conditions_of(ws: &Workspace, id: &str) -> Option<String> {
    match ws.registry.get(id)?.acceptance_criteria.len() {
        0 => None,
        1 => Some("1 criterion".to_owned()),
        count => Some(format!("{count} criteria")),
    }
}

fn is_before_records(ws: &Workspace, brief: &CommitBrief) -> bool {
    let month = brief.timestamp.as_deref().and_then(|time| time.get(..7));
    month.zip(ws.first_evidence_month()).is_some_and(|(month, first)| month < first)
}
