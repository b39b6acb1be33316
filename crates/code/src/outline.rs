//! Turns a syntax tree into blocks: puts the definitions that the patterns found into their
//! containers, adds the regions between them, and computes names and fingerprints.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ropey::Rope;
use tree_sitter::Node;

use super::block::{Block, BlockKind, Identity, MAX_BLOCKS};
use super::embedded::{Embedded, embedded};
use super::entries;
use super::fingerprint::{self, Fingerprint, Piece, Sketches};
use super::lead;
use super::parameters::{normalised, parameter_types};
use super::patterns::Capture;
use super::syntax::{COMMENT, CaptureRole, Compiled, Syntax};
use super::syntax_tree;
use super::tokens::{self, Token, TokenClass, TreeEvent, WalkedTokens};
use super::words::{first_line, first_line_shortened, segments, trimmed_range, unquoted};
use super::{LineRange, position};

/// The blocks of a part of a file. The part begins and ends between top-level nodes.
#[derive(Debug, Default)]
pub(super) struct OutlinedPart {
    pub blocks: Vec<Block>,
    pub items: Vec<TopLevelNode>,
    /// True if some of the text is in another language, such as JavaScript in HTML.
    pub embeds: bool,
    pub embedded_errors: Vec<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TopLevelNode {
    pub bytes: Range<usize>,
    pub blocks: Range<usize>,
    /// True if one of its outermost blocks ends where the node ends. Then the region after the node
    /// does not depend on it.
    pub clean: bool,
}

struct Definition<'t> {
    node: Node<'t>,
    bytes: Range<usize>,
    kind: BlockKind,
    syntax: &'static Syntax,
    pattern: usize,
    /// All captures of the pattern with their roles, in order, also that of the definition itself.
    captures: Vec<(CaptureRole, Node<'t>)>,
    container: Option<usize>,
}

impl<'t> Definition<'t> {
    /// Returns the node that was captured in this role. If there are several, the first name or
    /// object counts, and otherwise the last node.
    fn capture(&self, role: CaptureRole) -> Option<Node<'t>> {
        let mut all = self.captures.iter().filter(|one| one.0 == role).map(|one| one.1);
        match role {
            CaptureRole::Name | CaptureRole::NameObject => all.next(),
            _ => all.next_back(),
        }
    }

    /// Returns true if the definition keeps its meaning under another name. A style rule with other
    /// selectors applies to other elements, an `update` of another table is another statement, and
    /// an entry with another key is another package. For these, the name is part of what they say.
    fn has_own_name(&self) -> bool {
        let has = |role| self.capture(role).is_some();
        !has(CaptureRole::NameBefore)
            && !has(CaptureRole::NameEntry)
            && (!has(CaptureRole::NameKind) || has(CaptureRole::Name))
    }

    fn holds(&self, bytes: &Range<usize>) -> bool {
        self.bytes.start <= bytes.start && bytes.end <= self.bytes.end
    }
}

pub(super) fn block_of_words(
    text: &str,
    kind: BlockKind,
    name: String,
    bytes: Range<usize>,
) -> Block {
    let words = tokens::words_of_prose(text, bytes.clone());
    let events: Vec<TreeEvent> = words.into_iter().map(TreeEvent::Token).collect();
    plain_block(text, kind, name, bytes, &events)
}

/// Makes a block that is not inside another and whose name is not written in the text.
fn plain_block(
    text: &str,
    kind: BlockKind,
    name: String,
    bytes: Range<usize>,
    events: &[TreeEvent],
) -> Block {
    Block {
        identity: Identity { kind, path: name.clone(), parameters: None, ordinal: 0 },
        name,
        container: None,
        lead: bytes.start..bytes.start,
        lines: LineRange::FIRST,
        whole_lines: LineRange::FIRST,
        name_bytes: first_line(text, &bytes),
        fingerprint: HashInput::without_inner_blocks(text, bytes.clone(), events).fingerprint(),
        bytes,
        broken: false,
    }
}

