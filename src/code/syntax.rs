//! What is particular to a language's tokens, as data, and the same compiled
//! against its grammar so that the walk over a tree compares numbers.

use std::collections::HashSet;
use std::sync::OnceLock;

use tree_sitter::{Node, Parser, Query, QueryError};

use super::BlockKind;

/// The token facts of a language. Names are node kinds of its grammar; a pair is
/// a parent's kind and a field in it, or `""` where the child has no field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syntax {
    /// Left out of the tokens, with all inside.
    pub comments: &'static [&'static str],
    /// Comments that begin like this are about the file or the block they stand in, never about what follows.
    pub about_holder: &'static [&'static str],
    /// The grammar has comments that stand between two definitions inside the first one, at its end.
    pub comments_trail: bool,
    /// Nodes around a definition: what stands in them before it is its lead (`export`, `template <class T>`).
    pub wrappers: &'static [&'static str],
    /// Nodes beside a definition, before it, that are its lead: attributes, decorators.
    pub leads: &'static [&'static str],
    /// Where not empty, such a node is a lead only when its text begins with one of these words.
    pub lead_words: &'static [&'static str],
    /// Nodes in which white space between the children counts: strings, templates.
    pub verbatim: &'static [&'static str],
    /// Strings where `'a'` and `"a"` are the same when nothing inside minds.
    pub quotes: &'static [&'static str],
    /// Text whose line breaks the language itself folds (JSX).
    pub folded: &'static [&'static str],
    /// Nodes in which it counts whether white space stands between two children, but not how much.
    pub spaced: &'static [&'static str],
    /// Characters before which that white space says nothing either, and after which.
    pub tight: (&'static str, &'static str),
    /// Running text: any white space in it is as good as one space, except below `<pre>`.
    pub flowing: &'static [&'static str],
    /// Leaves whose kind begins like this are words in which case says nothing.
    pub caseless: &'static str,
    /// Lists in which a comma before the closing bracket changes nothing.
    pub lists: &'static [&'static str],
    /// The same, but only with two elements at least (a tuple of one needs it).
    pub tuples: &'static [&'static str],
    /// Tokens that change nothing: parent's kind, token.
    pub dropped: &'static [(&'static str, &'static str)],
    /// Tokens that change nothing when they come first: parent's kind, token.
    pub leading: &'static [(&'static str, &'static str)],
    /// Tokens before which a line break can end a statement, though the grammar reads on: parent's kind, token.
    pub breaks: &'static [(&'static str, &'static str)],
    /// Nodes that say nothing when they hold one thing only.
    pub transparent: &'static [&'static str],
    /// Where a `parenthesized_expression` may lose its parentheses.
    pub parentheses: &'static [(&'static str, &'static str)],
    /// Further places where they say nothing, because the tree without them is the same: `(a * b) + c`.
    pub operands: &'static [(&'static str, &'static str)],
    /// Nodes in which all parentheses count, since what is read may be quoted: arguments of what may be a macro of C.
    pub quoting: &'static [&'static str],
    /// Nodes that name things.
    pub identifiers: &'static [&'static str],
    /// Nodes that name types.
    pub types: &'static [&'static str],
    /// Where an identifier names what is called.
    pub callees: &'static [(&'static str, &'static str)],
    /// Where an identifier names a field, a label, a key: never renamed.
    pub labels: &'static [(&'static str, &'static str)],
    /// Where an identifier (or a pattern of identifiers) becomes a local name.
    pub bindings: &'static [(&'static str, &'static str)],
    /// The same by the token before: parent's kind, and what stands right before it.
    pub declared: &'static [(&'static str, &'static str)],
    /// Where an identifier is never renamed because of what stands right before it: parent's kind, token.
    pub members: &'static [(&'static str, &'static str)],
    /// Where the first of three or more children is a key, never renamed (`a = b` as an argument): outer kind, kind.
    pub keyed: &'static [(&'static str, &'static str)],
    /// Where a name is mentioned that must not be taken for a local: `global $a`, `f(a:)`.
    pub foreign: &'static [(&'static str, &'static str)],
    /// Operators whose left side becomes local names where the operator is `=`.
    pub assignments: &'static [&'static str],
    /// The parameters of a definition, as the query finds them, become local names.
    pub parameters_bind: bool,
    /// Tokens after which a name in the same node is one that others use: `~` in `~label`.
    pub marks: &'static [&'static str],
    /// Patterns that may stand there and hold identifiers.
    pub patterns: &'static [&'static str],
    /// Whether a method's bare name means the method itself in its body.
    pub method_in_scope: bool,
    /// Tokens of which a region does not consist: `export`, brackets, separators.
    pub trivial: &'static [&'static str],
    /// The grammar's scanner re-parses an edited text like a new one; where not, it is parsed whole.
    pub incremental: bool,
    /// Members of the entries of a data file: nodes that hold a key and a value. Empty for code.
    pub entries: &'static [&'static str],
    /// Definitions deeper in the tree than this are left to the block around them: the time of a query grows with the
    /// square of the depth. Patterns that all begin at the root need no more than 0.
    pub deepest: u32,
    /// What lies between definitions is a block; not where programs write it, as the outputs in a notebook.
    pub regions: bool,
    /// Elements of it may hold scripts and style sheets.
    pub embeds: bool,
    /// Prose: the tokens are the words, not the leaves of the tree.
    pub words: bool,
    /// How parameter types are read.
    pub parameters: Parameters,
}

