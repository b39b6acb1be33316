//! Decides whether a call means the helper whose name it uses.
//!
//! A name can be declared more than once: overloaded, in another type, or in another file. Then the
//! text of a call does not show which function is meant, and the helper's body must not replace the
//! call.

use std::collections::HashMap;

use code::BlockKind;

use super::helpers::{Helper, parameter_count};
use super::pairs::Id;
use super::public::{has_base, is_script_module};
use super::statements::is_read_below;
use super::units::{File, Unit, all_units};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallForms {
    /// By its name alone: `h()`.
    pub bare: bool,
    /// On the unit's own object or type: `this.h()`, `self.h()`, `Self::h()`.
    pub own: bool,
    /// On the type that declares it: `Util.h()`.
    pub owner: Option<String>,
    /// On any object, because no other function in the change set has the name.
    pub any: bool,
}

/// The functions of a change, by the language of their file and by their name.
pub(super) type FunctionsByName = HashMap<(&'static str, String), Vec<Id>>;

pub(super) fn functions_by_name(files: &[File<'_>]) -> FunctionsByName {
    let mut named = FunctionsByName::new();
    for (id, file, unit) in all_units(files).filter(|(.., unit)| unit.is_function()) {
        named.entry((file.language(), unit.name.clone())).or_default().push(id);
    }
    named
}

/// Returns how `caller` can call the helper. Returns `None` if a call may also mean another
/// function.
pub(super) fn ways(
    files: &[File<'_>],
    named: &FunctionsByName,
    caller: Id,
    (id, helper): &(Id, Helper),
) -> Option<CallForms> {
    let file = &files[id.0];
    let language = file.language();
    let all = named.get(&(language, file.units[id.1].name.clone()));
    let namesakes = || all.into_iter().flatten().filter(|other| *other != id);
    let declared_in = owner(file, id.1);
    // In these languages, a method can be overloaded, and can be called as `h()` inside its class.
    let has_classes = matches!(language, "java" | "cpp");
    let is_ambiguous = namesakes().any(|other| {
        let other_owner = owner(&files[other.0], other.1);
        let same_place = other.0 == id.0 && other_owner == declared_in;
        let count = parameter_count(&files[other.0].units[other.1].tree, language);
        let is_overload =
            has_classes && count.is_some_and(|count| count != helper.parameters.len());
        // If neither function is in a container, `h()` means the one in the caller's file. A caller
        // in a third file may mean either.
        let are_free = other_owner.is_none() && declared_in.is_none();
        let is_nearer = are_free && (caller.0 == other.0 || caller.0 != id.0);
        (same_place && !is_overload) || is_nearer
    });
    if is_ambiguous {
        return None;
    }
    let callers_file = &files[caller.0];
    if means_other_names((file, id.1), (callers_file, caller.1)) {
        return None;
    }
    let own_type = own_type(callers_file, caller.1);
    let any = namesakes().next().is_none();
    let Some(owner) = declared_in else {
        return Some(CallForms { bare: true, any, ..CallForms::default() });
    };
    let name = type_name(&file.units[owner].name);
    let own = own_type.is_some_and(|own| type_name(&callers_file.units[own].name) == name);
    let is_module = is_module(&file.units[owner]);
    let is_inside = id.0 == caller.0 && containers(callers_file, caller.1).any(|one| one == owner);
    let bare = is_inside && if helper.constructor { own } else { is_module || has_classes };
    Some(CallForms { bare, own: own && !is_module, owner: Some(name.to_owned()), any })
}

/// Returns true if a name in the helper may mean something else in its caller: one of them is in a class
/// that inherits members, in another namespace, in a class of a script, whose code is strict, or behind
/// another macro.
fn means_other_names(
    (file, helper): (&File<'_>, usize),
    (callers_file, caller): (&File<'_>, usize),
) -> bool {
    let all = |file: &File<'_>, unit: usize| -> Vec<String> {
        containers(file, unit).map(|at| file.units[at].name.clone()).collect()
    };
    if all(file, helper) == all(callers_file, caller) {
        // A `#define` between the two functions may give a name another meaning.
        let (first, last) = (helper.min(caller), helper.max(caller));
        return std::ptr::eq(file, callers_file)
            && matches!(file.language(), "c" | "cpp")
            && file.units[first..last].iter().any(|unit| is_read_below(&unit.tree));
    }
    let sides = [(file, helper), (callers_file, caller)];
    let any = |test: &dyn Fn(&File<'_>, &Unit) -> bool| {
        sides.iter().any(|(file, at)| containers(file, *at).any(|at| test(file, &file.units[at])))
    };
    match file.language() {
        "java" if containers(callers_file, caller).count() > 1 => true,
        "java" | "cpp" => any(&|_, unit| has_base(unit)),
        "typescript" | "tsx" => any(&|_, unit| is_module(unit)),
        "javascript" => any(&|file, _| !is_script_module(file)),
        _ => false,
    }
}

/// Returns the containers around a unit, innermost first.
fn containers<'f>(file: &'f File<'_>, unit: usize) -> impl Iterator<Item = usize> + 'f {
    let outer = |at: usize| file.units[at].container.filter(|outer| *outer != 0);
    std::iter::successors(outer(unit), move |at| outer(*at))
}

fn owner(file: &File<'_>, unit: usize) -> Option<usize> {
    containers(file, unit).next()
}

/// Returns the innermost container of a unit, unless that is a module.
fn own_type(file: &File<'_>, unit: usize) -> Option<usize> {
    owner(file, unit).filter(|at| !is_module(&file.units[*at]))
}

fn is_module(unit: &Unit) -> bool {
    matches!(unit.block_kind(), Some(BlockKind::Module | BlockKind::Namespace))
}

/// Returns the name of the type that a container adds methods to: `Type` for `impl Trait for Type`.
fn type_name(container: &str) -> &str {
    container.rsplit(" for ").next().unwrap_or(container)
}
