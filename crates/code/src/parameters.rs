//! Reads parameter types, which are part of a block's identity, and normalises the white space in
//! names.

use std::ops::Range;

use tree_sitter::Node;

use super::syntax::Parameters;

/// Returns the parameter types, such as `(u32, &str)`. Returns `None` if functions of the language
/// cannot be overloaded by type.
pub(super) fn parameter_types(text: &str, list: Node, how: Parameters) -> Option<String> {
    if how == Parameters::None {
        return None;
    }
    if matches!(how, Parameters::Written | Parameters::Labelled) {
        return Some(format!("({})", names_between_commas(text, list, how).join(", ")));
    }
    let mut types = Vec::new();
    let mut cursor = list.walk();
    for parameter in list.named_children(&mut cursor) {
        if parameter.is_extra() || parameter.kind().contains("attribute") {
            continue;
        }
        let one = match how {
            Parameters::Declarator => declared_type(text, parameter),
            Parameters::AfterName => type_after_name(text, parameter),
            _ => type_field(text, parameter),
        };
        let times = if how == Parameters::TypePerName { name_count(parameter) } else { 1 };
        types.extend(std::iter::repeat_n(one, times));
    }
    if how == Parameters::Declarator && types == ["void"] {
        types.clear();
    }
    Some(format!("({})", types.join(", ")))
}

fn name_count(parameter: Node) -> usize {
    let mut cursor = parameter.walk();
    parameter.children_by_field_name("name", &mut cursor).count().max(1)
}

fn type_field(text: &str, parameter: Node) -> String {
    let rest = match parameter.kind() {
        "variadic_parameter_declaration" | "spread_parameter" => "...",
        _ => "",
    };
    if let Some(found) = parameter.child_by_field_name("type") {
        let spelled = normalised(text, found.byte_range(), &[]);
        return format!("{rest}{}", spelled.trim_start_matches(':').trim_start());
    }
    match parameter.kind() {
        "self_parameter" | "receiver_parameter" | "variadic_parameter" => {
            normalised(text, parameter.byte_range(), &[])
        }
        "spread_parameter" => spread_type(text, parameter),
        "identifier" | "required_parameter" | "optional_parameter" | "parameter" => "_".into(),
        // A Rust type without a name, as in `fn f(u32)` in a trait of the 2015 edition.
        kind if kind.ends_with("_type") || kind.ends_with("type_identifier") => {
            normalised(text, parameter.byte_range(), &[])
        }
        _ => "_".into(),
    }
}

/// Returns the type of Java's `String... names`, for which the grammar has no field.
fn spread_type(text: &str, parameter: Node) -> String {
    let mut cursor = parameter.walk();
    let found = parameter
        .named_children(&mut cursor)
        .find(|child| !matches!(child.kind(), "modifiers" | "variable_declarator"));
    found.map_or_else(
        || "_".into(),
        |node| format!("...{}", normalised(text, node.byte_range(), &[])),
    )
}

/// Returns the text between the commas of a list, each without its name, its attributes and its
/// default value.
///
/// Labels that callers write (Swift) and words such as `ref` and `vararg` are kept. If `list` is
/// the whole definition, the list begins at its first opening bracket and ends at the next closing
/// one.
fn names_between_commas(text: &str, list: Node, how: Parameters) -> Vec<String> {
    let mut cursor = list.walk();
    let inside = list
        .children(&mut cursor)
        .skip_while(|node| !matches!(node.kind(), "(" | "["))
        .skip(1)
        .take_while(|node| !matches!(node.kind(), ")" | "]"));
    let mut pieces = Vec::new();
    for node in inside {
        unwrap_parameter(node, &mut pieces);
    }
    pieces.split(|piece| piece.kind() == ",").filter_map(|one| spelled(text, one, how)).collect()
}

/// Replaces a parameter, or a group of parameters, by its children.
fn unwrap_parameter<'t>(node: Node<'t>, out: &mut Vec<Node<'t>>) {
    if !matches!(node.kind(), "parameter" | "formal_parameter" | "optional_formal_parameters") {
        return out.push(node);
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        unwrap_parameter(child, out);
    }
}

