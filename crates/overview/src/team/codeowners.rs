//! Adds lines to `CODEOWNERS` that name who must approve changes to the files that control agents.
//!
//! Evidence is not among these files, because every commit adds some and somebody would have to
//! approve each.

use super::ci::Forge;
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

/// The line that is written if no owner was given.
const TO_FILL_IN: &str =
    "# Nobody is named yet: `intent init --team --owner @team` fills in who answers for these.";

pub(super) fn add_codeowners(
    place: &TeamPlace,
    forges: &[Forge],
    owners: &[String],
    answer: &mut TeamAnswer,
) -> Result<(), StoreError> {
    let there = PLACES.into_iter().find(|path| place.exists(path));
    let path = there.unwrap_or(match forges.contains(&Forge::GitHub) {
        true => PLACES[0],
        false => PLACES[1],
    });
    let text = place.read(path)?;
    let is_in = text.as_deref().is_some_and(|text| block_in(text).is_some());
    let before = text.clone().unwrap_or_default();
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
    if after.contains(TO_FILL_IN) {
        answer.notes.push(format!(
            "{path} names nobody yet: `intent init --team --owner @team` fills it in"
        ));
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
    let (mark, owners) = match owners {
        [] => ("# ", "@OWNER".to_owned()),
        owners => ("", owners.join(" ")),
    };
    let lines = RULES.iter().map(|rule| format!("{mark}/{below}{rule} {owners}\n"));
    let note = if mark.is_empty() { String::new() } else { format!("{TO_FILL_IN}\n") };
    note + &lines.collect::<String>()
}
