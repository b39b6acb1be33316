//! What the caller opened before the fence stood: through it the mounts of outside can be reached.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::stdio::{dup2_stdin, stdin};

use super::{FenceError, FencePlan};

fn of(number: i32) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{number}"))
}

/// Closes what is open beside the three standard streams and is a file or a folder, and refuses a folder as a stream.
/// Pipes, sockets and terminals lead to no place of the plan.
pub(super) fn settle(plan: &FencePlan) -> Result<(), FenceError> {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return Ok(()) };
    let open: Vec<i32> =
        open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open {
        let Ok(found) = std::fs::metadata(of(number)) else { continue };
        let kind = found.file_type();
        if number <= 2 {
            let leads = std::fs::read_link(of(number)).unwrap_or_default();
            let around = kind.is_dir()
                || kind.is_block_device()
                || (number > 0 && kind.is_file() && !plan.lets_write(&leads) && leads.exists());
            if around {
                return Err(FenceError::Handed(format!(
                    "{} is handed to the command as stream {number}, and through it the command could write what the fence keeps from it; send its output elsewhere",
                    leads.display()
                )));
            }
        } else if (kind.is_dir() || kind.is_file() || kind.is_block_device()) && !ours(number) {
            // Nobody else in this process knows it: it came with the process.
            let _ = nix::unistd::close(number);
        }
    }
    Ok(())
}

/// What this process opened for itself is closed when the command starts.
fn ours(number: i32) -> bool {
    let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}"));
    let flags = told.ok().and_then(|told| {
        let line = told.lines().find_map(|line| line.strip_prefix("flags:"))?;
        i64::from_str_radix(line.trim(), 8).ok()
    });
    flags.is_some_and(|flags| flags & i64::from(OFlags::CLOEXEC.bits()) != 0)
}

/// Opens the standard input again, inside: a file that is open for reading can be opened for writing through `/proc`, as
/// it was reached when it was opened.
pub(super) fn reopen() -> Result<(), FenceError> {
    let failed =
        |error: std::io::Error| FenceError::failed("opening the standard input again", error);
    let Ok(found) = std::fs::metadata(of(0)) else { return Ok(()) };
    let Ok(leads) = std::fs::read_link(of(0)) else { return Ok(()) };
    if !found.file_type().is_file() || !is_at(&found, &leads) {
        return Ok(());
    }
    let writes =
        fcntl_getfl(stdin()).is_ok_and(|flags| !flags.intersection(OFlags::RWMODE).is_empty());
    if writes {
        return Err(FenceError::Handed(format!(
            "{} is handed to the command as its input, open for writing; hand it over for reading",
            leads.display()
        )));
    }
    // Bytes that were read from it before are not read again.
    let at = rustix::fs::tell(stdin()).map_err(|error| failed(error.into()))?;
    let mut again = File::open(&leads).map_err(failed)?;
    again.seek(SeekFrom::Start(at)).map_err(failed)?;
    dup2_stdin(&again).map_err(|error| failed(error.into()))
}

/// Whether it still stands under this name. A file without one (a heredoc's) can be reached by nobody else.
fn is_at(found: &std::fs::Metadata, path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|there| (there.dev(), there.ino()) == (found.dev(), found.ino()))
}
