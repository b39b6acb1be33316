//! What a command sees of the process that it runs in: the variables, the current folder, and the
//! program itself. It is passed down as a value, so that a test can run a command in its own process
//! with the home folder and the settings of a laboratory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::store;
use crate::parallel::locked_value;

/// The variables, folders and program with which a command runs. Cheap to clone.
#[derive(Clone)]
pub struct Environment {
    surroundings: Arc<ProcessSurroundings>,
}

struct ProcessSurroundings {
    variables: BTreeMap<OsString, OsString>,
    /// An error if the current folder no longer exists.
    folder: io::Result<PathBuf>,
    home: Option<PathBuf>,
    temporary: PathBuf,
    program: RunningProgram,
}

impl Environment {
    pub fn of_process() -> Self {
        let surroundings = ProcessSurroundings {
            variables: std::env::vars_os().collect(),
            folder: std::env::current_dir(),
            home: std::env::home_dir(),
            temporary: std::env::temp_dir(),
            program: RunningProgram::new(std::env::current_exe().ok()),
        };
        Self { surroundings: Arc::new(surroundings) }
    }

    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        folder: PathBuf,
        program: RunningProgram,
    ) -> Self {
        let variables: BTreeMap<OsString, OsString> = variables.into_iter().collect();
        let named = |name: &str| value(&variables, name).map(PathBuf::from);
        let (home, temporary) = match cfg!(windows) {
            true => (named("USERPROFILE"), named("TMP").or_else(|| named("TEMP"))),
            false => (named("HOME"), named("TMPDIR")),
        };
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("/tmp"));
        let folder = Ok(folder);
        let surroundings = ProcessSurroundings { variables, folder, home, temporary, program };
        Self { surroundings: Arc::new(surroundings) }
    }

    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        value(&self.surroundings.variables, name)
    }

    pub fn search(&self) -> Option<&OsStr> {
        self.variable("PATH")
    }

    pub fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.surroundings.variables
    }

    /// Returns the file that is started if a program is named without a folder. `None` if no file is
    /// found, or if the search leads through a relative folder.
    #[cfg(unix)]
    pub fn found_program(&self, name: impl AsRef<Path>) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let name = name.as_ref();
        if name.components().count() != 1 {
            return None;
        }
        let is_program = |file: &PathBuf| {
            file.metadata()
                .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        };
        std::env::split_paths(self.search()?)
            .take_while(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(is_program)
    }

    pub fn folder(&self) -> io::Result<&Path> {
        match &self.surroundings.folder {
            Ok(folder) => Ok(folder),
            Err(error) => Err(match error.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => error.kind().into(),
            }),
        }
    }

    pub fn home(&self) -> Option<&Path> {
        self.surroundings.home.as_deref()
    }

    pub fn temporary_folder(&self) -> &Path {
        &self.surroundings.temporary
    }

    /// Returns the folders for temporary files. Agents may write files there without an intent, as
    /// long as the file is in no workspace.
    pub fn temporary_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.surroundings.temporary.clone()];
        if cfg!(unix) {
            folders.extend(["/tmp", "/var/tmp"].map(PathBuf::from));
        }
        folders
    }

    pub fn program(&self) -> Option<&Path> {
        self.surroundings.program.path.as_deref()
    }

    /// Returns the SHA-256 of a program, in hexadecimal. A program is read only once as long as its
    /// size and its time of change stay the same, because programs are large.
    pub fn sha256_of_program(&self, program: &Path) -> Option<String> {
        self.surroundings.program.hashes.remembered_sha256(program)
    }
}

// The variables can hold secrets, so they are in no log.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("folder", &self.folder()).finish_non_exhaustive()
    }
}

impl PartialEq for Environment {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (&self.surroundings, &other.surroundings);
        Arc::ptr_eq(one, two)
            || (one.variables == two.variables
                && one.folder.as_ref().ok() == two.folder.as_ref().ok()
                && one.program.path == two.program.path)
    }
}

impl Eq for Environment {}

/// The path of the running program, and the hashes of the programs that were read so far. Clones
/// share the hashes.
#[derive(Clone, Default)]
pub struct RunningProgram {
    path: Option<PathBuf>,
    hashes: Arc<ProgramHashes>,
}

impl RunningProgram {
    pub fn new(path: Option<PathBuf>) -> Self {
        Self { path, hashes: Arc::default() }
    }
}

#[derive(Default)]
struct ProgramHashes(Mutex<BTreeMap<PathBuf, ProgramHash>>);

struct ProgramHash {
    size: u64,
    changed: SystemTime,
    sha256: String,
}

impl ProgramHashes {
    fn remembered_sha256(&self, program: &Path) -> Option<String> {
        let file = store::open(program).ok()?;
        let state = file.metadata().ok()?;
        let (size, changed) = (state.len(), state.modified().ok()?);
        // Whoever asks meanwhile waits, because reading the program a second time takes longer.
        let mut known = locked_value(&self.0);
        match known.get(program) {
            Some(hash) if (hash.size, hash.changed) == (size, changed) => Some(hash.sha256.clone()),
            _ => {
                let sha256 = store::sha256_of_file(file)?;
                let hash = ProgramHash { size, changed, sha256: sha256.clone() };
                known.insert(program.to_path_buf(), hash);
                Some(sha256)
            }
        }
    }
}

fn value<'a>(variables: &'a BTreeMap<OsString, OsString>, name: &str) -> Option<&'a OsStr> {
    // Windows does not distinguish upper and lower case here.
    let found = match cfg!(windows) {
        true => variables.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)),
        false => variables.get_key_value(OsStr::new(name)),
    };
    found.map(|(_, value)| value.as_os_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_again_only_after_a_change() {
        let place = tempfile::tempdir().expect("a folder");
        let program = place.path().join("program");
        std::fs::write(&program, "one").expect("written");
        let environment = Environment::of_process();
        let first = environment.sha256_of_program(&program).expect("a hash");
        assert_eq!(environment.sha256_of_program(&program), Some(first.clone()));
        std::fs::write(&program, "another").expect("written");
        assert_ne!(environment.sha256_of_program(&program), Some(first));
        std::fs::remove_file(&program).expect("removed");
        assert_eq!(environment.sha256_of_program(&program), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_found_in_the_first_absolute_folder_that_holds_it() {
        let found = |search: &str, name: &str| {
            let variables = [(OsString::from("PATH"), OsString::from(search))];
            Environment::new(variables, PathBuf::new(), RunningProgram::default())
                .found_program(name)
        };
        assert_eq!(found("/nowhere:/bin", "sh"), Some(PathBuf::from("/bin/sh")));
        assert_eq!(found("tools:/bin", "sh"), None);
        assert_eq!(found("/bin", "no-such-program"), None);
        assert_eq!(found("/", "bin"), None, "a folder is no program");
        assert_eq!(found("/bin", "../bin/sh"), None);
    }

    #[test]
    fn the_home_folder_is_that_of_the_variables() {
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let variables = [(OsString::from(variable), OsString::from("/home/of/nobody"))];
        let environment = Environment::new(variables, PathBuf::new(), RunningProgram::default());
        assert_eq!(environment.home(), Some(Path::new("/home/of/nobody")));
        assert_eq!(environment.variable("PATH"), None);
    }
}
