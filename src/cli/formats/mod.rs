//! The answer of `intent check` in the formats that forges and CI systems read.

mod forge;
mod junit;
mod markdown;
mod sarif;

use crate::cli::error::CliError;
use crate::cli::print::Printer;
use crate::verbs::check::{CheckAnswer, FindingAnswer};
use crate::workspace::{Level, text};

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people
    Text,
    /// The same as --json
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for Jenkins and test reports
    Junit,
    /// A code quality report of GitLab
    Gitlab,
    /// Lines that GitHub shows beside the code
    Github,
    /// A summary for a pull request
    Markdown,
}

/// Writes the answer; true where the format is none of those that people or programs of ours read. From `least` on a
/// finding fails.
pub(crate) fn write(
    printer: Printer,
    format: CheckFormat,
    answer: &CheckAnswer,
    least: Option<Level>,
) -> Result<bool, CliError> {
    match format {
        CheckFormat::Text | CheckFormat::Json => return Ok(false),
        CheckFormat::Sarif => printer.json(&sarif::log(answer))?,
        CheckFormat::Gitlab => printer.json(&forge::gitlab(answer))?,
        CheckFormat::Junit => printer.document(junit::report(answer, least)?.as_bytes())?,
        CheckFormat::Github => printer.document(forge::github(answer).as_bytes())?,
        CheckFormat::Markdown => printer.document(markdown::summary(answer, least).as_bytes())?,
    }
    Ok(true)
}

/// The text of a finding with what to do about it.
fn told(finding: &FindingAnswer) -> String {
    let FindingAnswer { message, help, .. } = finding;
    text::visible(&format!("{message} {help}"), true).trim_end().to_owned()
}

/// The file that a finding is shown at: that of the intents, where it is about the workspace as a whole.
fn path(finding: &FindingAnswer) -> &str {
    finding.path.as_deref().unwrap_or(".orchestration/active_intents.yaml")
}

/// The findings, the loudest first.
fn loudest(answer: &CheckAnswer) -> Vec<&FindingAnswer> {
    let mut findings: Vec<_> = answer.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}

#[cfg(test)]
mod tests;
