//! What files contained before a call of an agent, and whether they contain that again. Contents are
//! compared as git would store them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::UNIX_EPOCH;

use evidence::event::Event;
use evidence::record::EarlierTexts;
use evidence::record::call::texts_in_other_commits;
use ground::git::GitError;
use ground::session::calls::{EarlierContent, FileBefore, PendingCall, Predicted};
use ground::session::seen::FileState;
use ground::session::ungated::{self, Ungated};
use ground::session::{self, seen};
use ground::{CommitId, RelativePath, store};
use shell::Restoration;
use why::Workspace;

/// How many changed files are read before a command.
const MAX_FILES: usize = 500;
/// A larger file, in bytes, is not read.
const MAX_SIZE: u64 = 4 * 1024 * 1024;
/// How many bytes of text are kept of all files together.
const MAX_TEXTS: usize = 16 * 1024 * 1024;
/// How far the clock of a file system may lag behind the system clock, in nanoseconds.
pub(crate) const TICK: u128 = 10_000_000;

/// Returns the files that differ from `HEAD` now, untracked ones included, and what they contain. All
/// other tracked files are as `HEAD` has them, so a command that follows can be judged by what it
/// changed. Without git, the files that have a record are returned.
pub(crate) fn changed_files(ws: &Workspace) -> BTreeMap<RelativePath, EarlierContent> {
    let paths: BTreeSet<RelativePath> = match ws.git() {
        Some(git) => {
            let tracked = match ws.head() {
                Some(head) => git.changed_tracked_files(head),
                None => git.tracked(),
            };
            let found = tracked.and_then(|tracked| Ok((tracked, git.untracked_files()?)));
            let found = session::or_log(&ws.root, "changed files could not be listed", found);
            found
                .into_iter()
                .flat_map(|(tracked, other)| tracked.into_iter().chain(other))
                .collect()
        }
        None => {
            let records = ws.journal.entries().iter().map(|entry| &entry.record);
            records.flat_map(|record| record.paths().cloned()).collect()
        }
    };
    let mut left = MAX_TEXTS;
    let content = |(at, path): (usize, RelativePath)| {
        let state = ws.root.absolute(&path).symlink_metadata();
        let content = match state {
            Err(_) => EarlierContent::Missing,
            Ok(state) if at < MAX_FILES && state.is_file() && state.len() <= MAX_SIZE => {
                let FileState { hash, text } = seen::state(&ws.root, &path, MAX_SIZE);
                let text = text.filter(|text| text.len() <= left);
                left -= text.as_ref().map_or(0, String::len);
                let hash = || hash.map_or(EarlierContent::Unknown, EarlierContent::Hash);
                text.map_or_else(hash, EarlierContent::Text)
            }
            Ok(_) => EarlierContent::Unknown,
        };
        (path, content)
    };
    paths.into_iter().enumerate().map(content).collect()
}

pub(crate) fn contents_before(
    ws: &Workspace,
    call: &PendingCall,
    paths: &[RelativePath],
) -> Vec<EarlierContent> {
    let head = call.head.clone().map(CommitId);
    let is_new_file = |path: &RelativePath| {
        let state = ws.root.absolute(path).symlink_metadata();
        state.is_ok_and(|state| is_new(&state, call.at.saturating_sub(TICK)))
    };
    let of_file = |path: &RelativePath| {
        if let Some(known) = call.changed_before.get(path) {
            return known.clone();
        }
        if let Some((git, head)) = ws.git().zip(head.as_ref())
            && git.has_entry(head, path).unwrap_or(true)
        {
            return EarlierContent::Commit(head.clone());
        }
        if ws.git().is_some() {
            return EarlierContent::Missing;
        }
        // Only the hooks may have seen the file.
        let noted = ungated::last_of_file(&ws.root, path).map(|note| note.hash);
        let written = seen::last_write(&ws.root, path).map(|last| last.hash);
        match noted.or(written) {
            Some(Some(hash)) => EarlierContent::Hash(hash),
            Some(None) => EarlierContent::Missing,
            None if is_new_file(path) => EarlierContent::Missing,
            None => EarlierContent::Unknown,
        }
    };
    paths.iter().map(of_file).collect()
}

/// Returns the hash of an earlier content, which is `None` inside if there was no file. `None` if the
/// content is unknown.
pub(crate) fn hash_of(
    ws: &Workspace,
    path: &RelativePath,
    content: &EarlierContent,
) -> Option<Option<String>> {
    match content.clone().without_text() {
        EarlierContent::Missing => Some(None),
        EarlierContent::Hash(hash) => Some(Some(hash)),
        EarlierContent::Commit(commit) => {
            Some(Some(store::sha256(&ws.git()?.file_at(&commit, path).ok()??)))
        }
        EarlierContent::Text(_) | EarlierContent::Unknown => None,
    }
}

