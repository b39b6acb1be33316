//! `intent evidence anchor`: signs the digests of evidence that `HEAD` holds, so that a removal is noticed.

use std::path::PathBuf;

use crate::cli::print::{GOOD, Page, STRONG, WARN};
use crate::cli::ssh::{SshKeygen, sign};
use crate::cli::{CliError, Context, Exit, person};
use evidence::anchor::{AnchorAnswer, draft, write};
use ground::git::short_id;
use ledger::anchor::NAMESPACE;

/// Sign which evidence exists, so that nobody can remove any of it unnoticed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person, or CI: refused where an agent runs it. Signs with an SSH key the digests of
the evidence that HEAD holds and that no anchor vouches for yet, and writes one file below
.orchestration/anchors/. `intent evidence verify` then says how far anchors vouch.

Whose keys count stands in .orchestration/allowed_signers of the branch that work is merged
into, in the format of `man ssh-keygen`, and in the file that git's setting
gpg.ssh.allowedSignersFile names:
  ada@example.org namespaces=\"intent-anchor,intent-erasure\" ssh-ed25519 AAAA…")]
pub struct AnchorArgs {
    /// The SSH key to sign with; else git's user.signingKey
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// Accept that evidence which earlier anchors list is gone, because its code is gone too
    #[arg(long)]
    accept_gone: bool,
}

pub fn run(context: &Context, args: AnchorArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let workspace = context.open_workspace()?;
    let keys = SshKeygen::of_machine(&workspace);
    let drafted = draft(&workspace, &keys, args.accept_gone)?;
    let signature = sign(&workspace, &context.cwd, args.key, NAMESPACE, &drafted.1)?;
    let answer = write(&workspace, &drafted, &signature, &keys)?;
    context.answer(&answer, |page| show(page, &answer))
}

fn show(page: &mut Page, answer: &AnchorAnswer) {
    let commit = short_id(&answer.commit);
    page.styled(GOOD, "✓").literal(" signed ").count(answer.sections, "section");
    page.literal(" of evidence, of ").styled(STRONG, answer.of).literal(" at ").text(commit).end();
    if answer.gone > 0 {
        page.literal("  gave up ").text(answer.gone).line(" that are gone");
    }
    if !answer.trusted {
        page.literal("  ").label(WARN, "warning:");
        page.literal("no trusted signer has this key, so the anchor does not count; a line with");
        page.line(
            " it belongs in .orchestration/allowed_signers (`intent evidence anchor --help`)",
        );
    }
    let path = answer.path.for_shell();
    page.next_command(&format!("git add {path} && git commit -m \"Anchor the evidence\""));
}
