//! A block is a definition, or a region between definitions.

use std::ops::Range;

use super::named_enum::named_enum;
use super::{Fingerprint, LineRange};

/// A text with more blocks than this becomes one block, because most work on a file takes time for
/// each of its blocks.
pub(super) const MAX_BLOCKS: usize = 10_000;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum BlockKind, KINDS {
        Function: "function",
        /// A function directly inside a class, impl, trait or interface.
        Method: "method",
        Class: "class",
        Struct: "struct",
        Enum: "enum",
        Union: "union",
        Trait: "trait",
        Interface: "interface",
        Impl: "impl",
        Module: "module",
        Namespace: "namespace",
        Constant: "constant",
        Variable: "variable",
        Type: "type",
        Macro: "macro",
        /// A test that a runner finds by its call (`describe`, `it`, `test`).
        Test: "test",
        /// A Markdown section, from its heading to its end, with its subsections.
        Section: "section",
        Key: "key",
        /// A SQL statement that defines something, or a Dockerfile instruction.
        Statement: "statement",
        Rule: "rule",
        /// The text between two top-level definitions, such as imports and top-level statements.
        /// Text with comments only is not a block.
        Region: "region",
        /// A run of lines between blank lines, in a file without a grammar.
        Paragraph: "paragraph",
        /// A whole file that is not divided further, for example a generated file.
        File: "file",
        Cell: "cell",
    }
}

impl BlockKind {
    /// Returns the word for this kind in the ledger and in `--json`, in lower case: `function`.
    pub fn as_str(self) -> &'static str {
        KINDS[self as usize].1
    }

    pub fn every_kind() -> impl ExactSizeIterator<Item = Self> {
        KINDS.iter().map(|(kind, _)| *kind)
    }

    /// Returns the kind for this word. The word may also be a capture name of a query that ends
    /// with it, such as `definition.function`.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.rsplit('.').next().unwrap_or(word);
        KINDS.iter().find(|(_, name)| *name == word).map(|(kind, _)| *kind)
    }

    /// Returns true if blocks of this kind have no name of their own. Their path then depends on
    /// the blocks around them, so only their text can identify them.
    pub fn is_unnamed(self) -> bool {
        matches!(self, Self::Region | Self::Paragraph)
    }

    pub(super) fn has_methods(self) -> bool {
        use BlockKind::{Class, Enum, Impl, Interface, Struct, Trait, Union};
        matches!(self, Class | Struct | Enum | Union | Trait | Interface | Impl)
    }
}

/// What tells a block from the others of its file.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Identity {
    pub kind: BlockKind,
    /// The names of the containers and the block's own name, joined by `.`:
    /// `AuthMiddleware.verify`. A region is called `before <next block>` or `end`.
    pub path: String,
    /// The normalised parameter types, if the language has them: `(u32, &str)`.
    pub parameters: Option<String>,
    /// The number of the block, from 0 and in file order, among the blocks of the file that have
    /// the same kind, path and parameters.
    pub ordinal: u32,
}

impl std::fmt::Display for Identity {
    /// Writes the kind and the path: `function a.b`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.path)
    }
}

/// A definition, or the code between two definitions, with its place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub identity: Identity,
    /// The last part of the path: `verify` of `AuthMiddleware.verify`.
    pub name: String,
    /// The block around this one, as an index into [`FileBlocks::blocks`].
    pub container: Option<usize>,
    /// The bytes of the lead: decorators, attributes, `export` and the doc comment directly above.
    /// They end where the node starts. Without a lead, the range is empty.
    pub lead: Range<usize>,
    /// The bytes of the node, without the lead.
    pub bytes: Range<usize>,
    /// The lines of the node.
    pub lines: LineRange,
    /// The lines of the lead and the node.
    pub whole_lines: LineRange,
    /// The bytes of the name. A block without a name has its first line here.
    pub name_bytes: Range<usize>,
    pub fingerprint: Fingerprint,
    /// True if the block was carried over from an earlier text because an edit brought a syntax
    /// error into it. Its fingerprints are those of the earlier text. Nothing is claimed about such
    /// a block, and it counts neither as new nor as lost.
    pub broken: bool,
}

impl Block {
    pub fn whole_bytes(&self) -> Range<usize> {
        self.lead.start..self.bytes.end
    }
}

/// All blocks of a file, in the order in which they start. An outer block comes before the blocks
/// inside it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FileBlocks {
    /// The [`super::Language::id`], or `None` for a text without a grammar.
    pub language: Option<&'static str>,
    pub blocks: Vec<Block>,
    /// True if the parser found a syntax error anywhere in the file, or if a file with a grammar
    /// contains a merge conflict.
    pub has_error: bool,
}

impl FileBlocks {
    /// Returns the index of the innermost block whose node or lead holds the byte.
    pub fn at_byte(&self, byte: usize) -> Option<usize> {
        self.blocks.iter().rposition(|block| block.whole_bytes().contains(&byte))
    }

    /// Returns the index of the innermost block whose node or lead holds the line, counted from 1.
    /// If several blocks of one container have the same lines, returns the first.
    pub fn at_line(&self, line: u32) -> Option<usize> {
        let holds = |block: &Block| block.whole_lines.contains(line);
        let last = self.blocks.iter().rposition(holds)?;
        let container = self.blocks[last].container;
        let same_lines = self.blocks[last].whole_lines;
        self.blocks.iter().position(|block| {
            holds(block) && block.container == container && block.whole_lines == same_lines
        })
    }
}