/// Returns the blocks of `zone`, a byte range that begins and ends between children of `root`.
/// Returns `None` if there are more than [`MAX_BLOCKS`].
pub(super) fn outline(
    text: &str,
    root: Node,
    zone: Range<usize>,
    compiled: &Compiled,
) -> Option<OutlinedPart> {
    let tops = top_nodes(root, &zone);
    let embedded = match compiled.syntax.embeds {
        true => embedded(text, &tops),
        false => Vec::new(),
    };
    let mut found = definitions(text, root, &zone, compiled);
    for one in &embedded {
        found.extend(definitions(text, one.root(), &one.bytes, one.compiled));
    }
    let definitions = into_nested(found);
    if definitions.len() > MAX_BLOCKS {
        return None;
    }
    let walked = walk(text, compiled, &tops, &zone, &definitions, &embedded);
    let assembly = Assembly { text, compiled, zone, definitions: &definitions, walked: &walked };
    Some(OutlinedPart {
        embeds: !embedded.is_empty(),
        embedded_errors: embedded.iter().flat_map(|one| syntax_tree::errors(one.root())).collect(),
        ..assembly.run(&tops)
    })
}

fn top_nodes<'t>(root: Node<'t>, zone: &Range<usize>) -> Vec<Node<'t>> {
    let mut cursor = root.walk();
    root.children(&mut cursor)
        .skip_while(|node| node.start_byte() < zone.start)
        .take_while(|node| node.start_byte() < zone.end)
        .collect()
}

fn walk(
    text: &str,
    compiled: &Compiled,
    tops: &[Node],
    zone: &Range<usize>,
    definitions: &[Definition],
    embedded: &[Embedded],
) -> WalkedTokens {
    if !compiled.syntax.words {
        let ids = definitions.iter().enumerate().map(|(at, found)| (found.node.id(), at));
        let lists = definitions
            .iter()
            .filter(|found| found.syntax.parameters_bind)
            .filter_map(|found| Some(found.capture(CaptureRole::Parameters)?.id()));
        return tokens::walk(text, compiled, tops, &ids.collect(), &lists.collect(), embedded);
    }
    let words = tokens::words_of_prose(text, zone.clone());
    let at = |byte: usize| words.partition_point(|word| word.bytes.start < byte);
    let spans: Vec<_> =
        definitions.iter().map(|found| at(found.bytes.start)..at(found.bytes.end)).collect();
    let leads = definitions.iter().zip(&spans).map(|(found, span)| (found.bytes.start, span.start));
    let leads = leads.collect();
    let events = words.into_iter().map(TreeEvent::Token).collect();
    WalkedTokens { events, spans, leads, ..WalkedTokens::default() }
}

fn definitions<'t>(
    text: &str,
    root: Node<'t>,
    zone: &Range<usize>,
    compiled: &Compiled,
) -> Vec<Definition<'t>> {
    let mut found = Vec::new();
    // A syntax error can make the root an error node, with the definitions that were understood
    // below it.
    let error_kind = root.is_error().then(|| compiled.root_kind());
    let deepest = compiled.syntax.deepest;
    let patterns = &compiled.patterns;
    patterns.for_each_match(text, root, error_kind, zone, deepest, |pattern, captures| {
        found.extend(definition(text, pattern, captures, compiled).filter(|definition| {
            definition.bytes.start >= zone.start && definition.bytes.end <= zone.end
        }));
    });
    found
}

fn definition<'t>(
    text: &str,
    pattern: usize,
    captures: &[Capture<'t>],
    compiled: &Compiled,
) -> Option<Definition<'t>> {
    let captures: Vec<_> =
        captures.iter().map(|(name, node)| (compiled.roles[*name], *node)).collect();
    let (node, kind) = captures.iter().rev().find_map(|(role, node)| match role {
        CaptureRole::Definition(kind) => Some((*node, *kind)),
        _ => None,
    })?;
    let bytes = definition_bytes(text, node, compiled);
    let (syntax, container) = (compiled.syntax, None);
    let found = Definition { node, bytes, kind, syntax, pattern, captures, container };
    (!found.bytes.is_empty()).then_some(found)
}

