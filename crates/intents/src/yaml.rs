//! Parses YAML (and therefore JSON) into a tree in which every node has its byte range, with limits
//! for hostile input.
//!
//! This is the only file that uses the YAML library. The library counts positions in characters,
//! and some of its end positions include what follows (blanks after a quote, a comment after a
//! bracket). So this module converts positions to bytes and finds the ends in the text again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub use saphyr_parser::ScalarStyle as Style;
use saphyr_parser::{Event, Parser, Span, StrInput};
use serde_json::{Map, Value};

pub const MAX_DEPTH: usize = 32;
/// The maximum number of nodes that are stored for aliases, or created by them.
const MAX_ALIASED: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlLayout {
    Block,
    Flow,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Scalar { value: String, style: Style },
    Sequence { items: Vec<Node>, layout: YamlLayout },
    Mapping { entries: Vec<MappingEntry>, layout: YamlLayout },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingEntry {
    pub key: Node,
    pub value: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub kind: NodeKind,
    /// The byte range in the text, including quotes and brackets, without anchors, tags and
    /// comments. A value that is not written is an empty range after its key or dash. A value from
    /// an alias has the place of the alias.
    pub span: Range<usize>,
    /// The place of a tag (`!name`) before the value.
    pub tag: Option<Range<usize>>,
    /// True if the value was written elsewhere and is used here through an alias (`*name`).
    pub aliased: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Broken {
    pub message: String,
    pub span: Range<usize>,
    /// An earlier place that explains the error, such as the first of two equal keys.
    pub earlier: Option<Range<usize>>,
    /// True if a limit was exceeded, false for a syntax error.
    pub limit: bool,
}

impl Broken {
    fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self { message: message.into(), span, earlier: None, limit: false }
    }
    fn limit(message: impl Into<String>, span: Range<usize>) -> Self {
        Self { limit: true, ..Self::new(message, span) }
    }
}

impl Node {
    /// Returns the text of a scalar. Returns `None` for collections and null.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar { value, .. } if !self.is_null() => Some(value),
            _ => None,
        }
    }
    /// Returns how a scalar is written. Returns `None` for collections.
    pub fn style(&self) -> Option<Style> {
        match &self.kind {
            NodeKind::Scalar { style, .. } => Some(*style),
            _ => None,
        }
    }
    /// Returns true for null: a value that is not written, `~` or `null`.
    pub fn is_null(&self) -> bool {
        match &self.kind {
            NodeKind::Scalar { value, style: Style::Plain } => {
                matches!(value.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }
    pub fn entries(&self) -> &[MappingEntry] {
        match &self.kind {
            NodeKind::Mapping { entries, .. } => entries,
            _ => &[],
        }
    }
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::Sequence { items, .. } => items,
            _ => &[],
        }
    }
    /// Returns how a collection is written. Returns `None` for scalars.
    pub fn layout(&self) -> Option<YamlLayout> {
        match &self.kind {
            NodeKind::Scalar { .. } => None,
            NodeKind::Sequence { layout, .. } | NodeKind::Mapping { layout, .. } => Some(*layout),
        }
    }
    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.kind, NodeKind::Mapping { .. })
    }
    pub(crate) fn is_sequence(&self) -> bool {
        matches!(self.kind, NodeKind::Sequence { .. })
    }
    pub fn entry(&self, key: &str) -> Option<&MappingEntry> {
        self.entries().iter().find(|entry| entry.key.text() == Some(key))
    }
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }
    /// Converts the node to JSON. A plain scalar becomes a number only if JSON would write that
    /// number in the same way, so that nothing is lost: `1.10` stays a text.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar { value, style: Style::Plain } => plain_to_json(value, self.is_null()),
            NodeKind::Scalar { value, .. } => Value::String(value.clone()),
            NodeKind::Sequence { items, .. } => {
                Value::Array(items.iter().map(Node::to_json).collect())
            }
            NodeKind::Mapping { entries, .. } => Value::Object(
                entries.iter().map(|entry| (entry.key_text(), entry.value.to_json())).collect(),
            ),
        }
    }
    fn inner_nodes(&self) -> impl Iterator<Item = &Node> {
        let pairs = self.entries().iter().flat_map(|entry| [&entry.key, &entry.value]);
        self.items().iter().chain(pairs)
    }
    fn size(&self) -> usize {
        self.inner_nodes().map(Node::size).sum::<usize>() + 1
    }
    fn depth(&self) -> usize {
        match &self.kind {
            NodeKind::Scalar { .. } => 0,
            _ => self.inner_nodes().map(Node::depth).max().unwrap_or(0) + 1,
        }
    }
    fn moved_to(&mut self, span: &Range<usize>) {
        self.span = span.clone();
        self.tag = None;
        self.aliased = true;
        match &mut self.kind {
            NodeKind::Scalar { .. } => {}
            NodeKind::Sequence { items, .. } => {
                items.iter_mut().for_each(|item| item.moved_to(span))
            }
            NodeKind::Mapping { entries, .. } => entries.iter_mut().for_each(|entry| {
                entry.key.moved_to(span);
                entry.value.moved_to(span);
            }),
        }
    }
}

