//! Walks over the leaves of a syntax tree once, and returns the normalised tokens and the ends of
//! the syntax nodes. All fingerprints are computed from this.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tree_sitter::{Node, TreeCursor};

use super::embedded::Embedded;
use super::lead::{self, LeadRun};
use super::minhash;
use super::syntax::{
    ARROW_PARAMETERS, ASSIGNMENT, CASELESS, COMMENT, Compiled, FLOWING, FOLDED, Facts, IDENTIFIER,
    LEAD, LIST, PARENTHESES, PATTERN, Pair, QUOTES, SPACED, TRANSPARENT, TUPLE, TYPE, VERBATIM,
    WRAPPER,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenClass {
    Plain,
    Identifier,
    /// A name of a value that is local from here on.
    Binding,
    Callee,
    Type,
    /// A mention of a name that is not changed when a local variable is renamed.
    Foreign,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub bytes: Range<usize>,
    pub class: TokenClass,
    /// The normalised text, if it differs from the text of `bytes`.
    pub normalised: Option<Box<str>>,
    pub code: u64,
}

impl Token {
    pub(super) fn new(text: &str, bytes: Range<usize>, class: TokenClass) -> Self {
        let raw = &text[bytes.clone()];
        let normalised = raw.contains("\r\n").then(|| raw.replace("\r\n", "\n").into());
        Self::from_bytes(text, bytes, class, normalised)
    }

    fn normalised(text: &str, bytes: Range<usize>, normalised: String) -> Self {
        Self::from_bytes(text, bytes, TokenClass::Plain, Some(normalised.into()))
    }

    fn from_bytes(
        text: &str,
        bytes: Range<usize>,
        class: TokenClass,
        normalised: Option<Box<str>>,
    ) -> Self {
        let code = minhash::token_code(normalised.as_deref().unwrap_or(&text[bytes.clone()]));
        Self { bytes, class, normalised, code }
    }

    pub(super) fn text<'a>(&'a self, source: &'a str) -> &'a str {
        self.normalised.as_deref().unwrap_or(&source[self.bytes.clone()])
    }
}

/// One step of the walk, in postfix order.
#[derive(Clone, Debug)]
pub(super) enum TreeEvent {
    Token(Token),
    /// The end of a node with this number of items, which is at least 1.
    Close(u32),
}

impl TreeEvent {
    pub(super) fn token(&self) -> Option<&Token> {
        match self {
            Self::Token(token) => Some(token),
            Self::Close(_) => None,
        }
    }
}

#[derive(Default)]
pub(super) struct WalkedTokens {
    pub events: Vec<TreeEvent>,
    pub comments: Vec<Range<usize>>,
    pub spans: Vec<Range<usize>>,
    /// For each definition, where its lead starts: the byte and the event. Without a lead, where
    /// the node starts.
    pub leads: Vec<(usize, usize)>,
}

#[derive(Default)]
struct Frame {
    kind: u16,
    facts: Facts,
    items: u32,
    children: usize,
    /// The kind of the last child that was not a comment, or 0 before the first one.
    last: u16,
    named: u32,
    /// Whether the last child that was not a comment was a named node.
    after_named: bool,
    /// The event of a comma that may turn out to be the last in its list.
    comma: Option<usize>,
    unwrap: bool,
    unquote: bool,
    preformatted: bool,
    binding: bool,
    keyed: bool,
    foreign: bool,
    /// Whether this is an `=` whose left side is a pattern.
    assigns: bool,
    /// Whether a name that follows is visible to callers.
    marked: bool,
    definition: Option<usize>,
    lead_after: Option<LeadRun>,
    end: usize,
}

struct TokenWalk<'a> {
    text: &'a str,
    compiled: &'a Compiled,
    definitions: &'a HashMap<usize, usize>,
    parameters: &'a HashSet<usize>,
    embedded: HashMap<usize, &'a Embedded>,
    out: WalkedTokens,
    frames: Vec<Frame>,
    lead: Option<LeadRun>,
    at: usize,
}

