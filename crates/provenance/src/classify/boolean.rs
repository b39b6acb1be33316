//! Converts conditions to one normal form: negations only at the leaves, flat chains of `&&` and
//! `||`, and consecutive checks with the same exit merged into one check.
//!
//! For example, `if (!a) return; if (!b) return;` and `if (!(a && b)) return;` evaluate the same
//! things in the same order and leave at the same moment.

use code::language_tables::roles::{Role, made};
use code::program::Tree;

use super::helpers::{expression_of, is_block, replace_node};

pub(super) fn normal(tree: &Tree, language: &str) -> Tree {
    let known = ["java", "javascript", "typescript", "tsx", "c", "cpp", "go", "rust"];
    let mut tree = tree.clone();
    if known.contains(&language) {
        visit(&mut tree);
    }
    tree
}

fn visit(tree: &mut Tree) {
    tree.children.iter_mut().for_each(visit);
    if is_block(tree) {
        merge_checks(tree);
    }
    if is_negation(tree).is_some() || chain_operator(tree).is_some() {
        let plain = positive(tree.clone());
        replace_node(tree, plain);
    }
}

fn is_negation(tree: &Tree) -> Option<&Tree> {
    let unary = tree.is_a(Role::Unary) && tree.children.len() == 2;
    (unary && tree.children[0].is_token("!")).then(|| &tree.children[1])
}

fn chain_operator(tree: &Tree) -> Option<&'static str> {
    if !tree.is_a(Role::Binary) || tree.children.len() != 3 {
        return None;
    }
    ["&&", "||"].into_iter().find(|operator| tree.children[1].is_token(operator))
}

/// Returns the condition with negations moved to the leaves and chains nested to the left.
fn positive(tree: Tree) -> Tree {
    if let Some(operand) = is_negation(&tree) {
        let is_chain = chain_operator(operand).is_some();
        return if is_chain { negative(operand.clone()) } else { tree };
    }
    let Some(operator) = chain_operator(&tree) else { return tree };
    let mut operands = Vec::new();
    flatten(tree, operator, &mut operands);
    chain(operands, operator)
}

fn negative(tree: Tree) -> Tree {
    if let Some(operand) = is_negation(&tree).filter(|one| chain_operator(one).is_some()) {
        return positive(operand.clone());
    }
    let Some(operator) = chain_operator(&tree) else {
        // `!!x` is the same as `x` only where the value is used as a truth value, so it is kept.
        return negated(tree);
    };
    let other = if operator == "&&" { "||" } else { "&&" };
    let mut operands = Vec::new();
    flatten(tree, operator, &mut operands);
    let turned = operands.into_iter().map(negative).collect();
    chain(turned, other)
}

fn negated(tree: Tree) -> Tree {
    let at = tree.bytes.clone();
    let mark = Tree::leaf("!", Some("operator"), at.clone(), "!");
    let mut operand = tree;
    operand.field = Some("argument");
    Tree::node(made::UNARY, None, at, vec![mark, operand])
}

fn flatten(tree: Tree, operator: &str, into: &mut Vec<Tree>) {
    let is_negated_chain = is_negation(&tree).and_then(chain_operator).is_some();
    let tree = if is_negated_chain { positive(tree) } else { tree };
    if chain_operator(&tree) != Some(operator) {
        into.push(tree);
        return;
    }
    let mut children = tree.children.into_iter();
    let (left, _, right) = (children.next(), children.next(), children.next());
    left.into_iter().chain(right).for_each(|side| flatten(side, operator, into));
}

fn chain(operands: Vec<Tree>, operator: &'static str) -> Tree {
    let mut operands = operands.into_iter().map(|mut one| {
        // The grammars use different field names for the operand of `!`.
        if one.is_a(Role::Unary) && one.children.len() == 2 {
            one.children[0].field = Some("operator");
            one.children[1].field = Some("argument");
        }
        one
    });
    let mut tree = operands.next().unwrap_or_else(|| Tree::node("", None, 0..0, Vec::new()));
    for mut right in operands {
        let at = tree.bytes.clone();
        tree.field = Some("left");
        right.field = Some("right");
        let mark = Tree::leaf(operator, Some("operator"), at.clone(), operator);
        tree = Tree::node(made::BINARY, None, at, vec![tree, mark, right]);
    }
    tree
}

/// Turns `if (a) return; if (b) return;` into `if (a || b) return;`.
fn merge_checks(block: &mut Tree) {
    let children = std::mem::take(&mut block.children);
    for child in children {
        // An attribute applies to exactly one statement.
        let is_attributed =
            matches!(&block.children[..], [.., one, _] if one.is_a(Role::AttributeItem));
        if !is_attributed
            && let Some(last) = block.children.last_mut()
            && let Some(merged) = merged(last, &child)
        {
            *last = merged;
            continue;
        }
        block.children.push(child);
    }
}

fn check(statement: &Tree) -> Option<&Tree> {
    let core = expression_of(statement)?;
    let alone = core.child("alternative").is_none() && core.child("initializer").is_none();
    (core.is_a(Role::If) && alone).then_some(core)
}

fn merged(first: &Tree, second: &Tree) -> Option<Tree> {
    let (one, two) = (check(first)?, check(second)?);
    let (then, other) = (one.child("consequence")?, two.child("consequence")?);
    if then.joined_tokens() != other.joined_tokens() || !leaves(then) || then.kind != other.kind {
        return None;
    }
    let (a, b) = (one.child("condition")?.clone(), two.child("condition")?.clone());
    if [&a, &b].iter().any(|one| one.has_node(&|node| node.is_a(Role::LetForm))) {
        return None;
    }
    let mut operands = Vec::new();
    flatten(a, "||", &mut operands);
    flatten(b, "||", &mut operands);
    let condition = chain(operands, "||");
    let mut merged = first.clone();
    let core = match merged {
        _ if merged.is_a(Role::ExpressionStatement) => merged.children.first_mut()?,
        _ => &mut merged,
    };
    replace_node(core.child_mut("condition")?, condition);
    Some(merged)
}

fn leaves(tree: &Tree) -> bool {
    match is_block(tree) {
        true => tree.children.iter().rfind(|child| child.text.is_none()).is_some_and(leaves),
        false => expression_of(tree).unwrap_or(tree).is_a(Role::Leaving),
    }
}
