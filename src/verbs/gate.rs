//! *May this mutation go ahead?* Answers no opinion, ask or deny; there is no allow.
//!
//! The order of checks: control files, then an intent that is in progress, then
//! for every path: inside the workspace, not protected, not ignored, in scope.
//! The first denial wins.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{VerbError, Workspace};
use crate::intent::{Intent, Scope, ScopeVerdict};
use crate::workspace::{Policy, RelativePath, policy::Mode};

/// What is about to be written.
#[derive(Clone, Debug, Default)]
pub struct GateRequest {
    /// Every path that would change, sources of moves included; relative to the workspace, or absolute.
    pub paths: Vec<String>,
    /// The session that asks; `None` for the person's own selection.
    pub session: Option<String>,
    /// An intent named outright, instead of the selected one.
    pub intent: Option<String>,
}

/// The gate's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Decision {
    /// Nothing against it. The host decides as it would without us.
    NoOpinion,
    /// A person should decide.
    Ask(Denial),
    /// No.
    Deny(Denial),
}

/// Why not, in the words the model is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Denial {
    /// The stable code.
    pub code: DenialCode,
    /// The whole sentence, with what to do next.
    pub message: String,
    /// The path it is about.
    pub path: Option<String>,
    /// The intent it is about.
    pub intent: Option<String>,
    /// The rule that decided: an entry of a scope, an ignore file's line.
    pub rule: Option<String>,
}

/// The stable codes of denials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DenialCode {
    /// Nothing is selected.
    IntentRequired,
    /// The registry does not hold the selected intent.
    UnknownIntent,
    /// The selected intent is not in progress.
    IntentNotActive,
    /// The path is outside the intent's scope.
    ScopeViolation,
    /// The path is protected by policy, or is a control file.
    ProtectedPath,
    /// An ignore file keeps agents from the path.
    IgnoredPath,
    /// The registry or the policy cannot be read, so nothing can be judged.
    HookError,
}

impl DenialCode {
    /// The code as written everywhere.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IntentRequired => "INTENT_REQUIRED",
            Self::UnknownIntent => "UNKNOWN_INTENT",
            Self::IntentNotActive => "INTENT_NOT_ACTIVE",
            Self::ScopeViolation => "SCOPE_VIOLATION",
            Self::ProtectedPath => "PROTECTED_PATH",
            Self::IgnoredPath => "IGNORED_PATH",
            Self::HookError => "HOOK_ERROR",
        }
    }
}

/// Judges a mutation. In an ungoverned workspace there is no opinion.
pub fn judge(ws: &Workspace, request: &GateRequest) -> Decision {
    if !ws.root.governed() {
        return Decision::NoOpinion;
    }
    match denial(ws, request) {
        None => Decision::NoOpinion,
        Some(denial) => match ws.policy.mode {
            Mode::Enforce => Decision::Deny(denial),
            Mode::Ask => Decision::Ask(denial),
            Mode::Observe => Decision::NoOpinion,
        },
    }
}

fn denial(ws: &Workspace, request: &GateRequest) -> Option<Denial> {
    let mut paths = Vec::with_capacity(request.paths.len());
    for text in &request.paths {
        match both_paths(ws, text) {
            Ok(found) => paths.extend(found),
            Err(error) => return Some(outside(text, &error)),
        }
    }
    if let Some(denial) = paths.iter().find_map(control_file) {
        return Some(denial);
    }
    if let Some(finding) = ws.registry.syntax_error().or_else(|| ws.policy_findings.first()) {
        return Some(Denial {
            code: DenialCode::HookError,
            message: format!(
                "The rules cannot be read, so nothing can be allowed: {} {}",
                finding.message, finding.help
            ),
            path: finding.path.as_ref().map(ToString::to_string),
            intent: None,
            rule: None,
        });
    }
    let selected = request.intent.clone().or_else(|| ws.selected(request.session.as_deref()));
    let intent = match usable(ws, selected.as_deref()) {
        Ok(intent) => intent,
        Err(denial) => return Some(denial),
    };
    paths.iter().find_map(|path| path_denial(ws, intent, path))
}

/// A path as written and, where a symbolic link leads elsewhere, the place where it would really write.
fn both_paths(ws: &Workspace, text: &str) -> Result<Vec<RelativePath>, VerbError> {
    let written = ws.path(ws.root.path(), Path::new(text))?;
    let real = ws.root.resolve(&written)?;
    Ok(if real == written { vec![written] } else { vec![written, real] })
}

fn outside(path: &str, error: &VerbError) -> Denial {
    Denial {
        code: DenialCode::ScopeViolation,
        message: format!("Scope Violation: {error}. Write only below the workspace's root."),
        path: Some(path.to_owned()),
        intent: None,
        rule: None,
    }
}