impl MappingEntry {
    /// Returns the key as text. A key that is a collection is returned as JSON.
    pub(crate) fn key_text(&self) -> String {
        match &self.key.kind {
            NodeKind::Scalar { value, .. } => value.clone(),
            _ => self.key.to_json().to_string(),
        }
    }
}

fn plain_to_json(value: &str, null: bool) -> Value {
    match value {
        _ if null => return Value::Null,
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let number = serde_json::from_str::<serde_json::Number>(value).ok();
    let number = number.filter(|number| number.to_string() == value);
    number.map_or_else(|| Value::String(value.to_owned()), Value::Number)
}

/// Parses a text into a tree. An empty text, or one with only comments, is a null node.
///
/// Fails on syntax errors, control characters, more than one document, equal keys in one mapping,
/// nesting deeper than [`MAX_DEPTH`], and aliases that multiply.
///
/// A closing bracket in the column of its key is accepted, although YAML requires more indentation,
/// because every other reader accepts it.
pub fn parse(text: &str) -> Result<Node, Broken> {
    refuse_control_characters(text)?;
    parse_strictly(text).or_else(|broken| match broken.message.as_str() {
        "invalid indentation" => parse_strictly(&with_closers_joined(text)).map_err(|_| broken),
        _ => Err(broken),
    })
}

/// Joins every line that begins with a closing bracket, outside block scalars, to the line before
/// it. The line ends and comments between them are replaced by blanks, so no position changes.
fn with_closers_joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut scalar_above: Option<usize> = None;
    let mut starts = Vec::new();
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - content.len();
        let blank = content.trim().is_empty();
        if scalar_above.is_some_and(|above| blank || indent > above) {
            starts.push(out.len());
            out.push_str(line);
            continue;
        }
        scalar_above =
            block_header(line.trim_end()).map(|_| indent).filter(|_| !content.starts_with('#'));
        if content.starts_with([']', '}']) {
            blank_back_to_content(&mut out, &mut starts);
        }
        starts.push(out.len());
        out.push_str(line);
    }
    out
}

/// Replaces line ends, blank lines and comments at the end of `out` by the same number of blanks.
/// `starts` are the starts of the lines; a joined line counts as one.
fn blank_back_to_content(out: &mut String, starts: &mut Vec<usize>) {
    let len = out.len();
    loop {
        out.truncate(out.trim_end().len());
        while starts.last().is_some_and(|start| *start >= out.len()) {
            starts.pop();
        }
        let line = starts.last().copied().unwrap_or(0);
        let Some(at) = comment_start(&out[line..]) else { break };
        out.truncate(line + at);
    }
    out.extend(std::iter::repeat_n(' ', len - out.len()));
}

/// Returns the position at which the comment of a line begins.
fn comment_start(line: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return Some(at),
            (None, '"' | '\'')
                if before.is_whitespace() || matches!(before, '[' | '{' | ',' | ':') =>
            {
                quote = Some(c)
            }
            (Some(open), c) if c == open && !(c == '"' && before == '\\') => quote = None,
            _ => {}
        }
        before = c;
    }
    None
}

fn parse_strictly(text: &str) -> Result<Node, Broken> {
    let (places, parser) = (ByteOffsets::new(text), Parser::new_from_str(text));
    Builder { text, places, parser, anchors: HashMap::new(), aliased: 0 }.document()
}

