//! Decides which names code outside a file or a change set can use.

use code::BlockKind;
use code::language_tables::roles::Role;
use code::program::{Tree, words_in};

use super::statements::is_module_elsewhere;
use super::units::{File, Unit};
use code::language_tables::framework_names::{
    ATTRIBUTES_WITHOUT_NAME_USE, DERIVES_WITHOUT_NAME_USE, NAMES_CALLED_BY_FRAMEWORKS,
};

pub(super) fn is_public(file: &File<'_>, unit: &Unit) -> bool {
    let Some(identity) = &unit.identity else { return false };
    if is_called(file.language(), &unit.name) || is_asked_for(file, unit) {
        return true;
    }
    let has = |word: &str| says(&unit.tree, word);
    let container = unit.container.and_then(|at| file.units[at].block_kind());
    match file.language() {
        "rust" => {
            let of_trait = container == Some(BlockKind::Trait) || identity.path.contains(" for ");
            of_trait || visibility(&unit.tree).is_some_and(|said| said == "pub")
        }
        "java" => has("public") || has("protected") || container == Some(BlockKind::Interface),
        "csharp" | "scala" | "kotlin" | "swift" | "php" => !has("private"),
        "dart" => !unit.name.starts_with('_'),
        "lua" => !has("local"),
        "zig" => has("pub") || has("export"),
        "elixir" => !(has("defp") || has("defmacrop")),
        "go" => unit.name.starts_with(char::is_uppercase),
        "python" => !unit.name.starts_with('_'),
        "javascript" | "typescript" | "tsx" => script(file, unit, identity.kind),
        "c" | "cpp" => !has("static") && container != Some(BlockKind::Namespace),
        _ => true,
    }
}

pub(super) fn is_called(language: &str, name: &str) -> bool {
    let fits = |known: &&str| match known.split_once('*') {
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
        None => name == *known,
    };
    listed(NAMES_CALLED_BY_FRAMEWORKS, language).iter().any(fits)
}

fn listed(table: &[(&str, &'static [&'static str])], language: &str) -> &'static [&'static str] {
    table.iter().find(|(id, _)| *id == language).map_or(&[], |(_, list)| list)
}

/// Returns true if an attribute, annotation or decorator may pass the definition to other code.
pub(super) fn is_asked_for(file: &File<'_>, unit: &Unit) -> bool {
    has_reading_attribute(file.language(), &unit.tree)
}

/// Returns true if an attribute, annotation or decorator may pass the definition's name to other
/// code.
fn has_reading_attribute(language: &str, tree: &Tree) -> bool {
    let silent = |attribute: &Tree| {
        let words = attribute.joined_tokens();
        let mut words = words_in(&words);
        let words: Vec<&str> = match words.next() {
            Some("__attribute__") => words.collect(),
            Some("derive") => return words.all(|one| DERIVES_WITHOUT_NAME_USE.contains(&one)),
            first => first.into_iter().collect(),
        };
        words.iter().all(|one| listed(ATTRIBUTES_WITHOUT_NAME_USE, language).contains(one))
    };
    if tree.is_a(Role::Attribute) {
        return !silent(tree);
    }
    let is_head = |child: &&Tree| !matches!(child.field, Some("body" | "parameters"));
    tree.children.iter().filter(is_head).any(|child| has_reading_attribute(language, child))
}

/// Returns true if nothing outside its file can use the unit, or a member of it, unless a text
/// contains the name.
pub(super) fn keeps_to_file(file: &File<'_>, unit: &Unit, node: Option<&Tree>) -> bool {
    let tree = node.unwrap_or(&unit.tree);
    let has = |word: &str| says(tree, word);
    let kind = unit.block_kind();
    match file.language() {
        // A child module can use private items, and a macro is visible in the text after it.
        "rust" => {
            let open = |one: &Unit| one.tree.has_node(&is_module_elsewhere);
            let tree = if tree.is_a(Role::Variant) { &unit.tree } else { tree };
            visibility(tree).is_none()
                && kind != Some(BlockKind::Macro)
                && !file.units.iter().any(open)
        }
        "java" | "kotlin" | "scala" | "swift" | "php" => has("private") || has("fileprivate"),
        "lua" => has("local"),
        "zig" => true,
        "c" | "cpp" => has("static") && !file_ends(file, &[".h", ".hpp", ".hh", ".hxx", ".inl"]),
        "javascript" | "typescript" | "tsx" => {
            let is_module = |node: &Tree| node.mentions("require") || node.mentions("module");
            let holds_module =
                |one: &Unit| is_module(&one.tree) || one.tree.children.iter().any(is_module);
            unit.name.starts_with('#')
                || kind != Some(BlockKind::Method)
                    && (is_script_module(file) || file.units.iter().any(holds_module))
        }
        _ => false,
    }
}

/// Returns true if a script says that it is a module, by `import` or `export`.
pub(super) fn is_script_module(file: &File<'_>) -> bool {
    let says_so = |node: &Tree| node.is_a(Role::ModuleStatement);
    file.units.iter().any(|one| says_so(&one.tree) || one.tree.children.iter().any(says_so))
}