/// Returns the bytes of a definition's node. They end before the white space and the comments that
/// some grammars include at the end of a node.
fn definition_bytes(text: &str, node: Node, compiled: &Compiled) -> Range<usize> {
    let is_comment = |node: Node| compiled.facts(node.kind_id()) & COMMENT != 0;
    let end = match compiled.syntax.comments_trail {
        true => lead::end_before_comments(text, node, is_comment),
        false => node.end_byte(),
    };
    trimmed_range(text, node.start_byte()..end)
}

/// Sorts the definitions so that an outer one comes before those inside it, and sets their
/// containers.
fn into_nested(mut found: Vec<Definition>) -> Vec<Definition> {
    found.sort_by_key(|one: &Definition| (one.bytes.start, Reverse(one.bytes.end), one.pattern));
    found.dedup_by(|later, earlier| later.bytes == earlier.bytes);
    let mut kept: Vec<Definition> = Vec::with_capacity(found.len());
    let mut open: Vec<usize> = Vec::new();
    for mut one in found {
        while open.last().is_some_and(|&outer| kept[outer].bytes.end <= one.bytes.start) {
            open.pop();
        }
        one.container = open.last().copied();
        let outer = one.container.map(|outer| kept[outer].kind);
        if one.capture(CaptureRole::Outside).is_some() && outer.is_some_and(hides_declarations) {
            continue;
        }
        if one.kind == BlockKind::Function && outer.is_some_and(BlockKind::has_methods) {
            one.kind = BlockKind::Method;
        }
        open.push(kept.len());
        kept.push(one);
    }
    kept
}

fn hides_declarations(outer: BlockKind) -> bool {
    use BlockKind::{Function, Method, Statement, Type, Variable};
    matches!(outer, Function | Method | Statement | Type | Variable)
}

struct Assembly<'a, 't> {
    text: &'a str,
    compiled: &'a Compiled,
    zone: Range<usize>,
    definitions: &'a [Definition<'t>],
    walked: &'a WalkedTokens,
}

impl Assembly<'_, '_> {
    fn run(&self, tops: &[Node]) -> OutlinedPart {
        let mut blocks: Vec<Block> = Vec::with_capacity(self.definitions.len() * 5 / 4);
        let mut block_of = Vec::with_capacity(self.definitions.len());
        let mut inner: Vec<Vec<usize>> = vec![Vec::new(); self.definitions.len()];
        for (at, definition) in self.definitions.iter().enumerate() {
            definition.container.into_iter().for_each(|outer| inner[outer].push(at));
        }
        let mut after = (self.zone.start, 0);
        for (at, definition) in self.definitions.iter().enumerate() {
            let span = &self.walked.spans[at];
            let container = definition.container.map(|outer| block_of[outer]);
            let prefix = container.map(|outer: usize| blocks[outer].identity.path.clone());
            let block = self.block(at, prefix, container, &inner[at]);
            if container.is_none() {
                let gap = (after.0..block.lead.start, after.1..self.walked.leads[at].1);
                let path = format!("before {}", block.identity.path);
                blocks.extend(self.region(gap.0, gap.1, path));
                after = (block.bytes.end, span.end);
            }
            block_of.push(blocks.len());
            blocks.push(block);
        }
        let rest = after.1..self.walked.events.len();
        blocks.extend(self.region(after.0..self.zone.end, rest, "end".into()));
        hash_own_texts(self.text, &mut blocks);
        let items = items(self.text, tops, &blocks);
        OutlinedPart { blocks, items, ..OutlinedPart::default() }
    }

