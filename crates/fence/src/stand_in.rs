//! Stand-ins: files that exist while a command runs, at paths where it must not create anything.
//!
//! A read-only mount needs an existing file. So a harmless file is created first, and a process
//! outside the fence (the keeper) removes it afterwards, even if the process that created it was
//! killed. Several fences in one repository share their stand-ins; the last fence to end removes
//! them.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file or folder that is created at a path where nothing exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandIn {
    /// The absolute path of the file or folder.
    pub path: PathBuf,
    /// The content of the file; `None` for a folder.
    pub text: Option<String>,
}

impl StandIn {
    fn make(&self) -> std::io::Result<()> {
        let made = match &self.text {
            Some(text) => File::create_new(&self.path)
                .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes())),
            None => std::fs::create_dir(&self.path),
        };
        match made {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            done => done,
        }
    }

    pub fn is_unchanged(&self) -> bool {
        let Ok(found) = self.path.symlink_metadata() else { return false };
        match &self.text {
            None => found.is_dir(),
            Some(text) => {
                found.is_file()
                    && found.len() == text.len() as u64
                    && std::fs::read(&self.path).is_ok_and(|bytes| bytes == text.as_bytes())
            }
        }
    }

    /// Removes a file with unchanged content, or an empty folder.
    pub fn remove(&self) -> std::io::Result<()> {
        let gone = match &self.text {
            Some(_) if !self.is_unchanged() => return Ok(()),
            Some(_) => std::fs::remove_file(&self.path),
            None => std::fs::remove_dir(&self.path),
        };
        match gone {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) =>
            {
                Ok(())
            }
            done => done,
        }
    }
}

fn open(lock: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(lock)
}

pub fn is_held(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| file.try_lock().is_err())
}

pub fn hold(stand_ins: &[StandIn], lock: &Path) -> std::io::Result<File> {
    let file = open(lock)?;
    file.lock_shared()?;
    for stand_in in stand_ins {
        stand_in.make()?;
    }
    Ok(file)
}

/// Removes the stand-ins, inner ones first. If one cannot be removed, the others still are.
fn take_away(stand_ins: &[StandIn]) -> std::io::Result<()> {
    stand_ins.iter().rev().map(StandIn::remove).fold(Ok(()), std::io::Result::and)
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeeperTask {
    pub stand_ins: Vec<StandIn>,
    pub lock: PathBuf,
}

/// Sent to the keeper after the task if the fence ended normally and nothing runs in it any more.
pub const DONE: &[u8] = b"true";

/// Runs the keeper: waits until the process that started it is gone, and removes the stand-ins. The
/// input contains the task, followed by [`DONE`] if the fence ended normally.
///
/// If it did not, the fenced command may have killed the process, in order to write at the paths of
/// the stand-ins once they are gone. So the processes that still run inside this fence are ended
/// first.
pub fn keep(mut input: impl Read) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    let task = KeeperTask::deserialize(&mut reader)?;
    let done = matches!(bool::deserialize(&mut reader), Ok(true));
    let file = open(&task.lock)?;
    // The lock of a killed process may be released a moment after its other files.
    let mut attempts = if done { 0 } else { 400 };
    while file.try_lock().is_err() {
        if attempts == 0 {
            return Ok(());
        }
        attempts -= 1;
        std::thread::sleep(Duration::from_millis(5));
    }
    if !done && !end_rest(&task.stand_ins) {
        return Ok(());
    }
    take_away(&task.stand_ins)
}

/// Ends the processes that see the stand-ins as mounts. They belong to a fence that has ended,
/// because this process holds the lock. Returns true if none is left.
#[cfg(target_os = "linux")]
fn end_rest(stand_ins: &[StandIn]) -> bool {
    let Some(sign) = stand_ins.iter().find(|stand_in| stand_in.text.is_some()) else { return true };
    let sees_it = |process: &Path| super::mounts::has_mount(process, &sign.path);
    let patience = Duration::from_secs(2);
    super::running::kill_all(patience, || super::running::processes(sees_it))
}

#[cfg(not(target_os = "linux"))]
fn end_rest(_stand_ins: &[StandIn]) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the keeper for a fence that ended normally.
    fn release(stand_ins: &[StandIn], lock: &Path) -> std::io::Result<()> {
        let task = KeeperTask { stand_ins: stand_ins.to_vec(), lock: lock.to_owned() };
        let input = [serde_json::to_vec(&task).expect("written"), DONE.to_vec()].concat();
        keep(input.as_slice())
    }

    #[test]
    fn the_last_fence_removes_only_its_stand_ins() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let file = StandIn { path: at("commondir"), text: Some(".".to_owned()) };
        let empty = StandIn { path: at("made"), text: None };
        let all = [file.clone(), empty.clone()];
        let lock = at("lock");
        let (first, second) = (hold(&all, &lock).expect("held"), hold(&all, &lock).expect("held"));
        drop(first);
        release(&all, &lock).expect("released");
        assert!(file.is_unchanged() && empty.is_unchanged());
        drop(second);
        // A process that another test starts shares the lock until it runs its program.
        let is_there = || file.path.exists() || empty.path.exists();
        for _ in 0..400 {
            release(&all, &lock).expect("released");
            if !is_there() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!is_there());

        let held = hold(&all, &lock).expect("held");
        std::fs::write(&file.path, "../other").expect("changed");
        std::fs::write(empty.path.join("x"), "x").expect("used");
        drop(held);
        release(&all, &lock).expect("released");
        assert!(file.path.exists() && empty.path.exists());
    }
}
