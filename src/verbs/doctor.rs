//! `doctor`: checks whether everything is in place, and says what to do if not.

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use super::git_hooks::{self, HooksState};
use super::{after, seal, select};
use crate::intent::FOLDER;
use crate::workspace::policy::Mode;
use crate::workspace::text::{counted, shell_word};
use crate::workspace::{Finding, Level, RelativePath, approvals, session, store};

/// The result of an examination.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DoctorAnswer {
    /// The checks that were made, one entry for each.
    pub checks: Vec<Examined>,
}

/// One check and its result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Examined {
    /// The name of what was checked.
    pub what: String,
    /// The result of the check.
    pub state: Health,
    /// What was found, and what to do about it.
    pub detail: String,
}

/// The result of a check. There are three states, not two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    /// Everything that was checked is in order.
    Good,
    /// Something is wrong and should be repaired.
    Bad,
    /// The state is not known, or the check is not needed.
    Unknown,
}

/// The number of bytes up to which the log of the hooks is read.
const MAX_LOG: u64 = 2 * 1024 * 1024;

/// Runs all checks on a workspace.
pub(crate) fn examine(ws: &Workspace) -> DoctorAnswer {
    let mut checks = standing(ws);
    let now =
        [switched_off(ws), observed(ws), unrecorded(ws), errors(ws), ungated(ws), waiting(ws)];
    checks.extend(now.into_iter().flatten());
    DoctorAnswer { checks }
}

/// Tries again to append the records that could not be written. Returns how many were appended.
pub(crate) fn retry(ws: &Workspace) -> usize {
    after::retry(ws)
}

fn standing(ws: &Workspace) -> Vec<Examined> {
    vec![
        governed(ws),
        git(ws),
        registry(ws),
        policy(ws),
        selection(ws),
        ledger(ws),
        hooks(ws),
        ignored(ws),
        attributes(ws),
        writable(ws),
    ]
}

/// Reports that a person switched the gate off, so that it blocks nothing. Returns `None` while it
/// is on.
fn switched_off(ws: &Workspace) -> Option<Examined> {
    let off = session::off_until(&ws.root)?;
    let why = off.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let detail =
        format!("a person switched the gate off until {}{why}; `intent on` ends it", off.until);
    Some(examined("switch", Health::Bad, detail))
}

/// Reports that the policy only observes, so that the gate blocks nothing. Returns `None` in any
/// other mode.
fn observed(ws: &Workspace) -> Option<Examined> {
    (ws.root.governed() && ws.policy.mode == Mode::Observe).then(|| {
        let detail = "`mode: observe` in the policy: the gate says what it would hold up, and holds up nothing";
        examined("mode", Health::Unknown, detail)
    })
}

/// Reports records that could not be written when they were made.
fn unrecorded(ws: &Workspace) -> Option<Examined> {
    let count = after::kept(&ws.root).len();
    (count > 0).then(|| {
        let detail = format!(
            "{} could not be written; `intent doctor --retry` tries again",
            counted(count, "record")
        );
        examined("unrecorded", Health::Bad, detail)
    })
}

/// Reports errors of hooks, which have no other way to show them.
fn errors(ws: &Workspace) -> Option<Examined> {
    let path = ws.root.orchestration().join("local").join("hook_errors.log");
    let bytes = store::read_capped(&path, MAX_LOG).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rfind(|line| !line.is_empty())?;
    let detail = format!(
        "{} in .orchestration/local/hook_errors.log, the last: {last}; remove the file once you have read it",
        counted(text.lines().count(), "line")
    );
    Some(examined("hook errors", Health::Unknown, detail))
}

/// Reports writes that no gate approved.
fn ungated(ws: &Workspace) -> Option<Examined> {
    let notes = session::ungated::still_valid(&ws.root);
    let first = notes.first()?;
    let detail = format!(
        "{} that no gate let through; the first: {} by {} ({}); look at it, then `intent accept {}` settles it as it stands",
        counted(notes.len(), "write"),
        first.path,
        first.actor,
        first.why,
        shell_word(first.path.as_str())
    );
    Some(examined("ungated", Health::Bad, detail))
}

