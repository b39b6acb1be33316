//! Decides whether a change of imports can change the meaning of a name.

use std::collections::HashSet;

use code::BlockKind;
use code::language_tables::roles::Role;
use code::program::{NameKind, Tree};

use code::language_tables::framework_names::MODULES_WITHOUT_TRAITS;

use super::order::ListChange;
use super::statements::{is_import, is_module_elsewhere};
use super::units::{File, Unit, folder_of};

fn list<'f>(file: &'f File<'_>) -> Vec<&'f Tree> {
    let Some(own) = file.units.first() else { return Vec::new() };
    let mut found = Vec::new();
    for import in own.tree.children.iter().filter(|child| is_import(child)) {
        // One Go declaration may hold many imports.
        match import.nodes_with(|node| node.is_a(Role::ImportSpec)) {
            specs if specs.is_empty() => found.push(import),
            specs => found.extend(specs),
        }
    }
    found
}

/// Compares the imports of two versions. `moved` holds the names of definitions that moved or were
/// renamed in the change set. `elsewhere` holds the imports that other files lost or gained, and
/// `modules` the names of the modules in the change set.
pub(super) fn imports(
    before: &File<'_>,
    after: &File<'_>,
    moved: &HashSet<String>,
    elsewhere: &HashSet<String>,
    modules: &HashSet<&str>,
) -> ListChange {
    let (old, new) = (list(before), list(after));
    let words =
        |list: &[&Tree]| -> Vec<String> { list.iter().map(|one| one.joined_tokens()).collect() };
    let (old_words, new_words) = (words(&old), words(&new));
    if old_words == new_words {
        return ListChange::Same;
    }
    let language = after.language();
    let ordered = !matches!(language, "rust" | "go" | "java");
    let gone: Vec<&&Tree> =
        old.iter().filter(|one| !new_words.contains(&one.joined_tokens())).collect();
    let come: Vec<&&Tree> =
        new.iter().filter(|one| !old_words.contains(&one.joined_tokens())).collect();
    // The same name from another module means something else, even if no use of it is visible (for
    // example a trait).
    let lost: HashSet<String> = gone.iter().flat_map(|one| sources(one)).collect();
    let is_swapped = |path: String| {
        let name = last_segment(&path);
        !moved.contains(name) && lost.iter().any(|lost| last_segment(lost) == name && *lost != path)
    };
    if come.iter().flat_map(|one| sources(one)).any(is_swapped) {
        return ListChange::Changed;
    }
    let harmless = |one: &Tree, side: &File<'_>| {
        let names = names(one);
        let unnamed = one.is_a(Role::ImportSpec) && !names.iter().all(|name| is_package_name(name));
        let opaque = unnamed || brings_all(one);
        let runs = ordered && !elsewhere.contains(&one.joined_tokens());
        let known = names.iter().all(|name| moved.contains(name));
        // A public import can be used by other files. A module declaration adds or removes code
        // that is not in the change set.
        let given =
            one.has_node(&|node| node.is_any(&[Role::VisibilityModifier, Role::AttributeItem]));
        let unseen = one.is_a(Role::ExternCrateDeclaration)
            || (one.is_a(Role::ModItem) && !names.iter().all(|name| modules.contains(&**name)));
        let other = if std::ptr::eq(side, after) { &new } else { &old };
        if given || unseen || (!known && brings_methods(one, other)) {
            return false;
        }
        if opaque || one.is_any(&[Role::PackageClause, Role::PackageDeclaration]) {
            return false;
        }
        match runs {
            true => known && !names.is_empty(),
            false => names.iter().all(|name| moved.contains(name) || !uses(side, name)),
        }
    };
    // A name whose import was removed must no longer be used. A name whose import was added must
    // not have meant something else before.
    let fine = gone.into_iter().all(|one| harmless(one, after) || same_names(one, &new, language))
        && come.into_iter().all(|one| harmless(one, before) || same_names(one, &old, language));
    if fine { ListChange::Harmless } else { ListChange::Changed }
}

/// Returns the full paths that an import of Rust, Java or Go makes available.
fn sources(import: &Tree) -> Vec<String> {
    match import {
        _ if import.is_a(Role::UseDeclaration) => rust_paths(import),
        _ if import.is_a(Role::ImportDeclaration) => {
            let tokens = import.tokens().into_iter();
            let names = tokens.filter(|token| token.is_a(Role::Name));
            let parts: Vec<&str> = names.filter_map(|token| token.text.as_deref()).collect();
            vec![parts.join("::")]
        }
        _ => Vec::new(),
    }
}

fn last_segment(path: &str) -> &str {
    let last = path.rsplit("::").next().unwrap_or(path);
    last.rsplit(" as ").next().unwrap_or(last)
}

