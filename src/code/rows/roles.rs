//! What the nodes of each grammar are to the rules that compare programs, as data.
//!
//! A rule asks `node.is_a(Role::Return)` and names no node; which nodes these are, the tables say for each language.
//! A role is called like the node where only one node has it.

use std::collections::HashMap;
use std::sync::OnceLock;

/// What a node is to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Says who may see a definition.
    Access,
    AccessWord,
    /// Asks for more of a function than its body.
    Annotation,
    /// An operator between two operands.
    AnyBinary,
    /// Calls something.
    AnyCall,
    ArrayLiteral,
    Assertion,
    AssignmentExpression,
    AssignmentToLeft,
    /// Stands before a definition and belongs to it.
    Attached,
    /// An attribute, an annotation or a decorator.
    Attribute,
    AttributeAccess,
    AttributeItem,
    Binary,
    /// Statements in braces, or by indentation.
    Block,
    /// What a body must not hold if it is to stand elsewhere: it would return, wait or clean up somewhere else.
    Bound,
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
    /// Evaluates some of its parts only sometimes.
    Conditional,
    ConstructorDeclaration,
    Continue,
    Declaration,
    Declarator,
    DeclaredParameter,
    /// May make a local known.
    Declaring,
    Decorator,
    DefaultParameter,
    /// Declares a name that is no value's.
    Definition,
    /// May do something, beside having a value.
    Effect,
    /// A `return` inside leaves this, not what is around.
    Enclosing,
    Entry,
    EnumVariant,
    /// Leaves what is around it.
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
    /// Names in it are locals, though they are not resolved as such.
    HiddenPattern,
    HoistedFunction,
    /// A value inside a text.
    Hole,
    Identifier,
    If,
    /// Only makes names known.
    Import,
    ImportDeclaration,
    ImportFrom,
    ImportSpec,
    ImportStatement,
    IndirectDeclarator,
    InitDeclarator,
    Interpolation,
    Item,
    Jsx,
    JumpLabel,
    JumpStatement,
    KeyedElement,
    LabelName,
    /// Evaluated later, if at all.
    Later,
    /// A statement that leaves.
    Leaving,
    LetDeclaration,
    LetForm,
    LexicalDeclaration,
    /// Holds definitions, and is none.
    List,
    /// A value as it is written.
    Literal,
    LocalDeclaration,
    /// An import that may stand inside a function.
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
    ModItem,
    Modifiers,
    ModuleStatement,
    /// A name of anything.
    Name,
    NameAssignment,
    Named,
    NamedParameter,
    NamedType,
    /// Makes only the last parts of its paths known.
    NamesLast,
    /// Is no value at the end of a block.
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
    PreprocInclude,
    Preprocessor,
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
    /// A function that can be put back for its calls.
    Routine,
    RustAttribute,
    RustStatement,
    ScopedIdentifier,
    ScopedUseList,
    Selector,
    SelfParameter,
    /// What is of this type is not copied.
    SharedType,
    ShortVarDeclaration,
    ShorthandFieldIdentifier,
    ShorthandFieldInitializer,
    ShorthandPattern,
    ShorthandProperty,
    Specifier,
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
    TypeDeclaration,
    TypeName,
    TypeParameters,
    /// Says of which type the value becomes.
    TypedDeclaration,
    TypedParameter,
    Unary,
    /// Its value is not used.
    UnitCall,
    Update,
    UseAsClause,
    UseDeclaration,
    UseList,
    UseWildcard,
    /// A place for a value, with braces or without.
    ValuePlace,
    VariableDeclaration,
    VariableDeclarator,
    VariableName,
    Variant,
    VisibilityModifier,
    WithAttributes,
    /// May stand around a definition.
    Wrapping,
}

impl Role {
    /// Whether a node of this kind has the role, in any language.
    pub(crate) fn has(self, kind: &str) -> bool {
        Roles::of(kind).has(self)
    }
}

/// The roles of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles([u64; 3]);

impl Roles {
    /// Those of the nodes of this kind, in any language.
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

/// Nodes of which a longer spelling of the same is made: `{a: a}` for `{a}`.
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
    /// A definition behind its attributes; no grammar has such a node.
    pub(crate) const WITH_ATTRIBUTES: &str = "with attributes";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::code::language;

    /// A name that the grammar does not know would be a rule that silently never holds.
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

    /// A rule that names a node itself would be one that no table says and no grammar checks.
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
