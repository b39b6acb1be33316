//! A file as a program: its syntax tree without the parts that have no meaning, with each name
//! resolved as far as the file alone allows.
//!
//! Two parts of a file do the same if their trees are equal except for names that are local to
//! both. So the tree keeps everything that could make a difference (node kinds, fields, and every
//! token that a formatter would keep). It leaves out everything that could not: comments, white
//! space, trailing commas, optional semicolons and parentheses, and the kind of quotation marks.
//!
//! - `names` resolves names, by the rules for each language in the language tables.
//! - `sugar` gives different spellings of the same thing the same tree.
//! - `comments` finds the comments that are read by compilers or tools.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use tree_sitter::Node;

use super::block::FileBlocks;
use super::document::Document;
use super::language::Language;
use super::language_tables::roles::{Role, Roles, made};
use super::syntax::Compiled;
use super::tokens::{self, TreeEvent};

mod comments;
mod names;
mod sugar;

pub use comments::Comment;
pub use names::{Resolution, reads_own_name, resolve};
pub use sugar::is_plain_macro;

/// Nodes deeper than this are kept as a flat run of tokens, because source code may be nested
/// deeper than the stack allows.
const DEEPEST: usize = 160;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// The leaf is not a name but a keyword, an operator or a literal.
    Not,
    /// A local of the tree, by its index in [`Resolution::locals`].
    Local(u32),
    /// A value that is declared outside the tree.
    Free,
    /// A field, method, key, label or part of a path.
    Member,
    Type,
    /// A name whose meaning cannot be found in the file, such as an argument of an unknown macro.
    /// It must not be changed.
    Fixed,
}

/// A node of the tree or, if it has a text, a token.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The name of the node kind in the grammar. Empty for a token that is not in a node of its
    /// own.
    pub kind: &'static str,
    roles: &'static Roles,
    pub field: Option<&'static str>,
    pub bytes: Range<usize>,
    /// The normalised text of a token. `None` for a node.
    pub text: Option<Arc<str>>,
    pub name: NameKind,
    pub children: Vec<Tree>,
}

impl Tree {
    pub fn leaf(
        kind: &'static str,
        field: Option<&'static str>,
        bytes: Range<usize>,
        text: &str,
    ) -> Self {
        Self { text: Some(text.into()), ..Self::node(kind, field, bytes, Vec::new()) }
    }

    pub fn node(
        kind: &'static str,
        field: Option<&'static str>,
        bytes: Range<usize>,
        children: Vec<Tree>,
    ) -> Self {
        let roles = Roles::of_kind(kind);
        Self { kind, roles, field, bytes, text: None, name: NameKind::Not, children }
    }

    pub fn shallow(&self) -> Self {
        let (text, name) = (self.text.clone(), self.name);
        Self { text, name, ..Self::node(self.kind, self.field, self.bytes.clone(), Vec::new()) }
    }

    pub fn rename(&mut self, text: &str) {
        *self = Self {
            name: self.name,
            ..Self::leaf(made::IDENTIFIER, self.field, self.bytes.clone(), text)
        };
    }

    pub fn is_token(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }

    pub fn has_token_as(&self, field: &str, text: &str) -> bool {
        self.child(field).is_some_and(|child| child.is_token(text))
    }

    pub fn starts_with_token(&self, text: &str) -> bool {
        self.children.first().is_some_and(|first| first.is_token(text))
    }

    pub(crate) fn has_child_token(&self, text: &str) -> bool {
        self.children.iter().any(|child| child.is_token(text))
    }

    pub fn mentions(&self, text: &str) -> bool {
        self.has_node(&|node| node.is_token(text))
    }

    pub fn is_a(&self, role: Role) -> bool {
        self.roles.has_role(role)
    }

    pub fn is_any(&self, roles: &[Role]) -> bool {
        roles.iter().any(|role| self.is_a(*role))
    }

    pub fn child(&self, field: &str) -> Option<&Tree> {
        self.children.iter().find(|child| child.field == Some(field))
    }

    pub fn child_mut(&mut self, field: &str) -> Option<&mut Tree> {
        self.children.iter_mut().find(|child| child.field == Some(field))
    }

    pub fn tokens(&self) -> Vec<&Tree> {
        self.nodes_with(|node| node.text.is_some())
    }

