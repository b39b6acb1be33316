//! `doctor`: checks whether everything is in place, and says what to do if not.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use claims::{MissingNotes, missing_notes, unknown_notes};
use evidence::git_hooks::{self, HooksState};
use evidence::seal;
use ground::policy::Mode;
use ground::text::{counted, shell_word};
use ground::{Finding, Hint, Level, RelativePath, approvals, session, store};
use intents::FOLDER;
use judgement::after;
use why::health::{Examined, Health};
use why::{Workspace, selectable};

/// The result of an examination.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// The checks that were made, one entry for each.
    pub checks: Vec<Examined>,
}

/// The number of bytes up to which the log of the hooks is read.
const MAX_LOG: u64 = 2 * 1024 * 1024;

type CheckResult = (Health, String);

fn good_health(detail: impl Into<String>) -> CheckResult {
    (Health::Good, detail.into())
}

fn bad_health(detail: impl Into<String>) -> CheckResult {
    (Health::Bad, detail.into())
}

fn unknown_health(detail: impl Into<String>) -> CheckResult {
    (Health::Unknown, detail.into())
}

pub fn examine(ws: &Workspace) -> DoctorAnswer {
    let standing = [
        ("workspace", check_governed(ws)),
        ("git", git(ws)),
        ("registry", registry(ws)),
        ("policy", policy(ws)),
        ("selection", selection(ws)),
        ("ledger", ledger(ws)),
        ("git hooks", hooks(ws)),
        (".gitignore", check_ignored(ws)),
        (".gitattributes", attributes(ws)),
        ("permissions", check_writable(ws)),
    ];
    let now = [
        ("switch", switched_off(ws)),
        ("mode", check_mode(ws)),
        ("unrecorded", check_unrecorded(ws)),
        ("hook errors", errors(ws)),
        ("ungated", check_ungated(ws)),
        ("other notes", other_notes(ws)),
        ("questions", check_waiting(ws)),
    ];
    // Without the folder of a workspace, one check says so.
    let needs_folder = |what| [".gitignore", ".gitattributes", "permissions"].contains(&what);
    let standing =
        standing.into_iter().filter(|(what, _)| ws.root.governed() || !needs_folder(*what));
    let all = standing.map(|(what, found)| (what, Some(found))).chain(now);
    let examined = all.filter_map(|(what, found)| {
        let (state, detail) = found?;
        Some(Examined { what: what.to_owned(), state, detail })
    });
    DoctorAnswer { checks: examined.collect() }
}

/// Reports that a person switched the gate off, so that it blocks nothing. Returns `None` while it
/// is on.
fn switched_off(ws: &Workspace) -> Option<CheckResult> {
    let off = session::off_until(&ws.root)?;
    let why = off.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    Some(bad_health(format!(
        "a person switched the gate off until {}{why}; `intent agent on` ends it",
        off.until
    )))
}

/// Reports that the policy only observes, so that the gate blocks nothing. Returns `None` in any
/// other mode.
fn check_mode(ws: &Workspace) -> Option<CheckResult> {
    let detail =
        "`mode: observe` in the policy: the gate says what it would hold up, and holds up nothing";
    (ws.root.governed() && ws.policy.mode == Mode::Observe).then(|| unknown_health(detail))
}

fn check_unrecorded(ws: &Workspace) -> Option<CheckResult> {
    let count = after::waiting_record_files(&ws.root).len();
    let records = counted(count, "record");
    let detail = format!("{records} could not be written; `intent doctor --retry` tries again");
    (count > 0).then(|| bad_health(detail))
}

fn errors(ws: &Workspace) -> Option<CheckResult> {
    let path = ws.root.orchestration().join("local").join("hook_errors.log");
    let bytes = store::read_capped(&path, MAX_LOG).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rfind(|line| !line.is_empty())?;
    let lines = counted(text.lines().count(), "line");
    Some(unknown_health(format!(
        "{lines} in .orchestration/local/hook_errors.log, the last: {last}; remove the file once you have read it"
    )))
}

