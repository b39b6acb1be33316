//! The process that started the server: when it is gone without a word, nobody is left to serve.

use std::time::Duration;

/// How often it is looked for.
const EVERY: Duration = Duration::from_secs(5);

/// Returns when the process is gone. Never, where processes cannot be looked up without a system call of ours.
pub(crate) async fn gone(process: i32) {
    while is_alive(process) {
        tokio::time::sleep(EVERY).await;
    }
}

/// Whether the process is there; true where that cannot be told.
fn is_alive(process: i32) -> bool {
    // `/proc/self` says whether this system has processes as files at all.
    !std::path::Path::new("/proc/self/stat").exists()
        || std::path::Path::new(&format!("/proc/{process}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_alive_ourselves() {
        assert!(is_alive(i32::try_from(std::process::id()).unwrap()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ended_is_gone() {
        // Above the largest process id that Linux gives.
        assert!(!is_alive(i32::MAX));
    }
}
