//! The tests and linters that failed in a session.

use super::super::store::{self, StoreError};
use super::{Root, local, of_actor};

/// A list longer than this, in bytes, was not written by us. Only different names make the list
/// longer.
const MAX_LIST: u64 = 16 * 1024;
/// The line in the list which says that the session was told already.
const REPORTED: &str = "told";

/// Stores that a test or linter failed in a call. Returns true if this is the second failure of the
/// same check, but only once per session.
pub fn failed_again(
    root: &Root,
    session: &str,
    check: &str,
    call: &str,
) -> Result<bool, StoreError> {
    local(root)?;
    let file = of_actor(root, session).join("failures");
    let bytes = store::read_capped(&file, MAX_LIST)?.unwrap_or_default();
    let list = String::from_utf8_lossy(&bytes).into_owned();
    let word = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{}\t{}", word(check), word(call));
    // Some hosts report the end of one call twice.
    let is_known = !call.is_empty() && list.lines().any(|known| known == line);
    if is_known || list.lines().any(|known| known == REPORTED) {
        return Ok(false);
    }
    let is_second = list.lines().any(|known| known.split('\t').next() == line.split('\t').next());
    let more = if is_second { REPORTED } else { &line };
    store::write_scratch(&file, format!("{list}{more}\n").as_bytes())?;
    Ok(is_second)
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::TestFolder;
    use super::*;

    #[test]
    fn only_the_second_failure_of_a_check_is_reported_once() {
        let place = TestFolder::governed();
        let root = place.root("");
        let failed = |session: &str, check: &str, call: &str| {
            failed_again(&root, session, check, call).unwrap()
        };
        assert!(!failed("a:1", "cargo test", "1"));
        assert!(!failed("a:1", "cargo test", "1"), "the same call");
        assert!(!failed("a:1", "pytest", "2"));
        assert!(!failed("a:2", "cargo test", "3"), "another session");
        assert!(failed("a:1", "cargo test", "4"));
        assert!(!failed("a:1", "pytest", "5"), "told already");
        assert!(!failed("a:3", "ruff", "") && failed("a:3", "ruff", ""));
    }
}
