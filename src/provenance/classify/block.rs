//! Answers for a single block whether it still does what it did, with the whole change set as
//! context.

use std::ops::Range;

use crate::code::language_tables::roles::Role;
use crate::code::program::Tree;
use crate::ledger::{Basis, MutationClass};

use super::judge::ChangeSet;
use super::pairs::Id;
use super::same::{Resolved, same};
use super::units::{File, Unit};
use super::{Classification, SourceFile};

/// A block, named by its file, its name and its lines.
#[derive(Clone, Copy, Debug)]
pub struct NamedBlock<'a> {
    /// The path relative to the workspace.
    pub path: &'a str,
    /// The name as it is declared.
    pub name: &'a str,
    /// The first and the last line, counted from 1.
    pub lines: (u32, u32),
}

struct LocatedUnit<'s, 'a> {
    file: &'s File<'a>,
    at: usize,
    unit: Option<usize>,
    tree: &'s Tree,
    bytes: Range<usize>,
    name: &'s str,
}

/// Classifies the change of `was` to the first block of `is`. Further blocks of `is` are code that
/// was extracted from it. All other blocks of the files are context: they show what was renamed and
/// which helpers are new.
pub fn block(
    before: &[SourceFile<'_>],
    after: &[SourceFile<'_>],
    was: NamedBlock<'_>,
    is: &[NamedBlock<'_>],
) -> Classification {
    let set = ChangeSet::of(before, after, &[], &|_| Some(Vec::new()));
    let old = find(&set.before, was);
    let new: Vec<Option<LocatedUnit<'_, '_>>> =
        is.iter().map(|one| find(&set.after, *one)).collect();
    let Some((old, [Some(first), ..])) = old.as_ref().map(|old| (old, &new[..])) else {
        return answer(
            MutationClass::IntentEvolution,
            Basis::None,
            "not found on both sides".into(),
        );
    };
    let broken = |found: &LocatedUnit<'_, '_>| {
        found.file.program.as_ref().is_some_and(|program| program.has_error_in(&found.bytes))
    };
    if broken(old) || new.iter().flatten().any(broken) {
        return Classification {
            class: None,
            basis: Basis::ParseError,
            reasons: vec![format!("{}: syntax error", old.name)],
            blocks: Vec::new(),
        };
    }
    let (proven, said) = judged(&set, old, first);
    match proven {
        true => answer(MutationClass::AstRefactor, Basis::Rule, said),
        false => answer(MutationClass::IntentEvolution, Basis::None, said),
    }
}

fn answer(class: MutationClass, basis: Basis, said: String) -> Classification {
    Classification { class: Some(class), basis, reasons: vec![said], blocks: Vec::new() }
}

fn judged(
    set: &ChangeSet<'_>,
    old: &LocatedUnit<'_, '_>,
    new: &LocatedUnit<'_, '_>,
) -> (bool, String) {
    let ids: Option<(Id, Id)> = old.unit.zip(new.unit).map(|(b, a)| ((old.at, b), (new.at, a)));
    let label = new.name;
    if let Some((was, is)) = ids {
        let found = set.compared(was, is);
        if found.unchanged {
            return (true, format!("{label}: {}", found.reasons.join(", ")));
        }
        // If the block was inlined, its code is now in the target. Check whether the target did the
        // same before.
        if let Some(home) = set.pairs.before_of.get(&is).filter(|home| **home != was) {
            let found = set.compared(*home, is);
            if found.unchanged && found.inlined.contains(&was) {
                return (true, format!("{label}: {}", found.reasons.join(", ")));
            }
        }
        if found.reasons.iter().any(|said| said == "directive") || old.unit == Some(0) {
            return (false, format!("{label}: {}", found.reasons.join(", ")));
        }
        if set.unit_before(was).1.is_function() || !plainly(set, old, new) {
            return (false, format!("{label}: {}", found.reasons.join(", ")));
        }
        return (true, format!("{label}: formatting"));
    }
    match plainly(set, old, new) {
        true => (true, format!("{label}: formatting, or a move")),
        false => (false, format!("{label}: body")),
    }
}

/// Compares two nodes that need not be units.
fn plainly(set: &ChangeSet<'_>, old: &LocatedUnit<'_, '_>, new: &LocatedUnit<'_, '_>) -> bool {
    let language = old.file.language();
    if language != new.file.language() {
        return false;
    }
    let mut renames = set.renames.clone();
    if old.name != new.name {
        renames.insert(old.name.to_owned(), new.name.to_owned());
    }
    let (was, is) = (core(old.tree), core(new.tree));
    same(&Resolved::of(&was, language), &Resolved::of(&is, language), &renames).is_some()
}

/// Returns the definition without wrappers such as `export`.
fn core(tree: &Tree) -> Tree {
    let inner = match tree {
        _ if tree.is_a(Role::Export) => tree.child("declaration"),
        _ if tree.is_a(Role::TypeDeclaration) => {
            let mut specs = tree.children.iter().filter(|child| child.text.is_none());
            specs.next().filter(|_| specs.next().is_none())
        }
        _ if tree.is_a(Role::ExpressionStatement) => tree.children.first(),
        _ => None,
    };
    let mut core = inner.map_or_else(|| tree.clone(), core);
    core.field = None;
    core
}

fn find<'s, 'a>(files: &'s [File<'a>], wanted: NamedBlock<'s>) -> Option<LocatedUnit<'s, 'a>> {
    let at = files.iter().position(|file| file.path == wanted.path)?;
    let file = &files[at];
    let program = file.program.as_ref()?;
    let bytes = lines(file.text, wanted.lines)?;
    let tree = largest(&program.tree, &bytes, wanted.name)?;
    let is_named_inside = |unit: &Unit| {
        let mut blocks = program.blocks.blocks.iter();
        let block = blocks.find(|block| Some(&block.identity) == unit.identity.as_ref());
        block.is_some_and(|block| {
            tree.bytes.start <= block.name_bytes.start && block.name_bytes.end <= tree.bytes.end
        })
    };
    let unit = file.units.iter().position(|unit| {
        unit.bytes.start <= tree.bytes.start
            && tree.bytes.end <= unit.bytes.end
            && is_named_inside(unit)
    });
    Some(LocatedUnit { file, at, unit, tree, bytes: tree.bytes.clone(), name: wanted.name })
}

/// Returns the byte range of some lines, without white space at the start and the end.
fn lines(text: &str, lines: (u32, u32)) -> Option<Range<usize>> {
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = *starts.get((lines.0 as usize).checked_sub(1)?)?;
    let end = starts.get(lines.1 as usize).copied().unwrap_or(text.len());
    let part = text.get(start..end)?;
    let from = start + (part.len() - part.trim_start().len());
    Some(from..(start + part.trim_end().len()).max(from))
}

/// Returns the largest node within a byte range that contains the name.
fn largest<'t>(tree: &'t Tree, bytes: &Range<usize>, name: &str) -> Option<&'t Tree> {
    let inside = bytes.start <= tree.bytes.start && tree.bytes.end <= bytes.end;
    if inside && tree.text.is_none() {
        let named = tree.any(&|leaf| leaf.is(name))
            || !name.chars().all(|c| c.is_alphanumeric() || c == '_');
        return named.then_some(tree);
    }
    if tree.bytes.end <= bytes.start || bytes.end <= tree.bytes.start {
        return None;
    }
    let found = tree.children.iter().filter_map(|child| largest(child, bytes, name));
    found.max_by_key(|node| node.bytes.len())
}
