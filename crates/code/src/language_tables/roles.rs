//! The roles that the nodes of each grammar have in the rules that compare programs, as data.
//!
//! A rule asks `node.is_a(Role::Return)` and does not name a node kind. The table says which nodes
//! have the role, taken together for all languages. If only one node has a role, the role is named
//! like the node, unless the node means something else in each language: `attribute` is the access to
//! a member in Python ([`Role::AttributeAccess`]) and what stands in `#[…]` in Rust
//! ([`Role::AttributeBody`]).

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::named_enum::named_enum;

named_enum! {
    /// The role of a node in a rule, and the nodes with this role, separated by white space.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role, NODES {
        /// Limits who may use a definition, such as `pub`.
        Access: "accessibility_modifier override_modifier visibility_modifier",
        AccessWord: "private protected public",
        /// An attribute or decorator that makes a function more than its body.
        Annotation: "annotation attribute_item decorator marker_annotation",
        AnyCall: "call call_expression explicit_constructor_invocation macro_invocation
            method_invocation",
        ArrayDeclarator: "array_declarator",
        Assertion: "assert_statement",
        AssignmentToLeft: "assignment_expression assignment_statement",
        Attached: "annotation attribute_item attribute_list decorator",
        Attribute: "annotation attribute_declaration attribute_item attribute_list
            attribute_specifier decorator marker_annotation",
        AttributeAccess: "attribute",
        AttributeBody: "attribute",
        AttributeItem: "attribute_item",
        Binary: "binary_expression",
        Block: "block compound_statement constructor_body statement_block statement_list",
        Break: "break_expression break_statement",
        Call: "call call_expression",
        CallExpression: "call_expression",
        Character: "character_literal",
        ClassBody: "class_body",
        ClassDefinition: "class_definition",
        ClassValue: "class",
        Closure: "closure_expression func_literal lambda lambda_expression",
        CompositeLiteral: "composite_literal",
        ComputedPropertyName: "computed_property_name",
        Conditional: "conditional_expression expression_switch_statement if_clause if_expression
            if_statement match_expression match_statement seh_try_statement switch_expression
            switch_statement ternary_expression try_block try_expression try_statement
            try_with_resources_statement type_switch_statement",
        ConstructorDeclaration: "constructor_declaration",
        Continue: "continue_expression continue_statement",
        Declaration: "declaration",
        Declarator: "init_declarator variable_declarator",
        DeclaredParameter: "formal_parameter optional_parameter required_parameter",
        Decorator: "decorator",
        DefaultParameter: "default_parameter typed_default_parameter",
        /// Declares a name that is not the name of a value.
        Definition: "abstract_class_declaration alias_declaration annotation_type_declaration
            attribute_item class_declaration class_definition const_item enum_declaration enum_item
            foreign_mod_item function_item function_signature_item impl_item inner_attribute_item
            interface_declaration macro_definition mod_item namespace_alias_definition
            record_declaration static_item struct_item trait_item type_alias type_alias_declaration
            type_alias_statement type_declaration type_definition type_item type_spec union_item
            with_item",
        /// May have an effect besides its value.
        Effect: "array_creation_expression assignment assignment_expression assignment_pattern
            assignment_statement augmented_assignment augmented_assignment_expression await
            await_expression call call_expression co_await_expression co_yield_statement
            compound_assignment_expr explicit_constructor_invocation macro_invocation
            method_invocation new_expression object_assignment_pattern object_creation_expression
            update_expression yield yield_expression",
        /// A `return` inside this node leaves this node only.
        Enclosing: "class_body closure_expression func_literal lambda lambda_expression",
        Entry: "field",
        ExplicitConstructorInvocation: "explicit_constructor_invocation",
        Export: "export_statement",
        ExpressionList: "expression_list",
        ExpressionStatement: "expression_statement",
        ExternCrateDeclaration: "extern_crate_declaration",
        Field: "field_declaration field_definition property_declaration public_field_definition",
        FieldAccess: "field_access",
        FieldExpression: "field_expression",
        FieldPattern: "field_pattern",
        ForIn: "for_in_statement",
        ForInClause: "for_in_clause",
        FuncLiteral: "func_literal",
        /// Anything with parameters and a body.
        Function: "arrow_function closure_expression constructor_declaration func_literal
            function_declaration function_definition function_expression function_item
            generator_function generator_function_declaration lambda lambda_expression
            method_declaration method_definition",
        FunctionDeclarator: "function_declarator",
        FunctionDefinition: "function_definition",
        FunctionValue: "arrow_function function_expression",
        GeneratorExpression: "generator_expression",
        GlobalDeclaration: "global_declaration",
        GoBlock: "block statement_list",
        /// Contains names that are locals, although they are not resolved as locals.
        HiddenPattern: "case_pattern record_pattern type_pattern",
        HoistedFunction: "function_declaration generator_function_declaration",
        Identifier: "identifier",
        If: "if_expression if_statement",
        Import: "extern_crate_declaration future_import_statement import_declaration
            import_from_statement import_header import_statement namespace_use_declaration
            package_clause package_declaration preproc_include use_declaration using_declaration
            using_directive",
        ImportDeclaration: "import_declaration",
        ImportFrom: "import_from_statement",
        ImportSpec: "import_spec",
        ImportStatement: "import_statement",
        InitDeclarator: "init_declarator",
        InterpolatedValue: "escape_interpolation interpolation string_interpolation
            template_substitution",
        Interpolation: "interpolation",
        Jsx: "jsx_attribute jsx_closing_element jsx_element jsx_expression jsx_namespace_name
            jsx_opening_element jsx_self_closing_element jsx_text",
        JsxExpression: "jsx_expression",
        JumpLabel: "label lifetime",
        JumpStatement: "break_statement continue_statement",
        KeyedElement: "keyed_element",
        LabelName: "label_name",
        Leaving: "break_expression break_statement continue_expression continue_statement
            raise_statement return_expression return_statement throw_statement",
        LetDeclaration: "let_declaration",
        LetForm: "let_chain let_condition let_declaration",
        LexicalDeclaration: "lexical_declaration",
        /// Contains definitions, but is not a definition itself.
        List: "accessor_list after_block annotation_argument_list annotation_type_body argument_list
            assignment_list async_block attribute_argument_list attribute_list base_list begin_block
            binding_list block block_body body bracketed_argument_list bracketed_parameter_list
            capture_list case_block catch_block class_body class_static_block colon_block
            const_block constructor_body control_structure_body declaration_list
            deprecated_operator_declaration_body do_block dotted_identifier_list else_block
            else_if_block empty_list end_block enum_body enum_class_body enum_declaration_list
            enum_member_declaration_list enum_variant_list enumerator_list expression_list
            extension_body field_declaration_list field_initializer_list finally_block
            formal_parameter_list function_body function_expression_body gen_block
            gnu_asm_clobber_list gnu_asm_goto_list gnu_asm_input_operand_list
            gnu_asm_output_operand_list heredoc_body identifier_list import_list import_spec_list
            indented_block initialized_identifier_list initializer_list interface_body
            keyframe_block keyframe_block_list left_assignment_list macro_body match_block
            match_condition_list module_body nowdoc_body ordered_field_declaration_list
            parameter_list parameter_type_list pattern_list prefix_list preproc_if_in_attribute_list
            property_hook_list protocol_body quasiquote_body record_pattern_body rescue_block
            right_assignment_list scoped_use_list statement_block statement_list
            static_final_declaration_list subscript_argument_list switch_block switch_body
            template_argument_list template_body template_parameter_list then_block try_block
            type_argument_list type_list type_parameter_list unsafe_block use_list var_spec_list
            variable_list willset_didset_block with_template_body",
        Literal: "binary_integer_literal boolean_literal char_literal character_literal
            class_literal composite_literal compound_literal_expression concatenated_string
            decimal_floating_point_literal decimal_integer_literal float_literal func_literal
            hex_floating_point_literal hex_integer_literal imaginary_literal int_literal
            integer_literal interpreted_string_literal interpreted_string_literal_content literal
            literal_element literal_suffix literal_type literal_value multiline_string_fragment
            negative_literal null_literal number_literal octal_integer_literal raw_string_content
            raw_string_delimiter raw_string_literal raw_string_literal_content rune_literal string
            string_content string_end string_fragment string_interpolation string_literal
            string_start system_lib_string template_literal_type template_string
            user_defined_literal",
        LiteralElement: "literal_element",
        LiteralValue: "literal_value",
        LocalDeclaration: "lexical_declaration local_variable_declaration variable_declaration",
        LocalImport: "extern_crate_declaration future_import_statement import_declaration
            import_from_statement import_statement use_declaration using_declaration",
        Loop: "do_statement enhanced_for_statement for_expression for_in_statement for_range_loop
            for_statement loop_expression while_expression while_statement",
        MacroInvocation: "macro_invocation",
        MarkerAnnotation: "marker_annotation",
        MayDeclare: "range_clause receive_statement",
        Member: "enum_variant enumerator field_declaration field_definition property_declaration
            public_field_definition",
        MemberExpression: "member_expression",
        Method: "method_declaration method_definition",
        MethodDefinition: "method_definition",
        MethodInvocation: "method_invocation",
        Modifiers: "modifiers",
        ModItem: "mod_item",
        ModuleStatement: "export_statement import_statement",
        Name: "arrow_renamed_identifier as_renamed_identifier blank_identifier builtin_identifier
            field_identifier identifier initialized_identifier interpolated_identifier
            namespace_identifier nested_identifier nested_type_identifier operator_identifier
            package_identifier private_property_identifier property_identifier qualified_identifier
            scoped_identifier scoped_type_identifier shorthand_field_identifier
            shorthand_property_identifier simple_identifier stable_identifier stable_type_identifier
            statement_identifier type_identifier typed_identifier",
        NameAssignment: "assignment",
        Named: "named_expression",
        NamedParameter: "formal_parameter parameter_declaration",
        NamedType: "generic_type qualified_type type_identifier",
        /// Makes only the last parts of its paths known.
        NamesLast: "import_declaration import_from_statement import_spec use_declaration",
        /// A node that must not be in a body that moves to another place, because it would return,
        /// wait or clean up somewhere else.
        NotMovable: "await await_expression class_declaration class_definition decorator
            defer_statement global_statement go_statement goto_statement labeled_statement
            nonlocal_statement preproc_if preproc_ifdef storage_class_specifier super try_expression
            unsafe_block yield yield_expression",
        /// Is not the value of a Rust block, even at its end.
        NoValue: "attribute_item const_item empty_statement enum_item expression_statement
            extern_crate_declaration foreign_mod_item function_item function_signature_item
            impl_item inner_attribute_item let_declaration macro_definition mod_item static_item
            struct_item trait_item type_item union_item use_declaration",
        Null: "nil null_literal",
        Number: "decimal_floating_point_literal decimal_integer_literal float_literal int_literal
            integer_literal number_literal",
        ObjectAssignmentPattern: "object_assignment_pattern",
        OfSaidType: "cast_expression object_creation_expression",
        OuterNames: "global_statement nonlocal_statement",
        PackageClause: "package_clause",
        PackageDeclaration: "package_declaration",
        PairPattern: "pair_pattern",
        Parameter: "formal_parameter parameter parameter_declaration",
        ParameterDeclaration: "parameter_declaration",
        ParameterMark: "accessibility_modifier annotation decorator marker_annotation
            override_modifier",
        Parenthesized: "parenthesized_expression",
        PartOrBorrow: "field_expression index_expression reference_expression",
        PathImport: "import_declaration import_spec",
        PatternParameter: "parameter required_parameter",
        PlainDefault: "false float integer none string true",
        PlainName: "name",
        PlainText: "interpreted_string_literal raw_string_literal string_literal",
        PlainValue: "false float integer nil none null number true",
        PointerDeclarator: "pointer_declarator",
        PreprocArg: "preproc_arg",
        Preprocessor: "preproc_arg preproc_call preproc_def preproc_defined preproc_directive
            preproc_elif preproc_elifdef preproc_else preproc_function_def preproc_if preproc_ifdef
            preproc_include preproc_include_token2 preproc_params",
        PreprocInclude: "preproc_include",
        Quote: "' \"",
        RawStringLiteral: "raw_string_literal",
        Reference: "pointer_expression unary_expression",
        /// Changes how the text below is read.
        ReadBelow: "macro_definition namespace_definition preproc_call preproc_def
            preproc_function_def preproc_include preproc_nullable preproc_pragma",
        RelativeImport: "relative_import",
        Repeat: "repeat_statement",
        Return: "return_expression return_statement",
        /// A function whose calls can be replaced by its body.
        Routine: "arrow_function constructor_declaration function_declaration function_definition
            function_expression function_item method_declaration method_definition",
        ScopedIdentifier: "scoped_identifier",
        ScopedUseList: "scoped_use_list",
        Selector: "selector_expression",
        SelfParameter: "self_parameter",
        SharedType: "map_type pointer_declarator pointer_type reference_declarator slice_type",
        ShorthandFieldIdentifier: "shorthand_field_identifier",
        ShorthandFieldInitializer: "shorthand_field_initializer",
        ShorthandPattern: "shorthand_property_identifier_pattern",
        ShorthandProperty: "shorthand_property_identifier",
        ShortVarDeclaration: "short_var_declaration",
        SliceExpression: "slice_expression",
        /// An argument that is not the value of the parameter in the same position.
        SpecialArgument: "dictionary_splat keyword_argument list_splat parameter_pack_expansion
            spread_element",
        Specifier: "class_specifier enum_specifier struct_specifier union_specifier",
        StatementBlock: "statement_block",
        StatementList: "statement_list",
        String: "string",
        StringContent: "string_content",
        StringLiteral: "string_literal",
        StringLiteralPart: "interpreted_string_literal interpreted_string_literal_content
            raw_string_literal raw_string_literal_content string_literal",
        /// Creates a value of a type that it names, such as `Guard { n }`.
        StructExpression: "compound_literal_expression struct_expression",
        StructType: "struct_type",
        Subscript: "subscript_expression",
        Super: "super",
        Switch: "expression_switch_statement select_statement switch_expression switch_statement
            type_switch_statement",
        SwitchPart: "case_statement fallthrough_statement",
        SwitchSection: "switch_case switch_default",
        Text: "string template_string",
        This: "self this",
        Throw: "raise_statement throw_statement",
        TokenTree: "token_tree",
        TruthValue: "false true",
        /// A declaration that may state the type of its value.
        TypedDeclaration: "declaration let_declaration local_variable_declaration var_spec",
        TypedParameter: "typed_parameter",
        TypeName: "type_identifier",
        TypeParameters: "template_parameter_list type_parameter_list type_parameters",
        Unary: "unary_expression",
        /// A statement whose value is not used.
        UnitCall: "explicit_constructor_invocation expression_statement",
        Update: "dec_statement inc_statement update_expression",
        UseAsClause: "use_as_clause",
        UseDeclaration: "use_declaration",
        UseList: "use_list",
        UseWildcard: "use_wildcard",
        /// A place for a value, with or without braces.
        ValuePlace: "closure_expression match_arm",
        VariableDeclaration: "variable_declaration",
        VariableDeclarator: "variable_declarator",
        VariableName: "variable_name",
        Variant: "enum_variant enumerator",
        VisibilityModifier: "visibility_modifier",
        WithAttributes: "with_attributes",
        Wrapping: "decorated_definition export_statement template_declaration with_attributes",
    }
}

