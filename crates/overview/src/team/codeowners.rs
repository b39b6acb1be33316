//! Adds lines to `CODEOWNERS` that name who must approve changes to the files that control agents.
//!
//! Evidence is not among these files, because every commit adds some and somebody would have to
//! approve each.

use std::path::PathBuf;

use super::ci::WORKFLOW;
use super::{TeamAnswer, TeamFile, TeamFileDone, TeamPlace, block_in, has_mark, with_block};
use ground::store::StoreError;

/// The places at which forges search for the file, in this order.
pub(super) const PLACES: [&str; 4] =
    [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];

/// The files with rules, relative to the workspace's root.
const RULES: [&str; 7] = [
    ".orchestration/policy.yaml",
    ".orchestration/active_intents.yaml",
    ".orchestration/intents/",
    ".orchestration/allowed_signers",
    ".orchestration/.gitignore",
    ".orchestration/.gitattributes",
    ".intentignore",
];

pub(super) fn add_codeowners(
    place: &TeamPlace,
    job_files: &[&str],
    owners: &[String],
    answer: &mut TeamAnswer,
) -> Result<(), StoreError> {
    let there = PLACES.into_iter().find(|path| place.exists(path));
    let path = there.unwrap_or(if job_files.contains(&WORKFLOW) { PLACES[0] } else { PLACES[1] });
    let text = place.read(path)?;
    let is_in = text.as_deref().is_some_and(|text| block_in(text).is_some());
    let before = text.clone().unwrap_or_default();
    if owners.is_empty() && !is_in {
        answer.notes.push(format!(
            "nobody has to approve changes of the rules yet: `intent setup team --owner @team` adds that to {path}"
        ));
        return Ok(());
    }
    if !is_in && has_mark(&before) {
        // Nobody knows which lines are ours, and a second block would stay beside the first.
        let lines = Some(lines(place, owners));
        answer.files.push(TeamFile { path: path.to_owned(), done: TeamFileDone::ToAdd, lines });
        return Ok(());
    }
    // Existing owners are kept, unless the caller gives other ones.
    let after = match is_in && owners.is_empty() {
        true => before.clone(),
        false => with_block(&before, &lines(place, owners)),
    };
    let done = match &text {
        Some(_) if after == before => TeamFileDone::Kept,
        Some(_) => TeamFileDone::Changed,
        None => TeamFileDone::Created,
    };
    if done != TeamFileDone::Kept {
        place.write(path, &after)?;
    }
    answer.files.push(TeamFile { path: path.to_owned(), done, lines: None });
    Ok(())
}

fn lines(place: &TeamPlace, owners: &[String]) -> String {
    let below = match place.below.as_str() {
        "" => String::new(),
        // A space would end the pattern.
        below => format!("{}/", below.replace(' ', "\\ ")),
    };
    let owners = owners.join(" ");
    RULES.iter().map(|rule| format!("/{below}{rule} {owners}\n")).collect()
}

/// Returns true if a file differs from its former text only in our lines, which name whom a person
/// said. If the former text has our lines already, a change of them is a change of who approves.
pub(super) fn is_as_written(before: Option<&str>, now: &str) -> bool {
    let before = before.unwrap_or_default();
    let Some(block) = block_in(now).filter(|_| block_in(before).is_none()) else { return false };
    let first = now[block].lines().find(|line| line.starts_with('/')).unwrap_or_default();
    let owners: Vec<String> = first.split(' ').skip(1).map(str::to_owned).collect();
    let top = TeamPlace { top: PathBuf::new(), below: String::new() };
    !owners.is_empty() && with_block(before, &lines(&top, &owners)) == now
}
