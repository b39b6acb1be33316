//! A switch with which a person turns the gate off for some time. A file without a seal of this
//! clone has no effect.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Root, StoreError, store};
use crate::clock;
use crate::seal::{self, SealedContent};

pub const MAX_OFF: Duration = Duration::from_secs(8 * 3600);
/// A file larger than this, in bytes, was not written by us and is not read.
const MAX_FILE: u64 = 16 * 1024;

/// The time span in which the gate is off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Off {
    /// When the gate was turned off: RFC 3339 in UTC.
    pub since: String,
    /// When the gate turns on again: RFC 3339 in UTC.
    pub until: String,
    /// Why, in the person's words.
    pub reason: Option<String>,
}

/// Returns the time span for which a person has turned the gate off. `None` if the gate is on.
pub fn off_until(root: &Root) -> Option<Off> {
    let SealedContent { value: off, seal } =
        store::read_json::<SealedContent<Off>>(&file(root), MAX_FILE)?;
    let since = off.since.parse::<Timestamp>().ok()?;
    let until = off.until.parse::<Timestamp>().ok()?;
    let now = Timestamp::now();
    let lasts = Duration::try_from(until.duration_since(since)).ok()?;
    let holds = lasts <= MAX_OFF && since <= now && now < until;
    (holds && seal::is_valid(root, &parts(&off), &seal)).then_some(off)
}

/// Turns the gate off from now on, for at most [`MAX_OFF`].
pub fn switch_off(root: &Root, lasts: Duration, reason: Option<&str>) -> Result<Off, StoreError> {
    super::local(root)?;
    // The stored time has only milliseconds. Start from that value, so that the beginning is not
    // later than the current time.
    let since = clock::now();
    let from = since.parse::<Timestamp>().unwrap_or_else(|_| Timestamp::now());
    let until = from.checked_add(lasts.min(MAX_OFF)).unwrap_or(from);
    let off = Off { since, until: clock::format(until), reason: reason.map(str::to_owned) };
    let seal = seal::seal(root, &parts(&off))?;
    let text = serde_json::to_vec_pretty(&SealedContent { value: &off, seal })
        .expect("texts always become JSON");
    store::write_atomic(&file(root), &text)?;
    Ok(off)
}

/// Turns the gate on again. Returns true if it was off.
pub fn switch_on(root: &Root) -> Result<bool, StoreError> {
    let was = off_until(root).is_some();
    store::remove(&file(root))?;
    Ok(was)
}

fn parts(off: &Off) -> [&str; 4] {
    ["off", &off.since, &off.until, off.reason.as_deref().unwrap_or_default()]
}

fn file(root: &Root) -> PathBuf {
    super::path_of_local_file(root, "off.json")
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::TestFolder;
    use super::*;

    #[test]
    fn the_gate_is_off_for_a_while_and_on_again() {
        let place = TestFolder::committed(&[(".orchestration/x", "")]);
        let root = place.root("");
        assert_eq!(off_until(&root), None);
        let off = switch_off(&root, Duration::from_secs(600), Some("a large move")).unwrap();
        assert_eq!(off_until(&root), Some(off));
        assert!(switch_on(&root).unwrap());
        assert_eq!(off_until(&root), None);
        assert!(!switch_on(&root).unwrap());
        switch_off(&root, Duration::ZERO, None).unwrap();
        assert_eq!(off_until(&root), None, "its time is over");
    }

    #[test]
    fn the_gate_is_never_off_for_longer_than_the_limit() {
        let place = TestFolder::governed();
        let root = place.root("");
        let off = switch_off(&root, Duration::MAX, None).unwrap();
        let times = [off.since, off.until].map(|at| at.parse::<Timestamp>().unwrap());
        assert_eq!(times[1].duration_since(times[0]).as_secs(), 8 * 3600);
    }

    #[test]
    fn a_foreign_file_does_not_switch_the_gate_off() {
        let place = TestFolder::governed();
        let root = place.root("");
        switch_off(&root, Duration::from_secs(600), None).unwrap();
        let text = std::fs::read_to_string(file(&root)).unwrap();
        let year = &text[text.find("until").unwrap() + 9..][..4];
        let later = text.replace(&format!("\"until\": \"{year}"), "\"until\": \"9999");
        assert_ne!(later, text);
        for forged in [later.as_str(), "", "{}", "true", &text[..text.len() / 2]] {
            std::fs::write(file(&root), forged).unwrap();
            assert_eq!(off_until(&root), None, "{forged}");
        }
        let other = TestFolder::governed();
        switch_off(&other.root(""), Duration::from_secs(600), None).unwrap();
        std::fs::copy(file(&other.root("")), file(&root)).unwrap();
        assert_eq!(off_until(&root), None, "another clone's");
    }
}