impl Role {
    pub(crate) fn has_kind(self, kind: &str) -> bool {
        Roles::of_kind(kind).has_role(self)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Roles([u64; 3]);

impl Roles {
    pub(crate) fn of_kind(kind: &str) -> &'static Self {
        static KNOWN: OnceLock<HashMap<&str, Roles>> = OnceLock::new();
        static NONE: Roles = Roles([0; 3]);
        if kind.is_empty() {
            return &NONE;
        }
        let known = KNOWN.get_or_init(|| {
            let mut known: HashMap<&str, Self> = HashMap::new();
            for (role, kinds) in NODES {
                kinds
                    .split_ascii_whitespace()
                    .for_each(|kind| known.entry(kind).or_default().add_role(*role));
            }
            known
        });
        known.get(kind).unwrap_or(&NONE)
    }

    fn add_role(&mut self, role: Role) {
        self.0[role as usize / 64] |= 1 << (role as usize % 64);
    }

    pub(crate) fn has_role(&self, role: Role) -> bool {
        self.0[role as usize / 64] & (1 << (role as usize % 64)) != 0
    }
}

/// The kinds of nodes that this program makes itself, such as `{a: a}` for `{a}`.
pub mod made {
    pub(crate) const ASSIGNMENT_PATTERN: &str = "assignment_pattern";
    pub const BINARY: &str = "binary_expression";
    pub(crate) const FIELD_IDENTIFIER: &str = "field_identifier";
    pub(crate) const FIELD_INITIALIZER: &str = "field_initializer";
    pub const IDENTIFIER: &str = "identifier";
    pub(crate) const PAIR: &str = "pair";
    pub(crate) const PAIR_PATTERN: &str = "pair_pattern";
    pub(crate) const PROPERTY_IDENTIFIER: &str = "property_identifier";
    pub const UNARY: &str = "unary_expression";
    pub(crate) const VARIABLE_NAME: &str = "variable_name";
    /// A definition together with its attributes. No grammar has such a node.
    pub const WITH_ATTRIBUTES: &str = "with_attributes";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{NODES, made};
    use crate::language;

