//! Decides whether two trees do the same thing. They do if they are equal node by node, except for
//! locals that are renamed one to one and for declarations whose new name is known.

use std::collections::{HashMap, HashSet};

use code::language_tables::roles::Role;
use code::program::{NameKind, Resolution, Tree};

/// The declarations that have another name now.
#[derive(Clone, Debug, Default)]
pub(super) struct RenamedDeclarations {
    /// The new name of each.
    pub names: HashMap<String, String>,
    /// The names of the types and modules that contain them, by which they are called: `Tax` in
    /// `Tax::total()`.
    pub owners: HashSet<String>,
}

/// The words by which a type refers to its own members, as in `self.total()`.
const OWN: [&str; 7] = ["self", "this", "$this", "cls", "static", "Self", "crate"];
/// What stands between an object or a path and the name of its member.
const MEMBER_SIGNS: [&str; 5] = [".", "->", "::", "?.", "?->"];
/// The nodes that declare the name in them.
const DECLARING: [Role; 7] = [
    Role::Member,
    Role::Field,
    Role::Function,
    Role::FunctionDeclarator,
    Role::Definition,
    Role::Declarator,
    Role::ArrayDeclarator,
];

#[derive(Clone)]
pub(super) struct Resolved {
    pub tree: Tree,
    pub names: Resolution,
}

impl Resolved {
    pub(super) fn of_tree(tree: &Tree, language: &str) -> Self {
        let mut tree = tree.clone();
        let names = code::program::resolve(&mut tree, language);
        Self { tree, names }
    }

    /// Returns true if a name stands for something else than a local, or if the code may use the name
    /// without writing it: the markup of JSX calls `React` or `h`, and `super()` in Python uses
    /// `__class__`.
    fn uses_name(&self, name: &str) -> bool {
        let is_type = |node: &Tree| node.name == NameKind::Type && node.is_token(name);
        let is_unwritten = match name {
            // What JSX calls without naming it: the functions of React and Preact, and `F` of older setups.
            "React" | "h" | "F" | "Fragment" => self.tree.has_node(&|node| node.is_a(Role::Jsx)),
            // In a method of Python this name stands for the class, although nothing declares it.
            "__class__" => true,
            _ => false,
        };
        is_unwritten || self.names.mentions(name) || self.tree.has_node(&is_type)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Alike {
    /// Renamed locals, with the old and the new name.
    pub locals: Vec<(String, String)>,
    /// Renamed declarations that the code uses, with the old and the new name.
    pub uses: Vec<(String, String)>,
}

/// Returns `None` if the two trees may do different things.
pub(super) fn compare_trees(
    before: &Resolved,
    after: &Resolved,
    renames: &RenamedDeclarations,
) -> Option<Alike> {
    let (new_locals, old_locals, uses) = Default::default();
    let receivers = before.tree.child("receiver").into_iter().flat_map(Tree::texts).collect();
    let mut walk = TreeComparison { renames, receivers, new_locals, old_locals, uses };
    walk.are_alike(&before.tree, &after.tree).then_some(())?;
    let mut alike = Alike::default();
    for (old, new) in &walk.new_locals {
        let (from, to) =
            (before.names.locals.get(*old as usize)?, after.names.locals.get(*new as usize)?);
        if from.name == to.name {
            continue;
        }
        let may = before.names.may_rename(*old) && after.names.may_rename(*new);
        // The new name may only stand for locals in the old tree, and the old name only for locals
        // in the new tree.
        if !may || before.uses_name(&to.name) || after.uses_name(&from.name) {
            return None;
        }
        alike.locals.push((from.name.to_string(), to.name.to_string()));
    }
    alike.locals.sort();
    alike.locals.dedup();
    alike.uses = walk.uses.into_iter().collect();
    alike.uses.sort();
    Some(alike)
}

struct TreeComparison<'a> {
    renames: &'a RenamedDeclarations,
    /// The words in the receiver of a Go method.
    receivers: HashSet<&'a str>,
    /// For each local of the old tree, the local of the new tree that it became.
    new_locals: HashMap<u32, u32>,
    /// The reverse of `new_locals`, so that no two locals become one.
    old_locals: HashMap<u32, u32>,
    uses: HashSet<(String, String)>,
}

impl<'a> TreeComparison<'a> {
    /// Returns true if two nodes are the same but for renamed locals.
    fn are_alike(&mut self, before: &'a Tree, after: &Tree) -> bool {
        if !same_kind(before, after) || before.children.len() != after.children.len() {
            return false;
        }
        match (&before.text, &after.text) {
            (Some(old), Some(new)) => self.are_tokens_alike(before, after, old, new),
            (None, None) => {
                before.field == after.field
                    && has_same_gaps(before, after)
                    && self.only_own_names_changed(before, after)
                    && before
                        .children
                        .iter()
                        .zip(&after.children)
                        .all(|(b, a)| self.are_alike(b, a))
            }
            _ => false,
        }
    }