/// Reports questions of agents that nobody has answered.
fn waiting(ws: &Workspace) -> Option<Examined> {
    let pending = approvals::pending(&ws.root);
    let first = pending.first()?;
    let detail = format!(
        "{} for a person; `intent approve {}` shows the first",
        counted(pending.len(), "question"),
        first.code
    );
    Some(examined("questions", Health::Unknown, detail))
}

fn examined(what: &str, state: Health, detail: impl Into<String>) -> Examined {
    Examined { what: what.to_owned(), state, detail: detail.into() }
}

fn governed(ws: &Workspace) -> Examined {
    let root = ws.root.path().display();
    if ws.root.governed() {
        return examined("workspace", Health::Good, format!("{root} holds .orchestration/"));
    }
    examined(
        "workspace",
        Health::Bad,
        format!("{root} has no .orchestration/; create it with `intent init`"),
    )
}

fn git(ws: &Workspace) -> Examined {
    match (ws.git(), ws.git_error(), ws.head()) {
        (_, Some(error), _) => examined("git", Health::Bad, error.to_string()),
        (None, None, _) => examined(
            "git",
            Health::Unknown,
            "no repository: edits are judged against the last record of a file, and `check` judges no changes",
        ),
        (Some(git), None, _) if git.is_shallow() => examined(
            "git",
            Health::Unknown,
            "a shallow clone: `check --base` needs the base commit here (`git fetch --unshallow`)",
        ),
        (Some(_), None, Some(head)) => examined("git", Health::Good, format!("HEAD is {}", head.0)),
        (Some(_), None, None) => examined("git", Health::Good, "no commit yet"),
    }
}

fn registry(ws: &Workspace) -> Examined {
    let path = ws.registry.path();
    if let Some(finding) = ws.registry.syntax_error() {
        let place = finding.place(path);
        let detail = format!("{place}: {} {}", finding.message, finding.help);
        return examined("registry", Health::Bad, detail);
    }
    if let Some(missing) = ws.missing_registry() {
        return examined("registry", Health::Bad, missing);
    }
    let (all, beside) = (ws.registry.intents().len(), ws.registry.files().len() - 1);
    let detail = match beside {
        0 => format!("{path} holds {}", counted(all, "intent")),
        _ => format!("{path} and {FOLDER}/ hold {}", counted(all, "intent")),
    };
    examined("registry", Health::Good, detail)
}

fn policy(ws: &Workspace) -> Examined {
    let ignores = ws.ignores.findings();
    let grave = |finding: &&Finding| ws.policy.check_level(finding.code) == Level::Error;
    match ws.policy_findings.first().or_else(|| ignores.iter().find(grave)) {
        Some(finding) => {
            examined("policy", Health::Bad, format!("{} {}", finding.message, finding.help))
        }
        None => examined("policy", Health::Good, "in order"),
    }
}

fn selection(ws: &Workspace) -> Examined {
    let Some(id) = ws.selected(None) else {
        let detail = format!("no intent is selected: {}", select::next_step(ws));
        return examined("selection", Health::Unknown, detail);
    };
    match ws.intent_in_progress(&id) {
        Ok(_) => examined("selection", Health::Good, format!("{id} is selected")),
        Err(error) => examined("selection", Health::Bad, error.to_string()),
    }
}

fn ledger(ws: &Workspace) -> Examined {
    let records = ws.ledger.len();
    let broken: Vec<_> = ws
        .ledger
        .findings()
        .iter()
        .filter(|finding| ws.policy.check_level(finding.code) >= Level::Warning)
        .collect();
    match broken.first() {
        None => examined(
            "ledger",
            Health::Good,
            format!("{}, every chain whole", counted(records, "record")),
        ),
        Some(first) => examined(
            "ledger",
            Health::Bad,
            format!(
                "{}, {}; the first: {} {} See `intent verify`",
                counted(records, "record"),
                counted(broken.len(), "finding"),
                first.message,
                first.help
            ),
        ),
    }
}

