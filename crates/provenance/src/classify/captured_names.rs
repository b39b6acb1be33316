//! The names that a function uses from outside, and the names that a caller declares.
//!
//! If a body replaces a call, each of its names must mean the same in both places. What the caller
//! declares (locals, types, labels, imports) must not capture a name in the body.

use std::collections::HashSet;
use std::sync::Arc;

use code::language_tables::roles::Role;
use code::program::{NameKind, Resolution, Tree, is_plain_macro, words_in};

type NameSet = HashSet<Arc<str>>;

#[derive(Clone, Debug, Default)]
pub(super) struct OuterNames {
    values: NameSet,
    /// Every name in the function, including types, paths and members.
    mentioned: NameSet,
}

pub(super) struct DeclaredNames {
    /// Locals, and names that may be locals.
    values: NameSet,
    /// Names of types, and of definitions and imports inside functions.
    others: NameSet,
    /// True if the tree imports names that cannot be listed.
    unknown: bool,
}

impl DeclaredNames {
    pub(super) fn from_tree(tree: &Tree, names: &Resolution) -> Self {
        let mut values: NameSet = names.locals.iter().map(|local| local.name.clone()).collect();
        values.extend(names.fixed.iter().cloned());
        let mut given = Self { values, others: NameSet::new(), unknown: false };
        given.declared(tree, true);
        given
    }

    /// Returns true if a function's body, placed here, would mean something that the tree declares
    /// by one of its names.
    pub(super) fn any_of(&self, taken: &OuterNames) -> bool {
        self.unknown
            || !self.values.is_disjoint(&taken.values)
            || !self.others.is_disjoint(&taken.mentioned)
    }

    fn declared(&mut self, tree: &Tree, outermost: bool) {
        if tree.is_a(Role::LocalImport) {
            self.unknown |=
                tree.mentions("*") || tree.has_node(&|leaf| leaf.is_a(Role::UseWildcard));
            collect_words(tree, &mut self.others);
            return;
        }
        if tree.is_a(Role::TypeParameters) {
            parameter_names(tree, &mut self.others);
        }
        if tree.is_a(Role::HiddenPattern) {
            collect_words(tree, &mut self.others);
        }
        if !outermost && (tree.is_any(&[Role::Definition, Role::Function]) || is_specifier(tree)) {
            // In C, the name that `typedef … name;` defines is in the field `declarator`.
            let fields = ["name", "declarator"].into_iter();
            self.others.extend(fields.filter_map(|field| tree.child(field)?.text.clone()));
        }
        let outermost = outermost && tree.is_a(Role::Wrapping);
        tree.children.iter().for_each(|child| self.declared(child, outermost));
    }
}

/// Returns the names that the body of a function uses from outside. Returns `None` if they are not
/// all known.
pub(super) fn names_taken_from_outside(
    core: &Tree,
    body: &Tree,
    names: &Resolution,
) -> Option<OuterNames> {
    let (mut values, mut fixed) = (NameSet::new(), NameSet::new());
    body.visit(&mut |node| {
        match node.name {
            NameKind::Free => values.extend(node.text.clone()),
            NameKind::Fixed => fixed.extend(node.text.clone()),
            _ => {}
        }
        if is_unknown_macro(node) {
            every_word(node, &mut fixed);
        }
    });
    // The name of a local also occurs in a place where its meaning is not known.
    if names.locals.iter().any(|local| fixed.contains(&local.name)) {
        return None;
    }
    values.extend(fixed);
    let mut mentioned = NameSet::new();
    collect_words(body, &mut mentioned);
    // What a function's own type parameters stand for in a call is only known by type inference.
    let own = type_parameters(core);
    own.is_disjoint(&mentioned).then_some(OuterNames { values, mentioned })
}

