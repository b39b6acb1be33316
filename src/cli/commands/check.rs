//! `intent check`: judges whether a whole change agrees with intents, scopes and ledger.

use std::path::PathBuf;

use clap::ValueEnum as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::formats::{self, CheckFormat};
use crate::cli::print::{DIM, GOOD, Page};
use crate::cli::ssh::SshKeygen;
use crate::cli::{CliError, Context, Exit};
use code::LineRange;
use ground::git::short_id;
use ground::{Code, Level, store, text};
use judgement::after;
use judgement::check::{
    CheckAnswer, CheckRequest, ComparedSides, KnownFindings, UncoveredChange, change_signed,
};
use overview::own_setup::check_request;
use why::findings::FindingAnswer;

/// Judge a whole change: does it agree with intents, scopes and ledger?
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares the working tree with HEAD where nothing else is said. A change that is to be
merged is judged by the rules of the branch that it goes into, as they are now: what it
brings along grants nothing. Exit code 1 when there is an error; --fail-on moves the line.

What no record covers is held against the intent that the work is bound to: --intent, else
what is selected, for what is in no commit yet, else the trailers `Intent-Id: INT-001` of
the commits, else the branch by a pattern of the policy (`branches`).

Examples:
  intent check                      what is not committed yet
  intent check --staged             in a pre-commit hook
  intent check --base origin/main   in CI, a whole branch
  intent check main..topic          what topic brings, whatever is checked out
  intent check --base origin/main --also sarif=intent.sarif
  intent check --write-baseline     when a team begins: leave out what is there now")]
pub struct CheckArgs {
    /// Judge what TO changed since it left FROM; neither the work tree nor the index is read
    #[arg(value_name = "FROM..TO", conflicts_with_all = ["base", "staged"], value_parser = range)]
    range: Option<(String, String)>,

    /// Compare the work tree with the commit where it left REV, by the rules of REV
    #[arg(long, value_name = "REV", conflicts_with = "staged")]
    base: Option<String>,

    /// Compare the index with HEAD
    #[arg(long)]
    staged: bool,

    /// The intent to assume for changes that no record covers
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// The branch of the change, where it is not the one that is checked out; with --base or FROM..TO
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,

    /// Also find recorded blocks, in all files, whose intent or specification changed since
    #[arg(long)]
    suspect: bool,

    /// The lowest level that fails
    #[arg(long, value_parser = fail_on(), value_name = "LEVEL", default_value = "error")]
    fail_on: FailOn,

    /// How the answer is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = CheckFormat::Text)]
    format: CheckFormat,

    /// Also write the answer in this format to this file, so that one check serves a log and a
    /// report; may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = written_copy)]
    also: Vec<(CheckFormat, PathBuf)>,

    /// Leave out the findings that this file lists, named from the root of the workspace [default
    /// file: .orchestration/baseline.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = KnownFindings::FILE)]
    baseline: Option<PathBuf>,

    /// Write the findings of this run to this file, named as for --baseline, and print none
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = KnownFindings::FILE,
        conflicts_with_all = ["baseline", "format", "also"]
    )]
    write_baseline: Option<PathBuf>,

    /// List every change that no record covers, instead of only counting them
    #[arg(long, short)]
    verbose: bool,
}

/// The lowest level that fails the check, or `None` if no finding fails it.
#[derive(Clone, Debug)]
struct FailOn(Option<Level>);

fn fail_on() -> impl TypedValueParser<Value = FailOn> {
    // `never` is no level.
    PossibleValuesParser::new(["error", "warning", "info", "hint", "never"])
        .map(|word| FailOn(shared::of_json_word(word)))
}

/// A baseline that was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BaselineAnswer {
    /// The file, relative to the workspace.
    written: String,
    /// How many findings it lists.
    findings: usize,
}

