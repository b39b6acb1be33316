//! The fence: a command that reads as before and can write only where a plan lets it, whatever programs it starts.
//!
//! The plan is a list of places. Who makes it (`verbs::fence`) knows intents; this room knows only the operating system:
//! namespaces and mounts on Linux, bubblewrap or Landlock where those are refused, the system's sandbox on macOS.

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod inherited;
#[cfg(target_os = "linux")]
mod landlocked;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(unix)]
pub(crate) mod running;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
pub(crate) mod stand_in;
pub(crate) mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use schemars::JsonSchema;
use serde::Serialize;

use stand_in::StandIn;

/// What a fenced command may do at a place, everything below included until another place says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FenceAccess {
    /// Everything below may be written, but the place itself cannot be moved or removed.
    Pinned,
    /// Nothing can be written.
    ReadOnly,
    /// Everything may be written that could be written without the fence.
    Writable,
    /// There is nothing to be read or written: a device through which a disk could be reached.
    Masked,
}

/// A place of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FencedPlace {
    /// An absolute path, free of links, at which something stands.
    pub path: PathBuf,
    /// What may be done there.
    pub access: FenceAccess,
    /// Why, for people.
    pub why: String,
}

/// What a fenced command may write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FencePlan {
    /// Outer places first: an inner one wins.
    pub places: Vec<FencedPlace>,
    /// What stands, while the command runs, where a file is missing that must not be created.
    pub stand_ins: Vec<StandIn>,
    /// What the plan does not reach, for people.
    pub notes: Vec<String>,
}

impl FencePlan {
    /// Puts outer places first. Of several entries for one place the last is kept, but a pin never takes one's place.
    pub(crate) fn settle(&mut self) {
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

    /// Whether the fenced command may write at a path.
    pub(crate) fn lets_write(&self, path: &Path) -> bool {
        let within = self.places.iter().rev().find(|place| path.starts_with(&place.path));
        within
            .is_none_or(|place| matches!(place.access, FenceAccess::Pinned | FenceAccess::Writable))
    }

    /// The read-only files in folders that may be written: whoever replaces one from outside takes the fence from it.
    pub(crate) fn weak(&self) -> Vec<PathBuf> {
        let weak = self.places.iter().filter(|place| {
            place.access == FenceAccess::ReadOnly
                && place.path.is_file()
                && place.path.parent().is_some_and(|folder| self.lets_write(folder))
        });
        weak.map(|place| place.path.clone()).collect()
    }
}

/// The means of the operating system by which a command is fenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FenceMeans {
    /// A user and mount namespace of our own.
    Namespace,
    /// The program `bwrap`.
    Bubblewrap,
    /// Landlock: weaker, see [`FenceMeans::weakness`].
    Landlock,
    /// The sandbox of macOS.
    #[cfg_attr(not(target_os = "macos"), allow(dead_code))]
    Seatbelt,
}

impl FenceMeans {
    /// In words.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "a mount namespace",
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "Landlock",
            Self::Seatbelt => "sandbox-exec",
        }
    }

    /// What it does not hold that a mount namespace does.
    pub(crate) fn weakness(self) -> Option<&'static str> {
        (self == Self::Landlock).then_some(
            "the mode and the times of a file that may not be written can be changed; git cannot commit; nothing new can be made in a folder that holds something read-only, however deep",
        )
    }
}

/// Why a command was not fenced, and so not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FenceError {
    /// No means on this machine can fence a command. Holds the reason of each.
    #[error("nothing on this machine can fence a command, so it was not run. {}", .0.join(" "))]
    Unavailable(Vec<String>),
    /// A step failed after the fence was begun.
    #[error("the fence could not be put up, so the command was not run: {what}: {source}")]
    Failed {
        /// What was tried.
        what: String,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// Something that was handed to the command would lead around the fence.
    #[error("{0}")]
    Handed(String),
}