/// How the parameter types of a definition are read from its parameter list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameters {
    /// The language has no types to overload by.
    None,
    /// Each parameter as written, but for its name, its attributes and its default value.
    Written,
    /// The same, and the label that callers write.
    Labelled,
    /// Each parameter's `type` field; `_` where it has none.
    TypeField,
    /// The same, once for each name the parameter has.
    TypePerName,
    /// The declaration without the declared name and the default value.
    Declarator,
    /// The declaration after its name and up to its default value; case says nothing (SQL).
    AfterName,
}

/// What all languages start from.
pub(super) const PLAIN: Syntax = Syntax {
    comments: &["comment"],
    about_holder: &["#!"],
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
};

/// Facts of one node kind, as bits.
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
/// An arrow function's parameters, whose parentheses a formatter adds or takes.
pub(super) const ARROW_PARAMETERS: Facts = 1 << 10;
pub(super) const TRANSPARENT: Facts = 1 << 11;
pub(super) const SPACED: Facts = 1 << 12;
pub(super) const FLOWING: Facts = 1 << 13;
pub(super) const CASELESS: Facts = 1 << 14;
pub(super) const ASSIGNMENT: Facts = 1 << 15;
pub(super) const WRAPPER: Facts = 1 << 16;
pub(super) const LEAD: Facts = 1 << 17;

/// What a capture of the query says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureRole {
    Definition(BlockKind),
    Name,
    /// Stands before the name, with ` for ` between: a Rust trait.
    NameTrait,
    /// The name is what stands before this, from the definition's start.
    NameBefore,
    /// The words of this node's kind stand before the name: `create table`.
    NameKind,
    /// Stands last in the name, though it is another definition's name.
    NameObject,
    /// The name is the value of this entry's `name`, `id` or `key`.
    NameEntry,
    /// A definition that may have no name but `default`.
    NameDefault,
    Scope,
    Parameters,
    /// The definition counts only outside functions and other declarations.
    Outside,
    Helper,
}

/// A language's query and token facts, compiled against its grammar.
#[derive(Debug)]
pub(super) struct Compiled {
    query: Query,
    /// The query for a root that an error swallowed; made at first need.
    rootless: OnceLock<Option<Query>>,
    source: String,
    grammar: tree_sitter::Language,
    /// By capture index.
    pub roles: Vec<CaptureRole>,
    pub syntax: &'static Syntax,
    facts: Vec<Facts>,
    pairs: [HashSet<(u16, u16)>; 11],
}

