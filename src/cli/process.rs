//! What the command line sees of the process that it runs in: arguments, surroundings and streams.
//! It is one value, so that a test can run commands in its own process.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::{Mutex, MutexGuard};

use ground::Environment;
use ground::parallel::locked_value;

/// The process that runs a command.
///
/// Five commands do not use its streams, but those of the real process: `hook`, `lsp` and `mcp`,
/// which serve another program, and `fence` and `test`, which hand them on to another program.
pub struct Process {
    /// The arguments, beginning with the name of the program.
    pub arguments: Vec<OsString>,
    pub environment: Environment,
    pub streams: Streams,
}

impl Process {
    pub fn running() -> Self {
        Self {
            arguments: std::env::args_os().collect(),
            environment: Environment::of_process(),
            streams: Streams::of_process(),
        }
    }
}

pub struct Streams {
    input: Mutex<Box<dyn Read + Send>>,
    output: Mutex<Box<dyn Write + Send>>,
    error: Mutex<Box<dyn Write + Send>>,
    pub terminals: Terminals,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Terminals {
    pub input: bool,
    pub output: bool,
    pub error: bool,
}

impl Streams {
    pub fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        error: impl Write + Send + 'static,
    ) -> Self {
        Self {
            input: Mutex::new(Box::new(input)),
            output: Mutex::new(Box::new(output)),
            error: Mutex::new(Box::new(error)),
            terminals: Terminals::default(),
        }
    }

    fn of_process() -> Self {
        let terminals = Terminals {
            input: io::stdin().is_terminal(),
            output: io::stdout().is_terminal(),
            error: io::stderr().is_terminal(),
        };
        // These streams take styles as they are. Only an old console of Windows needs a translation.
        let output = anstream::AutoStream::always(io::stdout());
        let error = anstream::AutoStream::always(io::stderr());
        Self { terminals, ..Self::new(io::stdin(), output, error) }
    }

    pub fn input(&self) -> MutexGuard<'_, Box<dyn Read + Send>> {
        locked_value(&self.input)
    }

    pub fn output(&self) -> MutexGuard<'_, Box<dyn Write + Send>> {
        locked_value(&self.output)
    }

    pub fn error(&self) -> MutexGuard<'_, Box<dyn Write + Send>> {
        locked_value(&self.error)
    }
}

/// Returns true if a stream takes colours, as far as nobody has said so on the command line. The
/// variables are those of <https://no-color.org> and <https://bixense.com/clicolors>.
pub fn takes_colours(environment: &Environment, is_terminal: bool) -> bool {
    let is_set = |name| environment.variable(name).is_some_and(|value| !value.is_empty());
    let asked = environment.variable("CLICOLOR").map(|value| value != "0");
    if is_set("NO_COLOR") {
        return false;
    }
    if is_set("CLICOLOR_FORCE") {
        return true;
    }
    let knows_colours = match environment.variable("TERM") {
        Some(name) => name != "dumb",
        // Windows does not set this variable.
        None => cfg!(windows),
    };
    let is_ci = environment.variable("CI").is_some();
    asked != Some(false) && is_terminal && (knows_colours || asked == Some(true) || is_ci)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_a_terminal_takes_colours_unless_a_variable_says_otherwise() {
        let takes = |variables: &[(&str, &str)], is_terminal| {
            let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
            let program = ground::environment::RunningProgram::default();
            takes_colours(&Environment::new(variables, PathBuf::new(), program), is_terminal)
        };
        let term = ("TERM", "xterm");
        assert!(takes(&[term], true));
        assert!(!takes(&[term], false));
        assert!(!takes(&[term, ("NO_COLOR", "1")], true));
        assert!(takes(&[term, ("NO_COLOR", "")], true));
        assert!(!takes(&[term, ("CLICOLOR", "0")], true));
        assert!(takes(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!takes(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false));
        assert!(!takes(&[("TERM", "dumb")], true));
        assert!(takes(&[("TERM", "dumb"), ("CI", "")], true));
        assert!(takes(&[("TERM", "dumb"), ("CLICOLOR", "1")], true));
    }
}
