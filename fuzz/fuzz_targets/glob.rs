//! Two scopes and a path: a scope that does not widen another one owns nothing that the other one does not own.
#![no_main]

use ground::RelativePath;
use intents::{Scope, ScopeVerdict};
use libfuzzer_sys::fuzz_target;

// The first line is the path; the scopes are divided by an empty line.
fuzz_target!(|text: &str| {
    let (path, scopes) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(path) = RelativePath::new(path) else { return };
    let (base, ours) = scopes.split_once("\n\n").unwrap_or((scopes, ""));
    let entries = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (base, ours) = (Scope::new(&entries(base)), Scope::new(&entries(ours)));
    for scope in [&base, &ours] {
        assert!(!scope.widens(scope));
        if let ScopeVerdict::Owned(at) = scope.verdict(&path) {
            assert!(scope.errors().iter().all(|(index, _)| *index != at), "an invalid entry owns");
        }
    }
    assert!(ours.widens(&base) || !ours.owns(&path) || base.owns(&path), "widened unseen");
});
