//! The token facts and naming rules of each language, in the order of the table in
//! [`crate::language`].
//!
//! A rule is listed only if it can never make two different programs equal. If that is in doubt, a
//! block that was only reformatted is reported as modified, which does less harm than the opposite.
//!
//! - `other_languages`, `functional`, `formats` and `markup` hold the rows of the languages that are
//!   not in this file. A row also says where names are declared and where they are visible.
//! - `roles` names the roles that nodes have in the rules that compare programs, and lists the nodes
//!   with each role.
//! - `directives` lists comments that are read by tools, and `framework_names` lists names that are
//!   called by frameworks.

pub(crate) mod directives;
pub(crate) mod formats;
pub mod framework_names;
pub(crate) mod functional;
pub(crate) mod markup;
pub(crate) mod other_languages;
pub mod roles;

use crate::lists::{places, words};
use crate::syntax::{KindPairs, NAMELESS, NameReach, PLAIN, Parameters, Syntax};

pub(crate) const RUST: Syntax = Syntax {
    comments: words!("line_comment block_comment"),
    container_comment_starts: words!("//! /*! #!"),
    leads: words!("attribute_item"),
    verbatim: words!("string_literal raw_string_literal char_literal"),
    lists: words!(
        "arguments parameters array_expression field_initializer_list field_declaration_list
        ordered_field_declaration_list enum_variant_list use_list type_arguments type_parameters
        struct_pattern slice_pattern tuple_struct_pattern"
    ),
    tuples: words!("tuple_expression tuple_type tuple_pattern"),
    dropped: places!("match_arm/,"),
    leading: places!("or_pattern/|"),
    transparent: words!("or_pattern"),
    parentheses: places!(
        "let_declaration/value assignment_expression/right return_expression
        if_expression/condition while_expression/condition match_expression/value"
    ),
    types: words!("type_identifier"),
    callees: places!("call_expression/function generic_function/function macro_invocation/macro"),
    labels: places!(
        "scoped_identifier/path scoped_identifier/name scoped_type_identifier/path
        shorthand_field_initializer label lifetime attribute token_tree"
    ),
    bindings: places!(
        "let_declaration/pattern let_condition/pattern parameter/pattern for_expression/pattern
        closure_parameters match_pattern"
    ),
    patterns: words!(
        "tuple_pattern slice_pattern ref_pattern mut_pattern reference_pattern captured_pattern"
    ),
    parameters: Parameters::TypeField,
    operands: places!(
        "binary_expression/left binary_expression/right unary_expression
        reference_expression/value type_cast_expression/value arguments index_expression
        array_expression match_arm/value closure_expression/body field_initializer/value
        let_condition/value compound_assignment_expr/right for_expression/value
        parenthesized_expression"
    ),
    reach: Some(NameReach::FromHere),
    functions: words!("function_item closure_expression"),
    scopes: words!(
        "block for_expression match_arm if_expression while_expression async_block unsafe_block
        const_block loop_expression"
    ),
    late: words!("let_declaration let_condition for_expression"),
    local_patterns: words!(
        "tuple_struct_pattern struct_pattern field_pattern or_pattern match_pattern"
    ),
    not_pattern: places!(
        "tuple_struct_pattern/type struct_pattern/type field_pattern/name match_pattern/condition"
    ),
    member_names: places!(
        "scoped_identifier/path scoped_identifier/name scoped_type_identifier/path label lifetime
        attribute macro_invocation/macro"
    ),
    opaque: words!("token_tree macro_definition attribute_item"),
    ..PLAIN
};

