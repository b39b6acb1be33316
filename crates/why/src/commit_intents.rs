//! The intent of a commit: the one that it names or whose files it changed, or after which its branch is
//! called. It is about the commit as a whole, and so about lines without a record only in the words of
//! its strength ([`KnownBy`]).

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::Workspace;
use super::commit_words::CommitWords;
use super::known_commits::{CommitIntents, IntentOfCommit, KnownBy, MainLine, MergeOfBranch};
use ground::answer_store::AnswerKey;
use ground::git::{ChangedBlob, Git, GitError, ObjectId, ObjectReader, Target};
use ground::policy::SourceFormat;
use ground::{CommitId, RelativePath};
use intents::sources::{read_one_at, unit_of_path};
use intents::{ImportedIntent, Registry};

/// A commit that changed more files than this was an import or a sweep. A commit that has more than
/// [`MAX_INTENTS`] intents is about none of them.
const MAX_FILES: usize = 500;

/// How far the main line is searched for the merge that brought a commit, and how many commits of a
/// merged branch are looked at.
const MAX_MAIN_LINE: usize = 2_000;
const MAX_BRANCH: usize = 500;
const MAX_INTENTS: usize = 3;

impl Workspace {
    /// Returns the intents of a commit, at most three. `None` if nothing tells any, or if there are so
    /// many that the commit is about none of them.
    pub(crate) fn intents_of_commit(
        &self,
        commit: &CommitId,
        (subject, words): (&str, &CommitWords),
    ) -> Option<Arc<CommitIntents>> {
        self.known_commits
            .intents
            .get_or_find(&commit.0, || intents_of(self, commit, (subject, words)).map(Arc::new))
    }
}

fn intents_of(
    ws: &Workspace,
    commit: &CommitId,
    (subject, words): (&str, &CommitWords),
) -> Option<CommitIntents> {
    let said = named_intents(&ws.registry, &words.names, subject);
    let (known_by, found) = if !said.is_empty() {
        (KnownBy::CommitSays, said.into_iter().map(known_now).collect())
    } else {
        // History that is missing here tells nothing.
        let mut found = changed_intents(ws, commit).unwrap_or_default();
        if found.is_empty() {
            found.extend(intent_of_branch(ws, commit).ok().flatten().map(known_now));
        }
        (KnownBy::Inferred, found)
    };
    let is_about_some = (1..=MAX_INTENTS).contains(&found.len());
    is_about_some.then_some(CommitIntents { known_by, found })
}

fn known_now(id: String) -> IntentOfCommit {
    IntentOfCommit { id, name_then: None }
}

/// Returns the intents whose full ids a message has. The id of an imported intent counts without its
/// prefix if no plain words of prose can be it: it has a digit or two hyphens, as `003-user-login`, or
/// stands in the subject.
fn named_intents(registry: &Registry, names: &[String], subject: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in names {
        if let Some(own) = registry.get(name) {
            found.insert(own.id.value.clone());
            continue;
        }
        let is_plain =
            name.matches('-').count() < 2 && !name.contains(|c: char| c.is_ascii_digit());
        if is_plain && !subject.contains(name.as_str()) {
            continue;
        }
        found.extend(imported_called(registry, name));
    }
    found
}

fn imported_called(registry: &Registry, word: &str) -> Option<String> {
    let mut called = registry.imported().iter().filter(|one| is_called(one, word));
    let only = called.next().filter(|_| called.next().is_none())?;
    Some(only.intent.id.value.clone())
}

fn is_called(imported: &ImportedIntent, word: &str) -> bool {
    let id = imported.intent.id.value.split_once(':').map_or("", |(_, name)| name);
    !imported.ambiguous
        && imported.format.is_work()
        && id.contains('-')
        && id.eq_ignore_ascii_case(word)
}

fn changed_intents(ws: &Workspace, commit: &CommitId) -> Result<Vec<IntentOfCommit>, GitError> {
    let Some(git) = ws.git() else { return Ok(Vec::new()) };
    let paths = edited_files_of_intents(ws, git, commit)?;
    let all: BTreeSet<String> = paths.iter().filter_map(|path| intent_of_path(ws, path)).collect();
    // If a commit changed a task, the parts of the task, such as `TASK-12.1`, do not count as well.
    let is_part = |id: &String| all.iter().any(|of| id.starts_with(&format!("{of}.")));
    let ids: BTreeSet<String> = all.iter().filter(|id| !is_part(id)).cloned().collect();
    if ids.len() > MAX_INTENTS {
        return Ok(Vec::new());
    }
    let of_commit = |id: String| {
        if ws.registry.imported_intent(&id).is_some() {
            return Some(known_now(id));
        }
        // The files of the intent are gone since, or never reached this branch.
        let then = read_one_at(git, &Target::Commit(commit.clone()), &id)?;
        let name_then = Some(then.intent.name.value).filter(|name| !name.is_empty());
        Some(IntentOfCommit { id, name_then })
    };
    Ok(ids.into_iter().filter_map(of_commit).collect())
}

