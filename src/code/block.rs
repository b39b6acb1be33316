//! A block: a definition, or what lies between definitions.

use std::ops::Range;

use super::{Fingerprint, LineRange};

/// What a block is. The ledger's word for it is [`BlockKind::as_str`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum BlockKind {
    /// A function outside any type.
    Function,
    /// A function directly inside a class, impl, trait or interface.
    Method,
    /// A class or record.
    Class,
    /// A struct.
    Struct,
    /// An enum.
    Enum,
    /// A union.
    Union,
    /// A trait.
    Trait,
    /// An interface or annotation type.
    Interface,
    /// A Rust `impl`.
    Impl,
    /// A module with a body.
    Module,
    /// A namespace.
    Namespace,
    /// A top-level constant.
    Constant,
    /// A top-level variable or static.
    Variable,
    /// A type alias or other named type.
    Type,
    /// A macro.
    Macro,
    /// A test that a runner finds by its call (`describe`, `it`, `test`).
    Test,
    /// A Markdown section: its heading to its end, subsections included.
    Section,
    /// A key, table or entry of a data file.
    Key,
    /// A statement that defines something (SQL).
    Statement,
    /// A rule of a style sheet.
    Rule,
    /// What lies between top-level definitions: imports, top-level statements. Comments alone are no block.
    Region,
    /// Lines between blank lines, in a file without a grammar.
    Paragraph,
    /// A whole file that a program wrote.
    File,
    /// The source of a notebook's cell.
    Cell,
}

const KINDS: [(BlockKind, &str); 24] = [
    (BlockKind::Function, "function"),
    (BlockKind::Method, "method"),
    (BlockKind::Class, "class"),
    (BlockKind::Struct, "struct"),
    (BlockKind::Enum, "enum"),
    (BlockKind::Union, "union"),
    (BlockKind::Trait, "trait"),
    (BlockKind::Interface, "interface"),
    (BlockKind::Impl, "impl"),
    (BlockKind::Module, "module"),
    (BlockKind::Namespace, "namespace"),
    (BlockKind::Constant, "constant"),
    (BlockKind::Variable, "variable"),
    (BlockKind::Type, "type"),
    (BlockKind::Macro, "macro"),
    (BlockKind::Test, "test"),
    (BlockKind::Section, "section"),
    (BlockKind::Key, "key"),
    (BlockKind::Statement, "statement"),
    (BlockKind::Rule, "rule"),
    (BlockKind::Region, "region"),
    (BlockKind::Paragraph, "paragraph"),
    (BlockKind::File, "file"),
    (BlockKind::Cell, "cell"),
];

impl BlockKind {
    /// The word in the ledger and in `--json`: lower case, e.g. `function`.
    pub fn as_str(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// All kinds.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        KINDS.iter().map(|(kind, _)| *kind)
    }

    /// The kind with this word; also of a capture name's tail (`definition.function`).
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.rsplit('.').next().unwrap_or(word);
        KINDS.iter().find(|(_, name)| *name == word).map(|(kind, _)| *kind)
    }

    /// Whether blocks of this kind have no name of their own: they are called after their surroundings, so that their
    /// text is all they are known by.
    pub fn is_unnamed(self) -> bool {
        matches!(self, Self::Region | Self::Paragraph)
    }

    /// Whether a function directly inside a block of this kind is called a method.
    pub(super) fn has_methods(self) -> bool {
        use BlockKind::{Class, Enum, Impl, Interface, Struct, Trait, Union};
        matches!(self, Class | Struct | Enum | Union | Trait | Interface | Impl)
    }
}

/// What makes a block the same block before and after an edit of its body.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Identity {
    /// What it is.
    pub kind: BlockKind,
    /// Container names and its own, joined by `.`: `AuthMiddleware.verify`. A region is `before <next block>` or `end`.
    pub path: String,
    /// Parameter types, normalised, where the language has them: `(u32, &str)`.
    pub parameters: Option<String>,
    /// Counts from 0 among blocks of a file that agree in all of the above, in file order.
    pub ordinal: u32,
}

/// A block of a file as it stands.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Block {
    /// What it is called and where in the containers it stands.
    pub identity: Identity,
    /// The last segment of the identity's path.
    pub name: String,
    /// Index of the enclosing block in [`FileBlocks::blocks`].
    pub container: Option<usize>,
    /// Decorators, attributes, `export` and the doc comment directly above: from their first byte to just before the
    /// node. Empty, at the node's start, where there is none.
    pub lead: Range<usize>,
    /// The syntax node, first byte to last; the lead is no part of it.
    pub bytes: Range<usize>,
    /// The node in lines.
    pub lines: LineRange,
    /// The lead and the node in lines.
    pub whole_lines: LineRange,
    /// The name's bytes; the first line's for a block without one.
    pub name_bytes: Range<usize>,
    /// What it is found again by.
    pub fingerprint: Fingerprint,
    /// It was carried over from an earlier text and holds a syntax error that the earlier one did not have. Its
    /// fingerprints are those of the earlier text; nothing is claimed of it, and it is neither new nor lost.
    pub broken: bool,
}

impl Block {
    /// The lead and the node.
    pub fn whole_bytes(&self) -> Range<usize> {
        self.lead.start..self.bytes.end
    }
}

/// All blocks of a file, in the order in which they start (an outer block before those inside it).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FileBlocks {
    /// [`super::Language::id`], or `None` for paragraphs.
    pub language: Option<&'static str>,
    /// In the order in which they start.
    pub blocks: Vec<Block>,
    /// The grammar met a syntax error somewhere.
    pub has_error: bool,
}

impl FileBlocks {
    /// The innermost block that holds the byte, in its node or its lead.
    pub fn at_byte(&self, byte: usize) -> Option<usize> {
        self.blocks.iter().rposition(|block| block.whole_bytes().contains(&byte))
    }

    /// The innermost block that holds the 1-based line, in its node or its lead; of several that start and end on it,
    /// the first.
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
