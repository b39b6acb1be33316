//! Records what a call of a tool did: compares the disk, after the call, with the state that the
//! gate kept before it.
//!
//! Observation fails safe. A failure to record never breaks the agent's work: the record is kept
//! for another try, the error is logged in `.orchestration/local/hook_errors.log`, and `intent
//! doctor` shows it.
//!
//! - `disk`: files that changed since a point in time, and those of them that git took from older
//!   commits
//! - `left_running`: what commands change that go on after their call
//! - `linked_trees`: files in linked work trees below the workspace
//! - `reminder`: reminds the agent of the lesson tool
//! - `printed_lines`: which lines of a file a command printed
//! - `pending_records`: records that wait for another try
//! - `control_changes`: changes of files that control git or the gate

mod control_changes;
mod disk;
mod left_running;
mod linked_trees;
mod pending_records;
mod printed_lines;
mod reminder;

use crate::{earlier, judged_record, selection};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::gate::{self, Decision, GateRequest, SAME_CALL};
use super::map;
use super::seen_blocks::{self, KnownBlocks, SeenFile};
use code::LineRange;
use evidence::event::{Effect, Event};
use evidence::record::call::{FinishedCall, record_of_call};
use evidence::record::{EarlierTexts, RecordRequest};
use ground::session::calls::{self, CallState, EarlierContent, FileBefore, PendingCall};
use ground::session::seen::{self, FileState, Seen};
use ground::session::ungated::{self, Ungated};
use ground::{CommitId, RelativePath, Root, clock, session, store, text};
use ledger::Strength;
use shell::{PathEffect, TouchedPath};
use why::Workspace;

pub use super::seen_blocks::note_saved_file;
use control_changes::ControlChanges;
use disk::CheckedOutCommits;
use linked_trees::LinkedTrees;
pub use pending_records::{retry, waiting_record_files};
use printed_lines::PrintedLines;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    pub context: Option<String>,
    /// A violation for the model, shown as strongly as the host allows: the call changed, or may
    /// have changed, something that it was not allowed to change.
    pub violation: Option<String>,
}

/// Gets what is known before the work is done.
pub type Tell<'a> = &'a dyn Fn(&Feedback);

/// A call that began longer ago than this has ended, whatever its host reported.
const MAX_CALL: Duration = Duration::from_secs(3600);
/// The size in bytes above which the text of a file is not read.
const MAX_TEXT: u64 = 4 * 1024 * 1024;

/// Records what a call has done and returns what the agent should know about it. Never fails.
pub fn record_after_call(event: &Event) -> Feedback {
    tell_and_record(event, &|_| {})
}

/// Like [`record_after_call`]. `tell` gets what the agent should know if recording is not finished in
/// time, since no host waits until thousands of files are recorded.
pub fn tell_and_record(event: &Event, tell: Tell<'_>) -> Feedback {
    let event = &knowing_model(event);
    let mut feedback = Feedback::default();
    for ws in &workspaces(event) {
        Observation { ws, event, feedback: &mut feedback, tell }.whole_call();
    }
    if let Some(reminder) = reminder::reminder_after_failure(event) {
        append_sentence(&mut feedback.context, reminder);
    }
    feedback
}

/// Records the calls of a session whose end no hook reported; some hosts report nothing for a call
/// that failed in part. Must be called only while no call of the session is running. A file counts
/// as changed by the call only if it is exactly as the gate predicted; anybody may have made other
/// changes by now.
pub fn idle(event: &Event) {
    let Some(root) = governed_root(event) else { return };
    let calls = calls::finish_all(&root, &event.session_key());
    let event = &knowing_model(event);
    let ws = &Workspace::at_root(root);
    let mut observation =
        Observation { ws, event, feedback: &mut Feedback::default(), tell: &|_| {} };
    let mut touched = Vec::new();
    for call in calls.iter().filter(|call| !call.background) {
        let foreseen =
            |before: &&FileBefore| before.foresaw(&seen::state(&ws.root, &before.path, MAX_TEXT));
        let files: Vec<&FileBefore> = call.files.iter().filter(foreseen).collect();
        touched.extend(observation.all_named(call, &files));
    }
    map::follow(ws, &touched);
    let is_explained = |path: &RelativePath| touched.contains(path);
    // Nobody can be told now. The next call, the editor and a check say it.
    left_running::look(ws, Some(&event.session_key()), is_explained);
}

