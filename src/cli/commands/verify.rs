//! `intent evidence verify`: checks that the ledger is intact and, with `--blocks`, that the code still
//! agrees with it.

use std::path::PathBuf;

use anstyle::Style;

use super::{attest, shared};
use crate::cli::person::Terminal;
use crate::cli::print::{Cell, DIM, GOOD, PLAIN, Page, STRONG, UNSURE, WARN};
use crate::cli::ssh::SshKeygen;
use crate::cli::{CliError, Context, Exit, when};
use evidence::anchor::AnchorsAnswer;
use evidence::verify::{VerdictCounts, VerifyAnswer, accept_rewrite, verify_signed};
use ground::Level;
use ground::git::short_id;

/// Verify every file of the ledger
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --blocks every recorded block is held against the code, which takes as long as asking
`intent why` of every file.

Exit code 1 when there is an error or a warning, and 2 when this clone lacks history that
--blocks needs.")]
pub struct VerifyArgs {
    /// Also compare every recorded block with the code
    #[arg(long)]
    blocks: bool,

    /// Accept shared branches as they are now, although they were rewritten or evidence is gone
    /// from them. Only a person at a terminal can; it is recorded in the git directory
    #[arg(long)]
    accept_rewrite: bool,

    /// Instead of the ledger: verify what `intent evidence attest` stated, and the files that it names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["blocks", "accept_rewrite"])]
    attestation: Option<PathBuf>,
}

pub fn run(context: &Context, args: VerifyArgs) -> Result<Exit, CliError> {
    if let Some(file) = &args.attestation {
        return attest::verify(context, file);
    }
    let workspace = context.governed_workspace()?;
    let mut accepted = Vec::new();
    if args.accept_rewrite {
        Terminal::of_a_person(context)?;
        accepted = accept_rewrite(&workspace, workspace.person())?;
    }
    let mut answer = verify_signed(&workspace, &SshKeygen::of_machine(&workspace))?;
    answer.notes.splice(..0, accepted);
    let answer = match args.blocks {
        true => context.with_progress(&workspace, || answer.with_blocks(&workspace)),
        false => answer,
    };
    context.answer(&answer, |page| show(page, &answer))?;
    Ok(match answer.lacks_history {
        true => Exit::Usage,
        false => Exit::found(shared::has_warning(&answer.findings)),
    })
}

fn show(page: &mut Page, answer: &VerifyAnswer) {
    page.count(answer.records, "record").literal(" in ").count(answer.files, "ledger file").end();
    if let Some(held) = &answer.blocks {
        blocks(page, held);
    }
    if let Some(anchors) = &answer.anchors {
        show_anchors(page, anchors);
    }
    shared::notes(page, &answer.notes);
    page.gap();
    shared::findings(page, &answer.findings);
    page.gap();
    let count = |level| answer.findings.iter().filter(|finding| finding.level == level).count();
    shared::totals(page, count(Level::Error), count(Level::Warning));
    page.end();
}

fn blocks(page: &mut Page, blocks: &VerdictCounts) {
    let row = |style: Style, count: usize, word: &str, meaning: &str| {
        let style = if count > 0 { style } else { DIM };
        vec![Cell::number(style, count), Cell::new(style, word), Cell::new(DIM, meaning)]
    };
    let unrecorded = "under no intent, in a file with recorded lines";
    page.table(
        0,
        [
            row(GOOD, blocks.exact, "exact", "as recorded"),
            row(GOOD, blocks.reformatted, "reformatted", "as recorded but for formatting"),
            row(GOOD, blocks.moved, "moved", "as recorded, elsewhere"),
            row(WARN, blocks.renamed, "renamed", "as recorded but for names"),
            row(GOOD, blocks.inside, "inside", "as recorded; only blocks inside changed"),
            row(WARN, blocks.modified, "modified", "changed since"),
            row(UNSURE, blocks.ambiguous, "ambiguous", "two intents brought half each"),
            row(PLAIN, blocks.unrecorded, "unrecorded", unrecorded),
        ],
    );
}

fn show_anchors(page: &mut Page, anchors: &AnchorsAnswer) {
    page.gap().text(anchors.anchored).literal(" of ");
    page.count(anchors.sections, "section").line(" of evidence anchored");
    for by in &anchors.by {
        page.literal("  ").styled(STRONG, &by.signer).literal("  ").text(by.sections);
        page.literal(", last ").text(when::date(&by.time)).literal(" at ");
        page.text(short_id(&by.commit)).end();
    }
    for path in &anchors.untrusted {
        page.label(DIM, "note:").styled(DIM, path.as_str());
        let told = "is signed with a key that nobody trusts, so it vouches for nothing";
        page.literal(" ").styled(DIM, told).end();
    }
}
