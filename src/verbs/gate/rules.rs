//! Applies the rules for paths in their order; the first denial wins.

use std::path::Path;

use super::{Denial, DenialCode, control};
use crate::intent::Intent;
use crate::verbs::rules::{Outside, Rules, Ruling, SOMETHING};
use crate::verbs::{VerbError, Workspace, select};
use crate::workspace::RelativePath;

/// Returns the denial of a mutation of these paths, if there is one. `selected` is the intent that
/// the work is done under.
pub(super) fn denial(
    ws: &Workspace,
    paths: &[RelativePath],
    selected: Option<&str>,
) -> Option<Denial> {
    match intent_for(ws, paths, selected) {
        Ok(intent) => paths.iter().find_map(|path| path_denial(ws, intent, path)),
        Err(denial) => Some(denial),
    }
}

/// Like [`denial`], for folders that a command changes themselves or with everything in them.
pub(super) fn denial_of_folders(
    ws: &Workspace,
    folders: &[RelativePath],
    selected: Option<&str>,
) -> Option<Denial> {
    match intent_for(ws, folders, selected) {
        Ok(intent) => folders.iter().find_map(|folder| folder_denial(ws, intent, folder)),
        Err(denial) => Some(denial),
    }
}

/// Like [`denial`], for a command that changes the whole workspace.
pub(super) fn denial_of_whole(ws: &Workspace, selected: Option<&str>) -> Option<Denial> {
    let intent = match intent_for(ws, &[], selected) {
        Ok(intent) => intent,
        Err(denial) => return Some(denial),
    };
    let id = &intent.id.value;
    let any = RelativePath::new(SOMETHING).ok()?;
    if ws.registry.scope(id)?.owns(&any) {
        return None;
    }
    let scope = intent.scope_entries().join(", ");
    Some(Denial {
        intent: Some(id.clone()),
        ..Denial::new(
            DenialCode::ScopeViolation,
            format!(
                "Scope Violation: {id} is not authorized to edit the whole workspace. It owns {scope}. Name the paths that are meant."
            ),
        )
    })
}

/// Returns the denial of a folder. A folder is in scope if a file in it would be.
fn folder_denial(ws: &Workspace, intent: &Intent, folder: &RelativePath) -> Option<Denial> {
    let inside = RelativePath::new(&format!("{folder}/{SOMETHING}")).ok()?;
    path_denial(ws, intent, &inside)?;
    path_denial(ws, intent, folder)
}

/// Makes the checks that come before single paths: no control file, readable rules, an intent in
/// progress. Returns that intent.
fn intent_for<'a>(
    ws: &'a Workspace,
    paths: &[RelativePath],
    selected: Option<&str>,
) -> Result<&'a Intent, Denial> {
    if let Some(path) = paths.iter().find(|path| control::is_control_path(path.as_str())) {
        return Err(control::denial(path.as_str()));
    }
    match unreadable_rules(ws) {
        Some(denial) => Err(denial),
        None => usable(ws, selected, paths),
    }
}

/// Returns a denial for a command that changes at least one of these paths but not necessarily all,
/// if it may change none of them.
pub(super) fn denial_of_all(
    ws: &Workspace,
    some_of: &[RelativePath],
    selected: Option<&str>,
) -> Option<Denial> {
    let intent = usable(ws, selected, some_of).ok()?;
    let mut denials = some_of.iter().map(|path| folder_denial(ws, intent, path));
    let first = denials.next()??;
    denials.all(|denial| denial.is_some()).then_some(first)
}

/// Returns a denial if the rules cannot be read, because then nothing can be allowed.
pub(super) fn unreadable_rules(ws: &Workspace) -> Option<Denial> {
    let finding = ws.registry.syntax_error().or_else(|| ws.policy_findings.first())?;
    Some(Denial {
        code: DenialCode::HookError,
        message: format!(
            "The rules cannot be read, so nothing can be allowed: {} {}",
            finding.message, finding.help
        ),
        path: finding.path.as_ref().map(ToString::to_string),
        intent: None,
        rule: None,
    })
}

/// Returns a path as written and, if a symbolic link leads elsewhere, also the path that a write
/// would really change.
pub(super) fn both_paths(ws: &Workspace, text: &Path) -> Result<Vec<RelativePath>, VerbError> {
    let written = ws.path(ws.root.path(), text)?;
    let real = ws.root.resolve(&written)?;
    Ok(if real == written { vec![written] } else { vec![written, real] })
}

