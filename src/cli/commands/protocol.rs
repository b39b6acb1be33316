//! `intent agent protocol`: prints how an agent works in this workspace.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{CliError, Context, Exit};
use judgement::gate::PROTOCOL;

/// Print how an agent works here, as a paragraph for its system prompt
#[derive(Debug, clap::Args)]
pub struct ProtocolArgs {}

/// The rules for agents, as text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProtocolAnswer {
    /// One paragraph of plain text.
    protocol: &'static str,
}

pub fn run(context: &Context, ProtocolArgs {}: ProtocolArgs) -> Result<Exit, CliError> {
    let answer = ProtocolAnswer { protocol: PROTOCOL };
    context.answer(&answer, |page| {
        page.lines(answer.protocol);
    })
}
