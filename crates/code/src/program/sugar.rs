//! Rewrites different spellings of the same thing to one tree. For example, JavaScript's `{a}` becomes
//! `{a: a}`, and Rust's `=> { x }` becomes `=> x`.

use std::ops::Range;

use super::Tree;
use crate::language_tables::roles::{Role, made};
use crate::lists::words;
use crate::syntax::Syntax;

/// Returns true if a Rust macro takes plain expressions, evaluates each where it is written, and
/// does not affect the function around it.
pub fn is_plain_macro(name: Option<&str>) -> bool {
    const PLAIN_MACROS: &[&str] = words!(
        "print println eprint eprintln format write writeln panic assert assert_eq assert_ne
        debug_assert debug_assert_eq debug_assert_ne vec todo unreachable unimplemented format_args
        matches"
    );
    name.is_some_and(|name| PLAIN_MACROS.contains(&name))
}

pub(super) fn in_longest_spelling(language: &str, node: Tree) -> Tree {
    match () {
        () if node.is_a(Role::Parenthesized) => only_child(node),
        // `{__proto__: a}` sets the prototype, but `{__proto__}` only a property.
        () if node.is_a(Role::ShorthandProperty) && !node.is_token("__proto__") => {
            pair(node, made::PAIR)
        }
        () if node.is_a(Role::ShorthandPattern) => pair(node, made::PAIR_PATTERN),
        () if node.is_a(Role::ObjectAssignmentPattern) => with_default_spelled_out(node),
        () if node.is_a(Role::ShorthandFieldInitializer) && node.children.len() == 1 => {
            field_initializer(node)
        }
        () if language == "rust" => rust(node),
        () if node.is_a(Role::GoBlock) && language == "go" => without_separators(node),
        () if node.is_a(Role::VariableName) && language == "php" => variable(node),
        () if node.is_a(Role::Entry) && language == "lua" => computed_key(node),
        () => node,
    }
}

fn rust(node: Tree) -> Tree {
    match () {
        () if node.is_a(Role::FieldPattern) => field_pattern(node),
        () if node.is_a(Role::MacroInvocation) => with_captures(node),
        () if node.is_a(Role::ValuePlace) => without_braces(node),
        () if node.is_a(Role::AttributeBody) => known_attribute(node),
        () => node,
    }
}

/// Joins `$x` into one token. Without the sign, it would be the name of a function.
fn variable(node: Tree) -> Tree {
    let text: String = node.children.iter().filter_map(|part| part.text.as_deref()).collect();
    Tree::leaf(made::VARIABLE_NAME, node.field, node.bytes, &text)
}

/// Corrects `{ [k] = v }`: the grammar marks `k` as a name, as in `{ k = v }`, but it is a value.
fn computed_key(mut node: Tree) -> Tree {
    if node.starts_with_token("[") {
        node.child_mut("name").into_iter().for_each(|key| key.field = None);
    }
    node
}

/// Removes the parentheses around children, in places where they do not matter.
pub(super) fn unwrap(syntax: &Syntax, parent: &str, children: &mut [Tree]) {
    for child in children.iter_mut().filter(|child| child.is_a(Role::Parenthesized)) {
        let place = (parent, child.field.unwrap_or_default());
        let inert = syntax.parentheses.contains(&place) || syntax.operands.contains(&place);
        if let [open, _, close] = &child.children[..]
            && inert
            && open.is_token("(")
            && close.is_token(")")
            && !is_object_body(child)
        {
            let mut inner = child.children.swap_remove(1);
            inner.field = child.field;
            *child = inner;
        }
    }
}

/// Returns true for the body of `() => ({ a: 1 })`, which is a block without its parentheses,
/// although the grammar reads an object there too.
fn is_object_body(body: &Tree) -> bool {
    body.field == Some("body") && body.tokens().get(1).is_some_and(|first| first.is_token("{"))
}

/// Replaces a parenthesised node by its child, if the tokens have already lost the parentheses.
fn only_child(mut node: Tree) -> Tree {
    let [only] = &mut node.children[..] else { return node };
    only.field = node.field;
    node.children.swap_remove(0)
}

/// Removes `;` between statements, because a line break does the same.
fn without_separators(mut node: Tree) -> Tree {
    node.children.retain(|child| !child.is_token(";"));
    node
}

/// Rewrites `{a}` to `{a: a}`.
fn pair(leaf: Tree, kind: &'static str) -> Tree {
    let children = key_and_value(&leaf, (made::PROPERTY_IDENTIFIER, "key"), "value");
    Tree::node(kind, leaf.field, leaf.bytes, children)
}

/// Returns `a: a` for the leaf `a`: a key of this kind and field, and a value in this field.
fn key_and_value(leaf: &Tree, key: (&'static str, &'static str), value: &'static str) -> Vec<Tree> {
    let text = leaf.text.as_deref().unwrap_or_default();
    let at = &leaf.bytes;
    vec![
        Tree::leaf(key.0, Some(key.1), at.clone(), text),
        Tree::leaf(":", None, at.clone(), ":"),
        Tree::leaf(made::IDENTIFIER, Some(value), at.clone(), text),
    ]
}

/// Rewrites `{a = 1}` to `{a: a = 1}`.
fn with_default_spelled_out(mut node: Tree) -> Tree {
    if !node.children.first().is_some_and(|left| left.is_a(Role::PairPattern)) {
        return node;
    }
    let mut pair = node.children.remove(0);
    let Some(mut value) = pair.children.pop() else { return node };
    value.field = Some("left");
    let mut children = vec![value];
    children.append(&mut node.children);
    let bytes = node.bytes.clone();
    pair.children.push(Tree::node(made::ASSIGNMENT_PATTERN, Some("value"), bytes, children));
    pair.field = node.field;
    pair
}

