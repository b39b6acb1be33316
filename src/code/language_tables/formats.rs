//! The token facts of build files, configuration and schema languages, notebooks, and the languages
//! of scripts and statistics.
//!
//! No name counts as local here, because its meaning depends on what ran before, or on who reads
//! the file.

use crate::code::syntax::{PLAIN, Syntax};

pub(in crate::code) const HCL: Syntax = Syntax {
    verbatim: &["string_lit", "quoted_template", "heredoc_template"],
    identifiers: &[],
    ..PLAIN
};

pub(in crate::code) const DOCKERFILE: Syntax = Syntax {
    verbatim: &[
        "shell_command",
        "heredoc_block",
        "unquoted_string",
        "double_quoted_string",
        "single_quoted_string",
        "json_string",
        "path",
        "param",
        "image_spec",
    ],
    identifiers: &[],
    ..PLAIN
};

pub(in crate::code) const MAKE: Syntax = Syntax {
    verbatim: &["shell_text", "shell_command", "text", "raw_text", "string", "concatenation"],
    identifiers: &[],
    ..PLAIN
};

pub(in crate::code) const PROTO: Syntax =
    Syntax { verbatim: &["string"], identifiers: &[], ..PLAIN };

/// Only the program that reads a document knows where white space between elements has no meaning.
pub(in crate::code) const XML: Syntax = Syntax {
    comments: &["Comment"],
    verbatim: &["content", "AttValue", "CDSect", "PI"],
    quotes: &["AttValue"],
    identifiers: &[],
    trivial: &[],
    entries: &["Attribute"],
    ..PLAIN
};

pub(in crate::code) const NOTEBOOK: Syntax = Syntax {
    verbatim: &["string"],
    identifiers: &[],
    entries: &["pair"],
    deepest: 0,
    regions: false,
    ..PLAIN
};

pub(in crate::code) const POWERSHELL: Syntax = Syntax {
    verbatim: &[
        "expandable_string_literal",
        "expandable_here_string_literal",
        "verbatim_command_argument",
        "command_name",
        "path_command_name",
    ],
    identifiers: &[],
    ..PLAIN
};

pub(in crate::code) const GROOVY: Syntax = Syntax {
    comments: &["comment", "groovy_doc"],
    verbatim: &["string"],
    identifiers: &[],
    ..PLAIN
};

pub(in crate::code) const R: Syntax = Syntax { verbatim: &["string"], identifiers: &[], ..PLAIN };

#[cfg(feature = "grammars-heavy")]
pub(in crate::code) const JULIA: Syntax = Syntax {
    comments: &["line_comment", "block_comment"],
    verbatim: &[
        "string_literal",
        "prefixed_string_literal",
        "command_literal",
        "prefixed_command_literal",
        "vector_expression",
        "matrix_expression",
        "matrix_row",
        "macrocall_expression",
    ],
    // `[a -1]` has two elements and `[a - 1]` has one, but the grammar reads both as one.
    spaced: &["binary_expression"],
    identifiers: &[],
    ..PLAIN
};

pub(in crate::code) const GRAPHQL: Syntax = Syntax { identifiers: &[], ..PLAIN };
