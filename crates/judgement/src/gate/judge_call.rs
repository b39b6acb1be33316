//! Judges one call, from its effects to the answer of the gate.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::everyday::JudgedCommand;
use super::places::{EditManner, Touched, TouchedWorkspace, Touches};
use super::rules::PathRules;
use super::{
    Decision, Denial, DenialCode, Judged, ask, bind, commands, everyday, in_force, key, places,
    rules, stale,
};
use crate::selection::{selected_by, works_as};
use crate::{control, earlier, git_settings};
use edits::unified;
use evidence::event::{Effect, Event};
use ground::approvals::{AskedAct, Subject};
use ground::policy::{EverydayGit, FencePolicy, Mode};
use ground::session::announced;
use ground::session::calls::{self, FileBefore, PendingCall, Predicted};
use ground::{CommitId, Environment, Hint, RelativePath, Root, clock, session, store, text};
use ledger::{Approved, RecordedDecision};
use shell::{Class, CommandContext, Invocation, PathEffect, Prediction, TouchedPath};
use why::{VerbError, Workspace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The call is about to be made: approvals are used and requested, and the state before the
    /// call is kept.
    Make,
    /// The call is only examined. Nothing is kept, and no approval is used.
    Examine,
}

type Objection<'a> = (&'a Workspace, Denial);

pub(super) fn only_observes(ws: &Workspace) -> bool {
    ws.policy.mode == Mode::Observe || session::off_until(&ws.root).is_some()
}

pub(super) fn judge(event: &Event, purpose: Purpose) -> Judged {
    match Case::open(event) {
        Ok(case) if case.places.overruled => with_note_on_rules(case.judge(purpose)),
        Ok(case) => case.judge(purpose),
        Err(error) => {
            let message = format!("Nothing can be judged: {}.", error.with_hint());
            Decision::Deny(Denial::new(DenialCode::HookError, message)).into()
        }
    }
}

struct Case<'a> {
    event: &'a Event,
    readings: Vec<Prediction>,
    places: Touches,
}

impl<'a> Case<'a> {
    fn open(event: &'a Event) -> Result<Self, VerbError> {
        let home = places::governed_at(&event.cwd, &event.environment)?;
        let root = home.as_ref().map(|home| &*home.root);
        let read = |effect| read_command(event, effect, root);
        let readings: Vec<Prediction> = event.effects.iter().filter_map(read).collect();
        let places = Touches::of_event(event, home, &readings);
        Ok(Self { event, readings, places })
    }

    fn judge(&self, purpose: Purpose) -> Judged {
        if let (Some(home), Purpose::Make) = (&self.places.home, purpose) {
            announced::forget_asked(&home.root, &self.event.session_key());
        }
        let Some(command) = &self.own_command() else { return self.judge_effects(purpose) };
        let at = self.workspace_of(command);
        if let Some(id) = shell::selects(command) {
            return match &at {
                Some(ws) => bind::select(ws, self.event, (id, command), purpose),
                None => Judged::default(),
            };
        }
        let judged = self.judge_effects(purpose);
        if let (Some(ws), Purpose::Make) = (&at, purpose) {
            let actor = works_as(ws, self.event);
            bind::announce(ws, self.event, command, &actor, &judged.decision);
        }
        judged
    }