/// Returns true if a type inherits from others, which may be anywhere.
pub(super) fn has_base(unit: &Unit) -> bool {
    let words = unit.tree.texts().into_iter().take_while(|word| *word != "{");
    words.into_iter().any(|word| matches!(word, "extends" | "implements" | ":"))
}

fn file_ends(file: &File<'_>, ends: &[&str]) -> bool {
    ends.iter().any(|end| file.path.ends_with(end))
}

fn script(file: &File<'_>, unit: &Unit, kind: BlockKind) -> bool {
    if unit.tree.is_a(Role::Export) {
        return true;
    }
    if kind == BlockKind::Method {
        return !says(&unit.tree, "private") && !unit.name.starts_with('#');
    }
    // Covers `module.exports = …`, `export { … }`, and an assignment to a property of another
    // object.
    let assigned = unit.tree.is_a(Role::ExpressionStatement);
    let named = |node: &Tree| {
        let words = node.joined_tokens();
        (words.contains("exports") || words.starts_with("export "))
            && words.split(' ').any(|word| word == unit.name)
    };
    assigned || file.units[0].tree.children.iter().any(named)
}

/// Returns true if a word is among the first words of a definition: its modifiers, keywords and
/// name.
fn says(tree: &Tree, word: &str) -> bool {
    let words = tree.texts().into_iter().take_while(|one| !matches!(*one, "(" | "{" | "="));
    words.into_iter().any(|one| one == word)
}

fn visibility(tree: &Tree) -> Option<String> {
    if tree.is_a(Role::WithAttributes) {
        return visibility(tree.children.last()?);
    }
    tree.children.iter().find(|c| c.is_a(Role::VisibilityModifier)).map(Tree::joined_tokens)
}

pub(super) fn without_visibility(tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    if tree.is_a(Role::Export)
        && tree.children.iter().all(|c| c.is_token("export") || c.field == Some("declaration"))
        && let Some(inner) = tree.children.pop()
    {
        tree = inner;
    }
    tree.field = None;
    strip(&mut tree);
    tree
}

fn strip(tree: &mut Tree) {
    let said = |node: &Tree| {
        node.is_a(Role::Access)
            || (node.text.is_some() && node.is_a(Role::AccessWord))
            || (node.is_a(Role::MarkerAnnotation) && node.joined_tokens() == "@ Override")
    };
    tree.children.retain(|child| !said(child));
    tree.children.iter_mut().filter(|child| child.field != Some("body")).for_each(strip);
    tree.children.retain(|child| {
        child.text.is_some() || !child.children.is_empty() || !child.is_a(Role::Modifiers)
    });
}

/// Returns true if code outside the change set may use a member of a container, such as a field or
/// a variant, by its name.
pub(super) fn shows_member(file: &File<'_>, unit: &Unit, name: &str) -> bool {
    let Some(member) = member(&unit.tree, name) else { return true };
    let has = |word: &str| says(member, word);
    let annotated = unit.tree.has_node(&|node| node.is_a(Role::Attribute));
    if is_called(file.language(), name) {
        return true;
    }
    match file.language() {
        "rust" if member.is_a(Role::Field) => {
            visibility(member).is_some_and(|said| said == "pub") || is_read_by_name(&unit.tree)
        }
        "rust" if member.is_a(Role::Variant) => {
            is_public(file, unit) || is_read_by_name(&unit.tree)
        }
        "java" if member.is_a(Role::Field) => {
            let constant = matches!(unit.block_kind(), None | Some(BlockKind::Interface));
            // A base class may be `Serializable`, which writes the names of fields to disk.
            constant || has_base(unit) || annotated || has("public") || has("protected")
        }
        "go" if member.is_a(Role::Field) => {
            name.starts_with(char::is_uppercase) || member.child("tag").is_some()
        }
        "javascript" | "typescript" | "tsx" if member.is_a(Role::Field) => {
            annotated || !(has("private") || name.starts_with('#'))
        }
        "c" | "cpp" => !file_ends(file, &[".c", ".cc", ".cpp"]),
        "csharp" | "kotlin" | "php" if member.is_a(Role::Field) => annotated || !has("private"),
        _ => true,
    }
}

pub(super) fn member<'t>(tree: &'t Tree, name: &str) -> Option<&'t Tree> {
    let names = |node: &Tree| {
        matches!(node.field, Some("name" | "declarator" | "property")) && node.is_token(name)
    };
    if tree.is_a(Role::Member) && tree.has_node(&names) {
        return Some(tree);
    }
    tree.children.iter().find_map(|child| member(child, name))
}

/// Returns true if a Rust attribute may generate code from the names of a type's fields and
/// variants, as serialisation does.
pub(super) fn is_read_by_name(tree: &Tree) -> bool {
    tree.has_node(&|node| node.is_a(Role::AttributeItem) && has_reading_attribute("rust", node))
}
