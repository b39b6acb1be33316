//! `doctor`: is everything in place, and if not, what to do.

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use crate::workspace::{Finding, Level};

/// The examination.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// One entry a question.
    pub checks: Vec<Examined>,
}

/// One question and its answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Examined {
    /// What was looked at.
    pub what: String,
    /// How it stands.
    pub state: State,
    /// What was seen, and what to do.
    pub detail: String,
}

/// How a thing stands. Three states, not two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// In order.
    Good,
    /// Not in order.
    Bad,
    /// Not known, or not needed.
    Unknown,
}

/// Examines a workspace.
pub fn examine(ws: &Workspace) -> DoctorAnswer {
    DoctorAnswer {
        checks: vec![
            governed(ws),
            git(ws),
            registry(ws),
            policy(ws),
            selection(ws),
            ledger(ws),
            ignored(ws),
            attributes(ws),
            writable(ws),
        ],
    }
}

fn examined(what: &str, state: State, detail: impl Into<String>) -> Examined {
    Examined { what: what.to_owned(), state, detail: detail.into() }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn governed(ws: &Workspace) -> Examined {
    let root = ws.root.path().display();
    if ws.root.governed() {
        return examined("workspace", State::Good, format!("{root} holds .orchestration/"));
    }
    examined(
        "workspace",
        State::Bad,
        format!("{root} has no .orchestration/; create it with `intent init`"),
    )
}

fn git(ws: &Workspace) -> Examined {
    match (&ws.git, &ws.git_error, &ws.head) {
        (_, Some(error), _) => examined("git", State::Bad, error.to_string()),
        (None, None, _) => examined(
            "git",
            State::Unknown,
            "no repository: edits are judged against the last record of a file, and `check` judges no changes",
        ),
        (Some(git), None, _) if git.is_shallow() => examined(
            "git",
            State::Unknown,
            "a shallow clone: `check --base` needs the base commit here (`git fetch --unshallow`)",
        ),
        (Some(_), None, Some(head)) => examined("git", State::Good, format!("HEAD is {}", head.0)),
        (Some(_), None, None) => examined("git", State::Good, "no commit yet"),
    }
}

fn registry(ws: &Workspace) -> Examined {
    let path = ws.registry.path();
    if let Some(finding) = ws.registry.syntax_error() {
        let line = finding.lines.map(|lines| format!(":{}", lines.start())).unwrap_or_default();
        return examined(
            "registry",
            State::Bad,
            format!("{path}{line}: {} {}", finding.message, finding.help),
        );
    }
    if !ws.registry.exists() {
        return examined(
            "registry",
            State::Bad,
            format!("{path} does not exist; create it with `intent init`"),
        );
    }
    examined(
        "registry",
        State::Good,
        format!("{path} holds {}", counted(ws.registry.intents().len(), "intent")),
    )
}

fn policy(ws: &Workspace) -> Examined {
    let ignores = ws.ignores.findings();
    let grave = |finding: &&Finding| ws.policy.check_level(finding.code) == Level::Error;
    match ws.policy_findings.first().or_else(|| ignores.iter().find(grave)) {
        Some(finding) => {
            examined("policy", State::Bad, format!("{} {}", finding.message, finding.help))
        }
        None => examined("policy", State::Good, "in order"),
    }
}

fn selection(ws: &Workspace) -> Examined {
    let Some(id) = ws.selected(None) else {
        return examined("selection", State::Unknown, "no intent is selected; `intent select ID`");
    };
    match ws.intent_in_progress(&id) {
        Ok(_) => examined("selection", State::Good, format!("{id} is selected")),
        Err(error) => examined("selection", State::Bad, error.to_string()),
    }
}

fn ledger(ws: &Workspace) -> Examined {
    let records = ws.ledger.entries().len();
    let broken: Vec<_> = ws
        .ledger
        .findings()
        .iter()
        .filter(|finding| ws.policy.check_level(finding.code) >= Level::Warning)
        .collect();
    match broken.first() {
        None => examined(
            "ledger",
            State::Good,
            format!("{}, every chain whole", counted(records, "record")),
        ),
        Some(first) => examined(
            "ledger",
            State::Bad,
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

/// The private files must not reach a commit.
fn ignored(ws: &Workspace) -> Examined {
    let text =
        std::fs::read_to_string(ws.root.orchestration().join(".gitignore")).unwrap_or_default();
    let missing: Vec<&str> = ["active_intent_current.json", "local"]
        .into_iter()
        .filter(|name| !text.contains(name))
        .collect();
    if ws.root.git_dir().is_none() {
        return examined(".gitignore", State::Unknown, "not needed without git");
    }
    if missing.is_empty() {
        return examined(
            ".gitignore",
            State::Good,
            "selection and local state stay out of commits",
        );
    }
    examined(
        ".gitignore",
        State::Bad,
        format!(
            ".orchestration/.gitignore does not name {}; `intent init` writes a missing one",
            missing.join(" and ")
        ),
    )
}

/// Line-ending conversion would break every hash of the ledger.
fn attributes(ws: &Workspace) -> Examined {
    let read = |name: &str| std::fs::read_to_string(ws.root.path().join(name)).unwrap_or_default();
    let texts = [read(".orchestration/.gitattributes"), read(".gitattributes")];
    if ws.root.git_dir().is_none() {
        return examined(".gitattributes", State::Unknown, "not needed without git");
    }
    if texts
        .iter()
        .any(|text| text.lines().any(|line| line.contains("agent_trace") && line.contains("-text")))
    {
        return examined(".gitattributes", State::Good, "git leaves the ledger's bytes alone");
    }
    examined(
        ".gitattributes",
        State::Bad,
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
            State::Bad,
            format!(
                "{} stands where a folder is needed, so nothing can be recorded; move it away",
                path.display()
            ),
        );
    }
    match std::fs::metadata(&folder) {
        Ok(metadata) if metadata.permissions().readonly() => examined(
            "permissions",
            State::Bad,
            format!("{} is read-only, so nothing can be recorded", folder.display()),
        ),
        Ok(_) => examined("permissions", State::Good, "records can be written"),
        Err(error) => {
            examined("permissions", State::Unknown, format!("{}: {error}", folder.display()))
        }
    }
}
