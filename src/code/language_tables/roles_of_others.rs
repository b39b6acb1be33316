//! The roles of nodes in those languages in which calls are never replaced by the body of the
//! function.

use super::role_tables::Rows;
use super::roles::Role::*;

pub(super) const CSHARP: Rows = &[
    (AccessWord, "private protected public"),
    (Attached, "attribute_list"),
    (Attribute, "attribute_list"),
    (Block, "block"),
    (Entry, "field"),
    (ExpressionStatement, "expression_statement"),
    (Field, "field_declaration property_declaration"),
    (Identifier, "identifier"),
    (Import, "using_directive"),
    (
        List,
        "accessor_list argument_list attribute_argument_list attribute_list base_list block \
        bracketed_argument_list bracketed_parameter_list declaration_list enum_member_declaration_list \
        parameter_list preproc_if_in_attribute_list switch_body type_argument_list type_parameter_list",
    ),
    (Member, "field_declaration property_declaration"),
    (Name, "identifier"),
    (OuterNames, "global_statement"),
    (Parenthesized, "parenthesized_expression"),
    (PreprocArg, "preproc_arg"),
    (RawStringLiteral, "raw_string_literal"),
    (AttributeBody, "attribute"),
    (Statement, "empty_statement expression_statement"),
    (StringContent, "string_content"),
];

pub(super) const PHP: Rows = &[
    (Access, "visibility_modifier"),
    (AccessWord, "private protected public"),
    (Attached, "attribute_list"),
    (Attribute, "attribute_list"),
    (Block, "compound_statement"),
    (ExpressionStatement, "expression_statement"),
    (Field, "property_declaration"),
    (GlobalDeclaration, "global_declaration"),
    (Import, "namespace_use_declaration use_declaration"),
    (
        List,
        "attribute_list colon_block declaration_list enum_declaration_list heredoc_body match_block \
        match_condition_list nowdoc_body property_hook_list switch_block type_list use_list",
    ),
    (Member, "property_declaration"),
    (NamesLast, "use_declaration"),
    (Parenthesized, "parenthesized_expression"),
    (PlainName, "name"),
    (AttributeBody, "attribute"),
    (Statement, "empty_statement expression_statement"),
    (StringContent, "string_content"),
    (UseAsClause, "use_as_clause"),
    (UseDeclaration, "use_declaration"),
    (VariableName, "variable_name"),
    (VisibilityModifier, "visibility_modifier"),
];

pub(super) const LUA: Rows = &[
    (Block, "block"),
    (Entry, "field"),
    (Identifier, "identifier"),
    (List, "block expression_list variable_list"),
    (Name, "identifier"),
    (Parenthesized, "parenthesized_expression"),
    (Repeat, "repeat_statement"),
    (AttributeBody, "attribute"),
    (Statement, "empty_statement"),
    (StringContent, "string_content"),
];

pub(super) const KOTLIN: Rows = &[
    (Access, "visibility_modifier"),
    (AccessWord, "private protected public"),
    (Attached, "annotation"),
    (Attribute, "annotation"),
    (Entry, "field"),
    (Field, "property_declaration"),
    (Identifier, "identifier"),
    (Import, "import_header"),
    (
        List,
        "catch_block class_body control_structure_body enum_class_body finally_block function_body import_list",
    ),
    (Member, "property_declaration"),
    (Modifiers, "modifiers"),
    (Name, "identifier interpolated_identifier simple_identifier type_identifier"),
    (NamedType, "type_identifier"),
    (ParameterMark, "annotation"),
    (Parenthesized, "parenthesized_expression"),
    (Statement, "label"),
    (StringContent, "string_content"),
    (Super, "super"),
    (TypeName, "type_identifier"),
    (VisibilityModifier, "visibility_modifier"),
];

pub(super) const DART: Rows = &[
    (Attached, "annotation"),
    (Attribute, "annotation"),
    (Block, "block"),
    (DeclaredParameter, "formal_parameter"),
    (ExpressionStatement, "expression_statement"),
    (Identifier, "identifier"),
    (
        List,
        "block class_body dotted_identifier_list enum_body extension_body formal_parameter_list function_body \
        function_expression_body identifier_list initialized_identifier_list parameter_type_list \
        static_final_declaration_list switch_block",
    ),
    (Name, "identifier initialized_identifier type_identifier typed_identifier"),
    (NamedType, "type_identifier"),
    (ParameterMark, "annotation"),
    (Parenthesized, "parenthesized_expression"),
    (Statement, "empty_statement expression_statement label"),
    (Super, "super"),
    (TypeName, "type_identifier"),
];

