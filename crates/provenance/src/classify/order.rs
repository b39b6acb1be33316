//! Decides whether the members of a container may be in another order.

use std::collections::HashMap;

use code::BlockKind;
use code::language_tables::roles::Role;
use code::program::Tree;

use super::pairs::{Id, UnitPairs};
use super::public::is_asked_for;
use super::statements::{OrderMeaning, is_read_below};
use super::units::{ContainerMember, File, Unit};

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
    fn by_key(list: &[Element]) -> HashMap<&str, &Element> {
        list.iter().map(|element| (&*element.key, element)).collect()
    }
    let (in_old, in_new) = (by_key(&old), by_key(&new));
    let keys = |list: &'_ [Element], other: &HashMap<&str, &Element>| -> Vec<String> {
        let keys = list.iter().map(|element| &element.key);
        keys.filter(|key| other.contains_key(key.as_str())).cloned().collect()
    };
    let (old, new) = (keys(&old, &in_new), keys(&new, &in_old));
    if old.iter().any(|key| in_old[key.as_str()].statements != in_new[key.as_str()].statements) {
        return ListChange::Changed;
    }
    if old == new {
        return ListChange::Same;
    }
    // The members that are executed, and for each other one, how many members that it must not
    // move past come before it.
    let run = |keys: &[String], meaning: &dyn Fn(&str) -> OrderMeaning| {
        let (mut executed, mut places, mut borders) = (Vec::new(), HashMap::new(), 0);
        for key in keys {
            let meaning = meaning(key);
            if meaning < OrderMeaning::Ordered {
                let is_free = meaning == OrderMeaning::Free;
                places.insert(key.clone(), if is_free { borders } else { executed.len() });
                continue;
            }
            executed.push(key.clone());
            if meaning == OrderMeaning::Border {
                borders = executed.len();
            }
        }
        (executed, places)
    };
    // If the old version of a member is stricter, the order counts as changed.
    let strictest = |key: &str| in_old[key].meaning.max(in_new[key].meaning);
    let is_free =
        !matches!(before.0.language(), "c" | "cpp") || keeps_calls_behind(before.0, after.0);
    match is_free && run(&old, &strictest) == run(&new, &|key| in_new[key].meaning) {
        true => ListChange::Harmless,
        false => ListChange::Changed,
    }
}

/// A member of a container, under a key that is comparable between the two sides.
struct Element {
    key: String,
    meaning: OrderMeaning,
    /// The statements in which it is, outermost first.
    statements: Vec<usize>,
}

