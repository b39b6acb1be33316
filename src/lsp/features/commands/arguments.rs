//! The argument objects of the commands. They are documented in `docs/commands.md`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use ledger::EntityType;

/// Adds `uri` and `path` to argument objects. `serde(flatten)` would let unknown fields pass.
macro_rules! with_target {
    ($($(#[$attribute:meta])* struct $name:ident { $($fields:tt)* })*) => { $(
        $(#[$attribute])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($fields)*
            /// The address (`file:`) of a file, or of a folder of the workspace.
            #[expect(dead_code, reason = "`TargetArguments::from_argument` reads it")]
            pub uri: Option<String>,
            /// The path of a file, or of a folder of the workspace: absolute, or relative to the
            /// only workspace.
            #[expect(dead_code, reason = "`TargetArguments::from_argument` reads it")]
            pub path: Option<String>,
        }
    )* };
}

/// The file or the workspace that a command is for. Needs no field if only one workspace is open and
/// the command is not for a file.
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

with_target! {
    /// The workspace that a command is for. Needs no field if only one workspace is open.
    struct WorkspaceArguments {}

    /// The argument object of `intent.list`.
    struct ListArguments {
        /// Whether to count what each intent has produced, which may take long: all records are read.
        #[serde(default)]
        pub count: bool,
    }

    /// The argument object of `intent.select`.
    struct SelectArguments {
        /// The intent, which must be in progress.
        pub id: String,
        /// The session that selects: `host:id`. If missing, the person's own selection changes.
        pub session: Option<String>,
    }

    /// The argument object of `intent.context`.
    struct ContextArguments {
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
    }

    /// The argument object of `intent.gate`.
    struct GateArguments {
        /// Every path that would change, relative to the workspace or absolute.
        pub paths: Vec<String>,
        /// The intent to use instead of the selected one.
        pub intent: Option<String>,
        /// The session whose selection is used: `host:id`.
        pub session: Option<String>,
    }

    /// The argument object of `intent.record`.
    struct RecordArguments {
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
    }

    /// The argument object of `intent.why`.
    struct WhyArguments {
        /// A line, counted from 1. If missing, all blocks are returned.
        pub line: Option<u32>,
        /// A position as in the protocol. What a hover says there is returned as data.
        pub position: Option<WhyPosition>,
    }

    /// The argument object of `intent.map`.
    struct MapArguments {
        /// Whether to write `.orchestration/intent_map.md` as well.
        #[serde(default)]
        pub write: bool,
    }

    /// The argument object of `intent.verify`.
    struct VerifyArguments {
        /// Whether to compare every recorded block with the code as well.
        #[serde(default)]
        pub blocks: bool,
    }

    /// The argument object of `intent.lesson`.
    struct LessonArguments {
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
    }

    /// The argument object of `intent.show`.
    struct ShowArguments {
        /// A line of the block, counted from 1.
        pub line: u32,
    }

    /// The argument object of `intent.accept`.
    struct AcceptArguments {
        /// A line of the block on disk, counted from 1.
        pub line: u32,
    }
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

/// The argument object of `intent.widen`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WidenArguments {
    /// The intent whose scope is widened.
    pub id: String,
    /// The address of the file to add. It must be open and outside of the scope.
    pub uri: String,
}
