//! `init`: the first files of a workspace. Never overwrites anything.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::git_hooks::{Act, GitHooksAnswer, git_hooks};
use super::{OpenError, VerbError, Workspace};
use crate::workspace::{Root, store};

const REGISTRY: &str = include_str!("templates/active_intents.yaml");
const POLICY: &str = include_str!("templates/policy.yaml");
const IGNORE: &str = include_str!("templates/gitignore");
const INTENT_IGNORE: &str = include_str!("templates/intentignore");
const ATTRIBUTES: &str = "/agent_trace.jsonl -text merge=binary linguist-generated\n/agent_trace/** -text merge=binary linguist-generated\n/anchors/** -text linguist-generated\n/intent_map.md merge=union linguist-generated\n";

/// What was made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InitAnswer {
    /// The root folder.
    pub root: String,
    /// Files that were created, relative to it.
    pub created: Vec<String>,
    /// Files that were there and were left as they are.
    pub kept: Vec<String>,
    /// Where records are kept.
    pub layout: String,
    /// The git hooks that were installed. `None` without git, or if another program manages the hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<GitHooksAnswer>,
}

/// Makes `.orchestration/` in the workspace that holds `folder` (the git work tree's top, else the folder itself).
pub fn init(folder: &Path) -> Result<InitAnswer, VerbError> {
    let root = Root::find(folder).map_err(OpenError::from)?;
    let mut answer = InitAnswer {
        root: root.path().display().to_string(),
        created: Vec::new(),
        kept: Vec::new(),
        layout: layout(&root),
        hooks: None,
    };
    let files = [
        (".orchestration/active_intents.yaml", REGISTRY),
        (".orchestration/policy.yaml", POLICY),
        (".orchestration/.gitignore", IGNORE),
        (".orchestration/.gitattributes", ATTRIBUTES),
        (".intentignore", INTENT_IGNORE),
    ];
    for (name, text) in files {
        let list = if store::create_new(&root.path().join(name), text.as_bytes())? {
            &mut answer.created
        } else {
            &mut answer.kept
        };
        list.push(name.to_owned());
    }
    if root.git_dir().is_some() {
        answer.hooks = git_hooks(&Workspace::at(root), Act::Install).ok();
    }
    Ok(answer)
}

fn layout(root: &Root) -> String {
    match root.git_dir() {
        Some(_) => "evidence: each commit carries what was recorded of it, below .orchestration/agent_trace/",
        None => "single: .orchestration/agent_trace.jsonl, as there is no git here",
    }
    .to_owned()
}