/// Rewrites the value `S { a }` to `S { a: a }`.
fn field_initializer(mut node: Tree) -> Tree {
    let Some(leaf) = node.children.pop() else { return node };
    let children = key_and_value(&leaf, (made::FIELD_IDENTIFIER, "field"), "value");
    Tree::node(made::FIELD_INITIALIZER, node.field, node.bytes, children)
}

/// Rewrites the pattern `S { a }` to `S { a: a }`.
fn field_pattern(mut node: Tree) -> Tree {
    if let [leaf] = &node.children[..]
        && leaf.is_a(Role::ShorthandFieldIdentifier)
    {
        node.children = key_and_value(leaf, (made::FIELD_IDENTIFIER, "name"), "pattern");
    }
    node
}

/// Rewrites `=> { x }` to `=> x`, also in a closure. Temporary values are dropped at the same point
/// with braces and without.
fn without_braces(mut node: Tree) -> Tree {
    let is_body = |child: &&mut Tree| {
        child.is_a(Role::Block) && matches!(child.field, Some("value" | "body"))
    };
    if let Some(body) = node.children.iter_mut().find(is_body)
        && let [_, inner, _] = &body.children[..]
        // An expression that is not ended by `;` is the value of its block.
        && !inner.is_a(Role::NoValue)
        && !inner.is_token(";")
    {
        let mut inner = inner.clone();
        inner.field = body.field;
        *body = inner;
    }
    node
}

/// Removes a trailing comma in the compiler's own attributes, where it does not matter.
fn known_attribute(mut node: Tree) -> Tree {
    const KNOWN: &[&str] = &["derive", "cfg", "allow", "warn", "deny", "expect", "forbid"];
    if KNOWN.iter().any(|name| node.starts_with_token(name)) {
        let lists = node.children.iter_mut().filter(|child| child.is_a(Role::TokenTree));
        lists.for_each(without_last_commas);
    }
    node
}

fn without_last_commas(list: &mut Tree) {
    without_last_comma(list);
    let inner = list.children.iter_mut().filter(|child| child.is_a(Role::TokenTree));
    inner.for_each(without_last_commas);
}

/// Rewrites `(a, b,)` to `(a, b)`.
fn without_last_comma(list: &mut Tree) {
    let last = list.children.len().saturating_sub(2);
    if list.children.get(last).is_some_and(|one| one.is_token(",")) {
        list.children.remove(last);
    }
}

/// Makes the captured name in `println!("{x}")` a token of its own.
fn with_captures(mut node: Tree) -> Tree {
    if is_plain_macro(node.child("macro").and_then(|name| name.text.as_deref())) {
        for child in node.children.iter_mut().filter(|child| child.is_a(Role::TokenTree)) {
            without_last_comma(child);
            split_captures(child);
        }
    }
    node
}

fn split_captures(node: &mut Tree) {
    if !node.is_any(&[Role::TokenTree, Role::StringLiteral, Role::RawStringLiteral]) {
        return;
    }
    for mut child in std::mem::take(&mut node.children) {
        if child.is_a(Role::StringContent) || (child.text.is_some() && !node.is_a(Role::TokenTree))
        {
            node.children.extend(pieces(&child));
            continue;
        }
        split_captures(&mut child);
        node.children.push(child);
    }
}

fn pieces(leaf: &Tree) -> Vec<Tree> {
    let text = leaf.text.as_deref().unwrap_or_default();
    let mut out = Vec::new();
    let mut from = 0;
    for name in captured_names(text) {
        out.push(Tree::leaf(leaf.kind, None, leaf.bytes.clone(), &text[from..name.start]));
        from = name.end;
        out.push(Tree::leaf(made::IDENTIFIER, None, leaf.bytes.clone(), &text[name]));
    }
    if from < text.len() || out.is_empty() {
        out.push(Tree::leaf(leaf.kind, None, leaf.bytes.clone(), &text[from..]));
    }
    out
}

/// Returns the places of names that a format string captures, in order: `x`, `wide` and `p` in
/// `{x:wide$.p$}`.
fn captured_names(text: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|open| at + open + 1) {
        // `{{` stands for a brace.
        if text[start..].starts_with('{') {
            at = start + 1;
            continue;
        }
        let end = text[start..].find('}').map_or(text.len(), |close| start + close);
        let inside = &text[start..end];
        let argument = inside.find(|c: char| !is_word(c)).unwrap_or(inside.len());
        let dollars = inside.match_indices('$').map(|(dollar, _)| dollar);
        let ends = std::iter::once(argument).chain(dollars.filter(|dollar| *dollar > argument));
        for end in ends {
            let word = &inside[inside[..end].trim_end_matches(is_word).len()..end];
            // Digits are the number of an argument or, before a name, the flag `0`.
            let name = word.trim_start_matches(|c: char| c.is_ascii_digit());
            if !name.is_empty() {
                names.push(start + end - name.len()..start + end);
            }
        }
        at = end;
    }
    names
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_in_a_format_string_are_found() {
        for (text, expected) in [
            ("{a} {b:?} {}", vec!["a", "b"]),
            ("{a:w$.p$} {:>w$}", vec!["a", "w", "p", "w"]),
            ("{:0w$} {:1$} {0:2$.3$}", vec!["w"]),
            ("{{a}} {{{a}}} a$ {a", vec!["a", "a"]),
            ("{w$} {:$} {:$$} {", vec!["w"]),
            ("{ü:é$}", vec!["ü", "é"]),
        ] {
            let names: Vec<&str> =
                super::captured_names(text).into_iter().map(|name| &text[name]).collect();
            assert_eq!(names, expected, "{text}");
        }
    }
}