fn check_ungated(ws: &Workspace) -> Option<CheckResult> {
    let notes = session::ungated::still_valid(&ws.root);
    let session::ungated::Ungated { path, actor, why, .. } = notes.first()?;
    let (writes, typed) = (counted(notes.len(), "write"), path.for_shell());
    Some(bad_health(format!(
        "{writes} that no gate let through; the first: {path} by {actor} ({why}); look at it, then `intent accept {typed}` settles it as it stands"
    )))
}

fn other_notes(ws: &Workspace) -> Option<CheckResult> {
    const SHOWN: usize = 5;
    let git = ws.git()?;
    if let Some(MissingNotes { remote, reference }) = missing_notes(git).into_iter().next() {
        let (remote, shown) = (shell_word(&remote), &reference);
        return Some(unknown_health(format!(
            "{remote} has {shown}, which say who wrote lines, and this clone lacks them; `git fetch {remote} {reference}:{reference}` brings them"
        )));
    }
    let mut names = unknown_notes(git);
    let count = names.len();
    names.truncate(SHOWN);
    let more = if count > SHOWN { ", …" } else { "" };
    let detail = format!("notes that are not read: {}{more}", names.join(", "));
    (count > 0).then(|| unknown_health(detail))
}

fn check_waiting(ws: &Workspace) -> Option<CheckResult> {
    let pending = approvals::pending(&ws.root);
    let code = &pending.first()?.code;
    let questions = counted(pending.len(), "question");
    Some(unknown_health(format!(
        "{questions} for a person; `intent approve {code}` shows the first"
    )))
}

fn check_governed(ws: &Workspace) -> CheckResult {
    let root = ws.root.path().display();
    match ws.root.governed() {
        true => good_health(format!("{root} holds .orchestration/")),
        false => {
            bad_health(format!("{root} has no .orchestration/; create it with `intent setup init`"))
        }
    }
}

fn git(ws: &Workspace) -> CheckResult {
    match (ws.git(), ws.git_error(), ws.head()) {
        (_, Some(error), _) => bad_health(error.to_string()),
        (None, None, _) => unknown_health(
            "no repository: edits are judged against the last record of a file, and `check` judges no changes",
        ),
        (Some(git), None, _) if git.is_shallow() => unknown_health(
            "a shallow clone: `check --base` needs the base commit here (`git fetch --unshallow`)",
        ),
        (Some(_), None, Some(head)) => good_health(format!("HEAD is {}", head.0)),
        (Some(_), None, None) => good_health("no commit yet"),
    }
}

fn registry(ws: &Workspace) -> CheckResult {
    let path = ws.registry.path();
    if let Some(finding) = ws.registry.syntax_error() {
        return bad_health(format!(
            "{}: {} {}",
            finding.place_in_compiler_form(path),
            finding.message,
            finding.help
        ));
    }
    if let Some(lost) = ws.lost_registry() {
        return bad_health(lost);
    }
    if !ws.registry.exists() {
        return good_health("no intent yet; `intent new` writes the first");
    }
    let mut ids = ws.registry.intents().iter().map(|intent| &intent.id.value);
    if let Some(unclear) = ids.find_map(|id| ws.registry.why_ambiguous(id)) {
        return bad_health(unclear);
    }
    let intents = counted(ws.registry.intents().len(), "intent");
    match ws.registry.files().len() {
        1 => good_health(format!("{path} holds {intents}")),
        _ => good_health(format!("{path} and {FOLDER}/ hold {intents}")),
    }
}

fn policy(ws: &Workspace) -> CheckResult {
    let ignores = ws.ignores.findings();
    let grave = |finding: &&Finding| ws.policy.check_level(finding.code) == Level::Error;
    match ws.policy_findings.first().or_else(|| ignores.iter().find(grave)) {
        Some(finding) => bad_health(format!("{} {}", finding.message, finding.help)),
        None => good_health("in order"),
    }
}

fn selection(ws: &Workspace) -> CheckResult {
    let Some(id) = ws.selected(None) else {
        return unknown_health(format!("no intent is selected: {}", selectable::next_step(ws)));
    };
    match ws.intent_in_progress(&id) {
        Ok(_) => good_health(format!("{id} is selected")),
        Err(error) => bad_health(error.with_hint()),
    }
}

