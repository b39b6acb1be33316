//! The roles that the nodes of each grammar have in the rules that compare programs, as data.
//!
//! A rule asks `node.is_a(Role::Return)` and does not name a node kind. The tables say which nodes
//! have the role in each language. If only one node has a role, the role is named like the node.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The role of a node in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Limits who may use a definition, such as `pub`.
    Access,
    AccessWord,
    /// An attribute or decorator that makes a function more than its body.
    Annotation,
    /// An operator between two operands.
    AnyBinary,
    /// Any kind of call, of a function, a method or a macro.
    AnyCall,
    ArrayLiteral,
    Assertion,
    AssignmentExpression,
    AssignmentToLeft,
    /// Comes before a definition and belongs to it.
    Attached,
    /// An attribute, an annotation or a decorator.
    Attribute,
    AttributeAccess,
    AttributeBody,
    AttributeItem,
    Binary,
    /// Statements in braces, or grouped by indentation.
    Block,
    Break,
    Call,
    CallExpression,
    CallLike,
    CallOrDelegation,
    Character,
    ClassDefinition,
    /// A function without a name.
    Closure,
    CompositeLiteral,
    ComputedPropertyName,
    /// Evaluates some of its parts only in some cases.
    Conditional,
    ConstructorDeclaration,
    Continue,
    Declaration,
    Declarator,
    DeclaredParameter,
    /// A statement that may declare a local.
    Declaring,
    Decorator,
    DefaultParameter,
    /// Is evaluated later, or not at all.
    Deferred,
    /// Declares a name that is not the name of a value.
    Definition,
    /// May have an effect besides its value.
    Effect,
    /// A `return` inside this node leaves this node only.
    Enclosing,
    Entry,
    EnumVariant,
    /// Leaves the enclosing loop, block or function.
    Exit,
    ExplicitConstructorInvocation,
    Export,
    ExpressionList,
    ExpressionStatement,
    ExternCrateDeclaration,
    Field,
    FieldAccess,
    FieldExpression,
    FieldPattern,
    /// A statement that may evaluate a call before anything else.
    FirstValue,
    ForIn,
    ForInClause,
    FuncLiteral,
    /// Anything with parameters and a body.
    Function,
    FunctionDeclarator,
    FunctionDefinition,
    FunctionValue,
    GlobalDeclaration,
    GoBlock,
    /// Contains names that are locals, although they are not resolved as locals.
    HiddenPattern,
    HoistedFunction,
    Identifier,
    If,
    /// Makes names known and does nothing else.
    Import,
    ImportDeclaration,
    ImportFrom,
    ImportSpec,
    ImportStatement,
    IndirectDeclarator,
    InitDeclarator,
    /// A value inside a string, as in an interpolation.
    InterpolatedValue,
    Interpolation,
    Item,
    Jsx,
    JumpLabel,
    JumpStatement,
    KeyedElement,
    LabelName,
    /// A statement that leaves the enclosing loop or function.
    Leaving,
    LetDeclaration,
    LetForm,
    LexicalDeclaration,
    /// Contains definitions, but is not a definition itself.
    List,
    /// A literal value, or a part of one.
    Literal,
    LocalDeclaration,
    /// An import that may be inside a function.
    LocalImport,
    Loop,
    MacroInvocation,
    MarkerAnnotation,
    MayDeclare,
    /// Declares a field or a variant.
    Member,
    MemberExpression,
    Method,
    MethodDefinition,
    MethodInvocation,
    Modifiers,
    ModItem,
    ModuleStatement,
    /// A name of any kind of thing.
    Name,
    NameAssignment,
    Named,
    NamedParameter,
    NamedType,
    /// Makes only the last parts of its paths known.
    NamesLast,
    /// A node that must not be in a body that moves to another place, because it would return, wait
    /// or clean up somewhere else.
    NotMovable,
    /// Is not the value of a block, even at its end.
    NoValue,
    Null,
    Number,
    ObjectAssignmentPattern,
    OfSaidType,
    Operation,
    OuterNames,
    PackageClause,
    PackageDeclaration,
    PairPattern,
    Parameter,
    ParameterDeclaration,
    ParameterMark,
    Parenthesized,
    PathImport,
    PatternParameter,
    PlainDefault,
    PlainName,
    PlainText,
    PlainValue,
    PointerDeclarator,
    PreprocArg,
    Preprocessor,
    PreprocInclude,
    Quote,
    RawStringLiteral,
    Reference,
    RelativeImport,
    Repeat,
    /// Evaluates its parts any number of times.
    Repeated,
    Return,
    ReturnExpression,
    ReturnStatement,
    /// A function whose calls can be replaced by its body.
    Routine,
    ScopedIdentifier,
    ScopedUseList,
    Selector,
    SelfParameter,
    /// A type whose values are shared and not copied.
    SharedType,
    ShorthandFieldIdentifier,
    ShorthandFieldInitializer,
    ShorthandPattern,
    ShorthandProperty,
    ShortVarDeclaration,
    Specifier,
    Statement,
    StatementBlock,
    StatementList,
    String,
    StringContent,
    StringLiteral,
    StringLiteralPart,
    Super,
    Switch,
    SwitchPart,
    SwitchSection,
    Text,
    This,
    Throw,
    TokenTree,
    Truth,
    TruthValue,
    /// A declaration that may state the type of its value.
    TypedDeclaration,
    TypeDeclaration,
    TypedParameter,
    TypeName,
    TypeParameters,
    Unary,
    /// A statement whose value is not used.
    UnitCall,
    Update,
    UseAsClause,
    UseDeclaration,
    UseList,
    UseWildcard,
    /// A place for a value, with or without braces.
    ValuePlace,
    VariableDeclaration,
    VariableDeclarator,
    VariableName,
    Variant,
    VisibilityModifier,
    WithAttributes,
    /// May be around a definition.
    Wrapping,
}