/// Returns the denial of a path that is in no workspace.
pub(super) fn outside(path: &str, error: &VerbError) -> Denial {
    Denial {
        code: DenialCode::ScopeViolation,
        message: format!("Scope Violation: {error}. Write only below the workspace's root."),
        path: Some(path.to_owned()),
        intent: None,
        rule: None,
    }
}

/// Returns the selected intent if work may be done under it. `paths` are the paths that the work
/// changes.
pub(super) fn usable<'a>(
    ws: &'a Workspace,
    selected: Option<&str>,
    paths: &[RelativePath],
) -> Result<&'a Intent, Denial> {
    let deny = |code, message: String| Denial {
        code,
        message,
        path: None,
        intent: selected.map(str::to_owned),
        rule: None,
    };
    if let Some(missing) = ws.missing_registry() {
        return Err(deny(
            DenialCode::HookError,
            format!("Nothing can be allowed without a registry: {missing}."),
        ));
    }
    let Some(id) = selected else {
        return Err(deny(
            DenialCode::IntentRequired,
            format!("You must cite a valid active Intent ID. {}", selectable_for(ws, paths)),
        ));
    };
    let Some(intent) = ws.registry.get(id) else {
        let rivals = ws.registry.definitions_of(id);
        let why = match rivals.is_empty() {
            true => format!("There is no intent {id}."),
            false => format!(
                "The id {id} is defined at {}, so nobody can tell which intent is meant. A person gives all but one of them an id of their own, or removes them.",
                rivals.join(" and at ")
            ),
        };
        return Err(deny(DenialCode::UnknownIntent, format!("{why} {}", selectable(ws))));
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

/// Says in a sentence which intent to select for work on these paths.
fn selectable_for(ws: &Workspace, paths: &[RelativePath]) -> String {
    let owners = select::owners_of_all(ws, paths);
    let named = |owner: &&Intent| format!("{} ({})", owner.id.value, owner.name.value);
    let named: Vec<String> = owners.iter().map(named).collect();
    let Some((first, rest)) = paths.split_first() else { return selectable(ws) };
    let more = if rest.iter().all(|path| path == first) { "" } else { " and the rest" };
    match named.as_slice() {
        [] => selectable(ws),
        [only] => format!("{only} owns {first}{more}: select it."),
        several => format!("{} own {first}{more}: select one of them.", several.join(" and ")),
    }
}

/// Says in a sentence which intents can be selected.
pub(super) fn selectable(ws: &Workspace) -> String {
    let ids: Vec<String> = ws
        .registry
        .intents()
        .iter()
        .filter(|intent| intent.in_progress() && ws.registry.get(&intent.id.value).is_some())
        .map(|intent| format!("{} ({})", intent.id.value, intent.name.value))
        .collect();
    if ids.is_empty() {
        return format!(
            "No intent is in progress. A person does this: {}.",
            select::start_step(ws)
        );
    }
    format!("Select one of: {}.", ids.join(", "))
}

fn path_denial(ws: &Workspace, intent: &Intent, path: &RelativePath) -> Option<Denial> {
    let (id, rules) = (intent.id.value.as_str(), Rules::of(ws));
    let standing = std::fs::symlink_metadata(ws.root.absolute(path));
    let rulings = match standing.is_ok_and(|it| it.is_dir() || it.is_symlink()) {
        true => rules.rulings_of_folder(path, Some(id)),
        false => rules.rulings(path, Some(id)),
    };
    let ruling = rulings.into_iter().next()?;
    let (what, why) = rules.describe(&ruling, path, Some(id));
    let (code, message, rule) = match &ruling {
        Ruling::Protected(rule) => (
            DenialCode::ProtectedPath,
            format!("{what} Leave it as it is, or ask a person."),
            Some(rule.clone()),
        ),
        Ruling::Ignored(rule) => (
            DenialCode::IgnoredPath,
            format!("{what} Leave it as it is, or ask a person."),
            Some(format!("{}:{}", rule.file, rule.line)),
        ),
        Ruling::Unknown => (DenialCode::UnknownIntent, what, None),
        // Whether git ignores the path is checked last, so that for most edits the ignore files
        // need not be read.
        Ruling::Outside(_) if ws.ignores.git_ignored(path) => return None,
        Ruling::Outside(outside) => {
            let rule = match outside {
                Outside::Excluded(at) => intent.owned_scope.get(*at),
                _ => None,
            };
            let message = format!("{what} Request scope expansion. {why}");
            (DenialCode::ScopeViolation, message, rule.map(|entry| entry.value.clone()))
        }
    };
    let (path, intent) = (Some(path.to_string()), Some(id.to_owned()));
    Some(Denial { code, message, path, intent, rule })
}
