//! The token facts and naming rules of HTML, CSS and single-file components.
//!
//! White space between tags is visible on a page, and only a style sheet says where it is not. So
//! it matters everywhere whether there is any white space, but only in `<pre>` how much. A page
//! that was indented again has the same tokens, and one that was minified has not.

use crate::lists::{places, words};
use crate::syntax::{NAMELESS, Syntax};

pub(crate) const HTML: Syntax = Syntax {
    quotes: words!("quoted_attribute_value"),
    spaced: words!("document element"),
    flowing: words!("text"),
    trivial: &[],
    embeds: true,
    ..NAMELESS
};

pub(crate) const VUE: Syntax =
    Syntax { spaced: words!("document element template_element"), ..HTML };

pub(crate) const SVELTE: Syntax = Syntax {
    spaced: words!(
        "document element if_statement else_if_block else_block each_statement await_statement
        then_block catch_block key_statement snippet_statement"
    ),
    // An expression may contain such quotation marks itself.
    quotes: &[],
    ..HTML
};

pub(crate) const CSS: Syntax = Syntax {
    // `//` does not begin a comment in CSS, although the grammar accepts it.
    comments: words!("comment"),
    verbatim: words!("string_value"),
    quotes: words!("string_value"),
    spaced: words!(
        "declaration arguments binary_expression parenthesized_value grid_value import_statement
        media_statement supports_statement scope_statement postcss_statement at_rule feature_query
        parenthesized_query binary_query unary_query selector_query"
    ),
    tight: (",;:{})!*", ",;:{}(*"),
    dropped: places!("declaration/;"),
    ..NAMELESS
};
