//! Applies the places of a plan as mounts: each place is mounted on itself, read-only or writable.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount_bind, mount_bind_recursive, mount_remount};

use super::{FenceAccess, FenceError, FencePlan};

pub(super) fn lay(plan: &FencePlan) -> Result<(), FenceError> {
    let existing = seen_by(Path::new("/proc/self"));
    let was_read_only: Vec<bool> =
        plan.places.iter().map(|place| is_read_only(&place.path)).collect();
    for (place, was_read_only) in plan.places.iter().zip(was_read_only) {
        let path = &place.path;
        let failed = |error: Errno| FenceError::failed(format!("laying {}", path.display()), error);
        match place.access {
            FenceAccess::Masked => {
                mount_bind("/dev/null", path).map_err(failed)?;
                continue;
            }
            // A place that was read-only before stays read-only, for example in a fence inside
            // another fence.
            FenceAccess::Writable if was_read_only => continue,
            _ => mount_bind_recursive(path, path).map_err(failed)?,
        }
        let read_only = match place.access {
            FenceAccess::Pinned => continue,
            access => access == FenceAccess::ReadOnly,
        };
        set(path, read_only).map_err(failed)?;
        let within = |mount: &&Mounted| mount.point.starts_with(path) && mount.point != *path;
        for mount in existing.iter().filter(within) {
            set(&mount.point, read_only || mount.read_only).map_err(failed)?;
        }
    }
    Ok(())
}

fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Makes a mount read-only or writable. Its other flags are kept, because the kernel refuses to
/// drop flags that were set outside.
fn set(path: &Path, read_only: bool) -> Result<(), Errno> {
    let had = statvfs(path)?.f_flag;
    let mut flags = MountFlags::BIND;
    for (had_flag, flag) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        flags.set(flag, had.contains(had_flag));
    }
    if !flags.intersects(MountFlags::NOATIME | MountFlags::RELATIME) {
        flags |= MountFlags::STRICTATIME;
    }
    flags.set(MountFlags::RDONLY, read_only);
    match mount_remount(path, flags, c"") {
        // A mount that cannot be accessed, such as one below another account's home folder, cannot
        // be written either.
        Err(Errno::ACCESS | Errno::NOENT) => Ok(()),
        done => done,
    }
}

/// A mount that existed before the fence.
struct Mounted {
    point: PathBuf,
    read_only: bool,
}

pub(super) fn has_mount(process: &Path, path: &Path) -> bool {
    seen_by(process).iter().any(|mount| mount.point == path)
}

/// Returns the mounts that a process sees; none if the process has ended or may not be inspected.
fn seen_by(process: &Path) -> Vec<Mounted> {
    let bytes = std::fs::read(process.join("mountinfo")).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(parse_mount).collect()
}

/// Parses a line of `mountinfo`: the fifth field is the mount point, the sixth the options.
fn parse_mount(line: &[u8]) -> Option<Mounted> {
    let mut fields = line.split(|byte| *byte == b' ').skip(4);
    let point = PathBuf::from(OsString::from_vec(unescape(fields.next()?)));
    let mut options = fields.next()?.split(|byte| *byte == b',');
    Some(Mounted { point, read_only: options.any(|option| option == b"ro") })
}

/// Replaces `\` and three octal digits, which stand for space, tab, line end and backslash in
/// `mountinfo`.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut at = 0;
    while let Some(byte) = field.get(at) {
        let digits = field.get(at + 1..at + 4).filter(|_| *byte == b'\\');
        let number = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match number.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) => {
                out.push(escaped);
                at += 4;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_is_read() {
        let line = b"36 35 98:0 /m /mnt/a\\040b ro,noatime master:1 - ext3 /dev/root rw";
        let mount = parse_mount(line).expect("a mount");
        assert_eq!((mount.point, mount.read_only), (PathBuf::from("/mnt/a b"), true));
        assert!(parse_mount(b"").is_none());
    }
}
