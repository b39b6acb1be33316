//! `intent policy`: shows the rules that are in force, and where each was set.

use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::print::{Cell, DIM, PLAIN, Page, STRONG};
use crate::cli::{CliError, Context, Exit};
use ground::{Policy, PolicyValue};
use overview::init::POLICY_TEMPLATE;
use why::findings::{FindingAnswer, answers};

/// Show the policy that holds here, with the one that it extends
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A policy may extend one of an organisation: `extends: /etc/acme/intent.yaml`, or a file
below .orchestration/. What both set, the file of the workspace says; lists are put
together, maps key by key.

Examples:
  intent policy            what was set
  intent policy --explain  every value, and which file it comes from
  intent policy --template > .orchestration/policy.yaml
                           begin a policy: every key as a comment, with its default")]
pub struct PolicyArgs {
    /// Show defaults too, and where each value comes from
    #[arg(long)]
    explain: bool,

    /// Print a policy with every key as a comment, to begin one with
    #[arg(long, conflicts_with = "explain")]
    template: bool,
}

/// The policy that is in force.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyAnswer {
    /// Every value of the policy, including defaults.
    values: Vec<PolicyValue>,
    /// What is wrong with the policy. While this list is not empty, the gate denies every write.
    findings: Vec<FindingAnswer>,
}

pub fn run(context: &Context, args: PolicyArgs) -> Result<Exit, CliError> {
    if args.template {
        return context.printer.document(POLICY_TEMPLATE.as_bytes());
    }
    let workspace = context.governed_workspace()?;
    let layered = Policy::layered(&workspace.root);
    let values = layered.explained();
    let answer = PolicyAnswer { values, findings: answers(&workspace, layered.findings) };
    context.answer(&answer, |page| show(page, &answer, args.explain))?;
    Ok(Exit::found(shared::has_warning(&answer.findings)))
}

fn show(page: &mut Page, answer: &PolicyAnswer, explain: bool) {
    let shown = answer.values.iter().filter(|value| explain || value.origin.is_some());
    let row = |value: &PolicyValue| {
        let (style, origin) =
            value.origin.as_deref().map_or((DIM, "default"), |file| (PLAIN, file));
        let cells = [Cell::new(STRONG, &value.key), Cell::new(PLAIN, &value.value)];
        cells.into_iter().chain(explain.then(|| Cell::new(style, origin))).collect()
    };
    let rows: Vec<Vec<Cell>> = shown.map(row).collect();
    if rows.is_empty() {
        page.line("Nothing is set, so every value is its default: `intent policy --explain`.");
    }
    page.table(0, rows);
    shared::findings(page, &answer.findings);
}