/// Files that steer the gate itself: no agent writes them, whatever the scope says.
pub fn is_control_file(path: &RelativePath) -> bool {
    let name = path.file_name();
    path.is_orchestration()
        || path.as_str().split('/').any(|segment| segment.eq_ignore_ascii_case(".git"))
        || [".intentignore", ".rooignore", ".gitattributes", ".mcp.json"]
            .iter()
            .any(|control| name.eq_ignore_ascii_case(control))
}

fn control_file(path: &RelativePath) -> Option<Denial> {
    is_control_file(path).then(|| Denial {
        code: DenialCode::ProtectedPath,
        message: format!(
            "{path} steers the gate itself and is changed by people only, with the `intent` command or in an editor. Leave it as it is."
        ),
        path: Some(path.to_string()),
        intent: None,
        rule: Some("control file".to_owned()),
    })
}

fn usable<'a>(ws: &'a Workspace, selected: Option<&str>) -> Result<&'a Intent, Denial> {
    let deny = |code, message: String| Denial {
        code,
        message,
        path: None,
        intent: selected.map(str::to_owned),
        rule: None,
    };
    let Some(id) = selected else {
        return Err(deny(
            DenialCode::IntentRequired,
            format!("You must cite a valid active Intent ID. {}", selectable(ws)),
        ));
    };
    let Some(intent) = ws.registry.get(id) else {
        return Err(deny(
            DenialCode::UnknownIntent,
            format!("There is no intent {id}. {}", selectable(ws)),
        ));
    };
    if intent.in_progress() {
        return Ok(intent);
    }
    let status =
        intent.status.as_ref().map_or("without a known status", |status| status.value.as_str());
    Err(deny(
        DenialCode::IntentNotActive,
        format!("Intent {id} is {status}, so nothing is written under it. {}", selectable(ws)),
    ))
}

fn selectable(ws: &Workspace) -> String {
    let ids: Vec<String> = ws
        .registry
        .intents()
        .iter()
        .filter(|intent| intent.in_progress())
        .map(|intent| format!("{} ({})", intent.id.value, intent.name.value))
        .collect();
    if ids.is_empty() {
        return "No intent is in progress: a person creates one with `intent new` and starts it with `intent start ID`.".to_owned();
    }
    format!("Select one of: {}.", ids.join(", "))
}

fn path_denial(ws: &Workspace, intent: &Intent, path: &RelativePath) -> Option<Denial> {
    let id = intent.id.value.as_str();
    let deny = |code, message: String, rule: Option<String>| Denial {
        code,
        message,
        path: Some(path.to_string()),
        intent: Some(id.to_owned()),
        rule,
    };
    if let Some(rule) = protecting(&ws.policy, path) {
        let message = format!(
            "{path} is protected by `protected_paths: {rule}` in .orchestration/policy.yaml. Leave it as it is, or ask a person."
        );
        return Some(deny(DenialCode::ProtectedPath, message, Some(rule)));
    }
    if let Some(rule) = ws.ignores.denied(path) {
        let message = format!(
            "{path} is kept from agents by `{}` ({}:{}). Leave it as it is, or ask a person.",
            rule.pattern, rule.file, rule.line
        );
        return Some(deny(
            DenialCode::IgnoredPath,
            message,
            Some(format!("{}:{}", rule.file, rule.line)),
        ));
    }
    if ws.ignores.git_ignored(path) {
        return None;
    }
    let scope = ws.registry.scope(id)?;
    let verdict = scope.verdict(path);
    if matches!(verdict, ScopeVerdict::Owned(_)) {
        return None;
    }
    let message = format!(
        "Scope Violation: {id} is not authorized to edit {path}. Request scope expansion. {}",
        scope_and_owners(ws, intent, path)
    );
    let rule = match verdict {
        ScopeVerdict::Excluded(at) => intent.owned_scope.get(at).map(|entry| entry.value.clone()),
        _ => None,
    };
    Some(deny(DenialCode::ScopeViolation, message, rule))
}

/// The entry of a policy's `protected_paths` that names the path.
pub fn protecting(policy: &Policy, path: &RelativePath) -> Option<String> {
    let entries = &policy.protected_paths;
    if entries.is_empty() {
        return None;
    }
    match Scope::new(entries).verdict(path) {
        ScopeVerdict::Owned(at) => entries.get(at).cloned(),
        _ => None,
    }
}

/// One or two sentences: what the intent owns, and who owns the path instead.
pub fn scope_and_owners(ws: &Workspace, intent: &Intent, path: &RelativePath) -> String {
    let scope = intent.scope_entries().join(", ");
    let owns =
        if scope.is_empty() { "It owns nothing.".to_owned() } else { format!("It owns {scope}.") };
    let owners: Vec<String> = ws
        .registry
        .owners(path)
        .into_iter()
        .filter(|owner| owner.id.value != intent.id.value)
        .map(|owner| format!("{} ({})", owner.id.value, owner.name.value))
        .collect();
    if owners.is_empty() {
        return format!("{owns} No intent in progress owns {path}.");
    }
    format!("{owns} {path} belongs to {}.", owners.join(", "))
}
