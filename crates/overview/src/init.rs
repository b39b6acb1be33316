//! `intent setup init`: creates the first files of a workspace. Existing files are never overwritten.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use evidence::git_hooks::{Act, GitHooksAnswer, git_hooks};
use ground::policy::SourceFormat;
use ground::{Environment, Root, store, text};
use why::{VerbError, Workspace, selectable};

/// What `intent setup init` created, and what it left alone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InitAnswer {
    /// The root folder of the workspace.
    pub root: String,
    /// The files that were created, relative to the root.
    pub created: Vec<String>,
    /// The files that existed already and were not changed.
    pub kept: Vec<String>,
    /// How and where records are stored.
    pub layout: String,
    /// The git hooks that were installed. `None` without git, or if another program manages the
    /// hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<GitHooksAnswer>,
    /// Whether a person has declined the hooks, so that none were installed.
    pub declined: bool,
    /// The intents that are kept in other formats, in a sentence. `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// How git can merge a list of intents without conflicts, in a sentence. `None` if there is no
    /// list, or if git does so already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// Whether this run created a file or installed a hook.
    pub changed: bool,
    /// The command to run next.
    pub next: String,
}

/// The comments that `init` once wrote above an empty list.
pub const LIST_TEMPLATE: &str = include_str!("templates/active_intents.yaml");

pub const POLICY_TEMPLATE: &str = include_str!("templates/policy.yaml");

/// The files that `init` creates, with their initial content. What has no content yet is not
/// written: the registry comes with the first intent, and the policy when somebody sets something.
pub const FILES: [(&str, &str); 2] = [
    (".orchestration/.gitignore", include_str!("templates/gitignore")),
    (
        ".orchestration/.gitattributes",
        "/agent_trace.jsonl -text merge=union linguist-generated\n/agent_trace/** -text merge=binary linguist-generated\n/anchors/** -text linguist-generated\n/intent_map.md merge=union linguist-generated\n",
    ),
];

/// The settings of git that make it merge a list of intents intent by intent. If the program is
/// missing or cannot merge the list, git merges it line by line.
pub const LIST_DRIVER: [(&str, &str); 2] = [
    ("merge.intent-registry.name", "intents, one by one"),
    (
        "merge.intent-registry.driver",
        "intent setup merge-registry --path %P %O %A %B || git merge-file %A %O %B",
    ),
];

/// Creates `.orchestration/` in the workspace that contains `folder`: in the top folder of the git
/// work tree, or in `folder` itself if there is no git.
pub fn init(folder: &Path, environment: &Environment) -> Result<InitAnswer, VerbError> {
    let root = Root::find(folder, environment)?;
    let (mut created, mut kept) = (Vec::new(), Vec::new());
    for (name, text) in FILES {
        let is_new = store::create_new(&root.path().join(name), text.as_bytes())?;
        let list = if is_new { &mut created } else { &mut kept };
        list.push(name.to_owned());
    }
    let ws = Workspace::open(root.path(), environment)?;
    let declined = ws.git().is_some_and(|git| git.declines_hooks());
    let act = if declined { Act::Status } else { Act::Install };
    let hooks = |act| ws.git().and_then(|_| git_hooks(&ws, act).ok());
    let sealed = hooks(Act::Status).is_some_and(|before| before.installed);
    let hooks = hooks(act);
    let seals = !sealed && hooks.as_ref().is_some_and(|now| now.installed);
    Ok(InitAnswer {
        root: root.path().display().to_string(),
        changed: seals || !created.is_empty(),
        created,
        kept,
        layout: layout(&root),
        hooks,
        declined,
        found: found_in_other_formats(&ws),
        list: advice_about_list(&ws),
        next: next_command(&ws),
    })
}

/// Returns the command to run next. It is always exactly one.
fn next_command(ws: &Workspace) -> String {
    let current = ws.registry.current_work().into_iter();
    let mut current = current.map(|one| &one.intent.id.value);
    let open: Vec<&String> =
        selectable::unadopted_open(ws).map(|one| &one.intent.id.value).collect();
    if let Some(id) = current.find(|id| open.contains(id)) {
        return format!("intent adopt {id}");
    }
    if ws.registry.intents().is_empty() {
        return match open[..] {
            [] => "intent new \"What somebody asked for\" --scope 'src/**' --start".to_owned(),
            [only] => format!("intent adopt {only}"),
            _ => "intent list".to_owned(),
        };
    }
    let step = selectable::next_step(ws);
    let command = step.split('`').nth(1).filter(|_| ws.selected(None).is_none());
    // The step ends with `ID` if there are several intents. Only the person can choose, so list
    // them.
    command.filter(|command| !command.ends_with(" ID")).unwrap_or("intent list").to_owned()
}

/// Says how many intents of each other format there are: `23 open and 83 archived OpenSpec changes`.
fn found_in_other_formats(ws: &Workspace) -> Option<String> {
    let mut counts: BTreeMap<SourceFormat, [usize; 2]> = BTreeMap::new();
    for imported in ws.registry.imported() {
        let count = counts.entry(imported.format).or_default();
        count[usize::from(imported.intent.is_closed())] += 1;
    }
    let told = counts.into_iter().map(|(format, [open, over])| {
        let kind = format.noun();
        match (open, over) {
            _ if !format.is_work() => text::counted(open + over, kind),
            (open, 0) => text::counted(open, &format!("open {kind}")),
            (0, over) => text::counted(over, &format!("finished {kind}")),
            (open, over) => {
                format!("{open} open and {}", text::counted(over, &format!("finished {kind}")))
            }
        }
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("{}; `intent list` shows them", text::listed(&told)))
}

/// Advises how to avoid a conflict when two branches each add an intent to the list.
fn advice_about_list(ws: &Workspace) -> Option<String> {
    let list = ws.registry.list();
    let [_, (key, driver)] = LIST_DRIVER;
    let is_merged = ws.git()?.configured(key).is_some_and(|configured| configured == driver);
    (!list.intents().is_empty() && !is_merged).then(|| {
        format!(
            "{} conflicts if two branches add an intent: `intent setup merge-registry --install` lets git merge it in this clone, `intent setup split-registry` gives each intent a file",
            list.path()
        )
    })
}

fn layout(root: &Root) -> String {
    match root.git_dir() {
        Some(_) => "evidence: each commit carries what was recorded of it, below .orchestration/agent_trace/",
        None => "single: .orchestration/agent_trace.jsonl, as there is no git here",
    }
    .to_owned()
}
