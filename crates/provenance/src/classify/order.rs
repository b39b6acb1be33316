//! Decides whether the members of a container may be in another order.

use std::collections::HashMap;

use code::BlockKind;
use code::language_tables::framework_names::DIRECTIVES_FOR_TEXT_BELOW;
use code::language_tables::roles::Role;
use code::program::Tree;

use super::pairs::{Id, UnitPairs};
use super::units::{ContainerMember, File, Unit};

// The variants are ordered from loosest to strictest; the code compares them.
/// What the position of a member among the others means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OrderMeaning {
    Free,
    /// The position has no meaning among members of this class, but the member must not move past
    /// an `Ordered` one.
    Plain,
    /// The member is executed, or may be, at its position.
    Ordered,
}

/// How the members of a container, or the imports of a file, changed as a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListChange {
    Same,
    /// The order changed, but only where it has no meaning, or the imports follow definitions that
    /// moved.
    Harmless,
    Changed,
}

pub(super) fn order(
    before: (&File<'_>, Id),
    after: (&File<'_>, Id),
    pairs: &UnitPairs,
) -> ListChange {
    let old = elements(before, &|id| pairs.after_of.get(&id).copied());
    let new = elements(after, &|id| pairs.before_of.contains_key(&id).then_some(id));
    let (in_old, in_new): (HashMap<_, _>, HashMap<_, _>) =
        (old.iter().cloned().collect(), new.iter().cloned().collect());
    let keys = |list: &[(String, OrderMeaning)], other: &HashMap<String, OrderMeaning>| {
        let keys = list.iter().map(|(key, _)| key).filter(|key| other.contains_key(*key));
        keys.cloned().collect::<Vec<String>>()
    };
    let (old, new) = (keys(&old, &in_new), keys(&new, &in_old));
    if old == new {
        return ListChange::Same;
    }
    // The ordered members, and for each plain one, how many ordered ones come before it.
    let run = |keys: &[String], meaning: &dyn Fn(&String) -> OrderMeaning| {
        let (mut barriers, mut plain) = (Vec::new(), HashMap::new());
        for key in keys {
            match meaning(key) {
                OrderMeaning::Ordered => barriers.push(key.clone()),
                OrderMeaning::Plain => drop(plain.insert(key.clone(), barriers.len())),
                OrderMeaning::Free => {}
            }
        }
        (barriers, plain)
    };
    let units = |keys: &[String]| -> Vec<String> {
        keys.iter().filter(|key| key.starts_with("unit")).cloned().collect()
    };
    // If the old version of a member is stricter, the order counts as changed.
    let strictest = |key: &String| in_old[key].max(in_new[key]);
    match run(&old, &strictest) == run(&new, &|key| in_new[key]) {
        true if units(&old) == units(&new) => ListChange::Same,
        true => ListChange::Harmless,
        false => ListChange::Changed,
    }
}

/// Returns the members that both sides share, under comparable keys, with what their order means.
fn elements(
    side: (&File<'_>, Id),
    shared: &dyn Fn(Id) -> Option<Id>,
) -> Vec<(String, OrderMeaning)> {
    let (file, (at, unit)) = side;
    let owner = &file.units[unit];
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    for member in &owner.members {
        match member {
            ContainerMember::Unit(unit) => {
                if let Some(id) = shared((at, *unit)) {
                    let weight = weight(file, &file.units[*unit], owner);
                    found.push((format!("unit {} {}", id.0, id.1), weight));
                }
            }
            ContainerMember::Other(words) => {
                let count = seen.entry(words).or_default();
                found.push((format!("other {count} {words}"), other_weight(file.language())));
                *count += 1;
            }
        }
    }
    found
}

fn other_weight(language: &str) -> OrderMeaning {
    match language {
        "rust" | "go" | "c" | "cpp" | "zig" => OrderMeaning::Free,
        _ => OrderMeaning::Ordered,
    }
}

fn weight(file: &File<'_>, unit: &Unit, owner: &Unit) -> OrderMeaning {
    use BlockKind::{Class, Enum, Function, Interface, Macro, Method, Struct, Type, Union};
    let Some(kind) = unit.block_kind() else { return OrderMeaning::Ordered };
    let twins = owner.members.iter().filter(
        |member| matches!(member, ContainerMember::Unit(at) if file.units[*at].name == unit.name),
    );
    let unique = twins.count() == 1;
    let callable = matches!(kind, Function | Method);
    if reads_on_from_above(file) {
        return OrderMeaning::Ordered;
    }
    match file.language() {
        "rust" if kind != Macro => OrderMeaning::Free,
        "go" if callable && unit.name != "init" => OrderMeaning::Free,
        "go" if matches!(kind, Type | Struct | Interface) => OrderMeaning::Free,
        "java" if callable || matches!(kind, Class | Interface | Enum) => OrderMeaning::Free,
        "c" if callable || matches!(kind, Struct | Union | Enum | Type) => OrderMeaning::Free,
        // In C++, a function declared after a call is not an overload for that call, so of the
        // functions only methods with a unique name may change places.
        "cpp" if kind == Method && unique => OrderMeaning::Free,
        "cpp" if matches!(kind, Struct | Class | Union | Enum | Type) => OrderMeaning::Free,
        "javascript" | "typescript" | "tsx" => script_weight(unit, kind, unique),
        "python" if callable && unique && is_plain_python(&unit.tree) => OrderMeaning::Plain,
        "csharp" | "kotlin" | "swift" | "dart" | "zig" | "php" if callable && unique => {
            OrderMeaning::Free
        }
        _ => OrderMeaning::Ordered,
    }
}

/// Returns true if earlier text in a file decides how later text is read, for example because a
/// macro is defined twice.
fn reads_on_from_above(file: &File<'_>) -> bool {
    matches!(file.language(), "rust" | "c" | "cpp")
        && DIRECTIVES_FOR_TEXT_BELOW.iter().any(|word| file.text.contains(word))
}

fn script_weight(unit: &Unit, kind: BlockKind, unique: bool) -> OrderMeaning {
    let decorated = unit
        .tree
        .has_node(&|node| node.is_a(Role::Decorator) || node.is_a(Role::ComputedPropertyName));
    if !unique || decorated {
        return OrderMeaning::Ordered;
    }
    match kind {
        BlockKind::Method | BlockKind::Interface | BlockKind::Type => OrderMeaning::Free,
        BlockKind::Function if is_hoisted(&unit.tree) => OrderMeaning::Free,
        BlockKind::Function | BlockKind::Constant | BlockKind::Variable
            if holds_function(&unit.tree) =>
        {
            OrderMeaning::Plain
        }
        _ => OrderMeaning::Ordered,
    }
}

/// Returns true for a function such as `function f() {}`, which is valid in its whole scope.
fn is_hoisted(tree: &Tree) -> bool {
    tree.is_a(Role::HoistedFunction)
        || tree.is_a(Role::Export) && tree.child("declaration").is_some_and(is_hoisted)
}

/// Returns true for `const f = () => …`: evaluating it has no effect.
fn holds_function(tree: &Tree) -> bool {
    match tree {
        _ if tree.is_a(Role::Export) => tree.child("declaration").is_some_and(holds_function),
        _ if tree.is_a(Role::LexicalDeclaration) => tree
            .children
            .iter()
            .filter(|child| child.is_a(Role::VariableDeclarator))
            .all(|one| one.child("value").is_some_and(|value| value.is_a(Role::FunctionValue))),
        _ => false,
    }
}

/// Returns true for a function whose definition evaluates nothing: it has no decorator, no
/// annotation, and no default other than a literal.
fn is_plain_python(tree: &Tree) -> bool {
    let simple = |value: &Tree| value.is_a(Role::PlainDefault);
    let defaults =
        |node: &Tree| node.is_a(Role::DefaultParameter) && !node.child("value").is_some_and(simple);
    tree.is_a(Role::FunctionDefinition)
        && tree.child("parameters").is_none_or(|list| !list.has_node(&defaults))
}
