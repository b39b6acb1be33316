//! Compares a definition that moved: whether its names still mean the same, and what may change in
//! a method that moves from one type to another.

use std::collections::HashSet;

use code::language_tables::framework_names::{FILE_DEPENDENT_WORDS, FILE_WIDE_DIRECTIVES};
use code::language_tables::roles::{Role, made};
use code::program::{NameKind, Tree};

use super::helpers::{function_of, returned, statements};
use super::imports;
use super::judge::ChangeSet;
use super::pairs::Id;
use super::public::{is_asked_for, without_visibility};
use super::same::{RenamedDeclarations, Resolved, compare_trees};
use super::statements::is_import;
use super::units::{File, Unit, folder_of};

/// Returns true if a definition certainly does the same in another file.
///
/// Each name that it uses is declared in neither file. Either both import it from the same place, or neither
/// imports it or mentions it in a statement. In addition, the files must not differ in includes and
/// wildcard imports, or in directives at their start that change how the text is read. Nothing may be
/// called where the definition stands, or where the other file is loaded.
pub(super) fn surely_means_the_same(old: &File<'_>, before: &Unit, new: &File<'_>) -> bool {
    let declares = |file: &File<'_>, name: &str| {
        file.units.iter().any(|unit| unit.identity.is_some() && is_declared_by(unit, name))
    };
    let same_folder = folder_of(old.path) == folder_of(new.path);
    let (old_words, new_words) = (statement_words(old), statement_words(new));
    let is_same = |name: &std::sync::Arc<str>| {
        let is_known = declares(old, name) || declares(new, name);
        let is_itself = **name == *before.name;
        let (was, is) = (imports::source_of(old, name), imports::source_of(new, name));
        let is_mentioned = old_words.contains(&**name) || new_words.contains(&**name);
        let is_known = is_known || was.is_none() && is_mentioned;
        let means_place = was.as_deref().is_some_and(is_relative) || **name == *"super";
        was == is
            && (is_itself || !is_known)
            && (same_folder || !means_place)
            && bringing(old, name) == bringing(new, name)
    };
    let says_where = |node: &Tree| FILE_DEPENDENT_WORDS.iter().any(|word| node.is_token(word));
    if before.tree.has_node(&says_where) || before.name == "init" || has_another_target(old, new) {
        return false;
    }
    let runs = !before.is_function() && has_effect(&before.tree) || is_asked_for(old, before);
    let heads =
        FILE_WIDE_DIRECTIVES.iter().all(|head| old.text.contains(head) == new.text.contains(head));
    !runs
        && heads
        && !runs_when_loaded(new)
        && imports::wildcards(old) == imports::wildcards(new)
        && imports::unnamed_imports(old) == imports::unnamed_imports(new)
        && names_from_outside(old, before).iter().all(is_same)
}

fn has_effect(tree: &Tree) -> bool {
    tree.has_node(&|node| node.is_a(Role::Effect))
}

/// Returns true if importing a file may do more than to define names, for example print or register
/// something.
fn runs_when_loaded(file: &File<'_>) -> bool {
    let own = file.units.first().into_iter().flat_map(|own| &own.tree.children);
    let top = file.units.iter().filter(|unit| unit.container == Some(0) && !unit.is_function());
    matches!(file.language(), "python" | "javascript" | "typescript" | "tsx")
        && (own.into_iter().any(|child| !is_import(child) && has_effect(child))
            || top.into_iter().any(|unit| has_effect(&unit.tree)))
}

/// Returns true if two Go files may be built for different targets, according to the part of their
/// names after the first `_`: `a_windows.go`, `a_test.go`.
fn has_another_target(old: &File<'_>, new: &File<'_>) -> bool {
    let target = |file: &File<'_>| {
        let name = file.path.strip_suffix(".go")?;
        name.rsplit('/').next()?.split_once('_').map(|(_, target)| target.to_owned())
    };
    target(old) != target(new)
}

/// Returns the import lines of a Go file whose path contains a name. For example, `yaml` comes with
/// `gopkg.in/yaml.v2`.
fn bringing<'f>(file: &'f File<'_>, name: &str) -> HashSet<&'f str> {
    let is_import = |line: &&str| line.starts_with('"') || line.starts_with("import");
    let lines = file.text.lines().map(str::trim).filter(|_| file.language() == "go");
    lines.filter(is_import).filter(|line| line.contains(name)).collect()
}

/// Returns true if a definition has this name. The name of `const { a, b } = c` is `{a, b}`.
fn is_declared_by(unit: &Unit, name: &str) -> bool {
    let is_pattern = unit.name.starts_with(['{', '[']);
    let mut words = unit.name.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    unit.name == name || is_pattern && words.any(|word| word == name)
}

/// Returns the words of a file outside its imports and definitions. Such a statement may declare a
/// name, as `from a import b` inside an `if` does.
fn statement_words<'f>(file: &'f File<'_>) -> HashSet<&'f str> {
    let own = file.units.first().into_iter().flat_map(|own| &own.tree.children);
    own.filter(|child| !is_import(child)).flat_map(Tree::texts).collect()
}

/// Returns the names in a definition that it does not declare itself, apart from those of members, as
/// `b` in `a.b`.
fn names_from_outside(file: &File<'_>, unit: &Unit) -> HashSet<std::sync::Arc<str>> {
    let resolved = Resolved::of_tree(&unit.tree, file.language());
    let mut found = HashSet::new();
    let mut is_member = false;
    for token in resolved.tree.tokens() {
        let is_name = !matches!(token.name, NameKind::Not | NameKind::Local(_));
        if !is_member && (is_name || token.is_a(Role::Super)) {
            found.extend(token.text.clone());
        }
        is_member = [".", "?.", "->"].iter().any(|sign| token.is_token(sign));
    }
    found
}

