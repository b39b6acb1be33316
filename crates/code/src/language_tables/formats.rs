//! The token facts and naming rules of build files, configuration and schema languages, notebooks,
//! and the languages of scripts and statistics.
//!
//! No name counts as local here, because its meaning depends on what ran before, or on who reads
//! the file.

use crate::lists::words;
use crate::syntax::{NAMELESS, Syntax};

pub(crate) const HCL: Syntax =
    Syntax { verbatim: words!("string_lit quoted_template heredoc_template"), ..NAMELESS };

pub(crate) const DOCKERFILE: Syntax = Syntax {
    verbatim: words!(
        "shell_command heredoc_block unquoted_string double_quoted_string single_quoted_string
        json_string path param image_spec"
    ),
    ..NAMELESS
};

pub(crate) const MAKE: Syntax = Syntax {
    verbatim: words!("shell_text shell_command text raw_text string concatenation"),
    ..NAMELESS
};

pub(crate) const PROTO: Syntax = Syntax { verbatim: words!("string"), ..NAMELESS };

/// Only the program that reads a document knows where white space between elements has no meaning.
pub(crate) const XML: Syntax = Syntax {
    comments: words!("Comment"),
    verbatim: words!("content AttValue CDSect PI"),
    quotes: words!("AttValue"),
    trivial: &[],
    entries: words!("Attribute"),
    ..NAMELESS
};

pub(crate) const NOTEBOOK: Syntax = Syntax {
    verbatim: words!("string"),
    entries: words!("pair"),
    deepest: 0,
    regions: false,
    ..NAMELESS
};

pub(crate) const POWERSHELL: Syntax = Syntax {
    verbatim: words!(
        "expandable_string_literal expandable_here_string_literal verbatim_command_argument
        command_name path_command_name"
    ),
    ..NAMELESS
};

pub(crate) const GROOVY: Syntax =
    Syntax { comments: words!("comment groovy_doc"), verbatim: words!("string"), ..NAMELESS };

pub(crate) const R: Syntax = Syntax { verbatim: words!("string"), ..NAMELESS };

pub(crate) const JULIA: Syntax = Syntax {
    comments: words!("line_comment block_comment"),
    verbatim: words!(
        "string_literal prefixed_string_literal command_literal prefixed_command_literal
        vector_expression matrix_expression matrix_row macrocall_expression"
    ),
    // `[a -1]` has two elements and `[a - 1]` has one, but the grammar reads both as one.
    spaced: words!("binary_expression"),
    ..NAMELESS
};

pub(crate) const GRAPHQL: Syntax = Syntax { ..NAMELESS };
