//! A host's message to the hook: if every call must be denied, the host gets a denial, whatever it sends.
#![no_main]

use std::io::Cursor;

use ground::Environment;
use hook::answer::HookAnswer;
use hook::host::HOSTS;
use hook::incoming::Moment;
use hook::run::{Verbs, answered};
use judgement::after::Feedback;
use judgement::gate::{Decision, Denial, DenialCode, Judged};
use libfuzzer_sys::fuzz_target;

/// Functions that deny every call that can be denied, and do nothing else.
const DENYING: Verbs = Verbs {
    before: |_| Judged {
        decision: Decision::Deny(Denial::new(DenialCode::ScopeViolation, "no")),
        notice: None,
        fence: None,
    },
    after: |_, _| Feedback::default(),
    prompt: |_| (),
    idle: |_| (),
    rest: |_| (),
    clear: |_| (),
    end: |_| (),
    session_start: |_| None,
};

fuzz_target!(|payload: &[u8]| {
    let environment = Environment::of_process();
    for name in HOSTS.iter().map(|host| host.name).chain(["auto"]) {
        let (heard, said, output) =
            answered(name, Cursor::new(payload.to_vec()), DENYING, &environment);
        let deniable = heard.can_be_denied() && heard.moment == Moment::Before;
        let is_denied = matches!(said, HookAnswer::Deny(_));
        assert!(!deniable || is_denied, "{name}: not denied");
        let is_heard = output.exit != 0 || !output.stdout.trim().is_empty();
        assert!(!deniable || is_heard, "{name}: denied without a word");
    }
});
