//! Whether a command runs behind the fence, and who puts it there.

use super::{Denial, DenialCode};
use crate::shell::{Class, OUR_NAMES, Reading, own_command};
use crate::workspace::text::shell_word;

/// Whether one of the commands of a call may do what nobody can foresee, and is not behind the fence of this intent.
pub(super) fn is_wanted(readings: &[Reading], intent: &str) -> bool {
    readings.iter().any(|reading| reading.class == Class::Opaque && !is_behind(reading, intent))
}

/// A lone `intent fence --intent ID -- …`: of any other intent, or of none, it would open other folders.
fn is_behind(reading: &Reading, intent: &str) -> bool {
    let outer = reading.commands.iter().find(|command| command.via.is_empty());
    let program = outer.and_then(|command| command.words.first());
    // A program of this name in another folder is anybody's.
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

/// How the agent puts it there itself.
pub(super) fn denial(readings: &[Reading], intent: &str) -> Denial {
    let word = readings.iter().find_map(|reading| reading.word.as_deref()).unwrap_or("this");
    Denial {
        intent: Some(intent.to_owned()),
        ..Denial::new(
            DenialCode::FenceRequired,
            format!(
                "`{word}` may change any file, and the policy of this workspace (`fence: require`) lets such commands run behind the fence only. Run the whole command as `intent fence --intent {} -- sh -c 'COMMAND'`, as a command of its own: then it can write what {intent} owns, ignored outputs and what git needs, and nothing else.",
                shell_word(intent)
            ),
        )
    }
}