pub fn see_left_running(ws: &Workspace) {
    left_running::look(ws, None, |_| false);
}

pub fn refresh_map(event: &Event) {
    if let Some(root) = governed_root(event) {
        map::refresh(&Workspace::at_root(root));
    }
}

fn governed_root(event: &Event) -> Option<Root> {
    Root::find(&event.cwd, &event.environment).ok().filter(Root::governed)
}

/// Fills in the model that the host named at the start of the session if the call names none. Calls
/// of a subagent are left as they are, because a subagent may run another model.
fn knowing_model(event: &Event) -> Event {
    let kept = || {
        let root =
            Root::find(&event.cwd, &event.environment).ok().filter(|_| event.subagent.is_none())?;
        session::model_of(&root, &event.session_key())
    };
    Event { model: event.model.clone().or_else(kept), ..event.clone() }
}

/// Returns the governed workspaces that the call touches: those of every path that it names, and
/// that of its working folder.
fn workspaces(event: &Event) -> Vec<Workspace> {
    let mut all: Vec<Workspace> = Vec::new();
    for path in std::iter::once(event.cwd.clone()).chain(paths(event)) {
        let Ok(root) = Root::find(&path, &event.environment) else { continue };
        if root.governed() && !all.iter().any(|ws| ws.root.path() == root.path()) {
            all.push(Workspace::at_root(root));
        }
    }
    all
}

/// Returns every path that the call names, as absolute paths.
fn paths(event: &Event) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for effect in &event.effects {
        match effect {
            Effect::Read { path, .. } => paths.push(path.clone()),
            Effect::Shell { .. } => {
                let Some(reading) = gate::read_command(event, effect, None) else { continue };
                let known = reading.targets.into_iter().filter(|target| target.known);
                paths.extend(known.map(|target| PathBuf::from(target.path)));
                paths.extend(reading.folders.into_iter().map(PathBuf::from));
            }
            _ => paths.extend(effect.written().into_iter().cloned()),
        }
    }
    paths.into_iter().map(|path| event.cwd.join(path)).collect()
}

struct Observation<'a> {
    ws: &'a Workspace,
    event: &'a Event,
    feedback: &'a mut Feedback,
    tell: Tell<'a>,
}