impl Role {
    /// Returns true if nodes of this kind have the role, in any language.
    pub(crate) fn has(self, kind: &str) -> bool {
        Roles::of(kind).has(self)
    }
}

/// The set of roles of one node kind, as bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles([u64; 3]);

impl Roles {
    /// Returns the roles of this node kind, taken together for all languages.
    pub(crate) fn of(kind: &str) -> &'static Self {
        static KNOWN: OnceLock<HashMap<&str, Roles>> = OnceLock::new();
        static NONE: Roles = Roles([0; 3]);
        if kind.is_empty() {
            return &NONE;
        }
        let known = KNOWN.get_or_init(|| {
            let mut known: HashMap<&str, Self> = HashMap::new();
            for (role, kinds) in super::role_tables::TABLES.iter().flat_map(|(_, rows)| *rows) {
                kinds.split(' ').for_each(|kind| known.entry(kind).or_default().add(*role));
            }
            let ours = known.entry(made::WITH_ATTRIBUTES).or_default();
            ours.add(Role::WithAttributes);
            ours.add(Role::Wrapping);
            known
        });
        known.get(kind).unwrap_or(&NONE)
    }

    fn add(&mut self, role: Role) {
        self.0[role as usize / 64] |= 1 << (role as usize % 64);
    }

    pub(crate) fn has(&self, role: Role) -> bool {
        self.0[role as usize / 64] & (1 << (role as usize % 64)) != 0
    }
}

/// The kinds of nodes that this program makes itself, such as `{a: a}` for `{a}`.
pub(crate) mod made {
    pub(crate) const ASSIGNMENT_PATTERN: &str = "assignment_pattern";
    pub(crate) const BINARY: &str = "binary_expression";
    pub(crate) const FIELD_IDENTIFIER: &str = "field_identifier";
    pub(crate) const FIELD_INITIALIZER: &str = "field_initializer";
    pub(crate) const IDENTIFIER: &str = "identifier";
    pub(crate) const PAIR: &str = "pair";
    pub(crate) const PAIR_PATTERN: &str = "pair_pattern";
    pub(crate) const PROPERTY_IDENTIFIER: &str = "property_identifier";
    pub(crate) const UNARY: &str = "unary_expression";
    pub(crate) const VARIABLE_NAME: &str = "variable_name";
    /// A definition together with its attributes. No grammar has such a node.
    pub(crate) const WITH_ATTRIBUTES: &str = "with attributes";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::code::language;

    /// A rule with a name that the grammar does not know would never apply, without any error.
    #[test]
    fn every_node_with_a_role_is_known_to_its_grammar() {
        for language in language::all() {
            let grammar = (language.grammar)();
            let kinds: Vec<&str> = (0..grammar.node_kind_count() as u16)
                .filter_map(|id| grammar.node_kind_for_id(id))
                .collect();
            let tables = super::super::role_tables::TABLES.iter();
            for (role, names) in
                tables.filter(|(ids, _)| ids.contains(&language.id)).flat_map(|(_, rows)| *rows)
            {
                for name in names.split(' ') {
                    assert!(kinds.contains(&name), "{}: {role:?}: {name}", language.id);
                }
            }
        }
    }

    #[test]
    fn every_table_is_of_a_language() {
        let all = super::super::role_tables::TABLES.iter().flat_map(|(ids, _)| *ids);
        for id in all.filter(|_| cfg!(feature = "grammars-heavy")) {
            assert!(language::by_id(id).is_some(), "{id}");
        }
    }

    /// Node kinds belong in the tables, where they are checked against the grammars. A rule must
    /// not name one itself.
    #[test]
    fn no_rule_names_a_node() {
        let (mut known, mut fields) = (HashSet::new(), HashSet::new());
        for language in language::all() {
            let grammar = (language.grammar)();
            let kinds = (0..grammar.node_kind_count() as u16)
                .filter_map(|id| grammar.node_kind_for_id(id))
                .filter(|kind| kind.contains('_') && kind.starts_with(char::is_lowercase));
            known.extend(kinds.map(str::to_owned));
            let all = (1..=grammar.field_count() as u16)
                .filter_map(|id| grammar.field_name_for_id(id).map(str::to_owned));
            fields.extend(all);
        }
        known.retain(|kind| !fields.contains(kind));
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for folder in ["provenance/classify", "code/program"] {
            for file in std::fs::read_dir(root.join(folder)).expect("the rules") {
                let path = file.expect("a file").path();
                let text = std::fs::read_to_string(&path).expect("a source");
                for (at, line) in text.lines().enumerate() {
                    let code = line.split("//").next().unwrap_or_default();
                    let named =
                        code.split('"').skip(1).step_by(2).find(|word| known.contains(*word));
                    let asked = ["kind == \"", "kind != \"", "kind.starts_with(", "kind.contains("]
                        .iter()
                        .find(|form| code.contains(**form));
                    assert_eq!((named, asked), (None, None), "{}:{}", path.display(), at + 1);
                }
            }
        }
    }
}
