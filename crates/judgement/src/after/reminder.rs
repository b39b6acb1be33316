//! Reminds an agent of the lesson tool, once in a session, when the same test or linter has failed
//! twice.

use crate::gate;
use evidence::event::Event;
use ground::policy::Lessons;
use ground::session;
use why::Workspace;

/// Returns the reminder to show after a call that failed, or `None` unless the same test or linter
/// has just failed for the second time in the session.
pub(super) fn reminder_after_failure(event: &Event) -> Option<String> {
    if !event.failed {
        return None;
    }
    let root = super::governed_root(event)?;
    let mut readings =
        event.effects.iter().filter_map(|effect| gate::read_command(event, effect, Some(&root)));
    let check = readings.find_map(|reading| shell::check_of(&reading))?;
    let call = event.call.as_deref().unwrap_or_default();
    let again = session::failed_again(&root, &event.session_key(), &check, call);
    let what = format!("a failed {check} could not be noted");
    session::or_log(&root, &what, again).filter(|again| *again)?;
    if Workspace::at_root(root).policy.lessons == Lessons::Deny {
        return None;
    }
    Some(format!(
        "`{check}` failed twice in this session. Once you know what the next one should know, say it in one sentence: record_lesson, or `intent lesson TEXT`."
    ))
}