/// Returns the texts of a file that were there before a call: what it contained, and what the commits
/// contain from which git could have taken it.
pub(crate) fn texts(
    ws: &Workspace,
    call: &PendingCall,
    path: &RelativePath,
    content: &EarlierContent,
) -> EarlierTexts {
    let committed = |commit| String::from_utf8(ws.git()?.file_at(commit, path).ok()??).ok();
    let before = match content {
        EarlierContent::Text(text) => Some(text.clone()),
        EarlierContent::Commit(commit) => committed(commit),
        EarlierContent::Missing | EarlierContent::Hash(_) | EarlierContent::Unknown => None,
    };
    let mut elsewhere = texts_in_other_commits(ws, call, path);
    if call.head.as_ref() == ws.head().map(|head| &head.0) {
        return EarlierTexts { elsewhere, before };
    }
    // What other commits brought is no change of the call, so the file is compared with the present
    // commit.
    elsewhere.extend(before);
    EarlierTexts { elsewhere, before: None }
}

/// Returns true if a file or folder was created since the given time, and false if the file system
/// does not keep creation times.
pub(crate) fn is_new(state: &std::fs::Metadata, since: u128) -> bool {
    let made = state.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    made.is_some_and(|at| at.as_nanos() >= since)
}

/// Returns for each file whether it contains now what it contained earlier. `None` if nobody can
/// tell, because a program converts it for git.
pub(crate) fn are_as_before(
    ws: &Workspace,
    paths: &[RelativePath],
    before: &[EarlierContent],
) -> Vec<Option<bool>> {
    let mut same: Vec<Option<bool>> = Vec::with_capacity(paths.len());
    let mut committed: BTreeMap<&CommitId, Vec<usize>> = BTreeMap::new();
    for (at, (path, before)) in paths.iter().zip(before).enumerate() {
        same.push(Some(match before {
            EarlierContent::Unknown => false,
            EarlierContent::Missing => ws.root.absolute(path).symlink_metadata().is_err(),
            EarlierContent::Hash(hash) => {
                seen::state(&ws.root, path, 0).hash.as_ref() == Some(hash)
            }
            EarlierContent::Text(text) => {
                seen::state(&ws.root, path, MAX_SIZE).text.as_ref() == Some(text)
            }
            EarlierContent::Commit(commit) => {
                committed.entry(commit).or_default().push(at);
                false
            }
        }));
    }
    for (commit, places) in committed {
        let of_commit: Vec<RelativePath> = places.iter().map(|at| paths[*at].clone()).collect();
        let found = ws.git().map(|git| git.are_as_committed(commit, &of_commit));
        let what = "files could not be compared with their commit";
        let found = found.and_then(|found| session::or_log(&ws.root, what, found));
        for (at, is_same) in places.into_iter().zip(found.unwrap_or_default()) {
            same[at] = is_same;
        }
    }
    same
}

/// Returns true if the file of a note about an unforeseen write is again as it was before that write,
/// or as the commit has it that was checked out then. A later commit does not count, because the
/// session may have made it.
pub(crate) fn is_restored(ws: &Workspace, note: &Ungated) -> bool {
    let of_head = note.head.clone().map(EarlierContent::Commit);
    let path = std::slice::from_ref(&note.path);
    let mut wanted = std::iter::once(note.before.clone()).chain(of_head);
    wanted.any(|wanted| are_as_before(ws, path, &[wanted]) == [Some(true)])
}

/// Returns true if a call restores a file exactly as it was before an unforeseen write of the same
/// session, or as the commit has it that was checked out then. Nobody may have changed the file
/// since. `command` says what the command of the call makes of the file, if there is one.
pub(crate) fn restores(
    ws: &Workspace,
    event: &Event,
    file: &FileBefore,
    command: Option<Restoration>,
) -> bool {
    let (path, session) = (&file.path, event.session_key());
    let is_own =
        |note: &Ungated| note.actor == session || note.actor.starts_with(&format!("{session}/"));
    let note = ungated::of_file(&ws.root, path).filter(is_own);
    let Some(note) = note.filter(|_| file.moved_from.is_none()) else { return false };
    let then = match &note.before {
        EarlierContent::Commit(commit) => Some(commit),
        _ => note.head.as_ref(),
    };
    // Returns true if git has this content now and had it then.
    let is_of_then = |stored: Result<Option<Vec<u8>>, GitError>| {
        let had = ws.git().zip(then).map(|(git, then)| git.file_at(then, path));
        matches!((stored, had), (Ok(Some(stored)), Some(Ok(Some(had)))) if stored == had)
    };
    match (command, &file.predicted) {
        (Some(Restoration::Delete), _) | (None, Predicted::Gone) => {
            note.before == EarlierContent::Missing
        }
        (Some(Restoration::FromHead), _) => {
            ws.git().zip(ws.head()).is_some_and(|(git, head)| is_of_then(git.file_at(head, path)))
        }
        (Some(Restoration::FromIndex), _) => {
            ws.git().is_some_and(|git| is_of_then(git.file_in_index(path)))
        }
        (None, Predicted::Text(text)) => {
            note.before == EarlierContent::Hash(store::sha256(text.as_bytes()))
                || ws.git().zip(then).is_some_and(|(git, then)| {
                    let bytes = text.clone().into_bytes();
                    git.would_be_as_committed(then, path, bytes).unwrap_or(false)
                })
        }
        (None, Predicted::Unknown) => false,
    }
}