/// Reports whether git's hooks are installed. Without them a commit does not carry its evidence.
fn hooks(ws: &Workspace) -> Examined {
    let seal::OpenRecords { standing, gone } = seal::open(ws);
    let mut open = String::new();
    if !standing.is_empty() {
        open += &format!("; {} in no commit yet", counted(standing.len(), "record"));
    }
    if gone > 0 {
        // Records of code that does not exist here cannot be sealed here.
        let records = counted(gone, "record");
        open += &format!("; {records} of code that does not exist here, kept for 30 days");
    }
    match git_hooks::standing(ws) {
        HooksState::NotNeeded(why) => {
            examined("git hooks", Health::Unknown, format!("{why}{open}"))
        }
        HooksState::Installed => {
            examined("git hooks", Health::Good, format!("commits carry what was recorded{open}"))
        }
        HooksState::Missing { remedy, .. } => examined(
            "git hooks",
            Health::Bad,
            format!("missing, so commits carry no records{open}; `{remedy}`"),
        ),
    }
}

/// Checks that git ignores the private files, because they must not be committed.
fn ignored(ws: &Workspace) -> Examined {
    let text = rules(ws, ".orchestration/.gitignore");
    let missing: Vec<&str> = ["active_intent_current.json", "local"]
        .into_iter()
        .filter(|name| !text.contains(name))
        .collect();
    if ws.root.git_dir().is_none() {
        return examined(".gitignore", Health::Unknown, "not needed without git");
    }
    if missing.is_empty() {
        return examined(
            ".gitignore",
            Health::Good,
            "selection and local state stay out of commits",
        );
    }
    examined(
        ".gitignore",
        Health::Bad,
        format!(
            ".orchestration/.gitignore does not name {}; `intent init` writes a missing one",
            missing.join(" and ")
        ),
    )
}

/// Returns the text of a file that configures git, or an empty text if it cannot be read.
fn rules(ws: &Workspace, name: &str) -> String {
    const MAX: u64 = 256 * 1024;
    let path = RelativePath::new(name).ok();
    let bytes = path.and_then(|path| ws.root.read_rules(&path, MAX).ok()?);
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

/// Checks that git does not convert line endings in the ledger, because that would break every
/// hash.
fn attributes(ws: &Workspace) -> Examined {
    let texts = [".orchestration/.gitattributes", ".gitattributes"].map(|name| rules(ws, name));
    if ws.root.git_dir().is_none() {
        return examined(".gitattributes", Health::Unknown, "not needed without git");
    }
    if texts
        .iter()
        .any(|text| text.lines().any(|line| line.contains("agent_trace") && line.contains("-text")))
    {
        return examined(".gitattributes", Health::Good, "git leaves the ledger's bytes alone");
    }
    examined(
        ".gitattributes",
        Health::Bad,
        "nothing keeps git from converting line ends in the ledger, which breaks every hash; `intent init` writes .orchestration/.gitattributes where it is missing",
    )
}

fn writable(ws: &Workspace) -> Examined {
    let folder = ws.root.orchestration();
    let needed = [folder.join("agent_trace"), ws.root.private()];
    let in_the_way =
        needed.iter().find(|path| path.symlink_metadata().is_ok_and(|found| !found.is_dir()));
    if let Some(path) = in_the_way {
        return examined(
            "permissions",
            Health::Bad,
            format!(
                "{} stands where a folder is needed, so nothing can be recorded; move it away",
                path.display()
            ),
        );
    }
    match std::fs::metadata(&folder) {
        Ok(metadata) if metadata.permissions().readonly() => examined(
            "permissions",
            Health::Bad,
            format!("{} is read-only, so nothing can be recorded", folder.display()),
        ),
        Ok(_) => examined("permissions", Health::Good, "records can be written"),
        Err(error) => {
            examined("permissions", Health::Unknown, format!("{}: {error}", folder.display()))
        }
    }
}
