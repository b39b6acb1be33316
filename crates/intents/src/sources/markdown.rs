//! Markdown as the sources of intents need it: headings, list items with their boxes, and
//! paragraphs, each with its place.
//!
//! Fenced code and HTML comments do not count, because templates keep sample tasks in them. A full
//! parser would be of little use here: it knows no boxes but `[ ]` and `[x]`, and Kiro and
//! Conductor write `[-]` and `[~]` for a task that was begun.

use std::borrow::Cow;
use std::ops::Range;

use super::hints::split_at_colon;

/// A text whose fenced code and comments are replaced by blanks. All positions stay the same.
pub(super) struct Markdown<'t> {
    text: Cow<'t, str>,
    /// The text between the two lines `---` at the beginning.
    front_matter: Option<Range<usize>>,
    body: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockShape {
    Heading(usize),
    Item {
        indent: usize,
        /// The number of an item of a numbered list.
        number: Option<u32>,
        mark: Option<char>,
    },
    Paragraph,
}

/// A heading, an item with the lines that continue it, or a paragraph.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkdownBlock<'m> {
    pub shape: BlockShape,
    /// What follows the marks of a heading or item and the box.
    pub text: &'m str,
    pub start: usize,
    pub line: u32,
}

impl MarkdownBlock<'_> {
    pub fn level(&self) -> Option<usize> {
        if let BlockShape::Heading(level) = self.shape { Some(level) } else { None }
    }
    pub fn is_item(&self) -> bool {
        matches!(self.shape, BlockShape::Item { .. })
    }
    pub fn number(&self) -> Option<u32> {
        if let BlockShape::Item { number, .. } = self.shape { number } else { None }
    }
    pub(super) fn is_nested(&self) -> bool {
        matches!(self.shape, BlockShape::Item { indent: 2.., .. })
    }
    pub fn mark(&self) -> Option<char> {
        if let BlockShape::Item { mark, .. } = self.shape { mark } else { None }
    }
    /// Returns the byte range of a part of this block's text.
    pub(super) fn span_of(&self, part: &str) -> Range<usize> {
        let at = part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let start = self.start + at.min(self.text.len());
        start..start + part.len()
    }
}

impl<'t> Markdown<'t> {
    pub fn parse(text: &'t str) -> Self {
        let front_matter = front_matter(text);
        let body = front_matter.as_ref().map_or(0, |range| range.end);
        let body = body + text[body..].find('\n').filter(|_| body > 0).map_or(0, |end| end + 1);
        Self { text: without_code(text, body), front_matter, body }
    }

    pub(super) fn front_matter(&self) -> Option<(&str, usize)> {
        let range = self.front_matter.clone()?;
        Some((&self.text[range.clone()], range.start))
    }

    pub fn blocks(&self) -> Vec<MarkdownBlock<'_>> {
        let mut blocks: Vec<MarkdownBlock<'_>> = Vec::new();
        let mut is_open = false;
        let (mut at, mut number) = (self.body, line_number(&self.text[..self.body]));
        for whole in self.text[self.body..].split_inclusive('\n') {
            let (start, line) = (at, number);
            (at, number) = (at + whole.len(), number + 1);
            let written = whole.trim_end();
            let content = written.trim_start_matches([' ', '\t', '\u{feff}']);
            let indent = width(&written[..written.len() - content.len()]);
            if content.is_empty() || is_rule(content) {
                is_open = false;
                continue;
            }
            let (shape, text) =
                match (heading_of_line(content).filter(|_| indent < 4), item(content)) {
                    (Some((level, text)), _) => (BlockShape::Heading(level), text),
                    (None, Some((number, text))) => {
                        let boxed = text_after_box(text);
                        let mark = boxed.map(|(mark, _)| mark);
                        let text = boxed.map_or(text, |(_, rest)| rest);
                        (BlockShape::Item { indent, number, mark }, text)
                    }
                    (None, None) => (BlockShape::Paragraph, content),
                };
            let goes_on = is_open && shape == BlockShape::Paragraph;
            if let Some(last) = blocks.last_mut().filter(|_| goes_on) {
                last.text = &self.text[last.start..start + written.len()];
                continue;
            }
            let start = text.as_ptr().addr() - self.text.as_ptr().addr();
            blocks.push(MarkdownBlock { shape, text, start, line });
            is_open = !matches!(shape, BlockShape::Heading(_));
        }
        blocks
    }
}

fn line_number(before: &str) -> u32 {
    u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
}

fn width(blanks: &str) -> usize {
    blanks.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn front_matter(text: &str) -> Option<Range<usize>> {
    let mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let begin = text.len() - mark.len();
    let mut lines = mark.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let start = begin + first.len();
    let mut at = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Some(start..at);
        }
        at += line.len();
    }
    None
}

fn is_rule(content: &str) -> bool {
    let mark = content.as_bytes()[0];
    matches!(mark, b'-' | b'*' | b'_')
        && content.len() >= 3
        && content.bytes().all(|byte| byte == mark || byte == b' ')
}

