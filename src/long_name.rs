//! The program under the name that hooks and settings of agents use, because no other program has it. It starts
//! `intent`, which is installed beside it. A second program with everything in it would take another long link.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let error = match std::env::current_exe() {
        Ok(here) => {
            let name = format!("intent{}", std::env::consts::EXE_SUFFIX);
            let mut program = Command::new(here.with_file_name(name));
            match replaced_by(program.args(std::env::args_os().skip(1))) {
                Ok(code) => return code,
                Err(error) => error,
            }
        }
        Err(error) => error,
    };
    complain(&error);
    ExitCode::from(2)
}

#[expect(clippy::print_stderr, reason = "there is no other program that could say it")]
fn complain(error: &std::io::Error) {
    eprintln!("intent-lsp: `intent` does not start: {error}. Install both programs in one folder.");
}

/// Runs the program in place of this process. Returns only if it does not start.
#[cfg(unix)]
fn replaced_by(program: &mut Command) -> std::io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(program))
}

/// Runs the program, and returns its exit code.
#[cfg(not(unix))]
fn replaced_by(program: &mut Command) -> std::io::Result<ExitCode> {
    let code = program.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}