impl Observation<'_> {
    fn whole_call(&mut self) {
        let (ws, event) = (self.ws, self.event);
        pending_records::retry(ws);
        self.see_reads();
        gate::finish_selection(ws, event);
        let key = gate::key(event);
        self.look_at_left_running(&key);
        if event.only_reads() {
            return;
        }
        let by_id = event.call.is_some();
        let touched = match calls::finish(&ws.root, &key) {
            CallState::Open(call) => {
                let known_until = clock::now_in_nanoseconds();
                let touched = self.ended(&call);
                if call.background && call.command {
                    left_running::follow(ws, &key, &call, known_until);
                }
                calls::mark_recorded(&ws.root, &key);
                touched
            }
            CallState::Done(since) if by_id || since < SAME_CALL => return,
            CallState::Done(_) | CallState::Unknown => self.never_gated(),
        };
        if !touched.is_empty() {
            let kept = session::keep_time_of_write(&ws.root, &event.actor());
            session::or_log(&ws.root, "the time of a write could not be kept", kept);
        }
        map::follow(ws, &touched);
    }

    /// Looks at commands that the session left running. What the present call may have changed itself is
    /// left to it.
    fn look_at_left_running(&mut self, key: &str) {
        let ws = self.ws;
        let present = match calls::state_of(&ws.root, key) {
            CallState::Open(call) => Some(call),
            CallState::Done(_) | CallState::Unknown => None,
        };
        let is_explained = |path: &RelativePath| {
            present.as_ref().is_some_and(|call| {
                call.files.iter().any(|file| file.path == *path)
                    || call.command && disk::changed_at(ws, path).is_none_or(|at| at >= call.at)
            })
        };
        let told = left_running::look(ws, Some(&self.event.session_key()), is_explained);
        if let Some(message) = told {
            append_sentence(&mut self.feedback.violation, message);
        }
    }

    /// Makes the content of the files that the call read the session's baseline.
    fn see_reads(&self) {
        let (ws, event) = (self.ws, self.event);
        let mut read: Vec<(PathBuf, Option<LineRange>)> = Vec::new();
        for effect in &event.effects {
            match effect {
                Effect::Read { path, lines } => read.push((path.clone(), *lines)),
                Effect::Shell { background: false, .. } => {
                    let Some(reading) = gate::read_command(event, effect, Some(&ws.root)) else {
                        continue;
                    };
                    let known =
                        |target: &&TouchedPath| target.effect == PathEffect::Read && target.known;
                    for target in reading.targets.iter().filter(known) {
                        let lines = match printed_lines::printed(&reading, &target.path) {
                            Some(PrintedLines::Whole) => None,
                            Some(PrintedLines::Lines(lines)) => Some(lines),
                            None => continue,
                        };
                        read.push((PathBuf::from(&target.path), lines));
                    }
                }
                _ => {}
            }
        }
        for (path, lines) in read {
            let Ok(path) = ws.path(ws.root.path(), &event.cwd.join(path)) else { continue };
            let Ok(path) = ws.root.resolve(&path) else { continue };
            let state = seen::state(&ws.root, &path, MAX_TEXT);
            if state.hash.is_some() {
                self.file(&path, &state).read(lines);
            }
        }
    }

    fn file<'b>(&'b self, path: &'b RelativePath, now: &'b FileState) -> SeenFile<'b> {
        SeenFile { ws: self.ws, event: self.event, path, now }
    }

    fn ended(&mut self, call: &PendingCall) -> Vec<RelativePath> {
        let mut touched = Vec::new();
        if !call.background {
            let files: Vec<&FileBefore> = call.files.iter().collect();
            touched.extend(self.all_named(call, &files));
        }
        if call.command {
            touched.extend(self.handle_unnamed(call));
        }
        touched
    }

    fn all_named(&mut self, call: &PendingCall, files: &[&FileBefore]) -> Vec<RelativePath> {
        // What the session knew of each file; for a moved file, what it knew of the old path. This
        // is collected first because the loop below overwrites it.
        let known = files.iter().map(|before| {
            let origin = before.moved_from.as_ref().unwrap_or(&before.path);
            seen::last_seen_state(&self.ws.root, &self.event.actor(), origin)
        });
        let known: Vec<Option<Seen>> = known.collect();
        let changed = files.iter().zip(known).filter_map(|(before, known)| {
            let has_changed = self.record_named_file(call, before, known.as_ref());
            has_changed.then(|| before.path.clone())
        });
        changed.collect()
    }

    /// Records what the call did to one file that it named. `known` is what the session knew of the
    /// file before. Returns true if the file has changed.
    fn record_named_file(
        &mut self,
        call: &PendingCall,
        before: &FileBefore,
        known: Option<&Seen>,
    ) -> bool {
        let (ws, path) = (self.ws, &before.path);
        // A part of the path may have become a symbolic link since the gate resolved and judged it.
        let led = ws.root.resolve(path).ok();
        if led.as_ref() != Some(path) {
            return self.wrote_through_link(call, path, led);
        }
        let now = seen::state(&ws.root, path, MAX_TEXT);
        if now.hash == before.hash {
            return false;
        }
        if before.hash.is_none() && !call.command {
            self.tell_of_other_names(call, path);
        }
        let is_settled = self.settle_if_restored(path, before.hash.as_ref());
        // One call may restore files in and out of scope.
        let is_of_others = || is_objected_to(ws, path, call.intent.as_ref());
        if call.rule.as_deref() == Some(calls::RESTORES) && (is_settled || is_of_others()) {
            if !is_settled {
                let before = EarlierContent::Unknown;
                self.not_gated(path, &now, (before, call_head(call)), "it was not restored");
            }
            self.file(path, &now).changed_unseen();
            return true;
        }
        let work = FinishedCall { call, before, now: &now, event: self.event };
        let file = SeenFile { ws, event: self.event, path, now: &now };
        let is_ignored = ws.ignores.git_ignored(path);
        let intent = call.intent.as_deref().and_then(|id| ws.registry.get(id));
        let Some(intent) = intent.filter(|_| !is_ignored) else {
            if !is_ignored {
                // The policy enforced nothing and no intent is selected, so nobody can say what the
                // change was for.
                let before = EarlierContent::of_hash(before.hash.clone());
                self.not_gated(path, &now, (before, call_head(call)), "no intent was selected");
            }
            file.keep(KnownBlocks::after_call(&work, known, file.pieces(None).as_ref()));
            return !is_ignored;
        };
        let log = |why| session::log(&ws.root, &format!("{path} was not recorded: {why}"));
        let found = record_of_call(ws, intent, &work).map_err(log).ok();
        let pieces = file.pieces(found.as_ref().map(|found| &found.now));
        let recorded = found.is_some_and(|found| {
            // Hosts run several calls of a session at once, and the other one has recorded its part.
            let is_own = last_write_since(ws, call, path).is_some_and(|it| it.actor == call.actor);
            if !found.others.is_empty() && !is_own {
                let names = found.others.join(", ");
                let message = format!(
                    "{path}: {names} changed at the same time, and not by this call; that is not recorded as yours."
                );
                append_sentence(&mut self.feedback.context, message);
            }
            found.record.is_none_or(|record| pending_records::append(ws, record))
        });
        file.keep(KnownBlocks::after_call(&work, known, pieces.as_ref()));
        let wrote = Seen { recorded, ..file.note(KnownBlocks::of_whole_file(pieces)) };
        seen_blocks::wrote(ws, wrote, seen_blocks::pieces_before(before).as_ref());
        true
    }

    /// Removes the note about an unforeseen write of a file that contained `hash` since then, if the file
    /// is again as it was before. Returns true if it is.
    fn settle_if_restored(&self, path: &RelativePath, hash: Option<&String>) -> bool {
        let ws = self.ws;
        let note = ungated::last_of_file(&ws.root, path).filter(|note| note.hash.as_ref() == hash);
        if !note.is_some_and(|note| earlier::is_restored(ws, &note)) {
            return false;
        }
        let what = format!("the note about {path} could not be removed");
        session::or_log(&ws.root, &what, ungated::settle(&ws.root, path));
        true
    }

    /// Reports a write through a link that did not exist when the gate judged the call. Such a
    /// write is noted as ungated and is recorded under no intent. `led` is where the path leads now,
    /// or `None` if it leads out of the workspace. Returns true if the write stayed inside.
    fn wrote_through_link(
        &mut self,
        call: &PendingCall,
        path: &RelativePath,
        led: Option<RelativePath>,
    ) -> bool {
        // A command that made the link is known to have written no further than to where it leads.
        let is_permitted = |led: &RelativePath| !is_objected_to(self.ws, led, call.intent.as_ref());
        if call.command && led.as_ref().is_some_and(is_permitted) {
            return true;
        }
        let place = match &led {
            Some(led) => format!("to {led}"),
            None => "outside of the workspace".to_owned(),
        };
        let message = format!(
            "Scope Violation: {path} has become a link since this call was judged, so it may have written {place}. Undo that, and tell the user; nothing was undone for you."
        );
        append_sentence(&mut self.feedback.violation, message);
        let Some(led) = led else { return false };
        let now = seen::state(&self.ws.root, &led, 0);
        let why = format!("it was written through {path}, which became a link");
        self.not_gated(&led, &now, (EarlierContent::Unknown, call_head(call)), &why);
        true
    }

    /// Reports a write to a new file that has become another name (a hard link) of a file out of scope
    /// since the gate judged the call.
    fn tell_of_other_names(&mut self, call: &PendingCall, path: &RelativePath) {
        let ws = self.ws;
        if store::names(&ws.root.absolute(path)) < 2 || ws.ignores.git_ignored(path) {
            return;
        }
        let mut others = disk::other_names(ws, path, call.at);
        others.retain(|other| is_objected_to(ws, other, call.intent.as_ref()));
        for other in &others {
            let now = seen::state(&ws.root, other, 0);
            let why = format!("it was written through {path}, which became a hard link to it");
            self.not_gated(other, &now, (EarlierContent::Unknown, call_head(call)), &why);
        }
        let names = match others.as_slice() {
            [] => "another file".to_owned(),
            others => text::listed(others),
        };
        let message = format!(
            "Scope Violation: {path} has become a hard link since this call was judged, so it has changed {names} too. Undo that, and tell the user; nothing was undone for you."
        );
        append_sentence(&mut self.feedback.violation, message);
    }

    /// Handles the files that a command changed without naming them. Reports those out of scope,
    /// records the others as the work of the call, and returns the recorded ones.
    fn handle_unnamed(&mut self, call: &PendingCall) -> Vec<RelativePath> {
        let ws = self.ws;
        let named = |path: &RelativePath| call.files.iter().any(|file| file.path == *path);
        let head = call_head(call);
        let changed = disk::changed_since(ws, call.at, head.as_ref());
        let checked_out = CheckedOutCommits::found_after_call(ws, call);
        let mut old = Vec::new();
        let ControlChanges { inside: mut outside, elsewhere } = control_changes(ws, call);
        let trees = LinkedTrees::below_workspace(ws, call);
        let mut ours = Vec::new();
        // Commands of `intent` itself, such as `intent lesson`, record what they write.
        let unexplained = changed
            .paths
            .into_iter()
            .filter(|path| !named(path) && !seen_blocks::is_ours(ws, path));
        for path in unexplained {
            if outside.contains(&path) || written_by_another(ws, call, &path) {
                continue;
            }
            if is_objected_to(ws, &path, call.intent.as_ref()) {
                if !trees.explain(ws, call, &path) {
                    outside.push(path);
                }
            } else if !call.background && !touched_by_others(ws, call, &path) {
                ours.push(path);
            }
        }
        let before = earlier::contents_before(ws, call, &outside);
        let is_same = earlier::are_as_before(ws, &outside, &before);
        let (mut outside_changed, mut unknown, mut of_others) =
            (Vec::new(), Vec::new(), Vec::new());
        for ((path, before), is_same) in outside.into_iter().zip(before).zip(is_same) {
            let is_restored = || {
                let hash = earlier::hash_of(ws, &path, &before);
                hash.is_some_and(|hash| self.settle_if_restored(&path, hash.as_ref()))
            };
            match is_same {
                Some(true) => {}
                None => unknown.push(path),
                Some(false) if is_restored() => {}
                Some(false) if checked_out.holds(ws, &path) => old.push(path),
                Some(false) if commanded_by_another(ws, call, &path) => of_others.push(path),
                Some(false) => outside_changed.push((path, before)),
            }
        }
        append_about(&mut self.feedback.context, &unknown, |files| {
            format!(
                "A program converts these files for git, so nobody can tell whether the command changed them: {files}."
            )
        });
        let all = outside_changed.iter().map(|(path, _)| path.to_string()).chain(elsewhere);
        let all: Vec<String> = all.chain(changed.not_utf8).collect();
        let intent = call.intent.as_deref().unwrap_or("no intent");
        append_about(&mut self.feedback.violation, &all, |files| {
            format!(
                "Scope Violation: while this command ran, files changed that {intent} is not authorized to edit: {files}. If the command did it, undo it and request scope expansion; nothing was undone for you."
            )
        });
        append_about(&mut self.feedback.context, &old, |files| {
            format!(
                "git brought other versions of files out of scope: {files}. They come from commits that were there before, and are not recorded as yours."
            )
        });
        append_about(&mut self.feedback.context, &of_others, |files| {
            format!(
                "These files out of scope changed while this command ran. So did a command of another session, whose intent owns them: {files}. If it was your command, undo it."
            )
        });
        let mut unfinished = self.feedback.clone();
        append_about(&mut unfinished.context, &ours, |files| {
            format!(
                "Recording what this command changed takes longer than a hook may, so some of these files have no record: {files}. `intent record` records what you wrote there."
            )
        });
        (self.tell)(&unfinished);
        for (path, before) in &outside_changed {
            let now = seen::state(&ws.root, path, 0);
            let why = "a command changed it, and it is out of scope";
            self.not_gated(path, &now, (before.clone(), head.clone()), why);
        }
        self.record_unforeseen(call, outside_changed);
        self.record_in_scope(call, ours)
    }

    /// Records files in scope that a command changed without naming them, and returns those that
    /// changed. Where nobody knows what a file contained before, nobody can tell what the command
    /// did to it, and nothing is recorded.
    fn record_in_scope(
        &mut self,
        call: &PendingCall,
        paths: Vec<RelativePath>,
    ) -> Vec<RelativePath> {
        let ws = self.ws;
        let before = earlier::contents_before(ws, call, &paths);
        let is_same = earlier::are_as_before(ws, &paths, &before);
        let all = paths.into_iter().zip(before).zip(is_same);
        let changed: Vec<(RelativePath, EarlierContent)> =
            all.filter(|(_, is_same)| *is_same != Some(true)).map(|(file, _)| file).collect();
        let unknown = changed.iter().filter(|(_, before)| !before.has_known_text());
        let unknown: Vec<&RelativePath> = unknown.map(|(path, _)| path).collect();
        append_about(&mut self.feedback.context, &unknown, |files| {
            format!(
                "Nobody knows what these files contained before the command, so nothing was recorded of them: {files}. `intent record` records what you wrote there."
            )
        });
        let paths: Vec<RelativePath> = changed.iter().map(|(path, _)| path.clone()).collect();
        self.record_changes(call, changed);
        for path in &paths {
            self.file(path, &seen::state(&ws.root, path, MAX_TEXT)).changed_unseen();
        }
        paths
    }

    /// Records what a command did to files that it did not name, each with what it contained when the
    /// command began. Files whose text is unknown are left out.
    fn record_changes(&self, call: &PendingCall, changed: Vec<(RelativePath, EarlierContent)>) {
        let known = changed.into_iter().filter(|(_, before)| before.has_known_text());
        let earlier: BTreeMap<RelativePath, EarlierTexts> = known
            .map(|(path, before)| {
                let texts = earlier::texts(self.ws, call, &path, &before);
                (path, texts)
            })
            .collect();
        self.record(call.intent.clone(), Strength::Inferred, earlier);
    }

    /// Records changes out of scope as the work of the session, with the objection that the gate has to
    /// them. What somebody else may have changed is only noted, and control files have no record.
    fn record_unforeseen(
        &self,
        call: &PendingCall,
        mut changed: Vec<(RelativePath, EarlierContent)>,
    ) {
        changed.retain(|(path, _)| !touched_by_others(self.ws, call, path));
        let is_known =
            call.intent.as_deref().is_some_and(|id| self.ws.intent_in_progress(id).is_ok());
        if is_known && !call.background {
            self.record_changes(call, changed);
        }
    }

    /// Records a write whose beginning no hook saw, as far as the call itself says what it wrote.
    /// Anybody may have written the rest of the file. Returns the files that the call names as written.
    fn never_gated(&mut self) -> Vec<RelativePath> {
        let (ws, event) = (self.ws, self.event);
        let (mut written, mut earlier) = (Vec::new(), BTreeMap::new());
        for effect in &event.effects {
            for path in effect.written() {
                let Ok(path) = ws.path(ws.root.path(), &event.cwd.join(path)) else { continue };
                let now = seen::state(&ws.root, &path, MAX_TEXT);
                let before = (EarlierContent::Unknown, ws.head().cloned());
                self.not_gated(&path, &now, before, "no hook was asked before it");
                self.file(&path, &now).changed_unseen();
                if let Some(texts) = texts_by_effect(effect, &now).filter(|_| !event.failed) {
                    earlier.insert(path.clone(), texts);
                }
                written.push(path);
            }
        }
        if written.is_empty() {
            return written;
        }
        match selection::selected_by(ws, event) {
            Some(intent) => {
                self.record(Some(intent), Strength::Observed, earlier);
            }
            None => {
                let message = format!(
                    "{} was written without an intent, and no hook was asked before. Select an intent, and tell the user that the hooks before a tool do not run (`intent doctor`).",
                    text::listed(&written)
                );
                append_sentence(&mut self.feedback.violation, message);
            }
        }
        written
    }

    /// Notes a write that no gate let through. `before` is what the file contained when the call began,
    /// and the commit that was checked out then.
    fn not_gated(
        &self,
        path: &RelativePath,
        now: &FileState,
        before: (EarlierContent, Option<CommitId>),
        why: &str,
    ) {
        let who = (self.event.actor(), self.event.tool.clone());
        note_ungated(self.ws, who, (path, now), before, why);
    }

    /// Records what happened to the files of which something is known from before.
    fn record(
        &self,
        intent: Option<String>,
        strength: Strength,
        earlier: BTreeMap<RelativePath, EarlierTexts>,
    ) {
        if earlier.is_empty() {
            return;
        }
        let request = RecordRequest {
            paths: earlier.keys().cloned().collect(),
            intent,
            strength: Some(strength),
            earlier,
            ..RecordRequest::for_call(self.event)
        };
        let recorded = judged_record::record(self.ws, &request);
        let answer = session::or_log(&self.ws.root, "a call could not be recorded", recorded);
        for skipped in answer.iter().flat_map(|answer| &answer.skipped) {
            tracing::debug!(path = %skipped.path, reason = skipped.reason, "not recorded");
        }
    }
}