/// Walks over some children of the root, given in order. `definitions` maps node ids to indices.
/// `parameters` holds the ids of the lists whose names are local. If a node holds embedded text in
/// another language, the tree of that text is walked instead.
pub(super) fn walk<'t>(
    text: &str,
    compiled: &Compiled,
    tops: &[Node<'t>],
    definitions: &HashMap<usize, usize>,
    parameters: &HashSet<usize>,
    embedded: &[Embedded],
) -> WalkedTokens {
    let count = definitions.len();
    let out = WalkedTokens {
        spans: vec![0..0; count],
        leads: vec![(0, 0); count],
        ..WalkedTokens::default()
    };
    let embedded = embedded.iter().map(|one| (one.holder, one)).collect();
    let (frames, lead, at) = Default::default();
    let mut walk =
        TokenWalk { text, compiled, definitions, parameters, embedded, out, frames, lead, at };
    let root = tops.first().and_then(Node::parent);
    let is_spaced = root.is_some_and(|root| compiled.facts(root.kind_id()) & SPACED != 0);
    for (at, top) in tops.iter().enumerate() {
        let before = std::mem::replace(&mut walk.at, top.start_byte());
        if at > 0 && is_spaced && before < top.start_byte() {
            walk.push_space(before);
        }
        walk.tree(top.walk());
    }
    walk.out
}

