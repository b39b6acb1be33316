//! The argument objects of the commands, as they are documented.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::EntityType;

/// Which workspace is meant. Where only one is open, nothing has to be said.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkspaceArguments {
    /// The address (`file:`) of a file or folder of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The same as a path: absolute, or relative to the only workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

/// A file or folder by address or path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TargetArguments<'a> {
    /// Its address.
    pub(crate) uri: Option<&'a str>,
    /// Its path.
    pub(crate) path: Option<&'a str>,
}

/// `intent.select`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectArguments {
    /// The intent, which must be in progress.
    pub(crate) id: String,
    /// The session that selects: `host:id`. The person's own selection where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// See [`Wanted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// See [`Wanted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

/// `intent.context`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextArguments {
    /// The intent; the selected one where it is missing.
    pub(crate) id: Option<String>,
    /// Constraints and scope alone.
    #[serde(default)]
    pub(crate) minimal: bool,
    /// Whose selection: `host:id`.
    pub(crate) session: Option<String>,
    /// See [`Wanted`].
    pub(crate) uri: Option<String>,
    /// See [`Wanted`].
    pub(crate) path: Option<String>,
}

/// `intent.gate`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateArguments {
    /// Every path that would change, relative to the workspace or absolute.
    pub(crate) paths: Vec<String>,
    /// An intent named outright, instead of the selected one.
    pub(crate) intent: Option<String>,
    /// Whose selection: `host:id`.
    pub(crate) session: Option<String>,
    /// See [`Wanted`].
    pub(crate) uri: Option<String>,
    /// See [`Wanted`].
    pub(crate) path: Option<String>,
}

/// `intent.record`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordArguments {
    /// Files as they stand on disk, relative to the workspace or absolute.
    pub(crate) paths: Vec<String>,
    /// The whole files as they stand, changed or not.
    #[serde(default)]
    pub(crate) all: bool,
    /// The intent; the selected one where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<String>,
    /// The session that wrote: `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The model: `vendor/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Who wrote; where it is missing, `AI` if an agent or a model is named, else the person at an `interactive` client,
    /// else `UNKNOWN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contributor: Option<EntityType>,
    /// The class of the change that the writer claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<String>,
    /// See [`Wanted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// See [`Wanted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

/// `intent.why`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyArguments {
    /// The file's address. An open document is answered as it stands in the editor.
    pub(crate) uri: Option<String>,
    /// The file's path, where `uri` is missing.
    pub(crate) path: Option<String>,
    /// A line, from 1; all blocks where it is missing.
    pub(crate) line: Option<u32>,
}

/// `intent.map`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapArguments {
    /// Write `.orchestration/intent_map.md` as well.
    #[serde(default)]
    pub(crate) write: bool,
    /// See [`Wanted`].
    pub(crate) uri: Option<String>,
    /// See [`Wanted`].
    pub(crate) path: Option<String>,
}

/// `intent.verify`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyArguments {
    /// Hold every recorded block against the code as well.
    #[serde(default)]
    pub(crate) blocks: bool,
    /// See [`Wanted`].
    pub(crate) uri: Option<String>,
    /// See [`Wanted`].
    pub(crate) path: Option<String>,
}

/// `intent.lesson`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LessonArguments {
    /// What was learned, in one sentence.
    pub(crate) text: String,
    /// The intent; the selected one where it is missing.
    pub(crate) intent: Option<String>,
    /// The session that learned it: `host:id`.
    pub(crate) session: Option<String>,
    /// The agent's name.
    pub(crate) agent: Option<String>,
    /// The model: `vendor/name`.
    pub(crate) model: Option<String>,
    /// See [`Wanted`].
    pub(crate) uri: Option<String>,
    /// See [`Wanted`].
    pub(crate) path: Option<String>,
}

/// `intent.show`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowArguments {
    /// The file's address. An open document is answered as it stands in the editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The file's path, where `uri` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// A line of the block, from 1.
    pub(crate) line: u32,
}

/// `intent.widen`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WidenArguments {
    /// The intent.
    pub(crate) id: String,
    /// The address of the file that it is to own. It has to be open, and outside of the scope.
    pub(crate) uri: String,
}

/// `intent.accept`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptArguments {
    /// The file's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    /// The file's path, where `uri` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// A line of the block, from 1, in the file as it stands on disk.
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