/// Returns what an effect says of the text that a file had before. `None` if it does not tell: in the
/// whole new text of a file, lines may be there that somebody else had in it already.
fn texts_by_effect(effect: &Effect, now: &FileState) -> Option<EarlierTexts> {
    let texts = EarlierTexts::default();
    match effect {
        Effect::Delete { .. } => now.hash.is_none().then_some(texts),
        Effect::Write { change, .. } | Effect::Move { change: Some(change), .. } => {
            Some(EarlierTexts { before: Some(change.text_before(now.text.as_deref()?)?), ..texts })
        }
        _ => None,
    }
}

fn is_objected_to(ws: &Workspace, path: &RelativePath, intent: Option<&String>) -> bool {
    let paths = vec![path.to_string()];
    let request = GateRequest { paths, session: None, intent: intent.cloned() };
    gate::judge(ws, &request) != Decision::NoOpinion
}

/// Notes a write that no gate let through, of the session and the tool in `who`. `before` is what the
/// file contained when the call began, and the commit that was checked out then.
fn note_ungated(
    ws: &Workspace,
    (actor, tool): (String, String),
    (path, now): (&RelativePath, &FileState),
    (before, head): (EarlierContent, Option<CommitId>),
    why: &str,
) {
    // After several such writes, the content from before the first of them is to be restored.
    let before = before.without_text();
    let earlier = ungated::last_of_file(&ws.root, path).filter(|earlier| match &before {
        EarlierContent::Unknown => true,
        before => *before == EarlierContent::of_hash(earlier.hash.clone()),
    });
    let (before, head) = match earlier {
        Some(earlier) => (earlier.before, earlier.head),
        None => (before, head),
    };
    let note = Ungated {
        path: path.clone(),
        hash: now.hash.clone(),
        before,
        head,
        actor,
        tool,
        why: why.to_owned(),
        at: clock::now(),
    };
    let what = format!("an ungated write of {path} could not be noted");
    session::or_log(&ws.root, &what, ungated::keep(&ws.root, &note));
}

