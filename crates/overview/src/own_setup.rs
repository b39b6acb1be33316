//! Recognises what our own commands wrote for a person who set the repository up. That is nobody's
//! work, so no face reports it.

use super::team;
use hook::install;
use judgement::check::CheckRequest;

/// Returns the check that every face makes. What `intent setup init` wrote is no finding in it.
pub fn check_request() -> CheckRequest {
    CheckRequest { is_own_setup: Some(is_own_setup), ..CheckRequest::default() }
}

/// Recognises what `intent setup init` writes into files of the project, see
/// [`CheckRequest::is_own_setup`].
pub fn is_own_setup(path: &str, texts: &dyn Fn() -> Option<(Option<String>, String)>) -> bool {
    (install::is_settings_file(path) || team::is_file(path))
        && texts().is_some_and(|(before, now)| {
            install::is_as_installed(path, before.as_deref(), &now)
                || team::is_as_written(path, before.as_deref(), &now)
        })
}
