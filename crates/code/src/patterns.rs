//! The patterns of `queries/*/blocks.scm`, and how they are matched with a syntax tree.
//!
//! The language is that of tree-sitter's queries, without repetition, groups, negated fields and
//! missing nodes. Tree-sitter's own `Query` first analyses each pattern with the tables of the
//! grammar. That takes from 1 ms (Go) to more than 100 ms (C++) in every process, which is longer
//! than most questions take as a whole. In the tests, its matches are compared with ours.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex_lite::Regex;
use tree_sitter::{Language, Node};

/// The patterns of a language, in the order of its files.
#[derive(Debug)]
pub(super) struct Patterns {
    patterns: Vec<DefinitionPattern>,
    /// The names of the captures, without the `@`.
    capture_names: Vec<String>,
    /// The patterns that can begin at a node of this kind, and which of its shapes does.
    by_kind: BTreeMap<u16, Vec<(usize, usize)>>,
}

pub(super) type Capture<'t> = (usize, Node<'t>);

#[derive(Debug)]
struct DefinitionPattern {
    shapes: Vec<Shape>,
    conditions: Vec<Condition>,
}

#[derive(Debug)]
struct Shape {
    kind: WantedKind,
    captures: Vec<usize>,
    children: Vec<Step>,
    ends_with_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WantedKind {
    Any,
    Named,
    Id(u16),
}

/// A child of a node: one of several shapes, `[(a) (b)]`, or the only one.
#[derive(Debug)]
struct Step {
    shapes: Vec<Shape>,
    field: Option<u16>,
    is_optional: bool,
    /// Whether no named node may stand before it, after the child before it.
    is_anchored: bool,
}

/// A predicate, such as `(#eq? @name "main")`. It holds if it does for all nodes of the capture.
#[derive(Debug)]
struct Condition {
    capture: usize,
    is_negated: bool,
    test: TextTest,
}

#[derive(Debug)]
enum TextTest {
    OneOf(Vec<String>),
    Matches(String, OnceLock<Option<Regex>>),
}

impl Patterns {
    /// Parses patterns. The error says what is wrong and before which text.
    pub(super) fn parse(grammar: &Language, source: &str) -> Result<Self, String> {
        let mut reader = Reader { grammar, source, rest: source, capture_names: Vec::new() };
        let mut patterns = Vec::new();
        while !reader.remaining_text().is_empty() {
            let mut conditions = Vec::new();
            let step = reader.step(&mut conditions)?;
            if step.is_anchored || step.is_optional || step.field.is_some() {
                return reader.fail("a pattern is one node");
            }
            patterns.push(DefinitionPattern { shapes: step.shapes, conditions });
        }
        let mut by_kind: BTreeMap<u16, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, pattern) in patterns.iter().enumerate() {
            for (nth, shape) in pattern.shapes.iter().enumerate() {
                let WantedKind::Id(kind) = shape.kind else {
                    return reader.fail("a pattern begins with the kind of a node");
                };
                by_kind.entry(kind).or_default().push((at, nth));
            }
        }
        Ok(Self { patterns, capture_names: reader.capture_names, by_kind })
    }

    pub(super) fn capture_names(&self) -> &[String] {
        &self.capture_names
    }

    /// Calls `found` with the index of the pattern and the captures of each match that touches
    /// `zone` and begins at most `deepest` levels below the root. Error nodes count as nodes of
    /// `error_kind`.
    pub(super) fn for_each_match<'t>(
        &self,
        text: &str,
        root: Node<'t>,
        error_kind: Option<u16>,
        zone: &Range<usize>,
        deepest: u32,
        mut found: impl FnMut(usize, &[Capture<'t>]),
    ) {
        let zone = zone.clone();
        let mut matching = Matching { zone, error_kind, captures: Vec::new(), completed: 0 };
        let (mut cursor, mut depth) = (root.walk(), 0);
        loop {
            let node = cursor.node();
            let is_in_zone = matching.is_in_zone(node);
            if is_in_zone && let Some(patterns) = self.by_kind.get(&matching.kind(node)) {
                let children = OnceCell::new();
                for &(at, nth) in patterns {
                    let pattern = &self.patterns[at];
                    matching.shape(&pattern.shapes[nth], node, &children, &mut |matching| {
                        matching.completed += 1;
                        if pattern.conditions.iter().all(|one| one.holds(text, &matching.captures))
                        {
                            found(at, &matching.captures);
                        }
                    });
                }
            }
            if is_in_zone && depth < deepest && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }
}

struct Matching<'t> {
    zone: Range<usize>,
    error_kind: Option<u16>,
    captures: Vec<Capture<'t>>,
    completed: usize,
}

struct Child<'t> {
    node: Node<'t>,
    field: Option<u16>,
}

