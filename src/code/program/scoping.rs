//! The form of the rules that say where names are declared and where they are visible. There is one
//! row for each language in which locals can be found. The rows are in
//! [`crate::code::language_tables::scoping`]. In a language without a row, no name counts as a
//! local that may be renamed.

use crate::code::syntax::Syntax;

/// Places in a tree: the kind of a parent node, and the field of a child, or `""` for a child
/// without a field.
pub(in crate::code) type TreePlaces = &'static [(&'static str, &'static str)];

/// Where a name is visible after it was declared in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum NameReach {
    /// From its declaration on. Another declaration of the same name makes another local.
    FromHere,
    /// From its declaration on. A `:=` in the same scope assigns to the same local.
    FromHereOnce,
    /// In the whole function, wherever it is assigned.
    Function,
    /// A `var` in the whole function, other names in the whole block.
    Block,
    /// In the whole function. Everything that is spelled like a variable is a variable of that
    /// function.
    Everywhere,
}

/// The naming rules of one language.
#[derive(Clone, Copy, Debug)]
pub(in crate::code) struct Scoping {
    pub reach: NameReach,
    /// Nodes with parameters and a body. Locals exist only inside one of these.
    pub functions: &'static [&'static str],
    /// Nodes inside a function that limit the declarations in them.
    pub scopes: &'static [&'static str],
    /// The token facts of the language. They say which nodes are names, where names are declared,
    /// and which nodes form patterns.
    pub syntax: &'static Syntax,
    /// More places in which a name is declared. They are not in `syntax`, because its entries
    /// affect fingerprints, and recorded blocks would no longer be recognised.
    pub bindings: TreePlaces,
    /// Nodes whose bindings are visible only after everything else in the node was read.
    pub late: &'static [&'static str],
    /// More nodes that form patterns.
    pub patterns: &'static [&'static str],
    /// Fields of patterns that are not part of the pattern: a default value, a path.
    pub not_pattern: TreePlaces,
    /// Places of names that callers can use, such as parameters in Python.
    pub public: TreePlaces,
    /// Places in which an identifier names a member, a label, a key or a part of a path.
    pub members: TreePlaces,
    /// Nodes in which nothing is known about names.
    pub opaque: &'static [&'static str],
    /// Functions that read names at run-time. Nothing is renamed if one of them is called.
    pub reflection: &'static [&'static str],
    /// Nodes that read names at run-time, with the same effect as `reflection`.
    pub reflecting: &'static [&'static str],
    /// Leaves that can name locals, if these are not all of `syntax.identifiers`.
    pub names: &'static [&'static str],
}

impl Scoping {
    /// Returns true if a name is declared in this field of a parent of this kind.
    pub(crate) fn binds(&self, parent: &str, field: Option<&str>) -> bool {
        self.reach != NameReach::Everywhere
            && (holds(self.syntax.bindings, parent, field) || holds(self.bindings, parent, field))
    }

    /// Returns true if nodes of this kind are patterns.
    pub(crate) fn is_pattern(&self, kind: &str) -> bool {
        self.syntax.patterns.contains(&kind) || self.patterns.contains(&kind)
    }

    /// Returns true if a name right after this token is declared by it.
    pub(crate) fn declares(&self, parent: &str, before: Option<&str>) -> bool {
        before.is_some_and(|token| self.syntax.declared.contains(&(parent, token)))
    }

    /// Returns true if a leaf of this kind can name a local.
    pub(crate) fn is_name(&self, kind: &str) -> bool {
        match self.names {
            [] => self.syntax.identifiers.contains(&kind),
            names => names.contains(&kind),
        }
    }
}

/// Returns true if the list contains this place.
pub(in crate::code) fn holds(places: TreePlaces, parent: &str, field: Option<&str>) -> bool {
    places.iter().any(|(kind, of)| *kind == parent && *of == field.unwrap_or_default())
}
