//! The formats of GitLab and GitHub.

use serde_json::{Value, json};

use super::{by_severity, message_with_help, path};
use ground::Level;
use ground::text::{self, counted};
use judgement::check::CheckAnswer;

/// Returns the findings as a GitLab code quality report: a list of issues in the format of Code
/// Climate. Every issue needs a line.
pub(super) fn gitlab(answer: &CheckAnswer, folder: &str) -> Value {
    let issues = by_severity(answer).into_iter().map(|finding| {
        let begin = finding.start_line.unwrap_or(1);
        json!({
            "description": message_with_help(finding),
            "check_name": finding.code,
            "fingerprint": finding.fingerprint,
            "severity": match finding.level {
                Level::Error => "major",
                Level::Warning => "minor",
                Level::Info | Level::Hint | Level::Off => "info",
            },
            "location": {
                "path": path(finding, folder),
                "lines": { "begin": begin, "end": finding.end_line.unwrap_or(begin).max(begin) },
            },
        })
    });
    Value::Array(issues.collect())
}

/// Returns the findings as workflow commands of GitHub, the most severe first, because GitHub shows
/// only ten of each kind per step.
pub(super) fn github(answer: &CheckAnswer, folder: &str) -> String {
    let mut text = String::new();
    for finding in by_severity(answer) {
        let kind = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            _ => "notice",
        };
        let mut properties = Vec::new();
        if finding.path.is_some() {
            properties.push(format!("file={}", property(&path(finding, folder))));
            let lines = finding.start_line.map(|start| (start, finding.end_line.unwrap_or(start)));
            properties.extend(lines.map(|(start, end)| format!("line={start},endLine={end}")));
        }
        properties.push(format!("title={}", property(&finding.code)));
        let message = data(&message_with_help(finding));
        text.push_str(&format!("::{kind} {}::{message}\n", properties.join(",")));
    }
    let summary = &answer.summary;
    let uncovered = match summary.uncovered {
        0 => String::new(),
        many => format!("; {} covered by no record", counted(many, "change")),
    };
    text.push_str(&data(&format!(
        "{}, {} in {} of {}{uncovered}",
        counted(summary.errors, "error"),
        counted(summary.warnings, "warning"),
        counted(summary.blocks, "changed block"),
        counted(summary.files, "changed file"),
    )));
    text.push('\n');
    text
}

fn data(text: &str) -> String {
    text::visible(text, true).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
