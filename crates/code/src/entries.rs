//! Names the entries of data files, such as a package in a lock file or an element of a list.

use std::ops::Range;

use tree_sitter::Node;

/// The members whose value identifies an entry, the best first.
const KEYS: [&str; 3] = ["name", "id", "key"];
/// Added to the name, because a package can be listed once for each of its versions.
const VERSION: &str = "version";
/// How many levels below an entry's node its members may be. In YAML, a list item holds a node that
/// holds the mapping.
const DEEPEST: usize = 4;
const NAME_CHARS: usize = 80;

/// Returns the name of an entry and the bytes of its key: `serde 1.0.2` for `{"name": "serde",
/// "version": "1.0.2"}`. If `any_member` is set, an entry without any of [`KEYS`] is named after
/// its first member with a plain value.
pub(super) fn key(
    text: &str,
    entry: Node,
    members: &[&str],
    any_member: bool,
) -> Option<(String, Range<usize>)> {
    let members = members_of(text, entry, members);
    let value = |key: &str| members.iter().find(|member| member.key == key)?.plain_value(text);
    let usual = KEYS.iter().find_map(|key| value(key));
    let version = value(VERSION).filter(|_| usual.is_some());
    let first =
        || members.iter().find_map(|member| member.plain_value(text)).filter(|_| any_member);
    let found = usual.or_else(first)?;
    let words = [Some(&found), version.as_ref()].into_iter().flatten();
    let words: Vec<&str> = words.flat_map(|bytes| text[bytes.clone()].split_whitespace()).collect();
    Some((words.join(" ").chars().take(NAME_CHARS).collect(), found))
}

struct Member<'a> {
    key: &'a str,
    value: Range<usize>,
}

impl Member<'_> {
    fn plain_value(&self, text: &str) -> Option<Range<usize>> {
        let value = &text[self.value.clone()];
        let is_plain = value.len() <= 4 * NAME_CHARS
            && !value.contains(['\n', '\r'])
            && !value.starts_with(['{', '[', '|', '>', '&', '*']);
        let bytes = unquoted(text, self.value.clone());
        (is_plain && !text[bytes.clone()].trim().is_empty()).then_some(bytes)
    }
}

fn members_of<'a>(text: &'a str, entry: Node, kinds: &[&str]) -> Vec<Member<'a>> {
    let mut at = entry;
    for _ in 0..DEEPEST {
        let mut cursor = at.walk();
        let inner: Vec<Node> =
            at.named_children(&mut cursor).filter(|child| !child.is_extra()).collect();
        if inner.iter().any(|child| kinds.contains(&child.kind())) {
            let pairs = inner.into_iter().filter(|child| kinds.contains(&child.kind()));
            return pairs.filter_map(|pair| member(text, pair)).collect();
        }
        match inner[..] {
            [only] => at = only,
            _ => break,
        }
    }
    Vec::new()
}

fn member<'a>(text: &'a str, pair: Node) -> Option<Member<'a>> {
    let mut cursor = pair.walk();
    let mut parts = pair.named_children(&mut cursor).filter(|child| !child.is_extra());
    let (key, value) = (parts.next()?, parts.next()?);
    Some(Member { key: &text[unquoted(text, key.byte_range())], value: value.byte_range() })
}

fn unquoted(text: &str, bytes: Range<usize>) -> Range<usize> {
    let part = &text[bytes.clone()];
    let quote = part.chars().next().filter(|c| matches!(c, '"' | '\''));
    match quote.filter(|&quote| part.len() >= 2 && part.ends_with(quote)) {
        Some(_) => bytes.start + 1..bytes.end - 1,
        None => bytes,
    }
}
