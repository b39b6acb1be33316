//! The naming rules of each language: where names are declared, and where they are visible.

use super::other_languages;
use crate::code::lists::{places, words};
use crate::code::program::scoping::{NameReach, Scoping};
use crate::code::syntax::PLAIN;

const NONE: Scoping = Scoping {
    syntax: &PLAIN,
    reach: NameReach::FromHere,
    functions: &[],
    scopes: &[],
    bindings: &[],
    late: &[],
    patterns: &[],
    not_pattern: &[],
    public: &[],
    members: &[],
    opaque: &[],
    reflection: &[],
    reflecting: &[],
    names: &[],
};

const RUST: Scoping = Scoping {
    syntax: &super::RUST,
    functions: words!("function_item closure_expression"),
    scopes: words!(
        "block for_expression match_arm if_expression while_expression async_block unsafe_block
        const_block loop_expression"
    ),
    late: words!("let_declaration let_condition for_expression"),
    patterns: words!("tuple_struct_pattern struct_pattern field_pattern or_pattern match_pattern"),
    not_pattern: places!(
        "tuple_struct_pattern/type struct_pattern/type field_pattern/name match_pattern/condition"
    ),
    members: places!(
        "scoped_identifier/path scoped_identifier/name scoped_type_identifier/path label lifetime
        attribute macro_invocation/macro"
    ),
    opaque: words!("token_tree macro_definition attribute_item"),
    ..NONE
};

const PYTHON: Scoping = Scoping {
    syntax: &super::PYTHON,
    reach: NameReach::Function,
    functions: words!("function_definition lambda"),
    scopes: words!(
        "list_comprehension set_comprehension dictionary_comprehension generator_expression"
    ),
    bindings: places!("as_pattern_target except_clause/alias"),
    patterns: words!(
        "dictionary_splat_pattern as_pattern_target parenthesized_expression tuple
        default_parameter typed_parameter typed_default_parameter"
    ),
    not_pattern: places!(
        "default_parameter/value typed_default_parameter/value typed_default_parameter/type
        typed_parameter/type"
    ),
    public: places!(
        "parameters default_parameter/name typed_parameter typed_default_parameter/name
        lambda_parameters list_splat_pattern dictionary_splat_pattern"
    ),
    members: places!("attribute/attribute keyword_argument/name"),
    opaque: words!(
        "global_statement nonlocal_statement class_definition case_pattern import_statement
        import_from_statement"
    ),
    reflection: words!("locals vars eval exec globals dir _getframe currentframe"),
    ..NONE
};

const SCRIPT: Scoping = Scoping {
    syntax: &super::JAVASCRIPT,
    reach: NameReach::Block,
    functions: words!(
        "function_declaration function_expression arrow_function method_definition
        generator_function generator_function_declaration"
    ),
    scopes: words!(
        "statement_block for_statement for_in_statement catch_clause switch_body
        class_static_block"
    ),
    patterns: words!("object_pattern pair_pattern assignment_pattern"),
    not_pattern: places!("assignment_pattern/right pair_pattern/key"),
    members: places!(
        "jsx_opening_element/name jsx_closing_element/name jsx_self_closing_element/name
        labeled_statement/label"
    ),
    opaque: words!("import_statement export_clause class_declaration class decorator"),
    reflection: words!("eval"),
    ..NONE
};

const TYPESCRIPT: Scoping = Scoping { syntax: &super::TYPESCRIPT, ..SCRIPT };
const TSX: Scoping = Scoping { syntax: &super::TSX, ..SCRIPT };

const GO: Scoping = Scoping {
    syntax: &super::GO,
    reach: NameReach::FromHereOnce,
    functions: words!("function_declaration method_declaration func_literal"),
    scopes: words!(
        "block if_statement for_statement expression_switch_statement type_switch_statement
        select_statement expression_case default_case type_case communication_case"
    ),
    bindings: places!("const_spec/name"),
    late: words!("short_var_declaration var_spec const_spec range_clause receive_statement"),
    members: places!("labeled_statement/label"),
    opaque: words!("type_declaration"),
    ..NONE
};

const JAVA: Scoping = Scoping {
    syntax: &super::JAVA,
    functions: words!(
        "method_declaration constructor_declaration lambda_expression
        compact_constructor_declaration"
    ),
    scopes: words!(
        "block for_statement enhanced_for_statement catch_clause try_with_resources_statement
        switch_block switch_rule"
    ),
    bindings: places!("instanceof_expression/name"),
    // How far such a name is visible depends on the result of the test.
    public: places!("instanceof_expression/name"),
    late: words!("enhanced_for_statement"),
    members: places!(
        "method_invocation/name field_access/field scoped_identifier/scope scoped_identifier/name
        labeled_statement break_statement continue_statement annotation/name
        marker_annotation/name element_value_pair/key"
    ),
    opaque: words!("class_declaration record_declaration switch_label field_declaration"),
    ..NONE
};

const C: Scoping = Scoping {
    syntax: &super::C,
    functions: words!("function_definition"),
    scopes: words!("compound_statement for_statement"),
    patterns: words!("attributed_declarator"),
    not_pattern: places!("init_declarator/value array_declarator/size"),
    opaque: words!(
        "preproc_ifdef preproc_if preproc_def preproc_function_def preproc_call gnu_asm_expression
        struct_specifier function_declarator"
    ),
    ..NONE
};

