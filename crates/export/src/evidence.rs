//! The records that a commit carries: those in the files of evidence that it adds, and the lines that
//! it adds to a ledger that is a single file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ground::RelativePath;
use ground::git::{ChangedBlob, CommitNode, Git, GitError, ObjectId, ObjectReader};
use ledger::{Entry, Ledger, Trust, evidence};

const FOLDER: &str = ".orchestration";
const LEDGERS: &str = ".orchestration/agent_trace";

pub struct CommitChange {
    /// The records, in the order of their time.
    pub entries: Vec<Arc<Entry>>,
    pub has_other_rules: bool,
}

pub struct ChangeReader<'a> {
    git: &'a Git,
    pub(crate) objects: ObjectReader<'a>,
    /// The folder of each commit that was asked about. Most commits are the parent of another one.
    folders: HashMap<ObjectId, Option<ObjectId>>,
}

impl<'a> ChangeReader<'a> {
    pub fn new(git: &'a Git) -> Result<Self, GitError> {
        Ok(Self { git, objects: git.object_reader()?, folders: HashMap::new() })
    }

    /// Reads what a commit changed. A commit that carries nothing costs a comparison of two tree ids.
    pub fn change(&mut self, id: ObjectId, node: &CommitNode) -> Result<CommitChange, GitError> {
        let (mut files, mut known, mut has_other_rules) = (Vec::new(), HashSet::new(), false);
        for one in self.changed_files(id, node)? {
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
                let before = self.objects.blob(before)?;
                known.extend(before.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
            }
            files.push((path, self.objects.blob(now)?));
        }
        let ledger = Ledger::from_files(&files);
        let is_new = |entry: &&Arc<Entry>| {
            entry.trust != Trust::Contradicted && !known.contains(&*entry.stored)
        };
        let entries = ledger.entries().iter().filter(is_new).cloned().collect();
        Ok(CommitChange { entries, has_other_rules })
    }

    pub(crate) fn added_evidence(&mut self, id: ObjectId) -> Result<Vec<RelativePath>, GitError> {
        let node = self.objects.commit(id)?;
        let changed = self.changed_files(id, &node)?;
        let added = changed.iter().filter(|one| one.before.is_none() && one.now.is_some());
        Ok(added.filter_map(path_of).filter(|path| !evidence::is_compacted(path)).collect())
    }

    /// Returns the files in the folder of this program in which a commit differs from all of its
    /// parents. What a merge commit has from one of them was carried by an earlier commit.
    fn changed_files(
        &mut self,
        id: ObjectId,
        node: &CommitNode,
    ) -> Result<Vec<ChangedBlob>, GitError> {
        let now = self.folder(id)?;
        let parents = node.parents.iter().map(|parent| self.folder(*parent));
        let before = parents.collect::<Result<Vec<_>, _>>()?;
        if before.contains(&now) {
            return Ok(Vec::new());
        }
        let (first, others) = before.split_first().unwrap_or((&None, &[]));
        let mut changed = self.objects.changed_blobs(*first, now)?.to_vec();
        for other in others {
            let found = self.objects.changed_blobs(*other, now)?;
            changed.retain(|one| found.iter().any(|other| other.path == one.path));
        }
        Ok(changed)
    }

    /// Returns the id of the folder `.orchestration` in a commit. `None` if it has none.
    fn folder(&mut self, id: ObjectId) -> Result<Option<ObjectId>, GitError> {
        if let Some(known) = self.folders.get(&id) {
            return Ok(*known);
        }
        let tree = self.objects.commit(id)?.tree;
        let place = self.git.path_in_repository(FOLDER);
        let folder = self.objects.folder(tree, place.as_ref())?;
        self.folders.insert(id, folder);
        Ok(folder)
    }
}

fn path_of(changed: &ChangedBlob) -> Option<RelativePath> {
    let path = std::str::from_utf8(&changed.path).ok()?;
    RelativePath::new(&format!("{FOLDER}/{path}")).ok()
}
