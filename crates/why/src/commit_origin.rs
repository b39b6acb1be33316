//! What a commit tells about the lines that it brought and that no record is about: the intent that it
//! names or changed, and what its message says.
//!
//! A line's own record always comes first; see [`super::answers`]. What is found here is about the
//! commit as a whole, so it is told with the word of its strength ([`KnownBy`]).

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use super::commit_brief::{CommitBrief, brief_with_words};
use super::memo::Memo;
use crate::answers::{IntentBrief, brief};
use claims::Checkpoint;
use ground::CommitId;
use ground::git::{ChangedBlob, GitError, ObjectId, ObjectReader};
use intents::sources::unit_of_path;
use intents::{ImportedIntent, Registry};
use ledger::evidence;

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
    /// Whether the commit is older than the first evidence of this repository.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub before_records: bool,
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

impl OriginAnswer {
    /// Says how the intent is known.
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

/// A commit that changed more files than this was an import or a sweep, and one that has more intents
/// than this is about none of them.
const MAX_FILES: usize = 500;
const MAX_INTENTS: usize = 3;

/// How far the main line is searched for the merge that brought a commit, and how many commits of a
/// merged branch are looked at.
const MAX_MAIN_LINE: usize = 2_000;
const MAX_BRANCH: usize = 500;

/// What is known of the commits that were asked about.
#[derive(Default)]
pub(crate) struct Origins {
    /// At most so many are kept.
    of_commits: Memo<String, Option<Arc<OriginAnswer>>, 4096>,
    main_line: OnceLock<MainLine>,
}

/// The newest commits that are reached from `HEAD` by first parents.
#[derive(Default)]
struct MainLine {
    commits: HashSet<ObjectId>,
    /// The merges among them, newest first.
    merges: Vec<MergeOfBranch>,
}

/// A merge commit of the main line.
struct MergeOfBranch {
    commit: ObjectId,
    /// The tip of the branch that it merged.
    tip: ObjectId,
    time: i64,
}

impl Workspace {
    /// Returns what a commit tells about lines without a record. `None` if it cannot be read.
    pub fn origin_of(&self, commit: &CommitId) -> Option<Arc<OriginAnswer>> {
        self.origins.of_commits.get_or_find(&commit.0, || origin(self, commit).map(Arc::new))
    }
}

fn origin(ws: &Workspace, commit: &CommitId) -> Option<OriginAnswer> {
    let (brief, words) = brief_with_words(ws, commit)?;
    let checkpoint = words.checkpoint.as_ref().zip(ws.git());
    let checkpoint = checkpoint.and_then(|(id, git)| claims::checkpoint(git, id));
    let mut answer = OriginAnswer {
        known_by: KnownBy::Git,
        before_records: is_before_records(ws, &brief),
        commit: brief,
        intent: None,
        candidates: Vec::new(),
        conditions: None,
        checkpoint,
    };
    let said = named_intents(&ws.registry, &words.names, &answer.commit.subject);
    let (known_by, ids) = if !said.is_empty() {
        (KnownBy::CommitSays, said)
    } else if ws.registry.imported().is_empty() {
        return Some(answer);
    } else {
        // History that is missing here tells nothing.
        let mut found = changed_intents(ws, commit).unwrap_or_default();
        if found.is_empty() {
            found.extend(intent_of_branch(ws, commit).ok().flatten());
        }
        (KnownBy::Inferred, found)
    };
    match &Vec::from_iter(ids)[..] {
        [] => {}
        [only] => {
            answer.known_by = known_by;
            answer.intent = Some(self::brief(ws, only));
            let criteria = ws.registry.get(only).map(|intent| intent.acceptance_criteria.len());
            let criteria = criteria.filter(|count| *count > 0);
            answer.conditions = criteria.map(|count| {
                if count == 1 { "1 criterion".to_owned() } else { format!("{count} criteria") }
            });
        }
        several if several.len() <= MAX_INTENTS => {
            answer.known_by = known_by;
            answer.candidates = several.iter().map(|id| self::brief(ws, id)).collect();
        }
        _ => {}
    }
    Some(answer)
}

/// Returns the intents whose full ids a message has. The id of an imported intent counts without its
/// prefix if no plain words of prose can be it: it has a digit or two hyphens, as `003-user-login`, or
/// stands in the subject.
fn named_intents(registry: &Registry, names: &[String], subject: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if names.is_empty() || !(registry.exists() || !registry.imported().is_empty()) {
        return found;
    }
    let own = |name: &String| {
        let intent = registry.get(name)?;
        Some(intent.id.value.clone())
    };
    for name in names {
        if let Some(id) = own(name) {
            found.insert(id);
            continue;
        }
        let is_plain =
            name.matches('-').count() < 2 && !name.contains(|c: char| c.is_ascii_digit());
        if is_plain && !subject.contains(name.as_str()) {
            continue;
        }
        let mut bare = registry.imported().iter().filter(|one| is_called(one, name));
        if let (Some(only), None) = (bare.next(), bare.next()) {
            found.insert(only.intent.id.value.clone());
        }
    }
    found
}

/// Returns true if a word is the id of an imported intent without its prefix.
fn is_called(imported: &ImportedIntent, word: &str) -> bool {
    let id = imported.intent.id.value.split_once(':').map_or("", |(_, name)| name);
    !imported.ambiguous
        && imported.format.is_work()
        && id.contains('-')
        && id.eq_ignore_ascii_case(word)
}

/// Returns the imported intents whose files a commit changed together with other files. The first
/// commit and an import change the files of all.
fn changed_intents(ws: &Workspace, commit: &CommitId) -> Result<BTreeSet<String>, GitError> {
    let none = BTreeSet::new();
    let Some(git) = ws.git() else { return Ok(none) };
    let mut reader = git.object_reader()?;
    let node = reader.commit(git.object_id(commit)?)?;
    let [parent] = node.parents[..] else { return Ok(none) };
    let before = reader.commit(parent)?.tree;
    let changed = reader.changed_blobs(Some(before), Some(node.tree))?;
    if changed.len() > MAX_FILES {
        return Ok(none);
    }
    // A move into an archive says nothing about the code of its commit.
    let gone: HashSet<ObjectId> =
        changed.iter().filter(|one| one.now.is_none()).filter_map(|one| one.before).collect();
    let new: HashSet<ObjectId> =
        changed.iter().filter(|one| one.before.is_none()).filter_map(|one| one.now).collect();
    let is_renamed = |one: &&ChangedBlob| match (one.before, one.now) {
        (None, Some(now)) => gone.contains(&now),
        (Some(before), None) => new.contains(&before),
        _ => false,
    };
    let edited = changed.iter().filter(|one| !is_renamed(one));
    let paths = edited.filter_map(|one| git.path_in_workspace(one.path.as_ref()));
    let units = paths.filter_map(|path| unit_of_path(path.as_str()));
    let is_known =
        |id: &String| ws.registry.imported_intent(id).is_some_and(|one| one.format.is_work());
    Ok(units.collect::<BTreeSet<_>>().into_iter().filter(is_known).collect())
}

/// Returns the imported intent after which the branch is named that a merge brought the commit with.
fn intent_of_branch(ws: &Workspace, commit: &CommitId) -> Result<Option<String>, GitError> {
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(None) };
    let (mut reader, id) = (git.object_reader()?, git.object_id(commit)?);
    let time = reader.commit(id)?.time;
    if ws.origins.main_line.get().is_none() {
        let found = main_line(&mut reader, git.object_id(head)?)?;
        let _ = ws.origins.main_line.set(found);
    }
    let Some(line) = ws.origins.main_line.get().filter(|line| !line.commits.contains(&id)) else {
        return Ok(None);
    };
    // The merge that brought the commit is the oldest of those that contain it.
    let later: Vec<&MergeOfBranch> =
        line.merges.iter().take_while(|merge| merge.time >= time).collect();
    for merge in later.into_iter().rev() {
        match is_on_branch(&mut reader, line, merge.tip, id)? {
            Some(false) => {}
            None => return Ok(None),
            Some(true) => {
                let subject = git.headline(&CommitId(merge.commit.to_string()))?.subject;
                let branch = branch_in(&subject).and_then(|branch| branch.rsplit('/').next());
                let Some(name) = branch else { return Ok(None) };
                let mut named = ws.registry.imported().iter().filter(|one| is_called(one, name));
                let (first, second) = (named.next(), named.next());
                let only = first.filter(|_| second.is_none());
                return Ok(only.map(|one| one.intent.id.value.clone()));
            }
        }
    }
    Ok(None)
}

