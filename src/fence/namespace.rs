//! A user and mount namespace of our own, without capabilities in the end.

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

/// Ubuntu's switch: a namespace can be made, and then nothing be done in it.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
/// Debian's older switch.
const CLONE: &str = "/proc/sys/kernel/unprivileged_userns_clone";

fn reads(path: &str, value: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.trim() == value)
}

/// Whether the system may refuse what is done in a namespace after it was made.
pub(super) fn restricted() -> bool {
    if geteuid().is_root() {
        // Without this capability, as in a fence, the superuser may not be one in a namespace either.
        return !capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SETFCAP));
    }
    reads(APPARMOR, "1")
}

/// What a person can do about a system that makes no namespaces.
pub(super) fn remedy() -> String {
    let command = if reads(APPARMOR, "1") {
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    } else if reads(CLONE, "0") {
        "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    } else if reads("/proc/sys/user/max_user_namespaces", "0") {
        "sudo sysctl -w user.max_user_namespaces=15000"
    } else {
        return "In a container, start that with a seccomp profile that lets programs make user namespaces, or install bubblewrap.".to_owned();
    };
    format!("A person lets programs make them with `{command}`, or installs bubblewrap.")
}

/// Makes the namespaces. `Some` is the system's refusal, which leaves this process as it was.
pub(super) fn make() -> Result<Option<Errno>, FenceError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut left = 50;
    loop {
        match unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS) {
            Ok(()) => break,
            // A thread that has ended still counts for a moment.
            Err(nix::errno::Errno::EINVAL) if left > 0 => {
                left -= 1;
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

/// Lays the places over what is there, and gives up everything that could take them away again.
pub(super) fn furnish(plan: &FencePlan) -> Result<(), FenceError> {
    let here = std::env::current_dir()
        .map_err(|error| FenceError::failed("finding the current folder", error))?;
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|error| FenceError::failed("keeping mounts to ourselves", error))?;
    mounts::lay(plan)?;
    // The folder that we are in was opened before the places were laid over it.
    std::env::set_current_dir(&here)
        .map_err(|error| FenceError::failed(format!("returning to {}", here.display()), error))?;
    surrender().map_err(|error| FenceError::failed("giving up capabilities", error))
}

/// Without this the superuser, who keeps all capabilities when a program is started, could mount anew.
fn surrender() -> Result<(), Errno> {
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // This kernel does not know it.
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
    // What is open in this process was opened outside: the command must not reach it through `/proc`, or by tracing us.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
