//! Notes about commands of this program that an agent is about to run. A command cannot find out by
//! itself which session runs it, so the hook that saw the call leaves a note.
//!
//! A note belongs to one call of one session, and to processes of the host that made the call.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

use super::{Root, StoreError, actor_parts, keep_note, note, path_of_local_file, store};
use crate::agents::{self, ProcessId};
use crate::{Environment, clock};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    pub actor: String,
    pub call: String,
    pub arguments: Vec<String>,
    pub runner: Runner,
    /// Whether the command runs only if a person agrees. Nobody tells the hook if they do not.
    pub asked: bool,
    pub host: Option<ProcessId>,
    /// When the hook ran, and until when the note counts: RFC 3339 in UTC.
    pub at: String,
    pub until: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    CommandLine,
    Server,
}

#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    pub runner: Runner,
    /// The session that a connection of the server has taken over before.
    pub actor: Option<&'a str>,
    pub environment: &'a Environment,
}

const STARTS_WITHIN: Duration = Duration::from_secs(60);
const ANSWERED_WITHIN: Duration = crate::approvals::VALID;
/// A note larger than this, in bytes, was not written by us and is not read.
const MAX_NOTE: u64 = 256 * 1024;
const ANNOUNCED: &str = "announced";

impl Announcement {
    pub fn of_hook(
        (actor, call): (String, String),
        arguments: &[String],
        runner: Runner,
        asked: bool,
    ) -> Self {
        let valid = if asked { ANSWERED_WITHIN } else { STARTS_WITHIN };
        Self {
            actor,
            call,
            arguments: arguments.to_vec(),
            runner,
            asked,
            host: agents::host_of_hook(),
            at: clock::now(),
            until: clock::from_now(valid),
        }
    }

    fn session(&self) -> &str {
        actor_parts(&self.actor).0
    }

    /// Returns true if the host made the caller run for this call, as far as can be told.
    fn is_for(&self, caller: &Caller<'_>) -> bool {
        let is_of_connection = || match self.runner {
            // A connection that nobody has introduced is not trusted with what a person was asked.
            Runner::Server if self.asked => caller.actor == Some(&self.actor),
            _ => true,
        };
        self.runner == caller.runner
            && self.until > clock::now()
            && is_of_connection()
            && self.host.is_none_or(|host| agents::descends_from(host) != Some(false))
    }
}

pub fn announce(root: &Root, announcement: &Announcement) -> Result<(), StoreError> {
    keep_note(root, &note(root, ANNOUNCED, &announcement.call), announcement)
}

/// Returns the actor for whom the caller runs `intent` with these arguments, and removes the note
/// about it. `None` if no hook left a note, or if it cannot be told which of several sessions it is.
pub fn take_announced(root: &Root, arguments: &[String], caller: &Caller<'_>) -> Option<String> {
    let mut notes = announcements(root);
    notes.retain(|(_, note)| note.arguments == arguments && note.is_for(caller));
    let sessions = agents::sessions_in(caller.environment);
    let is_named = |note: &Announcement| {
        sessions.iter().any(|id| note.session().split_once(':').is_some_and(|it| it.1 == id))
    };
    if notes.iter().any(|(_, note)| is_named(note)) {
        notes.retain(|(_, note)| is_named(note));
    }
    notes.sort_by(|(_, a), (_, b)| a.at.cmp(&b.at));
    let (file, first) = notes.first()?;
    let is_clear = notes.iter().all(|(_, note)| note.session() == first.session());
    // If two processes try, only the one that removes the file may use the note.
    (is_clear && store::remove(file).unwrap_or(false)).then(|| first.actor.clone())
}

pub fn take_announcement_of(root: &Root, call: &str) -> Option<Announcement> {
    let file = note(root, ANNOUNCED, call);
    let found: Announcement = store::read_json(&file, MAX_NOTE)?;
    store::remove(&file).unwrap_or(false).then_some(found)
}

/// Removes the notes of a session about commands that a person was asked about, because the session
/// goes on with something else. What the person did not agree to cannot run later.
pub fn forget_asked(root: &Root, session: &str) {
    for (file, note) in announcements(root) {
        if note.asked && note.session() == session {
            let _ = store::remove(&file);
        }
    }
}

fn announcements(root: &Root) -> Vec<(PathBuf, Announcement)> {
    let files = store::entries(&path_of_local_file(root, ANNOUNCED)).map(|entry| entry.path());
    files.filter_map(|file| Some((file.clone(), store::read_json(&file, MAX_NOTE)?))).collect()
}

pub fn prune(root: &Root) {
    let now = clock::now();
    for (file, note) in announcements(root) {
        if note.until <= now {
            let _ = store::remove(&file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::TestFolder;
    use super::*;

    #[test]
    fn a_note_is_for_one_call_of_one_session() {
        let place = TestFolder::governed();
        let root = place.root("");
        let command = ["select".to_owned(), "INT-001".to_owned()];
        let leave = |actor: &str, runner, asked| {
            let call = (actor.to_owned(), format!("{actor} {runner:?}"));
            announce(&root, &Announcement::of_hook(call, &command, runner, asked)).expect("kept");
        };
        let taken = |runner, actor: Option<&str>, session: Option<&str>| {
            let variables = session.map(|id| ("CLAUDE_CODE_SESSION_ID".into(), id.into()));
            let program = crate::environment::RunningProgram::new(None);
            let environment = &Environment::new(variables, "/".into(), program);
            take_announced(&root, &command, &Caller { runner, actor, environment })
        };
        let (terminal, server) = (Runner::CommandLine, Runner::Server);
        leave("claude-code:a", terminal, false);
        assert_eq!(taken(server, None, None), None, "another kind of process");
        leave("claude-code:b", terminal, false);
        assert_eq!(taken(terminal, None, None), None, "one of two sessions");
        assert_eq!(taken(terminal, None, Some("b")).as_deref(), Some("claude-code:b"));
        leave("claude-code:a/sub", terminal, false);
        assert_eq!(taken(terminal, None, None).as_deref(), Some("claude-code:a"));
        assert_eq!(taken(terminal, None, None).as_deref(), Some("claude-code:a/sub"));
        assert_eq!(taken(terminal, None, None), None, "each note counts once");

        leave("claude-code:a", server, true);
        assert_eq!(taken(server, None, None), None, "an unknown connection");
        assert_eq!(taken(server, Some("claude-code:b"), None), None);
        assert_eq!(taken(server, Some("claude-code:a"), None).as_deref(), Some("claude-code:a"));
        leave("claude-code:a", server, true);
        forget_asked(&root, "claude-code:a");
        assert_eq!(taken(server, Some("claude-code:a"), None), None);
    }
}
