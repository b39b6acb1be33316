//! The argument objects of the commands. They are documented in `docs/commands.md`.
#![expect(dead_code, reason = "`uri` and `path` are read by `TargetArguments::of`")]

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use ledger::EntityType;

/// The workspace that a command is for. Needs no field if only one workspace is open.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkspaceArguments {
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.list`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {
    /// Whether to count what each intent has produced, which may take long: all records are read.
    #[serde(default)]
    pub count: bool,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TargetArguments<'a> {
    pub uri: Option<&'a str>,
    pub path: Option<&'a str>,
}

impl<'a> TargetArguments<'a> {
    pub(crate) fn from_argument(argument: &'a Map<String, Value>) -> Self {
        let text = |key| argument.get(key).and_then(Value::as_str);
        Self { uri: text("uri"), path: text("path") }
    }
}

/// The argument object of `intent.select`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectArguments {
    /// The intent, which must be in progress.
    pub id: String,
    /// The session that selects: `host:id`. If missing, the person's own selection changes.
    pub session: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.context`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextArguments {
    /// The intent. If missing, the selected one.
    pub id: Option<String>,
    /// Whether to return constraints and scope only.
    #[serde(default)]
    pub minimal: bool,
    /// Whether to return everything, however long it is.
    #[serde(default)]
    pub full: bool,
    /// The session whose selection is used: `host:id`.
    pub session: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.gate`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateArguments {
    /// Every path that would change, relative to the workspace or absolute.
    pub paths: Vec<String>,
    /// The intent to use instead of the selected one.
    pub intent: Option<String>,
    /// The session whose selection is used: `host:id`.
    pub session: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.record`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordArguments {
    /// The files to record as they are on disk. The paths are relative to the workspace or
    /// absolute.
    pub paths: Vec<String>,
    /// Whether to record all lines that have no record yet, changed or not.
    #[serde(default)]
    pub all: bool,
    /// The intent. If missing, the selected one.
    pub intent: Option<String>,
    /// The session that wrote: `host:id`.
    pub session: Option<String>,
    /// The name of the agent that wrote.
    pub agent: Option<String>,
    /// The model that wrote: `vendor/name`.
    pub model: Option<String>,
    /// Who wrote. If missing: `AI` if an agent or a model is named, else the person at an
    /// `interactive` client, else `UNKNOWN`.
    pub contributor: Option<EntityType>,
    /// The class of the change that the writer claims.
    pub class: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.why`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyArguments {
    /// The file's address. An open document is answered with its text in the editor.
    pub uri: Option<String>,
    /// The file's path, if `uri` is missing.
    pub path: Option<String>,
    /// A line, counted from 1. If missing, all blocks are returned.
    pub line: Option<u32>,
    /// A position as in the protocol. What a hover says there is returned as data.
    pub position: Option<WhyPosition>,
}

/// A position in a document, in the column unit of the session.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyPosition {
    /// Counted from 0.
    pub line: u32,
    /// Counted from 0.
    pub character: u32,
}

/// The argument object of `intent.map`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapArguments {
    /// Whether to write `.orchestration/intent_map.md` as well.
    #[serde(default)]
    pub write: bool,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.verify`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyArguments {
    /// Whether to compare every recorded block with the code as well.
    #[serde(default)]
    pub blocks: bool,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.lesson`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LessonArguments {
    /// What was learned, in one sentence.
    pub text: String,
    /// The intent. If missing, the selected one.
    pub intent: Option<String>,
    /// The session that learned it: `host:id`.
    pub session: Option<String>,
    /// The name of the agent that learned it.
    pub agent: Option<String>,
    /// The model that learned it: `vendor/name`.
    pub model: Option<String>,
    /// The address (`file:`) of a file or folder of the workspace.
    pub uri: Option<String>,
    /// The path of a file or folder of the workspace: absolute, or relative to the only workspace.
    pub path: Option<String>,
}

/// The argument object of `intent.show`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowArguments {
    /// The file's address. An open document is answered with its text in the editor.
    pub uri: Option<String>,
    /// The file's path, if `uri` is missing.
    pub path: Option<String>,
    /// A line of the block, counted from 1.
    pub line: u32,
}

/// The argument object of `intent.widen`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WidenArguments {
    /// The intent whose scope is widened.
    pub id: String,
    /// The address of the file to add. It must be open and outside of the scope.
    pub uri: String,
}

/// The argument object of `intent.accept`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptArguments {
    /// The address (`file:`) of the file.
    pub uri: Option<String>,
    /// The file's path, if `uri` is missing.
    pub path: Option<String>,
    /// A line of the block on disk, counted from 1.
    pub line: u32,
}