fn is_relative(source: &str) -> bool {
    source.starts_with(['.', '\'', '"']) && source.trim_start_matches(['"', '\'']).starts_with('.')
        || ["crate", "super", "self"].iter().any(|word| source.starts_with(word))
}

/// Compares a Java method with its version in another type. It may now take from a new parameter
/// what it took from its own object, or the reverse, and its visibility may change.
pub(super) fn relocated(
    set: &ChangeSet<'_>,
    old: Id,
    new: Id,
    renames: &RenamedDeclarations,
) -> Option<Vec<String>> {
    let ((old_file, before), (new_file, after)) = (set.unit_before(old), set.unit_after(new));
    if old_file.language() != "java" || !before.is_function() || !after.is_function() {
        return None;
    }
    let (was, is) = (without_modifiers(before)?, without_modifiers(after)?);
    let (old_names, new_names) = (parameter_names(&was), parameter_names(&is));
    let come: Vec<&String> = new_names.iter().filter(|name| !old_names.contains(name)).collect();
    let gone: Vec<&String> = old_names.iter().filter(|name| !new_names.contains(name)).collect();
    let (was, is, how) = match (&come[..], &gone[..]) {
        ([], []) => (was, is, "visibility".to_owned()),
        ([one], []) => {
            let getters = getters(old_file, before);
            let is = from_own(&is, one, &getters)?;
            (was, is, format!("its object is the parameter {one} now"))
        }
        ([], [one]) if has_field(new_file, after, one) => {
            (without_parameter(&was, one), is, format!("the parameter {one} is a field now"))
        }
        _ => return None,
    };
    // If a parameter was removed, the commas between the others are not comparable.
    let resolved =
        |tree: &Tree| Resolved::of_tree(&with_parameters(tree, &|one| !one.is_token(",")), "java");
    compare_trees(&resolved(&was), &resolved(&is), renames).map(|_| vec![how])
}

fn without_modifiers(unit: &Unit) -> Option<Tree> {
    let mut tree = without_visibility(&unit.tree);
    function_of(&tree)?;
    let modifiers = tree.children.iter_mut().filter(|child| child.is_a(Role::Modifiers));
    modifiers.for_each(|one| {
        one.children.retain(|word| !word.is_token("static") && !word.is_token("final"))
    });
    tree.children.retain(|child| !child.is_a(Role::Modifiers) || !child.children.is_empty());
    Some(tree)
}

fn parameter_names(method: &Tree) -> Vec<String> {
    let list = method.child("parameters");
    let each = list.into_iter().flat_map(|list| &list.children);
    each.filter_map(|one| Some(one.text_of("name")?.to_string())).collect()
}

fn without_parameter(method: &Tree, name: &str) -> Tree {
    with_parameters(method, &|one| !one.has_token_as("name", name))
}

fn with_parameters(method: &Tree, test: &dyn Fn(&Tree) -> bool) -> Tree {
    let mut method = method.clone();
    for list in method.children.iter_mut().filter(|child| child.field == Some("parameters")) {
        list.children.retain(test);
    }
    method
}

/// Returns the method without the parameter and with `p.x` replaced by `x`. Returns `None` if the
/// parameter is used in any other way.
fn from_own(method: &Tree, parameter: &str, getters: &[(String, String)]) -> Option<Tree> {
    let mut method = without_parameter(method, parameter);
    replace(&mut method, parameter, getters);
    (!method.mentions(parameter)).then_some(method)
}

fn replace(tree: &mut Tree, parameter: &str, getters: &[(String, String)]) {
    tree.children.iter_mut().for_each(|child| replace(child, parameter, getters));
    if !tree.has_token_as("object", parameter) {
        return;
    }
    if tree.is_a(Role::FieldAccess) {
        if let Some(name) = tree.text_of("field").cloned() {
            *tree = identifier(tree, &name);
        }
    } else if tree.is_a(Role::MethodInvocation) {
        let bare = tree.child("arguments").is_some_and(|list| list.children.len() == 2);
        match getters.iter().find(|(getter, _)| bare && tree.has_token_as("name", getter)) {
            Some((_, field)) => *tree = identifier(tree, field),
            None => {
                tree.children.retain(|child| child.field != Some("object") && !child.is_token("."))
            }
        }
    }
}

fn identifier(place: &Tree, name: &str) -> Tree {
    Tree::leaf(made::IDENTIFIER, place.field, place.bytes.clone(), name)
}

/// Returns the methods next to a unit that only return a field, each with the field's name.
fn getters(file: &File<'_>, unit: &Unit) -> Vec<(String, String)> {
    let field_of = |one: &Unit| {
        let method = function_of(&one.tree)?;
        method.child("parameters").filter(|list| list.children.len() == 2)?;
        let body = statements(method.child("body")?);
        let [only] = &body[..] else { return None };
        let field = returned(only).filter(|value| value.is_a(Role::Identifier))?;
        Some((one.name.clone(), field.text.as_ref()?.to_string()))
    };
    let siblings = file.units.iter().filter(|one| one.container == unit.container);
    siblings.filter_map(field_of).collect()
}

fn has_field(file: &File<'_>, unit: &Unit, name: &str) -> bool {
    let Some(container) = unit.container else { return false };
    let declares = |tree: &Tree| {
        tree.has_node(&|node| {
            node.is_a(Role::VariableDeclarator) && node.has_token_as("name", name)
        })
    };
    let fields =
        file.units.iter().filter(|one| one.container == Some(container) && !one.is_function());
    declares(&file.units[container].tree) || fields.into_iter().any(|one| declares(&one.tree))
}
