//! Where names are declared and how far they reach, for each language whose
//! locals we can tell: the form of a row, and what is asked of it. The rows are in
//! [`crate::code::rows::scoping`]. A language without a row has no local that we
//! would call renamed.

use crate::code::syntax::Syntax;

/// A parent's kind and a field in it, or `""` for a child without a field.
pub(in crate::code) type Places = &'static [(&'static str, &'static str)];

/// When a name that is declared in a scope begins to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum NameReach {
    /// From its declaration on; another declaration of the name is another local.
    FromHere,
    /// From its declaration on; `:=` in the scope of its declaration assigns.
    FromHereOnce,
    /// In the whole function, wherever it is assigned.
    Function,
    /// `var` in the whole function, the others in the whole block.
    Block,
    /// In the whole function: whatever is spelled like a variable is one of its own.
    Everywhere,
}

/// What is particular to the names of a language.
#[derive(Clone, Copy, Debug)]
pub(in crate::code) struct Scoping {
    pub reach: NameReach,
    /// Nodes that hold parameters and a body: locals live only inside one of these.
    pub functions: &'static [&'static str],
    /// Nodes inside a function whose declarations end with them.
    pub scopes: &'static [&'static str],
    /// Which nodes are names, where one is declared, and what patterns are made of: as in the language's row.
    pub syntax: &'static Syntax,
    /// Further places where a name is declared. What a row says goes into fingerprints that ledgers keep, so it
    /// cannot learn more without making them strangers.
    pub bindings: Places,
    /// Bindings that begin to hold after everything else in their parent was read.
    pub late: &'static [&'static str],
    /// Further nodes that a pattern is made of.
    pub patterns: &'static [&'static str],
    /// Fields of patterns that are no part of them: a default value, a path.
    pub not_pattern: Places,
    /// Parents of names that callers can use: parameters in Python.
    pub public: Places,
    /// Where an identifier names a member, a label, a key, a part of a path.
    pub members: Places,
    /// Nodes in which nothing is known about names.
    pub opaque: &'static [&'static str],
    /// Functions that look at names: with one of them around nothing is renamed.
    pub reflection: &'static [&'static str],
    /// Nodes that do so.
    pub reflecting: &'static [&'static str],
    /// Leaves that name locals, where those of the row are more than that.
    pub names: &'static [&'static str],
}

impl Scoping {
    /// Whether a name is declared in this field of such a parent.
    pub(crate) fn binds(&self, parent: &str, field: Option<&str>) -> bool {
        self.reach != NameReach::Everywhere
            && (holds(self.syntax.bindings, parent, field) || holds(self.bindings, parent, field))
    }

    /// Whether such a node is a pattern.
    pub(crate) fn is_pattern(&self, kind: &str) -> bool {
        self.syntax.patterns.contains(&kind) || self.patterns.contains(&kind)
    }

    /// Whether a name right after this token is declared.
    pub(crate) fn declares(&self, parent: &str, before: Option<&str>) -> bool {
        before.is_some_and(|token| self.syntax.declared.contains(&(parent, token)))
    }

    /// Whether a leaf of this kind can name a local.
    pub(crate) fn is_name(&self, kind: &str) -> bool {
        match self.names {
            [] => self.syntax.identifiers.contains(&kind),
            names => names.contains(&kind),
        }
    }
}

/// Whether a list of places has this one.
pub(in crate::code) fn holds(places: Places, parent: &str, field: Option<&str>) -> bool {
    places.iter().any(|(kind, of)| *kind == parent && *of == field.unwrap_or_default())
}
