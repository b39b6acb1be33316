//! Notices when another program answers the hooks. Somebody who puts another program of the same
//! name on the `PATH` disables the gate. So `intent setup init` notes the hash of the program that hooks
//! start, and `intent doctor` and the start of a session compare the program with that hash.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use ground::cache::StateOnDisk;
use ground::store::StoreError;
use ground::{Environment, Root, store};

/// The name by which settings start this program. Settings are committed, and on some machines
/// `intent` may be another program.
pub(crate) const PROGRAM: &str = "intent-lsp";

/// The maximum size of the note, in bytes. A larger file was not written by this program, and is
/// not read.
const MAX_NOTE: u64 = 16 * 1024;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NotedProgram {
    /// The path, with symbolic links resolved. People read it, so bytes that are no text are
    /// replaced.
    path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    sha256: String,
    /// The state of the file with these bytes, so that it is not read again to note it again. A check
    /// never relies on it.
    #[serde(default)]
    state: Option<StateOnDisk>,
}

impl NotedProgram {
    fn from_program(program: &Path, environment: &Environment) -> Option<Self> {
        let path = program.canonicalize().ok()?;
        let state = Some(StateOnDisk::of_file(&path));
        let sha256 = environment.sha256_of_program(&path)?;
        Some(Self { path: path.display().to_string(), sha256, state })
    }

    fn is_settled_as(&self, program: &Path) -> bool {
        let Ok(path) = program.canonicalize() else { return false };
        let now = StateOnDisk::of_file(&path);
        self.path == path.display().to_string()
            && matches!(now, StateOnDisk::AtRest(_))
            && self.state == Some(now)
    }
}

/// Notes the program that hooks start: the one on the `PATH`, else the one beside the running
/// program, else the running program.
pub fn note(root: &Root, search: Option<&OsStr>) -> Result<(), StoreError> {
    let environment = root.environment();
    let running = environment.program().map(Path::to_path_buf);
    let beside = running.as_ref().map(|running| running.with_file_name(file_name()));
    let program = on_path(search).or_else(|| beside.filter(|it| it.is_file())).or(running);
    let Some(program) = program else { return Ok(()) };
    if noted_program(root).is_some_and(|noted| noted.is_settled_as(&program)) {
        return Ok(());
    }
    let Some(noted) = NotedProgram::from_program(&program, environment) else { return Ok(()) };
    let text = serde_json::to_vec(&noted).expect("texts and numbers are valid JSON");
    store::write_atomic(&note_path(root), &text)
}

/// Returns the path of the noted program if `program` is a different one. Returns `None` if it is
/// the same, or if none was noted.
pub(crate) fn other_than_noted(root: &Root, program: &Path) -> Option<String> {
    let noted = noted_program(root)?;
    let now = NotedProgram::from_program(program, root.environment())?;
    // Only the bytes count: a copy of the same program at another path is fine.
    (now.sha256 != noted.sha256).then_some(noted.path)
}

pub(crate) fn objection(root: &Root) -> Option<String> {
    let running = root.environment().program()?;
    other_than_noted(root, running)?;
    Some(format!(
        "The hooks here are answered by {}, which is not the program that `intent setup init` noted. Tell the user to run `intent doctor`, which says more.",
        running.display()
    ))
}

pub(crate) fn on_path(search: Option<&OsStr>) -> Option<PathBuf> {
    let mut folders = search.map(std::env::split_paths).into_iter().flatten();
    folders.find_map(|folder| Some(folder.join(file_name())).filter(|file| file.is_file()))
}

/// Returns true if a program of this name is in an absolute folder of the `PATH`. Relative folders
/// do not count, because a repository could bring such a program along.
pub fn is_installed(search: Option<&OsStr>, program: &str) -> bool {
    let folders = search.map(std::env::split_paths).into_iter().flatten();
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ".bat"] } else { &[""] };
    folders.filter(|folder| folder.is_absolute()).any(|folder| {
        endings.iter().any(|ending| folder.join(format!("{program}{ending}")).is_file())
    })
}

fn file_name() -> String {
    format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX)
}

fn noted_program(root: &Root) -> Option<NotedProgram> {
    store::read_json(&note_path(root), MAX_NOTE)
}

fn note_path(root: &Root) -> PathBuf {
    root.private().join("program.json")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_program_whose_path_is_no_text_is_noted() {
        let place = tempfile::tempdir().unwrap();
        let bin = place.path().join(OsStr::from_bytes(b"bin\xff"));
        let project = place.path().join("p");
        fs::create_dir_all(project.join(".orchestration")).unwrap();
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join(file_name());
        fs::write(&program, "one").unwrap();
        let root = Root::find(&project, &Environment::of_process()).unwrap();
        note(&root, Some(bin.as_os_str())).unwrap();
        assert_eq!(other_than_noted(&root, &program), None);
        fs::write(&program, "another").unwrap();
        assert!(other_than_noted(&root, &program).is_some());
    }

    #[test]
    fn a_program_is_read_again_for_its_note_only_after_a_change() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("p");
        fs::create_dir_all(project.join(".orchestration")).unwrap();
        let program = place.path().join(file_name());
        fs::write(&program, "one").unwrap();
        while StateOnDisk::of_file(&program) == StateOnDisk::Unsettled {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let root = Root::find(&project, &Environment::of_process()).unwrap();
        let search = Some(place.path().as_os_str());
        note(&root, search).unwrap();
        let marked = NotedProgram { sha256: "mark".to_owned(), ..noted_program(&root).unwrap() };
        fs::write(note_path(&root), serde_json::to_vec(&marked).unwrap()).unwrap();
        note(&root, search).unwrap();
        assert_eq!(noted_program(&root).unwrap().sha256, "mark", "it was not read");
        assert!(other_than_noted(&root, &program).is_some(), "a check reads the program");
        fs::write(&program, "another").unwrap();
        note(&root, search).unwrap();
        assert_eq!(other_than_noted(&root, &program), None);
    }
}
