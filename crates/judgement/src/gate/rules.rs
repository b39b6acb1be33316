//! Applies the rules for paths in their order; the first denial wins.

use std::collections::BTreeMap;
use std::path::Path;
use why::selectable::{self, unambiguous};

use super::{Denial, DenialCode};
use crate::control;
use crate::selection::selected_by;
use evidence::event::{Event, Means};
use ground::RelativePath;
use ground::text::shell_path;
use intents::{Intent, scope};
use why::rules::{self, Outside, Rules, Ruling, SOMETHING, ask_for_scope, names_of_intents};
use why::{VerbError, Workspace};

pub(super) struct PathRules<'a> {
    pub(super) ws: &'a Workspace,
    pub(super) selected: Option<String>,
    pub(super) means: Means,
}

impl<'a> PathRules<'a> {
    pub(super) fn for_event(ws: &'a Workspace, event: &Event) -> Self {
        Self { ws, selected: selected_by(ws, event), means: event.means }
    }

    pub(super) fn denial(&self, paths: &[RelativePath]) -> Option<Denial> {
        let first = |intent| paths.iter().find_map(|path| self.path_denial(intent, path));
        self.intent_for(paths).map_or_else(Some, first)
    }

    /// Like [`Self::denial`], for folders that a command changes themselves or with everything in
    /// them.
    pub(super) fn denial_of_folders(&self, folders: &[RelativePath]) -> Option<Denial> {
        let first = |intent| folders.iter().find_map(|folder| self.folder_denial(intent, folder));
        self.intent_for(folders).map_or_else(Some, first)
    }

    pub(super) fn denial_of_whole(&self) -> Option<Denial> {
        let intent = match self.intent_for(&[]) {
            Ok(intent) => intent,
            Err(denial) => return Some(denial),
        };
        let id = &intent.id.value;
        if self.ws.registry.unadopted(id).is_some() {
            return self.denial_of_whole_without_scope(id);
        }
        let owned = self.ws.registry.scope(id)?;
        let owns = |path: &str| RelativePath::new(path).is_ok_and(|path| owned.owns(&path));
        // The entry `*` owns only what is at the root.
        if owns(SOMETHING) && owns(&format!("{SOMETHING}/{SOMETHING}")) {
            return None;
        }
        let scope = intent.scope_entries().join(", ");
        let message = format!(
            "Scope Violation: {id} is not authorized to edit the whole workspace. It owns {scope}. Name the paths that are meant."
        );
        Some(Denial::new(DenialCode::ScopeViolation, message).about_intent(id))
    }

    fn denial_of_whole_without_scope(&self, id: &str) -> Option<Denial> {
        let owns = |intent: &Intent| intent.in_progress() && !intent.owned_scope.is_empty();
        let owners = names_of_intents(unambiguous(self.ws, owns));
        let message = format!(
            "Scope Violation: {id} is not authorized to edit the whole workspace. Parts of it belong to {}. Name the paths that are meant.",
            owners.join(", ")
        );
        let denial = Denial::new(DenialCode::ScopeViolation, message).about_intent(id);
        (!owners.is_empty()).then_some(denial)
    }

    /// Returns a denial for a command that changes at least one of these paths but not necessarily
    /// all, if it may change none of them.
    pub(super) fn denial_of_all(&self, some_of: &[RelativePath]) -> Option<Denial> {
        let intent = self.usable(some_of).ok()?;
        let mut denials = some_of.iter().map(|path| {
            let is_control =
                control::is_control_in(&self.ws.root, path) || control::may_name_control(path);
            match is_control {
                true => Some(Denial::of_control_file(path.as_str())),
                false => self.folder_denial(intent, path),
            }
        });
        let first = denials.next()??;
        denials.all(|denial| denial.is_some()).then_some(first)
    }

