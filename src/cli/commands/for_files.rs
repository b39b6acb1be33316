//! `intent for`: shows which intents own files.

use std::path::{Path, PathBuf};

use super::shared;
use crate::cli::print::{DIM, GOOD, INTENT, Page, STRONG, WARN};
use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context, Exit};
use ground::agents;
use intents::Status;
use why::owners::{self, FileOwner, FileOwners};

/// Tell which intents own files, and what to do where none does
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Intents in progress first; ● marks the selected one. An intent that is kept in another format
and names a file may be about it, but owns it only once a person adopts it. A file need not
exist yet. Exit code 1 where one of the files may be changed under no intent in progress.

Example:
  intent for src/auth/jwt.rs src/auth/new.rs")]
pub struct ForArgs {
    /// The files to look up
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Use the selection of this session, as host:id, instead of yours
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

pub fn run(context: &Context, args: ForArgs) -> Result<Exit, CliError> {
    let session = args.session.as_deref().or(context.agent());
    // The session of an agent without a name is not known, so no selection counts for it.
    let by_agent =
        context.agent().is_some() || agents::agent_above(context.environment()).is_some();
    let is_known = session.is_some() || !by_agent;
    let mut files = Vec::with_capacity(args.paths.len());
    for path in &args.paths {
        let target = FileTarget::parse(&context.cwd, path.as_os_str())?;
        if !target.path.exists()
            && let Some(hint) = context.hint_about_intent(Path::new(&target.named))
        {
            return Err(CliError::usage(format!("{} is no file", target.named), hint));
        }
        let (workspace, path) = context.file(&target)?;
        workspace.sound_registry()?;
        let selected = workspace.selected(session).filter(|_| is_known);
        files.push(owners::owners_of_file(&workspace, &path, selected.as_deref(), by_agent));
    }
    context.answer(&files, |page| files.iter().for_each(|file| show(page, file)))?;
    let is_owned = |file: &FileOwners| file.owners.iter().any(FileOwner::may_write);
    Ok(Exit::found(!files.iter().all(is_owned)))
}

fn show_intent(page: &mut Page, id: &str, status: Option<Status>, name: &str) {
    let status = status.map_or("no status", Status::as_str);
    page.styled(INTENT, id).literal("  ").styled(shared::status_style(status), status);
    page.literal("  ").text(name);
}

fn show(page: &mut Page, file: &FileOwners) {
    page.styled(STRONG, file.path.as_str()).end();
    for owner in &file.owners {
        match owner.selected {
            true => page.literal("  ").label(GOOD, "●"),
            false => page.literal("    "),
        };
        show_intent(page, &owner.id, owner.status, &owner.name);
        if let Some(rule) = &owner.forbidden_by {
            page.literal("  ").styled(WARN, "kept from it").literal(": ").text(rule);
        }
        page.end();
    }
    if file.owners.is_empty() {
        page.literal("    ").styled(WARN, "no intent owns it").end();
    }
    for hinting in &file.may_be_about {
        show_intent(page.literal("    "), &hinting.id, hinting.status, &hinting.name);
        page.literal("  ").styled(DIM, "may be about it").end();
    }
    if let Some(rule) = &file.forbidden_by {
        page.literal("    ").styled(WARN, "kept from agents").literal(": ").text(rule).end();
    }
    if let Some(next) = &file.next {
        page.literal("    ").label(DIM, "next:").text(next).end();
    }
}