/// Returns true if a parameter of a Rust function has a type that contains a type parameter. A call
/// of its method then means the method of a trait, although the type itself may have another one.
pub(super) fn takes_type_parameter(core: &Tree) -> bool {
    let mut mentioned = NameSet::new();
    core.child("parameters").into_iter().for_each(|list| collect_words(list, &mut mentioned));
    // A name in lower case is the name of a lifetime.
    let own = type_parameters(core);
    own.iter().any(|name| name.starts_with(char::is_uppercase) && mentioned.contains(name))
}

fn type_parameters(core: &Tree) -> NameSet {
    let mut own = NameSet::new();
    let lists = core.children.iter().filter(|child| child.is_a(Role::TypeParameters));
    lists.for_each(|list| parameter_names(list, &mut own));
    own
}

/// Returns true if the statements of a body may be moved into another function.
///
/// The body must not contain a part of an outer loop, `switch`, definition or statement, and must
/// not declare names in a way that this program cannot see.
pub(super) fn is_whole(body: &Tree, language: &str) -> bool {
    let part = |node: &Tree| {
        let parts = [Role::Definition, Role::Preprocessor, Role::LocalImport, Role::HiddenPattern];
        node.is_any(&parts) || is_specifier(node)
    };
    // `"use strict"`, or the documentation string of a Python function.
    let prologue = matches!(language, "javascript" | "typescript" | "tsx" | "python")
        && body.children.iter().find(|child| !child.is_token("{")).is_some_and(|first| {
            first.is_a(Role::ExpressionStatement)
                && first.children.first().is_some_and(|value| value.is_a(Role::String))
        });
    !prologue && !body.has_node(&part) && !jumps_out(body, Inside::default())
}

pub(super) fn may_leave(body: &Tree) -> bool {
    body.has_node(&is_unknown_macro)
}

fn is_unknown_macro(node: &Tree) -> bool {
    node.is_a(Role::MacroInvocation)
        && !is_plain_macro(node.child("macro").and_then(|name| name.text.as_deref()))
}

/// Collects the words of all tokens, including those inside texts, which may hold names too.
fn every_word(tree: &Tree, found: &mut NameSet) {
    found.extend(tree.texts().into_iter().flat_map(words_in).map(Arc::from));
}

#[derive(Clone, Copy, Default)]
struct Inside {
    a_loop: bool,
    a_switch: bool,
}

fn jumps_out(tree: &Tree, inside: Inside) -> bool {
    let inside = match tree.is_a(Role::Function) {
        true => Inside::default(),
        false => Inside {
            a_loop: inside.a_loop || tree.is_a(Role::Loop),
            a_switch: inside.a_switch || tree.is_a(Role::Switch),
        },
    };
    let loose = match tree {
        _ if tree.is_a(Role::Break) => is_labelled(tree) || !(inside.a_loop || inside.a_switch),
        _ if tree.is_a(Role::Continue) => is_labelled(tree) || !inside.a_loop,
        _ => tree.is_a(Role::SwitchPart) && !inside.a_switch,
    };
    loose || tree.children.iter().any(|child| jumps_out(child, inside))
}

fn is_labelled(jump: &Tree) -> bool {
    match jump.is_a(Role::JumpStatement) {
        true => jump.tokens().len() > 1 + usize::from(jump.mentions(";")),
        false => jump.children.iter().any(|child| child.is_a(Role::JumpLabel)),
    }
}

/// Returns true if the node declares a type in C or C++, such as `struct a { int b; }`.
fn is_specifier(node: &Tree) -> bool {
    node.is_a(Role::Specifier) && node.child("body").is_some()
}

fn collect_words(tree: &Tree, found: &mut NameSet) {
    let names = tree.nodes_with(|leaf| leaf.is_any(&[Role::Name, Role::LabelName])).into_iter();
    found.extend(names.filter_map(|name| name.text.clone()));
}

fn parameter_names(list: &Tree, found: &mut NameSet) {
    for parameter in &list.children {
        let own = parameter.tokens().into_iter().find(|one| one.is_a(Role::Name));
        found.extend(own.and_then(|leaf| leaf.text.clone()));
    }
}
