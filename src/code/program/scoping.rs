//! Where names are declared and how far they reach, for each language whose
//! locals we can tell, as data. A language without a row has no local that we
//! would call renamed.

/// A parent's kind and a field in it, or `""` for a child without a field.
pub(super) type Places = &'static [(&'static str, &'static str)];

/// When a name that is declared in a scope begins to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// From its declaration on; another declaration of the name is another local.
    FromHere,
    /// From its declaration on; `:=` in the scope of its declaration assigns.
    FromHereOnce,
    /// In the whole function, wherever it is assigned.
    Function,
    /// `var` in the whole function, the others in the whole block.
    Block,
}

/// What is particular to the names of a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scoping {
    pub reach: Reach,
    /// Nodes that hold parameters and a body: locals live only inside one of these.
    pub functions: &'static [&'static str],
    /// Nodes inside a function whose declarations end with them.
    pub scopes: &'static [&'static str],
    /// Where a name, or a pattern of names, is declared.
    pub bindings: Places,
    /// Bindings that begin to hold after everything else in their parent was read.
    pub late: &'static [&'static str],
    /// Nodes that a pattern is made of.
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
}

const NONE: Scoping = Scoping {
    reach: Reach::FromHere,
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
};

const RUST: Scoping = Scoping {
    functions: &["function_item", "closure_expression"],
    scopes: &[
        "block",
        "for_expression",
        "match_arm",
        "if_expression",
        "while_expression",
        "async_block",
        "unsafe_block",
        "const_block",
        "loop_expression",
    ],
    bindings: &[
        ("let_declaration", "pattern"),
        ("let_condition", "pattern"),
        ("parameter", "pattern"),
        ("for_expression", "pattern"),
        ("closure_parameters", ""),
        ("match_pattern", ""),
    ],
    late: &["let_declaration", "let_condition", "for_expression"],
    patterns: &[
        "tuple_pattern",
        "slice_pattern",
        "ref_pattern",
        "mut_pattern",
        "reference_pattern",
        "captured_pattern",
        "tuple_struct_pattern",
        "struct_pattern",
        "field_pattern",
        "or_pattern",
        "match_pattern",
    ],
    not_pattern: &[
        ("tuple_struct_pattern", "type"),
        ("struct_pattern", "type"),
        ("field_pattern", "name"),
        ("match_pattern", "condition"),
    ],
    members: &[
        ("scoped_identifier", "path"),
        ("scoped_identifier", "name"),
        ("scoped_type_identifier", "path"),
        ("label", ""),
        ("lifetime", ""),
        ("attribute", ""),
        ("macro_invocation", "macro"),
    ],
    opaque: &["token_tree", "macro_definition", "attribute_item"],
    ..NONE
};

const PYTHON: Scoping = Scoping {
    reach: Reach::Function,
    functions: &["function_definition", "lambda"],
    scopes: &[
        "list_comprehension",
        "set_comprehension",
        "dictionary_comprehension",
        "generator_expression",
    ],
    bindings: &[
        ("assignment", "left"),
        ("augmented_assignment", "left"),
        ("parameters", ""),
        ("lambda_parameters", ""),
        ("default_parameter", "name"),
        ("typed_parameter", ""),
        ("typed_default_parameter", "name"),
        ("for_statement", "left"),
        ("for_in_clause", "left"),
        ("named_expression", "name"),
        ("as_pattern", "alias"),
        ("as_pattern_target", ""),
        ("except_clause", "alias"),
    ],
    patterns: &[
        "pattern_list",
        "tuple_pattern",
        "list_pattern",
        "list_splat_pattern",
        "dictionary_splat_pattern",
        "as_pattern_target",
        "parenthesized_expression",
        "tuple",
        "default_parameter",
        "typed_parameter",
        "typed_default_parameter",
    ],
    not_pattern: &[
        ("default_parameter", "value"),
        ("typed_default_parameter", "value"),
        ("typed_default_parameter", "type"),
        ("typed_parameter", "type"),
    ],
    public: &[
        ("parameters", ""),
        ("default_parameter", "name"),
        ("typed_parameter", ""),
        ("typed_default_parameter", "name"),
        ("lambda_parameters", ""),
        ("list_splat_pattern", ""),
        ("dictionary_splat_pattern", ""),
    ],
    members: &[("attribute", "attribute"), ("keyword_argument", "name")],
    opaque: &[
        "global_statement",
        "nonlocal_statement",
        "class_definition",
        "case_pattern",
        "import_statement",
        "import_from_statement",
    ],
    reflection: &["locals", "vars", "eval", "exec", "globals", "dir", "_getframe", "currentframe"],
    ..NONE
};