/// Returns those files that a commit edited which are parts of imported intents. They are kept in the
/// store of answers, because the trees of a large repository are read to find them.
fn edited_files_of_intents(
    ws: &Workspace,
    git: &Git,
    commit: &CommitId,
) -> Result<Vec<RelativePath>, GitError> {
    let Some(store) = ws.kept_answers() else {
        return Ok(only_of_intents(edited_files(ws, commit)?));
    };
    let view = git.object_reader()?.view_of_history()?;
    let prefix = git.path_in_repository("");
    let version = env!("CARGO_PKG_VERSION");
    let parts = [version.as_bytes(), b"edited intents", &view, &prefix, commit.0.as_bytes()];
    let key = AnswerKey::from_parts(&parts);
    if let Some(kept) = store.recall(key) {
        return Ok(kept);
    }
    let found = only_of_intents(edited_files(ws, commit)?);
    store.keep(key, &found);
    Ok(found)
}

fn only_of_intents(mut paths: Vec<RelativePath>) -> Vec<RelativePath> {
    paths.retain(|path| unit_of_path(path.as_str()).is_some());
    paths
}

/// Returns the imported intent that a file of an earlier commit is a part of. A team may have given its
/// tasks another prefix since; the rest of the file's name, its number and title, is then the same.
fn intent_of_path(ws: &Workspace, path: &RelativePath) -> Option<String> {
    let (registry, id) = (&ws.registry, unit_of_path(path.as_str())?);
    let (format, _) = SourceFormat::of_id(&id)?;
    if !format.is_work() || !ws.policy.reads(format) {
        return None;
    }
    if registry.imported_intent(&id).is_some() || format != SourceFormat::Backlog {
        return Some(id);
    }
    let after_prefix = |name: &str| name.split_once('-').map(|(_, rest)| rest.to_owned());
    let rest = after_prefix(path.file_name())?;
    let mut same = registry.imported().iter().filter(|one| {
        one.format == format && after_prefix(one.unit.file_name()).as_ref() == Some(&rest)
    });
    let only = same.next().filter(|_| same.next().is_none());
    Some(only.map_or(id, |one| one.intent.id.value.clone()))
}

/// Returns the files, other than its own, that the last commits changed together with a file of an
/// imported intent.
pub fn files_beside(ws: &Workspace, id: &str) -> Result<BTreeSet<RelativePath>, GitError> {
    let mut found = BTreeSet::new();
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(found) };
    for commit in git.commits_between(&[], head, MAX_MAIN_LINE)? {
        // History that is missing here tells nothing.
        let edited = edited_files(ws, &commit).unwrap_or_default();
        let (of_units, code): (Vec<_>, Vec<_>) =
            edited.into_iter().partition(|path| unit_of_path(path.as_str()).is_some());
        let units: BTreeSet<_> =
            of_units.iter().filter_map(|path| unit_of_path(path.as_str())).collect();
        if units.contains(id) && units.len() <= MAX_INTENTS {
            found.extend(code);
        }
    }
    Ok(found)
}

/// Returns the files that a commit changed, without those that it only moved. The first commit and
/// an import change the files of all intents, so nothing is returned for them.
fn edited_files(ws: &Workspace, commit: &CommitId) -> Result<Vec<RelativePath>, GitError> {
    let none = Vec::new();
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
    Ok(edited.filter_map(|one| git.path_in_workspace(one.path.as_ref())).collect())
}

/// Returns the imported intent after which a branch is named, if a merge of that branch brought the
/// commit.
fn intent_of_branch(ws: &Workspace, commit: &CommitId) -> Result<Option<String>, GitError> {
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(None) };
    if ws.registry.imported().is_empty() {
        return Ok(None);
    }
    let (mut reader, id) = (git.object_reader()?, git.object_id(commit)?);
    let time = reader.commit(id)?.time;
    let line = match ws.known_commits.main_line.get() {
        Some(known) => known,
        None => {
            let found = main_line(&mut reader, git.object_id(head)?)?;
            ws.known_commits.main_line.get_or_init(|| found)
        }
    };
    if line.commits.contains(&id) {
        return Ok(None);
    }
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
                return Ok(imported_called(&ws.registry, name));
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
