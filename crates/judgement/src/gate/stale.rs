//! Checks whether somebody changed a file since this session saw it: first the file as a whole and,
//! if it changed, its blocks.

use super::places::{EditManner, Touched};
use super::{Denial, DenialCode};
use crate::seen_blocks::{self, KnownBlocks};
use ground::RelativePath;
use ground::session::calls::Predicted;
use ground::session::seen::{self, BlockWrite, SeenExtent};
use ledger::Outline;
use why::Workspace;

pub(super) fn denial(ws: &Workspace, actor: &str, file: &Touched) -> Option<Denial> {
    let path = &file.before.path;
    let exists = file.before.hash.is_some();
    let Some(seen) = seen::last_seen_state(&ws.root, actor, path) else {
        // An edit that was located by its text proves that the agent knows this text. A new text
        // for the whole file proves nothing.
        let writes_what_is_there = matches!(
            (&file.before.predicted, &file.before.text),
            (Predicted::Text(after), Some(now)) if after == now
        );
        let is_blind = exists && file.manner == EditManner::Whole && !writes_what_is_there;
        return is_blind.then(|| unread_denial(path));
    };
    if seen.extent == SeenExtent::File && seen.hash == file.before.hash {
        return None;
    }
    if !exists && file.manner != EditManner::Whole {
        // The file is gone, and the tool will report that itself.
        return None;
    }
    let known = KnownBlocks::from_seen(&seen);
    let now = file.before.text.as_deref().and_then(|text| seen_blocks::pieces_of(path, text));
    let Some((known, now)) = known.as_ref().zip(now.as_ref()) else {
        return Some(stale(ws, actor, file, known.as_ref()));
    };
    if exists && leaves_others(known, now, file) {
        return None;
    }
    // The session has read only a part of the file, and nobody has changed that part.
    let nobody_changed = known.extent == SeenExtent::Part && known.changed(now, false).is_empty();
    Some(if nobody_changed { unread_denial(path) } else { stale(ws, actor, file, Some(known)) })
}

/// Returns true if the write changes no block that differs from what the session knows.
fn leaves_others(known: &KnownBlocks, now: &Outline, file: &Touched) -> bool {
    let theirs = known.changed(now, file.manner == EditManner::Whole);
    if theirs.is_empty() {
        return true;
    }
    // Others changed the file, so the line number of an insertion may now belong to another line.
    if file.manner == EditManner::Placed {
        return false;
    }
    let Predicted::Text(after) = &file.before.predicted else { return false };
    let Some(after) = seen_blocks::pieces_of(&file.before.path, after) else { return false };
    let ours = now.touched(&after);
    let every_block = ours.len() >= now.rows.len() && now.rows.len() > 1;
    theirs.is_disjoint(&ours) && !every_block
}

fn unread_denial(path: &RelativePath) -> Denial {
    let message = format!(
        "Stale File: {path} exists, and this session has not read all of it; a whole new text would overwrite what it does not know. Read it first."
    );
    Denial::new(DenialCode::StaleFile, message).about_path(path)
}

fn stale(ws: &Workspace, actor: &str, file: &Touched, known: Option<&KnownBlocks>) -> Denial {
    let path = &file.before.path;
    let who = match seen_blocks::other_writer(ws, actor, &file.before, known) {
        Some(BlockWrite { actor, intent: Some(intent), at, .. }) => {
            format!("{actor} under {intent}, at {at}")
        }
        Some(BlockWrite { actor, at, .. }) => format!("{actor}, at {at}"),
        None => "somebody whose write was not seen (a person in an editor, or another program)"
            .to_owned(),
    };
    let what = if file.before.hash.is_some() { "changed" } else { "deleted" };
    let message = format!(
        "Stale File: {path} was {what} since this session last saw it, by {who}. Read it again, then repeat the change on what is there."
    );
    Denial::new(DenialCode::StaleFile, message).about_path(path)
}
