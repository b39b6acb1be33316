//! `intent agent gate`: judges whether files may be changed.

use std::path::PathBuf;

use crate::cli::print::{BAD, GOOD, PLAIN, Page, WARN};
use crate::cli::{CliError, Context, Exit};
use judgement::gate::{Decision, GateRequest, judge};

/// Ask whether files may be changed under the selected intent
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Answers no opinion, ask or deny; there is no allow. Exit code 0 when nothing is
against it, 1 when it is denied or a person should decide.

Examples:
  intent agent gate src/auth/jwt.rs --intent INT-001
  intent agent gate src/a.rs src/b.rs --session claude-code:abc123")]
pub struct GateArgs {
    /// Every file that would change, the sources of moves included
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Judge under this intent instead of the selected one
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// Judge under the intent that this session has selected
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

pub fn run(context: &Context, args: GateArgs) -> Result<Exit, CliError> {
    let here = context.open_workspace()?;
    let paths = args.paths.iter().map(|path| context.cwd.join(path));
    let request = |paths: Vec<PathBuf>| GateRequest {
        paths: paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        session: args.session.clone().or_else(|| context.agent().map(str::to_owned)),
        intent: args.intent.clone(),
    };
    // Inside a governed workspace, its rules decide about every target, even about one outside of
    // it.
    let decision = if here.root.governed() {
        judge(&here, &request(paths.collect()))
    } else {
        let mut strictest = Decision::NoOpinion;
        for path in paths {
            let workspace = context.open_at(&path)?;
            strictest = stricter(strictest, judge(&workspace, &request(vec![path])));
        }
        strictest
    };
    context.answer(&decision, |page| show(page, &decision))?;
    Ok(Exit::found(decision != Decision::NoOpinion))
}

fn stricter(first: Decision, second: Decision) -> Decision {
    match (&first, &second) {
        (Decision::Deny(_), _) | (Decision::Ask(_), Decision::Ask(_)) => first,
        (_, Decision::NoOpinion) => first,
        _ => second,
    }
}

fn show(page: &mut Page, decision: &Decision) {
    let (style, word, denial) = match decision {
        Decision::NoOpinion => {
            page.styled(GOOD, "no opinion").line(": no rule objects");
            return;
        }
        Decision::Ask(denial) => (WARN, "ask", denial),
        Decision::Deny(denial) => (BAD, "deny", denial),
    };
    page.styled(style, word).literal("[").text(denial.code).literal("] ");
    page.advice(PLAIN, &denial.message).end();
}

#[cfg(test)]
mod tests {
    use super::*;
    use judgement::gate::{Denial, DenialCode};

    #[test]
    fn the_strictest_answer_wins_or_else_the_first() {
        let denial = |path: &str| Denial {
            code: DenialCode::ScopeViolation,
            message: String::new(),
            path: Some(path.to_owned()),
            intent: None,
            rule: None,
        };
        let (none, ask, deny) =
            (Decision::NoOpinion, Decision::Ask(denial("a")), Decision::Deny(denial("b")));
        assert_eq!(stricter(none.clone(), none.clone()), none);
        assert_eq!(stricter(ask.clone(), none.clone()), ask);
        assert_eq!(stricter(none, ask.clone()), ask);
        assert_eq!(stricter(ask.clone(), deny.clone()), deny);
        assert_eq!(stricter(deny.clone(), ask), deny);
        assert_eq!(stricter(deny.clone(), Decision::Deny(denial("c"))), deny);
    }
}