    fn block(
        &self,
        at: usize,
        prefix: Option<String>,
        container: Option<usize>,
        inner: &[usize],
    ) -> Block {
        let definition = &self.definitions[at];
        let named = self.named_definition(definition);
        let path = [prefix, named.scope, Some(named.name.clone())];
        let path = path.into_iter().flatten().collect::<Vec<_>>().join(".");
        let how = definition.syntax.parameters;
        let list = definition.capture(CaptureRole::Parameters);
        let parameters = list.and_then(|list| parameter_types(self.text, list, how));
        let span = self.walked.spans[at].clone();
        let inner = inner.iter().map(|&one| {
            let (from, to) = (self.walked.leads[one].1, self.walked.spans[one].end);
            from.saturating_sub(span.start)..to - span.start
        });
        let lead = self.lead(at);
        let subject = HashInput {
            name_bytes: definition.has_own_name().then(|| named.bytes.clone()),
            name_in_body: definition.kind != BlockKind::Method || definition.syntax.method_in_scope,
            inner: inner.collect(),
            ..HashInput::without_inner_blocks(
                self.text,
                definition.bytes.clone(),
                &self.walked.events[span.clone()],
            )
        };
        Block {
            identity: Identity { kind: definition.kind, path, parameters, ordinal: 0 },
            name: named.name,
            container,
            bytes: definition.bytes.clone(),
            lines: LineRange::FIRST,
            whole_lines: LineRange::FIRST,
            name_bytes: named.bytes,
            fingerprint: Fingerprint {
                lead: lead::hash(&self.text[lead.clone()]),
                ..subject.fingerprint()
            },
            lead,
            broken: false,
        }
    }

    /// Returns the bytes of a definition's lead.
    fn lead(&self, at: usize) -> Range<usize> {
        let node = self.definitions[at].bytes.start;
        let start = self.walked.leads[at].0.min(node);
        match self.text[start..node].trim().is_empty() {
            true => node..node,
            false => start..node,
        }
    }

    fn named_definition(&self, definition: &Definition) -> DefinitionName {
        let text = self.text;
        if let Some(body) = definition.capture(CaptureRole::NameBefore) {
            return named_by_head(text, definition, body);
        }
        if let Some(node) = definition.capture(CaptureRole::NameKind) {
            return named_by_kind(text, definition, node);
        }
        if let Some(node) = definition.capture(CaptureRole::NameEntry) {
            return named_by_member(text, definition, node);
        }
        // In broken code, the query can pair a definition with a name outside of it.
        let within = |name: &Node| definition.holds(&name.byte_range());
        let Some(node) = definition.capture(CaptureRole::Name).filter(within) else {
            let bytes = first_line(text, &definition.bytes);
            let name = if definition.kind == BlockKind::Section { "untitled" } else { "default" };
            return DefinitionName { name: name.into(), bytes, scope: None };
        };
        let mut bytes = trimmed_range(text, node.byte_range());
        let mut name = match definition.kind {
            BlockKind::Section | BlockKind::Test | BlockKind::Key | BlockKind::Module => {
                bytes = unquoted(text, bytes);
                text[bytes.clone()].split_whitespace().collect::<Vec<_>>().join(" ")
            }
            _ => normalised(text, bytes.clone(), &[]),
        };
        let normal = |node: Node| normalised(text, node.byte_range(), &[]);
        let mut scope = definition.capture(CaptureRole::Scope).map(normal);
        if node.kind() == "qualified_identifier" {
            let segments = segments(&name);
            let (last, outer) = segments.split_last().unwrap_or((&"", &[]));
            bytes = bytes.end - last.len().min(bytes.len())..bytes.end;
            scope = (!outer.is_empty()).then(|| outer.join("."));
            name = (*last).to_owned();
        }
        if let Some(node) = definition.capture(CaptureRole::NameTrait) {
            name = format!("{} for {name}", normal(node));
        }
        // In broken code, the parser can insert a name of length zero anywhere in the text.
        if !definition.holds(&bytes) || text.get(bytes.clone()).is_none() {
            bytes = first_line(text, &definition.bytes);
        }
        DefinitionName { name, bytes, scope }
    }