fn heading_of_line(content: &str) -> Option<(usize, &str)> {
    let text = content.trim_start_matches('#');
    let level = content.len() - text.len();
    let is_heading = (1..=6).contains(&level) && (text.is_empty() || text.starts_with([' ', '\t']));
    let text = text.trim();
    let closed = text.trim_end_matches('#');
    let text = if closed.ends_with([' ', '\t']) { closed.trim_end() } else { text };
    is_heading.then_some((level, text))
}

fn item(content: &str) -> Option<(Option<u32>, &str)> {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = match digits {
        0 => (None, content.strip_prefix(['-', '*', '+'])?),
        1..=9 => (content[..digits].parse().ok(), content[digits..].strip_prefix(['.', ')'])?),
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (number, rest.trim_start()))
}

/// Returns what stands in the box at the beginning of a text, and what follows the box. `[P]` and
/// `[Story]` are no boxes.
pub(super) fn text_after_box(text: &str) -> Option<(char, &str)> {
    let (mark, rest) = text.strip_prefix('[')?.split_once(']')?;
    let mark = mark.chars().next().filter(|_| mark.len() == 1)?;
    let is_box = matches!(mark, ' ' | 'x' | 'X' | '-' | '~')
        && (rest.is_empty() || rest.starts_with([' ', '\t', '*']));
    is_box.then(|| (mark, rest.trim_start()))
}

fn without_code(text: &str, body: usize) -> Cow<'_, str> {
    if !["<!--", "```", "~~~"].iter().any(|mark| text[body..].contains(mark)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..body]);
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    let last_end = text.rfind("-->").unwrap_or(0);
    let mut at = body;
    for line in text[body..].split_inclusive('\n') {
        let content = line.trim();
        let next = at + line.len();
        let mark = fence_mark(content);
        match (fence, mark) {
            _ if in_comment => {}
            (Some(open), Some(mark)) if mark.starts_with(open) && mark.len() == content.len() => {
                fence = None;
                blank_out(&mut out, line);
                at = next;
                continue;
            }
            (None, Some(mark)) => fence = Some(mark),
            _ => {}
        }
        match fence.is_some() {
            true => blank_out(&mut out, line),
            false => in_comment = without_comments(&mut out, line, in_comment, last_end >= next),
        }
        at = next;
    }
    Cow::Owned(out)
}

fn fence_mark(content: &str) -> Option<&str> {
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = content.trim_start_matches(mark);
    let many = content.len() - rest.len();
    (many >= 3 && !(mark == '`' && rest.contains('`'))).then(|| &content[..many])
}

/// Appends a line without its comments. Returns true if the line ends inside a comment. `can_end`
/// says whether a comment ends in a later line.
fn without_comments(out: &mut String, line: &str, mut inside: bool, can_end: bool) -> bool {
    let begins = line.trim_start().starts_with("<!--");
    let mut rest = line;
    loop {
        if inside {
            let Some(end) = rest.find("-->") else {
                blank_out(out, rest);
                return true;
            };
            blank_out(out, &rest[..end + 3]);
            rest = &rest[end + 3..];
        }
        // A comment that begins within a line and never ends is text.
        let start =
            comment_start(rest).filter(|at| begins || can_end || rest[*at..].contains("-->"));
        let Some(start) = start else {
            out.push_str(rest);
            return false;
        };
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        inside = true;
    }
}

/// Returns where a comment begins that is not in inline code.
fn comment_start(line: &str) -> Option<usize> {
    let (mut ticks, mut counted) = (0, 0);
    line.match_indices("<!--").map(|(at, _)| at).find(|at| {
        ticks += line[counted..*at].matches('`').count();
        counted = *at;
        ticks % 2 == 0
    })
}

fn blank_out(out: &mut String, text: &str) {
    out.extend(
        text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }),
    );
}

/// Returns the blocks below the heading at an index, up to the next heading that is not deeper.
pub(super) fn section<'b, 'm>(
    blocks: &'b [MarkdownBlock<'m>],
    heading: usize,
) -> &'b [MarkdownBlock<'m>] {
    let level = blocks[heading].level().unwrap_or(0);
    let rest = &blocks[heading + 1..];
    let end = rest.iter().position(|block| block.level().is_some_and(|other| other <= level));
    &rest[..end.unwrap_or(rest.len())]
}

/// Returns the section below the first heading for which `wanted` returns true.
pub(super) fn section_named<'b, 'm>(
    blocks: &'b [MarkdownBlock<'m>],
    wanted: impl Fn(usize, &str) -> bool,
) -> Option<&'b [MarkdownBlock<'m>]> {
    let is_wanted =
        |block: &MarkdownBlock<'_>| block.level().is_some_and(|level| wanted(level, block.text));
    Some(section(blocks, blocks.iter().position(is_wanted)?))
}

