//! Decides whether a command must run behind the fence, and tells the agent how.

use super::{Denial, DenialCode};
use crate::shell::{Class, OUR_NAMES, Prediction, own_command};
use crate::workspace::text::shell_word;

/// Returns true if a command of the call may have effects that nobody can predict and does not run
/// behind the fence of this intent.
pub(super) fn is_wanted(readings: &[Prediction], intent: &str) -> bool {
    readings.iter().any(|reading| reading.class == Class::Opaque && !is_behind(reading, intent))
}

/// Returns true if the command is `intent fence --intent ID -- …` and nothing else. With another
/// intent, or with none, the fence would permit other folders.
fn is_behind(reading: &Prediction, intent: &str) -> bool {
    let outer = reading.commands.iter().find(|command| command.via.is_empty());
    let program = outer.and_then(|command| command.words.first());
    // A program with this name in another folder may be any program.
    let is_ours = program.is_some_and(|program| {
        OUR_NAMES.contains(&program.as_str())
            || std::env::current_exe().is_ok_and(|ours| ours == *program)
    });
    if !is_ours {
        return false;
    }
    matches!(own_command(reading), Some([fence, option, id, end, ..])
        if fence == "fence" && option == "--intent" && id == intent && end == "--")
}

/// Tells the agent to run the command behind the fence itself.
pub(super) fn denial(readings: &[Prediction], intent: &str) -> Denial {
    let word = readings.iter().find_map(|reading| reading.word.as_deref()).unwrap_or("this");
    let message = format!(
        "`{word}` may change any file, and the policy of this workspace (`fence: require`) lets such commands run behind the fence only. Run the whole command as `intent fence --intent {} -- sh -c 'COMMAND'`, as a command of its own: then it can write what {intent} owns, ignored outputs and what git needs, and nothing else.",
        shell_word(intent)
    );
    Denial::new(DenialCode::FenceRequired, message).under(intent)
}
