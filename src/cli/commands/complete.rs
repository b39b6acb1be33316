//! `intent complete`: marks an intent as completed, and shows how each acceptance criterion stands.

use super::shared;
use crate::cli::print::{BAD, DIM, GOOD, Page, WARN};
use crate::cli::{CliError, Context, Exit};
use ground::git::short_id;
use judgement::map;
use overview::criteria::{self, CriterionAnswer, CriterionStanding};

/// Mark an intent as completed, and say which of its acceptance criteria passed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Runs nothing: `intent test ID` does. Where policy.yaml says `completion: passed`, it is
refused until every criterion that names a command has passed at this commit.")]
pub struct CompleteArgs {
    /// The intent's id
    id: String,
}

pub fn run(context: &Context, args: CompleteArgs) -> Result<Exit, CliError> {
    let answer = criteria::complete(&context.open_workspace()?, &args.id)?;
    map::refresh(&context.open_workspace()?);
    context.answer(&answer, |page| {
        shared::changed_intent(page, &answer.registry);
        answer.criteria.iter().for_each(|criterion| show(page, criterion));
        let named = answer.criteria.iter().any(|one| one.command.is_some());
        if named && answer.clean == Some(false) {
            let words = "the work tree has changes that are in no commit";
            page.literal("  ").styled(WARN, words).end();
        }
    })
}

fn show(page: &mut Page, answer: &CriterionAnswer) {
    let commit = answer.commit.as_deref().map_or("no commit", short_id);
    let (style, mark, words) = match answer.standing {
        CriterionStanding::Passed => (GOOD, "✓", "passed at this commit".to_owned()),
        CriterionStanding::PassedUnclean => {
            (WARN, "?", "passed with changes that are in no commit".to_owned())
        }
        CriterionStanding::PassedElsewhere => (WARN, "?", format!("passed at {commit}")),
        CriterionStanding::Failed => (BAD, "✗", format!("failed at {commit}")),
        CriterionStanding::NeverRun => (WARN, "?", "never run".to_owned()),
        CriterionStanding::NoCommand => (DIM, "·", "names no command".to_owned()),
    };
    page.literal("  ").label(style, mark).text(&answer.criterion);
    page.literal("  ").styled(DIM, &words).end();
}