    /// Removes from `bytes` a comment on the line on which the preceding block ends, because it
    /// describes that block.
    fn without_comment_behind(
        &self,
        gap: &Range<usize>,
        bytes: Range<usize>,
        events: &[TreeEvent],
    ) -> Range<usize> {
        let rest = &self.text[gap.start..bytes.end.max(gap.start)];
        let line_end = gap.start + rest.find('\n').unwrap_or(rest.len());
        let is_token = |token: &Token| (bytes.start..line_end).contains(&token.bytes.start);
        let before = &self.text[..gap.start];
        let ends_here = !before[before.rfind('\n').map_or(0, |at| at + 1)..].trim().is_empty();
        let mut tokens = events.iter().filter_map(TreeEvent::token);
        if !ends_here || bytes.start >= line_end || tokens.any(is_token) {
            return bytes;
        }
        trimmed_range(self.text, line_end..bytes.end)
    }

    /// Returns the region between two top-level blocks. Returns `None` if it contains only
    /// comments, or tokens that the language lists as trivial.
    fn region(&self, gap: Range<usize>, events: Range<usize>, path: String) -> Option<Block> {
        if !self.compiled.syntax.regions {
            return None;
        }
        let text = self.text;
        let mut bytes = trimmed_range(text, gap.start..gap.end.max(gap.start));
        while text[bytes.clone()].starts_with([';', ',', ')', '}']) {
            bytes = trimmed_range(text, bytes.start + 1..bytes.end);
        }
        let mut events = &self.walked.events[events.start..events.end.max(events.start)];
        bytes = self.without_comment_behind(&gap, bytes, events);
        while let Some((_, rest)) = events.split_last().filter(|(last, _)| tokens::is_space(last)) {
            events = rest;
        }
        if bytes.is_empty() {
            return None;
        }
        // Events that end a node of the preceding block are not part of the region.
        let begins = |token: &Token| token.bytes.start >= bytes.start;
        let first = events.iter().position(|event| event.token().is_some_and(begins));
        let events = &events[first.unwrap_or(events.len())..];
        let trivial = self.compiled.syntax.trivial;
        let mut tokens = events.iter().filter_map(TreeEvent::token);
        let is_meaningful = tokens.any(|token| !trivial.contains(&token.text(text)));
        is_meaningful.then(|| plain_block(text, BlockKind::Region, path, bytes, events))
    }
}

struct DefinitionName {
    name: String,
    bytes: Range<usize>,
    /// The containers that the definition names itself: `Foo` in `Foo::bar`.
    scope: Option<String>,
}

/// Names a statement by what it does, in the grammar's words, and by its object: `create table
/// orders`, `run make`.
fn named_by_kind(text: &str, definition: &Definition, node: Node) -> DefinitionName {
    let kind = node.kind().trim_start_matches("keyword_");
    let kind = kind.trim_end_matches("_statement").trim_end_matches("_instruction");
    let name = definition.capture(CaptureRole::Name);
    let object = name.or(definition.capture(CaptureRole::NameObject));
    let object = object.map(|object| object.byte_range());
    let words = kind.replace('_', " ");
    let name = match &object {
        Some(bytes) if definition.has_own_name() => {
            format!("{words} {}", normalised(text, bytes.clone(), &[]))
        }
        Some(bytes) => format!("{words} {}", first_line_shortened(text, bytes)),
        None => words,
    };
    let within = |bytes: &Range<usize>| definition.holds(bytes);
    let bytes = object.filter(within).unwrap_or_else(|| first_line(text, &definition.bytes));
    DefinitionName { name, bytes, scope: None }
}

/// Names an entry of a data file by its key: `serde 1.0.2` in the list `package`. The name of the
/// list, if it has one, becomes the scope.
fn named_by_member(text: &str, definition: &Definition, node: Node) -> DefinitionName {
    let list = definition.capture(CaptureRole::Name);
    let list = list.map(|name| normalised(text, name.byte_range(), &[]));
    let key = entries::key(text, node, definition.syntax.entries, list.is_none());
    let own = first_line(text, &definition.bytes);
    let Some((name, bytes)) = key else {
        let name = list.unwrap_or_else(|| "entry".into());
        return DefinitionName { name, bytes: own, scope: None };
    };
    let bytes = if definition.holds(&bytes) { bytes } else { own };
    DefinitionName { name, bytes, scope: list }
}

