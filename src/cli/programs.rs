//! Starting other programs, in the surroundings of the command.

use std::ffi::OsStr;
use std::process::Command;

use ground::Environment;

pub fn command(program: impl AsRef<OsStr>, environment: &Environment) -> Command {
    let mut command = by_path(program.as_ref(), environment);
    command.env_clear().envs(environment.variables());
    // If the folder is gone, the program starts where this process is, as it would in a shell.
    if let Ok(folder) = environment.folder() {
        command.current_dir(folder);
    }
    command
}

/// Returns a command that names the program by its path. If variables change and the program is
/// named without a folder, the standard library copies the whole process to find it.
#[cfg(unix)]
fn by_path(program: &OsStr, environment: &Environment) -> Command {
    use std::os::unix::process::CommandExt;
    match environment.found_program(program) {
        Some(path) => {
            let mut command = Command::new(path);
            command.arg0(program);
            command
        }
        None => Command::new(program),
    }
}

#[cfg(not(unix))]
fn by_path(program: &OsStr, _environment: &Environment) -> Command {
    Command::new(program)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use ground::environment::RunningProgram;

    use super::*;

    #[test]
    fn a_started_program_sees_only_the_given_variables() {
        let place = tempfile::tempdir().expect("a folder");
        let variables = [(OsString::from("HOME"), OsString::from("/home/of/nobody"))];
        let folder = place.path().to_path_buf();
        let environment = Environment::new(variables, folder.clone(), RunningProgram::default());
        let command = command("git", &environment);
        assert_eq!(command.get_current_dir(), Some(folder.as_path()));
        assert_eq!(command.get_envs().count(), 1);
    }
}