impl<'a> TokenWalk<'a> {
    /// A loop and not a recursion, because source code may be nested deeper than the stack allows.
    fn tree(&mut self, mut cursor: TreeCursor) {
        loop {
            if self.enter(&cursor) && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.leave();
            }
        }
    }

    /// Visits a node. Returns true if its children have to be visited too; a frame is then open.
    fn enter(&mut self, cursor: &TreeCursor) -> bool {
        let node = cursor.node();
        let kind = node.kind_id();
        let facts = self.compiled.facts(kind);
        self.gap(node.start_byte());
        if facts & COMMENT != 0 {
            let event = self.out.events.len();
            let starts = self.compiled.syntax.container_comment_starts;
            let comment = node.byte_range();
            self.out.comments.push(comment.clone());
            self.lead = lead::after_comment(self.text, self.lead, comment, event, starts);
            self.at = node.end_byte();
            return false;
        }
        let field = cursor.field_id().map_or(0, |id| id.get());
        let definition = self.definitions.get(&node.id()).copied();
        if let Some(index) = definition {
            self.out.spans[index].start = self.out.events.len();
        }
        if let Some(inner) = self.embedded.get(&node.id()).copied() {
            self.walk_embedded(inner);
            return false;
        }
        let (lead_inside, lead_after) = self.note_leads(node.byte_range(), facts, definition);
        if node.child_count() > 0 {
            let frame = Frame { lead_after, ..self.frame(node, kind, facts, field, definition) };
            self.frames.push(frame);
            self.lead = lead_inside;
            return true;
        }
        self.lead = lead_after;
        self.leaf(node, kind, facts, field);
        self.set_last_kind(kind);
        if let Some(index) = definition {
            self.out.spans[index].end = self.out.events.len();
        }
        false
    }

    /// Stores the lead if this node is a definition. Returns what may be a lead for the first child
    /// of the node, and what may be one for its next sibling.
    fn note_leads(
        &mut self,
        bytes: Range<usize>,
        facts: Facts,
        definition: Option<usize>,
    ) -> (Option<LeadRun>, Option<LeadRun>) {
        let text = self.text;
        let attached = self.lead.and_then(|run| run.if_attached_to(text, bytes.start));
        let lead =
            attached.map_or((bytes.start, self.out.events.len()), |run| (run.start, run.event));
        let firm = || LeadRun::firm(lead.0, lead.1);
        if let Some(index) = definition {
            self.out.leads[index] = lead;
            return (None, None);
        }
        let words = self.compiled.syntax.lead_words;
        let begins = |word: &&str| text[bytes.clone()].starts_with(word);
        if facts & LEAD != 0 && (words.is_empty() || words.iter().any(begins)) {
            return (None, Some(firm().extended_to(bytes.end)));
        }
        if facts & WRAPPER != 0 {
            return (Some(firm().extended_to(bytes.start)), None);
        }
        // A token of white space does not interrupt a run.
        if text[bytes.clone()].trim_ascii().is_empty() {
            return (None, self.lead);
        }
        let in_wrapper = self.frames.last().is_some_and(|up| up.facts & WRAPPER != 0);
        let after = attached.filter(|_| in_wrapper).map(|run| run.extended_to(bytes.end));
        (attached, after)
    }

    fn walk_embedded(&mut self, embedded: &'a Embedded) {
        let outer = std::mem::replace(&mut self.compiled, embedded.compiled);
        self.at = embedded.bytes.start;
        self.lead = None;
        self.tree(embedded.root().walk());
        self.lead = None;
        self.gap(embedded.bytes.end);
        self.compiled = outer;
    }

    fn frame(
        &self,
        node: Node,
        kind: u16,
        facts: Facts,
        field: u16,
        definition: Option<usize>,
    ) -> Frame {
        let parent = self.frames.last();
        let in_place = |pair| parent.is_some_and(|up| self.compiled.has_pair(pair, up.kind, field));
        let after = |pair| parent.is_some_and(|up| self.compiled.has_pair(pair, up.kind, up.last));
        let binding = in_place(Pair::Binding)
            || after(Pair::Declared)
            || self.parameters.contains(&node.id())
            || parent.is_some_and(|up| up.assigns && up.named == 0)
            || parent.is_some_and(|up| up.binding && up.facts & PATTERN != 0);
        let unwrap = in_place(Pair::Parentheses) && self.may_unwrap(node, facts);
        Frame {
            kind,
            facts,
            children: node.child_count() as usize,
            unwrap,
            unquote: facts & QUOTES != 0 && may_swap_quotes(&self.text[node.byte_range()]),
            preformatted: parent.is_some_and(|up| up.preformatted)
                || (facts & SPACED != 0 && is_preformatted(self.text, node)),
            binding,
            keyed: parent.is_some_and(|up| self.compiled.has_pair(Pair::Keyed, up.kind, kind)),
            foreign: in_place(Pair::Foreign),
            assigns: facts & ASSIGNMENT != 0 && is_assignment(self.text, node),
            definition,
            end: node.end_byte(),
            ..Frame::default()
        }
    }

    /// Returns true if the parentheses may be left out. After `=>`, `({})` is an object only with
    /// its parentheses.
    fn may_unwrap(&self, node: Node, facts: Facts) -> bool {
        let inner = self.text[node.byte_range()].get(1..).unwrap_or_default();
        (facts & PARENTHESES != 0 && !inner.trim_start().starts_with('{'))
            || (facts & ARROW_PARAMETERS != 0 && is_lone_parameter(node))
    }

    fn leave(&mut self) {
        let Some(end) = self.frames.last().map(|frame| frame.end) else { return };
        self.gap(end);
        let Some(frame) = self.frames.pop() else { return };
        let trailing = self.lead.filter(|_| self.compiled.syntax.comments_trail);
        self.lead = frame.lead_after.or(trailing);
        let transparent = frame.unwrap || frame.facts & TRANSPARENT != 0;
        if frame.items > 1 || (frame.items == 1 && !transparent) {
            self.out.events.push(TreeEvent::Close(frame.items));
        }
        if let Some(index) = frame.definition {
            self.out.spans[index].end = self.out.events.len();
        }
        if let Some(parent) = self.frames.last_mut() {
            parent.items += frame.items.min(1);
            parent.named += 1;
            parent.after_named = true;
            parent.comma = None;
        }
        self.at = self.at.max(frame.end);
        self.set_last_kind(frame.kind);
    }

    fn set_last_kind(&mut self, kind: u16) {
        if let Some(frame) = self.frames.last_mut() {
            frame.last = kind;
        }
    }

    fn leaf(&mut self, node: Node, kind: u16, facts: Facts, field: u16) {
        let mut bytes = node.byte_range();
        self.at = self.at.max(bytes.end);
        let flows = facts & FLOWING != 0 && !self.frames.last().is_some_and(|up| up.preformatted);
        if flows {
            let whole = &self.text[bytes.clone()];
            let start = bytes.start + (whole.len() - whole.trim_ascii_start().len());
            self.space(bytes.start..start);
            self.at = start.max(bytes.start + whole.trim_ascii_end().len());
            bytes = start..self.at;
        }
        let text = &self.text[bytes.clone()];
        let verbatim = flows || self.is_verbatim();
        let folded = facts & FOLDED != 0;
        let is_blank = !verbatim && !folded && text.trim_ascii().is_empty();
        if text.is_empty() || is_blank || folded && fold(text).is_empty() {
            return;
        }
        if matches!(text, ")" | "]" | "}" | ">") && !node.is_named() {
            self.drop_last_comma();
        }
        if self.is_dropped(kind, text) {
            return;
        }
        let token = if flows {
            flowing(self.text, bytes)
        } else if self.is_break(kind, bytes.start) {
            Token::normalised(self.text, bytes, format!("\n{text}"))
        } else {
            self.token(facts, field, bytes)
        };
        let is_comma = self.is_optional_comma(text);
        self.push(token);
        if let Some(frame) = self.frames.last_mut() {
            frame.comma = is_comma.then(|| self.out.events.len() - 1);
            frame.named += u32::from(node.is_named());
            frame.marked |= self.compiled.syntax.marks.contains(&text);
            frame.after_named = node.is_named();
        }
    }

    fn is_dropped(&self, kind: u16, text: &str) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        self.compiled.has_pair(Pair::Dropped, frame.kind, kind) && !self.ends_joining_word(frame)
            || (frame.items == 0 && self.compiled.has_pair(Pair::Leading, frame.kind, kind))
            || (frame.unwrap && matches!(text, "(" | ")"))
    }

    /// Returns true after a member or statement of one word that would join what follows.
    fn ends_joining_word(&self, frame: &Frame) -> bool {
        let word = match &self.out.events[..] {
            [.., TreeEvent::Token(word), TreeEvent::Close(1)] => word,
            [.., TreeEvent::Token(word)] if frame.items == 1 => word,
            _ => return false,
        };
        self.compiled.syntax.joining.contains(&word.text(self.text))
    }

    fn is_break(&self, kind: u16, start: usize) -> bool {
        let parent = self.frames.last();
        if !parent.is_some_and(|frame| self.compiled.has_pair(Pair::Break, frame.kind, kind)) {
            return false;
        }
        let before = self.out.events.iter().rev().find_map(TreeEvent::token);
        before.is_some_and(|token| self.text[token.bytes.end..start].contains('\n'))
    }

    fn is_optional_comma(&self, text: &str) -> bool {
        let Some(frame) = self.frames.last().filter(|_| text == ",") else { return false };
        frame.after_named
            && (frame.facts & LIST != 0 || (frame.facts & TUPLE != 0 && frame.named > 1))
    }

    /// Removes the last comma at a closing bracket, if only comments are between the two.
    fn drop_last_comma(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.comma.take().is_some_and(|comma| comma + 1 == self.out.events.len()) {
            self.out.events.pop();
            frame.items -= 1;
        }
    }

    fn token(&self, facts: Facts, field: u16, bytes: Range<usize>) -> Token {
        let raw = &self.text[bytes.clone()];
        let unquote = self.frames.last().is_some_and(|frame| frame.unquote);
        let normalised = if unquote && raw.ends_with('\'') {
            format!("{}\"", &raw[..raw.len() - 1])
        } else if facts & CASELESS != 0 {
            raw.to_lowercase()
        } else if facts & FOLDED != 0 {
            fold(raw)
        } else {
            return Token::new(self.text, bytes.clone(), self.class(facts, field, raw));
        };
        Token::normalised(self.text, bytes, normalised)
    }

    fn class(&self, facts: Facts, field: u16, raw: &str) -> TokenClass {
        if facts & TYPE != 0 {
            return TokenClass::Type;
        }
        let Some(parent) = self.frames.last() else { return TokenClass::Plain };
        let is_in_foreign_place = || self.compiled.has_pair(Pair::Foreign, parent.kind, field);
        // A key is in such a place only if no value follows it.
        if parent.foreign || parent.children == 2 && is_in_foreign_place() {
            return TokenClass::Foreign;
        }
        if facts & IDENTIFIER == 0 {
            return TokenClass::Plain;
        }
        let in_place = |pair| self.compiled.has_pair(pair, parent.kind, field);
        let after = |pair| self.compiled.has_pair(pair, parent.kind, parent.last);
        let is_key = parent.keyed && parent.last == 0 && parent.children > 2;
        let inherits = (parent.binding && parent.facts & PATTERN != 0)
            || (parent.assigns && parent.named == 0);
        match () {
            () if parent.marked => TokenClass::Plain,
            () if in_place(Pair::Callee) => TokenClass::Callee,
            () if in_place(Pair::Label) || after(Pair::Member) || is_key => TokenClass::Plain,
            // In a pattern, an upper-case or quoted name is a constant and not a new local name.
            () if (in_place(Pair::Binding) || inherits || after(Pair::Declared))
                && !raw.starts_with(|c: char| c.is_uppercase() || c == '`') =>
            {
                TokenClass::Binding
            }
            () => TokenClass::Identifier,
        }
    }

    /// Processes text between two leaves. It is kept as a token unless it is white space, so that
    /// no code is missing from the hashes. Inside strings, white space is kept too.
    fn gap(&mut self, until: usize) {
        if until <= self.at {
            return;
        }
        let at = std::mem::replace(&mut self.at, until);
        let gap = &self.text[at..until];
        let verbatim = self.is_verbatim();
        if !verbatim && gap.trim_ascii().is_empty() {
            return self.space(at..until);
        }
        let spaced = self.frames.last().is_some_and(|up| up.facts & SPACED != 0);
        let kept = match (verbatim, spaced) {
            (true, _) => gap,
            (_, true) => gap.trim_ascii(),
            _ => gap.trim(),
        };
        if kept.is_empty() || kept == "\\" {
            return;
        }
        let start = at + gap.find(kept).unwrap_or_default();
        let token = Token::new(self.text, start..start + kept.len(), TokenClass::Plain);
        self.push(token);
    }

    fn is_verbatim(&self) -> bool {
        self.frames.last().is_some_and(|up| up.facts & VERBATIM != 0 || up.preformatted)
    }

    /// Writes one mark for white space of any length, in a node where it matters whether there is
    /// any.
    fn space(&mut self, white: Range<usize>) {
        let Some(frame) = self.frames.last().filter(|frame| frame.facts & SPACED != 0) else {
            return;
        };
        let (eats_before, eats_after) = self.compiled.syntax.tight;
        let next = self.text[white.end..].chars().next();
        let before = self.text[..white.start].chars().next_back();
        let is_tight = next.is_none_or(|c| eats_before.contains(c))
            || before.is_none_or(|c| eats_after.contains(c));
        if white.is_empty() || frame.items == 0 || is_tight {
            return;
        }
        self.push_space(white.start);
    }

    fn push_space(&mut self, at: usize) {
        if !self.out.events.last().is_some_and(is_space) {
            self.push(Token::normalised(self.text, at..at, " ".to_owned()));
        }
    }

    fn push(&mut self, token: Token) {
        self.out.events.push(TreeEvent::Token(token));
        if let Some(frame) = self.frames.last_mut() {
            frame.items += 1;
        }
    }
}

