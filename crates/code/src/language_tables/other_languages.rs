//! The token facts and naming rules of C#, Ruby, PHP, Kotlin, Lua, Swift, Scala, Dart and Zig.

use crate::lists::{places, words};
use crate::syntax::{KindPairs, NameReach, PLAIN, Parameters, Syntax};

const CSHARP_LABELS: KindPairs = places!(
    "member_access_expression/name member_binding_expression/name argument/name
    anonymous_object_creation_expression with_initializer subpattern labeled_statement
    goto_statement qualified_name/qualifier qualified_name/name alias_qualified_name/alias
    alias_qualified_name/name attribute/name attribute_argument/name"
);

pub(crate) const CSHARP: Syntax = Syntax {
    verbatim: words!(
        "string_literal raw_string_literal interpolated_string_expression
        interpolation_format_clause character_literal"
    ),
    lists: words!(
        "initializer_expression enum_member_declaration_list switch_expression
        anonymous_object_creation_expression property_pattern_clause"
    ),
    identifiers: words!("identifier implicit_parameter"),
    callees: places!("invocation_expression/function generic_name"),
    labels: CSHARP_LABELS,
    bindings: places!(
        "parameter/name parameter_list/name variable_declarator/name tuple_pattern/name
        declaration_expression/name declaration_pattern/name catch_declaration/name
        foreach_statement/left from_clause/name lambda_expression/parameters"
    ),
    keyed: places!("initializer_expression/assignment_expression"),
    method_in_scope: true,
    parameters: Parameters::Written,
    operands: places!(
        "binary_expression/left binary_expression/right assignment_expression/right
        conditional_expression/condition return_statement parenthesized_expression"
    ),
    reach: Some(NameReach::FromHere),
    functions: words!(
        "method_declaration constructor_declaration local_function_statement lambda_expression
        anonymous_method_expression operator_declaration accessor_declaration"
    ),
    scopes: words!(
        "block for_statement foreach_statement using_statement catch_clause switch_section"
    ),
    // Callers can name parameters. How far a name declared in a test is visible depends on the
    // result of the test.
    public_names: places!(
        "parameter/name parameter_list/name declaration_expression/name declaration_pattern/name"
    ),
    member_names: CSHARP_LABELS,
    // The members of these nodes are named after the locals that they are made from.
    opaque: words!(
        "anonymous_object_creation_expression tuple_expression query_expression tuple_pattern
        recursive_pattern var_pattern preproc_if class_declaration attribute_list"
    ),
    reflection: words!("nameof"),
    ..PLAIN
};

pub(crate) const RUBY: Syntax = Syntax {
    verbatim: words!("string bare_string bare_symbol subshell regex delimited_symbol heredoc_body"),
    quotes: words!("string"),
    lists: words!("array hash argument_list"),
    dropped: places!("program/; body_statement/; block_body/;"),
    types: words!("constant"),
    callees: places!("call/method"),
    labels: places!("alias/name alias/alias keyword_parameter/name setter/name undef"),
    bindings: places!(
        "assignment/left operator_assignment/left method_parameters block_parameters
        block_parameters/locals lambda_parameters optional_parameter/name splat_parameter/name
        hash_splat_parameter/name block_parameter/name destructured_parameter exception_variable
        for/pattern"
    ),
    // `f(a:)` uses a local by its name, so renaming it would change the argument.
    foreign: places!("pair/key keyword_pattern/key"),
    patterns: words!("left_assignment_list destructured_left_assignment rest_assignment"),
    method_in_scope: true,
    ..PLAIN
};

pub(crate) const PHP: Syntax = Syntax {
    verbatim: words!(
        "string encapsed_string heredoc heredoc_body nowdoc nowdoc_body shell_command_expression
        text_interpolation"
    ),
    lists: words!("arguments formal_parameters array_creation_expression match_block"),
    identifiers: words!("name"),
    callees: places!("function_call_expression/function"),
    labels: places!(
        "named_type qualified_name namespace_name member_access_expression/name
        nullsafe_member_access_expression/name member_call_expression/name
        nullsafe_member_call_expression/name scoped_call_expression/scope
        scoped_call_expression/name scoped_property_access_expression/scope
        class_constant_access_expression object_creation_expression binary_expression/right
        argument/name goto_statement named_label_statement attribute property_hook"
    ),
    bindings: places!(
        "simple_parameter/name variadic_parameter/name assignment_expression/left
        reference_assignment_expression/left catch_clause/name static_variable_declaration/name"
    ),
    declared: places!("foreach_statement/as"),
    foreign: places!("global_declaration"),
    patterns: words!("variable_name list_literal pair by_ref"),
    trivial: words!("{ } ( ) [ ] ; , <?php ?>"),
    operands: places!(
        "binary_expression/left binary_expression/right assignment_expression/right
        parenthesized_expression"
    ),
    reach: Some(NameReach::Everywhere),
    functions: words!("function_definition method_declaration anonymous_function"),
    public_names: places!("simple_parameter/name variadic_parameter/name"),
    member_names: places!("scoped_property_access_expression/name"),
    // An arrow function uses the variables of the function around it.
    opaque: words!(
        "anonymous_function_use_clause arrow_function property_promotion_parameter heredoc
        shell_command_expression class_declaration anonymous_class"
    ),
    naming: words!("__FUNCTION__ __METHOD__"),
    reflection: words!("compact extract get_defined_vars parse_str eval"),
    reflecting: words!(
        "dynamic_variable_name include_expression include_once_expression require_expression
        require_once_expression"
    ),
    local_names: words!("variable_name"),
    ..PLAIN
};

