//! `intent setup man`: writes the manual pages.

use std::path::PathBuf;

use crate::cli::print::{GOOD, Page};
use crate::cli::{CliError, Context, Exit};

/// Write the manual page to stdout, or one page a command into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  intent setup man | man -l -
  intent setup man --dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write intent.1, intent-why.1, … into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(context: &Context, args: ManArgs) -> Result<Exit, CliError> {
    let command = crate::cli::command();
    let Some(folder) = args.dir.map(|folder| context.cwd.join(folder)) else {
        let mut roff = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut roff)
            .map_err(|source| CliError::io("the manual page", "written", source))?;
        return context.printer.document(&roff);
    };
    std::fs::create_dir_all(&folder)
        .and_then(|()| clap_mangen::generate_to(command, &folder))
        .map_err(|source| CliError::io(&folder, "written", source))?;
    let mut page = Page::default();
    page.styled(GOOD, "✓").literal(" manual pages are in ").text(folder.to_string_lossy()).end();
    context.printer.page(&page)
}
