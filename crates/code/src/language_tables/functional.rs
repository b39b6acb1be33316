//! The token facts and naming rules of Elixir, Haskell, OCaml and SQL.

use crate::lists::{places, words};
use crate::syntax::{NAMELESS, PLAIN, Parameters, Syntax};

/// There are no bindings, because no name in a query is truly local: an alias may also name a
/// table.
pub(crate) const SQL: Syntax = Syntax {
    comments: words!("comment marginalia"),
    caseless: "keyword_",
    parameters: Parameters::AfterName,
    ..NAMELESS
};

pub(crate) const ELIXIR: Syntax = Syntax {
    leads: words!("unary_operator"),
    lead_words: words!("@doc @typedoc @spec @impl @deprecated @since @tag @dialyzer"),
    verbatim: words!("string charlist sigil quoted_atom quoted_keyword"),
    // The grammar includes the white space after `do:` in the keyword.
    flowing: words!("keyword"),
    callees: places!("call/target"),
    labels: places!("dot/right"),
    bindings: places!("stab_clause/left"),
    assignments: words!("binary_operator"),
    patterns: words!("arguments tuple list"),
    parameters_bind: true,
    parameters: Parameters::TypeField,
    ..PLAIN
};

/// A local `let` or `where` looks like a member of a class, whose name is used by others. So only
/// names bound by patterns are local.
pub(crate) const HASKELL: Syntax = Syntax {
    comments: words!("comment haddock"),
    verbatim: words!("string char quasiquote"),
    // With `LexicalNegation`, `f -1` and `f - 1` are different programs.
    spaced: words!("infix"),
    tight: ("+*/<>=&|$.^%:`?", "+*/<>=&|$.^%:`?"),
    identifiers: words!("variable"),
    types: words!("name"),
    labels: places!("field_name signature/name infix_id"),
    bindings: places!("function/patterns lambda/patterns alternative/pattern generator/pattern"),
    patterns: words!("patterns parens tuple list apply as strict irrefutable infix"),
    ..PLAIN
};

pub(crate) const OCAML: Syntax = Syntax {
    wrappers: words!("value_definition type_definition module_definition class_definition"),
    verbatim: words!("string string_content quoted_string quoted_string_content character"),
    leading: places!("variant_declaration/|"),
    parentheses: places!("let_binding/body if_expression/condition match_expression/expression"),
    identifiers: words!("value_name value_pattern"),
    types: words!("type_constructor"),
    bindings: places!("let_expression parameter/pattern match_case/pattern for_expression/name"),
    // `~price` names the argument for callers, and `M.price` belongs to another module.
    marks: words!("~ ? ."),
    patterns: words!(
        "value_definition let_binding tuple_pattern list_pattern cons_pattern or_pattern
        alias_pattern typed_pattern constructor_pattern parenthesized_pattern"
    ),
    trivial: words!("{ } ( ) [ ] ; , ;; let rec and type module"),
    ..PLAIN
};
