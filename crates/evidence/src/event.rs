//! What an agent is about to do, or has done, in the form in which a face received it. This is
//! plain data that nobody has checked.

use std::path::PathBuf;

use code::LineRange;
use edits::Change;
use ground::Environment;
use ledger::MutationClass;
use shell::Dialect;

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The agent's name in `intent agent hook`: `claude-code`.
    pub host: String,
    pub session: Option<String>,
    pub subagent: Option<String>,
    pub call: Option<String>,
    /// How a person can be asked about the call.
    pub asking: Asking,
    pub means: Means,
    /// Whether the host lets a hook change the command of this call.
    pub rewrites: bool,
    /// Whether a host seems to have made the call, and not a script that calls the hook itself.
    pub from_host: bool,
    pub environment: Environment,
    /// The absolute folder that relative paths start from.
    pub cwd: PathBuf,
    pub tool: String,
    /// SHA-256 of tool and input, in hexadecimal. It identifies calls without an id.
    pub input: String,
    pub model: Option<String>,
    pub claimed_class: Option<MutationClass>,
    /// True if the host says that the call has failed. Not every host says so.
    pub failed: bool,
    /// The text that a person gave to the session, if the event is about a prompt.
    pub prompt: Option<String>,
    /// What the call does. Empty if it does nothing that the gate has to judge.
    pub effects: Vec<Effect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The host asks the person itself, in a mode in which it does ask.
    Native,
    /// The call is denied with a one-time code that a person can approve.
    ByCode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Means {
    /// With commands such as `intent request-scope`.
    #[default]
    Commands,
    /// With tools such as `request_scope`.
    Tools,
}

/// One thing that a call does. Paths are as the host gave them: absolute, or relative to the folder
/// of the event.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Read {
        path: PathBuf,
        /// The lines that were shown; `None` for all lines.
        lines: Option<LineRange>,
    },
    Write {
        path: PathBuf,
        change: Change,
    },
    Delete {
        path: PathBuf,
    },
    Move {
        from: PathBuf,
        /// The path after the move. A file that exists there is lost.
        to: PathBuf,
        change: Option<Change>,
    },
    Shell {
        text: String,
        dialect: Dialect,
        /// The folder in which the command runs, if it is not the folder of the event.
        cwd: Option<PathBuf>,
        /// Whether the command may go on running after the call has ended.
        background: bool,
    },
    Select {
        intent: String,
    },
    /// The call may change any file. It goes ahead, and the disk is compared afterwards.
    Unforeseen,
    /// The call writes, but it is not known what. Such a call is denied.
    Unreadable {
        what: String,
    },
}

impl Effect {
    pub fn written(&self) -> Vec<&PathBuf> {
        match self {
            Self::Write { path, .. } | Self::Delete { path } => vec![path],
            Self::Move { from, to, .. } => vec![from, to],
            Self::Read { .. }
            | Self::Shell { .. }
            | Self::Select { .. }
            | Self::Unforeseen
            | Self::Unreadable { .. } => Vec::new(),
        }
    }
}

impl Event {
    /// Returns the name of the session in selections, records and baselines: `host:session`.
    pub fn session_key(&self) -> String {
        format!("{}:{}", self.host, self.session.as_deref().unwrap_or("unnamed"))
    }

    /// Returns the name of the acting session or subagent: `host:session` or
    /// `host:session/subagent`.
    pub fn actor(&self) -> String {
        match &self.subagent {
            Some(subagent) => format!("{}/{subagent}", self.session_key()),
            None => self.session_key(),
        }
    }

    pub fn only_reads(&self) -> bool {
        self.effects.iter().all(|effect| matches!(effect, Effect::Read { .. }))
    }
}