pub(crate) const PYTHON: Syntax = Syntax {
    comments: words!("comment line_continuation"),
    wrappers: words!("decorated_definition"),
    verbatim: words!("string string_content format_specifier"),
    quotes: words!("string"),
    lists: words!("argument_list parameters list dictionary set import_from_statement"),
    tuples: words!("tuple"),
    dropped: places!("import_from_statement/( import_from_statement/)"),
    parentheses: places!(
        "return_statement assignment/right if_statement/condition elif_clause/condition
        while_statement/condition for_statement/right"
    ),
    callees: places!("call/function"),
    labels: places!(
        "attribute/attribute keyword_argument/name dotted_name global_statement nonlocal_statement
        class_definition/name type"
    ),
    bindings: places!(
        "assignment/left augmented_assignment/left parameters lambda_parameters
        default_parameter/name typed_parameter typed_default_parameter/name for_statement/left
        for_in_clause/left named_expression/name as_pattern/alias dictionary_splat_pattern
        list_splat_pattern"
    ),
    patterns: words!("pattern_list tuple_pattern list_pattern list_splat_pattern"),
    operands: places!(
        "binary_operator/left binary_operator/right boolean_operator/left boolean_operator/right
        not_operator/argument unary_operator/argument comparison_operator argument_list
        keyword_argument/value list pair/value subscript/subscript conditional_expression
        lambda/body if_clause assert_statement list_comprehension/body augmented_assignment/right
        parenthesized_expression"
    ),
    reach: Some(NameReach::Function),
    functions: words!("function_definition lambda"),
    scopes: words!(
        "list_comprehension set_comprehension dictionary_comprehension generator_expression"
    ),
    local_bindings: places!("as_pattern_target except_clause/alias"),
    local_patterns: words!(
        "dictionary_splat_pattern as_pattern_target parenthesized_expression tuple
        default_parameter typed_parameter typed_default_parameter"
    ),
    not_pattern: places!(
        "default_parameter/value typed_default_parameter/value typed_default_parameter/type
        typed_parameter/type"
    ),
    public_names: places!(
        "parameters default_parameter/name typed_parameter typed_default_parameter/name
        lambda_parameters list_splat_pattern dictionary_splat_pattern"
    ),
    member_names: places!("attribute/attribute keyword_argument/name"),
    opaque: words!(
        "global_statement nonlocal_statement class_definition case_pattern import_statement
        import_from_statement"
    ),
    naming: words!("__name__ __qualname__"),
    reflection: words!("locals vars eval exec globals dir _getframe currentframe"),
    ..PLAIN
};

const SCRIPT_TRIVIAL: &[&str] = words!("{ } ( ) [ ] ; , export default declare abstract async");

pub(crate) const JAVASCRIPT: Syntax = Syntax {
    comments: words!("comment html_comment"),
    wrappers: words!("export_statement"),
    leads: words!("decorator"),
    verbatim: words!("string template_string regex"),
    quotes: words!("string"),
    folded: words!("jsx_text"),
    lists: words!(
        "arguments formal_parameters array object array_pattern object_pattern named_imports
        export_clause"
    ),
    dropped: places!(
        "expression_statement/; lexical_declaration/; variable_declaration/; return_statement/;
        throw_statement/; break_statement/; continue_statement/; do_statement/; import_statement/;
        export_statement/; debugger_statement/; class_body/;"
    ),
    joining: words!(
        "static get set async accessor readonly declare abstract override public private protected
        let type namespace module interface"
    ),
    parentheses: places!(
        "return_statement variable_declarator/value assignment_expression/right
        arrow_function/body arrow_function/parameters"
    ),
    callees: places!("call_expression/function new_expression/constructor"),
    labels: places!(
        "jsx_opening_element/name jsx_closing_element/name jsx_self_closing_element/name
        import_specifier/name export_specifier/name export_specifier/alias namespace_export"
    ),
    bindings: places!(
        "variable_declarator/name formal_parameters arrow_function/parameter
        catch_clause/parameter for_in_statement/left"
    ),
    patterns: words!("array_pattern rest_pattern"),
    trivial: SCRIPT_TRIVIAL,
    operands: places!(
        "unary_expression/argument if_statement/condition while_statement/condition
        do_statement/condition binary_expression/left binary_expression/right
        ternary_expression/condition ternary_expression/consequence ternary_expression/alternative
        arguments array pair/value spread_element subscript_expression/index template_substitution
        augmented_assignment_expression/right parenthesized_expression"
    ),
    reach: Some(NameReach::Block),
    functions: words!(
        "function_declaration function_expression arrow_function method_definition
        generator_function generator_function_declaration"
    ),
    scopes: words!(
        "statement_block for_statement for_in_statement catch_clause switch_body
        class_static_block"
    ),
    local_patterns: words!("object_pattern pair_pattern assignment_pattern"),
    not_pattern: places!("assignment_pattern/right pair_pattern/key"),
    member_names: places!(
        "jsx_opening_element/name jsx_closing_element/name jsx_self_closing_element/name
        labeled_statement/label"
    ),
    opaque: words!("import_statement export_clause class_declaration class decorator"),
    naming: words!("name"),
    reflection: words!("eval"),
    reflecting: words!("with_statement"),
    ..PLAIN
};

