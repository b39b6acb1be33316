//! The exit codes of the process.

use std::process::ExitCode;

/// How a command ended. Scripts and CI depend on these numbers, so they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: the command succeeded and found nothing to report.
    Fine,
    /// 1: the command ran, and a person should look at its result.
    Findings,
    /// 2: the usage was wrong, the input is broken, or history is missing. Nothing was changed.
    Usage,
    /// The exit code of another program that this command ran (`intent fence`).
    Program(u8),
}

impl Exit {
    /// Returns [`Exit::Findings`] if `something` is true, otherwise [`Exit::Fine`].
    pub fn found(something: bool) -> Self {
        if something { Self::Findings } else { Self::Fine }
    }

    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Program(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
