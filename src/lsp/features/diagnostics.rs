//! Computes the diagnostics of a document. The same function serves clients that pull and clients
//! to which diagnostics are pushed.
//!
//! A file of code is judged by intents, scopes and records. The registry, the policy, the ignore
//! files and the open records are judged by their own rules. Open files are judged as the editor shows
//! them, other files as they are on disk.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tower_lsp::lsp_types as lsp;

use super::mention::{self, ShownRegistry};
use crate::convert;
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, GovernedFile, WorkspaceView};
use code::Document;
use ground::{
    Code, Finding, IGNORE_FILES, Ignores, POLICY, Policy, RelatedPlace, RelativePath, text,
};
use intents::lint;
use judgement::check;
use overview::own_setup::is_own_setup;
use why::Workspace;
use why::rules::Rules;

pub(crate) const SOURCE: &str = "intent";

/// The largest number of diagnostics of one file. A broken ledger can have a finding on each line.
const MAX_OF_A_FILE: usize = 200;

pub(crate) fn diagnose(snapshot: &Snapshot, uri: &lsp::Url) -> Vec<lsp::Diagnostic> {
    let Some(file) = workspace_view::shown_file(snapshot, uri) else { return Vec::new() };
    if !file.view.workspace.root.governed() {
        return Vec::new();
    }
    let findings = findings(&file);
    let shown = findings.iter().filter_map(|one| {
        let range = in_document(&file, one)?;
        diagnostic(file.view, one, range)
    });
    in_order(shown.collect())
}

/// Returns the findings in an open document, in no particular order. Their spans are bytes of its
/// text.
pub(crate) fn findings(file: &GovernedFile<'_>) -> Vec<Finding> {
    if let Some(findings) = governing_findings(file) {
        return findings;
    }
    let view = file.view;
    let analysis = file.analyse();
    let baseline = file.baseline();
    let survey = view.survey();
    let rules = rules_with_unsaved(view, survey.rules(view.workspace));
    let (workspace, path) = (view.workspace, &file.path);
    let mut findings =
        check::document(workspace, &rules, path, &analysis.file, &baseline, is_own_setup);
    let is_here = |finding: &&Finding| {
        finding.code == Code::UngatedWrite && finding.path.as_ref() == Some(&file.path)
    };
    findings.extend(survey.findings.iter().filter(is_here).cloned());
    mention_older_registry(view, &mut findings);
    findings
}

fn mention_older_registry(view: WorkspaceView<'_>, findings: &mut [Finding]) {
    if findings.is_empty() {
        return;
    }
    let Some(said) = mention::older_registry(view) else { return };
    for finding in findings {
        let gap = if finding.help.is_empty() { "" } else { " " };
        finding.help = format!("{}{gap}{said}", finding.help);
    }
}

/// Returns the rules that hold once the registry is saved as the editor shows it.
fn rules_with_unsaved(view: WorkspaceView<'_>, rules: &Rules) -> Rules {
    let shown = ShownRegistry::existing(view);
    match shown.filter(|shown| !shown.registry.same_text(&view.workspace.registry)) {
        Some(shown) if shown.registry.syntax_error().is_none() => {
            rules.clone().once_saved(Arc::clone(&shown.registry))
        }
        _ => rules.clone(),
    }
}

/// Returns the findings in a file that governs the workspace. `None` for any other file.
fn governing_findings(file: &GovernedFile<'_>) -> Option<Vec<Finding>> {
    let GovernedFile { view, open, path, .. } = file;
    let workspace = view.workspace;
    let of_survey = |wanted: Option<&RelativePath>| -> Vec<Finding> {
        let survey = view.survey();
        let found = survey.findings.iter().filter(|finding| finding.path.as_ref() == wanted);
        found.cloned().collect()
    };
    if let Some(shown) = ShownRegistry::existing(*view)
        && file.is_registry()
    {
        let mut findings = lint::registry(&shown.registry);
        if !shown.registry.intents().is_empty() {
            findings.extend(lint::against_files(&shown.registry, &view.survey().files));
        }
        findings.retain(|finding| finding.path.as_ref() == Some(path));
        if shown.registry.syntax_error().is_some() {
            mention_older_registry(*view, &mut findings);
        }
        // The findings that belong to no file are shown in the registry.
        if path == workspace.registry.path() {
            findings.extend(of_survey(None));
        }
        return Some(findings);
    }
    match path.as_str() {
        POLICY => Some(Policy::parse(path, &open.document.text()).1),
        name if IGNORE_FILES.contains(&name) => {
            let texts = [(path.clone(), open.document.text())];
            let ignores = Ignores::from_texts(&workspace.root, &texts);
            let strangers = lint::ignored_intents(&workspace.registry, &ignores);
            Some(ignores.findings().iter().cloned().chain(strangers).collect())
        }
        _ if path.is_orchestration() => Some(of_survey(Some(path))),
        _ => None,
    }
}