fn call_head(call: &PendingCall) -> Option<CommitId> {
    call.head.clone().map(CommitId)
}

/// Returns the files that control git or the gate and changed during the call, except those that
/// `intent` itself wrote for a person. Changed rules are not in force until a person accepts them.
fn control_changes(ws: &Workspace, call: &PendingCall) -> ControlChanges {
    let mut rules = gate::changed_rules(ws, call.rules.as_deref());
    rules.retain(|path| !seen_blocks::is_ours(ws, path));
    if !rules.is_empty() {
        gate::reject_change(ws, call.rules.as_deref());
    }
    let mut changes = ControlChanges::made_since(ws, call);
    changes.inside.retain(|path| !seen_blocks::is_ours(ws, path) && !rules.contains(path));
    changes.inside.extend(rules);
    changes
}

/// Returns true if a file is as another known actor left it after the call began: another session, to
/// which the gate permitted it, or a person who saved the file in an editor.
fn written_by_another(ws: &Workspace, call: &PendingCall, path: &RelativePath) -> bool {
    let now = seen::state(&ws.root, path, MAX_TEXT);
    // The hook after the other call may run later than this one.
    let foresaw =
        |other: &FileBefore| other.path == *path && other.hash != now.hash && other.foresaw(&now);
    last_write_of_another(ws, call, path).is_some_and(|last| last.hash == now.hash)
        || calls::all_open(&ws.root)
            .iter()
            .any(|other| other.actor != call.actor && other.files.iter().any(foresaw))
}