impl FenceError {
    #[cfg(target_os = "linux")]
    fn failed(what: impl Into<String>, source: impl Into<std::io::Error>) -> Self {
        Self::Failed { what: what.into(), source: source.into() }
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub(crate) struct FencedCommand {
    /// The program.
    pub program: OsString,
    /// What it is given.
    pub arguments: Vec<OsString>,
}

impl FencedCommand {
    #[cfg(target_os = "linux")]
    fn bare(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

/// Puts up the fence. Where the operating system fences a process and what it starts, this process is inside afterwards
/// (it must have one thread only); else the command that is answered begins with a program that fences.
///
/// `probe` says whether another process of ours could make its namespaces. It is asked only where the system is known to
/// refuse them after they were made, when it is too late for another means.
#[cfg(target_os = "linux")]
pub(crate) fn raise(
    plan: &FencePlan,
    command: &FencedCommand,
    probe: impl Fn() -> bool,
) -> Result<(FenceMeans, Command), FenceError> {
    inherited::settle(plan)?;
    let refusal = match namespace::restricted() && !probe() {
        true => Some("it refuses them to this program (AppArmor)".to_owned()),
        false => namespace::make()?.map(|error| error.to_string()),
    };
    let Some(refusal) = refusal else {
        namespace::furnish(plan)?;
        inherited::reopen()?;
        return Ok((FenceMeans::Namespace, command.bare()));
    };
    let mut why = vec![format!("The system makes no user namespace for it: {refusal}.")];
    match bubblewrap::command(plan, command) {
        Ok(command) => return Ok((FenceMeans::Bubblewrap, command)),
        Err(reason) => why.push(reason),
    }
    match landlocked::enter(plan) {
        Ok(()) => {
            inherited::reopen()?;
            Ok((FenceMeans::Landlock, command.bare()))
        }
        Err(reason) => {
            why.push(reason);
            why.push(namespace::remedy());
            Err(FenceError::Unavailable(why))
        }
    }
}

/// The same by the system's sandbox.
#[cfg(target_os = "macos")]
pub fn raise(
    plan: &FencePlan,
    command: &FencedCommand,
    _probe: impl Fn() -> bool,
) -> Result<(FenceMeans, Command), FenceError> {
    Ok((FenceMeans::Seatbelt, seatbelt::command(plan, command)?))
}

/// There is none.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn raise(
    _plan: &FencePlan,
    _command: &FencedCommand,
    _probe: impl Fn() -> bool,
) -> Result<(FenceMeans, Command), FenceError> {
    Err(FenceError::Unavailable(vec![
        "There is a fence for Linux and macOS only; on Windows run it in WSL 2.".to_owned(),
    ]))
}

/// By what a command would be fenced here. `Err` says why by nothing.
#[cfg(target_os = "linux")]
pub(crate) fn means(probe: impl Fn() -> bool) -> Result<FenceMeans, String> {
    if probe() {
        return Ok(FenceMeans::Namespace);
    }
    if bubblewrap::is_here() {
        return Ok(FenceMeans::Bubblewrap);
    }
    if landlocked::is_here() {
        return Ok(FenceMeans::Landlock);
    }
    Err(namespace::remedy())
}

/// The same.
#[cfg(target_os = "macos")]
pub fn means(_probe: impl Fn() -> bool) -> Result<FenceMeans, String> {
    match Path::new(seatbelt::PROGRAM).is_file() {
        true => Ok(FenceMeans::Seatbelt),
        false => Err(format!("{} is missing.", seatbelt::PROGRAM)),
    }
}

/// The same.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn means(_probe: impl Fn() -> bool) -> Result<FenceMeans, String> {
    Err("There is a fence for Linux and macOS only; on Windows run it in WSL 2.".to_owned())
}

/// Whether this process can make namespaces of its own. It is in them afterwards, so it had better end.
#[cfg(target_os = "linux")]
pub(crate) fn probe() -> bool {
    matches!(namespace::make(), Ok(None))
        && namespace::furnish(&FencePlan {
            places: vec![FencedPlace {
                path: PathBuf::from("/usr"),
                access: FenceAccess::ReadOnly,
                why: String::new(),
            }],
            ..FencePlan::default()
        })
        .is_ok()
}

/// The same.
#[cfg(not(target_os = "linux"))]
pub fn probe() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, access: FenceAccess) -> FencedPlace {
        FencedPlace { path: PathBuf::from(path), access, why: String::new() }
    }

    #[test]
    fn an_inner_place_wins_and_a_pin_never_does() {
        use FenceAccess::{Pinned, ReadOnly, Writable};
        let mut plan = FencePlan {
            places: vec![
                place("/w/src", Writable),
                place("/w/src/.claude", ReadOnly),
                place("/w", ReadOnly),
                place("/w", Pinned),
                place("/", Pinned),
                place("/w/a", ReadOnly),
                place("/w/a", Writable),
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
