//! Protects files outside the work tree that control agents and this program, and closes ways
//! around the fence.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::control::settings_in_home;
use fence::{FenceAccess, FencePlan};
use ground::{Environment, IGNORE_FILES, POLICY, store, text};
use why::{VerbError, Workspace};

/// Returns an error if a control file has a second name (a hard link). That name may be outside the
/// work tree, and a command could write the file through it.
pub(super) fn have_one_name(ws: &Workspace) -> Result<(), VerbError> {
    let others = [POLICY].into_iter().chain(IGNORE_FILES).map(|file| ws.root.path().join(file));
    let registry = ws.registry.files().iter().map(|file| ws.root.absolute(file.path()));
    match registry.chain(others).find(|file| store::names(file) > 1) {
        None => Ok(()),
        Some(file) => {
            let file = file.display().to_string();
            let (old, new) = (text::shell_path(&file), text::shell_path(&format!("{file}.new")));
            Err(VerbError::mendable(
                format!(
                    "no fence can be put up: {file} has a second name (a hard link), through which a fenced command could write it"
                ),
                format!("`cp {old} {new} && mv {new} {old}` makes it a file of its own"),
            ))
        }
    }
}

/// Makes read-only: the settings of agents and of git in the home folder, and this program itself.
pub(super) fn add_home(plan: &mut FencePlan, work_tree: &Path, environment: &Environment) {
    if let Some(home) = environment.home().and_then(|home| home.canonicalize().ok())
        && !home.starts_with(work_tree)
    {
        let git = [".gitconfig", ".config/git"].map(PathBuf::from);
        for place in settings_in_home().into_iter().map(PathBuf::from).chain(git) {
            // A link, for example into a folder of dotfiles, is protected at its target.
            if let Ok(real) = home.join(place).canonicalize()
                && !real.starts_with(work_tree)
            {
                plan.add_place(&real, FenceAccess::ReadOnly, "controls an agent or git");
            }
        }
    }
    if let Some(program) = environment.program().and_then(|program| program.canonicalize().ok())
        && !program.starts_with(work_tree)
        && program.parent().is_some_and(may_write)
    {
        plan.add_place(&program, FenceAccess::ReadOnly, "this program");
    }
}

/// Protects disks and the settings of the kernel if root runs the command. Root owns them, and the
/// owner may write them even without capabilities.
#[cfg(target_os = "linux")]
pub(super) fn add_system(plan: &mut FencePlan) {
    use std::os::unix::fs::FileTypeExt;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for place in ["/proc/sys", "/proc/sysrq-trigger", "/sys"] {
        plan.add_existing(Path::new(place), FenceAccess::ReadOnly, "the kernel's settings");
    }
    for entry in std::fs::read_dir("/dev").into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_block_device()) {
            plan.add_place(&entry.path(), FenceAccess::Masked, "a disk");
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn add_system(_plan: &mut FencePlan) {}

/// Pins the folders above protected places, so that a command cannot move them away and put a
/// forged tree in their place.
pub(super) fn pin(plan: &mut FencePlan) {
    let read_only = plan.places.iter().filter(|place| place.access == FenceAccess::ReadOnly);
    let above: BTreeSet<&Path> =
        read_only.flat_map(|place| place.path.ancestors().skip(1)).collect();
    let is_known = |folder: &Path| {
        let mut known = plan.places.iter().filter(|place| place.access != FenceAccess::Pinned);
        known.any(|place| folder.starts_with(&place.path))
    };
    let is_pinned = |folder: &&Path| folder.parent().is_some_and(may_write) && !is_known(folder);
    let pins: Vec<PathBuf> = above.into_iter().filter(is_pinned).map(Path::to_path_buf).collect();
    for folder in pins {
        plan.add_place(&folder, FenceAccess::Pinned, "holds a protected file");
    }
}

#[cfg(target_os = "linux")]
fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn may_write(_folder: &Path) -> bool {
    true
}