fn ledger(ws: &Workspace) -> CheckResult {
    let records = counted(ws.ledger.entries().len(), "record");
    let is_shown = |it: &&Finding| ws.policy.check_level(it.code) >= Level::Warning;
    let broken: Vec<_> = ws.ledger.findings().iter().filter(is_shown).collect();
    let Some(Finding { message, help, .. }) = broken.first() else {
        return good_health(format!("{records}, every chain whole"));
    };
    let findings = counted(broken.len(), "finding");
    bad_health(format!(
        "{records}, {findings}; the first: {message} {help} See `intent evidence verify`"
    ))
}

/// Reports whether git's hooks are installed. Without them a commit does not carry its evidence.
fn hooks(ws: &Workspace) -> CheckResult {
    let seal::OpenRecords { standing, gone } = seal::open(ws);
    let mut open = String::new();
    if !standing.is_empty() {
        open += &format!("; {} in no commit yet", counted(standing.len(), "record"));
    }
    if gone > 0 {
        // Such code was undone, is on another branch, or was moved in a change that is too large to search.
        let records = counted(gone, "record");
        open += &format!(
            "; {records} of code that was not found here, kept as long as git has it, and for 90 days"
        );
    }
    match git_hooks::standing(ws) {
        HooksState::NotNeeded(why) => unknown_health(format!("{why}{open}")),
        HooksState::Installed => good_health(format!("commits carry what was recorded{open}")),
        HooksState::Missing { remedy, .. } => {
            bad_health(format!("missing, so commits carry no records{open}; `{remedy}`"))
        }
    }
}

/// Checks that git ignores the private files, because they must not be committed.
fn check_ignored(ws: &Workspace) -> CheckResult {
    if ws.root.git_dir().is_none() {
        return unknown_health("not needed without git");
    }
    let text = rules(ws, ".orchestration/.gitignore");
    let mut missing = vec!["active_intent_current.json", "local"];
    let texts = ws.root.orchestration().join("texts");
    if texts.is_dir() && !texts.join(".gitignore").exists() {
        missing.push("texts");
    }
    missing.retain(|name| !text.contains(name));
    match missing.is_empty() {
        true => good_health("selection and local state stay out of commits"),
        false => bad_health(format!(
            ".orchestration/.gitignore does not name {}; add it there, or remove the file and run `intent setup init`",
            missing.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(" and ")
        )),
    }
}

fn rules(ws: &Workspace, name: &str) -> String {
    const MAX: u64 = 256 * 1024;
    let path = RelativePath::new(name).ok();
    let bytes = path.and_then(|path| ws.root.read_rules(&path, MAX).ok()?);
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

/// Checks that git does not convert line endings in the ledger, because that would break every
/// hash.
fn attributes(ws: &Workspace) -> CheckResult {
    if ws.root.git_dir().is_none() {
        return unknown_health("not needed without git");
    }
    let texts = [".orchestration/.gitattributes", ".gitattributes"].map(|name| rules(ws, name));
    let keeps = |line: &str| line.contains("agent_trace") && line.contains("-text");
    match texts.iter().flat_map(|text| text.lines()).any(keeps) {
        true => good_health("git leaves the ledger's bytes alone"),
        false => bad_health(
            "nothing keeps git from converting line ends in the ledger, which breaks every hash; `intent setup init` writes .orchestration/.gitattributes where it is missing",
        ),
    }
}

fn check_writable(ws: &Workspace) -> CheckResult {
    let folder = ws.root.orchestration();
    let shown = folder.display();
    let needed = [folder.join("agent_trace"), ws.root.private()];
    let is_file = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|found| !found.is_dir());
    if let Some(path) = needed.iter().find(is_file) {
        return bad_health(format!(
            "{} stands where a folder is needed, so nothing can be recorded; move it away",
            path.display()
        ));
    }
    match std::fs::metadata(&folder) {
        Ok(metadata) if metadata.permissions().readonly() => {
            bad_health(format!("{shown} is read-only, so nothing can be recorded"))
        }
        Ok(_) => good_health("records can be written"),
        Err(error) => unknown_health(format!("{shown}: {error}")),
    }
}
