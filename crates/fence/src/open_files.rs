//! Handles files that the caller opened before the fence was put up. Through such a file the
//! command could reach the mounts outside the fence.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::stdio::{dup2_stdin, stdin};

use super::{FenceError, FencePlan};

fn descriptor_path(number: i32) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{number}"))
}

/// Closes inherited files and folders, except for the three standard streams. Returns an error if
/// one of these is a folder, a disk, or a file for output that the plan protects. Pipes, sockets
/// and terminals lead to no place of the plan.
pub(super) fn settle(plan: &FencePlan) -> Result<(), FenceError> {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return Ok(()) };
    let open: Vec<i32> =
        open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open {
        let Ok(found) = std::fs::metadata(descriptor_path(number)) else { continue };
        let kind = found.file_type();
        if number <= 2 {
            let leads = std::fs::read_link(descriptor_path(number)).unwrap_or_default();
            let around = kind.is_dir()
                || kind.is_block_device()
                || (number > 0 && kind.is_file() && !plan.lets_write(&leads) && leads.exists());
            if around {
                return Err(FenceError::Handed(format!(
                    "Stream {number} of the command is {}, which the fence protects. Redirect it elsewhere.",
                    leads.display()
                )));
            }
        } else if (kind.is_dir() || kind.is_file() || kind.is_block_device()) && !is_ours(number) {
            // No code in this process uses this file: it was open when the process started.
            let _ = nix::unistd::close(number);
        }
    }
    Ok(())
}

/// Returns true if this process opened the file itself. Such a file is closed when the command
/// starts.
fn is_ours(number: i32) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}"));
    let flags = info.ok().and_then(|info| {
        let line = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        i64::from_str_radix(line.trim(), 8).ok()
    });
    flags.is_some_and(|flags| flags & i64::from(OFlags::CLOEXEC.bits()) != 0)
}

/// Opens the standard input again, inside the fence. Through `/proc`, a file that is open for
/// reading can be opened for writing, and this uses the mount through which it was first opened:
/// one outside the fence. The command continues at the current position, so that bytes already read
/// are not read again.
pub(super) fn reopen() -> Result<(), FenceError> {
    let Some((path, at)) = input()? else { return Ok(()) };
    let mut again = File::open(path).map_err(not_reopened)?;
    again.seek(SeekFrom::Start(at)).map_err(not_reopened)?;
    dup2_stdin(&again).map_err(|error| not_reopened(error.into()))
}

fn not_reopened(error: std::io::Error) -> FenceError {
    FenceError::failed("opening the standard input again", error)
}

/// Returns the path of the file that is the standard input, and the position up to which it was
/// read. `None` if the input is no file, or nobody else can open the file. Returns an error if the
/// input is open for writing.
pub(super) fn input() -> Result<Option<(PathBuf, u64)>, FenceError> {
    let Ok(found) = std::fs::metadata(descriptor_path(0)) else { return Ok(None) };
    let Ok(leads) = std::fs::read_link(descriptor_path(0)) else { return Ok(None) };
    if !found.file_type().is_file() || !is_at(&found, &leads) {
        return Ok(None);
    }
    let writes =
        fcntl_getfl(stdin()).is_ok_and(|flags| !flags.intersection(OFlags::RWMODE).is_empty());
    if writes {
        return Err(FenceError::Handed(format!(
            "{} is handed to the command as its input, open for writing; hand it over for reading",
            leads.display()
        )));
    }
    let at = rustix::fs::tell(stdin()).map_err(|error| not_reopened(error.into()))?;
    Ok(Some((leads, at)))
}

/// Returns true if the file still has this path. A file without a path (that of a heredoc) cannot
/// be opened by anybody else.
fn is_at(found: &std::fs::Metadata, path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|there| (there.dev(), there.ino()) == (found.dev(), found.ino()))
}
