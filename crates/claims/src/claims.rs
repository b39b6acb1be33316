//! Answers what other tools recorded about a line.

use std::collections::HashMap;
use std::sync::Arc;

use ground::git::{BStr, BString, ByteSlice, GitError, ObjectId, ObjectReader};
use ground::{Git, Root};
use ledger::Entry;

use crate::agent_blame::{self, is_about_text};
use crate::claimed_line::ClaimedLine;
use crate::commit_note::{CommitNote, NotedLines, last_about};
use crate::git_ai;
use crate::notes_tree::{blob_of_reference, note_of_commit, readable, tree_of_reference};
use crate::other_notes::{AGENT_BLAME, GIT_AI};
use crate::session_runs::SessionRuns;
use crate::trace_files::{TraceFiles, TraceOfFile};
use crate::traced_commit::{AskedCommit, claims_for};
use crate::version_text::VersionText;

/// Where Git AI kept what it knew of a commit before it used notes.
const OLDEST_GIT_AI: &str = "refs/ai/authorship/";

/// What other tools recorded in a repository. Each note is read once, when somebody asks about its
/// commit.
pub struct Claims<'git> {
    git: &'git Git,
    root: &'git Root,
    reader: ObjectReader<'git>,
    git_ai: Option<ObjectId>,
    has_oldest_git_ai: bool,
    agent_blame: Option<ObjectId>,
    trace_files: TraceFiles,
    session_runs: SessionRuns,
    of_commits: HashMap<ObjectId, Arc<NotesOfCommit>>,
    of_files: HashMap<(ObjectId, BString), ClaimsOfFile>,
}

struct NotesOfCommit {
    git_ai: Option<CommitNote>,
    agent_blame: Option<CommitNote>,
}

/// What Agent Blame, each trace file and sessions on this machine claim about a file in a commit, the strongest first.
type ClaimsOfFile = Arc<[Vec<NotedLines>]>;

impl<'git> Claims<'git> {
    pub fn open(git: &'git Git, root: &'git Root) -> Result<Self, GitError> {
        let mut reader = git.object_reader()?;
        let oldest = git.references_below(OLDEST_GIT_AI, 1).unwrap_or_default();
        Ok(Self {
            git,
            root,
            git_ai: readable(tree_of_reference(git, &mut reader, GIT_AI)).flatten(),
            has_oldest_git_ai: !oldest.is_empty(),
            agent_blame: readable(tree_of_reference(git, &mut reader, AGENT_BLAME)).flatten(),
            reader,
            trace_files: TraceFiles::default(),
            session_runs: SessionRuns::default(),
            of_commits: HashMap::new(),
            of_files: HashMap::new(),
        })
    }

    /// Returns the same claims with those of earlier systems among the records of a ledger.
    pub fn with_ledger(mut self, ledger: &[Arc<Entry>]) -> Self {
        let foreign = ledger.iter().filter(|entry| entry.dialect.is_foreign());
        self.trace_files.ledger = foreign.cloned().collect();
        self
    }

    /// Returns what a tool recorded about a line: the commit that brought it, and the path from the
    /// top of the repository and the line in that commit, counted from 0.
    pub fn of_line(&mut self, commit: ObjectId, path: &BStr, line: usize) -> Option<ClaimedLine> {
        if commit.is_null() {
            return None;
        }
        let number = u32::try_from(line).ok()?.checked_add(1)?;
        let notes = self.notes_of(commit);
        let in_note = notes.git_ai.as_ref().and_then(|note| last_about(note.get(path)?, number));
        if let Some(noted) = in_note {
            return noted.writer.as_deref().cloned();
        }
        let compared = self.claims_of_file(commit, path, notes.agent_blame.as_ref());
        let noted = compared.iter().filter_map(|claims| last_about(claims, number));
        noted.filter_map(|noted| noted.writer.as_deref().cloned()).next()
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

    fn claims_of_file(
        &mut self,
        commit: ObjectId,
        path: &BStr,
        note: Option<&CommitNote>,
    ) -> ClaimsOfFile {
        let key = (commit, path.to_owned());
        if let Some(known) = self.of_files.get(&key) {
            return Arc::clone(known);
        }
        let noted = note.and_then(|note| note.get(path)).map_or(&[][..], Vec::as_slice);
        let traces = self.trace_files.about_file(self.git, self.root, path);
        let sessions_wrote =
            path.to_str().is_ok_and(|path| self.session_runs.are_about(self.root, path));
        let found = match noted.is_empty() && traces.is_empty() && !sessions_wrote {
            true => Vec::new(),
            false => {
                let compared = self.compared_claims(commit, path, noted, &traces);
                readable(compared).unwrap_or_default()
            }
        };
        let found = Arc::from(found);
        self.of_files.insert(key, Arc::clone(&found));
        found
    }

    fn compared_claims(
        &mut self,
        commit: ObjectId,
        path: &BStr,
        noted: &[NotedLines],
        traces: &[TraceOfFile],
    ) -> Result<Vec<Vec<NotedLines>>, GitError> {
        let node = self.reader.commit(commit)?;
        let Some(blob) = self.reader.locate(node.tree, path, None)?.blob else {
            return Ok(Vec::new());
        };
        let text = VersionText::new(self.reader.blob(blob)?);
        let of_note = noted.iter().filter(|noted| is_about_text(noted, &text)).cloned().collect();
        let mut claims = vec![of_note];
        let (mut parents, mut is_new_file) = (Vec::new(), true);
        for parent in node.parents.into_iter().filter(|_| !traces.is_empty()) {
            let node = self.reader.commit(parent)?;
            is_new_file &= self.reader.locate(node.tree, path, None)?.blob.is_none();
            parents.push((parent.to_string(), node.time));
        }
        let asked = AskedCommit { id: commit.to_string(), time: node.time, parents, is_new_file };
        claims.extend(traces.iter().map(|TraceOfFile { file, path }| {
            claims_for(file, file.changes_of(path), &asked, &text)
        }));
        if let Ok(path) = path.to_str() {
            claims.push(self.session_runs.claims_for(self.root, path, &text, node.time));
        }
        Ok(claims)
    }
}
