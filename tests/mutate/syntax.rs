//! What the mutators need to know about a text: its tokens, the lines of its blocks, and the statements of a body.

use std::ops::Range;
use std::sync::Arc;

use code::{Block, BlockKind, Document, FileBlocks, language};
use tree_sitter::{Node, Parser, Tree};

/// A text with its tree and its blocks.
pub struct Syntax {
    pub text: String,
    pub language: &'static str,
    pub blocks: Arc<FileBlocks>,
    tree: Tree,
}

/// A token of the text.
#[derive(Clone, Debug)]
pub struct Leaf<'t> {
    pub bytes: Range<usize>,
    pub kind: &'t str,
    pub parent: &'t str,
    pub named: bool,
}

impl Syntax {
    /// Returns `None` if the language has no grammar.
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let language = language::of_file(path, text.lines().next().unwrap_or_default())?;
        let mut parser = Parser::new();
        parser.set_language(&language.grammar?()).expect("a grammar of ours");
        let tree = parser.parse(text, None)?;
        let blocks = Document::from_text(path, text).blocks();
        Some(Self { text: text.to_owned(), language: language.id, blocks, tree })
    }

    pub fn block(&self, at: usize) -> &Block {
        &self.blocks.blocks[at]
    }

    /// Returns the tokens in order. A string with parts in the grammar gives several tokens.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut leaves = Vec::new();
        collect(self.tree.root_node(), "", &mut leaves);
        leaves
    }

    pub fn leaves_in(&self, range: &Range<usize>) -> Vec<Leaf<'_>> {
        let inside = |leaf: &Leaf| range.start <= leaf.bytes.start && leaf.bytes.end <= range.end;
        self.leaves().into_iter().filter(inside).collect()
    }

    pub fn word(&self, leaf: &Leaf) -> &str {
        &self.text[leaf.bytes.clone()]
    }

    /// Returns the bytes of literals and comments, in which line breaks and indentation have a meaning.
    pub fn literals(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        literals(self.tree.root_node(), &mut found);
        found
    }

    /// Returns the blocks that have a name in the source.
    pub fn named(&self) -> Vec<usize> {
        let all = 0..self.blocks.blocks.len();
        all.filter(|at| !unnamed(self.block(*at).identity.kind)).collect()
    }

    pub fn functions(&self) -> Vec<usize> {
        let function =
            |kind| matches!(kind, BlockKind::Function | BlockKind::Method | BlockKind::Test);
        self.named().into_iter().filter(|at| function(self.block(*at).identity.kind)).collect()
    }

    /// Returns the siblings of a block, including itself.
    pub fn siblings(&self, at: usize) -> Vec<usize> {
        let container = self.block(at).container;
        self.named().into_iter().filter(|other| self.block(*other).container == container).collect()
    }

    /// Returns the whole lines of a block with its lead, or `None` if it shares a line with something else.
    pub fn item(&self, at: usize) -> Option<Range<usize>> {
        let bytes = &self.block(at).bytes;
        let mut start = line_start(&self.text, bytes.start);
        let before = &self.text[start..bytes.start];
        if !before.chars().all(|c| c.is_ascii_lowercase() || "() \t".contains(c)) {
            return None;
        }
        let end = line_end(&self.text, bytes.end);
        let after = self.text[bytes.end..end].trim();
        if !(after.is_empty() || after == ";" || after == ",") {
            return None;
        }
        while start > 0 {
            let above = line_start(&self.text, start - 1);
            if !attached(self.language, self.text[above..start].trim()) {
                break;
            }
            start = above;
        }
        // The lead must not be part of another block.
        let clash = self.named().into_iter().any(|other| {
            let others = &self.block(other).bytes;
            let apart = others.end <= start || others.start >= end;
            let within = bytes.start <= others.start && others.end <= bytes.end;
            let around = others.start <= start && end <= others.end.max(bytes.end);
            !(apart || within || around || others == bytes)
        });
        (!clash).then_some(start..end)
    }

    /// Returns the node of a block.
    fn node(&self, at: usize) -> Option<Node<'_>> {
        let bytes = &self.block(at).bytes;
        self.tree.root_node().descendant_for_byte_range(bytes.start, bytes.end - 1)
    }

    fn body(&self, at: usize) -> Option<Node<'_>> {
        let mut found = find(self.node(at)?, &|node| BODIES.contains(&node.kind()))?;
        while found.named_child_count() == 1 {
            let only = found.named_child(0)?;
            if only.kind() != "statement_list" {
                break;
            }
            found = only;
        }
        Some(found)
    }

    /// Returns the statements of a function's body that have lines of their own, as whole lines.
    pub fn statements(&self, at: usize) -> Vec<Range<usize>> {
        let Some(body) = self.body(at) else { return Vec::new() };
        let mut cursor = body.walk();
        let whole = |node: Node| {
            let start = line_start(&self.text, node.start_byte());
            let end = line_end(&self.text, node.end_byte());
            let alone = self.text[start..node.start_byte()].trim().is_empty()
                && matches!(self.text[node.end_byte()..end].trim(), "" | ";");
            (alone && !node.kind().contains("comment")).then_some(start..end)
        };
        let found: Vec<Range<usize>> = body.named_children(&mut cursor).filter_map(whole).collect();
        let apart = found.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if apart { found } else { Vec::new() }
    }

    /// Returns the statements that return early if a condition holds, and have no alternative.
    pub fn guards(&self, at: usize) -> Vec<Range<usize>> {
        let leaves = |range: &Range<usize>| {
            let text = &self.text[range.clone()];
            let first = text.trim_start();
            let condition = first.starts_with("if ") || first.starts_with("if(");
            let words = ["return", "throw ", "raise ", "continue", "break", "panic!"];
            condition && words.iter().any(|word| text.contains(word)) && !text.contains("else")
        };
        self.statements(at).into_iter().filter(leaves).collect()
    }

    /// Returns the parameter list of a function with its brackets.
    pub fn parameters(&self, at: usize) -> Option<Range<usize>> {
        let list = |node: Node| {
            node.kind() == "parameters"
                || node.kind() == "formal_parameters"
                || node.kind() == "parameter_list"
        };
        let name_end = self.block(at).name_bytes.end;
        let found = find(self.node(at)?, &|node| list(node) && node.start_byte() >= name_end)?;
        Some(found.byte_range())
    }
}

