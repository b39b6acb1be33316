//! The settings of git that decide which programs it runs and which checks it makes, and whether a
//! call has changed them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ground::git::settings_in_file;
use ground::store;
use shell::decides_what_git_does;
use why::Workspace;

/// The size in bytes above which a file of settings is not read.
const MAX: u64 = 4 * 1024 * 1024;

pub(crate) fn digests(ws: &Workspace) -> BTreeMap<PathBuf, String> {
    let own = ws.root.git_dir().map(Path::to_path_buf);
    let of_git = own.into_iter().chain(ws.root.common_dir());
    let of_git = of_git.flat_map(|dir| ["config", "config.worktree"].map(|name| dir.join(name)));
    let home = ws.root.environment().home().map(Path::to_path_buf);
    let at_home = [".gitconfig", ".config/git/config"];
    let at_home = home.into_iter().flat_map(|home| at_home.map(|name| home.join(name)));
    of_git.chain(at_home).map(|file| (file.clone(), digest(&file))).collect()
}

/// Returns a digest of the settings in a file that decide what git does. A file that cannot be read
/// as settings is compared as a whole.
pub(crate) fn digest(file: &Path) -> String {
    let Some(settings) = settings_in_file(file) else {
        let bytes = store::read_capped(file, MAX).ok().flatten();
        return format!("whole {}", store::sha256(&bytes.unwrap_or_default()));
    };
    let decides = |(key, value): &(String, String)| {
        decides_what_git_does(key, Some(value)) || decides_what_git_does(key, None)
    };
    let lines =
        settings.into_iter().filter(decides).map(|(key, value)| format!("{key}\0{value}\0"));
    store::sha256(lines.collect::<String>().as_bytes())
}
