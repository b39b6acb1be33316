//! The features of the server. Each file is one request of the protocol, or helpers that several of
//! them share.
//!
//! A feature is a free function `handle(&Snapshot, Params) -> RequestResult<Response>` with the
//! protocol's types of its request. It converts the parameters (with [`super::convert`]), asks the
//! verbs, and converts the answer. It holds no state, takes no lock, reads no file whose text is in
//! the snapshot, and never waits for the client. If it has no answer (the document is unknown or
//! out of step, or has no workspace), it returns `None` instead of an error.
//!
//! To add a feature, write its file here, add a row to [`super::dispatch::table`], and announce it
//! in [`advertise`].
//!
//! The helpers:
//!
//! - `workspace_edit`: edits of files, in a form that the client understands.
//! - `block_line`, `glance`, `intent_text`, `fields`, `prose`: texts about blocks, intents and the
//!   registry's fields.
//! - `mention`, `places`: where an intent is named or defined, and where its blocks are.

mod block_line;
pub(crate) mod code_actions;
pub(crate) mod code_lens;
mod command_names;
pub mod commands;
pub mod completion;
pub mod definition;
pub(crate) mod diagnostics;
pub(crate) mod document_link;
pub(crate) mod document_symbols;
mod fields;
#[cfg(test)]
pub mod fixture;
pub(crate) mod glance;
pub(crate) mod hover;
#[cfg(test)]
mod imported_intents_tests;
pub(crate) mod inlay_hints;
mod intent_text;
mod mention;
mod places;
mod prose;
pub mod references;
pub mod rename;
#[cfg(test)]
mod robustness_tests;
#[cfg(test)]
mod single_files_tests;
pub mod status;
mod workspace_edit;
pub(crate) mod workspace_symbols;

use tower_lsp::lsp_types as lsp;

use super::capabilities::Capabilities;

pub(crate) fn advertise(client: &Capabilities, to: &mut lsp::ServerCapabilities) {
    to.hover_provider = Some(lsp::HoverProviderCapability::Simple(true));
    to.code_action_provider = Some(code_actions::options(client));
    to.completion_provider = Some(completion::options());
    to.code_lens_provider = client.code_lens.then(code_lens::options);
    to.inlay_hint_provider = client.inlay_hints.then_some(lsp::OneOf::Left(true));
    to.definition_provider = Some(lsp::OneOf::Left(true));
    to.references_provider = Some(lsp::OneOf::Left(true));
    to.document_symbol_provider = Some(lsp::OneOf::Left(true));
    to.workspace_symbol_provider = Some(lsp::OneOf::Left(true));
    to.document_link_provider = Some(document_link::options());
    to.rename_provider = Some(rename::options(client));
    to.execute_command_provider = Some(commands::options());
    if client.pulls_diagnostics() {
        to.diagnostic_provider = Some(diagnostics::options());
    }
}
