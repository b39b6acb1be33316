//! Writes our hooks into git's folder of hooks, and removes them again.
//!
//! A hook that already exists is moved, under its own name, to a folder next to the folder of
//! hooks: `.git/hooks/pre-commit` becomes `.git/hooks.before-intent/pre-commit`. Our hook calls it
//! first. In that place `basename "$0"` and relative links such as `../../scripts/pre-commit` still
//! work.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ground::Environment;
use ground::store::{self, StoreError, failed};
use why::VerbError;

use super::{calls, hook_names};

/// A line in each of our hooks. A file that contains it is ours.
const MARK: &str = "Installed by `intent git-hooks --install`";
/// The suffix of the folder for hooks that existed before. Earlier versions added it to the name of
/// the hook itself.
const BEFORE: &str = "before-intent";

/// Installs all our hooks. Hooks of other programs are moved aside.
pub(super) fn install(folder: &Path, environment: &Environment) -> Result<(), VerbError> {
    std::fs::create_dir_all(folder).map_err(failed(folder, "created"))?;
    for name in hook_names() {
        take_out(folder, name)?;
        put_in(folder, name, environment)?;
    }
    link_neighbours(folder)
}

pub(super) fn remove(folder: &Path) -> Result<(), VerbError> {
    for name in hook_names() {
        take_out(folder, name)?;
    }
    unlink_neighbours(folder)
}

/// Returns our hooks in a folder. The flag says if a hook that existed before comes back when ours
/// is removed.
pub(super) fn installed(folder: &Path) -> Vec<(PathBuf, bool)> {
    let ours = hook_names().flat_map(|name| {
        let comes_back = is_there(&path_of_moved_hook(folder, name));
        places(folder, name).into_iter().map(move |place| (place, comes_back))
    });
    ours.filter(|(place, _)| is_ours(place)).collect()
}

pub(super) fn is_chained(folder: &Path, name: &str) -> bool {
    places(folder, name).iter().any(|place| is_ours(place))
        && is_there(&path_of_moved_hook(folder, name))
}

fn places(folder: &Path, name: &str) -> [PathBuf; 2] {
    [folder.join(name), calls::legacy(folder, name)]
}

/// Returns the path at which our hook belongs. The framework pre-commit calls the hook
/// `NAME.legacy` next to its own script, so ours goes there. If ours called the script of the
/// framework instead, the two would call each other after the next `pre-commit install`.
fn hook_path(folder: &Path, name: &str) -> PathBuf {
    let [own, legacy] = places(folder, name);
    if calls::is_framework(&own) { legacy } else { own }
}

fn put_in(folder: &Path, name: &str, environment: &Environment) -> Result<(), VerbError> {
    let place = hook_path(folder, name);
    let before = path_of_moved_hook(folder, name);
    if is_there(&place) {
        if is_there(&before) {
            rename(&before, &unused(&before))?;
        }
        let aside = aside(folder);
        std::fs::create_dir_all(&aside).map_err(failed(&aside, "created"))?;
        rename(&place, &before)?;
    }
    let program = environment.program().ok_or_else(|| std::io::ErrorKind::NotFound.into());
    let program = program.map_err(failed(&place, "written"))?;
    store::create_new(&place, script(folder, name, program).as_bytes())?;
    make_executable(&place).map_err(failed(&place, "made executable"))?;
    Ok(())
}

fn take_out(folder: &Path, name: &str) -> Result<(), VerbError> {
    let mut freed = None;
    for place in places(folder, name).into_iter().filter(|place| is_ours(place)) {
        if is_as_written(folder, name, &place) {
            std::fs::remove_file(&place).map_err(failed(&place, "removed"))?;
        } else {
            keep(folder, name, &place)?;
        }
        freed.get_or_insert(place);
    }
    let Some(freed) = freed else { return Ok(()) };
    let former = folder.join(format!("{name}.{BEFORE}"));
    for kept in [path_of_moved_hook(folder, name), former] {
        // Earlier versions of our hook called the framework's script, which they had moved aside.
        // The last `pre-commit install` has written it again, so the moved copy is not needed.
        if calls::is_framework(&kept) && calls::is_framework(&folder.join(name)) {
            std::fs::remove_file(&kept).map_err(failed(&kept, "removed"))?;
        } else if is_there(&kept) && !is_there(&freed) {
            rename(&kept, &freed)?;
        }
    }
    Ok(())
}

