//! The token facts of Elixir, Haskell, OCaml and SQL.

use crate::code::syntax::{PLAIN, Parameters, Syntax};

/// There are no bindings, because no name in a query is truly local: an alias may also name a
/// table.
pub(in crate::code) const SQL: Syntax = Syntax {
    comments: &["comment", "marginalia"],
    caseless: "keyword_",
    identifiers: &[],
    parameters: Parameters::AfterName,
    ..PLAIN
};

pub(in crate::code) const ELIXIR: Syntax = Syntax {
    leads: &["unary_operator"],
    lead_words: &[
        "@doc",
        "@typedoc",
        "@spec",
        "@impl",
        "@deprecated",
        "@since",
        "@tag",
        "@dialyzer",
    ],
    verbatim: &["string", "charlist", "sigil", "quoted_atom", "quoted_keyword"],
    // The grammar includes the white space after `do:` in the keyword.
    flowing: &["keyword"],
    callees: &[("call", "target")],
    labels: &[("dot", "right")],
    bindings: &[("stab_clause", "left")],
    assignments: &["binary_operator"],
    patterns: &["arguments", "tuple", "list"],
    parameters_bind: true,
    parameters: Parameters::TypeField,
    ..PLAIN
};

/// A local `let` or `where` looks like a member of a class, whose name is used by others. So only
/// names bound by patterns are local.
#[cfg(feature = "grammars-heavy")]
pub(in crate::code) const HASKELL: Syntax = Syntax {
    comments: &["comment", "haddock"],
    verbatim: &["string", "char", "quasiquote"],
    // With `LexicalNegation`, `f -1` and `f - 1` are different programs.
    spaced: &["infix"],
    tight: ("+*/<>=&|$.^%:`?", "+*/<>=&|$.^%:`?"),
    identifiers: &["variable"],
    types: &["name"],
    labels: &[("field_name", ""), ("signature", "name"), ("infix_id", "")],
    bindings: &[
        ("function", "patterns"),
        ("lambda", "patterns"),
        ("alternative", "pattern"),
        ("generator", "pattern"),
    ],
    patterns: &[
        "patterns",
        "parens",
        "tuple",
        "list",
        "apply",
        "as",
        "strict",
        "irrefutable",
        "infix",
    ],
    ..PLAIN
};

#[cfg(feature = "grammars-heavy")]
pub(in crate::code) const OCAML: Syntax = Syntax {
    wrappers: &["value_definition", "type_definition", "module_definition", "class_definition"],
    verbatim: &["string", "string_content", "quoted_string", "quoted_string_content", "character"],
    leading: &[("variant_declaration", "|")],
    parentheses: &[
        ("let_binding", "body"),
        ("if_expression", "condition"),
        ("match_expression", "expression"),
    ],
    identifiers: &["value_name", "value_pattern"],
    types: &["type_constructor"],
    bindings: &[
        ("let_expression", ""),
        ("parameter", "pattern"),
        ("match_case", "pattern"),
        ("for_expression", "name"),
    ],
    // `~price` names the argument for callers, and `M.price` belongs to another module.
    marks: &["~", "?", "."],
    patterns: &[
        "value_definition",
        "let_binding",
        "tuple_pattern",
        "list_pattern",
        "cons_pattern",
        "or_pattern",
        "alias_pattern",
        "typed_pattern",
        "constructor_pattern",
        "parenthesized_pattern",
    ],
    trivial: &["{", "}", "(", ")", "[", "]", ";", ",", ";;", "let", "rec", "and", "type", "module"],
    ..PLAIN
};
