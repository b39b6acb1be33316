//! Commands that run in the process of the tests. A start of the real program costs more than most
//! commands.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};
use std::sync::{Arc, LazyLock, Mutex};

use ground::Environment;
use ground::environment::RunningProgram;
use intent_lsp::cli::{self, Process, Streams};

/// The commands that use the streams of the real process, because they serve another program, or hand
/// the streams on to one.
const WITH_OWN_STREAMS: [&str; 5] = ["fence", "hook", "lsp", "mcp", "test"];

/// The stack of a main thread, in bytes. Other threads have a smaller one.
const STACK: usize = 8 * 1024 * 1024;

/// Returns true if a command can run in this process.
pub fn can_run(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().take_while(|word| **word != "--");
    !words.any(|word| WITH_OWN_STREAMS.contains(word))
}

/// Runs a command in a folder with these variables and without standard input.
pub fn run(
    folder: &Path,
    arguments: &[&str],
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Output {
    // All of them share what is known of the program, which is read only once.
    static PROGRAM: LazyLock<RunningProgram> =
        LazyLock::new(|| RunningProgram::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_intent")))));
    let folder = folder.canonicalize().expect("a folder");
    let (output, error) = (Written::default(), Written::default());
    let process = Process {
        arguments: std::iter::once("intent")
            .chain(arguments.iter().copied())
            .map(Into::into)
            .collect(),
        environment: Environment::new(variables, folder, PROGRAM.clone()),
        streams: Streams::new(io::empty(), output.clone(), error.clone()),
    };
    let thread = std::thread::Builder::new().stack_size(STACK);
    let ended = thread.spawn(move || cli::run(process)).expect("a thread").join();
    let exit = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Output { status: status(exit.code()), stdout: output.bytes(), stderr: error.bytes() }
}

#[cfg(unix)]
fn status(code: u8) -> ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(i32::from(code) << 8)
}

#[cfg(windows)]
fn status(code: u8) -> ExitStatus {
    std::os::windows::process::ExitStatusExt::from_raw(u32::from(code))
}

/// What was written to a stream.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn bytes(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().expect("no panic before"))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic before").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
