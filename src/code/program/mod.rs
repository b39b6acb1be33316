//! A file as a program: its syntax tree with what says nothing left out, and
//! each name resolved as far as the file alone can tell.
//!
//! Two stretches of a file do the same when their trees are equal but for names
//! that are local to both. So the tree keeps everything that could make a
//! difference (kinds of nodes, fields, every token that a formatter would keep)
//! and drops what could not: comments, white space, trailing commas, optional
//! semicolons and parentheses, the style of quotes.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use tree_sitter::Node;

use super::block::FileBlocks;
use super::document::Document;
use super::language::Language;
use super::rows::roles::{Role, Roles, made};
use super::syntax::Compiled;
use super::tokens;

mod comments;
mod names;
pub(super) mod scoping;
mod sugar;

pub(crate) use comments::Comment;
pub(crate) use names::{Resolution, is_plain_macro, resolve};

/// Nodes deeper than this are kept as a flat run of tokens: source may nest deeper than any stack.
const DEEPEST: usize = 160;

/// What a leaf names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// Nothing: a keyword, an operator, a literal.
    Not,
    /// A local of the tree, by its number in [`Resolution::locals`].
    Local(u32),
    /// A value that is declared outside of the tree.
    Free,
    /// A field, method, key, label or part of a path.
    Member,
    /// A type.
    Type,
    /// Something whose meaning the file does not tell (an argument of an unknown macro): it must stay as it is.
    Fixed,
}

/// A node of the tree, or (with a text) a token.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The grammar's name of it; empty for a token that no node holds.
    pub kind: &'static str,
    /// What such a node is to the rules.
    roles: &'static Roles,
    /// What it is to its parent.
    pub field: Option<&'static str>,
    /// Where it stands.
    pub bytes: Range<usize>,
    /// The normalised text of a token.
    pub text: Option<Arc<str>>,
    /// What the token names, once [`resolve`] has seen it.
    pub name: Name,
    /// In source order.
    pub children: Vec<Tree>,
}

impl Tree {
    pub(crate) fn leaf(
        kind: &'static str,
        field: Option<&'static str>,
        bytes: Range<usize>,
        text: &str,
    ) -> Self {
        Self { text: Some(text.into()), ..Self::node(kind, field, bytes, Vec::new()) }
    }

    pub(crate) fn node(
        kind: &'static str,
        field: Option<&'static str>,
        bytes: Range<usize>,
        children: Vec<Tree>,
    ) -> Self {
        let roles = Roles::of(kind);
        Self { kind, roles, field, bytes, text: None, name: Name::Not, children }
    }

    /// The same without what is in it.
    pub(crate) fn shallow(&self) -> Self {
        let (text, name) = (self.text.clone(), self.name);
        Self { text, name, ..Self::node(self.kind, self.field, self.bytes.clone(), Vec::new()) }
    }

    /// Makes a token a plain name.
    pub(crate) fn rename(&mut self, text: &str) {
        *self = Self {
            name: self.name,
            ..Self::leaf(made::IDENTIFIER, self.field, self.bytes.clone(), text)
        };
    }

    /// Whether it is this token.
    pub fn is(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }

    /// Whether such a node has the role.
    pub(crate) fn is_a(&self, role: Role) -> bool {
        self.roles.has(role)
    }

    /// The child in this field.
    pub fn child(&self, field: &str) -> Option<&Tree> {
        self.children.iter().find(|child| child.field == Some(field))
    }

    /// Every token below, in order.
    pub fn tokens(&self) -> Vec<&Tree> {
        let mut found = Vec::new();
        self.visit(&mut |node| {
            if node.text.is_some() {
                found.push(node);
            }
        });
        found
    }

    /// The tokens with one space between.
    pub fn words(&self) -> String {
        let tokens = self.tokens();
        let texts: Vec<&str> = tokens.iter().filter_map(|token| token.text.as_deref()).collect();
        texts.join(" ")
    }

    /// Calls `see` for it and everything below, outer before inner.
    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Tree)) {
        see(self);
        for child in &self.children {
            child.visit(see);
        }
    }

    /// Whether anything at or below it satisfies `test`.
    pub fn any(&self, test: &impl Fn(&Tree) -> bool) -> bool {
        test(self) || self.children.iter().any(|child| child.any(test))
    }

    /// The smallest node that holds the bytes and begins and ends with them, the outermost of several.
    pub fn at(&self, bytes: &Range<usize>) -> Option<&Tree> {
        if self.bytes == *bytes {
            return Some(self);
        }
        self.children
            .iter()
            .filter(|child| child.bytes.start <= bytes.start && bytes.end <= child.bytes.end)
            .find_map(|child| child.at(bytes))
    }
}

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its language.
    pub language: &'static Language,
    /// The whole tree.
    pub tree: Tree,
    /// All comments, in order.
    pub comments: Vec<Comment>,
    /// Where the parser met something that the grammar does not know.
    pub errors: Vec<Range<usize>>,
    /// The blocks that are its definitions.
    pub blocks: Arc<FileBlocks>,
}