const BODIES: [&str; 6] = [
    "block",
    "statement_block",
    "compound_statement",
    "function_body",
    "constructor_body",
    "declaration_list",
];

pub fn unnamed(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Region | BlockKind::Paragraph)
}

fn collect<'t>(node: Node<'t>, parent: &'t str, leaves: &mut Vec<Leaf<'t>>) {
    if node.child_count() == 0 {
        if !node.byte_range().is_empty() {
            let (bytes, kind, named) = (node.byte_range(), node.kind(), node.is_named());
            leaves.push(Leaf { bytes, kind, parent, named });
        }
        return;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, node.kind(), leaves);
    }
}

fn literals(node: Node, found: &mut Vec<Range<usize>>) {
    let kind = node.kind();
    let whole = kind.contains("comment")
        || kind.contains("string")
        || kind.contains("template")
        || kind.contains("heredoc")
        || kind.contains("char")
        || kind.contains("regex")
        || kind.contains("token_tree")
        || kind.contains("jsx")
        || kind.contains("preproc")
        || kind.contains("macro");
    if whole && node.parent().is_some() {
        found.push(node.byte_range());
        return;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        literals(child, found);
    }
}

/// Returns the first node that fits, from outside to inside and in order.
fn find<'t>(node: Node<'t>, such: &dyn Fn(Node) -> bool) -> Option<Node<'t>> {
    if such(node) {
        return Some(node);
    }
    let mut cursor = node.walk();
    let children: Vec<Node> = node.children(&mut cursor).collect();
    children
        .iter()
        .copied()
        .find(|child| such(*child))
        .or_else(|| children.into_iter().find_map(|child| find(child, such)))
}

/// Returns true if a line belongs to the definition below it.
fn attached(language: &str, line: &str) -> bool {
    let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    match language {
        "rust" => begins(&["//", "#["]) && !begins(&["//!"]),
        "python" => begins(&["# ", "@"]),
        "bash" | "toml" | "yaml" => begins(&["# "]),
        "markdown" | "json" => false,
        _ => begins(&["//", "/*", "* ", "*/", "@"]) || line == "*",
    }
}

pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |found| found + 1)
}

/// Returns the position after the line break.
pub fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |found| at + found + 1)
}

/// Returns the white space at the beginning of a line.
pub fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
