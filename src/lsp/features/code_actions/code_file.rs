//! Actions in a file of code.

use std::collections::BTreeSet;

use serde_json::json;

use super::plan::Plan;
use super::{
    ACCEPT_KIND, Action, ActionRequest, Offer, QUICK_FIX, RECORD_KIND, REGISTRY, RESTORE,
    SELECT_KIND, is_outside_scope, select_command,
};
use crate::analysis::Analysis;
use crate::convert;
use crate::features::{command_names, diagnostics};
use crate::workspace_view::{GovernedFile, WorkspaceView};
use code::Block;
use ground::{Code, Finding, text};
use intents::{Intent, scope};
use ledger::outline::Against;
use provenance::Verdict;
use why::baseline::Edits;
use why::rules::Rules;
use why::{Provenance, Workspace};

const MAX_OWNERS: usize = 5;

/// The longest name in a title, in characters.
const MAX_NAME: usize = 60;

const BYTE_ORDER_MARK: &str = "\u{feff}";

const UNSAVED: &str = "save the file first: what stands on disk is recorded";

struct CodePlace<'a> {
    request: &'a ActionRequest<'a>,
    file: &'a GovernedFile<'a>,
    workspace: &'a Workspace,
    selected: Option<String>,
    findings: Vec<Finding>,
}

pub(super) fn offers(request: &ActionRequest<'_>) -> Vec<Offer> {
    let file = &request.file;
    let workspace = file.view.workspace;
    if workspace.ignores.git_ignored(&file.path) {
        return Vec::new();
    }
    let analysis = file.analyse();
    let findings = findings_at(request, &analysis);
    let selected = workspace.selected(None);
    let place = CodePlace { request, file, workspace, selected, findings };
    let edits = file.baseline().baseline.edits(&analysis.file.document);
    let mut offers = place.select();
    offers.extend(place.widen());
    offers.extend(place.create());
    offers.extend(place.of_blocks(&analysis, &edits));
    offers
}

/// Returns the findings that the client shows and that are in the block at the cursor, or where the
/// selected text is.
fn findings_at(request: &ActionRequest<'_>, analysis: &Analysis) -> Vec<Finding> {
    let WorkspaceView { snapshot, workspace } = request.file.view;
    let mut findings = diagnostics::findings(&request.file);
    let block = analysis.block_at(request.file.byte(request.range.start));
    let block = block.map(|(_, block)| block.whole_lines);
    findings.retain(|finding| {
        let is_of_block = finding.lines.zip(block).is_some_and(|(lines, block)| {
            block.contains(lines.start()) && block.contains(lines.end())
        });
        let level = snapshot.settings.level(finding.code, &workspace.policy);
        convert::severity(level).is_some() && (is_of_block || touches(request, finding))
    });
    findings
}

fn touches(request: &ActionRequest<'_>, finding: &Finding) -> bool {
    // In a cell of a notebook, the lines of the request are not those of the file.
    let lines = finding.lines.filter(|_| request.file.cell.is_none());
    lines
        .map(convert::range_of_lines)
        .is_some_and(|range| range.start <= request.range.end && request.range.start < range.end)
}