    fn judge_effects(&self, purpose: Purpose) -> Judged {
        let without_objection = |rule: Option<&str>| {
            let rule = rule.map(str::to_owned);
            let passed = RecordedDecision::new(RecordedDecision::NO_OPINION, rule, None);
            self.goes_ahead(purpose, passed)
        };
        let Some((ws, denial)) = self.objection() else { return without_objection(None) };
        if self.only_restores() {
            return without_objection(Some(calls::RESTORES));
        }
        let code = denial.code;
        let passed = |outcome: &str, approval: Option<String>| {
            let decision = RecordedDecision::new(outcome, Some(code.to_string()), approval);
            self.goes_ahead(purpose, decision)
        };
        if only_observes(ws) {
            let off = session::off_until(&ws.root).is_some();
            let why = if off { "The gate is switched off" } else { "The gate only observes here" };
            let notice = format!("{why}. The objection would be: {code} {}", denial.message);
            return Judged { notice: Some(notice), ..passed(RecordedDecision::DENY, None) };
        }
        let answer = match (denial.decision(ws.policy.mode), purpose) {
            (Decision::Ask(denial), Purpose::Make) => {
                let subject = self.subject(ws, &denial);
                ask::person(ws, self.event, denial, subject)
            }
            (decision, _) => Err(decision),
        };
        match answer {
            Ok(code) => passed(RecordedDecision::ASK, Some(code)),
            Err(Decision::Ask(denial)) => match passed(RecordedDecision::ASK, None) {
                // A command that a person agrees to still runs behind the fence.
                Judged { decision: Decision::NoOpinion, fence, .. } => {
                    Judged { fence, ..Decision::Ask(denial).into() }
                }
                denied => denied,
            },
            Err(decision) => decision.into(),
        }
    }

    /// Returns the arguments of `intent` if the call only runs `intent`. If the call selects an
    /// intent with a tool, these are the equivalent arguments.
    fn own_command(&self) -> Option<Vec<String>> {
        match self.event.effects.as_slice() {
            [Effect::Select { intent }] => Some(shell::selecting(intent)),
            [Effect::Shell { .. }] => {
                shell::own_command(self.readings.first()?).map(<[String]>::to_vec)
            }
            _ => None,
        }
    }

    /// Returns the governed workspace in which a command of this program acts, under the rules in
    /// force. The command runs in the folder of the session, unless the call names another one, and
    /// can name a third one with `-C`.
    fn workspace_of(&self, command: &[String]) -> Option<Workspace> {
        let of_call = match self.event.effects.as_slice() {
            [Effect::Shell { cwd, .. }] => cwd.as_deref(),
            _ => None,
        };
        let named = shell::past_folder(command).1.map(Path::new);
        let folders = of_call.into_iter().chain(named);
        let folder = folders.fold(self.event.cwd.clone(), |at, next| at.join(next));
        let governed = places::governed_at(&folder, &self.event.environment);
        Some(in_force::governed(governed.ok()??).0)
    }

    fn subject(&self, ws: &Workspace, denial: &Denial) -> Subject {
        let mut acts: Vec<AskedAct> = Vec::new();
        for act in self.event.effects.iter().flat_map(|effect| self.acts(ws, effect)) {
            // Several edits of one file by one call are shown as one edit with their combined
            // effect.
            if !acts.contains(&act) {
                acts.push(act);
            }
        }
        // If the result of a write is not known, the approval is valid for the same input only.
        let is_unforeseen = |act: &AskedAct| matches!(act, AskedAct::Write { content: None, .. });
        let input = acts.iter().any(is_unforeseen).then(|| self.event.input.clone());
        Subject::Call { acts, why: denial.message.clone(), input }
    }

    fn acts(&self, ws: &Workspace, effect: &Effect) -> Vec<AskedAct> {
        let file = |path: &Path| self.places.file(&self.event.cwd.join(path));
        let shown = |path: &Path| self.event.cwd.join(path).to_string_lossy().into_owned();
        let named = |path: &Path| match file(path) {
            Some((at, file)) if at.root == ws.root => file.before.path.to_string(),
            _ => shown(path),
        };
        let written = |path: &Path| {
            let foreseen = file(path).and_then(|(_, file)| match &file.before.predicted {
                Predicted::Text(after) => Some((file.before.text.as_deref(), after)),
                Predicted::Gone | Predicted::Unknown => None,
            });
            AskedAct::Write {
                path: named(path),
                content: foreseen.map(|(_, after)| Approved::hash_of(after.as_bytes())),
                change: foreseen.map(|(before, after)| unified(before.unwrap_or_default(), after)),
            }
        };
        match effect {
            Effect::Shell { text, cwd, .. } => {
                // Cursor asks two hooks about one command, and only one of them names the folder.
                let other = cwd.as_ref().filter(|cwd| self.event.cwd.join(cwd) != self.event.cwd);
                let folder = other.map(|cwd| shown(cwd));
                vec![AskedAct::Run { command: text.trim().to_owned(), folder }]
            }
            Effect::Write { path, .. } => vec![written(path)],
            Effect::Delete { path } => vec![AskedAct::Delete { path: named(path) }],
            Effect::Move { from, to, change } => {
                let moved = AskedAct::Move { from: named(from), to: named(to) };
                std::iter::once(moved).chain(change.as_ref().map(|_| written(to))).collect()
            }
            Effect::Read { .. }
            | Effect::Select { .. }
            | Effect::Unforeseen
            | Effect::Unreadable { .. } => Vec::new(),
        }
    }