const TYPESCRIPT_DROPPED: KindPairs = places!(
    "expression_statement/; lexical_declaration/; variable_declaration/; return_statement/;
    throw_statement/; break_statement/; continue_statement/; do_statement/; import_statement/;
    export_statement/; debugger_statement/; type_alias_declaration/; function_signature/;
    class_body/; interface_body/; interface_body/, object_type/; object_type/,"
);

const TYPESCRIPT_BINDINGS: KindPairs = places!(
    "variable_declarator/name required_parameter/pattern optional_parameter/pattern
    arrow_function/parameter catch_clause/parameter for_in_statement/left"
);

pub(crate) const TSX: Syntax = Syntax {
    wrappers: words!("export_statement ambient_declaration"),
    verbatim: words!("string template_string template_literal_type regex"),
    lists: words!(
        "arguments formal_parameters array object array_pattern object_pattern named_imports
        export_clause enum_body tuple_type type_parameters type_arguments"
    ),
    dropped: TYPESCRIPT_DROPPED,
    leading: places!("union_type/| intersection_type/&"),
    transparent: words!("union_type intersection_type required_parameter"),
    types: words!("type_identifier"),
    bindings: TYPESCRIPT_BINDINGS,
    parameters: Parameters::TypeField,
    ..JAVASCRIPT
};

pub(crate) const TYPESCRIPT: Syntax = Syntax { folded: &[], labels: TYPESCRIPT_LABELS, ..TSX };

const TYPESCRIPT_LABELS: KindPairs =
    places!("import_specifier/name export_specifier/name export_specifier/alias");

pub(crate) const GO: Syntax = Syntax {
    verbatim: words!("interpreted_string_literal raw_string_literal"),
    lists: words!("argument_list parameter_list literal_value type_arguments"),
    types: words!("type_identifier"),
    callees: places!("call_expression/function"),
    labels: places!("keyed_element/key literal_element"),
    bindings: places!(
        "short_var_declaration/left range_clause/left parameter_declaration/name
        variadic_parameter_declaration/name var_spec/name receive_statement/left
        type_switch_statement/alias"
    ),
    patterns: words!("expression_list"),
    parameters: Parameters::TypePerName,
    operands: places!(
        "binary_expression/left binary_expression/right unary_expression/operand expression_list
        argument_list if_statement/condition for_clause/condition for_statement
        index_expression/index expression_switch_statement/value parenthesized_expression"
    ),
    reach: Some(NameReach::FromHereOnce),
    functions: words!("function_declaration method_declaration func_literal"),
    scopes: words!(
        "block if_statement for_statement expression_switch_statement type_switch_statement
        select_statement expression_case default_case type_case communication_case"
    ),
    local_bindings: places!("const_spec/name"),
    late: words!("short_var_declaration var_spec const_spec range_clause receive_statement"),
    member_names: places!("labeled_statement/label"),
    opaque: words!("type_declaration"),
    ..PLAIN
};

pub(crate) const JAVA: Syntax = Syntax {
    comments: words!("line_comment block_comment"),
    verbatim: words!("string_literal template_expression"),
    lists: words!("array_initializer enum_body element_value_array_initializer"),
    types: words!("type_identifier"),
    callees: places!("method_invocation/name"),
    labels: places!(
        "field_access/field scoped_identifier/scope scoped_identifier/name method_reference
        labeled_statement break_statement continue_statement annotation/name
        marker_annotation/name element_value_pair/key"
    ),
    bindings: places!(
        "formal_parameter/name catch_formal_parameter/name enhanced_for_statement/name
        resource/name variable_declarator/name lambda_expression/parameters inferred_parameters"
    ),
    method_in_scope: true,
    parameters: Parameters::TypeField,
    operands: places!(
        "if_statement/condition while_statement/condition do_statement/condition
        binary_expression/left binary_expression/right unary_expression/operand
        ternary_expression/condition ternary_expression/consequence ternary_expression/alternative
        argument_list array_access/index assignment_expression/right variable_declarator/value
        cast_expression/value return_statement throw_statement lambda_expression/body
        parenthesized_expression"
    ),
    reach: Some(NameReach::FromHere),
    functions: words!(
        "method_declaration constructor_declaration lambda_expression
        compact_constructor_declaration"
    ),
    scopes: words!(
        "block for_statement enhanced_for_statement catch_clause try_with_resources_statement
        switch_block switch_rule"
    ),
    local_bindings: places!("instanceof_expression/name"),
    // How far such a name is visible depends on the result of the test.
    public_names: places!("instanceof_expression/name"),
    late: words!("enhanced_for_statement"),
    member_names: places!(
        "method_invocation/name field_access/field scoped_identifier/scope scoped_identifier/name
        labeled_statement break_statement continue_statement annotation/name
        marker_annotation/name element_value_pair/key"
    ),
    opaque: words!("class_declaration record_declaration switch_label field_declaration"),
    ..PLAIN
};