/// Parses JSON. It differs from YAML in surrogate pairs such as `\ud83d\ude00`. Each is replaced by
/// a line continuation and `\U0001f600`, which means the same and has as many bytes, so no position
/// changes.
pub(crate) fn parse_json(text: &str) -> Result<Node, Broken> {
    parse(&without_surrogates(text))
}

fn without_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(c) = surrogate_pair(rest) {
            out.push_str(&format!("\\\n\\U{:08x}", c as u32));
            rest = &rest[12..];
        } else {
            // Copy the escaped character too, because it may be a backslash itself.
            let escape = rest.chars().take(2).map(char::len_utf8).sum::<usize>();
            out.push_str(&rest[..escape]);
            rest = &rest[escape..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the character of a surrogate pair `\uXXXX\uXXXX`, which is twelve bytes long.
fn surrogate_pair(text: &str) -> Option<char> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let units = [unit(0)?, unit(6)?];
    let high = (0xd800..0xdc00).contains(&units[0]);
    char::decode_utf16(units).next().filter(|_| high)?.ok()
}

/// YAML allows no control characters except tab and line ends, but the library accepts them.
fn refuse_control_characters(text: &str) -> Result<(), Broken> {
    let bad = text.char_indices().find(|(_, c)| {
        let code = *c as u32;
        (code < 0x20 && !matches!(c, '\t' | '\n' | '\r'))
            || (0x7f..0xa0).contains(&code) && code != 0x85
            || matches!(code, 0xfffe | 0xffff)
    });
    let Some((at, c)) = bad else { return Ok(()) };
    let message = format!("U+{:04X} is a control character, which YAML does not allow", c as u32);
    Err(Broken::new(message, at..at + c.len_utf8()))
}

fn scan_error(text: &str, places: &ByteOffsets, error: &saphyr_parser::ScanError) -> Broken {
    let at = places.byte(error.marker().index());
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let message = match error.info() {
        "while parsing node, found unknown anchor" => {
            "`*` begins an alias, and no anchor has this name"
        }
        info => info,
    };
    Broken::new(message, at..end)
}

struct ByteOffsets {
    offsets: Option<Vec<u32>>,
    len: usize,
}

impl ByteOffsets {
    fn new(text: &str) -> Self {
        let offsets = (!text.is_ascii())
            .then(|| text.char_indices().map(|(at, _)| at as u32).collect::<Vec<u32>>());
        Self { offsets, len: text.len() }
    }
    fn byte(&self, character: usize) -> usize {
        match &self.offsets {
            None => character.min(self.len),
            Some(offsets) => offsets.get(character).map_or(self.len, |at| *at as usize),
        }
    }
    fn bytes(&self, span: &Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }
}

struct Builder<'t> {
    text: &'t str,
    places: ByteOffsets,
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Node>,
    aliased: usize,
}

impl<'t> Builder<'t> {
    fn document(&mut self) -> Result<Node, Broken> {
        let mut root = None;
        loop {
            let (event, span) = self.next_with_span()?;
            match event {
                Event::StreamEnd => return Ok(root.unwrap_or_else(|| null_node(self.text.len()))),
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                event if root.is_none() => root = Some(self.node(event, span, 0)?),
                _ => {
                    let message = "a second document begins here; only one is read";
                    return Err(Broken::new(message, self.places.bytes(&span)));
                }
            }
        }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Broken> {
        let bytes = self.places.bytes(&span);
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if depth == MAX_DEPTH => {
                Err(Broken::limit(format!("nested more than {MAX_DEPTH} deep"), bytes))
            }
            Event::Alias(id) => self.alias(id, bytes, depth),
            Event::Scalar(value, style, anchor, tag) => {
                let node = self.scalar(value.into_owned(), style, bytes, tag.is_some());
                self.keep(anchor, node)
            }
            Event::SequenceStart(anchor, _) => {
                let node = self.sequence(bytes.start, depth)?;
                self.keep(anchor, node)
            }
            Event::MappingStart(anchor, _) => {
                let node = self.mapping(bytes.start, depth)?;
                self.keep(anchor, node)
            }
            _ => Err(Broken::new("the text ends in the middle of a value", bytes)),
        }
    }

    fn next_with_span(&mut self) -> Result<(Event<'t>, Span), Broken> {
        let end = self.text.len();
        let message = "the text ends in the middle of a list or mapping";
        let next = self.parser.next_event().ok_or_else(|| Broken::new(message, end..end))?;
        next.map_err(|error| scan_error(self.text, &self.places, &error))
    }

