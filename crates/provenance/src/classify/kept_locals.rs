//! Finds locals of a helper that would outlive a call of it.
//!
//! Each call gets new locals, which end when it returns. If the body replaces the call, a Python
//! local or a JavaScript `var` keeps its value from one round of the caller's loop to the next, and
//! in C the address of a local stays valid until the caller returns.

use std::collections::HashSet;

use code::language_tables::roles::Role;
use code::program::{NameKind, Tree};

use super::helpers::{binds, expression_of, is_block};
use super::types::LocalTypes;

/// The largest product of locals and tokens for which each local is followed.
const LARGEST: usize = 2_000_000;

/// Returns true if the value or the address of a local may be used after the call. Every local in
/// the body has its placeholder as its text. `parameters` are the placeholders of the parameters.
pub(super) fn outlive_call(
    body: &Tree,
    parameters: &[&str],
    types: &LocalTypes,
    language: &str,
) -> bool {
    let is_parameter =
        |leaf: &Tree| leaf.text.as_deref().is_some_and(|text| parameters.contains(&text));
    match language {
        "python" => may_keep_value(body, &is_parameter),
        "javascript" | "typescript" | "tsx" => {
            body.has_node(&|word| word.is_token("var")) && may_keep_value(body, &is_parameter)
        }
        "c" | "cpp" => {
            let is_own =
                |operand: &Tree| matches!(innermost(operand, types).name, NameKind::Local(_));
            takes_address(body, &is_own) || passes_array(body, types)
        }
        "go" => takes_address(body, &is_parameter),
        _ => false,
    }
}

fn may_keep_value(body: &Tree, is_parameter: &impl Fn(&Tree) -> bool) -> bool {
    let mut locals: HashSet<&str> = HashSet::new();
    let mut tokens = 0;
    body.visit(&mut |leaf| {
        tokens += usize::from(leaf.text.is_some());
        if matches!(leaf.name, NameKind::Local(_)) && !is_parameter(leaf) {
            locals.extend(leaf.text.as_deref());
        }
    });
    locals.len() * tokens > LARGEST || locals.iter().any(|local| !is_set_first(body, local))
}

/// Returns true if a local certainly gets a value before its value is read.
fn is_set_first(tree: &Tree, local: &str) -> bool {
    if tree.is_any(&[Role::Function, Role::Comprehension]) {
        // It is a local of an inner function. Only `x := 1` in a comprehension sets a local of the
        // function around it.
        return !tree.has_node(&|node| node.is_a(Role::Named));
    }
    let mut mentioning = tree.children.iter().filter(|child| mentions(child, local));
    let Some(first) = mentioning.next() else { return true };
    let is_only = mentioning.next().is_none();
    let is_unused = |field: &str| tree.child(field).is_none_or(|part| !mentions(part, local));
    let is_set = match tree {
        _ if tree.is_a(Role::Loop) && first.field == Some("left") => {
            binds(first, local) && is_unused("right") && is_unused("alternative")
        }
        _ if is_block(tree) || first.field == Some("initializer") => sets(first, local),
        _ => is_alias(first, local),
    };
    // An inner function may run later, when the next round has already set another value.
    let is_captured = || {
        let later = [Role::Function, Role::GeneratorExpression];
        tree.has_node(&|node| node.is_any(&later) && mentions(node, local))
    };
    is_set && !is_captured() || is_only && is_set_first(first, local)
}

fn mentions(tree: &Tree, local: &str) -> bool {
    tree.has_node(&|leaf| leaf.is_token(local))
}

/// Returns true if a statement gives a local its value, without reading it.
fn sets(statement: &Tree, local: &str) -> bool {
    let has_value =
        |node: &Tree, field: &str| node.child(field).is_some_and(|value| !mentions(value, local));
    let Some(statement) = expression_of(statement) else { return false };
    if statement.is_any(&[Role::NameAssignment, Role::AssignmentToLeft]) {
        return has_value(statement, "right")
            && statement.child("left").is_some_and(|left| binds(left, local));
    }
    let declarator = statement.children.iter().find(|child| mentions(child, local));
    statement.is_a(Role::LocalDeclaration)
        && declarator.is_some_and(|one| {
            one.child("name").is_some_and(|name| name.is_token(local)) && has_value(one, "value")
        })
}

/// Returns true if the head of a `with` or an `except` gives a local its value, as in
/// `with g() as x`.
fn is_alias(head: &Tree, local: &str) -> bool {
    let names = |node: &Tree| {
        let tokens = node.tokens();
        node.field == Some("alias") && tokens.len() == 1 && tokens[0].is_token(local)
    };
    let mut count = 0;
    head.visit(&mut |leaf| count += usize::from(leaf.is_token(local)));
    count == 1 && head.has_node(&names) && !head.has_node(&is_block)
}

/// Returns true if the body takes the address of an operand that satisfies `test`.
fn takes_address(body: &Tree, test: &impl Fn(&Tree) -> bool) -> bool {
    body.has_node(&|node| {
        node.is_a(Role::Reference)
            && node.children.first().is_some_and(|mark| mark.is_token("&"))
            && node.children.last().is_some_and(test)
    })
}

/// Returns the variable of which a C expression names a part: `a` for `a.b[0]`, but not for `a->b`.
fn innermost<'t>(operand: &'t Tree, types: &LocalTypes) -> &'t Tree {
    let has = |mark: &str| operand.children.iter().any(|child| child.is_token(mark));
    match operand.child("argument") {
        Some(whole) if has(".") => innermost(whole, types),
        // An element of what a pointer points to is no part of the pointer.
        Some(whole) if has("[") && (whole.text.is_none() || is_array(whole, types)) => {
            innermost(whole, types)
        }
        _ => operand,
    }
}

fn is_array(leaf: &Tree, types: &LocalTypes) -> bool {
    match leaf.name {
        NameKind::Local(local) => types.of_local(local).is_some_and(|said| said.ends_with(" []")),
        _ => false,
    }
}

/// Returns true if the body uses a local array other than by its elements, because an array is
/// passed by its address.
fn passes_array(tree: &Tree, types: &LocalTypes) -> bool {
    tree.children.iter().any(|child| {
        let is_element =
            child.field == Some("argument") && tree.children.iter().any(|mark| mark.is_token("["));
        let is_declared = child.field == Some("declarator");
        !is_element && !is_declared && is_array(child, types) || passes_array(child, types)
    })
}
