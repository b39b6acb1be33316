//! What stands, while a command runs, where a file is missing that it must not create.
//!
//! A read-only mount needs something to lie on. So a file that is harmless where it stands is made before, and taken away
//! afterwards by a process outside (the keeper), also when the one that made it was killed. Several fences in one
//! repository share them: whoever ends last takes them away.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A file or folder that stands in for one that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StandIn {
    /// The absolute path at which it is put.
    pub path: PathBuf,
    /// What the file says; `None` for a folder.
    pub text: Option<String>,
}

impl StandIn {
    /// Makes it where nothing stands.
    fn make(&self) -> std::io::Result<()> {
        let made = match &self.text {
            Some(text) => OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&self.path)
                .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes())),
            None => std::fs::create_dir(&self.path),
        };
        match made {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            done => done,
        }
    }

    /// Whether what stands there is this one, and so can go.
    pub(crate) fn stands(&self) -> bool {
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

    /// Takes it away: a file that says what it said, a folder that is empty.
    pub(crate) fn remove(&self) -> std::io::Result<()> {
        let gone = match &self.text {
            Some(_) if !self.stands() => return Ok(()),
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

/// Holds the stand-ins of a repository in their places, until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldStandIns {
    _lock: File,
}

fn open(lock: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(lock)
}

/// Whether a fence holds the lock.
pub(crate) fn is_held(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| file.try_lock().is_err())
}

/// Makes the stand-ins.
pub(crate) fn hold(stand_ins: &[StandIn], lock: &Path) -> std::io::Result<HeldStandIns> {
    let file = open(lock)?;
    file.lock_shared()?;
    for stand_in in stand_ins {
        stand_in.make()?;
    }
    Ok(HeldStandIns { _lock: file })
}

/// The inner ones first; what cannot be removed is left, and the others go all the same.
fn take_away(stand_ins: &[StandIn]) -> std::io::Result<()> {
    stand_ins.iter().rev().map(StandIn::remove).fold(Ok(()), std::io::Result::and)
}

/// What the keeper is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeeperTask {
    /// What to take away.
    pub stand_ins: Vec<StandIn>,
    /// The lock that fences share.
    pub lock: PathBuf,
}

/// Told behind the task by whoever ends well: nothing runs any more in the fence.
pub(crate) const DONE: &[u8] = b"true";

/// Waits until whoever started it is gone, and takes the stand-ins away. The input says which, and whether it ended well.
///
/// Where it did not, the fenced command may have killed it, to write where the stand-ins are once they are gone. So what
/// still runs behind that fence is ended first.
pub(crate) fn keep(mut input: impl Read) -> std::io::Result<()> {
    let mut told = Vec::new();
    input.read_to_end(&mut told)?;
    let mut told = serde_json::Deserializer::from_slice(&told).into_iter::<Value>();
    let task = told.next().transpose()?.unwrap_or_default();
    let task: KeeperTask = serde_json::from_value(task)?;
    let done = matches!(told.next(), Some(Ok(Value::Bool(true))));
    let file = open(&task.lock)?;
    // Of a process that was killed the lock may go a moment after the rest.
    let mut left = if done { 0 } else { 400 };
    while file.try_lock().is_err() {
        if left == 0 {
            return Ok(());
        }
        left -= 1;
        std::thread::sleep(Duration::from_millis(5));
    }
    if !done && !end_rest(&task.stand_ins) {
        return Ok(());
    }
    take_away(&task.stand_ins)
}

/// Ends what runs where the stand-ins are mounts, which is in nobody's fence any more: the lock is ours. Says whether
/// nothing is left of it.
#[cfg(target_os = "linux")]
fn end_rest(stand_ins: &[StandIn]) -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(sign) = stand_ins.iter().find(|stand_in| stand_in.text.is_some()) else { return true };
    for _ in 0..1000 {
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let behind: Vec<Pid> = all
            .filter_map(|entry| {
                let process = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
                super::mounts::has_mount(&entry.path(), &sign.path).then_some(process)
            })
            .collect();
        if behind.is_empty() {
            return true;
        }
        for process in behind {
            // It may have ended meanwhile.
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

#[cfg(not(target_os = "linux"))]
fn end_rest(_stand_ins: &[StandIn]) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the keeper does for a fence that ended well.
    fn release(stand_ins: &[StandIn], lock: &Path) -> std::io::Result<()> {
        let task = KeeperTask { stand_ins: stand_ins.to_vec(), lock: lock.to_owned() };
        let told = [serde_json::to_vec(&task).expect("written"), DONE.to_vec()].concat();
        keep(told.as_slice())
    }

    #[test]
    fn the_last_one_takes_them_away_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let file = StandIn { path: at("commondir"), text: Some(".".to_owned()) };
        let empty = StandIn { path: at("made"), text: None };
        let all = [file.clone(), empty.clone()];
        let lock = at("lock");
        let (first, second) = (hold(&all, &lock).expect("held"), hold(&all, &lock).expect("held"));
        drop(first);
        release(&all, &lock).expect("released");
        assert!(file.stands() && empty.stands());
        drop(second);
        release(&all, &lock).expect("released");
        assert!(!file.path.exists() && !empty.path.exists());

        let held = hold(&all, &lock).expect("held");
        std::fs::write(&file.path, "../other").expect("changed");
        std::fs::write(empty.path.join("x"), "x").expect("used");
        drop(held);
        release(&all, &lock).expect("released");
        assert!(file.path.exists() && empty.path.exists());
    }
}