type Children<'t> = OnceCell<Vec<Child<'t>>>;

/// What follows a part of a pattern that was matched.
type Rest<'r, 't> = &'r mut dyn FnMut(&mut Matching<'t>);

impl<'t> Matching<'t> {
    fn is_in_zone(&self, node: Node<'_>) -> bool {
        node.start_byte() <= self.zone.end && node.end_byte() >= self.zone.start
    }

    fn kind(&self, node: Node<'_>) -> u16 {
        self.error_kind.filter(|_| node.is_error()).unwrap_or_else(|| node.kind_id())
    }

    fn shape(
        &mut self,
        shape: &Shape,
        node: Node<'t>,
        children: &Children<'t>,
        rest: Rest<'_, 't>,
    ) {
        let is_it = match shape.kind {
            WantedKind::Id(kind) => self.kind(node) == kind,
            WantedKind::Named => node.is_named() && !node.is_error(),
            WantedKind::Any => !node.is_error(),
        };
        if !is_it {
            return;
        }
        let before = self.captures.len();
        self.captures.extend(shape.captures.iter().map(|capture| (*capture, node)));
        if shape.children.is_empty() {
            rest(self);
        } else {
            self.steps(shape, 0, children.get_or_init(|| children_of(node)), rest);
        }
        self.captures.truncate(before);
    }