impl CodePlace<'_> {
    /// Makes the offer a quick fix if one of these findings exists at the place. The client need
    /// not have sent the diagnostic: it is shown at the first changed line, while the cursor may be
    /// anywhere in the block.
    fn as_fix_for(&self, codes: &[Code], offer: Offer) -> Offer {
        if !self.findings.iter().any(|finding| codes.contains(&finding.code)) {
            return offer;
        }
        Offer { kind: QUICK_FIX, diagnostics: self.request.diagnostics(codes), ..offer }
    }

    fn select(&self) -> Vec<Offer> {
        let owners = self.workspace.registry.owners(&self.file.path);
        let others: Vec<&&Intent> =
            owners.iter().filter(|it| Some(&it.id.value) != self.selected.as_ref()).collect();
        let settled = |finding: &Finding| match finding.code {
            Code::IntentRequired => true,
            // A selection does not change a record that names another intent.
            Code::ScopeViolation => finding.intent == self.selected,
            _ => false,
        };
        let codes: Vec<Code> =
            self.findings.iter().filter(|it| settled(it)).map(|it| it.code).collect();
        let offer = |intent: &&Intent| {
            let action = select_command(&self.file.open.uri, &intent.id.value);
            let title = format!("Select {}", intent_title(intent));
            let offer = self.as_fix_for(&codes, Offer::new(title, SELECT_KIND, action));
            Offer { preferred: !codes.is_empty() && owners.len() == 1, ..offer }
        };
        others.into_iter().take(MAX_OWNERS).map(offer).collect()
    }

    /// Offers to add the file to the scope of the selected intent, and of each intent named by a
    /// scope violation here.
    fn widen(&self) -> Vec<Offer> {
        let violated = self.findings.iter().filter(|it| it.code == Code::ScopeViolation);
        let violated: BTreeSet<String> = violated.filter_map(|it| it.intent.clone()).collect();
        let mut ids = violated.clone();
        ids.extend(self.selected.clone());
        let offer = |id: String| {
            let path = text::visible(self.file.path.as_str(), false);
            let saves = if self.saves_a_draft(&id) { ", and save the registry" } else { "" };
            let title = format!("Add {path} to the scope of {id}{saves}");
            let codes: &[Code] = if violated.contains(&id) { &[Code::ScopeViolation] } else { &[] };
            let action = self.action_that_widens(id);
            self.as_fix_for(codes, Offer::new(title, REGISTRY, action))
        };
        ids.into_iter().filter(|id| is_outside_scope(self.file, id)).map(offer).collect()
    }

    fn saves_a_draft(&self, id: &str) -> bool {
        let settings = &self.file.view.snapshot.settings;
        let known = self.workspace.registry.intent_with_file(id).map(|(file, _)| file);
        settings.has_person()
            && settings.saves
            && known.is_some_and(|file| {
                let open = self.file.view.opened(file.path());
                open.is_some_and(|open| open.document.text() != **file.text())
            })
    }

    /// Returns a command if a person sits at the client, which takes one step. Otherwise returns an
    /// edit, which has to be saved afterwards.
    fn action_that_widens(&self, id: String) -> Action {
        if !self.file.view.snapshot.settings.has_person() {
            return Action::Plan(Plan::Widen { id, entry: scope::entry_for(&self.file.path) });
        }
        Action::Command(command_names::WIDEN, json!({ "id": id, "uri": self.file.open.uri }))
    }

    fn create(&self) -> Option<Offer> {
        let registry = &self.workspace.registry;
        if !registry.owners(&self.file.path).is_empty() || registry.syntax_error().is_some() {
            return None;
        }
        let title =
            format!("Create an intent for {}", text::visible(self.file.path.as_str(), false));
        let action = Action::Plan(Plan::Create { entry: Some(scope::entry_for(&self.file.path)) });
        Some(self.as_fix_for(&[Code::IntentRequired], Offer::new(title, REGISTRY, action)))
    }

    fn of_blocks(&self, analysis: &Analysis, edits: &Edits) -> Vec<Offer> {
        let provenance = &analysis.file.provenance;
        let uncovered = edits.now.iter().any(|(at, _)| !provenance[*at].covered());
        let mut offers: Vec<Offer> = self.record(uncovered).into_iter().collect();
        let byte = self.file.byte(self.request.range.start);
        let Some((at, block)) = analysis.block_at(byte) else { return offers };
        let difference = edits.now.iter().find(|(edited, _)| *edited == at).map(|(_, how)| *how);
        offers.extend(self.accept(block, &provenance[at], difference));
        offers.extend(self.put_back(block, difference));
        offers
    }

    fn record(&self, uncovered: bool) -> Option<Offer> {
        let id = self.selected.as_ref().filter(|_| uncovered)?;
        self.workspace.registry.get(id).filter(|intent| intent.in_progress())?;
        let rules = Rules::from_workspace(self.workspace);
        if !rules.rulings(&self.file.path, Some(id)).is_empty() {
            return None;
        }
        let title = format!(
            "Record the changes in {} under {id}",
            text::visible(self.file.path.file_name(), false)
        );
        let uri = &self.file.open.uri;
        let argument = json!({ "paths": [uri], "all": false, "intent": id, "uri": uri });
        let action = Action::Command(command_names::RECORD, argument);
        let codes = [Code::UnrecordedChange, Code::DiffersFromRecord];
        let offer = self.as_fix_for(&codes, Offer::new(title, RECORD_KIND, action));
        Some(Offer { disabled: self.reason_if_unsaved(), ..offer })
    }

    fn accept(
        &self,
        block: &Block,
        found: &Provenance,
        difference: Option<Against>,
    ) -> Option<Offer> {
        let snapshot = self.file.view.snapshot;
        let differs = matches!(found.verdict, Verdict::Modified | Verdict::Ambiguous);
        let is_offered = difference.is_some() || differs;
        if !snapshot.settings.interactive || !is_offered || found.covered() {
            return None;
        }
        let title = format!("Accept {} as it stands…", name_of(block));
        let argument = json!({ "uri": self.file.open.uri, "line": block.lines.start() });
        let action = Action::Command(command_names::ACCEPT, argument);
        let codes = [Code::UnrecordedChange, Code::DiffersFromRecord];
        let offer = self.as_fix_for(&codes, Offer::new(title, ACCEPT_KIND, action));
        Some(Offer { disabled: self.reason_if_unsaved(), ..offer })
    }

    fn put_back(&self, block: &Block, difference: Option<Against>) -> Option<Offer> {
        let was_there = matches!(difference, Some(Against::Changed | Against::Reformatted));
        if !was_there || block.identity.kind.is_unnamed() || self.workspace.head().is_none() {
            return None;
        }
        // The text of a block in a notebook is JSON, which an editor with cells does not show.
        if self.file.cell.is_some() {
            return None;
        }
        let title = format!("Put {} back as it was", name_of(block));
        let action = Action::Plan(Plan::PutBack { block: block.identity.clone() });
        let codes = [
            Code::ScopeViolation,
            Code::ProtectedPath,
            Code::IgnoredPath,
            Code::UnrecordedChange,
            Code::DiffersFromRecord,
        ];
        Some(self.as_fix_for(&codes, Offer::new(title, RESTORE, action)))
    }

    fn reason_if_unsaved(&self) -> Option<String> {
        let text = self.file.open.document.text();
        // A byte order mark belongs to the file, but some editors do not send it.
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text).as_bytes();
        let root = &self.workspace.root;
        let saved = root.read(&self.file.path, code::document::MAX_BYTES as u64).ok().flatten();
        let saved = saved.is_some_and(|bytes| {
            bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(&bytes) == text
        });
        (!saved).then(|| UNSAVED.to_owned())
    }
}

pub(super) fn intent_title(intent: &Intent) -> String {
    let name = text::shorten(&intent.name.value, MAX_NAME);
    text::visible(format!("{} {name}", intent.id.value).trim_end(), false)
}

fn name_of(block: &Block) -> String {
    let name = text::shorten(&block.identity.path, MAX_NAME);
    text::visible(&format!("{} {name}", block.identity.kind.as_str()), false)
}