const C_BINDINGS: KindPairs =
    places!("parameter_declaration/declarator declaration/declarator init_declarator/declarator");

pub(crate) const C: Syntax = Syntax {
    naming: words!("__func__ __FUNCTION__ __PRETTY_FUNCTION__"),
    wrappers: words!("linkage_specification"),
    verbatim: words!("string_literal char_literal system_lib_string"),
    lists: words!("initializer_list enumerator_list"),
    types: words!("type_identifier"),
    callees: places!("call_expression/function"),
    labels: places!("preproc_def/name preproc_function_def/name preproc_defined"),
    bindings: C_BINDINGS,
    patterns: words!("pointer_declarator array_declarator init_declarator"),
    parameters: Parameters::Declarator,
    operands: places!(
        "if_statement/condition while_statement/condition do_statement/condition
        binary_expression/left binary_expression/right unary_expression/argument
        conditional_expression/condition conditional_expression/consequence
        conditional_expression/alternative assignment_expression/right subscript_expression/index
        init_declarator/value return_statement parenthesized_expression"
    ),
    quoting: words!("argument_list"),
    reach: Some(NameReach::FromHere),
    functions: words!("function_definition"),
    scopes: words!("compound_statement for_statement"),
    local_patterns: words!("attributed_declarator"),
    not_pattern: places!("init_declarator/value array_declarator/size"),
    opaque: words!(
        "preproc_ifdef preproc_if preproc_def preproc_function_def preproc_call gnu_asm_expression
        struct_specifier function_declarator"
    ),
    ..PLAIN
};

pub(crate) const CPP: Syntax = Syntax {
    wrappers: words!("linkage_specification template_declaration"),
    verbatim: words!("string_literal char_literal system_lib_string raw_string_literal"),
    labels: places!(
        "preproc_def/name preproc_function_def/name preproc_defined qualified_identifier/name
        qualified_identifier/scope template_function/name"
    ),
    bindings: places!(
        "parameter_declaration/declarator optional_parameter_declaration/declarator
        declaration/declarator init_declarator/declarator for_range_loop/declarator
        structured_binding_declarator"
    ),
    patterns: words!(
        "pointer_declarator array_declarator init_declarator reference_declarator
        structured_binding_declarator"
    ),
    method_in_scope: true,
    operands: places!(
        "unary_expression/argument binary_expression/left binary_expression/right
        assignment_expression/right condition_clause/value parenthesized_expression"
    ),
    quoting: words!("argument_list decltype template_argument_list"),
    functions: words!("function_definition lambda_expression"),
    scopes: words!(
        "compound_statement for_statement for_range_loop catch_clause if_statement while_statement
        switch_statement"
    ),
    late: words!("for_range_loop"),
    member_names: places!("qualified_identifier/name template_function/name"),
    opaque: words!(
        "preproc_ifdef preproc_if preproc_def preproc_function_def preproc_call gnu_asm_expression
        struct_specifier class_specifier function_declarator lambda_capture_initializer
        field_initializer_list"
    ),
    ..C
};

pub(crate) const BASH: Syntax = Syntax {
    verbatim: words!(
        "string translated_string heredoc_redirect heredoc_body expansion concatenation
        command_substitution process_substitution simple_expansion"
    ),
    ..NAMELESS
};

pub(crate) const JSON: Syntax =
    Syntax { verbatim: words!("string"), entries: words!("pair"), deepest: 0, ..NAMELESS };

pub(crate) const YAML: Syntax = Syntax {
    verbatim: words!("double_quote_scalar single_quote_scalar block_scalar plain_scalar"),
    trivial: words!("{ } [ ] , --- ..."),
    comments_trail: true,
    entries: words!("block_mapping_pair flow_pair"),
    deepest: 2,
    incremental: false,
    ..NAMELESS
};

pub(crate) const TOML: Syntax = Syntax {
    verbatim: words!("string"),
    lists: words!("array"),
    comments_trail: true,
    entries: words!("pair"),
    deepest: 3,
    ..NAMELESS
};

pub(crate) const MARKDOWN: Syntax =
    Syntax { comments: &[], trivial: &[], incremental: false, words: true, ..NAMELESS };
