//! Answers what other tools recorded about a line.

use std::collections::HashMap;
use std::sync::Arc;

use ground::Git;
use ground::git::{BStr, GitError, ObjectId, ObjectReader};

use crate::claimed_line::ClaimedLine;
use crate::commit_note::CommitNote;
use crate::notes_tree::{blob_of_reference, note_of_commit, notes_tree};
use crate::{agent_blame, git_ai};

/// Where Git AI kept what it knew of a commit before it used notes.
const OLDEST_GIT_AI: &str = "refs/ai/authorship/";

/// What other tools recorded in a repository. Each note is read once, when somebody asks about its
/// commit.
pub struct Claims<'git> {
    git: &'git Git,
    reader: ObjectReader<'git>,
    git_ai: Option<ObjectId>,
    has_oldest_git_ai: bool,
    agent_blame: Option<ObjectId>,
    of_commits: HashMap<ObjectId, Arc<NotesOfCommit>>,
}

/// What notes say of the lines of a commit.
#[derive(Default)]
struct NotesOfCommit {
    git_ai: Option<CommitNote>,
    agent_blame: Option<CommitNote>,
}

impl<'git> Claims<'git> {
    /// Looks where tools keep their notes. A note is read only when somebody asks about its commit.
    pub fn open(git: &'git Git) -> Result<Self, GitError> {
        let mut reader = git.object_reader()?;
        let oldest = git.references_below(OLDEST_GIT_AI, 1)?;
        Ok(Self {
            git,
            git_ai: notes_tree(git, &mut reader, "refs/notes/ai")?,
            has_oldest_git_ai: !oldest.is_empty(),
            agent_blame: notes_tree(git, &mut reader, "refs/notes/agentblame")?,
            reader,
            of_commits: HashMap::new(),
        })
    }

    /// Returns what a tool recorded about a line: the commit that brought it, and the path from the
    /// top of the repository and the line in that commit, counted from 0.
    pub fn of_line(&mut self, commit: ObjectId, path: &BStr, line: usize) -> Option<ClaimedLine> {
        if commit.is_null() {
            return None;
        }
        let number = u32::try_from(line).ok()?.checked_add(1)?;
        let notes = self.notes_of(commit);
        if let Some(noted) = notes.git_ai.as_ref().and_then(|note| note.of_line(path, number)) {
            return noted.writer.as_deref().cloned();
        }
        if let Some(noted) = notes.agent_blame.as_ref().and_then(|note| note.of_line(path, number)) {
            let text = self.text_of(commit, path)?;
            let writer = noted.writer.as_deref().cloned();
            return writer.filter(|_| agent_blame::is_about_text(noted, &text));
        }
        None
    }

    /// Returns the notes of a commit. One that cannot be read says nothing.
    fn notes_of(&mut self, commit: ObjectId) -> Arc<NotesOfCommit> {
        if let Some(known) = self.of_commits.get(&commit) {
            return Arc::clone(known);
        }
        let git_ai = self.git_ai_note(commit).and_then(|bytes| git_ai::parse_note(&bytes));
        let agent_blame = self.note_in(self.agent_blame, commit);
        let agent_blame = agent_blame.and_then(|bytes| agent_blame::parse_note(&bytes));
        let notes = Arc::new(NotesOfCommit { git_ai, agent_blame });
        self.of_commits.insert(commit, Arc::clone(&notes));
        notes
    }

    fn git_ai_note(&mut self, commit: ObjectId) -> Option<Vec<u8>> {
        let found = self.note_in(self.git_ai, commit);
        if found.is_some() || !self.has_oldest_git_ai {
            return found;
        }
        let reference = format!("{OLDEST_GIT_AI}{commit}");
        readable(blob_of_reference(self.git, &mut self.reader, &reference))?
    }

    fn note_in(&mut self, tree: Option<ObjectId>, commit: ObjectId) -> Option<Vec<u8>> {
        readable(note_of_commit(&mut self.reader, tree?, commit))?
    }

    fn text_of(&mut self, commit: ObjectId, path: &BStr) -> Option<Vec<u8>> {
        let tree = readable(self.reader.commit(commit))?.tree;
        let blob = readable(self.reader.locate(tree, path, None))?.blob?;
        readable(self.reader.blob(blob))
    }
}

/// Returns what could be read. What other tools keep may be damaged, and then it says nothing.
fn readable<T>(read: Result<T, GitError>) -> Option<T> {
    read.inspect_err(|error| tracing::debug!(%error, "what another tool recorded cannot be read")).ok()
}