fn main_line(reader: &mut ObjectReader<'_>, head: ObjectId) -> Result<MainLine, GitError> {
    let (mut line, mut next) = (MainLine::default(), Some(head));
    while let Some(commit) = next.filter(|_| line.commits.len() < MAX_MAIN_LINE) {
        let node = reader.commit(commit)?;
        line.commits.insert(commit);
        if let [_, tip] = node.parents[..] {
            line.merges.push(MergeOfBranch { commit, tip, time: node.time });
        }
        next = node.parents.first().copied();
    }
    Ok(line)
}

/// Returns true if a merged branch has a commit that the main line does not have by itself. `None` if
/// the branch is too long to be looked through.
fn is_on_branch(
    reader: &mut ObjectReader<'_>,
    line: &MainLine,
    tip: ObjectId,
    wanted: ObjectId,
) -> Result<Option<bool>, GitError> {
    let (mut seen, mut next) = (HashSet::from([tip]), vec![tip]);
    while let Some(commit) = next.pop() {
        if commit == wanted {
            return Ok(Some(true));
        }
        if seen.len() > MAX_BRANCH {
            return Ok(None);
        }
        let parents = reader.commit(commit)?.parents.into_iter();
        next.extend(parents.filter(|one| !line.commits.contains(one) && seen.insert(*one)));
    }
    Ok(Some(false))
}

/// Returns the branch that the subject of a merge commit names, as git and forges write it.
fn branch_in(subject: &str) -> Option<&str> {
    let rest = subject.strip_prefix("Merge ")?;
    if let Some(quoted) =
        rest.strip_prefix("branch '").or(rest.strip_prefix("remote-tracking branch '"))
    {
        return quoted.split('\'').next();
    }
    let (_, from) = rest.strip_prefix("pull request ")?.split_once(" from ")?;
    from.split_whitespace().next()
}

/// Returns true if a commit is older than the month of the first evidence.
fn is_before_records(ws: &Workspace, brief: &CommitBrief) -> bool {
    let first = evidence::first_month(&ws.root);
    let month = brief.timestamp.as_deref().and_then(|time| time.get(..7));
    matches!((first, month), (Some(first), Some(month)) if month < first.as_str())
}
