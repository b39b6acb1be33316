//! Finds locals of a helper that would outlive a call of it.
//!
//! Each call gets new locals, which end when it returns. If the body replaces the call, a Python
//! local or a JavaScript `var` keeps its value from one round of the caller's loop to the next, and
//! in C the address of a local stays valid until the caller returns.

use std::collections::HashSet;

use code::language_tables::roles::Role;
use code::program::Tree;

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
            body.mentions("var") && may_keep_value(body, &is_parameter)
        }
        "c" | "cpp" => {
            let is_own = |operand: &Tree| innermost(operand, types).local().is_some();
            takes_address(body, &is_own) || passes_array(body, types)
        }
        "go" => takes_address(body, &is_parameter),
        _ => false,
    }
}

fn may_keep_value(body: &Tree, is_parameter: &impl Fn(&Tree) -> bool) -> bool {
    let tokens = body.tokens();
    let own = tokens.iter().filter(|leaf| leaf.local().is_some() && !is_parameter(leaf));
    let locals: HashSet<&str> = own.filter_map(|leaf| leaf.text.as_deref()).collect();
    locals.len() * tokens.len() > LARGEST || locals.iter().any(|local| !is_set_first(body, local))
}

fn is_set_first(tree: &Tree, local: &str) -> bool {
    if tree.is_any(&[Role::Function, Role::Comprehension]) {
        // It is a local of an inner function. Only `x := 1` in a comprehension sets a local of the
        // function around it.
        return !tree.has_node(&|node| node.is_a(Role::Named));
    }
    let mut mentioning = tree.children.iter().filter(|child| child.mentions(local));
    let Some(first) = mentioning.next() else { return true };
    let is_only = mentioning.next().is_none();
    let is_unused = |field: &str| tree.child(field).is_none_or(|part| !part.mentions(local));
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
        tree.has_node(&|node| node.is_any(&later) && node.mentions(local))
    };
    is_set && !is_captured() || is_only && is_set_first(first, local)
}

fn sets(statement: &Tree, local: &str) -> bool {
    let has_value =
        |node: &Tree, field: &str| node.child(field).is_some_and(|value| !value.mentions(local));
    let Some(statement) = expression_of(statement) else { return false };
    if statement.is_any(&[Role::NameAssignment, Role::AssignmentToLeft]) {
        return has_value(statement, "right")
            && statement.child("left").is_some_and(|left| binds(left, local));
    }
    let declarator = statement.children.iter().find(|child| child.mentions(local));
    statement.is_a(Role::LocalDeclaration)
        && declarator.is_some_and(|one| one.has_token_as("name", local) && has_value(one, "value"))
}

/// Returns true if the head of a `with` or an `except` gives a local its value, as in
/// `with g() as x`.
fn is_alias(head: &Tree, local: &str) -> bool {
    let names = |node: &Tree| {
        let tokens = node.tokens();
        node.field == Some("alias") && tokens.len() == 1 && tokens[0].is_token(local)
    };
    let count = head.texts().into_iter().filter(|text| *text == local).count();
    count == 1 && head.has_node(&names) && !head.has_node(&is_block)
}

fn takes_address(body: &Tree, test: &impl Fn(&Tree) -> bool) -> bool {
    body.has_node(&|node| {
        node.is_a(Role::Reference)
            && node.starts_with_token("&")
            && node.children.last().is_some_and(test)
    })
}

/// Returns the variable of which a C expression names a part: `a` for `a.b[0]`, but not for `a->b`.
fn innermost<'t>(operand: &'t Tree, types: &LocalTypes) -> &'t Tree {
    match operand.child("argument") {
        Some(whole) if operand.has_child_token(".") => innermost(whole, types),
        // An element of what a pointer points to is no part of the pointer.
        Some(whole)
            if operand.has_child_token("[") && (whole.text.is_none() || is_array(whole, types)) =>
        {
            innermost(whole, types)
        }
        _ => operand,
    }
}

fn is_array(leaf: &Tree, types: &LocalTypes) -> bool {
    let said = leaf.local().and_then(|local| types.of_local(local));
    said.is_some_and(|said| said.ends_with(" []"))
}

/// Returns true if the body uses a local array other than by its elements, because an array is
/// passed by its address.
fn passes_array(tree: &Tree, types: &LocalTypes) -> bool {
    tree.children.iter().any(|child| {
        let is_element = child.field == Some("argument") && tree.has_child_token("[");
        let is_declared = child.field == Some("declarator");
        !is_element && !is_declared && is_array(child, types) || passes_array(child, types)
    })
}