/// Names a definition by all the text before its body, with normalised spaces: `body, .page >
/// main`.
fn named_by_head(text: &str, definition: &Definition, body: Node) -> DefinitionName {
    let end = body.start_byte().clamp(definition.bytes.start, definition.bytes.end);
    let bytes = trimmed_range(text, definition.bytes.start..end);
    let spaced = text[bytes.clone()].replace(',', ", ");
    let name = spaced.split_whitespace().collect::<Vec<_>>().join(" ").replace(" ,", ",");
    DefinitionName { name, bytes, scope: None }
}

fn items(text: &str, tops: &[Node], blocks: &[Block]) -> Vec<TopLevelNode> {
    let mut items = Vec::with_capacity(tops.len());
    let mut at = 0;
    let is_definition = |block: &Block| block.identity.kind != BlockKind::Region;
    for top in tops {
        let bytes = trimmed_range(text, top.byte_range());
        let inside = |block: &Block| block.bytes.end <= bytes.end;
        let is_before = |block: &Block| !is_definition(block) || block.bytes.start < bytes.start;
        at += blocks[at..].iter().take_while(|block| is_before(block)).count();
        let end = at + blocks[at..].iter().take_while(|block| inside(block)).count();
        let held = &blocks[at..end];
        let Some(last) = held.iter().rposition(is_definition) else { continue };
        let ends_here = |block: &Block| block.container.is_none() && block.bytes.end == bytes.end;
        let clean = held[..=last].iter().any(ends_here);
        let held = at..at + last + 1;
        at = held.end;
        items.push(TopLevelNode { bytes, blocks: held, clean });
    }
    items
}

/// Sets ordinals and line numbers, which depend on the whole file.
pub(super) fn finish(rope: &Rope, blocks: &mut [Block]) {
    number(blocks);
    for block in blocks {
        block.lines = position::lines_of(rope, block.bytes.clone());
        block.whole_lines = position::lines_of(rope, block.whole_bytes());
    }
}

fn number(blocks: &mut [Block]) {
    let mut seen: HashMap<(BlockKind, &str, Option<&str>), u32> =
        HashMap::with_capacity(blocks.len());
    for block in blocks {
        let Identity { kind, path, parameters, ordinal } = &mut block.identity;
        let next = seen.entry((*kind, path, parameters.as_deref())).or_default();
        *ordinal = *next;
        *next += 1;
    }
}

fn hash_own_texts(text: &str, blocks: &mut [Block]) {
    let mut inner: HashMap<usize, Vec<Range<usize>>> = HashMap::new();
    for block in blocks.iter() {
        if let Some(outer) = block.container {
            inner.entry(outer).or_default().push(block.whole_bytes());
        }
    }
    for (outer, inner) in inner {
        let bytes = blocks[outer].bytes.clone();
        let starts = std::iter::once(bytes.start).chain(inner.iter().map(|one| one.end));
        let ends = inner.iter().map(|one| one.start).chain([bytes.end]);
        let pieces = starts.zip(ends).map(|(start, end)| text.get(start..end).unwrap_or_default());
        let lines = pieces.flat_map(|piece| {
            let piece = piece.trim().trim_matches([',', ';']);
            piece.lines().map(str::trim).filter(|line| !line.is_empty())
        });
        let own: Vec<&str> = lines.collect();
        blocks[outer].fingerprint.own_text = Some(fingerprint::content_hash(&own.join("\n")));
    }
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

struct HashInput<'a> {
    text: &'a str,
    bytes: Range<usize>,
    events: &'a [TreeEvent],
    name_bytes: Option<Range<usize>>,
    /// Whether the bare name inside the body refers to the block itself. It does not for a method
    /// that must be called as `self.name`.
    name_in_body: bool,
    /// For each block directly inside, the range of its events, lead included. In order.
    inner: Vec<Range<usize>>,
}

impl<'a> HashInput<'a> {
    fn without_inner_blocks(text: &'a str, bytes: Range<usize>, events: &'a [TreeEvent]) -> Self {
        Self { text, bytes, events, name_bytes: None, name_in_body: false, inner: Vec::new() }
    }