pub(super) const ZIG: Rows = &[
    (Block, "block"),
    (ExpressionStatement, "expression_statement"),
    (Identifier, "identifier"),
    (List, "block initializer_list"),
    (Name, "builtin_identifier identifier"),
    (Parenthesized, "parenthesized_expression"),
    (Statement, "asm_input_item asm_output_item expression_statement"),
    (StringContent, "string_content"),
];

pub(super) const RUBY: Rows = &[
    (Block, "block"),
    (DeclaredParameter, "optional_parameter"),
    (Identifier, "identifier"),
    (
        List,
        "argument_list begin_block block block_body do_block end_block heredoc_body left_assignment_list \
        right_assignment_list",
    ),
    (Name, "identifier"),
    (Statement, "empty_statement"),
    (StringContent, "string_content"),
    (Super, "super"),
];

pub(super) const SCALA: Rows = &[
    (AccessWord, "private protected"),
    (Attached, "annotation"),
    (Attribute, "annotation"),
    (Block, "block"),
    (Identifier, "identifier"),
    (Import, "import_declaration package_clause using_directive"),
    (ImportDeclaration, "import_declaration"),
    (List, "block case_block enum_body indented_block macro_body template_body with_template_body"),
    (Member, "enumerator"),
    (Modifiers, "modifiers"),
    (
        Name,
        "arrow_renamed_identifier as_renamed_identifier identifier operator_identifier package_identifier \
        stable_identifier stable_type_identifier type_identifier",
    ),
    (NamedType, "generic_type type_identifier"),
    (NamesLast, "import_declaration"),
    (PackageClause, "package_clause"),
    (ParameterMark, "annotation"),
    (Parenthesized, "parenthesized_expression"),
    (PathImport, "import_declaration"),
    (Super, "super"),
    (TypeName, "type_identifier"),
    (Variant, "enumerator"),
];

pub(super) const SWIFT: Rows = &[
    (Access, "visibility_modifier"),
    (AccessWord, "private public"),
    (Field, "property_declaration"),
    (Identifier, "identifier"),
    (Import, "import_declaration"),
    (ImportDeclaration, "import_declaration"),
    (
        List,
        "capture_list catch_block class_body deprecated_operator_declaration_body enum_class_body function_body \
        protocol_body willset_didset_block",
    ),
    (MacroInvocation, "macro_invocation"),
    (Member, "property_declaration"),
    (Modifiers, "modifiers"),
    (Name, "identifier simple_identifier type_identifier"),
    (NamedType, "type_identifier"),
    (NamesLast, "import_declaration"),
    (PathImport, "import_declaration"),
    (RawStringLiteral, "raw_string_literal"),
    (AttributeBody, "attribute"),
    (Statement, "capture_list_item macro_definition tuple_type_item"),
    (Super, "super"),
    (TypeName, "type_identifier"),
    (VisibilityModifier, "visibility_modifier"),
];

pub(super) const BASH: Rows = &[
    (Block, "compound_statement"),
    (List, "heredoc_body"),
    (Parenthesized, "parenthesized_expression"),
    (StringContent, "string_content"),
    (VariableName, "variable_name"),
];

pub(super) const CSS: Rows = &[
    (Block, "block"),
    (Identifier, "identifier"),
    (Import, "import_statement"),
    (ImportStatement, "import_statement"),
    (List, "block keyframe_block keyframe_block_list"),
    (Name, "identifier"),
    (StringContent, "string_content"),
];

pub(super) const SQL: Rows = &[
    (Block, "block"),
    (Entry, "field"),
    (Identifier, "identifier"),
    (List, "assignment_list block function_body"),
    (Name, "identifier"),
    (Parenthesized, "parenthesized_expression"),
];

pub(super) const ELIXIR: Rows = &[
    (Block, "block"),
    (Identifier, "identifier"),
    (List, "after_block block body catch_block do_block else_block rescue_block"),
    (Name, "identifier operator_identifier"),
];

pub(super) const HASKELL: Rows = &[
    (Entry, "field"),
    (FieldPattern, "field_pattern"),
    (List, "binding_list empty_list import_list prefix_list quasiquote_body"),
    (PlainName, "name"),
    (Statement, "label"),
];

pub(super) const OCAML: Rows = &[
    (AccessWord, "private"),
    (Field, "field_declaration"),
    (FieldPattern, "field_pattern"),
    (List, "empty_list"),
    (Member, "field_declaration"),
    (Parenthesized, "parenthesized_expression"),
    (AttributeBody, "attribute"),
    (StringContent, "string_content"),
];

pub(super) const SVELTE: Rows = &[(List, "catch_block else_block else_if_block then_block")];

pub(super) const JSON: Rows = &[(StringContent, "string_content")];

pub(super) const PAGES: Rows = &[(AttributeBody, "attribute")];
