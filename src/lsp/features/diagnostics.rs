//! Computes the diagnostics of a document. The same function serves clients that pull and clients
//! to which diagnostics are pushed.
//!
//! A file of code is judged by intents, scopes and ledger. The registry, the policy, the ignore
//! files and the ledger are judged by their own rules. Open files are judged as the editor shows
//! them, other files as they are on disk.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tower_lsp::gen_lsp_types as lsp;

use super::mention::{self, ShownRegistry};
use crate::code::Document;
use crate::intent::lint;
use crate::lsp::dispatch::RequestRefusal;
use crate::lsp::snapshot::{OpenDocument, Snapshot};
use crate::lsp::{analysis, convert};
use crate::verbs::rules::Rules;
use crate::verbs::{Workspace, check};
use crate::workspace::{Code, Finding, Ignores, Policy, RelatedPlace, RelativePath, text};

/// The source that is shown with each diagnostic.
pub(crate) const SOURCE: &str = "intent";

/// The largest number of diagnostics of one file. A broken ledger can have a finding on each line.
const MAX_OF_A_FILE: usize = 200;

/// Returns the diagnostics of a document. Runs on a worker, after a pause in typing.
pub(crate) fn diagnose(snapshot: &Snapshot, uri: &lsp::Uri) -> Vec<lsp::Diagnostic> {
    let Some((open, workspace, _)) = analysis::governed(snapshot, uri) else { return Vec::new() };
    let writer = DiagnosticWriter { snapshot, workspace };
    let findings = findings(snapshot, uri);
    let place = |finding: &Finding| writer.in_document(finding, &open.document);
    let shown = findings.iter().filter_map(|finding| writer.diagnostic(finding, place(finding)));
    ordered(shown.collect())
}

/// Returns the findings in an open document, in no particular order. Their spans are bytes of its
/// text.
pub(crate) fn findings(snapshot: &Snapshot, uri: &lsp::Uri) -> Vec<Finding> {
    let Some((open, workspace, path)) = analysis::governed(snapshot, uri) else {
        return Vec::new();
    };
    if let Some(findings) = governing_findings(snapshot, workspace, open, &path) {
        return findings;
    }
    let Some(analysis) = analysis::analyse(snapshot, uri) else { return Vec::new() };
    let baseline = analysis::baseline(snapshot, workspace, (&path, &open.document));
    let survey = analysis::survey(snapshot, workspace);
    let rules = rules_with_unsaved(snapshot, workspace, survey.rules(workspace));
    let mut findings = check::document(workspace, &rules, &path, &analysis.file, &baseline);
    let is_here = |finding: &&Finding| {
        finding.code == Code::UngatedWrite && finding.path.as_ref() == Some(&path)
    };
    findings.extend(survey.findings.iter().filter(is_here).cloned());
    mention_older_registry(snapshot, workspace, &mut findings);
    findings
}

/// Adds to each finding that an older registry was used, if that is true.
fn mention_older_registry(snapshot: &Snapshot, workspace: &Workspace, findings: &mut [Finding]) {
    if findings.is_empty() {
        return;
    }
    let Some(said) = mention::older_registry(snapshot, workspace) else { return };
    for finding in findings {
        let gap = if finding.help.is_empty() { "" } else { " " };
        finding.help = format!("{}{gap}{said}", finding.help);
    }
}

/// Returns the rules that would follow from the unsaved registry in the editor.
fn rules_with_unsaved(snapshot: &Snapshot, workspace: &Workspace, rules: &Rules) -> Rules {
    let shown = ShownRegistry::of(snapshot, workspace);
    match shown.filter(|shown| !shown.registry.same_text(&workspace.registry)) {
        Some(shown) if shown.registry.syntax_error().is_none() => {
            rules.clone().proposing(Arc::clone(&shown.registry))
        }
        _ => rules.clone(),
    }
}