    fn steps(&mut self, shape: &Shape, at: usize, children: &[Child<'t>], rest: Rest<'_, 't>) {
        let Some(step) = shape.children.get(at) else {
            if !shape.ends_with_last || !children.iter().any(|child| child.node.is_named()) {
                rest(self);
            }
            return;
        };
        let before = self.completed;
        for (nth, child) in children.iter().enumerate() {
            let has_field = step.field.is_none_or(|field| child.field == Some(field));
            if has_field && self.is_in_zone(child.node) {
                let inner = OnceCell::new();
                for one in &step.shapes {
                    self.shape(one, child.node, &inner, &mut |matching| {
                        matching.steps(shape, at + 1, &children[nth + 1..], rest);
                    });
                }
            }
            // A child that is not captured is enough: another one would give the same match again.
            let is_enough = self.completed > before && !step.has_captures();
            if is_enough || step.is_anchored && child.node.is_named() {
                break;
            }
        }
        if step.is_optional && self.completed == before {
            self.steps(shape, at + 1, children, rest);
        }
    }
}

fn children_of(node: Node<'_>) -> Vec<Child<'_>> {
    let mut cursor = node.walk();
    let mut children = Vec::new();
    let mut is_there = cursor.goto_first_child();
    while is_there {
        let field = cursor.field_id().map(|field| field.get());
        children.push(Child { node: cursor.node(), field });
        is_there = cursor.goto_next_sibling();
    }
    children
}

impl Step {
    fn has_captures(&self) -> bool {
        let of_shape = |shape: &Shape| {
            !shape.captures.is_empty() || shape.children.iter().any(Self::has_captures)
        };
        self.shapes.iter().any(of_shape)
    }
}

impl Condition {
    fn holds(&self, text: &str, captures: &[Capture<'_>]) -> bool {
        let holds_for = |node: Node<'_>| {
            let text = &text[node.byte_range()];
            let is_it = match &self.test {
                TextTest::OneOf(words) => words.iter().any(|word| word == text),
                TextTest::Matches(source, regex) => {
                    let regex = regex.get_or_init(|| Regex::new(source).ok());
                    regex.as_ref().is_some_and(|regex| regex.is_match(text))
                }
            };
            is_it != self.is_negated
        };
        captures.iter().filter(|one| one.0 == self.capture).all(|one| holds_for(one.1))
    }
}

struct Reader<'a> {
    grammar: &'a Language,
    source: &'a str,
    rest: &'a str,
    capture_names: Vec<String>,
}

impl<'a> Reader<'a> {
    fn remaining_text(&mut self) -> &'a str {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix(';') {
                Some(comment) => self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest),
                None => return self.rest,
            }
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.remaining_text().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn fail<T>(&mut self, what: &str) -> Result<T, String> {
        let line = self.source[..self.source.len() - self.rest.len()].lines().count();
        let next = self.remaining_text().lines().next().unwrap_or("");
        Err(format!("line {line}: {what}, before `{next}`"))
    }

    fn word(&mut self) -> Option<&'a str> {
        let is_part = |letter: char| letter.is_alphanumeric() || "_-.?#!".contains(letter);
        let rest = self.remaining_text();
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        (!word.is_empty()).then(|| self.rest = rest)?;
        Some(word)
    }

    /// Reads a text in quotes, in which a backslash stands before a quote or another backslash.
    fn read_quoted(&mut self) -> Option<String> {
        self.take("\"").then_some(())?;
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                _ => text.push(letter),
            }
        }
        None
    }

    fn capture(&mut self) -> Option<usize> {
        let name = self.take("@").then(|| self.word())??;
        let known = self.capture_names.iter().position(|known| known == name);
        Some(known.unwrap_or_else(|| {
            self.capture_names.push(name.to_owned());
            self.capture_names.len() - 1
        }))
    }

    fn step(&mut self, conditions: &mut Vec<Condition>) -> Result<Step, String> {
        let is_anchored = self.take(".");
        let mut field = None;
        if let Some((name, rest)) = self.remaining_text().split_once(':')
            && !name.is_empty()
            && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        {
            let id = self.grammar.field_id_for_name(name);
            let Some(id) = id else { return self.fail("no field of the grammar") };
            self.rest = rest;
            field = Some(id.get());
        }
        let mut shapes = self.shapes(conditions)?;
        let is_optional = self.take("?");
        while let Some(capture) = self.capture() {
            shapes.iter_mut().for_each(|shape| shape.captures.push(capture));
        }
        Ok(Step { shapes, field, is_optional, is_anchored })
    }

    fn shapes(&mut self, conditions: &mut Vec<Condition>) -> Result<Vec<Shape>, String> {
        let leaf = |kind| Shape { kind, captures: vec![], children: vec![], ends_with_last: false };
        if self.take("[") {
            let mut shapes = Vec::new();
            while !self.take("]") {
                if !self.condition(conditions)? {
                    shapes.extend(self.step(conditions)?.shapes);
                }
            }
            return Ok(shapes);
        }
        if self.remaining_text().starts_with('"') {
            let id = self.read_quoted().map(|token| self.grammar.id_for_node_kind(&token, false));
            return match id {
                Some(id) if id != 0 => Ok(vec![leaf(WantedKind::Id(id))]),
                _ => self.fail("no token of the grammar"),
            };
        }
        if self.take("_") {
            return Ok(vec![leaf(WantedKind::Any)]);
        }
        if !self.take("(") {
            return self.fail("expected a node");
        }
        let kind = match self.word() {
            Some("_") => WantedKind::Named,
            Some(word) if self.grammar.id_for_node_kind(word, true) != 0 => {
                WantedKind::Id(self.grammar.id_for_node_kind(word, true))
            }
            _ => return self.fail("no node of the grammar"),
        };
        let mut shape = leaf(kind);
        while !self.take(")") {
            if self.condition(conditions)? {
                continue;
            }
            let rest = self.remaining_text().strip_prefix('.');
            if rest.is_some_and(|rest| rest.trim_start().starts_with(')')) {
                shape.ends_with_last = self.take(".");
            } else {
                shape.children.push(self.step(conditions)?);
            }
        }
        Ok(vec![shape])
    }

    /// Returns false if no predicate comes next.
    fn condition(&mut self, conditions: &mut Vec<Condition>) -> Result<bool, String> {
        if !self.take("(#") {
            return Ok(false);
        }
        let name = self.word().unwrap_or_default();
        let Some(capture) = self.capture() else { return self.fail("expected a capture") };
        let words: Vec<String> = std::iter::from_fn(|| self.read_quoted()).collect();
        let test = match name.strip_prefix("not-").unwrap_or(name) {
            "eq?" | "any-of?" => TextTest::OneOf(words),
            "match?" => TextTest::Matches(words.concat(), OnceLock::new()),
            _ => return self.fail("no such predicate"),
        };
        if !self.take(")") {
            return self.fail("expected `)`");
        }
        conditions.push(Condition { capture, is_negated: name.starts_with("not-"), test });
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use tree_sitter::{Node, Parser, Query, QueryCursor, StreamingIterator};

    use crate::language::{self, Language};
    use crate::syntax::Compiled;

    /// The pattern, and the captures with their bytes and kinds.
    type Match = (usize, Vec<(String, (usize, usize), u16)>);

    fn bytes(node: Node<'_>) -> (usize, usize) {
        (node.start_byte(), node.end_byte())
    }

    fn sample(language: &Language) -> Option<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/languages");
        let files = std::fs::read_dir(folder.join(language.id)).ok()?;
        let texts = files.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
        Some(texts.collect())
    }

    /// Returns the matches as tree-sitter finds them.
    fn expected(language: &Language, compiled: &Compiled, text: &str) -> BTreeSet<Match> {
        let grammar = language.grammar.expect("the caller checked")();
        let mut parser = Parser::new();
        parser.set_language(&grammar).unwrap();
        let tree = parser.parse(text, None).unwrap();
        let mut source = language.queries.concat();
        if tree.root_node().is_error() {
            let root = grammar.node_kind_for_id(compiled.root_kind()).unwrap();
            source = source.replace(&format!("({root} "), "(ERROR ");
        }
        let query = Query::new(&grammar, &source).unwrap();
        let mut cursor = QueryCursor::new();
        cursor.set_max_start_depth(Some(compiled.syntax.deepest));
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        let mut found = BTreeSet::new();
        while let Some(one) = matches.next() {
            let captures = one.captures().iter().map(|capture| {
                let name = query.capture_names()[capture.index as usize].to_owned();
                (name, bytes(capture.node), capture.node.kind_id())
            });
            found.insert((one.pattern_index, captures.collect()));
        }
        found
    }

    fn ours(language: &Language, compiled: &Compiled, text: &str) -> BTreeSet<Match> {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar.expect("the caller checked")()).unwrap();
        let tree = parser.parse(text, None).unwrap();
        let root = tree.root_node();
        let error_kind = root.is_error().then(|| compiled.root_kind());
        let (zone, deepest) = (0..text.len(), compiled.syntax.deepest);
        let patterns = &compiled.patterns;
        let mut found = BTreeSet::new();
        patterns.for_each_match(text, root, error_kind, &zone, deepest, |pattern, captures| {
            let captures = captures.iter().map(|(name, node)| {
                (patterns.capture_names()[*name].clone(), bytes(*node), node.kind_id())
            });
            found.insert((pattern, captures.collect()));
        });
        found
    }

    #[test]
    #[ignore = "slow"]
    fn the_matches_are_those_of_tree_sitter() {
        let mut compared = 0;
        for language in language::with_grammar() {
            let Some(sample) = sample(language) else { continue };
            let compiled = language.compiled().expect("a test compiles each");
            // Cut texts have syntax errors, and some of them an error as their root.
            for part in 1..=8 {
                let text = &sample[..sample.floor_char_boundary(sample.len() * part / 8)];
                let expected = expected(language, compiled, text);
                compared += expected.len();
                let ours = ours(language, compiled, text);
                let missing: Vec<_> = expected.difference(&ours).collect();
                let more: Vec<_> = ours.difference(&expected).collect();
                assert!(
                    missing.is_empty() && more.is_empty(),
                    "{} {part}: missing {missing:#?}, more {more:#?}",
                    language.id
                );
            }
        }
        assert!(compared > 1_000, "{compared}");
    }
}
