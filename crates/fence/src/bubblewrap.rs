//! Puts up the fence with the program `bwrap`, on systems that let `bwrap` create namespaces but
//! not this program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{FenceAccess, FencePlan};

/// Only system folders are searched. A program named `bwrap` elsewhere may be anything.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

fn program() -> Option<&'static Path> {
    PLACES.iter().map(Path::new).find(|path| path.is_file())
}

pub(super) fn is_here() -> bool {
    program().is_some_and(can_be_started)
}

fn can_be_started(program: &Path) -> bool {
    let mut tried = Command::new(program);
    tried.args(["--dev-bind", "/", "/", "--cap-drop", "ALL", "--", "/bin/true"]);
    tried.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    tried.status().is_ok_and(|status| status.success())
}

/// Returns the command wrapped in `bwrap`, or the reason why this is not possible. `input` is the
/// file that is the standard input, with the position in it.
pub(super) fn command(
    plan: &FencePlan,
    command: &Command,
    input: Option<(PathBuf, u64)>,
) -> Result<Command, String> {
    let program = program().ok_or("bubblewrap is not installed.")?;
    if !can_be_started(program) {
        return Err(format!("{} cannot create a namespace either.", program.display()));
    }
    let here = std::env::current_dir()
        .map_err(|error| format!("The current folder cannot be found: {error}."))?;
    let mut wrapped = Command::new(program);
    wrapped.args(arguments(plan, here)).arg("--").args(words_that_open_input(input)?);
    wrapped.arg(command.get_program()).args(command.get_args());
    Ok(wrapped)
}

/// Returns the words that, before a command, open its standard input again. `bwrap` passes on an
/// input that was opened outside the fence, so a shell inside the fence opens the file.
fn words_that_open_input(input: Option<(PathBuf, u64)>) -> Result<Vec<OsString>, String> {
    match input {
        None => Ok(Vec::new()),
        Some((path, 0)) => {
            let shell = ["/bin/sh", "-c", r#"exec "$@" < "$0""#].map(OsString::from);
            Ok(shell.into_iter().chain([path.into()]).collect())
        }
        Some((path, _)) => Err(format!(
            "With bubblewrap, a command cannot continue in the middle of its input {}.",
            path.display()
        )),
    }
}

fn arguments(plan: &FencePlan, here: PathBuf) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["--dev-bind", "/", "/"].map(OsString::from).to_vec();
    for place in &plan.places {
        let (option, from) = match place.access {
            FenceAccess::Pinned | FenceAccess::Writable => ("--dev-bind", place.path.as_path()),
            FenceAccess::ReadOnly => ("--ro-bind", place.path.as_path()),
            FenceAccess::Masked => ("--dev-bind", Path::new("/dev/null")),
        };
        arguments.extend([option.into(), from.into(), place.path.clone().into()]);
    }
    arguments.extend(["--cap-drop".into(), "ALL".into(), "--chdir".into(), here.into()]);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FencedPlace;

    #[test]
    fn every_place_is_passed_on_in_order() {
        let place =
            |path: &str, access| FencedPlace { path: path.into(), access, why: String::new() };
        let plan = FencePlan {
            places: vec![
                place("/w", FenceAccess::ReadOnly),
                place("/w/src", FenceAccess::Writable),
                place("/dev/sda", FenceAccess::Masked),
            ],
            ..FencePlan::default()
        };
        let words: Vec<_> = arguments(&plan, "/w".into())
            .into_iter()
            .map(|word| word.into_string().expect("plain words"))
            .collect();
        assert_eq!(
            words.join(" "),
            "--dev-bind / / --ro-bind /w /w --dev-bind /w/src /w/src --dev-bind /dev/null /dev/sda --cap-drop ALL --chdir /w"
        );
    }

    #[test]
    fn a_shell_opens_the_input_again_inside_the_fence() {
        assert_eq!(words_that_open_input(None), Ok(Vec::new()));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a 'file'");
        std::fs::write(&path, "text").expect("written");
        let words = words_that_open_input(Some((path.clone(), 0))).expect("words");
        let mut shell = Command::new(&words[0]);
        let found = shell.args(&words[1..]).args(["cat", "-"]).stdin(Stdio::null()).output();
        assert_eq!(found.expect("a shell").stdout, b"text");
        assert!(words_that_open_input(Some((path, 2))).is_err());
    }
}
