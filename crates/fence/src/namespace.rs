//! Puts up the fence with a user and mount namespace of this process, and then gives up all
//! capabilities.

use std::path::Path;

use nix::sched::{CloneFlags, unshare};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{DumpableBehavior, getegid, geteuid, set_dumpable_behavior};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits, set_no_new_privs,
};

use super::{FenceError, FencePlan, mounts};

/// Ubuntu's setting. If it is 1, a namespace can be created, but nothing can be done in it.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
/// Debian's older setting. If it is 0, only privileged programs can create a user namespace.
const CLONE: &str = "/proc/sys/kernel/unprivileged_userns_clone";

fn file_reads(path: &str, value: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.trim() == value)
}

/// Returns true if the system may refuse operations in a namespace after it was created.
pub(super) fn is_restricted() -> bool {
    if geteuid().is_root() {
        // Without this capability, for example inside a fence, the superuser cannot be the
        // superuser of a namespace either.
        return !capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SETFCAP));
    }
    file_reads(APPARMOR, "1")
}

/// Returns what a person can do on a system that refuses namespaces.
pub(super) fn remedy() -> String {
    let command = if file_reads(APPARMOR, "1") {
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    } else if file_reads(CLONE, "0") {
        "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    } else if file_reads("/proc/sys/user/max_user_namespaces", "0") {
        "sudo sysctl -w user.max_user_namespaces=15000"
    } else {
        return "In a container, start that with a seccomp profile that lets programs make user namespaces, or install bubblewrap.".to_owned();
    };
    format!("To allow namespaces, run `{command}`, or install bubblewrap.")
}

/// Creates the namespaces. `Some` contains the error of a system that refuses; this process is then
/// unchanged.
pub(super) fn make() -> Result<Option<Errno>, FenceError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut attempts = 50;
    loop {
        match unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS) {
            Ok(()) => break,
            // A thread that has ended still counts for a moment, and only a process with one thread
            // may do this.
            Err(nix::errno::Errno::EINVAL) if attempts > 0 => {
                attempts -= 1;
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
            Err(error) => return Ok(Some(Errno::from_raw_os_error(error as i32))),
        }
    }
    let write = |name: &str, text: String| {
        std::fs::write(Path::new("/proc/self").join(name), text)
            .map_err(|error| FenceError::failed(format!("writing /proc/self/{name}"), error))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))?;
    Ok(None)
}

/// Mounts the places of the plan, and gives up everything with which the mounts could be removed.
pub(super) fn apply_plan(plan: &FencePlan) -> Result<(), FenceError> {
    let here = std::env::current_dir()
        .map_err(|error| FenceError::failed("finding the current folder", error))?;
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|error| FenceError::failed("keeping mounts to ourselves", error))?;
    mounts::lay(plan)?;
    // The current folder was opened before the mounts were made, so it is entered again through
    // them.
    std::env::set_current_dir(&here)
        .map_err(|error| FenceError::failed(format!("returning to {}", here.display()), error))?;
    surrender().map_err(|error| FenceError::failed("giving up capabilities", error))
}

/// Gives up all capabilities for good. Otherwise the superuser, who keeps all capabilities when a
/// program is started, could change the mounts.
fn surrender() -> Result<(), Errno> {
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // This kernel does not know the capability.
            Err(Errno::INVAL) => {}
            done => done?,
        }
    }
    clear_ambient_capability_set()?;
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED,
    )?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_no_new_privs(true)?;
    // Files that are open in this process were opened outside the fence. The command must not reach
    // them through `/proc` or by tracing this process.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
