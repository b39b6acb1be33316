//! A host's message to the hook: if every call must be denied, the host gets a denial, whatever it sends.
#![no_main]

use intent_lsp::facade::fuzz::hook;
use hook::host::HOSTS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|payload: &[u8]| {
    for name in HOSTS.iter().map(|host| host.name).chain(["auto"]) {
        let reply = hook(name, payload);
        assert!(!reply.deniable || reply.denied, "{name}: not denied");
        let heard = reply.exit != 0 || !reply.stdout.trim().is_empty();
        assert!(!reply.deniable || heard, "{name}: denied without a word");
    }
});
