//! Whose names others can use.

use crate::code::BlockKind;
use crate::code::program::Tree;

use super::units::{File, Unit};

/// Whether code outside of the change set may name the unit.
pub(super) fn is_public(file: &File<'_>, unit: &Unit) -> bool {
    let Some(identity) = &unit.identity else { return false };
    let has = |word: &str| header(&unit.tree).iter().any(|token| token == word);
    let in_container = |kinds: &[BlockKind]| {
        unit.container
            .and_then(|at| file.units[at].identity.as_ref())
            .is_some_and(|outer| kinds.contains(&outer.kind))
    };
    match file.language() {
        "rust" => {
            let of_trait = in_container(&[BlockKind::Trait]) || identity.path.contains(" for ");
            of_trait || visibility(&unit.tree).is_some_and(|said| said == "pub")
        }
        "java" => has("public") || has("protected") || in_container(&[BlockKind::Interface]),
        "csharp" | "scala" | "kotlin" | "swift" | "php" => !has("private"),
        "dart" => !unit.name.starts_with('_'),
        "lua" => !has("local"),
        "zig" => has("pub") || has("export"),
        "elixir" => !(has("defp") || has("defmacrop")),
        "go" => unit.name.starts_with(char::is_uppercase),
        "python" => !unit.name.starts_with('_'),
        "javascript" | "typescript" | "tsx" => script(file, unit, identity.kind),
        "c" | "cpp" => !has("static") && !in_container(&[BlockKind::Namespace]),
        _ => true,
    }
}

fn script(file: &File<'_>, unit: &Unit, kind: BlockKind) -> bool {
    if unit.tree.kind == "export_statement" {
        return true;
    }
    if kind == BlockKind::Method {
        let hidden = header(&unit.tree).iter().any(|token| token == "private");
        return !hidden && !unit.name.starts_with('#');
    }
    // `module.exports = …`, `export { … }`, or an assignment to somebody's property.
    let assigned = unit.tree.kind == "expression_statement";
    let named = |node: &Tree| {
        let words = node.words();
        (words.contains("exports") || words.starts_with("export "))
            && words.split(' ').any(|word| word == unit.name)
    };
    assigned || file.units[0].tree.children.iter().any(named)
}

/// The first words of a definition: modifiers and what it is.
fn header(tree: &Tree) -> Vec<String> {
    let tokens = tree.tokens();
    let words = tokens.iter().filter_map(|token| token.text.as_deref());
    words.take_while(|word| !matches!(*word, "(" | "{" | "=")).map(str::to_owned).collect()
}

fn visibility(tree: &Tree) -> Option<String> {
    match tree.kind {
        "with attributes" => tree.children.last().and_then(visibility),
        _ => tree.children.iter().find(|c| c.kind == "visibility_modifier").map(Tree::words),
    }
}

/// The tree without what says who may see it.
pub(super) fn without_visibility(tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    if tree.kind == "export_statement"
        && tree.children.iter().all(|c| c.is("export") || c.field == Some("declaration"))
        && let Some(inner) = tree.children.pop()
    {
        tree = inner;
    }
    tree.field = None;
    strip(&mut tree);
    tree
}

fn strip(tree: &mut Tree) {
    let said = |node: &Tree| {
        matches!(node.kind, "visibility_modifier" | "accessibility_modifier" | "override_modifier")
            || (node.text.is_some() && matches!(node.kind, "public" | "private" | "protected"))
            || (node.kind == "marker_annotation" && node.words() == "@ Override")
    };
    tree.children.retain(|child| !said(child));
    for child in &mut tree.children {
        if child.field != Some("body") {
            strip(child);
        }
    }
    tree.children.retain(|child| {
        child.text.is_some() || !child.children.is_empty() || child.kind != "modifiers"
    });
}
