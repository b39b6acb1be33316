//! `intent agent off` and `intent agent on`: a person switches the gate off for some time, and on again.

use std::time::Duration;

use jiff::SignedDuration;

use crate::cli::person::Terminal;
use crate::cli::print::{GOOD, Page, STRONG, WARN};
use crate::cli::{CliError, Context, Exit, when};
use ground::session::MAX_OFF;
use judgement::approval::{self, SwitchAnswer};

/// Switch the gate off for a while
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person at a terminal of their own: refused without one, and where an agent runs it.
Meanwhile nothing is held up in this work tree; that it was off is recorded.

Example:
  intent agent off --for 10m --reason \"moving folders by hand\"")]
pub struct OffArgs {
    /// For how long: 10m, 1h30m; at most 8h
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    lasts: Duration,

    /// Why, in a few words
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Switch the gate on again
#[derive(Debug, clap::Args)]
pub struct OnArgs {}

pub fn run(context: &Context, args: OffArgs) -> Result<Exit, CliError> {
    let terminal = Terminal::of_a_person(context)?;
    let workspace = context.governed_workspace()?;
    let mut page = Page::default();
    page.literal("In ").styled(STRONG, workspace.root.path().display().to_string());
    page.literal(" no agent will be held up for ");
    let lasts = SignedDuration::try_from(args.lasts).unwrap_or(SignedDuration::MAX);
    page.styled(STRONG, format!("{lasts:#}")).line(".");
    let refused = CliError::usage("the gate is still on", "type yes to switch it off");
    terminal.confirms(&context.printer, &mut page, " to switch the gate off: ", refused)?;
    let answer = approval::switch_off(&workspace, args.lasts, args.reason.as_deref())?;
    print_switch(context, &answer)
}

pub fn switch_on(context: &Context, _args: OnArgs) -> Result<Exit, CliError> {
    Terminal::of_a_person(context)?;
    let answer = approval::switch_on(&context.open_workspace()?)?;
    print_switch(context, &answer)
}

fn print_switch(context: &Context, answer: &SwitchAnswer) -> Result<Exit, CliError> {
    context.answer(answer, |page| {
        match (&answer.off, answer.changed) {
            (Some(off), _) => {
                page.styled(WARN, "○").literal(" The gate is off until ");
                page.text(when::date(&off.until)).literal("; `intent agent on` ends it earlier")
            }
            (None, true) => page.styled(GOOD, "●").literal(" The gate is on again"),
            (None, false) => page.styled(GOOD, "●").literal(" The gate was on already"),
        };
        page.end();
    })
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let lasts = text.parse::<SignedDuration>().ok().and_then(|it| Duration::try_from(it).ok());
    let lasts = lasts.filter(|it| !it.is_zero()).ok_or("write a time such as 10m or 1h30m")?;
    if lasts > MAX_OFF {
        return Err(format!("at most {} h", MAX_OFF.as_secs() / 3600));
    }
    Ok(lasts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_and_positive() {
        assert_eq!(parse_duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("8h"), Ok(MAX_OFF));
        for bad in ["", "10", "-10m", "0s", "8h1s", "9999999999999h", "soon"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