    fn keep(&mut self, anchor: usize, node: Node) -> Result<Node, Broken> {
        if anchor != 0 {
            self.count(node.size(), &node.span)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn alias(&mut self, id: usize, span: Range<usize>, depth: usize) -> Result<Node, Broken> {
        let Some(mut node) = self.anchors.get(&id).cloned() else {
            return Err(Broken::new("this alias is inside the value that it refers to", span));
        };
        if depth + node.depth() > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} deep by this alias");
            return Err(Broken::limit(message, span));
        }
        self.count(node.size(), &span)?;
        node.moved_to(&span);
        Ok(node)
    }

    fn count(&mut self, nodes: usize, span: &Range<usize>) -> Result<(), Broken> {
        self.aliased += nodes;
        if self.aliased <= MAX_ALIASED {
            return Ok(());
        }
        let message = format!("aliases stand for more than {MAX_ALIASED} values");
        Err(Broken::limit(message, span.clone()))
    }

    fn scalar(&self, value: String, style: Style, bytes: Range<usize>, tagged: bool) -> Node {
        let start = skip_properties(self.text, bytes.start);
        let tag = tagged.then(|| bytes.start..bytes.end.max(start)).map(|range| {
            let end = self.text[range.clone()].find(char::is_whitespace);
            range.start..end.map_or(range.end, |length| range.start + length)
        });
        let span = match style {
            Style::Plain if value.is_empty() => bytes.start..bytes.start,
            Style::Plain => trimmed(self.text, start..bytes.end),
            Style::SingleQuoted | Style::DoubleQuoted => start..quoted_end(self.text, start, style),
            Style::Literal | Style::Folded => block_scalar(self.text, bytes),
        };
        Node { kind: NodeKind::Scalar { value, style }, span, tag, aliased: false }
    }

    fn sequence(&mut self, start: usize, depth: usize) -> Result<Node, Broken> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next_with_span()?;
            if matches!(event, Event::SequenceEnd) {
                let first =
                    items.first().map(|node: &Node| dash_before(self.text, node.span.start));
                let last = items.last().map(|node: &Node| node.span.end);
                let (layout, span) = self.collection(start, first, last, &span);
                let kind = NodeKind::Sequence { items, layout };
                return Ok(Node { kind, span, tag: None, aliased: false });
            }
            let item = self.node(event, span, depth + 1)?;
            items.push(behind_dash(self.text, item));
        }
    }

    fn mapping(&mut self, start: usize, depth: usize) -> Result<Node, Broken> {
        let mut entries: Vec<MappingEntry> = Vec::new();
        let mut seen: HashMap<String, Range<usize>> = HashMap::new();
        loop {
            let (event, span) = self.next_with_span()?;
            if matches!(event, Event::MappingEnd) {
                let first = entries.first().map(|entry| entry.key.span.start);
                let last = entries.last().map(|entry| entry.value.span.end.max(entry.key.span.end));
                let (layout, span) = self.collection(start, first, last, &span);
                let kind = NodeKind::Mapping { entries, layout };
                return Ok(Node { kind, span, tag: None, aliased: false });
            }
            let key = self.node(event, span, depth + 1)?;
            let (event, span) = self.next_with_span()?;
            let value = self.node(event, span, depth + 1)?;
            let value = behind_colon(self.text, &key, value);
            let entry = MappingEntry { key, value };
            let name = entry.key_text();
            if let Some(earlier) = seen.remove(&name) {
                let message = format!("the key {name:?} stands twice in one mapping");
                let broken = Broken::new(message, entry.key.span);
                return Err(Broken { earlier: Some(earlier), ..broken });
            }
            seen.insert(name, entry.key.span.clone());
            entries.push(entry);
        }
    }

    /// Returns the layout and the byte range of a collection. The end event is empty in the text
    /// unless the collection has a closing bracket.
    fn collection(
        &self,
        start: usize,
        first: Option<usize>,
        last: Option<usize>,
        end: &Span,
    ) -> (YamlLayout, Range<usize>) {
        let end = self.places.bytes(end);
        if end.is_empty() {
            let start = first.unwrap_or(start);
            return (YamlLayout::Block, start..last.unwrap_or(start).max(start));
        }
        let open = skip_properties(self.text, start);
        (YamlLayout::Flow, open..end.start + 1)
    }
}

