//! `intent doctor`: is everything in place?

use super::shared;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::print::{Page, STRONG};
use crate::verbs::doctor::{DoctorAnswer, State, examine};

/// Examine the workspace: is everything in place, and if not, what to do
#[derive(Debug, clap::Args)]
#[command(
    after_help = "✓ in order   ✗ not in order   ? not known, or not needed\nExit code 1 when something is not in order."
)]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _args: Args) -> Result<Exit, CliError> {
    let answer = examine(&context.here()?);
    context.answer(&answer, |page| show(page, &answer))?;
    Ok(Exit::found(answer.checks.iter().any(|check| check.state == State::Bad)))
}

fn show(page: &mut Page, answer: &DoctorAnswer) {
    let width = answer.checks.iter().map(|check| check.what.chars().count()).max().unwrap_or(0);
    for check in &answer.checks {
        let (style, mark) = shared::mark(match check.state {
            State::Good => Some(true),
            State::Bad => Some(false),
            State::Unknown => None,
        });
        page.styled(style, mark).own(" ").styled(STRONG, &check.what);
        page.to(width + 4).text(&check.detail).end();
    }
}