impl Program {
    /// `None` for a text that has no syntax: of no known language, prose, generated, too large, binary.
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let document = Document::from_text(path, text);
        let language = document.language()?;
        if document.is_prose() || document.unread().is_some() {
            return None;
        }
        let compiled = language.compiled()?;
        let Some(parsed) = document.tree() else { return Some(Self::unparsed(language, document)) };
        let root = parsed.root_node();
        let mut cursor = root.walk();
        let tops: Vec<Node> = root.children(&mut cursor).collect();
        let walked = tokens::walk(text, compiled, &tops, &HashMap::new(), &HashSet::new(), &[]);
        let tokens = walked
            .events
            .iter()
            .filter_map(|event| match event {
                tokens::TreeEvent::Token(token) => Some((token.bytes.clone(), token.text(text))),
                tokens::TreeEvent::Close(_) => None,
            })
            .collect();
        let mut build = Build {
            language: language.id,
            compiled,
            tokens,
            next: 0,
            quoted: 0,
            errors: Vec::new(),
        };
        let tree = build
            .tree(root, None, 0)
            .unwrap_or_else(|| Tree::node("", None, 0..text.len(), Vec::new()));
        let errors = build.errors;
        let comments = comments::comments(language.id, text, &walked.comments);
        Some(Self { language, tree, comments, errors, blocks: document.blocks() })
    }

    /// A text that the parser gave up: nothing in it is known.
    fn unparsed(language: &'static Language, document: Document) -> Self {
        let all = 0..document.len_bytes();
        Self {
            language,
            tree: Tree::node("", None, all.clone(), Vec::new()),
            comments: Vec::new(),
            errors: vec![all],
            blocks: document.blocks(),
        }
    }

    /// Whether the parser met an error there.
    pub fn has_error_in(&self, bytes: &Range<usize>) -> bool {
        self.errors.iter().any(|error| error.start <= bytes.end && bytes.start <= error.end)
    }
}

struct Build<'a> {
    language: &'static str,
    compiled: &'static Compiled,
    tokens: Vec<(Range<usize>, &'a str)>,
    next: usize,
    /// How many nodes around quote what is in them.
    quoted: usize,
    errors: Vec<Range<usize>>,
}

impl Build<'_> {
    fn tree(&mut self, node: Node, field: Option<&'static str>, depth: usize) -> Option<Tree> {
        let bytes = node.byte_range();
        if node.is_error() || node.is_missing() {
            self.errors.push(bytes.clone());
        }
        let kind = self.compiled.kind(node.kind_id());
        let mut children = Vec::new();
        if node.child_count() == 0 || depth > DEEPEST {
            if depth > DEEPEST && node.has_error() {
                self.errors.push(bytes.clone());
            }
            self.take(bytes.end, &mut children);
            if let [only] = &mut children[..]
                && node.child_count() == 0
            {
                (only.kind, only.roles, only.field) = (kind, Roles::of(kind), field);
                return children.pop().map(|leaf| sugar::plain(self.language, leaf));
            }
        } else {
            let quotes = self.compiled.syntax.quoting.contains(&kind);
            self.quoted += usize::from(quotes);
            let mut cursor = node.walk();
            let mut more = cursor.goto_first_child();
            while more {
                let child = cursor.node();
                let field = cursor.field_id().and_then(|id| self.compiled.field(id.get()));
                self.take(child.start_byte(), &mut children);
                children.extend(self.tree(child, field, depth + 1));
                more = cursor.goto_next_sibling();
            }
            self.take(bytes.end, &mut children);
            self.quoted -= usize::from(quotes);
        }
        if children.is_empty() {
            return None;
        }
        if self.quoted == 0 {
            sugar::unwrap(self.compiled.syntax, kind, &mut children);
        }
        Some(sugar::plain(self.language, Tree::node(kind, field, bytes, children)))
    }

    /// Takes the tokens that begin before `end`: text that no leaf holds.
    fn take(&mut self, end: usize, into: &mut Vec<Tree>) {
        while let Some((bytes, text)) = self.tokens.get(self.next).filter(|(b, _)| b.start < end) {
            into.push(Tree::leaf("", None, bytes.clone(), text));
            self.next += 1;
        }
    }
}