/// Returns true if the last segment of a Go import path is probably the package name. `x` in `a/x`
/// is, but `go-x`, `x.v4` and `v2` are not.
fn is_package_name(name: &str) -> bool {
    let version =
        name.strip_prefix('v').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
    !version && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// In Rust, `use a::{b, c}` may be split or joined as long as the same paths are imported.
fn same_names(one: &Tree, others: &[&Tree], language: &str) -> bool {
    if language != "rust" {
        return false;
    }
    let all: HashSet<String> = others.iter().flat_map(|other| rust_paths(other)).collect();
    let mine = rust_paths(one);
    !mine.is_empty() && mine.iter().all(|path| all.contains(path))
}

/// Returns true if a Rust import may be that of a trait. The trait's methods cannot be told from
/// others where they are called.
fn brings_methods(import: &Tree, others: &[&Tree]) -> bool {
    let kept: HashSet<String> = others.iter().flat_map(|other| rust_paths(other)).collect();
    let is_type = |path: &&String| last_segment(path).starts_with(char::is_uppercase);
    let plain =
        |path: &String| MODULES_WITHOUT_TRAITS.iter().any(|module| path.starts_with(module));
    rust_paths(import).iter().filter(is_type).any(|path| !kept.contains(path) && !plain(path))
}

fn joined(tree: &Tree, field: &str) -> Option<String> {
    Some(tree.child(field)?.texts().concat().replace(' ', ""))
}

fn rust_paths(import: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(argument) = import.child("argument") {
        let is_said =
            |child: &&Tree| child.is_any(&[Role::VisibilityModifier, Role::AttributeItem]);
        let said = import.children.iter().filter(is_said);
        let prefix: String = said.map(|one| one.joined_tokens() + " ").collect();
        expand(argument, &prefix, &mut found);
    }
    found
}

fn expand(tree: &Tree, prefix: &str, found: &mut Vec<String>) {
    match tree {
        _ if tree.is_a(Role::ScopedUseList) => {
            let path = joined(tree, "path").map_or_else(String::new, |path| path + "::");
            let prefix = format!("{prefix}{path}");
            tree.child("list").into_iter().for_each(|list| expand(list, &prefix, found));
        }
        _ if tree.is_a(Role::UseList) => {
            let is_mark = |one: &Tree| matches!(one.text.as_deref(), Some("{" | "}" | ","));
            let items = tree.children.iter().filter(|child| !is_mark(child));
            items.for_each(|item| expand(item, prefix, found));
        }
        _ if tree.is_a(Role::UseAsClause) => {
            let part = |field: &str| joined(tree, field).unwrap_or_default();
            found.push(format!("{prefix}{} as {}", part("path"), part("alias")));
        }
        _ => found.push(format!("{prefix}{}", tree.joined_tokens().replace(' ', ""))),
    }
}

/// Returns every name that an import mentions, and the last segment of each quoted path.
fn names(import: &Tree) -> Vec<String> {
    let mut names = Vec::new();
    for token in import.tokens() {
        let text = token.text.as_deref().unwrap_or_default();
        if token.is_a(Role::Name) {
            names.push(text.to_owned());
        } else if text.contains('/') || token.is_a(Role::StringLiteralPart) {
            names.extend(import_tail(text).map(str::to_owned));
        }
    }
    // Only the last segments become available as names.
    let last = if import.is_a(Role::NamesLast) { tails(import) } else { Vec::new() };
    if last.is_empty() { names } else { last }
}

fn import_tail(text: &str) -> Option<&str> {
    text.trim_matches('"').rsplit('/').next().filter(|tail| !tail.is_empty())
}

/// Returns the last segment of an import: `c` in `use a::b::c`, `import a.b.c` and `from a import
/// c`.
fn tails(import: &Tree) -> Vec<String> {
    match import {
        _ if import.is_a(Role::UseDeclaration) => {
            rust_paths(import).iter().map(|path| last_segment(path).to_owned()).collect()
        }
        _ if import.is_a(Role::ImportFrom) => {
            let names = import.children.iter().filter(|child| child.field == Some("name"));
            names.filter_map(|name| Some((*name.texts().last()?).to_owned())).collect()
        }
        _ if import.has_node(&|node| node.is_a(Role::ImportSpec)) => {
            let specs = import.nodes_with(|node| node.is_a(Role::ImportSpec)).into_iter();
            let name_of = |spec: &Tree| match spec.text_of("name") {
                Some(name) => Some(name.to_string()),
                None => Some(import_tail(&joined(spec, "path")?)?.to_owned()),
            };
            specs.filter_map(name_of).collect()
        }
        _ => {
            let last = import.tokens().into_iter().rfind(|token| token.is_a(Role::Name));
            last.and_then(|last| last.text.as_ref()).map(ToString::to_string).into_iter().collect()
        }
    }
}

fn uses(file: &File<'_>, name: &str) -> bool {
    let mentions = |node: &Tree| node.text.as_deref() == Some(name) && node.name != NameKind::Fixed;
    file.units.iter().enumerate().any(|(at, unit)| match at {
        0 => unit.tree.children.iter().any(|child| !is_import(child) && child.has_node(&mentions)),
        _ => unit.tree.has_node(&mentions),
    })
}

/// Returns the paths of Rust imports that no other code of the file names. They may be traits, which
/// decide what a method call means.
pub(super) fn unnamed_imports(file: &File<'_>) -> HashSet<String> {
    let paths = list(file).into_iter().flat_map(rust_paths);
    paths.filter(|path| !uses(file, last_segment(path))).collect()
}

pub(super) fn differing(before: &File<'_>, after: &File<'_>) -> Vec<String> {
    let words = |file: &File<'_>| -> HashSet<String> {
        list(file).iter().map(|one| one.joined_tokens()).collect()
    };
    words(before).symmetric_difference(&words(after)).cloned().collect()
}

