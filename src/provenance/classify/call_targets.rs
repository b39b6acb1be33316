//! Decides whether a call in a unit means the helper that has its name.
//!
//! A name can be declared more than once: overloaded, in another type, or in another file. Then the
//! text of a call does not show which function is meant, and the helper's body must not replace it.

use std::collections::HashMap;

use crate::code::BlockKind;

use super::helpers::{Helper, parameter_count};
use super::pairs::Id;
use super::units::{File, Unit, all_units};

/// The ways in which a unit can call a helper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallForms {
    /// By its name alone: `h()`.
    pub bare: bool,
    /// On its own object or type: `this.h()`, `self.h()`, `Self::h()`.
    pub own: bool,
    /// On the type that declares it: `Util.h()`.
    pub owner: Option<String>,
    /// On any object, because no other function in the change set has the name.
    pub any: bool,
}

/// The functions on one side of a change, by language and name.
#[derive(Debug, Default)]
pub(super) struct FunctionsByName(HashMap<(&'static str, String), Vec<Id>>);

impl FunctionsByName {
    pub(super) fn of(files: &[File<'_>]) -> Self {
        let mut named = Self::default();
        for (id, file, unit) in all_units(files).filter(|(.., unit)| unit.is_function()) {
            named.0.entry((file.language(), unit.name.clone())).or_default().push(id);
        }
        named
    }
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
    let all = named.0.get(&(language, file.units[id.1].name.clone()));
    let twins = || all.into_iter().flatten().filter(|twin| *twin != id);
    let here = owner(file, id.1);
    // In these languages, a method can be overloaded, and can be called as `h()` inside its class.
    let has_classes = matches!(language, "java" | "cpp" | "csharp" | "kotlin" | "scala" | "swift");
    let confused = twins().any(|twin| {
        let same_place = twin.0 == id.0 && owner(&files[twin.0], twin.1) == here;
        let free = owner(&files[twin.0], twin.1).is_none() && here.is_none();
        let count = parameter_count(&files[twin.0].units[twin.1].tree, language);
        let apart = has_classes && count.is_some_and(|count| count != helper.parameters.len());
        let nearer = free && (caller.0 == twin.0 || caller.0 != id.0);
        (same_place && !apart) || nearer
    });
    if confused {
        return None;
    }
    let callers_file = &files[caller.0];
    let own_type = own_type(callers_file, caller.1);
    let any = twins().next().is_none();
    let Some(owner) = here else {
        return Some(CallForms { bare: true, any, ..CallForms::default() });
    };
    let name = type_name(&file.units[owner].name);
    let own = own_type.is_some_and(|own| type_name(&callers_file.units[own].name) == name);
    let is_module = is_module(&file.units[owner]);
    let reached = id.0 == caller.0 && around(callers_file, caller.1).any(|one| one == owner);
    let bare = match helper.constructor {
        true => reached && own,
        false => reached && (is_module || has_classes),
    };
    Some(CallForms { bare, own: own && !is_module, owner: Some(name.to_owned()), any })
}

/// Returns the containers around a unit, innermost first.
fn around<'f>(file: &'f File<'_>, unit: usize) -> impl Iterator<Item = usize> + 'f {
    let outer = |at: usize| file.units[at].container.filter(|outer| *outer != 0);
    std::iter::successors(outer(unit), move |at| outer(*at))
}

fn owner(file: &File<'_>, unit: usize) -> Option<usize> {
    around(file, unit).next()
}

fn own_type(file: &File<'_>, unit: usize) -> Option<usize> {
    owner(file, unit).filter(|at| !is_module(&file.units[*at]))
}

fn is_module(unit: &Unit) -> bool {
    let kind = unit.identity.as_ref().map(|identity| identity.kind);
    matches!(kind, Some(BlockKind::Module | BlockKind::Namespace))
}

/// Returns the name of the type that a container adds methods to: `Type` for `impl Trait for Type`.
fn type_name(container: &str) -> &str {
    container.rsplit(" for ").next().unwrap_or(container)
}