    /// A node that no grammar knows would never have its role, without any error.
    #[test]
    fn every_node_with_a_role_is_known_to_a_grammar() {
        if cfg!(not(feature = "all-languages")) {
            return;
        }
        let mut known = HashSet::from([made::WITH_ATTRIBUTES.to_owned()]);
        for language in language::with_grammar() {
            let grammar = language.grammar.expect("it has one")();
            let kinds =
                (0..grammar.node_kind_count() as u16).filter_map(|id| grammar.node_kind_for_id(id));
            known.extend(kinds.map(str::to_owned));
        }
        for (role, nodes) in NODES {
            for node in nodes.split_ascii_whitespace() {
                assert!(known.contains(node), "{role:?}: {node}");
            }
        }
    }

    /// Node kinds belong in the tables, where they are checked against the grammars. A rule must
    /// not name one itself.
    #[test]
    fn no_rule_names_a_node() {
        let (mut known, mut fields) = (HashSet::new(), HashSet::new());
        for language in language::with_grammar() {
            let grammar = language.grammar.expect("it has one")();
            let kinds = (0..grammar.node_kind_count() as u16)
                .filter_map(|id| grammar.node_kind_for_id(id))
                .filter(|kind| kind.contains('_') && kind.starts_with(char::is_lowercase));
            known.extend(kinds.map(str::to_owned));
            let all = (1..=grammar.field_count() as u16)
                .filter_map(|id| grammar.field_name_for_id(id).map(str::to_owned));
            fields.extend(all);
        }
        known.retain(|kind| !fields.contains(kind));
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["../provenance/src/classify", "src/program"] {
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