/// Returns the findings in governing files that are not open, as they are on disk, by address. A
/// broken file must be reported even if nobody opens it. Runs on a worker whenever the workspace
/// was loaded.
pub(crate) fn unopened(snapshot: &Snapshot, root: &Path) -> Vec<(lsp::Url, Vec<lsp::Diagnostic>)> {
    let Some(workspace) = snapshot.workspace_at(root) else { return Vec::new() };
    let view = snapshot.view(workspace);
    let mut files: BTreeMap<&RelativePath, Vec<lsp::Diagnostic>> = BTreeMap::new();
    let survey = view.survey();
    for finding in survey.findings.iter().chain(survey.deleted_file_findings(workspace)) {
        let path = finding.path.as_ref().unwrap_or_else(|| workspace.registry.path());
        let mut finding = finding.clone();
        if finding.code == Code::RegistrySyntax {
            mention_older_registry(view, std::slice::from_mut(&mut finding));
        }
        if let Some(diagnostic) = diagnostic(view, &finding, on_disk(view, &finding)) {
            files.entry(path).or_default().push(diagnostic);
        }
    }
    let files = files.into_iter();
    files.filter_map(|(path, found)| Some((view.address(path)?, in_order(found)))).collect()
}

/// Returns the diagnostic of a finding. `None` if its code is switched off.
fn diagnostic(
    view: WorkspaceView<'_>,
    finding: &Finding,
    range: lsp::Range,
) -> Option<lsp::Diagnostic> {
    let Snapshot { settings, client, .. } = view.snapshot;
    let severity = convert::severity(settings.level(finding.code, &view.workspace.policy))?;
    let places: Vec<_> =
        finding.related.iter().filter_map(|place| related_information(view, place)).collect();
    let mut message = text::visible(&finding.message, true);
    if !finding.help.is_empty() {
        message = format!("{message}\n{}", text::visible(&finding.help, true));
    }
    if !client.related_information {
        for related in &finding.related {
            let (path, line) = (text::visible(related.path.as_str(), false), related.lines);
            let what = text::visible(&related.message, false);
            message = format!("{message}\n{path}:{}: {what}", line.start());
        }
    }
    let is_idle = matches!(finding.code, Code::GlobMatchesNothing | Code::LedgerDuplicate);
    Some(lsp::Diagnostic {
        range,
        severity: Some(severity),
        code: Some(lsp::NumberOrString::String(finding.code.as_str().to_owned())),
        code_description: page(view.snapshot, finding.code),
        source: Some(SOURCE.into()),
        message,
        tags: (is_idle && client.diagnostic_unnecessary)
            .then(|| vec![lsp::DiagnosticTag::UNNECESSARY]),
        related_information: (client.related_information && !places.is_empty()).then_some(places),
        data: client.diagnostic_data.then(|| data(view.workspace, finding)),
    })
}

/// Returns the data with which a program can act without parsing the message.
fn data(workspace: &Workspace, finding: &Finding) -> serde_json::Value {
    let owners = finding.path.as_ref().map(|path| workspace.registry.owners(path));
    let owners = owners.iter().flatten().map(|intent| intent.id.value.as_str());
    let owners: Vec<&str> = owners.collect();
    json!({ "intent": finding.intent, "owners": owners, "help": finding.help })
}

fn page(snapshot: &Snapshot, code: Code) -> Option<lsp::CodeDescription> {
    let template = snapshot.settings.docs_url.as_ref()?;
    let href = template.replace("{code}", code.as_str()).parse().ok()?;
    snapshot.client.code_description.then_some(lsp::CodeDescription { href })
}

fn related_information(
    view: WorkspaceView<'_>,
    related: &RelatedPlace,
) -> Option<lsp::DiagnosticRelatedInformation> {
    let uri = view.address(&related.path)?;
    let shown = ShownRegistry::existing(view);
    let registry = shown.as_ref().map_or(&view.workspace.registry, |shown| &shown.registry);
    let range = match registry.file(&related.path) {
        Some(file) => view.range(&Document::from_text("", file.text()), related.span.clone()),
        None => convert::range_of_lines(related.lines),
    };
    let message = text::visible(&related.message, false);
    Some(lsp::DiagnosticRelatedInformation { location: lsp::Location { uri, range }, message })
}

/// Returns the range of a finding in an open document. `None` if it is in another cell.
fn in_document(file: &GovernedFile<'_>, finding: &Finding) -> Option<lsp::Range> {
    let bytes = match (&finding.span, finding.lines) {
        (Some(span), _) => {
            // The ledger may have grown on disk since it was opened.
            let end = span.end.min(file.open.document.len_bytes());
            span.start.min(end)..end
        }
        (None, _) if file.cell.is_none() => return Some(range_of_lines(finding)),
        (None, lines) => lines.map_or(0..0, |lines| file.bytes_of_lines(lines)),
    };
    file.shows(&bytes).then(|| on_one_line(file.range(bytes)))
}

fn on_disk(view: WorkspaceView<'_>, finding: &Finding) -> lsp::Range {
    let path = finding.path.as_ref();
    let file = path.and_then(|path| view.workspace.registry_on_disk().file(path));
    match (file, finding.span.clone()) {
        (Some(file), Some(span)) => {
            on_one_line(view.range(&Document::from_text("", file.text()), span))
        }
        _ => range_of_lines(finding),
    }
}