/// Returns the position of the dash before a list item, or of the item itself in a list in
/// brackets.
pub(crate) fn dash_before(text: &str, start: usize) -> usize {
    let before = text[..start].trim_end_matches([' ', '\t', '\r', '\n']);
    if before.len() < start && before.ends_with('-') { before.len() - 1 } else { start }
}

pub(super) fn null_node(at: usize) -> Node {
    let kind = NodeKind::Scalar { value: String::new(), style: Style::Plain };
    Node { kind, span: at..at, tag: None, aliased: false }
}

/// Moves an item without a value (`-` and nothing after it) to directly after its dash. The library
/// gives it a place on the next line.
fn behind_dash(text: &str, mut item: Node) -> Node {
    let dash = dash_before(text, item.span.start);
    if item.span.is_empty() && item.tag.is_none() && !item.aliased && dash < item.span.start {
        item.span = dash + 1..dash + 1;
    }
    item
}

/// Moves the missing value of a key (`name:` and nothing after it) to directly after the colon.
fn behind_colon(text: &str, key: &Node, mut value: Node) -> Node {
    if !value.span.is_empty() || value.tag.is_some() || value.aliased {
        return value;
    }
    let rest = &text[key.span.end..];
    let colon = rest.len() - rest.trim_start().len();
    if rest[colon..].starts_with(':') {
        let at = key.span.end + colon + 1;
        value.span = at..at;
    }
    value
}

/// Returns the position after the anchors (`&a`) and tags (`!t`) before a value, and after the
/// comments behind them.
fn skip_properties(text: &str, start: usize) -> usize {
    let mut rest = &text[start..];
    while rest.starts_with(['&', '!']) {
        let Some(word) = rest.find(char::is_whitespace) else { return text.len() };
        rest = rest[word..].trim_start();
        while rest.starts_with('#') {
            rest = rest.find(['\n', '\r']).map_or("", |end| rest[end..].trim_start());
        }
    }
    text.len() - rest.len()
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let range = range.start.min(range.end)..range.end;
    range.start..range.start + text[range.clone()].trim_end().len()
}

/// Returns the position after the closing quote. In double quotes, `\` escapes a character; in
/// single quotes, `''` stands for a quote.
fn quoted_end(text: &str, start: usize, style: Style) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match (style, bytes[at], bytes.get(at + 1)) {
            (Style::DoubleQuoted, b'\\', _) => at += 2,
            (Style::SingleQuoted, b'\'', Some(b'\'')) => at += 2,
            (Style::DoubleQuoted, b'"', _) | (Style::SingleQuoted, b'\'', _) => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the range from the `|` or `>` to the last character that is not white space.
fn block_scalar(text: &str, bytes: Range<usize>) -> Range<usize> {
    let content = trimmed(text, bytes);
    let mut line_end = content.start;
    loop {
        let line_start = text[..line_end].rfind('\n').map_or(0, |at| at + 1);
        if let Some(at) = block_header(&text[line_start..line_end]) {
            return line_start + at..content.end.max(line_start + at + 1);
        }
        if line_start == 0
            || (line_end != content.start && !text[line_start..line_end].trim().is_empty())
        {
            return content;
        }
        line_end = line_start - 1;
    }
}

/// Returns the position of a block scalar's indicator in the line that contains it.
fn block_header(line: &str) -> Option<usize> {
    line.char_indices().filter(|(_, c)| matches!(c, '|' | '>')).map(|(at, _)| at).find(|at| {
        let rest = line[at + 1..]
            .trim_start_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
        let behind_blank = line[..*at].chars().next_back().is_none_or(char::is_whitespace);
        let ends = rest.trim().is_empty()
            || (rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('#'));
        behind_blank && ends
    })
}

/// Returns the keys and values of a mapping as JSON, without those in `taken`.
pub fn rest_of(node: &Node, taken: &HashSet<&str>) -> Map<String, Value> {
    node.entries()
        .iter()
        .map(|entry| (entry.key_text(), entry))
        .filter(|(key, _)| !taken.contains(key.as_str()))
        .map(|(key, entry)| (key, entry.value.to_json()))
        .collect()
}
