//! Decides what a statement outside of definitions means: whether it is an import, and what its
//! position means.

use code::language_tables::roles::Role;
use code::program::Tree;

// The variants are ordered from loosest to strictest; the code compares them.
/// What the position of a member among the others means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OrderMeaning {
    /// The member may stand anywhere, as long as it does not move past a `Border`.
    Free,
    /// The member may change places with others of this class, but must not move past an `Ordered`
    /// one.
    Plain,
    /// The member is executed, or may be, at its position.
    Ordered,
    /// Decides how the text below is read: a macro, `#if`, `private:`. Nothing may move past it.
    Border,
}

pub(super) fn is_import(node: &Tree) -> bool {
    is_module_elsewhere(node) || node.is_a(Role::Import)
}

/// Returns true for `mod a;`, whose body is another file.
pub(super) fn is_module_elsewhere(node: &Tree) -> bool {
    node.is_a(Role::ModItem) && node.child("body").is_none()
}

/// Returns what the position of a statement or an import means.
pub(super) fn meaning_of_statement(statement: &Tree, language: &str) -> OrderMeaning {
    if is_read_below(statement) {
        return OrderMeaning::Border;
    }
    match language {
        "c" | "cpp" if statement.is_any(&[Role::Declaration, Role::Field]) => OrderMeaning::Free,
        "c" | "cpp" => OrderMeaning::Border,
        "php" if is_import(statement) => OrderMeaning::Border,
        // It runs the package.
        "go" if statement.is_a(Role::ImportSpec) && statement.mentions("_") => {
            OrderMeaning::Ordered
        }
        "rust" | "go" | "zig" => OrderMeaning::Free,
        "java" | "csharp" | "swift" | "kotlin" | "dart" | "haskell" if is_import(statement) => {
            OrderMeaning::Free
        }
        _ => OrderMeaning::Ordered,
    }
}

/// Returns true if the code decides how the text below it is read, for example because a macro is
/// defined twice.
pub(super) fn is_read_below(tree: &Tree) -> bool {
    tree.has_node(&|node| {
        node.is_a(Role::ReadBelow)
            || node.is_a(Role::AttributeItem) && node.mentions("macro_use")
            || node.is_a(Role::MacroInvocation) && node.has_token_as("macro", "include")
    })
}