/// Returns the findings in a file that governs the workspace. `None` for any other file.
fn governing_findings(
    snapshot: &Snapshot,
    workspace: &Workspace,
    open: &OpenDocument,
    path: &RelativePath,
) -> Option<Vec<Finding>> {
    if let Some(shown) = ShownRegistry::of(snapshot, workspace)
        && workspace.registry.holds(path)
    {
        let mut findings = lint::registry(&shown.registry);
        if !shown.registry.intents().is_empty() {
            let survey = analysis::survey(snapshot, workspace);
            findings.extend(lint::against_files(&shown.registry, &survey.files));
        }
        findings.retain(|finding| finding.path.as_ref() == Some(path));
        if shown.registry.syntax_error().is_some() {
            mention_older_registry(snapshot, workspace, &mut findings);
        }
        if path == workspace.registry.path() {
            findings.extend(findings_without_file(snapshot, workspace));
        }
        return Some(findings);
    }
    match path.as_str() {
        ".orchestration/policy.yaml" => Some(Policy::parse(path, &open.document.text()).1),
        ".intentignore" | ".rooignore" => {
            let texts = [(path.clone(), open.document.text())];
            let ignores = Ignores::from_texts(&workspace.root, &texts);
            let strangers = lint::ignored_intents(&workspace.registry, &ignores);
            Some(ignores.findings().iter().cloned().chain(strangers).collect())
        }
        _ if path.is_orchestration() => {
            let survey = analysis::survey(snapshot, workspace);
            let is_here = |finding: &&Finding| finding.path.as_ref() == Some(path);
            Some(survey.findings.iter().filter(is_here).cloned().collect())
        }
        _ => None,
    }
}

/// Returns the findings that belong to no file. They are shown in the registry.
fn findings_without_file(snapshot: &Snapshot, workspace: &Workspace) -> Vec<Finding> {
    let survey = analysis::survey(snapshot, workspace);
    survey.findings.iter().filter(|finding| finding.path.is_none()).cloned().collect()
}

/// Returns the findings in governing files that are not open, as they are on disk, by address. A
/// broken file must be reported even if nobody opens it. Runs on a worker whenever the workspace
/// was loaded.
pub(crate) fn unopened(snapshot: &Snapshot, root: &Path) -> Vec<(lsp::Uri, Vec<lsp::Diagnostic>)> {
    let Some(workspace) = snapshot.workspace_at(root) else { return Vec::new() };
    let writer = DiagnosticWriter { snapshot, workspace };
    let mut files: BTreeMap<&RelativePath, Vec<lsp::Diagnostic>> = BTreeMap::new();
    let survey = analysis::survey(snapshot, workspace);
    for finding in survey.findings.iter().chain(survey.gone(workspace)) {
        let path = finding.path.as_ref().unwrap_or_else(|| workspace.registry.path());
        let mut finding = finding.clone();
        if finding.code == Code::RegistrySyntax {
            mention_older_registry(snapshot, workspace, std::slice::from_mut(&mut finding));
        }
        if let Some(diagnostic) = writer.diagnostic(&finding, writer.on_disk(&finding)) {
            files.entry(path).or_default().push(diagnostic);
        }
    }
    let address = |path| analysis::address(snapshot, workspace, path);
    files
        .into_iter()
        .filter_map(|(path, diagnostics)| Some((address(path)?, ordered(diagnostics))))
        .collect()
}

/// Converts the findings of one workspace to diagnostics for its client.
struct DiagnosticWriter<'a> {
    snapshot: &'a Snapshot,
    workspace: &'a Workspace,
}

