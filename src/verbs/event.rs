//! What an agent is about to do, or has done, as a face saw it: plain data, nothing of it checked.

use std::path::PathBuf;

use crate::code::LineRange;
use crate::edits::Change;
use crate::ledger::MutationClass;
use crate::shell::Dialect;

/// One call of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The agent's name as `intent hook` knows it: `claude-code`.
    pub host: String,
    /// The host's own id of the session.
    pub session: Option<String>,
    /// The subagent within the session.
    pub subagent: Option<String>,
    /// The host's own id of the call.
    pub call: Option<String>,
    /// How a person can be asked.
    pub asking: Asking,
    /// Whether the host lets a hook change the command of this call.
    pub rewrites: bool,
    /// The folder that relative paths start from; absolute.
    pub cwd: PathBuf,
    /// The tool as the host calls it.
    pub tool: String,
    /// SHA-256 of tool and input, in hexadecimal: what calls without an id are known by.
    pub input: String,
    /// The model, where the host says.
    pub model: Option<String>,
    /// The class that the agent claims for the change.
    pub claimed_class: Option<MutationClass>,
    /// The host says that the call has failed. Not every host does.
    pub failed: bool,
    /// What a person said to the session, where this is about that.
    pub prompt: Option<String>,
    /// What the call does; empty when it is none of our business.
    pub effects: Vec<Effect>,
}

/// How a person can be asked about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The host asks, and its mode honours that.
    Native,
    /// The call is denied with a one-time code that a person approves.
    ByCode,
}

/// One thing a call does. Paths are as the host gave them: absolute, or relative to the event's folder.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A file is read.
    Read {
        /// Which.
        path: PathBuf,
        /// The lines that were shown; `None` is all of them.
        lines: Option<LineRange>,
    },
    /// A file is written.
    Write {
        /// Which.
        path: PathBuf,
        /// How its text would change.
        change: Change,
    },
    /// A file is deleted.
    Delete {
        /// Which.
        path: PathBuf,
    },
    /// A file is moved, and changed on the way.
    Move {
        /// From where.
        from: PathBuf,
        /// To where; what stood there is lost.
        to: PathBuf,
        /// How its text would change.
        change: Option<Change>,
    },
    /// A command is run.
    Shell {
        /// Its text.
        text: String,
        /// Who reads it.
        dialect: Dialect,
        /// Where, if not in the event's folder.
        cwd: Option<PathBuf>,
        /// It outlives the call.
        background: bool,
    },
    /// An intent is selected by our own tool.
    Select {
        /// Which.
        intent: String,
    },
    /// It writes, and nobody can say what: named in the host's words. Denied.
    Unreadable {
        /// What could not be read.
        what: String,
    },
}

impl Event {
    /// The session as selections, records and baselines know it: `host:session`.
    pub fn session_key(&self) -> String {
        format!("{}:{}", self.host, self.session.as_deref().unwrap_or("unnamed"))
    }

    /// The one that acts: `host:session/subagent`, or the session itself.
    pub fn actor(&self) -> String {
        match &self.subagent {
            Some(subagent) => format!("{}/{subagent}", self.session_key()),
            None => self.session_key(),
        }
    }

    /// Whether nothing of it changes anything.
    pub fn only_reads(&self) -> bool {
        self.effects.iter().all(|effect| matches!(effect, Effect::Read { .. }))
    }
}