fn brings_all(import: &Tree) -> bool {
    // Go's `import . "a"`
    let is_dot = import.child("name").is_some_and(|name| name.joined_tokens() == ".");
    is_dot || import.is_a(Role::PreprocInclude) || import.mentions("*") || import.mentions("_")
}

/// Returns the imports that make names available without listing them, such as `use a::*`.
pub(super) fn wildcards(file: &File<'_>) -> HashSet<String> {
    list(file).into_iter().filter(|one| brings_all(one)).map(Tree::joined_tokens).collect()
}

/// Returns the full origin of an imported name, if the import states it: the module, and the part that
/// names it, as in `"./tax rate as r"` for `import { rate as r, b } from "./tax"`.
pub(super) fn source_of(file: &File<'_>, name: &str) -> Option<String> {
    let named = |import: &Tree| {
        let part = import.nodes_with(|node| node.text.is_none() && node.mentions(name)).pop()?;
        let part = part.joined_tokens();
        Some(if part.contains(',') { name.to_owned() } else { part })
    };
    list(file).into_iter().find_map(|import| match import {
        _ if import.is_a(Role::ImportStatement) => {
            let module = joined(import, "source").unwrap_or_default();
            Some(format!("{module} {}", named(import)?).trim_start().to_owned())
        }
        _ if import.is_a(Role::ImportFrom) => {
            let is_named = tails(import).iter().any(|tail| tail == name);
            let module = joined(import, "module_name").filter(|_| is_named)?;
            Some(format!("{module} {}", named(import)?))
        }
        _ if import.is_a(Role::PathImport) => {
            tails(import).iter().any(|tail| tail == name).then(|| import.joined_tokens())
        }
        _ if import.is_a(Role::UseDeclaration) => {
            rust_paths(import).into_iter().find(|path| last_segment(path) == name)
        }
        _ => None,
    })
}

/// Returns true if moving a file to another path changes which files its relative imports mean:
/// `./util`, `from . import a`, `super::a`, `#include "a.h"`, `mod a;`.
pub(super) fn means_other_files(file: &File<'_>, path: &str) -> bool {
    let moved = folder_of(file.path) != folder_of(path);
    let of_the_file = |unit: &&Unit| {
        let top = unit.identity.is_none() || unit.container == Some(0);
        top && unit.block_kind() != Some(BlockKind::Module)
    };
    let relative = |node: &Tree| match file.language() {
        "javascript" | "typescript" | "tsx" => {
            let dots = |leaf: &Tree| {
                let text = leaf.text.as_deref().unwrap_or_default();
                let text = text.trim_start_matches(['"', '\'', '`']);
                text.starts_with("./") || text.starts_with("../") || matches!(text, "." | "..")
            };
            moved && node.is_a(Role::Text) && node.has_node(&dots)
        }
        "python" => moved && node.is_a(Role::RelativeImport),
        "c" | "cpp" => {
            moved
                && node.is_a(Role::PreprocInclude)
                && node.child("path").is_some_and(|path| path.is_a(Role::StringLiteral))
        }
        // A Rust module's files are in the folder named after its own file, so `mod a;` depends on
        // the file's name too.
        "rust" => is_module_elsewhere(node) || moved && node.is_a(Role::Super),
        _ => false,
    };
    file.units.iter().filter(of_the_file).any(|unit| unit.tree.has_node(&relative))
}
