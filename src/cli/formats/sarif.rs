//! SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), within the limits of GitHub's
//! code scanning: it shows 5,000 results of a run, and a file may have 10 MB when compressed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{by_severity, message_with_help, path};
use ground::key_links::percent_encoded;
use ground::{Code, Level};
use judgement::check::CheckAnswer;
use why::findings::FindingAnswer;

/// The most results that GitHub shows of one run.
const MAX_RESULTS: usize = 5_000;

pub(super) fn log(answer: &CheckAnswer, folder: &str) -> Value {
    let mut findings = by_severity(answer);
    let left_out = findings.len().saturating_sub(MAX_RESULTS);
    findings.truncate(MAX_RESULTS);
    let codes: BTreeSet<Code> =
        findings.iter().filter_map(|finding| Code::parse(&finding.code)).collect();
    let codes = Vec::from_iter(codes);
    let results: Vec<Value> =
        findings.iter().map(|finding| result(finding, &codes, folder)).collect();
    let left_out = (left_out > 0).then(|| format!("{left_out} more findings are left out."));
    let notes = answer.summary.notes.iter().chain(&left_out);
    let notes = notes.map(|note| json!({ "level": "note", "message": { "text": note } }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "intent-lsp",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            } },
            "columnKind": "utf16CodeUnits",
            "automationDetails": { "id": "intent/check/" },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notes.collect::<Vec<_>>(),
            }],
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    let words = code.as_str().split('-').map(|word| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_ascii_uppercase())
    });
    json!({
        "id": code.as_str(),
        "name": words.collect::<String>(),
        "shortDescription": { "text": code.summary() },
        "fullDescription": { "text": code.summary() },
        "help": { "text": format!("docs/diagnostics/{}.md of intent-lsp explains it.", code.as_str()) },
        "defaultConfiguration": { "level": level(code.check_default()) },
    })
}

fn result(finding: &FindingAnswer, codes: &[Code], folder: &str) -> Value {
    let uri = percent_encoded(&path(finding, folder), b"/");
    let start = finding.start_line.unwrap_or(1);
    let place = json!({
        "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": start, "endLine": finding.end_line.unwrap_or(start).max(start) },
    });
    let at = Code::parse(&finding.code).and_then(|code| codes.iter().position(|it| *it == code));
    let mut result = json!({
        "ruleId": finding.code,
        "level": level(finding.level),
        "message": { "text": message_with_help(finding) },
        "locations": [{ "physicalLocation": place }],
        "partialFingerprints": { "intentFinding/v1": finding.fingerprint },
    });
    if let Some(at) = at {
        result["ruleIndex"] = json!(at);
    }
    if let Some(intent) = &finding.intent {
        result["properties"] = json!({ "intent": intent });
    }
    result
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info | Level::Hint => "note",
        Level::Off => "none",
    }
}
