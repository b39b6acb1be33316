//! What the server offers, one file a feature.
//!
//! A feature is a free function `handle(&Snapshot, Params) -> Result<Answer, Refusal>` with the protocol's types of its
//! request: it translates (by [`super::convert`]), asks the verbs, and translates back. It holds no state, takes no lock,
//! reads no file that the snapshot could tell it about, and never waits for the client. Where it has nothing to say
//! (no such document, out of step, no workspace, nothing loaded yet) it answers `None`, never an error.
//!
//! To add one: write its file here, add its row to [`super::dispatch::table`], and announce it in [`advertise`].

pub(crate) mod diagnostics;
pub(crate) mod hover;

use tower_lsp::gen_lsp_types as lsp;

use super::capabilities::Capabilities;
use super::config::Settings;

/// Announces the features, as far as this client and this user can do something with them.
pub(crate) fn advertise(
    client: &Capabilities,
    _settings: &Settings,
    to: &mut lsp::ServerCapabilities,
) {
    to.hover_provider = Some(lsp::HoverProvider::Bool(true));
    if client.pulls() {
        to.diagnostic_provider = Some(diagnostics::options());
    }
}