const CPP: Scoping = Scoping {
    syntax: &super::CPP,
    functions: words!("function_definition lambda_expression"),
    scopes: words!(
        "compound_statement for_statement for_range_loop catch_clause if_statement while_statement
        switch_statement"
    ),
    late: words!("for_range_loop"),
    members: places!("qualified_identifier/name template_function/name"),
    opaque: words!(
        "preproc_ifdef preproc_if preproc_def preproc_function_def preproc_call gnu_asm_expression
        struct_specifier class_specifier function_declarator lambda_capture_initializer
        field_initializer_list"
    ),
    ..C
};

const LUA: Scoping = Scoping {
    syntax: &other_languages::LUA,
    functions: words!("function_declaration function_definition"),
    scopes: words!("block for_statement repeat_statement"),
    late: words!("assignment_statement for_generic_clause for_numeric_clause"),
    members: other_languages::LUA.labels,
    reflection: words!("debug"),
    ..NONE
};

/// In Zig, no name hides another one, so it hardly matters where a scope ends.
const ZIG: Scoping = Scoping {
    syntax: &other_languages::ZIG,
    functions: words!("function_declaration"),
    scopes: words!(
        "block for_statement while_statement if_statement else_clause catch_expression switch_case"
    ),
    late: words!("variable_declaration"),
    members: other_languages::ZIG.labels,
    opaque: words!(
        "struct_declaration enum_declaration union_declaration opaque_declaration asm_expression"
    ),
    ..NONE
};

const PHP: Scoping = Scoping {
    syntax: &other_languages::PHP,
    reach: NameReach::Everywhere,
    functions: words!("function_definition method_declaration anonymous_function"),
    public: places!("simple_parameter/name variadic_parameter/name"),
    members: places!("scoped_property_access_expression/name"),
    // An arrow function uses the variables of the function around it.
    opaque: words!(
        "anonymous_function_use_clause arrow_function property_promotion_parameter heredoc
        shell_command_expression class_declaration anonymous_class"
    ),
    reflection: words!("compact extract get_defined_vars parse_str eval"),
    reflecting: words!(
        "dynamic_variable_name include_expression include_once_expression require_expression
        require_once_expression"
    ),
    names: words!("variable_name"),
    ..NONE
};

const DART: Scoping = Scoping {
    syntax: &other_languages::DART,
    functions: words!("function_declaration function_expression method_declaration"),
    scopes: words!("block for_statement try_statement switch_statement_case"),
    // Callers can name parameters.
    public: places!("formal_parameter/name formal_parameter"),
    members: other_languages::DART.labels,
    opaque: words!(
        "pattern_variable_declaration variable_pattern record_pattern object_pattern
        local_function_declaration annotation"
    ),
    ..NONE
};

#[cfg(feature = "grammars-heavy")]
const CSHARP: Scoping = Scoping {
    syntax: &other_languages::CSHARP,
    functions: words!(
        "method_declaration constructor_declaration local_function_statement lambda_expression
        anonymous_method_expression operator_declaration accessor_declaration"
    ),
    scopes: words!(
        "block for_statement foreach_statement using_statement catch_clause switch_section"
    ),
    // Callers can name parameters. How far a name declared in a test is visible depends on the
    // result of the test.
    public: places!(
        "parameter/name parameter_list/name declaration_expression/name declaration_pattern/name"
    ),
    members: other_languages::CSHARP.labels,
    // The members of these nodes are named after the locals that they are made from.
    opaque: words!(
        "anonymous_object_creation_expression tuple_expression query_expression tuple_pattern
        recursive_pattern var_pattern preproc_if class_declaration attribute_list"
    ),
    reflection: words!("nameof"),
    ..NONE
};

/// Returns the rules of a language, if it has any.
pub(in crate::code) fn of(language: &str) -> Option<&'static Scoping> {
    match language {
        "rust" => Some(&RUST),
        "python" => Some(&PYTHON),
        "javascript" => Some(&SCRIPT),
        "typescript" => Some(&TYPESCRIPT),
        "tsx" => Some(&TSX),
        "go" => Some(&GO),
        "java" => Some(&JAVA),
        "c" => Some(&C),
        "cpp" => Some(&CPP),
        "lua" => Some(&LUA),
        "zig" => Some(&ZIG),
        "php" => Some(&PHP),
        "dart" => Some(&DART),
        #[cfg(feature = "grammars-heavy")]
        "csharp" => Some(&CSHARP),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language;

    /// A rule with a name that the grammar does not know would never apply, without any error.
    #[test]
    fn every_name_in_a_row_is_known_to_its_grammar() {
        for language in language::all() {
            let Some(row) = of(language.id) else { continue };
            let grammar = (language.grammar)();
            let kinds: Vec<&str> = (0..grammar.node_kind_count() as u16)
                .filter_map(|id| grammar.node_kind_for_id(id))
                .collect();
            let lists = [row.functions, row.scopes, row.late, row.patterns, row.opaque];
            for name in lists.concat().iter().chain(row.reflecting).chain(row.names) {
                let script = ["javascript", "typescript", "tsx"].contains(&language.id);
                assert!(script || kinds.contains(name), "{}: {name}", language.id);
            }
            for (parent, field) in [row.bindings, row.not_pattern, row.public].concat() {
                let known = field.is_empty() || grammar.field_id_for_name(field).is_some();
                let script = ["javascript", "typescript", "tsx"].contains(&language.id);
                assert!(script || (known && kinds.contains(&parent)), "{}: {parent}", language.id);
            }
        }
    }
}