    /// Returns the gravest objection: one that denies comes before one that asks, and before one that is
    /// only mentioned, because the gate observes.
    fn objection(&self) -> Option<Objection<'_>> {
        self.objections().into_iter().min_by_key(|(ws, denial)| {
            let denies = matches!(denial.clone().decision(ws.policy.mode), Decision::Deny(_));
            (only_observes(ws), !denies)
        })
    }

    /// Returns the objections to the call, in the order of the gate's checks.
    fn objections(&self) -> Vec<Objection<'_>> {
        let home = self.places.home.as_ref();
        let first = self.places.all.first().map(|place| &place.ws);
        let Some(primary) = home.or(first) else { return Vec::new() };
        let unreadable = self.unreadable_denial().map(|denial| (primary, denial));
        if !self.mutates() {
            return unreadable.into_iter().collect();
        }
        let refused = self.places.refused.clone().map(|denial| (primary, denial));
        let outside = home.and_then(|home| {
            let mut paths = self.places.outside.iter();
            Some((home, paths.find_map(|path| places::outside(home, path))?))
        });
        let stale = self.places.all.iter().filter_map(|place| self.stale(place));
        let mentioned = home.and_then(|home| self.by_mentions(home));
        let unfenced = home.and_then(|home| Some((home, self.unfenced_denial(home)?)));
        let mut all: Vec<Objection<'_>> = Vec::new();
        all.extend(unreadable.into_iter().chain(refused).chain(outside));
        all.extend(self.by_rules(primary));
        all.extend(stale);
        all.extend(self.by_class(primary).into_iter().chain(mentioned).chain(unfenced));
        all
    }

    /// Returns true if all that the call does is to restore files as they were before unforeseen writes
    /// of the session. Control files are left to people.
    fn only_restores(&self) -> bool {
        let places = &self.places;
        let by_commands: Option<Vec<_>> = self.readings.iter().map(shell::restorations).collect();
        let Some(by_commands) = by_commands.filter(|_| self.unreadable_denial().is_none()) else {
            return false;
        };
        let restored = Cell::new(false);
        let restores = |place: &TouchedWorkspace, file: &Touched| {
            let path = &file.before.path;
            let absolute = place.ws.root.absolute(path);
            let mut commands = by_commands.iter().flatten();
            let command = commands.find(|(named, _)| Path::new(named) == absolute);
            let command = command.map(|(_, what)| *what);
            let is_certain = command.is_some() == (file.manner == EditManner::Command);
            if !is_certain || control::is_control_in(&place.ws.root, path) {
                return false;
            }
            let is_own_write = earlier::restores(&place.ws, self.event, &file.before, command);
            restored.set(restored.get() || is_own_write);
            is_own_write || self.may_restore(&place.ws, file)
        };
        let only_restores = |place: &TouchedWorkspace| {
            let is_single =
                |path: &RelativePath| place.files.iter().any(|file| file.before.path == *path);
            place.names_only_files()
                && place.paths.iter().all(is_single)
                && place.files.iter().all(|file| restores(place, file))
        };
        places.outside.is_empty()
            && places.refused.is_none()
            && !places.all.is_empty()
            && places.all.iter().all(only_restores)
            && restored.get()
    }

    fn may_restore(&self, ws: &Workspace, file: &Touched) -> bool {
        let actor = self.event.actor();
        ws.policy.everyday_git == EverydayGit::Allow
            && PathRules::for_event(ws, self.event)
                .denial(std::slice::from_ref(&file.before.path))
                .is_none()
            && stale::denial(ws, &actor, file).is_none()
            && everyday::is_loss_known(ws, &actor, &file.before)
    }

    fn unreadable_denial(&self) -> Option<Denial> {
        let what = self.event.effects.iter().find_map(|effect| match effect {
            Effect::Unreadable { what } => Some(what),
            _ => None,
        })?;
        let message = match self.event.tool.as_str() {
            "" => format!("This call cannot be judged: {what}. Repeat it with a tool's name."),
            tool => format!(
                "This call of {tool} changes files, and what it would change cannot be read: {what}. Repeat it with complete arguments, or use another tool."
            ),
        };
        Some(Denial::new(DenialCode::UnreadablePayload, message))
    }

    /// Returns an objection if a command mentions a path that the call may not change: in its text,
    /// in a patch that it applies or, for a control file, among its arguments. Because it is not
    /// known what the command does with the path, a person decides about the call.
    fn by_mentions<'b>(&self, home: &'b Workspace) -> Option<Objection<'b>> {
        let rules = PathRules::for_event(home, self.event);
        let judged = |path: &Path| {
            let may_exist = path.exists() || path.parent().is_some_and(Path::is_dir);
            let paths = rules::both_paths(home, path).ok().filter(|_| may_exist)?;
            let denial = match path.is_dir() {
                true => rules.denial_of_folders(&paths),
                false => rules.denial(&paths),
            };
            denial.map(|denial| commands::mentioned(&paths[0], denial))
        };
        let is_control = |path: &&String| {
            let paths = rules::both_paths(home, Path::new(path)).unwrap_or_default();
            paths.iter().any(ground::control_files::is_control_file)
        };
        let denial = self.readings.iter().find_map(|reading| {
            let patched =
                reading.patches.iter().flat_map(|file| files_of_patch(home, Path::new(file)));
            let named = reading.paths_in_arguments.iter().filter(is_control).map(PathBuf::from);
            let mentions = reading.paths_in_text.iter().map(PathBuf::from);
            mentions.chain(named).chain(patched).find_map(|path| judged(&path))
        })?;
        Some((home, denial))
    }

    /// Returns the denial of a command that the policy requires to run behind a fence, if the host
    /// cannot rewrite the command and the agent has to do it.
    fn unfenced_denial(&self, home: &Workspace) -> Option<Denial> {
        let required = home.policy.fence == FencePolicy::Require && !self.event.rewrites;
        let id = self.wanted_fence(home).filter(|_| required)?;
        Some(commands::unfenced(&self.readings, &id))
    }

    fn fence(&self) -> Option<String> {
        let home = self.places.home.as_ref().filter(|_| self.event.rewrites)?;
        self.wanted_fence(home).filter(|_| home.policy.fence != FencePolicy::Off)
    }

    fn wanted_fence(&self, home: &Workspace) -> Option<String> {
        let id = selected_by(home, self.event)?;
        commands::needs_fence(&self.readings, &id, &self.event.environment).then_some(id)
    }

    /// Returns `HEAD` and the tips of the branches if a command runs git. After the call, these
    /// commits show which commits are older than the call and which ones the call made.
    fn tips(&self, ws: &Workspace) -> Vec<CommitId> {
        const MAX: usize = 500;
        let mut commands = self.readings.iter().flat_map(|reading| &reading.commands);
        let runs_git = commands.any(|command| command.program.as_deref() == Some("git"));
        let Some(git) = ws.git().filter(|_| runs_git) else { return Vec::new() };
        // The last of these are the untracked files of the stash.
        let stash = ["refs/stash", "refs/stash^3"].into_iter().flat_map(|name| git.resolve(name));
        let branches = git.branches(MAX).unwrap_or_default().into_iter().map(|(_, tip)| tip);
        ws.head().cloned().into_iter().chain(stash).chain(branches).collect()
    }

    fn mutates(&self) -> bool {
        !self.places.all.is_empty()
            || !self.places.outside.is_empty()
            || self.places.refused.is_some()
            || self.may_change_anything()
    }

    fn may_change_anything(&self) -> bool {
        self.event.effects.contains(&Effect::Unforeseen)
            || self.readings.iter().any(|reading| reading.class != Class::Read)
    }

    fn by_rules<'b>(&'b self, primary: &'b Workspace) -> Vec<Objection<'b>> {
        let home = self.places.home.as_ref();
        let actor = self.event.actor();
        let under = |arguments: &[String]| selected_by(&self.workspace_of(arguments)?, self.event);
        let of_ours = |reading: &Prediction| commands::of_ours(reading, &actor, under);
        let ours = self.readings.iter().find_map(of_ours).map(|denial| (primary, denial));
        let in_places = self.places.all.iter().filter_map(|place| self.in_place(place));
        let without_intent = home.and_then(|home| self.without_intent(home));
        ours.into_iter().chain(in_places).chain(without_intent).collect()
    }

    /// Returns an objection if a command may write and no usable intent is selected. Such a command
    /// could write anywhere in the workspace in which it acts.
    fn without_intent<'b>(&self, ws: &'b Workspace) -> Option<Objection<'b>> {
        let may_write = |reading: &Prediction| {
            reading.class != Class::Read && !reading.inspects && !self.writes_only_outside(reading)
        };
        if !self.readings.iter().any(may_write) {
            return None;
        }
        let rules = PathRules::for_event(ws, self.event);
        let denial = rules.denial(&[])?;
        // A lone `git checkout` or `git switch` is let through if the selected intent is not usable
        // here: the command may lead back from a commit with another registry. Git itself refuses
        // to lose work.
        let returns = self.readings.iter().all(|reading| {
            matches!(reading.rule.as_str(), "git.checkout" | "git.switch")
                && reading.commands.len() == 1
        });
        let is_let_through = returns && rules.selected.is_some();
        (!is_let_through).then(|| (ws, self.with_select_hint(ws, denial)))
    }

    /// Returns true if a command writes only files that it names, and none of them in a workspace. What
    /// it may write there needs no intent, as for a tool that writes one file.
    fn writes_only_outside(&self, reading: &Prediction) -> bool {
        let is_outside = |target: &TouchedPath| {
            let path = PathBuf::from(&target.path);
            target.known && (places::is_device(&path) || self.places.outside.contains(&path))
        };
        let mut targets =
            reading.targets.iter().filter(|target| target.effect != PathEffect::Read).peekable();
        reading.class == Class::Write && targets.peek().is_some() && targets.all(is_outside)
    }

    fn with_select_hint(&self, ws: &Workspace, denial: Denial) -> Denial {
        let is_home = self.places.home.as_ref().is_some_and(|home| home.root == ws.root);
        if is_home || denial.code != DenialCode::IntentRequired {
            return denial;
        }
        let folder = text::shell_word(&ws.root.path().to_string_lossy());
        denial.adding(&format!("`intent -C {folder} select ID` selects there."))
    }

    fn in_place<'b>(&self, place: &'b TouchedWorkspace) -> Option<Objection<'b>> {
        if place.names_nothing() {
            return self.without_intent(&place.ws);
        }
        let ws = &place.ws;
        let rules = PathRules::for_event(ws, self.event);
        let by_scope = rules
            .denial(&place.paths)
            .or_else(|| rules.denial_of_folders(&place.folders))
            .or_else(|| if place.whole { rules.denial_of_whole() } else { None })
            .or_else(|| place.some_of.iter().find_map(|some| rules.denial_of_all(some)));
        by_scope
            .map(|denial| self.with_select_hint(ws, self.with_scratch_hint(ws, denial)))
            .or_else(|| commands::by_path(&ws.policy, &place.paths))
            .or_else(|| several_names(place, &self.deleted()))
            .map(|denial| (ws, denial))
    }

    fn deleted(&self) -> Vec<&Path> {
        let targets = self.readings.iter().flat_map(|reading| &reading.targets);
        let (deleted, other): (Vec<_>, Vec<_>) = targets
            .filter(|target| target.effect != PathEffect::Read)
            .partition(|target| target.effect == PathEffect::Delete && target.known);
        let deleted = deleted.into_iter().filter(|one| other.iter().all(|it| it.path != one.path));
        deleted.map(|target| Path::new(target.path.as_str())).collect()
    }

    fn with_scratch_hint(&self, ws: &Workspace, denial: Denial) -> Denial {
        let path = denial.path.as_ref().and_then(|path| RelativePath::new(path).ok());
        let new = path.as_ref().filter(|path| !ws.root.absolute(path).exists());
        let is_by_command = denial.code == DenialCode::ScopeViolation && !self.readings.is_empty();
        let new = new.filter(|_| is_by_command);
        let Some((path, folder)) =
            new.zip(ws.root.environment().temporary_folders().into_iter().next())
        else {
            return denial;
        };
        let place = folder.join(path.as_str().rsplit('/').next().unwrap_or_default());
        let hint = format!("A log or another scratch file may go to {}.", place.display());
        denial.adding(&hint)
    }

    fn stale<'b>(&self, place: &'b TouchedWorkspace) -> Option<Objection<'b>> {
        let actor = self.event.actor();
        let denial = place.files.iter().find_map(|file| stale::denial(&place.ws, &actor, file))?;
        Some((&place.ws, denial))
    }

    fn by_class<'b>(&self, ws: &'b Workspace) -> Option<Objection<'b>> {
        let targets: Vec<RelativePath> =
            self.places.all.iter().flat_map(|place| place.paths.clone()).collect();
        let (actor, text) = (self.event.actor(), self.text_of_commands());
        let place = self.places.all.iter().find(|place| place.ws.root == ws.root);
        let files = place.into_iter().flat_map(|place| &place.files);
        let files: Vec<&FileBefore> = files.map(|file| &file.before).collect();
        let objection = |reading| {
            let command =
                JudgedCommand { ws, actor: &actor, text: &text, reading, files: files.clone() };
            let is_everyday = |one: &Invocation| command.is_everyday(one);
            commands::objection(&ws.policy, reading, &targets, is_everyday)
        };
        Some((ws, self.readings.iter().find_map(objection)?))
    }

    fn text_of_commands(&self) -> String {
        let texts = self.event.effects.iter().filter_map(|effect| match effect {
            Effect::Shell { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Lets the call go ahead. Keeps the state before the call in every workspace that the call
    /// touches, so that its effects can be found afterwards. Denies the call if that fails, unless
    /// the gate only observes or is switched off.
    fn goes_ahead(&self, purpose: Purpose, passed: RecordedDecision) -> Judged {
        if purpose == Purpose::Make && self.mutates() {
            let touched = self.places.all.iter().map(|place| (&place.ws, &*place.files));
            let home = self.places.home.as_ref().filter(|home| {
                let known = self.places.all.iter().any(|place| place.ws.root == home.root);
                !known && (!self.readings.is_empty() || self.may_change_anything())
            });
            let mut denial = None;
            for (ws, files) in touched.chain(home.map(|home| (home, Default::default()))) {
                denial = denial.or(self.keep(ws, files, &passed).err());
            }
            if let Some(denial) = denial {
                return Decision::Deny(denial).into();
            }
        }
        Judged { fence: self.fence(), ..Judged::default() }
    }

    fn keep(
        &self,
        ws: &Workspace,
        files: &[Touched],
        passed: &RecordedDecision,
    ) -> Result<(), Denial> {
        let background =
            |effect: &Effect| matches!(effect, Effect::Shell { background, .. } if *background);
        let is_command = self.may_change_anything();
        let call = PendingCall {
            actor: self.event.actor(),
            tool: self.event.tool.clone(),
            intent: selected_by(ws, self.event),
            head: ws.head().map(|head| head.0.clone()),
            tips: self.tips(ws),
            settings: if is_command { git_settings::digests(ws) } else { BTreeMap::new() },
            at: clock::now_in_nanoseconds(),
            outcome: passed.outcome.clone(),
            rule: passed.rule.clone(),
            approval: passed.approval.clone(),
            files: files.iter().map(|file| file.before.clone()).collect(),
            changed_before: if is_command { earlier::changed_files(ws) } else { BTreeMap::new() },
            rules: (is_command || !self.readings.is_empty()).then(|| in_force::keep(ws)).flatten(),
            command: is_command,
            background: self.event.effects.iter().any(background)
                || self.readings.iter().any(|reading| reading.background),
        };
        let Err(error) = calls::open(&ws.root, &key(self.event), &call) else { return Ok(()) };
        let why = error.with_hint();
        session::log(&ws.root, &format!("the state before a call could not be kept: {why}"));
        if only_observes(ws) {
            return Ok(());
        }
        // Most likely the disk is full. A call whose effects could not be found afterwards is
        // denied.
        let message = format!(
            "The state before this call could not be kept, so its changes could not be found afterwards: {why}. Free disk space or repair the disk, then try again."
        );
        Err(Denial::new(DenialCode::HookError, message))
    }
}

/// Adds to a denial that the call was judged by other rules than those on disk.
fn with_note_on_rules(judged: Judged) -> Judged {
    const WHY: &str = "The rules were changed while a command of an agent ran, so calls are judged by the rules from before, until a person runs `intent accept .orchestration/policy.yaml`.";
    let decision = match judged.decision {
        Decision::Deny(denial) => Decision::Deny(denial.adding(WHY)),
        Decision::Ask(denial) => Decision::Ask(denial.adding(WHY)),
        Decision::NoOpinion => Decision::NoOpinion,
    };
    Judged { decision, ..judged }
}

/// Returns an objection if a changed file has several names (hard links). The file is judged by one
/// name, but a write changes it under all of them. To delete one name leaves the others.
fn several_names(place: &TouchedWorkspace, deleted: &[&Path]) -> Option<Denial> {
    let changes = |file: &&Touched| {
        let path = place.ws.root.absolute(&file.before.path);
        !matches!(file.manner, EditManner::Away) && !deleted.contains(&path.as_path())
    };
    let file = place.files.iter().filter(changes).find(|file| {
        let path = place.ws.root.absolute(&file.before.path);
        store::names(&path) > 1 && !place.ws.ignores.git_ignored(&file.before.path)
    })?;
    let path = &file.before.path;
    let message = format!(
        "{path} has other names as well (hard links), and a write may change it under all of them."
    );
    Some(Denial::new(DenialCode::ApprovalRequired, message).about_path(path))
}

/// Parses a command in the way that the gate does. Returns `None` for any other effect.
pub(crate) fn read_command(
    event: &Event,
    effect: &Effect,
    root: Option<&Root>,
) -> Option<Prediction> {
    let Effect::Shell { text, dialect, cwd, .. } = effect else { return None };
    let cwd = cwd.as_ref().map_or_else(|| event.cwd.clone(), |cwd| event.cwd.join(cwd));
    Some(shell::read(text, *dialect, &surroundings(cwd, root, &event.environment)))
}

pub fn surroundings(
    cwd: PathBuf,
    root: Option<&Root>,
    environment: &Environment,
) -> CommandContext {
    let root = root.map(|root| root.path().to_path_buf());
    let home = environment.home().map(Path::to_path_buf);
    CommandContext { cwd, root, home, temp: environment.temporary_folders() }
}

/// Returns the files that the patch in `file` changes. A patch above 4 MiB is not read, so its
/// result is empty.
fn files_of_patch(home: &Workspace, file: &Path) -> Vec<PathBuf> {
    const MAX: u64 = 4 * 1024 * 1024;
    let patch = store::read_capped(file, MAX).ok().flatten().unwrap_or_default();
    let patch = String::from_utf8_lossy(&patch);
    shell::patched(&patch).into_iter().map(|path| home.root.path().join(path)).collect()
}