const SCRIPT: Scoping = Scoping {
    reach: Reach::Block,
    functions: &[
        "function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "generator_function",
        "generator_function_declaration",
    ],
    scopes: &[
        "statement_block",
        "for_statement",
        "for_in_statement",
        "catch_clause",
        "switch_body",
        "class_static_block",
    ],
    bindings: &[
        ("variable_declarator", "name"),
        ("formal_parameters", ""),
        ("required_parameter", "pattern"),
        ("optional_parameter", "pattern"),
        ("arrow_function", "parameter"),
        ("catch_clause", "parameter"),
        ("for_in_statement", "left"),
    ],
    patterns: &[
        "array_pattern",
        "rest_pattern",
        "object_pattern",
        "pair_pattern",
        "assignment_pattern",
    ],
    not_pattern: &[("assignment_pattern", "right"), ("pair_pattern", "key")],
    members: &[
        ("jsx_opening_element", "name"),
        ("jsx_closing_element", "name"),
        ("jsx_self_closing_element", "name"),
        ("labeled_statement", "label"),
    ],
    opaque: &["import_statement", "export_clause", "class_declaration", "class", "decorator"],
    reflection: &["eval"],
    ..NONE
};

const GO: Scoping = Scoping {
    reach: Reach::FromHereOnce,
    functions: &["function_declaration", "method_declaration", "func_literal"],
    scopes: &[
        "block",
        "if_statement",
        "for_statement",
        "expression_switch_statement",
        "type_switch_statement",
        "select_statement",
        "expression_case",
        "default_case",
        "type_case",
        "communication_case",
    ],
    bindings: &[
        ("short_var_declaration", "left"),
        ("var_spec", "name"),
        ("const_spec", "name"),
        ("parameter_declaration", "name"),
        ("variadic_parameter_declaration", "name"),
        ("range_clause", "left"),
        ("type_switch_statement", "alias"),
        ("receive_statement", "left"),
    ],
    late: &["short_var_declaration", "var_spec", "const_spec", "range_clause", "receive_statement"],
    patterns: &["expression_list"],
    members: &[("labeled_statement", "label")],
    opaque: &["type_declaration"],
    ..NONE
};

const JAVA: Scoping = Scoping {
    functions: &[
        "method_declaration",
        "constructor_declaration",
        "lambda_expression",
        "compact_constructor_declaration",
    ],
    scopes: &[
        "block",
        "for_statement",
        "enhanced_for_statement",
        "catch_clause",
        "try_with_resources_statement",
        "switch_block",
        "switch_rule",
    ],
    bindings: &[
        ("formal_parameter", "name"),
        ("catch_formal_parameter", "name"),
        ("enhanced_for_statement", "name"),
        ("resource", "name"),
        ("variable_declarator", "name"),
        ("lambda_expression", "parameters"),
        ("inferred_parameters", ""),
        ("instanceof_expression", "name"),
    ],
    late: &["enhanced_for_statement"],
    members: &[
        ("method_invocation", "name"),
        ("field_access", "field"),
        ("scoped_identifier", "scope"),
        ("scoped_identifier", "name"),
        ("labeled_statement", ""),
        ("break_statement", ""),
        ("continue_statement", ""),
        ("annotation", "name"),
        ("marker_annotation", "name"),
        ("element_value_pair", "key"),
    ],
    opaque: &["class_declaration", "record_declaration", "switch_label", "field_declaration"],
    ..NONE
};

const C: Scoping = Scoping {
    functions: &["function_definition"],
    scopes: &["compound_statement", "for_statement"],
    bindings: &[
        ("parameter_declaration", "declarator"),
        ("declaration", "declarator"),
        ("init_declarator", "declarator"),
    ],
    patterns: &[
        "pointer_declarator",
        "array_declarator",
        "init_declarator",
        "attributed_declarator",
    ],
    not_pattern: &[("init_declarator", "value"), ("array_declarator", "size")],
    opaque: &[
        "preproc_ifdef",
        "preproc_if",
        "preproc_def",
        "preproc_function_def",
        "preproc_call",
        "gnu_asm_expression",
        "struct_specifier",
        "function_declarator",
    ],
    ..NONE
};

const CPP: Scoping = Scoping {
    functions: &["function_definition", "lambda_expression"],
    scopes: &[
        "compound_statement",
        "for_statement",
        "for_range_loop",
        "catch_clause",
        "if_statement",
        "while_statement",
        "switch_statement",
    ],
    bindings: &[
        ("parameter_declaration", "declarator"),
        ("optional_parameter_declaration", "declarator"),
        ("declaration", "declarator"),
        ("init_declarator", "declarator"),
        ("for_range_loop", "declarator"),
        ("structured_binding_declarator", ""),
    ],
    late: &["for_range_loop"],
    patterns: &[
        "pointer_declarator",
        "array_declarator",
        "init_declarator",
        "reference_declarator",
        "structured_binding_declarator",
    ],
    members: &[("qualified_identifier", "name"), ("template_function", "name")],
    opaque: &[
        "preproc_ifdef",
        "preproc_if",
        "preproc_def",
        "preproc_function_def",
        "preproc_call",
        "gnu_asm_expression",
        "struct_specifier",
        "class_specifier",
        "function_declarator",
        "lambda_capture_initializer",
        "field_initializer_list",
    ],
    ..C
};

/// The row of a language, if it has one.
pub(super) fn of(language: &str) -> Option<&'static Scoping> {
    match language {
        "rust" => Some(&RUST),
        "python" => Some(&PYTHON),
        "javascript" | "typescript" | "tsx" => Some(&SCRIPT),
        "go" => Some(&GO),
        "java" => Some(&JAVA),
        "c" => Some(&C),
        "cpp" => Some(&CPP),
        _ => None,
    }
}
