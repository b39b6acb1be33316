//! Parses text of one language inside a file of another, such as scripts and style sheets in HTML
//! and Vue files. Byte positions are those of the whole file.

use std::ops::Range;
use std::time::Instant;

use tree_sitter::{Node, Tree};

use super::language::{self, Language};
use super::syntax::{Compiled, visit};
use super::syntax_tree;

pub(super) struct Embedded {
    pub holder: usize,
    pub bytes: Range<usize>,
    pub compiled: &'static Compiled,
    tree: Tree,
}

impl Embedded {
    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }
}

pub(super) fn embedded(text: &str, tops: &[Node]) -> Vec<Embedded> {
    let start = Instant::now();
    let in_time = |_: &Node| start.elapsed() < syntax_tree::PATIENCE;
    let holders = tops.iter().flat_map(|top| holders(*top)).take_while(in_time);
    holders.filter_map(|node| embedded_in(text, node)).collect()
}

fn embedded_in(text: &str, holder: Node) -> Option<Embedded> {
    let language = language_of(text, holder)?;
    let mut cursor = holder.walk();
    let raw = holder.named_children(&mut cursor).find(|child| child.kind() == "raw_text")?;
    if text[raw.byte_range()].trim().is_empty() {
        return None;
    }
    let tree = syntax_tree::tree_within(language, text, &[raw.range()])?;
    let compiled = language.compiled()?;
    Some(Embedded { holder: raw.id(), bytes: raw.byte_range(), compiled, tree })
}

fn holders(top: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    visit(top, |node| {
        let is_holder = matches!(node.kind(), "script_element" | "style_element");
        if is_holder {
            found.push(node);
        }
        !is_holder
    });
    found
}

fn language_of(text: &str, holder: Node) -> Option<&'static Language> {
    let tag = holder.named_child(0)?;
    let (lang, mime) = (attribute(text, tag, "lang"), attribute(text, tag, "type"));
    let id = match holder.kind() {
        "style_element" => style_language(lang, mime),
        _ => script_language(lang, mime),
    };
    language::by_id(id?)
}

fn style_language(lang: Option<&str>, mime: Option<&str>) -> Option<&'static str> {
    (matches!(lang, None | Some("css")) && matches!(mime, None | Some("" | "text/css")))
        .then_some("css")
}

fn script_language(lang: Option<&str>, mime: Option<&str>) -> Option<&'static str> {
    match (lang, mime) {
        (Some("ts" | "typescript"), _) | (None, Some("text/typescript")) => Some("typescript"),
        (Some("tsx"), _) => Some("tsx"),
        (Some("js" | "javascript" | "jsx"), _) => Some("javascript"),
        (None, None | Some("" | "module" | "text/javascript" | "application/javascript")) => {
            Some("javascript")
        }
        (None, Some("application/json" | "application/ld+json" | "importmap")) => Some("json"),
        _ => None,
    }
}

/// Returns the value of a tag's attribute. It is `""` if the attribute has no value, and `None` if
/// there is no such attribute.
fn attribute<'a>(text: &'a str, tag: Node, name: &str) -> Option<&'a str> {
    let mut cursor = tag.walk();
    let mut attributes = tag.named_children(&mut cursor).filter(|one| one.kind() == "attribute");
    let found = attributes.find(|one| {
        one.named_child(0).is_some_and(|key| text[key.byte_range()].eq_ignore_ascii_case(name))
    })?;
    let value = found.named_child(1).map_or("", |value| &text[value.byte_range()]);
    Some(value.trim_matches(['"', '\'']).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_element_names_its_language() {
        let cases = [
            (None, None, Some("javascript")),
            (None, Some("module"), Some("javascript")),
            (Some("ts"), None, Some("typescript")),
            (Some("tsx"), None, Some("tsx")),
            (None, Some("application/ld+json"), Some("json")),
            (None, Some("text/x-template"), None),
            (Some("coffee"), None, None),
        ];
        for (lang, mime, expected) in cases {
            assert_eq!(script_language(lang, mime), expected, "{lang:?} {mime:?}");
        }
        assert_eq!(style_language(None, None), Some("css"));
        assert_eq!(style_language(Some("scss"), None), None);
    }
}
