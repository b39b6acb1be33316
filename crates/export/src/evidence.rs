//! The records that a commit carries: those in the files of evidence that it adds, and the lines that
//! it adds to a ledger that is a single file.

use std::collections::HashSet;
use std::sync::Arc;

use ground::git::{ChangedBlob, Git, GitError, ObjectReader};
use ground::{CommitId, RelativePath};
use ledger::{Entry, Ledger, Trust, evidence};

/// The folder that holds everything that the commits of a range are asked about.
const FOLDER: &str = ".orchestration";
const LEDGERS: &str = ".orchestration/agent_trace";

/// What a commit changed in the folder of this program.
pub struct CommitChange {
    /// The records, in the order of their time.
    pub entries: Vec<Arc<Entry>>,
    /// Whether the registry may have changed.
    pub has_other_rules: bool,
}

/// Reads what a commit changed. A commit that carries nothing costs a comparison of two tree ids.
pub fn of_commit(
    git: &Git,
    reader: &mut ObjectReader<'_>,
    commit: &CommitId,
) -> Result<CommitChange, GitError> {
    let (mut files, mut known, mut has_other_rules) = (Vec::new(), HashSet::new(), false);
    for one in changed_files(git, reader, commit)? {
        let Some(path) = path_of(&one) else { continue };
        if !path.as_str().starts_with(LEDGERS) {
            has_other_rules = true;
            continue;
        }
        let Some(now) = one.now else { continue };
        // A compacted file has what other files had before.
        if evidence::is_compacted(&path) {
            continue;
        }
        if let Some(before) = one.before {
            let before = reader.blob(before)?;
            known.extend(before.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        }
        files.push((path, reader.blob(now)?));
    }
    let ledger = Ledger::from_files(&files);
    let is_new =
        |entry: &&Arc<Entry>| entry.trust != Trust::Contradicted && !known.contains(&*entry.stored);
    let entries = ledger.entries().iter().filter(is_new).cloned().collect();
    Ok(CommitChange { entries, has_other_rules })
}

/// Returns the files of evidence that a commit adds.
pub(crate) fn files_of_commit(
    git: &Git,
    reader: &mut ObjectReader<'_>,
    commit: &CommitId,
) -> Result<Vec<RelativePath>, GitError> {
    let changed = changed_files(git, reader, commit)?;
    let added = changed.iter().filter(|one| one.before.is_none() && one.now.is_some());
    Ok(added.filter_map(path_of).filter(|path| !evidence::is_compacted(path)).collect())
}

fn path_of(changed: &ChangedBlob) -> Option<RelativePath> {
    let path = std::str::from_utf8(&changed.path).ok()?;
    RelativePath::new(&format!("{FOLDER}/{path}")).ok()
}

/// Returns the files in the folder of this program in which a commit differs from all of its parents.
/// What a merge commit has from one of them was carried by an earlier commit.
fn changed_files(
    git: &Git,
    reader: &mut ObjectReader<'_>,
    commit: &CommitId,
) -> Result<Vec<ChangedBlob>, GitError> {
    let folder = git.path_in_repository(FOLDER);
    let node = reader.commit(git.object_id(commit)?)?;
    let now = reader.folder(node.tree, folder.as_ref())?;
    let mut before = Vec::new();
    for parent in node.parents {
        let tree = reader.commit(parent)?.tree;
        before.push(reader.folder(tree, folder.as_ref())?);
    }
    if before.contains(&now) {
        return Ok(Vec::new());
    }
    let (first, others) = match &before[..] {
        [] => (None, &[][..]),
        [first, others @ ..] => (*first, others),
    };
    let mut changed = reader.changed_blobs(first, now)?.to_vec();
    for other in others {
        let found = reader.changed_blobs(*other, now)?;
        changed.retain(|one| found.iter().any(|other| other.path == one.path));
    }
    Ok(changed)
}