pub(super) fn is_space(event: &TreeEvent) -> bool {
    event.token().is_some_and(|token| token.bytes.is_empty())
}

fn flowing(text: &str, bytes: Range<usize>) -> Token {
    let words: Vec<&str> = text[bytes.clone()].split_ascii_whitespace().collect();
    Token::normalised(text, bytes, words.join(" "))
}

fn is_assignment(text: &str, node: Node) -> bool {
    node.child_by_field_name("operator").is_some_and(|sign| &text[sign.byte_range()] == "=")
}

/// Returns true if a page shows the white space in this element as it is written.
fn is_preformatted(text: &str, element: Node) -> bool {
    const NAMES: [&str; 4] = ["pre", "textarea", "listing", "xmp"];
    let name = element.child(0).and_then(|tag| tag.named_child(0));
    let name = name.map_or("", |name| &text[name.byte_range()]);
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns true if `'text'` contains nothing that would read differently in the other kind of
/// quotation marks.
fn may_swap_quotes(string: &str) -> bool {
    let Some((prefix, rest)) = string.split_once('\'') else { return false };
    let inner = rest.strip_suffix('\'').unwrap_or("'");
    prefix.chars().all(char::is_alphabetic) && !inner.contains(['\'', '"', '\\'])
}

/// Returns true for `(a)` before `=>`, where the parentheses are optional.
fn is_lone_parameter(parameters: Node) -> bool {
    let lone = |node: Node| match node.kind() {
        "identifier" => true,
        "required_parameter" => {
            node.child_count() == 1 && node.child(0).is_some_and(|name| name.kind() == "identifier")
        }
        _ => false,
    };
    parameters.child_count() == 3 && parameters.child(1).is_some_and(lone)
}

/// Normalises JSX text as React does: lines are trimmed at line breaks, and empty lines are left
/// out.
fn fold(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(1);
    let pieces = lines.iter().enumerate().map(|(at, line)| {
        let line = if at > 0 { line.trim_ascii_start() } else { line };
        if at < last || text.ends_with('\n') { line.trim_ascii_end() } else { line }
    });
    pieces.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ")
}

pub(super) fn words_of_prose(text: &str, range: Range<usize>) -> Vec<Token> {
    let start = range.start;
    let part = &text[range];
    part.split_whitespace()
        .map(|word| {
            let at = start + (word.as_ptr() as usize - part.as_ptr() as usize);
            Token::new(text, at..at + word.len(), TokenClass::Plain)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use crate::language;

    /// Returns the events of a text: tokens, and `<n` for the end of a node with n items.
    fn events(id: &str, text: &str) -> String {
        let language = language::by_id(id).expect("in the table");
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&language.grammar.expect("it has one")()).expect("a grammar that fits");
        let tree = parser.parse(text, None).expect("no limit is set");
        let mut cursor = tree.walk();
        let tops: Vec<_> = tree.root_node().children(&mut cursor).collect();
        let compiled = language.compiled().expect("tested");
        let walked = super::walk(text, compiled, &tops, &HashMap::new(), &HashSet::new(), &[]);
        let said = walked.events.iter().map(|event| match event {
            super::TreeEvent::Token(token) => token.text(text).to_owned(),
            super::TreeEvent::Close(items) => format!("<{items}"),
        });
        said.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_walk_writes_the_tree_in_postfix() {
        let cases = [
            ("json", "{\"a\": [1, 2]}", "{ \" a \" <3 : [ 1 , 2 ] <5 <3 } <3"),
            ("python", "a\n(b)", "a <1 ( b ) <3 <1"),
        ];
        for (id, text, expected) in cases {
            assert_eq!(events(id, text), expected);
        }
    }
}
