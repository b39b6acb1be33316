//! Token facts of what pages are made of: HTML, CSS and single-file components.
//!
//! White space between tags can be seen on the page, and only a style sheet knows
//! where it cannot: whether there is any counts everywhere, how much nowhere but
//! in `<pre>`. So a text that is indented anew is the same, one that is minified
//! is not.

use crate::code::syntax::{PLAIN, Syntax};

pub(in crate::code) const HTML: Syntax = Syntax {
    quotes: &["quoted_attribute_value"],
    spaced: &["document", "element"],
    flowing: &["text"],
    identifiers: &[],
    trivial: &[],
    embeds: true,
    ..PLAIN
};

pub(in crate::code) const VUE: Syntax =
    Syntax { spaced: &["document", "element", "template_element"], ..HTML };

pub(in crate::code) const SVELTE: Syntax = Syntax {
    spaced: &[
        "document",
        "element",
        "if_statement",
        "else_if_block",
        "else_block",
        "each_statement",
        "await_statement",
        "then_block",
        "catch_block",
        "key_statement",
        "snippet_statement",
    ],
    // An expression may hold such quotes itself.
    quotes: &[],
    ..HTML
};

pub(in crate::code) const CSS: Syntax = Syntax {
    // `//` begins no comment in CSS, whatever the grammar says.
    comments: &["comment"],
    verbatim: &["string_value"],
    quotes: &["string_value"],
    spaced: &[
        "declaration",
        "arguments",
        "binary_expression",
        "parenthesized_value",
        "grid_value",
        "import_statement",
        "media_statement",
        "supports_statement",
        "scope_statement",
        "postcss_statement",
        "at_rule",
        "feature_query",
        "parenthesized_query",
        "binary_query",
        "unary_query",
        "selector_query",
    ],
    tight: (",;:{})!*", ",;:{}(*"),
    dropped: &[("declaration", ";")],
    identifiers: &[],
    ..PLAIN
};