    /// Returns this node and the nodes below it that satisfy `test`. A node comes before its
    /// children.
    pub fn nodes_with(&self, test: impl Fn(&Tree) -> bool) -> Vec<&Tree> {
        let mut found = Vec::new();
        self.visit(&mut |node| {
            if test(node) {
                found.push(node);
            }
        });
        found
    }

    /// Returns the number of the local that this token names.
    pub fn local(&self) -> Option<u32> {
        match self.name {
            NameKind::Local(local) => Some(local),
            _ => None,
        }
    }

    pub fn texts(&self) -> Vec<&str> {
        self.tokens().into_iter().filter_map(|token| token.text.as_deref()).collect()
    }

    pub fn joined_tokens(&self) -> String {
        self.texts().join(" ")
    }

    /// Returns the text of the child in this field, if it is a token.
    pub fn text_of(&self, field: &str) -> Option<&Arc<str>> {
        self.child(field)?.text.as_ref()
    }

    /// Calls `see` for this node and all nodes below it. A node comes before its children.
    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Tree)) {
        see(self);
        for child in &self.children {
            child.visit(see);
        }
    }

    /// Calls `change` for this node and all nodes below it. A node comes before its children.
    pub fn visit_mut(&mut self, change: &mut impl FnMut(&mut Tree)) {
        change(self);
        self.children.iter_mut().for_each(|child| child.visit_mut(change));
    }

    pub fn has_node(&self, test: &impl Fn(&Tree) -> bool) -> bool {
        test(self) || self.children.iter().any(|child| child.has_node(test))
    }
}

#[derive(Clone, Debug)]
pub struct Program {
    pub language: &'static Language,
    pub tree: Tree,
    pub comments: Vec<Comment>,
    pub errors: Vec<Range<usize>>,
    pub blocks: Arc<FileBlocks>,
}

impl Program {
    /// Reads a parsed file; `text` is its text. Returns `None` if it has no syntax tree: its language
    /// is unknown, or it is prose, generated, too large or binary.
    pub fn from_document(document: &Document, text: &str) -> Option<Self> {
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
        let tokens = walked.events.iter().filter_map(TreeEvent::token);
        let tokens = tokens.map(|token| (token.bytes.clone(), token.text(text))).collect();
        let (language_id, errors) = (language.id, Vec::new());
        let mut build =
            Build { language: language_id, compiled, tokens, next: 0, quoted: 0, errors };
        let tree = build
            .tree(root, None, 0)
            .unwrap_or_else(|| Tree::node("", None, 0..text.len(), Vec::new()));
        let errors = build.errors;
        let comments = comments::comments(language.id, text, &walked.comments);
        Some(Self { language, tree, comments, errors, blocks: document.parsed_blocks() })
    }

    /// Makes a program from a text that could not be parsed in time. The whole text counts as an
    /// error.
    fn unparsed(language: &'static Language, document: &Document) -> Self {
        let all = 0..document.len_bytes();
        Self {
            language,
            tree: Tree::node("", None, all.clone(), Vec::new()),
            comments: Vec::new(),
            errors: vec![all],
            blocks: document.parsed_blocks(),
        }
    }

    pub fn has_error_in(&self, bytes: &Range<usize>) -> bool {
        self.errors.iter().any(|error| error.start <= bytes.end && bytes.start <= error.end)
    }
}

/// Returns the words of a text: runs of letters, digits and `_`.
pub fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

struct Build<'a> {
    language: &'static str,
    compiled: &'static Compiled,
    tokens: Vec<(Range<usize>, &'a str)>,
    next: usize,
    /// How many of the surrounding nodes may quote their contents.
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
                (only.kind, only.roles, only.field) = (kind, Roles::of_kind(kind), field);
                return children.pop().map(|leaf| sugar::in_longest_spelling(self.language, leaf));
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
        Some(sugar::in_longest_spelling(self.language, Tree::node(kind, field, bytes, children)))
    }

    /// Takes the tokens that begin before `end` and are not in a leaf of their own.
    fn take(&mut self, end: usize, into: &mut Vec<Tree>) {
        while let Some((bytes, text)) = self.tokens.get(self.next).filter(|(b, _)| b.start < end) {
            into.push(Tree::leaf("", None, bytes.clone(), text));
            self.next += 1;
        }
    }
}