    /// Makes the checks that come before single paths: no control file, readable rules, an intent
    /// in progress. Returns that intent.
    pub(super) fn intent_for(&self, paths: &[RelativePath]) -> Result<&'a Intent, Denial> {
        let ws = self.ws;
        if let Some(path) = paths.iter().find(|path| control::is_control_in(&ws.root, path)) {
            return Err(Denial::of_control_file(path.as_str()));
        }
        // If the rules cannot be read, nothing can be allowed.
        let Some(finding) = ws.registry.syntax_error().or_else(|| ws.policy_findings.first())
        else {
            return self.usable(paths);
        };
        let message = format!(
            "The rules cannot be read, so nothing can be allowed: {} {}",
            finding.message, finding.help
        );
        let path = finding.path.as_ref().map(ToString::to_string);
        Err(Denial { path, ..Denial::new(DenialCode::HookError, message) })
    }

    /// Returns the selected intent if work may be done under it. `paths` are the paths that the
    /// work changes.
    fn usable(&self, paths: &[RelativePath]) -> Result<&'a Intent, Denial> {
        let (ws, selected) = (self.ws, &self.selected);
        let deny = |code, message: String| {
            Err(Denial { intent: selected.clone(), ..Denial::new(code, message) })
        };
        if let Some(missing) = ws.lost_registry() {
            let message = format!("Nothing can be allowed without a registry: {missing}.");
            return deny(DenialCode::HookError, message);
        }
        let Some(id) = selected else {
            let next = self.selectable_for(paths);
            let message = format!("You must cite a valid active Intent ID. {next}");
            return deny(DenialCode::IntentRequired, message);
        };
        let Some(intent) = ws.registry.get(id) else {
            let why = ws.registry.why_ambiguous(id);
            let why = why.unwrap_or_else(|| format!("There is no intent {id}."));
            return deny(DenialCode::UnknownIntent, format!("{why} {}", selectable(ws)));
        };
        if ws.registry.allows_work(intent) {
            return Ok(intent);
        }
        let status =
            intent.status.as_ref().map_or("without a known status", |status| status.value.as_str());
        let next = selectable(ws);
        let message = format!("Intent {id} is {status}, so nothing is written under it. {next}");
        deny(DenialCode::IntentNotActive, message)
    }

    fn selectable_for(&self, paths: &[RelativePath]) -> String {
        let ws = self.ws;
        // Files that git ignores belong to no intent, and may be written under each.
        let is_owned = |path: &&RelativePath| !ws.ignores.git_ignored(path);
        let owned: Vec<RelativePath> = paths.iter().filter(is_owned).cloned().collect();
        let Some((first, rest)) = owned.split_first() else { return selectable(ws) };
        let more = if rest.iter().all(|path| path == first) { "" } else { " and the rest" };
        match &self.owners_of(&owned)[..] {
            [] if more.is_empty() => self.nobody_owns(first),
            [] => self.owners_of_each(&owned),
            [only] => format!("{only} owns {first}{more}: select it."),
            several => format!("{} own {first}{more}: select one of them.", several.join(" and ")),
        }
    }

    /// Returns the names of the intents in progress under which all of the paths may be changed.
    fn owners_of(&self, paths: &[RelativePath]) -> Vec<String> {
        let is_permitted =
            |owner: &&Intent| paths.iter().all(|path| self.path_denial(owner, path).is_none());
        let owners = selectable::owners_of_all(self.ws, paths).into_iter();
        names_of_intents(owners.filter(is_permitted))
    }

    /// Says which intents own each of several paths that no intent owns together. If nobody owns one of
    /// them, says what the agent can do about that one.
    fn owners_of_each(&self, paths: &[RelativePath]) -> String {
        let mut each = BTreeMap::new();
        for path in paths {
            let owners = self.owners_of(std::slice::from_ref(path));
            if owners.is_empty() {
                return self.nobody_owns(path);
            }
            each.insert(path, owners);
        }
        let owned = each.iter().map(|(path, owners)| {
            let verb = if owners.len() == 1 { "owns" } else { "own" };
            format!("{} {verb} {path}", owners.join(" and "))
        });
        let owned = owned.collect::<Vec<_>>().join(", and ");
        format!(
            "No intent in progress owns all of these files: {owned}. Change them one after the other, each under its intent."
        )
    }

    /// Says that no intent may be selected for work on a path, and what the agent can do.
    fn nobody_owns(&self, path: &RelativePath) -> String {
        let ws = self.ws;
        if let Some(rule) = rules::forbidden_by(ws, path, None) {
            return format!(
                "{path} is kept from agents by {rule}, under every intent. Leave it as it is, or ask a person."
            );
        }
        let mut owners = ws.registry.owners_among(path, Intent::in_progress).into_iter();
        if let Some(why) = owners.find_map(|owner| ws.registry.why_ambiguous(&owner.id.value)) {
            return why;
        }
        if unambiguous(ws, Intent::in_progress).next().is_none() {
            return selectable(ws);
        }
        let offered = selectable::selectable_intents(ws).into_iter();
        let free = offered.filter(|one| ws.registry.unadopted(&one.id.value).is_some());
        if let free @ [_, ..] = &names_of_intents(free)[..] {
            return format!(
                "No intent in progress owns {path}. {} may change it: select it if the work is for it.",
                free.join(" or ")
            );
        }
        let waiting = ws.registry.owners_among(path, selectable::can_start);
        let waiting = names_of_intents(waiting.into_iter().filter(|intent| !intent.in_progress()));
        let start = match waiting.is_empty() {
            true => String::new(),
            false => format!(" {} would; a person starts it.", waiting.join(" and ")),
        };
        let ask = match self.means {
            Means::Commands => format!(
                "`{}` asks a person to widen one, and `{}` to make one",
                ask_for_scope("ID", &scope::entry_for(path)),
                rules::propose(&shell_path(&scope::entry_for(path)))
            ),
            Means::Tools => {
                "`request_scope` asks a person to widen one, and `propose_intent` to make one"
                    .to_owned()
            }
        };
        format!("No intent in progress owns {path}.{start} {ask}.")
    }

    /// Returns the denial of a folder. A folder is in scope if a file in it would be, or if the
    /// scope owns the folder itself and no rule names what is in it.
    fn folder_denial(&self, intent: &Intent, folder: &RelativePath) -> Option<Denial> {
        let inside = RelativePath::new(&format!("{folder}/{SOMETHING}")).ok()?;
        let within = self.denial_shown_as(intent, &inside, folder)?;
        // A scope can own a folder and exclude what is in it: `src/**` and `!src/keys/**`.
        self.path_denial(intent, folder).or_else(|| within.rule.is_some().then_some(within))
    }

    fn path_denial(&self, intent: &Intent, path: &RelativePath) -> Option<Denial> {
        self.denial_shown_as(intent, path, path)
    }

    fn denial_shown_as(
        &self,
        intent: &Intent,
        path: &RelativePath,
        shown: &RelativePath,
    ) -> Option<Denial> {
        let ws = self.ws;
        let (id, rules) = (intent.id.value.as_str(), Rules::from_workspace(ws));
        let standing = std::fs::symlink_metadata(ws.root.absolute(path));
        let rulings = match standing.is_ok_and(|it| it.is_dir() || it.is_symlink()) {
            true => rules.rulings_of_folder(path, Some(id)),
            false => rules.rulings(path, Some(id)),
        };
        let ruling = rulings.into_iter().next()?;
        let (what, why) = rules.describe(&ruling, shown, Some(id));
        let leave = || format!("{what} Leave it as it is, or ask a person.");
        let denial = match &ruling {
            Ruling::Protected(rule) => {
                Denial::new(DenialCode::ProtectedPath, leave()).decided_by(rule)
            }
            Ruling::Ignored(rule) => {
                let line = format!("{}:{}", rule.file, rule.line);
                Denial::new(DenialCode::IgnoredPath, leave()).decided_by(line)
            }
            Ruling::Unknown => Denial::new(DenialCode::UnknownIntent, what),
            // Whether git ignores the path is checked last, so that for most edits the ignore files
            // need not be read.
            Ruling::Outside(_) if ws.ignores.git_ignored(path) => return None,
            Ruling::Outside(Outside::OfOthers(_)) => {
                let message =
                    format!("{what} {why} Select that one for work on it, or ask a person.");
                Denial::new(DenialCode::ScopeViolation, message)
            }
            Ruling::Outside(outside) => {
                let entry = match outside {
                    Outside::Excluded(at) => intent.owned_scope.get(*at),
                    _ => None,
                };
                let wanted = match path == shown {
                    true => scope::entry_for(path),
                    // A folder stands for all that is in it.
                    false => format!("{}/**", scope::entry_for(shown)),
                };
                let ask = match self.means {
                    Means::Commands => ask_for_scope(id, &wanted),
                    Means::Tools => "request_scope".to_owned(),
                };
                let message = format!("{what} Request scope expansion with `{ask}`. {why}");
                let rule = entry.map(|entry| entry.value.clone());
                Denial { rule, ..Denial::new(DenialCode::ScopeViolation, message) }
            }
        };
        Some(denial.about_path(shown).about_intent(id))
    }
}

/// Returns a path as written and, if a symbolic link leads elsewhere, also the path that a write
/// would really change.
pub(super) fn both_paths(ws: &Workspace, text: &Path) -> Result<Vec<RelativePath>, VerbError> {
    let written = ws.path(ws.root.path(), text)?;
    let real = ws.root.resolve(&written)?;
    Ok(if real == written { vec![written] } else { vec![written, real] })
}

pub(super) fn outside(path: &str, error: &VerbError) -> Denial {
    let message = format!("Scope Violation: {error}. Write only below the workspace's root.");
    Denial::new(DenialCode::ScopeViolation, message).about_path(path)
}

const MAX_OFFERED: usize = 50;

pub(super) fn selectable(ws: &Workspace) -> String {
    let intents = names_of_intents(selectable::selectable_intents(ws));
    if intents.is_empty() {
        let next = selectable::start_step(ws);
        return format!("No intent is in progress. A person does this: {next}.");
    }
    let more = match intents.len().saturating_sub(MAX_OFFERED) {
        0 => String::new(),
        more => format!(", or one of {more} more that `intent list` shows"),
    };
    let first = intents.len().min(MAX_OFFERED);
    format!("Select one of: {}{more}.", intents[..first].join(", "))
}