/// Returns the members of a container, with those units that both sides share.
fn elements(side: (&File<'_>, Id), shared: &dyn Fn(Id) -> Option<Id>) -> Vec<Element> {
    let (file, (at, unit)) = side;
    let owner = &file.units[unit];
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut statements: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for member in &owner.members {
        let (words, meaning) = match member {
            ContainerMember::Unit(unit) => {
                if let Some(id) = shared((at, *unit)) {
                    let meaning = weight(file, &file.units[*unit], owner);
                    let (key, statements) = (format!("unit {} {}", id.0, id.1), statements.clone());
                    found.push(Element { key, meaning, statements });
                }
                continue;
            }
            ContainerMember::End => {
                statements.pop();
                continue;
            }
            ContainerMember::Begin(meaning) => ("", *meaning),
            ContainerMember::Other(words, meaning) => (words.as_str(), *meaning),
        };
        let count = seen.entry(words).or_default();
        let (key, around) = (format!("other {count} {words}"), statements.clone());
        found.push(Element { key, meaning, statements: around });
        if matches!(member, ContainerMember::Begin(_)) {
            statements.push(*count);
        }
        *count += 1;
    }
    found
}

fn weight(file: &File<'_>, unit: &Unit, owner: &Unit) -> OrderMeaning {
    use BlockKind::{Class, Enum, Function, Interface, Macro, Method, Struct, Type, Union};
    let Some(kind) = unit.block_kind() else { return OrderMeaning::Ordered };
    let twins = owner.members.iter().filter(
        |member| matches!(member, ContainerMember::Unit(at) if file.units[*at].name == unit.name),
    );
    let unique = twins.count() == 1;
    let callable = matches!(kind, Function | Method);
    if is_read_below(&unit.tree) {
        return OrderMeaning::Border;
    }
    let reads_order = is_asked_for(file, owner) || has_metaclass(owner);
    let is_laid_out = file.language() == "cpp"
        && ["virtual", "override", "template"].iter().any(|word| unit.tree.mentions(word));
    if reads_order || is_laid_out || is_asked_for(file, unit) || is_test(&unit.name) {
        return OrderMeaning::Ordered;
    }
    match file.language() {
        "rust" if kind != Macro => OrderMeaning::Free,
        "go" if callable && unit.name != "init" => OrderMeaning::Free,
        "go" if matches!(kind, Type | Struct | Interface) => OrderMeaning::Free,
        "java" if callable || matches!(kind, Class | Interface | Enum) => OrderMeaning::Free,
        "c" if callable || matches!(kind, Struct | Union | Enum | Type) => OrderMeaning::Free,
        // In C++, a function declared after a call is not an overload for that call, so nothing may
        // change places with a function, except methods with a unique name.
        "cpp" if kind == Method && unique => OrderMeaning::Plain,
        "cpp" if matches!(kind, Struct | Class | Union | Enum | Type) => OrderMeaning::Plain,
        "javascript" | "typescript" | "tsx" => script_weight(unit, kind, unique),
        "python" if callable && unique && is_plain_python(file, &unit.tree) => OrderMeaning::Plain,
        "csharp" | "kotlin" | "swift" | "dart" | "zig" | "php" if callable && unique => {
            OrderMeaning::Free
        }
        _ => OrderMeaning::Ordered,
    }
}

/// Returns true for the name of a test: tests run in the order in which they stand.
fn is_test(name: &str) -> bool {
    ["test", "Test", "Benchmark", "Example"].iter().any(|start| name.starts_with(start))
}

fn has_metaclass(owner: &Unit) -> bool {
    let bases = owner.tree.child("superclasses");
    bases.is_some_and(|list| list.has_node(&|node| node.is_a(Role::SpecialArgument)))
}

/// Returns true if no definition of a C or C++ file changed places with one that it uses. Without a
/// prototype, a call above the definition declares another function.
fn keeps_calls_behind(before: &File<'_>, after: &File<'_>) -> bool {
    fn places<'f>(file: &'f File<'_>) -> HashMap<&'f str, usize> {
        file.units.iter().enumerate().map(|(at, unit)| (&*unit.name, at)).collect()
    }
    let (old, new) = (places(before), places(after));
    let is_earlier =
        |all: &HashMap<&str, usize>, one: &str, other: &str| Some(all.get(one)? < all.get(other)?);
    before.units.iter().filter(|unit| unit.identity.is_some()).all(|caller| {
        let used = caller.tree.texts().into_iter().filter(|name| old.contains_key(name));
        used.into_iter().all(|name| {
            let is_after = is_earlier(&new, name, &caller.name);
            is_after.is_none() || is_earlier(&old, name, &caller.name) == is_after
        })
    })
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

/// Returns true for a function whose definition evaluates nothing that the order changes: it has no
/// decorator, no annotation with a name of the file, and no default other than a literal.
fn is_plain_python(file: &File<'_>, tree: &Tree) -> bool {
    let simple = |value: &Tree| value.is_a(Role::PlainDefault);
    let defaults =
        |node: &Tree| node.is_a(Role::DefaultParameter) && !node.child("value").is_some_and(simple);
    let heads = [tree.child("parameters"), tree.child("return_type")].into_iter().flatten();
    let mut types = heads.flat_map(|head| head.nodes_with(|node| node.field == Some("type")));
    let returns = tree.child("return_type");
    let is_of_file = |node: &Tree| file.units.iter().any(|one| node.mentions(&one.name));
    let is_called = |node: &Tree| node.has_node(&|part| part.is_a(Role::Call));
    let mut types = types.by_ref().chain(returns);
    tree.is_a(Role::FunctionDefinition)
        && !types.any(|one| is_of_file(one) || is_called(one))
        && tree.child("parameters").is_none_or(|list| !list.has_node(&defaults))
}
