//! The argument objects of the commands. They are documented in `docs/commands.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::EntityType;

/// The workspace that a command is for. Needs no field if only one workspace is open.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkspaceArguments {
    /// The address (`file:`) of a file or folder of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

/// A file or folder, named by its address or its path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TargetArguments<'a> {
    pub(crate) uri: Option<&'a str>,
    pub(crate) path: Option<&'a str>,
}

/// The argument object of `intent.select`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectArguments {
    /// The intent, which must be in progress.
    pub(crate) id: String,
    /// The session that selects: `host:id`. If missing, the person's own selection changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

/// The argument object of `intent.context`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextArguments {
    /// The intent. If missing, the selected one.
    pub(crate) id: Option<String>,
    /// Whether to return constraints and scope only.
    #[serde(default)]
    pub(crate) minimal: bool,
    /// The session whose selection is used: `host:id`.
    pub(crate) session: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub(crate) path: Option<String>,
}

/// The argument object of `intent.gate`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateArguments {
    /// Every path that would change, relative to the workspace or absolute.
    pub(crate) paths: Vec<String>,
    /// The intent to use instead of the selected one.
    pub(crate) intent: Option<String>,
    /// The session whose selection is used: `host:id`.
    pub(crate) session: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub(crate) path: Option<String>,
}

/// The argument object of `intent.record`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordArguments {
    /// The files to record as they are on disk. The paths are relative to the workspace or
    /// absolute.
    pub(crate) paths: Vec<String>,
    /// Whether to record the whole files, changed or not.
    #[serde(default)]
    pub(crate) all: bool,
    /// The intent. If missing, the selected one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<String>,
    /// The session that wrote: `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The name of the agent that wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The model that wrote: `vendor/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Who wrote. If missing: `AI` if an agent or a model is named, else the person at an
    /// `interactive` client, else `UNKNOWN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contributor: Option<EntityType>,
    /// The class of the change that the writer claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

/// The argument object of `intent.why`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyArguments {
    /// The file's address. An open document is answered with its text in the editor.
    pub(crate) uri: Option<String>,
    /// The file's path, if `uri` is missing.
    pub(crate) path: Option<String>,
    /// A line, counted from 1. If missing, all blocks are returned.
    pub(crate) line: Option<u32>,
}

/// The argument object of `intent.map`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapArguments {
    /// Whether to write `.orchestration/intent_map.md` as well.
    #[serde(default)]
    pub(crate) write: bool,
    /// The address (`file:`) of a file or folder of the workspace.
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub(crate) path: Option<String>,
}

/// The argument object of `intent.verify`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyArguments {
    /// Whether to compare every recorded block with the code as well.
    #[serde(default)]
    pub(crate) blocks: bool,
    /// The address (`file:`) of a file or folder of the workspace.
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub(crate) path: Option<String>,
}

/// The argument object of `intent.lesson`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LessonArguments {
    /// What was learned, in one sentence.
    pub(crate) text: String,
    /// The intent. If missing, the selected one.
    pub(crate) intent: Option<String>,
    /// The session that learned it: `host:id`.
    pub(crate) session: Option<String>,
    /// The name of the agent that learned it.
    pub(crate) agent: Option<String>,
    /// The model that learned it: `vendor/name`.
    pub(crate) model: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub(crate) uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub(crate) path: Option<String>,
}

/// The argument object of `intent.show`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowArguments {
    /// The file's address. An open document is answered with its text in the editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The file's path, if `uri` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// A line of the block, counted from 1.
    pub(crate) line: u32,
}

/// The argument object of `intent.widen`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WidenArguments {
    /// The intent whose scope is widened.
    pub(crate) id: String,
    /// The address of the file to add. It must be open and outside of the scope.
    pub(crate) uri: String,
}

/// The argument object of `intent.accept`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptArguments {
    /// The address (`file:`) of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The file's path, if `uri` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// A line of the block on disk, counted from 1.
    pub(crate) line: u32,
}

macro_rules! targets {
    ($($arguments:ty),*) => {
        $(impl<'a> From<&'a $arguments> for TargetArguments<'a> {
            fn from(it: &'a $arguments) -> Self {
                Self { uri: it.uri.as_deref(), path: it.path.as_deref() }
            }
        })*
    };
}

targets!(
    WorkspaceArguments,
    SelectArguments,
    ContextArguments,
    GateArguments,
    RecordArguments,
    WhyArguments,
    MapArguments,
    VerifyArguments,
    LessonArguments,
    ShowArguments,
    AcceptArguments
);