fn spelled(text: &str, pieces: &[Node], how: Parameters) -> Option<String> {
    if pieces.iter().all(Node::is_extra) {
        return None;
    }
    let is_name = |node: &Node| matches!(node.kind(), "identifier" | "simple_identifier");
    let colon = pieces.iter().position(|node| node.kind() == ":");
    // The name is directly before a colon. In Swift, a label comes first and may also be the name.
    // Without a colon, the name is last.
    let end = pieces.iter().position(|node| node.kind() == "=").unwrap_or(pieces.len());
    let name = pieces[..colon.unwrap_or(end)].iter().rposition(is_name);
    let labels = how == Parameters::Labelled;
    let labelled = labels && pieces[..name.unwrap_or(0)].iter().any(is_name);
    let mut out = String::new();
    for (at, node) in pieces[..end].iter().enumerate() {
        let is_left_out = (Some(at) == name && (!labels || labelled))
            || (Some(at) == colon && !labels)
            || node.is_extra()
            || matches!(node.kind(), "[" | "]" | "{" | "}")
            || is_attribute(node.kind());
        if is_left_out {
            continue;
        }
        if !out.is_empty() && !matches!(node.kind(), ":" | "...") {
            out.push(' ');
        }
        out.push_str(&normalised(text, node.byte_range(), &[]));
    }
    Some(if out.is_empty() { "_".into() } else { out })
}

fn is_attribute(kind: &str) -> bool {
    matches!(kind, "attribute" | "attribute_list" | "annotation")
}

/// Returns `const char *name = 0` without `name` and `= 0`.
fn declared_type(text: &str, parameter: Node) -> String {
    let mut left_out = Vec::new();
    let mut end = parameter.end_byte();
    if let Some(value) = parameter.child_by_field_name("default_value") {
        end = text[..value.start_byte()].rfind('=').unwrap_or(value.start_byte());
    }
    let mut declarator = parameter.child_by_field_name("declarator");
    while let Some(node) = declarator {
        if matches!(node.kind(), "identifier" | "field_identifier") {
            left_out.push(node.byte_range());
        }
        declarator = node.child_by_field_name("declarator").or_else(|| innermost(node));
    }
    normalised(text, parameter.start_byte()..end.max(parameter.start_byte()), &left_out)
}

/// Returns `price numeric(10, 2) DEFAULT 0` without `price` and the default.
fn type_after_name(text: &str, parameter: Node) -> String {
    let mut cursor = parameter.walk();
    let mut start = parameter.start_byte();
    let mut end = parameter.end_byte();
    for (at, part) in parameter.children(&mut cursor).enumerate() {
        if at == 0 && part.kind() == "identifier" && parameter.child_count() > 1 {
            start = part.end_byte();
        }
        if matches!(part.kind(), "keyword_default" | "=") {
            end = part.start_byte();
            break;
        }
    }
    normalised(text, start..end.max(start), &[]).to_lowercase()
}

/// Returns the declarator inside `(*name)`, `&name` or `...name`, for which the grammar has no
/// field.
fn innermost(node: Node) -> Option<Node> {
    let inside = node.named_child_count().checked_sub(1)?;
    let holds = node.kind().ends_with("_declarator");
    node.named_child(inside as u32).filter(|child| {
        holds && (child.kind().ends_with("declarator") || child.kind() == "identifier")
    })
}

/// Writes a part of the source on one line, with spaces only between two words, after commas, and
/// around operators if the source has them.
pub(super) fn normalised(text: &str, range: Range<usize>, left_out: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(range.len());
    let mut space = false;
    for (offset, c) in text[range.clone()].char_indices() {
        let at = range.start + offset;
        if left_out.iter().any(|hole| hole.contains(&at)) {
            continue;
        }
        if c.is_whitespace() {
            space = true;
            continue;
        }
        let after = out.chars().next_back();
        if after.is_some_and(|before| wants_space(before, c, space)) {
            out.push(' ');
        }
        out.push(c);
        space = false;
    }
    if let Some(cut) = out.strip_suffix(',') { cut.into() } else { out }
}

fn wants_space(before: char, c: char, was_space: bool) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '$' | '?');
    let loose = |c: char| matches!(c, '+' | '|' | '=');
    match (before, c) {
        (',' | ';', _) => true,
        (_, ',' | ';') => false,
        ('-' | '=', '>') => was_space,
        ('>', '(') | (')', '-') => was_space,
        _ => {
            (was_space && word(before) && (word(c) || c == '&' || c == '('))
                || (was_space && (loose(before) || loose(c) || c == '-'))
                || (was_space && matches!((before, c), ('>' | ')' | ']', _)) && word(c))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_with_one_spacing() {
        let cases = [
            ("Vec< A,\n  B >", "Vec<A, B>"),
            ("&'a  mut  T", "&'a mut T"),
            ("const  char * *", "const char**"),
            ("Map<K,V>", "Map<K, V>"),
            ("a.b", "a.b"),
        ];
        for (given, expected) in cases {
            assert_eq!(normalised(given, 0..given.len(), &[]), expected);
        }
    }
}