impl DiagnosticWriter<'_> {
    /// Returns the diagnostic of a finding. `None` if its code is switched off.
    fn diagnostic(&self, finding: &Finding, range: lsp::Range) -> Option<lsp::Diagnostic> {
        let level = self.snapshot.settings.level(finding.code, &self.workspace.policy);
        let severity = convert::severity(level)?;
        let client = &self.snapshot.client;
        let related: Vec<_> =
            finding.related.iter().filter_map(|related| self.related(related)).collect();
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
        Some(lsp::Diagnostic {
            range,
            severity: Some(severity),
            code: Some(finding.code.as_str().into()),
            code_description: self.page(finding.code),
            source: Some(SOURCE.into()),
            message: message.into(),
            tags: self.tags(finding.code),
            related_information: (client.related_information && !related.is_empty())
                .then_some(related),
            data: client.diagnostic_data.then(|| self.data(finding)),
        })
    }

    /// Returns the data with which a program can act without parsing the message.
    fn data(&self, finding: &Finding) -> serde_json::Value {
        let path = finding.path.as_ref();
        let owners: Vec<&str> = path.map_or_else(Vec::new, |path| {
            let owners = self.workspace.registry.owners(path);
            owners.iter().map(|intent| intent.id.value.as_str()).collect()
        });
        json!({ "intent": finding.intent, "owners": owners, "help": finding.help })
    }

    fn page(&self, code: Code) -> Option<lsp::CodeDescription> {
        let template = self.snapshot.settings.docs_url.as_ref()?;
        let href = template.replace("{code}", code.as_str()).parse().ok()?;
        self.snapshot.client.code_description.then_some(lsp::CodeDescription { href })
    }

    fn tags(&self, code: Code) -> Option<Vec<lsp::DiagnosticTag>> {
        let idle = matches!(code, Code::GlobMatchesNothing | Code::LedgerDuplicate);
        (idle && self.snapshot.client.diagnostic_unnecessary)
            .then(|| vec![lsp::DiagnosticTag::Unnecessary])
    }

    fn related(&self, related: &RelatedPlace) -> Option<lsp::DiagnosticRelatedInformation> {
        let uri = analysis::address(self.snapshot, self.workspace, &related.path)?;
        let shown = ShownRegistry::of(self.snapshot, self.workspace);
        let registry = shown.as_ref().map_or(&self.workspace.registry, |shown| &shown.registry);
        let range = match registry.file(&related.path) {
            Some(file) => {
                convert::range_in_text(file.text(), related.span.clone(), self.snapshot.encoding)
            }
            None => convert::range_of_lines(related.lines),
        };
        let message = text::visible(&related.message, false);
        Some(lsp::DiagnosticRelatedInformation { location: lsp::Location { uri, range }, message })
    }

    fn in_document(&self, finding: &Finding, document: &Document) -> lsp::Range {
        match (&finding.span, finding.lines) {
            (Some(span), _) => {
                // The ledger may have grown on disk since it was opened.
                let end = span.end.min(document.len_bytes());
                let start = span.start.min(end);
                on_one_line(convert::range(document, start..end, self.snapshot.encoding))
            }
            (None, Some(lines)) => convert::range_of_lines(lines),
            (None, None) => lsp::Range::default(),
        }
    }

    fn on_disk(&self, finding: &Finding) -> lsp::Range {
        let path = finding.path.as_ref();
        let file = path.and_then(|path| self.workspace.registry_on_disk().file(path));
        match (file, &finding.span, finding.lines) {
            (Some(file), Some(span), _) => {
                let range = span.clone();
                on_one_line(convert::range_in_text(file.text(), range, self.snapshot.encoding))
            }
            (_, _, Some(lines)) => convert::range_of_lines(lines),
            (_, _, None) => lsp::Range::default(),
        }
    }
}

/// Cuts a range after its first line, because a squiggle below a whole block would hide its start.
fn on_one_line(range: lsp::Range) -> lsp::Range {
    if range.end.line == range.start.line {
        return range;
    }
    let end = lsp::Position { line: range.start.line + 1, character: 0 };
    lsp::Range { start: range.start, end }
}

/// Sorts the diagnostics, removes duplicates and limits their number.
fn ordered(mut diagnostics: Vec<lsp::Diagnostic>) -> Vec<lsp::Diagnostic> {
    let key = |it: &lsp::Diagnostic| {
        let code = match &it.code {
            Some(lsp::Code::String(code)) => code.clone(),
            _ => String::new(),
        };
        (it.range.start, it.range.end, code)
    };
    diagnostics.sort_by_cached_key(key);
    diagnostics.dedup();
    let more = diagnostics.len().saturating_sub(MAX_OF_A_FILE);
    diagnostics.truncate(MAX_OF_A_FILE);
    if let Some(last) = diagnostics.last_mut().filter(|_| more > 0)
        && let lsp::Message::String(message) = &mut last.message
    {
        message.push_str(&format!("\n{more} more are not shown; `intent verify` lists them."));
    }
    diagnostics
}

/// `textDocument/diagnostic`. The id of the result is a hash of its content, so an equal result is
/// recognised whatever happened in between.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReport, RequestRefusal> {
    let items = (snapshot.diagnose)(snapshot, &params.text_document.uri);
    snapshot.check_cancelled()?;
    let result_id = result_id(&items);
    if params.previous_result_id.as_ref() == Some(&result_id) {
        let unchanged = lsp::UnchangedDocumentDiagnosticReport { result_id };
        return Ok(lsp::RelatedUnchangedDocumentDiagnosticReport {
            unchanged_document_diagnostic_report: unchanged,
            ..Default::default()
        }
        .into());
    }
    let full = lsp::FullDocumentDiagnosticReport { result_id: Some(result_id), items };
    Ok(lsp::RelatedFullDocumentDiagnosticReport {
        full_document_diagnostic_report: full,
        ..Default::default()
    }
    .into())
}

fn result_id(items: &[lsp::Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    items.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Returns the options that are announced to clients that pull.
pub(crate) fn options() -> lsp::DiagnosticProvider {
    lsp::DiagnosticOptions {
        identifier: Some("intent".into()),
        // A change of the registry can change the diagnostics of every file.
        inter_file_dependencies: true,
        workspace_diagnostics: false,
        ..Default::default()
    }
    .into()
}

#[cfg(test)]
#[path = "diagnostics/tests.rs"]
mod tests;
