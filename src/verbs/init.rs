//! `init`: the first files of a workspace. Never overwrites anything.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{OpenError, VerbError};
use crate::workspace::{Root, store};

const REGISTRY: &str = include_str!("templates/active_intents.yaml");
const POLICY: &str = include_str!("templates/policy.yaml");
const IGNORE: &str = include_str!("templates/gitignore");
const INTENT_IGNORE: &str = include_str!("templates/intentignore");
const ATTRIBUTES: &str = "/agent_trace.jsonl -text merge=binary linguist-generated\n/agent_trace/** -text merge=binary linguist-generated\n/intent_map.md linguist-generated\n";

/// What was made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InitAnswer {
    /// The root folder.
    pub root: String,
    /// Files that were created, relative to it.
    pub created: Vec<String>,
    /// Files that were there and were left as they are.
    pub kept: Vec<String>,
    /// `segments` or `single`, and why.
    pub layout: String,
}

/// Makes `.orchestration/` in the workspace that holds `folder` (the git work tree's top, else the folder itself).
pub fn init(folder: &Path) -> Result<InitAnswer, VerbError> {
    let root = Root::find(folder).map_err(OpenError::from)?;
    let mut answer = InitAnswer {
        root: root.path().display().to_string(),
        created: Vec::new(),
        kept: Vec::new(),
        layout: layout(&root),
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
    Ok(answer)
}

fn layout(root: &Root) -> String {
    if root.orchestration().join("agent_trace.jsonl").exists() {
        return "single: agent_trace.jsonl is already there and goes on".to_owned();
    }
    match root.git_dir() {
        Some(_) => "segments: one file per writer below .orchestration/agent_trace/, so that branches merge without conflicts".to_owned(),
        None => "single: .orchestration/agent_trace.jsonl, as there is no git here".to_owned(),
    }
}
