//! What the process says when it ends.

use std::process::ExitCode;

/// How a command ended. Scripts and CI read nothing else, so the numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: fine.
    Fine,
    /// 1: done, and something was found that a person should look at.
    Findings,
    /// 2: wrong usage, or input that is broken; nothing was changed.
    Usage,
    /// The exit code of the command that was run.
    As(u8),
}

impl Exit {
    /// [`Exit::Findings`] where something was found.
    pub fn found(something: bool) -> Self {
        if something { Self::Findings } else { Self::Fine }
    }

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::As(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