/// Moves a hook of ours aside, because somebody has added lines to it. It goes into the folder for
/// earlier hooks, under a name that git never calls, such as `pre-commit.1`.
fn keep(folder: &Path, name: &str, place: &Path) -> Result<(), VerbError> {
    let aside = aside(folder);
    std::fs::create_dir_all(&aside).map_err(failed(&aside, "created"))?;
    Ok(rename(place, &unused(&path_of_moved_hook(folder, name)))?)
}

/// Returns true if nobody has edited a hook that we wrote. The lines that find and call the program do
/// not count, because they contain its path, and earlier versions wrote others.
fn is_as_written(folder: &Path, name: &str, place: &Path) -> bool {
    let ours = script(folder, name, Path::new(""));
    let is_call = |line: &str| {
        let starts = ["intent='", "[ -x \"$intent\" ] || intent=", "\"$intent\" seal --hook "];
        starts.iter().any(|start| line.starts_with(start))
    };
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !is_call(line)).map(str::to_owned).collect()
    };
    lines(&ours) == lines(&calls::text(place))
}

fn aside(folder: &Path) -> PathBuf {
    folder.with_file_name(aside_name(folder))
}

fn aside_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(OsStr::new("hooks")).to_string_lossy();
    format!("{name}.{BEFORE}")
}

fn path_of_moved_hook(folder: &Path, name: &str) -> PathBuf {
    aside(folder).join(name)
}

/// Returns a free name for a moved hook that nothing calls any more, because another program has
/// since replaced our hook.
fn unused(path: &Path) -> PathBuf {
    let mut names = (1_u32..).map(|number| path.with_extension(number.to_string()));
    names.find(|name| !is_there(name)).unwrap_or_else(|| path.to_path_buf())
}

/// Puts links to the other files of the folder of hooks next to the moved hooks, because a hook may
/// read files next to itself (`. "$(dirname "$0")/functions"`).
#[cfg(unix)]
fn link_neighbours(folder: &Path) -> Result<(), VerbError> {
    let aside = aside(folder);
    if !aside.is_dir() {
        return Ok(());
    }
    for name in names(folder) {
        let is_hook = hook_names().any(|hook| name == hook);
        let link = aside.join(&name);
        if !is_hook && !name.to_string_lossy().ends_with(".sample") && !is_there(&link) {
            let target = path_to_hooks(folder).join(&name);
            std::os::unix::fs::symlink(&target, &link).map_err(failed(&link, "linked"))?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn link_neighbours(_: &Path) -> Result<(), VerbError> {
    Ok(())
}

fn unlink_neighbours(folder: &Path) -> Result<(), VerbError> {
    let aside = aside(folder);
    for name in names(&aside) {
        let link = aside.join(&name);
        if std::fs::read_link(&link).is_ok_and(|target| target == path_to_hooks(folder).join(&name))
        {
            std::fs::remove_file(&link).map_err(failed(&link, "removed"))?;
        }
    }
    // Fails, and so keeps the folder, if it still holds a moved hook that nothing calls.
    std::fs::remove_dir(&aside).ok();
    Ok(())
}

/// Returns the relative path from the folder of moved hooks to the folder of hooks: `../hooks`.
fn path_to_hooks(folder: &Path) -> PathBuf {
    Path::new("..").join(folder.file_name().unwrap_or_default())
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    store::entries(folder).map(|entry| entry.file_name()).collect()
}

fn script(folder: &Path, name: &str, program: &Path) -> String {
    let program = program.display().to_string().replace('\'', "'\\''");
    let aside = aside_name(folder);
    format!(
        "#!/bin/sh\n\
         # {MARK}; `intent git-hooks --remove` takes it away.\n\
         # It carries what was recorded into the commit, and never makes a commit fail.\n\
         before=\"${{0%/*}}/../{aside}/{name}\"\n\
         if [ -f \"$before\" ] && [ -x \"$before\" ]; then\n    \"$before\" \"$@\" || exit $?\nfi\n\
         intent='{program}'\n\
         [ -x \"$intent\" ] || intent=$(command -v intent) || exit 0\n\
         \"$intent\" seal --hook {name} \"$@\" </dev/null >/dev/null\n\
         exit 0\n"
    )
}

/// Returns true if the file is one of our scripts. A link never is, because we write regular files.
pub(super) fn is_ours(path: &Path) -> bool {
    !path.is_symlink() && calls::text(path).contains(MARK)
}

/// Returns true if a file or link exists at the path, even if the link leads nowhere.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    std::fs::rename(from, to).map_err(failed(from, "renamed"))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
