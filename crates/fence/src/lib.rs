//! The fence: runs a command that can read everything, but can write only where a plan allows it,
//! whatever programs it starts.
//!
//! A plan is a list of places. `judgement` makes it from intents; this crate knows only the means of
//! the operating system: namespaces and mounts on Linux, bubblewrap or Landlock where these are
//! refused, and the sandbox of macOS.
//!
//! - `bubblewrap`: the fence put up by the program `bwrap`.
//! - `landlocked`: the fence put up with Landlock.
//! - `mounts`: the places of a plan, applied as mounts.
//! - `namespace`: the fence put up with a user and mount namespace of this process.
//! - `open_files`: files that the caller opened before the fence was put up.
//! - `running`: running the command, passing signals on to it, and ending what it leaves running.
//! - `seatbelt`: the plan as a profile of the macOS sandbox.
//! - `stand_in`: files that must exist while the command runs.
//! - `watch`: detecting changes of protected files.

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod landlocked;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod open_files;
#[cfg(unix)]
pub mod running;
#[cfg(any(not(target_os = "linux"), test))]
mod seatbelt;
pub mod stand_in;
pub mod watch;

use std::path::{Path, PathBuf};
use std::process::Command;

use schemars::JsonSchema;
use serde::Serialize;

use stand_in::StandIn;

/// What a fenced command may do at a place, and at everything below it that has no place of its
/// own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FenceAccess {
    /// Everything below may be written, but the place itself cannot be moved or removed.
    Pinned,
    /// Nothing may be written, here or below.
    ReadOnly,
    /// Everything may be written that could be written without the fence.
    Writable,
    /// Nothing can be read or written. Used for devices that give access to a disk.
    Masked,
}

/// A place of a plan, with the access that is allowed there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FencedPlace {
    /// The absolute path of something that exists. It contains no symbolic links.
    pub path: PathBuf,
    /// What may be done at this place.
    pub access: FenceAccess,
    /// The reason for this access, for people.
    pub why: String,
}

/// What a fenced command may write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FencePlan {
    /// The places, outer ones first. An inner place overrides an outer one.
    pub places: Vec<FencedPlace>,
    /// Files and folders that exist while the command runs, at paths where it must not create
    /// anything.
    pub stand_ins: Vec<StandIn>,
    /// What the plan does not cover, for people.
    pub notes: Vec<String>,
}

impl FencePlan {
    /// Adds a place that is known to exist, without a link on the path to it.
    pub fn add_place(&mut self, path: &Path, access: FenceAccess, why: impl Into<String>) {
        self.places.push(FencedPlace { path: path.to_owned(), access, why: why.into() });
    }

    /// Adds a place if it exists and no link is on the path to it.
    pub fn add_existing(&mut self, path: &Path, access: FenceAccess, why: impl Into<String>) {
        if path.canonicalize().is_ok_and(|real| real == path) {
            self.add_place(path, access, why);
        }
    }

    /// Sorts the places, outer ones first. Of several entries for one place the last one is kept,
    /// but a pin never replaces another entry.
    pub fn settle(&mut self) {
        let mut kept: Vec<FencedPlace> = Vec::with_capacity(self.places.len());
        self.places.sort_by(|a, b| a.path.cmp(&b.path));
        for place in self.places.drain(..) {
            match kept.last_mut().filter(|last| last.path == place.path) {
                Some(_) if place.access == FenceAccess::Pinned => {}
                Some(last) => *last = place,
                None => kept.push(place),
            }
        }
        self.places = kept;
    }

    pub fn lets_write(&self, path: &Path) -> bool {
        let within = self.places.iter().rev().find(|place| path.starts_with(&place.path));
        within
            .is_none_or(|place| matches!(place.access, FenceAccess::Pinned | FenceAccess::Writable))
    }

    /// Returns the read-only files in writable folders. Such a file loses its protection if
    /// somebody outside replaces it.
    pub fn weak(&self) -> Vec<PathBuf> {
        let weak = self.places.iter().filter(|place| {
            place.access == FenceAccess::ReadOnly
                && place.path.is_file()
                && place.path.parent().is_some_and(|folder| self.lets_write(folder))
        });
        weak.map(|place| place.path.clone()).collect()
    }
}

/// How the operating system fences a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FenceMeans {
    /// A user and mount namespace that this program creates.
    Namespace,
    /// The program `bwrap`, where it is installed.
    Bubblewrap,
    /// Landlock, which is weaker: see [`FenceMeans::weakness`].
    Landlock,
    /// The sandbox of macOS, through `sandbox-exec`.
    Seatbelt,
}

impl FenceMeans {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "a mount namespace",
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "Landlock",
            Self::Seatbelt => "sandbox-exec",
        }
    }

    /// Returns what this means does not prevent, but a mount namespace does.
    pub fn weakness(self) -> Option<&'static str> {
        (self == Self::Landlock).then_some(
            "the mode and the times of a file that may not be written can be changed; git cannot commit; nothing new can be made in a folder that holds something read-only, however deep",
        )
    }
}

