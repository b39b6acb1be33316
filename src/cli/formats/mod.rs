//! Writes the answer of `intent check` in the formats that forges and CI systems read.

mod forge;
mod junit;
mod markdown;
mod sarif;

use serde::Serialize;

use crate::cli::CliError;
use crate::cli::print;
use ground::{Level, Root, text};
use judgement::check::CheckAnswer;
use why::findings::FindingAnswer;

/// How the answer of `intent check` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckFormat {
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

/// Returns the answer in `format`. `None` for text, which the caller prints as a page. A finding at the
/// level `least` or above counts as a failure. `root` is the workspace that the findings are about.
pub fn document(
    format: CheckFormat,
    answer: &CheckAnswer,
    least: Option<Level>,
    root: &Root,
) -> Result<Option<String>, CliError> {
    let folder = &folder_below_top(root);
    let text = match format {
        CheckFormat::Text => return Ok(None),
        CheckFormat::Json => json(answer)?,
        CheckFormat::Sarif => json(&sarif::log(answer, folder))?,
        CheckFormat::Gitlab => json(&forge::gitlab(answer, folder))?,
        CheckFormat::Junit => junit::report(answer, least)?,
        CheckFormat::Github => forge::github(answer, folder),
        CheckFormat::Markdown => markdown::summary(answer, least),
    };
    Ok(Some(text))
}

fn json<T: Serialize>(answer: &T) -> Result<String, CliError> {
    print::json_line(answer).map_err(|error| CliError::io("the answer", "written as JSON", error))
}

fn message_with_help(finding: &FindingAnswer) -> String {
    let FindingAnswer { message, help, .. } = finding;
    text::visible(&format!("{message} {help}"), true).trim_end().to_owned()
}

/// Returns the folder of the workspace below the top of the work tree, with a `/` at its end, or an
/// empty text. Forges take paths from the top of the repository.
fn folder_below_top(root: &Root) -> String {
    let below = root.work_tree().and_then(|top| root.path().strip_prefix(top).ok());
    below.into_iter().flatten().map(|name| format!("{}/", name.to_string_lossy())).collect()
}

/// Returns the path to report for a finding, from the top of the repository. `folder` is the result
/// of [`folder_below_top`]. A finding about the whole workspace is reported at the registry, because
/// the formats need a file.
fn path(finding: &FindingAnswer, folder: &str) -> String {
    let path = finding.path.as_deref().unwrap_or(".orchestration/active_intents.yaml");
    format!("{folder}{path}")
}

fn by_severity(answer: &CheckAnswer) -> Vec<&FindingAnswer> {
    let mut findings: Vec<_> = answer.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}

#[cfg(test)]
mod tests;
