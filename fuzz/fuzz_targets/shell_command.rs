//! A command of any shell: a command that only reads changes no path, and the answer can be serialised.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shell::{Class, CommandContext, Dialect, PathEffect, read};

fuzz_target!(|text: &str| {
    let at = CommandContext { cwd: "/work/project".into(), ..CommandContext::default() };
    for dialect in [Dialect::Posix, Dialect::PowerShell, Dialect::Cmd] {
        let reading = read(text, dialect, &at);
        let reads = reading.targets.iter().all(|target| target.effect == PathEffect::Read);
        assert!(reading.class != Class::Read || reads, "a read that changes a path: {reading:?}");
        let judged = reading.commands.iter().all(|command| command.class == Class::Read);
        assert!(reading.class != Class::Read || judged, "{reading:?}");
        serde_json::to_string(&reading).expect("an answer is JSON");
    }
});
