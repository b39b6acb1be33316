//! The blocks that each intent has produced.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use ground::RelativePath;

/// One block in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct MappedBlock {
    /// The kind of the block, for example `method`.
    pub kind: String,
    /// The name with containers, for example `AuthMiddleware.verify`.
    pub name: String,
    /// The top-level definition that contains the block, or the block itself. `None` if that has no
    /// name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The content hash of the block.
    pub content_hash: String,
}

/// The blocks of each intent, by file and in the order of the file. A file has no block if the intent
/// brought only lines of other blocks. The keys are the ids that the
/// intents have now.
pub type ByIntent = BTreeMap<String, ByFile>;

pub type ByFile = BTreeMap<RelativePath, Vec<MappedBlock>>;
