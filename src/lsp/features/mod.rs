//! What the server offers, one file a feature.
//!
//! A feature is a free function `handle(&Snapshot, Params) -> Result<Answer, Refusal>` with the protocol's types of its
//! request: it translates (by [`super::convert`]), asks the verbs, and translates back. It holds no state, takes no lock,
//! reads no file that the snapshot could tell it about, and never waits for the client. Where it has nothing to say
//! (no such document, out of step, no workspace) it answers `None`, never an error.
//!
//! To add one: write its file here, add its row to [`super::dispatch::table`], and announce it in [`advertise`].

mod changes;
pub(crate) mod code_actions;
pub(crate) mod code_lens;
pub(crate) mod commands;
pub(crate) mod completion;
mod credit;
pub(crate) mod definition;
pub(crate) mod diagnostics;
pub(crate) mod document_link;
pub(crate) mod document_symbols;
#[cfg(test)]
mod everywhere;
pub(crate) mod execute_command;
mod fields;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod hover;
pub(crate) mod inlay_hints;
mod intent_text;
mod mention;
mod places;
mod prose;
pub(crate) mod references;
pub(crate) mod rename;
#[cfg(test)]
mod single_files;
pub(crate) mod status;
pub(crate) mod workspace_edit;
pub(crate) mod workspace_symbols;

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
    to.code_action_provider = Some(code_actions::options(client));
    to.completion_provider = Some(completion::options());
    to.code_lens_provider = client.code_lens.then(code_lens::options);
    to.inlay_hint_provider = client.inlay_hints.then_some(true.into());
    to.definition_provider = Some(true.into());
    to.references_provider = Some(true.into());
    to.document_symbol_provider = Some(true.into());
    to.workspace_symbol_provider = Some(true.into());
    to.document_link_provider = Some(document_link::options());
    to.rename_provider = Some(rename::options(client));
    to.execute_command_provider = Some(execute_command::options());
    if client.pulls() {
        to.diagnostic_provider = Some(diagnostics::options());
    }
}