    /// Returns true if no renamed declaration has its new name where the name may be that of something
    /// else: the member of another object, a key, or a named argument. With `total` renamed to `sum`,
    /// `total(order)` may become `sum(order)`, but `order.total` may not become `order.sum`.
    fn only_own_names_changed(&self, before: &Tree, after: &Tree) -> bool {
        let pairs = before.children.iter().zip(&after.children).enumerate();
        let mut renamed = pairs.filter(|(_, (old, new))| {
            let local = old.local().is_some() && new.local().is_some();
            old.text != new.text
                && !local
                && old.text.as_deref().is_some_and(|old| self.is_renamed(old))
        });
        renamed.all(|(at, (name, _))| {
            let is_sign = |one: &Tree| MEMBER_SIGNS.iter().any(|sign| one.is_token(sign));
            if before.children[..at].iter().any(is_sign) {
                return self.is_own(&before.children[0]);
            }
            // The grammar of Kotlin gives the name of a function no field.
            let is_declared = before.is_any(&DECLARING)
                && matches!(name.field, Some("name" | "declarator" | "property"))
                || before.is_a(Role::Function) && name.field.is_none();
            // Java and Kotlin call an own method without `this`.
            let is_called =
                before.is_a(Role::MethodInvocation) || before.is_a(Role::Call) && at == 0;
            name.name != NameKind::Member || is_declared || is_called
        })
    }

    fn is_renamed(&self, name: &str) -> bool {
        self.renames.names.contains_key(name)
    }

    fn is_own(&self, object: &Tree) -> bool {
        let is_own = |word: &str| {
            OWN.contains(&word)
                || self.receivers.contains(word)
                || self.renames.owners.contains(word)
        };
        let is_path = object.text.is_some() || object.is_a(Role::ScopedIdentifier);
        is_path && object.texts().last().is_some_and(|last| is_own(last))
    }

    fn are_tokens_alike(&mut self, before: &Tree, after: &Tree, old: &str, new: &str) -> bool {
        match (before.name, after.name) {
            (NameKind::Local(from), NameKind::Local(to)) => {
                *self.new_locals.entry(from).or_insert(to) == to
                    && *self.old_locals.entry(to).or_insert(from) == from
            }
            (NameKind::Local(_), _) | (_, NameKind::Local(_)) => false,
            (NameKind::Fixed, _) | (_, NameKind::Fixed) => old == new && before.name == after.name,
            (from, to) => {
                if from != NameKind::Not
                    && to != NameKind::Not
                    && let Some(wanted) = self.renames.names.get(old)
                {
                    self.uses.insert((old.to_owned(), new.to_owned()));
                    return wanted == new;
                }
                // If the name is the new name of a renamed declaration, it meant something else
                // before.
                old == new
                    && (from == NameKind::Not
                        || !self.renames.names.values().any(|name| name == new))
            }
        }
    }
}

/// Returns true unless two signs in the arguments of a Rust macro are joined on one side only. A macro
/// can tell `<-` from `< -`.
fn has_same_gaps(before: &Tree, after: &Tree) -> bool {
    let gaps = |tree: &Tree| -> Vec<bool> {
        let is_sign = |one: &Tree| {
            const OPERATORS: &str = "<>=-+*/%&|^!:.?@#$~";
            one.text.as_deref().is_some_and(|text| text.chars().all(|c| OPERATORS.contains(c)))
        };
        let pairs = tree.children.windows(2);
        pairs
            .filter(|pair| pair.iter().all(is_sign))
            .map(|pair| pair[0].bytes.end == pair[1].bytes.start)
            .collect()
    };
    !before.is_a(Role::TokenTree) || gaps(before) == gaps(after)
}

/// Returns true if two nodes have the same kind, or if both are quotes. The kind of a quote is the
/// quote as written, `'` or `"`, but what counts is its normalised text.
fn same_kind(before: &Tree, after: &Tree) -> bool {
    let quote = |tree: &Tree| tree.is_a(Role::Quote);
    before.kind == after.kind || (quote(before) && quote(after))
}

/// Collects the names that differ at the same position in two otherwise equal trees. They are
/// candidates for renamed declarations. Returns false if the trees differ in anything else; `found`
/// then holds only some of the names.
pub(super) fn differing_names(
    before: &Tree,
    after: &Tree,
    found: &mut Vec<(String, String)>,
) -> bool {
    if !same_kind(before, after) || before.children.len() != after.children.len() {
        return false;
    }
    if let (Some(old), Some(new)) = (&before.text, &after.text) {
        if old == new {
            return true;
        }
        let name = before.is_a(Role::Name);
        found.extend(name.then(|| (old.to_string(), new.to_string())));
        return name;
    }
    before.children.iter().zip(&after.children).all(|(b, a)| differing_names(b, a, found))
}
