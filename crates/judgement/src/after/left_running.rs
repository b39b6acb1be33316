//! Looks at what commands change that go on after their call has ended. Nobody sees when such a
//! command writes, so the disk is compared at the next call, when the agent stops, and in a check.

use super::control_changes::ControlChanges;
use super::{call_head, disk, is_objected_to, note_ungated, touched_by_others};
use crate::{earlier, seen_blocks};
use ground::session::calls::PendingCall;
use ground::session::left_running::{self, LeftRunning};
use ground::session::{self, seen, ungated};
use ground::text;
use ground::{CommitId, RelativePath, clock};
use why::Workspace;

const WHY: &str = "a command that was left running changed it, and it is out of scope";

pub(super) fn follow(ws: &Workspace, key: &str, call: &PendingCall, known_until: u128) {
    let call = PendingCall { at: known_until, files: Vec::new(), ..call.clone() };
    let left = LeftRunning::of_call(&ws.root, key.to_owned(), call);
    let kept = left_running::keep(&ws.root, &left);
    session::or_log(&ws.root, "a command that goes on could not be noted", kept);
}

/// Looks at what the commands of a session, or of all sessions, have changed since the last look. Files
/// that `is_explained` knows are left out. Returns a message for the agent, if there is something to say.
pub(super) fn look(
    ws: &Workspace,
    session: Option<&str>,
    is_explained: impl Fn(&RelativePath) -> bool,
) -> Option<String> {
    let is_of_session = |left: &LeftRunning| {
        let actor = left.call.actor.as_str();
        session.is_none_or(|session| actor.split('/').next() == session.split('/').next())
    };
    let mut files = Vec::new();
    for left in left_running::all_left_running(&ws.root).into_iter().filter(is_of_session) {
        // What happens from here on is for the next look.
        let (at, runs) = (clock::now_in_nanoseconds(), left.runs());
        for path in record_unforeseen(ws, &left.call, &is_explained) {
            if !files.contains(&path) {
                files.push(path);
            }
        }
        let done = match runs {
            true => left_running::keep(&ws.root, &left.known_until(at)),
            false => left_running::forget(&ws.root, &left),
        };
        session::or_log(&ws.root, "a command that goes on could not be noted", done);
    }
    (!files.is_empty()).then(|| {
        format!(
            "Scope Violation: files changed that no call foresaw, while a command that you left running could write: {}. If it did, stop it, undo the change and request scope expansion; nothing was undone for you.",
            text::listed(&files)
        )
    })
}

/// Notes the files out of scope that changed since the last look at a command, and returns them.
fn record_unforeseen(
    ws: &Workspace,
    call: &PendingCall,
    is_explained: impl Fn(&RelativePath) -> bool,
) -> Vec<RelativePath> {
    let head = call_head(call);
    let mut changed = disk::changed_since(ws, call.at, head.as_ref()).paths;
    changed.retain(|path| is_objected_to(ws, path, call.intent.as_ref()));
    changed.extend(ControlChanges::made_since(ws, call).inside);
    changed.retain(|path| {
        !is_explained(path)
            && !seen_blocks::is_ours(ws, path)
            && !touched_by_others(ws, call, path)
            && ungated::of_file(&ws.root, path).is_none()
    });
    changed.sort();
    changed.dedup();
    let before = earlier::contents_before(ws, call, &changed);
    let is_same = earlier::are_as_before(ws, &changed, &before);
    let of_now = as_committed_now(ws, head.as_ref(), &changed);
    let found = changed.into_iter().zip(before).zip(is_same).zip(of_now);
    let found = found.filter(|((_, is_same), of_now)| *is_same == Some(false) && !of_now);
    found
        .map(|(((path, before), _), _)| {
            let now = seen::state(&ws.root, &path, 0);
            let who = (call.actor.clone(), call.tool.clone());
            note_ungated(ws, who, (&path, &now), (before, head.clone()), WHY);
            path
        })
        .collect()
}

/// Returns for each file whether it is as a commit has it that was checked out since the call. Such a
/// commit was judged when it was made.
fn as_committed_now(ws: &Workspace, then: Option<&CommitId>, files: &[RelativePath]) -> Vec<bool> {
    let now = ws.git().zip(ws.head()).filter(|(_, now)| Some(*now) != then);
    let found = now.and_then(|(git, now)| git.are_as_committed(now, files).ok());
    let found = found.unwrap_or_default().into_iter().map(|is_same| is_same == Some(true));
    found.chain(std::iter::repeat(false)).take(files.len()).collect()
}
