//! The facts about a language's tokens, as data, and the same facts compiled against its grammar.
//! The walk over a tree then only compares numbers.

use std::collections::HashMap;
use std::sync::OnceLock;

use tree_sitter::{Node, Parser};

use super::BlockKind;
use super::patterns::Patterns;

/// The token facts and naming rules of a language. Names are node kinds of its grammar. A
/// pair of "kind, field" names a place: the kind of a parent node, and the field in which a child
/// is, or `""` for a child without a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syntax {
    /// Comment nodes. They and everything inside them are left out of the tokens.
    pub comments: &'static [&'static str],
    /// Comments that begin with one of these texts describe the file or the block around them, and
    /// never what follows.
    pub container_comment_starts: &'static [&'static str],
    /// Whether the grammar puts comments between two definitions at the end of the first
    /// definition's node.
    pub comments_trail: bool,
    /// Nodes around a definition. What they contain before the definition is part of its lead:
    /// `export`, `template <class T>`.
    pub wrappers: &'static [&'static str],
    /// Nodes before a definition, with the same parent, that are part of its lead: attributes,
    /// decorators.
    pub leads: &'static [&'static str],
    /// If this is not empty, a node of `leads` counts only if its text begins with one of these
    /// words.
    pub lead_words: &'static [&'static str],
    /// Nodes in which white space between the children matters: strings, templates.
    pub verbatim: &'static [&'static str],
    /// Strings for which `'a'` and `"a"` mean the same, unless the text inside depends on the
    /// quotation mark.
    pub quotes: &'static [&'static str],
    /// Text whose line breaks are folded by the language itself (JSX).
    pub folded: &'static [&'static str],
    /// Nodes in which it matters whether there is white space between two children, but not how
    /// much.
    pub spaced: &'static [&'static str],
    /// Exceptions to `spaced`: white space does not matter before the first of these characters,
    /// and after the second ones.
    pub tight: (&'static str, &'static str),
    /// Running text, in which any white space is the same as one space, except below `<pre>`.
    pub flowing: &'static [&'static str],
    /// Leaves whose kind begins with this text are words in which case does not matter.
    pub caseless: &'static str,
    /// Lists in which a comma before the closing bracket does not matter.
    pub lists: &'static [&'static str],
    /// Like `lists`, but only with at least two elements, because a tuple of one element needs its
    /// comma.
    pub tuples: &'static [&'static str],
    /// Tokens that do not matter: the parent's kind, and the token.
    pub dropped: KindPairs,
    /// Words that join what follows if they are not ended: `static;` before another field. So a
    /// dropped token matters after a line of nothing else.
    pub joining: &'static [&'static str],
    /// Tokens that do not matter if they come first: the parent's kind, and the token.
    pub leading: KindPairs,
    /// Tokens before which a line break can end a statement, although the grammar reads on: the
    /// parent's kind, and the token.
    pub breaks: KindPairs,
    /// Wrapper nodes. One that contains a single item is treated like that item.
    pub transparent: &'static [&'static str],
    /// Places in which a `parenthesized_expression` may lose its parentheses: kind, field.
    pub parentheses: KindPairs,
    /// More places in which parentheses do not matter, because the tree is the same without them:
    /// `(a * b) + c`.
    pub operands: KindPairs,
    /// Nodes in which all parentheses matter, because their text may be quoted: arguments of a call
    /// that may be a C macro.
    pub quoting: &'static [&'static str],
    pub identifiers: &'static [&'static str],
    pub types: &'static [&'static str],
    /// Places in which an identifier names what is called: kind, field.
    pub callees: KindPairs,
    /// Places in which an identifier names a field, a label or a key, which is never renamed: kind,
    /// field.
    pub labels: KindPairs,
    /// Places in which an identifier, or a pattern of identifiers, becomes a local name: kind,
    /// field.
    pub bindings: KindPairs,
    /// Like `bindings`, but by the preceding token: the parent's kind, and the kind of the node
    /// right before the name.
    pub declared: KindPairs,
    /// Identifiers that are never renamed because of the preceding token: the parent's kind, and
    /// that token.
    pub members: KindPairs,
    /// Nodes whose first child is a key that is never renamed, if they have three or more children
    /// (`a = b` as an argument): the parent's kind, and the node's kind.
    pub keyed: KindPairs,
    /// Places in which a name must not be taken for a local one: `global $a`, `f(a:)`. Kind, field.
    pub foreign: KindPairs,
    /// Nodes with an operator. If it is `=`, the names on its left side become local names.
    pub assignments: &'static [&'static str],
    /// Whether the names in a definition's parameter list, as the query captures it, become local
    /// names.
    pub parameters_bind: bool,
    /// Tokens after which a name in the same node is visible to callers: `~` in `~label`.
    pub marks: &'static [&'static str],
    /// Patterns that can be in a place of `bindings` and contain identifiers.
    pub patterns: &'static [&'static str],
    /// Whether a method's bare name refers to the method itself inside its body.
    pub method_in_scope: bool,
    /// Tokens that do not make a region on their own: `export`, brackets, separators.
    pub trivial: &'static [&'static str],
    /// Whether the grammar's scanner parses an edited text in the same way as a new one. If not,
    /// the text is always parsed as a whole.
    pub incremental: bool,
    /// For data files, the nodes that hold a key and a value inside an entry. Empty for code.
    pub entries: &'static [&'static str],
    /// The maximum depth of a definition in the tree. Deeper ones belong to the block around them,
    /// because the time of a query grows with the square of the depth. If all patterns of the query
    /// begin at the root, 0 is enough.
    pub deepest: u32,
    /// Whether the text between definitions becomes regions. It should not if a program writes it,
    /// such as the outputs in a notebook.
    pub regions: bool,
    /// Whether elements may hold scripts and style sheets in other languages.
    pub embeds: bool,
    /// Whether this is prose. Then the tokens are the words, and not the leaves of the tree.
    pub words: bool,
    pub parameters: Parameters,
    /// Where a name is visible after its declaration. The fields below are used only if this is
    /// set. In a language without it, no name counts as a local that may be renamed.
    pub reach: Option<NameReach>,
    /// Nodes with parameters and a body. Locals exist only inside one of these.
    pub functions: &'static [&'static str],
    /// Nodes inside a function that limit the declarations in them.
    pub scopes: &'static [&'static str],
    /// More places in which a name is declared. They are not in `bindings`, because its entries
    /// affect fingerprints, and recorded blocks would no longer be recognised.
    pub local_bindings: KindPairs,
    /// Nodes whose bindings are visible only after everything else in the node was read.
    pub late: &'static [&'static str],
    /// More nodes that form patterns. They are not in `patterns` for the same reason.
    pub local_patterns: &'static [&'static str],
    /// Fields of patterns that are not part of the pattern: a default value, a path.
    pub not_pattern: KindPairs,
    /// Places of names that callers can use, such as parameters in Python.
    pub public_names: KindPairs,
    /// Places in which an identifier names a member, a label, a key or a part of a path.
    pub member_names: KindPairs,
    pub opaque: &'static [&'static str],
    /// Members that are the name of a function. Where one is mentioned, no local function is renamed.
    pub naming: &'static [&'static str],
    /// Functions that read names at run-time. Nothing is renamed if one of them is called.
    pub reflection: &'static [&'static str],
    /// Nodes that read names at run-time, with the same effect as `reflection`.
    pub reflecting: &'static [&'static str],
    /// Leaves that can name locals, if these are not all of `identifiers`.
    pub local_names: &'static [&'static str],
}

