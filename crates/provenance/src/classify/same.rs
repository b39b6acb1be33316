//! Decides whether two trees do the same thing. They do if they are equal node by node, except for
//! locals that are renamed one to one and for declarations whose new name is known.

use std::collections::{HashMap, HashSet};

use code::language_tables::roles::Role;
use code::program::{NameKind, Resolution, Tree};

pub(super) type Renames = HashMap<String, String>;

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
    renames: &Renames,
) -> Option<Alike> {
    let (new_locals, old_locals, uses) = Default::default();
    let mut walk = TreeComparison { renames, new_locals, old_locals, uses };
    walk.nodes(&before.tree, &after.tree).then_some(())?;
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
        let taken = before.names.mentions(&to.name) || after.names.mentions(&from.name);
        if !may || taken {
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
    renames: &'a Renames,
    /// For each local of the old tree, the local of the new tree that it became.
    new_locals: HashMap<u32, u32>,
    /// The reverse of `new_locals`, so that no two locals become one.
    old_locals: HashMap<u32, u32>,
    uses: HashSet<(String, String)>,
}

impl TreeComparison<'_> {
    fn nodes(&mut self, before: &Tree, after: &Tree) -> bool {
        if !same_kind(before, after) || before.children.len() != after.children.len() {
            return false;
        }
        match (&before.text, &after.text) {
            (Some(old), Some(new)) => self.tokens(before, after, old, new),
            (None, None) => {
                before.field == after.field
                    && before.children.iter().zip(&after.children).all(|(b, a)| self.nodes(b, a))
            }
            _ => false,
        }
    }

    fn tokens(&mut self, before: &Tree, after: &Tree, old: &str, new: &str) -> bool {
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
                    && let Some(wanted) = self.renames.get(old)
                {
                    self.uses.insert((old.to_owned(), new.to_owned()));
                    return wanted == new;
                }
                // If the name is the new name of a renamed declaration, it meant something else
                // before.
                old == new
                    && (from == NameKind::Not || !self.renames.values().any(|name| name == new))
            }
        }
    }
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