    fn fingerprint(&self) -> Fingerprint {
        let codes: Arc<[u64]> = self.tokens().map(|token| token.code).collect();
        Fingerprint {
            content: fingerprint::content_hash(&self.text[self.bytes.clone()]),
            tokens: fingerprint::token_hash(self.events.iter().map(|one| self.plain_piece(one))),
            shape: fingerprint::shape_hash(self.shape().into_iter()),
            own: (!self.inner.is_empty())
                .then(|| fingerprint::token_hash(self.own_pieces().into_iter())),
            own_text: None,
            lead: None,
            token_count: codes.len() as u32,
            sketches: Sketches::from_codes(codes),
        }
    }

    fn tokens(&self) -> impl Iterator<Item = &'a Token> {
        self.events.iter().filter_map(TreeEvent::token)
    }

    fn plain_piece(&self, event: &'a TreeEvent) -> Piece<'a> {
        match event {
            TreeEvent::Token(token) => Piece::Token(token.text(self.text)),
            TreeEvent::Close(items) => Piece::Close(*items),
        }
    }

    /// Returns the events without those of the inner blocks. A `Close` event then counts only the
    /// items that are left, and is dropped if none is left.
    fn own_pieces(&self) -> Vec<Piece<'a>> {
        let is_own = self.own_events();
        // For each item that is not yet in a node, whether it is kept.
        let mut items: Vec<bool> = Vec::new();
        let mut pieces = Vec::new();
        for (event, is_own) in self.events.iter().zip(is_own) {
            let TreeEvent::Close(count) = event else {
                items.push(is_own);
                pieces.extend(is_own.then(|| self.plain_piece(event)));
                continue;
            };
            let first = items.len().saturating_sub(*count as usize);
            let left = items.drain(first..).filter(|counts| *counts).count() as u32;
            items.push(left > 0);
            pieces.extend((left > 0).then_some(Piece::Close(left)));
        }
        pieces
    }

    /// Returns, for each event, whether it belongs to the block itself. Events of inner blocks do
    /// not, nor do the commas and semicolons next to an inner block.
    fn own_events(&self) -> Vec<bool> {
        let mut own = vec![true; self.events.len()];
        let is_token = |event: &TreeEvent| event.token().is_some();
        let separates = |at: usize| {
            self.events[at].token().is_some_and(|token| matches!(token.text(self.text), "," | ";"))
        };
        for span in &self.inner {
            own[span.clone()].fill(false);
            let before = self.events[..span.start].iter().rposition(is_token);
            let after = self.events[span.end..].iter().position(is_token).map(|at| span.end + at);
            for at in before.into_iter().chain(after).filter(|at| separates(*at)) {
                own[at] = false;
            }
        }
        own
    }

    fn shape(&self) -> Vec<Piece<'a>> {
        let bound = self.tokens().filter(|token| token.class == TokenClass::Binding);
        let mut locals: HashSet<&str> = bound.map(|token| token.text(self.text)).collect();
        for token in self.tokens().filter(|token| token.class == TokenClass::Foreign) {
            locals.remove(leading_name(token.text(self.text)));
        }
        let own = self.name_bytes.clone().map(|bytes| &self.text[bytes]);
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut pieces = Vec::with_capacity(self.events.len());
        for event in self.events {
            let TreeEvent::Token(token) = event else {
                pieces.push(self.plain_piece(event));
                continue;
            };
            let text = token.text(self.text);
            let named = matches!(token.class, TokenClass::Identifier | TokenClass::Binding);
            let is_name = self.name_bytes.as_ref() == Some(&token.bytes);
            let means_itself = self.name_in_body
                && !matches!(token.class, TokenClass::Plain | TokenClass::Foreign)
                && own == Some(text);
            pieces.push(if is_name {
                Piece::OwnName
            } else if named && locals.contains(text) {
                let next = numbers.len() as u32;
                Piece::Local(*numbers.entry(text).or_insert(next))
            } else if means_itself {
                Piece::OwnName
            } else {
                Piece::Token(text)
            });
        }
        pieces
    }
}
