//! A summary of a change for its pull request. The same change always gives the same text, and the
//! first line marks the comment, so a bot can find its comment and update it.

use std::fmt::Write as _;

use super::by_severity;
use ground::Level;
use ground::text::{self, counted, percents};
use judgement::check::{CheckAnswer, Share};
use why::findings::FindingAnswer;

/// The most findings to list. A comment on GitHub holds at most 65,536 characters.
const MAX_FINDINGS: usize = 50;
/// The length of the summary, in bytes, after which no more findings are listed.
const MAX_LENGTH: usize = 40_000;
const MAX_TEXT: usize = 500;
const MAX_ROWS: usize = 30;

pub(super) fn summary(answer: &CheckAnswer, least: Option<Level>) -> String {
    let summary = &answer.summary;
    let failing = |finding: &&FindingAnswer| least.is_some_and(|least| finding.level >= least);
    let fails = answer.findings.iter().filter(failing).count();
    let mut text = String::from("<!-- intent check -->\n");
    let verdict = match fails {
        0 => "✅ Intents: nothing stands against this change".to_owned(),
        _ => format!("❌ Intents: {} against this change", counted(fails, "finding")),
    };
    line(&mut text, format!("### {verdict}\n"));
    let (blocks, files) = (summary.blocks, summary.files);
    let changed =
        format!("{} of {}", counted(blocks, "changed block"), counted(files, "changed file"));
    let uncovered = counted(summary.uncovered, "change");
    let recorded = format!("{} recorded, {uncovered} covered by no record", summary.recorded);
    let (errors, warnings) =
        (counted(summary.errors, "error"), counted(summary.warnings, "warning"));
    line(&mut text, format!("{changed}, {recorded}. {errors}, {warnings}.\n"));
    shares(&mut text, ("Intent", "no intent"), &summary.intents, summary.lines);
    shares(&mut text, ("Written by", "no record"), &summary.contributors, summary.lines);
    let suspects = answer.findings.iter().filter(|finding| finding.code == "suspect").count();
    if suspects > 0 {
        let blocks = counted(suspects, "block");
        let since = "of an intent or a specification that changed since: suspect.";
        line(&mut text, format!("⚠️ {blocks} {since}\n"));
    }
    findings(&mut text, answer);
    if !summary.notes.is_empty() {
        line(&mut text, "**For the reviewer**\n");
        for note in summary.notes.iter().take(MAX_ROWS) {
            line(&mut text, format!("- {}", escaped(note)));
        }
        write_rest(&mut text, summary.notes.len(), MAX_ROWS);
    }
    text
}

fn shares(text: &mut String, (title, rest): (&str, &str), shares: &[Share], all: usize) {
    let shares: Vec<&Share> = shares.iter().filter(|share| share.lines > 0).collect();
    if shares.is_empty() {
        return;
    }
    line(text, format!("| {title} | lines | share |\n| --- | ---: | ---: |"));
    let open = all.saturating_sub(shares.iter().map(|share| share.lines).sum());
    let lines: Vec<usize> = shares.iter().map(|share| share.lines).chain([open]).collect();
    let percents = percents(&lines);
    for (Share { id, name, lines, .. }, percent) in shares.iter().zip(&percents).take(MAX_ROWS) {
        let name = name.as_deref().map(|name| format!(" {}", escaped(name))).unwrap_or_default();
        line(text, format!("| {}{name} | {lines} | {percent} |", escaped(id)));
    }
    if open > 0 {
        line(text, format!("| *{rest}* | {open} | {} |", percents[shares.len()]));
    }
    write_rest(text, shares.len(), MAX_ROWS);
    text.push('\n');
}

fn findings(text: &mut String, answer: &CheckAnswer) {
    let told = by_severity(answer);
    if told.is_empty() {
        return;
    }
    line(text, "<details open><summary>Findings</summary>\n");
    line(text, "| | where | what |\n| --- | --- | --- |");
    let mut shown = 0;
    for finding in told.iter().take(MAX_FINDINGS) {
        if text.len() > MAX_LENGTH {
            break;
        }
        shown += 1;
        let mark = match finding.level {
            Level::Error => "❌",
            Level::Warning => "⚠️",
            _ => "ℹ️",
        };
        let path = finding.path.as_deref().unwrap_or("workspace");
        let at = finding.start_line.map(|line| format!(":{line}")).unwrap_or_default();
        // A `|` ends the cell of a table, even inside a code span.
        let place = text::shorten(&format!("{path}{at}"), MAX_TEXT);
        let place = text::markdown_code(&place).replace('|', "\\|");
        let (message, help) = (escaped(&finding.message), escaped(&finding.help));
        line(text, format!("| {mark} | {place} | **{}** {message}<br>{help} |", finding.code));
    }
    write_rest(text, told.len(), shown);
    line(text, "\n</details>\n");
}

fn write_rest(text: &mut String, all: usize, shown: usize) {
    if all > shown {
        line(text, format!("\n… and {} more.", all - shown));
    }
}

fn line(text: &mut String, line: impl AsRef<str>) {
    writeln!(text, "{}", line.as_ref()).expect("a text takes every line");
}

/// Cuts and escapes text that others wrote: Markdown shows it literally, and `@name` mentions
/// nobody.
fn escaped(text: &str) -> String {
    text::markdown(&text::shorten(text, MAX_TEXT)).replace("\\@", "@<!-- -->")
}