/// Returns true if a command of another actor ran at the same time as a call, under an intent that
/// permits the file.
fn commanded_by_another(ws: &Workspace, call: &PendingCall, path: &RelativePath) -> bool {
    let permits =
        |intent: Option<String>| intent.is_some() && !is_objected_to(ws, path, intent.as_ref());
    let ended = call.at.saturating_sub(MAX_CALL.as_nanos());
    calls::commands_since(&ws.root, call.at)
        .into_iter()
        .any(|other| other.actor != call.actor && other.at >= ended && permits(other.intent))
}

/// Returns the last known write of a file if it was made since the call began.
fn last_write_since(ws: &Workspace, call: &PendingCall, path: &RelativePath) -> Option<Seen> {
    let began = i64::try_from(call.at / 1_000_000).unwrap_or(i64::MAX);
    seen::last_write(&ws.root, path)
        .filter(|last| clock::milliseconds(&last.at).is_none_or(|at| at >= began))
}

fn last_write_of_another(ws: &Workspace, call: &PendingCall, path: &RelativePath) -> Option<Seen> {
    last_write_since(ws, call, path).filter(|last| last.actor != call.actor)
}

/// Returns true if another known actor may have changed the file since the call began.
fn touched_by_others(ws: &Workspace, call: &PendingCall, path: &RelativePath) -> bool {
    // A host that has ended reports the end of no call.
    let ended = call.at.saturating_sub(MAX_CALL.as_nanos());
    let names = |other: &PendingCall| other.files.iter().any(|file| file.path == *path);
    let calls = calls::all_open(&ws.root).into_iter().filter(names);
    let calls = calls.map(|other| (other.actor, other.at));
    let commands = calls::commands_since(&ws.root, call.at).into_iter();
    last_write_of_another(ws, call, path).is_some()
        || calls
            .chain(commands.map(|other| (other.actor, other.at)))
            .any(|(actor, at)| actor != call.actor && at >= ended)
}

/// Adds a sentence about files, if there are any.
fn append_about(
    text: &mut Option<String>,
    files: &[impl ToString],
    sentence: impl FnOnce(String) -> String,
) {
    if !files.is_empty() {
        append_sentence(text, sentence(text::listed(files)));
    }
}

fn append_sentence(text: &mut Option<String>, more: String) {
    *text = Some(match text.take() {
        Some(before) => format!("{before}\n{more}"),
        None => more,
    });
}
