//! Waits for the end of the process that started the server. It may end without sending `exit`, and
//! then nobody is left to serve.

use std::time::Duration;

const EVERY: Duration = Duration::from_secs(5);

/// Returns when the process is gone. Never returns on systems without `/proc`, where looking up a
/// process needs a system call.
pub(crate) async fn process_ended(process: u32) {
    while is_alive(process) {
        tokio::time::sleep(EVERY).await;
    }
}

fn is_alive(process: u32) -> bool {
    // `/proc/self` shows whether this system lists its processes as files.
    !std::path::Path::new("/proc/self/stat").exists()
        || std::path::Path::new(&format!("/proc/{process}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_process_is_alive() {
        assert!(is_alive(std::process::id()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ended_is_gone() {
        // This is larger than the largest process id of Linux.
        assert!(!is_alive(u32::MAX));
    }
}