pub(crate) const KOTLIN: Syntax = Syntax {
    comments: words!("line_comment multiline_comment"),
    verbatim: words!("string_literal character_literal"),
    lists: words!(
        "value_arguments function_value_parameters primary_constructor collection_literal
        enum_class_body type_arguments type_parameters"
    ),
    breaks: places!(
        "additive_expression/- additive_expression/+ prefix_expression/- prefix_expression/+
        callable_reference/:: lambda_literal/{"
    ),
    identifiers: words!("simple_identifier interpolated_identifier"),
    types: words!("type_identifier"),
    callees: places!("call_expression"),
    labels: places!("infix_expression callable_reference navigation_suffix enum_entry identifier"),
    bindings: places!(
        "variable_declaration parameter parameter_with_optional_type setter catch_block"
    ),
    keyed: places!("value_arguments/value_argument"),
    method_in_scope: true,
    parameters: Parameters::Written,
    ..PLAIN
};

const LUA_LABELS: KindPairs = places!(
    "dot_index_expression/field method_index_expression/method field/name goto_statement
    label_statement attribute"
);

pub(crate) const LUA: Syntax = Syntax {
    comments: words!("comment empty_statement"),
    verbatim: words!("string"),
    quotes: words!("string"),
    lists: words!("table_constructor"),
    // `f "a"` is the same as `f("a")`. The node for the arguments is kept.
    dropped: places!("return_statement/; arguments/( arguments/)"),
    parentheses: places!(
        "if_statement/condition elseif_statement/condition while_statement/condition
        repeat_statement/condition"
    ),
    callees: places!("function_call/name"),
    labels: LUA_LABELS,
    bindings: places!(
        "variable_declaration parameters/name for_generic_clause for_numeric_clause/name"
    ),
    patterns: words!("assignment_statement variable_list"),
    operands: places!(
        "binary_expression/left binary_expression/right unary_expression/operand
        bracket_index_expression/field parenthesized_expression"
    ),
    reach: Some(NameReach::FromHere),
    functions: words!("function_declaration function_definition"),
    scopes: words!("block for_statement repeat_statement"),
    late: words!("assignment_statement for_generic_clause for_numeric_clause"),
    member_names: LUA_LABELS,
    reflection: words!("debug"),
    ..PLAIN
};

pub(crate) const SWIFT: Syntax = Syntax {
    comments: words!("comment multiline_comment"),
    verbatim: words!("line_string_literal multi_line_string_literal raw_string_literal"),
    lists: words!("array_literal dictionary_literal"),
    identifiers: words!("simple_identifier"),
    types: words!("type_identifier"),
    callees: places!("call_expression"),
    labels: places!(
        "navigation_suffix/suffix value_argument_label parameter/external_name macro_invocation
        directive enum_entry/name"
    ),
    bindings: places!(
        "pattern/bound_identifier property_declaration/name for_statement/item
        if_statement/bound_identifier guard_statement/bound_identifier
        while_statement/bound_identifier lambda_parameter/name"
    ),
    // The name of a parameter without a label is also its label.
    declared: places!("parameter/simple_identifier"),
    members: places!(
        "prefix_expression/. pattern/. if_statement/. guard_statement/. while_statement/.
        control_transfer_statement/break control_transfer_statement/continue"
    ),
    patterns: words!("pattern"),
    // If there is an error elsewhere in the file, the parser can read the inside of an untouched
    // definition differently.
    incremental: false,
    method_in_scope: true,
    parameters: Parameters::Labelled,
    ..PLAIN
};

pub(crate) const SCALA: Syntax = Syntax {
    comments: words!("comment block_comment"),
    verbatim: words!(
        "string interpolated_string interpolated_string_expression xml_expression xml_element
        xml_attribute"
    ),
    lists: words!("arguments parameters class_parameters"),
    dropped: places!("compilation_unit/; template_body/; block/; indented_block/;"),
    // Scala 2 ends a statement where Scala 3 continues it.
    breaks: places!("infix_expression/operator_identifier"),
    // At the end of a line, the scanner decides by the next line whether a definition continues.
    incremental: false,
    types: words!("type_identifier"),
    callees: places!(
        "call_expression/function generic_function/function infix_expression/operator
        postfix_expression"
    ),
    labels: places!(
        "field_expression/field stable_identifier stable_type_identifier package_identifier
        import_declaration/path interpolated_string_expression/interpolator"
    ),
    bindings: places!(
        "val_definition/pattern var_definition/pattern parameter/name binding/name
        lambda_expression/parameters case_clause/pattern"
    ),
    keyed: places!("arguments/assignment_expression"),
    patterns: words!(
        "tuple_pattern typed_pattern capture_pattern infix_pattern case_class_pattern"
    ),
    method_in_scope: true,
    parameters: Parameters::Written,
    ..PLAIN
};

const DART_LABELS: KindPairs = places!(
    "member_expression/property null_aware_member_expression/property cascade_selector
    cascade_call_expression/property cascade_member_expression/property label
    labeled_statement break_statement continue_statement field_formal_parameter/name
    super_formal_parameter/name field_initializer/name variable_pattern/name annotation/name
    qualified_name constructor_tearoff"
);

pub(crate) const DART: Syntax = Syntax {
    comments: words!("comment block_comment documentation_comment documentation_block_comment"),
    verbatim: words!(
        "string_literal_double_quotes string_literal_single_quotes
        string_literal_double_quotes_multiple string_literal_single_quotes_multiple
        raw_string_literal_double_quotes raw_string_literal_single_quotes
        raw_string_literal_double_quotes_multiple raw_string_literal_single_quotes_multiple"
    ),
    quotes: words!("string_literal_single_quotes raw_string_literal_single_quotes"),
    lists: words!(
        "arguments formal_parameter_list optional_formal_parameters list_literal
        set_or_map_literal enum_body switch_expression"
    ),
    tuples: words!("record_literal"),
    identifiers: words!("identifier identifier_dollar_escaped"),
    types: words!("type_identifier"),
    callees: places!("call_expression/function"),
    labels: DART_LABELS,
    bindings: places!(
        "formal_parameter/name formal_parameter initialized_variable_declaration/name
        initialized_identifier/name for_statement/name catch_clause/exception
        catch_clause/stack_trace"
    ),
    method_in_scope: true,
    parameters: Parameters::Written,
    reach: Some(NameReach::FromHere),
    functions: words!("function_declaration function_expression method_declaration"),
    scopes: words!("block for_statement try_statement switch_statement_case"),
    // Callers can name parameters.
    public_names: places!("formal_parameter/name formal_parameter"),
    member_names: DART_LABELS,
    opaque: words!(
        "pattern_variable_declaration variable_pattern record_pattern object_pattern
        local_function_declaration annotation"
    ),
    ..PLAIN
};

const ZIG_LABELS: KindPairs = places!(
    "field_expression/member container_field/name field_initializer/name error_set_declaration
    error_type block_label break_label"
);

pub(crate) const ZIG: Syntax = Syntax {
    container_comment_starts: words!("//!"),
    verbatim: words!("string character multiline_string"),
    lists: words!(
        "parameters arguments call_expression initializer_list struct_declaration enum_declaration
        union_declaration error_set_declaration switch_expression"
    ),
    callees: places!("call_expression/function"),
    labels: ZIG_LABELS,
    bindings: places!("parameter/name payload"),
    // Without `const` or `var`, an assignment has the same node.
    declared: places!("variable_declaration/const variable_declaration/var"),
    parameters: Parameters::TypeField,
    operands: places!("binary_expression/left binary_expression/right parenthesized_expression"),
    // No name hides another one, so it hardly matters where a scope ends.
    reach: Some(NameReach::FromHere),
    functions: words!("function_declaration"),
    scopes: words!(
        "block for_statement while_statement if_statement else_clause catch_expression switch_case"
    ),
    late: words!("variable_declaration"),
    member_names: ZIG_LABELS,
    opaque: words!(
        "struct_declaration enum_declaration union_declaration opaque_declaration asm_expression"
    ),
    ..PLAIN
};