/// Pairs of the kind of a parent node and of something in it. Each table says what that is: the
/// field of a child, or `""` for a child without a field; a token; or the kind of a child.
pub(super) type KindPairs = &'static [(&'static str, &'static str)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameReach {
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

impl Syntax {
    pub(super) fn binds(&self, parent: &str, field: Option<&str>) -> bool {
        self.reach != Some(NameReach::Everywhere)
            && [self.bindings, self.local_bindings].iter().any(|all| holds(all, parent, field))
    }

    pub(super) fn is_pattern(&self, kind: &str) -> bool {
        self.patterns.contains(&kind) || self.local_patterns.contains(&kind)
    }

    /// Returns true if a name right after this token is declared by it.
    pub(super) fn declares(&self, parent: &str, before: Option<&str>) -> bool {
        before.is_some_and(|token| self.declared.contains(&(parent, token)))
    }

    pub(super) fn is_name(&self, kind: &str) -> bool {
        let names = if self.local_names.is_empty() { self.identifiers } else { self.local_names };
        names.contains(&kind)
    }
}

pub(super) fn holds(places: KindPairs, parent: &str, field: Option<&str>) -> bool {
    places.contains(&(parent, field.unwrap_or_default()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameters {
    /// Parameter types are not read, because the language has no overloading by type.
    None,
    /// Each parameter as it is written, without its name, its attributes and its default value.
    Written,
    /// Like `Written`, with the label that callers write.
    Labelled,
    /// The `type` field of each parameter, or `_` if it has none.
    TypeField,
    /// Like `TypeField`, once for each name of the parameter.
    TypePerName,
    /// The declaration without the declared name and the default value.
    Declarator,
    /// The declaration from after the name to the default value, in lower case (SQL).
    AfterName,
}

pub(super) const PLAIN: Syntax = Syntax {
    comments: &["comment"],
    container_comment_starts: &["#!"],
    comments_trail: false,
    wrappers: &[],
    leads: &[],
    lead_words: &[],
    verbatim: &[],
    quotes: &[],
    folded: &[],
    spaced: &[],
    tight: ("", ""),
    flowing: &[],
    caseless: "",
    lists: &[],
    tuples: &[],
    dropped: &[],
    joining: &[],
    leading: &[],
    breaks: &[],
    transparent: &[],
    parentheses: &[],
    operands: &[],
    quoting: &[],
    identifiers: &["identifier"],
    types: &[],
    callees: &[],
    labels: &[],
    bindings: &[],
    declared: &[],
    members: &[],
    keyed: &[],
    foreign: &[],
    assignments: &[],
    parameters_bind: false,
    marks: &[],
    patterns: &[],
    method_in_scope: false,
    trivial: &["{", "}", "(", ")", "[", "]", ";", ","],
    incremental: true,
    entries: &[],
    deepest: 256,
    regions: true,
    embeds: false,
    words: false,
    parameters: Parameters::None,
    reach: None,
    functions: &[],
    scopes: &[],
    local_bindings: &[],
    late: &[],
    local_patterns: &[],
    not_pattern: &[],
    public_names: &[],
    member_names: &[],
    opaque: &[],
    naming: &[],
    reflection: &[],
    reflecting: &[],
    local_names: &[],
};

/// The defaults of languages in which no node counts as the name of a value.
pub(super) const NAMELESS: Syntax = Syntax { identifiers: &[], ..PLAIN };

pub(super) type Facts = u32;
pub(super) const COMMENT: Facts = 1;
pub(super) const VERBATIM: Facts = 1 << 1;
pub(super) const QUOTES: Facts = 1 << 2;
pub(super) const FOLDED: Facts = 1 << 3;
pub(super) const LIST: Facts = 1 << 4;
pub(super) const TUPLE: Facts = 1 << 5;
pub(super) const IDENTIFIER: Facts = 1 << 6;
pub(super) const TYPE: Facts = 1 << 7;
pub(super) const PATTERN: Facts = 1 << 8;
pub(super) const PARENTHESES: Facts = 1 << 9;
/// The parameters of an arrow function. A formatter may add or remove their parentheses.
pub(super) const ARROW_PARAMETERS: Facts = 1 << 10;
pub(super) const TRANSPARENT: Facts = 1 << 11;
pub(super) const SPACED: Facts = 1 << 12;
pub(super) const FLOWING: Facts = 1 << 13;
pub(super) const CASELESS: Facts = 1 << 14;
pub(super) const ASSIGNMENT: Facts = 1 << 15;
pub(super) const WRAPPER: Facts = 1 << 16;
pub(super) const LEAD: Facts = 1 << 17;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureRole {
    Definition(BlockKind),
    Name,
    /// Comes before the name, followed by ` for `: the trait of a Rust `impl`.
    NameTrait,
    /// The name is all text from the start of the definition to this node.
    NameBefore,
    /// The words of this node's kind come before the name: `create table`.
    NameKind,
    /// Comes last in the name, although it is the name of another definition.
    NameObject,
    /// The name is the value of `name`, `id` or `key` in this entry.
    NameEntry,
    /// A definition that may have no name; it is then called `default`.
    NameDefault,
    Scope,
    Parameters,
    /// The definition counts only outside functions and other declarations.
    Outside,
    Helper,
}

#[derive(Debug)]
pub(super) struct Compiled {
    pub patterns: Patterns,
    /// The kind of a root. Found when first needed.
    root_kind: OnceLock<u16>,
    grammar: tree_sitter::Language,
    pub roles: Vec<CaptureRole>,
    pub syntax: &'static Syntax,
    facts: Vec<Facts>,
    /// Each list is sorted. Most have only a few pairs.
    pairs: [Vec<(u16, u16)>; 11],
}

/// The lists of pairs in a [`Syntax`], in the order of [`Compiled::new`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Pair {
    Dropped,
    Leading,
    Parentheses,
    Callee,
    Label,
    Binding,
    Declared,
    Member,
    Keyed,
    Foreign,
    Break,
}

impl Compiled {
    pub(super) fn new(
        grammar: &tree_sitter::Language,
        queries: &str,
        syntax: &'static Syntax,
    ) -> Result<Self, String> {
        let patterns = Patterns::parse(grammar, queries)?;
        let roles = patterns.capture_names().iter().map(|name| role_of(name)).collect();
        let field = |name: &str| grammar.field_id_for_name(name).map_or(0, |id| id.get());
        let kinds = KindIds::from_grammar(grammar);
        let fields = |pairs| kinds.pair_ids(pairs, |name| vec![field(name)]);
        let tokens = |pairs| kinds.pair_ids(pairs, |name| kinds.ids_of_name(name).to_vec());
        let pairs = [
            tokens(syntax.dropped),
            tokens(syntax.leading),
            fields(syntax.parentheses),
            fields(syntax.callees),
            fields(syntax.labels),
            fields(syntax.bindings),
            tokens(syntax.declared),
            tokens(syntax.members),
            tokens(syntax.keyed),
            fields(syntax.foreign),
            tokens(syntax.breaks),
        ];
        Ok(Self {
            patterns,
            root_kind: OnceLock::new(),
            grammar: grammar.clone(),
            roles,
            syntax,
            facts: kinds.facts_of_kinds(grammar, syntax),
            pairs,
        })
    }

    /// Returns the kind of the root of a text without syntax errors.
    pub(super) fn root_kind(&self) -> u16 {
        *self.root_kind.get_or_init(|| {
            let mut parser = Parser::new();
            let is_set = parser.set_language(&self.grammar).is_ok();
            let empty = is_set.then(|| parser.parse("", None)).flatten();
            empty.map_or(0, |tree| tree.root_node().kind_id())
        })
    }

    /// Returns the facts about a node kind. Kinds outside the grammar (errors) have none.
    pub(super) fn facts(&self, kind: u16) -> Facts {
        self.facts.get(usize::from(kind)).copied().unwrap_or(0)
    }

    pub(super) fn kind(&self, id: u16) -> &str {
        self.grammar.node_kind_for_id(id).unwrap_or("ERROR")
    }

    pub(super) fn field(&self, id: u16) -> Option<&str> {
        self.grammar.field_name_for_id(id)
    }

    pub(super) fn has_pair(&self, pair: Pair, parent: u16, other: u16) -> bool {
        self.pairs[pair as usize].binary_search(&(parent, other)).is_ok()
    }
}

fn role_of(capture: &str) -> CaptureRole {
    match capture {
        "name" => CaptureRole::Name,
        "name.trait" => CaptureRole::NameTrait,
        "name.kind" => CaptureRole::NameKind,
        "name.object" => CaptureRole::NameObject,
        "name.before" => CaptureRole::NameBefore,
        "name.entry" => CaptureRole::NameEntry,
        "name.default" => CaptureRole::NameDefault,
        "scope" => CaptureRole::Scope,
        "parameters" => CaptureRole::Parameters,
        "outside" => CaptureRole::Outside,
        _ => capture
            .strip_prefix("definition.")
            .and_then(BlockKind::parse)
            .map_or(CaptureRole::Helper, CaptureRole::Definition),
    }
}

/// The ids of the node kinds by name. Several kinds of a grammar may have one name.
struct KindIds<'g>(HashMap<&'g str, Vec<u16>>);

impl<'g> KindIds<'g> {
    fn from_grammar(grammar: &'g tree_sitter::Language) -> Self {
        let mut ids: HashMap<&str, Vec<u16>> = HashMap::new();
        for id in 0..grammar.node_kind_count() as u16 {
            ids.entry(grammar.node_kind_for_id(id).unwrap_or_default()).or_default().push(id);
        }
        Self(ids)
    }

    fn ids_of_name(&self, name: &str) -> &[u16] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn facts_of_kinds(&self, grammar: &tree_sitter::Language, syntax: &Syntax) -> Vec<Facts> {
        let of_lists: [(&[&str], Facts); 17] = [
            (syntax.comments, COMMENT),
            (syntax.wrappers, WRAPPER),
            (syntax.leads, LEAD),
            (syntax.verbatim, VERBATIM),
            (syntax.quotes, QUOTES),
            (syntax.folded, FOLDED),
            (syntax.spaced, SPACED),
            (syntax.flowing, FLOWING),
            (syntax.assignments, ASSIGNMENT),
            (syntax.lists, LIST),
            (syntax.tuples, TUPLE),
            (syntax.identifiers, IDENTIFIER),
            (syntax.types, TYPE),
            (syntax.patterns, PATTERN),
            (syntax.transparent, TRANSPARENT),
            (&["parenthesized_expression"], PARENTHESES),
            (&["formal_parameters"], ARROW_PARAMETERS),
        ];
        let mut facts = vec![0; grammar.node_kind_count()];
        for (names, fact) in of_lists {
            let ids = names.iter().flat_map(|name| self.ids_of_name(name));
            for id in ids.filter(|id| grammar.node_kind_is_named(**id)) {
                facts[usize::from(*id)] |= fact;
            }
        }
        let is_caseless =
            |name: &str| !syntax.caseless.is_empty() && name.starts_with(syntax.caseless);
        for (_, ids) in self.0.iter().filter(|(name, _)| is_caseless(name)) {
            ids.iter().for_each(|id| facts[usize::from(*id)] |= CASELESS);
        }
        facts
    }

    /// Replaces the names in a list of pairs by ids. `others` returns the ids of the second name.
    fn pair_ids(
        &self,
        pairs: &[(&str, &str)],
        others: impl Fn(&str) -> Vec<u16>,
    ) -> Vec<(u16, u16)> {
        let mut ids = Vec::new();
        for (parent, other) in pairs {
            let others = others(other);
            for parent in self.ids_of_name(parent) {
                ids.extend(others.iter().map(|other| (*parent, *other)));
            }
        }
        ids.sort_unstable();
        ids
    }
}

/// Visits a node and the nodes below it, each before its children. `enter` says whether to visit
/// the children. This is a loop and not a recursion, because source code may be nested deeper than
/// the stack allows.
pub(super) fn visit<'t>(top: Node<'t>, mut enter: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = top.walk();
    loop {
        if enter(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language;

    /// A rule with a name that the grammar does not know would never apply, without any error.
    #[test]
    fn every_name_in_the_table_is_known_to_its_grammar() {
        for language in language::with_grammar() {
            let grammar = language.grammar.expect("it has one")();
            let kinds = KindIds::from_grammar(&grammar);
            let syntax = language.syntax;
            let lists = [
                syntax.comments,
                syntax.wrappers,
                syntax.leads,
                syntax.verbatim,
                syntax.quotes,
                syntax.folded,
                syntax.spaced,
                syntax.flowing,
                syntax.assignments,
                syntax.lists,
                syntax.tuples,
                syntax.identifiers,
                syntax.types,
                syntax.patterns,
                syntax.transparent,
                syntax.entries,
                syntax.quoting,
            ];
            for name in lists.into_iter().flatten() {
                assert!(!kinds.ids_of_name(name).is_empty(), "{}: {name}", language.id);
            }
            // The three dialects of JavaScript share one set of rules about locals.
            let is_dialect = ["javascript", "typescript", "tsx"].contains(&language.id);
            let lists = [
                syntax.functions,
                syntax.scopes,
                syntax.late,
                syntax.local_patterns,
                syntax.opaque,
                syntax.reflecting,
                syntax.local_names,
            ];
            for name in lists.into_iter().flatten() {
                let known = is_dialect || !kinds.ids_of_name(name).is_empty();
                assert!(known, "{}: {name}", language.id);
            }
            let tokens = [
                syntax.dropped,
                syntax.leading,
                syntax.breaks,
                syntax.declared,
                syntax.members,
                syntax.keyed,
            ];
            for (parent, token) in tokens.concat() {
                assert!(!kinds.ids_of_name(parent).is_empty(), "{}: {parent}", language.id);
                assert!(!kinds.ids_of_name(token).is_empty(), "{}: {token}", language.id);
            }
            let fields = [
                syntax.parentheses,
                syntax.operands,
                syntax.callees,
                syntax.labels,
                syntax.bindings,
                syntax.foreign,
            ];
            let locals = [
                syntax.local_bindings,
                syntax.not_pattern,
                syntax.public_names,
                syntax.member_names,
            ];
            let locals = locals.concat().into_iter().filter(|_| !is_dialect);
            for (parent, field) in fields.concat().into_iter().chain(locals) {
                assert!(!kinds.ids_of_name(parent).is_empty(), "{}: {parent}", language.id);
                let known = field.is_empty() || grammar.field_id_for_name(field).is_some();
                assert!(known, "{}: {field}", language.id);
            }
        }
    }

    #[test]
    fn every_query_compiles_and_its_captures_have_a_role() {
        for language in language::with_grammar() {
            let compiled = Compiled::new(
                &language.grammar.expect("it has one")(),
                &language.queries.concat(),
                language.syntax,
            )
            .unwrap_or_else(|error| panic!("queries/{}/blocks.scm: {error}", language.id));
            for (name, role) in compiled.patterns.capture_names().iter().zip(&compiled.roles) {
                assert!(
                    *role != CaptureRole::Helper || name.starts_with('_'),
                    "{}: {name}",
                    language.id
                );
            }
            assert_ne!(compiled.root_kind(), 0, "{}", language.id);
        }
    }
}
