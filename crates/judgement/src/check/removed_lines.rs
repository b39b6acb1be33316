//! Finds out which commit of a change removed each line that its base has.

use std::collections::{HashMap, HashSet};

use ground::RelativePath;
use ground::git::{GitError, ObjectId};
use history::{FileChanges, LineText, lines_in, new_lines};
use why::Workspace;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Removal {
    pub commit: String,
    /// The path of the file after the commit.
    pub path: RelativePath,
}

/// The lines of a former text that are gone, counted from 0. `None` for a line of which no commit is
/// known to have removed it: perhaps that is not committed yet.
pub(super) type GoneLines = HashMap<usize, Option<Removal>>;

/// Returns the lines of a file that are gone since its former text, and which of these commits removed
/// each of them.
pub(super) fn gone_lines(
    ws: &Workspace,
    path: &RelativePath,
    (before, now): (&LineText, &LineText),
    commits: &HashSet<ObjectId>,
) -> GoneLines {
    let is_gone = new_lines(&[now], before);
    let lines = (0..before.len()).filter(|line| is_gone[*line]);
    let mut gone: GoneLines = lines.map(|line| (line, None)).collect();
    // Where history is missing, nobody is known.
    let _ = add_removals(&mut gone, ws, path, before, commits);
    gone
}

fn add_removals(
    gone: &mut GoneLines,
    ws: &Workspace,
    path: &RelativePath,
    before: &LineText,
    commits: &HashSet<ObjectId>,
) -> Result<(), GitError> {
    let (Some(git), Some(tip)) = (ws.git(), ws.tip()) else { return Ok(()) };
    let Some(committed) = git.file_at(tip, path)? else { return Ok(()) };
    let is_committed = new_lines(&[&LineText::new(committed)], before);
    let full = git.path_in_repository(path.as_str());
    let walk = FileChanges::new(git.object_reader()?, git.object_id(tip)?, full)?;
    let mut walk = walk.limited_to(commits);
    // The newest commit counts: a line that was put back may have been removed again.
    while let Some(change) = walk.next_change()? {
        let Some(path) = git.path_in_workspace(change.path.as_ref()) else { continue };
        let removal = Removal { commit: change.commit.to_string(), path };
        for (parent, is_removed) in change.before.iter().zip(change.removed_lines()) {
            let Some(parent) = parent else { continue };
            let stood = lines_in(before, &LineText::new(parent.content.clone())).into_iter();
            for (line, _) in stood.zip(is_removed).filter(|(_, is_removed)| *is_removed) {
                let found = line.filter(|line| is_committed[*line]);
                if let Some(found) = found.and_then(|line| gone.get_mut(&line)) {
                    found.get_or_insert_with(|| removal.clone());
                }
            }
        }
    }
    Ok(())
}
