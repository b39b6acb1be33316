//! Writes the answer of `intent check` in the formats that forges and CI systems read.

mod forge;
mod junit;
mod markdown;
mod sarif;

use crate::cli::CliError;
use crate::cli::print::Printer;
use crate::verbs::check::{CheckAnswer, FindingAnswer};
use crate::workspace::{Level, text};

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

/// Writes the answer in `format`, and returns true. Returns false, and writes nothing, for text and
/// JSON, which the caller prints. A finding at the level `least` or above counts as a failure.
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
    };
    Ok(true)
}

/// Returns the message of a finding, followed by its help.
fn message_with_help(finding: &FindingAnswer) -> String {
    let FindingAnswer { message, help, .. } = finding;
    text::visible(&format!("{message} {help}"), true).trim_end().to_owned()
}

/// Returns the path to report for a finding. A finding about the whole workspace is reported at the
/// registry, because the formats need a file.
fn path(finding: &FindingAnswer) -> &str {
    finding.path.as_deref().unwrap_or(".orchestration/active_intents.yaml")
}

/// Returns the findings, the most severe first.
fn by_severity(answer: &CheckAnswer) -> Vec<&FindingAnswer> {
    let mut findings: Vec<_> = answer.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}

#[cfg(test)]
mod tests;
