//! How a block compares with the record that it comes from, in one word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use code::named_enum::named_enum;

named_enum! {
    /// The verdict on a block, in one word.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum Verdict, WORDS {
        /// The block is as recorded.
        Exact: "exact",
        /// The block is as recorded except for formatting and comments.
        Reformatted: "reformatted",
        /// The block is as recorded, but in another file or container.
        Moved: "moved",
        /// The block is as recorded except for names.
        Renamed: "renamed",
        /// The block was changed since it was recorded.
        Modified: "modified",
        /// Several records fit the block equally well.
        Ambiguous: "ambiguous",
        /// No record covers the block.
        #[default]
        Unrecorded: "unrecorded",
    }
}

impl Verdict {
    /// Returns the word that is used in `--json` and in the editor.
    pub fn as_str(self) -> &'static str {
        WORDS[self as usize].1
    }
    /// Returns true if a record covers the block's current text.
    pub fn covered(self) -> bool {
        matches!(self, Self::Exact | Self::Reformatted | Self::Moved | Self::Renamed)
    }
}