fn range_of_lines(finding: &Finding) -> lsp::Range {
    finding.lines.map(convert::range_of_lines).unwrap_or_default()
}

/// Cuts a range after its first line, because a squiggle below a whole block would hide its start.
fn on_one_line(range: lsp::Range) -> lsp::Range {
    if range.end.line == range.start.line {
        return range;
    }
    let end = lsp::Position { line: range.start.line + 1, character: 0 };
    lsp::Range { start: range.start, end }
}

fn in_order(mut diagnostics: Vec<lsp::Diagnostic>) -> Vec<lsp::Diagnostic> {
    let key = |it: &lsp::Diagnostic| {
        let code = match &it.code {
            Some(lsp::NumberOrString::String(code)) => code.clone(),
            _ => String::new(),
        };
        (it.range.start, it.range.end, code)
    };
    diagnostics.sort_by_cached_key(key);
    diagnostics.dedup();
    let more = diagnostics.len().saturating_sub(MAX_OF_A_FILE);
    diagnostics.truncate(MAX_OF_A_FILE);
    if let Some(last) = diagnostics.last_mut().filter(|_| more > 0) {
        last.message.push_str(&format!(
            "\n{more} more are not shown; `intent evidence verify` lists them."
        ));
    }
    diagnostics
}

/// `textDocument/diagnostic`. The id of the result is a hash of its content, so an equal result is
/// recognised whatever happened in between.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::DocumentDiagnosticParams,
) -> RequestResult<lsp::DocumentDiagnosticReportResult> {
    let items = (snapshot.diagnose)(snapshot, &params.text_document.uri);
    snapshot.check_cancelled()?;
    let result_id = result_id(&items);
    if params.previous_result_id.as_ref() == Some(&result_id) {
        let unchanged = lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                result_id,
            },
        };
        return Ok(lsp::DocumentDiagnosticReport::Unchanged(unchanged).into());
    }
    let full = lsp::RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport {
            result_id: Some(result_id),
            items,
        },
    };
    Ok(lsp::DocumentDiagnosticReport::Full(full).into())
}

/// `workspace/diagnostic`: the diagnostics of open documents, and those of other files that have any.
/// A file without any is named only if the client shows some of it.
pub(crate) fn of_workspaces(
    snapshot: &Snapshot,
    params: lsp::WorkspaceDiagnosticParams,
) -> RequestResult<lsp::WorkspaceDiagnosticReportResult> {
    let mut found: BTreeMap<lsp::Url, Vec<lsp::Diagnostic>> = BTreeMap::new();
    for workspace in snapshot.workspaces() {
        snapshot.check_cancelled()?;
        found.extend((snapshot.unopened)(snapshot, workspace.root.path()));
    }
    for open in snapshot.documents() {
        snapshot.check_cancelled()?;
        for uri in snapshot.shown_as(open) {
            found.insert(uri.clone(), (snapshot.diagnose)(snapshot, uri));
        }
    }
    let shown = params.previous_result_ids.into_iter();
    let shown: HashMap<lsp::Url, String> = shown.map(|one| (one.uri, one.value)).collect();
    for uri in shown.keys() {
        found.entry(uri.clone()).or_default();
    }
    found.retain(|uri, items| !items.is_empty() || shown.contains_key(uri));
    let report = |(uri, items): (lsp::Url, Vec<lsp::Diagnostic>)| {
        let (result_id, version) = (result_id(&items), snapshot.version_of(&uri).map(i64::from));
        if shown.get(&uri) == Some(&result_id) {
            let unchanged_document_diagnostic_report =
                lsp::UnchangedDocumentDiagnosticReport { result_id };
            let unchanged = lsp::WorkspaceUnchangedDocumentDiagnosticReport {
                uri,
                version,
                unchanged_document_diagnostic_report,
            };
            return lsp::WorkspaceDocumentDiagnosticReport::Unchanged(unchanged);
        }
        let full_document_diagnostic_report =
            lsp::FullDocumentDiagnosticReport { result_id: Some(result_id), items };
        lsp::WorkspaceDocumentDiagnosticReport::Full(lsp::WorkspaceFullDocumentDiagnosticReport {
            uri,
            version,
            full_document_diagnostic_report,
        })
    };
    let items = found.into_iter().map(report).collect();
    Ok(lsp::WorkspaceDiagnosticReport { items }.into())
}

pub(crate) fn has_news(report: &serde_json::Value) -> bool {
    let items = report["items"].as_array().into_iter().flatten();
    items.into_iter().any(|item| item["kind"] != "unchanged")
}

fn result_id(items: &[lsp::Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    // The types of the protocol have no hash of their own.
    serde_json::to_string(items).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

pub(crate) fn options() -> lsp::DiagnosticServerCapabilities {
    lsp::DiagnosticServerCapabilities::Options(lsp::DiagnosticOptions {
        identifier: Some("intent".into()),
        // A change of the registry can change the diagnostics of every file.
        inter_file_dependencies: true,
        workspace_diagnostics: true,
        ..Default::default()
    })
}

#[cfg(test)]
mod tests;