pub fn run(context: &Context, args: CheckArgs) -> Result<Exit, CliError> {
    let against = match (args.range, args.base, args.staged) {
        (Some((from, to)), ..) => ComparedSides::Range { from, to },
        (None, Some(revision), _) => ComparedSides::Base(revision),
        (None, None, true) => ComparedSides::Staged,
        (None, None, false) => ComparedSides::Head,
    };
    let CheckArgs { intent, branch, suspect, .. } = args;
    if branch.is_some() && matches!(against, ComparedSides::Head | ComparedSides::Staged) {
        return Err(CliError::usage(
            "--branch is about a change that is to be merged",
            "say into which: `intent check --base REV --branch NAME`, or `intent check FROM..TO --branch NAME`",
        ));
    }
    let workspace = context.open_workspace()?;
    let in_workspace = |file: &PathBuf| workspace.path(workspace.root.path(), file);
    let baseline = args.baseline.as_ref().map(in_workspace).transpose()?;
    let written = args.write_baseline.as_ref().map(in_workspace).transpose()?;
    if !matches!(against, ComparedSides::Range { .. }) {
        after::see_left_running(&workspace);
    }
    let format = if context.printer.json_asked { CheckFormat::Json } else { args.format };
    let mut formats = args.also.iter().map(|(format, _)| *format).chain([format]);
    let is_data = formats.any(|format| format == CheckFormat::Json);
    let request = CheckRequest {
        against,
        intent,
        branch,
        suspect,
        with_class: is_data,
        baseline,
        ..check_request()
    };
    let mut answer = change_signed(&workspace, &request, &SshKeygen::of_machine(&workspace))?;
    let lacks_history = answer.summary.lacks_history;
    if let Some(path) = written.filter(|_| !lacks_history) {
        let known = KnownFindings::from_findings(&answer.findings);
        store::write_atomic(&workspace.root.absolute(&path), known.text().as_bytes())?;
        let answer = BaselineAnswer { written: path.to_string(), findings: answer.findings.len() };
        return context.answer(&answer, |page| {
            page.label(GOOD, "✓").text(&answer.written).literal(" lists ");
            page.count(answer.findings, "finding");
            page.line("; `intent check --baseline` leaves them out");
        });
    }
    let FailOn(least) = if lacks_history { FailOn(Some(Level::Error)) } else { args.fail_on };
    let fails = |finding: &FindingAnswer| least.is_some_and(|least| finding.level >= least);
    let exit = match lacks_history {
        true => Exit::Usage,
        false => Exit::found(answer.findings.iter().any(fails)),
    };
    // Many people do not record what they write. Except in JSON, they get one total for all uncovered
    // changes, unless these fail the check.
    let whole = answer.clone();
    let is_told = |it: &FindingAnswer| args.verbose || fails(it) || !is_uncovered(it);
    answer.findings.retain(is_told);
    let document = |format| {
        let shown = if format == CheckFormat::Json { &whole } else { &answer };
        formats::document(format, shown, least, &workspace.root)
    };
    for (format, file) in &args.also {
        let text = document(*format)?.unwrap_or_default();
        store::write_atomic(&context.cwd.join(file), text.as_bytes())?;
    }
    match format {
        CheckFormat::Json => context.printer.json(&whole)?,
        CheckFormat::Text => context.answer(&answer, |page| show(page, &answer, args.verbose))?,
        _ => context.printer.document(document(format)?.unwrap_or_default().as_bytes())?,
    };
    Ok(exit)
}

fn written_copy(text: &str) -> Result<(CheckFormat, PathBuf), String> {
    let parsed = text.split_once('=').and_then(|(format, file)| {
        let format = CheckFormat::from_str(format, true).ok();
        format.filter(|format| *format != CheckFormat::Text && !file.is_empty()).zip(Some(file))
    });
    let (format, file) = parsed.ok_or("write a format and a file, such as sarif=intent.sarif; the formats are json, sarif, junit, gitlab, github and markdown")?;
    Ok((format, PathBuf::from(file)))
}

/// Parses `main..topic`. An end that is left out is `HEAD`. `main...topic` means the same, because
/// the comparison always begins at the merge base.
fn range(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once("..").ok_or_else(|| {
        format!("`{text}` is no range; write {text}..HEAD, or --base {text} for the work tree")
    })?;
    let end = |revision: &str| if revision.is_empty() { "HEAD" } else { revision }.to_owned();
    Ok((end(from), end(to.trim_start_matches('.'))))
}

fn show(page: &mut Page, answer: &CheckAnswer, is_verbose: bool) {
    shared::findings(page, &answer.findings);
    let summary = &answer.summary;
    let is_told = |it: &&UncoveredChange| {
        let start = it.lines.map(LineRange::start);
        let mut here = answer.findings.iter().filter(|finding| finding.start_line == start);
        here.any(|finding| finding.path.as_deref() == Some(it.path.as_str()))
    };
    let untold = summary.uncovered_changes.iter().filter(|it| !is_told(it));
    let mut untold: Vec<&UncoveredChange> = untold.collect();
    if is_verbose {
        for one in untold.drain(..) {
            page.text(one.path.as_str());
            if let Some(lines) = one.lines {
                page.literal(":").text(lines.start());
            }
            page.literal(": ").text(&one.what).line(", and no record covers it.");
        }
    }
    let mut left_out: Vec<&str> = untold.iter().map(|it| it.path.as_str()).collect();
    left_out.dedup();
    page.gap();
    shared::notes(page, &summary.notes);
    if answer.findings.is_empty() {
        page.styled(GOOD, "✓").literal(" no findings in ");
    } else {
        shared::totals(page, summary.errors, summary.warnings);
        page.literal(" in ");
    }
    page.count(summary.blocks, "changed block").literal(" of ");
    page.count(summary.files, "changed file");
    if summary.blocks > 0 {
        page.literal("; ").text(summary.recorded).literal(" recorded");
    }
    if summary.uncovered > 0 {
        page.literal(", ").count(summary.uncovered, "change").literal(" covered by no record");
        if !left_out.is_empty() {
            page.literal(" in ").text(text::listed(&left_out)).literal(" (--verbose lists them)");
        }
    }
    if summary.known > 0 {
        page.literal(", ").count(summary.known, "finding").literal(" of the baseline left out");
    }
    page.end();
    if let Some(base) = &summary.base {
        page.label(DIM, "compared with");
        page.styled(DIM, short_id(base)).end();
    }
}

fn is_uncovered(finding: &FindingAnswer) -> bool {
    let codes = [Code::UnrecordedChange, Code::Unowned].map(Code::as_str);
    finding.level == Level::Hint && codes.contains(&finding.code.as_str())
}