pub(super) fn title<'b, 'm>(blocks: &'b [MarkdownBlock<'m>]) -> Option<&'b MarkdownBlock<'m>> {
    blocks.iter().find(|block| block.level() == Some(1))
}

/// Returns the first paragraph of a section on one line, if it stands before deeper headings.
pub(super) fn first_paragraph(section: &[MarkdownBlock<'_>]) -> Option<String> {
    let first = section.iter().find(|block| block.shape == BlockShape::Paragraph)?;
    Some(plain_text(first.text))
}

/// Returns the first line below the heading `Status`, or what a line such as `**Status**: done`
/// says.
pub(super) fn written_status<'b, 'm>(
    blocks: &'b [MarkdownBlock<'m>],
) -> Option<(&'b MarkdownBlock<'m>, &'m str)> {
    let is_label = |text: &str| text.trim_matches('*').trim().eq_ignore_ascii_case("status");
    let section = section_named(blocks, |_, text| is_label(text));
    let below = section.and_then(|section| section.first()).map(|block| (block, block.text));
    let in_line = || {
        let lines =
            blocks.iter().flat_map(|block| block.text.lines().map(move |line| (block, line)));
        let mut values = lines.filter_map(|(block, line)| {
            let (label, value) = split_at_colon(line)?;
            is_label(label).then(|| (block, value.trim_start_matches('*')))
        });
        values.next()
    };
    let (block, text) = below.or_else(in_line)?;
    Some((block, text.lines().next().unwrap_or_default().trim()))
}

/// Returns a text on one line, without the marks of bold words.
pub(super) fn plain_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        word.split("**").for_each(|part| out.push_str(part));
    }
    out
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BoxCount {
    pub done: usize,
    pub begun: usize,
    pub all: usize,
}

impl BoxCount {
    pub(super) fn of_marks(marks: impl Iterator<Item = char>) -> Self {
        let mut count = Self::default();
        for mark in marks {
            count.all += 1;
            count.done += usize::from(matches!(mark, 'x' | 'X'));
            count.begun += usize::from(matches!(mark, '-' | '~'));
        }
        count
    }
    pub fn of_blocks(blocks: &[MarkdownBlock<'_>]) -> Self {
        Self::of_marks(blocks.iter().filter_map(MarkdownBlock::mark))
    }
    pub fn is_done(self) -> bool {
        self.all > 0 && self.done == self.all
    }
    pub(super) fn is_begun(self) -> bool {
        self.done + self.begun > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks_of(text: &str) -> Vec<String> {
        let markdown = Markdown::parse(text);
        let show = |block: &MarkdownBlock<'_>| {
            assert_eq!(&markdown.text[block.span_of(block.text)], block.text);
            let what = match block.shape {
                BlockShape::Heading(level) => format!("h{level}"),
                BlockShape::Item { indent, number, mark } => {
                    format!("i{indent}{:?}{:?}", number.unwrap_or(0), mark.unwrap_or('.'))
                }
                BlockShape::Paragraph => "p".to_owned(),
            };
            format!("{} {what} {}", block.line, plain_text(block.text))
        };
        markdown.blocks().iter().map(show).collect()
    }

    #[test]
    fn code_and_comments_do_not_count() {
        let text = "\u{feff}---\na: 1\n---\n# Tïtle ##\n<!-- # no\n- [ ] no\n-->\n- [x] yes <!-- no --> more\n```md\n# no\n~~~\n```\n  ~~~~\n- [ ] no\n~~~\n~~~~\nuse `<!--` so\n";
        assert_eq!(blocks_of(text), ["4 h1 Tïtle", "8 i00'x' yes more", "17 p use `<!--` so"]);
    }

    #[test]
    fn only_known_boxes_are_boxes() {
        let text = "- [ ] a\n- [X] b\n* [~] c\n1. [-] d\n- [P] e\n- [Story] f\n- [ ]* 1.3 g\n- [x](link)\n-[ ] h\n- []\n";
        assert_eq!(
            blocks_of(text),
            [
                "1 i00' ' a",
                "2 i00'X' b",
                "3 i00'~' c",
                "4 i01'-' d",
                "5 i00'.' [P] e",
                "6 i00'.' [Story] f",
                "7 i00' ' * 1.3 g",
                "8 i00'.' [x](link) -[ ] h",
                "10 i00'.' []"
            ]
        );
    }

    #[test]
    fn lines_that_go_on_belong_to_their_block() {
        let text = "1) one\n   two\n\n   three\n---\nfour\r\nfive\r\n#six\n";
        assert_eq!(blocks_of(text), ["1 i01'.' one two", "4 p three", "6 p four five #six"]);
    }

    #[test]
    fn an_open_comment_hides_the_rest_only_at_the_start_of_a_line() {
        assert_eq!(blocks_of("a <!-- b\n# c"), ["1 p a <!-- b", "2 h1 c"]);
        assert!(blocks_of("<!-- b\n# c").is_empty());
        assert!(blocks_of("```\n# c").is_empty());
    }
}