/// The lists of pairs in a [`Syntax`].
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
        query: &str,
        syntax: &'static Syntax,
    ) -> Result<Self, QueryError> {
        let source = query.to_owned();
        let query = Query::new(grammar, query)?;
        let roles = query.capture_names().iter().map(|name| role_of(name)).collect();
        let fields = |pairs| field_pairs(grammar, pairs);
        let tokens = |pairs| token_pairs(grammar, pairs);
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
            query,
            rootless: OnceLock::new(),
            source,
            grammar: grammar.clone(),
            roles,
            syntax,
            facts: facts(grammar, syntax),
            pairs,
        })
    }

    /// The query for a tree with this root.
    ///
    /// A syntax error can make the root an error, with the definitions that were understood below it: then what the
    /// query says of the root's children holds for the error's. Captures have the same indices in both.
    pub(super) fn query(&self, root: Node<'_>) -> &Query {
        if !root.is_error() {
            return &self.query;
        }
        self.rootless.get_or_init(|| self.without_root()).as_ref().unwrap_or(&self.query)
    }

    fn without_root(&self) -> Option<Query> {
        let mut parser = Parser::new();
        parser.set_language(&self.grammar).ok()?;
        let root = format!("({} ", parser.parse("", None)?.root_node().kind());
        Query::new(&self.grammar, &self.source.replace(&root, "(ERROR "))
            .inspect_err(|error| tracing::error!("the query without a root: {error}"))
            .ok()
    }

    /// The facts of a node kind; none for kinds outside the grammar (errors).
    pub(super) fn facts(&self, kind: u16) -> Facts {
        self.facts.get(usize::from(kind)).copied().unwrap_or(0)
    }

    /// The grammar's name of a node kind.
    pub(super) fn kind(&self, id: u16) -> &str {
        self.grammar.node_kind_for_id(id).unwrap_or("ERROR")
    }

    /// The grammar's name of a field.
    pub(super) fn field(&self, id: u16) -> Option<&str> {
        self.grammar.field_name_for_id(id)
    }

    pub(super) fn has(&self, pair: Pair, parent: u16, other: u16) -> bool {
        self.pairs[pair as usize].contains(&(parent, other))
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

fn facts(grammar: &tree_sitter::Language, syntax: &Syntax) -> Vec<Facts> {
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
    kind_ids(grammar)
        .map(|id| {
            let name = grammar.node_kind_for_id(id).unwrap_or_default();
            of_lists
                .iter()
                .filter(|(names, _)| names.contains(&name) && grammar.node_kind_is_named(id))
                .fold(caseless(name, syntax), |facts, (_, fact)| facts | fact)
        })
        .collect()
}

fn caseless(name: &str, syntax: &Syntax) -> Facts {
    let is_known = !syntax.caseless.is_empty() && name.starts_with(syntax.caseless);
    if is_known { CASELESS } else { 0 }
}

fn kind_ids(grammar: &tree_sitter::Language) -> impl Iterator<Item = u16> + use<> {
    0..grammar.node_kind_count() as u16
}

fn ids_of(grammar: &tree_sitter::Language, name: &str) -> Vec<u16> {
    kind_ids(grammar).filter(|&id| grammar.node_kind_for_id(id) == Some(name)).collect()
}

fn field_pairs(grammar: &tree_sitter::Language, pairs: &[(&str, &str)]) -> HashSet<(u16, u16)> {
    let field = |name: &str| grammar.field_id_for_name(name).map_or(0, |id| id.get());
    pairs
        .iter()
        .flat_map(|(parent, name)| {
            let field = field(name);
            ids_of(grammar, parent).into_iter().map(move |id| (id, field))
        })
        .collect()
}

fn token_pairs(grammar: &tree_sitter::Language, pairs: &[(&str, &str)]) -> HashSet<(u16, u16)> {
    pairs
        .iter()
        .flat_map(|(parent, token)| {
            let tokens = ids_of(grammar, token);
            ids_of(grammar, parent)
                .into_iter()
                .flat_map(move |id| tokens.clone().into_iter().map(move |token| (id, token)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language;

    /// A name that the grammar does not know would be a rule that silently never holds.
    #[test]
    fn every_name_in_the_table_is_known_to_its_grammar() {
        for language in language::all() {
            let grammar = (language.grammar)();
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
                assert!(!ids_of(&grammar, name).is_empty(), "{}: {name}", language.id);
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
                assert!(!ids_of(&grammar, parent).is_empty(), "{}: {parent}", language.id);
                assert!(!ids_of(&grammar, token).is_empty(), "{}: {token}", language.id);
            }
            let fields = [
                syntax.parentheses,
                syntax.operands,
                syntax.callees,
                syntax.labels,
                syntax.bindings,
                syntax.foreign,
            ];
            for (parent, field) in fields.concat() {
                assert!(!ids_of(&grammar, parent).is_empty(), "{}: {parent}", language.id);
                let known = field.is_empty() || grammar.field_id_for_name(field).is_some();
                assert!(known, "{}: {field}", language.id);
            }
        }
    }

    #[test]
    fn every_query_compiles_and_its_captures_have_a_role() {
        for language in language::all() {
            let compiled =
                Compiled::new(&(language.grammar)(), &language.queries.concat(), language.syntax)
                    .unwrap_or_else(|error| panic!("queries/{}/blocks.scm: {error}", language.id));
            for (name, role) in compiled.query.capture_names().iter().zip(&compiled.roles) {
                assert!(
                    *role != CaptureRole::Helper || name.starts_with('_'),
                    "{}: {name}",
                    language.id
                );
            }
            let rootless = compiled.without_root();
            let rootless = rootless.unwrap_or_else(|| panic!("{} without a root", language.id));
            assert_eq!(compiled.query.capture_names(), rootless.capture_names(), "{}", language.id);
        }
    }
}
