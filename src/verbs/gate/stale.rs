//! Did somebody change the file since this session saw it? Per file, and where that is so, per block.

use std::collections::HashSet;

use super::places::{Manner, Touched};
use super::{Denial, DenialCode};
use crate::code::{Document, FileBlocks};
use crate::provenance::Outline;
use crate::verbs::Workspace;
use crate::workspace::RelativePath;
use crate::workspace::session::calls::Predicted;
use crate::workspace::session::seen::{self, Seen};

/// The denial for a write that is not based on what is there.
pub(super) fn denial(ws: &Workspace, actor: &str, file: &Touched) -> Option<Denial> {
    let path = &file.before.path;
    let exists = file.before.hash.is_some();
    let Some(seen) = seen::seen(&ws.root, actor, path) else {
        // A part that was found by its text is its own evidence; a whole file is not.
        let blind = exists && file.manner == Manner::Whole && !file.writes_what_is_there();
        return blind.then(|| unread(path));
    };
    if seen.hash == file.before.hash {
        return None;
    }
    if !exists && file.manner != Manner::Whole {
        // It is gone: the tool itself will say so.
        return None;
    }
    let disjoint =
        exists && Outline::from_entries(&seen.outline).is_some_and(|seen| disjoint(&seen, file));
    (!disjoint).then(|| stale(ws, path, file))
}

impl Touched {
    fn writes_what_is_there(&self) -> bool {
        matches!((&self.before.predicted, &self.before.text), (Predicted::Text(after), Some(now)) if after == now)
    }
}

/// Whether the write leaves alone every block that others have changed since.
fn disjoint(seen: &Outline, file: &Touched) -> bool {
    let (Some(now), Predicted::Text(after)) = (&file.before.text, &file.before.predicted) else {
        return false;
    };
    let path = file.before.path.as_str();
    let blocks =
        |text: &str| Document::from_bytes(path, text.as_bytes()).map(|document| document.blocks());
    let (Ok(now), Ok(after)) = (blocks(now), blocks(after)) else { return false };
    // What nobody can cut into blocks is one piece.
    if now.blocks.is_empty() || now.has_error || after.has_error {
        return false;
    }
    let now_outline = Outline::of(&now);
    let theirs = seen.touched(&now_outline);
    let ours = now_outline.touched(&Outline::of(&after));
    theirs.is_disjoint(&ours) && !theirs.is_empty() && !whole(&ours, &now)
}

/// Whether every block there is would change.
fn whole(ours: &HashSet<[u8; 8]>, now: &FileBlocks) -> bool {
    ours.len() >= now.blocks.len() && now.blocks.len() > 1
}

fn unread(path: &RelativePath) -> Denial {
    Denial {
        path: Some(path.to_string()),
        ..Denial::new(
            DenialCode::StaleFile,
            format!(
                "Stale File: {path} exists, and this session has not read it; a whole new text would overwrite what it does not know. Read it first."
            ),
        )
    }
}

fn stale(ws: &Workspace, path: &RelativePath, file: &Touched) -> Denial {
    let last = seen::last_write(&ws.root, path).filter(|last| last.hash == file.before.hash);
    let who = match last {
        Some(Seen { actor, intent: Some(intent), at, .. }) => {
            format!("{actor} under {intent}, at {at}")
        }
        Some(Seen { actor, at, .. }) => format!("{actor}, at {at}"),
        None => "somebody whose write was not seen (a person in an editor, or another program)"
            .to_owned(),
    };
    let what = if file.before.hash.is_some() { "changed" } else { "deleted" };
    Denial {
        path: Some(path.to_string()),
        ..Denial::new(
            DenialCode::StaleFile,
            format!(
                "Stale File: {path} was {what} since this session last saw it, by {who}. Read it again, then repeat the change on what is there."
            ),
        )
    }
}