#[derive(Debug, thiserror::Error)]
pub enum FenceError {
    /// No means on this machine can fence a command. Contains the reason for each means.
    #[error("nothing on this machine can fence a command, so it was not run. {}", .0.join(" "))]
    Unavailable(Vec<String>),
    #[error("the fence could not be put up, so the command was not run: {what}: {source}")]
    Failed {
        what: String,
        #[source]
        source: std::io::Error,
    },
    /// An open file that the caller passes to the command would lead around the fence.
    #[error("{0}")]
    Handed(String),
}

impl FenceError {
    #[cfg(target_os = "linux")]
    fn failed(what: impl Into<String>, source: impl Into<std::io::Error>) -> Self {
        Self::Failed { what: what.into(), source: source.into() }
    }
}

/// Puts up the fence for a command. Returns the means, and the command to start instead of it.
///
/// With a namespace or Landlock, this process itself is inside the fence afterwards. It must have
/// only one thread. With bubblewrap, the returned command starts `bwrap`.
///
/// `probe` returns whether another process of this program can create namespaces. It is only called
/// on systems that may refuse operations in a namespace after it was created, when it is too late
/// for another means.
#[cfg(target_os = "linux")]
pub fn raise(
    plan: &FencePlan,
    command: Command,
    probe: impl Fn() -> bool,
) -> Result<(FenceMeans, Command), FenceError> {
    open_files::settle(plan)?;
    let refusal = match namespace::is_restricted() && !probe() {
        true => Some("AppArmor refuses them to this program".to_owned()),
        false => namespace::make()?.map(|error| error.to_string()),
    };
    let Some(refusal) = refusal else {
        namespace::apply_plan(plan)?;
        open_files::reopen()?;
        return Ok((FenceMeans::Namespace, command));
    };
    let mut why = vec![format!("The system refuses user namespaces: {refusal}.")];
    match bubblewrap::command(plan, &command, open_files::input()?) {
        Ok(wrapped) => return Ok((FenceMeans::Bubblewrap, wrapped)),
        Err(reason) => why.push(reason),
    }
    match landlocked::enter(plan) {
        Ok(()) => {
            open_files::reopen()?;
            Ok((FenceMeans::Landlock, command))
        }
        Err(reason) => {
            why.extend([reason, namespace::remedy()]);
            Err(FenceError::Unavailable(why))
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn raise(
    plan: &FencePlan,
    command: Command,
    probe: impl Fn() -> bool,
) -> Result<(FenceMeans, Command), FenceError> {
    let means = means(probe).map_err(|why| FenceError::Unavailable(vec![why]))?;
    Ok((means, seatbelt::command(plan, &command)))
}

/// Returns the means that would fence a command on this machine. `Err` contains the reason if there
/// is none.
#[cfg(target_os = "linux")]
pub fn means(probe: impl Fn() -> bool) -> Result<FenceMeans, String> {
    if probe() {
        Ok(FenceMeans::Namespace)
    } else if bubblewrap::is_here() {
        Ok(FenceMeans::Bubblewrap)
    } else if landlocked::is_here() {
        Ok(FenceMeans::Landlock)
    } else {
        Err(namespace::remedy())
    }
}

/// Returns the means that would fence a command on macOS. No other system has one.
#[cfg(not(target_os = "linux"))]
pub fn means(_probe: impl Fn() -> bool) -> Result<FenceMeans, String> {
    if !cfg!(target_os = "macos") {
        let why = "There is a fence for Linux and macOS only; on Windows run it in WSL 2.";
        return Err(why.to_owned());
    }
    match Path::new(seatbelt::PROGRAM).is_file() {
        true => Ok(FenceMeans::Seatbelt),
        false => Err(format!("{} is missing.", seatbelt::PROGRAM)),
    }
}

/// Returns true if this process can create namespaces. It is inside them afterwards, so it should
/// end.
#[cfg(target_os = "linux")]
pub fn probe() -> bool {
    let path = PathBuf::from("/usr");
    let place = FencedPlace { path, access: FenceAccess::ReadOnly, why: String::new() };
    let plan = FencePlan { places: vec![place], ..FencePlan::default() };
    matches!(namespace::make(), Ok(None)) && namespace::apply_plan(&plan).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn probe() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fenced_place(path: &str, access: FenceAccess) -> FencedPlace {
        FencedPlace { path: PathBuf::from(path), access, why: String::new() }
    }

    #[test]
    fn an_inner_place_wins_and_a_pin_never_does() {
        use FenceAccess::{Pinned, ReadOnly, Writable};
        let mut plan = FencePlan {
            places: vec![
                fenced_place("/w/src", Writable),
                fenced_place("/w/src/.claude", ReadOnly),
                fenced_place("/w", ReadOnly),
                fenced_place("/w", Pinned),
                fenced_place("/", Pinned),
                fenced_place("/w/a", ReadOnly),
                fenced_place("/w/a", Writable),
            ],
            ..FencePlan::default()
        };
        plan.settle();
        for (path, may) in [
            ("/w/b", false),
            ("/w", false),
            ("/wb", true),
            ("/w/src/x", true),
            ("/w/src/.claude/x", false),
            ("/w/a/x", true),
            ("/else", true),
        ] {
            assert_eq!(plan.lets_write(Path::new(path)), may, "{path}");
        }
        let order: Vec<_> =
            plan.places.iter().map(|place| place.path.display().to_string()).collect();
        assert_eq!(order, ["/", "/w", "/w/a", "/w/src", "/w/src/.claude"]);
    }
}
