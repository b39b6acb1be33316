//! `intent evidence erase`: a person removes one line from the evidence.

use std::path::PathBuf;

use super::shared;
use crate::cli::person::Terminal;
use crate::cli::print::{GOOD, Page, WARN};
use crate::cli::ssh::{SshKeygen, sign};
use crate::cli::{CliError, Context, Exit};
use evidence::erase::{EraseAnswer, Erasure, draft, write};
use evidence::signing::{SignatureCheck, Signatures as _, Signed, signers};
use ledger::evidence::ERASURE;

/// Erase one line of evidence, and leave a signed tombstone
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person at a terminal of their own: refused without one, and where an agent runs it.
The tombstone holds the digest of the line, who, when and why, and is signed with an SSH
key where the branch that work is merged into trusts somebody (.orchestration/allowed_signers).
Commits that exist keep the line; rewriting history is git's business.

Example:
  intent evidence erase 5ccc6d0c860f77901c89fee2e8034808:0 --why \"names a customer\"")]
pub struct EraseArgs {
    /// The record, by the id that `intent why PATH:LINE` shows
    record: String,

    /// Why, in a few words; the ledger is published
    #[arg(long, value_name = "TEXT")]
    why: String,

    /// The SSH key to sign with; else git's user.signingKey
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

pub fn run(context: &Context, args: EraseArgs) -> Result<Exit, CliError> {
    let terminal = Terminal::of_a_person(context)?;
    let workspace = context.open_workspace()?;
    let by = workspace.person();
    let erasure = draft(&workspace, &args.record, &args.why, by)?;
    let mut page = Page::default();
    question(&mut page, &erasure);
    let refused = CliError::usage("nothing was erased", "type yes to erase the line");
    terminal.confirms(&context.printer, &mut page, " to erase it: ", refused)?;
    let keys = SshKeygen::of_machine(&workspace);
    let is_signed = args.key.is_some() || keys.trusts_anybody(&signers(&workspace)?);
    let signature = is_signed
        .then(|| sign(&workspace, &context.cwd, args.key, ERASURE, &erasure.tombstone))
        .transpose()?;
    let signed = signature.as_deref().map(|signature| Signed {
        namespace: ERASURE,
        bytes: &erasure.tombstone,
        signature,
    });
    let signers = signers(&workspace)?;
    let checked = signed.map(|signed| keys.judge(signed, &signers)).transpose()?;
    let answer = write(&workspace, &args.record, &erasure, signature.as_deref())?;
    let is_untrusted = checked.is_some_and(|found| !matches!(found, SignatureCheck::By(_)));
    context.answer(&answer, |page| show(page, &answer, is_untrusted))
}

fn question(page: &mut Page, erasure: &Erasure) {
    page.line("This line of evidence will be erased:").gap();
    page.lines(&String::from_utf8_lossy(&erasure.line));
    page.gap();
}

fn show(page: &mut Page, answer: &EraseAnswer, is_untrusted: bool) {
    page.styled(GOOD, "✓").literal(" erased ").text(&answer.record).end();
    for (removed, written) in answer.removed.iter().zip(&answer.written) {
        page.literal("  ").text(written).literal(" replaces ").text(removed).end();
    }
    if !answer.signed {
        page.label(WARN, "!");
        page.literal("not signed: no signer is trusted yet. Until there is a key in ");
        page.literal(".orchestration/allowed_signers of the branch that this is merged into, ");
        page.line("`intent check --base` reports it");
    }
    if is_untrusted {
        shared::warn_of_untrusted_key(page);
    }
    page.next_command(
        "git add --all .orchestration/agent_trace && git commit -m \"Erase a line of evidence\"",
    );
}
