//! `intent why FOLDER`: a table of the files below a folder.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::shared;
use crate::cli::print::{Cell, DIM, INTENT, PLAIN, Page};
use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context};
use ground::RelativePath;
use ground::text::counted;
use provenance::Verdict;
use why::answers::{BroughtLines, Which, on_disk};

/// How many files are looked into at most. Each needs its history.
const MAX_FILES: usize = 200;

/// What is known of the files below a folder.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FolderAnswer {
    /// The files with blocks, sorted by path.
    files: Vec<FileSummary>,
    /// How many more files there are, which were not looked into.
    left_out: usize,
}

/// What is known of one file.
#[derive(Debug, Serialize, JsonSchema)]
struct FileSummary {
    /// The path, relative to the workspace.
    path: RelativePath,
    /// The number of blocks.
    blocks: usize,
    /// How many of them have a record.
    recorded: usize,
    /// How many lines of the blocks say something, and of how many of them a record is known.
    lines: BroughtLines,
    /// The intents of these lines.
    intents: BTreeSet<String>,
}

pub(super) fn summary(context: &Context, target: &FileTarget) -> Result<FolderAnswer, CliError> {
    let workspace = context.workspace_of(target)?;
    if workspace.git().is_none() {
        workspace.governed()?;
    }
    let workspace = workspace.with_kept_answers();
    let paths = shared::files_below(&workspace, target)?;
    let left_out = paths.len().saturating_sub(MAX_FILES);
    let files = paths.iter().take(MAX_FILES).filter_map(|path| {
        let answer = on_disk(&workspace, path, Which::All).ok()?;
        let recorded = answer.blocks.iter().filter(|one| one.verdict != Verdict::Unrecorded);
        let shares = answer.blocks.iter().flat_map(|block| &block.shares);
        (!answer.blocks.is_empty()).then(|| FileSummary {
            path: path.clone(),
            blocks: answer.blocks.len(),
            recorded: recorded.count(),
            lines: BroughtLines::recorded_in(&answer.blocks),
            intents: shares.filter_map(|share| share.intent.clone()).collect(),
        })
    });
    Ok(FolderAnswer { files: files.collect(), left_out })
}

pub(super) fn show(page: &mut Page, answer: &FolderAnswer) {
    if answer.files.is_empty() {
        page.line("There is no file with blocks below this folder");
    }
    page.table(0, answer.files.iter().map(row));
    if answer.left_out > 0 {
        page.text(counted(answer.left_out, "more file"));
        page.line(" not looked into; name a folder below this one");
    }
}

fn row(file: &FileSummary) -> Vec<Cell> {
    let intents: Vec<&str> = file.intents.iter().map(String::as_str).collect();
    vec![
        Cell::new(PLAIN, file.path.as_str()),
        Cell::new(DIM, format!("{} recorded", file.lines.in_words())),
        Cell::new(INTENT, intents.join(", ")),
    ]
}
